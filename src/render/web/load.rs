//! A page's way from markup to the end of its scripts (HTML §13.2.6.4.8, §4.12.1): parser and scripts by turns, deferred scripts,
//! `DOMContentLoaded`, what is still under way, `load`.

use std::cell::RefCell;
use std::rc::Rc;

use boa_engine::{Context, JsValue};
use html5ever::local_name;
use url::Url;

use super::{document, of, read, settle, wrap};
use crate::render::dom::{Mutation, NodeId, Parser, Step, Tree};
use crate::render::engine::jobs::{self, End, Reach};
use crate::render::engine::net::{Answer, Asker, Net, Request};
use crate::render::engine::page::ScriptError;
use crate::render::engine::{Engine, EngineError, Start, events, page};

/// A page: an engine and its document.
pub struct Window {
    pub engine: Engine,
}

/// Where the loading of the page stands; natives reach it through the context.
#[derive(Default)]
struct Loading {
    parser: Option<Parser>,
    /// Scripts that wait for the end of the markup, in their order.
    deferred: Vec<Deferred>,
    /// The classic script that runs.
    current: Option<NodeId>,
}

type SharedLoading = Rc<RefCell<Loading>>;

enum Deferred {
    Classic { script: NodeId, text: Rc<RefCell<Option<Answer>>> },
    Module { script: NodeId },
}

/// What a `<script>` is, by its `type` and `language` (HTML §4.12.1.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Classic,
    Module,
    ImportMap,
    Data,
}

impl Window {
    /// An empty page whose requests go to `net`.
    ///
    /// # Errors
    /// When the engine's own set-up fails, which means a fault of ours.
    pub fn open(start: &Start, net: Box<dyn Net>) -> Result<Self, EngineError> {
        let mut engine = Engine::new(start, net)?;
        let installed = engine.with(|context| {
            context.insert_data::<SharedLoading>(SharedLoading::default());
            super::install(context)
        });
        match installed {
            Some(Ok(())) => Ok(Self { engine }),
            Some(Err(error)) => Err(EngineError::Start(error.to_string())),
            None => Err(EngineError::Start("the engine broke down".to_owned())),
        }
    }

    /// Reads the markup and runs the page's scripts, until nothing is left to be done or `reach` is.
    pub fn load(&mut self, html: &str, reach: Reach) -> End {
        self.engine.with(|context| parse(html, context));
        self.engine.with(|context| {
            run_deferred(context);
            fire_at_document("DOMContentLoaded", true, context);
        });
        // Time stands while something is under way: `load` comes before the timers.
        self.engine.run(Reach { virtual_ms: 0, ..reach });
        self.engine.with(|context| {
            let global = context.global_object();
            jobs::enter(context, |context| {
                events::fire(&global, "Event", "load", (false, false), &[], context);
                Ok(())
            });
        });
        self.engine.run(reach)
    }

    /// The document as markup, as it is now.
    pub fn html(&mut self) -> String {
        let text = self.engine.with(|context| {
            let document = of(context).borrow().document;
            read(context, |tree| tree.inner_html(document))
        });
        text.unwrap_or_default()
    }
}

fn loading(context: &Context) -> SharedLoading {
    context.get_data::<SharedLoading>().cloned().unwrap_or_default()
}

fn fire_at_document(kind: &str, bubbles: bool, context: &mut Context) {
    let document = of(context).borrow().document;
    if let Ok(document) = wrap(document, context) {
        events::fire(&document, "Event", kind, (bubbles, false), &[], context);
    }
}

/// Feeds the parser and runs each script that it hands out.
fn parse(html: &str, context: &mut Context) {
    let (web, state) = (of(context), loading(context));
    let mut parser = {
        let mut web = web.borrow_mut();
        let document = web.document;
        Parser::new(&mut web.tree, document)
    };
    let mut text = html;
    loop {
        let step = parser.feed(&mut web.borrow_mut().tree, text);
        text = "";
        settle(context);
        let Ok(Step::Script(script)) = step else { break };
        state.borrow_mut().parser = Some(parser);
        prepare(script, true, context);
        settle(context);
        match state.borrow_mut().parser.take() {
            Some(back) => parser = back,
            // A script opened the document anew.
            None => return,
        }
    }
    // A document that is full keeps what it holds.
    let _ = parser.finish(&mut web.borrow_mut().tree);
    settle(context);
}

