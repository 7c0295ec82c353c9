//! The link-only pass: every link of a page, in document order, without a tree.
//!
//! A crawl scans each page once for its links, and html5ever's tokenizer (27 MB/s) would take most of its CPU time.
//! This scanner runs over the bytes of the page **in the page's own charset** and decodes only the values that it
//! returns. That is correct for every encoding that `encoding_rs` calls ASCII-compatible: the bytes that control the
//! tokenizer (`<`, `>`, quotes, `&`, `=`, `/`, `!`, `-` and white space) are all below 0x40; the lowest trail byte of
//! GBK, Big5 and Shift_JIS is 0x40, of EUC-KR 0x41, of EUC-JP 0xA1, the inner bytes of GB18030's four are digits; and
//! after a broken sequence the decoders return an ASCII byte unread. A letter may be a trail byte, but then its lead
//! byte is in the same name, which is therefore not one that we search for. UTF-16, ISO-2022-JP and the replacement
//! encoding are decoded whole first.
//!
//! The effects of tree construction on links are implemented where this is cheap: raw text elements, foreign content,
//! framesets, `noscript` as markup (scripting is off), `template` content as content (as a selector on scraper's tree
//! sees it). `tests/page/links.rs` compares the result with html5ever's tree. Known differences, all on broken pages:
//! the tree copies an `a` that is still open at the end of a block (the same link twice), ignores tags within a
//! `colgroup` of a `template`, and knows which HTML elements are open around an unclosed `svg`. It also drops tags where
//! their element may not stand (a `tr` outside of a table), whose handlers count here, and moves a form out of the table
//! whose rows hold its fields, which are still its own here.
//!
//! Linear in the page's bytes, and recursive only for pages within the page (`srcdoc`); never resolves a URL, never fails.

mod clicking;
mod kinds;

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};

pub use kinds::refresh_target;
pub(crate) use kinds::{anchor_kind, click_kind, inner_kind, kind_of, link_element_kind, robots_directives, strip_url};

use super::clicks::{self, Acts, Form};
use super::entities::decode_attribute;
use super::foreign::{Foreign, Hints};
use super::frames::Frames;
use super::near::near;
use super::tokens::{self, Name, TagEnd, key};
use crate::limits::{LINKS_PER_PAGE_MAX, SRCDOC_DEPTH_MAX};

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// `a` or `area`, in HTML or SVG, `link rel=alternate` of a torrent's type, or any link of a page within the page.
    Anchor,
    /// `iframe` or `frame`.
    Frame,
    /// `link` or `a` with `rel=next`.
    Next,
    /// `link` or `a` with `rel=prev` or `previous`.
    Prev,
    /// `link rel=canonical`.
    Canonical,
    /// `link rel=alternate` of an RSS or Atom type.
    Feed,
    /// `meta http-equiv=refresh` with a URL.
    Refresh,
    /// A form, an event handler or a `data-href`: see [`super::clicks`].
    Click,
    /// Any of these to a magnet, thunder, flashget or qqdl link: see [`super::encoded_links`].
    Encoded,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The reference as written, with charset and character references decoded, and tabs, newlines and outer spaces
    /// removed as in the URL standard. Not resolved; may be empty.
    pub href: Cow<'a, str>,
    pub kind: LinkKind,
}

/// The links and directives of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLinks<'a> {
    /// The `href` of the first `base` that has one: relative references resolve against it.
    pub base: Option<Cow<'a, str>>,
    /// The name of the folder that the page lists. References are relative to it, whether its URL ends with a slash or not.
    pub folder: Option<Cow<'a, str>>,
    /// In document order, with repetitions; at most [`LINKS_PER_PAGE_MAX`].
    pub links: Vec<Link<'a>>,
    /// `<meta name=robots>` (or `gleaner`) asks not to follow this page's links.
    pub robots_nofollow: bool,
    /// `<meta name=robots>` (or `gleaner`) asks not to store this page.
    pub robots_noindex: bool,
    /// There were more links than the cap; the rest of the page was skipped.
    pub truncated: bool,
}

