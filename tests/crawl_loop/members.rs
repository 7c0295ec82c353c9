//! A forum for members only: the loop logs in by itself, notices in the middle of the crawl that its session has ended,
//! logs in once for all who wait, loses nothing by it, and stops where only its operator can go on.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gleaner::crawl::RunOptions;
use gleaner::crawl::account::{Account, Keeper, Turn};
use gleaner::crawl::login::{self, Means};
use gleaner::crawl::progress::{Ended, Progress};
use gleaner::crawl::site::Site;
use gleaner::crawldb::CrawlDb;
use gleaner::fetch::session::Jar;
use gleaner::fetch::{FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use gleaner::login::secret::Secret;
use gleaner::login::tries::Tries;
use gleaner::url::CrawlUrl;
use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};
use url::Url;

use super::web::{Machine, Piece, Web, site_rules, status as answered};

const RULES: &str = "login.user = 'anna'\nlanes = 16\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1000000\nconnections = 16\nrest_factor = 0";

/// What a guest is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denial {
    Form,
    Words,
    Redirect,
    Forbidden,
    /// A page without a link and without a word.
    Empty,
    /// Back to where the site begins, and from a torrent to its page.
    Home,
    /// What guests may see of it, with a link to log in, and torrents beside it.
    Sidebar,
}

#[derive(Default)]
struct State {
    /// The session that is a member's, by the number in its cookie.
    session: Option<u64>,
    /// Sessions so far.
    sessions: u64,
    /// Answers of a server in trouble that are still to come.
    trouble: u64,
    /// Answers to a member since the login, and when the last one was.
    answered: u64,
    answered_at: Duration,
    /// Looks of a member at the front.
    fronts: u64,
    log: Vec<(u64, String)>,
    logins: u64,
    wrong: u64,
    /// Times that a session ended.
    ended: u64,
}

struct Forum {
    denial: Denial,
    password: &'static str,
    details: usize,
    /// A session ends after so many answers, or so long after the last one.
    answers_max: u64,
    idle_max: Duration,
    /// Says the login form's answer, where no login is let in.
    refusal: Option<&'static str>,
    /// Answers of a server in trouble right behind a login.
    trouble: u64,
    robots: &'static str,
    /// From when to when the first host does not answer; its mirror always does, and knows no member.
    down: (Duration, Duration),
    start: tokio::time::Instant,
    state: Mutex<State>,
}

impl Forum {
    fn new(machine: &Machine, denial: Denial, answers_max: u64) -> Arc<Self> {
        Arc::new(Self::of(machine, denial, answers_max))
    }

    fn of(machine: &Machine, denial: Denial, answers_max: u64) -> Self {
        let state = Mutex::default();
        let start = machine.start;
        let idle_max = Duration::MAX;
        let (robots, down) = ("", (Duration::MAX, Duration::MAX));
        let (password, details, refusal, trouble) = ("secret", 300, None, 0);
        Self { denial, password, details, answers_max, idle_max, refusal, trouble, robots, down, start, state }
    }

    fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().log.iter().filter(|(_, asked)| asked == path).count()
    }

    /// Logins that were let in, those that were not, and sessions that ended.
    fn counts(&self) -> (u64, u64, u64) {
        let state = self.state.lock().unwrap();
        (state.logins, state.wrong, state.ended)
    }

    /// Logs in as a browser would; gives the cookie's number.
    fn log_in(&self) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.sessions += 1;
        (state.session, state.answered, state.answered_at) = (Some(state.sessions), 0, self.start.elapsed());
        state.sessions
    }

    /// The answer to whoever has this session's cookie.
    fn answer(
        &self,
        path: &str,
        post: Option<&[u8]>,
        cookie: Option<u64>,
        by_mirror: bool,
    ) -> (u16, Option<&'static str>, String) {
        let form = |message: &str| {
            let form = "<form action=/login method=post><input name=user><input type=password name=pass><input type=submit value='Log in'></form>";
            (200, None, format!("<p>{message}</p>{form}"))
        };
        let mut state = self.state.lock().unwrap();
        if post.is_none() && state.trouble > 0 {
            state.trouble -= 1;
            return (503, None, String::new());
        }
        if let Some(body) = post {
            state.trouble = self.trouble;
            if let Some(refusal) = self.refusal {
                state.wrong += 1;
                return form(refusal);
            }
            if body != format!("user=anna&pass={}", self.password).as_bytes() {
                state.wrong += 1;
                return form("Wrong password.");
            }
            state.logins += 1;
            drop(state);
            self.log_in();
            return (302, Some("/"), String::new());
        }
        if path == "/robots.txt" {
            return (if self.robots.is_empty() { 404 } else { 200 }, None, self.robots.to_owned());
        }
        if path == "/login" {
            return form("");
        }
        if path.starts_with("/logout") {
            state.session = None;
            return form("You have been logged out.");
        }
        if by_mirror {
            return form("Members only.");
        }
        let is_members = cookie.is_some() && cookie == state.session;
        let is_idle = self.start.elapsed().saturating_sub(state.answered_at) > self.idle_max;
        let ends = is_members && (state.answered >= self.answers_max || is_idle);
        if ends {
            state.session = None;
            state.ended += 1;
        }
        if !is_members || ends {
            return match self.denial {
                Denial::Form => form("Members only."),
                Denial::Words => (200, None, "You must log in to see this page. <a href=/login>Log in</a>".to_owned()),
                Denial::Redirect => (302, Some("/login?return=here"), String::new()),
                Denial::Forbidden if path == "/" => form("Members only."),
                Denial::Forbidden => (403, None, "no".to_owned()),
                Denial::Empty if path == "/" => (200, None, "<a href=/login>Log in</a>".to_owned()),
                Denial::Empty => (200, None, "<p>Welcome to our board.</p>".to_owned()),
                Denial::Home if path == "/" => form("Members only."),
                Denial::Home if path.starts_with("/dl/") => (302, Some("/detail/1"), String::new()),
                Denial::Home => (302, Some("/"), String::new()),
                Denial::Sidebar => {
                    let latest = "<a href=/detail/1>latest</a><a href=/dl/1>torrent</a>";
                    (200, None, format!("<a href=/login>Log in</a>{latest}"))
                }
            };
        }
        state.answered += 1;
        state.answered_at = self.start.elapsed();
        state.fronts += u64::from(path == "/");
        let number = path.rsplit('/').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0);
        let page = |body: String| (200, None, format!("<a href='/logout?key=7'>Log out [ anna ]</a>{body}"));
        match path {
            "/" => page((1..=10).map(|n| format!("<a href=/list/{n}>x</a>")).collect()),
            _ if path.starts_with("/list/") => page(
                (0..self.details)
                    .filter(|n| n % 10 + 1 == number)
                    .map(|n| format!("<a href=/detail/{n}>x</a>"))
                    .collect(),
            ),
            // What not even members may see.
            _ if path.starts_with("/detail/") && number % 50 == 7 => (403, None, "not for your class".to_owned()),
            _ if path.starts_with("/detail/") => page(format!("<a href=/dl/{number}>x</a>")),
            _ if path.starts_with("/dl/") => {
                let name = format!("{number:03}");
                let metainfo =
                    format!("d4:infod6:lengthi4e4:name3:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee");
                (200, None, metainfo)
            }
            _ => (404, None, String::new()),
        }
    }
}

struct Wire(Arc<Forum>, Arc<Jar>);

impl Wire {
    fn cookie(&self, url: &CrawlUrl) -> Option<u64> {
        let header = self.1.cookies(&url.to_url().unwrap())?;
        header.to_str().unwrap().split("; ").find_map(|pair| pair.strip_prefix("sid=")?.parse().ok())
    }

