//! Boa's lexer cursor that manages the input byte stream.

use super::{TokenKind, skip::skip, token::ContainsEscapeSequence};
use crate::source::{ReadChar, UTF8Input};
use boa_ast::{Keyword, LinearPosition, LinearSpan, Position, PositionGroup, SourceText};
use boa_interner::{Interner, Sym};
use std::io::{self, Error, ErrorKind};

/// gleaner: What a word is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    Keyword(Keyword),
    Boolean(bool),
    Null,
    Name(Sym),
}

impl Word {
    pub(super) fn of(word: &str, interner: &mut Interner) -> Self {
        match word {
            "true" => Self::Boolean(true),
            "false" => Self::Boolean(false),
            "null" => Self::Null,
            // Keywords are two to ten small letters; the names of minified scripts are mostly none.
            _ if matches!(word.len(), 2..=10) && word.as_bytes()[0].is_ascii_lowercase() => word
                .parse()
                .map_or_else(|_| Self::Name(interner.get_or_intern(word)), Self::Keyword),
            _ => Self::Name(interner.get_or_intern(word)),
        }
    }

    pub(super) const fn kind(self, has_escapes: bool) -> TokenKind {
        let escapes = ContainsEscapeSequence(has_escapes);
        match self {
            Self::Keyword(keyword) => TokenKind::Keyword((keyword, has_escapes)),
            Self::Boolean(value) => TokenKind::BooleanLiteral((value, escapes)),
            Self::Null => TokenKind::NullLiteral(escapes),
            Self::Name(name) => TokenKind::IdentifierName((name, escapes)),
        }
    }
}

/// gleaner: The words of up to 15 bytes that were read last, each with its bytes and its length: a script says most of its words many times.
#[derive(Debug, Default)]
struct Words(Vec<Option<(u128, Word)>>);

impl Words {
    const BITS: u32 = 9;
    const BYTES_MAX: usize = 15;
    /// Characters that were read before the table is worth its memory.
    const AFTER: usize = 4_096;

