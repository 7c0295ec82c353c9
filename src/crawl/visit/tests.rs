//! Single visits over a web in memory: broken transfers, pages over the cap, and what a request tells of its page.

use std::collections::HashMap;
use std::sync::Mutex;

use bytes::Bytes;

use super::*;
use crate::frontier::crews::Crew;
use crate::limits;
use gleaner_base::clock::{SystemClock, UnixMillis};
use gleaner_net::fetch::{Body, FailureKind, FetchFailure, Request, Resolution, ResponseHeaders, Transport};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, Lease, Next, UrlKey};

const TORRENT: &[u8] = b"d4:infod6:lengthi5e4:name1:a12:piece lengthi16384e6:pieces20:01234567890123456789ee";

const RULES: &str = "start = ['http://site.example/']\nhosts = ['site.example', 'dl.site.example']\n\
    mirrors = ['http://mirror.example']\n[classes]\nindex = ['^/$', '^/list']\ndetail = ['^/t/']\ndownload = ['^/dl/']\n\
    [rate]\nrequests_per_second = 1000\nrest_factor = 0\n";

/// Bytes, and how their transfer ends.
type Sent = (Vec<Bytes>, Option<FailureKind>);

struct Pieces(Sent);

#[async_trait::async_trait]
impl Body for Pieces {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        let (pieces, broken) = &mut self.0;
        if !pieces.is_empty() {
            return Ok(Some(pieces.remove(0)));
        }
        broken.map_or(Ok(None), |kind| Err(FetchFailure { kind, detail: "it broke off".to_owned() }))
    }
}

/// One answer for every URL, and the pages that requests named.
#[derive(Default)]
struct Web {
    sent: Sent,
    told: Mutex<HashMap<String, Option<String>>>,
}

#[async_trait::async_trait]
impl Transport for Web {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let referer = request.referer.map(|page| page.as_str().to_owned());
        self.told.lock().unwrap().insert(request.url.as_str().to_owned(), referer);
        let body = Box::new(Pieces(self.sent.clone()));
        Ok(Response { status: 200, headers: ResponseHeaders::default(), body })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution::default())
    }
}

fn site(sent: Sent) -> (Arc<Site>, Arc<Web>) {
    let web = Arc::new(Web { sent, told: Mutex::default() });
    let rules = gleaner_rules::from_text("site", RULES).unwrap();
    let db = Arc::new(MemoryStore::default());
    (Arc::new(Site::new(rules, Arc::new(Arc::clone(&web)), Arc::new(SystemClock), db)), web)
}

fn job(site: &Site, url: &str, class: Class, via: Option<&str>) -> Job {
    let url = CrawlUrl::parse(url, &site.rules.canonical).unwrap();
    let key = UrlKey { host: HostId(1), path: url.path().into() };
    let (via, deadline) = (via.map(Into::into), UnixMillis(u64::MAX));
    let lease = Lease { key, depth: 1, rank: 0, attempts: 0, via, memo: None, deadline, found: None, seq: 0 };
    Job { lease, url, class, rule: 0, crew: Crew::History, was_read: false, is_guess: false }
}

async fn visited(sent: Sent, path: &str, class: Class) -> Finished {
    let (site, _) = site(sent);
    let job = job(&site, &format!("http://site.example{path}"), class, None);
    guarded(&site, job, None, None).await.unwrap()
}

fn pieces(bytes: &[u8]) -> Vec<Bytes> {
    bytes.chunks(50_000).map(Bytes::copy_from_slice).collect()
}

