//! Signs in a page's bytes that scripts build its visible content: scripts, empty root elements, framework
//! attributes. Pure, linear, and no proof: only what a render adds is a proof.
//!
//! Expressions over a whole page would be the dearest part of reading it. So they run only from a tag on that may be a sign, and attributes
//! are found by their hyphen; `tests` compares with the expressions that say the same of the whole page.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};
use xxhash_rust::xxh3::Xxh3;

use crate::limits;
use crate::near::{near, near_all};
use crate::tokens::key;

/// Signs in a page's markup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// It has scripts that run: data and template blocks do not count.
    pub scripts: bool,
    /// It has an empty element that a framework fills, or asks readers to enable scripts.
    pub empty_root: bool,
    /// Attributes that make a framework fetch or build content.
    pub framework: bool,
    /// Some text says that something is loading.
    pub waits: bool,
    /// Hash of the names of named empty elements: pages of one kind have the same. 0: there are none.
    pub hollow: u64,
}

// Phrases that are no ASCII, as they are written.
gleaner_base::topics! { control: WAITS; }

/// "Loading…" and similar, if they begin the text of an element; `loading` also behind `now`.
const WAITS_IN_ASCII: [&[u8]; 9] = [
    b"loading",
    b"please wait",
    b"one moment",
    b"wird geladen",
    b"chargement",
    b"cargando",
    b"carregando",
    b"caricamento",
    b"laden",
];

/// Types of blocks that do not run.
static DATA: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)\stype\s*=\s*["']?\s*(?:application/(?:ld\+)?json|text/(?:template|x-[a-z-]*template|html|plain|x-handlebars|ng-template)|speculationrules)"#)
        .expect("the expression is constant and tested")
});

/// Elements that wait for their content, from their `<` on.
static EMPTY_ROOT: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r#"(?i-u)\A<(?:div|main|section)\b[^>]*\bid\s*=\s*["']?(?:app|root|__next|__nuxt|___gatsby|svelte|application|react-root|vue-app|main-app|mount|ember-app)(?:["'\s][^>]*)?>\s*(?:<!--[^>]*-->\s*)*</"#,
        r#"(?i-u)\A<app-root\b[^>]*>[^<]{0,200}</app-root"#,
        r#"(?i-u)\A<(?:tbody|ul|ol)\b[^>]*\bid\s*=[^>]*>\s*</(?:tbody|ul|ol)"#,
    ])
    .expect("the expressions are constant and tested")
});

/// What a page without scripts shows.
static ASKS_FOR_SCRIPTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is-u)\A<noscript>.{0,400}?(?:enable|turn on|requires?|need)\s+(?:\w+\s+){0,4}javascript")
        .expect("the expression is constant and tested")
});

/// An element with an id or classes and no content, from its `<` on.
static HOLLOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)\A<[a-z]+\s(?:[^>]*\s)?(?:id|class)\s*=\s*["']?([^"'>]+)[^>]*>\s*(?:<!--[^>]*-->\s*)*</"#)
        .expect("the expression is constant and tested")
});

/// The kind of a name whose element waits for its content: the number of its expression in [`EMPTY_ROOT`].
fn root_of(name: u64) -> Option<usize> {
    const DIV: u64 = key(b"div");
    const MAIN: u64 = key(b"main");
    const SECTION: u64 = key(b"section");
    const APP: u64 = key(b"app");
    const TBODY: u64 = key(b"tbody");
    const UL: u64 = key(b"ul");
    const OL: u64 = key(b"ol");
    match name {
        DIV | MAIN | SECTION => Some(0),
        APP => Some(1),
        TBODY | UL | OL => Some(2),
        _ => None,
    }
}

/// False for most tags: their names begin as none that is looked at.
fn may_matter(first: u8, second: u8) -> bool {
    match first {
        b'a' => matches!(second, b'p' | b'r'),
        b'd' => matches!(second, b'i' | b'l'),
        b'm' => second == b'a',
        b'n' => second == b'o',
        b'o' | b'u' => second == b'l',
        b's' => matches!(second, b'e' | b'p'),
        b't' => matches!(second, b'a' | b'b' | b'd'),
        _ => first == b'p',
    }
}

/// True for elements that scripts fill, if they are empty.
fn is_filled(name: u64) -> bool {
    const FILLED: [u64; 12] = [
        key(b"div"),
        key(b"span"),
        key(b"ul"),
        key(b"ol"),
        key(b"dl"),
        key(b"table"),
        key(b"tbody"),
        key(b"section"),
        key(b"main"),
        key(b"article"),
        key(b"p"),
        key(b"td"),
    ];
    FILLED.contains(&name)
}

/// An element that loads its content, from its `<` on.
static TURBO_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\A<turbo-frame\b[^>]*\bsrc\s*=").expect("the expression is constant and tested")
});

