//! Tables by rows, sections and cells (HTML §4.9).

use boa_engine::native_function::NativeFunctionPointer;
use boa_engine::{Context, JsArgs, JsResult, JsValue};
use html5ever::{LocalName, QualName, ns};

use super::element::is_called;
use crate::dom::{Error, NodeId, Tree};
use crate::engine::bind;
use crate::web::{change, node_argument_or_null, read, slot, this_element, thrown, wrap, wrap_or_null};

const SECTIONS: &[&str] = &["tbody", "thead", "tfoot"];

/// An attribute that is a live collection.
macro_rules! list {
    ($name:literal, $find:expr) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_element(this, context)?;
                let list = slot(id, $name, context, |context| {
                    crate::web::dom::collection::live(
                        "HTMLCollection",
                        id,
                        crate::web::dom::collection::Filter::Found($find),
                        context,
                    )
                })?;
                Ok(list.into())
            },
            None,
        )
    };
}
pub(super) use list;

/// Members of a table that exist once: caption, head and foot. Getter, setter, create and delete methods.
macro_rules! single {
    ($local:literal) => {
        (
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_element(this, context)?;
                let found = read(context, |tree| first(tree, id, $local));
                wrap_or_null(found, context)
            },
            Some(|this: &JsValue, args: &[JsValue], context: &mut Context| {
                let id = this_element(this, context)?;
                let new = node_argument_or_null(args, 0, concat!($local, "' on 'HTMLTableElement"), context)?;
                set_single(id, $local, new, context).map(|()| JsValue::undefined())
            }),
        )
    };
}

/// Getter and setter.
type Accessor = (NativeFunctionPointer, Option<NativeFunctionPointer>);

const CAPTION: Accessor = single!("caption");
const HEAD: Accessor = single!("thead");
const FOOT: Accessor = single!("tfoot");

const TABLE_METHODS: &[bind::Method] = &[
    ("createCaption", 0, |this, _, context| create(this, "caption", context)),
    ("createTHead", 0, |this, _, context| create(this, "thead", context)),
    ("createTFoot", 0, |this, _, context| create(this, "tfoot", context)),
    ("deleteCaption", 0, |this, _, context| delete(this, "caption", context)),
    ("deleteTHead", 0, |this, _, context| delete(this, "thead", context)),
    ("deleteTFoot", 0, |this, _, context| delete(this, "tfoot", context)),
    ("createTBody", 0, |this, _, context| {
        let id = this_element(this, context)?;
        let body = change(context, |tree| {
            let body = make(tree, id, "tbody")?;
            let last = tree.child_elements(id).rev().find(|child| is_called(tree, *child, &["tbody"]));
            let before = last.and_then(|last| tree.next_sibling(last));
            tree.insert_before(id, body, before)
        })?;
        wrap(body, context).map(JsValue::from)
    }),
    ("insertRow", 0, |this, args, context| {
        let id = this_element(this, context)?;
        let index = index_argument(args, context)?;
        let row = change(context, |tree| insert_table_row(tree, id, index))?;
        wrap(row, context).map(JsValue::from)
    }),
    ("deleteRow", 1, |this, args, context| delete_at(this, args, "deleteRow' on 'HTMLTableElement", rows, context)),
];

const TABLE_ATTRIBUTES: &[bind::Attribute] = &[
    ("caption", CAPTION.0, CAPTION.1),
    ("tHead", HEAD.0, HEAD.1),
    ("tFoot", FOOT.0, FOOT.1),
    list!("tBodies", |tree, id| tree.child_elements(id).filter(|child| is_called(tree, *child, &["tbody"])).collect()),
    list!("rows", rows),
];

const SECTION_METHODS: &[bind::Method] = &[
    ("insertRow", 0, |this, args, context| insert_at(this, args, "tr", section_rows, context)),
    ("deleteRow", 1, |this, args, context| {
        delete_at(this, args, "deleteRow' on 'HTMLTableSectionElement", section_rows, context)
    }),
];

