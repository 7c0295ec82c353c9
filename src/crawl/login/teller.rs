//! Reports the steps of a login without secrets.

use std::sync::Arc;

use super::{Means, Tell};
use crate::site::Site;
use gleaner_login::mask::Mask;

/// Reports the steps of a login.
pub(super) struct Teller<'a> {
    site: &'a str,
    /// Receives them as they happen; if unset, they go to the log.
    pub(super) tell: Option<Tell<'a>>,
    /// Masks the password.
    pub(super) mask: Arc<Mask>,
    /// Masks it in output of scripts, and other typed values.
    pub(super) told_mask: Mask,
}

impl<'a> Teller<'a> {
    pub(super) fn new(site: &'a Site, means: &Means<'_>) -> Self {
        let mask = || Mask::of(&means.rules.user, means.password);
        let mut told_mask = mask();
        means.rules.fields.iter().for_each(|(_, value)| told_mask.add(value));
        Self { site: &site.rules.name, tell: None, mask: Arc::new(mask()), told_mask }
    }

    /// Cleans a step, which may contain text of sites: control characters are replaced, and the password in addresses is masked.
    pub(super) fn clean(&self, step: &str) -> String {
        self.mask.hide_in_addresses(step).replace(char::is_control, "\u{fffd}")
    }

    /// Reports a step; returns it as reported.
    pub(super) fn say(&self, step: &str) -> String {
        let step = self.clean(step);
        match self.tell {
            // A user who watches need not read it a second time in the log.
            Some(tell) => tell(&step),
            None => tracing::debug!(site = %self.site, step, "login"),
        }
        step
    }

    /// A text of a page's script, or derived from it, with secrets masked.
    pub(super) fn hidden(&self, text: &str) -> String {
        self.told_mask.hide(text)
    }
}
