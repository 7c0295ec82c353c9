//! One torrent: its facts, files, trackers and sources.

use std::io::Read as _;
use std::sync::Arc;

use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::tracker_without_keys;
use gleaner_search::category::full_name;
use gleaner_store::crawldb::TorrentRow;
use gleaner_torrent::contents::{self, Contents};
use gleaner_torrent::origin::{self, Origin};
use maud::{Markup, html};

use super::tree::tree;
use super::visit::{Visit, part};
use super::words;
use crate::limits::{FILES_SHOWN, TORRENT_BYTES_MAX};
use crate::problem::Problem;
use crate::rows::Item;

/// `/torrents/INFOHASH`.
pub async fn page(visit: Visit, name: &str) -> Result<Response, Problem> {
    let hashes = gleaner_search::query::infohashes(name);
    let hashes = hashes.ok_or_else(|| Problem::not_found("this is no infohash", "write 40 or 64 digits of hex"))?;
    let item = visit.outlet.at(hashes).await?.items.into_iter().next();
    let missing = || Problem::not_found("this torrent is not in the archive", "search for what is");
    let item = item.ok_or_else(missing)?;
    let read = read(&visit, &item.row).await?;
    let body = html! {
        h1 { (words::shown(&item.row.facts.name)) }
        p.lead { (full_name(item.category).unwrap_or_default()) " · " (words::bytes(item.row.facts.payload_bytes)) " in " (words::many(item.row.facts.file_count.into(), "file")) " · stored " (words::when(item.row.stored, visit.now)) }
        @if read.is_none() {
            div.strip { p { b { "Its file is lost." } } p.fix { (super::status::command(&visit.command("verify --repair"))) span.soft { "has it fetched again" } } }
        }
        div.rules {
            div {
                @if let Some((contents, _)) = &read { (files(&visit, &item, contents)) }
                (sources(&visit, &item.row))
            }
            div {
                (facts(&visit, &item, read.as_ref()))
                @if let Some((_, origin)) = &read { (trackers(origin)) }
            }
        }
    };
    Ok(visit.page(&item.row.facts.name, "", &body))
}

/// What the archived file says; None if it is lost.
async fn read(visit: &Visit, row: &TorrentRow) -> Result<Option<(Contents, Origin)>, Problem> {
    let (archive, hashes) = (Arc::clone(&visit.outlet.archive), row.facts.infohashes);
    let read = tokio::task::spawn_blocking(move || {
        let file = match archive.open_torrent(&hashes) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(contents::read(&bytes).zip(origin::read(&bytes)))
    });
    read.await.map_err(|error| Problem::ours(&error))?.map_err(|error| Problem::ours(&error))
}

fn hash_row(name: &str, hash: &str) -> Markup {
    html! { dt { (name) } dd { code { (hash) } " " button type="button" data-copy=(hash) { "copy" } } }
}

