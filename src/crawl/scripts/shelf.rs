//! Cache of a site's script requests, shared by its pages.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::robots::Robots;
use gleaner_render::wire::{self as net, Asker};

/// By origin, the rules of its robots.txt and until when they are valid.
type RobotsUntil = HashMap<Box<str>, (UnixMillis, Arc<Robots>)>;

/// The shared cache of a site's pages: the rules of hosts that only scripts request, and scripts that many pages have.
#[derive(Default)]
pub struct SharedCache {
    robots: Mutex<RobotsUntil>,
    scripts: Mutex<Scripts>,
}

/// Scripts by their addresses, each for `limits::SCRIPTS_KEPT_FOR`; all are dropped when they become too many. Bodies are stored
/// separately.
#[derive(Default)]
struct Scripts {
    kept: HashMap<Box<str>, (UnixMillis, net::Response, Bytes)>,
    bytes: usize,
}

/// What a response to a request is kept under, if it may be. Bodies of images are not read, so they are no other kind's.
fn name_of(request: &net::Request) -> Option<Cow<'_, str>> {
    match request.asker {
        _ if request.method != "GET" => None,
        Asker::Script | Asker::Module | Asker::Style => Some(Cow::Borrowed(&request.url)),
        Asker::Image => Some(Cow::Owned(format!("image {}", request.url))),
        _ => None,
    }
}

impl SharedCache {
    /// The rules of an origin that only scripts request, while they are valid.
    pub(super) fn robots(&self, origin: &str, now: UnixMillis) -> Option<Arc<Robots>> {
        let known = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(origin).filter(|(until, _)| *until > now).map(|(_, robots)| Arc::clone(robots))
    }

    pub(super) fn keep_robots(&self, origin: &str, until: UnixMillis, robots: &Arc<Robots>) {
        let mut known = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= limits::ORIGINS_PER_SITE_MAX {
            known.clear();
        }
        known.insert(origin.into(), (until, Arc::clone(robots)));
    }

    fn scripts(&self) -> MutexGuard<'_, Scripts> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached response to a request, with its body separate.
    pub(super) fn kept(&self, request: &net::Request, now: UnixMillis) -> Option<(net::Response, Bytes)> {
        self.script(&name_of(request)?, now)
    }

    /// A cached script, with its body separate.
    pub(crate) fn script(&self, url: &str, now: UnixMillis) -> Option<(net::Response, Bytes)> {
        let scripts = self.scripts();
        let (until, script, body) = scripts.kept.get(url)?;
        (*until > now).then(|| (script.clone(), body.clone()))
    }

    /// Drops the cached scripts: a page has shown nothing with them.
    pub(crate) fn forget_scripts(&self) {
        *self.scripts() = Scripts::default();
    }

    /// Caches a script for the next pages, unless its `Cache-Control` forbids that, or it is the answer to a query: a query behind the
    /// name of a file, or of a version that the server names, is only a version. One that is missing is missing on the next page, too; so
    /// is a sheet or an image that is refused, whatever its headers say.
    pub(crate) fn keep(&self, request: &net::Request, script: &net::Response, body: &[u8], now: UnixMillis) {
        let Some(name) = name_of(request) else { return };
        let is_decoration = request.asker.is_decoration();
        let is_refused = is_decoration && matches!(script.status, 400..=407 | 409..=424 | 426..=428 | 431..=499);
        if !matches!(script.status, 200 | 404 | 410) && !is_refused {
            return;
        }
        let says = script.header("cache-control").unwrap_or_default().to_ascii_lowercase();
        let is_fleeting = ["no-store", "no-cache", "private", "max-age=0"].iter().any(|word| says.contains(word));
        let bytes = body.len() + name.len() + limits::SCRIPT_HEADERS_MAX * 100;
        let (path, query) =
            request.url.split_once('?').map_or((&*request.url, None), |(path, query)| (path, Some(query)));
        let is_file = [".js", ".mjs", ".css"].iter().any(|end| path.ends_with(end));
        let has_version = script.header("etag").or_else(|| script.header("last-modified")).is_some();
        let is_answer = query.is_some() && !is_file && !has_version;
        // Of an image only its status counts.
        let holds = is_refused || request.asker == Asker::Image;
        if !holds && (is_fleeting || is_answer) || bytes > limits::SCRIPTS_KEPT_BYTES_MAX / 4 {
            return;
        }
        let mut scripts = self.scripts();
        if scripts.bytes + bytes > limits::SCRIPTS_KEPT_BYTES_MAX {
            *scripts = Scripts::default();
        }
        scripts.bytes += bytes;
        let net::Response { url: of_url, redirected, status, status_text, headers, .. } = script;
        let (of_url, status_text, headers) = (of_url.clone(), status_text.clone(), headers.clone());
        let (redirected, status) = (*redirected, *status);
        let kept = net::Response { url: of_url, redirected, status, status_text, headers, ..net::Response::default() };
        // A copy: the original holds a share of the memory allowance.
        let body = Bytes::copy_from_slice(body);
        scripts.kept.insert(name.into_owned().into_boxed_str(), (now.plus(limits::SCRIPTS_KEPT_FOR), kept, body));
    }
}
