//! What is kept: the crawl database, and what reads it: coverage, export, verification.

pub mod coverage;
pub mod crawldb;
pub mod export;
pub mod limits;
pub mod verify;
