//! IDL attributes that reflect content attributes (HTML §2.6.1): how each type is read and written. `table` lists the attributes.

use boa_engine::{Context, JsArgs, JsResult, JsValue, NativeFunction, js_string};

use super::{numbers, references};
use crate::dom::{Error, NodeId, Tree};
use crate::engine::bind;
use crate::web::dom::document;
use crate::web::{change, read, this_element, thrown};

/// An attribute: its name in scripts, its name in markup, its type.
pub type Row = (&'static str, &'static str, Type);

/// The keywords of an enumerated attribute (HTML §2.3.3).
#[derive(Clone, Copy)]
pub struct Words {
    pub known: &'static [&'static str],
    /// Other spellings and their keywords.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The state without the attribute; `None` is `null`.
    pub missing: Option<&'static str>,
    /// The state for an invalid keyword.
    pub invalid: Option<&'static str>,
    /// Whether setting `null` removes the attribute.
    pub nullable: bool,
}

impl Words {
    /// Keywords without defaults.
    pub const fn of(known: &'static [&'static str]) -> Self {
        Self { known, aliases: &[], missing: Some(""), invalid: Some(""), nullable: false }
    }

    /// Keywords with one default for both missing and invalid values.
    pub const fn or(known: &'static [&'static str], usual: &'static str) -> Self {
        Self { missing: Some(usual), invalid: Some(usual), ..Self::of(known) }
    }

    /// The state of an attribute with this text.
    pub fn state(&self, text: Option<&str>) -> Option<&'static str> {
        let Some(text) = text else { return self.missing };
        let known = self.known.iter().find(|word| word.eq_ignore_ascii_case(text)).copied();
        let alias = || self.aliases.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, word)| *word);
        known.or_else(alias).or(self.invalid)
    }
}

/// The type of an attribute, with its default if it has its own.
#[derive(Clone, Copy)]
pub enum Type {
    Text,
    /// Text where `null` is the empty string.
    TextNullEmpty,
    /// Text that is `null` if the attribute is missing.
    TextOrNull,
    Url,
    /// A URL; the document's if it is empty.
    UrlOrDocument,
    Flag,
    Words(&'static Words),
    Long(i32),
    /// At least 0; −1 if the attribute is missing.
    LongNotNegative,
    Unsigned(u32),
    /// Greater than 0; other values are rejected.
    Positive(u32),
    /// Greater than 0; other values become the default.
    PositiveOr(u32),
    /// Default, minimum and maximum.
    Clamped(u32, u32, u32),
    /// Greater than 0; other values are ignored.
    PositiveDouble(f64),
    /// Another element of the tree.
    Element,
    /// Other elements of the tree.
    Elements,
}

/// The text of a content attribute.
pub fn text<'a>(tree: &'a Tree, id: NodeId, content: &str) -> Option<&'a str> {
    tree.attribute_ns(id, "", content).map(|one| one.value.as_str())
}

/// Whether an element has a content attribute.
pub fn has(tree: &Tree, id: NodeId, content: &str) -> bool {
    text(tree, id, content).is_some()
}

/// Sets a content attribute.
///
/// # Errors
/// When the document is full.
pub fn set_text(id: NodeId, content: &str, value: &str, context: &mut Context) -> JsResult<()> {
    change(context, |tree| tree.set_attribute(id, content, value))
}

/// Adds or removes a boolean attribute.
///
/// # Errors
/// When the document is full.
pub fn set_flag(id: NodeId, content: &str, on: bool, context: &mut Context) -> JsResult<()> {
    change(context, |tree| {
        if on {
            return tree.set_attribute(id, content, "");
        }
        tree.remove_attribute_ns(id, "", content);
        Ok(())
    })
}

/// Defines the accessors of rows on an interface's prototype, except for existing ones.
///
/// # Errors
/// When the interface was not defined.
pub fn define(interface: &str, rows: &'static [Row], context: &mut Context) -> JsResult<()> {
    let prototype = bind::prototype(interface, context)?;
    for row in rows {
        if prototype.has_own_property(js_string!(row.0), context)? {
            continue;
        }
        let get = NativeFunction::from_copy_closure(move |this, _, context| get(row, this, context));
        let set = NativeFunction::from_copy_closure(move |this, args, context| set(row, this, args, context));
        bind::accessor(&prototype, row.0, get, Some(set), context)?;
    }
    Ok(())
}

/// The number in an attribute, if it is a `long`.
fn long(tree: &Tree, id: NodeId, content: &str) -> Option<i32> {
    text(tree, id, content).and_then(numbers::integer).and_then(|value| i32::try_from(value).ok())
}

/// The number in an attribute, if it is a non-negative `long`.
pub fn unsigned(tree: &Tree, id: NodeId, content: &str) -> Option<u32> {
    long(tree, id, content).and_then(|value| u32::try_from(value).ok())
}

fn clamped(tree: &Tree, id: NodeId, content: &str, (usual, least, most): (u32, u32, u32)) -> u32 {
    let value = text(tree, id, content).and_then(numbers::integer).filter(|value| *value >= 0);
    value.map_or(usual, |value| u32::try_from(value).unwrap_or(u32::MAX).clamp(least, most))
}

