//! The crawl's gate for a learning run: one page at a time, as a visit would ask for it. What an earlier run was given is not asked for again.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};

use super::member::Watch;
use super::scripts::Scripts;
use crate::app::App;
use crate::app::answers::{Answers, Head};
use crate::cli::hints::told_argument;
use crate::limits::LEARNED_PAUSE_MAX;
use gleaner_base::console::escaped;
use gleaner_base::url::{Canonical, CrawlUrl, without_keys};
use gleaner_crawl::look::Inspection;
use gleaner_learn::{Answer, Ask, Progress};
use gleaner_render::children::Bounds;
use gleaner_render::wire::Response;
use gleaner_rules::config::Config;
use gleaner_rules::{Refusal, SiteRules, Verdict};

/// A page that its site throttles is asked for again so many times, each after the pause that the site wants.
const THROTTLED_TRIES: u32 = 3;

/// Requests, of pages and their scripts, for each page that may be asked for, after which no page is run.
const SCRIPTED_EACH: u64 = 20;

/// A pause is waited for in steps.
const PAUSE_STEP: Duration = Duration::from_secs(10);

/// Sends the requests of a run.
pub(super) struct Gate {
    look: Inspection,
    start: CrawlUrl,
    scripts: Scripts,
    /// Answers that are known already, by URL: the start page is asked for before the run begins.
    known: HashMap<String, Answer>,
    bar: Option<ProgressBar>,
    logs: bool,
    is_over: bool,
    last: Progress,
    /// What is kept of this run and of earlier ones; None if nothing can be.
    answers: Option<Answers>,
    /// Pages that an earlier run had read.
    reused: u32,
    /// The session, if an account is logged in.
    watch: Option<Watch>,
    /// The rules of a site that is learned again.
    own: Option<Arc<SiteRules>>,
}

/// Who asks, and what is known by then.
pub(super) struct Asker<'a> {
    /// Pages that may be asked for.
    pub requests: u32,
    pub user: Option<&'a str>,
    pub answers: Option<Answers>,
    /// Show each request.
    pub logs: bool,
    /// The rules of a site that is learned again.
    pub own: Option<Arc<SiteRules>>,
}

/// The end of a pass.
pub(super) struct Closed {
    pub answers: Option<Answers>,
    pub reused: u32,
    /// The session has ended before: what was kept of it from here on may be a guest's.
    pub lost_from: Option<u64>,
    /// The site wants no more requests for now.
    pub is_over: bool,
}

impl Gate {
    /// Opens the start page, and follows it to the host that it is at.
    pub(super) async fn open(
        config: &Config,
        rules: &Arc<SiteRules>,
        start: &CrawlUrl,
        asker: Asker<'_>,
    ) -> anyhow::Result<Self> {
        let Asker { user, answers, logs, own, requests } = asker;
        let site = App::site_with_session(&config.into(), rules)?;
        let begun = Inspection::begin(site.scripts, start.clone()).await;
        let look = begun.map_err(|why| anyhow!("{}: {why}\nhint: check the URL", told_argument(start.as_str())))?;
        // What a day leaves is for scripts as well.
        if rules.quota.requests_per_day.is_some() {
            look.leaves(requests.into());
        }
        let bounds = Bounds { children: 1, must_be_confined: config.require_confinement, ..Bounds::default() };
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template("{spinner} {bar:20} {pos}/{len} requests · {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let mut gate = Self {
            look,
            start: start.clone(),
            scripts: Scripts::new(bounds, rules, SCRIPTED_EACH * u64::from(requests)),
            known: HashMap::new(),
            bar,
            logs,
            is_over: false,
            last: Progress::default(),
            watch: user.map(|user| Watch::new(user, answers.as_ref().map_or(0, |answers| answers.begin_of(user)))),
            answers,
            reused: 0,
            own,
        };
        if gate.look.allows(start) {
            gate.find_home(start).await?;
        }
        Ok(gate)
    }

    /// The start page may be on another scheme, or on the host with or without `www.`.
    async fn find_home(&mut self, start: &CrawlUrl) -> anyhow::Result<()> {
        let answer = self.get(start).await.map_err(|why| {
            let hint = if why.contains("is not one of the rule file's hosts") {
                "it redirects to another host: learn that one"
            } else {
                "open the URL in a browser, and check it"
            };
            anyhow!("{}: {why}\nhint: {hint}", told_argument(start.as_str()))
        })?;
        if let Some(watch) = &mut self.watch {
            watch.begins_with(&answer);
        }
        let end = CrawlUrl::parse(&answer.url, &Canonical::default()).ok().filter(|end| end.origin() != start.origin());
        if let Some(end) = end.filter(|_| self.watch.is_none()) {
            self.start = end.clone();
            self.known.insert(end.as_str().to_owned(), answer);
        } else {
            self.known.insert(start.as_str().to_owned(), answer);
        }
        Ok(())
    }

    /// The start URL in force.
    pub(super) fn start(&self) -> &CrawlUrl {
        &self.start
    }

    /// Ends the pass. Whether the session still holds is asked, if the last page does not show it.
    pub(super) async fn close(mut self) -> Closed {
        if self.watch.as_ref().is_some_and(Watch::is_in_doubt) {
            self.prove().await;
        }
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let lost_from = self.watch.and_then(|watch| watch.lost_from());
        Closed { answers: self.answers, reused: self.reused, lost_from, is_over: self.is_over }
    }

