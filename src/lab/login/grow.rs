//! Grows decision trees by information gain (ID3, BT §3.1) over numbers, with two labels: login form or not.
//!
//! linfa-trees finds the best cut of one feature; this module selects the feature and recurses. The crate's own recursion
//! compares a row with neighbours outside its node, and so misses cuts of boolean features below the root; a fit of depth
//! one on the node's own rows does not. Ties are broken by the order of the features, so that the same rows give the same
//! tree in any order.

use linfa::prelude::*;
use linfa_trees::{DecisionTree, SplitQuality};
use ndarray::{Array1, Array2};

use gleaner_login::tree::{Node, Tree};

use crate::limits::TREE_DEPTH_MAX;

/// One labelled row of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub numbers: &'a [f32],
    pub is_login: bool,
}

/// When a node is not cut further.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Minimum gain of a cut on its node's rows, in bits.
    pub gain_min: f32,
    /// Minimum rows on each side of a cut.
    pub rows_min: usize,
}

/// The best cut of one feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    pub at: f32,
    /// Information gain in bits.
    pub gain: f32,
}

/// Learns a tree from rows of equal length; a leaf if there are no rows. Each node is cut by one of the features that
/// `features` returns for it: from the root down, the lower side first.
#[must_use]
pub fn learn(rows: &[Row<'_>], features: &mut dyn FnMut() -> Vec<usize>, stop: Stop) -> Tree {
    let mut growing = Growing { nodes: Vec::new(), features, stop, all: rows.len() };
    growing.grow(rows.to_vec(), 0);
    Tree::new(growing.nodes)
}

/// A tree under construction.
struct Growing<'a> {
    nodes: Vec<Node>,
    features: &'a mut dyn FnMut() -> Vec<usize>,
    stop: Stop,
    /// Rows of the root.
    all: usize,
}

impl Growing<'_> {
    /// Adds a node with its subtree and returns its index.
    fn grow(&mut self, rows: Vec<Row<'_>>, depth: usize) -> usize {
        let place = self.nodes.len();
        let logins = rows.iter().filter(|row| row.is_login).count();
        let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
        self.nodes.push(Node::Leaf { logins: count(logins), others: count(rows.len() - logins) });
        if depth == TREE_DEPTH_MAX {
            return place;
        }
        let Some((feature, cut)) = best_cut(&rows, &(self.features)(), self.stop) else { return place };
        // Rounded, so that the last bits of a logarithm are not stored.
        let gain = (cut.gain * rows.len() as f32 / self.all.max(1) as f32 * 1e4).round() / 1e4;
        let (low, high): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.numbers[feature] <= cut.at);
        let low = self.grow(low, depth + 1);
        let high = self.grow(high, depth + 1);
        self.nodes[place] = Node::Cut { feature, at: cut.at, gain, low, high };
        place
    }
}

/// The feature and cut with the highest gain; on a tie, the feature that comes first.
fn best_cut(rows: &[Row<'_>], features: &[usize], stop: Stop) -> Option<(usize, Cut)> {
    let is_pure = rows.iter().all(|row| row.is_login) || !rows.iter().any(|row| row.is_login);
    if is_pure || rows.len() < 2 * stop.rows_min {
        return None;
    }
    let mut best: Option<(usize, Cut)> = None;
    for &feature in features {
        let column: Vec<(f32, bool)> = rows.iter().map(|row| (row.numbers[feature], row.is_login)).collect();
        let Some(cut) = cut_of(column, stop) else { continue };
        // Sums of logarithms differ in their last bits; smaller differences than this count as a tie.
        if best.is_none_or(|(_, of)| cut.gain > of.gain + 1e-6) {
            best = Some((feature, cut));
        }
    }
    best
}

/// The best cut of one feature over a node's rows, by a fit of depth one. Equal rows are merged into one row weighted by
/// their number, so that the fit has few rows.
#[must_use]
pub fn cut_of(mut column: Vec<(f32, bool)>, stop: Stop) -> Option<Cut> {
    column.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut groups: Vec<(f32, bool, f32)> = Vec::new();
    for (number, is_login) in column {
        match groups.last_mut() {
            Some((of, label, weight)) if *of == number && *label == is_login => *weight += 1.0,
            _ => groups.push((number, is_login, 1.0)),
        }
    }
    if groups.first()?.0 == groups.last()?.0 {
        return None;
    }
    let numbers = Array2::from_shape_fn((groups.len(), 1), |(at, _)| groups[at].0);
    let labels: Array1<bool> = groups.iter().map(|of| of.1).collect();
    let weights: Array1<f32> = groups.iter().map(|of| of.2).collect();
    let fitted: DecisionTree<f32, bool> = DecisionTree::params()
        .split_quality(SplitQuality::Entropy)
        .max_depth(Some(1))
        .min_weight_leaf(stop.rows_min as f32)
        .min_impurity_decrease(stop.gain_min)
        .fit(&Dataset::new(numbers, labels).with_weights(weights))
        .ok()?;
    let (_, at, gain) = fitted.root_node().split();
    (gain >= stop.gain_min && gain > 0.0).then_some(Cut { at, gain })
}

#[cfg(test)]
mod tests;
