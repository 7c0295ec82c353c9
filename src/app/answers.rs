//! Answers that `rules learn` was given, in `learned/HOST.answers` of the data folder: a run that was ended goes on with them
//! (`--resume`), and the first crawl takes them for its own ([`super::read_before`]).
//!
//! One record an answer: bytes of its head, of its body, and their checksum (xxh3), 8 bytes each, little-endian; the head as JSON; the
//! body. Records are only added. One that is not whole ends the file: it is cut off before the next is written. The file holds pages of an
//! account, so its mode is 0600; no cookie and no header of a request stands in it.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::{folder, secrets};
use crate::limits::{LEARNED_BYTES_MAX, LEARNED_HEAD_BYTES_MAX, LEARNED_KEPT_TIME, RENDER_BODY_BYTES_MAX};
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_base::owner;

/// Bytes before the head of a record.
const FRONT_BYTES: usize = 24;

/// Headers of a response that a crawl reads; no other is kept.
const HEADERS: [&str; 6] = ["content-type", "content-disposition", "etag", "last-modified", "refresh", "x-robots-tag"];

/// An answer without its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// When it came.
    pub at: UnixMillis,
    /// Name of the account that was logged in, if one was.
    pub user: Option<String>,
    pub asked: String,
    /// URL after redirects.
    pub url: String,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Links that only the page's scripts made, with their texts.
    pub rendered: Vec<(String, String)>,
}

impl Head {
    /// The first header of this lower-case name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The headers that are kept, of all.
    #[must_use]
    pub fn kept_headers(all: &[(String, String)]) -> Vec<(String, String)> {
        all.iter().filter(|(name, _)| HEADERS.contains(&name.as_str())).cloned().collect()
    }
}

/// A record's place in the file.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub from: u64,
    head: usize,
    body: usize,
}

impl Place {
    /// Where the next record begins.
    #[must_use]
    pub fn end(self) -> u64 {
        self.from + (FRONT_BYTES + self.head + self.body) as u64
    }

    /// Reads the record.
    ///
    /// # Errors
    /// Those of the file, and a record that is not as it was written.
    pub fn read(self, file: &File) -> io::Result<(Head, Vec<u8>)> {
        let mut bytes = vec![0; FRONT_BYTES + self.head + self.body];
        file.read_exact_at(&mut bytes, self.from)?;
        let (front, rest) = bytes.split_at(FRONT_BYTES);
        let (head, body) = rest.split_at(self.head);
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "the record is broken");
        if front[16..] != checksum(head, body).to_le_bytes() {
            return Err(broken());
        }
        Ok((serde_json::from_slice(head).map_err(|_| broken())?, body.to_vec()))
    }
}

fn checksum(head: &[u8], body: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(head);
    hasher.update(body);
    hasher.digest()
}

/// The file of a host's answers; `name` is the host's as of a site.
#[must_use]
pub fn file_of(data_dir: &Path, name: &str) -> PathBuf {
    folder_of(data_dir).join(format!("{name}.answers"))
}

/// The name of the answers to a site's repair: what `rules learn` has read is of before. No site has such a name.
#[must_use]
pub fn of_repair(site: &str) -> String {
    format!("{site}+repair")
}

/// The repair of a site has ended. Its first crawl takes what was read for its own (`host`), or nobody does.
pub fn repair_ended(data_dir: &Path, site: &str, host: Option<&str>) {
    let _owner = owner::act(data_dir);
    let path = file_of(data_dir, &of_repair(site));
    // What cannot be moved or removed is swept in time.
    let _ = match host {
        Some(host) => fs::rename(&path, file_of(data_dir, host)),
        None => fs::remove_file(&path),
    };
}

fn folder_of(data_dir: &Path) -> PathBuf {
    data_dir.join("learned")
}

/// All whole records of a file, in order. What follows the last one is not whole.
///
/// # Errors
/// Those of the file.
pub fn records(file: &File) -> io::Result<Vec<(Place, Head)>> {
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(0))?;
    let length = file.metadata()?.len().min(LEARNED_BYTES_MAX);
    let mut found = Vec::new();
    let mut from = 0;
    let mut front = [0; FRONT_BYTES];
    while from + FRONT_BYTES as u64 <= length {
        reader.read_exact(&mut front)?;
        let number = |at: usize| u64::from_le_bytes(front[at..at + 8].try_into().unwrap_or_default());
        let (head, body) = (number(0), number(8));
        let is_sane = head <= LEARNED_HEAD_BYTES_MAX as u64 && body <= RENDER_BODY_BYTES_MAX as u64;
        if !is_sane || from + FRONT_BYTES as u64 + head + body > length {
            break;
        }
        let place = Place { from, head: head as usize, body: body as usize };
        let mut rest = vec![0; place.head + place.body];
        reader.read_exact(&mut rest)?;
        let (head, body) = rest.split_at(place.head);
        if checksum(head, body) != number(16) {
            break;
        }
        let Ok(head) = serde_json::from_slice(head) else { break };
        found.push((place, head));
        from = place.end();
    }
    Ok(found)
}

