//! `Intl.Segmenter` (ECMA-402 §18): splits a text into user-perceived characters, words or sentences by Unicode's rules (UAX #29).

use boa_engine::{Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{define, word};
use crate::engine::bind;
use crate::limits;

/// The granularity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Grapheme,
    Word,
    Sentence,
}

#[derive(Clone, Trace, Finalize, JsData)]
struct Segmenter {
    #[unsafe_ignore_trace]
    by: By,
}

const SEGMENTER: bind::Interface = bind::Interface {
    name: "Segmenter",
    constructor: Some(|new_target, args, context| {
        let by = match word(args.get_or_undefined(1), "granularity", context)?.as_deref() {
            None | Some("grapheme") => By::Grapheme,
            Some("word") => By::Word,
            Some("sentence") => By::Sentence,
            Some(_) => return Err(JsNativeError::range().with_message("granularity value is out of range.").into()),
        };
        bind::construct(new_target, "Segmenter", Segmenter { by }, context)
    }),
    methods: &[
        ("segment", 1, segment),
        ("resolvedOptions", 0, |this, _, context| {
            let by = match bind::this::<Segmenter>(this)?.borrow().data().by {
                By::Grapheme => "grapheme",
                By::Word => "word",
                By::Sentence => "sentence",
            };
            let options = JsObject::with_object_proto(context.intrinsics());
            for (name, value) in [("locale", "en-US"), ("granularity", by)] {
                options.create_data_property_or_throw(js_string!(name), js_string!(value), context)?;
            }
            Ok(options.into())
        }),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn make(intl: &JsObject, context: &mut Context) -> JsResult<()> {
    define(&SEGMENTER, intl, context)
}

/// The segments as an array. Like `Segments` it is iterable and has `containing`.
fn segment(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let by = bind::this::<Segmenter>(this)?.borrow().data().by;
    let input = args.get_or_undefined(0).to_string(context)?;
    // A lone surrogate is replaced, and counts as one character.
    let text = input.to_std_string_lossy();
    let pieces: Vec<&str> = match by {
        By::Grapheme => text.graphemes(true).take(limits::PAIRS_MAX).collect(),
        By::Word => text.split_word_bounds().take(limits::PAIRS_MAX).collect(),
        By::Sentence => text.split_sentence_bounds().take(limits::PAIRS_MAX).collect(),
    };
    let (mut list, mut index) = (Vec::with_capacity(pieces.len()), 0);
    for piece in pieces {
        let object = JsObject::with_object_proto(context.intrinsics());
        object.create_data_property_or_throw(js_string!("segment"), js_string!(piece), context)?;
        object.create_data_property_or_throw(js_string!("index"), index, context)?;
        object.create_data_property_or_throw(js_string!("input"), input.clone(), context)?;
        if by == By::Word {
            let is_word = piece.contains(char::is_alphanumeric);
            object.create_data_property_or_throw(js_string!("isWordLike"), is_word, context)?;
        }
        index += u32::try_from(piece.encode_utf16().count()).unwrap_or(u32::MAX);
        list.push(object.into());
    }
    let segments = bind::array(list, context);
    if let Some(object) = segments.as_object() {
        let containing = bind::function("containing", 1, containing, context);
        bind::hidden(&object, js_string!("containing"), containing.into(), true, context)?;
    }
    Ok(segments)
}

fn containing(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let place = args.get_or_undefined(0).to_number(context)?;
    let place = if place.is_nan() { 0.0 } else { place.trunc() };
    let list = this.as_object().ok_or_else(|| bind::type_error("Illegal invocation"))?;
    for piece in bind::values(&list, limits::PAIRS_MAX, context)? {
        let Some(object) = piece.as_object() else { continue };
        let index = object.get(js_string!("index"), context)?.to_number(context)?;
        let text = object.get(js_string!("segment"), context)?.to_string(context)?;
        if (index..index + text.len() as f64).contains(&place) {
            return Ok(piece);
        }
    }
    Ok(JsValue::undefined())
}
