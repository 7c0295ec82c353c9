//! A members-only site without its socket: a request in, a response out.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::family::{After, Denied, Family, Notice, Say};
use super::gate::{Gate, Tried, filled, token};
use super::log::MembersLog;
use super::pattern::{self, is_at};
use super::shelf::{MembersCatalogue, ROWS};
use crate::escape::{escaped, percent};
use gleaner_base::clock::UnixMillis;

/// A page that its scripts fill from the site's API.
const SHELL: &str = "<!DOCTYPE html><html><head><title>Torrents</title></head><body><div id=\"app\"></div><a href=\"/signin\">Sign in</a><script>\
    async function show(page) { const headers = { Authorization: 'Bearer ' + localStorage.token }; \
    const { data } = await (await fetch('/v1/torrents?page_size=30&sort=UploadedDesc&page=' + page, { headers })).json(); \
    document.getElementById('app').innerHTML = data.results.map(row => `<p><a href=\"/torrent/${row.info_hash}\">${row.title}</a></p>`).join(''); } \
    show(0);</script></body></html>\n";

/// Rows of a page of the API.
const API_ROWS: usize = 30;

/// A request as parsed by the site.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ask<'a> {
    pub is_post: bool,
    /// Path and query.
    pub target: &'a str,
    pub cookies: &'a str,
    pub bearer: Option<&'a str>,
    pub content_type: &'a str,
    pub body: &'a [u8],
}

/// The response.
#[derive(Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

pub(super) struct Site {
    pub family: &'static Family,
    pub origin: String,
    pub shelf: MembersCatalogue,
    state: Mutex<MembersState>,
}

pub(super) struct MembersState {
    pub gate: Gate,
    pub log: MembersLog,
    /// The account has seen the notice that precedes its first file.
    notice_seen: bool,
    views: u64,
}

/// The sender of a request.
struct Visitor {
    sid: Option<String>,
    is_member: bool,
    /// The request has no cookie of the site yet.
    is_new: bool,
}

/// The kind of an address.
enum AddressKind {
    LoginPage,
    LogIn,
    LogOut,
    /// A hop of the redirects after a login.
    Hop(usize),
    Front,
    Account,
    List(usize),
    Detail(usize),
    File(usize),
    Notice(usize),
}

