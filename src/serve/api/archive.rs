//! What the archive holds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys;
use gleaner_rules::config::searches::SavedSearch;
use gleaner_search::category::{self, CATEGORIES};
use gleaner_search::filing::Filing;
use gleaner_search::follow::{contents_of, file_of};
use gleaner_search::{Order, Query};
use gleaner_store::crawldb::{LabelRow, Stored};
use gleaner_store::export::list::FileFacts;
use gleaner_torrent::{contents, origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{Call, Nothing};
use super::{must_be_within, wrong_cursor};
use crate::Outlet;
use crate::limits::{FILES_LISTED_MAX, OFFSET_MAX, PAGE, PAGE_MAX};
use crate::links::Links;
use crate::problem::Problem;
use crate::rows::{Item, Magnet};

/// 200 once there is something to answer from.
pub async fn ready(State(outlet): State<Arc<Outlet>>) -> Result<&'static str, Problem> {
    outlet.db.changes(u64::MAX, 0).await.map_err(|error| Problem::ours(&error))?;
    Ok("ready\n")
}

/// Flat, for tiles of start pages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    version: &'static str,
    torrents: u64,
    sites: usize,
    /// Time of storing of the newest torrent.
    newest: Option<String>,
    /// The search index can be asked.
    is_searchable: bool,
}

pub async fn summary(call: Call<Nothing, Nothing>) -> Result<Summary, Problem> {
    let outlet = call.outlet;
    let newest = outlet.newest(None, 0, 1).await?;
    let sites = outlet.sites().await?;
    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        torrents: newest.total,
        sites: sites.len(),
        newest: newest.items.first().map(|item| item.row.stored.rfc3339()),
        is_searchable: (outlet.finder)().is_some(),
    })
}

/// A category with how many torrents are of it; a parent counts its children's. From 100000 on, it is a site's own word for some of its torrents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CategoryRow {
    number: u32,
    /// Of a label, its site and its text.
    name: String,
    torrents: u64,
    /// The site whose label it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<Box<str>>,
    /// That label.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Box<str>>,
    /// What the rule file of its site says that the label means.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<u32>,
}

/// Which torrents are counted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoriesAsked {
    /// A search, as `site:NAME`; without it, all.
    #[serde(default)]
    q: String,
}

pub async fn categories(call: Call<Nothing, CategoriesAsked>) -> Result<Vec<CategoryRow>, Problem> {
    let (_, facets) = call.outlet.count(&Query::parse(&call.query.q)).await?;
    let counts: std::collections::HashMap<String, u64> =
        facets.get("category").cloned().unwrap_or_default().into_iter().collect();
    let count = |number: u32| counts.get(&number.to_string()).copied().unwrap_or_default();
    let row = |of: &category::Category| CategoryRow {
        number: of.number,
        name: category::full_name(of.number).unwrap_or_default(),
        torrents: count(of.number),
        site: None,
        label: None,
        category: None,
    };
    let filing = Filing::read(&*call.outlet.db).await.map_err(|error| Problem::ours(&error))?;
    let label = |of: &LabelRow| CategoryRow {
        number: of.number,
        name: format!("{}: {}", of.site, of.text),
        torrents: count(of.number),
        category: filing.of_label(of),
        site: Some(of.site.clone()),
        label: Some(of.text.clone()),
    };
    Ok(CATEGORIES.iter().map(row).chain(filing.labels.rows.iter().map(label)).collect())
}

/// A saved search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchRow {
    name: String,
    query: String,
    rss: String,
    atom: String,
    torznab: String,
}

pub async fn searches(call: Call<Nothing, Nothing>) -> Result<Vec<SearchRow>, Problem> {
    let base = &call.caller.links.base;
    let row = |SavedSearch { name, query }: &SavedSearch| SearchRow {
        rss: format!("{base}/feeds/saved/{name}.rss"),
        atom: format!("{base}/feeds/saved/{name}.atom"),
        torznab: format!("{base}/torznab/search:{name}"),
        name: name.clone(),
        query: query.clone(),
    };
    Ok(call.outlet.searches().iter().map(|(saved, _)| row(saved)).collect())
}

/// A torrent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Torrent {
    infohash_v1: Option<String>,
    infohash_v2: Option<String>,
    name: Box<str>,
    payload_bytes: u64,
    file_count: u32,
    metainfo_bytes: u32,
    category: u32,
    category_name: Option<String>,
    private: bool,
    /// `creation date` of the file.
    created: Option<String>,
    /// When it was stored first.
    stored: String,
    site: Box<str>,
    sources: Vec<SourceRow>,
    /// Its file.
    download: String,
}

/// Where it was found, without keys.
#[derive(Debug, Serialize, JsonSchema)]
struct SourceRow {
    site: Box<str>,
    url: String,
    /// The site's own word for what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<LabelTold>,
    first_seen: String,
    last_seen: String,
}

/// A site's own word for what a torrent is, and the number by which clients ask for it.
#[derive(Debug, Serialize, JsonSchema)]
struct LabelTold {
    number: u32,
    text: Box<str>,
}

