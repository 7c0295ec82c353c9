//! Unit tests of `accounts`.

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
    assert!(kept.state == AccountState::Kept && last.contains("tries/s.json: ") && last.contains("\nhint: "), "{last}");
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
