//! Tracks whether markup is in SVG or MathML (HTML §13.2.6.5): there `title`, `style` and `script` contain markup,
//! and CDATA sections exist.
//!
//! Keeps the stack of open elements from the outermost `svg` or `math` inwards, and nothing outside of it: most pages
//! never have one. An end tag of a common HTML element that matches nothing on the stack is assumed to close an
//! element outside, and with it the foreign content; the tree would ignore it if no such element is open.

use std::ops::Range;

use super::tokens::{Name, key};
use crate::limits::FOREIGN_DEPTH_MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    Html,
    Svg,
    MathMl,
}

struct OpenElement {
    name: u64,
    space: Space,
    point: Point,
}

/// Whether an element's start-tag children are HTML again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Point {
    No,
    /// SVG `foreignObject`, `desc`, `title`; MathML `annotation-xml` with an HTML encoding.
    Html,
    /// MathML `mi`, `mo`, `mn`, `ms`, `mtext`: HTML except for `mglyph` and `malignmark`.
    Text,
    /// MathML `annotation-xml`: HTML only for `svg`.
    Annotation,
}

/// The stack of open elements from the outermost foreign element inwards.
#[derive(Default)]
pub(super) struct Foreign {
    stack: Vec<OpenElement>,
}

/// Relevant attributes of a start tag.
#[derive(Clone, Copy, Default)]
pub(super) struct Hints {
    /// It has `color`, `face` or `size`: a `font` with one of these breaks out.
    pub font: bool,
    /// `encoding` is `text/html` or `application/xhtml+xml`.
    pub html_encoding: bool,
}

impl Hints {
    /// Records one attribute.
    pub(super) fn see(&mut self, page: &[u8], name: &[u8], value: Range<usize>) {
        match name.len() {
            4 | 5 => {
                let named = |known: &[u8]| name.eq_ignore_ascii_case(known);
                self.font |= named(b"color") || named(b"face") || named(b"size");
            }
            8 if name.eq_ignore_ascii_case(b"encoding") => {
                let value = &page[value];
                self.html_encoding |=
                    value.eq_ignore_ascii_case(b"text/html") || value.eq_ignore_ascii_case(b"application/xhtml+xml");
            }
            _ => {}
        }
    }
}

impl Foreign {
    /// True outside of any foreign element, where nothing needs to be tracked.
    #[inline]
    pub(super) fn is_outside(&self) -> bool {
        self.stack.is_empty()
    }

    /// True if the innermost open element is foreign: CDATA sections are allowed here.
    pub(super) fn innermost_is_foreign(&self) -> bool {
        self.stack.last().is_some_and(|open| open.space != Space::Html)
    }

    /// A start tag: true if its element is foreign, false if it is HTML. Closes the elements that it breaks out of,
    /// and opens its own. Outside, only `svg` and `math` need to be passed.
    pub(super) fn start_tag(&mut self, name: Name<'_>, self_closing: bool, hints: Hints) -> bool {
        if self.reads_as_html(name) {
            self.open_in_html(name, self_closing);
            return false;
        }
        if BREAKS_OUT.contains(&name.key) || name.is(b"blockquote") || (name.key == key(b"font") && hints.font) {
            while self.stack.last().is_some_and(|open| open.space != Space::Html && !open.is_integration_point()) {
                self.stack.pop();
            }
            self.open_in_html(name, self_closing);
            return false;
        }
        if !self_closing {
            let space = self.stack.last().map_or(Space::Html, |open| open.space);
            self.push(OpenElement { name: identity(name), space, point: point(name, space, hints) });
        }
        true
    }

    /// An end tag.
    pub(super) fn end_tag(&mut self, name: Name<'_>) {
        let Some(innermost) = self.stack.last() else {
            return;
        };
        if matches!(name.key, P | BR) && innermost.space != Space::Html {
            while self.stack.last().is_some_and(|open| open.space != Space::Html && !open.is_integration_point()) {
                self.stack.pop();
            }
            return;
        }
        let wanted = identity(name);
        let from_html = innermost.space == Space::Html;
        for at in (0..self.stack.len()).rev() {
            let open = &self.stack[at];
            if from_html && open.space != Space::Html && open.is_integration_point() {
                // Such elements are "special": end tags of HTML elements do not match beyond them.
                return;
            }
            if open.name == wanted && (open.space == Space::Html) == from_html {
                self.stack.truncate(at);
                return;
            }
        }
        // Nothing here matches. If it closes an HTML element outside, it closes everything within that element as
        // well, unless an integration point prevents it.
        let closes_outside = BREAKS_OUT.contains(&name.key) || CLOSES_OUTSIDE.contains(&name.key);
        if closes_outside && name.key != BODY && !self.stack.iter().any(OpenElement::is_integration_point) {
            self.stack.clear();
        }
    }

    fn reads_as_html(&self, name: Name<'_>) -> bool {
        let Some(open) = self.stack.last() else {
            return true;
        };
        open.space == Space::Html
            || match open.point {
                Point::No => false,
                Point::Html => true,
                Point::Text => !name.is(b"mglyph") && !name.is(b"malignmark"),
                Point::Annotation => name.key == SVG,
            }
    }

