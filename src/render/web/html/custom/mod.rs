//! Custom elements (HTML §4.13): the registry of definitions.
//!
//! ```text
//! define → Definition → upgrade of what is there                (this file, `construct`)
//! the tree's log → reactions of elements that are custom → callbacks, before the native returns (`react`)
//! new X, createElement → construct → the object of the node      (`construct`)
//! ```
//!
//! There is one registry for the page's own document. Elements that the parser creates are upgraded when its piece of markup has been
//! parsed, so their constructors see attributes and children, as for elements defined later.

mod construct;
mod internals;
mod react;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};
use html5ever::{LocalName, ns};

pub(crate) use self::construct::{create_by_name, create_element, html_constructor, is_option};
pub(crate) use self::react::{upgrade_all, watch};
use crate::dom::{CustomState, NodeId, Tree, is_custom_element_name};
use crate::engine::{bind, exception, realm};
use crate::limits;
use crate::web::webidl::interfaces;
use crate::web::{node_of, own_document, read};

/// The arguments of `define` for a name.
pub(crate) struct Definition {
    pub(crate) name: LocalName,
    /// The built-in element that it extends, or the name itself.
    pub(crate) local: LocalName,
    pub(crate) constructor: JsObject,
    /// By the order of [`CALLBACKS`].
    callbacks: [Option<JsObject>; CALLBACKS.len()],
    observed: Vec<LocalName>,
    pub(crate) no_shadow: bool,
    pub(crate) no_internals: bool,
    pub(crate) form_associated: bool,
    /// Elements under construction, innermost last; `None` once the object was returned.
    under_construction: RefCell<Vec<Option<NodeId>>>,
}

/// Reactions that call a callback of the prototype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callback {
    Connected,
    Disconnected,
    /// A move that kept the element in its document.
    ConnectedMove,
    Adopted,
    AttributeChanged,
}

const CALLBACKS: [(&str, Callback); 5] = [
    ("connectedCallback", Callback::Connected),
    ("disconnectedCallback", Callback::Disconnected),
    ("connectedMoveCallback", Callback::ConnectedMove),
    ("adoptedCallback", Callback::Adopted),
    ("attributeChangedCallback", Callback::AttributeChanged),
];

impl Definition {
    fn callback(&self, which: Callback) -> Option<&JsObject> {
        self.callbacks[which as usize].as_ref()
    }

    fn is_autonomous(&self) -> bool {
        self.name == self.local
    }
}

/// A promise of `whenDefined` and its resolver.
struct Awaited {
    promise: JsPromise,
    resolve: JsFunction,
}

#[derive(Default)]
pub(crate) struct Registry {
    definitions: RefCell<Vec<Rc<Definition>>>,
    by_name: RefCell<HashMap<LocalName, Rc<Definition>>>,
    awaited: RefCell<HashMap<String, Awaited>>,
    is_defining: Cell<bool>,
}

type SharedRegistry = Rc<Registry>;

impl Registry {
    pub(crate) fn is_empty(&self) -> bool {
        self.definitions.borrow().is_empty()
    }

    /// The definition for an HTML element (HTML §4.13.3 "look up a custom element definition").
    pub(crate) fn of_name(&self, local: &LocalName, is: Option<&str>) -> Option<Rc<Definition>> {
        let by_name = self.by_name.borrow();
        let autonomous = by_name.get(local).filter(|definition| definition.is_autonomous());
        let extended = || by_name.get(&LocalName::from(is?)).filter(|definition| definition.local == *local);
        autonomous.or_else(extended).cloned()
    }

    fn of_constructor(&self, constructor: &JsObject) -> Option<Rc<Definition>> {
        let definitions = self.definitions.borrow();
        definitions.iter().find(|one| JsObject::equals(&one.constructor, constructor)).cloned()
    }

    /// The definition for an element's names, whether or not it was upgraded.
    pub(crate) fn of_element(&self, tree: &Tree, id: NodeId) -> Option<Rc<Definition>> {
        let element = tree.element(id).filter(|element| element.name().ns == ns!(html))?;
        if matches!(element.state.custom, CustomState::Uncustomized) {
            return None;
        }
        self.of_name(&element.name().local, element.is_value())
    }
}

/// Upgraded elements with their definitions, which they keep in other documents.
#[derive(Default)]
pub(crate) struct Customized(RefCell<HashMap<NodeId, Rc<Definition>>>);