    fn set(&self, url: &CrawlUrl, cookie: &str) {
        self.1.take(&answer_with(cookie), &url.to_url().unwrap());
    }
}

#[async_trait::async_trait]
impl Transport for Wire {
    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        let addresses: Vec<IpAddr> = Vec::new();
        Ok(Resolution { addresses, ttl: Duration::from_secs(300) })
    }

    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let forum = &self.0;
        let path = request.url.path().to_owned();
        let at = u64::try_from(forum.start.elapsed().as_millis()).unwrap();
        let posted = request.post.map(|post| post.body.to_vec());
        let by_mirror = request.url.host() == "mirror.example";
        let logged = if by_mirror { format!("mirror{path}") } else { path.clone() };
        forum.state.lock().unwrap().log.push((at, logged));
        assert!(!by_mirror || posted.is_none(), "a password for the mirror");
        if !by_mirror && (forum.down.0..forum.down.1).contains(&forum.start.elapsed()) {
            return Err(FetchFailure { kind: FailureKind::Connect, detail: "down".to_owned() });
        }
        // Not all answers take the same time, so that visits overtake each other.
        tokio::time::sleep(Duration::from_millis(20 + path.len() as u64 * 7 % 23)).await;
        let logins = forum.counts().0;
        let cookie = self.cookie(request.url);
        let (status, location, body) =
            forum.answer(path.split('?').next().unwrap(), posted.as_deref(), cookie, by_mirror);
        match (posted.is_some() && forum.counts().0 > logins, cookie) {
            (true, _) => self.set(request.url, &format!("sid={}", forum.state.lock().unwrap().sessions)),
            // Guests get one, too, and members whose session has ended.
            _ if forum.state.lock().unwrap().session.is_none() => self.set(request.url, "sid=guest"),
            _ => {}
        }
        let content_type = if body.starts_with("d4:") { "application/x-bittorrent" } else { "text/html" };
        let headers = ResponseHeaders {
            content_type: Some(content_type.to_owned()),
            location: location.map(ToOwned::to_owned),
            ..ResponseHeaders::default()
        };
        Ok(Response { status, headers, body: Box::new(Piece(Some(Bytes::from(body)), false)) })
    }
}

fn answer_with(cookie: &str) -> HeaderMap {
    HeaderMap::from_iter([(SET_COOKIE, HeaderValue::from_str(cookie).unwrap())])
}

/// An operator's files, in memory.
struct Files {
    password: Mutex<&'static str>,
    tries: Mutex<Tries>,
    stamp: Mutex<u64>,
    /// The session that is written down, and each that was.
    session: Mutex<Option<Vec<u8>>>,
    kept: Mutex<Vec<String>>,
}

impl Files {
    fn new(password: &'static str) -> Arc<Self> {
        let (tries, stamp, session, kept) = Default::default();
        Arc::new(Self { password: Mutex::new(password), tries, stamp, session, kept })
    }

    /// The operator imports the cookies of a browser.
    fn import(&self, sid: u64) {
        let (jar, url) = (Jar::default(), Url::parse("http://sim.example/").unwrap());
        jar.take(&answer_with(&format!("sid={sid}")), &url);
        *self.session.lock().unwrap() = Some(jar.to_bytes());
        *self.stamp.lock().unwrap() += 1;
    }

    fn set_password(&self, password: &'static str) {
        *self.password.lock().unwrap() = password;
        *self.stamp.lock().unwrap() += 1;
    }
}

impl Keeper for Files {
    fn password(&self) -> Result<Secret, String> {
        Ok(Secret::new(*self.password.lock().unwrap()))
    }

    fn keep(&self, jar: &Jar) -> Result<(), String> {
        let bytes = jar.to_bytes();
        self.kept.lock().unwrap().push(String::from_utf8(bytes.clone()).unwrap());
        *self.session.lock().unwrap() = Some(bytes);
        // As the file's own time is another one.
        *self.stamp.lock().unwrap() += 1;
        Ok(())
    }

