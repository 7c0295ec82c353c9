//! A week of a forum, every six hours, with the paper's measures: the share of the threads with news that was fetched (recall), and
//! the share of the fetched threads that had news (precision). The current BIC, on rendered pages; EIC as described in the paper.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_page::boards::eic::Intervals;
use gleaner_page::boards::walk::{Grounds, KnownThread, Memory, Walk};
use gleaner_page::boards::{Ask, id_of, read_page};
use gleaner_page::tree;

use super::forum::{DAY, Forum, HOUR, Thread};
use super::themes::{ROWS, Theme, View, all};

const START: i64 = super::NOW - 60 * DAY;
/// History before the crawl starts, and the measured days.
const HISTORY: i64 = 20 * DAY;
/// Days that are simulated: a week; `GLEANER_BOARD_DAYS=31` for the paper's month.
static DAYS: LazyLock<i64> =
    LazyLock::new(|| std::env::var("GLEANER_BOARD_DAYS").map_or(7, |days| days.parse().unwrap()));
const EVERY: i64 = 6 * HOUR;

#[derive(Debug, Default, Clone, Copy)]
struct Score {
    news: usize,
    /// Threads with news since the previous visit that were fetched at once.
    found: usize,
    fetched: usize,
    /// Fetched threads with news, however old.
    right: usize,
    pages: usize,
    /// Threads that the first visit, of the whole history, missed.
    first_missed: usize,
}

impl Score {
    fn recall(self) -> f64 {
        self.found as f64 / self.news.max(1) as f64
    }

    fn precision(self) -> f64 {
        self.right as f64 / self.fetched.max(1) as f64
    }
}

fn list<'f>(forum: &'f Forum, theme: &Theme, board: usize, now: i64) -> Vec<&'f Thread> {
    let mut list = forum.list(board, now);
    if theme.by_birth {
        list.sort_by_key(|thread| std::cmp::Reverse(thread.posts[0].0));
    }
    list
}

fn address(path: &str) -> CrawlUrl {
    super::url(&format!("http://forum.example{path}"))
}

/// The page number in a URL of a board.
fn page_of(url: &CrawlUrl, theme: &Theme, board: usize, pages: usize) -> usize {
    (1..=pages)
        .find(|&page| address(&(theme.board)(board, page)) == *url)
        .unwrap_or_else(|| panic!("{}: {} is no page of the board", theme.name, url.as_str()))
}

struct Crawl<'f> {
    forum: &'f Forum,
    theme: &'f Theme,
    memories: Vec<Memory>,
    known: HashMap<String, KnownThread>,
    /// When each thread was last fetched.
    have: HashMap<usize, i64>,
    ids: HashMap<String, usize>,
    grounds: HashSet<Grounds>,
}

impl Crawl<'_> {
    /// One visit of all boards at `now`: the fetched threads, and the number of board pages.
    fn look(&mut self, now: i64, pages_max: usize) -> (Vec<usize>, usize) {
        let (mut fetched, mut looked) = (Vec::new(), 0);
        for board in 0..self.forum.boards {
            let list = list(self.forum, self.theme, board, now);
            let pages = list.len().div_ceil(ROWS).max(1);
            let mut memory = std::mem::take(&mut self.memories[board]);
            // The boards of a site share a layout: one helps with another that has a single thread.
            memory.layout = memory.layout.or_else(|| self.memories.iter().find_map(|other| other.layout.clone()));
            let mut walk = Walk::begin(&mut memory, now, pages_max);
            let mut url = address(&(self.theme.board)(board, 1));
            loop {
                let page = page_of(&url, self.theme, board, pages);
                let rows = list.iter().skip((page - 1) * ROWS).take(ROWS).copied().collect();
                let html = (self.theme.render)(&View { theme: self.theme, board, page, pages, rows, now });
                let tree = tree::parse(&html).unwrap();
                let layout = walk.memory().layout.clone();
                let ask =
                    Ask { url: &url, canonical: &Canonical::default(), selectors: None, layout: layout.as_ref(), now };
                let seen = read_page(&tree, &ask, &mut walk.memory().conventions);
                let verdict = walk.page(&seen, &url, &url, |id| self.known.get(id).cloned());
                self.grounds.extend(verdict.grounds);
                for (row, change) in seen.rows.iter().zip(&verdict.changes) {
                    if let (false, Some(known)) = (change.is_fetched(), self.known.get_mut(&row.id)) {
                        known.seen(row, *change);
                    }
                }
                for fetch in &verdict.fetch {
                    let row = &seen.rows[fetch.row];
                    self.known.insert(row.id.clone(), KnownThread::fetched(row, now));
                    fetched.push(self.ids.get(&row.id).copied().unwrap_or(usize::MAX - fetched.len()));
                }
                match verdict.step {
                    Ok(next) => url = next,
                    Err(_) => break,
                }
            }
            looked += walk.finish();
            self.memories[board] = memory;
        }
        (fetched, looked)
    }

    /// Existing threads with posts by `now` that the crawler does not have.
    fn news(&self, now: i64) -> HashSet<usize> {
        let threads = self.forum.threads.iter().enumerate();
        threads.filter(|(at, thread)| thread.has_news(self.have.get(at).copied(), now)).map(|(at, _)| at).collect()
    }
}

