//! Events of CSS animations and transitions (CSS Animations §4, CSS Transitions §5). Nothing moves here, but scripts that wait for the
//! end of an animation, or use its start to detect a new element, get their events.
//!
//! Changed elements are checked once a frame, and before a script reads a computed style, as in browsers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::{Context, JsValue};
use html5ever::{local_name, ns};

use crate::dom::style::cascade::Cascade;
use crate::dom::style::declaration::split;
use crate::dom::{Mutation, NodeId};
use crate::engine::{bind, events, jobs, realm};
use crate::limits;
use crate::web::cssom::styles;
use crate::web::{read, wrap};

/// A frame, in microseconds of virtual time.
const FRAME_US: u64 = 16_667;

/// Properties that `transition: all` covers here: those that style sheets usually animate.
const MOVED: &[&str] = &[
    "background-color",
    "bottom",
    "color",
    "height",
    "left",
    "margin-left",
    "margin-top",
    "max-height",
    "max-width",
    "opacity",
    "right",
    "top",
    "transform",
    "visibility",
    "width",
];

/// The last known state of an element.
#[derive(Default)]
struct AnimationSnapshot {
    animations: Vec<String>,
    /// Values of the properties that have a transition.
    values: Vec<(String, Option<String>)>,
}

#[derive(Default)]
struct Moving {
    pending: Vec<NodeId>,
    posted: bool,
    seen: HashMap<NodeId, AnimationSnapshot>,
    /// Events posted for the page so far.
    told: usize,
}

type Shared = Rc<RefCell<Moving>>;

/// An animation that starts: its name, and its times in seconds.
struct Begins {
    element: NodeId,
    is_transition: bool,
    name: String,
    delay: f64,
    duration: f64,
    count: f64,
}

pub(crate) fn install(context: &mut Context) {
    realm::share(Shared::default, context);
}

fn shared(context: &Context) -> Shared {
    context.get_data::<Shared>().cloned().unwrap_or_default()
}

/// Records which elements may have a new style.
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
    if !read(context, |tree| tree.has_styles()) {
        return;
    }
    let shared = shared(context);
    let mut moving = shared.borrow_mut();
    for mutation in log {
        let changed: &[NodeId] = match mutation {
            Mutation::Attribute { target, local, namespace, .. }
                if *namespace == ns!() && matches!(*local, local_name!("class") | local_name!("style")) =>
            {
                std::slice::from_ref(target)
            }
            Mutation::Children { added, .. } => added,
            _ => continue,
        };
        if moving.pending.len() + changed.len() <= limits::STYLE_MOVED_MAX {
            moving.pending.extend(changed);
        }
    }
    if !moving.pending.is_empty() && !std::mem::replace(&mut moving.posted, true) {
        jobs::post(context, FRAME_US, |context| {
            self::shared(context).borrow_mut().posted = false;
            flush(context);
            Ok(())
        });
    }
}

/// Checks the changed elements, and posts the events of animations that start.
pub(crate) fn flush(context: &mut Context) {
    let shared = shared(context);
    let pending = std::mem::take(&mut shared.borrow_mut().pending);
    if pending.is_empty() {
        return;
    }
    let begun = styles::ask(context, |cascade| {
        let moves = cascade.indexes.values().any(|index| index.moves());
        if moves { look(&pending, cascade, &mut shared.borrow_mut()) } else { Vec::new() }
    });
    for one in begun {
        post(one, &shared, context);
    }
}

fn look(pending: &[NodeId], cascade: &Cascade<'_>, moving: &mut Moving) -> Vec<Begins> {
    let tree = cascade.tree;
    let mut begun = Vec::new();
    let tops = pending.iter().filter(|id| tree.is_connected(**id));
    let below = tops.flat_map(|top| std::iter::once(*top).chain(tree.descendants(*top)));
    for element in below.filter(|id| tree.is_element(*id)).take(limits::STYLE_MOVED_MAX) {
        let seen = moving.seen.get(&element);
        let was_seen = seen.is_some();
        let (now, starts) = look_at(element, seen, cascade);
        begun.extend(starts);
        if now.animations.is_empty() && now.values.is_empty() {
            moving.seen.remove(&element);
        } else if moving.seen.len() < limits::STYLE_MOVED_MAX || was_seen {
            moving.seen.insert(element, now);
        }
    }
    begun
}

