//! One site's crawl, from its start to its end: rounds, budgets, waiting, draining. [`SiteLoop`] combines the owners of the state: `hosts`
//! (access to each host), `leases` (a URL's way from the frontier to its lane), `under_way` (running tasks), `commits` (channel to the
//! committer), `budget` (what may be spent), `session` (the account's session), `crews` (the increment beside history), `chores` (periodic
//! writes). `visits` turns queued jobs into requests and handles their results, `waiting` reports what the loop waits for.
//!
//! The loop is one task. Visits run inside it concurrently; what they share (lanes, host states, counts) needs
//! no lock across an await, and the same inputs give the same order.

mod asking;
mod budget;
mod chores;
mod clock;
mod commits;
mod crews;
mod day;
mod draining;
mod freshness;
mod gates;
mod guesses;
mod hosts;
mod leases;
mod lists;
mod promises;
mod session;
mod shortcuts;
mod told;
mod under_way;
mod unstable;
mod visits;
mod waiting;
mod walls;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};

use super::commit::Message;
use super::host_work::HostWork;
use super::hosts::Hosts;
use super::job::{Committed, Found};
use super::progress::{Ended, Progress};
use super::promises::PROMISES_NOTE;
use super::site::Site;
use super::tally::{TALLY_NOTE, Tally};
use super::{CrawlError, RunOptions};
use budget::Budgets;
use chores::{Chores, TIME_KEPT_EVERY, TIME_KEPT_IDLE};
use clock::{LastCrawl, PlanClock};
use commits::Commits;
use crews::Crews;
pub use crews::{CREWS_NOTE, CrewsKept};
pub use day::{DAY_NOTE, requests_of_day};
use gates::Gates;
use gleaner_base::clock::UnixMillis;
use gleaner_rules::{Robots, Verdict};
use gleaner_store::coverage::sample::SAMPLES_NOTE;
use gleaner_store::coverage::stated::{STATED_NOTE, StatedLists};
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{Outcome, Owner};
use guesses::Guesses;
use hosts::SiteHosts;
use leases::Leases;
use lists::Lists;
use promises::SitePromises;
use session::Session;
pub use session::{MissingSession, SESSION_NOTE};
use told::LogState;
use under_way::UnderWay;
use unstable::UnstableLists;
use walls::SiteWalls;

/// Longest sleep of an idle loop: the watchdog expects activity, and the clock may have jumped.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// A clock that is set forward by more than this invalidates all that a schedule has learned: it weighs the last twenty days.
const SCHEDULE_OVER_MS: i64 = 20 * 86_400_000;

/// What the site loop shares with the rest of the process.
#[derive(Clone)]
pub struct Shared {
    pub hosts: Hosts,
    pub progress: Progress,
    pub commits: mpsc::Sender<Message>,
    /// URLs that the increment has found; without it there is one crew.
    pub update: Option<Arc<UpdateDb>>,
    /// One permit per KiB of data that waits for a commit.
    pub commit_kib: Arc<Semaphore>,
    /// True once this site is to end.
    pub stop: watch::Receiver<bool>,
    /// Grows when all lists are to be rechecked at once.
    pub look: watch::Receiver<u64>,
    pub owner: Owner,
    /// One permit per request in flight, over all sites.
    pub requests: Arc<Semaphore>,
    /// Requests of the whole run so far, for `--max-pages`.
    pub pages: Arc<AtomicU64>,
    /// When this site last looked for work; read by the service's watchdog.
    pub alive: Arc<AtomicU64>,
}

/// One site's crawl.
pub struct SiteLoop {
    site: Arc<Site>,
    shared: Shared,
    options: RunOptions,
    hosts: SiteHosts,
    under_way: UnderWay,
    leases: Leases,
    commits: Commits,
    budgets: Budgets,
    clock: PlanClock,
    last_crawl: LastCrawl,
    chores: Chores,
    lists: Lists,
    unstable: UnstableLists,
    told: LogState,
    session: Session,
    crews: Crews,
    walls: SiteWalls,
    promises: SitePromises,
    tally: Tally,
    gates: Gates,
    guesses: Guesses,
    stated: StatedLists,
}

