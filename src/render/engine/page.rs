//! State of one page that its scripts share besides their heap: console, errors, network access.
//!
//! Native functions reach it through the context (`page::of`). It never holds a borrow while a script runs.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use boa_engine::Context;
use boa_engine::context::time::{Clock, JsInstant};

use super::faults::Faults;
use super::heard::Heard;
use super::kept::EngineCache;
use super::net::Net;
use super::trace::{self, Trace};
use crate::limits;
use crate::wire::trace::What;
use crate::wire::{Answer, ConsoleLine, RequestId, Response, ScriptError, Spent};

/// State of one page, shared by all its natives.
pub struct Page {
    pub console: Vec<ConsoleLine>,
    pub errors: Vec<ScriptError>,
    /// Lines and errors beyond the caps, which are only counted.
    pub untold: u64,
    pub(super) net: Box<dyn Net>,
    clock: Rc<VirtualClock>,
    /// The trace, if requested.
    pub trace: Option<Trace>,
    /// Depth of running scripts: microtasks run when it is zero.
    pub(super) depth: u32,
    pub(super) spent: Option<Spent>,
    /// `Set-Cookie` headers received since they were last taken.
    pub cookies_received: Vec<String>,
    /// Hashes of the URLs that returned torrents, which the crawl treats as links of the page.
    torrents: HashSet<u64>,
    /// The URLs themselves, in order.
    torrents_at: Vec<String>,
    pub faults: Faults,
    pub heard: Heard,
    /// While set, requests that may change something are not sent; and their number.
    pub sends_gets_only: bool,
    pub unsent: u64,
    /// Number of sent requests that may change something.
    pub posted: u64,
    random: u64,
    /// Cached scripts of earlier pages.
    pub(super) kept: EngineCache,
}

/// The natives' handle of the page.
pub type SharedPage = Rc<RefCell<Page>>;

impl Page {
    pub(super) fn new(net: Box<dyn Net>, clock: Rc<VirtualClock>, seed: u64) -> Self {
        Self {
            console: Vec::new(),
            errors: Vec::new(),
            untold: 0,
            net,
            clock,
            trace: None,
            depth: 0,
            spent: None,
            cookies_received: Vec::new(),
            torrents: HashSet::new(),
            torrents_at: Vec::new(),
            faults: Faults::default(),
            heard: Heard::default(),
            sends_gets_only: false,
            unsent: 0,
            posted: 0,
            random: seed,
            kept: EngineCache::default(),
        }
    }

    /// Passes a cookie that a script set to the crawl, in the syntax of `Set-Cookie`.
    pub fn tell_cookie(&mut self, text: &str) {
        self.net.cookie(text);
    }

    /// Reports to the crawl that the page's reader continues.
    pub fn tell_alive(&mut self) {
        self.net.alive();
    }

    /// A response arrived: stores its cookies until they are taken.
    pub(super) fn answered(&mut self, id: RequestId, answer: &Answer) {
        self.note(|| trace::of_answer(id, answer));
        self.faults.answered(id, answer);
        self.heard.answered(id, answer);
        let Ok(response) = answer else { return };
        if response.status == 200 && is_torrent(response) && self.torrents.len() < limits::RENDER_NAVIGATIONS_MAX {
            let is_new = self.torrents.insert(xxhash_rust::xxh3::xxh3_64(response.url.as_bytes()));
            self.torrents_at.extend(is_new.then(|| response.url.clone()));
        }
        let set = response.headers.iter().filter(|(name, _)| name == "set-cookie").map(|(_, value)| value);
        let room = limits::COOKIES_PER_SITE_MAX.saturating_sub(self.cookies_received.len());
        self.cookies_received.extend(set.take(room).cloned());
    }

    /// Number of URLs that returned torrents to the page's scripts.
    pub fn torrents(&self) -> usize {
        self.torrents.len()
    }

    /// Those of them after the first `many`.
    pub fn torrents_since(&self, many: usize) -> Vec<String> {
        self.torrents_at.get(many..).map(<[String]>::to_vec).unwrap_or_default()
    }

    /// Why the page's scripts run no more; `None` while they run.
    pub fn spent(&self) -> Option<Spent> {
        self.spent
    }

    /// Records an event, if a trace is requested.
    pub fn note(&mut self, what: impl FnOnce() -> What) {
        if let Some(trace) = &mut self.trace {
            trace.note(self.clock.now_us(), what());
        }
    }

