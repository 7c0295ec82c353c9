//! Decision trees over numbers with two labels: login form or not. Parsed and evaluated here; `gleaner-lab` trains
//! them.

use serde::{Deserialize, Serialize};

/// A node; its children come after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Node {
    /// Goes to `low` if `numbers[feature] <= at`, else to `high`. `gain` is in bits, times the node's share of all
    /// rows.
    Cut { feature: usize, at: f32, gain: f32, low: usize, high: usize },
    /// Training rows that end here.
    Leaf { logins: u32, others: u32 },
}

/// A tree; the root comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// One cut on the path to a leaf: the feature, the bound, and whether the number is above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub feature: usize,
    pub at: f32,
    pub is_above: bool,
}

impl Tree {
    /// A tree of these nodes; the root comes first.
    #[must_use]
    pub fn new(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    /// True if each child comes after its parent and each feature is one of `features`: then every walk ends.
    #[must_use]
    pub fn is_sound(&self, features: usize) -> bool {
        let is_sound = |(place, node): (usize, &Node)| match *node {
            Node::Cut { feature, low, high, at, .. } => {
                feature < features
                    && at.is_finite()
                    && [low, high].iter().all(|to| *to > place && *to < self.nodes.len())
            }
            Node::Leaf { .. } => true,
        };
        !self.nodes.is_empty() && self.nodes.iter().enumerate().all(is_sound)
    }

    /// The login share of the leaf for these numbers, between 0 and 1; leaves with few rows are less certain
    /// (Laplace).
    #[must_use]
    pub fn share(&self, numbers: &[f32]) -> f32 {
        self.walk(numbers, |_| ())
    }

    /// The cuts on the path of the numbers to their leaf.
    #[must_use]
    pub fn path(&self, numbers: &[f32]) -> Vec<Step> {
        let mut steps = Vec::new();
        self.walk(numbers, |step| steps.push(step));
        steps
    }

    fn walk(&self, numbers: &[f32], mut passed: impl FnMut(Step)) -> f32 {
        let mut place = 0;
        loop {
            match self.nodes[place] {
                Node::Cut { feature, at, low, high, .. } => {
                    let is_above = numbers[feature] > at;
                    passed(Step { feature, at, is_above });
                    place = if is_above { high } else { low };
                }
                Node::Leaf { logins, others } => return share(logins, others),
            }
        }
    }

    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

fn share(logins: u32, others: u32) -> f32 {
    (logins as f32 + 1.0) / (logins as f32 + others as f32 + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_tree_that_would_walk_in_circles_is_not_sound() {
        let sound = |json: &str| serde_json::from_str::<Tree>(json).unwrap().is_sound(2);
        let leaf = r#"{"logins":1,"others":0}"#;
        assert!(sound(&format!(r#"[{{"feature":1,"at":0.5,"gain":0.1,"low":1,"high":2}},{leaf},{leaf}]"#)));
        assert!(!sound(&format!(r#"[{{"feature":1,"at":0.5,"gain":0.1,"low":0,"high":1}},{leaf}]"#)), "itself");
        assert!(!sound(&format!(r#"[{{"feature":1,"at":0.5,"gain":0.1,"low":1,"high":2}},{leaf}]"#)), "beyond");
        assert!(!sound(&format!(r#"[{{"feature":2,"at":0.5,"gain":0.1,"low":1,"high":1}},{leaf}]"#)), "feature");
        assert!(!sound("[]"));
    }
}
