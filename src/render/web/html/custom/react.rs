//! Reactions (HTML §4.13.6): turns log entries into callbacks of custom elements, element by element.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use boa_engine::{Context, JsValue};
use html5ever::{LocalName, Namespace};

use super::construct::upgrade;
use super::{Callback, Definition, Registry, definition_of, of};
use crate::dom::{CustomState, Mutation, NodeId, Tree};
use crate::engine::{bind, jobs, realm};
use crate::web::html::load;
use crate::web::{own_document, read, wrap};

/// A reaction of one element.
pub(super) enum Reaction {
    Upgrade(Rc<Definition>),
    Call(Rc<Definition>, Callback, Argument),
}

/// An argument of a callback.
pub(super) enum Argument {
    None,
    Documents(Option<NodeId>, NodeId),
    Attribute { local: LocalName, namespace: Namespace, old: Option<String>, new: Option<String> },
}

/// Pending reactions of each element, in order ("custom element reaction queue"). Whoever runs a reaction of an element first runs its
/// pending ones.
#[derive(Default)]
pub(super) struct Waiting(RefCell<HashMap<NodeId, VecDeque<Reaction>>>);

/// Elements in the order of their first reaction (HTML §4.13.6 "element queue").
#[derive(Default)]
struct Queue {
    order: Vec<NodeId>,
    known: HashSet<NodeId>,
    waiting: Rc<Waiting>,
}

impl Queue {
    fn new(context: &Context) -> Self {
        Self { waiting: waiting(context), ..Self::default() }
    }

    fn push(&mut self, id: NodeId, reaction: Reaction) {
        if self.known.insert(id) {
            self.order.push(id);
        }
        self.waiting.0.borrow_mut().entry(id).or_default().push_back(reaction);
    }

    fn call(&mut self, id: NodeId, definition: &Rc<Definition>, which: Callback, argument: Argument) {
        if definition.callback(which).is_some() {
            self.push(id, Reaction::Call(Rc::clone(definition), which, argument));
        }
    }

    fn run(self, by_parser: bool, context: &mut Context) {
        for id in self.order {
            run(id, by_parser, context);
        }
    }
}

fn waiting(context: &Context) -> Rc<Waiting> {
    context.get_data::<Rc<Waiting>>().cloned().unwrap_or_default()
}

/// Runs an element's queue. An upgrade appends more reactions. Reactions that the parser waits for may not reopen the document (HTML
/// §13.2.6.1 "create an element for a token").
fn run(id: NodeId, by_parser: bool, context: &mut Context) {
    let waiting = waiting(context);
    let next = || {
        let mut waiting = waiting.0.borrow_mut();
        let next = waiting.get_mut(&id)?.pop_front();
        if next.is_none() {
            waiting.remove(&id);
        }
        next
    };
    while let Some(reaction) = next() {
        let of_token = match &reaction {
            Reaction::Upgrade(_) => by_parser,
            Reaction::Call(_, which, _) => by_parser && *which == Callback::AttributeChanged,
        };
        let loading = load::loading(context);
        loading.borrow_mut().tokens += u32::from(of_token);
        match reaction {
            Reaction::Upgrade(definition) => match upgrade(id, &definition, context) {
                Ok(more) => {
                    let mut waiting = waiting.0.borrow_mut();
                    let queue = waiting.entry(id).or_default();
                    more.into_iter().rev().for_each(|reaction| queue.push_front(reaction));
                }
                Err(()) => drop(waiting.0.borrow_mut().remove(&id)),
            },
            Reaction::Call(definition, which, argument) => call(id, &definition, which, argument, context),
        }
        loading.borrow_mut().tokens -= u32::from(of_token);
    }
}

fn call(id: NodeId, definition: &Definition, which: Callback, argument: Argument, context: &mut Context) {
    let Some(callback) = definition.callback(which).cloned() else { return };
    let Ok(this) = wrap(id, context) else { return };
    let text_or_null = |text: Option<&str>| text.map_or_else(JsValue::null, bind::js);
    let arguments = match argument {
        Argument::None => Vec::new(),
        Argument::Documents(from, to) => [from, Some(to)]
            .into_iter()
            .map(|document| document.and_then(|id| wrap(id, context).ok()).map_or_else(JsValue::null, JsValue::from))
            .collect(),
        Argument::Attribute { local, namespace, old, new } => vec![
            bind::js(&local),
            text_or_null(old.as_deref()),
            text_or_null(new.as_deref()),
            text_or_null(Some(&*namespace).filter(|namespace| !namespace.is_empty())),
        ],
    };
    jobs::call(&callback, &this.into(), &arguments, context);
}

