//! Links that no `a` holds: what a click brings. Forms of nothing but hidden fields and buttons, event handlers that go
//! to a literal address, and `data-href` of an element that is no link.
//!
//! A form is the URL that a browser would ask for (HTML §4.10.22.3): the action with the fields as its query. One that
//! sends by POST, or that asks its reader for anything, is no link.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::limits::{FIELDS_PER_FORM_MAX, HANDLERS_PER_TAG_MAX, TARGETS_PER_HANDLER_MAX, URL_BYTES_MAX};

/// `application/x-www-form-urlencoded` (URL standard §5.2), but for spaces.
const IN_FORMS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// Attributes of any tag that may hold a link; values are ranges of the page.
#[derive(Default)]
pub(super) struct Acts<'a> {
    /// Event handlers: name and value.
    handlers: Vec<(&'a [u8], Range<usize>)>,
    /// `data-href` and `data-url`.
    data: [Option<Range<usize>>; 2],
}

impl<'a> Acts<'a> {
    /// True for attributes that matter here. Nearly all are told by their first byte.
    #[inline]
    pub(super) fn wants(name: &[u8]) -> bool {
        matches!(name[0] | 0x20, b'o' | b'd') && (is_handler(name) || is_data(name))
    }

    /// Records an attribute that [`Self::wants`]; the first of duplicates counts.
    #[cold]
    pub(super) fn see(&mut self, name: &'a [u8], value: Range<usize>) {
        if let Some(at) = DATA.iter().position(|known| name.eq_ignore_ascii_case(known)) {
            self.data[at].get_or_insert(value);
        } else if self.handlers.len() < HANDLERS_PER_TAG_MAX
            && !self.handlers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        {
            self.handlers.push((name, value));
        }
    }

    pub(super) fn data(&mut self) -> impl Iterator<Item = Range<usize>> + use<> {
        std::mem::take(&mut self.data).into_iter().flatten()
    }

    /// The handlers, in the order of their names.
    pub(super) fn handlers(mut self) -> impl Iterator<Item = Range<usize>> {
        self.handlers.sort_by_key(|(name, _)| name.to_ascii_lowercase());
        self.handlers.into_iter().map(|(_, value)| value)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.handlers.is_empty() && self.data.iter().all(Option::is_none)
    }
}

/// True for the names of event handlers.
pub(super) fn is_handler(name: &[u8]) -> bool {
    name.len() > 3 && name[..2].eq_ignore_ascii_case(b"on") && name.iter().all(u8::is_ascii_alphabetic)
}

/// Attributes that scripts take for a link; the first that holds something counts.
const DATA: [&[u8]; 2] = [b"data-href", b"data-url"];

pub(super) fn is_data(name: &[u8]) -> bool {
    DATA.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// True if an `a` with this reference leads nowhere without its script.
pub(super) fn leads_nowhere(href: &str) -> bool {
    href.starts_with('#') || is_script(href)
}

/// True for `javascript:` links.
pub(super) fn is_script(href: &str) -> bool {
    href.get(..11).is_some_and(|scheme| scheme.eq_ignore_ascii_case("javascript:"))
}

/// What an event handler goes to, where it is a literal: `location='…'`, `location.href='…'`, `location.assign('…')`,
/// `location.replace('…')` and `window.open('…')`.
pub(super) fn targets(code: &str) -> impl Iterator<Item = String> + '_ {
    let starts = |word: &'static str| code.match_indices(word).map(move |(at, _)| (at, at + word.len()));
    let is_whole = |(at, end): &(usize, usize)| {
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '-');
        !code[..*at].ends_with(is_name) && !code[*end..].starts_with(is_name)
    };
    let places = starts("location").filter(is_whole).map(|(_, end)| after_location(&code[end..]));
    let windows = starts("window.open").filter(is_whole).map(|(_, end)| after_call(&code[end..]));
    places.chain(windows).take(TARGETS_PER_HANDLER_MAX).flatten().filter_map(literal)
}

