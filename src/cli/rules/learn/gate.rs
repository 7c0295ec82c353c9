//! The crawl's gate for a learning run: one page at a time, as a visit would ask for it.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use indicatif::{ProgressBar, ProgressStyle};

use crate::app::App;
use crate::cli::hints::told_argument;
use gleaner_base::console::escaped;
use gleaner_base::url::{Canonical, CrawlUrl, without_keys};
use gleaner_crawl::look::Inspection;
use gleaner_learn::{Answer, Ask, Progress};
use gleaner_net::fetch::charset;
use gleaner_page::scripted;
use gleaner_render::children::{Bounds, Children};
use gleaner_render::wire::{Page, Response, Seeks};
use gleaner_rules::SiteRules;
use gleaner_rules::config::Config;

/// A page that its site throttles is asked for again so many times, each after the pause that the site wants.
const THROTTLED_TRIES: u32 = 3;

/// A site that wants longer pauses is left alone.
const PAUSES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(10);

/// Sends the requests of a run.
pub(super) struct Gate {
    look: Inspection,
    start: CrawlUrl,
    children: Option<Children>,
    /// Answers that are known already, by URL: the start page is asked for before the run begins.
    known: HashMap<String, Answer>,
    bar: Option<ProgressBar>,
    logs: bool,
    is_over: bool,
    last: Progress,
}

impl Gate {
    /// Opens the start page, and follows it to the host that it is at.
    pub(super) async fn open(
        config: &Config,
        rules: &Arc<SiteRules>,
        start: &CrawlUrl,
        logs: bool,
        user: Option<&str>,
    ) -> anyhow::Result<Self> {
        let site = App::site_with_session(&config.into(), rules)?;
        let begun = Inspection::begin(site.scripts, start.clone()).await;
        let look = begun.map_err(|why| anyhow!("{}: {why}\nhint: check the URL", told_argument(start.as_str())))?;
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
            children: Children::of_this_program(bounds).ok(),
            known: HashMap::new(),
            bar,
            logs,
            is_over: false,
            last: Progress::default(),
        };
        if gate.look.allows(start) {
            gate.find_home(start, user).await?;
        }
        Ok(gate)
    }

    /// The start page may be on another scheme, or on the host with or without `www.`.
    async fn find_home(&mut self, start: &CrawlUrl, user: Option<&str>) -> anyhow::Result<()> {
        let answer = self.get(start).await.map_err(|why| {
            let hint = if why.contains("is not one of the rule file's hosts") {
                "it redirects to another host: learn that one"
            } else {
                "open the URL in a browser, and check it"
            };
            anyhow!("{}: {why}\nhint: {hint}", told_argument(start.as_str()))
        })?;
        let end = CrawlUrl::parse(&answer.url, &Canonical::default()).ok().filter(|end| end.origin() != start.origin());
        if let Some(end) = end.filter(|_| user.is_none()) {
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

    pub(super) fn close(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    /// One page, asked for again where the site throttles.
    async fn get(&mut self, url: &CrawlUrl) -> Result<Answer, String> {
        let mut tries = 0;
        let mut pauses = 0;
        let response = loop {
            match self.look.open(url.clone()).await {
                Ok(response) if matches!(response.status, 429 | 503) && tries < THROTTLED_TRIES => tries += 1,
                Ok(response) => break response,
                // Its pause is longer than a page may wait.
                Err(why) if why.ends_with("pauses") && pauses < PAUSES => {
                    pauses += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(why) => {
                    self.is_over |= why.ends_with("pauses");
                    return Err(why);
                }
            }
        };
        let rendered = self.rendered(&response).await;
        Ok(Answer {
            content_type: response.header("content-type").map(str::to_owned),
            url: response.url,
            status: response.status,
            body: response.body,
            rendered,
        })
    }

    /// Links that only the page's scripts make, if it looks as if they made any.
    async fn rendered(&mut self, response: &Response) -> Vec<(String, String)> {
        let signs = scripted::signs(&response.body);
        let Some(children) = &self.children else { return Vec::new() };
        let is_html = response.header("content-type").is_none_or(|kind| kind.contains("html"));
        if response.status != 200 || !is_html || !(signs.empty_root || signs.waits || signs.framework) {
            return Vec::new();
        }
        let encoding = charset::detect(response.header("content-type"), &response.body, None);
        let markup = encoding.decode(&response.body).0;
        let mut page = Page { cookies: self.look.script_cookies(), ..Page::at(&response.url, self.look.now_ms()) };
        page.seeks = Seeks::NOTHING;
        let outcome = children.run(&page.with_markup(&markup), &self.look).await;
        let links = outcome.into_iter().flat_map(|outcome| outcome.states).flat_map(|state| state.links);
        links.map(|link| (link.url, link.text)).collect()
    }
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
        self.look.allows(url)
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
