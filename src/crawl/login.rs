//! One login, step by step: find the form, fill it in, send it, read the response, prove the session with a page.
//!
//! A few requests in sequence, with a pause where a person would type. They are the operator's own, requested by
//! the rule file's `[login]`, so robots.txt does not apply to them; every other limit on requests does (`pace`).
//! Form data goes to the site's own hosts only, and never from https to http. Every step is reported without secrets.

mod basic;
mod choosing;
mod find;
pub mod handover;
mod json;
mod noted;
pub mod pace;
mod patience;
mod proof;
mod reading;
mod report;
mod script_gate;
mod scripted;
mod sending;
mod steps;
mod teller;

use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;

use self::handover::Person;
use self::noted::Attempt;
pub use self::noted::Noted;
use self::pace::Pace;
use self::patience::Patience;
use self::proof::Guests;
pub use self::proof::{Proof, prove, prove_by_hand, prove_last};
pub use self::reading::{HOSTS_LINE, IN_FRONT, OWN_HOST};
pub use self::report::{CODE_REFUSED, Pin, Report};
use self::report::{asked_until, sentence};
use self::scripted::Scripts;
use self::sending::ByScripts;
use self::steps::FirstStep;
use self::teller::Teller;
use super::site::Site;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_login::challenge::Challenge;
use gleaner_login::fill::Submission;
use gleaner_login::model::Judge;
use gleaner_login::names::of_site;
use gleaner_login::secret::{Secret, quoted, told_url, told_words};
use gleaner_login::verdict::{
    After, Judged, Verdict, counts_tries, is_limited, judge, locked_for, names_wait, refuses_behind_code,
    refuses_somehow, said_in_numbers, says_rate_limited, says_refused,
};
use gleaner_login::view::View;
use gleaner_net::fetch::Post;
use gleaner_net::fetch::session::Jar;
use gleaner_net::politeness::Answered;
use gleaner_rules::LoginRules;

/// Receives each step of a login as it happens.
pub type Tell<'a> = &'a (dyn Fn(&str) + Sync);

/// Records the state that must survive if the process ends in the middle of a login.
pub trait Notes: Sync {
    /// A form is about to be sent.
    ///
    /// # Errors
    /// Why that cannot be recorded; then nothing is sent.
    fn begins(&self) -> Result<(), String>;
    /// Whether its form may be sent once more with another CAPTCHA text.
    fn may_read_again(&self) -> bool {
        true
    }
    /// A response after the form asks for a pause until the given time.
    fn asks_to_wait(&self, _until: UnixMillis) {}
    /// The form was answered, and its proof is about to be requested. The argument is the login's verdict if the proof fails.
    fn awaits_proof(&self, _unless: Verdict) {}
}

impl<F: Fn() -> Result<(), String> + Sync> Notes for F {
    fn begins(&self) -> Result<(), String> {
        self()
    }
}

/// The recorder of a login.
pub type Begins<'a> = &'a dyn Notes;

/// What a login needs in addition to the site.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    pub rules: &'a LoginRules,
    pub password: &'a Secret,
    /// Cookie jar of the site's client.
    pub jar: &'a Jar,
}

/// Logs in. A question that only a person could answer ends the login with a verdict that names it.
pub async fn log_in(site: &Site, means: Means<'_>) -> Report {
    run(Run::new(site, means)).await
}

/// Logs in at the pace of a crawl, alongside the other requests of its process.
pub async fn log_in_paced(site: &Site, means: Means<'_>, begins: Begins<'_>, pace: &mut Pace) -> Report {
    run(Run { patience: Patience::new(Some(pace)), begins: Some(begins), ..Run::new(site, means) }).await
}

/// Logs in for a user at a terminal, who may be asked questions in the middle of it if `person` is set: the thread
/// blocks until the answer.
pub async fn log_in_by_hand(
    site: &Site,
    means: Means<'_>,
    begins: Begins<'_>,
    person: Option<Person<'_>>,
    tell: Tell<'_>,
) -> Report {
    run(Run { person, begins: Some(begins), ..Run::new(site, means).told(tell) }).await
}

