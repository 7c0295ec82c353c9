//! The outcome of a page: its states and their links, its console and errors, and where its reader stopped.

use serde::{Deserialize, Serialize};

use super::{Act, Link, Navigation, Stored, trace};

/// The outcome of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why the event loop ended; `None` if it never ran.
    pub end: Option<End>,
    pub spent: Option<Spent>,
    pub console: Vec<ConsoleLine>,
    pub errors: Vec<ScriptError>,
    /// Interfaces of browsers that the scripts asked for and that gleaner does not have, each once.
    #[serde(default)]
    pub missing: Vec<String>,
    /// What its lists hold back.
    #[serde(default)]
    pub unshown: Unshown,
    /// Console lines and errors that were only counted.
    pub untold: u64,
    /// The value of the last script that did not throw, as text.
    pub value: String,
    /// Instructions used.
    pub instructions: usize,
    /// The states of the page, the one after its load first.
    pub states: Vec<PageState>,
    /// URLs that the page or its reader tried to navigate to.
    pub navigations: Vec<Navigation>,
    /// What its scripts left in their storages.
    #[serde(default)]
    pub stored: Stored,
    /// Acts that were not done because their selectors match nothing.
    pub undone: Vec<Act>,
    /// Where the reader stopped while new things still appeared.
    #[serde(default)]
    pub cut: Option<Cut>,
    /// Controls of a filling that no longer exist. If there are any, nothing was submitted.
    #[serde(default)]
    pub unfilled: Vec<u32>,
    /// The trace, if requested, and the number of further events.
    pub trace: Vec<trace::Event>,
    pub trace_untold: u64,
    /// The rendered text at the end, if requested.
    pub text: String,
    /// CPU time in microseconds that the child used for the page and for clearing away the previous one.
    pub cpu_us: u64,
    /// The final document as markup. It is the body of the frame.
    #[serde(skip)]
    pub html: String,
}

/// The links of a page after one of the acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageState {
    /// What led to it: `load`, or a description of the act.
    pub by: String,
    /// All links in the first state and after requested acts; in other states only those that no earlier state had.
    pub links: Vec<Link>,
    /// Number of all links.
    pub count: usize,
    /// Magnet and similar links anywhere in the page that no earlier state had.
    #[serde(default)]
    pub found: Vec<String>,
}

/// What the lists of a page hold back that draw the rows in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unshown {
    /// Boxes that scripts measured, that gleaner's layout gives no height, and that show no link.
    pub flat: u32,
    /// Boxes that scroll, with more below what they show; counted where the page was not explored.
    pub below: u32,
    /// The number of rows that a grid declares, and how many it shows, likewise.
    pub rows: Option<(u32, u32)>,
}

impl Unshown {
    /// Its texts in log lines.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let boxes = |count: u32| if count == 1 { "1 box".to_owned() } else { format!("{count} boxes") };
        let flat = (self.flat > 0).then(|| {
            format!(
                "its scripts measured {} without a height in gleaner's layout: a list in it may be empty",
                boxes(self.flat)
            )
        });
        let rows = self.rows.map(|(all, shown)| format!("a grid says that it has {all} rows, and shows {shown}"));
        let below = self.rows.is_none() && self.below > 0;
        let below = below
            .then(|| format!("its content goes on below in {}: a list may draw further rows there", boxes(self.below)));
        flat.into_iter().chain(rows).chain(below).collect()
    }
}

/// Why a run of the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// No work is left, and none will come unless somebody acts.
    Idle,
    /// The remaining tasks are due after the end of the run.
    Time,
    /// The run reached its limit of tasks.
    Tasks,
    /// The page's scripts run no more; `spent` has the reason.
    Spent,
}

/// One line that a script wrote to its console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleLine {
    /// `log`, `info`, `warn`, `error`, `debug` or `trace`.
    pub level: String,
    pub text: String,
}

/// A script that could not be parsed, or an uncaught error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// What was thrown, as text: `TypeError: x is not a function`.
    pub message: String,
    /// Name of the script; empty if unknown.
    pub source: String,
    /// Line and column from one; zero if unknown.
    pub line: u32,
    pub column: u32,
}

/// Why a page's scripts were stopped for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    #[error("the scripts exceeded their instruction limit")]
    Instructions,
    #[error("the scripts exceeded their microtask limit")]
    Microtasks,
    #[error("the engine failed")]
    Panicked,
}

/// Where a reader stopped before it had seen everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub bound: Bound,
    /// Acts done by then.
    pub acts: u32,
    /// Rows shown but not opened, if that is all that is missing.
    #[serde(default)]
    pub left: u32,
    /// There were unopened tabs, which may hold other lists.
    #[serde(default)]
    pub tabs: bool,
}

impl Cut {
    /// Its text in a log line.
    #[must_use]
    pub fn words(&self) -> String {
        match self.bound {
            Bound::Unopened => format!("{} rows that it showed were not opened", self.left),
            bound => bound.words().to_owned(),
        }
    }
}

/// What stopped a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// `limits::RENDER_ACTS_MAX` acts showed other rows but no link.
    Acts,
    /// `limits::RENDER_LINKS_MAX` links.
    Links,
    /// `limits::RENDER_EXPLORE_CPU_US` of CPU time.
    Cpu,
    /// The engine's own limits: instructions, memory, tasks.
    Engine,
    /// The engine panicked; the page's last error has the place.
    Broken,
    /// Requests of the page's scripts.
    Requests,
    /// The maximum of futile acts brought nothing at all.
    Tries,
    /// `limits::RENDER_CONTROLS_MAX` rows of one state.
    Rows,
    /// Opening rows replaced their list, and nothing led back to it.
    NoWayBack,
    /// The server failed to answer some requests of the page's scripts, and has answered none since.
    Unanswered,
    /// Rows disappeared before their turn and could not be reached again.
    Unopened,
    /// Options of a select list were not chosen.
    Unchosen,
    /// The list turns by POST, and nothing is posted from a member's account.
    Unsent,
    /// Tabs or views of a member's page were not opened.
    LeftAlone,
    /// A grid reports more rows than it has shown.
    Unseen,
}

impl Bound {
    /// Its text in a log line.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Acts => "too many acts in a row showed other rows but no link",
            Self::Links => "it has shown as many links as the limit for one page",
            Self::Cpu => "its processor time is used up",
            Self::Engine => "its scripts have used up their instructions or memory",
            Self::Broken => "the script engine failed through a bug in gleaner, not through the page",
            Self::Requests => "its scripts have reached the request limit of one page",
            Self::Tries => "too many acts have brought nothing",
            Self::Rows => "it shows more rows at once than gleaner tries",
            Self::Unanswered => "some requests of its scripts were not answered, even after retries",
            Self::Unopened => "rows that it showed were not opened",
            Self::Unchosen => "not all options of its menus were chosen",
            Self::Unsent => "its pagination uses POST, and nothing is posted with an account",
            Self::LeftAlone => {
                "tabs or views of it were not pressed, as the site has an account (`acts = \"all\"` in `[render]` presses them)"
            }
            Self::Unseen => "a grid says that it has more rows than it has shown",
            Self::NoWayBack => "its rows replace their list, and no control leads back to it",
        }
    }
}
