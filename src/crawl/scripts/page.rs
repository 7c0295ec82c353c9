//! One page whose scripts are run, or whose data are requested in its place: its inputs, its original form, and the result.

use std::time::Duration;

use super::errands::{Answering, Errands};
use super::rendered::Nothing;
use super::shared::Scripts;
use crate::job::{Job, PageFindings};
use gleaner_net::fetch::ResponseHeaders;

/// The visit for which scripts send requests.
#[derive(Clone, Copy)]
pub struct PageVisit<'a> {
    pub scripts: &'a Scripts,
    pub job: &'a Job,
    /// The gate for their requests.
    pub errands: &'a Errands,
}

impl<'a> PageVisit<'a> {
    /// Answers the requests of the page.
    #[must_use]
    pub fn answering(self) -> Answering<'a> {
        Answering { scripts: self.scripts, errands: self.errands, page: &self.job.url }
    }
}

/// A page as its server sent it.
#[derive(Clone, Copy)]
pub struct SentPage<'a> {
    pub headers: &'a ResponseHeaders,
    pub body: &'a [u8],
    /// What was found on it without its scripts.
    pub read: &'a PageFindings,
}

/// Result of a page's scripts.
pub struct Made {
    /// Content of the page now, in place of its content without scripts.
    pub read: PageFindings,
    pub html: String,
    /// For the log line of the visit.
    pub detail: String,
    /// Scripts have made links that the page had not.
    pub gained: bool,
    /// Set if it is a shell that shows nothing after its scripts; contains the reason if known.
    pub nothing: Option<Nothing>,
}

/// Data returned by an endpoint.
pub struct Gathered {
    pub read: PageFindings,
    pub bytes: u64,
    pub detail: String,
    /// Memo about the version of the data, for the next visit.
    pub memo: Option<Box<str>>,
}

/// The result that a visit gets.
pub enum End {
    /// The page is requested, or stays as the server sent it.
    AsSent,
    /// The data in place of the page.
    Data(Box<Gathered>),
    /// The fetched page, with the result of its scripts or its data.
    Made(Box<Made>),
    /// The visit ends without a page.
    NoPage(NoPage),
}

/// Why a visit ends without a page.
pub enum NoPage {
    /// Its data have not changed.
    NotModified,
    /// The page keeps its place, at least for the given time.
    KeptBack { why: String, pause: Duration },
    /// The server of its data did not answer.
    Unanswered(String),
    /// The page itself was fetched, and may show later what it does not show yet.
    Again(&'static str),
}

impl End {
    /// The page keeps its place, and may be requested at once.
    #[must_use]
    pub fn kept_back(why: impl Into<String>) -> Self {
        Self::NoPage(NoPage::KeptBack { why: why.into(), pause: Duration::ZERO })
    }
}
