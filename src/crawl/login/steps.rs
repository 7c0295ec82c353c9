//! Two-page logins: the first page asks only for the user's name, the next one for the password.
//!
//! One such step is followed, and only if the form is a login form, or is on a login page and says so
//! itself (`login::fields::asks_for_user_alone`). It contains no secret, so it is no login attempt; but it may
//! cause an e-mail with a code or a link, which is not requested a second time.

use super::{Page, Run, Step, ends};
use gleaner_base::url::CrawlUrl;
use gleaner_login::fields::{asks_for_password_alone, asks_for_user_alone, roles};
use gleaner_login::fill::fill_others;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::Verdict;
use gleaner_login::view::speaks_of_login;
use gleaner_net::fetch::Post;

/// The form that asks for the user's name, by its index on the page, and its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstStep {
    pub form: usize,
    pub user: usize,
}

impl Page {
    /// The form with which a two-page login begins.
    pub(super) fn first_step(&self) -> Option<FirstStep> {
        let judged = self.login_form();
        let step = |form: usize| {
            let user = asks_for_user_alone(&self.view.forms[form], judged == Some(form))?;
            Some(FirstStep { form, user })
        };
        let others = (0..self.view.forms.len()).filter(|_| judged.is_none() && speaks_of_login(self.url.path()));
        judged.and_then(step).or_else(|| others.filter_map(step).next())
    }

    /// The form after the first step.
    pub(super) fn password_form(&self) -> Option<usize> {
        let judged = self.login_form().filter(|at| roles(&self.view.forms[*at]).password.is_some());
        judged.or_else(|| self.view.forms.iter().position(asks_for_password_alone))
    }
}

impl Run<'_> {
    /// Sends the user's name; returns the page after it, which asks for the password.
    pub(super) async fn take_first_step(&mut self, page: &Page, step: FirstStep) -> Step<Page> {
        let rules = self.means.rules;
        let form = &page.view.forms[step.form];
        let user = &form.controls[step.user].name;
        self.say(format!(
            "form {}: asks for the user alone, in `{user}`; the password may come after it",
            step.form + 1
        ));
        let mut typed = vec![(user.clone(), rules.user.clone())];
        // The rule file's values for the form with the password do not apply to this one.
        let is_here = |name: &str| name != &**user && form.controls.iter().any(|control| &*control.name == name);
        typed.extend(rules.fields.iter().filter(|(name, _)| is_here(name)).cloned());
        let own = page.url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let submission = fill_others(form, &typed, &page.view.base(&own), page.charset)
            .map_err(|error| ends(error.verdict(), error.to_string()))?;
        let url =
            CrawlUrl::exact(&submission.url).ok_or_else(|| ends(Verdict::Unknown, "the form's URL is too long"))?;
        self.may_ask(&url, page.is_over_tls())?;
        self.tell_fields(&submission);
        let cookies_before = self.means.jar.changes();
        let post = Post { content_type: &submission.content_type, body: &submission.body, referer: &page.url };
        let next = self.follow(url, Some(post)).await?;
        let next = self.untroubled(next)?;
        if next.password_form().is_some() {
            return Ok(next);
        }
        let judged = self.judge(&next, page, cookies_before);
        Err(match judged.verdict {
            Verdict::LoggedIn | Verdict::Unknown | Verdict::ProbablyRefused | Verdict::NoForm => {
                let page = told_url(next.url.as_str());
                let why = format!(
                    "{page}, which follows the user's name, asks for no password: it may have sent a code or a link"
                );
                ends(Verdict::SecondFactor, why)
            }
            _ => judged,
        })
    }
}
