//! Links of documents that list: RSS, Atom, RDF (RSS 1.0), the sitemap protocol and metalinks, with an XML parser; JSON
//! Feed ([`json`]), and the listings of folders that servers write in XML or JSON ([`folders`]).
//!
//! The HTML link scanner finds little in them: a URL is in the text of an element (`<link>`, `<guid>`, `<loc>`), in
//! an attribute of any name (`enclosure url`, `rdf:resource`), or in HTML that is itself escaped (`<description>`).
//! Namespaces are not resolved, and prefixes of elements do not count. An item that tells a torrent's infohash is a
//! magnet ([`items`]).
//!
//! DTD entities are never expanded, and nothing is loaded. A malformed document yields the links before the error.
//! Linear in the body, no recursion; never resolves a URL, never fails.

mod folders;
mod items;
mod json;

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use items::Item;

use super::encoded_links;
use super::entities::decode_attribute;
use super::links::{self, Link, LinkKind, PageLinks};
use crate::limits::LINKS_PER_PAGE_MAX;

/// Local names of the root elements of supported documents.
const ROOTS: &[&[u8]] = &[b"rss", b"feed", b"rdf", b"urlset", b"sitemapindex", b"metalink"];

/// True for a body whose root element is a feed's, a sitemap's or a listing's, or that is such a document in JSON.
/// Reads only up to the root.
#[must_use]
pub fn is_feed(body: &[u8], encoding: &'static Encoding) -> bool {
    has_root(body, encoding, ROOTS) || folders::is_listing(body, encoding) || json::is_listing(body)
}

/// True for a body whose root element has one of these local names, in lower case.
pub(super) fn has_root(body: &[u8], encoding: &'static Encoding, names: &[&[u8]]) -> bool {
    if encoding.is_ascii_compatible() {
        return has_ascii_root(body, names);
    }
    // For UTF-16 the start is enough; cut between two units.
    let start = &body[..body.len().min(4_096) & !1];
    has_ascii_root(encoding.decode_with_bom_removal(start).0.as_bytes(), names)
}

fn has_ascii_root(body: &[u8], names: &[&[u8]]) -> bool {
    let mut rest = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    loop {
        // Declarations, comments and style sheets come before the root.
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            // A document type may declare entities, each with its own `>` (XML 1.0 §2.8).
            [b'<', b'!', declaration @ ..] => {
                let subset = declaration.iter().find(|byte| matches!(byte, b'[' | b'>')) == Some(&b'[');
                if subset { b"]>" } else { b">" }
            }
            [b'<', root @ ..] => {
                let ends = |byte: &u8| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace();
                let name = &root[..root.iter().position(ends).unwrap_or(root.len())];
                let local = memchr::memrchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
                return names.iter().any(|name| local.eq_ignore_ascii_case(name));
            }
            _ => return false,
        };
        let Some(at) = memchr::memmem::find(rest, end) else { return false };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
}

/// The kind of an element's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Url,
    /// A URL only if it looks like one; else a name of the item.
    UrlOrName,
    Html,
    Title,
    Infohash,
}

fn text_of(element: &str) -> Option<Text> {
    match element {
        "link" | "comments" | "loc" | "magnetURI" | "origLink" | "metaurl" | "url" => Some(Text::Url),
        "guid" | "id" => Some(Text::UrlOrName),
        "description" | "encoded" | "summary" | "content" => Some(Text::Html),
        "title" => Some(Text::Title),
        name if name.eq_ignore_ascii_case("infohash") || name.eq_ignore_ascii_case("info_hash") => Some(Text::Infohash),
        _ => None,
    }
}

/// Attributes that decide whether an element's text is a link: the element (any, if empty), the attribute, the value, and
/// whether the value makes it one or unmakes it. Metalinks 3 and 4 name files and torrents by the same element.
const DECIDING: [(&str, &str, &str, bool); 4] = [
    ("", "isPermaLink", "false", false),
    ("metaurl", "mediatype", "torrent", true),
    ("metaurl", "mediatype", "application/x-bittorrent", true),
    ("url", "type", "bittorrent", true),
];

/// An element whose text is being collected.
struct OpenElement {
    name: String,
    text: Text,
    so_far: String,
}

/// Every link of the document `body`, which is in `encoding`, in document order; at most [`LINKS_PER_PAGE_MAX`].
/// Magnet and other encoded links have the kind [`LinkKind::Encoded`].
#[must_use]
pub fn links(body: &[u8], encoding: &'static Encoding) -> PageLinks<'static> {
    let (text, _) = encoding.decode_with_bom_removal(body);
    if json::is_listing(body) {
        return json::links(&text);
    }
    if folders::is_listing(body, encoding) {
        return folders::links(&text);
    }
    let mut reader = reader(&text);
    let mut found = PageLinks::default();
    let mut open: Option<OpenElement> = None;
    let mut item = Item::default();
    while !found.truncated {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                if items::is_item(tag.local_name().as_ref()) {
                    item.end(&mut found);
                }
                attributes(&tag, &mut item, &mut found);
                if let Some(opened) = opens(&tag) {
                    open = Some(opened);
                }
            }
            Ok(Event::Empty(tag)) => attributes(&tag, &mut item, &mut found),
            Ok(Event::End(tag)) => {
                if let Some(done) = open.take_if(|open| open.name == tag.local_name().as_ref()) {
                    take_text(&done, &mut item, &mut found);
                }
                if items::is_item(tag.local_name().as_ref()) {
                    item.end(&mut found);
                }
            }
            Ok(Event::Text(text)) => append(&mut open, &text),
            Ok(Event::CData(text)) => append(&mut open, &text),
            Ok(Event::GeneralRef(reference)) => append(&mut open, &character(&reference)),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Eof) | Err(_) => break,
        }
    }
    item.end(&mut found);
    found
}