/// Runs the scripts that waited for the end of the markup.
fn run_deferred(context: &mut Context) {
    let state = loading(context);
    loop {
        let next = {
            let mut state = state.borrow_mut();
            if state.deferred.is_empty() { None } else { Some(state.deferred.remove(0)) }
        };
        match next {
            None => return,
            Some(Deferred::Module { script }) => run_module(script, context),
            Some(Deferred::Classic { script, text }) => {
                // Other answers are met on the way, as they come.
                while text.borrow().is_none() {
                    if jobs::run(context, Reach { virtual_ms: 0, tasks: 1 }) == End::Spent {
                        return;
                    }
                }
                let answer = text.borrow_mut().take();
                if let Some(answer) = answer {
                    run_fetched(script, answer, context);
                }
            }
        }
    }
}

/// Scripts that came into the document by a script run at once, those with an address when it has been fetched.
pub(super) fn scripts_came_in(log: &[Mutation], context: &mut Context) {
    let scripts: Vec<NodeId> = read(context, |tree| {
        let added = log.iter().filter_map(|one| match one {
            Mutation::Children { added, .. } => Some(added),
            _ => None,
        });
        let tops: Vec<NodeId> = added.flatten().copied().collect();
        let mut found = Vec::new();
        for top in tops {
            found.extend(std::iter::once(top).chain(tree.descendants(top)).filter(|id| is_waiting_script(tree, *id)));
        }
        found
    });
    for script in scripts {
        if read(context, |tree| is_waiting_script(tree, script)) {
            prepare(script, false, context);
        }
    }
}

fn is_waiting_script(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.is_html(&local_name!("script")) && !element.state.already_started && !element.state.parser_inserted
    }) && tree.is_connected(id)
}

fn kind_of(tree: &Tree, script: NodeId) -> Kind {
    let kind = tree.attribute(script, &local_name!("type")).map(str::trim);
    let kind = match kind {
        Some(kind) => kind.to_ascii_lowercase(),
        None => match tree.attribute(script, &local_name!("language")) {
            Some(language) if !language.is_empty() => format!("text/{}", language.to_ascii_lowercase()),
            _ => String::new(),
        },
    };
    match kind.as_str() {
        "" => Kind::Classic,
        "module" => Kind::Module,
        "importmap" => Kind::ImportMap,
        kind => {
            let known = [
                "application/ecmascript",
                "application/javascript",
                "application/x-ecmascript",
                "application/x-javascript",
                "text/ecmascript",
                "text/javascript",
                "text/javascript1.0",
                "text/javascript1.1",
                "text/javascript1.2",
                "text/javascript1.3",
                "text/javascript1.4",
                "text/javascript1.5",
                "text/jscript",
                "text/livescript",
                "text/x-ecmascript",
                "text/x-javascript",
            ];
            if known.contains(&kind) { Kind::Classic } else { Kind::Data }
        }
    }
}

