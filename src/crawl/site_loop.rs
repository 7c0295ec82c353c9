//! One site's crawl: leases fill the lanes, the gate lets visits start, finished visits go to the committer.
//!
//! The loop is one task. Visits run inside it side by side; what they share (lanes, host states, counts) needs
//! no lock across an await, and the same inputs give the same order.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::commit::{Committed, Message};
use super::progress::{Ended, Progress};
use super::site::Site;
use super::visit::{self, Finished, Job};
use super::{CrawlError, Hosts, RunOptions, robots_txt};
use crate::clock::UnixMillis;
use crate::crawldb::{HostDue, HostId, Lease, LeaseRequest, Next, Outcome, Owner};
use crate::frontier::lanes::{Lanes, lane_of};
use crate::limits;
use crate::politeness::robots::Robots;
use crate::politeness::{Answered, Gate, HostPolicy};
use crate::rules::{self, Class, Verdict};
use crate::url::CrawlUrl;

/// Requests in a row without an answer after which a crawl that is to end gives the host up for this run.
const UNREACHABLE_MAX: u32 = 5;

/// Longest sleep of an idle loop: the watchdog wants to see it, and the clock may have jumped.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// How often the time under crawl is written down: a kill loses no more of it.
const TIME_KEPT_EVERY: Duration = Duration::from_secs(30);

/// How often a site looks for a connection or a request's place that another site holds.
const CONNECTION_POLL: Duration = Duration::from_millis(50);

/// What the site loop shares with the rest of the process.
#[derive(Clone)]
pub struct Shared {
    pub hosts: Hosts,
    pub progress: Progress,
    pub commits: mpsc::Sender<Message>,
    /// True once the process is to end.
    pub stop: watch::Receiver<bool>,
    pub owner: Owner,
    /// One permit a request under way, over all sites.
    pub requests: Arc<Semaphore>,
    /// Requests of the whole run so far, for `--max-pages`.
    pub pages: Arc<AtomicU64>,
    /// When this site last looked for work; the service's watchdog reads it.
    pub alive: Arc<AtomicU64>,
}

type Running = Pin<Box<dyn Future<Output = Ran> + Send>>;

enum Ran {
    Visit { host: usize, lane: usize, finished: Box<Finished> },
    Robots { host: usize, result: Result<Robots, String> },
}

enum RobotsState {
    Unknown,
    Asked,
    Known { robots: Arc<Robots>, until: UnixMillis },
}

struct HostWork {
    id: HostId,
    origin: String,
    /// Host name: what politeness binds.
    name: String,
    lanes: Lanes<Job>,
    robots: RobotsState,
    /// Leasing again may bring something: at once, at a time, or only after a commit.
    lease_at: Option<UnixMillis>,
    /// Not to be asked before this time.
    gate_at: Option<UnixMillis>,
    unanswered: u32,
}

/// One site's crawl.
pub struct SiteLoop {
    site: Arc<Site>,
    shared: Shared,
    options: RunOptions,
    hosts: Vec<HostWork>,
    host_index: HashMap<HostId, usize>,
    running: FuturesUnordered<Running>,
    receipts: mpsc::UnboundedReceiver<Committed>,
    reply: mpsc::UnboundedSender<Committed>,
    /// Visits sent to the committer without a receipt yet.
    uncommitted: usize,
    /// Requests to this site since its first crawl.
    site_pages: u64,
    started: UnixMillis,
    /// Until when the time under crawl is in the database.
    time_kept: UnixMillis,
}

