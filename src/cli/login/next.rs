//! The next step after a failed login: one for each way in which it can fail, as a command to copy, or as the key and
//! the file to fix.

use std::path::Path;

use super::steps;
use crate::app::secrets;
use crate::cli::hints::{Hints, quoted, without_hint};
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::login::{CODE_REFUSED, HOSTS_LINE, IN_FRONT, OWN_HOST, Pin, Report};
use gleaner_login::tries::ByHand;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::CAME_IN_THE_CLEAR;
use gleaner_rules::{LoginRules, SiteRules};

/// The login that has ended.
pub struct Login<'a> {
    pub hints: &'a Hints,
    pub data_dir: &'a Path,
    pub site: &'a SiteRules,
    pub rules: &'a LoginRules,
    pub is_interactive: bool,
    /// The file of a browser's session, if one is imported.
    pub cookies: Option<&'a Path>,
    /// A login by hand sends the same credentials again only with `--again`.
    pub is_held: bool,
    /// From when on they are sent again without it, because the site has accepted them before.
    pub further_at: Option<UnixMillis>,
    /// That time is our guess: the site asked to wait and named no time.
    pub is_guessed: bool,
    /// The site itself asked for a pause until a time.
    pub is_asked: bool,
    /// When the lock of the account ends, if the site shows it.
    pub lock_ends: Option<UnixMillis>,
    /// The end of the pause that the site asked for.
    pub not_before: Option<UnixMillis>,
}

