//! The texts of a list's rows, independent of their links: some sites rename all links at each view.
//!
//! Needs no slots, so it is a lighter pass than [`super::walk`]: it knows the open `a`, and what is no text.

use encoding_rs::Encoding;
use xxhash_rust::xxh3::xxh3_64;

use super::walk::{self, A, AREA, SCRIPT, SELECT, TABLE, TD, TH, TITLE, TR, mixed};
use super::words::{self, Relative};
use super::{KeySet, Matters, Page, bytes, is_of_record};
use crate::limits::PAGE_BYTES_MAX;
use crate::tokens::{self, key};

/// A hash of the texts of a list from its first row's link to its last row's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListTextHash {
    pub hash: u64,
    /// Number of different texts. If there are fewer than rows, rows have equal texts, and the hash does not
    /// distinguish them.
    pub texts: usize,
}

/// Hashes the texts between the first and the last link to an item of the list (`is_row`, references as written),
/// without counts and relative times. None if there is no such link, or the page is longer than [`PAGE_BYTES_MAX`].
/// Linear in the page, no tree.
#[must_use]
pub fn said(page: &Page<'_>, is_row: Matters<'_>) -> Option<ListTextHash> {
    if page.body.len() > PAGE_BYTES_MAX {
        return None;
    }
    let (body, encoding) = bytes(page);
    let mut list = List {
        page: &body,
        encoding,
        is_row,
        link: None,
        row: None,
        is_muted: false,
        texts: KeySet::default(),
        hash: 0x7361_6964,
        said: None,
    };
    let mut at = 0;
    loop {
        let open = walk::markup_after(&body, at);
        list.text(&body[at..open]);
        let after = match body.get(open + 1) {
            Some(b'!') => tokens::markup_declaration(&body, open + 2, false),
            Some(b'?') => tokens::bogus_comment(&body, open + 1),
            Some(b'/') => list.end_tag(open + 2),
            Some(_) => list.start_tag(open + 1),
            None => None,
        };
        let Some(after) = after else { return list.said };
        at = after;
    }
}

struct List<'p> {
    page: &'p [u8],
    encoding: &'static Encoding,
    is_row: Matters<'p>,
    /// The reference of the open `a`.
    link: Option<&'p [u8]>,
    /// The last link to a row.
    row: Option<&'p [u8]>,
    /// Within a `select`, whose texts belong to a form.
    is_muted: bool,
    texts: KeySet,
    hash: u64,
    said: Option<ListTextHash>,
}

impl<'p> List<'p> {
    fn start_tag(&mut self, at: usize) -> Option<usize> {
        let page = self.page;
        let (name, after) = tokens::tag_name(page, at)?;
        let (mut href, mut title) = (None, None);
        let end = tokens::attributes(page, after, |name, value| match name.len() {
            4 if name.eq_ignore_ascii_case(b"href") => href = href.or(Some(&page[value])),
            5 if name.eq_ignore_ascii_case(b"title") => title = title.or(Some(&page[value])),
            8 if name.eq_ignore_ascii_case(b"datetime") => title = title.or(Some(&page[value])),
            _ => {}
        })?;
        let href = href.filter(|_| matches!(name.key, A | AREA));
        self.ends_what_is_open(name.key);
        if name.key == A {
            self.link = href;
        }
        if let Some(href) = href
            // Most references are written as they are read.
            && (std::str::from_utf8(href).is_ok_and(self.is_row) || is_of_record(href, self.encoding, self.is_row))
        {
            self.row = Some(href);
            self.ends_here();
        }
        if let Some(text) = title.and_then(|title| walk::text_of_title(title, href.is_some())) {
            self.text(text);
        }
        match name.key {
            SCRIPT => return tokens::script(page, end.after),
            TITLE => return tokens::raw_text(page, end.after, name.bytes),
            id if walk::is_raw(id) => return tokens::raw_text(page, end.after, name.bytes),
            SELECT => self.is_muted = true,
            _ => {}
        }
        Some(end.after)
    }

    fn end_tag(&mut self, at: usize) -> Option<usize> {
        let (name, after) = tokens::tag_name(self.page, at)?;
        self.ends_what_is_open(name.key);
        match name.key {
            A => self.link = None,
            SELECT => self.is_muted = false,
            _ => {}
        }
        tokens::attributes(self.page, after, |_, _| ()).map(|end| end.after)
    }

    /// Neither a link nor a `select` goes on beyond its cell, and no `select` beyond another field, whether their end tags are written or
    /// not.
    fn ends_what_is_open(&mut self, tag: u64) {
        const INPUT: u64 = key(b"input");
        const TEXTAREA: u64 = key(b"textarea");
        const FORM: u64 = key(b"form");
        match tag {
            TD | TH | TR | TABLE => (self.link, self.is_muted) = (None, false),
            INPUT | TEXTAREA | FORM => self.is_muted = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8]) {
        if text.is_empty() || self.row.is_none() || self.is_muted {
            return;
        }
        let text = words::trimmed(text);
        if text.is_empty() {
            return;
        }
        let value = match words::relative(text, self.encoding) {
            Some(Relative::Age) => return,
            Some(Relative::Day(time)) => time,
            None if words::is_count(text) => return,
            None => xxh3_64(text),
        };
        self.texts.insert(value);
        self.hash = mixed(self.hash, value);
        // Text after the last row's link may not belong to the list.
        if self.link.is_some() && self.link == self.row {
            self.ends_here();
        }
    }

    fn ends_here(&mut self) {
        self.said = Some(ListTextHash { hash: self.hash, texts: self.texts.len() });
    }
}

#[cfg(test)]
mod tests;
