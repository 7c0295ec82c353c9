//! HTTP Basic authentication over real sockets on loopback.

use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::super::{Means, Report, log_in, prove};
use crate::site::Site;
use gleaner_base::clock::SystemClock;
use gleaner_login::challenge::basic_token;
use gleaner_login::secret::Secret;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::dns::Dns;
use gleaner_net::fetch::http::{ClientOptions, HttpTransport};
use gleaner_net::fetch::resolve::AddressPolicy;
use gleaner_net::fetch::session::Jar;
use gleaner_net::fetch::tls::Tls;
use gleaner_store::crawldb::memory_store::MemoryStore;
use std::sync::Arc;
use std::time::Duration;

/// `anna:s3cret`
const PAIR: &str = "YW5uYTpzM2NyZXQ=";

const ASKS: &str = "WWW-Authenticate: Digest realm=\"a, b\"\r\nWWW-Authenticate: Basic realm=\"seedbox\"\r\n";

/// A site whose paths below these prefixes need the pair, and the requests that it got: path, and whether with the pair.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<(String, bool)>>>,
}

impl Server {
    async fn new(closed: &'static [&'static str], asks: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<Mutex<Vec<(String, bool)>>>::default();
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = vec![0; 16_384];
                let length = socket.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let has_pair =
                    request.to_lowercase().contains(&format!("authorization: basic {PAIR}\r\n").to_lowercase());
                let is_closed = closed.iter().any(|prefix| path.starts_with(prefix)) && !has_pair;
                log.lock().unwrap().push((path, request.to_lowercase().contains("authorization:")));
                let (status, more) = if is_closed { ("401 Unauthorized", asks) } else { ("200 OK", "") };
                let body = "<title>x</title><a href=/members/>log in</a><a href=/dl/1>a</a>";
                let head =
                    format!("HTTP/1.1 {status}\r\n{more}Content-Type: text/html\r\nContent-Length: {}", body.len());
                let _ = socket.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes()).await;
                let _ = socket.shutdown().await;
            }
        });
        Self { port, asked }
    }

    fn site(&self, more: &str) -> (Site, Arc<Jar>) {
        let port = self.port;
        let text = format!(
            "start = ['http://127.0.0.1:{port}/']\n[classes]\nindex = ['^/$']\n[rate]\nrequests_per_second = 1000\n\
             [login]\nuser = 'anna'\n{more}"
        );
        let rules = gleaner_rules::from_text("site", &text).unwrap();
        let jar = Arc::<Jar>::default();
        let transport = HttpTransport::new(&ClientOptions {
            user_agent: "gleaner-test",
            headers: &[],
            proxy: None,
            addresses: AddressPolicy::Any,
            dns: Dns::default(),
            tls: Tls::default(),
            cookies: Arc::clone(&jar),
            connections_max: 2,
            timeout: Duration::from_secs(30),
        });
        let site =
            Site::new(rules, Arc::new(transport.unwrap()), Arc::new(SystemClock), Arc::new(MemoryStore::default()));
        (site, jar)
    }

    fn asked(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

async fn logged_in(site: &Site, jar: &Jar, password: &str) -> Report {
    let password = Secret::new(password);
    log_in(site, Means { rules: site.rules.login.as_ref().unwrap(), password: &password, jar }).await
}

async fn holds(site: &Site, jar: &Jar) -> Option<bool> {
    let nothing = Secret::new("");
    prove(site, Means { rules: site.rules.login.as_ref().unwrap(), password: &nothing, jar }, None).await.holds
}

fn log(rows: &[(&str, bool)]) -> Vec<(String, bool)> {
    rows.iter().map(|(path, has_header)| ((*path).to_owned(), *has_header)).collect()
}

#[tokio::test]
async fn the_page_that_asks_is_asked_again_with_the_pair_which_no_report_shows() {
    let server = Server::new(&["/"], ASKS).await;
    let (site, jar) = server.site("");
    let report = logged_in(&site, &jar, "s3cret").await;
    assert_eq!(report.judged.verdict, Verdict::LoggedIn, "{report:#?}");
    assert!(report.was_sent && report.was_answered);
    assert_eq!(server.asked(), log(&[("/", false), ("/", true)]));
    let told = format!("{report:?}");
    assert!(!told.contains("s3cret") && !told.contains(PAIR.trim_end_matches('=')), "{told}");
    assert_eq!(holds(&site, &jar).await, Some(true));
    // The next process reads its file, and its keeper sets the pair again.
    let (again, kept) = server.site("");
    kept.take_up(&jar.to_bytes()).unwrap();
    assert_eq!(holds(&again, &kept).await, Some(false));
    kept.arm_basic(&basic_token("anna", &Secret::new("s3cret")).unwrap());
    assert_eq!(holds(&again, &kept).await, Some(true));
    assert_eq!(server.asked(), log(&[("/", true), ("/", false), ("/", true)]));
}

#[tokio::test]
async fn a_second_401_is_a_wrong_password_and_is_sent_once() {
    let server = Server::new(&["/"], ASKS).await;
    let (site, jar) = server.site("");
    let report = logged_in(&site, &jar, "other").await;
    assert_eq!(report.judged.verdict, Verdict::WrongPassword);
    assert_eq!(report.ended(true).verdict, Verdict::WrongPassword, "even if the site accepted it before");
    assert_eq!(server.asked(), log(&[("/", false), ("/", true)]));
}

#[tokio::test]
async fn a_linked_page_or_the_probe_may_be_the_one_that_asks() {
    let server = Server::new(&["/members/"], ASKS).await;
    let (site, jar) = server.site("");
    let report = logged_in(&site, &jar, "s3cret").await;
    assert_eq!(report.judged.verdict, Verdict::LoggedIn, "{report:#?}");
    assert_eq!(server.asked(), log(&[("/", false), ("/members/", false), ("/members/", true)]));
    assert_eq!(holds(&site, &jar).await, Some(true));
    assert_eq!(server.asked(), log(&[("/members/", true)]), "the start page proves nothing");

    let server = Server::new(&["/private"], ASKS).await;
    let (site, jar) = server.site("probe = '/private'");
    let report = logged_in(&site, &jar, "s3cret").await;
    assert_eq!(report.judged.verdict, Verdict::LoggedIn, "{report:#?}");
    assert_eq!(server.asked().last(), Some(&("/private".to_owned(), true)));
}

#[tokio::test]
async fn other_schemes_are_named_and_nothing_is_sent() {
    let server = Server::new(&["/"], "WWW-Authenticate: Digest realm=\"x\", nonce=\"1\"\r\n").await;
    let (site, jar) = server.site("");
    let report = logged_in(&site, &jar, "s3cret").await;
    assert_eq!((report.judged.verdict, report.was_sent), (Verdict::NoForm, false));
    assert!(report.sentence().contains("HTTP authentication"), "{}", report.sentence());
    assert!(report.judged.evidence[0].contains("by Digest, which is not supported"), "{:?}", report.judged.evidence);
    assert_eq!(server.asked(), log(&[("/", false)]));
    assert!(jar.is_empty());
}