    fn get(&mut self, word: &str, interner: &mut Interner) -> Word {
        if word.len() > Self::BYTES_MAX {
            return Word::of(word, interner);
        }
        let mut key = [0; 16];
        key[..word.len()].copy_from_slice(word.as_bytes());
        key[Self::BYTES_MAX] = word.len() as u8;
        let key = u128::from_le_bytes(key);
        let mixed = (key as u64 ^ (key >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let place = (mixed >> (u64::BITS - Self::BITS)) as usize;
        if self.0.is_empty() {
            self.0.resize(1 << Self::BITS, None);
        }
        match self.0[place] {
            Some((known, word)) if known == key => word,
            _ => self.0[place].insert((key, Word::of(word, interner))).1,
        }
    }
}

/// gleaner: How often a text may be searched in vain: functions within functions would be searched again and again.
const SEARCHED_TIMES_MAX: usize = 4;

/// gleaner: The body of a function that was passed over.
#[derive(Debug)]
pub(crate) struct SkippedBody {
    pub(crate) span: LinearSpan,
    pub(crate) start: Position,
    pub(crate) names: Box<[Sym]>,
    pub(crate) has_this: bool,
}

/// Cursor over the source code.
#[derive(Debug)]
pub(super) struct Cursor<R> {
    iter: R,
    pos: Position,
    module: bool,
    strict: bool,
    peeked: [Option<u32>; 4],
    source_collector: SourceText,
    words: Words,
    // gleaner: bytes that were searched in vain for the ends of bodies.
    searched: usize,
}

impl<R> Cursor<R> {
    /// Gets the current position of the cursor in the source code.
    #[inline]
    pub(super) fn pos_group(&self) -> PositionGroup {
        PositionGroup::new(self.pos, self.linear_pos())
    }

    /// Gets the current position of the cursor in the source code.
    #[inline]
    pub(super) const fn pos(&self) -> Position {
        self.pos
    }

    /// Gets the current linear position of the cursor in the source code.
    #[inline]
    pub(super) fn linear_pos(&self) -> LinearPosition {
        self.source_collector.cur_linear_position()
    }

    /// gleaner: what is read is a part of a source, and begins there.
    pub(super) fn set_start(&mut self, position: Position, linear: LinearPosition) {
        self.pos = position;
        self.source_collector = SourceText::of_part(linear);
    }

    pub(super) fn take_source(&mut self) -> SourceText {
        let replace_with = SourceText::with_capacity(0);
        std::mem::replace(&mut self.source_collector, replace_with)
    }

    /// Advances the position to the next column.
    fn next_column(&mut self) {
        let current_line = self.pos.line_number();
        let next_column = self.pos.column_number() + 1;
        self.pos = Position::new(current_line, next_column);
    }

    /// Advances the position to the next line.
    fn next_line(&mut self) {
        let next_line = self.pos.line_number() + 1;
        self.pos = Position::new(next_line, 1);
    }

    /// Returns if strict mode is currently active.
    pub(super) const fn strict(&self) -> bool {
        self.strict
    }

    /// Sets the current strict mode.
    pub(super) fn set_strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    /// Returns if the module mode is currently active.
    pub(super) const fn module(&self) -> bool {
        self.module
    }

    /// Sets the current goal symbol to module.
    pub(super) fn set_module(&mut self, module: bool) {
        self.module = module;
        self.strict = module;
    }
}

impl<R: ReadChar> Cursor<R> {
    /// Creates a new Lexer cursor.
    pub(super) fn new(inner: R) -> Self {
        Self {
            iter: inner,
            pos: Position::new(1, 1),
            strict: false,
            module: false,
            peeked: [None; 4],
            source_collector: SourceText::default(),
            words: Words::default(),
            searched: 0,
        }
    }

    /// Peeks the next n bytes, the maximum number of peeked bytes is 4 (n <= 4).
    pub(super) fn peek_n(&mut self, n: u8) -> Result<&[Option<u32>; 4], Error> {
        let peeked = self.peeked.iter().filter(|c| c.is_some()).count();
        let needs_peek = n as usize - peeked;

        for i in 0..needs_peek {
            let next = self.iter.next_char()?;
            self.peeked[i + peeked] = next;
        }

        Ok(&self.peeked)
    }

    /// Peeks the next UTF-8 character in u32 code point.
    pub(super) fn peek_char(&mut self) -> Result<Option<u32>, Error> {
        if let Some(c) = self.peeked[0] {
            return Ok(Some(c));
        }

        let next = self.iter.next_char()?;
        self.peeked[0] = next;
        Ok(next)
    }

    pub(super) fn next_if(&mut self, c: u32) -> io::Result<bool> {
        if self.peek_char()? == Some(c) {
            self.next_char()?;
            Ok(true)
        } else {
            Ok(false)
        }
    }

    /// Applies the predicate to the next character and returns the result.
    /// Returns false if the next character is not a valid ascii or there is no next character.
    /// Otherwise returns the result from the predicate on the ascii in char
    ///
    /// The buffer is not incremented.
    pub(super) fn next_is_ascii_pred<F>(&mut self, pred: &F) -> io::Result<bool>
    where
        F: Fn(char) -> bool,
    {
        Ok(match self.peek_char()? {
            Some(byte) if (0..=0x7F).contains(&byte) =>
            {
                #[allow(clippy::cast_possible_truncation)]
                pred(char::from(byte as u8))
            }
            Some(_) | None => false,
        })
    }

    /// Fills the buffer with all bytes until the stop byte is found.
    /// Returns error when reaching the end of the buffer.
    ///
    /// Note that all bytes up until the stop byte are added to the buffer, including the byte right before.
    pub(super) fn take_until(&mut self, stop: u32, buf: &mut Vec<u32>) -> io::Result<()> {
        loop {
            if self.next_if(stop)? {
                return Ok(());
            } else if let Some(c) = self.next_char()? {
                buf.push(c);
            } else {
                return Err(Error::new(
                    ErrorKind::UnexpectedEof,
                    format!("Unexpected end of file when looking for character {stop}"),
                ));
            }
        }
    }

    /// Fills a mutable slice up to the ends while characters are alphabetic. Returns
    /// the number of characters read, or `N+1` if the buffer was filled but there were
    /// still characters after.
    pub(super) fn take_array_alphabetic<const N: usize>(
        &mut self,
        arr: &mut [u32; N],
    ) -> io::Result<usize> {
        for (i, out) in arr.iter_mut().enumerate() {
            match self.peek_char()? {
                // A..Z | a..z
                Some(0x41..=0x5A | 0x61..=0x7A) => {
                    *out = self.next_char()?.expect("Already checked.");
                }
                _ => return Ok(i),
            }
        }
        // Check the next character and return N+1 if it's alphabetic.
        match self.peek_char() {
            // A..Z | a..z
            Ok(Some(0x41..=0x5A | 0x61..=0x7A)) => Ok(N + 1),
            _ => Ok(N),
        }
    }

    /// gleaner: takes the ASCII characters that come next as long as `takes` says so, or fewer of them, down to none. It has to refuse the ends
    /// of lines.
    pub(super) fn take_ascii(&mut self, takes: impl Fn(u8) -> bool) -> io::Result<&[u8]> {
        if self.peeked[0].is_some() {
            return Ok(&[]);
        }
        let taken = self.iter.take_ascii(takes)?;
        self.source_collector.collect_ascii(taken);
        let columns = u32::try_from(taken.len()).unwrap_or(u32::MAX);
        self.pos = Position::new(
            self.pos.line_number(),
            self.pos.column_number().saturating_add(columns),
        );
        Ok(taken)
    }

    /// gleaner: takes the rest of the word whose first letter was taken last, if it is plain ASCII.
    pub(super) fn take_word(
        &mut self,
        first: u8,
        takes: impl Fn(u8) -> bool,
        interner: &mut Interner,
    ) -> Option<TokenKind> {
        if self.peeked[0].is_some() {
            return None;
        }
        let word = self.iter.take_word(first, takes)?;
        let rest = &word[1..];
        self.source_collector.collect_ascii(rest);
        let columns = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        self.pos = Position::new(
            self.pos.line_number(),
            self.pos.column_number().saturating_add(columns),
        );
        let word = str::from_utf8(word).expect("ASCII is UTF-8");
        let word = match self.source_collector.cur_linear_position().pos() > Words::AFTER {
            true => self.words.get(word, interner),
            false => Word::of(word, interner),
        };
        Some(word.kind(false))
    }

    /// gleaner: passes over the body of a function that may be parsed later, up to its `}`.
    pub(super) fn skip_body(&mut self, bytes_min: usize, interner: &mut Interner) -> Option<SkippedBody> {
        if self.peeked.iter().any(Option::is_some) {
            return None;
        }
        let rest = self.iter.rest()?;
        let length = self.source_collector.cur_linear_position().pos() + rest.len();
        if self.searched > length.saturating_mul(SEARCHED_TIMES_MAX) {
            return None;
        }
        let skipped = match skip(rest.as_bytes()) {
            Ok(skipped) => skipped,
            Err(searched) => {
                self.searched += searched;
                return None;
            }
        };
        let text = &rest[..skipped.length];
        if text.len() < bytes_min || text.contains(['\u{2028}', '\u{2029}']) {
            self.searched += text.len();
            return None;
        }
        let names = skipped.names.iter().filter_map(|name| str::from_utf8(name).ok());
        let names = names.map(|name| interner.get_or_intern(name)).collect();
        let (start, begin, has_this) = (self.pos, self.source_collector.cur_linear_position(), skipped.has_this);
        let mut lines = 0;
        let mut last = 0;
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                (lines, last) = (lines + 1, at + 1);
            }
        }
        let columns = u32::try_from(text[last..].chars().count()).unwrap_or(u32::MAX);
        let (line, column) = match lines {
            0 => (start.line_number(), start.column_number()),
            lines => (start.line_number().saturating_add(lines), 1),
        };
        self.pos = Position::new(line, column.saturating_add(columns));
        self.source_collector.collect(text);
        let length = text.len();
        self.iter.pass(length);
        Some(SkippedBody {
            span: LinearSpan::new(begin, self.source_collector.cur_linear_position()),
            start,
            names,
            has_this,
        })
    }

    /// Retrieves the next UTF-8 character.
    pub(crate) fn next_char(&mut self) -> Result<Option<u32>, Error> {
        let ch = if let Some(c) = self.peeked[0] {
            self.peeked[0] = None;
            self.peeked.rotate_left(1);
            Some(c)
        } else {
            self.iter.next_char()?
        };

        if let Some(ch) = ch {
            self.source_collector.collect_code_point(ch);
        }

        match ch {
            Some(0xD) => {
                // Try to take a newline if it's next, for windows "\r\n" newlines
                // Otherwise, treat as a Mac OS9 bare '\r' newline
                if self.peek_char()? == Some(0xA) {
                    self.peeked[0] = None;
                    self.peeked.rotate_left(1);
                    self.source_collector.collect_code_point(0xA);
                }
                self.next_line();
            }
            // '\n' | '\u{2028}' | '\u{2029}'
            Some(0xA | 0x2028 | 0x2029) => self.next_line(),
            Some(_) => self.next_column(),
            _ => {}
        }

        Ok(ch)
    }
}

impl<'a> From<&'a [u8]> for Cursor<UTF8Input<&'a [u8]>> {
    fn from(input: &'a [u8]) -> Self {
        Self::new(UTF8Input::new(input))
    }
}