#[tokio::test]
async fn a_torrent_that_is_whole_by_its_own_structure_is_kept_however_its_transfer_ended() {
    let padded = format!("d7:comment400000:{}{}", "c".repeat(400_000), std::str::from_utf8(&TORRENT[1..]).unwrap());
    for torrent in [TORRENT, padded.as_bytes()] {
        for kind in [FailureKind::Truncated, FailureKind::TimedOut, FailureKind::Protocol] {
            let finished = visited((pieces(torrent), Some(kind)), "/dl/1", Class::Download).await;
            assert_eq!((finished.visit.outcome, finished.host.answered), (Outcome::TorrentStored, Answered::Well));
            assert_eq!(finished.end.torrent.as_deref(), Some(torrent));
            assert_eq!(finished.visit.next, Next::Done);
        }
        for cut in [1, 40, torrent.len() - 30, torrent.len() - 1] {
            let sent = (pieces(&torrent[..cut]), Some(FailureKind::Truncated));
            let finished = visited(sent, "/dl/1", Class::Download).await;
            assert_eq!((finished.visit.outcome, finished.end.torrent), (Outcome::Truncated, None), "{cut}");
            assert!(matches!(finished.visit.next, Next::RetryAt(_)), "{cut}: {:?}", finished.visit.next);
        }
        // What follows it shows that the body was to be longer.
        let longer = [torrent, b"x"].concat();
        let finished = visited((pieces(&longer), Some(FailureKind::Truncated)), "/dl/1", Class::Download).await;
        assert_eq!(finished.visit.outcome, Outcome::Truncated);
        let finished = visited((pieces(&longer), None), "/dl/1", Class::Download).await;
        assert_eq!(finished.visit.outcome, Outcome::TorrentStored);
    }
    let page = (pieces(b"<!DOCTYPE html><a href=/dl/1>x</a>"), Some(FailureKind::Truncated));
    assert_eq!(visited(page, "/list", Class::Index).await.visit.outcome, Outcome::Truncated);
    let other = (pieces(b"d1:ai1ee"), Some(FailureKind::Truncated));
    assert_eq!(visited(other, "/dl/1", Class::Download).await.visit.outcome, Outcome::Truncated);
}

#[tokio::test]
async fn the_links_of_a_page_over_the_cap_are_taken_up_to_it_and_the_page_is_not_whole() {
    let link = |n: u32| format!("<a href=/dl/{n}>x</a>");
    let long = "<p>row</p>".repeat(limits::PAGE_BYTES_MAX / 10 / 2);
    let page = format!("<!DOCTYPE html>{}{long}{}{long}{}", link(1), link(2), link(3));
    let finished = visited((pieces(page.as_bytes()), None), "/list", Class::Index).await;
    assert_eq!(finished.visit.outcome, Outcome::Page);
    let found: Vec<&str> = finished.visit.outlinks.iter().map(|link| &*link.key.path).collect();
    assert_eq!(found, ["/dl/1", "/dl/2"]);
    assert_eq!(finished.visit.body_bytes, limits::PAGE_BYTES_MAX as u64);
    assert_eq!(finished.visit.body_hash, None, "its beginning may be another page's");
    let why = finished.visit.not_whole.unwrap();
    assert!(why.starts_with("it exceeds the size limit of a page"), "{why}");
    for (class, path) in [(Class::Download, "/dl/1"), (Class::Sitemap, "/list")] {
        let endless = "<!DOCTYPE html>".to_owned() + &"<p>row</p>".repeat(limits::SITEMAP_BYTES_MAX / 10 + 1);
        let finished = visited((pieces(endless.as_bytes()), None), path, class).await;
        assert_eq!((finished.visit.outcome, finished.visit.outlinks.len()), (Outcome::TooLarge, 0), "{class:?}");
    }
}

#[tokio::test]
async fn a_request_names_the_page_that_linked_to_it_if_that_is_one_of_the_sites() {
    let page = "http://site.example/t/1?a=2";
    for (url, via, mirror, told) in [
        ("http://site.example/dl/1", Some(page), None, Some(page)),
        ("http://dl.site.example/dl/1", Some(page), None, Some(page)),
        (
            "http://site.example/dl/1",
            Some(page),
            Some("http://mirror.example/dl/1"),
            Some("http://mirror.example/t/1?a=2"),
        ),
        ("http://site.example/dl/1", None, None, None),
        ("http://site.example/", None, None, None),
        ("http://site.example/dl/1", Some("http://site.example/sitemap.xml"), None, None),
        ("http://site.example/dl/1", Some("http://elsewhere.example/t/1"), None, None),
        ("http://site.example/dl/1", Some("no url"), None, None),
    ] {
        let (site, web) = site((pieces(TORRENT), None));
        let mirror = mirror.map(|url| CrawlUrl::parse(url, &site.rules.canonical).unwrap());
        let asked = mirror.as_ref().map_or(url, CrawlUrl::as_str).to_owned();
        let finished = guarded(&site, job(&site, url, Class::Download, via), mirror, None).await.unwrap();
        assert_eq!(finished.visit.outcome, Outcome::TorrentStored);
        assert_eq!(web.told.lock().unwrap()[&asked].as_deref(), told, "{asked} of {via:?}");
    }
}
