//! JSON below `/api/v1`: the reading half.

use std::sync::Arc;

use axum::extract::{Path, Query as QueryOf, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys;
use gleaner_search::category::{self, CATEGORIES};
use gleaner_search::follow::contents_of;
use gleaner_search::{Order, Query};
use gleaner_store::crawldb::Stored;
use serde::{Deserialize, Serialize};

use crate::Outlet;
use crate::access::Caller;
use crate::limits::{FILES_LISTED_MAX, OFFSET_MAX, PAGE, PAGE_MAX};
use crate::links::Links;
use crate::problem::Problem;
use crate::rows::Item;

/// 200 once there is something to answer from.
pub async fn ready(State(outlet): State<Arc<Outlet>>) -> Result<&'static str, Problem> {
    outlet.db.changes(u64::MAX, 0).await.map_err(|error| Problem::ours(&error))?;
    Ok("ready\n")
}

/// Flat, for tiles of start pages.
#[derive(Debug, Serialize)]
pub struct Summary {
    version: &'static str,
    torrents: u64,
    sites: usize,
    /// Time of storing of the newest torrent.
    newest: Option<String>,
    /// The search index can be asked.
    is_searchable: bool,
}

pub async fn summary(State(outlet): State<Arc<Outlet>>) -> Result<Json<Summary>, Problem> {
    let newest = outlet.newest(None, 0, 1).await?;
    let sites = outlet.sites().await?;
    Ok(Json(Summary {
        version: env!("CARGO_PKG_VERSION"),
        torrents: newest.total,
        sites: sites.len(),
        newest: newest.items.first().map(|item| item.row.stored.rfc3339()),
        is_searchable: (outlet.finder)().is_some(),
    }))
}

/// The report of `gleaner status --json`.
pub async fn sites(State(outlet): State<Arc<Outlet>>) -> Result<Json<serde_json::Value>, Problem> {
    Ok(Json((outlet.inside.status)().await.map_err(|error| Problem::ours(&error))?))
}

/// The part of one site.
pub async fn site(
    State(outlet): State<Arc<Outlet>>,
    Path(name): Path<String>,
) -> Result<Json<serde_json::Value>, Problem> {
    let mut report = (outlet.inside.status)().await.map_err(|error| Problem::ours(&error))?;
    let sites = report["sites"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let own = sites.into_iter().find(|site| site["name"] == name.as_str());
    own.map(Json).ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, format!("no site is called {name}"), "/api/v1/sites lists the sites")
    })
}

/// A category with how many torrents are of it; a parent counts its children's.
#[derive(Debug, Serialize)]
pub struct CategoryRow {
    number: u32,
    name: String,
    torrents: u64,
}

pub async fn categories(State(outlet): State<Arc<Outlet>>) -> Result<Json<Vec<CategoryRow>>, Problem> {
    let Some(search) = (outlet.finder)() else { return Err(crate::rows::RowsError::NoIndex.into()) };
    let facets = tokio::task::spawn_blocking(move || search.facets(&Query::default())).await;
    let facets = facets.map_err(|error| Problem::ours(&error))?.map_err(|error| Problem::ours(&error))?;
    let counts: std::collections::HashMap<String, u64> =
        facets.get("category").cloned().unwrap_or_default().into_iter().collect();
    let row = |of: &category::Category| CategoryRow {
        number: of.number,
        name: category::full_name(of.number).unwrap_or_default(),
        torrents: counts.get(&of.number.to_string()).copied().unwrap_or_default(),
    };
    Ok(Json(CATEGORIES.iter().map(row).collect()))
}

/// A torrent.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
struct SourceRow {
    site: Box<str>,
    url: String,
    first_seen: String,
    last_seen: String,
}

