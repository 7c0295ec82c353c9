//! Validates a TOML file against the JSON Schema of its type and finds all shape faults at once.
//!
//! serde stops at the first fault. So the document, parsed with spans, is walked along the schema that schemars derives
//! from the type: unknown keys, wrong types and values out of range are reported at their position and removed before serde
//! sees them. The rest always fits the type, so the semantic checks that follow run even if something is misspelt. Editors
//! use the same schema (`gleaner rules schema`).

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Faults, nearest};
use super::secrets;
use super::syntax::mended;

/// Spans of keys and values, by path (`classes.index[0]`).
#[derive(Debug, Default)]
pub struct Spans {
    found: HashMap<String, (Range<usize>, Range<usize>)>,
    /// Paths that a misspelt key probably meant.
    meant: HashSet<String>,
}

impl Spans {
    /// Byte range of the value at this path; the empty range at the start of the file if it is absent.
    #[must_use]
    pub fn value(&self, path: &str) -> Range<usize> {
        self.found.get(path).map_or(0..0, |(_, value)| value.clone())
    }

    /// Byte range of the key at this path.
    #[must_use]
    pub fn key(&self, path: &str) -> Range<usize> {
        self.found.get(path).map_or(0..0, |(key, _)| key.clone())
    }

    /// True if the file has it.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.found.contains_key(path)
    }

    /// True if the file has it, or probably means it by a misspelt key.
    #[must_use]
    pub fn may_have(&self, path: &str) -> bool {
        self.has(path) || self.meant.contains(path)
    }
}

/// A parsed file, without the parts that had faults.
#[derive(Debug)]
pub struct ParsedFile<T> {
    pub value: T,
    pub spans: Spans,
    /// False if the text is not valid TOML: a missing key may then only be lost.
    pub is_toml: bool,
    /// How many of the faults are syntax faults.
    pub syntax_faults: usize,
}

/// Parses the text of `faults` as a `T`; what does not fit is reported there and removed.
pub fn read<T: JsonSchema + DeserializeOwned + Default + 'static>(faults: &mut Faults) -> ParsedFile<T> {
    let source = mended(faults);
    let syntax_faults = faults.len();
    let (document, _) = DeTable::parse_recoverable(&source);
    let root = schema_of::<T>();
    let has_login = root.pointer("/properties/login").is_some();
    if has_login {
        let broken: Vec<usize> = faults.list().iter().map(|fault| fault.span.start).collect();
        secrets::broken_lines(faults.source(), &broken).into_iter().for_each(|span| faults.hide(span));
    }
    secrets::userinfo(faults.source()).into_iter().for_each(|span| faults.hide(span));
    let mut walk = Walk { root: &root, faults, spans: Spans::default(), is_toml: syntax_faults == 0, has_login };
    let table = walk.table(&root, document.get_ref(), "", 0..0);
    let spans = walk.spans;
    // Values of known keys may be shown, except an account's: their faults are about these values.
    let known: HashSet<usize> = spans.found.values().map(|(_, value)| value.start).collect();
    for value in secrets::values(faults.source()).into_iter().filter(|value| !known.contains(&value.start)) {
        if syntax_faults > 0 && has_login {
            // A password without quotes.
            faults.retell(&value, "secrets do not belong in rule files", secrets::HINT);
        }
        faults.hide(value);
    }
    let value = T::deserialize(toml::Value::Table(table)).unwrap_or_else(|error| {
        // The schema and serde read the same attributes; should they differ, the fault has no position.
        faults.add(0..0, "", error.message(), None);
        T::default()
    });
    ParsedFile { value, spans, is_toml: syntax_faults == 0, syntax_faults }
}

/// The schema of a type, built once per process: building it takes longer than checking a file against it.
fn schema_of<T: JsonSchema + 'static>() -> Arc<Json> {
    static MADE: Mutex<BTreeMap<TypeId, Arc<Json>>> = Mutex::new(BTreeMap::new());
    // Complete schemas are inserted whole, so a poisoned map is still consistent.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(made.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(schemars::schema_for!(T).to_value())))
}

