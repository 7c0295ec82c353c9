//! Tests of promises: a site that changes, bursts, restarts, lists of one page.

use std::time::Duration;

use super::*;
use gleaner_store::crawldb::HostId;

const RULE: &str = "classes.detail ^/t/[0-9]+$";

struct Crawl {
    promises: Promises,
    now: UnixMillis,
    unclassed: BTreeMap<Box<str>, u64>,
}

impl Crawl {
    fn new() -> Self {
        Self { promises: Promises::default(), now: UnixMillis(1_000), unclassed: BTreeMap::new() }
    }

    fn visit(&mut self, id: u64, verdict: Option<Result<(), Breach>>) -> Step {
        self.now = self.now.plus(Duration::from_secs(1));
        let key = UrlKey { host: HostId(1), path: format!("/t/{id}").into() };
        let url = KnownUrl { key, depth: 2 };
        let seen =
            Seen { rule: RULE, is_behind: false, url, verdict: of(verdict), parent: None, detail: None, at: self.now };
        self.promises.mind(seen, || self.unclassed.clone())
    }

    /// A crawl in which so many details were read, every tenth of which has lost its torrent.
    fn with_past(count: u64) -> Self {
        let mut crawl = Self::new();
        crawl.unclassed.insert("/help".into(), 4_000);
        for id in 0..count {
            let verdict = if id % 10 == 9 { Err(Breach::NoTarget) } else { Ok(()) };
            assert_eq!(crawl.visit(id, Some(verdict)), Step::Nothing);
        }
        crawl
    }

    /// Breaks the promise until something happens.
    fn break_it(&mut self, breach: &Breach) -> (u64, Vec<KnownUrl>) {
        (1..100)
            .find_map(|visits| match self.visit(1_000 + visits, Some(Err(breach.clone()))) {
                Step::Confirm(urls) => Some((visits, urls)),
                step => {
                    assert_eq!(step, Step::Nothing);
                    None
                }
            })
            .expect("a suspicion")
    }
}

fn of(verdict: Option<Result<(), Breach>>) -> Verdict {
    match verdict {
        Some(Ok(())) => Verdict::Kept,
        Some(Err(breach)) => Verdict::Broken(breach),
        None => Verdict::None,
    }
}

fn id(url: &KnownUrl) -> u64 {
    url.key.path.rsplit('/').next().unwrap().parse().unwrap()
}

#[test]
fn a_site_that_was_rewritten_is_noticed_and_the_new_links_are_named() {
    let mut crawl = Crawl::with_past(400);
    crawl.unclassed.insert("/help".into(), 4_400);
    let gone = Breach::Gone;
    assert_eq!(crawl.visit(900, Some(Err(gone.clone()))), Step::Nothing);
    crawl.unclassed.insert("/torrent/{n}.html".into(), 60);
    let (visits, urls) = crawl.break_it(&gone);
    assert!(visits <= 12, "{visits}");
    assert_eq!(urls.iter().map(id).collect::<Vec<_>>(), [398, 397, 396], "the last ones that kept it");
    assert_eq!(crawl.visit(398, Some(Err(gone.clone()))), Step::Nothing);
    assert_eq!(crawl.visit(2_000, Some(Ok(()))), Step::Nothing, "another URL confirms nothing");
    assert_eq!(crawl.visit(397, Some(Err(gone.clone()))), Step::Nothing);
    let Step::Alarm(alarm) = crawl.visit(396, Some(Err(gone.clone()))) else { panic!("no alarm") };
    assert_eq!((alarm.breach, &*alarm.example), (gone.clone(), "/t/396"));
    assert_eq!(alarm.instead, Some(("/torrent/{n}.html".into(), 60)), "not what was there before");
    assert!((0.05..0.2).contains(&alarm.usual), "{}", alarm.usual);
    let told: Vec<_> = crawl.promises.alarms().map(|(rule, is_behind, _)| (rule, is_behind)).collect();
    assert_eq!(told, [(RULE, false)]);

    // The site takes its old addresses back.
    (0..4).for_each(|id| assert_eq!(crawl.visit(id, Some(Ok(()))), Step::Nothing));
    assert_eq!(crawl.visit(9, Some(Err(gone))), Step::Nothing);
    (0..4).for_each(|id| assert_eq!(crawl.visit(id, Some(Ok(()))), Step::Nothing));
    assert_eq!(crawl.visit(5, Some(Ok(()))), Step::Over);
    assert_eq!(crawl.promises.alarms().count(), 0);
}

#[test]
fn a_purge_is_no_drift_and_is_usual_from_then_on() {
    let mut crawl = Crawl::with_past(400);
    let (first, urls) = crawl.break_it(&Breach::Gone);
    let steps: Vec<Step> = urls
        .iter()
        .zip([Ok(()), Err(Breach::Gone), Ok(())])
        .map(|(url, verdict)| crawl.visit(id(url), Some(verdict)))
        .collect();
    assert_eq!(steps, [Step::Nothing, Step::Nothing, Step::Rejected]);
    let (second, _) = crawl.break_it(&Breach::Gone);
    assert!(second > first, "{second} {first}");
}

