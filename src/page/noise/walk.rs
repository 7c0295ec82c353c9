//! A page as a sequence of atoms: its texts, links and inline scripts in document order, each with its slot.
//!
//! A slot is the path of elements above an atom, as a hash: names, ids and classes without their digits, so that all
//! rows of a list have the same slots, plus the column for table cells, because tables seldom name theirs. It is
//! built from the token stream with a bounded stack. It may differ from html5ever's tree for misnested tags, but it
//! is the same for the same bytes, and comparing two visits of a page needs no more.
//!
//! The content of forms (options, values, hidden tokens), comments and styles are not atoms. Linear in the page, no
//! recursion.

use std::ops::Range;

use memchr::{memchr, memmem};
use xxhash_rust::xxh3::xxh3_64;

use super::super::near::near;
use super::super::tokens::{self, key};
use super::words::trimmed;
use crate::limits::NOISE_DEPTH_MAX;

/// The kind of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Text, or a `title` or `datetime` that people or machines read in its place, without outer spaces.
    Text,
    /// The reference of an `a`, `area`, `iframe` or `frame`, or a magnet link anywhere in an attribute; as written.
    Link,
    /// An inline script.
    Script,
}

/// A piece of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom<'p> {
    pub what: What,
    pub slot: u64,
    pub bytes: &'p [u8],
    /// The reference of the `a` around a text.
    pub link: Option<&'p [u8]>,
    /// It is in the page's heading: `title` or `h1`.
    pub is_heading: bool,
}

/// An open element.
struct Frame<'p> {
    name: u64,
    slot: u64,
    link: Option<&'p [u8]>,
    is_heading: bool,
    /// Number of cells opened in it.
    cells: u16,
    /// Offset of its tag name.
    at: usize,
}

/// The open elements, outermost first.
pub(super) struct Stack<'p> {
    page: &'p [u8],
    frames: Vec<Frame<'p>>,
    /// Number of open elements beyond the cap.
    beyond: usize,
    /// Stack depth at the outermost `select`, whose texts belong to a form.
    muted: Option<usize>,
}

/// Frames that an end tag or an implied end searches.
const LOOK: usize = 64;

pub(super) const A: u64 = key(b"a");
pub(super) const AREA: u64 = key(b"area");
const IFRAME: u64 = key(b"iframe");
const FRAME: u64 = key(b"frame");
pub(super) const SCRIPT: u64 = key(b"script");
pub(super) const TITLE: u64 = key(b"title");
const H1: u64 = key(b"h1");
pub(super) const SELECT: u64 = key(b"select");
const P: u64 = key(b"p");
const LI: u64 = key(b"li");
const UL: u64 = key(b"ul");
const OL: u64 = key(b"ol");
const DL: u64 = key(b"dl");
const DT: u64 = key(b"dt");
const DD: u64 = key(b"dd");
pub(super) const TD: u64 = key(b"td");
pub(super) const TH: u64 = key(b"th");
pub(super) const TR: u64 = key(b"tr");
pub(super) const TABLE: u64 = key(b"table");
const TBODY: u64 = key(b"tbody");
const THEAD: u64 = key(b"thead");
const TFOOT: u64 = key(b"tfoot");
const PLAIN_TEXT: &[u8] = b"plaintext";

/// Void elements: those of HTML §13.1.2, with `frame` and `param`.
const fn is_void(name: u64) -> bool {
    const BASE: u64 = key(b"base");
    const BR: u64 = key(b"br");
    const COL: u64 = key(b"col");
    const EMBED: u64 = key(b"embed");
    const HR: u64 = key(b"hr");
    const IMG: u64 = key(b"img");
    const INPUT: u64 = key(b"input");
    const LINK: u64 = key(b"link");
    const META: u64 = key(b"meta");
    const PARAM: u64 = key(b"param");
    const SOURCE: u64 = key(b"source");
    const TRACK: u64 = key(b"track");
    const WBR: u64 = key(b"wbr");
    matches!(
        name,
        AREA | BASE | BR | COL | EMBED | FRAME | HR | IMG | INPUT | LINK | META | PARAM | SOURCE | TRACK | WBR
    )
}

