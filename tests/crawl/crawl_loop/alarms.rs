//! Sites that break while the service crawls them, and what is told of it: by the real loop, its observer and the alarms.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use gleaner::app::alarms::observe::Observer;
use gleaner_alarms::book::{Book, Settings, What};
use gleaner_alarms::watch::Watch;
use gleaner_crawl::site::Site;
use gleaner_net::fetch::FailureKind;
use gleaner_store::crawldb::CrawlDb;

use super::drift::{CHANGE, Change, Kind, Now, SERVICE, SMALL, UNTIL};
use super::web::{Answer, Machine, Web, page, status, throttled};

/// Between two looks of the alarms.
const LOOK: Duration = Duration::from_secs(150);

/// How a site breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Breaks {
    /// As in `drift`.
    Changes,
    Down,
    Certificate,
    Throttles,
    HalfTheRows,
    DownloadsGone,
    LoginWall,
}

fn answer(kind: Kind, change: Option<Change>, breaks: Option<Breaks>, path: &str, at: Duration) -> Answer {
    let now = Now { kind, change, at };
    let Some(breaks) = breaks.filter(|_| at >= CHANGE) else { return now.answer(path) };
    match breaks {
        Breaks::Changes => now.answer(path),
        Breaks::Down => Answer::Fail(FailureKind::Connect),
        Breaks::Certificate => Answer::Fail(FailureKind::Tls),
        Breaks::Throttles => throttled("600"),
        Breaks::HalfTheRows => Now { kind: Kind { rows: kind.rows / 2, ..kind }, ..now }.answer(path),
        Breaks::DownloadsGone if path.starts_with("/download") => status(404),
        Breaks::DownloadsGone => now.answer(path),
        Breaks::LoginWall => {
            page("<form method=post action=/login><input name=user><input name=pw type=password></form>")
        }
    }
}

/// What was told: the kind, minutes after the change, and looks at lists meanwhile.
struct Told {
    fired: Vec<(String, u64, usize)>,
    has_page: bool,
    rules: Vec<Option<String>>,
}

async fn told(
    kind: Kind,
    change: Option<Change>,
    breaks: Option<Breaks>,
    outage: Option<(Duration, Duration)>,
) -> Told {
    let web = Web::new(Duration::from_millis(20)).answered_by(move |path, at| answer(kind, change, breaks, path, at));
    let web = Arc::new(match outage {
        Some((from, until)) => web.outage(from, until),
        None => web,
    });
    let machine = Machine::new();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sim.toml"), kind.style.rules()).unwrap();
    let rules = gleaner_rules::from_text("sim", &kind.style.rules()).unwrap();
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
    let mut told = Told { fired: Vec::new(), has_page: false, rules: Vec::new() };
    let looking = async {
        let (clock, start) = (machine.clock(), machine.start);
        let (mut watch, mut book, begin) = (Watch::default(), Book::default(), clock.now().0);
        let mut observer = None;
        loop {
            tokio::time::sleep(LOOK).await;
            let observer = observer.get_or_insert_with(|| {
                let progress = machine.progress();
                let (data, rules) = (dir.path().to_owned(), dir.path().to_owned());
                let steady = Box::new(move || start.elapsed());
                Observer { steady, ..Observer::new(machine.db.clone(), progress, data, rules) }
            });
            let now = clock.now();
            let mut seen = observer.seen(now).await.unwrap();
            // The disk of this machine is not simulated.
            seen.machine.disk = None;
            let causes = watch.look(&seen);
            for event in book.look(&causes, &BTreeSet::new(), &Settings::default(), now) {
                let change = CHANGE.as_millis() as u64;
                let after = (now.0 - begin).saturating_sub(change) / 60_000;
                if event.what == What::Fired {
                    let is_front = |path: &str| path.starts_with("/list") && path.ends_with("page=1");
                    let looks = web.log().iter().filter(|(at, path)| *at >= change && is_front(path)).count();
                    told.fired.push((event.alarm.kind, after, looks));
                    told.rules.push(event.alarm.rule);
                }
            }
            told.has_page |= !observer.new_pages().is_empty();
        }
    };
    tokio::select! {
        (ended, _) = machine.crawl_site(site, SERVICE, Some(UNTIL), None) => drop(ended.unwrap()),
        () = looking => {}
    }
    told
}

