//! Headers and first bytes → torrent, page or discard (ALGORITHMS §1).
//!
//! Runs between `fetch` and `torrent` or `page`, while the body is still arriving, so that an ISO image after a
//! download link costs a few hundred bytes. The body decides. Headers are often wrong, so they only settle what the
//! body leaves open. The URL is never used.
//!
//! Pure: no I/O, no clock, no allocation. It reads at most the first `limits::TORRENT_JUNK_BYTES_MAX` bytes, and only
//! recognises that a body starts like a torrent: `torrent::metainfo` decides when the body is complete.

mod documents;

use documents::{Root, begins_document, begins_listing, begins_markup, root};

use crate::limits::{SNIFF_BYTES, TORRENT_BYTES_MAX, TORRENT_JUNK_BYTES_MAX};
use gleaner_torrent::bencode::{self, Shape};

/// What the headers and the rules say about a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeaderFacts<'a> {
    /// `Content-Type`, raw.
    pub content_type: Option<&'a str>,
    /// `Content-Disposition`, raw.
    pub disposition: Option<&'a str>,
    /// `Content-Length` in bytes.
    pub content_length: Option<u64>,
    /// True if an HTML response is useful: for URLs of the page classes, and for download URLs, whose notice and
    /// login pages must be detected.
    pub accepts_pages: bool,
}

/// What to do with the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Feed more bytes.
    NeedMore,
    /// Read on up to `limits::TORRENT_BYTES_MAX`, then ask `torrent::metainfo`.
    Torrent,
    /// Read on up to `limits::PAGE_BYTES_MAX`, then extract its links.
    Page(PageKind),
    /// Stop reading.
    Discard(DiscardReason),
}

/// Kinds of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    Html,
    /// RSS, Atom, RDF, a sitemap, a JSON Feed, a metalink, or the listing of a folder in XML or JSON.
    Feed,
}

/// Why a body is useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardReason {
    /// No bytes, or only white space.
    Empty,
    /// Not text, with its kind.
    Binary(BinaryKind),
    /// Text that is neither torrent nor page: other JSON, scripts, notes.
    Text,
    /// An HTML page although the headers promised a file: a login or notice page.
    HtmlPosingAsTorrent,
    /// A page although none is wanted.
    PageNotWanted,
    /// Starts like a torrent, but its announced length is over `limits::TORRENT_BYTES_MAX`.
    TooLarge,
}

/// Kinds of binary bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryKind {
    Image,
    Video,
    Audio,
    /// zip, gzip, xz, zstd, 7z, rar, tar, deb and formats built on them.
    Archive,
    DiskImage,
    Program,
    Document,
    Font,
    Unknown,
}

impl DiscardReason {
    /// The name used in logs and counters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Binary(BinaryKind::Image) => "image",
            Self::Binary(BinaryKind::Video) => "video",
            Self::Binary(BinaryKind::Audio) => "audio",
            Self::Binary(BinaryKind::Archive) => "archive",
            Self::Binary(BinaryKind::DiskImage) => "disk_image",
            Self::Binary(BinaryKind::Program) => "program",
            Self::Binary(BinaryKind::Document) => "document",
            Self::Binary(BinaryKind::Font) => "font",
            Self::Binary(BinaryKind::Unknown) => "binary",
            Self::Text => "text",
            Self::HtmlPosingAsTorrent => "html_posing_as_torrent",
            Self::PageNotWanted => "page_not_wanted",
            Self::TooLarge => "too_large",
        }
    }
}

/// What the `Content-Type` and `Content-Disposition` promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// `application/x-bittorrent`, or a file name that ends in `.torrent`.
    Torrent,
    /// text/plain, application/octet-stream and similar types, or any file name.
    File,
    Html,
    Xml,
    JsonFeed,
    /// No type.
    Nothing,
    /// Any other type.
    Other,
}

/// The classification of one response. Feed it until it decides; the decision is final.
#[derive(Clone, Debug)]
pub struct Classifier {
    promise: Promise,
    content_length: Option<u64>,
    accepts_pages: bool,
    decided: Option<Decision>,
}

impl Classifier {
    /// Parses the headers; decides nothing yet.
    #[must_use]
    pub fn new(facts: HeaderFacts<'_>) -> Self {
        Self {
            promise: promise(facts.content_type, facts.disposition),
            content_length: facts.content_length,
            accepts_pages: facts.accepts_pages,
            decided: None,
        }
    }

