//! What is seen of the service and its sites → causes that stand now. It remembers what is usual.

use std::collections::BTreeMap;
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::Figures;
use crate::behind::{Behind, Index};
use crate::kinds::Kind;
use crate::usual::coverage::Coverage;
use crate::usual::delays::{Counts, Delays};
use crate::usual::finds::Finds;
use crate::usual::lists::{Fell, Lists, Look};
use crate::usual::refusals::Refusals;

/// Time between two observations that counts as read, at most: what was not watched was not read.
const STEP_MS: u64 = 3_600_000;

/// Pauses in a row that a host imposes before it counts as away, and as throttling.
const PAUSES_AWAY: u32 = 2;
const PAUSES_THROTTLED: u32 = 3;

/// Free bytes, and their share, below which a disk is nearly full; it is well again with half as much more.
const DISK_BYTES: f64 = 1e9;
const DISK_SHARE: f64 = 0.03;
const DISK_WELL: f64 = 1.5;

/// Of a small disk, the share that is enough.
const DISK_SHARE_MOST: f64 = 0.1;

/// Milliseconds by which a clock is changed that are told, and how long that stands.
const CLOCK_MS: u64 = 60_000;
const CLOCK_STANDS_MS: u64 = 3_600_000;

/// How late a backup that the service makes by itself may be, at least and at most, and the first one of all at most.
const BACKUP_LATE: Duration = Duration::from_secs(3_600);
const BACKUP_LATE_MOST: Duration = Duration::from_secs(86_400);
const FIRST_BACKUP_LATE: Duration = Duration::from_secs(86_400);

/// Time of the service, at most, in which one that came due while it did not run may be under way.
const BACKUP_RUNS: Duration = Duration::from_secs(6 * 3_600);

/// After how long a backup is late that is made by itself so often.
#[must_use]
pub fn late_after(every: Duration) -> Duration {
    every + every.clamp(BACKUP_LATE, BACKUP_LATE_MOST)
}

/// What is seen at one time.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub at: UnixMillis,
    pub machine: Machine,
    pub sites: Vec<Site>,
    /// Sites that are known, though nothing may be seen of them now: what is usual of them stays.
    pub known: Vec<String>,
}

/// What is seen of the service.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Free and all bytes of the data folder's disk.
    pub disk: Option<(f64, f64)>,
    /// Milliseconds by which the clock was changed since the last time.
    pub clock_set_by_ms: i64,
    /// Why nothing can be stored.
    pub store_fault: Option<String>,
    /// None while it is made.
    pub index: Option<Index>,
    /// When the last backup was made, if there is one.
    pub backup: Option<UnixMillis>,
    /// Time between two backups that the service makes by itself, if it does.
    pub backup_every: Option<Duration>,
    /// Why there is no new one, as far as is known.
    pub backup_fault: Option<String>,
    /// How long the service has been watched.
    pub up: Duration,
    /// Rule files that cannot be used: the name of their site, the first fault with its place, and how many.
    pub rule_faults: Vec<RuleFault>,
}

/// A rule file that cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFault {
    pub site: String,
    pub first: String,
    pub count: usize,
    pub place: Option<String>,
}

/// What is seen of a site.
#[derive(Clone, Debug, Default)]
pub struct Site {
    pub name: String,
    /// It is paused, in its quiet hours, or not crawled: nothing is told of it, and nothing learned.
    pub rests: bool,
    /// Tells its rules from others, if they are known now.
    pub rules: Option<u64>,
    /// Since the last time.
    pub looks: Vec<Look>,
    /// All visits so far, and those that were refused.
    pub visits: u64,
    pub refused: u64,
    /// When a visit last gave what its kind gives.
    pub last_success: Option<UnixMillis>,
    pub host: Option<Host>,
    /// Why its account is not logged in.
    pub no_session: Option<String>,
    /// What stands before all URLs of a rule.
    pub wall: Option<String>,
    pub promises: Vec<Promise>,
    /// Share of the listed torrents; None while history is read.
    pub coverage: Option<f64>,
    pub delays: Option<Counts>,
    /// New torrents and magnets so far; None while history is read.
    pub finds: Option<u64>,
    /// Name of its last list page that showed too little.
    pub page: Option<String>,
}

