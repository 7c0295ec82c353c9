//! gleaner: a focused crawler that harvests BitTorrent metainfo files.
//!
//! One URL's way through the house, which `src/crawl/visit.rs` shows as code:
//!
//! ```text
//! frontier lease → politeness gate → fetch → classify ─┬─ torrent → archive ─────────────────────┐
//!  (crawldb)        (robots, rate)   (bytes)           ├─ page → links → rules → dedupe ─────────┤→ one commit
//!                                                      └─ not modified / duplicate / discard ────┘
//! ```
//!
//! The rooms are crates of their own, below `src/`; ARCHITECTURE.md says what each holds. Here they are put together:
//! `app` builds the parts of a process, `cli` is what a person types.

pub mod app;
pub mod cli;
pub mod limits;
