//! Reads a tar archive as a stream (POSIX ustar and pax, GNU long names), in bounded memory: nothing is extracted.

use std::io::{self, Read};

use crate::limits::{IMPORT_NAME_BYTES_MAX, IMPORT_PAX_BYTES_MAX};

const BLOCK: usize = 512;

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// As written there; it is shown, and never a path on this machine.
    pub path: String,
    pub kind: Kind,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    /// Something else, such as a link; the text says what.
    Other(&'static str),
}

/// True if these bytes begin a tar archive.
pub fn begins(start: &[u8]) -> bool {
    start.get(..BLOCK).is_some_and(|block| block[257..262] == *b"ustar" || (block[0] != 0 && checksum_fits(block)))
}

/// Calls `each` with every member and its content, which need not be read to its end.
pub fn walk(
    mut archive: &mut dyn Read,
    each: &mut dyn FnMut(Member, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let (mut long_name, mut pax) = (None, Pax::default());
    let mut is_first = true;
    loop {
        let mut block = [0; BLOCK];
        match fill(archive, &mut block)? {
            BLOCK => {}
            // Some writers leave out the blocks of zeros at the end.
            0 if !is_first => return Ok(()),
            _ => return Err(damaged("it ends within a header")),
        }
        is_first = false;
        if block == [0; BLOCK] {
            return Ok(());
        }
        if !checksum_fits(&block) {
            return Err(damaged("the checksum of a header differs"));
        }
        let size = number(&block[124..136]).ok_or_else(|| damaged("a header has no size"))?;
        match block[156] {
            b'L' => long_name = Some(text(&bounded(archive, size, IMPORT_NAME_BYTES_MAX)?)),
            b'x' => pax = Pax::read(&bounded(archive, size, IMPORT_PAX_BYTES_MAX)?),
            b'g' | b'K' => skip(archive, size)?,
            flag => {
                let pax = std::mem::take(&mut pax);
                let path = pax.path.or(long_name.take()).unwrap_or_else(|| name(&block));
                let size = pax.size.unwrap_or(size);
                let kind = kind(flag, &path);
                let mut content = (&mut archive).take(size);
                each(Member { path, kind }, &mut content)?;
                let left = content.limit();
                skip(archive, left)?;
                skip(archive, padding(size))?;
            }
        }
    }
}

fn kind(flag: u8, path: &str) -> Kind {
    match flag {
        b'5' => Kind::Folder,
        // Written before there were folders of their own.
        b'0' | 0 if path.ends_with('/') => Kind::Folder,
        b'0' | 0 | b'7' => Kind::File,
        b'1' | b'2' => Kind::Other("links are not followed"),
        b'3' | b'4' | b'6' => Kind::Other("devices and pipes are not read"),
        _ => Kind::Other("members of this kind are not read"),
    }
}

/// What an extended header of pax says of the next member.
#[derive(Default)]
struct Pax {
    path: Option<String>,
    size: Option<u64>,
}

impl Pax {
    /// Records of the form `27 path=some/long/name\n`.
    fn read(mut records: &[u8]) -> Self {
        let mut pax = Self::default();
        while let Some(space) = records.iter().position(|byte| *byte == b' ') {
            let length = std::str::from_utf8(&records[..space]).ok().and_then(|digits| digits.parse::<usize>().ok());
            let Some(record) = length.and_then(|length| records.get(space + 1..length)) else { break };
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            if let Some(path) = record.strip_prefix(b"path=") {
                pax.path = Some(text(path));
            } else if let Some(size) = record.strip_prefix(b"size=") {
                pax.size = std::str::from_utf8(size).ok().and_then(|digits| digits.parse().ok());
            }
            records = &records[length.unwrap_or(records.len())..];
        }
        pax
    }
}

fn bounded(archive: &mut dyn Read, size: u64, max: usize) -> io::Result<Vec<u8>> {
    if size > max as u64 {
        return Err(damaged("a name is absurdly long"));
    }
    let mut bytes = Vec::new();
    archive.take(size).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < size {
        return Err(damaged("it ends within a header"));
    }
    skip(archive, padding(size))?;
    Ok(bytes)
}

fn padding(size: u64) -> u64 {
    (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64
}

fn skip(archive: &mut dyn Read, bytes: u64) -> io::Result<()> {
    match io::copy(&mut archive.take(bytes), &mut io::sink())? {
        skipped if skipped == bytes => Ok(()),
        _ => Err(damaged("it ends within a member")),
    }
}

/// As many bytes as there are, up to the length of the buffer.
pub fn fill(from: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The sum of the header's bytes, its own field as spaces.
fn checksum_fits(block: &[u8]) -> bool {
    let sum: u64 =
        (0..).zip(block).map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) }).sum();
    number(&block[148..156]) == Some(sum)
}

/// Octal digits, or GNU's binary form for large ones.
fn number(field: &[u8]) -> Option<u64> {
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        let (front, back) = field.split_at(field.len() - 8);
        let is_small = front.iter().enumerate().all(|(at, byte)| *byte == if at == 0 { 0x80 } else { 0 });
        return is_small.then(|| u64::from_be_bytes(back.try_into().unwrap_or_default()));
    }
    let digits = std::str::from_utf8(field).ok()?.trim_matches(|of: char| of == '\0' || of == ' ');
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

fn name(block: &[u8; BLOCK]) -> String {
    let (name, prefix) = (text(&block[..100]), text(&block[345..500]));
    let has_prefix = block[257..263] == *b"ustar\0" && !prefix.is_empty();
    if has_prefix { format!("{prefix}/{name}") } else { name }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is damaged: {what}"))
}