#[test]
fn confirming_urls_that_are_not_answered_decide_nothing() {
    let mut crawl = Crawl::with_past(100);
    let (_, urls) = crawl.break_it(&Breach::NoRows);
    for url in &urls {
        assert_eq!(crawl.visit(id(url), None), Step::Nothing);
    }
    assert!(matches!(crawl.visit(5_000, Some(Err(Breach::NoRows))), Step::Confirm(_)), "it is asked again");
}

#[test]
fn confirming_urls_that_are_never_asked_do_not_silence_their_rule() {
    let mut crawl = Crawl::with_past(400);
    let (_, first) = crawl.break_it(&Breach::Gone);
    (0..50).for_each(|id| assert_eq!(crawl.visit(3_000 + id, Some(Err(Breach::Gone))), Step::Nothing));
    crawl.now = crawl.now.plus(limits::PROMISE_LONE_TIME);
    let Step::Confirm(second) = crawl.visit(4_000, Some(Err(Breach::Gone))) else { panic!("others are not asked") };
    assert!(!second.is_empty() && second.iter().all(|url| !first.contains(url)), "{second:?}");
    // One of them answers; the rest does not in time.
    crawl.visit(id(&second[0]), Some(Err(Breach::Gone)));
    crawl.now = crawl.now.plus(limits::PROMISE_LONE_TIME);
    assert!(matches!(crawl.visit(4_001, Some(Err(Breach::Gone))), Step::Alarm(_)), "what is in hand decides");
    // Where nothing can be asked, the breaches alone decide.
    let mut crawl = Crawl::with_past(400);
    let last = (0..1_000).find_map(|id| {
        crawl.now = crawl.now.plus(limits::PROMISE_LONE_TIME);
        Some(crawl.visit(5_000 + id, Some(Err(Breach::Gone)))).filter(|step| matches!(step, Step::Alarm(_)))
    });
    assert!(last.is_some());
}

#[test]
fn a_page_that_stays_as_it_was_keeps_nothing_once_not_all_that_fail_are_known() {
    let mut crawl = Crawl::new();
    let same = |crawl: &mut Crawl, id: u64| {
        let key = UrlKey { host: HostId(1), path: format!("/t/{id}").into() };
        let url = KnownUrl { key, depth: 2 };
        let seen = Seen {
            rule: RULE,
            is_behind: false,
            url,
            verdict: Verdict::Same,
            parent: None,
            detail: None,
            at: crawl.now,
        };
        assert_eq!(crawl.promises.mind(seen, BTreeMap::new), Step::Nothing);
        let record = crawl.promises.records.get(RULE).unwrap();
        record.kept.iter().any(|url| *url.key.path == *format!("/t/{id}"))
    };
    assert!(same(&mut crawl, 1));
    let failing = limits::PROMISE_FAILING_MAX as u64;
    (100..=100 + failing).for_each(|id| _ = crawl.visit(id, Some(Err(Breach::Gone))));
    assert!(!same(&mut crawl, 100 + failing), "it broke the promise when it was read last");
}

#[test]
fn an_alarm_holds_no_key_and_no_token() {
    let secret = "0123456789abcdef0123456789abcdef";
    let path = format!("/download.php?id=5;sesc={secret}&passkey={secret}");
    let suspicion = Suspicion {
        example: path.as_str().into(),
        detail: Some(format!("https://t.example{path}").into()),
        ..Suspicion::default()
    };
    let url = KnownUrl { key: UrlKey { host: HostId(1), path: path.as_str().into() }, depth: 2 };
    let seen = Seen {
        rule: RULE,
        is_behind: false,
        url,
        verdict: Verdict::None,
        parent: None,
        detail: None,
        at: UnixMillis(1),
    };
    let alarm = suspicion.alarm(0.1, &seen, &BTreeMap::new());
    let stored = serde_json::to_string(&alarm).unwrap();
    assert!(stored.contains("id=5") && !stored.contains(secret), "{stored}");
    assert!(!alarm.told(RULE, false).contains(secret));
}

#[test]
fn a_rule_that_never_gave_anything_has_no_promise_to_break() {
    let mut crawl = Crawl::new();
    (0..200).for_each(|id| assert_eq!(crawl.visit(id, Some(Err(Breach::NoTarget))), Step::Nothing));
}

#[test]
fn a_rule_of_one_url_has_to_break_its_promise_for_hours() {
    let mut crawl = Crawl::new();
    (0..50).for_each(|_| assert_eq!(crawl.visit(1, Some(Ok(()))), Step::Nothing));
    (0..50).for_each(|_| assert_eq!(crawl.visit(1, Some(Err(Breach::NoRows))), Step::Nothing));
    crawl.now = crawl.now.plus(limits::PROMISE_LONE_TIME);
    assert!(matches!(crawl.visit(1, Some(Err(Breach::NoRows))), Step::Confirm(_)));
    assert!(matches!(crawl.visit(1, Some(Err(Breach::NoRows))), Step::Alarm(_)));
}

