//! Rechecks of lists in progress from page to page: which page each waits for, and what happens when that page arrives or does not.
//!
//! `boards::walk` decides how far a recheck goes; this module holds what survives between the visits of its pages, and a restart.

use std::collections::HashMap;

use super::boards::{Boards, ChangeBasis, LoadedBoards, ParsedBoard, Pending, seconds};
use super::timetable::Room;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_page::boards::Times;
use gleaner_page::boards::tour::Order;
use gleaner_page::boards::walk::{Grounds, KnownThread, Memory, Verdict, Walk};

/// Position of a recheck.
pub struct Page<'a> {
    /// The list, by the URL of its first page.
    pub board: &'a str,
    pub url: &'a CrawlUrl,
    /// Seconds since 1970-01-01 UTC.
    pub now: i64,
    /// The previous recheck.
    pub last: Option<UnixMillis>,
    /// Number of the page's rows above those that the previous recheck could have shown.
    pub above: usize,
    /// No row was found yet, here or on preceding pages, that the previous recheck could have shown.
    pub is_above: bool,
    /// This page was never read before.
    pub is_first_read: bool,
    /// Capacity of the site for pages that are read in rotation, of all lists.
    pub room: Room,
}

impl Boards {
    /// Ends a recheck that waited for a page which does not exist, or had no content.
    pub fn end(&self, url: &str) {
        let mut kept = self.kept();
        if let Some(pending) = kept.state.pending.remove(url) {
            kept.is_changed = true;
            if let Some(mut walk) = kept.walks.remove(url) {
                if walk.is_touring() {
                    walk.turns_back();
                }
                kept.finish(&pending.board, walk);
            }
        }
    }

    /// True for a page whose version alone is not sufficient: a later page that a recheck waits for, and the first page of a list read
    /// in rotation whose later pages are still unknown.
    #[must_use]
    pub fn is_read_whole(&self, url: &str) -> bool {
        let kept = self.kept();
        let is_unknown = |memory: &Memory| !memory.is_in_order() && !memory.tour.is_told();
        kept.state.pending.contains_key(url)
            || kept.state.boards.get(url).is_some_and(|board| is_unknown(&board.memory))
    }

    /// True for a list known not to be ordered by time.
    pub(super) fn is_in_another_order(&self, list: &str) -> bool {
        self.kept().state.boards.get(list).is_some_and(|board| board.memory.disorder >= 0.5)
    }

    /// True for a list known to be ordered by time.
    #[must_use]
    pub fn is_in_order(&self, list: &str) -> bool {
        self.kept().state.boards.get(list).is_some_and(|board| board.memory.is_in_order())
    }

    /// The share of lists known to have later pages and not to be ordered by time.
    #[must_use]
    pub fn in_another_order(&self) -> f64 {
        let kept = self.kept();
        let is_so = |memory: &Memory| memory.order() == Order::Another && memory.tour.has_pages();
        let so = kept.state.boards.values().filter(|board| is_so(&board.memory)).count();
        so as f64 / kept.state.boards.len().max(1) as f64
    }

    /// The first page of a list was read, and has no rows that a recheck can use.
    pub(super) fn has_no_pages(&self, list: &str) {
        let mut kept = self.kept();
        if let Some(board) = kept.state.boards.get_mut(list) {
            board.memory.tour.starts(None);
            kept.is_changed = true;
        }
    }

    /// The first page of a list has not changed. Returns the later page whose turn it is, which the recheck waits for.
    pub(super) fn unchanged(
        &self,
        list: &str,
        at: UnixMillis,
        last: Option<UnixMillis>,
        room: Room,
    ) -> Option<CrawlUrl> {
        let mut kept = self.kept();
        let room = kept.room_of(list, room);
        let memory = kept.board(list, at)?.memory.clone();
        let mut walk = Walk::begin(memory, seconds(at), limits::BOARD_PAGES_MAX).with_room(room);
        let next = walk.unchanged().ok();
        kept.is_changed = true;
        let pending = Pending { board: list.to_owned(), last, is_above: false, tours: true };
        match &next {
            Some(next) => kept.awaits(next, pending, walk),
            None => kept.remembers(list, walk.known().clone()),
        }
        next
    }
}

