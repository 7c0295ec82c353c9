//! What scripts of an origin keep from one page to the next.

use serde::{Deserialize, Serialize};

/// Keys and values that scripts of an origin keep. They may include tokens, so `Debug` shows none.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    pub local: Vec<(String, String)>,
    pub session: Vec<(String, String)>,
}

impl Stored {
    /// Bytes of all keys and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.local.iter().chain(&self.session).map(|(key, value)| key.len() + value.len()).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.local.is_empty() && self.session.is_empty()
    }
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stored({} local, {} of the session)", self.local.len(), self.session.len())
    }
}
