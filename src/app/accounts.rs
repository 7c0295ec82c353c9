//! The state of the operator's account at a site, for `status`: from the process that crawls the site, or from the files
//! of the data folder if there is none.
//!
//! A stored session takes precedence over a later failed login: the next crawl verifies it first. It no longer counts if
//! the last crawl found it expired and the operator has done nothing since. Read-only; sends nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{secrets, sessions};
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::account::Keeper as _;
use gleaner_crawl::progress::SessionState;
use gleaner_crawl::site_loop::{MissingSession, SESSION_NOTE};
use gleaner_login::tries::{Hold, Tries};
use gleaner_rules::{LoginRules, SiteRules};
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// The account of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccountStatus {
    pub site: String,
    /// None if no rule file is available.
    pub user: Option<String>,
    pub state: AccountState,
    /// When the current session was last verified (UTC).
    pub proven: Option<String>,
    /// When the next automatic login is tried (UTC); None if that is at the next crawl, or never.
    pub until: Option<String>,
    /// Why there is no session, with a hint.
    pub reason: Option<String>,
    /// How the last login failed, if that is not the reason.
    pub last_login: Option<String>,
    /// When the process that crawls the site next checks for changes by the operator (UTC).
    #[serde(default)]
    pub next_look: Option<String>,
    /// What others can read of the password's file and folder, each with a hint.
    #[serde(default)]
    pub exposed: Vec<String>,
}

/// The state of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    /// The site is being crawled with it.
    LoggedIn,
    /// A session is stored for the next crawl.
    Kept,
    /// The session has to be verified, or a login has to start, before the crawl goes on.
    Due,
    /// The stored session is being verified.
    Proving,
    /// A login is under way.
    LoggingIn,
    NoSession,
    /// The stored session is broken, or this user may not read it.
    Unreadable,
}

/// Shown if the process of a login was killed.
const BROKE_OFF: &str = "the last login was interrupted: the next crawl waits for a minute, then tries again (hint: `gleaner login` \
                         does not wait)";

/// Shown if the form was accepted but no page could verify the login yet.
const UNPROVEN: &str = "the site accepted the last login, but its session is not proven yet: the next crawl proves it first (hint: \
                        `gleaner login` does so at once)";

/// The same if the site asked for a pause.
fn unproven_until(until: UnixMillis) -> String {
    let until = until.rfc3339();
    format!(
        "the site accepted the last login, but its session is not proven yet, and the site asks to wait until {until}: the next crawl \
         proves it then (hint: so does `gleaner login`; `gleaner login --again` does not wait)"
    )
}

/// Shown if nothing blocks a login.
const NOT_YET: &str = "none is stored; the next crawl logs in (hint: `gleaner login` does so at once)";

impl AccountStatus {
    fn new(site: &str, user: Option<&str>, state: AccountState) -> Self {
        let (proven, until, reason, last_login, next_look) = (None, None, None, None, None);
        let (site, user) = (site.to_owned(), user.map(ToOwned::to_owned));
        Self { site, user, state, proven, until, reason, last_login, next_look, exposed: Vec::new() }
    }

    /// The state reported by the process that crawls the site.
    #[must_use]
    pub fn live(site: &str, user: Option<&str>, session: &SessionState) -> Self {
        let of = |state| Self::new(site, user, state);
        match session {
            SessionState::Due => of(AccountState::Due),
            SessionState::Proving => of(AccountState::Proving),
            SessionState::LoggingIn => of(AccountState::LoggingIn),
            SessionState::Good { proven } => Self { proven: Some(proven.rfc3339()), ..of(AccountState::LoggedIn) },
            SessionState::Missing { until, why, next_look } => {
                let [until, next_look] = [*until, *next_look].map(|at| at.map(UnixMillis::rfc3339));
                Self { until, reason: Some(why.clone()), next_look, ..of(AccountState::NoSession) }
            }
        }
    }

    /// True if the files record neither a session nor a login.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.state == AccountState::NoSession && self.reason.as_deref() == Some(NOT_YET) && self.last_login.is_none()
    }
}

