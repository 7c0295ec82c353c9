//! Text encoding: `TextEncoder`, `TextDecoder` (Encoding Standard §8), `atob`, `btoa` (HTML §8.3).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use boa_engine::object::builtins::{JsArrayBuffer, JsTypedArray, JsUint8Array};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding};

use super::{bind, exception};

/// "Forgiving-base64" (Infra §7) after whitespace is removed: optional padding, stray bits in the last character.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Trace, Finalize, JsData)]
struct Encoder;

#[derive(Trace, Finalize, JsData)]
struct TextDecoder {
    #[unsafe_ignore_trace]
    encoding: &'static Encoding,
    fatal: bool,
    keep_mark: bool,
    /// A decoder in the middle of a stream.
    #[unsafe_ignore_trace]
    stream: Option<Decoder>,
}

const ENCODER: bind::Interface = bind::Interface {
    name: "TextEncoder",
    constructor: Some(|new_target, _, context| bind::construct(new_target, "TextEncoder", Encoder, context)),
    methods: &[
        ("encode", 0, |this, args, context| {
            bind::this::<Encoder>(this)?;
            let text = bind::text_if_given(args, 0, context)?.unwrap_or_default();
            let buffer = JsArrayBuffer::from_object(bind::buffer(text.as_bytes(), context)?)?;
            Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
        }),
        ("encodeInto", 2, encode_into),
    ],
    attributes: &[("encoding", |_, _, _| Ok(bind::js("utf-8")), None)],
    ..bind::Interface::EMPTY
};

const DECODER: bind::Interface = bind::Interface {
    name: "TextDecoder",
    constructor: Some(|new_target, args, context| {
        let label = bind::text_if_given(args, 0, context)?.unwrap_or_else(|| "utf-8".to_owned());
        let options = args.get_or_undefined(1);
        let (fatal, keep_mark) = (bind::flag(options, "fatal", context)?, bind::flag(options, "ignoreBOM", context)?);
        let encoding = Encoding::for_label_no_replacement(label.as_bytes()).ok_or_else(|| {
            JsNativeError::range().with_message(format!("The encoding label provided ('{label}') is invalid."))
        })?;
        bind::construct(new_target, "TextDecoder", TextDecoder { encoding, fatal, keep_mark, stream: None }, context)
    }),
    methods: &[("decode", 0, decode)],
    attributes: &[
        (
            "encoding",
            |this, _, _| {
                let name = bind::this::<TextDecoder>(this)?.borrow().data().encoding.name();
                Ok(bind::js(&name.to_ascii_lowercase()))
            },
            None,
        ),
        ("fatal", |this, _, _| Ok(bind::this::<TextDecoder>(this)?.borrow().data().fatal.into()), None),
        ("ignoreBOM", |this, _, _| Ok(bind::this::<TextDecoder>(this)?.borrow().data().keep_mark.into()), None),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&ENCODER, context)?;
    bind::define(&DECODER, context)?;
    let global = context.global_object();
    bind::methods(&global, &[("atob", 1, atob), ("btoa", 1, btoa)], context)
}

fn encode_into(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::this::<Encoder>(this)?;
    let text = bind::text(args, 0, context)?;
    let refusal = || bind::type_error("parameter 2 is not of type 'Uint8Array'.");
    let view = JsTypedArray::from_object(args.get_or_undefined(1).as_object().ok_or_else(refusal)?)?;
    let (offset, length) = (view.byte_offset(context)?, view.byte_length(context)?);
    let buffer = JsArrayBuffer::from_object(view.buffer(context)?.as_object().ok_or_else(refusal)?)?;
    let part = &text[..text.floor_char_boundary(length)];
    {
        let mut data = buffer.data_mut().ok_or_else(refusal)?;
        let place = data.get_mut(offset..offset + part.len()).ok_or_else(refusal)?;
        place.copy_from_slice(part.as_bytes());
    }
    let told = JsObject::with_object_proto(context.intrinsics());
    let read = u32::try_from(part.encode_utf16().count()).unwrap_or(u32::MAX);
    told.create_data_property_or_throw(js_string!("read"), read, context)?;
    told.create_data_property_or_throw(js_string!("written"), u32::try_from(part.len()).unwrap_or(u32::MAX), context)?;
    Ok(told.into())
}

/// Encoding Standard §8.1.1 "decode".
fn decode(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = bind::this::<TextDecoder>(this)?;
    let input = args.get_or_undefined(0);
    let bytes = match bind::bytes(input, context)? {
        Some(bytes) => bytes,
        None if input.is_undefined() => Vec::new(),
        None => return Err(bind::type_error("parameter 1 is not of type 'BufferSource'.")),
    };
    let more = bind::flag(args.get_or_undefined(1), "stream", context)?;
    let mut this = this.borrow_mut();
    let decoder = this.data_mut();
    let mut stream = decoder.stream.take().unwrap_or_else(|| match decoder.keep_mark {
        true => decoder.encoding.new_decoder_without_bom_handling(),
        false => decoder.encoding.new_decoder_with_bom_removal(),
    });
    let room = stream.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(room);
    let well = if decoder.fatal {
        stream.decode_to_string_without_replacement(&bytes, &mut text, !more).0 == DecoderResult::InputEmpty
    } else {
        stream.decode_to_string(&bytes, &mut text, !more).0 == CoderResult::InputEmpty
    };
    if !well {
        return Err(bind::type_error("The encoded data was not valid."));
    }
    decoder.stream = more.then_some(stream);
    Ok(bind::js(&text))
}

/// Each character of the result is a byte.
fn atob(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "atob' on 'Window")?;
    let text = bind::text(args, 0, context)?;
    let mut packed: Vec<u8> =
        text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).collect();
    // Padding is allowed only if it completes the length.
    if packed.len().is_multiple_of(4) {
        let padding = packed.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
        packed.truncate(packed.len() - padding);
    }
    match FORGIVING.decode(&packed) {
        Ok(bytes) if !packed.contains(&b'=') => Ok(bind::js(&bytes.into_iter().map(char::from).collect::<String>())),
        _ => Err(exception::error(
            "InvalidCharacterError",
            "Failed to execute 'atob' on 'Window': The string to be decoded is not correctly encoded.",
            context,
        )),
    }
}

fn btoa(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "btoa' on 'Window")?;
    let text = args[0].to_string(context)?;
    let bytes: Option<Vec<u8>> = text.iter().map(|unit| u8::try_from(unit).ok()).collect();
    match bytes {
        Some(bytes) => Ok(bind::js(&base64::engine::general_purpose::STANDARD.encode(bytes))),
        None => Err(exception::error(
            "InvalidCharacterError",
            "Failed to execute 'btoa' on 'Window': The string to be encoded contains characters outside of the Latin1 range.",
            context,
        )),
    }
}
