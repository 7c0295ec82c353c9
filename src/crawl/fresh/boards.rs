//! The lists of a site as boards: content of their rows, extent of a recheck, threads to be read again (ALGORITHMS §10.1, BIC).
//!
//! `boards` parses and decides; this module stores the state of each list between rechecks, and the rechecks that are in progress
//! from page to page. The state of a thread at its last reading is kept for the threads read last; for all others the
//! database knows when they were read, which suffices if a list shows times.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use encoding_rs::Encoding;
use scraper::Html;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::boards::next::{numbered_form, numbers_of};
use gleaner_page::boards::walk::{KnownThread, Memory, Walk};
use gleaner_page::boards::when::{Conventions, Time};
use gleaner_page::boards::{Ask, BoardPage, Row, RowSelectors, read_page};
use gleaner_page::feed;
use gleaner_rules::{BoardRules, SiteRules};

/// Name of the note that stores the state of lists.
pub const BOARDS_NOTE: &str = "boards";

const VERSION: u32 = 1;

/// Rechecks in a row at which a list was missing before it may be dropped for others.
const AWAY_LOOKS: u32 = 5;

type LeaveOut = fn(&mut StoredBoards);

/// What is left out of a note that is too long, in this order, and its name in the log.
const SHORTER: [(&str, LeaveOut); 3] = [
    ("threads", |state| {
        state.threads.clear();
        state.boards.values_mut().for_each(|board| board.memory.is_counted = false);
    }),
    ("threads, and whose turn it is of the pages of lists", |state| {
        (state.pending, state.rereads) = Default::default();
        for board in state.boards.values_mut() {
            (board.memory.tour, board.memory.layout) = Default::default();
        }
    }),
    ("threads, turns of pages, and forms of addresses", |state| (state.paged, state.named) = Default::default()),
];

/// The lists of one site.
pub struct Boards {
    selectors: Option<RowSelectors>,
    offset_s: Option<i32>,
    kept: Mutex<LoadedBoards>,
    /// A warning was logged that the operator's selectors match nothing.
    has_warned: AtomicBool,
    /// A warning was logged that not all of their state is stored.
    has_told: AtomicBool,
}

#[derive(Default)]
pub(super) struct LoadedBoards {
    pub state: StoredBoards,
    pub is_changed: bool,
    /// Rechecks in progress, by the address of the next page.
    pub walks: HashMap<String, Walk<Memory>>,
    /// Last time when no list could be dropped to make room.
    is_full: Option<UnixMillis>,
}

/// The stored form.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredBoards {
    version: u32,
    /// By the URL of the first page.
    pub boards: BTreeMap<String, Board>,
    /// By thread id.
    threads: BTreeMap<String, Thread>,
    /// Rechecks in progress: the next page, and its list.
    pub(super) pending: BTreeMap<String, Pending>,
    /// URL forms whose number is the page of a list, although only the links to their next pages show that.
    #[serde(default)]
    paged: BTreeSet<String>,
    /// URL forms that look the same, but whose numbers are separate lists: directories link to them, or links with names.
    #[serde(default)]
    named: BTreeSet<String>,
    /// Pages of known threads that were requested and have not arrived yet.
    #[serde(default)]
    rereads: BTreeMap<String, Reread>,
}

/// A recheck in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// The list, by the URL of its first page.
    pub board: String,
    /// The previous recheck.
    pub last: Option<UnixMillis>,
    /// No row was found yet that the previous recheck could have shown: all rows so far are newer.
    #[serde(default)]
    pub is_above: bool,
    /// The page is read in rotation: the previous recheck did not show it.
    #[serde(default)]
    pub tours: bool,
}

/// A page of a thread that is awaited. The thread counts as read since its new posts were seen; this entry makes sure that the page
/// follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reread {
    at: UnixMillis,
    /// Number of failures.
    tries: u32,
}

impl Reread {
    /// Until when it may be in flight, or be retried by the crawl itself.
    fn patience(&self) -> UnixMillis {
        self.at.plus(limits::REREAD_PATIENCE * 2_u32.saturating_pow(self.tries))
    }
}

