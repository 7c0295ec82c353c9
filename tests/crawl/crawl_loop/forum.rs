//! A members-only forum as a simulated site, its operator's files, and a crawl of it in virtual time.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::RunOptions;
use gleaner_crawl::account::{Account, Keeper, Turn};
use gleaner_crawl::progress::{Ended, Progress};
use gleaner_crawl::site::Site;
use gleaner_login::secret::Secret;
use gleaner_login::tries::Tries;
use gleaner_net::fetch::session::Jar;
use gleaner_net::fetch::{FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use gleaner_store::crawldb::CrawlDb;
use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};
use url::Url;

use super::web::{Machine, Piece, site_rules};

pub const RULES: &str = "login.user = 'anna'\nlanes = 16\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1000000\nconnections = 16\nrest_factor = 0";

/// The response to a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    Form,
    Words,
    Redirect,
    Forbidden,
    /// A page without links or text.
    Empty,
    /// A redirect to the start page, and from a torrent to its page.
    Home,
    /// What guests may see, with a link to log in, and torrents as well.
    Sidebar,
    /// Everything but the files; the start page shows the user name to everybody, and nothing links to the login.
    Newest,
    /// The same, with topics titled like log-out links.
    Topic,
}

#[derive(Default)]
pub struct State {
    /// The number of the member's session, from its cookie.
    pub session: Option<u64>,
    /// Sessions so far.
    pub sessions: u64,
    /// Remaining responses of a server in trouble.
    pub trouble: u64,
    /// Statuses of the next responses to forms, whose content is ignored.
    pub form_statuses: Vec<u16>,
    /// Responses to a member since the login, and the time of the last one.
    pub answered: u64,
    pub answered_at: Duration,
    /// Visits of the front page by a member.
    pub fronts: u64,
    pub log: Vec<(u64, String)>,
    pub logins: u64,
    pub wrong: u64,
    /// How often a session ended.
    pub ended: u64,
}

pub struct Forum {
    pub denial: Denial,
    pub password: &'static str,
    pub details: usize,
    /// A session ends after this many responses, or this long after the last one.
    pub answers_max: u64,
    pub idle_max: Duration,
    /// The login form's response, if it rejects all logins.
    pub refusal: Option<&'static str>,
    /// Responses of a server in trouble right after a login, their status, and whether the front page redirects to them.
    pub trouble: u64,
    pub trouble_status: u16,
    pub trouble_moves: bool,
    pub robots: &'static str,
    /// The `Retry-After` of a server in trouble.
    pub retry_after: Option<&'static str>,
    /// When the first host does not respond; its mirror always does, and knows no members.
    pub down: (Duration, Duration),
    /// A link on the start page that ends the session, and its text.
    pub bye: Option<(&'static str, &'static str)>,
    pub start: tokio::time::Instant,
    pub state: Mutex<State>,
}

impl Forum {
    pub fn new(machine: &Machine, denial: Denial, answers_max: u64) -> Arc<Self> {
        Arc::new(Self::of(machine, denial, answers_max))
    }

    pub fn of(machine: &Machine, denial: Denial, answers_max: u64) -> Self {
        let state = Mutex::default();
        let start = machine.start;
        let idle_max = Duration::MAX;
        let (robots, retry_after, down) = ("", None, (Duration::MAX, Duration::MAX));
        let (password, details, refusal, trouble) = ("secret", 300, None, 0);
        Self {
            denial,
            password,
            details,
            answers_max,
            idle_max,
            refusal,
            trouble,
            trouble_status: 503,
            trouble_moves: false,
            robots,
            retry_after,
            down,
            bye: None,
            start,
            state,
        }
    }

