//! `CSSStyleSheet`, its rules and their lists (CSSOM §6.1–6.4), over the sheets of `dom::style`.

use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::object::builtins::{JsArray, JsPromise};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use html5ever::local_name;

use super::{style, styles};
use crate::dom::style::sheet::Rules;
use crate::dom::style::{Rule, RuleKind, Sheet};
use crate::dom::{Error, NodeId, Tree};
use crate::engine::{bind, exception};
use crate::limits;
use crate::web::cssom_view::media;
use crate::web::webidl::exotic;
use crate::web::{read, slot, this_element, this_node, thrown, wrap_or_null};

/// The slot of a document or shadow root for its adopted style sheets.
pub(crate) const ADOPTED: &str = "adopted";

/// A sheet as a script object.
#[derive(Trace, Finalize, JsData)]
struct SheetObject {
    #[unsafe_ignore_trace]
    sheet: Rc<Sheet>,
    #[unsafe_ignore_trace]
    owner: Option<NodeId>,
    rules: Option<JsObject>,
}

/// A rule as a script object.
#[derive(Trace, Finalize, JsData)]
struct RuleObject {
    #[unsafe_ignore_trace]
    rule: Rc<Rule>,
    /// The list that contained it.
    list: JsObject,
    style: Option<JsObject>,
    rules: Option<JsObject>,
}

/// A list of rules with the objects that scripts have seen of it; its length is that of the sheet's or rule's own list.
#[derive(Trace, Finalize, JsData)]
struct RuleList {
    #[unsafe_ignore_trace]
    rules: Rules,
    /// By the rule's address in memory, which the object keeps alive.
    objects: HashMap<usize, JsObject>,
    sheet: JsObject,
    parent: Option<JsObject>,
}

static LIST: exotic::Kind = exotic::computed!(exotic::Computed {
    length: |list, _| {
        let count = list.downcast_ref::<RuleList>().map_or(0, |list| list.rules.borrow().len());
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    },
    indexed: true,
    has_names: false,
    item: |list, index, context| rule_at(list, index as usize, context),
    ..exotic::Computed::EMPTY
});

