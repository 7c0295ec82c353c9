//! How a torrent is linked and sent. This depends only on its number, by
//! counters of different periods, so that 100 torrents include every kind and all combinations occur.

use super::torrents::{FirstKey, Version};

/// The only link that leads to a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// An `<a href>` whose token is new at each view.
    Token,
    /// The same inside `<noscript>`; with scripts a countdown would reveal it.
    Noscript,
    /// `thunder://`
    Thunder,
    /// `flashget://`
    Flashget,
    /// `flashget://…&tag`
    FlashgetTagged,
    /// `qqdl://`
    Qqdl,
    /// There is no torrent: `magnet:` only.
    Magnet,
}

/// The part of the site that lists a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// The index, and one category.
    Main,
    /// The GBK section.
    Gbk,
    /// The only page with a `<base href>`.
    Archive,
    /// Disallowed by robots.txt.
    Private,
}

/// Response headers and bytes around a metainfo file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Delivery {
    /// None: the response has no `Content-Type`.
    pub content_type: Option<&'static str>,
    /// With `Content-Disposition: attachment; filename="….torrent"`.
    pub disposition: bool,
    /// Bytes before the dictionary.
    pub before: &'static [u8],
    /// One newline after the dictionary.
    pub newline_after: bool,
    pub first_key: FirstKey,
}

/// UTF-8 byte order mark.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Blank lines, as a script with a newline before `<?php` sends them.
pub(super) const BLANK_LINES: &[u8] = b"\r\n\r\n\n";

/// Output of a faulty script before the torrent (ALGORITHMS §1).
pub(super) const PHP_WARNING: &[u8] =
    b"<br />\n<b>Warning</b>:  Cannot modify header information - headers already sent in \
    <b>/var/www/demo/download.php</b> on line <b>31</b><br />\n";

/// Torrents that the page with the `<base href>` can list.
pub(super) const ARCHIVE_MAX: u64 = 60;

impl Delivery {
    pub(super) fn of(number: u64) -> Self {
        let content_type = match number % 9 {
            0..=3 => Some("application/x-bittorrent"),
            4 => Some("text/plain"),
            5 => Some("application/octet-stream"),
            6 => None,
            7 => Some("text/plain; charset=utf-8"),
            _ => Some("application/x-bittorrent; charset=utf-8"),
        };
        let before: &[u8] = match number % 14 {
            // Among the numbers with `application/x-bittorrent`.
            _ if number % 90 == 27 => PHP_WARNING,
            3 => BOM,
            8 => BLANK_LINES,
            _ => b"",
        };
        let first_key = match number % 11 {
            0 | 5 => FirstKey::Info,
            2 | 7 => FirstKey::AnnounceList,
            9 => FirstKey::CreatedBy,
            _ => FirstKey::Announce,
        };
        Self { content_type, disposition: number % 5 < 3, before, newline_after: number % 8 == 2, first_key }
    }
}

/// Version and whether it is a single file.
pub(super) fn version(number: u64) -> (Version, bool) {
    match number % 13 {
        0..=4 => (Version::V1, true),
        5..=8 => (Version::V1, false),
        9 => (Version::V2, true),
        10 => (Version::V2, false),
        11 => (Version::Hybrid, true),
        _ => (Version::Hybrid, false),
    }
}

/// Where torrent `number` is listed and how its detail page links to it.
pub(super) fn area_and_link(number: u64) -> (Area, Link) {
    match number % 100 {
        0 => (Area::Gbk, Link::Thunder),
        1 => (Area::Gbk, Link::Qqdl),
        2..=9 => (Area::Gbk, Link::Token),
        10 | 11 if number / 50 < ARCHIVE_MAX => (Area::Archive, Link::Token),
        12 | 13 => (Area::Main, Link::Thunder),
        14 => (Area::Main, Link::Flashget),
        15 => (Area::Main, Link::FlashgetTagged),
        16 => (Area::Main, Link::Qqdl),
        17 => (Area::Main, Link::Noscript),
        _ => (Area::Main, Link::Token),
    }
}

/// True for torrents whose rows link the address from before the last redesign, `/t/123`, which redirects.
pub(super) fn has_old_address(number: u64) -> bool {
    matches!(number % 100, 18..=20)
}

/// True for torrents that have a magnet link in addition to their download.
pub(super) fn has_magnet(number: u64) -> bool {
    number % 4 == 1
}
