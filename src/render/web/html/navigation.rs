//! Navigation by scripts (HTML §7.4.2). Within the page it takes place; any other URL is recorded as a link with its cause, and the page
//! continues as if the response were pending.
//!
//! This module never fetches anything and never leaves the page.

use std::cell::{Cell, RefCell};

use boa_engine::{Context, JsResult, JsValue, js_string};
use html5ever::local_name;
use percent_encoding::percent_decode_str;
use url::Url;

use super::frames::window::Target;
use super::{frames, history, windows};
use crate::dom::NodeId;
use crate::engine::{bind, events, jobs, page, realm, run_script, trace};
use crate::limits;
use crate::web::dom::document;
use crate::web::{of, own_document, read};
use crate::wire::trace::What;
use crate::wire::{How, Navigation};

/// All navigations in order, without duplicates; and the number of those that lead away from the page.
#[derive(Default)]
struct Navigations(RefCell<Vec<Navigation>>, Cell<usize>);

pub(crate) fn install(context: &mut Context) {
    realm::share(Navigations::default, context);
}

/// Navigates for a script or a reader: to a fragment of the page at once, to a `javascript:` URL in a task; other URLs are recorded.
/// `replace` does not add a history entry.
pub fn navigate(wanted: Navigation, replace: bool, context: &mut Context) {
    let Ok(url) = Url::parse(&wanted.url) else { return };
    match url.scheme() {
        "javascript" => {
            jobs::post(context, 0, move |context| {
                run_address(&url, context);
                Ok(())
            });
        }
        _ if is_within(&wanted, &url, context) => to_fragment(url, replace, context),
        _ => match windows::own_frame(context).filter(|_| wanted.how != How::Window) {
            Some(frame) if wanted.method == "GET" => frames::navigate(frame, url, context),
            None if matches!(url.scheme(), "about" | "data" | "blob") => {}
            _ => record_anew(wanted, context),
        },
    }
}

/// Records that the page wants to be reloaded, as a navigation to its own URL. Frames stay as they are.
pub(crate) fn reload(context: &Context) {
    let mut url = realm::address(context);
    if windows::own_frame(context).is_none() && matches!(url.scheme(), "http" | "https") {
        url.set_fragment(None);
        record_anew(Navigation::get(url, How::Location), context);
    }
}

/// Runs the script of a `javascript:` URL.
pub(crate) fn run_address(url: &Url, context: &mut Context) {
    let text = percent_decode_str(url.as_str().trim_start_matches("javascript:"));
    run_script(&text.decode_utf8_lossy(), "javascript:", context);
}

/// The URLs that the page has tried to navigate to, without the `first` ones.
pub fn taken_since(first: usize, context: &Context) -> Vec<Navigation> {
    let all = context.get_data::<Navigations>();
    all.and_then(|all| Some(all.0.borrow().get(first..)?.to_vec())).unwrap_or_default()
}

/// The number of navigations to another page; a reload shows a reader nothing new.
pub(crate) fn count(context: &Context) -> usize {
    context.get_data::<Navigations>().map(|all| all.1.get()).unwrap_or_default()
}

/// Records a URL that the page tried to navigate to.
pub(crate) fn record(wanted: Navigation, context: &Context) {
    put(wanted, true, context);
}

/// The same for a URL that may be the page's own, which means a reload.
fn record_anew(wanted: Navigation, context: &Context) {
    let own = realm::address(context);
    let is_own = wanted.method == "GET" && wanted.url.split('#').next() == Some(without_fragment(&own));
    put(wanted, !is_own, context);
}

fn put(wanted: Navigation, is_elsewhere: bool, context: &Context) {
    let Some(Navigations(all, elsewhere)) = context.get_data::<Navigations>() else { return };
    let mut all = all.borrow_mut();
    if all.len() < limits::RENDER_NAVIGATIONS_MAX && !all.contains(&wanted) {
        page::of(context).borrow_mut().note(|| What::Navigation {
            how: wanted.how.name().to_owned(),
            method: trace::told(&wanted.method),
            url: trace::told(&wanted.url),
        });
        elsewhere.set(elsewhere.get() + usize::from(is_elsewhere));
        all.push(wanted);
    }
}

/// Whether only the fragment of the URL differs (HTML §7.4.2.2 step 15).
fn is_within(wanted: &Navigation, url: &Url, context: &Context) -> bool {
    wanted.method == "GET"
        && wanted.how != How::Window
        && url.fragment().is_some()
        && without_fragment(url) == without_fragment(&realm::address(context))
}

fn without_fragment(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}

