//! A form that its page's scripts send: filled in where the page is open, submitted as a person would, and the outcome read: the one POST
//! of a script with its response, the page's next navigation, and what it shows.

use zeroize::Zeroizing;

use super::json::told_wait;
use super::script_gate::{Heard, PostResponse, ScriptGate};
use super::{Page, Run, Step, ends, is_wrong_and_limited};
use gleaner_base::url::CrawlUrl;
use gleaner_login::fill::{Chosen, Submission, recoded};
use gleaner_login::form::{Form, Kind};
use gleaner_login::hashing::{self, Hashing};
use gleaner_login::scripts::{acts, button, may_go_without, told_body};
use gleaner_login::secret::{MASK, told, told_url};
use gleaner_login::verdict::{After, Judged, Verdict, names_wait, says_rate_limited};
use gleaner_login::view::View;
use gleaner_render::children::HeldPage;
use gleaner_render::wire::{Filling, Navigation, Outcome, Submit};
use gleaner_rules::Refusal;

/// Parameters by which scripts ask for a part of a page, for a frame or a floating window (Discuz!, phpwind, DedeCMS).
const AJAX_KEYS: [&str; 7] = ["ajax", "ajaxtarget", "handlekey", "inajax", "infloat", "is_ajax", "isajax"];

/// The outcome.
pub(super) enum ByScripts {
    /// It was sent; the page after it, if there is a separate one.
    Sent(Judged, Option<Box<Page>>),
    /// Nothing was sent, and the form may still be sent without scripts.
    Broken(String),
}