impl PageLinks<'_> {
    /// The same without borrowing from the page.
    #[must_use]
    pub fn into_owned(self) -> PageLinks<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        PageLinks {
            base: self.base.map(owned),
            folder: self.folder.map(owned),
            links: self.links.into_iter().map(|link| Link { href: owned(link.href), kind: link.kind }).collect(),
            robots_nofollow: self.robots_nofollow,
            robots_noindex: self.robots_noindex,
            truncated: self.truncated,
        }
    }
}

/// Every link of the page `body`, which is in `encoding` (see [`gleaner_net::fetch::charset::detect`]). Borrows from
/// the page if a value needs no decoding. Linear in `body`.
#[must_use]
pub fn scan<'a>(body: &'a [u8], encoding: &'static Encoding) -> PageLinks<'a> {
    if !encoding.is_ascii_compatible() {
        let (text, _) = encoding.decode_with_bom_removal(body);
        return scan_ascii_compatible(text.as_bytes(), UTF_8, 0).into_owned();
    }
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    scan_ascii_compatible(body, encoding, 0)
}

/// `depth` is the number of pages around this one.
fn scan_ascii_compatible<'a>(page: &'a [u8], encoding: &'static Encoding, depth: u32) -> PageLinks<'a> {
    let mut scanner = Scanner {
        page,
        encoding,
        depth,
        foreign: Foreign::default(),
        frames: Frames::Undecided,
        form: None,
        found: PageLinks::default(),
    };
    let mut at = 0;
    while let Some(next) = scanner.step(at) {
        at = next;
    }
    scanner.close_form();
    scanner.found
}

/// The attributes that make links, as ranges of the page; the first of duplicates wins.
#[derive(Default)]
struct Wanted<'a> {
    href: Option<Range<usize>>,
    src: Option<Range<usize>>,
    rel: Option<Range<usize>>,
    type_: Option<Range<usize>>,
    name: Option<Range<usize>>,
    content: Option<Range<usize>>,
    http_equiv: Option<Range<usize>>,
    xlink: Option<Range<usize>>,
    srcdoc: Option<Range<usize>>,
    acts: Acts<'a>,
}

impl<'a> Wanted<'a> {
    #[inline]
    fn see(&mut self, name: &'a [u8], value: Range<usize>) {
        let slot = match name.len() {
            3 if name.eq_ignore_ascii_case(b"src") => &mut self.src,
            3 if name.eq_ignore_ascii_case(b"rel") => &mut self.rel,
            4 if name.eq_ignore_ascii_case(b"href") => &mut self.href,
            4 if name.eq_ignore_ascii_case(b"type") => &mut self.type_,
            4 if name.eq_ignore_ascii_case(b"name") => &mut self.name,
            7 if name.eq_ignore_ascii_case(b"content") => &mut self.content,
            6 if name.eq_ignore_ascii_case(b"srcdoc") => &mut self.srcdoc,
            10 if name.eq_ignore_ascii_case(b"http-equiv") => &mut self.http_equiv,
            10 if name.eq_ignore_ascii_case(b"xlink:href") => &mut self.xlink,
            _ if Acts::wants(name) => return self.acts.see(name, value),
            _ => return,
        };
        slot.get_or_insert(value);
    }
}

struct Scanner<'a> {
    page: &'a [u8],
    encoding: &'static Encoding,
    depth: u32,
    foreign: Foreign,
    frames: Frames,
    /// The open form, and the number of links before it.
    form: Option<(Form, usize)>,
    found: PageLinks<'a>,
}

