//! What the site has no more: answers that say so, rows that vanished from its lists, and since when (ALGORITHMS §7).
//!
//! 404 and 410 are believed at once. A page that says that its torrent is gone, or that is the one which the site sends for what
//! it does not have, is looked at once more, three hours later, before it is. A row that vanished from a list while its neighbours
//! stayed has its page asked for: what that has no torrent any more, or leads home, is gone.
//!
//! What is gone ends as [`Outcome::Gone`], which coverage counts; nothing is taken out of the archive. What a site sends for what it
//! does not have is learned from pages of torrents without one that are alike under different URLs, where most others have one: no
//! address is made up for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::freshness::Between;
use crate::freshness::gone::{Answer, Gone, NotFound, Presence, Sign, Turn, Why, sign};
use crate::limits;
use crate::outlinks::PageFindings;
use crate::site::{Found, Site};
use crate::visit::{Finished, Job};
use gleaner_base::clock::UnixMillis;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::fingerprint::Sketch;
use gleaner_page::text;
use gleaner_rules::Class;
use gleaner_store::crawldb::{Next, Outcome};

/// The name of the note that keeps what is gone.
pub const GONE_NOTE: &str = "gone";

/// First line of a memo that keeps a sign of absence for the next look.
const MEMO: &str = "gone\n";

/// Pages of torrents with one that must have been seen before one without is believed to be what the site sends for what it has not.
const WITH_MIN: u32 = 3;

/// Pages without one that are looked at again before so many were seen.
const EARLY: u32 = 20;

/// What a site has no more.
#[derive(Default)]
pub struct Missing {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    state: State,
    is_changed: bool,
}

/// As it is written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    version: u32,
    /// Torrents that are gone, by why.
    pub counts: BTreeMap<String, u64>,
    /// The last of them.
    pub last: VecDeque<GoneUrl>,
    /// Rows that vanished from their lists and whose pages are asked for, by the hashes of their URLs.
    unlisted: BTreeMap<u64, Gone>,
    /// Pages of torrents that had one, and those that had none.
    with: u32,
    without: u32,
    /// The last of those without, by their URLs.
    strangers: VecDeque<(u64, Sketch)>,
    /// What the site sends for what it does not have.
    not_found: Option<Sketch>,
}

/// A URL that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneUrl {
    pub url: String,
    pub gone: Gone,
    /// When that was found.
    pub at: UnixMillis,
}

const VERSION: u32 = 1;

impl State {
    /// Reads a note; `None` where it is broken or of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(note).ok().filter(|state| state.version == VERSION)
    }
}

/// The number that stands for a URL.
#[must_use]
pub fn hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

/// The sign in words, as `status` counts it.
#[must_use]
pub fn why_name(why: Why) -> String {
    match why {
        Why::Status(status) => format!("status {status}"),
        Why::NotFoundPage => "the page for what is not there".to_owned(),
        Why::Said => "said to be gone".to_owned(),
        Why::Redirected => "leads home".to_owned(),
        Why::Unlisted => "off its list, without a torrent".to_owned(),
    }
}

