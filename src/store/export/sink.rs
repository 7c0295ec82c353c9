//! The destination of an export: one of three forms, each of which takes torrents one by one and the lists at the end.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::manifest::{MAGNETS, MANIFEST};
use super::whole_file::{Spool, WholeFile, parent};
use super::zip_file::{self, ZipFile};
use super::{ExportError, ExportFormat};
use gleaner_base::place::{self, Place};
use gleaner_base::regular;

/// Level of the compressor: torrents are hashes and do not shrink, lists shrink well at any level.
const ZSTD_LEVEL: i32 = 3;

/// A torrent file that was read once and is intact.
pub(super) struct Checked {
    /// At its start.
    pub file: File,
    pub bytes: u64,
    pub sha256: [u8; 32],
    pub crc32: u32,
}

/// The result of a finished export.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub dest_bytes: Option<u64>,
    pub unchanged: u64,
    pub removed: u64,
}

/// An export being written.
pub(super) struct Sink {
    dest: PathBuf,
    form: Form,
}

enum Form {
    Folder(Folder),
    TarZst(Box<tar::Builder<zstd::Encoder<'static, WholeFile>>>),
    Zip(Box<ZipFile<BufWriter<WholeFile>, SpoolWriter>>),
}

impl Sink {
    /// Begins an export at `dest`; nothing exists under that name until [`Sink::finish`].
    /// None for a list, which has one of its own.
    pub fn begin(format: ExportFormat, dest: &Path) -> Result<Option<Self>, ExportError> {
        if dest.file_name().is_none() {
            return Err(ExportError::NoName { dest: dest.to_owned() });
        }
        if let Some((obstacle, what)) = place::in_the_way(parent(dest)) {
            return Err(ExportError::InTheWay { dest: dest.to_owned(), obstacle, what });
        }
        if !parent(dest).is_dir() {
            return Err(ExportError::NoParent { dest: dest.to_owned(), parent: parent(dest).to_owned() });
        }
        must_be_replaceable(format, dest)?;
        let form = match format {
            ExportFormat::Folder => Form::Folder(Folder::begin(dest)?),
            ExportFormat::TarZst => {
                let file = WholeFile::begin(dest)?;
                let zstd = compressor(file).map_err(|error| ExportError::io(dest, "compress", error))?;
                Form::TarZst(Box::new(tar::Builder::new(zstd)))
            }
            ExportFormat::Zip => {
                let directory = SpoolWriter(Spool::new(parent(dest), "directory")?);
                Form::Zip(Box::new(ZipFile::new(BufWriter::new(WholeFile::begin(dest)?), directory)))
            }
            ExportFormat::Jsonl | ExportFormat::Csv | ExportFormat::Parquet | ExportFormat::Magnets => return Ok(None),
        };
        Ok(Some(Self { dest: dest.to_owned(), form }))
    }

    /// A folder on the disk of the export, for data that has to wait for the end.
    pub fn spool_folder(&self) -> &Path {
        match &self.form {
            Form::Folder(folder) => folder.base(),
            Form::TarZst(_) | Form::Zip(_) => parent(&self.dest),
        }
    }

    /// Adds a torrent.
    pub fn put(&mut self, path: &str, torrent: &mut Checked) -> Result<(), ExportError> {
        let failed = |error| ExportError::io(&self.dest, "write", error);
        match &mut self.form {
            Form::Folder(folder) => folder.put(path, torrent),
            Form::TarZst(tar) => append(tar, path, torrent.bytes, &mut torrent.file).map_err(failed),
            Form::Zip(zip) => zip.put_stored(path, torrent.bytes, torrent.crc32, &mut torrent.file).map_err(failed),
        }
    }

