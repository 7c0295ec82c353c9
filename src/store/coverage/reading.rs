//! Reads what the coverage of sites needs, page by page: the listings and URLs of each site, then all torrents once for many sites.

use std::collections::HashMap;

use super::estimate::{Estimate, Estimator};
use super::ids::{IdShape, Ids};
use super::listed::{LabelLinks, Listed};
use super::sample::{IdGaps, SAMPLES_NOTE, Samples, gaps};
use super::stated::{STATED_NOTE, StatedLists, totals};
use super::{LabelCoverage, NotWhole, SiteCoverage, coverage, sites};
use crate::crawldb::{CrawlDbError, NotWholeRow, Reader, SiteCounts, UrlLook};
use crate::limits;
use gleaner_base::url::without_keys;

/// A site whose torrents are still to be read.
struct Reading {
    site: String,
    estimate: Estimate,
    counts: SiteCounts,
    listed: Listed,
    /// None if there were too many numbers.
    ids: Option<Vec<IdShape>>,
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
    let mut ids = Ids::default();
    urls(db, site, |url| {
        listed.url(url);
        take_id(&mut ids, url);
    })
    .await?;
    listed.visited();
    let counts = db.site_counts(site).await?;
    Ok(Reading { site: site.to_owned(), estimate, counts, listed, ids: ids.finish(), links })
}

/// Reads all URLs of a site.
async fn urls(db: &dyn Reader, site: &str, mut take: impl FnMut(&UrlLook) + Send) -> Result<(), CrawlDbError> {
    let mut after = None;
    loop {
        let page = db.url_looks(site, after, limits::COVERAGE_URLS_MAX).await?;
        page.rows.iter().for_each(&mut take);
        after = page.after;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Of a URL at rank 0 nobody knows what it is.
fn take_id(ids: &mut Ids, url: &UrlLook) {
    if let Some((host, path)) = url.path.as_ref().filter(|_| url.rank > 0) {
        ids.add(*host, path);
    }
}

/// The shapes of the numbers in the URLs of a site's torrents and their pages, the densest first; None if there were too many numbers.
///
/// # Errors
/// Errors of the database.
pub async fn id_shapes(db: &dyn Reader, site: &str) -> Result<Option<Vec<IdShape>>, CrawlDbError> {
    let mut ids = Ids::default();
    urls(db, site, |url| take_id(&mut ids, url)).await?;
    Ok(ids.finish())
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
    let Reading { site, estimate, counts, listed, ids, links } = reading;
    let of_labels = listed.labels();
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
    let lists = StatedLists::from_bytes(db.note(&site, STATED_NOTE).await?.as_deref());
    told.stated = totals(&lists, &estimate, told.nt.nt);
    told.ids = id_gaps(db, &site, ids.unwrap_or_default()).await?;
    told.by_label = by_label(db, of_labels, told.cr.is_some()).await?;
    Ok(told)
}

async fn id_gaps(db: &dyn Reader, site: &str, shapes: Vec<IdShape>) -> Result<Vec<IdGaps>, CrawlDbError> {
    if shapes.is_empty() {
        return Ok(Vec::new());
    }
    let samples = Samples::from_bytes(db.note(site, SAMPLES_NOTE).await?.as_deref());
    let hosts = db.hosts().await?;
    let origin = |shape: &IdShape| hosts.iter().find(|host| host.id == shape.form.host).map_or("", |host| &host.origin);
    let told = shapes.iter().take(limits::ID_SHAPES_LISTED_MAX);
    let mut told: Vec<IdGaps> = told.map(|shape| gaps(shape, origin(shape), samples.of(&shape.form))).collect();
    told.iter_mut().for_each(|of| of.shape = without_keys(&of.shape).into_owned());
    Ok(told)
}

async fn by_label(
    db: &dyn Reader,
    of_labels: Vec<(Option<u32>, LabelLinks)>,
    is_known: bool,
) -> Result<Vec<LabelCoverage>, CrawlDbError> {
    if of_labels.is_empty() {
        return Ok(Vec::new());
    }
    let texts: HashMap<u32, Box<str>> = db.labels().await?.rows.into_iter().map(|row| (row.number, row.text)).collect();
    let text = |number: Option<u32>| number.and_then(|number| texts.get(&number)).map(|text| text.to_string());
    let mut told: Vec<LabelCoverage> =
        of_labels.into_iter().map(|(number, links)| LabelCoverage::new(text(number), links, is_known)).collect();
    told.sort_by(|a, b| b.listed.cmp(&a.listed).then_with(|| a.label.cmp(&b.label)));
    Ok(told)
}

fn not_whole(row: NotWholeRow) -> NotWhole {
    NotWhole { url: without_keys(&row.url).into_owned(), reason: row.reason.into(), at: row.at.rfc3339() }
}