impl SiteLoop {
    /// Prepares the crawl: the start URLs are put into the frontier, or made due again when their last look is
    /// older than the site's revisit interval.
    pub async fn new(site: Arc<Site>, shared: Shared, options: RunOptions) -> Result<Self, CrawlError> {
        let (reply, receipts) = mpsc::unbounded_channel();
        let now = site.clock.now();
        let mut rows = Vec::new();
        for url in &site.rules.start {
            let class = match site.rules.judge(url) {
                Verdict::Take { class, .. } => class,
                Verdict::Refuse { .. } => Class::Index,
            };
            let mut row = site.row(url, class, 0).await?;
            // Start URLs come before all others.
            row.rank = 0;
            let fresh_until = site
                .db
                .url_record(&row.key)
                .await?
                .filter(|record| record.outcome.is_some())
                .map(|record| record.visited.plus(site.rules.revisit));
            row.due = fresh_until.unwrap_or(UnixMillis(0));
            if options.keep_looking || row.due <= now {
                rows.push(row);
            }
        }
        site.db.make_due(rows, now).await?;
        let counts = site.db.site_counts(&site.rules.name).await?;
        shared.progress.update(&site.rules.name, |progress| {
            progress.counts.queued = counts.urls_queued;
            progress.ended = None;
        });
        let site_pages = counts.pages();
        let mut this = Self {
            site,
            shared,
            options,
            hosts: Vec::new(),
            host_index: HashMap::new(),
            running: FuturesUnordered::new(),
            receipts,
            reply,
            uncommitted: 0,
            site_pages,
            started: now,
            time_kept: now,
        };
        this.meet_hosts().await?;
        Ok(this)
    }

    /// Runs until the site is exhausted, a budget is used up or the process is to end.
    pub async fn run(mut self) -> Result<Ended, CrawlError> {
        let ended = self.work().await?;
        self.drain().await?;
        self.keep_time(Duration::ZERO).await?;
        self.shared.progress.update(&self.site.rules.name, |progress| {
            progress.ended = Some(ended.clone());
            progress.waiting = None;
        });
        Ok(ended)
    }

