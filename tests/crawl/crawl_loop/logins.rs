//! The requests of a login in a crawl: when they are sent, what delays them, how they are counted, and what is logged
//! meanwhile. `members` tests what a session is good for in the crawl.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::{Ended, SessionState};
use gleaner_crawl::site_loop::{MissingSession, SESSION_NOTE};
use gleaner_login::secret::Secret;
use gleaner_login::tries::{Ended as LoginEnded, Hold};
use gleaner_login::verdict::Verdict;
use gleaner_store::crawldb::Reader as _;

use super::forum::{Denial, Files, Forum, RULES, crawl, crawl_by};
use super::web::Machine;

/// Start of the simulated clock: 2023-11-14T22:13:20Z.
const BEGIN: u64 = 1_700_000_000_000;

/// The rules with this many seconds between two requests, and more settings of their rate.
fn slow(seconds: f64, more: &str) -> String {
    let rate = format!("requests_per_second = {}\n{more}", 1.0 / seconds);
    RULES.replace("requests_per_second = 1000000", &rate)
}

fn paths(forum: &Forum) -> Vec<String> {
    forum.requests().into_iter().map(|(_, path)| path).collect()
}

/// The hold that the next process would see.
fn hold(files: &Files, machine: &Machine) -> Option<Hold> {
    files.tries.lock().unwrap().hold("anna", &Secret::new("secret"), machine.clock().now())
}

/// Runs a crawl until it ends, and samples its state at these times.
async fn watched(
    machine: &Machine,
    crawling: impl Future<Output = (Ended, gleaner_crawl::progress::Progress)>,
    looks: &[Duration],
) -> (Ended, Vec<gleaner_crawl::progress::SiteProgress>) {
    let mut seen = Vec::new();
    let began = machine.start.elapsed();
    tokio::pin!(crawling);
    for look in looks {
        tokio::select! {
            (ended, _) = &mut crawling => panic!("{ended:?} before {look:?}"),
            () = tokio::time::sleep_until(machine.start + began + *look) => seen.push(machine.stands()),
        }
    }
    (crawling.await.0, seen)
}

