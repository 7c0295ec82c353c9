//! `CSSStyleDeclaration` (CSSOM §6.6): `element.style` on top of the `style` attribute, the declarations of a rule, and the result of
//! `getComputedStyle`, which `styles` computes.
//!
//! Values are stored as written: nothing is expanded, and only what is syntactically impossible is rejected.

use std::rc::Rc;

use boa_engine::property::PropertyKey;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, Trace, js_string};
use html5ever::local_name;

use super::style_table::is_property;
use super::styles;
use crate::dom::style::declaration::{parse, put, split, text_of};
use crate::dom::style::value::takes;
use crate::dom::style::{Declaration, Rule};
use crate::dom::{NodeId, Selectors, Tree};
use crate::engine::bind;
use crate::limits;
use crate::web::webidl::exotic;
use crate::web::webidl::exotic::computed;
use crate::web::{change, node_argument, read, slot, this_element, wrap_or_null};

/// The source of the declarations.
#[derive(Clone, Trace, Finalize, JsData)]
enum Declarations {
    Inline(#[unsafe_ignore_trace] NodeId),
    /// Of an element, or of the named pseudo-element of it.
    Computed(#[unsafe_ignore_trace] NodeId, #[unsafe_ignore_trace] Option<Rc<str>>),
    /// Of a rule.
    Rule(#[unsafe_ignore_trace] Rc<Rule>),
}

/// `backgroundColor` as CSS writes it; `cssFloat` is `float`.
fn css_name(name: &str) -> String {
    if name == "cssFloat" {
        return "float".to_owned();
    }
    let mut css = String::with_capacity(name.len() + 4);
    if name.starts_with("webkit") || name.starts_with("moz") && name.len() > 3 {
        css.push('-');
    }
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            css.push('-');
        }
        css.push(c.to_ascii_lowercase());
    }
    css
}

/// The property of this name, in either spelling; `None` if there is none.
fn property_of(name: &JsString) -> Option<String> {
    let name = name.to_std_string_lossy();
    let css = if name.contains('-') { name } else { css_name(&name) };
    is_known(&css).then_some(css)
}

/// Whether CSS has a property of this name, which may have a vendor's prefix.
fn is_known(css: &str) -> bool {
    is_property(["-webkit-", "-moz-", "-ms-"].iter().find_map(|prefix| css.strip_prefix(prefix)).unwrap_or(css))
}

static KIND: exotic::Kind = computed!(exotic::Computed {
    length: |object, context| {
        let list = declarations(object, context);
        Ok(u32::try_from(list.len()).unwrap_or(u32::MAX))
    },
    item: |object, index, context| {
        let list = declarations(object, context);
        Ok(list.get(index as usize).map_or_else(JsValue::undefined, |one| bind::js(&one.name)))
    },
    named: |object, name, context| {
        let Some(property) = property_of(name) else { return Ok(None) };
        Ok(Some(bind::js(&value_of(object, &property, context))))
    },
    set: Some(|object, key, value, context| {
        let PropertyKey::String(name) = key else { return Ok(false) };
        let Some(property) = property_of(name) else { return Ok(false) };
        let text = if value.is_null() { String::new() } else { value.to_string(context)?.to_std_string_lossy() };
        set(object, &property, &text, false, context)?;
        Ok(true)
    }),
    ..exotic::Computed::EMPTY
});

const STYLE: bind::Interface = bind::Interface {
    name: "CSSStyleDeclaration",
    methods: &[
        ("getPropertyValue", 1, |this, args, context| {
            let object = this_style(this, context)?;
            bind::want(args, 1, "getPropertyValue' on 'CSSStyleDeclaration")?;
            let name = name_argument(args, context)?;
            Ok(bind::js(&value_of(&object, &name, context)))
        }),
        ("getPropertyPriority", 1, |this, args, context| {
            let object = this_style(this, context)?;
            let name = name_argument(args, context)?;
            let list = declarations(&object, context);
            let important = list.iter().any(|one| one.name == name && one.important);
            Ok(bind::js(if important { "important" } else { "" }))
        }),
        ("setProperty", 2, |this, args, context| {
            let object = this_style(this, context)?;
            bind::want(args, 2, "setProperty' on 'CSSStyleDeclaration")?;
            let name = name_argument(args, context)?;
            let value = if args[1].is_null() { String::new() } else { bind::text(args, 1, context)? };
            let priority = bind::text_if_given(args, 2, context)?.unwrap_or_default();
            let important = priority.eq_ignore_ascii_case("important");
            if important || priority.is_empty() || args.get_or_undefined(2).is_null() {
                set(&object, &name, &value, important, context)?;
            }
            Ok(JsValue::undefined())
        }),
        ("removeProperty", 1, |this, args, context| {
            let object = this_style(this, context)?;
            bind::want(args, 1, "removeProperty' on 'CSSStyleDeclaration")?;
            let name = name_argument(args, context)?;
            let old = value_of(&object, &name, context);
            set(&object, &name, "", false, context)?;
            Ok(bind::js(&old))
        }),
        ("item", 1, |this, args, context| {
            let object = this_style(this, context)?;
            let index = args.get_or_undefined(0).to_u32(context)?;
            let list = declarations(&object, context);
            Ok(bind::js(list.get(index as usize).map_or("", |one| &one.name)))
        }),
    ],
    attributes: &[
        (
            "cssText",
            |this, _, context| {
                let object = this_style(this, context)?;
                let whose = whose(&object);
                if matches!(whose, Some(Declarations::Computed(..)) | None) {
                    return Ok(bind::js(""));
                }
                Ok(bind::js(&text_of(&declarations(&object, context))))
            },
            Some(|this, args, context| {
                let object = this_style(this, context)?;
                let text = bind::text(args, 0, context)?;
                let list: Vec<_> = parse(&text).into_iter().filter(|one| takes(&one.name, &one.value)).collect();
                write(&object, &list, context)?;
                Ok(JsValue::undefined())
            }),
        ),
        (
            "length",
            |this, _, context| {
                let object = this_style(this, context)?;
                let count = declarations(&object, context).len();
                Ok(u32::try_from(count).unwrap_or(u32::MAX).into())
            },
            None,
        ),
        ("parentRule", |_, _, _| Ok(JsValue::null()), None),
    ],
    ..bind::Interface::EMPTY
};

/// `element.style`; assigning to it sets its text (CSSOM §6.8 [PutForwards=cssText]).
const ELEMENT: &[bind::Attribute] = &[(
    "style",
    |this, _, context| {
        let id = this_element(this, context)?;
        let make =
            |context: &mut Context| exotic::object("CSSStyleDeclaration", Declarations::Inline(id), &KIND, context);
        slot(id, "style", context, make).map(JsValue::from)
    },
    Some(|this, args, context| {
        let id = this_element(this, context)?;
        let text = bind::text(args, 0, context)?;
        change(context, |tree| tree.set_attribute(id, "style", &text_of(&parse(&text))))?;
        Ok(JsValue::undefined())
    }),
)];

const CSS: &[bind::Method] = &[
    ("supports", 1, |_, args, context| {
        bind::want(args, 1, "supports' on 'CSS")?;
        let first = bind::text(args, 0, context)?;
        if args.len() > 1 {
            return Ok(supports_declaration(&first, &bind::text(args, 1, context)?).into());
        }
        Ok(supports(&first).into())
    }),
    ("escape", 1, |_, args, context| {
        bind::want(args, 1, "escape' on 'CSS")?;
        Ok(bind::js(&escape(&bind::text(args, 0, context)?)))
    }),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&STYLE, context)?;
    for name in ["HTMLElement", "SVGElement", "MathMLElement"] {
        let prototype = bind::prototype(name, context)?;
        bind::attributes(&prototype, ELEMENT, context)?;
    }
    let css = JsObject::with_object_proto(context.intrinsics());
    bind::methods(&css, CSS, context)?;
    let global = context.global_object();
    bind::hidden(&global, js_string!("CSS"), css.into(), true, context)?;
    bind::methods(&global, &[("getComputedStyle", 1, computed_style)], context)
}

