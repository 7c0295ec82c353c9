//! The response to a request.

use serde::{Deserialize, Serialize};

/// A response of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// URL after redirects.
    pub url: String,
    pub redirected: bool,
    pub status: u16,
    pub status_text: String,
    /// Names in lower case, in the order of receipt.
    pub headers: Vec<(String, String)>,
    /// More of the body may come: it is a stream that was cut.
    #[serde(default)]
    pub ongoing: bool,
    #[serde(skip)]
    pub body: Vec<u8>,
}

impl Response {
    /// The first header with this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The result of a request: a response, or the reason why there is none (a rule, robots.txt, the budget, a broken connection). A script
/// learns no more than in a browser: a network error.
pub type Answer = Result<Response, String>;
