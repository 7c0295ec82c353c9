//! What a reader does with a page, and the links that it shows then.
//!
//! Each act begins what a person's act would begin; the page's scripts run on in [`Engine::run`](crate::engine::Engine::run).

use boa_engine::{Context, JsResult, JsValue};
use html5ever::local_name;
use url::Url;

use super::cssom_view::layout;
use super::dom::document;
use super::html::load::Window;
use super::html::{history, navigation, storage};
use super::{html, intersection_observer, listens_to, own_document, read, wrap};
use crate::dom::{HtmlOptions, NodeId, Selectors, Tree};
use crate::engine::{events, jobs, realm};
use crate::limits;
use crate::wire::{End, Filling, How, Link, Navigation, Reach, Stored};

impl Window {
    /// All `a[href]` in the order of the document, those of open shadow roots behind those around them.
    pub fn links(&mut self) -> Vec<Link> {
        self.engine.look(links).unwrap_or_default()
    }

    /// The addresses that the page's scripts wanted to go to, or a reader's acts did, so far.
    pub fn navigations(&mut self) -> Vec<Navigation> {
        self.navigations_since(0)
    }

    /// The same but for the first ones.
    pub fn navigations_since(&mut self, first: usize) -> Vec<Navigation> {
        self.engine.look(|context| navigation::taken_since(first, context)).unwrap_or_default()
    }

    /// What scripts have left in the page's storages.
    pub fn stored(&mut self) -> Stored {
        self.engine.with(storage::told).unwrap_or_default()
    }

    /// Clicks the first element that the selectors fit, wherever it is; false when there is none.
    pub fn click(&mut self, selectors: &str) -> bool {
        let Ok(selectors) = Selectors::parse(selectors) else { return false };
        let clicked = self.engine.with(|context| {
            let found = find(&selectors, context);
            found.is_some_and(|id| click(id, context).is_ok())
        });
        clicked == Some(true)
    }

    /// Clicks an element; an option is chosen from its list.
    pub fn click_node(&mut self, id: NodeId) {
        self.engine.with(|context| {
            if read(context, |tree| tree.element(id).is_some_and(|element| element.is_html(&local_name!("option")))) {
                html::filling::choose(id, context);
            } else {
                // A click that throws is told where it throws.
                let _ = click(id, context);
            }
        });
    }

    /// Ticks a box, or unticks it; false where it stands in the page no more, or is so already.
    pub fn set_box(&mut self, id: NodeId, ticked: bool) -> bool {
        let is_other = self.engine.look(|context| {
            read(context, |tree| tree.is_connected(id) && tree.element(id).is_some() && tree.is_checked(id) != ticked)
        });
        if is_other == Some(true) {
            self.click_node(id);
        }
        is_other == Some(true)
    }

    /// Fills controls in, one after the other, and sends what they belong to, or leaves the last of them where nothing is sent; the
    /// page's scripts run on behind each. Gives the controls that are not there, at which nothing more is done.
    pub fn fill(&mut self, filling: &Filling, reach: Reach) -> (End, Vec<u32>) {
        for (mark, text) in filling.entries() {
            let done =
                self.engine.with(|context| html::filling::fill_in(mark, text.as_deref().map(String::as_str), context));
            let end = self.engine.run(reach);
            if done != Some(true) || end == End::Spent {
                return (end, vec![mark]);
            }
        }
        let Some(submit) = filling.submit else {
            self.engine.with(html::filling::leave);
            return (self.engine.run(reach), Vec::new());
        };
        let unsent = self.engine.with(|context| html::filling::send(submit, context).err()).flatten();
        (self.engine.run(reach), unsent.into_iter().collect())
    }

    /// The document as markup for a reader who is to find its controls again.
    pub fn marked_html(&mut self) -> String {
        let options = HtmlOptions { marked: true, ..HtmlOptions::default() };
        let text = self.engine.with(|context| {
            let document = own_document(context);
            read(context, |tree| tree.html_with(document, &options))
        });
        text.unwrap_or_default()
    }

    /// Scrolls the window down as far as it goes.
    pub fn scroll_to_bottom(&mut self) {
        self.engine.with(layout::scroll_down);
    }

    /// Scrolls on by what is in view, and boxes that somebody watches the scrolling of; true at the end of all of them.
    pub fn scroll_on(&mut self) -> bool {
        let done = self.engine.with(|context| {
            let document = own_document(context);
            let elements: Vec<NodeId> =
                read(context, |tree| tree.descendants(document).filter(|id| tree.is_element(*id)).collect());
            let boxes: Vec<NodeId> = elements
                .into_iter()
                .filter(|id| listens_to(*id, "scroll", context))
                .take(limits::RENDER_BOXES_MAX)
                .collect();
            jobs::outside(context, |context| layout::scroll_on(&boxes, context))
        });
        done.unwrap_or(true)
    }

    /// Looks away from what is in view, so that observers tell of it anew.
    pub fn look_away(&mut self) {
        self.engine.with(|context| jobs::outside(context, intersection_observer::look_away));
    }

    /// Goes to an address as if it were typed behind the page's: a fragment stays within the page.
    pub fn go_to(&mut self, address: &str) {
        self.engine.with(|context| {
            let document = own_document(context);
            if let Ok(url) = document::base_url(document, context).join(address) {
                jobs::outside(context, |context| {
                    navigation::navigate(Navigation::get(url, How::Location), false, context);
                });
            }
        });
    }

    /// Goes back in the page's own history.
    pub fn back(&mut self) {
        self.engine.with(|context| history::go(-1, context));
    }
}

