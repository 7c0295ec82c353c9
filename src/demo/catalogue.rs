//! What the site lists, and in which order: the tracker's own database, generated from the seed.
//!
//! A torrent is an *item*; a detail page is a *listing*. Most items have one listing; one listed twice has two.

use super::delivery::{self, Area, Delivery, Link};
use super::escape::{percent, slug};
use super::random::{Random, mix};
use super::titles;
use super::torrents::Blueprint;
use super::truth::{Fate, Truth, TruthTorrent};
use gleaner_torrent::Infohashes;

/// Time of the site's newest listing at start: 2026-11-20 00:00 UTC. The site has no clock of its own.
pub(super) const NEWEST_UNIX: i64 = 1_795_132_800;

/// Seconds between two listings.
const INTERVAL_SECONDS: i64 = 617;

/// Rows pinned to the top of every index page.
const PINNED: usize = 3;

/// A torrent.
pub(super) struct Item {
    pub title: String,
    /// The title in the detail page's path, percent-encoded: each row needs it, so it is computed once.
    pub slug: String,
    pub blueprint: Blueprint,
    pub infohashes: Infohashes,
    pub payload_bytes: u64,
    pub fate: Fate,
    pub area: Area,
    pub link: Link,
    pub delivery: Delivery,
    pub category: u8,
    pub magnet: bool,
    pub old_address: bool,
}

/// A detail page.
pub(super) struct Listing {
    /// Number in the URL: position in `Catalogue::listings` plus one.
    pub id: u32,
    /// Position in `Catalogue::items`.
    pub item: usize,
    pub at: i64,
    pub uploader: u8,
    pub seeders: u16,
    pub leechers: u16,
}

/// Everything listed. The series hold listing ids, oldest first.
pub(super) struct Catalogue {
    pub seed: u64,
    pub items: Vec<Item>,
    pub listings: Vec<Listing>,
    pub main: Vec<u32>,
    pub categories: [Vec<u32>; titles::CATEGORIES.len()],
    pub boards: [Vec<u32>; titles::GBK_BOARDS.len()],
    pub archive: Vec<u32>,
    pub private: Vec<u32>,
    pub pinned: Vec<u32>,
    /// Reachable torrents so far: the number of the next one.
    next_number: u64,
    /// Time of the next listing.
    next_at: i64,
}

impl Catalogue {
    /// A site with `torrents` reachable torrents, plus some that a crawl cannot or must not get.
    pub(super) fn new(seed: u64, torrents: usize) -> Self {
        let mut catalogue = Self {
            seed,
            items: Vec::new(),
            listings: Vec::new(),
            main: Vec::new(),
            categories: Default::default(),
            boards: Default::default(),
            archive: Vec::new(),
            private: Vec::new(),
            pinned: Vec::new(),
            next_number: 0,
            next_at: NEWEST_UNIX,
        };
        for _ in 0..torrents {
            catalogue.add_reachable(false);
        }
        let extras = [
            (Fate::MagnetOnly, torrents / 25, 3),
            (Fate::ClosedByRobots, torrents / 50, 4),
            (Fate::Gone, torrents / 60, 2),
            (Fate::PosesAsHtml, torrents / 50, 2),
            (Fate::Malformed, torrents / 200, 1),
        ];
        for (fate, share, least) in extras {
            for number in 0..share.max(least) as u64 {
                catalogue.add_unreachable(fate, number);
            }
        }
        catalogue.list_all(torrents / 25);
        catalogue
    }

    /// Adds `count` reachable torrents on top of the index and returns their infohashes.
    pub(super) fn publish(&mut self, count: usize) -> Vec<Infohashes> {
        (0..count)
            .map(|_| {
                let item = self.add_reachable(true);
                self.list(item);
                self.items[item].infohashes
            })
            .collect()
    }

    /// The listing with this number.
    pub(super) fn listing(&self, id: u32) -> Option<(&Listing, &Item)> {
        let listing = self.listings.get(usize::try_from(id).ok()?.checked_sub(1)?)?;
        Some((listing, &self.items[listing.item]))
    }

    pub(super) fn truth(&self) -> Truth {
        let mut torrents: Vec<_> = self.items.iter().map(Item::truth).collect();
        for listing in &self.listings {
            torrents[listing.item].listings += 1;
        }
        Truth { torrents }
    }

