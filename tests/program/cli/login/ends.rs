//! The results of logins, and the next step shown after each.

use std::fs;
use std::sync::atomic::Ordering;

use super::forum::{FOLDERS, Forum, PASSWORD};
use crate::cli::harness::{Service, run, wait_for};

#[test]
fn each_end_of_a_login_tells_the_next_step() {
    let forum = Forum::start();
    let again = "then run: gleaner login forum --data data --rules rules";
    let cookies = "then run: gleaner login forum --cookies cookies.txt --data data --rules rules";
    let next = |login: &str, verdict: &str, hint: &str| {
        forum.rules(login);
        let told = forum.login(&["--again"]).ended(1);
        let last = told.out.lines().last().unwrap();
        assert!(last.starts_with("verdict: ") && last.contains(verdict) && !last.contains("hint"), "{last}");
        let hints: Vec<&str> = told.err.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{login}: {hint}: {}", told.err);
        hints[0].to_owned()
    };
    let broken = next("page = 'to/broken'", "only with an error", "that the account is not locked");
    assert!(broken.ends_with(again), "{broken}");
    let none = next(
        "page = '/nothing'",
        "the page that [login] names has no login form",
        "check in a browser which page has the form",
    );
    assert!(none.ends_with("correct `page` in [login] of rules/forum.toml"), "{none}");
    let unknown =
        next("page = '/to/welcome'", "does not show whether the login worked", "name a page that only members see");
    assert!(unknown.contains("as `probe` in [login] of rules/forum.toml") && unknown.contains(again), "{unknown}");
    assert!(unknown.ends_with("run: gleaner login forum --again --data data --rules rules"), "{unknown}");
    let unproven = next(
        "page = '/to/dumb'\nprobe = '/nothing/'",
        "has probably refused",
        "check the password in data/secrets/forum",
    );
    assert!(unproven.ends_with("run: gleaner login forum --again --data data --rules rules"), "{unproven}");
    assert!(next("page = '/widget/'", "CAPTCHA", "log in with a browser").ends_with(cookies));
    let letter = next("page = '/name/login'", "the site asks for a second factor", "log in with a browser");
    assert!(letter.ends_with(cookies), "{letter}");
    assert!(
        next("page = '/sso'", "the login belongs to another site", "; else log in with a browser").ends_with(cookies)
    );
    let captcha = next("page = '/captcha/'", "CAPTCHA", "run: gleaner login forum --interactive");
    assert!(captcha.ends_with("--interactive --data data --rules rules"), "{captcha}");
    forum.password("wrong");
    let wrong = next("", "the password is wrong", "correct the password in data/secrets/forum");
    assert!(wrong.contains("or `user` in [login] of rules/forum.toml") && wrong.ends_with(again), "{wrong}");

    // A crawl's message about the same has the complete command, and its log no placeholder. The responses to the forms above
    // outlast a new table, so this one starts anew.
    let forum = Forum::start();
    forum.rules("page = '/captcha/'");
    forum.password("s3cret");
    let crawled = run(forum.path(), &[&["crawl", "forum", "-vv"], &FOLDERS[..]].concat()).ended(1);
    assert!(!crawled.err.contains("SITE") && !crawled.out.contains("SITE"), "{}{}", crawled.out, crawled.err);
    crawled.says(&["`gleaner login forum --data data --rules rules --interactive`"]);
}

#[test]
fn a_form_that_comes_back_in_unknown_words_keeps_its_password_from_being_sent_again() {
    let forum = Forum::start();
    forum.rules("page = '/to/back'");
    let told = forum.login(&[]).ended(1).says(&[
        "has probably refused the user name or the password",
        "the page says “Sorry, no match.”",
        "hint: check the password in data/secrets/forum, and `user` in [login] of rules/forum.toml, then run: gleaner login forum \
         --data data --rules rules; if both are right, name a page that only members see as `probe` in [login] of rules/forum.toml \
         and run the same command, or run: gleaner login forum --again --data data --rules rules",
    ]);
    assert!(!told.err.contains(PASSWORD) && !told.out.contains(PASSWORD), "{}", told.err);
    forum.login(&[]).ended(1).says(&[
        "the site has probably refused this user and password before",
        "`gleaner login forum --again --data data --rules rules` sends",
        "name a page that only members see as `probe` in [login] of rules/forum.toml, then run the same",
    ]);
    // Neither a crawl nor the service sends it.
    let crawled = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
    crawled.says(&["probably refused", "`gleaner login forum --data data --rules rules --again`"]);
    run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["probably refused", "--again`"]);
    let service = Service::start(forum.path());
    wait_for("the service tells why it waits", || service.logged("no session: the site waits for its operator").pop());
    assert_eq!(service.stop().code(), Some(0));
    assert_eq!(forum.posts(), 1);
    // The hint works: the same credentials with the option, and others at once.
    forum.login(&["--again"]).ended(1);
    assert_eq!(forum.posts(), 2);
    forum.password("another");
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 3);
    forum.rules("");
    forum.password(PASSWORD);
    forum.login(&["--again"]).ended(0);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 5, "it was let in: nothing is refused any more");
}