/// "Prepare the script element" (HTML §4.12.1.1).
fn prepare(script: NodeId, by_parser: bool, context: &mut Context) {
    let (kind, src, text, has) = read(context, |tree| {
        let has = |name| tree.attribute(script, &name).is_some();
        (
            kind_of(tree, script),
            tree.attribute(script, &local_name!("src")).map(str::to_owned),
            tree.child_text(script),
            (has(local_name!("async")), has(local_name!("defer")), has(local_name!("nomodule"))),
        )
    });
    let (is_async, is_deferred, no_module) = has;
    if (src.is_none() && text.is_empty()) || kind == Kind::Data || (kind == Kind::Classic && no_module) {
        return;
    }
    if let Some(state) = of(context).borrow_mut().tree.state_mut(script) {
        state.already_started = true;
    }
    match (kind, src) {
        (Kind::Data, _) => {}
        (Kind::ImportMap, _) => import_map(&text, context),
        (Kind::Module, _) if by_parser && !is_async => {
            loading(context).borrow_mut().deferred.push(Deferred::Module { script });
        }
        (Kind::Module, _) => run_module(script, context),
        (Kind::Classic, None) => run_classic(script, &text, "", context),
        (Kind::Classic, Some(src)) => {
            let Some(address) = resolve(script, &src, context) else {
                fire_at(script, "error", context);
                return;
            };
            let request = request(&address);
            if by_parser && is_deferred && !is_async {
                let slot = Rc::new(RefCell::new(None));
                let filled = Rc::clone(&slot);
                jobs::request(context, request, move |answer, _| {
                    *filled.borrow_mut() = Some(answer);
                    Ok(())
                });
                loading(context).borrow_mut().deferred.push(Deferred::Classic { script, text: slot });
            } else if by_parser && !is_async {
                let answer = jobs::request_and_wait(context, request);
                run_fetched(script, answer, context);
            } else {
                jobs::request(context, request, move |answer, context| {
                    run_fetched(script, answer, context);
                    Ok(())
                });
            }
        }
    }
}

fn request(address: &Url) -> Request {
    Request {
        asker: Asker::Script,
        method: "GET".to_owned(),
        url: address.to_string(),
        headers: Vec::new(),
        credentials: true,
        body: Vec::new(),
    }
}

/// An address in the document, without its fragment.
fn resolve(node: NodeId, text: &str, context: &Context) -> Option<Url> {
    let mut url = document::base_url(node, context).join(text.trim()).ok()?;
    url.set_fragment(None);
    Some(url)
}

fn import_map(text: &str, context: &mut Context) {
    if let Err(message) = crate::render::engine::add_import_map(text, context) {
        let error = ScriptError { message, source: String::new(), line: 0, column: 0 };
        page::of(context).borrow_mut().fault(error);
    }
}

fn run_module(script: NodeId, context: &mut Context) {
    let src = read(context, |tree| tree.attribute(script, &local_name!("src")).map(str::to_owned));
    match src {
        None => {
            let text = read(context, |tree| tree.child_text(script));
            let name = page::of(context).borrow().url.to_string();
            crate::render::engine::start_module(&text, &name, context);
        }
        Some(src) => {
            if let Some(address) = resolve(script, &src, context) {
                crate::render::engine::start_module_at(address.as_str(), context);
            }
        }
    }
}

fn run_fetched(script: NodeId, answer: Answer, context: &mut Context) {
    match answer {
        Ok(response) if (200..300).contains(&response.status) => {
            let label =
                response.header("content-type").and_then(|kind| kind.split_once("charset=")).map(|(_, set)| set);
            let encoding =
                label.and_then(|label| encoding_rs::Encoding::for_label(label.trim_matches(['"', ' ']).as_bytes()));
            let (text, ..) = encoding.unwrap_or(encoding_rs::UTF_8).decode(&response.body);
            let name = response.url.clone();
            run_classic(script, &text, &name, context);
            fire_at(script, "load", context);
        }
        _ => fire_at(script, "error", context),
    }
}

/// Runs a classic script as the document's current one.
fn run_classic(script: NodeId, text: &str, name: &str, context: &mut Context) {
    let state = loading(context);
    let before = state.borrow_mut().current.replace(script);
    let page_name = page::of(context).borrow().url.to_string();
    crate::render::engine::run_script(text, if name.is_empty() { &page_name } else { name }, context);
    state.borrow_mut().current = before;
}

fn fire_at(node: NodeId, kind: &str, context: &mut Context) {
    if let Ok(object) = wrap(node, context) {
        events::fire(&object, "Event", kind, (false, false), &[], context);
    }
}

/// The script that runs, as `document.currentScript` tells it.
pub fn current_script(context: &Context) -> Option<NodeId> {
    loading(context).borrow().current
}

/// A value for tests and tools: what an expression gives, as text.
pub fn text_of(window: &mut Window, expression: &str) -> Option<String> {
    let value: Option<JsValue> = window.engine.evaluate(expression, "question");
    value.and_then(|value| window.engine.text_of(&value))
}
