//! What the crawl and a render child say to each other: frames of a head in JSON and a raw body, over the child's standard input and
//! output.
//!
//! ```text
//! u32 head bytes · u32 body bytes (both little endian) · head · body
//! crawl → child: Page, then an Answer for each Request          child → crawl: Hello, Requests, then Done
//! a page that is held open: Fill, then Answers                  Requests, then Done
//! ```
//!
//! A child has `limits::RENDER_REQUESTS_AT_ONCE_MAX` requests without an answer at most, and waits with the next: what the crawl holds
//! for it is bounded by that. What a child says is judged here before anybody acts on it, since a page's scripts may have taken it over.
//!
//! Reads and writes nothing itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::engine::jobs::{End, Reach};
use super::engine::net::{Request, RequestId, Response};
use super::engine::page::{ConsoleLine, ScriptError, Spent};
use super::engine::trace;
use super::web::interact::Link;
use crate::limits;
use crate::reader::Cut;
use crate::web::html::navigation::Navigation;
use crate::web::html::storage::Stored;
use crate::web::html::window::Viewport;

/// Bytes before a frame's head.
pub const PREFIX_BYTES: usize = 8;

/// A page that is to be run. The body of its frame is its markup, and behind it the texts of scripts that are run once it is loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page {
    /// Address of the document.
    pub url: String,
    /// Milliseconds since 1970 at which the page's clock begins.
    pub now_ms: i64,
    pub seed: u64,
    pub instructions: usize,
    /// Seconds of CPU, at most `limits::RENDER_CPU_SECONDS_MAX`: what instructions do not count ends there.
    pub cpu_seconds: u64,
    pub reach: Reach,
    /// Where the link to the page stood; empty where nobody knows.
    pub referrer: String,
    /// The cookies of the site that scripts may see, as `name=value`.
    pub cookies: Vec<String>,
    /// What pages of its origin have left in their storages.
    #[serde(default)]
    pub stored: Stored,
    /// What a reader does, in this order.
    pub acts: Vec<Act>,
    /// How a reader looks for what the page has beside that.
    pub seeks: Seeks,
    /// What lies within it is in view.
    pub viewport: Viewport,
    /// What is told beside links and markup.
    pub wanted: Wanted,
    /// Bytes of the markup in front of the scripts.
    pub markup_bytes: usize,
    pub scripts: Vec<ScriptHead>,
    /// The page stays open behind its outcome, to be filled in, until its child is ended. Its document is told with
    /// [`MARK`](super::dom::MARK)s.
    #[serde(default)]
    pub held: bool,
    #[serde(skip)]
    pub texts: Vec<u8>,
}

/// What people ask of a page who look into it; a crawl asks for none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// What happened, in its order.
    pub trace: bool,
    /// The text as it is shown.
    pub text: bool,
}

/// How a reader looks for more than a page shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeks {
    /// How many acts may be in vain.
    pub tries: u32,
    /// It scrolls on and turns pages, sends nothing but GETs for that, and clicks nothing else.
    pub turns_only: bool,
}

impl Seeks {
    pub const NOTHING: Self = Self { tries: 0, turns_only: false };
    pub const TURNS: Self = Self { tries: limits::RENDER_TRIES, turns_only: true };
    pub const ALL: Self = Self { tries: limits::RENDER_TRIES, turns_only: false };
}

/// What a reader does with a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// A click on the first element that the selectors fit.
    Click(String),
    /// Scrolls down as far as it goes: `"bottom"`.
    Scroll(String),
    /// Goes to an address, which may be a fragment of the page.
    Goto(String),
    Back,
}

impl std::fmt::Display for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Click(selectors) => write!(f, "click {selectors}"),
            Self::Scroll(_) => f.write_str("scroll"),
            Self::Goto(address) => write!(f, "goto {address}"),
            Self::Back => f.write_str("back"),
        }
    }
}

/// The links of a page after one of the acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What brought it about: `load`, or an act in words.
    pub by: String,
    /// All links of the first state and of those that an act led to which was asked for; of others those that no state before had.
    pub links: Vec<Link>,
    /// Links that there are in all.
    pub count: usize,
    /// Magnets and their kin, wherever they stand, that no state before had.
    #[serde(default)]
    pub found: Vec<String>,
}

