//! How the operator's account at a site stands, for `status`: what the process that crawls the site tells, or what the files
//! of the data folder tell while nobody does.
//!
//! A session that is kept counts before a login that failed since: whoever crawls next proves it first. It counts no more
//! where the last crawl has found it ended and the operator has done nothing since. Reads alone; nothing is sent.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{secrets, sessions};
use crate::clock::UnixMillis;
use crate::crawl::account::{Keeper as _, hold};
use crate::crawl::progress::SessionState;
use crate::crawl::site_loop::{MissingSession, SESSION_NOTE};
use crate::crawldb::{CrawlDbError, Reader};
use crate::login::tries::{Hold, Tries};
use crate::rules::SiteRules;

/// The account of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountStatus {
    pub site: String,
    /// None where no rule file is at hand.
    pub user: Option<String>,
    pub state: AccountState,
    /// When the session that there is was last proven (UTC).
    pub proven: Option<String>,
    /// When the next login is tried without the operator (UTC); None where that is at the next crawl, or never.
    pub until: Option<String>,
    /// Why there is no session, and what to do.
    pub reason: Option<String>,
    /// How the last login ended, where it was not let in and that is not the reason.
    pub last_login: Option<String>,
}

/// What there is of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    /// The site is being crawled with it.
    LoggedIn,
    /// One is kept for the next crawl.
    Kept,
    /// It is to be proven, or a login is to begin, before the site is crawled on.
    Due,
    /// Whether the one that was kept holds is being asked.
    Proving,
    /// A login is under way.
    LoggingIn,
    NoSession,
    /// What is kept is not for whoever asks.
    Unreadable,
}

/// Told where a login's process was killed.
const BROKE_OFF: &str = "the last login did not get to its end: the next crawl waits for a minute, then tries again (hint: \
                         gleaner login SITE does not wait)";

/// Told where nothing stands against a login.
const NOT_YET: &str = "none is kept, and the next crawl logs in (hint: gleaner login SITE does it at once)";

impl AccountStatus {
    fn new(site: &str, user: Option<&str>, state: AccountState) -> Self {
        let (proven, until, reason, last_login) = (None, None, None, None);
        Self { site: site.to_owned(), user: user.map(ToOwned::to_owned), state, proven, until, reason, last_login }
    }

    /// What the process that crawls the site tells.
    #[must_use]
    pub fn live(site: &str, user: Option<&str>, session: &SessionState) -> Self {
        let of = |state| Self::new(site, user, state);
        match session {
            SessionState::Due => of(AccountState::Due),
            SessionState::Proving => of(AccountState::Proving),
            SessionState::LoggingIn => of(AccountState::LoggingIn),
            SessionState::Good { proven } => Self { proven: Some(proven.rfc3339()), ..of(AccountState::LoggedIn) },
            SessionState::Missing { until, why } => {
                Self { until: until.map(UnixMillis::rfc3339), reason: Some(why.clone()), ..of(AccountState::NoSession) }
            }
        }
    }

    /// True where the files tell of no session and of no login.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.state == AccountState::NoSession && self.reason.as_deref() == Some(NOT_YET) && self.last_login.is_none()
    }
}

/// The account of a site whose rule file has a `[login]`; None for another. `live` is what the process that crawls it tells,
/// `db` the crawl's database where there is one.
///
/// # Errors
/// Those of the database.
pub async fn account(
    data_dir: &Path,
    rules: &SiteRules,
    live: Option<&SessionState>,
    db: Option<&dyn Reader>,
    now: UnixMillis,
) -> Result<Option<AccountStatus>, CrawlDbError> {
    let Some(login) = &rules.login else { return Ok(None) };
    let (site, user) = (&*rules.name, &*login.user);
    let tries = sessions::tries(data_dir, site);
    let last_login = tries.as_ref().ok().and_then(Tries::trouble).map(ToOwned::to_owned);
    if let Some(session) = live {
        let told = AccountStatus::live(site, Some(user), session);
        let last_login = last_login.filter(|_| told.state == AccountState::LoggedIn);
        return Ok(Some(AccountStatus { last_login, ..told }));
    }
    let of = |state| AccountStatus::new(site, Some(user), state);
    let kept = match sessions::kept_at(data_dir, site) {
        Ok(kept) => kept,
        Err(error) => {
            let reason = format!("{error:#}\nhint: run this as the user that crawls");
            return Ok(Some(AccountStatus { reason: Some(reason), ..of(AccountState::Unreadable) }));
        }
    };
    if sessions::is_logging_in(data_dir, site) {
        return Ok(Some(of(AccountState::LoggingIn)));
    }
    let note = match db {
        Some(db) => db.note(site, SESSION_NOTE).await?,
        None => None,
    };
    let missing = note.and_then(|note| serde_json::from_slice::<MissingSession>(&note).ok());
    let missing = missing.filter(|missing| missing.stamp == sessions::Files::new(data_dir, site).stamp());
    if let (Some(proven), None) = (kept, &missing) {
        let proven = Some(proven.rfc3339());
        let has_broken_off = || tries.as_ref().is_ok_and(|tries| broke_off(data_dir, site, user, tries, now));
        let last_login = last_login.or_else(|| has_broken_off().then(|| "it did not get to its end".to_owned()));
        return Ok(Some(AccountStatus { proven, last_login, ..of(AccountState::Kept) }));
    }
    // A login by hand since then says more of the account than the crawl.
    let tried = sessions::tried_at(data_dir, site);
    let (until, reason) = match missing.filter(|missing| tried.is_none_or(|tried| tried <= missing.at)) {
        Some(MissingSession { until, why, .. }) => (until.filter(|until| *until > now), why),
        None => match &tries {
            Ok(tries) => missing_by_files(data_dir, site, user, tries, now),
            Err(error) => (None, format!("{error:#}")),
        },
    };
    let last_login = last_login.filter(|_| reason == NOT_YET);
    let (until, reason) = (until.map(UnixMillis::rfc3339), Some(reason));
    Ok(Some(AccountStatus { until, reason, last_login, ..of(AccountState::NoSession) }))
}

