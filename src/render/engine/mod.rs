//! One page's scripts: an engine with its own heap, an event loop in virtual time, and the natives that need no document.
//!
//! ```text
//! Engine::new → evaluate (each script, in the page's order) → run (timers, responses, microtasks) → the page's state
//! ```
//!
//! An engine belongs to one page and is dropped with it. Scripts may exhaust their budgets, and may break the engine: both end only the
//! page's scripts, as far as Rust can contain it. What it cannot contain (a stack overflow, a failed allocation, an endless regular
//! expression match) ends the process, so engines run in a child (`child`).
//!
//! No native here opens a file or a socket, waits, or reads a clock.

mod abort;
mod ambient;
pub mod bind;
pub mod blob;
pub mod clone;
mod console;
mod encoding;
pub mod events;
pub mod exception;
pub mod faults;
mod fetch;
mod from_async;
mod headers;
pub mod heard;
mod intl;
pub mod jobs;
mod json;
pub mod kept;
pub mod legacy;
pub mod modules;
pub mod net;
pub mod page;
mod pairs;
mod performance;
pub mod realm;
pub mod report;
mod stream;
pub mod target;
#[cfg(test)]
mod tests;
mod timers;
pub mod trace;
mod url;
pub mod xhr;

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use ::url::Url;
use boa_engine::context::ContextBuilder;
use boa_engine::optimizer::OptimizerOptions;
use boa_engine::parser::source::{Beginning, UTF8Input};
use boa_engine::vm::RuntimeLimits;
use boa_engine::{Context, JsResult, JsValue, Module, Script, Source, js_string};

use crate::wire::{End, Reach, Spent};
use crate::{limits, wire};
use jobs::Jobs;
use kept::EngineCache;
use modules::Loader;
use net::Net;
use page::{Page, SharedPage, VirtualClock};

/// The initial state of a page.
#[derive(Clone, Debug)]
pub struct Start {
    /// URL of the document.
    pub url: Url,
    /// Milliseconds since 1970 at which the page's clock starts.
    pub now_ms: i64,
    /// The seed of the page's random numbers: the same page with the same seed runs the same way.
    pub seed: u64,
    /// Instructions of the engine for all scripts of the page together.
    pub instructions: usize,
}

impl Start {
    /// A page at `url`, with the default budget.
    pub fn at(url: Url) -> Self {
        Self { url, now_ms: 0, seed: 1, instructions: limits::RENDER_INSTRUCTIONS_MAX }
    }
}

/// Why the engine could not be created.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the script engine does not start: {0}")]
    Start(String),
}

/// The scripts of one page.
pub struct Engine {
    /// Dropped manually: a context in which something panicked is not used again.
    context: ManuallyDrop<Context>,
    page: SharedPage,
    /// Instructions that the page started with.
    instructions: usize,
}

impl Engine {
    /// An engine for a page whose requests go to `net`.
    ///
    /// # Errors
    /// When the engine's own set-up fails, which is a bug.
    pub fn new(start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
        Self::behind(EngineCache::default(), start, net)
    }

