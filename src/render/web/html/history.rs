//! `History` (HTML §7.2.5): the entries of navigations within the page. Traversal stays within the page; there are no entries before or
//! after it.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use url::Url;

use super::navigation;
use crate::engine::{bind, clone, exception, jobs, realm};
use crate::limits;
use crate::web::dom::document;
use crate::web::own_document;

/// The entries, and the index of the current one.
#[derive(Trace, Finalize, JsData)]
struct History {
    entries: Vec<Entry>,
    #[unsafe_ignore_trace]
    at: usize,
    #[unsafe_ignore_trace]
    scroll: String,
}

#[derive(Clone, Trace, Finalize)]
struct Entry {
    #[unsafe_ignore_trace]
    url: Url,
    state: JsValue,
}

/// The page's single history.
struct PageHistory(JsObject<History>);

const HISTORY: bind::Interface = bind::Interface {
    name: "History",
    methods: &[
        ("pushState", 2, |this, args, context| set_state(this, args, false, context)),
        ("replaceState", 2, |this, args, context| set_state(this, args, true, context)),
        ("go", 0, |this, args, context| {
            bind::this::<History>(this)?;
            let by = args.get_or_undefined(0).to_i32(context)?;
            go(by, context);
            Ok(JsValue::undefined())
        }),
        ("back", 0, |this, _, context| {
            bind::this::<History>(this)?;
            go(-1, context);
            Ok(JsValue::undefined())
        }),
        ("forward", 0, |this, _, context| {
            bind::this::<History>(this)?;
            go(1, context);
            Ok(JsValue::undefined())
        }),
    ],
    attributes: &[
        (
            "length",
            |this, _, _| {
                let count = bind::this::<History>(this)?.borrow().data().entries.len();
                Ok(u32::try_from(count).unwrap_or(u32::MAX).into())
            },
            None,
        ),
        (
            "state",
            |this, _, _| {
                let history = bind::this::<History>(this)?;
                let history = history.borrow();
                Ok(history.data().entries[history.data().at].state.clone())
            },
            None,
        ),
        (
            "scrollRestoration",
            |this, _, _| Ok(bind::js(&bind::this::<History>(this)?.borrow().data().scroll)),
            Some(|this, args, context| {
                let history = bind::this::<History>(this)?;
                let word = bind::text(args, 0, context)?;
                if word == "auto" || word == "manual" {
                    history.borrow_mut().data_mut().scroll = word;
                }
                Ok(JsValue::undefined())
            }),
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&HISTORY, context)?;
    let url = realm::address(context);
    let first = Entry { url, state: JsValue::null() };
    let data = History { entries: vec![first], at: 0, scroll: "auto".to_owned() };
    let object = bind::object("History", data, context)?;
    let own = object.downcast::<History>().map_err(|_| bind::type_error("Illegal invocation"))?;
    realm::keep(PageHistory(own), context);
    let attribute: bind::Attribute = (
        "history",
        |_, _, context| Ok(own_of(context).map_or_else(JsValue::undefined, |own| own.upcast().into())),
        None,
    );
    let global = context.global_object();
    bind::attributes(&global, &[attribute], context)
}

fn own_of(context: &Context) -> Option<JsObject<History>> {
    realm::own::<PageHistory>(context).map(|own| own.0.clone())
}

/// Resets the window's history to its current document.
pub(crate) fn begin(url: Url, context: &Context) {
    realm::move_to(url.clone(), context);
    let Some(own) = own_of(context) else { return };
    let mut history = own.borrow_mut();
    let history = history.data_mut();
    (history.entries, history.at) = (vec![Entry { url, state: JsValue::null() }], 0);
}

/// Makes a URL of the page the current entry: a new one, or a replacement of the current one.
pub(crate) fn enter(url: Url, state: JsValue, replace: bool, context: &mut Context) {
    realm::move_to(url.clone(), context);
    let Some(own) = own_of(context) else { return };
    let mut history = own.borrow_mut();
    let history = history.data_mut();
    let entry = Entry { url, state };
    if replace {
        history.entries[history.at] = entry;
        return;
    }
    history.entries.truncate(history.at + 1);
    if history.entries.len() == limits::RENDER_HISTORY_MAX {
        history.entries.remove(0);
    }
    history.entries.push(entry);
    history.at = history.entries.len() - 1;
}

/// "Shared history push/replace state steps" (HTML §7.2.5).
fn set_state(this: &JsValue, args: &[JsValue], replace: bool, context: &mut Context) -> JsResult<JsValue> {
    let history = bind::this::<History>(this)?;
    bind::want(args, 2, if replace { "replaceState' on 'History" } else { "pushState' on 'History" })?;
    let address = match args.get_or_undefined(2) {
        value if value.is_null_or_undefined() => None,
        _ => Some(bind::text(args, 2, context)?),
    };
    let state = clone::structured(args.get_or_undefined(0), context)?;
    let current = realm::address(context);
    let url = match address {
        None => current,
        Some(address) => {
            let document = own_document(context);
            let joined = document::base_url(document, context).join(&address).ok();
            let allowed = joined.filter(|url| can_be_rewritten(&current, url));
            allowed.ok_or_else(|| {
                let message =
                    format!("A history state object with URL '{address}' cannot be created in this document.");
                exception::error("SecurityError", &message, context)
            })?
        }
    };
    drop(history);
    enter(url, state, replace, context);
    Ok(JsValue::undefined())
}

/// "Can have its URL rewritten" (HTML §7.2.5): path, query and fragment for web pages; less for other URLs.
fn can_be_rewritten(from: &Url, to: &Url) -> bool {
    let place = |url: &Url| {
        let port = url.port_or_known_default();
        (
            url.scheme().to_owned(),
            url.username().to_owned(),
            url.password().map(str::to_owned),
            url.host_str().map(str::to_owned),
            port,
        )
    };
    let is_web = matches!(to.scheme(), "http" | "https");
    place(from) == place(to) && (is_web || from.path() == to.path())
}

/// Traverses the history in a task. A missing entry changes nothing.
pub fn go(by: i32, context: &mut Context) {
    jobs::post(context, 0, move |context| {
        let Some(own) = own_of(context) else { return Ok(()) };
        let entry = {
            let mut history = own.borrow_mut();
            let history = history.data_mut();
            let target = i64::try_from(history.at).unwrap_or(0) + i64::from(by);
            let Some(target) = usize::try_from(target).ok().filter(|target| *target < history.entries.len()) else {
                return Ok(());
            };
            if target == history.at {
                return Ok(());
            }
            history.at = target;
            history.entries[target].clone()
        };
        let old = realm::move_to(entry.url.clone(), context);
        navigation::tell_fragment(&old, &entry.url, entry.state.clone(), context);
        Ok(())
    });
}
