//! Prices in labels: a number beside a currency sign, or beside a word for a site's own currency (`models/words/price.tsv`).

gleaner_base::topics! { price: SIGNS, CODES, UNITS, UNITS_ANYWHERE, ONES, UNITS_OF_ONE; }

/// Whether a label in lower case names a price. "5 seeds" and "5 MB" do not, nor does "points" alone.
pub(super) fn names_one(label: &str) -> bool {
    let mut rest = label;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &label[..label.len() - rest.len() + at];
        let number = &rest[at..];
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(number.len());
        rest = &number[end..];
        // A number after a letter is part of a name: "mp3".
        let is_part = before.ends_with(char::is_lowercase) && !CODES.has(last_word(before)) && !ends_in_sign(before);
        if !is_part && (is_paid_with(before) || is_in(rest)) {
            return true;
        }
    }
    let mut words = label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let mut next = words.clone().take(2);
        // "a freeleech token", but not "a point of view".
        if ONES.has(word) && next.any(|word| UNITS_OF_ONE.has(word)) {
            return true;
        }
    }
    false
}

/// Whether the text before a number names a currency.
fn is_paid_with(before: &str) -> bool {
    let before = before.trim_end();
    if ends_in_sign(before) || CODES.has(last_word(before)) && !matches!(last_word(before), "euro" | "dollar" | "kr") {
        return true;
    }
    let Some(named) = before.strip_suffix([':', '：', '=']).map(str::trim_end) else { return false };
    UNITS.has(last_word(named)) || UNITS_ANYWHERE.iter().any(|unit| named.ends_with(unit))
}

/// Whether the text after a number names a currency.
fn is_in(behind: &str) -> bool {
    let behind = behind.trim_start_matches([' ', '\u{a0}', '\u{202f}', 'x', '×', '-']);
    if SIGNS.iter().chain(UNITS_ANYWHERE.iter()).any(|sign| behind.starts_with(sign)) {
        return true;
    }
    // One word may come between: "1 freeleech token"; nothing else may, as in "720p · 3 points".
    let own = behind.find(|c: char| !c.is_alphanumeric() && c != ' ').map_or(behind, |end| &behind[..end]);
    let mut words = own.split(' ').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    // "2 bonus tracks" is no price.
    let is_bonus = first == "bonus" && !second.is_empty() && !UNITS.has(second);
    (CODES.has(first) || UNITS.has(first)) && !is_bonus || UNITS.has(second) && second != "bonus"
}

fn last_word(text: &str) -> &str {
    text.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

fn ends_in_sign(text: &str) -> bool {
    SIGNS.iter().any(|sign| text.ends_with(sign))
}

#[cfg(test)]
mod tests;
