//! Pages of an outlet in memory: what they show of hostile names, who gets them, what presses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use futures_util::StreamExt as _;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_rules::config::web::Web;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CrawlDb as _, TorrentFacts};
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::Archive;
use serde_json::json;
use tower_service::Service as _;

use crate::acts::{Act, Acted, Wish};
use crate::alarms::{Alarm, Alarms, Answer, Figures};
use crate::desk::{Desk, Due, LookFound, Mark, NewText, NotSaved, PastLook, RefusedLink, RuleText, Timetable};
use crate::tokens::{self, Scope};
use crate::{Inside, Outlet, Report, SiteWork, router};

const NOW: UnixMillis = UnixMillis(1_796_083_200_000);

/// Script, quotes, turned and control characters, 255 bytes.
fn evil() -> String {
    let mut name = "\"'><script>alert(1)</script>\u{202e}\u{1b}[31m\u{0}</title></svg>&amp;".to_owned();
    while name.len() < 255 {
        name.push('x');
    }
    name
}

struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMillis {
        NOW
    }
}

/// What was pressed.
type Pressed = Arc<Mutex<Vec<String>>>;

struct Pages {
    folder: tempfile::TempDir,
    outlet: Arc<Outlet>,
    pressed: Pressed,
    /// Pages that were made, and looks at what the crawls do.
    made: Arc<AtomicUsize>,
    looked: Arc<AtomicUsize>,
}

struct Answered {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    text: String,
}

