//! `URL` and `URLSearchParams` (URL Standard §6). The two are linked, as in the standard: a change of either shows in the other.
//! `address` parses.

mod address;
mod file;

use ::url::{Url, form_urlencoded};
use boa_engine::{Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};

use self::address::{Address, Part};
use super::pairs::{self, Pairs};
use super::{bind, page, realm};
use crate::limits;

#[derive(Trace, Finalize, JsData)]
struct UrlData {
    #[unsafe_ignore_trace]
    url: Address,
    params: JsObject,
}

#[derive(Default, Trace, Finalize, JsData)]
pub(super) struct Params {
    #[unsafe_ignore_trace]
    list: Vec<(String, String)>,
    /// The `URL` whose query this is.
    owner: Option<JsObject>,
}

impl Params {
    pub(super) fn text(&self) -> String {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.list).finish()
    }
}

impl Pairs for Params {
    fn pair(&self, index: usize, _: &mut Context) -> Option<(JsValue, JsValue)> {
        self.list.get(index).map(|(name, value)| (bind::js(name), bind::js(value)))
    }
}

/// One component of a URL: its name, its getter and setter.
macro_rules! component {
    ($name:literal, $part:expr) => {
        (
            $name,
            |this, _, _| {
                const PART: Part = $part;
                Ok(bind::js(&(PART.get)(&bind::this::<UrlData>(this)?.borrow().data().url)))
            },
            Some(|this, args, context| {
                const PART: Part = $part;
                let this = bind::this::<UrlData>(this)?;
                let text = bind::text(args, 0, context)?;
                (PART.set)(&mut this.borrow_mut().data_mut().url, &text);
                Ok(JsValue::undefined())
            }),
        )
    };
}

const URL: bind::Interface = bind::Interface {
    name: "URL",
    constructor: Some(construct_url),
    length: 1,
    methods: &[("toString", 0, href), ("toJSON", 0, href)],
    attributes: &[
        ("href", href, Some(set_href)),
        ("origin", |this, _, _| Ok(bind::js(&bind::this::<UrlData>(this)?.borrow().data().url.origin())), None),
        component!("protocol", address::PROTOCOL),
        component!("username", address::USERNAME),
        component!("password", address::PASSWORD),
        component!("host", address::HOST),
        component!("hostname", address::HOSTNAME),
        component!("port", address::PORT),
        component!("pathname", address::PATHNAME),
        (
            "search",
            |this, _, _| Ok(bind::js(&(address::SEARCH.get)(&bind::this::<UrlData>(this)?.borrow().data().url))),
            Some(set_search),
        ),
        ("searchParams", |this, _, _| Ok(bind::this::<UrlData>(this)?.borrow().data().params.clone().into()), None),
        component!("hash", address::HASH),
    ],
    statics: &[
        ("canParse", 1, |_, args, context| {
            bind::want(args, 1, "canParse' on 'URL")?;
            Ok(parse(args, context)?.is_ok().into())
        }),
        ("parse", 1, |_, args, context| {
            bind::want(args, 1, "parse' on 'URL")?;
            let Ok(url) = parse(args, context)? else { return Ok(JsValue::null()) };
            let prototype = bind::prototype("URL", context)?;
            let params = params_of(&url, context)?;
            let object = JsObject::from_proto_and_data(prototype, UrlData { url, params: params.clone() });
            own(&params, &object);
            Ok(object.into())
        }),
        ("createObjectURL", 1, super::blob::create_object_url),
        ("revokeObjectURL", 1, super::blob::revoke_object_url),
    ],
    ..bind::Interface::EMPTY
};