/// What the text of a script is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptKind {
    #[default]
    Classic,
    Module,
    ImportMap,
}

/// One script of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScriptHead {
    #[serde(default)]
    pub kind: ScriptKind,
    /// What its errors name as their source.
    pub name: String,
    pub bytes: usize,
}

impl Page {
    /// A page at `url` with the usual budgets and no scripts.
    pub fn at(url: &str, now_ms: i64) -> Self {
        Self {
            url: url.to_owned(),
            now_ms,
            seed: 1,
            instructions: limits::RENDER_INSTRUCTIONS_MAX,
            cpu_seconds: limits::RENDER_CPU_SECONDS_MAX,
            reach: Reach::default(),
            referrer: String::new(),
            cookies: Vec::new(),
            stored: Stored::default(),
            acts: Vec::new(),
            seeks: Seeks::NOTHING,
            viewport: Viewport::default(),
            wanted: Wanted::default(),
            markup_bytes: 0,
            scripts: Vec::new(),
            held: false,
            texts: Vec::new(),
        }
    }

    /// The page with this markup, as text; before any script is added.
    #[must_use]
    pub fn with_markup(self, markup: &str) -> Self {
        Self { markup_bytes: markup.len(), texts: markup.as_bytes().to_vec(), ..self }
    }

    /// The markup.
    pub fn markup(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.texts.get(..self.markup_bytes).unwrap_or_default())
    }

    /// Adds a script, to be run once the page is loaded, after those before it.
    pub fn add_script(&mut self, kind: ScriptKind, name: &str, text: &str) {
        self.scripts.push(ScriptHead { kind, name: name.to_owned(), bytes: text.len() });
        self.texts.extend_from_slice(text.as_bytes());
    }

    /// The scripts with their texts. Lengths beyond the body end the list.
    pub fn scripts(&self) -> impl Iterator<Item = (ScriptKind, &str, String)> {
        let mut rest = self.texts.get(self.markup_bytes..).unwrap_or_default();
        self.scripts.iter().map_while(move |head| {
            let (text, behind) = rest.split_at_checked(head.bytes)?;
            rest = behind;
            Some((head.kind, head.name.as_str(), String::from_utf8_lossy(text).into_owned()))
        })
    }
}

/// What is typed into a page that is held open, and how it is sent. Its texts may be secrets: they are the body of its frame, no
/// `Debug` shows them, and they are overwritten when they are dropped.
#[derive(Serialize, Deserialize)]
pub struct Filling {
    entries: Vec<EntryHead>,
    /// None: it types alone, and what it belongs to is sent by another filling.
    pub submit: Option<Submit>,
    #[serde(skip)]
    pub texts: Zeroizing<Vec<u8>>,
}

/// One control, by the mark that the document gave it.
#[derive(Serialize, Deserialize)]
struct EntryHead {
    mark: u32,
    /// Bytes of its text; none: it is a box to be checked.
    bytes: Option<usize>,
}

/// How a person sends a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Submit {
    /// By a click on this control.
    Click(u32),
    /// By the Enter key in this control, which sends the form that owns it, whether it has a button or not.
    Enter(u32),
}

impl Filling {
    /// One that types nothing yet.
    #[must_use]
    pub fn new(submit: Submit) -> Self {
        Self { entries: Vec::new(), submit: Some(submit), texts: Zeroizing::default() }
    }

    /// Leaves the typing here; gives the filling that types nothing and sends, where this one would have sent.
    pub fn split_off_sending(&mut self) -> Option<Self> {
        self.submit.take().map(Self::new)
    }

    /// Types a text into a control, in place of what it holds; of a list it is the value of the option to be chosen.
    pub fn type_in(&mut self, mark: u32, text: &str) {
        self.entries.push(EntryHead { mark, bytes: Some(text.len()) });
        // A buffer that grew would leave a copy behind.
        let mut texts = Zeroizing::new(Vec::with_capacity(self.texts.len() + text.len()));
        texts.extend_from_slice(&self.texts);
        texts.extend_from_slice(text.as_bytes());
        self.texts = texts;
    }

