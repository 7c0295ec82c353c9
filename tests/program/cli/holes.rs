//! What an attacker tried: hostile text on the terminal, limits of the process, files and sockets of others. `owners` has links in the
//! archive, `members_keys` the keys of members, `render_child` the confinement of scripts.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::cli::harness::{BINARY, Ran, Site, folder, run, write_site};

/// Runs a shell's line in a folder, with `$0` for the program.
fn shell(here: &Path, line: &str) -> Ran {
    Ran::of(&Command::new("sh").args(["-c", line, BINARY]).current_dir(here).output().unwrap())
}

/// Characters that move the cursor or turn the text.
fn dangerous(text: &str) -> Vec<char> {
    text.chars()
        .filter(|of| of.is_control() && !matches!(of, '\n' | '\t') || ('\u{202a}'..='\u{202e}').contains(of))
        .collect()
}

#[test]
fn no_text_of_others_reaches_the_terminal_raw() {
    let here = folder();
    let page = "<script>throw new Error('\\x1b]0;title\\x07\\x1b[2J\\u202e\\x9b1A')</script><a href='/\u{202e}x'>\u{1b}[8m</a>";
    fs::write(here.path().join("page.html"), page).unwrap();
    for view in [&["--links"][..], &["--html"], &["--text"], &[], &["--json"]] {
        let ran = run(here.path(), &[&["render", "page.html"], view].concat());
        let what = if view == ["--html"] { "" } else { &*ran.out };
        assert_eq!((dangerous(what), dangerous(&ran.err)), (vec![], vec![]), "{view:?}: {}{}", ran.out, ran.err);
    }
    // A rule file, its name, and a log line of it.
    fs::create_dir(here.path().join("rules")).unwrap();
    fs::write(here.path().join("rules/s\u{202e}.toml"), "st\u{202e}art = ['\\u001b[2J']\n[classes]\nindex = ['[']\n")
        .unwrap();
    for words in [&["rules", "check"][..], &["crawl"], &["status"]] {
        let ran = run(here.path(), &[words, &["--rules", "rules"]].concat());
        assert_eq!((dangerous(&ran.out), dangerous(&ran.err)), (vec![], vec![]), "{words:?}: {}{}", ran.out, ran.err);
    }
    let told = run(here.path(), &["rules", "check", "--rules", "rules"]);
    assert!(format!("{}{}", told.out, told.err).contains("\\u202e"), "{}{}", told.out, told.err);
}

#[test]
fn what_another_process_says_over_the_socket_is_text() {
    let here = folder();
    fs::create_dir(here.path().join("data")).unwrap();
    let socket = UnixListener::bind(here.path().join("data/control.sock")).unwrap();
    std::thread::spawn(move || {
        for mut client in socket.incoming().flatten() {
            let mut line = String::new();
            let mut requests = BufReader::new(client.try_clone().unwrap());
            while requests.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                let _ = client.write_all(b"{\"error\":\"\\u001b]0;x\\u0007\\u001b[2J\\u202e\"}\n");
            }
        }
    });
    for words in ["status", "coverage", "verify"] {
        let ran = run(here.path(), &[words, "--data", "data"]).ended(1);
        assert!(dangerous(&ran.err).is_empty() && ran.err.contains("\\u202e"), "{}", ran.err);
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_told_and_ends_nothing() {
    let here = folder();
    let _site = Site::start(here.path(), 200, 0);
    // Blocks of 512 bytes.
    let ran = shell(here.path(), "ulimit -f 500; exec \"$0\" crawl --data data --rules rules").ended(1);
    ran.says(&["the limit on the size of files is reached\nhint: raise it: `ulimit -f unlimited`, or `LimitFSIZE="]);
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(0);
    run(here.path(), &["verify", "--data", "data"]).ended(0).says(&["archive and database agree"]);
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    let here = folder();
    let site = Site::start(here.path(), 30, 0);
    let mut crawl = Command::new("sh");
    crawl.args(["-c", "umask 0; exec \"$0\" run --data data --rules rules", BINARY]).current_dir(here.path());
    let mut crawl = crawl.stderr(std::process::Stdio::null()).spawn().unwrap();
    let data = here.path().join("data");
    crate::cli::harness::wait_for("something is stored", || {
        fs::read_dir(data.join("torrents")).ok()?.flatten().find(|entry| entry.file_name() != ".tmp")
    });
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("control.sock")), 0o660);
    let mut folders = vec![data.join("torrents")];
    folders.extend(fs::read_dir(data.join("torrents")).unwrap().flatten().map(|entry| entry.path()));
    for folder in &folders {
        assert_eq!(mode(folder), 0o750, "{}", folder.display());
        for file in fs::read_dir(folder).unwrap().flatten().filter(|file| file.path().is_file()) {
            assert_eq!(mode(&file.path()), 0o640, "{}", file.path().display());
        }
    }
    assert_eq!((mode(&data.join("crawl.redb")), mode(&data.join("update.redb"))), (0o640, 0o640));
    rustix::process::kill_process(rustix::process::Pid::from_child(&crawl), rustix::process::Signal::TERM).unwrap();
    assert!(crawl.wait().unwrap().success());
    drop(site);
}

