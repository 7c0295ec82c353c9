//! XPath 1.0 (W3C, 1999) for `document.evaluate`: `parse` turns text into expressions, `eval` evaluates them.
//!
//! In HTML documents unprefixed names mean HTML elements, in any case (HTML §"interactions with XPath"). There are no namespace nodes. An
//! expression's length, depth and work are bounded.

mod eval;
mod parse;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use html5ever::QualName;

use super::node::NodeId;

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct XPath {
    root: Expression,
    /// Prefixes used in its names.
    pub prefixes: Vec<String>,
}

/// Why evaluation failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum XPathError {
    #[error("the expression cannot be read")]
    Syntax,
    #[error("a prefix has no namespace")]
    Namespace,
    #[error("the expression takes too much work")]
    Work,
}

/// A node of a result: a node of the tree, or an attribute of one.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct Item {
    pub node: NodeId,
    pub attribute: Option<QualName>,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// In document order.
    Nodes(Vec<Item>),
    Number(f64),
    Text(String),
    Truth(bool),
}

/// Namespaces by prefix.
pub type Prefixes = HashMap<String, String>;

#[derive(Clone, Debug)]
enum Expression {
    Number(f64),
    Text(String),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Negative(Box<Expression>),
    Call(Function, Vec<Expression>),
    /// A primary expression, its predicates, and the steps from there.
    Filter(Box<Expression>, Vec<Expression>, Vec<Step>),
    /// A path from the root or from the context node.
    Path(bool, Vec<Step>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
    Union,
}

#[derive(Clone, Debug)]
struct Step {
    axis: Axis,
    test: Test,
    predicates: Vec<Expression>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

#[derive(Clone, Debug)]
enum Test {
    Node,
    Text,
    Comment,
    Instruction(Option<String>),
    /// `*`, or `prefix:*`.
    Any(Option<String>),
    Name(Option<String>, String),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Id,
    Lang,
    Last,
    LocalName,
    Name,
    NamespaceUri,
    NormalizeSpace,
    Not,
    Number,
    Position,
    Round,
    StartsWith,
    String,
    StringLength,
    Substring,
    SubstringAfter,
    SubstringBefore,
    Sum,
    Translate,
    True,
}
