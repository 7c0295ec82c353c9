//! A link of a page.

use serde::{Deserialize, Serialize};

/// A link of a page in the state that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Absolute; as it was written where it is no address.
    pub url: String,
    /// Its text, blanks run together.
    pub text: String,
}
