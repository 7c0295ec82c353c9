//! Form control state for selectors and scripts (HTML §4.10): owner, checkedness, disabledness.

use html5ever::{LocalName, local_name, ns};

use super::node::{Element, NodeId};
use super::tree::Tree;

impl Tree {
    /// The form owner (HTML §4.10.18.3).
    pub fn form_owner(&self, control: NodeId) -> Option<NodeId> {
        let is_form = |id: NodeId| self.element(id).is_some_and(|element| element.is_html(&local_name!("form")));
        if let Some(id) = self.attribute(control, &local_name!("form"))
            && self.is_connected(control)
        {
            return self.element_by_id(self.root(control), id).filter(|form| is_form(*form));
        }
        let of_parser = self.element(control)?.state.parser_form;
        of_parser
            .filter(|form| is_form(*form) && self.root(*form) == self.root(control))
            .or_else(|| self.ancestors(control).find(|ancestor| is_form(*ancestor)))
    }

    /// "Actually disabled" (HTML §4.15).
    pub fn is_disabled(&self, id: NodeId) -> bool {
        let Some(element) = self.element(id) else {
            return false;
        };
        let has_attribute = || element.attribute(&local_name!("disabled")).is_some();
        match html_name(element) {
            Some("button" | "input" | "select" | "textarea") => has_attribute() || self.in_disabled_fieldset(id),
            Some("fieldset") => has_attribute() || self.in_disabled_fieldset(id),
            _ if element.state.form_associated => has_attribute() || self.in_disabled_fieldset(id),
            Some("optgroup") => has_attribute(),
            Some("option") => has_attribute() || self.parent(id).is_some_and(|parent| self.is_disabled_group(parent)),
            _ => false,
        }
    }

    /// Whether `:enabled` and `:disabled` apply at all.
    pub fn can_be_disabled(&self, id: NodeId) -> bool {
        let Some(element) = self.element(id) else { return false };
        let name = html_name(element);
        element.state.form_associated
            || matches!(name, Some("button" | "input" | "select" | "textarea" | "fieldset" | "optgroup" | "option"))
    }

    fn is_disabled_group(&self, id: NodeId) -> bool {
        self.element(id).is_some_and(|element| {
            element.is_html(&local_name!("optgroup")) && element.attribute(&local_name!("disabled")).is_some()
        })
    }

    /// Below a disabled fieldset, but not in its first legend.
    fn in_disabled_fieldset(&self, id: NodeId) -> bool {
        let mut below = id;
        for ancestor in self.ancestors(id) {
            if let Some(element) = self.element(ancestor)
                && element.is_html(&local_name!("fieldset"))
                && element.attribute(&local_name!("disabled")).is_some()
            {
                let is_legend = |child: &NodeId| {
                    self.element(*child).is_some_and(|element| element.is_html(&local_name!("legend")))
                };
                if self.child_elements(ancestor).find(is_legend) != Some(below) {
                    return true;
                }
            }
            below = ancestor;
        }
        false
    }

    /// Checkedness of a checkbox or radio button, selectedness of an option.
    pub fn is_checked(&self, id: NodeId) -> bool {
        let Some(element) = self.element(id) else {
            return false;
        };
        match html_name(element) {
            Some("input") => {
                let is_checkable = matches!(&*input_type(element), "checkbox" | "radio");
                let by_attribute = || element.attribute(&local_name!("checked")).is_some();
                is_checkable && element.state.checked.unwrap_or_else(by_attribute)
            }
            Some("option") => self.is_selected(id, element),
            _ => false,
        }
    }

    /// An option that is selected itself, or the one that a drop-down list shows because none is (HTML §4.10.7).
    fn is_selected(&self, id: NodeId, option: &Element) -> bool {
        let own = |element: &Element| {
            element.state.checked.unwrap_or_else(|| element.attribute(&local_name!("selected")).is_some())
        };
        let is_select = |id: &NodeId| self.element(*id).is_some_and(|element| element.is_html(&local_name!("select")));
        let Some(select) = self.ancestors(id).find(is_select) else {
            return own(option);
        };
        let list = self.element(select);
        let attribute = |name: LocalName| list.and_then(|list| list.attribute(&name));
        if attribute(local_name!("multiple")).is_some() {
            return own(option);
        }
        let (mut chosen, mut shown, mut first_enabled) = (None, None, None);
        for other in self.descendants(select) {
            let Some(element) = self.element(other).filter(|element| element.is_html(&local_name!("option"))) else {
                continue;
            };
            if own(element) {
                // With several selected in a single-choice list, the last one counts.
                chosen = Some(other);
            }
            if list.is_some_and(|list| list.state.shown_option == Some(other)) {
                shown = Some(other);
            }
            if first_enabled.is_none() && !self.is_disabled(other) {
                first_enabled = Some(other);
            }
        }
        let size = attribute(local_name!("size")).and_then(|size| size.trim().parse::<u32>().ok()).unwrap_or(1);
        // A script may have set a list to show none of its options.
        let shows_none = list.is_some_and(|list| list.state.checked == Some(false));
        chosen.or(if size <= 1 && !shows_none { shown.or(first_enabled) } else { None }) == Some(id)
    }
}

/// The local name of an HTML element.
pub(super) fn html_name(element: &Element) -> Option<&str> {
    (element.name.ns == ns!(html)).then_some(&*element.name.local)
}

/// The type of an input in lower case, `text` if it has none. Unknown types are returned as written.
pub(super) fn input_type(element: &Element) -> String {
    match element.attribute(&local_name!("type")) {
        Some("") | None => "text".into(),
        Some(kind) => kind.to_ascii_lowercase(),
    }
}
