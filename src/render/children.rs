//! The crawl's side of rendering: a few child processes that run pages. They are started on demand, reused for several pages, ended when
//! they stall, and replaced when they die.
//!
//! A page that kills its child or never ends costs only that page. Each request of a script goes to the caller, who answers it through
//! the crawl's gate or refuses it. A page's scripts may have taken over their child: its frames are bounded in count and bytes, a child
//! that exceeds a bound is ended, and it never gets a page of another site. This module never parses a page.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child as Process, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::child::MAY_BE_UNCONFINED;
use super::ends::{PageEnds, RENDERED};
use super::places::{Places, Slot};
use super::{cost, epitaph};
use crate::limits;
use crate::wire::protocol::{self, FrameError, ToChild, ToCrawl};
use crate::wire::{Answer, Filling, Outcome, Page, Request, RequestId, check_request};

/// Why a page has no outcome. The next page is not affected.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("the render process cannot be started: {0}")]
    Spawn(io::Error),
    #[error("the render process died of {0}")]
    Died(String),
    #[error("the page did not finish within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error(
        "the page's scripts did not respond for {} s: most likely one call does not end, such as a regular expression",
        .0.as_secs()
    )]
    Silent(Duration),
    #[error(
        "the kernel cannot confine the process of scripts (seccomp), so none was run (hint: `require_confinement = false` in `[render]` of \
         gleaner.toml runs them with limits of memory and time alone)"
    )]
    Unconfined,
    #[error("the render process broke the protocol: {0}")]
    Frame(#[from] FrameError),
    #[error("the render process broke the protocol: a frame out of turn")]
    Turn,
}

impl ChildError {
    /// In a word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Spawn(_) => "not_started",
            Self::Died(_) => "died",
            Self::TimedOut(_) => "timed_out",
            Self::Silent(_) => "silent",
            Self::Unconfined => "unconfined",
            Self::Frame(_) | Self::Turn => "protocol_error",
        }
    }
}

/// A response on its way to the child.
pub struct Reply {
    pub answer: Answer,
    /// Replaces the response's own body: shared bytes that keep their part of a memory allowance until the child has them.
    pub body: Option<Bytes>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, body: None }
    }
}

impl Reply {
    /// The response with its body.
    pub fn into_answer(self) -> Answer {
        let Self { mut answer, body } = self;
        if let (Ok(response), Some(body)) = (&mut answer, body) {
            response.body = body.into();
        }
        answer
    }
}

/// Answers the requests of a page's scripts.
pub trait Host: Sync {
    /// The page's site: no child runs pages of two sites.
    fn site(&self) -> &str {
        ""
    }

    /// The response to a request, or why there is none.
    fn answer(&self, request: Request) -> impl Future<Output = Answer> + Send;

    /// Like `answer`, for the child; the body may be held by a memory allowance.
    fn reply(&self, request: Request) -> impl Future<Output = Reply> + Send {
        async { self.answer(request).await.into() }
    }

    /// A script set a cookie, in the syntax of `Set-Cookie`: it is sent with later requests.
    fn cookie(&self, _text: &str) {}
}

/// A function that answers requests and ignores cookies.
impl<F, A> Host for F
where
    F: Fn(Request) -> A + Sync,
    A: Future<Output = Answer> + Send,
{
    fn answer(&self, request: Request) -> impl Future<Output = Answer> + Send {
        self(request)
    }
}

/// When a child last sent or took something, and the CPU time it had used by then.
struct Heard {
    at: Instant,
    cpu: Duration,
}

impl Heard {
    fn now(child: u32) -> Self {
        Self { at: Instant::now(), cpu: cost::cpu_of(child).unwrap_or_default() }
    }

    /// Whether the child has worked since `before`, and a busy machine gave it less than half of this time.
    fn was_kept_waiting(&self, before: &Self, silence: Duration) -> bool {
        let used = self.cpu.saturating_sub(before.cpu);
        !used.is_zero() && used * 2 < silence
    }
}

