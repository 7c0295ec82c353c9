//! How far a board is walked, and which of its threads are fetched (ALGORITHMS §10.1; Board, algorithm BIC).
//!
//! Pages are read in order. An unknown thread is fetched; a known one with new activity is read on from its last
//! known page. The walk ends at the first page without anything new, ignoring pinned rows. Beyond the paper it
//! handles: lists that are not in the order of time, and rows inserted late (deep pages are read in rotation, see
//! `tour`); lists without times (unknown threads and counts of replies decide, and the verdict says so); impossible
//! times (they move with our own clock); repeated pages; moved boards; and time errors: a thread in doubt is fetched
//! once more rather than missed.
//!
//! Knows no database: the `known` callback returns what is stored about a thread. Pure; `now` is an argument.

use std::borrow::BorrowMut;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::identity::thread_id;
use super::lists::Layout;
use super::rows::{BoardPage, Row, Sorted, Times};
use super::tour::{Order as ListOrder, Tour};
use super::trust::{Trust, WITH_CLOCK_S, told_move};
use super::when::{Against, Conventions, Precision, Time};
use crate::limits::BOARD_PAGES_MAX;
use gleaner_base::url::CrawlUrl;

/// What is known of a thread. Times are seconds since 1970-01-01 UTC.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownThread {
    /// Its last activity as shown by the board when the thread was last fetched.
    pub last: Option<Time>,
    /// Its replies as shown by the board then.
    pub replies: Option<u64>,
    /// The last page of it that was fetched; None for its first.
    pub last_page: Option<CrawlUrl>,
    /// When it was last fetched.
    pub read_at: i64,
}

/// What is remembered about a board between rechecks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The time format of the site.
    pub conventions: Conventions,
    /// The layout of its list.
    pub layout: Option<Layout>,
    /// A page of the board was in the order of time.
    pub is_sorted: bool,
    /// How often its pages were out of order, recently: 1 after such a page, decaying with others.
    pub disorder: f64,
    /// How reliably threads with news come above all others, from 0 to 1.
    pub by_activity: f64,
    /// Consecutive rechecks at which the times moved with our own clock.
    pub lies: u32,
    /// Seconds by which all of the board's times last moved at once, for daylight saving.
    pub shift_s: i64,
    /// The tour over its pages.
    #[serde(default)]
    pub tour: Tour,
    /// All reply counts of its first page have been stored since a recheck.
    #[serde(default)]
    pub is_counted: bool,
}

impl Memory {
    /// True for a list in the order of time. One ordered page proves little: without activity, any order looks like
    /// time.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.is_sorted && self.disorder < 0.5
    }

    /// Where its new rows appear.
    #[must_use]
    pub fn order(&self) -> ListOrder {
        match () {
            () if self.disorder >= 0.5 => ListOrder::Another,
            () if self.is_sorted => ListOrder::Time,
            () => ListOrder::Unproven,
        }
    }
}

/// Why a thread is fetched or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was never seen.
    New,
    /// It has newer activity than known.
    Later,
    /// It has more replies than known.
    MoreReplies,
    /// Its time is too coarse to decide, and there is no other evidence.
    Unsure,
    /// No change.
    Same,
    /// Its last activity is earlier than known: something was removed.
    Receded,
}

impl Change {
    /// True if the thread must be fetched.
    #[must_use]
    pub fn is_fetched(self) -> bool {
        matches!(self, Self::New | Self::Later | Self::MoreReplies | Self::Unsure)
    }
}

/// A thread to fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Index of its row in the page.
    pub row: usize,
    /// The page to start with: its first, or the last known one.
    pub from: CrawlUrl,
    pub why: Change,
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing new on the page.
    NothingNew,
    /// There is no next page.
    LastPage,
    /// The page shows the same rows as earlier pages of this walk.
    Repeats,
    /// The page has no rows: an empty board, or not a board.
    Empty,
    /// The page limit was reached.
    Capped,
}

/// The evidence by which changes are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grounds {
    /// Times of last activity.
    Times,
    /// Counts of replies: the list has no reliable times of last activity.
    Replies,
    /// Neither: only unknown threads are detected, replies are not.
    UnknownUrls,
}

/// The decision about a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub fetch: Vec<Fetch>,
    /// The next page to read, or why there is none.
    pub step: Result<CrawlUrl, Stop>,
    /// None for a page without rows.
    pub grounds: Option<Grounds>,
    /// The board's new address, if it was redirected elsewhere.
    pub moved: Option<CrawlUrl>,
    /// The decision for each row of the page.
    pub changes: Vec<Change>,
}

