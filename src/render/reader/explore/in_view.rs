//! Lists that draw only the rows in view: rows scrolled past are removed, so they are clicked window by window.

use std::collections::HashSet;
use std::rc::Rc;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::{Choice, Explorer};

/// Whether to scroll before clicking anything else.
pub(super) struct Scrolls {
    pub bring: bool,
    vain: u32,
}

impl Default for Scrolls {
    fn default() -> Self {
        Self { bring: true, vain: 0 }
    }
}

impl Scrolls {
    /// Something was clicked. A page that grew may be scrolled again; one that twice did not grow is not.
    pub fn pressed(&mut self, news: News, rank: Rank, (is_in_view, has_scrolled): (bool, bool)) {
        let is_other_list = news != News::None && matches!(rank, Rank::Enter | Rank::Turn | Rank::Tab);
        // Another tab has its own end to scroll to.
        self.bring = is_in_view || self.vain < 2 && is_other_list || rank == Rank::Tab && has_scrolled;
    }
}

/// The effects of scrolling.
#[derive(Default)]
pub(super) struct InView {
    /// It has brought something.
    pub has_scrolled: bool,
    /// Rows are removed as they leave the viewport, so they are clicked before the list scrolls on.
    draws: bool,
}

impl Explorer<'_> {
    /// Scrolls until nothing new appears at the end.
    pub(super) fn scroll(&mut self, scrolls: &mut Scrolls) {
        let mut is_end = true;
        let before = Rc::clone(&self.sight.controls);
        let unsent = self.window.engine.page().borrow().unsent;
        let gone = self.window.navigations().len();
        let news = self.act("scroll", |window| {
            window.look_away();
            is_end = window.scroll_on();
        });
        if self.turns.only {
            self.notice_unsent(news, (unsent, gone), self.in_view.has_scrolled);
        }
        if self.notices_taken_away(&before) || !is_end {
            return;
        }
        // The first scroll shows what was already there.
        if news != News::None && !before.is_empty() {
            self.in_view.has_scrolled = true;
            self.turned(&before);
        }
        scrolls.bring = news != News::None;
        scrolls.vain = if scrolls.bring { 0 } else { scrolls.vain + 1 };
        self.budget.tries -= u32::from(!scrolls.bring && !self.in_view.has_scrolled);
    }

    /// Records a scroll; `before` has the controls before it. True if it removed unclicked rows: the list is then scrolled to its top,
    /// once.
    fn notices_taken_away(&mut self, before: &[Control]) -> bool {
        if self.in_view.draws {
            return false;
        }
        self.look_around();
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        let kinds: HashSet<&str> =
            self.sight.controls.iter().filter(|of| of.rank == Rank::Row).map(|of| &*of.kind).collect();
        let is_gone =
            |of: &&Control| self.may_be_pressed(of) && !now.contains(&of.identity) && kinds.contains(&*of.kind);
        if before.iter().filter(is_gone).count() < LIST_MIN {
            return false;
        }
        self.in_view.draws = true;
        self.act("scroll to the top", crate::web::interact::scroll_home);
        true
    }

    /// The next row to click in a list that draws only those in view. Once a kind of row has brought links, only that kind is clicked, or
    /// the list would never be read to its end.
    pub(super) fn row_in_view(&mut self) -> Option<Choice> {
        if !self.in_view.draws {
            return None;
        }
        self.remember();
        let is_known = |of: &Control| self.tried.paid.contains(&of.kind);
        let has_known = self.sight.controls.iter().any(is_known);
        let may_be = |of: &&Control| self.may_be_pressed(of) && (!has_known || is_known(of));
        let mut rows: Vec<Control> = self.sight.controls.iter().filter(may_be).cloned().collect();
        rows.sort_by_key(|of| !of.gets);
        rows.into_iter().find(|of| self.is_shown(of.id)).map(Choice::Control)
    }

    fn may_be_pressed(&self, of: &Control) -> bool {
        of.rank == Rank::Row
            && of.view.is_none()
            && of.crumb.is_none()
            && !of.traits.closes
            && !self.tried.clicked.contains(&of.identity)
            && !self.is_given_up(&of.kind, Rank::Row)
            && !self.is_harmful(of)
    }
}
