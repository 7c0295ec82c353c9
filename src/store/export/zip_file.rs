//! A `.zip` file, streamed: PKWARE APPNOTE 6.3.10, with Zip64 if the sizes need it.
//!
//! Hand-written, because libraries keep the central directory in memory until the end, some 400 bytes per entry, and
//! an export's memory must not grow with the archive. Here the directory is spooled to a file. Tests read the output with
//! the `zip` crate. The same entries give the same bytes: one date, one mode.

use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcReader};

/// 1980-01-01 00:00:00, the earliest time of the format.
const DOS_DATE: u16 = (1 << 5) | 1;

/// UTF-8 names (bit 11).
const FLAGS: u16 = 1 << 11;

/// Made on Unix, by version 4.5 of the specification (Zip64).
const MADE_BY: u16 = (3 << 8) | 45;

/// A regular file, rw-r--r--.
const UNIX_MODE: u32 = 0o100_644;

/// Bytes in all of the Zip64 field of the local header and of the directory.
const LOCAL_ZIP64: u16 = 20;
const CENTRAL_ZIP64: u16 = 28;

/// The compression of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Stored = 0,
    Deflated = 8,
}

/// One entry, as described by both of its headers.
struct Entry<'a> {
    name: &'a str,
    name_bytes: u16,
    method: Method,
    crc: u32,
    bytes: u64,
    packed_bytes: u64,
}

/// A zip file being written to `out`; `directory` holds the central directory until the end.
#[derive(Debug)]
pub struct ZipFile<W, D> {
    out: W,
    directory: D,
    offset: u64,
    entries: u64,
    directory_bytes: u64,
}

impl<W: Write + Seek, D: Write> ZipFile<W, D> {
    /// An empty zip file; `out` is at its start.
    pub fn new(out: W, directory: D) -> Self {
        Self { out, directory, offset: 0, entries: 0, directory_bytes: 0 }
    }

    /// Adds an incompressible file as it is. `bytes` and `crc` are its length and CRC-32; a body that differs from them
    /// is an error.
    pub fn put_stored(&mut self, name: &str, bytes: u64, crc: u32, body: &mut dyn Read) -> io::Result<()> {
        let entry =
            Entry { name, name_bytes: name_bytes(name)?, method: Method::Stored, crc, bytes, packed_bytes: bytes };
        let header = local_header(&entry);
        self.out.write_all(&header)?;
        let mut source = CrcReader::new(body);
        let read = io::copy(&mut source, &mut self.out)?;
        if read != bytes || source.crc().sum() != crc {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file changed while it was read"));
        }
        self.list(&entry, header.len() as u64)
    }

    /// Adds a file deflated (level 6).
    pub fn put_deflated(&mut self, name: &str, body: &mut dyn Read) -> io::Result<()> {
        let mut entry =
            Entry { name, name_bytes: name_bytes(name)?, method: Method::Deflated, crc: 0, bytes: 0, packed_bytes: 0 };
        let header_bytes = local_header(&entry).len() as u64;
        self.out.write_all(&local_header(&entry))?;
        let mut source = CrcReader::new(body);
        let mut deflate = DeflateEncoder::new(&mut self.out, Compression::new(6));
        entry.bytes = io::copy(&mut source, &mut deflate)?;
        deflate.finish()?;
        entry.crc = source.crc().sum();

        let end = self.out.stream_position()?;
        entry.packed_bytes = end - self.offset - header_bytes;
        self.out.seek(SeekFrom::Start(self.offset))?;
        self.out.write_all(&local_header(&entry))?;
        self.out.seek(SeekFrom::Start(end))?;
        self.list(&entry, header_bytes)
    }

    /// Adds a written entry to the directory.
    fn list(&mut self, entry: &Entry<'_>, header_bytes: u64) -> io::Result<()> {
        let listed = central_header(entry, self.offset);
        self.directory.write_all(&listed)?;
        self.directory_bytes += listed.len() as u64;
        self.entries += 1;
        self.offset += header_bytes + entry.packed_bytes;
        Ok(())
    }

    /// The two files, to be joined by [`finish`].
    pub fn into_parts(self) -> (W, D, End) {
        let end = End { entries: self.entries, directory_bytes: self.directory_bytes, directory_at: self.offset };
        (self.out, self.directory, end)
    }
}

