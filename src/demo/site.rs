//! The site without its socket: a request in, a response out. Everything follows from the catalogue and from the
//! number of the view; there is no clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::answer::{Answer, Ask, Parameters, download};
use super::catalogue::{Catalogue, Item, Listing};
use super::delivery::Area;
use super::escape::slug;
use super::log::{Kind, Recorder};
use super::random::{Random, mix};
use super::truth::{Fate, Truth};
use super::view::{BAIT_FIRST, View, detail_path};
use super::{gbk, links, listing_page, traps};
use gleaner_torrent::Infohashes;

/// Name of the session's cookie.
pub(super) const COOKIE: &str = "demo_sid";

/// Parameters that change nothing about a page.
const NOISE: [&str; 4] = ["sort", "order", "from", "copy"];

const ROBOTS: &str = "# The demo tracker\nUser-agent: *\nDisallow: /private/\nDisallow: /search\nDisallow: /ads/\n\
    Disallow: /*?view=print$\nDisallow: /*?view=print&\n\nUser-agent: BadBot\nDisallow: /\n";

/// The whole site.
pub(super) struct Site {
    pub origin: String,
    pub recorder: Recorder,
    catalogue: RwLock<Catalogue>,
    truth: RwLock<Arc<Truth>>,
    views: AtomicU64,
    seed: u64,
    /// Each n-th request is answered 503; 0 for none.
    fail_every: u64,
}

impl Site {
    pub(super) fn new(origin: String, seed: u64, torrents: usize, fail_every: u64) -> Self {
        let catalogue = Catalogue::new(seed, torrents);
        Self {
            origin,
            recorder: Recorder::default(),
            truth: RwLock::new(Arc::new(catalogue.truth())),
            catalogue: RwLock::new(catalogue),
            views: AtomicU64::new(0),
            seed,
            fail_every,
        }
    }

