//! Responses in place of what was asked for: a wall of 403, a notice instead of a torrent, a redirect to one page. One of them may be
//! the URL's own end; a run of alike ones is the site's state ([`crate::walls`]). Pure.

use xxhash_rust::xxh3::xxh3_64;

use crate::job::Finished;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::told_url;
use gleaner_page::text;
use gleaner_rules::Class;
use gleaner_store::crawldb::Outcome;

/// What a response says about the URL that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It answered with what was asked for.
    Answered,
    /// It answered with something else: alike answers have one sign.
    Refused { sign: u64, told: String },
    /// The same, but a page that it leads to may lead on.
    LedOff { sign: u64, told: String },
    /// Neither: it failed, or is gone.
    Nothing,
}

/// Sorts a visit whose response is final.
#[must_use]
pub fn said(finished: &Finished) -> Said {
    let visit = &finished.visit;
    let detail = finished.detail.as_deref().unwrap_or_else(|| visit.outcome.name());
    let refused = |told: &str| Said::Refused { sign: sign_of(told), told: told.to_owned() };
    match visit.outcome {
        Outcome::TorrentStored | Outcome::TorrentDuplicate | Outcome::NotModified => Said::Answered,
        // A page, or a redirect, on the way to the torrent.
        Outcome::Redirected | Outcome::HtmlPosingAsTorrent if finished.end.leads_on || !visit.magnets.is_empty() => {
            Said::Answered
        }
        // The page of a status may name the URL that was asked for.
        Outcome::Denied | Outcome::ClientError => {
            let status = detail.split(WORDS).next().unwrap_or_default();
            Said::Refused { sign: sign_of(status), told: detail.to_owned() }
        }
        // A picture or an archive is what it is: attachments are of all kinds.
        Outcome::NotForUs if detail != EMPTY => Said::Nothing,
        // Numbers may count down.
        Outcome::HtmlPosingAsTorrent => {
            Said::Refused { sign: sign_of(&without_numbers(detail)), told: detail.to_owned() }
        }
        Outcome::NotForUs | Outcome::RedirectRefused => refused(detail),
        Outcome::Redirected if finished.job.class == Class::Download => {
            Said::LedOff { sign: sign_of(detail), told: detail.to_owned() }
        }
        Outcome::Page | Outcome::PageDuplicate => Said::Answered,
        _ => Said::Nothing,
    }
}

/// A redirect, by the path of its target: parameters often name the URL that was asked for.
#[must_use]
pub fn redirect_to(target: &CrawlUrl) -> String {
    let path = target.path().split(['?', ';']).next().unwrap_or_default();
    format!("a redirect to {}", told_url(&format!("{}{path}", target.origin())))
}

/// Alike answers have one sign.
#[must_use]
pub fn sign_of(told: &str) -> u64 {
    xxh3_64(told.as_bytes())
}

/// Why a visit ended whose response had no body.
pub const EMPTY: &str = "an empty response";

/// What stands between a status and the words of its page.
const WORDS: &str = ": ";

/// A status, with the first words of its page.
#[must_use]
pub fn by_status(status: u16, words: &str) -> String {
    if words.is_empty() { format!("status {status}") } else { format!("status {status}{WORDS}\u{201c}{words}\u{201d}") }
}

/// A page in place of a torrent, with its first words.
#[must_use]
pub fn in_place_of_torrent(page: &str) -> String {
    format!("a page in place of a torrent: \u{201c}{}\u{201d}", first_words(page))
}

fn without_numbers(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.contains(|of: char| of.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// The title and first words of a page.
#[must_use]
pub fn first_words(page: &str) -> String {
    let text = text::visible(page, limits::NOTICE_BYTES_READ);
    let mut words = String::new();
    for word in text.split_whitespace() {
        if words.chars().count() + word.chars().count() > limits::NOTICE_CHARACTERS {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

#[cfg(test)]
mod tests;
