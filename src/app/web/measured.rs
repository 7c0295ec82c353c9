//! The figures of a running service for Prometheus: counters of the crawl in memory, counts and short notes of the database, and what [`figures`](crate::app::figures)
//! has counted. A scrape reads no table from end to end.

mod machine;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_crawl::fresh::arrivals::DELAY_NOTE;
use gleaner_crawl::freshness::delay::Delays;
use gleaner_crawl::progress::Progress;
use gleaner_crawl::promises::{PROMISES_NOTE, Promises};
use gleaner_crawl::scripts::rendered::Rendered;
use gleaner_crawl::tally::{TALLY_NOTE, Tally};
use gleaner_render::children::Children;
use gleaner_serve::metrics::Family;
use gleaner_serve::metrics::Kind::{Counter, Gauge, Histogram};
use gleaner_store::crawldb::{CrawlDbError, Reader};

use self::sites::Measures;
use crate::app::App;
use crate::app::alarms::Desk;
use crate::app::figures::Figures;
use crate::app::handover::Handed;

/// What the figures are read from.
#[derive(Clone)]
pub(super) struct Sources {
    db: Arc<dyn Reader>,
    progress: Progress,
    clock: Arc<dyn Clock>,
    children: Arc<Children>,
    figures: Figures,
    handed: Handed,
    alarms: Desk,
    data_dir: PathBuf,
    started: UnixMillis,
}

impl Sources {
    pub(super) fn of(app: &App, progress: &Progress, figures: Figures, alarms: Desk) -> Self {
        Self {
            db: app.reader(),
            progress: progress.clone(),
            clock: Arc::clone(&app.clock),
            children: Arc::clone(&app.children),
            figures,
            handed: app.handed.clone(),
            alarms,
            data_dir: app.data_dir.clone(),
            started: app.clock.now(),
        }
    }

    /// All families.
    ///
    /// # Errors
    /// Errors of the database.
    pub(super) async fn families(&self) -> Result<Vec<Family>, CrawlDbError> {
        let counted = self.figures.counted();
        let mut families = self.of_process();
        let measures = self.measures().await?;
        families.extend(sites::families(&measures, &counted));
        families.extend(self.of_handovers());
        families.extend(machine::families(&self.data_dir, counted.archive_bytes));
        families.extend(self.alarms.families());
        Ok(families)
    }

    fn of_process(&self) -> Vec<Family> {
        let mut info = Family::new("gleaner_build_info", "The version.", Gauge);
        info.add(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0);
        let fault = f64::from(u8::from(self.progress.store_fault().is_some()));
        let of_loops = self.progress.measured();
        let mut commits = Family::new(
            "gleaner_store_commit_duration_seconds",
            "Time of a durable commit of many visits, files of torrents included.",
            Histogram,
        );
        commits.durations(&[], &of_loops.commits);
        let mut lag = Family::new(
            "gleaner_loop_lag_seconds",
            "How late a timer of the crawl's loop was, once a second: high where the processor is short.",
            Histogram,
        );
        lag.durations(&[], &of_loops.lag);
        let mut pages =
            Family::new("gleaner_render_pages_total", "Pages whose scripts were run, by how that ended.", Counter);
        for (outcome, count) in self.children.pages_ended() {
            pages.add(vec![("outcome", outcome.to_owned())], count as f64);
        }
        let children = self.children.count() as f64;
        vec![
            info,
            Family::of("gleaner_start_time_seconds", "When this process started.", Gauge, seconds(self.started)),
            Family::of("gleaner_store_fault", "1 while results cannot be stored, as on a full disk.", Gauge, fault),
            commits,
            lag,
            pages,
            Family::of("gleaner_render_children", "Processes that run scripts, or wait to.", Gauge, children),
        ]
    }

    /// None where no handover is configured.
    fn of_handovers(&self) -> Vec<Family> {
        let handed = self.handed.all();
        let mut torrents = Family::new(
            "gleaner_handover_torrents_total",
            "Torrents handed over to the watch folder of a client, ever.",
            Counter,
        );
        let mut last = Family::new(
            "gleaner_handover_last_timestamp_seconds",
            "When the last one was handed over; 0 before.",
            Gauge,
        );
        for (name, (count, at_ms)) in &handed {
            torrents.add(vec![("handover", name.clone())], *count as f64);
            last.add(vec![("handover", name.clone())], seconds(UnixMillis(at_ms.unwrap_or_default())));
        }
        if handed.is_empty() { Vec::new() } else { vec![last, torrents] }
    }

    /// What is known of each site: those of the database, those under crawl, and those whose rule file has faults.
    async fn measures(&self) -> Result<Vec<Measures>, CrawlDbError> {
        let (db, now) = (&*self.db, self.clock.now());
        let mut live = self.progress.snapshot();
        let mut faults: BTreeMap<String, usize> = BTreeMap::new();
        for fault in self.progress.rule_faults() {
            let name = fault.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            *faults.entry(name).or_default() += fault.count;
        }
        let hosts = db.hosts().await?;
        let names = hosts.iter().map(|host| host.site.to_string());
        let names: BTreeSet<String> = names.chain(live.keys().cloned()).chain(faults.keys().cloned()).collect();
        let mut measures = Vec::with_capacity(names.len());
        for name in names {
            let doing = live.remove(&name);
            let tally = db.note(&name, TALLY_NOTE).await?.map(|note| Tally::from_bytes(&note)).unwrap_or_default();
            let promises = Promises::take_up(db.note(&name, PROMISES_NOTE).await?.as_deref(), |_| true);
            let delays = match self.progress.delays(&name) {
                Some(delays) => delays,
                None => {
                    let note = db.note(&name, DELAY_NOTE).await?;
                    note.and_then(|note| Delays::from_bytes(&note)).unwrap_or_default().middle().clone()
                }
            };
            measures.push(Measures {
                is_enabled: doing.as_ref().is_some_and(|doing| doing.ended.is_none()),
                doing: doing.unwrap_or_default(),
                counts: db.site_counts(&name).await?,
                script_requests: Rendered::take_up(db, &name).await?.requests,
                delays,
                last_success: tally.last_success,
                last_find: tally.last_find,
                broken_rules: promises.alarms().count(),
                rule_faults: faults.get(&name).copied().unwrap_or_default(),
                hosts_paused: hosts.iter().filter(|host| *host.site == *name && host.blocked_until > now).count(),
                name,
            });
        }
        Ok(measures)
    }
}

/// A time as Prometheus has it; 0 for none.
fn seconds(at: UnixMillis) -> f64 {
    at.0 as f64 / 1_000.0
}
