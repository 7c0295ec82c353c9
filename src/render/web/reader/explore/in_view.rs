//! Lists that draw only the rows in view: what is scrolled past is gone, so that their rows are pressed window by window.

use std::collections::HashSet;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::{Choice, Reader};

impl Reader<'_> {
    /// A scroll from where these were. True where it has taken rows away that nobody has pressed: the list is gone back to its head then, once.
    pub(super) fn notices_taken_away(&mut self, before: &[Control]) -> bool {
        if self.draws_in_view {
            return false;
        }
        self.look_around();
        let now: HashSet<u64> = self.controls.iter().map(|of| of.identity).collect();
        let kinds: HashSet<&str> = self.controls.iter().filter(|of| of.rank == Rank::Row).map(|of| &*of.kind).collect();
        let is_gone =
            |of: &&Control| self.may_be_pressed(of) && !now.contains(&of.identity) && kinds.contains(&*of.kind);
        if before.iter().filter(is_gone).count() < LIST_MIN {
            return false;
        }
        self.draws_in_view = true;
        self.act("scroll to the top", super::super::super::interact::scroll_home);
        true
    }

    /// The next row to press of a list that draws only those in view: once some have brought links none but their like, or the list would not
    /// be seen to its end.
    pub(super) fn row_in_view(&mut self) -> Option<Choice> {
        if !self.draws_in_view {
            return None;
        }
        self.remember();
        let is_known = |of: &Control| self.paid.contains(&of.kind);
        let has_known = self.controls.iter().any(is_known);
        let may_be = |of: &&Control| self.may_be_pressed(of) && (!has_known || is_known(of));
        let mut rows: Vec<Control> = self.controls.iter().filter(may_be).cloned().collect();
        rows.sort_by_key(|of| !of.gets);
        rows.into_iter().find(|of| self.is_shown(of.id)).map(Choice::Control)
    }

    fn may_be_pressed(&self, of: &Control) -> bool {
        of.rank == Rank::Row
            && of.view.is_none()
            && of.crumb.is_none()
            && !self.clicked.contains(&of.identity)
            && !self.is_given_up(&of.kind, Rank::Row)
            && !self.is_harmful(of)
    }
}
