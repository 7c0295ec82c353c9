//! Processes that end during a login, and what the next one does with their files: no password is sent twice because of it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::forum::{FOLDERS, Forum};
use crate::cli::harness::{wait_for, with_default_signals};

const CRAWL: &[&str] = &["crawl", "forum"];
const LOGIN: &[&str] = &["login", "forum"];

fn begin(forum: &Forum, words: &[&str]) -> Child {
    forum.command_of(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn end(mut child: Child, signal: Signal) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap();
}

/// Starts a command whose login hangs at /hanging, and kills it there.
fn killed_at_hanging(forum: &Forum, words: &[&str]) {
    forum.seen.hangs.store(true, Ordering::SeqCst);
    let child = begin(forum, words);
    forum.wait_for("GET /hanging");
    end(child, Signal::KILL);
    assert_eq!(forum.posts(), 1);
    forum.seen.hangs.store(false, Ordering::SeqCst);
}

#[test]
fn a_kill_while_a_redirect_behind_the_form_hangs_costs_no_second_login() {
    for (first, second) in [(CRAWL, CRAWL), (LOGIN, CRAWL), (CRAWL, LOGIN)] {
        let forum = Forum::start();
        forum.rules("page = '/to/hang'");
        killed_at_hanging(&forum, first);
        let kept = forum.path().join("data/sessions/tries/forum.unproven");
        assert!(kept.exists());
        forum.run(&["status"]).ended(0).says(&["is not proven yet"]);
        forum.run(second).ended(0);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{first:?}, {second:?}");
        assert!(!kept.exists() && forum.path().join("data/sessions/forum.json").exists());
    }
}

#[test]
fn a_kill_between_the_answer_to_the_form_and_its_proof_costs_no_second_login() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("probe = '/hanging'");
        killed_at_hanging(&forum, words);
        forum.run(words).ended(0);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}");
        assert!(forum.path().join("data/sessions/forum.json").exists());
        // A form that came back counts as rejected once the proof fails, whoever requests the proof.
        let forum = Forum::start();
        forum.rules("page = '/to/back'\nprobe = '/hanging'");
        killed_at_hanging(&forum, words);
        for _ in 0..2 {
            forum.run(words).ended(1).says(&["probably refused"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_kill_before_the_form_is_answered_has_the_same_sent_again_by_again_alone() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/stuck'");
        forum.seen.hangs.store(true, Ordering::SeqCst);
        let child = begin(&forum, words);
        forum.wait_for("POST /stuck");
        end(child, Signal::KILL);
        forum.seen.hangs.store(false, Ordering::SeqCst);
        forum.run(&["status"]).ended(0).says(&["no complete answer came", "--again"]);
        for words in [LOGIN, CRAWL, LOGIN] {
            forum.run(words).ended(1).says(&["no complete answer came", "--again"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
        forum.login(&["--again"]).ended(1).says(&["the password is wrong"]);
        assert_eq!(forum.posts(), 2, "{words:?}");
    }
}

#[test]
fn nobody_logs_in_while_a_browsers_session_is_proven() {
    let forum = Forum::start();
    forum.rules("probe = '/hanging'");
    forum.seen.hangs.store(true, Ordering::SeqCst);
    std::fs::write(forum.path().join("cookies.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n").unwrap();
    let mut child = begin(&forum, &["login", "forum", "--cookies", "cookies.txt"]);
    forum.wait_for("GET /hanging");
    forum.login(&[]).ended(1).says(&["another process is logging in to forum"]);
    forum.seen.hangs.store(false, Ordering::SeqCst);
    assert!(child.wait().unwrap().success());
    assert_eq!(forum.posts(), 0);
}

#[test]
fn a_refusal_behind_a_redirect_leaves_nothing_to_prove() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/refused'");
        forum.run(words).ended(1).says(&["the user name or the password is wrong"]);
        assert!(!forum.path().join("data/sessions/tries/forum.unproven").exists());
        forum.run(words).ended(1);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}");
    }
}

#[test]
fn a_person_who_leaves_at_a_captcha_behind_the_form_leaves_no_second_try() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/step'");
        let picture = forum.interrupted_at_picture();
        assert_eq!((forum.posts(), picture.exists()), (1, false));
        for _ in 0..2 {
            forum.run(words).ended(1).says(&["CAPTCHA", "--interactive"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
        // The one extra attempt is used up by a form that the site first shows without its CAPTCHA.
        forum.interactive("XK42\n").ended(1).says(&["--interactive --again"]);
        assert_eq!(forum.posts(), 2, "{words:?}");
        forum.interactive_with("XK42\n", "--again").ended(0);
    }
}

#[test]
fn what_an_answer_asks_to_wait_outlasts_the_process_that_waits_for_it() {
    let asked_until = |forum: &Forum| {
        let tries = std::fs::read(forum.path().join("data/sessions/tries/forum.json")).ok()?;
        let tries: serde_json::Value = serde_json::from_slice(&tries).ok()?;
        tries["asked_until"].as_u64().filter(|until| *until > 0)
    };
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        forum.rules("page = '/to/patient'");
        let mut child = begin(&forum, words);
        if words == LOGIN {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(
                lines.map_while(Result::ok).any(|line| line.ends_with("s before the next request, as the site asks"))
            );
        }
        wait_for("the wait is written down", || asked_until(&forum));
        end(child, Signal::KILL);
        forum.run(&["crawl", "forum", "--max-time", "1"]).ended(1).says(&["hint: crawl again at "]);
        forum.login(&[]).ended(1).says(&["the site asked at the last login", "to wait until", "--again"]);
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

/// Starts a command, stops it when its form has been sent, and returns its standard error up to some words.
fn told_to_end(
    forum: &Forum,
    words: &[&str],
    signals: [Signal; 2],
    until: &str,
) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = forum.command_of(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    forum.wait_for("POST /slow");
    // A signal forwarded by a wrapper arrives with the first one, and does not count.
    for signal in signals {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(until)), "{until}");
    (child, lines)
}

const WAITED_FOR: &str = "waiting for its answer";
const FOLLOWED: &str = "waits for its answer";

#[test]
fn a_process_that_is_told_to_end_waits_for_the_answer_to_a_form_that_has_left() {
    for (words, signals, told) in [
        (CRAWL, [Signal::INT, Signal::TERM], WAITED_FOR),
        (CRAWL, [Signal::HUP, Signal::HUP], WAITED_FOR),
        (LOGIN, [Signal::INT, Signal::TERM], FOLLOWED),
        (LOGIN, [Signal::HUP, Signal::HUP], FOLLOWED),
    ] {
        let forum = Forum::start();
        forum.rules("page = '/to/slow'");
        forum.seen.hangs.store(true, Ordering::SeqCst);
        let (mut child, _) = told_to_end(&forum, words, signals, told);
        forum.seen.hangs.store(false, Ordering::SeqCst);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}, {signals:?}");
        assert!(forum.path().join("data/sessions/forum.json").exists());
        forum.run(CRAWL).ended(0);
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}, {signals:?}");
    }
}

/// A command about a site whose form is sent by its scripts, in its own process group, once the form has been sent.
fn scripted(forum: &Forum, words: &[&str]) -> Child {
    forum.rules("page = '/scripted'\n[render]\nlogin = 'always'");
    forum.seen.hangs.store(true, Ordering::SeqCst);
    let mut command = forum.command_of(words);
    let child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    forum.wait_for("POST /slow");
    child
}

#[test]
fn what_a_terminal_sends_to_all_who_stand_in_it_breaks_off_no_login_that_scripts_have_sent() {
    for (words, signal) in [(CRAWL, Signal::INT), (LOGIN, Signal::INT), (LOGIN, Signal::HUP)] {
        let forum = Forum::start();
        let mut child = scripted(&forum, words);
        kill_process_group(Pid::from_child(&child), signal).unwrap();
        // A process that aborts does so before the response arrives; one that waits for it sees the session.
        std::thread::sleep(std::time::Duration::from_millis(300));
        forum.seen.hangs.store(false, Ordering::SeqCst);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}, {signal:?}");
        assert!(forum.path().join("data/sessions/forum.json").exists(), "{words:?}, {signal:?}");
        assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null), "{words:?}, {signal:?}");
    }
}