fn thread_path(theme: &Theme, id: usize) -> String {
    match theme.name.split([',', ' ']).next().unwrap() {
        "phpBB" => format!("/viewtopic.php?f=2&t={id}"),
        "MyBB" => format!("/showthread.php?tid={id}"),
        "Discuz!" => format!("/thread-{id}-1-1.html"),
        "XenForo" => format!("/threads/the-title.{id}/"),
        "vBulletin" => format!("/showthread.php?t={id}"),
        "PunBB" => format!("/viewtopic.php?id={id}"),
        "days" => format!("/sujet/{id}-un-titre"),
        "no" => format!("/topic/{id}"),
        _ => format!("/t/a-slug/{id}"),
    }
}

fn bic(forum: &Forum, theme: &Theme) -> (Score, HashSet<Grounds>, Vec<Memory>) {
    let ids = forum
        .threads
        .iter()
        .enumerate()
        .map(|(at, thread)| (id_of(&address(&thread_path(theme, thread.id))), at))
        .collect();
    let mut crawl = Crawl {
        forum,
        theme,
        memories: vec![Memory::default(); forum.boards],
        known: HashMap::new(),
        have: HashMap::new(),
        ids,
        grounds: HashSet::new(),
    };
    let mut score = Score::default();
    let begin = START + HISTORY;
    for round in 0..=*DAYS * DAY / EVERY {
        // Not on the hour, like real crawls.
        let now = begin + round * EVERY + 137;
        let news = crawl.news(now);
        let (fetched, pages) = crawl.look(now, 1_000);
        let different: HashSet<usize> = fetched.iter().copied().collect();
        assert_eq!(different.len(), fetched.len(), "{}: a thread was fetched twice in one look", theme.name);
        if round > 0 {
            let fresh: HashSet<usize> = news
                .iter()
                .copied()
                .filter(|&at| forum.threads[at].last_by(now).is_some_and(|last| last > now - EVERY))
                .collect();
            score.news += fresh.len();
            score.found += different.intersection(&fresh).count();
            score.right += different.intersection(&news).count();
            score.fetched += fetched.len();
            score.pages += pages;
        } else {
            score.first_missed = news.difference(&different).count();
        }
        for at in fetched.into_iter().filter(|at| *at < forum.threads.len()) {
            crawl.have.insert(at, now);
        }
    }
    (score, crawl.grounds, crawl.memories)
}