/// Elements whose content is invisible raw text.
pub(super) const fn is_raw(name: u64) -> bool {
    const STYLE: u64 = key(b"style");
    const TEXTAREA: u64 = key(b"textarea");
    const XMP: u64 = key(b"xmp");
    const NOEMBED: u64 = key(b"noembed");
    const NOFRAMES: u64 = key(b"noframes");
    matches!(name, STYLE | TEXTAREA | XMP | NOEMBED | NOFRAMES | IFRAME)
}

/// The open elements that an element of this name closes, and those that bound the search.
const fn implied_end(opened: u64) -> Option<(&'static [u64], &'static [u64])> {
    const DIV: u64 = key(b"div");
    const H2: u64 = key(b"h2");
    const H3: u64 = key(b"h3");
    const PRE: u64 = key(b"pre");
    Some(match opened {
        A => (&[A], &[TD, TH, TABLE]),
        LI => (&[LI], &[UL, OL, TABLE]),
        DT | DD => (&[DT, DD], &[DL, TABLE]),
        TD | TH => (&[TD, TH], &[TR, TABLE]),
        TR => (&[TR], &[TABLE]),
        TBODY | THEAD | TFOOT => (&[TBODY, THEAD, TFOOT], &[TABLE]),
        P | UL | OL | TABLE | DIV | H1 | H2 | H3 | PRE => (&[P], &[TD, TABLE, LI, DIV]),
        _ => return None,
    })
}

/// Distinguishes the slot of an attribute's text from that of the element itself.
const OF_ATTRIBUTE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Minimum digits for the `title` of an element that is not a link to count as text: a full time has eight.
const TIME_DIGITS: usize = 6;

/// Shortest attribute that may hold a magnet link.
const MAGNET_BYTES_MIN: usize = 28;

/// The finaliser of MurmurHash3 over both.
#[inline]
pub(super) fn mixed(a: u64, b: u64) -> u64 {
    let mut value = a.rotate_left(23) ^ b.wrapping_mul(0x9fb2_1c65_1e98_df25);
    value ^= value >> 32;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ value >> 29
}

/// Passes on every atom with the elements above it; returns the number of tags.
pub(super) fn walk<'p>(page: &'p [u8], mut each: impl FnMut(&Atom<'p>, &Stack<'p>)) -> usize {
    let mut stack = Stack { page, frames: Vec::with_capacity(32), beyond: 0, muted: None };
    let (mut at, mut tags) = (0, 0);
    loop {
        let open = markup_after(page, at);
        stack.text(&page[at..open], &mut each);
        let Some(begins) = page.get(open + 1) else { return tags };
        tags += 1;
        let after = match begins {
            b'!' => tokens::markup_declaration(page, open + 2, false),
            b'?' => tokens::bogus_comment(page, open + 1),
            b'/' => stack.end_tag(open + 2),
            _ => stack.start_tag(open + 1, &mut each),
        };
        // The page ended inside the markup: there are no more atoms.
        let Some(after) = after else { return tags };
        at = after;
    }
}

/// Offset of the `<` of the next markup from `at` on; the page's length if there is none.
#[inline]
pub(super) fn markup_after(page: &[u8], mut at: usize) -> usize {
    while let Some(open) = near(b'<', &page[at..]) {
        at += open;
        if page.get(at + 1).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?')) {
            return at;
        }
        at += 1;
    }
    page.len()
}

/// The attributes of a tag that atoms and slots use.
#[derive(Default)]
struct Wanted {
    reference: Option<Range<usize>>,
    title: Option<Range<usize>>,
    magnet: Option<Range<usize>>,
    names: u64,
}

impl<'p> Stack<'p> {
    /// The path of the current atom for display: `div#footer > p.online > a`, only the innermost elements if it is
    /// long.
    pub(super) fn path(&self) -> String {
        let shown = self.frames.len().saturating_sub(6);
        let mut path = if shown > 0 { "… > ".to_owned() } else { String::new() };
        for (place, frame) in self.frames.iter().skip(shown).enumerate() {
            if place > 0 {
                path.push_str(" > ");
            }
            path.push_str(&self.label(frame.at));
        }
        path
    }

