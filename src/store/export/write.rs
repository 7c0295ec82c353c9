//! The writer: receives rows, writes files and lines. Runs on its own blocking thread.

use std::fs::File;
use std::io::{self, Read, Seek, Write as _};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use flate2::Crc;
use rustix::fs::{MemfdFlags, memfd_create};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::file_name::{self, Names};
use super::list::{ListFile, Record, Told};
use super::manifest;
use super::sink::{Checked, Sink, Written};
use super::whole_file::Spool;
use super::{
    CategoryOf, ExportError, ExportFormat, ExportOptions, ExportSummary, Layout, LeftOut, LeftOutTorrent, Page,
    Progress,
};
use crate::crawldb::{MagnetRow, TorrentRow};
use crate::limits;
use gleaner_torrent::archive::Archive;
use gleaner_torrent::shared::without_origin;
use gleaner_torrent::{contents, origin};

/// The task of the writer.
pub(super) struct Job {
    pub archive: Arc<Archive>,
    pub options: ExportOptions,
    pub format: ExportFormat,
    pub told: mpsc::UnboundedSender<Progress>,
}

/// Writes the received rows until their end.
pub(super) fn run(job: &Job, mut pages: mpsc::Receiver<Page>) -> Result<ExportSummary, ExportError> {
    let mut writer = Writer::begin(job)?;
    let mut rows = 0;
    loop {
        match pages.blocking_recv() {
            Some(Page::Torrents(page)) => {
                page.iter().try_for_each(|row| writer.torrent(row))?;
                rows += page.len() as u64;
                // Nobody may listen any more; the end of the pages shows that.
                let _ = job.told.send(Progress { rows, ..writer.progress });
            }
            Some(Page::Magnets(page)) => page.iter().try_for_each(|row| writer.magnet(row))?,
            Some(Page::End) => return writer.finish(),
            None => return Err(ExportError::Interrupted),
        }
    }
}

/// What is written.
enum Dest {
    /// Torrents, with their lists.
    Files {
        sink: Sink,
        torrent_lines: Spool,
        magnet_lines: Spool,
    },
    List(ListFile),
}

struct Writer<'a> {
    archive: &'a Archive,
    options: &'a ExportOptions,
    format: ExportFormat,
    dest: Dest,
    names: Names,
    keys: Vec<Vec<u8>>,
    magnet_keys: Vec<Vec<u8>>,
    progress: Progress,
    magnets: u64,
    private_left_out: u64,
    left_out: LeftOut,
}

impl<'a> Writer<'a> {
    fn begin(job: &'a Job) -> Result<Self, ExportError> {
        let sink = Sink::begin(job.format, &job.options.dest)?;
        let dest = match sink {
            Some(sink) => Dest::Files {
                torrent_lines: Spool::new(sink.spool_folder(), manifest::MANIFEST)?,
                magnet_lines: Spool::new(sink.spool_folder(), manifest::MAGNETS)?,
                sink,
            },
            None => Dest::List(ListFile::begin(job.format, &job.options.dest)?),
        };
        Ok(Self {
            archive: &job.archive,
            options: &job.options,
            format: job.format,
            dest,
            names: Names::default(),
            keys: Vec::new(),
            magnet_keys: Vec::new(),
            progress: Progress::default(),
            magnets: 0,
            private_left_out: 0,
            left_out: LeftOut::default(),
        })
    }

    fn torrent(&mut self, row: &TorrentRow) -> Result<(), ExportError> {
        if !self.options.selects(row) {
            return Ok(());
        }
        if self.options.withholds(row) {
            self.private_left_out += 1;
            return Ok(());
        }
        let share = self.options.share.as_ref();
        let checked = check(self.archive, row).and_then(|checked| match share {
            Some(share) => shared(checked, share.announce.as_deref()),
            None => Ok(checked),
        });
        let mut checked = match checked {
            Ok(checked) => checked,
            Err(reason) => {
                self.leave_out(row, reason);
                return Ok(());
            }
        };
        let needs_contents = self.format.is_list() || self.options.layout == Layout::ByCategory;
        let told = if needs_contents { told(&mut checked, row, &self.options.category) } else { Ok(None) };
        let told = match told {
            Ok(told) => told,
            Err(reason) => {
                self.leave_out(row, reason);
                return Ok(());
            }
        };
        let path = self.path(row, told.as_ref());
        match (&mut self.dest, &told) {
            (Dest::List(list), Some(told)) => {
                let record = Record {
                    sha256: HEXLOWER.encode(&checked.sha256),
                    metainfo_bytes: u32::try_from(checked.bytes).unwrap_or(u32::MAX),
                    ..Record::of(row, told)
                };
                let record = match share {
                    Some(share) => record.shared(share.announce.as_deref()),
                    None => record,
                };
                list.put(&record, &self.options.dest)?;
            }
            (Dest::List(_), None) => {}
            (Dest::Files { sink, torrent_lines, .. }, _) => {
                sink.put(&path, &mut checked)?;
                torrent_lines.push(&match share {
                    Some(_) => manifest::shared_line(row, &path, &checked.sha256, checked.bytes),
                    None => manifest::torrent_line(row, &path),
                })?;
            }
        }
        self.progress.torrents += 1;
        self.progress.torrent_bytes += checked.bytes;
        if self.options.notes_keys {
            self.keys.push(row.facts.infohashes.key().to_vec());
        }
        Ok(())
    }