impl Login<'_> {
    /// The next step for the operator; None after a successful login.
    #[must_use]
    pub fn next(&self, report: &Report) -> Option<String> {
        let (file, again) = (quoted(&self.site.file), self.run(""));
        let place = secrets::place_of(self.data_dir, &self.site.name);
        // After a verdict in the site's words, or with a stored cookie, missing cookies are not the cause.
        let is_told = matches!(
            report.judged.verdict,
            Verdict::LoggedIn | Verdict::WrongPassword | Verdict::Locked | Verdict::RateLimited | Verdict::LimitedAgain
        );
        if !is_told && !report.sets_cookies && has(report, CAME_IN_THE_CLEAR) {
            return Some(format!(
                "set `start` of {file} to the https address of the site, as its cookies are only kept over https, then run: {}",
                self.run(if report.was_sent { " --again" } else { "" })
            ));
        }
        Some(match report.judged.verdict {
            Verdict::LoggedIn => return None,
            Verdict::NotLookedAt
            | Verdict::SiteTrouble
            | Verdict::SessionLost
            | Verdict::NoAnswer
            | Verdict::LimitedAgain
            | Verdict::Unknown
                if self.further_at.is_some() && !report.is_unproven() =>
            {
                self.further_at.map_or_else(String::new, |until| self.further(until))
            }
            Verdict::WrongPassword => self.wrong_password(&place, &file),
            Verdict::Locked => self.locked(),
            Verdict::ConfirmEmail if report.was_sent => self.confirm(),
            Verdict::ConfirmEmail => format!("follow the link in the site's mail, then run: {again}"),
            Verdict::PasswordExpired => self.expired(),
            Verdict::ProbablyRefused => self.probably_refused(),
            Verdict::LimitedAgain if self.is_held => self.no_end(),
            Verdict::RateLimited | Verdict::LimitedAgain => match self.not_before {
                Some(until) => self.wait(until),
                None => format!("check in a browser that the account is not locked, then run: {again}"),
            },
            Verdict::OtherSite => self.other_site(report, &file),
            Verdict::SentByGet | Verdict::Script => self.browser(),
            Verdict::Captcha | Verdict::SecondFactor => self.person(report),
            Verdict::RedirectLoop => {
                format!(
                    "check in a browser where it leads, and correct `start`, or `page` in [login], of {file}, then run: {again}"
                )
            }
            Verdict::NoForm => self.no_form(report, &file),
            Verdict::NotLookedAt | Verdict::SiteTrouble | Verdict::SessionLost
                if !self.is_held && (self.is_guessed || self.is_asked) && self.not_before.is_some() =>
            {
                let wait = self.not_before.map_or_else(String::new, |until| self.wait(until));
                format!("check in a browser that the site works; {wait}")
            }
            Verdict::NotLookedAt => format!("run: {again}"),
            Verdict::SiteTrouble | Verdict::SessionLost if self.is_held => format!(
                "check in a browser that the site works and that the account is not locked, then run: {}",
                self.run(" --again")
            ),
            Verdict::SiteTrouble | Verdict::SessionLost => {
                format!(
                    "check in a browser that the site works, then run: {again}; a crawl retries by itself, after growing waits"
                )
            }
            Verdict::Unknown | Verdict::NoAnswer => self.unknown(report, &file),
        })
    }

    fn wrong_password(&self, place: &str, file: &str) -> String {
        let again = self.run("");
        let keys = self.keys();
        let others = match keys.is_empty() {
            true => String::new(),
            false => format!("; if {keys} there was wrong, correct it and run: {}", self.run(" --again")),
        };
        // A wait applies to another password as well.
        let (later, all_the_same) = match self.not_before.filter(|_| self.is_asked) {
            Some(until) => (
                format!(", at {} or later,", until.rfc3339()),
                format!("; if it is right after all, run then: {}", self.run(" --again")),
            ),
            None => Default::default(),
        };
        format!(
            "correct the password in {place}, or `user` in [login] of {file}, then{later} run: {again}{others}{all_the_same}"
        )
    }

    fn other_site(&self, report: &Report, file: &str) -> String {
        let again = self.run(if report.was_sent { " --again" } else { "" });
        let line = report.judged.evidence.iter().find_map(|of| of.split('`').find(|of| of.starts_with(HOSTS_LINE)));
        let hosts = match line {
            Some(line) => format!("write `{line}` above the tables of {file}"),
            None => format!("add it to `hosts` of {file}"),
        };
        match has(report, OWN_HOST) {
            true => {
                format!("set `start` of {file} to the site's current address, or {hosts}, then run: {again}")
            }
            false => format!("if that host is this site's own, {hosts}, then run: {again}; else {}", self.browser()),
        }
    }

    /// After a login that needs a CAPTCHA solved or a code typed.
    fn person(&self, report: &Report) -> String {
        let is_captcha = report.judged.verdict == Verdict::Captcha;
        let is_twice = self.is_interactive && self.is_held;
        // A script challenge, or a link sent by mail, cannot be typed here.
        match is_captcha {
            false if is_twice => self.code_twice(),
            false if has(report, CODE_REFUSED) => {
                format!("type the current code, run: {}", self.run(" --interactive"))
            }
            true if is_twice => self.captcha_twice(),
            true if self.is_interactive && !has(report, BY_SCRIPT) && !has(report, NOT_SHOWN) => {
                format!("read it once more, run: {}; or {}", self.run(" --interactive"), self.browser())
            }
            _ if self.is_interactive || has(report, BY_SCRIPT) || has(report, BY_LETTER) => self.browser(),
            _ => format!("run: {}", self.run(" --interactive")),
        }
    }

    /// If the site asked for a pause until this time.
    fn wait(&self, until: UnixMillis) -> String {
        let (until, again) = (until.rfc3339(), self.run(""));
        match self.is_guessed {
            true => format!(
                "wait until {until} (an estimate, as the site gave no time), then run: {again}; to try sooner, run: {}",
                self.run(" --again")
            ),
            false => format!("wait until {until}, then run: {again}"),
        }
    }

    /// For credentials that the site accepted before, and has answered without a clear result more than once.
    fn further(&self, until: UnixMillis) -> String {
        format!(
            "check in a browser that the site works and that the account is not locked; a crawl retries at {} or later, and so does: \
             {}; to try sooner, run: {}",
            until.rfc3339(),
            self.run(""),
            self.run(" --again")
        )
    }

    /// After a form that came back: only a members' page can show whether the password is wrong.
    #[must_use]
    pub fn probably_refused(&self) -> String {
        let (file, again) = (quoted(&self.site.file), self.run(""));
        let place = secrets::place_of(self.data_dir, &self.site.name);
        let proof = match self.other_proof() {
            Some(proof) => format!("{proof} in [login] of {file} and run the same command, or "),
            None => String::new(),
        };
        format!(
            "check the password in {place}, and `user`{} in [login] of {file}, then run: {again}; if both are right, {proof}run: {}",
            if self.keys().is_empty() { String::new() } else { format!(", {}", self.keys().replace(" or ", ", ")) },
            self.run(" --again")
        )
    }

    /// The keys other than `user` in the rule file that define the request; empty if there are none.
    fn keys(&self) -> String {
        let LoginRules { form, user_field, password_field, fields, .. } = self.rules;
        let named = [
            ("form", form.is_some()),
            ("user_field", user_field.is_some()),
            ("password_field", password_field.is_some()),
            ("fields", !fields.is_empty()),
        ];
        let keys = named.iter().filter(|(_, is_there)| *is_there).map(|(key, _)| *key);
        keys.map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" or ")
    }

    /// Another page that may prove a session, if the rule file leaves it open.
    fn other_proof(&self) -> Option<String> {
        match (&self.rules.json, &self.rules.probe) {
            (Some(json), _) => Some(format!("correct `json.token` (`{}`), which must point to the token,", json.token)),
            (None, None) => Some("name a page that only members see as `probe`".to_owned()),
            (None, Some(_)) => Some("correct `probe`, which must be a page that only members see,".to_owned()),
        }
    }

    fn locked(&self) -> String {
        let run = self.run(" --again");
        match self.lock_ends.map(UnixMillis::rfc3339) {
            Some(ends) => format!(
                "the site says that the lock ends at {ends}: check in a browser afterwards that you can log in, and with which \
                 password, then run: {run}"
            ),
            None => format!("unlock the account in a browser, then run: {run}"),
        }
    }

    fn confirm(&self) -> String {
        format!("follow the link in the site's mail, then run: {}", self.run(" --again"))
    }

    fn expired(&self) -> String {
        let place = secrets::place_of(self.data_dir, &self.site.name);
        format!(
            "change it with a browser, write the new one into {place}, then run: {}; or, if it is still valid, run: {}",
            self.run(""),
            self.run(" --again")
        )
    }

    fn captcha_twice(&self) -> String {
        format!("if user and password are right, run: {}; or {}", self.run(" --interactive --again"), self.browser())
    }

    fn code_twice(&self) -> String {
        format!(
            "check in a browser that user and password are right, then, with the current code, run: {}; or {}",
            self.run(" --interactive --again"),
            self.browser()
        )
    }

    fn no_end(&self) -> String {
        format!("check in a browser that the account is not locked, then run: {}", self.run(" --again"))
    }

    /// Why a login does not start, and the next step.
    #[must_use]
    pub fn kept_back(&self, hold: ByHand, is_unproven: bool) -> String {
        match hold {
            ByHand::Refused(verdict) => self.refused(verdict),
            ByHand::Locked => {
                format!("the account was locked at the last login: no other one is tried\nhint: {}", self.locked())
            }
            ByHand::NoEnd => format!(
                "the last logins ended without a clear result, and may have been refused: nothing was sent\nhint: {}",
                self.no_end()
            ),
            ByHand::Sent(verdict) => self.sent(verdict),
            ByHand::SentUntil(verdict, until) => format!(
                "the site accepted this user and password before; they were sent more than once since, without a clear answer ({}): \
                 nothing was sent\nhint: {}",
                without_hint(verdict.sentence()),
                self.further(until)
            ),
            ByHand::TooMany => format!(
                "the site has refused so many passwords of this account that no more are recorded: nothing was sent\nhint: correct \
                 the password in {}, then run: {}",
                secrets::place_of(self.data_dir, &self.site.name),
                self.run(" --again")
            ),
            ByHand::SecondFactor => format!(
                "the site has answered this user and password with a second factor: nothing was sent\nhint: run: {}; or {}",
                self.run(" --interactive"),
                self.browser()
            ),
            ByHand::SecondFactorTwice => format!(
                "the site has asked for a second factor twice, and may also have refused this user and password: nothing was \
                 sent\nhint: {}",
                self.code_twice()
            ),
            ByHand::Captcha => format!(
                "the site has answered this user and password with a CAPTCHA: nothing was sent\nhint: run: {}; or {}",
                self.run(" --interactive"),
                self.browser()
            ),
            ByHand::CaptchaTwice => format!(
                "the site has answered this user and password with a CAPTCHA twice, and may also have refused them: nothing was \
                 sent\nhint: {}",
                self.captcha_twice()
            ),
            ByHand::CaptchaBefore => format!(
                "the site has answered this user and password with a CAPTCHA before another one was tried, and may have refused them: \
                 nothing was sent\nhint: if they are right, run: {}",
                self.run(" --interactive --again")
            ),
            ByHand::GuessedToWait(until) => {
                self.waits("the site asked at the last login to wait and gave no time; the estimate is to wait", until)
            }
            ByHand::AskedToWait(until) if is_unproven => format!(
                "the site asked at the last login, which is not proven yet, to wait until {}\nhint: {}",
                until.rfc3339(),
                self.unproven()
            ),
            ByHand::AskedToWait(until) => self.waits("the site asked at the last login to wait", until),
        }
    }

    fn refused(&self, verdict: Verdict) -> String {
        let is_sure = verdict == Verdict::WrongPassword;
        let later = self.not_before.filter(|_| self.is_asked);
        let later =
            later.map_or_else(String::new, |until| format!("; the site asks to wait until {}", until.rfc3339()));
        let proof = self.other_proof().filter(|_| !is_sure);
        let proof = proof.map_or_else(String::new, |proof| {
            format!("; if it is right, {proof} in [login] of {}, then run the same command", quoted(&self.site.file))
        });
        format!(
            "the site has {}refused this user and password before\nhint: correct the password in {}; `{}` sends the same once \
             more{later}{proof}",
            if is_sure { "" } else { "probably " },
            secrets::place_of(self.data_dir, &self.site.name),
            self.run(" --again")
        )
    }

    fn sent(&self, verdict: Verdict) -> String {
        let hint = match verdict {
            Verdict::ConfirmEmail => self.confirm(),
            Verdict::PasswordExpired => self.expired(),
            Verdict::NoAnswer | Verdict::SiteTrouble | Verdict::LimitedAgain => self.no_end(),
            Verdict::OtherSite => format!(
                "if that host is this site's own, set `start` of {} to it or add it to `hosts`, beside the one of `start`, then run: \
                 {}; else {}",
                quoted(&self.site.file),
                self.run(" --again"),
                self.browser()
            ),
            _ => {
                let proof = self.other_proof().filter(|_| matches!(verdict, Verdict::Unknown | Verdict::SessionLost));
                let proof = proof.map_or_else(String::new, |proof| {
                    format!("{proof} in [login] of {}, then run the same command; or ", quoted(&self.site.file))
                });
                format!(
                    "check in a browser that the user and the password are right; {proof}run: {}",
                    self.run(" --again")
                )
            }
        };
        format!(
            "this user and password were sent before, and may have been refused ({}): nothing was sent\nhint: {hint}",
            without_hint(verdict.sentence())
        )
    }

    /// Why nothing is requested before a time, and who set it.
    #[must_use]
    pub fn waits(&self, who: &str, until: UnixMillis) -> String {
        let until = until.rfc3339();
        let cookies = self.cookies.map_or_else(String::new, |file| format!(" --cookies {}", quoted(file)));
        format!(
            "{who} until {until}: nothing was sent\nhint: run the same command then; `{}` does not wait",
            self.run(&format!("{cookies} --again"))
        )
    }

    /// For a missing page that should prove the last login.
    #[must_use]
    pub fn unproven(&self) -> String {
        let (file, again) = (quoted(&self.site.file), self.run(""));
        let when = match self.not_before {
            Some(until) => format!("wait until {}, then run: {again}", until.rfc3339()),
            None => format!("once the site answers again, run: {again}"),
        };
        let probe = match self.rules.probe {
            None => "name a page that only members see as `probe`",
            Some(_) => "name another page that only members see as `probe`",
        };
        format!(
            "{when}; if that page never answers, {probe} in [login] of {file}, import a browser's session with --cookies, discard the \
             login with --logout, or send the form again with: {}",
            self.run(" --again")
        )
    }

    fn no_form(&self, report: &Report, file: &str) -> String {
        if report.pinned == Some(Pin::Site) {
            return format!(
                "check in a browser what the site answers; if its address has changed, correct `start` of {file}; then run: {}",
                self.run("")
            );
        }
        if report.pinned == Some(Pin::Scheme) {
            return format!("name a page with a login form as `page` in [login] of {file}, if the site has one");
        }
        let was_found = report.steps.iter().any(|step| step.starts_with("page of the form: "));
        match steps::forms_seen(&report.steps) {
            Some(seen) if report.pinned == Some(Pin::Address) => {
                format!(
                    "name another `form` in [login] of {file} if that one logs in (the page has {seen}), or {}",
                    self.browser()
                )
            }
            Some(seen) if report.pinned.is_some_and(|pin| pin != Pin::Page) => {
                let key = report.pinned.map_or("", Pin::key);
                format!("correct `{key}` in [login] of {file}; the page has {seen}")
            }
            Some(seen) if was_found => {
                format!("name `form`, `user_field` and `password_field` in [login] of {file}; the page has {seen}")
            }
            _ if report.pinned.is_some() => {
                format!("check in a browser which page has the form, and correct `page` in [login] of {file}")
            }
            _ => format!("name the page that has the form as `page` in [login] of {file}, then run: {}", self.run("")),
        }
    }

    fn unknown(&self, report: &Report, file: &str) -> String {
        let again = self.run("");
        let is_in_front = report.judged.evidence.iter().any(|evidence| evidence.contains(IN_FRONT));
        match (report.trouble.is_some(), report.was_sent) {
            (true, false) if is_in_front => {
                format!(
                    "{IN_FRONT} may let you in later: wait, then run: {again}; or, if it asks for something, {}",
                    self.browser()
                )
            }
            (true, false) if self.not_before.is_some() => {
                self.not_before.map_or_else(String::new, |until| self.wait(until))
            }
            (true, false) => format!("check that the site answers (`start` in {file}), then run: {again}"),
            (true, _) if self.not_before.is_some() && (!report.was_sent || report.is_unproven()) => {
                let until = self.not_before.map_or_else(String::new, UnixMillis::rfc3339);
                format!("wait until {until}, then run: {again}")
            }
            (true, true) if report.is_unproven() => {
                format!("wait until the site answers again, then run (this proves the session first): {again}")
            }
            (true, true) if self.is_held => self.no_end(),
            (true, true) if self.is_guessed && self.not_before.is_some() => {
                let wait = self.not_before.map_or_else(String::new, |until| self.wait(until));
                format!("check in a browser that the account is not locked; {wait}")
            }
            (true, true) => format!("check in a browser that the account is not locked, then run: {again}"),
            (false, false) => self.browser(),
            (false, true) => match self.other_proof() {
                Some(proof) => format!(
                    "{proof} in [login] of {file}, then run: {again}; or, if user and password are right, run: {}",
                    self.run(" --again")
                ),
                None => format!(
                    "check in a browser whether the password is right, and whether `probe` in [login] of {file} is a page that \
                     members see, then run: {}",
                    self.run(" --again")
                ),
            },
        }
    }

    fn browser(&self) -> String {
        format!("log in with a browser, export its cookies, then run: {}", self.run(" --cookies cookies.txt"))
    }

    fn run(&self, more: &str) -> String {
        // An interactive login is repeated as an interactive one.
        let is_asked = self.is_interactive && !more.contains("--interactive") && !more.contains("--cookies");
        let interactive = if is_asked { " --interactive" } else { "" };
        self.hints.command(&format!("login {}{interactive}{more}", self.site.name))
    }
}

fn has(report: &Report, text: &str) -> bool {
    report.judged.evidence.iter().any(|evidence| evidence.contains(text))
}

/// Phrases of the evidence for a challenge that only a browser shows, for an unusable picture, and for a code or link sent by
/// another channel; the command's tests check them.
const BY_SCRIPT: &str = "which only a browser shows";
const NOT_SHOWN: &str = "picture cannot be shown";
const BY_LETTER: &str = "it may have sent a code or a link";