    fn label(&self, at: usize) -> String {
        let Some((name, after)) = tokens::tag_name(self.page, at) else { return String::new() };
        let mut label = String::from_utf8_lossy(name.bytes).to_ascii_lowercase();
        tokens::attributes(self.page, after, |name, value| {
            let mark = match name {
                b"id" => '#',
                b"class" => '.',
                _ => return,
            };
            let words = String::from_utf8_lossy(&self.page[value]).into_owned();
            for word in words.split_ascii_whitespace().take(2) {
                label.push(mark);
                label.extend(word.chars().take(24));
            }
        });
        label
    }

    fn atom(&self, what: What, bytes: &'p [u8]) -> Atom<'p> {
        match self.frames.last() {
            Some(&Frame { slot, link, is_heading, .. }) => Atom { what, slot, bytes, link, is_heading },
            None => Atom { what, slot: 0, bytes, link: None, is_heading: false },
        }
    }

    fn text(&self, text: &'p [u8], each: &mut impl FnMut(&Atom<'p>, &Self)) {
        if text.is_empty() || self.muted.is_some() {
            return;
        }
        let bytes = trimmed(text);
        if bytes.is_empty() {
            return;
        }
        each(&self.atom(What::Text, bytes), self);
    }

    fn start_tag(&mut self, at: usize, each: &mut impl FnMut(&Atom<'p>, &Self)) -> Option<usize> {
        let page = self.page;
        let (name, after) = tokens::tag_name(page, at)?;
        // Names beyond eight bytes have no key.
        let id = if name.key == 0 { xxh3_64(name.bytes) } else { name.key };
        let mut wanted = Wanted::default();
        let end = tokens::attributes(page, after, |name, value| wanted.see(page, id, name, value))?;
        let link = match id {
            A | AREA | IFRAME | FRAME => wanted.reference.clone().map(|range| &page[range]),
            _ => None,
        };
        self.implied_ends(id);
        let is_void = is_void(id) || end.self_closing;
        let slot = self.slot(id, wanted.names);
        self.push(Frame { name: id, slot, link, is_heading: matches!(id, TITLE | H1), cells: 0, at });
        self.attributes(&wanted, link, each);
        let after = if id == SCRIPT {
            let after = tokens::script(page, end.after);
            self.script(&page[end.after..after.unwrap_or(page.len())], each);
            after?
        } else if id == TITLE {
            let after = tokens::raw_text(page, end.after, name.bytes)?;
            let text = &page[end.after..after];
            self.text(&text[..memmem::rfind(text, b"</").unwrap_or(text.len())], each);
            after
        } else if is_raw(id) {
            tokens::raw_text(page, end.after, name.bytes)?
        } else if name.is(PLAIN_TEXT) {
            self.text(&page[end.after..], each);
            return None;
        } else {
            if id == SELECT && self.muted.is_none() && !is_void {
                self.muted = Some(self.frames.len());
            }
            if is_void {
                self.pop();
            }
            return Some(end.after);
        };
        self.pop();
        Some(after)
    }

    fn attributes(&self, wanted: &Wanted, link: Option<&'p [u8]>, each: &mut impl FnMut(&Atom<'p>, &Self)) {
        for reference in wanted.magnet.clone().map(|range| &self.page[range]).into_iter().chain(link) {
            each(&self.atom(What::Link, reference), self);
        }
        let title = wanted.title.clone().and_then(|title| text_of_title(&self.page[title], link.is_some()));
        if let Some(bytes) = title.filter(|_| self.muted.is_none()) {
            let atom = self.atom(What::Text, bytes);
            each(&Atom { slot: atom.slot ^ OF_ATTRIBUTE, ..atom }, self);
        }
    }

