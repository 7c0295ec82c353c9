//! One site's crawl, from its start to its end: rounds, budgets, waiting, draining. `leases` has the way of a URL
//! from the frontier to its lane, `visits` from there to the committer, `accounts` what is kept over restarts, `session` the account's session, `asking` one proof or
//! login of it, `crews` the increment beside history, `waiting` what is waited for.
//!
//! The loop is one task. Visits run inside it side by side; what they share (lanes, host states, counts) needs
//! no lock across an await, and the same inputs give the same order.

mod accounts;
mod asking;
mod budget;
mod crews;
mod draining;
mod freshness;
mod leases;
mod lists;
mod missing;
mod session;
mod shortcuts;
mod told;
mod visits;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{Semaphore, mpsc, watch};

use super::commit::Message;
use super::host_work::HostWork;
use super::hosts::{Hosts, Slot};
use super::job::{Committed, Finished, Found};
use super::login::pace::Pace;
use super::progress::{Ended, Progress};
use super::robots_txt::{RobotsAnswer, RobotsFault};
use super::scripts::errands::Budget;
use super::site::Site;
use super::{CrawlError, RunOptions};
use crate::limits::{self, CONNECTION_POLL};
pub use accounts::{DAY_NOTE, requests_of_day};
use asking::Asked;
use crews::Crews;
pub use crews::{CREWS_NOTE, CrewsKept};
use draining::overdue;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{FetchFailure, Resolution};
use gleaner_net::politeness::shifted;
use gleaner_rules::Verdict;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{HostId, HostRow, Outcome, Owner, UrlKey};
use lists::Lists;
pub use missing::{MissingSession, SESSION_NOTE};
use session::Session;
use told::Told;

/// Longest sleep of an idle loop: the watchdog wants to see it, and the clock may have jumped.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// How often the time under crawl is written down: a kill loses no more of it.
const TIME_KEPT_EVERY: Duration = Duration::from_secs(30);

/// The same where nothing is under way: what `coverage` tells of a crawl that has just ended is then true.
const TIME_KEPT_IDLE: Duration = Duration::from_secs(1);

/// How often what is known of the site's changes is written down: some MB at worst, and a kill costs some looks.
const FRESH_KEPT_EVERY: Duration = Duration::from_secs(300);

/// A clock that is set ahead by more than this leaves nothing of what a schedule has learned: it weighs the last twenty days.
const SCHEDULE_OVER_MS: i64 = 20 * 86_400_000;

/// The first time of a run, from which on the time doubles: what a young crawl knows is little, and all there is.
const FRESH_FIRST_KEPT: Duration = Duration::from_secs(10);

/// How often what was cut is asked for again where a shape has recovered: each time costs a row for each URL.
const CUTS_ASKED_EVERY: Duration = Duration::from_secs(600);

/// The first time of a run; it doubles with each time that brought some back. Lists come before what they list: a site of many short
/// ones has its lists cut before the first torrent shows what they are worth.
const CUTS_FIRST_ASKED: Duration = Duration::from_secs(20);

/// How often a crawl that has nothing else left does the same before it ends.
const CUTS_ASKED_AGAIN: u32 = 5;

/// What the site loop shares with the rest of the process.
#[derive(Clone)]
pub struct Shared {
    pub hosts: Hosts,
    pub progress: Progress,
    pub commits: mpsc::Sender<Message>,
    /// What the increment has found; without it there is one crew.
    pub update: Option<Arc<UpdateDb>>,
    /// One permit a KiB of what waits for a commit.
    pub commit_kib: Arc<Semaphore>,
    /// True once this site is to end.
    pub stop: watch::Receiver<bool>,
    pub owner: Owner,
    /// One permit a request under way, over all sites.
    pub requests: Arc<Semaphore>,
    /// Requests of the whole run so far, for `--max-pages`.
    pub pages: Arc<AtomicU64>,
    /// When this site last looked for work; the service's watchdog reads it.
    pub alive: Arc<AtomicU64>,
}

type Running = Pin<Box<dyn Future<Output = Result<Ran, CrawlError>> + Send>>;

enum Ran {
    Visit { host: usize, face: usize, lane: usize, slot: Option<Slot>, finished: Box<Finished> },
    Robots { host: usize, face: usize, slot: Slot, result: Result<RobotsAnswer, RobotsFault> },
    Session { host: usize, pace: Box<Pace>, asked: Asked },
    Located { host: usize, face: usize, result: Result<Resolution, FetchFailure> },
}