impl From<gleaner_store::crawldb::Label> for LabelTold {
    fn from(label: gleaner_store::crawldb::Label) -> Self {
        Self { number: label.number, text: label.text }
    }
}

/// A torrent with what its file says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WholeTorrent {
    #[serde(flatten)]
    torrent: Torrent,
    /// Null if the file is lost or damaged.
    file: Option<FileFacts>,
}

/// What is known by a magnet link alone: nobody has found its torrent file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MagnetTold {
    infohash_v1: Option<String>,
    infohash_v2: Option<String>,
    name: Option<Box<str>>,
    category: u32,
    category_name: Option<String>,
    /// When it was found first.
    first_seen: String,
    site: Box<str>,
    /// The page that has the link, without keys.
    page: String,
    /// The site's own word for what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<LabelTold>,
    /// As found.
    link: Box<str>,
}

impl MagnetTold {
    fn of(Magnet { row, category }: Magnet) -> Self {
        let (facts, hex) = (row.facts, |hash: &[u8]| data_encoding::HEXLOWER.encode(hash));
        Self {
            infohash_v1: facts.infohashes.v1.map(|v1| hex(&v1)),
            infohash_v2: facts.infohashes.v2.map(|v2| hex(&v2)),
            name: facts.name,
            category,
            category_name: category::full_name(category),
            first_seen: row.first_seen.rfc3339(),
            site: row.site,
            page: without_keys(&row.page).into(),
            label: row.label.map(Into::into),
            link: facts.link,
        }
    }
}

impl Torrent {
    pub fn of(item: Item, links: &Links) -> Self {
        let (facts, hex) = (item.row.facts, |hash: &[u8]| data_encoding::HEXLOWER.encode(hash));
        let created = facts.created_unix.and_then(|seconds| u64::try_from(seconds).ok());
        let source = |source: gleaner_store::crawldb::Source| SourceRow {
            site: source.site,
            url: without_keys(&source.url).into(),
            label: source.label.map(Into::into),
            first_seen: source.first_seen.rfc3339(),
            last_seen: source.last_seen.rfc3339(),
        };
        Self {
            infohash_v1: facts.infohashes.v1.map(|v1| hex(&v1)),
            infohash_v2: facts.infohashes.v2.map(|v2| hex(&v2)),
            download: links.download(&facts.infohashes.key_hex()),
            name: facts.name,
            payload_bytes: facts.payload_bytes,
            file_count: facts.file_count,
            metainfo_bytes: facts.metainfo_bytes,
            category: item.category,
            category_name: category::full_name(item.category),
            private: facts.private,
            created: created.map(|seconds| UnixMillis(seconds.saturating_mul(1_000)).rfc3339()),
            stored: item.row.stored.rfc3339(),
            site: item.row.site,
            sources: item.row.sources.into_iter().map(source).collect(),
        }
    }
}

/// A page of torrents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Torrents {
    torrents: Vec<Torrent>,
    /// All that fit.
    total: u64,
    /// `cursor` of the next page; null after the last one.
    next: Option<String>,
}

/// What a query finds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    torrents: Vec<Torrent>,
    /// Of a query with `has:magnet`: what is known by a magnet link alone, in the place of torrents.
    magnets: Vec<MagnetTold>,
    /// All that fit.
    total: u64,
    /// `cursor` of the next page; null after the last one.
    next: Option<String>,
    /// Parts of the query that look like filters and are none: they are looked for as words.
    doubts: Vec<String>,
}

/// The page that is wanted of the newest torrents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewestAsked {
    /// `next` of the page before.
    #[schemars(regex(pattern = r"^[0-9]{1,16}-([0-9a-f]{40}|[0-9a-f]{64})$"))]
    cursor: Option<String>,
    /// Torrents of a page.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = PAGE_MAX))]
    limit: usize,
}

/// What is looked for, and which page of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchAsked {
    /// A query as `gleaner search` takes it. Nothing finds everything.
    #[serde(default)]
    q: String,
    /// Which torrents come first.
    #[serde(default)]
    order: Order,
    /// `next` of the page before.
    #[schemars(regex(pattern = "^([0-9]{1,5}|100000)$"))]
    cursor: Option<String>,
    /// Torrents of a page.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = PAGE_MAX))]
    limit: usize,
}

/// The torrent that a path names.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OfTorrent {
    /// Infohash of either version, in hex.
    #[schemars(regex(pattern = "^([0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$"))]
    infohash: String,
}

fn page() -> usize {
    PAGE
}

/// How many items a feed is to have.
pub fn count(limit: Option<&str>) -> Result<usize, Problem> {
    let Some(limit) = limit.filter(|limit| !limit.is_empty()) else { return Ok(PAGE) };
    let count = limit.parse::<usize>().ok().filter(|count| *count > 0);
    let detail = format!("write a number from 1 to {PAGE_MAX}");
    count.map(|count| count.min(PAGE_MAX)).ok_or_else(|| Problem::wrong("limit is no number", detail))
}

