//! Selects the board's list on a page: the one whose records link to different threads with meaningful titles,
//! contain times and counts, and are in the main column.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::columns::{self, Cells};
use super::flat::{Page, is_link};
use super::identity::{Leads, leads, shape, thread_id};
use super::lines::{Content, LinkSeen};
use super::order::ratio;
use super::records::{self, Record, Region};
use super::rows::Ask;
use super::words::Role;
use super::{RowSelectors, select};
use crate::limits::{BOARD_CELLS_MAX, BOARD_ROWS_MAX};
use gleaner_base::url::CrawlUrl;

/// The layout of a board's list. With it the list is also found on pages with only a row or two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The form of the rows' addresses.
    pub shape: String,
    /// Hash of the tags from the page's root to a row; 0 if a row consists of several elements.
    pub path: u64,
}

/// Records that are read to score a list.
const SAMPLE: usize = 20;

/// A confirmed list: its records, and the form of the addresses of its rows.
pub(super) struct List {
    pub records: Vec<Record>,
    pub shape: String,
    pub coarse: bool,
    pub is_boards: bool,
    pub has_folders: bool,
    pub score: f64,
    /// See [`Layout::path`].
    pub path: u64,
}

pub(super) struct ListReader<'r, 'p> {
    pub page: &'r Page<'p>,
    pub ask: &'r Ask<'r>,
    pub base: url::Url,
    pub page_shape: String,
    /// The page's links, by element.
    pub links: HashMap<usize, Target>,
}

/// The target of a link.
pub(super) struct Target {
    pub url: CrawlUrl,
    pub id: String,
    pub shape: String,
    pub leads: Leads,
}

/// Statistics about the links of one form in the records of a list.
struct Form<'t> {
    leads: Leads,
    records: usize,
    ids: HashSet<&'t str>,
    letters: usize,
    last_record: usize,
    longest: usize,
}

impl<'r, 'p> ListReader<'r, 'p> {
    pub fn new(page: &'r Page<'p>, ask: &'r Ask<'r>) -> Self {
        let own = ask.url.to_url().ok();
        let based = page.base.and_then(|base| own.as_ref()?.join(base).ok());
        // A normalised address parses again; a page without one has no links.
        let base = based.or(own).unwrap_or_else(|| url::Url::parse("http://invalid.invalid/").expect("a constant"));
        let page_shape = shape(ask.url.as_str(), false);
        let mut known: HashMap<String, Leads> = HashMap::new();
        let links = links(page)
            .filter_map(|(at, href)| {
                let url = CrawlUrl::join(&base, href, None, ask.canonical).ok()?;
                let (id, shape) = (thread_id(url.as_str()), shape(url.as_str(), false));
                let leads = match known.get(&shape) {
                    Some(leads) => *leads,
                    None => *known.entry(shape.clone()).or_insert(leads(&shape, &page_shape)),
                };
                Some((at, Target { url, id, shape, leads }))
            })
            .collect();
        Self { page, ask, base, page_shape, links }
    }