/// One recheck of a board, page by page. It borrows the board's memory, or owns it until it is finished.
#[derive(Debug)]
pub struct Walk<M> {
    memory: M,
    now: i64,
    pages_max: usize,
    /// The site's request budget per day for tour pages of this list.
    room_per_day: f64,
    pages: usize,
    quiet: usize,
    /// It started after the front: earlier state is lost.
    is_resumed: bool,
    /// Once it has reached the tour pages, the maximum number still to read; `None` before.
    tour: Option<usize>,
    seen: HashSet<String>,
    oldest: Option<Time>,
    /// Known rows above, unknown ones below a known one, and unknown ones above all known ones; without pinned rows.
    order: Order,
    /// A row with an unchanged count of replies was seen.
    is_settled: bool,
    /// Number of rows at the top of the next page that the last recheck could not have seen: those known now came
    /// from other lists since.
    above: usize,
    /// The next page says nothing about the list's order.
    is_first_read: bool,
}

/// Positions of unknown rows relative to known ones in a recheck.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    known: usize,
    news_above: usize,
    news_below: usize,
}

/// Pages without news after which a walk ends on an unordered list, or continues where the last one stopped.
const PATIENCE: usize = 2;

/// Known rows that must be below unknown ones to prove the order: only part of a page.
const TOPPED_ROWS: usize = 3;

/// Seconds after reading a thread in which suspicion alone does not fetch it again: a list that shows days only would
/// have all threads of today fetched at each recheck. Until the day is over it is checked again.
const UNSURE_REST_S: i64 = 3_600;

/// Pages of a recheck on which threads count as bumped although none of their rows is known to be unchanged.
const BUMPED_PAGES: usize = 4;

/// Factor by which each ordered page reduces the disorder.
const DISORDER_KEPT: f64 = 0.95;

/// Amount by which a page with late insertions raises the disorder of an ordered list.
const LATE_ROWS: f64 = 0.3;

/// Weight of a page in the estimate that the board is ordered by activity, and the estimate from which positions
/// count as evidence.
const PLACE_LEARNT: f64 = 0.2;
const PLACE_TRUSTED: f64 = 0.6;

impl<M: BorrowMut<Memory>> Walk<M> {
    /// Starts a recheck at `now`, of at most `pages_max` pages.
    #[must_use]
    pub fn begin(memory: M, now: i64, pages_max: usize) -> Self {
        Self {
            memory,
            now,
            pages_max: pages_max.clamp(1, BOARD_PAGES_MAX),
            room_per_day: f64::INFINITY,
            pages: 0,
            quiet: 0,
            is_resumed: false,
            tour: None,
            seen: HashSet::new(),
            oldest: None,
            order: Order::default(),
            is_settled: false,
            above: 0,
            is_first_read: false,
        }
    }

    /// Limits the tour pages by the site's request budget per day.
    #[must_use]
    pub fn with_room(self, room_per_day: f64) -> Self {
        Self { room_per_day, ..self }
    }

    /// Resumes a recheck after the front without its earlier state; `tours` if it had reached the tour pages.
    #[must_use]
    pub fn resumed(self, tours: bool) -> Self {
        let known = if tours { TOPPED_ROWS } else { 0 };
        Self { is_resumed: true, tour: tours.then_some(0), order: Order { known, ..self.order }, ..self }
    }

    /// The board's memory, for reading the next page.
    pub fn memory(&mut self) -> &mut Memory {
        self.memory.borrow_mut()
    }

    /// The board's memory so far.
    #[must_use]
    pub fn known(&self) -> &Memory {
        self.memory.borrow()
    }

    /// Sets how many rows at the top of the next page the last recheck could not have seen. If these are known, they
    /// came from other lists since: they say nothing about the order, and a page of such rows alone does not end the
    /// recheck.
    pub fn stands_above(&mut self, rows: usize) {
        self.above = rows;
    }

    /// Sets whether the next page is read for the first time: its known rows came from other pages, and its unknown
    /// rows are not news.
    pub fn is_first_read(&mut self, is_first_read: bool) {
        self.is_first_read = is_first_read;
    }

