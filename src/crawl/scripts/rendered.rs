//! Results of rendering for a site so far, kept over restarts: by what pages look like without their scripts, so that a site that depends
//! on its scripts is not tested again by each process, and the requests of its scripts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::{Brought, StaticContent};
use crate::limits;
use gleaner_rules::{Class, RenderWhen};
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// Name of the note that stores it.
pub const RENDERED_NOTE: &str = "rendered";

/// The statistics of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// By the shapes of pages ([`StaticContent::shape`](super::evidence::StaticContent::shape)).
    #[serde(default)]
    shapes: BTreeMap<String, Brought>,
    /// Requests that scripts have made since the site's first crawl.
    #[serde(default)]
    pub requests: u64,
    /// Requests of scripts that were refused in the last crawl under the current rule file and robots.txt.
    #[serde(default)]
    closed: Vec<Closed>,
    /// Pages that showed nothing after their scripts, in the last crawl that rendered any.
    #[serde(default)]
    nothing: Option<Nothing>,
    /// Pages that the next crawl begins with: they had a failure, or their time was over with more to come.
    #[serde(default)]
    again: Vec<String>,
    /// `nothing` is from an earlier crawl: it holds until a page was rendered again.
    #[serde(skip)]
    is_nothing_before: bool,
    /// `closed` is from an earlier crawl: it holds until scripts have sent requests again.
    #[serde(skip)]
    is_closed_before: bool,
}

/// A host that scripts of a site may not request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "ClosedToScripts")]
pub struct Closed {
    pub host: String,
    pub why: String,
    /// The first page whose scripts wanted to.
    pub page: String,
}

/// Pages of a site that were rendered and had no content, neither without their scripts nor with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "ShowedNothing")]
pub struct Nothing {
    pub pages: u64,
    /// The first of them.
    pub page: String,
    /// What failed on it, and where; `None` if nothing was thrown or refused.
    pub why: Option<String>,
}

impl Nothing {
    /// Why the first page shows nothing, in words.
    #[must_use]
    pub fn told_why(&self) -> &str {
        self.why.as_deref().unwrap_or("no script failed")
    }
}

impl std::fmt::Display for Nothing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let are = if self.pages == 1 { "page" } else { "pages" };
        write!(f, "{} {are} showed nothing after their scripts, first {}: {}", self.pages, self.page, self.told_why())
    }
}

impl Rendered {
    /// Whether a page is to be rendered. Of a shape that has links of its class, one trial is enough on a site whose scripts have brought
    /// nothing so far.
    pub fn wants(&mut self, when: RenderWhen, shown: StaticContent, shape: &str) -> bool {
        let rendered: u32 = self.shapes.values().map(|of| of.rendered).sum();
        let is_in_vain = rendered >= limits::RENDER_TRIALS && self.shapes.values().all(|of| of.gained == 0);
        let trials = if is_in_vain && !shown.is_bare() { 1 } else { limits::RENDER_TRIALS };
        self.of(shown.class, shape).decide(when, shown, trials)
    }

    /// The statistics of a shape. Beyond `limits::RENDER_SHAPES_MAX` shapes, new ones of a class share one entry.
    pub fn of(&mut self, class: Class, shape: &str) -> &mut Brought {
        let is_known = self.shapes.contains_key(shape) || self.shapes.len() < limits::RENDER_SHAPES_MAX;
        let shape = if is_known { shape } else { class.name() };
        self.shapes.entry(shape.to_owned()).or_default()
    }

    /// Loads the statistics of a site from a database; empty if there are none, or if they are unreadable.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn take_up(db: &(impl Reader + ?Sized), site: &str) -> Result<Self, CrawlDbError> {
        let note = db.note(site, RENDERED_NOTE).await?;
        Ok(note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default())
    }

    /// A crawl begins: closed hosts may no longer be closed.
    pub fn begin(&mut self) {
        self.is_closed_before = true;
        self.is_nothing_before = true;
    }

    /// Counts requests of scripts.
    pub fn asked(&mut self, requests: u64) {
        self.requests += requests;
        if requests > 0 {
            self.forget_closed();
        }
    }

    fn forget_closed(&mut self) {
        if std::mem::take(&mut self.is_closed_before) {
            self.closed.clear();
        }
    }

    /// Records that a host is closed to scripts. False if that is known, or if `limits::ORIGINS_PER_SITE_MAX` are recorded.
    pub fn close(&mut self, closed: Closed) -> bool {
        self.forget_closed();
        let is_known = self.closed.iter().any(|of| of.host == closed.host && of.why == closed.why);
        let is_new = !is_known && self.closed.len() < limits::ORIGINS_PER_SITE_MAX;
        if is_new {
            self.closed.push(closed);
        }
        is_new
    }

    /// Records that a page shows nothing. True if it is the first of this crawl.
    pub fn shows_nothing(&mut self, page: Nothing) -> bool {
        if std::mem::take(&mut self.is_nothing_before) {
            self.nothing = None;
        }
        match &mut self.nothing {
            Some(all) => all.pages += page.pages,
            None => {
                self.nothing = Some(page);
                return true;
            }
        }
        false
    }

    /// Queues a page for the next crawl. Those beyond `limits::RENDER_AGAIN_MAX` wait for their own recheck.
    pub fn look_again(&mut self, page: &str) {
        if self.again.len() < limits::RENDER_AGAIN_MAX && !self.again.iter().any(|known| known == page) {
            self.again.push(page.to_owned());
        }
    }

    /// The pages that a crawl begins with.
    pub fn take_again(&mut self) -> Vec<String> {
        std::mem::take(&mut self.again)
    }

    /// Records that a page shows something: if it was the first that did not, the site has been fixed.
    pub fn shows_again(&mut self, page: &str) {
        let is_mended = self.nothing.as_ref().is_some_and(|all| all.page == page);
        if std::mem::take(&mut self.is_nothing_before) || is_mended {
            self.nothing = None;
        }
    }

    /// Pages that showed nothing after their scripts.
    #[must_use]
    pub fn nothing(&self) -> Option<&Nothing> {
        self.nothing.as_ref()
    }

    /// Requests of scripts that were refused in the last crawl.
    #[must_use]
    pub fn closed(&self) -> &[Closed] {
        &self.closed
    }

    /// The stored form; `None` if there is nothing to store.
    #[must_use]
    pub fn note(&self) -> Option<Vec<u8>> {
        let is_empty = self.shapes.is_empty()
            && self.requests == 0
            && self.closed.is_empty()
            && self.nothing.is_none()
            && self.again.is_empty();
        (!is_empty).then(|| serde_json::to_vec(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
