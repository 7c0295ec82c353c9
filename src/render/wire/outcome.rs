//! What came of a page: its states and their links, what its scripts said, and where its reading stopped.

use serde::{Deserialize, Serialize};

use super::{Act, Link, Navigation, Stored, trace};

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

/// Why a run of the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Nothing is left to be done, and nothing will ever be unless somebody acts.
    Idle,
    /// Tasks are left, later than the run may go.
    Time,
    /// The run did as many tasks as it may.
    Tasks,
    /// The page's scripts run no more; the engine says why.
    Spent,
}

/// One line that a script wrote to its console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsoleLine {
    /// `log`, `info`, `warn`, `error`, `debug` or `trace`.
    pub level: String,
    pub text: String,
}

/// A script that could not be read, or an error that nobody caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// What was thrown, as text: `TypeError: x is not a function`.
    pub message: String,
    /// Name of the script, empty where it is not known.
    pub source: String,
    /// Line and column from one, zero where they are not known.
    pub line: u32,
    pub column: u32,
}

/// Why a page's scripts were stopped for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    #[error("the scripts' instructions are used up")]
    Instructions,
    #[error("the scripts' microtasks are used up")]
    Microtasks,
    #[error("the engine broke down")]
    Panicked,
}

/// Where a reader stopped that had not seen all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub bound: Bound,
    /// Acts that were done by then.
    pub acts: u32,
    /// Rows that were shown and not opened, where that is all.
    #[serde(default)]
    pub left: u32,
    /// Tabs stood there that nobody had opened: other lists may lie behind them.
    #[serde(default)]
    pub tabs: bool,
}

impl Cut {
    /// What a log line says of it.
    #[must_use]
    pub fn words(&self) -> String {
        match self.bound {
            Bound::Unopened => format!("{} rows that it showed were not opened", self.left),
            bound => bound.words().to_owned(),
        }
    }
}

/// What has stopped a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// `limits::RENDER_ACTS_MAX` acts have shown other rows, and none of them a link.
    Acts,
    /// `limits::RENDER_LINKS_MAX` links.
    Links,
    /// `limits::RENDER_EXPLORE_CPU_US` of a processor.
    Cpu,
    /// The engine's own bounds: instructions, memory, tasks.
    Engine,
    /// The engine broke down; the page's last error says where.
    Broken,
    /// Requests of the page's scripts.
    Requests,
    /// As many acts as are tried have brought nothing at all.
    Tries,
    /// `limits::RENDER_CONTROLS_MAX` rows of one state.
    Rows,
    /// Rows replaced the list that they stood in, and nothing led back to it.
    NoWayBack,
    /// A server had no answer for some of what the page's scripts asked, and has given none since.
    Unanswered,
    /// Rows went before they had their turn, and could not be got to again.
    Unopened,
    /// Options of a list to choose from were not chosen.
    Unchosen,
    /// A list is turned by what is posted, and nothing is in a member's name.
    Unsent,
    /// Tabs or views of a member's page.
    LeftAlone,
    /// A grid says that it has more rows than it has shown.
    Unseen,
}

impl Bound {
    /// What a log line says of it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Acts => "too many acts in a row showed other rows and no link",
            Self::Links => "it has shown as many links as are taken of one page",
            Self::Cpu => "its processor time is used up",
            Self::Engine => "its scripts have used up their instructions or memory",
            Self::Broken => "the script engine broke down, which is a fault of gleaner's and not of the page",
            Self::Requests => "its scripts have asked as often as one page may",
            Self::Tries => "too many acts have brought nothing",
            Self::Rows => "it shows more rows at once than are tried",
            Self::Unanswered => "some of what its scripts asked for was not answered, however often it was tried",
            Self::Unopened => "rows that it showed were not opened",
            Self::Unchosen => "not all that its lists of choices have was chosen",
            Self::Unsent => "its list is turned by a POST, and nothing is posted in an account's name",
            Self::LeftAlone => {
                "tabs or views of it were not pressed, as the site has an account (`acts = \"all\"` in `[render]` presses them)"
            }
            Self::Unseen => "a grid of it says that it has more rows than it has shown",
            Self::NoWayBack => "its rows replace their list, and nothing leads back to it",
        }
    }
}
