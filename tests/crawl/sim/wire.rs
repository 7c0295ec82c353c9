//! Between the crawl and the simulated web: latency, faults, and the log of every request that checkers read.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{Body, FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use gleaner_net::politeness::backoff;

use super::plan::{Millis, OutageKind, Plan, RobotsFault, RobotsRules};
use super::random::{Random, mix};
use super::web::{self, Content};

/// The response to a request.
#[derive(Clone, Debug)]
pub enum Served {
    /// None yet: the crawl aborted it, or was killed.
    Pending,
    /// A complete page, with its links as absolute URLs.
    Page(Arc<Vec<String>>),
    /// 304 for a conditional request.
    NotModified,
    /// A complete page without useful content.
    Blank,
    /// A complete torrent: its file and its infohash.
    Torrent(Bytes, [u8; 20]),
    Robots(Option<Arc<RobotsRules>>),
    Status(u16),
    /// 429 or 503, and the wall-clock time in `Retry-After`.
    Busy(Option<UnixMillis>),
    /// The target as in the header.
    Redirect(String),
    Fail(FailureKind),
    Fake,
    Malformed,
    Binary,
    /// More bytes than any reader accepts.
    Flood,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Entry {
    pub life: u64,
    pub site: usize,
    pub url: String,
    pub host: String,
    pub path: String,
    pub began: Millis,
    pub began_wall: UnixMillis,
    /// When the transfer ended: with its last byte, its failure, or an abort by the crawl.
    pub ended: Option<(Millis, UnixMillis)>,
    pub served: Served,
    /// Bytes of the body that the crawl read.
    pub bytes: u64,
}

impl Entry {
    pub fn is_robots(&self) -> bool {
        self.path == "/robots.txt"
    }

    /// One line, equal in equal runs.
    pub fn line(&self) -> String {
        let ended = self.ended.map_or(0, |(at, _)| at);
        let served = match &self.served {
            Served::Page(links) => format!("page with {} links", links.len()),
            Served::Torrent(bytes, hash) => format!("torrent {:02x}{:02x}, {} bytes", hash[0], hash[1], bytes.len()),
            Served::Robots(rules) => {
                format!("robots {:?}", rules.as_ref().map(|rules| (&rules.closed, rules.delay_ms)))
            }
            other => format!("{other:?}"),
        };
        let wall = self.began_wall.rfc3339();
        format!(
            "{:>9} – {ended:>9} ms ({wall}) life {} site {} {} → {served}",
            self.began, self.life, self.site, self.url
        )
    }
}

/// Tokio's paused clock as a wall clock that jumps.
pub struct SimClock {
    start: tokio::time::Instant,
    jumps: Vec<(Millis, i64)>,
}

/// Start of the world: 2026-11-21T06:00:00Z.
pub const DAWN: u64 = 1_795_240_800_000;

impl SimClock {
    pub fn new(jumps: Vec<(Millis, i64)>) -> Self {
        Self { start: tokio::time::Instant::now(), jumps }
    }

    /// Milliseconds since the start of the world; monotonic.
    pub fn elapsed(&self) -> Millis {
        self.start.elapsed().as_millis() as Millis
    }
}

impl Clock for SimClock {
    fn now(&self) -> UnixMillis {
        wall(&self.jumps, self.elapsed())
    }
}

/// The wall-clock time at a given time, with these jumps.
fn wall(jumps: &[(Millis, i64)], at: Millis) -> UnixMillis {
    let jumped: i64 = jumps.iter().filter(|(jump, _)| *jump <= at).map(|(_, by)| by).sum();
    UnixMillis((DAWN + at).saturating_add_signed(jumped))
}

/// The latest wall-clock time between two times, both included.
pub fn latest_wall(plan: &Plan, from: Millis, until: Millis) -> UnixMillis {
    let jumps = &plan.clock_jumps;
    let before_jumps = jumps.iter().map(|(at, _)| at.saturating_sub(1)).filter(|at| (from..until).contains(at));
    before_jumps.chain([from, until]).map(|at| wall(jumps, at)).max().unwrap_or_default()
}

/// The world's wire: one for all sites and lives.
pub struct Net {
    pub plan: Arc<Plan>,
    pub clock: Arc<SimClock>,
    pub life: AtomicU64,
    /// No new faults after this is set.
    pub healed: AtomicBool,
    log: Mutex<Vec<Entry>>,
    /// How often each URL was requested.
    asked: Mutex<BTreeMap<(usize, String), u64>>,
}

impl Net {
    pub fn new(plan: Arc<Plan>, clock: Arc<SimClock>) -> Self {
        let (life, healed) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { plan, clock, life, healed, log: Mutex::default(), asked: Mutex::default() }
    }

