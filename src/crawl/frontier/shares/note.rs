//! Shares as bytes, kept over restarts: at most [`SHARE_ARMS_MAX`](crate::limits::SHARE_ARMS_MAX) arms and their links to each other.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{Arm, CLASSES, Fetch, NO_RULE, RECENT, Shares, WINDOW, key_of, ranks_of, rest_of};
use crate::limits::SHARE_ARMS_MAX;
use gleaner_rules::Class;

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    arms: Vec<KeptArm>,
    recent: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct KeptArm {
    rank: u8,
    class: Class,
    /// Key and pattern of its rule; empty for the rest of a class.
    rule: String,
    shape: Box<str>,
    prior: f64,
    fetched: u64,
    torrents: u64,
    window: Vec<Fetch>,
    links: Vec<(u8, u64)>,
}

impl Shares {
    /// The state as JSON. `rules` are keys of the site's rules, by index: other rules of the file may change meanwhile.
    #[must_use]
    pub fn to_bytes(&self, rules: &[String]) -> Vec<u8> {
        let arms = self.arms.iter().filter_map(|arm| {
            let rule = if arm.rule == NO_RULE { String::new() } else { rules.get(arm.rule)?.clone() };
            let links = arm.links.iter().map(|(to, (_, all))| (*to, *all)).collect();
            let window = arm.window.iter().cloned().collect();
            let Arm { rank, class, prior, fetched, torrents, .. } = *arm;
            Some(KeptArm { rank, class, rule, shape: arm.shape.clone(), prior, fetched, torrents, window, links })
        });
        let kept = Kept { arms: arms.collect(), recent: self.recent.iter().copied().collect() };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// The state of an earlier run. Arms of rules that the file has no more are dropped, and arms that were never fetched; links to them
    /// count for the rest of their classes. A note that cannot be read counts as none, and so do numbers that no crawl counts.
    #[must_use]
    pub fn from_bytes(note: &[u8], rules: &[String]) -> Self {
        let kept: Kept = serde_json::from_slice(note).unwrap_or_default();
        let mut shares = Self::default();
        for arm in kept.arms {
            shares.take_up(arm, rules);
        }
        let ranks: HashSet<u8> = shares.arms.iter().map(|arm| arm.rank).collect();
        shares.arms.iter_mut().for_each(|arm| arm.lead_on(&ranks));
        shares.fetched = shares.arms.iter().fold(0, |sum, arm| sum.saturating_add(arm.fetched));
        shares.recent = kept.recent.into_iter().filter(|rank| ranks.contains(rank)).take(RECENT).collect();
        shares
    }

    fn take_up(&mut self, kept: KeptArm, rules: &[String]) {
        if !(0.0..=1.0).contains(&kept.prior) || kept.window.len() > WINDOW {
            return;
        }
        let mut arm = Arm::new(kept.rank, kept.class, NO_RULE, &kept.shape, kept.prior);
        (arm.fetched, arm.torrents) = (kept.fetched, kept.torrents);
        arm.links = kept.links.into_iter().map(|(to, all)| (to, (0, all))).collect();
        kept.window.into_iter().for_each(|fetch| arm.enter(fetch));
        let (rank, class) = (kept.rank, kept.class);
        if kept.rule.is_empty() {
            if let Some(rest) = self.arms.iter_mut().find(|rest| rest.rank == rank && rest_of(rest.class) == rank) {
                *rest = Arm { class: rest.class, ..arm };
            }
            return;
        }
        let Some(rule) = rules.iter().position(|rule| *rule == kept.rule) else { return };
        if kept.fetched == 0 {
            return;
        }
        let is_free = self.arm(rank).is_none() && ranks_of(class).any(|own| own == rank);
        if is_free && self.arms.len() < SHARE_ARMS_MAX + CLASSES.len() {
            arm.rule = rule;
            self.ranks.insert(key_of(class, rule, &arm.shape), rank);
            self.arms.push(arm);
        }
    }
}

impl Arm {
    /// Counts links to other ranks than these for the rest of their classes.
    fn lead_on(&mut self, ranks: &HashSet<u8>) {
        let rest = |to: u8| CLASSES.into_iter().find(|class| ranks_of(*class).any(|own| own == to)).map(rest_of);
        let place = |to: u8| if ranks.contains(&to) { Some(to) } else { rest(to) };
        self.window.iter_mut().for_each(|fetch| {
            fetch.1.retain_mut(|(to, _)| place(*to).map(|now| *to = now).is_some());
        });
        for (to, (recent, all)) in std::mem::take(&mut self.links) {
            if let Some(to) = place(to) {
                let sums = self.links.entry(to).or_default();
                *sums = (sums.0.saturating_add(recent), sums.1.saturating_add(all));
            }
        }
    }
}