/// Runs the custom element reactions to a log of changes.
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
    let registry = of(context);
    if registry.is_empty() && realm::is_single(context) {
        return;
    }
    let document = own_document(context);
    // The parser does not wait for reactions to nested changes.
    let by_parser = std::mem::take(&mut load::loading(context).borrow_mut().is_parsing);
    let mut queue = Queue::new(context);
    let custom = |id: NodeId| definition_of(id, context);
    read(context, |tree| {
        for mutation in log {
            collect(&registry, &custom, tree, document, mutation, &mut queue);
        }
    });
    queue.run(by_parser, context);
}

fn collect(
    registry: &Registry,
    definition: &dyn Fn(NodeId) -> Option<Rc<Definition>>,
    tree: &Tree,
    document: NodeId,
    mutation: &Mutation,
    queue: &mut Queue,
) {
    let custom = |id: NodeId| match tree.element(id)?.state.custom {
        CustomState::Custom => definition(id),
        _ => None,
    };
    match mutation {
        Mutation::Text { .. } => {}
        Mutation::Made { node } => try_upgrade(registry, tree, document, *node, queue),
        Mutation::Attribute { target, namespace, local, old, new } => {
            if let Some(definition) = custom(*target).filter(|definition| definition.observed.contains(local)) {
                let argument = Argument::Attribute {
                    local: local.clone(),
                    namespace: namespace.clone(),
                    old: old.clone(),
                    new: new.clone(),
                };
                queue.call(*target, &definition, Callback::AttributeChanged, argument);
            }
        }
        Mutation::Adopted { node, from, to } => {
            for id in tree.composed_elements(*node) {
                if let Some(definition) = custom(id) {
                    queue.call(id, &definition, Callback::Adopted, Argument::Documents(*from, *to));
                }
            }
        }
        Mutation::Children { target, added, removed, .. } => {
            if !tree.is_connected(*target) {
                return;
            }
            for id in removed.iter().flatten_tree(tree) {
                if let Some(definition) = custom(id) {
                    queue.call(id, &definition, Callback::Disconnected, Argument::None);
                }
            }
            for id in added.iter().flatten_tree(tree) {
                match custom(id) {
                    Some(definition) => queue.call(id, &definition, Callback::Connected, Argument::None),
                    None => try_upgrade(registry, tree, document, id, queue),
                }
            }
        }
    }
}

/// The elements of several trees.
trait FlattenTree<'a> {
    fn flatten_tree(self, tree: &'a Tree) -> impl Iterator<Item = NodeId> + 'a;
}

impl<'a, I: Iterator<Item = &'a NodeId> + 'a> FlattenTree<'a> for I {
    fn flatten_tree(self, tree: &'a Tree) -> impl Iterator<Item = NodeId> + 'a {
        self.flat_map(move |top| tree.composed_elements(*top))
    }
}

/// "Try to upgrade" (HTML §4.13.5); only the window's document has a registry.
fn try_upgrade(registry: &Registry, tree: &Tree, document: NodeId, id: NodeId, queue: &mut Queue) {
    let is_open = tree.element(id).is_some_and(|element| element.state.custom == CustomState::Undefined);
    if !is_open || tree.document_of(id) != document {
        return;
    }
    if let Some(definition) = registry.of_element(tree, id) {
        queue.push(id, Reaction::Upgrade(definition));
    }
}

/// Upgrades the candidates in this order, if they can be.
pub(crate) fn upgrade_all(candidates: Vec<NodeId>, context: &mut Context) {
    let registry = of(context);
    let document = own_document(context);
    let mut queue = Queue::new(context);
    read(context, |tree| {
        for id in candidates {
            try_upgrade(&registry, tree, document, id, &mut queue);
        }
    });
    queue.run(false, context);
}

/// The first reactions of an upgraded element: its attributes, then its connection.
pub(super) fn first_reactions(tree: &Tree, id: NodeId, definition: &Rc<Definition>) -> Vec<Reaction> {
    let attributes = tree.element(id).map(|element| element.attributes()).unwrap_or_default();
    let has = |which| definition.callback(which).is_some();
    let observed = attributes.iter().filter(|one| definition.observed.contains(&one.name.local));
    let mut found: Vec<Reaction> = observed
        .map(|one| {
            let argument = Argument::Attribute {
                local: one.name.local.clone(),
                namespace: one.name.ns.clone(),
                old: None,
                new: Some(one.value.clone()),
            };
            Reaction::Call(Rc::clone(definition), Callback::AttributeChanged, argument)
        })
        .collect();
    if has(Callback::Connected) && tree.is_connected(id) {
        found.push(Reaction::Call(Rc::clone(definition), Callback::Connected, Argument::None));
    }
    found
}

/// Runs the reactions that a new element missed during its constructor.
pub(super) fn run_all(id: NodeId, reactions: Vec<Reaction>, context: &mut Context) {
    let waiting = waiting(context);
    waiting.0.borrow_mut().entry(id).or_default().extend(reactions);
    run(id, false, context);
}