/// How children are started and bounded.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Children at a time; each runs a page, or waits for another page of its site.
    pub children: usize,
    /// Pages of one site at a time.
    pub per_site: usize,
    /// Pages that one child runs in its life.
    pub pages: u32,
    /// Wall-clock time of one page, including the time spent waiting for responses.
    pub wall: Duration,
    /// Time a child may stay silent while no response is due. On a busy machine it is extended while the child got less than half of it
    /// as CPU time.
    pub silence: Duration,
    /// Run no page in a child that the kernel does not confine.
    pub must_be_confined: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            children: limits::RENDER_CHILDREN_MAX,
            per_site: limits::RENDER_CHILDREN_PER_SITE_MAX,
            pages: limits::RENDER_CHILD_PAGES_MAX,
            wall: limits::RENDER_WALL_TIME,
            silence: limits::RENDER_SILENCE_TIME,
            must_be_confined: true,
        }
    }
}

/// The children of a crawl. Dropping it ends them.
pub struct Children {
    program: PathBuf,
    /// The process name that `ps` shows.
    called: OsString,
    args: Vec<OsString>,
    bounds: Bounds,
    places: Arc<Places>,
    /// Longest idle first.
    idle: Mutex<Vec<Child>>,
    started: AtomicU64,
    ends: PageEnds,
    /// The warning that children are less confined than they should be has been logged.
    told: Arc<AtomicBool>,
}

impl Children {
    /// Children that run `program` with `args`; none is started before a page needs it.
    pub fn new(program: PathBuf, args: Vec<OsString>, bounds: Bounds) -> Self {
        let places = Arc::new(Places::new(bounds.children, bounds.per_site));
        let (idle, started, told) = (Mutex::default(), AtomicU64::new(0), Arc::default());
        let called = program.clone().into();
        Self { program, called, args, bounds, places, idle, started, ends: PageEnds::default(), told }
    }

    /// Children of this very program: `gleaner __render`.
    ///
    /// # Errors
    /// When the path of the program's own file is unknown.
    pub fn of_this_program(bounds: Bounds) -> io::Result<Self> {
        // The running program, even if an upgrade has replaced or removed its file.
        let running = PathBuf::from("/proc/self/exe");
        let named = std::env::current_exe()?;
        let program = if running.exists() { running } else { named.clone() };
        Ok(Self { called: named.into(), ..Self::new(program, vec!["__render".into()], bounds) })
    }

    /// Children started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Children that run a page, or wait for another one.
    pub fn count(&self) -> usize {
        self.idle().len() + self.places.taken()
    }

    /// Pages so far by how they ended: `rendered`, or the name of an error; zeros included.
    pub fn pages_ended(&self) -> Vec<(&'static str, u64)> {
        self.ends.all()
    }

    /// Process ids of the idle children.
    pub fn idle_ids(&self) -> Vec<u32> {
        self.idle().iter().map(|child| child.process.id()).collect()
    }

    /// Runs a page in a free child, or waits for one. `host` gets each request of its scripts, a few at a time; futures that are not done
    /// when the page is are dropped.
    ///
    /// # Errors
    /// When the child dies, stalls or breaks the protocol. It is ended then, and the next page gets another.
    pub async fn run(&self, page: &Page, host: &impl Host) -> Result<Outcome, ChildError> {
        let ran = self.run_page(page, host).await;
        self.ends.count(ran.as_ref().map_or_else(ChildError::name, |_| RENDERED));
        ran
    }

    async fn run_page(&self, page: &Page, host: &impl Host) -> Result<Outcome, ChildError> {
        self.may_start()?;
        let place = self.places.take(host.site()).await.ok_or(ChildError::Turn)?;
        let frame = page_frame(page)?;
        let end = Instant::now() + self.bounds.wall;
        let mut child = match self.idle_child(host.site()).await {
            Some(child) => child,
            None => self.start(host.site())?,
        };
        let done = child.converse(frame, host, end, &self.bounds).await;
        match done {
            Ok(outcome) => {
                // A child that has run its share of pages ends now, and with it the page that it would clear away.
                if child.pipes.is_some() && child.pages < self.bounds.pages {
                    self.idle().push(child);
                }
                drop(place);
                Ok(outcome)
            }
            Err(error) => Err(child.epitaph(error).await),
        }
    }

