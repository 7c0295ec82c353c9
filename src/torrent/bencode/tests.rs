//! The scanner compared with a naive recursive reference, and tested on bombs.

use proptest::prelude::*;

use super::*;

/// The definition of bencode, written recursively. The scanner must agree with it.
fn reference_end(bytes: &[u8], at: usize, depth: usize) -> Option<usize> {
    if depth > 50 {
        return None;
    }
    match *bytes.get(at)? {
        b'i' => {
            let end = at + bytes[at..].iter().position(|&byte| byte == b'e')?;
            let digits = bytes[at + 1..end].strip_prefix(b"-").unwrap_or(&bytes[at + 1..end]);
            (!digits.is_empty() && digits.len() <= 20 && digits.iter().all(u8::is_ascii_digit)).then_some(end + 1)
        }
        kind @ (b'l' | b'd') => {
            let mut at = at + 1;
            while *bytes.get(at)? != b'e' {
                if kind == b'd' {
                    if !bytes[at].is_ascii_digit() {
                        return None;
                    }
                    at = reference_end(bytes, at, depth + 1)?;
                }
                at = reference_end(bytes, at, depth + 1)?;
            }
            Some(at + 1)
        }
        b'0'..=b'9' => {
            let colon = at + bytes[at..].iter().position(|&byte| byte == b':')?;
            let digits = &bytes[at..colon];
            if digits.len() > 16 || !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
            let end = (colon + 1).checked_add(length)?;
            (end <= bytes.len()).then_some(end)
        }
        _ => None,
    }
}

fn bencode() -> impl Strategy<Value = Vec<u8>> {
    let string = prop::collection::vec(any::<u8>(), 0..24).prop_map(|content| encode_string(&content));
    let integer = any::<i64>().prop_map(|number| format!("i{number}e").into_bytes());
    let value = prop_oneof![string, integer].prop_recursive(6, 64, 8, |inner| {
        let key = prop::collection::vec(any::<u8>(), 0..6);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(|items| [b"l", &items.concat()[..], b"e"].concat()),
            prop::collection::vec((key, inner), 0..8).prop_map(|items| encode_dict(&items)),
        ]
    });
    let key = prop::collection::vec(any::<u8>(), 0..6);
    prop::collection::vec((key, value), 0..8).prop_map(|items| encode_dict(&items))
}

fn encode_string(content: &[u8]) -> Vec<u8> {
    [format!("{}:", content.len()).as_bytes(), content].concat()
}

fn encode_dict(items: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"d".to_vec();
    for (key, value) in items {
        out.extend(encode_string(key));
        out.extend(value);
    }
    out.push(b'e');
    out
}

proptest! {
    #[test]
    fn the_scanner_agrees_with_the_recursive_reference(bytes in bencode(), junk in prop::collection::vec(any::<u8>(), 0..9)) {
        let sent = [&bytes[..], &junk].concat();
        let spans = scan_dictionary(&sent).unwrap();
        prop_assert_eq!(Some(spans.len), reference_end(&sent, 0, 0));
        prop_assert_eq!(spans.len, bytes.len());
        for (key, value) in spans.entries() {
            prop_assert_eq!(reference_end(&sent, value.start, 0), Some(value.end));
            prop_assert_eq!(key.end, value.start);
        }
        let read: Vec<_> = Value::read(&sent).and_then(Value::as_dict).unwrap().entries().map(|(key, _)| key).collect();
        let spanned: Vec<_> = spans.entries().map(|(key, _)| &sent[key]).collect();
        prop_assert_eq!(read, spanned);
    }

    #[test]
    fn damaged_bencode_is_refused_where_the_reference_refuses_it(
        mut bytes in bencode(), at in any::<prop::sample::Index>(), new in prop::sample::select(&b"del0123456789:-i\0x"[..]),
    ) {
        let at = at.index(bytes.len());
        bytes[at] = new;
        let ours = scan_dictionary(&bytes).map(|spans| spans.len).ok();
        let reference = (bytes.first() == Some(&b'd')).then(|| reference_end(&bytes, 0, 0)).flatten();
        prop_assert_eq!(ours, reference);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(prop::sample::select(&b"delli0123456789:-ab"[..]), 0..200)) {
        if let Ok(spans) = scan_dictionary(&bytes) {
            prop_assert!(spans.len <= bytes.len());
            let _ = is_canonical(&bytes[..spans.len]);
        }
        let at_least_it_ends = Value::read(&bytes).and_then(Value::as_dict).map(|dict| dict.entries().count());
        prop_assert!(at_least_it_ends.is_none_or(|count| count <= bytes.len()));
    }
}