    pub fn log(&self) -> Vec<Entry> {
        self.log.lock().unwrap().clone()
    }

    fn begin(&self, site: usize, url: &CrawlUrl) -> usize {
        let entry = Entry {
            life: self.life.load(Ordering::Relaxed),
            site,
            url: url.as_str().to_owned(),
            host: url.host().to_owned(),
            path: url.path().to_owned(),
            began: self.clock.elapsed(),
            began_wall: self.clock.now(),
            ended: None,
            served: Served::Pending,
            bytes: 0,
        };
        let mut log = self.log.lock().unwrap();
        log.push(entry);
        log.len() - 1
    }
}

/// The address of a host: hosts with the same name in different sites are the same.
pub fn address(seed: u64, host: &str) -> IpAddr {
    let number = Random::of(seed, host).below(3) as u8;
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, number + 1))
}

/// The transport of one site.
pub struct Wire {
    pub net: Arc<Net>,
    pub site: usize,
}

/// Records the end of a transfer, however it ends.
struct Transfer {
    net: Arc<Net>,
    entry: usize,
    served: Option<Served>,
    bytes: u64,
}

impl Transfer {
    fn end(&mut self, served: Served) {
        self.served = Some(served);
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let at = (self.net.clock.elapsed(), self.net.clock.now());
        let mut log = self.net.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = &mut log[self.entry];
        entry.ended = Some(at);
        entry.bytes = self.bytes;
        entry.served = self.served.take().unwrap_or(Served::Pending);
    }
}

/// The result of a request that gets a response.
struct Answer {
    status: u16,
    headers: ResponseHeaders,
    body: Flow,
    served: Served,
}

/// How a body arrives.
enum Flow {
    /// In pieces of this many bytes, with pauses.
    Whole { bytes: Bytes, piece: usize, pause: Duration },
    /// As above, then a failure.
    Cut { bytes: Bytes, piece: usize, kind: FailureKind },
    /// One byte a second.
    Trickle { bytes: Bytes },
    /// A head, then this many meaningless bytes; None: endless.
    Flood { head: Bytes, left: Option<u64> },
}

struct SimBody {
    flow: Flow,
    transfer: Transfer,
    served: Option<Served>,
    deadline: tokio::time::Instant,
}

fn failure(kind: FailureKind) -> FetchFailure {
    FetchFailure { kind, detail: "simulated".to_owned() }
}

#[async_trait::async_trait]
impl Body for SimBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        let piece = self.piece().await;
        if let Ok(Some(bytes)) = &piece {
            self.transfer.bytes += bytes.len() as u64;
        }
        piece
    }
}

impl SimBody {
    async fn piece(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        static NOTHING: Bytes = Bytes::from_static(&[b' '; 256 << 10]);
        // Like the real transport: no request takes longer.
        if tokio::time::Instant::now() >= self.deadline {
            self.transfer.end(Served::Fail(FailureKind::TimedOut));
            return Err(failure(FailureKind::TimedOut));
        }
        // If the reader stops here, it has been served what it saw.
        if let Some(served) = self.served.take() {
            self.transfer.end(served);
        }
        match &mut self.flow {
            Flow::Whole { bytes, piece, pause } => {
                tokio::time::sleep(*pause).await;
                let piece = bytes.split_to((*piece).min(bytes.len()));
                Ok((!piece.is_empty()).then_some(piece))
            }
            Flow::Cut { bytes, piece, kind } => {
                let next = bytes.split_to((*piece).min(bytes.len()));
                if !next.is_empty() {
                    return Ok(Some(next));
                }
                self.transfer.end(Served::Fail(*kind));
                Err(failure(*kind))
            }
            Flow::Trickle { bytes } => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let piece = bytes.split_to(1.min(bytes.len()));
                Ok((!piece.is_empty()).then_some(piece))
            }
            Flow::Flood { head, left } => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if !head.is_empty() {
                    return Ok(Some(std::mem::take(head)));
                }
                match left {
                    None => Ok(Some(NOTHING.clone())),
                    Some(0) => Ok(None),
                    Some(left) => {
                        let size = (*left).min(NOTHING.len() as u64);
                        *left -= size;
                        Ok(Some(NOTHING.slice(..size as usize)))
                    }
                }
            }
        }
    }
}