    fn script(&self, text: &'p [u8], each: &mut impl FnMut(&Atom<'p>, &Self)) {
        let text = &text[..memmem::rfind(text, b"</").unwrap_or(text.len())];
        let bytes = trimmed(text);
        if !bytes.is_empty() {
            each(&self.atom(What::Script, bytes), self);
        }
    }

    /// The slot of the element being opened.
    fn slot(&mut self, name: u64, names: u64) -> u64 {
        let Some(parent) = self.frames.last_mut() else { return mixed(name, names) };
        let mut slot = mixed(mixed(parent.slot, name), names);
        if matches!(name, TD | TH) {
            parent.cells = parent.cells.saturating_add(1);
            slot = mixed(slot, u64::from(parent.cells));
        }
        slot
    }

    fn push(&mut self, mut frame: Frame<'p>) {
        if self.frames.len() == NOISE_DEPTH_MAX {
            self.beyond += 1;
            return;
        }
        if let Some(parent) = self.frames.last() {
            frame.link = frame.link.or(parent.link);
            frame.is_heading |= parent.is_heading;
        }
        self.frames.push(frame);
    }

    fn pop(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            self.truncate(self.frames.len().saturating_sub(1));
        }
    }

    fn truncate(&mut self, frames: usize) {
        self.frames.truncate(frames);
        if self.muted.is_some_and(|muted| frames < muted) {
            self.muted = None;
        }
    }

    fn implied_ends(&mut self, opened: u64) {
        let Some((closed, barriers)) = implied_end(opened) else { return };
        if let Some(place) = self.innermost(|name| closed.contains(&name), |name| barriers.contains(&name)) {
            self.truncate(place);
        }
    }

    fn innermost(&self, wanted: impl Fn(u64) -> bool, barrier: impl Fn(u64) -> bool) -> Option<usize> {
        for (place, frame) in self.frames.iter().enumerate().rev().take(LOOK) {
            if wanted(frame.name) {
                return Some(place);
            }
            if barrier(frame.name) {
                return None;
            }
        }
        None
    }

    fn end_tag(&mut self, at: usize) -> Option<usize> {
        let (name, after) = tokens::tag_name(self.page, at)?;
        let id = if name.key == 0 { xxh3_64(name.bytes) } else { name.key };
        if self.beyond > 0 {
            self.beyond -= 1;
        } else {
            // An end tag that was forgotten within a cell closes nothing outside of the table.
            let is_of_table = matches!(id, TD | TH | TR | TABLE | TBODY | THEAD | TFOOT);
            let barrier = |name| !is_of_table && matches!(name, TD | TH);
            if let Some(place) = self.innermost(|name| name == id, barrier) {
                self.truncate(place);
            }
        }
        tokens::attributes(self.page, after, |_, _| ()).map(|end| end.after)
    }
}

impl Wanted {
    #[inline]
    fn see(&mut self, page: &[u8], element: u64, name: &[u8], value: Range<usize>) {
        let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
        match name.len() {
            2 if is(b"id") => self.names = mixed(self.names, undigited(&page[value])),
            5 if is(b"class") => self.names = mixed(self.names, undigited(&page[value])),
            4 if matches!(element, A | AREA) && is(b"href") => {
                self.reference.get_or_insert(value);
            }
            3 if matches!(element, IFRAME | FRAME) && is(b"src") => {
                self.reference.get_or_insert(value);
            }
            5 if is(b"title") => {
                self.title.get_or_insert(value);
            }
            8 if is(b"datetime") => {
                self.title.get_or_insert(value);
            }
            _ if value.len() >= MAGNET_BYTES_MIN && self.magnet.is_none() => self.magnet = magnet(page, value),
            _ => {}
        }
    }
}

/// The text of a `title` or `datetime`, where it counts as one.
pub(super) fn text_of_title(title: &[u8], is_of_link: bool) -> Option<&[u8]> {
    let text = trimmed(title);
    let is_time = || text.iter().filter(|byte| byte.is_ascii_digit()).count() >= TIME_DIGITS;
    (!text.is_empty() && (is_of_link || is_time())).then_some(text)
}

/// The magnet link within an attribute's value.
fn magnet(page: &[u8], value: Range<usize>) -> Option<Range<usize>> {
    let text = &page[value.clone()];
    // Nearly no value has one, so the colon of a scheme is searched for first.
    memchr(b':', text)?;
    let begin = memmem::find(text, b"magnet:?")?;
    let length = text[begin..].iter().take_while(|byte| !matches!(byte, b'"' | b'\'' | b' ' | b'<' | b')')).count();
    Some(value.start + begin..value.start + begin + length)
}

/// A hash of a name without its digits: `row1` is `row2`, `tor_17` is `tor_18`.
#[inline]
fn undigited(name: &[u8]) -> u64 {
    // Most names have no digits, and short ones are hashed at once.
    let Some(first) = name.iter().position(u8::is_ascii_digit) else { return xxh3_64(name) };
    let rest = name[first..].iter().filter(|byte| !byte.is_ascii_digit());
    rest.fold(xxh3_64(&name[..first]), |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests;