    fn take_up(&self, jar: &Jar) -> Result<bool, String> {
        match &*self.session.lock().unwrap() {
            None => Ok(false),
            Some(bytes) => jar.take_up(bytes).map(|taken| taken > 0).map_err(|error| error.to_string()),
        }
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        Ok(Some(Box::new(())))
    }

    fn tries(&self) -> Result<Tries, String> {
        Ok(self.tries.lock().unwrap().clone())
    }

    fn keep_tries(&self, tries: &Tries) -> Result<(), String> {
        *self.tries.lock().unwrap() = tries.clone();
        Ok(())
    }

    fn stamp(&self) -> u64 {
        *self.stamp.lock().unwrap()
    }
}

async fn crawl(
    machine: &Machine,
    forum: &Arc<Forum>,
    files: &Arc<Files>,
    options: RunOptions,
    stop_after: Option<Duration>,
) -> (Ended, Progress) {
    crawl_by(RULES, machine, forum, files, options, stop_after).await
}

async fn crawl_by(
    rules: &str,
    machine: &Machine,
    forum: &Arc<Forum>,
    files: &Arc<Files>,
    options: RunOptions,
    stop_after: Option<Duration>,
) -> (Ended, Progress) {
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let account = Account { jar: Arc::default(), keeper: Arc::<Files>::clone(files) };
    files.take_up(&account.jar).unwrap();
    let wire = Arc::new(Wire(Arc::clone(forum), Arc::clone(&account.jar)));
    let site = Site::new(site_rules(rules), wire, machine.clock(), db);
    let (ended, progress) = machine.crawl_site(site.with_account(account), options, stop_after, None).await;
    (ended.unwrap(), progress)
}

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
    ];
    for denial in all {
        let machine = Machine::new();
        let forum = Forum::new(&machine, denial, 97);
        let files = Files::new("secret");
        let (ended, _) = crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(ended, Ended::Exhausted, "{denial:?}");
        let kept = files.kept.lock().unwrap().clone();
        assert!(!kept.is_empty() && !kept.iter().any(|kept| kept.contains("guest")), "{denial:?}: {kept:?}");
        let last = format!("\"value\": \"{}\"", forum.state.lock().unwrap().sessions);
        assert!(kept.last().unwrap().contains(&last), "{denial:?}: {last} is not what was kept last: {kept:?}");
        let outcomes = outcomes(&machine).await;
        assert_eq!(outcomes["torrent_stored"], 294, "{denial:?}: {outcomes:?}");
        assert_eq!(outcomes["denied"], 6, "{denial:?}: what members may not see is told as such");
        let (logins, wrong, ended) = forum.counts();
        assert!(ended >= 5, "{denial:?}: {ended} sessions ended");
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
    // The rules look again each three hours.
    crawl(&machine, &forum, &Files::new("secret"), options, Some(hour * 24 * 4)).await;
    let (logins, wrong, ended) = forum.counts();
    assert!((28..=33).contains(&logins) && wrong == 0 && logins == ended + 1, "{logins} logins, {ended} ends");
    let fronts = forum.state.lock().unwrap().fronts;
    assert!(fronts >= 2 * logins, "a proof and a look a round: {fronts} in {logins}");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_is_broken_off_is_a_try() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("wrong");
    // Sixteen seconds between two requests: the form is there, and the process ends before it is sent. The first of them
    // asks for robots.txt.
    let slow = RULES.replace("requests_per_second = 1000000", "requests_per_second = 0.0625");
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let account = Account { jar: Arc::default(), keeper: Arc::<Files>::clone(&files) };
    let wire = Arc::new(Wire(Arc::clone(&forum), Arc::clone(&account.jar)));
    let site = Site::new(site_rules(&slow), wire, machine.clock(), db);
    let stop = Some(Duration::from_secs(20));
    machine.crawl_site(site.with_account(account), RunOptions::default(), stop, None).await.0.unwrap();
    assert_eq!(forum.counts(), (0, 0, 0));
    assert!(*files.tries.lock().unwrap() != Tries::default(), "it is written down before anything is sent");
    let began = machine.start.elapsed();
    for _ in 0..2 {
        crawl(&machine, &forum, &files, RunOptions::default(), None).await;
        assert_eq!(forum.counts(), (0, 1, 0));
    }
    assert!(machine.start.elapsed() - began >= Duration::from_secs(60), "the next one waits");
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
        // Three proofs are answered by a server in trouble.
        let forum = Arc::new(Forum { trouble: 3, refusal, ..Forum::of(&machine, Denial::Form, u64::MAX) });
        let options = RunOptions { keep_looking: true, ..RunOptions::default() };
        let files = Files::new(password);
        let (_, progress) = crawl(&machine, &forum, &files, options, Some(Duration::from_secs(86_400))).await;
        let told = progress.snapshot()["sim"].no_session.clone();
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
async fn a_session_that_the_operator_has_imported_is_taken_up_before_a_login_is_sent() {
    let machine = Machine::new();
    let forum = Forum::new(&machine, Denial::Form, u64::MAX);
    let files = Files::new("secret");
    let importing = async {
        // Login and proof take six seconds. In the middle of the crawl the browser's login ends ours, as some sites have it.
        tokio::time::sleep(Duration::from_millis(6_500)).await;
        files.import(forum.log_in());
        std::future::pending::<()>().await;
    };
    let (ended, _) = tokio::select! {
        crawled = crawl(&machine, &forum, &files, RunOptions::default(), None) => crawled,
        () = importing => unreachable!(),
    };
    assert_eq!((ended, forum.counts()), (Ended::Exhausted, (1, 0, 0)));
    assert_eq!(outcomes(&machine).await["torrent_stored"], 294);
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
    let told = progress.snapshot()["sim"].no_session.clone();
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
    assert_eq!(progress.snapshot()["sim"].no_session, None);
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
async fn while_a_mirror_stands_in_the_site_waits_for_its_session_and_says_so() {
    let slow = RULES.replace("requests_per_second = 1000000", "requests_per_second = 10");
    let rules = format!("mirrors = ['http://mirror.example']\n{slow}");
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    // Down before the first proof, and in the middle of the crawl.
    for (from, until, stop) in [(0, 1_000, 500), (20_000, 1_000_000, 21_000)] {
        let machine = Machine::new();
        let down = (Duration::from_millis(from), Duration::from_millis(from + until));
        let forum = Arc::new(Forum { down, ..Forum::of(&machine, Denial::Form, u64::MAX) });
        let files = Files::new("secret");
        let stop = Some(Duration::from_millis(stop));
        let (_, progress) = crawl_by(&rules, &machine, &forum, &files, options.clone(), stop).await;
        let told = progress.snapshot()["sim"].no_session.clone();
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
        assert_eq!(progress.snapshot()["sim"].no_session, None);
        let outcomes = outcomes(&machine).await;
        assert_eq!(outcomes["torrent_stored"], 294, "{outcomes:?}");
    }
    // A crawl that is to end does not wait for long, and says what it lacks.
    let machine = Machine::new();
    let down = (Duration::from_secs(20), Duration::from_secs(1_000_000));
    let forum = Arc::new(Forum { down, ..Forum::of(&machine, Denial::Form, u64::MAX) });
    let (ended, _) = crawl_by(&rules, &machine, &forum, &Files::new("secret"), RunOptions::default(), None).await;
    assert!(matches!(&ended, Ended::NotLoggedIn(why) if why.contains("no mirror")), "{ended:?}");
    assert!(!outcomes(&machine).await.contains_key("html_posing_as_torrent"), "a guest's answer is none");
}
