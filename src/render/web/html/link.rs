//! The URL components of a link (HTML §4.6.3 `HTMLHyperlinkElementUtils`) and interfaces with little beyond their attributes: `a`,
//! `area`, `base`, `map`, `image`.

use boa_engine::{Context, JsResult, JsValue, NativeFunction};
use url::{Url, quirks};

use super::reflect::{self, set_text};
use crate::dom::NodeId;
use crate::engine::bind;
use crate::web::dom::document;
use crate::web::{change, read, this_element};

/// A URL component: its name, its getter and setter.
type Part = (&'static str, fn(&Url) -> String, fn(&mut Url, &str));

const PARTS: &[Part] = &[
    ("protocol", |url| quirks::protocol(url).to_owned(), |url, text| quirks::set_protocol(url, text).unwrap_or(())),
    ("username", |url| quirks::username(url).to_owned(), |url, text| quirks::set_username(url, text).unwrap_or(())),
    ("password", |url| quirks::password(url).to_owned(), |url, text| quirks::set_password(url, text).unwrap_or(())),
    ("host", |url| quirks::host(url).to_owned(), |url, text| quirks::set_host(url, text).unwrap_or(())),
    ("hostname", |url| quirks::hostname(url).to_owned(), |url, text| quirks::set_hostname(url, text).unwrap_or(())),
    ("port", |url| quirks::port(url).to_owned(), |url, text| quirks::set_port(url, text).unwrap_or(())),
    ("pathname", |url| quirks::pathname(url).to_owned(), quirks::set_pathname),
    ("search", |url| quirks::search(url).to_owned(), quirks::set_search),
    ("hash", |url| quirks::hash(url).to_owned(), quirks::set_hash),
];

const HREF: bind::Attribute = (
    "href",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(bind::js(&reflect::url(id, "href", false, context)))
    },
    Some(|this, args, context| {
        let id = this_element(this, context)?;
        let text = bind::text(args, 0, context)?;
        set_text(id, "href", &text, context).map(|()| JsValue::undefined())
    }),
);

const ORIGIN: bind::Attribute = (
    "origin",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(bind::js(&address(id, context).map(|url| quirks::origin(&url)).unwrap_or_default()))
    },
    None,
);

/// `a.text`, `script.text`, `title.text`: the element's text.
pub(super) const TEXT: bind::Attribute = (
    "text",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(bind::js(&read(context, |tree| tree.text_content(id).unwrap_or_default())))
    },
    Some(|this, args, context| {
        let id = this_element(this, context)?;
        let text = bind::text(args, 0, context)?;
        change(context, |tree| tree.set_text_content(id, &text)).map(|()| JsValue::undefined())
    }),
);

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    for interface in ["HTMLAnchorElement", "HTMLAreaElement"] {
        let prototype = bind::prototype(interface, context)?;
        bind::attributes(&prototype, &[HREF, ORIGIN], context)?;
        bind::methods(&prototype, &[("toString", 0, HREF.1)], context)?;
        for (name, get, set) in PARTS.iter().copied() {
            let getter = NativeFunction::from_copy_closure(move |this, _, context| {
                let id = this_element(this, context)?;
                let part = address(id, context).as_ref().map(get);
                // A link without a URL has an empty scheme.
                Ok(bind::js(&part.unwrap_or_else(|| if name == "protocol" { ":".to_owned() } else { String::new() })))
            });
            let setter = NativeFunction::from_copy_closure(move |this, args, context| {
                let id = this_element(this, context)?;
                let text = bind::text(args, 0, context)?;
                if let Some(mut url) = address(id, context) {
                    set(&mut url, &text);
                    set_text(id, "href", url.as_str(), context)?;
                }
                Ok(JsValue::undefined())
            });
            bind::accessor(&prototype, name, getter, Some(setter), context)?;
        }
    }
    let anchor = bind::prototype("HTMLAnchorElement", context)?;
    bind::attributes(&anchor, &[TEXT], context)?;
    let base = bind::prototype("HTMLBaseElement", context)?;
    let href: bind::Attribute = (
        "href",
        |this, _, context| {
            let id = this_element(this, context)?;
            let owner = read(context, |tree| tree.document_of(id));
            let written = read(context, |tree| reflect::text(tree, id, "href").unwrap_or_default().to_owned());
            let url = document::address(owner, context).join(&written);
            Ok(bind::js(&url.map_or(written, String::from)))
        },
        HREF.2,
    );
    bind::attributes(&base, &[href], context)
}

/// The target of a link: its `href`, resolved in its document.
pub fn address(id: NodeId, context: &Context) -> Option<Url> {
    let written = read(context, |tree| reflect::text(tree, id, "href").map(str::to_owned))?;
    document::base_url(id, context).join(&written).ok()
}
