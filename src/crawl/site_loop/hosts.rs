//! The hosts of one site: which origin or mirror serves each, its address, what its robots.txt and its pauses allow, and its queues.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Shared;
use super::clock::LastCrawl;
use super::under_way::{Ran, UnderWay};
use crate::CrawlError;
use crate::host_work::{HostWork, Location, RobotsState, Why};
use crate::hosts::{Ending, HostKeys, Hosts, Slot};
use crate::job::Job;
use crate::limits::{self, CONNECTION_POLL};
use crate::progress::{Ended, Progress};
use crate::robots_txt::{self, RobotsAnswer, RobotsFault, RobotsLocation};
use crate::site::Site;
use crate::{judging, series};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{FetchFailure, Resolution};
use gleaner_net::politeness::robots::Robots;
use gleaner_net::politeness::{Answered, Block, Gate};
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{HostId, HostRow, ROBOTS_TOKENS, UrlKey};

/// The hosts of one site, in the order in which they were found.
pub(super) struct SiteHosts {
    site: Arc<Site>,
    /// The hosts of the process.
    shared: Hosts,
    /// One permit per request in flight, over all sites.
    requests: Arc<Semaphore>,
    progress: Progress,
    keep_looking: bool,
    /// True if there is an increment, which does rechecks.
    has_increment: bool,
    hosts: Vec<HostWork>,
    index: HashMap<HostId, usize>,
}

impl Deref for SiteHosts {
    type Target = [HostWork];

    fn deref(&self) -> &[HostWork] {
        &self.hosts
    }
}

impl DerefMut for SiteHosts {
    fn deref_mut(&mut self) -> &mut [HostWork] {
        &mut self.hosts
    }
}

impl SiteHosts {
    pub(super) fn new(site: &Arc<Site>, shared: &Shared, keep_looking: bool, has_increment: bool) -> Self {
        Self {
            site: Arc::clone(site),
            shared: shared.hosts.clone(),
            requests: Arc::clone(&shared.requests),
            progress: shared.progress.clone(),
            keep_looking,
            has_increment,
            hosts: Vec::new(),
            index: HashMap::new(),
        }
    }

    /// Adds hosts that the database knows for this site; new ones are found as pages link to them, and added at once.
    /// `walls_token` unparks what earlier processes have left before walls.
    pub(super) async fn meet(
        &mut self,
        last_crawl: &LastCrawl,
        walls_token: u64,
        under_way: &mut UnderWay,
    ) -> Result<(), CrawlError> {
        let rules = Arc::clone(&self.site.rules);
        for mirror in &rules.mirrors {
            self.site.db.host_id(&rules.name, mirror).await?;
        }
        let mut rows = self.site.db.hosts().await?;
        // Pauses that the same host imposed on other sites apply to this one, too.
        let now = self.site.clock.now();
        for row in &rows {
            self.shared.take_up(row, CrawlUrl::from_parts(&row.origin, "/").host(), now);
        }
        for row in rows.iter_mut().filter(|row| row.site == rules.name) {
            let url = CrawlUrl::from_parts(&row.origin, "/");
            row.blocked_until = self.shared.blocked_until(url.host(), now);
        }
        let rows: Vec<HostRow> = rows.into_iter().filter(|row| row.site == rules.name).collect();
        let mirrors: Vec<HostRow> =
            rules.mirrors.iter().filter_map(|mirror| rows.iter().find(|row| row.origin == *mirror).cloned()).collect();
        for row in rows {
            // Of a host that the rule file no longer names nothing is asked, its robots.txt included.
            let is_own = rules.owns_host(CrawlUrl::from_parts(&row.origin, "/").authority());
            if !is_own || self.index.contains_key(&row.id) || rules.mirrors.contains(&row.origin) {
                continue;
            }
            let now = self.site.clock.now();
            let traps_token = self.site.worth().token();
            for token in [self.site.rules_token, traps_token, walls_token] {
                self.site.db.unpark(row.id, token, now).await?;
            }
            if last_crawl.has_other_rules || (last_crawl.lacks_schedule && self.keep_looking) {
                // Scheduled lists are rechecked now: the plan for their turns is lost, or outdated.
                self.site.db.bring_forward(row.id).await?;
            }
            let mirrors = if *row.origin == *rules.primary() { mirrors.clone() } else { Vec::new() };
            let host = HostWork::new(row, mirrors, &rules);
            // The rule file may override robots.txt from now on.
            if let Some(token) = host.face().robots_in_force(now).map(|robots| robots_token(robots)) {
                self.site.db.unpark(host.id, token, now).await?;
            }
            self.index.insert(host.id, self.hosts.len());
            self.hosts.push(host);
            self.locate(self.hosts.len() - 1, under_way);
        }
        Ok(())
    }

