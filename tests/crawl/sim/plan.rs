//! One simulated world, generated from a seed: its sites and their rule files, the faults and their times, and the lives of the
//! process that crawls them.

use std::fmt::Write as _;

use super::random::{Random, mix};
use super::web::{Oddities, WebSite};

/// Milliseconds since the start of the world.
pub type Millis = u64;

pub const MINUTE: Millis = 60_000;
pub const HOUR: Millis = 60 * MINUTE;

#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub sites: Vec<SitePlan>,
    pub store: Store,
    pub latency: Latency,
    /// Percentage of URLs whose first responses are faults.
    pub faulty_urls: u64,
    pub outages: Vec<Outage>,
    /// Times when downloads redirect to a login page.
    pub expired: Option<(Millis, Millis)>,
    /// At each of these times the wall clock jumps by this many milliseconds.
    pub clock_jumps: Vec<(Millis, i64)>,
    pub store_faults: Vec<StoreFault>,
    /// Times when the archive cannot be written.
    pub archive_fault: Option<(Millis, Millis)>,
    /// The last one is repeated until the crawl is done, in a world without new faults.
    pub lives: Vec<Life>,
}

#[derive(Clone, Debug)]
pub struct SitePlan {
    pub web: WebSite,
    pub rules: String,
    /// In effect from the second life on.
    pub rules_later: Option<String>,
    /// In the order of the site's hosts.
    pub robots: Vec<RobotsPlan>,
    /// Torrents published at the start.
    pub torrents: u64,
    /// Interval of further torrents, in milliseconds.
    pub torrent_every: Option<Millis>,
}

impl SitePlan {
    /// Number of torrents published by a time.
    pub fn torrents_at(&self, at: Millis) -> u64 {
        self.torrents + self.torrent_every.map_or(0, |every| at / every)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Memory,
    Redb,
}

#[derive(Clone, Copy, Debug)]
pub struct Latency {
    pub low: Millis,
    pub high: Millis,
    /// Percentage of requests that take up to `slow` milliseconds.
    pub slow_share: u64,
    pub slow: Millis,
}

/// The behaviour of a host during an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    Refuses,
    NoName,
    /// Every third request fails to resolve the name.
    NameFlaps,
    BadGateway,
    Busy,
    Silent,
}

#[derive(Clone, Debug)]
pub struct Outage {
    pub host: String,
    pub from: Millis,
    pub until: Millis,
    pub kind: OutageKind,
}

#[derive(Clone, Copy, Debug)]
pub struct StoreFault {
    pub call: &'static str,
    /// Counted from one, over all lives.
    pub nth: u64,
    /// Number of consecutive calls that fail.
    pub times: u64,
    /// Only their responses are lost: the calls take effect.
    pub behind: bool,
}

/// How a robots.txt fails before it responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsFault {
    ServerError,
    Busy,
    Silent,
    Refused,
}

#[derive(Clone, Debug)]
pub struct RobotsPlan {
    pub faults: u64,
    pub fault: RobotsFault,
    /// None: `status` without rules.
    pub rules: Option<RobotsRules>,
    pub status: u16,
}

/// A robots.txt, and its meaning by the simplest interpretation: the longest prefix wins.
#[derive(Clone, Debug, Default)]
pub struct RobotsRules {
    pub closed: Vec<String>,
    pub open: Vec<String>,
    pub delay_ms: Millis,
    pub text: String,
}

impl RobotsRules {
    pub fn closes(&self, path: &str) -> bool {
        let longest =
            |prefixes: &[String]| prefixes.iter().filter(|prefix| path.starts_with(*prefix)).map(String::len).max();
        longest(&self.closed) > longest(&self.open)
    }
}

/// How one life of the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGKILL after this many milliseconds.
    Killed(Millis),
    /// SIGTERM after this many milliseconds.
    Stopped(Millis),
    /// When the crawl has nothing left to do.
    Done,
}