fn get(row: &'static Row, this: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let (_, content, kind) = *row;
    let double = |tree: &Tree| text(tree, id, content).and_then(numbers::float);
    match kind {
        Type::Url => return Ok(bind::js(&url(id, content, false, context))),
        Type::UrlOrDocument => return Ok(bind::js(&url(id, content, true, context))),
        Type::Element => return references::one(id, content, context),
        Type::Elements => return references::all(id, content, context),
        _ => {}
    }
    Ok(read(context, |tree| match kind {
        Type::Text | Type::TextNullEmpty => bind::js(text(tree, id, content).unwrap_or_default()),
        Type::TextOrNull => text(tree, id, content).map_or_else(JsValue::null, bind::js),
        Type::Flag => has(tree, id, content).into(),
        Type::Words(words) => words.state(text(tree, id, content)).map_or_else(JsValue::null, bind::js),
        Type::Long(usual) => long(tree, id, content).unwrap_or(usual).into(),
        Type::LongNotNegative => long(tree, id, content).filter(|value| *value >= 0).unwrap_or(-1).into(),
        Type::Unsigned(usual) => unsigned(tree, id, content).unwrap_or(usual).into(),
        Type::Positive(usual) | Type::PositiveOr(usual) => {
            unsigned(tree, id, content).filter(|value| *value > 0).unwrap_or(usual).into()
        }
        Type::Clamped(usual, least, most) => clamped(tree, id, content, (usual, least, most)).into(),
        Type::PositiveDouble(usual) => double(tree).filter(|value| *value > 0.0).unwrap_or(usual).into(),
        Type::Url | Type::UrlOrDocument | Type::Element | Type::Elements => JsValue::undefined(),
    }))
}

/// The URL in an attribute, resolved; the unchanged text if it is invalid.
pub fn url(id: NodeId, content: &str, document_if_empty: bool, context: &mut Context) -> String {
    let written = read(context, |tree| text(tree, id, content).map(str::to_owned));
    match written {
        None if !document_if_empty => String::new(),
        Some(written) if !(document_if_empty && written.is_empty()) => {
            document::base_url(id, context).join(&written).map_or(written, String::from)
        }
        _ => {
            let owner = read(context, |tree| tree.document_of(id));
            document::address(owner, context).into()
        }
    }
}

fn set(row: &'static Row, this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let (name, content, kind) = *row;
    let given = args.get_or_undefined(0);
    // Values of an `unsigned long` that are out of range become the default (§2.6.1).
    let in_range = |value: u32, usual: u32| if i32::try_from(value).is_ok() { value } else { usual };
    let written = match kind {
        Type::Text | Type::Url | Type::UrlOrDocument => Some(bind::text(args, 0, context)?),
        Type::TextNullEmpty if given.is_null() => Some(String::new()),
        Type::TextNullEmpty => Some(bind::text(args, 0, context)?),
        Type::TextOrNull | Type::Words(Words { nullable: true, .. }) if given.is_null_or_undefined() => None,
        Type::TextOrNull | Type::Words(_) => Some(bind::text(args, 0, context)?),
        Type::Flag => given.to_boolean().then(String::new),
        Type::Long(_) => Some(given.to_i32(context)?.to_string()),
        Type::LongNotNegative => {
            let value = given.to_i32(context)?;
            if value < 0 {
                return Err(thrown(Error::IndexSize, context));
            }
            Some(value.to_string())
        }
        Type::Unsigned(usual) | Type::Clamped(usual, ..) => Some(in_range(given.to_u32(context)?, usual).to_string()),
        Type::Positive(usual) => match given.to_u32(context)? {
            0 => return Err(thrown(Error::IndexSize, context)),
            value => Some(in_range(value, usual).to_string()),
        },
        Type::PositiveOr(usual) => match given.to_u32(context)? {
            0 => Some(usual.to_string()),
            value => Some(in_range(value, usual).to_string()),
        },
        Type::PositiveDouble(_) => {
            let value = double(given, name, context)?;
            if value <= 0.0 {
                return Ok(JsValue::undefined());
            }
            Some(JsValue::from(value).to_string(context)?.to_std_string_lossy())
        }
        Type::Element => return references::set_one(id, content, given, context),
        Type::Elements => return references::set_all(id, content, given, context),
    };
    change(context, |tree| match &written {
        Some(value) => tree.set_attribute(id, content, value),
        None => {
            tree.remove_attribute_ns(id, "", content);
            Ok(())
        }
    })?;
    Ok(JsValue::undefined())
}

/// A WebIDL `double`, which is finite.
///
/// # Errors
/// A `TypeError` for infinities and values that are not numbers, or what a conversion throws.
pub fn double(value: &JsValue, name: &str, context: &mut Context) -> JsResult<f64> {
    let value = value.to_number(context)?;
    if value.is_finite() {
        return Ok(value);
    }
    Err(bind::type_error(format!("Failed to set the '{name}' property: The provided double value is non-finite.")))
}