/// EIC sees URLs at the top of a board when a new thread is due there, and threads when they are due.
fn eic(forum: &Forum) -> Score {
    let begin = START + HISTORY;
    let mut threads: HashMap<usize, Intervals> = HashMap::new();
    let mut boards = vec![Intervals::new(begin - DAY); forum.boards];
    let mut have: HashMap<usize, i64> = HashMap::new();
    let mut score = Score::default();
    for round in 0..=*DAYS * DAY / EVERY {
        let now = begin + round * EVERY + 137;
        let news: HashSet<usize> = forum
            .threads
            .iter()
            .enumerate()
            .filter(|(at, thread)| thread.has_news(have.get(at).copied(), now))
            .map(|(at, _)| at)
            .collect();
        let known: Vec<&Intervals> = threads.values().collect();
        let mean =
            known.iter().map(|thread| thread.mean_s(2 * DAY)).sum::<i64>() / i64::try_from(known.len().max(1)).unwrap();
        let mut fetch: HashSet<usize> =
            threads.iter().filter(|(_, thread)| thread.is_due(now, mean.max(HOUR))).map(|(at, _)| *at).collect();
        for (board, intervals) in boards.iter_mut().enumerate() {
            if round == 0 || intervals.is_due(now, DAY) {
                let unknown: Vec<usize> = forum
                    .threads
                    .iter()
                    .enumerate()
                    .filter(|(at, thread)| {
                        thread.board_at(now) == board
                            && thread.last_by(now).is_some()
                            && !threads.contains_key(at)
                            && !fetch.contains(at)
                    })
                    .map(|(at, _)| at)
                    .collect();
                let newest = unknown.iter().map(|&at| forum.threads[at].posts[0].0).max();
                intervals.looked(now, newest);
                fetch.extend(unknown);
            }
        }
        if round > 0 {
            let fresh: HashSet<usize> = news
                .iter()
                .copied()
                .filter(|&at| forum.threads[at].last_by(now).is_some_and(|last| last > now - EVERY))
                .collect();
            score.news += fresh.len();
            score.found += fetch.intersection(&fresh).count();
            score.right += fetch.intersection(&news).count();
            score.fetched += fetch.len();
        }
        for at in fetch {
            let thread = &forum.threads[at];
            let before = have.insert(at, now).unwrap_or(thread.posts[0].0);
            let intervals = threads.entry(at).or_insert_with(|| Intervals::new(thread.posts[0].0));
            for post in thread.posts_at(now).filter(|post| *post > before) {
                intervals.looked(now, Some(post));
            }
            intervals.looked(now, None);
        }
    }
    score
}

/// Runs the theme of this name through [`DAYS`].
#[track_caller]
fn simulate(name: &str, recall: f64, precision: f64, expected: &[Grounds]) {
    let forum = Forum::new(7, START, START + HISTORY + (*DAYS + 1) * DAY);
    let theme = all().into_iter().find(|theme| theme.name == name).unwrap();
    let baseline = eic(&forum);
    let (score, grounds, memories) = bic(&forum, &theme);
    let offsets: Vec<(i64, i64)> = memories
        .iter()
        .map(|memory| (memory.conventions.zone.low_s() / 60, memory.conventions.zone.high_s() / 60))
        .collect();
    println!(
        "{name}: recall {:.4}, precision {:.4}, {} news, {} fetched, {} pages, {grounds:?}, offsets {offsets:?}; EIC: recall {:.4}, precision {:.4}",
        score.recall(),
        score.precision(),
        score.news,
        score.fetched,
        score.pages,
        baseline.recall(),
        baseline.precision(),
    );
    assert_eq!(score.first_missed, 0, "{name}: the first look finds all");
    assert!(score.news as i64 > 35 * *DAYS, "{score:?}");
    assert!(score.recall() >= recall && score.precision() >= precision, "{score:?}");
    assert!(score.recall() > baseline.recall() && score.precision() > baseline.precision(), "{score:?} {baseline:?}");
    assert_eq!(grounds, expected.iter().copied().collect::<HashSet<Grounds>>());
}

#[test]
fn phpbb() {
    simulate("phpBB, English", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn mybb() {
    simulate("MyBB, English", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn discuz() {
    simulate("Discuz!, Chinese", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn xenforo_with_a_clock_two_hours_ahead() {
    simulate("XenForo, clock two hours ahead", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn vbulletin_in_a_zone_that_nothing_tells() {
    simulate("vBulletin, German", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn punbb() {
    simulate("PunBB, Russian", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn days_without_hours() {
    simulate("days only, French", 0.995, 0.99, &[Grounds::Times]);
}

#[test]
fn replies_counted_and_no_times() {
    simulate("no times", 0.995, 0.99, &[Grounds::Replies]);
}

#[test]
fn a_board_in_the_order_of_birth() {
    simulate("by birth, English", 0.985, 0.99, &[Grounds::Times]);
}
