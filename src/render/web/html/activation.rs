//! The default action of a click that no listener cancels (DOM §2.9 "activation behavior", HTML §6.4): checks a box, submits a form,
//! follows a link, opens details. A label passes the click on to its control.

use boa_engine::{Context, JsObject};
use html5ever::ns;
use url::Url;

use super::controls::{self, SUBMITTABLE};
use super::element::{self, is_called};
use super::frames::window::Target;
use super::navigation::navigate;
use super::reflect::{has, text};
use super::{frames, input, interactive, link, references, submit, table, values, windows};
use crate::dom::{NodeId, Tree};
use crate::engine::events::{self, Event};
use crate::engine::realm;
use crate::engine::target::AfterClick;
use crate::web::dom::document;
use crate::web::{node_of, of, read, wrap};
use crate::wire::{How, Navigation};

/// The state of a checkable input before a click changed it.
struct Before {
    checked: Option<bool>,
    indeterminate: bool,
    /// The radio button of its group that was checked before.
    other: Option<NodeId>,
}

/// Finds what a click activates on its path, and runs the steps that precede its listeners ("legacy-pre-activation behavior").
pub(super) fn begin(way: &[JsObject], _: &JsObject<Event>, context: &mut Context) -> Option<AfterClick> {
    let mut found = None;
    let mut is_in_control = false;
    for object in way {
        let Some(id) = node_of(&object.clone().into(), context) else { break };
        let (is_it, is_control) = read(context, |tree| {
            let is_control =
                is_called(tree, id, &["button", "input", "select", "textarea", "iframe", "embed", "object"]);
            (is_activated(tree, id, is_in_control), is_control)
        });
        if is_it {
            found = Some(id);
            break;
        }
        is_in_control |= is_control;
    }
    let id = found?;
    let before = read(context, |tree| input::is_checkable(tree, id)).then(|| toggle(id, context));
    let target = way.first().and_then(|object| node_of(&object.clone().into(), context));
    Some(Box::new(move |canceled, context| match (canceled, before) {
        (true, Some(before)) => restore(id, &before, context),
        (true, None) => {}
        (false, _) => activate(id, target, context),
    }))
}

pub(crate) fn is_link(tree: &Tree, id: NodeId) -> bool {
    (is_called(tree, id, &["a", "area"]) && has(tree, id, "href")) || svg_address(tree, id).is_some()
}

/// The URL of an SVG link.
fn svg_address(tree: &Tree, id: NodeId) -> Option<&str> {
    let element = tree.element(id).filter(|element| element.name().ns == ns!(svg) && &*element.name().local == "a")?;
    let old = element.attribute_ns(&ns!(xlink), &html5ever::local_name!("href"));
    text(tree, id, "href").or(old)
}

fn is_activated(tree: &Tree, id: NodeId, is_in_control: bool) -> bool {
    let local = match tree.element(id) {
        Some(element) if element.name().ns == ns!(html) => &*element.name().local,
        Some(_) => return is_link(tree, id),
        None => return false,
    };
    match local {
        "a" | "area" => has(tree, id, "href"),
        "button" | "input" => true,
        "label" => !is_in_control,
        "summary" => interactive::details_of(tree, id).is_some() && !is_in_control,
        _ => false,
    }
}

/// Checks a box or button before its listeners run, since they see the new state.
fn toggle(id: NodeId, context: &mut Context) -> Before {
    let (before, is_radio, checked) = read(context, |tree| {
        let is_radio = values::kind(tree, id) == "radio";
        let state = tree.element(id).map(|element| (element.state.checked, element.state.indeterminate));
        let (checked, indeterminate) = state.unwrap_or_default();
        let other = is_radio.then(|| input::group(tree, id).into_iter().find(|one| tree.is_checked(*one))).flatten();
        (Before { checked, indeterminate, other }, is_radio, tree.is_checked(id))
    });
    input::set_checked(id, is_radio || !checked, context);
    if !is_radio && let Some(state) = of(context).borrow_mut().tree.state_mut(id) {
        state.indeterminate = false;
    }
    before
}

fn restore(id: NodeId, before: &Before, context: &mut Context) {
    match before.other {
        Some(other) if other != id => input::set_checked(other, true, context),
        _ => {}
    }
    if let Some(state) = of(context).borrow_mut().tree.state_mut(id) {
        (state.checked, state.indeterminate) = (before.checked, before.indeterminate);
    }
}

