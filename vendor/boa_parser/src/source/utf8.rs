use super::ReadChar;
use std::io::{self, ErrorKind, Read};

/// Bytes that are read at a time.
const CHUNK: usize = 8 << 10;

/// Input for UTF-8 encoded sources.
///
/// gleaner: has a buffer of its own, out of which runs of ASCII are taken as slices.
#[derive(Debug)]
pub struct UTF8Input<R> {
    input: R,
    /// What was read and not taken stands at `at..end`.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
}

impl<R: Read> UTF8Input<R> {
    /// Creates a new `UTF8Input` from a UTF-8 encoded source.
    pub(crate) fn new(iter: R) -> Self {
        Self {
            input: iter,
            buffer: Vec::new(),
            at: 0,
            end: 0,
        }
    }
}

impl<R: Read> UTF8Input<R> {
    /// Reads on where all was taken; false at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at < self.end {
            return Ok(true);
        }
        self.buffer.resize(CHUNK, 0);
        let read = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        (self.at, self.end) = (0, read);
        Ok(read > 0)
    }

    /// Retrieves the next byte
    #[inline]
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.end && !self.fill()? {
            return Ok(None);
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(Some(byte))
    }
}

impl<R: Read> ReadChar for UTF8Input<R> {
    fn take_ascii(&mut self, takes: impl Fn(u8) -> bool) -> io::Result<&[u8]> {
        if !self.fill()? {
            return Ok(&[]);
        }
        let ahead = &self.buffer[self.at..self.end];
        let taken = ahead.iter().position(|byte| !byte.is_ascii() || !takes(*byte)).unwrap_or(ahead.len());
        self.at += taken;
        Ok(&ahead[..taken])
    }

    #[inline]
    fn take_word(&mut self, first: u8, takes: impl Fn(u8) -> bool) -> Option<&[u8]> {
        let begin = self.at.checked_sub(1).filter(|at| self.buffer.get(*at) == Some(&first))?;
        let rest = self.buffer.get(self.at..self.end)?;
        let length = rest.iter().position(|byte| !takes(*byte))?;
        // What is no ASCII, or is escaped, may go on with the word.
        if !rest[length].is_ascii() || rest[length] == b'\\' {
            return None;
        }
        self.at += length;
        Some(&self.buffer[begin..self.at])
    }

    /// Retrieves the next unchecked char in u32 code point.
    fn next_char(&mut self) -> io::Result<Option<u32>> {
        // Decode UTF-8
        let x = match self.next_byte()? {
            Some(b) if b >= 128 => b,         // UTF-8 codepoint
            b => return Ok(b.map(u32::from)), // ASCII or None
        };

        // Multibyte case follows
        // Decode from a byte combination out of: [[[x y] z] w]
        // NOTE: Performance is sensitive to the exact formulation here
        let init = utf8_first_byte(x, 2);
        let y = self.next_byte()?.unwrap_or(0);
        let mut ch = utf8_acc_cont_byte(init, y);
        if x >= 0xE0 {
            // [[x y z] w] case
            // 5th bit in 0xE0 .. 0xEF is always clear, so `init` is still valid
            let z = self.next_byte()?.unwrap_or(0);
            let y_z = utf8_acc_cont_byte(u32::from(y & CONT_MASK), z);
            ch = (init << 12) | y_z;
            if x >= 0xF0 {
                // [x y z w] case
                // use only the lower 3 bits of `init`
                let w = self.next_byte()?.unwrap_or(0);
                ch = ((init & 7) << 18) | utf8_acc_cont_byte(y_z, w);
            }
        }

        Ok(Some(ch))
    }
}

/// Mask of the value bits of a continuation byte.
const CONT_MASK: u8 = 0b0011_1111;

/// Returns the initial codepoint accumulator for the first byte.
/// The first byte is special, only want bottom 5 bits for width 2, 4 bits
/// for width 3, and 3 bits for width 4.
fn utf8_first_byte(byte: u8, width: u32) -> u32 {
    u32::from(byte & (0x7F >> width))
}

/// Returns the value of `ch` updated with continuation byte `byte`.
fn utf8_acc_cont_byte(ch: u32, byte: u8) -> u32 {
    (ch << 6) | u32::from(byte & CONT_MASK)
}