/// What follows `location` and sets it.
fn after_location(code: &str) -> Option<&str> {
    let code = code.trim_start();
    if let Some(call) = code.strip_prefix(".assign").or_else(|| code.strip_prefix(".replace")) {
        return after_call(call);
    }
    let set = code.strip_prefix(".href").unwrap_or(code).trim_start().strip_prefix('=')?;
    (!set.starts_with('=')).then_some(set)
}

fn after_call(code: &str) -> Option<&str> {
    code.trim_start().strip_prefix('(')
}

/// The string literal that the code starts with, unless it is only a part of an expression.
fn literal(code: &str) -> Option<String> {
    let code = code.trim_start();
    let quote = code.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
    let mut text = String::new();
    let mut characters = code[1..].char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                text.push(characters.next().map(|(_, escaped)| escaped).filter(|escaped| !escaped.is_alphanumeric())?)
            }
            '$' if quote == '`' => return None,
            character if character == quote => {
                let rest = code[1 + at + 1..].trim_start();
                let is_whole =
                    rest.chars().next().is_none_or(|next| matches!(next, ';' | ')' | ',' | '}' | '"' | '\''));
                return (is_whole && !text.trim().is_empty()).then_some(text);
            }
            character => text.push(character),
        }
    }
    None
}

/// What a tag within a form is to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Hidden,
    Submit,
    /// A button that sends where it was clicked.
    Image,
    /// A field that a reader fills.
    Asks,
    Nothing,
}

impl Control {
    /// By the tag, `input` or `button`, and its type.
    pub(super) fn of(is_button: bool, type_: Option<&str>) -> Self {
        let is = |known: &str| type_.is_some_and(|type_| type_.eq_ignore_ascii_case(known));
        match is_button {
            _ if is("reset") || is("button") => Self::Nothing,
            true => Self::Submit,
            false if is("hidden") => Self::Hidden,
            false if is("submit") => Self::Submit,
            false if is("image") => Self::Image,
            false => Self::Asks,
        }
    }
}

/// The attributes of a form or a control, as ranges of the page.
#[derive(Default)]
pub(super) struct FormTag {
    pub type_: Option<Range<usize>>,
    pub name: Option<Range<usize>>,
    pub value: Option<Range<usize>>,
    pub action: Option<Range<usize>>,
    pub method: Option<Range<usize>>,
    /// The form that a control belongs to, wherever it stands.
    pub owner: Option<Range<usize>>,
    pub disabled: Option<Range<usize>>,
}

impl FormTag {
    /// Records an attribute; the first of duplicates counts. A button's `formaction` takes the place of its form's `action`.
    pub(super) fn see(&mut self, is_form: bool, name: &[u8], value: Range<usize>) {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let of_form = |own: &str, of_button: &str| is(if is_form { own } else { of_button });
        let slot = match name.len() {
            4 if is("type") => &mut self.type_,
            4 if is("name") => &mut self.name,
            4 if is("form") => &mut self.owner,
            5 if is("value") => &mut self.value,
            8 if is("disabled") => &mut self.disabled,
            6 | 10 if of_form("action", "formaction") => &mut self.action,
            6 | 10 if of_form("method", "formmethod") => &mut self.method,
            _ => return,
        };
        slot.get_or_insert(value);
    }
}

/// The attributes of a form or a control, as text.
#[derive(Default)]
pub(super) struct Attributes<'a> {
    pub name: Option<Cow<'a, str>>,
    pub value: Option<Cow<'a, str>>,
    pub action: Option<Cow<'a, str>>,
    pub method: Option<Cow<'a, str>>,
    pub disabled: bool,
}

struct Field {
    query: String,
    /// A button: its own action.
    button: Option<Option<String>>,
}

/// A form that may be a link.
#[derive(Default)]
pub(super) struct Form {
    action: Option<String>,
    fields: Vec<Field>,
    bytes: usize,
    /// It is no link.
    asks: bool,
}

