//! How many rows a list shows. A list whose rows hardly vary is known after a few looks; one that shows the day's or the night's torrents after a week
//! with its weekend: then less than its poorest day but one is not usual.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::{DAY_MS, NEW_USUAL_AFTER, day};
use crate::limits::{LIST_DAYS_MAX, LISTS_MAX};

/// Looks before a list is known.
const LOOKS: u32 = 6;

/// Days after which a list is known whose rows vary: a week with its weekend.
const DAYS: usize = 9;

/// Days on each of which a list had rows, before having none is not usual.
const DAYS_WITH_ROWS: usize = 3;

/// Rows from which fewer of them mean something.
const ROWS: u32 = 4;

/// Looks in a row at a list that shows less.
const LOOKS_AT_LESS: u32 = 2;

/// Lists that have to be looked at before one of them speaks for its class, if there are so many.
const LISTS: usize = 3;

/// Share of the usual rows, in per cent, that is not usual.
const LESS: u32 = 60;

/// Rows of the poorest look in per cent of those of the richest, from which a list hardly varies.
const STEADY: u32 = 80;

/// Read time without a look, as a multiple of the longest one lately, after which a list says nothing any more while others of its class do: its URL is gone,
/// or left the rules. At least and at most so many milliseconds; after the longest it is forgotten. The crawl puts off a list that is not there for weeks.
const UNSEEN_TIMES: u64 = 3;
const UNSEEN_LEAST_MS: u64 = DAY_MS / 2;
const UNSEEN_MOST_MS: u64 = LIST_DAYS_MAX as u64 * DAY_MS;

/// What a look at a list has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    Rows(u32),
    /// What it showed before.
    Same,
    /// It is not there, or something else is.
    Nothing,
}

/// A look at the first page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub list: u64,
    /// Name of the list's class.
    pub class: &'static str,
    pub at: UnixMillis,
    pub shown: Shown,
    /// Its path, without keys.
    pub path: Box<str>,
}

/// All lists of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lists(BTreeMap<u64, List>);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct List {
    class: Box<str>,
    path: Box<str>,
    /// Day, poorest and richest look.
    days: VecDeque<(u32, u32, u32)>,
    looks: u32,
    /// The last look, and its rows.
    at: UnixMillis,
    rows: u32,
    /// Looks in a row at less than is usual, and since when.
    less: u32,
    since: Option<UnixMillis>,
    /// Time of reading since the last look, and the longest between two lately.
    unseen_ms: u64,
    interval_ms: u64,
    /// Its class had fallen when the last of its lists vanished, and it was one of them.
    stays: bool,
}

/// Lists of a class that show less than is usual.
#[derive(Clone, Debug, PartialEq)]
pub struct Fell {
    pub class: Box<str>,
    /// Most of them show nothing.
    pub are_empty: bool,
    /// Of so many that were looked at meanwhile.
    pub lists: usize,
    pub of: usize,
    /// Mean rows.
    pub before: f64,
    pub now: f64,
    /// The path of one.
    pub example: Box<str>,
}

impl Lists {
    /// Takes note of a look.
    pub fn mind(&mut self, look: &Look) {
        if self.0.len() >= LISTS_MAX && !self.0.contains_key(&look.list) {
            // One that is not there any more leaves its place.
            let Some((&oldest, list)) = self.0.iter().min_by_key(|(_, list)| list.at) else { return };
            if look.at.since(list.at).as_millis() < u128::from(DAY_MS) * LIST_DAYS_MAX as u128 {
                return;
            }
            self.0.remove(&oldest);
        }
        let list = self.0.entry(look.list).or_default();
        (list.class, list.path) = (look.class.into(), look.path.clone());
        list.mind(look);
    }

    /// The site was read for so long: lists that were not looked at meanwhile say nothing in the end, and are forgotten later, unless all of their class
    /// have vanished when that had fallen: then all of them stay until one shows rows, or by other rules.
    pub fn pass(&mut self, read_ms: u64) {
        let there = self.classes_there();
        // Also of those that have vanished a little earlier: the one that is there for longest does not speak for all.
        let has_fallen =
            |class: &str| self.fell_of(class, List::is_there).and(self.fell_of(class, List::is_recent)).is_some();
        let fallen: BTreeSet<Box<str>> = there.iter().filter(|class| has_fallen(class)).cloned().collect();
        for list in self.0.values_mut() {
            if there.contains(&list.class) {
                list.stays = list.is_recent() && fallen.contains(&list.class);
            }
            list.unseen_ms += read_ms;
        }
        let there = self.classes_there();
        self.0.retain(|_, list| list.unseen_ms < UNSEEN_MOST_MS || list.stays && !there.contains(&list.class));
    }