/// "Navigate to a fragment" (HTML §7.4.2.3.3).
fn to_fragment(url: Url, replace: bool, context: &mut Context) {
    let old = realm::address(context);
    let same = old == url;
    history::enter(url.clone(), JsValue::null(), replace || same, context);
    let document = own_document(context);
    indicate(document, &url, context);
    if !same {
        tell_fragment(&old, &url, JsValue::null(), context);
    }
}

/// "The indicated part of the document" (HTML §7.4.6.3): `:target` is the element that the fragment names.
pub(crate) fn indicate(document: NodeId, url: &Url, context: &Context) {
    let web = of(context);
    let tree = &mut web.borrow_mut().tree;
    let fragment = url.fragment().map(|text| percent_decode_str(text).decode_utf8_lossy().into_owned());
    let named = fragment.filter(|text| !text.is_empty()).and_then(|text| tree.element_by_id(document, &text));
    if named.is_some() || tree.target.is_some_and(|old| tree.document_of(old) == document) {
        tree.target = named;
    }
}

/// Fires `popstate` at once and `hashchange` in a task, as for a navigation within the page.
pub(crate) fn tell_fragment(old: &Url, new: &Url, state: JsValue, context: &mut Context) {
    let window = realm::window(context);
    events::fire(&window, "PopStateEvent", "popstate", (false, false), &[("state", state)], context);
    if old.fragment() == new.fragment() {
        return;
    }
    let (old, new) = (js_string!(old.as_str()), js_string!(new.as_str()));
    jobs::post(context, 0, move |context| {
        let window = realm::window(context);
        let members = [("oldURL", old.into()), ("newURL", new.into())];
        events::fire(&window, "HashChangeEvent", "hashchange", (false, false), &members, context);
        Ok(())
    });
}

/// `window.open`: the URL is recorded as a link and no window opens, unless it names an existing one.
pub(crate) fn open(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = bind::text_if_given(args, 0, context)?.unwrap_or_default();
    let document = own_document(context);
    let name = bind::text_if_given(args, 1, context)?.unwrap_or_default();
    let address = document::base_url(document, context).join(&text).ok().filter(|_| !text.is_empty());
    let go = |how: How, context: &mut Context| {
        if let Some(url) = address.clone() {
            navigate(Navigation::get(url, how), false, context);
        }
    };
    match frames::window::chosen(&name, context) {
        Target::Own if !name.is_empty() => {
            go(How::Location, context);
            Ok(realm::window(context).into())
        }
        Target::Page => realm::in_page(context, |context| {
            go(How::Location, context);
            Ok(realm::window(context).into())
        }),
        Target::Frame(frame) => {
            if let Some(url) = address.clone() {
                frames::navigate(frame, url, context);
            }
            go(How::Window, context);
            frames::window_of(frame, context)
        }
        Target::Own | Target::New => {
            go(How::Window, context);
            Ok(JsValue::null())
        }
    }
}

/// Records the target of a `<meta http-equiv=refresh>` inserted into the document (HTML §4.2.5.3). A fragment is not followed, so the
/// reader stays in place.
pub(crate) fn follow_meta(meta: NodeId, context: &mut Context) {
    let content = read(context, |tree| {
        let is_refresh = tree.attribute(meta, &local_name!("http-equiv"))?.eq_ignore_ascii_case("refresh");
        tree.attribute(meta, &local_name!("content")).filter(|_| is_refresh).map(str::to_owned)
    });
    let Some(target) = content.as_deref().and_then(refresh_target) else { return };
    if let Ok(url) = document::base_url(meta, context).join(target)
        && matches!(url.scheme(), "http" | "https")
    {
        record_anew(Navigation::get(url, How::Meta), context);
    }
}

/// The URL in `5; url=next.html`; `None` if the page only reloads itself.
fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let rest = after_time.trim_start().trim_start_matches([';', ',']).trim_start();
    let named = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("url"));
    let rest = match named.and_then(|_| rest[3..].trim_start().strip_prefix('=')) {
        Some(rest) => rest.trim_start(),
        None => rest,
    };
    let address = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next().unwrap_or_default(),
        _ => rest.trim_end(),
    };
    (!address.is_empty()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::refresh_target;

    #[test]
    fn a_refresh_names_its_address_in_many_ways() {
        for (content, wanted) in [
            ("5; url=next.html", Some("next.html")),
            ("0;URL='a b.html'", Some("a b.html")),
            ("1.5, next.html", Some("next.html")),
            ("0; url = \"x\" y", Some("x")),
            ("30", None),
            ("30;", None),
            ("url=x", None),
        ] {
            assert_eq!(refresh_target(content), wanted, "{content}");
        }
    }
}
