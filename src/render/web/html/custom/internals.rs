//! `ElementInternals` and `attachInternals` (HTML §4.13.7): the shadow root, the states, and the form value.

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, NativeFunction, Trace, js_string};

use super::of;
use crate::dom::{CustomState, FormValue, NodeId};
use crate::engine::{bind, blob, exception};
use crate::limits;
use crate::web::dom::collection::{self, Filter};
use crate::web::html::reflect::Type;
use crate::web::html::{controls, table};
use crate::web::{read, this_element, wrap_or_null};

/// The object that a custom element's own code holds.
#[derive(Trace, Finalize, JsData)]
struct Internals {
    #[unsafe_ignore_trace]
    element: NodeId,
    /// The flags of `setValidity`, and its message.
    #[unsafe_ignore_trace]
    flaws: Vec<&'static str>,
    #[unsafe_ignore_trace]
    message: String,
    states: JsObject,
    aria: Vec<Aria>,
}

/// An ARIA attribute.
#[derive(Trace, Finalize)]
struct Aria {
    #[unsafe_ignore_trace]
    name: &'static str,
    value: JsValue,
}

/// `ValidityStateFlags`.
const FLAWS: &[&str] = &[
    "valueMissing",
    "typeMismatch",
    "patternMismatch",
    "tooLong",
    "tooShort",
    "rangeUnderflow",
    "rangeOverflow",
    "stepMismatch",
    "badInput",
    "customError",
];

const INTERNALS: bind::Interface = bind::Interface {
    name: "ElementInternals",
    methods: &[
        ("setFormValue", 1, |this, args, context| {
            let internals = of_form(this, context)?;
            bind::want(args, 1, "setFormValue' on 'ElementInternals")?;
            let value = form_value(&args[0], context)?;
            let id = internals.borrow().data().element;
            if let Some(state) = crate::web::of(context).borrow_mut().tree.state_mut(id) {
                state.form_value = value;
            }
            Ok(JsValue::undefined())
        }),
        ("setValidity", 0, set_validity),
        ("checkValidity", 0, |this, _, context| Ok(of_form(this, context)?.borrow().data().flaws.is_empty().into())),
        ("reportValidity", 0, |this, _, context| Ok(of_form(this, context)?.borrow().data().flaws.is_empty().into())),
    ],
    attributes: &[
        (
            "shadowRoot",
            |this, _, context| {
                let id = bind::this::<Internals>(this)?.borrow().data().element;
                let root = read(context, |tree| tree.element(id).and_then(|element| element.shadow_root()));
                wrap_or_null(root, context)
            },
            None,
        ),
        (
            "form",
            |this, _, context| {
                let id = of_form(this, context)?.borrow().data().element;
                let form = read(context, |tree| tree.form_owner(id));
                wrap_or_null(form, context)
            },
            None,
        ),
        (
            "labels",
            |this, _, context| {
                let id = of_form(this, context)?.borrow().data().element;
                let list = crate::web::slot(id, "labels", context, |context| {
                    collection::live("NodeList", id, Filter::Found(controls::labels), context)
                })?;
                Ok(list.into())
            },
            None,
        ),
        (
            "willValidate",
            |this, _, context| {
                let id = of_form(this, context)?.borrow().data().element;
                Ok(read(context, |tree| controls::is_candidate(tree, id)).into())
            },
            None,
        ),
        ("validationMessage", |this, _, context| Ok(bind::js(&of_form(this, context)?.borrow().data().message)), None),
        (
            "validity",
            |this, _, context| {
                let flaws = of_form(this, context)?.borrow().data().flaws.clone();
                let validity = JsObject::with_object_proto(context.intrinsics());
                for name in FLAWS {
                    validity.create_data_property_or_throw(js_string!(*name), flaws.contains(name), context)?;
                }
                validity.create_data_property_or_throw(js_string!("valid"), flaws.is_empty(), context)?;
                Ok(validity.into())
            },
            None,
        ),
        ("states", |this, _, _| Ok(bind::this::<Internals>(this)?.borrow().data().states.clone().into()), None),
    ],
    ..bind::Interface::EMPTY
};

/// `CustomStateSet`: a set of names.
#[derive(Default, Trace, Finalize, JsData)]
struct States {
    #[unsafe_ignore_trace]
    element: Option<NodeId>,
}