#[test]
fn what_the_site_says_in_numbers_is_told() {
    let forum = Forum::start();
    forum.rules("page = '/to/counting'");
    forum.login(&[]).ended(1).says(&["is wrong", "the page says “You have 1 attempts remaining.”"]);
    forum.password("another");
    forum.rules("page = '/to/locked/hour'");
    let ends = "the site says that the lock ends at 20";
    forum.login(&[]).ended(1).says(&["is locked", "the page says “It opens again in 1 hour.”", ends, " --again"]);
    // A later login sees it as well, and the end of the lock does not permit an attempt.
    forum.login(&[]).ended(1).says(&["no other one is tried", ends]);
    let by_the_sites_words = "is locked, until 20";
    forum.run(&["crawl", "forum"]).ended(1).says(&[by_the_sites_words]);
    forum.run(&["status"]).ended(0).says(&[by_the_sites_words]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn another_page_that_proves_has_a_good_password_tried_once_more() {
    let forum = Forum::start();
    forum.rules("page = '/shown'\nprobe = '/shown'");
    forum.login(&[]).ended(1).says(&["has probably refused"]);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    forum.rules("page = '/shown'\nprobe = '/flaky'");
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_form_that_scripts_take_away_from_members_is_no_sign_of_a_guest() {
    let forum = Forum::start();
    forum.rules("page = '/taken-away'\nprobe = '/taken-away'");
    forum.login(&[]).ended(0).says(&["shows a login form without its scripts: rendered", "has a link to log out"]);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn an_answer_that_tells_nothing_is_a_refusal_where_nobody_sees_a_member() {
    for (login, answer) in [
        ("page = '/to/dumb'", "status 200"),
        ("page = '/to/empty'", "status 200"),
        ("page = '/to/lost'", "status 404"),
        ("page = '/to/empty'\nprobe = '/flaky'", "status 200"),
    ] {
        let forum = Forum::start();
        forum.rules(login);
        forum.login(&[]).ended(1).says(&[answer, "probably refused", "hint: check the password in data/secrets/forum"]);
        forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
        forum.run(&["crawl", "forum"]).ended(1).says(&["probably refused"]);
        assert_eq!(forum.posts(), 1, "{login}");
    }
    // A message about a member says less about the password: a second one is conclusive.
    let forum = Forum::start();
    forum.rules("page = '/to/welcome'");
    forum
        .login(&[])
        .ended(1)
        .says(&["does not show whether the login worked", "name a page that only members see as `probe`"]);
    forum.login(&[]).ended(1).says(&["were sent before, and may have been refused", "login forum --again"]);
    assert_eq!(forum.posts(), 1);
    forum.login(&["--again"]).ended(1).says(&["check the password in data/secrets/forum"]);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn what_was_sent_and_brought_no_session_is_sent_again_by_again_alone() {
    for (login, said) in [
        ("page = '/to/welcome'", "does not show whether the login worked"),
        ("page = '/to/offsite'", "the login belongs to another site"),
        ("page = '/to/unconfirmed'", "is not confirmed"),
        ("page = '/to/code'", "second factor"),
        ("page = '/to/part'", "not proven yet"),
    ] {
        let forum = Forum::start();
        forum.rules(login);
        forum.login(&[]).ended(1);
        assert_eq!(forum.posts(), 1, "{login}");
        for _ in 0..2 {
            forum.login(&[]).ended(1);
            forum.run(&["crawl", "forum"]).ended(1);
            forum.run(&["status"]).ended(0);
        }
        assert_eq!(forum.posts(), 1, "{login}, {said}");
        forum.login(&["--again"]).ended(1);
        assert_eq!(forum.posts(), 2, "{login}");
    }
}

#[test]
fn an_api_that_brings_no_token_is_told_with_both_that_may_be_wrong() {
    let forum = Forum::start();
    let table = |token: &str| {
        format!("json = {{ url = '/api', user = 'user', password = 'password', token = '{token}' }}\nprobe = '/me'")
    };
    forum.rules(&table("/data/token"));
    let told = forum.login(&[]).ended(1).says(&["probably refused", "no text at /data/token (`json.token`)"]);
    let hints: Vec<&str> = told.err.lines().filter(|line| line.starts_with("hint: ")).collect();
    for part in ["check the password in data/secrets/forum", "correct `json.token` (`/data/token`)", "rules/forum.toml"]
    {
        assert!(hints.len() == 1 && hints[0].contains(part), "{part}: {hints:?}");
    }
    forum.login(&[]).ended(1).says(&["refused this user and password before", "correct `json.token` (`/data/token`)"]);
    forum.run(&["crawl", "forum"]).ended(1).says(&["check the password", "correct `json.token`"]);
    assert_eq!(forum.posts(), 1);
    // With the fixed pointer the same password is tried once more.
    forum.rules(&table("/data/key"));
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_locked_account_is_touched_again_only_where_its_operator_says_so() {
    let forum = Forum::start();
    forum.rules("page = '/to/locked'");
    let again = "run: gleaner login forum --again --data data --rules rules";
    forum.login(&[]).ended(1).says(&["the account or the address is locked", again]);
    let asked = forum.asked();
    for _ in 0..2 {
        forum.login(&[]).ended(1).says(&["the account was locked at the last login", again]);
    }
    let told = forum.login(&["--json"]).ended(1).json();
    assert!(told["verdict"].is_null() && told["hint"].as_str().unwrap().contains("--again"), "{told}");
    assert_eq!((forum.posts(), forum.asked()), (1, asked), "nothing was asked");
    forum
        .run(&["crawl", "forum"])
        .ended(1)
        .says(&["is locked", "`gleaner login forum --data data --rules rules --again`"]);
    assert_eq!(forum.posts(), 1);
    forum.login(&["--again"]).ended(1);
    assert_eq!(forum.posts(), 2);
    // Unlocking often requires a new password.
    forum.password("another");
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 3);
}

/// One sentence in all places that show it.
#[test]
fn a_form_that_is_sent_by_get_is_told_with_what_to_do_by_everybody() {
    let forum = Forum::start();
    forum.rules("page = '/get'");
    let said = "the login form is sent by GET, which would put the password into a URL: nothing was sent";
    let cookies = "gleaner login forum --cookies cookies.txt --data data --rules rules";
    forum.login(&[]).ended(1).says(&[said, cookies]);
    for words in [&["crawl", "forum"][..], &["status"]] {
        let told = forum.run(words).ended(i32::from(words[0] == "crawl"));
        assert!(!told.out.contains("login.page") && !told.err.contains("login.page"), "{}{}", told.out, told.err);
        told.says(&[said, "`gleaner login forum --data data --rules rules --cookies cookies.txt`"]);
    }
    assert_eq!(forum.posts(), 0);
    assert!(forum.seen.at.lock().unwrap().iter().all(|(what, _)| what != "GET /in"), "no password in an address");
}

/// In all places, the next step can be run as shown.
#[test]
fn a_wrong_password_is_told_with_its_file_and_the_command_by_everybody() {
    let forum = Forum::start();
    forum.password("wrong");
    let step = "correct the password in data/secrets/forum, or `user` in [login] of rules/forum.toml, then run `gleaner login forum \
                --data data --rules rules`";
    let crawled = forum.run(&["crawl", "forum"]).ended(1);
    for told in [&crawled.out, &crawled.err, &forum.run(&["status"]).ended(0).out] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(step), "{step}: {told}");
    }
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_captcha_that_comes_with_other_words_has_the_password_sent_once_a_run() {
    let forum = Forum::start();
    forum.rules("page = '/to/zorb'");
    forum.interactive("XK42\n").ended(1).says(&["Computer says zorb.", "probably refused", "--interactive --again"]);
    assert_eq!(forum.posts(), 1);
    forum.interactive("XK42\n").ended(1).says(&["has probably refused this user and password before"]);
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 1);
    // A command without options for a person mentions them.
    let forum = Forum::start();
    forum.rules("page = '/to/zorb'");
    forum.login(&[]).ended(1).says(&["the page says “Computer says zorb.”", "probably refused", "--again"]);
    forum.interactive("XK42\n").ended(1);
    assert_eq!(forum.posts(), 1);
    // If only the CAPTCHA is named as wrong, it is sent once more, with the new text.
    let forum = Forum::start();
    forum.rules("page = '/to/step'");
    forum.interactive("XK42\n").ended(0);
    assert_eq!(forum.posts(), 2);
    // A misread CAPTCHA is no rejection; but no run sends a second one again unless requested.
    let forum = Forum::start();
    forum.rules("page = '/to/step'");
    let hint = "run: gleaner login forum --interactive --again --data data --rules rules";
    forum.interactive("XK43\n").ended(1).says(&["the site asks for a CAPTCHA", hint]);
    for _ in 0..2 {
        forum.interactive("XK42\n").ended(1).says(&["with a CAPTCHA twice", hint]);
        forum.run(&["crawl", "forum"]).ended(1).says(&["with a CAPTCHA twice", "--interactive --again"]);
    }
    assert_eq!(forum.posts(), 2);
    forum.interactive_with("XK42\n", "--again").ended(0);
    assert_eq!(forum.posts(), 4);
}

#[test]
fn a_corrected_form_of_the_rule_file_is_sent_once_by_hand_and_behind_a_sure_refusal_by_again_alone() {
    const CRAWL: &[&str] = &["crawl", "forum"];
    for (page, is_sure) in [("/to/pin", true), ("/to/pin/somehow", false)] {
        let forum = Forum::start();
        let pin = |field: &str| forum.rules(&format!("page = '{page}'\npassword_field = '{field}'"));
        pin("pin");
        forum.login(&[]).ended(1).says(&[
            "the user name or the password is wrong",
            "if `password_field` there was wrong, correct it and run: gleaner login forum --again",
        ]);
        forum.login(&[]).ended(1);
        // No crawl sends anything again because of an edit of the file.
        for field in ["pin", "password"] {
            pin(field);
            forum.run(CRAWL).ended(1);
        }
        forum.rules(&format!("page = '{page}'\npassword_field = 'password'\nfields = {{ style = '2' }}"));
        forum.run(CRAWL).ended(1);
        pin("password");
        assert_eq!(forum.posts(), 1, "{page}");
        if is_sure {
            forum.login(&[]).ended(1).says(&["--again"]);
        }
        forum.login(if is_sure { &["--again"] } else { &[] }).ended(0);
        assert_eq!(forum.posts(), 2, "{page}");
        // A wrong password is not sent twice by a form, wherever the file points in between.
        forum.login(&["--logout"]).ended(0);
        forum.password("wrong");
        forum.login(&[]).ended(1);
        for field in ["pin", "password", "pin", "password"] {
            forum.rules("page = '/nothing'");
            forum.login(&[]).ended(1);
            pin(field);
            forum.login(&[]).ended(1);
        }
        assert_eq!(forum.posts(), if is_sure { 3 } else { 4 }, "{page}");
    }
}

#[test]
fn the_same_account_under_another_name_of_its_rule_file_is_the_same() {
    let forum = Forum::start();
    forum.password("wrong");
    forum.login(&[]).ended(1);
    let (rules, secrets) = (forum.path().join("rules"), forum.path().join("data/secrets"));
    fs::copy(rules.join("forum.toml"), rules.join("twin.toml")).unwrap();
    fs::copy(secrets.join("forum"), secrets.join("twin")).unwrap();
    for words in [&["login", "twin"], &["crawl", "twin"]] {
        forum.run(words).ended(1).says(&["refused this user and password before"]);
    }
    assert_eq!(forum.posts(), 1);
    forum.run(&["login", "twin", "--again"]).ended(1);
    assert_eq!(forum.posts(), 2);
    forum.password(PASSWORD);
    fs::copy(secrets.join("forum"), secrets.join("twin")).unwrap();
    forum.run(&["login", "twin"]).ended(0);
}

#[test]
fn what_each_page_of_a_site_links_to_says_nothing_of_an_account() {
    for page in ["/to/gated/nav", "/to/offsite"] {
        let forum = Forum::start();
        forum.login(&[]).ended(0);
        forum.rules(&format!("page = '{page}'"));
        forum.seen.forgets.store(true, Ordering::SeqCst);
        forum.login(&[]).ended(1).says(&["does not clearly refuse them"]);
        forum.login(&[]).ended(1);
        assert_eq!(forum.posts(), 3, "{page}");
    }
}

#[test]
fn a_wrong_password_beside_a_wait_is_held_and_the_wait_is_told() {
    let forum = Forum::start();
    forum.rules("page = '/to/quota'");
    forum.password("wrong");
    let told = forum.login(&[]);
    told.ended(1).says(&[
        "the password is wrong",
        "asks to wait until 20",
        " or later, run: ",
        "right after all, run then: gleaner login",
    ]);
    forum.login(&[]).ended(1).says(&["refused this user and password before", "--again", "asks to wait until 20"]);
    forum.run(&["crawl", "forum"]).ended(1).says(&["the password is wrong"]);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_hint_of_a_wait_is_what_the_next_login_waits_for() {
    let forum = Forum::start();
    forum.rules("page = '/to/overrun'");
    forum.login(&[]).ended(0);
    forum.login(&["--logout"]).ended(0);
    forum.seen.trouble.store(1, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&[
        "wait until ",
        "(an estimate, as the site gave no time)",
        "to try sooner, run: gleaner login forum --again",
    ]);
    forum.login(&[]).ended(1).says(&["the estimate is to wait until"]);
    forum.login(&["--again"]).ended(0);
    assert_eq!(forum.posts(), 3);
}

#[test]
fn a_captcha_that_a_server_in_trouble_shows_is_read_once_more_over_all_runs() {
    let forum = Forum::start();
    forum.rules("page = '/to/misread'");
    for _ in 0..3 {
        forum.interactive("XK42\nXK42\n").ended(1);
    }
    assert_eq!(forum.posts(), 2);
}

/// Credentials that were accepted before are shown by `--logout`, which deletes only the session.
#[test]
fn a_redirect_loop_is_told_as_one_with_its_address() {
    let forum = Forum::start();
    let address = format!("http://127.0.0.1:{}/circle redirects", forum.port);
    for login in ["page = '/circle'", ""] {
        forum.rules(login);
        if login.is_empty() {
            let file = forum.path().join("rules/forum.toml");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replacen("/']", "/circle']", 1).replace("'^/$'", "'.'")).unwrap();
        }
        forum.login(&[]).ended(1).says(&[
            "verdict: the path to the login form is a redirect loop",
            &address,
            "hint: check in a browser",
        ]);
        // Nothing has been crawled in the folder yet.
        forum.run(&["status"]).ended(0).says(&["redirect loop", &address]);
        for words in [&["status"][..], &["crawl", "forum"], &["crawl", "forum"], &["status"]] {
            let told = forum.run(words).ended(i32::from(words[0] == "crawl"));
            let said = format!("{}{}", told.out, told.err);
            assert!(said.contains("redirect loop") && !said.contains("was interrupted"), "{words:?}: {said}");
        }
        fs::remove_dir_all(forum.path().join("data/sessions")).unwrap();
        forum.run(&["crawl", "forum"]).ended(1).says(&["redirect loop", &address]);
        forum.run(&["status"]).ended(0).says(&["redirect loop", &address]);
    }
    assert_eq!(forum.posts(), 0);
}

#[test]
fn hints_name_the_site_repeat_the_folders_and_tell_what_is_there() {
    let forum = Forum::start();
    forum.rules("form = 3");
    forum.login(&[]).ended(1).says(&[
        "the rule file names form 3, but the page has 1",
        "verdict: the form that [login] names is not a login form",
        "hint: correct `form` in [login] of rules/forum.toml; the page has form 1, a login form, with the fields username, password, go",
    ]);
    forum.rules("user_field = 'nick'");
    forum.login(&[]).ended(1).says(&[
        "has no field `nick`",
        "correct `user_field` in",
        "with the fields username, password, go",
    ]);
    forum.rules("page = '/captcha/'");
    let told = forum.login(&[]).ended(1);
    assert!(told.err.contains("run: gleaner login forum --interactive --data data --rules rules\n"), "{}", told.err);
    assert_eq!(forum.posts(), 0);

    forum.rules("");
    forum.password("wrong");
    forum.login(&[]).ended(1).says(&["the user name or the password is wrong"]);
    forum.login(&[]).ended(1).says(&[
        "hint: correct the password in data/secrets/forum; `gleaner login forum --again --data data --rules rules`",
    ]);
    assert_eq!(forum.posts(), 1);
    fs::write(forum.path().join("data/sessions/forum.json"), "{").unwrap();
    fs::write(forum.path().join("data/sessions/tries/forum.json"), "{").unwrap();
    let told = forum.login(&[]).ended(1);
    assert!(told.err.trim_end().lines().last().unwrap().starts_with("hint: "), "the hint is the end: {}", told.err);
}
