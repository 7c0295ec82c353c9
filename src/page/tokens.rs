//! The WHATWG tokenizer (HTML §13.2.5), as far as links depend on it, over bytes.
//!
//! Each function takes the page and a position and returns the position after the skipped part, or `None` if the page
//! ends inside it (then the rest of the page contains no more markup). All are loops over a byte search and look back at
//! most three bytes, so a pass is linear for any page. Nothing here allocates, decodes, or knows which tags matter.

use std::ops::Range;

use crate::near::near;

/// A tag's name: `key` compares names of up to eight bytes, ignoring ASCII case; 0 for longer ones.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub key: u64,
    pub bytes: &'a [u8],
}

impl Name<'_> {
    /// True for this name in any case; `name` is in lower case.
    pub(super) fn is(&self, name: &[u8]) -> bool {
        self.bytes.eq_ignore_ascii_case(name)
    }
}

/// The key of a lower-case name. Setting bit 5 folds the case of letters and turns no other byte into a–z (but
/// `@[\]^_` become other punctuation, which is in no name that we search for); `-` and digits have it set.
pub(super) const fn key(name: &[u8]) -> u64 {
    let mut packed = 0;
    let mut at = 0;
    if name.len() > 8 {
        return 0;
    }
    while at < name.len() {
        packed = packed << 8 | (name[at] | 0x20) as u64;
        at += 1;
    }
    packed
}

/// The end of a tag.
#[derive(Clone, Copy)]
pub(super) struct TagEnd {
    /// The position after its `>`.
    pub after: usize,
    pub self_closing: bool,
}

const SPACE: u8 = 1;
const NAME_END: u8 = 2;
const ATTRIBUTE_NAME_END: u8 = 4;
const UNQUOTED_END: u8 = 8;

/// Carriage returns count as spaces: the standard's input preprocessing turns them into line feeds.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let spaces = b"\t\n\x0c\r ";
    let mut at = 0;
    while at < spaces.len() {
        class[spaces[at] as usize] = SPACE | NAME_END | ATTRIBUTE_NAME_END | UNQUOTED_END;
        at += 1;
    }
    class[b'/' as usize] = NAME_END | ATTRIBUTE_NAME_END;
    class[b'>' as usize] = NAME_END | ATTRIBUTE_NAME_END | UNQUOTED_END;
    class[b'=' as usize] = ATTRIBUTE_NAME_END;
    class
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// The five bytes that HTML calls ASCII whitespace.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    is(byte, SPACE)
}

/// Tag name state (§13.2.5.8): the name that begins at `at`, and the position after it.
#[inline]
pub(super) fn tag_name(page: &[u8], at: usize) -> Option<(Name<'_>, usize)> {
    let mut end = at;
    let mut packed = 0_u64;
    loop {
        let byte = *page.get(end)?;
        if is(byte, NAME_END) {
            break;
        }
        packed = packed << 8 | u64::from(byte | 0x20);
        end += 1;
    }
    let key = if end - at > 8 { 0 } else { packed };
    Some((Name { key, bytes: &page[at..end] }, end))
}

#[inline]
fn skip_spaces(page: &[u8], mut at: usize) -> Option<usize> {
    while is_space(*page.get(at)?) {
        at += 1;
    }
    Some(at)
}

/// The attribute states (§13.2.5.32–40): calls `each` with name and value of every attribute from `at` on, in order,
/// up to the `>` of the tag. Of duplicates the first counts, which the caller must handle.
#[inline]
pub(super) fn attributes<'p>(
    page: &'p [u8],
    mut at: usize,
    mut each: impl FnMut(&'p [u8], Range<usize>),
) -> Option<TagEnd> {
    loop {
        let byte = *page.get(at)?;
        if is_space(byte) {
            at += 1;
            continue;
        }
        if byte == b'>' {
            return Some(TagEnd { after: at + 1, self_closing: false });
        }
        if byte == b'/' {
            at += 1;
            if *page.get(at)? == b'>' {
                return Some(TagEnd { after: at + 1, self_closing: true });
            }
            continue;
        }
        // A name's first byte may be any other, including `=` and quotes.
        let name = at;
        at += 1;
        while !is(*page.get(at)?, ATTRIBUTE_NAME_END) {
            at += 1;
        }
        let name = &page[name..at];
        at = skip_spaces(page, at)?;
        if page[at] != b'=' {
            each(name, at..at);
            continue;
        }
        at = skip_spaces(page, at + 1)?;
        match page[at] {
            quote @ (b'"' | b'\'') => {
                let start = at + 1;
                let end = start + near(quote, &page[start..])?;
                each(name, start..end);
                at = end + 1;
            }
            b'>' => {
                each(name, at..at);
                return Some(TagEnd { after: at + 1, self_closing: false });
            }
            _ => {
                let start = at;
                while !is(*page.get(at)?, UNQUOTED_END) {
                    at += 1;
                }
                each(name, start..at);
            }
        }
    }
}

