//! Asks the index: which torrents, in which order, how many, and of what kinds.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::aggregation::AggregationCollector;
use tantivy::aggregation::agg_req::Aggregations;
use tantivy::aggregation::agg_result::{AggregationResult, BucketEntries, BucketResult, RangeBucketEntry};
use tantivy::collector::{Count, DocSetCollector, TopDocs};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhrasePrefixQuery, PhraseQuery,
    Query as IndexQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term};

use crate::category::OF_SITES;
use crate::document::{Fields, VERSION, schema};
use crate::limits;
use crate::query::{Clause, Filters, Query, Range};
use crate::title::episode_number;
use crate::words::{WORDS, Words};

/// How the hits are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Stored last first.
    #[default]
    Newest,
    /// What fits best first.
    Relevance,
    /// The largest payload first.
    Size,
}

/// One torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its archive key; of a magnet the key of its infohashes.
    pub key: Vec<u8>,
    /// The number of its category.
    pub category: u32,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// All torrents that fit.
    pub total: usize,
    pub hits: Vec<Hit>,
}

/// How many of the torrents that fit are of which site, category, year, and private (0, 1). The most frequent values.
pub type Facets = BTreeMap<&'static str, Vec<(String, u64)>>;

/// Why a search has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index is not there, or not one of this version: it is made again.
    #[error("there is no index yet\nhint: it is made while `gleaner run` runs, or by `gleaner search`")]
    Missing,
    #[error("{0}: {1}")]
    Index(PathBuf, tantivy::TantivyError),
}

impl SearchError {
    /// True unless the same index may be read in a while.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        // What tantivy says of a file that ends too early, or is none of its own.
        let is_of_content =
            |error: &io::Error| matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData);
        match self {
            Self::Missing => true,
            Self::Index(_, TantivyError::IoError(error)) => is_of_content(error),
            Self::Index(_, TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })) => {
                is_of_content(io_error)
            }
            Self::Index(_, TantivyError::LockFailure(..) | TantivyError::OpenDirectoryError(_)) => false,
            Self::Index(..) => true,
        }
    }
}

/// The folder of the index in a data folder.
#[must_use]
pub fn index_path(data_dir: &Path) -> PathBuf {
    data_dir.join("search")
}

/// What a commit says of the index, within the commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    pub version: u64,
    /// The number of the database itself.
    pub database: u64,
    /// Changes of the database up to this one are in the index; its archive key (hex) tells another database's line of changes.
    pub change: u64,
    pub key: String,
    /// While the index is made: all torrents, then all magnets, up to this archive key (hex) are in it.
    pub reading_after: Option<String>,
    /// [`crate::filing::Filing::digest`] of what torrents are filed by.
    #[serde(default)]
    pub filing: u64,
    /// How often sites had given known torrents other labels by then.
    #[serde(default)]
    pub relabelled: u64,
    /// While torrents are filed again: all up to this archive key (hex) are.
    #[serde(default)]
    pub refiling_after: Option<String>,
}

/// Opens the index in this folder, without creating anything.
pub(crate) fn open(folder: &Path) -> Result<(Index, Fields, Watermark), SearchError> {
    open_with(folder, Index::open)
}

fn open_with(
    folder: &Path,
    opened: impl FnOnce(MmapDirectory) -> tantivy::Result<Index>,
) -> Result<(Index, Fields, Watermark), SearchError> {
    let fault = |error| SearchError::Index(folder.to_path_buf(), error);
    match fs::metadata(folder.join("meta.json")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(SearchError::Missing),
        Err(error) => return Err(fault(error.into())),
        Ok(_) => {}
    }
    let directory = MmapDirectory::open(folder).map_err(|error| fault(error.into()))?;
    let index = opened(directory).map_err(fault)?;
    let (schema, fields) = schema();
    let payload = index.load_metas().map_err(fault)?.payload.unwrap_or_default();
    let watermark = serde_json::from_str::<Watermark>(&payload).unwrap_or_default();
    if index.schema() != schema || watermark.version != VERSION {
        return Err(SearchError::Missing);
    }
    index.tokenizers().register(WORDS, TextAnalyzer::from(Words));
    Ok((index, fields, watermark))
}

/// A folder that is only read: a lock would have to be written.
#[derive(Clone, Debug)]
struct Unlocked(MmapDirectory);