    /// Checks a box.
    pub fn check(&mut self, mark: u32) {
        self.entries.push(EntryHead { mark, bytes: None });
    }

    /// The controls in their order: a text, or none for a box to be checked. Lengths beyond the body end the list.
    pub fn entries(&self) -> impl Iterator<Item = (u32, Option<Zeroizing<String>>)> {
        let mut rest = self.texts.as_slice();
        self.entries.iter().map_while(move |head| {
            let Some(bytes) = head.bytes else { return Some((head.mark, None)) };
            let (text, behind) = rest.split_at_checked(bytes)?;
            rest = behind;
            Some((head.mark, Some(Zeroizing::new(String::from_utf8_lossy(text).into_owned()))))
        })
    }
}

impl std::fmt::Debug for Filling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Filling({} controls, {:?})", self.entries.len(), self.submit)
    }
}

/// What came of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why the event loop ended; `None` where it never ran.
    pub end: Option<End>,
    pub spent: Option<Spent>,
    pub console: Vec<ConsoleLine>,
    pub errors: Vec<ScriptError>,
    /// Console lines and errors that were counted only.
    pub untold: u64,
    /// What the last script that did not throw evaluated to, as text.
    pub value: String,
    /// Instructions that were used.
    pub instructions: usize,
    /// The states of the page, the one after its load first.
    pub states: Vec<State>,
    /// Addresses that the page or its reader wanted to go to.
    pub navigations: Vec<Navigation>,
    /// What its scripts have left in their storages.
    #[serde(default)]
    pub stored: Stored,
    /// Acts that could not be done: nothing fits their selectors.
    pub undone: Vec<Act>,
    /// Where the reader stopped while things still came.
    #[serde(default)]
    pub cut: Option<Cut>,
    /// Controls of a filling that are no longer there. With any of them nothing was sent.
    #[serde(default)]
    pub unfilled: Vec<u32>,
    /// What happened, where that was wanted, and how much more did.
    pub trace: Vec<trace::Event>,
    pub trace_untold: u64,
    /// The text as it is shown at the end, where that was wanted.
    pub text: String,
    /// Microseconds of CPU that the child has used for the page, and for clearing away the one before.
    pub cpu_us: u64,
    /// The document at the end, as markup. The body of the frame.
    #[serde(skip)]
    pub html: String,
}

/// Frames of the crawl.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToChild {
    Page(Page),
    /// The body is the response's.
    Answer {
        id: RequestId,
        answer: Result<Response, String>,
    },
    /// For a page that is held open. The body is the texts.
    Fill(Filling),
}

/// Frames of the child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToCrawl {
    /// The first frame: whether the kernel holds the child to its few system calls.
    Hello { confined: bool },
    /// The body is the request's.
    Request { id: RequestId, request: Request },
    /// A script set a cookie, in the words of `Set-Cookie`.
    Cookie { text: String },
    /// The page's reader goes on, however long it has asked for nothing.
    Alive,
    /// The page is done, its document the body.
    Done { outcome: Box<Outcome> },
    /// The page that was done is cleared away. After `last` the child ends.
    Cleared { last: bool },
}

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is longer than any may be")]
    Long(u64),
    #[error("a frame's head is not understood: {0}")]
    Head(#[from] serde_json::Error),
    #[error("a request is none that a page's scripts can make: {0}")]
    Request(&'static str),
}

/// What keeps a script's request from being asked, whatever the site's rules say; its own child does not hand such a one on.
///
/// # Errors
/// Which bound it passes.
pub fn check_request(request: &Request, body_bytes: usize) -> Result<(), &'static str> {
    let header_bytes: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if request.url.len() > limits::URL_BYTES_MAX {
        Err("its address is too long")
    } else if request.headers.len() > limits::HEADERS_MAX || header_bytes > limits::RENDER_HEADERS_BYTES_MAX {
        Err("it has too many headers")
    } else if body_bytes > limits::RENDER_POSTED_BYTES_MAX {
        Err("its body is too long")
    } else if request.method.len() > limits::METHOD_BYTES_MAX {
        Err("its method is none")
    } else {
        Ok(())
    }
}

