//! `console` (Console Standard). Its lines are stored for people who inspect a page; nothing is printed.

use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_string};

use super::page::cut;
use super::{bind, page};
use crate::limits;

const METHODS: &[bind::Method] = &[
    ("log", 0, |_, args, context| tell("log", args, context)),
    ("info", 0, |_, args, context| tell("info", args, context)),
    ("debug", 0, |_, args, context| tell("debug", args, context)),
    ("warn", 0, |_, args, context| tell("warn", args, context)),
    ("error", 0, |_, args, context| tell("error", args, context)),
    ("trace", 0, |_, args, context| tell("trace", args, context)),
    ("dir", 0, |_, args, context| tell("log", args, context)),
    ("dirxml", 0, |_, args, context| tell("log", args, context)),
    ("table", 0, |_, args, context| tell("log", args, context)),
    ("group", 0, |_, args, context| tell("log", args, context)),
    ("groupCollapsed", 0, |_, args, context| tell("log", args, context)),
    ("assert", 0, |_, args, context| {
        if args.get_or_undefined(0).to_boolean() {
            return Ok(JsValue::undefined());
        }
        let mut told = vec![bind::js("Assertion failed")];
        told.extend_from_slice(args.get(1..).unwrap_or_default());
        tell("error", &told, context)
    }),
    ("groupEnd", 0, nothing),
    ("clear", 0, nothing),
    ("count", 0, nothing),
    ("countReset", 0, nothing),
    ("time", 0, nothing),
    ("timeLog", 0, nothing),
    ("timeEnd", 0, nothing),
    ("timeStamp", 0, nothing),
    ("profile", 0, nothing),
    ("profileEnd", 0, nothing),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let console = JsObject::with_object_proto(context.intrinsics());
    bind::methods(&console, METHODS, context)?;
    let global = context.global_object();
    bind::hidden(&global, js_string!("console"), console.into(), true, context)
}

fn nothing(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(JsValue::undefined())
}

/// Joins the arguments with spaces, after format specifiers such as `%s` (Console §2.2).
fn tell(level: &str, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut line = String::new();
    let mut rest = args.iter();
    if let Some(format) = args.first().and_then(JsValue::as_string).filter(|_| args.len() > 1) {
        rest.next();
        fill(&format, &mut rest, &mut line, context);
    }
    for value in rest {
        if line.len() > limits::CONSOLE_LINE_BYTES_MAX {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&show(value, context));
    }
    page::of(context).borrow_mut().tell(level, &line);
    Ok(JsValue::undefined())
}

fn fill<'a>(
    format: &JsString,
    values: &mut impl Iterator<Item = &'a JsValue>,
    line: &mut String,
    context: &mut Context,
) {
    let format = format.to_std_string_lossy();
    let mut rest = cut(&format, limits::CONSOLE_LINE_BYTES_MAX);
    while let Some(at) = rest.find('%') {
        line.push_str(&rest[..at]);
        let mark = rest[at + 1..].chars().next();
        let taken = match mark {
            Some('s' | 'd' | 'i' | 'f' | 'o' | 'O') => match values.next() {
                Some(value) => {
                    line.push_str(&show(value, context));
                    2
                }
                None => 0,
            },
            Some('c') => {
                values.next();
                2
            }
            Some('%') => {
                line.push('%');
                2
            }
            _ => 0,
        };
        if taken == 0 {
            line.push('%');
        }
        rest = &rest[at + taken.max(1)..];
    }
    line.push_str(rest);
}

/// A value as a line: texts as they are, errors by message, objects as far as the engine can show them without calling scripts.
fn show(value: &JsValue, context: &mut Context) -> String {
    if let Some(text) = value.as_string() {
        return cut(&text.to_std_string_lossy(), limits::CONSOLE_LINE_BYTES_MAX).to_owned();
    }
    let Some(object) = value.as_object() else { return value.display().to_string() };
    if object.is::<boa_engine::builtins::error::Error>() || super::exception::is(&object) {
        return value.to_string(context).map_or_else(|_| "Error".to_owned(), |text| text.to_std_string_lossy());
    }
    if object.is_callable() {
        return "function".to_owned();
    }
    // Deep or large objects would take too long: the keys of the first level are enough.
    let keys = object.own_property_keys(context).unwrap_or_default();
    let mut shown = String::from(if object.is_array() { "[" } else { "{" });
    for key in keys.iter().take(20) {
        let value = object.get(key.clone(), context).unwrap_or_default();
        let value = if value.is_object() { "…".to_owned() } else { value.display().to_string() };
        shown.push_str(&format!("{key}: {value}, "));
        if shown.len() > limits::CONSOLE_LINE_BYTES_MAX {
            break;
        }
    }
    shown.truncate(shown.trim_end_matches(", ").len());
    shown.push(if object.is_array() { ']' } else { '}' });
    shown
}
