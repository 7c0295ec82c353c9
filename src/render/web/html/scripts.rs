//! `<script>` (HTML §4.12.1): the type of each script, when it runs, and in which order.
//!
//! ```text
//! parser, or a script that inserted it → prepare → at once | when fetched | in its list (deferred, ordered) → run → load or error
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use boa_engine::parser::source::Beginning;
use boa_engine::{Context, JsResult, JsValue, Module};
use html5ever::local_name;
use url::Url;

use super::load::{self, fire_at, loading};
use crate::dom::{NodeId, Tree};
use crate::engine::{self, Origin, bind, jobs, modules, page, realm, report};
use crate::web::dom::document;
use crate::web::{change, of, read, this_element};
use crate::wire::{Answer, Asker, Request, ScriptError};

/// A requested script.
pub(crate) struct Pending {
    script: NodeId,
    /// `None` until the response has arrived or failed.
    content: RefCell<Option<Content>>,
}

enum Content {
    Classic { text: String, name: String },
    Module(Module),
    None,
}

impl Pending {
    fn new(script: NodeId) -> Rc<Self> {
        Rc::new(Self { script, content: RefCell::new(None) })
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.content.borrow().is_some()
    }
}

/// Permissions of a running script.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// It may write into the document, since the parser waits for it.
    may_write: bool,
}

impl Turn {
    /// A script that nothing waits for.
    pub(crate) fn of_list() -> Self {
        Self { may_write: false }
    }
}

/// The type of a `<script>`, by its `type` and `language` (HTML §4.12.1.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Classic,
    Module,
    ImportMap,
    Data,
}

/// The attributes of a script.
struct ScriptAttributes {
    kind: Kind,
    src: Option<String>,
    text: String,
    is_async: bool,
    is_deferred: bool,
    /// It does not apply here: `nomodule`, or a legacy `event` attribute.
    is_for_others: bool,
}

const SCRIPT: &[bind::Attribute] = &[(
    "async",
    |this, _, context| {
        let script = this_element(this, context)?;
        Ok(read(context, |tree| is_async(tree, script)).into())
    },
    Some(|this, args, context| {
        let script = this_element(this, context)?;
        let wanted = args.first().is_some_and(JsValue::to_boolean);
        if let Some(state) = of(context).borrow_mut().tree.state_mut(script) {
            state.is_ordered = true;
        }
        change(context, |tree| match wanted {
            true => tree.set_attribute(script, "async", ""),
            false => {
                tree.remove_attribute(script, "async");
                Ok(())
            }
        })?;
        Ok(JsValue::undefined())
    }),
)];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = bind::prototype("HTMLScriptElement", context)?;
    bind::attributes(&prototype, SCRIPT, context)?;
    let constructor = prototype.get(boa_engine::js_string!("constructor"), context)?;
    let supports: bind::Method = ("supports", 1, |_, args, context| {
        let kind = bind::text(args, 0, context)?;
        Ok(matches!(kind.as_str(), "classic" | "module" | "importmap").into())
    });
    match constructor.as_object() {
        Some(constructor) => bind::methods(&constructor, &[supports], context),
        None => Ok(()),
    }
}

/// Whether a script runs as soon as it has loaded ("force async", HTML §4.12.1): the default for one created by a script.
fn is_async(tree: &Tree, script: NodeId) -> bool {
    tree.element(script).is_some_and(|element| {
        element.attribute(&local_name!("async")).is_some()
            || !(element.state.is_ordered || element.state.parser_inserted)
    })
}

/// Whether a script in the document was not prepared yet.
pub(crate) fn is_waiting(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| {
        element.is_html(&local_name!("script")) && !element.state.already_started && !element.state.parser_inserted
    })
}

fn kind_of(tree: &Tree, script: NodeId) -> Kind {
    let kind = tree.attribute(script, &local_name!("type"));
    let kind = match (kind, tree.attribute(script, &local_name!("language"))) {
        (Some(""), _) | (None, None | Some("")) => return Kind::Classic,
        (Some(kind), _) => kind.trim().to_ascii_lowercase(),
        (None, Some(language)) => format!("text/{}", language.to_ascii_lowercase()),
    };
    match kind.as_str() {
        "module" => Kind::Module,
        "importmap" => Kind::ImportMap,
        kind if JAVASCRIPT.contains(&kind) => Kind::Classic,
        _ => Kind::Data,
    }
}