    /// Asks for the start page, and looks whether it is a guest's by now. True if it is.
    async fn prove(&mut self) -> bool {
        let start = self.start.clone();
        let answer = self.sent(&start).await.map(answer_of);
        let Some(watch) = &mut self.watch else { return false };
        let is_lost = answer.is_ok_and(|answer| watch.is_guests(&answer));
        watch.proven(is_lost);
        is_lost
    }

    /// One page: what an earlier run was given, or what the site sends.
    async fn get(&mut self, url: &CrawlUrl) -> Result<Answer, String> {
        if let Some(answer) = self.reuse(url) {
            self.reused += 1;
            self.scripts.remember(&answer);
            return Ok(answer);
        }
        let response = self.sent(url).await?;
        let headers = Head::kept_headers(&response.headers);
        let mut answer = answer_of(response);
        answer.rendered = self.scripts.links(&answer, &self.look).await;
        if self.watch.as_ref().is_some_and(|watch| watch.doubts(&answer)) && self.prove().await {
            self.is_over = true;
            return Err("the session has ended".to_owned());
        }
        self.keep(url, headers, &answer);
        Ok(answer)
    }

    /// What an earlier run was given. A guest's page is none of a member's.
    fn reuse(&mut self, url: &CrawlUrl) -> Option<Answer> {
        let user = self.watch.as_ref().map(|watch| watch.user.clone());
        let (head, body, end) = self.answers.as_mut()?.take(user.as_deref(), url.as_str())?;
        let content_type = head.header("content-type").map(str::to_owned);
        let answer = Answer { url: head.url, status: head.status, content_type, body, rendered: head.rendered };
        if let Some(watch) = &mut self.watch {
            if watch.doubts(&answer) {
                return None;
            }
            watch.read(&answer, end);
        }
        Some(answer)
    }

    /// Keeps an answer, unless the site may give a better one.
    fn keep(&mut self, url: &CrawlUrl, headers: Vec<(String, String)>, answer: &Answer) {
        let is_passing = matches!(answer.status, 408 | 425 | 429 | 500..);
        let Some(answers) = self.answers.as_mut().filter(|_| !is_passing) else { return };
        let head = Head {
            at: self.look.now(),
            user: self.watch.as_ref().map(|watch| watch.user.clone()),
            asked: url.as_str().to_owned(),
            url: answer.url.clone(),
            status: answer.status,
            headers,
            rendered: answer.rendered.clone(),
        };
        let end = answers.keep(&head, &answer.body);
        if let Some(watch) = &mut self.watch {
            watch.read(answer, end);
        }
    }

    /// What the site sends, asked for again where it throttles.
    async fn sent(&mut self, url: &CrawlUrl) -> Result<Response, String> {
        let mut tries = 0;
        let mut waited = Duration::ZERO;
        loop {
            let pause = self.look.paused_for(url);
            if pause > LEARNED_PAUSE_MAX || waited > LEARNED_PAUSE_MAX {
                self.is_over = true;
                return Err(format!("{} wants a pause of {} s", url.host(), pause.as_secs()));
            }
            match self.look.open(url.clone()).await {
                Ok(response) if matches!(response.status, 429 | 503) && tries < THROTTLED_TRIES => tries += 1,
                Err(why) if is_pause(&why) => {
                    waited += PAUSE_STEP;
                    tokio::time::sleep(PAUSE_STEP).await;
                }
                ended => return ended,
            }
        }
    }
}

/// True if the site wants no request now.
fn is_pause(why: &str) -> bool {
    why.ends_with("pauses") || why.contains("time for requests")
}

fn answer_of(response: Response) -> Answer {
    let content_type = response.header("content-type").map(str::to_owned);
    Answer { content_type, url: response.url, status: response.status, body: response.body, rendered: Vec::new() }
}

impl Ask for Gate {
    async fn ask(&mut self, url: &CrawlUrl, why: &str) -> Result<Answer, String> {
        let answer = match self.known.remove(url.as_str()) {
            Some(answer) => Ok(answer),
            None => self.get(url).await,
        };
        if self.logs {
            let status = answer.as_ref().map_or_else(Clone::clone, |answer| answer.status.to_string());
            errln!("{} · {why} · {}", without_keys(url.as_str()), escaped(&status));
        }
        answer
    }

    fn allows(&self, url: &CrawlUrl) -> bool {
        // As the operator's file has it: its family denies URLs, too.
        let rules = self.own.as_deref().unwrap_or_else(|| self.look.rules());
        let is_closed = matches!(
            rules.judge(url),
            Verdict::Refuse { reason: Refusal::Denied(..) | Refusal::NotBelowStart | Refusal::WrongHost }
        );
        self.look.allows(url) && !is_closed
    }

    fn progress(&mut self, progress: &Progress) {
        let Progress { requests, budget, pages, torrents, urls, shapes, stage } = *progress;
        let line = format!("{stage} · {pages} pages, {torrents} torrents, {urls} links of {shapes} shapes");
        if let Some(bar) = &self.bar {
            bar.set_length(budget.into());
            bar.set_position(requests.into());
            bar.set_message(line);
        } else if !self.logs && stage != self.last.stage {
            errln!("{requests} of {budget} requests · {line}");
        }
        self.last = *progress;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}