    /// `so_far` is the whole body received so far; `complete` means that nothing follows. Never returns
    /// [`Decision::NeedMore`] for a complete body or for one longer than `limits::TORRENT_JUNK_BYTES_MAX` plus
    /// `limits::SNIFF_BYTES`.
    pub fn feed(&mut self, so_far: &[u8], complete: bool) -> Decision {
        if let Some(decided) = self.decided {
            return decided;
        }
        let decision = self.decide(so_far, complete);
        if decision != Decision::NeedMore {
            self.decided = Some(decision);
        }
        decision
    }

    fn decide(&self, so_far: &[u8], complete: bool) -> Decision {
        let window = &so_far[..so_far.len().min(TORRENT_JUNK_BYTES_MAX + SNIFF_BYTES)];
        let complete = complete || window.len() == TORRENT_JUNK_BYTES_MAX + SNIFF_BYTES;
        let text = bencode::skip_blank(window);
        if text.is_empty() {
            return if complete { Decision::Discard(DiscardReason::Empty) } else { Decision::NeedMore };
        }
        match bencode::dictionary_shape(text) {
            Shape::Dictionary => return self.torrent(),
            // A key is at most 999 bytes in that shape, so the wait is short.
            Shape::Unknown if !complete => return Decision::NeedMore,
            Shape::Unknown | Shape::Other => {}
        }
        let reach = TORRENT_JUNK_BYTES_MAX + SNIFF_BYTES - (window.len() - text.len());
        match strange_dictionary_shape(text, reach) {
            Shape::Dictionary => return self.torrent(),
            Shape::Unknown if !complete => return Decision::NeedMore,
            Shape::Unknown | Shape::Other => {}
        }
        // A byte order mark or a magic number may be cut off.
        if text.len() < 16 && !complete {
            return Decision::NeedMore;
        }
        if let Some(kind) = magic(window) {
            return Decision::Discard(DiscardReason::Binary(kind));
        }
        if is_utf16(window) {
            return self.utf16(window, complete);
        }
        let sniffed = &text[..text.len().min(SNIFF_BYTES)];
        // A body that starts as a document is one, even if a broken template put zero bytes into it.
        if let Some(zero) = memchr::memchr(0, sniffed).filter(|_| !begins_document(text)) {
            // PHP warnings may come before a torrent whose piece hashes start within the window. Then everything
            // before the first zero byte is text, and ends in the head of a dictionary.
            let head_length = window.len() - text.len() + zero;
            if hides_dictionary(&window[..head_length]) {
                return self.torrent();
            }
            let zeros = window.len() >= SNIFF_BYTES && window[..SNIFF_BYTES].iter().all(|byte| *byte == 0);
            if zeros || complete || text.len() >= SNIFF_BYTES {
                // A disk image starts with an empty boot sector.
                let kind = if zeros { BinaryKind::DiskImage } else { BinaryKind::Unknown };
                return Decision::Discard(DiscardReason::Binary(kind));
            }
            return Decision::NeedMore;
        }
        self.text(window, text, complete)
    }

    /// Text: a page, or junk before a torrent, or neither.
    fn text(&self, window: &[u8], text: &[u8], complete: bool) -> Decision {
        let document = begins_document(text);
        // A page may quote a torrent. But a page is searched, like junk, if a file was promised.
        let may_hide_torrent = !document || matches!(self.promise, Promise::Torrent | Promise::File);
        if may_hide_torrent && hides_dictionary(window) {
            return self.torrent();
        }
        if may_hide_torrent && !complete {
            return Decision::NeedMore;
        }
        if text.starts_with(b"<?xml") || self.promise == Promise::Xml {
            return match root(text, complete) {
                Root::Page(PageKind::Feed) => self.page(PageKind::Feed),
                Root::Page(PageKind::Html) => self.html(),
                Root::Unseen if !complete => Decision::NeedMore,
                // Many programs declare XML and write HTML, some without its root.
                Root::Other | Root::Unseen if self.promise == Promise::Html => self.html(),
                Root::Other | Root::Unseen => Decision::Discard(DiscardReason::Text),
            };
        }
        if begins_listing(text) || (self.promise == Promise::JsonFeed && text.starts_with(b"{")) {
            return self.page(PageKind::Feed);
        }
        if document || begins_markup(text) {
            return self.html();
        }
        match self.promise {
            Promise::Html => self.html(),
            // A text without a type that contains links is a page with a missing type.
            Promise::Nothing if find_ignoring_case(text, b"<a href") => self.html(),
            _ if is_text(text) => Decision::Discard(DiscardReason::Text),
            _ => Decision::Discard(DiscardReason::Binary(BinaryKind::Unknown)),
        }
    }

    fn torrent(&self) -> Decision {
        match self.content_length {
            Some(length) if length > TORRENT_BYTES_MAX as u64 => Decision::Discard(DiscardReason::TooLarge),
            _ => Decision::Torrent,
        }
    }

