//! Pages and responses of a login: what may be requested, when, and what follows after redirects.

use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};

use super::{Page, Run, Step, ends};
use crate::account::in_one_line;
use crate::denial::is_topic;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::challenge::Challenge;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Judged, Verdict, asks_for_consent, asks_to_log_in, refuses, says_gate, says_trouble};
use gleaner_login::view::View;
use gleaner_net::fetch::body::{self, Read, Want};
use gleaner_net::fetch::{ByScript, FetchFailure, Post, Request, Response, charset};
use gleaner_net::politeness::Answered;
use gleaner_page::scripted::{Signs, signs};
use gleaner_render::wire as net;

/// The last response after a request and its redirects.
pub(super) struct Answer {
    pub url: CrawlUrl,
    pub status: u16,
    pub content_type: Option<String>,
    pub bytes: Bytes,
    /// False if it was longer than the limit.
    pub is_whole: bool,
    /// False for the response to a form.
    pub was_got: bool,
    pub is_redirected: bool,
    /// What an answer of status 401 asks for in a header.
    pub challenge: Option<Challenge>,
    /// The headers that a script may see, if one sent the request.
    pub for_scripts: Vec<(String, String)>,
}

impl Answer {
    pub(super) fn for_script(self) -> net::Response {
        net::Response {
            url: self.url.as_str().to_owned(),
            redirected: self.is_redirected,
            status: self.status,
            status_text: String::new(),
            headers: self.for_scripts,
            ongoing: false,
            body: self.bytes.to_vec(),
        }
    }
}

/// The parameters of a request.
#[derive(Clone, Copy)]
pub(super) struct Ask<'b> {
    pub post: Option<Post<'b>>,
    /// Set if a page's script sends it.
    pub by_script: Option<ByScript<'b>>,
    /// Maximum length of the last response.
    pub bytes_max: usize,
    /// Reported when the POST is sent, after the pauses before it.
    pub told: Option<&'b str>,
    /// False for POSTs of scripts that are not the login.
    pub is_form: bool,
    /// The name and the password are sent in a header, in place of a form.
    pub by_header: bool,
}

impl Ask<'_> {
    /// A GET without anything else.
    pub(super) fn get(bytes_max: usize) -> Self {
        Self { post: None, by_script: None, bytes_max, told: None, is_form: false, by_header: false }
    }

    /// True if the request sends the form, or the header in its place.
    fn sends_form(&self) -> bool {
        self.is_form && (self.post.is_some() || self.by_header)
    }
}

/// Evidence that an address may have become the site's own.
pub const OWN_HOST: &str = "has the host of this site under another scheme or port";

/// Beginning of the rule file's line that would make an address one of the site's.
pub const HOSTS_LINE: &str = "hosts = [";

/// Evidence that a page does not come from the site's software.
pub const IN_FRONT: &str = "the gateway in front of the site";

/// The phrase in which an otherwise nearly empty page says that a barrier in front of the site blocks everybody, or asks everybody for
/// consent; and which of the two.
pub(super) fn in_front(page: &Page) -> Option<String> {
    let view = &page.view;
    let is_bare = view.text.len() < limits::TROUBLE_BYTES_MAX && page.login_form().is_none();
    let is_guests = !view.log_in_links.is_empty() || asks_to_log_in(view).is_some();
    if !is_bare || is_guests || view.log_outs().next().is_some() {
        return None;
    }
    let says = |phrase: &str, what: &str| format!("only says “{phrase}”: {IN_FRONT} {what}");
    // A form that needs more than a click belongs to the site: a search, a login.
    let is_typed = || view.forms.iter().flat_map(|form| &form.controls).any(|control| control.kind.is_line());
    match page.status {
        // A missing page is not blocked.
        404 | 410 => None,
        // A 401 asks for another login and is no temporary block.
        402..=499 => says_gate(view).map(|phrase| says(phrase, "rejects everybody for now")),
        200..=299 if !view.forms.is_empty() && !is_typed() && !page.waits => {
            asks_for_consent(view).map(|phrase| says(phrase, "asks for consent"))
        }
        _ => None,
    }
}