#[test]
fn a_log_line_says_stored_only_of_what_is_stored() {
    let here = folder();
    let _site = Site::start(here.path(), 20, 0);
    let ran = run(here.path(), &["crawl", "-vv", "--data", "data", "--rules", "rules"]).ended(0);
    let visited: Vec<&str> = ran.err.lines().filter(|line| line.contains("visited")).collect();
    assert!(visited.iter().any(|line| line.contains("outcome=\"torrent\"")), "{}", ran.err);
    assert!(!visited.iter().any(|line| line.contains("torrent_stored")), "{}", ran.err);
}

#[test]
fn too_few_files_for_the_crawl_are_told_before_a_host_is_blamed() {
    let here = folder();
    write_site(here.path(), crate::cli::harness::closed_port());
    let ran = shell(here.path(), "ulimit -n 20; exec \"$0\" crawl --data data --rules rules").ended(1);
    ran.says(&["this process may open 20 files", "hint: ulimit -n 1024"]);
    let ran = shell(here.path(), "ulimit -n 100; exec \"$0\" crawl --data data --rules rules").ended(1);
    ran.says(&["this process may open 100 files, and needs 128"]);
    // A soft limit is raised.
    let site = folder();
    let _site = Site::start(site.path(), 10, 0);
    shell(site.path(), "ulimit -S -n 20; exec \"$0\" crawl --data data --rules rules").ended(0);
}

#[test]
fn a_session_of_three_gigabytes_is_not_read() {
    let here = folder();
    write_site(here.path(), crate::cli::harness::closed_port());
    let rules = here.path().join("rules/site.toml");
    let text = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("{text}\n[login]\nuser = 'anna'\n")).unwrap();
    fs::create_dir_all(here.path().join("data/sessions")).unwrap();
    fs::set_permissions(here.path().join("data/sessions"), fs::Permissions::from_mode(0o700)).unwrap();
    let session = here.path().join("data/sessions/site.json");
    let file = File::create(&session).unwrap();
    file.set_len(3 << 30).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
    // Reading it whole does not fit.
    let ran = shell(here.path(), "ulimit -v 2000000; exec \"$0\" status --data data --rules rules");
    ran.says(&["site.json: longer than 16777216 bytes"]);
}

