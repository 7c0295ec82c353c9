//! Results of rendering for a site so far, kept over restarts: by what pages look like without their scripts, so that a site that depends
//! on its scripts is not tested again by each process, and the requests of its scripts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::Brought;
use crate::limits;
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// Name of the note that stores it.
pub const RENDERED_NOTE: &str = "rendered";

/// The statistics of one site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// By the shapes of pages ([`Shown::shape`](super::evidence::Shown::shape)).
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    pub host: String,
    pub why: String,
    /// The first page whose scripts wanted to.
    pub page: String,
}

/// Pages of a site that were rendered and had no content, neither without their scripts nor with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
mod tests {
    use super::*;
    use gleaner_store::crawldb::CrawlDb as _;
    use gleaner_store::crawldb::memory_store::MemoryStore;

    #[tokio::test]
    async fn what_a_class_has_gained_is_known_to_the_next_process() {
        let db = MemoryStore::default();
        assert_eq!(Rendered::take_up(&db, "s").await.unwrap(), Rendered::default());
        assert_eq!(Rendered::default().note(), None);
        let mut rendered = Rendered { requests: 7, ..Rendered::default() };
        for gained in [true, false, true] {
            rendered.of(Class::Index, "index bare").rendered(gained);
        }
        db.put_note("s", RENDERED_NOTE, rendered.note().unwrap()).await.unwrap();
        let mut later = Rendered::take_up(&db, "s").await.unwrap();
        assert_eq!(later, rendered);
        let of = *later.of(Class::Index, "index bare");
        assert_eq!((of.rendered, of.gained), (3, 2));
        assert_eq!(Rendered::take_up(&db, "other").await.unwrap(), Rendered::default());
    }

    #[test]
    fn a_closed_host_is_told_once_a_crawl() {
        let mut rendered = Rendered::default();
        let closed = |host: &str, page: &str| Closed {
            host: host.into(),
            why: "robots.txt disallows it".into(),
            page: page.into(),
        };
        assert!(rendered.close(closed("api.example", "/1")));
        assert!(!rendered.close(closed("api.example", "/2")));
        assert!(rendered.close(closed("cdn.example", "/2")));
        let later: Rendered = serde_json::from_slice(&rendered.note().unwrap()).unwrap();
        assert_eq!(later.closed(), [closed("api.example", "/1"), closed("cdn.example", "/2")]);
        rendered.begin();
        rendered.asked(0);
        assert_eq!(rendered.closed().len(), 2, "a crawl that renders nothing has not seen whether that is so");
        assert!(rendered.close(closed("api.example", "/3")));
        rendered.asked(2);
        assert_eq!((rendered.closed(), rendered.requests), (&[closed("api.example", "/3")][..], 2));
        rendered.begin();
        rendered.asked(1);
        assert!(rendered.closed().is_empty());
    }

    #[test]
    fn pages_that_show_nothing_are_told_once_a_crawl_until_the_first_of_them_does() {
        let page = |page: &str| Nothing { pages: 1, page: page.into(), why: Some("boom at /app.js:3:1".into()) };
        let mut rendered = Rendered::default();
        assert!(rendered.shows_nothing(page("/1")) && !rendered.shows_nothing(page("/2")));
        for number in 0..limits::RENDER_AGAIN_MAX + 9 {
            rendered.look_again(&format!("/{number}"));
            rendered.look_again("/0");
        }
        let mut later: Rendered = serde_json::from_slice(&rendered.note().unwrap()).unwrap();
        let told = "2 pages showed nothing after their scripts, first /1: boom at /app.js:3:1";
        assert_eq!(later.nothing().unwrap().to_string(), told);
        assert_eq!((later.take_again().len(), later.take_again().len()), (limits::RENDER_AGAIN_MAX, 0));
        later.begin();
        assert!(later.nothing().is_some(), "a crawl that renders nothing has not seen whether that is so");
        assert!(later.shows_nothing(page("/3")));
        later.shows_again("/4");
        assert_eq!(later.nothing().unwrap().pages, 1);
        later.shows_again("/3");
        assert_eq!(later.nothing(), None);
    }

    #[test]
    fn shapes_beyond_the_bound_share_the_account_of_their_class() {
        let mut rendered = Rendered::default();
        for number in 0..limits::RENDER_SHAPES_MAX + 50 {
            rendered.of(Class::Index, &format!("index {number}")).rendered(false);
        }
        assert_eq!(rendered.of(Class::Index, "index another").rendered, 50);
        assert_eq!(rendered.of(Class::Index, "index 0").rendered, 1);
    }

    #[tokio::test]
    async fn a_note_of_nonsense_is_none() {
        let db = MemoryStore::default();
        db.put_note("s", RENDERED_NOTE, b"[1,2".to_vec()).await.unwrap();
        assert_eq!(Rendered::take_up(&db, "s").await.unwrap(), Rendered::default());
    }
}
