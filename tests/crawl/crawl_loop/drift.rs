//! Sites that change while the service crawls them: a rule that keeps its promise no more is told, with how it was broken; bursts of
//! chat, a purge, an empty board and an outage are not.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::promises::{Alarm, Breach, PROMISES_NOTE, Promises};
use gleaner_crawl::site::Site;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_store::crawldb::{CrawlDb, Reader as _};

use super::shares::number;
use super::web::{Answer, Machine, Web, page, redirect, status};

/// When the site changes, once its history is read; and while its lists are.
pub const CHANGE: Duration = Duration::from_secs(86_400);
const AMID_HISTORY: Duration = Duration::from_secs(60);

/// Until then the service runs.
pub const UNTIL: Duration = Duration::from_secs(2 * 86_400 + 43_200);

pub const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

/// How the addresses of a site look.
#[derive(Clone, Copy, PartialEq)]
pub enum Style {
    Tracker,
    Folders,
    Board,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Change {
    Details,
    DetailsRedirected,
    Downloads,
    PageNumbers,
    Moved,
    Parked,
    AnotherDomain,
    Scripts,
    /// A fifth of the torrents goes, a list has chat in place of torrents on each second day, and another one empties: no drift.
    Bursts,
}

/// What a site has.
#[derive(Clone, Copy)]
pub struct Kind {
    pub style: Style,
    pub lists: u64,
    pub rows: u64,
    /// Torrents when the crawl begins, and seconds until one more comes.
    pub old: u64,
    pub every_s: u64,
}

pub const SMALL: Kind = Kind { style: Style::Tracker, lists: 4, rows: 10, old: 160, every_s: 3_600 };

impl Change {
    fn at(self) -> Duration {
        if self == Self::PageNumbers { AMID_HISTORY } else { CHANGE }
    }
}

/// What an address names.
enum Place {
    Start,
    List(u64, u64),
    Detail(u64),
    Download(u64),
}

impl Style {
    /// Classes and the form of the addresses: `{c}` list, `{p}` page, `{n}` torrent.
    fn forms(self) -> [&'static str; 3] {
        match self {
            Self::Tracker => ["/list.php?c={c}&page={p}", "/details.php?id={n}", "/download.php?id={n}"],
            Self::Folders => ["/browse/{c}/{p}/", "/view/{n}/", "/get/{n}.torrent"],
            Self::Board => ["/forum-{c}-{p}.html", "/thread-{n}.html", "/attachment?aid={n}"],
        }
    }

    pub fn rules(self) -> String {
        let form = |form: &str, page: &str| {
            let form = form.replace('?', "\\?").replace('.', "\\.");
            form.replace("{c}", "\\d+").replace("{n}", "\\d+").replace("{p}", page)
        };
        let [list, detail, download] = self.forms();
        format!(
            "start = ['http://sim.example/']\nlanes = 4\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 4\nconnections = 4\n[classes]\npage = ['^/$']\n\
             index = ['^{}$']\ndetail = ['^{}$']\ndownload = ['^{}$']\n",
            form(list, "(?<page>\\d+)"),
            form(detail, ""),
            form(download, "")
        )
    }
}

/// The numbers in a path that has this form.
fn numbers(form: &str, path: &str) -> Option<Vec<u64>> {
    let (mut form, mut path, mut numbers) = (form, path, Vec::new());
    while let Some((before, after)) = form.split_once('{') {
        path = path.strip_prefix(before)?;
        let end = path.find(|of: char| !of.is_ascii_digit()).unwrap_or(path.len());
        numbers.push(path[..end].parse().ok()?);
        (form, path) = (after.split_once('}')?.1, &path[end..]);
    }
    (form == path).then_some(numbers)
}

fn filled(form: &str, numbers: &[u64]) -> String {
    let mut text = String::new();
    let mut numbers = numbers.iter();
    for (at, part) in form.split(['{', '}']).enumerate() {
        match at % 2 {
            0 => text.push_str(part),
            _ => text.push_str(&numbers.next().expect("a number").to_string()),
        }
    }
    text
}

/// A site at this time.
pub struct Now {
    pub kind: Kind,
    pub change: Option<Change>,
    pub at: Duration,
}

impl Now {
    fn has(&self, change: Change) -> bool {
        self.at >= change.at() && self.change == Some(change)
    }