/// The account of a site whose rule file has a `[login]`; None for another. `live` is the report of the process that crawls
/// it, `db` the crawl database if there is one.
///
/// # Errors
/// Errors of the database.
pub async fn account(
    data_dir: &Path,
    rules: &SiteRules,
    live: Option<&SessionState>,
    db: Option<&dyn Reader>,
    now: UnixMillis,
) -> Result<Option<AccountStatus>, CrawlDbError> {
    let Some(login) = &rules.login else { return Ok(None) };
    let status = match live {
        Some(session) => of_process(data_dir, rules, login, session),
        None => of_files(data_dir, rules, login, db, now).await?,
    };
    let mut exposed = secrets::exposed(data_dir, &rules.name);
    exposed.retain(|told| Some(told) != status.reason.as_ref());
    Ok(Some(AccountStatus { exposed, ..status }))
}

/// What earlier logins forbid a login with this table.
fn tries_of(data_dir: &Path, site: &str, login: &LoginRules) -> Result<Tries, String> {
    let mut tries = sessions::tries(data_dir, site).map_err(|error| format!("{error:#}"))?;
    tries.meet_table(login.mark());
    tries.meet_way(login.way);
    Ok(tries)
}

/// How the last login ended, if it is worth reporting, and the end of the pause that the site asked for.
fn last_login(data_dir: &Path, of: (&str, &str), tries: &Result<Tries, String>, now: UnixMillis) -> Option<String> {
    let tries = match tries {
        Ok(tries) => tries,
        Err(error) => return Some(error.clone()),
    };
    let (site, user) = of;
    let told = match secrets::password(data_dir, site) {
        Ok(password) => tries.trouble_of(user, &password, now)?,
        Err(_) => tries.trouble()?,
    };
    let asked = tries.asked_until(now).map(|until| format!("; it asks to wait until {}", until.rfc3339()));
    let guessed = || {
        let until = tries.guessed_until(now)?.rfc3339();
        Some(format!("; it gave no time: {until} is an estimate"))
    };
    let until = asked.or_else(guessed).unwrap_or_default();
    let (said, hint) = told.split_once(" (hint: ").map_or((&*told, None), |(said, hint)| (said, Some(hint)));
    Some(format!("{said}{until}{}", hint.map_or_else(String::new, |hint| format!(" (hint: {hint}"))))
}

fn of_process(data_dir: &Path, rules: &SiteRules, login: &LoginRules, session: &SessionState) -> AccountStatus {
    let told = AccountStatus::live(&rules.name, Some(&login.user), session);
    let of = (&*rules.name, &*login.user);
    let last_login = last_login(data_dir, of, &tries_of(data_dir, &rules.name, login), UnixMillis(0));
    AccountStatus { last_login: last_login.filter(|_| told.state == AccountState::LoggedIn), ..told }
}

async fn of_files(
    data_dir: &Path,
    rules: &SiteRules,
    login: &LoginRules,
    db: Option<&dyn Reader>,
    now: UnixMillis,
) -> Result<AccountStatus, CrawlDbError> {
    let (site, user) = (&*rules.name, &*login.user);
    let of = |state| AccountStatus::new(site, Some(user), state);
    let unreadable = |reason: String| AccountStatus { reason: Some(reason), ..of(AccountState::Unreadable) };
    let kept = match sessions::kept_at(data_dir, site) {
        Ok(kept) => kept,
        Err(error) => return Ok(unreadable(format!("{error:#}"))),
    };
    if sessions::is_logging_in(data_dir, site) {
        return Ok(of(AccountState::LoggingIn));
    }
    let tries = tries_of(data_dir, site, login);
    // The stored session may belong to the user that the rule file named before.
    let member = tries.as_ref().ok().and_then(Tries::member).filter(|member| kept.is_some() && *member != user);
    let note = match db {
        Some(db) => db.note(site, SESSION_NOTE).await?,
        None => None,
    };
    let missing = note.and_then(|note| serde_json::from_slice::<MissingSession>(&note).ok());
    let missing = missing.filter(|missing| {
        let is_this_table = missing.table.is_none_or(|table| table == login.mark());
        is_this_table && missing.stamp == sessions::Files::new(data_dir, site, user).stamp()
    });
    let has_ended = missing.as_ref().is_some_and(|missing| missing.has_ended);
    if let (Some(proven), false, None) = (kept, has_ended, member) {
        let proven = Some(proven.rfc3339());
        let has_broken_off = || tries.as_ref().is_ok_and(|tries| broke_off(data_dir, site, user, tries, now));
        let last_login = last_login(data_dir, (site, user), &tries, now)
            .or_else(|| has_broken_off().then(|| "it was interrupted".to_owned()));
        // Why the last crawl could not verify it, if nothing was done since.
        let tried = sessions::tried_at(data_dir, site);
        let reason = missing.filter(|missing| tried.is_none_or(|tried| tried <= missing.at)).map(|missing| missing.why);
        return Ok(AccountStatus { proven, last_login, reason, ..of(AccountState::Kept) });
    }
    let tries = match tries {
        Ok(tries) => tries,
        Err(error) => return Ok(unreadable(error)),
    };
    // A later login by hand says more about the account than the crawl.
    let tried = sessions::tried_at(data_dir, site);
    let (until, reason) = match missing.filter(|missing| tried.is_none_or(|tried| tried <= missing.at)) {
        // Its waiting time is over, so its text would be outdated.
        Some(MissingSession { until, why, .. }) if until.is_none_or(|until| until > now) => (until, why),
        _ => missing_by_files(data_dir, site, user, &tries, now),
    };
    let last_login = last_login(data_dir, (site, user), &Ok(tries.clone()), now).filter(|_| reason == NOT_YET);
    let reason = match tries.member().filter(|member| reason == NOT_YET && kept.is_some() && *member != user) {
        Some(member) => format!(
            "the stored session is {member}'s; the next crawl logs in as {user} (hint: `gleaner login` does so at once)"
        ),
        None => reason,
    };
    let until = until.map(UnixMillis::rfc3339);
    Ok(AccountStatus { until, reason: Some(reason), last_login, ..of(AccountState::NoSession) })
}

