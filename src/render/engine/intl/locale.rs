//! `Intl.Locale`, `Intl.DisplayNames` and `Intl.supportedValuesOf` (ECMA-402 §14, §12, §8.3.3), without data on locales: subtags are taken
//! apart, and names are their codes, as for a locale that a browser has no names for.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};

use super::{SUPPORTED, define, word};
use crate::engine::bind;

/// A language tag, by its parts (UTS 35 §3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Trace, Finalize, JsData)]
struct Locale {
    #[unsafe_ignore_trace]
    language: String,
    #[unsafe_ignore_trace]
    script: Option<String>,
    #[unsafe_ignore_trace]
    region: Option<String>,
    /// Variants and extensions, as they are.
    #[unsafe_ignore_trace]
    rest: Vec<String>,
}

impl Locale {
    /// None for what is no language tag.
    fn parse(tag: &str) -> Option<Self> {
        let mut parts = tag.split('-').peekable();
        let is_word = |part: &&str| part.bytes().all(|of| of.is_ascii_alphabetic());
        let language = parts.next().filter(is_word).filter(|part| matches!(part.len(), 2 | 3 | 5..=8))?;
        let script = parts.next_if(|part| part.len() == 4 && is_word(part));
        let is_region = |part: &&str| match part.len() {
            2 => is_word(part),
            3 => part.bytes().all(|of| of.is_ascii_digit()),
            _ => false,
        };
        let region = parts.next_if(is_region);
        let rest: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
        let is_subtag =
            |part: &String| (1..=8).contains(&part.len()) && part.bytes().all(|of| of.is_ascii_alphanumeric());
        rest.iter().all(is_subtag).then(|| Self {
            language: language.to_ascii_lowercase(),
            script: script.map(capitalised),
            region: region.map(str::to_ascii_uppercase),
            rest,
        })
    }

    fn base_name(&self) -> String {
        let variants = self.rest.iter().take_while(|part| part.len() > 1);
        let parts = [Some(&self.language), self.script.as_ref(), self.region.as_ref()];
        parts.into_iter().flatten().chain(variants).map(String::as_str).collect::<Vec<_>>().join("-")
    }

    fn tag(&self) -> String {
        let extensions = self.rest.iter().skip_while(|part| part.len() > 1).map(|part| format!("-{part}"));
        extensions.fold(self.base_name(), |tag, part| tag + &part)
    }
}

fn capitalised(part: &str) -> String {
    let (first, others) = part.split_at(1);
    first.to_ascii_uppercase() + &others.to_ascii_lowercase()
}

fn no_tag(tag: &str) -> boa_engine::JsError {
    JsNativeError::range().with_message(format!("Incorrect locale information provided: {tag}")).into()
}

const LOCALE: bind::Interface = bind::Interface {
    name: "Locale",
    length: 1,
    constructor: Some(|new_target, args, context| {
        let tag = bind::text(args, 0, context)?;
        let mut locale = Locale::parse(&tag).ok_or_else(|| no_tag(&tag))?;
        let options = args.get_or_undefined(1);
        for (name, part) in [("language", 0), ("script", 1), ("region", 2)] {
            let Some(value) = word(options, name, context)? else { continue };
            match part {
                0 => locale.language = value.to_ascii_lowercase(),
                1 => locale.script = Some(value),
                _ => locale.region = Some(value.to_ascii_uppercase()),
            }
        }
        let tag = locale.tag();
        let locale = Locale::parse(&tag).ok_or_else(|| no_tag(&tag))?;
        bind::construct(new_target, "Locale", locale, context)
    }),
    methods: &[
        ("toString", 0, |this, _, _| Ok(bind::js(&bind::this::<Locale>(this)?.borrow().data().tag()))),
        // Without data, likely subtags are unknown.
        ("maximize", 0, itself),
        ("minimize", 0, itself),
    ],
    attributes: &[
        ("baseName", |this, _, _| Ok(bind::js(&bind::this::<Locale>(this)?.borrow().data().base_name())), None),
        ("language", |this, _, _| Ok(bind::js(&bind::this::<Locale>(this)?.borrow().data().language)), None),
        ("script", |this, _, _| part(this, |locale| locale.script.as_deref()), None),
        ("region", |this, _, _| part(this, |locale| locale.region.as_deref()), None),
    ],
    ..bind::Interface::EMPTY
};

