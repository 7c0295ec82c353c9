//! Boa's implementation of ECMAScript's Scripts.
//!
//! This module contains the [`Script`] type, which represents a [**Script Record**][script].
//!
//! More information:
//!  - [ECMAScript reference][spec]
//!
//! [spec]: https://tc39.es/ecma262/#sec-scripts
//! [script]: https://tc39.es/ecma262/#sec-script-records

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use boa_ast::scope::Scope;
use boa_gc::{Finalize, Gc, GcRefCell, Trace};
use boa_parser::{
    Parser, Source,
    source::{Beginning, ReadChar},
};

use crate::{
    Context, HostDefined, JsError, JsResult, JsString, JsValue, Module, SpannedSourceText,
    bytecompiler::{ByteCompiler, global_declaration_instantiation_context},
    environments::EnvironmentStack,
    js_string,
    realm::Realm,
    spanned_source_text::SourceText,
    vm::{ActiveRunnable, CallFrame, CallFrameFlags, CodeBlock, SourcePath},
};

/// gleaner: what two contexts share, one after the other, so that the second can use what was parsed in the first.
#[derive(Debug, Default)]
pub struct Reading {
    pub(crate) interner: boa_interner::Interner,
    pub(crate) scope: Scope,
    pub(crate) parser_identifier: u32,
}

impl Reading {
    /// Names that were read so far.
    #[must_use]
    pub fn names(&self) -> usize {
        self.interner.len()
    }
}

/// gleaner: a script's text, parsed and analyzed, for [`Script::of_parsed`].
#[derive(Clone)]
pub struct ParsedScript {
    code: boa_ast::Script,
    source_text: SourceText,
}

/// ECMAScript's [**Script Record**][spec].
///
/// [spec]: https://tc39.es/ecma262/#sec-script-records
#[derive(Clone, Trace, Finalize)]
pub struct Script {
    inner: Gc<Inner>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script")
            .field("realm", &self.inner.realm.addr())
            .field("phase", &self.inner.phase.borrow())
            .field("loaded_modules", &self.inner.loaded_modules)
            .finish()
    }
}

#[derive(Trace, Debug, Finalize)]
enum ScriptPhase {
    Ast(#[unsafe_ignore_trace] boa_ast::Script),
    Codeblock(Gc<CodeBlock>),
}

#[derive(Trace, Finalize)]
struct Inner {
    realm: Realm,
    phase: GcRefCell<ScriptPhase>,
    source_text: SourceText,
    loaded_modules: GcRefCell<FxHashMap<JsString, Module>>,
    host_defined: HostDefined,
    path: Option<PathBuf>,
    // gleaner: where in the file it begins.
    #[unsafe_ignore_trace]
    start: Option<Beginning>,
}

impl Script {
    /// Gets the realm of this script.
    #[must_use]
    pub fn realm(&self) -> &Realm {
        &self.inner.realm
    }

    /// Returns the [`ECMAScript specification`][spec] defined [`\[\[HostDefined\]\]`][`HostDefined`] field of the [`Module`].
    ///
    /// [spec]: https://tc39.es/ecma262/#script-record
    #[must_use]
    pub fn host_defined(&self) -> &HostDefined {
        &self.inner.host_defined
    }

    /// Gets the loaded modules of this script.
    pub(crate) fn loaded_modules(&self) -> &GcRefCell<FxHashMap<JsString, Module>> {
        &self.inner.loaded_modules
    }

    /// Abstract operation [`ParseScript ( sourceText, realm, hostDefined )`][spec].
    ///
    /// Parses the provided `src` as an ECMAScript script, returning an error if parsing fails.
    ///
    /// [spec]: https://tc39.es/ecma262/#sec-parse-script
    pub fn parse<R: ReadChar>(
        src: Source<'_, R>,
        realm: Option<Realm>,
        context: &mut Context,
    ) -> JsResult<Self> {
        let (path, start) = (src.path().map(Path::to_path_buf), src.start());
        let (parsed, _) = Self::read(src, context)?;
        Ok(Self::new(parsed, realm, path, start, context))
    }

    /// gleaner: as [`Self::parse`] in the current realm, and gives what was parsed, unless it contains a direct call of `eval`: that may
    /// change the scopes.
    pub fn parse_and_keep<R: ReadChar>(
        src: Source<'_, R>,
        context: &mut Context,
    ) -> JsResult<(Self, Option<ParsedScript>)> {
        let (path, start) = (src.path().map(Path::to_path_buf), src.start());
        let (parsed, can_keep) = Self::read(src, context)?;
        let kept = can_keep.then(|| parsed.clone());
        Ok((Self::new(parsed, None, path, start, context), kept))
    }

    fn read<R: ReadChar>(
        src: Source<'_, R>,
        context: &mut Context,
    ) -> JsResult<(ParsedScript, bool)> {
        let path = SourcePath::of(src.path(), src.start());
        let mut parser = Parser::new(src);
        parser.set_identifier(context.next_parser_identifier());
        if context.is_strict() {
            parser.set_strict();
        }
        let scope = context.realm().scope().clone();
        let _ = scope.take_direct_eval();
        let (mut code, source) = parser
            .parse_script_with_source(&scope, context.interner_mut())
            .map_err(|error| JsError::of_text(&error, path, parser.position()))?;
        if !context.optimizer_options().is_empty() {
            context.optimize_statement_list(code.statements_mut());
        }
        let parsed = ParsedScript {
            code,
            source_text: SourceText::new(source),
        };
        Ok((parsed, !scope.take_direct_eval()))
    }

