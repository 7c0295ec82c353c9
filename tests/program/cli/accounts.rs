//! What the binary shows of an account: `status` with and without a crawl, the summary of a crawl, and the service, which
//! stops during a login without sending it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;

use crate::cli::harness::{Ran, Service, folder, gleaner, unfolded, wait_for};

#[derive(Clone, Default)]
struct Seen {
    /// Requests of the page with the form, and submitted forms.
    looks: Arc<AtomicUsize>,
    posts: Arc<AtomicUsize>,
    /// The responses to the next forms; those after them are accepted.
    answers: Arc<Mutex<Vec<(StatusCode, &'static str)>>>,
}

async fn forum(State(seen): State<Seen>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method == Method::POST {
        seen.posts.fetch_add(1, Ordering::SeqCst);
        return match seen.answers.lock().unwrap().pop() {
            Some((status, text)) => (status, Html(text)).into_response(),
            None => {
                (StatusCode::FOUND, [(header::SET_COOKIE, "sid=a1b2; Path=/"), (header::LOCATION, "/")]).into_response()
            }
        };
    }
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match (uri.path(), cookies.contains("sid=a1b2")) {
        ("/", true) => Html("<a href='/logout'>Log out</a> anna").into_response(),
        ("/", false) => {
            seen.looks.fetch_add(1, Ordering::SeqCst);
            let form = "<title>Login</title><form method=post action='/in' id=login>Username: <input name=username> Password: \
                        <input type=password name=password><input type=submit name=go value='Log in'></form>";
            Html(form).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

struct Forum {
    here: tempfile::TempDir,
    seen: Seen,
    _runtime: tokio::runtime::Runtime,
}

impl Forum {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let seen = Seen::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().fallback(forum).with_state(seen.clone());
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let forum = Self { here: folder(), seen, _runtime: runtime };
        fs::create_dir(forum.path().join("rules")).unwrap();
        let rules = format!(
            "enabled = true\nstart = ['http://127.0.0.1:{port}/']\nclasses.page = ['^/$']\nlogin.user = 'anna'\n\
             rate.requests_per_second = 1000000\n"
        );
        fs::write(forum.path().join("rules/forum.toml"), rules).unwrap();
        forum
    }

    fn path(&self) -> &Path {
        self.here.path()
    }

    fn password(&self, text: &str) {
        let secrets = self.path().join("data/secrets");
        fs::create_dir_all(&secrets).unwrap();
        fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(secrets.join("forum"), text).unwrap();
        fs::set_permissions(secrets.join("forum"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn answers(&self, answers: &[(StatusCode, &'static str)]) {
        *self.seen.answers.lock().unwrap() = answers.iter().rev().copied().collect();
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = gleaner(self.path(), &[arguments, &["--data", "data", "--rules", "rules"]].concat());
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap())
    }

    fn posts(&self) -> usize {
        self.seen.posts.load(Ordering::SeqCst)
    }
}

const WRONG: (StatusCode, &str) = (StatusCode::OK, "Wrong password.");

#[test]
fn status_tells_the_account_of_a_site_that_was_never_crawled() {
    let forum = Forum::start();
    forum.run(&["status"]).ended(0).says(&["account anna: no session: no password for the site forum\n  hint: "]);
    forum.password("one");
    forum.run(&["login", "forum"]).ended(0);
    let told = forum.run(&["status"]).ended(0);
    told.says(&[
        "data: nothing has been crawled in this folder yet",
        "forum: account anna: a session is stored, last proven at 20",
    ]);
    forum.run(&["status", "forum"]).ended(0).says(&["forum: account anna: a session is stored"]);
    forum
        .run(&["status", "fourm"])
        .ended(1)
        .says(&["fourm: no site of this folder", "hint: did you mean `forum`? gleaner status forum"]);

    // The stored session counts; the failed attempt is shown beside it.
    forum.password("another");
    forum.answers(&[WRONG]);
    forum.run(&["login", "forum"]).ended(1);
    forum.run(&["status"]).ended(0).says(&[
        "account anna: a session is stored, last proven at 20",
        "account anna: the last login: the user name or the password is wrong",
    ]);
    let account = &forum.run(&["status", "--json"]).ended(0).json()["accounts"][0];
    assert_eq!((&account["state"], &account["site"]), (&"kept".into(), &"forum".into()), "{account}");
}

#[test]
fn a_crawl_without_a_session_says_why_and_status_says_the_same_later() {
    let forum = Forum::start();
    let none = forum.run(&["crawl"]).ended(1).says(&[
        "forum         not logged in: no password for the site forum\n              hint: write it into data/secrets/forum",
    ]);
    assert!(!none.out.contains("outcomes"), "{}", none.out);
    let told = forum.run(&["status"]).ended(0);
    assert!(!told.out.contains("forum: \n"), "{}", told.out);
    told.says(&["account anna: no session: no password for the site forum\n  hint: write it into data/secrets/forum"]);

    forum.password("one");
    forum.answers(&[(StatusCode::INTERNAL_SERVER_ERROR, "")]);
    for _ in 0..2 {
        let crawl = forum.run(&["crawl"]).ended(1);
        let told = unfolded(&crawl.out);
        let (_, why) = told.split_once(" forum not logged in: ").unwrap();
        let (why, _) = why.split_once(" hint: ").unwrap();
        assert!(why.contains("an error") && why.contains("status 500"), "{why}");
        let status = unfolded(&forum.run(&["status"]).ended(0).out);
        let (_, line) = status.split_once(" forum: account anna: no session, ").unwrap();
        assert!(line.contains(&format!(": {why}")), "{line}\n{why}");
        crawl.says(&["              hint: crawl again at 20"]);
    }
    assert_eq!(forum.posts(), 1);
}

#[test]
fn the_service_tells_that_it_logs_in_and_sends_nothing_once_it_is_to_end() {
    let forum = Forum::start();
    forum.password("one");
    let service = Service::start(forum.path());
    wait_for("the form is there", || (forum.seen.looks.load(Ordering::SeqCst) > 0).then_some(()));
    // It waits two seconds before it submits the form.
    forum.run(&["status"]).ended(0).says(&["logging in", "account anna: logging in"]);
    assert_eq!(service.stop().code(), Some(0));
    assert_eq!(forum.posts(), 0);
    forum.run(&["status"]).ended(0).says(&["account anna: no session: none is stored; the next crawl logs in"]);

    let service = Service::start(forum.path());
    wait_for("it is logged in", || service.logged("logged in").pop());
    let log = service.log();
    let is_of_login = |line: &&Value| line["site"] == "forum" && line["message"] != "site is being crawled";
    let of_login: Vec<_> = log.iter().filter(is_of_login).collect();
    assert_eq!(of_login.len(), 1, "one line at INFO tells of a login: {of_login:?}");
    let line = of_login[0];
    assert!(line["chosen"].as_str().is_some_and(|chosen| chosen.contains("page of the form: ")), "{line}");
    forum.run(&["status"]).ended(0).says(&["forum: account anna: logged in, last proven at 20"]);
    assert_eq!((service.stop().code(), forum.posts()), (Some(0), 1));
}

#[test]
fn status_of_an_unused_folder_is_an_empty_report_and_no_fault() {
    let here = folder();
    let run = |code: i32, more: &[&str]| {
        let arguments = [&["status", "--data", "data", "--rules", "rules"], more].concat();
        Ran::of(&gleaner(here.path(), &arguments).output().unwrap()).ended(code)
    };
    run(1, &[]).says(&["data: there is no such folder (hint: pass the right --data, or start with: gleaner crawl --data data --rules rules)"]);
    let told = run(1, &["--json"]).json();
    assert_eq!((told["crawling"].as_bool(), told["sites"].as_array().map(Vec::len)), (Some(false), Some(0)), "{told}");
    assert!(!here.path().join("data").exists(), "asking makes no folder");
    fs::create_dir(here.path().join("data")).unwrap();
    run(0, &[])
        .says(&["data: nothing has been crawled in this folder yet (hint: gleaner crawl --data data --rules rules)"]);
}

#[test]
fn status_finds_the_accounts_of_a_folder_without_its_rules() {
    let forum = Forum::start();
    forum.password("one");
    let status = |more: &[&str]| {
        let elsewhere = forum.path().join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        let mut command = gleaner(&elsewhere, &[&["status", "--data", "../data"], more].concat());
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()).ended(0)
    };
    forum.run(&["login", "forum"]).ended(0);
    status(&[]).says(&["forum: account anna: a session is stored, last proven at 20"]);
    forum.run(&["crawl"]).ended(0);
    status(&[]).says(&["forum: account anna: a session is stored, last proven at 20"]);
    assert_eq!(status(&["--json"]).json()["accounts"].as_array().unwrap().len(), 1);
    // The stored session is shown even if its rule file is no longer known.
    fs::remove_file(forum.path().join("rules/forum.toml")).unwrap();
    status(&[]).says(&["forum: account anna: a session is stored"]);
}

#[test]
fn broken_files_open_folders_and_what_is_to_be_typed_are_told() {
    let forum = Forum::start();
    forum.password("one");
    let secrets = forum.path().join("data/secrets");
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o755)).unwrap();
    let open = "data/secrets: other users may read this folder of passwords (mode 0755)";
    forum.run(&["login", "forum"]).ended(0).says(&[open, "hint: chmod 700 data/secrets"]);
    forum.run(&["status"]).ended(0).says(&[open, "  hint: chmod 700 data/secrets\n"]);
    fs::write(forum.path().join("data/sessions/forum.json"), "{").unwrap();
    let told = forum.run(&["status"]).ended(0).says(&[
        "account anna: data/sessions/forum.json: not a valid session file (",
        "  hint: remove the file, then run `gleaner login forum --data data --rules rules`",
    ]);
    assert!(!told.out.contains("is stored") && !told.out.contains("logged in"), "{}", told.out);
    fs::remove_file(forum.path().join("data/sessions/forum.json")).unwrap();
    let told = forum.run(&["status"]).ended(0);
    assert!(!told.out.contains("SITE"), "{}", told.out);
    told.says(&["(hint: `gleaner login forum --data data --rules rules` does so at once)"]);
    fs::write(forum.path().join("data/sessions/tries/forum.json"), "{").unwrap();
    forum
        .run(&["status"])
        .ended(0)
        .says(&["data/sessions/tries/forum.json: the record of earlier logins is unreadable ("]);
}

#[test]
fn a_reason_of_several_lines_is_one_line_of_the_log_and_its_hints_name_the_site() {
    let forum = Forum::start();
    let crawl = forum.run(&["crawl"]).ended(1);
    let line = crawl.err.lines().find(|line| line.contains("waits for its operator")).unwrap();
    assert!(
        line.contains("no password for the site forum (hint: write it into ") && line.contains("next_look="),
        "{line}"
    );
    assert!(!line.contains("\\n") && !crawl.err.contains("SITE"), "{}", crawl.err);
}

/// Commands that a text recommends, in shell words.
fn commands(told: &str) -> Vec<String> {
    let starts = told.match_indices("gleaner login forum").map(|(at, _)| at);
    starts.map(|at| told[at..].split(['`', '\n', ')']).next().unwrap().to_owned()).collect()
}

#[test]
fn what_status_tells_to_run_runs_as_it_stands_without_the_rules_at_hand() {
    let forum = Forum::start();
    let elsewhere = forum.path().join("else where");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(forum.path().join("rules"), forum.path().join("my rules")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = gleaner(&elsewhere, arguments);
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap())
    };
    forum.password("one");
    forum.answers(&[(StatusCode::OK, "Your account has been banned.")]);
    run(&["login", "forum", "--data", "../data", "--rules", "../my rules"]).ended(1);
    let told = run(&["status", "--data", "../data"]).ended(0);
    let json = run(&["status", "--data", "../data", "--json"]).ended(0).out;
    assert!(json.contains("--rules"), "{json}");
    let commands = commands(&told.out);
    assert!(!commands.is_empty(), "{}", told.out);
    for command in commands {
        let typed = command.replacen("gleaner", crate::cli::harness::BINARY, 1);
        let ran = std::process::Command::new("sh").args(["-c", &typed]).current_dir(&elsewhere).output().unwrap();
        assert!(ran.status.success(), "{command}: {ran:?}");
    }
    run(&["status", "--data", "../data"])
        .ended(0)
        .says(&["(hint: gleaner crawl --data ../data --rules '", "/my rules')"]);
}

#[test]
fn files_of_an_account_that_hold_something_else_are_told_and_send_nothing() {
    let forum = Forum::start();
    forum.password("one");
    let tries = forum.path().join("data/sessions/tries");
    fs::create_dir_all(&tries).unwrap();
    for (text, why) in [
        ("{\"a\":1}", "this version does not know the key `a`"),
        ("{}", "the key `refused` is missing"),
        ("[]", "unreadable ("),
    ] {
        fs::write(tries.join("forum.json"), text).unwrap();
        forum.run(&["status"]).ended(0).says(&[
            "data/sessions/tries/forum.json: the record of earlier logins",
            why,
            "  hint: check in",
        ]);
        forum.run(&["crawl"]).ended(1).says(&["data/sessions/tries/forum.json", why]);
        forum.run(&["login", "forum"]).ended(1).says(&["data/sessions/tries/forum.json", why, "hint: check in"]);
    }
    assert_eq!(forum.posts(), 0);
    fs::remove_file(tries.join("forum.json")).unwrap();
    for text in ["[]", "{\"a\":1}"] {
        fs::write(forum.path().join("data/sessions/forum.json"), text).unwrap();
        let told = forum.run(&["status"]).ended(0);
        assert!(!told.out.contains("untagged") && !told.out.contains("none is stored"), "{}", told.out);
        told.says(&[
            "data/sessions/forum.json: not a valid session file (",
            "  hint: remove the file, then run `gleaner login forum --data",
        ]);
    }
}

#[test]
fn what_others_may_read_of_a_session_is_mended_and_told() {
    let forum = Forum::start();
    forum.password("one");
    forum.run(&["login", "forum"]).ended(0);
    let of = |path: &str| forum.path().join("data/sessions").join(path);
    for (path, open, wanted) in
        [("forum.json", 0o644, 0o600), ("tries/forum.json", 0o620, 0o600), ("", 0o755, 0o700), ("tries", 0o770, 0o700)]
    {
        fs::set_permissions(of(path), fs::Permissions::from_mode(open)).unwrap();
        let told = forum.run(&["status"]).ended(0).says(&[
            &format!("other users could read or write this file (mode {open:04o})"),
            &format!("changed to {wanted:04o}"),
        ]);
        assert_eq!(fs::metadata(of(path)).unwrap().permissions().mode() & 0o777, wanted, "{path}: {}", told.err);
    }
}

#[test]
fn what_is_missing_or_mistyped_is_named_with_the_fix_and_no_secret_is_shown() {
    let forum = Forum::start();
    let cookies = forum.run(&["login", "forum", "--cookies", "nofile"]).ended(1);
    cookies.says(&["nofile: No such file", "hint: export the site's cookies"]);
    let secret = forum.path().join("data/secrets/forum");
    fs::create_dir_all(&secret).unwrap();
    forum.run(&["login", "forum"]).ended(1).says(&["data/secrets/forum: this is a folder", "hint: "]);
    for arguments in [
        &["login", "forum", "--pasword", "hunter2"][..],
        &["login", "forum", "--pasword=hunter2"],
        &["login", "forum", "hunter2"],
    ] {
        let told = forum.run(arguments).ended(2);
        assert!(!told.err.contains("hunter2") && !told.out.contains("hunter2"), "{}", told.err);
        told.says(&["secrets/SITE` of the data folder", "gleaner login SITE"]);
    }
    let here = folder();
    for command in ["run", "crawl"] {
        let run = gleaner(here.path(), &[command, "--data", "d", "--rules", "my rules"]).output().unwrap();
        let said = "my rules: there is no such folder of rule files\nhint: ";
        Ran::of(&run).ended(1).says(&[said, "gleaner rules new URL --rules 'my rules'"]);
    }
    assert!(!here.path().join("d").exists(), "nothing was begun");
}

#[test]
fn a_password_that_is_typed_into_an_address_or_a_rule_file_is_never_shown_again() {
    let forum = Forum::start();
    let secret = "Hunter2-Xyzzy";
    for arguments in [
        &["login", "http://anna:Hunter2-Xyzzy@127.0.0.1/"][..],
        &["login", "forum:Hunter2-Xyzzy"],
        &["render", "http://anna:Hunter2-Xyzzy@127.0.0.1:9/"],
        &["render", "anna:Hunter2-Xyzzy@127.0.0.1"],
        &["rules", "explain", "http://anna:Hunter2-Xyzzy@127.0.0.1/"],
        &["rules", "new", "http://anna:Hunter2-Xyzzy@127.0.0.1/"],
    ] {
        let told = forum.run(arguments).ended(1);
        assert!(!format!("{}{}", told.out, told.err).contains(secret), "{arguments:?}: {} {}", told.out, told.err);
    }
    let file = forum.path().join("rules/forum.toml");
    let rules = fs::read_to_string(&file).unwrap();
    for (line, expected) in [
        ("hosts = ['anna:Hunter2-Xyzzy@127.0.0.1']", "this is not a host"),
        ("hosts = ['http://anna:Hunter2-Xyzzy@127.0.0.1']", "this is not a host"),
        ("examples.accept = ['http://anna:Hunter2-Xyzzy@127.0.0.1/']", "the URL contains a user name or password"),
        ("headers = { X-Auth = 'Hunter2-Xyzzy' }", "the header `X-Auth` holds a secret"),
        ("headers = { X-Foo = 'Hunter2-Xyzzy', Cookie = 'a' }", "the header `Cookie` holds a secret"),
        ("proxy = 'http://anna:Hunter2-Xyzzy/@127.0.0.1'", "this is not a URL"),
    ] {
        fs::write(&file, format!("{line}\n{rules}")).unwrap();
        for arguments in [&["rules", "check"][..], &["crawl"], &["status"]] {
            let told = forum.run(arguments);
            let told = format!("{}{}", told.out, told.err);
            assert!(!told.contains(secret) && told.contains(expected), "{arguments:?} {line}: {told}");
        }
    }
    // A secret that no rule can recognise is recognised once the password is known.
    fs::write(&file, format!("headers = {{ X-Foo = '{secret}' }}\n{rules}")).unwrap();
    forum.password(secret);
    let told = forum.run(&["login", "forum"]).ended(1);
    assert!(!told.err.contains(secret), "{}", told.err);
    told.says(&["the value of `headers.X-Foo` holds the password: nothing is sent\nhint: take it out"]);
    assert_eq!((forum.posts(), forum.seen.looks.load(Ordering::SeqCst)), (0, 0));
}

#[test]
fn a_pipe_in_the_place_of_a_file_of_an_account_ends_the_command_with_a_word_about_it() {
    let forum = Forum::start();
    forum.password("one");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    for path in ["secrets/forum", "sessions/forum.json", "sessions/tries/forum.json"] {
        let path = forum.path().join("data").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read(&path).ok();
        let _ = fs::remove_file(&path);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        let wanted = "this is not a regular file";
        forum.run(&["status"]).ended(0).says(&[wanted, "  hint: move it away"]);
        // An unusable stored session is replaced by a login.
        if !path.ends_with("sessions/forum.json") {
            forum.run(&["crawl", "forum"]).ended(1).says(&[wanted]);
            forum.run(&["login", "forum"]).ended(1).says(&[wanted, "hint: move it away"]);
        }
        fs::remove_file(&path).unwrap();
        if let Some(bytes) = before {
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
    assert_eq!(forum.posts(), 0);
}

#[test]
fn what_status_tells_of_a_site_of_other_rules_names_their_folder() {
    let forum = Forum::start();
    forum.password("one");
    forum.answers(&[(StatusCode::OK, "Your account has been banned.")]);
    forum.run(&["login", "forum"]).ended(1);
    fs::create_dir(forum.path().join("others")).unwrap();
    let rules = fs::read_to_string(forum.path().join("rules/forum.toml")).unwrap();
    fs::write(forum.path().join("others/b.toml"), rules).unwrap();
    let mut command = gleaner(forum.path(), &["status", "--data", "data", "--rules", "others"]);
    let told = Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()).ended(0);
    let commands = commands(&told.out);
    assert!(!commands.is_empty(), "{}", told.out);
    for command in commands {
        assert!(command.trim_end_matches(" --again").ends_with("/rules") && !command.contains("others"), "{command}");
    }
}

#[test]
fn a_wait_that_another_site_has_brought_about_is_told_as_such() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = |uri: Uri| async move {
        match uri.path() {
            "/a/" => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "3600")], "").into_response(),
            "/b/" => {
                Html((0..500).map(|number| format!("<a href='/b/{number}'>x</a>")).collect::<String>()).into_response()
            }
            path if path.starts_with("/b/") => Html("nothing").into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    };
    runtime.spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await.unwrap() });
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    for site in ["a", "b"] {
        let text = format!(
            "enabled = true\nstart = ['http://127.0.0.1:{port}/{site}/']\nclasses.page = ['^/{site}/']\nrate.requests_per_second = 5\n"
        );
        fs::write(here.path().join(format!("rules/{site}.toml")), text).unwrap();
    }
    let service = Service::start(here.path());
    let waits = || {
        let told =
            Ran::of(&gleaner(here.path(), &["status", "--data", "data", "--rules", "rules"]).output().unwrap()).out;
        let (_, state) = told.split_once("\nb: waiting until ")?;
        Some(unfolded(state))
    };
    let state = wait_for("the other site waits", waits);
    assert!(state.contains("127.0.0.1: it asked for this pause when it was asked for another site"), "{state}");
    assert_eq!(service.stop().code(), Some(0));
}
