//! A request for a page: who asks, what the query says, and how the answer is framed. What changes something comes as a form with a code of this
//! server's, which no other site's page knows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use gleaner_base::clock::UnixMillis;
use hmac::{Hmac, KeyInit as _, Mac as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;

use super::{assets, words};
use crate::Outlet;
use crate::access::Caller;
use crate::acts::must_be_ours;
use crate::alarms::Alarm;
use crate::limits::{FORM_BYTES_MAX, TOLD_MAX, TOLD_TIME};
use crate::problem::Problem;
use crate::session;
use crate::tokens::Scope;

/// What the pages keep between two requests.
#[derive(Default)]
pub struct Memory {
    /// Of the codes of forms; random, of this process.
    secret: [u8; 32],
    told: Mutex<Messages>,
    pub kept: super::kept::Pages,
    /// The counts beside everything, and when they were made.
    pub counts: tokio::sync::Mutex<Option<(UnixMillis, super::torrents::Counted)>>,
    pub status: tokio::sync::Mutex<Option<(UnixMillis, Arc<super::status::Status>)>>,
}

/// What was done, for the page that is shown next.
#[derive(Default)]
struct Messages {
    next: u64,
    texts: HashMap<u64, (UnixMillis, String)>,
}

impl Memory {
    /// With a secret of its own.
    #[must_use]
    pub fn new() -> Self {
        let mut secret = [0; 32];
        // Without random numbers, no form is accepted.
        let is_random = getrandom::fill(&mut secret).is_ok();
        Self { secret: if is_random { secret } else { [0; 32] }, ..Self::default() }
    }

    fn tell(&self, text: String, now: UnixMillis) -> u64 {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.texts.retain(|_, (at, _)| now.since(*at) < TOLD_TIME);
        if told.texts.len() >= TOLD_MAX {
            told.texts.clear();
        }
        told.next += 1;
        let number = told.next;
        told.texts.insert(number, (now, text));
        number
    }

    fn told(&self, number: &str, now: UnixMillis) -> Option<String> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, text) = told.texts.get(&number.parse().ok()?)?;
        (now.since(*at) < TOLD_TIME).then(|| text.clone())
    }
}

/// What a part of a path or of a query is encoded by.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A part of a path or of a query.
#[must_use]
pub fn part(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// See the module.
pub struct Visit {
    pub outlet: Arc<Outlet>,
    pub caller: Caller,
    pub now: UnixMillis,
    /// Path and query, below the base path.
    here: String,
    query: Vec<(String, String)>,
    cookie: Option<String>,
    /// Of its forms.
    code: String,
    /// Of whoever may read.
    pub alarms: Vec<Alarm>,
}

impl FromRequestParts<Arc<Outlet>> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, outlet: &Arc<Outlet>) -> Result<Self, Problem> {
        let mut visit = Self::of(parts, outlet)?;
        visit.caller.must_have(Scope::Read)?;
        visit.alarms = (outlet.inside.alarms.list)().await.map_err(|error| Problem::ours(&error))?;
        Ok(visit)
    }
}

