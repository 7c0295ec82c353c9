//! The answer to a request.

use serde::{Deserialize, Serialize};

/// An answer, of whatever status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// Address after redirects.
    pub url: String,
    pub redirected: bool,
    pub status: u16,
    pub status_text: String,
    /// Names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    #[serde(skip)]
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What becomes of a request: an answer, or the reason why there is none (a rule, robots.txt, the budget, a broken connection). A
/// script learns no more than a browser would tell it: a network error.
pub type Answer = Result<Response, String>;