    fn html(&self) -> Decision {
        match self.promise {
            Promise::Torrent | Promise::File => Decision::Discard(DiscardReason::HtmlPosingAsTorrent),
            _ => self.page(PageKind::Html),
        }
    }

    fn page(&self, kind: PageKind) -> Decision {
        if self.accepts_pages { Decision::Page(kind) } else { Decision::Discard(DiscardReason::PageNotWanted) }
    }

    /// UTF-16 is never a torrent. It is a page if its content or its type says so.
    fn utf16(&self, window: &[u8], complete: bool) -> Decision {
        let mut narrow = [0; SNIFF_BYTES];
        let mut length = 0;
        for byte in window.iter().filter(|byte| byte.is_ascii() && **byte != 0).take(SNIFF_BYTES) {
            narrow[length] = *byte;
            length += 1;
        }
        // A declaration may come before a feed's root. How much is read must not depend on how the body arrives.
        if length < SNIFF_BYTES && !complete {
            return Decision::NeedMore;
        }
        let text = bencode::skip_blank(&narrow[..length]);
        if begins_listing(text) || root(text, true) == Root::Page(PageKind::Feed) {
            return self.page(PageKind::Feed);
        }
        if self.promise == Promise::Html || begins_document(text) || begins_markup(text) {
            return self.html();
        }
        Decision::Discard(DiscardReason::Text)
    }
}

fn promise(content_type: Option<&str>, disposition: Option<&str>) -> Promise {
    let names_file = |disposition: &str| {
        let disposition = disposition.trim_end_matches(['"', '\'', ';', ' ']).to_ascii_lowercase();
        if disposition.ends_with(".torrent") || disposition.contains(".torrent\"") || disposition.contains(".torrent;")
        {
            Some(Promise::Torrent)
        } else if disposition.contains("filename") || disposition.starts_with("attachment") {
            Some(Promise::File)
        } else {
            None
        }
    };
    let from_disposition = disposition.and_then(names_file);
    let is_attachment =
        disposition.is_some_and(|disposition| starts_ignoring_case(disposition.trim().as_bytes(), b"attachment"));
    let essence = content_type.and_then(|value| value.split([';', ',']).next()).unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let from_type = match essence.as_str() {
        "application/x-bittorrent" | "application/bittorrent" | "application/x-torrent" | "application/torrent" => {
            Promise::Torrent
        }
        "text/plain"
        | "application/octet-stream"
        | "application/octetstream"
        | "application/x-octet-stream"
        | "binary/octet-stream"
        | "application/download"
        | "application/x-download"
        | "application/force-download"
        | "application/x-force-download"
        | "application/save"
        | "application/x-msdownload"
        | "application/binary"
        | "application/x-unknown"
        | "unknown/unknown" => Promise::File,
        "text/html" | "application/xhtml+xml" => Promise::Html,
        "application/feed+json" => Promise::JsonFeed,
        "" | "*/*" => Promise::Nothing,
        xml if xml.ends_with("/xml") || xml.ends_with("+xml") => Promise::Xml,
        _ => Promise::Other,
    };
    match (from_type, from_disposition) {
        (Promise::Torrent, _) | (_, Some(Promise::Torrent)) => Promise::Torrent,
        // Some frameworks set a file name for pages: `inline; filename="index.html"`.
        (Promise::Html | Promise::Xml, Some(_)) if !is_attachment => from_type,
        (_, Some(promise)) => promise,
        (promise, None) => promise,
    }
}

/// A dictionary whose first key no program would write: too long, not printable, or with leading zeros in its length.
/// libtorrent accepts it, so it is read on if everything up to the value fits. `reach` is how much of the text is
/// ever read: only a key that ends beyond it is accepted by its length alone; otherwise the verdict would depend on
/// how the body arrives.
fn strange_dictionary_shape(text: &[u8], reach: usize) -> Shape {
    let Some((b'd', rest)) = text.split_first() else {
        return Shape::Other;
    };
    let Some(colon) = rest.iter().take(17).position(|byte| *byte == b':') else {
        return Shape::Other;
    };
    let Some(length) = std::str::from_utf8(&rest[..colon]).ok().and_then(|digits| digits.parse::<usize>().ok()) else {
        return Shape::Other;
    };
    if length > TORRENT_BYTES_MAX {
        return Shape::Other;
    }
    let first = colon + 1 + length;
    match rest.get(first) {
        Some(b'0'..=b'9' | b'd' | b'l' | b'i') => Shape::Dictionary,
        Some(_) => Shape::Other,
        None if first + 1 >= reach && rest.len() > 16 => Shape::Dictionary,
        None => Shape::Unknown,
    }
}