    /// The classes of which a list is there.
    fn classes_there(&self) -> BTreeSet<Box<str>> {
        self.0.values().filter(|list| list.is_there()).map(|list| list.class.clone()).collect()
    }

    /// The class whose lists show less, if there is one: of several the one with more lists.
    #[must_use]
    pub fn fell(&self) -> Option<Fell> {
        let mut classes: Vec<&str> = self.0.values().map(|list| &*list.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes.into_iter().filter_map(|class| self.class_fell(class)).max_by_key(|fell| fell.lists)
    }

    fn class_fell(&self, class: &str) -> Option<Fell> {
        // Where all are away nothing has shown that they are well again: they count as they were when they were last looked at.
        let has_one = self.0.values().any(|list| *list.class == *class && list.is_there());
        self.fell_of(class, if has_one { List::is_there } else { |list| list.stays })
    }

    /// The same by some of its lists.
    fn fell_of(&self, class: &str, counts: fn(&List) -> bool) -> Option<Fell> {
        let all = || self.0.values().filter(|list| *list.class == *class && counts(list));
        let fallen: Vec<&List> = all().filter(|list| list.less >= LOOKS_AT_LESS).collect();
        let began = fallen.iter().filter_map(|list| list.since).min()?;
        let looked_at = all().filter(|list| list.at >= began).count();
        // One board that was emptied or tidied is no fault of the site.
        let is_enough = fallen.len() * 2 >= looked_at && looked_at >= all().count().min(LISTS);
        if !is_enough {
            return None;
        }
        let empty = fallen.iter().filter(|list| list.rows == 0).count();
        let mean =
            |of: fn(&List) -> u32| fallen.iter().map(|list| f64::from(of(list))).sum::<f64>() / fallen.len() as f64;
        Some(Fell {
            class: class.into(),
            are_empty: empty * 2 > fallen.len(),
            lists: fallen.len(),
            of: looked_at,
            before: mean(|list| list.floor().unwrap_or_default()),
            now: mean(|list| list.rows),
            example: fallen.iter().max_by_key(|list| list.at).map(|list| list.path.clone()).unwrap_or_default(),
        })
    }
}

impl List {
    /// False if it was not looked at for much longer than it usually is.
    fn is_there(&self) -> bool {
        self.unseen_ms < self.unseen_most_ms()
    }

    /// True also if it has vanished no longer ago than that took.
    fn is_recent(&self) -> bool {
        self.unseen_ms < 2 * self.unseen_most_ms()
    }

    fn unseen_most_ms(&self) -> u64 {
        (self.interval_ms * UNSEEN_TIMES).clamp(UNSEEN_LEAST_MS, UNSEEN_MOST_MS)
    }

    /// Rows that it shows at least; None while it is not known.
    fn floor(&self) -> Option<u32> {
        let mut lows: Vec<u32> = self.days.iter().map(|(_, low, _)| *low).collect();
        lows.sort_unstable();
        let low = *lows.get(usize::from(lows.len() >= DAYS)).filter(|_| self.looks >= LOOKS)?;
        let lowest = *lows.first()?;
        let high = self.days.iter().map(|(.., high)| *high).max()?;
        if lowest * 100 >= high * STEADY || self.days.len() >= DAYS {
            return Some(low);
        }
        // How many it shows varies; that it shows some does not.
        (self.days.len() >= DAYS_WITH_ROWS && lowest > 0).then_some(1)
    }

