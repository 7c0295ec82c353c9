//! Binds native interfaces to the engine: one table for each interface, as in WebIDL, and the common conversions.
//!
//! Members are enumerable, configurable properties of real prototypes (WebIDL §3.7), so that pages can detect, wrap and inherit them.
//! Nothing here runs a script of its own: without a prelude, pages start fast.

use std::cell::RefCell;
use std::collections::HashMap;

use boa_engine::native_function::NativeFunctionPointer;
use boa_engine::object::builtins::{JsArray, JsArrayBuffer, JsDataView, JsTypedArray};
use boa_engine::object::{FunctionObjectBuilder, NativeObject};
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::realm::Realm;
use boa_engine::{
    Context, JsArgs, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction, js_string,
};

use super::realm;

/// A method: its name, its number of arguments, its function.
pub type Method = (&'static str, usize, NativeFunctionPointer);

/// An attribute: its name, its getter and, unless it is read-only, its setter.
pub type Attribute = (&'static str, NativeFunctionPointer, Option<NativeFunctionPointer>);

/// A WebIDL interface.
#[derive(Clone, Copy)]
pub struct Interface {
    pub name: &'static str,
    /// The parent interface, which must be defined before.
    pub parent: Option<&'static str>,
    /// The constructor: `this` is the new target. Without one, `new` throws.
    pub constructor: Option<NativeFunctionPointer>,
    /// Number of arguments of the constructor.
    pub length: usize,
    pub methods: &'static [Method],
    pub attributes: &'static [Attribute],
    pub statics: &'static [Method],
    /// Constants, on the constructor and on the prototype.
    pub constants: &'static [(&'static str, u32)],
}

impl Interface {
    /// An interface without members, as a base for others.
    pub const EMPTY: Self = Self {
        name: "",
        parent: None,
        constructor: None,
        length: 0,
        methods: &[],
        attributes: &[],
        statics: &[],
        constants: &[],
    };
}

