//! `HTMLElement` (HTML §3.2.2) and members shared with SVG and MathML: attributes that do not merely reflect, focus, script clicks.

use boa_engine::{Context, JsArgs, JsResult, JsValue, NativeFunction};
use html5ever::ns;

use super::reflect::{Words, has, set_flag, set_text, text};
use super::{inner_text, numbers, state, table};
use crate::dom::{Error, NodeId, Tree};
use crate::engine::{bind, jobs, target};
use crate::engine::{events, realm};
use crate::web::{of, read, this_element, thrown, wrap};

/// A `true`/`false` attribute that inherits from the parent.
const INHERITED: Words = Words { missing: None, invalid: None, ..Words::of(&["true", "false"]) };

const EDITABLE: Words =
    Words { aliases: &[("", "true")], missing: None, invalid: None, ..Words::of(&["true", "false", "plaintext-only"]) };

const TRANSLATE: Words = Words { aliases: &[("", "yes")], missing: None, invalid: None, ..Words::of(&["yes", "no"]) };

const METHODS: &[bind::Method] = &[
    ("click", 0, |this, _, context| {
        let id = this_element(this, context)?;
        click(id, context)?;
        Ok(JsValue::undefined())
    }),
    ("showPopover", 0, |this, _, context| popover(this, |_| true, context)),
    ("hidePopover", 0, |this, _, context| popover(this, |_| false, context)),
    ("togglePopover", 0, |this, args, context| {
        let force = match args.get_or_undefined(0) {
            given if given.is_object() => bind::member(given, "force", context)?.map(|force| force.to_boolean()),
            given if given.is_undefined() => None,
            given => Some(given.to_boolean()),
        };
        match force {
            Some(true) => popover(this, |_| true, context),
            Some(false) => popover(this, |_| false, context),
            None => popover(this, |open| !open, context),
        }
    }),
];

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "hidden",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| match text(tree, id, "hidden") {
                Some(value) if value.eq_ignore_ascii_case("until-found") => bind::js("until-found"),
                value => value.is_some().into(),
            }))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let given = args.get_or_undefined(0);
            let until_found =
                given.as_string().is_some_and(|given| given.to_std_string_lossy().eq_ignore_ascii_case("until-found"));
            if until_found {
                set_text(id, "hidden", "until-found", context)?;
            } else {
                set_flag(id, "hidden", given.to_boolean(), context)?;
            }
            Ok(JsValue::undefined())
        }),
    ),
    (
        "translate",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| inherited(tree, id, "translate", &TRANSLATE) != Some("no")).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let word = if args.get_or_undefined(0).to_boolean() { "yes" } else { "no" };
            set_text(id, "translate", word, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "spellcheck",
        |this, _, context| {
            let id = this_element(this, context)?;
            let words = Words { aliases: &[("", "true")], ..INHERITED };
            Ok(read(context, |tree| inherited(tree, id, "spellcheck", &words) != Some("false")).into())
        },
        Some(|this, args, context| set_truth(this, args, "spellcheck", context)),
    ),
    (
        "draggable",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| match INHERITED.state(text(tree, id, "draggable")) {
                Some(word) => word == "true",
                None => is_called(tree, id, &["img"]) || (is_called(tree, id, &["a"]) && has(tree, id, "href")),
            })
            .into())
        },
        Some(|this, args, context| set_truth(this, args, "draggable", context)),
    ),
    (
        "writingSuggestions",
        |this, _, context| {
            let id = this_element(this, context)?;
            let words = Words { aliases: &[("", "true")], ..Words::or(&["true", "false"], "true") };
            let words = Words { missing: None, ..words };
            Ok(bind::js(read(context, |tree| inherited(tree, id, "writingsuggestions", &words)).unwrap_or("true")))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let word = bind::text(args, 0, context)?;
            set_text(id, "writingsuggestions", &word, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "autocapitalize",
        |this, _, context| {
            let id = this_element(this, context)?;
            let words = Words {
                aliases: &[("off", "none"), ("on", "sentences"), ("", "")],
                invalid: Some("sentences"),
                ..Words::of(&["none", "sentences", "words", "characters"])
            };
            Ok(bind::js(read(context, |tree| words.state(text(tree, id, "autocapitalize"))).unwrap_or_default()))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let word = bind::text(args, 0, context)?;
            set_text(id, "autocapitalize", &word, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "accessKeyLabel",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| {
                text(tree, id, "accesskey")
                    .filter(|key| !key.is_empty())
                    .map_or(String::new(), |key| format!("Alt+{key}"))
            })))
        },
        None,
    ),
    (
        "contentEditable",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(read(context, |tree| EDITABLE.state(text(tree, id, "contenteditable"))).unwrap_or("inherit")))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let word = bind::text(args, 0, context)?.to_ascii_lowercase();
            match word.as_str() {
                "inherit" => set_flag(id, "contenteditable", false, context)?,
                "true" | "false" | "plaintext-only" => set_text(id, "contenteditable", &word, context)?,
                _ => return Err(thrown(Error::Syntax, context)),
            }
            Ok(JsValue::undefined())
        }),
    ),
    (
        "isContentEditable",
        |this, _, context| {
            let id = this_element(this, context)?;
            let state = read(context, |tree| inherited(tree, id, "contenteditable", &EDITABLE));
            Ok(matches!(state, Some("true" | "plaintext-only")).into())
        },
        None,
    ),
    (
        "innerText",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| inner_text::of(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = null_as_empty(args, context)?;
            inner_text::set(id, &text, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "outerText",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| inner_text::of(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = null_as_empty(args, context)?;
            inner_text::replace(id, &text, context).map(|()| JsValue::undefined())
        }),
    ),
];

