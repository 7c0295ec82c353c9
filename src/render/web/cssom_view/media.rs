//! `matchMedia` (CSSOM View §4.2): the few features that a window without a screen can evaluate. The result of a query never changes, so
//! no change event fires.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, Trace};

use crate::engine::bind;
use crate::engine::target::{self, Listeners, Target, TargetKind};
use crate::web::html::window::viewport;
use crate::wire::Viewport;

#[derive(Default, Trace, Finalize, JsData)]
struct MediaQueryList {
    listeners: Listeners,
    #[unsafe_ignore_trace]
    text: String,
}

impl Target for MediaQueryList {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

const MEDIA_QUERY_LIST: bind::Interface = bind::Interface {
    name: "MediaQueryList",
    parent: Some("EventTarget"),
    methods: &[
        ("addListener", 1, |this, args, context| listen(this, args, "addEventListener", context)),
        ("removeListener", 1, |this, args, context| listen(this, args, "removeEventListener", context)),
    ],
    attributes: &[
        ("media", |this, _, _| Ok(bind::js(&bind::this::<MediaQueryList>(this)?.borrow().data().text)), None),
        (
            "matches",
            |this, _, context| {
                let text = bind::this::<MediaQueryList>(this)?.borrow().data().text.clone();
                Ok(matches(&text, viewport(context)).into())
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&MEDIA_QUERY_LIST, context)?;
    target::handlers(&prototype, &["change"], context)?;
    target::register(TargetKind::of::<MediaQueryList>(|_, _, _| None), context);
    Ok(())
}

pub(crate) fn match_media(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "matchMedia' on 'Window")?;
    let text = bind::text(args, 0, context)?;
    let data = MediaQueryList { listeners: Listeners::default(), text: text.trim().to_owned() };
    bind::object("MediaQueryList", data, context).map(JsValue::from)
}

/// The legacy listener methods, implemented by those of every target.
fn listen(this: &JsValue, args: &[JsValue], method: &str, context: &mut Context) -> JsResult<JsValue> {
    let list = bind::this::<MediaQueryList>(this)?.upcast();
    let listener = args.get_or_undefined(0).clone();
    let method = list.get(boa_engine::js_string!(method), context)?;
    match method.as_callable() {
        Some(method) => method.call(&list.into(), &[bind::js("change"), listener], context),
        None => Ok(JsValue::undefined()),
    }
}

/// Whether a media query list matches: any of its queries does.
pub(crate) fn matches(list: &str, view: Viewport) -> bool {
    list.trim().is_empty() || list.to_ascii_lowercase().split(',').any(|query| query_matches(query.trim(), view))
}

fn query_matches(query: &str, view: Viewport) -> bool {
    if let Some(rest) = query.strip_prefix("not ") {
        return !query_matches(rest.trim(), view);
    }
    let query = query.strip_prefix("only ").unwrap_or(query);
    query.split(" and ").all(|part| match part.trim() {
        "all" | "screen" => true,
        part => part
            .strip_prefix('(')
            .and_then(|part| part.strip_suffix(')'))
            .is_some_and(|feature| feature_matches(feature.trim(), view)),
    })
}

fn feature_matches(feature: &str, view: Viewport) -> bool {
    let (name, value) = match feature.split_once(':') {
        Some((name, value)) => (name.trim(), value.trim()),
        None => (feature, ""),
    };
    let length = || pixels(value);
    match name {
        "min-width" | "min-device-width" => length().is_some_and(|limit| view.width >= limit),
        "max-width" | "max-device-width" => length().is_some_and(|limit| view.width <= limit),
        "min-height" | "min-device-height" => length().is_some_and(|limit| view.height >= limit),
        "max-height" | "max-device-height" => length().is_some_and(|limit| view.height <= limit),
        "width" => value.is_empty() || length() == Some(view.width),
        "height" => value.is_empty() || length() == Some(view.height),
        "orientation" => (value == "landscape") == (view.width >= view.height),
        "hover" | "any-hover" => value.is_empty() || value == "hover",
        "pointer" | "any-pointer" => value.is_empty() || value == "fine",
        "prefers-color-scheme" => value == "light",
        "prefers-reduced-motion" | "prefers-contrast" | "prefers-reduced-data" => value == "no-preference",
        "color" => true,
        "display-mode" => value == "browser",
        "scripting" => value.is_empty() || value == "enabled",
        _ => false,
    }
}

/// A length in pixels; one em is sixteen.
fn pixels(text: &str) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: f64 = text[..split].trim().parse().ok()?;
    match &text[split..] {
        "px" => Some(number),
        "em" | "rem" => Some(number * 16.0),
        "" if number == 0.0 => Some(0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_pages_are_answered() {
        let view = Viewport { width: 1280.0, height: 800.0 };
        for (query, wanted) in [
            ("", true),
            ("(min-width: 768px)", true),
            ("(max-width: 47.9em)", false),
            ("screen and (min-width:1px) and (max-width: 2000px)", true),
            ("print", false),
            ("not print", true),
            ("print, (orientation: landscape)", true),
            ("(prefers-color-scheme: dark)", false),
            ("(prefers-reduced-motion: reduce)", false),
            ("(nonsense", false),
        ] {
            assert_eq!(matches(query, view), wanted, "{query}");
        }
    }
}