/// Scrolls the window, and what is scrolled within it, to its head.
pub(crate) fn scroll_home(window: &mut Window) {
    window.engine.with(|context| {
        let document = own_document(context);
        let elements: Vec<NodeId> =
            read(context, |tree| tree.descendants(document).filter(|id| tree.is_element(*id)).collect());
        let boxes: Vec<NodeId> = elements.into_iter().filter(|id| layout::inner_scroll(*id, context).1 > 0.0).collect();
        jobs::outside(context, |context| {
            layout::scroll_to(0.0, 0.0, context);
            boxes.iter().for_each(|id| layout::scroll_inner_to(*id, 0.0, 0.0, context));
        });
    });
}

/// Presses a key where the focus is, or at an element where nothing has it.
pub(crate) fn press_key(key: &'static str, code: i32, otherwise: NodeId, context: &mut Context) {
    let focus = read(context, |tree| tree.focus.filter(|id| tree.is_connected(*id)));
    let Ok(target) = wrap(focus.unwrap_or(otherwise), context) else { return };
    let key = boa_engine::js_string!(key);
    let members: &[(&'static str, JsValue)] = &[
        ("view", realm::window(context).into()),
        ("key", key.clone().into()),
        ("code", key.into()),
        ("keyCode", code.into()),
        ("which", code.into()),
    ];
    jobs::outside(context, |context| {
        for kind in ["keydown", "keyup"] {
            events::fire(&target, "KeyboardEvent", kind, (true, true), members, context);
        }
    });
}

/// A document and the shadow roots in it, outer ones first: those that are closed to its scripts show as any other.
pub(crate) fn roots(tree: &Tree, document: NodeId) -> Vec<NodeId> {
    let mut roots = vec![document];
    let mut next = 0;
    while let Some(root) = roots.get(next).copied() {
        next += 1;
        roots.extend(tree.descendants(root).filter_map(|id| tree.element(id)?.shadow_root()));
    }
    roots
}

fn find(selectors: &Selectors, context: &Context) -> Option<NodeId> {
    let document = own_document(context);
    read(context, |tree| roots(tree, document).into_iter().find_map(|root| tree.query_selector(root, selectors)))
}

fn links(context: &Context) -> Vec<Link> {
    let document = own_document(context);
    let base = document::base_url(document, context);
    read(context, |tree| {
        let mut found = Vec::new();
        for root in roots(tree, document) {
            found.extend(tree.descendants(root).filter_map(|id| link(tree, id, &base)));
        }
        found
    })
}

/// The links that markup has by itself, whatever its scripts would make of it, in its order.
pub fn links_of_markup(markup: &str, address: &Url) -> Vec<Link> {
    let mut tree = Tree::default();
    // A document that is full keeps what it holds, and is not told here.
    let Ok(document) = tree.parse_document(markup) else { return Vec::new() };
    let base = tree.descendants(document).find_map(|id| {
        let element = tree.element(id).filter(|element| element.is_html(&local_name!("base")))?;
        address.join(element.attribute(&local_name!("href"))?).ok()
    });
    let base = base.unwrap_or_else(|| address.clone());
    tree.descendants(document).filter_map(|id| link(&tree, id, &base)).collect()
}

/// The link that an element is, if it is one.
pub(crate) fn link(tree: &Tree, id: NodeId, base: &Url) -> Option<Link> {
    let element = tree.element(id).filter(|element| element.is_html(&local_name!("a")))?;
    let href = element.attribute(&local_name!("href"))?;
    let url = base.join(href).map_or_else(|_| href.to_owned(), String::from);
    let text = tree.text_content(id).unwrap_or_default();
    Some(Link { url, text: text.split_whitespace().collect::<Vec<_>>().join(" ") })
}

/// What tells an element that a mouse comes over it.
pub(crate) const HOVERS: [&str; 4] = ["pointerover", "pointerenter", "mouseover", "mouseenter"];

/// The events of a click with the first button of a mouse, which comes from elsewhere (UI Events §5.3, Pointer Events §4).
pub(crate) fn click(id: NodeId, context: &mut Context) -> JsResult<()> {
    let target = wrap(id, context)?;
    let place = layout::place(id, context).unwrap_or_default();
    let (left, top) = layout::scroll(context);
    let (x, y) = (place.left + place.width / 2.0 - left, place.top + place.height / 2.0 - top);
    // `enter` does not bubble: each element that the mouse comes into is told, the outer ones first.
    let mut around: Vec<NodeId> = read(context, |tree| tree.ancestors(id).filter(|id| tree.is_element(*id)).collect());
    around.reverse();
    around.push(id);
    let steps = [
        ("PointerEvent", "pointerover"),
        ("PointerEvent", "pointerenter"),
        ("MouseEvent", "mouseover"),
        ("MouseEvent", "mouseenter"),
        ("PointerEvent", "pointerdown"),
        ("MouseEvent", "mousedown"),
        ("PointerEvent", "pointerup"),
        ("MouseEvent", "mouseup"),
        ("PointerEvent", "click"),
    ];
    jobs::outside(context, |context| {
        for (interface, kind) in steps {
            let members: &[(&'static str, JsValue)] = &[
                ("view", realm::window(context).into()),
                ("detail", 1.into()),
                ("clientX", x.into()),
                ("clientY", y.into()),
                ("pageX", (x + left).into()),
                ("pageY", (y + top).into()),
                ("buttons", i32::from(kind.ends_with("down")).into()),
                ("which", 1.into()),
                ("pointerId", 1.into()),
                ("pointerType", boa_engine::js_string!("mouse").into()),
                ("isPrimary", true.into()),
            ];
            if !kind.ends_with("enter") {
                events::fire(&target, interface, kind, (true, true), members, context);
                continue;
            }
            for id in &around {
                if listens_to(*id, kind, context)
                    && let Ok(target) = wrap(*id, context)
                {
                    events::fire(&target, interface, kind, (false, false), members, context);
                }
            }
        }
    });
    Ok(())
}
