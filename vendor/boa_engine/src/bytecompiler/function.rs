use crate::{
    JsString, SpannedSourceText,
    builtins::function::ThisMode,
    bytecompiler::{ByteCompiler, Literal},
    js_string,
    vm::{
        CodeBlock, CodeBlockFlags,
        source_info::{SourceInfo, SourceMap, SourcePath},
    },
};
use boa_ast::{
    function::{FormalParameterList, FunctionBody, ParsedFunction, Unparsed},
    scope::{FunctionScopes, Scope},
};
use boa_gc::Gc;
use boa_interner::Interner;
use boa_parser::{Parser, Source};

/// `FunctionCompiler` is used to compile AST functions to bytecode.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct FunctionCompiler {
    name: JsString,
    generator: bool,
    r#async: bool,
    strict: bool,
    arrow: bool,
    method: bool,
    in_with: bool,
    force_function_scope: bool,
    name_scope: Option<Scope>,
    spanned_source_text: SpannedSourceText,
    source_path: SourcePath,
    // gleaner: a function around this one contains a direct call of `eval`, which may add bindings to the scopes around it.
    in_direct_eval: bool,
}

/// gleaner: a function that nobody has called yet. Most of a page's functions never are.
#[derive(Debug, Clone)]
pub(crate) struct UncompiledFunction {
    compiler: FunctionCompiler,
    parameters: FormalParameterList,
    body: FunctionBody,
    variable_environment: Scope,
    lexical_environment: Scope,
    scopes: FunctionScopes,
    contains_direct_eval: bool,
}

impl UncompiledFunction {
    pub(crate) fn compile(self, interner: &mut Interner) -> Gc<CodeBlock> {
        self.compiler.compile_now(
            &self.parameters,
            &self.body,
            self.variable_environment,
            self.lexical_environment,
            &self.scopes,
            self.contains_direct_eval,
            interner,
        )
    }
}

impl FunctionCompiler {
    /// Create a new `FunctionCompiler`.
    pub(crate) fn new(spanned_source_text: SpannedSourceText) -> Self {
        Self {
            name: js_string!(),
            generator: false,
            r#async: false,
            strict: false,
            arrow: false,
            method: false,
            in_with: false,
            force_function_scope: false,
            name_scope: None,
            spanned_source_text,
            source_path: SourcePath::None,
            in_direct_eval: false,
        }
    }

    /// Set the name of the function.
    pub(crate) fn name<N>(mut self, name: N) -> Self
    where
        N: Into<Option<JsString>>,
    {
        let name = name.into();
        if let Some(name) = name {
            self.name = name;
        }
        self
    }

    /// Indicate if the function is an arrow function.
    pub(crate) const fn arrow(mut self, arrow: bool) -> Self {
        self.arrow = arrow;
        self
    }
    /// Indicate if the function is a method function.
    pub(crate) const fn method(mut self, method: bool) -> Self {
        self.method = method;
        self
    }
    /// Indicate if the function is a generator function.
    pub(crate) const fn generator(mut self, generator: bool) -> Self {
        self.generator = generator;
        self
    }

