//! gleaner: Bodies of functions that are parsed when they are called first.

use crate::{
    LinearSpan, Position,
    expression::Identifier,
    function::{FormalParameterList, FunctionBody},
    operations::bound_names,
    scope::{FunctionScopes, Scope},
    scope_analyzer::analyze_unparsed,
    visitor::{VisitWith, Visitor},
};
use boa_interner::{Interner, Sym};
use std::{
    cell::{OnceCell, RefCell},
    ops::ControlFlow,
};

/// What is known of a body that was not parsed.
#[derive(Debug)]
pub struct Unparsed {
    /// Its text, without the braces.
    pub span: LinearSpan,
    /// Where that begins.
    pub start: Position,
    /// Words that may be names of bindings outside of it: all that are, and some that are not.
    pub names: Box<[Sym]>,
    /// Whether `this` stands in it, and in no function of its own.
    pub has_this: bool,
    /// How it is parsed.
    pub mode: Mode,
    place: RefCell<Option<Place>>,
    parsed: OnceCell<Box<ParsedFunction>>,
}

/// What the parser of a body depends on.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// `yield` is an operator.
    pub allow_yield: bool,
    /// `await` is an operator.
    pub allow_await: bool,
    /// The code around it is strict.
    pub strict: bool,
    /// It is part of a module.
    pub module: bool,
    /// See `Parser::set_identifier`.
    pub identifier: u32,
}

/// Where the function is.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The scope around it, which may be that of its own name.
    pub(crate) scope: Scope,
    /// The environments around it.
    pub(crate) index: u32,
    pub(crate) strict: bool,
    pub(crate) arrow: bool,
    pub(crate) in_with: bool,
    /// A function around it calls `eval` directly, or its parameters do.
    pub(crate) in_eval: bool,
    /// Its parameters do.
    pub(crate) has_eval: bool,
}

/// A function whose body has been parsed since.
#[derive(Debug)]
pub struct ParsedFunction {
    /// Its parameters, with their scopes.
    pub parameters: FormalParameterList,
    /// Its body.
    pub body: FunctionBody,
    /// The scopes of both.
    pub scopes: FunctionScopes,
}

impl Unparsed {
    /// A body that was passed over.
    #[must_use]
    pub fn new(
        (span, start): (LinearSpan, Position),
        names: Box<[Sym]>,
        has_this: bool,
        mode: Mode,
    ) -> Self {
        Self {
            span,
            start,
            names,
            has_this,
            mode,
            place: RefCell::new(None),
            parsed: OnceCell::new(),
        }
    }

    /// The function, parsed by `parse` if it was not yet.
    ///
    /// # Errors
    /// That of `parse`, or what is wrong with its declarations.
    pub fn parsed<E>(
        &self,
        parameters: &FormalParameterList,
        interner: &mut Interner,
        parse: impl FnOnce(&Self, &mut Interner) -> Result<FunctionBody, E>,
        failed: impl FnOnce(&'static str) -> E,
    ) -> Result<&ParsedFunction, E> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let mut body = parse(self, interner)?;
        let (mut parameters, mut scopes) = (parameters.clone(), FunctionScopes::default());
        let place = self.place.borrow().clone();
        place
            .ok_or("a function that was not analyzed is called")
            .and_then(|place| {
                analyze_unparsed(&mut parameters, &mut body, &mut scopes, &place, interner)
            })
            .map_err(failed)?;
        Ok(self.parsed.get_or_init(|| {
            Box::new(ParsedFunction {
                parameters,
                body,
                scopes,
            })
        }))
    }

    /// The function is in this scope.
    pub(crate) fn set_place(&self, place: Place) {
        *self.place.borrow_mut() = Some(place);
    }

    /// More is known of the place.
    pub(crate) fn with_place<T>(&self, with: impl FnOnce(&mut Place) -> T) -> Option<T> {
        self.place.borrow_mut().as_mut().map(with)
    }

    /// The names that are bound outside of the function, or may be.
    pub(crate) fn free_names(&self, parameters: &FormalParameterList, arrow: bool) -> Vec<Sym> {
        let bound = bound_names(parameters);
        let mut words = Words::default();
        let _ = words.visit_formal_parameter_list(parameters);
        let mut names = words.names;
        names.extend(&*self.names);
        names.retain(|name| !bound.contains(name) && (arrow || *name != Sym::ARGUMENTS));
        names
    }

    /// Whether `this` of an arrow function is used in it.
    pub(crate) fn uses_this(&self, parameters: &FormalParameterList) -> bool {
        let mut words = Words::default();
        let _ = words.visit_formal_parameter_list(parameters);
        self.has_this || words.has_this
    }
}

/// The names and `this` in what stands as a value in parameters, whatever function they belong to.
#[derive(Default)]
struct Words {
    names: Vec<Sym>,
    has_this: bool,
}

impl<'ast> Visitor<'ast> for Words {
    type BreakTy = ();

    fn visit_identifier(&mut self, node: &'ast Identifier) -> ControlFlow<()> {
        self.names.push(node.sym());
        ControlFlow::Continue(())
    }

    fn visit_this(&mut self, _: &'ast crate::expression::This) -> ControlFlow<()> {
        self.has_this = true;
        ControlFlow::Continue(())
    }

    fn visit_function_body(&mut self, node: &'ast FunctionBody) -> ControlFlow<()> {
        if let Some(unparsed) = node.unparsed() {
            self.names.extend(&*unparsed.names);
            self.has_this |= unparsed.has_this;
        }
        node.visit_with(self)
    }
}
