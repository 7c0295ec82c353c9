//! How far a board is walked, and which of its threads are fetched (ALGORITHMS §10.1; Board, algorithm BIC).
//!
//! Pages come in their order. An unknown thread is fetched; a known one that something happened in since is read on from its last
//! known page; the walk ends at the first page on which nothing is new, pinned rows apart. What the paper does not
//! have: lists that are not in the order of time, and rows that are put in late (pages are read in turn, see `tour`), lists without times (unknown
//! threads and counts of replies decide, and the verdict says so), times that cannot be right (they move with our own
//! clock), pages that repeat, boards that moved, and errors of times: a thread of which nobody can tell is fetched once
//! more rather than missed.
//!
//! Knows no database: `known` answers for a thread's id. Pure; `now` is an argument.

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
pub struct Known {
    /// Its last activity as the board told it when the thread was last fetched.
    pub last: Option<Time>,
    /// Its replies as the board told them then.
    pub replies: Option<u64>,
    /// The last page of it that was fetched; none for its first.
    pub last_page: Option<CrawlUrl>,
    /// When it was last fetched.
    pub read_at: i64,
}

/// What is remembered of a board between looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// How the site writes its times.
    pub conventions: Conventions,
    /// What its list looks like.
    pub layout: Option<Layout>,
    /// A page of the board was in the order of time.
    pub is_sorted: bool,
    /// How much its pages were not, lately: 1 after such a page, forgotten by and by.
    pub disorder: f64,
    /// How surely threads with news stand above all others, from 0 to 1.
    pub by_activity: f64,
    /// Looks at which the times moved with our own clock.
    pub lies: u32,
    /// Seconds by which all of the board's times were last seen to move at once: summer began or ended.
    pub shift_s: i64,
    /// The turn of its pages.
    #[serde(default)]
    pub tour: Tour,
    /// The replies that its first page counts are remembered, all of them, since a look.
    #[serde(default)]
    pub is_counted: bool,
}

impl Memory {
    /// True for a list in the order of time. One page in order proves little: where nothing happens, any order is that of time.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.is_sorted && self.disorder < 0.5
    }

    /// Where its news stand.
    #[must_use]
    pub fn order(&self) -> ListOrder {
        match () {
            () if self.disorder >= 0.5 => ListOrder::Another,
            () if self.is_sorted => ListOrder::Time,
            () => ListOrder::Unproven,
        }
    }
}

/// Why a thread is fetched, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was never seen.
    New,
    /// Something happened in it after what is known.
    Later,
    /// It has more replies than were known.
    MoreReplies,
    /// Its time is too coarse to tell, and nothing else does.
    Unsure,
    /// Nothing happened.
    Same,
    /// What was last in it has gone.
    Receded,
}

impl Change {
    /// True where the thread is to be fetched.
    #[must_use]
    pub fn is_fetched(self) -> bool {
        matches!(self, Self::New | Self::Later | Self::MoreReplies | Self::Unsure)
    }
}

/// A thread to fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Its place in the page's rows.
    pub row: usize,
    /// The page to begin with: its first, or the last one that is known.
    pub from: CrawlUrl,
    pub why: Change,
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing on the page was new.
    NothingNew,
    /// There is no next page.
    LastPage,
    /// The page shows what earlier pages of this walk showed.
    Repeats,
    /// The page has no rows: an empty board, or none at all.
    Empty,
    /// As many pages as may be were looked at.
    Capped,
}

/// Where the decision whether a thread changed comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grounds {
    /// Times of last activity.
    Times,
    /// Counts of replies: the list has no times of last activity that can be believed.
    Replies,
    /// Neither: only unknown threads are seen, replies are not.
    UnknownUrls,
}

/// What follows from a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub fetch: Vec<Fetch>,
    /// The next page to look at, or why there is none.
    pub step: Result<CrawlUrl, Stop>,
    /// None for a page without rows.
    pub grounds: Option<Grounds>,
    /// Where the board is now, if its address leads elsewhere.
    pub moved: Option<CrawlUrl>,
    /// For each row of the page what was decided.
    pub changes: Vec<Change>,
}

