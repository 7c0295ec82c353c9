//! What is never asked for (LEARNING §14.2): actions, log-outs, tokens of a session, other files than torrents. The crawl's own guard judges
//! ([`gleaner_rules::acts`], [`gleaner_frontier::tokens`]); here it stands before guests as well.

use gleaner_frontier::tokens::Tokens;
use gleaner_rules::{ActSign, acts, ends_session, gives_torrent, is_router, parameters};

use crate::parts::{Parts, is_program};
use crate::prior::is_payload;

gleaner_base::topics! { address: PRIVATE; }

/// Why a URL is not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    Acts(ActSign),
    EndsSession,
    Payload,
    /// It is a page of the account itself.
    Private,
    Robots,
    /// It is not below the folder of the start URL.
    Outside,
    /// It shows a folder's listing by another column.
    Sorted,
}

impl Refused {
    /// The reason in words.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Acts(sign) => sign.sentence(),
            Self::EndsSession => "it ends the session",
            Self::Payload => "it is neither a page nor a torrent",
            Self::Private => "it is a page of the account itself",
            Self::Robots => "robots.txt closes it",
            Self::Outside => "it is not below the folder of the start URL",
            Self::Sorted => "it is the listing of a folder in another order",
        }
    }
}

/// Pages after which tokens are known well enough.
const PAGES_READ: usize = 5;

/// Bytes of a hexadecimal value that may be a token.
const TOKEN_BYTES_MIN: usize = 16;

/// Why a URL, given as path and query, must not be asked for. `asks` says that its page asks first.
#[must_use]
pub fn refused(path_and_query: &str, asks: bool, tokens: &Tokens) -> Option<Refused> {
    if ends_session(path_and_query) {
        return Some(Refused::EndsSession);
    }
    if is_payload(path_and_query) {
        return Some(Refused::Payload);
    }
    if let Some(sign) = acts(path_and_query, None) {
        return Some(Refused::Acts(sign));
    }
    if asks && !gives_torrent(path_and_query) {
        return Some(Refused::Acts(ActSign::Page));
    }
    if is_private(path_and_query) {
        return Some(Refused::Private);
    }
    if is_sorted(path_and_query) {
        return Some(Refused::Sorted);
    }
    tokens.are_in(path_and_query).then_some(Refused::Acts(ActSign::Token))
}

/// True for a page of the account itself, where a visit may change something: its messages, its bonus, what it may upload.
fn is_private(path_and_query: &str) -> bool {
    let parts = Parts::of(path_and_query);
    let has = |text: &str| PRIVATE.has(&text.to_ascii_lowercase());
    let is_script = |extension: &str| is_program(extension) || matches!(extension, "" | ".html" | ".htm");
    if gives_torrent(path_and_query) {
        return false;
    }
    parts.segments.iter().any(|(stem, extension)| is_script(extension) && has(stem))
        || parts.pairs.iter().any(|(key, value)| is_router(key) && has(value))
}

/// True for the listing of a folder by one of its columns, as Apache links to it: `?C=M;O=A`, in old versions `?M=A`.
fn is_sorted(path_and_query: &str) -> bool {
    let Some((path, query)) = path_and_query.split_once('?') else { return false };
    let is = |part: &str, key: &str, values: &str| {
        part.split_once('=').is_some_and(|(own, value)| {
            key.contains(own) && own.len() == 1 && value.len() == 1 && values.contains(value)
        })
    };
    let parts: Vec<&str> = query.split([';', '&']).collect();
    path.ends_with('/')
        && match parts.as_slice() {
            [column, order] => is(column, "C", "NMSD") && is(order, "O", "AD"),
            [both] => is(both, "NMSD", "AD"),
            _ => false,
        }
}

/// True for a URL that may carry a token while too few pages were read to know.
#[must_use]
pub fn waits(path_and_query: &str, pages: usize) -> bool {
    let query = path_and_query.split_once('?').map_or("", |(_, query)| query);
    let is_hex = |value: &str| value.len() >= TOKEN_BYTES_MIN && value.bytes().all(|of| of.is_ascii_hexdigit());
    pages < PAGES_READ
        && parameters(query).count() > 1
        && parameters(query).any(|(_, value)| value.is_some_and(|value| is_hex(&value)))
        && !gives_torrent(path_and_query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_refused_and_what_reads_is_not() {
        let tokens = Tokens::default();
        for path in [
            "/member.php?mod=logging&action=logout&formhash=ab12cd34",
            "/index.php?action=notifytopic;topic=5.0",
            "/posting.php?mode=reply&t=5",
            "/viewtopic.php?t=5&watch=topic",
            "/a/b.iso",
            "/bookmarks.php?action=add&id=5",
            "/thanks.php?id=5",
            "/pub/iso/?C=M;O=A",
            "/pub/iso/?C=N&O=D",
            "/pub/iso/?S=D",
        ] {
            assert!(refused(path, false, &tokens).is_some(), "{path}");
        }
        for path in [
            "/viewtopic.php?t=5",
            "/download.php?id=5&passkey=0123456789abcdef",
            "/torrents.php?page=2",
            "/details.php?id=5&hit=1",
            "/pub/?C=5;O=D",
            "/list?C=M;O=A",
            "/pub/?page=2",
        ] {
            assert_eq!(refused(path, false, &tokens), None, "{path}");
        }
        assert!(refused("/act/17", true, &tokens).is_some());
        assert!(waits("/x.php?id=5&k=0123456789abcdef", 1) && !waits("/x.php?id=5&k=0123456789abcdef", 9));
    }
}
