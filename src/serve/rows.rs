//! What is shown of torrents: rows of the database with their categories.

use std::collections::{BTreeSet, HashMap};

use gleaner_search::filing::Filing;
use gleaner_search::find::Facets;
use gleaner_search::follow::contents_of;
use gleaner_search::{Filters, Order, Query, SearchError};
use gleaner_store::crawldb::{CrawlDbError, LabelRow, MagnetRow, Stored, TorrentRow};

use crate::Outlet;
use crate::limits::OFFSET_MAX;

/// A torrent with the number of its category.
#[derive(Clone, Debug)]
pub struct Item {
    pub row: TorrentRow,
    pub category: u32,
}

/// A magnet link of a torrent that nobody has the file of, with the number of its category.
#[derive(Clone, Debug)]
pub struct Magnet {
    pub row: MagnetRow,
    pub category: u32,
}

/// A page of torrents; or of magnets, where a query asks for these.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub items: Vec<Item>,
    pub magnets: Vec<Magnet>,
    /// All that fit.
    pub total: u64,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The index is being made.
    #[error(
        "the search index is being made: newest torrents and infohashes are there already, words and categories in a while"
    )]
    NoIndex,
}

impl Outlet {
    /// Names of all sites.
    pub async fn sites(&self) -> Result<BTreeSet<String>, RowsError> {
        Ok(self.db.hosts().await?.into_iter().map(|host| host.site.into()).collect())
    }

    /// The labels of a site, or of all.
    pub async fn labels(&self, site: Option<&str>) -> Result<Vec<LabelRow>, RowsError> {
        let labels = self.db.labels().await?;
        Ok(labels.rows.into_iter().filter(|row| site.is_none_or(|site| &*row.site == site)).collect())
    }

    /// The newest torrents, from the database alone.
    pub async fn newest(&self, before: Option<Stored>, skip: usize, count: usize) -> Result<Page, RowsError> {
        let total = self.db.changes(u64::MAX, 0).await?.torrents;
        if skip > OFFSET_MAX {
            return Ok(Page { total, ..Page::default() });
        }
        let rows = self.db.newest(before, skip, count).await?;
        Ok(Page { items: self.with_categories(rows).await?, total, ..Page::default() })
    }

    /// The torrents that fit. What asks for everything, newest first, needs no index.
    pub async fn find(&self, query: &Query, order: Order, skip: usize, count: usize) -> Result<Page, RowsError> {
        if query.is_empty() && order == Order::Newest {
            return self.newest(None, skip, count).await;
        }
        let Some(search) = (self.finder)() else {
            let mut infohashes = query.filters.infohashes.clone();
            let others =
                Query { filters: Filters { infohashes: Vec::new(), ..query.filters.clone() }, ..query.clone() };
            if !others.is_empty() || infohashes.is_empty() {
                return Err(RowsError::NoIndex);
            }
            infohashes.sort_unstable();
            infohashes.dedup();
            let mut page = self.at(infohashes).await?;
            page.items = page.items.into_iter().skip(skip).take(count).collect();
            return Ok(page);
        };
        let skip = skip.min(OFFSET_MAX);
        let asked = query.clone();
        // It reads mapped files, for as long as it takes: no more of them at once than there are processors to spare.
        let _turn = self.searches.acquire().await;
        let began = tokio::time::Instant::now();
        let found = tokio::task::spawn_blocking(move || search.find(&asked, order, skip, count)).await;
        let found = found.map_err(|_| RowsError::NoIndex)??;
        self.requests.searched(began.elapsed());
        let categories: Vec<u32> = found.hits.iter().map(|hit| hit.category).collect();
        let (keys, total) = (found.hits.into_iter().map(|hit| hit.key).collect(), found.total as u64);
        if query.wants_magnets() {
            let rows = self.db.magnets_at(keys).await?.into_iter().zip(categories);
            // One whose torrent came a moment ago is none any more.
            let magnets =
                rows.filter_map(|(row, category)| Some(Magnet { row: row.filter(|row| !row.stored)?, category }));
            return Ok(Page { items: Vec::new(), magnets: magnets.collect(), total });
        }
        let rows = self.db.torrents_at(keys).await?;
        // One that was removed a moment ago is left out.
        let items = rows.into_iter().zip(categories).filter_map(|(row, category)| Some(Item { row: row?, category }));
        Ok(Page { items: items.collect(), magnets: Vec::new(), total })
    }

    /// How many fit, and of which kinds they are.
    pub async fn count(&self, query: &Query) -> Result<(u64, Facets), RowsError> {
        let Some(search) = (self.finder)() else { return Err(RowsError::NoIndex) };
        let asked = query.clone();
        // As for what is found: it takes as long.
        let _turn = self.searches.acquire().await;
        let counted = tokio::task::spawn_blocking(move || search.facets(&asked)).await;
        Ok(counted.map_err(|_| RowsError::NoIndex)??)
    }

    /// The torrents of these infohashes.
    pub async fn at(&self, infohashes: Vec<Vec<u8>>) -> Result<Page, RowsError> {
        let rows: Vec<TorrentRow> = self.db.torrents_at(infohashes).await?.into_iter().flatten().collect();
        let items = self.with_categories(rows).await?;
        Ok(Page { total: items.len() as u64, items, magnets: Vec::new() })
    }

    /// The categories of rows: as the index has them, else from the archived files.
    async fn with_categories(&self, rows: Vec<TorrentRow>) -> Result<Vec<Item>, RowsError> {
        let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
        if let Some(search) = (self.finder)() {
            let mut query = Query::default();
            query.filters.infohashes = rows.iter().map(|row| row.facts.infohashes.key().to_vec()).collect();
            let found = tokio::task::spawn_blocking(move || {
                search.find(&query, Order::Newest, 0, query.filters.infohashes.len())
            })
            .await;
            let found = found.map_err(|_| RowsError::NoIndex)??;
            known.extend(found.hits.into_iter().map(|hit| (hit.key, hit.category)));
        }
        // What the index does not have yet is filed as it will be there.
        let is_known = |row: &TorrentRow| known.contains_key(row.facts.infohashes.key());
        let filing = if rows.iter().all(is_known) { Filing::default() } else { Filing::read(&*self.db).await? };
        let archive = std::sync::Arc::clone(&self.archive);
        let items = tokio::task::spawn_blocking(move || {
            let with = |row: TorrentRow| {
                let category = known.get(row.facts.infohashes.key()).copied().unwrap_or_else(|| {
                    let contents = contents_of(&row, &archive).ok().flatten().unwrap_or_default();
                    filing.category(&row, &contents.files).0
                });
                Item { row, category }
            };
            rows.into_iter().map(with).collect()
        });
        items.await.map_err(|_| RowsError::NoIndex)
    }
}
