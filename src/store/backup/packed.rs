//! A backup in one `.tar.zst`: the manifest first, then the files that it names, then the torrents.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::manifest::{MANIFEST, Manifest, is_below};
use super::pool::{make_folder, name_of, read_torrent};
use super::{Attempt, BackupError, Stepping, TORRENTS};
use crate::crawldb::TorrentFacts;
use crate::export::whole_file::{WholeFile, parent};
use crate::import::tarball::{self, Kind};
use crate::limits;
use gleaner_base::regular;
use gleaner_torrent::archive::Archive;

/// Level of the compressor: databases shrink to a third at any.
const LEVEL: i32 = 3;

/// What begins a file of zstd (RFC 8878 §3.1.1).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An archive that is written.
pub(super) struct Packing<'a> {
    attempt: &'a Attempt,
    tar: tar::Builder<zstd::Encoder<'static, WholeFile>>,
    dest: PathBuf,
}

/// A folder for what has to be on the disk before it is packed.
pub(super) fn folder_beside(dest: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(dest.file_name().unwrap_or_default());
    name.push(".gleaner-backup");
    dest.with_file_name(name)
}

impl<'a> Packing<'a> {
    /// Begins it; nothing has its name before [`Self::finish`].
    pub fn begin(dest: &Path, attempt: &'a Attempt) -> Result<Self, BackupError> {
        super::must_be_folder(parent(dest))?;
        match fs::symlink_metadata(dest) {
            Ok(there) if !there.is_file() => {
                let what = gleaner_base::place::told(dest);
                return Err(BackupError::InTheWay { dest: dest.to_owned(), what: format!("{what}, not a file;") });
            }
            // What is replaced is a backup: a mistyped name costs no other file.
            Ok(there) if there.len() > 0 => drop(manifest_of(dest)?),
            _ => {}
        }
        make_folder(parent(dest))?;
        // What is in it is its owner's alone, as in a folder.
        let file = WholeFile::begin_with_mode(dest, 0o600)?;
        let zstd = zstd::Encoder::new(file, LEVEL).map_err(|error| BackupError::io(dest, "compress", error))?;
        Ok(Self { attempt, tar: tar::Builder::new(zstd), dest: dest.to_owned() })
    }

    /// Adds the manifest and its files.
    pub fn state(&mut self, state: &Path, manifest: &Manifest) -> Result<(), BackupError> {
        let names = std::iter::once(MANIFEST).chain(manifest.files.iter().map(|file| &*file.path));
        for name in names {
            let mut file =
                File::open(state.join(name)).map_err(|error| BackupError::io(&state.join(name), "read", error))?;
            let bytes = file.metadata().map_err(|error| BackupError::io(&state.join(name), "read", error))?.len();
            self.add(name, bytes, &mut file)?;
        }
        Ok(())
    }

    /// Adds a torrent that was read before. False if it is lost or damaged, which is an error at this place.
    pub fn torrent(&mut self, archive: &Archive, facts: &TorrentFacts) -> Result<bool, BackupError> {
        let path = archive.path_of(&facts.infohashes);
        let read = read_torrent(archive, facts).and_then(|read| read.ok_or_else(|| io::ErrorKind::NotFound.into()));
        let (_, bytes) = read.map_err(|error| BackupError::io(&path, "read", error))?;
        self.add(&format!("{TORRENTS}/{}", name_of(&facts.sha256)), bytes.len() as u64, &mut &*bytes)?;
        Ok(true)
    }

    fn add(&mut self, name: &str, bytes: u64, from: &mut dyn Read) -> Result<(), BackupError> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o600);
        let added = self.tar.append_data(&mut header, name, Stepping(from.take(bytes), self.attempt));
        added.map_err(|error| BackupError::io(&self.dest, "write", error))
    }

    /// Gives the archive its name, once it is on the disk and unless the attempt was given up meanwhile. Returns its bytes.
    pub fn finish(self) -> Result<u64, BackupError> {
        let failed = |error| BackupError::io(&self.dest, "write", error);
        let file = self.tar.into_inner().and_then(zstd::Encoder::finish).map_err(failed)?;
        file.finish_unless(|| self.attempt.is_stopped())?.ok_or(BackupError::Stopped)
    }
}