async fn run(mut run: Run<'_>) -> Report {
    let mut judged = run.log_in().await.unwrap_or_else(|judged| judged);
    if run.attempt.is_code_sent {
        // The password was right if it led to the page that asked for the code; but some sites ask everybody for one, and then report that
        // the password is wrong.
        for verdict in [&mut judged.verdict, &mut run.report.unless] {
            if matches!(verdict, Verdict::WrongPassword | Verdict::ProbablyRefused) {
                *verdict = run.attempt.behind_code.unwrap_or(Verdict::SecondFactor);
            }
        }
        if judged.verdict == Verdict::SecondFactor {
            judged.evidence.insert(0, CODE_REFUSED.to_owned());
        }
    }
    let now = run.site.clock.now();
    // `Retry-After: 0` names no time.
    if let Some(Answered::Throttled(Some(until))) = run.report.trouble
        && until > now
    {
        let hours = limits::RETRY_AFTER_MAX.as_secs() / 3_600;
        let more = if run.patience.is_retry_capped {
            format!(", longer than the {hours} h that gleaner waits at most")
        } else if run.report.was_sent && until < now.plus(limits::LOGIN_BROKEN_OFF_WAIT) {
            "; gleaner waits for a minute at least".to_owned()
        } else {
            String::new()
        };
        judged.evidence.push(format!("the site asks to wait until {}{more}", until.rfc3339()));
    }
    if run.report.was_sent && judged.verdict != Verdict::LoggedIn {
        judged.evidence.extend(run.lost_cookies());
    }
    judged.evidence.iter_mut().for_each(|evidence| *evidence = run.teller.mask.hide_in_addresses(evidence));
    for evidence in judged.evidence.clone() {
        run.say(format!("evidence: {evidence}"));
    }
    let verdict = of_site(sentence(judged.verdict, run.report.trouble, run.report.pinned), &run.site.rules.name);
    run.say(format!("verdict: {verdict}"));
    Report { judged, ..run.report }
}

/// A login in progress, or a proof.
struct Run<'a> {
    site: &'a Site,
    means: Means<'a>,
    /// The report up to now.
    report: Report,
    person: Option<Person<'a>>,
    /// Called before a form is sent.
    begins: Option<Begins<'a>>,
    teller: Teller<'a>,
    patience: Patience<'a>,
    attempt: Attempt,
    /// First step of a two-page login, done or pending, before the form with the password.
    first_step: Option<FirstStep>,
    guests: Guests,
    /// An address off the site's hosts that was not requested.
    last_refused: Option<CrawlUrl>,
    scripts: Scripts,
}

/// A page that was read.
#[derive(Clone)]
struct Page {
    url: CrawlUrl,
    status: u16,
    charset: &'static Encoding,
    view: View,
    /// True if it was requested as members do, by GET; false for the response to a form.
    was_got: bool,
    /// Its original markup, if it has scripts that may be run.
    markup: Option<Arc<str>>,
    /// It shows nothing without its scripts.
    waits: bool,
    /// What it asks for in a header, with status 401.
    challenge: Option<Challenge>,
}

impl Page {
    fn login_form(&self) -> Option<usize> {
        Judge::stored().login_form(&self.view.forms, self.url.as_str()).map(|(at, _)| at)
    }

    fn is_over_tls(&self) -> bool {
        self.url.as_str().starts_with("https:")
    }
}

type Step<T> = Result<T, Judged>;

/// True if a wrong password is reported together with too many attempts.
fn is_wrong_and_limited(judged: &Judged, view: &View) -> bool {
    judged.verdict == Verdict::WrongPassword && says_rate_limited(view).is_some()
}

fn ends(verdict: Verdict, why: impl Into<String>) -> Judged {
    Judged { verdict, evidence: vec![why.into()] }
}

