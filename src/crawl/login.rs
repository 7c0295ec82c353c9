//! One login, step by step: find the form, fill it in, send it, read what came, prove the session by a page.
//!
//! A few requests, one after the other, with a pause where a person would type. They are the operator's own, asked for by
//! the rule file's `[login]`, so that robots.txt closes no page to them; everything else that binds a request holds (`pace`).
//! What is sent goes to the site's own hosts alone, and never from https to http. Every step is told in words without secrets.

mod find;
pub mod handover;
mod json;
pub mod pace;
mod steps;

use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8};

use self::handover::Person;
use self::pace::Pace;
use self::steps::FirstStep;
use super::site::Site;
use crate::clock::UnixMillis;
use crate::fetch::body::{self, Read, Want};
use crate::fetch::charset;
use crate::fetch::session::Jar;
use crate::fetch::{FetchFailure, Post, Request};
use crate::limits;
use crate::login::fields::roles;
use crate::login::fill::{Chosen, Entries, FillError, Submission, fill};
use crate::login::form::{Form, Kind};
use crate::login::hashing::Hashing;
use crate::login::model::Judge;
use crate::login::secret::{Secret, told_url};
use crate::login::tries::Ended;
use crate::login::verdict::{After, Judged, Verdict, asks_to_log_in, judge, logged_out};
use crate::login::view::View;
use crate::politeness::{Answered, backoff};
use crate::rules::LoginRules;
use crate::url::CrawlUrl;

/// How a login went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What was done and seen, in order.
    pub steps: Vec<String>,
    pub judged: Judged,
    /// False where the form never left.
    pub was_sent: bool,
    /// False where it was not answered, or by a server in trouble.
    pub was_answered: bool,
    /// How the site ended a request that it had no good answer for, if it did.
    pub trouble: Option<Answered>,
    /// The page with the form, and what was filled in, as far as it came.
    pub chosen: Vec<String>,
}

/// What a login needs beside the site.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub rules: &'a LoginRules,
    pub password: &'a Secret,
    /// The cookies of the site's client.
    pub jar: &'a Jar,
}

/// Logs in. What only a person could answer ends it, with a verdict that says so.
pub async fn log_in(site: &Site, means: Means<'_>) -> Report {
    run(Run::new(site, means)).await
}

/// Logs in at the pace of a crawl, beside the other requests of its process.
pub async fn log_in_paced(site: &Site, means: Means<'_>, pace: &mut Pace) -> Report {
    run(Run { pace: Some(pace), ..Run::new(site, means) }).await
}

/// Logs in with a person at hand, who is asked in the middle of it: the thread waits for the answer.
pub async fn log_in_asking(site: &Site, means: Means<'_>, person: Person<'_>) -> Report {
    run(Run { person: Some(person), ..Run::new(site, means) }).await
}

async fn run(mut run: Run<'_>) -> Report {
    let judged = run.log_in().await.unwrap_or_else(|judged| judged);
    for evidence in judged.evidence.clone() {
        run.say(format!("evidence: {evidence}"));
    }
    let named = format!("gleaner login {}", run.site.rules.name);
    let verdict = sentence(judged.verdict, run.trouble).replace("gleaner login SITE", &named);
    run.say(format!("verdict: {verdict}"));
    let Run { steps, was_sent, was_answered, trouble, chosen, .. } = run;
    Report { steps, judged, was_sent, was_answered, trouble, chosen }
}

impl Report {
    /// The verdict for people, or what the site was in trouble with.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        sentence(self.judged.verdict, self.trouble)
    }

    /// What the account's tries are told.
    #[must_use]
    pub fn ended(&self) -> Ended {
        Ended { verdict: self.judged.verdict, was_sent: self.was_sent, was_answered: self.was_answered }
    }

    /// True where nothing was learned: the form never left because the site was in trouble or was not to be asked, or it
    /// was taken, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn came_to_nothing(&self) -> bool {
        self.trouble.is_some() && (!self.was_sent || self.is_unproven())
    }

    /// True where the site took the form, and then no page could be asked whether it let us in.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        self.judged.verdict == Verdict::Unknown && self.was_answered && self.trouble.is_some()
    }
}