impl Missing {
    /// Takes up the note of earlier runs; says so where it is of no use.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>) {
        let Some(note) = note else { return };
        match State::from_bytes(note) {
            Some(state) => self.kept().state = state,
            None => tracing::warn!(%site, "the note of what is gone cannot be read: it is counted anew"),
        }
    }

    /// The note, where something has changed.
    pub fn note(&self) -> Option<(String, Vec<u8>)> {
        let mut kept = self.kept();
        if !std::mem::take(&mut kept.is_changed) {
            return None;
        }
        drop(kept);
        Some((GONE_NOTE.to_owned(), self.note_now()))
    }

    pub(super) fn note_now(&self) -> Vec<u8> {
        let mut kept = self.kept();
        kept.state.version = VERSION;
        serde_json::to_vec(&kept.state).unwrap_or_default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Counts stay usable after a panic elsewhere.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A row vanished for good from its list: its page is to be asked for.
    pub fn unlisted(&self, url: u64, gone: Gone) {
        let mut kept = self.kept();
        if kept.state.unlisted.len() < limits::GONE_UNLISTED_MAX {
            kept.state.unlisted.insert(url, gone);
            kept.is_changed = true;
        }
    }

    fn is_unlisted(&self, url: u64) -> Option<Gone> {
        self.kept().state.unlisted.get(&url).copied()
    }

    /// The page of a row that vanished was asked for, and is there.
    pub fn is_there(&self, url: u64) {
        let mut kept = self.kept();
        let was_unlisted = kept.state.unlisted.remove(&url).is_some();
        kept.is_changed |= was_unlisted;
    }

    /// Counts a torrent that is gone.
    pub fn record(&self, url: &str, gone: Gone, at: UnixMillis) {
        let mut kept = self.kept();
        kept.is_changed = true;
        kept.state.unlisted.remove(&hash(url));
        if kept.state.last.iter().any(|known| known.url == url) {
            return;
        }
        *kept.state.counts.entry(why_name(gone.why)).or_default() += 1;
        kept.state.last.push_back(GoneUrl { url: url.to_owned(), gone, at });
        while kept.state.last.len() > limits::GONE_TOLD_MAX {
            kept.state.last.pop_front();
        }
    }

    /// Takes in a page of a torrent without one, and tells what the site sends for what it does not have, as far as it is known.
    /// Before enough pages with a torrent were seen, two alike are taken for it to be looked at again; `is_second` asks for a verdict.
    fn stranger(&self, url: u64, sketch: &Sketch, is_second: bool) -> NotFound {
        let mut kept = self.kept();
        kept.is_changed = true;
        let state = &mut kept.state;
        state.without = state.without.saturating_add(1);
        let answer = |sketch| Answer {
            status: 200,
            landing: None,
            text: "",
            sketch: Some(sketch),
            has_torrent: false,
            is_of_guest: false,
            is_whole: true,
        };
        let others = state.strangers.iter().filter(|(other, _)| *other != url);
        let mut learned = others.map(|(_, other)| NotFound::learn(&[answer(other), answer(sketch)]));
        if let Some(page) = learned.find_map(|not_found| not_found.page().cloned()) {
            state.not_found = Some(page);
        }
        if !state.strangers.iter().any(|(other, _)| *other == url) {
            state.strangers.push_back((url, sketch.clone()));
        }
        while state.strangers.len() > limits::GONE_STRANGERS_MAX {
            state.strangers.pop_front();
        }
        let is_usual = state.with >= WITH_MIN && state.without <= state.with;
        let is_early = !is_second && state.without <= EARLY;
        let believed = state.not_found.clone().filter(|_| is_usual || is_early);
        believed.map(NotFound::of_page).unwrap_or_default()
    }
}

/// What a look at a torrent's page says of its presence.
pub enum Look {
    /// Nothing, or that it is there.
    Nothing,
    /// A sign that it is gone, to be confirmed at this time.
    Sign(Presence, UnixMillis),
    Gone(Gone),
}

/// A status of 404 or 410, which is believed.
#[must_use]
pub fn of_status(site: &Site, job: &Job, status: u16, now: UnixMillis) -> Gone {
    let why = Why::Status(status);
    let mut presence = presence(job);
    if let Turn::Gone(gone) = presence.look(Sign::Absent(why), now) {
        return Gone { why, ..gone };
    }
    let unlisted = site.fresh.gone.is_unlisted(hash(job.url.as_str()));
    Gone { since: unlisted.map_or(Between { from: now, until: now }, |gone| gone.since), why }
}

/// A redirect of a torrent whose row has vanished: one that leads to where the site begins, or to a list, says that it is gone.
#[must_use]
pub fn of_redirect(site: &Site, job: &Job, to: &Found) -> Option<Gone> {
    let unlisted = site.fresh.gone.is_unlisted(hash(job.url.as_str()))?;
    let is_start = site.rules.start.iter().any(|start| start.as_str() == to.url.as_str());
    (job.class.is_target() && (is_start || to.class.is_listing())).then_some(Gone { why: Why::Redirected, ..unlisted })
}

