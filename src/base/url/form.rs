//! Values of a query in one spelling, as nearly all servers that read forms decode them (WHATWG URL, application/x-www-form-urlencoded):
//! `a%20[b]`, `a+[b]` and `a+%5Bb%5D` are one.

use std::borrow::Cow;

use super::{HEX, is_unreserved};

/// What separates parameters; some servers know `;` as well.
const BETWEEN: [char; 2] = ['&', ';'];

/// The query with each value in one spelling: a space is `+`, and all that is not unreserved (RFC 3986 §2.3) is escaped. Names, separators
/// and escapes are left as they are; so are the bytes of any charset.
#[must_use]
pub fn with_form_values(query: &str) -> Cow<'_, str> {
    if query.split(BETWEEN).all(|parameter| is_form_value(value(parameter))) {
        return Cow::Borrowed(query);
    }
    let mut out = String::with_capacity(query.len() + 32);
    for piece in query.split_inclusive(BETWEEN) {
        let parameter = piece.strip_suffix(BETWEEN).unwrap_or(piece);
        let value = value(parameter);
        out.push_str(&parameter[..parameter.len() - value.len()]);
        push(&mut out, value);
        out.push_str(&piece[parameter.len()..]);
    }
    Cow::Owned(out)
}

fn push(out: &mut String, value: &str) {
    let mut rest = value.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'%' if behind.starts_with(b"20") => {
                out.push('+');
                rest = &behind[2..];
            }
            b'%' | b'+' => out.push(char::from(byte)),
            _ if is_unreserved(byte) => out.push(char::from(byte)),
            _ => out.extend(['%', char::from(HEX[usize::from(byte >> 4)]), char::from(HEX[usize::from(byte & 15)])]),
        }
    }
}

fn value(parameter: &str) -> &str {
    parameter.split_once('=').map_or("", |(_, value)| value)
}

fn is_form_value(value: &str) -> bool {
    value.bytes().all(|byte| is_unreserved(byte) || matches!(byte, b'%' | b'+')) && !value.contains("%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings_of_a_value_are_one_and_names_stay() {
        for query in ["id=7&f=%5Ba%5D+b%2B=c", "id=7&f=[a]%20b%2B%3Dc", "id=7&f=[a]+b%2B=c"] {
            assert_eq!(with_form_values(query), "id=7&f=%5Ba%5D+b%2B%3Dc", "{query}");
        }
        assert_eq!(with_form_values("a[]=%D6%D0&b"), "a[]=%D6%D0&b");
        assert_eq!(with_form_values("C=M;O=A&f=[a]"), "C=M;O=A&f=%5Ba%5D");
        assert!(matches!(with_form_values("a=b+c&d=%2F"), Cow::Borrowed(_)));
    }
}
