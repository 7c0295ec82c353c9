//! Interfaces that browsers have and this engine does not: a page that asks for one reports it, since what it shows without may be less.

use std::cell::RefCell;

use boa_engine::{Context, JsResult, js_string};

use crate::engine::realm;
use crate::web::webidl::exotic::{self, Computed, Kind, computed};

/// Globals of Chromium by which pages decide what they show, in order. Those that only draw, play, measure or work offline are left out:
/// pages try them for the sake of it.
const KNOWN: &[&str] = &[
    "OffscreenCanvas",
    "SharedWorker",
    "Temporal",
    "URLPattern",
    "WebAssembly",
    "WebSocketStream",
    "WebTransport",
    "XSLTProcessor",
    "cookieStore",
    "indexedDB",
    "navigation",
];

/// Methods of `crypto.subtle` (Web Cryptography §14.3) other than `digest`, which is there.
const KNOWN_OF_SUBTLE: &[&str] = &[
    "crypto.subtle.decrypt",
    "crypto.subtle.deriveBits",
    "crypto.subtle.deriveKey",
    "crypto.subtle.encrypt",
    "crypto.subtle.exportKey",
    "crypto.subtle.generateKey",
    "crypto.subtle.importKey",
    "crypto.subtle.sign",
    "crypto.subtle.unwrapKey",
    "crypto.subtle.verify",
    "crypto.subtle.wrapKey",
];

/// The names that the page's scripts have asked for, in order.
#[derive(Default)]
struct Missing(RefCell<Vec<&'static str>>);

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(Missing::default, context);
    let crypto = context.global_object().get(js_string!("crypto"), context)?;
    let Some(crypto) = crypto.as_object() else { return Ok(()) };
    if let Some(subtle) = crypto.get(js_string!("subtle"), context)?.as_object() {
        let asked = boa_engine::JsObject::with_object_proto(context.intrinsics());
        subtle.set_prototype(Some(exotic::wrap_target(asked, &ASKED_OF_SUBTLE, context)?));
    }
    Ok(())
}

/// A script has asked the window for a name that nothing has.
pub(crate) fn asked(name: &str, context: &Context) {
    // Most names that are asked for in vain are a page's own: their lengths and first letters tell.
    if !(8..=15).contains(&name.len()) {
        return;
    }
    if let Ok(place) = KNOWN.binary_search(&name) {
        touched(KNOWN[place], context);
    }
}

/// An object whose lookups in vain are looked at.
pub(crate) static ASKED: Kind = computed!(Computed {
    named: |_, name, context| {
        asked(&name.to_std_string_lossy(), context);
        Ok(None)
    },
    ..Computed::EMPTY
});

/// The same for `crypto.subtle`.
static ASKED_OF_SUBTLE: Kind = computed!(Computed {
    named: |_, name, context| {
        let name = name.to_std_string_lossy();
        let known = KNOWN_OF_SUBTLE.iter().find(|known| known.rsplit('.').next() == Some(&name));
        known.into_iter().for_each(|known| touched(known, context));
        Ok(None)
    },
    ..Computed::EMPTY
});

/// A script has used or asked for what does not work.
pub(crate) fn touched(name: &'static str, context: &Context) {
    let Some(missing) = context.get_data::<Missing>() else { return };
    let mut missing = missing.0.borrow_mut();
    if !missing.contains(&name) {
        missing.push(name);
    }
}

/// The missing interfaces that the page's scripts have asked for.
pub(crate) fn told(context: &Context) -> Vec<String> {
    context
        .get_data::<Missing>()
        .map(|missing| missing.0.borrow().iter().map(|name| (*name).to_owned()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_within_the_lengths_that_are_looked_at() {
        assert!(KNOWN.is_sorted() && KNOWN.iter().all(|name| (8..=15).contains(&name.len())));
    }
}
