//! What the service sees of itself and its sites, for the alarms.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gleaner_alarms::behind::Index;
use gleaner_alarms::usual::delays::{CLASSES_S, Counts};
use gleaner_alarms::usual::lists::{Look, Shown};
use gleaner_alarms::watch::{Host, Machine, Promise, RuleFault, Seen, Site, Trouble};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys_in;
use gleaner_crawl::freshness::histogram::Histogram;
use gleaner_crawl::progress::{self, Progress, SiteProgress};
use gleaner_crawl::promises::{PROMISES_NOTE, Promises, place_of};
use gleaner_crawl::tally::{TALLY_NOTE, Tally};
use gleaner_crawl::watched::{HostPaused, ListLook, ListShown, PauseKind, PoorPage, QUIET_HOURS, Watched};
use gleaner_rules::Class;
use gleaner_rules::config::backup::Backup;
use gleaner_store::crawldb::{CrawlDbError, Outcome, Reader, SiteCounts};

use crate::app::backups::{Backups, times};
use crate::app::figures::Figures;
use crate::app::finding::Finder;
use crate::app::pauses;

/// Outcomes of visits that were refused.
const REFUSED: [Outcome; 3] = [Outcome::Denied, Outcome::ClientError, Outcome::Throttled];

/// The share of a site's URLs that is queued, in per cent, and their number, from which history is being read.
const HISTORY_SHARE: u64 = 5;
const HISTORY_URLS: u64 = 200;

/// See the module.
pub struct Observer {
    pub db: Arc<dyn Reader>,
    pub progress: Progress,
    pub figures: Option<Figures>,
    pub finder: Option<Finder>,
    pub data_dir: PathBuf,
    pub rules_dir: PathBuf,
    /// Backups that the service makes by itself, if it does.
    pub backup: Option<Backup>,
    /// Those that are made.
    pub backups: Option<Backups>,
    /// Time that passes whatever the clock is set to.
    pub steady: Box<dyn Fn() -> Duration + Send>,
    /// The clock, and the time that has passed, at the last observation.
    pub clocks: Option<(UnixMillis, Duration)>,
    /// The time that had passed at the first one.
    pub began: Option<Duration>,
    /// Poor pages as they were seen last, and those that are new.
    pub pages: BTreeMap<String, Arc<PoorPage>>,
    pub new_pages: Vec<(String, Arc<PoorPage>)>,
    /// File and line of rules whose promise is broken, by site and rule.
    pub places: BTreeMap<(String, String), Option<String>>,
}

impl Observer {
    /// Of this data folder and these sites alone.
    #[must_use]
    pub fn new(db: Arc<dyn Reader>, progress: Progress, data_dir: PathBuf, rules_dir: PathBuf) -> Self {
        Self {
            db,
            progress,
            figures: None,
            finder: None,
            data_dir,
            rules_dir,
            backup: None,
            backups: None,
            steady: Box::new(since_boot),
            clocks: None,
            began: None,
            pages: BTreeMap::new(),
            new_pages: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// What is seen now.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn seen(&mut self, now: UnixMillis) -> Result<Seen, CrawlDbError> {
        let machine = self.machine(now).await?;
        let mut sites = Vec::new();
        for (name, doing) in self.progress.snapshot() {
            sites.push(self.site(name, &doing, now).await?);
        }
        let mut known: Vec<String> = self.db.hosts().await?.iter().map(|host| host.site.to_string()).collect();
        known.dedup();
        for name in &known {
            // Nobody crawls a site that is paused.
            let is_seen = sites.iter().any(|site| site.name == *name);
            if !is_seen && pauses::of(&*self.db, name, now).await?.is_some() {
                sites.push(Site { name: name.clone(), rests: true, ..Site::default() });
            }
        }
        Ok(Seen { at: now, machine, sites, known })
    }

    /// The pages that showed too little since the last call: the name of each file, and what is in it.
    pub fn new_pages(&mut self) -> Vec<(String, String)> {
        let text = |page: &PoorPage| format!("{}\n{}\n\n{}", page.url, page.at.rfc3339(), without_keys_in(&page.text));
        std::mem::take(&mut self.new_pages).into_iter().map(|(name, page)| (name, text(&page))).collect()
    }

    async fn machine(&mut self, now: UnixMillis) -> Result<Machine, CrawlDbError> {
        let steady = (self.steady)();
        let clock_set_by_ms = self.clocks.replace((now, steady)).map_or(0, |(then, before)| {
            let expected = then.plus(steady.saturating_sub(before));
            i64::try_from(i128::from(now.0) - i128::from(expected.0)).unwrap_or(i64::MAX)
        });
        let disk = rustix::fs::statvfs(&self.data_dir).ok().map(|disk| {
            let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize) as f64;
            (bytes(disk.f_bavail), bytes(disk.f_blocks))
        });
        let index = match self.finder.as_ref().and_then(Finder::search) {
            Some(search) => {
                let stored = self.db.changes(u64::MAX, 0).await?;
                let lag = stored.torrents.saturating_sub(search.torrents());
                // An index that cannot be read takes in nothing.
                Some(Index { lag, change: search.change().unwrap_or_default(), stored: stored.last })
            }
            None => None,
        };
        let to = self.backup.as_ref().map(|wanted| &*wanted.to);
        let backup = match &self.backups {
            Some(backups) => backups.last(to),
            None => times::last(&self.data_dir, to),
        };
        Ok(Machine {
            disk,
            clock_set_by_ms,
            store_fault: self.progress.store_fault(),
            index,
            backup,
            backup_every: self.backup.as_ref().map(|wanted| wanted.every),
            backup_fault: self.backups.as_ref().and_then(Backups::fault),
            up: steady.saturating_sub(*self.began.get_or_insert(steady)),
            rule_faults: self.progress.rule_faults().iter().map(rule_fault).collect(),
        })
    }

