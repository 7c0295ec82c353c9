//! How the gate handles script requests: a web in memory, in virtual time.

use std::collections::HashMap;

use bytes::Bytes;
use tokio::time::Instant;

use super::*;
use crate::account::{Account, Keeper, Turn};
use crate::frontier::crews::Crew;
use crate::job::Job;
use crate::site::Site;
use crate::visit;
use gleaner_base::clock::Clock;
use gleaner_login::secret::Secret;
use gleaner_login::tries::Tries;
use gleaner_net::fetch::session::Jar;
use gleaner_net::fetch::{Body, FailureKind, FetchFailure, Resolution, Response, ResponseHeaders, Transport};
use gleaner_render::children::{self, Children};
use gleaner_rules::Class;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, HostRow, Lease, Next, Outcome, UrlKey};

/// Virtual time from a day on.
struct FromStart(Instant);

impl Clock for FromStart {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_795_132_800_000).plus(self.0.elapsed())
    }
}

struct Once(Option<Bytes>);

#[async_trait::async_trait]
impl Body for Once {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        Ok(self.0.take())
    }
}

/// Begins, and breaks off.
struct Broken(bool);

#[async_trait::async_trait]
impl Body for Broken {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        if std::mem::replace(&mut self.0, true) {
            return Err(FetchFailure { kind: FailureKind::Truncated, detail: "it broke off".to_owned() });
        }
        Ok(Some(Bytes::from_static(b"[1, 2,")))
    }
}

/// An event, and then nothing more, without an end.
struct Endless(Option<Bytes>);

#[async_trait::async_trait]
impl Body for Endless {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        match self.0.take() {
            Some(piece) => Ok(Some(piece)),
            None => std::future::pending().await,
        }
    }
}

/// Responses by URL, and a log of the requests: when, where, with which headers.
#[derive(Default)]
struct Web {
    answers: HashMap<&'static str, (u16, ResponseHeaders, &'static str)>,
    log: Mutex<Vec<(Instant, String, Vec<String>)>>,
}

#[async_trait::async_trait]
impl Transport for Web {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let headers = request.by_script.map_or_else(Vec::new, |script| {
            script.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect()
        });
        let url = request.url.as_str().to_owned();
        let found = self.answers.get(&*url).cloned();
        self.log.lock().unwrap().push((Instant::now(), url, headers));
        let (status, headers, body) = found.unwrap_or((404, ResponseHeaders::default(), ""));
        assert!(body != "panics", "a fault of ours");
        if body == "breaks off" {
            return Ok(Response { status, headers, body: Box::new(Broken(false)) });
        }
        if body == "no head" {
            std::future::pending::<()>().await;
        }
        if body.starts_with("data:") || body.starts_with(':') {
            let body = Box::new(Endless(Some(Bytes::from_static(body.as_bytes()))));
            return Ok(Response { status, headers, body });
        }
        Ok(Response { status, headers, body: Box::new(Once(Some(Bytes::from_static(body.as_bytes())))) })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution { addresses: Vec::new(), ttl: Duration::from_secs(300) })
    }
}

struct NoKeeper;

impl Keeper for NoKeeper {
    fn password(&self) -> Result<Secret, String> {
        Err("none".to_owned())
    }
    fn keep(&self, _: &Jar) -> Result<(), String> {
        Ok(())
    }
    fn take_up(&self, _: &Jar) -> Result<bool, String> {
        Ok(false)
    }
    fn turn(&self) -> Result<Option<Turn>, String> {
        Ok(None)
    }
    fn tries(&self) -> Result<Tries, String> {
        Ok(Tries::default())
    }
    fn keep_tries(&self, _: &Tries) -> Result<(), String> {
        Ok(())
    }
    fn keep_unproven(&self, _: &Jar) -> Result<(), String> {
        Ok(())
    }
    fn take_up_unproven(&self, _: &Jar) -> Result<bool, String> {
        Ok(false)
    }
    fn forget_unproven(&self) -> Result<(), String> {
        Ok(())
    }
    fn stamp(&self) -> u64 {
        0
    }
}

const RULES: &str = "start = ['http://site.example/']\nhosts = ['site.example', 'api.site.example', 'cdn.example']\n\
    deny = ['^/denied']\n[classes]\nindex = ['^/$']\n[rate]\nrequests_per_second = 1000\nrest_factor = 0\n";

