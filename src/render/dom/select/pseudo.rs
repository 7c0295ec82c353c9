//! Element states that pseudo-classes test (HTML §4.16.3).

use html5ever::{expanded_name, local_name, ns};

use super::super::forms::{html_name, input_type};
use super::super::node::{CustomState, Element, NodeId};
use super::super::tree::Tree;
use super::grammar::PseudoClass;

/// Input types with a text field.
const TYPED: &[&str] =
    &["text", "search", "url", "tel", "email", "password", "date", "month", "week", "time", "datetime-local", "number"];

/// Input types that are chosen or clicked: `required` does not apply to them, even if it is set.
const PRESSED: &[&str] = &["hidden", "range", "color", "submit", "image", "reset", "button"];

impl Tree {
    pub(super) fn is_in_state(&self, id: NodeId, class: &PseudoClass) -> bool {
        let Some(element) = self.element(id) else {
            return false;
        };
        match class {
            PseudoClass::AnyLink | PseudoClass::Link => is_link(element),
            PseudoClass::Checked => self.is_checked(id),
            PseudoClass::Default => self.is_default(id, element),
            PseudoClass::Defined => matches!(element.state.custom, CustomState::Uncustomized | CustomState::Custom),
            PseudoClass::Dir { is_rtl } => self.is_rtl(id) == *is_rtl,
            PseudoClass::Disabled => self.is_disabled(id),
            PseudoClass::Enabled => self.can_be_disabled(id) && !self.is_disabled(id),
            PseudoClass::Focus | PseudoClass::FocusVisible => self.focus == Some(id),
            PseudoClass::FocusWithin => self.focus.is_some_and(|focus| self.contains(id, focus)),
            PseudoClass::Indeterminate => self.is_indeterminate(id, element),
            PseudoClass::Lang(ranges) => {
                self.language(id).is_some_and(|tag| ranges.iter().any(|range| is_in_range(tag, range)))
            }
            PseudoClass::Never(_) => false,
            PseudoClass::Open => {
                matches!(html_name(element), Some("details" | "dialog"))
                    && element.attribute(&local_name!("open")).is_some()
            }
            PseudoClass::Optional => can_be_required(element) && element.attribute(&local_name!("required")).is_none(),
            PseudoClass::PlaceholderShown => self.shows_placeholder(id, element),
            PseudoClass::ReadOnly => !self.is_writable(id, element),
            PseudoClass::ReadWrite => self.is_writable(id, element),
            PseudoClass::Required => can_be_required(element) && element.attribute(&local_name!("required")).is_some(),
            PseudoClass::State(name) => element.state.states.contains(name),
            PseudoClass::Target => self.target == Some(id),
            PseudoClass::Invalid => self.validity_of(id) == Some(false),
            PseudoClass::Valid => self.validity_of(id) == Some(true),
        }
    }

    fn is_default(&self, id: NodeId, element: &Element) -> bool {
        match html_name(element) {
            Some("option") => element.attribute(&local_name!("selected")).is_some(),
            Some("input") if matches!(&*input_type(element), "checkbox" | "radio") => {
                element.attribute(&local_name!("checked")).is_some()
            }
            _ if is_submit(element) => {
                let Some(form) = self.form_owner(id) else {
                    return false;
                };
                let is_of_form = |other: &NodeId| {
                    self.element(*other).is_some_and(is_submit) && self.form_owner(*other) == Some(form)
                };
                self.descendants(self.root(form)).find(is_of_form) == Some(id)
            }
            _ => false,
        }
    }

    fn is_indeterminate(&self, id: NodeId, element: &Element) -> bool {
        match html_name(element) {
            Some("progress") => element.attribute(&local_name!("value")).is_none(),
            Some("input") => match &*input_type(element) {
                "checkbox" => element.state.indeterminate,
                "radio" => !self.radio_group(id, element).any(|radio| self.is_checked(radio)),
                _ => false,
            },
            _ => false,
        }
    }

    /// The radio buttons that exclude each other, including this one (HTML §4.10.5.1.17).
    fn radio_group<'a>(&'a self, id: NodeId, element: &'a Element) -> impl Iterator<Item = NodeId> + 'a {
        let name = element.attribute(&local_name!("name")).filter(|name| !name.is_empty());
        let (root, form) = (self.root(id), self.form_owner(id));
        let others = self.descendants(root).filter(move |other| {
            name.is_some()
                && *other != id
                && self.element(*other).is_some_and(|other| {
                    other.is_html(&local_name!("input"))
                        && input_type(other) == "radio"
                        && other.attribute(&local_name!("name")) == name
                })
                && self.form_owner(*other) == form
        });
        std::iter::once(id).chain(others)
    }

