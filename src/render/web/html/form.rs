//! `form` (HTML §4.10.3): its controls by index and by name, and its methods.

use boa_engine::object::JsObject;
use boa_engine::{Context, JsArgs, JsResult, JsString, JsValue, js_string};

use super::controls::{self, is_listed};
use super::element::is_called;
use super::reflect::text;
use super::{select, submit, values};
use crate::dom::{NodeId, Tree};
use crate::engine::bind;
use crate::web::dom::collection::{self, Filter, List};
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{id_of, node_of, read, slot, this_element, wrap};

/// The controls of a form, where a name may belong to several.
static CONTROLS: Kind = computed!(Computed {
    length: collection::length,
    item: collection::item,
    named: named_control,
    names: |list, context| Ok(list_names(list, context)),
    ..Computed::EMPTY
});

/// The form itself: names of its controls take precedence over its members.
pub(super) static FORM: Kind = computed!(Computed {
    length: |target, context| Ok(u32::try_from(form_controls(target, context).len()).unwrap_or(u32::MAX)),
    item: |target, index, context| {
        let found = form_controls(target, context).get(index as usize).copied();
        found.map_or_else(|| Ok(JsValue::undefined()), |id| wrap(id, context).map(JsValue::from))
    },
    named,
    names: |target, context| Ok(id_of(target).map(|id| names(id, context)).unwrap_or_default()),
    overrides: true,
    ..Computed::EMPTY
});

static RADIO_LIST: Kind = computed!(Computed { length: collection::length, item: collection::item, ..Computed::EMPTY });

const METHODS: &[bind::Method] = &[
    ("submit", 0, |this, _, context| {
        let id = this_element(this, context)?;
        submit::submit(id, None, false, context);
        Ok(JsValue::undefined())
    }),
    ("requestSubmit", 0, |this, args, context| {
        let id = this_element(this, context)?;
        let submitter = match args.get_or_undefined(0) {
            given if given.is_null_or_undefined() => None,
            given => {
                let button =
                    node_of(given, context).filter(|one| read(context, |tree| submit::is_submitter(tree, *one)));
                let button = button.ok_or_else(|| bind::type_error("The specified element is not a submit button."))?;
                if read(context, |tree| tree.form_owner(button)) != Some(id) {
                    let message = "The specified element is not owned by this form element.";
                    return Err(crate::engine::exception::error("NotFoundError", message, context));
                }
                Some(button)
            }
        };
        submit::submit(id, submitter, true, context);
        Ok(JsValue::undefined())
    }),
    ("reset", 0, |this, _, context| {
        let id = this_element(this, context)?;
        submit::reset(id, context);
        Ok(JsValue::undefined())
    }),
    ("checkValidity", 0, check),
    ("reportValidity", 0, check),
];

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "elements",
        |this, _, context| {
            let id = this_element(this, context)?;
            elements(id, controls_of, context).map(JsValue::from)
        },
        None,
    ),
    (
        "length",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(u32::try_from(read(context, |tree| controls_of(tree, id).len())).unwrap_or(u32::MAX).into())
        },
        None,
    ),
];

const FIELDSET: &[bind::Attribute] = &[
    ("type", |_, _, _| Ok(bind::js("fieldset")), None),
    (
        "elements",
        |this, _, context| {
            let id = this_element(this, context)?;
            let below: fn(&Tree, NodeId) -> Vec<NodeId> =
                |tree, id| tree.descendants(id).filter(|one| is_listed(tree, *one)).collect();
            elements(id, below, context).map(JsValue::from)
        },
        None,
    ),
];

