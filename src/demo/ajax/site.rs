//! The sections without their socket: a request in, a response out. Requests that only scripts should send are refused from other clients.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};

use super::section::{LIBRARY, PAGE, SCRIPT, SCRIPTS, Section};
use super::shelf::AjaxCatalogue;
use crate::answer::Parameters;
use crate::limits::DEMO_SESSIONS_MAX;
use crate::random::mix;
use crate::site::COOKIE;

/// Number of responses for which a bearer token is valid.
const BEARER_USES: u32 = 6;

/// Content type of data.
const JSON: &str = "application/json";

/// The relevant parts of a request.
pub(super) struct Ask<'a> {
    pub is_post: bool,
    pub path: &'a str,
    pub query: &'a str,
    pub cookies: &'a str,
    pub requested_with: Option<&'a str>,
    pub csrf: Option<&'a str>,
    pub bearer: Option<&'a str>,
}

/// The response.
pub(super) struct Reply {
    kind: Kind,
    pub status: u16,
    pub content_type: &'static str,
    pub cookie: Option<String>,
    pub body: Vec<u8>,
}

/// Kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Page,
    Script,
    Data,
    Download,
    /// `robots.txt`, and an expired bearer token: a correct crawl makes these, too.
    Other,
    /// There is nothing at this address, or the request was not allowed.
    Refused,
}

/// Counts of the requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AjaxLog {
    pub pages: u64,
    pub scripts: u64,
    /// Data requests, which only scripts make.
    pub data: u64,
    pub downloads: u64,
    /// Requests for missing addresses, or that no script of the site would make.
    pub refused: u64,
    pub requests: u64,
}

#[derive(Default)]
struct AjaxState {
    log: AjaxLog,
    /// Remaining responses of each bearer token.
    bearers: HashMap<String, u32>,
}

pub(super) struct Site {
    pub origin: String,
    pub shelf: AjaxCatalogue,
    seed: u64,
    library: Option<String>,
    state: Mutex<AjaxState>,
}

