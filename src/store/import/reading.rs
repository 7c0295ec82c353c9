//! Reads what is to be imported: folders, archives, lists and single files become batches of torrents and magnets. On a thread of its own; it
//! writes nothing but a manifest's copy without a name.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::Path;

use tokio::sync::mpsc;

use super::listed::{Line, Listed, MagnetLine};
use super::refused::Groups;
use super::tarball::{self, Kind, Member, fill};
use super::unpack::{self, Form, Growth, Metered};
use super::{Batch, Job, Judged, Magnet, SourceAt, Torrent, trackers, zip};
use crate::crawldb::{MagnetFacts, TorrentFacts};
use crate::export::manifest::{MAGNETS, MANIFEST};
use crate::export::nameless;
use crate::limits::{
    IMPORT_BATCH_BYTES_MAX, IMPORT_DEPTH_MAX, IMPORT_LINE_BYTES_MAX, IMPORT_ROWS_MAX, IMPORT_SITE_BYTES_MAX,
    SOURCES_PER_TORRENT_MAX, TORRENT_BYTES_MAX, URL_BYTES_MAX,
};
use gleaner_base::clock::UnixMillis;
use gleaner_base::regular;
use gleaner_base::url::MASK;
use gleaner_torrent::{bencode, magnet, metainfo};

/// First bytes of a file, by which it is told what it is: a tar header.
const START: usize = 512;

/// Bytes of a `.fastresume` that are read.
const RESUME_BYTES: u64 = 1 << 20;

/// What the reader found beside torrents and magnets.
#[derive(Debug, Default)]
pub struct Report {
    /// Files that are no torrents and do not claim to be.
    pub other: u64,
    pub refused: Groups,
    /// URLs that a manifest shows without the keys of a member: they are not known to the crawl.
    pub masked: u64,
}

/// The receiver is gone: the import has ended with an error of its own.
struct Stopped;

pub struct Reading<'j> {
    job: &'j Job,
    batches: mpsc::Sender<Batch>,
    batch: Batch,
    report: Report,
}

/// One file, in a folder or an archive.
struct Item<'i> {
    /// Where it is, for people.
    place: &'i str,
    /// Its path within the export that it belongs to.
    key: &'i str,
    /// A person has named it.
    is_named: bool,
    /// The file on this machine; None in an archive.
    path: Option<&'i Path>,
}

/// Reads all paths. The batches end when this returns.
pub fn run(job: &Job, batches: mpsc::Sender<Batch>) -> Report {
    let mut reading = Reading { job, batches, batch: Batch::default(), report: Report::default() };
    // Stopped: whoever receives knows why.
    let _ = job.paths.iter().try_for_each(|path| reading.path(path)).and_then(|()| reading.send());
    reading.report
}

