//! TOML syntax faults: each mistake is reported once, and the rest of the file is still parsed.

use toml::de::DeTable;

use super::fault::Faults;
use crate::limits::SYNTAX_FAULTS_MAX;

/// Reports syntax faults and returns the text without the statements that have them, at the same length.
///
/// One unclosed bracket makes a parser fail on every later line. So after each fault its statement is blanked out
/// and the rest is parsed again: one mistake gives one fault, and the text around it is checked as usual.
pub(super) fn mended(faults: &mut Faults) -> String {
    let mut text = faults.source().to_owned();
    for _ in 0..SYNTAX_FAULTS_MAX {
        let Err(error) = DeTable::parse(&text) else { return text };
        let mut span = error.span().unwrap_or(0..0);
        let is_multi_line = error.message().contains("multi-line");
        if is_multi_line {
            // The parser points at the end of the text; people look for the opening quotes.
            let before = &text[..floor_char(&text, span.start)];
            let opened = ["\"\"\"", "'''"].iter().filter_map(|quotes| before.rfind(quotes)).max();
            span = opened.map_or(span, |at| at..at + 3);
        }
        let at = floor_char(&text, span.start);
        let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        // A parser that fails at the start of a statement was still inside the one before.
        let is_overrun = text[line_start..at].trim().is_empty() && begins_statement(&text[at..]);
        let before = if is_overrun { statement_before(&text, line_start) } else { None };
        let culprit = match before {
            Some(start) if !error.message().contains("duplicate") => {
                let line = text[start..].lines().next().unwrap_or_default();
                let message = format!("this is not closed: {}", error.message());
                let hint = "close the bracket or the quotes that it opens".to_owned();
                faults.add(start..start + line.trim_end().len(), "", message, Some(hint));
                start..line_start
            }
            _ => {
                faults.add(span.clone(), "", error.message(), escape_hint(&text, span.start));
                statement_before(&text, line_start + 1).unwrap_or(line_start)..line_end(&text, at)
            }
        };
        let end = if is_multi_line || text[culprit.start..].trim_start().starts_with('[') {
            // Keys below a broken header would join the table above it; lines after open quotes are no keys.
            next_header(&text, culprit.end)
        } else {
            culprit.end
        };
        let blank: String = text[culprit.start..end].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
        if blank == text[culprit.start..end] {
            break;
        }
        text.replace_range(culprit.start..end, &blank);
    }
    if DeTable::parse(&text).is_ok() { text } else { String::new() }
}

/// A backslash in double quotes that is no TOML escape usually belongs to a regular expression.
fn escape_hint(text: &str, at: usize) -> Option<String> {
    let before = &text[..floor_char(text, at)];
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    // The parser points after the backslash.
    (line.ends_with('\\') && line.contains('"')).then(|| {
        "use single quotes, as '\\d+': within double quotes a backslash begins an escape of TOML's own".to_owned()
    })
}

fn floor_char(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end)
}

/// True for `key =` and `[header]`.
fn begins_statement(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_start();
    if line.starts_with('[') {
        let inner = line.trim_start_matches('[');
        return inner.starts_with(|first: char| first.is_ascii_alphabetic()) && !inner.contains(['\'', ',']);
    }
    let is_key =
        |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"' ".contains(&b));
    line.split_once('=').is_some_and(|(key, _)| is_key(key.trim()))
}

/// Start of the last line before `end` that begins a statement.
fn statement_before(text: &str, end: usize) -> Option<usize> {
    let mut end = floor_char(text, end);
    loop {
        let start = text[..end.checked_sub(1)?].rfind('\n').map_or(0, |at| at + 1);
        if begins_statement(&text[start..]) {
            return Some(start);
        }
        end = start;
    }
}

/// Start of the next line that is a table header, or the end of the text.
fn next_header(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(end) = text[at..].find('\n') {
        at += end + 1;
        if text[at..].starts_with('[') {
            return at;
        }
    }
    text.len()
}
