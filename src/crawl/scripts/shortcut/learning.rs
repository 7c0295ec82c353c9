//! Learning from renders: their requests and responses are recorded, compared with what is known, or learned from.

use std::sync::{Arc, Mutex, PoisonError};

use url::Url;

use super::recorded::Recorded;
use super::{cookies, tell_difference, text_of, told_difference};
use crate::job::{Job, PageFindings};
use crate::judging::judge;
use crate::limits;
use crate::scripts::errands::Answering;
use crate::scripts::page::PageVisit;
use crate::scripts::shared::Scripts;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::{MASK, told, told_url};
use gleaner_net::classify::{Classifier, Decision, HeaderFacts};
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_page::shortcut::{self, Endpoint, Event, Exchange, Link, Observation};
use gleaner_render::children::{Host, Reply};
use gleaner_render::wire::{self as net, Asker, ScriptError};
use gleaner_rules::Class;
use gleaner_store::crawldb::MagnetFacts;
use gleaner_torrent::{Infohashes, magnet};

/// Answers a page's scripts, and records their requests and the responses.
pub struct Recording<'a> {
    answering: Answering<'a>,
    /// `None` if no recording is needed.
    recorded: Option<(Url, Mutex<Recorded>)>,
    /// Addresses with a successful response that was markup.
    markup: Mutex<Vec<String>>,
    /// The first data request that the site refused for now, in words.
    refused: Mutex<Option<String>>,
    /// Addresses from which a script has fetched torrents, to offer them to its reader as generated files.
    downloads: Mutex<Vec<String>>,
}

impl<'a> Recording<'a> {
    /// Wraps the gate for the scripts of a page.
    #[must_use]
    pub fn new(answering: Answering<'a>, class: Class) -> Self {
        let recorded = answering.page.to_url().ok().and_then(|page| {
            let wants = answering.scripts.shortcuts.book(class, |book| {
                let wants = book.wants(&page);
                if !wants {
                    book.passes_by();
                }
                wants
            });
            (wants == Some(true)).then(|| (page, Mutex::default()))
        });
        Self { answering, recorded, markup: Mutex::default(), refused: Mutex::default(), downloads: Mutex::default() }
    }

