//! From the frontier to the lanes: what is leased, and which leases are admitted or parked.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::SiteLoop;
use super::commits::Parked;
use super::visits::mark;
use crate::CrawlError;
use crate::frontier::budgets::Reason;
use crate::frontier::crews::Crew;
use crate::frontier::priority;
use crate::host_work::RobotsState;
use crate::job::Job;
use crate::limits;
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{ActSign, Class, Refusal, Verdict};
use gleaner_store::crawldb::{HostDue, Lease, LeaseOrder, LeaseRequest, Outcome, Owner, UrlKey};

/// How often far pages of lists are considered, besides after each commit with nothing else pending.
const FAR_ASKED_EVERY: Duration = Duration::from_secs(1);

/// After this many delays they are leased even if an increment is at work: `lists` has them read again if that was too early.
const FAR_PUT_OFF_TIMES: u32 = 10;

/// What the last lease of a host brought.
struct Leased {
    /// Less than was asked for: the queue has no more.
    came_short: bool,
    has_none: bool,
    /// The last place among its ranks.
    worst: Option<u8>,
}

/// The leases that the site holds.
pub(super) struct Leases {
    pub(super) site: Arc<Site>,
    owner: Owner,
    /// Marks of URLs that are leased: in a lane, in flight, or not committed yet.
    in_hand: HashSet<u64>,
    /// Leased URLs that were leased a second time: once their visit is on disk, that lease is given back.
    leased_twice: HashMap<u64, UrlKey>,
    /// Leases to give back.
    to_release: Vec<UrlKey>,
    /// How often in a row far pages of lists were delayed.
    far_put_off: u32,
    /// If the update crawldb was lost, the lists that were read completely since.
    read_whole: Option<HashSet<u64>>,
}

impl Leases {
    pub(super) fn new(site: &Arc<Site>, owner: Owner) -> Self {
        Self {
            site: Arc::clone(site),
            owner,
            in_hand: HashSet::new(),
            leased_twice: HashMap::new(),
            to_release: Vec::new(),
            far_put_off: 0,
            read_whole: None,
        }
    }

    /// From now on each list is read completely at its next visit.
    pub(super) fn read_lists_whole(&mut self) {
        self.read_whole = Some(HashSet::new());
    }

    /// True if far pages of lists wait until nothing pending may lead to the pages before them.
    pub(super) fn has_put_off_far(&self) -> bool {
        self.far_put_off > 0
    }

    pub(super) fn has(&self, key: &UrlKey) -> bool {
        self.in_hand.contains(&mark(key))
    }

    /// Marks a URL as leased; false if it is already.
    pub(super) fn take(&mut self, key: &UrlKey) -> bool {
        self.in_hand.insert(mark(key))
    }

    /// Accepts a lease. If it expired while its URL waited here for the host's pause, or was in flight when the clock was
    /// set forward, it is no second visit; nor is one whose first visit's receipt is pending.
    pub(super) fn take_lease(&mut self, lease: Lease) -> Option<Lease> {
        if self.take(&lease.key) {
            return Some(lease);
        }
        self.leased_twice.insert(mark(&lease.key), lease.key);
        None
    }

    /// A visit is on disk, and its lease has ended.
    pub(super) fn committed(&mut self, mark: u64) {
        self.in_hand.remove(&mark);
        self.to_release.extend(self.leased_twice.remove(&mark));
    }

    /// Gives leases back, so that their URLs can be leased at once. True if there were some.
    pub(super) async fn release(&mut self) -> Result<bool, CrawlError> {
        if self.to_release.is_empty() {
            return Ok(false);
        }
        let keys = std::mem::take(&mut self.to_release);
        self.site.db.release(self.owner, keys).await?;
        Ok(true)
    }

    /// Gives back leases that would end before their visits: their rows are leased again.
    async fn let_go(&mut self, keys: Vec<UrlKey>) -> Result<(), CrawlError> {
        for mark in keys.iter().map(mark) {
            self.in_hand.remove(&mark);
            self.leased_twice.remove(&mark);
        }
        Ok(self.site.db.release(self.owner, keys).await?)
    }

