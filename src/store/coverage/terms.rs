//! The origin of each term, as sentences for people. Pure.

use super::estimate::Estimate;
use super::{SiteCoverage, Term, not_whole_told};

/// The terms of a site, in the order of the formula.
pub(super) fn terms(found: &SiteCoverage, estimate: &Estimate) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut term = |term, from: String| terms.push(Term { term, from });
    if found.nt.nt.is_none() {
        let why = match estimate.series.len() {
            0 => "unknown: no index page of this site has been read",
            _ => "unknown: the index pages read list no torrent",
        };
        term("NT", format!("{why}, so the number of its torrents is unknown"));
    } else {
        term("IndexPageNumber", index_pages(estimate));
        term("TorrentsPerPage", torrents_per_page(estimate));
        term("TorrentsUpdated", updated(estimate));
        term(
            "TorrentsInvalid",
            "URLs that were gone at the last visit (404, 410, or a page that says so), each once; one that an \
                                 index page still lists counts there too, which keeps NT an upper bound"
                .to_owned(),
        );
        term("NT", nt(found, estimate));
    }
    term("CI", ci(found));
    if found.nt.nt.is_some() {
        term("NI", ni(found));
        term("CR", cr(found));
    }
    term("HR", format!("torrents (CI) / requests sent ({})", found.rates.pages));
    term("AV", format!("requests sent / seconds of crawling ({})", found.rates.seconds));
    term("ATV", "torrents (CI) / seconds of crawling".to_owned());
    terms
}

fn index_pages(estimate: &Estimate) -> String {
    let counted = estimate.series.iter().filter(|series| series.adds > 0).count();
    let contained = estimate.series.iter().filter(|series| series.adds == 0 && series.listed_read > 0).count();
    let mut text = format!("{counted} series");
    if let Some(largest) = estimate.series.first() {
        text += &format!(", the largest {}", largest.name);
    }
    match estimate.pages.saturating_sub(estimate.pages_read) {
        0 => text += "; all pages read",
        unread => text += &format!("; {} pages read, {unread} announced by links to them", estimate.pages_read),
    }
    if contained > 0 {
        text += &format!("; {contained} more series list nothing that these do not");
    }
    text
}

fn torrents_per_page(estimate: &Estimate) -> String {
    let reckoned = estimate.links_unread();
    let own = estimate.listed.saturating_sub(reckoned);
    let mut text = format!("{own} links to torrents counted on the pages read, each once");
    match reckoned {
        0 => {}
        reckoned => text += &format!(", {reckoned} estimated for the pages not read"),
    }
    if let Some(largest) = estimate.series.first().filter(|series| series.pages > 1) {
        text += &match largest.last_page {
            Some(rows) => format!("; {} on a full page of the largest series, {rows} on its last", largest.per_page),
            None => format!("; {} on a full page of the largest series, its last not read", largest.per_page),
        };
    }
    text
}

fn updated(estimate: &Estimate) -> String {
    match estimate.links_updated {
        0 => "no index page had new links at a later visit".to_owned(),
        links => {
            format!("later visits found {links} new links; as many that they pushed off pages not revisited are added")
        }
    }
}

fn nt(found: &SiteCoverage, estimate: &Estimate) -> String {
    let mut text = "IndexPageNumber × TorrentsPerPage + TorrentsUpdated + TorrentsInvalid: an upper bound, because a torrent listed under two links is one after de-duplication by infohash".to_owned();
    if let Some(ratio) = found.nt.ci_per_nt {
        text += &format!("; CI / NT is {:.2} %", ratio * 100.0);
    }
    if let Some(main) = estimate.series.first().filter(|main| main.pages_read < main.pages.div_ceil(2)) {
        text += &format!(
            "; the crawl is young: {} of {} pages of the largest series are read, so that most of NT is an estimate, and may be far \
             too high until they are",
            main.pages_read, main.pages
        );
    }
    text
}

fn ci(found: &SiteCoverage) -> String {
    let mut text = "distinct torrents in the archive that have a source on this site".to_owned();
    if found.ni.outside_lists > 0 {
        text += &format!("; {} of them were found outside the lists", found.ni.outside_lists);
    }
    if found.rates.duplicate_visits > 0 {
        text += &format!("; {} visits brought a torrent already known", found.rates.duplicate_visits);
    }
    text
}

fn ni(found: &SiteCoverage) -> String {
    let mut text =
        format!("listed torrents, each infohash once: {} of {}", found.ni.listed_visited, found.ni.listed_links);
    text += " listed links visited";
    let (low, high) = (found.ni.ni_low.unwrap_or(0), found.ni.ni_high.unwrap_or(0));
    if found.ni.ni.is_some() && low < high {
        text += &format!("; those without an answer at the ratio of the others, {low} to {high} at 95 %");
    }
    if found.unread.downloads_unanswered > 0 {
        text += &format!("; {} links to torrents have no answer", found.unread.downloads_unanswered);
    }
    if found.unread.lists_waiting > 0 {
        text += &format!("; {} wait to be read", list_pages(found.unread.lists_waiting));
    }
    if found.ni.listed_magnets > 0 {
        text += &format!("; {} more are known by a magnet only", found.ni.listed_magnets);
    }
    text
}

fn cr(found: &SiteCoverage) -> String {
    if found.ni.ni.is_none() {
        let were = if found.unread.lists_unread == 1 { "was" } else { "were" };
        return format!("not known: {} {were} not read", list_pages(found.unread.lists_unread));
    }
    if found.cr.is_none() {
        return "not known: no listed link brought a torrent".to_owned();
    }
    let mut text = format!("{} listed torrents in the archive / NI", found.ni.listed_stored);
    let mut why = Vec::new();
    if found.unread.pages_not_whole > 0 {
        why.push(not_whole_told(found.unread.pages_not_whole));
    }
    if found.unread.lists_closed > 0 {
        let are = if found.unread.lists_closed == 1 { "is" } else { "are" };
        why.push(format!(
            "{} {are} closed by robots.txt, the rules or a budget",
            list_pages(found.unread.lists_closed)
        ));
    }
    if found.unread.downloads_closed > 0 {
        let are = if found.unread.downloads_closed == 1 { "link to a torrent is" } else { "links to torrents are" };
        why.push(format!("{} {are} closed by robots.txt or the rules", found.unread.downloads_closed));
    }
    if !why.is_empty() {
        text += &format!(", an upper bound here: {}", why.join("; "));
    }
    text
}

fn list_pages(count: u64) -> String {
    format!("{count} list page{}", if count == 1 { "" } else { "s" })
}