    fn magnet(&mut self, row: &MagnetRow) -> Result<(), ExportError> {
        if !self.options.selects_magnet(row) {
            return Ok(());
        }
        let is_there = match &mut self.dest {
            Dest::List(list) => list.put_magnet(row, &self.options.dest)?,
            Dest::Files { magnet_lines, .. } => magnet_lines.push(&manifest::magnet_line(row)).map(|()| true)?,
        };
        self.magnets += u64::from(is_there);
        if is_there && self.options.notes_keys {
            self.magnet_keys.push(row.facts.infohashes.key().to_vec());
        }
        Ok(())
    }

    fn path(&mut self, row: &TorrentRow, told: Option<&Told>) -> String {
        let file = self.names.next(&row.facts.name, &row.facts.infohashes);
        match self.options.layout {
            Layout::Flat => file,
            Layout::BySite => {
                let site = self.options.site.as_deref().unwrap_or(&row.site);
                format!("{}/{file}", file_name::folder(site))
            }
            Layout::ByDate => format!("{}/{file}", file_name::folder(&manifest::day(row.stored))),
            Layout::ByCategory => {
                let name = told.map_or("", |told| &told.category.1).replace('/', "-");
                format!("{}/{file}", file_name::folder(&name))
            }
        }
    }

    fn leave_out(&mut self, row: &TorrentRow, reason: String) {
        self.left_out.count += 1;
        if self.left_out.listed.len() < limits::FINDINGS_LISTED_MAX {
            self.left_out.listed.push(LeftOutTorrent {
                infohash: row.facts.infohashes.key_hex(),
                name: row.facts.name.to_string(),
                file: self.archive.path_of(&row.facts.infohashes),
                reason,
            });
        }
    }

    fn finish(self) -> Result<ExportSummary, ExportError> {
        let written = match self.dest {
            Dest::Files { sink, torrent_lines, magnet_lines } => sink.finish(torrent_lines, magnet_lines)?,
            Dest::List(list) => Written { dest_bytes: Some(list.finish(&self.options.dest)?), ..Written::default() },
        };
        Ok(ExportSummary {
            dest: self.options.dest.clone(),
            format: self.format,
            layout: self.options.layout,
            torrents: self.progress.torrents,
            torrent_bytes: self.progress.torrent_bytes,
            magnets: self.magnets,
            dest_bytes: written.dest_bytes,
            unchanged: written.unchanged,
            removed: written.removed,
            private_left_out: self.private_left_out,
            left_out: self.left_out,
            keys: self.keys,
            magnet_keys: self.magnet_keys,
        })
    }
}

/// The archived file of a row, read once to check that it matches the row, then rewound.
fn check(archive: &Archive, row: &TorrentRow) -> Result<Checked, String> {
    let mut file = match archive.open_torrent(&row.facts.infohashes) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err("its file is lost".to_owned()),
        Err(error) => return Err(format!("its file cannot be read: {error}")),
    };
    let checked = sums(&mut file).and_then(|sums| file.rewind().map(|()| sums));
    let (bytes, sha256, crc32) = checked.map_err(|error| format!("its file cannot be read: {error}"))?;
    if sha256 != row.facts.sha256 {
        return Err("its file is damaged: its sha256 differs from the stored one".to_owned());
    }
    Ok(Checked { file, bytes, sha256, crc32 })
}

/// What the file of a torrent says; afterwards it is at its start again.
fn told(checked: &mut Checked, row: &TorrentRow, category: &CategoryOf) -> Result<Option<Told>, String> {
    let mut bytes = Vec::new();
    let read = (&mut checked.file).take(limits::TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes);
    read.and_then(|_| checked.file.rewind()).map_err(|error| format!("its file cannot be read: {error}"))?;
    let parts = contents::read(&bytes).zip(origin::read(&bytes));
    let (contents, origin) = parts.ok_or_else(|| "its file is no torrent".to_owned())?;
    let category = (category.0)(row, &contents.files);
    Ok(Some(Told { contents, origin, category }))
}

/// The same torrent without what says where it is from, in memory.
fn shared(mut checked: Checked, announce: Option<&str>) -> Result<Checked, String> {
    let mut rewritten = || {
        let mut bytes = Vec::new();
        (&mut checked.file).take(limits::TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
        let Some(bytes) = without_origin(&bytes, announce) else { return Ok(None) };
        let mut file = File::from(memfd_create("shared", MemfdFlags::CLOEXEC)?);
        file.write_all(&bytes)?;
        file.rewind()?;
        let (bytes, sha256, crc32) = sums(&mut file)?;
        file.rewind()?;
        Ok::<_, io::Error>(Some(Checked { file, bytes, sha256, crc32 }))
    };
    match rewritten() {
        Ok(Some(checked)) => Ok(checked),
        Ok(None) => Err("its file is no torrent".to_owned()),
        Err(error) => Err(format!("its file cannot be rewritten: {error}")),
    }
}

/// Length, SHA-256 and CRC-32 of a file from its current position; reads at most one byte more than the largest torrent.
pub(super) fn sums(file: &mut File) -> io::Result<(u64, [u8; 32], u32)> {
    let mut file = file.take(limits::TORRENT_BYTES_MAX as u64 + 1);
    let (mut sha256, mut crc32) = (Sha256::new(), Crc::new());
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, sha256.finalize().into(), crc32.sum())),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        sha256.update(&buffer[..read]);
        crc32.update(&buffer[..read]);
        bytes += read as u64;
    }
}