    /// Records an unchanged front: nothing on it is new. Returns the tour page to read, if any.
    ///
    /// # Errors
    /// [`Stop::NothingNew`] if there is none.
    pub fn unchanged(&mut self) -> Result<CrawlUrl, Stop> {
        self.pages += 1;
        // Its rows count as known rows before those of later pages.
        self.order.known += TOPPED_ROWS;
        self.takes_turn().ok_or(Stop::NothingNew)
    }

    /// True if the next page is a tour page, and not read because the previous one had news.
    #[must_use]
    pub fn is_touring(&self) -> bool {
        self.tour.is_some()
    }

    /// The next page does not exist: restarts the tour.
    pub fn turns_back(&mut self) {
        self.memory().tour.turns_back();
    }

    /// Processes the next page. `asked` is the requested address, `answered` the one after redirects.
    pub fn page(
        &mut self,
        page: &BoardPage,
        asked: &CrawlUrl,
        answered: &CrawlUrl,
        known: impl Fn(&str) -> Option<KnownThread>,
    ) -> Verdict {
        self.pages += 1;
        let known: Vec<Option<KnownThread>> = page.rows.iter().map(|row| known(&row.id)).collect();
        let trust = Trust::of(self.memory.borrow_mut(), page, &known, self.now);
        let mut changes: Vec<Change> =
            page.rows.iter().zip(&known).map(|(row, known)| trust.judge(row, known.as_ref())).collect();
        self.judge_by_place(page, &mut changes);
        if trust.grounds(page) == Grounds::Replies {
            self.judge_bumped(page, &known, &mut changes);
        }
        let is_front = self.pages == 1 && !self.is_resumed;
        for ((change, known), row) in changes.iter_mut().zip(&known).zip(&page.rows) {
            let was_just_read =
                known.as_ref().is_some_and(|known| (0..UNSURE_REST_S).contains(&(self.now - known.read_at)));
            // After a kill it may be unknown what its row showed when it was read: it is read once more and stored
            // from then on.
            let is_forgotten =
                |known: &KnownThread| known.last.is_none() && known.replies.is_none() && row.last.is_some();
            let is_read_anew = is_front && known.as_ref().is_some_and(is_forgotten);
            if *change == Change::Unsure && was_just_read && !is_read_anew {
                *change = Change::Same;
            }
        }
        self.learn(page, &known, &changes);
        let is_first_sight = |row: &Row| !self.seen.contains(&row.id);
        let repeats = !page.rows.is_empty()
            && !page.rows.iter().any(|row| row.pinned.is_none() && is_first_sight(row))
            && self.pages > 1;
        let fetch = page
            .rows
            .iter()
            .enumerate()
            .filter(|(at, row)| changes[*at].is_fetched() && is_first_sight(row))
            .map(|(at, row)| {
                let known_page = known[at].as_ref().and_then(|known| known.last_page.clone());
                Fetch { row: at, from: known_page.unwrap_or_else(|| row.url.clone()), why: changes[at] }
            })
            .collect::<Vec<_>>();
        let has_news = fetch.iter().any(|fetch| page.rows[fetch.row].pinned.is_none());
        let is_above = !page.rows.is_empty() && self.above >= page.rows.len();
        self.quiet = if has_news || is_above { 0 } else { self.quiet + 1 };
        if page.times == Times::None && !self.is_first_read {
            self.learn_order(page, &changes);
        }
        for (row, change) in page.rows.iter().zip(&mut changes) {
            if row.pinned.is_none() {
                self.oldest = older(self.oldest, row.last);
            }
            if !self.seen.insert(row.id.clone()) && *change == Change::New {
                // An earlier page of this recheck already showed it.
                *change = Change::Same;
            }
        }
        let moved =
            (self.pages == 1 && !page.rows.is_empty() && thread_id(asked.as_str()) != thread_id(answered.as_str()))
                .then(|| answered.clone());
        Verdict {
            fetch,
            step: self.step(page, asked, repeats),
            grounds: (!page.rows.is_empty()).then(|| trust.grounds(page)),
            moved,
            changes,
        }
    }

    fn is_sorted(&self) -> bool {
        self.known().is_in_order()
    }

