//! `select` and its options, `optgroup` and `datalist` (HTML §4.10.7–4.10.10).

use boa_engine::object::JsObject;
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsArgs, JsResult, JsValue};
use html5ever::local_name;

use super::element::is_called;
use super::reflect::{has, text, unsigned};
use super::tables::list;
use crate::dom::{Error, NodeData, NodeId, Tree};
use crate::engine::bind;
use crate::limits;
use crate::web::dom::collection::{self, Filter, List};
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{change, node_of, of, own_document, read, slot, this_element, wrap, wrap_or_null};

/// The list of options: indexes below its length can be set.
static OPTIONS: Kind = computed!(Computed {
    length: collection::length,
    item: collection::item,
    named: collection::named,
    names: collection::names,
    set: Some(set_in_options),
    ..Computed::EMPTY
});

/// A `select` itself exposes its options by index.
pub(super) static SELECT: Kind = computed!(Computed {
    length: |target, context| Ok(owner(target).map_or(0, |id| count(id, context))),
    item: |target, index, context| {
        let found = owner(target).and_then(|id| read(context, |tree| options(tree, id).get(index as usize).copied()));
        found.map_or_else(|| Ok(JsValue::undefined()), |id| wrap(id, context).map(JsValue::from))
    },
    set: Some(|target, key, value, context| set_at(owner(target), key, &value, context)),
    ..Computed::EMPTY
});

