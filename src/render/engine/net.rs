//! The way of a page's scripts to the network, which is never theirs: each request is handed to the crawl, and the answer comes back.
//!
//! Knows nothing of frames, sockets or rules.

use crate::wire::{Answer, Request, RequestId};

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