impl Answered {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

fn alarm() -> Alarm {
    Alarm {
        id: "a-1".to_owned(),
        kind: "rows-fell".to_owned(),
        site: Some(evil()),
        title: evil(),
        since_ms: 1_796_080_000_000,
        away_since_ms: None,
        over_ms: None,
        figures: Some(Figures { of: evil(), before: 40.0, now: 3.0 }),
        rule: Some(evil()),
        page: Some("saved".to_owned()),
        todo: evil(),
        silenced_until_ms: None,
        note: Some(evil()),
    }
}

fn inside(pressed: &Pressed, made: Arc<AtomicUsize>, looked: Arc<AtomicUsize>) -> Inside {
    let site = json!({
        "name": evil(), "pages": 9, "torrents_seen": 4, "is_crawled": true, "urls_queued": 7,
        "blocked_hosts": [{"origin": evil(), "until": "2026-12-01T01:00:00Z", "reason": evil(), "waits": true}],
        "troubles": [{"class": "detail", "outcome": "denied", "detail": evil(), "visits": 3, "example": evil()}],
        "unclassed": [{"shape": evil(), "links": 2, "example": evil()}],
        "gone": {"by": {"listed": 1}, "last": [{"url": evil(), "found": "2026-12-01T00:00:00Z"}]},
    });
    let report = json!({"sites": [site], "rule_faults": [{"path": format!("rules/{}.toml", "bad"), "first": evil(), "count": 1}], "store_fault": evil()});
    let (of_acts, of_answers) = (Arc::clone(pressed), Arc::clone(pressed));
    let (of_saves, of_checks) = (Arc::clone(pressed), Arc::clone(pressed));
    let inside = Inside {
        status: Report::of(move |_| std::future::ready(Ok(Some(report.clone())))),
        act: Box::new(move |Act { site, wish, by }| {
            of_acts.lock().unwrap().push(format!("{wish:?} by {by}"));
            let is_paused = matches!(wish, Wish::Pause { .. });
            Box::pin(std::future::ready(Ok(Acted { site, is_paused, until: None, note: Some(evil()) })))
        }),
        alarms: Alarms {
            list: Box::new(move || {
                made.fetch_add(1, Ordering::Relaxed);
                Box::pin(std::future::ready(Ok(vec![alarm()])))
            }),
            answer: Box::new(move |id, answer: Answer| {
                of_answers.lock().unwrap().push(format!("{id} {answer:?}"));
                Box::pin(std::future::ready(Ok(Vec::new())))
            }),
            page: Box::new(|_| Box::pin(std::future::ready(Ok(Some(evil()))))),
        },
        works: Box::new(move || {
            let requests = looked.fetch_add(1, Ordering::Relaxed) as u64;
            let (torrents, queued, under_way) = (0, 0, 1);
            vec![SiteWork { site: evil(), requests, torrents, queued, under_way, waiting: None }]
        }),
        desk: Desk {
            examine: Box::new(move || {
                of_checks.lock().unwrap().push("examine".to_owned());
                true
            }),
            refusals: Box::new(|_| vec![refused()]),
            timetables: Box::new(|| Box::pin(std::future::ready(Ok(Arc::new(vec![timetable()]))))),
            rule_file: Box::new(|_| {
                let mark = Mark { line: 1, column: 1, message: evil(), hint: Some(evil()), is_fault: true };
                let text = RuleText {
                    path: evil(),
                    text: evil(),
                    sha256: evil(),
                    has_secrets: false,
                    marks: vec![mark],
                    versions: vec![(evil(), evil())],
                };
                Box::pin(std::future::ready(Ok(Some(text))))
            }),
            save: Box::new(move |NewText { name, text, of, by }| {
                if of == "old" {
                    return Box::pin(std::future::ready(Ok(Err(NotSaved::Changed))));
                }
                of_saves.lock().unwrap().push(format!("save {name} by {by}"));
                let mark = Mark { line: 1, column: 1, message: evil(), hint: None, is_fault: true };
                let saved = if text.contains("good") { Ok(()) } else { Err(NotSaved::Faults(vec![mark])) };
                Box::pin(std::future::ready(Ok(saved)))
            }),
            ..Desk::default()
        },
        ..Inside::default()
    };
    let fields = [("site".to_owned(), evil().into()), ("url".to_owned(), evil().into())].into_iter().collect();
    inside.log.add(gleaner_base::recent::Urgency::Warn, &evil(), fields);
    inside
}

impl Pages {
    async fn new(edit_rules: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = MemoryStore::new();
        let infohashes = Infohashes { v1: Some([7; 20]), v2: None };
        let facts = TorrentFacts {
            infohashes,
            name: evil().into(),
            payload_bytes: 5,
            file_count: 1,
            metainfo_bytes: 9,
            sha256: [0; 32],
            created_unix: Some(1),
            private: true,
        };
        db.adopt_torrent(facts, NOW).await.unwrap();
        let archive = Arc::new(Archive::open(folder.path().join("torrents"), false).unwrap());
        let pressed = Pressed::default();
        let [made, looked] = std::array::from_fn(|_| Arc::<AtomicUsize>::default());
        let settings = Web { edit_rules, ..Web::default() };
        let outlet = Outlet::new(
            (Arc::new(db), archive, Arc::new(|| None)),
            inside(&pressed, Arc::clone(&made), Arc::clone(&looked)),
            Arc::new(Still),
            settings,
            folder.path(),
        );
        Self { folder, outlet: Arc::new(outlet), pressed, made, looked }
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8717");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = router(Arc::clone(&self.outlet)).call(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        Answered { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    async fn page(&self, path: &str) -> Answered {
        self.ask(Method::GET, path, &[HTML], "").await
    }

    /// Sends a form with the code of a page.
    async fn send(&self, path: &str, code: &str, fields: &str, headers: &[(&str, &str)]) -> Answered {
        let all: Vec<(&str, &str)> = [FORM, HTML].iter().chain(headers).copied().collect();
        self.ask(Method::POST, path, &all, &format!("form={code}&back=%2Flog%3Flevel%3Dwarn&{fields}")).await
    }

    async fn code(&self) -> String {
        self.code_of(&[]).await
    }

