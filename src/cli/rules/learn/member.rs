//! Whether pages are still a member's while a site is learned: a rule drawn from a guest's pages would miss what members see.

use gleaner_learn::{Answer, ServedTo};

/// Pages that ask for a password although the session holds, before this says nothing any more.
const DOUBTS: u32 = 5;

/// The session of a pass.
pub(super) struct Watch {
    pub user: String,
    /// The end of what was kept when a page last had a link to log out.
    good: u64,
    /// The last page had one.
    is_good: bool,
    /// The start page asks members for a password, too: that is no sign here.
    asks_members: bool,
    doubts: u32,
    is_lost: bool,
}

impl Watch {
    /// `begin` is where the account's answers begin in what is kept.
    pub(super) fn new(user: &str, begin: u64) -> Self {
        Self { user: user.to_owned(), good: begin, is_good: false, asks_members: false, doubts: 0, is_lost: false }
    }

    /// The first page after the login.
    pub(super) fn begins_with(&mut self, answer: &Answer) {
        self.asks_members = ServedTo::of(answer) == ServedTo::Guest;
    }

    /// True for a page that was served to a guest.
    pub(super) fn is_guests(&self, answer: &Answer) -> bool {
        !self.asks_members && ServedTo::of(answer) == ServedTo::Guest
    }

    /// True for a page because of which the session must be proven.
    pub(super) fn doubts(&self, answer: &Answer) -> bool {
        self.doubts < DOUBTS && self.is_guests(answer)
    }

    /// The start page was asked for once more.
    pub(super) fn proven(&mut self, is_lost: bool) {
        self.doubts += u32::from(!is_lost);
        self.is_lost |= is_lost;
        self.is_good = !is_lost;
    }

    /// A page was taken in; `end` is the end of what is kept by now.
    pub(super) fn read(&mut self, answer: &Answer, end: u64) {
        self.is_good = ServedTo::of(answer) == ServedTo::Member;
        if self.is_good {
            self.good = self.good.max(end);
        }
    }

    /// True if nothing shows that the session has held to the end.
    pub(super) fn is_in_doubt(&self) -> bool {
        !self.is_lost && !self.is_good
    }

    /// If the session has ended: from where on what was kept may be a guest's.
    pub(super) fn lost_from(&self) -> Option<u64> {
        self.is_lost.then_some(self.good)
    }
}