    /// The first data addresses with a successful response that was markup.
    #[must_use]
    pub fn take_markup(&self) -> Vec<String> {
        std::mem::take(&mut self.markup.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Addresses from which scripts have fetched torrents without a header that grants access: anyone can fetch them there.
    #[must_use]
    pub fn take_downloads(&self) -> Vec<String> {
        std::mem::take(&mut self.downloads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a response is a torrent, or its URL is classified as one by the rules.
    fn is_download(&self, response: &net::Response, body: &[u8]) -> bool {
        let facts = HeaderFacts {
            content_type: response.header("content-type"),
            disposition: response.header("content-disposition"),
            content_length: None,
            accepts_pages: false,
        };
        let is_classed = || {
            let url = CrawlUrl::parse(&response.url, &self.answering.scripts.rules.canonical).ok();
            url.and_then(|url| judge(&self.answering.scripts.rules, url).ok())
                .is_some_and(|found| found.class == Class::Download)
        };
        response.status == 200 && (Classifier::new(facts).feed(body, true) == Decision::Torrent || is_classed())
    }

    /// Whether there was such a refusal.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The first data request that failed for a temporary reason: lack of a session, or a server in trouble.
    #[must_use]
    pub fn take_refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The recorded requests and responses; `None` if no recording was needed.
    #[must_use]
    pub fn into_recorded(self) -> Option<Recorded> {
        let (_, recorded) = self.recorded?;
        Some(recorded.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Host for Recording<'_> {
    fn site(&self) -> &str {
        self.answering.site()
    }

    async fn answer(&self, request: net::Request) -> net::Answer {
        self.reply(request).await.into_answer()
    }

    async fn reply(&self, request: net::Request) -> Reply {
        let data_url = matches!(request.asker, Asker::Fetch | Asker::Xhr).then(|| request.url.clone());
        let is_data_of_script = data_url.is_some();
        // What a header unlocks is closed to a crawl that lacks it.
        let is_open = !request.headers.iter().any(|(name, _)| shortcut::is_of_access(name));
        let open_url = data_url.clone().filter(|_| request.method == "GET" && is_open);
        let is_data = matches!(request.asker, Asker::Fetch | Asker::Xhr | Asker::Script);
        let is_observed = self.recorded.is_some() && request.body.len() <= limits::SHORTCUT_ANSWER_BYTES_MAX;
        let asked = (is_data && is_observed).then(|| request.clone());
        let reply = self.answering.reply(request).await;
        let Reply { answer: Ok(response), body: Some(body) } = &reply else { return reply };
        if let Some(url) = data_url
            && response.status == 200
            && body.trim_ascii_start().starts_with(b"<")
        {
            let mut markup = self.markup.lock().unwrap_or_else(PoisonError::into_inner);
            if markup.len() < limits::SHORTCUT_EXCHANGES_MAX {
                markup.push(url);
            }
        }
        if let Some(url) = open_url
            && self.is_download(response, body)
        {
            let mut downloads = self.downloads.lock().unwrap_or_else(PoisonError::into_inner);
            if downloads.len() < limits::RENDER_NAVIGATIONS_MAX {
                downloads.push(url);
            }
        }
        if is_data_of_script && matches!(response.status, 401 | 403 | 408 | 425 | 429 | 500..=599) {
            let told = told_url(response.url.split(['?', '#']).next().unwrap_or_default());
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.get_or_insert_with(|| format!("{told} was answered {}", response.status));
        }
        if let Some((page, recorded)) = &self.recorded
            && let Some(asked) = asked
        {
            let is_large = body.len() > limits::SHORTCUT_ANSWER_BYTES_MAX;
            let text = if is_large { String::new() } else { text_of(response, body) };
            if asked.asker != Asker::Script || shortcut::is_data(&text) {
                let exchange = Exchange {
                    method: asked.method,
                    url: asked.url,
                    headers: asked.headers,
                    body: String::from_utf8_lossy(&asked.body).into_owned(),
                    status: response.status,
                    answer: text,
                };
                let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
                match is_large {
                    true => recorded.pass(page, &exchange),
                    false => recorded.add(page, exchange),
                }
            }
        }
        reply
    }

    fn cookie(&self, text: &str) {
        self.answering.cookie(text);
    }
}

/// Learns from a render, or compares it with what is known, off the loop's thread.
pub async fn teach(
    PageVisit { scripts, job, .. }: PageVisit<'_>,
    (now_ms, html): (i64, &str),
    recorded: Recorded,
    read: (&PageFindings, &PageFindings),
) {
    let Some(observation) = observation(scripts, job, now_ms, html, recorded, read) else { return };
    let _turn = scripts.memory.parse().await;
    let (scripts, class) = (scripts.clone(), job.class);
    let learning = tokio::task::spawn_blocking(move || observe(&scripts, class, observation));
    learning.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
}

/// The observations of a render, as input for learning.
fn observation(
    scripts: &Scripts,
    job: &Job,
    now_ms: i64,
    html: &str,
    recorded: Recorded,
    (shell, made): (&PageFindings, &PageFindings),
) -> Option<Observation> {
    let links = |read: &PageFindings| -> Vec<Link> {
        let found = read.found.iter().map(|found| {
            let key = found.url.as_str().to_owned();
            Link { text: key.clone(), key }
        });
        let magnets = read
            .magnets
            .iter()
            .map(|MagnetFacts { infohashes, link, .. }| Link { key: magnet_key(infohashes), text: link.to_string() });
        found.chain(magnets).collect()
    };
    if made.truncated || recorded.exchanges.is_empty() || html.len() > limits::SHORTCUT_MARKUP_BYTES_MAX {
        return None;
    }
    Some(Observation {
        page: job.url.to_url().ok()?,
        html: html.to_owned(),
        cookies: cookies(scripts, &job.url),
        now_ms,
        exchanges: recorded.exchanges,
        unread: recorded.unread,
        shell: links(shell),
        links: links(made),
    })
}

/// Compares a render with what is known, or learns from it. Takes up to some hundred milliseconds of CPU.
fn observe(scripts: &Scripts, class: Class, observation: Observation) {
    let now_ms = scripts.clock.now().0;
    let page = observation.page.clone();
    let observation = Arc::new(observation);
    let normal = |base: &Url, text: &str| key(scripts, base, text, 0);
    let known = scripts.shortcuts.book(class, |book| book.to_check(&page)).flatten();
    let event = match known {
        Some(endpoint) => {
            let result = endpoint.explains(&observation, &normal);
            scripts.shortcuts.book(class, |book| book.checked(observation, result, now_ms))
        }
        None => {
            let sets = scripts.shortcuts.book(class, |book| book.add(observation)).unwrap_or_default();
            if sets.is_empty() {
                return;
            }
            let learned = sets.iter().find_map(|set| {
                let set: Vec<&Observation> = set.iter().map(AsRef::as_ref).collect();
                shortcut::learn(&set, &normal).filter(|endpoint| may_use(scripts, endpoint))
            });
            scripts.shortcuts.book(class, |book| book.learned(learned, now_ms))
        }
    };
    match event.flatten() {
        Some(Event::Learned) => {
            tracing::info!(site = %scripts.rules.name, class = class.name(), url = page.as_str(), "learned which request brings the data of such pages");
        }
        Some(Event::Differs(difference)) => {
            tell_difference(scripts, class, &page, &told_difference(scripts, &difference))
        }
        Some(Event::Proven | Event::Failed(_)) | None => {}
    }
}

/// Whether a page that shows nothing got markup where its scripts wanted data: their errors indicate it, or other pages of the class got
/// data there.
#[must_use]
pub fn lacks_data(scripts: &Scripts, class: Class, markup: &[String], errors: &[ScriptError]) -> bool {
    let no_json = ["JSON", "expected value", "Unexpected token '<'", "unexpected token '<'"];
    let is_no_json = |error: &ScriptError| {
        error.message.contains("SyntaxError") && no_json.iter().any(|words| error.message.contains(words))
    };
    let is_known = |url: &String| {
        scripts.shortcuts.book(class, |book| Url::parse(url).is_ok_and(|url| book.has_data_at(&url))) == Some(true)
    };
    !markup.is_empty() && (errors.iter().any(is_no_json) || markup.iter().any(is_known))
}

/// A member's secrets are not stored: if a header that grants access, or any possible token, is always the
/// same, each page is rendered.
fn may_use(scripts: &Scripts, endpoint: &Endpoint) -> bool {
    let calls = endpoint.before.iter().chain([&endpoint.call]);
    let mut slots = calls.flat_map(|call| &call.0);
    let is_secret = |name: &str, constant: &str| match name.split_once('.') {
        _ if shortcut::is_of_access(name) => true,
        Some(("path", _)) => told_url(constant).contains(MASK),
        Some(("query", _)) => told(constant) == MASK,
        _ => !shortcut::secrets(name, constant).is_empty(),
    };
    !scripts.is_members
        || !slots.any(|(name, template)| {
            template.constant().is_some_and(|constant| is_secret(&name.to_ascii_lowercase(), &constant))
        })
}

fn magnet_key(infohashes: &Infohashes) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (v1, v2) = (infohashes.v1.map(|hash| hex(&hash)), infohashes.v2.map(|hash| hex(&hash)));
    format!("magnet:{}:{}", v1.unwrap_or_default(), v2.unwrap_or_default())
}

/// Identity of a link for the crawl: see [`shortcut::Normal`].
fn key(scripts: &Scripts, base: &Url, text: &str, depth: u8) -> Option<String> {
    if text.starts_with("magnet:") {
        return magnet::parse(text).ok().map(|magnet| magnet_key(&magnet.infohashes));
    }
    if depth == 0 && encoded_links::is_encoded(text) {
        return match encoded_links::decode(text).ok()? {
            Decoded::Url(url) | Decoded::Magnet(url) => key(scripts, base, &url, 1),
            Decoded::Other(_) => None,
        };
    }
    let url = CrawlUrl::join(base, text, None, &scripts.rules.canonical).ok()?;
    judge(&scripts.rules, url).ok().map(|found| found.url.as_str().to_owned())
}
