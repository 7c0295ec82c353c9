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
        let beside = [("Stated", stated(self)), ("Unknown numbers", unknown_numbers(self))];
        for (term, value, from) in
            beside.into_iter().filter_map(|(term, told)| told.map(|(value, from)| (term, value, from)))
        {
            table.add_row([Cell::new(term), Cell::new(value).set_alignment(CellAlignment::Right), Cell::new(from)]);
        }
        writeln!(f, "{}", self.site)?;
        for line in table.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
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

/// A size that a list states, if NT does not have it anyway, and what it means.
fn stated(site: &SiteCoverage) -> Option<(u64, String)> {
    // NT has all pages that are linked to.
    let is_told = |size: &&ListSize| size.by != SizeSign::Pager || site.stated.stated_is_more;
    let ListSize { list, total, by, .. } = site.stated.stated_lists.first().filter(is_told)?;
    let said = match by {
        SizeSign::Range | SizeSign::Count => format!("{list} states {total} torrents"),
        SizeSign::Pages => format!("{list} has room for {total} torrents (stated pages × rows of one)"),
        SizeSign::Pager => format!("{list} has room for {total} torrents (pages that it links to × rows of one)"),
    };
    let shown = site.ni.listed_links;
    let mut text = format!("{said}, the lists have shown {shown}");
    if site.stated.stated_is_more {
        text +=
            ": lists are capped, or pages are not reached, or it counts what it does not list; CR is of what is listed";
    }
    Some((*total, text))
}

/// Numbers of the densest shape that are not known, and what they may be.
fn unknown_numbers(site: &SiteCoverage) -> Option<(u64, String)> {
    let gaps = site.ids.first()?;
    let IdGaps { shape, known, first, last, torrents_low, torrents_high, asked, answered, .. } = gaps;
    let mut text = format!("of {shape} from {first} to {last}, {known} are known");
    match gaps.torrents {
        Some(torrents) => {
            text += &format!(
                "; about {torrents} of the others are torrents, {torrents_low} to {torrents_high} at 95 %: {answered} of {asked} that were asked for"
            );
        }
        None if gaps.unknown > 0 => {
            text += "; the others may be torrents, or deleted, or of other sections";
            if gaps.can_be_asked {
                text += &format!(" (hint: gleaner crawl {} --enumerate 100)", site.site);
            } else {
                text += "; their URLs (*) have more than the number, so none can be asked for";
            }
        }
        None => {}
    }
    Some((gaps.unknown, text))
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(unknown, |value| format!("{value:.decimals$}"))
}