    fn step(&mut self, page: &BoardPage, asked: &CrawlUrl, repeats: bool) -> Result<CrawlUrl, Stop> {
        let is_sorted = self.is_sorted();
        let is_front = self.pages == 1 && !self.is_resumed;
        match &mut self.memory().tour {
            tour if is_front => tour.starts(page.next.as_ref()),
            tour => tour.reads(asked, page, repeats),
        }
        if page.rows.is_empty() {
            return Err(Stop::Empty);
        }
        if repeats {
            return Err(Stop::Repeats);
        }
        if let Some(left) = self.tour {
            self.tour = Some(left.saturating_sub(1));
        }
        // In a list without times, news is assumed to be on top until proved otherwise.
        let is_patient = !is_sorted && (page.times != Times::None || self.known().disorder >= 0.5);
        let has_ended = match self.tour {
            Some(left) => left == 0 && self.quiet > 0,
            None => self.quiet >= if is_patient { PATIENCE } else { 1 },
        };
        let next = match has_ended {
            true if self.tour.is_some() => return Err(Stop::NothingNew),
            true => self.takes_turn().ok_or(Stop::NothingNew)?,
            false => page.next.clone().ok_or(Stop::LastPage)?,
        };
        if self.pages >= self.pages_max { Err(Stop::Capped) } else { Ok(next) }
    }

    /// The next tour page, if this recheck may read any.
    fn takes_turn(&mut self) -> Option<CrawlUrl> {
        let (now, room, order) = (self.now, self.room_per_day, self.known().order());
        if !self.known().tour.has_pages() {
            return None;
        }
        let granted = self.memory().tour.grants(now, order, room);
        self.tour = (granted > 0).then_some(granted);
        self.tour.and_then(|_| self.memory().tour.asks())
    }

    /// In a list without times, unknown rows show the order: above all known rows, or among them.
    fn learn_order(&mut self, page: &BoardPage, changes: &[Change]) {
        let tells = |(at, (row, change)): &(usize, (&Row, &Change))| {
            let is_free = row.pinned.is_none() && !self.seen.contains(&row.id);
            is_free && (change.is_fetched() || *at >= self.above)
        };
        let mut order = self.order;
        for (_, (_, change)) in page.rows.iter().zip(changes).enumerate().filter(tells) {
            match (change.is_fetched(), order.known) {
                (false, _) => order.known += 1,
                (true, 0) => order.news_above += 1,
                (true, _) => order.news_below += 1,
            }
        }
        let had_news_below = std::mem::replace(&mut self.order, order).news_below;
        if order.news_below > had_news_below {
            // The slow tour is expected to find late insertions: by themselves they are no proof of another order.
            let is_late = self.is_touring() && self.is_sorted();
            let disorder = self.known().disorder;
            self.memory().disorder = if is_late { (disorder + LATE_ROWS).min(1.0) } else { 1.0 };
        } else if order.news_above > 0 && order.known >= TOPPED_ROWS {
            self.memory().is_sorted = true;
            self.memory().disorder *= DISORDER_KEPT;
        }
    }

    /// In a list ordered by activity, everything above a thread with news has news too, even if a deleted reply and a
    /// new one leave the count unchanged and the time is too coarse to decide.
    fn judge_by_place(&mut self, page: &BoardPage, changes: &mut [Change]) {
        let told = |change: Change| matches!(change, Change::Later | Change::MoreReplies);
        let free: Vec<usize> =
            (0..page.rows.len()).filter(|&at| page.rows[at].pinned.is_none() && changes[at] != Change::New).collect();
        let Some(last) = free.iter().rposition(|&at| told(changes[at])) else {
            return;
        };
        let above = &free[..=last];
        let kept = above.iter().filter(|&&at| told(changes[at])).count();
        let is_prefix = kept * 10 >= above.len() * 7;
        let vote = if is_prefix { 1.0 } else { 0.0 };
        self.memory().by_activity += (vote - self.memory().by_activity) * PLACE_LEARNT;
        if is_prefix && self.memory().by_activity >= PLACE_TRUSTED {
            let is_coarse = |row: &Row| row.last.is_none_or(|time| time.precision > Precision::Minute);
            for &at in above.iter().filter(|&&at| is_coarse(&page.rows[at])) {
                if changes[at] == Change::Same {
                    changes[at] = Change::Unsure;
                }
            }
        }
    }