/// True if a dictionary starts after junk. Only keys that torrents start with count here: prose and scripts contain
/// text like `d1:a` by chance.
fn hides_dictionary(window: &[u8]) -> bool {
    const FIRST_KEYS: [&[u8]; 16] = [
        b"announce",
        b"announce-list",
        b"azureus_properties",
        b"comment",
        b"comment.utf-8",
        b"created by",
        b"created by.utf-8",
        b"creation date",
        b"dht_backup_enable",
        b"encoding",
        b"errors",
        b"httpseeds",
        b"info",
        b"nodes",
        b"publisher",
        b"url-list",
    ];
    let junk_end = window.len().min(TORRENT_JUNK_BYTES_MAX + 1);
    memchr::memchr_iter(b'd', &window[..junk_end]).any(|at| {
        let bytes = &window[at..];
        let known_key = || {
            let key = bytes.iter().position(|byte| *byte == b':').map(|colon| &bytes[colon + 1..]);
            key.is_some_and(|key| FIRST_KEYS.iter().any(|first| key.starts_with(first)))
        };
        bencode::dictionary_shape(bytes) == Shape::Dictionary && known_key()
    })
}

/// Magic numbers of other files that sites offer beside torrents.
fn magic(window: &[u8]) -> Option<BinaryKind> {
    use BinaryKind::{Archive, Audio, DiskImage, Document, Font, Image, Program, Video};
    const FRONT: [(&[u8], BinaryKind); 36] = [
        (b"\x89PNG\r\n\x1a\n", Image),
        (b"\xff\xd8\xff", Image),
        (b"GIF87a", Image),
        (b"GIF89a", Image),
        (b"\x00\x00\x01\x00", Image),
        (b"II*\x00", Image),
        (b"MM\x00*", Image),
        (b"8BPS", Image),
        (b"\x1a\x45\xdf\xa3", Video),
        (b"\x00\x00\x01\xba", Video),
        (b"\x00\x00\x01\xb3", Video),
        (b"FLV\x01", Video),
        (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Video),
        (b"ID3", Audio),
        (b"\xff\xfb", Audio),
        (b"fLaC", Audio),
        (b"OggS", Audio),
        (b"MThd", Audio),
        (b"PK\x03\x04", Archive),
        (b"PK\x05\x06", Archive),
        (b"\x1f\x8b", Archive),
        (b"BZh", Archive),
        (b"\xfd7zXZ\x00", Archive),
        (b"7z\xbc\xaf\x27\x1c", Archive),
        (b"Rar!\x1a\x07", Archive),
        (b"\x28\xb5\x2f\xfd", Archive),
        (b"!<arch>\n", Archive),
        (b"\xed\xab\xee\xdb", Archive),
        (b"QFI\xfb", DiskImage),
        (b"KDMV", DiskImage),
        (b"MZ", Program),
        (b"\x7fELF", Program),
        (b"\xca\xfe\xba\xbe", Program),
        (b"%PDF-", Document),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Document),
        (b"wOF", Font),
    ];
    if let Some((_, kind)) = FRONT.iter().find(|(magic, _)| window.starts_with(magic)) {
        return Some(*kind);
    }
    match (window.get(..4), window.get(4..8), window.get(8..12)) {
        (_, Some(b"ftyp"), Some(b"avif" | b"heic" | b"mif1")) => Some(Image),
        (_, Some(b"ftyp"), Some(b"M4A ")) => Some(Audio),
        (_, Some(b"ftyp"), _) => Some(Video),
        (Some(b"RIFF"), _, Some(b"WEBP")) => Some(Image),
        (Some(b"RIFF"), _, Some(b"AVI ")) => Some(Video),
        (Some(b"RIFF"), _, Some(b"WAVE")) => Some(Audio),
        _ if window.get(257..262) == Some(b"ustar") => Some(Archive),
        // A boot sector: hybrid ISO images of Linux distributions start with one.
        _ if window.get(510..512) == Some(b"\x55\xaa") && window[..510].contains(&0) => Some(DiskImage),
        _ => None,
    }
}

fn is_utf16(window: &[u8]) -> bool {
    matches!(window, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'<', 0, b'!' | b'h' | b'H' | b'?', 0, ..])
        || matches!(window, [0, b'<', 0, b'!' | b'h' | b'H' | b'?', ..])
}

fn starts_ignoring_case(text: &[u8], front: &[u8]) -> bool {
    text.get(..front.len()).is_some_and(|text| text.eq_ignore_ascii_case(front))
}

fn find_ignoring_case(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

fn is_text(text: &[u8]) -> bool {
    let sniffed = &text[..text.len().min(SNIFF_BYTES)];
    !sniffed.iter().any(|byte| matches!(byte, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f))
}

#[cfg(test)]
mod tests;
