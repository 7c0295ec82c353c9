//! Nodes without children: `CharacterData` (DOM §4.10), `Text`, `CDATASection`, `ProcessingInstruction`, `Comment`, `DocumentType`; and
//! the constructors that take text.

use boa_engine::{Context, JsArgs, JsResult, JsValue};

use crate::dom::{Error, NodeData, NodeId, NodeKind, Tree, utf16_len};
use crate::engine::bind;
use crate::web::{change, construct, own_document, read, this_of, wrap};

const DATA: &[NodeKind] = &[NodeKind::Text, NodeKind::CData, NodeKind::Comment, NodeKind::Instruction];

/// An edit of the data between two offsets, in UTF-16 units.
macro_rules! edit {
    ($name:literal, $length:literal, $of:expr) => {
        ($name, $length, |this: &JsValue, args: &[JsValue], context: &mut Context| {
            let id = this_of(this, DATA, context)?;
            bind::want(args, $length, concat!($name, "' on 'CharacterData"))?;
            let of: fn(&[JsValue], &mut Context) -> JsResult<(Option<u32>, u32, String)> = $of;
            let (offset, count, text) = of(args, context)?;
            change(context, |tree| {
                let end = tree.character_data(id).map_or(0, utf16_len);
                let offset = offset.map_or(end, |offset| offset as usize);
                tree.replace_data(id, offset, count as usize, &text)
            })
            .map(|()| JsValue::undefined())
        })
    };
}

