//! The text and look of a row: the text finds its record, the look separates it from rows of another sort.

use super::super::controls::Control;
use super::super::shown::text_of;
use super::super::words::STATES;
use crate::dom::{Element, NodeId, Tree};
use crate::limits;
use crate::web::html::load::Window;
use crate::web::read;
use gleaner_page::shortcut::rows::{Mark, Trait};

/// How many levels above a control its row may be, and how many elements and texts of the row are examined.
const ROW_WITHIN: usize = 6;
const ROW_NODES: usize = 300;

/// Maximum length of a button's label.
const LABEL_CHARS: usize = 24;

#[derive(Default)]
pub(super) struct RowFeatures {
    pub marks: Vec<Mark>,
    pub look: Vec<Trait>,
}

/// The text and look of the row of a control.
pub(super) fn by(window: &mut Window, control: &Control) -> RowFeatures {
    let id = control.by_delegate.unwrap_or(control.id);
    let said = window.engine.look(|context| {
        read(context, |tree| {
            // A control that opens something belongs to no row: what it opens has its own rows.
            if tree.element(id).is_some_and(|of| of.attribute(&"aria-expanded".into()).is_some()) {
                return RowFeatures::default();
            }
            let is_row = |of: &NodeId| {
                !control.row.is_empty() && text_of(tree, *of, limits::RENDER_ROW_TEXT_CHARS) == control.row
            };
            let row = [id].into_iter().chain(tree.ancestors(id)).take(ROW_WITHIN).find(is_row).unwrap_or(id);
            RowFeatures { marks: marks(tree, row), look: look(tree, row) }
        })
    });
    said.unwrap_or_default()
}

fn marks(tree: &Tree, row: NodeId) -> Vec<Mark> {
    const NAMES: &[&str] = &["id", "title", "alt", "value", "name", "aria-label", "key"];
    let mut marks = Vec::new();
    for id in [row].into_iter().chain(tree.descendants(row)).take(ROW_NODES) {
        if let Some(text) = tree.character_data(id).filter(|_| tree.is_text(id)) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !text.is_empty() && text.len() <= limits::URL_BYTES_MAX {
                marks.push(Mark { attribute: None, text });
            }
        }
        for attribute in tree.element(id).into_iter().flat_map(|element| element.attributes()) {
            let name = &*attribute.name.local;
            let is_short = !attribute.value.is_empty() && attribute.value.len() <= limits::URL_BYTES_MAX;
            if is_short && (name.starts_with("data-") || NAMES.contains(&name)) {
                marks.push(Mark { attribute: Some(name.to_owned()), text: attribute.value.trim().to_owned() });
            }
        }
    }
    marks
}

/// The elements of a row with their classes, one by one and all together, and the labels of its buttons. Names with numbers are specific
/// to one row.
fn look(tree: &Tree, row: NodeId) -> Vec<Trait> {
    let (mut look, mut all) = (Vec::new(), Vec::new());
    for id in [row].into_iter().chain(tree.descendants(row)).take(ROW_NODES) {
        let Some(element) = tree.element(id) else { continue };
        let local = &*element.name().local;
        let class = element.attribute(&"class".into()).unwrap_or_default().to_lowercase();
        let is_disabled = element.attribute(&"disabled".into()).map(|_| "(disabled)");
        let names = class.split_whitespace().chain(is_disabled).filter(|name| is_of_several(name));
        let names: Vec<&str> = names.filter(|name| !STATES.has(name)).collect();
        look.extend(names.iter().map(|name| Trait::of_look(&format!("class of {local}"), name)));
        all.push(format!("{local} {}", names.join(" ")));
        if let Some(label) = label(tree, id, element) {
            look.push(Trait::of_look(&format!("words of {local}"), &label));
        }
    }
    // A row with several values of one sort may have one more or less of them.
    all.sort_unstable();
    all.dedup();
    look.push(Trait::of_look("elements", &all.join("\n")));
    look.sort_unstable();
    look.dedup();
    look
}

fn is_of_several(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_ascii_digit())
}

fn label(tree: &Tree, id: NodeId, element: &Element) -> Option<String> {
    let local = &*element.name().local;
    let is_button = matches!(local, "a" | "button") || element.attribute(&"role".into()) == Some("button");
    let label =
        is_button.then(|| text_of(tree, id, LABEL_CHARS)).filter(|label| label.chars().count() < LABEL_CHARS)?;
    is_of_several(&label).then_some(label)
}
