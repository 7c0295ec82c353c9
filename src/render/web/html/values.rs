//! The value of an input (HTML §4.10.5): where each type stores it, and how it cleans a text ("value sanitization algorithm").

use super::reflect::{has, text};
use super::{moments, numbers, table};
use crate::dom::{NodeId, Tree};

/// The source of `value` (§4.10.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Value,
    Default,
    DefaultOn,
    Filename,
}

/// The type of an input, as a keyword.
pub fn kind(tree: &Tree, id: NodeId) -> &'static str {
    table::INPUT_TYPE.state(text(tree, id, "type")).unwrap_or("text")
}

pub fn mode(kind: &str) -> Mode {
    match kind {
        "hidden" | "submit" | "image" | "reset" | "button" => Mode::Default,
        "checkbox" | "radio" => Mode::DefaultOn,
        "file" => Mode::Filename,
        _ => Mode::Value,
    }
}

/// The value of an input.
pub fn of_input(tree: &Tree, id: NodeId) -> String {
    let kind = kind(tree, id);
    let written = text(tree, id, "value");
    match mode(kind) {
        Mode::Default => written.unwrap_or_default().to_owned(),
        Mode::DefaultOn => written.unwrap_or("on").to_owned(),
        Mode::Filename => String::new(),
        Mode::Value => {
            let own = tree.element(id).and_then(|element| element.state.value.as_deref());
            sanitize(tree, id, kind, own.or(written).unwrap_or_default())
        }
    }
}

/// Sanitizes a text for a type.
pub fn sanitize(tree: &Tree, id: NodeId, kind: &str, value: &str) -> String {
    let one_line = || value.replace(['\r', '\n'], "");
    let trimmed = |value: &str| value.trim_matches(|letter: char| letter.is_ascii_whitespace()).to_owned();
    match kind {
        "text" | "search" | "tel" | "password" => one_line(),
        "url" => trimmed(&one_line()),
        "email" if has(tree, id, "multiple") => value.split(',').map(trimmed).collect::<Vec<_>>().join(","),
        "email" => trimmed(&one_line()),
        "date" | "month" | "week" | "time" if moments::number(kind, value).is_none() => String::new(),
        "datetime-local" => moments::number(kind, value).map(|value| moments::text(kind, value)).unwrap_or_default(),
        "number" if numbers::valid_float(value).is_none() => String::new(),
        "range" => range(tree, id, numbers::valid_float(value)),
        "color" if is_color(value) => value.to_ascii_lowercase(),
        "color" => "#000000".to_owned(),
        _ => value.to_owned(),
    }
}

/// "Valid simple color" (§2.3.6).
fn is_color(value: &str) -> bool {
    value.len() == 7 && value.starts_with('#') && value[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The number that a type parses from a text.
pub fn number(kind: &str, value: &str) -> Option<f64> {
    match kind {
        "number" | "range" => numbers::valid_float(value),
        kind => moments::number(kind, value),
    }
}

/// The text that a type formats for a number.
pub fn number_text(kind: &str, value: f64) -> String {
    match kind {
        "number" | "range" => numbers::shortest(value),
        kind => moments::text(kind, value),
    }
}

/// The value of a slider, which always has one: within its bounds, on a step (§4.10.5.1.13).
fn range(tree: &Tree, id: NodeId, given: Option<f64>) -> String {
    let bound = |name| text(tree, id, name).and_then(numbers::valid_float);
    let least = bound("min").unwrap_or(0.0);
    let most = bound("max").unwrap_or(100.0);
    let usual = if most < least { least } else { least + (most - least) / 2.0 };
    let value = given.unwrap_or(usual);
    let value = if most < least { least } else { value.clamp(least, most) };
    let Some(step) = step(tree, id, "range") else { return numbers::shortest(value) };
    let steps = (value - least) / step;
    // Halfway between two steps the upper one is chosen, unless it is beyond the maximum.
    let mut on_step = least + (steps + 0.5).floor() * step;
    if on_step > most && most >= least {
        on_step = least + steps.floor() * step;
    }
    // Removes the rounding error of the division.
    let rounded = (on_step * 1e12).round() / 1e12;
    numbers::shortest(if rounded.is_finite() { rounded } else { value })
}

/// The steps of a type: the default step, its scale factor, the default step base. `None` for types without.
fn steps(kind: &str) -> Option<(f64, f64, f64)> {
    Some(match kind {
        "date" => (1.0, 86_400_000.0, 0.0),
        "month" => (1.0, 1.0, 0.0),
        "week" => (1.0, 604_800_000.0, -259_200_000.0),
        "time" | "datetime-local" => (60.0, 1_000.0, 0.0),
        "number" | "range" => (1.0, 1.0, 0.0),
        _ => return None,
    })
}

/// "Allowed value step" (§4.10.5.3.8) in the type's own numbers; `None` if any value is allowed.
pub fn step(tree: &Tree, id: NodeId, kind: &str) -> Option<f64> {
    let (usual, factor, _) = steps(kind)?;
    let written = text(tree, id, "step");
    if written.is_some_and(|step| step.eq_ignore_ascii_case("any")) {
        return None;
    }
    let own = written.and_then(numbers::valid_float).filter(|step| *step > 0.0);
    Some(own.unwrap_or(usual) * factor)
}

/// Whether `step`, `valueAsNumber` and similar members apply.
pub fn has_numbers(kind: &str) -> bool {
    steps(kind).is_some()
}

/// "Step base" (§4.10.5.3.8).
pub fn step_base(tree: &Tree, id: NodeId, kind: &str) -> f64 {
    let read = |name| text(tree, id, name).and_then(|value| number(kind, value));
    read("min").or_else(|| read("value")).unwrap_or_else(|| steps(kind).map_or(0.0, |(_, _, base)| base))
}

/// The bounds of a type's number; a slider has default ones.
pub fn bounds(tree: &Tree, id: NodeId, kind: &str) -> (Option<f64>, Option<f64>) {
    let read = |name| text(tree, id, name).and_then(|value| number(kind, value));
    match kind {
        "range" => (read("min").or(Some(0.0)), read("max").or(Some(100.0))),
        _ => (read("min"), read("max")),
    }
}

/// "Valid email address" (§4.10.5.1.5).
pub fn is_email(value: &str) -> bool {
    let Some((local, domain)) = value.rsplit_once('@') else { return false };
    let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    !local.is_empty() && local.bytes().all(is_local) && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_mail_are_told_from_others() {
        assert!(["a@b", "a.b+c@d-e.f", "!@x"].into_iter().all(is_email));
        assert!(!["", "a", "@b", "a@", "a@b..c", "a@-b", "a b@c", "a@b@c d"].into_iter().any(is_email));
    }

    #[test]
    fn colors_have_six_digits() {
        assert!(is_color("#aBc123") && !is_color("#abc") && !is_color("abc1234") && !is_color("#abc12é"));
    }
}
