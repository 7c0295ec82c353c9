//! One host's share of a site's crawl: its lanes, the origin and mirrors that serve it, and when to lease again.
//!
//! Plain state, changed by the site loop; no I/O here.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::hosts::{HostKeys, Hosts};
use super::news::{LookTurns, News};
use super::robots_txt::RobotsLocation;
use crate::frontier::crews::{Hands, Split};
use crate::frontier::lanes::{Lanes, lane_of};
use crate::frontier::shares::Floor;
use crate::job::Job;
use crate::limits;
use crate::series;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::robots::Robots;
use gleaner_net::politeness::{Block, HostPolicy, shifted};
use gleaner_rules::{self as rules, SiteRules};
use gleaner_store::crawldb::{HostId, HostRow, Lease, RankOrder, UrlKey};

/// Leases whose URLs wait in the lanes at most, if each brought better ones than are there.
const LEASES_IN_LANES: usize = 4;

/// Expiry of rules that did not come from a request.
const FOR_EVER: UnixMillis = UnixMillis(u64::MAX);

/// What is known of an origin's robots.txt.
pub enum RobotsState {
    /// Nothing, or only an expired copy.
    Unknown,
    /// A request for it is in flight.
    Asked,
    /// It was redirected: the next request goes there.
    Moved(Box<RobotsLocation>),
    /// In force until the given time.
    Known { robots: Arc<Robots>, until: UnixMillis },
}

/// What is known of a host's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nothing yet, and no lookup was started.
    Unknown,
    /// Being looked up; earlier addresses stay in use.
    Asked,
    /// Valid until the given time.
    Known { until: UnixMillis },
}

/// The request policy that a site's rules and the host's `Crawl-delay`, if it has one, allow.
#[must_use]
pub fn policy_of(site: &SiteRules, crawl_delay: Option<Duration>) -> HostPolicy {
    let asked = crawl_delay.filter(|delay| !delay.is_zero());
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    HostPolicy {
        interval_ms: millis(site.rate.interval.max(asked.unwrap_or_default())),
        connections_max: asked.map_or(site.rate.connections.into(), |_| 1),
        rest_factor: site.rate.rest_factor,
        rest_ms_min: asked.map_or(0, millis),
    }
}

/// An origin that serves a host: its own, or a mirror's.
pub struct Face {
    /// Number of the origin, for what is stored of it.
    pub id: HostId,
    pub origin: String,
    /// Keys that politeness uses.
    pub keys: Arc<HostKeys>,
    pub location: Location,
    /// True once the lookup of the host has ended, with or without addresses.
    pub was_located: bool,
    pub robots: RobotsState,
    /// From the last robots.txt.
    crawl_delay: Option<Duration>,
    /// Until when the host has paused us, in this process or before.
    pub blocked_until: UnixMillis,
    /// The last pause in a row of pauses without a good response, with what is known of its cause.
    pub block: Option<(Block, String)>,
    /// Since when it pauses without a good response, as was logged.
    pub outage: Option<UnixMillis>,
}

impl Face {
    fn new(row: HostRow, site: &SiteRules) -> Self {
        let robots = match &site.robots {
            rules::Robots::Obey => RobotsState::Unknown,
            rules::Robots::Ignore { .. } => {
                RobotsState::Known { robots: Arc::new(Robots::allow_all()), until: FOR_EVER }
            }
        };
        Self {
            id: row.id,
            keys: HostKeys::new(CrawlUrl::from_parts(&row.origin, "/").host(), &[]),
            origin: row.origin.into(),
            location: Location::Unknown,
            was_located: false,
            robots,
            crawl_delay: None,
            blocked_until: row.blocked_until,
            block: None,
            outage: None,
        }
    }

    /// Moves all times after the clock was set by this many milliseconds.
    fn shift(&mut self, set_by_ms: i64) {
        self.blocked_until = shifted(self.blocked_until, set_by_ms);
        if let Some((block, _)) = &mut self.block {
            block.until = shifted(block.until, set_by_ms);
        }
        self.outage = self.outage.map(|since| shifted(since, set_by_ms));
        if let RobotsState::Known { until, .. } = &mut self.robots
            && *until != FOR_EVER
        {
            *until = shifted(*until, set_by_ms);
        }
        if let Location::Known { until } = &mut self.location {
            *until = shifted(*until, set_by_ms);
        }
    }

