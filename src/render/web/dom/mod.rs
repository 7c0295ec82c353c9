//! The DOM standard: nodes, attributes, collections, ranges, traversal, mutation observers, shadow trees, XPath.

pub(crate) mod attr;
pub(crate) mod collection;
pub(crate) mod create_event;
pub(crate) mod data;
pub(crate) mod document;
pub(crate) mod element;
pub(crate) mod event_path;
pub(crate) mod implementation;
pub(crate) mod node;
pub(crate) mod observe;
pub(crate) mod parent;
pub(crate) mod range;
pub(crate) mod shadow;
pub(crate) mod tokens;
pub(crate) mod traversal;
pub(crate) mod xpath;