/// Removes answers that are too old to go on with. What cannot be removed stays.
fn sweep(folder: &Path, now: UnixMillis) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.path().extension().is_some_and(|extension| extension == "answers");
        if is_ours && entry.metadata().is_ok_and(|of| now.since(written(&of)) > LEARNED_KEPT_TIME) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// An empty file in the place of the one that is there, whose readers keep it.
fn anew(path: &Path) -> anyhow::Result<File> {
    let mut how = OpenOptions::new();
    let how = how.read(true).write(true).create_new(true).mode(0o600);
    fs::remove_file(path).map_err(|error| folder::failed(path, &error))?;
    let file = folder::open(path, how).map_err(|error| folder::failed(path, &error))?;
    if file.try_lock().is_err() {
        bail!("{}: another process learns this site\nhint: wait until it has ended", path.display());
    }
    Ok(file)
}

fn written(metadata: &fs::Metadata) -> UnixMillis {
    use std::os::unix::fs::MetadataExt as _;
    UnixMillis(u64::try_from(metadata.mtime()).unwrap_or_default().saturating_mul(1_000))
}

/// The answers of one site while it is learned. One process at a time has them.
pub struct Answers {
    file: File,
    bytes: u64,
    /// By user and URL: what was kept by earlier runs and has not been used in this one, the first one first.
    unused: HashMap<(Option<String>, String), VecDeque<Place>>,
    /// Nothing more is kept: the file is full, or cannot be written.
    is_closed: bool,
}

impl Answers {
    /// Opens the file of a host: with what an earlier run was given within this time, else empty.
    ///
    /// # Errors
    /// If it cannot be written, or another process has it.
    pub fn open(data_dir: &Path, name: &str, kept_for: Duration) -> anyhow::Result<Self> {
        folder::must_be_writable(data_dir)?;
        let _owner = owner::act(data_dir);
        let folder = folder_of(data_dir);
        secrets::private_folder(&folder).map_err(|error| folder::failed(&folder, &error))?;
        folder::keep_folder_private(&folder)?;
        let now = SystemClock.now();
        sweep(&folder, now);
        let path = file_of(data_dir, name);
        let mut how = OpenOptions::new();
        let how = how.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = folder::open(&path, how).map_err(|error| folder::failed(&path, &error))?;
        folder::keep_private(&path)?;
        if file.try_lock().is_err() {
            bail!("{}: another process learns this site\nhint: wait until it has ended", path.display());
        }
        let known = if kept_for.is_zero() { Ok(Vec::new()) } else { records(&file) };
        let mut known = known.with_context(|| path.display().to_string())?;
        if known.first().is_some_and(|(_, head)| now.since(head.at) > kept_for) {
            known.clear();
        }
        let bytes = known.last().map_or(0, |(place, _)| place.end());
        // A crawl may be reading what is there: a run that begins anew has a file of its own.
        let is_read = bytes == 0 && file.metadata().is_ok_and(|of| of.len() > 0);
        let file = if is_read { anew(&path)? } else { file };
        file.set_len(bytes).map_err(|error| folder::failed(&path, &error))?;
        let mut unused: HashMap<_, VecDeque<Place>> = HashMap::new();
        for (place, head) in known {
            unused.entry((head.user, head.asked)).or_default().push_back(place);
        }
        Ok(Self { file, bytes, unused, is_closed: false })
    }

    /// The next answer to this URL that an earlier run was given, and where its record ends.
    pub fn take(&mut self, user: Option<&str>, url: &str) -> Option<(Head, Vec<u8>, u64)> {
        let places = self.unused.get_mut(&(user.map(str::to_owned), url.to_owned()))?;
        let place = places.pop_front()?;
        let (head, body) = place.read(&self.file).ok()?;
        Some((head, body, place.end()))
    }

    /// Keeps an answer, if there is room. Returns where the file ends.
    pub fn keep(&mut self, head: &Head, body: &[u8]) -> u64 {
        let Ok(head) = serde_json::to_vec(head) else { return self.bytes };
        let place = Place { from: self.bytes, head: head.len(), body: body.len() };
        let is_large = head.len() > LEARNED_HEAD_BYTES_MAX || body.len() > RENDER_BODY_BYTES_MAX;
        if self.is_closed || is_large {
            return self.bytes;
        }
        let mut record = Vec::with_capacity(FRONT_BYTES + head.len() + body.len());
        record.extend((head.len() as u64).to_le_bytes());
        record.extend((body.len() as u64).to_le_bytes());
        record.extend(checksum(&head, body).to_le_bytes());
        record.extend(&head);
        record.extend(body);
        let written = self.file.seek(SeekFrom::Start(self.bytes)).and_then(|_| match place.end() {
            end if end > LEARNED_BYTES_MAX => Err(io::ErrorKind::StorageFull.into()),
            _ => self.file.write_all(&record),
        });
        if let Err(error) = written {
            tracing::warn!(%error, "answers are no longer kept: --resume will ask for the rest again");
            self.is_closed = true;
            return self.bytes;
        }
        self.bytes = place.end();
        self.bytes
    }

