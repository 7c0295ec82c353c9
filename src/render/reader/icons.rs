//! Controls without text, or only with signs: the names of their icons reveal what they do. While one with an unknown icon is clicked,
//! nothing is posted ([`super::explore`]).

use super::labels::Labels;
use super::shown::text_of;
use super::words::{ICON_BACK, ICON_HARM, ICON_KNOWN, ICON_ON, ICON_UPWARD, NEVER};
use crate::dom::{Element, NodeId, Tree};
use crate::limits;
use gleaner_base::words::Topic;

/// Signs that open something or offer a file in any control.
const SIGNS: &str = "+-−–▶►▸▷▼▾▽⏵⏷›‹»«→←>❯❮<⬇⇩↓⤓⭳🧲📥💾📁📂📄☰⋮⋯…•.ℹⓘ🔍🔎👁?×✕✖↗/|";

/// Attributes with the name of an icon, and those with its URL.
const ATTRIBUTES: &[&str] =
    &["class", "id", "name", "icon", "title", "alt", "aria-label", "data-testid", "data-icon", "data-lucide"];

/// What the icons of a control without text reveal about it.
pub(super) struct Icons {
    names: String,
    /// Clicking it changes something.
    pub is_harm: bool,
    /// Its effect is unknown.
    pub is_unsure: bool,
}

impl Icons {
    /// The icons of a control with these labels; `None` if it has text.
    pub fn of(tree: &Tree, id: NodeId, element: &Element, labels: &Labels) -> Option<Self> {
        let inside: Vec<NodeId> =
            tree.descendants(id).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS).collect();
        let is_font = |of: &Element| {
            let class = of.attribute(&"class".into()).unwrap_or_default();
            class.contains("material-icons") || class.contains("material-symbols")
        };
        // Icon fonts write an icon as text.
        let is_written = is_font(element) || inside.iter().filter_map(|of| tree.element(*of)).any(is_font);
        let has_letters = labels.words.contains(char::is_alphabetic);
        if has_letters && !is_written {
            return None;
        }
        let text = text_of(tree, id, limits::RENDER_CONTROL_ELEMENTS);
        let is_number = inside.is_empty() && text.chars().any(|c| c.is_ascii_digit()) && !text.contains(['+', '-']);
        // The alternative text of a poster describes its content.
        let is_described = inside.iter().filter_map(|of| tree.element(*of)).any(|of| {
            let alt = of.attribute(&"alt".into()).unwrap_or_default();
            alt.contains(char::is_alphabetic)
                && !super::words::says(NEVER, &plain(alt), true)
                && !says(ICON_HARM, &plain(alt))
        });
        if is_described && !is_written || is_number {
            return None;
        }
        let inner = inside.iter().filter_map(|of| tree.element(*of));
        let mut names = inner.fold(names_of(element), |all, of| all + &names_of(of));
        if is_written {
            names = format!("{names} {}", plain(&text));
        }
        let signs = labels.words.trim();
        let is_harm = says(ICON_HARM, &names)
            || ICON_HARM.iter().any(|sign| !sign.contains(char::is_alphanumeric) && signs.contains(sign))
            || inside_say_harm(tree, &inside);
        let has_known_signs = !signs.is_empty() && !signs.contains(|c: char| c.is_ascii_digit());
        let is_known_sign = has_known_signs
            && signs.chars().all(|c| SIGNS.contains(c) || c == '\u{fe0f}' || c.is_whitespace() || !is_visible(c));
        let gives = signs.contains(['⬇', '⇩', '⤓', '⭳', '🧲', '📥', '💾']);
        let opens = ["aria-haspopup", "aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle"];
        let is_told = opens.iter().any(|name| element.attribute(&(*name).into()).is_some());
        let is_named = says(ICON_KNOWN, &names) && !says(ICON_UPWARD, &names);
        let is_unsure = !(is_known_sign || gives || is_told || is_named);
        Some(Self { names, is_harm, is_unsure })
    }

    /// Separates unknown icons from each other.
    pub fn kind(&self) -> String {
        self.names.chars().filter(|c| !c.is_ascii_digit()).take(limits::RENDER_ROW_TEXT_CHARS).collect()
    }

    /// Whether it points forward, or back.
    pub fn points(&self) -> Option<bool> {
        points(&self.names)
    }
}

/// Whether an icon of a pager turns forward, or back. Only if exactly one that points the other way is beside it.
pub(super) fn turns(tree: &Tree, id: NodeId, icons: &Icons) -> Option<bool> {
    let on = icons.points()?;
    let are_two = |above: NodeId| {
        let beside = tree.children(above).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS);
        let ways: Vec<bool> = beside.filter_map(|of| points(&all_names(tree, of))).collect();
        ways.len() == 2 && ways.contains(&true) && ways.contains(&false)
    };
    tree.ancestors(id).take(2).any(are_two).then_some(on)
}

fn points(names: &str) -> Option<bool> {
    match (says(ICON_ON, names), says(ICON_BACK, names)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

fn all_names(tree: &Tree, id: NodeId) -> String {
    let all = [id]
        .into_iter()
        .chain(tree.descendants(id).filter(|of| tree.is_element(*of)).take(limits::RENDER_CONTROL_ELEMENTS));
    let mut names = all.filter_map(|of| tree.element(of)).fold(String::new(), |all, of| all + &names_of(of));
    names.push_str(&plain(&text_of(tree, id, limits::RENDER_CONTROL_ELEMENTS)));
    names
}

/// Whether an element inside a control has a harmful title or label.
fn inside_say_harm(tree: &Tree, inside: &[NodeId]) -> bool {
    inside.iter().filter_map(|of| tree.element(*of)).any(|of| {
        ["title", "aria-label", "alt"].iter().any(|name| {
            of.attribute(&(*name).into()).is_some_and(|given| super::words::says(NEVER, &plain(given), true))
        })
    })
}

fn names_of(element: &Element) -> String {
    let mut names = String::from(" ");
    for name in ATTRIBUTES {
        names.push_str(&plain(element.attribute(&(*name).into()).unwrap_or_default()));
        names.push(' ');
    }
    // Only the icon's own URL counts, not the target of a link in it.
    if matches!(&*element.name().local, "use" | "image" | "img") {
        for attribute in element.attributes() {
            if matches!(&*attribute.name.local, "href" | "xlink:href" | "src") && !attribute.value.starts_with("data:")
            {
                names.push_str(&plain(attribute.value.rsplit('/').next().unwrap_or_default()));
                names.push(' ');
            }
        }
    }
    names
}

fn is_visible(c: char) -> bool {
    !c.is_control() && !('\u{200b}'..='\u{200f}').contains(&c)
}

fn says(words: Topic, names: &str) -> bool {
    super::words::says(words, names, true)
}

/// In lower case, with spaces between words: "DeleteIcon", "fa-trash-alt" and "trash2" consist of several.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 8);
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            plain.push(' ');
        }
        was_lower = c.is_lowercase();
        match c {
            '-' | '_' | '.' | '#' | '/' | '=' | '&' | '?' => plain.push(' '),
            c if c.is_ascii_digit() => plain.push(' '),
            c => plain.extend(c.to_lowercase()),
        }
    }
    plain
}
