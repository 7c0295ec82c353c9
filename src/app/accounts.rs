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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use gleaner_login::secret::Secret;
    use gleaner_login::tries::Ended;
    use gleaner_login::verdict::Verdict;
    use gleaner_net::fetch::session::Jar;
    use gleaner_rules as rules;
    use gleaner_store::crawldb::CrawlDb as _;
    use gleaner_store::crawldb::memory_store::MemoryStore;

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

        /// What a crawl without a session stores when it ends, `later` than everything else.
        async fn left(&self, why: &str, later: UnixMillis) {
            let stamp = sessions::Files::new(self.path(), "s", "anna").stamp();
            let table = rules("anna").login.as_ref().map(LoginRules::mark);
            let note = MissingSession { at: later, until: None, why: why.to_owned(), stamp, table, has_ended: true };
            self.1.put_note("s", SESSION_NOTE, serde_json::to_vec(&note).unwrap()).await.unwrap();
        }

        async fn status(&self) -> AccountStatus {
            self.status_of("anna").await
        }

        async fn status_of(&self, user: &str) -> AccountStatus {
            account(self.path(), &rules(user), None, Some(&self.1), NOW).await.unwrap().unwrap()
        }
    }

    fn rules(user: &str) -> std::sync::Arc<SiteRules> {
        let text = format!("start = ['http://h.example/']\nclasses.page = ['.']\nlogin.user = '{user}'");
        rules::from_text("s", &text).unwrap()
    }

    fn cookie() -> Jar {
        let jar = Jar::default();
        jar.import("h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n", |_| true).unwrap();
        jar
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

        // Killed during a login; while one is under way, that is reported.
        folder.tries(|tries| tries.begin("anna", &Secret::new("one")));
        assert_eq!(told().await, (AccountState::NoSession, Verdict::NoAnswer.sentence().to_owned()));
        folder.tries(|tries| {
            let let_in = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
            tries.ended(let_in, "anna", &Secret::new("one"), NOW);
            tries.begin("anna", &Secret::new("one"));
        });
        assert_eq!(told().await, (AccountState::NoSession, BROKE_OFF.to_owned()));
        let turn = sessions::turn(folder.path(), "s").unwrap();
        assert_eq!(told().await.0, AccountState::LoggingIn);
        drop(turn);

        folder.tries(|tries| {
            tries.ended(REFUSED, "anna", &Secret::new("one"), NOW);
        });
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
        let jar = cookie();
        sessions::save(folder.path(), "s", &jar).unwrap();
        let kept = folder.status().await;
        assert!(kept.state == AccountState::Kept && kept.last_login.is_none(), "{kept:?}");
        assert!(kept.proven.as_deref().is_some_and(|at| at > "2020"), "{kept:?}");

        folder.tries(|tries| {
            tries.ended(REFUSED, "anna", &Secret::new("one"), NOW);
        });
        let refused = folder.status().await;
        assert_eq!((refused.state, refused.proven.clone()), (AccountState::Kept, kept.proven));
        assert_eq!(refused.last_login.as_deref(), Some(Verdict::WrongPassword.sentence()));

        folder.left("the crawl's own words", LATER).await;
        let ended = folder.status().await;
        assert_eq!((ended.state, ended.reason.as_deref()), (AccountState::NoSession, Some("the crawl's own words")));
        // A later login by hand overrides the login, but not the session.
        folder.left("the crawl's own words", UnixMillis(1)).await;
        let ended = folder.status().await;
        assert_eq!(ended.reason.as_deref(), Some(Verdict::WrongPassword.sentence()));
        // An action of the operator makes it count again.
        sessions::save(folder.path(), "s", &jar).unwrap();
        assert_eq!(folder.status().await.state, AccountState::Kept);
    }

    #[tokio::test]
    async fn a_session_that_nobody_has_found_ended_is_kept_and_the_sites_wait_is_told_with_its_time() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        folder.password("one");
        sessions::save(folder.path(), "s", &cookie()).unwrap();
        let until = NOW.plus(std::time::Duration::from_secs(90));
        folder.tries(|tries| {
            let limited = Ended { verdict: Verdict::RateLimited, was_sent: true, was_answered: true };
            tries.ended(limited, "anna", &Secret::new("one"), NOW);
            tries.wait_as_asked(until, NOW);
        });
        // A crawl has left the site alone for this reason, before it requested anything.
        let stamp = sessions::Files::new(folder.path(), "s", "anna").stamp();
        let (why, until) = ("the site asked at the last login to wait".to_owned(), Some(until));
        let note = MissingSession { at: LATER, until, why, stamp, table: None, has_ended: false };
        folder.1.put_note("s", SESSION_NOTE, serde_json::to_vec(&note).unwrap()).await.unwrap();
        let told = folder.status().await;
        let last = told.last_login.unwrap();
        assert_eq!(told.state, AccountState::Kept, "{last}");
        assert!(last.ends_with(&format!("asks to wait until {}", until.unwrap().rfc3339())), "{last}");
    }

    #[tokio::test]
    async fn a_corrected_user_has_neither_the_session_nor_the_refusal_of_the_one_before() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        folder.password("one");
        folder.tries(|tries| {
            tries.ended(REFUSED, "ana", &Secret::new("one"), NOW);
        });
        folder.left("the user name or the password is wrong", LATER).await;
        assert_eq!(folder.status_of("anna").await.state, AccountState::NoSession);
        assert_eq!(folder.status_of("bert").await.reason.as_deref(), Some(NOT_YET));

        let let_in = Ended { verdict: Verdict::LoggedIn, was_sent: true, was_answered: true };
        folder.tries(|tries| {
            tries.ended(let_in, "anna", &Secret::new("one"), NOW);
        });
        sessions::save(folder.path(), "s", &cookie()).unwrap();
        assert_eq!(folder.status_of("anna").await.state, AccountState::Kept);
        let other = folder.status_of("bert").await;
        let why = other.reason.unwrap();
        assert!(other.state == AccountState::NoSession && why.contains("anna's; the next crawl logs in as bert"));
        for (user, expected) in [("anna", true), ("bert", false)] {
            let loaded = sessions::load_of(folder.path(), "s", user, &Jar::default()).unwrap();
            assert_eq!(loaded, expected, "nor is it taken up: {user}");
        }
    }

    #[tokio::test]
    async fn broken_files_are_named_with_what_to_do_and_are_no_session() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        folder.password("one");
        let tries = folder.path().join("sessions/tries/s.json");
        let session = sessions::save(folder.path(), "s", &cookie()).unwrap();
        fs::create_dir_all(tries.parent().unwrap()).unwrap();
        fs::write(&tries, "{").unwrap();
        let kept = folder.status().await;
        let last = kept.last_login.unwrap();
        assert!(
            kept.state == AccountState::Kept && last.contains("tries/s.json: ") && last.contains("\nhint: "),
            "{last}"
        );
        fs::write(&session, "{").unwrap();
        for broken in
            ["sessions/s.json: not a valid session file", "tries/s.json: the record of earlier logins is unreadable"]
        {
            let told = folder.status().await;
            let why = told.reason.unwrap();
            assert_eq!((told.state, told.proven), (AccountState::Unreadable, None), "{why}");
            assert!(why.contains(broken) && why.contains("\nhint: "), "{why}");
            let without = without_rules(folder.path(), "s", Path::new("s.toml")).unwrap();
            assert_eq!((without.state, without.reason), (AccountState::Unreadable, Some(why)));
            fs::remove_file(&session).unwrap_or_default();
        }
    }

    #[tokio::test]
    async fn what_others_may_read_of_a_password_is_told_whatever_the_session() {
        let folder = Folder(tempfile::tempdir().unwrap(), MemoryStore::default());
        folder.password("one");
        sessions::save(folder.path(), "s", &cookie()).unwrap();
        let (file, secrets) = (folder.path().join("secrets/s"), folder.path().join("secrets"));
        let modes = |of_folder: u32, of_file: u32| {
            fs::set_permissions(&secrets, fs::Permissions::from_mode(of_folder)).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(of_file)).unwrap();
        };
        modes(0o700, 0o600);
        assert_eq!(folder.status().await.exposed, Vec::<String>::new());
        modes(0o755, 0o640);
        let [of_file, of_folder] = &folder.status().await.exposed[..] else { panic!("one of each") };
        assert!(of_file.contains("secrets/s: ") && of_file.contains("(mode 0640)\nhint: chmod 600 "), "{of_file}");
        assert!(of_folder.contains("(mode 0755)\nhint: chmod 700 "), "{of_folder}");
        // If it is the reason, it is shown once.
        fs::remove_file(folder.path().join("sessions/s.json")).unwrap();
        let told = folder.status().await;
        assert_eq!((told.reason.as_ref(), told.exposed.len()), (Some(of_file), 1));
    }
}