impl Site {
    pub(super) fn new(origin: String, shelf: AjaxCatalogue, seed: u64, library: Option<String>) -> Self {
        Self { origin, shelf, seed, library, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, AjaxState> {
        // Counts are consistent at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn log(&self) -> AjaxLog {
        self.state().log
    }

    /// Answers one request and logs it.
    pub(super) fn answer(&self, ask: &Ask<'_>) -> Reply {
        let view = {
            let mut state = self.state();
            state.log.requests += 1;
            state.log.requests
        };
        let reply = self.find(ask, view).unwrap_or_else(|| refused(404));
        let mut state = self.state();
        let log = &mut state.log;
        match reply.kind {
            Kind::Page => log.pages += 1,
            Kind::Script => log.scripts += 1,
            Kind::Data => log.data += 1,
            Kind::Download => log.downloads += 1,
            Kind::Refused => log.refused += 1,
            Kind::Other => {}
        }
        reply
    }

    /// None if there is nothing at this address.
    fn find(&self, ask: &Ask<'_>, view: u64) -> Option<Reply> {
        if ask.is_post && ask.path != "/token/api/session" {
            return Some(refused(405));
        }
        let parameters = Parameters::read(ask.query);
        if let Some((_, script)) = SCRIPTS.iter().find(|(path, _)| *path == ask.path) {
            let library = self.library.as_deref().filter(|_| ask.path == LIBRARY);
            return Some(reply(Kind::Script, SCRIPT, library.unwrap_or(script)));
        }
        match ask.path {
            "/robots.txt" => return Some(reply(Kind::Other, "text/plain", "User-agent: *\nDisallow: /admin/\n")),
            "/" => return Some(reply(Kind::Page, PAGE, self.home())),
            "/dl" => return self.download(&parameters),
            _ => {}
        }
        let (folder, rest) = ask.path.strip_prefix('/')?.split_once('/')?;
        let section = Section::named(folder).filter(|section| self.shelf.pages(*section) > 0)?;
        match section {
            Section::Xhr if rest == "rows" => self.xhr_rows(ask, &parameters, view),
            Section::Jquery if rest == "config.json" => Some(data(&json!({ "count": self.shelf.per_page }))),
            Section::Jquery if rest == "list.json" => self.jquery_list(ask, &parameters, view),
            Section::Spa if rest.starts_with("api/") => self.spa_api(&rest["api/".len()..], &parameters, view),
            Section::Scroll if rest == "feed" => self.scroll_feed(&parameters, view),
            Section::Token if rest.starts_with("api/") => self.token_api(ask, &rest["api/".len()..], &parameters, view),
            _ => self.shell(section, rest, &parameters, view),
        }
    }

    fn home(&self) -> String {
        let links = self.shelf.sections().map(|section| format!("<li><a href=\"/{0}/\">{0}</a>\n", section.name()));
        include_str!("web/home.html").replace("<!--sections-->\n", &links.collect::<String>())
    }

    /// A page without its scripts' content.
    fn shell(&self, section: Section, rest: &str, parameters: &Parameters, view: u64) -> Option<Reply> {
        let is_here = match section {
            Section::Xhr => rest.is_empty() && self.shelf.rows(section, self.start_of_page(parameters)?).is_some(),
            Section::Jquery => rest.is_empty() && self.shelf.rows(section, start(parameters)?).is_some(),
            Section::Spa => match rest.split_once('/') {
                None => rest.is_empty(),
                Some(("page", number)) => (1..=self.shelf.pages(section)).contains(&number.parse().ok()?),
                Some(("torrent", id)) => self.shelf.of_section(section, id.parse().ok()?).is_some(),
                Some(_) => false,
            },
            Section::Scroll | Section::Token => rest.is_empty(),
        };
        if !is_here {
            return None;
        }
        let mut page = reply(Kind::Page, PAGE, section.shell());
        if section == Section::Token {
            let sid = format!("{:016x}", mix(self.seed ^ 0x51d, view));
            page.body = section.shell().replace("<!--token-->", &self.csrf_of(&sid)).into_bytes();
            page.cookie = Some(format!("{COOKIE}={sid}; Path=/token/; HttpOnly; SameSite=Lax"));
        }
        Some(page)
    }

    fn start_of_page(&self, parameters: &Parameters) -> Option<usize> {
        parameters.page()?.checked_sub(1)?.checked_mul(self.shelf.per_page)
    }

    /// Rows as the sections' scripts read them.
    fn rows(&self, places: std::ops::Range<usize>, view: u64) -> Vec<Value> {
        let row = |place: usize| {
            let torrent = self.shelf.at(place)?;
            let get = self.shelf.download(place, view);
            Some(json!({ "id": place, "title": torrent.title, "size": torrent.size(), "get": get }))
        };
        places.filter_map(row).collect()
    }

    /// The rows of a page of data; an empty range directly after the last, as APIs answer there.
    fn rows_or_end(&self, section: Section, start: usize) -> Option<std::ops::Range<usize>> {
        let is_end = start > 0 && start == self.shelf.pages(section) * self.shelf.per_page;
        if is_end { Some(0..0) } else { self.shelf.rows(section, start) }
    }

    fn xhr_rows(&self, ask: &Ask<'_>, parameters: &Parameters, view: u64) -> Option<Reply> {
        if ask.requested_with != Some("XMLHttpRequest") {
            return Some(refused(403));
        }
        let places = self.rows_or_end(Section::Xhr, self.start_of_page(parameters)?)?;
        Some(data(&json!({ "rows": self.rows(places, view), "pages": self.shelf.pages(Section::Xhr) })))
    }

    fn jquery_list(&self, ask: &Ask<'_>, parameters: &Parameters, view: u64) -> Option<Reply> {
        let count: usize = parameters.text("count")?.parse().ok()?;
        if ask.requested_with != Some("XMLHttpRequest") || count != self.shelf.per_page {
            return Some(refused(403));
        }
        let places = self.rows_or_end(Section::Jquery, start(parameters)?)?;
        let total = self.shelf.pages(Section::Jquery) * self.shelf.per_page;
        Some(data(&json!({ "rows": self.rows(places, view), "total": total })))
    }

    fn spa_api(&self, rest: &str, parameters: &Parameters, view: u64) -> Option<Reply> {
        let section = Section::Spa;
        let Some(id) = rest.strip_prefix("torrents/") else {
            let places = (rest == "torrents").then(|| self.rows_or_end(section, self.start_of_page(parameters)?))??;
            let rows = places.filter_map(|place| {
                let torrent = self.shelf.at(place)?;
                Some(json!({ "id": place, "title": torrent.title, "size": torrent.size() }))
            });
            return Some(data(&json!({ "items": rows.collect::<Vec<_>>(), "pages": self.shelf.pages(section) })));
        };
        let place = id.parse().ok()?;
        let torrent = self.shelf.of_section(section, place)?;
        Some(data(&json!({
            "title": torrent.title,
            "size": torrent.size(),
            "files": torrent.files(),
            "download": self.shelf.download(place, view),
        })))
    }

    fn scroll_feed(&self, parameters: &Parameters, view: u64) -> Option<Reply> {
        let cursor = parameters.get("cursor").unwrap_or_default();
        let start = match cursor {
            b"" => 0,
            _ => String::from_utf8(BASE64URL_NOPAD.decode(cursor).ok()?).ok()?.strip_prefix("after:")?.parse().ok()?,
        };
        let section = Section::Scroll;
        let places = self.shelf.rows(section, start)?;
        let next = start + self.shelf.per_page;
        let next = self.shelf.rows(section, next).filter(|rows| !rows.is_empty());
        let next = next.map(|_| BASE64URL_NOPAD.encode(format!("after:{}", start + self.shelf.per_page).as_bytes()));
        Some(data(&json!({ "items": self.rows(places, view), "next": next })))
    }

    /// The CSRF token in a page that was sent with this session.
    fn csrf_of(&self, sid: &str) -> String {
        let number = sid.bytes().fold(self.seed, |number, byte| mix(number, u64::from(byte)));
        format!("{number:016x}")
    }

    fn token_api(&self, ask: &Ask<'_>, rest: &str, parameters: &Parameters, view: u64) -> Option<Reply> {
        match rest {
            "session" => {
                let pairs = ask.cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
                let is_own = pairs
                    .filter(|(name, _)| *name == COOKIE)
                    .any(|(_, sid)| ask.csrf == Some(self.csrf_of(sid).as_str()));
                if !ask.is_post || !is_own {
                    return Some(refused(403));
                }
                let bearer = format!("{:016x}", mix(self.seed ^ 0xbea, view));
                let mut state = self.state();
                if state.bearers.len() >= DEMO_SESSIONS_MAX {
                    state.bearers.clear();
                }
                state.bearers.insert(bearer.clone(), BEARER_USES);
                Some(data(&json!({ "access_token": bearer, "token_type": "Bearer", "uses": BEARER_USES })))
            }
            "list" => {
                {
                    let mut state = self.state();
                    match ask.bearer.and_then(|bearer| state.bearers.get_mut(bearer)) {
                        None => return Some(refused(403)),
                        // An expired one makes the script request another.
                        Some(0) => return Some(Reply { kind: Kind::Other, ..refused(401) }),
                        Some(uses) => *uses -= 1,
                    }
                }
                let places = self.shelf.rows(Section::Token, self.start_of_page(parameters)?)?;
                Some(data(&json!({ "rows": self.rows(places, view), "pages": self.shelf.pages(Section::Token) })))
            }
            _ => None,
        }
    }

    fn download(&self, parameters: &Parameters) -> Option<Reply> {
        let place = self.shelf.of_token(parameters.get("t")?)?;
        Some(reply(Kind::Download, "application/x-bittorrent", self.shelf.metainfo(place, &self.origin)))
    }
}

/// `start`, zero if it is missing; None if it is no number.
fn start(parameters: &Parameters) -> Option<usize> {
    parameters.get("start").map_or(Some(0), |_| parameters.text("start")?.parse().ok())
}

fn reply(kind: Kind, content_type: &'static str, body: impl Into<Vec<u8>>) -> Reply {
    Reply { kind, status: 200, content_type, cookie: None, body: body.into() }
}

fn data(value: &Value) -> Reply {
    reply(Kind::Data, JSON, value.to_string())
}

fn refused(status: u16) -> Reply {
    Reply { status, ..reply(Kind::Refused, JSON, "{\"error\":\"refused\"}") }
}

#[cfg(test)]
mod tests;