impl Torrent {
    fn of(item: Item, links: &Links) -> Self {
        let (facts, hex) = (item.row.facts, |hash: &[u8]| data_encoding::HEXLOWER.encode(hash));
        let created = facts.created_unix.and_then(|seconds| u64::try_from(seconds).ok());
        let source = |source: gleaner_store::crawldb::Source| SourceRow {
            site: source.site,
            url: without_keys(&source.url).into(),
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
#[derive(Debug, Serialize)]
pub struct Torrents {
    torrents: Vec<Torrent>,
    /// All that fit.
    total: u64,
    /// `cursor` of the next page; null after the last one.
    next: Option<String>,
}

/// Parameters of the lists.
#[derive(Debug, Default, Deserialize)]
pub struct Asked {
    cursor: Option<String>,
    limit: Option<String>,
    #[serde(default)]
    q: String,
    #[serde(default)]
    order: Order,
}

/// How many items are wanted.
pub fn count(limit: Option<&str>) -> Result<usize, Problem> {
    let Some(limit) = limit.filter(|limit| !limit.is_empty()) else { return Ok(PAGE) };
    let count = limit.parse::<usize>().ok().filter(|count| *count > 0);
    let detail = format!("write a number from 1 to {PAGE_MAX}");
    count
        .map(|count| count.min(PAGE_MAX))
        .ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, "limit is no number", detail))
}

fn wrong_cursor() -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "this cursor was never given",
        "begin without one, and go on with `next` of the answer",
    )
}

/// Newest first. The cursor is the place of the last torrent: what is stored meanwhile shifts nothing.
pub async fn torrents(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    QueryOf(asked): QueryOf<Asked>,
) -> Result<Json<Torrents>, Problem> {
    let count = count(asked.limit.as_deref())?;
    let before = asked.cursor.as_deref().map(|cursor| place(cursor).ok_or_else(wrong_cursor)).transpose()?;
    let page = outlet.newest(before, 0, count).await?;
    let last = page.items.last().filter(|_| page.items.len() == count).map(|item| item.row.place());
    let next = last.map(|last| format!("{}-{}", last.at.0, data_encoding::HEXLOWER.encode(&last.key)));
    let torrents = page.items.into_iter().map(|item| Torrent::of(item, &caller.links)).collect();
    Ok(Json(Torrents { torrents, total: page.total, next }))
}

fn place(cursor: &str) -> Option<Stored> {
    let (at, key) = cursor.split_once('-')?;
    let key = data_encoding::HEXLOWER.decode(key.as_bytes()).ok().filter(|key| matches!(key.len(), 20 | 32))?;
    Some(Stored { at: UnixMillis(at.parse().ok()?), key })
}

/// What a query finds. The cursor is the number of torrents before the page.
pub async fn search(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    QueryOf(asked): QueryOf<Asked>,
) -> Result<Json<Torrents>, Problem> {
    let count = count(asked.limit.as_deref())?;
    let skip = match asked.cursor.as_deref() {
        Some(cursor) => cursor.parse().ok().filter(|skip| *skip <= OFFSET_MAX).ok_or_else(wrong_cursor)?,
        None => 0,
    };
    let page = outlet.find(&Query::parse(&asked.q), asked.order, skip, count).await?;
    let behind = skip + page.items.len();
    let next =
        ((behind as u64) < page.total && !page.items.is_empty() && behind <= OFFSET_MAX).then(|| behind.to_string());
    let torrents = page.items.into_iter().map(|item| Torrent::of(item, &caller.links)).collect();
    Ok(Json(Torrents { torrents, total: page.total, next }))
}

async fn item(outlet: &Outlet, infohash: &str) -> Result<Item, Problem> {
    let hashes = gleaner_search::query::infohashes(infohash);
    let Some(hashes) = hashes else {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "this is no infohash",
            "write 40 or 64 digits of hex, or 32 of base32",
        ));
    };
    let found = outlet.at(hashes).await?.items.into_iter().next();
    found.ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "this torrent is not in the archive", "/api/v1/search finds what is")
    })
}

pub async fn torrent(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    Path(infohash): Path<String>,
) -> Result<Json<Torrent>, Problem> {
    Ok(Json(Torrent::of(item(&outlet, &infohash).await?, &caller.links)))
}

/// The files of a torrent.
#[derive(Debug, Serialize)]
pub struct Files {
    files: Vec<FileRow>,
    /// Files that are not listed.
    left_out: u64,
}

#[derive(Debug, Serialize)]
struct FileRow {
    path: String,
    bytes: u64,
}

pub async fn files(State(outlet): State<Arc<Outlet>>, Path(infohash): Path<String>) -> Result<Json<Files>, Problem> {
    let item = item(&outlet, &infohash).await?;
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
    Ok(Json(Files { left_out: count.saturating_sub(files.len() as u64), files }))
}