    fn mind(&mut self, look: &Look) {
        let rows = match look.shown {
            Shown::Rows(rows) => rows,
            Shown::Same => self.rows,
            Shown::Nothing => 0,
        };
        self.at = look.at;
        let unseen_ms = std::mem::take(&mut self.unseen_ms);
        self.interval_ms = unseen_ms.max(self.interval_ms / 8 * 7);
        let is_less = self.floor().is_some_and(|floor| match rows {
            0 => floor >= 1,
            rows => floor >= ROWS && u64::from(rows) * 100 < u64::from(floor) * u64::from(LESS),
        });
        if is_less {
            let since = *self.since.get_or_insert(look.at);
            (self.less, self.rows) = (self.less + 1, rows);
            if look.at.since(since) >= NEW_USUAL_AFTER {
                (self.days, self.looks, self.less, self.since) = (VecDeque::new(), 0, 0, None);
            }
            return;
        }
        (self.less, self.since) = (0, None);
        // Something else in its place says nothing of what it shows.
        if look.shown == Shown::Nothing {
            return;
        }
        (self.rows, self.looks) = (rows, self.looks.saturating_add(1));
        let today = day(look.at);
        match self.days.back_mut().filter(|(of, ..)| *of == today) {
            Some((_, low, high)) => (*low, *high) = ((*low).min(rows), (*high).max(rows)),
            None => self.days.push_back((today, rows, rows)),
        }
        if self.days.len() > LIST_DAYS_MAX {
            self.days.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUARTER_MS: u64 = 900_000;

    /// Looks each quarter of an hour: list 1 always shows this, the others so many rows.
    fn look(lists: &mut Lists, from: u64, quarters: u64, shown: &[(u64, u32)]) {
        for quarter in from..from + quarters {
            lists.pass(QUARTER_MS);
            for (list, rows) in shown.iter().copied() {
                let at = UnixMillis(quarter * QUARTER_MS);
                lists.mind(&Look { list, class: "index", at, shown: Shown::Rows(rows), path: "/".into() });
            }
        }
    }

    #[test]
    fn a_list_that_is_not_looked_at_any_more_says_nothing_in_the_end() {
        let mut lists = Lists::default();
        look(&mut lists, 0, 10, &[(1, 50), (2, 50)]);
        look(&mut lists, 10, 4, &[(1, 0), (2, 0)]);
        assert_eq!(lists.fell().map(|fell| fell.lists), Some(2));
        // One of them is gone for good, the other one is well again.
        look(&mut lists, 14, 8, &[(2, 50)]);
        assert_eq!(lists.fell().map(|fell| (fell.lists, fell.of)), Some((1, 2)));
        // The site rests, for however long.
        lists.pass(0);
        assert!(lists.fell().is_some());
        look(&mut lists, 22, 40, &[(2, 50)]);
        assert_eq!(lists.fell(), None);
        look(&mut lists, 62, 15 * 96, &[(2, 50)]);
        assert_eq!(lists.0.keys().collect::<Vec<_>>(), [&2], "it is forgotten");
    }

    #[test]
    fn a_list_that_is_seldom_looked_at_has_longer() {
        let mut lists = Lists::default();
        for (day, rows) in [50, 50, 50, 50, 50, 50, 50, 50, 0, 0].into_iter().enumerate() {
            lists.pass(DAY_MS);
            let at = UnixMillis(day as u64 * DAY_MS);
            lists.mind(&Look { list: 1, class: "index", at, shown: Shown::Rows(rows), path: "/".into() });
        }
        let well = |lists: &mut Lists, day: u64| {
            let at = UnixMillis(day * DAY_MS);
            lists.mind(&Look { list: 2, class: "index", at, shown: Shown::Rows(50), path: "/".into() });
        };
        well(&mut lists, 10);
        lists.pass(2 * DAY_MS);
        well(&mut lists, 12);
        assert!(lists.fell().is_some());
        lists.pass(DAY_MS);
        well(&mut lists, 13);
        assert_eq!(lists.fell(), None);
    }

    #[test]
    fn lists_that_vanish_before_their_class_has_fallen_are_forgotten_as_a_whole() {
        // One list alone shows less, once or for long, and is looked at last.
        for looks in [1, 4] {
            let mut lists = Lists::default();
            look(&mut lists, 0, 10, &[(1, 50), (2, 50), (3, 50), (4, 50)]);
            look(&mut lists, 10, looks, &[(1, 0), (2, 50), (3, 50), (4, 50)]);
            look(&mut lists, 10 + looks, 4, &[(1, 0)][..usize::from(looks > 1)]);
            assert_eq!(lists.fell(), None);
            for _ in 0..60 * 24 {
                lists.pass(DAY_MS / 24);
            }
            assert_eq!(lists.fell(), None);
            assert!(lists.0.is_empty(), "{looks}: {lists:?}");
        }
        // One is gone while its class is well, and the class vanishes long after.
        let mut lists = Lists::default();
        look(&mut lists, 0, 10, &[(1, 50), (2, 50)]);
        look(&mut lists, 10, 4, &[(1, 0), (2, 50)]);
        look(&mut lists, 14, 200, &[(2, 50)]);
        for _ in 0..60 {
            lists.pass(DAY_MS);
            assert_eq!(lists.fell(), None);
        }
        assert!(lists.0.is_empty());
    }

    #[test]
    fn lists_that_all_vanish_stay_fallen_until_one_shows_rows() {
        let mut lists = Lists::default();
        look(&mut lists, 0, 10, &[(1, 50), (2, 50)]);
        look(&mut lists, 10, 4, &[(1, 0), (2, 0)]);
        // The site is read on, and none of them is looked at.
        for _ in 0..60 {
            lists.pass(DAY_MS);
            let fell = lists.fell().unwrap();
            assert!(fell.are_empty && (fell.lists, fell.of) == (2, 2), "{fell:?}");
        }
        look(&mut lists, 100 * 96, 1, &[(1, 50)]);
        assert_eq!(
            lists.fell().map(|fell| (fell.lists, fell.of)),
            None,
            "one of them is well again, the other is gone"
        );
    }
}
