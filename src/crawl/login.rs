//! One login, step by step: find the form, fill it in, send it, read what came, prove the session by a page.
//!
//! A few requests, one after the other, with a pause before each. They are the operator's own, asked for by the rule
//! file's `[login]`, so robots.txt is not consulted for them; everything else that binds a request holds. What is sent
//! goes to the site's own hosts alone, and never from https to http. Every step is told in words without secrets.

mod json;

use encoding_rs::{Encoding, UTF_8};

use super::site::Site;
use crate::fetch::body::{self, Read, Want};
use crate::fetch::charset;
use crate::fetch::session::Jar;
use crate::fetch::{Post, Request};
use crate::limits;
use crate::login::fields::roles;
use crate::login::fill::{Chosen, Entries, Submission, fill};
use crate::login::form::{Form, Kind};
use crate::login::model::Judge;
use crate::login::secret::{Secret, masked};
use crate::login::verdict::{After, Judged, Verdict, judge, logged_out};
use crate::login::view::View;
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
}

/// What a login needs beside the site.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub rules: &'a LoginRules,
    pub password: &'a Secret,
    /// The cookies of the site's client.
    pub jar: &'a Jar,
    /// Fields that a person has typed, as a CAPTCHA's text.
    pub typed: &'a [(Box<str>, Box<str>)],
}

/// Logs in.
pub async fn log_in(site: &Site, means: Means<'_>) -> Report {
    let mut run = Run { site, means, steps: Vec::new(), is_first: true, was_sent: false };
    let mut judged = run.log_in().await.unwrap_or_else(|judged| judged);
    judged.evidence.iter_mut().for_each(|evidence| *evidence = masked(evidence));
    run.say(format!("verdict: {}", judged.verdict.sentence()));
    Report { steps: run.steps, judged, was_sent: run.was_sent }
}

/// Does the session hold? Asks for the page that proves it; None where the site did not answer.
pub async fn session_holds(site: &Site, means: Means<'_>) -> (Option<bool>, Vec<String>) {
    let mut run = Run { site, means, steps: Vec::new(), is_first: true, was_sent: false };
    let holds = run.probe().await.ok().map(|proof| proof.is_ok());
    (holds, run.steps)
}

struct Run<'a> {
    site: &'a Site,
    means: Means<'a>,
    steps: Vec<String>,
    is_first: bool,
    was_sent: bool,
}

/// A page that was read.
struct Page {
    url: CrawlUrl,
    status: u16,
    charset: &'static Encoding,
    view: View,
}

impl Page {
    fn login_form(&self) -> Option<usize> {
        Judge::stored().login_form(&self.view.forms, self.url.as_str()).map(|(at, _)| at)
    }
}

/// An answer that is no redirect, read whole.
struct Answer {
    url: CrawlUrl,
    status: u16,
    content_type: Option<String>,
    bytes: bytes::Bytes,
}

type Step<T> = Result<T, Judged>;

fn ends(verdict: Verdict, why: impl Into<String>) -> Judged {
    Judged { verdict, evidence: vec![why.into()] }
}