    async fn code_of(&self, headers: &[(&str, &str)]) -> String {
        let all: Vec<(&str, &str)> = [HTML].iter().chain(headers).copied().collect();
        let page = self.ask(Method::GET, "/alarms", &all, "").await.text;
        page.split("name=\"form\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned()
    }

    fn pressed(&self) -> Vec<String> {
        std::mem::take(&mut self.pressed.lock().unwrap())
    }
}

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn refused() -> RefusedLink {
    let (rule, page, at) = (Some(evil()), evil(), "2026-12-01T00:00:00Z".to_owned());
    RefusedLink { url: evil(), why: evil(), rule, place: evil(), line: Some(3), page, at, pages: 2 }
}

fn timetable() -> Timetable {
    let due = Due { url: evil(), posts_per_day: 2.0, looked: NOW, next: Some(NOW), why: evil() };
    let past = PastLook { at: NOW, path: evil(), found: LookFound::Rows(3) };
    Timetable {
        site: evil(),
        is_full: true,
        lists: vec![due],
        looks: vec![NOW],
        past: vec![past],
        ..Timetable::default()
    }
}

/// Each page, with the site's name as its part of the path.
fn paths() -> Vec<String> {
    let (site, hash) = (super::visit::part(&evil()), "07".repeat(20));
    let mut paths: Vec<String> = [
        "/",
        "/torrents",
        "/rules",
        "/schedule",
        "/alarms",
        "/alarms/a-1",
        "/log",
        "/connect",
        "/exports",
        "/health",
        "/login",
    ]
    .map(str::to_owned)
    .into();
    paths.push(format!("/sites/{site}?range=7d"));
    paths.push(format!("/torrents/{hash}"));
    paths.push(format!("/rules/{site}?url={site}"));
    paths.push(format!("/rules/{site}?edit=1"));
    paths.push(format!("/log?text={site}&site={site}"));
    paths.push(format!("/{site}"));
    paths
}

#[tokio::test]
async fn names_of_others_break_out_of_no_page_and_pages_load_nothing_of_others() {
    let pages = Pages::new(true).await;
    for path in paths() {
        let page = pages.page(&path).await;
        let is_there = if path.starts_with("/%22") { StatusCode::NOT_FOUND } else { StatusCode::OK };
        assert_eq!(page.status, is_there, "{path}: {}", page.text);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
        for raw in ["<script>alert", "\u{202e}", "\u{1b}", "\u{0}", "</title></svg>"] {
            assert!(!page.text.contains(raw), "{path} has {raw:?}: {}", page.text);
        }
        // Each attribute ends where it is to: a quote of a name is written out.
        assert!(!page.text.contains("\"'>"), "{path}");
        assert!(!page.text.contains(" style=") && !page.text.contains("javascript:"), "{path}");
        assert_eq!(page.text.matches("<script").count(), 1, "{path}");
        let policy = page.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;")
                && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(policy.contains("form-action 'self'; frame-ancestors 'none'; base-uri 'none'"), "{policy}");
        assert_eq!((page.header("x-content-type-options"), page.header("referrer-policy")), ("nosniff", "same-origin"));
    }
    assert_eq!(pages.pressed(), [""; 0], "a page that is read starts nothing");
}

#[tokio::test]
async fn a_site_that_is_none_has_no_report_made_anew() {
    let pages = Pages::new(false).await;
    pages.page("/").await;
    let kept = async || pages.outlet.pages.status.lock().await.as_ref().map(|(_, status)| Arc::as_ptr(status));
    let before = kept().await;
    assert_eq!(pages.page("/sites/nosuch").await.status, StatusCode::NOT_FOUND);
    assert!(before.is_some() && kept().await == before);
}

#[tokio::test]
async fn a_saved_page_of_a_site_is_text() {
    let page = Pages::new(false).await.page("/alarms/a-1").await;
    assert!(
        page.text.contains("<pre>&quot;'&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\u001b[31m\\u0000"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn forms_press_without_scripts_and_lead_back_to_their_page() {
    let pages = Pages::new(true).await;
    let code = pages.code().await;
    let site = super::visit::part("a site");
    for (path, fields, done) in [
        (format!("/sites/{site}/act"), "act=pause&minutes=60", "Pause { minutes: Some(60) } by this machine"),
        (format!("/sites/{site}/act"), "act=pause", "Pause { minutes: None } by this machine"),
        (format!("/sites/{site}/act"), "act=resume", "Resume by this machine"),
        (format!("/sites/{site}/act"), "act=crawl", "Crawl by this machine"),
        ("/alarms/a-1/answer".to_owned(), "do=silence&minutes=60", "a-1 Silence { minutes: Some(60) }"),
        ("/alarms/a-1/answer".to_owned(), "do=silence&minutes=", "a-1 Silence { minutes: None }"),
        ("/alarms/a-1/answer".to_owned(), "do=note&text=seen", "a-1 Note { text: \"seen\" }"),
        ("/alarms/test".to_owned(), "", " Test"),
        ("/health/examine".to_owned(), "", "examine"),
    ] {
        let answer = pages.send(&path, &code, fields, &[]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path} {fields}: {}", answer.text);
        let to = answer.header("location").to_owned();
        assert!(to.starts_with("/log?level=warn&told="), "{to}");
        assert_eq!(pages.pressed(), [done], "{path} {fields}");
        let page = pages.page(&to).await;
        assert!(page.text.contains("role=\"status\"") && !page.text.contains("<script>alert"), "{}", page.text);
    }
}

#[tokio::test]
async fn rules_are_edited_by_who_shows_a_token_and_nothing_is_overwritten() {
    let pages = Pages::new(true).await;
    let local = pages.send("/rules/x/save", &pages.code().await, "text=good", &[]).await;
    assert!(local.status == StatusCode::FORBIDDEN && local.text.contains("with a token"), "{}", local.text);
    assert_eq!(pages.pressed(), [""; 0], "everybody who works on this machine is admitted");
    let bearer = format!("Bearer {}", tokens::create(pages.folder.path(), "editor", Scope::Admin, NOW).unwrap());
    let shown = [("authorization", &*bearer)];
    let code = pages.code_of(&shown).await;
    let good = pages.send("/rules/x/save", &code, "text=good", &shown).await;
    assert_eq!((good.status, pages.pressed()), (StatusCode::SEE_OTHER, vec!["save x by token editor".to_owned()]));
    let bad = pages.send("/rules/x/save", &code, "of=17&text=%3Cb%3E", &shown).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.text.contains("Not saved") && bad.text.contains("&lt;b&gt;</textarea>"), "{}", bad.text);
    assert!(bad.text.contains("name=\"of\" value=\"17\""), "of the same file: {}", bad.text);
    let late = pages.send("/rules/x/save", &code, "of=old&text=good", &shown).await;
    assert!(late.status == StatusCode::CONFLICT && late.text.contains("has changed"), "{}", late.text);
}

#[tokio::test]
async fn what_another_site_or_nobody_sends_presses_nothing() {
    let pages = Pages::new(false).await;
    let code = pages.code().await;
    let act = "/sites/s/act";
    for (what, code, headers, status) in [
        ("no code", "", &[][..], 403),
        ("a wrong code", "00000000000000000000000000000000", &[], 403),
        ("another origin", &code, &[("origin", "http://evil.example")], 403),
        ("another site's page", &code, &[("sec-fetch-site", "cross-site")], 403),
        ("somebody behind a proxy", &code, &[("x-forwarded-for", "1.2.3.4")], 401),
    ] {
        let answer = pages.send(act, code, "act=pause", headers).await;
        assert_eq!(answer.status.as_u16(), status, "{what}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{what}");
    }
    let json = pages
        .ask(Method::POST, act, &[("content-type", "application/json"), HTML], &format!("form={code}&act=pause"))
        .await;
    assert_eq!(json.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    for path in [act, "/alarms/a-1/answer", "/alarms/test", "/health/examine", "/rules/x/save", "/session/end"] {
        let got = pages.page(&format!("{path}?form={code}&act=pause&do=silence")).await;
        assert!(matches!(got.status.as_u16(), 404 | 405), "{path}: {}", got.status);
    }
    for wrong in ["act=pause&minutes=0", "act=pause&minutes=x", "act=", "act=delete"] {
        assert_eq!(pages.send(act, &code, wrong, &[]).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let unedited = pages.send("/rules/x/save", &code, "text=good", &[]).await;
    assert_eq!(unedited.status, StatusCode::FORBIDDEN, "[web] edit_rules is off");
    assert_eq!(pages.pressed(), [""; 0]);
    // Nor does a form lead elsewhere.
    for away in ["//evil.example", "https://evil.example", "/\\evil.example", "/%0d%0aX: y"] {
        let body = format!("form={code}&act=resume&back={}", super::visit::part(away));
        let to = pages.ask(Method::POST, act, &[FORM, HTML], &body).await;
        assert!(
            to.header("location").starts_with("/?told=") || to.header("location").starts_with("/%0d"),
            "{away}: {}",
            to.header("location")
        );
    }
}

#[tokio::test]
async fn strangers_are_led_to_the_login_and_readers_press_nothing() {
    let pages = Pages::new(true).await;
    let stranger = ("x-forwarded-for", "1.2.3.4");
    for path in paths().iter().filter(|path| !matches!(&***path, "/login")) {
        if path.starts_with("/%22") {
            continue;
        }
        let answer = pages.ask(Method::GET, path, &[HTML, stranger], "").await;
        assert_eq!((answer.status, answer.header("location")), (StatusCode::SEE_OTHER, "/login"), "{path}");
    }
    let login = pages.ask(Method::GET, "/login", &[HTML, stranger], "").await;
    assert!(
        login.status == StatusCode::OK
            && login.text.contains("action=\"/session\"")
            && !login.text.contains("Torrents"),
        "{}",
        login.text
    );
    let of = |scope| tokens::create(pages.folder.path(), scope_name(scope), scope, NOW).unwrap();
    let (reader, torznab) = (format!("Bearer {}", of(Scope::Read)), format!("Bearer {}", of(Scope::Torznab)));
    let read = pages.ask(Method::GET, "/alarms", &[HTML, stranger, ("authorization", &reader)], "").await;
    assert!(read.status == StatusCode::OK && !read.text.contains("action=\"/alarms"), "{}", read.text);
    let poor = pages.ask(Method::GET, "/", &[HTML, stranger, ("authorization", &torznab)], "").await;
    assert_eq!(poor.status, StatusCode::FORBIDDEN);
    let answer = pages.send("/alarms/test", "x", "", &[stranger, ("authorization", &reader)]).await;
    assert_eq!((answer.status, pages.pressed().len()), (StatusCode::FORBIDDEN, 0));
    let connect = pages.page("/connect").await.text;
    let secret = reader.trim_start_matches("Bearer ");
    assert!(connect.contains(">read<") && !connect.contains(secret), "{connect}");
}

fn scope_name(scope: Scope) -> &'static str {
    scope.name()
}

#[tokio::test]
async fn programs_get_what_they_got_and_assets_are_kept_for_ever() {
    let pages = Pages::new(false).await;
    for (path, headers) in [("/", &[][..]), ("/?t=caps", &[HTML]), ("/", &[("accept", "*/*")])] {
        let answer = pages.ask(Method::GET, path, headers, "").await;
        assert!(answer.text.contains("<caps>"), "{path}: {}", answer.text);
    }
    let page = pages.page("/").await.text;
    for mark in ["<link rel=\"stylesheet\" href=\"", "<script defer src=\""] {
        let path = page.split(mark).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let asset = pages.ask(Method::GET, path, &[("x-forwarded-for", "1.2.3.4")], "").await;
        assert_eq!((asset.status, asset.header("x-content-type-options")), (StatusCode::OK, "nosniff"), "{path}");
        assert!(asset.header("cache-control").ends_with("immutable"), "{path}");
    }
    let packed = pages.ask(Method::GET, "/", &[HTML, ("accept-encoding", "gzip, br")], "").await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    let missing = pages.ask(Method::GET, "/api/v1/nothing", &[HTML], "").await;
    assert_eq!(missing.header("content-type"), "application/problem+json");
}

#[tokio::test]
async fn fifty_open_pages_are_made_once_and_who_has_the_newest_is_sent_nothing() {
    let pages = Pages::new(false).await;
    let packed = [HTML, ("accept-encoding", "gzip")];
    let all = (0..50).map(|_| pages.ask(Method::GET, "/", &packed, ""));
    let answers = futures_util::future::join_all(all).await;
    assert!(
        answers.iter().all(|answer| answer.status == StatusCode::OK && answer.header("content-encoding") == "gzip")
    );
    assert_eq!(pages.made.load(Ordering::Relaxed), 1, "fifty readers, one page");
    let tag = answers[0].header("etag").to_owned();
    let known = pages.ask(Method::GET, "/", &[packed[0], packed[1], ("if-none-match", &tag)], "").await;
    assert_eq!((known.status, &*known.text), (StatusCode::NOT_MODIFIED, ""));
    assert!(known.header("content-security-policy").starts_with("default-src 'none'"));
    // Another caller gets a page of its own; what is pressed shows at once.
    let token = format!("Bearer {}", tokens::create(pages.folder.path(), "reader", Scope::Read, NOW).unwrap());
    let other = pages.ask(Method::GET, "/", &[packed[0], packed[1], ("authorization", &token)], "").await;
    assert_eq!((other.status, pages.made.load(Ordering::Relaxed)), (StatusCode::OK, 2));
    let code = pages.code().await;
    let before = pages.made.load(Ordering::Relaxed);
    pages.send("/sites/s/act", &code, "act=pause", &[]).await;
    pages.ask(Method::GET, "/", &packed, "").await;
    assert_eq!(pages.made.load(Ordering::Relaxed), before + 1);
}

#[tokio::test(start_paused = true)]
async fn fifty_streams_of_events_look_as_often_as_one() {
    const SECONDS: u64 = 10;
    let looks = async |readers: usize| {
        let pages = Pages::new(false).await;
        let heard = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for _ in 0..readers {
            let request = Request::builder().uri("/api/v1/events?brief=true&kinds=sites,torrent,log,alarm");
            let request = request.header("host", "127.0.0.1:8717").body(Body::empty()).unwrap();
            let response = router(Arc::clone(&pages.outlet)).call(request).await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let (mut stream, heard) = (response.into_body().into_data_stream(), Arc::clone(&heard));
            tasks.push(tokio::spawn(async move {
                while let Some(Ok(part)) = stream.next().await {
                    heard.fetch_add(String::from_utf8_lossy(&part).matches("event: sites").count(), Ordering::Relaxed);
                }
            }));
        }
        tokio::time::sleep(std::time::Duration::from_secs(SECONDS)).await;
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        (pages.looked.load(Ordering::Relaxed), heard.load(Ordering::Relaxed))
    };
    let ((of_one, heard_by_one), (of_fifty, heard_by_fifty)) = (looks(1).await, looks(50).await);
    assert!(
        of_fifty <= SECONDS as usize + 2 && of_one <= of_fifty,
        "{of_one} looks for one reader, {of_fifty} for fifty"
    );
    assert!(heard_by_one >= 5 && heard_by_fifty >= 50 * 5, "{heard_by_one}, {heard_by_fifty}");
}

#[tokio::test]
async fn a_search_is_saved_from_its_page_and_outlives_the_service() {
    let pages = Pages::new(false).await;
    let code = pages.code().await;
    for wrong in [
        "name=a%20b&query=linux",
        "name=.a&query=linux",
        "name=&query=linux",
        "name=all&query=",
        "name=x&query=size%3Abig",
    ] {
        assert_eq!(pages.send("/searches", &code, wrong, &[]).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(pages.send("/searches", "", "name=linux&query=linux", &[]).await.status, StatusCode::FORBIDDEN);
    let saved = pages.send("/searches", &code, "name=linux&query=linux%20-beta", &[]).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.text);
    assert_eq!(pages.send("/searches", &code, "name=linux&query=other", &[]).await.status, StatusCode::BAD_REQUEST);
    let save = async |query: &str| pages.outlet.save_search("twice", query).await;
    let (first, second) = tokio::join!(save("one"), save("other"));
    assert!(first.is_ok() != second.is_ok(), "one name, one search");
    pages.outlet.delete_search("twice").await.unwrap();
    assert!(pages.page("/connect").await.text.contains("/feeds/saved/linux.rss"));
    let listed = pages.ask(Method::GET, "/api/v1/searches", &[], "").await.text;
    assert!(listed.contains("linux -beta"), "{listed}");
    let again = crate::searches::Saved::of(pages.folder.path());
    assert_eq!(again.names(), ["linux"]);
    let deleted = pages.send("/searches/linux/delete", &code, "", &[]).await;
    assert_eq!(deleted.status, StatusCode::SEE_OTHER);
    assert!(!pages.page("/connect").await.text.contains("/feeds/saved/linux.rss"));
    assert_eq!(pages.send("/searches/linux/delete", &code, "", &[]).await.status, StatusCode::NOT_FOUND);
    // A file that is damaged is not written over.
    std::fs::write(pages.folder.path().join("searches.json"), "{").unwrap();
    assert_eq!(pages.send("/searches", &code, "name=b&query=linux", &[]).await.status, StatusCode::CONFLICT);
    assert_eq!(std::fs::read(pages.folder.path().join("searches.json")).unwrap(), b"{");
}