/// A host that imposes pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub trouble: Trouble,
    /// When the first of them began.
    pub since: UnixMillis,
    pub in_a_row: u32,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No connection, or errors of the server.
    Away,
    Certificate,
    /// It refuses the rate.
    Throttles,
}

/// A rule that keeps its promise no more.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// Key and expression.
    pub rule: String,
    pub place: Option<String>,
    /// In words.
    pub told: String,
    pub advice: Option<String>,
    /// Usual share of broken promises.
    pub usual: f64,
}

/// What is wrong now.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    pub kind: Kind,
    pub site: Option<String>,
    /// Tells it from others of its kind and site: a rule.
    pub about: String,
    pub title: String,
    /// When it began, if that is known.
    pub since: Option<UnixMillis>,
    /// How long it has to last, unless the configuration says otherwise, where its kind does not tell.
    pub after: Option<Duration>,
    pub figures: Option<Figures>,
    pub rule: Option<String>,
    pub page: Option<String>,
    pub todo: String,
}

impl Cause {
    fn new(kind: Kind, site: Option<&str>, title: String) -> Self {
        Self {
            kind,
            site: site.map(ToOwned::to_owned),
            about: String::new(),
            title,
            since: None,
            after: None,
            figures: None,
            rule: None,
            page: None,
            todo: kind.todo(site),
        }
    }

    fn counting(mut self, of: &str, before: f64, now: f64) -> Self {
        self.figures = Some(Figures { of: of.to_owned(), before, now });
        self
    }
}

/// What is usual of all sites.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    sites: BTreeMap<String, Usual>,
    last: Option<UnixMillis>,
    disk_is_full: bool,
    /// When the clock was changed last, and by how many milliseconds.
    clock: Option<(UnixMillis, i64)>,
    /// Since when backups are wanted, while there is none, and whether the last one is too old.
    backup_wanted: Option<UnixMillis>,
    backup_is_old: bool,
    #[serde(skip)]
    behind: Behind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Usual {
    /// The rules that its lists are of.
    rules: Option<u64>,
    lists: Lists,
    refusals: Refusals,
    coverage: Coverage,
    delays: Delays,
    finds: Finds,
}

impl Watch {
    /// The causes that stand now. Of sites that rest there are none.
    pub fn look(&mut self, seen: &Seen) -> Vec<Cause> {
        let passed = self.last.map_or(0, |last| seen.at.0.saturating_sub(last.0)).min(STEP_MS);
        self.last = Some(seen.at);
        let mut causes = self.of_machine(&seen.machine, seen.at);
        let is_held = causes.iter().any(|cause| cause.kind.keeps_from_reading());
        // Of sites that are gone nothing needs to be known.
        let is_known = |name: &String| seen.known.contains(name) || seen.sites.iter().any(|site| site.name == *name);
        self.sites.retain(|name, _| is_known(name));
        for site in &seen.sites {
            let usual = self.sites.entry(site.name.clone()).or_default();
            let read_ms = if is_held { 0 } else { passed };
            causes.extend(usual.of_site(site, read_ms, seen.at));
        }
        causes
    }