const ROW_METHODS: &[bind::Method] = &[
    ("insertCell", 0, |this, args, context| insert_at(this, args, "td", cells, context)),
    ("deleteCell", 1, |this, args, context| {
        delete_at(this, args, "deleteCell' on 'HTMLTableRowElement", cells, context)
    }),
];

const ROW_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "rowIndex",
        |this, _, context| {
            let id = this_element(this, context)?;
            let place = read(context, |tree| {
                let parent = tree.parent(id)?;
                let table = if is_called(tree, parent, SECTIONS) { tree.parent(parent)? } else { parent };
                is_called(tree, table, &["table"])
                    .then(|| rows(tree, table).iter().position(|row| *row == id))
                    .flatten()
            });
            Ok(index(place))
        },
        None,
    ),
    (
        "sectionRowIndex",
        |this, _, context| {
            let id = this_element(this, context)?;
            let place = read(context, |tree| {
                let parent = tree.parent(id)?;
                let among =
                    if is_called(tree, parent, &["table"]) { rows(tree, parent) } else { section_rows(tree, parent) };
                among.iter().position(|row| *row == id)
            });
            Ok(index(place))
        },
        None,
    ),
    list!("cells", cells),
];

const CELL_ATTRIBUTES: &[bind::Attribute] = &[(
    "cellIndex",
    |this, _, context| {
        let id = this_element(this, context)?;
        let place = read(context, |tree| {
            let row = tree.parent(id).filter(|parent| is_called(tree, *parent, &["tr"]))?;
            cells(tree, row).iter().position(|cell| *cell == id)
        });
        Ok(index(place))
    },
    None,
)];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let interfaces: [(&str, &[bind::Method], &[bind::Attribute]); 4] = [
        ("HTMLTableElement", TABLE_METHODS, TABLE_ATTRIBUTES),
        ("HTMLTableSectionElement", SECTION_METHODS, &[list!("rows", section_rows)]),
        ("HTMLTableRowElement", ROW_METHODS, ROW_ATTRIBUTES),
        ("HTMLTableCellElement", &[], CELL_ATTRIBUTES),
    ];
    for (name, methods, attributes) in interfaces {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, methods, context)?;
        bind::attributes(&prototype, attributes, context)?;
    }
    Ok(())
}

fn index(place: Option<usize>) -> JsValue {
    place.and_then(|place| i32::try_from(place).ok()).unwrap_or(-1).into()
}

fn children(tree: &Tree, id: NodeId, names: &[&str]) -> Vec<NodeId> {
    tree.child_elements(id).filter(|child| is_called(tree, *child, names)).collect()
}

fn section_rows(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    children(tree, id, &["tr"])
}

fn cells(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    children(tree, id, &["td", "th"])
}

/// The rows of a table: those of heads first, then of bodies and of the table itself, then of feet.
fn rows(tree: &Tree, table: NodeId) -> Vec<NodeId> {
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    for child in tree.child_elements(table) {
        let place = match tree.element(child).map(|element| &*element.name().local) {
            Some("thead") => 0,
            Some("tfoot") => 2,
            _ => 1,
        };
        if is_called(tree, child, &["tr"]) {
            parts[1].push(child);
        } else if is_called(tree, child, SECTIONS) {
            parts[place].extend(section_rows(tree, child));
        }
    }
    parts.concat()
}

fn first(tree: &Tree, table: NodeId, local: &str) -> Option<NodeId> {
    tree.child_elements(table).find(|child| is_called(tree, *child, &[local]))
}

fn make(tree: &mut Tree, near: NodeId, local: &str) -> Result<NodeId, Error> {
    let document = tree.document_of(near);
    tree.create_element(document, QualName::new(None, ns!(html), LocalName::from(local)), Vec::new())
}

/// The position of a caption, a head or a foot in its table.
fn place_of(tree: &Tree, table: NodeId, local: &str) -> Option<NodeId> {
    match local {
        "caption" => tree.first_child(table),
        "thead" => tree.child_elements(table).find(|child| !is_called(tree, *child, &["caption", "colgroup"])),
        _ => None,
    }
}