/// Shared members of HTML, SVG and MathML elements (HTML §3.2.8 `HTMLOrSVGElement`).
const SHARED_METHODS: &[bind::Method] = &[
    ("focus", 0, |this, _, context| {
        let id = this_element(this, context)?;
        if read(context, |tree| tree.is_connected(id) && is_focusable(tree, id)) {
            move_focus(Some(id), context);
        }
        Ok(JsValue::undefined())
    }),
    ("blur", 0, |this, _, context| {
        let id = this_element(this, context)?;
        if read(context, |tree| tree.focus) == Some(id) {
            move_focus(None, context);
        }
        Ok(JsValue::undefined())
    }),
];

const SHARED_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "tabIndex",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| {
                let usual = if is_in_tab_order(tree, id) { 0 } else { -1 };
                tab_index(tree, id).unwrap_or(usual)
            })
            .into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let index = args.get_or_undefined(0).to_i32(context)?;
            set_text(id, "tabindex", &index.to_string(), context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "autofocus",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| has(tree, id, "autofocus")).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            set_flag(id, "autofocus", args.get_or_undefined(0).to_boolean(), context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "nonce",
        |this, _, context| {
            let id = this_element(this, context)?;
            if let Some(nonce) = state(context).borrow().nonces.get(&id) {
                return Ok(bind::js(nonce));
            }
            Ok(read(context, |tree| bind::js(text(tree, id, "nonce").unwrap_or_default())))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let nonce = bind::text(args, 0, context)?;
            state(context).borrow_mut().nonces.insert(id, nonce);
            Ok(JsValue::undefined())
        }),
    ),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::prototype("HTMLElement", context)?;
    bind::methods(&prototype, METHODS, context)?;
    bind::attributes(&prototype, ATTRIBUTES, context)?;
    for interface in ["HTMLElement", "SVGElement", "MathMLElement"] {
        let prototype = bind::prototype(interface, context)?;
        bind::methods(&prototype, SHARED_METHODS, context)?;
        bind::attributes(&prototype, SHARED_ATTRIBUTES, context)?;
    }
    let document = bind::prototype("Document", context)?;
    bind::attributes(&document, &[DIRECTION], context)?;
    for (name, content) in OF_BODY.iter().copied() {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            let body = body_of(this, context)?;
            Ok(read(context, |tree| bind::js(body.and_then(|body| text(tree, body, content)).unwrap_or_default())))
        });
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let body = body_of(this, context)?;
            let value = null_as_empty(args, context)?;
            if let Some(body) = body {
                set_text(body, content, &value, context)?;
            }
            Ok(JsValue::undefined())
        });
        bind::accessor(&document, name, get, Some(set), context)?;
    }
    Ok(())
}