#[async_trait::async_trait]
impl Transport for Wire {
    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        let addresses = vec![address(self.net.plan.seed, url.host())];
        Ok(Resolution { addresses, ttl: Duration::from_secs(300) })
    }

    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let url = request.url;
        let entry = self.net.begin(self.site, url);
        let mut transfer = Transfer { net: Arc::clone(&self.net), entry, served: None, bytes: 0 };
        let nth = {
            let mut asked = self.net.asked.lock().unwrap();
            let nth = asked.entry((self.site, url.as_str().to_owned())).or_default();
            *nth += 1;
            *nth
        };
        let mut random = Random::of(mix(self.net.plan.seed, nth), url.as_str());
        let deadline = tokio::time::Instant::now() + gleaner_net::limits::REQUEST_TIME_MAX;
        let latency = self.net.plan.latency;
        let slow = random.percent(latency.slow_share);
        let pause = random.between(latency.low, if slow { latency.slow.max(latency.low) } else { latency.high });
        tokio::time::sleep(Duration::from_millis(pause)).await;
        match self.answer(request, nth, &mut random).await {
            Ok(Answer { status, headers, body, served }) => {
                // Without reading the body, the head is the whole response.
                let waits =
                    matches!(served, Served::Page(_) | Served::Torrent(..) | Served::Robots(Some(_)) | Served::Fail(_));
                if !waits {
                    transfer.end(served.clone());
                }
                let body = SimBody { flow: body, transfer, served: Some(served), deadline };
                Ok(Response { status, headers, body: Box::new(body) })
            }
            Err(kind) => {
                transfer.end(Served::Fail(kind));
                Err(failure(kind))
            }
        }
    }
}

fn bare(status: u16, served: Served) -> Answer {
    Answer { status, headers: ResponseHeaders::default(), body: whole(Bytes::new()), served }
}

fn whole(bytes: Bytes) -> Flow {
    Flow::Whole { piece: bytes.len().max(1), bytes, pause: Duration::ZERO }
}

fn html(bytes: Bytes, served: Served) -> Answer {
    let headers = ResponseHeaders { content_type: Some("text/html".to_owned()), ..ResponseHeaders::default() };
    Answer { status: 200, headers, body: whole(bytes), served }
}

impl Wire {
    async fn answer(&self, request: Request<'_>, nth: u64, random: &mut Random) -> Result<Answer, FailureKind> {
        let (net, url) = (&self.net, request.url);
        let healed = net.healed.load(Ordering::Relaxed);
        let at = net.clock.elapsed();
        let outage = net.plan.outages.iter().find(|outage| {
            outage.host.split(':').next() == Some(url.host()) && (outage.from..outage.until).contains(&at)
        });
        if let Some(outage) = outage.filter(|_| !healed) {
            match outage.kind {
                OutageKind::Refuses => return Err(FailureKind::Connect),
                OutageKind::NoName => return Err(FailureKind::Dns),
                OutageKind::NameFlaps if random.percent(33) => return Err(FailureKind::Dns),
                OutageKind::NameFlaps => {}
                OutageKind::BadGateway => return Ok(bare(502, Served::Status(502))),
                OutageKind::Busy => return Ok(self.busy(503, random)),
                OutageKind::Silent => {
                    tokio::time::sleep(gleaner_net::limits::READ_TIME_MAX).await;
                    return Err(FailureKind::TimedOut);
                }
            }
        }
        if url.path() == "/robots.txt" {
            return self.robots(url, nth, random).await;
        }
        let plan = &net.plan.sites[self.site];
        let content = plan.web.at(url.path(), plan.torrents_at(at), nth);
        if !healed && let Some(fault) = self.url_fault(url, nth, random, &content).await? {
            return Ok(fault);
        }
        if let Some((from, until)) = net.plan.expired
            && !healed
            && (from..until).contains(&at)
            && matches!(content, Content::Torrent(_))
        {
            return Ok(html(web::login_page(), Served::Fake));
        }
        let mut answer = self.healthy(url, content, random);
        if self.net.plan.sites[self.site].web.oddities.entity_tags
            && let Flow::Whole { bytes, .. } = &answer.body
        {
            let tag = format!("\"{:016x}\"", xxhash_rust::xxh3::xxh3_64(bytes));
            if request.validators.is_some_and(|known| known.etag.as_deref() == Some(&*tag)) {
                return Ok(bare(304, Served::NotModified));
            }
            answer.headers.etag = Some(tag);
        }
        Ok(answer)
    }

