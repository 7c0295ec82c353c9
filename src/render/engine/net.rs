//! The interface of a page's scripts to the network: each request is passed to the crawl, and the response comes back.
//!
//! Knows nothing of frames, sockets or rules.

use crate::wire::{Answer, Request, RequestId};

/// The destination of requests. There are two kinds: the frames of a child process, and the tables of tests.
pub trait Net {
    /// Starts a request with an id that the page chose.
    fn start(&mut self, id: RequestId, request: Request);

    /// Waits for the response to any request that was started and not cancelled. The engine calls it only while there is one.
    fn wait(&mut self) -> (RequestId, Answer);

    /// A script set a cookie, in the syntax of `Set-Cookie`: it is sent with later requests.
    fn cookie(&mut self, _text: &str) {}

    /// The page's reader has acted and continues: the page is not stuck in an endless call.
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