/// A frame as bytes.
///
/// # Errors
/// When it is longer than a frame may be.
pub fn frame(head: &impl Serialize, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut bytes = frame_before(head, body.len(), body.len())?;
    bytes.extend_from_slice(body);
    Ok(bytes)
}

/// The frame of an outcome, whose head has a bound of its own.
///
/// # Errors
/// As [`frame`].
pub fn outcome_frame(head: &ToCrawl, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let bytes = frame(head, body)?;
    let head_bytes = bytes.len() - PREFIX_BYTES - body.len();
    if head_bytes > limits::RENDER_DONE_HEAD_BYTES_MAX { Err(FrameError::Long(head_bytes as u64)) } else { Ok(bytes) }
}

/// A frame as bytes up to its body, which follows apart.
///
/// # Errors
/// As [`frame`].
pub fn frame_head(head: &impl Serialize, body_bytes: usize) -> Result<Vec<u8>, FrameError> {
    frame_before(head, body_bytes, 0)
}

fn frame_before(head: &impl Serialize, body_bytes: usize, room: usize) -> Result<Vec<u8>, FrameError> {
    let head = serde_json::to_vec(head)?;
    check(head.len() as u64, body_bytes as u64)?;
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + head.len() + room);
    for part in [head.len(), body_bytes] {
        // `check` holds both far below four gigabytes.
        bytes.extend_from_slice(&u32::try_from(part).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&head);
    Ok(bytes)
}

/// Head and body of a frame.
pub type Parts = (Vec<u8>, Vec<u8>);

/// Takes the first whole frame of a child out of what was read of it: head and body. One that is too long for what it begins as is
/// refused as soon as that is seen; for one that is on its way there is room then.
///
/// # Errors
/// As said.
pub fn next_of_child(read: &mut Vec<u8>) -> Result<Option<Parts>, FrameError> {
    /// How the head of an outcome begins: [`ToCrawl::Done`].
    const DONE: &[u8] = br#"{"done":"#;
    let Some((prefix, rest)) = read.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let (head_bytes, body_bytes) = lengths(*prefix)?;
    let Some(begin) = rest.get(..DONE.len().min(head_bytes)) else { return Ok(None) };
    let (head_max, body_max) = match begin == DONE {
        true => (limits::RENDER_DONE_HEAD_BYTES_MAX, limits::RENDER_FRAME_BYTES_MAX),
        false => (limits::RENDER_HEAD_BYTES_MAX, limits::RENDER_POSTED_BYTES_MAX),
    };
    if head_bytes > head_max || body_bytes > body_max {
        return Err(FrameError::Long((head_bytes + body_bytes) as u64));
    }
    let whole = PREFIX_BYTES + head_bytes + body_bytes;
    if read.len() < whole {
        // What is reserved and not written costs nothing; what grows by doubling is copied and holds twice as much.
        read.reserve_exact(whole - read.len());
        return Ok(None);
    }
    let behind = read.split_off(whole);
    let mut frame = std::mem::replace(read, behind);
    let body = frame.split_off(PREFIX_BYTES + head_bytes);
    frame.drain(..PREFIX_BYTES);
    Ok(Some((frame, body)))
}

/// The lengths of head and body that a prefix tells.
///
/// # Errors
/// When they are longer than a frame may be.
pub fn lengths(prefix: [u8; PREFIX_BYTES]) -> Result<(usize, usize), FrameError> {
    let [a, b, c, d, e, f, g, h] = prefix;
    let (head, body) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    check(head.into(), body.into())?;
    Ok((head as usize, body as usize))
}

fn check(head: u64, body: u64) -> Result<usize, FrameError> {
    let all = head.saturating_add(body);
    usize::try_from(all).ok().filter(|all| *all <= limits::RENDER_FRAME_BYTES_MAX).ok_or(FrameError::Long(all))
}

