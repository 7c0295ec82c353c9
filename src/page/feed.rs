//! Links of feeds and sitemaps: RSS, Atom, RDF (RSS 1.0) and the sitemap protocol, with an XML parser.
//!
//! The HTML link scanner finds little in them: a URL is in the text of an element (`<link>`, `<guid>`, `<loc>`), in
//! an attribute of any name (`enclosure url`, `rdf:resource`), or in HTML that is itself escaped (`<description>`).
//! Namespaces are not resolved: real feeds agree on prefixes, if on anything.
//!
//! DTD entities are never expanded, and nothing is loaded. A malformed document yields the links before the error.
//! Linear in the body, no recursion; never resolves a URL, never fails.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::encoded_links;
use super::entities::decode_attribute;
use super::links::{self, Link, LinkKind, PageLinks};
use crate::limits::LINKS_PER_PAGE_MAX;

/// Root elements of supported documents.
const ROOTS: &[&[u8]] = &[b"rss", b"feed", b"rdf:rdf", b"urlset", b"sitemapindex"];

/// True for a body whose root element is a feed's or a sitemap's. Reads only up to the root.
#[must_use]
pub fn is_feed(body: &[u8], encoding: &'static Encoding) -> bool {
    has_root(body, encoding, ROOTS)
}

/// True for a body whose root element has one of these names, in lower case.
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
                return names.iter().any(|name| {
                    root.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
                        && root
                            .get(name.len())
                            .is_none_or(|byte| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace())
                });
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
}

fn text_of(element: &str) -> Option<Text> {
    match element {
        "link" | "comments" | "loc" | "magnetURI" | "origLink" => Some(Text::Url),
        "guid" | "id" => Some(Text::UrlOrName),
        "description" | "encoded" | "summary" | "content" => Some(Text::Html),
        _ => None,
    }
}

/// An element whose text is being collected.
struct OpenElement {
    name: String,
    text: Text,
    so_far: String,
}

/// Every link of the feed or sitemap `body`, which is in `encoding`, in document order; at most
/// [`LINKS_PER_PAGE_MAX`]. Magnet and other encoded links have the kind [`LinkKind::Encoded`].
#[must_use]
pub fn links(body: &[u8], encoding: &'static Encoding) -> PageLinks<'static> {
    let (text, _) = encoding.decode_with_bom_removal(body);
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    // Some feeds are written by hand: a bare `&` in a URL and a wrong end tag do not affect the links.
    config.allow_dangling_amp = true;
    config.allow_unmatched_ends = true;
    config.check_end_names = false;
    let mut found = PageLinks::default();
    let mut open: Option<OpenElement> = None;
    while !found.truncated {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                attributes(&tag, &mut found);
                if let Some(opened) = opens(&tag) {
                    open = Some(opened);
                }
            }
            Ok(Event::Empty(tag)) => attributes(&tag, &mut found),
            Ok(Event::End(tag)) => {
                if let Some(done) = open.take_if(|open| open.name == tag.local_name().as_ref()) {
                    take_text(&done, &mut found);
                }
            }
            Ok(Event::Text(text)) => append(&mut open, &text),
            Ok(Event::CData(text)) => append(&mut open, &text),
            Ok(Event::GeneralRef(reference)) => append(&mut open, &character(&reference)),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Eof) | Err(_) => break,
        }
    }
    found
}

fn opens(tag: &BytesStart<'_>) -> Option<OpenElement> {
    let name = tag.local_name();
    let text = text_of(name.as_ref())?;
    let is_no_link = tag.attributes().with_checks(false).flatten().any(|attribute| {
        attribute.key.as_ref().eq_ignore_ascii_case("isPermaLink")
            && attribute.value.trim().eq_ignore_ascii_case("false")
    });
    (!is_no_link).then(|| OpenElement { name: name.as_ref().to_owned(), text, so_far: String::new() })
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

/// Attributes that contain URLs, on any element.
fn attributes(tag: &BytesStart<'_>, found: &mut PageLinks<'static>) {
    let mut url = None;
    let mut rel = None;
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
            _ => {}
        }
    }
    if let Some(url) = url {
        push(&url, rel.as_deref(), found);
    }
}

fn take_text(done: &OpenElement, found: &mut PageLinks<'static>) {
    let text = done.so_far.trim();
    match done.text {
        Text::Url => push(text, None, found),
        Text::UrlOrName if text.contains("://") || encoded_links::is_encoded(text) => push(text, None, found),
        Text::UrlOrName => {}
        Text::Html => {
            for link in links::scan(text.as_bytes(), UTF_8).links {
                let kind = if link.kind == LinkKind::Encoded { LinkKind::Encoded } else { LinkKind::Anchor };
                push_as(&link.href, kind, found);
            }
        }
    }
}

fn push(url: &str, rel: Option<&str>, found: &mut PageLinks<'static>) {
    let url = links::strip_url(url);
    push_as(&url, links::anchor_kind(&url, rel), found);
}

fn push_as(url: &str, kind: LinkKind, found: &mut PageLinks<'static>) {
    if url.is_empty() {
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