impl Visit {
    /// A visit of anybody.
    ///
    /// # Errors
    /// If nobody has found out who asks.
    pub fn of(parts: &Parts, outlet: &Arc<Outlet>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Problem::wrong("nobody asks", "ask again"))?;
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            cookie: session::cookie(&parts.headers).map(str::to_owned),
            code: code(outlet, &caller, &parts.headers),
            now: outlet.clock.now(),
            here: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            query: query.into_owned().collect(),
            outlet: Arc::clone(outlet),
            caller,
            alarms: Vec::new(),
        })
    }

    /// Path and query, below the base path.
    #[must_use]
    pub fn here(&self) -> &str {
        &self.here
    }

    /// The session's cookie, as it was sent.
    #[must_use]
    pub fn cookie(&self) -> Option<&str> {
        self.cookie.as_deref()
    }

    /// Alarms that are not over.
    pub fn open_alarms(&self) -> impl Iterator<Item = &Alarm> {
        self.alarms.iter().filter(|alarm| alarm.over_ms.is_none())
    }

    /// A value of the query; the empty text for none.
    #[must_use]
    pub fn asked(&self, name: &str) -> &str {
        self.query.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// True for whoever may press.
    #[must_use]
    pub fn may_act(&self) -> bool {
        self.caller.scope >= Some(Scope::Admin)
    }

    /// A path of this server.
    #[must_use]
    pub fn to(&self, path: &str) -> String {
        format!("{}{path}", self.outlet.settings.base_path)
    }

    /// A command with the options of this service.
    #[must_use]
    pub fn command(&self, words: &str) -> String {
        words::shown(&format!("gleaner {words}{}", self.outlet.inside.desk.given))
    }

    /// A form of one button, for those who may press it.
    #[must_use]
    pub fn button(&self, path: &str, label: &str, fields: &[(&str, &str)]) -> Markup {
        self.form(
            path,
            &html! {
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button { (label) }
            },
        )
    }

    /// A form with these fields, for those who may send it.
    #[must_use]
    pub fn form(&self, path: &str, fields: &Markup) -> Markup {
        if !self.may_act() {
            return html! {};
        }
        html! { form.inline method="post" action=(self.to(path)) { (self.hidden(&self.here_without_told())) (fields) } }
    }

    /// The same as a block; back to the page above.
    #[must_use]
    pub fn form_whole(&self, path: &str, fields: &Markup) -> Markup {
        let above = path.rsplit_once('/').map_or("/", |(above, _)| above);
        html! { form method="post" action=(self.to(path)) { (self.hidden(above)) (fields) } }
    }

    fn hidden(&self, back: &str) -> Markup {
        html! { input type="hidden" name="form" value=(self.code); input type="hidden" name="back" value=(back); }
    }

    fn here_without_told(&self) -> String {
        let (path, query) = self.here.split_once('?').unwrap_or((&self.here, ""));
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("told=")).collect();
        if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) }
    }

    /// The page.
    #[must_use]
    pub fn page(&self, title: &str, events: &str, body: &Markup) -> Response {
        let told = self.outlet.pages.told(self.asked("told"), self.now);
        let body = html! {
            @if let Some(told) = &told { div.strip.done role="status" { p { (words::told(told)) } } }
            (body)
        };
        self.framed(title, events, &body)
    }

    fn framed(&self, title: &str, events: &str, body: &Markup) -> Response {
        let events =
            if events.is_empty() { None } else { Some(self.to(&format!("/api/v1/events?brief=true&kinds={events}"))) };
        let is_live = events.is_some();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (words::shown(title)) " · gleaner" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href=(self.to(&assets::style()));
                    script defer src=(self.to(&assets::script())) {}
                }
                body data-events=[events] {
                    a.skip href="#main" { "to the content" }
                    (self.top())
                    main #main { (body) }
                    (self.bottom(is_live))
                }
            }
        };
        Html(page.into_string()).into_response()
    }

    fn top(&self) -> Markup {
        let open = self.open_alarms().count();
        let at = self.here.split(['?']).next().unwrap_or_default();
        let is_here = |path: &str| match path {
            "/" => at == "/" || at.starts_with("/sites/"),
            path => at == path || at.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')),
        };
        html! {
            header.top { div {
                a.brand href=(self.to("/")) { (PreEscaped(LOGO)) "gleaner" }
                @if self.caller.scope >= Some(Scope::Read) {
                    nav.main aria-label="pages" {
                        @for (path, name) in NAV {
                            a href=(self.to(path)) aria-current=[is_here(path).then_some("page")] {
                                (name)
                                @if path == "/alarms" && open > 0 { span.n { (open) } }
                            }
                        }
                    }
                }
            } }
        }
    }

    fn bottom(&self, is_live: bool) -> Markup {
        let is_session = self.caller.links.token.is_some();
        html! {
            footer {
                span { "gleaner " (env!("CARGO_PKG_VERSION")) }
                span { "as of " time #now { (self.now.rfc3339()) } }
                @if self.caller.scope >= Some(Scope::Read) {
                    span { "started " (words::when(self.outlet.inside.desk.started, self.now)) }
                    a href=(self.to("/metrics")) { "metrics" }
                    a href=(self.to("/api/v1/openapi.json")) { "API" }
                    a href=(self.to("/connect")) { "connect" }
                    @if is_live { span.live { "live" } }
                }
                @if is_session {
                    form method="post" action=(self.to("/session/end")) {
                        input type="hidden" name="form" value=(self.code);
                        button { "log out" }
                    }
                }
            }
        }
    }

    /// A refusal as a page.
    #[must_use]
    pub fn refusal(&self, problem: &Problem) -> Response {
        let body = html! {
            h1 { (words::shown(&problem.title)) }
            p.lead { (words::told(&problem.detail)) }
            p { a href=(self.to("/")) { "overview" } }
        };
        let mut response = self.framed(&problem.title, "", &body);
        *response.status_mut() = problem.status;
        response
    }

    /// Back to a page of this server, which says what was done.
    #[must_use]
    pub fn back(&self, form: &Form, told: String) -> Response {
        let own = form.get("back");
        let is_own = own.starts_with('/') && !own.starts_with("//") && own.bytes().all(|of| of.is_ascii_graphic());
        let own = if is_own && !own.contains('\\') { own } else { "/" };
        let (own, anchor) = own.split_once('#').unwrap_or((own, ""));
        let sign = if own.contains('?') { '&' } else { '?' };
        let number = self.outlet.pages.tell(told, self.now);
        let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
        let to = self.to(&format!("{own}{sign}told={number}{anchor}"));
        (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
    }
}

/// The code of a caller's forms.
fn code(outlet: &Outlet, caller: &Caller, headers: &HeaderMap) -> String {
    if outlet.pages.secret == [0; 32] {
        return String::new();
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&outlet.pages.secret) else { return String::new() };
    mac.update(b"form ");
    mac.update(caller.links.token.as_ref().map_or("this machine", |token| &token.sha256).as_bytes());
    mac.update(session::cookie(headers).unwrap_or_default().as_bytes());
    data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()[..16])
}

