//! The proof of a session: a page for members, requested after a login, or when a crawl doubts its session.

use super::reading::in_front;
use super::{Judged, Means, Page, Report, Run, Step, Tell, asked_until, ends};
use crate::limits;
use crate::login::pace::Pace;
use crate::login::patience::Patience;
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::{Verdict, asks_to_log_in, logged_out, shows_log_out};
use gleaner_login::view::View;
use gleaner_net::politeness::Answered;

/// Result of checking a session.
pub struct Proof {
    /// None if the site did not answer, or is in trouble.
    pub holds: Option<bool>,
    /// The time until which it then asks to be left alone (`Retry-After`), if any.
    pub asks_to_wait: Option<UnixMillis>,
    /// What was done and seen, in order.
    pub steps: Vec<String>,
}

/// What guests see in place of the page that proves a session.
#[derive(Default)]
pub(super) struct Guests {
    /// True for a login, whose requests before its form are a guest's.
    pub(super) is_guest: bool,
    /// That page, once it is known; None inside if guests are redirected elsewhere.
    pub(super) shown: Option<Option<Page>>,
}

impl Guests {
    /// True if guests are known to see such a page.
    fn see(&self, is_such: impl Fn(&Page) -> bool) -> bool {
        matches!(&self.shown, Some(Some(page)) if is_such(page))
    }
}

/// Checks a session: requests the page that proves it.
pub async fn prove(site: &Site, means: Means<'_>, pace: Option<&mut Pace>) -> Proof {
    proof(Run { patience: Patience::new(pace), ..Run::new(site, means) }).await
}

/// The same after a login whose proof was pending; the login ends with `unless` if the proof fails.
pub async fn prove_last(site: &Site, means: Means<'_>, unless: Verdict, pace: Option<&mut Pace>) -> Proof {
    let report = Report { unless, ..Report::new() };
    proof(Run { patience: Patience::new(pace), report, ..Run::new(site, means) }).await
}

/// The same for a user at a terminal; `unless` is `Unknown` if no login is to be proven.
pub async fn prove_by_hand(site: &Site, means: Means<'_>, unless: Verdict, tell: Tell<'_>) -> Proof {
    proof(Run { report: Report { unless, ..Report::new() }, ..Run::new(site, means).told(tell) }).await
}

async fn proof(mut run: Run<'_>) -> Proof {
    let holds = run.holds().await;
    let asks_to_wait = asked_until(run.report.trouble).filter(|_| holds.is_none());
    Proof { holds, asks_to_wait, steps: run.report.steps }
}

