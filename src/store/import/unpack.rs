//! Which kind of archive bytes begin, and decompression that ends where it grows beyond reason.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::tarball;
use crate::limits::{IMPORT_GROWTH_MAX, IMPORT_GROWTH_SPARE_BYTES};

/// What bytes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Zip,
    Tar,
    Zstd,
    Gzip,
    /// No archive.
    Plain,
}

/// By the first bytes; a tar archive needs 512 of them.
pub fn form_of(start: &[u8]) -> Form {
    match start {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Form::Zip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Form::Zstd,
        [0x1f, 0x8b, 8, ..] => Form::Gzip,
        _ if tarball::begins(start) => Form::Tar,
        _ => Form::Plain,
    }
}

/// How much was read from the packed side, and how much came out.
#[derive(Clone, Debug)]
pub struct Growth {
    packed: Rc<Cell<u64>>,
    unpacked: u64,
}

impl Growth {
    /// Of an archive whose packed bytes are known.
    pub fn of(packed: u64) -> Self {
        Self { packed: Rc::new(Cell::new(packed)), unpacked: 0 }
    }

    /// True once it has grown too much.
    pub fn is_over(&self) -> bool {
        let packed = IMPORT_GROWTH_MAX.saturating_mul(self.packed.get());
        self.unpacked > IMPORT_GROWTH_SPARE_BYTES.saturating_add(packed)
    }

    /// Counts what came out.
    ///
    /// # Errors
    /// If it is out of all proportion to what went in.
    pub fn grows(&mut self, bytes: u64) -> io::Result<()> {
        self.unpacked += bytes;
        if self.is_over() {
            let text = format!("it grows more than {IMPORT_GROWTH_MAX}-fold: the rest is not read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(())
    }
}

/// Counts the bytes that are read of a file.
struct Packed {
    file: File,
    read: Rc<Cell<u64>>,
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// What comes out of a decompressor.
struct Unpacked<R> {
    content: R,
    growth: Growth,
}

/// What comes out of one of many members.
pub struct Metered<'g, R> {
    pub content: R,
    pub growth: &'g mut Growth,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.growth.grows(read as u64)?;
        Ok(read)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.growth.grows(read as u64)?;
        Ok(read)
    }
}

/// The content of a compressed file, or the file itself, from its start.
pub fn stream(file: File, form: Form) -> io::Result<Box<dyn Read>> {
    let growth = Growth::of(0);
    let packed = Packed { file, read: Rc::clone(&growth.packed) };
    Ok(match form {
        Form::Zstd => Box::new(Unpacked { content: zstd::Decoder::new(packed)?, growth }),
        Form::Gzip => Box::new(Unpacked { content: MultiGzDecoder::new(BufReader::new(packed)), growth }),
        Form::Zip | Form::Tar | Form::Plain => Box::new(BufReader::new(packed)),
    })
}