const A: u64 = key(b"a");
const AREA: u64 = key(b"area");
const BASE: u64 = key(b"base");
const BUTTON: u64 = key(b"button");
const FORM: u64 = key(b"form");
const FRAME: u64 = key(b"frame");
const FRAMESET: u64 = key(b"frameset");
const IFRAME: u64 = key(b"iframe");
const INPUT: u64 = key(b"input");
const LINK: u64 = key(b"link");
const MATH: u64 = key(b"math");
const META: u64 = key(b"meta");
const NOEMBED: u64 = key(b"noembed");
const NOFRAMES: u64 = key(b"noframes");
const SCRIPT: u64 = key(b"script");
const SELECT: u64 = key(b"select");
const STYLE: u64 = key(b"style");
const SVG: u64 = key(b"svg");
const TEXTAREA: u64 = key(b"textarea");
const TITLE: u64 = key(b"title");
const XMP: u64 = key(b"xmp");

impl<'a> Scanner<'a> {
    /// Data state, tag open state: from `at` over the next piece of markup; `None` at the page's end.
    #[inline]
    fn step(&mut self, at: usize) -> Option<usize> {
        let open = at + near(b'<', &self.page[at..])?;
        self.frames.text(&self.page[at..open]);
        let at = open + 1;
        match *self.page.get(at)? {
            b'/' => self.end_tag(at + 1),
            b'!' => tokens::markup_declaration(self.page, at + 1, self.foreign.innermost_is_foreign()),
            b'?' => tokens::bogus_comment(self.page, at),
            byte if byte.is_ascii_alphabetic() => self.start_tag(at),
            _ => {
                self.frames.text(b"<");
                Some(at)
            }
        }
    }

    /// End tag open state; `at` is after `</`.
    #[inline]
    fn end_tag(&mut self, at: usize) -> Option<usize> {
        match *self.page.get(at)? {
            b'>' => Some(at + 1),
            byte if byte.is_ascii_alphabetic() => {
                let (name, at) = tokens::tag_name(self.page, at)?;
                let end = self.skip_attributes(at)?;
                match name.key {
                    FRAMESET if self.foreign.is_outside() => self.frames.close_frameset(),
                    // `</br>` counts as `<br>`.
                    BR if self.foreign.is_outside() => self.frames.start_tag(BR),
                    FORM if self.foreign.is_outside() => self.close_form(),
                    _ => {}
                }
                if !self.foreign.is_outside() {
                    self.foreign.end_tag(name);
                }
                Some(end.after)
            }
            _ => tokens::bogus_comment(self.page, at),
        }
    }

    #[inline]
    fn skip_attributes(&self, at: usize) -> Option<TagEnd> {
        // `</div>` and `<td>`: no attributes.
        if self.page.get(at) == Some(&b'>') {
            return Some(TagEnd { after: at + 1, self_closing: false });
        }
        tokens::attributes(self.page, at, |_, _| ())
    }

    #[inline]
    fn start_tag(&mut self, at: usize) -> Option<usize> {
        let (name, at) = tokens::tag_name(self.page, at)?;
        if self.foreign.is_outside() {
            self.html_start_tag(name, at)
        } else {
            self.start_tag_near_foreign_content(name, at)
        }
    }

    /// A start tag within `svg` or `math`: the stack decides whether it is HTML or foreign.
    #[cold]
    fn start_tag_near_foreign_content(&mut self, name: Name<'a>, at: usize) -> Option<usize> {
        let mut wanted = Wanted::default();
        let mut hints = Hints::default();
        let end = tokens::attributes(self.page, at, |name, value| {
            hints.see(self.page, name, value.clone());
            wanted.see(name, value);
        })?;
        if !self.foreign.start_tag(name, end.self_closing, hints) {
            return self.html_start_tag(name, at);
        }
        if name.key == A {
            wanted.href = wanted.href.or(wanted.xlink.take());
            self.anchor(wanted)?;
        } else {
            self.acts(wanted.acts, false)?;
        }
        Some(end.after)
    }

