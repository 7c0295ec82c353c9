//! Numbers in attributes (HTML §2.3.4): parses them leniently like browsers, and formats them.

/// The whitespace that HTML skips.
const SPACE: [char; 5] = [' ', '\t', '\n', '\x0C', '\r'];

/// "Rules for parsing integers" (§2.3.4.1): text after the digits is ignored. Numbers beyond 64 bits are clamped.
pub fn integer(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(SPACE);
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    if digits.is_empty() {
        return None;
    }
    let value =
        digits.bytes().fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if negative { -value } else { value })
}

/// "Rules for parsing floating-point number values" (§2.3.4.3): text after the number is ignored; infinity is rejected.
pub fn float(text: &str) -> Option<f64> {
    let text = text.trim_start_matches(SPACE);
    let length = float_length(text)?;
    let value: f64 = text[..length].trim_end_matches(['e', 'E', '+', '-']).parse().ok()?;
    // Negative zero is zero.
    value.is_finite().then_some(value + 0.0)
}

/// Bytes of the longest prefix that is a number.
fn float_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(at);
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let part = digits(at + 1);
        if whole == 0 && part == 0 {
            return None;
        }
        at += 1 + part;
    } else if whole == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    Some(at)
}

/// "Valid floating-point number" (§2.3.4.3), which the value of a number control must be.
pub fn valid_float(text: &str) -> Option<f64> {
    let begins = text.starts_with(|first: char| first == '-' || first == '.' || first.is_ascii_digit());
    let ends = text.ends_with(|last: char| last.is_ascii_digit());
    (begins && ends && float_length(text) == Some(text.len())).then(|| float(text)).flatten()
}

/// A number as scripts write it ("best representation of the number as a floating-point number").
pub fn shortest(value: f64) -> String {
    let size = value.abs();
    if size >= 1e21 {
        format!("{value:e}").replace('e', "e+")
    } else if size != 0.0 && size < 1e-6 {
        format!("{value:e}")
    } else {
        (value + 0.0).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_up_to_what_is_no_digit() {
        assert_eq!(integer(" \t+12px"), Some(12));
        assert_eq!(integer("-0"), Some(0));
        assert_eq!(integer("\u{b}7"), None);
        assert_eq!(integer("99999999999999999999"), Some(i64::MAX));
        assert!(integer("-").is_none() && integer("").is_none() && integer("+ 1").is_none());
    }

    #[test]
    fn floats_are_read_up_to_what_is_none() {
        for (text, value) in [("1.e2", 100.0), ("1. e2", 1.0), (".5x", 0.5), ("1e", 1.0), ("1e+", 1.0), ("-0", 0.0)] {
            assert_eq!(float(text).map(f64::to_bits), Some(f64::to_bits(value)), "{text}");
        }
        for text in ["", "-", ".", ".e2", "1.8e308", "e1"] {
            assert_eq!(float(text), None, "{text}");
        }
        assert_eq!([1e25, 1e-7, -0.0, 1.5].map(shortest), ["1e+25", "1e-7", "0", "1.5"]);
        assert!(valid_float("1.").is_none() && valid_float("+1").is_none() && valid_float("-.5e-2").is_some());
    }
}
