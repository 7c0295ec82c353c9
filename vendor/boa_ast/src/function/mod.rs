//! This module contains Function and Class AST nodes.
//!
//! ECMAScript defines multiple types of functions and classes.
//! They are split into different AST nodes to reduce ambiguity and to make the AST more readable.
//!
//! - Functions:
//!   - [`FunctionDeclaration`]
//!   - [`FunctionExpression`]
//! - Async functions:
//!   - [`AsyncFunctionDeclaration`]
//!   - [`AsyncFunctionExpression`]
//! - Generators
//!   - [`GeneratorDeclaration`]
//!   - [`GeneratorExpression`]
//! - Async Generators
//!   - [`AsyncGeneratorDeclaration`]
//!   - [`AsyncGeneratorExpression`]
//! - Arrow Functions
//!   - [`ArrowFunction`]
//! - Async Arrow Functions
//!   - [`AsyncArrowFunction`]
//! - Classes
//!   - [`ClassDeclaration`]
//!   - [`ClassExpression`]

mod arrow_function;
mod async_arrow_function;
mod async_function;
mod async_generator;
mod class;
mod generator;
mod ordinary_function;
mod parameters;
mod unparsed;

use std::{ops::ControlFlow, rc::Rc};

pub use arrow_function::ArrowFunction;
pub use async_arrow_function::AsyncArrowFunction;
pub use async_function::{AsyncFunctionDeclaration, AsyncFunctionExpression};
pub use async_generator::{AsyncGeneratorDeclaration, AsyncGeneratorExpression};
use boa_interner::{Interner, ToIndentedString};
pub use class::{
    ClassDeclaration, ClassElement, ClassElementName, ClassExpression, ClassFieldDefinition,
    ClassMethodDefinition, PrivateFieldDefinition, PrivateName, StaticBlockBody,
};
pub use generator::{GeneratorDeclaration, GeneratorExpression};
pub use ordinary_function::{FunctionDeclaration, FunctionExpression};
pub use parameters::{FormalParameter, FormalParameterList, FormalParameterListFlags};
pub(crate) use unparsed::Place;
pub use unparsed::{Mode, ParsedFunction, Unparsed};

use crate::{
    LinearPosition, Span, Spanned, StatementList, StatementListItem,
    visitor::{VisitWith, Visitor, VisitorMut},
};

/// A Function body.
///
/// Since `Script` and `FunctionBody` have the same semantics, this is currently
/// only an alias of the former.
///
/// More information:
///  - [ECMAScript reference][spec]
///
/// [spec]: https://tc39.es/ecma262/#prod-FunctionBody
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[derive(Clone, Debug)]
pub struct FunctionBody {
    // gleaner: shared, so that a copy of a declaration is no copy of all that is declared in it.
    pub(crate) statements: Rc<StatementList>,
    span: Span,
    // gleaner: see `Met`.
    pub(crate) met: Met,
    // gleaner: then it has no statements.
    #[cfg_attr(feature = "serde", serde(skip))]
    #[cfg_attr(feature = "arbitrary", arbitrary(default))]
    unparsed: Option<Rc<Unparsed>>,
}

// gleaner: what is known of it makes no other body of it.
impl PartialEq for FunctionBody {
    fn eq(&self, other: &Self) -> bool {
        self.statements == other.statements && self.span == other.span
    }
}

/// gleaner: Which of the words that early errors and scopes ask for are in the body of a function, or directly behind it; nested functions
/// included. Most bodies hold none, and are then not walked for them.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met(u8);

impl Met {
    /// `super`.
    pub const SUPER: Self = Self(1);
    /// The name `target`, as in `new.target`.
    pub const TARGET: Self = Self(2);
    /// The name `eval`.
    pub const EVAL: Self = Self(4);
    /// A private name.
    pub const PRIVATE: Self = Self(8);
    /// All of them, of a body of which nothing is known.
    pub const ALL: Self = Self(15);
    /// None of them.
    pub const NONE: Self = Self(0);

    /// These and those.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether one of these is among them.
    #[must_use]
    pub const fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }
}

impl FunctionBody {
    /// Creates a new `FunctionBody` AST node.
    #[inline]
    #[must_use]
    pub fn new(statements: StatementList, span: Span) -> Self {
        Self {
            statements: Rc::new(statements),
            span,
            met: Met::ALL,
            unparsed: None,
        }
    }

    /// gleaner: The same body, whose statements are parsed when the function is called first.
    #[must_use]
    pub fn with_unparsed(self, unparsed: Unparsed) -> Self {
        Self { unparsed: Some(Rc::new(unparsed)), ..self }
    }

    /// gleaner: What is known of it, if it was not parsed.
    #[must_use]
    pub fn unparsed(&self) -> Option<&Rc<Unparsed>> {
        self.unparsed.as_ref()
    }

    /// gleaner: The same body, of which it is known what is written in it.
    #[must_use]
    pub fn with_met(self, met: Met) -> Self {
        Self { met, ..self }
    }

    /// Gets the list of statements.
    #[inline]
    #[must_use]
    pub fn statements(&self) -> &[StatementListItem] {
        self.statements.statements()
    }

    /// Gets the statement list.
    #[inline]
    #[must_use]
    pub fn statement_list(&self) -> &StatementList {
        &self.statements
    }

    /// Get the strict mode.
    #[inline]
    #[must_use]
    pub fn strict(&self) -> bool {
        self.statements.strict()
    }

    /// Get end of linear position in source code.
    #[inline]
    #[must_use]
    pub fn linear_pos_end(&self) -> LinearPosition {
        self.statements.linear_pos_end()
    }
}

impl Spanned for FunctionBody {
    #[inline]
    fn span(&self) -> Span {
        self.span
    }
}

impl ToIndentedString for FunctionBody {
    fn to_indented_string(&self, interner: &Interner, indentation: usize) -> String {
        self.statements.to_indented_string(interner, indentation)
    }
}

impl VisitWith for FunctionBody {
    fn visit_with<'a, V>(&'a self, visitor: &mut V) -> ControlFlow<V::BreakTy>
    where
        V: Visitor<'a>,
    {
        // gleaner: a walk for a word that is not in it ends here.
        if visitor.passes_over(self.met) {
            return ControlFlow::Continue(());
        }
        for statement in self.statements.statements() {
            visitor.visit_statement_list_item(statement)?;
        }
        ControlFlow::Continue(())
    }

    fn visit_with_mut<'a, V>(&'a mut self, visitor: &mut V) -> ControlFlow<V::BreakTy>
    where
        V: VisitorMut<'a>,
    {
        for statement in &mut *Rc::make_mut(&mut self.statements).statements {
            visitor.visit_statement_list_item_mut(statement)?;
        }
        ControlFlow::Continue(())
    }
}
