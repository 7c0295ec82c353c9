//! The DOM: an arena of nodes with the mutations of the DOM standard.
//!
//! `parse` reads markup (html5ever builds the arena directly). Scripts change the tree through `mutate`, `attributes` and `text`, read it
//! through `select` and the traversals of `tree`; `serialize` writes it back as markup. The engine's wrappers hold a [`NodeId`] each and
//! are the roots of [`Tree::sweep`].
//!
//! Standards: DOM (dom.spec.whatwg.org) for the tree, HTML for parsing and serialising. Section numbers are theirs.
//!
//! One deviation, invisible to links: character data is UTF-8, so a lone surrogate becomes U+FFFD. Attributes are values of their
//! element, and nodes only when a script requests them (`attr`).
//!
//! Nothing here runs scripts, does I/O or reads a clock, and no input causes a panic: every count is bounded in `limits.rs`, and every
//! walk over the tree is a loop, not a recursion.

mod attr;
mod attributes;
mod clone;
mod direction;
mod forms;
mod live;
mod mutate;
mod names;
mod node;
mod order;
mod parse;
mod range;
mod record;
mod select;
mod serialize;
mod shadow;
pub mod style;
mod sweep;
mod text;
mod tree;
mod xml;
mod xpath;

#[cfg(test)]
mod tests;

pub use self::live::{Boundary, Cursor, LiveCursor, LiveSpan, Span};
pub use self::names::{is_attribute_name, is_custom_element_name, is_element_name, is_name, validate_and_extract};
pub use self::node::{CustomState, Document, Element, FormValue, NodeData, NodeId, NodeKind, ShadowRoot};
#[cfg(test)]
use self::order::Position;
pub use self::parse::{Parser, Step};
pub use self::range::Cut;
pub use self::record::Mutation;
pub use self::select::{SelectorCache, Selectors};
pub use self::serialize::HtmlOptions;
pub use self::text::{byte_of_unit, utf16_len};
pub use self::tree::Tree;
pub use self::xpath::{Item, Prefixes, Value as XPathValue, XPath, XPathError};

/// Why a change or a query was refused. The names are the standard's exceptions, plus one of our own.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// The node is not allowed there (DOM §4.2.3).
    #[error("the node cannot be inserted there")]
    HierarchyRequest,
    /// The reference node is no child of the parent, or the node is not in the tree.
    #[error("the node is not found there")]
    NotFound,
    /// An offset is beyond the end of the data.
    #[error("the offset is larger than the length")]
    IndexSize,
    /// A name contains an invalid character.
    #[error("the name holds a character that is not allowed")]
    InvalidCharacter,
    /// A prefix does not match its namespace.
    #[error("the name and its namespace do not go together")]
    Namespace,
    /// The node's kind does not allow it.
    #[error("the operation is not supported for this node")]
    NotSupported,
    /// A selector is invalid, or longer or deeper than the caps.
    #[error("the selector cannot be read")]
    Syntax,
    /// The parent cannot take a sibling of the node.
    #[error("the node cannot be modified there")]
    NoModificationAllowed,
    /// The attribute belongs to another element.
    #[error("the attribute is in use by another element")]
    InUse,
    /// The document holds as much as `limits.rs` allows.
    #[error("the document is full")]
    Full,
}

impl Error {
    /// The exception's name in the DOM standard (Web IDL §2.8.1).
    pub fn name(self) -> &'static str {
        match self {
            Self::HierarchyRequest => "HierarchyRequestError",
            Self::NotFound => "NotFoundError",
            Self::IndexSize => "IndexSizeError",
            Self::InvalidCharacter => "InvalidCharacterError",
            Self::Namespace => "NamespaceError",
            Self::NotSupported => "NotSupportedError",
            Self::Syntax => "SyntaxError",
            Self::NoModificationAllowed => "NoModificationAllowedError",
            Self::InUse => "InUseAttributeError",
            Self::Full => "QuotaExceededError",
        }
    }
}
