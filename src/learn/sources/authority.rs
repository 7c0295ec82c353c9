//! HITS on pages and hosts (Kleinberg 1999) with the weights of Bharat and Henzinger (1998): the links of one site to a host share one vote.
//!
//! A page is the set of hosts that it links to, as far as the examples of their links tell; equal sets of a site are one. A site's template
//! is one set more.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gleaner_frontier::offsite::OffsiteHosts;

use super::host::{self, Own};

/// Rounds after which the order no longer changes on the graphs of the tests.
const ROUNDS: usize = 30;

/// The authority of each host that may be proposed, as a share of the largest.
pub(super) fn of(sites: &[(String, OffsiteHosts)], own: &Own) -> HashMap<String, f64> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    // Each set with the weights of its links.
    let mut hubs: Vec<Vec<(usize, f64)>> = Vec::new();
    for (_, links) in sites {
        let sets = sets(links, own, &mut names);
        let mut linked: HashMap<usize, f64> = HashMap::new();
        sets.iter().flatten().for_each(|host| *linked.entry(*host).or_default() += 1.0);
        let weighed = |set: BTreeSet<usize>| set.into_iter().map(|host| (host, 1.0 / linked[&host])).collect();
        hubs.extend(sets.into_iter().map(weighed));
    }
    let authorities = iterate(&hubs, names.len());
    let most = authorities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    names.into_iter().map(|(name, at)| (name, authorities[at] / most)).collect()
}

/// The sets of hosts that one site's pages link to.
fn sets(links: &OffsiteHosts, own: &Own, names: &mut BTreeMap<String, usize>) -> BTreeSet<BTreeSet<usize>> {
    let mut pages: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    let mut template = BTreeSet::new();
    for (written, of) in links.hosts() {
        let Some(host) = host::proposable(written, own) else { continue };
        let next = names.len();
        let number = *names.entry(host).or_insert(next);
        if links.is_template(written) {
            template.insert(number);
            continue;
        }
        for page in of.examples() {
            pages.entry(page).or_default().insert(number);
        }
    }
    pages.into_values().chain([template]).filter(|set| !set.is_empty()).collect()
}

fn iterate(hubs: &[Vec<(usize, f64)>], hosts: usize) -> Vec<f64> {
    let mut authorities = vec![1.0; hosts];
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; hosts];
        for hub in hubs {
            let value: f64 = hub.iter().map(|(host, weight)| weight * authorities[*host]).sum();
            hub.iter().for_each(|(host, weight)| next[*host] += weight * value);
        }
        let length = next.iter().map(|of: &f64| of * of).sum::<f64>().sqrt();
        if length > 0.0 {
            next.iter_mut().for_each(|of| *of /= length);
        }
        authorities = next;
    }
    authorities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_good_hubs_share_are_authorities() {
        let hub = |hosts: &[usize]| hosts.iter().map(|host| (*host, 1.0)).collect::<Vec<_>>();
        let authorities = iterate(&[hub(&[0, 1]), hub(&[0, 1, 2]), hub(&[3])], 5);
        assert!(authorities[0] > authorities[2] && authorities[2] > authorities[3], "{authorities:?}");
        assert_eq!((authorities[0], authorities[4]), (authorities[1], 0.0));
        assert_eq!(iterate(&[], 0), <[f64; 0]>::default());
    }
}
