//! Lists of nodes (DOM §4.2.10): `NodeList` and `HTMLCollection`, live or static. A live list is recomputed only when the tree's
//! generation has changed.

use std::collections::VecDeque;

use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsString, JsSymbol, JsValue, Trace, js_string,
};
use html5ever::interface::QuirksMode;
use html5ever::{LocalName, Namespace, local_name};

use super::{node, parent};
use crate::dom::{NodeId, Tree};
use crate::engine::bind;
use crate::limits;
use crate::web::webidl::exotic::{self, Computed, Kind, computed};
use crate::web::{of, read, slot, this_node, wrap, wrap_or_null};

/// The contents of a live list.
#[derive(Clone, Debug)]
pub enum Filter {
    /// All children.
    ChildNodes,
    /// Elements among the children.
    Children,
    /// Descendants by qualified name, where `*` is any. `lower` is the lower-case name for HTML elements; it is set if the document was
    /// HTML when the list was created.
    TagName { given: LocalName, lower: Option<LocalName> },
    /// Descendants by namespace and local name; `None` is any.
    TagNameNs(Option<Namespace>, Option<LocalName>),
    /// Descendants that have all these classes.
    Classes(Vec<String>),
    /// Descendants that satisfy this predicate on their names and attributes.
    Of(fn(&Tree, NodeId) -> bool),
    /// The same with a text argument.
    Called(fn(&Tree, NodeId, &str) -> bool, Box<str>),
    /// Nodes that a function finds for the root.
    Found(fn(&Tree, NodeId) -> Vec<NodeId>),
    /// Nodes that a function finds for the root and a name.
    FoundBy(fn(&Tree, NodeId, &str) -> Vec<NodeId>, String),
}

/// The data of a list.
#[derive(Trace, Finalize, JsData)]
pub struct List {
    #[unsafe_ignore_trace]
    root: NodeId,
    /// `None`: the list is static.
    #[unsafe_ignore_trace]
    filter: Option<Filter>,
    /// Generation of the tree, or of its structure, to which `nodes` belong.
    #[unsafe_ignore_trace]
    generation: u64,
    #[unsafe_ignore_trace]
    nodes: Vec<NodeId>,
}

static NODE_LIST: Kind = computed!(Computed { length, item, indexed: true, has_names: false, ..Computed::EMPTY });
static COLLECTION: Kind = computed!(Computed { length, item, indexed: true, named, names, ..Computed::EMPTY });

const LENGTH: bind::Attribute = (
    "length",
    |this, _, context| {
        let this = exotic::this::<List>(this, context)?;
        Ok(nodes(&this.upcast(), context, |nodes| u32::try_from(nodes.len()).unwrap_or(u32::MAX)).into())
    },
    None,
);

const ITEM: bind::Method = ("item", 1, |this, args, context| {
    let this = exotic::this::<List>(this, context)?.upcast();
    bind::want(args, 1, "item' on 'NodeList")?;
    let index = args.get_or_undefined(0).to_u32(context)?;
    let found = nodes(&this, context, |nodes| nodes.get(index as usize).copied());
    wrap_or_null(found, context)
});

const NODE_LIST_INTERFACE: bind::Interface =
    bind::Interface { name: "NodeList", methods: &[ITEM], attributes: &[LENGTH], ..bind::Interface::EMPTY };

const COLLECTION_INTERFACE: bind::Interface = bind::Interface {
    name: "HTMLCollection",
    methods: &[
        ITEM,
        ("namedItem", 1, |this, args, context| {
            let this = exotic::this::<List>(this, context)?.upcast();
            bind::want(args, 1, "namedItem' on 'HTMLCollection")?;
            let name = args[0].to_string(context)?;
            Ok(named(&this, &name, context)?.unwrap_or_else(JsValue::null))
        }),
    ],
    attributes: &[LENGTH],
    ..bind::Interface::EMPTY
};

