//! Detects whether a rechecked page has changed (ALGORITHMS §8).
//!
//! The conditional request that came first was inconclusive. Now the page's fingerprint without its noise is compared with the one that
//! the last recheck stored in the URL's memo: if both are equal, nothing of the page is read. There is one noise model for
//! each class of the site, stored in notes.
//!
//! **A page with a new link is never skipped.** The fingerprint contains every link that the rules accept, except for parts of links that
//! change at each visit; links that it does not cover (of the head, in texts and forms) have a separate
//! hash, and if parts of links are left out, the links themselves are read and compared.

use std::sync::{Mutex, MutexGuard, PoisonError};

use encoding_rs::Encoding;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::boards;
use crate::job::{Job, PageFindings};
use crate::outlinks;
use crate::sitemaps::Sitemaps;
use crate::version::Print;
use gleaner_base::url::{CrawlUrl, resolve};
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::links::{LinkKind, PageLinks};
use gleaner_page::noise::{Basis, Explained, Fingerprint, Holds, Model, NoteError, Page, Verdict as Compared};
use gleaner_page::{encoded_links, feed, links};
use gleaner_rules::{Class, SiteRules, Verdict};
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// Name of the note that stores the model of a class.
#[must_use]
pub fn note_name(class: Class) -> String {
    format!("noise {}", class.name())
}

/// The noise models of one site's classes.
#[derive(Default)]
pub struct Models {
    of: [Mutex<LoadedModel>; Class::ALL.len()],
}

#[derive(Default)]
struct LoadedModel {
    /// On the heap: most classes of most sites have none.
    model: Option<Box<Model>>,
    /// It has learned since it was last stored.
    is_changed: bool,
}

/// Parses the model of a class from its note; a new one if there is none.
///
/// # Errors
/// Why the note is unusable.
pub fn model(class: Class, note: Option<&[u8]>) -> Result<Model, NoteError> {
    let holds = if class.is_listing() { Holds::List } else { Holds::Record };
    note.map_or_else(|| Ok(Model::new(holds)), Model::from_bytes)
}

