//! `JSON.parse` for the common case of a text without a reviver: serde_json parses it directly into values, several times faster than the
//! engine's own parser, which parses JSON as a script. A text that serde_json rejects goes to a slow UTF-16 parser (lone surrogates,
//! great depth); if that rejects it too, the engine's own parser reports the error.

use std::fmt;

use boa_engine::object::builtins::JsArray;
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, js_string};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{bind, realm};
use crate::limits;

/// The engine's own function.
struct EngineParse(JsObject);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let Some(json) = global.get(js_string!("JSON"), context)?.as_object() else { return Ok(()) };
    let Some(own) = json.get(js_string!("parse"), context)?.as_object() else { return Ok(()) };
    realm::keep(EngineParse(own), context);
    let function = bind::function("parse", 2, parse_native, context);
    bind::hidden(&json, js_string!("parse"), function.into(), true, context)
}

fn parse_native(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args.get_or_undefined(0).to_string(context)?;
    if !args.get_or_undefined(1).is_callable()
        && let Some(value) =
            text.to_std_string().ok().and_then(|text| fast(&text, context)).or_else(|| slow(&text, context))
    {
        return Ok(value);
    }
    let own = realm::own::<EngineParse>(context).map(|own| own.0.clone());
    let own = own.ok_or_else(|| bind::type_error("JSON.parse is not there"))?;
    own.call(this, &[text.into(), args.get_or_undefined(1).clone()], context)
}

/// Parses a JSON text.
///
/// # Errors
/// A `SyntaxError` if it is invalid.
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

fn slow(text: &JsString, context: &mut Context) -> Option<JsValue> {
    let units = text.to_vec();
    let mut reader = Slow { units: &units, at: 0 };
    let value = reader.value(0, context)?;
    reader.blanks();
    (reader.at == units.len()).then_some(value)
}

/// Parses JSON (RFC 8259) in code units; `None` if it is invalid.
struct Slow<'a> {
    units: &'a [u16],
    at: usize,
}

impl Slow<'_> {
    fn peek(&self) -> Option<u8> {
        self.units.get(self.at).map(|unit| u8::try_from(*unit).unwrap_or(0xff))
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes the next unit after whitespace if it is this one.
    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn word(&mut self, word: &str, value: JsValue) -> Option<JsValue> {
        let end = self.at + word.len();
        let there = self.units.get(self.at..end)?.iter().copied().eq(word.bytes().map(u16::from));
        self.at = end;
        there.then_some(value)
    }

    fn value(&mut self, depth: usize, context: &mut Context) -> Option<JsValue> {
        if depth == limits::JSON_DEPTH_MAX {
            return None;
        }
        self.blanks();
        match self.peek()? {
            b'n' => self.word("null", JsValue::null()),
            b't' => self.word("true", true.into()),
            b'f' => self.word("false", false.into()),
            b'"' => self.text().map(JsValue::from),
            b'[' => {
                self.at += 1;
                let mut values = Vec::new();
                if !self.take(b']') {
                    loop {
                        values.push(self.value(depth + 1, context)?);
                        if self.take(b']') {
                            break;
                        }
                        self.take(b',').then_some(())?;
                    }
                }
                Some(JsArray::from_iter(values, context).into())
            }
            b'{' => {
                self.at += 1;
                let object = JsObject::with_object_proto(context.intrinsics());
                if !self.take(b'}') {
                    loop {
                        self.blanks();
                        let key = PropertyKey::from(self.text()?);
                        self.take(b':').then_some(())?;
                        let value = self.value(depth + 1, context)?;
                        object.create_data_property(key, value, context).ok()?;
                        if self.take(b'}') {
                            break;
                        }
                        self.take(b',').then_some(())?;
                    }
                }
                Some(object.into())
            }
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<JsValue> {
        let rest = &self.units[self.at..];
        let part = |unit: &u16| matches!(u8::try_from(*unit), Ok(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let length = rest.iter().take_while(|unit| part(unit)).count();
        let text: String = rest[..length].iter().filter_map(|unit| u8::try_from(*unit).ok()).map(char::from).collect();
        self.at += length;
        // serde_json validates the syntax of numbers.
        serde_json::from_str::<f64>(&text).ok()?;
        text.parse::<f64>().ok().map(JsValue::from)
    }

    fn text(&mut self) -> Option<JsString> {
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let unit = *self.units.get(self.at)?;
            self.at += 1;
            match unit {
                0x22 => return Some(JsString::from(text.as_slice())),
                0x5c => text.push(self.escape()?),
                0..0x20 => return None,
                _ => text.push(unit),
            }
        }
    }

    fn escape(&mut self) -> Option<u16> {
        let mark = self.peek()?;
        self.at += 1;
        Some(u16::from(match mark {
            b'"' | b'\\' | b'/' => mark,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let digits = self.units.get(self.at..self.at + 4)?;
                self.at += 4;
                return digits.iter().try_fold(0, |code, digit| {
                    let digit = char::from(u8::try_from(*digit).ok()?).to_digit(16)?;
                    Some(code << 4 | u16::try_from(digit).ok()?)
                });
            }
            _ => return None,
        }))
    }
}
