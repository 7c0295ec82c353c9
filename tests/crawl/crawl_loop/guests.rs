//! Content for guests is no evidence of a membership, and a URL that ends the session is not requested again, whatever its name.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::login::{self, Means};
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;
use gleaner_login::secret::Secret;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::Jar;
use gleaner_store::crawldb::CrawlDb;

use super::forum::{Denial, Files, Forum, RULES, crawl, crawl_by};
use super::web::{Answer, Machine, Web, page as html, redirect, site_rules, status};

const FORM: &str = "<form action=/in method=post><input name=user><input type=password name=pass><input type=submit \
                    value='Log in'></form>";

/// The verdict of a login at a site whose start page has this text before and after the form, which is answered by `after`; and how often
/// the start page was requested.
async fn verdict(before: &str, behind: &str, after: &str, more: &str) -> (Verdict, usize) {
    let machine = Machine::new();
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let answer = if after.is_empty() { redirect("/") } else { html(after) };
    let web = Web::new(Duration::from_millis(5)).at("/", &[html(before), html(behind)]).at("/in", &[answer]);
    let web = Arc::new(web.at("/login", &[html(FORM)]).at("/me", &[html(behind)]));
    let rules = format!("login = {{ user = 'anna', {more} }}\nrate.requests_per_second = 1000000");
    let site = Site::new(site_rules(&rules), web.transport(machine.start), machine.clock(), db);
    let (rules, password, jar) = (site.rules.login.as_ref().unwrap(), Secret::new("x"), Jar::default());
    // Every visitor has one.
    jar.import("sim.example\tFALSE\t/\tFALSE\t0\tvisit\t1\n", |_| true).unwrap();
    let report = login::log_in(&site, Means { rules, password: &password, jar: &jar }).await;
    (report.judged.verdict, web.asked("/"))
}

#[tokio::test(start_paused = true)]
async fn what_a_guest_is_shown_as_well_proves_no_login() {
    let topic = "Welcome. <a href=/login>Log in</a><a href=/detail/7>Logout: where is the button?</a><a href=/detail/8>Logout</a>";
    let help = "Welcome. <a href=/login>Log in</a><a href=/help/logout>Log out</a>";
    let newest = "anna is our newest member. <a href=/login>Enter</a>";
    let came_back = format!("<p>zorb</p>{FORM}");
    for guests in [topic, help, newest] {
        for after in ["", &came_back] {
            let (verdict, _) = verdict(guests, guests, after, "").await;
            assert!(matches!(verdict, Verdict::Unknown | Verdict::ProbablyRefused), "{guests}, {after}: {verdict:?}");
        }
    }
    // For members it is evidence.
    let members = "Hello anna. <a href=/logout>Log out</a><a href=/help/logout>Log out</a><a href=/login>Log in</a>";
    for guests in [topic, help] {
        assert_eq!(verdict(guests, members, "", "").await, (Verdict::LoggedIn, 2), "{guests}");
    }
    assert_eq!(verdict(topic, "Welcome back, anna.", "", "").await.0, Verdict::LoggedIn);
    // If the start page was not visited on the way to the form, it is requested as a guest only where necessary.
    let page = "page = 'http://sim.example/login'";
    let quiet = "Welcome back. anna is our newest member.";
    assert_eq!(verdict(quiet, quiet, "", page).await, (Verdict::Unknown, 2));
    let plain = "Hello. <a href=/logout>Log out</a>";
    assert_eq!(verdict(plain, plain, "", page).await, (Verdict::LoggedIn, 1));
    // A page that the rules name for members needs no evidence; guest content on it is evidence against a login.
    let probe = format!("{page}, probe = 'http://sim.example/me'");
    assert_eq!(verdict(quiet, "Numbers.", &came_back, &probe).await.0, Verdict::LoggedIn);
    assert_eq!(verdict(quiet, "Numbers. <a href=/login>Log in</a>", "", &probe).await.0, Verdict::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_link_whose_text_is_to_log_out_is_not_followed_whatever_its_address() {
    for text in ["Log out", "Выход", "Abmelden"] {
        let machine = Machine::new();
        let bye = Some(("/detail/999", text));
        let forum = Arc::new(Forum { bye, details: 40, ..Forum::of(&machine, Denial::Redirect, u64::MAX) });
        let (ended, _) = crawl(&machine, &forum, &Files::new("secret"), RunOptions::default(), None).await;
        assert_eq!((ended, forum.counts(), forum.asked("/detail/999")), (Ended::Exhausted, (1, 0, 0), 0), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_url_that_ends_each_session_is_found_among_others_and_closed_for_good() {
    for details in [3, 40, 300] {
        let machine = Machine::new();
        let bye = Some(("/detail/999", "Bye"));
        let forum = Arc::new(Forum { bye, details, ..Forum::of(&machine, Denial::Redirect, u64::MAX) });
        let files = Files::new("secret");
        let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(ended, Ended::Exhausted, "{details}");
        let (logins, wrong, ends) = forum.counts();
        // With many requests before it, some sessions end before it is requested alone.
        let most = if details < 300 { 5 } else { 7 };
        let told = format!("{details}: {logins} logins, {ends} ends");
        assert!((2..=most).contains(&logins) && wrong == 0 && ends == logins - 1, "{told}");
        let stored = machine.outcomes().await["torrent_stored"];
        assert_eq!(stored, (0..details).filter(|n| n % 50 != 7).count() as u64, "{details}");
        let asked = forum.asked("/detail/999");
        forum.state.lock().unwrap().session = None;
        crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(forum.asked("/detail/999"), asked, "{details}: nor by the next crawl");
        assert!(forum.counts().0 <= logins + 1, "{details}");
        // URLs met under other rules are requested again, by the next crawl only.
        let rules = format!("deny = ['^/never$']\n{RULES}");
        crawl_by(&rules, &machine, &forum, &files, RunOptions::default(), None).await;
        let anew = forum.asked("/detail/999");
        assert!(anew > asked, "{details}: other rules");
        crawl_by(&rules, &machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(forum.asked("/detail/999"), anew, "{details}: the same rules again");
    }
}

/// A forum whose threads and files only members get; a guest is redirected to its login, refused, or shown the form.
fn closed(path: &str) -> Option<Answer> {
    let threads = (1..=6).map(|thread| format!("<a href=/detail/{thread}>Thread {thread}</a>")).collect::<String>();
    match path {
        "/" => Some(html(&threads)),
        _ if path.starts_with("/detail/1") || path.starts_with("/detail/2") => Some(redirect("/login")),
        _ if path.starts_with("/detail/") => Some(status(403)),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_guest_was_refused_is_asked_for_once_the_rule_file_has_a_login() {
    let machine = Machine::new();
    let rules = "rate.requests_per_second = 1000000\nrevisit_minutes = 600";
    for (rules, asked) in [(rules.to_owned(), 1), (rules.to_owned(), 0), (format!("{rules}\ndepth_max = 9"), 1)] {
        let web = Arc::new(Web::new(Duration::from_millis(5)).otherwise(closed));
        machine.crawl(&web, &rules, RunOptions::default()).await;
        let threads: Vec<usize> = (1..=6).map(|thread| web.asked(&format!("/detail/{thread}"))).collect();
        assert!(threads.iter().all(|times| *times == asked), "{threads:?}");
    }
}