struct Walk<'a> {
    root: &'a Json,
    faults: &'a mut Faults,
    spans: Spans,
    is_toml: bool,
    /// True for files that may define an account.
    has_login: bool,
}

impl<'a> Walk<'a> {
    fn table(&mut self, schema: &'a Json, table: &DeTable<'_>, path: &str, at: Range<usize>) -> toml::Table {
        let mut out = toml::Table::new();
        let properties = schema.get("properties").and_then(Json::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let inside = |name: &str| {
            if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
        };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let child = inside(name);
            let is_account = child == "login" || child.starts_with("login.");
            let known = properties.and_then(|all| all.get(name));
            let is_table = matches!(value.get_ref(), DeValue::Table(_));
            let is_shown = is_table || (known.is_some() && secrets::is_harmless(&child, value.get_ref()));
            if self.has_login && is_account && !is_shown {
                // A password may have been written there under any key.
                self.faults.hide(value.span());
            }
            let Some(expected) = known.or(others) else {
                let known: Vec<&str> = properties.into_iter().flat_map(|all| all.keys()).map(String::as_str).collect();
                if self.has_login && secrets::is_meant(path, name, &known) {
                    let message = format!("`{name}`: secrets do not belong in rule files");
                    self.faults.add(key.span(), &child, message, Some(secrets::HINT.to_owned()));
                    self.faults.hide(value.span());
                    continue;
                }
                if self.has_login && is_account {
                    // A table of an unknown key has not been checked inside.
                    self.faults.hide(value.span());
                }
                let what = if path == "classes" { "class" } else { "key" };
                let meant = self.unknown(&format!("unknown {what}"), name, &known, key.span(), &child);
                self.spans.meant.extend(meant.map(|name| inside(&name)));
                continue;
            };
            self.spans.found.insert(child.clone(), (key.span(), value.span()));
            if let Some(value) = self.value(expected, value, &child) {
                out.insert(name.to_owned(), value);
            }
        }
        for name in schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
            // A broken line may contain it, or a misspelt key may mean it.
            if self.is_toml && !self.spans.may_have(&inside(name)) {
                let what = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
                let about = properties.and_then(|all| all.get(name)).and_then(description);
                self.faults.add(at.clone(), path, format!("the key `{name}` is missing{what}"), about);
            }
        }
        out
    }

    fn value(&mut self, schema: &'a Json, node: &Spanned<DeValue<'_>>, path: &str) -> Option<toml::Value> {
        let found = type_of(node.get_ref());
        let alternatives = self.alternatives(schema);
        let Some(schema) = alternatives.iter().copied().find(|schema| accepts(schema, found)) else {
            let mut expected: Vec<String> = alternatives.iter().map(|schema| self.describe(schema)).collect();
            expected.dedup();
            // If a number is accepted, a whole number is accepted, too.
            let found = match found {
                "number" if expected.iter().any(|name| name == "a whole number") => "one with a point".to_owned(),
                found => with_article(found),
            };
            let message = format!("`{path}` must be {}, not {found}", expected.join(" or "));
            let hint = alternatives.iter().find_map(|schema| wrap_hint(schema, node.get_ref()));
            self.faults.add(node.span(), path, message, hint);
            return None;
        };
        match node.get_ref() {
            DeValue::Table(table) => Some(toml::Value::Table(self.table(schema, table, path, node.span()))),
            DeValue::Array(items) => {
                let item_schema = schema.get("items")?;
                let most = schema.get("maxItems").and_then(Json::as_u64).and_then(|most| usize::try_from(most).ok());
                if let Some(most) = most.filter(|most| items.len() > *most) {
                    let message = format!("`{path}` has {} entries, at most {most} are allowed", items.len());
                    self.faults.add(node.span(), path, message, None);
                }
                let items = items.iter().take(most.unwrap_or(usize::MAX)).enumerate().filter_map(|(index, item)| {
                    let child = format!("{path}[{index}]");
                    self.spans.found.insert(child.clone(), (item.span(), item.span()));
                    self.value(item_schema, item, &child)
                });
                Some(toml::Value::Array(items.collect()))
            }
            DeValue::String(text) => self.string(schema, text, node.span(), path),
            DeValue::Integer(integer) => {
                let Ok(number) = i64::from_str_radix(integer.as_str(), integer.radix()) else {
                    self.faults.add(node.span(), path, "this number is too large", None);
                    return None;
                };
                self.in_range(schema, number as f64, node.span(), path)?;
                if schema_types(schema).any(|name| name == "integer") {
                    Some(toml::Value::Integer(number))
                } else {
                    Some(toml::Value::Float(number as f64))
                }
            }
            DeValue::Float(float) => {
                let number: f64 = float.as_str().parse().ok()?;
                self.in_range(schema, number, node.span(), path)?;
                Some(toml::Value::Float(number))
            }
            DeValue::Boolean(value) => Some(toml::Value::Boolean(*value)),
            DeValue::Datetime(_) => None,
        }
    }

    /// The schemas that a value may match: references resolved, alternatives unfolded, null removed (TOML has
    /// none).
    fn alternatives(&self, schema: &'a Json) -> Vec<&'a Json> {
        let schema = self.resolve(schema);
        match schema.get("anyOf").and_then(Json::as_array) {
            Some(any) => any
                .iter()
                .flat_map(|schema| self.alternatives(schema))
                .filter(|schema| schema.get("type").and_then(Json::as_str) != Some("null"))
                .collect(),
            None => vec![schema],
        }
    }

    fn resolve(&self, schema: &'a Json) -> &'a Json {
        let target = schema.get("$ref").and_then(Json::as_str).and_then(|link| link.strip_prefix("#"));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema)
    }

    fn string(&mut self, schema: &Json, text: &str, span: Range<usize>, path: &str) -> Option<toml::Value> {
        let allowed = words(schema);
        if !allowed.is_empty() && !allowed.contains(&text) {
            self.unknown(&format!("`{path}` cannot be"), text, &allowed, span, path);
            return None;
        }
        if schema.get("minLength").and_then(Json::as_u64).is_some_and(|least| (text.chars().count() as u64) < least) {
            self.faults.add(span, path, format!("`{path}` is empty"), None);
            return None;
        }
        Some(toml::Value::String(text.to_owned()))
    }

    fn in_range(&mut self, schema: &Json, number: f64, span: Range<usize>, path: &str) -> Option<()> {
        let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
            return Some(());
        }
        let message = match (least, most) {
            (Some(least), Some(most)) => format!("`{path}` must lie between {least} and {most}"),
            (Some(least), None) => format!("`{path}` must be at least {least}"),
            (None, Some(most)) => format!("`{path}` must be at most {most}"),
            (None, None) => format!("`{path}` is not a number"),
        };
        self.faults.add(span, path, message, None);
        None
    }

    /// Reports an unknown name and returns the known one that was probably meant.
    fn unknown(&mut self, what: &str, name: &str, known: &[&str], span: Range<usize>, path: &str) -> Option<String> {
        let table = path.rsplit_once('.').map_or("", |(table, _)| table);
        let home = self.home_of(name, table);
        let meant = nearest(name, known.iter().copied()).filter(|_| home.is_none());
        let hint = match (home, meant) {
            (Some(home), _) => home,
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => format!("write one of {}", known.join(", ")),
        };
        let shown: String = name.chars().take(60).collect();
        self.faults.add(span, path, format!("{what} `{shown}`"), (!known.is_empty()).then_some(hint));
        meant.map(str::to_owned)
    }

    /// Where a key belongs that stands in the wrong table: most often below a table's head in place of above.
    fn home_of(&self, name: &str, table: &str) -> Option<String> {
        let top = self.root.get("properties")?.as_object()?;
        if !table.is_empty() && top.contains_key(name) {
            return Some(format!(
                "`{name}` belongs above the first [table] of the file: what stands below [{table}] is part of it"
            ));
        }
        let has = |schema: &&Json| schema.get("properties").is_some_and(|inner| inner.get(name).is_some());
        let is_home = |(of, schema): &(&String, &'a Json)| *of != table && self.alternatives(schema).iter().any(has);
        let homes: Vec<String> = top.iter().filter(is_home).map(|(of, _)| format!("[{of}]")).collect();
        (!homes.is_empty()).then(|| format!("`{name}` belongs into {}", homes.join(" or ")))
    }

    fn describe(&self, schema: &'a Json) -> String {
        let words = words(schema);
        if !words.is_empty() {
            return format!("one of {}", words.join(", "));
        }
        match schema_types(schema).next().unwrap_or("value") {
            "array" => match schema.get("items").map(|items| self.alternatives(items)) {
                Some(items) => {
                    let of: Vec<String> = items.iter().flat_map(|item| schema_types(item)).map(plural).collect();
                    format!("a list of {}", of.join(" or "))
                }
                None => "a list".to_owned(),
            },
            name => with_article(name),
        }
    }
}