    /// Indicate if the function is an async function.
    pub(crate) const fn r#async(mut self, r#async: bool) -> Self {
        self.r#async = r#async;
        self
    }

    /// Indicate if the function is in a strict context.
    pub(crate) const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Provide the name scope of the function.
    pub(crate) fn name_scope(mut self, name_scope: Option<Scope>) -> Self {
        self.name_scope = name_scope;
        self
    }

    /// Indicate if the function is in a `with` statement.
    pub(crate) const fn in_with(mut self, in_with: bool) -> Self {
        self.in_with = in_with;
        self
    }

    /// Indicate if the function is in a `with` statement.
    pub(crate) const fn force_function_scope(mut self, force_function_scope: bool) -> Self {
        self.force_function_scope = force_function_scope;
        self
    }

    /// Set source map file path.
    pub(crate) fn source_path(mut self, source_path: SourcePath) -> Self {
        self.source_path = source_path;
        self
    }

    /// gleaner: says that a function around this one contains a direct call of `eval`.
    pub(crate) const fn in_direct_eval(mut self, in_direct_eval: bool) -> Self {
        self.in_direct_eval = in_direct_eval;
        self
    }

    /// gleaner: what a function object needs of its code before the first call, which compiles it. Within a function that contains a
    /// direct call of `eval` it is compiled at once, before the scopes around it can change.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn compile(
        self,
        parameters: &FormalParameterList,
        body: &FunctionBody,
        variable_environment: Scope,
        lexical_environment: Scope,
        scopes: &FunctionScopes,
        contains_direct_eval: bool,
        interner: &mut Interner,
    ) -> Gc<CodeBlock> {
        if self.in_direct_eval {
            return self.compile_now(
                parameters,
                body,
                variable_environment,
                lexical_environment,
                scopes,
                contains_direct_eval,
                interner,
            );
        }
        let mut flags = CodeBlockFlags::empty();
        flags.set(CodeBlockFlags::STRICT, self.strict || body.strict());
        flags.set(CodeBlockFlags::IS_ASYNC, self.r#async);
        flags.set(CodeBlockFlags::IS_GENERATOR, self.generator);
        flags.set(
            CodeBlockFlags::HAS_PROTOTYPE_PROPERTY,
            !self.arrow && !self.method && !self.r#async && !self.generator,
        );
        let this_mode = if self.arrow {
            ThisMode::Lexical
        } else {
            ThisMode::Global
        };
        let source_info = SourceInfo::new(
            SourceMap::new(Box::default(), self.source_path.clone()),
            self.name.clone(),
            self.spanned_source_text.clone(),
        );
        let length = parameters.length();
        let uncompiled = UncompiledFunction {
            compiler: self,
            parameters: parameters.clone(),
            body: body.clone(),
            variable_environment,
            lexical_environment,
            scopes: scopes.clone(),
            contains_direct_eval,
        };
        Gc::new(CodeBlock::new_uncompiled(
            flags,
            length,
            this_mode,
            source_info,
            uncompiled,
        ))
    }

    /// gleaner: parses the body of a function that was passed over.
    fn parse(&self, unparsed: &Unparsed, interner: &mut Interner) -> Result<FunctionBody, String> {
        let text = self.spanned_source_text.part(unparsed.span);
        let text = text.ok_or("the source of a function is not there")?;
        let mut parser = Parser::new(Source::from_text(&text));
        parser.parse_unparsed(unparsed, interner).map_err(|error| error.to_string())
    }

    /// gleaner: the code of a function that turned out to be none.
    fn compile_error(self, message: &str, length: u32, interner: &mut Interner) -> Gc<CodeBlock> {
        let mut compiler = ByteCompiler::new(
            self.name,
            self.strict,
            false,
            Scope::new_global(),
            Scope::new_global(),
            self.r#async,
            self.generator,
            interner,
            self.in_with,
            self.spanned_source_text,
            self.source_path,
        );
        compiler.length = length;
        let message = compiler.get_or_insert_literal(Literal::String(message.into()));
        compiler.bytecode.emit_throw_new_syntax_error(message.into());
        Gc::new(compiler.finish())
    }

    /// Compile a function statement list and it's parameters into bytecode.
    #[allow(clippy::too_many_arguments)]
    fn compile_now(
        mut self,
        parameters: &FormalParameterList,
        body: &FunctionBody,
        variable_environment: Scope,
        lexical_environment: Scope,
        scopes: &FunctionScopes,
        contains_direct_eval: bool,
        interner: &mut Interner,
    ) -> Gc<CodeBlock> {
        // gleaner
        if let Some(unparsed) = body.unparsed() {
            let parsed = unparsed.parsed(
                parameters,
                interner,
                |unparsed, interner| self.parse(unparsed, interner),
                str::to_owned,
            );
            return match parsed {
                Ok(ParsedFunction { parameters, body, scopes }) => self.compile_now(
                    parameters,
                    body,
                    variable_environment,
                    lexical_environment,
                    scopes,
                    contains_direct_eval,
                    interner,
                ),
                Err(message) => self.compile_error(&message, parameters.length(), interner),
            };
        }
        self.strict = self.strict || body.strict();

        let length = parameters.length();

        let mut compiler = ByteCompiler::new(
            self.name,
            self.strict,
            false,
            variable_environment,
            lexical_environment,
            self.r#async,
            self.generator,
            interner,
            self.in_with,
            self.spanned_source_text,
            self.source_path,
        );

        compiler.length = length;
        compiler.in_direct_eval = self.in_direct_eval || contains_direct_eval;
        compiler.code_block_flags.set(
            CodeBlockFlags::HAS_PROTOTYPE_PROPERTY,
            !self.arrow && !self.method && !self.r#async && !self.generator,
        );

        if self.arrow {
            compiler.this_mode = ThisMode::Lexical;
        }

        if let Some(scope) = self.name_scope
            && !scope.all_bindings_local()
        {
            compiler.code_block_flags |= CodeBlockFlags::HAS_BINDING_IDENTIFIER;
            let _ = compiler.push_scope(&scope);
        }

        if contains_direct_eval || !scopes.function_scope().all_bindings_local() {
            compiler.code_block_flags |= CodeBlockFlags::HAS_FUNCTION_SCOPE;
        } else if !self.arrow {
            compiler.code_block_flags.set(
                CodeBlockFlags::HAS_FUNCTION_SCOPE,
                self.force_function_scope || scopes.requires_function_scope(),
            );
        }

        if compiler.code_block_flags.has_function_scope() {
            let _ = compiler.push_scope(scopes.function_scope());
        } else {
            compiler.variable_scope = scopes.function_scope().clone();
            compiler.lexical_scope = scopes.function_scope().clone();
        }

        // Taken from:
        //  - 15.9.3 Runtime Semantics: EvaluateAsyncConciseBody: <https://tc39.es/ecma262/#sec-runtime-semantics-evaluateasyncconcisebody>
        //  - 15.8.4 Runtime Semantics: EvaluateAsyncFunctionBody: <https://tc39.es/ecma262/#sec-runtime-semantics-evaluateasyncfunctionbody>
        //
        // Note: In `EvaluateAsyncGeneratorBody` unlike the async non-generator functions we don't handle exceptions thrown by
        // `FunctionDeclarationInstantiation` (so they are propagated).
        //
        // See: 15.6.2 Runtime Semantics: EvaluateAsyncGeneratorBody: https://tc39.es/ecma262/#sec-runtime-semantics-evaluateasyncgeneratorbody
        if compiler.is_async() && !compiler.is_generator() {
            // 1. Let promiseCapability be ! NewPromiseCapability(%Promise%).
            compiler.bytecode.emit_create_promise_capability();

            // 2. Let declResult be Completion(FunctionDeclarationInstantiation(functionObject, argumentsList)).
            //
            // Note: We push an exception handler so we catch exceptions that are thrown by the
            // `FunctionDeclarationInstantiation` abstract function.
            //
            // Patched in `ByteCompiler::finish()`.
            compiler.async_handler = Some(compiler.push_handler());
        }

        compiler.function_declaration_instantiation(
            body,
            parameters,
            self.arrow,
            self.strict,
            self.generator,
            scopes,
        );

        // Taken from:
        // - 27.6.3.2 AsyncGeneratorStart ( generator, generatorBody ): <https://tc39.es/ecma262/#sec-asyncgeneratorstart>
        //
        // Note: We do handle exceptions thrown by generator body in `AsyncGeneratorStart`.
        if compiler.is_generator() {
            assert!(compiler.async_handler.is_none());

            if compiler.is_async() {
                // Patched in `ByteCompiler::finish()`.
                compiler.async_handler = Some(compiler.push_handler());
            }
        }

        {
            let mut compiler = compiler.position_guard(body);
            compiler.compile_statement_list(body.statement_list(), false, false);
        }

        compiler.params = parameters.clone();
        compiler.parameter_scope = scopes.parameter_scope();

        let code = compiler.finish();

        Gc::new(code)
    }
}