    /// Where the file ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.bytes
    }

    /// Where an account's answers begin.
    #[must_use]
    pub fn begin_of(&self, user: &str) -> u64 {
        let own = self.unused.iter().filter(|((own, _), _)| own.as_deref() == Some(user));
        own.flat_map(|(_, places)| places).map(|place| place.from).min().unwrap_or(self.bytes)
    }

    /// Forgets all records from here on, and makes the others usable again: a run begins anew with them.
    ///
    /// # Errors
    /// Those of the file.
    pub fn forget_from(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end.min(self.bytes))?;
        let known = records(&self.file)?;
        self.bytes = known.last().map_or(0, |(place, _)| place.end());
        self.unused.clear();
        for (place, head) in known {
            self.unused.entry((head.user, head.asked)).or_default().push_back(place);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn head(asked: &str) -> Head {
        let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
        let (asked, url) = (asked.to_owned(), asked.to_owned());
        Head { at: SystemClock.now(), user: None, asked, url, status: 200, headers, rendered: Vec::new() }
    }

    #[test]
    fn a_run_that_begins_anew_leaves_the_old_answers_to_who_reads_them() {
        let here = tempfile::tempdir().unwrap();
        let mut answers = Answers::open(here.path(), "a", Duration::ZERO).unwrap();
        answers.keep(&head("x"), b"one");
        drop(answers);
        let reader = File::open(file_of(here.path(), "a")).unwrap();
        let (place, _) = records(&reader).unwrap().remove(0);
        let mut answers = Answers::open(here.path(), "a", Duration::ZERO).unwrap();
        answers.keep(&head("y"), b"another one, of another length");
        assert_eq!(place.read(&reader).unwrap().1, b"one");
        assert!(Answers::open(here.path(), "a", DAY).is_err(), "two processes");
        drop(answers);
        assert_eq!(Answers::open(here.path(), "a", DAY).unwrap().take(None, "x"), None);
    }

    #[test]
    fn a_tail_that_is_not_whole_is_cut_off_and_the_rest_is_answered_in_order() {
        use std::os::unix::fs::PermissionsExt as _;
        let here = tempfile::tempdir().unwrap();
        let mut answers = Answers::open(here.path(), "a", Duration::ZERO).unwrap();
        for (url, body) in [("x", "one"), ("y", "two"), ("x", "three")] {
            answers.keep(&head(url), body.as_bytes());
        }
        assert!(Answers::open(here.path(), "a", DAY).is_err(), "two processes");
        drop(answers);
        let path = file_of(here.path(), "a");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let whole = fs::read(&path).unwrap();
        let last = records(&File::open(&path).unwrap()).unwrap()[2].0.from as usize;
        for cut in last..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut answers = Answers::open(here.path(), "a", DAY).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), last as u64, "{cut}");
            assert_eq!(answers.take(Some("anna"), "x"), None, "another account's");
            assert_eq!(answers.take(None, "x").unwrap().1, b"one");
            assert_eq!(answers.take(None, "x"), None);
            answers.keep(&head("x"), b"four");
            drop(answers);
            let mut answers = Answers::open(here.path(), "a", DAY).unwrap();
            assert_eq!(
                [answers.take(None, "x").unwrap().1, answers.take(None, "x").unwrap().1],
                [b"one".to_vec(), b"four".to_vec()]
            );
        }
        // A broken byte is found, wherever it is.
        for at in (0..last).step_by(7) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            fs::write(&path, &bytes).unwrap();
            assert!(records(&File::open(&path).unwrap()).unwrap().len() < 2, "{at}");
        }
        fs::write(&path, [255; 100]).unwrap();
        assert!(records(&File::open(&path).unwrap()).unwrap().is_empty());
        assert_eq!(Answers::open(here.path(), "a", Duration::ZERO).unwrap().end(), 0);
        Answers::open(here.path(), "a", DAY).unwrap().keep(&Head { at: UnixMillis(5), ..head("x") }, b"one");
        assert_eq!(Answers::open(here.path(), "a", DAY).unwrap().end(), 0, "of another year");
    }

    #[test]
    fn what_is_beyond_the_room_is_not_kept_and_what_is_forgotten_is_gone() {
        let here = tempfile::tempdir().unwrap();
        let mut answers = Answers::open(here.path(), "a", Duration::ZERO).unwrap();
        let first = answers.keep(&head("x"), b"one");
        answers.keep(&head("y"), b"two");
        answers.forget_from(first).unwrap();
        assert_eq!((answers.end(), answers.take(None, "y")), (first, None));
        assert_eq!(answers.take(None, "x").unwrap().1, b"one");
        assert_eq!(answers.keep(&head("z"), &vec![0; RENDER_BODY_BYTES_MAX + 1]), first);
        answers.bytes = LEARNED_BYTES_MAX - 10;
        answers.keep(&head("z"), b"three");
        assert!(answers.is_closed && answers.bytes <= LEARNED_BYTES_MAX);
    }
}