const STATES: bind::Interface = bind::Interface {
    name: "CustomStateSet",
    methods: &[
        ("add", 1, |this, args, context| {
            let name = bind::text(args, 0, context)?;
            change_states(this, context, |states| {
                if states.len() < limits::CUSTOM_ELEMENTS_MAX && !states.contains(&name) {
                    states.push(name);
                }
            })?;
            Ok(this.clone())
        }),
        ("delete", 1, |this, args, context| {
            let name = bind::text(args, 0, context)?;
            let had = change_states(this, context, |states| {
                let before = states.len();
                states.retain(|state| *state != name);
                states.len() != before
            })?;
            Ok(had.into())
        }),
        ("has", 1, |this, args, context| {
            let name = bind::text(args, 0, context)?;
            Ok(states(this, context)?.contains(&name).into())
        }),
        ("clear", 0, |this, _, context| change_states(this, context, Vec::clear).map(|()| JsValue::undefined())),
        ("forEach", 1, |this, args, context| {
            let callback = args.get_or_undefined(0).as_callable().ok_or_else(|| bind::type_error("no function"))?;
            for state in states(this, context)? {
                let state = bind::js(&state);
                callback.call(args.get_or_undefined(1), &[state.clone(), state, this.clone()], context)?;
            }
            Ok(JsValue::undefined())
        }),
        ("values", 0, iterate),
        ("keys", 0, iterate),
        ("@@iterator", 0, iterate),
        ("entries", 0, |this, _, context| {
            let mut pairs = Vec::new();
            for state in states(this, context)? {
                pairs.push(bind::array([bind::js(&state), bind::js(&state)], context));
            }
            iterator_of(pairs, context)
        }),
    ],
    attributes: &[(
        "size",
        |this, _, context| Ok(u32::try_from(states(this, context)?.len()).unwrap_or(u32::MAX).into()),
        None,
    )],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&INTERNALS, context)?;
    bind::define(&STATES, context)?;
    let html = bind::prototype("HTMLElement", context)?;
    bind::methods(&html, &[("attachInternals", 0, attach)], context)
}

/// ARIA properties of a custom element (WAI-ARIA §10.2), which are only stored. Defined when the first element gets internals.
fn complete(context: &mut Context) -> JsResult<()> {
    let prototype = bind::prototype("ElementInternals", context)?;
    if prototype.has_own_property(js_string!("role"), context)? {
        return Ok(());
    }
    for (name, _, kind) in table::ARIA {
        let is_text = matches!(kind, Type::TextOrNull);
        let get = NativeFunction::from_copy_closure(move |this, _, _| {
            let internals = bind::this::<Internals>(this)?;
            let internals = internals.borrow();
            let kept = internals.data().aria.iter().find(|kept| kept.name == *name);
            Ok(kept.map_or_else(JsValue::null, |kept| kept.value.clone()))
        });
        let set = NativeFunction::from_copy_closure(move |this, args, context| {
            let internals = bind::this::<Internals>(this)?;
            let given = args.get_or_undefined(0);
            let value = match given.is_null_or_undefined() {
                true => JsValue::null(),
                false if is_text => given.to_string(context)?.into(),
                false => given.clone(),
            };
            let mut internals = internals.borrow_mut();
            let aria = &mut internals.data_mut().aria;
            aria.retain(|kept| kept.name != *name);
            aria.push(Aria { name, value });
            Ok(JsValue::undefined())
        });
        let (get, set) = (get.to_js_function(context.realm()), set.to_js_function(context.realm()));
        let attribute = PropertyDescriptor::builder().get(get).set(set).enumerable(true).configurable(true);
        prototype.define_property_or_throw(js_string!(*name), attribute, context)?;
    }
    Ok(())
}

