//! The texts of a list's rows, independent of their links: some sites rename all links at each view.

use xxhash_rust::xxh3::xxh3_64;

use super::walk::{self, What, mixed};
use super::words::{self, Relative};
use super::{KeySet, Matters, Page, bytes, is_of_record};
use crate::limits::PAGE_BYTES_MAX;

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
    let (mut texts, mut hash, mut said) = (KeySet::default(), 0x7361_6964, None);
    let mut row: Option<&[u8]> = None;
    walk::walk(&body, |atom, _| {
        match atom.what {
            What::Link if is_of_record(atom.bytes, encoding, is_row) => row = Some(atom.bytes),
            What::Text if row.is_some() => {
                let value = match words::relative(atom.bytes, encoding) {
                    Some(Relative::Age) => return,
                    Some(Relative::Day(time)) => time,
                    None if words::is_count(atom.bytes) => return,
                    None => xxh3_64(atom.bytes),
                };
                texts.insert(value);
                hash = mixed(hash, value);
                // Text after the last row's link may not belong to the list.
                if atom.link.is_none() || atom.link != row {
                    return;
                }
            }
            _ => return,
        }
        said = Some(ListTextHash { hash, texts: texts.len() });
    });
    said
}