impl SiteLoop {
    /// Prepares the crawl: inserts the start URLs into the frontier, or makes them due again when their last visit is
    /// older than the site's revisit interval, and judges again what other rules had refused.
    pub async fn new(site: Arc<Site>, shared: Shared, options: RunOptions) -> Result<Self, CrawlError> {
        let now = site.clock.now();
        let crews = Crews::new(&site, shared.update.clone().filter(|_| options.keep_looking), now);
        let (last_crawl, clock) = LastCrawl::meet(&site, shared.hosts.clock_set_by(now)).await?;
        let mut this = Self {
            hosts: SiteHosts::new(&site, &shared, options.keep_looking, crews.are_two()),
            under_way: UnderWay::default(),
            leases: Leases::new(&site, shared.owner),
            commits: Commits::new(&shared),
            budgets: Budgets::new(&site, &options, &shared.pages, now),
            clock,
            last_crawl,
            chores: Chores::new(now),
            lists: Lists::default(),
            unstable: UnstableLists::default(),
            told: LogState::default(),
            session: Session::new(&site, &shared.progress),
            crews,
            walls: SiteWalls::new(now),
            promises: SitePromises::default(),
            tally: Tally::default(),
            gates: Gates::default(),
            guesses: Guesses::new(options.enumerate),
            stated: StatedLists::default(),
            site,
            shared,
            options,
        };
        let start = start_pages(&this.site);
        this.last_crawl.look_at(&this.site, this.options.keep_looking, start, 0).await?;
        this.budgets.begin_day(now, this.clock.no_earlier(now)).await?;
        chores::take_up_worth(&this.site).await?;
        this.leases.take_up_rendered().await?;
        this.take_up_fresh().await?;
        let tally = this.site.db.note(&this.site.rules.name, TALLY_NOTE).await?;
        this.tally = tally.map(|note| Tally::from_bytes(&note)).unwrap_or_default();
        // They are asked for again.
        this.tally.forget(Outcome::Walled);
        if this.site.rules.robots != Robots::Obey {
            this.tally.forget(Outcome::RobotsDenied);
        }
        this.hosts.meet(&this.last_crawl, this.walls.token(), &mut this.under_way).await?;
        // An aborted crawl of this site in this process has left them.
        let hosts = this.hosts.iter().map(|host| host.id).collect();
        this.site.db.release_all(this.shared.owner, &hosts).await?;
        if let Some(update) = &this.shared.update {
            update.release_all(&hosts);
        }
        this.take_up_crews().await?;
        this.look_at_unscheduled(now).await?;
        this.stated = StatedLists::from_bytes(this.site.db.note(&this.site.rules.name, STATED_NOTE).await?.as_deref());
        this.lists = Lists::take_up(&this.site).await?;
        this.unstable = UnstableLists::take_up(&this.site).await?;
        this.promises = SitePromises::take_up(&this.site, this.last_crawl.has_other_rules).await?;
        this.session.take_up_endings(this.last_crawl.has_other_rules).await?;
        let counts = this.site.db.site_counts(&this.site.rules.name).await?;
        this.shared.progress.update(&this.site.rules.name, |progress| {
            progress.counts.queued = counts.urls_queued;
            progress.ended = None;
        });
        let has_host = |origin: &str| this.hosts.iter().flat_map(HostWork::faces).any(|face| *face.origin == *origin);
        this.shared.progress.watch(&this.site.rules.name, |watched| watched.begins(this.site.rules_token, has_host));
        this.session.tell();
        Ok(this)
    }

    /// Runs until the site is exhausted, a budget is used up or the process is shutting down.
    ///
    /// # Errors
    /// Of the store, once what was sent to the committer is on disk or the committer has ended: the site can start again at once.
    pub async fn run(mut self) -> Result<Ended, CrawlError> {
        let ended = self.run_to_end().await;
        if ended.is_err() {
            self.await_commits().await;
        }
        ended
    }

    async fn run_to_end(&mut self) -> Result<Ended, CrawlError> {
        let ended = self.work().await?;
        if let Some(answers) = self.site.read_before.as_ref().filter(|_| ended == Ended::Exhausted) {
            answers.end();
        }
        let lacks_session = self.session.is_missing();
        self.drain().await?;
        self.leave_walls(&ended).await?;
        self.leave_guesses();
        // A login that was in progress has ended by now and provides the earliest time of the next one.
        let ended = match ended {
            Ended::Budget(budget) if lacks_session => {
                let now = self.site.clock.now();
                let host_until = if self.hosts.is_empty() { UnixMillis(0) } else { self.hosts.blocked_until(0, now) };
                self.session.ended_by(budget, self.budgets.time_is_over(now), host_until)
            }
            Ended::Stopped if self.session.is_missing() && !self.options.keep_looking => self.session.ended_by_signal(),
            ended => ended,
        };
        self.chores.keep_time(&self.site, Duration::ZERO).await?;
        self.chores.keep_worth(&self.site, &self.clock).await?;
        self.crews.keep().await?;
        self.chores.keep_fresh(&self.site).await?;
        self.session.keep().await?;
        self.keep_tally().await?;
        // No receipt has reported what was parked or restored during the run.
        let counts = self.site.db.site_counts(&self.site.rules.name).await?;
        self.shared.progress.update(&self.site.rules.name, |progress| {
            progress.counts.queued = counts.urls_queued;
            progress.ended = Some(ended.clone());
            progress.waiting = None;
            progress.under_way = 0;
        });
        Ok(ended)
    }