    /// Loads a page that stays open, to be filled in. It gets a new child, which runs nothing else and ends when [`HeldPage`] is dropped:
    /// secrets that are typed into a page meet no other page.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn hold(&self, page: &Page, host: &impl Host) -> Result<(Outcome, HeldPage), ChildError> {
        self.may_start()?;
        let place = self.places.take(host.site()).await.ok_or(ChildError::Turn)?;
        let frame = page_frame(&Page { held: true, ..page.clone() })?;
        let mut held = HeldPage { child: self.start(host.site())?, bounds: self.bounds.clone(), _place: place };
        let outcome = held.converse(frame, host).await?;
        Ok((outcome, held))
    }

    /// An error if an earlier child was not confined and has to be: the next one would not be either.
    fn may_start(&self) -> Result<(), ChildError> {
        match self.bounds.must_be_confined && self.told.load(Ordering::Relaxed) {
            true => Err(ChildError::Unconfined),
            false => Ok(()),
        }
    }

    /// An idle child of the site, once it has cleared away its last page. Those that cannot take another page are ended.
    async fn idle_child(&self, site: &str) -> Option<Child> {
        loop {
            let mut child = {
                let mut idle = self.idle();
                let last = idle.iter().rposition(|child| *child.site == *site)?;
                idle.remove(last)
            };
            if child.is_cleared(&self.bounds).await {
                return Some(child);
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Child>> {
        // The list of children stays usable after a panic elsewhere.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a child for the site. If the limit is reached, it first ends an idle child of another site.
    fn start(&self, site: &str) -> Result<Child, ChildError> {
        {
            let mut idle = self.idle();
            let surplus = (idle.len() + self.places.taken()).saturating_sub(self.bounds.children).min(idle.len());
            idle.drain(..surplus);
        }
        let mut process = Command::new(&self.program)
            .arg0(&self.called)
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Signals of the terminal, such as Ctrl-C, are for the crawl alone: it may still need the response to what the page has sent.
            // The child ends when its pipe closes.
            .process_group(0)
            .env_clear()
            // The allocator reserves memory in pieces of this many KiB, not by the gigabyte: the child may not write that much.
            .env("MIMALLOC_ARENA_RESERVE", "32768")
            .envs((!self.bounds.must_be_confined).then_some((MAY_BE_UNCONFINED, "1")))
            .spawn()
            .map_err(ChildError::Spawn)?;
        self.started.fetch_add(1, Ordering::Relaxed);
        let (input, output) = (process.stdin.take(), process.stdout.take());
        // From here on dropping it ends the child.
        let (site, told) = (site.into(), Arc::clone(&self.told));
        let mut child = Child { process, site, pipes: None, read: Vec::new(), pages: 0, is_greeted: false, told };
        if let (Some(input), Some(output)) = (input, output) {
            let sender = pipe::Sender::from_owned_fd(OwnedFd::from(input)).map_err(ChildError::Spawn)?;
            let receiver = pipe::Receiver::from_owned_fd(OwnedFd::from(output)).map_err(ChildError::Spawn)?;
            child.pipes = Some((sender, receiver));
        }
        Ok(child)
    }
}

/// A page that is held open in its own child; dropping it ends both.
pub struct HeldPage {
    child: Child,
    bounds: Bounds,
    _place: Slot,
}

impl HeldPage {
    /// Fills the page in and submits it. Returns the outcome; `host` gets each request of the page's scripts.
    ///
    /// # Errors
    /// When the child dies, stalls or breaks the protocol; the page is lost then.
    pub async fn fill(&mut self, filling: &Filling, host: &impl Host) -> Result<Outcome, ChildError> {
        let frame = protocol::frame(&FillRef::Fill(filling), &filling.texts)?;
        self.converse(frame, host).await
    }

    async fn converse(&mut self, frame: Vec<u8>, host: &impl Host) -> Result<Outcome, ChildError> {
        let end = Instant::now() + self.bounds.wall;
        match self.child.converse(frame, host, end, &self.bounds).await {
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(self.child.epitaph(error).await),
        }
    }
}

/// [`ToChild::Fill`] that borrows the filling.
#[derive(serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum FillRef<'a> {
    Fill(&'a Filling),
}

fn page_frame(page: &Page) -> Result<Vec<u8>, FrameError> {
    let head = ToChild::Page(Page { texts: Vec::new(), ..page.clone() });
    protocol::frame(&head, &page.texts)
}

/// One child process; dropping it ends it.
struct Child {
    process: Process,
    /// The site whose pages it runs.
    site: Box<str>,
    pipes: Option<(pipe::Sender, pipe::Receiver)>,
    /// Bytes read that are not a whole frame yet.
    read: Vec<u8>,
    pages: u32,
    /// It has sent `Hello`, its first frame, which states whether it is confined.
    is_greeted: bool,
    told: Arc<AtomicBool>,
}

impl Drop for Child {
    fn drop(&mut self) {
        // A killed process is gone within microseconds. If the kill fails, do not wait for it.
        if self.process.kill().is_ok() {
            let _ = self.process.wait();
        }
    }
}

impl Child {
    /// Waits until the last page is cleared away, which began when its outcome was sent. False when the child takes no other page.
    async fn is_cleared(&mut self, bounds: &Bounds) -> bool {
        let Some((_, receiver)) = &mut self.pipes else { return false };
        let until = Instant::now() + bounds.silence;
        loop {
            match protocol::next_of_child(&mut self.read) {
                Ok(Some((head, _))) => {
                    return matches!(protocol::head(&head), Ok(ToCrawl::Cleared { last: false }));
                }
                Err(_) => return false,
                Ok(None) => {}
            }
            match tokio::time::timeout_at(until, receiver.read_buf(&mut self.read)).await {
                Ok(Ok(1..)) => {}
                _ => return false,
            }
        }
    }

    /// One page: its frame out, responses to its requests, its outcome in.
    async fn converse(
        &mut self,
        page: Vec<u8>,
        host: &impl Host,
        end: Instant,
        bounds: &Bounds,
    ) -> Result<Outcome, ChildError> {
        self.pages += 1;
        let (mut sender, mut receiver) = self.pipes.take().ok_or(ChildError::Turn)?;
        let mut out = Outgoing::default();
        out.frames.push_back(page.into());
        let mut requests = FuturesUnordered::new();
        let mut counts = Counts::default();
        let child = self.process.id();
        let mut heard = Heard::now(child);
        loop {
            while let Some((head, body)) = protocol::next_of_child(&mut self.read)? {
                // Frames that the child has not taken yet count too, or responses would pile up here while it is busy.
                let under_way = requests.len() + out.frames.len();
                match self.take(understood(head).await?, body, &mut counts, (under_way, bounds))? {
                    Taken::Nothing => {}
                    Taken::Request(id, request) => requests.push(async move { (id, host.reply(request).await) }),
                    Taken::Cookie(text) => host.cookie(&text),
                    Taken::Done(outcome) => {
                        // A half-written frame would make the next page unreadable.
                        if out.frames.is_empty() {
                            self.pipes = Some((sender, receiver));
                        }
                        return Ok(*outcome);
                    }
                }
            }
            let silent_until = if requests.is_empty() { heard.at + bounds.silence } else { end };
            tokio::select! {
                written = sender.write(out.rest()), if !out.frames.is_empty() => {
                    out.advance(written.map_err(|_| ChildError::Turn)?);
                    heard = Heard::now(child);
                }
                // A child that has the maximum of requests under way holds the next one back itself.
                read = receiver.read_buf(&mut self.read) => {
                    if !matches!(read, Ok(1..)) {
                        return Err(ChildError::Turn);
                    }
                    heard = Heard::now(child);
                }
                Some((id, reply)) = requests.next() => {
                    out.push(id, reply)?;
                    heard = Heard::now(child);
                }
                () = tokio::time::sleep_until(end.min(silent_until)) => {
                    if Instant::now() >= end {
                        return Err(ChildError::TimedOut(bounds.wall));
                    }
                    let now = Heard::now(child);
                    if !now.was_kept_waiting(&heard, bounds.silence) {
                        return Err(ChildError::Silent(bounds.silence));
                    }
                    heard = now;
                }
            }
        }
    }

    /// Validates a frame of the child before it is acted on.
    fn take(
        &mut self,
        frame: ToCrawl,
        body: Vec<u8>,
        counts: &mut Counts,
        (under_way, bounds): (usize, &Bounds),
    ) -> Result<Taken, ChildError> {
        let within = |is: bool| if is { Ok(()) } else { Err(ChildError::Turn) };
        match frame {
            ToCrawl::Hello { confined } if !self.is_greeted => {
                self.is_greeted = true;
                if !confined && !self.told.swap(true, Ordering::Relaxed) {
                    match bounds.must_be_confined {
                        true => {
                            tracing::warn!("{}: pages that need scripts are not read whole", ChildError::Unconfined)
                        }
                        false => {
                            tracing::warn!("the kernel does not support seccomp: scripts of pages are less confined")
                        }
                    }
                }
                if !confined && bounds.must_be_confined {
                    return Err(ChildError::Unconfined);
                }
                Ok(Taken::Nothing)
            }
            _ if !self.is_greeted => Err(ChildError::Turn),
            ToCrawl::Request { id, mut request } => {
                check_request(&request, body.len()).map_err(FrameError::Request)?;
                counts.requests += 1;
                within(under_way < limits::RENDER_REQUESTS_AT_ONCE_MAX)?;
                within(counts.requests <= limits::RENDER_REQUESTS_ALL_MAX)?;
                request.body = body;
                Ok(Taken::Request(id, request))
            }
            ToCrawl::Cookie { text } => {
                counts.cookies += 1;
                within(counts.cookies <= limits::RENDER_COOKIES_SET_MAX).map(|()| Taken::Cookie(text))
            }
            ToCrawl::Alive => {
                counts.alives += 1;
                within(counts.alives <= limits::RENDER_ALIVES_MAX).map(|()| Taken::Nothing)
            }
            ToCrawl::Done { mut outcome } => {
                let text = String::from_utf8(body);
                outcome.html = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
                Ok(Taken::Done(outcome))
            }
            ToCrawl::Hello { .. } | ToCrawl::Cleared { .. } => Err(ChildError::Turn),
        }
    }

    /// Ends the child and adds the cause of death to the error, if it died by itself.
    async fn epitaph(&mut self, error: ChildError) -> ChildError {
        if !matches!(error, ChildError::Turn) {
            return error;
        }
        // The pipe breaks a moment before the process can be reaped.
        for _ in 0..50 {
            match self.process.try_wait() {
                Ok(Some(status)) => return ChildError::Died(epitaph::of(status)),
                Ok(None) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => return ChildError::Died(error.to_string()),
            }
        }
        error
    }
}

/// Frames of a page so far.
#[derive(Default)]
struct Counts {
    requests: u32,
    cookies: usize,
    alives: u32,
}

/// A validated frame.
enum Taken {
    Nothing,
    Request(RequestId, Request),
    Cookie(String),
    Done(Box<Outcome>),
}

/// Parses the head of a child's frame; a long one is parsed off the caller's thread.
async fn understood(head: Vec<u8>) -> Result<ToCrawl, FrameError> {
    if head.len() <= limits::INLINE_PAGE_BYTES_MAX {
        return protocol::head(&head);
    }
    let reading = tokio::task::spawn_blocking(move || protocol::head(&head));
    reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Frames on their way to the child.
#[derive(Default)]
struct Outgoing {
    frames: VecDeque<Frame>,
    /// Bytes of the first frame that are written.
    written: usize,
}

struct Frame {
    /// Overwritten when dropped: it may hold a password, or the response to one.
    head: Zeroizing<Vec<u8>>,
    /// The body, unless it already follows the head in `head`.
    body: Bytes,
}

impl From<Vec<u8>> for Frame {
    fn from(whole: Vec<u8>) -> Self {
        Self { head: Zeroizing::new(whole), body: Bytes::new() }
    }
}

impl Outgoing {
    fn push(&mut self, id: RequestId, reply: Reply) -> Result<(), FrameError> {
        let Reply { answer, body } = reply;
        let (answer, own_body) = match answer {
            Ok(mut response) => {
                let own_body = Zeroizing::new(std::mem::take(&mut response.body));
                (Ok(response), own_body)
            }
            Err(reason) => (Err(reason), Zeroizing::default()),
        };
        let head = ToChild::Answer { id, answer };
        let frame = match body {
            Some(body) => protocol::frame_head(&head, body.len()).map(|head| Frame { head: head.into(), body }),
            None => protocol::frame(&head, &own_body).map(Frame::from),
        };
        let frame = frame.or_else(|error| match error {
            FrameError::Long(_) => {
                let answer = Err("the answer is too long".to_owned());
                protocol::frame(&ToChild::Answer { id, answer }, &[]).map(Frame::from)
            }
            other => Err(other),
        })?;
        self.frames.push_back(frame);
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        let Some(Frame { head, body }) = self.frames.front() else { return &[] };
        match self.written.checked_sub(head.len()) {
            None => head.get(self.written..).unwrap_or_default(),
            Some(of_body) => body.get(of_body..).unwrap_or_default(),
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.written += bytes;
        if self.rest().is_empty() {
            self.frames.pop_front();
            self.written = 0;
        }
    }
}