    fn open_in_html(&mut self, name: Name<'_>, self_closing: bool) {
        let space = match name.key {
            SVG => Space::Svg,
            MATH => Space::MathMl,
            _ => Space::Html,
        };
        if space == Space::Html {
            let outside = self.stack.is_empty();
            let identity = identity(name);
            let repeats = self.stack.last().is_some_and(|open| open.name == identity);
            if outside || HOLDS_NO_MARKUP.contains(&name.key) || (repeats && CLOSES_ITSELF.contains(&name.key)) {
                return;
            }
        } else if self_closing {
            return;
        }
        self.push(OpenElement { name: identity(name), space, point: Point::No });
    }

    fn push(&mut self, open: OpenElement) {
        if self.stack.len() == FOREIGN_DEPTH_MAX {
            self.stack.clear();
        } else {
            self.stack.push(open);
        }
    }
}

impl OpenElement {
    fn is_integration_point(&self) -> bool {
        matches!(self.point, Point::Html | Point::Text)
    }
}

fn point(name: Name<'_>, space: Space, hints: Hints) -> Point {
    match space {
        Space::Svg if name.is(b"foreignobject") || matches!(name.key, DESC | TITLE) => Point::Html,
        Space::MathMl if name.is(b"annotation-xml") && hints.html_encoding => Point::Html,
        Space::MathMl if name.is(b"annotation-xml") => Point::Annotation,
        Space::MathMl if matches!(name.key, MI | MO | MN | MS | MTEXT) => Point::Text,
        _ => Point::No,
    }
}

/// A number for a name of any length: the key of a short one, a hash (FNV-1a) of a long one.
fn identity(name: Name<'_>) -> u64 {
    if name.key != 0 {
        return name.key;
    }
    name.bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}

const SVG: u64 = key(b"svg");
const MATH: u64 = key(b"math");
const P: u64 = key(b"p");
const BODY: u64 = key(b"body");
const BR: u64 = key(b"br");
const DESC: u64 = key(b"desc");
const TITLE: u64 = key(b"title");
const MI: u64 = key(b"mi");
const MO: u64 = key(b"mo");
const MN: u64 = key(b"mn");
const MS: u64 = key(b"ms");
const MTEXT: u64 = key(b"mtext");

/// Start tags that end foreign content (§13.2.6.5), except `blockquote` and `font`.
const BREAKS_OUT: [u64; 43] = [
    key(b"b"),
    key(b"big"),
    key(b"body"),
    key(b"br"),
    key(b"center"),
    key(b"code"),
    key(b"dd"),
    key(b"div"),
    key(b"dl"),
    key(b"dt"),
    key(b"em"),
    key(b"embed"),
    key(b"h1"),
    key(b"h2"),
    key(b"h3"),
    key(b"h4"),
    key(b"h5"),
    key(b"h6"),
    key(b"head"),
    key(b"hr"),
    key(b"i"),
    key(b"img"),
    key(b"li"),
    key(b"listing"),
    key(b"menu"),
    key(b"meta"),
    key(b"nobr"),
    key(b"ol"),
    key(b"p"),
    key(b"pre"),
    key(b"ruby"),
    key(b"s"),
    key(b"small"),
    key(b"span"),
    key(b"strong"),
    key(b"strike"),
    key(b"sub"),
    key(b"sup"),
    key(b"table"),
    key(b"tt"),
    key(b"u"),
    key(b"ul"),
    key(b"var"),
];

/// Elements other than [`BREAKS_OUT`] that may contain an unclosed `svg`.
const CLOSES_OUTSIDE: [u64; 21] = [
    key(b"a"),
    key(b"td"),
    key(b"th"),
    key(b"tr"),
    key(b"tbody"),
    key(b"thead"),
    key(b"tfoot"),
    key(b"caption"),
    key(b"font"),
    key(b"form"),
    key(b"label"),
    key(b"button"),
    key(b"section"),
    key(b"article"),
    key(b"header"),
    key(b"footer"),
    key(b"nav"),
    key(b"main"),
    key(b"aside"),
    key(b"figure"),
    key(b"template"),
];

/// HTML elements that are never on the stack at the next tag: void ones, and those whose text the scanner skips
/// together with their end tag.
const HOLDS_NO_MARKUP: [u64; 29] = [
    key(b"area"),
    key(b"base"),
    key(b"basefont"),
    key(b"bgsound"),
    key(b"br"),
    key(b"col"),
    key(b"embed"),
    key(b"frame"),
    key(b"hr"),
    key(b"image"),
    key(b"img"),
    key(b"input"),
    key(b"keygen"),
    key(b"link"),
    key(b"meta"),
    key(b"param"),
    key(b"source"),
    key(b"track"),
    key(b"wbr"),
    key(b"html"),
    key(b"body"),
    key(b"title"),
    key(b"textarea"),
    key(b"style"),
    key(b"script"),
    key(b"xmp"),
    key(b"iframe"),
    key(b"noembed"),
    key(b"noframes"),
];

/// HTML elements that a start tag of the same name closes.
const CLOSES_ITSELF: [u64; 8] =
    [key(b"p"), key(b"li"), key(b"dd"), key(b"dt"), key(b"option"), key(b"tr"), key(b"td"), key(b"a")];
