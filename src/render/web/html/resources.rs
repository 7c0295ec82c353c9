//! Elements that load a resource once they are in the document. Scripts run; images, style sheets and preloads are not fetched but
//! reported as loaded, so that scripts that wait for them continue. Only images whose absence a page waits for are (`doubted`).

use std::cell::Cell;

use boa_engine::Context;
use html5ever::{local_name, ns};
use url::Url;

use super::load::{self, fire_at};
use super::scripts;
use crate::dom::{Mutation, NodeId, Tree};
use crate::engine::{self, jobs, realm};
use crate::limits;
use crate::web::{listens_to, of, read};
use crate::wire::Asker;

/// Processes inserted elements and changed URLs.
pub(crate) fn came_in(log: &[Mutation], context: &mut Context) {
    let (mut found, mut loads) = (Vec::new(), Vec::new());
    {
        let web = of(context);
        let web = web.borrow();
        let tree = &web.tree;
        for one in log {
            match one {
                Mutation::Children { target, added, .. } => {
                    if !added.is_empty() && tree.is_connected(*target) {
                        let below = added.iter().flat_map(|top| std::iter::once(*top).chain(tree.descendants(*top)));
                        for id in below {
                            sort(tree, id, &mut found, &mut loads);
                        }
                        if scripts::is_waiting(tree, *target) {
                            found.push(*target);
                        }
                    } else if !added.is_empty() {
                        // An image loads even outside of the document. Images in markup can only have an attribute handler so far.
                        loads.extend(added.iter().copied().filter(|id| is_image(tree, *id) && has_handler(tree, *id)));
                    }
                }
                Mutation::Attribute { target, local, new: Some(_), .. } => {
                    let name = &**local;
                    if !matches!(name, "src" | "srcset" | "href" | "rel" | "data" | "content" | "http-equiv") {
                        continue;
                    }
                    if is_image(tree, *target) && name.starts_with("src") {
                        loads.push(*target);
                    } else if tree.is_connected(*target) {
                        sort(tree, *target, &mut found, &mut loads);
                    }
                }
                _ => {}
            }
        }
        // No event is needed for an element that no script has seen and that has no handler attribute.
        loads.retain(|id| web.wrapper(*id).is_some() || has_handler(tree, *id));
    }
    for id in loads {
        loaded(id, context);
    }
    for script in found {
        let (is_script, is_there) = read(context, |tree| {
            (scripts::is_waiting(tree, script) && runs_here(tree, script), tree.is_connected(script))
        });
        match (is_there, is_script) {
            (true, true) => scripts::prepare(script, false, None, context),
            (true, false) => super::navigation::follow_meta(script, context),
            (false, _) => {}
        }
    }
}

/// Whether the script is in a document with a window; in others, including those of frames without a window, it does not run.
fn runs_here(tree: &Tree, script: NodeId) -> bool {
    let has_scripting = tree.document_data(tree.document_of(script)).is_some_and(|data| data.scripting);
    has_scripting && tree.is_connected(script)
}

fn sort(tree: &Tree, id: NodeId, found: &mut Vec<NodeId>, loads: &mut Vec<NodeId>) {
    let Some(element) = tree.element(id) else { return };
    if element.name().ns != ns!(html) {
        return;
    }
    let has = |name| element.attribute(&name).is_some_and(|value| !value.trim().is_empty());
    match &*element.name().local {
        "script" if scripts::is_waiting(tree, id) => found.push(id),
        "meta" if has(local_name!("http-equiv")) => found.push(id),
        "link" if has(local_name!("href")) && brings_something(element.attribute(&local_name!("rel"))) => {
            loads.push(id)
        }
        "img" if has(local_name!("src")) || has(local_name!("srcset")) => loads.push(id),
        "object" if has(local_name!("data")) => loads.push(id),
        "embed" if has(local_name!("src")) => loads.push(id),
        _ => {}
    }
}

fn brings_something(rel: Option<&str>) -> bool {
    let is_one = |word: &str| {
        ["stylesheet", "preload", "modulepreload", "prefetch", "icon"].iter().any(|one| word.eq_ignore_ascii_case(one))
    };
    rel.unwrap_or_default().split_ascii_whitespace().any(is_one)
}

fn is_image(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.is_html(&local_name!("img")) && element.attributes().iter().any(|one| one.name.local.starts_with("src"))
    })
}

fn has_handler(tree: &Tree, id: NodeId) -> bool {
    let handler = |name: &str| matches!(name, "onload" | "onerror");
    tree.element(id).is_some_and(|element| element.attributes().iter().any(|one| handler(&one.name.local)))
}

/// Images that the page has requested.
#[derive(Default)]
struct Asked(Cell<u32>);

pub(crate) fn install(context: &mut Context) {
    realm::share(Asked::default, context);
}

/// The URL of an image that the page wants to replace if it is missing: one in markup with a handler, or one that a script made by itself
/// and listens to. One in the document with a script's listener is none: libraries add such listeners to every image.
fn doubted(id: NodeId, context: &mut Context) -> Option<Url> {
    let is_listened_to = listens_to(id, "error", context);
    let src = read(context, |tree| {
        let element = tree.element(id).filter(|element| element.is_html(&local_name!("img")))?;
        let is_asked = element.attribute(&local_name!("onerror")).is_some();
        let is_probe = is_listened_to && !tree.is_connected(id);
        element.attribute(&local_name!("src")).filter(|_| is_asked || is_probe).map(str::to_owned)
    })?;
    let address = scripts::resolve(id, &src, context)?;
    let asked = context.get_data::<Asked>().filter(|_| matches!(address.scheme(), "http" | "https"))?;
    (asked.0.get() < limits::IMAGES_ASKED_MAX).then(|| {
        asked.0.set(asked.0.get() + 1);
        address
    })
}

/// The number of times that an image was given a URL.
fn turn(id: NodeId, context: &Context) -> u32 {
    load::loading(context).borrow().image_turns.get(&id).copied().unwrap_or_default()
}

/// Fires `load` for an element in a task, which delays the page's own `load`. An image whose absence would matter is requested; if the crawl
/// does not fetch it, it counts as loaded. That is decided in the task: a script may add its listeners after the URL. Of an image that has
/// been given another URL by then, only the last counts (HTML §4.8.4.3.5).
fn loaded(id: NodeId, context: &mut Context) {
    load::delay(context);
    if read(context, |tree| is_image(tree, id)) {
        *load::loading(context).borrow_mut().image_turns.entry(id).or_default() += 1;
    }
    let own = turn(id, context);
    let posted = jobs::post(context, 0, move |context| {
        if turn(id, context) != own {
            load::undelay(context);
            return Ok(());
        }
        let Some(address) = doubted(id, context) else {
            tell(id, "load", context);
            return Ok(());
        };
        engine::request(scripts::request(Asker::Image, &address), context, move |answer, context| {
            if turn(id, context) != own {
                load::undelay(context);
                return Ok(());
            }
            let is_gone = answer.is_ok_and(|response| response.status >= 400);
            tell(id, if is_gone { "error" } else { "load" }, context);
            Ok(())
        });
        Ok(())
    });
    if posted.is_none() {
        load::undelay(context);
    }
}

fn tell(id: NodeId, kind: &str, context: &mut Context) {
    jobs::outside(context, |context| fire_at(id, kind, false, context));
    load::undelay(context);
}