/// Document attributes that reflect the body's (HTML §16.3 "Document").
const OF_BODY: &[(&str, &str)] = &[
    ("fgColor", "text"),
    ("linkColor", "link"),
    ("vlinkColor", "vlink"),
    ("alinkColor", "alink"),
    ("bgColor", "bgcolor"),
];

fn body_of(this: &JsValue, context: &mut Context) -> JsResult<Option<NodeId>> {
    let document = crate::web::this_document(this, context)?;
    Ok(read(context, |tree| {
        crate::web::dom::document::body(tree, document).filter(|body| is_called(tree, *body, &["body"]))
    }))
}

/// `document.dir`, which reflects the root element's.
const DIRECTION: bind::Attribute = (
    "dir",
    |this, _, context| {
        let document = crate::web::this_document(this, context)?;
        Ok(bind::js(read(context, |tree| {
            let root = tree.document_element(document).filter(|root| is_called(tree, *root, &["html"]));
            root.and_then(|root| table::DIRECTIONS.state(text(tree, root, "dir"))).unwrap_or_default()
        })))
    },
    Some(|this, args, context| {
        let document = crate::web::this_document(this, context)?;
        let word = bind::text(args, 0, context)?;
        let root =
            read(context, |tree| tree.document_element(document).filter(|root| is_called(tree, *root, &["html"])));
        if let Some(root) = root {
            set_text(root, "dir", &word, context)?;
        }
        Ok(JsValue::undefined())
    }),
);

/// `[LegacyNullToEmptyString]`.
///
/// # Errors
/// What the value's own conversion throws.
pub fn null_as_empty(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    if args.get_or_undefined(0).is_null() { Ok(String::new()) } else { bind::text(args, 0, context) }
}

/// Whether an element is an HTML element with one of these names.
pub fn is_called(tree: &Tree, id: NodeId, names: &[&str]) -> bool {
    tree.element(id).is_some_and(|element| element.name().ns == ns!(html) && names.contains(&&*element.name().local))
}

fn set_truth(this: &JsValue, args: &[JsValue], content: &str, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let word = if args.get_or_undefined(0).to_boolean() { "true" } else { "false" };
    set_text(id, content, word, context).map(|()| JsValue::undefined())
}

/// The state of an attribute on an element, or on the nearest ancestor that has one.
fn inherited(tree: &Tree, id: NodeId, content: &str, words: &Words) -> Option<&'static str> {
    tree.inclusive_ancestors(id).find_map(|id| words.state(text(tree, id, content)))
}

fn tab_index(tree: &Tree, id: NodeId) -> Option<i32> {
    text(tree, id, "tabindex").and_then(numbers::integer).and_then(|index| i32::try_from(index).ok())
}

/// Elements in the tab order (HTML §6.6.2).
fn is_in_tab_order(tree: &Tree, id: NodeId) -> bool {
    let is_link = is_called(tree, id, &["a", "area"]) && has(tree, id, "href");
    let is_control = is_called(tree, id, &["button", "input", "select", "textarea", "iframe", "object", "embed"]);
    is_link || is_control || is_called(tree, id, &["summary"]) || has_truth(tree, id, "contenteditable")
}