const TAG_METHODS: &[bind::Method] = &[
    ("getElementsByTagName", 1, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 1, "getElementsByTagName' on 'Element")?;
        let name = bind::text(args, 0, context)?;
        let in_html = read(context, |tree| tree.is_html_document(tree.document_of(id)));
        let lower = in_html.then(|| LocalName::from(name.to_ascii_lowercase()));
        known_or_live(id, Filter::TagName { lower, given: LocalName::from(name) }, context)
    }),
    ("getElementsByTagNameNS", 2, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 2, "getElementsByTagNameNS' on 'Element")?;
        let namespace = node::nullable_text(args, 0, context)?.unwrap_or_default();
        let local = bind::text(args, 1, context)?;
        let filter = Filter::TagNameNs(
            (namespace != "*").then(|| Namespace::from(namespace)),
            (local != "*").then(|| LocalName::from(local)),
        );
        known_or_live(id, filter, context)
    }),
    ("getElementsByClassName", 1, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 1, "getElementsByClassName' on 'Element")?;
        let classes = bind::text(args, 0, context)?.split_ascii_whitespace().map(str::to_owned).collect();
        known_or_live(id, Filter::Classes(classes), context)
    }),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    for interface in [&NODE_LIST_INTERFACE, &COLLECTION_INTERFACE] {
        let prototype = bind::define(interface, context)?;
        if interface.name == "NodeList" {
            iterable(&prototype, context)?;
        } else {
            let values = context.intrinsics().objects().array_prototype_values();
            bind::hidden(&prototype, JsSymbol::iterator(), values.into(), true, context)?;
        }
    }
    for name in ["Element", "Document"] {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, TAG_METHODS, context)?;
    }
    let by_name: bind::Method = ("getElementsByName", 1, |this, args, context| {
        let id = crate::web::this_document(this, context)?;
        bind::want(args, 1, "getElementsByName' on 'Document")?;
        let name = bind::text(args, 0, context)?;
        live("NodeList", id, Filter::Called(has_name, name.into()), context).map(JsValue::from)
    });
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, &[by_name], context)?;
    let child_nodes: bind::Attribute = (
        "childNodes",
        |this, _, context| {
            let id = this_node(this, context)?;
            slot(id, "childNodes", context, |context| live("NodeList", id, Filter::ChildNodes, context))
                .map(JsValue::from)
        },
        None,
    );
    let node = bind::prototype("Node", context)?;
    bind::attributes(&node, &[child_nodes], context)?;
    let children: bind::Attribute = (
        "children",
        |this, _, context| {
            let id = this_node(this, context)?;
            slot(id, "children", context, |context| live("HTMLCollection", id, Filter::Children, context))
                .map(JsValue::from)
        },
        None,
    );
    let all: bind::Method = ("querySelectorAll", 1, |this, args, context| {
        let id = this_node(this, context)?;
        bind::want(args, 1, "querySelectorAll' on 'Element")?;
        let selectors = parent::selectors(args, context)?;
        let found = read(context, |tree| tree.query_selector_all(id, &selectors));
        fixed(id, found, context).map(JsValue::from)
    });
    for name in ["Element", "Document", "DocumentFragment"] {
        let prototype = bind::prototype(name, context)?;
        bind::attributes(&prototype, &[children], context)?;
        bind::methods(&prototype, &[all], context)?;
    }
    Ok(())
}

/// Adds list iteration to a prototype; its functions are those of arrays (WebIDL §3.7.9).
///
/// # Errors
/// When the prototype takes no new properties.
pub fn iterable(prototype: &JsObject, context: &mut Context) -> JsResult<()> {
    let array = context.intrinsics().constructors().array().prototype();
    for name in ["entries", "keys", "values", "forEach"] {
        let method = array.get(js_string!(name), context)?;
        prototype.create_data_property_or_throw(js_string!(name), method, context)?;
    }
    let values = context.intrinsics().objects().array_prototype_values();
    bind::hidden(prototype, JsSymbol::iterator(), values.into(), true, context)
}

/// A live list.
///
/// # Errors
/// When an interface is missing, which is a bug.
pub fn live(interface: &'static str, root: NodeId, filter: Filter, context: &mut Context) -> JsResult<JsObject> {
    live_of_kind(interface, if interface == "NodeList" { &NODE_LIST } else { &COLLECTION }, root, filter, context)
}

/// A live list of an interface that inherits from `NodeList` or `HTMLCollection` and has properties of its own kind.
///
/// # Errors
/// As [`live`].
pub fn live_of_kind(
    interface: &'static str,
    kind: &'static Kind,
    root: NodeId,
    filter: Filter,
    context: &mut Context,
) -> JsResult<JsObject> {
    let data = List { root, filter: Some(filter), generation: u64::MAX, nodes: Vec::new() };
    exotic::object(interface, data, kind, context)
}

/// The root node of a list.
pub fn root_of(list: &JsObject) -> Option<NodeId> {
    list.downcast_ref::<List>().map(|list| list.root)
}

/// A static `NodeList`.
///
/// # Errors
/// As [`live`].
pub fn fixed(root: NodeId, nodes: Vec<NodeId>, context: &mut Context) -> JsResult<JsObject> {
    exotic::object("NodeList", List { root, filter: None, generation: 0, nodes }, &NODE_LIST, context)
}

/// The cache of recently requested lists: a page that asks for the same list gets the same object, as in browsers.
#[derive(Default)]
pub struct Recent(VecDeque<(NodeId, Filter, JsObject)>);

fn known_or_live(root: NodeId, filter: Filter, context: &mut Context) -> JsResult<JsValue> {
    let web = of(context);
    let known = {
        let web = web.borrow();
        let known = web.recent_lists.0.iter().find(|(of, known, _)| *of == root && known.is(&filter));
        known.map(|(.., list)| list.clone())
    };
    if let Some(list) = known {
        return Ok(list.into());
    }
    let list = live("HTMLCollection", root, filter.clone(), context)?;
    let recent = &mut web.borrow_mut().recent_lists.0;
    if recent.len() == limits::RECENT_LISTS_MAX {
        recent.pop_front();
    }
    recent.push_back((root, filter, list.clone()));
    Ok(list.into())
}