    /// The rest of a start tag that is no link itself.
    #[inline]
    fn rest_of_start_tag(&mut self, at: usize) -> Option<TagEnd> {
        if self.page.get(at) == Some(&b'>') {
            return Some(TagEnd { after: at + 1, self_closing: false });
        }
        let mut acts = Acts::default();
        let end = tokens::attributes(self.page, at, |name, value| {
            if Acts::wants(name) {
                acts.see(name, value);
            }
        })?;
        if !acts.is_empty() {
            self.acts(acts, false)?;
        }
        Some(end)
    }

    /// A start tag in HTML content; `at` is after its name.
    #[inline]
    fn html_start_tag(&mut self, name: Name<'a>, at: usize) -> Option<usize> {
        if self.frames.rules() && !matches!(name.key, FRAMESET | FRAME | NOFRAMES) {
            return self.skip_attributes(at).map(|end| end.after);
        }
        self.frames.start_tag(name.key);
        match name.key {
            A | AREA | LINK | META | BASE | FRAME | IFRAME => self.link_tag(name, at),
            FORM | INPUT | BUTTON => self.form_tag(name, at),
            SCRIPT => tokens::script(self.page, self.rest_of_start_tag(at)?.after),
            STYLE | XMP | NOEMBED | NOFRAMES | TITLE | TEXTAREA => {
                self.asks_reader(name.key);
                tokens::raw_text(self.page, self.rest_of_start_tag(at)?.after, name.bytes)
            }
            FRAMESET => {
                let end = self.rest_of_start_tag(at)?;
                self.frames.open_frameset();
                Some(end.after)
            }
            SVG | MATH if self.foreign.is_outside() => {
                let end = self.rest_of_start_tag(at)?;
                self.foreign.start_tag(name, end.self_closing, Hints::default());
                Some(end.after)
            }
            0 if name.is(b"plaintext") => None,
            _ => {
                self.asks_reader(name.key);
                self.rest_of_start_tag(at).map(|end| end.after)
            }
        }
    }

    /// A tag that may be a link.
    #[inline]
    fn link_tag(&mut self, name: Name<'a>, at: usize) -> Option<usize> {
        let mut wanted = Wanted::default();
        let end = tokens::attributes(self.page, at, |name, value| wanted.see(name, value))?;
        match name.key {
            A | AREA => self.anchor(wanted)?,
            LINK => self.link_element(wanted)?,
            META => self.meta(wanted)?,
            BASE => {
                if self.found.base.is_none() {
                    self.found.base = wanted.href.map(|href| self.url(href));
                }
            }
            IFRAME => {
                self.frame(wanted)?;
                return tokens::raw_text(self.page, end.after, name.bytes);
            }
            _ => {
                if matches!(self.frames, Frames::Inside(_)) {
                    self.frame(Wanted { srcdoc: None, ..wanted })?;
                }
            }
        }
        Some(end.after)
    }

    #[inline]
    fn anchor(&mut self, wanted: Wanted<'a>) -> Option<()> {
        let Some(href) = wanted.href else {
            return self.acts(wanted.acts, false);
        };
        let href = self.url(href);
        let rel = wanted.rel.map(|value| self.text(value));
        let kind = anchor_kind(&href, rel.as_deref());
        if kind == LinkKind::Anchor && clicks::leads_nowhere(&href) {
            self.push(href.clone(), kind)?;
            if clicks::is_script(&href) {
                self.targets(&href)?;
            }
            return self.acts(wanted.acts, false);
        }
        self.push(href, kind)?;
        if wanted.acts.is_empty() { Some(()) } else { self.acts(wanted.acts, true) }
    }

    fn link_element(&mut self, wanted: Wanted<'a>) -> Option<()> {
        if let (Some(href), Some(rel)) = (wanted.href, wanted.rel) {
            let rel = self.text(rel);
            let type_ = wanted.type_.map(|value| self.text(value));
            if let Some(kind) = link_element_kind(&rel, type_.as_deref()) {
                let href = self.url(href);
                return self.push(href, kind);
            }
        }
        Some(())
    }

