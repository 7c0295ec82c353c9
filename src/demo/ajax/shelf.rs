//! The torrents of the script-built sections, in pages.

use super::section::Section;
use crate::catalogue::NEWEST_UNIX;
use crate::delivery::version;
use crate::escape::{percent, size};
use crate::links;
use crate::random::{Random, mix};
use crate::titles;
use crate::torrents::{Blueprint, FirstKey, Wrapping};
use crate::truth::{Truth, TruthTorrent};
use gleaner_torrent::Infohashes;

pub(super) struct Torrent {
    pub title: String,
    blueprint: Blueprint,
    infohashes: Infohashes,
}

/// Position of a section's torrents.
struct Part {
    section: Section,
    pages: usize,
    /// Index of its first torrent.
    first: usize,
}

pub(super) struct AjaxCatalogue {
    torrents: Vec<Torrent>,
    parts: Vec<Part>,
    pub per_page: usize,
    pub truth: Truth,
}

impl AjaxCatalogue {
    /// Distributes `pages` over the sections, at least one for each.
    pub(super) fn new(seed: u64, sections: &[Section], pages: usize, per_page: usize) -> Self {
        let chosen: Vec<Section> = Section::ALL.into_iter().filter(|section| sections.contains(section)).collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut first = 0;
        for (number, section) in chosen.iter().copied().enumerate() {
            // If it does not divide evenly, the first ones have one more.
            let pages = pages.saturating_sub(number).div_ceil(chosen.len()).max(1);
            parts.push(Part { section, pages, first });
            first += pages * per_page;
        }
        let torrents: Vec<Torrent> = (0..first as u64).map(|number| torrent(seed, number)).collect();
        let truth = torrents.iter().map(|torrent| TruthTorrent::behind_token(torrent.infohashes, &torrent.blueprint));
        let truth = Truth { torrents: truth.collect() };
        Self { torrents, parts, per_page, truth }
    }

    pub(super) fn sections(&self) -> impl Iterator<Item = Section> {
        self.parts.iter().map(|part| part.section)
    }

    fn part(&self, section: Section) -> Option<&Part> {
        self.parts.iter().find(|part| part.section == section)
    }

    /// Number of pages of a section, 0 if the site does not have it.
    pub(super) fn pages(&self, section: Section) -> usize {
        self.part(section).map_or(0, |part| part.pages)
    }

    /// Indices of one page of a section's torrents from `start` on; None beyond its last.
    pub(super) fn rows(&self, section: Section, start: usize) -> Option<std::ops::Range<usize>> {
        let part = self.part(section)?;
        let count = part.pages * self.per_page;
        (start < count || count == 0)
            .then(|| part.first + start.min(count)..part.first + (start + self.per_page).min(count))
    }

    /// The torrent with this index if it belongs to this section.
    pub(super) fn of_section(&self, section: Section, place: usize) -> Option<&Torrent> {
        let part = self.part(section)?;
        let range = part.first..part.first + part.pages * self.per_page;
        self.torrents.get(place).filter(|_| range.contains(&place))
    }

    /// The torrent with the index that a row was made from.
    pub(super) fn at(&self, place: usize) -> Option<&Torrent> {
        self.torrents.get(place)
    }

    /// Its download link, which differs at each view; all of them stay valid.
    pub(super) fn download(&self, place: usize, view: u64) -> String {
        let listing = u32::try_from(place + 1).unwrap_or(u32::MAX);
        let token = self.torrents.get(place).map(|torrent| links::token(listing, &torrent.infohashes, view));
        format!("/dl?t={}", percent(token.unwrap_or_default().as_bytes()))
    }

    /// The index in a download's token.
    pub(super) fn of_token(&self, token: &[u8]) -> Option<usize> {
        let (listing, start) = links::read_token(token)?;
        let place = usize::try_from(listing).ok()?.checked_sub(1)?;
        let torrent = self.torrents.get(place)?;
        (links::fingerprint(&torrent.infohashes) == start).then_some(place)
    }

    /// The metainfo file for this index.
    pub(super) fn metainfo(&self, place: usize, origin: &str) -> Vec<u8> {
        let created = NEWEST_UNIX - place as i64 * 600;
        let listing = u32::try_from(place).unwrap_or(u32::MAX);
        let wrapping = Wrapping { first_key: FirstKey::Announce, origin, listing, created };
        self.torrents.get(place).map(|torrent| torrent.blueprint.metainfo(&wrapping)).unwrap_or_default()
    }
}

impl Torrent {
    pub(super) fn size(&self) -> String {
        size(self.blueprint.payload().total_bytes())
    }

    pub(super) fn files(&self) -> usize {
        self.blueprint.payload().files.len()
    }
}

fn torrent(seed: u64, number: u64) -> Torrent {
    let seed = mix(seed ^ 0x00a1_a4a5, number);
    let mut random = Random::new(seed);
    let title = titles::title(&mut random, (number % titles::CATEGORIES.len() as u64) as u8, number);
    let (version, single_file) = version(number);
    let blueprint = Blueprint { seed, name: titles::file_name(&title), version, single_file };
    Torrent { title, infohashes: blueprint.infohashes(), blueprint }
}

#[cfg(test)]
mod tests;