/// Whether a condition of `@supports` holds (CSS Conditional 4 §2), with the nesting limit of selectors.
pub(crate) fn supports(condition: &str) -> bool {
    supports_within(condition, limits::SELECTOR_NESTING_MAX)
}

/// Whether a declaration is of a property that is known, or of a custom one. Values are not looked at.
fn supports_declaration(name: &str, value: &str) -> bool {
    let is_known = name.starts_with("--") || property_of(&js_string!(name.to_ascii_lowercase())).is_some();
    is_known && !value.trim().is_empty()
}

fn supports_within(condition: &str, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let condition = condition.trim();
    let lower = condition.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("not").filter(|rest| rest.starts_with([' ', '('])) {
        return !supports_within(&condition[condition.len() - rest.len()..], depth);
    }
    let words = split(condition, ' ');
    for (word, all) in [("and", true), ("or", false)] {
        let parts: Vec<&[&str]> = words.split(|one| one.eq_ignore_ascii_case(word)).collect();
        if parts.len() > 1 {
            let mut holds = parts.iter().map(|part| supports_within(&part.join(" "), depth));
            return if all { holds.all(|holds| holds) } else { holds.any(|holds| holds) };
        }
    }
    if let Some(selector) = lower.strip_prefix("selector(").and_then(|rest| rest.strip_suffix(')')) {
        let selector = &condition["selector(".len()..][..selector.len()];
        return Selectors::parse(selector).is_ok_and(|selectors| selectors.is_one());
    }
    let inner = condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inner = inner.unwrap_or(condition);
    match inner.split_once(':') {
        Some((name, value)) if !name.contains('(') => supports_declaration(name.trim(), value),
        _ if inner.len() < condition.len() => supports_within(inner, depth),
        _ => false,
    }
}

