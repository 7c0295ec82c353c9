//! Attributes (DOM §4.9), by qualified name with HTML's lower-casing, or by namespace and local name.

use std::borrow::Cow;

use html5ever::{LocalName, Namespace, QualName, local_name, ns};

use super::Error;
use super::names::is_attribute_name;
use super::node::{Attribute, Element, NodeId};
use super::record::Mutation;
use super::tree::Tree;

impl Tree {
    /// The value of an attribute without a namespace, by its exact local name.
    pub fn attribute(&self, element: NodeId, local: &LocalName) -> Option<&str> {
        self.element(element)?.attribute(local)
    }

    /// `element.getAttribute(name)`.
    pub fn attribute_by_name(&self, element: NodeId, qualified: &str) -> Option<&Attribute> {
        let qualified = self.attribute_case(element, qualified);
        self.element(element)?.attributes.iter().find(|attribute| is_called(&attribute.name, &qualified))
    }

    /// `element.getAttributeNS(namespace, local)`; no namespace is the empty one.
    pub fn attribute_ns(&self, element: NodeId, namespace: &str, local: &str) -> Option<&Attribute> {
        let element = self.element(element)?;
        element.attributes.iter().find(|attribute| &*attribute.name.local == local && &*attribute.name.ns == namespace)
    }

    /// `element.setAttribute(name, value)`.
    ///
    /// # Errors
    /// [`Error::InvalidCharacter`] for a name that markup cannot express, [`Error::Full`].
    pub fn set_attribute(&mut self, element: NodeId, qualified: &str, value: &str) -> Result<(), Error> {
        if !is_attribute_name(qualified) {
            return Err(Error::InvalidCharacter);
        }
        let known = self.attribute_by_name(element, qualified).map(|attribute| attribute.name.clone());
        let name = known.unwrap_or_else(|| {
            let local = LocalName::from(&*self.attribute_case(element, qualified));
            QualName::new(None, ns!(), local)
        });
        self.set_attribute_ns(element, name, value)
    }

    /// `element.setAttributeNS(namespace, name, value)` with a name from [`super::validate_and_extract`]. An existing attribute keeps its
    /// prefix and its position.
    pub fn set_attribute_ns(&mut self, element: NodeId, name: QualName, value: &str) -> Result<(), Error> {
        let old = self.attribute_ns(element, &name.ns, &name.local).map(|attribute| attribute.value.clone());
        self.check_room(0, value.len().saturating_sub(old.as_ref().map_or(0, String::len)))?;
        let Some(data) = self.element_mut(element) else {
            return Err(Error::NotSupported);
        };
        let (namespace, local) = (name.ns.clone(), name.local.clone());
        match find_mut(data, &name.ns, &name.local) {
            Some(attribute) => value.clone_into(&mut attribute.value),
            None => data.attributes.push(Attribute { name, value: value.to_owned() }),
        }
        self.attribute_changed(element, namespace, local, old, Some(value.to_owned()));
        Ok(())
    }

    /// `element.setAttributeNode(attr)`: takes everything, including the prefix, from the new attribute and returns the old one.
    pub fn replace_attribute(&mut self, element: NodeId, new: Attribute) -> Result<Option<Attribute>, Error> {
        self.check_room(0, new.value.len())?;
        let Some(data) = self.element_mut(element) else {
            return Err(Error::NotSupported);
        };
        let (namespace, local, value) = (new.name.ns.clone(), new.name.local.clone(), new.value.clone());
        let old = match find_mut(data, &namespace, &local) {
            Some(attribute) => Some(std::mem::replace(attribute, new)),
            None => {
                data.attributes.push(new);
                None
            }
        };
        let old_value = old.as_ref().map(|attribute| attribute.value.clone());
        self.attribute_changed(element, namespace, local, old_value, Some(value));
        Ok(old)
    }

    /// `element.removeAttribute(name)`.
    pub fn remove_attribute(&mut self, element: NodeId, qualified: &str) -> Option<Attribute> {
        let name = self.attribute_by_name(element, qualified)?.name.clone();
        self.remove_attribute_ns(element, &name.ns, &name.local)
    }

