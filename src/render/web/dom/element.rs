//! `Element` (DOM §4.9) and its HTML extensions: attributes, selectors, markup.

use boa_engine::{Context, JsArgs, JsResult, JsValue};
use html5ever::LocalName;

use super::node::nullable_text;
use super::parent;
use crate::dom::{Error, NodeKind, validate_and_extract};
use crate::engine::bind;
use crate::web::html::parsing;
use crate::web::{change, read, this_element, wrap_or_null};

/// An attribute that reflects a content attribute's text (HTML §2.6.1 "reflect").
macro_rules! reflected {
    ($name:literal, $content:literal) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let id = this_element(this, context)?;
                let local = LocalName::from($content);
                Ok(read(context, |tree| bind::js(tree.attribute(id, &local).unwrap_or_default())))
            },
            Some(|this: &JsValue, args: &[JsValue], context: &mut Context| {
                let id = this_element(this, context)?;
                let text = bind::text(args, 0, context)?;
                change(context, |tree| tree.set_attribute(id, $content, &text)).map(|()| JsValue::undefined())
            }),
        )
    };
}

const METHODS: &[bind::Method] = &[
    ("getAttribute", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "getAttribute' on 'Element")?;
        let name = bind::text(args, 0, context)?;
        let value = read(context, |tree| tree.attribute_by_name(id, &name).map(|one| bind::js(&one.value)));
        Ok(value.unwrap_or_else(JsValue::null))
    }),
    ("getAttributeNS", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "getAttributeNS' on 'Element")?;
        let (namespace, name) = (nullable_text(args, 0, context)?.unwrap_or_default(), bind::text(args, 1, context)?);
        let value = read(context, |tree| tree.attribute_ns(id, &namespace, &name).map(|one| bind::js(&one.value)));
        Ok(value.unwrap_or_else(JsValue::null))
    }),
    ("setAttribute", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "setAttribute' on 'Element")?;
        let (name, value) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
        change(context, |tree| tree.set_attribute(id, &name, &value)).map(|()| JsValue::undefined())
    }),
    ("setAttributeNS", 3, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 3, "setAttributeNS' on 'Element")?;
        let namespace = nullable_text(args, 0, context)?;
        let (name, value) = (bind::text(args, 1, context)?, bind::text(args, 2, context)?);
        change(context, |tree| {
            let name = validate_and_extract(namespace.as_deref(), &name, true)?;
            tree.set_attribute_ns(id, name, &value)
        })
        .map(|()| JsValue::undefined())
    }),
    ("removeAttribute", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "removeAttribute' on 'Element")?;
        let name = bind::text(args, 0, context)?;
        change(context, |tree| Ok(tree.remove_attribute(id, &name))).map(|_| JsValue::undefined())
    }),
    ("removeAttributeNS", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "removeAttributeNS' on 'Element")?;
        let (namespace, name) = (nullable_text(args, 0, context)?.unwrap_or_default(), bind::text(args, 1, context)?);
        change(context, |tree| Ok(tree.remove_attribute_ns(id, &namespace, &name))).map(|_| JsValue::undefined())
    }),
    ("hasAttribute", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "hasAttribute' on 'Element")?;
        let name = bind::text(args, 0, context)?;
        Ok(read(context, |tree| tree.attribute_by_name(id, &name).is_some()).into())
    }),
    ("hasAttributeNS", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "hasAttributeNS' on 'Element")?;
        let (namespace, name) = (nullable_text(args, 0, context)?.unwrap_or_default(), bind::text(args, 1, context)?);
        Ok(read(context, |tree| tree.attribute_ns(id, &namespace, &name).is_some()).into())
    }),
    ("hasAttributes", 0, |this, _, context| {
        let id = this_element(this, context)?;
        Ok(read(context, |tree| tree.element(id).is_some_and(|element| !element.attributes().is_empty())).into())
    }),
    ("getAttributeNames", 0, |this, _, context| {
        let id = this_element(this, context)?;
        let names: Vec<JsValue> = read(context, |tree| {
            let attributes = tree.element(id).map(|element| element.attributes()).unwrap_or_default();
            attributes.iter().map(|one| bind::js(&qualified(&one.name))).collect()
        });
        Ok(bind::array(names, context))
    }),
    ("toggleAttribute", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "toggleAttribute' on 'Element")?;
        let name = bind::text(args, 0, context)?;
        let force = args.get(1).filter(|value| !value.is_undefined()).map(JsValue::to_boolean);
        let there = change(context, |tree| {
            if !crate::dom::is_attribute_name(&name) {
                return Err(Error::InvalidCharacter);
            }
            let there = tree.attribute_by_name(id, &name).is_some();
            let wanted = force.unwrap_or(!there);
            match (there, wanted) {
                (false, true) => tree.set_attribute(id, &name, "")?,
                (true, false) => drop(tree.remove_attribute(id, &name)),
                _ => {}
            }
            Ok(wanted)
        })?;
        Ok(there.into())
    }),
    ("matches", 1, matches),
    ("webkitMatchesSelector", 1, matches),
    ("closest", 1, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 1, "closest' on 'Element")?;
        let selectors = parent::selectors(args, context)?;
        let found = read(context, |tree| tree.closest(id, &selectors));
        wrap_or_null(found, context)
    }),
    ("insertAdjacentElement", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "insertAdjacentElement' on 'Element")?;
        let place = bind::text(args, 0, context)?;
        let node = crate::web::node_argument(args, 1, "insertAdjacentElement' on 'Element", context)?;
        let put = change(context, |tree| match tree.adjacent_place(id, &place)? {
            Some((parent, before)) => tree.insert_before(parent, node, before).map(Some),
            None => Ok(None),
        })?;
        wrap_or_null(put, context)
    }),
    ("insertAdjacentText", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "insertAdjacentText' on 'Element")?;
        let (place, text) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
        change(context, |tree| {
            if let Some((parent, before)) = tree.adjacent_place(id, &place)? {
                let document = tree.document_of(id);
                let node = tree.create_text(document, text)?;
                tree.insert_before(parent, node, before)?;
            }
            Ok(JsValue::undefined())
        })
    }),
    ("insertAdjacentHTML", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "insertAdjacentHTML' on 'Element")?;
        let (place, text) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
        change(context, |tree| {
            let (parent, before) = tree.adjacent_place(id, &place)?.ok_or(Error::NoModificationAllowed)?;
            if tree.kind(parent) == NodeKind::Document {
                return Err(Error::NoModificationAllowed);
            }
            let around = tree.is_element(parent).then_some(parent);
            let fragment = parsing::fragment(tree, around, parent, &text)?;
            tree.insert_before(parent, fragment, before)?;
            Ok(JsValue::undefined())
        })
    }),
];