impl Reading<'_> {
    fn path(&mut self, path: &Path) -> Result<(), Stopped> {
        let place =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => self.folder(path, &place, "", 0, &mut None),
            Ok(_) => self.file(&Item { place: &place, key: "", is_named: true, path: Some(path) }, &mut None),
            Err(error) => {
                self.report.refused.push("cannot be read", &path.display().to_string(), &error.to_string());
                Ok(())
            }
        }
    }

    /// A folder with all below it. A manifest in it says more of its files.
    fn folder(
        &mut self,
        path: &Path,
        place: &str,
        key: &str,
        depth: usize,
        above: &mut Option<Listed>,
    ) -> Result<(), Stopped> {
        let own = regular::open(&path.join(MANIFEST)).and_then(Listed::of);
        let is_own = matches!(own, Ok(Some(_)));
        let mut own = own.unwrap_or_default();
        let (listed, key) = if is_own { (&mut own, "") } else { (above, key) };
        let entries = match fs::read_dir(path) {
            Ok(entries) if depth < IMPORT_DEPTH_MAX => entries,
            Ok(_) => {
                self.report.refused.push("folders this deep are not read", place, "");
                return Ok(());
            }
            Err(error) => {
                self.report.refused.push("cannot be read", place, &error.to_string());
                return Ok(());
            }
        };
        for entry in entries {
            let Ok(entry) = entry else {
                self.report.refused.push("cannot be read", place, "the folder cannot be read to its end");
                break;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_own && name == MANIFEST {
                continue;
            }
            let (place, path) = (format!("{place}/{name}"), entry.path());
            let key = if key.is_empty() { name } else { format!("{key}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&path, &place, &key, depth + 1, listed)?,
                Ok(kind) if kind.is_file() => {
                    let item = Item { place: &place, key: &key, is_named: false, path: Some(&path) };
                    self.file(&item, listed)?;
                }
                Ok(kind) if kind.is_symlink() => self.left(&place, "links are not followed", ""),
                Ok(_) => self.left(&place, "devices and pipes are not read", ""),
                Err(error) => self.report.refused.push("cannot be read", &place, &error.to_string()),
            }
        }
        if is_own {
            self.end_of_list(place, own);
        }
        Ok(())
    }

    /// A file of this machine, which may be an archive.
    fn file(&mut self, item: &Item<'_>, listed: &mut Option<Listed>) -> Result<(), Stopped> {
        let Some(path) = item.path else { return Ok(()) };
        let opened = regular::open(path).and_then(|mut file| {
            let mut start = [0; START];
            let filled = fill(&mut file, &mut start)?;
            Ok((file, start, filled))
        });
        let (file, start, filled) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.report.refused.push("cannot be read", item.place, &error.to_string());
                return Ok(());
            }
        };
        let start = &start[..filled];
        match unpack::form_of(start) {
            Form::Plain => self.content(item, start, &mut { file }, listed),
            form => {
                let mut stopped = Ok(());
                let read = match form {
                    Form::Zip => self.zip(item, &file, &mut stopped),
                    _ => self.packed(item, path, form, &mut stopped),
                };
                stopped?;
                if let Err(error) = read {
                    self.report.refused.push("an archive cannot be read to its end", item.place, &error.to_string());
                }
                Ok(())
            }
        }
    }

    fn zip(&mut self, item: &Item<'_>, file: &File, stopped: &mut Result<(), Stopped>) -> io::Result<()> {
        let length = file.metadata()?.len();
        let mut growth = Growth::of(length);
        let mut found = Found::default();
        let looked = zip::walk(file, &mut |member, content| {
            let content = &mut Metered { content, growth: &mut growth };
            found.look(&member, content, &self.job.spool)
        });
        let Found { mut listed, base, fault } = found;
        // A fault of the archive is told when its members are read.
        drop(looked);
        fault.map_or(Ok(()), Err)?;
        let mut growth = Growth::of(length);
        zip::walk(file, &mut |member, content| {
            let content = &mut Metered { content, growth: &mut growth };
            let taken = self.member(item.place, member, content, &mut listed, &base);
            *stopped = taken;
            // One broken member does not spoil the others.
            match stopped {
                Ok(()) if !growth.is_over() => Ok(()),
                Ok(()) => growth.grows(0),
                Err(Stopped) => Err(io::ErrorKind::Interrupted.into()),
            }
        })?;
        self.end_of_archive(item.place, listed);
        Ok(())
    }

    /// A tar archive, compressed or not, or a single compressed file.
    fn packed(
        &mut self,
        item: &Item<'_>,
        path: &Path,
        form: Form,
        stopped: &mut Result<(), Stopped>,
    ) -> io::Result<()> {
        let mut content = unpack::stream(regular::open(path)?, form)?;
        let mut start = [0; START];
        let filled = fill(&mut content, &mut start)?;
        let start = &start[..filled];
        if !tarball::begins(start) {
            *stopped = match unpack::form_of(start) {
                Form::Plain => self.content(&Item { path: None, ..*item }, start, &mut content, &mut None),
                _ => {
                    self.nested(item.place);
                    Ok(())
                }
            };
            return Ok(());
        }
        drop(content);
        // The list of an export comes last in it, and is wanted first.
        let mut found = Found::default();
        let mut content = unpack::stream(regular::open(path)?, form)?;
        let looked = tarball::walk(&mut content, &mut |member, content| found.look(&member, content, &self.job.spool));
        if looked.is_ok() {
            // Its checksum stands at the end: what differs from it may have become another torrent.
            io::copy(&mut content, &mut io::sink())?;
        }
        let Found { mut listed, base, fault } = found;
        // A fault of the archive is told when its members are read.
        drop(looked);
        fault.map_or(Ok(()), Err)?;
        let read = tarball::walk(&mut unpack::stream(regular::open(path)?, form)?, &mut |member, content| {
            *stopped = self.member(item.place, member, content, &mut listed, &base);
            if stopped.is_ok() { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        });
        self.end_of_archive(item.place, listed);
        read
    }

    fn end_of_archive(&mut self, place: &str, listed: Option<Listed>) {
        if listed.is_some() {
            self.end_of_list(place, listed);
        }
    }

    fn end_of_list(&mut self, place: &str, listed: Option<Listed>) {
        let Some(listed) = listed else { return };
        let place = format!("{place}/{MANIFEST}");
        for (reason, count) in [
            ("a manifest names files that are not there", listed.left()),
            ("a manifest has lines that are none", listed.broken),
        ] {
            if count > 0 {
                self.report.refused.push(reason, &place, &format!("{count} of them"));
            }
        }
    }

    fn member(
        &mut self,
        archive: &str,
        member: Member,
        content: &mut dyn Read,
        listed: &mut Option<Listed>,
        base: &str,
    ) -> Result<(), Stopped> {
        let place = format!("{archive}!/{}", member.path.trim_start_matches("./"));
        let key = member.path.trim_start_matches("./").strip_prefix(base).unwrap_or(&member.path).to_owned();
        match member.kind {
            Kind::Folder => return Ok(()),
            Kind::Other(what) => {
                self.left(&place, what, "");
                return Ok(());
            }
            Kind::File if listed.is_some() && key == MANIFEST => return Ok(()),
            Kind::File => {}
        }
        let mut start = [0; START];
        let filled = match fill(content, &mut start) {
            Ok(filled) => filled,
            Err(error) => {
                self.left(&place, "cannot be read", &error.to_string());
                return Ok(());
            }
        };
        let start = &start[..filled];
        if unpack::form_of(start) != Form::Plain {
            self.nested(&place);
            return Ok(());
        }
        self.content(&Item { place: &place, key: &key, is_named: false, path: None }, start, content, listed)
    }

    /// An archive within an archive.
    fn nested(&mut self, place: &str) {
        const NAMES: [&str; 9] = [".zip", ".tar", ".gz", ".tgz", ".zst", ".tzst", ".torrent", ".bz2", ".xz"];
        let name = place.to_ascii_lowercase();
        if NAMES.iter().any(|end| name.ends_with(end)) {
            self.report.refused.push("archives within archives are not read (unpack it first)", place, "");
        } else {
            self.report.other += 1;
        }
    }

    /// What is no torrent: refused if it claims to be one.
    fn left(&mut self, place: &str, reason: &'static str, detail: &str) {
        if is_torrent_name(place) {
            self.report.refused.push(reason, place, detail);
        } else {
            self.report.other += 1;
        }
    }

    /// The content of one file.
    fn content(
        &mut self,
        item: &Item<'_>,
        start: &[u8],
        rest: &mut dyn Read,
        listed: &mut Option<Listed>,
    ) -> Result<(), Stopped> {
        let is_claimed = item.is_named || is_torrent_name(item.place);
        let mut content = start.chain(rest);
        if is_magnet_list(start) {
            return self.lines(item, &mut content, |reading, line, place| reading.magnet(line, place));
        }
        if item.place.ends_with(MAGNETS) && start.starts_with(b"{") {
            return self.lines(item, &mut content, |reading, line, place| reading.listed_magnet(line, place));
        }
        if !is_claimed && !matches!(bencode::skip_blank(start), [b'd', b'0'..=b'9', ..]) {
            self.report.other += 1;
            return Ok(());
        }
        let mut bytes = Vec::new();
        if let Err(error) = content.take(TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes) {
            self.report.refused.push("cannot be read", item.place, &error.to_string());
            return Ok(());
        }
        let is_too_large = bytes.len() > TORRENT_BYTES_MAX;
        match metainfo::parse(if is_too_large { &[] } else { &bytes }) {
            Ok(metainfo) => {
                let mut file = metainfo.dict_bytes(&bytes).to_vec();
                let facts = TorrentFacts::of(metainfo, &bytes);
                let line = listed.as_mut().and_then(|listed| listed.take(item.key));
                let sources = line.map(|line| self.sources(&line, &facts, item.place)).unwrap_or_default();
                let (mut facts, mut is_completed) = (facts, false);
                if sources.is_empty()
                    && let Some(completed) = completed(item, &file)
                    && let Ok(metainfo) = metainfo::parse(&completed)
                {
                    is_completed = metainfo.infohashes == facts.infohashes;
                    if is_completed {
                        facts = TorrentFacts::of(metainfo, &completed);
                        file = completed;
                    }
                }
                self.batch.completed += u64::from(is_completed);
                let said = |at: &SourceAt| size_of_val(at) + at.via.as_deref().map_or(0, str::len) + URL_SPARE_BYTES;
                self.batch.bytes += file.len() + sources.iter().map(said).sum::<usize>();
                self.batch.torrents.push(Torrent { facts, file, place: item.place.to_owned(), sources });
                self.send_if_full()
            }
            Err(_) if is_too_large && is_claimed => {
                self.report.refused.push("larger than a torrent file may be", item.place, "");
                Ok(())
            }
            Err(error) if is_claimed => {
                let reason = match error {
                    metainfo::MetainfoError::Bencode(_) => "not bencoded",
                    metainfo::MetainfoError::Empty => "empty",
                    _ => "no torrent, or a malformed one",
                };
                self.report.refused.push(reason, item.place, &error.to_string());
                Ok(())
            }
            Err(_) => {
                self.report.other += 1;
                Ok(())
            }
        }
    }

    /// What a manifest's line says of a file, as far as the file and the rules bear it out.
    fn sources(&mut self, line: &Line, facts: &TorrentFacts, place: &str) -> Vec<SourceAt> {
        let hex = |hash: Option<&[u8]>| hash.map(|hash| data_encoding::HEXLOWER.encode(hash));
        let (v1, v2) = (facts.infohashes.v1.as_ref().map(|v1| &v1[..]), facts.infohashes.v2.as_ref().map(|v2| &v2[..]));
        let refused = &mut self.report.refused;
        if line.infohash_v1 != hex(v1) || line.infohash_v2 != hex(v2) {
            refused.push("a manifest lies: the file has another infohash (imported without what it says)", place, "");
            return Vec::new();
        }
        if line.sha256 != data_encoding::HEXLOWER.encode(&facts.sha256) {
            refused.push("a manifest lies: the file has another sha256 (imported without what it says)", place, "");
            return Vec::new();
        }
        let now = self.job.now;
        let stored = line.stored.as_deref().map_or(self.job.now, |stored| self.time(stored, place));
        let mut sources: Vec<SourceAt> = Vec::new();
        let is_first = |source: &&super::listed::Source| line.site.as_deref() == Some(&*source.site);
        let (first, others): (Vec<_>, Vec<_>) = line.sources.iter().partition(is_first);
        for source in first.into_iter().chain(others).take(SOURCES_PER_TORRENT_MAX) {
            let at = if sources.is_empty() { stored } else { self.time(&source.first_seen, place) };
            if !is_site(&source.site) {
                self.report.refused.push("a manifest has a site's name that cannot be one", place, "");
                continue;
            }
            let via = source.via.as_deref().filter(|via| {
                via.len() <= URL_BYTES_MAX
                    && !via.contains(MASK)
                    && (via.starts_with("http://") || via.starts_with("https://"))
            });
            match if source.url.contains(MASK) { Judged::Masked } else { (self.job.judge)(&source.site, &source.url) } {
                Judged::Known { origin, path, rank, .. } => {
                    let detail = match via.map(|via| (self.job.judge)(&source.site, via)) {
                        Some(Judged::Known { origin, path, rank, is_detail: true }) => Some((origin, path, rank)),
                        _ => None,
                    };
                    let (site, via) = (source.site.clone(), via.map(Into::into));
                    let label = source.label.as_deref().map(Into::into);
                    sources.push(SourceAt { site, url: Some((origin, path, rank)), via, detail, label, at });
                }
                judged @ (Judged::Masked | Judged::List) => {
                    self.report.masked += u64::from(judged == Judged::Masked);
                    let is_there = |known: &SourceAt| known.url.is_none() && known.site == source.site;
                    if !sources.iter().any(is_there) {
                        let (site, label) = (source.site.clone(), source.label.as_deref().map(Into::into));
                        sources.push(SourceAt { site, url: None, via: None, detail: None, label, at });
                    }
                }
                Judged::Lie(reason) => self.report.refused.push(reason, place, &source.url),
            }
        }
        let of_line =
            line.site.as_deref().filter(|site| sources.is_empty() && line.sources.is_empty() && is_site(site));
        sources.extend(of_line.map(|site| SourceAt {
            site: site.to_owned(),
            url: None,
            via: None,
            detail: None,
            label: None,
            at: stored.min(now),
        }));
        sources
    }

    /// A time of a manifest; now, if that is still to come or none.
    fn time(&mut self, text: &str, place: &str) -> UnixMillis {
        let parsed = time::OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339);
        let millis = parsed.ok().and_then(|at| u64::try_from(at.unix_timestamp_nanos() / 1_000_000).ok());
        match millis.map(UnixMillis).filter(|at| *at <= self.job.now) {
            Some(at) => at,
            None => {
                self.report.refused.push(
                    "a manifest lies: a time is in the future, or none (now is taken)",
                    place,
                    text,
                );
                self.job.now
            }
        }
    }

    /// Each line of a text, with its place.
    fn lines(
        &mut self,
        item: &Item<'_>,
        content: &mut dyn Read,
        mut each: impl FnMut(&mut Self, &str, &str) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let mut reader = BufReader::new(content);
        let (mut line, mut number) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            number += 1;
            let place = format!("{}:{number}", item.place);
            let max = IMPORT_LINE_BYTES_MAX as u64;
            match (&mut reader).take(max).read_until(b'\n', &mut line) {
                Ok(0) => return Ok(()),
                Ok(read) if read as u64 == max && !line.ends_with(b"\n") => {
                    self.report.refused.push("a line is too long", &place, "");
                    if reader.skip_until(b'\n').is_err() {
                        return Ok(());
                    }
                }
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line);
                    let text = text.trim_start_matches('\u{feff}').trim();
                    if !text.is_empty() && !text.starts_with('#') {
                        each(self, text, &place)?;
                    }
                }
                Err(error) => {
                    self.report.refused.push("cannot be read", &place, &error.to_string());
                    return Ok(());
                }
            }
        }
    }

    fn magnet(&mut self, line: &str, place: &str) -> Result<(), Stopped> {
        let (site, now) = (self.job.source.clone(), self.job.now);
        self.take_magnet(line, None, site, now, place)
    }

    fn listed_magnet(&mut self, line: &str, place: &str) -> Result<(), Stopped> {
        match serde_json::from_str::<MagnetLine>(line) {
            Ok(line) if is_site(&line.site) => {
                let at = self.time(&line.first_seen, place);
                self.take_magnet(&line.link, line.name, line.site, at, place)
            }
            _ => {
                self.report.refused.push("a list of magnets has lines that are none", place, "");
                Ok(())
            }
        }
    }

    fn take_magnet(
        &mut self,
        link: &str,
        name: Option<String>,
        site: String,
        at: UnixMillis,
        place: &str,
    ) -> Result<(), Stopped> {
        match magnet::parse(link) {
            Ok(parsed) => {
                let name = parsed.name.or(name).map(Into::into);
                let facts = MagnetFacts { infohashes: parsed.infohashes, name, link: link.into() };
                self.batch.magnets.push(Magnet { facts, site, at });
                self.batch.bytes += link.len();
                self.send_if_full()
            }
            Err(error) => {
                self.report.refused.push("no magnet link", place, &error.to_string());
                Ok(())
            }
        }
    }

    fn send_if_full(&mut self) -> Result<(), Stopped> {
        let rows = self.batch.torrents.len() + self.batch.magnets.len();
        if rows >= IMPORT_ROWS_MAX || self.batch.bytes >= IMPORT_BATCH_BYTES_MAX { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), Stopped> {
        self.batches.blocking_send(std::mem::take(&mut self.batch)).map_err(|_| Stopped)
    }
}