fn activate(id: NodeId, target: Option<NodeId>, context: &mut Context) {
    let local = read(context, |tree| tree.element(id).map(|element| element.name().local.to_string()));
    match local.as_deref() {
        Some("a" | "area") => follow(id, context),
        Some("label") => activate_label(id, target, context),
        Some("summary") => {
            if let Some(details) = read(context, |tree| interactive::details_of(tree, id)) {
                let open = read(context, |tree| has(tree, details, "open"));
                // If the document is full, its details stay as they are.
                let _ = super::reflect::set_flag(details, "open", !open, context);
            }
        }
        Some("button" | "input") => activate_control(id, context),
        _ => {}
    }
}

fn activate_control(id: NodeId, context: &mut Context) {
    let (kind, form) = read(context, |tree| {
        let kind = if is_called(tree, id, &["button"]) {
            table::BUTTON_TYPE.state(text(tree, id, "type")).unwrap_or_default()
        } else {
            values::kind(tree, id)
        };
        (kind, tree.form_owner(id))
    });
    match (kind, form) {
        ("checkbox" | "radio", _) if read(context, |tree| tree.is_connected(id)) => {
            if let Ok(object) = wrap(id, context) {
                events::fire(&object, "Event", "input", (true, false), &[], context);
                events::fire(&object, "Event", "change", (true, false), &[], context);
            }
        }
        // A disabled box does change if a script sent the click (§4.10.5.4); the case above handles it.
        _ if read(context, |tree| tree.is_disabled(id)) => {}
        ("submit" | "image", Some(form)) => submit::submit(form, Some(id), true, context),
        ("reset", Some(form)) => submit::reset(form, context),
        ("button" | "submit" | "reset", _) => {
            if let Some(popover) = references::one_id(id, "popovertarget", context) {
                let action = read(context, |tree| text(tree, id, "popovertargetaction").map(str::to_ascii_lowercase));
                let wanted: fn(bool) -> bool = match action.as_deref() {
                    Some("show") => |_| true,
                    Some("hide") => |_| false,
                    _ => |open| !open,
                };
                element::set_popover(popover, wanted, context);
            }
        }
        _ => {}
    }
}

/// A click on a label clicks its control, unless it came from there.
fn activate_label(label: NodeId, target: Option<NodeId>, context: &mut Context) {
    let control = read(context, |tree| controls::control(tree, label));
    let Some(control) = control.filter(|control| Some(*control) != target) else { return };
    let inside = read(context, |tree| target.is_some_and(|target| tree.contains(control, target)));
    if !inside && !read(context, |tree| is_called(tree, control, SUBMITTABLE) && tree.is_disabled(control)) {
        // An exception is reported where it is thrown.
        let _ = element::click(control, context);
    }
}

/// "Follow the hyperlink" (§4.6.4).
fn follow(id: NodeId, context: &mut Context) {
    let address = match read(context, |tree| svg_address(tree, id).map(str::to_owned)) {
        Some(written) => document::base_url(id, context).join(&written).ok(),
        None => link::address(id, context),
    };
    let Some(url) = address else { return };
    let target = read(context, |tree| text(tree, id, "target").map(str::to_owned));
    send(Navigation::get(url, How::Link), target.as_deref().unwrap_or_default(), context);
}

fn elsewhere(wanted: &mut Navigation) {
    if wanted.how == How::Link {
        wanted.how = How::Window;
    }
}

/// Navigates to the target of a link or form, in the window that it names. A URL shown in a frame of the page is also recorded as one
/// that a user could visit.
pub(super) fn send(mut wanted: Navigation, target: &str, context: &mut Context) {
    match frames::window::chosen(target, context) {
        Target::Own => navigate(wanted, false, context),
        Target::Page => realm::in_page(context, |context| navigate(wanted, false, context)),
        Target::Frame(frame) => {
            match Url::parse(&wanted.url) {
                Ok(url) if wanted.method == "GET" => frames::navigate(frame, url, context),
                Ok(_) => frames::leave(frame, context),
                Err(_) => {}
            }
            if windows::own_frame(context).is_none() {
                elsewhere(&mut wanted);
                navigate(wanted, false, context);
            }
        }
        Target::New => {
            elsewhere(&mut wanted);
            navigate(wanted, false, context);
        }
    }
}
