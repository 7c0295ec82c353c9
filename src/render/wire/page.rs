//! A page as it is handed to a child: its markup, what is done with it, and how far its scripts may go.

use serde::{Deserialize, Serialize};

use super::Stored;
use crate::limits;

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
    /// marks by which a [`Filling`](super::Filling) names its controls.
    #[serde(default)]
    pub held: bool,
    #[serde(skip)]
    pub texts: Vec<u8>,
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

/// How far a run of the loop may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Virtual milliseconds from where it begins.
    pub virtual_ms: u64,
    /// Tasks, answers of the network among them.
    pub tasks: u64,
}

impl Default for Reach {
    fn default() -> Self {
        Self { virtual_ms: limits::RENDER_VIRTUAL_MS, tasks: limits::RENDER_TASKS_MAX }
    }
}

/// What a page finds its window to be.
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
