//! What the scripts of a site's pages go by, and what its pages share of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use encoding_rs::Encoding;

use super::books::Shortcuts;
use super::rendered::Rendered;
use super::shelf::Shelf;
use super::storages::Storages;
use crate::job::{Job, PageFindings};
use crate::limits;
use crate::memory::Memory;
use crate::outlinks;
use crate::robots_txt::{self, Place, RobotsAnswer, RobotsFault};
use crate::sitemaps::Sitemaps;
use gleaner_base::clock::Clock;
use gleaner_net::fetch::{ResponseHeaders, Transport};
use gleaner_render::children::Children;
use gleaner_rules::{Class, RenderWhen, SiteRules};

/// The means of one site. Clones share the same.
#[derive(Clone)]
pub struct Scripts {
    pub rules: Arc<SiteRules>,
    pub rules_token: u64,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub memory: Memory,
    /// Runs the scripts of pages; `None` where nobody here does.
    pub renderer: Option<Arc<Children>>,
    /// The pages are those of the operator's account.
    pub is_members: bool,
    sitemaps: Arc<Sitemaps>,
    /// What the requests of scripts have in common.
    pub shelf: Arc<Shelf>,
    /// What scripts keep from page to page.
    pub storages: Arc<Storages>,
    /// By class, what stands in place of renders.
    pub shortcuts: Arc<Shortcuts>,
    /// What rendering has brought.
    rendered: Arc<Mutex<Rendered>>,
}

impl Scripts {
    /// Nothing is known yet, and nobody runs them.
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

    /// What rendering has brought. Not to be held across an await.
    pub fn rendered(&self) -> MutexGuard<'_, Rendered> {
        // Counts stay usable after a panic elsewhere.
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether pages of a class may be rendered at all.
    #[must_use]
    pub fn may_render(&self, class: Class) -> bool {
        self.renderer.is_some() && self.rules.render(class) != RenderWhen::Never
    }

    /// Whether visits of a class may ask for more than their page: for its scripts, or for the data that they would ask for.
    #[must_use]
    pub fn runs_errands(&self, class: Class) -> bool {
        self.may_render(class) || self.rules.shortcuts(class).next().is_some()
    }

    /// A crawl has nothing left: what was visited by endpoints since these were last borne out is checked. True where there is any.
    #[must_use]
    pub fn close_shortcuts(&self) -> bool {
        self.shortcuts.close(|class| self.may_render(class))
    }

    /// Asks one place for an origin's rules.
    ///
    /// # Errors
    /// Why the origin must be taken as closed.
    pub async fn ask_robots(&self, place: &Place) -> Result<RobotsAnswer, RobotsFault> {
        robots_txt::fetch(place, &self.rules, &*self.transport, &*self.clock, &self.memory.bodies).await
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.clock.now().0).unwrap_or(i64::MAX)
    }

    /// What a document that scripts have made gives, and the addresses that only its states showed. What is large is read off the loop's
    /// thread.
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