    fn of_machine(&mut self, machine: &Machine, at: UnixMillis) -> Vec<Cause> {
        let mut causes = Vec::new();
        if let Some((free, size)) = machine.disk {
            let least = DISK_BYTES.max(size * DISK_SHARE).min(size * DISK_SHARE_MOST);
            let wanted = if self.disk_is_full { least * DISK_WELL } else { least };
            self.disk_is_full = free < wanted;
            if self.disk_is_full {
                let title = format!(
                    "the disk of the data folder is nearly full: {:.1} GB of {:.1} are left",
                    free / 1e9,
                    size / 1e9
                );
                causes.push(Cause::new(Kind::DiskFull, None, title).counting("free bytes", least, free));
            }
        }
        if machine.clock_set_by_ms.unsigned_abs() >= CLOCK_MS {
            self.clock = Some((at, machine.clock_set_by_ms));
        }
        if let Some((when, by_ms)) = self.clock.filter(|(when, _)| at.0.abs_diff(when.0) < CLOCK_STANDS_MS) {
            let title = format!("the clock was changed by {} s", by_ms / 1_000);
            causes.push(Cause { since: Some(when), ..Cause::new(Kind::ClockJumped, None, title) });
        }
        if let Some(fault) = &machine.store_fault {
            causes.push(Cause::new(Kind::CommitsFail, None, format!("nothing can be stored: {fault}")));
        }
        let behind = machine.index.and_then(|index| Some((index.lag, self.behind.mind(&index, at)?)));
        if let Some((lag, since)) = behind {
            let title = format!("{lag} torrents are stored, and search does not find them");
            let cause = Cause::new(Kind::IndexBehind, None, title).counting("torrents", 0.0, lag as f64);
            causes.push(Cause { since: Some(since), ..cause });
        }
        causes.extend(self.backup(machine, at));
        for fault in &machine.rule_faults {
            let more = match fault.count {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let title = format!("its rule file cannot be used: {}{more}", fault.first);
            let cause = Cause::new(Kind::RuleFile, Some(&fault.site), title);
            causes.push(Cause { rule: fault.place.clone(), ..cause });
        }
        causes
    }

    /// The last backup, as a cause from when it was made; it is none of an alarm before its time.
    fn backup(&mut self, machine: &Machine, at: UnixMillis) -> Option<Cause> {
        let of = |since: UnixMillis, title: String| {
            // The next one is another cause.
            let (about, since) = (machine.backup.map_or_else(String::new, |last| last.0.to_string()), Some(since));
            Cause { about, since, ..Cause::new(Kind::BackupOld, None, title) }
        };
        let told = machine.backup.map(|last| format!("the last backup was made at {}", last.rfc3339()));
        let Some(every) = machine.backup_every else {
            (self.backup_wanted, self.backup_is_old) = (None, false);
            return Some(of(machine.backup?, told?));
        };
        let mut after = late_after(every);
        let since = match machine.backup {
            Some(last) => last,
            None => *self.backup_wanted.get_or_insert(at),
        };
        if machine.backup.is_some() {
            self.backup_wanted = None;
        } else {
            after = after.min(FIRST_BACKUP_LATE);
        }
        // What came due while the service did not run is made now.
        let may_run = machine.up < every.clamp(BACKUP_LATE, BACKUP_RUNS) && !self.backup_is_old;
        self.backup_is_old = !may_run && at.since(since) >= after;
        let title = told.unwrap_or_else(|| "no backup was ever made".to_owned());
        let why = machine.backup_fault.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        let title = format!("{title}; `[backup]` wants one every {}{why}", told_s(every.as_secs_f64()));
        let todo =
            "`gleaner backup` makes one, or says why not; so does `journalctl -u gleaner | grep backup`".to_owned();
        (!may_run).then(|| Cause { after: Some(after), todo, ..of(since, title) })
    }
}

impl Usual {
    fn of_site(&mut self, site: &Site, read_ms: u64, at: UnixMillis) -> Vec<Cause> {
        if site.rests {
            return Vec::new();
        }
        // By other rules, other lists show other rows.
        if site.rules.is_some_and(|rules| self.rules.replace(rules).is_some_and(|former| former != rules)) {
            self.lists = Lists::default();
        }
        let refusals = self.refusals.mind(site.visits, site.refused, at);
        let new = |kind, title| Cause::new(kind, Some(&site.name), title);
        let mut causes: Vec<Cause> = site.host.iter().filter_map(|host| host_is_away(site, host)).collect();
        if let Some(why) = &site.no_session {
            causes.push(new(Kind::LoggedOut, format!("its account is not logged in: {why}")));
        }
        let throttles = causes.iter().any(|cause| cause.kind == Kind::Refused);
        if let Some(wall) = site.wall.as_ref().filter(|_| !throttles) {
            causes.push(new(Kind::Refused, format!("all URLs of a rule are refused alike: {wall}")));
        } else if let Some(grew) = refusals.filter(|_| !throttles) {
            let title = format!("{:.0} % of the visits are refused", grew.now * 100.0);
            causes.push(new(Kind::Refused, title).counting("share of refused visits", grew.before, grew.now));
        }
        // What is read while it is away is not its usual self.
        let is_away = causes.iter().any(|cause| cause.kind.keeps_from_reading());
        if !is_away {
            self.lists.pass(read_ms);
            site.looks.iter().for_each(|look| self.lists.mind(look));
        }
        causes.extend(site.promises.iter().map(|promise| broken(site, promise)));
        causes.extend(self.lists.fell().map(|fell| fallen(site, &fell)));
        let usual = site.coverage.filter(|_| !is_away).and_then(|ratio| Some((self.coverage.mind(ratio, at)?, ratio)));
        if let Some((usual, ratio)) = usual {
            let title = format!("{:.1} % of the torrents that it lists are in the archive", ratio * 100.0);
            causes.push(new(Kind::CoverageFell, title).counting("share of the listed torrents", usual, ratio));
        }
        if let Some(grew) = site.delays.and_then(|counts| self.delays.mind(counts, at)) {
            let title = format!("new torrents come {} late (p90)", told_s(grew.now));
            causes.push(new(Kind::DelayGrew, title).counting("seconds of delay (p90)", grew.before, grew.now));
        }
        // What is read badly gives nothing new.
        let read_ms = if causes.is_empty() { read_ms } else { 0 };
        causes.extend(self.finds_stopped(site, read_ms, at));
        causes
    }

