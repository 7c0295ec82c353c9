//! What the next visit of a URL needs to know of the version that this one read: the validators of the response, a fingerprint of its
//! content, and the rules that its links were taken by. Other rules may take other links of the same page, so it is then requested
//! unconditionally.

use gleaner_net::fetch::{ResponseHeaders, Validators};
use gleaner_page::noise::{Basis, Fingerprint};

/// Fingerprint that a recheck stores in the memo of its URL for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print {
    pub page: Fingerprint,
    /// Hash of the links that the fingerprint does not cover.
    pub rest: u64,
    /// Hash of the links that the rules accept.
    pub found: u64,
}

const BASES: [Basis; 4] = [Basis::Content, Basis::NoiseIsContent, Basis::NoMarkup, Basis::TooLong];

impl Print {
    /// Formats it as one line of text.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { page: Fingerprint { hash, epoch, basis }, rest, found } = self;
        let basis = BASES.iter().position(|known| known == basis).unwrap_or_default();
        format!("{hash:x} {epoch:x} {basis} {rest:x} {found:x}")
    }

    /// Parses the line; `None` for any other.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let &[hash, epoch, basis, rest, found] = words.as_slice() else { return None };
        let number = |word: &str| u64::from_str_radix(word, 16).ok();
        let basis = *BASES.get(basis.parse::<usize>().ok()?)?;
        let page = Fingerprint { hash: number(hash)?, epoch: number(epoch)?, basis };
        Some(Self { page, rest: number(rest)?, found: number(found)? })
    }
}

/// The memo of a response: token of the rules, ETag, Last-Modified, and the fingerprint if there is one, a line each. None if the
/// response names no version and has no fingerprint.
#[must_use]
pub fn memo(headers: &ResponseHeaders, rules_token: u64, print: Option<&str>) -> Option<Box<str>> {
    let line =
        |value: &Option<String>| value.as_deref().filter(|text| !text.contains('\n')).unwrap_or_default().to_owned();
    let (etag, last_modified) = (line(&headers.etag), line(&headers.last_modified));
    let print = print.map(|print| format!("\n{print}")).unwrap_or_default();
    (!etag.is_empty() || !last_modified.is_empty() || !print.is_empty())
        .then(|| format!("{rules_token:016x}\n{etag}\n{last_modified}{print}").into())
}

/// The memo of a page of a list that is not rechecked: a hash of the content of its rows.
#[must_use]
pub fn memo_of_rows(said: u64, rules_token: u64) -> Box<str> {
    format!("{rules_token:016x}\n\n\n\n{said:016x}").into()
}

/// The hash in a memo of [`memo_of_rows`] that was made under the same rules.
#[must_use]
pub fn said(memo: &str, rules_token: u64) -> Option<u64> {
    let mut lines = memo.split('\n');
    let token = u64::from_str_radix(lines.next()?, 16).ok()?;
    let said = lines.nth(3)?;
    u64::from_str_radix(said, 16).ok().filter(|_| token == rules_token)
}

/// The fingerprint in a memo that was made under the same rules.
#[must_use]
pub fn print(memo: &str, rules_token: u64) -> Option<&str> {
    let mut lines = memo.split('\n');
    let token = u64::from_str_radix(lines.next()?, 16).ok()?;
    lines.nth(2).filter(|_| token == rules_token)
}

/// The validators in a memo that was made under the same rules.
#[must_use]
pub fn read(memo: &str, rules_token: u64) -> Option<Validators> {
    let mut lines = memo.split('\n');
    let token = u64::from_str_radix(lines.next()?, 16).ok()?;
    let mut next = || lines.next().filter(|text| !text.is_empty()).map(Into::into);
    let validators = Validators { etag: next(), last_modified: next() };
    (token == rules_token && validators != Validators::default()).then_some(validators)
}

#[cfg(test)]
mod tests;
