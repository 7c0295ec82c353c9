//! A link of a page.

use serde::{Deserialize, Serialize};

/// A link of a page in its current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Absolute; as written if it is not a valid URL.
    pub url: String,
    /// Its text, with whitespace collapsed.
    pub text: String,
}