/// Whether a session holds.
pub struct Proof {
    /// None where the site did not answer, or is in trouble.
    pub holds: Option<bool>,
    /// What was done and seen, in order.
    pub steps: Vec<String>,
}

/// Does the session hold?
pub async fn prove(site: &Site, means: Means<'_>, pace: Option<&mut Pace>) -> Proof {
    let mut run = Run { pace, ..Run::new(site, means) };
    let holds = run.holds().await;
    Proof { holds, steps: run.steps }
}

/// Does the session hold? Asks for the page that proves it; None where the site did not answer, or is in trouble.
pub async fn session_holds(site: &Site, means: Means<'_>) -> (Option<bool>, Vec<String>) {
    let Proof { holds, steps } = prove(site, means, None).await;
    (holds, steps)
}

struct Run<'a> {
    site: &'a Site,
    means: Means<'a>,
    person: Option<Person<'a>>,
    /// None where nothing else is asked beside it.
    pace: Option<&'a mut Pace>,
    steps: Vec<String>,
    is_first: bool,
    /// Taken, or to be taken, in front of the form with the password.
    first_step: Option<FirstStep>,
    /// True once a form is on its way that is a try to log in.
    is_try: bool,
    /// True once a form has left.
    was_sent: bool,
    /// True once it was answered by a server that is not in trouble.
    was_answered: bool,
    /// What the site was in trouble with, if it was.
    trouble: Option<Answered>,
    /// For the report.
    chosen: Vec<String>,
    /// Until when the last answer asks us to wait, where it does.
    retry_at: Option<UnixMillis>,
    /// An address off the site's hosts that was not asked.
    last_refused: Option<CrawlUrl>,
}

/// A page that was read.
#[derive(Clone)]
struct Page {
    url: CrawlUrl,
    status: u16,
    charset: &'static Encoding,
    view: View,
    /// True where it was asked for as members ask, by GET; false for what answers a form.
    was_got: bool,
}

impl Page {
    fn login_form(&self) -> Option<usize> {
        Judge::stored().login_form(&self.view.forms, self.url.as_str()).map(|(at, _)| at)
    }

    fn is_over_tls(&self) -> bool {
        self.url.as_str().starts_with("https:")
    }
}

/// The last answer behind a request and its redirects.
struct Answer {
    url: CrawlUrl,
    status: u16,
    content_type: Option<String>,
    bytes: Bytes,
    /// False where there was more than was wanted.
    is_whole: bool,
    /// False where it answers a form.
    was_got: bool,
}

type Step<T> = Result<T, Judged>;

fn ends(verdict: Verdict, why: impl Into<String>) -> Judged {
    Judged { verdict, evidence: vec![why.into()] }
}

impl<'a> Run<'a> {
    fn new(site: &'a Site, means: Means<'a>) -> Self {
        Self {
            site,
            means,
            person: None,
            pace: None,
            steps: Vec::new(),
            is_first: true,
            first_step: None,
            is_try: false,
            was_sent: false,
            was_answered: false,
            trouble: None,
            chosen: Vec::new(),
            retry_at: None,
            last_refused: None,
        }
    }

    /// Steps hold what sites write: nothing of it may steer a terminal.
    fn say(&mut self, step: String) {
        let step = step.replace(char::is_control, "\u{fffd}");
        tracing::debug!(site = %self.site.rules.name, step, "login");
        self.steps.push(step);
    }

    /// A step that a report in short has, too.
    fn say_chosen(&mut self, step: String) {
        self.chosen.push(step.replace(char::is_control, "\u{fffd}"));
        self.say(step);
    }

