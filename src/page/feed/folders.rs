//! Listings of folders that servers write in XML: of S3 and what answers as S3 does (`ListBucketResult`), and of nginx
//! (`autoindex_format xml`). Names become references relative to the page.
//!
//! A bucket has a host of its own, or is a folder of its host, which its name tells.

use std::borrow::Cow;

use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use quick_xml::events::Event;

use super::{character, has_root, push_as, reader};
use crate::links::{LinkKind, PageLinks};

/// What a path may not hold as it stands, in names that are no references yet.
const IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'^');

const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

const BUCKET: &[u8] = b"listbucketresult";

/// True for the listing of a bucket, or of a folder by nginx.
pub(super) fn is_listing(body: &[u8], encoding: &'static Encoding) -> bool {
    has_root(body, encoding, &[BUCKET]) || (has_root(body, encoding, &[b"list"]) && is_autoindex(body))
}

/// A `list` is nginx' if one of its entries comes first.
fn is_autoindex(body: &[u8]) -> bool {
    let entries: [&[u8]; 3] = [b"<directory", b"<file", b"<other"];
    let root = memchr::memmem::find(body, b"<list").map(|at| &body[at + 1..]);
    let entry = root.and_then(|root| Some(&root[memchr::memchr(b'<', root)?..]));
    entry.is_some_and(|entry| entries.iter().any(|start| entry.starts_with(start)))
}

/// The reference to what has this name in the page's folder.
pub(super) fn reference(name: &str, is_folder: bool) -> String {
    if name.is_empty() {
        return String::new();
    }
    // What may be read as a scheme or a root is a name here.
    let front = if name.contains(':') || name.starts_with('/') { "./" } else { "" };
    let slash = if is_folder && !name.ends_with('/') { "/" } else { "" };
    format!("{front}{}{slash}", utf8_percent_encode(name, IN_PATH))
}

/// What a bucket tells of its listing.
#[derive(Default)]
struct Bucket {
    in_common_prefixes: bool,
    names_are_encoded: bool,
    is_second_version: bool,
    is_truncated: bool,
    prefix: String,
    delimiter: String,
    folders: Vec<String>,
    last_key: String,
    next_marker: String,
    next_token: String,
}

/// The links of such a listing.
pub(super) fn links(text: &str) -> PageLinks<'static> {
    let mut reader = reader(text);
    let mut found = PageLinks::default();
    let mut bucket = Bucket::default();
    let mut so_far = String::new();
    while !found.truncated {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                so_far.clear();
                bucket.in_common_prefixes |= tag.local_name().as_ref() == "CommonPrefixes";
            }
            Ok(Event::End(tag)) => {
                bucket.element(tag.local_name().as_ref(), &so_far, &mut found);
                so_far.clear();
            }
            Ok(Event::Text(text)) => so_far.push_str(&text),
            Ok(Event::CData(text)) => so_far.push_str(&text),
            Ok(Event::GeneralRef(reference)) => so_far.push_str(&character(&reference)),
            Ok(Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Ok(Event::Eof) | Err(_) => break,
        }
    }
    bucket.end(&mut found);
    found
}

impl Bucket {
    fn element(&mut self, name: &str, text: &str, found: &mut PageLinks<'static>) {
        match name {
            "directory" | "file" => push_as(&reference(text, name == "directory"), LinkKind::Anchor, found),
            "Key" => {
                let key = self.name(text);
                push_as(&reference(&key, false), LinkKind::Anchor, found);
                self.last_key = key.into_owned();
            }
            "Name" if !text.is_empty() => found.folder = Some(Cow::Owned(text.to_owned())),
            "CommonPrefixes" => self.in_common_prefixes = false,
            "Prefix" if self.in_common_prefixes => self.folders.push(self.name(text).into_owned()),
            "Prefix" => self.prefix = self.name(text).into_owned(),
            "Delimiter" => self.delimiter = self.name(text).into_owned(),
            "EncodingType" => self.names_are_encoded = text.trim() == "url",
            "KeyCount" => self.is_second_version = true,
            "IsTruncated" => self.is_truncated = text.trim().eq_ignore_ascii_case("true"),
            "NextMarker" => self.next_marker = self.name(text).into_owned(),
            "NextContinuationToken" => text.trim().clone_into(&mut self.next_token),
            _ => {}
        }
    }

    fn name<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.names_are_encoded {
            Cow::Owned(percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned())
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Folders and the next page. How a folder is listed differs: by its name, and by a query for its prefix.
    fn end(&self, found: &mut PageLinks<'static>) {
        for folder in &self.folders {
            push_as(&reference(folder, true), LinkKind::Anchor, found);
            if !self.delimiter.is_empty() {
                push_as(&self.query(("", ""), folder), LinkKind::Anchor, found);
            }
        }
        let next = match (&*self.next_token, &*self.next_marker, &*self.last_key) {
            ("", "", last) => ("marker", last),
            ("", marker, _) => ("marker", marker),
            (token, ..) => ("continuation-token", token),
        };
        if self.is_truncated && !next.1.is_empty() {
            push_as(&self.query(next, &self.prefix), LinkKind::Next, found);
        }
    }

    /// The query for a part of the listing.
    fn query(&self, place: (&str, &str), prefix: &str) -> String {
        let version = if self.is_second_version || place.0 == "continuation-token" { "2" } else { "" };
        let parameters = [("list-type", version), place, ("prefix", prefix), ("delimiter", &self.delimiter)];
        let set = parameters.into_iter().filter(|(_, value)| !value.is_empty());
        let written = set.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, IN_QUERY)));
        format!("?{}", written.collect::<Vec<_>>().join("&"))
    }
}