#[derive(Clone, Copy, Debug)]
pub struct Life {
    pub end: End,
    /// Like the service: failed commits are retried, failed sites restarted.
    pub is_service: bool,
}

impl Plan {
    /// One world in eight has no faults: every torrent in it must be found.
    pub fn is_calm(&self) -> bool {
        self.seed.is_multiple_of(8)
    }

    /// True if a page may be parsed on the blocking thread: a sitemap, or a large one.
    pub fn parses_on_a_thread(&self) -> bool {
        let names_sitemaps =
            |robots: &RobotsPlan| robots.rules.as_ref().is_some_and(|rules| rules.text.contains("Sitemap"));
        self.sites.iter().any(|site| site.web.oddities.big_body || site.robots.iter().any(names_sitemaps))
    }

    pub fn of(seed: u64) -> Self {
        let mut random = Random::new(mix(seed, 1));
        // One world in eight has no faults: every torrent in it must be found.
        let is_calm = seed.is_multiple_of(8);
        let count = if random.percent(25) { 2 } else { 1 };
        let mut sites: Vec<SitePlan> = Vec::new();
        for number in 0..count {
            let mut site = SitePlan::draw(seed, number, is_calm, &mut random);
            if let Some(first) = sites.first() {
                // A second site shares a host with the first, or is its copy.
                if random.percent(50) {
                    site.web.seed = first.web.seed;
                    site.torrents = first.torrents;
                }
                if random.percent(60) {
                    site.web.hosts.push(first.web.hosts[0].clone());
                    site.robots.push(first.robots[0].clone());
                }
            }
            site.rules = rules_text(&site, &mut random, is_calm, false);
            site.rules_later = (!is_calm && random.percent(15)).then(|| rules_text(&site, &mut random, false, true));
            sites.push(site);
        }
        let latency = match random.below(4) {
            0 => Latency { low: 1, high: 2, slow_share: 0, slow: 1 },
            1 => Latency { low: 20, high: 80, slow_share: 2, slow: 5_000 },
            2 => Latency { low: 100, high: 900, slow_share: 5, slow: 25_000 },
            _ => Latency { low: 5, high: 300, slow_share: 1, slow: 2_000 },
        };
        let store = if seed % 5 == 1 { Store::Redb } else { Store::Memory };
        let mut plan = Self {
            seed,
            sites,
            store,
            latency,
            faulty_urls: 0,
            outages: Vec::new(),
            expired: None,
            clock_jumps: Vec::new(),
            store_faults: Vec::new(),
            archive_fault: None,
            lives: vec![Life { end: End::Done, is_service: false }],
        };
        if !is_calm {
            plan.draw_faults(&mut random);
        }
        plan
    }

