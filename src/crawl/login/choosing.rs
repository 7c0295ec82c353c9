//! Chooses the login form of a page, the role of each field, and the values to fill in: as the rule file names them, else as
//! the classifier finds them.

use super::report::Pin;
use super::{Page, Run, Step, ends};
use gleaner_login::fields::roles;
use gleaner_login::fill::{Chosen, Entries, FillError, Submission, fill};
use gleaner_login::form::{Form, Kind};
use gleaner_login::hashing::Hashing;
use gleaner_login::model::Judge;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Judged, Verdict};

impl<'a> Run<'a> {
    pub(super) fn choose_form(&mut self, page: &Page) -> Step<Form> {
        let judge = Judge::stored();
        for (at, form) in page.view.forms.iter().enumerate().take(20) {
            let judgement = judge.judge(form, page.url.as_str());
            let kind = if judgement.is_login { "a login form" } else { "no login form" };
            let fields: Vec<&str> = form.controls.iter().map(|of| &*of.name).filter(|name| !name.is_empty()).collect();
            self.say(format!("form {}: {kind} ({:.2}); fields {}", at + 1, judgement.score, fields.join(", ")));
        }
        let at = match self.means.rules.form {
            _ if self.first_step.is_some() => page
                .password_form()
                .ok_or_else(|| ends(Verdict::NoForm, format!("{} has no login form", told_url(page.url.as_str()))))?,
            Some(at) if at < page.view.forms.len() => at,
            Some(at) => {
                let count = page.view.forms.len();
                self.report.pinned = Some(Pin::Form);
                return Err(ends(
                    Verdict::NoForm,
                    format!("the rule file names form {}, but the page has {count}", at + 1),
                ));
            }
            None => page
                .login_form()
                .ok_or_else(|| ends(Verdict::NoForm, format!("{} has no login form", told_url(page.url.as_str()))))?,
        };
        for line in judge.path(&page.view.forms[at], page.url.as_str()) {
            self.say(format!("form {}: {line}", at + 1));
        }
        self.report.pinned = self.missing_field(&page.view.forms[at]).map(|(pin, _)| pin);
        Ok(page.view.forms[at].clone())
    }

    /// The role of each control of a form, and which of them are pinned.
    pub(super) fn chosen_fields(&self, form: &Form) -> Step<Chosen> {
        let roles = roles(form);
        if let Some((_, name)) = self.missing_field(form) {
            return Err(ends(Verdict::NoForm, format!("the form has no field `{name}`, which the rule file names")));
        }
        let pinned = |name: Option<&str>, found: Option<usize>| name.map_or(found, |name| place(form, name));
        Ok(Chosen {
            user: pinned(self.user_field(form), roles.user),
            user_is_told: self.first_step.is_some(),
            password: pinned(self.means.rules.password_field.as_deref(), roles.password),
            remember: roles.remember.filter(|at| form.controls[*at].kind == Kind::Checkbox),
            submit: form.submit(),
        })
    }

    /// The field that the rule file names for the user; the page after the user's name need not have it.
    fn user_field(&self, form: &Form) -> Option<&'a str> {
        let name = self.means.rules.user_field.as_deref();
        name.filter(|name| self.first_step.is_none() || place(form, name).is_some())
    }

    /// A field that the rule file names and the form lacks.
    fn missing_field(&self, form: &Form) -> Option<(Pin, &'a str)> {
        let user = self.user_field(form).map(|name| (Pin::UserField, name));
        let password = self.means.rules.password_field.as_deref().map(|name| (Pin::PasswordField, name));
        user.into_iter().chain(password).find(|(_, name)| place(form, name).is_none())
    }

    /// The submission that a browser without scripts would send; why it would send none, or what ends the login.
    pub(super) fn submission(
        &self,
        page: &Page,
        form: &Form,
        typed: &[(Box<str>, Box<str>)],
    ) -> Result<Submission, Result<FillError, Judged>> {
        let rules = self.means.rules;
        let chosen = self.chosen_fields(form).map_err(Err)?;
        let others: Vec<(Box<str>, Box<str>)> = rules.fields.iter().chain(typed).cloned().collect();
        let entries = Entries { user: &rules.user, password: self.means.password, others: &others };
        let own = page.url.to_url().map_err(|error| Err(ends(Verdict::Unknown, error.to_string())))?;
        fill(form, &chosen, entries, &page.view.base(&own), page.charset).map_err(Ok)
    }

    pub(super) fn fill_in(&mut self, page: &Page, form: &Form, typed: &[(Box<str>, Box<str>)]) -> Step<Submission> {
        let filled = self.submission(page, form, typed);
        if let Err(Ok(FillError::Action { .. })) = &filled {
            self.report.pinned = Some(Pin::Address);
        }
        let filled = filled.map_err(|why| match why {
            Err(judged) => judged,
            Ok(error) => ends(error.verdict(), error.to_string()),
        });
        if self.means.rules.form.is_some() && filled.as_ref().is_err_and(|judged| judged.verdict == Verdict::NoForm) {
            self.report.pinned.get_or_insert(Pin::Form);
        }
        let submission = filled?;
        self.tell_fields(&submission);
        if !form.onsubmit.is_empty() && Hashing::of(form).is_none() {
            self.say(
                "the form has a script of its own, which is not run: it does not seem to change the password".into(),
            );
        }
        Ok(submission)
    }

    pub(super) fn tell_fields(&mut self, submission: &Submission) {
        let shown: Vec<String> = submission.shown.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.say_chosen(format!("fields: {}", shown.join("  ")));
    }
}

/// The index of a form's field with this name.
fn place(form: &Form, name: &str) -> Option<usize> {
    form.controls.iter().position(|control| &*control.name == name)
}
