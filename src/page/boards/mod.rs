//! Boards: reads pages that list threads or torrents, and decides how far a board must be walked to find everything
//! new (ALGORITHMS §10.1; Board, "BIC").
//!
//! ```text
//! page's tree → flat → records → lists → columns → rows ─→ walk → threads to fetch, next page or stop
//!                       (select)         when ↗              ↑ what is known of the threads
//! ```
//!
//! `records` mines the lists of a page without a selector, `select` uses the operator's. `columns` finds the role of
//! each place in a row, `when` parses times, `identity` finds the thread of a URL. `walk` decides page by page.
//!
//! Comes after `page` and before the crawl, which fetches what `walk` names and reports the results of a recheck to
//! `schedule`. The room fetches nothing, opens nothing, never waits and never reads the time: `now` is an argument,
//! in seconds since 1970-01-01 UTC.

mod columns;
pub mod eic;
mod flat;
pub mod identity;
mod lines;
mod lists;
pub mod next;
mod order;
mod records;
mod rows;
mod select;
pub mod tour;
mod trust;
pub mod walk;
pub mod when;
mod words;

pub use lists::Layout;
pub use rows::{Ask, BoardPage, Pinned, Row, Sorted, Times, id_of, read_page};
pub use select::RowSelectors;

/// Errors in the operator's selectors.
#[derive(Debug, thiserror::Error)]
pub enum BoardsError {
    /// An invalid selector.
    #[error("`{text}` is not a CSS selector: {fault}")]
    Selector { text: String, fault: String },
}
