//! The crawl database in one redb file.
