//! Locates scripts and handlers in a page's markup, for the positions of their errors.
//!
//! html5ever reports lines but no columns. The parser also knows how much of the markup was read when it returned a script.

use boa_engine::ast::Position;
use boa_engine::parser::source::Beginning;

/// The markup, and the position up to which its lines are counted.
pub(crate) struct Source<'a> {
    markup: &'a str,
    counted: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(markup: &'a str) -> Self {
        Self { markup, counted: 0, line: 1, line_start: 0 }
    }

    /// The position of a byte. Offsets should be ascending; an earlier one restarts the count.
    fn place(&mut self, offset: usize) -> Position {
        if offset < self.counted {
            (self.counted, self.line, self.line_start) = (0, 1, 0);
        }
        let bytes = self.markup.as_bytes();
        for at in memchr::memchr2_iter(b'\n', b'\r', &bytes[self.counted..offset]) {
            let end = self.counted + at;
            // CR LF is one line break (HTML §13.2.3.5 "normalize newlines").
            if bytes[end] == b'\n' || bytes.get(end + 1) != Some(&b'\n') {
                (self.line, self.line_start) = (self.line.saturating_add(1), end + 1);
            }
        }
        self.counted = offset;
        let before = self.markup.get(self.line_start..offset).map_or(0, |before| before.chars().count());
        Position::new(self.line, u32::try_from(before).unwrap_or(u32::MAX - 1) + 1)
    }

    /// The start of the script whose end tag ends at `read` bytes. `None` if the markup does not match there, for example if another
    /// script wrote it.
    pub(crate) fn script(&mut self, read: usize, text: &str) -> Option<Beginning> {
        let before = self.markup.get(..read)?;
        let end = before.rfind("</").filter(|end| {
            before.as_bytes().get(end + 2..end + 8).is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
        })?;
        let start = start_of(&before[..end], text)?;
        Some(self.place(start).into())
    }
}

/// The start of `text` at the end of `markup`, ignoring the parser's normalisation of line breaks and NUL (HTML §13.2.3.5).
fn start_of(markup: &str, text: &str) -> Option<usize> {
    if let Some(before) = markup.strip_suffix(text) {
        return Some(before.len());
    }
    let mut rest = markup;
    for char in text.chars().rev() {
        rest = match char {
            '\n' => rest.strip_suffix("\r\n").or_else(|| rest.strip_suffix(['\n', '\r']))?,
            char::REPLACEMENT_CHARACTER => rest.strip_suffix([char, '\0'])?,
            char => rest.strip_suffix(char)?,
        };
    }
    Some(rest.len())
}

/// The position of a handler's text: of the `nth` attribute `on{kind}` in the markup with this text, from 0, or of the first if there are
/// fewer. `None` for a text with character references, which differs in the markup.
pub(crate) fn handler(markup: &str, kind: &str, text: &str, nth: usize) -> Option<Position> {
    let is_there = |at: &usize| {
        let before = markup[..*at].strip_suffix(['"', '\'']).unwrap_or(&markup[..*at]).trim_ascii_end();
        let name = before.strip_suffix('=').map(str::trim_ascii_end);
        let name = name.and_then(|name| name.get(name.len().checked_sub(kind.len() + 2)?..));
        name.is_some_and(|name| {
            name.get(..2).is_some_and(|on| on.eq_ignore_ascii_case("on")) && name[2..].eq_ignore_ascii_case(kind)
        })
    };
    if text.is_empty() {
        return None;
    }
    let mut places = memchr::memmem::find_iter(markup.as_bytes(), text.as_bytes()).filter(is_there);
    let first = places.next()?;
    let place = if nth == 0 { first } else { places.nth(nth - 1).unwrap_or(first) };
    Some(Source::new(markup).place(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Option<Position> {
        Some(Position::new(line, column))
    }

    fn script(source: &mut Source<'_>, read: usize, text: &str) -> Option<Position> {
        source.script(read, text).map(|start| start.position)
    }

    #[test]
    fn a_script_is_found_before_its_end_tag_whatever_its_line_breaks() {
        let markup = "<p>\r\n<script>a\r\nb\r\n</script>\r\rü<script>c</SCRIPT >";
        let mut source = Source::new(markup);
        let first = markup.find("</script>").unwrap() + 9;
        assert_eq!(script(&mut source, first, "a\nb\n"), at(2, 9));
        assert_eq!(script(&mut source, markup.len(), "c"), at(6, 10));
        assert_eq!(script(&mut source, first, "a\nb\n"), at(2, 9), "an earlier one is found again");
        assert_eq!(script(&mut source, first, "x"), None);
        assert_eq!(script(&mut source, markup.len() + 1, "c"), None);
        assert_eq!(script(&mut source, 3, "c"), None);
    }

    #[test]
    fn a_handler_is_found_by_its_name_and_text() {
        let markup = "<a title='go()' onclick='go()'>\n<b ONCLICK = go()>\n<i onclick=\"x\"";
        assert_eq!(handler(markup, "click", "go()", 0), at(1, 26));
        assert_eq!(handler(markup, "click", "go()", 1), at(2, 14));
        assert_eq!(handler(markup, "click", "go()", 7), at(1, 26), "the first, where scripts made others");
        assert_eq!(handler(markup, "load", "go()", 0), None);
        assert_eq!(handler(markup, "click", "", 0), None);
    }
}
