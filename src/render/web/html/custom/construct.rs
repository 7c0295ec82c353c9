//! Creation of custom elements: the constructor that all HTML interfaces share, `createElement`, upgrades (HTML §3.2.3, §4.13.5).

use std::rc::Rc;

use boa_engine::{Context, JsError, JsObject, JsResult, JsValue, js_string};
use html5ever::{LocalName, QualName, ns};

use super::react::{Reaction, first_reactions, run_all};
use super::{Customized, Definition, of};
use crate::dom::{CustomState, NodeId, is_element_name};
use crate::engine::{bind, exception, realm, report};
use crate::web::webidl::interfaces;
use crate::web::{change, node_of, of as web, own_document, read, wrap};

/// "HTML element constructors" (HTML §3.2.3): `interface` is the one whose constructor was called.
pub(crate) fn html_constructor(
    interface: &'static str,
    new_target: &JsValue,
    context: &mut Context,
) -> JsResult<JsValue> {
    let illegal = || bind::type_error("Illegal constructor");
    let target = new_target.as_object().ok_or_else(illegal)?;
    let definition = of(context).of_constructor(&target).ok_or_else(illegal)?;
    let fits = if definition.is_autonomous() {
        interface == "HTMLElement"
    } else {
        interfaces::of_html(&definition.local) == interface
    };
    if !fits {
        return Err(illegal());
    }
    let prototype = target.get(js_string!("prototype"), context)?.as_object();
    let prototype = prototype.map_or_else(|| bind::prototype_for(&target, interface, context), Ok)?;
    let last = definition.under_construction.borrow().last().copied();
    let id = match last {
        Some(Some(id)) => {
            if let Some(last) = definition.under_construction.borrow_mut().last_mut() {
                *last = None;
            }
            id
        }
        Some(None) => return Err(bind::type_error("This instance is already constructed")),
        None => {
            let document = own_document(context);
            let id = place(document, &definition, context)?;
            become_custom(id, &definition, context);
            id
        }
    };
    let object = wrap(id, context)?;
    crate::web::webidl::exotic::target_of(object.clone(), context).set_prototype(Some(prototype));
    Ok(object.into())
}

/// Creates an element with a definition's name, without calling its constructor.
fn place(document: NodeId, definition: &Definition, context: &mut Context) -> JsResult<NodeId> {
    let is = (!definition.is_autonomous()).then(|| Box::from(&*definition.name));
    let name = QualName::new(None, ns!(html), definition.local.clone());
    change(context, |tree| tree.create_customized(document, name, Vec::new(), is))
}

fn set_state(id: NodeId, state: CustomState, context: &Context) {
    if let Some(element) = web(context).borrow_mut().tree.state_mut(id) {
        element.custom = state;
    }
}

/// Marks the element as an instance of its definition.
fn become_custom(id: NodeId, definition: &Rc<Definition>, context: &Context) {
    if let Some(customized) = context.get_data::<Customized>() {
        customized.0.borrow_mut().insert(id, Rc::clone(definition));
    }
    if let Some(state) = web(context).borrow_mut().tree.state_mut(id) {
        (state.custom, state.form_associated) = (CustomState::Custom, definition.form_associated);
    }
}

/// The `is` option of `createElement`; a string as options is ignored.
///
/// # Errors
/// What a getter of the page throws.
pub(crate) fn is_option(options: &JsValue, context: &mut Context) -> JsResult<Option<String>> {
    if !options.is_object() {
        return Ok(None);
    }
    match bind::member(options, "is", context)? {
        Some(value) => Ok(Some(value.to_string(context)?.to_std_string_lossy())),
        None => Ok(None),
    }
}

/// [`create_element`] with a name from `createElement`.
///
/// # Errors
/// As [`create_element`].
pub(crate) fn create_by_name(
    document: NodeId,
    name: &str,
    is: Option<&str>,
    context: &mut Context,
) -> JsResult<Option<JsObject>> {
    if is.is_none() && !name.contains('-') {
        return Ok(None);
    }
    let is_html = read(context, |tree| tree.is_html_document(document));
    if !is_element_name(name) || !is_html {
        return Ok(None);
    }
    let name = QualName::new(None, ns!(html), LocalName::from(name.to_ascii_lowercase()));
    create_element(document, &name, is, context)
}

