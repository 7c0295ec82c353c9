//! What the pages show beside the reports: put together from the figures, the half hours, the data folder and the rule files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
use gleaner_crawl::progress::Progress;
use gleaner_crawl::worth;
use gleaner_rules::Rule;
use gleaner_rules::config::Config;
use gleaner_serve::desk::{Covered, Desk, Exported, RefusedLink, Timetable, Timetables, Yield};
use gleaner_store::crawldb::{CrawlDbError, Reader};

use super::examine::Doctor;
use super::history::History;
use super::{off_the_loop, rule_files};
use crate::app::control::Live;
use crate::app::figures::Figures;
use crate::app::{App, schedule};
use crate::limits::{EXPORTS_SHOWN_MAX, TIMETABLES_KEPT};

/// See [`Desk`].
pub(super) fn desk(
    app: &App,
    config: &Config,
    (history, figures): (&History, Figures),
    (progress, live): (&Progress, Arc<Live>),
) -> Desk {
    let (history, data_dir) = (history.clone(), app.data_dir.clone());
    let of_disk = app.data_dir.clone();
    let [r1, r2, r3, r4, r5] = std::array::from_fn(|_| config.rules_dir.clone());
    let (db, doctor) = (app.reader(), Doctor::new(Arc::clone(&app.clock), config));
    Desk {
        started: app.clock.now(),
        given: config.given.clone(),
        disk: Box::new(move || disk(&of_disk)),
        covered: Box::new(move || covered(&figures)),
        half_hours: Box::new(move || history.half_hours()),
        refusals: {
            let progress = progress.clone();
            Box::new(move |site| progress.refused(site).into_iter().map(refused).collect())
        },
        timetables: timetables(live, Arc::clone(&app.clock), progress.clone()),
        examined: {
            let doctor = doctor.clone();
            Box::new(move || doctor.examined())
        },
        examine: Box::new(move || doctor.examine()),
        yields: Box::new(move |site| {
            let (db, rules_dir) = (Arc::clone(&db), r1.clone());
            Box::pin(async move { yields(&*db, rules_dir, site).await })
        }),
        rule_files: Box::new(move || {
            let rules_dir = r2.clone();
            Box::pin(async move { Ok(off_the_loop(move || rule_files::all(&rules_dir)).await) })
        }),
        rule_file: Box::new(move |name| {
            let rules_dir = r3.clone();
            Box::pin(async move { Ok(off_the_loop(move || rule_files::one(&rules_dir, &name)).await) })
        }),
        verdicts: Box::new(move |name, urls| {
            let rules_dir = r4.clone();
            Box::pin(async move { Ok(off_the_loop(move || rule_files::verdicts(&rules_dir, &name, &urls)).await) })
        }),
        save: Box::new(move |new| {
            let rules_dir = r5.clone();
            Box::pin(async move { rule_files::save(rules_dir, new).await })
        }),
        exports: Box::new(move || {
            let folder = data_dir.join("exports");
            Box::pin(async move { Ok(off_the_loop(move || exports(&folder)).await) })
        }),
    }
}

fn refused(link: gleaner_crawl::refused::RefusedLink) -> RefusedLink {
    let gleaner_crawl::refused::RefusedLink { url, why, rule, place, line, page, at, pages } = link;
    RefusedLink { url: url.into(), why, rule, place, line, page: page.into(), at: at.rfc3339(), pages }
}