/// One look at a board, page by page. It borrows the board's memory, or holds it until it is finished.
#[derive(Debug)]
pub struct Walk<M> {
    memory: M,
    now: i64,
    pages_max: usize,
    /// Requests a day that the site has for pages of this list that are read in their turn.
    room_per_day: f64,
    pages: usize,
    quiet: usize,
    /// It began behind the front: what led here is forgotten.
    is_resumed: bool,
    /// It has come to the pages that are read in their turn, so many more of them at the most; `None` before.
    tour: Option<usize>,
    seen: HashSet<String>,
    oldest: Option<Time>,
    /// Known rows that stood above, unknown ones that stood below such, and unknown ones above any: pinned rows apart.
    order: Order,
    /// A row whose count of replies stood still has shown.
    is_settled: bool,
    /// So many rows of the next page stand above those that the last look could have shown: what is known of them came by other lists
    /// since.
    above: usize,
    /// The next page tells nothing of the list's order.
    is_first_read: bool,
}

/// Where unknown rows stand among the known ones of a look.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    known: usize,
    news_above: usize,
    news_below: usize,
}

/// Quiet pages after which a walk ends on a list that is not in the order of time, or goes on where its last one stopped.
const PATIENCE: usize = 2;

/// Known rows that unknown ones must stand above for a proof: they are a part of any page.
const TOPPED_ROWS: usize = 3;

/// Seconds for which a thread that was read is not read again on suspicion alone: a list that tells days would have all of today's read
/// at each look. Until the day is over it is asked about again.
const UNSURE_REST_S: i64 = 3_600;

/// Pages of a look on which threads count as bumped although no row of theirs is known to have stood still.
const BUMPED_PAGES: usize = 4;

/// What is kept of a page's disorder by each page in order.
const DISORDER_KEPT: f64 = 0.95;

/// What a page adds to the disorder of a list in order on which news stand that were put in late.
const LATE_ROWS: f64 = 0.3;

/// What a page adds to the belief that the board is ordered by activity, and the belief from which places tell news.
const PLACE_LEARNT: f64 = 0.2;
const PLACE_TRUSTED: f64 = 0.6;

impl<M: BorrowMut<Memory>> Walk<M> {
    /// Begins a look at `now`, of at most `pages_max` pages.
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

    /// Bounds the pages that are read in their turn by the requests that the site has for them, a day.
    #[must_use]
    pub fn with_room(self, room_per_day: f64) -> Self {
        Self { room_per_day, ..self }
    }

    /// Goes on behind the front with a look of which nothing else is known any more; `tours` where it had come to pages that are read in
    /// their turn.
    #[must_use]
    pub fn resumed(self, tours: bool) -> Self {
        let known = if tours { TOPPED_ROWS } else { 0 };
        Self { is_resumed: true, tour: tours.then_some(0), order: Order { known, ..self.order }, ..self }
    }

    /// What is remembered of the board, for reading the next page.
    pub fn memory(&mut self) -> &mut Memory {
        self.memory.borrow_mut()
    }

    /// What is remembered of the board so far.
    #[must_use]
    pub fn known(&self) -> &Memory {
        self.memory.borrow()
    }

    /// Says how many rows of the next page stand above those that the last look could have shown. Those that are known all the same, other
    /// lists have shown since: they tell nothing of the order, and a page of such rows alone ends no look.
    pub fn stands_above(&mut self, rows: usize) {
        self.above = rows;
    }

    /// Says whether nobody has read the next page before: what is known of its rows other pages have shown, and what is unknown is no news.
    pub fn is_first_read(&mut self, is_first_read: bool) {
        self.is_first_read = is_first_read;
    }

    /// Takes the front as one that is as it was: nothing on it is new. Gives the page behind it whose turn it is, if any.
    ///
    /// # Errors
    /// [`Stop::NothingNew`] where none is.
    pub fn unchanged(&mut self) -> Result<CrawlUrl, Stop> {
        self.pages += 1;
        // Its rows were there before those of the pages behind it.
        self.order.known += TOPPED_ROWS;
        self.takes_turn().ok_or(Stop::NothingNew)
    }

    /// True where what comes next is a page that is read in its turn, and not because the one before it had news.
    #[must_use]
    pub fn is_touring(&self) -> bool {
        self.tour.is_some()
    }

    /// The page that was to come next is none: the turn begins anew.
    pub fn turns_back(&mut self) {
        self.memory().tour.turns_back();
    }