/// For `start = "…"` instead of a list, or `connections = "2"` instead of a number.
fn wrap_hint(schema: &Json, node: &DeValue<'_>) -> Option<String> {
    let name = schema_types(schema).next()?;
    match (name, node) {
        ("array", DeValue::String(_)) => Some("put it into brackets: [\"…\"]".to_owned()),
        ("integer" | "number", DeValue::String(text)) if text.trim().parse::<f64>().is_err() => {
            Some("write a number, without quotes and without a unit".to_owned())
        }
        ("boolean", DeValue::String(_)) => Some("write `true` or `false`, without quotes".to_owned()),
        ("integer" | "number", DeValue::String(_)) => Some("write it without quotes".to_owned()),
        ("integer", DeValue::Float(number)) => {
            let near = number.as_str().parse::<f64>().ok().filter(|near| near.is_finite());
            near.map(|near| format!("write a whole number, as {}", near.abs().ceil().max(1.0)))
        }
        ("string", DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_)) => {
            let form = example(schema).map(|example| format!(", as \"{example}\""));
            Some(format!("write it in quotes{}", form.unwrap_or_default()))
        }
        _ => None,
    }
}

/// The example in the description of a text, if it has one: "as `+08:00`".
fn example(schema: &Json) -> Option<String> {
    let (example, _) = schema.get("description")?.as_str()?.split_once("as `")?.1.split_once('`')?;
    Some(example.to_owned())
}