    /// The due rows of a host; far pages of lists only if there is nothing else, and nothing pending could still lead to the
    /// pages before them.
    async fn lease_due(
        &mut self,
        mut request: LeaseRequest,
        is_still: bool,
        are_all_in: bool,
    ) -> Result<Vec<Lease>, CrawlError> {
        let leases = self.site.db.lease_due(request).await?;
        if !leases.is_empty() || !is_still || !are_all_in && self.far_put_off < FAR_PUT_OFF_TIMES {
            return Ok(leases);
        }
        (request.order, request.urls_max) = (LeaseOrder::ByRank, 1);
        let leases = self.site.db.lease_due(request).await?;
        self.far_put_off = 0;
        Ok(leases)
    }

    /// Checks a URL again: rules may have changed since it was found, and its shape may have starved. What they refuse, and
    /// what ends sessions (`is_closed`), is to be parked.
    async fn judge(
        &mut self,
        url: CrawlUrl,
        is_closed: bool,
        lease: Lease,
        crew: Crew,
    ) -> Result<Result<Job, (Lease, Parked)>, CrawlError> {
        let rules = &self.site.rules;
        let parked = |outcome| Parked { outcome, token: self.site.rules_token, why: None };
        let (class, rule) = match rules.judge(&url) {
            _ if self.is_sitemap(&lease, &url) => (Class::Sitemap, usize::MAX),
            Verdict::Take { class, .. } if self.site.worth().acts_by_token(rules, &url, class) => {
                self.site.worth().acts(url.path(), ActSign::Token);
                return Ok(Err((lease, parked(Outcome::RulesRefused))));
            }
            Verdict::Take { class, number, .. } if class != Class::Login && !is_closed => (class, number),
            Verdict::Refuse { reason: Refusal::ActsForAccount(sign) } => {
                self.site.worth().acts(url.path(), sign);
                return Ok(Err((lease, parked(Outcome::RulesRefused))));
            }
            _ => return Ok(Err((lease, parked(Outcome::RulesRefused)))),
        };
        if lease.depth > rules.depth_max {
            return Ok(Err((lease, parked(Outcome::OverBudget))));
        }
        let mut job = Job { lease, url, class, rule, crew, was_read: false, is_guess: false };
        if let Some(lists) = self.read_whole.as_mut().filter(|lists| lists.len() < limits::LIST_PAGES_MARKED_MAX)
            && (class.is_listing() || job.lease.depth == 0)
            && lists.insert(mark(&job.lease.key))
        {
            job.lease.memo = None;
        }
        let (asked, token) = {
            let mut worth = self.site.worth();
            (worth.ask(&job), worth.token())
        };
        if let Err(reason) = asked
            && !self.was_fetched(&job.lease).await?
        {
            // A recovering shape changes nothing about a form; other rules may.
            let token = if matches!(reason, Reason::Form(_)) { self.site.rules_token } else { token };
            let parked = Parked { outcome: Outcome::Trapped, token, why: Some(reason.sentence()) };
            return Ok(Err((job.lease, parked)));
        }
        let now = self.site.clock.now();
        let has_answer = self.site.read_before.as_ref().is_some_and(|answers| answers.has(&job.url, now));
        job.was_read = has_answer && job.lease.attempts == 0 && !self.was_fetched(&job.lease).await?;
        Ok(Ok(job))
    }

    /// True for a detail that shows no more than its row in a list, if that row's torrent is stored. What has been read once is asked for
    /// by somebody.
    pub(super) async fn is_needless(&self, job: &Job) -> Result<bool, CrawlError> {
        let may_be = job.lease.attempts == 0 && self.site.worth().may_leave_out(job.rule, job.url.path());
        Ok(may_be && self.site.rows.has_its_torrent(job).await? && !self.was_fetched(&job.lease).await?)
    }