/// The phrase in which an otherwise nearly empty page, without anything that surrounds a login, reports trouble of its site.
fn trouble_in_words(page: &Page) -> Option<&'static str> {
    let view = &page.view;
    let is_bare = view.text.len() < limits::TROUBLE_BYTES_MAX && view.forms.is_empty() && view.log_in_links.is_empty();
    says_trouble(view).filter(|_| is_bare && (200..300).contains(&page.status))
}

fn broken(url: &CrawlUrl, failure: &FetchFailure) -> Judged {
    ends(Verdict::Unknown, format!("{}: {failure}", told_url(url.as_str())))
}

/// True if the query or fragment of an address reports a wrong password: `/login?error=invalid_password`.
fn refuses_by_address(location: &str) -> bool {
    let said = location.split_once(['?', '#']).map_or("", |(_, said)| said);
    let words = |(name, value): (_, _)| format!("{name} {value}").to_lowercase().replace(['_', '-', '+', '.'], " ");
    said.len() <= limits::MESSAGE_BYTES_MAX
        && url::form_urlencoded::parse(said.as_bytes()).map(words).any(|words| refuses(&words))
}

impl Run<'_> {
    /// Requests a page; `from_tls` is true if a page over https names it.
    pub(super) async fn page(&mut self, url: CrawlUrl, from_tls: bool) -> Step<Page> {
        self.may_ask(&url, from_tls)?;
        let is_proof =
            self.guests.is_guest && !self.attempt.is_try && self.probe_url().is_some_and(|proof| proof == url);
        let page = self.follow(url, None).await?;
        // A server in trouble says nothing about forms and sessions.
        let page = self.untroubled(page)?;
        if is_proof && !page.waits {
            // What a guest sees there is no sign of a member afterwards.
            self.guests.shown = Some(Some(page.clone()));
        }
        Ok(page)
    }

    /// The page, unless it reports trouble of the server, or comes from a barrier in front of the site.
    pub(super) fn untroubled(&mut self, page: Page) -> Step<Page> {
        if page.status != 429
            && let Some(says) = in_front(&page)
        {
            return Err(self.kept_out(&page, &says));
        }
        self.answered_well(page)
    }

    /// Ends a login that a barrier in front of the site blocks.
    pub(super) fn kept_out(&mut self, page: &Page, says: &str) -> Judged {
        self.report.trouble = Some(Answered::Faulty);
        ends(Verdict::Unknown, format!("{} {says}", told_url(page.url.as_str())))
    }

    /// The page, unless it reports trouble of the server.
    fn answered_well(&mut self, page: Page) -> Step<Page> {
        if let Some(phrase) = trouble_in_words(&page) {
            self.report.trouble = Some(Answered::Faulty);
            let why = format!("{} only says “{phrase}”", told_url(page.url.as_str()));
            return Err(ends(Verdict::Unknown, why));
        }
        let Some(trouble) = self.patience.trouble_of(page.status) else { return Ok(page) };
        self.report.trouble = Some(trouble);
        let verdict = if page.status == 429 { Verdict::RateLimited } else { Verdict::Unknown };
        Err(ends(verdict, format!("{} answers {}", told_url(page.url.as_str()), page.status)))
    }

    /// Ends a login if the response to a script's own read asks for patience: 429, or 503 that names a time.
    pub(super) fn asked_for_patience(&mut self, answer: &Answer) -> Option<Judged> {
        let asks = answer.status == 429 || (answer.status == 503 && self.patience.retry_at.is_some());
        asks.then(|| {
            self.report.trouble = self.patience.trouble_of(answer.status);
            ends(Verdict::RateLimited, format!("{} answers {}", told_url(answer.url.as_str()), answer.status))
        })
    }

    /// Checks that password and session go to the site's own hosts only, and that what began over TLS stays there.
    pub(super) fn may_ask(&mut self, url: &CrawlUrl, from_tls: bool) -> Step<()> {
        if !self.site.rules.owns_host(url.authority()) {
            let why = format!("{} is not a host of this site{}", self.named(url), self.hosts_line(url));
            let judged = ends(Verdict::OtherSite, why);
            self.last_refused = Some(url.clone());
            return Err(judged);
        }
        if from_tls && !url.as_str().starts_with("https:") {
            let url = told_url(url.as_str());
            return Err(ends(
                Verdict::Unknown,
                format!("{url} would send the session unencrypted, from an https page"),
            ));
        }
        Ok(())
    }

    /// The line of a rule file that makes such an address one of the site's, for people.
    pub(super) fn hosts_line(&self, url: &CrawlUrl) -> String {
        let hosts = self.site.rules.hosts.iter().map(|host| &**host).chain([url.authority()]);
        let hosts: Vec<String> = hosts.map(|host| format!("\"{host}\"")).collect();
        format!("; `{HOSTS_LINE}{}]` would add it", hosts.join(", "))
    }

    /// The host of an address that is not the site's, for people. If only scheme or port differ from the rule file's, they are named.
    pub(super) fn named(&self, url: &CrawlUrl) -> String {
        let name_of = |host: &str| {
            // An IPv6 address keeps its brackets.
            let name = host.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
            name.map_or(host, |(name, _)| name).to_owned()
        };
        match self.site.rules.hosts.iter().any(|host| name_of(host) == url.host()) {
            true => format!("{}, which {OWN_HOST},", url.origin()),
            false => url.authority().to_owned(),
        }
    }

    /// Sends one request; returns the page after its redirects.
    pub(super) async fn follow(&mut self, url: CrawlUrl, post: Option<Post<'_>>) -> Step<Page> {
        let answer = self.read(url, post, limits::PAGE_BYTES_MAX).await?;
        self.page_of(answer).await
    }

    /// The page that proves a session, even if it comes from a barrier in front of the site.
    pub(super) async fn page_of_members(&mut self, url: CrawlUrl) -> Step<Page> {
        self.may_ask(&url, false)?;
        let page = self.follow(url, None).await?;
        self.answered_well(page)
    }

    /// A page as a visitor without cookies and token sees it, even if it comes from a barrier in front of the site.
    pub(super) async fn page_of_guests(&mut self, url: CrawlUrl) -> Step<Page> {
        let by_script = Some(ByScript { headers: &[], credentials: false });
        let ask = Ask { by_script, ..Ask::get(limits::PAGE_BYTES_MAX) };
        let answer = self.read_as(url, ask).await?;
        let page = self.page_of(answer).await?;
        self.answered_well(page)
    }

    pub(super) async fn page_of(&mut self, answer: Answer) -> Step<Page> {
        let Answer { url, status, content_type, bytes, was_got, challenge, .. } = answer;
        let label = self.site.rules.charset.map(Encoding::name);
        let charset = charset::detect(content_type.as_deref(), &bytes, label);
        let signs = if self.may_render() { signs(&bytes) } else { Signs::default() };
        let turn = self.site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || {
            let markup = charset.decode(&bytes).0;
            (View::of(&markup), signs.scripts.then(|| Arc::from(&*markup)))
        });
        let (view, markup) = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        drop(turn);
        let view = view.map_err(|error| ends(Verdict::Unknown, format!("{}: {error}", told_url(url.as_str()))))?;
        let view = view.without_topics(|address| is_topic(&self.site.rules, &url, address));
        let charset = if charset.is_ascii_compatible() { charset } else { UTF_8 };
        Ok(Page { url, status, charset, view, was_got, markup, waits: signs.empty_root, challenge })
    }

    /// Sends one request and follows its redirects; reads a limited number of bytes of the last response.
    pub(super) async fn read(&mut self, url: CrawlUrl, post: Option<Post<'_>>, bytes_max: usize) -> Step<Answer> {
        let told = post.map(|_| format!("sent to {}", told_url(url.as_str())));
        let is_form = post.is_some();
        self.read_as(url, Ask { post, told: told.as_deref(), is_form, ..Ask::get(bytes_max) }).await
    }

    /// The same, with the rights of a page's script.
    pub(super) async fn read_as(&mut self, mut url: CrawlUrl, mut ask: Ask<'_>) -> Step<Answer> {
        let mut was_sent_on = false;
        for hop in 0..limits::LOGIN_HOPS_MAX {
            self.pause(&url, hop == 0 && ask.is_form).await?;
            if let Some(told) = ask.told.filter(|_| hop == 0) {
                self.say(told.to_owned());
            }
            let response = self.send_once(&url, ask).await?;
            let (300..=399, Some(location)) = (response.status, &response.headers.location) else {
                return self.read_body(url, response, ask, hop > 0).await;
            };
            let target = self.redirected(&url, location, ask)?;
            ask.by_header = false;
            // 307 and 308 repeat the form: to another address, and once. 301 to 303 are responses to a login.
            if !matches!(response.status, 307 | 308) {
                ask.post = None;
            } else if ask.post.is_some()
                && (std::mem::replace(&mut was_sent_on, true) || target.as_str() == url.as_str())
            {
                let told = told_url(url.as_str());
                return Err(ends(Verdict::Unknown, format!("{told} redirects the form again and again")));
            }
            // What a script sends to one origin is not meant for another.
            if target.origin() != url.origin() {
                ask.by_script = ask.by_script.map(|by| ByScript { headers: &[], ..by });
            }
            url = target;
        }
        let told =
            format!("redirect loop: {} redirects after {} others", told_url(url.as_str()), limits::LOGIN_HOPS_MAX);
        // After a form, the loop says nothing of the way to it.
        Err(ends(if self.report.was_sent { Verdict::Unknown } else { Verdict::RedirectLoop }, told))
    }

    /// Sends one request; records what the head of the response says of the requested wait and of the login.
    async fn send_once(&mut self, url: &CrawlUrl, ask: Ask<'_>) -> Step<Response> {
        if ask.sends_form() {
            self.begins()?;
        }
        let is_try = self.attempt.is_try;
        if is_try && ask.sends_form() {
            self.leaves();
        }
        let request = Request { post: ask.post, by_script: ask.by_script, ..url.into() };
        let response = match self.site.transport.send(request).await {
            Ok(response) => response,
            Err(failure) => {
                self.in_trouble(Answered::Unreachable);
                return Err(broken(url, &failure));
            }
        };
        let status = response.status;
        self.patience.answered(status, response.headers.retry_after.as_deref(), self.site.clock.now());
        if let (Some(until), true, Some(notes)) = (self.patience.retry_at, self.report.was_sent, self.begins) {
            // It also binds the next process, if this one ends while it waits.
            notes.asks_to_wait(until);
        }
        if is_try && ask.sends_form() {
            self.report.was_answered = status < 500;
        }
        // A redirect that asks for the form again has not accepted it, and one that refuses means no session. The text of a page is
        // read first: if the process is killed before that, its content is unknown.
        if is_try && (300..400).contains(&status) && !(ask.post.is_some() && matches!(status, 307 | 308)) {
            self.note_before_proof();
        }
        Ok(response)
    }

    /// The target of a redirect.
    fn redirected(&mut self, url: &CrawlUrl, location: &str, ask: Ask<'_>) -> Step<CrawlUrl> {
        self.report.was_told |= self.attempt.is_try && ask.sends_form();
        self.report.says_refused |= self.attempt.is_try && refuses_by_address(location);
        let target = url.to_url().ok().and_then(|own| own.join(location).ok());
        let Some(target) = target.as_ref().and_then(CrawlUrl::exact) else {
            return Err(ends(Verdict::Unknown, format!("{} redirects to an invalid URL", told_url(url.as_str()))));
        };
        self.may_ask(&target, url.as_str().starts_with("https:"))?;
        match self.site.rules.forbids_in_login(&target).filter(|_| ask.by_script.is_some()) {
            None => Ok(target),
            Some(reason) => {
                let told = told_url(target.as_str());
                Err(ends(Verdict::Unknown, format!("{told}: the rules refuse it: {}", reason.name())))
            }
        }
    }

    /// Reads the body of the last response.
    async fn read_body(
        &mut self,
        url: CrawlUrl,
        response: Response,
        ask: Ask<'_>,
        is_redirected: bool,
    ) -> Step<Answer> {
        let Response { status, headers, body } = response;
        let (length, bodies) = (headers.content_length, &self.site.memory.bodies);
        let (bytes, is_whole) = match body::read(body, length, bodies, |_, _| Want::UpTo(ask.bytes_max)).await {
            Read::Whole(bytes) => (bytes, true),
            Read::Stopped { bytes, .. } => (bytes, false),
            Read::Failed { failure, .. } => {
                self.in_trouble(Answered::Faulty);
                return Err(broken(&url, &failure));
            }
        };
        self.report.was_told |= self.attempt.is_try && ask.sends_form();
        let challenges = headers.challenges.iter().map(String::as_str).filter(|_| status == 401);
        let (was_got, challenge) = (ask.post.is_none(), Challenge::of(challenges));
        let (content_type, for_scripts) = (headers.content_type, headers.for_scripts);
        Ok(Answer { url, status, content_type, bytes, is_whole, was_got, is_redirected, challenge, for_scripts })
    }

    /// A form is about to be sent, possibly with only the user's name, after which some sites send e-mails: the recorder of the
    /// account's attempts stores that first.
    fn begins(&mut self) -> Step<()> {
        let begun = self.begins.map_or(Ok(()), |notes| notes.begins());
        begun.map_err(|error| {
            // This says nothing of the site.
            self.report.trouble = Some(Answered::Reached);
            ends(Verdict::Unknown, format!("nothing was sent: {}", in_one_line(&error)))
        })
    }

    /// A request without a response, or with an incomplete one.
    pub(super) fn in_trouble(&mut self, trouble: Answered) {
        self.report.trouble = Some(trouble);
        self.patience.in_trouble(trouble);
    }

    /// Waits before a request: for the host, and before a form as long as a person would need to fill it in. A refusal
    /// ends a login of which nothing was sent yet.
    pub(super) async fn pause(&mut self, url: &CrawlUrl, is_form: bool) -> Step<()> {
        let is_first = std::mem::take(&mut self.patience.is_first);
        let is_typed = is_form && !is_first;
        if is_typed && self.teller.tell.is_some() {
            let pause = self.site.rules.rate.interval.max(limits::LOGIN_PAUSE);
            let seconds = pause.as_secs() + u64::from(pause.subsec_nanos() > 0);
            self.say(format!("waiting {seconds} s before sending, as a person would"));
        }
        let Some(pace) = &mut self.patience.pace else {
            if !is_first {
                let rate = self.site.rules.rate.interval;
                tokio::time::sleep(if is_typed { rate.max(limits::LOGIN_PAUSE) } else { rate }).await;
            }
            if let Some(wait) = self.patience.asked_wait(self.site.clock.now()) {
                self.say(format!("waiting {} s before the next request, as the site asks", wait.as_secs() + 1));
                tokio::time::sleep(wait).await;
            }
            return Ok(());
        };
        pace.rest();
        let passed = match is_typed {
            true => pace.type_in(self.report.was_sent).await,
            false => Ok(()),
        };
        let passed = match passed {
            Ok(()) => pace.pass(url, self.report.was_sent).await,
            refused => refused,
        };
        passed.map_err(|refusal| {
            // This says nothing of the site.
            self.report.trouble = Some(Answered::Reached);
            ends(Verdict::Unknown, refusal.to_string())
        })
    }
}
