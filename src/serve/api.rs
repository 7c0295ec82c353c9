//! JSON below `/api/v1`.

mod archive;
mod openapi;
mod service;
mod table;

pub use archive::{count, ready};
pub use table::{Report, router};

use self::table::Endpoint;

/// All endpoints.
pub fn endpoints() -> Vec<Endpoint> {
    const NO_INDEX: &str = "the search index is being made";
    const NO_TORRENT: &str = "this torrent is not in the archive";
    vec![
        Endpoint::get("/openapi.json", "This document", openapi::openapi),
        Endpoint::get("/summary", "A few figures, flat, for tiles of start pages", archive::summary),
        Endpoint::get("/torrents", "Torrents, the newest first", archive::torrents),
        Endpoint::get("/search", "What a query finds", archive::search).may_be(503, NO_INDEX),
        Endpoint::get("/torrents/{infohash}", "A torrent", archive::torrent).may_be(404, NO_TORRENT),
        Endpoint::get("/torrents/{infohash}/files", "The files of a torrent", archive::files)
            .may_be(404, NO_TORRENT)
            .may_be(410, "the file of this torrent is lost"),
        Endpoint::get("/categories", "All categories with their torrents", archive::categories).may_be(503, NO_INDEX),
        Endpoint::report("/sites", "What `gleaner status --json` prints", |inside| &inside.status, ""),
        Endpoint::report("/sites/{name}", "The part of one site", |inside| &inside.site, service::NOT_CRAWLED),
    ]
}
