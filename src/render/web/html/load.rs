//! Loads a page from its markup to the end of its scripts (HTML §8.1.8, §13.2.7): the parser alternates with scripts, then deferred
//! scripts, `DOMContentLoaded`, pending resources, `load`.
//!
//! The stages are steps of the event loop: each response that the page waited for advances it as far as possible ([`advance`]), so
//! timers, responses and scripts run in the order of their arrival.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use boa_engine::{Context, JsResult, JsValue};

use super::scripts::{self, Pending, Turn};
use super::source::Source;
use super::{frames, windows};
use crate::dom::{NodeId, Parser, Step};
use crate::engine::kept::EngineCache;
use crate::engine::net::Net;
use crate::engine::{Engine, EngineError, Start, bind, events, jobs, page, realm, target};
use crate::web::{of, own_document, read, settle, wrap};
use crate::wire::trace::What;
use crate::wire::{End, Reach};

/// A page: an engine and its document.
pub struct Window {
    pub engine: Engine,
}

/// The loading state of the page; natives reach it through the context.
#[derive(Default)]
pub(crate) struct Loading {
    /// The parser, while one of its scripts runs or a script has reopened the document.
    pub parser: Option<Parser>,
    /// The markup, used to locate the texts of scripts and handlers.
    pub markup: Rc<str>,
    /// Number of handlers located in it.
    pub handlers_sought: u32,
    /// A script reopened the document: only its writes feed the parser.
    pub opened: bool,
    /// A script in written text that is still being fetched: the parser and later writes wait for it.
    pub blocking: Option<NodeId>,
    pub written_later: String,
    /// Scripts that run at the end of the markup, in order.
    pub deferred: VecDeque<Rc<Pending>>,
    /// Scripts inserted by scripts that run in order (`async = false`).
    pub ordered: VecDeque<Rc<Pending>>,
    /// The running classic script.
    pub current: Option<NodeId>,
    /// Nesting depth of running scripts that may not write into the document.
    pub no_writes: u32,
    /// The changes being settled are the parser's; set for custom elements, which read it once.
    pub is_parsing: bool,
    /// Nesting depth of custom elements that the parser waits for: they may neither write into the document nor open it.
    pub tokens: u32,
    /// How often each image was given a URL.
    pub image_turns: HashMap<NodeId, u32>,
    /// Number of things that the `load` event waits for.
    delays: u32,
    stage: Stage,
    /// Set while the state advances, to prevent recursion.
    advancing: bool,
}

/// The values of `document.readyState`, and the stages after them.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Loading,
    Interactive,
    ContentLoaded,
    Complete,
}

pub(crate) type SharedLoading = Rc<RefCell<Loading>>;

/// The initial state of a window besides its engine.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    pub viewport: crate::wire::Viewport,
    /// The URL of the page that links here.
    pub referrer: String,
    /// The cookies of the page's site that scripts may see, as `name=value`.
    pub cookies: Vec<String>,
    /// What pages of its origin left in their storages.
    pub stored: crate::wire::Stored,
}

const DOCUMENT: &[bind::Attribute] = &[
    (
        "readyState",
        |this, _, context| {
            let document = crate::web::this_document(this, context)?;
            let own = document == own_document(context);
            let stage = if own { loading(context).borrow().stage } else { Stage::Complete };
            Ok(bind::js(match stage {
                Stage::Loading => "loading",
                Stage::Interactive | Stage::ContentLoaded => "interactive",
                Stage::Complete => "complete",
            }))
        },
        None,
    ),
    (
        "currentScript",
        |this, _, context| {
            let document = crate::web::this_document(this, context)?;
            let own = document == own_document(context);
            let script = loading(context).borrow().current.filter(|_| own);
            crate::web::wrap_or_null(script, context)
        },
        None,
    ),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::keep(RefCell::new(Loading::default()), context);
    let document = bind::prototype("Document", context)?;
    bind::attributes(&document, DOCUMENT, context)?;
    target::handlers(&document, &["readystatechange"], context)
}

impl Window {
    /// An empty page with a default viewport, whose requests go to `net`.
    ///
    /// # Errors
    /// When the engine's own set-up fails, which is a bug.
    pub fn open(start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
        Self::open_with(start, &Setting::default(), net)
    }

    /// An empty page whose requests go to `net`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(start: &Start, setting: &Setting, net: Box<dyn Net>) -> Result<Self, EngineError> {
        Self::open_behind(EngineCache::default(), start, setting, net)
    }

    /// An empty page with the cache of previous pages, whose requests go to `net`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_behind(
        kept: EngineCache,
        start: &Start,
        setting: &Setting,
        net: Box<dyn Net>,
    ) -> Result<Self, EngineError> {
        let mut engine = Engine::behind(kept, start, net)?;
        match engine.with(|context| crate::web::install(setting, context)) {
            Some(Ok(())) => Ok(Self { engine }),
            Some(Err(error)) => Err(EngineError::Start(error.to_string())),
            None => Err(EngineError::Start("the engine failed".to_owned())),
        }
    }

    /// Parses the markup and runs the page's scripts, until no work is left or the limits of `reach` are met.
    pub fn load(&mut self, html: &str, reach: Reach) -> End {
        self.engine.with(|context| parse(html, context));
        self.engine.with(is_read);
        self.engine.run(reach)
    }

    /// The current document as markup.
    pub fn html(&mut self) -> String {
        let text = self.engine.look(|context| {
            let document = own_document(context);
            read(context, |tree| tree.inner_html(document))
        });
        text.unwrap_or_default()
    }
}

pub(crate) fn loading(context: &Context) -> SharedLoading {
    realm::own(context).unwrap_or_default()
}

