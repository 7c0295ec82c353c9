//! gleaner: a focused crawler that harvests BitTorrent metainfo files.
//!
//! One URL's way through the house, which `crawl/visit.rs` tells as code:
//!
//! ```text
//! frontier lease → politeness gate → fetch → classify ─┬─ torrent → archive ─────────────────────┐
//!  (crawldb)        (robots, rate)   (bytes)           ├─ page → links → rules → dedupe ─────────┤→ one commit
//!                                                      └─ not modified / duplicate / discard ────┘
//! ```
//!
//! The modules below stand in the order of the work. Stations do not import each other; `tests/tidy.rs`
//! holds the direction of dependencies, ARCHITECTURE.md gives the reasons.

pub mod config;

pub mod rules;

pub mod crawldb;
pub mod frontier;
pub mod politeness;

pub mod fetch;

pub mod classify;
pub mod torrent;

pub mod page;

pub mod shortcut;

pub mod render;

pub mod login;

pub mod boards;
pub mod freshness;
pub mod schedule;

pub mod coverage;
pub mod crawl;
pub mod export;
pub mod verify;

pub mod app;
pub mod cli;
pub mod demo;

pub mod clock;
pub mod limits;
pub mod telemetry;
pub mod url;