    async fn log_in(&mut self) -> Step<Judged> {
        if let Some(json) = &self.means.rules.json {
            let judged = self.log_in_by_json(json).await?;
            return self.proven(judged, None).await;
        }
        let mut page = self.find_form_page().await?;
        if let Some(step) = self.first_step {
            page = self.take_first_step(&page, step).await?;
        }
        let mut sends = 0;
        loop {
            let form = self.choose_form(&page)?;
            let cookies_before = self.means.jar.changes();
            let typed = self.answers(&page, &form).await?;
            let submission = self.fill_in(&page, &form, &typed)?;
            let mut after = self.send(&page, &submission).await?;
            sends += 1;
            let mut judged = self.judge(&after, cookies_before);
            if judged.verdict == Verdict::SecondFactor {
                after = self.second_factor(after).await?;
                judged = self.judge(&after, cookies_before);
            }
            // The site wants a CAPTCHA read before it looks at the password: once more, if somebody reads it.
            let is_asked = judged.verdict == Verdict::Captcha && self.person.is_some() && after.login_form().is_some();
            if is_asked && sends < limits::LOGIN_SENDS_MAX {
                self.say(judged.evidence.join("; "));
                page = after;
                continue;
            }
            return self.proven(judged, Some(after)).await;
        }
    }

    fn judge(&self, after: &Page, cookies_before: u64) -> Judged {
        let cookies_changed = self.means.jar.changes() != cookies_before;
        judge(&After { status: after.status, view: &after.view, login_form: after.login_form(), cookies_changed })
    }

    /// What seems to have worked, or tells nothing, is held to a page that members see: the one behind the form, where its
    /// redirects lead there.
    async fn proven(&mut self, judged: Judged, after: Option<Page>) -> Step<Judged> {
        if !matches!(judged.verdict, Verdict::LoggedIn | Verdict::Unknown) {
            return Ok(judged);
        }
        let is_proof = |page: &Page| page.was_got && self.probe_url().is_some_and(|url| url == page.url);
        let after = after.filter(is_proof).filter(|page| self.trouble_of(page.status).is_none());
        let proof = self.probe(after).await.map_err(|ended| {
            let evidence = judged.evidence.iter().cloned().chain(ended.evidence).collect();
            Judged { evidence, ..ended }
        })?;
        Ok(match proof {
            Ok(proof) => ends(Verdict::LoggedIn, proof),
            Err(_) if judged.verdict == Verdict::Unknown => judged,
            Err(why) => ends(Verdict::Unknown, format!("the site seemed to let us in, but {why}")),
        })
    }

    fn choose_form(&mut self, page: &Page) -> Step<Form> {
        let judge = Judge::stored();
        for (at, form) in page.view.forms.iter().enumerate().take(20) {
            let judgement = judge.judge(form, page.url.as_str());
            let kind = if judgement.is_login { "a login form" } else { "no login form" };
            let fields: Vec<&str> = form.controls.iter().map(|of| &*of.name).filter(|name| !name.is_empty()).collect();
            self.say(format!("form {}: {kind} ({:.2}); fields {}", at + 1, judgement.score, fields.join(", ")));
        }
        let at = match self.means.rules.form {
            _ if self.first_step.is_some() => page
                .password_form()
                .ok_or_else(|| ends(Verdict::NoForm, format!("{} has none", told_url(page.url.as_str()))))?,
            Some(at) if at < page.view.forms.len() => at,
            Some(at) => {
                let count = page.view.forms.len();
                return Err(ends(
                    Verdict::NoForm,
                    format!("the rule file names form {}, the page has {count}", at + 1),
                ));
            }
            None => page
                .login_form()
                .ok_or_else(|| ends(Verdict::NoForm, format!("{} has none", told_url(page.url.as_str()))))?,
        };
        for line in judge.path(&page.view.forms[at], page.url.as_str()) {
            self.say(format!("form {}: {line}", at + 1));
        }
        Ok(page.view.forms[at].clone())
    }