const PARAMS: bind::Interface = bind::Interface {
    name: "URLSearchParams",
    constructor: Some(construct_params),
    methods: &[
        ("append", 2, |this, args, context| {
            bind::want(args, 2, "append' on 'URLSearchParams")?;
            let pair = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
            change(this, |list| {
                if list.len() < limits::PAIRS_MAX {
                    list.push(pair);
                }
            })
        }),
        ("delete", 1, |this, args, context| {
            bind::want(args, 1, "delete' on 'URLSearchParams")?;
            let (name, value) = (bind::text(args, 0, context)?, bind::text_if_given(args, 1, context)?);
            change(this, |list| list.retain(|pair| !is(pair, &name, value.as_deref())))
        }),
        ("get", 1, |this, args, context| {
            bind::want(args, 1, "get' on 'URLSearchParams")?;
            let name = bind::text(args, 0, context)?;
            read(this, |list| {
                list.iter().find(|pair| pair.0 == name).map_or_else(JsValue::null, |(_, value)| bind::js(value))
            })
        }),
        ("getAll", 1, |this, args, context| {
            bind::want(args, 1, "getAll' on 'URLSearchParams")?;
            let name = bind::text(args, 0, context)?;
            let this = bind::this::<Params>(this)?;
            let values: Vec<JsValue> =
                this.borrow().data().list.iter().filter(|pair| pair.0 == name).map(|pair| bind::js(&pair.1)).collect();
            Ok(bind::array(values, context))
        }),
        ("has", 1, |this, args, context| {
            bind::want(args, 1, "has' on 'URLSearchParams")?;
            let (name, value) = (bind::text(args, 0, context)?, bind::text_if_given(args, 1, context)?);
            read(this, |list| list.iter().any(|pair| is(pair, &name, value.as_deref())).into())
        }),
        ("set", 2, |this, args, context| {
            bind::want(args, 2, "set' on 'URLSearchParams")?;
            let (name, value) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
            change(this, |list| match list.iter().position(|pair| pair.0 == name) {
                Some(place) => {
                    list[place].1 = value;
                    let mut at = 0;
                    list.retain(|pair| {
                        at += 1;
                        at - 1 <= place || pair.0 != name
                    });
                }
                None if list.len() < limits::PAIRS_MAX => list.push((name, value)),
                None => {}
            })
        }),
        ("sort", 0, |this, _, _| {
            // By UTF-16 code units, whose order differs from code points beyond the basic plane.
            change(this, |list| list.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16())))
        }),
        ("toString", 0, |this, _, _| Ok(bind::js(&bind::this::<Params>(this)?.borrow().data().text()))),
    ],
    attributes: &[("size", |this, _, _| read(this, |list| u32::try_from(list.len()).unwrap_or(u32::MAX).into()), None)],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(&PARAMS, context)?;
    pairs::install::<Params>(&prototype, "URLSearchParams", context)?;
    let prototype = bind::define(&URL, context)?;
    let constructor = prototype.get(js_string!("constructor"), context)?;
    let global = context.global_object();
    bind::hidden(&global, js_string!("webkitURL"), constructor, true, context)
}

/// Resolves a script's URL against the page's, as `fetch` and similar functions do.
///
/// # Errors
/// When it is invalid, or longer than a URL may be.
pub(super) fn resolve(text: &str, context: &Context) -> JsResult<Url> {
    let joined = realm::base(context).join(text);
    joined
        .ok()
        .filter(|url| url.as_str().len() <= limits::SCRIPT_URL_BYTES_MAX)
        .ok_or_else(|| bind::type_error(format!("Failed to parse URL from {}", page::cut(text, 200))))
}

/// URL Standard §6.1 "API URL parser" on the first two arguments.
fn parse(args: &[JsValue], context: &mut Context) -> JsResult<Result<Address, String>> {
    let text = bind::text(args, 0, context)?;
    let base = bind::text_if_given(args, 1, context)?;
    if text.len() > limits::SCRIPT_URL_BYTES_MAX {
        return Ok(Err("Invalid URL".to_owned()));
    }
    let parsed = match &base {
        None => Address::parse(&text, None),
        Some(base) => match Address::parse(base, None) {
            Some(base) => Address::parse(&text, Some(&base)),
            None => return Ok(Err("Invalid base URL".to_owned())),
        },
    };
    Ok(parsed.ok_or_else(|| "Invalid URL".to_owned()))
}