const METHODS: &[bind::Method] = &[
    ("item", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "item' on 'HTMLSelectElement")?;
        let index = args[0].to_u32(context)?;
        let found = read(context, |tree| options(tree, id).get(index as usize).copied());
        wrap_or_null(found, context)
    }),
    ("namedItem", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "namedItem' on 'HTMLSelectElement")?;
        let name = bind::text(args, 0, context)?;
        let found = read(context, |tree| {
            let is_it = |one: &NodeId| tree.id(*one) == Some(&name) || text(tree, *one, "name") == Some(&name);
            options(tree, id).into_iter().find(|one| !name.is_empty() && is_it(one))
        });
        wrap_or_null(found, context)
    }),
    ("add", 1, |this, args, context| {
        let id = this_element(this, context)?;
        add(id, args, context)
    }),
    ("remove", 0, |this, args, context| {
        let id = this_element(this, context)?;
        if args.is_empty() {
            return change(context, |tree| {
                tree.remove(id);
                Ok(JsValue::undefined())
            });
        }
        remove(id, args, context)
    }),
];

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "type",
        |this, _, context| {
            let id = this_element(this, context)?;
            let multiple = read(context, |tree| has(tree, id, "multiple"));
            Ok(bind::js(if multiple { "select-multiple" } else { "select-one" }))
        },
        None,
    ),
    (
        "options",
        |this, _, context| {
            let id = this_element(this, context)?;
            let list = slot(id, "options", context, |context| {
                collection::live_of_kind("HTMLOptionsCollection", &OPTIONS, id, Filter::Found(options), context)
            })?;
            Ok(list.into())
        },
        None,
    ),
    list!("selectedOptions", chosen),
    (
        "length",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(count(id, context).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let wanted = args.get_or_undefined(0).to_u32(context)?;
            set_length(id, wanted, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "selectedIndex",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(selected_index(id, context).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let index = args.get_or_undefined(0).to_i32(context)?;
            let wanted =
                read(context, |tree| usize::try_from(index).ok().and_then(|at| options(tree, id).get(at).copied()));
            choose(id, wanted, context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "value",
        |this, _, context| {
            let id = this_element(this, context)?;
            let value = read(context, |tree| chosen(tree, id).first().map(|option| option_value(tree, *option)));
            Ok(bind::js(&value.unwrap_or_default()))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = bind::text(args, 0, context)?;
            let wanted =
                read(context, |tree| options(tree, id).into_iter().find(|option| option_value(tree, *option) == value));
            choose(id, wanted, context);
            Ok(JsValue::undefined())
        }),
    ),
];

const OPTIONS_INTERFACE: bind::Interface = bind::Interface {
    name: "HTMLOptionsCollection",
    parent: Some("HTMLCollection"),
    methods: &[
        ("add", 1, |this, args, context| match list_owner(this, context)? {
            Some(id) => add(id, args, context),
            None => Ok(JsValue::undefined()),
        }),
        ("remove", 1, |this, args, context| match list_owner(this, context)? {
            Some(id) => remove(id, args, context),
            None => Ok(JsValue::undefined()),
        }),
    ],
    attributes: &[
        (
            "length",
            |this, _, context| Ok(list_owner(this, context)?.map_or(0, |id| count(id, context)).into()),
            Some(|this, args, context| {
                let wanted = args.get_or_undefined(0).to_u32(context)?;
                if let Some(id) = list_owner(this, context)? {
                    set_length(id, wanted, context)?;
                }
                Ok(JsValue::undefined())
            }),
        ),
        (
            "selectedIndex",
            |this, _, context| Ok(list_owner(this, context)?.map_or(-1, |id| selected_index(id, context)).into()),
            Some(|this, args, context| {
                let index = args.get_or_undefined(0).to_i32(context)?;
                if let Some(id) = list_owner(this, context)? {
                    let wanted = usize::try_from(index).ok();
                    let wanted = read(context, |tree| wanted.and_then(|at| options(tree, id).get(at).copied()));
                    choose(id, wanted, context);
                }
                Ok(JsValue::undefined())
            }),
        ),
    ],
    ..bind::Interface::EMPTY
};

const OPTION: &[bind::Attribute] = &[
    (
        "value",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| option_value(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = bind::text(args, 0, context)?;
            super::reflect::set_text(id, "value", &value, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "label",
        |this, _, context| {
            let id = this_element(this, context)?;
            let label = read(context, |tree| match text(tree, id, "label").filter(|label| !label.is_empty()) {
                Some(label) => label.to_owned(),
                None => option_text(tree, id),
            });
            Ok(bind::js(&label))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let label = bind::text(args, 0, context)?;
            super::reflect::set_text(id, "label", &label, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "text",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| option_text(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = bind::text(args, 0, context)?;
            change(context, |tree| tree.set_text_content(id, &text)).map(|()| JsValue::undefined())
        }),
    ),
    (
        "selected",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| tree.is_checked(id)).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            set_selected(id, args.get_or_undefined(0).to_boolean(), context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "index",
        |this, _, context| {
            let id = this_element(this, context)?;
            let place = read(context, |tree| {
                let select = select_of(tree, id)?;
                options(tree, select).iter().position(|option| *option == id)
            });
            Ok(place.and_then(|place| i32::try_from(place).ok()).unwrap_or(0).into())
        },
        None,
    ),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&OPTIONS_INTERFACE, context)?;
    let select = bind::prototype("HTMLSelectElement", context)?;
    bind::methods(&select, METHODS, context)?;
    bind::attributes(&select, ATTRIBUTES, context)?;
    let values = context.intrinsics().constructors().array().prototype();
    let values = values.get(boa_engine::js_string!("values"), context)?;
    let iterator = boa_engine::property::PropertyDescriptor::builder()
        .value(values)
        .writable(true)
        .enumerable(false)
        .configurable(true);
    select.define_property_or_throw(boa_engine::JsSymbol::iterator(), iterator, context)?;
    let option = bind::prototype("HTMLOptionElement", context)?;
    bind::attributes(&option, OPTION, context)?;
    let datalist = bind::prototype("HTMLDataListElement", context)?;
    let listed: bind::Attribute = list!("options", |tree, id| {
        tree.descendants(id).filter(|one| is_called(tree, *one, &["option"])).collect()
    });
    bind::attributes(&datalist, &[listed], context)
}

fn owner(target: &JsObject) -> Option<NodeId> {
    crate::web::id_of(target)
}

fn list_owner(this: &JsValue, context: &mut Context) -> JsResult<Option<NodeId>> {
    Ok(collection::root_of(&exotic::this::<List>(this, context)?.upcast()))
}

/// "List of options" (§4.10.7).
pub fn options(tree: &Tree, select: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    for child in tree.child_elements(select) {
        if is_called(tree, child, &["option"]) {
            found.push(child);
        } else if is_called(tree, child, &["optgroup"]) {
            found.extend(tree.child_elements(child).filter(|one| is_called(tree, *one, &["option"])));
        }
    }
    found
}

fn count(id: NodeId, context: &Context) -> u32 {
    u32::try_from(read(context, |tree| options(tree, id).len())).unwrap_or(u32::MAX)
}

fn select_of(tree: &Tree, option: NodeId) -> Option<NodeId> {
    let parent = tree.parent(option)?;
    let above = if is_called(tree, parent, &["optgroup"]) { tree.parent(parent)? } else { parent };
    is_called(tree, above, &["select"]).then_some(above)
}

/// The selected options in order, in one pass.
pub fn chosen(tree: &Tree, select: NodeId) -> Vec<NodeId> {
    let all = options(tree, select);
    let own = |option: &NodeId| {
        tree.element(*option)
            .and_then(|element| element.state.checked)
            .unwrap_or_else(|| has(tree, *option, "selected"))
    };
    if has(tree, select, "multiple") {
        return all.into_iter().filter(own).collect();
    }
    let shows_none = tree.element(select).is_some_and(|element| element.state.checked == Some(false));
    let shown = || {
        let is_menu = !shows_none && unsigned(tree, select, "size").unwrap_or(1) <= 1;
        shown_option(tree, select, &all).filter(|_| is_menu)
    };
    all.iter().rev().find(|option| own(option)).copied().or_else(shown).into_iter().collect()
}

/// The option that a drop-down list shows if none is selected: the one that it showed before, or else the first that is not disabled.
fn shown_option(tree: &Tree, select: NodeId, all: &[NodeId]) -> Option<NodeId> {
    let before = tree.element(select).and_then(|element| element.state.shown_option);
    let is_free = |option: &NodeId| !tree.is_disabled(*option);
    before.filter(|option| all.contains(option)).or_else(|| all.iter().copied().find(is_free))
}

/// Whether no real option is chosen ("placeholder label option").
pub fn is_unchosen(tree: &Tree, select: NodeId) -> bool {
    let chosen = chosen(tree, select);
    let is_placeholder = |option: NodeId| {
        !has(tree, select, "multiple")
            && unsigned(tree, select, "size").unwrap_or(1) <= 1
            && options(tree, select).first() == Some(&option)
            && tree.parent(option) == Some(select)
            && option_value(tree, option).is_empty()
    };
    chosen.is_empty() || chosen.iter().all(|option| is_placeholder(*option))
}

fn selected_index(id: NodeId, context: &Context) -> i32 {
    let place = read(context, |tree| {
        let first = chosen(tree, id).first().copied()?;
        options(tree, id).iter().position(|option| *option == first)
    });
    place.and_then(|place| i32::try_from(place).ok()).unwrap_or(-1)
}

/// Selects only one option; with `None` none is selected and none is shown.
fn choose(select: NodeId, wanted: Option<NodeId>, context: &Context) {
    let all = read(context, |tree| options(tree, select));
    let web = of(context);
    let tree = &mut web.borrow_mut().tree;
    for option in all {
        if let Some(state) = tree.state_mut(option) {
            state.checked = Some(Some(option) == wanted);
        }
    }
    if let Some(state) = tree.state_mut(select) {
        (state.checked, state.shown_option) = (wanted.is_none().then_some(false), None);
    }
}

/// `option.selected = on`.
pub fn set_selected(option: NodeId, on: bool, context: &Context) {
    let select = read(context, |tree| select_of(tree, option));
    let single = select.filter(|select| read(context, |tree| !has(tree, *select, "multiple")));
    match single {
        Some(select) if on => choose(select, Some(option), context),
        _ => {
            let was_shown = single.is_some_and(|select| read(context, |tree| shows(tree, select, option)));
            let web = of(context);
            let tree = &mut web.borrow_mut().tree;
            if let Some(state) = tree.state_mut(option) {
                state.checked = Some(on);
            }
            if let Some(state) = single.and_then(|select| tree.state_mut(select)) {
                // A list that has lost its selection shows its first option again.
                state.checked = None;
                state.shown_option = state.shown_option.filter(|_| !was_shown);
            }
        }
    }
}

/// Whether an option of a list for one choice is the one that is selected, or shown because none is; not asked of the other options.
fn shows(tree: &Tree, select: NodeId, option: NodeId) -> bool {
    let state = |id: NodeId| tree.element(id).map(|element| &element.state);
    state(option).and_then(|state| state.checked).unwrap_or_else(|| has(tree, option, "selected"))
        || state(select).is_some_and(|state| state.shown_option == Some(option))
}

/// Options were added or removed: a list that a script had set to show none shows one again, and a drop-down list without a selection
/// keeps showing the option that it shows (§4.10.7 "selectedness setting algorithm").
pub(super) fn children_changed(parent: NodeId, were_removed: bool, context: &Context) {
    let changed = read(context, |tree| {
        let select = if is_called(tree, parent, &["optgroup"]) { tree.parent(parent)? } else { parent };
        let state = &tree.element(select).filter(|element| element.is_html(&local_name!("select")))?.state;
        let is_there = |option: NodeId| select_of(tree, option) == Some(select);
        let is_own = |option: &NodeId| {
            tree.element(*option).is_some_and(|option| {
                option.state.checked.unwrap_or_else(|| option.attribute(&local_name!("selected")).is_some())
            })
        };
        let is_settled = state.shown_option.is_some_and(is_there)
            || state.own_option.is_some_and(|option| is_there(option) && is_own(&option));
        // So that options added one by one are not all looked at each time.
        if is_settled && !were_removed && state.checked != Some(false) {
            return None;
        }
        let all = options(tree, select);
        let own = all.iter().copied().find(is_own);
        let shown = if own.is_some() { None } else { shown_option(tree, select, &all) };
        Some((select, own, shown))
    });
    let Some((select, own, shown)) = changed else { return };
    if let Some(state) = of(context).borrow_mut().tree.state_mut(select) {
        (state.own_option, state.shown_option) = (own, shown);
        if state.checked == Some(false) {
            state.checked = None;
        }
    }
}

/// The text of an option without that of scripts, with collapsed spaces.
fn option_text(tree: &Tree, option: NodeId) -> String {
    let mut whole = String::new();
    for id in tree.descendants(option) {
        if let NodeData::Text(text) = tree.data(id) {
            let mut around = tree.ancestors(id).take_while(|above| *above != option);
            if !around.any(|above| tree.element(above).is_some_and(|element| &*element.name().local == "script")) {
                whole.push_str(text);
            }
        }
    }
    whole.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of an option: its attribute, or its text.
pub fn option_value(tree: &Tree, option: NodeId) -> String {
    text(tree, option, "value").map_or_else(|| option_text(tree, option), str::to_owned)
}

fn add(select: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "add' on 'HTMLSelectElement")?;
    let new =
        node_of(&args[0], context).filter(|id| read(context, |tree| is_called(tree, *id, &["option", "optgroup"])));
    let new = new.ok_or_else(|| {
        bind::type_error("The provided value is not of type '(HTMLOptGroupElement or HTMLOptionElement)'.")
    })?;
    let before = match args.get_or_undefined(1) {
        given if given.is_null_or_undefined() => None,
        given => match node_of(given, context) {
            Some(node) => Some(node),
            None => {
                let index = given.to_i32(context)?;
                let at = usize::try_from(index).ok();
                read(context, |tree| at.and_then(|at| options(tree, select).get(at).copied()))
            }
        },
    };
    change(context, |tree| {
        if before.is_some_and(|before| !tree.contains(select, before)) {
            return Err(Error::NotFound);
        }
        if before == Some(new) {
            return Ok(JsValue::undefined());
        }
        let parent = before.and_then(|before| tree.parent(before)).unwrap_or(select);
        tree.insert_before(parent, new, before)?;
        Ok(JsValue::undefined())
    })
}

fn remove(select: NodeId, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let index = args.get_or_undefined(0).to_i32(context)?;
    change(context, |tree| {
        let found = usize::try_from(index).ok().and_then(|at| options(tree, select).get(at).copied());
        if let Some(option) = found {
            tree.remove(option);
        }
        Ok(JsValue::undefined())
    })
}

fn new_option(tree: &mut Tree, near: NodeId) -> Result<NodeId, Error> {
    let document = tree.document_of(near);
    let name = html5ever::QualName::new(None, html5ever::ns!(html), local_name!("option"));
    tree.create_element(document, name, Vec::new())
}

fn set_length(select: NodeId, wanted: u32, context: &mut Context) -> JsResult<()> {
    let wanted = wanted as usize;
    change(context, |tree| {
        let all = options(tree, select);
        for option in all.iter().skip(wanted) {
            tree.remove(*option);
        }
        // As in browsers, an excessive length is ignored.
        if wanted > all.len() && wanted <= limits::PAIRS_MAX {
            for _ in all.len()..wanted {
                let option = new_option(tree, select)?;
                tree.append(select, option)?;
            }
        }
        Ok(())
    })
}

fn set_in_options(target: &JsObject, key: &PropertyKey, value: JsValue, context: &mut Context) -> JsResult<bool> {
    set_at(collection::root_of(target), key, &value, context)
}

/// `select[n] = option`: replaces an option, or extends the list as needed; `null` removes.
fn set_at(select: Option<NodeId>, key: &PropertyKey, value: &JsValue, context: &mut Context) -> JsResult<bool> {
    let (Some(select), PropertyKey::Index(index)) = (select, key) else { return Ok(false) };
    let index = index.get() as usize;
    if value.is_null_or_undefined() {
        change(context, |tree| {
            if let Some(option) = options(tree, select).get(index).copied() {
                tree.remove(option);
            }
            Ok(())
        })?;
        return Ok(true);
    }
    let new = node_of(value, context).filter(|id| read(context, |tree| is_called(tree, *id, &["option"])));
    let new = new.ok_or_else(|| bind::type_error("The provided value is not of type 'HTMLOptionElement'."))?;
    if index > limits::PAIRS_MAX {
        return Ok(true);
    }
    let length = u32::try_from(index).unwrap_or(u32::MAX);
    if count(select, context) < length {
        set_length(select, length, context)?;
    }
    change(context, |tree| match options(tree, select).get(index).copied() {
        Some(old) => {
            let parent = tree.parent(old).unwrap_or(select);
            tree.replace(parent, new, old).map(drop)
        }
        None => tree.append(select, new).map(drop),
    })?;
    Ok(true)
}

/// `new Option(text, value, defaultSelected, selected)`.
pub(super) fn construct(args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = bind::text_if_given(args, 0, context)?.unwrap_or_default();
    let value = bind::text_if_given(args, 1, context)?;
    let (by_default, selected) = (args.get_or_undefined(2).to_boolean(), args.get_or_undefined(3).to_boolean());
    let document = own_document(context);
    let option = change(context, |tree| {
        let option = new_option(tree, document)?;
        if !label.is_empty() {
            tree.set_text_content(option, &label)?;
        }
        if let Some(value) = &value {
            tree.set_attribute(option, "value", value)?;
        }
        if by_default {
            tree.set_attribute(option, "selected", "")?;
        }
        if let Some(state) = tree.state_mut(option) {
            state.checked = Some(selected);
        }
        Ok(option)
    })?;
    wrap(option, context).map(JsValue::from)
}
