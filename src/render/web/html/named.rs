//! Elements by their names: `window.basket`, `document.order`, `window[0]` (HTML §7.2.2.3, §3.1.6).
//!
//! The window looks up a name only if no other property has it: an object at the end of the window's prototype chain resolves it. On a
//! document, named elements hide its own members, as in the standard, so they become accessors on the document itself while the elements
//! exist.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string};
use html5ever::{LocalName, local_name, ns};

use super::frames;
use crate::dom::{Mutation, NodeId, Tree};
use crate::engine::{bind, realm};
use crate::web::dom::collection::{self, Filter};
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{missing, of, own_document, read, wrap};

/// The named elements of the window's document by name, and the names that the document currently exposes.
#[derive(Default)]
struct Names {
    elements: HashMap<Box<str>, HashSet<NodeId>>,
    shown: HashSet<Box<str>>,
}

static PROPERTIES: Kind = computed!(Computed {
    length: |_, context| Ok(frames::count(context)),
    item: |_, index, context| frames::window_at(index, context),
    indexed: true,
    named: |_, name, context| on_window(name, context),
    ..Computed::EMPTY
});

fn names(context: &Context) -> Rc<RefCell<Names>> {
    realm::own(context).unwrap_or_default()
}

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::keep(RefCell::new(Names::default()), context);
    let window = bind::prototype("Window", context)?;
    let below = window.prototype();
    let properties = JsObject::from_proto_and_data(below, ());
    let properties = exotic::wrap_target(properties, &PROPERTIES, context)?;
    window.set_prototype(Some(properties));
    Ok(())
}

/// Whether the element's `name` attribute counts on the window.
fn has_name_on_window(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.name().ns == ns!(html)
            && matches!(
                element.name().local,
                local_name!("embed")
                    | local_name!("form")
                    | local_name!("img")
                    | local_name!("object")
                    | local_name!("iframe")
                    | local_name!("frame")
                    | local_name!("frameset")
            )
    })
}

/// Whether the window exposes the element under this name (HTML §7.2.2.3 "named objects").
fn is_on_window(tree: &Tree, id: NodeId, name: &str) -> bool {
    tree.id(id) == Some(name)
        || (has_name_on_window(tree, id) && tree.attribute(id, &local_name!("name")) == Some(name))
}

/// Whether the document exposes the element under this name (HTML §3.1.6 "named elements").
fn is_shown(tree: &Tree, id: NodeId, name: &str) -> bool {
    let Some(element) = tree.element(id) else { return false };
    let is = |local: &LocalName| element.attribute(local) == Some(name);
    match element.name().local {
        local_name!("embed") | local_name!("form") | local_name!("iframe") => is(&local_name!("name")),
        local_name!("object") => is(&local_name!("name")) || is(&local_name!("id")),
        local_name!("img") => {
            let has_name = element.attribute(&local_name!("name")).is_some_and(|name| !name.is_empty());
            is(&local_name!("name")) || (has_name && is(&local_name!("id")))
        }
        _ => false,
    }
}

fn on_window(name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let name = name.to_std_string_lossy();
    if name.is_empty() {
        return Ok(None);
    }
    let (document, names) = (own_document(context), names(context));
    let found = read(context, |tree| {
        let mut found: Vec<NodeId> = names.borrow().called(&name).chain(tree.elements_by_id(document, &name)).collect();
        found.sort_by(|a, b| tree.compare_order(*a, *b));
        found.dedup();
        found
    });
    let frame = read(context, |tree| {
        let by_name =
            |id: &NodeId| frames::is_frame(tree, *id) && tree.attribute(*id, &local_name!("name")) == Some(&name);
        found.iter().copied().find(by_name)
    });
    if let Some(frame) = frame {
        return frames::window_of(frame, context).map(Some);
    }
    match found.as_slice() {
        [] => {
            missing::asked(&name, context);
            Ok(None)
        }
        [one] => wrap(*one, context).map(|object| Some(object.into())),
        _ => {
            let name: Box<str> = name.into();
            collection::live("HTMLCollection", document, Filter::Called(is_on_window, name), context)
                .map(|list| Some(list.into()))
        }
    }
}

/// Updates the names as the tree changes.
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
    let mut changed: Vec<Box<str>> = Vec::new();
    {
        let (web, names, document) = (of(context), names(context), own_document(context));
        let (tree, names) = (&web.borrow().tree, &mut *names.borrow_mut());
        for mutation in log {
            match mutation {
                Mutation::Children { added, removed, .. } => {
                    for top in added.iter().chain(removed) {
                        let below = std::iter::once(*top).chain(tree.descendants(*top));
                        for id in below.filter(|id| has_name_on_window(tree, *id)) {
                            names.note(tree, document, id, &mut changed);
                        }
                    }
                }
                Mutation::Attribute { target, local, old, .. }
                    if (*local == local_name!("name") || *local == local_name!("id"))
                        && has_name_on_window(tree, *target) =>
                {
                    if let Some(old) = old {
                        names.forget(old, *target, &mut changed);
                    }
                    names.note(tree, document, *target, &mut changed);
                }
                _ => {}
            }
        }
    }
    show_all(changed, context);
}

/// Collects the names of a document that was parsed before it had a window.
pub(crate) fn look_at_all(context: &mut Context) {
    let mut changed: Vec<Box<str>> = Vec::new();
    {
        let (web, held, document) = (of(context), names(context), own_document(context));
        let (tree, names) = (&web.borrow().tree, &mut *held.borrow_mut());
        *names = Names::default();
        for id in tree.descendants(document).filter(|id| has_name_on_window(tree, *id)) {
            names.note(tree, document, id, &mut changed);
        }
    }
    show_all(changed, context);
}

