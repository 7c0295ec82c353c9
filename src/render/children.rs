//! The crawl's side of rendering: a few child processes that run pages, made when they are needed, kept over pages, ended when they
//! stall, and replaced when they die.
//!
//! A page that kills its child, or will not end, costs that page and nothing else. Each request of a script is handed to the caller, who
//! answers it through the crawl's gate or refuses it. Never looks into a page.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child as Process, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::AsyncReadExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::engine::net::{Answer, Request};
use super::protocol::{self, Filling, FrameError, Outcome, PREFIX_BYTES, Page, ToChild, ToCrawl};
use crate::limits;

/// Why a page has no outcome. The next page is not concerned.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("the render process cannot be started: {0}")]
    Spawn(io::Error),
    #[error("the render process died of {0}")]
    Died(String),
    #[error("the page was not done within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error(
        "the page's scripts were silent for {} s, longer than is waited for: most likely in one call without end, such as a regular \
         expression",
        .0.as_secs()
    )]
    Silent(Duration),
    #[error("the render process broke the protocol: {0}")]
    Frame(#[from] FrameError),
    #[error("the render process broke the protocol: a frame out of turn")]
    Turn,
}

/// Who answers what a page's scripts ask for.
pub trait Host: Sync {
    /// The answer to a request, or why there is none.
    fn answer(&self, request: Request) -> impl Future<Output = Answer> + Send;

    /// A script set a cookie, in the words of `Set-Cookie`: it goes with the requests behind this.
    fn cookie(&self, _text: &str) {}
}

/// A function that answers requests; nobody keeps its cookies.
impl<F, A> Host for F
where
    F: Fn(Request) -> A + Sync,
    A: Future<Output = Answer> + Send,
{
    fn answer(&self, request: Request) -> impl Future<Output = Answer> + Send {
        self(request)
    }
}

/// How children are made and bounded.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Pages at a time, each in a child of its own.
    pub children: usize,
    /// Pages that one child runs in its life.
    pub pages: u32,
    /// Time of one page, the waits for its requests included.
    pub wall: Duration,
    /// Time that a child may go on without a word while it waits for nothing.
    pub silence: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            children: limits::RENDER_CHILDREN_MAX,
            pages: limits::RENDER_CHILD_PAGES_MAX,
            wall: limits::RENDER_WALL_TIME,
            silence: limits::RENDER_SILENCE_TIME,
        }
    }
}

/// The children of a crawl. Dropping it ends them.
pub struct Children {
    program: PathBuf,
    args: Vec<OsString>,
    bounds: Bounds,
    free: Semaphore,
    idle: Mutex<Vec<Child>>,
    started: AtomicU64,
}

impl Children {
    /// Children that run `program` with `args`; none is started before a page wants one.
    pub fn new(program: PathBuf, args: Vec<OsString>, bounds: Bounds) -> Self {
        let free = Semaphore::new(bounds.children);
        Self { program, args, bounds, free, idle: Mutex::default(), started: AtomicU64::new(0) }
    }

    /// The children of this very program: `gleaner __render`.
    ///
    /// # Errors
    /// When the program's own file is not known.
    pub fn of_this_program(bounds: Bounds) -> io::Result<Self> {
        Ok(Self::new(std::env::current_exe()?, vec!["__render".into()], bounds))
    }

    /// Children that were started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Process ids of the children that wait for a page.
    pub fn idle_ids(&self) -> Vec<u32> {
        self.idle().iter().map(|child| child.process.id()).collect()
    }

    /// Runs a page in a child that is free, or waits for one. `host` gets each request of its scripts, a few at a time; the futures
    /// that are not done when the page is are dropped.
    ///
    /// # Errors
    /// When the child dies, stalls or speaks nonsense; it is ended then, and the next page gets another.
    pub async fn run(&self, page: &Page, host: &impl Host) -> Result<Outcome, ChildError> {
        // The semaphore is never closed.
        let _share = self.free.acquire().await.map_err(|_| ChildError::Turn)?;
        let frame = page_frame(page)?;
        let end = Instant::now() + self.bounds.wall;
        let mut child = match self.idle_child().await {
            Some(child) => child,
            None => self.start()?,
        };
        let done = child.converse(frame, host, end, &self.bounds).await;
        match done {
            Ok(outcome) => {
                // A child that has had its pages ends now, with the page that it would clear away.
                if child.pipes.is_some() && child.pages < self.bounds.pages {
                    self.idle().push(child);
                }
                Ok(outcome)
            }
            Err(error) => Err(child.epitaph(error).await),
        }
    }