/// One site's crawl.
pub struct SiteLoop {
    site: Arc<Site>,
    shared: Shared,
    options: RunOptions,
    hosts: Vec<HostWork>,
    host_index: HashMap<HostId, usize>,
    running: FuturesUnordered<Running>,
    /// Leases of the visits that run, to be let go when they are broken off.
    running_keys: HashMap<(usize, usize), UrlKey>,
    /// Marks of URLs that are leased: in a lane, under way, or not committed yet.
    in_hand: HashSet<u64>,
    /// URLs in hand that were leased a second time: once their visit is on the disk, that lease is given back.
    leased_twice: HashMap<u64, UrlKey>,
    /// Leases to give back.
    to_release: Vec<UrlKey>,
    /// Of visits that brought a torrent and are not committed yet: what the URLs are known by that may have been seen on a list.
    arriving: HashMap<u64, Vec<u64>>,
    receipts: mpsc::UnboundedReceiver<Committed>,
    reply: mpsc::UnboundedSender<Committed>,
    /// Visits sent to the committer without a receipt yet.
    uncommitted: usize,
    /// Requests to this site since the round began.
    round_pages: u64,
    /// A crawl is one round; the service begins a new one at each revisit interval.
    round_began: UnixMillis,
    started: UnixMillis,
    /// The day that `day_pages` counts, by the site's own clock.
    day: u64,
    /// Requests to this site on that day, of earlier runs too; counted where the rules have a budget for it.
    day_pages: u64,
    /// How long the day lasted from its first request on, quiet hours apart.
    day_lasts: Duration,
    /// Of that budget, what is kept for the increment: of the day from then on, in thousandths of a request.
    kept_of_day: u128,
    /// What those leave to the scripts of pages under way.
    errands_budget: Arc<Budget>,
    /// Until when the time under crawl is in the database.
    time_kept: UnixMillis,
    /// When the worth of URLs was last written down.
    worth_kept: UnixMillis,
    /// When what is known of its changes was.
    fresh_kept: UnixMillis,
    fresh_every: Duration,
    /// True where no earlier run has left its schedule: none was here, or it was killed at once.
    lacks_schedule: bool,
    /// The latest time that plans were made by, in earlier runs too.
    latest: UnixMillis,
    /// By how much the clock was set, as far as this loop has followed it.
    clock_set_by: i64,
    /// When what was cut was last asked for again, and how often a crawl that had nothing else left did so.
    cuts_asked: UnixMillis,
    cuts_every: Duration,
    asked_again: u32,
    /// True where the last crawl had other rules than this one.
    has_other_rules: bool,
    /// True where the ends of lists were checked since history was last at work.
    has_closed: bool,
    lists: Lists,
    told: Told,
    /// How often in a row far pages of lists were put off.
    far_put_off: u32,
    /// Where the update crawldb was lost, the lists that were read whole since.
    read_whole: Option<HashSet<u64>>,
    session: Session,
    crews: Crews,
}

impl SiteLoop {
    /// Prepares the crawl: the start URLs are put into the frontier, or made due again when their last look is
    /// older than the site's revisit interval, and what other rules had refused is judged anew.
    pub async fn new(site: Arc<Site>, shared: Shared, options: RunOptions) -> Result<Self, CrawlError> {
        let (reply, receipts) = mpsc::unbounded_channel();
        let now = site.clock.now();
        let clock_set_by = shared.hosts.clock_set_by(now);
        let session = Session::new(site.account.as_ref());
        let crews = Crews::new(&site.rules, shared.update.clone().filter(|_| options.keep_looking), now);
        let mut this = Self {
            site,
            session,
            crews,
            shared,
            options,
            hosts: Vec::new(),
            host_index: HashMap::new(),
            running: FuturesUnordered::new(),
            running_keys: HashMap::new(),
            in_hand: HashSet::new(),
            leased_twice: HashMap::new(),
            to_release: Vec::new(),
            arriving: HashMap::new(),
            receipts,
            reply,
            uncommitted: 0,
            round_pages: 0,
            round_began: now,
            started: now,
            day: 0,
            day_pages: 0,
            day_lasts: Duration::ZERO,
            kept_of_day: 0,
            errands_budget: Arc::default(),
            time_kept: now,
            worth_kept: now,
            fresh_kept: now,
            fresh_every: FRESH_FIRST_KEPT,
            lacks_schedule: false,
            latest: now,
            clock_set_by,
            cuts_asked: now,
            cuts_every: CUTS_FIRST_ASKED,
            asked_again: 0,
            has_other_rules: false,
            has_closed: false,
            lists: Lists::default(),
            told: Told::default(),
            far_put_off: 0,
            read_whole: None,
        };
        this.meet_rules().await?;
        this.look_at(this.start_pages(), 0).await?;
        this.begin_day(now).await?;
        this.take_up_worth().await?;
        this.take_up_rendered().await?;
        this.take_up_fresh().await?;
        this.meet_hosts().await?;
        this.take_up_crews().await?;
        this.look_at_unscheduled(now).await?;
        this.take_up_lists().await?;
        this.take_up_endings().await?;
        let counts = this.site.db.site_counts(&this.site.rules.name).await?;
        this.shared.progress.update(&this.site.rules.name, |progress| {
            progress.counts.queued = counts.urls_queued;
            progress.ended = None;
        });
        this.tell_session();
        Ok(this)
    }

