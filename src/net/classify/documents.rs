//! The beginnings of documents: markup, and the formats that list links, by their root or first keys.

use memchr::memmem;

use super::{PageKind, starts_ignoring_case};

/// Local names of the roots that `page::feed` reads, in lower case.
const LISTING_ROOTS: [&[u8]; 7] =
    [b"rss", b"feed", b"rdf", b"urlset", b"sitemapindex", b"metalink", b"listbucketresult"];

/// Elements of nginx' `autoindex_format xml`; its root alone, `list`, may be anything's.
const AUTOINDEX_ENTRIES: [&[u8]; 3] = [b"directory", b"file", b"other"];

/// Elements that pages without `html` start with.
const PAGE_ROOTS: [&[u8]; 3] = [b"html", b"head", b"body"];

/// The root of an XML document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Of a kind that is read.
    Page(PageKind),
    Other,
    /// The text ends before it is known.
    Unseen,
}

/// True for the start of a whole HTML or XML document.
pub(super) fn begins_document(text: &[u8]) -> bool {
    [&b"<!doctype"[..], b"<html", b"<head", b"<?xml"].iter().any(|front| starts_ignoring_case(text, front))
}

/// True if the text starts with the root of a feed, a sitemap or a listing.
pub(super) fn begins_listing(text: &[u8]) -> bool {
    element(text, true) == Some(Root::Page(PageKind::Feed)) || begins_json_listing(text)
}

/// The kind of an XML document by its root element. `complete`: nothing follows the text.
pub(super) fn root(text: &[u8], complete: bool) -> Root {
    let mut rest = text;
    let mut is_html = false;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        if let Some(root) = element(rest, complete) {
            return if is_html && root == Root::Other { Root::Page(PageKind::Html) } else { root };
        }
        is_html |= starts_ignoring_case(rest, b"<!doctype html");
        // Declarations, comments and style sheets come before the root.
        let end = match rest {
            [b'<', b'!', b'-', b'-', ..] => memmem::find(rest, b"-->"),
            [b'<', b'!' | b'?', ..] => memchr::memchr(b'>', rest),
            [b'<'] => None,
            _ => return Root::Other,
        };
        let Some(end) = end else { return Root::Unseen };
        rest = &rest[end..];
    }
    Root::Unseen
}

/// The kind of a document whose root element starts here; None if none does.
fn element(text: &[u8], complete: bool) -> Option<Root> {
    let tag = text.strip_prefix(b"<").filter(|tag| tag.first().is_some_and(u8::is_ascii_alphabetic))?;
    let end = tag.iter().position(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace());
    let name = match end {
        Some(end) => &tag[..end],
        None if complete => tag,
        None => return Some(Root::Unseen),
    };
    let name = memchr::memrchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
    let is_one_of = |names: &[&[u8]]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    Some(if is_one_of(&LISTING_ROOTS) {
        Root::Page(PageKind::Feed)
    } else if is_one_of(&PAGE_ROOTS) {
        Root::Page(PageKind::Html)
    } else if name == b"list" {
        autoindex(tag, complete)
    } else {
        Root::Other
    })
}

/// A `list` is nginx' if one of its entries comes first.
fn autoindex(tag: &[u8], complete: bool) -> Root {
    let unseen = if complete { Root::Other } else { Root::Unseen };
    let Some(open) = memchr::memchr(b'<', tag) else { return unseen };
    let name = &tag[open + 1..];
    let Some(end) = name.iter().position(|byte| !byte.is_ascii_lowercase()) else { return unseen };
    if AUTOINDEX_ENTRIES.contains(&&name[..end]) { Root::Page(PageKind::Feed) } else { Root::Other }
}

/// True for the start of a JSON Feed, and of nginx' `autoindex_format json`.
fn begins_json_listing(text: &[u8]) -> bool {
    match text {
        [b'{', ..] => {
            let versions: [&[u8]; 2] = [b"://jsonfeed.org/version/", br":\/\/jsonfeed.org\/version\/"];
            versions.iter().any(|version| memmem::find(text, version).is_some())
        }
        [b'[', rest @ ..] => is_json_entry(rest.trim_ascii_start()),
        _ => false,
    }
}

/// True for the start of an object with a `name`, and the `type` of a file or folder.
fn is_json_entry(text: &[u8]) -> bool {
    let Some(object) = text.strip_prefix(b"{") else { return false };
    let value = |key: &[u8]| {
        let rest = object[memmem::find(object, key)? + key.len()..].trim_ascii_start();
        rest.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")
    };
    let is_entry = |kind: &[u8]| {
        AUTOINDEX_ENTRIES.iter().any(|known| kind.strip_prefix(*known).is_some_and(|rest| rest.first() == Some(&b'"')))
    };
    value(b"\"name\"").is_some() && value(b"\"type\"").is_some_and(is_entry)
}

/// True if the text starts with a tag or a comment, as fragments, tag soup and PHP warnings do.
pub(super) fn begins_markup(text: &[u8]) -> bool {
    match text {
        [b'<', b'!', b'-', b'-', ..] | [b'<', b'?', b'p', b'h', b'p', ..] => true,
        [b'<', rest @ ..] => {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            (1..=10).contains(&name)
                && rest[0].is_ascii_alphabetic()
                && rest.get(name).is_none_or(|byte| matches!(byte, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n'))
        }
        _ => false,
    }
}
