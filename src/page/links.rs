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
//! `colgroup` of a `template`, and knows which HTML elements are open around an unclosed `svg`.
//!
//! Linear in the page's bytes, no recursion; never resolves a URL, never fails.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};

use super::entities::decode_attribute;
use super::foreign::{Foreign, Hints};
use super::frames::Frames;
use super::tokens::{self, Name, TagEnd, key};
use crate::limits::LINKS_PER_PAGE_MAX;

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// `a` or `area`, in HTML or SVG.
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
    /// `a` or `area` to a magnet, thunder, flashget or qqdl link: see [`super::encoded_links`].
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
        return scan_ascii_compatible(text.as_bytes(), UTF_8).into_owned();
    }
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    scan_ascii_compatible(body, encoding)
}

fn scan_ascii_compatible<'a>(page: &'a [u8], encoding: &'static Encoding) -> PageLinks<'a> {
    let mut scanner =
        Scanner { page, encoding, foreign: Foreign::default(), frames: Frames::Undecided, found: PageLinks::default() };
    let mut at = 0;
    while let Some(next) = scanner.step(at) {
        at = next;
    }
    scanner.found
}

/// The attributes that make links, as ranges of the page; the first of duplicates wins.
#[derive(Default)]
struct Wanted {
    href: Option<Range<usize>>,
    src: Option<Range<usize>>,
    rel: Option<Range<usize>>,
    type_: Option<Range<usize>>,
    name: Option<Range<usize>>,
    content: Option<Range<usize>>,
    http_equiv: Option<Range<usize>>,
}

impl Wanted {
    #[inline]
    fn see(&mut self, name: &[u8], value: Range<usize>) {
        let slot = match name.len() {
            3 if name.eq_ignore_ascii_case(b"src") => &mut self.src,
            3 if name.eq_ignore_ascii_case(b"rel") => &mut self.rel,
            4 if name.eq_ignore_ascii_case(b"href") => &mut self.href,
            4 if name.eq_ignore_ascii_case(b"type") => &mut self.type_,
            4 if name.eq_ignore_ascii_case(b"name") => &mut self.name,
            7 if name.eq_ignore_ascii_case(b"content") => &mut self.content,
            10 if name.eq_ignore_ascii_case(b"http-equiv") => &mut self.http_equiv,
            _ => return,
        };
        slot.get_or_insert(value);
    }
}

struct Scanner<'a> {
    page: &'a [u8],
    encoding: &'static Encoding,
    foreign: Foreign,
    frames: Frames,
    found: PageLinks<'a>,
}

const A: u64 = key(b"a");
const AREA: u64 = key(b"area");
const BASE: u64 = key(b"base");
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
const STYLE: u64 = key(b"style");
const SVG: u64 = key(b"svg");
const TEXTAREA: u64 = key(b"textarea");
const TITLE: u64 = key(b"title");
const XMP: u64 = key(b"xmp");