    /// The forms of the addresses now.
    fn forms(&self) -> [String; 3] {
        let [mut list, mut detail, mut download] = self.kind.style.forms().map(ToOwned::to_owned);
        if self.has(Change::Details) || self.has(Change::DetailsRedirected) {
            detail = "/torrent/{n}/show".into();
        }
        if self.has(Change::Downloads) {
            download = "/dl/{n}".into();
        }
        if self.has(Change::PageNumbers) {
            list = list
                .replace("page={p}", "offset={p}")
                .replace("/{p}/", "/?offset={p}")
                .replace("-{p}.html", ".html?offset={p}");
        }
        if self.has(Change::Moved) {
            (list, detail, download) =
                (format!("/forum{list}"), format!("/forum{detail}"), format!("/forum{download}"));
        }
        [list, detail, download]
    }

    fn place(&self, path: &str) -> Option<Place> {
        let [list, detail, download] = self.forms();
        let is_root = path == "/" || (self.has(Change::Moved) && path == "/forum/");
        let of_list = |of: Vec<u64>| Place::List(of[0], of[1]);
        let place = None
            .or_else(|| is_root.then_some(Place::Start))
            .or_else(|| numbers(&list, path).map(of_list))
            .or_else(|| numbers(&detail, path).map(|of| Place::Detail(of[0])))
            .or_else(|| numbers(&download, path).map(|of| Place::Download(of[0])));
        // The parameter that it does not know any more is ignored.
        let old = numbers(self.kind.style.forms()[0], path).filter(|_| self.has(Change::PageNumbers));
        place.or_else(|| old.map(|of| Place::List(of[0], 1)))
    }

    pub fn answer(&self, path: &str) -> Answer {
        if self.has(Change::Parked) {
            return page("<title>For sale</title>Buy this domain: <a href=/buy>offer</a>");
        }
        if self.has(Change::AnotherDomain) {
            return redirect(&format!("http://new.example{path}"));
        }
        if self.has(Change::Moved) && path == "/" {
            return redirect("/forum/");
        }
        if self.has(Change::DetailsRedirected)
            && let Some(of) = numbers(self.kind.style.forms()[1], path)
        {
            return redirect(&filled(&self.forms()[1], &of));
        }
        match self.place(path) {
            None => status(404),
            Some(Place::Start) => {
                let list = |c: u64| format!("<a href=\"{}\">list {c}</a>", filled(&self.forms()[0], &[c, 1]));
                page(&(0..self.kind.lists).map(list).collect::<String>())
            }
            Some(Place::List(c, number)) => self.list(c, number.max(1)),
            Some(Place::Detail(n)) if !self.is_there(n) => status(404),
            // Some are requests, and have none.
            Some(Place::Detail(n)) if n.is_multiple_of(11) || self.is_chat(n) => page(&format!("<h1>Request {n}</h1>")),
            Some(Place::Detail(n)) => {
                page(&format!("<h1>Title {n}</h1><a href=\"{}\">get</a>", filled(&self.forms()[2], &[n])))
            }
            Some(Place::Download(n)) if !self.is_there(n) => status(404),
            Some(Place::Download(n)) => torrent(n),
        }
    }

    /// The torrents so far.
    fn count(&self) -> u64 {
        self.kind.old + self.at.as_secs() / self.kind.every_s
    }

    fn is_there(&self, n: u64) -> bool {
        let is_purged = self.has(Change::Bursts) && n.is_multiple_of(5);
        n < self.count() && !is_purged
    }

    fn is_chat(&self, n: u64) -> bool {
        let day = n.saturating_sub(self.kind.old) * self.kind.every_s / 86_400;
        self.change == Some(Change::Bursts) && day % 2 == 1 && n.is_multiple_of(self.kind.lists)
    }