fn itself(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    bind::this::<Locale>(this).map(|_| this.clone())
}

fn part(this: &JsValue, of: fn(&Locale) -> Option<&str>) -> JsResult<JsValue> {
    let this = bind::this::<Locale>(this)?;
    let this = this.borrow();
    Ok(of(this.data()).map_or_else(JsValue::undefined, bind::js))
}

/// The names of one kind of codes.
#[derive(Trace, Finalize, JsData)]
struct DisplayNames {
    /// True if a code without a name is its own name.
    falls_back: bool,
}

const DISPLAY_NAMES: bind::Interface = bind::Interface {
    name: "DisplayNames",
    length: 2,
    constructor: Some(|new_target, args, context| {
        let options = args.get_or_undefined(1);
        let kind = word(options, "type", context)?
            .ok_or_else(|| bind::type_error("Required option \"type\" must not be undefined"))?;
        if !["language", "region", "script", "currency", "calendar", "dateTimeField"].contains(&kind.as_str()) {
            let message = format!("Value {kind} out of range for Intl.DisplayNames options property type");
            return Err(JsNativeError::range().with_message(message).into());
        }
        let falls_back = word(options, "fallback", context)?.is_none_or(|said| said != "none");
        bind::construct(new_target, "DisplayNames", DisplayNames { falls_back }, context)
    }),
    methods: &[
        ("of", 1, |this, args, context| {
            let code = bind::text(args, 0, context)?;
            let falls_back = bind::this::<DisplayNames>(this)?.borrow().data().falls_back;
            Ok(if falls_back { bind::js(&code) } else { JsValue::undefined() })
        }),
        ("resolvedOptions", 0, super::resolved),
    ],
    statics: SUPPORTED,
    ..bind::Interface::EMPTY
};

/// What the other parts of `Intl` accept.
const VALUES: [(&str, &[&str]); 6] = [
    ("calendar", &["gregory"]),
    ("collation", &["default"]),
    ("currency", &["EUR", "GBP", "JPY", "USD"]),
    ("numberingSystem", &["latn"]),
    ("timeZone", &["UTC"]),
    ("unit", &[]),
];

fn supported_values(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = bind::text(args, 0, context)?;
    let known = VALUES.iter().find(|(name, _)| *name == key);
    let Some((_, values)) = known else {
        return Err(JsNativeError::range().with_message(format!("Invalid key : {key}")).into());
    };
    Ok(bind::array(values.iter().map(|value| bind::js(value)), context))
}

pub(super) fn make(intl: &JsObject, context: &mut Context) -> JsResult<()> {
    define(&LOCALE, intl, context)?;
    define(&DISPLAY_NAMES, intl, context)?;
    let values = bind::function("supportedValuesOf", 1, supported_values, context);
    bind::hidden(intl, js_string!("supportedValuesOf"), values.into(), true, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_tags_are_taken_apart_and_put_together() {
        let told = |tag: &str| Locale::parse(tag).map(|locale| (locale.base_name(), locale.tag()));
        let both = |name: &str, tag: &str| Some((name.to_owned(), tag.to_owned()));
        assert_eq!(told("en"), both("en", "en"));
        assert_eq!(told("ZH-hant-tw"), both("zh-Hant-TW", "zh-Hant-TW"));
        assert_eq!(told("de-1996-u-co-phonebk"), both("de-1996", "de-1996-u-co-phonebk"));
        assert_eq!(told("es-419"), both("es-419", "es-419"));
        for tag in ["", "e", "english-", "en_US", "12", "en-waytoolongsubtag"] {
            assert_eq!(told(tag), None, "{tag}");
        }
    }
}
