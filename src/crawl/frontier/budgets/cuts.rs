//! Reports of the budgets: what was cut and why, and which pages of a starved shape resemble each other.

use serde::{Deserialize, Serialize};

use super::{AccountKey, Reason, Shapes, parts_of};
use crate::limits::CUT_EXAMPLE_BYTES_MAX;
use crate::shape::Shape;
use gleaner_rules::Class;

/// What was cut, for `status` and the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cut {
    /// The shape, or the name of the trap form.
    pub shape: String,
    pub class: Class,
    /// URLs of the shape that were fetched.
    pub fetched: u64,
    /// Torrents and magnets that they led to.
    pub yielded: u64,
    /// Requests that were cut since one was last let through; a URL that is requested twice counts twice.
    pub cut: u64,
    /// A URL's path and query, shortened to [`CUT_EXAMPLE_BYTES_MAX`].
    pub example: String,
    /// A sentence for people.
    pub reason: String,
    /// Pages of the shape that resembled another of it.
    pub likeness: Option<Likeness>,
}

/// Near-duplicates among the pages of a shape (Book 3.4.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Likeness {
    /// Pages that resembled an earlier one.
    pub pages: u64,
    /// The last of them, and the page that it resembled; shortened to [`CUT_EXAMPLE_BYTES_MAX`].
    pub page: Box<str>,
    pub other: Box<str>,
    /// Estimated resemblance of the two, in percent.
    pub percent: u8,
}

impl Shapes {
    /// Records that a page of a starved shape resembles another, with an estimate between 0 and 1.
    pub fn resembled(&mut self, path: &str, class: Class, other: &str, estimate: f64) {
        let key = self.resolve(&AccountKey::of(&Shape::of(path), class));
        if let Some(account) = self.accounts.get_mut(&key) {
            account.likeness = Some(Likeness {
                pages: account.likeness.as_ref().map_or(0, |known| known.pages).saturating_add(1),
                page: shortened(path),
                other: shortened(other),
                percent: percent(estimate),
            });
        }
    }

    /// Everything that was cut, largest counts first.
    #[must_use]
    pub fn cuts(&self) -> Vec<Cut> {
        let by_form = self.forms.iter().map(|(form, cuts)| Cut {
            shape: form.name().to_owned(),
            class: cuts.class,
            fetched: 0,
            yielded: 0,
            cut: cuts.cut,
            example: cuts.example.to_string(),
            reason: form.sentence().to_owned(),
            likeness: None,
        });
        let by_shape = self.accounts.iter().filter(|(_, account)| account.cut > 0).filter_map(|(key, account)| {
            let (class, shape) = parts_of(key)?;
            Some(Cut {
                shape: shape.to_owned(),
                class,
                fetched: account.fetched,
                yielded: account.yielded,
                cut: account.cut,
                example: account.example.as_deref().unwrap_or_default().to_owned(),
                reason: account.reason.unwrap_or(Reason::Shape).sentence().to_owned(),
                likeness: account.likeness.clone(),
            })
        });
        let mut cuts: Vec<Cut> = by_form.chain(by_shape).collect();
        cuts.sort_by(|a, b| b.cut.cmp(&a.cut).then_with(|| a.shape.cmp(&b.shape)));
        cuts
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn percent(estimate: f64) -> u8 {
    (estimate * 100.0).clamp(0.0, 100.0) as u8
}

/// A URL as an example: only its beginning if it is long.
pub(super) fn shortened(path: &str) -> Box<str> {
    if path.len() <= CUT_EXAMPLE_BYTES_MAX {
        return path.into();
    }
    let mut end = CUT_EXAMPLE_BYTES_MAX;
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &path[..end]).into()
}
