//! Decides from the response of a torrent's URL whether the torrent still exists (ALGORITHMS §7). `gone` stores what it is compared with.

use encoding_rs::Encoding;

use super::Fresh;
use super::gone::{hash, why_name};
use crate::freshness::Between;
use crate::freshness::gone::{Answer, Gone, Presence, Sign, Turn, Why, sign};
use crate::job::{Finished, Found, Job, PageFindings};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::fingerprint::Sketch;
use gleaner_page::text;
use gleaner_rules::{Class, SiteRules};
use gleaner_store::crawldb::{Next, Outcome};

/// First line of a memo that stores a sign of absence for the next recheck.
const MEMO: &str = "gone\n";

/// Bytes of a page that are searched for phrases: heads and menus come first.
const HEAD_BYTES: usize = 256 << 10;

/// What a recheck of a torrent's page says of its presence.
pub enum PresenceResult {
    /// Nothing, or that it exists.
    Nothing,
    /// A sign that it is gone, to be confirmed at this time.
    Sign(Presence, UnixMillis),
    Gone(Gone),
}

/// A status of 404 or 410, which is accepted at once.
#[must_use]
pub fn of_status(fresh: &Fresh, job: &Job, status: u16, now: UnixMillis) -> Gone {
    let why = Why::Status(status);
    let mut presence = presence(job);
    if let Turn::Gone(gone) = presence.look(Sign::Absent(why), now) {
        return Gone { why, ..gone };
    }
    let unlisted = fresh.gone.is_unlisted(hash(job.url.as_str()));
    Gone { since: unlisted.map_or(Between { from: now, until: now }, |gone| gone.since), why }
}

/// A redirect of a torrent whose row has vanished: if it leads to the start page, or to a list, the torrent is gone.
#[must_use]
pub fn of_redirect(fresh: &Fresh, rules: &SiteRules, job: &Job, to: &Found) -> Option<Gone> {
    let unlisted = fresh.gone.is_unlisted(hash(job.url.as_str()))?;
    let is_start = rules.start.iter().any(|start| start.as_str() == to.url.as_str());
    (job.class.is_target() && (is_start || to.class.is_listing())).then_some(Gone { why: Why::Redirected, ..unlisted })
}

/// What a page says of its torrent.
#[must_use]
pub fn of_page(
    fresh: &Fresh,
    rules: &SiteRules,
    job: &Job,
    read: &PageFindings,
    (headers, body): (&ResponseHeaders, &[u8]),
    now: UnixMillis,
) -> PresenceResult {
    if !job.class.is_target() {
        return PresenceResult::Nothing;
    }
    let url = hash(job.url.as_str());
    let has_torrent = !read.magnets.is_empty() || read.found.iter().any(|found| found.class == Class::Download);
    if has_torrent || read.denied.is_some() {
        if has_torrent {
            if job.class == Class::Detail {
                fresh.gone.has_one();
            }
            if job.class == Class::Thread {
                fresh.lists.holds(url);
            }
            fresh.gone.is_there(url);
        }
        return PresenceResult::Nothing;
    }
    let encoding = charset::detect(headers.content_type.as_deref(), body, rules.charset.map(Encoding::name));
    let head = &body[..body.len().min(HEAD_BYTES)];
    let seen = text::visible(&encoding.decode(head).0, HEAD_BYTES);
    let unlisted = fresh.gone.is_unlisted(url);
    // A thread that had its torrent on this page, and whose row has vanished as well, has lost it, whatever its text says.
    let has_lost_it = unlisted.is_some() && job.class == Class::Thread && fresh.lists.held(url);
    let is_talk = job.class == Class::Thread && seen.trim().len() > limits::GONE_THREAD_TEXT_BYTES_MAX;
    if (is_talk && !has_lost_it) || names_infohash(&seen) {
        fresh.gone.is_there(url);
        return PresenceResult::Nothing;
    }
    let sketch = (job.class == Class::Detail).then(|| Sketch::of(head)).filter(|sketch| !sketch.is_empty());
    let mut presence = presence(job);
    let is_second = presence.confirm_at().is_some();
    let not_found = sketch.as_ref().map(|sketch| fresh.gone.stranger(url, sketch, is_second)).unwrap_or_default();
    let answer = Answer {
        status: 200,
        landing: None,
        text: &seen,
        sketch: sketch.as_ref(),
        has_torrent,
        is_of_guest: false,
        is_whole: true,
    };
    let sign = sign(&answer, &not_found, None);
    if let Some(unlisted) = unlisted {
        // Its row has been missing from its list for hours: that was the first sign.
        return match sign {
            Sign::Absent(why) => PresenceResult::Gone(Gone { why, ..unlisted }),
            _ if job.class == Class::Thread && !has_lost_it => {
                fresh.gone.is_there(url);
                PresenceResult::Nothing
            }
            _ => PresenceResult::Gone(unlisted),
        };
    }
    match (presence.look(sign, now), presence.confirm_at()) {
        (Turn::Gone(gone), _) => PresenceResult::Gone(gone),
        (_, Some(at)) if matches!(sign, Sign::Absent(_)) => PresenceResult::Sign(presence, at),
        _ => PresenceResult::Nothing,
    }
}

/// True if a word is an infohash in hexadecimal digits.
fn names_infohash(text: &str) -> bool {
    let is_infohash = |word: &str| matches!(word.len(), 40 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_infohash)
}

/// The sign that earlier rechecks stored in the memo.
fn presence(job: &Job) -> Presence {
    let memo = job.lease.memo.as_deref().and_then(|memo| memo.strip_prefix(MEMO));
    memo.and_then(|memo| serde_json::from_str(memo).ok()).unwrap_or_default()
}

/// Applies the result to a visit.
pub fn apply(look: PresenceResult, finished: &mut Finished) {
    match look {
        PresenceResult::Nothing => {}
        PresenceResult::Sign(presence, at) => {
            finished.visit.next = Next::RevisitAt(at);
            finished.visit.memo = serde_json::to_string(&presence).ok().map(|text| format!("{MEMO}{text}").into());
            finished.detail = Some("seems to be gone: it is rechecked".to_owned());
        }
        PresenceResult::Gone(gone) => {
            finished.visit.outcome = Outcome::Gone;
            finished.end.may_hold_more = false;
            finished.detail = Some(why_name(gone.why));
            finished.end.gone = Some(gone);
        }
    }
}