impl Directory for Unlocked {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

fn read_only() -> io::Error {
    io::Error::new(ErrorKind::ReadOnlyFilesystem, "the index is only read here")
}

/// An open index.
pub struct Search {
    folder: PathBuf,
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

impl Search {
    /// Opens the index of a data folder for reading; another process may write it.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(data_dir: &Path) -> Result<Self, SearchError> {
        const TRIES: usize = 5;
        let folder = index_path(data_dir);
        let try_open = || {
            let (index, fields, _) = open_with(&folder, |directory| Index::open(Unlocked(directory)))?;
            Self::of(folder.clone(), &index, fields)
        };
        // Its writer may remove what was merged between two reads.
        let mut opened = try_open();
        for _ in 1..TRIES {
            match opened {
                Err(SearchError::Index(..)) => opened = try_open(),
                opened => return opened,
            }
        }
        opened
    }

    pub(crate) fn of(folder: PathBuf, index: &Index, fields: Fields) -> Result<Self, SearchError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(|error| SearchError::Index(folder.clone(), error))?;
        Ok(Self { folder, index: index.clone(), reader, fields })
    }

    /// True if the index has every change of the database up to this one: a look at its last commit.
    ///
    /// # Errors
    /// Those of the index.
    pub fn has_change(&self, change: u64) -> Result<bool, SearchError> {
        let payload = self.index.load_metas().map_err(|error| self.fault(error))?.payload.unwrap_or_default();
        let watermark = serde_json::from_str::<Watermark>(&payload).unwrap_or_default();
        Ok(watermark.version == VERSION && watermark.reading_after.is_none() && watermark.change >= change)
    }

    /// The last change of the database that its last commit has.
    ///
    /// # Errors
    /// Those of the index.
    pub fn change(&self) -> Result<u64, SearchError> {
        let payload = self.index.load_metas().map_err(|error| self.fault(error))?.payload.unwrap_or_default();
        Ok(serde_json::from_str::<Watermark>(&payload).unwrap_or_default().change)
    }

    /// What torrents are filed by in the last commit; None while they are filed again.
    ///
    /// # Errors
    /// Those of the index.
    pub fn filed_by(&self) -> Result<Option<(u64, u64)>, SearchError> {
        let payload = self.index.load_metas().map_err(|error| self.fault(error))?.payload.unwrap_or_default();
        let watermark = serde_json::from_str::<Watermark>(&payload).unwrap_or_default();
        let is_filed = watermark.reading_after.is_none() && watermark.refiling_after.is_none();
        Ok(is_filed.then_some((watermark.filing, watermark.relabelled)))
    }