impl Site {
    pub(super) fn new(family: &'static Family, origin: String, gate: Gate, shelf: MembersCatalogue) -> Self {
        let state = MembersState { gate, log: MembersLog::default(), notice_seen: false, views: 0 };
        Self { family, origin, shelf, state: Mutex::new(state) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, MembersState> {
        // Counts and sessions are consistent between any two statements that could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers one request and logs it.
    pub(super) fn answer(&self, ask: &Ask<'_>, now: UnixMillis) -> Reply {
        let mut state = self.state();
        let state = &mut *state;
        state.views += 1;
        state.log.request(if ask.is_post { "POST" } else { "GET" }, ask.target);
        if ask.target == "/robots.txt" {
            return self.reply(404, "Not found".to_owned());
        }
        let (target, named) = self.without_session(ask.target);
        let Some(place) = self.place(&target, ask.is_post) else {
            state.log.unknown += 1;
            return self.reply(404, self.framed("404", "", "<h1>Not found</h1>"));
        };
        let visitor = self.visitor(state, ask, named.as_deref());
        let mut reply = self.go(state, &visitor, place, ask, &target, now);
        let sid = visitor.sid.as_deref().unwrap_or_default();
        let sets = reply.headers.iter().any(|(name, _)| *name == "set-cookie");
        if visitor.is_new && !sets {
            let cookies = self.family.guest_cookies.iter().map(|cookie| ("set-cookie", filled(cookie, sid)));
            reply.headers.extend(cookies);
        }
        reply
    }

    fn go(
        &self,
        state: &mut MembersState,
        visitor: &Visitor,
        place: AddressKind,
        ask: &Ask<'_>,
        target: &str,
        now: UnixMillis,
    ) -> Reply {
        let family = self.family;
        let denied = match place {
            AddressKind::LoginPage => {
                let flash = visitor
                    .sid
                    .as_deref()
                    .and_then(|sid| state.gate.session(sid))
                    .and_then(|session| session.flash.take());
                let form = self.form(family.form, visitor, now, flash.unwrap_or_default());
                return self.page(visitor, now, "Login", &form);
            }
            AddressKind::LogIn => return self.log_in(state, visitor, ask, now),
            AddressKind::LogOut => {
                state.log.logouts += 1;
                visitor.sid.as_deref().map(|sid| state.gate.end(sid));
                return self.redirect(family.at.front.to_owned());
            }
            AddressKind::Hop(hop) => {
                let sid = pattern::read(self.hops()[hop], ask.target)
                    .and_then(|values| values.first().map(|(_, sid)| (*sid).to_owned()));
                return self.hop(hop + 1, &sid.or_else(|| visitor.sid.clone()).unwrap_or_default());
            }
            AddressKind::Front => family.denied_front,
            AddressKind::List(_) | AddressKind::Account | AddressKind::Notice(_) => family.denied_list,
            AddressKind::Detail(_) => family.denied_detail,
            AddressKind::File(_) => family.denied_file,
        };
        let sid = visitor.sid.as_deref().unwrap_or_default();
        let is_member = visitor.is_member && state.gate.count_request(sid);
        state.log.expiries += u64::from(visitor.is_member && !is_member);
        let visitor = &Visitor { sid: visitor.sid.clone(), is_member, is_new: visitor.is_new };
        if is_member {
            state.log.member_requests += 1;
        } else {
            // An account's own page is never public.
            let denied =
                if matches!(place, AddressKind::Account) && denied == Denied::Open { Denied::ToLogin } else { denied };
            state.log.denials += u64::from(denied != Denied::Open);
            match denied {
                Denied::Open | Denied::NoFiles => {}
                Denied::ToLogin => {
                    let separator = if family.at.login_page.contains('?') { '&' } else { '?' };
                    let returnto = percent(target.as_bytes());
                    return self.redirect(format!("{}{separator}returnto={returnto}", family.at.login_page));
                }
                Denied::Says(status, text) => return self.says(visitor, now, status, text),
                Denied::Poses(text) => {
                    return Reply {
                        content_type: "application/x-bittorrent",
                        ..self.reply(200, self.framed("Login", "", text))
                    };
                }
            }
        }
        let shows_files = is_member || denied == Denied::Open;
        self.show(state, visitor, &place, ask, shows_files, now)
    }

    /// A page, or a torrent, to which the visitor has access.
    fn show(
        &self,
        state: &mut MembersState,
        visitor: &Visitor,
        place: &AddressKind,
        ask: &Ask<'_>,
        shows_files: bool,
        now: UnixMillis,
    ) -> Reply {
        let family = self.family;
        match *place {
            AddressKind::Front if matches!(family.after, After::Token) => self.reply(200, SHELL.to_owned()),
            AddressKind::List(page) if matches!(family.after, After::Token) => self.list_json(page),
            AddressKind::Front if family.at.front != family.at.list_first => {
                let link = self.href(visitor, family.at.list_first);
                self.page(
                    visitor,
                    now,
                    "Index",
                    &format!("<h1>Forums</h1><table><tr><td><a href=\"{link}\">Torrents</a></td></tr></table>"),
                )
            }
            AddressKind::Front | AddressKind::List(_) => {
                let page = if let AddressKind::List(page) = *place { page } else { 1 };
                let body = self.list(state.views, visitor, page, shows_files);
                self.page(visitor, now, &format!("Torrents, page {page}"), &body)
            }
            AddressKind::Detail(at) => {
                let torrent = &self.shelf.torrents[at];
                let mut body = format!(
                    "<h1>{}</h1><div class=\"post\"><p>Infohash: {}</p>",
                    escaped(&torrent.title),
                    torrent.infohashes.key_hex()
                );
                if shows_files {
                    let link = self.href(visitor, &self.shelf.link(family.at.file, at, state.views));
                    let _ = write!(body, "<p>Attachment: <a href=\"{link}\">{}.torrent</a> (12.4 KiB)</p>", at + 1);
                }
                body.push_str("</div>");
                self.page(visitor, now, &torrent.title, &body)
            }
            AddressKind::File(at) => match family.notice {
                Some(Notice { path, passes, .. }) if !state.notice_seen && !ask.target.contains(passes) => {
                    self.redirect(self.shelf.link(path, at, state.views))
                }
                _ => {
                    state.log.torrents += 1;
                    let body = self.shelf.metainfo(at, &self.origin);
                    let name = ("content-disposition", format!("attachment; filename=\"{}.torrent\"", at + 1));
                    Reply { status: 200, content_type: "application/x-bittorrent", headers: vec![name], body }
                }
            },
            AddressKind::Notice(at) => {
                state.notice_seen = true;
                let text = family.notice.map_or("", |notice| notice.text);
                let link = self.href(visitor, &self.shelf.link(family.at.file, at, state.views));
                self.page(visitor, now, "Notice", &text.replace("{file}", &link))
            }
            _ => self.page(
                visitor,
                now,
                "Account",
                &format!("<h1>Control panel</h1><p>Account of {}</p>", escaped(family.user)),
            ),
        }
    }

    /// A page of the list for the scripts of [`SHELL`].
    fn list_json(&self, page: usize) -> Reply {
        let rows = self.shelf.torrents.iter().skip((page - 1).saturating_mul(API_ROWS)).take(API_ROWS);
        let rows: Vec<_> = rows
            .map(|torrent| serde_json::json!({ "info_hash": torrent.infohashes.key_hex(), "title": torrent.title }))
            .collect();
        let data = serde_json::json!({ "data": { "total": self.shelf.torrents.len(), "results": rows } });
        Reply { content_type: "application/json", ..self.reply(200, data.to_string()) }
    }

    fn list(&self, views: u64, visitor: &Visitor, page: usize, shows_files: bool) -> String {
        let mut body = "<h1>Torrents</h1>\n".to_owned();
        if let Some(categories) = &self.family.categories {
            let all = categories.labels.iter().map(|label| self.category_link(visitor, label));
            let _ = writeln!(body, "<p class=\"menu\">{}</p>", all.collect::<Vec<_>>().join(" "));
        }
        body.push_str("<table class=\"list\">\n");
        let first = (page - 1) * ROWS;
        for (at, torrent) in self.shelf.torrents.iter().enumerate().skip(first).take(ROWS) {
            let detail = self.href(visitor, &self.shelf.link(self.family.at.detail, at, views));
            // Writing into a String cannot fail, here and below.
            body.push_str("<tr>");
            if let Some(categories) = &self.family.categories {
                let _ = write!(body, "<td>{}</td>", self.category_link(visitor, categories.of(at)));
            }
            let _ = write!(body, "<td><a href=\"{detail}\">{}</a></td>", escaped(&torrent.title));
            if self.family.lists_files && shows_files {
                let file = self.href(visitor, &self.shelf.link(self.family.at.file, at, views));
                let _ = write!(body, "<td><a href=\"{file}\" title=\"Download\">DL</a></td>");
            }
            body.push_str("</tr>\n");
        }
        body.push_str("</table>\n<div class=\"pages\">");
        let last = self.shelf.pages();
        for (number, text) in [(1, "1"), (page - 1, "Prev"), (page + 1, "Next"), (last, "Last")] {
            if (1..=last).contains(&number) && number != page {
                let _ = write!(
                    body,
                    " <a href=\"{}\">{text}</a>",
                    self.href(visitor, &MembersCatalogue::list_link(self.family, number))
                );
            }
        }
        body.push_str("</div>\n");
        body
    }

    fn category_link(&self, visitor: &Visitor, label: &str) -> String {
        let link = self.family.categories.map_or("", |categories| categories.link);
        format!("<a href=\"{}\">{label}</a>", self.href(visitor, &link.replace("{label}", label)))
    }

    fn log_in(&self, state: &mut MembersState, visitor: &Visitor, ask: &Ask<'_>, now: UnixMillis) -> Reply {
        let family = self.family;
        let fields = fields(ask, matches!(family.after, After::Token), family.content_type.contains("gbk"));
        let tried = fields.map_or(Tried::Malformed, |fields| state.gate.log_in(&fields, visitor.sid.as_deref(), now));
        let say = match tried {
            Tried::In(sid) => {
                state.log.logins_ok += 1;
                return self.let_in(visitor, &sid, now);
            }
            Tried::Malformed => {
                state.log.logins_malformed += 1;
                Say::With(200, family.malformed)
            }
            Tried::Wrong => {
                state.log.logins_wrong += 1;
                family.wrong
            }
            Tried::LockedNow => {
                state.log.logins_wrong += 1;
                state.log.bans += 1;
                family.locked
            }
            Tried::Locked => {
                state.log.logins_locked += 1;
                family.locked
            }
        };
        match (say, family.after) {
            (Say::Flash(text), _) => {
                if let Some(session) = visitor.sid.as_deref().and_then(|sid| state.gate.session(sid)) {
                    session.flash = Some(text);
                }
                self.redirect(family.at.login_page.to_owned())
            }
            (Say::With(status, text), After::Token) => {
                let body = serde_json::json!({ "error": text }).to_string();
                Reply { content_type: "application/json", ..self.reply(status, body) }
            }
            (Say::With(status, text), _) => {
                let form = self.form(family.form, visitor, now, text);
                Reply { status, ..self.page(visitor, now, "Login", &form) }
            }
        }
    }

    fn let_in(&self, visitor: &Visitor, sid: &str, now: UnixMillis) -> Reply {
        match self.family.after {
            After::Redirects(_) => self.hop(0, sid),
            After::Page(text) => {
                let visitor = Visitor { sid: Some(sid.to_owned()), is_member: true, is_new: visitor.is_new };
                let refresh = format!("<meta http-equiv=\"refresh\" content=\"3;URL={}\">", self.family.at.front);
                let text = text.replace("{user}", &escaped(self.family.user));
                let bar = self.bar(&visitor, now);
                let mut reply = self.reply(200, self.framed("Login", &refresh, &format!("{bar}{text}")));
                reply.headers.extend(self.cookies_of_hop(0, sid));
                reply
            }
            After::Token => {
                let data =
                    serde_json::json!({ "data": { "token": sid, "username": self.family.user, "admin": false } });
                Reply { content_type: "application/json", ..self.reply(200, data.to_string()) }
            }
        }
    }

    /// Redirects to this hop, with the cookies that it sets.
    fn hop(&self, hop: usize, sid: &str) -> Reply {
        let mut reply = self.redirect(filled(self.hops()[hop], sid));
        reply.headers.extend(self.cookies_of_hop(hop, sid));
        reply
    }

    fn hops(&self) -> &'static [&'static str] {
        match self.family.after {
            After::Redirects(hops) => hops,
            After::Page(_) | After::Token => &[],
        }
    }

    fn cookies_of_hop(&self, hop: usize, sid: &str) -> impl Iterator<Item = (&'static str, String)> {
        let of_hop = self.family.member_cookies.iter().filter(move |(at, _)| *at == hop);
        of_hop.map(|(_, cookie)| ("set-cookie", filled(cookie, sid)))
    }

    fn place(&self, target: &str, is_post: bool) -> Option<AddressKind> {
        let family = self.family;
        if is_post {
            return is_at(family.at.login_action, target).then_some(AddressKind::LogIn);
        }
        // The session-dependent part is at its end.
        let (logout, _) = self.without_session(family.at.logout.split('{').next().unwrap_or_default());
        if target.starts_with(&logout) {
            return Some(AddressKind::LogOut);
        }
        if target == family.at.account {
            return Some(AddressKind::Account);
        }
        let last = self.hops().len().saturating_sub(1);
        if let Some(hop) = self.hops()[..last].iter().position(|hop| pattern::read(hop, target).is_some()) {
            return Some(AddressKind::Hop(hop));
        }
        if let Some(at) = family.notice.and_then(|notice| self.shelf.named(notice.path, target)) {
            return Some(AddressKind::Notice(at));
        }
        if let Some(at) = self.shelf.named(family.at.file, target) {
            return Some(AddressKind::File(at));
        }
        // Whether a link names the page it was followed from or not, it has the same target.
        let plain = family.at.detail.split("&extra=").next().unwrap_or(family.at.detail);
        let named = |pattern| self.shelf.named(pattern, target);
        if let Some(at) = named(family.at.detail).or_else(|| named(plain)) {
            return Some(AddressKind::Detail(at));
        }
        if let Some(page) = self.shelf.list_page(family, target) {
            return Some(AddressKind::List(page));
        }
        // A site's folder is its front page.
        let folder = &family.at.front[..=family.at.front.rfind('/').unwrap_or(0)];
        if target == family.at.front || target == folder || target == format!("{folder}index.php") {
            return Some(AddressKind::Front);
        }
        is_at(family.at.login_page, target).then_some(AddressKind::LoginPage)
    }

    /// The target without noise and without the session parameter, and the session that it names.
    fn without_session(&self, target: &str) -> (String, Option<String>) {
        let Some((path, query)) = target.split_once('?') else { return (target.to_owned(), None) };
        let mut sid = None;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !self.family.noise.contains(pair)) {
            match pair.split_once('=') {
                Some((name, value)) if Some(name) == self.family.sid_in_links => sid = Some(value.to_owned()),
                _ => rest.push(pair),
            }
        }
        let target = if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) };
        (target, sid)
    }

    fn visitor(&self, state: &mut MembersState, ask: &Ask<'_>, named: Option<&str>) -> Visitor {
        let cookies: Vec<(&str, &str)> =
            ask.cookies.split(';').filter_map(|pair| pair.trim().split_once('=')).collect();
        let (sid, is_member) = state.gate.visitor(&cookies, ask.bearer);
        // A session named only in the address is a guest's.
        let named = named.filter(|sid| state.gate.session(sid).is_some()).map(str::to_owned);
        let gives_cookies = !self.family.guest_cookies.is_empty();
        match sid.or(named) {
            Some(sid) => Visitor { sid: Some(sid), is_member, is_new: false },
            None if gives_cookies => Visitor { sid: Some(state.gate.guest()), is_member: false, is_new: true },
            None => Visitor { sid: None, is_member: false, is_new: false },
        }
    }

    /// A link in markup; on a visit's first page it carries the session.
    fn href(&self, visitor: &Visitor, link: &str) -> String {
        match (self.family.sid_in_links, &visitor.sid) {
            (Some(name), Some(sid)) if visitor.is_new => {
                let separator = if link.contains('?') { '&' } else { '?' };
                escaped(&format!("{link}{separator}{name}={sid}"))
            }
            _ => escaped(link),
        }
    }

    fn form(&self, form: &str, visitor: &Visitor, now: UnixMillis, message: &str) -> String {
        let sid = visitor.sid.as_deref().unwrap_or_default();
        let time = if form.contains("{time}") { (now.0 / 1_000).to_string() } else { String::new() };
        filled(form, sid).replace("{token}", &token(sid, &time)).replace("{time}", &time).replace("{message}", message)
    }

    fn bar(&self, visitor: &Visitor, now: UnixMillis) -> String {
        let sid = visitor.sid.as_deref().unwrap_or_default();
        let bar = if visitor.is_member { self.family.member_bar } else { self.family.guest_bar };
        let logout = self.form(self.family.at.logout, visitor, now, "");
        let bar =
            bar.replace("{user}", &escaped(self.family.user)).replace("{logout}", &escaped(&filled(&logout, sid)));
        self.form(&bar, visitor, now, "")
    }

    fn says(&self, visitor: &Visitor, now: UnixMillis, status: u16, text: &str) -> Reply {
        if text.starts_with("{\"") {
            return Reply { content_type: "application/json", ..self.reply(status, text.to_owned()) };
        }
        // A few words without markup are the whole response.
        if !text.starts_with('<') {
            return self.reply(status, text.to_owned());
        }
        let form = self.form(self.family.form, visitor, now, "");
        Reply { status, ..self.page(visitor, now, "Message", &text.replace("{form}", &form)) }
    }

    fn page(&self, visitor: &Visitor, now: UnixMillis, title: &str, body: &str) -> Reply {
        let bar = self.bar(visitor, now);
        self.reply(
            200,
            self.framed(title, "", &format!("<div id=\"header\">{bar}</div>\n<div id=\"content\">{body}</div>")),
        )
    }

    fn framed(&self, title: &str, head: &str, body: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html><head><title>{} - Demo {}</title>{head}</head><body>\n{body}\n</body></html>\n",
            escaped(title),
            self.family.name
        )
    }

    fn redirect(&self, location: String) -> Reply {
        let mut reply = self.reply(302, String::new());
        reply.headers.push(("location", location));
        reply
    }

    fn reply(&self, status: u16, text: String) -> Reply {
        let content_type = self.family.content_type;
        // Characters outside the charset become character references.
        let body = match encoding_rs::Encoding::for_label(charset(content_type).as_bytes()) {
            Some(encoding) => encoding.encode(&text).0.into_owned(),
            None => text.into_bytes(),
        };
        Reply { status, content_type, headers: Vec::new(), body }
    }
}

fn charset(content_type: &str) -> &str {
    let of = content_type.split("charset=").nth(1).unwrap_or("utf-8");
    of.split(';').next().unwrap_or(of)
}

/// The fields that a form, or a script, sent. None if it is neither.
fn fields(ask: &Ask<'_>, is_json: bool, is_gbk: bool) -> Option<Vec<(String, String)>> {
    if is_json {
        let is_json = ask.content_type.starts_with("application/json");
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(ask.body).ok().filter(|_| is_json)?;
        return object.into_iter().map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect();
    }
    if !ask.content_type.starts_with("application/x-www-form-urlencoded") {
        return None;
    }
    let text = |part: &str| -> Option<String> {
        let part = part.replace('+', " ");
        let bytes: Vec<u8> = percent_encoding::percent_decode_str(&part).collect();
        let encoding = if is_gbk { encoding_rs::GBK } else { encoding_rs::UTF_8 };
        encoding.decode_without_bom_handling_and_without_replacement(&bytes).map(std::borrow::Cow::into_owned)
    };
    let pairs = std::str::from_utf8(ask.body).ok()?.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').and_then(|(name, value)| Some((text(name)?, text(value)?)))).collect()
}

#[cfg(test)]
mod tests;