fn fault(bytes: &[u8]) -> (usize, BencodeFault) {
    let error = scan_dictionary(bytes).unwrap_err();
    (error.at, error.fault)
}

#[test]
fn faults_name_their_byte() {
    use BencodeFault::*;
    assert_eq!(fault(b""), (0, UnexpectedEnd));
    assert_eq!(fault(b"<html>"), (0, ExpectedDictionary));
    assert_eq!(fault(b"d1:a"), (4, UnexpectedEnd));
    assert_eq!(fault(b"di1ei1ee"), (1, ExpectedKey));
    assert_eq!(fault(b"d1:ae"), (4, ExpectedValue));
    assert_eq!(fault(b"d1:ali1exee"), (8, ExpectedValue));
    assert_eq!(fault(b"d1:ai-ee"), (6, ExpectedDigit));
    assert_eq!(fault(b"d8:announcement to all"), (11, ExpectedValue));
    assert_eq!(fault(b"d1:a99999999999:x"), (4, UnexpectedEnd));
    assert_eq!(fault(b"d1:ai123456789012345678901ee"), (4, IntegerTooLong));
    assert_eq!(fault(b"d1:a00000000000000001:xe"), (4, LengthTooLong));
}

#[test]
fn a_depth_bomb_is_refused_at_the_cap() {
    let bomb = [b"d1:a".to_vec(), vec![b'l'; 4 << 20]].concat();
    assert_eq!(fault(&bomb), (4 + BENCODE_DEPTH_MAX - 2, BencodeFault::TooDeep));
    let deepest = |levels: usize| [b"d1:a".to_vec(), vec![b'l'; levels], vec![b'e'; levels + 1]].concat();
    assert!(scan_dictionary(&deepest(BENCODE_DEPTH_MAX - 2)).is_ok());
    assert!(scan_dictionary(&deepest(BENCODE_DEPTH_MAX - 1)).is_err());
}

#[test]
fn a_token_bomb_is_refused_at_the_cap() {
    let bomb = [b"d1:al".to_vec(), b"0:".repeat(BENCODE_TOKENS_MAX), b"ee".to_vec()].concat();
    assert_eq!(fault(&bomb).1, BencodeFault::TooManyTokens);
    let below = [b"d1:al".to_vec(), b"0:".repeat(BENCODE_TOKENS_MAX - 10), b"ee".to_vec()].concat();
    assert!(scan_dictionary(&below).is_ok());
}

#[test]
fn a_key_bomb_is_refused_at_the_cap() {
    let keys = |count: usize| [b"d".to_vec(), b"0:0:".repeat(count), b"e".to_vec()].concat();
    assert!(scan_dictionary(&keys(DICTIONARY_KEYS_MAX)).is_ok());
    assert_eq!(fault(&keys(DICTIONARY_KEYS_MAX + 1)), (5 + 4 * DICTIONARY_KEYS_MAX, BencodeFault::TooManyKeys));
}

#[test]
fn the_first_of_repeated_keys_counts() {
    let bytes = b"d1:ai1e1:ai2ee";
    let spans = scan_dictionary(bytes).unwrap();
    assert_eq!(spans.find(bytes, b"a").map(|span| &bytes[span]), Some(&b"i1e"[..]));
    assert_eq!(Value::read(bytes).and_then(Value::as_dict).and_then(|dict| dict.find(b"a")?.as_integer()), Some(1));
}

#[test]
fn integers_that_do_not_fit_read_as_zero() {
    let read = |bytes: &'static [u8]| Value::read(bytes).and_then(Value::as_integer);
    assert_eq!(read(b"i9223372036854775807e"), Some(i64::MAX));
    assert_eq!(read(b"i9223372036854775808e"), Some(0));
    assert_eq!(read(b"i-12e"), Some(-12));
    assert_eq!(read(b"i007e"), Some(7));
}

#[test]
fn canonical_form_is_checked_at_every_level() {
    assert!(is_canonical(b"d1:ad1:bi0e1:cl0:eee"));
    assert!(!is_canonical(b"d1:ad1:ci0e1:bi0eee"), "unsorted");
    assert!(!is_canonical(b"d1:ai0e1:ai0ee"), "repeated");
    assert!(!is_canonical(b"d1:ali00eee"), "leading zero in an integer");
    assert!(!is_canonical(b"d1:a01:be"), "leading zero in a length");
    assert!(!is_canonical(b"d01:a1:be"), "leading zero in a key's length");
    assert!(!is_canonical(b"d1:a"), "truncated");
}