/// Three looks at each of the lists.
const LOOKS: usize = 12;

/// What shows in downloads alone, of which one comes an hour, is told by them.
const DOWNLOADS: usize = 200;

/// How it breaks, the kinds that may be told, and after how many looks at lists at most.
type Case = (Option<Change>, Breaks, &'static [&'static str], usize);

#[tokio::test(start_paused = true)]
async fn what_a_site_changes_is_told_once_with_its_kind() {
    check(&[
        (Some(Change::Details), Breaks::Changes, &["lists-empty", "promise-broken"], LOOKS),
        (Some(Change::Moved), Breaks::Changes, &["lists-empty", "promise-broken"], LOOKS),
        (Some(Change::Scripts), Breaks::Changes, &["lists-empty", "promise-broken"], LOOKS),
        (Some(Change::Parked), Breaks::Changes, &["lists-empty", "promise-broken"], LOOKS),
        (Some(Change::Downloads), Breaks::Changes, &["promise-broken"], DOWNLOADS),
        (Some(Change::AnotherDomain), Breaks::Changes, &["lists-empty", "promise-broken", "refused"], LOOKS),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_breaks_is_told_once_with_its_kind() {
    check(&[
        (None, Breaks::DownloadsGone, &["promise-broken"], DOWNLOADS),
        (None, Breaks::HalfTheRows, &["rows-fell"], LOOKS),
        (None, Breaks::LoginWall, &["lists-empty", "promise-broken"], LOOKS),
        (None, Breaks::Down, &["unreachable"], LOOKS),
        (None, Breaks::Certificate, &["certificate"], LOOKS),
        (None, Breaks::Throttles, &["refused"], LOOKS),
    ])
    .await;
}

async fn check(cases: &[Case]) {
    let mut faults = Vec::new();
    for (change, breaks, kinds, most) in cases.iter().copied() {
        let Told { fired, has_page, rules } = told(SMALL, change, Some(breaks), None).await;
        let what = format!("{breaks:?}: {fired:?}, {rules:?}");
        println!("{what}");
        let [(kind, _, looks)] = &fired[..] else {
            faults.push(what);
            continue;
        };
        if !kinds.contains(&&**kind) || *looks > most {
            faults.push(what.clone());
        }
        // What is not there, or redirects, is no page.
        let shows_page = !matches!(change, Some(Change::Moved | Change::AnotherDomain)) && kind != "promise-broken";
        let shows_page = shows_page && !matches!(breaks, Breaks::Down | Breaks::Certificate | Breaks::Throttles);
        assert!(has_page || !shows_page, "no page was kept: {what}");
        let has_rule = kind == "promise-broken";
        assert!(!has_rule || rules[0].as_ref().is_some_and(|rule| rule.contains("sim.toml:")), "{what}");
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_purge_chat_and_an_empty_board_raise_nothing() {
    for kind in [SMALL, Kind { lists: 6, rows: 25, old: 900, ..SMALL }] {
        let Told { fired, .. } = told(kind, Some(Change::Bursts), None, None).await;
        assert!(fired.is_empty(), "{fired:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_two_hours_is_one_alarm() {
    let from = CHANGE + Duration::from_secs(20_000);
    let Told { fired, .. } = told(SMALL, None, None, Some((from, from + Duration::from_secs(7_200)))).await;
    let kinds: Vec<&str> = fired.iter().map(|(kind, ..)| &**kind).collect();
    assert_eq!(kinds, ["unreachable"]);
}