fn construct_url(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    bind::want(args, 1, "URL")?;
    let url = parse(args, context)?
        .map_err(|why| JsNativeError::typ().with_message(format!("Failed to construct 'URL': {why}")))?;
    let params = params_of(&url, context)?;
    let made = bind::construct(new_target, "URL", UrlData { url, params: params.clone() }, context)?;
    if let Some(object) = made.as_object() {
        own(&params, &object);
    }
    Ok(made)
}

fn params_of(url: &Address, context: &mut Context) -> JsResult<JsObject> {
    bind::object("URLSearchParams", Params { list: list_of(url), owner: None }, context)
}

fn list_of(url: &Address) -> Vec<(String, String)> {
    url.query_pairs().take(limits::PAIRS_MAX).map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn own(params: &JsObject, url: &JsObject) {
    if let Some(mut params) = params.downcast_mut::<Params>() {
        params.owner = Some(url.clone());
    }
}

fn href(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(bind::js(&bind::this::<UrlData>(this)?.borrow().data().url.href()))
}

fn set_href(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = bind::this::<UrlData>(this)?;
    let text = bind::text(args, 0, context)?;
    let url = Address::parse(&text, None)
        .ok_or_else(|| JsNativeError::typ().with_message("Failed to set the 'href' property on 'URL': Invalid URL"))?;
    this.borrow_mut().data_mut().url = url;
    renew_params(&this);
    Ok(JsValue::undefined())
}

fn set_search(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let this = bind::this::<UrlData>(this)?;
    let text = bind::text(args, 0, context)?;
    (address::SEARCH.set)(&mut this.borrow_mut().data_mut().url, &text);
    renew_params(&this);
    Ok(JsValue::undefined())
}

/// The query changed: parses its pairs again.
fn renew_params(url: &JsObject<UrlData>) {
    let url = url.borrow();
    if let Some(mut params) = url.data().params.downcast_mut::<Params>() {
        params.list = list_of(&url.data().url);
    }
}

fn read(this: &JsValue, what: impl FnOnce(&[(String, String)]) -> JsValue) -> JsResult<JsValue> {
    Ok(what(&bind::this::<Params>(this)?.borrow().data().list))
}

/// Changes the pairs, then the query of the URL that owns them (§6.2 "update").
fn change(this: &JsValue, what: impl FnOnce(&mut Vec<(String, String)>)) -> JsResult<JsValue> {
    let this = bind::this::<Params>(this)?;
    what(&mut this.borrow_mut().data_mut().list);
    let this = this.borrow();
    if let Some(mut owner) = this.data().owner.as_ref().and_then(|owner| owner.downcast_mut::<UrlData>()) {
        let query = this.data().text();
        owner.url.set_query((!query.is_empty()).then_some(&query));
    }
    Ok(JsValue::undefined())
}

fn is(pair: &(String, String), name: &str, value: Option<&str>) -> bool {
    pair.0 == name && value.is_none_or(|value| pair.1 == value)
}

fn construct_params(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let init = args.get_or_undefined(0);
    let list = match init.as_object() {
        _ if init.is_undefined() => Vec::new(),
        Some(object) if !object.is_callable() => {
            let mut list: Vec<(String, String)> = Vec::new();
            for (name, value) in bind::pairs(&object, limits::PAIRS_MAX, context)? {
                list.push((name.to_std_string_lossy(), value.to_std_string_lossy()));
            }
            list
        }
        _ => {
            let text = bind::text(args, 0, context)?;
            let text = text.strip_prefix('?').unwrap_or(&text);
            form_urlencoded::parse(text.as_bytes())
                .take(limits::PAIRS_MAX)
                .map(|(k, v)| (k.into_owned(), v.into_owned()))
                .collect()
        }
    };
    bind::construct(new_target, "URLSearchParams", Params { list, owner: None }, context)
}
