//! Misspelt names, and files with passwords and cookies that are not as they should be.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use super::forum::{FOLDERS, Forum, PASSWORD};
use crate::cli::harness::{Ran, closed_port, run};

#[test]
fn a_password_in_the_rule_file_is_never_sent() {
    let forum = Forum::start();
    let file = forum.path().join("rules/forum.toml");
    for (login, user, key) in [
        ("fields = { extra = 's3cret' }", "anna", "`login.fields.extra` holds the password"),
        ("fields = { extra = 'x-s3cret-y' }", "anna", "`login.fields.extra` holds the password"),
        ("probe = '/in?k=s3cret'", "anna", "`login.probe` holds the password"),
        ("", "anna:s3cret", "`login.user` holds the password"),
    ] {
        forum.rules(login);
        let text = fs::read_to_string(&file).unwrap().replace("user = 'anna'", &format!("user = '{user}'"));
        fs::write(&file, text).unwrap();
        let crawl = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
        for told in [forum.login(&[]).ended(1), crawl] {
            let told = told.says(&["rules/forum.toml: ", key, "nothing is sent", "change the password"]);
            assert!(!told.err.contains("s3cret") && !told.out.contains("s3cret"), "{}", told.err);
        }
    }
    assert!(forum.seen.at.lock().unwrap().iter().all(|(what, _)| what == "GET /robots.txt"), "no page, no form");
    for name in ["pw", "kennwort", "mot_de_passe", "senha"] {
        forum.rules(&format!("fields = {{ {name} = 'whatever-3' }}"));
        let check = run(forum.path(), &["rules", "check", "rules/forum.toml"]).ended(1);
        let said = format!("{}{}", check.out, check.err);
        assert!(said.contains(&format!("the field `{name}` looks like a password's")), "{said}");
        assert!(said.contains("secrets/forum") && !said.contains("whatever-3"), "{said}");
    }
}

#[test]
fn a_mistyped_site_is_told_with_the_nearest_and_a_bad_file_with_its_faults() {
    let forum = Forum::start();
    let login = |name: &str| run(forum.path(), &[&["login", name], &FOLDERS[..]].concat()).ended(1);
    login("form").says(&["no usable rule file for site `form`", "hint: did you mean `forum`?"]);
    forum.rules("pasword = 's3cret'");
    for told in [login("forum"), run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0)] {
        assert!(!told.err.contains("s3cret") && !told.out.contains("s3cret"), "{}", told.err);
        told.says(&[
            "rules/forum.toml:5:1",
            "secrets do not belong in rule files",
            "`secrets/forum`",
            "`gleaner-forum`",
        ]);
    }
    login("forum").says(&["fix its file, then run: gleaner rules check rules/forum.toml --data data --rules rules"]);
    login("forun").says(&["did you mean `forum`? Its file has faults: "]);

    // A crawl of another site leaves a database: there must be a reason why nothing of this one was crawled.
    let port = closed_port();
    fs::write(
        forum.path().join("rules/other.toml"),
        format!("start = ['http://127.0.0.1:{port}/']\nclasses.page = ['.']\n"),
    )
    .unwrap();
    run(forum.path(), &[&["crawl", "other"], &FOLDERS[..]].concat()).ended(1);
    let status = [&["status"], &FOLDERS[..]].concat();
    run(forum.path(), &status).ended(0).says(&[
        "rules/forum.toml: its site cannot be crawled until it is fixed",
        "secrets do not belong in rule files",
    ]);
    let told = run(forum.path(), &[&status[..], &["--json"]].concat()).ended(0);
    assert!(!told.out.contains("s3cret"), "{}", told.out);
    assert_eq!(told.json()["rule_faults"][0]["count"], 1);
}

#[test]
fn a_password_file_is_one_line_and_blanks_around_it_are_told() {
    let forum = Forum::start();
    forum.password(&format!("{PASSWORD}\nother-secret\n"));
    let told = forum.login(&[]).ended(1).says(&["data/secrets/forum: there is more than one line\nhint: "]);
    assert!(!told.err.contains("other-secret"), "{}", told.err);
    assert_eq!(forum.posts(), 0);
    forum.password(&format!("{PASSWORD}\r\n\n"));
    let told = forum.login(&[]).ended(0).says(&["empty lines after the password", "data/secrets/forum"]);
    assert!(!told.err.contains(PASSWORD), "{}", told.err);
    forum.password(&format!("{PASSWORD} \n"));
    let told = forum.login(&[]).ended(1).says(&["begins or ends with whitespace", "data/secrets/forum"]);
    assert!(!told.err.contains(PASSWORD), "{}", told.err);
    assert!(forum.seen.bodies.lock().unwrap()[1].contains(&format!("password={PASSWORD}+&")));
}

