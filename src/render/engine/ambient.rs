//! The page's random numbers (`Math.random`, `crypto`). They come from a seed, so that a page runs the same way twice.

use boa_engine::object::builtins::{JsArrayBuffer, JsPromise, JsTypedArray};
use boa_engine::{Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, js_string};
use sha1::Digest as _;

use super::{bind, exception, page};

/// Maximum bytes per call of `getRandomValues` (Web Cryptography §10.1.1).
const RANDOM_BYTES: usize = 65_536;

const CRYPTO: &[bind::Method] = &[("getRandomValues", 1, random_values), ("randomUUID", 0, random_uuid)];

const SUBTLE: &[bind::Method] = &[("digest", 2, digest)];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let (crypto, subtle) =
        (JsObject::with_object_proto(context.intrinsics()), JsObject::with_object_proto(context.intrinsics()));
    bind::methods(&crypto, CRYPTO, context)?;
    bind::methods(&subtle, SUBTLE, context)?;
    bind::hidden(&crypto, js_string!("subtle"), subtle.into(), true, context)?;
    bind::hidden(&global, js_string!("crypto"), crypto.into(), true, context)?;

    if let Some(math) = global.get(js_string!("Math"), context)?.as_object() {
        let random = bind::function("random", 0, |_, _, context| Ok(unit(context).into()), context);
        bind::hidden(&math, js_string!("random"), random.into(), true, context)?;
    }
    Ok(())
}

/// A number in [0, 1) with 53 bits.
fn unit(context: &Context) -> f64 {
    (page::of(context).borrow_mut().random() >> 11) as f64 / (1_u64 << 53) as f64
}

fn random_values(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let refusal = || bind::type_error("parameter 1 is not of type 'ArrayBufferView'.");
    let view = JsTypedArray::from_object(args.get_or_undefined(0).as_object().ok_or_else(refusal)?)?;
    let (offset, length) = (view.byte_offset(context)?, view.byte_length(context)?);
    if length > RANDOM_BYTES {
        return Err(exception::error("QuotaExceededError", "more than 65536 bytes were asked for", context));
    }
    let buffer = view.buffer(context)?.as_object().ok_or_else(refusal)?;
    let buffer = JsArrayBuffer::from_object(buffer)?;
    let page = page::of(context);
    let mut data = buffer.data_mut().ok_or_else(refusal)?;
    for byte in data.iter_mut().skip(offset).take(length) {
        *byte = (page.borrow_mut().random() >> 32) as u8;
    }
    drop(data);
    Ok(args[0].clone())
}

/// A version 4 UUID (RFC 9562 §5.4).
fn random_uuid(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let page = page::of(context);
    let high = page.borrow_mut().random();
    let low = page.borrow_mut().random();
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    let text = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
    Ok(bind::js(&text))
}

/// SHA-1 and SHA-2 of a buffer, which pages use for tokens (Web Cryptography §14.3.5).
fn digest(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = match args.get_or_undefined(0).as_object() {
        Some(object) => object.get(js_string!("name"), context)?,
        None => args.get_or_undefined(0).clone(),
    };
    let name = name.to_string(context)?.to_std_string_lossy().to_ascii_uppercase();
    let bytes = bind::bytes(args.get_or_undefined(1), context)?
        .ok_or_else(|| JsNativeError::typ().with_message("parameter 2 is not of type 'BufferSource'"))?;
    let hash = match name.as_str() {
        "SHA-1" => sha1::Sha1::digest(&bytes).to_vec(),
        "SHA-256" => sha2::Sha256::digest(&bytes).to_vec(),
        "SHA-384" => sha2::Sha384::digest(&bytes).to_vec(),
        "SHA-512" => sha2::Sha512::digest(&bytes).to_vec(),
        _ => {
            let error = exception::error("NotSupportedError", "Unrecognized algorithm name", context);
            return Ok(JsPromise::reject(error, context)?.into());
        }
    };
    let buffer = bind::buffer(&hash, context)?;
    Ok(JsPromise::resolve(buffer, context)?.into())
}
