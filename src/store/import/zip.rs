//! Reads a zip archive member by member along its directory (APPNOTE 6.3, zip64), in bounded memory: nothing is extracted.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::tarball::{Kind, Member};

/// The end of the directory is this close to the end of the file: its own length, and the longest comment.
const TAIL: u64 = 22 + 65_535;

/// A part of a file.
struct Part<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..left], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Fails at its end if what was read has another checksum.
struct Summed<R> {
    content: R,
    crc: Crc,
    expected: u32,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.crc.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.crc.sum() != self.expected {
            return Err(damaged("the checksum of a member differs"));
        }
        Ok(read)
    }
}

/// A row of the directory.
struct Row {
    member: Member,
    method: u16,
    crc: u32,
    packed: u64,
    at: u64,
}

/// Calls `each` with every member and its content, which need not be read to its end; an error of `each` ends it.
pub fn walk(file: &File, each: &mut dyn FnMut(Member, &mut dyn Read) -> io::Result<()>) -> io::Result<()> {
    let length = file.metadata()?.len();
    let (count, at, end) = directory(file, length)?;
    let mut rows = BufReader::new(Part { file, at, end });
    for _ in 0..count {
        let row = Row::read(&mut rows)?;
        let Kind::File = row.member.kind else {
            each(row.member, &mut io::empty())?;
            continue;
        };
        let mut head = [0; 30];
        file.read_exact_at(&mut head, row.at)?;
        if !head.starts_with(b"PK\x03\x04") {
            return Err(damaged("a member is not where the directory says"));
        }
        let begin = row.at + 30 + u64::from(u16_at(&head, 26)) + u64::from(u16_at(&head, 28));
        let end = begin.checked_add(row.packed).filter(|end| *end <= length);
        let end = end.ok_or_else(|| damaged("it ends within a member"))?;
        let part = BufReader::new(Part { file, at: begin, end });
        let content: Box<dyn Read> = match row.method {
            0 => Box::new(part),
            _ => Box::new(DeflateDecoder::new(part)),
        };
        each(row.member, &mut Summed { content, crc: Crc::new(), expected: row.crc })?;
    }
    Ok(())
}

/// How many rows the directory has, and where it begins and ends.
fn directory(file: &File, length: u64) -> io::Result<(u64, u64, u64)> {
    let from = length.saturating_sub(TAIL);
    let mut tail = Vec::new();
    Part { file, at: from, end: length }.read_to_end(&mut tail)?;
    let is_end = |at: &usize| {
        tail[*at..].starts_with(b"PK\x05\x06") && at + 22 + usize::from(u16_at(&tail[*at..], 20)) == tail.len()
    };
    let found = (0..tail.len().saturating_sub(21)).rev().find(is_end);
    let found = found.ok_or_else(|| damaged("it has no directory, or ends early"))?;
    let end = &tail[found..];
    let (count, bytes, at) = (u16_at(end, 10).into(), u32_at(end, 12).into(), u32_at(end, 16).into());
    let is_wide = count == u64::from(u16::MAX) || bytes == u64::from(u32::MAX) || at == u64::from(u32::MAX);
    let locator = found.checked_sub(20).map(|at| &tail[at..found]).filter(|locator| locator.starts_with(b"PK\x06\x07"));
    let (count, bytes, at) = match locator {
        Some(locator) if is_wide => {
            let mut wide = [0; 56];
            file.read_exact_at(&mut wide, u64_at(locator, 8))?;
            if !wide.starts_with(b"PK\x06\x06") {
                return Err(damaged("its directory is not where it says"));
            }
            (u64_at(&wide, 32), u64_at(&wide, 40), u64_at(&wide, 48))
        }
        _ => (count, bytes, at),
    };
    let end = at.checked_add(bytes).filter(|end| *end <= length);
    Ok((count, at, end.ok_or_else(|| damaged("its directory is longer than the file"))?))
}

impl Row {
    fn read(rows: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 46];
        rows.read_exact(&mut head).map_err(|_| damaged("its directory ends early"))?;
        if !head.starts_with(b"PK\x01\x02") {
            return Err(damaged("its directory has a broken row"));
        }
        let mut name = vec![0; u16_at(&head, 28).into()];
        let mut extra = vec![0; u16_at(&head, 30).into()];
        rows.read_exact(&mut name)
            .and_then(|()| rows.read_exact(&mut extra))
            .map_err(|_| damaged("its directory ends early"))?;
        io::copy(&mut rows.take(u16_at(&head, 32).into()), &mut io::sink())?;
        let (flags, method) = (u16_at(&head, 8), u16_at(&head, 10));
        let (mut packed, mut at) = (u64::from(u32_at(&head, 20)), u64::from(u32_at(&head, 42)));
        let mut wide = wide_numbers(&extra).into_iter();
        // In this order, each only if its own field is full.
        if u32_at(&head, 24) == u32::MAX {
            wide.next();
        }
        for field in [&mut packed, &mut at] {
            if *field == u64::from(u32::MAX) {
                *field = wide.next().ok_or_else(|| damaged("a row of its directory is incomplete"))?;
            }
        }
        let path = String::from_utf8_lossy(&name).into_owned();
        let is_unix = head[5] == 3;
        let kind = match u32_at(&head, 38) >> 16 & 0o170_000 {
            0o120_000 if is_unix => Kind::Other("links are not followed"),
            _ if path.ends_with('/') => Kind::Folder,
            _ if flags & 1 != 0 => Kind::Other("encrypted members are not read"),
            _ if !matches!(method, 0 | 8) => Kind::Other("members that are compressed this way are not read"),
            _ => Kind::File,
        };
        Ok(Self { member: Member { path, kind }, method, crc: u32_at(&head, 16), packed, at })
    }
}

/// The 64-bit numbers of a row's extra field.
fn wide_numbers(mut extra: &[u8]) -> Vec<u64> {
    while extra.len() >= 4 {
        let (id, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(field) = extra.get(4..4 + length) else { break };
        if id == 1 {
            return field.chunks_exact(8).map(|number| u64_at(number, 0)).collect();
        }
        extra = &extra[4 + length..];
    }
    Vec::new()
}

/// Little-endian numbers; zero beyond the end.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is damaged: {what}"))
}