/// What a page that was read says of the torrent that it was to be of.
#[must_use]
pub fn of_page(
    site: &Site,
    job: &Job,
    read: &PageFindings,
    headers: &ResponseHeaders,
    body: &[u8],
    now: UnixMillis,
) -> Look {
    if !job.class.is_target() {
        return Look::Nothing;
    }
    let url = hash(job.url.as_str());
    let has_torrent = !read.magnets.is_empty() || read.found.iter().any(|found| found.class == Class::Download);
    if has_torrent || read.denied.is_some() {
        if has_torrent {
            if job.class == Class::Detail {
                let mut kept = site.fresh.gone.kept();
                kept.state.with = kept.state.with.saturating_add(1);
                kept.is_changed = true;
            }
            if job.class == Class::Thread {
                site.fresh.lists.holds(url);
            }
            site.fresh.gone.is_there(url);
        }
        return Look::Nothing;
    }
    let encoding = charset::detect(headers.content_type.as_deref(), body, site.rules.charset.map(Encoding::name));
    let head = &body[..body.len().min(HEAD_BYTES)];
    let seen = text::visible(&encoding.decode(head).0, HEAD_BYTES);
    let unlisted = site.fresh.gone.is_unlisted(url);
    // A thread that had its torrent on this page, and whose row has gone as well, has lost it, whatever is said on it.
    let has_lost_it = unlisted.is_some() && job.class == Class::Thread && site.fresh.lists.held(url);
    let is_talk = job.class == Class::Thread && seen.trim().len() > limits::GONE_THREAD_TEXT_BYTES_MAX;
    if (is_talk && !has_lost_it) || names_infohash(&seen) {
        site.fresh.gone.is_there(url);
        return Look::Nothing;
    }
    let sketch = (job.class == Class::Detail).then(|| Sketch::of(head)).filter(|sketch| !sketch.is_empty());
    let mut presence = presence(job);
    let is_second = presence.confirm_at().is_some();
    let not_found = sketch.as_ref().map(|sketch| site.fresh.gone.stranger(url, sketch, is_second)).unwrap_or_default();
    let answer = Answer {
        status: 200,
        landing: None,
        text: &seen,
        sketch: sketch.as_ref(),
        has_torrent,
        is_of_guest: false,
        is_whole: true,
    };
    let sign = sign(&answer, &not_found, None);
    if let Some(unlisted) = unlisted {
        // Its row is away from its list for hours: that was the first sign.
        return match sign {
            Sign::Absent(why) => Look::Gone(Gone { why, ..unlisted }),
            _ if job.class == Class::Thread && !has_lost_it => {
                site.fresh.gone.is_there(url);
                Look::Nothing
            }
            _ => Look::Gone(unlisted),
        };
    }
    match (presence.look(sign, now), presence.confirm_at()) {
        (Turn::Gone(gone), _) => Look::Gone(gone),
        (_, Some(at)) if matches!(sign, Sign::Absent(_)) => Look::Sign(presence, at),
        _ => Look::Nothing,
    }
}

/// Bytes of a page in which words are looked for: heads and menus come first.
const HEAD_BYTES: usize = 256 << 10;

/// True where a word is an infohash in hexadecimal digits.
fn names_infohash(text: &str) -> bool {
    let is_infohash = |word: &str| matches!(word.len(), 40 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_infohash)
}

/// What earlier looks left in the memo.
fn presence(job: &Job) -> Presence {
    let memo = job.lease.memo.as_deref().and_then(|memo| memo.strip_prefix(MEMO));
    memo.and_then(|memo| serde_json::from_str(memo).ok()).unwrap_or_default()
}

/// Writes into a visit what its page said.
pub fn apply(look: Look, finished: &mut Finished) {
    match look {
        Look::Nothing => {}
        Look::Sign(presence, at) => {
            finished.visit.next = Next::RevisitAt(at);
            finished.visit.memo = serde_json::to_string(&presence).ok().map(|text| format!("{MEMO}{text}").into());
            finished.detail = Some("seems to be gone: it is looked at once more".to_owned());
        }
        Look::Gone(gone) => {
            finished.visit.outcome = Outcome::Gone;
            finished.may_hold_more = false;
            finished.detail = Some(why_name(gone.why));
            finished.gone = Some(gone);
        }
    }
}