    async fn work(&mut self) -> Result<Ended, CrawlError> {
        loop {
            self.tell_alive();
            let now = self.site.clock.now();
            self.follow_clock(now).await?;
            if *self.shared.stop.borrow() {
                return Ok(Ended::Stopped);
            }
            if let Some(budget) = self.budgets.used_up(self.site.clock.now()) {
                return Ok(Ended::Budget(budget));
            }
            if self.shared.look.has_changed().unwrap_or(false) {
                self.shared.look.borrow_and_update();
                self.look_now(now).await?;
            }
            self.tend(now).await?;
            let idle = self.under_way.is_empty() && self.commits.are_all_in();
            if idle
                && !self.options.keep_looking
                && let Some(why) = self.session.out_of_reach(now)
            {
                return Ok(Ended::NotLoggedIn(why));
            }
            let wake = self.wake_at();
            if idle && !self.options.keep_looking && (wake.is_none() || self.only_looks_left().await?) {
                if self.finds_more().await? {
                    continue;
                }
                return Ok(self.nothing_left());
            }
            if self.close_history(idle).await? {
                continue;
            }
            self.keep(now, idle).await?;
            self.tell_wait(wake.filter(|_| idle));
            // Visits proceed only inside `wait`: they may spend what is left now.
            self.budgets.leave_to_scripts();
            self.wait(wake, idle).await?;
        }
    }

    /// Gives each host, each crew and the session what they wait for.
    async fn tend(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        self.release().await?;
        if self.site.rows.numbers.has_met_hosts() {
            self.hosts.meet(&self.last_crawl, self.walls.token(), &mut self.under_way).await?;
        }
        self.budgets.reckon_share(self.crews.demand(), now);
        self.hosts.iter_mut().for_each(|host| host.gate = None);
        self.tend_session(now).await?;
        self.tend_walls(now).await?;
        self.tend_promises(now).await?;
        self.tend_crews(now).await?;
        self.tend_schedule(now).await?;
        self.tend_shortcuts(now).await?;
        for index in 0..self.hosts.len() {
            self.hosts.choose_face(index).await?;
            if !self.hosts.leaves_alone(index) && self.session.is_good() {
                self.fill(index).await?;
                self.fill_news(index).await?;
                self.start(index).await?;
            }
        }
        let (under_way, day) = (self.under_way.visits(), self.budgets.day_used());
        let next_look = self.crews.wake_at(&self.hosts);
        self.shared.progress.update(&self.site.rules.name, |progress| {
            progress.under_way = under_way;
            (progress.measured.day, progress.measured.next_look) = (day, next_look);
        });
        if self.starved() {
            self.commits.flush().await?;
        }
        Ok(())
    }

    /// Looks for more to do before a crawl without queued work ends. True if there is some.
    async fn finds_more(&mut self) -> Result<bool, CrawlError> {
        if self.chores.may_ask_for_cuts() && self.hosts.ask_again_for_cuts().await? {
            self.chores.last_cuts_came_back();
            return Ok(true);
        }
        Ok(self.close_lists(true).await?
            || self.site.scripts.close_shortcuts()
            || self.close_walls().await?
            || self.draw_guesses().await?)
    }

    /// How a crawl ends that has nothing in progress and nothing to wait for.
    fn nothing_left(&self) -> Ended {
        match (self.hosts.nothing_left(), self.walls.told(&self.site.rules)) {
            (Ended::Exhausted, Some(told)) => Ended::Refused(told),
            (ended, _) => ended,
        }
    }

    /// Writes the state whose interval has passed.
    async fn keep(&mut self, now: UnixMillis, idle: bool) -> Result<(), CrawlError> {
        if self.chores.worth_is_due(now) {
            self.chores.keep_worth(&self.site, &self.clock).await?;
            self.crews.keep().await?;
            self.session.keep().await?;
            self.keep_tally().await?;
        }
        self.chores.keep_fresh_in_time(&self.site, now).await?;
        if self.chores.cuts_are_due(now) && self.hosts.ask_again_for_cuts().await? {
            self.chores.cuts_came_back();
        }
        self.chores.keep_time(&self.site, if idle { TIME_KEPT_IDLE } else { TIME_KEPT_EVERY }).await
    }

    async fn keep_tally(&mut self) -> Result<(), CrawlError> {
        let notes = [
            (TALLY_NOTE, self.tally.note()),
            (PROMISES_NOTE, self.promises.note()),
            (STATED_NOTE, self.stated.note()),
            (SAMPLES_NOTE, self.guesses.note()),
        ];
        let notes: Vec<_> = notes.into_iter().filter_map(|(name, note)| Some((name.to_owned(), note?))).collect();
        if !notes.is_empty() {
            self.site.db.put_notes(&self.site.rules.name, notes).await?;
        }
        Ok(())
    }

