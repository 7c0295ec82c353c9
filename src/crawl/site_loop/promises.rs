//! Promises of the rules in the loop: what a visit says of its rule's, which URLs are asked once more to confirm that one is broken, and
//! what is logged. The state is [`crate::promises::Promises`].

use std::collections::BTreeMap;

use super::SiteLoop;
use crate::CrawlError;
use crate::frontier::priority;
use crate::job::Finished;
use crate::promises::{KnownUrl, PROMISES_NOTE, Promises, Seen, Step, verdict};
use crate::site::Site;
use crate::visit;
use crate::worth::rule_key;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::Class;
use gleaner_store::crawldb::Discovered;

/// The promises of a site's rules.
#[derive(Debug, Default)]
pub(super) struct SitePromises {
    promises: Promises,
    /// Indexed like the site's rules.
    rules: Vec<String>,
    /// URLs that are to be asked once more, each as soon as its last visit is committed.
    due: Vec<Discovered>,
}

impl SitePromises {
    /// Restores what an earlier run has left. By other rules, pages of torrents whose downloads were none any more are read again: they may link to
    /// them elsewhere by now, in a form that these rules take.
    pub(super) async fn take_up(site: &Site, has_other_rules: bool) -> Result<Self, CrawlError> {
        let rules: Vec<String> = site.rules.rules().iter().map(rule_key).collect();
        let note = site.db.note(&site.rules.name, PROMISES_NOTE).await?;
        let parents = if has_other_rules { Promises::take_up(note.as_deref(), |_| true).parents() } else { Vec::new() };
        let mut promises = Promises::take_up(note.as_deref(), |name| rules.iter().any(|rule| rule == name));
        let mut due: Vec<Discovered> = promises.unconfirmed().map(row).collect();
        for parent in parents {
            let Ok(page) = CrawlUrl::parse(&parent, &site.rules.canonical) else { continue };
            let class = site.rules.class_of(page.path()).filter(|class| matches!(class, Class::Detail | Class::Thread));
            if let Some(class) = class {
                due.extend(site.rows.row(&page, class, 1).await?);
            }
        }
        if has_other_rules {
            promises.forget_parents();
        }
        Ok(Self { promises, rules, due })
    }

    /// The stored form, if it has changed since the last call.
    pub(super) fn note(&mut self) -> Option<Vec<u8>> {
        self.promises.note()
    }

    /// True if something waits for its visit to be committed.
    pub(super) fn owes(&self) -> bool {
        !self.due.is_empty()
    }
}

/// A URL that is asked once more, before all others.
fn row(url: &KnownUrl) -> Discovered {
    let KnownUrl { key, depth } = url.clone();
    Discovered { key, depth, rank: priority::URGENT, due: UnixMillis(0), via: None, is_target: false, found: None }
}

impl SiteLoop {
    /// Queues the URLs that are to be asked once more. What is queued before its last visit is committed would not stay queued.
    pub(super) async fn tend_promises(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        let (wait, due) = std::mem::take(&mut self.promises.due).into_iter().partition(|row| self.leases.has(&row.key));
        self.promises.due = wait;
        let due: Vec<Discovered> = due;
        if !due.is_empty() {
            self.site.db.make_due(due, now).await?;
            self.hosts.lease_soon();
        }
        Ok(())
    }

    /// Takes note of a final response to a URL. True if an alarm begins or ends.
    pub(super) fn mind_promises(&mut self, url: &CrawlUrl, finished: &Finished) -> bool {
        let (visit, number) = (&finished.visit, finished.job.rule);
        let (Some(rule), Some(of_rule)) = (self.promises.rules.get(number), self.site.rules.rules().get(number)) else {
            return false;
        };
        let repeats = visit.listing.as_ref().is_some_and(|listing| self.promises.promises.repeats(listing));
        let is_behind = finished.job.class.is_listing() && !visit::is_front(&self.site, url);
        let is_download = finished.job.class == Class::Download;
        let seen = Seen {
            rule,
            is_behind,
            url: KnownUrl { key: visit.key.clone(), depth: visit.depth },
            verdict: verdict(finished, repeats && is_behind),
            parent: visit.via.as_deref().filter(|_| is_download),
            detail: finished.detail.as_deref(),
            at: visit.at,
        };
        let unclassed = || -> BTreeMap<Box<str>, u64> {
            self.site.worth().unclassed().most().into_iter().map(|(shape, of)| (shape.into(), of.links)).collect()
        };
        let site = &self.site.rules.name;
        let place = || format!("{} ({})", of_rule.key(), of_rule.place());
        match self.promises.promises.mind(seen, unclassed) {
            Step::Nothing => return false,
            Step::Confirm(urls) => {
                tracing::info!(%site, rule = place(), "the rule may have come to nothing: URLs that kept its promise are asked once more");
                self.promises.due.extend(urls.iter().map(row));
                return false;
            }
            Step::Rejected => {
                tracing::info!(%site, rule = place(), "the rule holds: URLs that it led to still do");
                return false;
            }
            Step::Alarm(alarm) => {
                let why = alarm.told(rule, is_behind);
                tracing::warn!(%site, rule = place(), why, "a rule keeps its promise no more (hint: `gleaner status`)");
            }
            Step::Over => tracing::info!(%site, rule = place(), "the rule keeps its promise again"),
        }
        true
    }
}