/// A parser for feeds that are written by hand: a bare `&` in a URL and a wrong end tag do not affect the links.
fn reader(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    reader
}

fn opens(tag: &BytesStart<'_>) -> Option<OpenElement> {
    let name = tag.local_name();
    let text = text_of(name.as_ref())?;
    let mut is_link = !DECIDING.iter().any(|(element, .., makes)| *makes && *element == name.as_ref());
    for attribute in tag.attributes().with_checks(false).flatten() {
        let decides = |(element, key, value, _): &&(&str, &str, &str, bool)| {
            (element.is_empty() || *element == name.as_ref())
                && attribute.key.as_ref().eq_ignore_ascii_case(key)
                && attribute.value.trim().eq_ignore_ascii_case(value)
        };
        is_link = DECIDING.iter().find(decides).map_or(is_link, |(.., makes)| *makes);
    }
    is_link.then(|| OpenElement { name: name.as_ref().to_owned(), text, so_far: String::new() })
}

fn append(open: &mut Option<OpenElement>, text: &str) {
    if let Some(open) = open {
        open.so_far.push_str(text);
    }
}

/// The text of a reference. Names defined only in a DTD stay as written.
fn character<'a>(reference: &'a BytesRef<'_>) -> Cow<'a, str> {
    let name: &str = reference;
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Cow::Owned(character.to_string());
    }
    resolve_xml_entity(name).map_or_else(|| Cow::Owned(format!("&{name};")), Cow::Borrowed)
}

/// Attributes that contain URLs, on any element, and infohashes: `<torznab:attr name="infohash" value="…"/>`.
fn attributes(tag: &BytesStart<'_>, item: &mut Item, found: &mut PageLinks<'static>) {
    let mut url = None;
    let mut rel = None;
    let mut names_infohash = false;
    let mut value = None;
    // Checks for duplicates would be quadratic.
    for attribute in tag.attributes().with_checks(false).flatten() {
        match attribute.key.as_ref() {
            "rel" => rel = Some(decode_attribute(&attribute.value).into_owned()),
            "xml:base" if found.base.is_none() && found.links.is_empty() => {
                found.base = Some(Cow::Owned(links::strip_url(&decode_attribute(&attribute.value)).into_owned()));
            }
            "href" | "xlink:href" | "url" | "rdf:resource" | "resource" | "rdf:about" | "about" => {
                url = url.or_else(|| Some(decode_attribute(&attribute.value).into_owned()));
            }
            // <torznab:attr name="magneturl" value="magnet:…"/>
            "value" if encoded_links::is_encoded(&attribute.value) => {
                url = url.or_else(|| Some(decode_attribute(&attribute.value).into_owned()));
            }
            "name" => names_infohash = attribute.value.trim().eq_ignore_ascii_case("infohash"),
            "value" => value = Some(attribute.value),
            _ => {}
        }
    }
    if let Some(value) = value.filter(|_| names_infohash) {
        item.infohash(&value);
    }
    if let Some(url) = url {
        push(&url, rel.as_deref(), found);
    }
}

fn take_text(done: &OpenElement, item: &mut Item, found: &mut PageLinks<'static>) {
    let text = done.so_far.trim();
    match done.text {
        Text::Url => push(text, None, found),
        Text::UrlOrName if text.contains("://") || encoded_links::is_encoded(text) => push(text, None, found),
        Text::UrlOrName => {}
        Text::Html => push_html(text, found),
        Text::Title => item.title(text),
        Text::Infohash => item.infohash(text),
    }
}

/// The links of markup within a document.
fn push_html(html: &str, found: &mut PageLinks<'static>) {
    for link in links::scan(html.as_bytes(), UTF_8).links {
        let kind = if link.kind == LinkKind::Encoded { LinkKind::Encoded } else { LinkKind::Anchor };
        push_as(&link.href, kind, found);
    }
}

fn push(url: &str, rel: Option<&str>, found: &mut PageLinks<'static>) {
    let url = links::strip_url(url);
    push_as(&url, links::anchor_kind(&url, rel), found);
}

fn push_as(url: &str, kind: LinkKind, found: &mut PageLinks<'static>) {
    if url.is_empty() || found.truncated {
        return;
    }
    if found.links.len() == LINKS_PER_PAGE_MAX {
        found.truncated = true;
        return;
    }
    found.links.push(Link { href: Cow::Owned(url.to_owned()), kind });
}

#[cfg(test)]
mod tests;