    fn fill_in(&mut self, page: &Page, form: &Form, typed: &[(Box<str>, Box<str>)]) -> Step<Submission> {
        let rules = self.means.rules;
        let by_name = |name: &str| form.controls.iter().position(|control| &*control.name == name);
        let roles = roles(form);
        let pinned = |name: &Option<Box<str>>, found: Option<usize>| match name {
            None => Ok(found),
            Some(name) => {
                let fault =
                    || ends(Verdict::NoForm, format!("the form has no field `{name}`, which the rule file names"));
                by_name(name).map(Some).ok_or_else(fault)
            }
        };
        // The page behind the user's name need not ask for it again.
        let user_is_told = self.first_step.is_some();
        let user_field = rules.user_field.clone().filter(|name| !user_is_told || by_name(name).is_some());
        let chosen = Chosen {
            user: pinned(&user_field, roles.user)?,
            user_is_told,
            password: pinned(&rules.password_field, roles.password)?,
            remember: roles.remember.filter(|at| form.controls[*at].kind == Kind::Checkbox),
            submit: form.submit(),
        };
        let others: Vec<(Box<str>, Box<str>)> = rules.fields.iter().chain(typed).cloned().collect();
        let entries = Entries { user: &rules.user, password: self.means.password, others: &others };
        let own = page.url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let refused = |error: FillError| {
            let is_script = matches!(error, FillError::Script(_) | FillError::UnknownHash(_) | FillError::Dialog);
            ends(if is_script { Verdict::Script } else { Verdict::NoForm }, error.to_string())
        };
        let submission = fill(form, &chosen, entries, &page.view.base(&own), page.charset).map_err(refused)?;
        self.tell_fields(&submission);
        if !form.onsubmit.is_empty() && Hashing::of(form).is_none() {
            self.say(
                "the form has a script of its own, which is not run: it does not seem to change the password".into(),
            );
        }
        Ok(submission)
    }

    fn tell_fields(&mut self, submission: &Submission) {
        let shown: Vec<String> = submission.shown.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.say_chosen(format!("fields: {}", shown.join("  ")));
    }

    async fn send(&mut self, page: &Page, submission: &Submission) -> Step<Page> {
        let Some(url) = CrawlUrl::exact(&submission.url) else {
            return Err(ends(Verdict::Unknown, "the form's address is longer than any that is asked for"));
        };
        self.may_ask(&url, page.is_over_tls())?;
        self.say(format!("sent to {}", told_url(url.as_str())));
        let post = Post { content_type: &submission.content_type, body: &submission.body, referer: &page.url };
        self.is_try = true;
        let page = self.follow(url, Some(post)).await?;
        // What it says to the password is for the verdict, but the host is left in peace.
        self.trouble = self.trouble_of(page.status).or(self.trouble);
        Ok(page)
    }

    async fn holds(&mut self) -> Option<bool> {
        match self.probe(None).await {
            Ok(proof) => Some(proof.is_ok()),
            Err(_) if self.trouble.is_some() => None,
            // Guests are sent elsewhere, to another site or in circles.
            Err(judged) => {
                self.say(format!("no proof: {}", judged.evidence.join("; ")));
                Some(false)
            }
        }
    }

    /// The page that members see.
    fn probe_url(&self) -> Option<CrawlUrl> {
        self.means.rules.probe.clone().or_else(|| self.site.rules.start.first().cloned())
    }

