//! `structuredClone` (HTML §2.7): copies values with their cycles, and rejects functions and symbols.

use boa_engine::builtins::error::Error;
use boa_engine::object::builtins::{JsArray, JsArrayBuffer, JsDate, JsMap, JsRegExp, JsSet, JsTypedArray};
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};

use super::blob::Blob;
use super::{bind, exception};
use crate::limits;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    bind::methods(&global, &[("structuredClone", 1, structured_clone)], context)
}

fn structured_clone(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "structuredClone' on 'Window")?;
    structured(args.get_or_undefined(0), context)
}

/// A copy of a value that must not be shared, for a message or a history entry.
///
/// # Errors
/// `DataCloneError` for what cannot be copied.
pub fn structured(value: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    copy(value, &mut Vec::new(), 0, context)
}

/// [`structured`] of a value with objects that are handed over, not copied: ports.
///
/// # Errors
/// As [`structured`].
pub fn with_shared(value: &JsValue, shared: &[JsObject], context: &mut Context) -> JsResult<JsValue> {
    let mut seen = shared.iter().map(|one| (one.clone(), one.clone())).collect();
    copy(value, &mut seen, 0, context)
}

fn refuse(what: &str, context: &mut Context) -> boa_engine::JsError {
    exception::error("DataCloneError", &format!("{what} could not be cloned."), context)
}

/// Copies a value; `seen` maps objects to their copies, to preserve cycles and shared parts.
pub(super) fn copy(
    value: &JsValue,
    seen: &mut Vec<(JsObject, JsObject)>,
    depth: usize,
    context: &mut Context,
) -> JsResult<JsValue> {
    if value.is_symbol() {
        return Err(refuse("A symbol", context));
    }
    let Some(object) = value.as_object() else { return Ok(value.clone()) };
    if let Some((_, copied)) = seen.iter().find(|(other, _)| JsObject::equals(other, &object)) {
        return Ok(copied.clone().into());
    }
    if object.is_callable() {
        return Err(refuse("A function", context));
    }
    if depth == limits::CLONE_DEPTH_MAX || seen.len() == limits::CLONE_OBJECTS_MAX {
        return Err(refuse("A value this deep or large", context));
    }
    if let Some(copied) = leaf(&object, context)? {
        seen.push((object, copied.clone()));
        return Ok(copied.into());
    }
    if let Ok(map) = JsMap::from_object(object.clone()) {
        let copied = JsMap::new(context);
        seen.push((object, copied.clone().into()));
        let mut pairs = Vec::new();
        map.for_each_native(|key, value| {
            pairs.push((key, value));
            Ok(())
        })?;
        for (key, value) in pairs {
            let (key, value) = (copy(&key, seen, depth + 1, context)?, copy(&value, seen, depth + 1, context)?);
            copied.set(key, value, context)?;
        }
        return Ok(copied.into());
    }
    if let Ok(set) = JsSet::from_object(object.clone()) {
        let copied = JsSet::new(context);
        seen.push((object, copied.clone().into()));
        let mut values = Vec::new();
        set.for_each_native(|value| {
            values.push(value);
            Ok(())
        })?;
        for value in values {
            let value = copy(&value, seen, depth + 1, context)?;
            copied.add(value, context)?;
        }
        return Ok(copied.into());
    }
    let copied: JsObject = if object.is_array() {
        let length = object.get(js_string!("length"), context)?;
        let array: JsObject = JsArray::new(context)?.into();
        array.set(js_string!("length"), length, true, context)?;
        array
    } else if object.is_ordinary() {
        JsObject::with_object_proto(context.intrinsics())
    } else {
        return Err(refuse("An object of the platform", context));
    };
    seen.push((object.clone(), copied.clone()));
    for key in object.own_property_keys(context)? {
        if matches!(key, PropertyKey::Symbol(_)) || key == PropertyKey::from(js_string!("length")) && object.is_array()
        {
            continue;
        }
        let value = object.get(key.clone(), context)?;
        let value = copy(&value, seen, depth + 1, context)?;
        copied.create_data_property_or_throw(key, value, context)?;
    }
    Ok(copied.into())
}

/// Copies an object that cannot contain cycles.
fn leaf(object: &JsObject, context: &mut Context) -> JsResult<Option<JsObject>> {
    if let Ok(date) = JsDate::from_object(object.clone()) {
        let time = date.get_time(context)?;
        let copied = JsDate::new(context);
        copied.set_time(time, context)?;
        return Ok(Some(copied.into()));
    }
    if let Ok(pattern) = JsRegExp::from_object(object.clone()) {
        let (source, flags) = (pattern.source(context)?, pattern.flags(context)?);
        return Ok(Some(JsRegExp::new(js_string!(source), js_string!(flags), context)?.into()));
    }
    if JsArrayBuffer::from_object(object.clone()).is_ok() {
        let bytes = bind::bytes(&object.clone().into(), context)?.unwrap_or_default();
        return bind::buffer(&bytes, context).map(Some);
    }
    if let Ok(view) = JsTypedArray::from_object(object.clone()) {
        let Some(kind) = view.kind() else { return Ok(None) };
        let bytes = bind::bytes(&object.clone().into(), context)?.unwrap_or_default();
        let buffer = bind::buffer(&bytes, context)?;
        let name = format!("{kind:?}Array");
        let constructor = context.global_object().get(js_string!(name), context)?;
        let Some(constructor) = constructor.as_constructor() else { return Ok(None) };
        return constructor.construct(&[buffer.into()], None, context).map(Some);
    }
    if object.is::<Error>() {
        let name = object.get(js_string!("name"), context)?.to_string(context)?.to_std_string_lossy();
        let message = object.get(js_string!("message"), context)?;
        let known = ["EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"];
        let name = known.into_iter().find(|known| *known == name).unwrap_or("Error");
        let constructor = context.global_object().get(js_string!(name), context)?;
        let Some(constructor) = constructor.as_constructor() else { return Ok(None) };
        return constructor.construct(&[message], None, context).map(Some);
    }
    let blob = object.downcast_ref::<Blob>().map(|blob| blob.clone());
    match blob {
        Some(blob) => {
            let name = if blob.name.is_some() { "File" } else { "Blob" };
            bind::object(name, blob, context).map(Some)
        }
        None => Ok(None),
    }
}
