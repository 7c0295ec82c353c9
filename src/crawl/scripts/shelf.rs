//! Cache of a site's script requests, shared by its pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::robots::Robots;
use gleaner_render::wire as net;

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
    /// name of a file, or of a version that the server names, is only a version.
    pub(crate) fn keep(&self, url: &str, script: &net::Response, body: &[u8], now: UnixMillis) {
        let says = script.header("cache-control").unwrap_or_default().to_ascii_lowercase();
        let is_fleeting = ["no-store", "no-cache", "private", "max-age=0"].iter().any(|word| says.contains(word));
        let bytes = body.len() + url.len() + limits::SCRIPT_HEADERS_MAX * 100;
        let (path, query) = url.split_once('?').map_or((url, None), |(path, query)| (path, Some(query)));
        let is_file = [".js", ".mjs"].iter().any(|end| path.ends_with(end));
        let has_version = script.header("etag").or_else(|| script.header("last-modified")).is_some();
        let is_answer = query.is_some() && !is_file && !has_version;
        if is_fleeting || is_answer || bytes > limits::SCRIPTS_KEPT_BYTES_MAX / 4 {
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
        scripts.kept.insert(url.into(), (now.plus(limits::SCRIPTS_KEPT_FOR), kept, body));
    }
}
