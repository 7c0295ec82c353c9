//! The stored model: an ensemble of small trees that decides whether a form is a login form, and why.
//!
//! It is built in, so that the program needs no file; `gleaner-lab train` rebuilds it from the committed table.
//! Judging takes microseconds and uses only the form and the page's address.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::features::{self, Evidence, Feature};
use super::fields;
use super::form::Form;
use super::tree::Tree;

/// The serialised model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Names of the features, in the order of the trees' input numbers.
    pub features: Vec<String>,
    /// A form is a login form if the mean share of the trees is higher.
    pub threshold: f32,
    pub trees: Vec<Tree>,
}

/// Why a stored model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model cannot be read: {0}")]
    Form(#[from] serde_json::Error),
    #[error("the model uses `{0}`, which is not a feature of this version (hint: gleaner-lab train)")]
    Feature(String),
    #[error("tree {0} of the model is broken (hint: gleaner-lab train)")]
    Tree(usize),
}

/// The judgement of one form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Mean login share over the trees, 0 to 1.
    pub score: f32,
    pub is_login: bool,
}

/// A model with its resolved features.
pub struct Judge {
    model: Model,
    features: Vec<&'static Feature>,
}

/// The built-in model.
static STORED: LazyLock<Judge> = LazyLock::new(|| {
    // A test reads the same bytes.
    Judge::read(include_bytes!("../../models/login_form.json")).expect("the model of this version is sound")
});

impl Judge {
    /// The model of this version.
    #[must_use]
    pub fn stored() -> &'static Self {
        &STORED
    }

    /// Parses a stored model.
    ///
    /// # Errors
    /// [`ModelError`] if the bytes are not a model, or not one for the features of this version.
    pub fn read(json: &[u8]) -> Result<Self, ModelError> {
        Self::new(serde_json::from_slice(json)?)
    }

    /// Checks a model.
    ///
    /// # Errors
    /// As [`Judge::read`].
    pub fn new(model: Model) -> Result<Self, ModelError> {
        let known = |name: &String| features::by_name(name).ok_or_else(|| ModelError::Feature(name.clone()));
        let features = model.features.iter().map(known).collect::<Result<Vec<_>, _>>()?;
        if let Some(broken) = model.trees.iter().position(|tree| !tree.is_sound(features.len())) {
            return Err(ModelError::Tree(broken));
        }
        Ok(Self { model, features })
    }

    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Judges a form of the page at an address.
    #[must_use]
    pub fn judge(&self, form: &Form, page_url: &str) -> Judgement {
        self.model.judge(&self.numbers(form, page_url))
    }

    /// The login form of a page: among those judged so the one with the highest score. Visible forms come before
    /// hidden ones, forms with a password field before those without; of equals the first.
    #[must_use]
    pub fn login_form(&self, forms: &[Form], page_url: &str) -> Option<(usize, Judgement)> {
        let mut best: Option<((bool, bool, f32), usize, Judgement)> = None;
        for (at, form) in forms.iter().enumerate() {
            let judgement = self.judge(form, page_url);
            let rank = (fields::roles(form).password.is_some(), !form.is_hidden, judgement.score);
            if judgement.is_login
                && best.as_ref().is_none_or(|(of, ..)| rank.partial_cmp(of).is_some_and(|of| of.is_gt()))
            {
                best = Some((rank, at, judgement));
            }
        }
        best.map(|(_, at, judgement)| (at, judgement))
    }

    /// Why a form is judged so: the cuts that the trees passed, the most frequent first, each once as a sentence,
    /// then the verdict.
    #[must_use]
    pub fn path(&self, form: &Form, page_url: &str) -> Vec<String> {
        let numbers = self.numbers(form, page_url);
        let mut bounds: Vec<(usize, usize, Option<f32>, Option<f32>)> = Vec::new();
        for step in self.model.trees.iter().flat_map(|tree| tree.path(&numbers)) {
            let place = bounds.iter().position(|of| of.0 == step.feature).unwrap_or_else(|| {
                bounds.push((step.feature, 0, None, None));
                bounds.len() - 1
            });
            let (_, count, above, below) = &mut bounds[place];
            *count += 1;
            if step.is_above {
                *above = Some(above.map_or(step.at, |of| of.max(step.at)));
            } else {
                *below = Some(below.map_or(step.at, |of| of.min(step.at)));
            }
        }
        bounds.sort_by_key(|of| (std::cmp::Reverse(of.1), of.0));
        let sentence = |(feature, count, above, below): &(usize, usize, Option<f32>, Option<f32>)| {
            let between = match (above, below) {
                (Some(above), Some(below)) => format!("more than {above}, at most {below}"),
                (Some(above), None) => format!("more than {above}"),
                (None, Some(below)) => format!("at most {below}"),
                (None, None) => String::new(),
            };
            let asked = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            format!("{}: {} ({between}; asked {asked})", self.features[*feature].says, numbers[*feature])
        };
        let judgement = self.model.judge(&numbers);
        let verdict = format!(
            "{}: {:.2} of 1, {:.2} is needed, {} trees asked",
            if judgement.is_login { "login form" } else { "not a login form" },
            judgement.score,
            self.model.threshold,
            self.model.trees.len()
        );
        bounds.iter().map(sentence).chain([verdict]).collect()
    }

    fn numbers(&self, form: &Form, page_url: &str) -> Vec<f32> {
        let evidence = Evidence::of(form, page_url);
        self.features.iter().map(|feature| feature.number(&evidence)).collect()
    }
}

impl Model {
    /// Judges the feature values of a form.
    #[must_use]
    pub fn judge(&self, numbers: &[f32]) -> Judgement {
        let shares: f32 = self.trees.iter().map(|tree| tree.share(numbers)).sum();
        let score = shares / self.trees.len().max(1) as f32;
        Judgement { score, is_login: score > self.threshold }
    }
}
