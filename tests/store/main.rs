//! Storage: the crawl database and its engines, the archive, and their readers.

mod archive;
mod coverage;
mod crawldb_contract;
mod crawldb_crash;
mod crawldb_disk;
mod crawldb_update;
mod export;
mod harvest;
mod import;
mod lists;
mod verify;