#[test]
fn each_fault_of_a_cookies_file_is_told_with_its_line() {
    let forum = Forum::start();
    let import = |bytes: &[u8], mode: u32| {
        let file = forum.path().join("cookies.txt");
        fs::write(&file, bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        forum.login(&["--cookies", "cookies.txt"])
    };
    let good = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n";
    let old = "127.0.0.1\tFALSE\t/\tFALSE\t1000\told\tabc\n";
    let told = import(format!("{good}{old}127.0.0.1 FALSE / FALSE 0 a b\n").as_bytes(), 0o600).ended(0);
    assert!(!told.err.contains("other users may read"), "{}", told.err);
    told.says(&[
        "cookies: 1 imported, 0 of other sites skipped, 1 expired",
        "cookies.txt: line 2: this cookie expired on 1970-01-01",
        "cookies.txt: line 3: its fields are separated by spaces",
    ]);
    import(good.as_bytes(), 0o644).ended(0).says(&["other users may read this file", "hint: chmod 600 cookies.txt"]);
    import(old.as_bytes(), 0o600).ended(1).says(&["line 1: this cookie expired", "no usable cookie of 127.0.0.1"]);
    import(b"", 0o600).ended(1).says(&["cookies.txt: line 1: the file has no cookie in it\nhint: "]);
    import(b"SQLite format 3\0\x10\x00", 0o600).ended(1).says(&["cookies.txt: line 1: this is a browser's database"]);
    import(b"# x\n\xff\0\0", 0o600).ended(1).says(&["cookies.txt: line 2: the file is not text\nhint: "]);
    import(good.replace("abc", "stale").as_bytes(), 0o600)
        .ended(1)
        .says(&["is not logged in: it is not stored\nhint: "]);
    let told =
        forum.login(&["--cookies", "data"]).ended(1).says(&["data: this is a folder\nhint: name the cookies.txt"]);
    assert!(!told.err.contains("os error"), "{}", told.err);
    assert_eq!(forum.posts(), 0);
}

#[test]
fn a_folder_of_sessions_that_cannot_be_written_is_told_before_anything_is_sent() {
    // Root can write everywhere: it becomes another user.
    const STRANGER: u32 = 65_534;
    let forum = Forum::start();
    let data = forum.path().join("data");
    let sessions = data.join("sessions");
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir_all(sessions.join("tries")).unwrap();
    mode(forum.path(), 0o755);
    [&sessions, &sessions.join("tries")].iter().for_each(|path| mode(path, 0o700));
    if is_root {
        let all = ["", "secrets", "secrets/forum", "sessions", "sessions/tries"].map(|path| data.join(path));
        all.iter().for_each(|path| chown(path, Some(STRANGER), Some(STRANGER)).unwrap());
    }
    let run = |words: &[&str]| {
        let mut command = forum.command_of(words);
        if is_root {
            command.uid(STRANGER).gid(STRANGER);
        }
        Ran::of(&command.output().unwrap())
    };
    mode(&sessions, 0o500);
    for words in [&["login", "forum"], &["crawl", "forum"], &["login", "forum"]] {
        run(words).ended(1).says(&["data/sessions: cannot be written (mode 0500)", "chmod u+rwX data/sessions"]);
    }
    assert_eq!(forum.posts(), 0);
    mode(&sessions, 0o700);
    run(&["login", "forum"]).ended(0);
    assert!(sessions.join("forum.json").exists() && forum.posts() == 1);
}

#[test]
fn a_process_that_may_open_next_to_no_files_says_so() {
    let forum = Forum::start();
    for words in ["login forum", "crawl forum", "status"] {
        let command = format!("ulimit -n 9; exec '{}' {words} --data data --rules rules", crate::cli::harness::BINARY);
        let ran = std::process::Command::new("sh").args(["-c", &command]).current_dir(forum.path()).output().unwrap();
        crate::cli::harness::Ran::of(&ran).ended(1).says(&["this process may open 9 files", "hint: ulimit -n 1024"]);
    }
}