/// The fields of a form that was sent by whoever may.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Reads it.
    ///
    /// # Errors
    /// If it comes from another site's page, has no code of ours, or is of somebody who may not press.
    pub async fn read(outlet: &Arc<Outlet>, request: Request<Body>, scope: Scope) -> Result<(Visit, Self), Problem> {
        let (parts, body) = request.into_parts();
        let visit = Visit::of(&parts, outlet)?;
        must_be_ours(&parts.headers, &visit.caller.links.base)?;
        visit.caller.must_have(scope)?;
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
        {
            let hint = "send it from the page, or use /api/v1";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this is no form", hint));
        }
        let too_large = |_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the form is too large", "send less");
        let body = to_bytes(body, FORM_BYTES_MAX).await.map_err(too_large)?;
        let form = Self(url::form_urlencoded::parse(&body).into_owned().collect());
        let mut differs = u8::from(visit.code.is_empty() || form.get("form").len() != visit.code.len());
        for (one, other) in form.get("form").bytes().zip(visit.code.bytes()) {
            differs |= one ^ other;
        }
        if differs != 0 {
            let hint = "go back, load the page again and press once more: the service was started again, or you have logged in anew";
            return Err(Problem::new(StatusCode::FORBIDDEN, "this form is out of date", hint));
        }
        Ok((visit, form))
    }

    /// A field; the empty text for none.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Minutes of a field; None if it is empty.
    ///
    /// # Errors
    /// If it is something else.
    pub fn minutes(&self, name: &str) -> Result<Option<u32>, Problem> {
        let text = self.get(name).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let most = crate::limits::PAUSE_MINUTES_MAX;
        let minutes = text.parse().ok().filter(|minutes| (1..=most).contains(minutes));
        minutes.map(Some).ok_or_else(|| {
            Problem::wrong("minutes is out of bounds", format!("write a number from 1 to {most}, or none"))
        })
    }
}

const NAV: [(&str, &str); 9] = [
    ("/", "Overview"),
    ("/torrents", "Torrents"),
    ("/rules", "Rules"),
    ("/schedule", "Schedule"),
    ("/alarms", "Alarms"),
    ("/log", "Log"),
    ("/health", "Health"),
    ("/connect", "Connect"),
    ("/exports", "Exports"),
];

/// An ear of grain.
const LOGO: &str = "<svg viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"M7.3 16V9.6C4.9 9.6 3.6 8.2 3.6 6c2.2 0 3.5.9 3.7 2.6V6.3C5.4 6 4.5 4.8 4.5 2.9c1.9.1 2.9 1 3.1 2.2C7.4 3.2 7.6 1.4 8 0c.4 1.4.6 3.2.4 5.1.2-1.2 1.2-2.1 3.1-2.2 0 1.9-.9 3.1-2.8 3.4v2.3C8.9 6.9 10.200 6 12.400 6c0 2.200-1.300 3.600-3.700 3.600V16z\"/></svg>";

const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%233a9d5d' d='M7.3 16V9.6C4.9 9.6 3.6 8.2 3.6 6c2.2 0 3.5.9 3.7 2.6V6.3C5.4 6 4.5 4.8 4.500 2.9c1.900.1 2.900 1 3.100 2.200C7.400 3.200 7.600 1.400 8 0c.4 1.400.6 3.200.4 5.100.2-1.200 1.200-2.100 3.100-2.200 0 1.900-.9 3.100-2.800 3.400v2.300C8.900 6.900 10.200 6 12.400 6c0 2.200-1.300 3.600-3.700 3.600V16z'/%3E%3C/svg%3E";
