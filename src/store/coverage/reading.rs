//! Reads what the coverage of sites needs, page by page: the listings and URLs of each site, then all torrents once for many sites.

use std::collections::HashMap;

use super::estimate::{Estimate, Estimator};
use super::listed::Listed;
use super::{NotWhole, SiteCoverage, coverage, sites};
use crate::crawldb::{CrawlDbError, NotWholeRow, Reader, SiteCounts};
use crate::limits;
use gleaner_base::url::without_keys;

/// A site whose torrents are still to be read.
struct Reading {
    site: String,
    estimate: Estimate,
    counts: SiteCounts,
    listed: Listed,
    links: usize,
}

/// The coverage of one site. For a site that is not in the database, terms are zero or unknown.
///
/// # Errors
/// Errors of the database.
pub async fn of_site(db: &dyn Reader, site: &str) -> Result<SiteCoverage, CrawlDbError> {
    let mut reading = [pages(db, site).await?];
    torrents(db, &mut reading).await?;
    let [reading] = reading;
    reckoned(db, reading).await
}

/// The coverage of every site in the database, by name.
///
/// # Errors
/// Errors of the database.
pub async fn of_all_sites(db: &dyn Reader) -> Result<Vec<SiteCoverage>, CrawlDbError> {
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut sites = sites(db).await?.into_iter().peekable();
    while let Some(site) = sites.next() {
        batch.push(pages(db, &site).await?);
        let links: usize = batch.iter().map(|reading: &Reading| reading.links).sum();
        if links < limits::COVERAGE_LINKS_AT_ONCE_MAX && sites.peek().is_some() {
            continue;
        }
        torrents(db, &mut batch).await?;
        for reading in batch.drain(..) {
            all.push(reckoned(db, reading).await?);
        }
    }
    Ok(all)
}

/// Reads the listings and the URLs of a site.
async fn pages(db: &dyn Reader, site: &str) -> Result<Reading, CrawlDbError> {
    let (mut estimator, mut listed) = (Estimator::default(), Listed::default());
    let mut after = None;
    loop {
        let rows = db.listings(site, after, limits::COVERAGE_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some((last.host, last.listing.series.clone(), last.listing.page));
        for row in rows {
            listed.list(&row);
            estimator.add(row);
        }
    }
    let (links, estimate) = (listed.listed(), estimator.finish());
    let mut after = None;
    loop {
        let page = db.url_looks(site, after, limits::COVERAGE_URLS_MAX).await?;
        page.rows.iter().for_each(|url| listed.url(url));
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    listed.visited();
    let counts = db.site_counts(site).await?;
    Ok(Reading { site: site.to_owned(), estimate, counts, listed, links })
}

/// Reads the torrents and magnets of these sites.
async fn torrents(db: &dyn Reader, batch: &mut [Reading]) -> Result<(), CrawlDbError> {
    if batch.iter().all(|reading| reading.links == 0) {
        return Ok(());
    }
    let places: HashMap<String, usize> =
        batch.iter().enumerate().map(|(at, reading)| (reading.site.clone(), at)).collect();
    let mut after = None;
    loop {
        let rows = db.torrents(after, limits::EXPORT_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.facts.infohashes.key().to_vec());
        for row in rows {
            let mut here: Vec<usize> =
                row.sources.iter().filter_map(|source| places.get(&*source.site).copied()).collect();
            here.sort_unstable();
            here.dedup();
            for at in here {
                let Reading { site, listed, .. } = &mut batch[at];
                listed.torrent(site, &row);
            }
        }
    }
    if batch.iter().all(|reading| reading.counts.magnets == 0) {
        return Ok(());
    }
    let mut after = None;
    loop {
        let rows = db.magnets(after, limits::EXPORT_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.facts.infohashes.key().to_vec());
        for row in rows {
            if let Some(&at) = places.get(&*row.site) {
                batch[at].listed.magnet(&row);
            }
        }
    }
    Ok(())
}

/// The coverage of a site that was read.
async fn reckoned(db: &dyn Reader, reading: Reading) -> Result<SiteCoverage, CrawlDbError> {
    let Reading { site, estimate, counts, listed, links } = reading;
    let (mut found, growth) = listed.finish();
    if links == 0 {
        // Its torrents were not read: no list shows any.
        found.outside = counts.torrents_seen;
    }
    let mut told = coverage(&site, &estimate, &found, &counts);
    told.over_time = growth.points(told.ni.ni, told.ni.listed_stored);
    if counts.pages_not_whole > 0 {
        told.unread.not_whole = db.not_whole(&site).await?.into_iter().map(not_whole).collect();
    }
    Ok(told)
}

fn not_whole(row: NotWholeRow) -> NotWhole {
    NotWhole { url: without_keys(&row.url).into_owned(), reason: row.reason.into(), at: row.at.rfc3339() }
}