    /// An engine for a page whose requests go to `net`, with the cache of previous pages.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn behind(kept: EngineCache, start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
        let mut kept = kept.of_next_page();
        let clock = Rc::new(VirtualClock::new(start.now_ms));
        let told = |error: boa_engine::JsError| EngineError::Start(error.to_string());
        let hooks = Rc::new(jobs::Hooks::default());
        let mut context = ContextBuilder::new()
            .host_hooks(Rc::clone(&hooks))
            .clock(Rc::clone(&clock))
            .job_executor(Rc::new(Jobs::new(Rc::clone(&clock))))
            .module_loader(Rc::new(Loader::default()))
            .instructions_remaining(start.instructions)
            .reading(std::mem::take(&mut kept.reading))
            .build()
            .map_err(told)?;
        let mut bounds = RuntimeLimits::default();
        bounds.set_loop_iteration_limit(limits::RENDER_LOOP_ITERATIONS_MAX);
        bounds.set_recursion_limit(limits::RENDER_RECURSION_MAX);
        bounds.set_backtrace_limit(limits::RENDER_BACKTRACE_MAX);
        bounds.set_stack_size_limit(limits::RENDER_STACK_VALUES_MAX);
        context.set_runtime_limits(bounds);
        // Pages run most of their code once or never, and it is already minified: constant folding costs more than it saves.
        context.set_optimizer_options(OptimizerOptions::empty());
        let page = Rc::new(RefCell::new(Page::new(net, clock, start.seed)));
        page.borrow_mut().kept = kept;
        context.insert_data::<SharedPage>(Rc::clone(&page));
        realm::install(start.url.clone(), hooks, &mut context);
        install(&mut context).map_err(told)?;
        Ok(Self { context: ManuallyDrop::new(context), page, instructions: start.instructions })
    }

    /// Runs a classic script, then microtasks. Exceptions go to the page's errors, with `name` as the source. Returns the script's value;
    /// `None` if it threw or the page is spent.
    pub fn evaluate(&mut self, text: &str, name: &str) -> Option<JsValue> {
        self.with(|context| run_script(text, name, context)).flatten()
    }

    /// Starts an inline module: it runs in [`Engine::run`], once its imports are loaded.
    pub fn module(&mut self, text: &str) {
        self.with(|context| start_module(text, context));
    }

    /// Starts a module at a URL, relative to the page's, as an import of it would.
    pub fn module_at(&mut self, address: &str) {
        self.with(|context| start_module_at(address, context));
    }

    /// Adds an import map; earlier entries stay.
    ///
    /// # Errors
    /// When the text is not a valid import map.
    pub fn import_map(&mut self, text: &str) -> Result<(), String> {
        add_import_map(text, &self.context)
    }

    /// Runs the event loop: timers, network responses, and their consequences.
    pub fn run(&mut self, reach: Reach) -> End {
        self.with(|context| jobs::run(context, reach)).unwrap_or(End::Spent)
    }

    /// Runs `what` with the engine's context; `None` if the page is spent, or becomes so.
    pub fn with<T>(&mut self, what: impl FnOnce(&mut Context) -> T) -> Option<T> {
        if self.spent().is_some() {
            return None;
        }
        let context = &mut *self.context;
        let result = catch_unwind(AssertUnwindSafe(|| what(context)));
        if result.is_err() {
            let mut page = self.page.borrow_mut();
            page.spent = Some(Spent::Panicked);
            page.fault(page::panicked());
        } else if context.instructions_remaining() == 0 && self.spent().is_none() {
            // The caller that hit the limit did not report it.
            self.page.borrow_mut().spent = Some(Spent::Instructions);
        }
        result.ok()
    }

    /// Reads the page's state without running scripts, even if they are spent; `None` if something panicked, or does now.
    pub fn look<T>(&mut self, what: impl FnOnce(&Context) -> T) -> Option<T> {
        if self.spent() == Some(Spent::Panicked) {
            return None;
        }
        let context = &*self.context;
        let result = catch_unwind(AssertUnwindSafe(|| what(context)));
        if result.is_err() {
            self.page.borrow_mut().spent = Some(Spent::Panicked);
        }
        result.ok()
    }

    /// Why the page's scripts run no more; `None` while they run.
    pub fn spent(&self) -> Option<Spent> {
        self.page.borrow().spent
    }

    /// State shared by the scripts: console, errors, URL.
    pub fn page(&self) -> &SharedPage {
        &self.page
    }

    /// A value as text, if it is a text or can be shown without running scripts.
    pub fn text_of(&mut self, value: &JsValue) -> Option<String> {
        self.with(|_| match value.as_string() {
            Some(text) => text.to_std_string_lossy(),
            None if value.is_object() => "[object]".to_owned(),
            None => value.display().to_string(),
        })
    }

    /// Ends the page and returns the cache for the next one; an empty one if something panicked.
    pub fn end(mut self) -> EngineCache {
        let mut kept = std::mem::take(&mut self.page.borrow_mut().kept);
        if self.spent() == Some(Spent::Panicked) {
            return EngineCache::default();
        }
        let realm = realm::of_page(&self.context);
        kept.reading = self.context.take_reading(&realm);
        kept
    }

    /// Instructions left of the page's budget.
    pub fn instructions_left(&self) -> usize {
        self.context.instructions_remaining()
    }

    /// Refills the instructions of scripts that still run.
    pub fn refill(&mut self) {
        if self.spent().is_none() {
            self.context.set_instructions_remaining(self.instructions);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.spent() == Some(Spent::Panicked) {
            return;
        }
        // A value that panics on drop must not end the process.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            jobs::of(&self.context).clear();
            if let Some(loader) = self.context.downcast_module_loader::<Loader>() {
                loader.clear();
            }
            realm::clear(&mut self.context);
            // SAFETY: the context is dropped here and nowhere else, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.context) };
            // Objects left on the heap are freed with the page's thread as a whole; a collection would first visit them all twice.
        }));
    }
}

/// The origin of a script's text for its errors: a file, and the position of an inline script in it.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub name: &'a str,
    pub start: Option<Beginning>,
}

impl<'a> From<&'a str> for Origin<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, start: None }
    }
}

/// Runs a classic script, then microtasks; exceptions go to the page's errors. For natives, which have no `Engine`.
pub fn run_script<'a>(text: &str, origin: impl Into<Origin<'a>>, context: &mut Context) -> Option<JsValue> {
    let script = script(text, origin.into(), context).map_err(|error| report::exception(error, context)).ok()?;
    jobs::enter(context, |context| script.evaluate(context))
}