fn computed_style(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = node_argument(args, 0, "getComputedStyle' on 'Window", context)?;
    if !read(context, |tree| tree.is_element(id)) {
        return Err(bind::type_error(
            "Failed to execute 'getComputedStyle' on 'Window': parameter 1 is not of type 'Element'.",
        ));
    }
    // A value without a leading colon means the element itself (CSSOM §7.2).
    let pseudo = bind::text_if_given(args, 1, context)?.filter(|_| !args.get_or_undefined(1).is_null());
    let pseudo = pseudo.as_deref().and_then(|name| name.strip_prefix(':'));
    let pseudo: Option<Rc<str>> = pseudo.map(|name| name.trim_start_matches(':').to_ascii_lowercase().into());
    let is_plain = pseudo.is_none();
    let make = |context: &mut Context| {
        exotic::object("CSSStyleDeclaration", Declarations::Computed(id, pseudo), &KIND, context)
    };
    if is_plain {
        slot(id, "computed style", context, make).map(JsValue::from)
    } else {
        make(context).map(JsValue::from)
    }
}

/// The declarations of a rule as a script object.
pub(crate) fn of_rule(rule: &Rc<Rule>, context: &mut Context) -> JsResult<JsObject> {
    exotic::object("CSSStyleDeclaration", Declarations::Rule(Rc::clone(rule)), &KIND, context)
}

fn this_style(this: &JsValue, context: &mut Context) -> JsResult<JsObject> {
    Ok(exotic::this::<Declarations>(this, context)?.upcast())
}

fn name_argument(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    let name = bind::text(args, 0, context)?;
    Ok(if name.starts_with("--") { name } else { name.to_ascii_lowercase() })
}

fn whose(object: &JsObject) -> Option<Declarations> {
    object.downcast_ref::<Declarations>().map(|data| data.clone())
}

fn declarations(object: &JsObject, context: &Context) -> Vec<Declaration> {
    match whose(object) {
        Some(Declarations::Inline(id)) => read(context, |tree| inline(tree, id)),
        Some(Declarations::Rule(ref rule)) => rule.declarations().clone(),
        Some(Declarations::Computed(..)) | None => Vec::new(),
    }
}

fn inline(tree: &Tree, id: NodeId) -> Vec<Declaration> {
    tree.attribute(id, &local_name!("style")).map(parse).unwrap_or_default()
}