/// State of one list.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Board {
    pub(super) memory: Memory,
    /// What reveals new posts on it; `None` before a recheck found rows.
    pub grounds: Option<ChangeBasis>,
    /// Number of rows of its first page at the last recheck, and of the pinned ones among them.
    pub rows: u64,
    pub pinned: u64,
    /// Number of pages of its last completed recheck.
    pub pages: u64,
    /// Its last successful recheck.
    looked: UnixMillis,
    /// How often it was gone or redirected since then.
    #[serde(default)]
    away: u32,
}

impl Board {
    /// Its last successful recheck.
    #[must_use]
    pub fn looked(&self) -> UnixMillis {
        self.looked
    }
}

/// The basis for deciding whether a thread has new posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeBasis {
    /// Times of last activity.
    Times,
    /// Times of creation, which no reply changes.
    Created,
    /// Counts of replies.
    Replies,
    /// None of these: only unknown URLs are detected.
    UnknownUrls,
}

/// State of a thread, as its board showed it, when it was last read.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Thread {
    last: Option<Time>,
    replies: Option<u64>,
    last_page: Option<String>,
    read_at: i64,
}

/// A page parsed as a board.
pub struct ParsedBoard {
    pub page: BoardPage,
    pub(super) conventions: Conventions,
}

impl ParsedBoard {
    /// The same page with rows made from its links, for lack of others.
    #[must_use]
    pub(super) fn with_links<'u>(self, urls: impl Iterator<Item = &'u CrawlUrl>) -> Self {
        Self { page: self.page.with_links(urls), ..self }
    }

    /// Seconds by which the site's clock is ahead of ours according to its rows; 0 if it is not.
    #[must_use]
    pub fn ahead_s(&self) -> i64 {
        self.conventions.ahead_s
    }
}

impl StoredBoards {
    /// Parses a note; `None` if it is broken or of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(note).ok().filter(|state| state.version == VERSION)
    }
}

impl Boards {
    /// Starts without state. Invalid selectors were rejected with the rule file.
    #[must_use]
    pub fn new(rules: &BoardRules) -> Self {
        let (link, time) = (rules.row_link.as_deref(), rules.row_time.as_deref());
        let selectors = rules.rows.as_deref().and_then(|row| RowSelectors::new(row, link, time).ok());
        let (kept, has_warned, has_told) = Default::default();
        Self { selectors, offset_s: rules.offset_s, kept, has_warned, has_told }
    }