impl Run<'_> {
    /// Checks an apparent success, or an unclear response, against a page for members: the one after the form, if its
    /// redirects lead there.
    pub(super) async fn proven(&mut self, judged: Judged, after: Option<Page>) -> Step<Judged> {
        if !judged.verdict.needs_proof() {
            return Ok(judged);
        }
        // A success that turns out to be none says nothing of the password.
        self.report.unless = if judged.verdict == Verdict::LoggedIn { Verdict::Unknown } else { judged.verdict };
        self.note_before_proof();
        let is_proof = |page: &Page| page.was_got && self.probe_url().is_some_and(|url| url == page.url);
        let after = after.filter(is_proof).filter(|page| self.patience.trouble_of(page.status).is_none());
        let mut proof = self.probe(after).await;
        let now = self.site.clock.now();
        let is_soon = |until: Option<UnixMillis>| until.is_none_or(|at| at.since(now) <= limits::SESSION_PATIENCE);
        let is_waited_out = matches!(self.report.trouble, Some(Answered::Throttled(until)) if is_soon(until));
        if proof.is_err() && self.patience.pace.is_none() && is_waited_out {
            // A crawl retries later; a login by hand cannot, so the requested wait takes place here.
            proof = self.probe(None).await;
        }
        let proof = proof.map_err(|ended| {
            let evidence = judged.evidence.iter().cloned().chain(ended.evidence).collect();
            let verdict = match judged.verdict {
                // A login whose proof has to wait has not failed, and a form that came back is no refusal before the proof.
                _ if self.report.trouble.is_some() && self.report.was_answered => Verdict::Unknown,
                // Such a form is not sent again for lack of a proof.
                Verdict::ProbablyRefused => Verdict::ProbablyRefused,
                _ if self.report.trouble.is_some() => Verdict::Unknown,
                _ => ended.verdict,
            };
            Judged { verdict, evidence }
        })?;
        if proof.is_ok() || self.report.was_answered {
            // A page was read: the site's trouble is over.
            self.report.trouble = None;
        }
        Ok(match proof {
            Ok(proof) => ends(Verdict::LoggedIn, proof),
            Err(why) if judged.verdict != Verdict::LoggedIn => {
                let evidence = judged.evidence.into_iter().chain([why]).collect();
                Judged { evidence, ..judged }
            }
            Err(why) => ends(Verdict::Unknown, format!("the site seemed to accept the login, but {why}")),
        })
    }

    async fn holds(&mut self) -> Option<bool> {
        match self.probe(None).await {
            Ok(proof) => Some(proof.is_ok()),
            Err(_) if self.report.trouble.is_some() => None,
            // Guests are redirected to another site, or in circles.
            Err(judged) => {
                self.say(format!("no proof: {}", judged.evidence.join("; ")));
                Some(false)
            }
        }
    }

    /// The page for members.
    pub(super) fn probe_url(&self) -> Option<CrawlUrl> {
        self.basic_probe().or_else(|| self.named_probe())
    }

    /// The page for members by the rule file.
    fn named_probe(&self) -> Option<CrawlUrl> {
        self.means.rules.probe.clone().or_else(|| self.site.rules.start.first().cloned())
    }

    /// Checks a page for members, which is requested unless `at_hand` has it: Ok with what proves membership, Err with what
    /// contradicts it.
    async fn probe(&mut self, at_hand: Option<Page>) -> Step<Result<String, String>> {
        let Some(asked) = self.probe_url() else {
            return Ok(Err("the site has no page that could prove a session".to_owned()));
        };
        let page = match at_hand {
            Some(page) => page,
            None => self.page_of_members(asked.clone()).await?,
        };
        if self.basic_probe().is_some() {
            return Ok(self.told_proof(Self::shown_by_header(&page)));
        }
        let page = self.shown(page).await?;
        // A redirect elsewhere means that the members' page was not shown.
        let is_there = page.url.path().split('?').next() == asked.path().split('?').next();
        let login_form = page.login_form();
        let address = told_url(page.url.as_str());
        // Without cookies there is no session, nor when the form came back; but some sites show the form to members as well.
        let (has_session, came_back) = (!self.means.jar.is_empty(), self.report.unless == Verdict::ProbablyRefused);
        let is_named = self.means.rules.probe.is_some();
        let guests_sign = guests_sign(&page, login_form);
        let is_sure = guests_sign.is_none() && !came_back;
        let links: Vec<&str> = page.view.log_outs().filter(|_| has_session).collect();
        let shows_all = |view: &View| links.iter().all(|link| shows_log_out(view, link));
        if !links.is_empty() && self.is_new(&asked, is_sure, shows_all).await? {
            let is_known = |link: &str| self.guests.see(|page| shows_log_out(&page.view, link));
            let link = links.iter().find(|link| !is_known(link)).copied().unwrap_or_default();
            return Ok(self.told_proof(Ok(format!("{address} has a link to log out: {}", told_url(link)))));
        }
        let name = self.means.rules.user.to_lowercase();
        let is_members = has_session && (200..300).contains(&page.status) && names(&page.view.text, &name);
        if let Some(says) = in_front(&page).filter(|_| !is_members)
            && self.is_kept_out(&asked, page.status).await?
        {
            return Err(self.kept_out(&page, &says));
        }
        let proof = if let Some(sign) = guests_sign {
            Err(format!("{address} {sign}"))
        } else if !(200..300).contains(&page.status) {
            Err(format!("{address} answers {}", page.status))
        } else if is_named && !is_there {
            Err(format!("{} redirects to {address}", told_url(asked.as_str())))
        } else if is_named {
            Ok(format!("{address}, the `probe` of the rule file, is shown"))
        } else if !(has_session && !came_back && names(&page.view.text, &name)) {
            Err(format!("{address} shows no link to log out, and no user name that would prove a session"))
        } else if self.is_new(&asked, false, |view| names(&view.text, &name)).await? {
            Ok(format!("{address} names the user"))
        } else {
            Err(format!("{address} names the user to guests as well"))
        };
        Ok(self.told_proof(proof))
    }

    fn told_proof(&mut self, proof: Result<String, String>) -> Result<String, String> {
        self.say(match &proof {
            Ok(proof) => format!("proof: {proof}"),
            Err(why) => format!("no proof: {why}"),
        });
        proof
    }

    /// True if guests do not see the same in place of the page that proves a session. If `is_sure`, only known pages of guests are
    /// compared; otherwise the page is requested once more, without the session.
    async fn is_new(&mut self, asked: &CrawlUrl, is_sure: bool, shows: impl Fn(&View) -> bool) -> Step<bool> {
        if !is_sure {
            self.know_guests(asked).await?;
        }
        Ok(!self.guests.see(|page| shows(&page.view)))
    }

    /// True if an apparent barrier in front of the site also applies to guests: they are asked for consent in place of the same page, or
    /// are refused where the login begins.
    async fn is_kept_out(&mut self, asked: &CrawlUrl, status: u16) -> Step<bool> {
        if (200..300).contains(&status) {
            self.know_guests(asked).await?;
            return Ok(self.guests.see(|page| in_front(page).is_some()));
        }
        let door = self.means.rules.page.clone().or_else(|| self.site.rules.start.first().cloned());
        let Some(door) = door.filter(|door| door != asked) else { return Ok(true) };
        self.say(format!(
            "{} is requested as a guest, to see whether the site is open to anybody",
            told_url(door.as_str())
        ));
        match self.page_of_guests(door).await {
            Ok(page) => Ok(in_front(&page).is_some()),
            Err(judged) if self.report.trouble.is_some() => Err(judged),
            Err(_) => Ok(false),
        }
    }

    /// Finds out what guests see in place of the page that proves a session.
    async fn know_guests(&mut self, asked: &CrawlUrl) -> Step<()> {
        if self.guests.shown.is_none() {
            self.say(format!("{} is requested as a guest, to compare", told_url(asked.as_str())));
            let page = match self.page_of_guests(asked.clone()).await {
                Ok(page) => Some(page),
                Err(judged) if self.report.trouble.is_some() => return Err(judged),
                // Guests are redirected to another site, or in circles.
                Err(_) => None,
            };
            self.guests.shown = Some(page);
        }
        Ok(())
    }
}

/// The sign of a guest on a page: a login form, a login link, or a request to log in.
fn guests_sign(page: &Page, login_form: Option<usize>) -> Option<String> {
    let is_out = page.view.log_out().is_none();
    let and_none = if is_out { " and none to log out" } else { "" };
    let form =
        || login_form.map(|_| format!("shows a login form{}", if is_out { " and no link to log out" } else { "" }));
    let link =
        || page.view.log_in_links.first().map(|link| format!("has a link to log in ({}){and_none}", told_url(link)));
    // Whatever the length of the page.
    let words = || asks_to_log_in(&page.view).map(|phrase| format!("says “{phrase}”"));
    logged_out(&page.view, login_form).map(|sign| format!("shows {sign}")).or_else(form).or_else(link).or_else(words)
}

/// True if the text contains this name as a separate word.
pub(super) fn names(text: &str, name: &str) -> bool {
    let is_outside = |of: Option<char>| of.is_none_or(|of| !of.is_alphanumeric());
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            is_outside(text[..at].chars().next_back()) && is_outside(text[at + name.len()..].chars().next())
        })
}
