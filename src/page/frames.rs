//! Tracks whether a page is a frameset (HTML §13.2.6.4.20–21 and the frameset-ok flag): only there frames are links,
//! and nothing else is.

use super::tokens::key;

/// The state of this decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frames {
    /// Nothing visible yet: a `frameset` would still count (the frameset-ok flag is set).
    Undecided,
    /// An ordinary page; `frameset` and `frame` tags are ignored.
    Body,
    /// Within this many framesets.
    Inside(u32),
    /// After the outermost frameset's end.
    After,
}

impl Frames {
    /// True if tags other than `frameset`, `frame` and `noframes` are ignored.
    #[inline]
    pub(super) fn rules(self) -> bool {
        matches!(self, Self::Inside(_) | Self::After)
    }

    /// Text: unless it is white space (or NUL, which the tree drops) the page has a body.
    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) {
        if *self == Self::Undecided && text.iter().any(|&byte| !super::tokens::is_space(byte) && byte != 0) {
            *self = Self::Body;
        }
    }

    /// A start tag in HTML content: those listed in the standard clear the flag.
    #[inline]
    pub(super) fn start_tag(&mut self, name: u64) {
        if *self == Self::Undecided && CLEARS_FRAMESET_OK.contains(&name) {
            *self = Self::Body;
        }
    }

    pub(super) fn open_frameset(&mut self) {
        *self = match *self {
            Self::Undecided => Self::Inside(1),
            Self::Inside(depth) => Self::Inside(depth.saturating_add(1)),
            other => other,
        };
    }

    pub(super) fn close_frameset(&mut self) {
        *self = match *self {
            Self::Inside(1) => Self::After,
            Self::Inside(depth) => Self::Inside(depth - 1),
            other => other,
        };
    }
}

/// Start tags that set frameset-ok to "not ok". `input` only if it is not hidden, which its caller checks.
const CLEARS_FRAMESET_OK: [u64; 24] = [
    key(b"body"),
    key(b"template"),
    key(b"pre"),
    key(b"listing"),
    key(b"li"),
    key(b"dd"),
    key(b"dt"),
    key(b"button"),
    key(b"applet"),
    key(b"marquee"),
    key(b"object"),
    key(b"table"),
    key(b"area"),
    key(b"br"),
    key(b"embed"),
    key(b"img"),
    key(b"image"),
    key(b"keygen"),
    key(b"wbr"),
    key(b"hr"),
    key(b"textarea"),
    key(b"xmp"),
    key(b"iframe"),
    key(b"select"),
];