    fn draw_faults(&mut self, random: &mut Random) {
        self.faulty_urls = random.pick(&[0, 5, 20, 60]);
        let hosts: Vec<String> = self.sites.iter().flat_map(|site| site.web.hosts.clone()).collect();
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let host = hosts[random.below(hosts.len() as u64) as usize].clone();
            let from = random.below(2 * MINUTE);
            let kind = random.pick(&[
                OutageKind::Refuses,
                OutageKind::NoName,
                OutageKind::NameFlaps,
                OutageKind::BadGateway,
                OutageKind::Busy,
                OutageKind::Silent,
            ]);
            self.outages.push(Outage { host, from, until: from + random.between(1_000, 10 * MINUTE), kind });
        }
        self.expired = random.percent(15).then(|| {
            let from = random.below(MINUTE);
            (from, from + random.between(1_000, MINUTE))
        });
        for _ in 0..random.pick(&[0, 0, 0, 1, 3]) {
            let size = random.between(1, 2 * HOUR) as i64;
            let way = if random.percent(50) { size } else { -size };
            self.clock_jumps.push((random.below(3 * MINUTE), way));
        }
        self.clock_jumps.sort_unstable();
        let calls = [
            "record_visits",
            "record_visits",
            "known_torrents",
            "lease_due",
            "host_due",
            "make_due",
            "block_host_until",
            "host_id",
        ];
        for _ in 0..random.pick(&[0, 0, 1, 3]) {
            let call = random.pick(&calls);
            let behind = call == "record_visits" && random.percent(40);
            let (nth, times) = (random.between(1, 40), random.between(1, 5));
            self.store_faults.push(StoreFault { call, nth, times, behind });
        }
        self.archive_fault = random.percent(10).then(|| {
            let from = random.below(MINUTE);
            (from, from + random.between(500, MINUTE))
        });
        let mut lives = Vec::new();
        for _ in 0..random.pick(&[0, 0, 1, 2, 4]) {
            let after = random.pick(&[300, 3_000, 30_000, 200_000]);
            let after = random.between(1, after);
            let end = if random.percent(60) { End::Killed(after) } else { End::Stopped(after) };
            lives.push(Life { end, is_service: random.percent(40) });
        }
        if self.lives.len() == 1 && !self.store_faults.is_empty() && random.percent(50) {
            lives.push(Life { end: End::Stopped(20 * MINUTE), is_service: true });
        }
        self.lives.splice(0..0, lives);
    }
}

impl SitePlan {
    fn draw(seed: u64, number: u64, is_calm: bool, random: &mut Random) -> Self {
        let name = format!("s{number}");
        let mut hosts = vec![format!("www.site{number}.example")];
        if random.percent(50) {
            hosts.push(format!("dl.site{number}.example"));
        }
        if random.percent(30) {
            hosts.push(format!("other{number}.example:8080"));
        }
        let mut odd = || random.percent(if is_calm { 0 } else { 25 });
        let oddities = Oddities {
            calendar: odd(),
            facets: odd(),
            deep: odd(),
            random_ids: odd(),
            session_ids: odd(),
            soft_404: odd(),
            redirects: odd(),
            endless_body: odd(),
            big_body: odd(),
            fakes: odd(),
            feed: odd(),
            private: odd(),
            entity_tags: odd(),
        };
        let web = WebSite {
            name,
            seed: mix(seed, 100 + number),
            hosts,
            boards: random.between(1, 3),
            per_page: random.between(2, 8),
            oddities,
        };
        let robots = web.hosts.iter().map(|_| RobotsPlan::draw(is_calm, random)).collect();
        let torrents = random.between(0, 40);
        Self { web, rules: String::new(), rules_later: None, robots, torrents, torrent_every: None }
    }
}

impl RobotsPlan {
    fn draw(is_calm: bool, random: &mut Random) -> Self {
        let fault =
            random.pick(&[RobotsFault::ServerError, RobotsFault::Busy, RobotsFault::Silent, RobotsFault::Refused]);
        let faults = if is_calm { 0 } else { random.pick(&[0, 0, 0, 0, 1, 3, 8]) };
        let status = random.pick(&[404, 403, 401, 410, 400]);
        let rules = random.percent(60).then(|| RobotsRules::draw(is_calm, random));
        Self { faults, fault, rules, status }
    }
}