impl Models {
    /// Loads the notes of earlier runs.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn take_up(&self, db: &(impl Reader + ?Sized), site: &str) -> Result<(), CrawlDbError> {
        for class in Class::ALL {
            let Some(note) = db.note(site, &note_name(class)).await? else { continue };
            match model(class, Some(&note)) {
                Ok(model) => self.of_class(class).model = Some(Box::new(model)),
                Err(fault) => {
                    let class = class.name();
                    tracing::warn!(%site, class, %fault, "the noise model of a class is learned anew");
                }
            }
        }
        Ok(())
    }

    /// Notes of the models that have learned since the last call.
    pub fn notes(&self) -> Vec<(String, Vec<u8>)> {
        let note = |class: Class| {
            let mut kept = self.of_class(class);
            let is_changed = std::mem::take(&mut kept.is_changed);
            kept.model.as_ref().filter(|_| is_changed).map(|model| (note_name(class), model.to_bytes()))
        };
        Class::ALL.into_iter().filter_map(note).collect()
    }

    /// Reads a rechecked page, unless it equals the previous version described by `last`.
    #[must_use]
    pub fn read(
        &self,
        (rules, sitemaps): (&SiteRules, &Sitemaps),
        job: &Job,
        headers: &ResponseHeaders,
        body: &[u8],
        last: Option<Print>,
    ) -> Reading {
        let of_rules = rules.charset.map(Encoding::name);
        let encoding = charset::detect(headers.content_type.as_deref(), body, of_rules);
        let whole = || Box::new(outlinks::read_page(rules, sitemaps, job, headers, body));
        if feed::is_feed(body, encoding) {
            // Its links are text, which a noise model might treat as noise.
            let page = Fingerprint { hash: xxh3_64(body), epoch: 0, basis: Basis::NoMarkup };
            let print = Print { page, rest: 0, found: 0 };
            return if last == Some(print) {
                Reading::Unchanged(print)
            } else {
                Reading::Read(whole(), Some(print), None)
            };
        }
        let scanned = links::scan(body, encoding);
        let page = Page { url: xxh3_64(job.url.as_str().as_bytes()), body, encoding };
        let base = base(&job.url, &scanned);
        let is_taken = |href: &str| class_of(rules, base.as_ref(), encoding, href).is_some();
        let of_record = |href: &str| class_of(rules, base.as_ref(), encoding, href).is_some_and(Class::is_target);
        let rest = rest(&scanned, body, encoding);
        let now = {
            let mut kept = self.of_class(job.class);
            let model = model_of(&mut kept, job.class);
            let now = model.fingerprint(&page, &is_taken);
            let is_same = last.is_some_and(|last| now.since(&last.page) == Compared::Unchanged && last.rest == rest);
            let leaves_parts_out = model.leaves_parts_out();
            if let Some(last) = last.filter(|_| is_same && !leaves_parts_out) {
                model.unchanged(page.url);
                return Reading::Unchanged(Print { page: now, rest, found: last.found });
            }
            is_same.then_some(now)
        };
        let findings = whole();
        let found = found_hash(&findings);
        let mut kept = self.of_class(job.class);
        let model = model_of(&mut kept, job.class);
        if let (Some(now), Some(last)) = (now, last)
            && last.found == found
        {
            model.unchanged(page.url);
            return Reading::Unchanged(Print { page: now, rest, found });
        }
        if findings.denied.is_some() {
            // A guest's page is no version of the page, and must not train the model.
            return Reading::Read(findings, None, None);
        }
        let _ = model.observe(&page, &of_record);
        // Computed again with what was just learned; otherwise it would not match at the next recheck.
        let print = Print { page: model.fingerprint(&page, &is_taken), rest, found };
        kept.is_changed = true;
        Reading::Read(findings, Some(print), None)
    }

    fn of_class(&self, class: Class) -> MutexGuard<'_, LoadedModel> {
        // Classes are numbered in the order of the list. A model is consistent between calls.
        self.of[class as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Result of reading a page.
pub enum Reading {
    /// It has not changed and was not read. Contains what its memo is to hold.
    Unchanged(Print),
    /// It was read; with a fingerprint if the next recheck can compare it, and its rows if it is a rechecked list.
    Read(Box<PageFindings>, Option<Print>, Option<Box<boards::ParsedBoard>>),
}

fn model_of(kept: &mut LoadedModel, class: Class) -> &mut Model {
    let holds = if class.is_listing() { Holds::List } else { Holds::Record };
    kept.model.get_or_insert_with(|| Box::new(Model::new(holds)))
}

/// Class of a reference's target by the rules; `None` if they do not accept it.
fn class_of(rules: &SiteRules, base: Option<&url::Url>, encoding: &'static Encoding, href: &str) -> Option<Class> {
    let url = CrawlUrl::join(base?, href, Some(encoding), &rules.canonical).ok()?;
    match rules.judge(&rules.without_mirror(url)) {
        Verdict::Take { class, .. } if class != Class::Login => Some(class),
        _ => None,
    }
}

/// The base URL of a page's references.
fn base(url: &CrawlUrl, page: &PageLinks<'_>) -> Option<url::Url> {
    let own = url::Url::parse(url.as_str()).ok()?;
    let named = page.base.as_deref().and_then(|base| resolve(&own, base));
    Some(named.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or(own))
}

/// A hash of links other than anchors and frames: the base, links of the head, redirects, links in texts, forms and
/// scripts that name a torrent themselves; and of whether robots may follow any of it.
fn rest(page: &PageLinks<'_>, body: &[u8], encoding: &'static Encoding) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(page.base.as_deref().unwrap_or_default().as_bytes());
    hasher.update(&[u8::from(page.robots_nofollow), u8::from(page.truncated)]);
    // Forms hold tokens that differ with each visit.
    let of_head = page
        .links
        .iter()
        .filter(|link| !matches!(link.kind, LinkKind::Anchor | LinkKind::Frame | LinkKind::Click | LinkKind::Encoded));
    for link in of_head {
        hasher.update(link.href.as_bytes());
        hasher.update(b"\n");
    }
    for found in encoded_links::find(body, encoding) {
        hasher.update(found.link.as_bytes());
        hasher.update(b"\n");
    }
    hasher.digest()
}

/// A hash of the URLs that the rules accepted from a page, independent of their order.
fn found_hash(findings: &PageFindings) -> u64 {
    findings.found.iter().fold(0, |sum, found| sum.wrapping_add(xxh3_64(found.url.as_str().as_bytes())))
}

/// A page with its blocks marked according to `model`.
#[must_use]
pub fn explain(rules: &SiteRules, url: &CrawlUrl, model: &Model, content_type: Option<&str>, body: &[u8]) -> Explained {
    let encoding = charset::detect(content_type, body, rules.charset.map(Encoding::name));
    let base = base(url, &links::scan(body, encoding));
    let page = Page { url: xxh3_64(url.as_str().as_bytes()), body, encoding };
    model.explain(&page, &|href: &str| class_of(rules, base.as_ref(), encoding, href).is_some())
}
