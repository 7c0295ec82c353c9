//! `CSSStyleSheet` and its rules (CSSOM §6.1–6.4): lists that scripts fill and read. No rule is ever applied to an element.

use boa_engine::object::builtins::{JsArray, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use html5ever::local_name;

use super::style::{self, split};
use super::{read, slot, this_document, this_element, this_node, wrap_or_null};
use crate::limits;
use crate::render::dom::NodeId;
use crate::render::engine::{bind, exception};

#[derive(Trace, Finalize, JsData)]
struct Sheet {
    rules: Vec<JsObject>,
    #[unsafe_ignore_trace]
    owner: Option<NodeId>,
    #[unsafe_ignore_trace]
    disabled: bool,
}

/// One rule of any kind.
#[derive(Trace, Finalize, JsData)]
struct Rule {
    #[unsafe_ignore_trace]
    text: String,
    /// What stands before the braces.
    #[unsafe_ignore_trace]
    head: String,
    style: JsObject,
}

const SHEET: bind::Interface = bind::Interface {
    name: "CSSStyleSheet",
    parent: Some("StyleSheet"),
    constructor: Some(|new_target, _, context| {
        bind::construct(new_target, "CSSStyleSheet", Sheet { rules: Vec::new(), owner: None, disabled: false }, context)
    }),
    methods: &[
        ("insertRule", 1, |this, args, context| {
            let sheet = bind::this::<Sheet>(this)?;
            bind::want(args, 1, "insertRule' on 'CSSStyleSheet")?;
            let text = bind::text(args, 0, context)?;
            let index = args.get_or_undefined(1).to_u32(context)?;
            let Some(rule) = rules_of(&text).into_iter().next() else {
                return Err(exception::error("SyntaxError", "Failed to parse the rule.", context));
            };
            let rule = make(rule, context)?;
            let mut sheet = sheet.borrow_mut();
            let rules = &mut sheet.data_mut().rules;
            if index as usize > rules.len() {
                return Err(exception::error("IndexSizeError", "The index is beyond the rules.", context));
            }
            if rules.len() < limits::LISTENERS_MAX {
                rules.insert(index as usize, rule);
            }
            Ok(index.into())
        }),
        ("addRule", 0, |this, args, context| {
            let sheet = bind::this::<Sheet>(this)?;
            let (selector, style) = (bind::text(args, 0, context)?, bind::text_if_given(args, 1, context)?);
            let text = format!("{selector} {{ {} }}", style.unwrap_or_default());
            if let Some(rule) = rules_of(&text).into_iter().next() {
                let rule = make(rule, context)?;
                let mut sheet = sheet.borrow_mut();
                if sheet.data().rules.len() < limits::LISTENERS_MAX {
                    sheet.data_mut().rules.push(rule);
                }
            }
            Ok((-1).into())
        }),
        ("deleteRule", 1, delete_rule),
        ("removeRule", 0, delete_rule),
        ("replace", 1, |this, args, context| {
            replace(this, args, context)?;
            JsPromise::resolve(this.clone(), context).map(JsValue::from)
        }),
        ("replaceSync", 1, |this, args, context| replace(this, args, context).map(|()| JsValue::undefined())),
    ],
    attributes: &[
        ("cssRules", rules, None),
        ("rules", rules, None),
        ("ownerRule", |_, _, _| Ok(JsValue::null()), None),
        (
            "ownerNode",
            |this, _, context| {
                let owner = bind::this::<Sheet>(this)?.borrow().data().owner;
                wrap_or_null(owner, context)
            },
            None,
        ),
        ("parentStyleSheet", |_, _, _| Ok(JsValue::null()), None),
        ("href", |_, _, _| Ok(JsValue::null()), None),
        ("title", |_, _, _| Ok(JsValue::null()), None),
        ("type", |_, _, _| Ok(bind::js("text/css")), None),
        (
            "disabled",
            |this, _, _| Ok(bind::this::<Sheet>(this)?.borrow().data().disabled.into()),
            Some(|this, args, _| {
                bind::this::<Sheet>(this)?.borrow_mut().data_mut().disabled = args.get_or_undefined(0).to_boolean();
                Ok(JsValue::undefined())
            }),
        ),
    ],
    ..bind::Interface::EMPTY
};

const RULE: bind::Interface = bind::Interface {
    name: "CSSRule",
    attributes: &[
        ("cssText", |this, _, _| Ok(bind::js(&bind::this::<Rule>(this)?.borrow().data().text)), None),
        (
            "type",
            |this, _, _| {
                let head = bind::this::<Rule>(this)?.borrow().data().head.clone();
                let kinds = [("@media", 4), ("@font-face", 5), ("@keyframes", 7), ("@supports", 12), ("@import", 3)];
                let kind = kinds.iter().find(|(start, _)| head.starts_with(start)).map_or(1, |(_, kind)| *kind);
                Ok(kind.into())
            },
            None,
        ),
        ("parentRule", |_, _, _| Ok(JsValue::null()), None),
    ],
    constants: &[
        ("STYLE_RULE", 1),
        ("IMPORT_RULE", 3),
        ("MEDIA_RULE", 4),
        ("FONT_FACE_RULE", 5),
        ("KEYFRAMES_RULE", 7),
    ],
    ..bind::Interface::EMPTY
};

const STYLE_RULE: bind::Interface = bind::Interface {
    name: "CSSStyleRule",
    parent: Some("CSSRule"),
    attributes: &[
        ("selectorText", |this, _, _| Ok(bind::js(&bind::this::<Rule>(this)?.borrow().data().head)), None),
        ("style", |this, _, _| Ok(bind::this::<Rule>(this)?.borrow().data().style.clone().into()), None),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&bind::Interface { name: "StyleSheet", ..bind::Interface::EMPTY }, context)?;
    for interface in [&SHEET, &RULE, &STYLE_RULE] {
        bind::define(interface, context)?;
    }
    let owned: bind::Attribute = (
        "sheet",
        |this, _, context| {
            let id = this_element(this, context)?;
            let has_one = read(context, |tree| {
                let link = |rel: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case("stylesheet"));
                tree.is_connected(id)
                    && tree.element(id).is_some_and(|element| {
                        element.is_html(&local_name!("style"))
                            || element.attribute(&local_name!("rel")).is_some_and(link)
                    })
            });
            if has_one { of_element(id, context).map(JsValue::from) } else { Ok(JsValue::null()) }
        },
        None,
    );
    for name in ["HTMLStyleElement", "HTMLLinkElement"] {
        let prototype = bind::prototype(name, context)?;
        bind::attributes(&prototype, &[owned], context)?;
    }
    let all: bind::Attribute = (
        "styleSheets",
        |this, _, context| {
            let document = this_document(this, context)?;
            let owners: Vec<NodeId> = read(context, |tree| {
                let is_style =
                    |id: &NodeId| tree.element(*id).is_some_and(|element| element.is_html(&local_name!("style")));
                tree.descendants(document).filter(is_style).collect()
            });
            let sheets: JsResult<Vec<JsValue>> =
                owners.into_iter().map(|id| of_element(id, context).map(JsValue::from)).collect();
            Ok(bind::array(sheets?, context))
        },
        None,
    );
    let adopted: bind::Attribute = (
        "adoptedStyleSheets",
        |this, _, context| {
            let id = this_node(this, context)?;
            slot(id, "adopted", context, |context| JsArray::new(context).map(JsObject::from)).map(JsValue::from)
        },
        Some(|this, args, context| {
            let id = this_node(this, context)?;
            let list = args.get_or_undefined(0).as_object().ok_or_else(|| bind::type_error("not a sequence"))?;
            let given = bind::values(&list, limits::LISTENERS_MAX, context)?;
            if !given.iter().all(|one| bind::this::<Sheet>(one).is_ok()) {
                return Err(bind::type_error("Failed to convert value to 'CSSStyleSheet'."));
            }
            let held = slot(id, "adopted", context, |context| JsArray::new(context).map(JsObject::from))?;
            let held = JsArray::from_object(held)?;
            held.set(boa_engine::js_string!("length"), 0, true, context)?;
            for sheet in given {
                held.push(sheet, context)?;
            }
            Ok(JsValue::undefined())
        }),
    );
    let document = bind::prototype("Document", context)?;
    bind::attributes(&document, &[all, adopted], context)?;
    let shadow = bind::prototype("ShadowRoot", context)?;
    bind::attributes(&shadow, &[adopted], context)
}

