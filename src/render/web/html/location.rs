//! `Location` (HTML §7.2.4): the components of the page's URL. Setting one navigates.

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsValue, Trace, js_string};
use url::{Url, quirks};

use super::navigation::{self, navigate};
use crate::engine::{bind, exception, realm};
use crate::web::dom::document;
use crate::web::{own_document, this_document};
use crate::wire::{How, Navigation};

/// The page's single location; it has no data of its own.
#[derive(Trace, Finalize, JsData)]
struct Location;

/// The page's single location.
struct PageLocation(JsObject);

/// A URL component: its name, its getter and setter.
macro_rules! part {
    ($name:literal, $get:path, $set:path) => {
        (
            $name,
            |this, _, context| {
                bind::this::<Location>(this)?;
                Ok(bind::js($get(&realm::address(context))))
            },
            Some(|this, args, context| {
                bind::this::<Location>(this)?;
                let text = bind::text(args, 0, context)?;
                let mut url = realm::address(context);
                // A setter ignores invalid input.
                let _ = $set(&mut url, &text);
                if url != realm::address(context) {
                    navigate(Navigation::get(url, How::Location), false, context);
                }
                Ok(JsValue::undefined())
            }),
        )
    };
}

const LOCATION: bind::Interface = bind::Interface {
    name: "Location",
    methods: &[
        ("assign", 1, |this, args, context| {
            bind::this::<Location>(this)?;
            bind::want(args, 1, "assign' on 'Location")?;
            go(args, false, context)
        }),
        ("replace", 1, |this, args, context| {
            bind::this::<Location>(this)?;
            bind::want(args, 1, "replace' on 'Location")?;
            go(args, true, context)
        }),
        ("reload", 0, |this, _, context| {
            bind::this::<Location>(this)?;
            navigation::reload(context);
            Ok(JsValue::undefined())
        }),
        ("toString", 0, href),
    ],
    attributes: &[
        (
            "href",
            href,
            Some(|this, args, context| {
                bind::this::<Location>(this)?;
                go(args, false, context)
            }),
        ),
        (
            "origin",
            |this, _, context| {
                bind::this::<Location>(this)?;
                Ok(bind::js(&realm::base(context).origin().ascii_serialization()))
            },
            None,
        ),
        part!("protocol", quirks::protocol, quirks::set_protocol),
        part!("host", quirks::host, quirks::set_host),
        part!("hostname", quirks::hostname, quirks::set_hostname),
        part!("port", quirks::port, quirks::set_port),
        part!("pathname", quirks::pathname, quirks::set_pathname),
        part!("search", quirks::search, quirks::set_search),
        part!("hash", quirks::hash, set_hash),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&LOCATION, context)?;
    let object = bind::object("Location", Location, context)?;
    realm::keep(PageLocation(object), context);
    let attribute: bind::Attribute = ("location", own, Some(|_, args, context| go(args, false, context)));
    let global = context.global_object();
    let get = bind::function("get location", 0, attribute.1, context);
    let property = PropertyDescriptor::builder().get(get).enumerable(true).configurable(false);
    let property = match attribute.2 {
        Some(set) => property.set(bind::function("set location", 1, set, context)),
        None => property,
    };
    global.define_property_or_throw(js_string!("location"), property, context)?;
    let document = bind::prototype("Document", context)?;
    // Documents without a window have no location.
    let attribute: bind::Attribute = (
        "location",
        |this, args, context| {
            let document = this_document(this, context)?;
            let has_window = own_document(context) == document;
            if has_window { own(this, args, context) } else { Ok(JsValue::null()) }
        },
        attribute.2,
    );
    bind::attributes(&document, &[attribute], context)
}

fn own(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(realm::own::<PageLocation>(context).map_or_else(JsValue::null, |own| own.0.clone().into()))
}

fn href(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::this::<Location>(this)?;
    Ok(bind::js(realm::address(context).as_str()))
}

/// Setting an absent hash to nothing changes nothing.
fn set_hash(url: &mut Url, text: &str) {
    let text = text.strip_prefix('#').unwrap_or(text);
    if !(text.is_empty() && url.fragment().is_none()) {
        url.set_fragment(Some(text));
    }
}

fn go(args: &[JsValue], replace: bool, context: &mut Context) -> JsResult<JsValue> {
    let text = bind::text(args, 0, context)?;
    // The URL is relative to the caller's.
    let caller = realm::of_caller(context);
    let base = realm::within(&caller, context, |context| document::base_url(own_document(context), context));
    match base.join(&text) {
        Ok(url) => navigate(Navigation::get(url, How::Location), replace, context),
        Err(_) => {
            let message = format!("'{text}' is not a valid URL.");
            return Err(exception::error("SyntaxError", &message, context));
        }
    }
    Ok(JsValue::undefined())
}
