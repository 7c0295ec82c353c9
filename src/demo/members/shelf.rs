//! The torrents of a members-only site, and their addresses.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::family::{After, Family};
use super::pattern;
use crate::catalogue::NEWEST_UNIX;
use crate::escape::percent;
use crate::limits::DEMO_TOKEN_BYTES_MAX;
use crate::random::{Random, mix};
use crate::titles;
use crate::torrents::{Blueprint, FirstKey, Version, Wrapping};
use crate::truth::{Truth, TruthTorrent};
use gleaner_torrent::Infohashes;

/// Rows of a list.
pub(super) const ROWS: usize = 25;

/// Attachments are numbered differently from threads.
const FIRST_ATTACHMENT: usize = 1_001;

pub(super) struct Torrent {
    pub title: String,
    blueprint: Blueprint,
    pub infohashes: Infohashes,
}

/// All torrents, newest first.
pub(super) struct MembersCatalogue {
    pub torrents: Vec<Torrent>,
    by_hash: HashMap<String, usize>,
    pub truth: Truth,
}

impl MembersCatalogue {
    pub(super) fn new(seed: u64, count: usize) -> Self {
        let torrents: Vec<Torrent> = (0..count as u64).map(|number| torrent(seed, number)).collect();
        let by_hash = torrents.iter().enumerate().map(|(at, torrent)| (torrent.infohashes.key_hex(), at)).collect();
        let truth = torrents.iter().map(|torrent| TruthTorrent::behind_token(torrent.infohashes, &torrent.blueprint));
        let truth = Truth { torrents: truth.collect() };
        Self { torrents, by_hash, truth }
    }

    pub(super) fn pages(&self) -> usize {
        self.torrents.len().div_ceil(ROWS).max(1)
    }

    /// The metainfo file for this index.
    pub(super) fn metainfo(&self, at: usize, origin: &str) -> Vec<u8> {
        let created = NEWEST_UNIX - at as i64 * 3_600;
        let listing = u32::try_from(at).unwrap_or(u32::MAX);
        self.torrents[at].blueprint.metainfo(&Wrapping { first_key: FirstKey::Announce, origin, listing, created })
    }

    /// A link to a page of the list, from 1.
    pub(super) fn list_link(family: &Family, page: usize) -> String {
        if page == 1 {
            return family.at.list_first.to_owned();
        }
        pattern::write(family.at.list, |name| match name {
            "page0" => (page - 1).to_string(),
            "offset" => ((page - 1) * ROWS).to_string(),
            _ => page.to_string(),
        })
    }

    /// The requested page of the list.
    pub(super) fn list_page(&self, family: &Family, target: &str) -> Option<usize> {
        if target == family.at.list_first {
            return Some(1);
        }
        let values = pattern::read(family.at.list, target)?;
        let (name, value) = values.first()?;
        let number: usize = value.parse().ok()?;
        let page = match *name {
            "page0" => number.checked_add(1)?,
            "offset" => number.is_multiple_of(ROWS).then_some(number / ROWS + 1)?,
            _ => number,
        };
        // Behind the last page, an API answers with no rows.
        let has_end = !matches!(family.after, After::Token);
        (page >= 1 && !(has_end && page > self.pages())).then_some(page)
    }

    /// A link by a pattern that identifies a torrent. `views` changes those links that vary with time.
    pub(super) fn link(&self, pattern: &'static str, at: usize, views: u64) -> String {
        pattern::write(pattern, |name| match name {
            "attach" => (FIRST_ATTACHMENT + at).to_string(),
            "hash" => self.torrents[at].infohashes.key_hex(),
            "slug" => format!("torrent-no-{}", at + 1),
            "aid" => {
                let hash = &self.torrents[at].infohashes.key_hex()[..8];
                let time = NEWEST_UNIX.unsigned_abs() + views;
                percent(STANDARD.encode(format!("{}|{hash}|{time}|2|{}", FIRST_ATTACHMENT + at, at + 1)).as_bytes())
            }
            _ => (at + 1).to_string(),
        })
    }

    /// The torrent that an address of this pattern identifies.
    pub(super) fn named(&self, pattern: &'static str, target: &str) -> Option<usize> {
        let values = pattern::read(pattern, target)?;
        let place = |(name, value): &(&str, &str)| -> Option<usize> {
            match *name {
                "hash" => self.by_hash.get(*value).copied(),
                "attach" => value.parse::<usize>().ok()?.checked_sub(FIRST_ATTACHMENT),
                "aid" => attachment_of(value)?.checked_sub(FIRST_ATTACHMENT),
                "id" => value.parse::<usize>().ok()?.checked_sub(1),
                _ => None,
            }
        };
        values.iter().find_map(place).filter(|at| *at < self.torrents.len())
    }
}

fn torrent(seed: u64, number: u64) -> Torrent {
    let seed = mix(seed ^ 0x3e3b_e125, number);
    let mut random = Random::new(seed);
    // Every charset of the families can encode these titles.
    let title = match number % 3 {
        0 => titles::gbk_title(&mut random, number),
        _ => titles::title(&mut random, (number % titles::CATEGORIES.len() as u64) as u8, number),
    };
    let name = titles::file_name(&title);
    let blueprint = Blueprint { seed, name, version: Version::V1, single_file: number.is_multiple_of(2) };
    Torrent { title, infohashes: blueprint.infohashes(), blueprint }
}

/// The number in an attachment's token.
fn attachment_of(token: &str) -> Option<usize> {
    if token.len() > 3 * DEMO_TOKEN_BYTES_MAX {
        return None;
    }
    let token: Vec<u8> = percent_encoding::percent_decode_str(token).collect();
    let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
    text.split('|').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::family::all;

    #[test]
    fn every_family_reads_the_links_it_writes() {
        let shelf = MembersCatalogue::new(1, 2 * ROWS + 3);
        for family in all() {
            for page in 1..=shelf.pages() {
                let link = MembersCatalogue::list_link(family, page);
                assert_eq!(shelf.list_page(family, &link), Some(page), "{} {link}", family.name);
            }
            let behind = matches!(family.after, After::Token).then_some(4);
            assert_eq!(shelf.list_page(family, &MembersCatalogue::list_link(family, 4)), behind, "{}", family.name);
            for pattern in [family.at.detail, family.at.file] {
                for at in [0, 1, 52] {
                    let link = shelf.link(pattern, at, 7);
                    assert_eq!(shelf.named(pattern, &link), Some(at), "{} {link}", family.name);
                }
            }
        }
    }

    #[test]
    fn an_attachments_link_changes_with_time_and_stays_good() {
        let (shelf, pattern) = (MembersCatalogue::new(1, 3), "/forum.php?mod=attachment&aid={aid}");
        let (first, second) = (shelf.link(pattern, 1, 1), shelf.link(pattern, 1, 2));
        assert_ne!(first, second);
        assert_eq!((shelf.named(pattern, &first), shelf.named(pattern, &second)), (Some(1), Some(1)));
        assert_eq!(shelf.named(pattern, "/forum.php?mod=attachment&aid=%%%"), None);
    }
}