    /// Takes the next page. `asked` is its address as it was asked for, `answered` as it was answered after redirects.
    pub fn page(
        &mut self,
        page: &BoardPage,
        asked: &CrawlUrl,
        answered: &CrawlUrl,
        known: impl Fn(&str) -> Option<Known>,
    ) -> Verdict {
        self.pages += 1;
        let known: Vec<Option<Known>> = page.rows.iter().map(|row| known(&row.id)).collect();
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
            // Nobody remembers what its row showed when it was read, as after a kill: it is read once more, and remembered from then on.
            let is_forgotten = |known: &Known| known.last.is_none() && known.replies.is_none() && row.last.is_some();
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
                // A page in front of this one has shown it in this look.
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
        // News of a list without times are taken to stand on top until some have shown otherwise.
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

    /// The page whose turn it is, if this look may read any.
    fn takes_turn(&mut self) -> Option<CrawlUrl> {
        let (now, room, order) = (self.now, self.room_per_day, self.known().order());
        if !self.known().tour.has_pages() {
            return None;
        }
        let granted = self.memory().tour.grants(now, order, room);
        self.tour = (granted > 0).then_some(granted);
        self.tour.and_then(|_| self.memory().tour.asks())
    }

    /// Of a list without times, unknown rows tell the order: above all that was known before, or among it.
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
            // What was put in late is found by the slow turn of pages, and is no proof where it is the only one.
            let is_late = self.is_touring() && self.is_sorted();
            let disorder = self.known().disorder;
            self.memory().disorder = if is_late { (disorder + LATE_ROWS).min(1.0) } else { 1.0 };
        } else if order.news_above > 0 && order.known >= TOPPED_ROWS {
            self.memory().is_sorted = true;
            self.memory().disorder *= DISORDER_KEPT;
        }
    }

    /// In a list that is ordered by activity, what stands above a thread with news has news too, even where a reply taken back
    /// and a new one leave the count as it was and the time is too coarse to tell.
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

    /// Where counts of replies decide, a thread that was read and whose count nobody remembers has come up from pages that no look
    /// goes over, where it stands above rows whose counts stood still: it is read once, and counted from then on. Rows that come up
    /// because others went stand below all. Where more are unknown than known the memory was lost, and only the head is believed.
    fn judge_bumped(&mut self, page: &BoardPage, known: &[Option<Known>], changes: &mut [Change]) {
        if self.is_touring() {
            // What stands there has not come up.
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

    fn learn(&mut self, page: &BoardPage, known: &[Option<Known>], changes: &[Change]) {
        match page.sorted {
            Sorted::NewestFirst => {
                self.memory().is_sorted = true;
                self.memory().disorder *= DISORDER_KEPT;
            }
            Sorted::Otherwise => self.memory().disorder = 1.0,
            Sorted::Unknown => {}
        }
        // A list of several rows shows what it is; a site that changes its markup is followed.
        if page.rows.len() > 2 || self.memory().layout.is_none() {
            self.memory().layout = page.layout.clone().or_else(|| self.memory().layout.take());
        }
        for ((row, known), change) in page.rows.iter().zip(known).zip(changes) {
            // A zone learnt from a change that was none would make the next one: the replies must have grown as well.
            if let (Change::Later, Some(time), Some(known)) = (change, &row.last, known)
                && row.replies.zip(known.replies).is_none_or(|(replies, before)| replies > before)
            {
                let now = self.now;
                self.memory().conventions.changed_between(time, known.read_at - 2 * WITH_CLOCK_S, now);
            }
        }
    }

    /// Pages that were looked at so far.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Ends the look. Gives the pages that were looked at.
    pub fn finish(self) -> usize {
        self.pages
    }

    /// Ends the look, and gives the memory back.
    #[must_use]
    pub fn into_memory(self) -> M {
        self.memory
    }

    /// Which of the board's known threads should have been on the pages of this look and were not: deleted, or moved
    /// elsewhere. Only lists in the order of time can tell; others give none.
    pub fn missing<'k>(&self, known: impl Iterator<Item = (&'k str, &'k Known)>) -> Vec<&'k str> {
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

impl Known {
    /// What is known of a thread once it was fetched at `now` for what `row` showed.
    #[must_use]
    pub fn fetched(row: &Row, now: i64) -> Self {
        Self { last: row.last, replies: row.replies, last_page: row.last_page.clone(), read_at: now }
    }

    /// What is known once a row was seen that needed no fetch: its last activity may have gone, its replies fewer. The
    /// narrower of two times that mean the same is kept.
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