fn set_single(table: NodeId, local: &'static str, new: Option<NodeId>, context: &mut Context) -> JsResult<()> {
    if let Some(new) = new.filter(|new| read(context, |tree| !is_called(tree, *new, &[local]))) {
        // A section of another kind passes the type check, and is rejected only for its kind.
        let is_section = local != "caption" && read(context, |tree| is_called(tree, new, SECTIONS));
        return Err(match is_section {
            true => thrown(Error::HierarchyRequest, context),
            false => bind::type_error("The provided value is not of the right type."),
        });
    }
    change(context, |tree| {
        if let Some(old) = first(tree, table, local) {
            if Some(old) == new && local != "caption" {
                return Ok(());
            }
            tree.remove(old);
        }
        if let Some(new) = new {
            let before = place_of(tree, table, local).filter(|before| *before != new);
            tree.insert_before(table, new, before)?;
        }
        Ok(())
    })
}

fn create(this: &JsValue, local: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let made = change(context, |tree| match first(tree, id, local) {
        Some(found) => Ok(found),
        None => {
            let made = make(tree, id, local)?;
            let before = place_of(tree, id, local);
            tree.insert_before(id, made, before)
        }
    })?;
    wrap(made, context).map(JsValue::from)
}

fn delete(this: &JsValue, local: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    change(context, |tree| {
        if let Some(found) = first(tree, id, local) {
            tree.remove(found);
        }
        Ok(JsValue::undefined())
    })
}

/// The index argument of an insertion; −1 if it is omitted.
fn index_argument(args: &[JsValue], context: &mut Context) -> JsResult<i32> {
    match args.get_or_undefined(0) {
        given if given.is_undefined() => Ok(-1),
        given => given.to_i32(context),
    }
}

/// The position of an index among `count` items; `None` is the end.
fn place_at(index: i32, count: usize) -> Result<Option<usize>, Error> {
    match usize::try_from(index) {
        Ok(place) if place < count => Ok(Some(place)),
        Ok(place) if place == count => Ok(None),
        Err(_) if index == -1 => Ok(None),
        _ => Err(Error::IndexSize),
    }
}

fn insert_table_row(tree: &mut Tree, table: NodeId, index: i32) -> Result<NodeId, Error> {
    let known = rows(tree, table);
    let place = place_at(index, known.len())?;
    let row = make(tree, table, "tr")?;
    let Some(last) = known.last().copied() else {
        let body = children(tree, table, &["tbody"]).last().copied();
        let body = match body {
            Some(body) => body,
            None => {
                let body = make(tree, table, "tbody")?;
                tree.append(table, body)?
            }
        };
        return tree.append(body, row);
    };
    match place.map(|place| known[place]) {
        Some(before) => {
            let parent = tree.parent(before).unwrap_or(table);
            tree.insert_before(parent, row, Some(before))
        }
        None => {
            let parent = tree.parent(last).unwrap_or(table);
            tree.append(parent, row)
        }
    }
}

type Find = fn(&Tree, NodeId) -> Vec<NodeId>;

fn insert_at(this: &JsValue, args: &[JsValue], local: &str, find: Find, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let index = index_argument(args, context)?;
    let made = change(context, |tree| {
        let known = find(tree, id);
        let before = place_at(index, known.len())?.map(|place| known[place]);
        let made = make(tree, id, local)?;
        tree.insert_before(id, made, before)
    })?;
    wrap(made, context).map(JsValue::from)
}

fn delete_at(this: &JsValue, args: &[JsValue], what: &str, find: Find, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    bind::want(args, 1, what)?;
    let index = args[0].to_i32(context)?;
    change(context, |tree| {
        let known = find(tree, id);
        let found = match usize::try_from(index) {
            Ok(place) => Some(known.get(place).copied().ok_or(Error::IndexSize)?),
            Err(_) if index == -1 => known.last().copied(),
            Err(_) => return Err(Error::IndexSize),
        };
        if let Some(found) = found {
            tree.remove(found);
        }
        Ok(JsValue::undefined())
    })
}