/// `createElement` and `createElementNS` for HTML elements (DOM §4.9 "create an element" with synchronous custom elements). `None`: no
/// custom element is involved, and the caller creates a plain one.
///
/// # Errors
/// When the document is full.
pub(crate) fn create_element(
    document: NodeId,
    name: &QualName,
    is: Option<&str>,
    context: &mut Context,
) -> JsResult<Option<JsObject>> {
    let registry = of(context);
    if is.is_none() && (registry.is_empty() || !name.local.contains('-')) {
        return Ok(None);
    }
    let is_ours = own_document(context) == document;
    let definition = if is_ours { registry.of_name(&name.local, is) } else { None };
    let Some(definition) = definition else {
        let Some(is) = is else { return Ok(None) };
        let name = name.clone();
        let id = change(context, |tree| tree.create_customized(document, name, Vec::new(), Some(is.into())))?;
        return wrap(id, context).map(Some);
    };
    if !definition.is_autonomous() {
        let id = place(document, &definition, context)?;
        if let Ok(more) = upgrade(id, &definition, context) {
            run_all(id, more, context);
        }
        return wrap(id, context).map(Some);
    }
    match construct(document, &definition, context) {
        Ok(object) => Ok(Some(object)),
        Err(error) => {
            tell(error, &definition, context);
            let id = place(document, &definition, context)?;
            set_state(id, CustomState::Failed, context);
            let object = wrap(id, context)?;
            object.set_prototype(Some(bind::prototype("HTMLUnknownElement", context)?));
            Ok(Some(object))
        }
    }
}

/// Reports an exception of a constructor to the window in which it was created.
fn tell(error: JsError, definition: &Definition, context: &mut Context) {
    let realm = realm::of_object(&definition.constructor, context);
    realm::within(&realm, context, |context| report::exception(error, context));
}

/// Calls the constructor and validates its result (DOM §4.9, "create an element" step 5.1).
fn construct(document: NodeId, definition: &Rc<Definition>, context: &mut Context) -> JsResult<JsObject> {
    let object = definition.constructor.construct(&[], None, context)?;
    let not_element = || bind::type_error("The result must implement HTMLElement interface");
    let id = node_of(&object.clone().into(), context).ok_or_else(not_element)?;
    let fault = read(context, |tree| {
        let Some(element) = tree.element(id).filter(|element| element.name().ns == ns!(html)) else {
            return Err(());
        };
        Ok([
            (!element.attributes().is_empty(), "The result must not have attributes"),
            (tree.first_child(id).is_some(), "The result must not have children"),
            (tree.parent(id).is_some(), "The result must not have a parent"),
            (tree.document_of(id) != document, "The result must be in the same document"),
            (element.name().local != definition.local, "The result must have the same localName"),
        ]
        .into_iter()
        .find(|(is_so, _)| *is_so))
    });
    match fault {
        Err(()) => Err(not_element()),
        Ok(Some((_, why))) => Err(exception::error("NotSupportedError", why, context)),
        Ok(None) => Ok(object),
    }
}

/// "Upgrade an element" (HTML §4.13.5): returns its next reactions; none if its constructor threw, which is reported.
pub(super) fn upgrade(id: NodeId, definition: &Rc<Definition>, context: &mut Context) -> Result<Vec<Reaction>, ()> {
    let may =
        read(context, |tree| tree.element(id).is_some_and(|element| element.state.custom == CustomState::Undefined));
    if !may {
        return Ok(Vec::new());
    }
    set_state(id, CustomState::Failed, context);
    let reactions = read(context, |tree| first_reactions(tree, id, definition));
    definition.under_construction.borrow_mut().push(Some(id));
    let result = construct_over(id, definition, context);
    definition.under_construction.borrow_mut().pop();
    match result {
        Ok(()) => {
            become_custom(id, definition, context);
            Ok(reactions)
        }
        Err(error) => {
            set_state(id, CustomState::Failed, context);
            tell(error, definition, context);
            Err(())
        }
    }
}

fn construct_over(id: NodeId, definition: &Rc<Definition>, context: &mut Context) -> JsResult<()> {
    let has_shadow = read(context, |tree| tree.element(id).is_some_and(|element| element.shadow_root().is_some()));
    if definition.no_shadow && has_shadow {
        return Err(exception::error("NotSupportedError", "The element has a shadow root", context));
    }
    set_state(id, CustomState::Precustomized, context);
    let made = definition.constructor.construct(&[], None, context)?;
    if node_of(&made.into(), context) == Some(id) {
        Ok(())
    } else {
        Err(bind::type_error("The custom element constructor did not produce the element being upgraded."))
    }
}