    pub fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().log.iter().filter(|(_, asked)| asked == path).count()
    }

    /// Accepted logins, rejected ones, and sessions that ended.
    pub fn counts(&self) -> (u64, u64, u64) {
        let state = self.state.lock().unwrap();
        (state.logins, state.wrong, state.ended)
    }

    /// Requests except robots.txt, with their times in milliseconds.
    pub fn requests(&self) -> Vec<(u64, String)> {
        let log = self.state.lock().unwrap().log.clone();
        log.into_iter().filter(|(_, path)| path != "/robots.txt").collect()
    }

    /// Logs in like a browser; returns the cookie's number.
    pub fn log_in(&self) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.sessions += 1;
        (state.session, state.answered, state.answered_at) = (Some(state.sessions), 0, self.start.elapsed());
        state.sessions
    }

    /// The response for this session's cookie.
    pub fn answer(
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
        if post.is_none() && state.trouble > 0 && path != "/robots.txt" {
            if self.trouble_moves && path == "/" {
                return (302, Some("/home"), String::new());
            }
            state.trouble -= 1;
            return (self.trouble_status, None, String::new());
        }
        if let Some(body) = post {
            if let Some(status) = state.form_statuses.pop() {
                return (status, None, String::new());
            }
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
                Denial::Newest | Denial::Topic if path.starts_with("/dl/") || path.ends_with('7') => {
                    (403, None, "no".to_owned())
                }
                Denial::Newest => {
                    let lists: String = (1..=10).map(|n| format!("<a href=/list/{n}>x</a>")).collect();
                    let number = path.rsplit('/').next().unwrap_or_default();
                    (200, None, format!("anna is our newest member {lists}<a href=/dl/{number}>torrent</a>"))
                }
                Denial::Topic => {
                    let topics = "<a href=/detail/7>Logout: where is the button?</a><a href=/detail/8>Logout</a>";
                    let words = "Welcome guest, you must log in to download.";
                    (200, None, format!("{words}<a href=/login>Log in</a>{topics}"))
                }
                Denial::Sidebar => {
                    let latest = "<a href=/detail/1>latest</a><a href=/dl/1>torrent</a>";
                    (200, None, format!("<a href=/login>Log in</a>{latest}"))
                }
            };
        }
        if self.bye.is_some_and(|(bye, _)| path == bye) {
            state.session = None;
            state.ended += 1;
            return (302, Some("/login"), String::new());
        }
        state.answered += 1;
        state.answered_at = self.start.elapsed();
        state.fronts += u64::from(path == "/");
        let number = path.rsplit('/').next().and_then(|number| number.parse::<usize>().ok()).unwrap_or(0);
        let page = |body: String| (200, None, format!("<a href='/logout?key=7'>Log out [ anna ]</a>{body}"));
        match path {
            "/" => {
                let bye = self.bye.map_or_else(String::new, |(path, text)| format!("<a href={path}>{text}</a>"));
                page((1..=10).map(|n| format!("<a href=/list/{n}>x</a>")).fold(bye, |all, link| all + &link))
            }
            _ if path.starts_with("/list/") => page(
                (0..self.details)
                    .filter(|n| n % 10 + 1 == number)
                    .map(|n| format!("<a href=/detail/{n}>x</a>"))
                    .collect(),
            ),
            // Not even members may see this.
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

pub struct Wire(pub Arc<Forum>, pub Arc<Jar>);

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
        // Response times differ, so that visits overtake each other.
        tokio::time::sleep(Duration::from_millis(20 + path.len() as u64 * 7 % 23)).await;
        let logins = forum.counts().0;
        let cookie = self.cookie(request.url);
        let (status, location, body) =
            forum.answer(path.split('?').next().unwrap(), posted.as_deref(), cookie, by_mirror);
        match (posted.is_some() && forum.counts().0 > logins, cookie) {
            (true, _) => self.set(request.url, &format!("sid={}", forum.state.lock().unwrap().sessions)),
            // Guests get a cookie, too, and so do members whose session has ended.
            _ if forum.state.lock().unwrap().session.is_none() => self.set(request.url, "sid=guest"),
            _ => {}
        }
        let content_type = if body.starts_with("d4:") { "application/x-bittorrent" } else { "text/html" };
        let headers = ResponseHeaders {
            content_type: Some(content_type.to_owned()),
            location: location.map(ToOwned::to_owned),
            retry_after: self.0.retry_after.filter(|_| status >= 500).map(ToOwned::to_owned),
            ..ResponseHeaders::default()
        };
        Ok(Response { status, headers, body: Box::new(Piece(Some(Bytes::from(body)), false)) })
    }
}

fn answer_with(cookie: &str) -> HeaderMap {
    HeaderMap::from_iter([(SET_COOKIE, HeaderValue::from_str(cookie).unwrap())])
}

/// An operator's files, in memory.
pub struct Files {
    pub password: Mutex<&'static str>,
    pub tries: Mutex<Tries>,
    pub stamp: Mutex<u64>,
    /// The stored session, and all stored ones.
    pub session: Mutex<Option<Vec<u8>>>,
    /// The session whose proof is pending.
    pub unproven: Mutex<Option<Vec<u8>>>,
    pub kept: Mutex<Vec<String>>,
}

impl Files {
    pub fn new(password: &'static str) -> Arc<Self> {
        let (tries, stamp, session, unproven, kept) = Default::default();
        Arc::new(Self { password: Mutex::new(password), tries, stamp, session, unproven, kept })
    }

    /// The operator imports the cookies of a browser.
    pub fn import(&self, sid: u64) {
        let (jar, url) = (Jar::default(), Url::parse("http://sim.example/").unwrap());
        jar.take(&answer_with(&format!("sid={sid}")), &url);
        *self.session.lock().unwrap() = Some(jar.to_bytes());
        *self.stamp.lock().unwrap() += 1;
    }

    pub fn set_password(&self, password: &'static str) {
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
        *self.unproven.lock().unwrap() = None;
        // The file's own time would change as well.
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

    fn keep_unproven(&self, jar: &Jar) -> Result<(), String> {
        *self.unproven.lock().unwrap() = Some(jar.to_bytes());
        Ok(())
    }

    fn take_up_unproven(&self, jar: &Jar) -> Result<bool, String> {
        let is_this = self.tries()?.has_begun("anna", &self.password()?);
        match self.unproven.lock().unwrap().as_deref().filter(|_| is_this) {
            None => Ok(false),
            Some(bytes) => jar.take_up(bytes).map(|_| true).map_err(|error| error.to_string()),
        }
    }

    fn forget_unproven(&self) -> Result<(), String> {
        *self.unproven.lock().unwrap() = None;
        Ok(())
    }

    fn stamp(&self) -> u64 {
        *self.stamp.lock().unwrap()
    }
}

pub async fn crawl(
    machine: &Machine,
    forum: &Arc<Forum>,
    files: &Arc<Files>,
    options: RunOptions,
    stop_after: Option<Duration>,
) -> (Ended, Progress) {
    crawl_by(RULES, machine, forum, files, options, stop_after).await
}

pub async fn crawl_by(
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
