//! The evidence that decides about rendering if the rule file says `auto`: what a page shows without its scripts, and what rendering has
//! yielded for pages that look alike without theirs. Pure.

use crate::job::{Job, PageFindings};
use crate::limits;
use gleaner_page::scripted::Signs;
use gleaner_rules::{Class, RenderWhen};

/// Yield of rendering for one shape of a site's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Brought {
    /// Pages that were rendered, and those among them where it yielded something.
    pub rendered: u32,
    pub gained: u32,
    /// Pages with scripts that were not rendered since the last one that was.
    pub passed_over: u32,
    /// Pages that have ended two render processes each, since the last one that survived.
    #[serde(default)]
    pub died: u32,
}

/// Content of the static page.
#[derive(Clone, Copy, Debug)]
pub struct StaticContent {
    pub class: Class,
    /// Index of the rule that accepts the page.
    pub rule: usize,
    pub signs: Signs,
    /// Links that the rules accept: those to what a list lists, and the others.
    pub targets: usize,
    pub links: usize,
}

impl StaticContent {
    /// Content of a page without scripts.
    #[must_use]
    pub fn of(job: &Job, signs: Signs, read: &PageFindings) -> Self {
        let targets = read.found.iter().filter(|found| found.class.is_target()).count() + read.magnets.len();
        Self { class: job.class, rule: job.rule, signs, targets, links: read.found.len() }
    }

    /// Whether the page has no content for a reader: a shell, or a loading indicator.
    pub(super) fn is_shell(&self) -> bool {
        self.is_bare() && (self.links == 0 || self.signs.empty_root || self.signs.waits)
    }

    /// Links of the kind that pages of its class have.
    fn own_links(&self) -> usize {
        match self.class {
            Class::Index | Class::Board | Class::Detail | Class::Thread => self.targets,
            _ => self.links,
        }
    }

    /// Whether the page lacks what pages of its class have.
    pub(super) fn is_bare(&self) -> bool {
        self.own_links() == 0
    }

    /// Whether what the page promised did not come: it had nothing of its class, has nothing now, given by `after`, and is still empty
    /// where it was, or states the number of what it lists.
    pub(super) fn keeps_waiting(&self, after: Self, promised: bool) -> bool {
        let (before, now) = (self.signs, after.signs);
        let is_empty = before.empty_root && now.empty_root
            || before.waits && now.waits
            || before.hollow != 0 && before.hollow == now.hollow;
        self.is_bare() && after.is_bare() && (is_empty || promised || after.links == 0)
    }

    /// Features that pages with as much content and the same signs share: a class may contain pages that need their scripts, and others.
    #[must_use]
    pub fn shape(&self) -> String {
        let amount = match self.own_links() {
            0 => "bare",
            1..=limits::RENDER_FEW_LINKS => "few",
            _ => "full",
        };
        let Signs { empty_root, framework, waits, hollow, .. } = self.signs;
        // For a page with much content, an empty element somewhere makes no difference.
        let hollow = if amount == "full" { 0 } else { hollow };
        let flags: String = [(empty_root, 'r'), (framework, 'f'), (waits, 'w')]
            .iter()
            .filter(|(has, _)| *has)
            .map(|(_, flag)| flag)
            .collect();
        format!("{} {} {amount} {flags} {hollow:x}", self.class.name(), self.rule)
    }
}

impl Brought {
    /// Whether this page is to be rendered; the first `trials` of its shape are.
    #[must_use]
    pub fn decide(&mut self, when: RenderWhen, shown: StaticContent, trials: u32) -> bool {
        let wanted = match when {
            RenderWhen::Never => return false,
            RenderWhen::Always => true,
            RenderWhen::Auto if !shown.signs.scripts => return false,
            RenderWhen::Auto => {
                let is_bare = shown.is_bare();
                let share = if is_bare { self.share_of_bare() } else { self.share_of_full(trials) };
                let is_trial = self.rendered < trials || self.passed_over + 1 >= share;
                // Half of the pages gained: they depend on their scripts. For pages that show nothing a tenth suffices.
                let pays = self.gained * 2 >= self.rendered && self.gained > 0;
                let pays_bare = self.gained * 10 >= self.rendered && self.gained > 0;
                is_trial || pays || (is_bare && (shown.signs.empty_root || pays_bare))
            }
        };
        self.passed_over = if wanted { 0 } else { self.passed_over.saturating_add(1) };
        wanted
    }

    /// One in this many pages is rendered: ever fewer if that yields nothing.
    fn share(self, trials: u32, first: u32, most: u32) -> u32 {
        // By the 16th, `most` is long reached.
        let vain = self.rendered.saturating_sub(trials).min(16);
        if self.gained > 0 { first } else { (first << vain).min(most) }
    }

    fn share_of_full(self, trials: u32) -> u32 {
        self.share(trials, limits::RENDER_SAMPLED_OF, limits::RENDER_FULL_SAMPLED_OF)
    }

    /// The same of pages without links of their class.
    fn share_of_bare(self) -> u32 {
        self.share(limits::RENDER_TRIALS, limits::RENDER_BARE_SAMPLED_OF, limits::RENDER_SAMPLED_OF)
    }

    /// Whether a page that gained nothing is tried again, after this many attempts: once if pages like it do gain, and like any failure
    /// if the site refused its scripts' requests. If nothing was ever gained, a few pages are tried a few times.
    #[must_use]
    pub fn deserves_another(self, is_refused: bool, attempts: u8) -> bool {
        if is_refused {
            return self.gained > 0
                || (self.rendered < limits::RENDER_TRIALS && attempts < limits::RENDER_REFUSED_TRIALS);
        }
        self.gained > 0 && self.gained * 2 >= self.rendered && attempts == 0
    }

    /// Records that a page was rendered.
    pub fn rendered(&mut self, gained: bool) {
        self.rendered = self.rendered.saturating_add(1);
        self.gained = self.gained.saturating_add(u32::from(gained));
        // Old results fade, so that a changing site is followed.
        if self.rendered >= 64 {
            (self.rendered, self.gained) = (self.rendered / 2, self.gained / 2);
        }
    }
}

#[cfg(test)]
mod tests;
