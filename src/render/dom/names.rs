//! Validity of names (DOM §1.4, HTML §4.13.2).

use html5ever::{LocalName, Namespace, Prefix, QualName, ns};

use super::Error;

/// A parsed qualified name.
pub type QualifiedName = QualName;

/// The built-in elements that can have a shadow root (DOM §4.8).
pub(super) const BUILT_IN_SHADOW_HOSTS: &[&str] = &[
    "article",
    "aside",
    "blockquote",
    "body",
    "div",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "span",
];

/// Names with a hyphen that SVG and MathML define.
const RESERVED: &[&str] = &[
    "annotation-xml",
    "color-profile",
    "font-face",
    "font-face-format",
    "font-face-name",
    "font-face-src",
    "font-face-uri",
    "missing-glyph",
];

/// Whether a custom element can have this name.
pub fn is_custom_element_name(name: &str) -> bool {
    let may_begin = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let has_hyphen = || name.contains('-');
    let is_clean =
        || !name.bytes().any(|byte| byte.is_ascii_uppercase() || matches!(byte, b'/' | b'>' | 0) || is_space(byte));
    may_begin && has_hyphen() && is_clean() && !RESERVED.contains(&name)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn breaks_markup(name: &str) -> bool {
    name.bytes().any(|byte| is_space(byte) || matches!(byte, 0 | b'/' | b'>'))
}

/// "Valid element local name" (DOM §1.4): any that the HTML parser can create, and any that XML allows.
pub fn is_element_name(name: &str) -> bool {
    match name.chars().next() {
        None => false,
        Some(first) if first.is_ascii_alphabetic() => !breaks_markup(name),
        Some(first) => {
            let may_begin = first == ':' || first == '_' || !first.is_ascii();
            let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_') || !c.is_ascii();
            may_begin && name.chars().skip(1).all(goes_on)
        }
    }
}

/// "Valid attribute local name" (DOM §1.4).
pub fn is_attribute_name(name: &str) -> bool {
    !name.is_empty() && !breaks_markup(name) && !name.contains('=')
}

/// "Valid namespace prefix" (DOM §1.4).
fn is_prefix(prefix: &str) -> bool {
    !prefix.is_empty() && !breaks_markup(prefix)
}

/// The XML production Name, for targets of processing instructions.
pub fn is_name(name: &str) -> bool {
    let begins = |c: char| {
        matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
            | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
            | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
    };
    let goes_on = |c: char| {
        begins(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
    };
    name.chars().next().is_some_and(begins) && name.chars().skip(1).all(goes_on)
}

/// "Validate and extract" (DOM §1.4): a namespace and a qualified name, for an element or an attribute.
///
/// # Errors
/// [`Error::InvalidCharacter`], [`Error::Namespace`].
pub fn validate_and_extract(
    namespace: Option<&str>,
    qualified: &str,
    is_attribute: bool,
) -> Result<QualifiedName, Error> {
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    let (prefix, local) = match qualified.split_once(':') {
        Some((prefix, local)) if is_prefix(prefix) => (Some(prefix), local),
        Some(_) => return Err(Error::InvalidCharacter),
        None => (None, qualified),
    };
    let is_valid = if is_attribute { is_attribute_name(local) } else { is_element_name(local) };
    if !is_valid {
        return Err(Error::InvalidCharacter);
    }
    let is_xmlns = namespace == Some(&*ns!(xmlns));
    let says_xmlns = qualified == "xmlns" || prefix == Some("xmlns");
    let is_lost = prefix.is_some() && namespace.is_none();
    if is_lost || (prefix == Some("xml") && namespace != Some(&*ns!(xml))) || says_xmlns != is_xmlns {
        return Err(Error::Namespace);
    }
    let namespace = namespace.map(Namespace::from).unwrap_or_default();
    Ok(QualName::new(prefix.map(Prefix::from), namespace, LocalName::from(local)))
}

#[cfg(test)]
mod tests;
