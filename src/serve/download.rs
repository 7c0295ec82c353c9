//! Archived torrents, byte for byte.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query as QueryOf, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use std::io::Read as _;

use crate::Outlet;
use crate::access::Caller;
use crate::limits::TORRENT_BYTES_MAX;
use crate::names::disposition;
use crate::problem::Problem;
use crate::tokens::Scope;

/// The code of a link: see [`crate::links`].
#[derive(Debug, Default, Deserialize)]
pub struct Asked {
    t: Option<String>,
}

/// `/torrents/INFOHASH.torrent`.
pub async fn torrent(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    QueryOf(asked): QueryOf<Asked>,
) -> Result<Response, Problem> {
    let infohash = name.strip_suffix(".torrent").unwrap_or(&name).to_ascii_lowercase();
    let is_of_link = asked.t.as_deref().is_some_and(|code| outlet.tokens.of_link(&infohash, code).is_some());
    if !is_of_link {
        caller.must_have(Scope::Torznab)?;
    }
    let missing = |detail: &str| Problem::new(StatusCode::NOT_FOUND, "this torrent is not in the archive", detail);
    let Some(hash) = gleaner_search::query::infohashes(&infohash).and_then(|hashes| hashes.into_iter().next()) else {
        return Err(missing("a torrent's address is /torrents/INFOHASH.torrent"));
    };
    let rows = outlet.db.torrents_at(vec![hash]).await.map_err(|error| Problem::ours(&error))?;
    let Some(row) = rows.into_iter().flatten().next() else { return Err(missing("gleaner search finds what is")) };
    let (archive, infohashes) = (Arc::clone(&outlet.archive), row.facts.infohashes);
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        archive.open_torrent(&infohashes)?.take(TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    });
    let bytes = match read.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Problem::new(
                StatusCode::GONE,
                "the file of this torrent is lost",
                "gleaner verify --repair has it fetched again",
            ));
        }
        Ok(Err(error)) => return Err(Problem::ours(&error)),
        Err(error) => return Err(Problem::ours(&error)),
    };
    let headers = [
        (header::CONTENT_TYPE, "application/x-bittorrent".to_owned()),
        (header::CONTENT_DISPOSITION, disposition(&row.facts.name)),
        (header::ETAG, format!("\"{}\"", data_encoding::HEXLOWER.encode(&row.facts.sha256))),
    ];
    Ok((headers, bytes).into_response())
}
