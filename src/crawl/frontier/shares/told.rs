//! Shares as a person reads them: by rule, over all of its shapes.

use super::index::indices;
use super::{LINKS, NO_RULE, PROMISED, SUPPOSED, Shares, real};

/// Torrents per request below which a rule is not worth its requests, after [`FETCHED_ENOUGH`] of them.
const USELESS: f64 = 0.001;
const FETCHED_ENOUGH: u64 = 500;

/// What a rule's URLs bring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleShare {
    /// Index among the site's rules; None for the shapes that are not told apart.
    pub rule: Option<usize>,
    /// URLs fetched, in all crawls.
    pub fetched: u64,
    /// New torrents and magnets that they were or showed.
    pub torrents: u64,
    /// Torrents per request that a URL of it leads to, as the last fetches show: what decides.
    pub index: f64,
    /// The same over all fetches; what is supposed of an arm before its first counts only until that one.
    pub index_of_all: f64,
    /// Of the last requests, those that its URLs had.
    pub of_last: usize,
    /// Shapes that are told apart.
    pub shapes: usize,
}

/// True for a rule that the site's owner may well remove: after 500 fetches less than one torrent in 1,000 requests.
#[must_use]
pub fn is_useless(share: &RuleShare) -> bool {
    share.rule.is_some() && share.fetched >= FETCHED_ENOUGH && share.index_of_all < USELESS
}

impl Shares {
    /// The rules that have shapes, by their index, and the number of last requests that their shares are of. The rest comes last, if it had a
    /// fetch.
    #[must_use]
    pub fn by_rule(&self) -> (Vec<RuleShare>, usize) {
        let mut rules: Vec<usize> = self.arms.iter().map(|arm| arm.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let (now, of_all) = (self.indices_of(&rules, false), self.indices_of(&rules, true));
        let shares = rules.iter().enumerate().map(|(at, rule)| {
            let arms = || self.arms.iter().filter(|arm| arm.rule == *rule);
            RuleShare {
                rule: Some(*rule).filter(|rule| *rule != NO_RULE),
                fetched: arms().fold(0, |sum, arm| sum.saturating_add(arm.fetched)),
                torrents: arms().fold(0, |sum, arm| sum.saturating_add(arm.torrents)),
                index: now[at],
                index_of_all: of_all[at],
                of_last: arms().map(|arm| self.recent.iter().filter(|rank| **rank == arm.rank).count()).sum(),
                shapes: arms().filter(|arm| arm.rule != NO_RULE).count(),
            }
        });
        let is_told = |share: &RuleShare| share.rule.is_some() || share.fetched > 0;
        (shares.filter(is_told).collect(), self.recent.len())
    }

    /// The indices of rules, as if each were one arm.
    fn indices_of(&self, rules: &[usize], of_all: bool) -> Vec<f64> {
        let place = |rule: usize| rules.binary_search(&rule).ok();
        let (mut torrents, mut fetched) = (vec![0.0; rules.len()], vec![0.0; rules.len()]);
        let mut links = vec![vec![0.0; rules.len()]; rules.len()];
        for arm in &self.arms {
            let Some(at) = place(arm.rule) else { continue };
            // What was never fetched keeps its promise: no rule is worthless for leading to it.
            let supposed = if of_all && arm.fetched > 0 { 0.0 } else { SUPPOSED };
            torrents[at] += if of_all { real(arm.torrents) } else { real(arm.recent) };
            torrents[at] += supposed * PROMISED * arm.prior;
            fetched[at] += supposed + if of_all { real(arm.fetched) } else { real(arm.window.len() as u64) };
            for (to, (recent, all)) in &arm.links {
                if let Some(to) = self.arm(*to).and_then(|to| place(to.rule)) {
                    links[at][to] += if of_all { real(*all) } else { real(*recent) };
                }
            }
        }
        let mean = |sum: f64, at: usize| if fetched[at] > 0.0 { sum / fetched[at] } else { 0.0 };
        let torrents: Vec<f64> = torrents.iter().enumerate().map(|(at, sum)| mean(*sum, at)).collect();
        let links: Vec<Vec<(usize, f64)>> = links
            .iter()
            .enumerate()
            .map(|(at, row)| {
                row.iter().map(|sum| mean(*sum, at).min(LINKS)).enumerate().filter(|(_, mean)| *mean > 0.0).collect()
            })
            .collect();
        indices(&torrents, &links)
    }
}