fn show_all(mut changed: Vec<Box<str>>, context: &mut Context) {
    changed.sort();
    changed.dedup();
    for name in changed {
        // On a sealed document the property cannot be defined, so the name stays hidden.
        let _ = show(&name, context);
    }
}

impl Names {
    /// Rechecks the names of an element; adds to `changed` the names that it gains or loses.
    fn note(&mut self, tree: &Tree, document: NodeId, id: NodeId, changed: &mut Vec<Box<str>>) {
        let there = tree.contains(document, id);
        for local in [local_name!("id"), local_name!("name")] {
            let Some(name) = tree.attribute(id, &local).filter(|name| !name.is_empty()) else { continue };
            if !there || !(local == local_name!("name") || is_shown(tree, id, name)) {
                self.forget(name, id, changed);
            } else if self.elements.entry(name.into()).or_default().insert(id) {
                changed.push(name.into());
            }
        }
    }

    fn forget(&mut self, name: &str, id: NodeId, changed: &mut Vec<Box<str>>) {
        let Some(elements) = self.elements.get_mut(name) else { return };
        if elements.remove(&id) {
            changed.push(name.into());
        }
        if elements.is_empty() {
            self.elements.remove(name);
        }
    }

    fn called(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        self.elements.get(name).into_iter().flatten().copied()
    }
}

/// The elements that the window's document exposes under a name.
fn shown(name: &str, context: &Context) -> Vec<NodeId> {
    let names = names(context);
    read(context, |tree| {
        let mut found: Vec<NodeId> = names.borrow().called(name).filter(|id| is_shown(tree, *id, name)).collect();
        found.sort_by(|a, b| tree.compare_order(*a, *b));
        found
    })
}

/// Defines or removes the document's property of this name.
fn show(name: &str, context: &mut Context) -> JsResult<()> {
    let (document, names) = (own_document(context), names(context));
    let there = read(context, |tree| names.borrow().called(name).any(|id| is_shown(tree, id, name)));
    let known = {
        let shown = &mut names.borrow_mut().shown;
        if there { !shown.insert(name.into()) } else { shown.remove(name) }
    };
    if there == known {
        return Ok(());
    }
    let document = wrap(document, context)?;
    if !there {
        return document.delete_property_or_throw(js_string!(name), context).map(|_| ());
    }
    let get = NativeFunction::from_copy_closure_with_captures(
        |_, _, name: &JsString, context| value(&name.to_std_string_lossy(), context),
        js_string!(name),
    );
    let get = get.to_js_function(context.realm());
    let property = PropertyDescriptor::builder().get(get).enumerable(true).configurable(true);
    document.define_property_or_throw(js_string!(name), property, context).map(|_| ())
}

fn value(name: &str, context: &mut Context) -> JsResult<JsValue> {
    let found = shown(name, context);
    match found.as_slice() {
        [] => Ok(JsValue::undefined()),
        [one] if read(context, |tree| frames::is_frame(tree, *one)) => frames::window_of(*one, context),
        [one] => wrap(*one, context).map(JsValue::from),
        _ => {
            let document = own_document(context);
            let name: Box<str> = name.into();
            collection::live("HTMLCollection", document, Filter::Called(is_shown, name), context).map(JsValue::from)
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::engine::Start;
    use crate::engine::net::NoNet;
    use crate::web::html::load::{Window, text_of};
    use crate::wire::Reach;

    #[test]
    fn what_scripts_put_on_the_window_is_its_own() {
        let start = Start::at(Url::parse("http://site.test/").unwrap());
        let mut window = Window::open(&start, Box::new(NoNet::new())).unwrap();
        window.load("<p id=named></p><form name=form></form>", Reach::default());
        for (expression, wanted) in [
            ("var before = Object.keys(window); window.a1 = 1, Object.hasOwn(window, 'a1')", "true"),
            (
                "globalThis.a2 = 1, self.a3 = 1, a4 = 1, this.a5 = 1, window['a6'] = 1, Object.assign(window, { a7: 1 }), 0",
                "0",
            ),
            ("Reflect.set(window, 'a8', 1), (function () { this.a9 = 1 })(), window.b1 = window.b1 || [], 0", "0"),
            ("Object.keys(window).filter(key => !before.includes(key)).join()", "a1,a2,a3,a4,a5,a6,a7,a8,a9,b1"),
            ("(delete window.a1) + typeof window.a1 + ('a1' in window)", "trueundefinedfalse"),
            ("delete a4, typeof a4", "undefined"),
            ("named.id + form.localName + Object.hasOwn(window, 'named')", "namedformfalse"),
            ("window.named = 7, named + String(Object.hasOwn(window, 'named'))", "7true"),
            ("delete window.named, named.id", "named"),
            (
                "window.onclick = function () {}, typeof window.onclick + Object.hasOwn(window, 'onclick')",
                "functiontrue",
            ),
            (
                "var below = Object.create(window); below.b2 = 1; Object.hasOwn(below, 'b2') + typeof window.b2",
                "trueundefined",
            ),
            (
                "(() => { 'use strict'; try { undeclared = 1 } catch (error) { return error.name } })()",
                "ReferenceError",
            ),
        ] {
            let told = text_of(&mut window, &format!("String(eval({expression:?}))"));
            assert_eq!(told.as_deref(), Some(wanted), "{expression}");
        }
    }
}
