//! One page's scripts: an engine with its own heap, an event loop in virtual time, and the natives that need no document.
//!
//! ```text
//! Engine::new → evaluate (each script, in the page's order) → run (timers, answers, microtasks) → what the page holds
//! ```
//!
//! An engine belongs to one page and is dropped with it. Scripts may use up their budgets, and may break the engine: both end the page's
//! scripts and nothing else, as far as Rust can hold it. What it cannot hold (a stack that overflows, memory that is refused, an
//! endless match of a regular expression) ends the process, for which reason engines live in a child (`child`).
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
use boa_engine::parser::source::Beginning;
use boa_engine::vm::RuntimeLimits;
use boa_engine::{Context, JsResult, JsValue, Module, Script, Source, js_string};

use crate::wire::{End, Reach, Spent};
use crate::{limits, wire};
use jobs::Jobs;
use kept::Kept;
use modules::Loader;
use net::Net;
use page::{Page, SharedPage, VirtualClock};

/// What a page begins with.
#[derive(Clone, Debug)]
pub struct Start {
    /// Address of the document.
    pub url: Url,
    /// Milliseconds since 1970 at which the page's clock begins.
    pub now_ms: i64,
    /// Where the page's random numbers begin: the same page with the same seed runs the same way.
    pub seed: u64,
    /// Instructions of the engine that all the page's scripts may use together.
    pub instructions: usize,
}

impl Start {
    /// A page at `url`, with the usual budget.
    pub fn at(url: Url) -> Self {
        Self { url, now_ms: 0, seed: 1, instructions: limits::RENDER_INSTRUCTIONS_MAX }
    }
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("the script engine does not start: {0}")]
    Start(String),
}

/// The scripts of one page.
pub struct Engine {
    /// Dropped by hand: a context in which something panicked is not touched again.
    context: ManuallyDrop<Context>,
    page: SharedPage,
    /// Instructions that the page began with.
    instructions: usize,
}

impl Engine {
    /// An engine for a page whose requests go to `net`.
    ///
    /// # Errors
    /// When the engine's own set-up fails, which means a fault of ours.
    pub fn new(start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
        Self::behind(Kept::default(), start, net)
    }

    /// An engine for a page whose requests go to `net`, behind others.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn behind(kept: Kept, start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
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
        // Pages run most of their text once or never, and what they ship is minified: looking for what could be folded costs more.
        context.set_optimizer_options(OptimizerOptions::empty());
        let page = Rc::new(RefCell::new(Page::new(net, clock, start.seed)));
        page.borrow_mut().kept = kept;
        context.insert_data::<SharedPage>(Rc::clone(&page));
        realm::install(start.url.clone(), hooks, &mut context);
        install(&mut context).map_err(told)?;
        Ok(Self { context: ManuallyDrop::new(context), page, instructions: start.instructions })
    }

    /// Runs a classic script, and the microtasks behind it. What it throws is told in the page's errors, with `name` as its source.
    /// Gives what it evaluates to, `None` when it threw or the page is spent.
    pub fn evaluate(&mut self, text: &str, name: &str) -> Option<JsValue> {
        self.with(|context| run_script(text, name, context)).flatten()
    }

    /// Begins an inline module: it runs in [`Engine::run`], once what it imports is there.
    pub fn module(&mut self, text: &str) {
        self.with(|context| start_module(text, context));
    }

    /// Begins a module at an address, relative to the page's, as an import of it would.
    pub fn module_at(&mut self, address: &str) {
        self.with(|context| start_module_at(address, context));
    }

    /// Adds an import map; what an earlier one told stays.
    ///
    /// # Errors
    /// When the text is no import map.
    pub fn import_map(&mut self, text: &str) -> Result<(), String> {
        add_import_map(text, &self.context)
    }

    /// Runs the event loop: timers, answers of the network, and what they bring.
    pub fn run(&mut self, reach: Reach) -> End {
        self.with(|context| jobs::run(context, reach)).unwrap_or(End::Spent)
    }

    /// Does something with the engine's context; `None` when the page is spent, or is from now on.
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
            // Whoever met the end did not tell it on.
            self.page.borrow_mut().spent = Some(Spent::Instructions);
        }
        result.ok()
    }

    /// Looks at what the page holds, also where its scripts are spent, and runs none; `None` where something panicked, or does.
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

    /// Why the page's scripts run no more; `None` while they do.
    pub fn spent(&self) -> Option<Spent> {
        self.page.borrow().spent
    }

    /// What the scripts share: console, errors, address.
    pub fn page(&self) -> &SharedPage {
        &self.page
    }

    /// A value as text, as far as it is one or can be shown without running scripts.
    pub fn text_of(&mut self, value: &JsValue) -> Option<String> {
        self.with(|_| match value.as_string() {
            Some(text) => text.to_std_string_lossy(),
            None if value.is_object() => "[object]".to_owned(),
            None => value.display().to_string(),
        })
    }

    /// Ends the page: what the next one can use of it. Nothing, where something panicked.
    pub fn end(mut self) -> Kept {
        let mut kept = std::mem::take(&mut self.page.borrow_mut().kept);
        if self.spent() == Some(Spent::Panicked) {
            return Kept::default();
        }
        let realm = realm::of_page(&self.context);
        kept.reading = self.context.take_reading(&realm);
        kept
    }

    /// Instructions that are left of the page's budget.
    pub fn instructions_left(&self) -> usize {
        self.context.instructions_remaining()
    }

    /// Gives scripts that still run as many instructions as they began with.
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
        // A value that cannot be dropped must not take the process along.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            jobs::of(&self.context).clear();
            if let Some(loader) = self.context.downcast_module_loader::<Loader>() {
                loader.clear();
            }
            realm::clear(&mut self.context);
            // SAFETY: the context is dropped here and nowhere else, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.context) };
            // What it has left on the heap goes with the page's thread, as a whole: a collection would look at all of it twice first.
        }));
    }
}