#[test]
fn scripts_that_break_off_behind_their_post_leave_an_end_that_is_not_known() {
    for words in [CRAWL, LOGIN] {
        let forum = Forum::start();
        let child = scripted(&forum, words);
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let of =
            |task: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(task.ok()?.path().join("children")).ok();
        let renders: Vec<i32> = tasks
            .filter_map(of)
            .flat_map(|all| all.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
            .collect();
        assert!(!renders.is_empty());
        for render in renders {
            kill_process(Pid::from_raw(render).unwrap(), Signal::KILL).unwrap();
        }
        let mut child = child;
        assert_eq!(child.wait().unwrap().code(), Some(1), "{words:?}");
        forum.seen.hangs.store(false, Ordering::SeqCst);
        for words in [LOGIN, CRAWL, LOGIN] {
            forum.run(words).ended(1).says(&["no complete answer came", "--again"]);
        }
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_second_signal_ends_it_at_once_and_everybody_tells_what_has_become_of_the_login() {
    for (words, told) in [(CRAWL, WAITED_FOR), (LOGIN, FOLLOWED)] {
        let forum = Forum::start();
        forum.rules("page = '/to/slow'");
        forum.seen.hangs.store(true, Ordering::SeqCst);
        let (mut child, lines) = told_to_end(&forum, words, [Signal::INT, Signal::TERM], told);
        let ended = wait_for("it has ended", || {
            let ended = child.try_wait().unwrap();
            if ended.is_none() {
                kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            }
            ended
        });
        assert_eq!(ended.code(), Some(128 + 15), "{words:?}");
        assert!(lines.into_iter().any(|line| line.contains("second signal")), "{words:?}");
        forum.seen.hangs.store(false, Ordering::SeqCst);
        forum.run(CRAWL).ended(1).says(&["no complete answer came", "--again"]);
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_login_whose_terminal_is_closed_is_followed_to_its_proof() {
    for (words, told) in [(CRAWL, WAITED_FOR), (LOGIN, FOLLOWED)] {
        let forum = Forum::start();
        forum.rules("page = '/to/slow'");
        forum.seen.hangs.store(true, Ordering::SeqCst);
        // `script` provides a terminal for the command, which closes with it.
        let command =
            format!("exec '{}' {} {} 2> told", crate::cli::harness::BINARY, words.join(" "), FOLDERS.join(" "));
        let mut terminal = std::process::Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .current_dir(forum.path())
            .env_remove("CREDENTIALS_DIRECTORY")
            .env_remove("GLEANER_LOG")
            .env_remove("GLEANER_CONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        forum.wait_for("POST /slow");
        terminal.kill().unwrap();
        terminal.wait().unwrap();
        // A process that does not notice would get a response as well.
        let hears = || fs::read_to_string(forum.path().join("told")).is_ok_and(|of| of.contains(told)).then_some(());
        wait_for(told, hears);
        forum.seen.hangs.store(false, Ordering::SeqCst);
        let kept = forum.path().join("data/sessions/forum.json");
        wait_for("the session is kept", || kept.exists().then_some(()));
        assert_eq!(forum.posts(), 1, "{words:?}");
    }
}

#[test]
fn a_service_that_has_outlived_its_terminal_reads_its_rule_files_on_sighup() {
    let forum = Forum::start();
    // A separate job gets no signal when the terminal closes, as after `disown`.
    let command = format!(
        "set -m; '{}' run {} 2> told & echo $! > number; until grep -q 'service is up' told; do sleep 0.1; done",
        crate::cli::harness::BINARY,
        FOLDERS.join(" ")
    );
    let mut terminal = with_default_signals("script");
    terminal.args(["-qefc", &format!("bash -c {}", quoted(&command)), "/dev/null"]).current_dir(forum.path());
    for name in ["CREDENTIALS_DIRECTORY", "GLEANER_LOG", "GLEANER_CONFIG"] {
        terminal.env_remove(name);
    }
    let status = terminal.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    let told = || fs::read_to_string(forum.path().join("told")).unwrap_or_default();
    assert!(status.success(), "{}", told());
    let number: i32 = fs::read_to_string(forum.path().join("number")).unwrap().trim().parse().unwrap();
    let service = Pid::from_raw(number).unwrap();
    let _ends = Ends(service);
    let says = |words: &str| wait_for(words, || told().contains(words).then_some(()));
    says("the terminal of the service is closed");
    kill_process(service, Signal::HUP).unwrap();
    says("SIGHUP: reloading rule files");
    assert!(!told().contains("stopping"), "{}", told());
    kill_process(service, Signal::TERM).unwrap();
    says("stopping");
}

/// Kills the process when dropped, also after a failed test.
struct Ends(Pid);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn a_crawl_that_is_to_outlive_its_terminal_does() {
    let forum = Forum::start();
    forum.rules("page = '/to/slow'");
    forum.seen.hangs.store(true, Ordering::SeqCst);
    // As started by `nohup`.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", crate::cli::harness::BINARY]);
    for name in ["CREDENTIALS_DIRECTORY", "GLEANER_LOG", "GLEANER_CONFIG"] {
        command.env_remove(name);
    }
    let mut child = command.args(CRAWL).args(FOLDERS).current_dir(forum.path()).stderr(Stdio::piped()).spawn().unwrap();
    forum.wait_for("POST /slow");
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    forum.seen.hangs.store(false, Ordering::SeqCst);
    let mut told = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut told).unwrap();
    assert!(child.wait().unwrap().success() && !told.contains(WAITED_FOR), "{told}");
}

#[test]
fn a_crawl_that_is_told_to_end_before_it_had_a_session_has_not_ended_well() {
    let forum = Forum::start();
    forum.rules("page = '/flaky'");
    forum.seen.trouble.store(usize::MAX, Ordering::SeqCst);
    let mut child = forum.command_of(CRAWL).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("no session: the site waits for the next try")));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stdout).unwrap();
    assert_eq!((ended.status.code(), forum.posts()), (Some(1), 0), "{told}");
    assert!(told.contains("not logged in: ") && told.contains("hint: crawl again at "), "{told}");
}

#[test]
fn what_was_let_in_before_and_got_no_answer_is_sent_once_more() {
    let forum = Forum::start();
    forum.rules("page = '/to/slow'");
    forum.login(&[]).ended(0);
    for (nth, code) in [(1, 0), (2, 0)] {
        forum.login(&["--logout"]).ended(0);
        forum.seen.hangs.store(true, Ordering::SeqCst);
        let child = begin(&forum, CRAWL);
        wait_for("the form has left", || (forum.posts() == 2 * nth).then_some(()));
        end(child, Signal::KILL);
        forum.seen.hangs.store(false, Ordering::SeqCst);
        // By hand at once; a crawl would wait for a minute.
        forum.login(&[]).ended(code);
        assert_eq!(forum.posts(), 2 * nth + 1);
    }
    // It is over when it is sent.
    forum.login(&["--logout"]).ended(0);
    forum.seen.hangs.store(true, Ordering::SeqCst);
    for posts in [6, 7] {
        let child = begin(&forum, LOGIN);
        wait_for("the form has left", || (forum.posts() == posts).then_some(()));
        end(child, Signal::KILL);
    }
    forum.seen.hangs.store(false, Ordering::SeqCst);
    for words in [LOGIN, CRAWL] {
        forum.run(words).ended(1).says(&["no complete answer came", "--again"]);
    }
    assert_eq!(forum.posts(), 7);
}
