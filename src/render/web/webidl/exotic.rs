//! Objects with computed properties: collections by index and name, `dataset`, `style`, storages (WebIDL §3.9 "legacy platform objects").
//!
//! The engine does not let hosts define internal methods, so each object is a `Proxy` with native traps around an ordinary object with
//! the data. Natives get the proxy as `this` and reach the data through [`this`] and [`target_of`].

use boa_engine::object::NativeObject;
use boa_engine::object::builtins::{JsArray, JsProxyBuilder};
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsObject, JsResult, JsString, JsSymbol, JsValue, js_string};

use crate::engine::bind;

/// State of the traps besides their tables.
struct TrapState {
    /// The key under which one of our proxies returns its target.
    target: JsSymbol,
    /// The original `Reflect.get` and `Reflect.set`, which the page may have replaced.
    get: JsObject,
    set: JsObject,
}

/// Sets a computed property; false if it is to be set as on any other object.
pub type Set = fn(&JsObject, &PropertyKey, JsValue, &mut Context) -> JsResult<bool>;

/// Deletes a computed property.
pub type Delete = fn(&JsObject, &PropertyKey, &mut Context) -> JsResult<()>;

/// The behaviour of computed properties. `object` is the target, never the proxy.
#[derive(Clone, Copy)]
pub struct Computed {
    /// The number of indexed properties: the numbers below [`Self::length`] are properties.
    pub length: fn(&JsObject, &mut Context) -> JsResult<u32>,
    /// Whether numbers are never names, and numbers beyond the length can neither be set nor defined ("supports indexed properties").
    pub indexed: bool,
    /// Whether there can be names; otherwise the lookup is skipped.
    pub has_names: bool,
    /// The value at an index below the length.
    pub item: fn(&JsObject, u32, &mut Context) -> JsResult<JsValue>,
    /// The value of a supported name; `None` for others.
    pub named: fn(&JsObject, &JsString, &mut Context) -> JsResult<Option<JsValue>>,
    /// The supported names, in order.
    pub names: fn(&JsObject, &mut Context) -> JsResult<Vec<JsString>>,
    /// Sets a name or an index; if `None`, computed properties are read-only. False: it is set as on any other object.
    pub set: Option<Set>,
    /// Deletes a supported name; if `None`, it cannot be deleted.
    pub delete: Option<Delete>,
    /// Whether names hide properties of the prototypes ([LegacyOverrideBuiltIns]).
    pub overrides: bool,
    /// Whether names are enumerated.
    pub enumerable_names: bool,
}

impl Computed {
    /// A kind without computed properties, as a base for others.
    pub const EMPTY: Self = Self {
        length: |_, _| Ok(0),
        indexed: false,
        has_names: true,
        item: |_, _, _| Ok(JsValue::undefined()),
        named: |_, _, _| Ok(None),
        names: |_, _| Ok(Vec::new()),
        set: None,
        delete: None,
        overrides: false,
        enumerable_names: false,
    };
}

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    if context.has_data::<TrapState>() {
        return Ok(());
    }
    let reflect = context.intrinsics().objects().reflect();
    let mut function = |name: &str| {
        let value = reflect.get(js_string!(name), context)?;
        value.as_callable().ok_or_else(|| bind::type_error("a built-in is missing"))
    };
    let (get, set) = (function("get")?, function("set")?);
    let target = JsSymbol::new(Some(js_string!("target"))).ok_or_else(|| bind::type_error("no symbol is left"))?;
    context.insert_data(TrapState { target, get, set });
    Ok(())
}

/// The original `Reflect.get`, which the page may have replaced.
///
/// # Errors
/// What an accessor throws.
pub(crate) fn reflect_get(
    object: JsObject,
    key: PropertyKey,
    receiver: JsValue,
    context: &mut Context,
) -> JsResult<JsValue> {
    let get = own(context, |own| &own.get)?;
    get.call(&JsValue::undefined(), &[object.into(), key.into(), receiver], context)
}

fn own<T>(context: &Context, which: impl FnOnce(&TrapState) -> &T) -> JsResult<T>
where
    T: Clone,
{
    context
        .get_data::<TrapState>()
        .map(|own| which(own).clone())
        .ok_or_else(|| bind::type_error("a built-in is missing"))
}

/// An object of an interface with computed properties.
///
/// # Errors
/// When the interface was not defined.
pub fn object<T: NativeObject>(
    interface: &str,
    data: T,
    computed: &'static Kind,
    context: &mut Context,
) -> JsResult<JsObject> {
    let target = bind::object(interface, data, context)?;
    wrap_target(target, computed, context)
}

/// Wraps a target in a proxy with the traps.
///
/// # Errors
/// None that a page could cause.
pub fn wrap_target(target: JsObject, kind: &'static Kind, context: &mut Context) -> JsResult<JsObject> {
    let proxy = (kind.build)(JsProxyBuilder::new(target)).build(context)?;
    Ok(proxy.into())
}

/// A kind with its traps, created by [`computed`].
pub struct Kind {
    pub build: fn(JsProxyBuilder) -> JsProxyBuilder,
}