    /// Stores a console line, cut to its cap; beyond the cap of lines it is only counted.
    pub(super) fn tell(&mut self, level: &str, text: &str) {
        if self.console.len() < limits::CONSOLE_LINES_MAX {
            let text = cut(text, limits::CONSOLE_LINE_BYTES_MAX).to_owned();
            self.console.push(ConsoleLine { level: level.to_owned(), text });
        } else {
            self.untold += 1;
        }
    }

    /// Stores an error; beyond the cap it is only counted.
    pub fn fault(&mut self, mut error: ScriptError) {
        if self.errors.len() < limits::SCRIPT_ERRORS_MAX {
            error.message.truncate(cut(&error.message, limits::CONSOLE_LINE_BYTES_MAX).len());
            self.note(|| What::Error(error.clone()));
            self.errors.push(error);
        } else {
            self.untold += 1;
        }
    }

    /// Next number of the page's sequence (SplitMix64): the same page with the same seed runs the same way. It is predictable, so no
    /// secret may depend on it.
    pub(super) fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Whether a response is a torrent for the reader's purposes: by its type, or by the usual beginning of torrent files. The crawl judges
/// what it accepts.
fn is_torrent(response: &Response) -> bool {
    let kind = response.header("content-type").unwrap_or_default();
    let begins =
        [&b"d8:announce"[..], b"d13:announce-list", b"d4:info", b"d10:created by", b"d7:comment", b"d13:creation date"];
    kind.trim_start().to_ascii_lowercase().starts_with("application/x-bittorrent")
        || begins.iter().any(|begin| response.body.starts_with(begin))
}

thread_local! {
    /// The place and message of the last panic of a page's thread.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Stores the message of a panic for the page of this thread, whose engine it ends.
pub fn note_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(|at| format!("{}:{}: ", at.file(), at.line())).unwrap_or_default();
    let words = panic.payload_as_str().unwrap_or_default();
    let told = format!("{place}{}", cut(words, limits::CONSOLE_LINE_BYTES_MAX));
    PANIC.set(Some(told));
}

/// The error that a page reports for a panic of the engine.
pub(super) fn panicked() -> ScriptError {
    let place = PANIC.take().map(|place| format!(" ({place})")).unwrap_or_default();
    let message = format!("the script engine failed through a bug in gleaner, not through the page{place}");
    ScriptError { message, source: String::new(), line: 0, column: 0 }
}

/// The longest prefix of `text` that has at most `bytes` bytes and ends at a character boundary.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The page of a context.
///
/// # Panics
/// On a context that `Engine::new` did not make.
pub fn of(context: &Context) -> SharedPage {
    Rc::clone(context.get_data::<SharedPage>().expect("Engine::new gives each context its page"))
}

/// The page's clock. It stops while scripts run, except for a small step at each read, so that a script that polls it terminates. It
/// moves on to the next timer when no other work is left.
pub struct VirtualClock {
    /// Milliseconds since 1970 at which the page started.
    origin_ms: i64,
    /// Microseconds since the page started.
    now_us: Cell<u64>,
}

/// Step of the clock at each read.
const LOOK_US: u64 = 5;

impl VirtualClock {
    pub(super) fn new(origin_ms: i64) -> Self {
        Self { origin_ms, now_us: Cell::new(0) }
    }

    /// Milliseconds since 1970 at which the page started.
    pub(super) fn origin_ms(&self) -> i64 {
        self.origin_ms
    }

    /// Microseconds since the page started.
    pub fn now_us(&self) -> u64 {
        self.now_us.get()
    }

    /// The time as a script sees it, in microseconds since the page started.
    pub(super) fn look_us(&self) -> u64 {
        self.now_us.set(self.now_us.get() + LOOK_US);
        self.now_us.get()
    }

    /// Moves on to `us`, never back.
    pub(super) fn advance(&self, us: u64) {
        self.now_us.set(self.now_us.get().max(us));
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> JsInstant {
        let us = self.look_us();
        JsInstant::new(us / 1_000_000, u32::try_from(us % 1_000_000).unwrap_or(0) * 1_000)
    }

    fn system_time_millis(&self) -> i64 {
        self.origin_ms.saturating_add(i64::try_from(self.look_us() / 1_000).unwrap_or(i64::MAX))
    }
}