impl Run<'_> {
    fn say(&mut self, step: String) {
        let step = masked(&step);
        tracing::debug!(site = %self.site.rules.name, step, "login");
        self.steps.push(step);
    }

    async fn log_in(&mut self) -> Step<Judged> {
        let judged = match &self.means.rules.json {
            Some(json) => self.log_in_by_json(json).await?,
            None => self.log_in_by_form().await?,
        };
        for evidence in judged.evidence.clone() {
            self.say(format!("evidence: {evidence}"));
        }
        if !matches!(judged.verdict, Verdict::LoggedIn | Verdict::Unknown) {
            return Ok(judged);
        }
        Ok(match self.probe().await? {
            Ok(proof) => ends(Verdict::LoggedIn, proof),
            Err(_) if judged.verdict == Verdict::Unknown => judged,
            Err(why) => ends(Verdict::Unknown, format!("the site seemed to let us in, but {why}")),
        })
    }

    async fn log_in_by_form(&mut self) -> Step<Judged> {
        let page = self.find_form_page().await?;
        let form = self.choose_form(&page)?;
        let cookies_before = self.means.jar.changes();
        let submission = self.fill_in(&page, &form)?;
        let after = self.send(&page, &submission).await?;
        let login_form = after.login_form();
        let cookies_changed = self.means.jar.changes() != cookies_before;
        Ok(judge(&After { status: after.status, view: &after.view, login_form, cookies_changed }))
    }

    /// The page with the form: the one that the rule file names, or the first that has one among the start page and what
    /// it calls its login.
    async fn find_form_page(&mut self) -> Step<Page> {
        if let Some(url) = &self.means.rules.page {
            let page = self.page(url.clone()).await?;
            self.say(format!("page of the form: {} (status {}), named in the rule file", page.url, page.status));
            return Ok(page);
        }
        let Some(start) = self.site.rules.start.first().cloned() else {
            return Err(ends(Verdict::NoForm, "the site has no start page"));
        };
        let page = self.page(start).await?;
        if page.login_form().is_some() {
            self.say(format!("page of the form: {}, the start page", page.url));
            return Ok(page);
        }
        let links = page.view.log_in_links.clone();
        let Some(base) = page.url.to_url().ok().map(|own| page.view.base(&own)) else {
            return Err(ends(Verdict::NoForm, "the start page has no address"));
        };
        let mut left = None;
        let mut tried: Vec<CrawlUrl> = Vec::new();
        for url in links.iter().filter_map(|link| base.join(link).ok()) {
            let Some(url) = CrawlUrl::exact(&url) else { continue };
            if !self.site.rules.owns_host(url.authority()) {
                left.get_or_insert(url);
                continue;
            }
            if tried.len() >= limits::LOGIN_LINKS_MAX || tried.contains(&url) {
                continue;
            }
            tried.push(url.clone());
            let page = self.page(url).await?;
            if page.login_form().is_some() {
                self.say(format!("page of the form: {}, linked from the start page", page.url));
                return Ok(page);
            }
            self.say(format!("no login form at {}", page.url));
        }
        Err(match left {
            Some(url) => ends(Verdict::OtherSite, format!("its link to log in leads to {}", url.authority())),
            None => {
                ends(Verdict::NoForm, format!("neither {} nor {} pages it links to have one", page.url, tried.len()))
            }
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
            Some(at) if at < page.view.forms.len() => at,
            Some(at) => {
                let count = page.view.forms.len();
                return Err(ends(
                    Verdict::NoForm,
                    format!("the rule file names form {}, the page has {count}", at + 1),
                ));
            }
            None => page.login_form().ok_or_else(|| ends(Verdict::NoForm, format!("{} has none", page.url)))?,
        };
        for line in judge.path(&page.view.forms[at], page.url.as_str()) {
            self.say(format!("form {}: {line}", at + 1));
        }
        Ok(page.view.forms[at].clone())
    }

    fn fill_in(&mut self, page: &Page, form: &Form) -> Step<Submission> {
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
        let submits = |at: &usize| form.controls[*at].kind.submits() && !form.controls[*at].is_disabled;
        let chosen = Chosen {
            user: pinned(&rules.user_field, roles.user)?,
            password: pinned(&rules.password_field, roles.password)?,
            remember: roles.remember.filter(|at| form.controls[*at].kind == Kind::Checkbox),
            submit: (0..form.controls.len()).find(submits),
        };
        let others: Vec<(Box<str>, Box<str>)> = rules.fields.iter().chain(self.means.typed).cloned().collect();
        let entries = Entries { user: &rules.user, password: self.means.password, others: &others };
        let own = page.url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let submission = fill(form, &chosen, entries, &page.view.base(&own), page.charset)
            .map_err(|error| ends(Verdict::NoForm, error.to_string()))?;
        let shown: Vec<String> = submission.shown.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.say(format!("fields: {}", shown.join("  ")));
        if let Some(at) =
            roles.captcha.filter(|at| self.means.typed.iter().all(|(name, _)| *name != form.controls[*at].name))
        {
            return Err(ends(Verdict::Captcha, format!("the form asks for `{}`", form.controls[at].name)));
        }
        Ok(submission)
    }

    async fn send(&mut self, page: &Page, submission: &Submission) -> Step<Page> {
        let Some(url) = CrawlUrl::exact(&submission.url) else {
            return Err(ends(Verdict::Unknown, format!("the form's address {} is no address", submission.url)));
        };
        self.may_ask(&url, page.url.as_str().starts_with("https:"))?;
        self.say(format!("sent to {url}"));
        self.was_sent = true;
        let post = Post { content_type: &submission.content_type, body: &submission.body, referer: &page.url };
        self.follow(url, Some(post)).await
    }

    /// A page that members see: Ok with what proves that we are one, Err with what speaks against it.
    async fn probe(&mut self) -> Step<Result<String, String>> {
        let named = self.means.rules.probe.clone();
        let Some(url) = named.or_else(|| self.site.rules.start.first().cloned()) else {
            return Ok(Err("the site has no page to ask".to_owned()));
        };
        let page = self.page(url).await?;
        let login_form = page.login_form();
        let proof = if let Some(link) = page.view.log_out_links.first() {
            Ok(format!("{} has a link to log out: {link}", page.url))
        } else if let Some(sign) = logged_out(&page.view, login_form) {
            Err(format!("{} shows {sign}", page.url))
        } else if !(200..300).contains(&page.status) {
            Err(format!("{} answers {}", page.url, page.status))
        } else if self.means.rules.probe.is_some() {
            Ok(format!("{}, which the rule file names for members, is shown", page.url))
        } else if page.view.text.contains(&self.means.rules.user.to_lowercase()) {
            Ok(format!("{} names the user", page.url))
        } else {
            Err(format!("{} shows neither a link to log out nor the user's name", page.url))
        };
        self.say(match &proof {
            Ok(proof) => format!("proof: {proof}"),
            Err(why) => format!("no proof: {why}"),
        });
        Ok(proof)
    }

    async fn page(&mut self, url: CrawlUrl) -> Step<Page> {
        self.may_ask(&url, false)?;
        self.follow(url, None).await
    }

    /// The password, and the session, go to the site's own hosts, and what began over TLS stays there.
    fn may_ask(&self, url: &CrawlUrl, from_tls: bool) -> Step<()> {
        if !self.site.rules.owns_host(url.authority()) {
            return Err(ends(Verdict::OtherSite, format!("{} is no host of this site", url.authority())));
        }
        if from_tls && !url.as_str().starts_with("https:") {
            return Err(ends(
                Verdict::Unknown,
                format!("{url} would send the session in the clear, from a page over https"),
            ));
        }
        Ok(())
    }

    /// The page behind a request and its redirects.
    async fn follow(&mut self, url: CrawlUrl, post: Option<Post<'_>>) -> Step<Page> {
        let Answer { url, status, content_type, bytes } = self.exchange(url, post).await?;
        let label = self.site.rules.charset.map(Encoding::name);
        let charset = charset::detect(content_type.as_deref(), &bytes, label);
        let turn = self.site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || View::of(&charset.decode(&bytes).0));
        let view = reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        drop(turn);
        let view = view.map_err(|error| ends(Verdict::Unknown, format!("{url}: {error}")))?;
        Ok(Page { url, status, charset: if charset.is_ascii_compatible() { charset } else { UTF_8 }, view })
    }

    /// One request, and the redirects behind it.
    async fn exchange(&mut self, mut url: CrawlUrl, mut post: Option<Post<'_>>) -> Step<Answer> {
        for _ in 0..limits::LOGIN_HOPS_MAX {
            self.pause().await;
            let request = Request { post, ..(&url).into() };
            let sent = self.site.transport.send(request).await;
            let response = sent.map_err(|failure| ends(Verdict::Unknown, format!("{url}: {failure}")))?;
            let status = response.status;
            if let (300..=399, Some(location)) = (status, &response.headers.location) {
                let target = url.to_url().ok().and_then(|own| own.join(location).ok());
                let Some(target) = target.as_ref().and_then(CrawlUrl::exact) else {
                    return Err(ends(Verdict::Unknown, format!("{url} redirects to nowhere")));
                };
                self.may_ask(&target, url.as_str().starts_with("https:"))?;
                // 307 and 308 would have the form sent again; only 301 to 303 are answers to a login.
                post = post.filter(|_| matches!(status, 307 | 308));
                url = target;
                continue;
            }
            let content_type = response.headers.content_type.clone();
            let (length, bodies) = (response.headers.content_length, &self.site.memory.bodies);
            let read = body::read(response.body, length, bodies, |_, _| Want::UpTo(limits::PAGE_BYTES_MAX)).await;
            let bytes = match read {
                Read::Whole(bytes) | Read::Stopped { bytes, .. } => bytes,
                Read::Failed { failure, .. } => return Err(ends(Verdict::Unknown, format!("{url}: {failure}"))),
            };
            return Ok(Answer { url, status, content_type, bytes });
        }
        Err(ends(Verdict::Unknown, format!("{url}: more than {} redirects", limits::LOGIN_HOPS_MAX)))
    }

    async fn pause(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            tokio::time::sleep(limits::LOGIN_PAUSE.max(self.site.rules.rate.interval)).await;
        }
    }
}