/// The JavaScript MIME types (MIME Sniffing §4.6).
const JAVASCRIPT: &[&str] = &[
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

fn told(tree: &Tree, script: NodeId) -> ScriptAttributes {
    let attribute = |name| tree.attribute(script, &name);
    let kind = kind_of(tree, script);
    let is_of_onload = match (attribute(local_name!("for")), attribute(local_name!("event"))) {
        (Some(target), Some(event)) => {
            let event = event.trim().to_ascii_lowercase();
            target.trim().eq_ignore_ascii_case("window") && (event == "onload" || event == "onload()")
        }
        _ => true,
    };
    ScriptAttributes {
        kind,
        src: attribute(local_name!("src")).map(str::to_owned),
        text: tree.child_text(script),
        is_async: is_async(tree, script),
        is_deferred: attribute(local_name!("defer")).is_some(),
        is_for_others: kind == Kind::Classic && (attribute(local_name!("nomodule")).is_some() || !is_of_onload),
    }
}

/// "Prepare the script element" (HTML §4.12.1.1).
/// `start` is the position of an inline script in the page's markup, if known.
pub(crate) fn prepare(script: NodeId, by_parser: bool, start: Option<Beginning>, context: &mut Context) {
    // A closed window runs nothing, nor does one whose frame forbids scripts.
    let has_scripting = |tree: &Tree| tree.document_data(tree.document_of(script)).is_some_and(|data| data.scripting);
    if !realm::is_open(context) || !read(context, has_scripting) {
        return;
    }
    let told = read(context, |tree| told(tree, script));
    let is_empty = told.src.is_none() && told.text.is_empty();
    if is_empty || told.kind == Kind::Data {
        // If it is filled later, it no longer counts as parser-inserted.
        if let Some(state) = of(context).borrow_mut().tree.state_mut(script) {
            (state.parser_inserted, state.is_ordered) = (false, state.is_ordered || by_parser && !told.is_async);
        }
        return;
    }
    if let Some(state) = of(context).borrow_mut().tree.state_mut(script) {
        state.already_started = true;
    }
    if told.is_for_others {
        return;
    }
    match (told.kind, told.src.as_deref()) {
        (Kind::Data, _) => {}
        (Kind::ImportMap, Some(_)) => fire_later(script, "error", context),
        (Kind::ImportMap, None) => import_map(&told.text, context),
        (Kind::Classic, None) => run_inline(script, &told.text, start, context),
        (kind, src) => {
            let address = match src {
                None => None,
                Some(src) => match resolve(script, src, context) {
                    Some(address) => Some(address),
                    None => return fire_later(script, "error", context),
                },
            };
            fetch(script, kind, address.ok_or(start), &told, by_parser, context);
        }
    }
}

/// Requests a script and adds it to the list from which it will run.
fn fetch(
    script: NodeId,
    kind: Kind,
    address: Result<Url, Option<Beginning>>,
    told: &ScriptAttributes,
    by_parser: bool,
    context: &mut Context,
) {
    let pending = Pending::new(script);
    let blocks = by_parser && kind == Kind::Classic && !told.is_async && !told.is_deferred;
    let state = loading(context);
    if blocks && let Ok(address) = address {
        if state.borrow().current.is_some() {
            // In written text: the parser stops, and the script that wrote it continues.
            state.borrow_mut().blocking = Some(script);
        } else {
            run_blocking(script, &address, context);
        }
        return;
    }
    let turn = if by_parser && !told.is_async {
        state.borrow_mut().deferred.push_back(Rc::clone(&pending));
        When::InList
    } else if !told.is_async {
        state.borrow_mut().ordered.push_back(Rc::clone(&pending));
        When::InList
    } else {
        load::delay(context);
        When::Fetched
    };
    let done = move |content: Content, context: &mut Context| {
        *pending.content.borrow_mut() = Some(content);
        match turn {
            When::InList => load::advance(context),
            When::Fetched => {
                jobs::outside(context, |context| run(&pending, Turn::of_list(), context));
                load::undelay(context);
            }
        }
    };
    match (kind, address) {
        (Kind::Module, address) => {
            let source = match address {
                Ok(address) => modules::From::Address(address),
                Err(start) => modules::From::Text(told.text.clone(), start),
            };
            modules::prepare(source, context, move |module, context| {
                done(module.map_or(Content::None, Content::Module), context);
            });
        }
        (_, Ok(address)) => {
            engine::request(request(Asker::Script, &address), context, move |answer, context| {
                let content = read(context, |tree| classic(tree, script, answer));
                done(content, context);
                Ok(())
            });
        }
        (_, Err(_)) => {}
    }
}

/// When a requested script runs.
#[derive(Clone, Copy)]
enum When {
    /// In the order of its list.
    InList,
    /// As soon as it has loaded.
    Fetched,
}

/// Fetches the script that the parser waits for, and runs it.
pub(crate) fn run_blocking(script: NodeId, address: &Url, context: &mut Context) {
    let answer = engine::request_and_wait(request(Asker::Script, address), context);
    let content = read(context, |tree| classic(tree, script, answer));
    let pending = Pending { script, content: RefCell::new(Some(content)) };
    run(&pending, Turn { may_write: true }, context);
}

/// The URL of the script in written text that the parser waits for.
pub(crate) fn address_of(script: NodeId, context: &Context) -> Option<Url> {
    let src = read(context, |tree| tree.attribute(script, &local_name!("src")).map(str::to_owned))?;
    resolve(script, &src, context)
}

pub(crate) fn request(asker: Asker, address: &Url) -> Request {
    Request {
        asker,
        method: "GET".to_owned(),
        url: address.to_string(),
        headers: Vec::new(),
        credentials: true,
        body: Vec::new(),
    }
}

/// A URL resolved in the document, without its fragment.
pub(crate) fn resolve(node: NodeId, text: &str, context: &Context) -> Option<Url> {
    let mut url = document::base_url(node, context).join(text.trim()).ok().filter(|_| !text.trim().is_empty())?;
    url.set_fragment(None);
    Some(url)
}

fn import_map(text: &str, context: &mut Context) {
    if let Err(message) = engine::add_import_map(text, context) {
        let error = ScriptError { message, source: String::new(), line: 0, column: 0 };
        page::of(context).borrow_mut().fault(error);
    }
}

/// The content of a classic script from its response: its text, in the encoding of the response or the element, or else UTF-8.
fn classic(tree: &Tree, script: NodeId, answer: Answer) -> Content {
    match answer {
        Ok(response) if (200..300).contains(&response.status) => {
            let kind = response.header("content-type").map(str::to_ascii_lowercase);
            let label = kind.as_deref().and_then(|kind| kind.split_once("charset=")).map(|(_, set)| set);
            let label = label.or_else(|| tree.attribute(script, &local_name!("charset")));
            let label = label.and_then(|label| label.split(';').next()).map(|label| label.trim_matches(['"', ' ']));
            let encoding = label.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
            let (text, ..) = encoding.unwrap_or(encoding_rs::UTF_8).decode(&response.body);
            Content::Classic { text: text.into_owned(), name: response.url }
        }
        _ => Content::None,
    }
}

/// "Execute the script element" (HTML §4.12.1.1), once.
pub(crate) fn run(pending: &Pending, turn: Turn, context: &mut Context) {
    let script = pending.script;
    let content = pending.content.borrow_mut().take().filter(|_| realm::is_open(context));
    match content {
        None => {}
        Some(Content::None) => fire_at(script, "error", false, context),
        Some(Content::Classic { text, name }) => {
            run_classic(script, &text, name.as_str().into(), turn, context);
            fire_at(script, "load", false, context);
        }
        Some(Content::Module(module)) => {
            let state = loading(context);
            let before = state.borrow_mut().current.take();
            jobs::enter(context, |context| {
                module.link(context)?;
                let promise = module.evaluate(context)?;
                modules::tell(&promise, context)
            });
            state.borrow_mut().current = before;
            fire_at(script, "load", false, context);
        }
    }
}

/// Runs an inline script: part of the page's markup, or created by the running script or by an unknown one.
fn run_inline(script: NodeId, text: &str, start: Option<Beginning>, context: &mut Context) {
    let by = if start.is_some() { None } else { report::evaluated("<script>", context) };
    let name = by.unwrap_or_else(|| realm::address(context).to_string());
    run_classic(script, text, Origin { name: &name, start }, Turn { may_write: true }, context);
}

/// Runs a classic script as the document's current one.
fn run_classic(script: NodeId, text: &str, origin: Origin<'_>, turn: Turn, context: &mut Context) {
    let state = loading(context);
    let in_shadow = read(context, |tree| tree.containing_shadow_root(script).is_some());
    let before = std::mem::replace(&mut state.borrow_mut().current, (!in_shadow).then_some(script));
    state.borrow_mut().no_writes += u32::from(!turn.may_write);
    engine::run_script(text, origin, context);
    let mut state = state.borrow_mut();
    state.current = before;
    state.no_writes -= u32::from(!turn.may_write);
}

fn fire_later(node: NodeId, kind: &'static str, context: &mut Context) {
    jobs::post(context, 0, move |context| {
        jobs::outside(context, |context| fire_at(node, kind, false, context));
        Ok(())
    });
}