/// Finds the signs in a page's bytes, in any ASCII-compatible charset. Linear in them: each kind of tag is read once up to the next
/// `>`, which no tag of that kind between the two could read otherwise.
#[must_use]
pub fn signs(body: &[u8]) -> Signs {
    if !has_scripts(body) {
        return Signs::default();
    }
    let (empty_root, hollow) = elements(body);
    Signs { scripts: true, empty_root, framework: has_framework(body), waits: waits(body), hollow }
}

/// True if a start tag of a script is none of a block that does not run.
fn has_scripts(body: &[u8]) -> bool {
    let mut from = 0;
    while let Some(open) = near(b'<', &body[from..]) {
        from += open + 1;
        let Some(rest) = after(&body[from..], b"script") else { continue };
        let name_end = body.len() - rest.len();
        let end = match rest.first() {
            Some(b'>') => Some(0),
            Some(&byte) if is_space(byte) || byte == b'/' => near(b'>', rest),
            _ => continue,
        };
        let Some(end) = end.map(|length| name_end + length) else { return false };
        if !DATA.is_match(&body[from - 1..=end]) {
            return true;
        }
        from = end + 1;
    }
    false
}

/// Whether an element waits for its content, and [`Signs::hollow`]. Digits in names are left out: they number the subject of a page.
fn elements(body: &[u8]) -> (bool, u64) {
    let mut is_empty_root = false;
    let mut classes: BTreeSet<Vec<u8>> = BTreeSet::new();
    let (mut hollows, mut behind_hollow) = (0, 0);
    // Of the tags seen so far: the next `>`, what is behind it, and up to which each kind was read.
    let mut close = 0;
    let mut behind = Behind::default();
    let mut read = [0; 4];
    for at in near_all(b'<', body) {
        let tag = &body[at + 1..];
        let &[first, second, ..] = tag else { continue };
        if !may_matter(first | 0x20, second | 0x20) {
            continue;
        }
        if first | 0x20 == b'n' {
            let asks = !is_empty_root && after(tag, b"noscript>").is_some();
            is_empty_root |= asks && ASKS_FOR_SCRIPTS.is_match(&body[at..]);
            continue;
        }
        // Letters only, so that bit 5 folds their case and nothing else.
        let (mut name, mut length) = (0_u64, 0);
        while let Some(byte) = tag.get(length).filter(|byte| byte.is_ascii_alphabetic()) {
            name = if length < 8 { name << 8 | u64::from(byte | 0x20) } else { 0 };
            length += 1;
        }
        let ends_by = tag.get(length).copied().unwrap_or(b'>');
        let root = root_of(name)
            .filter(|kind| !is_empty_root && !is_word(ends_by) && (*kind != 1 || names(tag, &[b"app-root"])));
        let is_hollow =
            hollows < limits::HOLLOW_ELEMENTS_MAX && at >= behind_hollow && is_space(ends_by) && is_filled(name);
        if root.is_none() && !is_hollow {
            continue;
        }
        if close <= at {
            let Some(length) = near(b'>', tag) else { break };
            close = at + 1 + length;
            behind.read(body, close);
        }
        if let Some(kind) = root.filter(|kind| (behind.is_end || *kind == 1) && read[*kind] < close) {
            read[kind] = close;
            is_empty_root = EMPTY_ROOT.is_match(&body[at..]);
        }
        if is_hollow && behind.is_end && read[3] < close {
            read[3] = close;
            let found = HOLLOW.captures(&body[at..]);
            if let Some((all, name)) = found.and_then(|found| Some((found.get(0)?.end(), found.get(1)?.as_bytes()))) {
                hollows += 1;
                behind_hollow = at + all;
                classes.insert(name.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect());
            }
        }
    }
    (is_empty_root, hash(&classes))
}

/// The spaces and comments behind the last tag that was looked at.
#[derive(Default)]
struct Behind {
    /// Where they end.
    end: usize,
    /// An end tag is there.
    is_end: bool,
}

impl Behind {
    /// Reads on behind this `>`. If it is within what was read, it ends a comment there, and what is behind it is known. So a page is read
    /// once, however many of its tags stand in comments.
    fn read(&mut self, body: &[u8], close: usize) {
        if close < self.end {
            return;
        }
        let mut rest = skip_spaces(&body[close + 1..]);
        while let Some(comment) = rest.strip_prefix(b"<!--") {
            let Some(length) = near(b'>', comment) else { break };
            if !comment[..length].ends_with(b"--") {
                break;
            }
            rest = skip_spaces(&comment[length + 1..]);
        }
        *self = Self { end: body.len() - rest.len(), is_end: rest.starts_with(b"</") };
    }
}

