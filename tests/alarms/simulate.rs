//! Sites as the service sees them, over simulated time: their torrents come by the hour and the day of the week, in bursts, and their lists are looked at
//! each quarter of an hour.

use std::collections::BTreeSet;

use gleaner_alarms::book::{Book, Event, Settings};
use gleaner_alarms::usual::delays::{CLASSES_S, Counts};
use gleaner_alarms::usual::lists::{Look, Shown};
use gleaner_alarms::watch::{Host, Machine, Promise, RuleFault, Seen, Site, Trouble, Watch};
use gleaner_base::clock::UnixMillis;

pub const MINUTE: u64 = 60_000;
pub const HOUR: u64 = 60 * MINUTE;
pub const DAY: u64 = 24 * HOUR;

/// Between two observations, and between two looks at the lists.
pub const STEP: u64 = 5 * MINUTE;
pub const LOOK: u64 = 15 * MINUTE;

/// A Monday.
pub const BEGIN: u64 = 1_795_392_000_000;

pub struct Random(pub u64);

impl Random {
    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    pub fn is(&mut self, share: f64) -> bool {
        (self.below(1 << 32) as f64) < share * (1_u64 << 32) as f64
    }
}

/// How many rows lists show.
#[derive(Clone, Copy, PartialEq)]
pub enum Rows {
    /// The newest ones.
    Newest(u32),
    /// Those of the day so far.
    Today,
    /// Boards of all sizes.
    Boards,
}

#[derive(Clone)]
pub struct Habit {
    pub name: &'static str,
    pub lists: u64,
    pub rows: Rows,
    /// Torrents a day.
    pub a_day: f64,
    /// Share of them by night (0 to 8) and on Saturday and Sunday, of what comes by day.
    pub nights: f64,
    pub weekends: f64,
    /// Days between two bursts of three hundred; 0 for none.
    pub bursts: u64,
    /// Share of its visits that is refused.
    pub refused: f64,
    /// It is down for twenty minutes each night.
    pub is_maintained: bool,
    /// History is read until then.
    pub history: u64,
}

impl Default for Habit {
    fn default() -> Self {
        Self {
            name: "site",
            lists: 4,
            rows: Rows::Newest(50),
            a_day: 24.0,
            nights: 1.0,
            weekends: 1.0,
            bursts: 0,
            refused: 0.0,
            is_maintained: false,
            history: DAY,
        }
    }
}

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    RenamedClass,
    MovedList,
    LoginWall,
    GuestWall,
    EmptyPages,
    Cap,
    Throttle,
    HalfTheRows,
    Scripts,
    HostDown,
    Certificate,
    DownloadsGone,
    RuleFile,
    Slow,
    Coverage,
}

pub struct Simulated {
    habit: Habit,
    random: Random,
    finds: u64,
    of_today: u32,
    visits: u64,
    refused: u64,
    delays: Counts,
    last_success: u64,
    trouble_since: Option<u64>,
    in_a_row: u32,
    promise_broken_at: Option<u64>,
    /// Rows of each board.
    boards: Vec<u32>,
}

impl Simulated {
    pub fn new(habit: Habit, seed: u64) -> Self {
        let mut random = Random(seed);
        let boards = (0..habit.lists).map(|_| 3 + random.below(28) as u32).collect();
        Self {
            habit,
            random,
            finds: 0,
            of_today: 0,
            visits: 0,
            refused: 0,
            delays: Counts::default(),
            last_success: 0,
            trouble_since: None,
            in_a_row: 0,
            promise_broken_at: None,
            boards,
        }
    }

    /// What is seen at this time after the begin.
    pub fn seen(&mut self, at: u64, fault: Fault) -> Site {
        let is_down = match fault {
            Fault::HostDown | Fault::Certificate | Fault::Throttle => true,
            _ => self.habit.is_maintained && (4 * HOUR..4 * HOUR + 20 * MINUTE).contains(&(at % DAY)),
        };
        let new = self.new_torrents(at);
        let looks = at.is_multiple_of(LOOK);
        let now = UnixMillis(BEGIN + at);
        let mut site = Site { name: self.habit.name.to_owned(), ..Site::default() };
        let gives_nothing =
            !matches!(fault, Fault::None | Fault::HalfTheRows | Fault::RuleFile | Fault::Slow | Fault::Coverage);
        if is_down {
            self.refused += u64::from(fault == Fault::Throttle && looks);
            self.visits += u64::from(looks);
            let since = *self.trouble_since.get_or_insert(at);
            self.in_a_row += u32::from(looks || self.in_a_row == 0);
            let (trouble, reason) = match fault {
                Fault::Certificate => (Trouble::Certificate, "TLS failed: certificate has expired"),
                Fault::Throttle => (Trouble::Throttles, "the server refused the rate (429 or 503)"),
                _ => (Trouble::Away, "no connection: refused"),
            };
            let in_a_row = self.in_a_row * if fault == Fault::Throttle { 2 } else { 1 };
            site.host = Some(Host { trouble, since: UnixMillis(BEGIN + since), in_a_row, reason: reason.to_owned() });
        } else {
            (self.trouble_since, self.in_a_row) = (None, 0);
            self.visited(at, looks, fault);
            if looks {
                site.looks = self.looks(now, new, fault);
            }
            if !gives_nothing {
                self.finds += new;
                self.count_delays(at, new, fault);
            }
        }
        self.tell(&mut site, at, fault, looks);
        site.visits = self.visits;
        site.refused = self.refused;
        site.last_success = Some(UnixMillis(BEGIN + self.last_success));
        site.finds = (at >= self.habit.history).then_some(self.finds);
        site.delays = Some(self.delays);
        let ratio = 0.97 + self.random.below(100) as f64 / 5_000.0 - if fault == Fault::Coverage { 0.12 } else { 0.0 };
        site.coverage = (at >= self.habit.history).then_some(ratio);
        site
    }

