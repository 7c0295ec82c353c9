//! The backups of `[backup]`: their folder can be written, and the last one is not old.

use std::path::Path;

use super::handover::may_write;
use super::{Finding, Patient};
use crate::app::backups::times;
use crate::app::database::Database;
use crate::app::database_path;
use gleaner_alarms::watch::late_after;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_rules::config::backup::Backup;

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let Some(wanted) = &of.config.backup else { return Vec::new() };
    let mut found: Vec<Finding> = folder(of, wanted).into_iter().collect();
    let every = match wanted.every.as_secs() / 60 {
        minutes if minutes % 60 == 0 => format!("{} h", minutes / 60),
        minutes => format!("{minutes} min"),
    };
    let told = match last(of, &wanted.to).await {
        Some(at) if is_old(at, wanted, SystemClock.now()) => Some((
            "backup_old",
            format!("the last backup was finished at {}, and one is due every {every}", at.rfc3339()),
        )),
        // The service makes the first one when it starts: before the first crawl, there is nothing to back up.
        None if database_path(&of.config.data_dir).exists() => {
            Some(("backup_missing", format!("no backup was finished yet, and one is due every {every}")))
        }
        _ => None,
    };
    found.extend(told.map(|(code, what)| {
        let fix = format!("{}: it says why there is none", of.command("backup"));
        Finding::new(code, wanted.to.display(), what, fix)
    }));
    found
}

/// A service knows more than the file, which may not be writable.
async fn last(of: &Patient, to: &Path) -> Option<UnixMillis> {
    let told = match of.database().await {
        Some(Database::Held(service)) => service.status().await.ok(),
        _ => None,
    };
    let told = told.and_then(|report| times::last_at(&report.backups.last, to));
    told.or_else(|| times::last(&of.config.data_dir, Some(to)))
}

fn is_old(at: UnixMillis, wanted: &Backup, now: UnixMillis) -> bool {
    now.since(at) > late_after(wanted.every)
}

fn folder(of: &Patient, wanted: &Backup) -> Option<Finding> {
    let shown = wanted.to.display();
    let there = wanted.to.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    if !there.is_dir() {
        let fix = "set `to` of [backup] in gleaner.toml to a folder";
        return Some(Finding::new("backup_not_writable", shown, format!("{} is a file", there.display()), fix));
    }
    (!may_write(there, &of.config.data_dir)).then(|| {
        let fix = "give the folder to the service's user (sudo chown gleaner: FOLDER), or set `to` of [backup] in gleaner.toml";
        Finding::new("backup_not_writable", shown, "the owner of the data folder cannot write there", fix)
    })
}