impl Run<'_> {
    /// Fills the form in and has the page's scripts send it.
    pub(super) async fn send_by_scripts(
        &mut self,
        page: &Page,
        form: &Form,
        typed: &[(Box<str>, Box<str>)],
        mut held: HeldPage,
        cookies_before: u64,
    ) -> Step<ByScripts> {
        let chosen = self.chosen_fields(form)?;
        let mut filling = self.filling(form, &chosen, typed)?;
        let sending = filling.split_off_sending();
        self.attempt.is_try = true;
        let gate = ScriptGate::new(self, &page.url, true);
        let mut ended = held.fill(&filling, &gate).await;
        // Navigations before the form was sent are no response to it; all of them are, if it was never sent.
        let mut ways_before = usize::MAX;
        if let (Ok(typed), Some(sending)) = (&ended, sending)
            && typed.unfilled.is_empty()
            && typed.spent.is_none()
            && gate.begin_sending().await
        {
            ways_before = typed.navigations.len();
            ended = held.fill(&sending, &gate).await;
        }
        let mut heard = gate.into_heard();
        let is_throttled = heard.is_throttled;
        drop((held, filling));
        for refused in &heard.refused {
            self.say(refused.clone());
        }
        if let Some(kept_back) = heard.kept_back.take().filter(|_| !self.report.was_sent) {
            return Err(kept_back);
        }
        let mut outcome = match ended {
            Ok(outcome) => outcome,
            Err(error) if heard.sent.is_none() => return self.broken(form, error.to_string()),
            // The response is known, but not what the page would have done with it.
            Err(error) => {
                self.say(format!("the page's scripts did not finish: {error}"));
                Outcome::default()
            }
        };
        outcome.navigations.drain(..ways_before.min(outcome.navigations.len()));
        self.tell_faults(&outcome, self.scripts.faults);
        if let (Some(spent), None) = (outcome.spent, &heard.sent) {
            return Err(self.never_sent(format!("its scripts did not settle: {spent}")));
        }
        if !outcome.unfilled.is_empty() && heard.sent.is_none() {
            return Err(self.never_sent("a field disappeared while the others were filled in"));
        }
        match heard.sent.take() {
            Some(sent) => {
                let said = sent.answer?;
                self.behind_post(page, said, outcome, (cookies_before, is_throttled)).await
            }
            None => self.behind_nothing(page, form, &heard, outcome, cookies_before).await,
        }
    }

    /// The page's scripts are lost and nothing was sent: its form is sent without them if it needs none.
    fn broken(&self, form: &Form, why: String) -> Step<ByScripts> {
        match may_go_without(form) {
            true => Ok(ByScripts::Broken(why)),
            false => Err(self.never_sent(format!("its scripts, which its handler needs, did not finish: {why}"))),
        }
    }

    /// The values to type, and the control to press.
    fn filling(&mut self, form: &Form, chosen: &Chosen, typed: &[(Box<str>, Box<str>)]) -> Step<Filling> {
        let lost = |what: &str| ends(Verdict::NoForm, format!("the form has no field for {what}"));
        let mark = |at: usize| form.controls.get(at).and_then(|control| control.mark);
        let password = chosen.password.and_then(mark).ok_or_else(|| lost("the password"))?;
        let user = chosen.user.and_then(mark);
        if user.is_none() && !chosen.user_is_told {
            return Err(lost("the user's name"));
        }
        let pressed = button(form).and_then(mark);
        let mut filling = Filling::new(pressed.map_or(Submit::Enter(password), Submit::Click));
        let rules = self.means.rules;
        let name_of = |at: Option<usize>| {
            let control = at.and_then(|at| form.controls.get(at));
            let words = control.map(|of| [&of.name, &of.id, &of.placeholder, &of.label]);
            let word = words.into_iter().flatten().find(|word| !word.is_empty());
            word.map_or_else(|| "?".to_owned(), ToString::to_string)
        };
        let mut shown = Vec::new();
        for (name, value) in rules.fields.iter().chain(typed) {
            let named = |at: &usize| form.controls[*at].name == *name;
            let is_box = |at: &usize| matches!(form.controls[*at].kind, Kind::Checkbox | Kind::Radio);
            let mut places = (0..form.controls.len()).filter(named);
            let fitting = places.clone().find(|at| is_box(at) && form.controls[*at].value == *value);
            match fitting.or_else(|| places.find(|at| !is_box(at))) {
                Some(at) if is_box(&at) => mark(at).into_iter().for_each(|mark| filling.check(mark)),
                Some(at) => mark(at).into_iter().for_each(|mark| filling.type_in(mark, value)),
                None => self.say(format!("the form has no field `{name}`: it is left out")),
            }
            shown.push(format!("{name}={MASK}"));
        }
        if let Some(user) = user {
            filling.type_in(user, &rules.user);
            shown.push(format!("{}={}", name_of(chosen.user), rules.user));
        }
        filling.type_in(password, self.means.password.reveal());
        shown.push(format!("{}={MASK}", name_of(chosen.password)));
        let remember = chosen.remember.filter(|at| !form.controls[*at].is_checked && !form.controls[*at].is_disabled);
        if let Some(mark) = remember.and_then(mark) {
            filling.check(mark);
            shown.push(format!("{}=on", name_of(chosen.remember)));
        }
        let pressed = button(form).map_or("the Enter key", |at| &*form.controls[at].label);
        let pressed = if pressed.is_empty() { "its button" } else { told(pressed) };
        self.say_chosen(format!("fields: {}; sent by its scripts, with {pressed}", shown.join("  ")));
        Ok(filling)
    }

    /// After the POST of a script: its response, the page's next navigation, and what it shows.
    async fn behind_post(
        &mut self,
        page: &Page,
        said: PostResponse,
        mut outcome: Outcome,
        (cookies_before, is_throttled): (u64, bool),
    ) -> Step<ByScripts> {
        let cookies_changed = self.means.jar.changes() != cookies_before;
        let words = View::of_answer(&said.body).unwrap_or_default();
        let after = After {
            status: said.status,
            view: &words,
            login_form: None,
            cookies_changed,
            before: Some(&page.view),
            has_read_captcha: self.attempt.has_read_captcha,
        };
        let mut by_answer = self.judge_answer(&after);
        if by_answer.verdict == Verdict::RateLimited && said.was_got && says_rate_limited(&words).is_none() {
            // The page after the POST asks for patience, which says nothing of the login.
            by_answer.verdict = Verdict::Unknown;
        }
        let parsed = serde_json::from_slice(&said.body).ok();
        let wait = parsed.as_ref().and_then(|of| told_wait(of, self.site.clock.now()));
        self.locked_as_told(&by_answer, wait);
        if by_answer.verdict == Verdict::RateLimited || is_wrong_and_limited(&by_answer, &words) {
            self.waits_as_told(wait.or_else(|| names_wait(&words)));
        }
        self.say(format!("answered {}", said.status));
        // If a read after it was asked for patience, the page's navigation is not followed: the proof waits for the host.
        // The page may say why it is refused: that the account is locked, or only that the login failed.
        let is_unsure = by_answer.verdict == Verdict::WrongPassword && !self.report.says_refused;
        if !by_answer.verdict.needs_proof() && !is_unsure || is_throttled || self.report.trouble.is_some() {
            return Ok(ByScripts::Sent(by_answer, None));
        }
        let document = self.read_document(page, std::mem::take(&mut outcome.html)).await;
        let by_document = document.ok().and_then(|document| {
            let mut of = |shown: &Page, cookies_changed: bool| {
                self.judge_shown(&Page { status: 200, ..shown.clone() }, page, cookies_changed)
            };
            // Text that was there before, shown or not, is no response.
            let (before, now) = (of(page, false), of(&document, cookies_changed));
            (now != before).then_some(now)
        });
        if is_unsure {
            let locked = by_document.filter(|judged| judged.verdict == Verdict::Locked);
            return Ok(ByScripts::Sent(locked.unwrap_or(by_answer), None));
        }
        if let Some(judged) = &by_document
            && !judged.verdict.needs_proof()
        {
            return Ok(ByScripts::Sent(judged.clone(), None));
        }
        // The target of a navigation after a login is a page for members.
        let is_way = |way: &&Navigation| way.method == "GET" && !self.teller.mask.is_in(way.url.as_bytes());
        let way = outcome.navigations.iter().rev().find(is_way);
        if let Some(url) = way.and_then(|way| CrawlUrl::exact(&url::Url::parse(&way.url).ok()?)) {
            self.say(format!("scripts lead to {}", self.teller.hidden(&told_url(url.as_str()))));
            let next = self.page(url, page.is_over_tls()).await?;
            let judged = self.judge(&next, page, cookies_before);
            return Ok(ByScripts::Sent(judged, Some(Box::new(next))));
        }
        let is_in = |judged: &Judged| judged.verdict == Verdict::LoggedIn;
        let by_document = by_document.filter(|judged| is_in(judged) || !is_in(&by_answer));
        Ok(ByScripts::Sent(by_document.unwrap_or(by_answer), None))
    }

    /// No script has posted: returns the page's navigation, or why there is none.
    async fn behind_nothing(
        &mut self,
        page: &Page,
        form: &Form,
        heard: &Heard,
        outcome: Outcome,
        cookies_before: u64,
    ) -> Step<ByScripts> {
        // Errors while it was filled in and sent come before those that always occur.
        let late = outcome.errors.get(self.scripts.faults..).and_then(<[_]>::last);
        let fault = late.or(outcome.errors.last()).map(|error| self.teller.hidden(&error.message));
        let broke = fault.as_deref().map_or_else(String::new, |fault| format!(" (a script failed: {fault})"));
        if let Some(way) = outcome.navigations.iter().find(|way| way.method == "POST") {
            self.may_go(page, form, way)?;
            let is_plain = self.teller.mask.is_in(&way.body) && self.is_plain_in(way);
            if let Some(known) = Hashing::of(form).filter(|_| is_plain) {
                // The form would have been sent with a plain password that its server does not accept.
                return Ok(ByScripts::Broken(format!(
                    "its handler left the password unhashed{broke}; the hash is known ({})",
                    known.name()
                )));
            }
            if (hashing::unknown(form).is_some() || acts(form)) && is_plain && late.is_some() {
                return Err(
                    self.never_sent(format!("its handler failed, and would have sent the password unhashed{broke}"))
                );
            }
            let mut submission = self.submission_of(page, way)?;
            let own = page.url.to_url().ok().and_then(|own| page.view.base(&own).join(&form.action).ok());
            if let Some(own) = own.filter(|own| asks_for_part(own, &submission.url)) {
                submission.url = own;
            }
            let shown: Vec<&str> = submission.shown.iter().map(|(_, value)| &**value).collect();
            self.say_chosen(format!("as its scripts left it: {}", shown.join("  ")));
            let after = self.send(page, &submission).await?;
            let judged = self.judge(&after, page, cookies_before);
            return Ok(ByScripts::Sent(judged, Some(Box::new(after))));
        }
        // They may have logged in by reads alone: that counts as an attempt, whatever the outcome.
        self.report.was_sent |= heard.asked > 0;
        self.report.was_answered |= heard.asked > 0;
        if let Some(host) = &heard.foreign {
            return Err(ends(
                Verdict::OtherSite,
                format!(
                    "a script of the page would have sent the password to {host}, which is not a host of this site"
                ),
            ));
        }
        if let Some(refused) = heard.refused.first() {
            return Err(self.never_sent(format!("{refused}{broke}")));
        }
        if let Some(way) = outcome.navigations.last() {
            let url = self.teller.hidden(&told_url(&way.url));
            let why = if self.teller.mask.is_in(way.url.as_bytes()) {
                format!("its scripts would write the password into a URL: {url}")
            } else {
                format!("its scripts sent nothing and lead to {url}{broke}")
            };
            return Err(self.never_sent(why));
        }
        Err(self.never_sent(format!("its scripts sent nothing when the form was submitted{broke}")))
    }

    /// The rules' restrictions for scripts apply unless the form itself names the address; and no address may contain the password.
    fn may_go(&self, page: &Page, form: &Form, way: &Navigation) -> Step<()> {
        if self.teller.mask.is_in(way.url.as_bytes()) {
            let url = self.teller.hidden(&told_url(&way.url));
            return Err(self.never_sent(format!("its scripts would write the password into a URL: {url}")));
        }
        let own = page.url.to_url().ok().and_then(|own| page.view.base(&own).join(&form.action).ok());
        let target = url::Url::parse(&way.url).ok().filter(|target| own.as_ref() != Some(target));
        let forbidden = target.as_ref().and_then(CrawlUrl::exact).and_then(|url| {
            // Another host is left to `may_ask`, which names it.
            let reason =
                self.site.rules.forbids_in_login(&url).filter(|reason| !matches!(reason, Refusal::WrongHost))?;
            Some(format!(
                "its scripts lead to {}: the rules refuse it: {}",
                self.teller.hidden(&told_url(url.as_str())),
                reason.name()
            ))
        });
        forbidden.map_or(Ok(()), |why| Err(self.never_sent(why)))
    }

    /// True if a body contains the password itself, not a value derived from it.
    fn is_plain_in(&self, way: &Navigation) -> bool {
        let plain = self.means.password.reveal();
        let mut pairs = url::form_urlencoded::parse(&way.body);
        pairs.any(|(_, value)| value == plain || value == plain.trim())
            || memchr::memmem::find(&way.body, plain.as_bytes()).is_some()
    }

    /// The submission that the page would send of its form, in the page's charset.
    fn submission_of(&self, page: &Page, way: &Navigation) -> Step<Submission> {
        let url = url::Url::parse(&way.url).map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let utf8 = Zeroizing::new(way.body.clone());
        let recoded = match page.charset == encoding_rs::UTF_8 {
            true => None,
            false => recoded(&way.content_type, &utf8, page.charset),
        };
        let shown = told_body(&way.content_type, &utf8, &self.teller.told_mask);
        Ok(Submission {
            url,
            content_type: way.content_type.clone(),
            body: recoded.unwrap_or(utf8),
            shown: vec![("as its scripts left it".to_owned(), shown)],
        })
    }
}

