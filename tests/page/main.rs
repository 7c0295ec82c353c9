//! Tests of parsing bytes and pages: links, feeds, page numbers, boards, changes, endpoints, torrents.

mod boards;
mod change_detection;
mod feeds;
mod links;
mod pagination;
mod recognition;
mod shortcut;
