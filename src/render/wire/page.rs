//! A page as it is sent to a child: its markup, the acts to do, and the limits of its scripts.

use serde::{Deserialize, Serialize};

use super::Stored;
use crate::limits;

/// A page to run. The body of its frame is its markup, followed by the texts of scripts that run once it is loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Page {
    /// URL of the document.
    pub url: String,
    /// Milliseconds since 1970 at which the page's clock starts.
    pub now_ms: i64,
    pub seed: u64,
    pub instructions: usize,
    /// CPU time in seconds, at most `limits::RENDER_CPU_SECONDS_MAX`. It bounds work that instructions do not count.
    pub cpu_seconds: u64,
    pub reach: Reach,
    /// URL of the page that links here; empty if unknown.
    pub referrer: String,
    /// The cookies of the site that scripts may see, as `name=value`.
    pub cookies: Vec<String>,
    /// What pages of its origin left in their storages.
    #[serde(default)]
    pub stored: Stored,
    /// Acts of the reader, in this order.
    pub acts: Vec<Act>,
    /// How the reader explores the rest of the page.
    pub seeks: Seeks,
    /// The part of the page that is in view.
    pub viewport: Viewport,
    /// What to report besides links and markup.
    pub wanted: Wanted,
    /// Bytes of the markup that precedes the scripts.
    pub markup_bytes: usize,
    pub scripts: Vec<ScriptHead>,
    /// The page stays open after its outcome, to be filled in, until its child is ended. Its document is serialised with marks by which a
    /// [`Filling`](super::Filling) names its controls.
    #[serde(default)]
    pub held: bool,
    #[serde(skip)]
    pub texts: Vec<u8>,
}

impl Page {
    /// A page at `url` with default budgets and no scripts.
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

    /// The page with this markup, as text. Call it before any script is added.
    #[must_use]
    pub fn with_markup(self, markup: &str) -> Self {
        Self { markup_bytes: markup.len(), texts: markup.as_bytes().to_vec(), ..self }
    }

    /// The markup.
    pub fn markup(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.texts.get(..self.markup_bytes).unwrap_or_default())
    }

    /// Adds a script to run once the page is loaded, after those added before.
    pub fn add_script(&mut self, kind: ScriptKind, name: &str, text: &str) {
        self.scripts.push(ScriptHead { kind, name: name.to_owned(), bytes: text.len() });
        self.texts.extend_from_slice(text.as_bytes());
    }

    /// The scripts with their texts. A length beyond the body ends the iteration.
    pub fn scripts(&self) -> impl Iterator<Item = (ScriptKind, &str, String)> {
        let mut rest = self.texts.get(self.markup_bytes..).unwrap_or_default();
        self.scripts.iter().map_while(move |head| {
            let (text, behind) = rest.split_at_checked(head.bytes)?;
            rest = behind;
            Some((head.kind, head.name.as_str(), String::from_utf8_lossy(text).into_owned()))
        })
    }
}

/// Extra output for people who inspect a page; a crawl requests none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The trace: what happened, in order.
    pub trace: bool,
    /// The rendered text.
    pub text: bool,
}

/// How a reader explores beyond what a page shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeks {
    /// Limit of futile acts.
    pub tries: u32,
    /// It only scrolls and turns pages, sends nothing but GETs for that, and clicks nothing else.
    pub turns_only: bool,
}

impl Seeks {
    pub const NOTHING: Self = Self { tries: 0, turns_only: false };
    pub const TURNS: Self = Self { tries: limits::RENDER_TRIES, turns_only: true };
    pub const ALL: Self = Self { tries: limits::RENDER_TRIES, turns_only: false };
}

/// An act of the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// A click on the first element that the selector matches.
    Click(String),
    /// Scrolls down to the end: `"bottom"`.
    Scroll(String),
    /// Navigates to a URL, which may be a fragment of the page.
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

/// The type of a script.
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
    /// Its errors name this as their source.
    pub name: String,
    pub bytes: usize,
}

/// Limits of one run of the event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Virtual milliseconds from the start of the run.
    pub virtual_ms: u64,
    /// Tasks, including network responses.
    pub tasks: u64,
}

impl Default for Reach {
    fn default() -> Self {
        Self { virtual_ms: limits::RENDER_VIRTUAL_MS, tasks: limits::RENDER_TASKS_MAX }
    }
}

/// The dimensions that a page sees of its window.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Viewport {
    /// In CSS pixels.
    pub width: f64,
    pub height: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { width: 1280.0, height: 800.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
