//! Tests of `findings`.

use super::*;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;

const RULES: &str =
    "start = ['http://h.example/']\n[classes]\npage = ['^/$']\ndetail = ['^/t/']\ndownload = ['^/dl/']\n";

fn known(causes: &[(Class, Outcome, u64)]) -> Known {
    let mut tally = Tally::default();
    let rules = gleaner_rules::from_text("s", RULES).unwrap();
    for (class, outcome, count) in causes {
        (0..*count).for_each(|at| {
            tally.parked(&rules, *class, *outcome, &CrawlUrl::from_parts("http://h.example", &format!("/a{at}")));
        });
    }
    Known { tally, torrents: 0, not_whole: Vec::new(), has_blank: false, broken: Vec::new(), unclassed: Vec::new() }
}

fn told(known: &Known, rules: &str) -> Vec<(String, bool)> {
    let rules = gleaner_rules::from_text("s", rules).unwrap();
    let found = findings(known, &rules, true, &Hints::default());
    found.into_iter().map(|finding| (finding.text, finding.is_failure)).collect()
}

fn only(known: &Known, wanted: &str) {
    let told = told(known, RULES);
    assert!(matches!(&told[..], [(text, true)] if text.contains(wanted)), "{told:?}");
}

#[test]
fn a_crawl_with_torrents_has_nothing_to_explain() {
    let mut known = known(&[(Class::Detail, Outcome::Page, 30), (Class::Download, Outcome::TorrentStored, 30)]);
    known.torrents = 30;
    assert_eq!(told(&known, RULES), []);
}

#[test]
fn each_start_url_that_was_not_read_is_named_with_the_reason() {
    let mut known = known(&[]);
    known.torrents = 9;
    assert_eq!(told(&known, RULES), [], "not visited yet");
    let rules = gleaner_rules::from_text("s", RULES).unwrap();
    known.tally.parked(&rules, Class::Page, Outcome::RobotsDenied, &CrawlUrl::from_parts("http://h.example", "/"));
    only(&known, "the start URL http://h.example/ was not read: robots.txt closes it");
    // It is said once.
    let row = NotWholeRow { url: "http://h.example/".into(), reason: "any".into(), at: UnixMillis(1) };
    known.not_whole = vec![row];
    only(&known, "the start URL http://h.example/ was not read: robots.txt closes it");
    let moved = RULES.replace("start = ['http://h.example/']", "start = ['http://h.example/t/1']");
    assert_eq!(told(&known, &moved).iter().filter(|(_, is_failure)| *is_failure).count(), 0, "of other rules");
}

#[test]
fn closed_downloads_are_named_unless_robots_txt_is_overridden() {
    let known = known(&[(Class::Thread, Outcome::Page, 446), (Class::Download, Outcome::RobotsDenied, 446)]);
    let told_all = told(&known, RULES);
    assert!(told_all[0].0.starts_with("robots.txt closes 446 download URLs, as http://h.example/"), "{told_all:?}");
    let obeys_not = format!("robots = {{ obey = false, reason = 'mine' }}\n{RULES}");
    assert!(!told(&known, &obeys_not).iter().any(|(text, _)| text.contains("robots.txt")));
    // Fewer than the torrents that are there, of which a crawl that was killed counted none, are no failure.
    let failures = |torrents: u64| {
        let closed = self::known(&[(Class::Detail, Outcome::RobotsDenied, 3)]);
        told(&Known { torrents, ..closed }, RULES).iter().filter(|(_, is_failure)| *is_failure).count()
    };
    assert_eq!((failures(0), failures(3), failures(4)), (1, 1, 0));
    // What is no failure hides none.
    let gone = self::known(&[(Class::Detail, Outcome::RobotsDenied, 3), (Class::Download, Outcome::Gone, 11)]);
    let told_all = told(&Known { torrents: 4, ..gone }, RULES);
    assert!(told_all.iter().any(|(text, is_failure)| *is_failure && text.contains("ended alike")), "{told_all:?}");
}

#[test]
fn downloads_that_ended_alike_are_named() {
    let mut known = known(&[(Class::Download, Outcome::TorrentStored, 5), (Class::Download, Outcome::Gone, 6)]);
    known.torrents = 5;
    only(&known, "6 of 11 downloads ended alike: gone");
    let mut few = self::known(&[(Class::Download, Outcome::Gone, 6)]);
    few.torrents = 1;
    assert_eq!(told(&few, RULES), []);
}

#[test]
fn a_crawl_without_a_torrent_says_what_it_met() {
    only(
        &known(&[(Class::Download, Outcome::NotForUs, 3)]),
        "none of 3 download URLs gave a torrent; most: 3 download: not_for_us",
    );
    only(
        &known(&[(Class::Thread, Outcome::Page, 7), (Class::Thread, Outcome::RedirectRefused, 200)]),
        "200 of 207 pages of torrents and threads were not read: 200 thread: redirect_refused",
    );
    let mut no_download = known(&[(Class::Thread, Outcome::Page, 320)]);
    no_download.unclassed = vec![status::UnclassedShape {
        shape: "/a?n={n}".to_owned(),
        links: 320,
        example: "/a?n=7".to_owned(),
        why: String::new(),
    }];
    only(&no_download, "320 pages of torrents and threads were read, and none has a link of classes.download");
    only(&no_download, "most links without a class: 320 of /a?n={n}, as /a?n=7");
    let mut no_class = known(&[(Class::Page, Outcome::Page, 1)]);
    no_class.unclassed = no_download.unclassed;
    only(&no_class, "no link of the 1 page read leads to a torrent, its page or a thread");
    let mut empty = known(&[(Class::Page, Outcome::Page, 1)]);
    let nothing = "no link of the 1 page read leads to a torrent, its page or a thread".to_owned();
    assert_eq!(told(&empty, RULES), [(nothing.clone(), false)], "perhaps all that it has");
    empty.has_blank = true;
    assert_eq!(told(&empty, RULES), [(nothing, true)]);
}

#[test]
fn a_guest_who_was_refused_is_told_of_the_login() {
    let mut known = known(&[(Class::Page, Outcome::Page, 1)]);
    let reason = "the request that brings its data failed: it is answered 401";
    known.not_whole = vec![NotWholeRow { url: "http://h.example/".into(), reason: reason.into(), at: UnixMillis(1) }];
    let hint = |known: &Known, rules: &str| {
        let rules = gleaner_rules::from_text("s", rules).unwrap();
        findings(known, &rules, true, &Hints::default())[0].hint.clone().unwrap()
    };
    assert!(hint(&known, RULES).contains("add a [login]"));
    known.not_whole[0].reason = "its scripts did not finish: the render process died".into();
    assert!(hint(&known, RULES).contains("first see why pages were not read whole: gleaner coverage s"));
    assert!(!hint(&known, &format!("{RULES}[login]\nuser = 'anna'\n")).contains("add a [login]"));
}

#[test]
fn pages_that_were_not_read_are_listed_by_reason_and_fail_nothing() {
    let mut known = known(&[]);
    known.torrents = 1;
    let row = |url: &str, reason: &str| NotWholeRow { url: url.into(), reason: reason.into(), at: UnixMillis(1) };
    known.not_whole =
        vec![row("http://h.example/a", "x"), row("http://h.example/b", "y"), row("http://h.example/c", "y")];
    let wanted = [
        ("2 pages were not read whole: y; first http://h.example/b".to_owned(), false),
        ("1 page was not read whole: x; first http://h.example/a".to_owned(), false),
    ];
    assert_eq!(told(&known, RULES), wanted);
}