    /// Takes in what was committed since.
    ///
    /// # Errors
    /// Those of the index.
    pub fn reload(&self) -> Result<(), SearchError> {
        self.reader.reload().map_err(|error| self.fault(error))
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Torrents in the index.
    #[must_use]
    pub fn torrents(&self) -> u64 {
        let searcher = self.reader.searcher();
        let magnets = TermQuery::new(Term::from_field_u64(self.fields.magnet, 1), IndexRecordOption::Basic);
        // One that cannot be read is met at the next search, too.
        let magnets = searcher.search(&magnets, &Count).unwrap_or_default();
        searcher.num_docs().saturating_sub(magnets as u64)
    }

    pub(crate) fn fault(&self, error: tantivy::TantivyError) -> SearchError {
        SearchError::Index(self.folder.clone(), error)
    }

    /// The torrents that fit, without the first `skip` of them, `limits::HITS_MAX` of both at most.
    ///
    /// # Errors
    /// Those of the index.
    pub fn find(&self, query: &Query, order: Order, skip: usize, hits_max: usize) -> Result<Found, SearchError> {
        let searcher = self.reader.searcher();
        let asked = self.fields.asked(query);
        let skip = skip.min(limits::HITS_MAX);
        let hits_max = hits_max.min(limits::HITS_MAX - skip);
        if hits_max == 0 {
            let total = searcher.search(&*asked, &Count).map_err(|error| self.fault(error))?;
            return Ok(Found { total, hits: Vec::new() });
        }
        let top = || TopDocs::with_limit(hits_max).and_offset(skip);
        let by_field = |name: &str| {
            let collector = top().order_by_fast_field::<u64>(name, tantivy::Order::Desc);
            let (hits, total) = searcher.search(&*asked, &(collector, Count))?;
            Ok::<_, tantivy::TantivyError>((hits.into_iter().map(|(_, at)| at).collect::<Vec<DocAddress>>(), total))
        };
        let found = match order {
            Order::Newest => by_field("order"),
            Order::Size => by_field("size"),
            Order::Relevance => searcher
                .search(&*asked, &(top().order_by_score(), Count))
                .map(|(hits, total)| (hits.into_iter().map(|(_, at)| at).collect(), total)),
        };
        let (places, total) = found.map_err(|error| self.fault(error))?;
        let hits = places.into_iter().map(|place| self.hit(&searcher, place)).collect::<Result<_, _>>();
        Ok(Found { total, hits: hits.map_err(|error| self.fault(error))? })
    }

    /// The archive keys of all torrents that fit, in no order.
    ///
    /// # Errors
    /// Those of the index.
    pub fn keys(&self, query: &Query) -> Result<HashSet<Vec<u8>>, SearchError> {
        let searcher = self.reader.searcher();
        let places =
            searcher.search(&*self.fields.asked(query), &DocSetCollector).map_err(|error| self.fault(error))?;
        let keys = places.into_iter().map(|place| self.hit(&searcher, place).map(|hit| hit.key));
        keys.collect::<Result<_, _>>().map_err(|error| self.fault(error))
    }

    /// Those of these archive keys whose torrents fit.
    ///
    /// # Errors
    /// Those of the index.
    pub fn fitting(&self, query: &Query, keys: &[Vec<u8>]) -> Result<HashSet<Vec<u8>>, SearchError> {
        let searcher = self.reader.searcher();
        let of_keys = any(keys.iter().map(|key| Term::from_field_bytes(self.fields.hash, key)));
        let both = BooleanQuery::new(vec![(Occur::Must, of_keys), (Occur::Must, self.fields.asked(query))]);
        let places = searcher.search(&both, &DocSetCollector).map_err(|error| self.fault(error))?;
        let found = places.into_iter().map(|place| self.hit(&searcher, place).map(|hit| hit.key));
        found.collect::<Result<_, _>>().map_err(|error| self.fault(error))
    }

    fn hit(&self, searcher: &Searcher, place: DocAddress) -> Result<Hit, tantivy::TantivyError> {
        let document: TantivyDocument = searcher.doc(place)?;
        let key = document.get_first(self.fields.key).and_then(|key| key.as_bytes().map(<[u8]>::to_vec));
        let categories = searcher.segment_reader(place.segment_ord).fast_fields().u64("category")?;
        // Its own number is greater than its parent's, and less than any label's.
        let of_newznab = categories.values_for_doc(place.doc_id).filter(|number| *number < u64::from(OF_SITES));
        let category = of_newznab.max().unwrap_or_default();
        Ok(Hit { key: key.unwrap_or_default(), category: u32::try_from(category).unwrap_or_default() })
    }

    /// How many torrents fit, and of which kinds they are: values as filters take them, but for `version`, whose values are `v1`, `v2` and `hybrid`.
    ///
    /// # Errors
    /// Those of the index.
    pub fn facets(&self, query: &Query) -> Result<(u64, Facets), SearchError> {
        const NAMES: [&str; 4] = ["site", "category", "year", "private"];
        let most =
            |name: &str| if name == "category" { limits::CATEGORIES_COUNTED_MAX } else { limits::FACET_VALUES_MAX };
        let terms = |name: &str| serde_json::json!({"terms": {"field": name, "size": most(name)}});
        let mut wanted: serde_json::Map<String, serde_json::Value> =
            NAMES.into_iter().map(|name| (name.to_owned(), terms(name))).collect();
        let sizes = SIZES.map(|size| (size, Query::parse(&format!("size:{size}")).filters.size));
        let pieces = pieces(&sizes.map(|(_, range)| range));
        wanted.insert("size".to_owned(), serde_json::json!({"range": {"field": "size", "ranges": pieces}}));
        let fault = |error| self.fault(error);
        let wanted: Aggregations = serde_json::from_value(wanted.into()).map_err(|error| fault(error.into()))?;
        let collector = AggregationCollector::from_aggs(wanted, Default::default());
        let (searcher, asked) = (self.reader.searcher(), self.fields.asked(query));
        let (counted, all) = searcher.search(&*asked, &(collector, Count)).map_err(fault)?;
        let values = |name: &str| match counted.0.get(name) {
            Some(AggregationResult::BucketResult(BucketResult::Terms { buckets, .. })) => {
                buckets.iter().map(|bucket| (key_text(&bucket.key), bucket.doc_count)).collect()
            }
            Some(AggregationResult::BucketResult(BucketResult::Range { buckets: BucketEntries::Vec(buckets) })) => {
                let piece = |bucket: &RangeBucketEntry| Some((key_text(&bucket.key).parse().ok()?, bucket.doc_count));
                let counts: Vec<(u64, u64)> = buckets.iter().filter_map(piece).collect();
                let count = |range: Range| {
                    let within = |from: u64| {
                        range.least.is_none_or(|least| from >= least) && range.most.is_none_or(|most| from <= most)
                    };
                    counts.iter().filter(|(from, _)| within(*from)).map(|(_, count)| count).sum::<u64>()
                };
                let named = sizes.iter().map(|(size, range)| ((*size).to_owned(), count(*range)));
                named.filter(|(_, count)| *count > 0).collect()
            }
            _ => Vec::new(),
        };
        let mut facets: Facets = NAMES.into_iter().chain(["size"]).map(|name| (name, values(name))).collect();
        let of = |filters: Filters| {
            let narrowed = Query { filters, within: Some(Box::new(query.clone())), ..Query::default() };
            searcher.search(&*self.fields.asked(&narrowed), &Count).map(|count| count as u64).map_err(fault)
        };
        let all = all as u64;
        let v1 = of(Filters { has_v1: Some(true), ..Filters::default() })?;
        let v2 = of(Filters { has_v2: Some(true), ..Filters::default() })?;
        let hybrid = (v1 + v2).saturating_sub(all);
        let versions = [("v1", v1 - hybrid.min(v1)), ("v2", v2 - hybrid.min(v2)), ("hybrid", hybrid)];
        let versions = versions.into_iter().filter(|(_, count)| *count > 0);
        facets.insert("version", versions.map(|(name, count)| (name.to_owned(), count)).collect());
        Ok((all, facets))
    }
}

/// Sizes that are told apart, as the filter `size:` takes them: what is on a border is of both sides, as it is found by both.
const SIZES: [&str; 5] = ["<100M", "100M..1G", "1G..10G", "10G..100G", ">100G"];

/// The ranges that these are made of: none of them overlaps another, as an aggregation wants it. Each is called by where it begins.
fn pieces(ranges: &[Range]) -> Vec<serde_json::Value> {
    let ends = ranges.iter().filter_map(|range| range.most?.checked_add(1));
    let begins: BTreeSet<u64> = ranges.iter().map(|range| range.least.unwrap_or(0)).chain(ends).collect();
    let nexts = begins.iter().skip(1).map(Some).chain([None]);
    let piece = |(from, to): (&u64, Option<&u64>)| match to {
        Some(to) => serde_json::json!({"key": from.to_string(), "from": from, "to": to}),
        None => serde_json::json!({"key": from.to_string(), "from": from}),
    };
    begins.iter().zip(nexts).map(piece).collect()
}

fn key_text(key: &tantivy::aggregation::Key) -> String {
    match key {
        tantivy::aggregation::Key::Str(text) => text.clone(),
        tantivy::aggregation::Key::I64(number) => number.to_string(),
        tantivy::aggregation::Key::U64(number) => number.to_string(),
        tantivy::aggregation::Key::F64(number) => number.to_string(),
    }
}

/// A name says more than a path.
const NAME_BOOST: f32 = 3.0;

impl Fields {
    /// Torrents that fit, or what is known by a magnet link alone where that is asked for.
    fn asked(&self, query: &Query) -> Box<dyn IndexQuery> {
        let occur = if query.wants_magnets() { Occur::Must } else { Occur::MustNot };
        Box::new(BooleanQuery::new(vec![(Occur::Must, self.fitting(query)), (occur, self.magnets())]))
    }