/// Creates a [`Kind`] from a constant [`Computed`]: traps are plain functions, so each kind needs its own.
macro_rules! computed {
    ($table:expr) => {
        $crate::web::webidl::exotic::Kind {
            build: |builder| {
                use $crate::web::webidl::exotic as e;
                const TABLE: e::Computed = $table;
                builder
                    .get(|_, args, context| e::get(&TABLE, args, context))
                    .set(|_, args, context| e::set(&TABLE, args, context))
                    .has(|_, args, context| e::has(&TABLE, args, context))
                    .delete_property(|_, args, context| e::delete(&TABLE, args, context))
                    .own_keys(|_, args, context| e::own_keys(&TABLE, args, context))
                    .get_own_property_descriptor(|_, args, context| e::own_descriptor(&TABLE, args, context))
                    .define_property(|_, args, context| e::define(&TABLE, args, context))
            },
        }
    };
}

pub(crate) use computed;

/// The target of one of our proxies; any other object is returned as it is.
pub fn target_of(object: JsObject, context: &mut Context) -> JsObject {
    use boa_engine::object::builtins::JsProxy;
    if JsProxy::from_object(object.clone()).is_err() {
        return object;
    }
    let Ok(key) = own(context, |own| &own.target) else { return object };
    // A page's own proxy may throw or return anything: then it is not one of ours.
    let told = object.get(key, context).ok().and_then(|value| value.as_object());
    told.unwrap_or(object)
}

/// `this` as an object of a native kind, computed properties or not.
///
/// # Errors
/// "Illegal invocation" for other objects.
pub fn this<T: NativeObject>(this: &JsValue, context: &mut Context) -> JsResult<JsObject<T>> {
    let object = this.as_object().ok_or_else(|| bind::type_error("Illegal invocation"))?;
    target_of(object, context).downcast::<T>().map_err(|_| bind::type_error("Illegal invocation"))
}

/// A property key of a trap's second argument.
fn key_of(value: &JsValue, context: &mut Context) -> JsResult<PropertyKey> {
    value.to_property_key(context)
}

fn split(args: &[JsValue], context: &mut Context) -> JsResult<(JsObject, PropertyKey)> {
    let target = args.first().and_then(JsValue::as_object).ok_or_else(|| bind::type_error("Illegal invocation"))?;
    let key = key_of(args.get(1).unwrap_or(&JsValue::undefined()), context)?;
    Ok((target, key))
}

/// The array index of a key (below 2³² − 1).
fn index_of(key: &PropertyKey) -> Option<u32> {
    match key {
        PropertyKey::Index(index) => Some(index.get()),
        // In the engine's own keys an index is never a string.
        PropertyKey::String(_) => None,
        PropertyKey::Symbol(_) => None,
    }
}

fn name_of(key: &PropertyKey) -> Option<JsString> {
    match key {
        PropertyKey::String(text) => Some(text.clone()),
        PropertyKey::Index(index) => Some(js_string!(index.get().to_string())),
        PropertyKey::Symbol(_) => None,
    }
}

/// The computed value of a key, and whether the key is an index (WebIDL §3.9.1).
fn value(
    table: &Computed,
    target: &JsObject,
    key: &PropertyKey,
    context: &mut Context,
) -> JsResult<Option<(JsValue, bool)>> {
    if let Some(index) = index_of(key) {
        if index < (table.length)(target, context)? {
            return Ok(Some(((table.item)(target, index, context)?, true)));
        }
        if table.indexed {
            return Ok(None);
        }
    }
    if !table.has_names {
        return Ok(None);
    }
    let Some(name) = name_of(key) else { return Ok(None) };
    // "Named property visibility algorithm" (WebIDL §3.9.7).
    if !table.overrides && target.has_property(key.clone(), context)? {
        return Ok(None);
    }
    Ok((table.named)(target, &name, context)?.map(|value| (value, false)))
}

pub fn get(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    if let PropertyKey::Symbol(symbol) = &key {
        if own(context, |own| &own.target)? == *symbol {
            return Ok(target.into());
        }
    } else if let Some((value, _)) = value(table, &target, &key, context)? {
        return Ok(value);
    }
    // Accessors of the prototypes get the proxy as `this`, since the page only knows the proxy.
    let receiver = args.get(2).cloned().unwrap_or_else(|| target.clone().into());
    let get = own(context, |own| &own.get)?;
    get.call(&JsValue::undefined(), &[target.into(), key.into(), receiver], context)
}