    /// Loads a page that stays open, to be filled in. Its child is a new one, runs nothing else, and ends with what is given back: secrets
    /// that are typed into a page meet no other.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn hold(&self, page: &Page, host: &impl Host) -> Result<(Outcome, Held<'_>), ChildError> {
        // The semaphore is never closed.
        let share = self.free.acquire().await.map_err(|_| ChildError::Turn)?;
        let frame = page_frame(&Page { held: true, ..page.clone() })?;
        let mut held = Held { child: self.start()?, bounds: self.bounds.clone(), _share: share };
        let outcome = held.converse(frame, host).await?;
        Ok((outcome, held))
    }

    /// A child that waits, once it has cleared away its last page; those that cannot take another are ended.
    async fn idle_child(&self) -> Option<Child> {
        loop {
            let mut child = self.idle().pop()?;
            if child.is_cleared(&self.bounds).await {
                return Some(child);
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Child>> {
        // A list of children stays usable after a panic elsewhere.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Child, ChildError> {
        let mut process = Command::new(&self.program)
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env_clear()
            // The allocator takes its memory in pieces of that many KiB, not by the gigabyte: the child may not write so much.
            .env("MIMALLOC_ARENA_RESERVE", "32768")
            .spawn()
            .map_err(ChildError::Spawn)?;
        self.started.fetch_add(1, Ordering::Relaxed);
        let (input, output) = (process.stdin.take(), process.stdout.take());
        // From here on the child is ended when it is dropped.
        let mut child = Child { process, pipes: None, read: Vec::new(), pages: 0 };
        if let (Some(input), Some(output)) = (input, output) {
            let sender = pipe::Sender::from_owned_fd(OwnedFd::from(input)).map_err(ChildError::Spawn)?;
            let receiver = pipe::Receiver::from_owned_fd(OwnedFd::from(output)).map_err(ChildError::Spawn)?;
            child.pipes = Some((sender, receiver));
        }
        Ok(child)
    }
}

/// A page that is held open in a child of its own; dropping it ends both.
pub struct Held<'a> {
    child: Child,
    bounds: Bounds,
    _share: SemaphorePermit<'a>,
}

impl Held<'_> {
    /// Fills the page in and sends it; what its scripts made of that. `host` gets each request of them.
    ///
    /// # Errors
    /// When the child dies, stalls or speaks nonsense; the page is lost then.
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

/// [`ToChild::Fill`], without a copy of what it holds.
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
    pipes: Option<(pipe::Sender, pipe::Receiver)>,
    /// What was read and is no whole frame yet.
    read: Vec<u8>,
    pages: u32,
}

impl Drop for Child {
    fn drop(&mut self) {
        // A process that was killed is gone within microseconds; one that was not is never waited for.
        if self.process.kill().is_ok() {
            let _ = self.process.wait();
        }
    }
}

impl Child {
    /// Waits until the last page is cleared away, which began when its outcome was told. False when the child takes no other.
    async fn is_cleared(&mut self, bounds: &Bounds) -> bool {
        let Some((_, receiver)) = &mut self.pipes else { return false };
        let until = Instant::now() + bounds.silence;
        loop {
            match next_frame(&mut self.read) {
                Ok(Some((ToCrawl::Cleared { last }, _))) => return !last,
                Ok(Some(_)) | Err(_) => return false,
                Ok(None) => {}
            }
            match tokio::time::timeout_at(until, receiver.read_buf(&mut self.read)).await {
                Ok(Ok(1..)) => {}
                _ => return false,
            }
        }
    }