    /// Host name, without the port.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.keys.name
    }

    /// The rules in force now; None when robots.txt must be requested.
    #[must_use]
    pub fn robots_in_force(&self, now: UnixMillis) -> Option<&Arc<Robots>> {
        match &self.robots {
            RobotsState::Known { robots, until } if *until > now => Some(robots),
            _ => None,
        }
    }

    /// A good response ends the row of pauses. The last pause still lasts as long as the host asked for.
    pub fn forgive(&mut self) {
        self.block = None;
    }

    /// What the site's rules and the host's own `Crawl-delay` allow. A host that sets a delay gets one
    /// connection, and the delay is counted from the end of its response. It stays in force while robots.txt is requested again.
    #[must_use]
    pub fn policy(&self, site: &SiteRules) -> HostPolicy {
        policy_of(site, self.crawl_delay)
    }

    /// Puts a received robots.txt into force until the given time.
    pub fn obeys(&mut self, robots: Robots, until: UnixMillis) {
        self.crawl_delay = robots.crawl_delay;
        self.robots = RobotsState::Known { robots: Arc::new(robots), until };
    }

    /// The lookup of the host has ended. Without a result (its requests will report why), the earlier addresses stay.
    pub fn located(&mut self, addresses: &[IpAddr], until: UnixMillis) {
        if !addresses.is_empty() {
            self.keys = HostKeys::new(&self.keys.name, addresses);
        }
        self.location = Location::Known { until };
        self.was_located = true;
    }

    /// True when the host has paused us so often in a row, or for so long, that a one-shot crawl gives it up.
    #[must_use]
    pub fn is_given_up(&self, now: UnixMillis) -> bool {
        let often = self.block.as_ref().is_some_and(|(block, _)| block.complaints >= limits::HOST_COMPLAINTS_MAX);
        often || self.blocked_until.since(now) > limits::PAUSE_WAITED_FOR_MAX
    }
}

/// Why a host gets no request for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its own pause, or its rate.
    Patience,
    /// Another site holds the connection, or the process's last request slot.
    Connection,
    QuietHours,
    DayBudget,
    /// The rest of the day's budget belongs to the increment.
    DayShare,
    /// The increment's share of it has to last for the rest of the day.
    DayPace,
    RoundBudget,
}

/// The crews that may start no request for now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PausedCrews {
    pub history: bool,
    pub increment: bool,
}

/// One host of a site.
pub struct HostWork {
    pub id: HostId,
    /// History's lanes, if there are two crews.
    pub lanes: Lanes<Job>,
    /// When history's URL that has waited longest is next.
    pub floor: Floor,
    /// Of the lanes: the order of the ranks ...
    order: RankOrder,
    /// ... and before it the last URL whose turn came because it had waited longest.
    oldest: Option<UrlKey>,
    /// The queue may have better URLs than the lanes: rows were added, or the order has changed, since the last lease, or that one was
    /// full of better ones than the last in the lanes.
    pub has_more: bool,
    /// The increment's share.
    pub news: News,
    /// Its own origin, then the mirrors.
    faces: Vec<Face>,
    active: usize,
    /// Earliest time at which leasing may return something; None: only after a commit.
    pub lease_at: Option<UnixMillis>,
    /// Something waits until this time, and why.
    pub gate: Option<(UnixMillis, Why)>,
}

impl HostWork {
    #[must_use]
    pub fn new(row: HostRow, mirrors: Vec<HostRow>, site: &SiteRules) -> Self {
        Self {
            id: row.id,
            lanes: Lanes::new(site.lanes.count.into()),
            floor: Floor::default(),
            order: RankOrder::of(&[]),
            oldest: None,
            has_more: false,
            news: News::default(),
            faces: std::iter::once(row).chain(mirrors).map(|row| Face::new(row, site)).collect(),
            active: 0,
            lease_at: Some(UnixMillis(0)),
            gate: None,
        }
    }