fn description(schema: &Json) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(text.split("\n\n").next().unwrap_or(text).split_whitespace().collect::<Vec<_>>().join(" "))
}

fn schema_types(schema: &Json) -> impl Iterator<Item = &str> {
    let types = schema.get("type");
    let one = types.and_then(Json::as_str);
    let many = types.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let implied = (types.is_none() && !words(schema).is_empty()).then_some("string");
    one.into_iter().chain(many).chain(implied).filter(|name| *name != "null")
}

fn accepts(schema: &Json, found: &str) -> bool {
    schema_types(schema).any(|name| name == found || (name == "number" && found == "integer"))
}

/// The closed set of strings that a schema allows; empty if it allows any.
fn words(schema: &Json) -> Vec<&str> {
    let listed = schema.get("enum").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let one_of = schema.get("oneOf").and_then(Json::as_array).into_iter().flatten();
    let single = one_of.clone().filter_map(|one| one.get("const").and_then(Json::as_str));
    let nested = one_of.filter_map(|one| one.get("enum").and_then(Json::as_array)).flatten().filter_map(Json::as_str);
    listed.chain(single).chain(nested).collect()
}

fn type_of(node: &DeValue<'_>) -> &'static str {
    match node {
        DeValue::String(_) => "string",
        DeValue::Integer(_) => "integer",
        DeValue::Float(_) => "number",
        DeValue::Boolean(_) => "boolean",
        DeValue::Datetime(_) => "date",
        DeValue::Array(_) => "array",
        DeValue::Table(_) => "object",
    }
}

fn with_article(name: &str) -> String {
    match name {
        "integer" => "a whole number".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "a table".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => format!("a {other}"),
    }
}

fn plural(name: &str) -> String {
    match name {
        "integer" => "whole numbers".to_owned(),
        "object" => "tables".to_owned(),
        other => format!("{other}s"),
    }
}