/// Parses the markup of a frame's document in the current window, and runs its scripts.
pub(crate) fn begin(html: &str, context: &mut Context) {
    *loading(context).borrow_mut() = Loading::default();
    parse(html, context);
    is_read(context);
}

/// Marks the document as completely loaded.
pub(crate) fn is_complete(context: &Context) {
    *loading(context).borrow_mut() = Loading { stage: Stage::Complete, ..Loading::default() };
}

/// The end of the markup was reached.
fn is_read(context: &mut Context) {
    if realm::is_open(context) {
        super::navigation::indicate(own_document(context), &realm::address(context), context);
        enter_stage(Stage::Interactive, context);
        advance(context);
    }
}

/// Feeds the parser and runs each script that it returns.
fn parse(html: &str, context: &mut Context) {
    let (web, state, document) = (of(context), loading(context), own_document(context));
    let mut parser = Parser::new(&mut web.borrow_mut().tree, document);
    let (mut text, mut source) = (html, Source::new(html));
    state.borrow_mut().markup = html.into();
    loop {
        let step = parser.feed(&mut web.borrow_mut().tree, text);
        text = "";
        settle_parsed(context);
        let Ok(Step::Script(script)) = step else { break };
        let start =
            source.script(html.len().saturating_sub(parser.unread()), &read(context, |tree| tree.child_text(script)));
        state.borrow_mut().parser = Some(parser);
        scripts::prepare(script, true, start, context);
        super::writing::run_blocking(context);
        settle(context);
        match state.borrow_mut().parser.take() {
            // A script that removes its own frame is the last one to run there.
            Some(back) if realm::is_open(context) => parser = back,
            _ => return,
        }
    }
    // A full document keeps its contents.
    let _ = parser.finish(&mut web.borrow_mut().tree);
    settle_parsed(context);
}

/// Settles the changes made by the parser.
pub(crate) fn settle_parsed(context: &mut Context) {
    let state = loading(context);
    state.borrow_mut().is_parsing = true;
    settle(context);
    state.borrow_mut().is_parsing = false;
}

/// Delays the `load` event.
pub(crate) fn delay(context: &Context) {
    loading(context).borrow_mut().delays += 1;
}

/// Ends a delay of the `load` event. For tasks, while no script runs.
pub(crate) fn undelay(context: &mut Context) {
    {
        let state = loading(context);
        let mut state = state.borrow_mut();
        state.delays = state.delays.saturating_sub(1);
    }
    advance(context);
}

/// Advances the page as far as possible (HTML §13.2.7 "the end"). For tasks, while no script runs.
pub(crate) fn advance(context: &mut Context) {
    let state = loading(context);
    if !realm::is_open(context) || std::mem::replace(&mut state.borrow_mut().advancing, true) {
        return;
    }
    jobs::outside(context, |context| {
        run_first_ready(|state| &mut state.ordered, context);
        let stage = state.borrow().stage;
        if stage == Stage::Interactive && run_first_ready(|state| &mut state.deferred, context) {
            state.borrow_mut().stage = Stage::ContentLoaded;
            note_stage("DOMContentLoaded", context);
            fire_at_document("DOMContentLoaded", true, context);
        }
        let ready = {
            let state = state.borrow();
            state.stage == Stage::ContentLoaded && state.delays == 0 && state.ordered.is_empty()
        };
        if ready {
            enter_stage(Stage::Complete, context);
            let window = realm::window(context);
            events::fire(&window, "Event", "load", (false, false), &[], context);
            let members = [("persisted", JsValue::from(false))];
            events::fire(&window, "PageTransitionEvent", "pageshow", (false, false), &members, context);
            if let Some(frame) = windows::own_frame(context).filter(|_| realm::is_open(context)) {
                // A frame element without an object is unknown to scripts, so its failure to get the event does not matter.
                let _ = frames::tell_element(frame, context);
            }
        }
    });
    state.borrow_mut().advancing = false;
}

/// Runs the scripts at the head of a list that have loaded; true if none is left.
fn run_first_ready(list: fn(&mut Loading) -> &mut VecDeque<Rc<Pending>>, context: &mut Context) -> bool {
    let state = loading(context);
    loop {
        let next = {
            let mut state = state.borrow_mut();
            let list = list(&mut state);
            match list.front() {
                None => return true,
                Some(first) if !first.is_ready() => return false,
                Some(_) => list.pop_front(),
            }
        };
        if let Some(next) = next {
            scripts::run(&next, Turn::of_list(), context);
        }
    }
}

fn enter_stage(stage: Stage, context: &mut Context) {
    loading(context).borrow_mut().stage = stage;
    note_stage(if stage == Stage::Complete { "complete" } else { "interactive" }, context);
    fire_at_document("readystatechange", false, context);
}

fn note_stage(stage: &str, context: &Context) {
    page::of(context).borrow_mut().note(|| What::Stage { stage: stage.to_owned() });
}

fn fire_at_document(kind: &str, bubbles: bool, context: &mut Context) {
    let document = own_document(context);
    fire_at(document, kind, bubbles, context);
}

pub(crate) fn fire_at(node: NodeId, kind: &str, bubbles: bool, context: &mut Context) {
    windows::within(node, context, |context| {
        if let Ok(object) = wrap(node, context) {
            events::fire(&object, "Event", kind, (bubbles, false), &[], context);
        }
    });
}

/// For tests and tools: the value of an expression as text.
pub fn text_of(window: &mut Window, expression: &str) -> Option<String> {
    let value: Option<JsValue> = window.engine.evaluate(expression, "question");
    value.and_then(|value| window.engine.text_of(&value))
}