    async fn site(&mut self, name: String, doing: &SiteProgress, now: UnixMillis) -> Result<Site, CrawlDbError> {
        let watched = self.progress.take_watched(&name);
        let db = Arc::clone(&self.db);
        let counts = db.site_counts(&name).await?;
        let tally = db.note(&name, TALLY_NOTE).await?.map(|note| Tally::from_bytes(&note)).unwrap_or_default();
        let is_quiet = doing.waiting.as_ref().is_some_and(|(_, why)| why == QUIET_HOURS);
        let rests = is_quiet || doing.ended.is_some() || pauses::of(&*db, &name, now).await?.is_some();
        let reads_history =
            counts.urls_queued > HISTORY_URLS && counts.urls_queued * 100 > counts.urls_known * HISTORY_SHARE;
        let covered = self.figures.as_ref().and_then(|figures| figures.counted().sites.get(&name)?.ratio);
        let delays = self.progress.delays(&name).map(|delays| delay_counts(&delays));
        Ok(Site {
            rests,
            rules: watched.rules,
            looks: watched.looks.iter().map(look).collect(),
            visits: counts.pages(),
            refused: REFUSED.iter().map(|outcome| counts.of(*outcome)).sum(),
            last_success: tally.last_success,
            host: worst(&watched),
            no_session: doing.no_session().map(|(_, why)| first_line(why)),
            wall: watched.walls.as_deref().map(first_line),
            promises: self.promises(&name).await?,
            coverage: covered.filter(|_| !reads_history),
            delays,
            finds: (!reads_history).then(|| finds(&counts)),
            page: self.page(&name, watched.poor_page),
            name,
        })
    }

    /// The name of the last page of a site that showed too little.
    fn page(&mut self, site: &str, page: Option<Arc<PoorPage>>) -> Option<String> {
        let name = format!("{site}.txt");
        if let Some(page) = page
            && self.pages.get(site) != Some(&page)
        {
            self.pages.insert(site.to_owned(), Arc::clone(&page));
            self.new_pages.push((name.clone(), page));
        }
        self.pages.contains_key(site).then_some(name)
    }

    /// The rules of a site that keep their promise no more, with their places in the rule file.
    async fn promises(&mut self, site: &str) -> Result<Vec<Promise>, CrawlDbError> {
        let Some(note) = self.db.note(site, PROMISES_NOTE).await? else { return Ok(Vec::new()) };
        let promises = Promises::take_up(Some(&note), |_| true);
        let of_site = |rule: &str| (site.to_owned(), rule.to_owned());
        if promises.alarms().any(|(rule, ..)| !self.places.contains_key(&of_site(rule))) {
            // Once for each rule: all files are read.
            let files = gleaner_rules::load_dir(&self.rules_dir);
            let rules = files.iter().filter_map(|file| file.site.as_ref().ok()).find(|rules| &*rules.name == site);
            self.places.retain(|(of, _), _| of != site);
            for (rule, ..) in promises.alarms() {
                self.places.insert(of_site(rule), rules.and_then(|rules| place_of(rules, rule)));
            }
        }
        let told = |(rule, is_behind, alarm): (&str, bool, &gleaner_crawl::promises::Alarm)| Promise {
            rule: if is_behind { format!("{rule} later pages") } else { rule.to_owned() },
            place: self.places.get(&of_site(rule)).cloned().flatten(),
            told: alarm.told(rule, is_behind),
            advice: alarm.advice().map(ToOwned::to_owned),
            usual: alarm.usual,
        };
        Ok(promises.alarms().map(told).collect())
    }
}

/// New torrents and magnets so far.
fn finds(counts: &SiteCounts) -> u64 {
    counts.torrents + counts.magnets
}

fn first_line(text: &str) -> String {
    progress::brief(text)
}

/// The host in trouble that most is known of.
fn worst(watched: &Watched) -> Option<Host> {
    let HostPaused { kind, since, in_a_row, reason } = watched.hosts.values().max_by_key(|host| host.in_a_row)?;
    let trouble = match kind {
        PauseKind::Away => Trouble::Away,
        PauseKind::Tls => Trouble::Certificate,
        PauseKind::Throttles => Trouble::Throttles,
    };
    Some(Host { trouble, since: *since, in_a_row: *in_a_row, reason: first_line(reason) })
}

fn look(look: &ListLook) -> Look {
    let ListLook { list, class, at, shown, path } = look.clone();
    let shown = match shown {
        ListShown::Rows(rows) => Shown::Rows(rows),
        ListShown::Same => Shown::Same,
        ListShown::Nothing => Shown::Nothing,
    };
    Look { list, class: Class::name(class), at, shown, path }
}

fn delay_counts(delays: &Histogram) -> Counts {
    let mut counts = Counts::default();
    counts.iter_mut().zip(CLASSES_S).for_each(|(count, end)| *count = delays.at_most(end));
    counts[CLASSES_S.len()] = delays.count();
    counts
}

fn rule_fault(fault: &progress::RuleFault) -> RuleFault {
    let site = fault.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // `path:line:column: what`.
    let place = fault.first.splitn(4, ':').take(2).collect::<Vec<_>>().join(":");
    RuleFault { site, first: first_line(&fault.first), count: fault.count, place: Some(place) }
}

/// Time since the machine has started, sleep included.
fn since_boot() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a plain system call that fills this structure.
    if unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) } != 0 {
        return Duration::ZERO;
    }
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