pub fn set(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    let given = args.get(2).cloned().unwrap_or_default();
    let shadowed = !table.overrides && index_of(&key).is_none() && target.has_property(key.clone(), context)?;
    if !shadowed && !matches!(key, PropertyKey::Symbol(_)) {
        if let Some(set) = table.set {
            if set(&target, &key, given.clone(), context)? {
                return Ok(true.into());
            }
        } else if table.indexed && index_of(&key).is_some() {
            return Ok(false.into());
        } else if let Some((_, is_index)) = value(table, &target, &key, context)? {
            // Read-only: sloppy code continues, strict code gets an error. Names that are not indexes may be hidden by an own property,
            // and an object that inherits from this one gets its own property.
            if let Some(receiver) = args.get(3).filter(|receiver| receiver.is_object() && !is_index)
                && !is_of(receiver, &target, context)
            {
                let set = own(context, |own| &own.set)?;
                let args = [target.into(), key.into(), given, receiver.clone()];
                return set.call(&JsValue::undefined(), &args, context);
            }
            if is_index || !table.overrides {
                return Ok(false.into());
            }
        }
    }
    // `Reflect.set` with the proxy as receiver would come back here to define the property: only setters need the proxy. An object that
    // inherits from this one, as a window does from its named elements, gets its own property.
    let receiver = match args.get(3) {
        Some(given) if has_setter(&target, &key, context)? || !is_of(given, &target, context) => given.clone(),
        _ => target.clone().into(),
    };
    let set = own(context, |own| &own.set)?;
    set.call(&JsValue::undefined(), &[target.into(), key.into(), given, receiver], context)
}

/// Whether a receiver is the proxy of a target, or the target itself.
fn is_of(receiver: &JsValue, target: &JsObject, context: &mut Context) -> bool {
    receiver.as_object().is_some_and(|object| JsObject::equals(&target_of(object, context), target))
}

/// Whether the property is an accessor, on the object itself or on a prototype.
fn has_setter(target: &JsObject, key: &PropertyKey, context: &mut Context) -> JsResult<bool> {
    let mut next = Some(target.clone());
    while let Some(object) = next {
        let descriptor = own_descriptor_of(&object, key, context)?;
        if let Some(descriptor) = descriptor.as_object() {
            return descriptor.has_property(js_string!("set"), context);
        }
        next = object.prototype();
    }
    Ok(false)
}

pub fn has(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    Ok((value(table, &target, &key, context)?.is_some() || target.has_property(key, context)?).into())
}

pub fn delete(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    if value(table, &target, &key, context)?.is_some() {
        let Some(delete) = table.delete else { return Ok(false.into()) };
        delete(&target, &key, context)?;
        return Ok(true.into());
    }
    target.delete_property_or_throw(key, context).map(JsValue::from).or_else(|_| Ok(false.into()))
}

pub fn own_keys(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let target = args.first().and_then(JsValue::as_object).ok_or_else(|| bind::type_error("Illegal invocation"))?;
    let mut keys: Vec<JsValue> = Vec::new();
    let length = (table.length)(&target, context)?;
    keys.extend((0..length).map(|index| js_string!(index.to_string()).into()));
    let mut seen: std::collections::HashSet<JsString> =
        (0..length).map(|index| js_string!(index.to_string())).collect();
    for name in (table.names)(&target, context)? {
        let hidden = !table.overrides && target.has_property(name.clone(), context)?;
        if !hidden && seen.insert(name.clone()) {
            keys.push(name.into());
        }
    }
    for own in target.own_property_keys(context)? {
        let repeated = name_of(&own).is_some_and(|name| seen.contains(&name));
        if !repeated {
            keys.push(own.into());
        }
    }
    Ok(JsArray::from_iter(keys, context).into())
}

pub fn own_descriptor(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    let Some((value, is_index)) = value(table, &target, &key, context)? else {
        return own_descriptor_of(&target, &key, context);
    };
    let descriptor = JsObject::with_object_proto(context.intrinsics());
    descriptor.create_data_property_or_throw(js_string!("value"), value, context)?;
    let writable = table.set.is_some();
    for (name, is) in
        [("writable", writable), ("enumerable", is_index || table.enumerable_names), ("configurable", true)]
    {
        descriptor.create_data_property_or_throw(js_string!(name), is, context)?;
    }
    Ok(descriptor.into())
}

pub(crate) fn own_descriptor_of(target: &JsObject, key: &PropertyKey, context: &mut Context) -> JsResult<JsValue> {
    let object = context.intrinsics().constructors().object().constructor();
    let ask = object.get(js_string!("getOwnPropertyDescriptor"), context)?;
    let ask = ask.as_callable().ok_or_else(|| bind::type_error("Object.getOwnPropertyDescriptor is gone"))?;
    ask.call(&JsValue::undefined(), &[target.clone().into(), key.clone().into()], context)
}

pub fn define(table: &Computed, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, key) = split(args, context)?;
    let descriptor = args.get(2).and_then(JsValue::as_object).ok_or_else(|| bind::type_error("no descriptor"))?;
    let is_index = index_of(&key).is_some();
    let known = value(table, &target, &key, context)?.is_some();
    if let (Some(set), false) = (table.set, matches!(key, PropertyKey::Symbol(_))) {
        if !descriptor.has_property(js_string!("get"), context)?
            && !descriptor.has_property(js_string!("set"), context)?
        {
            let given = descriptor.get(js_string!("value"), context)?;
            if set(&target, &key, given, context)? {
                return Ok(true.into());
            }
        }
    } else if (known && (is_index || !table.overrides)) || (table.indexed && is_index) {
        return Ok(false.into());
    }
    let descriptor: PropertyDescriptor = descriptor.to_property_descriptor(context)?;
    Ok(target.define_property_or_throw(key, descriptor, context).is_ok().into())
}
