//! A torrent as the index holds it. The row itself stays in the database: the index returns archive keys.

use std::collections::BTreeSet;

use gleaner_store::crawldb::TorrentRow;
use gleaner_torrent::contents::Contents;
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};

use crate::category::{self, extension, parent};
use crate::filing::{self, Filing};
use crate::limits::{EXTENSIONS_MAX, TEXT_BYTES_MAX};
use crate::title::Title;
use crate::words::WORDS;

/// Raised with each change of what a document holds: an index of another version is made again.
pub const VERSION: u64 = 3;

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
        document.add_bytes(self.key, facts.infohashes.key());
        if let Some(v1) = &facts.infohashes.v1 {
            document.add_bytes(self.hash, v1);
        }
        if let Some(v2) = &facts.infohashes.v2 {
            document.add_bytes(self.hash, v2);
        }
        document.add_text(self.name, &facts.name[..facts.name.floor_char_boundary(TEXT_BYTES_MAX)]);
        let files = contents.map(|contents| &contents.files[..]).unwrap_or_default();
        self.add_files(&mut document, &facts.name, files.iter().map(|file| &*file.path));
        let sites: BTreeSet<&str> = row.sources.iter().map(|source| &*source.site).chain([&*row.site]).collect();
        for site in sites.into_iter().filter(|site| !site.is_empty()) {
            document.add_text(self.site, site);
        }
        let (category, _) = filing.category(row, files);
        filing::labels(row).into_iter().for_each(|number| document.add_u64(self.category, number.into()));
        document.add_u64(self.category, category.into());
        if parent(category) != category {
            document.add_u64(self.category, parent(category).into());
        }
        document.add_u64(self.size, facts.payload_bytes);
        document.add_u64(self.stored, row.stored.0);
        document.add_u64(self.order, order(row.stored.0, facts.infohashes.key()));
        document.add_u64(self.private, facts.private.into());
        document.add_u64(self.v1, facts.infohashes.v1.is_some().into());
        document.add_u64(self.v2, facts.infohashes.v2.is_some().into());
        // Names of programs and of data have numbers that mean something else.
        let title = match parent(category) {
            2000 | 5000 => category::title(&facts.name, files),
            3000 | 7000 => Title { year: Title::of(&facts.name).year, ..Title::default() },
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
        document
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_time_and_then_of_keys() {
        let places =
            [(1, [0xff; 20]), (2, [0; 20]), (2, [1; 20]), (1_795_651_200_000, [0; 20]), (1_795_651_200_001, [0; 20])];
        assert!(places.map(|(at, key)| order(at, &key)).is_sorted());
    }
}