/// The definition of an upgraded element; `None` if it is not (yet) a custom element.
pub(crate) fn definition_of(id: NodeId, context: &Context) -> Option<Rc<Definition>> {
    context.get_data::<Customized>()?.0.borrow().get(&id).cloned()
}

/// The registry of the current window.
pub(crate) fn of(context: &Context) -> SharedRegistry {
    realm::own(context).unwrap_or_default()
}

const REGISTRY: bind::Interface = bind::Interface {
    name: "CustomElementRegistry",
    methods: &[
        ("define", 2, define),
        ("get", 1, |_, args, context| {
            bind::want(args, 1, "get' on 'CustomElementRegistry")?;
            let name = LocalName::from(bind::text(args, 0, context)?);
            let found = of(context).by_name.borrow().get(&name).cloned();
            Ok(found.map_or_else(JsValue::undefined, |found| found.constructor.clone().into()))
        }),
        ("getName", 1, |_, args, context| {
            bind::want(args, 1, "getName' on 'CustomElementRegistry")?;
            let constructor = args[0].as_callable().ok_or_else(|| bind::type_error("parameter 1 is no function"))?;
            let found = of(context).of_constructor(&constructor);
            Ok(found.map_or_else(JsValue::null, |found| bind::js(&found.name)))
        }),
        ("whenDefined", 1, when_defined),
        ("upgrade", 1, |_, args, context| {
            bind::want(args, 1, "upgrade' on 'CustomElementRegistry")?;
            let root = node_of(&args[0], context)
                .ok_or_else(|| bind::type_error("Failed to execute 'upgrade': parameter 1 is not of type 'Node'."))?;
            let candidates = read(context, |tree| tree.composed_elements(root));
            upgrade_all(candidates, context);
            Ok(JsValue::undefined())
        }),
    ],
    ..bind::Interface::EMPTY
};

/// The page's registry as a script object.
#[derive(Default, boa_engine::Trace, boa_engine::Finalize, boa_engine::JsData)]
struct RegistryObject;

/// The window shows another document, which has no definitions yet.
pub(crate) fn begin(context: &Context) {
    realm::keep(Registry::default(), context);
}

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::keep(Registry::default(), context);
    realm::share(Customized::default, context);
    realm::share(Rc::<react::Waiting>::default, context);
    bind::define(&REGISTRY, context)?;
    internals::install(context)?;
    let registry = bind::object("CustomElementRegistry", RegistryObject, context)?;
    let property = boa_engine::property::PropertyDescriptor::builder()
        .value(registry)
        .writable(true)
        .enumerable(true)
        .configurable(true);
    context.global_object().define_property_or_throw(js_string!("customElements"), property, context).map(|_| ())
}

/// `define(name, constructor, options)` (HTML §4.13.4).
fn define(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::this::<RegistryObject>(this)?;
    bind::want(args, 2, "define' on 'CustomElementRegistry")?;
    let name = bind::text(args, 0, context)?;
    let constructor = args[1].as_constructor().ok_or_else(|| {
        bind::type_error(
            "Failed to execute 'define' on 'CustomElementRegistry': parameter 2 is not of type 'Function'.",
        )
    })?;
    let extends = match bind::member(args.get_or_undefined(2), "extends", context)? {
        Some(value) => Some(value.to_string(context)?.to_std_string_lossy()),
        None => None,
    };
    let registry = of(context);
    let mut refuse = |name: &str, why: String| Err(exception::error(name, &why, context));
    if !is_custom_element_name(&name) {
        return refuse("SyntaxError", format!("\"{name}\" is not a valid custom element name"));
    }
    let name = LocalName::from(name);
    if registry.by_name.borrow().contains_key(&name) {
        return refuse("NotSupportedError", format!("the name \"{name}\" has already been used with this registry"));
    }
    if registry.of_constructor(&constructor).is_some() {
        return refuse("NotSupportedError", "this constructor has already been used with this registry".to_owned());
    }
    let local = match extends {
        None => name.clone(),
        Some(extends) if is_custom_element_name(&extends) || interfaces::of_html(&extends) == "HTMLUnknownElement" => {
            return refuse("NotSupportedError", format!("\"{extends}\" cannot be extended"));
        }
        Some(extends) => LocalName::from(extends),
    };
    if registry.is_defining.get() || registry.definitions.borrow().len() >= limits::CUSTOM_ELEMENTS_MAX {
        return refuse("NotSupportedError", "no element can be defined now".to_owned());
    }
    registry.is_defining.set(true);
    let definition = examine(name, local, constructor, context);
    registry.is_defining.set(false);
    let definition = Rc::new(definition?);
    registry.definitions.borrow_mut().push(Rc::clone(&definition));
    registry.by_name.borrow_mut().insert(definition.name.clone(), Rc::clone(&definition));

    let document = own_document(context);
    let candidates = read(context, |tree| {
        let mut all = tree.composed_elements(document);
        all.retain(|id| registry.of_element(tree, *id).is_some_and(|found| Rc::ptr_eq(&found, &definition)));
        all
    });
    upgrade_all(candidates, context);
    let awaited = registry.awaited.borrow_mut().remove(&*definition.name);
    if let Some(awaited) = awaited {
        awaited.resolve.call(&JsValue::undefined(), &[definition.constructor.clone().into()], context)?;
    }
    Ok(JsValue::undefined())
}