    fn list(&self, c: u64, number: u64) -> Answer {
        if self.has(Change::Scripts) {
            return page("<div id=list></div><script src=/app.js></script>");
        }
        if c >= self.kind.lists {
            return status(404);
        }
        if self.has(Change::Bursts) && c == self.kind.lists - 1 {
            return page("<p>No torrents here yet.");
        }
        let all: Vec<u64> = (0..self.count()).rev().filter(|n| n % self.kind.lists == c && self.is_there(*n)).collect();
        let pages = (all.len() as u64).div_ceil(self.kind.rows);
        let rows = all.iter().skip(((number - 1) * self.kind.rows) as usize).take(self.kind.rows as usize);
        let [list, detail, _] = self.forms();
        let rows: String =
            rows.map(|n| format!("<tr><td><a href=\"{}\">Title {n}</a></td></tr>", filled(&detail, &[*n]))).collect();
        let pager: String =
            (1..=pages).map(|page| format!("<a href=\"{}\">{page}</a> ", filled(&list, &[c, page]))).collect();
        page(&format!("<a href=/>home</a><a href=/help/{c}>help</a><table>{rows}</table>{pager}"))
    }
}

fn torrent(n: u64) -> Answer {
    let name = format!("title {n}");
    let info = format!("d6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae", name.len());
    Answer::Status(200, ResponseHeaders::default(), Bytes::from(format!("d4:info{info}e")))
}

/// What a service has seen.
struct Watched {
    /// Rule, whether of later pages alone, and the alarm; the first one first.
    alarms: Vec<(String, bool, Alarm)>,
    /// In all; and from the change to the first alarm, or to the end.
    requests: usize,
    requests_until_alarm: usize,
}

/// Runs the service on such a site.
async fn watch(kind: Kind, change: Option<Change>, outage: Option<(Duration, Duration)>) -> Watched {
    let web = Web::new(Duration::from_millis(20)).answered_by(move |path, at| Now { kind, change, at }.answer(path));
    let web = Arc::new(match outage {
        Some((from, until)) => web.outage(from, until),
        None => web,
    });
    let machine = Machine::new();
    let rules = gleaner_rules::from_text("sim", &kind.style.rules()).unwrap();
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
    let (ended, _) = machine.crawl_site(site, SERVICE, Some(UNTIL), None).await;
    ended.unwrap();
    let note = machine.db.note("sim", PROMISES_NOTE).await.unwrap();
    let promises = Promises::take_up(note.as_deref(), |_| true);
    let mut alarms: Vec<_> =
        promises.alarms().map(|(rule, is_behind, alarm)| (rule.to_owned(), is_behind, alarm.clone())).collect();
    alarms.sort_by_key(|(.., alarm)| alarm.since);
    let start = machine.clock().now().0 - machine.start.elapsed().as_millis() as u64;
    let first = alarms.first().map_or(u64::MAX, |(.., alarm)| alarm.since.0 - start);
    let change = change.map_or(CHANGE, Change::at).as_millis() as u64;
    let log = web.log();
    let requests_until_alarm = log.iter().filter(|(at, _)| (change..first).contains(at)).count();
    Watched { alarms, requests: log.len(), requests_until_alarm }
}

const STYLES: [Style; 3] = [Style::Tracker, Style::Folders, Style::Board];

#[tokio::test(start_paused = true)]
async fn a_change_of_a_site_is_told_within_its_requests() {
    use Change::*;
    for style in super::cases(1, STYLES) {
        for (name, change, most, breach, told) in [
            ("details", Details, 30, Breach::NoRows, "links of the shape /torrent/{n}/{s} match no class"),
            ("details redirected", DetailsRedirected, 47, Breach::NoRows, "links of the shape /torrent/{n}/{s}"),
            ("downloads", Downloads, 30, Breach::NoTarget, "links of the shape /dl/{n} match no class"),
            ("moved", Moved, 30, Breach::Gone, "were not there (404)"),
            ("parked", Parked, 30, Breach::NoRows, "links of the shape /buy match no class"),
            ("another domain", AnotherDomain, 30, Breach::LedOff, "(a redirect to http://new.example/"),
            ("scripts", Scripts, 60, Breach::NoRows, "without rows"),
        ] {
            let Watched { alarms, requests_until_alarm: requests, .. } =
                watch(Kind { style, ..SMALL }, Some(change), None).await;
            let Some((rule, is_behind, alarm)) = alarms.first() else {
                panic!("{name}: no alarm in {requests} requests")
            };
            let text = alarm.told(rule, *is_behind);
            assert_eq!(alarm.breach, breach, "{name}: {text}");
            assert!(text.contains(told) && requests <= most, "{name}: {requests} requests, {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_parameter_of_page_numbers_that_changes_amid_history_is_told_by_the_later_pages() {
    for style in super::cases(1, STYLES) {
        let kind = Kind { style, old: 3_200, ..SMALL };
        let Watched { alarms, .. } = watch(kind, Some(Change::PageNumbers), None).await;
        let (rule, is_behind, alarm) = alarms.first().expect("an alarm");
        assert!(*is_behind && rule.starts_with("classes.index"), "{}", alarm.told(rule, *is_behind));
        assert_eq!(alarm.breach, Breach::SameRows);
        // Those that confirm it wait behind what was leased before.
        assert!(alarm.broken <= 20, "{}", alarm.broken);
    }
}

/// 20 kinds of sites make 100,000 requests in scripts/test-long.
#[tokio::test(start_paused = true)]
async fn purges_chat_empty_boards_and_outages_are_no_drift() {
    let kinds = (0..20).map(|number: u64| Kind {
        style: STYLES[number as usize % 3],
        lists: 2 + number % 5,
        rows: 5 + number * 7 % 25,
        old: 220 + number * 220,
        every_s: 900 + number * 600 % 3_600,
    });
    let outage = Some((CHANGE + Duration::from_secs(20_000), CHANGE + Duration::from_secs(27_200)));
    let mut requests = 0;
    for (number, kind) in super::cases(2, kinds).enumerate() {
        let seen = watch(kind, Some(Change::Bursts), outage).await;
        let told: Vec<_> = seen.alarms.iter().map(|(rule, is_behind, alarm)| alarm.told(rule, *is_behind)).collect();
        assert!(told.is_empty(), "site {number}: {told:#?}");
        requests += seen.requests;
    }
    println!("{requests} requests");
}

/// Details that link their torrents below `/get/` for three seconds, and below `/dl/` from then on.
fn moving(path: &str, at: Duration) -> Option<Answer> {
    let place = if at < Duration::from_secs(3) { "get" } else { "dl" };
    Some(if path == "/" {
        page(&(0..MOVING).map(|own| format!("<a href='/thing/{own}'>thing {own}</a> ")).collect::<String>())
    } else if path.starts_with("/thing/") {
        page(&format!("<h1>thing</h1><a href='/{place}/{}'>file</a>", number(path)))
    } else if path.starts_with(&format!("/{place}/")) {
        torrent(number(path))
    } else {
        return None;
    })
}

const MOVING: u64 = 60;

/// Some pages were read while their downloads were still to be asked for, and these are gone by then.
#[tokio::test(start_paused = true)]
async fn pages_whose_downloads_are_gone_are_read_again_by_the_rules_that_take_the_new_ones() {
    let web = Arc::new(Web::new(Duration::from_millis(400)).meanwhile(moving));
    let machine = Machine::new();
    let crawl = async |download: &str| {
        let text = format!(
            "start = ['http://sim.example/']\n[rate]\nrequests_per_second = 20\nconnections = 8\n[classes]\nindex = ['^/$']\ndetail = ['^/thing/']\ndownload = ['{download}']\n"
        );
        let rules = gleaner_rules::from_text("sim", &text).unwrap();
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
        machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap()
    };
    crawl("^/get/").await;
    let before = machine.outcomes().await["torrent_stored"];
    let dead: Vec<u64> = (0..MOVING).filter(|own| web.asked(&format!("/get/{own}")) > 0).collect();
    assert!(before < MOVING && dead.len() as u64 > before, "{before} of {dead:?}");
    crawl("^/(?:get|dl)/").await;
    assert_eq!(machine.outcomes().await["torrent_stored"], MOVING);
    // A page is read again for its dead download once, not at each crawl.
    let asked = web.log().len();
    crawl("^/(?:get|dl)/").await;
    assert!(web.log().len() < asked + 5, "{:?}", &web.log()[asked..]);
}