fn value_of(object: &JsObject, name: &str, context: &mut Context) -> String {
    match whose(object) {
        // Scripts ask for `paddingLeft` first, and then otherwise.
        Some(Declarations::Computed(..)) if !name.starts_with("--") && !is_known(name) => String::new(),
        Some(Declarations::Computed(id, ref pseudo)) => styles::computed(id, name, pseudo.as_deref(), context),
        _ => value_in(&declarations(object, context), name).unwrap_or_default(),
    }
}

/// The value of a property in a list; a shorthand of four sides also sets its sides.
fn value_in(list: &[Declaration], name: &str) -> Option<String> {
    if let Some(one) = list.iter().find(|one| one.name == name) {
        return Some(one.value.clone());
    }
    let (short, side) = name.rsplit_once('-')?;
    let side = ["top", "right", "bottom", "left"].iter().position(|one| *one == side)?;
    let whole = list.iter().find(|one| one.name == short && matches!(short, "margin" | "padding"))?;
    let words: Vec<&str> = whole.value.split_ascii_whitespace().collect();
    let index = match words.len() {
        0 => return None,
        1 => 0,
        2 => side % 2,
        3 => [0, 1, 2, 1][side],
        _ => side,
    };
    words.get(index).map(|word| (*word).to_owned())
}

fn set(object: &JsObject, name: &str, value: &str, important: bool, context: &mut Context) -> JsResult<()> {
    let mut list = declarations(object, context);
    // Nothing removes the declaration, and spaces are no value.
    let is_removed = value.is_empty();
    let value = value.trim();
    let is_value = split(value, ';').len() == 1 && !value.contains(['{', '}']);
    if is_removed {
        list.retain(|one| one.name != name);
    } else if !value.is_empty() && is_value && takes(name, value) {
        put(&mut list, Declaration { name: name.to_owned(), value: value.to_owned(), important });
    } else {
        return Ok(());
    }
    write(object, &list, context)
}

fn write(object: &JsObject, list: &[Declaration], context: &mut Context) -> JsResult<()> {
    let text = text_of(list);
    match whose(object) {
        Some(Declarations::Inline(id)) => {
            let old = read(context, |tree| tree.attribute(id, &local_name!("style")).map(str::to_owned));
            if old.as_deref() != Some(&text) && !(old.is_none() && text.is_empty()) {
                change(context, |tree| tree.set_attribute(id, "style", &text))?;
            }
        }
        Some(Declarations::Rule(ref rule)) => rule.set_declarations(list.to_vec()),
        // Computed values are read-only.
        Some(Declarations::Computed(..)) | None => {}
    }
    Ok(())
}

/// "Serialize an identifier" (CSSOM §2.1).
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let first = text.chars().next();
    for (place, c) in text.chars().enumerate() {
        let leads = place == 0 || place == 1 && first == Some('-');
        match c {
            '\0' => out.push('\u{fffd}'),
            c if c.is_ascii_control() || c.is_ascii_digit() && leads => out.push_str(&format!("\\{:x} ", u32::from(c))),
            '-' if text.len() == 1 => out.push_str("\\-"),
            c if c == '-' || c == '_' || !c.is_ascii() || c.is_ascii_alphanumeric() => out.push(c),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    out
}

/// The scrolling element, whose rectangle scripts read.
pub(crate) fn scrolling_element(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let document = crate::web::this_document(this, context)?;
    let root = read(context, |tree| tree.document_element(document));
    wrap_or_null(root, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_named_in_either_spelling() {
        assert_eq!(property_of(&js_string!("backgroundColor")).as_deref(), Some("background-color"));
        assert_eq!(property_of(&js_string!("webkitTransform")).as_deref(), Some("-webkit-transform"));
        assert_eq!(property_of(&js_string!("nothing")), None);
    }

    #[test]
    fn names_are_escaped_as_selectors_want_them() {
        assert_eq!(escape("1a"), "\\31 a");
        assert_eq!(escape("-"), "\\-");
        assert_eq!(escape("a.b:c"), "a\\.b\\:c");
    }
}