    /// A page that members see, which is asked for unless it is at hand: Ok with what proves that we are one, Err with what
    /// speaks against it.
    async fn probe(&mut self, at_hand: Option<Page>) -> Step<Result<String, String>> {
        let Some(asked) = self.probe_url() else {
            return Ok(Err("the site has no page to ask".to_owned()));
        };
        let page = match at_hand {
            Some(page) => page,
            None => self.page(asked.clone(), false).await?,
        };
        // A guest who is sent elsewhere sees no members' page.
        let is_there = page.url.path().split('?').next() == asked.path().split('?').next();
        let login_form = page.login_form();
        let address = told_url(page.url.as_str());
        let proof = if let Some(link) = page.view.log_out_links.first() {
            Ok(format!("{address} has a link to log out: {}", told_url(link)))
        } else if let Some(sign) = logged_out(&page.view, login_form) {
            Err(format!("{address} shows {sign}"))
        } else if !(200..300).contains(&page.status) {
            Err(format!("{address} answers {}", page.status))
        } else if self.means.rules.probe.is_some() && !is_there {
            Err(format!("{} leads to {address}", told_url(asked.as_str())))
        } else if let Some(link) = page.view.log_in_links.first() {
            Err(format!("{address} has a link to log in ({}) and none to log out", told_url(link)))
        } else if let Some(phrase) = asks_to_log_in(&page.view) {
            // However long the page is around them.
            Err(format!("{address} says “{phrase}”"))
        } else if self.means.rules.probe.is_some() {
            Ok(format!("{address}, which the rule file names for members, is shown"))
        } else if names(&page.view.text, &self.means.rules.user.to_lowercase()) {
            Ok(format!("{address} names the user"))
        } else {
            Err(format!("{address} shows neither a link to log out nor the user's name"))
        };
        self.say(match &proof {
            Ok(proof) => format!("proof: {proof}"),
            Err(why) => format!("no proof: {why}"),
        });
        Ok(proof)
    }

    /// A page; `from_tls` is true where a page over https names it.
    async fn page(&mut self, url: CrawlUrl, from_tls: bool) -> Step<Page> {
        self.may_ask(&url, from_tls)?;
        let page = self.follow(url, None).await?;
        // A server in trouble says nothing about forms and sessions.
        self.untroubled(page)
    }

    /// The page, unless it says that the server is in trouble.
    fn untroubled(&mut self, page: Page) -> Step<Page> {
        let Some(trouble) = self.trouble_of(page.status) else { return Ok(page) };
        self.trouble = Some(trouble);
        let verdict = if page.status == 429 { Verdict::RateLimited } else { Verdict::Unknown };
        Err(ends(verdict, format!("{} answers {}", told_url(page.url.as_str()), page.status)))
    }

    /// What an answer of this status says of the server alone.
    fn trouble_of(&self, status: u16) -> Option<Answered> {
        match status {
            429 | 503 => Some(Answered::Throttled(self.retry_at)),
            500.. => Some(Answered::Faulty),
            _ => None,
        }
    }

