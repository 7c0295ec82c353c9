//! Pages and answers of a login: what may be asked, when, and what comes behind its redirects.

use std::sync::Arc;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};

use super::{Page, Run, Step, ends};
use crate::account::in_one_line;
use crate::denial::is_topic;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Judged, Verdict, asks_for_consent, asks_to_log_in, refuses, says_gate, says_trouble};
use gleaner_login::view::View;
use gleaner_net::fetch::body::{self, Read, Want};
use gleaner_net::fetch::{ByScript, FetchFailure, Post, Request, Response, charset};
use gleaner_net::politeness::Answered;
use gleaner_page::scripted::{Signs, signs};
use gleaner_render::wire as net;

/// The last answer behind a request and its redirects.
pub(super) struct Answer {
    pub url: CrawlUrl,
    pub status: u16,
    pub content_type: Option<String>,
    pub bytes: Bytes,
    /// False where there was more than was wanted.
    pub is_whole: bool,
    /// False where it answers a form.
    pub was_got: bool,
    pub is_redirected: bool,
    /// What a script may see of its headers, where one asked.
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
            body: self.bytes.to_vec(),
        }
    }
}

/// What is asked, and how.
#[derive(Clone, Copy)]
pub(super) struct Ask<'b> {
    pub post: Option<Post<'b>>,
    /// Where a page's script asks.
    pub by_script: Option<ByScript<'b>>,
    /// Of the last answer.
    pub bytes_max: usize,
    /// Said when the POST leaves, behind the pauses in front of it.
    pub told: Option<&'b str>,
    /// False for what a script posts beside the login.
    pub is_form: bool,
}

impl Ask<'_> {
    /// True while the form is what is sent.
    fn sends_form(&self) -> bool {
        self.is_form && self.post.is_some()
    }
}

/// Evidence of an address that may be the site's own by now.
pub const OWN_HOST: &str = "has the host of this site under another scheme or port";

/// How the line of a rule file begins that would make an address one of the site's.
pub const HOSTS_LINE: &str = "hosts = [";

/// Evidence of a page that comes from something else than the site's software.
pub const IN_FRONT: &str = "what stands in front of the site";

/// The words in which a page that holds little else says that something in front of the site keeps everybody out, or asks everybody for
/// consent; and which of the two.
pub(super) fn in_front(page: &Page) -> Option<String> {
    let view = &page.view;
    let is_bare = view.text.len() < limits::TROUBLE_BYTES_MAX && page.login_form().is_none();
    let is_guests = !view.log_in_links.is_empty() || asks_to_log_in(view).is_some();
    if !is_bare || is_guests || view.log_outs().next().is_some() {
        return None;
    }
    let says = |phrase: &str, what: &str| format!("says “{phrase}”, and nothing else: {IN_FRONT} {what}");
    // What asks for more than a click is a form of the site's: a search, a login.
    let is_typed = || view.forms.iter().flat_map(|form| &form.controls).any(|control| control.kind.is_line());
    match page.status {
        // A page that is not there is not kept back.
        404 | 410 => None,
        // Whoever asks for another login by 401 keeps nobody out for a time.
        402..=499 => says_gate(view).map(|phrase| says(phrase, "lets nobody in now")),
        200..=299 if !view.forms.is_empty() && !is_typed() && !page.waits => {
            asks_for_consent(view).map(|phrase| says(phrase, "asks for consent"))
        }
        _ => None,
    }
}

/// The words in which a page that holds little else, and none of what a site's pages have around a login, says that its site is in trouble.
fn trouble_in_words(page: &Page) -> Option<&'static str> {
    let view = &page.view;
    let is_bare = view.text.len() < limits::TROUBLE_BYTES_MAX && view.forms.is_empty() && view.log_in_links.is_empty();
    says_trouble(view).filter(|_| is_bare && (200..300).contains(&page.status))
}

fn broken(url: &CrawlUrl, failure: &FetchFailure) -> Judged {
    ends(Verdict::Unknown, format!("{}: {failure}", told_url(url.as_str())))
}

/// True where what an address says behind its path is that the password is wrong: `/login?error=invalid_password`.
fn refuses_by_address(location: &str) -> bool {
    let said = location.split_once(['?', '#']).map_or("", |(_, said)| said);
    let words = |(name, value): (_, _)| format!("{name} {value}").to_lowercase().replace(['_', '-', '+', '.'], " ");
    said.len() <= limits::MESSAGE_BYTES_MAX
        && url::form_urlencoded::parse(said.as_bytes()).map(words).any(|words| refuses(&words))
}