    /// Waits for an event or the next deadline.
    async fn wait(&mut self, wake: Option<UnixMillis>, idle: bool) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let end = wake.into_iter().chain(self.budgets.ends_at()).min();
        let pause = end.map_or(IDLE_TIME, |at| at.since(now).min(IDLE_TIME));
        tokio::select! {
            biased;
            _ = self.shared.stop.changed() => {}
            Ok(()) = async { self.shared.look.clone().changed().await } => {}
            Some(committed) = self.commits.receipts.recv() => {
                self.committed(&committed);
                while let Ok(committed) = self.commits.receipts.try_recv() {
                    self.committed(&committed);
                }
            }
            Some(ran) = self.under_way.next() => self.ran(ran?).await?,
            // The committer is gone: pending visits will never be answered.
            () = self.shared.commits.closed() => return Err(CrawlError::CommitterGone),
            () = tokio::time::sleep(pause) => {}
        }
        if idle {
            self.chores.waited(self.site.clock.now().since(now));
        }
        Ok(())
    }

    /// Moves the times that this loop keeps when the clock is set. Plans made by a clock that has been set back since, in this
    /// run or before it, are too far away by as much as it was ahead: they all become due now.
    async fn follow_clock(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let by = self.clock.follow(self.shared.hosts.clock_set_by(now));
        if by != 0 {
            self.chores.clock_was_set(now);
            self.budgets.shift(by);
            self.hosts.iter_mut().for_each(|host| host.shift(by));
            self.session.shift(by);
            self.walls.shift(by);
            self.crews.shift(by);
            if by > SCHEDULE_OVER_MS {
                self.site.fresh.timetable.begin_anew(now);
            }
            self.hosts.look_soon();
        }
        if let Some(ahead) = self.clock.go_on(now) {
            let (site, ahead_s) = (&self.site.rules.name, ahead.as_secs());
            tracing::warn!(%site, ahead_s, "the clock was set back: planned visits are due at once");
            for host in self.hosts.iter_mut() {
                self.site.db.bring_forward(host.id).await?;
                host.lease_at = Some(now);
            }
            self.site.fresh.timetable.set_back(ahead, now);
            self.hosts.look_soon();
            self.clock.keep(&self.site).await?;
        }
        let latest = self.clock.no_earlier(now);
        if self.budgets.day_is_over(latest) {
            self.budgets.begin_day(now, latest).await?;
        }
        Ok(())
    }

    fn committed(&mut self, committed: &Committed) {
        self.commits.received(&self.site, committed);
        self.unstable.committed(committed);
        self.leases.committed(committed.mark);
        if committed.receipt.torrent_stored || committed.receipt.magnets_added > 0 {
            self.tally.found(self.site.clock.now());
        }
        self.shared.progress.update(&self.site.rules.name, |progress| progress.counts.add(committed));
        let may_go_far = self.leases.has_put_off_far() && self.commits.are_all_in();
        if committed.receipt.urls_added > 0 || committed.queued_again || may_go_far {
            self.hosts.lease_soon();
        }
        if committed.brought_news {
            self.hosts.news_came();
        }
    }

    /// True when idle lanes, or those that soon will be, may be filled by the next commit. Lanes that are not empty yet begin one only
    /// if it holds as much as they do: a slow host would have a commit a visit.
    fn starved(&self) -> bool {
        if self.commits.are_all_in() {
            return false;
        }
        let (now, rules) = (self.site.clock.now(), &self.site.rules);
        let lanes: usize = self.hosts.iter().map(|host| host.lanes.count()).sum();
        self.under_way.len() < lanes.max(1) && !self.hosts.iter().any(HostWork::has_jobs)
            || self.commits.outstanding() >= self.hosts.iter().map(|host| host.lanes.len()).sum()
                && self.hosts.iter().all(|host| host.runs_dry(host.face().policy(rules), now))
    }

    /// Gives leases back, so that their URLs can be leased at once.
    async fn release(&mut self) -> Result<(), CrawlError> {
        if self.leases.release().await? {
            self.hosts.lease_soon();
        }
        Ok(())
    }

    fn tell_alive(&self) {
        self.shared.alive.store(self.site.clock.now().0, Ordering::Relaxed);
    }
}

fn start_pages(site: &Site) -> Vec<Found> {
    let rules = &site.rules;
    let urls = rules.start.iter().map(|url| rules.without_mirror(url.clone()));
    // The check of the rule file guarantees that a start URL has a class.
    urls.filter_map(|url| match rules.judge(&url) {
        Verdict::Take { class, .. } => Some(Found { url, class, rule: usize::MAX, page_capture: None, beside: None }),
        Verdict::Refuse { .. } => None,
    })
    .collect()
}
