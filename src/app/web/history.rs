//! What each crawl did in each half hour, in memory: counts of its progress, taken once a minute. A restart begins anew, and the pages say so.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_crawl::progress::{Counts, Progress, SiteProgress};
use gleaner_serve::desk::{HALF_HOUR_MS, HalfHour};
use gleaner_store::crawldb::{CrawlDbError, Outcome, Reader};

use crate::app::{App, pauses};
use crate::limits::{HALF_HOURS_MAX, HALF_HOURS_SITES_MAX};

/// Between two counts.
const COUNT_EACH: Duration = Duration::from_secs(60);

/// Counts of a moment, by what became of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    answered: u64,
    throttled: u64,
    refused: u64,
    failed: u64,
    torrents: u64,
}

impl Sums {
    fn of(counts: &Counts) -> Self {
        let mut sums = Self { torrents: counts.torrents, ..Self::default() };
        for (outcome, count) in &counts.outcomes {
            let sum = match outcome {
                Outcome::Throttled => &mut sums.throttled,
                Outcome::Denied | Outcome::ClientError | Outcome::LoggedOut | Outcome::AddressRefused => {
                    &mut sums.refused
                }
                Outcome::ServerError
                | Outcome::DnsFailed
                | Outcome::ConnectFailed
                | Outcome::TlsFailed
                | Outcome::TimedOut
                | Outcome::ProtocolError => &mut sums.failed,
                outcome if outcome.was_fetched() => &mut sums.answered,
                _ => continue,
            };
            *sum += count;
        }
        sums
    }
}

#[derive(Default)]
struct SiteHistory {
    /// At the last count.
    seen: Sums,
    half_hours: VecDeque<HalfHour>,
}

impl SiteHistory {
    /// `state.failed` says that no host of the site answers.
    fn count(&mut self, number: u64, now: Sums, state: HalfHour) {
        // A crawl that began anew counts from nothing.
        let since = |own: u64, before: u64| if own < before { own } else { own - before };
        let before = std::mem::replace(&mut self.seen, now);
        if self.half_hours.back().is_none_or(|last| last.number != number) {
            self.half_hours.push_back(HalfHour { number, ..HalfHour::default() });
            if self.half_hours.len() > HALF_HOURS_MAX {
                self.half_hours.pop_front();
            }
        }
        let Some(last) = self.half_hours.back_mut() else { return };
        let add = |to: &mut u32, own: u64, before: u64| {
            *to = to.saturating_add(u32::try_from(since(own, before)).unwrap_or(u32::MAX));
        };
        add(&mut last.answered, now.answered, before.answered);
        add(&mut last.throttled, now.throttled, before.throttled);
        add(&mut last.refused, now.refused, before.refused);
        add(&mut last.failed, now.failed, before.failed);
        add(&mut last.torrents, now.torrents, before.torrents);
        (last.queued, last.is_paused) = (state.queued, state.is_paused);
        last.is_crawled |= state.is_crawled;
        // A host that does not answer at all is asked for nothing: no visit says so.
        if last.answered == 0 {
            last.failed = last.failed.max(state.failed);
        }
    }
}

/// True while its crawl runs.
fn is_crawling(doing: &SiteProgress) -> bool {
    doing.ended.is_none() && (doing.under_way > 0 || doing.waiting.is_some() || !doing.counts.outcomes.is_empty())
}

/// See the module.
#[derive(Clone)]
pub(super) struct History {
    db: Arc<dyn Reader>,
    progress: Progress,
    clock: Arc<dyn Clock>,
    sites: Arc<Mutex<BTreeMap<String, SiteHistory>>>,
}

impl History {
    pub(super) fn new(app: &App, progress: &Progress) -> Self {
        let clock = Arc::clone(&app.clock);
        Self { db: app.reader(), progress: progress.clone(), clock, sites: Arc::default() }
    }

    /// Counts until dropped.
    pub(super) async fn keep_up(&self) {
        let mut minutes = tokio::time::interval(COUNT_EACH);
        minutes.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            minutes.tick().await;
            if let Err(error) = self.count().await {
                tracing::debug!(%error, "the half hours of the sites are not counted");
            }
        }
    }

    async fn count(&self) -> Result<(), CrawlDbError> {
        let (now, mut live) = (self.clock.now(), self.progress.snapshot());
        let mut silent: BTreeMap<String, bool> = BTreeMap::new();
        for host in self.db.hosts().await? {
            let complains = host.complaints > 0 && host.blocked_until > now;
            silent.entry(host.site.to_string()).and_modify(|all| *all &= complains).or_insert(complains);
            live.entry(host.site.into()).or_default();
        }
        for (site, doing) in live {
            let is_paused = pauses::of(&*self.db, &site, now).await?.is_some();
            let is_crawled = is_crawling(&doing);
            let failed = u32::from(silent.get(&site).is_some_and(|silent| *silent) && is_crawling(&doing));
            let state = HalfHour { queued: doing.counts.queued, failed, is_paused, is_crawled, ..HalfHour::default() };
            self.add(site, now, Sums::of(&doing.counts), state);
        }
        Ok(())
    }

    fn add(&self, site: String, now: UnixMillis, sums: Sums, state: HalfHour) {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() < HALF_HOURS_SITES_MAX || sites.contains_key(&site) {
            sites.entry(site).or_default().count(now.0 / HALF_HOUR_MS, sums, state);
        }
    }

    /// The half hours of each site, with what is not counted yet of the present one.
    pub(super) fn half_hours(&self) -> BTreeMap<String, Vec<HalfHour>> {
        let now = self.clock.now();
        for (site, doing) in self.progress.snapshot() {
            let is_paused = self.last(&site).is_some_and(|last| last.is_paused);
            let is_crawled = doing.ended.is_none();
            let state = HalfHour { queued: doing.counts.queued, is_paused, is_crawled, ..HalfHour::default() };
            self.add(site, now, Sums::of(&doing.counts), state);
        }
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.iter().map(|(site, of)| (site.clone(), of.half_hours.iter().copied().collect())).collect()
    }

    fn last(&self, site: &str) -> Option<HalfHour> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.get(site).and_then(|of| of.half_hours.back().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_hours_count_what_came_in_them_over_a_crawl_that_began_anew() {
        let mut site = SiteHistory::default();
        let state = HalfHour { is_crawled: true, queued: 4, ..HalfHour::default() };
        let sums = |answered, failed| Sums { answered, failed, ..Sums::default() };
        site.count(7, sums(10, 1), state);
        site.count(7, sums(15, 1), state);
        site.count(8, sums(3, 2), state);
        let told: Vec<(u64, u32, u32, u64)> =
            site.half_hours.iter().map(|of| (of.number, of.answered, of.failed, of.queued)).collect();
        assert_eq!(told, [(7, 15, 1, 4), (8, 3, 1, 4)]);
        for number in 9..9 + HALF_HOURS_MAX as u64 {
            site.count(number, Sums::default(), state);
        }
        assert_eq!(site.half_hours.len(), HALF_HOURS_MAX);
    }

    #[test]
    fn outcomes_are_counted_by_what_a_person_would_call_them() {
        let outcomes = Outcome::ALL.into_iter().map(|outcome| (outcome, 1)).collect();
        let sums = Sums::of(&Counts { outcomes, torrents: 5, ..Counts::default() });
        assert_eq!((sums.throttled, sums.refused, sums.failed, sums.torrents), (1, 4, 6, 5));
        assert!(sums.answered > 5 && sums.answered < 20, "{sums:?}");
    }
}