    fn healthy(&self, url: &CrawlUrl, content: Content, random: &mut Random) -> Answer {
        let seed = self.net.plan.sites[self.site].web.seed;
        let odd = self.net.plan.sites[self.site].web.oddities;
        match content {
            Content::Page { links, body, content_type } => {
                let headers =
                    ResponseHeaders { content_type: Some(content_type.to_owned()), ..ResponseHeaders::default() };
                let piece = if random.percent(20) { body.len() / 3 + 1 } else { body.len().max(1) };
                let pause = Duration::from_millis(if random.percent(10) { random.below(200) } else { 0 });
                let body = Flow::Whole { bytes: body, piece, pause };
                Answer { status: 200, headers, body, served: Served::Page(Arc::new(links)) }
            }
            Content::Torrent(id) => {
                let (bytes, hash) = web::torrent_file(seed, id);
                // The body decides, whatever the headers say.
                let content_type = random.pick(&[
                    Some("application/x-bittorrent"),
                    Some("application/octet-stream"),
                    Some("text/plain"),
                    Some("text/html; charset=utf-8"),
                    None,
                ]);
                let headers =
                    ResponseHeaders { content_type: content_type.map(str::to_owned), ..ResponseHeaders::default() };
                let piece = if random.percent(20) { bytes.len() / 3 + 1 } else { bytes.len() };
                let body = Flow::Whole { bytes: bytes.clone(), piece, pause: Duration::ZERO };
                Answer { status: 200, headers, body, served: Served::Torrent(bytes, hash) }
            }
            Content::Fake if url.path().contains("malformed") => malformed(),
            Content::Fake => html(web::login_page(), Served::Fake),
            Content::Image => {
                let bytes = Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0");
                Answer { status: 200, headers: ResponseHeaders::default(), body: whole(bytes), served: Served::Binary }
            }
            Content::Redirect(to) => {
                let headers = ResponseHeaders { location: Some(to.clone()), ..ResponseHeaders::default() };
                Answer { status: 302, headers, body: whole(Bytes::new()), served: Served::Redirect(to) }
            }
            Content::Endless => {
                let head = Bytes::from_static(b"<html><body>");
                let headers = ResponseHeaders { content_type: Some("text/html".into()), ..ResponseHeaders::default() };
                Answer { status: 200, headers, body: Flow::Flood { head, left: None }, served: Served::Flood }
            }
            Content::Big(bytes) => {
                let head = Bytes::from_static(b"<html><body>");
                let headers = ResponseHeaders { content_type: Some("text/html".into()), ..ResponseHeaders::default() };
                Answer { status: 200, headers, body: Flow::Flood { head, left: Some(bytes) }, served: Served::Flood }
            }
            Content::Missing if odd.soft_404 => html(web::soft_404(url.path()), Served::Blank),
            Content::Missing => bare(404, Served::Status(404)),
        }
    }

