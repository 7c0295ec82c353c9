//! State for running the scripts of a site's pages, and what its pages share of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use encoding_rs::Encoding;

use super::books::Shortcuts;
use super::rendered::Rendered;
use super::shelf::SharedCache;
use super::storages::Storages;
use crate::job::{Job, PageFindings};
use crate::limits;
use crate::memory::Memory;
use crate::outlinks;
use crate::robots_txt::{self, RobotsAnswer, RobotsFault, RobotsLocation};
use crate::sitemaps::Sitemaps;
use gleaner_base::clock::Clock;
use gleaner_net::fetch::{ResponseHeaders, Transport};
use gleaner_render::children::Children;
use gleaner_rules::{Class, RenderWhen, SiteRules};

/// The state of one site. Clones share it.
#[derive(Clone)]
pub struct Scripts {
    pub rules: Arc<SiteRules>,
    pub rules_token: u64,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub memory: Memory,
    /// Runs the scripts of pages; `None` if this process cannot.
    pub renderer: Option<Arc<Children>>,
    /// The pages are fetched with the operator's account.
    pub is_members: bool,
    sitemaps: Arc<Sitemaps>,
    /// Shared cache for the requests of scripts.
    pub shelf: Arc<SharedCache>,
    /// Data that scripts store from page to page.
    pub storages: Arc<Storages>,
    /// By class, the data requests that replace renders.
    pub shortcuts: Arc<Shortcuts>,
    /// Results of rendering.
    rendered: Arc<Mutex<Rendered>>,
}

impl Scripts {
    /// Starts without state and without a renderer.
    #[must_use]
    pub fn new(
        rules: &Arc<SiteRules>,
        rules_token: u64,
        transport: &Arc<dyn Transport>,
        clock: &Arc<dyn Clock>,
        sitemaps: Arc<Sitemaps>,
    ) -> Self {
        Self {
            shortcuts: Arc::new(Shortcuts::new(rules)),
            rules: Arc::clone(rules),
            rules_token,
            transport: Arc::clone(transport),
            clock: Arc::clone(clock),
            memory: Memory::default(),
            renderer: None,
            is_members: false,
            sitemaps,
            shelf: Arc::default(),
            storages: Arc::default(),
            rendered: Arc::default(),
        }
    }

    /// Results of rendering. Do not hold the guard across an await.
    pub fn rendered(&self) -> MutexGuard<'_, Rendered> {
        // Counts stay usable after a panic elsewhere.
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether pages of a class may be rendered at all.
    #[must_use]
    pub fn may_render(&self, class: Class) -> bool {
        self.renderer.is_some() && self.rules.render(class) != RenderWhen::Never
    }

    /// Whether visits of a class may send requests beyond their page: for its scripts, or for the data that they would request.
    #[must_use]
    pub fn runs_errands(&self, class: Class) -> bool {
        self.may_render(class) || self.rules.shortcuts(class).next().is_some()
    }

    /// A crawl has nothing left: what was visited by endpoints since these were last confirmed is checked. True if there is any.
    #[must_use]
    pub fn close_shortcuts(&self) -> bool {
        self.shortcuts.close(|class| self.may_render(class))
    }

    /// Requests an origin's rules from one place.
    ///
    /// # Errors
    /// Why the origin must be treated as disallowed.
    pub async fn ask_robots(&self, place: &RobotsLocation) -> Result<RobotsAnswer, RobotsFault> {
        robots_txt::fetch(place, &self.rules, &*self.transport, &*self.clock, &self.memory.bodies).await
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.clock.now().0).unwrap_or(i64::MAX)
    }

    /// The content of a document that scripts have made, and of the addresses that only its states showed. Large documents are read off the
    /// loop's thread.
    pub async fn read_document(
        &self,
        job: &Job,
        headers: &ResponseHeaders,
        (html, charset): (String, &'static Encoding),
        more: Vec<String>,
    ) -> (PageFindings, String) {
        let bytes = html.len() + more.iter().map(String::len).sum::<usize>();
        if html.is_empty() && bytes <= limits::INLINE_PAGE_BYTES_MAX {
            let read = outlinks::read_rendered(&self.rules, &self.sitemaps, job, headers, ("", charset), &more);
            return (read, html);
        }
        let _turn = self.memory.parse().await;
        let (rules, sitemaps) = (Arc::clone(&self.rules), Arc::clone(&self.sitemaps));
        let (job, headers) = (job.clone(), headers.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let read = outlinks::read_rendered(&rules, &sitemaps, &job, &headers, (&html, charset), &more);
            (read, html)
        });
        reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}