    /// Runs until the site is exhausted, a budget is used up or the process is to end.
    pub async fn run(mut self) -> Result<Ended, CrawlError> {
        let ended = self.work().await?;
        let lacks_session = self.lacks_session();
        self.drain().await?;
        // A login that was under way has ended by now, and tells when the next one may begin.
        let ended = match ended {
            Ended::Budget(budget) if lacks_session => self.ended_by(budget),
            Ended::Stopped if self.lacks_session() && !self.options.keep_looking => self.ended_by_signal(),
            ended => ended,
        };
        self.keep_time(Duration::ZERO).await?;
        self.keep_worth().await?;
        self.keep_crews().await?;
        self.keep_fresh().await?;
        self.keep_session().await?;
        // What was parked or brought back during the run, no receipt has told.
        let counts = self.site.db.site_counts(&self.site.rules.name).await?;
        self.shared.progress.update(&self.site.rules.name, |progress| {
            progress.counts.queued = counts.urls_queued;
            progress.ended = Some(ended.clone());
            progress.waiting = None;
            progress.under_way = 0;
        });
        Ok(ended)
    }

    fn start_pages(&self) -> Vec<Found> {
        let rules = &self.site.rules;
        let urls = rules.start.iter().map(|url| rules.without_mirror(url.clone()));
        // The rule file's check has made sure that a start URL has a class.
        urls.filter_map(|url| match rules.judge(&url) {
            Verdict::Take { class, .. } => Some(Found { url, class, rule: usize::MAX, page_capture: None }),
            Verdict::Refuse { .. } => None,
        })
        .collect()
    }

    /// Makes what the service watches (start URLs and sitemaps) due again, where the last look is older than the
    /// site's revisit interval.
    async fn look_at(&mut self, found: Vec<Found>, depth: u16) -> Result<(), CrawlError> {
        let now = self.site.clock.now();
        let mut rows = Vec::new();
        for Found { url, class, .. } in found {
            let Some(mut row) = self.site.rows.row(&url, class, depth).await? else { continue };
            if depth == 0 {
                row.rank = 0;
            }
            let seen = self.site.db.url_record(&row.key).await?;
            let looked_at = seen.filter(|record| record.outcome.is_some_and(Outcome::was_fetched));
            // A look that a wrong clock has put into the future is no reason to wait for that time.
            // What was read by other rules is read again: they may take links that those did not.
            let looked_at = looked_at.filter(|_| !self.has_other_rules);
            row.due = looked_at.map_or(UnixMillis(0), |record| record.visited.min(now).plus(self.site.rules.revisit));
            if self.options.keep_looking || row.due <= now {
                rows.push(row);
            }
        }
        Ok(self.site.db.make_due(rows, now).await?)
    }

