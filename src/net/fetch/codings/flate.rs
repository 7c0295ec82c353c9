//! Deflate within its wrappers (RFC 1951, gzip RFC 1952, zlib RFC 1950) as browsers read it: the head is skipped, the
//! deflate data decide what is there, and nothing is compared with the checksum behind them, which may be wrong, cut or
//! missing. The caller skips it.

use std::io::{Error, ErrorKind, Result};

use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::{DecodeV2, DeflateDecoder};

/// What deflate data are wrapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    Gzip,
    Zlib,
    None,
}

/// Bytes of checksum and length behind the data of a gzip member.
pub(super) const GZIP_FOOT_BYTES: usize = 8;

/// The end of deflate data that were flushed (`Z_SYNC_FLUSH`): an empty stored block. All that was written before is
/// there, though the last block is missing.
pub(super) const FLUSHED: [u8; 4] = [0, 0, 0xff, 0xff];

/// What comes next in the head.
#[derive(Clone, Copy, Debug)]
enum Head {
    /// A byte of the fixed part.
    Fixed(u8),
    /// The length of the extra field: its first byte, then its second.
    ExtraLength(Option<u8>),
    /// Bytes of the extra field, or of the head's checksum.
    Skip(u16),
    /// Text that ends with a zero: the file's name, or a comment.
    Text,
    Done,
}

impl Head {
    /// Before the first byte of a stream.
    fn of(wrapper: Wrapper) -> Self {
        if wrapper == Wrapper::None { Self::Done } else { Self::Fixed(0) }
    }
}

/// A decoder of wrapped deflate data. It ends with the data, before the checksum.
pub(super) struct Deflated {
    wrapper: Wrapper,
    head: Head,
    /// Of gzip: the optional parts of the head that are still to come.
    flags: u8,
    data: DeflateDecoder,
}

const HEAD_CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;

impl Deflated {
    pub(super) fn new(wrapper: Wrapper) -> Self {
        Self { wrapper, head: Head::of(wrapper), flags: 0, data: DeflateDecoder::new() }
    }

    /// Reads the head, as far as it is there. True once it is complete.
    fn read_head(&mut self, input: &mut PartialBuffer<&[u8]>) -> Result<bool> {
        while !matches!(self.head, Head::Done) {
            let Some(&byte) = input.unwritten().first() else { return Ok(false) };
            input.advance(1);
            self.head = match (self.wrapper, self.head) {
                (Wrapper::Gzip, Head::Fixed(2)) if byte != 8 => return Err(fault("unknown method of compression")),
                (Wrapper::Zlib, Head::Fixed(1)) if byte & 0x20 != 0 => {
                    return Err(fault("it needs a dictionary"));
                }
                (Wrapper::Zlib, Head::Fixed(1)) => Head::Done,
                (Wrapper::Gzip, Head::Fixed(9)) => self.next_part(),
                (of, Head::Fixed(at)) => {
                    if of == Wrapper::Gzip && at == 3 {
                        self.flags = byte;
                    }
                    Head::Fixed(at + 1)
                }
                (_, Head::ExtraLength(None)) => Head::ExtraLength(Some(byte)),
                (_, Head::ExtraLength(Some(first))) => match u16::from_le_bytes([first, byte]) {
                    0 => self.next_part(),
                    length => Head::Skip(length),
                },
                (_, Head::Skip(1)) => self.next_part(),
                (_, Head::Skip(left)) => Head::Skip(left.saturating_sub(1)),
                (_, Head::Text) if byte == 0 => self.next_part(),
                (_, head @ (Head::Text | Head::Done)) => head,
            };
        }
        Ok(true)
    }

    /// The next optional part of a gzip head.
    fn next_part(&mut self) -> Head {
        for (flag, head) in [
            (EXTRA, Head::ExtraLength(None)),
            (NAME, Head::Text),
            (COMMENT, Head::Text),
            (HEAD_CHECKSUM, Head::Skip(2)),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                return head;
            }
        }
        Head::Done
    }

    fn is_in_head(&self) -> bool {
        !matches!(self.head, Head::Done)
    }
}

fn fault(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

impl DecodeV2 for Deflated {
    fn reinit(&mut self) -> Result<()> {
        self.data.reinit()?;
        (self.head, self.flags) = (Head::of(self.wrapper), 0);
        Ok(())
    }

    fn decode(&mut self, input: &mut PartialBuffer<&[u8]>, output: &mut WriteBuffer<'_>) -> Result<bool> {
        if !self.read_head(input)? || input.unwritten().is_empty() {
            return Ok(false);
        }
        self.data.decode(input, output)
    }

    fn flush(&mut self, output: &mut WriteBuffer<'_>) -> Result<bool> {
        if self.is_in_head() { Ok(true) } else { self.data.flush(output) }
    }

    fn finish(&mut self, output: &mut WriteBuffer<'_>) -> Result<bool> {
        if self.is_in_head() { Err(ErrorKind::UnexpectedEof.into()) } else { self.data.finish(output) }
    }
}