/// Newest first. The cursor is the place of the last torrent: what is stored meanwhile shifts nothing.
pub async fn torrents(call: Call<Nothing, NewestAsked>) -> Result<Torrents, Problem> {
    let Call { outlet, caller, query: asked, .. } = call;
    must_be_within(asked.limit, PAGE_MAX)?;
    let count = asked.limit;
    let before = asked.cursor.as_deref().map(|cursor| place(cursor).ok_or_else(wrong_cursor)).transpose()?;
    let page = outlet.newest(before, 0, count).await?;
    let last = page.items.last().filter(|_| page.items.len() == count).map(|item| item.row.place());
    let next = last.map(|last| format!("{}-{}", last.at.0, data_encoding::HEXLOWER.encode(&last.key)));
    let torrents = page.items.into_iter().map(|item| Torrent::of(item, &caller.links)).collect();
    Ok(Torrents { torrents, total: page.total, next })
}

fn place(cursor: &str) -> Option<Stored> {
    let (at, key) = cursor.split_once('-')?;
    let key = data_encoding::HEXLOWER.decode(key.as_bytes()).ok().filter(|key| matches!(key.len(), 20 | 32))?;
    let at = Some(at).filter(|at| at.len() <= 16 && at.bytes().all(|of| of.is_ascii_digit()))?;
    Some(Stored { at: UnixMillis(at.parse().ok()?), key })
}

/// What a query finds. The cursor is the number of torrents before the page.
pub async fn search(call: Call<Nothing, SearchAsked>) -> Result<Found, Problem> {
    let Call { outlet, caller, query: asked, .. } = call;
    must_be_within(asked.limit, PAGE_MAX)?;
    let count = asked.limit;
    let skip = match asked.cursor.as_deref() {
        Some(cursor) if cursor.len() <= 6 && cursor.bytes().all(|of| of.is_ascii_digit()) => {
            cursor.parse().ok().filter(|skip| *skip <= OFFSET_MAX).ok_or_else(wrong_cursor)?
        }
        Some(_) => return Err(wrong_cursor()),
        None => 0,
    };
    let query = Query::parse(&asked.q);
    let page = outlet.find(&query, asked.order, skip, count).await?;
    let shown = page.items.len() + page.magnets.len();
    let behind = skip + shown;
    let next = ((behind as u64) < page.total && shown > 0 && behind <= OFFSET_MAX).then(|| behind.to_string());
    let torrents = page.items.into_iter().map(|item| Torrent::of(item, &caller.links)).collect();
    let magnets = page.magnets.into_iter().map(MagnetTold::of).collect();
    Ok(Found { torrents, magnets, total: page.total, next, doubts: query.doubts })
}

async fn item(outlet: &Outlet, infohash: &str) -> Result<Item, Problem> {
    let hashes = gleaner_search::query::infohashes(infohash);
    let Some(hashes) = hashes else {
        return Err(Problem::wrong("this is no infohash", "write 40 or 64 digits of hex, or 32 of base32"));
    };
    let found = outlet.at(hashes).await?.items.into_iter().next();
    found.ok_or_else(|| Problem::not_found("this torrent is not in the archive", "/api/v1/search finds what is"))
}

pub async fn torrent(call: Call<OfTorrent, Nothing>) -> Result<WholeTorrent, Problem> {
    let item = item(&call.outlet, &call.path.infohash).await?;
    let (row, archive) = (item.row.clone(), Arc::clone(&call.outlet.archive));
    let read = move || {
        let bytes = file_of(&row, &archive)?;
        let parts = bytes.and_then(|bytes| contents::read(&bytes).zip(origin::read(&bytes)));
        Ok::<_, std::io::Error>(parts.map(|(contents, origin)| FileFacts::of(&contents, &origin)))
    };
    let file = tokio::task::spawn_blocking(read).await.map_err(|error| Problem::ours(&error))?;
    let file = file.map_err(|error| Problem::ours(&error))?;
    Ok(WholeTorrent { torrent: Torrent::of(item, &call.caller.links), file })
}

/// The files of a torrent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Files {
    files: Vec<FileRow>,
    /// Files that are not listed.
    left_out: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileRow {
    path: String,
    bytes: u64,
}

pub async fn files(call: Call<OfTorrent, Nothing>) -> Result<Files, Problem> {
    let outlet = call.outlet;
    let item = item(&outlet, &call.path.infohash).await?;
    let (archive, count) = (Arc::clone(&outlet.archive), u64::from(item.row.facts.file_count));
    let contents = tokio::task::spawn_blocking(move || contents_of(&item.row, &archive)).await;
    let contents = contents.map_err(|error| Problem::ours(&error))?.map_err(|error| Problem::ours(&error))?;
    let Some(contents) = contents else {
        return Err(Problem::new(
            StatusCode::GONE,
            "the file of this torrent is lost",
            "gleaner verify --repair has it fetched again",
        ));
    };
    let listed = contents.files.into_iter().take(FILES_LISTED_MAX);
    let files: Vec<FileRow> = listed.map(|file| FileRow { path: file.path, bytes: file.bytes }).collect();
    Ok(Files { left_out: count.saturating_sub(files.len() as u64), files })
}