    /// Sitemaps are accepted whatever the rules say of their URLs, if their host is the site's.
    fn is_sitemap(&self, lease: &Lease, url: &CrawlUrl) -> bool {
        let rules = &self.site.rules;
        priority::is_sitemap(lease.rank) && rules.sitemaps && rules.owns_host(url.authority())
    }

    /// True for a revisited URL: what has been a page once is no trap.
    async fn was_fetched(&self, lease: &Lease) -> Result<bool, CrawlError> {
        let record = self.site.db.url_record(&lease.key).await?;
        Ok(record.and_then(|record| record.outcome).is_some_and(Outcome::was_fetched))
    }
}

impl SiteLoop {
    /// Leases for a host whose lanes run low, once its robots.txt is known.
    pub(super) async fn fill(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &self.hosts[index];
        let policy = host.face().policy(&self.site.rules);
        let urls_max = host.lease_size(policy, self.hosts.len());
        let is_time = host.lease_at.is_some_and(|at| at <= now);
        let is_floor = host.floor.is_due() && (is_time || !host.lanes.is_empty());
        let may_lease = is_time && (host.has_more || host.runs_low(urls_max, policy));
        if !may_lease && !is_floor {
            return Ok(());
        }
        if matches!(host.face().robots, RobotsState::Asked) {
            return Ok(());
        }
        // What waits for the increment's hours and share waits for history's, and the lease would expire by then.
        if self.crews.are_two()
            && let Some(held) = self.budgets.increment_waits(self.crews.demand(), now)
        {
            self.hosts.hold(index, held);
            return Ok(());
        }
        let host = &self.hosts[index];
        if host.face().robots_in_force(now).is_none() {
            match self.site.db.host_due(host.id, now).await? {
                HostDue::Now => self.ask_robots(index),
                due => self.hosts[index].lease_at = next_due(due, now),
            }
            return Ok(());
        }
        let host_id = self.hosts[index].id;
        let (owner, deadline, rank_max) = (self.shared.owner, now.plus(limits::LEASE_TIME), u8::MAX);
        let ranks = self.site.worth().order();
        self.hosts[index].keep_order(ranks);
        let order = LeaseOrder::Ranked(ranks);
        let request = LeaseRequest { host: host_id, owner, now, deadline, urls_max, rank_max, order };
        if is_floor {
            self.turn_to_oldest(index, LeaseRequest { urls_max: 1, order: LeaseOrder::Oldest(ranks), ..request })
                .await?;
        }
        if !may_lease {
            return Ok(());
        }
        let runs_low = self.hosts[index].runs_low(urls_max, policy);
        let request = match self.hosts[index].better(urls_max).filter(|_| !runs_low) {
            None if !runs_low => return Ok(()),
            None => request,
            Some(better) => LeaseRequest { order: LeaseOrder::Ranked(better), ..request },
        };
        // The order may change while they are queued.
        self.hosts[index].has_more = false;
        let Leased { came_short, has_none, worst } = self.lease(index, request).await?;
        self.hosts[index].leased(came_short, worst);
        if came_short && runs_low {
            let due = self.site.db.host_due(self.hosts[index].id, now).await?;
            self.hosts[index].lease_at = match next_due(due, now) {
                // Due rows that were not leased are far pages, or were added just now.
                Some(at) if at <= now && has_none => {
                    self.leases.far_put_off = self.leases.far_put_off.saturating_add(1);
                    Some(now.plus(FAR_ASKED_EVERY))
                }
                at => at,
            };
        }
        Ok(())
    }