/// Markup declaration open state (§13.2.5.42) and its successors; `at` is after `<!`.
pub(super) fn markup_declaration(page: &[u8], at: usize, in_foreign_content: bool) -> Option<usize> {
    let rest = &page[at..];
    if rest.starts_with(b"--") {
        comment(page, at + 2)
    } else if in_foreign_content && rest.starts_with(b"[CDATA[") {
        let start = at + 7;
        Some(start + memchr::memmem::find(&page[start..], b"]]>")? + 3)
    } else {
        // A doctype ends at the first `>`, even within its quoted identifiers.
        bogus_comment(page, at)
    }
}

/// Bogus comment state (§13.2.5.41).
pub(super) fn bogus_comment(page: &[u8], at: usize) -> Option<usize> {
    Some(at + near(b'>', &page[at..])? + 1)
}

/// Comment states (§13.2.5.43–52); `start` is after `<!--`. A `>` closes after `--`, which may include the opening
/// dashes (`<!-->`, `<!--->`), and after `--!`, which may not.
fn comment(page: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += near(b'>', &page[at..])?;
        if page[start - 2..at].ends_with(b"--") || page[start..at].ends_with(b"--!") {
            return Some(at + 1);
        }
        at += 1;
    }
}

/// RCDATA and RAWTEXT states (§13.2.5.2–3, 9–14): the position after the end tag of the element `name`, whose
/// content begins at `at`.
pub(super) fn raw_text(page: &[u8], mut at: usize, name: &[u8]) -> Option<usize> {
    loop {
        at += near(b'<', &page[at..])? + 1;
        if let Some(after) = closing_name(page, at, name) {
            return attributes(page, after, |_, _| ()).map(|end| end.after);
        }
    }
}

/// After a `<`: the position after `/name`, if it is there and the name ends there.
#[inline]
fn closing_name(page: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let end = at + 1 + name.len();
    (page.get(at) == Some(&b'/') && opening_name(page, at + 1, name)).then_some(end)
}

/// True if `name` is at `at` in any case and ends there.
#[inline]
fn opening_name(page: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    page.get(end).is_some_and(|&byte| is(byte, NAME_END)) && page[at..end].eq_ignore_ascii_case(name)
}

/// Script data states (§13.2.5.4, 15–31): the position after the end tag of a script whose text begins at `at`. In
/// `<!-- <script> … </script> -->` the inner end tag closes nothing.
pub(super) fn script(page: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += near(b'<', &page[at..])? + 1;
        if let Some(after) = closing_name(page, at, b"script") {
            return attributes(page, after, |_, _| ()).map(|end| end.after);
        }
        if page[at..].starts_with(b"!--") {
            at = match escaped_script(page, at + 3)? {
                Escaped::Over(after) => after,
                Escaped::Closed(after) => return attributes(page, after, |_, _| ()).map(|end| end.after),
            };
        }
    }
}

/// How the escaped part of a script ended: by `-->`, or by the script's end tag.
enum Escaped {
    Over(usize),
    Closed(usize),
}

/// Script data escaped and double escaped states; `start` is after `<!--`.
fn escaped_script(page: &[u8], start: usize) -> Option<Escaped> {
    let mut at = start;
    let mut double = false;
    loop {
        at += memchr::memchr2(b'<', b'>', &page[at..])?;
        if page[at] == b'>' {
            if page[start - 2..at].ends_with(b"--") {
                return Some(Escaped::Over(at + 1));
            }
            at += 1;
            continue;
        }
        at += 1;
        if let Some(after) = closing_name(page, at, b"script") {
            if !double {
                return Some(Escaped::Closed(after));
            }
            double = false;
            at = after + 1;
        } else if !double && opening_name(page, at, b"script") {
            double = true;
            at += b"script".len() + 1;
        }
    }
}

#[cfg(test)]
mod tests;
