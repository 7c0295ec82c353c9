//! One page whose scripts are run, or whose data are asked for in their place: by which means, as it was sent, and what they made of it.

use std::time::Duration;

use super::errands::{Answering, Errands};
use super::rendered::Nothing;
use super::shared::Scripts;
use crate::job::{Job, PageFindings};
use gleaner_net::fetch::ResponseHeaders;

/// On whose behalf scripts ask.
#[derive(Clone, Copy)]
pub struct PageVisit<'a> {
    pub scripts: &'a Scripts,
    pub job: &'a Job,
    /// The gate for what they ask.
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
    /// What was read of it without its scripts.
    pub read: &'a PageFindings,
}

/// What a page's scripts made of it.
pub struct Made {
    /// What the page shows now, in place of what it showed without its scripts.
    pub read: PageFindings,
    pub html: String,
    /// For the log line of the visit.
    pub detail: String,
    /// Scripts have made links that the page had not.
    pub gained: bool,
    /// It is a shell that shows nothing after its scripts, and why, as far as that is known.
    pub nothing: Option<Nothing>,
}

/// What an endpoint has brought.
pub struct Gathered {
    pub read: PageFindings,
    pub bytes: u64,
    pub detail: String,
    /// What the next visit remembers of the version of the data.
    pub memo: Option<Box<str>>,
}

/// What the door gives back to a visit.
pub enum End {
    /// The page is asked for, or stays as it was sent.
    AsSent,
    /// The data in place of the page.
    Data(Box<Gathered>),
    /// The page that was sent, with what its scripts or its data made of it.
    Made(Box<Made>),
    /// The visit ends without a page.
    NoPage(NoPage),
}

/// Why a visit ends without a page.
pub enum NoPage {
    /// Its data are what they were.
    NotModified,
    /// The page keeps its place, for so long at least.
    KeptBack { why: String, pause: Duration },
    /// The server of its data did not answer.
    Unanswered(String),
    /// The page came well, and does not show yet what it may show another time.
    Again(&'static str),
}

impl End {
    /// The page keeps its place, and may be asked for at once.
    #[must_use]
    pub fn kept_back(why: impl Into<String>) -> Self {
        Self::NoPage(NoPage::KeptBack { why: why.into(), pause: Duration::ZERO })
    }
}