    /// Leases until something comes into the lanes, or as many URLs as the largest lease were refused.
    async fn lease(&mut self, index: usize, request: LeaseRequest) -> Result<Leased, CrawlError> {
        let mut leased = 0;
        loop {
            // Nothing pending may still lead to the pages before a far one.
            let host = &self.hosts[index];
            let is_still = host.lanes.is_empty() && host.lanes.running() == 0;
            let leases = self.leases.lease_due(request, is_still, self.commits.are_all_in()).await?;
            let (came_short, has_none) = (leases.len() < request.urls_max, leases.is_empty());
            leased += leases.len();
            let worst = leases.iter().filter_map(|lease| request.order.place(lease.rank)).max();
            let jobs = self.take(index, leases, request.now).await?;
            if came_short || !jobs.is_empty() || leased >= limits::LEASE_URLS_MAX {
                self.hosts.queue_by_weight(index, jobs);
                return Ok(Leased { came_short, has_none, worst });
            }
        }
    }

    /// Turns leases of history into visits, except those that are refused, the increment's, or were leased before.
    async fn take(&mut self, index: usize, leases: Vec<Lease>, now: UnixMillis) -> Result<Vec<Job>, CrawlError> {
        let is_urgent = |lease: &Lease| self.crews.are_two() && lease.rank == priority::URGENT;
        let (urgent, leases): (Vec<Lease>, Vec<Lease>) = leases.into_iter().partition(is_urgent);
        if !urgent.is_empty() {
            self.take_urgent(index, now, urgent).await?;
        }
        let mut jobs = Vec::with_capacity(leases.len());
        for lease in leases {
            if let Some(lease) = self.leases.take_lease(lease) {
                jobs.extend(self.admit(index, lease, Crew::History).await?);
            }
        }
        Ok(jobs)
    }

    /// Puts the URL that has waited longest first, be it in the queue or in the lanes.
    async fn turn_to_oldest(&mut self, index: usize, request: LeaseRequest) -> Result<(), CrawlError> {
        let leases = self.site.db.lease_due(request).await?;
        self.hosts[index].floor.given();
        let waiting = self.hosts[index].oldest_queued().map(|lease| (lease.seq, lease.key.clone()));
        let mut oldest = waiting.as_ref().map(|(_, key)| key.clone());
        for lease in leases {
            if waiting.as_ref().is_some_and(|(seq, _)| *seq < lease.seq) {
                self.site.db.release(request.owner, vec![lease.key]).await?;
                continue;
            }
            for job in self.take(index, vec![lease], request.now).await? {
                oldest = Some(job.lease.key.clone());
                self.hosts[index].queue(job, &self.site.rules);
            }
        }
        oldest.into_iter().for_each(|key| self.hosts[index].put_first(key));
        Ok(())
    }

    /// Gives back leases that would end before their visits.
    pub(super) async fn let_go(&mut self, index: usize, keys: Vec<UrlKey>, now: UnixMillis) -> Result<(), CrawlError> {
        if keys.is_empty() {
            return Ok(());
        }
        let host = &mut self.hosts[index];
        self.crews.give_back(host, &keys);
        self.leases.let_go(keys).await?;
        self.hosts[index].lease_at = Some(now);
        Ok(())
    }

    /// Turns a lease into a visit. None if it is refused; it is then parked.
    pub(super) async fn admit(&mut self, index: usize, lease: Lease, crew: Crew) -> Result<Option<Job>, CrawlError> {
        let url = CrawlUrl::from_parts(self.hosts[index].origin(), &lease.key.path);
        let is_closed = self.session.was_ended_by(&url);
        let (lease, parked) = match self.leases.judge(url, is_closed, lease, crew).await? {
            Ok(job) => return Ok(Some(job)),
            Err(refused) => refused,
        };
        if parked.outcome == Outcome::OverBudget {
            let url = CrawlUrl::from_parts(self.hosts[index].origin(), &lease.key.path);
            self.shared.progress.too_deep(&self.site.rules.name, lease.depth, &url);
        }
        self.commits.park(&self.site, &self.hosts, (&lease, crew), parked).await?;
        Ok(None)
    }
}

/// Earliest time at which leasing may return something again; None: only after a commit.
fn next_due(due: HostDue, now: UnixMillis) -> Option<UnixMillis> {
    match due {
        HostDue::Now => Some(now),
        HostDue::At(at) => Some(at),
        HostDue::Leased | HostDue::Exhausted => None,
    }
}
