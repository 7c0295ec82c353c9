//! Checks that the harvest is complete: rows and files correspond one to one, no infohash occurs twice, nothing exists that was not
//! served, and nothing that was served and recorded is missing.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_crawl::progress::Ended;
use gleaner_store::crawldb::Outcome;
use gleaner_torrent::archive;
use sha2::{Digest, Sha256};

use super::account::asked_for;
use super::store::Event;
use super::web;
use super::wire::Served;
use super::world::History;

/// All checks of the harvest.
pub fn check(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let served = served(history);
    rows(history, &served, &mut faults);
    files(history, &mut faults);
    recorded(history, &mut faults);
    complete(history, &mut faults);
    faults
}

fn hex(hash: &[u8; 20]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files that were served for each torrent, by their SHA-256, and where.
struct Given {
    sha256: BTreeSet<[u8; 32]>,
    urls: BTreeSet<String>,
}

fn served(history: &History) -> BTreeMap<[u8; 20], Given> {
    let mut served = BTreeMap::new();
    for entry in &history.log {
        if let Served::Torrent(bytes, hash) = &entry.served {
            let given = served.entry(*hash).or_insert_with(|| Given { sha256: BTreeSet::new(), urls: BTreeSet::new() });
            given.sha256.insert(Sha256::digest(bytes).into());
            given.urls.insert(asked_for(history, entry));
        }
    }
    served
}

fn rows(history: &History, served: &BTreeMap<[u8; 20], Given>, faults: &mut Vec<String>) {
    let mut known = BTreeSet::new();
    for row in &history.torrents {
        let Some(hash) = row.facts.infohashes.v1 else {
            faults.push(format!("harvest: a row without the infohash that was served: {row:?}"));
            continue;
        };
        if !known.insert(hash) {
            faults.push(format!("harvest: {} has two rows", hex(&hash)));
        }
        match served.get(&hash) {
            None => faults.push(format!("harvest: nobody served {}", hex(&hash))),
            Some(given) => {
                if !given.sha256.contains(&row.facts.sha256) {
                    faults.push(format!("harvest: nobody served this file of {}", hex(&hash)));
                }
                let strange = row.sources.iter().find(|source| !given.urls.contains(&*source.url));
                if row.sources.is_empty() || strange.is_some() {
                    faults.push(format!("harvest: {} has a source that did not serve it: {strange:?}", hex(&hash)));
                }
            }
        }
        let name = archive::name_of_key(row.facts.infohashes.key());
        match history.files.get(&name) {
            None => faults.push(format!("harvest: the file of {} is missing", hex(&hash))),
            Some(bytes) if <[u8; 32]>::from(Sha256::digest(bytes)) != row.facts.sha256 => {
                // If a repost was stored and a kill lost its row, another file may exist; then it is one that was
                // served.
                let sum: [u8; 32] = Sha256::digest(bytes).into();
                if !served.get(&hash).is_some_and(|given| given.sha256.contains(&sum)) {
                    faults.push(format!("harvest: the file of {} is not what was served", hex(&hash)));
                } else {
                    faults.push(format!("harvest: the file of {} is not the one that its row tells of", hex(&hash)));
                }
            }
            Some(_) => {}
        }
    }
}

/// Files without a row are only left by kills, and only until their URL is fetched again.
fn files(history: &History, faults: &mut Vec<String>) {
    let named: BTreeSet<String> =
        history.torrents.iter().map(|row| archive::name_of_key(row.facts.infohashes.key())).collect();
    let may_be_orphan = history.lives.len() > 1 && !all_exhausted(history);
    for name in history.files.keys() {
        if name.starts_with(archive::TMP) {
            faults.push(format!("harvest: {name} is left over"));
        } else if !named.contains(name) && !may_be_orphan {
            faults.push(format!("harvest: {name} has no row"));
        }
    }
}

/// Torrents recorded as stored exist, and were stored once.
fn recorded(history: &History, faults: &mut Vec<String>) {
    let rows: BTreeSet<_> = history.torrents.iter().filter_map(|row| row.facts.infohashes.v1).collect();
    let mut stored = BTreeMap::<[u8; 20], u32>::new();
    for told in &history.told {
        let Event::Visited { visit, outcome } = &told.event else { continue };
        let Some(hash) = visit.torrent.as_ref().and_then(|facts| facts.infohashes.v1) else { continue };
        *stored.entry(hash).or_default() += u32::from(*outcome == Outcome::TorrentStored);
        if !rows.contains(&hash) {
            faults.push(format!("harvest: {} was recorded and is lost", hex(&hash)));
        }
    }
    for (hash, times) in stored {
        if times != 1 {
            faults.push(format!("harvest: {} was new {times} times", hex(&hash)));
        }
    }
}

fn all_exhausted(history: &History) -> bool {
    history.lives.last().is_some_and(|last| last.ends.iter().all(|(_, end)| end == &Ok(Ended::Exhausted)))
}

/// In a world without faults, whose sites end and disallow nothing, every torrent is found.
fn complete(history: &History, faults: &mut Vec<String>) {
    if !history.plan.is_calm() || !all_exhausted(history) {
        return;
    }
    let rows: BTreeSet<_> = history.torrents.iter().filter_map(|row| row.facts.infohashes.v1).collect();
    let until = history.lives[0].from;
    for site in &history.plan.sites {
        for hash in web::infohashes(&site.web, site.torrents_at(until)).into_keys() {
            if !rows.contains(&hash) {
                faults.push(format!("harvest: {} of {} was not found", hex(&hash), site.web.name));
            }
        }
    }
}
