//! Pages that were read when the site's rule file was learned: the first visit of each is answered with what was read, without a request
//! and without its host's gate. Everything else of such a visit is as usual, and its commit too.

use futures_util::future::BoxFuture;

use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{FetchFailure, Response};

/// Answers that are at hand.
pub trait ReadBefore: Send + Sync + 'static {
    /// True for a URL whose answer is at hand, and new enough at this time.
    fn has(&self, url: &CrawlUrl, now: UnixMillis) -> bool;

    /// The answer.
    ///
    /// # Errors
    /// If it can no longer be read.
    fn answer<'a>(&'a self, url: &'a CrawlUrl) -> BoxFuture<'a, Result<Response, FetchFailure>>;

    /// The crawl is at its end: no answer is needed any more.
    fn end(&self);
}