/// `RadioNodeList` (§2.6.2.3): the value of its checked button.
const RADIO_VALUE: bind::Attribute = (
    "value",
    |this, _, context| {
        let list = exotic::this::<List>(this, context)?.upcast();
        let value = collection::nodes(&list, context, |nodes| {
            read(context, |tree| {
                let checked = nodes.iter().find(|id| is_radio(tree, **id) && tree.is_checked(**id));
                checked.map(|id| values::of_input(tree, *id))
            })
        });
        Ok(bind::js(&value.unwrap_or_default()))
    },
    Some(|this, args, context| {
        let list = exotic::this::<List>(this, context)?.upcast();
        let wanted = bind::text(args, 0, context)?;
        let found = collection::nodes(&list, context, |nodes| {
            read(context, |tree| {
                nodes.iter().copied().find(|id| is_radio(tree, *id) && values::of_input(tree, *id) == wanted)
            })
        });
        if let Some(radio) = found {
            super::input::set_checked(radio, true, context);
        }
        Ok(JsValue::undefined())
    }),
);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let radio_list = bind::Interface {
        name: "RadioNodeList",
        parent: Some("NodeList"),
        attributes: &[RADIO_VALUE],
        ..bind::Interface::EMPTY
    };
    bind::define(&radio_list, context)?;
    let controls = bind::Interface {
        name: "HTMLFormControlsCollection",
        parent: Some("HTMLCollection"),
        methods: &[("namedItem", 1, |this, args, context| {
            let list = exotic::this::<List>(this, context)?.upcast();
            bind::want(args, 1, "namedItem' on 'HTMLFormControlsCollection")?;
            let name = args[0].to_string(context)?;
            Ok(named_control(&list, &name, context)?.unwrap_or_else(JsValue::null))
        })],
        ..bind::Interface::EMPTY
    };
    bind::define(&controls, context)?;
    let form = bind::prototype("HTMLFormElement", context)?;
    bind::methods(&form, METHODS, context)?;
    bind::attributes(&form, ATTRIBUTES, context)?;
    let values = context.intrinsics().constructors().array().prototype();
    let values = values.get(js_string!("values"), context)?;
    let iterator = boa_engine::property::PropertyDescriptor::builder()
        .value(values)
        .writable(true)
        .enumerable(false)
        .configurable(true);
    form.define_property_or_throw(boa_engine::JsSymbol::iterator(), iterator, context)?;
    let fieldset = bind::prototype("HTMLFieldSetElement", context)?;
    bind::attributes(&fieldset, FIELDSET, context)
}

/// The exotic kind of an element with computed properties: forms and select lists.
pub fn kind_of_element(interface: &str) -> Option<&'static Kind> {
    match interface {
        "HTMLFormElement" => Some(&FORM),
        "HTMLSelectElement" => Some(&select::SELECT),
        _ => None,
    }
}

fn check(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    Ok(is_valid(id, context).into())
}

/// "Statically validate the constraints": validates every control and fires `invalid`.
pub fn is_valid(form: NodeId, context: &mut Context) -> bool {
    let all = read(context, |tree| owned(tree, form));
    // Each invalid control gets its event.
    all.into_iter().filter(|control| !controls::check(*control, context)).count() == 0
}

fn is_radio(tree: &Tree, id: NodeId) -> bool {
    is_called(tree, id, &["input"]) && values::kind(tree, id) == "radio"
}

/// Listed elements that a form owns, in tree order.
pub fn owned(tree: &Tree, form: NodeId) -> Vec<NodeId> {
    let root = tree.root(form);
    tree.descendants(root).filter(|id| is_listed(tree, *id) && tree.form_owner(*id) == Some(form)).collect()
}

/// `form.elements`, which excludes image buttons.
fn controls_of(tree: &Tree, form: NodeId) -> Vec<NodeId> {
    let is_image = |id: &NodeId| is_called(tree, *id, &["input"]) && values::kind(tree, *id) == "image";
    owned(tree, form).into_iter().filter(|id| !is_image(id)).collect()
}

fn elements(id: NodeId, find: fn(&Tree, NodeId) -> Vec<NodeId>, context: &mut Context) -> JsResult<JsObject> {
    slot(id, "elements", context, |context| {
        collection::live_of_kind("HTMLFormControlsCollection", &CONTROLS, id, Filter::Found(find), context)
    })
}