#[tokio::test(start_paused = true)]
async fn each_request_of_a_login_keeps_the_crawl_delay() {
    let machine = Machine::new();
    let robots = "User-agent: *\nCrawl-delay: 30\nDisallow: /login";
    let forum = Arc::new(Forum { robots, details: 0, ..Forum::of(&machine, Denial::Redirect, u64::MAX) });
    let (ended, _) = crawl(&machine, &forum, &Files::new("secret"), RunOptions::default(), None).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    let log = forum.state.lock().unwrap().log.clone();
    let asked: Vec<&str> = log.iter().map(|(_, path)| &**path).collect();
    assert_eq!(asked[..5], ["/robots.txt", "/", "/login?return=here", "/login", "/"], "the delay is known first");
    let too_soon: Vec<_> = log.windows(2).filter(|pair| pair[1].0 - pair[0].0 < 30_000).collect();
    assert!(too_soon.is_empty(), "{too_soon:?}");
    assert!(log.last().unwrap().0 < 31_000 * log.len() as u64, "nor does it wait for longer: {log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_login_pauses_where_a_person_types_and_asks_for_its_proof_once() {
    let machine = Machine::new();
    let forum = Arc::new(Forum { details: 0, ..Forum::of(&machine, Denial::Redirect, u64::MAX) });
    let files = Files::new("secret");
    let crawling = crawl(&machine, &forum, &files, RunOptions::default(), None);
    let (ended, seen) = watched(&machine, crawling, &[Duration::from_secs(1)]).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    assert_eq!(seen[0].session, Some(SessionState::LoggingIn));
    assert!(matches!(machine.stands().session, Some(SessionState::Good { proven }) if proven.0 - BEGIN > 2_000));
    let log = forum.requests();
    // The page, its redirect, the form, and the target of its redirect; then the crawl starts.
    assert_eq!(paths(&forum)[..5], ["/", "/login?return=here", "/login", "/", "/"], "{log:?}");
    let gaps: Vec<u64> = log.windows(2).map(|pair| pair[1].0 - pair[0].0).take(3).collect();
    assert!(gaps[1] >= 2_000 && gaps[0] < 200 && gaps[2] < 200, "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_login_whose_process_is_killed_is_a_try_once_its_form_has_left_and_the_next_one_waits_and_says_for_what() {
    // Sixteen seconds between two requests: the first is for robots.txt, the second for the page with the form, and
    // the third is the form.
    let rules = slow(16.0, "");
    let kill = async |machine: &Machine, forum: &Arc<Forum>, files: &Arc<Files>, seconds: u64| {
        let crawling = crawl_by(&rules, machine, forum, files, RunOptions::default(), None);
        assert!(tokio::time::timeout(Duration::from_secs(seconds), crawling).await.is_err());
    };
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    kill(&machine, &forum, &files, 20).await;
    assert_eq!((paths(&forum), forum.counts()), (vec!["/".to_owned()], (0, 0, 0)));
    assert_eq!(hold(&files, &machine), None, "nothing was sent: nothing was tried");
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    assert!(machine.start.elapsed() < Duration::from_secs(60), "nor does it wait");

    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    kill(&machine, &forum, &files, 40).await;
    assert_eq!(forum.counts(), (1, 0, 0));
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)), "its redirect had brought the session");

    // As left by a login that was killed before its form was answered.
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let let_in = LoginEnded { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
    {
        let mut tries = files.tries.lock().unwrap();
        // A crawl does not send credentials again that were never accepted.
        tries.begin("anna", &Secret::new("secret"));
        let mut never = tries.clone();
        assert!(never.broke_off("anna", &Secret::new("secret"), machine.clock().now()));
        assert!(matches!(never.hold("anna", &Secret::new("secret"), machine.clock().now()), Some(Hold::Operator(_))));
        tries.ended(let_in, "anna", &Secret::new("secret"), machine.clock().now());
        tries.begin("anna", &Secret::new("secret"));
    }
    let crawling = crawl(&machine, &forum, &files, RunOptions::default(), None);
    let (ended, seen) = watched(&machine, crawling, &[Duration::from_secs(10)]).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    let (until, why) = seen[0].waiting.clone().expect("it waits");
    assert!((60_000..62_000).contains(&(until.0 - BEGIN)), "a minute behind the start: {until:?}");
    assert!(why.starts_with("the next try to log in: ") && why.contains("was interrupted"), "{why}");
    assert_eq!(seen[0].no_session().and_then(|(until, _)| until), Some(until));
}

#[tokio::test(start_paused = true)]
async fn a_site_that_is_to_end_sends_no_form_any_more_and_has_not_tried() {
    // During the pause before the form, and while the host's rate delays the form.
    for (seconds, stop) in [(0.001, 1), (16.0, 20)] {
        let machine = Machine::new();
        let forum = Forum::new(&machine, Denial::Form, u64::MAX);
        let files = Files::new("secret");
        let rules = slow(seconds, "");
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let stop = Duration::from_secs(stop);
        let (ended, progress) = crawl_by(&rules, &machine, &forum, &files, options, Some(stop)).await;
        assert_eq!((ended, paths(&forum), forum.counts()), (Ended::Stopped, vec!["/".to_owned()], (0, 0, 0)));
        assert!(machine.start.elapsed() < stop + Duration::from_secs(1), "nor does it wait for it");
        assert_eq!((hold(&files, &machine), progress.snapshot()["sim"].no_session()), (None, None));
        let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_has_left_is_followed_to_its_proof_before_the_end() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let stop = Some(Duration::from_millis(2_060));
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), stop).await;
    assert_eq!((ended, forum.counts()), (Ended::Stopped, (1, 0, 0)));
    assert_eq!(
        (paths(&forum), files.kept.lock().unwrap().len()),
        (["/", "/login", "/"].map(str::to_owned).to_vec(), 1)
    );
    assert_eq!(hold(&files, &machine), None);
}