fn facts(visit: &Visit, item: &Item, read: Option<&(Contents, Origin)>) -> Markup {
    let facts = &item.row.facts;
    let hex = |hash: &[u8]| data_encoding::HEXLOWER.encode(hash);
    let key = facts.infohashes.key_hex();
    let created = facts.created_unix.and_then(|seconds| u64::try_from(seconds).ok());
    let magnet = facts.infohashes.v1.map(|v1| format!("magnet:?xt=urn:btih:{}&dn={}", hex(&v1), part(&facts.name)));
    html! {
        section aria-labelledby="facts" {
            header { h2 #facts { "Facts" } }
            div.pad {
                p.acts {
                    a.button href=(visit.to(&format!("/torrents/{key}.torrent"))) { "download" }
                    @if let Some(magnet) = &magnet { a.button href=(magnet) { "magnet" } button type="button" data-copy=(magnet) { "copy magnet" } }
                    a.button href=(visit.to(&format!("/api/v1/torrents/{key}"))) { "JSON" }
                }
                dl {
                    @if let Some(v1) = facts.infohashes.v1 { (hash_row("infohash v1", &hex(&v1))) }
                    @if let Some(v2) = facts.infohashes.v2 { (hash_row("infohash v2", &hex(&v2))) }
                    dt { "size" } dd.num { (words::bytes(facts.payload_bytes)) span.soft { " (" (words::count(facts.payload_bytes)) " bytes)" } }
                    dt { "its file" } dd.num { (words::bytes(facts.metainfo_bytes.into())) }
                    @if let Some((contents, _)) = read {
                        dt { "pieces" } dd.num { @if contents.pieces > 0 { (words::count(contents.pieces)) " of " } (words::bytes(contents.piece_bytes)) }
                        @if let Some(by) = &contents.created_by { dt { "made with" } dd { (words::shown(by)) } }
                    }
                    @if let Some(seconds) = created { dt { "made" } dd { (words::when(UnixMillis(seconds.saturating_mul(1_000)), visit.now)) } }
                    dt { "private" } dd { @if facts.private { "yes: only its own trackers may be asked for peers" } @else { "no" } }
                    @if let Some((contents, origin)) = read { (origin_rows(visit, contents, origin)) }
                }
            }
        }
    }
}

fn origin_rows(visit: &Visit, contents: &Contents, origin: &Origin) -> Markup {
    html! {
        @if let Some(comment) = &origin.comment { dt { "comment" } dd { (words::told(comment)) } }
        @if let Some(source) = &origin.source { dt { "source" } dd { (words::shown(source)) } }
        @if let Some(url) = &origin.publisher_url { dt { "publisher" } dd { (words::url(url)) } }
        @if let Some(url) = &contents.update_url { dt { "newer ones at" } dd { (words::url(url)) } }
        @for hash in &contents.similar {
            @let hash = data_encoding::HEXLOWER.encode(hash);
            dt { "similar" } dd { a href=(visit.to(&format!("/torrents/{hash}"))) { code { (hash) } } }
        }
        @for collection in &contents.collections { dt { "collection" } dd { (words::shown(collection)) } }
    }
}

fn trackers(origin: &Origin) -> Markup {
    html! {
        section aria-labelledby="trackers" {
            header { h2 #trackers { "Trackers" } span.soft { "keys are masked" } }
            @if origin.trackers.is_empty() { p.empty { "It names none." } } @else {
                ul.pad { @for tracker in &origin.trackers { li { (words::shown(&tracker_without_keys(tracker))) } } }
            }
        }
    }
}

fn files(visit: &Visit, item: &Item, contents: &Contents) -> Markup {
    let from: usize = visit.asked("from").parse().unwrap_or(0);
    let all = contents.files.len();
    let from = from.min(all.saturating_sub(1));
    let until = (from + FILES_SHOWN).min(all);
    let here = format!("/torrents/{}", item.row.facts.infohashes.key_hex());
    html! {
        section aria-labelledby="files" {
            header {
                h2 #files { "Files" }
                @if all > 12 { input type="search" placeholder="only these" aria-label="show only these files" data-filter; }
            }
            div.pad { (tree(&contents.files[from..until])) }
            @if all > FILES_SHOWN {
                nav.pages aria-label="pages of the files" {
                    @if from > 0 { a href=(visit.to(&format!("{here}?from={}", from.saturating_sub(FILES_SHOWN)))) { "← earlier" } } @else { span {} }
                    span.soft { (words::count(from as u64 + 1)) " to " (words::count(until as u64)) " of " (words::count(all as u64)) }
                    @if until < all { a href=(visit.to(&format!("{here}?from={until}"))) { "later →" } } @else { span {} }
                }
            }
            @if contents.is_cut { p.pad.soft { "Not all of its files are listed: their paths are too long together." } }
        }
    }
}

fn sources(visit: &Visit, row: &TorrentRow) -> Markup {
    let first = row.sources.iter().map(|source| source.first_seen).min().unwrap_or(row.stored);
    html! {
        section aria-labelledby="sources" {
            header { h2 #sources { "Sources" } span.soft { "where it was found, and how much later than first" } }
            table.cards {
                thead { tr { th { "site" } th { "address" } th.n { "first seen" } th.n { "later by" } th.n { "last seen" } } }
                tbody {
                    @for source in &row.sources {
                        tr {
                            td data-l="site" { a href=(visit.to(&format!("/sites/{}", part(&source.site)))) { (words::shown(&source.site)) } }
                            td.main.wide {
                                (words::url(&source.url))
                                @if let Some(via) = &source.via { div.soft.small { "on " (words::url(via)) } }
                                @if let Some(label) = &source.label { div.soft.small { "there it is called " (words::shown(&label.text)) } }
                            }
                            td.n data-l="first seen" { (words::when(source.first_seen, visit.now)) }
                            td.n data-l="later by" { @if source.first_seen > first { (words::span(source.first_seen.since(first).as_secs_f64())) } @else { "first" } }
                            td.n data-l="last seen" { (words::when(source.last_seen, visit.now)) }
                        }
                    }
                }
            }
        }
    }
}