/// True if scripts have only added to a form's own address that they want a part of a page: a page that is read whole says more than what
/// is written into a hidden frame.
fn asks_for_part(own: &url::Url, sent: &url::Url) -> bool {
    let added = sent.query().and_then(|query| query.strip_prefix(own.query().unwrap_or_default())).unwrap_or_default();
    let keys =
        || added.split('&').filter(|piece| !piece.is_empty()).map(|piece| piece.split('=').next().unwrap_or_default());
    let is_same_place = sent[..url::Position::AfterPath] == own[..url::Position::AfterPath];
    is_same_place && keys().next().is_some() && keys().all(|key| AJAX_KEYS.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_only_asks_for_a_part_of_a_page_goes_to_its_own_address() {
        let asks = |own: &str, sent: &str| {
            let url = |path: &str| url::Url::parse(&format!("http://h.example{path}")).unwrap();
            asks_for_part(&url(own), &url(sent))
        };
        assert!(asks("/member.php?mod=logging&hash=LxPw", "/member.php?mod=logging&hash=LxPw&inajax=1"));
        assert!(asks("/login", "/login?ajax=1&handlekey=login"));
        for other in ["/login", "/login?step=2", "/login?ajax=1&step=2", "/other?ajax=1"] {
            assert!(!asks("/login", other), "{other}");
        }
        assert!(!asks("/login?a=1", "/login?a=12&ajax=1"));
    }
}
