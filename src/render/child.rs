//! The child process of the renderer: `gleaner __render` reads pages from standard input, runs each on its own thread, and writes the
//! outcomes to standard output.
//!
//! Before the first page it drops what it will not need: seccomp blocks files, sockets and other processes, and kernel limits bound
//! memory and time. A page's thread drops the engine's heap when it ends, so memory does not grow from page to page; the outcome is sent
//! before that. A page that is held open is its child's last. The child reads no clock and opens nothing.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::process::ExitCode;

use url::Url;

use super::confine;
use super::cost::{self, Of};
use super::engine::Start;
use super::engine::kept::{Carried, EngineCache};
use super::engine::trace::Trace;
use crate::engine::net::Net;
use crate::engine::page;
use crate::web::html::load::{Setting, Window};
use crate::wire::protocol::{self, FrameError, PREFIX_BYTES, ToChild, ToCrawl};
use crate::wire::{
    Answer, End, Filling, Outcome, Page, Request, RequestId, ScriptError, ScriptKind, Spent, check_request,
};
use crate::{limits, reader};

/// Why the child ends before its input does.
#[derive(Debug, thiserror::Error)]
enum ChildError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("a page's thread broke down")]
    Thread,
}

/// Reads pages until the input ends.
#[must_use]
pub fn main() -> ExitCode {
    // The outcome reports a panic of the engine. Its text is not printed: a script can make it as long as it likes.
    std::panic::set_hook(Box::new(page::note_panic));
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Both ends of the connection to the crawl.
struct Wire {
    input: File,
    output: File,
    /// Requests of the page that were sent and are not answered yet.
    asked: usize,
}

impl Wire {
    fn send(&mut self, head: &ToCrawl, body: &[u8]) -> Result<(), ChildError> {
        Ok(self.output.write_all(&protocol::frame(head, body)?)?)
    }

    fn done(&mut self, mut outcome: Outcome) -> Result<(), ChildError> {
        let html = std::mem::take(&mut outcome.html);
        let mut head = ToCrawl::Done { outcome: Box::new(outcome) };
        let mut frame = protocol::outcome_frame(&head, html.as_bytes());
        if let (Err(FrameError::Long(_)), ToCrawl::Done { outcome }) = (&frame, &mut head) {
            // The trace and the text are for people; the rest of the outcome matters more.
            outcome.trace_untold += std::mem::take(&mut outcome.trace).len() as u64;
            outcome.text = String::new();
            frame = protocol::outcome_frame(&head, html.as_bytes());
        }
        Ok(self.output.write_all(&frame?)?)
    }

    /// The next frame, `None` at the end of the input.
    fn receive(&mut self) -> Result<Option<ToChild>, ChildError> {
        let mut prefix = [0; PREFIX_BYTES];
        match self.input.read_exact(&mut prefix) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let (head_bytes, body_bytes) = protocol::lengths(prefix)?;
        let (mut head, mut body) = (vec![0; head_bytes], vec![0; body_bytes]);
        self.input.read_exact(&mut head)?;
        self.input.read_exact(&mut body)?;
        let mut frame = protocol::head(&head)?;
        match &mut frame {
            // Requests of the page before are void.
            ToChild::Page(page) => (page.texts, self.asked) = (body, 0),
            ToChild::Fill(filling) => (filling.texts, self.asked) = (body.into(), 0),
            ToChild::Answer { answer, .. } => {
                self.asked = self.asked.saturating_sub(1);
                if let Ok(response) = answer {
                    response.body = body;
                }
            }
        }
        Ok(Some(frame))
    }
}

/// Variable of a child that runs pages though the kernel does not confine it.
pub(super) const MAY_BE_UNCONFINED: &str = "GLEANER_RENDER_UNCONFINED";

fn serve() -> Result<(), ChildError> {
    confine::bound_resources()?;
    let confined = confine::give_up_system_calls();
    // SAFETY: the process's own standard streams, which nobody else here uses.
    let mut wire = unsafe { Wire { input: File::from_raw_fd(0), output: File::from_raw_fd(1), asked: 0 } };
    wire.send(&ToCrawl::Hello { confined }, &[])?;
    if !confined && std::env::var_os(MAY_BE_UNCONFINED).is_none() {
        // The crawl ends this process once it has read that; no page is run until then.
        std::io::copy(&mut wire.input, &mut std::io::sink())?;
        return Ok(());
    }
    // The cost of clearing a page away is reported with the next one.
    let mut told_us = cost::cpu_us(Of::Process)?;
    // SAFETY: no thread has held it yet.
    let mut kept = unsafe { Carried::new(EngineCache::default()) };
    while let Some(frame) = wire.receive()? {
        // Ignores responses that arrive after the end of their page, and fillings without a page.
        let ToChild::Page(page) = frame else { continue };
        confine::grant_cpu_time(page.cpu_seconds.min(limits::RENDER_CPU_SECONDS_MAX))?;
        let thread = std::thread::Builder::new().stack_size(limits::RENDER_STACK_BYTES);
        let ended =
            thread.spawn(move || run_page(&page, wire, kept, told_us))?.join().map_err(|_| ChildError::Thread)??;
        (wire, kept, told_us) = (ended.wire, ended.kept, ended.told_us);
        // The page may have left so much memory behind that not even the next one's stack would fit.
        let last = ended.is_broken || !confine::has_room(limits::RENDER_ROOM_BYTES) || !confine::has_cpu_time()?;
        wire.send(&ToCrawl::Cleared { last }, &[])?;
        if last {
            break;
        }
    }
    Ok(())
}

/// The network of a page: sends requests to the crawl as frames and receives the responses.
struct Frames {
    wire: SharedWire,
    /// Requests that wait for a free slot.
    waiting: VecDeque<(RequestId, Request)>,
    /// Requests that the crawl would take for a protocol violation, and why.
    refused: VecDeque<(RequestId, &'static str)>,
    /// Cookies that scripts have set.
    cookies: usize,
    /// CPU time of the page at the last `Alive` frame, in microseconds.
    alive_us: u64,
}

impl Frames {
    fn send(&self, head: &ToCrawl, body: &[u8]) {
        let mut wire = self.wire.borrow_mut();
        if !matches!(wire.as_mut().map(|wire| wire.send(head, body)), Some(Ok(()))) {
            leave();
        }
    }

    /// Sends queued requests up to the limit of unanswered ones. The child does not read while it writes, so more of them could fill both
    /// pipes and block.
    fn send_waiting(&mut self) {
        while self.wire.borrow().as_ref().is_some_and(|wire| wire.asked < limits::RENDER_REQUESTS_AT_ONCE_MAX) {
            let Some((id, mut request)) = self.waiting.pop_front() else { return };
            let body = std::mem::take(&mut request.body);
            self.send(&ToCrawl::Request { id, request }, &body);
            if let Some(wire) = self.wire.borrow_mut().as_mut() {
                wire.asked += 1;
            }
        }
    }
}

impl Net for Frames {
    fn start(&mut self, id: RequestId, request: Request) {
        match check_request(&request, request.body.len()) {
            Ok(()) => self.waiting.push_back((id, request)),
            Err(why) => self.refused.push_back((id, why)),
        }
        self.send_waiting();
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        if let Some((id, why)) = self.refused.pop_front() {
            return (id, Err(why.to_owned()));
        }
        self.send_waiting();
        let received = self.wire.borrow_mut().as_mut().map(Wire::receive);
        match received {
            Some(Ok(Some(ToChild::Answer { id, answer }))) => {
                self.send_waiting();
                (id, answer)
            }
            _ => leave(),
        }
    }

    fn cookie(&mut self, text: &str) {
        self.cookies += 1;
        if self.cookies <= limits::RENDER_COOKIES_SET_MAX && text.len() <= limits::RENDER_HEADERS_BYTES_MAX {
            self.send(&ToCrawl::Cookie { text: text.to_owned() }, &[]);
        }
    }

    fn alive(&mut self) {
        let Ok(now) = cost::cpu_us(Of::Thread) else { return };
        if now.saturating_sub(self.alive_us) >= limits::RENDER_ALIVE_EVERY_US {
            self.alive_us = now;
            self.send(&ToCrawl::Alive, &[]);
        }
    }
}

/// Ends the process: the crawl has closed its end, so there is nothing to finish.
fn leave() -> ! {
    std::process::exit(1)
}

type SharedWire = std::rc::Rc<std::cell::RefCell<Option<Wire>>>;

/// What a page's thread returns.
struct Ended {
    wire: Wire,
    kept: Carried,
    /// CPU time of the process that is already reported, in microseconds.
    told_us: u64,
    /// Part of the page could not be dropped.
    is_broken: bool,
}

/// Runs a page, sends its outcome, and then clears it away.
fn run_page(page: &Page, wire: Wire, kept: Carried, told_us: u64) -> Result<Ended, ChildError> {
    let wire: SharedWire = std::rc::Rc::new(std::cell::RefCell::new(Some(wire)));
    let (mut outcome, window) = outcome_of(page, kept.open(), &wire);
    let is_broken = outcome.spent == Some(Spent::Panicked);
    let now_us = cost::cpu_us(Of::Process)?;
    outcome.cpu_us = now_us.saturating_sub(told_us);
    wire.borrow_mut().as_mut().ok_or(ChildError::Thread)?.done(outcome)?;
    // SAFETY: it is opened after the join of this thread, or dropped.
    let kept = unsafe { Carried::new(window.map(|window| window.engine.end()).unwrap_or_default()) };
    let wire = wire.take().ok_or(ChildError::Thread)?;
    Ok(Ended { wire, kept, told_us: now_us, is_broken })
}

/// Loads a page, runs its event loop, then its reader. Returns the outcome and the window that is still to be cleared away.
fn outcome_of(page: &Page, kept: EngineCache, wire: &SharedWire) -> (Outcome, Option<Window>) {
    let url = Url::parse(&page.url).or_else(|_| Url::parse("about:blank"));
    let Ok(url) = url else { return (Outcome::default(), None) };
    let start = Start { url, now_ms: page.now_ms, seed: page.seed, instructions: page.instructions };
    let (viewport, referrer, cookies) = (page.viewport, page.referrer.clone(), page.cookies.clone());
    let setting = Setting { viewport, referrer, cookies, stored: page.stored.clone() };
    let (waiting, refused) = (VecDeque::new(), VecDeque::new());
    let net = Box::new(Frames { wire: std::rc::Rc::clone(wire), waiting, refused, cookies: 0, alive_us: 0 });
    let Ok(mut window) = Window::open_behind(kept, &start, &setting, net) else {
        return (Outcome { spent: Some(Spent::Panicked), ..Outcome::default() }, None);
    };
    window.engine.page().borrow_mut().trace = page.wanted.trace.then(Trace::default);
    let mut end = window.load(&page.markup(), page.reach);
    let mut value = String::new();
    if !page.scripts.is_empty() {
        for (kind, name, text) in page.scripts() {
            if let Some(given) = run_script(&mut window, kind, name, &text) {
                value = given;
            }
        }
        end = window.engine.run(page.reach);
    }
    let told = reader::read_page(&mut window, &page.acts, page.seeks, page.reach);
    let outcome = Outcome {
        value,
        states: told.states,
        undone: told.undone,
        cut: told.cut,
        unshown: told.unshown,
        ..told_of(&mut window, page, end)
    };
    if page.held && outcome.spent != Some(Spent::Panicked) {
        hold(&mut window, page, outcome, wire);
    }
    (outcome, Some(window))
}

/// The outcome of the page so far.
fn told_of(window: &mut Window, page: &Page, end: End) -> Outcome {
    // Natives that the child itself calls must not fail because a script used up the budget, so the document is serialised directly.
    let html = if page.held { window.marked_html() } else { window.html() };
    let (navigations, stored) = (window.navigations(), window.stored());
    let text = if page.wanted.text { window.shown_text() } else { String::new() };
    let missing = window.missing();
    let mut state = window.engine.page().borrow_mut();
    let Trace { events, untold } = state.trace.take().unwrap_or_default();
    Outcome {
        end: Some(end),
        spent: state.spent(),
        console: state.console.clone(),
        errors: state.errors.clone(),
        missing,
        untold: state.untold,
        instructions: page.instructions.saturating_sub(window.engine.instructions_left()),
        navigations,
        stored,
        trace: events,
        trace_untold: untold,
        text,
        cpu_us: 0,
        html,
        ..Outcome::default()
    }
}

/// Sends the outcome of a page that is held open, then the outcome of each filling, until the crawl closes the pipe. The process ends
/// then, and with it the secrets that were typed into the page.
fn hold(window: &mut Window, page: &Page, mut outcome: Outcome, wire: &SharedWire) -> ! {
    loop {
        if !matches!(wire.borrow_mut().as_mut().map(|wire| wire.done(outcome)), Some(Ok(()))) {
            leave();
        }
        let Some(filling) = next_filling(wire) else { leave() };
        let (end, unfilled) = window.fill(&filling, page.reach);
        outcome = Outcome { unfilled, ..told_of(window, page, end) };
    }
}

/// The next filling. Responses that arrive after the end of a run are ignored.
fn next_filling(wire: &SharedWire) -> Option<Filling> {
    loop {
        match wire.borrow_mut().as_mut()?.receive() {
            Ok(Some(ToChild::Fill(filling))) => return Some(filling),
            Ok(Some(ToChild::Answer { .. })) => {}
            _ => return None,
        }
    }
}

/// Runs a script after the page's own. Returns the value of a classic script as text.
fn run_script(window: &mut Window, kind: ScriptKind, name: &str, text: &str) -> Option<String> {
    let engine = &mut window.engine;
    match kind {
        ScriptKind::Classic => {
            let given = engine.evaluate(text, name)?;
            return engine.text_of(&given);
        }
        ScriptKind::Module => engine.module(text),
        ScriptKind::ImportMap => {
            if let Err(message) = engine.import_map(text) {
                let (source, line, column) = (name.to_owned(), 0, 0);
                engine.page().borrow_mut().fault(ScriptError { message, source, line, column });
            }
        }
    }
    None
}
