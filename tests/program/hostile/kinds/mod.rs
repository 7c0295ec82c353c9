//! Every kind, by what it breaks. A table a file; a kind is its name, where it misbehaves, how that must end, whether
//! the good torrent must be harvested all the same, and the mischief.

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

/// Connections that most kinds may take: four attempts, each behind its own robots.txt, and the torrent.
const CONNECTIONS: usize = 12;

/// Outcomes of a page that is read, of an answer that is no HTTP, and of one that breaks off.
const PAGE: &[&str] = &["page"];
const PROTOCOL: &[&str] = &["protocol_error"];
const TRUNCATED: &[&str] = &["truncated"];
const TIMED_OUT: &[&str] = &["timed_out"];
const TOO_LARGE: &[&str] = &["too_large"];
const STORED: &[&str] = &["torrent_stored"];

/// A page that cannot be read, and with it the way to the torrent is lost.
fn lost(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Page, Ends::As(outcomes), false, serve)
}

/// A page that is strange and must be read.
fn kept(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Page, Ends::As(outcomes), true, serve)
}

/// A torrent that is none, or cannot be had.
fn bad_torrent(name: &'static str, outcomes: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, Place::Torrent, Ends::As(outcomes), false, serve)
}

/// A torrent that is delivered strangely and must be stored.
fn good_torrent(name: &'static str, serve: Serve) -> Kind {
    kind(name, Place::Torrent, Ends::As(STORED), true, serve)
}

/// A host that never gives what its site could be begun with.
fn given_up(name: &'static str, at: Place, reasons: &'static [&'static str], serve: Serve) -> Kind {
    kind(name, at, Ends::GivenUp(reasons), false, serve)
}

fn kind(name: &'static str, at: Place, ends: Ends, keeps: bool, serve: Serve) -> Kind {
    Kind { name, at, ends, keeps, connections_max: CONNECTIONS, serve }
}

/// All that a crawl gets done with in a minute.
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

/// Makes what would else be made when it is first asked for, at the cost of the crawler beside it.
pub fn make_bodies() {
    for body in [codings::MADE, pages::MADE, torrents::MADE].into_iter().flatten() {
        LazyLock::force(body);
    }
}

/// Those that ask for more patience than a test has.
pub fn patient() -> Vec<Kind> {
    patience::kinds()
}