/// A head as its type.
///
/// # Errors
/// When it is none.
pub fn head<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    Ok(serde_json::from_slice(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_and_long_ones_refused() {
        let bytes = frame(&ToCrawl::Hello { confined: true }, b"body").unwrap();
        let (prefix, rest) = bytes.split_at(PREFIX_BYTES);
        let (head_bytes, body_bytes) = lengths(prefix.try_into().unwrap()).unwrap();
        assert!(matches!(head::<ToCrawl>(&rest[..head_bytes]), Ok(ToCrawl::Hello { confined: true })));
        assert_eq!((&rest[head_bytes..], body_bytes), (b"body".as_slice(), 4));
        assert!(lengths([0xff; 8]).is_err());
        assert!(head::<ToCrawl>(b"{").is_err());
    }

    #[test]
    fn a_childs_frames_are_bounded_by_what_they_begin_as() {
        let begin = |head_bytes: u32, body_bytes: u32, head: &[u8]| {
            let mut read = [head_bytes.to_le_bytes(), body_bytes.to_le_bytes()].concat();
            read.extend_from_slice(head);
            next_of_child(&mut read).map(|frame| frame.is_some())
        };
        let head_max = u32::try_from(limits::RENDER_HEAD_BYTES_MAX).unwrap();
        assert!(matches!(begin(head_max, 0, b"{\"request\""), Ok(false)));
        assert!(begin(head_max + 1, 0, b"{\"request\"").is_err());
        assert!(matches!(begin(head_max + 1, 0, b"{\"done\":{"), Ok(false)));
        assert!(matches!(begin(40 << 20, 0, b""), Ok(false)), "nobody knows yet");
        assert!(begin(40 << 20, 0, b"{\"done\":{").is_err());
        assert!(matches!(begin(20, 1 << 20, b"{\"request\""), Ok(false)));
        assert!(begin(20, (1 << 20) + 1, b"{\"request\"").is_err());
        let mut read = frame(&ToCrawl::Cleared { last: true }, b"body").unwrap();
        read.extend_from_slice(&frame(&ToCrawl::Hello { confined: true }, b"").unwrap());
        let (head_bytes, body) = next_of_child(&mut read).unwrap().unwrap();
        assert!(matches!(head::<ToCrawl>(&head_bytes), Ok(ToCrawl::Cleared { last: true })));
        assert_eq!(body, b"body");
        assert!(next_of_child(&mut read).unwrap().is_some() && read.is_empty());
        assert!(next_of_child(&mut read).unwrap().is_none());
    }

    #[test]
    fn a_filling_is_read_as_it_was_written_and_shows_nothing() {
        let mut filling = Filling::new(Submit::Enter(7));
        filling.type_in(3, "anna");
        filling.check(4);
        filling.type_in(5, "s3cret ü");
        let head = serde_json::to_string(&filling).unwrap();
        assert!(!head.contains("s3cret") && !format!("{filling:?}").contains("s3cret"), "{head}");
        let mut read: Filling = serde_json::from_str(&head).unwrap();
        read.texts = filling.texts.clone();
        let entries: Vec<_> = read.entries().map(|(mark, text)| (mark, text.map(|text| text.to_string()))).collect();
        assert_eq!(entries, [(3, Some("anna".to_owned())), (4, None), (5, Some("s3cret ü".to_owned()))]);
        read.texts = Zeroizing::new(b"ann".to_vec());
        assert_eq!(read.entries().count(), 0);
    }

    #[test]
    fn scripts_are_cut_from_the_body_and_lengths_beyond_it_end_the_list() {
        let mut page = Page::at("https://example.org/", 0);
        page.add_script(ScriptKind::Classic, "a", "1");
        page.add_script(ScriptKind::Module, "b", "22");
        page.scripts.push(ScriptHead { kind: ScriptKind::Classic, name: "c".to_owned(), bytes: usize::MAX });
        let scripts: Vec<_> = page.scripts().collect();
        assert_eq!(scripts, [(ScriptKind::Classic, "a", "1".to_owned()), (ScriptKind::Module, "b", "22".to_owned())]);
    }
}