const ATTRIBUTES: &[bind::Attribute] = &[
    reflected!("id", "id"),
    reflected!("className", "class"),
    reflected!("slot", "slot"),
    (
        "tagName",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| tree.tag_name(id).unwrap_or_default())))
        },
        None,
    ),
    (
        "localName",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| tree.element(id).map_or_else(JsValue::null, |one| bind::js(&one.name().local))))
        },
        None,
    ),
    (
        "prefix",
        |this, _, context| {
            let id = this_element(this, context)?;
            let prefix = read(context, |tree| {
                tree.element(id).and_then(|one| one.name().prefix.as_ref().map(|prefix| bind::js(prefix)))
            });
            Ok(prefix.unwrap_or_else(JsValue::null))
        },
        None,
    ),
    (
        "namespaceURI",
        |this, _, context| {
            let id = this_element(this, context)?;
            let namespace = read(context, |tree| tree.element(id).map(|one| one.name().ns.to_string()));
            let namespace = namespace.filter(|namespace| !namespace.is_empty());
            Ok(namespace.map_or_else(JsValue::null, |namespace| bind::js(&namespace)))
        },
        None,
    ),
    (
        "innerHTML",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| parsing::inner(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = nullable_text_as_empty(args, context)?;
            change(context, |tree| {
                let fragment = parsing::fragment_in(tree, id, &text)?;
                let holder = tree.element(id).and_then(|element| element.template_contents()).unwrap_or(id);
                tree.replace_all(holder, Some(fragment));
                Ok(JsValue::undefined())
            })
        }),
    ),
    (
        "outerHTML",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| parsing::outer(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = nullable_text_as_empty(args, context)?;
            change(context, |tree| {
                let Some(parent) = tree.parent(id) else { return Ok(JsValue::undefined()) };
                if tree.kind(parent) == NodeKind::Document {
                    return Err(Error::NoModificationAllowed);
                }
                let around = tree.is_element(parent).then_some(parent);
                let fragment = parsing::fragment(tree, around, parent, &text)?;
                tree.replace(parent, fragment, id)?;
                Ok(JsValue::undefined())
            })
        }),
    ),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::prototype("Element", context)?;
    bind::methods(&prototype, METHODS, context)?;
    bind::attributes(&prototype, ATTRIBUTES, context)
}

fn matches(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    bind::want(args, 1, "matches' on 'Element")?;
    let selectors = parent::selectors(args, context)?;
    Ok(read(context, |tree| tree.matches(id, &selectors)).into())
}

/// `[LegacyNullToEmptyString]`: `null` means empty markup.
fn nullable_text_as_empty(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    if args.get_or_undefined(0).is_null() { Ok(String::new()) } else { bind::text(args, 0, context) }
}

/// `prefix:local`, or the local name alone.
pub fn qualified(name: &html5ever::QualName) -> String {
    match &name.prefix {
        Some(prefix) => format!("{prefix}:{}", name.local),
        None => name.local.to_string(),
    }
}
