//! The index of a branching bandit by adaptive greedy (Weiss 1988), and the order that it gives. Pure.

use crate::priority;
use gleaner_rules::Class;

/// Share of a kind's URLs that lead to more of their own, at most: a list whose every page has a next one ends all the same.
const OWN_KIND: f64 = 0.9;

/// Of kinds with at least this share of the best index the class decides: lists are read while they shift, before what they list.
const AS_GOOD: f64 = 0.8;

/// The index of each kind: torrents per request that a URL of it leads to.
///
/// `torrents` are those that opening a URL brings, `links` the new URLs of other kinds (and of its own) that it shows. The kind with the
/// greatest index is taken first; each further one is judged by its URLs and those of the kinds before it that they lead to:
/// ρ = (y + Σ L·T) / (1 + Σ L·C), where T and C are the torrents and the requests of such a tree. Quadratic in the number of kinds.
#[must_use]
pub fn indices(torrents: &[f64], links: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let mut index = vec![0.0; torrents.len()];
    let mut brings = torrents.to_vec();
    let mut costs = vec![1.0; torrents.len()];
    // Who links to each, so that a kind that is settled is added to those that lead to it.
    let mut linked_by: Vec<Vec<(usize, f64)>> = vec![Vec::new(); torrents.len()];
    let mut own = vec![0.0_f64; torrents.len()];
    for (from, links) in links.iter().enumerate().take(torrents.len()) {
        for (to, count) in links.iter().filter(|(to, _)| *to < torrents.len()) {
            if *to == from { own[from] = *count } else { linked_by[*to].push((from, *count)) }
        }
    }
    let mut open: Vec<usize> = (0..torrents.len()).collect();
    let mut is_open = vec![true; torrents.len()];
    while !open.is_empty() {
        let ratio = |kind: &usize| brings[*kind] / costs[*kind];
        // The first of equal ones.
        let mut best = 0;
        for at in 1..open.len() {
            if ratio(&open[at]).total_cmp(&ratio(&open[best])).is_gt() {
                best = at;
            }
        }
        let kind = open.remove(best);
        is_open[kind] = false;
        index[kind] = brings[kind] / costs[kind];
        let again = 1.0 - own[kind].clamp(0.0, OWN_KIND);
        let (tree_torrents, tree_requests) = (brings[kind] / again, costs[kind] / again);
        for (from, count) in std::mem::take(&mut linked_by[kind]) {
            if is_open[from] {
                brings[from] += count * tree_torrents;
                costs[from] += count * tree_requests;
            }
        }
    }
    index
}

/// The order of kinds with these classes and values: the greatest first, but among those nearly as good as it the class decides.
#[must_use]
pub fn ordered(kinds: &[(Class, f64)]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..kinds.len()).collect();
    left.sort_by(|one, other| kinds[*other].1.total_cmp(&kinds[*one].1));
    let mut order = Vec::with_capacity(left.len());
    while let Some(best) = left.first() {
        let as_good = kinds[*best].1 * AS_GOOD;
        let near = left.iter().take_while(|kind| kinds[**kind].1 >= as_good);
        // The first of a class has its greatest value.
        let next = near.enumerate().min_by_key(|(_, kind)| priority::rank(kinds[**kind].0)).map_or(0, |(at, _)| at);
        order.push(left.remove(next));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Downloads, details, lists, and pages about the site.
    #[test]
    fn a_small_site_has_the_index_that_was_computed_by_hand() {
        let torrents = [1.0, 0.0, 0.0, 0.0];
        let links = [vec![], vec![(0, 1.0)], vec![(1, 10.0), (2, 0.5)], vec![(3, 5.0), (2, 0.1)]];
        let index = indices(&torrents, &links);
        // A detail: 1 torrent of 2 requests. A list: 10 of 21; with its next pages T = 20, C = 42. A page: 0.1·20 of 1 + 0.1·42.
        for (found, wanted) in index.iter().zip([1.0, 0.5, 10.0 / 21.0, 2.0 / 5.2]) {
            assert!((found - wanted).abs() < 1e-12, "{index:?}");
        }
    }

    #[test]
    fn only_kinds_that_are_better_count_for_a_kind() {
        // The list leads to rubbish as well, which nobody has to open.
        let index = indices(&[0.5, 0.0, 0.2], &[vec![], vec![], vec![(0, 1.0), (1, 40.0)]]);
        assert!((index[2] - 0.7 / 2.0).abs() < 1e-12 && index[1] == 0.0, "{index:?}");
    }

    #[test]
    fn kinds_that_lead_to_each_other_and_to_themselves_have_an_index() {
        let index = indices(&[0.1, 0.0], &[vec![(0, 50.0), (1, 50.0)], vec![(0, 50.0), (1, 50.0), (7, 1.0)]]);
        assert!(index.iter().all(|value| (0.0..=1.0).contains(value)), "{index:?}");
        assert!(indices(&[], &[]).is_empty());
    }

    #[test]
    fn lists_go_before_what_they_list_while_they_are_nearly_as_good() {
        let order = |list: f64| {
            ordered(&[(Class::Page, 0.05), (Class::Detail, 0.5), (Class::Index, list), (Class::Download, 1.0)])
        };
        assert_eq!(order(0.45), [3, 2, 1, 0]);
        assert_eq!(order(0.2), [3, 1, 2, 0], "the list is exhausted");
    }
}