/// The figures for the end of a zip file.
#[derive(Clone, Copy, Debug)]
pub struct End {
    entries: u64,
    directory_bytes: u64,
    directory_at: u64,
}

/// Writes the central directory, read back from its spool, and the end.
pub fn finish(out: &mut impl Write, directory: &mut impl Read, end: End) -> io::Result<()> {
    if io::copy(directory, out)? != end.directory_bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the spooled directory is cut off"));
    }
    let end_at = end.directory_at + end.directory_bytes;
    // 4.3.14 Zip64 end of central directory record: its size without the first 12 bytes, versions, disks.
    out.write_all(b"PK\x06\x06")?;
    out.write_all(&44_u64.to_le_bytes())?;
    out.write_all(&MADE_BY.to_le_bytes())?;
    out.write_all(&45_u16.to_le_bytes())?;
    out.write_all(&[0; 8])?;
    for figure in [end.entries, end.entries, end.directory_bytes, end.directory_at] {
        out.write_all(&figure.to_le_bytes())?;
    }
    // 4.3.15 its locator.
    out.write_all(b"PK\x06\x07")?;
    out.write_all(&0_u32.to_le_bytes())?;
    out.write_all(&end_at.to_le_bytes())?;
    out.write_all(&1_u32.to_le_bytes())?;
    // 4.3.16 end of central directory record; a figure that does not fit is all ones.
    let entries = u16::try_from(end.entries).unwrap_or(u16::MAX);
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    out.write_all(&entries.to_le_bytes())?;
    out.write_all(&entries.to_le_bytes())?;
    for figure in [end.directory_bytes, end.directory_at] {
        out.write_all(&u32::try_from(figure).unwrap_or(u32::MAX).to_le_bytes())?;
    }
    out.write_all(&0_u16.to_le_bytes())
}

/// 4.3.7 local file header, with the name and the Zip64 field; its length depends only on the name.
fn local_header(entry: &Entry<'_>) -> Vec<u8> {
    let mut header = b"PK\x03\x04".to_vec();
    shared_fields(&mut header, entry);
    header.extend(LOCAL_ZIP64.to_le_bytes());
    header.extend(entry.name.as_bytes());
    zip64_field(&mut header, &[entry.bytes, entry.packed_bytes]);
    header
}

/// 4.3.12 central directory header, with the name and the Zip64 field.
fn central_header(entry: &Entry<'_>, offset: u64) -> Vec<u8> {
    let mut header = b"PK\x01\x02".to_vec();
    header.extend(MADE_BY.to_le_bytes());
    shared_fields(&mut header, entry);
    header.extend(CENTRAL_ZIP64.to_le_bytes());
    // Comment length, disk, internal attributes.
    header.extend([0; 6]);
    header.extend((UNIX_MODE << 16).to_le_bytes());
    header.extend(u32::MAX.to_le_bytes());
    header.extend(entry.name.as_bytes());
    zip64_field(&mut header, &[entry.bytes, entry.packed_bytes, offset]);
    header
}

/// The fields from "version needed" to "file name length", common to both headers. Sizes are in the Zip64 field.
fn shared_fields(header: &mut Vec<u8>, entry: &Entry<'_>) {
    for field in [45, FLAGS, entry.method as u16, 0, DOS_DATE] {
        header.extend(u16::to_le_bytes(field));
    }
    for field in [entry.crc, u32::MAX, u32::MAX] {
        header.extend(field.to_le_bytes());
    }
    header.extend(entry.name_bytes.to_le_bytes());
}

/// 4.5.3 Zip64 extended information: uncompressed size, compressed size, offset of the local header.
fn zip64_field(header: &mut Vec<u8>, figures: &[u64]) {
    header.extend(1_u16.to_le_bytes());
    // At most three figures of eight bytes.
    header.extend(u16::try_from(figures.len() * 8).unwrap_or_default().to_le_bytes());
    for figure in figures {
        header.extend(figure.to_le_bytes());
    }
}

fn name_bytes(name: &str) -> io::Result<u16> {
    u16::try_from(name.len()).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a name over 65,535 bytes"))
}

#[cfg(test)]
mod tests;