impl<'a> Run<'a> {
    fn new(site: &'a Site, means: Means<'a>) -> Self {
        Self {
            site,
            teller: Teller::new(site, &means),
            means,
            report: Report::new(),
            person: None,
            begins: None,
            patience: Patience::new(None),
            attempt: Attempt::default(),
            first_step: None,
            guests: Guests::default(),
            last_refused: None,
            scripts: Scripts::default(),
        }
    }

    /// The same for a user at a terminal.
    fn told(mut self, tell: Tell<'a>) -> Self {
        self.teller.tell = Some(tell);
        self
    }

    /// Cookies of the site that do not contribute to a session, with the reason.
    fn lost_cookies(&self) -> Vec<String> {
        let dropped = self.means.jar.dropped().into_iter();
        let mut lost: Vec<String> =
            dropped.map(|(name, why)| format!("the site's cookie `{name}` was not kept: {why}")).collect();
        let proof = self.probe_url().filter(|url| url.to_url().is_ok_and(|url| self.means.jar.has_none_for(&url)));
        lost.extend(proof.map(|url| {
            format!("no cookie of the site applies to {}: their path or domain differs", told_url(url.as_str()))
        }));
        lost
    }

    fn say(&mut self, step: String) {
        self.report.steps.push(self.teller.say(&step));
    }

    /// Reports a step that the short form of a report contains, too.
    fn say_chosen(&mut self, step: String) {
        self.report.chosen.push(self.teller.clean(&step));
        self.say(step);
    }

    async fn log_in(&mut self) -> Step<Judged> {
        self.guests.is_guest = true;
        if let Some(json) = &self.means.rules.json {
            let judged = self.log_in_by_json(json).await?;
            return self.proven(judged, None).await;
        }
        let mut page = self.find_form_page().await?;
        if let Some(challenge) = page.asks_by_header() {
            return self.log_in_by_header(&page, challenge).await;
        }
        if let Some(step) = self.first_step {
            page = self.take_first_step(&page, step).await?;
        }
        let mut sends = 0;
        // Text of the page before the first form is no response; text of the first response may be repeated by the second.
        let mut first_page: Option<Page> = None;
        loop {
            if self.scripts.live.is_none() {
                page = self.with_scripts(page).await?;
            }
            let form = self.choose_form(&page)?;
            let in_front = &*first_page.get_or_insert_with(|| page.clone());
            let cookies_before = self.means.jar.changes();
            let typed = self.answers(&page, &form).await?;
            typed.iter().for_each(|(_, value)| self.teller.told_mask.add(value));
            let (mut judged, mut after) = match self.scripts.live.take() {
                None => {
                    let submission = self.fill_in(&page, &form, &typed)?;
                    let after = self.send(&page, &submission).await?;
                    (self.judge(&after, in_front, cookies_before), after)
                }
                Some(held) => match self.send_by_scripts(&page, &form, &typed, held, cookies_before).await? {
                    ByScripts::Sent(judged, Some(after)) => (judged, *after),
                    ByScripts::Sent(judged, None) => return self.proven(judged, None).await,
                    ByScripts::Broken(why) => {
                        let unrendered =
                            self.scripts.unrendered.take().ok_or_else(|| ends(Verdict::Script, why.clone()))?;
                        self.say(format!("the page's scripts did not send it: {why}; its form is sent without them"));
                        (page, first_page) = (unrendered, None);
                        continue;
                    }
                },
            };
            sends += 1;
            if judged.verdict == Verdict::SecondFactor {
                self.note_before_person(judged.verdict);
                after = self.second_factor(after).await?;
                judged = self.judge(&after, in_front, cookies_before);
            }
            let is_page = after.was_got && says_rate_limited(&after.view).is_none();
            if judged.verdict == Verdict::RateLimited && is_page {
                // The page after the form asks for patience, which says nothing of the login.
                judged.verdict = Verdict::Unknown;
            }
            // The site wants a CAPTCHA read before it checks the password: once more, if a person reads it, and if that was not
            // tried before.
            let is_again = judged.verdict == Verdict::Captcha && after.login_form().is_some() && self.person.is_some();
            if is_again && sends < limits::LOGIN_SENDS_MAX && self.begins.is_none_or(|notes| notes.may_read_again()) {
                self.say(judged.evidence.join("; "));
                self.note_before_person(judged.verdict);
                page = after;
                continue;
            }
            if judged.verdict == Verdict::RateLimited || is_wrong_and_limited(&judged, &after.view) {
                self.waits_as_told(names_wait(&after.view));
            }
            return self.proven(judged, Some(after)).await;
        }
    }