fn hash(names: &BTreeSet<Vec<u8>>) -> u64 {
    if names.is_empty() {
        return 0;
    }
    let mut hash = Xxh3::new();
    for name in names {
        hash.update(name);
        hash.update(b" ");
    }
    hash.digest()
}

/// Attributes of frameworks that work on markup; each has a hyphen.
fn has_framework(body: &[u8]) -> bool {
    let mut read = 0;
    near_all(b'-', body).any(|at| {
        let (before, rest) = (&body[..at], &body[at + 1..]);
        match before.last().map(|last| last | 0x20) {
            Some(b'g') => {
                let own = before_word(before, b"ng").filter(|_| sets(rest, &[b"app", b"controller", b"repeat"]));
                own.is_some_and(|own| [&b""[..], b"data-", b"x-"].iter().any(|prefix| begins(own, prefix)))
            }
            Some(b'x') => {
                let own = before_word(before, b"hx").filter(|_| sets(rest, &[b"get", b"post"]));
                own.is_some_and(|own| begins(own, b"") || begins(own, b"data-"))
                    || (begins(before, b"x") && sets(rest, &[b"data", b"for", b"init"]))
            }
            Some(b'v') => begins(before, b"v") && names(rest, &[b"for", b"cloak", b"bind"]),
            Some(b'a') => {
                begins(before, b"data") && names(rest, &[b"controller", b"bind", b"reactroot", b"turbo-frame"])
            }
            Some(b'o') => before_word(before, b"<turbo").is_some_and(|own| {
                let is_read = own.len() < read || !names(rest, &[b"frame"]);
                read = if is_read { read } else { near(b'>', rest).map_or(body.len(), |end| at + 1 + end) };
                !is_read && TURBO_FRAME.is_match(&body[own.len()..])
            }),
            _ => false,
        }
    })
}

/// True if the text of an element says that something is still to come.
fn waits(body: &[u8]) -> bool {
    let says = |at: usize| {
        let text = skip_spaces(&body[at + 1..]);
        let is_candidate = text.first().is_some_and(|first| b"nlpowc".contains(&(first | 0x20)));
        is_candidate && {
            let now = after(text, b"now").filter(|rest| rest.first().is_some_and(|first| is_space(*first)));
            let now = now.and_then(|rest| after(skip_spaces(rest), b"loading"));
            let phrases = WAITS_IN_ASCII.iter().filter_map(|phrase| after(text, phrase));
            phrases.chain(now).any(|rest| {
                let tail = &rest[..rest.len().min(limits::WAITS_TAIL_BYTES_MAX + 1)];
                !rest.first().is_some_and(|next| is_word(*next)) && tail.contains(&b'<')
            })
        }
    };
    if near_all(b'>', body).any(says) {
        return true;
    }
    are_written(body, &WAITS)
}

/// True if one of these phrases, none of which is ASCII, is in the text.
fn are_written(body: &[u8], phrases: &[&str]) -> bool {
    // Only from the first one on that may hold a byte that is no ASCII; the phrases are few, and pages are long: each is searched for by
    // itself.
    if body.is_ascii() {
        return false;
    }
    let Some(first) = body.iter().position(|byte| !byte.is_ascii()) else { return false };
    let longest = phrases.iter().map(|phrase| phrase.len()).max().unwrap_or_default();
    let rest = &body[first.saturating_sub(longest)..];
    phrases.iter().any(|phrase| memchr::memmem::find(rest, phrase.as_bytes()).is_some())
}

/// What follows these lower-case bytes, if the text begins with them in any case.
#[inline]
fn after<'a>(text: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    text.split_at_checked(start.len()).filter(|(begin, _)| begin.eq_ignore_ascii_case(start)).map(|(_, rest)| rest)
}

/// What comes before these lower-case bytes, if the text ends with them in any case.
#[inline]
fn before_word<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let (rest, last) = text.split_at(text.len().checked_sub(end.len())?);
    last.eq_ignore_ascii_case(end).then_some(rest)
}

/// True if the text ends with these bytes as the beginning of an attribute.
fn begins(text: &[u8], end: &[u8]) -> bool {
    before_word(text, end).and_then(<[u8]>::last).is_some_and(|space| is_space(*space))
}

/// True if one of these names is set here.
fn sets(text: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|name| after(text, name).is_some_and(|rest| skip_spaces(rest).first() == Some(&b'=')))
}

/// True if one of these names is here as a whole word.
fn names(text: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|name| after(text, name).is_some_and(|rest| !rest.first().is_some_and(|next| is_word(*next))))
}

#[inline]
fn skip_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    &text[spaces..]
}

/// What expressions call `\s`, of ASCII.
#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// What they call `\w`.
#[inline]
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
