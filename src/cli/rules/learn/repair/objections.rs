//! What speaks against putting a repaired file in force without a person (LEARNING §15.4).

use std::collections::BTreeSet;

use crate::app::archive_path;
use crate::app::database::Database;
use crate::app::status::BrokenPromise;
use gleaner_base::owner;
use gleaner_crawl::promises::is_still_broken;
use gleaner_learn::{Estimate, Learned};
use gleaner_rules::config::Config;
use gleaner_rules::fault::Fault;
use gleaner_rules::{Class, SiteRules, from_text};

/// Torrents of the archive that have to be reached again, of a site that has so many.
const KNOWN_AGAIN: u64 = 5;

/// The share of the archive's torrents that the site must have by its lists.
const SIZE: f64 = 0.8;

/// Different torrents that were read.
pub(super) struct Torrents {
    pub read: usize,
    /// Of these, the archive has so many of this site.
    pub known: usize,
    /// Torrents that the site has brought.
    pub archived: u64,
}

impl Torrents {
    /// # Errors
    /// Those of the database.
    pub(super) async fn of(config: &Config, site: &SiteRules, read: &[String], archived: u64) -> anyhow::Result<Self> {
        let read: BTreeSet<&String> = read.iter().collect();
        let database = Database::existing(&config.into()).await?;
        let archive = archive_path(&config.data_dir);
        let mut known = 0;
        for name in &read {
            let is_there = name.get(..2).is_some_and(|shard| {
                let _owner = owner::act(&config.data_dir);
                archive.join(shard).join(format!("{name}.torrent")).is_file()
            });
            let Some(before) = key_before(name).filter(|_| is_there) else { continue };
            let rows = database.reader().torrents(Some(before), 1).await?;
            let is_of_site = rows.first().is_some_and(|row| {
                row.facts.infohashes.key_hex() == **name
                    && (*row.site == *site.name || row.sources.iter().any(|source| *source.site == *site.name))
            });
            known += usize::from(is_of_site);
        }
        Ok(Self { read: read.len(), known, archived })
    }
}

/// The bytes of the key before this one, which is written in hexadecimal digits; None if it is not.
fn key_before(hex: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let mut key = (0..hex.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
    for byte in key.iter_mut().rev() {
        let (less, borrows) = byte.overflowing_sub(1);
        *byte = less;
        if !borrows {
            break;
        }
    }
    Some(key)
}

/// What speaks against the rules of the repaired file.
pub(super) fn objections(
    site: &SiteRules,
    learned: &Learned,
    repaired: Result<&SiteRules, &[Fault]>,
    broken: &[BrokenPromise],
    torrents: &Torrents,
) -> Vec<String> {
    let mut against = Vec::new();
    match repaired {
        Err(faults) => {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            against.push(format!("the repaired file has faults: {first}"));
        }
        Ok(rules) => {
            let stays = broken.iter().filter(|of| is_still_broken(rules, site, &of.rule, &of.alarm.breach));
            against.extend(stays.map(|of| format!("`{}` is broken, and the repaired file still has it", of.rule)));
        }
    }
    let kind = |class: Class| match class {
        Class::Board => Class::Index,
        Class::Thread => Class::Detail,
        other => other,
    };
    for class in [Class::Download, Class::Detail, Class::Index] {
        let had = site.rules().iter().any(|rule| rule.class.map(kind) == Some(class));
        if had && !learned.rules.iter().any(|rule| kind(rule.class) == class) {
            against.push(format!("no {} was found", class.name()));
        }
    }
    // No other host was asked; but links may name the site by one.
    let hosts = from_text(&site.name, &learned.text).map(|rules| rules.hosts.clone()).unwrap_or_default();
    against.extend(
        hosts.iter().filter(|host| !site.owns_host(host)).map(|host| format!("{host} is none of the file's hosts")),
    );
    let Torrents { read, known, archived } = *torrents;
    let (Estimate::About(size) | Estimate::AtLeast(size)) = learned.estimate;
    if (size as f64) < SIZE * archived as f64 {
        against.push(format!("its lists have {size} torrents, and the archive has {archived} of the site"));
    }
    let wanted = KNOWN_AGAIN.min(archived).max(1);
    if (known as u64) < wanted {
        against.push(format!(
            "{known} of the {read} torrents that were read are in the archive, and {wanted} would show that it is the same site"
        ));
    }
    against
}

#[cfg(test)]
mod tests {
    use super::key_before;

    #[test]
    fn the_key_before_is_less_by_one() {
        assert_eq!(key_before("0a02ff"), Some(vec![10, 2, 254]));
        assert_eq!(key_before("0a0000"), Some(vec![9, 255, 255]));
        assert_eq!((key_before("0a0"), key_before("0g")), (None, None));
    }
}
