//! Maps a declaration to its properties: the shorthands whose parts scripts read, and colours as `getComputedStyle` writes them (CSSOM
//! §9, CSS Color 4 §15).

use cssparser::color::{parse_hash_color, parse_named_color};

use super::declaration::{Declaration, split};

const SIDES: [&str; 4] = ["top", "right", "bottom", "left"];

/// CSS-wide keywords (CSS Cascade 5 §7).
pub fn is_wide(value: &str) -> bool {
    ["inherit", "initial", "unset", "revert", "revert-layer"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Calls `give` for each property that a declaration sets, the declared one first. An invalid value for a known colour property sets
/// nothing.
pub fn longhands(one: &Declaration, mut give: impl FnMut(&str, &str)) {
    let (name, value) = (one.name.as_str(), one.value.as_str());
    let is_open = is_wide(value) || value.contains("var(");
    if is_colour(name) && !is_open && colour(value).is_none() {
        return;
    }
    give(name, value);
    match name {
        "margin" | "padding" => four(value, |side, word| give(&format!("{name}-{side}"), word)),
        "border-color" | "border-style" | "border-width" => {
            let kind = &name["border-".len()..];
            four(value, |side, word| give(&format!("border-{side}-{kind}"), word));
        }
        "background" if is_open => give("background-color", value),
        "background" => {
            let words = words(value);
            let found = words.iter().find(|word| colour(word).is_some());
            give("background-color", found.map_or("rgba(0, 0, 0, 0)", |word| word));
        }
        "border" => {
            for side in SIDES {
                line(&format!("border-{side}"), value, &mut give);
            }
            line(name, value, &mut give);
        }
        "outline" | "border-top" | "border-right" | "border-bottom" | "border-left" => line(name, value, &mut give),
        "animation" | "transition" => movements(name, value, &mut give),
        "flex" => flex(value, &mut give),
        "flex-flow" => {
            let direction = words(value).into_iter().find(|word| word.starts_with("row") || word.starts_with("column"));
            give("flex-direction", if is_open { value } else { direction.unwrap_or("row") });
            let wrap = words(value).into_iter().find(|word| word.contains("wrap"));
            give("flex-wrap", if is_open { value } else { wrap.unwrap_or("nowrap") });
        }
        "overflow" => {
            let words = words(value);
            give("overflow-x", words.first().unwrap_or(&value));
            give("overflow-y", words.last().unwrap_or(&value));
        }
        _ => {}
    }
}

/// The parts of `flex` (CSS Flexbox 1 §7.1): up to two numbers and a size, where what is left out is not the initial value.
fn flex(value: &str, give: &mut impl FnMut(&str, &str)) {
    const PARTS: [&str; 3] = ["flex-grow", "flex-shrink", "flex-basis"];
    let mut found = match value {
        "none" => ["0", "0", "auto"],
        "initial" => ["0", "1", "auto"],
        "auto" => ["1", "1", "auto"],
        value if is_wide(value) || value.contains("var(") => [value; 3],
        _ => ["1", "1", "0px"],
    };
    if found == ["1", "1", "0px"] {
        let mut numbers = 0;
        for word in words(value) {
            let place = if numbers < 2 && word.parse::<f64>().is_ok() { numbers } else { 2 };
            numbers += usize::from(place < 2);
            found[place] = word;
        }
    }
    PARTS.into_iter().zip(found).for_each(|(part, word)| give(part, word));
}

/// The values of four sides from one to four words (CSS Box 4 §4.2).
fn four(value: &str, mut give: impl FnMut(&str, &str)) {
    let words = words(value);
    for (place, side) in SIDES.into_iter().enumerate() {
        let index = match words.len() {
            1 => 0,
            2 => place % 2,
            3 => [0, 1, 2, 1][place],
            _ => place,
        };
        if let Some(word) = words.get(index) {
            give(side, word);
        }
    }
}

/// Width, style and colour of a line, in any order; omitted ones get the initial value.
fn line(name: &str, value: &str, give: &mut impl FnMut(&str, &str)) {
    const STYLES: &[&str] =
        &["none", "hidden", "dotted", "dashed", "solid", "double", "groove", "ridge", "inset", "outset", "auto"];
    if is_wide(value) {
        for part in ["width", "style", "color"] {
            give(&format!("{name}-{part}"), value);
        }
        return;
    }
    let words = words(value);
    let style = words.iter().find(|word| STYLES.contains(&word.to_ascii_lowercase().as_str()));
    let shade = words.iter().find(|word| colour(word).is_some());
    let width = words.iter().find(|word| Some(*word) != style && Some(*word) != shade);
    give(&format!("{name}-style"), style.unwrap_or(&"none"));
    give(&format!("{name}-color"), shade.unwrap_or(&"currentcolor"));
    give(&format!("{name}-width"), width.unwrap_or(&"medium"));
}

/// The parts of `animation` and `transition`: a list of names, times and iteration counts, in any order (CSS Animations §4.8).
fn movements(name: &str, value: &str, give: &mut impl FnMut(&str, &str)) {
    const WORDS: &[&str] = &[
        "ease",
        "linear",
        "ease-in",
        "ease-out",
        "ease-in-out",
        "step-start",
        "step-end",
        "normal",
        "reverse",
        "alternate",
        "alternate-reverse",
        "forwards",
        "backwards",
        "both",
        "running",
        "paused",
        "allow-discrete",
    ];
    let is_transition = name == "transition";
    let parts = ["name", "duration", "delay", "iteration-count"];
    if is_wide(value) {
        for part in parts {
            give(&format!("{name}-{part}"), value);
        }
        return;
    }
    let mut lists: [Vec<&str>; 4] = Default::default();
    for one in split(value, ',') {
        let mut found = [if is_transition { "all" } else { "none" }, "0s", "0s", "1"];
        let mut times = 0;
        for word in words(one) {
            let is_time = word.strip_suffix('s').is_some_and(|rest| rest.trim_end_matches('m').parse::<f64>().is_ok());
            if is_time {
                times += 1;
                found[if times == 1 { 1 } else { 2 }] = word;
            } else if word == "infinite" || word.parse::<f64>().is_ok() {
                found[3] = word;
            } else if !word.contains('(') && !WORDS.contains(&word) {
                found[0] = word;
            }
        }
        for (list, word) in lists.iter_mut().zip(found) {
            list.push(word);
        }
    }
    for (part, list) in parts.into_iter().zip(lists) {
        let part = if is_transition && part == "name" { "property" } else { part };
        give(&format!("{name}-{part}"), &list.join(", "));
    }
}

/// Units of lengths (CSS Values 4 §6).
const UNITS: &[&str] = &[
    "%", "cap", "ch", "cm", "cqb", "cqh", "cqi", "cqmax", "cqmin", "cqw", "dvb", "dvh", "dvi", "dvmax", "dvmin", "dvw",
    "em", "ex", "ic", "in", "lh", "lvb", "lvh", "lvi", "lvmax", "lvmin", "lvw", "mm", "pc", "pt", "px", "q", "rcap",
    "rch", "rem", "rex", "ric", "rlh", "svb", "svh", "svi", "svmax", "svmin", "svw", "vb", "vh", "vi", "vmax", "vmin",
    "vw",
];

/// Keywords of properties that take lengths.
const LENGTH_WORDS: &[&str] = &[
    "anchor-center",
    "auto",
    "content",
    "fit-content",
    "large",
    "larger",
    "math",
    "max-content",
    "medium",
    "min-content",
    "none",
    "normal",
    "small",
    "smaller",
    "stretch",
    "thick",
    "thin",
    "x-large",
    "x-small",
    "xx-large",
    "xx-small",
    "xxx-large",
    "-webkit-fill-available",
    "-webkit-fit-content",
    "-webkit-max-content",
    "-webkit-min-content",
];

/// Properties that take one of a few keywords.
const KEYWORDS: &[(&str, &[&str])] = &[
    ("box-sizing", &["border-box", "content-box"]),
    ("clear", &["both", "inline-end", "inline-start", "left", "none", "right"]),
    ("float", &["inline-end", "inline-start", "left", "none", "right"]),
    ("position", &["-webkit-sticky", "absolute", "fixed", "relative", "static", "sticky"]),
    ("visibility", &["collapse", "hidden", "visible"]),
];

/// Whether a property takes a value, for those whose values are known: keywords, and lengths. True for any other property.
pub fn takes(name: &str, value: &str) -> bool {
    let of_name = KEYWORDS.iter().find(|(known, _)| *known == name);
    match of_name {
        Some((_, words)) => {
            is_wide(value) || value.contains('(') || words.contains(&value.trim().to_ascii_lowercase().as_str())
        }
        None => is_length(name, value),
    }
}

/// Whether a property that takes only lengths takes this value: a number other than zero needs a unit (CSS Values 4 §6), and a size is not
/// negative. True for any other property.
fn is_length(name: &str, value: &str) -> bool {
    let is_size = matches!(name, "width" | "height" | "font-size")
        || ["min-", "max-", "padding"].iter().any(|start| name.starts_with(start))
        // A width of an image's border may be a multiple of the border's.
        || name.starts_with("border-") && name.ends_with("-width") && name != "border-image-width";
    let is_place =
        matches!(name, "top" | "right" | "bottom" | "left" | "text-indent" | "letter-spacing" | "word-spacing")
            || ["margin", "inset"].iter().any(|start| name.starts_with(start));
    if !(is_size || is_place) || is_wide(value) || value.contains('(') || name.ends_with("-trim") {
        return true;
    }
    let mut all = value.split_ascii_whitespace();
    all.all(|word| {
        let word = word.to_ascii_lowercase();
        if !word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) || word.starts_with("-webkit-") {
            return LENGTH_WORDS.contains(&word.as_str());
        }
        // An exponent is part of the number: `1e3px`, but not the `e` of `1em`.
        let end = word.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(word.len());
        let end =
            match word[end..].strip_prefix('e').and_then(|rest| rest.find(|c: char| !c.is_ascii_digit() && c != '-')) {
                Some(more) if more > 0 => end + 1 + more,
                _ => end,
            };
        let Ok(number) = word[..end].parse::<f64>() else { return false };
        let is_unit = UNITS.contains(&&word[end..]) || end == word.len() && number == 0.0;
        is_unit && !(is_size && number < 0.0)
    })
}

/// Splits at whitespace outside of brackets.
fn words(value: &str) -> Vec<&str> {
    split(value, ' ').into_iter().map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// Whether a property takes only a colour.
pub fn is_colour(name: &str) -> bool {
    let is_other = name.starts_with("--") || matches!(name, "border-color" | "accent-color" | "scrollbar-color");
    name == "color" || name.ends_with("-color") && !is_other
}

/// A computed colour: `rgb(r, g, b)` or `rgba(r, g, b, a)`; `currentcolor` and functions that are not evaluated stay as written. `None`
/// if it is not a colour.
pub fn colour(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(hex) = text.strip_prefix('#') {
        return parse_hash_color(hex.as_bytes()).ok().map(|(r, g, b, a)| rgba([r, g, b], a));
    }
    if let Ok((r, g, b)) = parse_named_color(&text) {
        return Some(rgba([r, g, b], 1.0));
    }
    if text == "transparent" {
        return Some(rgba([0; 3], 0.0));
    }
    if let Some(inner) = ["rgba(", "rgb("].iter().find_map(|name| text.strip_prefix(name)) {
        return rgb_function(inner.strip_suffix(')').unwrap_or(inner));
    }
    let other = ["hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark"];
    let is_function = text.split_once('(').is_some_and(|(name, _)| other.contains(&name));
    (text == "currentcolor" || is_function || is_system(&text)).then_some(text)
}

/// `rgb()` in either syntax (CSS Color 4 §5.1).
fn rgb_function(inner: &str) -> Option<String> {
    let parts: Vec<&str> = inner.split([',', ' ', '/']).filter(|part| !part.is_empty()).collect();
    let (3 | 4) = parts.len() else { return None };
    let number = |part: &str, whole: f32| -> Option<f32> {
        match part.strip_suffix('%') {
            Some(percent) => percent.parse::<f32>().ok().map(|number| number * whole / 100.0),
            None if part == "none" => Some(0.0),
            None => part.parse().ok(),
        }
    };
    let mut rgb = [0_u8; 3];
    for (place, part) in rgb.iter_mut().zip(&parts) {
        // Clamped to what a byte holds.
        *place = number(part, 255.0)?.clamp(0.0, 255.0).round() as u8;
    }
    let alpha = parts.get(3).map_or(Some(1.0), |part| number(part, 1.0))?;
    Some(rgba(rgb, alpha))
}

fn rgba([r, g, b]: [u8; 3], alpha: f32) -> String {
    if alpha >= 1.0 {
        return format!("rgb({r}, {g}, {b})");
    }
    let alpha = (alpha.max(0.0) * 1000.0).round() / 1000.0;
    format!("rgba({r}, {g}, {b}, {alpha})")
}

fn is_system(text: &str) -> bool {
    const SYSTEM: &[&str] = &[
        "accentcolor",
        "accentcolortext",
        "activetext",
        "buttonborder",
        "buttonface",
        "buttontext",
        "canvas",
        "canvastext",
        "field",
        "fieldtext",
        "graytext",
        "highlight",
        "highlighttext",
        "linktext",
        "mark",
        "marktext",
        "visitedtext",
    ];
    SYSTEM.contains(&text)
}