    /// The form of a link's address, and the kind of its target.
    fn form<'t>(&self, target: &'t Target, coarse: bool) -> (Cow<'t, str>, Leads) {
        if !coarse {
            return (Cow::Borrowed(&target.shape), target.leads);
        }
        let own = shape(target.url.as_str(), coarse);
        let leads = leads(&own, &self.page_shape);
        (own.into(), leads)
    }

    /// The lists found by the miner, the best first.
    pub fn mined(&self) -> Vec<List> {
        let mut lists: Vec<(List, usize)> = records::regions(self.page)
            .into_iter()
            .filter_map(|region| self.judge(&region).map(|list| (list, region.parent)))
            .collect();
        lists.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let mut kept: Vec<(List, usize)> = Vec::new();
        for (list, parent) in lists {
            // A list within a better one, or around it, is the same list in another form.
            let overlaps = kept.iter().any(|(other, _)| {
                let within = |record: &Record, list: &List| {
                    list.records.iter().any(|outer| outer.first() <= record.first() && record.first() < self.end(outer))
                };
                other.records.first().is_some_and(|record| within(record, &list))
                    || list.records.first().is_some_and(|record| within(record, other))
            });
            if !overlaps {
                kept.push((list, parent));
            }
        }
        let mut lists: Vec<List> = kept.into_iter().map(|(list, _)| list).collect();
        let main = lists.iter().position(|list| !list.is_boards);
        let known = self.ask.layout.and_then(|layout| self.laid_out(layout));
        match (main, known) {
            // The layout wins if it finds more of the same list, or if the miner finds another one.
            (Some(at), Some(known))
                if lists[at].shape != known.shape || lists[at].records.len() < known.records.len() =>
            {
                lists[at] = known
            }
            (None, Some(known)) => lists.insert(0, known),
            _ => {}
        }
        lists
    }

    /// The list by the layout of other pages, on a page with few rows: everything at that place that links to a
    /// thread.
    fn laid_out(&self, layout: &Layout) -> Option<List> {
        let mut records = Vec::new();
        let mut at = 0;
        while layout.path != 0 && at < self.page.elements.len() && records.len() < BOARD_ROWS_MAX {
            let flat = &self.page.elements[at];
            let record = Record { parts: vec![at], texts: flat.texts.clone() };
            let leads_there = |coarse: bool| self.leads_to(&record, &layout.shape, coarse);
            if flat.path == layout.path && flat.links > 0 && leads_there(false) | leads_there(true) {
                records.push(record);
                at = flat.end;
            } else {
                at += 1;
            }
        }
        let first = records.first()?;
        let coarse = !self.leads_to(first, &layout.shape, false);
        Some(List {
            shape: layout.shape.clone(),
            coarse,
            is_boards: false,
            has_folders: coarse,
            score: 1.0,
            path: layout.path,
            records,
        })
    }

    /// True if one of the record's links has the form.
    fn leads_to(&self, record: &Record, form: &str, coarse: bool) -> bool {
        let mut links = record.elements(self.page).take(BOARD_CELLS_MAX).filter_map(|at| self.links.get(&at));
        links.any(|target| self.form(target, coarse).0 == form)
    }

    fn end(&self, record: &Record) -> usize {
        record.parts.last().map_or(0, |&part| self.page.elements[part].end)
    }

    /// The records of the operator's selector, as the only list.
    pub fn selected(&self, selectors: &RowSelectors) -> Vec<List> {
        let records = select::records(self.page, selectors);
        let sample: Vec<(Content<'p>, &Record)> =
            records.iter().take(SAMPLE).map(|record| (Content::of(self.page, record), record)).collect();
        let (shape, coarse, _) = self.title_form(&sample).unwrap_or_default();
        vec![List { records, shape, coarse, is_boards: false, has_folders: false, score: 1.0, path: 0 }]
    }

    /// The score of a region as the board's list; `None` if it is not one.
    fn judge(&self, region: &Region) -> Option<List> {
        let sample: Vec<(Content<'p>, &Record)> =
            region.records.iter().take(SAMPLE).map(|record| (Content::of(self.page, record), record)).collect();
        let (shape, coarse, title) = self.title_form(&sample)?;
        let header = columns::header(self.page, region.records.first()?.first());
        let (mut timed, mut numbers, mut sized) = (0_usize, 0_usize, 0_usize);
        for (content, record) in &sample {
            let cells = Cells::of(
                self.page,
                record,
                content,
                &header,
                self.title_link(content, &shape, coarse).map(|(element, _)| self.title_extent(record, element)),
            );
            timed += usize::from(!cells.moments.is_empty());
            numbers += cells.numbers.len().min(4);
            sized += usize::from(cells.size.is_some());
        }
        let ids: HashSet<&str> = sample
            .iter()
            .filter_map(|(content, _)| self.title_link(content, &shape, coarse))
            .map(|(_, target)| target.id.as_str())
            .collect();
        let share = |count: usize| ratio(count, sample.len());
        let is_known = self.ask.layout.is_some_and(|layout| layout.shape == shape);
        let records = records::extend(self.page, region, |record| self.leads_to(record, &shape, coarse));
        let named: usize = header.iter().map(|(_, roles)| roles.len()).sum();
        let is_boards = leads(&shape, &self.page_shape) == Leads::ToBoard && !shape.ends_with("/#") && !coarse
            || header.iter().any(|(_, roles)| roles.contains(&Role::Threads))
                && leads(&shape, &self.page_shape) != Leads::ToThread;
        let evidence =
            1.0 + 2.0 * share(timed) + 0.4 * share(numbers) + 0.5 * share(sized) + 0.1 * ratio(named.min(6), 1);
        let known = if is_known { 4.0 } else { 1.0 };
        let is_one = region.records.iter().all(|record| record.parts.len() == 1);
        let path =
            region.records.first().filter(|_| is_one).map_or(0, |record| self.page.elements[record.first()].path);
        let place = self.place(region.parent);
        // A list beside the main column must be long and complete.
        if place < 1.0 && !is_known && (records.len() < 12 || numbers == 0) {
            return None;
        }
        let score = ratio(records.len(), 1).sqrt() * title * evidence * place * known;
        // A few links without a time or a number are a menu.
        let is_bare = share(timed) + share(numbers) < 0.3 && (records.len() < 5 || title < 0.35) && !is_known;
        let has_folders = coarse || shape.ends_with("/#");
        let is_single = ids.len() < 2;
        (score > 0.0 && !is_bare && !is_single).then_some(List {
            records,
            shape,
            coarse,
            is_boards,
            has_folders,
            score,
            path,
        })
    }

    /// The weight of a list's position on the page: lower beside the main column.
    fn place(&self, parent: usize) -> f64 {
        let mut at = parent;
        let mut worth: f64 = 1.0;
        for _ in 0..40 {
            let flat = &self.page.elements[at];
            if matches!(flat.tag(), "html" | "body") {
                break;
            }
            if matches!(flat.tag(), "nav" | "aside" | "footer" | "header") || self.page.is_beside(at) {
                worth = 0.3;
            }
            if flat.parent == at {
                break;
            }
            at = flat.parent;
        }
        worth
    }

    /// The form of the addresses of the records' titles, and its weight from 0 to 1.
    fn title_form(&self, sample: &[(Content<'p>, &Record)]) -> Option<(String, bool, f64)> {
        let fine = self.best_form(sample, false);
        if let Some((_, _, worth)) = &fine
            && *worth >= 0.15
        {
            return fine;
        }
        [fine, self.best_form(sample, true)].into_iter().flatten().max_by(|a, b| a.2.total_cmp(&b.2))
    }

    fn best_form(&self, sample: &[(Content<'p>, &Record)], coarse: bool) -> Option<(String, bool, f64)> {
        let mut forms: HashMap<Cow<'_, str>, Form<'_>> = HashMap::new();
        for (number, (content, _)) in sample.iter().enumerate() {
            for link in &content.links {
                let Some(target) = self.links.get(&link.element) else { continue };
                let (own, leads) = self.form(target, coarse);
                let form = forms.entry(own).or_insert_with(|| Form {
                    leads,
                    records: 0,
                    ids: HashSet::new(),
                    letters: 0,
                    last_record: 0,
                    longest: 0,
                });
                if form.records == 0 || form.last_record != number {
                    form.letters += form.longest;
                    form.longest = 0;
                    form.records += 1;
                    form.last_record = number;
                }
                let letters = link.text.chars().filter(|character| character.is_alphabetic()).count();
                form.longest = form.longest.max(letters.min(60));
                if letters > 0 {
                    form.ids.insert(&target.id);
                }
            }
        }
        forms
            .into_iter()
            .map(|(shape, form)| {
                let letters = ratio(form.letters + form.longest, form.records);
                let covers = ratio(form.records, sample.len()).min(1.0);
                let differs = ratio(form.ids.len(), form.records).min(1.0);
                let kind = match form.leads {
                    Leads::ToPeople => 0.05,
                    Leads::Aside => 0.3,
                    Leads::ToThread => 1.2,
                    Leads::ToBoard | Leads::Unsaid => 1.0,
                };
                let known = if self.ask.layout.is_some_and(|layout| layout.shape == *shape) { 1.5 } else { 1.0 };
                let worth = covers * covers * differs * letters / (letters + 8.0) * kind * known;
                (shape.into_owned(), coarse, worth)
            })
            .filter(|(_, _, worth)| *worth > 0.02)
            .max_by(|a, b| a.2.total_cmp(&b.2).then_with(|| b.0.cmp(&a.0)))
    }

    /// The title link of a record: of the list's form, else one to a thread; the longest text wins.
    pub fn title_link(&self, content: &Content<'p>, form: &str, coarse: bool) -> Option<(usize, &Target)> {
        let weigh = |link: &LinkSeen| {
            let target = self.links.get(&link.element)?;
            let (own, leads) = self.form(target, coarse);
            let kind = match leads {
                _ if own == form => 3,
                Leads::ToThread => 2,
                Leads::Unsaid => 1,
                _ => return None,
            };
            let letters = link.text.chars().filter(|character| character.is_alphabetic()).count();
            Some(((kind, letters, std::cmp::Reverse(link.element)), (link.element, target)))
        };
        content.links.iter().filter_map(weigh).max_by(|a, b| a.0.cmp(&b.0)).map(|(_, found)| found)
    }
}

/// All links of the page, for those outside the rows.
pub(super) fn links<'a, 'p>(page: &'a Page<'p>) -> impl Iterator<Item = (usize, &'p str)> + 'a {
    page.elements
        .iter()
        .enumerate()
        .filter(|(_, flat)| is_link(flat.element))
        .map(|(at, flat)| (at, flat.attr("href").unwrap_or_default()))
}
