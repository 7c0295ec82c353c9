//! `CSSStyleDeclaration` (CSSOM §6.6): `element.style` over the `style` attribute, and what `getComputedStyle` knows without a style
//! engine: the element's own declarations, what it inherits of them, and a browser's usual values.
//!
//! Values are kept as they are written: nothing is expanded, and nothing is refused but what cannot stand in a declaration.

use boa_engine::property::PropertyKey;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsValue, Trace, js_string};
use html5ever::local_name;

use super::style_table::{self, INHERITED, PROPERTIES};
use super::{change, exotic, layout, node_argument, read, slot, this_element, wrap_or_null};
use crate::computed;
use crate::render::dom::{NodeId, Tree};
use crate::render::engine::bind;

/// Whose declarations these are.
#[derive(Clone, Trace, Finalize, JsData)]
enum Declarations {
    Inline(#[unsafe_ignore_trace] NodeId),
    Computed(#[unsafe_ignore_trace] NodeId),
    /// Of a rule that a script made.
    Own(#[unsafe_ignore_trace] String),
}

/// One declaration as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declaration {
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// The declarations of a text, later ones in the place of earlier ones of the same name.
pub(super) fn parse(text: &str) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    for part in split(text, ';') {
        let Some((name, value)) = part.split_once(':') else { continue };
        let name = name.trim();
        let name = if name.starts_with("--") { name.to_owned() } else { name.to_ascii_lowercase() };
        let value = value.trim();
        let (value, important) = match value.rsplit_once('!') {
            Some((value, word)) if word.trim().eq_ignore_ascii_case("important") => (value.trim_end(), true),
            _ => (value, false),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c == '-' || c == '_' || c.is_alphanumeric());
        if is_name && !value.is_empty() {
            put(&mut found, Declaration { name, value: value.to_owned(), important });
        }
    }
    found
}

/// Parts of a text between a character, which within quotes and brackets stands for itself.
pub(super) fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, c) {
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, c) if c == at && depth <= 0 => {
                parts.push(&text[start..place]);
                start = place + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn put(list: &mut Vec<Declaration>, new: Declaration) {
    match list.iter_mut().find(|one| one.name == new.name) {
        Some(one) => *one = new,
        None => list.push(new),
    }
}

fn text_of(list: &[Declaration]) -> String {
    let texts: Vec<String> = list
        .iter()
        .map(|one| format!("{}: {}{};", one.name, one.value, if one.important { " !important" } else { "" }))
        .collect();
    texts.join(" ")
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

/// The property that a name means, in either spelling; `None` for what is none.
fn property_of(name: &JsString) -> Option<String> {
    let name = name.to_std_string_lossy();
    let css = if name.contains('-') { name } else { css_name(&name) };
    let known = |css: &str| PROPERTIES.binary_search(&css).is_ok();
    let plain = ["-webkit-", "-moz-", "-ms-"].iter().find_map(|prefix| css.strip_prefix(prefix)).unwrap_or(&css);
    known(plain).then_some(css)
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
                if matches!(whose, Some(Declarations::Computed(_)) | None) {
                    return Ok(bind::js(""));
                }
                Ok(bind::js(&text_of(&declarations(&object, context))))
            },
            Some(|this, args, context| {
                let object = this_style(this, context)?;
                let text = bind::text(args, 0, context)?;
                write(&object, &parse(&text), context)?;
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

/// `element.style`; what is assigned to it is its text (CSSOM §6.8 [PutForwards=cssText]).
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
            return Ok(property_of(&js_string!(first.as_str())).is_some().into());
        }
        let condition = first.trim().trim_start_matches('(').trim_end_matches(')');
        let property = condition.split_once(':').map(|(name, _)| js_string!(name.trim()));
        Ok(property
            .is_some_and(|name| name.to_std_string_lossy().starts_with("--") || property_of(&name).is_some())
            .into())
    }),
    ("escape", 1, |_, args, context| {
        bind::want(args, 1, "escape' on 'CSS")?;
        Ok(bind::js(&escape(&bind::text(args, 0, context)?)))
    }),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
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

fn computed_style(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = node_argument(args, 0, "getComputedStyle' on 'Window", context)?;
    if !read(context, |tree| tree.is_element(id)) {
        return Err(bind::type_error(
            "Failed to execute 'getComputedStyle' on 'Window': parameter 1 is not of type 'Element'.",
        ));
    }
    let make =
        |context: &mut Context| exotic::object("CSSStyleDeclaration", Declarations::Computed(id), &KIND, context);
    slot(id, "computed style", context, make).map(JsValue::from)
}

/// Declarations of a script's own, as rules hold them.
pub(super) fn own(text: &str, context: &mut Context) -> JsResult<JsObject> {
    exotic::object("CSSStyleDeclaration", Declarations::Own(text_of(&parse(text))), &KIND, context)
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
        Some(Declarations::Own(ref text)) => parse(text),
        Some(Declarations::Computed(_)) | None => Vec::new(),
    }
}

fn inline(tree: &Tree, id: NodeId) -> Vec<Declaration> {
    tree.attribute(id, &local_name!("style")).map(parse).unwrap_or_default()
}

fn value_of(object: &JsObject, name: &str, context: &Context) -> String {
    match whose(object) {
        Some(Declarations::Computed(id)) => computed(id, name, context),
        _ => value_in(&declarations(object, context), name).unwrap_or_default(),
    }
}

/// The value that declarations give a property; a shorthand of four sides gives its sides.
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

/// A property's computed value: declared, inherited, of the layout, or a browser's usual one.
fn computed(id: NodeId, name: &str, context: &Context) -> String {
    let declared = read(context, |tree| {
        let inherits = name.starts_with("--") || INHERITED.contains(&name);
        tree.inclusive_ancestors(id)
            .take(if inherits { usize::MAX } else { 1 })
            .filter(|id| tree.is_element(*id))
            .find_map(|id| value_in(&inline(tree, id), name).filter(|value| value != "inherit"))
    });
    if let Some(value) = declared {
        return value;
    }
    match name {
        "display" => read(context, |tree| {
            let hidden = tree.attribute(id, &local_name!("hidden")).is_some();
            match tree.element(id) {
                _ if hidden => "none".to_owned(),
                Some(element) if element.name().ns == html5ever::ns!(html) => {
                    style_table::display_of(&element.name().local).to_owned()
                }
                _ => "inline".to_owned(),
            }
        }),
        "width" | "height" => match layout::place(id, context) {
            Some(place) => format!("{}px", if name == "width" { place.width } else { place.height }),
            None => "auto".to_owned(),
        },
        "direction" => if read(context, |tree| tree.is_rtl(id)) { "rtl" } else { "ltr" }.to_owned(),
        _ => style_table::usual(name).to_owned(),
    }
}

fn set(object: &JsObject, name: &str, value: &str, important: bool, context: &mut Context) -> JsResult<()> {
    let mut list = declarations(object, context);
    let value = value.trim();
    let is_value = split(value, ';').len() == 1 && !value.contains(['{', '}']);
    if value.is_empty() {
        list.retain(|one| one.name != name);
    } else if is_value {
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
        Some(Declarations::Own(_)) => {
            if let Some(mut data) = object.downcast_mut::<Declarations>() {
                *data = Declarations::Own(text);
            }
        }
        // Computed values are read-only.
        Some(Declarations::Computed(_)) | None => {}
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

/// The element whose rectangle scripts ask for when they look for the one that scrolls.
pub(super) fn scrolling_element(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let document = super::this_document(this, context)?;
    let root = read(context, |tree| tree.document_element(document));
    wrap_or_null(root, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_keep_what_quotes_and_brackets_hold() {
        let list = parse("color: red; background: url(a;b.png) ; content: 'x;\\'y' !important; ; bad; color:blue");
        assert_eq!(text_of(&list), "color: blue; background: url(a;b.png); content: 'x;\\'y' !important;");
    }

    #[test]
    fn the_table_of_properties_is_sorted() {
        assert!(PROPERTIES.is_sorted());
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