/// True where the process of the last login was killed.
fn broke_off(data_dir: &Path, site: &str, user: &str, tries: &Tries, now: UnixMillis) -> bool {
    secrets::password(data_dir, site).is_ok_and(|password| tries.clone().broke_off(user, &password, now))
}

/// Why there is no session, and until when, as far as the password and earlier logins tell.
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
    // What the next crawl would make of them.
    let mut tries = tries.clone();
    let broke_off = tries.broke_off(user, &password, now);
    match hold(&tries, user, &password, now) {
        None => (None, NOT_YET.to_owned()),
        Some(Hold::Until(..)) if broke_off => (None, BROKE_OFF.to_owned()),
        Some(Hold::Until(until, why)) => (Some(until), why),
        Some(Hold::Operator(why)) => (None, why),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::crawldb::CrawlDb as _;
    use crate::crawldb::memory_store::MemoryStore;
    use crate::fetch::session::Jar;
    use crate::login::secret::Secret;
    use crate::login::tries::Ended;
    use crate::login::verdict::Verdict;
    use crate::rules;

    const REFUSED: Ended = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };

    struct Folder(tempfile::TempDir, MemoryStore);

    impl Folder {
        fn path(&self) -> &Path {
            self.0.path()
        }

        fn password(&self, password: &str) {
            let file = secrets::file_of(self.path(), "s");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, password).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }

        fn tries(&self, change: impl FnOnce(&mut Tries)) {
            let mut tries = sessions::tries(self.path(), "s").unwrap();
            change(&mut tries);
            sessions::save_tries(self.path(), "s", &tries).unwrap();
        }

        /// What a crawl that ends without a session leaves, `later` than all there is.
        async fn left(&self, why: &str, later: UnixMillis) {
            let stamp = sessions::Files::new(self.path(), "s").stamp();
            let note = MissingSession { at: later, until: None, why: why.to_owned(), stamp };
            self.1.put_note("s", SESSION_NOTE, serde_json::to_vec(&note).unwrap()).await.unwrap();
        }

        async fn status(&self) -> AccountStatus {
            let rules =
                rules::from_text("s", "start = ['http://h.example/']\nclasses.page = ['.']\nlogin.user = 'anna'");
            account(self.path(), &rules.unwrap(), None, Some(&self.1), NOW).await.unwrap().unwrap()
        }
    }

    /// Long before any file of the test was written.
    const NOW: UnixMillis = UnixMillis(1_000_000_000);
    const LATER: UnixMillis = UnixMillis(u64::MAX);

    #[tokio::test]
    async fn the_account_of_a_site_that_nobody_crawls_always_has_a_state_and_a_reason() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        let told = async || (folder.status().await.state, folder.status().await.reason.unwrap_or_default());
        let (state, why) = told().await;
        assert!(state == AccountState::NoSession && why.starts_with("no password for the site s\nhint: "), "{why}");
        folder.password("one");
        assert_eq!(told().await, (AccountState::NoSession, NOT_YET.to_owned()));
        assert!(folder.status().await.is_untouched());

        // Killed in the middle of a login; and while one is under way, that is what it tells.
        folder.tries(|tries| tries.begin("anna", &Secret::new("one")));
        assert_eq!(told().await, (AccountState::NoSession, BROKE_OFF.to_owned()));
        let turn = sessions::turn(folder.path(), "s").unwrap();
        assert_eq!(told().await.0, AccountState::LoggingIn);
        drop(turn);

        folder.tries(|tries| tries.ended(REFUSED, "anna", &Secret::new("one"), NOW));
        assert_eq!(told().await, (AccountState::NoSession, Verdict::WrongPassword.sentence().to_owned()));
        folder.password("another");
        assert_eq!(told().await, (AccountState::NoSession, NOT_YET.to_owned()));
        let last = folder.status().await.last_login;
        assert_eq!(last.as_deref(), Some(Verdict::WrongPassword.sentence()));
    }

    #[tokio::test]
    async fn a_kept_session_counts_before_a_login_that_failed_until_a_crawl_has_found_it_ended() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        folder.password("one");
        let jar = Jar::default();
        jar.import("h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n", |_| true).unwrap();
        sessions::save(folder.path(), "s", &jar).unwrap();
        let kept = folder.status().await;
        assert!(kept.state == AccountState::Kept && kept.last_login.is_none(), "{kept:?}");
        assert!(kept.proven.as_deref().is_some_and(|at| at > "2020"), "{kept:?}");

        folder.tries(|tries| tries.ended(REFUSED, "anna", &Secret::new("one"), NOW));
        let refused = folder.status().await;
        assert_eq!((refused.state, refused.proven.clone()), (AccountState::Kept, kept.proven));
        assert_eq!(refused.last_login.as_deref(), Some(Verdict::WrongPassword.sentence()));

        folder.left("the crawl's own words", LATER).await;
        let ended = folder.status().await;
        assert_eq!((ended.state, ended.reason.as_deref()), (AccountState::NoSession, Some("the crawl's own words")));
        // A try by hand behind it has the last word on the login, and not on the session.
        folder.left("the crawl's own words", UnixMillis(1)).await;
        let ended = folder.status().await;
        assert_eq!(ended.reason.as_deref(), Some(Verdict::WrongPassword.sentence()));
        // What the operator does makes it count again.
        sessions::save(folder.path(), "s", &jar).unwrap();
        assert_eq!(folder.status().await.state, AccountState::Kept);
    }
}