    /// Loads the note of earlier runs; logs a warning if it is unusable.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>) {
        let Some(note) = note else { return };
        match StoredBoards::from_bytes(note) {
            Some(state) => self.kept().state = state,
            None => tracing::warn!(%site, "the stored state of lists cannot be read: it is learned anew"),
        }
    }

    /// The note, if something has changed. If a site has more than fits in a note, logs what is left out.
    pub fn note(&self, site: &str) -> Option<(String, Vec<u8>)> {
        if !std::mem::take(&mut self.kept().is_changed) {
            return None;
        }
        let (note, left_out) = self.note_that_fits();
        if let Some(left_out) = left_out
            && !self.has_told.swap(true, Ordering::Relaxed)
        {
            let most = limits::NOTE_BYTES_MAX;
            tracing::warn!(%site, left_out, most, "the state of lists exceeds its size limit: the next start learns the rest anew");
        }
        Some((BOARDS_NOTE.to_owned(), note))
    }

    pub(super) fn note_now(&self) -> Vec<u8> {
        self.note_that_fits().0
    }

    /// The note, and what had to be left out of it.
    fn note_that_fits(&self) -> (Vec<u8>, Option<&'static str>) {
        let mut kept = self.kept();
        kept.state.version = VERSION;
        let note = |state: &StoredBoards| serde_json::to_vec(state).unwrap_or_default();
        let all = note(&kept.state);
        if all.len() <= limits::NOTE_BYTES_MAX {
            return (all, None);
        }
        let mut short = kept.state.clone();
        drop(kept);
        let mut left_out = "";
        for (what, leave_out) in SHORTER {
            left_out = what;
            leave_out(&mut short);
            let note = note(&short);
            if note.len() <= limits::NOTE_BYTES_MAX {
                return (note, Some(left_out));
            }
        }
        // Addresses of kilobytes: only the lists checked last are kept.
        while !short.boards.is_empty() {
            let mut looked: Vec<UnixMillis> = short.boards.values().map(|board| board.looked).collect();
            looked.sort_unstable();
            let (middle, before) = (looked[looked.len() / 2], short.boards.len());
            short.boards.retain(|_, board| board.looked > middle);
            if short.boards.len() == before {
                short.boards.clear();
            }
            let note = note(&short);
            if note.len() <= limits::NOTE_BYTES_MAX {
                return (note, Some("lists"));
            }
        }
        (note(&StoredBoards { version: VERSION, ..StoredBoards::default() }), Some(left_out))
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, LoadedBoards> {
        // Maps are consistent at any time.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recheck that waits for this page; `None` for any other page.
    #[must_use]
    pub fn awaits(&self, url: &str) -> Option<Pending> {
        self.kept().state.pending.get(url).cloned()
    }

    /// Handles a list's page that links torrents' pages but has no rows: if the operator has set row selectors, they match nothing.
    pub(super) fn without_rows(&self, site: &str, url: &str) {
        if self.selectors.is_some() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %site,
                url,
                "boards.rows or boards.row_link of the rule file matches nothing on a list: its links are taken, without times\nhint: correct the selector, or leave it out: rows are found without one"
            );
        }
    }

    /// True for a later page of a list, as links to next pages have shown.
    #[must_use]
    pub fn is_behind_a_front(&self, url: &str) -> bool {
        let StoredBoards { paged, named, .. } = &self.kept().state;
        let is_paged = |(form, number): &(String, u64)| *number > 1 && paged.contains(form) && !named.contains(form);
        !paged.is_empty() && numbers_of(url).iter().any(is_paged)
    }

    /// True if a page's link to its next page leads to another list, by what is known of the target's address.
    pub(super) fn is_another_list(&self, url: &str, next: &str) -> bool {
        numbered_form(url, next).is_some_and(|(form, _)| self.kept().state.named.contains(&form))
    }

    /// Records that the numbers of these forms are separate lists. Returns those that counted as page numbers until now.
    pub(super) fn are_lists(&self, forms: impl Iterator<Item = String>) -> BTreeSet<String> {
        let mut kept = self.kept();
        let mut believed = BTreeSet::new();
        for form in forms {
            if kept.state.named.len() < limits::BOARDS_KEPT_MAX && kept.state.named.insert(form.clone()) {
                kept.is_changed = true;
                believed.extend(kept.state.paged.take(&form));
            }
        }
        believed
    }

    /// Records that a page of a list links to its next one.
    pub(super) fn leads_to(&self, url: &str, next: &str) {
        let Some((form, _)) = numbered_form(url, next) else { return };
        let mut kept = self.kept();
        if kept.state.paged.len() < limits::BOARDS_KEPT_MAX && kept.state.paged.insert(form) {
            kept.is_changed = true;
        }
    }

    /// Records that a page of a thread was requested again and is awaited.
    pub(super) fn asks_again(&self, url: &str, at: UnixMillis) {
        let mut kept = self.kept();
        if kept.state.rereads.len() < limits::REREADS_KEPT_MAX || kept.state.rereads.contains_key(url) {
            kept.state.rereads.insert(url.to_owned(), Reread { at, tries: 0 });
            kept.is_changed = true;
        }
    }

    /// True if some list of the site contains threads, and there is room for more of them from pages that history reads.
    pub(super) fn may_count(&self) -> bool {
        (1..limits::BOARD_THREADS_MAX).contains(&self.kept().state.threads.len())
    }

    /// True for a page of a thread that was recently requested again.
    pub(crate) fn asked_again(&self, url: &str) -> bool {
        self.kept().state.rereads.contains_key(url)
    }

    /// Handles a page of a thread from a visit that began before the page was requested again: its content may be older than the new posts,
    /// so the page is still awaited.
    pub(crate) fn was_under_way(&self, url: &str, began: UnixMillis, ended: UnixMillis) {
        let mut kept = self.kept();
        if let Some(reread) = kept.state.rereads.get_mut(url).filter(|reread| began < reread.at && reread.at < ended) {
            reread.at = ended;
            kept.is_changed = true;
        }
    }

    /// Awaited pages of threads that are overdue, and when they were requested.
    pub(super) fn overdue(&self, now: UnixMillis) -> Vec<(String, UnixMillis)> {
        let kept = self.kept();
        let is_overdue = |reread: &Reread| reread.patience() <= now || reread.at > now;
        let overdue = kept.state.rereads.iter().filter(|(_, reread)| is_overdue(reread));
        overdue.take(limits::REREADS_AT_ONCE_MAX).map(|(url, reread)| (url.clone(), reread.at)).collect()
    }

    /// A page of a thread has arrived, or never will: it is no longer awaited.
    pub(super) fn came(&self, url: &str) {
        let mut kept = self.kept();
        kept.is_changed |= kept.state.rereads.remove(url).is_some();
    }

    /// A page of a thread failed; true if it is requested once more.
    pub(super) fn tries_again(&self, url: &str, now: UnixMillis) -> bool {
        let mut kept = self.kept();
        let Some(reread) = kept.state.rereads.get_mut(url) else { return false };
        *reread = Reread { at: now, tries: reread.tries + 1 };
        let is_tried = reread.tries <= limits::REREAD_TRIES_MAX;
        if !is_tried {
            kept.state.rereads.remove(url);
        }
        kept.is_changed = true;
        is_tried
    }

    /// Records a successful recheck of a list.
    pub fn looked(&self, list: &str, at: UnixMillis) {
        let mut kept = self.kept();
        if let Some(board) = kept.state.boards.get_mut(list) {
            (board.looked, board.away) = (at, 0);
            kept.is_changed = true;
        }
    }

    /// Time of the last successful recheck of a list, if it is kept.
    #[must_use]
    pub fn last_look(&self, list: &str) -> Option<UnixMillis> {
        self.kept().state.boards.get(list).map(|board| board.looked).filter(|looked| *looked > UnixMillis(0))
    }

    /// Records that a list is gone, or redirects elsewhere.
    pub fn is_away(&self, list: &str) {
        let mut kept = self.kept();
        if let Some(board) = kept.state.boards.get_mut(list) {
            board.away = board.away.saturating_add(1);
            kept.is_changed = true;
        }
    }

    /// Removes a list that turned out to be part of another.
    pub(crate) fn leaves(&self, list: &str) {
        let mut kept = self.kept();
        kept.is_changed |= kept.state.boards.remove(list).is_some();
    }

    /// How often in a row it was gone; 1 if that is not kept.
    #[must_use]
    pub fn away(&self, list: &str) -> u32 {
        self.kept().state.boards.get(list).map_or(1, |board| board.away.max(1))
    }

    /// Parses a list's page; `None` if it is no page, or too long for a tree.
    #[must_use]
    pub fn read(
        &self,
        rules: &SiteRules,
        job: &Job,
        headers: &ResponseHeaders,
        body: &[u8],
        now: UnixMillis,
    ) -> Option<ParsedBoard> {
        if body.len() > limits::BOARD_PAGE_BYTES_MAX {
            return None;
        }
        let of_rules = rules.charset.map(Encoding::name);
        let encoding = charset::detect(headers.content_type.as_deref(), body, of_rules);
        if feed::is_feed(body, encoding) {
            return None;
        }
        let board = self.awaits(job.url.as_str()).map_or_else(|| job.url.as_str().to_owned(), |pending| pending.board);
        let known = {
            let kept = self.kept();
            let of_walk = kept.walks.get(job.url.as_str()).map(Walk::known);
            let memory = of_walk.or_else(|| kept.state.boards.get(&board).map(|board| &board.memory));
            memory.map(|memory| (memory.conventions.clone(), memory.layout.clone()))
        };
        let (mut conventions, layout) = known.unwrap_or_else(|| (self.conventions(), None));
        let html = Html::parse_document(&encoding.decode(body).0);
        let ask = Ask {
            url: &job.url,
            canonical: &rules.canonical,
            selectors: self.selectors.as_ref(),
            layout: layout.as_ref(),
            now: seconds(now),
        };
        let page = read_page(&html, &ask, &mut conventions);
        Some(ParsedBoard { page, conventions })
    }

    pub(super) fn conventions(&self) -> Conventions {
        Conventions::with_offset(self.offset_s)
    }
}

