//! Every kind of misbehaviour, one table per file. A kind has a name, a place where it misbehaves, the required outcome, whether
//! the good torrent must be harvested nevertheless, and the misbehaviour itself.

mod bodies;
mod codings;
mod connections;
mod framing;
mod headers;
mod pages;
mod patience;
mod redirects;
mod robots;
mod torrents;

use std::sync::LazyLock;

use crate::hostile::server::{Ends, Kind, Place, Serve};

/// Connections that most kinds may use: four attempts, each after its own robots.txt, and the torrent.
const CONNECTIONS: usize = 12;

/// Outcomes of a page that is read, of a response that is not HTTP, and of a truncated one.
const PAGE: &[&str] = &["page"];
const PROTOCOL: &[&str] = &["protocol_error"];
const TRUNCATED: &[&str] = &["truncated"];
const TIMED_OUT: &[&str] = &["timed_out"];
const STORED: &[&str] = &["torrent_stored"];

/// A page that cannot be read, so the link to the torrent is lost.
fn lost(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Page, Ends::As(outcomes), false, serve)
}

/// A strange page that must be read.
fn kept(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Page, Ends::As(outcomes), true, serve)
}

/// A malformed torrent, or one that cannot be fetched.
fn bad_torrent(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Torrent, Ends::As(outcomes), false, serve)
}

/// A torrent that is delivered strangely and must be stored.
fn good_torrent(name: &'static str, serve: Serve) -> Kind {
    kind(name, Place::Torrent, Ends::As(STORED), true, serve)
}

/// A host that never serves what its site needs to start.
fn given_up(name: &'static str, at: Place, reasons: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, at, Ends::GivenUp(reasons), false, serve)
}

fn kind(name: &'static str, at: Place, ends: Ends, keeps: bool, serve: Serve) -> Kind {
    Kind { name, at, ends, keeps, connections_max: CONNECTIONS, serve }
}

/// All kinds that a crawl finishes within a minute.
pub fn all() -> Vec<Kind> {
    [
        connections::kinds(),
        framing::kinds(),
        headers::kinds(),
        bodies::kinds(),
        codings::kinds(),
        pages::kinds(),
        redirects::kinds(),
        robots::kinds(),
        torrents::kinds(),
    ]
    .concat()
}

/// Generates bodies in advance: generated at the first request, they would slow the crawler down, and on a busy machine take
/// longer than its timeout.
pub fn make_bodies() {
    for body in [codings::MADE, pages::MADE, torrents::MADE].into_iter().flatten() {
        LazyLock::force(body);
    }
}

/// Kinds that take longer than a test can wait.
pub fn patient() -> Vec<Kind> {
    patience::kinds()
}