    /// Uses the wait that the response body names, if its headers have named none.
    fn waits_as_told(&mut self, wait: Option<Duration>) {
        if let (Some(wait), None) = (wait, asked_until(self.report.trouble)) {
            self.report.trouble = Some(Answered::Throttled(Some(self.site.clock.now().plus(wait))));
        }
    }

    /// The same for the duration of an account lock.
    fn locked_as_told(&mut self, judged: &Judged, wait: Option<Duration>) {
        if judged.verdict == Verdict::Locked {
            self.report.locked_for = self.report.locked_for.or(wait);
        }
    }

    /// Judges the response to the form of the page `before`.
    fn judge(&mut self, after: &Page, before: &Page, cookies_before: u64) -> Judged {
        self.judge_shown(after, before, self.means.jar.changes() != cookies_before)
    }

    fn judge_shown(&mut self, after: &Page, before: &Page, cookies_changed: bool) -> Judged {
        let (view, login_form, before) = (&after.view, after.login_form(), Some(&before.view));
        let has_read_captcha = self.attempt.has_read_captcha;
        let after = After { status: after.status, view, login_form, cookies_changed, before, has_read_captcha };
        let mut judged = self.judge_answer(&after);
        let message = login_form.map_or_else(|| view.first_message(), |form| view.message_at(form, before));
        if matches!(judged.verdict, Verdict::ProbablyRefused | Verdict::Captcha | Verdict::SiteTrouble)
            && let Some(message) = message
        {
            // Quotes the site's own words, which a reader may understand.
            judged.evidence.insert(0, format!("the page says {}", quoted(&told_words(&self.teller.hidden(message)))));
        }
        judged
    }

    /// Judges a response that is no page, and what it says of the account.
    fn judge_answer(&mut self, after: &After<'_>) -> Judged {
        self.report.says_refused |= says_refused(after);
        self.attempt.behind_code = refuses_behind_code(after);
        self.report.refuses_somehow = refuses_somehow(after);
        self.report.is_limited = is_limited(after);
        self.report.counts_tries = counts_tries(after);
        self.report.sets_cookies |= after.cookies_changed;
        let mut judged = judge(after);
        self.report.locked_for = locked_for(after).filter(|_| judged.verdict == Verdict::Locked);
        if matches!(judged.verdict, Verdict::WrongPassword | Verdict::Locked | Verdict::RateLimited) {
            // Quotes the site's own words: how many attempts are left, and how long a lock lasts.
            let told = said_in_numbers(after).into_iter().map(|text| quoted(&told_words(&self.teller.hidden(text))));
            judged.evidence.extend(told.map(|text| format!("the page says {text}")));
        }
        judged
    }

    async fn send(&mut self, page: &Page, submission: &Submission) -> Step<Page> {
        let Some(url) = CrawlUrl::exact(&submission.url) else {
            return Err(ends(Verdict::Unknown, "the form's URL is too long"));
        };
        self.may_ask(&url, page.is_over_tls())?;
        let post = Post { content_type: &submission.content_type, body: &submission.body, referer: &page.url };
        // Trouble on the way to the form says nothing of the form.
        (self.attempt.is_try, self.report.trouble) = (true, None);
        let page = self.follow(url, Some(post)).await?;
        // The page's verdict on the password is used, but the host gets its pause.
        self.report.trouble = self.patience.trouble_of(page.status);
        Ok(page)
    }
}
