//! Declarations as written: nothing is expanded, and only what is syntactically impossible is rejected.

/// One declaration as written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Declaration {
    pub name: String,
    pub value: String,
    pub important: bool,
}

impl Declaration {
    /// A declaration from a name and the text after its colon; `None` if the name or the value is empty.
    pub fn new(name: &str, value: &str) -> Option<Self> {
        let name = name.trim();
        let name = if name.starts_with("--") { name.to_owned() } else { name.to_ascii_lowercase() };
        let value = value.trim();
        let (value, important) = match value.rsplit_once('!') {
            Some((value, word)) if word.trim().eq_ignore_ascii_case("important") => (value.trim_end(), true),
            _ => (value, false),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c == '-' || c == '_' || c.is_alphanumeric());
        (is_name && !value.is_empty()).then(|| Self { name, value: value.to_owned(), important })
    }
}

/// Parses declarations; a later one replaces an earlier one with the same name.
pub fn parse(text: &str) -> Vec<Declaration> {
    let mut found: Vec<Declaration> = Vec::new();
    for part in split(text, ';') {
        let Some((name, value)) = part.split_once(':') else { continue };
        if let Some(new) = Declaration::new(name, value) {
            put(&mut found, new);
        }
    }
    found
}

/// Splits a text at a character, except within quotes and brackets.
pub fn split(text: &str, at: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, c) {
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, c) if c == at && depth <= 0 => {
                parts.push(&text[start..place]);
                start = place + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Replaces the declaration with the same name, or appends it.
pub fn put(list: &mut Vec<Declaration>, new: Declaration) {
    match list.iter_mut().find(|one| one.name == new.name) {
        Some(one) => *one = new,
        None => list.push(new),
    }
}

/// Serialises a list (CSSOM §6.6.1 "serialize a CSS declaration block").
pub fn text_of(list: &[Declaration]) -> String {
    let texts: Vec<String> = list
        .iter()
        .map(|one| format!("{}: {}{};", one.name, one.value, if one.important { " !important" } else { "" }))
        .collect();
    texts.join(" ")
}
