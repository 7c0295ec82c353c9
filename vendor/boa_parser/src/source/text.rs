use super::ReadChar;
use std::io;

/// gleaner: Input of a text that is in memory as a whole.
#[derive(Debug)]
pub struct TextInput<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> TextInput<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl ReadChar for TextInput<'_> {
    #[inline]
    fn next_char(&mut self) -> io::Result<Option<u32>> {
        let Some(byte) = self.text.as_bytes().get(self.at) else {
            return Ok(None);
        };
        if byte.is_ascii() {
            self.at += 1;
            return Ok(Some(u32::from(*byte)));
        }
        let next = self.text[self.at..].chars().next();
        self.at += next.map_or(0, char::len_utf8);
        Ok(next.map(u32::from))
    }

    fn take_ascii(&mut self, takes: impl Fn(u8) -> bool) -> io::Result<&[u8]> {
        let ahead = &self.text.as_bytes()[self.at..];
        let taken = ahead.iter().position(|byte| !byte.is_ascii() || !takes(*byte)).unwrap_or(ahead.len());
        self.at += taken;
        Ok(&ahead[..taken])
    }

    #[inline]
    fn take_word(&mut self, first: u8, takes: impl Fn(u8) -> bool) -> Option<&[u8]> {
        let bytes = self.text.as_bytes();
        let begin = self.at.checked_sub(1).filter(|at| bytes[*at] == first)?;
        let rest = &bytes[self.at..];
        let length = rest.iter().position(|byte| !takes(*byte)).unwrap_or(rest.len());
        // What is no ASCII, or is escaped, may go on with the word.
        if rest.get(length).is_some_and(|byte| !byte.is_ascii() || *byte == b'\\') {
            return None;
        }
        self.at += length;
        Some(&bytes[begin..self.at])
    }

    fn rest(&self) -> Option<&str> {
        Some(&self.text[self.at..])
    }

    fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }
}