/// The schedules of all sites, reckoned together, and kept for a moment.
fn timetables(live: Arc<Live>, clock: Arc<dyn Clock>, progress: Progress) -> Timetables {
    type Kept = Option<(UnixMillis, Arc<Vec<Timetable>>)>;
    let kept: Arc<tokio::sync::Mutex<Kept>> = Arc::default();
    Box::new(move || {
        let (live, progress, kept, now) = (Arc::clone(&live), progress.clone(), Arc::clone(&kept), clock.now());
        Box::pin(async move {
            let mut kept = kept.lock().await;
            if let Some((at, tables)) = &*kept
                && now >= *at
                && now.since(*at) < TIMETABLES_KEPT
            {
                return Ok(Arc::clone(tables));
            }
            let mut notes = Vec::new();
            let sites: BTreeSet<String> = live.hosts().await?.into_iter().map(|host| host.site.into()).collect();
            for site in sites {
                let note = live.note(&site, SCHEDULE_NOTE).await?;
                notes.push((site, note));
            }
            let reckoned = off_the_loop(move || {
                let of = |(site, note): (String, Option<Vec<u8>>)| {
                    let state = note.and_then(|note| StoredTimetable::from_bytes(&note));
                    let own = || Timetable { site: site.clone(), ..Timetable::default() };
                    let mut table = state.map_or_else(own, |state| schedule::timetable(&site, &state, now));
                    table.past = schedule::past_looks(&progress, &site, now);
                    table
                };
                notes.into_iter().map(of).collect::<Vec<_>>()
            });
            let tables = Arc::new(reckoned.await);
            *kept = Some((now, Arc::clone(&tables)));
            Ok(tables)
        })
    })
}

/// Free bytes, and with them those in use; what the file system keeps for root is neither, as df(1) reckons.
fn disk(data_dir: &Path) -> Option<(u64, u64)> {
    let disk = rustix::fs::statvfs(data_dir).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    let used = disk.f_blocks.saturating_sub(disk.f_bfree);
    Some((bytes(disk.f_bavail), bytes(used.saturating_add(disk.f_bavail))))
}

fn covered(figures: &Figures) -> BTreeMap<String, Covered> {
    let shown = |(site, of): (String, crate::app::figures::Covered)| {
        (site, Covered { ratio: of.ratio, is_at_most: of.is_at_most, over_time: of.over_time })
    };
    figures.counted().sites.into_iter().map(shown).collect()
}

/// What the rules of a site have brought, the best first.
async fn yields(db: &dyn Reader, rules_dir: PathBuf, site: String) -> Result<Vec<Yield>, CrawlDbError> {
    let Some(rules) = off_the_loop(move || rule_files::of_site(&rules_dir, &site)).await else {
        return Ok(Vec::new());
    };
    let (mut shares, _) = worth::shares(db, &rules).await?.by_rule();
    shares.retain(|share| share.fetched > 0);
    shares.sort_by(|one, other| other.index.total_cmp(&one.index));
    let told = |share: gleaner_crawl::frontier::shares::RuleShare| {
        let rule = share.rule.and_then(|number| rules.rules().get(number));
        Yield {
            key: rule.map_or_else(|| "shapes beyond those that are told apart".to_owned(), Rule::key),
            pattern: rule.map(|rule| rule.pattern.to_string()).unwrap_or_default(),
            place: rule.map(Rule::place).unwrap_or_default(),
            fetched: share.fetched,
            torrents: share.torrents,
            of_last: share.of_last as u64,
        }
    };
    Ok(shares.into_iter().map(told).collect())
}

/// The marks in this folder. They have a line for each torrent that was ever exported: none is read.
fn exports(folder: &Path) -> Vec<Exported> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_mark = |path: &PathBuf| path.extension().is_none() && path.is_file();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_mark).collect();
    paths.sort();
    let told = |path: &PathBuf| {
        let metadata = fs::metadata(path).ok()?;
        let at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some(Exported { name, bytes: metadata.len(), at: UnixMillis(u64::try_from(at.as_millis()).ok()?) })
    };
    paths.iter().take(EXPORTS_SHOWN_MAX).filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_exports_are_listed_and_half_written_ones_are_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("weekly"), "t aa\nt bb\nm cc\n").unwrap();
        fs::write(folder.path().join("other.part"), "t aa\n").unwrap();
        let found = exports(folder.path());
        let told: Vec<_> = found.iter().map(|of| (&*of.name, of.bytes)).collect();
        assert_eq!(told, [("weekly", 15)]);
        assert_eq!(exports(&folder.path().join("none")), []);
    }
}
