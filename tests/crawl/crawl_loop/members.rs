//! A members-only forum: the loop logs in by itself, detects during the crawl that its session has ended, logs in once for all waiting
//! visits, loses nothing, and stops if the operator has to act.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::login::{self, Means};
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;
use gleaner_login::secret::Secret;
use gleaner_net::fetch::session::Jar;
use gleaner_store::crawldb::CrawlDb;

use super::forum::{Denial, Files, Forum, RULES, crawl, crawl_by};
use super::web::{Machine, Web, page as html, redirect, site_rules, status as answered};

async fn outcomes(machine: &Machine) -> BTreeMap<&'static str, u64> {
    machine.outcomes().await
}

#[tokio::test(start_paused = true)]
async fn each_session_that_ends_costs_one_login_and_no_torrent() {
    let all = [
        Denial::Form,
        Denial::Words,
        Denial::Redirect,
        Denial::Forbidden,
        Denial::Empty,
        Denial::Home,
        Denial::Sidebar,
        Denial::Newest,
        Denial::Topic,
    ];
    for denial in all {
        let machine = Machine::new();
        let forum = Forum::new(&machine, denial, 97);
        let files = Files::new("secret");
        // Only the rule file has its URL.
        let rules = RULES.replace("login.user = 'anna'", "login = { user = 'anna', page = '/login' }");
        let rules = if denial == Denial::Newest { &*rules } else { RULES };
        let (ended, _) = crawl_by(rules, &machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(ended, Ended::Exhausted, "{denial:?}");
        let kept = files.kept.lock().unwrap().clone();
        assert!(!kept.is_empty() && !kept.iter().any(|kept| kept.contains("guest")), "{denial:?}: {kept:?}");
        let last = format!("\"value\": \"{}\"", forum.state.lock().unwrap().sessions);
        assert!(kept.last().unwrap().contains(&last), "{denial:?}: {last} is not what was kept last: {kept:?}");
        let outcomes = outcomes(&machine).await;
        assert_eq!(outcomes["torrent_stored"], 294, "{denial:?}: {outcomes:?}");
        assert_eq!(outcomes["denied"], 6, "{denial:?}: what members may not see is told as such");
        let (logins, wrong, ended) = forum.counts();
        assert!(ended >= 4, "{denial:?}: {ended} sessions ended");
        assert_eq!((logins, wrong), (ended + 1, 0), "{denial:?}");
        assert_eq!(forum.asked("/logout?key=7"), 0, "{denial:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_that_end_while_the_service_sleeps_cost_a_login_a_round_and_no_look() {
    let machine = Machine::new();
    let hour = Duration::from_secs(3_600);
    let forum = Arc::new(Forum { idle_max: hour, details: 0, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    // The rules recheck every three hours, all lists at once.
    let rules = format!("{}\n[boards]\nschedule = 'era'", super::forum::RULES);
    super::forum::crawl_by(&rules, &machine, &forum, &Files::new("secret"), options, Some(hour * 24 * 4)).await;
    let (logins, wrong, ended) = forum.counts();
    assert!((28..=33).contains(&logins) && wrong == 0 && logins == ended + 1, "{logins} logins, {ended} ends");
    let fronts = forum.state.lock().unwrap().fronts;
    assert!(fronts >= 2 * logins, "a proof and a look a round: {fronts} in {logins}");
}

#[tokio::test(start_paused = true)]
async fn a_server_in_trouble_says_nothing_of_the_session() {
    for (status, told) in [(503, None), (500, None), (429, None), (403, Some(false)), (404, Some(false))] {
        let web = Arc::new(Web::new(Duration::from_millis(5)).at("/", &[answered(status)]));
        let machine = Machine::new();
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let site = Site::new(site_rules(RULES), web.transport(machine.start), machine.clock(), db);
        let (rules, password, jar) = (site.rules.login.as_ref().unwrap(), Secret::new(""), Jar::default());
        let means = Means { rules, password: &password, jar: &jar };
        assert_eq!(login::prove(&site, means, None).await.holds, told, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_password_is_sent_once_until_it_is_another() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("wrong");
    for _ in 0..3 {
        let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("password")), "{ended:?}");
    }
    assert_eq!(forum.counts(), (0, 1, 0));
    assert_eq!(forum.asked("/list/1"), 0, "nothing is asked for without a session");
    files.set_password("secret");
    let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 1, 0)));
    assert_eq!(outcomes(&machine).await["torrent_stored"], 294);
}

#[tokio::test(start_paused = true)]
async fn a_login_whose_proof_does_not_come_is_proven_later_and_not_sent_again() {
    for (password, refusal) in [("secret", None), ("wrong", Some("Sorry, that did not work out."))] {
        let machine = Machine::new();
        // Three proofs get the response of a server in trouble.
        let forum = Arc::new(Forum { trouble: 3, refusal, ..Forum::of(&machine, Denial::Form, u64::MAX) });
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let files = Files::new(password);
        let (_, progress) = crawl(&machine, &forum, &files, options, Some(Duration::from_secs(86_400))).await;
        let told = progress.snapshot()["sim"].no_session().map(|(until, why)| (until, why.to_owned()));
        match refusal {
            None => {
                assert_eq!((forum.counts(), told), ((1, 0, 0), None));
                assert_eq!(outcomes(&machine).await["torrent_stored"], 294);
            }
            Some(_) => {
                assert_eq!(forum.counts(), (0, 1, 0), "{told:?}");
                assert!(matches!(told, Some((None, _))), "only the operator knows whether it is wrong: {told:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_behind_a_form_that_was_taken_is_kept_however_the_site_asks_for_patience() {
    // Once, which the login waits out, and often enough that the crawl requests the proof later.
    for trouble in [1, 4] {
        let machine = Machine::new();
        let of = Forum::of(&machine, Denial::Form, u64::MAX);
        let forum = Arc::new(Forum { trouble, trouble_status: 429, details: 10, ..of });
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let hours = Some(Duration::from_secs(6 * 3_600));
        let (_, progress) = crawl(&machine, &forum, &Files::new("secret"), options, hours).await;
        assert_eq!((forum.counts(), forum.asked("/login")), ((1, 0, 0), 1), "{trouble}: the password is sent once");
        assert_eq!(progress.snapshot()["sim"].no_session(), None, "{trouble}");
        assert_eq!(outcomes(&machine).await["torrent_stored"], 9);
    }
}

#[tokio::test(start_paused = true)]
async fn a_proof_that_never_comes_is_asked_for_less_and_less_and_status_says_so() {
    let forum_of = |machine: &Machine| {
        let of = Forum::of(machine, Denial::Form, u64::MAX);
        Arc::new(Forum { trouble: u64::MAX, trouble_status: 500, trouble_moves: true, ..of })
    };
    let machine = Machine::new();
    let forum = forum_of(&machine);
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let hours = Some(Duration::from_secs(6 * 3_600));
    let (_, progress) = crawl(&machine, &forum, &Files::new("secret"), options, hours).await;
    let asked = forum.asked("/home");
    assert!((5..=14).contains(&asked), "{asked} times in six hours");
    assert_eq!(forum.counts(), (1, 0, 0));
    let told = progress.snapshot()["sim"].no_session().map(|(until, why)| (until, why.to_owned()));
    let Some((Some(_), why)) = told else { panic!("{told:?}") };
    assert!(why.contains("times in a row: http://sim.example/ (hint: "), "{why}");

    // A crawl that has to end does not repeat requests forever.
    let machine = Machine::new();
    let forum = forum_of(&machine);
    let (ended, _) = crawl(&machine, &forum, &Files::new("secret"), RunOptions::default(), None).await;
    assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("in a row")), "{ended:?}");
    assert!(forum.asked("/home") <= 6, "{}", forum.asked("/home"));
}

#[tokio::test(start_paused = true)]
async fn a_login_of_two_pages_that_breaks_off_behind_the_name_has_sent_no_password() {
    let name = "<form method=post action=/name id=login>Username: <input name=username autocomplete=username>\
                <input type=submit value='Log in'></form>";
    let page = "http://sim.example/login";
    for broken in [500, 503, 429] {
        let web = Web::new(Duration::from_millis(5)).at("/login", &[html(name)]).at("/name", &[redirect("/password")]);
        let web = Arc::new(web.at("/password", &[answered(broken)]));
        let machine = Machine::new();
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let rules = format!("login = {{ user = 'anna', page = '{page}' }}\nrate.requests_per_second = 1000000");
        let site = Site::new(site_rules(&rules), web.transport(machine.start), machine.clock(), db);
        let (rules, password, jar) = (site.rules.login.as_ref().unwrap(), Secret::new("x"), Jar::default());
        let report = login::log_in(&site, Means { rules, password: &password, jar: &jar }).await;
        assert_eq!((web.asked("/name"), web.asked("/password")), (1, 1), "{:#?}", report.steps);
        assert!(!report.was_sent && !report.is_unproven() && report.came_to_nothing(), "{broken}: {report:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_the_operator_has_imported_is_taken_up_before_a_login_is_sent() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let importing = async {
        // Login and proof take two seconds. During the crawl the browser's login ends ours, as on some sites.
        tokio::time::sleep(Duration::from_millis(2_400)).await;
        files.import(forum.log_in());
        std::future::pending::<()>().await;
    };
    let (ended, _) = tokio::select! {
        crawled = crawl(&machine, &forum, &files, RunOptions::default(), None) => crawled,
        () = importing => unreachable!(),
    };
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    assert_eq!(outcomes(&machine).await["torrent_stored"], 294);
    let after = forum.requests().iter().filter(|(at, _)| *at > 2_400).count();
    assert!((100..550).contains(&after), "{after} requests came after the import");
    let kept = files.kept.lock().unwrap().clone();
    assert!(!kept.iter().skip(1).any(|kept| kept.contains("\"1\"")), "the old one is not written over it: {kept:?}");
}

#[tokio::test(start_paused = true)]
async fn the_service_waits_for_its_operator_and_says_so() {
    let machine = Machine::new();
    let locked = Some("Your account has been locked.");
    let forum = Arc::new(Forum { refusal: locked, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let day = Some(Duration::from_secs(86_400));
    let (ended, progress) = crawl(&machine, &forum, &Files::new("secret"), options.clone(), day).await;
    assert_eq!((ended, forum.counts()), (Ended::Stopped, (0, 1, 0)));
    let told = progress.snapshot()["sim"].no_session().map(|(until, why)| (until, why.to_owned()));
    assert!(matches!(&told, Some((None, why)) if why.contains("locked")), "{told:?}");

    // The operator's other password is found without a restart.
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("wrong");
    let correcting = async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        files.set_password("secret");
        std::future::pending::<()>().await;
    };
    let (ended, progress) = tokio::select! {
        crawled = crawl(&machine, &forum, &files, options, Some(Duration::from_secs(4_000))) => crawled,
        () = correcting => unreachable!(),
    };
    assert_eq!((ended, forum.counts()), (Ended::Stopped, (1, 1, 0)));
    assert_eq!(progress.snapshot()["sim"].no_session(), None);
    assert_eq!(outcomes(&machine).await["torrent_stored"], 294);
}

#[tokio::test(start_paused = true)]
async fn a_site_whose_sessions_end_at_once_is_left_alone_for_a_while() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, 3);
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let hours = Some(Duration::from_secs(6 * 3_600));
    crawl(&machine, &forum, &Files::new("secret"), options, hours).await;
    let (logins, _, _) = forum.counts();
    assert!((3..30).contains(&logins), "{logins} logins in six hours");
    let log = forum.state.lock().unwrap().log.clone();
    let pauses = log.windows(2).filter(|pair| pair[1].0 - pair[0].0 >= 3_600_000).count();
    assert!(pauses >= 3, "{pauses} pauses, {logins} logins");
}

#[tokio::test(start_paused = true)]
async fn while_a_mirror_stands_in_the_site_waits_for_its_session_and_says_so() {
    let slow = RULES.replace("requests_per_second = 1000000", "requests_per_second = 10");
    let rules = format!("mirrors = ['http://mirror.example']\n{slow}");
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    // Down before the first proof, and during the crawl.
    for (from, until, stop) in [(0, 1_000, 500), (20_000, 1_000_000, 21_000)] {
        let machine = Machine::new();
        let down = (Duration::from_millis(from), Duration::from_millis(from + until));
        let forum = Arc::new(Forum { down, ..Forum::of(&machine, Denial::Form, u64::MAX) });
        let files = Files::new("secret");
        let stop = Some(Duration::from_millis(stop));
        let (_, progress) = crawl_by(&rules, &machine, &forum, &files, options.clone(), stop).await;
        let told = progress.snapshot()["sim"].no_session().map(|(until, why)| (until, why.to_owned()));
        assert!(
            matches!(&told, Some((Some(_), why)) if why.contains("sim.example pauses") && why.contains("down")),
            "{told:?}"
        );
        let at_mirror = forum.state.lock().unwrap().log.iter().filter(|(_, path)| path.starts_with("mirror")).count();
        assert!(at_mirror <= 17, "{at_mirror} requests to who knows no member");
        // The next process has no cookies of this one.
        forum.state.lock().unwrap().session = None;
        let (ended, progress) =
            crawl_by(&rules, &machine, &forum, &files, options.clone(), Some(Duration::from_secs(3_600))).await;
        assert_eq!((ended, forum.counts().1), (Ended::Stopped, 0));
        assert_eq!(progress.snapshot()["sim"].no_session(), None);
        let outcomes = outcomes(&machine).await;
        assert_eq!(outcomes["torrent_stored"], 294, "{outcomes:?}");
    }
    // A crawl that has to end does not wait for long, and reports what is missing.
    let machine = Machine::new();
    let down = (Duration::from_secs(20), Duration::from_secs(1_000_000));
    let forum = Arc::new(Forum { down, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    let (ended, _) = crawl_by(&rules, &machine, &forum, &Files::new("secret"), RunOptions::default(), None).await;
    assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("its mirrors are never sent")), "{ended:?}");
    assert!(!outcomes(&machine).await.contains_key("html_posing_as_torrent"), "a guest's answer is none");
}
