//! Pages that were not read completely, with the reason: it is stored with the visit, and summary, `status` and `coverage` report it, since
//! no figure contains what the rest of such a page lists.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits;
use gleaner_base::url::without_keys;
use gleaner_login::secret::told_words;
use gleaner_rules::Class;
use gleaner_store::crawldb::{Next, Outcome, Visit};

/// Why the page of one visit was not read completely: the first reason.
#[derive(Debug, Default)]
pub struct NotWhole(Mutex<Option<Box<str>>>);

/// How the reason begins where `deny` closes the rest of a list.
pub const CLOSED_PAGER: &str = "its later pages are closed by";

impl NotWhole {
    fn why(&self) -> MutexGuard<'_, Option<Box<str>>> {
        // One value, consistent at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that part of the page is left out. Only the first reason is kept.
    pub fn tell(&self, why: &str) {
        self.why().get_or_insert_with(|| reason(why));
    }

    /// The reason; the page counts as read completely from then on.
    pub fn take(&self) -> Option<Box<str>> {
        self.why().take()
    }
}

/// The reason for a page that was never read, however often it was requested. A torrent's file is no page: its link is counted on its page.
#[must_use]
pub fn of_end(visit: &Visit, class: Class, detail: Option<&str>) -> Option<Box<str>> {
    let is_start = visit.depth == 0;
    let is_refused = match visit.outcome {
        Outcome::Denied
        | Outcome::ClientError
        | Outcome::RedirectRefused
        | Outcome::BadRedirect
        | Outcome::RedirectLoop
        | Outcome::NotForUs => is_start || class.is_listing(),
        Outcome::Gone => is_start,
        _ => false,
    };
    if is_refused {
        return Some(reason(detail.unwrap_or_else(|| visit.outcome.name())));
    }
    let is_trouble = matches!(
        visit.outcome,
        Outcome::ServerError | Outcome::Throttled | Outcome::TimedOut | Outcome::Truncated | Outcome::ProtocolError
    );
    let is_given_up = is_trouble && visit.next == Next::Done && class != Class::Download;
    is_given_up.then(|| reason(&format!("it was given up; the last answer was {}", visit.outcome.name())))
}

/// A reason as it is stored: scripts put arbitrary text into their errors, so members' keys and possible tokens are masked, and long
/// text is cut.
#[must_use]
pub fn reason(why: &str) -> Box<str> {
    let words = why.split_whitespace().map(without_keys).collect::<Vec<_>>().join(" ");
    let told = told_words(&words);
    told[..told.floor_char_boundary(limits::NOT_WHOLE_REASON_BYTES_MAX)].into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::put_aside;
    use gleaner_base::clock::UnixMillis;
    use gleaner_base::url::MASK;
    use gleaner_store::crawldb::{HostId, Lease, UrlKey};

    #[test]
    fn a_page_that_is_given_up_is_not_read_whole_and_one_that_is_tried_again_or_is_no_page_is_none() {
        let key = UrlKey { host: HostId(1), path: "/".into() };
        let (deadline, via, memo) = (UnixMillis(0), None, None);
        let lease = Lease { key, depth: 0, rank: 0, attempts: 4, via, memo, deadline, found: None, seq: 0 };
        let mut visit = put_aside(&lease, Outcome::ServerError, UnixMillis(1)).visit;
        let told = of_end(&visit, Class::Index, None);
        assert_eq!(told.as_deref(), Some("it was given up; the last answer was server_error"));
        assert_eq!(of_end(&visit, Class::Download, None), None);
        visit.next = Next::RetryAt(UnixMillis(9));
        assert_eq!(of_end(&visit, Class::Index, None), None);
        let refused = put_aside(&lease, Outcome::Denied, UnixMillis(1)).visit;
        assert_eq!(of_end(&refused, Class::Page, Some("status 403")).as_deref(), Some("status 403"), "a start page");
        let deep = Lease { depth: 1, ..lease };
        let refused = put_aside(&deep, Outcome::Denied, UnixMillis(1)).visit;
        assert_eq!(of_end(&refused, Class::Index, None).as_deref(), Some("denied"), "a list");
        assert_eq!(of_end(&refused, Class::Detail, None), None, "one of many");
        for outcome in [Outcome::Page, Outcome::Gone, Outcome::NotModified] {
            assert_eq!(
                of_end(&put_aside(&deep, outcome, UnixMillis(1)).visit, Class::Index, None),
                None,
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn a_reason_is_a_line_without_keys_and_tokens_and_the_first_one_stands() {
        let not_whole = NotWhole::default();
        assert_eq!(not_whole.take(), None);
        not_whole.tell(
            "its scripts ended early:\n  no answer of http://a/api?page=2&passkey=abc for eyJhbGciOiJIUzI1NiJ9.x1",
        );
        not_whole.tell("it had more to show");
        let told = format!("its scripts ended early: no answer of http://a/api?page=2&passkey={MASK} for {MASK}");
        assert_eq!(not_whole.take().as_deref(), Some(&*told));
        assert_eq!(not_whole.take(), None);
        assert_eq!(reason(&"ü".repeat(999)).len(), limits::NOT_WHOLE_REASON_BYTES_MAX);
        let own =
            "it had more requests than its time allows; a higher `requests_per_second` in the rule file loads more";
        assert_eq!(&*reason(own), own);
    }
}
