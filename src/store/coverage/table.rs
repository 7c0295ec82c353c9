//! The coverage as a table for people.

use std::fmt;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::sample::IdGaps;
use super::stated::{ListSize, SizeSign};
use super::{NotWhole, SiteCoverage, not_whole_told};
use crate::limits;

/// Columns of the table, the same on a terminal and in a file.
const WIDTH: u16 = 80;

impl fmt::Display for SiteCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        let mut row = |term: &str, value: String| {
            let from = self.terms.iter().find(|known| known.term == term).map_or("", |known| &known.from);
            table.add_row([Cell::new(term), Cell::new(value).set_alignment(CellAlignment::Right), Cell::new(from)]);
        };
        if self.nt.nt.is_some() {
            row("IndexPageNumber", self.nt.index_pages.to_string());
            row("TorrentsPerPage", figure(self.nt.torrents_per_page, 2));
            row("TorrentsUpdated", self.nt.updated.to_string());
            row("TorrentsInvalid", self.nt.invalid.to_string());
        }
        row("NT", self.nt.nt.map_or_else(unknown, |nt| nt.to_string()));
        row("CI", self.ci.to_string());
        if self.nt.nt.is_some() {
            row("NI", self.ni.ni.map_or_else(unknown, |ni| ni.to_string()));
        }
        let at_most = if self.cr_is_at_most { "at most " } else { "" };
        let percent = if self.cr.is_some() { " %" } else { "" };
        row("CR", format!("{at_most}{}{percent}", figure(self.cr.map(|cr| cr * 100.0), 2)));
        row("HR", figure(self.rates.hr, 3));
        row("AV", figure(self.rates.av, 2) + if self.rates.av.is_some() { "/s" } else { "" });
        row("ATV", figure(self.rates.atv, 2) + if self.rates.atv.is_some() { "/s" } else { "" });
        writeln!(f, "{}", self.site)?;
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        beside(self, f)?;
        if self.unread.pages_not_whole > 0 {
            writeln!(f, "{}", not_whole_told(self.unread.pages_not_whole))?;
        }
        let shown = self.unread.not_whole.iter().take(limits::NOT_WHOLE_SHOWN_MAX);
        for NotWhole { url, reason, at } in shown.clone() {
            writeln!(f, "  {url}: {reason} ({at})")?;
        }
        match self.unread.pages_not_whole.saturating_sub(shown.len() as u64) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more (hint: --json lists them)"),
        }
    }
}

/// What is told beside the terms: stated sizes, and gaps between numbers.
fn beside(site: &SiteCoverage, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // NT has all pages that are linked to.
    let is_told = |size: &&ListSize| size.by != SizeSign::Pager || site.stated.stated_is_more;
    if let Some(ListSize { list, total, by, .. }) = site.stated.stated_lists.first().filter(is_told) {
        let sign = match by {
            SizeSign::Range => "a range of rows",
            SizeSign::Count => "a count",
            SizeSign::Pages => "its number of pages",
            SizeSign::Pager => "the pages that it links to",
        };
        let shown = site.ni.listed_links;
        writeln!(f, "  the site states {total} torrents ({sign} on {list}), its lists have shown {shown}")?;
        if site.stated.stated_is_more {
            writeln!(
                f,
                "    lists are capped, pages are not reached yet, or it counts what it does not list: CR is of what is listed"
            )?;
        }
    }
    if let Some(gaps) = site.ids.first() {
        let IdGaps {
            shape, known, first, last, unknown, torrents_low, torrents_high, torrents, asked, answered, ..
        } = gaps;
        writeln!(f, "  {shape}: {known} numbers from {first} to {last} are known, {unknown} between them are not")?;
        match torrents {
            Some(torrents) => writeln!(
                f,
                "    about {torrents} of these are torrents, {torrents_low} to {torrents_high} at 95 %: {answered} of {asked} that were asked for"
            )?,
            None if *unknown > 0 => {
                let hint = if gaps.can_be_asked {
                    format!(" (hint: gleaner crawl {} --enumerate 100)", site.site)
                } else {
                    String::new()
                };
                writeln!(f, "    any of these may be torrents, or deleted, or of other sections{hint}")?;
            }
            None => {}
        }
    }
    Ok(())
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(unknown, |value| format!("{value:.decimals$}"))
}