/// The account of a site whose rule file was noted but cannot be used now, according to its files; None if they show
/// nothing.
#[must_use]
pub fn without_rules(data_dir: &Path, site: &str, file: &Path) -> Option<AccountStatus> {
    let (kept, tries) = (sessions::kept_at(data_dir, site), sessions::tries(data_dir, site));
    let user = tries.as_ref().ok().and_then(|tries| tries.member().map(ToOwned::to_owned));
    let gone = format!(
        "its rule file {} is missing or has faults\nhint: pass the folder of its rule file as --rules",
        file.display()
    );
    let of = |state| AccountStatus::new(site, user.as_deref(), state);
    match (kept, tries) {
        (Err(error), _) => Some(AccountStatus { reason: Some(format!("{error:#}")), ..of(AccountState::Unreadable) }),
        (Ok(Some(proven)), tries) => {
            let account = (site, user.as_deref().unwrap_or_default());
            let last_login = last_login(data_dir, account, &tries.map_err(|error| format!("{error:#}")), UnixMillis(0));
            Some(AccountStatus { proven: Some(proven.rfc3339()), last_login, ..of(AccountState::Kept) })
        }
        (Ok(None), Err(error)) => {
            Some(AccountStatus { reason: Some(format!("{error:#}")), ..of(AccountState::Unreadable) })
        }
        (Ok(None), Ok(tries)) => {
            let last_login = tries.trouble();
            sessions::tried_at(data_dir, site)?;
            Some(AccountStatus { reason: Some(gone), last_login, ..of(AccountState::NoSession) })
        }
    }
}

/// True if the process of the last login was killed.
fn broke_off(data_dir: &Path, site: &str, user: &str, tries: &Tries, now: UnixMillis) -> bool {
    secrets::password(data_dir, site).is_ok_and(|password| tries.clone().broke_off(user, &password, now))
}

/// Why there is no session, and until when, from the password and earlier logins.
fn missing_by_files(
    data_dir: &Path,
    site: &str,
    user: &str,
    tries: &Tries,
    now: UnixMillis,
) -> (Option<UnixMillis>, String) {
    let password = match secrets::password(data_dir, site) {
        Ok(password) => password,
        Err(error) => return (None, error.to_string()),
    };
    if sessions::is_unproven(data_dir, site, user, &password) {
        let until = tries.not_before(now);
        return (until, until.map_or_else(|| UNPROVEN.to_owned(), unproven_until));
    }
    // The state that the next crawl would derive from them.
    let mut tries = tries.clone();
    let broke_off = tries.broke_off(user, &password, now);
    match tries.hold(user, &password, now) {
        None => (None, NOT_YET.to_owned()),
        Some(Hold::Until(..)) if broke_off && tries.asked_until(now).is_none() => (None, BROKE_OFF.to_owned()),
        Some(Hold::Until(until, why)) => (Some(until), why),
        Some(Hold::Operator(why)) => (None, why),
    }
}

#[cfg(test)]
mod tests;
