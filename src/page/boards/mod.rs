//! Boards: what a page that lists threads or torrents shows, and how far a board must be walked to see what is new
//! (ALGORITHMS §10.1; Board, "BIC").
//!
//! ```text
//! page's tree → flat → records → lists → columns → rows ─→ walk → threads to fetch, next page or stop
//!                       (select)         when ↗              ↑ what is known of the threads
//! ```
//!
//! `records` mines the lists of a page without a selector, `select` takes the operator's; `columns` says what each place of
//! a row holds, `when` reads its times, `identity` tells which thread a URL is. `walk` decides page by page.
//!
//! Stands behind `page`, before the crawl, which fetches what `walk` names and tells `schedule` what a look showed.
//! The room fetches nothing, opens nothing, never waits and never reads the time: `now` is an argument, in seconds since
//! 1970-01-01 UTC.

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

/// What is wrong with what an operator wrote.
#[derive(Debug, thiserror::Error)]
pub enum BoardsError {
    /// A selector that is none.
    #[error("`{text}` is no CSS selector: {fault}")]
    Selector { text: String, fault: String },
}