    fn finds_stopped(&mut self, site: &Site, read_ms: u64, at: UnixMillis) -> Option<Cause> {
        let Some(finds) = site.finds else {
            self.finds = Finds::default();
            return None;
        };
        let stopped = self.finds.mind(finds, read_ms, at)?;
        let title = format!("no new torrent for {}", told_s(stopped.now.as_secs_f64()));
        let (before, now) = (stopped.before.as_secs_f64() / 3_600.0, stopped.now.as_secs_f64() / 3_600.0);
        Some(Cause::new(Kind::FindsStopped, Some(&site.name), title).counting(
            "hours without a new torrent",
            before,
            now,
        ))
    }
}

/// A host that gave nothing since its first pause.
fn host_is_away(site: &Site, host: &Host) -> Option<Cause> {
    // Of several hosts, another one may answer.
    if site.last_success.is_some_and(|last| last > host.since) {
        return None;
    }
    let (kind, least, what) = match host.trouble {
        Trouble::Away => (Kind::Unreachable, PAUSES_AWAY, "nothing of it is answered"),
        Trouble::Certificate => (Kind::Certificate, 1, "its certificate is not valid"),
        Trouble::Throttles => (Kind::Refused, PAUSES_THROTTLED, "it throttles"),
    };
    let title = format!("{what}: {} ({} times in a row)", host.reason, host.in_a_row);
    (host.in_a_row >= least).then(|| Cause::new(kind, Some(&site.name), title))
}

fn fallen(site: &Site, fell: &Fell) -> Cause {
    let lists = format!("{} of {} lists ({}), as {},", fell.lists, fell.of, fell.class, fell.example);
    let (kind, title) = match fell.are_empty {
        true => (Kind::ListsEmpty, format!("{lists} show nothing")),
        false => (Kind::RowsFell, format!("{lists} show fewer rows than ever")),
    };
    let cause = Cause::new(kind, Some(&site.name), title).counting("rows of a list", fell.before, fell.now);
    // The rule that finds nothing on them is the one to mend.
    let rule = site.promises.iter().find(|promise| promise.rule.starts_with(&format!("classes.{} ", fell.class)));
    Cause { page: site.page.clone(), rule: rule.and_then(|promise| promise.place.clone()), ..cause }
}

fn broken(site: &Site, promise: &Promise) -> Cause {
    let mut cause = Cause::new(Kind::PromiseBroken, Some(&site.name), promise.told.clone());
    if let Some(advice) = &promise.advice {
        cause.todo = format!("{}; {advice}", cause.todo);
    }
    let cause = cause.counting("share of URLs that break it", promise.usual, 1.0);
    Cause { about: promise.rule.clone(), rule: promise.place.clone(), page: site.page.clone(), ..cause }
}

/// A time in the largest unit of which it has two.
fn told_s(seconds: f64) -> String {
    for (unit, of) in [("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)] {
        if seconds >= 2.0 * of {
            return format!("{:.0} {unit}", seconds / of);
        }
    }
    format!("{seconds:.0} seconds")
}