#[tokio::test(start_paused = true)]
async fn requests_of_logins_count_among_those_of_the_day_also_in_the_next_process() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let rules = slow(0.5, "requests_per_day = 8");
    for _ in 0..3 {
        let (ended, _) = crawl_by(&rules, &machine, &forum, &files, RunOptions::default(), None).await;
        assert!(matches!(&ended, Ended::Budget(which) if which.contains("requests_per_day of 8")), "{ended:?}");
        assert_eq!(paths(&forum).len(), 8, "{:?}", paths(&forum));
    }
    assert_eq!(forum.counts(), (1, 0, 0));
    // If the day's remaining budget is too small for a login, only that many requests are sent.
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let rules = slow(0.5, "requests_per_day = 1");
    let stop = Some(Duration::from_secs(3_600));
    let (ended, progress) = crawl_by(&rules, &machine, &forum, &files, options, stop).await;
    assert_eq!((ended, paths(&forum), forum.counts()), (Ended::Stopped, vec!["/".to_owned()], (0, 0, 0)));
    assert_eq!((hold(&files, &machine), progress.snapshot()["sim"].no_session()), (None, None));
}

#[tokio::test(start_paused = true)]
async fn quiet_hours_that_begin_in_the_middle_of_a_login_keep_its_form_back() {
    let machine = Machine::new();
    let forum = Arc::new(Forum { details: 0, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    let files = Files::new("secret");
    let rules = slow(60.0, "quiet_hours = ['22:15-22:18']");
    let crawling = crawl_by(&rules, &machine, &forum, &files, RunOptions::default(), None);
    let (ended, seen) = watched(&machine, crawling, &[Duration::from_secs(150)]).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    let waiting = seen[0].waiting.clone().map(|(until, why)| (until.0 - BEGIN, why));
    assert_eq!(waiting, Some((280_000, "quiet_hours of the rule file".to_owned())));
    let log = forum.requests();
    assert!(log[0].0 < 100_000 && log[1].0 >= 280_000, "{log:?}");
    assert_eq!(paths(&forum)[..4], ["/", "/", "/login", "/"], "the form is looked for anew");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_patience_behind_the_form_gets_it() {
    for (retry_after, posts) in [("90", 1), ("600", 2)] {
        let machine = Machine::new();
        let forum = Arc::new(Forum {
            retry_after: Some(retry_after),
            details: 0,
            ..Forum::of(&machine, Denial::Form, u64::MAX)
        });
        forum.state.lock().unwrap().form_statuses = vec![503];
        let files = Files::new("secret");
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let stop = Some(Duration::from_secs(3_600));
        let (ended, _) = crawl(&machine, &forum, &files, options, stop).await;
        assert_eq!((ended, forum.counts()), (Ended::Stopped, (1, 0, 0)), "Retry-After: {retry_after}");
        let log = forum.requests();
        let form = log.iter().position(|(_, path)| path == "/login").unwrap();
        let wait: u64 = retry_after.parse().unwrap();
        assert!(log[form + 1].0 - log[form].0 >= wait * 1_000, "{log:?}");
        assert!(forum.asked("/login") >= posts, "{log:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn why_there_is_no_session_is_one_sentence_for_the_crawl_and_for_whoever_asks_later() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    forum.state.lock().unwrap().form_statuses = vec![500];
    let files = Files::new("secret");
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    let Ended::NotLoggedIn(told) = &ended else { panic!("{ended:?}") };
    let (why, hint) = told.split_once('\n').unwrap();
    assert!(why.contains("an error") && why.contains("500"), "{why}");
    let note = machine.db.note("sim", SESSION_NOTE).await.unwrap().expect("it is kept");
    let kept: MissingSession = serde_json::from_slice(&note).unwrap();
    assert_eq!((kept.why.as_str(), kept.stamp), (why, *files.stamp.lock().unwrap()));
    let until = kept.until.filter(|until| *until > kept.at).unwrap();
    assert_eq!(hint, format!("hint: crawl again at {} or later", until.rfc3339()));
    // Nor does the next crawl, which sends nothing, find others.
    let (again, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!((again, forum.asked("/login")), (ended, 1));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_with_nothing_left_to_fetch_ends_well_only_with_a_session() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!(ended, Ended::Exhausted);
    // Meanwhile the account is locked, which ends its session.
    let locked = Some("Your account has been locked.");
    let forum = Arc::new(Forum { refusal: locked, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    for _ in 0..2 {
        let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("locked")), "{ended:?}");
        assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("gleaner login")), "{ended:?}");
    }
    assert_eq!(forum.counts(), (0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_runs_out_of_time_without_a_session_says_so_and_not_that_it_went_well() {
    // During the first login, and in the pause after one.
    for (trouble, seconds, wanted) in [(0, 1, "before the session was proven"), (u64::MAX, 30, "hint: crawl again at ")]
    {
        let machine = Machine::new();
        let of = Forum::of(&machine, Denial::Form, u64::MAX);
        let forum = Arc::new(Forum { trouble, trouble_status: 500, trouble_moves: true, ..of });
        let options = RunOptions { time_max: Some(Duration::from_secs(seconds)), ..RunOptions::default() };
        let (ended, _) = crawl(&machine, &forum, &Files::new("secret"), options, None).await;
        assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains(wanted)), "{ended:?}");
    }
    // With one, it has what was requested.
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let options = RunOptions { time_max: Some(Duration::from_millis(2_500)), ..RunOptions::default() };
    let (ended, _) = crawl(&machine, &forum, &Files::new("secret"), options, None).await;
    assert!(matches!(&ended, Ended::Budget(which) if which.contains("--max-time")), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_mended_table_ends_the_wait_for_what_the_one_before_did_not_find() {
    let machine = Machine::new();
    let forum = Arc::new(Forum { details: 0, ..Forum::of(&machine, Denial::Words, u64::MAX) });
    let files = Files::new("secret");
    let with =
        |page: &str| RULES.replace("login.user = 'anna'", &format!("login = {{ user = 'anna', page = '{page}' }}"));
    let (wrong, right) = (with("/words"), with("/login"));
    for _ in 0..2 {
        let crawling = crawl_by(&wrong, &machine, &forum, &files, RunOptions::default(), None);
        let (ended, _) = crawling.await;
        let Ended::NotLoggedIn(why) = &ended else { panic!("{ended:?}") };
        assert!(why.contains("correct `page` in [login]") && why.contains("\nhint: crawl again at "), "{why}");
    }
    assert_eq!(forum.asked("/words"), 1, "the same table waits");
    let crawling = crawl_by(&right, &machine, &forum, &files, RunOptions::default(), None);
    assert_eq!((crawling.await.0, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_site_in_trouble_in_front_of_the_form_is_not_asked_again_by_each_process() {
    let machine = Machine::new();
    let forum = Arc::new(Forum { trouble_status: 500, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    forum.state.lock().unwrap().trouble = u64::MAX;
    let files = Files::new("secret");
    let options = RunOptions { time_max: Some(Duration::from_secs(10)), ..RunOptions::default() };
    for _ in 0..8 {
        let (ended, _) = crawl(&machine, &forum, &files, options.clone(), None).await;
        assert!(matches!(ended, Ended::NotLoggedIn(_) | Ended::Unreachable(_)), "{ended:?}");
    }
    assert!(forum.asked("/") <= 3, "{} times in eight starts", forum.asked("/"));
    assert!(matches!(hold(&files, &machine), Some(Hold::Until(..))));
}

/// A crawl whose form is accepted but whose proof never arrives: its process leaves the cookies.
async fn unproven(machine: &Machine, forum: &Arc<Forum>, files: &Arc<Files>) {
    let (ended, _) = crawl(machine, forum, files, RunOptions::default(), None).await;
    assert!(matches!(ended, Ended::NotLoggedIn(_) | Ended::Unreachable(_)), "{ended:?}");
    assert_eq!(files.kept.lock().unwrap().len(), 0);
    assert!(files.unproven.lock().unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_login_that_was_taken_and_not_proven_is_proven_first_by_the_next_process() {
    // Its session is valid, was never created, or may have expired meanwhile.
    for (holds, hours, was_let_in, forms) in
        [(true, 0, false, 0), (false, 0, false, 0), (false, 2, false, 0), (false, 2, true, 1)]
    {
        let machine = Machine::new();
        let of = Forum::of(&machine, Denial::Form, u64::MAX);
        let forum = Arc::new(Forum { trouble: u64::MAX, trouble_status: 500, details: 10, ..of });
        let files = Files::new("secret");
        if was_let_in {
            let let_in = LoginEnded { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
            files.tries.lock().unwrap().ended(let_in, "anna", &Secret::new("secret"), machine.clock().now());
        }
        unproven(&machine, &forum, &files).await;
        assert_eq!(forum.counts(), (1, 0, 0));
        forum.state.lock().unwrap().trouble = 0;
        let begun = forum.requests().len();
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let stop = Some(Duration::from_secs(6 * 3_600));
        // A second login could not be verified either, and would be the last.
        let forum = match holds {
            true => forum,
            false => {
                let requests = forum.requests();
                let again = Arc::new(Forum { details: 10, ..Forum::of(&machine, Denial::Form, u64::MAX) });
                again.state.lock().unwrap().log = requests;
                again
            }
        };
        tokio::time::advance(Duration::from_secs(hours * 3_600)).await;
        let (ended, progress) = crawl(&machine, &forum, &files, options, stop).await;
        assert_eq!(ended, Ended::Stopped);
        let next: Vec<String> = paths(&forum).split_off(begun);
        assert_eq!(next[0], "/", "the proof comes first: {next:?}");
        let sent = next.iter().filter(|path| *path == "/login").count();
        assert_eq!((sent, files.unproven.lock().unwrap().is_some()), (forms, false), "{hours} h: {next:?}");
        let waits = progress.snapshot()["sim"].no_session().map(|(until, _)| until);
        if !holds && forms == 0 {
            // Only the operator sends the same a second time.
            assert_eq!((waits, next.len()), (Some(None), 1), "{next:?}");
            assert!(matches!(hold(&files, &machine), Some(Hold::Operator(_))));
            continue;
        }
        assert_eq!(waits, None);
        let names = machine.db.site_counts("sim").await.unwrap();
        assert!(names.pages() > 0 && forum.asked("/dl/1") == 1, "{next:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_came_back_is_a_refusal_only_once_its_proof_says_so() {
    let machine = Machine::new();
    let of = Forum::of(&machine, Denial::Form, u64::MAX);
    let refusal = Some("Sorry, no match.");
    let forum = Arc::new(Forum { refusal, trouble: u64::MAX, trouble_status: 500, ..of });
    let files = Files::new("secret");
    unproven(&machine, &forum, &files).await;
    let refusal = || files.tries.lock().unwrap().refusal("anna", &Secret::new("secret"));
    assert_eq!((forum.counts(), refusal()), ((0, 1, 0), None));
    forum.state.lock().unwrap().trouble = 0;
    for _ in 0..2 {
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let stop = Some(Duration::from_secs(6 * 3_600));
        let (_, progress) = crawl(&machine, &forum, &files, options, stop).await;
        let told = progress.snapshot()["sim"].no_session().map(|(until, why)| (until, why.to_owned()));
        assert!(matches!(&told, Some((None, why)) if why.contains("probably refused")), "{told:?}");
        assert_eq!((forum.counts(), refusal()), ((0, 1, 0), Some(Verdict::ProbablyRefused)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_session_that_is_kept_is_proven_before_a_login_that_is_not() {
    let machine = Machine::new();
    let of = Forum::of(&machine, Denial::Form, u64::MAX);
    let forum = Arc::new(Forum { trouble: u64::MAX, trouble_status: 500, details: 10, ..of });
    let files = Files::new("secret");
    unproven(&machine, &forum, &files).await;
    forum.state.lock().unwrap().trouble = 0;
    // A login in a browser ends the form's session.
    files.import(forum.log_in());
    let begun = forum.requests().len();
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let (ended, _) = crawl(&machine, &forum, &files, options, Some(Duration::from_secs(6 * 3_600))).await;
    assert_eq!((ended, forum.asked("/dl/1")), (Ended::Stopped, 1));
    assert!(!paths(&forum)[begun..].contains(&"/login".to_owned()), "{:?}", paths(&forum));
}

#[tokio::test(start_paused = true)]
async fn a_login_by_hand_that_could_not_be_proven_is_what_a_waiting_service_goes_on_with() {
    // It waits for a time, or for its operator.
    for (statuses, refusal) in [(vec![429], None), (vec![], Some("Your account has been locked."))] {
        let machine = Machine::new();
        let of = Forum::of(&machine, Denial::Form, u64::MAX);
        let forum = Arc::new(Forum { refusal, details: 10, ..of });
        forum.state.lock().unwrap().form_statuses = statuses;
        let files = Files::new("secret");
        let by_hand = async {
            tokio::time::sleep(Duration::from_secs(600)).await;
            let (jar, session) = (files.session.lock().unwrap().take(), files.stamp.lock().unwrap().to_owned());
            files.import(forum.log_in());
            let unproven = std::mem::replace(&mut *files.session.lock().unwrap(), jar);
            *files.unproven.lock().unwrap() = unproven;
            *files.stamp.lock().unwrap() = session;
            {
                let mut tries = files.tries.lock().unwrap();
                tries.begin("anna", &Secret::new("secret"));
                tries.await_proof(Verdict::Unknown, machine.clock().now());
            }
            std::future::pending::<()>().await;
        };
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let stop = Some(Duration::from_secs(6 * 3_600));
        let (ended, progress) = tokio::select! {
            crawled = crawl(&machine, &forum, &files, options, stop) => crawled,
            () = by_hand => unreachable!(),
        };
        assert_eq!((ended, progress.snapshot()["sim"].no_session()), (Ended::Stopped, None));
        assert_eq!(forum.asked("/dl/1"), 1);
        let forms = forum.requests().iter().filter(|(_, path)| path == "/login").count();
        assert_eq!((forms, files.unproven.lock().unwrap().is_some()), (1, false), "{:?}", paths(&forum));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_site_asks_to_wait_at_the_proof_is_waited_by_the_next_process() {
    let machine = Machine::new();
    let of = Forum::of(&machine, Denial::Form, u64::MAX);
    let forum = Arc::new(Forum { trouble: u64::MAX, details: 10, ..of });
    let files = Files::new("secret");
    unproven(&machine, &forum, &files).await;
    forum.state.lock().unwrap().trouble = 0;
    // The host's own pause is over by then.
    tokio::time::advance(Duration::from_secs(7_200)).await;
    let until = machine.clock().now().plus(Duration::from_secs(7_200));
    files.tries.lock().unwrap().wait_as_asked(until, machine.clock().now());
    let begun = forum.requests().len();
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains(&until.rfc3339())), "{ended:?}");
    assert_eq!(forum.requests().len(), begun);
    tokio::time::advance(Duration::from_secs(7_200)).await;
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!((ended, forum.counts().0), (Ended::Exhausted, 1));
}