impl LoadedBoards {
    /// Processes the next page of a recheck: the first page of a list, or the page that a recheck in progress waited for. `known` is the
    /// state of the threads of its rows, by id. Returns the verdict; if it names a next page, the recheck waits for that.
    pub fn page(
        &mut self,
        boards: &Boards,
        at: &Page<'_>,
        read: ParsedBoard,
        known: &HashMap<String, KnownThread>,
    ) -> Verdict {
        self.is_changed = true;
        let pending = self.state.pending.remove(at.url.as_str());
        let walk = self.walks.remove(at.url.as_str());
        let room = self.room_of(at.board, at.room);
        let mut walk = walk.unwrap_or_else(|| {
            let known = self.state.boards.get(at.board).map(|board| board.memory.clone());
            let memory = known.unwrap_or_else(|| Memory { conventions: boards.conventions(), ..Memory::default() });
            let walk = Walk::begin(memory, at.now, limits::BOARD_PAGES_MAX).with_room(room);
            match pending {
                Some(pending) => walk.resumed(pending.tours),
                None => walk,
            }
        });
        walk.memory().conventions = read.conventions;
        let is_front = at.board == at.url.as_str();
        let times = read.page.times;
        walk.stands_above(at.above);
        walk.is_first_read(at.is_first_read);
        let verdict = walk.page(&read.page, at.url, at.url, |id| known.get(id).cloned());
        let told = verdict.grounds.map(|grounds| match grounds {
            Grounds::Times => ChangeBasis::Times,
            Grounds::Replies => ChangeBasis::Replies,
            Grounds::UnknownUrls if times == Times::Created => ChangeBasis::Created,
            Grounds::UnknownUrls => ChangeBasis::UnknownUrls,
        });
        if let Some(board) = self.board(at.board, UnixMillis(u64::try_from(at.now).unwrap_or(0) * 1_000)) {
            board.grounds = told.or(board.grounds);
            if is_front {
                board.rows = read.page.rows.len() as u64;
                board.pinned = read.page.rows.iter().filter(|row| row.pinned.is_some()).count() as u64;
            }
        }
        match &verdict.step {
            Ok(next) => {
                let (board, tours) = (at.board.to_owned(), walk.is_touring());
                self.awaits(next, Pending { board, last: at.last, is_above: at.is_above && !tours, tours }, walk);
            }
            Err(_) => self.finish(at.board, walk),
        }
        verdict
    }

    /// A recheck waits for a page. What it has learned of its list is stored already, in case that page never arrives.
    fn awaits(&mut self, next: &CrawlUrl, pending: Pending, walk: Walk<Memory>) {
        // Pages that never arrived are dropped to make room.
        if self.state.pending.len() >= limits::BOARD_WALKS_MAX
            && let Some((url, _)) = self.state.pending.pop_first()
        {
            self.walks.remove(&url);
        }
        if pending.tours {
            self.remembers(&pending.board, walk.known().clone());
        }
        self.state.pending.insert(next.as_str().to_owned(), pending);
        self.walks.insert(next.as_str().to_owned(), walk);
    }

    fn remembers(&mut self, board: &str, memory: Memory) {
        if let Some(board) = self.state.boards.get_mut(board) {
            board.memory = memory;
        }
    }

    fn finish(&mut self, board: &str, walk: Walk<Memory>) {
        let pages = walk.pages() as u64;
        if let Some(board) = self.state.boards.get_mut(board) {
            board.pages = pages;
        }
        self.remembers(board, walk.into_memory());
    }

    /// Requests a day for pages of this list in rotation: in proportion to what its rotation takes of the total of all lists. The reserved
    /// part is only for lists that are not ordered by time.
    fn room_of(&self, list: &str, room: Room) -> f64 {
        let wants = |memory: &Memory| memory.tour.wants_per_day(memory.order());
        let Some(memory) = self.state.boards.get(list).map(|board| &board.memory) else { return room.spare };
        let part = |room: f64, takes_part: fn(&Memory) -> bool| {
            let memories = self.state.boards.values().map(|board| &board.memory);
            let all: f64 = memories.filter(|memory| takes_part(memory)).map(wants).sum();
            if all > 0.0 { room * wants(memory) / all } else { room }
        };
        let of_spare = part(room.spare, |_| true);
        let is_in_order = memory.is_in_order();
        if is_in_order { of_spare } else { of_spare.max(part(room.least, |memory| !memory.is_in_order())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_rules::BoardRules;

    #[test]
    fn lists_that_sleep_leave_a_long_list_by_title_the_requests_that_it_needs() {
        let boards = Boards::new(&BoardRules::default());
        let room = Room { spare: 40_000.0, least: 5_400.0 };
        let mut kept = boards.kept();
        let second = CrawlUrl::from_parts("http://a.example", "/list?page=2");
        for list in 0..301 {
            let memory = &mut kept.board(&format!("{list}"), UnixMillis(1)).unwrap().memory;
            memory.tour.starts(Some(&second));
            memory.disorder = f64::from(u8::from(list == 0));
            memory.is_sorted = list == 1;
        }
        // Each page four times a day, of sixteen at first, and the others' once.
        let by_title = kept.room_of("0", room);
        assert!((500.0..1_000.0).contains(&by_title), "{by_title}");
        assert!(by_title > 3.9 * kept.room_of("2", room) && kept.room_of("1", room) < kept.room_of("2", room));
        // If rechecks leave nothing, lists in order get no share of what is left.
        (0..301).for_each(|list| kept.board(&format!("{list}"), UnixMillis(1)).unwrap().memory.is_sorted = true);
        let short = Room { spare: 0.0, least: 25.0 };
        assert_eq!((kept.room_of("1", short), kept.room_of("0", short)), (0.0, 25.0));
    }
}
