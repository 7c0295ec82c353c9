//! Prints the steps of a login to the terminal as they happen.
//!
//! Only what decides is shown: of the login form trees the first question and the verdict, of the proof one line.
//! The log (`-v`) and `--json` have everything.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cli::hints::{Hints, without_hint};
use gleaner_login::secret::told_url;

/// Prints the progress of a login.
#[derive(Clone)]
pub struct Steps(Arc<Mutex<StepFormatter>>);

impl Steps {
    /// For a site; with `is_quiet` nothing is shown.
    #[must_use]
    pub fn new(site: &str, hints: &Hints, is_quiet: bool, is_verbose: bool) -> Self {
        let (site, hints) = (site.to_owned(), hints.clone());
        let shown = StepFormatter { site, hints, is_quiet, is_verbose, proof: None, tree: None, has_sender: false };
        Self(Arc::new(Mutex::new(shown)))
    }

    /// From now on the sender reports when a form is sent, after the pauses that a host asks for.
    pub(super) fn hear_requests(&self) {
        self.lock().has_sender = true;
    }

    /// A request is sent; `form` is the target of the form that it carries, if any.
    pub(super) fn leaves(&self, form: Option<&str>) {
        if let Some(url) = form {
            self.show(&format!("sent to {}", told_url(url)));
        }
    }

    /// Prints a line that is not a step of the login.
    pub(super) fn show(&self, line: &str) {
        if !self.lock().is_quiet {
            // The reader may have closed our output: the login goes on, and the exit code has the result.
            let _ = gleaner_base::console::write_out(format_args!("{line}\n"));
        }
    }

    /// Prints a step of a login if it is new; in quiet mode it is only logged.
    pub fn tell(&self, step: &str) {
        let (is_quiet, line) = {
            let mut shown = self.lock();
            (shown.is_quiet, shown.line(step))
        };
        match line {
            _ if is_quiet => tracing::debug!(step, "login"),
            Some(line) => self.show(&line),
            None => {}
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, StepFormatter> {
        // Counts and texts are consistent at any moment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct StepFormatter {
    site: String,
    hints: Hints,
    is_quiet: bool,
    is_verbose: bool,
    /// The result of the proof.
    proof: Option<String>,
    /// The form whose first question was shown.
    tree: Option<String>,
    /// True if the sender reports when a form is sent.
    has_sender: bool,
}

impl StepFormatter {
    /// The line for a step; None if it is nothing new.
    fn line(&mut self, step: &str) -> Option<String> {
        if let Some(proof) = step.strip_prefix("proof: ").or_else(|| step.strip_prefix("no proof: ")) {
            self.proof = Some(proof.to_owned());
        }
        let says_proof = |evidence: &str| self.proof.as_deref().is_some_and(|proof| evidence.ends_with(proof));
        if step.strip_prefix("evidence: ").is_some_and(says_proof) {
            return None;
        }
        if self.has_sender && step.starts_with("sent to ") {
            return None;
        }
        let is_question = step.ends_with(" times)") || step.ends_with("; asked once)");
        let form = step.split_once(": ").filter(|_| is_question).map(|(form, _)| form);
        if let Some(form) = form
            && self.tree.replace(form.to_owned()).as_deref() == Some(form)
            && !self.is_verbose
        {
            return None;
        }
        // The hint follows the last step.
        let step = if step.starts_with("verdict: ") { without_hint(step) } else { step };
        Some(self.hints.of_site(step, &self.site))
    }
}

/// Forms seen during a login, for the hint about a rule file that names another: at most five, each with twelve fields.
#[must_use]
pub fn forms_seen(steps: &[String]) -> Option<String> {
    let form = |step: &String| {
        let (form, rest) = step.strip_prefix("form ")?.split_once(": ")?;
        let (kind, fields) = rest.split_once("; fields ")?;
        let mut names: Vec<&str> = fields.split(", ").filter(|name| !name.is_empty()).collect();
        let is_cut = names.len() > 12;
        names.truncate(12);
        let kind = kind.split(" (").next().unwrap_or(kind);
        let more = if is_cut { ", …" } else { "" };
        Some(format!("form {form}, {kind}, with the fields {}{more}", names.join(", ")))
    };
    let seen: Vec<String> = steps.iter().filter_map(form).take(5).collect();
    (!seen.is_empty()).then(|| seen.join("; "))
}

#[cfg(test)]
mod tests;
