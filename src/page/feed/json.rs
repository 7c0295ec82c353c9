//! Documents in JSON that list: JSON Feed 1 and 1.1 (jsonfeed.org), and nginx' `autoindex_format json`.
//!
//! They are read as a stream: no document becomes a tree, and a broken one yields the links before its fault.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::folders::reference;
use super::{push, push_as, push_html};
use crate::links::{LinkKind, PageLinks, strip_url};

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Feed,
    Items,
    Item,
    Attachments,
    Attachment,
    Folder,
    Entry,
    Url,
    NextUrl,
    Html,
    Name,
    Type,
}

/// What the values of an object are: the place, the key, the place of the value.
const MEMBERS: [(Place, &str, Place); 10] = [
    (Place::Feed, "home_page_url", Place::Url),
    (Place::Feed, "next_url", Place::NextUrl),
    (Place::Feed, "items", Place::Items),
    (Place::Item, "url", Place::Url),
    (Place::Item, "external_url", Place::Url),
    (Place::Item, "content_html", Place::Html),
    (Place::Item, "attachments", Place::Attachments),
    (Place::Attachment, "url", Place::Url),
    (Place::Entry, "name", Place::Name),
    (Place::Entry, "type", Place::Type),
];

/// True for such a document, by its first keys. A feed tells its version, an entry of a folder its name and kind.
pub(super) fn is_listing(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    match text {
        [b'{', ..] => memchr::memmem::find(text, b"jsonfeed.org").is_some(),
        [b'[', rest @ ..] => is_entry(rest.trim_ascii_start()),
        _ => false,
    }
}

fn is_entry(text: &[u8]) -> bool {
    let value = |key: &[u8]| {
        let rest = text[memchr::memmem::find(text, key)? + key.len()..].trim_ascii_start();
        Some(rest.strip_prefix(b":")?.trim_ascii_start())
    };
    let kinds: [&[u8]; 3] = [b"\"directory\"", b"\"file\"", b"\"other\""];
    text.starts_with(b"{")
        && value(b"\"name\"").is_some()
        && value(b"\"type\"").is_some_and(|kind| kinds.iter().any(|known| kind.starts_with(known)))
}

/// The links of such a document.
pub(super) fn links(text: &str) -> PageLinks<'static> {
    let mut found = PageLinks::default();
    let text = text.trim_start_matches('\u{feff}');
    let place = if text.trim_ascii_start().starts_with('[') { Place::Folder } else { Place::Feed };
    let mut entry = Entry::default();
    let reading = Reading { place, entry: &mut entry, found: &mut found };
    // A fault ends the document; what came before it was taken.
    let _ = reading.deserialize(&mut serde_json::Deserializer::from_str(text));
    found
}

/// The entry of a folder, whose members come in any order.
#[derive(Default)]
struct Entry {
    name: String,
    is_folder: bool,
}

struct Reading<'r> {
    place: Place,
    entry: &'r mut Entry,
    found: &'r mut PageLinks<'static>,
}

impl Reading<'_> {
    fn at(&mut self, place: Place) -> Reading<'_> {
        Reading { place, entry: self.entry, found: self.found }
    }

    fn text(&mut self, text: &str) {
        match self.place {
            Place::Url => push(text, None, self.found),
            Place::NextUrl => push_as(&strip_url(text), LinkKind::Next, self.found),
            Place::Html => push_html(text, self.found),
            Place::Name => text.clone_into(&mut self.entry.name),
            Place::Type => self.entry.is_folder = text == "directory",
            _ => {}
        }
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.text(text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<(), A::Error> {
        let of = match self.place {
            Place::Items => Place::Item,
            Place::Attachments => Place::Attachment,
            Place::Folder => Place::Entry,
            _ => {
                while sequence.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(());
            }
        };
        while sequence.next_element_seed(self.at(of))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let member = MEMBERS.iter().find(|(place, name, _)| *place == self.place && *name == key);
            match member {
                Some(&(.., of)) => map.next_value_seed(self.at(of))?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if self.place == Place::Entry {
            let entry = std::mem::take(self.entry);
            if !entry.name.is_empty() {
                push_as(&reference(&entry.name, entry.is_folder), LinkKind::Anchor, self.found);
            }
        }
        Ok(())
    }
}
