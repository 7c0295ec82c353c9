//! The operator's CSS selectors for a board's rows, used instead of the miner.

use scraper::Selector;

use super::BoardsError;
use super::columns::Moment;
use super::flat::{Page, is_link};
use super::lines::text_of;
use super::records::Record;
use super::when::{read, read_attribute};
use super::words::Role;
use crate::limits::BOARD_ROWS_MAX;

/// Selectors of a rule file: a row, and within a row its link and its time of last activity.
#[derive(Clone, Debug)]
pub struct RowSelectors {
    row: Selector,
    link: Option<Selector>,
    time: Option<Selector>,
}

impl RowSelectors {
    /// Parses the selectors.
    ///
    /// # Errors
    /// One of them is not a CSS selector.
    pub fn new(row: &str, link: Option<&str>, time: Option<&str>) -> Result<Self, BoardsError> {
        let parse = |text: &str| {
            Selector::parse(text)
                .map_err(|fault| BoardsError::Selector { text: text.to_owned(), fault: fault.to_string() })
        };
        Ok(Self { row: parse(row)?, link: link.map(parse).transpose()?, time: time.map(parse).transpose()? })
    }
}

/// The rows matched by the selector, in page order; nested rows are ignored.
pub(super) fn records(page: &Page<'_>, selectors: &RowSelectors) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < page.elements.len() && records.len() < BOARD_ROWS_MAX {
        let flat = &page.elements[at];
        let is_row = page.node(at).is_some_and(|element| selectors.row.matches(&element));
        if is_row {
            records.push(Record { parts: vec![at], texts: flat.texts.clone() });
            at = flat.end;
        } else {
            at += 1;
        }
    }
    records
}

/// The first element of a record that matches a selector. Selectors match classes, ids and tags of the page's own
/// tree.
fn first(page: &Page<'_>, record: &Record, selector: &Selector) -> Option<usize> {
    record.elements(page).find(|&at| page.node(at).is_some_and(|element| selector.matches(&element)))
}

/// The link matched by the selector, or the first one within the match.
pub(super) fn link(page: &Page<'_>, record: &Record, selectors: &RowSelectors) -> Option<usize> {
    let found = first(page, record, selectors.link.as_ref()?)?;
    (found..page.elements[found].end).find(|&at| is_link(page.elements[at].element))
}

/// The time matched by the selector: from its attributes, else from its text.
pub(super) fn moment(page: &Page<'_>, record: &Record, selectors: &RowSelectors) -> Option<Moment> {
    let found = first(page, record, selectors.time.as_ref()?)?;
    let flat = &page.elements[found];
    let told = ["datetime", "data-time", "data-timestamp", "title"]
        .iter()
        .find_map(|name| flat.attr(name).and_then(read_attribute));
    let reading = told.or_else(|| read(&text_of(page, page.elements[found].texts.clone())).map(|read| read.reading))?;
    Some(Moment { role: Some(Role::Last), place: 0, block: found, reading, twin: None })
}