    /// The password, and the session, go to the site's own hosts, and what began over TLS stays there.
    fn may_ask(&mut self, url: &CrawlUrl, from_tls: bool) -> Step<()> {
        if !self.site.rules.owns_host(url.authority()) {
            let judged = ends(Verdict::OtherSite, format!("{} is no host of this site", url.authority()));
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

    /// One request, and the page behind its redirects.
    async fn follow(&mut self, url: CrawlUrl, post: Option<Post<'_>>) -> Step<Page> {
        let Answer { url, status, content_type, bytes, was_got, .. } =
            self.read(url, post, limits::PAGE_BYTES_MAX).await?;
        let label = self.site.rules.charset.map(Encoding::name);
        let charset = charset::detect(content_type.as_deref(), &bytes, label);
        let turn = self.site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || View::of(&charset.decode(&bytes).0));
        let view = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        drop(turn);
        let view = view.map_err(|error| ends(Verdict::Unknown, format!("{}: {error}", told_url(url.as_str()))))?;
        let charset = if charset.is_ascii_compatible() { charset } else { UTF_8 };
        Ok(Page { url, status, charset, view, was_got })
    }

    /// One request, the redirects behind it, and up to some bytes of the last answer.
    async fn read(&mut self, mut url: CrawlUrl, mut post: Option<Post<'_>>, bytes_max: usize) -> Step<Answer> {
        let mut was_sent_on = false;
        for hop in 0..limits::LOGIN_HOPS_MAX {
            self.pause(&url, hop == 0 && post.is_some()).await?;
            self.was_sent |= self.is_try && post.is_some();
            let request = Request { post, ..(&url).into() };
            let sent = self.site.transport.send(request).await;
            let broken =
                |failure: FetchFailure| ends(Verdict::Unknown, format!("{}: {failure}", told_url(url.as_str())));
            let response = match sent {
                Ok(response) => response,
                Err(failure) => {
                    self.in_trouble(Answered::Unreachable);
                    return Err(broken(failure));
                }
            };
            let status = response.status;
            let asked = response.headers.retry_after.as_deref();
            self.retry_at = asked.and_then(|value| backoff::retry_after(value, self.site.clock.now()));
            let answered = self.trouble_of(status).unwrap_or(Answered::Reached);
            if let Some(pace) = &mut self.pace {
                pace.answered(answered);
            }
            if post.is_some() {
                self.was_answered = status < 500;
            }
            if let (300..=399, Some(location)) = (status, &response.headers.location) {
                let target = url.to_url().ok().and_then(|own| own.join(location).ok());
                let Some(target) = target.as_ref().and_then(CrawlUrl::exact) else {
                    return Err(ends(Verdict::Unknown, format!("{} redirects to nowhere", told_url(url.as_str()))));
                };
                self.may_ask(&target, url.as_str().starts_with("https:"))?;
                // 307 and 308 have the form sent again: to another address, and once. 301 to 303 are answers to a login.
                if post.is_some() && matches!(status, 307 | 308) {
                    if std::mem::replace(&mut was_sent_on, true) || target.as_str() == url.as_str() {
                        let told = told_url(url.as_str());
                        return Err(ends(Verdict::Unknown, format!("{told} wants the form again and again")));
                    }
                } else {
                    post = None;
                }
                url = target;
                continue;
            }
            let content_type = response.headers.content_type.clone();
            let (length, bodies) = (response.headers.content_length, &self.site.memory.bodies);
            let (bytes, is_whole) = match body::read(response.body, length, bodies, |_, _| Want::UpTo(bytes_max)).await
            {
                Read::Whole(bytes) => (bytes, true),
                Read::Stopped { bytes, .. } => (bytes, false),
                Read::Failed { failure, .. } => {
                    self.in_trouble(Answered::Faulty);
                    return Err(broken(failure));
                }
            };
            return Ok(Answer { url, status, content_type, bytes, is_whole, was_got: post.is_none() });
        }
        let url = told_url(url.as_str());
        Err(ends(Verdict::Unknown, format!("{url}: more than {} redirects", limits::LOGIN_HOPS_MAX)))
    }

    /// A request that was not answered, or not to its end.
    fn in_trouble(&mut self, trouble: Answered) {
        self.trouble = Some(trouble);
        if let Some(pace) = &mut self.pace {
            pace.answered(trouble);
        }
    }

    /// Waits in front of a request: for the host, and in front of a form as a person would who fills it in. What keeps a
    /// request back ends a login of which nothing has left yet.
    async fn pause(&mut self, url: &CrawlUrl, is_form: bool) -> Step<()> {
        let is_first = std::mem::take(&mut self.is_first);
        let is_typed = is_form && !is_first;
        let Some(pace) = &mut self.pace else {
            if !is_first {
                let rate = self.site.rules.rate.interval;
                tokio::time::sleep(if is_typed { rate.max(limits::LOGIN_PAUSE) } else { rate }).await;
            }
            return Ok(());
        };
        pace.rest();
        let passed = match is_typed {
            true => pace.type_in(self.was_sent).await,
            false => Ok(()),
        };
        let passed = match passed {
            Ok(()) => pace.pass(url, self.was_sent).await,
            refused => refused,
        };
        passed.map_err(|refusal| {
            // Of the site it says nothing.
            self.trouble = Some(Answered::Reached);
            ends(Verdict::Unknown, refusal.to_string())
        })
    }
}

fn sentence(verdict: Verdict, trouble: Option<Answered>) -> &'static str {
    match trouble {
        Some(_) if verdict == Verdict::Unknown => "the site did not answer, or only that it is in trouble",
        _ => verdict.sentence(),
    }
}

/// True where the text has this name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_outside = |of: Option<char>| of.is_none_or(|of| !of.is_alphanumeric());
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            is_outside(text[..at].chars().next_back()) && is_outside(text[at + name.len()..].chars().next())
        })
}
