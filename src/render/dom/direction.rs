//! Directionality (HTML §3.2.6.4): the direction of an element's text, for `:dir()` and `dirname`.

use html5ever::{local_name, ns};

use super::node::{Element, NodeId};
use super::tree::Tree;

/// Input types whose value determines the direction of `dir=auto`.
const TELLING: &[&str] = &["hidden", "text", "search", "tel", "url", "email", "password", "submit", "reset", "button"];

/// The value of `dir` on HTML elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirValue {
    Rtl,
    Ltr,
    Auto,
}

fn said(element: &Element) -> Option<DirValue> {
    let word = element.attribute(&local_name!("dir")).filter(|_| element.name.ns == ns!(html))?;
    [("rtl", DirValue::Rtl), ("ltr", DirValue::Ltr), ("auto", DirValue::Auto)]
        .into_iter()
        .find_map(|(known, said)| word.eq_ignore_ascii_case(known).then_some(said))
}

impl Tree {
    /// Whether the text of an element runs from right to left.
    pub fn is_rtl(&self, id: NodeId) -> bool {
        let mut at = Some(id);
        while let Some(id) = at {
            if let Some(element) = self.element(id) {
                let is_bdi = element.is_html(&local_name!("bdi"));
                match said(element) {
                    Some(DirValue::Rtl) => return true,
                    Some(DirValue::Ltr) => return false,
                    Some(DirValue::Auto) => return self.auto_direction(id).unwrap_or(false),
                    None if is_bdi => return self.auto_direction(id).unwrap_or(false),
                    None if element.is_html(&local_name!("input")) && super::forms::input_type(element) == "tel" => {
                        return false;
                    }
                    None => {}
                }
            }
            at = self.parent(id).or_else(|| self.shadow_host(id));
        }
        false
    }

    /// The direction of an element's text; `None` if its text has none.
    fn auto_direction(&self, id: NodeId) -> Option<bool> {
        let element = self.element(id)?;
        let is_input =
            element.is_html(&local_name!("input")) && TELLING.contains(&super::forms::input_type(element).as_str());
        if is_input || element.is_html(&local_name!("textarea")) {
            let value = match &element.state.value {
                Some(value) => value.clone(),
                None if is_input => element.attribute(&local_name!("value")).unwrap_or_default().to_owned(),
                None => self.child_text(id),
            };
            // A value without letters is left-to-right.
            return text_direction(&value).or((!value.is_empty()).then_some(false));
        }
        if element.is_html(&local_name!("slot")) && self.shadow_host(self.root(id)).is_some() {
            // A slot in a shadow tree takes the direction of its assigned nodes.
            return self.assigned_nodes(id).into_iter().find_map(|node| match self.element(node) {
                Some(element) if counts(element) => self.contained_direction(node),
                Some(_) => None,
                None => self.character_data(node).filter(|_| self.is_text(node)).and_then(text_direction),
            });
        }
        self.contained_direction(id)
    }

    /// "Contained text auto directionality": skips elements that have their own direction.
    fn contained_direction(&self, root: NodeId) -> Option<bool> {
        let mut next = self.next_in_order(root, root);
        while let Some(id) = next {
            if let Some(element) = self.element(id) {
                if !counts(element) {
                    next = self.next_outside(id, root);
                    continue;
                }
                if element.is_html(&local_name!("slot"))
                    && let Some(host) = self.shadow_host(self.root(id))
                {
                    return Some(self.is_rtl(host));
                }
            } else if self.is_text(id)
                && let Some(found) = self.character_data(id).and_then(text_direction)
            {
                return Some(found);
            }
            next = self.next_in_order(id, root);
        }
        None
    }

    /// The next node in tree order that is not below this one, within a root.
    fn next_outside(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
        let up = std::iter::successors(Some(id), |id| self.parent(*id)).take_while(|id| *id != root);
        up.filter_map(|id| self.next_sibling(id)).next()
    }
}

/// Whether the text of an element counts for the elements around it.
fn counts(element: &Element) -> bool {
    let names = [local_name!("bdi"), local_name!("script"), local_name!("style"), local_name!("textarea")];
    said(element).is_none() && !names.iter().any(|name| element.is_html(name))
}

/// The direction of the first letter.
fn text_direction(text: &str) -> Option<bool> {
    text.chars().find(|letter| letter.is_alphabetic()).map(is_rtl_letter)
}

fn is_rtl_letter(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}