impl Form {
    /// The form of a start tag.
    pub(super) fn new(form: &Attributes<'_>) -> Self {
        let action = form.action.as_deref().filter(|action| !is_script(action)).map(str::to_owned);
        let asks = !sends_by_get(form) || form.action.as_deref().is_some_and(is_script);
        let mut form = Self { fields: Vec::new(), bytes: 0, asks, action };
        form.count(form.action.as_ref().map_or(0, String::len));
        form
    }

    /// What no URL holds is no link.
    fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.asks |= self.bytes > 3 * URL_BYTES_MAX || self.fields.len() > FIELDS_PER_FORM_MAX;
    }

    /// A tag within the form.
    pub(super) fn add(&mut self, control: Control, of: &Attributes<'_>, encoding: &'static Encoding) {
        self.asks |= control == Control::Asks;
        if self.asks || of.disabled || control == Control::Nothing {
            return;
        }
        let name = of.name.as_deref().unwrap_or_default();
        let pair = |name: &str, value: &str| format!("{}={}", encoded(name, encoding), encoded(value, encoding));
        let is_button = control != Control::Hidden;
        if is_button && !sends_by_get(of) {
            return;
        }
        let query = match control {
            Control::Image if name.is_empty() => "x=0&y=0".to_owned(),
            Control::Image => format!("{}&{}", pair(&format!("{name}.x"), "0"), pair(&format!("{name}.y"), "0")),
            _ if name.is_empty() => String::new(),
            // Without a value a button sends its name, and an empty value.
            _ => pair(name, of.value.as_deref().unwrap_or_default()),
        };
        let button = is_button.then(|| of.action.as_deref().map(str::to_owned));
        if is_button || !query.is_empty() {
            let bytes = query.len() + of.action.as_ref().map_or(0, |action| action.len());
            self.fields.push(Field { query, button });
            self.count(bytes);
        }
    }

    /// Something that a reader fills or chooses from.
    pub(super) fn ask(&mut self) {
        self.asks = true;
    }

    /// The references that its buttons ask for, or that a script would which sends it. A form with nothing in it is
    /// filled by a script.
    pub(super) fn links(&self) -> Vec<String> {
        if self.asks || self.fields.is_empty() {
            return Vec::new();
        }
        let mut buttons: Vec<(Option<usize>, Option<&str>)> = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            if let Some(action) = &field.button {
                buttons.push((Some(at), action.as_deref().or(self.action.as_deref())));
            }
        }
        if buttons.is_empty() {
            buttons.push((None, self.action.as_deref()));
        }
        let mut links: Vec<String> =
            buttons.into_iter().filter_map(|(pressed, action)| self.link(pressed, action)).collect();
        links.dedup();
        links
    }

    fn link(&self, pressed: Option<usize>, action: Option<&str>) -> Option<String> {
        let sent = |(at, field): &(usize, &Field)| field.button.is_none() || Some(*at) == pressed;
        let fields = self.fields.iter().enumerate().filter(sent).map(|(_, field)| &*field.query);
        let query = fields.filter(|query| !query.is_empty()).collect::<Vec<_>>().join("&");
        let action = action.unwrap_or_default();
        let action = action.split(['?', '#']).next().unwrap_or_default().trim_ascii_end();
        // A form without an action and fields shows its own page again.
        let link = if query.is_empty() { action.to_owned() } else { format!("{action}?{query}") };
        (!link.is_empty()).then_some(link)
    }
}

fn sends_by_get(of: &Attributes<'_>) -> bool {
    let is = |known: &str| of.method.as_deref().is_some_and(|method| method.eq_ignore_ascii_case(known));
    !is("post") && !is("dialog")
}

/// A name or value as forms send it, in the charset of the page.
fn encoded(text: &str, encoding: &'static Encoding) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\n'], "\r\n");
    let (bytes, ..) = encoding.encode(&text);
    percent_encode(&bytes, IN_FORMS).to_string().replace(' ', "+")
}

#[cfg(test)]
mod tests;
