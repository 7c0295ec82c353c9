//! `JSON.parse` for the usual case, a text and no reviver: read by serde_json straight into values, several times faster than the
//! engine's own, which reads a JSON text as a script. What serde_json refuses (errors, lone surrogates, great depth) the engine's own
//! decides.

use std::fmt;

use boa_engine::object::builtins::JsArray;
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_string};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::bind;

/// The engine's own function.
struct Own(JsObject);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let Some(json) = global.get(js_string!("JSON"), context)?.as_object() else { return Ok(()) };
    let Some(own) = json.get(js_string!("parse"), context)?.as_object() else { return Ok(()) };
    context.insert_data(Own(own));
    let function = bind::function("parse", 2, parse_native, context);
    bind::hidden(&json, js_string!("parse"), function.into(), true, context)
}

fn parse_native(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args.get_or_undefined(0).to_string(context)?;
    if !args.get_or_undefined(1).is_callable()
        && let Some(value) = text.to_std_string().ok().and_then(|text| fast(&text, context))
    {
        return Ok(value);
    }
    let own = context.get_data::<Own>().map(|own| own.0.clone());
    let own = own.ok_or_else(|| bind::type_error("JSON.parse is not there"))?;
    own.call(this, &[text.into(), args.get_or_undefined(1).clone()], context)
}

/// A JSON text as a value.
///
/// # Errors
/// A `SyntaxError` when it is none.
pub(super) fn parse(text: &str, context: &mut Context) -> JsResult<JsValue> {
    parse_native(&JsValue::undefined(), &[bind::js(text)], context)
}

fn fast(text: &str, context: &mut Context) -> Option<JsValue> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Seed(context).deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| value)
}

struct Seed<'a>(&'a mut Context);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = JsValue;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<JsValue, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = JsValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<JsValue, E> {
        Ok(JsValue::null())
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::from(value as f64), JsValue::from))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::from(value as f64), JsValue::from))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsValue, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<JsValue, E> {
        Ok(JsString::from(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Seed(&mut *self.0))? {
            values.push(value);
        }
        Ok(JsArray::from_iter(values, self.0).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsValue, A::Error> {
        let object = JsObject::with_object_proto(self.0.intrinsics());
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            let value = map.next_value_seed(Seed(&mut *self.0))?;
            let key = PropertyKey::from(JsString::from(&*key));
            object.create_data_property(key, value, self.0).map_err(|_| serde::de::Error::custom("property"))?;
        }
        Ok(object.into())
    }
}
