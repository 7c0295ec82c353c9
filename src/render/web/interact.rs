//! Acts of a reader on a page, and the links that the page shows.
//!
//! Each act starts what a person's act would start; the page's scripts run on in [`Engine::run`](crate::engine::Engine::run).

use boa_engine::{Context, JsResult, JsValue};
use html5ever::local_name;
use url::Url;

use super::cssom_view::{layout, unshown};
use super::dom::document;
use super::html::load::Window;
use super::html::{history, navigation, storage};
use super::{html, intersection_observer, listens_to, missing, own_document, read, wrap};
use crate::dom::{HtmlOptions, NodeId, Selectors, Tree};
use crate::engine::{events, jobs, realm};
use crate::limits;
use crate::wire::{End, Filling, How, Link, Navigation, Reach, Stored, Unshown};

impl Window {
    /// All `a[href]` in document order; those of open shadow roots follow those of the tree around them.
    pub fn links(&mut self) -> Vec<Link> {
        self.engine.look(links).unwrap_or_default()
    }

    /// The URLs that scripts or reader acts tried to navigate to so far.
    pub fn navigations(&mut self) -> Vec<Navigation> {
        self.navigations_since(0)
    }

    /// The same without the first ones.
    pub fn navigations_since(&mut self, first: usize) -> Vec<Navigation> {
        self.engine.look(|context| navigation::taken_since(first, context)).unwrap_or_default()
    }

    /// The interfaces of browsers that the page's scripts asked for and that are missing here.
    pub fn missing(&mut self) -> Vec<String> {
        self.engine.look(missing::told).unwrap_or_default()
    }

    /// What the boxes of its lists hold back; with those that go on below what they show, if `below` is set.
    pub fn unshown(&mut self, below: bool) -> Unshown {
        self.engine.with(|context| unshown::told(below, context)).unwrap_or_default()
    }

    /// What scripts left in the page's storages.
    pub fn stored(&mut self) -> Stored {
        self.engine.with(storage::told).unwrap_or_default()
    }

    /// Clicks the first element that the selector matches, wherever it is; false if there is none.
    pub fn click(&mut self, selectors: &str) -> bool {
        let Ok(selectors) = Selectors::parse(selectors) else { return false };
        let clicked = self.engine.with(|context| {
            let found = find(&selectors, context);
            found.is_some_and(|id| click(id, context).is_ok())
        });
        clicked == Some(true)
    }

    /// Clicks an element; an option is chosen in its list.
    pub fn click_node(&mut self, id: NodeId) {
        self.engine.with(|context| {
            if read(context, |tree| tree.element(id).is_some_and(|element| element.is_html(&local_name!("option")))) {
                html::filling::choose(id, context);
            } else {
                // An exception is reported where it is thrown.
                let _ = click(id, context);
            }
        });
    }

    /// Ticks or unticks a box; false if it is gone or already in that state.
    pub fn set_box(&mut self, id: NodeId, ticked: bool) -> bool {
        let is_other = self.engine.look(|context| {
            read(context, |tree| tree.is_connected(id) && tree.element(id).is_some() && tree.is_checked(id) != ticked)
        });
        if is_other == Some(true) {
            self.click_node(id);
        }
        is_other == Some(true)
    }

    /// Fills in controls one by one and submits their form, or blurs the last one if nothing is submitted; the page's scripts run after
    /// each. Returns the controls that do not exist; in that case nothing more is done.
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

    /// The document as markup with marked controls, so that a reader can find them again.
    pub fn marked_html(&mut self) -> String {
        let options = HtmlOptions { marked: true, ..HtmlOptions::default() };
        let text = self.engine.with(|context| {
            let document = own_document(context);
            read(context, |tree| tree.html_with(document, &options))
        });
        text.unwrap_or_default()
    }

    /// Scrolls the window to the bottom.
    pub fn scroll_to_bottom(&mut self) {
        self.engine.with(layout::scroll_down);
    }

    /// Scrolls the window by its height, and boxes that have a scroll listener; true at the end of all of them.
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

    /// Briefly moves everything out of view, so that observers report it again.
    pub fn look_away(&mut self) {
        self.engine.with(|context| jobs::outside(context, intersection_observer::look_away));
    }

    /// Navigates to a URL as if it was entered by the user; a fragment stays within the page.
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

/// Scrolls the window, and the boxes in it, to the top.
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

/// Presses a key on the focused element, or on `otherwise` if none has the focus.
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

/// A document and its shadow roots, outer ones first; closed ones are included.
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

/// The links in the markup itself, in order, before any script runs.
pub fn links_of_markup(markup: &str, address: &Url) -> Vec<Link> {
    let mut tree = Tree::default();
    // A full document keeps its contents; the error is ignored.
    let Ok(document) = tree.parse_document(markup) else { return Vec::new() };
    let base = tree.descendants(document).find_map(|id| {
        let element = tree.element(id).filter(|element| element.is_html(&local_name!("base")))?;
        address.join(element.attribute(&local_name!("href"))?).ok()
    });
    let base = base.unwrap_or_else(|| address.clone());
    tree.descendants(document).filter_map(|id| link(&tree, id, &base)).collect()
}

/// The link of an element, if it is one.
pub(crate) fn link(tree: &Tree, id: NodeId, base: &Url) -> Option<Link> {
    let element = tree.element(id).filter(|element| element.is_html(&local_name!("a")))?;
    let href = element.attribute(&local_name!("href"))?;
    let url = base.join(href).map_or_else(|_| href.to_owned(), String::from);
    let text = tree.text_content(id).unwrap_or_default();
    Some(Link { url, text: text.split_whitespace().collect::<Vec<_>>().join(" ") })
}

/// Events that a mouse fires on an element it enters.
pub(crate) const HOVERS: [&str; 4] = ["pointerover", "pointerenter", "mouseover", "mouseenter"];

/// The events of a click with the primary mouse button, after the mouse has moved there (UI Events §5.3, Pointer Events §4).
pub(crate) fn click(id: NodeId, context: &mut Context) -> JsResult<()> {
    let target = wrap(id, context)?;
    let place = layout::place(id, context).unwrap_or_default();
    let (left, top) = layout::scroll(context);
    let (x, y) = (place.left + place.width / 2.0 - left, place.top + place.height / 2.0 - top);
    // `enter` events do not bubble: each entered element gets one, outer ones first.
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