fn look_at(
    element: NodeId,
    seen: Option<&AnimationSnapshot>,
    cascade: &Cascade<'_>,
) -> (AnimationSnapshot, Vec<Begins>) {
    let list = |property: &str| -> Vec<String> {
        let value = styles::value_of(cascade, element, property, None).unwrap_or_default();
        split(&value, ',').into_iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
    };
    let mut now = AnimationSnapshot::default();
    let mut begun = Vec::new();
    let names = list("animation-name");
    if names.iter().any(|name| name != "none") {
        let (durations, delays, counts) =
            (list("animation-duration"), list("animation-delay"), list("animation-iteration-count"));
        for (place, name) in names.into_iter().enumerate() {
            let is_known = cascade.indexes.values().any(|index| index.has_keyframes(&name));
            if !is_known {
                continue;
            }
            if !seen.is_some_and(|seen| seen.animations.contains(&name)) {
                let count = of_list(&counts, place).map_or(1.0, |count| count.parse().unwrap_or(f64::INFINITY));
                begun.push(Begins {
                    element,
                    is_transition: false,
                    name: name.clone(),
                    delay: of_list(&delays, place).map_or(0.0, seconds),
                    duration: of_list(&durations, place).map_or(0.0, seconds),
                    count,
                });
            }
            now.animations.push(name);
        }
    }
    let (durations, delays) = (list("transition-duration"), list("transition-delay"));
    if durations.iter().any(|duration| seconds(duration) > 0.0) {
        for (place, property) in list("transition-property").iter().enumerate() {
            let duration = of_list(&durations, place).map_or(0.0, seconds);
            let delay = of_list(&delays, place).map_or(0.0, seconds);
            let all = [property.as_str()];
            for name in if property == "all" { MOVED } else { &all[..] } {
                let value = styles::value_of(cascade, element, name, None);
                let before = seen.and_then(|seen| seen.values.iter().find(|(known, _)| known == name));
                if before.is_some_and(|(_, before)| *before != value) && duration > 0.0 {
                    let name = (*name).to_owned();
                    begun.push(Begins { element, is_transition: true, name, delay, duration, count: 1.0 });
                }
                now.values.push(((*name).to_owned(), value));
            }
        }
    }
    (now, begun)
}

/// The value of a list that corresponds to another list's index: a shorter list repeats (CSS Animations §4.1).
fn of_list(list: &[String], place: usize) -> Option<&str> {
    list.get(place % list.len().max(1)).map(String::as_str)
}

fn seconds(time: &str) -> f64 {
    time.strip_suffix('s')
        .and_then(|number| number.parse().ok())
        .filter(|number: &f64| number.is_finite())
        .unwrap_or(0.0)
}

/// Posts the events of an animation at their times.
fn post(one: Begins, shared: &Shared, context: &mut Context) {
    let Begins { element, is_transition, name, delay, duration, count } = one;
    let end = delay + duration * count;
    let mut moments = Vec::new();
    if is_transition {
        moments.extend([
            ("transitionrun", 0.0, 0.0),
            ("transitionstart", delay, 0.0),
            ("transitionend", end, duration),
        ]);
    } else {
        moments.push(("animationstart", delay, 0.0));
        // Maximum number of iteration events; a page that waits for more needs a real screen.
        const ROUNDS: u32 = 10;
        let mut round = 1;
        while f64::from(round) < count && round <= ROUNDS && duration > 0.0 {
            moments.push(("animationiteration", delay + duration * f64::from(round), duration * f64::from(round)));
            round += 1;
        }
        if end.is_finite() {
            moments.push(("animationend", end, duration * count));
        }
    }
    for (kind, at, elapsed) in moments {
        if shared.borrow().told >= limits::STYLE_MOVED_MAX {
            return;
        }
        shared.borrow_mut().told += 1;
        let name = name.clone();
        jobs::post(context, FRAME_US + (at.max(0.0) * 1e6) as u64, move |context| {
            if !read(context, |tree| tree.is_connected(element)) {
                return Ok(());
            }
            let (interface, member) =
                if is_transition { ("TransitionEvent", "propertyName") } else { ("AnimationEvent", "animationName") };
            let members: [(&str, JsValue); 2] = [(member, bind::js(&name)), ("elapsedTime", elapsed.max(0.0).into())];
            let object = wrap(element, context)?;
            jobs::outside(context, |context| {
                events::fire(&object, interface, kind, (true, false), &members, context);
            });
            Ok(())
        });
    }
}
