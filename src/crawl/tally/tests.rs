//! Tests of `tally`.

use super::*;
use crate::job::JobKind;
use crate::visit::put_aside;
use gleaner_base::clock::UnixMillis;
use gleaner_rules::Verdict;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

const RULES: &str =
    "start = ['http://h.example/']\n[classes]\npage = ['^/']\ndetail = ['^/t/']\ndownload = ['^/dl/']\n";

fn ended(rules: &SiteRules, path: &str, outcome: Outcome, detail: Option<&str>) -> (CrawlUrl, Finished) {
    let url = CrawlUrl::from_parts("http://h.example", path);
    let Verdict::Take { class, number, .. } = rules.judge(&url) else { panic!("{path}") };
    let key = UrlKey { host: HostId(1), path: path.into() };
    let (via, memo, deadline) = (None, None, UnixMillis(0));
    let lease = Lease { key, depth: 1, rank: 0, attempts: 0, via, memo, deadline, found: None, seq: 0 };
    let mut finished = put_aside(&lease, outcome, UnixMillis(1));
    finished.job = JobKind { class, rule: number, ..finished.job };
    finished.detail = detail.map(Into::into);
    (url, finished)
}

#[test]
fn visits_that_ended_alike_are_one_cause_with_an_example_and_survive_a_restart() {
    let rules = gleaner_rules::from_text("s", &RULES.replace("page = ['^/']", "page = ['^/$']")).unwrap();
    let mut tally = Tally::default();
    let mut visit = |path: &str, outcome, detail: Option<&str>| {
        let (url, finished) = ended(&rules, path, outcome, detail);
        tally.count(&rules, &url, &finished);
    };
    visit("/dl/1", Outcome::Denied, Some("status 403"));
    visit("/dl/2?passkey=0123456789abcdef0123456789abcdef", Outcome::Denied, Some("status 403"));
    visit("/dl/3", Outcome::TorrentStored, None);
    visit("/t/1", Outcome::Page, Some("anything"));
    tally.parked(&rules, Class::Download, Outcome::RobotsDenied, &CrawlUrl::from_parts("http://h.example", "/dl/4"));
    let told: Vec<String> =
        tally.troubles().iter().map(|cause| format!("{}, as {}", cause.told(), cause.example)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("2 download: denied (status 403), as http://h.example/dl/2?passkey="), "{told:?}");
    assert!(!told[0].contains("0123456789abcdef"), "{told:?}");
    assert_eq!(told[1], "1 download: robots_denied, as http://h.example/dl/4");
    let note = tally.note().unwrap();
    assert_eq!(tally.note(), None, "nothing has changed since");
    assert_eq!(Tally::from_bytes(&note), tally);
    assert_eq!(Tally::from_bytes(b"of another version"), Tally::default());
}

#[test]
fn many_different_details_share_an_entry() {
    let rules = gleaner_rules::from_text("s", &RULES.replace("page = ['^/']", "page = ['^/$']")).unwrap();
    let mut tally = Tally::default();
    for at in 0..100 {
        let (url, finished) = ended(&rules, "/dl/1", Outcome::RedirectRefused, Some(&format!("a redirect to /{at}")));
        tally.count(&rules, &url, &finished);
    }
    assert_eq!(tally.troubles().len(), limits::TALLY_DETAILS_MAX);
    assert_eq!(tally.visits(|cause| cause.class == Class::Download), 100);
}

#[test]
fn a_rule_that_takes_what_a_later_one_is_for_is_noted() {
    let rules = gleaner_rules::from_text("s", RULES).unwrap();
    let mut tally = Tally::default();
    for path in ["/", "/t/1", "/t/2", "/about"] {
        let (url, finished) = ended(&rules, path, Outcome::Page, None);
        tally.count(&rules, &url, &finished);
    }
    assert_eq!(tally.shadowed, Some(Shadowed { by: 0, rule: 1, urls: 2, example: "/t/1".into() }));
}

#[test]
fn start_urls_keep_their_last_answer() {
    let rules = gleaner_rules::from_text("s", RULES).unwrap();
    let mut tally = Tally::default();
    let (url, finished) = ended(&rules, "/", Outcome::Denied, Some("status 403"));
    tally.count(&rules, &url, &finished);
    let unread = |tally: &Tally| {
        let unread = tally.unread_starts(&rules);
        unread.map(|(url, start)| format!("{url} {} {:?}", start.outcome, start.detail)).collect::<Vec<_>>()
    };
    assert_eq!(unread(&tally), ["http://h.example/ denied Some(\"status 403\")"]);
    let (url, finished) = ended(&rules, "/", Outcome::Page, None);
    tally.count(&rules, &url, &finished);
    assert_eq!(unread(&tally), Vec::<String>::new());
}

#[test]
fn refusals_that_are_asked_again_are_taken_back_and_nothing_else_is() {
    let rules = gleaner_rules::from_text("s", &RULES.replace("page = ['^/']", "page = ['^/$']")).unwrap();
    let mut tally = Tally::default();
    for (outcome, visits) in [(Outcome::Gone, 9), (Outcome::Denied, 5), (Outcome::Walled, 3)] {
        for _ in 0..visits {
            let (url, finished) = ended(&rules, "/dl/1", outcome, None);
            tally.count(&rules, &url, &finished);
        }
    }
    tally.take_back(Class::Download, 5);
    tally.forget(Outcome::Walled);
    let left: Vec<(&str, u64)> = tally.troubles().iter().map(|cause| (&*cause.outcome, cause.visits)).collect();
    assert_eq!(left, [("gone", 9)]);
}