    fn frame(&mut self, wanted: Wanted<'a>) -> Option<()> {
        let is_link = wanted.src.is_some();
        if let Some(src) = wanted.src {
            let href = self.url(src);
            self.push(href, LinkKind::Frame)?;
        }
        if let Some(srcdoc) = wanted.srcdoc.filter(|_| self.depth < SRCDOC_DEPTH_MAX) {
            let markup = self.text(srcdoc);
            let inner = scan_ascii_compatible(markup.as_bytes(), UTF_8, self.depth + 1).into_owned();
            for link in inner.links {
                self.push(link.href, inner_kind(link.kind))?;
            }
        }
        self.acts(wanted.acts, is_link)
    }

    fn meta(&mut self, wanted: Wanted<'a>) -> Option<()> {
        let Some(content) = wanted.content else {
            return Some(());
        };
        if let Some(name) = wanted.name {
            let (noindex, nofollow) = robots_directives(&self.text(name), &self.text(content.clone()));
            self.found.robots_noindex |= noindex;
            self.found.robots_nofollow |= nofollow;
        }
        if let Some(http_equiv) = wanted.http_equiv
            && self.text(http_equiv).eq_ignore_ascii_case("refresh")
            && let Some(target) = refresh_target(&self.text(content))
        {
            let target = strip_url(&target).into_owned();
            let kind = kind_of(&target, LinkKind::Refresh);
            return self.push(Cow::Owned(target), kind);
        }
        Some(())
    }

    /// `None` ends the scan: the page has reached its maximum of links.
    #[inline]
    fn push(&mut self, href: Cow<'a, str>, kind: LinkKind) -> Option<()> {
        if self.found.links.len() == LINKS_PER_PAGE_MAX {
            self.found.truncated = true;
            return None;
        }
        self.found.links.push(Link { href, kind });
        Some(())
    }

    /// An attribute's value as in the tree: charset and character references decoded, NUL replaced.
    fn text(&self, value: Range<usize>) -> Cow<'a, str> {
        let text = self.decoded(value);
        let text = if memchr::memchr(0, text.as_bytes()).is_some() {
            Cow::Owned(text.replace('\0', "\u{fffd}"))
        } else {
            text
        };
        match text {
            Cow::Borrowed(text) => decode_attribute(text),
            Cow::Owned(text) => Cow::Owned(decode_attribute(&text).into_owned()),
        }
    }

    fn decoded(&self, value: Range<usize>) -> Cow<'a, str> {
        let bytes = &self.page[value.clone()];
        match std::str::from_utf8(bytes) {
            // Only ASCII is the same in every encoding that gets here.
            Ok(text) if self.encoding == UTF_8 || text.is_ascii() => Cow::Borrowed(text),
            _ => {
                // The delimiter after the value is decoded too and then dropped: how a decoder handles a truncated
                // sequence depends on whether the text ends there.
                let with_delimiter = self.page.get(value.start..=value.end).unwrap_or(bytes);
                let mut text = self.encoding.decode_without_bom_handling(with_delimiter).0.into_owned();
                text.pop();
                Cow::Owned(text)
            }
        }
    }

    /// An attribute's value as a URL reference.
    #[inline]
    fn url(&self, value: Range<usize>) -> Cow<'a, str> {
        let bytes = &self.page[value.clone()];
        // Nearly all: printable ASCII without references, used unchanged.
        if bytes.iter().all(|&byte| byte > b' ' && byte < 0x7f && byte != b'&')
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Cow::Borrowed(text);
        }
        match self.text(value) {
            Cow::Borrowed(text) => strip_url(text),
            Cow::Owned(text) => Cow::Owned(strip_url(&text).into_owned()),
        }
    }
}

const BR: u64 = key(b"br");
