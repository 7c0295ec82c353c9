//! Console output of all gleaner programs: text on standard output, and errors with their hints. What servers, torrents and other
//! processes sent is part of it, so everything goes through [`Escaped`].

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, StderrLock, StdoutLock, Write};

use crate::url::without_keys_in;
use crate::{journal, place};

/// A writer for terminals: characters that move the cursor, change the terminal's state or the order of the text (control characters,
/// directional formatting of Unicode) are written as `\u001b`. Line breaks and tabs pass. JSON stays JSON with the same meaning.
#[derive(Debug)]
pub struct Escaped<W> {
    out: W,
    /// The colours of our own messages pass, and with them those that others have written.
    colours: bool,
    /// What its errors say of it.
    told: fn(&io::Error) -> String,
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            let valid = escaped_with(chunk.valid(), self.colours);
            self.out.write_all(valid.as_bytes()).map_err(|error| self.failed(&error))?;
            for byte in chunk.invalid() {
                write!(self.out, "\\x{byte:02x}").map_err(|error| self.failed(&error))?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.failed(&error))
    }
}

impl<W> Escaped<W> {
    fn failed(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), (self.told)(error))
    }
}

/// An error of standard output, with its hint.
#[must_use]
pub fn of_output(error: &io::Error) -> String {
    let hint = place::used_up(error).map(|(_, hint)| format!("\nhint: {hint}")).unwrap_or_default();
    format!("standard output: {error}{hint}")
}

/// The text as [`Escaped`] writes it without colours.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_with(text, false)
}

fn escaped_with(text: &str, colours: bool) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_dangerous) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let colour = if colours { colour_at(rest) } else { 0 };
        if colour > 0 {
            out.push_str(&rest[..colour]);
            rest = &rest[colour..];
        } else if let Some(of) = rest.chars().next() {
            out.push_str(&format!("\\u{:04x}", u32::from(of)));
            rest = &rest[of.len_utf8()..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_dangerous(of: char) -> bool {
    match of {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction (UAX 9); separators that some terminals break lines at.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        of => of.is_control(),
    }
}

/// Length of a colour sequence at the start of the text: ECMA-48's SGR with what our messages use (reset, bold, dim, italic, underline,
/// the seven colours and their bright forms), and not black or concealed text. Zero if there is none.
fn colour_at(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let Some(end) = rest.find('m') else { return 0 };
    let is_ours = |code: &str| {
        matches!(code, "" | "0" | "1" | "2" | "3" | "4") || matches!(code.parse(), Ok(31..=37 | 39 | 91..=97))
    };
    if rest[..end].split(';').all(is_ours) { 2 + end + 1 } else { 0 }
}

/// A path in JSON: bytes that are not UTF-8 are replaced.
///
/// # Errors
/// Those of the serializer.
pub fn lossy<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Standard output.
#[must_use]
pub fn out() -> Escaped<StdoutLock<'static>> {
    out_with(false)
}

/// Standard output, for our own messages in colour.
#[must_use]
pub fn out_with(colours: bool) -> Escaped<StdoutLock<'static>> {
    Escaped { out: io::stdout().lock(), colours, told: of_output }
}

/// Standard error.
#[must_use]
pub fn err() -> Escaped<StderrLock<'static>> {
    err_with(false)
}

/// Standard error, for our own messages in colour.
#[must_use]
pub fn err_with(colours: bool) -> Escaped<StderrLock<'static>> {
    Escaped { out: io::stderr().lock(), colours, told: io::Error::to_string }
}

/// Writes to standard output, with members' keys masked, and flushes.
///
/// # Errors
/// I/O errors of standard output; a broken pipe if the reader has closed it.
pub fn write_out(text: std::fmt::Arguments<'_>) -> io::Result<()> {
    let mut out = out();
    out.write_all(without_keys_in(&text.to_string()).as_bytes())?;
    out.flush()
}

/// Writes an error, with its hints on lines of their own, to standard error; as one line of the journal if that reads it. Never fails: the
/// terminal may be closed.
pub fn write_error(text: &str) {
    let text = &*without_keys_in(text);
    let text =
        if journal::reads_stderr() { journal::line(tracing::Level::ERROR, text) } else { text.trim_end().to_owned() };
    let _ = writeln!(err(), "{text}");
}

/// An error with its causes on one line, followed by all its hints.
#[must_use]
pub fn told(error: &(dyn Error + 'static)) -> String {
    let (mut what, mut hints) = (Vec::new(), String::new());
    for cause in std::iter::successors(Some(error), |error| (**error).source()).map(ToString::to_string) {
        let (head, hint) = cause.split_once("\nhint: ").map_or((&*cause, None), |(head, hint)| (head, Some(hint)));
        what.push(head.to_owned());
        if let Some(hint) = hint {
            hints.push_str(&format!("\nhint: {hint}"));
        }
    }
    what.join(": ") + &hints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_or_turns_the_text_is_escaped() {
        for (text, expected) in [
            ("a\tb\nç 中", "a\tb\nç 中"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("\u{1b}[2J\u{1b}[31mred\u{1b}[0m", "\\u001b[2J\u{1b}[31mred\u{1b}[0m"),
            ("\u{1b}[8mhidden\u{1b}[30m\u{1b}[31", "\\u001b[8mhidden\\u001b[30m\\u001b[31"),
            ("gpj.\u{202e}cod\u{2066}\u{200f}", "gpj.\\u202ecod\\u2066\\u200f"),
            ("\r\u{9b}1A\u{7f}", "\\u000d\\u009b1A\\u007f"),
        ] {
            let mut out = Escaped { out: Vec::new(), colours: true, told: of_output };
            out.write_all(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(out.out).unwrap(), expected);
            assert!(!escaped(text).contains('\u{1b}'), "no colour of others");
        }
        let mut out = Escaped { out: Vec::new(), colours: false, told: of_output };
        out.write_all(b"\x9b31m\xff").unwrap();
        assert_eq!(out.out, b"\\x9b31m\\xff");
        assert_eq!(escaped("{\"name\":\"\u{202e}\"}"), "{\"name\":\"\\u202e\"}", "JSON of the same meaning");
    }
}