    /// Adds the two lists and gives the export its name.
    pub fn finish(self, torrents: Spool, magnets: Spool) -> Result<Written, ExportError> {
        let (torrents, magnets) = (torrents.read_back()?, magnets.read_back()?);
        let dest = self.dest;
        let dest_bytes = match self.form {
            Form::Folder(folder) => return folder.finish(torrents.0, magnets.0),
            Form::TarZst(tar) => finish_tar(*tar, torrents, magnets, &dest)?,
            Form::Zip(zip) => finish_zip(*zip, torrents.0, magnets.0, &dest)?,
        };
        Ok(Written { dest_bytes: Some(dest_bytes), ..Written::default() })
    }
}

/// An error if something else has the name: a mistyped file is not lost, and no device or link is replaced by a file.
fn must_be_replaceable(format: ExportFormat, dest: &Path) -> Result<(), ExportError> {
    let is_link = std::fs::symlink_metadata(dest).is_ok_and(|there| there.is_symlink());
    let (dest, is_folder) = (dest.to_owned(), format == ExportFormat::Folder);
    match Place::of(&dest) {
        Place::Nothing => Ok(()),
        Place::Folder if is_folder => Ok(()),
        Place::Folder => Err(ExportError::IsFolder { dest }),
        Place::File if is_folder => Err(ExportError::IsFile { dest }),
        Place::File if !is_link => must_be_archive(format, dest),
        _ => {
            let (what, kind) = (place::told(&dest), if is_folder { "folder" } else { "file" });
            Err(ExportError::NotReplaceable { dest, what, kind })
        }
    }
}

/// An error if the file is not empty and begins as no archive of this kind.
fn must_be_archive(format: ExportFormat, dest: PathBuf) -> Result<(), ExportError> {
    let (starts, kind): (&[&[u8]], _) = match format {
        ExportFormat::Folder => return Ok(()),
        // A local file, and the end of an empty archive.
        ExportFormat::Zip => (&[b"PK\x03\x04", b"PK\x05\x06"], "zip archive"),
        ExportFormat::TarZst => (&[&[0x28, 0xb5, 0x2f, 0xfd]], "zstd archive"),
        // How each begins that this program writes.
        ExportFormat::Jsonl => (&[b"{\"in"], "list of torrents"),
        ExportFormat::Csv => (&[b"info"], "list of torrents"),
        ExportFormat::Parquet => (&[b"PAR1"], "Parquet file"),
        ExportFormat::Magnets => (&[b"magn"], "list of magnet links"),
    };
    let Ok(mut file) = regular::open(&dest) else { return Ok(()) };
    let mut start = Vec::new();
    let read = Read::by_ref(&mut file).take(4).read_to_end(&mut start);
    if read.is_ok() && !start.is_empty() && !starts.contains(&&*start) {
        return Err(ExportError::Foreign { dest, kind });
    }
    Ok(())
}

fn compressor(file: WholeFile) -> io::Result<zstd::Encoder<'static, WholeFile>> {
    let mut zstd = zstd::Encoder::new(file, ZSTD_LEVEL)?;
    zstd.include_checksum(true)?;
    Ok(zstd)
}

/// Adds a file whose header has only its name and length.
fn append(tar: &mut tar::Builder<impl Write>, path: &str, bytes: u64, body: &mut dyn Read) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    let mut body = Counted { body: body.take(bytes), bytes: 0 };
    tar.append_data(&mut header, path, &mut body)?;
    if body.bytes == bytes {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a torrent's file changed while it was read"))
}

fn finish_tar(
    mut tar: tar::Builder<zstd::Encoder<'static, WholeFile>>,
    (mut torrents, torrents_bytes): (File, u64),
    (mut magnets, magnets_bytes): (File, u64),
    dest: &Path,
) -> Result<u64, ExportError> {
    let failed = |error| ExportError::io(dest, "write", error);
    append(&mut tar, MANIFEST, torrents_bytes, &mut torrents).map_err(failed)?;
    append(&mut tar, MAGNETS, magnets_bytes, &mut magnets).map_err(failed)?;
    tar.into_inner().and_then(zstd::Encoder::finish).map_err(failed)?.finish()
}

fn finish_zip(
    mut zip: ZipFile<BufWriter<WholeFile>, SpoolWriter>,
    mut torrents: File,
    mut magnets: File,
    dest: &Path,
) -> Result<u64, ExportError> {
    let failed = |error| ExportError::io(dest, "write", error);
    zip.put_deflated(MANIFEST, &mut torrents).map_err(failed)?;
    zip.put_deflated(MAGNETS, &mut magnets).map_err(failed)?;
    let (mut out, directory, end) = zip.into_parts();
    let (mut directory, _) = directory.0.read_back()?;
    zip_file::finish(&mut out, &mut directory, end).map_err(failed)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.finish()
}

/// Counts the bytes that pass through.
struct Counted<R> {
    body: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

/// The spool of a zip file's directory, as a writer.
struct SpoolWriter(Spool);

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
