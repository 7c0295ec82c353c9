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
mod tests {
    use super::*;

    fn headers(etag: &str, last_modified: &str) -> ResponseHeaders {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ResponseHeaders { etag: some(etag), last_modified: some(last_modified), ..ResponseHeaders::default() }
    }

    #[test]
    fn a_memo_gives_its_validators_back_under_the_same_rules_only() {
        let memo = memo(&headers("W/\"a\"", "Sat, 21 Nov 2026 08:00:00 GMT"), 7, Some("1 2 3")).unwrap();
        let read_back = read(&memo, 7).unwrap();
        assert_eq!(read_back.etag.as_deref(), Some("W/\"a\""));
        assert_eq!(read_back.last_modified.as_deref(), Some("Sat, 21 Nov 2026 08:00:00 GMT"));
        assert_eq!(read(&memo, 8), None);
        assert_eq!((print(&memo, 7), print(&memo, 8)), (Some("1 2 3"), None));
    }

    #[test]
    fn what_rows_said_is_read_back_and_is_no_version() {
        let memo = memo_of_rows(u64::MAX, 7);
        assert_eq!((said(&memo, 7), said(&memo, 8)), (Some(u64::MAX), None));
        assert_eq!((read(&memo, 7), print(&memo, 7)), (None, Some("")));
        let versioned = super::memo(&headers("a", "b"), 7, Some("1 2 3")).unwrap();
        assert_eq!(said(&versioned, 7), None);
    }

    #[test]
    fn an_answer_without_a_version_leaves_no_memo_and_a_broken_memo_gives_none() {
        assert_eq!(memo(&headers("", ""), 7, None), None);
        assert_eq!(read(&memo(&headers("", "x"), 7, None).unwrap(), 7).unwrap().etag, None);
        let unversioned = memo(&headers("", ""), 7, Some("p")).unwrap();
        assert_eq!((read(&unversioned, 7), print(&unversioned, 7)), (None, Some("p")));
        assert_eq!(print(&memo(&headers("a", "b"), 7, None).unwrap(), 7), None);
        for broken in ["", "\n\n", "zz\na\nb", "0000000000000007", "0000000000000007\n\n"] {
            assert_eq!(read(broken, 7), None, "{broken:?}");
        }
    }

    #[test]
    fn a_print_gives_itself_back_and_other_lines_give_none() {
        let page = Fingerprint { hash: u64::MAX, epoch: 3, basis: Basis::NoiseIsContent };
        let print = Print { page, rest: 7, found: 0 };
        assert_eq!(Print::read(&print.line()), Some(print));
        for other in ["", "1 2 3 4", "1 2 3 4 5 6", "1 2 9 4 5", "x 0 0 0 0"] {
            assert_eq!(Print::read(other), None, "{other:?}");
        }
    }
}
