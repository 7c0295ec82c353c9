//! From the frontier to the lanes: what is leased, admitted, and put in its order; and what is put aside.

use std::collections::BTreeMap;
use std::time::Duration;

use super::SiteLoop;
use super::visits::mark;
use crate::CrawlError;
use crate::frontier::budgets::Reason;
use crate::frontier::crews::Crew;
use crate::frontier::priority;
use crate::host_work::RobotsState;
use crate::job::Job;
use crate::limits;
use crate::series;
use crate::visit;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{Class, SiteRules, Verdict};
use gleaner_store::crawldb::{HostDue, Lease, LeaseRequest, Next, Outcome, UrlKey};

/// How often it is asked whether the time of far pages of lists has come, beside each commit behind which nothing is on its way.
const FAR_ASKED_EVERY: Duration = Duration::from_secs(1);

/// After so many times they are taken though an increment is at work: `lists` has them read again where that was too early.
const FAR_PUT_OFF_TIMES: u32 = 10;

impl SiteLoop {
    /// Leases for a host whose lanes run low, once its robots.txt is known.
    pub(super) async fn fill(&mut self, index: usize) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let host = &self.hosts[index];
        let policy = host.face().policy(&self.site.rules);
        let urls_max = host.lease_size(policy);
        if host.lease_at.is_none_or(|at| at > now) || !host.runs_low(urls_max) {
            return Ok(());
        }
        if matches!(host.face().robots, RobotsState::Asked) {
            return Ok(());
        }
        // What waits for the increment's hours and share waits for history's, and would be late by then.
        if self.crews.are_two()
            && let Some(held) = self.increment_waits(now)
        {
            self.hold(index, held);
            return Ok(());
        }
        let host = &self.hosts[index];
        if host.face().robots_in_force(now).is_none() {
            match self.site.db.host_due(host.id, now).await? {
                HostDue::Now => self.ask_robots(index, now),
                due => self.hosts[index].lease_at = next_due(due, now),
            }
            return Ok(());
        }
        let deadline = now.plus(limits::LEASE_TIME);
        let rank_max = priority::FAR_PAGE - 1;
        let mut request = LeaseRequest { host: host.id, owner: self.shared.owner, now, deadline, urls_max, rank_max };
        // Nothing may be under way that could still lead to the pages in front of a far one.
        let is_still = host.lanes.is_empty() && host.lanes.running() == 0;
        let mut leases = self.site.db.lease_due(request).await?;
        if leases.is_empty() && is_still && (self.uncommitted == 0 || self.far_put_off >= FAR_PUT_OFF_TIMES) {
            (request.rank_max, request.urls_max) = (u8::MAX, 1);
            leases = self.site.db.lease_due(request).await?;
            self.far_put_off = 0;
        }
        let (came_short, has_none) = (leases.len() < urls_max, leases.is_empty());
        let is_urgent = |lease: &Lease| self.crews.are_two() && lease.rank == priority::URGENT;
        let (urgent, leases): (Vec<Lease>, Vec<Lease>) = leases.into_iter().partition(is_urgent);
        if !urgent.is_empty() {
            self.take_urgent(index, now, urgent).await?;
        }
        let mut jobs = Vec::with_capacity(leases.len());
        for lease in leases {
            // A lease that ended while its URL waited here for the host's patience, or was under way when the clock was
            // set forward, is no second visit; nor is one whose first visit's receipt is on its way.
            let mark = mark(&lease.key);
            if self.in_hand.insert(mark) {
                jobs.extend(self.admit(index, lease, Crew::History).await?);
            } else {
                self.leased_twice.insert(mark, lease.key);
            }
        }
        self.queue_by_weight(index, jobs);
        if came_short {
            let due = self.site.db.host_due(self.hosts[index].id, now).await?;
            self.hosts[index].lease_at = match next_due(due, now) {
                // What is due and was not leased are far pages, or has come this moment.
                Some(at) if at <= now && has_none => {
                    self.far_put_off = self.far_put_off.saturating_add(1);
                    Some(now.plus(FAR_ASKED_EVERY))
                }
                at => at,
            };
        }
        Ok(())
    }

    /// Gives back leases that would end before their visits: whatever they were for is leased anew.
    pub(super) async fn let_go(&mut self, index: usize, keys: Vec<UrlKey>, now: UnixMillis) -> Result<(), CrawlError> {
        if keys.is_empty() {
            return Ok(());
        }
        for mark in keys.iter().map(mark) {
            self.in_hand.remove(&mark);
            self.leased_twice.remove(&mark);
        }
        self.give_back_news(index, &keys);
        self.site.db.release(self.shared.owner, keys).await?;
        self.hosts[index].lease_at = Some(now);
        Ok(())
    }

    /// Rules may have changed since the URL was found, and its shape may have starved: they are asked again. None where
    /// they refuse it; it is then put aside.
    pub(super) async fn admit(&mut self, index: usize, lease: Lease, crew: Crew) -> Result<Option<Job>, CrawlError> {
        let url = CrawlUrl::from_parts(self.hosts[index].origin(), &lease.key.path);
        let (class, rule) = match self.site.rules.judge(&url) {
            _ if self.is_sitemap(&lease, &url) => (Class::Sitemap, usize::MAX),
            Verdict::Take { class, number, .. } if class != Class::Login && !self.has_ended_sessions(&url) => {
                (class, number)
            }
            _ => {
                self.park(&lease, crew, Outcome::RulesRefused, self.site.rules_token, None).await?;
                return Ok(None);
            }
        };
        if lease.depth > self.site.rules.depth_max {
            self.shared.progress.too_deep(&self.site.rules.name, lease.depth, &url);
            self.park(&lease, crew, Outcome::OverBudget, self.site.rules_token, None).await?;
            return Ok(None);
        }
        let mut job = Job { lease, url, class, rule, crew };
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
            // No shape that recovers changes a form; other rules may.
            let token = if matches!(reason, Reason::Form(_)) { self.site.rules_token } else { token };
            self.park(&job.lease, crew, Outcome::Trapped, token, Some(reason.sentence())).await?;
            return Ok(None);
        }
        Ok(Some(job))
    }

    /// Sitemaps are taken whatever the rules say of their URLs, as long as their host is the site's.
    fn is_sitemap(&self, lease: &Lease, url: &CrawlUrl) -> bool {
        let rules = &self.site.rules;
        priority::is_sitemap(lease.rank) && rules.sitemaps && rules.owns_host(url.authority())
    }

    /// True for a URL that is looked at again: what has been a page once is no trap.
    async fn was_fetched(&mut self, lease: &Lease) -> Result<bool, CrawlError> {
        let record = self.site.db.url_record(&lease.key).await?;
        Ok(record.and_then(|record| record.outcome).is_some_and(Outcome::was_fetched))
    }

    /// The heaviest first within their class; equal ones in the order of the frontier.
    pub(super) fn queue_by_weight(&mut self, index: usize, jobs: Vec<Job>) {
        let mut weighed: Vec<(u8, f64, Job)> = {
            let worth = self.site.worth();
            jobs.into_iter().map(|job| (job.lease.rank >> 4, worth.weigh_again(&job), job)).collect()
        };
        weighed.sort_by(|(class, weight, _), (other, than, _)| class.cmp(other).then(than.total_cmp(weight)));
        let jobs = in_order(&self.site.rules, weighed.into_iter().map(|(_, _, job)| job).collect());
        for job in jobs {
            self.hosts[index].queue(job, &self.site.rules);
        }
    }

    /// Puts a URL aside until what refused it has changed.
    pub(super) async fn park(
        &mut self,
        lease: &Lease,
        crew: Crew,
        outcome: Outcome,
        token: u64,
        why: Option<&'static str>,
    ) -> Result<(), CrawlError> {
        if let Some(why) = why {
            let site = &self.site.rules.name;
            tracing::debug!(%site, url = %lease.key.path, outcome = outcome.name(), why, "put aside");
        }
        let now = self.site.clock.now();
        // A list that may not be asked for holds no other up.
        if let Some(host) = self.hosts.iter().find(|host| host.id == lease.key.host) {
            let url = CrawlUrl::from_parts(host.origin(), &lease.key.path);
            self.site.fresh.timetable.refused(url.as_str(), now);
        }
        let mut finished = visit::put_aside(lease, outcome, now);
        finished.visit.next = Next::Park(token);
        finished.job.crew = crew;
        self.send_visit(Box::new(finished)).await
    }

    /// What was cut as a trap is asked for again where a shape has recovered. True where that brought some back.
    pub(super) async fn ask_again_for_cuts(&mut self) -> Result<bool, CrawlError> {
        let Some(token) = self.site.worth().recovered() else { return Ok(false) };
        let now = self.site.clock.now();
        let mut brought = 0;
        for index in 0..self.hosts.len() {
            brought += self.site.db.unpark(self.hosts[index].id, token, now).await?;
        }
        if brought > 0 {
            self.lease_soon();
        }
        Ok(brought > 0)
    }
}

/// Pages of one list in ascending order, on the places that they have among the others.
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

/// When leasing may bring something again; None: only after a commit.
fn next_due(due: HostDue, now: UnixMillis) -> Option<UnixMillis> {
    match due {
        HostDue::Now => Some(now),
        HostDue::At(at) => Some(at),
        HostDue::Leased | HostDue::Exhausted => None,
    }
}
