//! Why a site has no session: reported while the site is crawled, and stored for later reports.

use serde::{Deserialize, Serialize};

use super::{Pause, Session};
use crate::CrawlError;
use crate::limits;
use crate::progress::{Ended, SESSION_WAITS};
use gleaner_base::clock::UnixMillis;
use gleaner_login::names::of_site;
use gleaner_login::secret::told_url;
use gleaner_login::tries::{self, Hold};
use gleaner_net::fetch::session::Jar;
use gleaner_rules::LoginRules;

/// Name of the note that stores why a site had no session when it was last crawled.
pub const SESSION_NOTE: &str = "session";

/// Why a site had no session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingSession {
    /// Time of the record.
    pub at: UnixMillis,
    /// When the crawl would have retried by itself; None if its operator has to act.
    pub until: Option<UnixMillis>,
    pub why: String,
    /// Stamp of the operator's last change by then ([`Keeper::stamp`](crate::account::Keeper::stamp)).
    pub stamp: u64,
    /// The rule file's table that was used ([`LoginRules::mark`](gleaner_rules::LoginRules::mark)).
    #[serde(default)]
    pub table: Option<u32>,
    /// False if the stored session was not found to have ended: the site was left alone before any request.
    #[serde(default = "has_ended")]
    pub has_ended: bool,
}

/// The default for notes from before this field existed.
fn has_ended() -> bool {
    true
}

impl Session {
    /// Why a one-shot crawl does not wait for a session any longer.
    pub(in crate::site_loop) fn out_of_reach(&self, now: UnixMillis) -> Option<String> {
        let Pause { until, needs_operator, .. } = self.paused()?;
        (*needs_operator || until.since(now) > limits::SESSION_PATIENCE).then(|| self.why_missing())?
    }

    /// Why there is no session, with the time of the next crawl if that needs no action.
    fn why_missing(&self) -> Option<String> {
        let Pause { until, why, needs_operator } = self.paused()?;
        let again = || format!("\nhint: crawl again at {} or later", until.rfc3339());
        let why = match self.has_ended {
            true => why.to_owned(),
            false => format!("{SESSION_WAITS}: {why}"),
        };
        Some(if *needs_operator { why } else { why + &again() })
    }

    /// True if the site waits for a session, or has had none yet.
    pub(in crate::site_loop) fn is_missing(&self) -> bool {
        self.paused().is_some() || self.proven == UnixMillis(0) && !self.is_good()
    }

    /// How a crawl ends that is stopped by a signal while it lacks a session: for that reason it has not crawled.
    pub(in crate::site_loop) fn ended_by_signal(&self) -> Ended {
        let stopped = || "stopped before the session was proven\nhint: crawl again to continue".to_owned();
        let why = self.why_missing().or_else(|| self.login_broken_off());
        Ended::NotLoggedIn(why.unwrap_or_else(stopped))
    }

    /// The report on a login that is aborted while its form, or its proof, is in flight: what the next process will conclude from
    /// it. None if nothing was sent.
    pub(in crate::site_loop) fn login_broken_off(&self) -> Option<String> {
        let is_under_way = self.has_form_under_way();
        let (account, rules) = (self.site.account.as_ref()?, self.site.rules.login.as_ref()?);
        let (now, password) = (self.site.clock.now(), account.keeper.password().ok()?);
        let mut tries = account.keeper.tries().ok().filter(|_| is_under_way)?;
        if account.keeper.take_up_unproven(&Jar::default()).unwrap_or(false) {
            return Some(
                "stopped before the login was proven\nhint: crawl again to continue: the login is proven first"
                    .to_owned(),
            );
        }
        tries.broke_off(&rules.user, &password, now);
        let why = match tries.hold(&rules.user, &password, now)? {
            Hold::Operator(why) => why,
            Hold::Until(until, _) => {
                format!("its form is sent once more\nhint: crawl again at {} or later", until.rfc3339())
            }
        };
        Some(of_site(&format!("stopped before the login was answered: {why}"), &self.site.rules.name))
    }

    /// The same if a budget of its run, or of its site, ends it. `time_is_over` if that is the run's time; the first host pauses
    /// until `host_until`.
    pub(in crate::site_loop) fn ended_by(&self, budget: String, time_is_over: bool, host_until: UnixMillis) -> Ended {
        if let Some(why) = self.why_missing() {
            return Ended::NotLoggedIn(why);
        }
        if !time_is_over {
            return Ended::Budget(budget);
        }
        let now = self.site.clock.now();
        let (until, why) = match self.next_login(now) {
            Some(Hold::Operator(why)) => return Ended::NotLoggedIn(why),
            Some(Hold::Until(until, why)) => (until, format!("; {why}")),
            None => (UnixMillis(0), String::new()),
        };
        let until = until.max(host_until);
        let hint = match until > now {
            true => format!("crawl again at {} or later", until.rfc3339()),
            false => "crawl again with more time".to_owned(),
        };
        Ended::NotLoggedIn(format!("stopped at {budget}, before the session was proven{why}\nhint: {hint}"))
    }

    /// What prevents the next login according to earlier ones; None if a proof comes first.
    fn next_login(&self, now: UnixMillis) -> Option<Hold> {
        let account = self.site.account.as_ref()?;
        account.jar.is_empty().then(|| self.hold_of_tries(now))?
    }

    /// Why there is no proof, and when it is requested again: each time later, so that a page which is never answered is not
    /// requested every minute.
    pub(super) fn proof_missed(&self, now: UnixMillis) -> (String, UnixMillis) {
        let times = self.proofs_missed;
        let login = self.site.rules.login.as_ref();
        let page = login.and_then(|login| login.probe.as_ref()).or(self.site.rules.start.first());
        let page = page.map(|page| told_url(page.as_str())).unwrap_or_default();
        let often = if times > 1 { format!(", {times} times in a row") } else { String::new() };
        let why = format!(
            "the page that proves the session was not answered, or only with an error{often}: {page} (hint: check in a browser \
             whether it answers members, or name another one as `probe` in [login])"
        );
        (why, now.plus(tries::wait_in_trouble(times)))
    }

    /// Stores why there is no session, for reports while the site is not crawled.
    pub(super) async fn keep_pause(&self) -> Result<(), CrawlError> {
        let Some(Pause { until, why, needs_operator }) = self.paused() else { return Ok(()) };
        let (at, until) = (self.site.clock.now(), (!needs_operator).then_some(*until));
        let table = self.site.rules.login.as_ref().map(LoginRules::mark);
        let (stamp, has_ended) = (self.stamp, self.has_ended);
        let note = MissingSession { at, until, why: why.clone(), stamp, table, has_ended };
        let note = serde_json::to_vec(&note).unwrap_or_default();
        Ok(self.site.db.put_note(&self.site.rules.name, SESSION_NOTE, note).await?)
    }

    /// The reason that an earlier crawl has stored for a pause with this end, if the operator has not acted since.
    pub(super) async fn why_until_then(&self, until: UnixMillis) -> Result<Option<String>, CrawlError> {
        let note = self.site.db.note(&self.site.rules.name, SESSION_NOTE).await?;
        let kept = note.and_then(|note| serde_json::from_slice::<MissingSession>(&note).ok());
        let is_this = |kept: &MissingSession| kept.until == Some(until) && kept.stamp == self.stamp;
        Ok(kept.filter(is_this).map(|kept| kept.why))
    }
}