/// Prototypes and constructors of a window by interface name.
#[derive(Default)]
struct Interfaces(RefCell<HashMap<&'static str, (JsObject, JsObject)>>);

/// Creates the interface's constructor and prototype, and defines it on the global object.
///
/// # Errors
/// If a page has frozen the global object, which is impossible at its start.
pub fn define(interface: &Interface, context: &mut Context) -> JsResult<JsObject> {
    let body = interface.constructor.unwrap_or(illegal_constructor);
    define_with(interface, NativeFunction::from_fn_ptr(body), context)
}

/// [`define`] with a constructor that captures values.
///
/// # Errors
/// As [`define`].
pub fn define_with(interface: &Interface, body: NativeFunction, context: &mut Context) -> JsResult<JsObject> {
    let parent = interface.parent.map(|name| pair(name, context)).transpose()?;
    let (parent_prototype, parent_constructor) = match parent {
        Some((prototype, constructor)) => (prototype, Some(constructor)),
        None => (context.intrinsics().constructors().object().prototype(), None),
    };
    let prototype = JsObject::from_proto_and_data(parent_prototype, ());
    let constructor: JsObject = FunctionObjectBuilder::new(context.realm(), body)
        .name(js_string!(interface.name))
        .length(interface.length)
        .constructor(true)
        .build()
        .into();
    if let Some(parent) = parent_constructor {
        constructor.set_prototype(Some(parent));
    }
    hidden(&constructor, js_string!("prototype"), prototype.clone().into(), false, context)?;
    hidden(&prototype, js_string!("constructor"), constructor.clone().into(), true, context)?;
    let tag = PropertyDescriptor::builder()
        .value(js_string!(interface.name))
        .writable(false)
        .enumerable(false)
        .configurable(true);
    prototype.define_property_or_throw(JsSymbol::to_string_tag(), tag, context)?;
    methods(&prototype, interface.methods, context)?;
    attributes(&prototype, interface.attributes, context)?;
    methods(&constructor, interface.statics, context)?;
    define_constants([&constructor, &prototype], interface.constants, context)?;
    let global = context.global_object();
    hidden(&global, js_string!(interface.name), constructor.clone().into(), true, context)?;
    if realm::own::<Interfaces>(context).is_none() {
        realm::keep(Interfaces::default(), context);
    }
    if let Some(table) = realm::own::<Interfaces>(context) {
        table.0.borrow_mut().insert(interface.name, (prototype.clone(), constructor));
    }
    Ok(prototype)
}

/// Adds constants to an interface defined in another file.
///
/// # Errors
/// When the interface was not defined.
pub fn constants(interface: &str, constants: &[(&'static str, u32)], context: &mut Context) -> JsResult<()> {
    let (prototype, constructor) = pair(interface, context)?;
    define_constants([&constructor, &prototype], constants, context)
}

fn define_constants(holders: [&JsObject; 2], constants: &[(&'static str, u32)], context: &mut Context) -> JsResult<()> {
    for (name, value) in constants {
        for holder in holders {
            let constant =
                PropertyDescriptor::builder().value(*value).writable(false).enumerable(true).configurable(false);
            holder.define_property_or_throw(js_string!(*name), constant, context)?;
        }
    }
    Ok(())
}

/// Adds methods to an object.
///
/// # Errors
/// When the object takes no new properties.
pub fn methods(object: &JsObject, methods: &[Method], context: &mut Context) -> JsResult<()> {
    for (name, length, body) in methods {
        let function = function(name, *length, *body, context);
        let property = PropertyDescriptor::builder().value(function).writable(true).enumerable(true).configurable(true);
        object.define_property_or_throw(key(name), property, context)?;
    }
    Ok(())
}

/// Adds attributes to an object.
///
/// # Errors
/// When the object takes no new properties.
pub fn attributes(object: &JsObject, attributes: &[Attribute], context: &mut Context) -> JsResult<()> {
    for (name, get, set) in attributes {
        let get = function(&format!("get {name}"), 0, *get, context);
        let mut property = PropertyDescriptor::builder().get(get).enumerable(true).configurable(true);
        if let Some(set) = set {
            property = property.set(function(&format!("set {name}"), 1, *set, context));
        }
        object.define_property_or_throw(js_string!(*name), property, context)?;
    }
    Ok(())
}

/// Adds an attribute whose functions capture values.
///
/// # Errors
/// When the object takes no new properties.
pub fn accessor(
    object: &JsObject,
    name: &str,
    get: NativeFunction,
    set: Option<NativeFunction>,
    context: &mut Context,
) -> JsResult<()> {
    let build = |prefix: &str, length: usize, body: NativeFunction| -> JsObject {
        let name = js_string!(format!("{prefix} {name}"));
        FunctionObjectBuilder::new(context.realm(), body).name(name).length(length).build().into()
    };
    let mut property = PropertyDescriptor::builder().get(build("get", 0, get)).enumerable(true).configurable(true);
    if let Some(set) = set {
        property = property.set(build("set", 1, set));
    }
    object.define_property_or_throw(js_string!(name), property, context).map(|_| ())
}

/// `@@iterator` in a table means the symbol.
fn key(name: &str) -> PropertyKey {
    match name {
        "@@iterator" => JsSymbol::iterator().into(),
        name => js_string!(name).into(),
    }
}

/// A native function as an object.
pub fn function(name: &str, length: usize, body: NativeFunctionPointer, context: &Context) -> JsObject {
    FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(body))
        .name(js_string!(name))
        .length(length)
        .build()
        .into()
}

/// Defines a non-enumerable property.
pub(crate) fn hidden(
    object: &JsObject,
    key: impl Into<PropertyKey>,
    value: JsValue,
    changeable: bool,
    context: &mut Context,
) -> JsResult<()> {
    let property =
        PropertyDescriptor::builder().value(value).writable(changeable).enumerable(false).configurable(changeable);
    object.define_property_or_throw(key, property, context).map(|_| ())
}

fn illegal_constructor(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Err(type_error("Illegal constructor"))
}

fn pair(name: &str, context: &Context) -> JsResult<(JsObject, JsObject)> {
    pair_in(context.realm(), name)
}

fn pair_in(realm: &Realm, name: &str) -> JsResult<(JsObject, JsObject)> {
    let found = realm::of::<Interfaces>(realm).and_then(|table| table.0.borrow().get(name).cloned());
    found.ok_or_else(|| type_error(format!("the interface {name} is not defined")))
}

/// The prototype of an interface.
///
/// # Errors
/// When the interface was not defined.
pub fn prototype(name: &str, context: &Context) -> JsResult<JsObject> {
    pair(name, context).map(|(prototype, _)| prototype)
}

/// The prototype of an interface in the window of a constructor that has none of its own (WebIDL §3.7.1).
///
/// # Errors
/// When the interface was not defined, or a trap of the constructor throws.
pub fn prototype_for(constructor: &JsObject, name: &str, context: &mut Context) -> JsResult<JsObject> {
    pair_in(&realm::of_constructor(constructor, context)?, name).map(|(prototype, _)| prototype)
}

/// The constructor of an interface.
///
/// # Errors
/// When the interface was not defined.
pub fn constructor(name: &str, context: &Context) -> JsResult<JsObject> {
    pair(name, context).map(|(_, constructor)| constructor)
}

/// An object of an interface, created without `new`.
///
/// # Errors
/// When the interface was not defined.
pub fn object<T: NativeObject>(name: &str, data: T, context: &Context) -> JsResult<JsObject> {
    Ok(JsObject::from_proto_and_data(prototype(name, context)?, data))
}

/// The result of `new`: an object with the prototype of the new target, so that scripts can subclass it.
///
/// # Errors
/// When the constructor was called without `new`, or the new target throws.
pub fn construct<T: NativeObject>(
    new_target: &JsValue,
    name: &str,
    data: T,
    context: &mut Context,
) -> JsResult<JsValue> {
    let Some(target) = new_target.as_object() else {
        return Err(type_error(format!(
            "Failed to construct '{name}': Please use the 'new' operator, this DOM object constructor cannot be called as a function."
        )));
    };
    let given = target.get(js_string!("prototype"), context)?.as_object();
    let prototype = given.map_or_else(|| prototype_for(&target, name, context), Ok)?;
    Ok(JsObject::from_proto_and_data(prototype, data).into())
}

/// `this` as an object of a native kind.
///
/// # Errors
/// When it is of another kind (WebIDL §3.7.6 "does not implement").
pub fn this<T: NativeObject>(this: &JsValue) -> JsResult<JsObject<T>> {
    this.as_object().and_then(|object| object.downcast::<T>().ok()).ok_or_else(|| type_error("Illegal invocation"))
}

pub fn type_error(message: impl Into<std::borrow::Cow<'static, str>>) -> boa_engine::JsError {
    JsNativeError::typ().with_message(message).into()
}

/// Rejects a call with fewer arguments than `count` (WebIDL §3.6 step 4).
///
/// # Errors
/// When there are too few.
pub fn want(args: &[JsValue], count: usize, what: &str) -> JsResult<()> {
    if args.len() >= count {
        return Ok(());
    }
    let (plural, present) = (if count == 1 { "" } else { "s" }, args.len());
    Err(type_error(format!(
        "Failed to execute '{what}': {count} argument{plural} required, but only {present} present."
    )))
}

/// A WebIDL `USVString` argument: lone surrogates become U+FFFD.
///
/// # Errors
/// What the value's own conversion throws.
pub fn text(args: &[JsValue], index: usize, context: &mut Context) -> JsResult<String> {
    Ok(args.get_or_undefined(index).to_string(context)?.to_std_string_lossy())
}

/// An optional argument.
///
/// # Errors
/// What the value's own conversion throws.
pub fn text_if_given(args: &[JsValue], index: usize, context: &mut Context) -> JsResult<Option<String>> {
    if args.get_or_undefined(index).is_undefined() {
        return Ok(None);
    }
    text(args, index, context).map(Some)
}

/// A text as a script value.
pub fn js(text: &str) -> JsValue {
    js_string!(text).into()
}

/// A member of a dictionary argument; `None` if it is undefined or there is no dictionary.
///
/// # Errors
/// When the argument is neither an object nor missing, or a getter throws.
pub fn member(dictionary: &JsValue, name: &str, context: &mut Context) -> JsResult<Option<JsValue>> {
    match dictionary.as_object() {
        Some(object) => Ok(Some(object.get(js_string!(name), context)?).filter(|value| !value.is_undefined())),
        None if dictionary.is_null_or_undefined() => Ok(None),
        None => Err(type_error("The provided value is not of type 'object'.")),
    }
}

/// A boolean member of a dictionary argument; false if it is missing.
///
/// # Errors
/// As [`member`].
pub fn flag(dictionary: &JsValue, name: &str, context: &mut Context) -> JsResult<bool> {
    Ok(member(dictionary, name, context)?.is_some_and(|value| value.to_boolean()))
}

/// The values of an iterable object, at most `most` of them.
///
/// # Errors
/// When it has no iterator, has too many values, or throws.
pub fn values(object: &JsObject, most: usize, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let method = object.get(JsSymbol::iterator(), context)?;
    let method =
        method.as_callable().ok_or_else(|| type_error("The object must have a callable @@iterator property."))?;
    let iterator = method.call(&object.clone().into(), &[], context)?;
    let iterator = iterator.as_object().ok_or_else(|| type_error("The iterator is not an object."))?;
    let next = iterator.get(js_string!("next"), context)?;
    let next = next.as_callable().ok_or_else(|| type_error("The iterator has no next method."))?;
    let mut found = Vec::new();
    loop {
        let step = next.call(&iterator.clone().into(), &[], context)?;
        let step = step.as_object().ok_or_else(|| type_error("The iterator's result is not an object."))?;
        if step.get(js_string!("done"), context)?.to_boolean() {
            return Ok(found);
        }
        if found.len() == most {
            return Err(JsNativeError::range().with_message("too many values").into());
        }
        found.push(step.get(js_string!("value"), context)?);
    }
}

/// The pairs of an iterable of pairs, or the own enumerable properties of any other object: WebIDL's `sequence<sequence<T>> or record<T,
/// T>`.
///
/// # Errors
/// When an element is not a pair, there are more than `most`, or a conversion throws.
pub fn pairs(object: &JsObject, most: usize, context: &mut Context) -> JsResult<Vec<(JsString, JsString)>> {
    if object.get(JsSymbol::iterator(), context)?.is_null_or_undefined() {
        let mut found = Vec::new();
        for name in object.own_property_keys(context)?.into_iter().take(most) {
            let PropertyKey::Symbol(_) = name else {
                let name_text = JsValue::from(name.clone()).to_string(context)?;
                let own = object.get(name, context)?;
                found.push((name_text, own.to_string(context)?));
                continue;
            };
        }
        return Ok(found);
    }
    let mut found = Vec::new();
    for pair in values(object, most, context)? {
        let pair =
            pair.as_object().ok_or_else(|| type_error("The provided value cannot be converted to a sequence."))?;
        let [name, value]: [JsValue; 2] = values(&pair, 3, context)?
            .try_into()
            .map_err(|_| type_error("Sequence initializer must only contain pair elements"))?;
        found.push((name.to_string(context)?, value.to_string(context)?));
    }
    Ok(found)
}

/// The bytes of an `ArrayBuffer` or of a view on one; `None` for anything else (WebIDL `BufferSource`).
///
/// # Errors
/// When the buffer is detached or the view reaches beyond it.
pub fn bytes(value: &JsValue, context: &mut Context) -> JsResult<Option<Vec<u8>>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    let detached = || type_error("The provided ArrayBuffer is detached.");
    if let Ok(buffer) = JsArrayBuffer::from_object(object.clone()) {
        return buffer.to_vec().map(Some).ok_or_else(detached);
    }
    let (buffer, offset, length) = if let Ok(view) = JsTypedArray::from_object(object.clone()) {
        (view.buffer(context)?, view.byte_offset(context)?, view.byte_length(context)?)
    } else if let Ok(view) = JsDataView::from_object(object) {
        let offset = usize::try_from(view.byte_offset(context)?).unwrap_or(usize::MAX);
        (view.buffer(context)?, offset, usize::try_from(view.byte_length(context)?).unwrap_or(usize::MAX))
    } else {
        return Ok(None);
    };
    let buffer = buffer.as_object().ok_or_else(detached)?;
    let buffer = JsArrayBuffer::from_object(buffer)?;
    let data = buffer.data().ok_or_else(detached)?;
    let part = offset.checked_add(length).and_then(|end| data.get(offset..end)).ok_or_else(detached)?;
    Ok(Some(part.to_vec()))
}

/// An `ArrayBuffer` with these bytes.
///
/// # Errors
/// When it exceeds the page's limit for one buffer.
pub fn buffer(bytes: &[u8], context: &mut Context) -> JsResult<JsObject> {
    let buffer = JsArrayBuffer::new(bytes.len(), context)?;
    if let Some(mut data) = buffer.data_mut() {
        data.copy_from_slice(bytes);
    }
    Ok(buffer.into())
}

/// An array of values.
pub fn array(values: impl IntoIterator<Item = JsValue>, context: &mut Context) -> JsValue {
    JsArray::from_iter(values, context).into()
}
