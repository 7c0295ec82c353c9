//! The reader acts as a person who looks for everything on a page. It does the requested acts, then opens rows that react to clicks,
//! turns pages, clicks "load more", scrolls, and visits tabs and the views that `#` URLs name, until nothing new appears or the tries are
//! used up.
//!
//! New means a link, a magnet or a navigation that no earlier state had; a state that shows other rows is also worth turning on from. An
//! act that brings links costs no try, so a list is read to its end as long as the page's other limits hold ([`Cut`] reports where they
//! did not). A kind of control that brought nothing is not tried again. The reader sends no forms, and leaves controls alone whose labels
//! or names are about ending, deleting or posting.

mod candidate;
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

use self::shown::LinkTable;
use crate::engine::trace;
use crate::web::html::load::Window;
use crate::wire::trace::What;
use crate::wire::{Act, Cut, End, PageState, Reach, Seeks, Unshown};

/// The results of the acts.
#[derive(Default)]
pub struct ActResults {
    pub states: Vec<PageState>,
    /// Acts whose selectors match nothing.
    pub undone: Vec<Act>,
    /// Set if the reader stopped while new things still appeared.
    pub cut: Option<Cut>,
    pub unshown: Unshown,
}

/// Reads the page as it is, then does the acts.
pub fn read_page(window: &mut Window, acts: &[Act], seeks: Seeks, reach: Reach) -> ActResults {
    let mut book = LinkTable::default();
    book.enter("load", window);
    let mut told = ActResults::default();
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
    // Exploring scrolls to the end of each list, and has a bound for what is not reached.
    let is_explored = seeks.tries > 0;
    told.unshown = window.unshown(!is_explored);
    told.unshown.rows = if is_explored { None } else { explore::unseen_rows(window) };
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
