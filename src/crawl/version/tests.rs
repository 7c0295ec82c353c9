//! Unit tests of `version`.

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