#[test]
fn a_newer_database_is_refused_without_a_write() {
    let here = folder();
    let _site = Site::start(here.path(), 10, 0);
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(0);
    for (file, table) in [("crawl.redb", "meta"), ("update.redb", "update_meta")] {
        let path = here.path().join("data").join(file);
        let whole = fs::read(&path).unwrap();
        {
            let db = redb::Database::open(&path).unwrap();
            let txn = db.begin_write().unwrap();
            {
                let mut head = txn.open_table(redb::TableDefinition::<&str, u64>::new(table)).unwrap();
                head.insert("schema", 1_000).unwrap();
            }
            txn.commit().unwrap();
        }
        let newer = fs::read(&path).unwrap();
        for command in ["crawl", "run"] {
            let ran = run(here.path(), &[command, "--data", "data", "--rules", "rules"]).ended(1);
            ran.says(&[file, "has schema 1000", "hint: a newer gleaner wrote it"]);
            assert!(fs::read(&path).unwrap() == newer, "{command} has written {file}");
        }
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_process_that_holds_the_folder_and_does_not_answer_is_given_up() {
    let here = folder();
    fs::create_dir(here.path().join("data")).unwrap();
    // Connections wait here, as at a process that was stopped by Ctrl-Z.
    let _socket = UnixListener::bind(here.path().join("data/control.sock")).unwrap();
    run(here.path(), &["status", "--data", "data"]).ended(1).says(&["does not answer", "hint: it is stopped"]);
}

#[test]
fn an_archive_of_that_name_that_is_none_is_not_overwritten() {
    let here = folder();
    let _site = Site::start(here.path(), 10, 0);
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(0);
    for name in ["notes.zip", "notes.tar.zst"] {
        fs::write(here.path().join(name), "my notes").unwrap();
        run(here.path(), &["export", name, "--data", "data"]).ended(1).says(&[name, "it is no z"]);
        assert_eq!(fs::read(here.path().join(name)).unwrap(), b"my notes");
        fs::remove_file(here.path().join(name)).unwrap();
        // An earlier export is.
        run(here.path(), &["export", name, "--data", "data"]).ended(0);
        run(here.path(), &["export", name, "--data", "data"]).ended(0);
    }
}

#[test]
fn names_that_are_not_utf_8_are_told_in_json() {
    use std::os::unix::ffi::OsStrExt as _;
    let here = folder();
    let rules = here.path().join("rules");
    fs::create_dir(&rules).unwrap();
    fs::write(rules.join(std::ffi::OsStr::from_bytes(b"\xff.toml")), "strat = []").unwrap();
    let told = run(here.path(), &["rules", "check", "--json", "--rules", "rules"]).ended(1).json();
    assert!(told["files"][0]["path"].as_str().unwrap().contains('\u{fffd}'), "{told}");
}

#[test]
fn a_log_filter_that_would_log_nothing_is_a_fault() {
    let here = folder();
    fs::write(here.path().join("gleaner.toml"), "log_filter = 'verbose'\n").unwrap();
    run(here.path(), &["config", "check"])
        .ended(1)
        .says(&["`verbose` is neither a level nor a module", "hint: write error, warn"]);
    fs::write(here.path().join("gleaner.toml"), "log_filter = 'warn,gleaner_net::fetch=debug,hyper=info'\n").unwrap();
    run(here.path(), &["config", "check"]).ended(0);
    let ran = shell(here.path(), "GLEANER_LOG=loud exec \"$0\" config check").ended(2);
    assert!(ran.err.contains("error: GLEANER_LOG: bad filter: `loud`") && ran.out.is_empty(), "{}", ran.err);
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_an_error_at_once() {
    let here = folder();
    let _site = Site::start(here.path(), 10, 0);
    let folders = ["--data", "data", "--rules", "rules"];
    run(here.path(), &[&["crawl"], &folders[..]].concat()).ended(0);
    let pipe = |name: &str| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, here.path().join(name), mode).unwrap();
    };
    pipe("config");
    run(here.path(), &["status", "--config", "config"]).ended(1).says(&["config:1:1: ", "it is not a regular file"]);
    fs::create_dir_all(here.path().join("rules/families")).unwrap();
    pipe("rules/families/own.toml");
    fs::write(here.path().join("rules/s.toml"), "start = ['http://h.example/']\nextends = 'families/own'\n").unwrap();
    run(here.path(), &["rules", "check", "--rules", "rules"])
        .ended(1)
        .says(&["rules/s.toml:2:11: ", "it is not a regular file"]);
    fs::create_dir(here.path().join("out")).unwrap();
    pipe("out/manifest.jsonl");
    run(here.path(), &["export", "out", "--data", "data"])
        .ended(1)
        .says(&["manifest.jsonl", "it is not a regular file"]);
}