/// Ends a walk that has seen enough.
#[derive(Debug, thiserror::Error)]
#[error("seen")]
struct Seen;

/// What is done with a member: the manifest, its path, its content.
type Each<'e> = dyn FnMut(&Manifest, &str, &mut dyn Read) -> Result<(), BackupError> + 'e;

/// Walks an archive; its first member is the manifest, with which `each` is called for all others.
fn walk(from: &Path, each: &mut Each<'_>) -> Result<Manifest, BackupError> {
    let mut file = regular::open(from).map_err(|error| BackupError::Io {
        path: from.to_owned(),
        action: "open",
        detail: error,
    })?;
    let mut start = [0; ZSTD.len()];
    let filled = tarball::fill(&mut file, &mut start).map_err(|error| BackupError::reading(from, error))?;
    if filled < start.len() || start != ZSTD {
        return Err(BackupError::NotABackup { from: from.to_owned() });
    }
    let packed = start.chain(file);
    let mut unpacked = zstd::Decoder::new(packed).map_err(|error| BackupError::reading(from, error))?;
    let (mut manifest, mut fault) = (None, None);
    let walked = tarball::walk(&mut unpacked, &mut |member, content| {
        let done = match &manifest {
            None if member.path == MANIFEST => {
                let mut bytes = Vec::new();
                content.take(limits::BACKUP_MANIFEST_BYTES_MAX).read_to_end(&mut bytes)?;
                Manifest::read(from, &bytes).map(|read| manifest = Some(read))
            }
            None => Err(BackupError::NotABackup { from: from.to_owned() }),
            Some(_) if member.kind != Kind::File || !is_below(&member.path) => {
                Err(BackupError::damaged(from, format!("{:?} is no path of a backup", member.path)))
            }
            Some(manifest) => each(manifest, &member.path, content),
        };
        done.map_err(|error| {
            fault = Some(error);
            io::Error::other(Seen)
        })
    });
    match (walked, fault, manifest) {
        (_, Some(fault), _) => Err(fault),
        (Err(error), None, None) if error.kind() == io::ErrorKind::InvalidData => {
            Err(BackupError::NotABackup { from: from.to_owned() })
        }
        // The decompressor has kinds of its own for what is cut off or changed.
        (Err(error), None, _) => Err(BackupError::damaged(from, error.to_string())),
        (Ok(()), None, None) => Err(BackupError::NotABackup { from: from.to_owned() }),
        (Ok(()), None, Some(manifest)) => Ok(manifest),
    }
}

/// The manifest of an archive.
fn manifest_of(from: &Path) -> Result<Manifest, BackupError> {
    let mut found = None;
    let walked = walk(from, &mut |manifest, _, _| {
        found = Some(manifest.clone());
        Err(BackupError::Stopped)
    });
    found.map_or(walked, Ok)
}

/// Unpacks an archive below a new folder, as the folder of one state with its torrents beside.
pub(super) fn unpack(from: &Path, to: &Path) -> Result<Manifest, BackupError> {
    walk(from, &mut |manifest, path, content| {
        let is_torrent = path.starts_with(TORRENTS);
        if !is_torrent && !manifest.files.iter().any(|file| file.path == path) {
            return Err(BackupError::damaged(from, format!("its manifest does not name {path:?}")));
        }
        let path = to.join(path);
        make_folder(parent(&path))?;
        let mut file = File::create_new(&path).map_err(|error| BackupError::io(&path, "create", error))?;
        let mut buffer = vec![0; 128 << 10];
        loop {
            // Errors of the two sides are not of the same file.
            let read = content.read(&mut buffer).map_err(|error| BackupError::damaged(from, error.to_string()))?;
            if read == 0 {
                return Ok(());
            }
            io::Write::write_all(&mut file, &buffer[..read]).map_err(|error| BackupError::io(&path, "write", error))?;
        }
    })
}
