//! Waiting times: what the server asked for, and our own back-off if it names none.

use std::time::Duration;

use crate::limits;
use gleaner_base::clock::UnixMillis;

const THROTTLED_FIRST: Duration = Duration::from_secs(10);
const UNREACHABLE_FIRST: Duration = Duration::from_secs(1);
const RETRY_FIRST: Duration = Duration::from_secs(1);

/// End of the pause after the n-th consecutive complaint (n ≥ 1): 10 s, doubled each time, at most an hour.
#[must_use]
pub fn throttled_until(complaints: u32, now: UnixMillis) -> UnixMillis {
    now.plus(doubled(THROTTLED_FIRST, complaints, limits::THROTTLED_PAUSE_MAX))
}

/// End of the pause after the n-th consecutive request without a response: 1 s, doubled each time, at most ten
/// minutes.
#[must_use]
pub fn unreachable_until(complaints: u32, now: UnixMillis) -> UnixMillis {
    now.plus(doubled(UNREACHABLE_FIRST, complaints, limits::UNREACHABLE_PAUSE_MAX))
}

/// When a URL is retried after its n-th failed attempt (n ≥ 1): after 1 s, 4 s, 16 s, …; None after the last.
#[must_use]
pub fn retry_at(attempts: u8, now: UnixMillis) -> Option<UnixMillis> {
    (attempts < limits::ATTEMPTS_MAX).then(|| now.plus(RETRY_FIRST * 4_u32.pow(u32::from(attempts.max(1)) - 1)))
}

fn doubled(first: Duration, times: u32, max: Duration) -> Duration {
    first.saturating_mul(1_u32 << times.saturating_sub(1).min(20)).min(max)
}

/// The time of a `Retry-After` value: seconds from now, or a date (RFC 9110 §10.2.3). None for anything else; capped
/// at `limits::RETRY_AFTER_MAX` from now.
#[must_use]
pub fn retry_after(value: &str, now: UnixMillis) -> Option<UnixMillis> {
    Some(asked_until(value, now)?.min(now.plus(limits::RETRY_AFTER_MAX)))
}

/// True for a `Retry-After` value that asks for more than `limits::RETRY_AFTER_MAX`.
#[must_use]
pub fn is_capped(value: &str, now: UnixMillis) -> bool {
    asked_until(value, now).is_some_and(|until| until > now.plus(limits::RETRY_AFTER_MAX))
}

fn asked_until(value: &str, now: UnixMillis) -> Option<UnixMillis> {
    let value = value.trim();
    Some(if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        now.plus(Duration::from_secs(value.parse().unwrap_or(u64::MAX / 2_000)))
    } else {
        http_date(value)?
    })
}

/// An IMF-fixdate or one of the two obsolete forms that RFC 9110 §5.6.7 requires recipients to accept.
fn http_date(text: &str) -> Option<UnixMillis> {
    use time::macros::format_description as form;
    let with_year = |text: &str| {
        time::PrimitiveDateTime::parse(
            text,
            form!("[day padding:none] [month repr:short] [year] [hour]:[minute]:[second]"),
        )
        .ok()
    };
    let at = if let Some((_, rest)) = text.split_once(", ") {
        let rest = rest.strip_suffix(" GMT").or_else(|| rest.strip_suffix(" UTC"))?;
        match rest.split_once('-') {
            // Sunday, 06-Nov-94 08:49:37 GMT
            Some((day, rest)) => {
                let (month, rest) = rest.split_once('-')?;
                let (year, clock) = rest.split_once(' ')?;
                // Two digits mean the nearer century; some servers write all four.
                let year = match year.parse::<u16>().ok()? {
                    year @ 0..70 => 2000 + year,
                    year @ 70..100 => 1900 + year,
                    year => year,
                };
                with_year(&format!("{day} {month} {year} {clock}"))?
            }
            // Sun, 06 Nov 1994 08:49:37 GMT
            None => with_year(rest)?,
        }
    } else {
        // Sun Nov  6 08:49:37 1994
        let mut words = text.split_whitespace().skip(1);
        let (month, day, clock, year) = (words.next()?, words.next()?, words.next()?, words.next()?);
        with_year(&format!("{day} {month} {year} {clock}"))?
    };
    u64::try_from(at.assume_utc().unix_timestamp()).ok().map(|seconds| UnixMillis(seconds.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests;