    /// Some URLs return a fault at their first attempts, a few always.
    async fn url_fault(
        &self,
        url: &CrawlUrl,
        nth: u64,
        random: &mut Random,
        content: &Content,
    ) -> Result<Option<Answer>, FailureKind> {
        let mut of_url = Random::of(mix(self.net.plan.seed, 0xfa), url.as_str());
        if !of_url.percent(self.net.plan.faulty_urls) {
            return Ok(None);
        }
        let times = of_url.pick(&[1, 1, 2, 3, u64::MAX]);
        if nth > times {
            return Ok(None);
        }
        let (bytes, is_page) = match content {
            Content::Page { body, .. } => (body.clone(), true),
            Content::Torrent(id) => (web::torrent_file(self.net.plan.sites[self.site].web.seed, *id).0, false),
            _ => return Ok(None),
        };
        let cut = |kind| Answer {
            status: 200,
            headers: ResponseHeaders {
                content_type: is_page.then(|| "text/html".to_owned()),
                ..ResponseHeaders::default()
            },
            body: Flow::Cut { piece: bytes.len() / 3 + 1, bytes: bytes.slice(..bytes.len() / 2), kind },
            served: Served::Fail(kind),
        };
        Ok(Some(match of_url.below(16) {
            0 => return Err(FailureKind::Connect),
            1 => return Err(FailureKind::Protocol),
            2 => return Err(FailureKind::Tls),
            3 => {
                tokio::time::sleep(gleaner_net::limits::READ_TIME_MAX).await;
                return Err(FailureKind::TimedOut);
            }
            4 => cut(FailureKind::Truncated),
            5 => cut(FailureKind::Protocol),
            6 => bare(500, Served::Status(500)),
            7 => bare(502, Served::Status(502)),
            8 | 9 => self.busy(429, random),
            10 => self.busy(503, random),
            11 => bare(408, Served::Status(408)),
            12 => bare(random.pick(&[403, 404, 410, 451, 418]), Served::Status(404)).with_own_status(),
            13 => {
                let answer = self.healthy(url, content.clone(), random);
                // A body that takes longer than a request may, with its latency, never arrives complete.
                let seconds = bytes.len() as u64;
                let limit = gleaner_net::limits::REQUEST_TIME_MAX.as_secs();
                match seconds {
                    _ if seconds + 50 < limit => Answer { body: Flow::Trickle { bytes }, ..answer },
                    _ if seconds > limit => {
                        let served = Served::Fail(FailureKind::TimedOut);
                        Answer { body: Flow::Trickle { bytes }, served, ..answer }
                    }
                    _ => answer,
                }
            }
            14 => {
                // A cookie check redirects to the same URL.
                let to = url.as_str().to_owned();
                let headers = ResponseHeaders { location: Some(to.clone()), ..ResponseHeaders::default() };
                Answer { status: 302, headers, body: whole(Bytes::new()), served: Served::Redirect(to) }
            }
            _ => html(web::soft_404(url.path()), Served::Blank),
        }))
    }

    /// An overloaded server, with all forms of `Retry-After`.
    fn busy(&self, status: u16, random: &mut Random) -> Answer {
        let now = self.net.clock.now();
        let seconds = random.pick(&[0, 1, 7, 60, 600]);
        let value = match random.below(4) {
            0 => None,
            1 => Some(seconds.to_string()),
            2 => Some(http_date(now.plus(Duration::from_secs(seconds)))),
            _ => Some(random.pick(&["soon", "-1", "Thu, 99 Xyz"]).to_owned()),
        };
        let asked = value.as_deref().and_then(|value| backoff::retry_after(value, now));
        let headers = ResponseHeaders { retry_after: value, ..ResponseHeaders::default() };
        Answer { status, headers, body: whole(Bytes::new()), served: Served::Busy(asked) }
    }

    async fn robots(&self, url: &CrawlUrl, nth: u64, random: &mut Random) -> Result<Answer, FailureKind> {
        let site = &self.net.plan.sites[self.site];
        let Some(at) = site.web.hosts.iter().position(|host| host == url.authority()) else {
            return Ok(bare(404, Served::Robots(None)));
        };
        let robots = &site.robots[at];
        if nth <= robots.faults && !self.net.healed.load(Ordering::Relaxed) {
            return match robots.fault {
                RobotsFault::ServerError => Ok(bare(500, Served::Status(500))),
                RobotsFault::Busy => Ok(self.busy(503, random)),
                RobotsFault::Refused => Err(FailureKind::Connect),
                RobotsFault::Silent => {
                    tokio::time::sleep(gleaner_net::limits::READ_TIME_MAX).await;
                    Err(FailureKind::TimedOut)
                }
            };
        }
        Ok(match &robots.rules {
            None => bare(robots.status, Served::Robots(None)),
            Some(rules) => {
                let headers = ResponseHeaders { content_type: Some("text/plain".into()), ..ResponseHeaders::default() };
                let body = whole(Bytes::from(rules.text.clone()));
                Answer { status: 200, headers, body, served: Served::Robots(Some(Arc::new(rules.clone()))) }
            }
        })
    }
}

impl Answer {
    /// The log has the status that was sent.
    fn with_own_status(mut self) -> Self {
        self.served = Served::Status(self.status);
        self
    }
}

fn malformed() -> Answer {
    let bytes = Bytes::from_static(b"d8:announce20:http://tracker.test/4:infod6:lengthi-5e4:name1:aee");
    Answer { status: 200, headers: ResponseHeaders::default(), body: whole(bytes), served: Served::Malformed }
}

/// IMF-fixdate (RFC 9110 §5.6.7).
fn http_date(at: UnixMillis) -> String {
    let at = time::OffsetDateTime::from_unix_timestamp((at.0 / 1_000) as i64).unwrap();
    let form = time::macros::format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    at.format(form).unwrap()
}