fn has_truth(tree: &Tree, id: NodeId, content: &str) -> bool {
    matches!(EDITABLE.state(text(tree, id, content)), Some("true" | "plaintext-only"))
}

fn is_focusable(tree: &Tree, id: NodeId) -> bool {
    let is_hidden_input = is_called(tree, id, &["input"])
        && text(tree, id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
    !is_hidden_input && !tree.is_disabled(id) && (tab_index(tree, id).is_some() || is_in_tab_order(tree, id))
}

/// Moves the focus and fires the events of both elements (HTML §6.6.4 "focus update steps").
pub fn move_focus(to: Option<NodeId>, context: &mut Context) {
    let from = read(context, |tree| tree.focus);
    if from == to {
        return;
    }
    of(context).borrow_mut().tree.focus = to;
    let mut tell = |at: Option<NodeId>, other: Option<NodeId>, kinds: [(&'static str, bool); 2]| {
        let Some(object) = at.and_then(|id| wrap(id, context).ok()) else { return };
        let related = other.and_then(|id| wrap(id, context).ok()).map_or_else(JsValue::null, JsValue::from);
        for (kind, bubbles) in kinds {
            let members = [("relatedTarget", related.clone())];
            events::fire(&object, "FocusEvent", kind, (bubbles, false), &members, context);
        }
    };
    tell(from, to, [("blur", false), ("focusout", true)]);
    tell(to, from, [("focus", false), ("focusin", true)]);
}

/// `element.click()` (HTML §6.4.4): a click that is not trusted.
///
/// # Errors
/// None that a page could cause.
pub fn click(id: NodeId, context: &mut Context) -> JsResult<()> {
    if read(context, |tree| is_form_control(tree, id) && tree.is_disabled(id)) {
        return Ok(());
    }
    if !state(context).borrow_mut().clicks.insert(id) {
        return Ok(());
    }
    let result = synthetic_click(id, context);
    state(context).borrow_mut().clicks.remove(&id);
    result
}

fn synthetic_click(id: NodeId, context: &mut Context) -> JsResult<()> {
    let object = wrap(id, context)?;
    let view = realm::window(context).into();
    let members = [("view", view), ("detail", 0.into())];
    let event = events::create("PointerEvent", "click", (true, true), &members, context)?;
    event.borrow_mut().data_mut().of_script();
    target::dispatch(&object, &event, context)?;
    Ok(())
}

fn is_form_control(tree: &Tree, id: NodeId) -> bool {
    is_called(tree, id, &["button", "input", "select", "textarea", "fieldset"])
}

/// Shows or hides a popover, as far as scripts can see (HTML §6.12).
fn popover(this: &JsValue, wanted: fn(bool) -> bool, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    if !read(context, |tree| has(tree, id, "popover")) {
        return Err(thrown(Error::NotSupported, context));
    }
    Ok(set_popover(id, wanted, context).into())
}

/// Shows or hides a popover depending on its state; returns whether it is shown now.
pub fn set_popover(id: NodeId, wanted: fn(bool) -> bool, context: &mut Context) -> bool {
    let is_open = state(context).borrow().popovers.contains(&id);
    let wanted = wanted(is_open);
    let Some(object) = wrap(id, context).ok().filter(|_| is_open != wanted) else { return is_open };
    let (old, new) = if wanted { ("closed", "open") } else { ("open", "closed") };
    let members = || [("oldState", bind::js(old)), ("newState", bind::js(new))];
    let goes_on = events::fire(&object, "ToggleEvent", "beforetoggle", (false, wanted), &members(), context);
    if !goes_on && wanted {
        return false;
    }
    let shared = state(context);
    if wanted {
        shared.borrow_mut().popovers.insert(id)
    } else {
        shared.borrow_mut().popovers.remove(&id)
    };
    jobs::post(context, 0, move |context| {
        events::fire(&object, "ToggleEvent", "toggle", (false, false), &members(), context);
        Ok(())
    });
    wanted
}