    async fn work(&mut self) -> Result<Ended, CrawlError> {
        loop {
            self.tell_alive();
            let now = self.site.clock.now();
            self.follow_clock(now);
            self.forget_plans_of_the_future(now).await?;
            if self.site.rules.requests_per_day.is_some() && self.day_of_budget(now) != self.day {
                self.begin_day(now).await?;
            }
            if *self.shared.stop.borrow() {
                return Ok(Ended::Stopped);
            }
            if let Some(budget) = self.budget_used_up() {
                return Ok(Ended::Budget(budget));
            }
            self.release().await?;
            if self.site.rows.numbers.has_met_hosts() {
                self.meet_hosts().await?;
            }
            self.reckon_share(now);
            self.hosts.iter_mut().for_each(|host| host.gate = None);
            self.tend_session(now).await?;
            self.tend_crews(now).await?;
            self.tend_schedule(now).await?;
            self.tend_shortcuts(now).await?;
            for index in 0..self.hosts.len() {
                self.choose_face(index).await?;
                if !self.leaves_alone(index) && self.session.is_good() {
                    self.fill(index).await?;
                    self.fill_news(index).await?;
                    self.start(index).await?;
                }
            }
            self.tell_under_way();
            if self.starved() {
                self.send(Message::Flush).await?;
            }
            let idle = self.running.is_empty() && self.uncommitted == 0;
            if idle && let Some(why) = self.session_is_out_of_reach(now) {
                return Ok(Ended::NotLoggedIn(why));
            }
            let wake = self.wake_at();
            if idle && !self.options.keep_looking && (wake.is_none() || self.only_looks_left().await?) {
                if self.asked_again < CUTS_ASKED_AGAIN && self.ask_again_for_cuts().await? {
                    self.asked_again += 1;
                    continue;
                }
                if self.close_lists(idle).await? {
                    continue;
                }
                if self.site.scripts.close_shortcuts() {
                    continue;
                }
                return Ok(self.nothing_left());
            }
            if (self.options.keep_looking && self.close_lists(idle).await?) || self.close_history(idle).await? {
                continue;
            }
            if now.since(self.worth_kept) >= TIME_KEPT_EVERY {
                self.keep_worth().await?;
                self.keep_crews().await?;
                self.keep_session().await?;
            }
            if now.since(self.fresh_kept) >= self.fresh_every {
                self.keep_fresh().await?;
                self.fresh_every = (self.fresh_every * 2).min(FRESH_KEPT_EVERY);
            }
            if now.since(self.cuts_asked) >= self.cuts_every {
                self.cuts_asked = now;
                if self.ask_again_for_cuts().await? {
                    self.cuts_every = (self.cuts_every * 2).min(CUTS_ASKED_EVERY);
                }
            }
            self.keep_time(if idle { TIME_KEPT_IDLE } else { TIME_KEPT_EVERY }).await?;
            self.tell_wait(wake.filter(|_| idle));
            // Visits go on nowhere but below: what they may spend is what is left now.
            self.errands_budget.leaves(self.requests_left());
            let now = self.site.clock.now();
            let end_at = self.options.time_max.map(|max| self.started.plus(max));
            let pause = wake.into_iter().chain(end_at).min().map_or(IDLE_TIME, |at| at.since(now).min(IDLE_TIME));
            tokio::select! {
                biased;
                _ = self.shared.stop.changed() => {}
                Some(committed) = self.receipts.recv() => {
                    self.committed(&committed);
                    while let Ok(committed) = self.receipts.try_recv() {
                        self.committed(&committed);
                    }
                }
                Some(ran) = self.running.next() => self.ran(ran?).await?,
                // What was sent to it will never be answered.
                () = self.shared.commits.closed() => return Err(CrawlError::CommitterGone),
                () = tokio::time::sleep(pause) => {}
            }
            if idle {
                // Waiting with nothing under way is no crawling.
                self.time_kept = self.time_kept.plus(self.site.clock.now().since(now));
            }
        }
    }

    /// What this loop keeps of times moves with a clock that was set.
    fn follow_clock(&mut self, now: UnixMillis) {
        let set_by_ms = self.shared.hosts.clock_set_by(now);
        let by = set_by_ms.saturating_sub(std::mem::replace(&mut self.clock_set_by, set_by_ms));
        if by != 0 {
            (self.time_kept, self.worth_kept, self.cuts_asked) = (now, now, now);
            self.fresh_kept = now;
            self.started = shifted(self.started, by);
            self.round_began = shifted(self.round_began, by);
            self.hosts.iter_mut().for_each(|host| host.shift(by));
            self.session.shift(by);
            self.crews.shift(by);
            if by > SCHEDULE_OVER_MS {
                self.site.fresh.timetable.begin_anew(now);
            }
            self.look_soon();
        }
    }