/// Starts an inline module; it runs once its imports are loaded. A failure is reported as an unhandled rejection.
pub fn start_module(text: &str, context: &mut Context) {
    match modules::inline(text, None, context) {
        Ok(module) => drop(jobs::enter(context, |context| {
            let promise = module.load_link_evaluate(context);
            modules::tell(&promise, context)
        })),
        Err(error) => report::exception(error, context),
    }
}

/// Starts a module at a URL, as an import of it would.
pub fn start_module_at(address: &str, context: &mut Context) {
    jobs::enter(context, |context| modules::start(address, context));
}

/// Sends a request by its scheme; `done` runs as a task once the response is there.
pub fn request(
    request: wire::Request,
    context: &mut Context,
    done: impl FnOnce(wire::Answer, &mut Context) -> JsResult<()> + 'static,
) {
    fetch::start(request, context, done);
}

/// Sends a request by its scheme, and waits for its response.
pub fn request_and_wait(request: wire::Request, context: &mut Context) -> wire::Answer {
    fetch::local(&request.url, context).unwrap_or_else(|| jobs::request_and_wait(context, request))
}

/// Adds an import map; earlier entries stay.
///
/// # Errors
/// When the text is not a valid import map.
pub fn add_import_map(text: &str, context: &Context) -> Result<(), String> {
    context.downcast_module_loader::<Loader>().map_or(Ok(()), |loader| loader.add_map(text))
}

/// Parses a script.
fn script(text: &str, origin: Origin<'_>, context: &mut Context) -> JsResult<Script> {
    let Origin { name, start } = origin;
    let told = || wire::trace::What::Script { source: trace::told(name), bytes: text.len() };
    page::of(context).borrow_mut().note(told);
    let source = Source::from_text(text).with_path(Path::new(name)).beginning_at(start);
    if !realm::is_of_page(context) {
        return Script::parse(source, None, context);
    }
    let page = page::of(context);
    let known = page.borrow_mut().kept.script(text);
    if let Some(known) = known {
        return Script::of_parsed(&known, Some(name.into()), start, context);
    }
    if !page.borrow_mut().kept.wants(text) {
        return Script::parse(source, None, context);
    }
    let (script, parsed) = Script::parse_and_keep(whole(text, origin), context)?;
    if let Some(parsed) = parsed {
        page.borrow_mut().kept.keep_script(text, parsed);
    }
    Ok(script)
}

/// The source of a text that pages share: it is parsed once, with all of its functions. What was parsed later would lie in memory between
/// what its page forgets.
fn whole<'a>(text: &'a str, Origin { name, start }: Origin<'a>) -> Source<'a, UTF8Input<&'a [u8]>> {
    Source::from_bytes(text).with_path(Path::new(name)).beginning_at(start)
}

/// Parses a module.
fn module(text: &str, origin: Origin<'_>, context: &mut Context) -> JsResult<Module> {
    let Origin { name, start } = origin;
    page::of(context).borrow_mut().note(|| wire::trace::What::Script { source: trace::told(name), bytes: text.len() });
    let source = Source::from_text(text).with_path(Path::new(name)).beginning_at(start);
    if !realm::is_of_page(context) {
        return Module::parse(source, None, context);
    }
    let page = page::of(context);
    let known = page.borrow_mut().kept.module(text);
    if let Some(known) = known {
        return Ok(Module::of_parsed(&known, Some(name.into()), start, context));
    }
    if !page.borrow_mut().kept.wants(text) {
        return Module::parse(source, None, context);
    }
    let (module, parsed) = Module::parse_and_keep(whole(text, origin), context)?;
    if let Some(parsed) = parsed {
        page.borrow_mut().kept.keep_module(text, parsed);
    }
    Ok(module)
}

/// Installs the globals of a window that need no document.
fn install(context: &mut Context) -> JsResult<()> {
    events::install(context)?;
    target::install(context)?;
    exception::install(context)?;
    abort::install(context)?;
    console::install(context)?;
    ambient::install(context)?;
    performance::install(context)?;
    encoding::install(context)?;
    json::install(context)?;
    blob::install(context)?;
    url::install(context)?;
    headers::install(context)?;
    stream::install(context)?;
    fetch::install(context)?;
    xhr::install(context)?;
    clone::install(context)?;
    legacy::install(context)?;
    from_async::install(context)?;
    intl::install(context)?;
    let (global, window) = (context.global_object(), realm::window(context));
    for name in ["window", "self", "frames"] {
        bind::hidden(&global, js_string!(name), window.clone().into(), true, context)?;
    }
    bind::methods(&global, timers::GLOBALS, context)
}