impl Run<'_> {
    /// A page; `from_tls` is true where a page over https names it.
    pub(super) async fn page(&mut self, url: CrawlUrl, from_tls: bool) -> Step<Page> {
        self.may_ask(&url, from_tls)?;
        let is_proof =
            self.guests.is_guest && !self.attempt.is_try && self.probe_url().is_some_and(|proof| proof == url);
        let page = self.follow(url, None).await?;
        // A server in trouble says nothing about forms and sessions.
        let page = self.untroubled(page)?;
        if is_proof && !page.waits {
            // What a guest is shown there is no sign of a member afterwards.
            self.guests.shown = Some(Some(page.clone()));
        }
        Ok(page)
    }

    /// The page, unless it says that the server is in trouble, or comes from what stands in front of the site.
    pub(super) fn untroubled(&mut self, page: Page) -> Step<Page> {
        if page.status != 429
            && let Some(says) = in_front(&page)
        {
            return Err(self.kept_out(&page, &says));
        }
        self.answered_well(page)
    }

    /// How a login ends that something in front of the site keeps out.
    pub(super) fn kept_out(&mut self, page: &Page, says: &str) -> Judged {
        self.report.trouble = Some(Answered::Faulty);
        ends(Verdict::Unknown, format!("{} {says}", told_url(page.url.as_str())))
    }

    /// The page, unless it says that the server is in trouble.
    fn answered_well(&mut self, page: Page) -> Step<Page> {
        if let Some(phrase) = trouble_in_words(&page) {
            self.report.trouble = Some(Answered::Faulty);
            let why = format!("{} says “{phrase}”, and nothing else", told_url(page.url.as_str()));
            return Err(ends(Verdict::Unknown, why));
        }
        let Some(trouble) = self.patience.trouble_of(page.status) else { return Ok(page) };
        self.report.trouble = Some(trouble);
        let verdict = if page.status == 429 { Verdict::RateLimited } else { Verdict::Unknown };
        Err(ends(verdict, format!("{} answers {}", told_url(page.url.as_str()), page.status)))
    }

    /// How a login ends whose page's script was asked for patience by the answer to a read of its own: 429, or 503 that names a time.
    pub(super) fn asked_for_patience(&mut self, answer: &Answer) -> Option<Judged> {
        let asks = answer.status == 429 || (answer.status == 503 && self.patience.retry_at.is_some());
        asks.then(|| {
            self.report.trouble = self.patience.trouble_of(answer.status);
            ends(Verdict::RateLimited, format!("{} answers {}", told_url(answer.url.as_str()), answer.status))
        })
    }

    /// The password, and the session, go to the site's own hosts, and what began over TLS stays there.
    pub(super) fn may_ask(&mut self, url: &CrawlUrl, from_tls: bool) -> Step<()> {
        if !self.site.rules.owns_host(url.authority()) {
            let why = format!("{} is no host of this site{}", self.named(url), self.hosts_line(url));
            let judged = ends(Verdict::OtherSite, why);
            self.last_refused = Some(url.clone());
            return Err(judged);
        }
        if from_tls && !url.as_str().starts_with("https:") {
            let url = told_url(url.as_str());
            return Err(ends(
                Verdict::Unknown,
                format!("{url} would send the session in the clear, from a page over https"),
            ));
        }
        Ok(())
    }

    /// What makes such an address one of the site's, for people.
    pub(super) fn hosts_line(&self, url: &CrawlUrl) -> String {
        let hosts = self.site.rules.hosts.iter().map(|host| &**host).chain([url.authority()]);
        let hosts: Vec<String> = hosts.map(|host| format!("\"{host}\"")).collect();
        format!("; `{HOSTS_LINE}{}]` would make it one", hosts.join(", "))
    }

    /// The host of an address that is not the site's, for people: one whose scheme or port alone is another than the rule file's is told as such.
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

    /// One request, and the page behind its redirects.
    pub(super) async fn follow(&mut self, url: CrawlUrl, post: Option<Post<'_>>) -> Step<Page> {
        let answer = self.read(url, post, limits::PAGE_BYTES_MAX).await?;
        self.page_of(answer).await
    }

    /// The page that proves a session, be it what stands in front of the site.
    pub(super) async fn page_of_members(&mut self, url: CrawlUrl) -> Step<Page> {
        self.may_ask(&url, false)?;
        let page = self.follow(url, None).await?;
        self.answered_well(page)
    }

    /// A page as whoever has no cookie and no token sees it, be it what stands in front of the site.
    pub(super) async fn page_of_guests(&mut self, url: CrawlUrl) -> Step<Page> {
        let by_script = Some(ByScript { headers: &[], credentials: false });
        let ask = Ask { post: None, by_script, bytes_max: limits::PAGE_BYTES_MAX, told: None, is_form: false };
        let answer = self.read_as(url, ask).await?;
        let page = self.page_of(answer).await?;
        self.answered_well(page)
    }

    async fn page_of(&mut self, answer: Answer) -> Step<Page> {
        let Answer { url, status, content_type, bytes, was_got, .. } = answer;
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
        Ok(Page { url, status, charset, view, was_got, markup, waits: signs.empty_root })
    }

    /// One request, the redirects behind it, and up to some bytes of the last answer.
    pub(super) async fn read(&mut self, url: CrawlUrl, post: Option<Post<'_>>, bytes_max: usize) -> Step<Answer> {
        let told = post.map(|_| format!("sent to {}", told_url(url.as_str())));
        let is_form = post.is_some();
        self.read_as(url, Ask { post, by_script: None, bytes_max, told: told.as_deref(), is_form }).await
    }

    /// The same, as a page's script may ask.
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
            // 307 and 308 have the form sent again: to another address, and once. 301 to 303 are answers to a login.
            if !matches!(response.status, 307 | 308) {
                ask.post = None;
            } else if ask.post.is_some()
                && (std::mem::replace(&mut was_sent_on, true) || target.as_str() == url.as_str())
            {
                let told = told_url(url.as_str());
                return Err(ends(Verdict::Unknown, format!("{told} wants the form again and again")));
            }
            // What a script says to one origin is not for another.
            if target.origin() != url.origin() {
                ask.by_script = ask.by_script.map(|by| ByScript { headers: &[], ..by });
            }
            url = target;
        }
        let told =
            format!("redirect loop: {} redirects after {} others", told_url(url.as_str()), limits::LOGIN_HOPS_MAX);
        // Behind a form it says nothing of the way to it.
        Err(ends(if self.report.was_sent { Verdict::Unknown } else { Verdict::RedirectLoop }, told))
    }

    /// One request, and what the head of its answer says of the site's patience and of the login.
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
            // It holds for the next process as well, should this one end while it waits.
            notes.asks_to_wait(until);
        }
        if is_try && ask.sends_form() {
            self.report.was_answered = status < 500;
        }
        // One that asks for the form again has not taken it, and one that refuses has let nobody in. What a page says is read first: who
        // is killed before knows nothing of it.
        if is_try && (300..400).contains(&status) && !(ask.post.is_some() && matches!(status, 307 | 308)) {
            self.note_before_proof();
        }
        Ok(response)
    }

    /// Where an answer leads to.
    fn redirected(&mut self, url: &CrawlUrl, location: &str, ask: Ask<'_>) -> Step<CrawlUrl> {
        self.report.was_told |= self.attempt.is_try && ask.sends_form();
        self.report.says_refused |= self.attempt.is_try && refuses_by_address(location);
        let target = url.to_url().ok().and_then(|own| own.join(location).ok());
        let Some(target) = target.as_ref().and_then(CrawlUrl::exact) else {
            return Err(ends(Verdict::Unknown, format!("{} redirects to nowhere", told_url(url.as_str()))));
        };
        self.may_ask(&target, url.as_str().starts_with("https:"))?;
        match self.site.rules.forbids(&target).filter(|_| ask.by_script.is_some()) {
            None => Ok(target),
            Some(reason) => {
                let told = told_url(target.as_str());
                Err(ends(Verdict::Unknown, format!("{told}: the rules refuse it: {}", reason.name())))
            }
        }
    }

    /// Reads the last answer.
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
        let (was_got, content_type, for_scripts) = (ask.post.is_none(), headers.content_type, headers.for_scripts);
        Ok(Answer { url, status, content_type, bytes, is_whole, was_got, is_redirected, for_scripts })
    }

    /// A form is about to leave, be it with the user's name alone, at which sites send letters: whoever keeps the account's tries
    /// writes that down first.
    fn begins(&mut self) -> Step<()> {
        let begun = self.begins.map_or(Ok(()), |notes| notes.begins());
        begun.map_err(|error| {
            // Of the site it says nothing.
            self.report.trouble = Some(Answered::Reached);
            ends(Verdict::Unknown, format!("nothing was sent: {}", in_one_line(&error)))
        })
    }

    /// A request that was not answered, or not to its end.
    pub(super) fn in_trouble(&mut self, trouble: Answered) {
        self.report.trouble = Some(trouble);
        self.patience.in_trouble(trouble);
    }

    /// Waits in front of a request: for the host, and in front of a form as a person would who fills it in. What keeps a
    /// request back ends a login of which nothing has left yet.
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
            // Of the site it says nothing.
            self.report.trouble = Some(Answered::Reached);
            ends(Verdict::Unknown, refusal.to_string())
        })
    }
}
