//! Items of a feed that tell a torrent's infohash, some of them nothing else: `torrent:infoHash`, `nyaa:infoHash`,
//! `torznab:attr`. Each is a magnet with the item's title.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::push;
use crate::limits::{INFOHASHES_PER_ITEM_MAX, TITLE_BYTES_MAX};
use crate::links::PageLinks;

/// True for the elements that are items, of RSS and of Atom.
pub(super) fn is_item(element: &str) -> bool {
    matches!(element, "item" | "entry")
}

/// What an item has told so far.
#[derive(Default)]
pub(super) struct Item {
    title: String,
    infohashes: Vec<String>,
}

impl Item {
    pub(super) fn title(&mut self, title: &str) {
        if self.title.is_empty() && title.len() <= TITLE_BYTES_MAX {
            title.clone_into(&mut self.title);
        }
    }

    pub(super) fn infohash(&mut self, text: &str) {
        let text = text.trim();
        if is_infohash(text) && self.infohashes.len() < INFOHASHES_PER_ITEM_MAX {
            self.infohashes.push(text.to_owned());
        }
    }

    /// Ends the item and begins the next.
    pub(super) fn end(&mut self, found: &mut PageLinks<'static>) {
        let title = std::mem::take(&mut self.title);
        for infohash in self.infohashes.drain(..) {
            let mut magnet = format!("magnet:?xt=urn:btih:{infohash}");
            if !title.is_empty() {
                magnet.push_str("&dn=");
                magnet.extend(utf8_percent_encode(&title, NON_ALPHANUMERIC));
            }
            push(&magnet, None, found);
        }
    }
}

/// 40 hex digits, or 32 letters and digits of base32 (RFC 4648).
fn is_infohash(text: &str) -> bool {
    match text.len() {
        40 => text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        32 => text.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'2'..=b'7')),
        _ => false,
    }
}
