//! `Headers` (Fetch §5.1): case-insensitive names, joined values, without the names that scripts may not set.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use super::bind;
use super::pairs::{self, Pairs};
use crate::limits;

#[derive(Clone, Default, Trace, Finalize, JsData)]
#[boa_gc(unsafe_no_drop)]
pub(super) struct Headers {
    /// Names in lower case, in order of insertion.
    #[unsafe_ignore_trace]
    pub(super) list: Vec<(String, String)>,
    /// Belongs to a request, where some names are reserved to the browser.
    #[unsafe_ignore_trace]
    pub(super) of_request: bool,
}

/// Names that a browser sets itself (Fetch §2.2.2 "forbidden request-header").
const FORBIDDEN: &[&str] = &[
    "accept-charset",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "access-control-request-private-network",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "date",
    "dnt",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "referer",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

pub(super) fn forbidden(name: &str) -> bool {
    FORBIDDEN.contains(&name) || name.starts_with("proxy-") || name.starts_with("sec-")
}

impl Headers {
    /// All values of a name, joined (Fetch §2.2.2 "get").
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let values: Vec<_> = self.list.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.list.iter().position(|(key, _)| key == name) {
            Some(place) => {
                let mut at = 0;
                self.list.retain(|(key, _)| {
                    at += 1;
                    at - 1 <= place || key != name
                });
                self.list[place].1 = value;
            }
            None => self.push(name.to_owned(), value),
        }
    }

    pub(super) fn push(&mut self, name: String, value: String) {
        if self.list.len() < limits::HEADERS_MAX && !(self.of_request && forbidden(&name)) {
            self.list.push((name, value));
        }
    }

    /// "Sort and combine" (Fetch §2.2.2).
    fn sorted(&self) -> Vec<(String, String)> {
        let mut names: Vec<&str> = self.list.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut sorted = Vec::new();
        for name in names {
            if name == "set-cookie" {
                sorted.extend(self.list.iter().filter(|(key, _)| key == name).cloned());
            } else if let Some(value) = self.get(name) {
                sorted.push((name.to_owned(), value));
            }
        }
        sorted
    }
}

impl Pairs for Headers {
    fn pair(&self, index: usize, _: &mut Context) -> Option<(JsValue, JsValue)> {
        let sorted = self.sorted();
        sorted.get(index).map(|(name, value)| (bind::js(name), bind::js(value)))
    }
}

const INTERFACE: bind::Interface = bind::Interface {
    name: "Headers",
    constructor: Some(|new_target, args, context| {
        let mut headers = Headers::default();
        fill(&mut headers, args.get_or_undefined(0), context)?;
        bind::construct(new_target, "Headers", headers, context)
    }),
    methods: &[
        ("append", 2, |this, args, context| {
            bind::want(args, 2, "append' on 'Headers")?;
            let (name, value) = (name(&args[0], context)?, value(&args[1], context)?);
            change(this, |headers| headers.push(name, value))
        }),
        ("set", 2, |this, args, context| {
            bind::want(args, 2, "set' on 'Headers")?;
            let (name, value) = (name(&args[0], context)?, value(&args[1], context)?);
            change(this, |headers| headers.set(&name, value))
        }),
        ("delete", 1, |this, args, context| {
            bind::want(args, 1, "delete' on 'Headers")?;
            let name = name(&args[0], context)?;
            change(this, |headers| headers.list.retain(|(key, _)| *key != name))
        }),
        ("get", 1, |this, args, context| {
            bind::want(args, 1, "get' on 'Headers")?;
            let name = name(&args[0], context)?;
            let value = bind::this::<Headers>(this)?.borrow().data().get(&name);
            Ok(value.map_or_else(JsValue::null, |value| bind::js(&value)))
        }),
        ("has", 1, |this, args, context| {
            bind::want(args, 1, "has' on 'Headers")?;
            let name = name(&args[0], context)?;
            Ok(bind::this::<Headers>(this)?.borrow().data().get(&name).is_some().into())
        }),
        ("getSetCookie", 0, |this, _, context| {
            let list = bind::this::<Headers>(this)?.borrow().data().list.clone();
            let cookies = list.into_iter().filter(|(key, _)| key == "set-cookie").map(|(_, value)| bind::js(&value));
            Ok(bind::array(cookies.collect::<Vec<_>>(), context))
        }),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&INTERFACE, context)?;
    pairs::install::<Headers>(&prototype, "Headers", context)
}

fn change(this: &JsValue, what: impl FnOnce(&mut Headers)) -> JsResult<JsValue> {
    what(bind::this::<Headers>(this)?.borrow_mut().data_mut());
    Ok(JsValue::undefined())
}

/// Fills from `Headers`, pairs or an object.
pub(super) fn fill(headers: &mut Headers, init: &JsValue, context: &mut Context) -> JsResult<()> {
    let Some(object) = init.as_object() else {
        return match init.is_undefined() {
            true => Ok(()),
            false => Err(bind::type_error(
                "The provided value is not of type '(record<ByteString, ByteString> or sequence<sequence<ByteString>>)'.",
            )),
        };
    };
    let other = object.downcast_ref::<Headers>().map(|other| other.list.clone());
    let pairs = match other {
        Some(list) => {
            list.into_iter().for_each(|(name, value)| headers.push(name, value));
            return Ok(());
        }
        None => bind::pairs(&object, limits::HEADERS_MAX, context)?,
    };
    for (key, text) in pairs {
        let pair = (name(&key.into(), context)?, value(&text.into(), context)?);
        headers.push(pair.0, pair.1);
    }
    Ok(())
}

/// A header's name in lower case (RFC 9110 §5.1: a token).
pub(super) fn name(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let name = value.to_string(context)?.to_std_string_lossy();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(bind::type_error("Invalid header name"));
    }
    Ok(name.to_ascii_lowercase())
}

/// A header's value without surrounding whitespace.
pub(super) fn value(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let text = value.to_string(context)?.to_std_string_lossy();
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.contains(['\0', '\r', '\n'])
        || text.chars().any(|c| u32::from(c) > 0xff)
        || text.len() > limits::SCRIPT_URL_BYTES_MAX
    {
        return Err(bind::type_error("Invalid header value"));
    }
    Ok(text.to_owned())
}

/// A `Headers` object.
pub(super) fn object(headers: Headers, context: &Context) -> JsResult<JsObject> {
    bind::object("Headers", headers, context)
}
