//! Evidence for new sources in a data folder: what its sites' pages link to and what its torrents name, and the hosts that the operator
//! refused. Reads notes, rows and files; asks no host for anything.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{archive_path, folder};
use crate::limits;
use gleaner_base::owner;
use gleaner_crawl::frontier::offsite::OffsiteHosts;
use gleaner_crawl::worth::OFFSITE_NOTE;
use gleaner_learn::sources::host::{self, Own};
use gleaner_learn::sources::torrents::TorrentVotes;
use gleaner_learn::sources::{Proposal, rank};
use gleaner_rules::SiteRules;
use gleaner_store::coverage;
use gleaner_store::crawldb::{Reader, TorrentRow};
use gleaner_torrent::archive::Archive;
use gleaner_torrent::origin;

/// The hosts that may be new sources, and what was read for it.
#[derive(Debug, Default)]
pub struct Found {
    /// The best first, refused ones included.
    pub proposals: Vec<Proposal>,
    pub sites: u64,
    pub torrents_read: u64,
    /// Their file is lost or cannot be read.
    pub torrents_unreadable: u64,
    /// `limits::SOURCES_TORRENTS_MAX` were read, and there are more. Infohashes are random: so are those that were read.
    pub has_more_torrents: bool,
}

/// Ranks what the sites of a database name.
///
/// # Errors
/// Those of the database, and of an archive that cannot be opened.
pub async fn find<'r>(
    db: &dyn Reader,
    data_dir: &Path,
    rules: impl Iterator<Item = &'r SiteRules>,
) -> anyhow::Result<Found> {
    let origins = db.hosts().await?;
    let known = origins.iter().map(|host| host.origin.split_once("://").map_or(&*host.origin, |(_, host)| host));
    let own = Own::of(known.chain(rules.flat_map(|site| site.hosts.iter().map(|host| &**host))));
    let mut sites = Vec::new();
    for site in coverage::sites(db).await? {
        let note = db.note(&site, OFFSITE_NOTE).await?;
        // An unreadable note counts as a missing one.
        let links = note.and_then(|note| OffsiteHosts::from_bytes(&note)).unwrap_or_default();
        sites.push((site, links));
    }
    let mut found = Found { sites: sites.len() as u64, ..Found::default() };
    let mut votes = TorrentVotes::default();
    if archive_path(data_dir).is_dir() {
        let archive = Archive::open(archive_path(data_dir), false)?;
        let mut after = None;
        loop {
            let rows = db.torrents(after, limits::EXPORT_ROWS_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.facts.infohashes.key().to_vec());
            rows.iter().for_each(|row| found.add(&archive, row, &mut votes));
            if found.has_more_torrents {
                break;
            }
        }
    }
    found.proposals = rank(&sites, &votes, &own);
    Ok(found)
}

impl Found {
    fn add(&mut self, archive: &Archive, row: &TorrentRow, votes: &mut TorrentVotes) {
        self.has_more_torrents = self.torrents_read + self.torrents_unreadable >= limits::SOURCES_TORRENTS_MAX;
        if self.has_more_torrents {
            return;
        }
        let mut bytes = Vec::new();
        let read = archive.open_torrent(&row.facts.infohashes);
        let read = read.and_then(|file| file.take(limits::TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes));
        let Some(origin) = read.ok().and_then(|_| origin::read(&bytes)) else {
            self.torrents_unreadable += 1;
            return;
        };
        self.torrents_read += 1;
        let sites: BTreeSet<&str> = row.sources.iter().map(|source| &*source.site).chain([&*row.site]).collect();
        votes.add(sites.into_iter(), &origin);
    }
}

/// The file of refused hosts in a data folder: one a line. It is none of the database's, so that a running service needs no stop.
#[must_use]
pub fn refused_path(data_dir: &Path) -> PathBuf {
    data_dir.join("sources.refused")
}

/// The hosts that the operator has refused. Lines that are no names are passed over.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn refused(data_dir: &Path) -> anyhow::Result<BTreeSet<String>> {
    let _owner = owner::act(data_dir);
    let path = refused_path(data_dir);
    let mut text = Vec::new();
    let opened = folder::open(&path, OpenOptions::new().read(true));
    match opened.and_then(|file| file.take(limits::REFUSED_BYTES_MAX).read_to_end(&mut text)) {
        Ok(_) => Ok(String::from_utf8_lossy(&text).lines().filter_map(host::name).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(folder::failed(&path, &error)),
    }
}

/// Replaces the refused hosts; the file is whole or as before.
///
/// # Errors
/// If there are more than `limits::REFUSED_BYTES_MAX` bytes of them, or the file cannot be written.
pub fn save_refused(data_dir: &Path, hosts: &BTreeSet<String>) -> anyhow::Result<()> {
    let _owner = owner::act(data_dir);
    let path = refused_path(data_dir);
    let text: String = hosts.iter().map(|host| format!("{host}\n")).collect();
    if text.len() as u64 > limits::REFUSED_BYTES_MAX {
        let (path, max) = (path.display(), limits::REFUSED_BYTES_MAX);
        anyhow::bail!(
            "{path}: more than {max} bytes of refused hosts\nhint: forget some: gleaner sources --forget HOST"
        );
    }
    let new = data_dir.join(format!(".sources.refused.{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(data_dir)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.map_err(|error: io::Error| folder::failed(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_hosts_are_kept_in_order_and_odd_lines_are_passed_over() {
        let here = tempfile::tempdir().unwrap();
        assert_eq!(refused(here.path()).unwrap(), BTreeSet::new());
        let hosts: BTreeSet<String> = ["b.example", "a.example"].map(String::from).into();
        save_refused(here.path(), &hosts).unwrap();
        assert_eq!(fs::read_to_string(refused_path(here.path())).unwrap(), "a.example\nb.example\n");
        fs::write(refused_path(here.path()), b"b.example\r\n\xff\n127.0.0.1\nWWW.A.example\n\n").unwrap();
        assert_eq!(refused(here.path()).unwrap(), hosts);
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_file(refused_path(here.path())).unwrap();
        fs::create_dir(refused_path(here.path())).unwrap();
        assert!(refused(here.path()).is_err() && save_refused(here.path(), &hosts).is_err());
    }

    #[tokio::test]
    async fn a_database_without_torrents_or_links_proposes_nothing() {
        use gleaner_store::crawldb::CrawlDb as _;
        use gleaner_store::crawldb::memory_store::MemoryStore;

        let here = tempfile::tempdir().unwrap();
        let db = MemoryStore::new();
        db.host_id("site", "http://site.example").await.unwrap();
        db.put_note("site", OFFSITE_NOTE, b"broken".to_vec()).await.unwrap();
        let found = find(&db, here.path(), std::iter::empty()).await.unwrap();
        assert_eq!((found.proposals.len(), found.sites, found.torrents_read), (0, 1, 0));
    }
}