/// `attachInternals()` (HTML §4.13.7.1).
fn attach(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let definition = read(context, |tree| of(context).of_element(tree, id));
    let state =
        read(context, |tree| tree.element(id).map(|element| (element.state.custom, element.is_value().is_some())));
    let is_custom = matches!(state, Some((CustomState::Precustomized | CustomState::Custom, false)));
    let fault = match definition {
        Some(definition) if definition.no_internals => Some("is disabled by disabledFeatures"),
        Some(_) if !is_custom => Some("cannot be called before the element is constructed"),
        Some(_) if crate::web::slot_if_made(id, "internals", context).is_some() => Some("was called before"),
        Some(_) => None,
        None => Some("is for custom elements only"),
    };
    if let Some(fault) = fault {
        return Err(exception::error("NotSupportedError", &format!("attachInternals {fault}"), context));
    }
    complete(context)?;
    let made = crate::web::slot(id, "internals", context, |context| {
        let states = bind::object("CustomStateSet", States { element: Some(id) }, context)?;
        let internals = Internals { element: id, flaws: Vec::new(), message: String::new(), states, aria: Vec::new() };
        bind::object("ElementInternals", internals, context)
    })?;
    Ok(made.into())
}

/// The argument of `setFormValue`, as a form submits it.
fn form_value(given: &JsValue, context: &mut Context) -> JsResult<Option<Box<FormValue>>> {
    if given.is_null_or_undefined() {
        return Ok(None);
    }
    let fields = given.as_object().and_then(|object| blob::form_fields(&object));
    let value = match fields {
        Some(fields) => {
            let text = |value: &JsValue| match value.as_string() {
                Some(text) => text.to_std_string_lossy(),
                None => blob::file_name(value).unwrap_or_default(),
            };
            FormValue::Fields(fields.iter().map(|(name, value)| (text(name), text(value))).collect())
        }
        None => match blob::file_name(given) {
            Some(name) => FormValue::Text(name),
            None => FormValue::Text(given.to_string(context)?.to_std_string_lossy()),
        },
    };
    Ok(Some(Box::new(value)))
}

/// `this`, for a form-associated element.
fn of_form(this: &JsValue, context: &mut Context) -> JsResult<JsObject<Internals>> {
    let internals = bind::this::<Internals>(this)?;
    let id = internals.borrow().data().element;
    let definition = read(context, |tree| of(context).of_element(tree, id));
    if definition.is_some_and(|definition| definition.form_associated) {
        return Ok(internals);
    }
    Err(exception::error("NotSupportedError", "The target element is not a form-associated custom element.", context))
}

fn set_validity(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let internals = of_form(this, context)?;
    let mut flaws = Vec::new();
    for name in FLAWS {
        if bind::flag(args.get_or_undefined(0), name, context)? {
            flaws.push(*name);
        }
    }
    let message = bind::text_if_given(args, 1, context)?.unwrap_or_default();
    if !flaws.is_empty() && message.is_empty() {
        return Err(bind::type_error("The second argument should not be empty if one or more flags are true."));
    }
    let mut internals = internals.borrow_mut();
    let internals = internals.data_mut();
    if let Some(state) = crate::web::of(context).borrow_mut().tree.state_mut(internals.element) {
        state.complaint = (!flaws.is_empty()).then(|| message.as_str().into());
    }
    internals.message = if flaws.is_empty() { String::new() } else { message };
    internals.flaws = flaws;
    Ok(JsValue::undefined())
}

fn states(this: &JsValue, context: &mut Context) -> JsResult<Vec<String>> {
    let element = bind::this::<States>(this)?.borrow().data().element;
    let found = element.and_then(|id| read(context, |tree| Some(tree.element(id)?.state.states.clone())));
    Ok(found.unwrap_or_default())
}

fn change_states<T: Default>(
    this: &JsValue,
    context: &mut Context,
    what: impl FnOnce(&mut Vec<String>) -> T,
) -> JsResult<T> {
    let element = bind::this::<States>(this)?.borrow().data().element;
    let web = crate::web::of(context);
    let mut web = web.borrow_mut();
    Ok(element.and_then(|id| web.tree.state_mut(id)).map(|state| what(&mut state.states)).unwrap_or_default())
}

fn iterate(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let states = states(this, context)?;
    iterator_of(states.iter().map(|state| bind::js(state)).collect(), context)
}

fn iterator_of(values: Vec<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    let array = bind::array(values, context);
    let array = array.as_object().ok_or_else(|| bind::type_error("no array"))?;
    let method = array.get(boa_engine::JsSymbol::iterator(), context)?;
    let method = method.as_callable().ok_or_else(|| bind::type_error("arrays do not iterate"))?;
    method.call(&array.into(), &[], context)
}
