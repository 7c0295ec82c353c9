//! The body of a response, classified while it arrives.

use bytes::Bytes;

use super::ends::{done, failed, retried};
use crate::job::{Finished, Job};
use crate::site::Site;
use crate::{denial, limits, not_whole, refusal};
use gleaner_net::classify::{Classifier, Decision, DiscardReason, HeaderFacts};
use gleaner_net::fetch::body::{self, Read, Want};
use gleaner_net::fetch::{FetchFailure, Response, ResponseHeaders};
use gleaner_net::politeness::Answered;
use gleaner_rules::Class;
use gleaner_store::crawldb::Outcome;

/// What a body is.
pub(super) enum Body {
    /// It begins like a torrent. If its transfer failed, it counts only if it is whole by its own structure.
    Torrent(Bytes, Option<FetchFailure>),
    Page(Box<Page>),
    /// Nothing to read: the visit ends here.
    End(Box<Finished>),
}

/// A page, a feed or a sitemap as the server sent it.
pub(super) struct Page {
    pub headers: ResponseHeaders,
    pub bytes: Bytes,
    /// It goes on behind these bytes, beyond the limit of a page.
    pub is_cut: bool,
}

impl Page {
    fn whole(headers: ResponseHeaders, bytes: Bytes) -> Body {
        Body::Page(Box::new(Self { headers, bytes, is_cut: false }))
    }

    /// What the limit allows of a longer page.
    fn cut(headers: ResponseHeaders, bytes: &Bytes) -> Body {
        let bytes = bytes.slice(..bytes.len().min(limits::PAGE_BYTES_MAX));
        Body::Page(Box::new(Self { headers, bytes, is_cut: true }))
    }
}

/// Reads a body, as far as its kind requires.
pub(super) async fn read(site: &Site, job: &Job, response: Response) -> Body {
    let Response { headers, body, .. } = response;
    let mut classifier = Classifier::new(HeaderFacts {
        content_type: headers.content_type.as_deref(),
        disposition: headers.content_disposition.as_deref(),
        content_length: headers.content_length,
        accepts_pages: true,
    });
    let mut decision = Decision::NeedMore;
    let read = body::read(body, headers.content_length, &site.memory.bodies, |so_far, complete| {
        if decision == Decision::NeedMore {
            decision = classifier.feed(so_far, complete);
        }
        match decision {
            Decision::NeedMore => Want::UpTo(limits::TORRENT_JUNK_BYTES_MAX.max(limits::SNIFF_BYTES) * 2),
            Decision::Torrent => Want::UpTo(limits::TORRENT_BYTES_MAX),
            Decision::Page(_) | Decision::Discard(_) if job.class == Class::Sitemap => {
                Want::UpTo(limits::SITEMAP_BYTES_MAX)
            }
            Decision::Page(_) => Want::UpTo(limits::PAGE_BYTES_MAX),
            Decision::Discard(_) => Want::Stop,
        }
    })
    .await;
    let finished = match (read, decision) {
        (Read::Failed { bytes, failure }, decision) => match decision {
            Decision::NeedMore if classifier.feed(&bytes, true) == Decision::Torrent => {
                return Body::Torrent(bytes, Some(failure));
            }
            Decision::Torrent => return Body::Torrent(bytes, Some(failure)),
            _ => failed(site, job, &failure),
        },
        (Read::Stopped { bytes, over_cap: true }, Decision::Page(_))
            if !matches!(job.class, Class::Download | Class::Sitemap) =>
        {
            return Page::cut(headers, &bytes);
        }
        (Read::Stopped { over_cap: true, .. }, decision) => {
            let mut finished = done(site, job, Outcome::TooLarge);
            if matches!(decision, Decision::Page(_)) && job.class != Class::Download {
                finished.visit.not_whole =
                    Some(not_whole::reason("it exceeds the size limit of a page: none of its links were taken"));
            }
            finished
        }
        (Read::Whole(bytes), Decision::Torrent) => return Body::Torrent(bytes, None),
        (Read::Whole(bytes), _) if job.class == Class::Sitemap => return Page::whole(headers, bytes),
        (Read::Whole(bytes), Decision::Page(_)) => return Page::whole(headers, bytes),
        (Read::Whole(_) | Read::Stopped { .. }, Decision::Discard(DiscardReason::Empty))
            if headers.refresh.is_some() =>
        {
            return Page::whole(headers, Bytes::new());
        }
        // Some servers answer with nothing under load; a list or a torrent that is meant to be empty is rare.
        (Read::Whole(_) | Read::Stopped { .. }, Decision::Discard(DiscardReason::Empty))
            if job.class.is_target() || job.class.is_listing() =>
        {
            let mut finished = retried(site, job, Outcome::NotForUs, Some(refusal::EMPTY.to_owned()));
            finished.host.answered = Answered::Well;
            finished
        }
        (Read::Whole(_) | Read::Stopped { .. }, Decision::Discard(reason)) => {
            let outcome = match reason {
                DiscardReason::HtmlPosingAsTorrent => Outcome::HtmlPosingAsTorrent,
                DiscardReason::TooLarge => Outcome::TooLarge,
                _ => Outcome::NotForUs,
            };
            let mut finished = done(site, job, outcome);
            finished.detail = Some(reason.name().to_owned());
            finished.end.denied = denial::of_file(&site.rules, job, outcome);
            finished
        }
        (Read::Whole(_) | Read::Stopped { .. }, _) => done(site, job, Outcome::NotForUs),
    };
    Body::End(Box::new(finished))
}
