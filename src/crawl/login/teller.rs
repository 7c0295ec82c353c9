//! What of a login is told, and to whom: each step in words without secrets.

use std::sync::Arc;

use super::{Means, Tell};
use crate::site::Site;
use gleaner_login::mask::Mask;

/// Tells the steps of a login.
pub(super) struct Teller<'a> {
    site: &'a str,
    /// Hears them when they happen; where nobody does, the log has them.
    pub(super) tell: Option<Tell<'a>>,
    /// What hides the password.
    pub(super) mask: Arc<Mask>,
    /// What hides it in what scripts wrote, and what else was typed.
    pub(super) told_mask: Mask,
}

impl<'a> Teller<'a> {
    pub(super) fn new(site: &'a Site, means: &Means<'_>) -> Self {
        let mask = || Mask::of(&means.rules.user, means.password);
        let mut told_mask = mask();
        means.rules.fields.iter().for_each(|(_, value)| told_mask.add(value));
        Self { site: &site.rules.name, tell: None, mask: Arc::new(mask()), told_mask }
    }

    /// Steps hold what sites write: nothing of it may steer a terminal, and where an address of theirs holds the password it is masked.
    pub(super) fn clean(&self, step: &str) -> String {
        self.mask.hide_in_addresses(step).replace(char::is_control, "\u{fffd}")
    }

    /// Tells a step; returns it as it was told.
    pub(super) fn say(&self, step: &str) -> String {
        let step = self.clean(step);
        match self.tell {
            // Whoever watches need not read it a second time in the log.
            Some(tell) => tell(&step),
            None => tracing::debug!(site = %self.site, step, "login"),
        }
        step
    }

    /// A text of a page's script, or what it made, as it may be told.
    pub(super) fn hidden(&self, text: &str) -> String {
        self.told_mask.hide(text)
    }
}