    /// Hosts that the database knows for this site; new ones are met as pages link to them, and looked up at once.
    async fn meet_hosts(&mut self) -> Result<(), CrawlError> {
        let rules = Arc::clone(&self.site.rules);
        for mirror in &rules.mirrors {
            self.site.db.host_id(&rules.name, mirror).await?;
        }
        let mut rows = self.site.db.hosts().await?;
        // Pauses that other sites on the same host were asked for bind this one, too.
        let now = self.site.clock.now();
        for row in &rows {
            self.shared.hosts.take_up(row, CrawlUrl::from_parts(&row.origin, "/").host(), now);
        }
        for row in rows.iter_mut().filter(|row| row.site == rules.name) {
            let url = CrawlUrl::from_parts(&row.origin, "/");
            row.blocked_until = self.shared.hosts.blocked_until(url.host(), now);
        }
        let rows: Vec<HostRow> = rows.into_iter().filter(|row| row.site == rules.name).collect();
        let mirrors: Vec<HostRow> =
            rules.mirrors.iter().filter_map(|mirror| rows.iter().find(|row| row.origin == *mirror).cloned()).collect();
        for row in rows {
            if self.host_index.contains_key(&row.id) || rules.mirrors.contains(&row.origin) {
                continue;
            }
            let now = self.site.clock.now();
            let traps_token = self.site.worth().token();
            for token in [self.site.rules_token, traps_token] {
                self.site.db.unpark(row.id, token, now).await?;
            }
            if self.has_other_rules || (self.lacks_schedule && self.options.keep_looking) {
                // Lists that are looked at again at their time are, now: what had planned for their turns is lost, or is none any more.
                self.site.db.bring_forward(row.id).await?;
            }
            let mirrors = if *row.origin == *rules.primary() { mirrors.clone() } else { Vec::new() };
            self.host_index.insert(row.id, self.hosts.len());
            self.hosts.push(HostWork::new(row, mirrors, &rules));
            self.locate(self.hosts.len() - 1);
        }
        Ok(())
    }

    async fn send_visit(&mut self, finished: Box<Finished>) -> Result<(), CrawlError> {
        let kib = finished.held_bytes().min(limits::COMMIT_BYTES_MAX) / 1_024;
        let commit_kib = Arc::clone(&self.shared.commit_kib);
        let permit = commit_kib.acquire_many_owned(u32::try_from(kib).unwrap_or(u32::MAX));
        let mut stop = self.shared.stop.clone();
        let permit = tokio::select! {
            biased;
            permit = permit => permit.map_err(|_| CrawlError::CommitterGone)?,
            () = overdue(&mut stop) => return Err(CrawlError::CommitterGone),
            () = self.shared.commits.closed() => return Err(CrawlError::CommitterGone),
        };
        self.uncommitted += 1;
        let (reply, mark) = (self.reply.clone(), visits::mark(&finished.visit.key));
        self.send(Message::Visit { finished, mark, reply, permit, at: tokio::time::Instant::now() }).await
    }

    /// Hands a message to the committer. A committer that cannot write (a full disk) takes none: a process that is
    /// to end does not wait for it longer than a drain may take.
    async fn send(&mut self, message: Message) -> Result<(), CrawlError> {
        tokio::select! {
            biased;
            sent = self.shared.commits.send(message) => sent.map_err(|_| CrawlError::CommitterGone),
            () = overdue(&mut self.shared.stop) => Err(CrawlError::CommitterGone),
        }
    }

    fn committed(&mut self, committed: &Committed) {
        self.uncommitted -= 1;
        self.in_hand.remove(&committed.mark);
        self.to_release.extend(self.leased_twice.remove(&committed.mark));
        self.has_arrived(committed);
        self.shared.progress.update(&self.site.rules.name, |progress| progress.counts.add(committed));
        let may_go_far = self.far_put_off > 0 && self.uncommitted == 0;
        if committed.receipt.urls_added > 0 || committed.queued_again || may_go_far {
            self.lease_soon();
        }
        if committed.brought_news {
            self.hosts.iter_mut().for_each(|host| host.news.may_lease = true);
        }
    }

    /// New rows are in the frontier: whose, the receipt does not say.
    fn lease_soon(&mut self) {
        for host in &mut self.hosts {
            host.lease_at = Some(UnixMillis(0));
        }
    }

    /// True when lanes stand idle that the next commit may fill.
    fn starved(&self) -> bool {
        let lanes: usize = self.hosts.iter().map(|host| host.lanes.count()).sum();
        self.uncommitted > 0 && self.running.len() < lanes.max(1) && !self.hosts.iter().any(HostWork::has_jobs)
    }

    /// Gives leases back, so that their URLs can be leased at once.
    async fn release(&mut self) -> Result<(), CrawlError> {
        if !self.to_release.is_empty() {
            let keys = std::mem::take(&mut self.to_release);
            self.site.db.release(self.shared.owner, keys).await?;
            self.lease_soon();
        }
        Ok(())
    }

    fn tell_alive(&self) {
        self.shared.alive.store(self.site.clock.now().0, Ordering::Relaxed);
    }

    fn tell_under_way(&self) {
        let under_way = self.running_keys.len();
        self.shared.progress.update(&self.site.rules.name, |progress| progress.under_way = under_way);
    }
}
