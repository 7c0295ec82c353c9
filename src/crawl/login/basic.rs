//! Login by HTTP Basic authentication: a page answers 401 and asks for a name and a password in a header instead of a
//! form. The same request is sent once more with them; from then on they go to that page's origin (`Jar::set_basic`).

use super::reading::Ask;
use super::report::Pin;
use super::{Page, Run, Step, ends};
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::challenge::{Challenge, basic_token};
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{After, Judged, Verdict, names_wait};
use gleaner_net::fetch::session::BasicPage;

impl Page {
    /// What the page asks for in a header; None if a form of its own logs in.
    pub(super) fn asks_by_header(&self) -> Option<&Challenge> {
        self.challenge.as_ref().filter(|_| self.login_form().is_none())
    }
}

impl Run<'_> {
    /// Sends the name and the password to the page that asks for them in a header.
    pub(super) async fn log_in_by_header(&mut self, page: &Page, challenge: &Challenge) -> Step<Judged> {
        let address = told_url(page.url.as_str());
        if let Challenge::Other(scheme) = challenge {
            self.report.pinned = Some(Pin::Scheme);
            let why =
                format!("{address} asks for HTTP authentication by {scheme}, which is not supported: only Basic is");
            return Err(ends(Verdict::NoForm, why));
        }
        let unsendable =
            || ends(Verdict::Unknown, "HTTP Basic authentication cannot send such a user name or password");
        let own = page.url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let token = basic_token(&self.means.rules.user, self.means.password).ok_or_else(unsendable)?;
        self.say_chosen(format!(
            "{address} answers 401 and asks for a user name and a password: HTTP Basic authentication"
        ));
        if !self.means.jar.set_basic(&own, &token) {
            return Err(unsendable());
        }
        (self.attempt.is_try, self.report.trouble) = (true, None);
        let told = format!("{address} is requested with the user name and the password");
        let ask = Ask { told: Some(&told), is_form: true, by_header: true, ..Ask::get(limits::PAGE_BYTES_MAX) };
        let answer = self.read_as(page.url.clone(), ask).await?;
        let after = self.page_of(answer).await?;
        self.report.trouble = self.patience.trouble_of(after.status);
        let judged = self.judge_by_status(&after, &address);
        if judged.verdict == Verdict::RateLimited {
            self.waits_as_told(names_wait(&after.view));
        }
        self.proven(judged, Some(after)).await
    }

    fn judge_by_status(&mut self, after: &Page, address: &str) -> Judged {
        match after.status {
            401 => {
                self.report.says_refused = true;
                ends(Verdict::WrongPassword, format!("{address} answers 401 again"))
            }
            status @ ..=399 => ends(Verdict::LoggedIn, format!("{address} answers {status} to them")),
            status => self.judge_answer(&After {
                status,
                view: &after.view,
                login_form: None,
                cookies_changed: false,
                before: None,
                has_read_captcha: false,
            }),
        }
    }

    /// The page that proves the session, if HTTP Basic does and the rule file names no other.
    pub(super) fn basic_probe(&self) -> Option<CrawlUrl> {
        let BasicPage { origin, path } = self.means.jar.basic_page()?;
        let page = CrawlUrl::from_parts(&origin, &path);
        self.means.rules.probe.as_ref().is_none_or(|probe| *probe == page).then_some(page)
    }

    /// The result of that page: guests get 401 there, members anything else.
    pub(super) fn shown_by_header(page: &Page) -> Result<String, String> {
        let (address, status) = (told_url(page.url.as_str()), page.status);
        match status {
            200..=299 => {
                Ok(format!("{address} answers {status} to the user name and the password, and 401 without them"))
            }
            _ => Err(format!("{address} answers {status}")),
        }
    }
}

#[cfg(test)]
mod tests;