impl LoadedBoards {
    /// The state of a list, created if needed; `None` beyond the maximum.
    pub(super) fn board(&mut self, url: &str, now: UnixMillis) -> Option<&mut Board> {
        if !self.state.boards.contains_key(url)
            && self.state.boards.len() >= limits::BOARDS_KEPT_MAX
            && !self.makes_room(now)
        {
            return None;
        }
        let begun = || Board { looked: now, ..Board::default() };
        Some(self.state.boards.entry(url.to_owned()).or_insert_with(begun))
    }

    /// Drops a list that is no longer rechecked, if there is one, and the forms of its pages with it.
    fn makes_room(&mut self, now: UnixMillis) -> bool {
        if self.is_full.is_some_and(|at| now.since(at) < limits::LIST_ROOM_SOUGHT_EVERY) {
            return false;
        }
        let oldest = self.state.boards.iter().min_by_key(|(_, board)| (board.away == 0, board.looked));
        let is_left = |board: &Board| board.away >= AWAY_LOOKS || now.since(board.looked) > limits::LIST_FORGOTTEN_TIME;
        let Some(left) = oldest.filter(|(_, board)| is_left(board)).map(|(url, _)| url.clone()) else {
            self.is_full = Some(now);
            return false;
        };
        self.state.boards.remove(&left);
        for (form, _) in numbers_of(&left) {
            self.state.paged.remove(&form);
        }
        true
    }

