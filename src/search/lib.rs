//! Search: an index of the archive beside the crawl database. It is derived: whatever happens to it, it is made again from the database
//! and the archived files.
//!
//! `words` splits text, `title` reads season, episode, year and resolution from a name, `category` tells what a payload is (`hints`: what names say
//! of it), `filing` what its site calls it, `document` puts a torrent together for the index, `query` reads what people and programs ask for, `find` asks the index, `marks` shows what it found, `follow` keeps it up
//! with the database.

pub mod limits;

pub mod category;
mod document;
pub mod filing;
pub mod find;
pub mod follow;
mod hints;
pub mod marks;
pub mod query;
pub mod title;
mod words;

pub use find::{Found, Hit, Order, Search, SearchError};
pub use query::{Filters, Query};