const CHARACTER_DATA: bind::Interface = bind::Interface {
    name: "CharacterData",
    parent: Some("Node"),
    methods: &[
        ("substringData", 2, |this, args, context| {
            let id = this_of(this, DATA, context)?;
            bind::want(args, 2, "substringData' on 'CharacterData")?;
            let (offset, count) = (args[0].to_u32(context)?, args[1].to_u32(context)?);
            let text = change(context, |tree| tree.substring_data(id, offset as usize, count as usize))?;
            Ok(bind::js(&text))
        }),
        edit!("appendData", 1, |args, context| Ok((None, 0, bind::text(args, 0, context)?))),
        edit!("insertData", 2, |args, context| Ok((Some(args[0].to_u32(context)?), 0, bind::text(args, 1, context)?))),
        edit!("deleteData", 2, |args, context| {
            Ok((Some(args[0].to_u32(context)?), args[1].to_u32(context)?, String::new()))
        }),
        edit!("replaceData", 3, |args, context| {
            Ok((Some(args[0].to_u32(context)?), args[1].to_u32(context)?, bind::text(args, 2, context)?))
        }),
    ],
    attributes: &[
        (
            "data",
            |this, _, context| {
                let id = this_of(this, DATA, context)?;
                Ok(read(context, |tree| bind::js(tree.character_data(id).unwrap_or_default())))
            },
            Some(|this, args, context| {
                let id = this_of(this, DATA, context)?;
                // `[LegacyNullToEmptyString]`.
                let is_null = args.get_or_undefined(0).is_null();
                let text = if is_null { String::new() } else { bind::text(args, 0, context)? };
                change(context, |tree| tree.set_data(id, &text)).map(|()| JsValue::undefined())
            }),
        ),
        (
            "length",
            |this, _, context| {
                let id = this_of(this, DATA, context)?;
                let length = read(context, |tree| tree.character_data(id).map_or(0, utf16_len));
                Ok(u32::try_from(length).unwrap_or(u32::MAX).into())
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

const TEXT: bind::Interface = bind::Interface {
    name: "Text",
    parent: Some("CharacterData"),
    constructor: Some(|new_target, args, context| make(new_target, "Text", args, Tree::create_text, context)),
    methods: &[("splitText", 1, |this, args, context| {
        let id = this_of(this, &[NodeKind::Text, NodeKind::CData], context)?;
        bind::want(args, 1, "splitText' on 'Text")?;
        let offset = args[0].to_u32(context)?;
        let new = change(context, |tree| tree.split_text(id, offset as usize))?;
        wrap(new, context).map(JsValue::from)
    })],
    attributes: &[(
        "wholeText",
        |this, _, context| {
            let id = this_of(this, &[NodeKind::Text, NodeKind::CData], context)?;
            Ok(bind::js(&read(context, |tree| whole_text(tree, id))))
        },
        None,
    )],
    ..bind::Interface::EMPTY
};

const COMMENT: bind::Interface = bind::Interface {
    name: "Comment",
    parent: Some("CharacterData"),
    constructor: Some(|new_target, args, context| make(new_target, "Comment", args, Tree::create_comment, context)),
    ..bind::Interface::EMPTY
};

const INSTRUCTION: bind::Interface = bind::Interface {
    name: "ProcessingInstruction",
    parent: Some("CharacterData"),
    attributes: &[
        (
            "target",
            |this, _, context| {
                let id = this_of(this, &[NodeKind::Instruction], context)?;
                Ok(read(context, |tree| match tree.data(id) {
                    NodeData::Instruction(instruction) => bind::js(&instruction.target),
                    _ => JsValue::null(),
                }))
            },
            None,
        ),
        ("sheet", |this, _, context| this_of(this, &[NodeKind::Instruction], context).map(|_| JsValue::null()), None),
    ],
    ..bind::Interface::EMPTY
};

/// An attribute with a part of a document type.
macro_rules! part {
    ($name:literal, $field:ident) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_of(this, &[NodeKind::DocumentType], context)?;
                Ok(read(context, |tree| match tree.data(id) {
                    NodeData::DocumentType(doctype) => bind::js(&doctype.$field),
                    _ => JsValue::null(),
                }))
            },
            None,
        )
    };
}

const DOCUMENT_TYPE: bind::Interface = bind::Interface {
    name: "DocumentType",
    parent: Some("Node"),
    attributes: &[part!("name", name), part!("publicId", public_id), part!("systemId", system_id)],
    ..bind::Interface::EMPTY
};

const DOCUMENT_METHODS: &[bind::Method] = &[
    ("createCDATASection", 1, |this, args, context| {
        let document = crate::web::this_document(this, context)?;
        bind::want(args, 1, "createCDATASection' on 'Document")?;
        let text = bind::text(args, 0, context)?;
        let node = change(context, |tree| tree.create_cdata(document, text))?;
        wrap(node, context).map(JsValue::from)
    }),
    ("createProcessingInstruction", 2, |this, args, context| {
        let document = crate::web::this_document(this, context)?;
        bind::want(args, 2, "createProcessingInstruction' on 'Document")?;
        let (target, text) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
        let node = change(context, |tree| tree.create_instruction(document, &target, &text))?;
        wrap(node, context).map(JsValue::from)
    }),
];

/// Defines the interfaces; `Node` and `Document` already exist.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    for interface in [&CHARACTER_DATA, &TEXT, &CDATA, &COMMENT, &INSTRUCTION, &DOCUMENT_TYPE] {
        bind::define(interface, context)?;
    }
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, DOCUMENT_METHODS, context)
}

const CDATA: bind::Interface = bind::Interface { name: "CDATASection", parent: Some("Text"), ..bind::Interface::EMPTY };

/// `new Text(data)`, `new Comment(data)`: nodes of the window's document.
fn make(
    new_target: &JsValue,
    interface: &'static str,
    args: &[JsValue],
    create: fn(&mut Tree, NodeId, String) -> Result<NodeId, Error>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let text = bind::text_if_given(args, 0, context)?.unwrap_or_default();
    let document = own_document(context);
    construct(new_target, interface, |tree| create(tree, document, text), context)
}

/// The data of the adjacent text nodes around one (DOM §4.11).
fn whole_text(tree: &Tree, id: NodeId) -> String {
    let run = |step: fn(&Tree, NodeId) -> Option<NodeId>| {
        std::iter::successors(Some(id), move |id| step(tree, *id)).take_while(|id| tree.is_text(*id))
    };
    let first = run(Tree::previous_sibling).last().unwrap_or(id);
    let texts = std::iter::successors(Some(first), |id| tree.next_sibling(*id)).take_while(|id| tree.is_text(*id));
    texts.filter_map(|id| tree.character_data(id)).collect()
}