impl<'a> Scanner<'a> {
    /// Data state, tag open state: from `at` over the next piece of markup; `None` at the page's end.
    #[inline]
    fn step(&mut self, at: usize) -> Option<usize> {
        let open = at + memchr::memchr(b'<', &self.page[at..])?;
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
            self.anchor(wanted)?;
        }
        Some(end.after)
    }

    /// A start tag in HTML content; `at` is after its name.
    #[inline]
    fn html_start_tag(&mut self, name: Name<'a>, at: usize) -> Option<usize> {
        if self.frames.rules() && !matches!(name.key, FRAMESET | FRAME | NOFRAMES) {
            return self.skip_attributes(at).map(|end| end.after);
        }
        self.frames.start_tag(name.key);
        match name.key {
            A | AREA | LINK | META | BASE | FRAME | IFRAME | INPUT => self.link_tag(name, at),
            SCRIPT => tokens::script(self.page, self.skip_attributes(at)?.after),
            STYLE | XMP | NOEMBED | NOFRAMES | TITLE | TEXTAREA => {
                tokens::raw_text(self.page, self.skip_attributes(at)?.after, name.bytes)
            }
            FRAMESET => {
                let end = self.skip_attributes(at)?;
                self.frames.open_frameset();
                Some(end.after)
            }
            SVG | MATH if self.foreign.is_outside() => {
                let end = self.skip_attributes(at)?;
                self.foreign.start_tag(name, end.self_closing, Hints::default());
                Some(end.after)
            }
            0 if name.is(b"plaintext") => None,
            _ => self.skip_attributes(at).map(|end| end.after),
        }
    }

    /// A tag that may be a link, and `input`, whose type matters to the frameset state.
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
            FRAME => {
                if matches!(self.frames, Frames::Inside(_)) {
                    self.frame(wanted)?;
                }
            }
            IFRAME => {
                self.frame(wanted)?;
                return tokens::raw_text(self.page, end.after, name.bytes);
            }
            _ => {
                let hidden = wanted.type_.is_some_and(|value| self.text(value).eq_ignore_ascii_case("hidden"));
                if !hidden {
                    self.frames.start_tag(BR);
                }
            }
        }
        Some(end.after)
    }

    #[inline]
    fn anchor(&mut self, wanted: Wanted) -> Option<()> {
        let Some(href) = wanted.href else {
            return Some(());
        };
        let href = self.url(href);
        let rel = wanted.rel.map(|value| self.text(value));
        let kind = anchor_kind(&href, rel.as_deref());
        self.push(href, kind)
    }

    fn link_element(&mut self, wanted: Wanted) -> Option<()> {
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

    fn frame(&mut self, wanted: Wanted) -> Option<()> {
        match wanted.src {
            Some(src) => {
                let href = self.url(src);
                self.push(href, LinkKind::Frame)
            }
            None => Some(()),
        }
    }

    fn meta(&mut self, wanted: Wanted) -> Option<()> {
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
            return self.push(Cow::Owned(target), LinkKind::Refresh);
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

/// The URL standard's preparation (§4.4, steps 1–3): outer C0 controls and spaces off, tabs and newlines out.
pub(super) fn strip_url(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|character| character <= ' ');
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// The kind of an `a` or `area` by its stripped `href` and its `rel`.
pub(super) fn anchor_kind(href: &str, rel: Option<&str>) -> LinkKind {
    if super::encoded_links::is_encoded(href) {
        return LinkKind::Encoded;
    }
    for token in rel.unwrap_or_default().split_ascii_whitespace() {
        if let Some(kind) = next_or_prev(token) {
            return kind;
        }
    }
    LinkKind::Anchor
}

/// The kind of a `link` element; `None` for style sheets, icons and everything else that is not a page.
pub(super) fn link_element_kind(rel: &str, type_: Option<&str>) -> Option<LinkKind> {
    rel.split_ascii_whitespace().find_map(|token| {
        if let Some(kind) = next_or_prev(token) {
            Some(kind)
        } else if token.eq_ignore_ascii_case("canonical") {
            Some(LinkKind::Canonical)
        } else {
            let type_ = type_.unwrap_or_default().trim_ascii();
            let is_feed = ["application/rss+xml", "application/atom+xml", "application/feed+json"]
                .iter()
                .any(|feed| type_.get(..feed.len()).is_some_and(|start| start.eq_ignore_ascii_case(feed)));
            (token.eq_ignore_ascii_case("alternate") && is_feed).then_some(LinkKind::Feed)
        }
    })
}

fn next_or_prev(token: &str) -> Option<LinkKind> {
    if token.eq_ignore_ascii_case("next") {
        Some(LinkKind::Next)
    } else if token.eq_ignore_ascii_case("prev") || token.eq_ignore_ascii_case("previous") {
        Some(LinkKind::Prev)
    } else {
        None
    }
}

/// (noindex, nofollow) of a `meta` element.
pub(super) fn robots_directives(name: &str, content: &str) -> (bool, bool) {
    let name = name.trim_ascii();
    if !name.eq_ignore_ascii_case("robots") && !name.eq_ignore_ascii_case("gleaner") {
        return (false, false);
    }
    let has = |wanted: &str| {
        content
            .split(|character: char| character == ',' || character.is_ascii_whitespace())
            .any(|directive| directive.eq_ignore_ascii_case(wanted) || directive.eq_ignore_ascii_case("none"))
    };
    (has("noindex"), has("nofollow"))
}

/// The URL in a refresh's `content` (HTML §4.2.5.3, shared declarative refresh steps); `None` if it is malformed or
/// names the page itself.
pub(super) fn refresh_target(content: &str) -> Option<String> {
    let spaces = |text: &str| text.trim_ascii_start().len();
    let rest = content.trim_ascii_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let rest = &after_time[after_time.len() - spaces(after_time)..];
    let had_space = rest.len() < after_time.len();
    let rest = match rest.strip_prefix([';', ',']) {
        Some(rest) => rest.trim_ascii_start(),
        None if had_space => rest,
        None => return None,
    };
    if rest.is_empty() {
        return None;
    }
    let url = after_url_and_equals(rest).unwrap_or(rest);
    let url = match url.as_bytes().first() {
        Some(&quote @ (b'"' | b'\'')) => {
            let inner = &url[1..];
            inner.split(char::from(quote)).next().unwrap_or(inner)
        }
        _ => url,
    };
    Some(url.to_owned())
}

/// `text` after `url =`; `None` if it does not start so.
fn after_url_and_equals(text: &str) -> Option<&str> {
    let rest = text.get(3..).filter(|_| text.as_bytes()[..3].eq_ignore_ascii_case(b"url"))?;
    Some(rest.trim_ascii_start().strip_prefix('=')?.trim_ascii_start())
}