    /// One page: its frame out, answers to its requests, its outcome in.
    async fn converse(
        &mut self,
        page: Vec<u8>,
        host: &impl Host,
        end: Instant,
        bounds: &Bounds,
    ) -> Result<Outcome, ChildError> {
        self.pages += 1;
        let (mut sender, mut receiver) = self.pipes.take().ok_or(ChildError::Turn)?;
        let mut out = Outgoing { frames: VecDeque::from([Zeroizing::new(page)]), written: 0 };
        let mut requests = FuturesUnordered::new();
        let mut heard = Instant::now();
        loop {
            while let Some((frame, body)) = next_frame(&mut self.read)? {
                match frame {
                    ToCrawl::Hello { confined } => {
                        if !confined {
                            tracing::warn!("the kernel knows no seccomp: scripts of pages run less confined");
                        }
                    }
                    ToCrawl::Request { id, mut request } => {
                        request.body = body;
                        requests.push(async move { (id, host.answer(request).await) });
                    }
                    ToCrawl::Cookie { text } => host.cookie(&text),
                    ToCrawl::Done { mut outcome } => {
                        outcome.html = String::from_utf8_lossy(&body).into_owned();
                        // What is half written would make the next page unreadable.
                        if out.frames.is_empty() {
                            self.pipes = Some((sender, receiver));
                        }
                        return Ok(*outcome);
                    }
                    ToCrawl::Cleared { .. } => return Err(ChildError::Turn),
                }
            }
            let silent_until = if requests.is_empty() { heard + bounds.silence } else { end };
            tokio::select! {
                written = sender.write(out.rest()), if !out.frames.is_empty() => {
                    out.advance(written.map_err(|_| ChildError::Turn)?);
                    heard = Instant::now();
                }
                // A child with many requests under way waits with the next until some are answered.
                read = receiver.read_buf(&mut self.read), if requests.len() < limits::RENDER_REQUESTS_AT_ONCE_MAX => {
                    if !matches!(read, Ok(1..)) {
                        return Err(ChildError::Turn);
                    }
                    heard = Instant::now();
                }
                Some((id, answer)) = requests.next() => {
                    out.push(id, answer)?;
                    heard = Instant::now();
                }
                () = tokio::time::sleep_until(end.min(silent_until)) => {
                    return Err(match Instant::now() >= end {
                        true => ChildError::TimedOut(bounds.wall),
                        false => ChildError::Silent(bounds.silence),
                    });
                }
            }
        }
    }

    /// Ends the child and says what it died of, if it died by itself.
    async fn epitaph(&mut self, error: ChildError) -> ChildError {
        if !matches!(error, ChildError::Turn) {
            return error;
        }
        // The pipe breaks a moment before the process can be waited for.
        for _ in 0..50 {
            match self.process.try_wait() {
                Ok(Some(status)) => {
                    return ChildError::Died(match (status.signal(), status.code()) {
                        (Some(signal), _) => format!("signal {signal}{}", cause(signal)),
                        (None, code) => format!("exit code {}", code.unwrap_or_default()),
                    });
                }
                Ok(None) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => return ChildError::Died(error.to_string()),
            }
        }
        error
    }
}

/// Which of a child's bounds a signal means, in the words of who reads it; empty where it says nothing.
fn cause(signal: i32) -> String {
    const MIB: u64 = 1 << 20;
    match signal {
        libc::SIGABRT => format!(
            ": its scripts wanted more than the {} MB of memory that a page may have, or nested deeper than its stack",
            limits::RENDER_MEMORY_BYTES_MAX / MIB
        ),
        libc::SIGSEGV | libc::SIGBUS => {
            ": its scripts nested deeper than its stack, or met a fault of the engine".to_owned()
        }
        libc::SIGXCPU => {
            format!(": its scripts used up the {} s of CPU time that a page may have", limits::RENDER_CPU_SECONDS_MAX)
        }
        libc::SIGKILL => ": somebody killed it, as a system does that is short of memory".to_owned(),
        libc::SIGSYS => ": it made a system call that it may not make".to_owned(),
        _ => String::new(),
    }
}

/// Frames that are on their way to the child.
struct Outgoing {
    /// Overwritten when they are gone: one may hold a password, another the answer to one.
    frames: VecDeque<Zeroizing<Vec<u8>>>,
    /// Bytes of the first one that are out.
    written: usize,
}

impl Outgoing {
    fn push(&mut self, id: u32, answer: Answer) -> Result<(), FrameError> {
        let (answer, body) = match answer {
            Ok(mut response) => {
                let body = std::mem::take(&mut response.body);
                (Ok(response), body)
            }
            Err(reason) => (Err(reason), Vec::new()),
        };
        let head = ToChild::Answer { id, answer };
        let frame = protocol::frame(&head, &body).or_else(|error| match error {
            FrameError::Long(_) => {
                protocol::frame(&ToChild::Answer { id, answer: Err("the answer is too long".to_owned()) }, &[])
            }
            other => Err(other),
        })?;
        self.frames.push_back(Zeroizing::new(frame));
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        self.frames.front().and_then(|frame| frame.get(self.written..)).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.written += bytes;
        if self.rest().is_empty() {
            self.frames.pop_front();
            self.written = 0;
        }
    }
}

/// Takes the first whole frame out of what was read.
fn next_frame(read: &mut Vec<u8>) -> Result<Option<(ToCrawl, Vec<u8>)>, FrameError> {
    let Some((prefix, rest)) = read.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let (head_bytes, body_bytes) = protocol::lengths(*prefix)?;
    let Some(both) = rest.get(..head_bytes + body_bytes) else { return Ok(None) };
    let (head, body) = both.split_at(head_bytes);
    let frame = (protocol::head(head)?, body.to_vec());
    read.drain(..PREFIX_BYTES + head_bytes + body_bytes);
    Ok(Some(frame))
}