    /// The host's own origin, which identifies its URLs.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.faces[0].origin
    }

    /// True while a robots.txt request is in flight.
    #[must_use]
    pub fn asks_for_robots(&self) -> bool {
        self.faces.iter().any(|face| matches!(face.robots, RobotsState::Asked))
    }

    /// The origin in use now, and its number.
    #[must_use]
    pub fn face(&self) -> &Face {
        &self.faces[self.active]
    }

    #[must_use]
    pub fn active(&self) -> usize {
        self.active
    }

    #[must_use]
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    pub fn face_mut(&mut self, number: usize) -> &mut Face {
        &mut self.faces[number]
    }

    /// Moves all times after the clock was set by this many milliseconds.
    pub fn shift(&mut self, set_by_ms: i64) {
        self.faces.iter_mut().for_each(|face| face.shift(set_by_ms));
    }

    /// Chooses the first origin that has not paused us, else the one whose pause ends first. True if that changes the
    /// choice.
    pub fn choose_face(&mut self, hosts: &Hosts, now: UnixMillis) -> bool {
        if self.faces.len() == 1 {
            return false;
        }
        let pause = |face: &Face| hosts.blocked_until(face.name(), now);
        let best = (0..self.faces.len()).min_by_key(|&number| pause(&self.faces[number])).unwrap_or(0);
        std::mem::replace(&mut self.active, best) != best
    }

    /// URLs to lease at once: no more than a host can serve at its rate before the leases end, and few, because better ones may
    /// be found meanwhile; what a fast one serves meanwhile is no matter. `hosts` of the site share its connections.
    #[must_use]
    pub fn lease_size(&self, policy: HostPolicy, hosts: usize) -> usize {
        let lease_ms = u64::try_from(limits::LEASE_TIME.as_millis()).unwrap_or(u64::MAX);
        let in_time = lease_ms / 4 / policy.interval_ms.max(1);
        let at_once = match policy.interval_ms {
            0 => self.at_once(policy) * limits::LEASE_URLS_A_CONNECTION / hosts.max(1),
            _ => 0,
        };
        let of_lanes = at_once.max(self.lanes.count() * limits::LEASE_URLS_A_LANE);
        let of_lanes = of_lanes.clamp(limits::LEASE_URLS_MIN, limits::LEASE_URLS_MAX);
        usize::try_from(in_time).unwrap_or(usize::MAX).clamp(1, of_lanes)
    }

    /// After a lease by the order of the lanes: what it left in the queue has a place no better than the worst that it brought.
    pub fn leased(&mut self, came_short: bool, worst: Option<u8>) {
        self.has_more |= !came_short && self.worst_queued() > worst;
    }

    /// Visits that may be under way at once.
    fn at_once(&self, policy: HostPolicy) -> usize {
        self.lanes.count().min(policy.connections_max as usize)
    }

    /// True if the queue has nothing for now, and by the host's rate the lanes may be empty before a commit that begins now could add
    /// to it. How fast a host without a rate answers is not known here.
    #[must_use]
    pub fn runs_dry(&self, policy: HostPolicy, now: UnixMillis) -> bool {
        let lasts_ms = policy.interval_ms.saturating_mul(self.lanes.len() as u64);
        self.lease_at.is_none_or(|at| at > now)
            && self.news.is_empty()
            && u128::from(lasts_ms) < limits::COMMIT_AHEAD.as_millis()
    }

    /// True when the lanes should be refilled before some of them run dry.
    #[must_use]
    pub fn runs_low(&self, lease_size: usize, policy: HostPolicy) -> bool {
        self.lanes.len() < lease_size / 4 + self.at_once(policy)
    }

    /// Queues a job in its lane. All pages of one list share a lane, so that none is read before the page that precedes it: a list
    /// that grows meanwhile would hide rows between the two. The links of those pages keep the other lanes busy.
    /// Within its lane it goes before those whose ranks have a later place in the order.
    pub fn queue(&mut self, job: Job, site: &SiteRules) {
        let lane = self.lane(&job, site);
        let place_of = place_in(&self.order, self.oldest.as_ref());
        let place = place_of(&job);
        self.lanes.insert(lane, job, |queued| place_of(queued) > place);
    }

    /// From now on the lanes keep this order. Where it is another one, there may be better URLs in the queue than in the lanes.
    pub fn keep_order(&mut self, order: RankOrder) {
        if std::mem::replace(&mut self.order, order) != order {
            self.has_more = true;
            self.lanes.sort_by_key(place_in(&self.order, self.oldest.as_ref()));
        }
    }

    /// Puts this queued URL before all others.
    pub fn put_first(&mut self, key: UrlKey) {
        self.oldest = Some(key);
        self.lanes.sort_by_key(place_in(&self.order, self.oldest.as_ref()));
    }

    /// What has waited longest in the lanes.
    #[must_use]
    pub fn oldest_queued(&self) -> Option<&Lease> {
        self.lanes.iter().map(|job| &job.lease).min_by_key(|lease| lease.seq)
    }

    /// The ranks that come before some that are queued: of these, URLs found since may be leased. None if there are none, or the lanes
    /// hold enough.
    #[must_use]
    pub fn better(&self, lease_size: usize) -> Option<RankOrder> {
        if self.lanes.len() >= lease_size.saturating_mul(LEASES_IN_LANES) {
            return None;
        }
        let worst = self.worst_queued()?;
        (worst > 0).then(|| self.order.before(worst))
    }

    fn worst_queued(&self) -> Option<u8> {
        self.lanes.iter().map(|job| self.order.place(job.lease.rank)).max()
    }

    fn lane(&self, job: &Job, site: &SiteRules) -> u32 {
        let list = series::place(site, job).map(|(series, _)| format!("{}{series}", job.url.origin()));
        let name = list.as_deref().unwrap_or(job.url.as_str());
        lane_of(site.lanes.key, self.faces[0].name(), name, site.lanes.count.into())
    }

    /// The next URL to visit, and its lane: history's lanes have their own numbers, the increment's follow after them.
    /// Without a split only history runs; with one it may be held. `turns` decides which queue of the increment is next if requests are
    /// counted by the day.
    pub fn next_job(
        &mut self,
        split: Option<Split>,
        held: PausedCrews,
        turns: Option<LookTurns>,
    ) -> Option<(usize, Job)> {
        let place = place_in(&self.order, self.oldest.as_ref());
        let Some(split) = split else { return self.lanes.pop(place) };
        let history = Hands { running: self.lanes.running(), has_work: self.lanes.has_ready() && !held.history };
        let increment = Hands { running: self.news.running(), has_work: !self.news.is_empty() && !held.increment };
        match self.news.turns.next(split, history, increment)? {
            false => self.lanes.pop(place),
            true => self.news.pop(turns).map(|(slot, job)| (self.lanes.count() + slot, job)),
        }
    }

    /// Takes back what [`Self::next_job`] returned.
    pub fn put_back(&mut self, lane: usize, job: Job, split: Option<Split>) {
        let slot = lane.checked_sub(self.lanes.count());
        if let Some(split) = split {
            self.news.turns.give_back(split, slot.is_some());
        }
        match slot {
            Some(slot) => self.news.put_back(slot, job),
            None => self.lanes.put_back(lane, job),
        }
    }

    /// Whether what [`Self::next_job`] returned is a recheck; None for history's jobs.
    #[must_use]
    pub fn is_look(&self, lane: usize) -> Option<bool> {
        lane.checked_sub(self.lanes.count()).map(|slot| self.news.is_look(slot))
    }

    /// Drops what [`Self::next_job`] returned because it cannot start; its crew's turn is given back.
    pub fn leave(&mut self, lane: usize, split: Option<Split>) {
        if let Some(split) = split {
            self.news.turns.give_back(split, lane >= self.lanes.count());
        }
        self.done(lane);
    }

    /// The lane's visit has ended.
    pub fn done(&mut self, lane: usize) {
        match lane.checked_sub(self.lanes.count()) {
            Some(slot) => self.news.done(slot),
            None => self.lanes.done(lane),
        }
    }

    /// True if a job waits for its turn.
    #[must_use]
    pub fn has_jobs(&self) -> bool {
        !self.lanes.is_empty() || !self.news.is_empty()
    }

    /// True when a one-shot crawl gives up every origin that serves the host.
    #[must_use]
    pub fn is_given_up(&self, now: UnixMillis) -> bool {
        self.faces.iter().all(|face| face.is_given_up(now))
    }

    /// When the loop has to check this host again if no event occurs; None: only after an event. `hosts` is how many the site has.
    #[must_use]
    pub fn wake_at(&self, site: &SiteRules, hosts: usize) -> Option<UnixMillis> {
        let face = self.face();
        if self.gate.is_some() || matches!(face.robots, RobotsState::Asked) || face.location == Location::Asked {
            return self.gate.map(|(at, _)| at);
        }
        self.lease_at.filter(|_| self.lanes.len() < self.lanes.count() && self.has_room(site, hosts))
    }

    /// True if a lease would be asked for now: else the loop would be woken for nothing, and at once again.
    fn has_room(&self, site: &SiteRules, hosts: usize) -> bool {
        let policy = self.face().policy(site);
        let lease_size = self.lease_size(policy, hosts);
        self.runs_low(lease_size, policy) || self.has_more && self.better(lease_size).is_some()
    }
}