    /// gleaner: the script of a text that was parsed in the realm of a context before this one, whose reading this one has taken on.
    ///
    /// # Errors
    /// When it declares what the current realm has declared already.
    pub fn of_parsed(
        parsed: &ParsedScript,
        path: Option<PathBuf>,
        start: Option<Beginning>,
        context: &mut Context,
    ) -> JsResult<Self> {
        let scope = context.realm().scope().clone();
        parsed
            .code
            .declare_globals(&scope, context.interner())
            .map_err(|reason| {
                let error = JsError::from(boa_parser::Error::scope_analysis(reason));
                error.at_start_of(SourcePath::of(path.as_deref(), start))
            })?;
        Ok(Self::new(parsed.clone(), None, path, start, context))
    }

    fn new(
        parsed: ParsedScript,
        realm: Option<Realm>,
        path: Option<PathBuf>,
        start: Option<Beginning>,
        context: &Context,
    ) -> Self {
        Self {
            inner: Gc::new(Inner {
                realm: realm.unwrap_or_else(|| context.realm().clone()),
                phase: GcRefCell::new(ScriptPhase::Ast(parsed.code)),
                source_text: parsed.source_text,
                loaded_modules: GcRefCell::default(),
                host_defined: HostDefined::default(),
                path,
                start,
            }),
        }
    }

    /// Compiles the codeblock of this script.
    ///
    /// This is a no-op if this has been called previously.
    pub fn codeblock(&self, context: &mut Context) -> JsResult<Gc<CodeBlock>> {
        let cb = {
            let phase = self.inner.phase.borrow();
            let source = match &*phase {
                ScriptPhase::Codeblock(codeblock) => return Ok(codeblock.clone()),
                ScriptPhase::Ast(source) => source,
            };

            let mut annex_b_function_names = Vec::new();

            global_declaration_instantiation_context(
                &mut annex_b_function_names,
                source,
                self.inner.realm.scope(),
                context,
            )?;

            let spanned_source_text = SpannedSourceText::new_source_only(self.get_source());

            let mut compiler = ByteCompiler::new(
                js_string!("<main>"),
                source.strict(),
                false,
                self.inner.realm.scope().clone(),
                self.inner.realm.scope().clone(),
                false,
                false,
                context.interner_mut(),
                false,
                spanned_source_text,
                SourcePath::of(self.path(), self.inner.start),
            );

            #[cfg(feature = "annex-b")]
            {
                compiler.annex_b_function_names = annex_b_function_names;
            }

            compiler.global_declaration_instantiation(source);
            compiler.compile_statement_list(source.statements(), true, false);

            Gc::new(compiler.finish())
        };

        *self.inner.phase.borrow_mut() = ScriptPhase::Codeblock(cb.clone());

        Ok(cb)
    }

    /// Evaluates this script and returns its result.
    ///
    /// Note that this won't run any scheduled promise jobs; you need to call [`Context::run_jobs`]
    /// on the context or [`JobExecutor::run_jobs`] on the provided queue to run them.
    ///
    /// [`JobExecutor::run_jobs`]: crate::job::JobExecutor::run_jobs
    pub fn evaluate(&self, context: &mut Context) -> JsResult<JsValue> {
        self.prepare_run(context)?;
        let record = context.run();

        context.vm.pop_frame();

        record.consume()
    }

    /// Evaluates this script and returns its result, periodically yielding to the executor
    /// in order to avoid blocking the current thread.
    ///
    /// This uses an implementation defined amount of "clock cycles" that need to pass before
    /// execution is suspended. See [`Script::evaluate_async_with_budget`] if you want to also
    /// customize this parameter.
    #[allow(clippy::future_not_send)]
    pub async fn evaluate_async(&self, context: &mut Context) -> JsResult<JsValue> {
        self.evaluate_async_with_budget(context, 256).await
    }

    /// Evaluates this script and returns its result, yielding to the executor each time `budget`
    /// number of "clock cycles" pass.
    ///
    /// Note that "clock cycle" is in quotation marks because we can't determine exactly how many
    /// CPU clock cycles a VM instruction will take, but all instructions have a "cost" associated
    /// with them that depends on their individual complexity. We'd recommend benchmarking with
    /// different budget sizes in order to find the ideal yielding time for your application.
    #[allow(clippy::future_not_send)]
    pub async fn evaluate_async_with_budget(
        &self,
        context: &mut Context,
        budget: u32,
    ) -> JsResult<JsValue> {
        self.prepare_run(context)?;

        let record = context.run_async_with_budget(budget).await;

        context.vm.pop_frame();

        record.consume()
    }

    fn prepare_run(&self, context: &mut Context) -> JsResult<()> {
        let path = || SourcePath::of(self.path(), self.inner.start);
        let codeblock = self
            .codeblock(context)
            .map_err(|error| error.at_start_of(path()))?;

        let global_env = EnvironmentStack::new();
        context.vm.push_frame_with_stack(
            CallFrame::new(
                codeblock.clone(),
                Some(ActiveRunnable::Script(self.clone())),
                global_env,
                self.inner.realm.clone(),
            )
            .with_env_fp(0)
            .with_flags(CallFrameFlags::EXIT_EARLY),
            JsValue::undefined(),
            JsValue::null(),
        );

        self.realm().resize_global_env();

        context
            .global_declaration_instantiation(&codeblock)
            .map_err(|error| {
                context.vm.pop_frame();
                error.at_start_of(path())
            })?;

        Ok(())
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    pub(super) fn get_source(&self) -> SourceText {
        self.inner.source_text.clone()
    }
}