    /// The state of a thread when it was last read.
    pub fn thread(&self, id: &str) -> Option<KnownThread> {
        let thread = self.state.threads.get(id)?;
        let last_page = thread.last_page.as_deref();
        let last_page = last_page.and_then(|url| CrawlUrl::parse(url, &Canonical::default()).ok());
        Some(KnownThread { last: thread.last, replies: thread.replies, last_page, read_at: thread.read_at })
    }

    /// Records that a thread is read now, with what its row shows.
    pub fn reads(&mut self, row: &Row, now: i64) {
        self.keep(&row.id, &KnownThread::fetched(row, now));
    }

    /// Records an unknown thread from a page outside a recheck, while there is room: its replies, and
    /// the time of its last post by the site's clock, which can be compared whatever the zone.
    pub fn count(&mut self, row: &Row, now: i64) {
        let has_room = self.state.threads.len() < limits::BOARD_THREADS_MAX;
        let tells = row.replies.is_some() || row.last.is_some();
        if has_room && tells && !self.state.threads.contains_key(&row.id) {
            self.reads(row, now);
            self.is_changed = true;
        }
    }

    /// Stores the state of a thread; if there are too many, those read the longest ago are dropped.
    pub fn keep(&mut self, id: &str, known: &KnownThread) {
        let last_page = known.last_page.as_ref().map(|url| url.as_str().to_owned());
        let thread = Thread { last: known.last, replies: known.replies, last_page, read_at: known.read_at };
        self.state.threads.insert(id.to_owned(), thread);
        if self.state.threads.len() > limits::BOARD_THREADS_MAX {
            // A tenth at once: finding the oldest means scanning all.
            let mut times: Vec<i64> = self.state.threads.values().map(|thread| thread.read_at).collect();
            times.sort_unstable();
            let least = times.get(times.len() / 10).copied().unwrap_or_default();
            self.state.threads.retain(|_, thread| thread.read_at > least);
        }
    }
}

/// Seconds since 1970-01-01 UTC.
#[must_use]
pub fn seconds(at: UnixMillis) -> i64 {
    i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX)
}

/// The interval of a time in milliseconds: beginning, and length.
pub(super) fn interval(time: Time) -> (UnixMillis, u64) {
    let ms = |seconds: i64| u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000);
    // `latest` is the last second in which it may lie.
    (UnixMillis(ms(time.earliest)), ms(time.latest.saturating_sub(time.earliest).saturating_add(1)))
}

#[cfg(test)]
mod tests;