/// The place of each job in the lanes.
fn place_in<'o>(order: &'o RankOrder, oldest: Option<&'o UrlKey>) -> impl Fn(&Job) -> u8 + 'o {
    move |job| match oldest == Some(&job.lease.key) {
        true => 0,
        false => order.place(job.lease.rank).saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::crews::Crew;
    use gleaner_rules::{Class, from_text};

    const FAST: HostPolicy = HostPolicy { interval_ms: 0, connections_max: 16, rest_factor: 0.0, rest_ms_min: 0 };
    const SLOW: HostPolicy = HostPolicy { interval_ms: 1_000, ..FAST };

    fn host() -> (HostWork, Arc<SiteRules>) {
        let rules = from_text("s", "start = ['http://a.example/']\nclasses.page = ['.']")
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        let (site, origin, blocked_reason) = ("s".into(), "http://a.example".into(), "".into());
        let row = HostRow { id: HostId(0), site, origin, blocked_until: UnixMillis(0), blocked_reason, complaints: 0 };
        let mut host = HostWork::new(row, Vec::new(), &rules);
        host.keep_order(RankOrder::of(&[5, 6]));
        (host, rules)
    }

    fn queue(host: &mut HostWork, rules: &SiteRules, rank: u8) {
        let key = UrlKey { host: HostId(0), path: format!("/{rank}").into() };
        let (via, memo, found) = (None, None, None);
        let lease = Lease { key, depth: 1, rank, attempts: 0, via, memo, deadline: UnixMillis(9), found, seq: 0 };
        let url = CrawlUrl::from_parts("http://a.example", &lease.key.path);
        let job =
            Job { lease, url, class: Class::Page, rule: 0, crew: Crew::History, was_read: false, is_guess: false };
        host.queue(job, rules);
    }

    #[test]
    fn a_lease_leaves_better_urls_only_if_it_was_full_of_better_ones_than_the_last_in_the_lanes() {
        let (mut host, rules) = host();
        queue(&mut host, &rules, 6);
        host.has_more = false;
        host.leased(false, Some(1));
        assert!(!host.has_more, "the rest of the queue is no better than what it brought");
        host.leased(false, Some(0));
        assert!(host.has_more, "there may be more of the best before the worst that waits");
        host.has_more = false;
        host.leased(true, Some(0));
        assert!(!host.has_more, "it came short");
    }

    #[test]
    fn a_host_is_dry_before_its_lanes_are_if_its_rate_lets_them_end_within_a_commit() {
        let (mut host, rules) = host();
        (0..3).for_each(|_| queue(&mut host, &rules, 5));
        assert!(!host.runs_dry(FAST, UnixMillis(1)), "it may be asked for more");
        host.lease_at = None;
        let ten_ms = HostPolicy { interval_ms: 10, ..FAST };
        assert!(host.runs_dry(FAST, UnixMillis(1)) && !host.runs_dry(ten_ms, UnixMillis(1)));
        host.next_job(None, PausedCrews::default(), None).unwrap();
        assert!(host.runs_dry(ten_ms, UnixMillis(1)) && !host.runs_dry(SLOW, UnixMillis(1)));
    }

    #[test]
    fn a_host_that_would_lease_nothing_wakes_nobody() {
        let (mut host, _) = host();
        let rules = "start = ['http://a.example/']\nclasses.page = ['.']\nrate.delay_ms = 30000";
        let rules = from_text("s", rules).unwrap_or_else(|faults| panic!("{faults:?}"));
        host.lanes = Lanes::new(16);
        assert_eq!(host.wake_at(&rules, 1), Some(UnixMillis(0)), "the lanes are empty");
        while host.has_room(&rules, 1) {
            queue(&mut host, &rules, 5);
        }
        assert!(host.lanes.len() < host.lanes.count(), "a slow host has few leases");
        assert_eq!(host.wake_at(&rules, 1), None, "the end of the visit that is under way wakes the loop");
        host.has_more = true;
        assert_eq!(host.wake_at(&rules, 1), None, "nothing comes before the best");
        queue(&mut host, &rules, 6);
        assert_eq!(host.wake_at(&rules, 1), Some(UnixMillis(0)), "something may come before the last");
    }

    #[test]
    fn what_is_leased_is_served_long_before_the_lease_ends() {
        let (mut host, rules) = host();
        host.lanes = Lanes::new(16);
        assert_eq!([1, 4, 200].map(|hosts| host.lease_size(FAST, hosts)), [256, 64, 32], "hosts share connections");
        let delayed = HostPolicy { interval_ms: 30_000, connections_max: 1, ..FAST };
        let urls = host.lease_size(delayed, 1);
        while host.runs_low(urls, delayed) {
            (0..urls).for_each(|_| queue(&mut host, &rules, 5));
        }
        let lasts = Duration::from_secs(30) * u32::try_from(host.lanes.len()).unwrap();
        assert!(lasts <= limits::LEASE_TIME / 2, "{urls} a lease: {lasts:?}");
    }
}
