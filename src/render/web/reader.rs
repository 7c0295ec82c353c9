//! What somebody does who looks for all that a page has: the acts that were asked for, then rows that react to clicks, turning pages, "load
//! more", scrolling, tabs, and the views that addresses behind a `#` name, until nothing new comes or the tries are used up.
//!
//! New is a link, a magnet or a navigation that no state before had; a state that shows other rows is worth being turned on from, too. An act
//! that brings links costs no try: a list is read to its end, as long as the page's other bounds hold ([`Cut`] says where they did
//! not). A kind of control that brought nothing is not tried again. Nothing here sends forms, and controls whose words or names are about
//! ending, deleting or posting are left alone.

mod controls;
mod counts;
mod delegated;
mod entries;
mod explore;
mod folders;
mod icons;
mod kinds;
mod labels;
mod lists;
mod options;
mod overlays;
mod pickers;
mod places;
mod prices;
mod rows;
mod same;
mod shown;
mod ticks;
mod title;
mod words;

use serde::{Deserialize, Serialize};

use self::shown::Book;
use super::load::Window;
use crate::engine::jobs::{End, Reach};
use crate::engine::trace::{self, What};
use crate::protocol::{Act, Seeks, State};

/// What came of the acts.
#[derive(Default)]
pub struct Told {
    pub states: Vec<State>,
    /// Acts whose selectors fit nothing.
    pub undone: Vec<Act>,
    /// Set where the looking ended while things still came.
    pub cut: Option<Cut>,
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

/// Reads the page as it is, then acts.
pub fn read_page(window: &mut Window, acts: &[Act], seeks: Seeks, reach: Reach) -> Told {
    let mut book = Book::default();
    book.enter("load", window);
    let mut told = Told::default();
    for act in acts {
        let (done, by) = perform(window, act);
        if !done {
            told.undone.push(act.clone());
        }
        let end = window.engine.run(reach);
        book.enter_whole(&by, window);
        if end == End::Spent {
            break;
        }
    }
    told.cut = explore::explore(window, seeks, reach, &mut book);
    told.states = book.states;
    told
}

fn perform(window: &mut Window, act: &Act) -> (bool, String) {
    note(window, &act.to_string());
    let done = match act {
        Act::Click(selectors) => window.click(selectors),
        Act::Scroll(_) => {
            window.scroll_to_bottom();
            true
        }
        Act::Goto(address) => {
            window.go_to(address);
            true
        }
        Act::Back => {
            window.back();
            true
        }
    };
    (done, act.to_string())
}

fn note(window: &Window, act: &str) {
    window.engine.page().borrow_mut().note(|| What::Act { act: trace::told(act) });
}

#[cfg(test)]
mod tests;
