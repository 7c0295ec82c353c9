//! `dataset` (HTML §3.2.6.6): the `data-*` attributes of an element under camel-case names.

use boa_engine::property::PropertyKey;
use boa_engine::{Context, Finalize, JsData, JsObject, JsResult, JsString, JsValue, Trace, js_string};
use html5ever::{LocalName, QualName, ns};

use crate::dom::{Error, NodeId, is_attribute_name};
use crate::engine::bind;
use crate::web::webidl::exotic::{self, Computed};
use crate::web::{change, read, slot, this_element, thrown};

/// The element with the attributes.
#[derive(Trace, Finalize, JsData)]
struct DataMap {
    #[unsafe_ignore_trace]
    id: NodeId,
}

static KIND: exotic::Kind = exotic::computed!(Computed {
    named,
    names,
    set: Some(set),
    delete: Some(delete),
    overrides: true,
    enumerable_names: true,
    ..Computed::EMPTY
});

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&bind::Interface { name: "DOMStringMap", ..bind::Interface::EMPTY }, context)?;
    let attribute: bind::Attribute = (
        "dataset",
        |this, _, context| {
            let id = this_element(this, context)?;
            let map =
                slot(id, "dataset", context, |context| exotic::object("DOMStringMap", DataMap { id }, &KIND, context))?;
            Ok(map.into())
        },
        None,
    );
    for interface in ["HTMLElement", "SVGElement", "MathMLElement"] {
        let prototype = bind::prototype(interface, context)?;
        bind::attributes(&prototype, &[attribute], context)?;
    }
    Ok(())
}

/// The camel-case name of a `data-*` attribute; `None` if it has none.
fn camel(attribute: &str) -> Option<String> {
    let rest = attribute.strip_prefix("data-").filter(|rest| !rest.bytes().any(|byte| byte.is_ascii_uppercase()))?;
    let mut name = String::with_capacity(rest.len());
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(next) if letter == '-' && next.is_ascii_lowercase() => {
                name.push(next.to_ascii_uppercase());
                letters.next();
            }
            _ => name.push(letter),
        }
    }
    Some(name)
}

/// The attribute for a camel-case name; `None` if it is not valid.
fn hyphenated(name: &str) -> Option<String> {
    let mut attribute = "data-".to_owned();
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '-' && letters.peek().is_some_and(char::is_ascii_lowercase) {
            return None;
        }
        if letter.is_ascii_uppercase() {
            attribute.push('-');
        }
        attribute.push(letter.to_ascii_lowercase());
    }
    Some(attribute)
}

fn owner(object: &JsObject) -> Option<NodeId> {
    object.downcast_ref::<DataMap>().map(|map| map.id)
}

fn named(object: &JsObject, name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let (Some(id), Some(attribute)) = (owner(object), hyphenated(&name.to_std_string_lossy())) else { return Ok(None) };
    Ok(read(context, |tree| tree.attribute_ns(id, "", &attribute).map(|one| bind::js(&one.value))))
}

fn names(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(id) = owner(object) else { return Ok(Vec::new()) };
    Ok(read(context, |tree| {
        let attributes = tree.element(id).map(|element| element.attributes()).unwrap_or_default();
        let own = attributes.iter().filter(|one| one.name.ns.is_empty());
        own.filter_map(|one| camel(&one.name.local)).map(|name| js_string!(name)).collect()
    }))
}

fn text_of(key: &PropertyKey) -> Option<String> {
    match key {
        PropertyKey::String(text) => Some(text.to_std_string_lossy()),
        PropertyKey::Index(index) => Some(index.get().to_string()),
        PropertyKey::Symbol(_) => None,
    }
}

fn set(object: &JsObject, key: &PropertyKey, value: JsValue, context: &mut Context) -> JsResult<bool> {
    let (Some(id), Some(name)) = (owner(object), text_of(key)) else { return Ok(false) };
    let value = value.to_string(context)?.to_std_string_lossy();
    let attribute = hyphenated(&name).ok_or_else(|| thrown(Error::Syntax, context))?;
    change(context, |tree| {
        if !is_attribute_name(&attribute) {
            return Err(Error::InvalidCharacter);
        }
        tree.set_attribute_ns(id, QualName::new(None, ns!(), LocalName::from(attribute)), &value)
    })?;
    Ok(true)
}

fn delete(object: &JsObject, key: &PropertyKey, context: &mut Context) -> JsResult<()> {
    let attribute = text_of(key).and_then(|name| hyphenated(&name));
    if let (Some(id), Some(attribute)) = (owner(object), attribute) {
        change(context, |tree| Ok(tree.remove_attribute_ns(id, "", &attribute)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_to_attributes_and_back() {
        for (name, attribute) in [("fooBar", "data-foo-bar"), ("", "data-"), ("-", "data--"), ("A", "data--a")] {
            assert_eq!(hyphenated(name).as_deref(), Some(attribute));
            assert_eq!(camel(attribute).as_deref(), Some(name));
        }
        assert!(hyphenated("foo-bar").is_none() && camel("data-Foo").is_none() && camel("date").is_none());
    }
}