    /// `element.removeAttributeNS(namespace, local)`.
    pub fn remove_attribute_ns(&mut self, element: NodeId, namespace: &str, local: &str) -> Option<Attribute> {
        self.release_attr_of(element, namespace, local);
        let data = self.element_mut(element)?;
        let is_it = |attribute: &Attribute| &*attribute.name.local == local && &*attribute.name.ns == namespace;
        let place = data.attributes.iter().position(is_it)?;
        let removed = data.attributes.remove(place);
        let (namespace, local) = (removed.name.ns.clone(), removed.name.local.clone());
        self.attribute_changed(element, namespace, local, Some(removed.value.clone()), None);
        Some(removed)
    }

    /// Adds missing attributes, for the parser's second `<html>` and `<body>`.
    pub(super) fn add_missing_attributes(&mut self, element: NodeId, attributes: Vec<Attribute>) {
        for attribute in attributes {
            if self.attribute_ns(element, &attribute.name.ns, &attribute.name.local).is_none() {
                // The parser stops on its own once the document is full.
                let _ = self.set_attribute_ns(element, attribute.name, &attribute.value);
            }
        }
    }

    /// Bookkeeping after every change: byte count, id index, mutation record.
    fn attribute_changed(
        &mut self,
        target: NodeId,
        namespace: Namespace,
        local: LocalName,
        old: Option<String>,
        new: Option<String>,
    ) {
        self.count_text(old.as_ref().map_or(0, String::len), new.as_ref().map_or(0, String::len));
        if local == local_name!("id") && namespace == ns!() {
            if let Some(old) = &old {
                self.unindex_id(target, old);
            }
            if let Some(new) = &new {
                self.index_id(target, new.as_str().into());
            }
        }
        self.attribute_of_sheet_changed(target);
        self.record(|| Mutation::Attribute { target, namespace, local, old, new });
    }

    /// HTML elements of HTML documents look up attributes in lower case (DOM §4.9 "get an attribute by name").
    fn attribute_case<'a>(&self, element: NodeId, qualified: &'a str) -> Cow<'a, str> {
        let has_capitals = qualified.bytes().any(|byte| byte.is_ascii_uppercase());
        if has_capitals && self.is_html_in_html(element) {
            Cow::Owned(qualified.to_ascii_lowercase())
        } else {
            Cow::Borrowed(qualified)
        }
    }

    /// Whether the element is in the HTML namespace and its document is an HTML one.
    pub fn is_html_in_html(&self, element: NodeId) -> bool {
        self.element(element).is_some_and(|data| data.name.ns == ns!(html))
            && self.is_html_document(self.document_of(element))
    }

    /// The element's id; `None` if it is empty.
    pub fn id(&self, element: NodeId) -> Option<&str> {
        self.attribute(element, &local_name!("id")).filter(|id| !id.is_empty())
    }

    /// The element's classes, with duplicates.
    pub fn classes(&self, element: NodeId) -> impl Iterator<Item = &str> {
        self.attribute(element, &local_name!("class")).unwrap_or_default().split_ascii_whitespace()
    }

    /// `element.tagName`: upper case for HTML elements of HTML documents.
    pub fn tag_name(&self, element: NodeId) -> Option<String> {
        let name = qualified_name(&self.element(element)?.name);
        Some(if self.is_html_in_html(element) { name.to_ascii_uppercase() } else { name.into_owned() })
    }
}

fn find_mut<'a>(data: &'a mut Element, namespace: &Namespace, local: &LocalName) -> Option<&'a mut Attribute> {
    data.attributes.iter_mut().find(|attribute| attribute.name.local == *local && attribute.name.ns == *namespace)
}

fn is_called(name: &QualName, qualified: &str) -> bool {
    match &name.prefix {
        None => *name.local == *qualified,
        Some(prefix) => {
            qualified.split_once(':').is_some_and(|(before, after)| **prefix == *before && *name.local == *after)
        }
    }
}

/// `prefix:local`, or the local name alone.
pub(super) fn qualified_name(name: &QualName) -> Cow<'_, str> {
    match &name.prefix {
        Some(prefix) => Cow::Owned(format!("{prefix}:{}", name.local)),
        None => Cow::Borrowed(&name.local),
    }
}