impl RobotsRules {
    fn draw(is_calm: bool, random: &mut Random) -> Self {
        let mut rules = Self::default();
        let choices = ["/private/", "/t/1", "/cal/", "/b/1/", "/dl/mirror/", "/rnd/", "/about/1"];
        for _ in 0..random.below(4) {
            rules.closed.push(random.pick(&choices).to_owned());
        }
        if is_calm {
            rules.closed.clear();
        }
        if random.percent(30) {
            rules.open.push(random.pick(&["/private/1", "/t/12", "/b/1/2", "/"]).to_owned());
        }
        rules.delay_ms = random.pick(&[0, 0, 0, 500, 3_000]);
        let mut text = String::new();
        if random.percent(20) {
            text.push('\u{feff}');
        }
        if random.percent(30) {
            text.push_str("<html>not a record\r\n\u{1}\u{2}garbage: yes\n\n");
        }
        // A group for another crawler comes first, also for all if one for us follows.
        text.push_str("User-agent: otherbot\nDisallow: /\n\n");
        let for_us = random.percent(50);
        if for_us {
            text.push_str("User-agent: *\nDisallow: /\n\nUser-Agent: Gleaner/2.0\r\n");
        } else {
            text.push_str("user-agent: *\n");
        }
        for path in &rules.closed {
            let _ = writeln!(text, "Disallow: {path} # closed");
        }
        for path in &rules.open {
            let _ = writeln!(text, "allow:{path}");
        }
        if rules.closed.is_empty() {
            text.push_str("Disallow:\n");
        }
        if random.percent(40) {
            let map = random.pick(&["sitemap.xml", "sitemap.xml.gz", "sitemap_index.xml", "nothing.xml"]);
            let _ = writeln!(text, "Sitemap: http://www.site0.example/{map}");
        }
        if rules.delay_ms > 0 {
            let _ = writeln!(text, "Crawl-delay: {}", rules.delay_ms as f64 / 1_000.0);
        }
        rules.text = text;
        rules
    }
}

fn rules_text(site: &SitePlan, random: &mut Random, is_calm: bool, later: bool) -> String {
    let web = &site.web;
    let mut text = format!("start = [\"http://{}/\"]\nhosts = {:?}\n", web.hosts[0], web.hosts);
    let lanes = random.pick(&[1, 2, 8]);
    if lanes > 1 {
        let _ = writeln!(text, "lanes = {lanes}\nlane_key = '{}'", random.pick(&["elf", "xxh3"]));
    }
    if web.oddities.is_endless() {
        let _ = writeln!(text, "budget.shape_pages = {}", random.pick(&[20, 60, 200]));
        if random.pick(&[false, false, true]) {
            text.push_str("pages_max = 150\ndepth_max = 12\n");
        }
    }
    if random.percent(10) {
        text.push_str("robots = { obey = false, reason = 'own server' }\n");
    }
    if later {
        text.push_str("deny = ['^/t/2', '^/b/2/']\n");
    } else if !is_calm && random.percent(20) {
        text.push_str("deny = ['^/t/1', '^/soft/[23]']\n");
    }
    if !is_calm && random.percent(15) {
        let _ = writeln!(text, "mirrors = ['http://mirror.{0}', 'http://{0}.mirror.example']", web.hosts[0]);
    }
    let _ = writeln!(
        text,
        "[rate]\nrequests_per_second = {}\nconnections = {}",
        random.pick(&["0.5", "1", "4", "20", "1000000"]),
        random.pick(&[1, 2, 4])
    );
    if random.percent(30) {
        let _ = writeln!(text, "rest_factor = {}", random.pick(&["0.0", "0.5", "3.0"]));
    }
    if !is_calm && random.percent(15) {
        // The world starts at six.
        let hours = random.pick(&["['06:01-06:03', '06:10-07:00']", "['05:00-06:30']", "['23:00-06:01']"]);
        let _ = writeln!(text, "quiet_hours = {hours}");
    }
    if !is_calm && random.percent(8) {
        let _ = writeln!(text, "requests_per_day = {}", random.pick(&[10, 60]));
    }
    text.push_str(CLASSES);
    text
}

pub const CLASSES: &str = r"
[classes]
index = ['^/$', '^/b/\d+(?:/(?P<page>\d+))?$']
detail = ['^/t/\d+$', '^/chain/', '^/loop/', '^/away', '^/nowhere']
download = ['^/dl/', '^/get\.php\?', '^/stream/']
page = ['^/about/', '^/cal/', '^/facet', '^/deep/', '^/rnd/', '^/soft/', '^/feed\.xml$', '^/private/', '^/gone', '^/big/', '^/img/']
";
