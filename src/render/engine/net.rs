//! The way of a page's scripts to the network, which is never theirs: each request is handed to the crawl, and the answer comes back.
//!
//! Knows nothing of frames, sockets or rules.

use serde::{Deserialize, Serialize};

/// Number by which an answer finds its request, unique within a page.
pub type RequestId = u32;

/// What asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    Fetch,
    Xhr,
    /// A classic script of the page.
    Script,
    Module,
    /// An image that a script replaces if it is not there; no answer is used but its status.
    Image,
}

/// A request of a script, absolute and complete but for what the crawl adds (cookies, user agent).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub asker: Asker,
    pub method: String,
    /// Absolute, without a fragment.
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// False where the page wants no cookies to go with it.
    pub credentials: bool,
    #[serde(skip)]
    pub body: Vec<u8>,
}

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

/// Where requests go. Two kinds exist: the frames of a child process, and the tables of tests.
pub trait Net {
    /// Begins a request under a number that the page chose.
    fn start(&mut self, id: RequestId, request: Request);

    /// Waits for the answer to any request that was started and not given up. The engine calls it only while there is one.
    fn wait(&mut self) -> (RequestId, Answer);

    /// A script set a cookie, in the words of `Set-Cookie`: it goes with the requests behind this.
    fn cookie(&mut self, _text: &str) {}

    /// The page's reader has done something and goes on: it is in no call without end.
    fn alive(&mut self) {}
}

/// A network that refuses everything.
pub struct NoNet(std::collections::VecDeque<RequestId>);

impl NoNet {
    pub fn new() -> Self {
        Self(std::collections::VecDeque::new())
    }
}

impl Default for NoNet {
    fn default() -> Self {
        Self::new()
    }
}

impl Net for NoNet {
    fn start(&mut self, id: RequestId, _: Request) {
        self.0.push_back(id);
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        (self.0.pop_front().unwrap_or_default(), Err("no network".to_owned()))
    }
}