    fn magnets(&self) -> Box<dyn IndexQuery> {
        let magnets = any([Term::from_field_u64(self.magnet, 1)].into_iter());
        Box::new(ConstScoreQuery::new(magnets, 0.0))
    }

    fn fitting(&self, query: &Query) -> Box<dyn IndexQuery> {
        let mut parts: Vec<(Occur, Box<dyn IndexQuery>)> = Vec::new();
        for clause in &query.clauses {
            let occur = if clause.is_excluded { Occur::MustNot } else { Occur::Must };
            parts.push((occur, self.clause(clause)));
        }
        let filters = &query.filters;
        let mut must =
            |query: Box<dyn IndexQuery>| parts.push((Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0))));
        let text = |field, values: &[String]| any(values.iter().map(|value| Term::from_field_text(field, value)));
        if !filters.sites.is_empty() {
            must(text(self.site, &filters.sites));
        }
        if !filters.extensions.is_empty() {
            must(text(self.extension, &filters.extensions));
        }
        if !filters.trackers.is_empty() {
            must(text(self.tracker, &filters.trackers));
        }
        if !filters.infohashes.is_empty() {
            must(any(filters.infohashes.iter().map(|hash| Term::from_field_bytes(self.hash, hash))));
        }
        if !filters.categories.is_empty() || !filters.labels.is_empty() {
            let numbers = filters.categories.iter().map(|number| Term::from_field_u64(self.category, (*number).into()));
            let labels = filters.labels.iter().map(|label| Term::from_field_text(self.label, label));
            must(any(numbers.chain(labels)));
        }
        for (field, range) in [(self.size, filters.size), (self.stored, filters.stored), (self.year, filters.year)] {
            if !range.is_open() {
                must(between(field, range));
            }
        }
        if let Some(within) = &query.within {
            must(self.fitting(within));
        }
        let number = |field, value: u64| any([Term::from_field_u64(field, value)].into_iter());
        match (filters.season, filters.episode) {
            (Some(season), Some(episode)) => must(number(self.episode, episode_number(season, episode))),
            (Some(season), None) => must(number(self.season, season.into())),
            _ => {}
        }
        for (field, value) in [(self.private, filters.is_private), (self.v1, filters.has_v1), (self.v2, filters.has_v2)]
        {
            if let Some(value) = value {
                must(number(field, value.into()));
            }
        }
        if filters.is_magnet == Some(false) {
            parts.push((Occur::MustNot, self.magnets()));
        }
        // What only leaves out leaves out of everything.
        if parts.iter().all(|(occur, _)| *occur == Occur::MustNot) {
            parts.push((Occur::Must, Box::new(AllQuery)));
        }
        Box::new(BooleanQuery::new(parts))
    }

    /// Words that stand together in the name or in a path.
    fn clause(&self, clause: &Clause) -> Box<dyn IndexQuery> {
        let of = |field: Field| -> Box<dyn IndexQuery> {
            let terms: Vec<Term> = clause.words.iter().map(|word| Term::from_field_text(field, word)).collect();
            match &terms[..] {
                [] => Box::new(EmptyQuery),
                _ if clause.is_prefix => {
                    let is_alone = terms.len() == 1;
                    let mut query = PhrasePrefixQuery::new(terms);
                    query.set_max_expansions(match is_alone {
                        true => limits::EXPANSIONS_MAX,
                        false => limits::EXPANSIONS_OF_PHRASE_MAX,
                    });
                    Box::new(query)
                }
                [only] => Box::new(TermQuery::new(only.clone(), IndexRecordOption::WithFreqs)),
                _ => Box::new(PhraseQuery::new(terms)),
            }
        };
        let name: Box<dyn IndexQuery> = Box::new(BoostQuery::new(of(self.name), NAME_BOOST));
        Box::new(BooleanQuery::new(vec![(Occur::Should, name), (Occur::Should, of(self.files))]))
    }
}

/// Any of these terms.
fn any(terms: impl Iterator<Item = Term>) -> Box<dyn IndexQuery> {
    let one = |term| -> Box<dyn IndexQuery> { Box::new(TermQuery::new(term, IndexRecordOption::Basic)) };
    Box::new(BooleanQuery::new(terms.map(|term| (Occur::Should, one(term))).collect()))
}

fn between(field: Field, range: Range) -> Box<dyn IndexQuery> {
    use std::ops::Bound::{Included, Unbounded};
    let bound = |value: Option<u64>| value.map_or(Unbounded, |value| Included(Term::from_field_u64(field, value)));
    Box::new(RangeQuery::new(bound(range.least), bound(range.most)))
}