const RULE_LIST: bind::Interface = bind::Interface {
    name: "CSSRuleList",
    methods: &[("item", 1, |this, args, context| {
        let list = exotic::this::<RuleList>(this, context)?.upcast();
        bind::want(args, 1, "item' on 'CSSRuleList")?;
        let index = args[0].to_u32(context)?;
        let rule = rule_at(&list, index as usize, context)?;
        Ok(if rule.is_undefined() { JsValue::null() } else { rule })
    })],
    attributes: &[(
        "length",
        |this, _, context| {
            let list = exotic::this::<RuleList>(this, context)?;
            let count = list.borrow().data().rules.borrow().len();
            Ok(u32::try_from(count).unwrap_or(u32::MAX).into())
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

const SHEET: bind::Interface = bind::Interface {
    name: "CSSStyleSheet",
    parent: Some("StyleSheet"),
    constructor: Some(|new_target, args, context| {
        let options = args.get_or_undefined(0);
        let disabled = bind::flag(options, "disabled", context)?;
        let media = match bind::member(options, "media", context)? {
            Some(media) => media.to_string(context)?.to_std_string_lossy(),
            None => String::new(),
        };
        let sheet = Rc::new(Sheet::default());
        sheet.disabled.set(disabled || !media::matches(&media, crate::web::html::window::viewport(context)));
        bind::construct(new_target, "CSSStyleSheet", SheetObject { sheet, owner: None, rules: None }, context)
    }),
    methods: &[
        ("insertRule", 1, |this, args, context| {
            let sheet = this_sheet(this)?;
            insert(args, "insertRule' on 'CSSStyleSheet", |text, index| sheet.insert(text, index), context)
        }),
        ("addRule", 0, |this, args, context| {
            let sheet = this_sheet(this)?;
            let (selector, style) = (bind::text(args, 0, context)?, bind::text_if_given(args, 1, context)?);
            let text = format!("{selector} {{ {} }}", style.unwrap_or_default());
            let end = sheet.rules().borrow().len();
            let index = match args.get(2) {
                Some(index) if !index.is_undefined() => index.to_u32(context)? as usize,
                _ => end,
            };
            sheet.insert(&text, index).map_err(|error| thrown(error, context))?;
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
        ("cssRules", sheet_rules, None),
        ("rules", sheet_rules, None),
        ("ownerRule", |_, _, _| Ok(JsValue::null()), None),
        (
            "ownerNode",
            |this, _, context| {
                let owner = bind::this::<SheetObject>(this)?.borrow().data().owner;
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
            |this, _, _| Ok(this_sheet(this)?.disabled.get().into()),
            Some(|this, args, _| {
                this_sheet(this)?.disabled.set(args.get_or_undefined(0).to_boolean());
                Ok(JsValue::undefined())
            }),
        ),
    ],
    ..bind::Interface::EMPTY
};

/// The numbers of rule types (CSSOM §6.4), and the interfaces with their own members.
const KINDS: &[(&str, i32, &str)] = &[
    ("media", 4, "CSSMediaRule"),
    ("supports", 12, "CSSSupportsRule"),
    ("layer", 0, "CSSGroupingRule"),
    ("container", 0, "CSSConditionRule"),
    ("scope", 0, "CSSGroupingRule"),
    ("starting-style", 0, "CSSGroupingRule"),
    ("font-face", 5, "CSSFontFaceRule"),
    ("keyframes", 7, "CSSKeyframesRule"),
    ("-webkit-keyframes", 7, "CSSKeyframesRule"),
    ("import", 3, "CSSImportRule"),
    ("page", 6, "CSSRule"),
    ("namespace", 10, "CSSRule"),
];

fn kind_of(rule: &Rule) -> (i32, &'static str) {
    match &rule.kind {
        RuleKind::Style => (1, "CSSStyleRule"),
        RuleKind::Group { name, .. } | RuleKind::Other { name } => {
            let known = KINDS.iter().find(|(known, ..)| known == name);
            known.map_or((0, "CSSRule"), |(_, number, interface)| (*number, interface))
        }
    }
}

const RULE: bind::Interface = bind::Interface {
    name: "CSSRule",
    attributes: &[
        (
            "cssText",
            |this, _, _| Ok(bind::js(&this_rule(this)?.text())),
            // Setting it does nothing (CSSOM §6.4.1).
            Some(|_, _, _| Ok(JsValue::undefined())),
        ),
        ("type", |this, _, _| Ok(kind_of(&*this_rule(this)?).0.into()), None),
        (
            "parentRule",
            |this, _, _| {
                let list = bind::this::<RuleObject>(this)?.borrow().data().list.clone();
                let parent = list.downcast_ref::<RuleList>().and_then(|list| list.parent.clone());
                Ok(parent.map_or_else(JsValue::null, JsValue::from))
            },
            None,
        ),
        (
            "parentStyleSheet",
            |this, _, _| {
                let list = bind::this::<RuleObject>(this)?.borrow().data().list.clone();
                let sheet = list.downcast_ref::<RuleList>().map(|list| list.sheet.clone());
                Ok(sheet.map_or_else(JsValue::null, JsValue::from))
            },
            None,
        ),
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

const GROUP_METHODS: &[bind::Method] = &[
    ("insertRule", 1, |this, args, context| {
        let rule = this_rule(this)?;
        insert(args, "insertRule' on 'CSSGroupingRule", |text, index| rule.insert(text, index), context)
    }),
    ("deleteRule", 1, |this, args, context| {
        let rule = this_rule(this)?;
        bind::want(args, 1, "deleteRule' on 'CSSGroupingRule")?;
        let index = args[0].to_u32(context)? as usize;
        rule.delete(index).map_err(|error| thrown(error, context))?;
        Ok(JsValue::undefined())
    }),
];

const GROUP_RULES: bind::Attribute = ("cssRules", rules_of_rule, None);

/// The prelude between the name of a group and its block.
fn condition(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let rule = this_rule(this)?;
    Ok(bind::js(match &rule.kind {
        RuleKind::Group { condition, .. } => condition,
        _ => "",
    }))
}

const STYLE_RULE: bind::Interface = bind::Interface {
    name: "CSSStyleRule",
    parent: Some("CSSRule"),
    methods: GROUP_METHODS,
    attributes: &[
        GROUP_RULES,
        (
            "selectorText",
            |this, _, _| Ok(bind::js(&this_rule(this)?.selector_text())),
            Some(|this, args, context| {
                let rule = this_rule(this)?;
                let text = bind::text(args, 0, context)?;
                rule.set_selector_text(&text);
                Ok(JsValue::undefined())
            }),
        ),
        (
            "style",
            |this, _, context| {
                let object = bind::this::<RuleObject>(this)?;
                if let Some(known) = &object.borrow().data().style {
                    return Ok(known.clone().into());
                }
                let rule = Rc::clone(&object.borrow().data().rule);
                let style = style::of_rule(&rule, context)?;
                object.borrow_mut().data_mut().style = Some(style.clone());
                Ok(style.into())
            },
            // Assigning to it sets its text ([PutForwards=cssText]).
            Some(|this, args, context| {
                let rule = this_rule(this)?;
                let text = bind::text(args, 0, context)?;
                rule.set_declarations(crate::dom::style::declaration::parse(&text));
                Ok(JsValue::undefined())
            }),
        ),
    ],
    ..bind::Interface::EMPTY
};

const GROUPS: &[bind::Interface] = &[
    bind::Interface {
        name: "CSSGroupingRule",
        parent: Some("CSSRule"),
        methods: GROUP_METHODS,
        attributes: &[GROUP_RULES],
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "CSSConditionRule",
        parent: Some("CSSGroupingRule"),
        attributes: &[("conditionText", condition, None)],
        ..bind::Interface::EMPTY
    },
    bind::Interface {
        name: "CSSMediaRule",
        parent: Some("CSSConditionRule"),
        attributes: &[("media", condition, None)],
        ..bind::Interface::EMPTY
    },
    bind::Interface { name: "CSSSupportsRule", parent: Some("CSSConditionRule"), ..bind::Interface::EMPTY },
    bind::Interface { name: "CSSFontFaceRule", parent: Some("CSSRule"), ..bind::Interface::EMPTY },
    bind::Interface { name: "CSSKeyframesRule", parent: Some("CSSRule"), ..bind::Interface::EMPTY },
    bind::Interface { name: "CSSImportRule", parent: Some("CSSRule"), ..bind::Interface::EMPTY },
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&bind::Interface { name: "StyleSheet", ..bind::Interface::EMPTY }, context)?;
    for interface in [&SHEET, &RULE_LIST, &RULE, &STYLE_RULE].into_iter().chain(GROUPS) {
        bind::define(interface, context)?;
    }
    let owned: bind::Attribute = (
        "sheet",
        |this, _, context| {
            let id = this_element(this, context)?;
            if read(context, |tree| has_sheet(tree, id)) {
                of_element(id, context).map(JsValue::from)
            } else {
                Ok(JsValue::null())
            }
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
            let root = this_node(this, context)?;
            let owners: Vec<NodeId> = read(context, |tree| {
                tree.style_elements().into_iter().filter(|(of, _)| *of == root).map(|(_, id)| id).collect()
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
            styles::adopts(id, context);
            slot(id, ADOPTED, context, |context| JsArray::new(context).map(JsObject::from)).map(JsValue::from)
        },
        Some(|this, args, context| {
            let id = this_node(this, context)?;
            let list = args.get_or_undefined(0).as_object().ok_or_else(|| bind::type_error("not a sequence"))?;
            let given = bind::values(&list, limits::LISTENERS_MAX, context)?;
            if !given.iter().all(|one| bind::this::<SheetObject>(one).is_ok()) {
                return Err(bind::type_error("Failed to convert value to 'CSSStyleSheet'."));
            }
            if given
                .iter()
                .any(|one| bind::this::<SheetObject>(one).is_ok_and(|one| one.borrow().data().owner.is_some()))
            {
                return Err(exception::error("NotAllowedError", "Only constructed sheets can be adopted.", context));
            }
            styles::adopts(id, context);
            let held = slot(id, ADOPTED, context, |context| JsArray::new(context).map(JsObject::from))?;
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
    bind::attributes(&shadow, &[all, adopted], context)
}

/// Whether an element currently has a sheet (HTML §4.2.6, §4.6.8.20).
fn has_sheet(tree: &Tree, id: NodeId) -> bool {
    let link = |rel: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case("stylesheet"));
    tree.is_connected(id)
        && tree.element(id).is_some_and(|element| {
            element.is_html(&local_name!("style")) || element.attribute(&local_name!("rel")).is_some_and(link)
        })
}

/// The sheet of a `style` or `link`; that of a link is empty, since no sheet is fetched.
fn of_element(id: NodeId, context: &mut Context) -> JsResult<JsObject> {
    let sheet = styles::of_element(id, context);
    if let Some(known) = styles::object_of(id, context) {
        return Ok(known);
    }
    let object = bind::object("CSSStyleSheet", SheetObject { sheet, owner: Some(id), rules: None }, context)?;
    styles::keep_object(id, &object, context);
    Ok(object)
}

/// The sheet behind a script object.
pub(crate) fn sheet_of(value: &JsValue) -> Option<Rc<Sheet>> {
    bind::this::<SheetObject>(value).ok().map(|object| Rc::clone(&object.borrow().data().sheet))
}

fn this_sheet(this: &JsValue) -> JsResult<Rc<Sheet>> {
    sheet_of(this).ok_or_else(|| bind::type_error("Illegal invocation"))
}

fn this_rule(this: &JsValue) -> JsResult<Rc<Rule>> {
    Ok(Rc::clone(&bind::this::<RuleObject>(this)?.borrow().data().rule))
}

fn list_of(rules: &Rules, sheet: JsObject, parent: Option<JsObject>, context: &mut Context) -> JsResult<JsObject> {
    let list = RuleList { rules: Rc::clone(rules), objects: HashMap::new(), sheet, parent };
    exotic::object("CSSRuleList", list, &LIST, context)
}

fn sheet_rules(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let object = bind::this::<SheetObject>(this)?;
    if let Some(known) = &object.borrow().data().rules {
        return Ok(known.clone().into());
    }
    let sheet = Rc::clone(&object.borrow().data().sheet);
    let list = list_of(sheet.rules(), object.clone().upcast(), None, context)?;
    object.borrow_mut().data_mut().rules = Some(list.clone());
    Ok(list.into())
}

fn rules_of_rule(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let object = bind::this::<RuleObject>(this)?;
    if let Some(known) = &object.borrow().data().rules {
        return Ok(known.clone().into());
    }
    let (rule, around) = {
        let object = object.borrow();
        (Rc::clone(&object.data().rule), object.data().list.clone())
    };
    let sheet = around.downcast_ref::<RuleList>().map(|list| list.sheet.clone());
    let sheet = sheet.ok_or_else(|| bind::type_error("Illegal invocation"))?;
    let list = list_of(rule.rules(), sheet, Some(object.clone().upcast()), context)?;
    object.borrow_mut().data_mut().rules = Some(list.clone());
    Ok(list.into())
}

/// The rule at an index of a list; `undefined` beyond its end.
fn rule_at(list: &JsObject, index: usize, context: &mut Context) -> JsResult<JsValue> {
    let rule = list.downcast_ref::<RuleList>().and_then(|list| list.rules.borrow().get(index).cloned());
    let Some(rule) = rule else { return Ok(JsValue::undefined()) };
    let key = Rc::as_ptr(&rule) as usize;
    if let Some(known) = list.downcast_ref::<RuleList>().and_then(|list| list.objects.get(&key).cloned()) {
        return Ok(known.into());
    }
    let (_, interface) = kind_of(&rule);
    let object = bind::object(interface, RuleObject { rule, list: list.clone(), style: None, rules: None }, context)?;
    if let Some(mut list) = list.downcast_mut::<RuleList>() {
        // Objects of removed rules are dropped from time to time; a script's reference stays valid.
        if list.objects.len() > 2 * list.rules.borrow().len() + 16 {
            list.objects.clear();
        }
        list.objects.insert(key, object.clone());
    }
    Ok(object.into())
}

/// `insertRule(text, index)` into a sheet or a rule.
fn insert(
    args: &[JsValue],
    what: &str,
    insert: impl FnOnce(&str, usize) -> Result<(), Error>,
    context: &mut Context,
) -> JsResult<JsValue> {
    bind::want(args, 1, what)?;
    let text = bind::text(args, 0, context)?;
    let index = args.get_or_undefined(1).to_u32(context)?;
    insert(&text, index as usize).map_err(|error| thrown(error, context))?;
    Ok(index.into())
}

fn delete_rule(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let sheet = this_sheet(this)?;
    let index = args.get_or_undefined(0).to_u32(context)? as usize;
    sheet.delete(index).map_err(|error| thrown(error, context))?;
    Ok(JsValue::undefined())
}

fn replace(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<()> {
    let object = bind::this::<SheetObject>(this)?;
    let text = bind::text(args, 0, context)?;
    if object.borrow().data().owner.is_some() {
        return Err(exception::error("NotAllowedError", "Only constructed sheets can be replaced.", context));
    }
    let sheet = Rc::clone(&object.borrow().data().sheet);
    sheet.replace(&text);
    Ok(())
}
