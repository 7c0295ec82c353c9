//! The databases open, or are served; and a sample of the archive is there and whole.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use super::{Finding, Patient};
use crate::app::database::Database;
use crate::app::{archive_path, database_path, update_path};
use crate::limits::{DOCTOR_ROWS_MAX, DOCTOR_SAMPLE_ROWS};
use gleaner_store::backup::read_torrent;
use gleaner_store::crawldb::redb_store::OpenOptions;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{Reader, TorrentRow};
use gleaner_torrent::archive::Archive;

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let path = database_path(&of.config.data_dir);
    let repair = of.command("verify --repair");
    match of.opened().await {
        Err(error) => {
            let code = match &**error {
                error if error.contains("another gleaner process") => "database_held",
                error if error.contains("has schema") => "database_newer",
                error if error.contains(" has files") => "database_lost",
                _ => "database_unreadable",
            };
            let otherwise = format!("restore a backup (gleaner restore), or move it away and run {repair}");
            vec![Finding::of_error(code, path.display(), error, &otherwise)]
        }
        Ok(None) if of.config.data_dir.exists() || of.sites.is_empty() => Vec::new(),
        Ok(None) => {
            let shown = of.config.data_dir.display();
            let fix = format!("pass the right --data, or start with {}", of.command("crawl"));
            vec![Finding::new("data_missing", shown, "there is no such folder", fix)]
        }
        // Whoever holds it has both open.
        Ok(Some(Database::Held(_))) => Vec::new(),
        Ok(Some(Database::File(_))) => update(of),
    }
}

fn update(of: &Patient) -> Vec<Finding> {
    let path = update_path(&of.config.data_dir);
    if !path.exists() {
        return Vec::new();
    }
    match UpdateDb::read_only(&path, OpenOptions { cache_bytes: 1 << 20, sync: false }) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let fix = format!("{}, which moves it aside: lists are read again", of.command("verify --repair"));
            vec![Finding::new("update_damaged", path.display(), error.to_string().replace('\n', "; "), fix)]
        }
    }
}

/// A sample of the rows: their files are there, and hash to what was stored.
pub(super) async fn archive(of: &Patient) -> Vec<Finding> {
    let Some(database) = of.database().await else { return Vec::new() };
    let path = archive_path(&of.config.data_dir);
    if !path.is_dir() {
        return Vec::new();
    }
    let archive = match Archive::open(&path, true) {
        Ok(archive) => archive,
        Err(error) => {
            return vec![Finding::of_error("archive_closed", path.display(), &error.to_string(), "chmod u+rX")];
        }
    };
    let (mut found, repair) = (Vec::new(), of.command("verify --repair"));
    for row in sampled(database.reader()).await {
        let file = archive.path_of(&row.facts.infohashes);
        let (code, what) = match read_torrent(&archive, &row.facts) {
            Ok(Some(_)) => continue,
            Ok(None) if archive.contains(&row.facts.infohashes) => {
                ("archive_damaged", "its content is not what was stored")
            }
            Ok(None) => ("archive_lost", "the file of this torrent is lost"),
            Err(error) => {
                found.push(Finding::new("archive_closed", file.display(), error.to_string(), "check the disk (dmesg)"));
                continue;
            }
        };
        found.push(Finding::new(code, file.display(), what, format!("{repair}: lost torrents are fetched again")));
    }
    found
}

/// All rows of a small archive; those at random keys of a large one.
async fn sampled(db: &dyn Reader) -> Vec<TorrentRow> {
    let first = db.torrents(None, DOCTOR_ROWS_MAX).await.unwrap_or_default();
    if first.len() < DOCTOR_ROWS_MAX {
        return first;
    }
    let mut rows = Vec::new();
    for _ in 0..DOCTOR_SAMPLE_ROWS {
        // The system's randomness, as maps use it.
        let after = RandomState::new().build_hasher().finish().to_be_bytes();
        rows.extend(db.torrents(Some(after.to_vec()), 1).await.unwrap_or_default());
    }
    rows
}
