//! Lengths in pixels: numbers with units, and the functions that compute them (CSS Values 4 §10).

use crate::limits;

/// A number, and whether it is a length.
type Number = (f64, bool);

/// The pixels of a length; `None` if it is none, or has a unit for which `unit` gives no pixels. The unit of a percentage is `%`.
pub fn pixels(text: &str, unit: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut of = Expression { rest: text.trim(), unit, depth: 0 };
    let (number, is_length) = of.value()?;
    let is_whole = of.rest.is_empty() && (is_length || number == 0.0) && number.is_finite();
    // A function's result is brought within what the property allows (§10.12), a number is not.
    let is_function = text.contains('(');
    is_whole.then_some(if is_function { number.max(0.0) } else { number })
}

/// What is left of a text.
struct Expression<'a> {
    rest: &'a str,
    unit: &'a dyn Fn(&str) -> Option<f64>,
    depth: usize,
}

impl<'a> Expression<'a> {
    fn skip(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let Some(after) = rest.strip_prefix(word) else { return false };
        self.rest = after;
        true
    }

    /// Takes the letters at the beginning.
    fn take(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c: char| !is(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// A number, a parenthesis or a function.
    fn value(&mut self) -> Option<Number> {
        self.rest = self.rest.trim_start();
        let name = match self.rest.chars().next()? {
            '(' => "",
            c if c.is_ascii_alphabetic() => self.take(|c| c.is_ascii_alphabetic()),
            _ => return self.number(),
        };
        self.depth += 1;
        if self.depth > limits::STYLE_CALC_DEPTH_MAX || !self.rest.starts_with('(') {
            return None;
        }
        self.rest = &self.rest[1..];
        let mut all = vec![self.sum()?];
        while self.skip(",") {
            all.push(self.sum()?);
        }
        self.depth -= 1;
        let is_length = all[0].1;
        if !self.skip(")") || all.iter().any(|one| one.1 != is_length) {
            return None;
        }
        let numbers = all.iter().map(|one| one.0);
        let number = match (name.to_ascii_lowercase().as_str(), all.as_slice()) {
            ("" | "calc", [one]) => one.0,
            ("min", _) => numbers.fold(f64::INFINITY, f64::min),
            ("max", _) => numbers.fold(f64::NEG_INFINITY, f64::max),
            ("clamp", [least, wanted, most]) => wanted.0.min(most.0).max(least.0),
            _ => return None,
        };
        Some((number, is_length))
    }

    fn number(&mut self) -> Option<Number> {
        let text = self.rest;
        let digits = text.trim_start_matches(['+', '-']);
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
        let (number, rest) = text.split_at(text.len() - digits.len() + end);
        self.rest = rest;
        let number: f64 = number.parse().ok()?;
        let unit = self.take(|c| c.is_ascii_alphabetic() || c == '%').to_ascii_lowercase();
        if unit.is_empty() { Some((number, false)) } else { Some((number * (self.unit)(&unit)?, true)) }
    }

    fn product(&mut self) -> Option<Number> {
        let (mut number, mut is_length) = self.value()?;
        loop {
            if self.skip("*") {
                let (factor, is_too) = self.value()?;
                if is_length && is_too {
                    return None;
                }
                (number, is_length) = (number * factor, is_length || is_too);
            } else if self.skip("/") {
                let (divisor, false) = self.value()? else { return None };
                number /= divisor;
            } else {
                return Some((number, is_length));
            }
        }
    }

    fn sum(&mut self) -> Option<Number> {
        let (mut number, is_length) = self.product()?;
        loop {
            let sign = if self.skip("+ ") {
                1.0
            } else if self.skip("- ") {
                -1.0
            } else {
                return Some((number, is_length));
            };
            let (other, is_too) = self.product()?;
            if is_length != is_too {
                return None;
            }
            number += sign * other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_numbers_with_units_and_what_functions_make_of_them() {
        let unit = |unit: &str| match unit {
            "px" => Some(1.0),
            "em" => Some(16.0),
            "%" => Some(4.0),
            _ => None,
        };
        for (text, expected) in [
            ("400px", Some(400.0)),
            ("0", Some(0.0)),
            ("-1.5em", Some(-24.0)),
            ("50%", Some(200.0)),
            ("calc(100% - 2em)", Some(368.0)),
            ("calc( (1em + 2px)*3 / 2 )", Some(27.0)),
            ("calc(max(14px, 16px) + 8px * 3.25 * 1)", Some(42.0)),
            ("min(10px, calc(1px + 2px), 5px)", Some(3.0)),
            ("clamp(10px, 5px, 20px)", Some(10.0)),
            ("calc(-1 * (2px - 5px))", Some(3.0)),
            ("auto", None),
            ("5", None),
            ("1px solid", None),
            ("calc(1px * 2px)", None),
            ("calc(1px + 2)", None),
            ("calc(1px + 2lh)", None),
            ("calc(1px + ", None),
            ("calc(1px / 0)", None),
            ("", None),
            ("€", None),
        ] {
            assert_eq!(pixels(text, &unit), expected, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(pixels(&deep, &unit), None);
    }
}
