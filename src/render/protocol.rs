//! What the crawl and a render child say to each other: frames of a head in JSON and a raw body, over the child's standard input and
//! output.
//!
//! ```text
//! u32 head bytes · u32 body bytes (both little endian) · head · body
//! crawl → child: Page, then an Answer for each Request          child → crawl: Hello, Requests, then Done
//! ```
//!
//! Reads and writes nothing itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::engine::jobs::{End, Reach};
use super::engine::net::{Request, RequestId, Response};
use super::engine::page::{ConsoleLine, ScriptError, Spent};
use super::web::interact::Link;
use super::web::navigation::Navigation;
use crate::limits;

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
    pub reach: Reach,
    /// Where the link to the page stood; empty where nobody knows.
    pub referrer: String,
    /// The cookies of the site that scripts may see, as `name=value`.
    pub cookies: Vec<String>,
    /// What a reader does, in this order.
    pub acts: Vec<Act>,
    /// How many more acts a reader may try who looks for what the page has.
    pub tries: u32,
    /// Bytes of the markup in front of the scripts.
    pub markup_bytes: usize,
    pub scripts: Vec<ScriptHead>,
    #[serde(skip)]
    pub texts: Vec<u8>,
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

/// The links of a page after one of the acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What brought it about: `load`, or an act in words.
    pub by: String,
    /// All links of the first state, of the others those that no state before had.
    pub links: Vec<Link>,
    /// Links that there are in all.
    pub count: usize,
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
            reach: Reach::default(),
            referrer: String::new(),
            cookies: Vec::new(),
            acts: Vec::new(),
            tries: 0,
            markup_bytes: 0,
            scripts: Vec::new(),
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
    /// Acts that could not be done: nothing fits their selectors.
    pub undone: Vec<Act>,
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
    /// The page is done, its document the body. After `last` the child ends.
    Done { outcome: Box<Outcome>, last: bool },
}

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {0} bytes is longer than any may be")]
    Long(u64),
    #[error("a frame's head is not understood: {0}")]
    Head(#[from] serde_json::Error),
}

/// A frame as bytes.
///
/// # Errors
/// When it is longer than a frame may be.
pub fn frame(head: &impl Serialize, body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let head = serde_json::to_vec(head)?;
    let length = check(head.len() as u64, body.len() as u64)?;
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + length);
    for part in [head.len(), body.len()] {
        // `check` holds both far below four gigabytes.
        bytes.extend_from_slice(&u32::try_from(part).unwrap_or(u32::MAX).to_le_bytes());
    }
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(body);
    Ok(bytes)
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
    fn scripts_are_cut_from_the_body_and_lengths_beyond_it_end_the_list() {
        let mut page = Page::at("https://example.org/", 0);
        page.add_script(ScriptKind::Classic, "a", "1");
        page.add_script(ScriptKind::Module, "b", "22");
        page.scripts.push(ScriptHead { kind: ScriptKind::Classic, name: "c".to_owned(), bytes: usize::MAX });
        let scripts: Vec<_> = page.scripts().collect();
        assert_eq!(scripts, [(ScriptKind::Classic, "a", "1".to_owned()), (ScriptKind::Module, "b", "22".to_owned())]);
    }
}