    /// If reply counts decide: a known thread without a stored count that comes above rows with unchanged counts was
    /// bumped from pages that are never rechecked. It is fetched once, and counted from then on. Rows that move up
    /// because others were removed are below all of these. If more rows are uncounted than counted, the memory was
    /// lost, and only the head of the list counts.
    fn judge_bumped(&mut self, page: &BoardPage, known: &[Option<KnownThread>], changes: &mut [Change]) {
        if self.is_touring() {
            // Rows on tour pages were not bumped.
            return;
        }
        let is_counted = |at: usize| known[at].as_ref().is_some_and(|known| known.replies.is_some());
        let free = (0..page.rows.len()).filter(|&at| page.rows[at].pinned.is_none() && page.rows[at].replies.is_some());
        let same: Vec<usize> = free.filter(|&at| changes[at] == Change::Same).collect();
        let (settled, unknown): (Vec<usize>, Vec<usize>) = same.into_iter().partition(|&at| is_counted(at));
        let of_head = unknown.iter().take_while(|&&at| settled.first().is_none_or(|&first| at < first)).count();
        let above = unknown.iter().take_while(|&&at| settled.last().is_some_and(|&last| at < last)).count();
        let bumped = match () {
            () if !self.known().is_counted => 0,
            () if settled.is_empty() && (self.is_settled || self.pages > BUMPED_PAGES) => 0,
            () if above <= settled.len() => above.max(of_head),
            () => of_head,
        };
        for &at in &unknown[..bumped] {
            changes[at] = Change::MoreReplies;
        }
        self.is_settled |= !settled.is_empty();
        if self.pages == 1 {
            self.memory().is_counted = true;
        }
    }

    fn learn(&mut self, page: &BoardPage, known: &[Option<KnownThread>], changes: &[Change]) {
        match page.sorted {
            Sorted::NewestFirst => {
                self.memory().is_sorted = true;
                self.memory().disorder *= DISORDER_KEPT;
            }
            Sorted::Otherwise => self.memory().disorder = 1.0,
            Sorted::Unknown => {}
        }
        // A list of several rows has a reliable layout; this follows a site that changes its markup.
        if page.rows.len() > 2 || self.memory().layout.is_none() {
            self.memory().layout = page.layout.clone().or_else(|| self.memory().layout.take());
        }
        for ((row, known), change) in page.rows.iter().zip(known).zip(changes) {
            // A false change would teach a wrong zone, which would cause the next false change. So the replies must
            // have grown as well.
            if let (Change::Later, Some(time), Some(known)) = (change, &row.last, known)
                && row.replies.zip(known.replies).is_none_or(|(replies, before)| replies > before)
            {
                let now = self.now;
                self.memory().conventions.changed_between(time, known.read_at - 2 * WITH_CLOCK_S, now);
            }
        }
    }

    /// Number of pages read so far.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Ends the recheck. Returns the number of pages read.
    pub fn finish(self) -> usize {
        self.pages
    }

    /// Ends the recheck, and returns the memory.
    #[must_use]
    pub fn into_memory(self) -> M {
        self.memory
    }

    /// The board's known threads that should have been on the pages of this recheck and were not: deleted, or moved.
    /// Only works for lists in the order of time; others return none.
    pub fn missing<'k>(&self, known: impl Iterator<Item = (&'k str, &'k KnownThread)>) -> Vec<&'k str> {
        let Some(oldest) = self.oldest.filter(|_| self.is_sorted()) else {
            return Vec::new();
        };
        known
            .filter(|(id, known)| {
                !self.seen.contains(*id) && known.last.is_some_and(|last| last.against(&oldest) == Against::Later)
            })
            .map(|(id, _)| id)
            .collect()
    }
}

fn older(oldest: Option<Time>, time: Option<Time>) -> Option<Time> {
    match (oldest, time) {
        (Some(oldest), Some(time)) if time.against(&oldest) == Against::Earlier => Some(time),
        (None, time) => time,
        (oldest, _) => oldest,
    }
}

impl KnownThread {
    /// What is known about a thread after it was fetched at `now` because of `row`.
    #[must_use]
    pub fn fetched(row: &Row, now: i64) -> Self {
        Self { last: row.last, replies: row.replies, last_page: row.last_page.clone(), read_at: now }
    }

    /// Updates what is known from a row that needed no fetch: its last activity may be gone, its replies fewer. Of
    /// two equal times the more precise one is kept.
    pub fn seen(&mut self, row: &Row, change: Change) {
        let error = |time: Option<Time>| time.map_or(i64::MAX, |time| time.error_s());
        let moved = row
            .last
            .zip(self.last)
            .and_then(|(time, before)| told_move(&time, &before))
            .is_some_and(|moved| moved != 0);
        if change == Change::Receded || moved || error(row.last) < error(self.last) {
            self.last = row.last;
        }
        self.replies = row.replies.or(self.replies);
    }
}
