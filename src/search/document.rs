//! A torrent as the index holds it. The row itself stays in the database: the index returns archive keys.

use std::collections::BTreeSet;

use gleaner_base::url::tracker_without_keys;
use gleaner_store::crawldb::{MagnetRow, TorrentRow};
use gleaner_torrent::contents::{ContainedFile, Contents};
use gleaner_torrent::{Infohashes, magnet};
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::category::{self, extension, parent};
use crate::filing::{self, Filing};
use crate::limits::{DOMAINS_MAX, EXTENSIONS_MAX, TEXT_BYTES_MAX};
use crate::title::Title;
use crate::words::WORDS;

/// Raised with each change of what a document holds: an index of another version is made again.
pub const VERSION: u64 = 4;

/// The fields of a document.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The archive key.
    pub key: Field,
    /// Each infohash: the key is one of them.
    pub hash: Field,
    pub name: Field,
    /// Paths of its files.
    pub files: Field,
    pub extension: Field,
    /// Names of the sites that have it.
    pub site: Field,
    /// The category's number, its parent's, and those of its sites' labels.
    pub category: Field,
    /// Bytes of the payload.
    pub size: Field,
    /// Milliseconds of its storing.
    pub stored: Field,
    /// Time of storing and the beginning of the key: the order "newest first".
    pub order: Field,
    pub year: Field,
    pub season: Field,
    pub episode: Field,
    pub private: Field,
    pub v1: Field,
    pub v2: Field,
    /// Hosts of its trackers, and the domains that these are in.
    pub tracker: Field,
    /// What its sites call it, in lower case: `label`, and `site: label`.
    pub label: Field,
    /// 1 of what is known by a magnet link alone; absent of torrents.
    pub magnet: Field,
}

/// The index's schema, with its fields.
#[must_use]
pub fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing =
        || TextFieldIndexing::default().set_tokenizer(WORDS).set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = || TextOptions::default().set_indexing_options(indexing());
    let number = || NumericOptions::from(INDEXED) | FAST;
    let fields = Fields {
        key: schema.add_bytes_field("key", STORED),
        hash: schema.add_bytes_field("hash", INDEXED),
        name: schema.add_text_field("name", text()),
        files: schema.add_text_field("files", text()),
        extension: schema.add_text_field("extension", STRING),
        site: schema.add_text_field("site", STRING | FAST),
        category: schema.add_u64_field("category", number()),
        size: schema.add_u64_field("size", number()),
        stored: schema.add_u64_field("stored", number()),
        order: schema.add_u64_field("order", FAST),
        year: schema.add_u64_field("year", number()),
        season: schema.add_u64_field("season", INDEXED),
        episode: schema.add_u64_field("episode", INDEXED),
        private: schema.add_u64_field("private", number()),
        v1: schema.add_u64_field("v1", INDEXED),
        v2: schema.add_u64_field("v2", INDEXED),
        tracker: schema.add_text_field("tracker", STRING),
        label: schema.add_text_field("label", STRING),
        magnet: schema.add_u64_field("magnet", INDEXED),
    };
    (schema.build(), fields)
}

/// Bits of the key behind the time in `order`.
const KEY_BITS: u32 = 20;

/// The place of a torrent among the newest.
#[must_use]
pub fn order(stored_ms: u64, key: &[u8]) -> u64 {
    let first = [key.first(), key.get(1), key.get(2)].map(|byte| u64::from(byte.copied().unwrap_or_default()));
    let beginning = (first[0] << 16 | first[1] << 8 | first[2]) >> (24 - KEY_BITS);
    // Until the year 2500.
    (stored_ms << KEY_BITS) | beginning
}