/// The sheet of a `style` or `link`, with the rules that the element's text had when it was first asked for.
fn of_element(id: NodeId, context: &mut Context) -> JsResult<JsObject> {
    slot(id, "sheet", context, |context| {
        let text = read(context, |tree| tree.child_text(id));
        let rules = made(&text, context)?;
        bind::object("CSSStyleSheet", Sheet { rules, owner: Some(id), disabled: false }, context)
    })
}

fn made(text: &str, context: &mut Context) -> JsResult<Vec<JsObject>> {
    rules_of(text).into_iter().take(limits::LISTENERS_MAX).map(|rule| make(rule, context)).collect()
}

fn make(text: String, context: &mut Context) -> JsResult<JsObject> {
    let (head, body) = text.split_once('{').unwrap_or((&text, ""));
    let head = head.trim().to_owned();
    let style = style::own(body.trim_end_matches(['}', ' ', '\n']), context)?;
    let name = if head.starts_with('@') { "CSSRule" } else { "CSSStyleRule" };
    bind::object(name, Rule { head, style, text }, context)
}

/// The rules of a sheet as texts.
fn rules_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let text = without_comments(text);
    for part in split(&text, ';') {
        // Between two semicolons outside of braces stand blocks and at most one rule without a block.
        let mut rest = part.trim_start_matches(';');
        while let Some(end) = block_end(rest) {
            found.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        let rest = rest.trim();
        if rest.starts_with('@') {
            found.push(format!("{rest};"));
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        rest = rest[start + 2..].split_once("*/").map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out
}

/// Where the first block of a text ends.
fn block_end(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (place, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some(place + 1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn rules(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let rules = bind::this::<Sheet>(this)?.borrow().data().rules.clone();
    Ok(bind::array(rules.into_iter().map(JsValue::from), context))
}

fn delete_rule(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let sheet = bind::this::<Sheet>(this)?;
    let index = args.get_or_undefined(0).to_u32(context)? as usize;
    let mut sheet = sheet.borrow_mut();
    let rules = &mut sheet.data_mut().rules;
    if index >= rules.len() {
        return Err(exception::error("IndexSizeError", "The index is beyond the rules.", context));
    }
    rules.remove(index);
    Ok(JsValue::undefined())
}

fn replace(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<()> {
    let sheet = bind::this::<Sheet>(this)?;
    let text = bind::text(args, 0, context)?;
    let rules = made(&text, context)?;
    sheet.borrow_mut().data_mut().rules = rules;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::rules_of;

    #[test]
    fn a_sheet_falls_into_its_rules() {
        let text = "@charset 'x'; /* a{} */ a { color: red } @media print { b { c: d; e: f } } g{h:i}";
        assert_eq!(
            rules_of(text),
            ["@charset 'x';", "a { color: red }", "@media print { b { c: d; e: f } }", "g{h:i}"]
        );
    }
}