    fn new_torrents(&mut self, at: u64) -> u64 {
        if at.is_multiple_of(DAY) {
            self.of_today = 0;
        }
        let weekday = (at / DAY) % 7;
        let share = if at % DAY < 8 * HOUR { self.habit.nights } else { 1.0 };
        let share = share * if weekday >= 5 { self.habit.weekends } else { 1.0 };
        let expected = self.habit.a_day * share * STEP as f64 / DAY as f64;
        let mut new = (0..8).filter(|_| self.random.is((expected / 8.0).min(1.0))).count() as u64;
        let burst = self.habit.bursts > 0 && (at / DAY).is_multiple_of(self.habit.bursts) && at % DAY == 15 * HOUR;
        new += if burst { 300 } else { 0 };
        self.of_today += new as u32;
        new
    }

    fn visited(&mut self, at: u64, looks: bool, fault: Fault) {
        let visits = if at < self.habit.history { 200 } else { 2 + if looks { self.habit.lists } else { 0 } };
        let refused = match fault {
            Fault::GuestWall => 0.9,
            _ => self.habit.refused,
        };
        self.visits += visits;
        self.refused += (0..visits).filter(|_| self.random.is(refused)).count() as u64;
        self.last_success = at;
    }

    fn looks(&mut self, at: UnixMillis, new: u64, fault: Fault) -> Vec<Look> {
        let mut looks = Vec::new();
        for list in 0..self.habit.lists {
            let rows = match self.habit.rows {
                Rows::Newest(rows) => rows - u32::from(self.random.is(0.1)),
                Rows::Today => self.of_today,
                Rows::Boards => {
                    let rows = &mut self.boards[list as usize];
                    // A board fills, and is tidied now and then; one is emptied for good.
                    *rows =
                        if self.random.is(0.002) { (*rows / 2).max(3) } else { (*rows + u32::from(new > 0)).min(30) };
                    if list == 5 && at.0 > BEGIN + 12 * DAY { 0 } else { *rows }
                }
            };
            let shown = match fault {
                Fault::RenamedClass | Fault::EmptyPages | Fault::Scripts => Shown::Rows(0),
                Fault::MovedList => Shown::Nothing,
                Fault::HalfTheRows => Shown::Rows(rows / 2),
                _ if new == 0 && self.random.is(0.5) && self.habit.rows != Rows::Today => Shown::Same,
                _ => Shown::Rows(rows),
            };
            let shown = if matches!(fault, Fault::LoginWall | Fault::GuestWall) { Shown::Nothing } else { shown };
            looks.push(Look { list, class: "index", at, shown, path: format!("/list/{list}").into() });
        }
        looks
    }

    fn count_delays(&mut self, at: u64, new: u64, fault: Fault) {
        for _ in 0..new {
            let most = if at % DAY < 8 * HOUR { 1_800 } else { 900 };
            let delay = self.random.below(most) as f64 * if fault == Fault::Slow { 12.0 } else { 1.0 };
            for (end, count) in CLASSES_S.iter().zip(&mut self.delays) {
                *count += u64::from(delay <= *end);
            }
            self.delays[CLASSES_S.len()] += 1;
        }
    }

    fn tell(&mut self, site: &mut Site, at: u64, fault: Fault, looks: bool) {
        let promise = |rule: &str| Promise {
            rule: rule.to_owned(),
            place: Some("site.toml:7".to_owned()),
            told: format!("{rule} keeps its promise no more"),
            advice: None,
            usual: 0.02,
        };
        if looks {
            match fault {
                Fault::None => self.promise_broken_at = None,
                _ => drop(self.promise_broken_at.get_or_insert(at)),
            }
        }
        // It takes a look more until it is sure.
        let is_sure = self.promise_broken_at.is_some_and(|since| at >= since + LOOK);
        match fault {
            Fault::RenamedClass | Fault::EmptyPages | Fault::Scripts | Fault::MovedList if is_sure => {
                site.promises = vec![promise("classes.index ^/list/")];
            }
            Fault::DownloadsGone if is_sure => site.promises = vec![promise("classes.download ^/dl/")],
            Fault::LoginWall => site.no_session = Some("the site serves its login page".to_owned()),
            Fault::GuestWall | Fault::Cap => {
                site.wall = Some("a redirect to /login.php".to_owned());
                site.promises = is_sure.then(|| promise("classes.download ^/dl/")).into_iter().collect();
            }
            _ => {}
        }
    }
}

/// A service with its alarms.
#[derive(Default)]
pub struct Service {
    pub watch: Watch,
    pub book: Book,
    pub machine: Machine,
    pub settings: Settings,
}

impl Service {
    pub fn step(&mut self, at: u64, sites: Vec<Site>) -> Vec<Event> {
        let rests: BTreeSet<String> = sites.iter().filter(|site| site.rests).map(|site| site.name.clone()).collect();
        let rests = rests.iter().map(String::as_str).collect();
        let seen = Seen { at: UnixMillis(BEGIN + at), machine: self.machine.clone(), sites, known: Vec::new() };
        let causes = self.watch.look(&seen);
        self.book.look(&causes, &rests, &self.settings, seen.at)
    }

    pub fn rule_fault(&mut self, site: &str) {
        let (site, first) = (site.to_owned(), "site.toml:3:1: unknown key".to_owned());
        self.machine.rule_faults = vec![RuleFault { site, first, count: 2, place: Some("site.toml:3".to_owned()) }];
    }
}