    pub(super) fn truth(&self) -> Arc<Truth> {
        Arc::clone(&self.truth.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn publish(&self, count: usize) -> Vec<Infohashes> {
        let mut catalogue = self.catalogue.write().unwrap_or_else(PoisonError::into_inner);
        let published = catalogue.publish(count);
        *self.truth.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue.truth());
        published
    }

    fn catalogue(&self) -> RwLockReadGuard<'_, Catalogue> {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request and logs it.
    pub(super) fn answer(&self, is_get: bool, ask: &Ask<'_>) -> Answer {
        let number = self.views.fetch_add(1, Ordering::Relaxed) + 1;
        let parameters = Parameters::read(ask.query);
        let mut answer = if is_get {
            self.route(ask, &parameters, number)
        } else {
            Answer { status: 405, ..Answer::not_found(Kind::Method) }
        };
        if ask.host.is_some() && ask.host != self.origin.strip_prefix("http://") {
            answer.kind = Kind::OtherHost;
        }
        let fails = number.checked_rem(self.fail_every) == Some(0);
        if fails {
            let kind = answer.kind;
            answer = Answer { status: 503, ..Answer::page(kind, "<h1>Service unavailable</h1>\n") };
        }
        let path = if ask.query.is_empty() { ask.path.to_owned() } else { format!("{}?{}", ask.path, ask.query) };
        self.recorder.record(answer.kind, &path, parameters.sid.is_some(), fails);
        answer
    }

    fn route(&self, ask: &Ask<'_>, parameters: &Parameters, number: u64) -> Answer {
        if ask.path == "/robots.txt" {
            return Answer::page(Kind::Robots, ROBOTS).with_content_type("text/plain");
        }
        let catalogue = self.catalogue();
        let mut random = Random::new(mix(self.seed ^ 0x0071_e300, number));
        let sid = match &parameters.sid {
            _ if ask.has_cookie => None,
            // A session named in the URL continues; any other request without cookie begins one.
            Some(sid) if sid.len() == 32 && sid.bytes().all(|byte| byte.is_ascii_hexdigit()) => Some(sid.clone()),
            _ => Some(format!("{:016x}{:016x}", random.number(), random.number())),
        };
        let mut view = View { origin: &self.origin, catalogue: &catalogue, sid, number, random };
        let mut answer = self.find(ask, parameters, &mut view);
        if let Some(sid) = view.sid.filter(|_| answer.content_type.is_some_and(|name| name.starts_with("text/html"))) {
            answer.headers.push(("set-cookie", format!("{COOKIE}={sid}; path=/; HttpOnly; SameSite=Lax")));
        }
        answer
    }

    fn find(&self, ask: &Ask<'_>, parameters: &Parameters, view: &mut View<'_>) -> Answer {
        let mut folders = ask.path.trim_start_matches('/').splitn(2, '/');
        let (first, rest) = (folders.next().unwrap_or_default(), folders.next());
        match (first, rest) {
            ("", None) => {
                let page = parameters.page().and_then(|page| listing_page::main_index(view, page));
                list(parameters, &["page"], page)
            }
            ("cat", Some(name)) => {
                let page = parameters.page().and_then(|page| listing_page::category(view, name, page));
                list(parameters, &["page"], page)
            }
            ("archive", Some("")) => list(parameters, &[], Some(listing_page::archive(view))),
            ("details", Some(name)) => detail(parameters, view, name),
            ("t", Some(id)) => old_address(parameters, view, id),
            ("old", Some(rest)) => match rest.strip_prefix("t/") {
                Some(id) => old_address(parameters, view, id),
                None => Answer::not_found(Kind::Unknown),
            },
            ("dl", None) => self.token_download(ask, parameters, view.catalogue, "t", &[Area::Main, Area::Archive]),
            ("gbk", Some(page)) => self.gbk(ask, parameters, view, page),
            ("private", Some(page)) => self.private(ask, parameters, view, page),
            _ => trap(parameters, view, first, rest),
        }
    }

    /// A download by token, for a listing in one of these areas.
    fn token_download(
        &self,
        ask: &Ask<'_>,
        parameters: &Parameters,
        catalogue: &Catalogue,
        name: &str,
        areas: &[Area],
    ) -> Answer {
        let found = parameters.get(name).and_then(|token| listing_of_token(catalogue, token));
        let Some((listing, item)) = found.filter(|(_, item)| areas.contains(&item.area)) else {
            return Answer::not_found(Kind::Unknown);
        };
        let kind = match parameters.others(&[name, "name"]).next() {
            Some(_) => Kind::Uncanonical,
            None => Kind::Download,
        };
        download(ask, kind, &self.origin, listing, item)
    }

    fn gbk(&self, ask: &Ask<'_>, parameters: &Parameters, view: &mut View<'_>, page: &str) -> Answer {
        let catalogue = view.catalogue;
        let answer = match page {
            "forum" => list(parameters, &[], Some(gbk::forum(view))),
            "board" => {
                let board = parameters.get("name").and_then(gbk::board_number);
                let page = board.zip(parameters.page()).and_then(|(board, page)| gbk::board(view, board, page));
                list(parameters, &["name", "page"], page)
            }
            "thread" => {
                let thread = parameters.text("tid").and_then(|tid| catalogue.listing(tid.parse().ok()?));
                match thread.filter(|thread| is_named(thread, parameters.get("title"))) {
                    // Its own meta element gives the charset.
                    Some((listing, item)) => {
                        return Answer::page(Kind::Detail, gbk::thread(view, listing, item))
                            .with_content_type("text/html");
                    }
                    None => Answer::not_found(Kind::Unknown),
                }
            }
            "attachment" => {
                let found = parameters.get("aid").and_then(|token| listing_of_token(catalogue, token));
                match found.filter(|found| is_named(found, parameters.get("name"))) {
                    Some(_) => return self.token_download(ask, parameters, catalogue, "aid", &[Area::Gbk]),
                    None => Answer::not_found(Kind::Unknown),
                }
            }
            _ => Answer::not_found(Kind::Unknown),
        };
        if answer.status == 200 { answer.with_content_type("text/html; charset=gbk") } else { answer }
    }

    /// Addresses disallowed by robots.txt respond like the rest, so that a crawl that ignores it is detected.
    fn private(&self, ask: &Ask<'_>, parameters: &Parameters, view: &mut View<'_>, page: &str) -> Answer {
        let catalogue = view.catalogue;
        let mut answer = match page {
            "" => Answer::page(Kind::ClosedByRobots, traps::private_index(view)),
            "dl" => self.token_download(ask, parameters, catalogue, "t", &[Area::Private]),
            _ => match page.strip_prefix("details/").and_then(|name| listing_of_name(catalogue, name)) {
                Some((listing, item)) if item.area == Area::Private => {
                    Answer::page(Kind::ClosedByRobots, traps::private_detail(view, listing, item))
                }
                _ => Answer::not_found(Kind::ClosedByRobots),
            },
        };
        answer.kind = Kind::ClosedByRobots;
        answer
    }
}

/// A page of a list: at its canonical URL, at one that the crawler should have normalised, or none.
fn list(parameters: &Parameters, known: &[&str], page: Option<impl Into<Vec<u8>>>) -> Answer {
    match page {
        Some(page) => Answer::page(kind_of(parameters, known, Kind::Index), page),
        None => Answer::not_found(Kind::Unknown),
    }
}

/// `kind` if the query contains nothing but `known`.
fn kind_of(parameters: &Parameters, known: &[&str], kind: Kind) -> Kind {
    if parameters.others(known).next().is_none() {
        kind
    } else if parameters.others(known).all(|name| NOISE.contains(&name)) {
        Kind::Uncanonical
    } else {
        Kind::Unknown
    }
}

fn detail(parameters: &Parameters, view: &mut View<'_>, name: &str) -> Answer {
    let catalogue = view.catalogue;
    let Some((listing, item)) = listing_of_name(catalogue, name) else {
        let is_bait = leading_number(name).is_some_and(|id| id >= BAIT_FIRST);
        return Answer::not_found(if is_bait { Kind::Bait } else { Kind::Unknown });
    };
    if !matches!(item.area, Area::Main | Area::Archive) {
        return Answer::not_found(Kind::Unknown);
    }
    if item.fate == Fate::Gone {
        // Half of them redirect: to a host outside the site.
        let target = format!("{}{}", view.other_origin(), detail_path(listing, item));
        return if listing.id.is_multiple_of(2) {
            Answer::redirect(Kind::Gone, 302, target)
        } else {
            Answer::not_found(Kind::Gone)
        };
    }
    if parameters.text("view") == Some("print") {
        return Answer::page(Kind::ClosedByRobots, super::detail_page::detail(view, listing, item));
    }
    let kind = kind_of(parameters, &[], Kind::Detail);
    // A different slug redirects to the right one, as `/details/12` does: one page, one address.
    let given = name.split_once('-').map_or("", |(_, slug)| slug);
    let is_right =
        given == item.slug || percent_encoding::percent_decode_str(given).decode_utf8_lossy() == slug(&item.title);
    if !is_right {
        return Answer::redirect(kind, 301, view.with_session(&detail_path(listing, item)));
    }
    Answer::page(kind, super::detail_page::detail(view, listing, item))
}

fn old_address(parameters: &Parameters, view: &View<'_>, id: &str) -> Answer {
    let found = id.parse().ok().and_then(|id| view.catalogue.listing(id));
    let Some((listing, item)) = found.filter(|(_, item)| item.old_address) else {
        return Answer::not_found(Kind::Unknown);
    };
    let path = detail_path(listing, item);
    let target = match item.area {
        // The old address is allowed, its target is not: robots.txt has to be checked at each step.
        Area::Private => format!("/private{path}"),
        _ => path,
    };
    let kind = kind_of(parameters, &[], Kind::OldAddress);
    Answer::redirect(kind, 301, view.with_session(&target))
}

/// The pages that no client should request.
fn trap(parameters: &Parameters, view: &mut View<'_>, first: &str, rest: Option<&str>) -> Answer {
    match (first, rest) {
        ("search", None) => Answer::page(Kind::Search, traps::search(view)),
        ("calendar", None) => Answer::page(Kind::Calendar, traps::calendar(view, parameters.text("month"))),
        ("ads", Some("click")) => Answer::redirect(Kind::Advert, 302, "https://shop.example.com/".to_owned()),
        ("ads", Some(_)) => Answer::page(Kind::Advert, traps::text_page(view, "Advertisement", "Buy now!")),
        ("login", None) => Answer::page(Kind::Account, traps::form(view, "Login")),
        ("register", None) => Answer::page(Kind::Account, traps::form(view, "Register")),
        ("logout", None) => Answer::redirect(Kind::Account, 302, "/".to_owned()),
        ("user", Some(_)) => {
            Answer::page(Kind::Account, traps::text_page(view, "Member", "Nothing is known of this member."))
        }
        ("news" | "help", _) => Answer::page(
            Kind::OffTopic,
            traps::text_page(view, "News & help", super::titles::paragraph(&mut Random::new(3)).as_str()),
        ),
        ("rss", None) => Answer::page(
            Kind::OffTopic,
            "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>Demo</title></channel></rss>\n",
        )
        .with_content_type("application/rss+xml"),
        _ => Answer::not_found(Kind::Unknown),
    }
}

fn listing_of_token<'a>(catalogue: &'a Catalogue, token: &[u8]) -> Option<(&'a Listing, &'a Item)> {
    let (id, start) = links::read_token(token)?;
    catalogue.listing(id).filter(|(_, item)| links::fingerprint(&item.infohashes) == start)
}

/// The number before the first `-` of `12-some-title`.
fn leading_number(name: &str) -> Option<u32> {
    name.split('-').next()?.parse().ok()
}

fn listing_of_name<'a>(catalogue: &'a Catalogue, name: &str) -> Option<(&'a Listing, &'a Item)> {
    catalogue.listing(leading_number(name)?)
}

/// True for a thread of the GBK section named by its title in GBK bytes.
fn is_named((_, item): &(&Listing, &Item), name: Option<&[u8]>) -> bool {
    item.area == Area::Gbk && name == Some(&gbk::gbk(&item.title))
}