impl Fields {
    /// A torrent with what its file holds, if that could be read.
    #[must_use]
    pub fn document(&self, row: &TorrentRow, contents: Option<&Contents>, filing: &Filing) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let facts = &row.facts;
        self.add_identity(&mut document, &facts.infohashes, row.stored.0);
        document.add_text(self.name, &facts.name[..facts.name.floor_char_boundary(TEXT_BYTES_MAX)]);
        let files = contents.map(|contents| &contents.files[..]).unwrap_or_default();
        self.add_files(&mut document, &facts.name, files.iter().map(|file| &*file.path));
        self.add_trackers(&mut document, contents.map(|contents| &contents.trackers[..]).unwrap_or_default());
        let sites: BTreeSet<&str> = row.sources.iter().map(|source| &*source.site).chain([&*row.site]).collect();
        for site in sites.into_iter().filter(|site| !site.is_empty()) {
            document.add_text(self.site, site);
        }
        filing::labels(row).into_iter().for_each(|number| document.add_u64(self.category, number.into()));
        let labels = row.sources.iter().filter_map(|source| Some((&*source.site, &*source.label.as_ref()?.text)));
        self.add_labels(&mut document, labels);
        document.add_u64(self.size, facts.payload_bytes);
        document.add_u64(self.private, facts.private.into());
        self.add_category(&mut document, filing.category(row, files).0, &facts.name, files);
        document
    }

    /// What is known by a magnet link alone.
    #[must_use]
    pub fn of_magnet(&self, row: &MagnetRow, filing: &Filing) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let name = row.facts.name.as_deref().unwrap_or_default();
        self.add_identity(&mut document, &row.facts.infohashes, row.first_seen.0);
        document.add_u64(self.magnet, 1);
        document.add_text(self.name, &name[..name.floor_char_boundary(TEXT_BYTES_MAX)]);
        if let Ok(link) = magnet::parse(&row.facts.link) {
            self.add_trackers(&mut document, &link.trackers);
            link.payload_bytes.into_iter().for_each(|bytes| document.add_u64(self.size, bytes));
        }
        if !row.site.is_empty() {
            document.add_text(self.site, &row.site);
        }
        row.label.iter().for_each(|label| document.add_u64(self.category, label.number.into()));
        self.add_labels(&mut document, row.label.iter().map(|label| (&*row.site, &*label.text)));
        self.add_category(&mut document, filing.of_magnet(row), name, &[]);
        document
    }

    fn add_identity(&self, document: &mut TantivyDocument, infohashes: &Infohashes, stored_ms: u64) {
        document.add_bytes(self.key, infohashes.key());
        if let Some(v1) = &infohashes.v1 {
            document.add_bytes(self.hash, v1);
        }
        if let Some(v2) = &infohashes.v2 {
            document.add_bytes(self.hash, v2);
        }
        document.add_u64(self.stored, stored_ms);
        document.add_u64(self.order, order(stored_ms, infohashes.key()));
        document.add_u64(self.v1, infohashes.v1.is_some().into());
        document.add_u64(self.v2, infohashes.v2.is_some().into());
    }

    /// Its category, and what the name says of films and of what has a year.
    fn add_category(&self, document: &mut TantivyDocument, category: u32, name: &str, files: &[ContainedFile]) {
        document.add_u64(self.category, category.into());
        if parent(category) != category {
            document.add_u64(self.category, parent(category).into());
        }
        // Names of programs and of data have numbers that mean something else.
        let title = match parent(category) {
            2000 | 5000 => category::title(name, files),
            3000 | 7000 => Title { year: Title::of(name).year, ..Title::default() },
            _ => Title::default(),
        };
        for (field, value) in [(self.year, title.year), (self.season, title.season)] {
            if let Some(value) = value {
                document.add_u64(field, value.into());
            }
        }
        for number in title.episode_numbers() {
            document.add_u64(self.episode, number);
        }
    }

    /// Sites with their words for it.
    fn add_labels<'l>(&self, document: &mut TantivyDocument, labels: impl Iterator<Item = (&'l str, &'l str)>) {
        let texts: BTreeSet<String> = labels
            .flat_map(|(site, label)| [label.to_lowercase(), format!("{site}: {label}").to_lowercase()])
            .collect();
        texts.into_iter().for_each(|text| document.add_text(self.label, text));
    }

    fn add_trackers(&self, document: &mut TantivyDocument, trackers: &[String]) {
        let hosts: BTreeSet<String> = trackers.iter().filter_map(|tracker| host_of(tracker)).collect();
        let names: BTreeSet<&str> = hosts.iter().flat_map(|host| domains(host)).collect();
        names.into_iter().for_each(|name| document.add_text(self.tracker, name));
    }

    /// Paths within a bound of bytes, and their extensions.
    fn add_files<'p>(&self, document: &mut TantivyDocument, name: &str, paths: impl Iterator<Item = &'p str>) {
        let mut left = TEXT_BYTES_MAX;
        let mut extensions = BTreeSet::new();
        let mut texts = Vec::new();
        for path in paths {
            let Some(rest) = left.checked_sub(path.len() + 1) else { break };
            left = rest;
            if extensions.len() < EXTENSIONS_MAX {
                extensions.extend(extension(path));
            }
            // A torrent of one file has its name as path.
            if path != name {
                texts.push(path);
            }
        }
        document.add_text(self.files, texts.join("\n"));
        extensions.into_iter().for_each(|extension| document.add_text(self.extension, extension));
    }
}

/// The host of a tracker's URL, in lower case, without a key that stands in it.
fn host_of(tracker: &str) -> Option<String> {
    let shown = tracker_without_keys(tracker);
    let behind = shown.split_once("://")?.1;
    let authority = behind.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => host.split(':').next()?,
    };
    Some(host.trim_end_matches('.').to_ascii_lowercase()).filter(|host| !host.is_empty())
}

/// A host, and the domains of two labels and more that it is in; an address is in none.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let is_name = host.parse::<std::net::IpAddr>().is_err();
    let below = host.match_indices('.').map(|(at, _)| &host[at + 1..]).filter(move |of| is_name && of.contains('.'));
    std::iter::once(host).chain(below).take(DOMAINS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_is_known_by_its_host_and_the_domains_that_it_is_in() {
        let of = |tracker: &str| host_of(tracker).map(|host| domains(&host).map(str::to_owned).collect::<Vec<_>>());
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(of("udp://A.Tracker.example:80/announce"), named(&["a.tracker.example", "tracker.example"]));
        assert_eq!(of("http://10.0.0.1:6969/announce"), named(&["10.0.0.1"]));
        assert_eq!(of("http://u:p@[::1]:80/a"), named(&["::1"]));
        assert_eq!([of(""), of("http://"), of("no url")], [None, None, None]);
    }

    #[test]
    fn the_order_is_that_of_time_and_then_of_keys() {
        let places =
            [(1, [0xff; 20]), (2, [0; 20]), (2, [1; 20]), (1_795_651_200_000, [0; 20]), (1_795_651_200_001, [0; 20])];
        assert!(places.map(|(at, key)| order(at, &key)).is_sorted());
    }
}