/// Borrows the current nodes of a list.
pub fn nodes<T>(list: &JsObject, context: &Context, what: impl FnOnce(&[NodeId]) -> T) -> T {
    let Some(mut list) = list.downcast_mut::<List>() else { return what(&[]) };
    let list = &mut *list;
    if let Some(filter) = &list.filter {
        read(context, |tree| {
            let now = if filter.reads_attributes() { tree.generation() } else { tree.structure() };
            if list.generation != now {
                (list.generation, list.nodes) = (now, filter.find(tree, list.root));
            }
        });
    }
    what(&list.nodes)
}

impl Filter {
    /// Whether both filters are the same.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::TagName { given, lower }, Self::TagName { given: other, lower: other_lower }) => {
                given == other && lower == other_lower
            }
            (Self::TagNameNs(namespace, local), Self::TagNameNs(other, other_local)) => {
                namespace == other && local == other_local
            }
            (Self::Classes(classes), Self::Classes(others)) => classes == others,
            _ => false,
        }
    }

    /// Whether the list depends on more than the positions and names of elements.
    fn reads_attributes(&self) -> bool {
        matches!(self, Self::Classes(_) | Self::Of(_) | Self::Called(..))
    }

    fn find(&self, tree: &Tree, root: NodeId) -> Vec<NodeId> {
        match self {
            Self::ChildNodes => tree.children(root).collect(),
            Self::Children => tree.child_elements(root).collect(),
            Self::Found(find) => find(tree, root),
            Self::FoundBy(find, name) => find(tree, root, name),
            other => tree.descendants(root).filter(|id| other.takes(tree, *id)).collect(),
        }
    }

    fn takes(&self, tree: &Tree, id: NodeId) -> bool {
        let Some(element) = tree.element(id) else { return false };
        let name = element.name();
        match self {
            Self::ChildNodes | Self::Children | Self::Found(_) | Self::FoundBy(..) => true,
            Self::TagName { given, lower } => {
                let lower = lower.as_ref().filter(|_| name.ns == html5ever::ns!(html));
                let wanted = lower.unwrap_or(given);
                **given == *"*"
                    || (name.prefix.is_none() && name.local == *wanted)
                    || (name.prefix.is_some() && super::element::qualified(name) == **wanted)
            }
            Self::TagNameNs(namespace, local) => {
                namespace.as_ref().is_none_or(|namespace| *namespace == name.ns)
                    && local.as_ref().is_none_or(|local| *local == name.local)
            }
            Self::Classes(classes) => {
                // In quirks mode classes are compared case-insensitively.
                let quirks =
                    tree.document_data(tree.document_of(id)).is_some_and(|data| data.quirks == QuirksMode::Quirks);
                let is_same = |class: &str, wanted: &str| {
                    if quirks { class.eq_ignore_ascii_case(wanted) } else { class == wanted }
                };
                !classes.is_empty() && classes.iter().all(|wanted| tree.classes(id).any(|class| is_same(class, wanted)))
            }
            Self::Of(is_one) => is_one(tree, id),
            Self::Called(is_called, text) => is_called(tree, id, text),
        }
    }
}

/// Whether an HTML element's `name` is this.
fn has_name(tree: &Tree, id: NodeId, wanted: &str) -> bool {
    tree.element(id).is_some_and(|element| {
        element.name().ns == html5ever::ns!(html) && element.attribute(&local_name!("name")) == Some(wanted)
    })
}

pub(crate) fn length(list: &JsObject, context: &mut Context) -> JsResult<u32> {
    Ok(nodes(list, context, |nodes| u32::try_from(nodes.len()).unwrap_or(u32::MAX)))
}

pub(crate) fn item(list: &JsObject, index: u32, context: &mut Context) -> JsResult<JsValue> {
    match nodes(list, context, |nodes| nodes.get(index as usize).copied()) {
        Some(id) => wrap(id, context).map(JsValue::from),
        None => Ok(JsValue::undefined()),
    }
}

/// DOM §4.2.10.2 "supported property names": identifiers, and names of HTML elements.
fn names_of(tree: &Tree, id: NodeId) -> [Option<&str>; 2] {
    let name = tree.element(id).filter(|element| element.name().ns == html5ever::ns!(html));
    let name = name.and_then(|element| element.attribute(&local_name!("name"))).filter(|name| !name.is_empty());
    [tree.id(id), name]
}

pub(crate) fn named(list: &JsObject, name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let name = name.to_std_string_lossy();
    if name.is_empty() {
        return Ok(None);
    }
    let found = nodes(list, context, |nodes| {
        read(context, |tree| nodes.iter().copied().find(|id| names_of(tree, *id).contains(&Some(name.as_str()))))
    });
    found.map(|id| wrap(id, context).map(JsValue::from)).transpose()
}

pub(crate) fn names(list: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    Ok(nodes(list, context, |nodes| {
        read(context, |tree| {
            let names = nodes.iter().flat_map(|id| names_of(tree, *id)).flatten();
            names.map(|name| js_string!(name)).collect()
        })
    }))
}