/// What the visits of a source take beside its own bytes: its URL twice, and the facts of its torrent again.
const URL_SPARE_BYTES: usize = 1 << 10;

/// The manifest of an archive, and the folder in it that it is about.
#[derive(Default)]
struct Found {
    listed: Option<Listed>,
    base: String,
    /// It could not be copied: without it, what the archive says of its torrents would be lost.
    fault: Option<io::Error>,
}

impl Found {
    /// Copies this member, if it is the manifest. A fault of the archive itself is told when its members are read.
    fn look(&mut self, member: &Member, content: &mut dyn Read, spool: &Path) -> io::Result<()> {
        let path = member.path.trim_start_matches("./");
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.listed.is_some() || member.kind != Kind::File || name != MANIFEST {
            return Ok(());
        }
        path[..path.len() - name.len()].clone_into(&mut self.base);
        let copied = self.copy(content, spool);
        if let Some(error) = &self.fault {
            return Err(error.kind().into());
        }
        copied
    }

    fn copy(&mut self, content: &mut dyn Read, spool: &Path) -> io::Result<()> {
        let mut copy = match nameless(spool) {
            Ok(copy) => copy,
            Err(error) => {
                self.fault = Some(error);
                return Ok(());
            }
        };
        let mut buffer = vec![0; 64 << 10];
        loop {
            let filled = fill(content, &mut buffer)?;
            let written = copy.write_all(&buffer[..filled]);
            if let Err(error) = written {
                self.fault = Some(error);
                return Ok(());
            }
            if filled < buffer.len() {
                break;
            }
        }
        match Listed::of(copy) {
            Ok(listed) => self.listed = listed,
            Err(error) => self.fault = Some(error),
        }
        Ok(())
    }
}

/// With the trackers of the resume file beside it.
fn completed(item: &Item<'_>, torrent: &[u8]) -> Option<Vec<u8>> {
    let resume = item.path?.with_extension("fastresume");
    let mut bytes = Vec::new();
    regular::open(&resume).ok()?.take(RESUME_BYTES).read_to_end(&mut bytes).ok()?;
    trackers::completed(torrent, &bytes)
}

fn is_torrent_name(place: &str) -> bool {
    place.len() > 8 && place.as_bytes()[place.len() - 8..].eq_ignore_ascii_case(b".torrent")
}

/// The first line that is neither blank nor a comment is a magnet link.
fn is_magnet_list(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    first.and_then(|line| line.get(..8)).is_some_and(|front| front.eq_ignore_ascii_case("magnet:?"))
}

fn is_site(name: &str) -> bool {
    !name.is_empty() && name.len() <= IMPORT_SITE_BYTES_MAX && !name.contains(|of: char| of.is_control() || of == '/')
}