#[test]
fn a_restart_forgets_neither_alarm_nor_question_and_another_expression_begins_anew() {
    let mut crawl = Crawl::with_past(100);
    let (_, urls) = crawl.break_it(&Breach::Gone);
    let note = crawl.promises.note().unwrap();
    assert_eq!(crawl.promises.note(), None, "nothing has changed since");
    let mut again = Promises::take_up(Some(&note), |rule| rule == RULE);
    let mut asked: Vec<u64> = again.unconfirmed().map(id).collect();
    asked.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(asked, urls.iter().map(id).collect::<Vec<_>>());
    std::mem::swap(&mut crawl.promises, &mut again);
    for url in &urls {
        crawl.visit(id(url), Some(Err(Breach::Gone)));
    }
    let note = crawl.promises.note().unwrap();
    assert_eq!(Promises::take_up(Some(&note), |rule| rule == RULE).alarms().count(), 1);
    let mut none = Promises::take_up(Some(&note), |_| false);
    assert_eq!((none.alarms().count(), none.note()), (0, Some(b"{}".to_vec())), "nor is it told from the note");
    assert_eq!(Promises::take_up(Some(b"{"), |_| true).alarms().count(), 0, "a broken note");
}

#[test]
fn later_pages_have_a_promise_of_their_own() {
    let mut promises = Promises::default();
    let mut visit = |id: u64, is_behind: bool, verdict: Result<(), Breach>| {
        let key = UrlKey { host: HostId(1), path: format!("/l?page={id}").into() };
        let url = KnownUrl { key, depth: 1 };
        let seen = Seen {
            rule: RULE,
            is_behind,
            url,
            verdict: of(Some(verdict)),
            parent: None,
            detail: None,
            at: UnixMillis(id),
        };
        promises.mind(seen, BTreeMap::new)
    };
    for id in 0..40 {
        assert_eq!((visit(id, false, Ok(())), visit(id, true, Ok(()))), (Step::Nothing, Step::Nothing));
    }
    let step = (40..60)
        .map(|id| (visit(id, false, Ok(())), visit(id, true, Err(Breach::SameRows))))
        .find(|steps| steps.1 != Step::Nothing);
    assert!(matches!(step, Some((Step::Nothing, Step::Confirm(_)))), "{step:?}");
    let alarms =
        (37..40).map(|id| visit(id, true, Err(Breach::SameRows))).filter(|step| *step != Step::Nothing).count();
    assert_eq!(alarms, 1);
    assert_eq!(promises.alarms().map(|(rule, is_behind, _)| (rule, is_behind)).collect::<Vec<_>>(), [(RULE, true)]);
    let note = promises.note().unwrap();
    assert_eq!(Promises::take_up(Some(&note), |rule| rule == RULE).alarms().count(), 1);
}

#[test]
fn a_page_with_the_rows_of_another_one_is_told() {
    let mut promises = Promises::default();
    let mut repeats = |page: u64, targets: &[u64]| {
        let targets = targets.to_vec();
        promises.repeats(&Listing { series: "/l?page={page}".into(), page, page_max: 9, targets })
    };
    assert!(!repeats(0, &[1, 2, 3]) && !repeats(2, &[4, 5, 6]));
    assert!(!repeats(0, &[1, 2, 3]), "itself");
    assert!(repeats(3, &[1, 2, 3]));
    assert!(!repeats(4, &[1, 2]) && !repeats(5, &[1, 2]), "too few rows to tell");
}

#[test]
fn a_rule_that_stays_is_still_broken_unless_a_new_one_takes_what_its_pages_lack() {
    let rules = |download: &str, more: &str| {
        let text = format!(
            "start = ['https://t.example/']\n{more}\n[classes]\nindex = ['^/$']\ndetail = ['^/t/[0-9]+$']\ndownload = ['{download}']\n"
        );
        gleaner_rules::from_text("t", &text).unwrap_or_else(|faults| panic!("{faults:?}"))
    };
    let old = rules("^/get/[0-9]+$", "");
    let is = |new: &SiteRules, rule: &str, breach| is_still_broken(new, &old, rule, &breach);
    let moved = rules("^/dl/[0-9]+$", "");
    assert!(!is(&moved, RULE, Breach::NoTarget), "the new rule takes its links");
    assert!(is(&moved, RULE, Breach::Gone) && is(&old, RULE, Breach::NoTarget));
    assert!(!is(&moved, "classes.detail ^/topic/$", Breach::Gone), "it is none of the repaired file's");
    let denying = rules("^/get/[0-9]+$", "deny = ['[.]zip$']");
    assert!(is(&denying, RULE, Breach::NoTarget) && is(&denying, "classes.index ^/$", Breach::NoRows));
}