fn form_controls(target: &JsObject, context: &mut Context) -> Vec<NodeId> {
    let Some(id) = id_of(target) else { return Vec::new() };
    match elements(id, controls_of, context) {
        Ok(list) => {
            let list = exotic::target_of(list, context);
            collection::nodes(&list, context, <[NodeId]>::to_vec)
        }
        Err(_) => Vec::new(),
    }
}

fn is_named(tree: &Tree, id: NodeId, name: &str) -> bool {
    tree.id(id) == Some(name) || text(tree, id, "name") == Some(name)
}

/// One control, or a list of all with this name.
fn one_or_list(
    found: &[NodeId],
    root: NodeId,
    find: fn(&Tree, NodeId, &str) -> Vec<NodeId>,
    name: String,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    match found {
        [] => Ok(None),
        [one] => wrap(*one, context).map(|one| Some(one.into())),
        _ => {
            let filter = Filter::FoundBy(find, name);
            collection::live_of_kind("RadioNodeList", &RADIO_LIST, root, filter, context).map(|list| Some(list.into()))
        }
    }
}

fn named_control(list: &JsObject, name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(root) = collection::root_of(list).filter(|_| !name.is_empty()) else { return Ok(None) };
    let name = name.to_std_string_lossy();
    let found: Vec<NodeId> = collection::nodes(list, context, |nodes| {
        read(context, |tree| nodes.iter().copied().filter(|id| is_named(tree, *id, &name)).collect())
    });
    let find: fn(&Tree, NodeId, &str) -> Vec<NodeId> = |tree, root, name| {
        let all = if is_called(tree, root, &["form"]) {
            controls_of(tree, root)
        } else {
            tree.descendants(root).filter(|one| is_listed(tree, *one)).collect()
        };
        all.into_iter().filter(|id| is_named(tree, *id, name)).collect()
    };
    one_or_list(&found, root, find, name, context)
}

/// "Named property" of a form (§4.10.3): a control or an image with this name.
fn named(target: &JsObject, name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(form) = id_of(target).filter(|_| !name.is_empty()) else { return Ok(None) };
    let name = name.to_std_string_lossy();
    let all = form_controls(target, context);
    let mut found: Vec<NodeId> =
        read(context, |tree| all.into_iter().filter(|id| is_named(tree, *id, &name)).collect());
    if found.is_empty() {
        found = read(context, |tree| {
            let images = tree.descendants(form).filter(|id| is_called(tree, *id, &["img"]));
            images.filter(|id| is_named(tree, *id, &name)).collect()
        });
    }
    let find: fn(&Tree, NodeId, &str) -> Vec<NodeId> =
        |tree, form, name| controls_of(tree, form).into_iter().filter(|id| is_named(tree, *id, name)).collect();
    one_or_list(&found, form, find, name, context)
}

fn list_names(list: &JsObject, context: &mut Context) -> Vec<JsString> {
    let nodes = collection::nodes(list, context, <[NodeId]>::to_vec);
    names_of(&nodes, context)
}

fn names(form: NodeId, context: &Context) -> Vec<JsString> {
    let nodes = read(context, |tree| controls_of(tree, form));
    names_of(&nodes, context)
}

fn names_of(nodes: &[NodeId], context: &Context) -> Vec<JsString> {
    read(context, |tree| {
        let both = nodes.iter().flat_map(|id| [tree.id(*id), text(tree, *id, "name").filter(|name| !name.is_empty())]);
        both.flatten().map(|name| js_string!(name)).collect()
    })
}

/// A form argument.
///
/// # Errors
/// A `TypeError` for anything else.
pub(super) fn argument(value: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    let form = node_of(value, context).filter(|id| read(context, |tree| is_called(tree, *id, &["form"])));
    form.ok_or_else(|| bind::type_error("parameter 1 is not of type 'HTMLFormElement'."))
}