/// Where the text of a script stands, as its errors tell it: a file, and the place in it where an inline script begins.
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

/// Runs a classic script and the microtasks behind it; what it throws is told in the page's errors. For natives, which have no engine.
pub fn run_script<'a>(text: &str, origin: impl Into<Origin<'a>>, context: &mut Context) -> Option<JsValue> {
    let script = script(text, origin.into(), context).map_err(|error| report::exception(error, context)).ok()?;
    jobs::enter(context, |context| script.evaluate(context))
}

/// Begins an inline module; it runs once what it imports is there. What fails is told as a promise that nobody handles.
pub fn start_module(text: &str, context: &mut Context) {
    match modules::inline(text, None, context) {
        Ok(module) => drop(jobs::enter(context, |context| {
            let promise = module.load_link_evaluate(context);
            modules::tell(&promise, context)
        })),
        Err(error) => report::exception(error, context),
    }
}

/// Begins a module at an address, as an import of it would.
pub fn start_module_at(address: &str, context: &mut Context) {
    jobs::enter(context, |context| modules::start(address, context));
}

/// Sends a request the way of its scheme; `done` is a task of its own once the answer is there.
pub fn request(
    request: wire::Request,
    context: &mut Context,
    done: impl FnOnce(wire::Answer, &mut Context) -> JsResult<()> + 'static,
) {
    fetch::start(request, context, done);
}

/// Sends a request the way of its scheme, and waits for its answer.
pub fn request_and_wait(request: wire::Request, context: &mut Context) -> wire::Answer {
    fetch::local(&request.url, context).unwrap_or_else(|| jobs::request_and_wait(context, request))
}

/// Adds an import map; what an earlier one told stays.
///
/// # Errors
/// When the text is no import map.
pub fn add_import_map(text: &str, context: &Context) -> Result<(), String> {
    context.downcast_module_loader::<Loader>().map_or(Ok(()), |loader| loader.add_map(text))
}

/// Reads a script.
fn script(text: &str, Origin { name, start }: Origin<'_>, context: &mut Context) -> JsResult<Script> {
    let told = || wire::trace::What::Script { source: trace::told(name), bytes: text.len() };
    page::of(context).borrow_mut().note(told);
    let source = Source::from_bytes(text).with_path(Path::new(name)).beginning_at(start);
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
    let (script, parsed) = Script::parse_and_keep(source, context)?;
    if let Some(parsed) = parsed {
        page.borrow_mut().kept.keep_script(text, parsed);
    }
    Ok(script)
}

/// Reads a module.
fn module(text: &str, Origin { name, start }: Origin<'_>, context: &mut Context) -> JsResult<Module> {
    page::of(context).borrow_mut().note(|| wire::trace::What::Script { source: trace::told(name), bytes: text.len() });
    let source = Source::from_bytes(text).with_path(Path::new(name)).beginning_at(start);
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
    let (module, parsed) = Module::parse_and_keep(source, context)?;
    if let Some(parsed) = parsed {
        page.borrow_mut().kept.keep_module(text, parsed);
    }
    Ok(module)
}

/// Everything that a window finds in its global object without a document.
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