/// A site whose one page is being rendered.
struct World {
    web: Arc<Web>,
    site: Site,
    hosts: Hosts,
    budget: Arc<Budget>,
    pages: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
    page: CrawlUrl,
    policy: HostPolicy,
}

fn headers(pairs: &[(&str, &str)]) -> ResponseHeaders {
    let of = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    ResponseHeaders {
        location: of("location"),
        retry_after: of("retry-after"),
        for_scripts: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..ResponseHeaders::default()
    }
}

/// URL, status, headers, body.
type Row<'a> = (&'static str, u16, &'a [(&'a str, &'a str)], &'static str);

fn world(rules: &str, answers: &[Row<'_>]) -> World {
    let answers = answers.iter().map(|(url, status, pairs, body)| (*url, (*status, headers(pairs), *body))).collect();
    let web = Arc::new(Web { answers, log: Mutex::default() });
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    let clock = Arc::new(FromStart(Instant::now()));
    let policy = policy_of(&rules, None);
    let site = Site::new(rules, Arc::new(Arc::clone(&web)), clock, Arc::new(MemoryStore::default()));
    let budget = Arc::new(Budget::default());
    budget.leaves(u64::MAX);
    World {
        web,
        site,
        hosts: Hosts::default(),
        budget,
        pages: Arc::default(),
        stop: watch::channel(false).0,
        page: CrawlUrl::parse("http://site.example/", &Canonical::default()).unwrap(),
        policy,
    }
}

impl World {
    /// The script requests of a visit, whose own connection is open until it is given back.
    async fn errands(&self, pages_max: Option<u64>) -> Errands {
        tokio::time::advance(Duration::from_millis(self.policy.interval_ms)).await;
        let requests = Arc::new(Semaphore::new(8));
        let keys = HostKeys::new("site.example", &[]);
        let slot = self.hosts.ask(&keys, self.policy, self.site.clock.now()).unwrap();
        let permit = Arc::clone(&requests).try_acquire_owned().unwrap();
        let bounds = Bounds {
            pages: Arc::clone(&self.pages),
            pages_max,
            budget: Arc::clone(&self.budget),
            stop: self.stop.subscribe(),
            end: None,
        };
        let errands = Errands::new(self.hosts.clone(), requests, Vec::new(), self.policy, bounds, Some((slot, permit)));
        errands.give_back(&self.page, self.site.clock.now());
        errands
    }

    async fn ask(&self, errands: &Errands, url: &str) -> Answer {
        self.ask_as(errands, "GET", Asker::Fetch, url).await
    }

    async fn ask_as(&self, errands: &Errands, method: &str, asker: Asker, url: &str) -> Answer {
        let request = net::Request {
            asker,
            method: method.to_owned(),
            url: url.to_owned(),
            headers: vec![("x-token".to_owned(), "abc".to_owned())],
            credentials: true,
            body: Vec::new(),
        };
        Answering { scripts: &self.site.scripts, errands, page: &self.page }.answer(request).await
    }

    fn asked(&self) -> Vec<String> {
        self.web.log.lock().unwrap().iter().map(|(_, url, _)| url.clone()).collect()
    }
}

fn why(answer: Answer) -> String {
    answer.err().unwrap_or_else(|| "it was answered".to_owned())
}

#[tokio::test(start_paused = true)]
async fn the_rules_and_robots_txt_hold_for_scripts_and_cost_no_request_of_what_they_close() {
    let world = world(
        RULES,
        &[
            ("http://site.example/robots.txt", 200, &[], "User-agent: *\nDisallow: /closed"),
            ("http://site.example/data", 200, &[], "x"),
        ],
    );
    let errands = world.errands(None).await;
    for (url, reason) in [
        ("http://elsewhere.example/data", "not one of the rule file's hosts"),
        ("http://site.example/denied", "the rules refuse it"),
        ("http://site.example/logout.php", "the rules refuse it"),
        ("http://site.example/closed/data", "robots.txt disallows it"),
        ("file:///etc/passwd", ""),
    ] {
        let told = why(world.ask(&errands, url).await);
        assert!(told.contains(reason), "{url}: {told}");
    }
    assert_eq!(world.ask(&errands, "http://site.example/data").await.unwrap().body, b"x");
    assert_eq!(world.asked(), ["http://site.example/robots.txt", "http://site.example/data"]);
    assert_eq!(errands.trouble(), Trouble::None, "what the rules refuse is no trouble");
    assert_eq!((errands.sent.load(Ordering::Relaxed), world.budget.unbooked()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_judged_like_the_request_and_takes_no_headers_to_another_origin() {
    let world = world(
        RULES,
        &[
            ("http://site.example/robots.txt", 200, &[], "User-agent: *\nDisallow: /closed"),
            ("http://site.example/away", 302, &[("location", "http://elsewhere.example/")], ""),
            ("http://site.example/in", 302, &[("location", "/closed/x")], ""),
            ("http://site.example/over", 302, &[("location", "http://api.site.example/data")], ""),
            ("http://api.site.example/data", 200, &[], "x"),
            ("http://site.example/round", 302, &[("location", "/round")], ""),
        ],
    );
    let errands = world.errands(None).await;
    assert!(why(world.ask(&errands, "http://site.example/away").await).contains("not one of the rule file's hosts"));
    assert!(why(world.ask(&errands, "http://site.example/in").await).contains("robots.txt disallows it"));
    let over = world.ask(&errands, "http://site.example/over").await.unwrap();
    assert_eq!((over.redirected, over.url.as_str()), (true, "http://api.site.example/data"));
    assert!(why(world.ask(&errands, "http://site.example/round").await).contains("too many redirects"));
    let log = world.web.log.lock().unwrap();
    let sent_with = |url: &str| log.iter().find(|(_, known, _)| known == url).map(|(_, _, headers)| headers.len());
    assert_eq!(sent_with("http://site.example/over"), Some(1));
    assert_eq!(sent_with("http://api.site.example/data"), Some(0));
}

#[tokio::test(start_paused = true)]
async fn what_starts_in_tls_stays_in_it() {
    let mut world = world(RULES, &[("http://site.example/data", 200, &[], "x")]);
    world.page = CrawlUrl::parse("https://site.example/", &Canonical::default()).unwrap();
    let errands = world.errands(None).await;
    assert!(why(world.ask(&errands, "http://site.example/data").await).contains("downgrade https"));
    assert_eq!(world.asked(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_members_page_posts_nothing_and_nobodys_page_puts_or_deletes() {
    let mut world = world(RULES, &[("http://site.example/data", 200, &[], "x")]);
    let errands = world.errands(None).await;
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let told = why(world.ask_as(&errands, method, Asker::Xhr, "http://site.example/data").await);
        assert!(told.contains("changes nothing"), "{method}: {told}");
    }
    assert!(world.ask_as(&errands, "POST", Asker::Xhr, "http://site.example/data").await.is_ok());
    world.site = world.site.with_account(Account { jar: Arc::default(), keeper: Arc::new(NoKeeper) });
    let told = why(world.ask_as(&errands, "POST", Asker::Xhr, "http://site.example/data").await);
    assert_eq!(told, "no POST is sent from a member's page");
    assert!(world.ask(&errands, "http://site.example/data").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn pages_that_run_side_by_side_share_what_the_days_budget_leaves() {
    let world = world(RULES, &[("http://site.example/data", 200, &[], "x")]);
    // robots.txt of the first page, and four more.
    world.budget.leaves(5);
    let (one, other) = (world.errands(None).await, world.errands(None).await);
    let mut answered = 0;
    for number in 0..10 {
        let errands = if number % 2 == 0 { &one } else { &other };
        answered += u32::from(world.ask(errands, "http://site.example/data").await.is_ok());
    }
    assert_eq!((answered, world.asked().len(), world.budget.unbooked()), (4, 5, 5));
    assert_eq!((one.trouble(), other.trouble()), (Trouble::KeptBack, Trouble::KeptBack));
    // The loop counts what the first page's visit reports, and updates the budget.
    world.budget.booked(one.sent.load(Ordering::Relaxed));
    world.budget.leaves(5 - one.sent.load(Ordering::Relaxed));
    assert!(world.ask(&one, "http://site.example/data").await.is_err(), "booking frees nothing");
    world.budget.leaves(6);
    assert!(world.ask(&one, "http://site.example/data").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_runs_bound_quiet_hours_and_the_end_of_the_crawl_keep_requests_back() {
    let quiet = format!("{RULES}quiet_hours = ['00:00-12:00']\n");
    for (rules, pages_max, stop, reason) in [
        (RULES, Some(3), false, "is used up"),
        (RULES, None, true, "is stopping"),
        (quiet.as_str(), None, false, "quiet_hours"),
    ] {
        let world = world(rules, &[("http://site.example/data", 200, &[], "x")]);
        world.pages.store(3, Ordering::Relaxed);
        let errands = world.errands(pages_max).await;
        world.stop.send_replace(stop);
        let told = why(world.ask(&errands, "http://site.example/data").await);
        assert!(told.contains(reason), "{told}");
        assert_eq!((errands.trouble(), world.asked().len()), (Trouble::KeptBack, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn the_crawl_delay_of_a_host_that_only_scripts_ask_is_obeyed() {
    let world = world(
        RULES,
        &[
            ("http://api.site.example/robots.txt", 200, &[], "User-agent: *\nCrawl-delay: 5"),
            ("http://api.site.example/1", 200, &[], "x"),
            ("http://api.site.example/2", 200, &[], "x"),
        ],
    );
    let errands = world.errands(None).await;
    for url in ["http://api.site.example/1", "http://api.site.example/2"] {
        world.ask(&errands, url).await.unwrap();
    }
    let log = world.web.log.lock().unwrap();
    let pauses: Vec<u64> = log.windows(2).map(|two| (two[1].0 - two[0].0).as_secs()).collect();
    assert_eq!(pauses, [5, 5], "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_asks_for_a_pause_gets_it_and_the_page_keeps_its_place() {
    let world = world(RULES, &[("http://cdn.example/data", 429, &[("retry-after", "3600")], "")]);
    let errands = world.errands(None).await;
    assert_eq!(world.ask(&errands, "http://cdn.example/data").await.unwrap().status, 429);
    assert_eq!(errands.trouble(), Trouble::Unanswered);
    let told = why(world.ask(&errands, "http://cdn.example/data").await);
    assert!(told.contains("pauses"), "{told}");
    assert_eq!(errands.trouble(), Trouble::KeptBack);
    let tidings = errands.take_tidings();
    let block = tidings[0].ending.block.as_ref().expect("a pause");
    assert_eq!(&*tidings[0].host, "cdn.example");
    assert!(block.until.since(world.site.clock.now()) >= Duration::from_secs(3_500), "{block:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_given_back_tells_that_its_host_is_forgiven() {
    let world = world(RULES, &[]);
    let row = HostRow {
        id: HostId(1),
        site: "site".into(),
        origin: "http://site.example".into(),
        blocked_until: UnixMillis(0),
        blocked_reason: "429".into(),
        complaints: 2,
    };
    world.hosts.take_up(&row, "site.example", world.site.clock.now());
    let tidings = world.errands(None).await.take_tidings();
    assert!(matches!(tidings.as_slice(), [Tiding { ending: Ending { forgiven: true, .. }, .. }]), "{tidings:?}");
    assert!(world.errands(None).await.take_tidings().is_empty(), "once");
}

#[tokio::test(start_paused = true)]
async fn a_page_at_a_slow_host_asks_no_longer_than_it_has_time_to_show_what_came() {
    let slow = RULES.replace("requests_per_second = 1000", "requests_per_second = 0.1");
    let world = world(&slow, &[("http://site.example/data", 200, &[], "x")]);
    let errands = world.errands(None).await;
    let mut answered = 0;
    let told = loop {
        match world.ask(&errands, "http://site.example/data").await {
            Ok(_) => answered += 1,
            Err(told) => break told,
        }
    };
    assert!(told.contains("time for requests is used up"), "{told}");
    assert!(errands.is_out_of_time(), "the crawl is to tell that there was more");
    assert!((20..=26).contains(&answered), "{answered} answers in {:?}", limits::RENDER_ASKING_TIME);
    assert_eq!(errands.trouble(), Trouble::None, "what came is what there is");
}

#[tokio::test(start_paused = true)]
async fn what_a_page_only_listens_by_is_not_sent_and_says_nothing_of_the_page() {
    let world = world(RULES, &[("http://site.example/socket.io/?EIO=4", 200, &[], "x")]);
    let errands = world.errands(None).await;
    let told = why(world.ask(&errands, "http://site.example/socket.io/?EIO=4").await);
    assert!(told.contains("live channel"), "{told}");
    assert_eq!((world.asked().len(), errands.trouble(), errands.is_whole()), (0, Trouble::None, true));
}

#[tokio::test(start_paused = true)]
async fn scripts_are_kept_for_the_next_page_and_data_is_not() {
    let world = world(
        RULES,
        &[
            ("http://cdn.example/lib.js", 200, &[], "1"),
            ("http://cdn.example/fresh.js", 200, &[("cache-control", "no-store")], "1"),
            ("http://cdn.example/data", 200, &[], "x"),
        ],
    );
    for _ in 0..2 {
        let errands = world.errands(None).await;
        for (asker, url) in [
            (Asker::Script, "http://cdn.example/lib.js"),
            (Asker::Module, "http://cdn.example/fresh.js"),
            (Asker::Fetch, "http://cdn.example/data"),
        ] {
            world.ask_as(&errands, "GET", asker, url).await.unwrap();
        }
    }
    let count = |url: &str| world.asked().iter().filter(|asked| *asked == url).count();
    assert_eq!(count("http://cdn.example/lib.js"), 1);
    assert_eq!(count("http://cdn.example/fresh.js"), 2);
    assert_eq!(count("http://cdn.example/data"), 2);
    tokio::time::advance(limits::SCRIPTS_KEPT_FOR).await;
    world.ask_as(&world.errands(None).await, "GET", Asker::Script, "http://cdn.example/lib.js").await.unwrap();
    assert_eq!(count("http://cdn.example/lib.js"), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_none_and_the_page_is_visited_again() {
    let world = world(
        RULES,
        &[
            ("http://site.example/data", 200, &[], "breaks off"),
            ("http://site.example/away", 302, &[("location", "/whole")], "breaks off"),
            ("http://site.example/whole", 200, &[], "x"),
        ],
    );
    let errands = world.errands(None).await;
    assert_eq!(world.ask(&errands, "http://site.example/away").await.unwrap().body, b"x");
    assert_eq!(errands.trouble(), Trouble::None, "nobody reads what a redirect says beside its target");
    assert!(why(world.ask(&errands, "http://site.example/data").await).contains("broke off"));
    assert_eq!(errands.trouble(), Trouble::Unanswered);
}

#[tokio::test(start_paused = true)]
async fn answers_for_a_child_hold_their_share_of_the_pages_own_allowance_until_it_has_them() {
    let body: &'static str = "x".repeat(limits::RENDER_BODY_BYTES_MAX - 1).leak();
    let world = world(RULES, &[("http://site.example/data", 200, &[], body)]);
    let errands = world.errands(None).await;
    let answering = Answering { scripts: &world.site.scripts, errands: &errands, page: &world.page };
    let request = |url: &str| net::Request {
        asker: Asker::Fetch,
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        credentials: true,
        body: Vec::new(),
    };
    let first = answering.reply(request("http://site.example/data")).await;
    let second = answering.reply(request("http://site.example/data")).await;
    let mut third = std::pin::pin!(answering.reply(request("http://site.example/data")));
    let waited = tokio::time::timeout(Duration::from_secs(5), &mut third).await;
    assert!(waited.is_err(), "two of them are all that one page has");
    // Another page has its own allowance, and visits have theirs.
    let other = world.errands(None).await;
    assert!(world.ask(&other, "http://site.example/data").await.is_ok());
    drop(first);
    assert_eq!(third.await.into_answer().unwrap().body.len(), body.len());
    drop(second);
}

fn job(url: &CrawlUrl) -> Job {
    let key = UrlKey { host: HostId(1), path: url.path().into() };
    let (deadline, via, memo) = (UnixMillis(u64::MAX), None, None);
    let lease = Lease { key, depth: 1, rank: 0, attempts: 0, via, memo, deadline, found: None, seq: 0 };
    Job { lease, url: url.clone(), class: Class::Index, rule: 0, crew: Crew::History, was_read: false, is_guess: false }
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_breaks_down_ends_itself_alone_and_its_url_is_tried_again() {
    let world = world(RULES, &[("http://site.example/", 200, &[], "panics")]);
    let errands = world.errands(None).await;
    let site = Arc::new(world.site);
    let finished = visit::guarded(&site, job(&world.page), None, Some(&errands)).await.unwrap();
    assert_eq!((finished.visit.outcome, finished.host.answered), (Outcome::ProtocolError, Answered::Reached));
    assert!(matches!(finished.visit.next, Next::RetryAt(_)), "{:?}", finished.visit.next);
    assert!(finished.detail.unwrap().contains("a fault of ours"));
}

#[tokio::test(start_paused = true)]
async fn a_page_for_which_no_process_can_be_started_keeps_its_place_and_is_no_vain_render() {
    let markup = "<!doctype html><title>x</title><div id=app></div><script src=/app.js></script>";
    let mut world = world(RULES, &[("http://site.example/", 200, &[], markup)]);
    let errands = world.errands(None).await;
    let missing = Children::new("/nonexistent/gleaner".into(), Vec::new(), children::Bounds::default());
    world.site = world.site.with_renderer(Arc::new(missing));
    let site = Arc::new(world.site);
    let finished = visit::guarded(&site, job(&world.page), None, Some(&errands)).await.unwrap();
    assert_eq!(errands.trouble(), Trouble::NoProcess);
    let waits = matches!(finished.visit.next, Next::WaitUntil(at) if at > finished.visit.at);
    assert!(waits, "{:?}", finished.visit.next);
    let note = String::from_utf8(site.scripts.rendered().note().unwrap_or_default()).unwrap();
    assert!(!note.contains("\"rendered\":1"), "{note}");
}

#[tokio::test(start_paused = true)]
async fn links_to_more_host_names_than_are_taken_are_told_with_their_page() {
    let links = |hosts: usize| (0..hosts).map(|host| format!("<a href=http://h{host}.site.example/>x</a>")).collect();
    for (hosts, told) in
        [(9, None), (limits::ORIGINS_PER_SITE_MAX + 2, Some("2 of its links exceed the limit of host names"))]
    {
        let markup: String = links(hosts);
        let rules = RULES.replace("'api.site.example'", "'*.site.example'");
        let world = world(&rules, &[("http://site.example/", 200, &[], markup.leak())]);
        let site = Arc::new(world.site);
        let finished = visit::guarded(&site, job(&world.page), None, None).await.unwrap();
        assert_eq!(finished.visit.outlinks.len(), hosts.min(limits::ORIGINS_PER_SITE_MAX));
        let why = finished.visit.not_whole;
        assert_eq!(why.as_deref().map(|why| &why[..told.map_or(0, str::len)]), told, "{why:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_end_is_read_for_a_while_and_is_ongoing() {
    let world = world(
        RULES,
        &[("http://site.example/events", 200, &[], "data: 1\n\n"), ("http://site.example/short", 200, &[], "x")],
    );
    let errands = world.errands(None).await;
    let stream = world.ask_as(&errands, "GET", Asker::Events, "http://site.example/events").await.unwrap();
    assert_eq!((stream.ongoing, stream.body.as_slice()), (true, &b"data: 1\n\n"[..]));
    assert!(errands.is_whole());
    let short = world.ask_as(&errands, "GET", Asker::Events, "http://site.example/short").await.unwrap();
    assert_eq!((short.ongoing, short.body.as_slice()), (false, &b"x"[..]));
}

#[tokio::test(start_paused = true)]
async fn a_stream_takes_its_time_and_no_more_and_its_end_is_no_fault() {
    let world = world(
        RULES,
        &[
            ("http://site.example/head", 200, &[], "no head"),
            ("http://site.example/comment", 200, &[], ": hello\n\n"),
            ("http://site.example/broken", 200, &[], "breaks off"),
            ("http://site.example/data", 200, &[], "x"),
        ],
    );
    let errands = world.errands(None).await;
    world.ask(&errands, "http://site.example/data").await.unwrap();
    for _ in 0..10 {
        for (path, wanted) in [("head", (0, "")), ("comment", (200, ": hello\n\n")), ("broken", (200, "[1, 2,"))] {
            let began = Instant::now();
            let url = format!("http://site.example/{path}");
            let stream = world.ask_as(&errands, "GET", Asker::Events, &url).await.unwrap();
            assert!(
                stream.ongoing && (stream.status, stream.body.as_slice()) == (wanted.0, wanted.1.as_bytes()),
                "{path}"
            );
            // The gate's interval and rounding come on top; before the first event silence cuts nothing.
            let took = began.elapsed();
            assert!(took < limits::RENDER_EVENTS_TIME + Duration::from_millis(100), "{path}: {took:?}");
            assert!(path == "broken" || took >= limits::RENDER_EVENTS_TIME, "{path}: {took:?}");
        }
    }
    assert!(errands.is_whole() && errands.trouble() == Trouble::None && errands.take_tidings().is_empty());
    let began = Instant::now();
    world.ask(&errands, "http://site.example/data").await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1), "its host is not blamed: {:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_a_page_can_do_without_neither_holds_it_back_nor_fails_it() {
    let slow = RULES.replace("requests_per_second = 1000", "requests_per_second = 0.01");
    let world = world(&slow, &[("http://site.example/data", 200, &[], "x")]);
    let errands = world.errands(None).await;
    world.ask(&errands, "http://site.example/data").await.unwrap();
    let closed = why(world.ask_as(&errands, "GET", Asker::Image, "http://elsewhere.example/i.png").await);
    assert!(closed.contains(NO_HOST), "{closed}");
    let began = Instant::now();
    for (asker, path) in [(Asker::Style, "a.css"), (Asker::Image, "i.png"), (Asker::Events, "events")] {
        let told = why(world.ask_as(&errands, "GET", asker, &format!("http://site.example/{path}")).await);
        assert!(told.contains("can do without"), "{told}");
    }
    assert!(began.elapsed() < limits::RENDER_DECORATION_GATE_TIME * 2, "it is waited for once: {:?}", began.elapsed());
    let next = world.errands(None).await;
    world.budget.leaves(0);
    let told = why(world.ask_as(&next, "GET", Asker::Style, "http://site.example/b.css").await);
    assert!(told.contains("used up"), "{told}");
    for errands in [errands, next] {
        errands.tell_closed(&world.site.scripts, &world.page);
        assert_eq!((errands.trouble(), errands.is_out_of_time()), (Trouble::None, false));
        assert!(errands.is_whole() && world.site.scripts.rendered().closed().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn sheets_and_images_that_fail_are_no_trouble_and_are_asked_for_once() {
    let world = world(
        RULES,
        &[
            ("http://site.example/a.css?v=17", 200, &[], "p {}"),
            ("http://site.example/closed.css", 403, &[("cache-control", "no-store")], ""),
            ("http://site.example/faulty.css", 500, &[], ""),
            ("http://site.example/i.png?x=1", 200, &[], "never read"),
            ("http://site.example/broken.css", 200, &[], "breaks off"),
        ],
    );
    for _ in 0..2 {
        let errands = world.errands(None).await;
        for (path, status) in [("a.css?v=17", 200), ("closed.css", 403), ("gone.css", 404)] {
            let sheet = world.ask_as(&errands, "GET", Asker::Style, &format!("http://site.example/{path}")).await;
            assert_eq!(sheet.unwrap().status, status, "{path}");
        }
        for (path, status) in [("i.png?x=1", 200), ("gone.png", 404)] {
            let image =
                world.ask_as(&errands, "GET", Asker::Image, &format!("http://site.example/{path}")).await.unwrap();
            assert_eq!((image.status, image.body.len()), (status, 0), "{path}");
        }
        for path in ["faulty.css", "broken.css"] {
            let _ = world.ask_as(&errands, "GET", Asker::Style, &format!("http://site.example/{path}")).await;
        }
        assert!(errands.is_whole() && errands.trouble() == Trouble::None);
    }
    let mut asked = world.asked();
    let once =
        asked.iter().filter(|url| !url.ends_with("robots.txt") && !url.contains("faulty") && !url.contains("broken"));
    assert_eq!(once.count(), 5, "{asked:?}");
    asked.sort();
    assert_eq!(asked.iter().filter(|url| url.contains("faulty")).count(), 2);
}