    pub(super) fn of(&self, key: &UrlKey) -> Option<&HostWork> {
        self.index.get(&key.host).map(|index| &self.hosts[*index])
    }

    pub(super) fn of_mut(&mut self, key: &UrlKey) -> Option<&mut HostWork> {
        self.index.get(&key.host).map(|index| &mut self.hosts[*index])
    }

    /// The host whose own origin has this name.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.faces()[0].name() == name)
    }

    pub(super) fn url(&self, key: &UrlKey) -> Option<CrawlUrl> {
        Some(CrawlUrl::from_parts(self.of(key)?.origin(), &key.path))
    }

    /// True for a start page.
    pub(super) fn is_start(&self, key: &UrlKey) -> bool {
        let is_it = |host: &HostWork, start: &CrawlUrl| start.origin() == host.origin() && start.path() == &*key.path;
        self.of(key).is_some_and(|host| self.site.rules.start.iter().any(|start| is_it(host, start)))
    }

    /// Lets all hosts lease again: there are new frontier rows, but the receipt does not name their host.
    pub(super) fn lease_soon(&mut self) {
        for host in &mut self.hosts {
            host.lease_at = Some(UnixMillis(0));
            host.has_more = true;
        }
    }

    /// Rechecks may be due at any host.
    pub(super) fn look_soon(&mut self) {
        if self.has_increment {
            self.hosts.iter_mut().for_each(|host| host.news.plan_look(UnixMillis(0)));
        }
    }

    /// The update crawldb may have rows for any host.
    pub(super) fn news_came(&mut self) {
        self.hosts.iter_mut().for_each(|host| host.news.may_lease = true);
    }

    /// Records what the service waits for: the rules' own hours; a one-shot crawl that has used up its budget ends instead.
    pub(super) fn hold(&mut self, index: usize, (until, why): (UnixMillis, Why)) {
        if self.keep_looking || why == Why::QuietHours {
            self.hosts[index].gate = Some((until, why));
        }
    }

    /// Until when a host's own origin pauses; zero if it does not.
    pub(super) fn blocked_until(&self, index: usize, now: UnixMillis) -> UnixMillis {
        self.shared.blocked_until(self.hosts[index].faces()[0].name(), now)
    }

    /// A one-shot crawl does not wait for a host that has not answered for long; the service does.
    pub(super) fn leaves_alone(&self, index: usize) -> bool {
        !self.keep_looking && self.hosts[index].is_given_up(self.site.clock.now())
    }

    /// True if only rechecks planned for later are left, which a one-shot crawl leaves to the next one.
    pub(super) async fn only_looks_left(&self) -> Result<bool, CrawlError> {
        let now = self.site.clock.now();
        let awaited: Vec<usize> = (0..self.hosts.len()).filter(|index| !self.leaves_alone(*index)).collect();
        if awaited.iter().any(|index| self.hosts[*index].gate.is_some() || !self.hosts[*index].lanes.is_empty()) {
            return Ok(false);
        }
        for index in awaited {
            let host = self.hosts[index].id;
            for row in self.site.db.queued(host, limits::PLANNED_LOOKS_READ).await? {
                // Whatever waits for a later time and was not refused, failed or kept waiting by its host is a recheck.
                let record = self.site.db.url_record(&row.key).await?;
                if row.due <= now || !record.is_some_and(|record| record.waits_for_a_look()) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// How a crawl ends that has nothing in progress and nothing to wait for.
    pub(super) fn nothing_left(&self) -> Ended {
        let now = self.site.clock.now();
        let left = |host: &&HostWork| host.is_given_up(now) && (host.lease_at.is_some() || !host.lanes.is_empty());
        let Some(host) = self.hosts.iter().find(left) else { return Ended::Exhausted };
        let face = host.face();
        let reason = face.block.as_ref().map_or("the pause of an earlier crawl is not over", |(_, reason)| reason);
        let times = face.block.as_ref().map_or(0, |(block, _)| block.complaints);
        Ended::Unreachable(if times >= limits::HOST_COMPLAINTS_MAX {
            format!("{}, {times} times in a row: {reason}", face.origin)
        } else {
            format!("{} waits until {}: {reason}", face.origin, face.blocked_until.rfc3339())
        })
    }

    /// Queues URLs again that were cut as traps, if a shape has recovered. True if that restored some.
    pub(super) async fn ask_again_for_cuts(&mut self) -> Result<bool, CrawlError> {
        let Some(token) = self.site.worth().recovered() else { return Ok(false) };
        let now = self.site.clock.now();
        let mut brought = 0;
        for host in &self.hosts {
            brought += self.site.db.unpark(host.id, token, now).await?;
        }
        if brought > 0 {
            self.lease_soon();
        }
        Ok(brought > 0)
    }

    /// Queues jobs in the order of their kinds, the heaviest first within each; equal ones in the order of the frontier.
    pub(super) fn queue_by_weight(&mut self, index: usize, jobs: Vec<Job>) {
        let order = self.site.worth().order();
        self.hosts[index].keep_order(order);
        let mut weighed: Vec<(u8, f64, Job)> = {
            let worth = self.site.worth();
            jobs.into_iter().map(|job| (order.place(job.lease.rank), worth.weigh(&job), job)).collect()
        };
        weighed.sort_by(|(kind, weight, _), (other, than, _)| kind.cmp(other).then(than.total_cmp(weight)));
        let jobs = in_order(&self.site.rules, weighed.into_iter().map(|(_, _, job)| job).collect());
        for job in jobs {
            self.hosts[index].queue(job, &self.site.rules);
        }
    }

    /// A connection of the host and one of the process's request slots. If another site holds them, there is no
    /// wake-up: the loop checks again soon. The host's address must be known: it has a rate, too.
    pub(super) fn through_gate(
        &mut self,
        index: usize,
        keys: &Arc<HostKeys>,
        under_way: &mut UnderWay,
    ) -> Option<(Slot, OwnedSemaphorePermit)> {
        let now = self.site.clock.now();
        match self.hosts[index].face().location {
            Location::Unknown => {
                self.locate(index, under_way);
                return None;
            }
            // The earlier address stays in use during a new lookup.
            Location::Known { until } if until <= now => self.locate(index, under_way),
            Location::Asked if !self.hosts[index].face().was_located => return None,
            _ => {}
        }
        let policy = self.hosts[index].face().policy(&self.site.rules);
        let host = &mut self.hosts[index];
        let Ok(permit) = Arc::clone(&self.requests).try_acquire_owned() else {
            host.gate = Some((now.plus(CONNECTION_POLL), Why::Connection));
            return None;
        };
        match self.shared.ask(keys, policy, now) {
            Ok(slot) => return Some((slot, permit)),
            Err(Gate::WaitUntil(at)) => host.gate = Some((at, Why::Patience)),
            Err(_) => host.gate = Some((now.plus(CONNECTION_POLL), Why::Connection)),
        }
        None
    }

    /// Looks up the host's address, in the background.
    fn locate(&mut self, index: usize, under_way: &mut UnderWay) {
        let face = self.hosts[index].active();
        let asked = self.hosts[index].face_mut(face);
        asked.location = Location::Asked;
        let url = CrawlUrl::from_parts(&asked.origin, "/");
        let site = Arc::clone(&self.site);
        under_way.push(Box::pin(async move {
            let result = site.transport.resolve(&url).await;
            Ok(Ran::Located { host: index, face, result })
        }));
    }

    pub(super) fn located(&mut self, index: usize, face: usize, result: Result<Resolution, FetchFailure>) {
        let now = self.site.clock.now();
        let face = self.hosts[index].face_mut(face);
        match result {
            Ok(Resolution { addresses, ttl }) => face.located(&addresses, now.plus(ttl.max(limits::LOCATED_FOR_MIN))),
            Err(failure) => {
                // Its requests will fail for the same reason, and cause its pause.
                tracing::debug!(host = face.name(), error = %failure, "host cannot be resolved");
                face.located(&[], now.plus(limits::LOCATED_FOR_MIN));
            }
        }
    }

    /// Chooses the origin that serves a host: its own while that answers, else a mirror.
    pub(super) async fn choose_face(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &mut self.hosts[index];
        if !host.choose_face(&self.shared, now) {
            return Ok(());
        }
        let (site, id, face) = (&self.site.rules.name, host.id, host.face());
        let waits_until = host.faces()[0].blocked_until.rfc3339();
        tracing::warn!(%site, host = host.origin(), now_at = %face.origin, waits_until, "another mirror of the site is used");
        // URLs closed by the other's robots.txt may be allowed here.
        if let Some(token) = face.robots_in_force(now).map(|robots| robots_token(robots)) {
            self.site.db.unpark(id, token, now).await?;
        }
        host.lease_at = Some(now);
        Ok(())
    }

    /// Requests a host's robots.txt; not while all requests are held.
    pub(super) fn ask_robots(&mut self, index: usize, held: Option<(UnixMillis, Why)>, under_way: &mut UnderWay) {
        if matches!(self.hosts[index].face().robots, RobotsState::Asked) {
            return;
        }
        if let Some(held) = held {
            return self.hold(index, held);
        }
        let face = self.hosts[index].face();
        let place = match &face.robots {
            RobotsState::Moved(place) => RobotsLocation::clone(place),
            _ => RobotsLocation::of(&face.origin, Arc::clone(&face.keys)),
        };
        let Some((slot, permit)) = self.through_gate(index, &place.keys, under_way) else { return };
        let face = self.hosts[index].active();
        self.hosts[index].face_mut(face).robots = RobotsState::Asked;
        let site = Arc::clone(&self.site);
        under_way.push(Box::pin(async move {
            let result = site.scripts.ask_robots(&place).await;
            drop(permit);
            Ok(Ran::Robots { host: index, face, slot, result })
        }));
    }

    pub(super) async fn robots_answered(
        &mut self,
        last_crawl: &LastCrawl,
        index: usize,
        face: usize,
        slot: Slot,
        result: Result<RobotsAnswer, RobotsFault>,
    ) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        match result {
            Ok(RobotsAnswer::Moved(place)) => {
                self.hosts[index].face_mut(face).robots = RobotsState::Moved(place);
                self.answered(index, face, slot, Answered::Reached, "robots.txt").await?;
            }
            Ok(RobotsAnswer::Rules(robots)) => {
                self.site.db.unpark(self.hosts[index].id, robots_token(&robots), now).await?;
                self.look_at_sitemaps(last_crawl, index, face, &robots).await?;
                self.hosts[index].face_mut(face).obeys(robots, now.plus(robots_txt::KEPT_FOR));
                self.hosts[index].lease_at = Some(now);
                self.answered(index, face, slot, Answered::Reached, "robots.txt").await?;
            }
            Err(fault) => {
                self.hosts[index].face_mut(face).robots = RobotsState::Unknown;
                self.answered(index, face, slot, fault.answered, &fault.detail).await?;
            }
        }
        Ok(())
    }

    /// Makes sitemaps that robots.txt names due like start pages, whatever the rules say of their own URLs.
    async fn look_at_sitemaps(
        &mut self,
        last_crawl: &LastCrawl,
        index: usize,
        face: usize,
        robots: &Robots,
    ) -> Result<(), CrawlError> {
        if !self.site.rules.sitemaps || robots.sitemaps.is_empty() {
            return Ok(());
        }
        self.site.rows.sitemaps.forget();
        let base = CrawlUrl::from_parts(&self.hosts[index].faces()[face].origin, "/robots.txt");
        let urls = robots.sitemaps.iter().filter_map(|url| judging::resolve(&self.site.rules, &base, url));
        let found = urls.filter_map(|url| self.site.rows.sitemaps.take(&self.site.rules, url)).collect();
        last_crawl.look_at(&self.site, self.keep_looking, found, 1).await?;
        self.lease_soon();
        Ok(())
    }

    /// Records how the host answered a request; a pause that it imposed is stored in the database.
    pub(super) async fn answered(
        &mut self,
        index: usize,
        face: usize,
        slot: Slot,
        answered: Answered,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let policy = self.hosts[index].faces()[face].policy(&self.site.rules);
        let ending = slot.finish(answered, policy, self.site.clock.now());
        self.takes_note(index, face, answered, ending, detail).await
    }

    /// Stores the consequence of a finished request for its host.
    pub(super) async fn takes_note(
        &mut self,
        index: usize,
        face: usize,
        answered: Answered,
        ending: Ending,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let Ending { block, pauses, forgiven } = ending;
        let host = self.hosts[index].face_mut(face);
        if forgiven || (answered == Answered::Well && !pauses) {
            host.forgive();
            if let Some(since) = host.outage.take() {
                let (site, lasted_s) = (&self.site.rules.name, self.site.clock.now().since(since).as_secs());
                tracing::info!(%site, host = host.name(), lasted_s, "host answers again");
            }
            self.progress.watch(&self.site.rules.name, |watched| drop(watched.hosts.remove(&*host.origin)));
        }
        if forgiven {
            self.site.db.forgive_host(host.id).await?;
        }
        match block {
            Some(block) => self.pauses(index, face, block, detail).await,
            None => Ok(()),
        }
    }

    /// Records a pause imposed by a host, which is stored in the database.
    pub(super) async fn pauses(
        &mut self,
        index: usize,
        face: usize,
        block: Block,
        detail: &str,
    ) -> Result<(), CrawlError> {
        let host = self.hosts[index].face_mut(face);
        let (site, until) = (&self.site.rules.name, block.until.rfc3339());
        let reason = format!("{}: {detail}", block.reason);
        self.progress.watch(site, |watched| watched.pauses(&host.origin, &block, &reason, self.site.clock.now()));
        // One line when it begins to stay away, whichever of the requests in flight finds that, and one when it answers again.
        let (in_a_row, is_known) = (block.complaints, host.outage.is_some());
        host.outage.get_or_insert(self.site.clock.now());
        if !is_known {
            tracing::warn!(%site, host = host.name(), until, in_a_row, reason, "host is paused");
        } else {
            tracing::debug!(%site, host = host.name(), until, in_a_row, reason, "host is paused");
        }
        self.site.db.block_host_until(host.id, block.until, &reason, block.complaints).await?;
        host.blocked_until = block.until;
        host.block = Some((block, reason));
        Ok(())
    }

    /// What an idle loop waits for at a host until then, unless it is only that host's turn.
    pub(super) fn waits_for(&self, at: UnixMillis) -> Result<String, Why> {
        let gate = |host: &HostWork| host.gate.filter(|(until, _)| *until == at);
        let Some((host, why)) = self.hosts.iter().find_map(|host| gate(host).map(|(_, why)| (host, why))) else {
            return Ok(crate::progress::NEXT_LOOK.to_owned());
        };
        let face = host.face();
        let name = face.name();
        Ok(match why {
            Why::Connection => format!("{name}: its connections are in use"),
            Why::Patience => match &face.block {
                Some((block, reason)) if block.until == at => format!("{name}: {reason}"),
                _ if face.blocked_until == at => format!("{name}: the pause of an earlier crawl is not over"),
                // Its rate never requires a wait as long as its pauses, which all sites of the process share.
                _ if self.shared.blocked_until(name, self.site.clock.now()) >= at => {
                    format!("{name}: it asked for this pause when it was asked for another site")
                }
                _ => format!("{name}: its rate allows no more"),
            },
            // The rules themselves give the reason.
            held => return Err(held),
        })
    }
}

/// Sorts the pages of one list in ascending order, within the positions that they have among the others.
fn in_order(rules: &SiteRules, jobs: Vec<Job>) -> Vec<Job> {
    let mut lists: BTreeMap<String, Vec<(u64, usize)>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate() {
        if let Some((series, page)) = series::place(rules, job) {
            lists.entry(series).or_default().push((page, at));
        }
    }
    let mut place: Vec<usize> = (0..jobs.len()).collect();
    for mut pages in lists.into_values() {
        let places: Vec<usize> = pages.iter().map(|(_, at)| *at).collect();
        pages.sort_unstable();
        pages.iter().zip(places).for_each(|((_, at), to)| place[*at] = to);
    }
    let mut placed: Vec<(usize, Job)> = place.into_iter().zip(jobs).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, job)| job).collect()
}

/// Marks what a robots.txt has closed.
pub(super) fn robots_token(robots: &Robots) -> u64 {
    robots.fingerprint() | ROBOTS_TOKENS
}
