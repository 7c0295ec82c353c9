//! Storage: the crawl database, and its readers: coverage, export, verification, backup.

pub mod backup;
pub mod coverage;
pub mod crawldb;
pub mod export;
pub mod import;
pub mod limits;
pub mod verify;