    fn add_reachable(&mut self, is_new: bool) -> usize {
        let number = self.next_number;
        self.next_number += 1;
        let (mut area, link) = delivery::area_and_link(number);
        if is_new && area == Area::Archive {
            area = Area::Main;
        }
        self.add_item(Fate::Reachable, number, area, link)
    }

    fn add_unreachable(&mut self, fate: Fate, number: u64) {
        let area = if fate == Fate::ClosedByRobots { Area::Private } else { Area::Main };
        let link = if fate == Fate::MagnetOnly { Link::Magnet } else { Link::Token };
        self.add_item(fate, number, area, link);
    }

    fn add_item(&mut self, fate: Fate, number: u64, area: Area, link: Link) -> usize {
        let seed = mix(mix(self.seed, fate as u64), number);
        let mut random = Random::new(seed);
        let category = random.below(titles::CATEGORIES.len() as u64) as u8;
        // Six fates share the numbers in titles, so that no two torrents have the same.
        let title_number = 6 * number + fate as u64;
        let title = match area {
            Area::Gbk => titles::gbk_title(&mut random, title_number),
            _ => titles::title(&mut random, category, title_number),
        };
        let (version, single_file) = delivery::version(number);
        let blueprint = Blueprint { seed, name: titles::file_name(&title), version, single_file };
        self.items.push(Item {
            slug: percent(slug(&title).as_bytes()),
            title,
            infohashes: blueprint.infohashes(),
            payload_bytes: blueprint.payload().total_bytes(),
            blueprint,
            fate,
            area,
            link,
            delivery: Delivery::of(number),
            category,
            // A magnet with an unavailable torrent would make it known by magnet.
            magnet: fate == Fate::MagnetOnly || (fate == Fate::Reachable && delivery::has_magnet(number)),
            old_address: match area {
                Area::Archive | Area::Private => true,
                _ => fate == Fate::Reachable && delivery::has_old_address(number),
            },
        });
        self.items.len() - 1
    }

    /// Lists every item once and `twice` of them a second time, in random order, the archive's first.
    fn list_all(&mut self, twice: usize) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        let plain = |item: &Item| item.fate == Fate::Reachable && item.area == Area::Main && item.link == Link::Token;
        // Every third plain torrent until there are enough: any choice would do, this one needs no draw.
        let again: Vec<usize> =
            order.iter().copied().filter(|&at| plain(&self.items[at])).step_by(3).take(twice.max(2)).collect();
        order.extend(again);
        Random::new(self.seed).shuffle(&mut order);
        order.sort_by_key(|&at| self.items[at].area != Area::Archive);
        self.next_at = NEWEST_UNIX - INTERVAL_SECONDS * order.len() as i64;
        for item in order {
            self.list(item);
        }
        let pinned: Vec<u32> = self.main.iter().copied().filter(|&id| self.can_be_pinned(id)).take(PINNED).collect();
        self.pinned = pinned;
    }

    fn can_be_pinned(&self, id: u32) -> bool {
        self.listing(id).is_some_and(|(_, item)| item.fate == Fate::Reachable && !item.old_address)
    }

    fn list(&mut self, at: usize) {
        // `DemoOptions` caps the torrents far below 2³².
        let id = self.listings.len() as u32 + 1;
        let mut random = Random::new(mix(self.seed ^ 0x0115_7195, u64::from(id)));
        let listing = Listing {
            id,
            item: at,
            at: self.next_at,
            uploader: random.below(titles::USERS.len() as u64) as u8,
            seeders: random.below(900) as u16,
            leechers: random.below(60) as u16,
        };
        self.next_at += INTERVAL_SECONDS;
        self.listings.push(listing);
        let item = &self.items[at];
        let category = usize::from(item.category);
        match item.area {
            Area::Main => {
                self.main.push(id);
                self.categories[category].push(id);
            }
            Area::Gbk => self.boards[category % titles::GBK_BOARDS.len()].push(id),
            Area::Archive => self.archive.push(id),
            Area::Private => self.private.push(id),
        }
    }
}

impl Item {
    fn truth(&self) -> TruthTorrent {
        TruthTorrent {
            infohashes: self.infohashes,
            name: self.blueprint.name.clone(),
            version: self.blueprint.version,
            area: self.area,
            link: self.link,
            delivery: self.delivery,
            fate: self.fate,
            listings: 0,
            magnet: self.magnet,
        }
    }
}

#[cfg(test)]
mod tests;
