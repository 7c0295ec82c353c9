//! Parameters that do not change a page's content, learned per class and proposed to the operator (ALGORITHMS §3).
//!
//! Each fetched page is an observation: class, path, query, fingerprint of its content. Two URLs that differ only in one
//! parameter, in its value or its presence, are a pair; equal fingerprints indicate that the parameter is
//! idle, different ones that it is not. A proposal needs [`AGREEING`] pairs of different paths and *different contents*
//! (otherwise twenty copies of the same error page would suffice) and none against it: if dropping the parameter changed the content
//! of one page in five, it would be proposed falsely in 0.8²⁰ = 1.2 % of cases, of one in three in 0.03 %.
//!
//! Nothing is ever dropped by this: a [`Proposal`] is a line that the operator may add to the rule file. Bounded:
//! 1.3 MB a site. Deterministic and pure.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::limits::{CUT_EXAMPLE_BYTES_MAX, LEARNED_PARAMETERS_MAX, QUERY_PARAMETERS_MAX};
use gleaner_rules::Class;

/// Pairs that must agree before a parameter is proposed.
pub const AGREEING: usize = 20;

/// Observations that wait for their counterpart.
const SLOTS: usize = 1 << 15;

/// One half of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PairHalf {
    /// Class, path, all other parameters and the name of this one; 0 if the slot is free.
    key: u64,
    value: u64,
    content: u64,
    /// Hash of path and query, so that the same URL seen twice is no pair.
    is_counted: bool,
}

/// Evidence about one parameter of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Evidence {
    class: Class,
    name: Box<str>,
    /// Contents of the pairs that agreed; at most [`AGREEING`].
    contents: Vec<u64>,
    agree: u32,
    differ: u32,
    /// The last URLs that wait for their counterpart, by the key of their slot, until one makes the example.
    waiting: VecDeque<(u64, Box<str>)>,
    example: Option<(Box<str>, Box<str>)>,
}

/// A parameter that may be dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Proposal {
    pub class: Class,
    pub parameter: String,
    /// Pairs of URLs, each with another content, that had the same content with another value or without it.
    pub evidence: u32,
    /// Two URLs (path and query) with the same content.
    pub example_a: String,
    pub example_b: String,
}

impl Proposal {
    /// The line for the rule file.
    #[must_use]
    pub fn line(&self) -> String {
        format!("drop = [{}]", serde_json::Value::from(self.parameter.as_str()))
    }
}

/// What was learned of a site's parameters. A megabyte from the first parameter on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    slots: Vec<PairHalf>,
    evidence: Vec<Evidence>,
}

impl Parameters {
    /// Adds a fetched page. `content` must be a fingerprint without what changes at every visit, else nothing is learned.
    /// URLs without a query, and with more than [`QUERY_PARAMETERS_MAX`] parameters, are used as far as possible.
    pub fn observe(&mut self, class: Class, path_and_query: &str, content: u64) {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let mut parameters: Vec<&str> = query.split('&').filter(|text| !text.is_empty()).collect();
        if parameters.len() > QUERY_PARAMETERS_MAX {
            return;
        }
        parameters.sort_unstable();
        let whole = xxh3_64_with_seed(path.as_bytes(), class as u64);
        // A sum is independent of the order, and the share of one parameter can be subtracted again.
        let hash = |text: &str| xxh3_64(text.as_bytes());
        let sum = parameters.iter().fold(whole, |sum, text| sum.wrapping_add(hash(text)));
        let name_of = |text: &str| text.split_once('=').map_or(text, |(name, _)| name).to_owned();
        for text in &parameters {
            let name = name_of(text);
            let Some(at) = self.evidence_of(class, &name) else {
                continue;
            };
            self.pair(at, sum.wrapping_sub(hash(text)), hash(text), content, path_and_query);
        }
        for at in 0..self.evidence.len() {
            let known = &self.evidence[at];
            if known.class == class && !parameters.iter().any(|text| name_of(text) == *known.name) {
                self.pair(at, sum, 0, content, path_and_query);
            }
        }
    }

    /// The parameters with enough evidence for them and none against, by class and name.
    #[must_use]
    pub fn proposals(&self) -> Vec<Proposal> {
        let mut proposals: Vec<Proposal> = self
            .evidence
            .iter()
            .filter(|known| known.contents.len() >= AGREEING && known.differ == 0)
            .filter_map(|known| {
                let (example_a, example_b) = known.example.as_ref()?;
                Some(Proposal {
                    class: known.class,
                    parameter: known.name.to_string(),
                    evidence: known.agree,
                    example_a: example_a.to_string(),
                    example_b: example_b.to_string(),
                })
            })
            .collect();
        proposals.sort_by(|a, b| (a.class, &a.parameter).cmp(&(b.class, &b.parameter)));
        proposals
    }

    /// True if two pages differed because of this parameter alone.
    #[must_use]
    pub fn is_refuted(&self, class: Class, parameter: &str) -> bool {
        self.evidence.iter().any(|known| known.class == class && &*known.name == parameter && known.differ > 0)
    }

    /// The index of a parameter's evidence; None if there is no room for another name.
    fn evidence_of(&mut self, class: Class, name: &str) -> Option<usize> {
        if let Some(at) = self.evidence.iter().position(|known| known.class == class && &*known.name == name) {
            return Some(at);
        }
        if self.evidence.len() >= LEARNED_PARAMETERS_MAX || name.len() > CUT_EXAMPLE_BYTES_MAX {
            return None;
        }
        self.evidence.push(Evidence {
            class,
            name: name.into(),
            contents: Vec::new(),
            agree: 0,
            differ: 0,
            waiting: VecDeque::new(),
            example: None,
        });
        Some(self.evidence.len() - 1)
    }

    /// Compares with the content of the same URL under another value of this parameter, and stores this one.
    fn pair(&mut self, at: usize, others: u64, value: u64, content: u64, url: &str) {
        if self.slots.is_empty() {
            self.slots = vec![PairHalf::default(); SLOTS];
        }
        let known = &mut self.evidence[at];
        let key = xxh3_64_with_seed(known.name.as_bytes(), others) | 1;
        let slot = &mut self.slots[key as usize / 2 % SLOTS];
        if slot.key != key {
            *slot = PairHalf { key, value, content, is_counted: false };
            if known.example.is_none() && url.len() <= CUT_EXAMPLE_BYTES_MAX {
                if known.waiting.len() >= AGREEING {
                    known.waiting.pop_front();
                }
                known.waiting.push_back((key, url.into()));
            }
            return;
        }
        if slot.value == value {
            slot.content = content;
            return;
        }
        if slot.content != content {
            known.differ = known.differ.saturating_add(1);
        } else if !slot.is_counted && !known.contents.contains(&content) {
            slot.is_counted = true;
            known.agree = known.agree.saturating_add(1);
            if known.contents.len() < AGREEING {
                known.contents.push(content);
            }
            if let Some((_, first)) = known.waiting.iter().find(|(waiting, _)| *waiting == key)
                && url.len() <= CUT_EXAMPLE_BYTES_MAX
            {
                known.example = Some((first.clone(), url.into()));
                known.waiting.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests;