    /// Adds the time since it was last added to the site's time under crawl, once it is `at_least` this long.
    async fn keep_time(&mut self, at_least: Duration) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let elapsed = now.since(self.time_kept);
        if elapsed >= at_least {
            self.time_kept = now;
            let crawl_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            self.site.db.add_crawl_time(&self.site.rules.name, crawl_ms).await?;
        }
        Ok(())
    }

    async fn work(&mut self) -> Result<Ended, CrawlError> {
        loop {
            self.shared.alive.store(self.site.clock.now().0, Ordering::Relaxed);
            if *self.shared.stop.borrow() {
                return Ok(Ended::Stopped);
            }
            if let Some(budget) = self.budget_used_up() {
                return Ok(Ended::Budget(budget));
            }
            self.lease().await?;
            self.start_visits();
            if self.starved() {
                self.send(Message::Flush).await?;
            }
            let wake = match self.wait_until().await? {
                Ok(wake) => wake,
                Err(ended) => return Ok(ended),
            };
            let pause = wake.map_or(IDLE_MAX, |wake| wake.since(self.site.clock.now()).min(IDLE_MAX));
            // Waiting with nothing under way is no crawling.
            let idle = self.running.is_empty() && self.uncommitted == 0;
            self.keep_time(if idle { Duration::from_millis(1) } else { TIME_KEPT_EVERY }).await?;
            tokio::select! {
                biased;
                _ = self.shared.stop.changed() => {}
                Some(committed) = self.receipts.recv() => {
                    self.committed(&committed);
                    while let Ok(committed) = self.receipts.try_recv() {
                        self.committed(&committed);
                    }
                }
                Some(ran) = self.running.next() => self.ran(ran).await?,
                () = tokio::time::sleep(pause) => {}
            }
            if idle {
                self.time_kept = self.site.clock.now();
            }
        }
    }

    /// Hosts that the database knows for this site; new ones are met as pages link to them.
    async fn meet_hosts(&mut self) -> Result<(), CrawlError> {
        for row in self.site.db.hosts().await? {
            if *row.site != *self.site.rules.name || self.host_index.contains_key(&row.id) {
                continue;
            }
            let name = CrawlUrl::from_parts(&row.origin, "/").host().to_owned();
            self.shared.hosts.with(&name, |state| state.block(row.blocked_until));
            let robots = if self.site.rules.robots == rules::Robots::Obey {
                RobotsState::Unknown
            } else {
                RobotsState::Known { robots: Arc::new(Robots::allow_all()), until: UnixMillis(u64::MAX) }
            };
            self.host_index.insert(row.id, self.hosts.len());
            self.hosts.push(HostWork {
                id: row.id,
                origin: row.origin.into(),
                name,
                lanes: Lanes::new(self.site.rules.lanes.count.into()),
                robots,
                lease_at: Some(UnixMillis(0)),
                gate_at: None,
                unanswered: 0,
            });
        }
        Ok(())
    }

    fn budget_used_up(&self) -> Option<String> {
        let now = self.site.clock.now();
        if let Some(max) = self.options.time_max
            && now.since(self.started) >= max
        {
            return Some(format!("--max-time of {} s", max.as_secs()));
        }
        let pages = self.shared.pages.load(Ordering::Relaxed);
        if let Some(max) = self.options.pages_max
            && pages >= max
        {
            return Some(format!("--max-pages of {max}"));
        }
        let max = self.site.rules.pages_max?;
        (self.site_pages >= max).then(|| format!("pages_max of {max} in the site's rule file"))
    }

    /// Fills the lanes of hosts that run low.
    async fn lease(&mut self) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        for index in 0..self.hosts.len() {
            let policy = self.policy(index);
            let host = &self.hosts[index];
            // No more than a slow host can do before the leases end.
            let per_lease_time = limits::LEASE_TIME.as_millis() as u64 / 4 / policy.interval_ms.max(1);
            let urls_max = limits::LEASE_URLS_MAX.min(usize::try_from(per_lease_time).unwrap_or(usize::MAX)).max(1);
            let low = host.lanes.len() < urls_max / 4 + host.lanes.count();
            if !low || host.lease_at.is_none_or(|at| at > now) {
                continue;
            }
            let deadline = now.plus(limits::LEASE_TIME);
            let request = LeaseRequest { host: host.id, owner: self.shared.owner, now, deadline, urls_max };
            let leases = self.site.db.lease_due(request).await?;
            let came_short = leases.len() < urls_max;
            for lease in leases {
                self.admit(index, lease).await?;
            }
            if came_short {
                let due = self.site.db.host_due(self.hosts[index].id, now).await?;
                self.hosts[index].lease_at = match due {
                    HostDue::Now => Some(now),
                    HostDue::At(at) => Some(at),
                    HostDue::Leased | HostDue::Exhausted => None,
                };
            }
        }
        Ok(())
    }

    /// Rules may have changed since the URL was found: they are asked again.
    async fn admit(&mut self, index: usize, lease: Lease) -> Result<(), CrawlError> {
        let url = CrawlUrl::from_parts(&self.hosts[index].origin, &lease.key.path);
        let class = match self.site.rules.judge(&url) {
            Verdict::Take { class: Class::Login, .. } => None,
            Verdict::Take { class, .. } => Some(class),
            Verdict::Refuse { .. } => None,
        };
        let Some(class) = class else {
            return self.commit_unvisited(&lease, Outcome::RulesRefused).await;
        };
        if lease.depth > self.site.rules.depth_max {
            return self.commit_unvisited(&lease, Outcome::OverBudget).await;
        }
        if let RobotsState::Known { robots, .. } = &self.hosts[index].robots
            && !robots.allows(url.path())
        {
            return self.commit_unvisited(&lease, Outcome::RobotsDenied).await;
        }
        self.queue(index, Job { lease, url, class });
        Ok(())
    }

    fn queue(&mut self, index: usize, job: Job) {
        let (rules, host) = (&self.site.rules, &mut self.hosts[index]);
        let lane = lane_of(rules.lanes.key, &host.name, job.url.as_str(), rules.lanes.count.into());
        host.lanes.push(lane, job);
    }

    /// Starts whatever the lanes and the hosts' patience allow.
    fn start_visits(&mut self) {
        let now = self.site.clock.now();
        for index in 0..self.hosts.len() {
            self.hosts[index].gate_at = None;
            if self.hosts[index].lanes.is_empty() {
                continue;
            }
            match &self.hosts[index].robots {
                RobotsState::Known { until, .. } if *until > now => {}
                RobotsState::Asked => continue,
                _ => {
                    self.ask_robots(index, now);
                    continue;
                }
            }
            while self.hosts[index].lanes.has_ready() && !self.over_run_budget() {
                let Some(permit) = self.permit(index, now) else { break };
                if !self.through_gate(index, now) {
                    break;
                }
                let Some((lane, job)) = self.hosts[index].lanes.pop() else {
                    break;
                };
                self.shared.pages.fetch_add(1, Ordering::Relaxed);
                self.site_pages += 1;
                let site = Arc::clone(&self.site);
                self.running.push(Box::pin(async move {
                    let finished = visit::visit(&site, job).await;
                    drop(permit);
                    Ran::Visit { host: index, lane, finished: Box::new(finished) }
                }));
            }
        }
        let under_way = self.running.len();
        self.shared.progress.update(&self.site.rules.name, |progress| progress.under_way = under_way);
    }

    fn over_run_budget(&self) -> bool {
        let pages = self.shared.pages.load(Ordering::Relaxed);
        self.options.pages_max.is_some_and(|max| pages >= max)
            || self.site.rules.pages_max.is_some_and(|max| self.site_pages >= max)
    }

    fn policy(&self, index: usize) -> HostPolicy {
        let rules = &self.site.rules;
        let asked = match &self.hosts[index].robots {
            RobotsState::Known { robots, .. } => robots.crawl_delay.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let interval = rules.rate.interval.max(asked);
        HostPolicy {
            interval_ms: u64::try_from(interval.as_millis()).unwrap_or(u64::MAX),
            connections_max: rules.rate.connections.into(),
        }
    }

    fn through_gate(&mut self, index: usize, now: UnixMillis) -> bool {
        let policy = self.policy(index);
        let host = &mut self.hosts[index];
        match self.shared.hosts.with(&host.name, |state| state.ask(policy, now)) {
            Gate::Go => return true,
            Gate::WaitUntil(at) => host.gate_at = Some(at),
            // Another site on the same host may hold its connections: nobody wakes us then.
            Gate::WaitForConnection if self.running.is_empty() => host.gate_at = Some(now.plus(CONNECTION_POLL)),
            Gate::WaitForConnection => {}
        }
        false
    }

    /// A place among the process's requests; other sites may hold them all, and nobody wakes us then.
    fn permit(&mut self, index: usize, now: UnixMillis) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.shared.requests).try_acquire_owned().ok();
        if permit.is_none() {
            self.hosts[index].gate_at = Some(now.plus(CONNECTION_POLL));
        }
        permit
    }

    fn ask_robots(&mut self, index: usize, now: UnixMillis) {
        if !self.through_gate(index, now) {
            return;
        }
        self.hosts[index].robots = RobotsState::Asked;
        let (site, origin) = (Arc::clone(&self.site), self.hosts[index].origin.clone());
        self.running.push(Box::pin(async move {
            let result = robots_txt::fetch(&site, &origin).await;
            Ran::Robots { host: index, result }
        }));
    }

    async fn ran(&mut self, ran: Ran) -> Result<(), CrawlError> {
        match ran {
            Ran::Visit { host, lane, finished } => {
                self.hosts[host].lanes.done(lane);
                self.finished(host, finished).await
            }
            Ran::Robots { host, result } => self.robots_answered(host, result).await,
        }
    }

    async fn robots_answered(&mut self, index: usize, result: Result<Robots, String>) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        match result {
            Ok(robots) => {
                self.answered(index, Answered::Well, "robots.txt").await?;
                let refused = self.close_by_robots(index, &robots);
                let until = now.plus(robots_txt::KEPT_FOR);
                self.hosts[index].robots = RobotsState::Known { robots: Arc::new(robots), until };
                for lease in refused {
                    self.commit_unvisited(&lease, Outcome::RobotsDenied).await?;
                }
            }
            Err(error) => {
                self.hosts[index].robots = RobotsState::Unknown;
                self.answered(index, Answered::Unreachable, &error).await?;
            }
        }
        Ok(())
    }

    /// Takes the URLs that were leased before robots.txt was read, and are closed by it, out of the lanes.
    fn close_by_robots(&mut self, index: usize, robots: &Robots) -> Vec<Lease> {
        let mut refused = Vec::new();
        for job in self.hosts[index].lanes.drain() {
            if robots.allows(job.url.path()) {
                self.queue(index, job);
            } else {
                refused.push(job.lease);
            }
        }
        refused
    }

    /// Notes how the host took a request; a pause that it imposed is kept in the database.
    async fn answered(&mut self, index: usize, answered: Answered, detail: &str) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &mut self.hosts[index];
        host.unanswered = if answered == Answered::Unreachable { host.unanswered + 1 } else { 0 };
        let block = self.shared.hosts.with(&host.name, |state| state.finished(answered, now));
        if let Some(block) = block {
            let reason = format!("{}: {detail}", block.reason);
            tracing::warn!(site = %self.site.rules.name, host = %host.name, until = %block.until.rfc3339(), reason, "host pauses");
            self.site.db.block_host_until(host.id, block.until, &reason).await?;
        }
        Ok(())
    }

    async fn finished(&mut self, index: usize, mut finished: Box<Finished>) -> Result<(), CrawlError> {
        let detail = finished.detail.as_deref().unwrap_or_else(|| finished.visit.outcome.name());
        self.answered(index, finished.answered, detail).await?;
        tracing::debug!(
            site = %self.site.rules.name,
            host = %self.hosts[index].name,
            url = %finished.visit.key.path,
            outcome = finished.visit.outcome.name(),
            attempt = finished.visit.attempts + 1,
            detail = finished.detail.as_deref().unwrap_or_default(),
            "visited"
        );
        if self.options.keep_looking && finished.visit.depth == 0 && finished.visit.next == Next::Done {
            finished.visit.next = Next::RevisitAt(finished.visit.at.plus(self.site.rules.revisit));
        }
        if let Next::RetryAt(at) | Next::RevisitAt(at) = finished.visit.next {
            let host = &mut self.hosts[index];
            host.lease_at = Some(host.lease_at.map_or(at, |earlier| earlier.min(at)));
        }
        self.send_visit(finished).await
    }

    async fn commit_unvisited(&mut self, lease: &Lease, outcome: Outcome) -> Result<(), CrawlError> {
        let visit = visit::unvisited(lease, outcome, self.site.clock.now());
        let finished = Finished { visit, torrent: None, answered: Answered::Well, detail: None };
        self.send_visit(Box::new(finished)).await
    }

    async fn send_visit(&mut self, finished: Box<Finished>) -> Result<(), CrawlError> {
        self.uncommitted += 1;
        let reply = self.reply.clone();
        self.send(Message::Visit { finished, reply }).await
    }

    /// Hands a message to the committer. A committer that cannot write (a full disk) takes none: a process that is
    /// to end does not wait for it longer than a drain may take.
    async fn send(&mut self, message: Message) -> Result<(), CrawlError> {
        let given_up = async {
            // Without a sender nobody can ask for the end any more.
            let _ = self.shared.stop.wait_for(|stop| *stop).await;
            tokio::time::sleep(limits::DRAIN_TIME_MAX / 2).await;
        };
        tokio::select! {
            biased;
            sent = self.shared.commits.send(message) => sent.map_err(|_| CrawlError::CommitterGone),
            () = given_up => Err(CrawlError::CommitterGone),
        }
    }

    fn committed(&mut self, committed: &Committed) {
        self.uncommitted -= 1;
        self.shared.progress.update(&self.site.rules.name, |progress| progress.counts.add(committed));
        if committed.receipt.urls_added > 0 || committed.queued_again {
            for host in &mut self.hosts {
                host.lease_at = Some(UnixMillis(0));
            }
        }
    }

    /// True when lanes stand idle that the next commit may fill.
    fn starved(&self) -> bool {
        self.uncommitted > 0 && self.hosts.iter().all(|host| host.lanes.is_empty()) && self.has_idle_lane()
    }

    fn has_idle_lane(&self) -> bool {
        self.running.len() < self.hosts.iter().map(|host| host.lanes.count()).sum::<usize>().max(1)
    }

    /// Until when the loop may sleep if nothing happens, or how the crawl has ended.
    async fn wait_until(&mut self) -> Result<Result<Option<UnixMillis>, Ended>, CrawlError> {
        if self.site.has_met_hosts() {
            self.meet_hosts().await?;
        }
        let now = self.site.clock.now();
        let busy = !self.running.is_empty() || self.uncommitted > 0;
        let lanes_wait = self.hosts.iter().filter(|host| !host.lanes.is_empty());
        let gate_at = lanes_wait.filter_map(|host| host.gate_at).min();
        let low = self.hosts.iter().filter(|host| host.lanes.len() < host.lanes.count());
        let lease_at = low.filter_map(|host| host.lease_at).min();
        let wake = gate_at.into_iter().chain(lease_at).min();
        let end_at = self.options.time_max.map(|max| self.started.plus(max));
        if busy {
            return Ok(Ok(wake.into_iter().chain(end_at).min()));
        }
        if !self.options.keep_looking {
            if let Some(host) = self.hosts.iter().find(|host| host.unanswered >= UNREACHABLE_MAX) {
                return Ok(Err(Ended::Unreachable(format!("{} did not answer {UNREACHABLE_MAX} times", host.origin))));
            }
            if wake.is_none() && self.hosts.iter().all(|host| host.lanes.is_empty()) {
                return Ok(Err(Ended::Exhausted));
            }
        }
        self.tell_wait(wake, now);
        Ok(Ok(wake.into_iter().chain(end_at).min()))
    }

    fn tell_wait(&self, wake: Option<UnixMillis>, now: UnixMillis) {
        let waiting = wake.filter(|at| at.since(now) > Duration::from_secs(1)).map(|at| {
            let blocked = self.hosts.iter().find(|host| host.gate_at == Some(at));
            let reason = match blocked {
                Some(host) => format!("{} asks for patience, or its rate allows no more", host.name),
                None => "next look at the start pages, or next retry".to_owned(),
            };
            (at, reason)
        });
        self.shared.progress.update(&self.site.rules.name, |progress| progress.waiting = waiting);
    }

    /// Ends what is under way. A process that is to end allows `limits::DRAIN_TIME_MAX / 2` for it; what is not done
    /// by then is done again at its next start.
    async fn drain(&mut self) -> Result<(), CrawlError> {
        if *self.shared.stop.borrow() {
            // Too late is as good as in time: nothing that was committed is lost.
            if let Ok(settled) = tokio::time::timeout(limits::DRAIN_TIME_MAX / 2, self.settle()).await {
                settled?;
            }
        } else {
            self.settle().await?;
        }
        let unvisited: Vec<_> =
            self.hosts.iter_mut().flat_map(|host| host.lanes.drain()).map(|job| job.lease.key).collect();
        self.site.db.release(self.shared.owner, unvisited).await?;
        Ok(())
    }

    /// Waits for the requests under way and for the commit of everything that was visited.
    async fn settle(&mut self) -> Result<(), CrawlError> {
        let mut asked_to_commit = false;
        while !self.running.is_empty() || self.uncommitted > 0 {
            if self.running.is_empty() && !asked_to_commit {
                asked_to_commit = true;
                self.send(Message::Flush).await?;
            }
            tokio::select! {
                biased;
                Some(committed) = self.receipts.recv() => self.committed(&committed),
                Some(ran) = self.running.next() => self.ran(ran).await?,
            }
        }
        Ok(())
    }
}