/// Steps 14 to 16 of `define`: reads the constructor and its prototype.
fn examine(name: LocalName, local: LocalName, constructor: JsObject, context: &mut Context) -> JsResult<Definition> {
    let prototype = constructor.get(js_string!("prototype"), context)?;
    let prototype =
        prototype.as_object().ok_or_else(|| bind::type_error("the constructor's prototype is no object"))?;
    let mut callbacks = [const { None }; CALLBACKS.len()];
    for (place, (name, _)) in CALLBACKS.iter().enumerate() {
        callbacks[place] = callback(&prototype, name, context)?;
    }
    let mut names = |key: &str| -> JsResult<Vec<LocalName>> {
        let list = constructor.get(js_string!(key), context)?;
        if list.is_undefined() {
            return Ok(Vec::new());
        }
        let list = list.as_object().ok_or_else(|| bind::type_error(format!("{key} is no sequence")))?;
        let mut names = Vec::new();
        for value in bind::values(&list, limits::OBSERVED_NODES_MAX, context)? {
            names.push(LocalName::from(value.to_string(context)?.to_std_string_lossy()));
        }
        Ok(names)
    };
    let watches = callbacks[Callback::AttributeChanged as usize].is_some();
    let observed = if watches { names("observedAttributes")? } else { Vec::new() };
    let disabled = names("disabledFeatures")?;
    let form_associated = constructor.get(js_string!("formAssociated"), context)?.to_boolean();
    if form_associated {
        // They are read only so that a throwing getter is noticed; a reader never resets the page's forms.
        for name in ["formAssociatedCallback", "formResetCallback", "formDisabledCallback", "formStateRestoreCallback"]
        {
            callback(&prototype, name, context)?;
        }
    }
    Ok(Definition {
        name,
        local,
        constructor,
        callbacks,
        observed,
        no_shadow: disabled.iter().any(|name| &**name == "shadow"),
        no_internals: disabled.iter().any(|name| &**name == "internals"),
        form_associated,
        under_construction: RefCell::default(),
    })
}

fn callback(prototype: &JsObject, name: &str, context: &mut Context) -> JsResult<Option<JsObject>> {
    let value = prototype.get(js_string!(name), context)?;
    if value.is_undefined() {
        return Ok(None);
    }
    value.as_callable().map(Some).ok_or_else(|| bind::type_error(format!("{name} is not a function")))
}

fn when_defined(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "whenDefined' on 'CustomElementRegistry")?;
    let name = bind::text(args, 0, context)?;
    if !is_custom_element_name(&name) {
        let error = exception::error("SyntaxError", "this is not a valid custom element name", context);
        return Ok(JsPromise::reject(error, context)?.into());
    }
    let registry = of(context);
    let known = registry.by_name.borrow().get(&LocalName::from(&*name)).cloned();
    if let Some(known) = known {
        return Ok(JsPromise::resolve(known.constructor.clone(), context)?.into());
    }
    if let Some(awaited) = registry.awaited.borrow().get(&name) {
        return Ok(awaited.promise.clone().into());
    }
    let (promise, resolvers) = JsPromise::new_pending(context);
    if registry.awaited.borrow().len() < limits::CUSTOM_ELEMENTS_MAX {
        let awaited = Awaited { promise: promise.clone(), resolve: resolvers.resolve };
        registry.awaited.borrow_mut().insert(name, awaited);
    }
    Ok(promise.into())
}