    /// The language (HTML §3.2.6.2): the nearest `xml:lang` or `lang`.
    fn language(&self, id: NodeId) -> Option<&str> {
        // A shadow tree inherits the language of its host.
        let above = |id: &NodeId| self.parent(*id).or_else(|| self.shadow_host(*id));
        std::iter::successors(Some(id), above).find_map(|ancestor| {
            let element = self.element(ancestor)?;
            element.attribute_ns(&ns!(xml), &local_name!("lang")).or_else(|| element.attribute(&local_name!("lang")))
        })
    }

    /// The value of a control, as far as the tree knows it.
    fn control_value(&self, id: NodeId, element: &Element) -> String {
        match (&element.state.value, html_name(element)) {
            (Some(value), _) => value.clone(),
            (None, Some("textarea")) => self.child_text(id),
            (None, _) => element.attribute(&local_name!("value")).unwrap_or_default().to_owned(),
        }
    }

    fn shows_placeholder(&self, id: NodeId, element: &Element) -> bool {
        let takes_text = match html_name(element) {
            Some("textarea") => true,
            Some("input") => !is_pressed(element) && !matches!(&*input_type(element), "checkbox" | "radio" | "file"),
            _ => false,
        };
        takes_text
            && element.attribute(&local_name!("placeholder")).is_some()
            && self.control_value(id, element).is_empty()
    }

    fn is_writable(&self, id: NodeId, element: &Element) -> bool {
        let is_free = || element.attribute(&local_name!("readonly")).is_none() && !self.is_disabled(id);
        match html_name(element) {
            Some("textarea") => is_free(),
            Some("input") if TYPED.contains(&&*input_type(element)) || !is_known_type(element) => is_free(),
            Some(_) => self.is_editable(id),
            None => false,
        }
    }

    /// `contenteditable`, including inheritance.
    fn is_editable(&self, id: NodeId) -> bool {
        let said = self.inclusive_ancestors(id).find_map(|ancestor| {
            let value = self.attribute(ancestor, &local_name!("contenteditable"))?.to_ascii_lowercase();
            match value.as_str() {
                "" | "true" | "plaintext-only" => Some(true),
                "false" => Some(false),
                _ => None,
            }
        });
        said.unwrap_or(false)
    }
}

/// `a` and `area` with a target (HTML §4.16.3), and SVG's `a`.
pub(super) fn is_link(element: &Element) -> bool {
    let has_href = || element.attribute(&local_name!("href")).is_some();
    match element.name.expanded() {
        expanded_name!(html "a") | expanded_name!(html "area") => has_href(),
        expanded_name!(svg "a") => has_href() || element.attribute_ns(&ns!(xlink), &local_name!("href")).is_some(),
        _ => false,
    }
}

fn is_submit(element: &Element) -> bool {
    match html_name(element) {
        Some("input") => matches!(&*input_type(element), "submit" | "image"),
        Some("button") => {
            let kind = element.attribute(&local_name!("type")).unwrap_or_default().to_ascii_lowercase();
            !matches!(kind.as_str(), "button" | "reset")
        }
        _ => false,
    }
}

fn is_pressed(element: &Element) -> bool {
    PRESSED.contains(&&*input_type(element))
}

fn is_known_type(element: &Element) -> bool {
    let kind = input_type(element);
    let kind = kind.as_str();
    TYPED.contains(&kind) || PRESSED.contains(&kind) || matches!(kind, "checkbox" | "radio" | "file")
}

fn can_be_required(element: &Element) -> bool {
    match html_name(element) {
        Some("select" | "textarea") => true,
        Some("input") => !is_pressed(element),
        _ => false,
    }
}

/// Extended filtering (RFC 4647 §3.3.2), as Selectors 4 §7.2 asks for.
fn is_in_range(tag: &str, range: &str) -> bool {
    if tag.is_empty() || range.is_empty() {
        return tag.is_empty() && range.is_empty();
    }
    let mut subtags = tag.split('-');
    let mut wanted = range.split('-');
    let is_first = |wanted: &str, have: &str| wanted == "*" || wanted.eq_ignore_ascii_case(have);
    if !wanted.next().zip(subtags.next()).is_some_and(|(wanted, have)| is_first(wanted, have)) {
        return false;
    }
    wanted.filter(|wanted| *wanted != "*").all(|wanted| {
        // A singleton ends the search: what follows it belongs to an extension.
        subtags
            .find(|have| have.eq_ignore_ascii_case(wanted) || have.len() == 1)
            .is_some_and(|have| have.eq_ignore_ascii_case(wanted))
    })
}
