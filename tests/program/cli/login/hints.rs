//! Failed logins that are not caused by the password: each is reported as what it is, and nothing is sent because of it.

use std::fs;
use std::sync::atomic::Ordering;

use super::forum::Forum;

const CRAWL: &[&str] = &["crawl", "forum", "--max-time", "1"];

#[test]
fn what_stands_in_front_of_the_site_is_told_and_waited_for() {
    for (page, says) in [("/walled", "rejects everybody for now"), ("/consent", "asks for consent")] {
        let forum = Forum::start();
        forum.rules(&format!("page = '{page}'"));
        forum.login(&[]).ended(1).says(&[
            &format!("”: the gateway in front of the site {says}"),
            "hint: the gateway in front of the site may let you in later: wait, then run: gleaner login forum --data data --rules \
             rules; or, if it asks for something, log in with a browser",
        ]);
        forum.run(CRAWL).ended(1).says(&[says, "hint: crawl again at "]);
        assert_eq!(forum.posts(), 0, "{page}");
        // A stored session is not given up because of it.
        let forum = Forum::start();
        forum.login(&[]).ended(0);
        forum.rules(&format!("page = '{page}'\nprobe = '{page}'"));
        let told = forum.run(CRAWL).ended(1).says(&["the stored session is not proven yet"]);
        assert!(!told.out.contains("not logged in"), "{}", told.out);
        assert_eq!(forum.posts(), 1, "{page}");
    }
}

#[test]
fn a_password_that_has_expired_is_told_as_one_and_a_new_one_is_sent() {
    let forum = Forum::start();
    forum.rules("page = '/to/expired'");
    let step = "change it with a browser, write the new one into data/secrets/forum, then run: gleaner login forum --data data --rules rules";
    forum.login(&[]).ended(1).says(&["the site wants a new password: the one that was sent has expired", step]);
    forum.login(&[]).ended(1).says(&["nothing was sent", step]);
    forum
        .run(CRAWL)
        .ended(1)
        .says(&["the one that was sent has expired", "correct the password in data/secrets/forum"]);
    assert_eq!(forum.posts(), 1);
    forum.password("another");
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn what_a_members_page_says_of_passwords_that_expire_refuses_none() {
    let forum = Forum::start();
    forum.rules("page = '/to/old-one'\nprobe = '/old'");
    forum.login(&[]).ended(0).says(&["the `probe` of the rule file, is shown"]);
    // Without a page that proves it, the text counts, and the operator may know better.
    forum.rules("page = '/to/old-one'\nprobe = '/nothing-there'");
    fs::remove_dir_all(forum.path().join("data/sessions")).unwrap();
    forum
        .login(&[])
        .ended(1)
        .says(&["the one that was sent has expired", "if it is still valid, run: gleaner login forum --again"]);
    forum.login(&[]).ended(1).says(&["nothing was sent", "--again"]);
    forum.rules("page = '/to/old-one'\nprobe = '/old'");
    forum.login(&["--again"]).ended(0);
}

#[test]
fn what_members_are_shown_is_nothing_in_front_of_the_site() {
    for probe in ["/cookies", "/cookies/button"] {
        let forum = Forum::start();
        forum.rules(&format!("probe = '{probe}'"));
        forum.login(&[]).ended(0);
        forum.run(&["crawl", "forum"]).ended(0);
        forum.run(&["login", "forum", "--logout"]).ended(0);
        fs::write(forum.path().join("cookies.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n").unwrap();
        forum.login(&["--cookies", "cookies.txt"]).ended(0);
        assert_eq!(forum.posts(), 1, "{probe}");
    }
}

#[test]
fn a_page_that_guests_are_refused_ends_the_session_and_not_the_site() {
    for probe in ["/guarded", "/guarded/front", "/guarded/away"] {
        let forum = Forum::start();
        forum.rules(&format!("probe = '{probe}'"));
        forum.login(&[]).ended(0);
        forum.seen.forgets.store(true, Ordering::SeqCst);
        forum.run(&["crawl", "forum"]).ended(0);
        assert_eq!(forum.posts(), 2, "{probe}");
    }
}

#[test]
fn another_address_of_the_sites_own_is_told_with_the_key_to_mend() {
    let forum = Forum::start();
    forum.rules("page = '/to/secure'");
    forum.login(&[]).ended(1).says(&[
        "https://127.0.0.1, which has the host of this site under another scheme or port, is not a host of this site",
        "hint: set `start` of rules/forum.toml to the site's current address, or write `hosts = [\"127.0.0.1:",
        "\", \"127.0.0.1\"]` above the tables of rules/forum.toml, then run: gleaner login forum --again --data data --rules rules",
    ]);
    forum
        .login(&[])
        .ended(1)
        .says(&["set `start` of rules/forum.toml to it or add it to `hosts`", "login forum --again"]);
    forum.run(CRAWL).ended(1).says(&["set `start` to it or add it to `hosts` in the rule file"]);
    forum.run(&["status"]).ended(0).says(&["set `start` to it or add it to `hosts` in the rule file"]);
    assert_eq!(forum.posts(), 1);
    // A host with another name may belong to the site as well.
    let forum = Forum::start();
    forum.rules("page = '/sso'");
    forum
        .login(&[])
        .ended(1)
        .says(&["127.0.0.2:9 is not a host of this site", "\"127.0.0.2:9\"]` above the tables of rules/forum.toml"]);
}

#[test]
fn a_form_whose_address_cannot_be_read_is_told_as_such() {
    let forum = Forum::start();
    forum.rules("page = '/nowhere'");
    forum.login(&[]).ended(1).says(&[
        "the form's address \"http://[::1/x\" cannot be read: invalid IPv6 address",
        "verdict: the form's address cannot be read",
        "hint: name another `form` in [login] of rules/forum.toml if that one logs in (the page has form 1, a login form",
    ]);
    assert_eq!(forum.posts(), 0);
}

#[test]
fn an_api_is_left_alone_for_as_long_as_its_answer_asks() {
    let forum = Forum::start();
    forum.rules("json = { url = '/busy-api', user = 'user', password = 'password', token = '/t' }\nprobe = '/me'");
    let told = forum.login(&[]).ended(1).says(&["the site asks to wait until ", "hint: wait until "]);
    assert!(!told.err.contains("an estimate"), "{}", told.err);
    forum.login(&[]).ended(1).says(&["the site asked at the last login to wait until "]);
    let crawled = forum.run(CRAWL).ended(1).says(&["the site asked at the last login to wait, until "]);
    assert!(!crawled.out.contains("estimate"), "{}", crawled.out);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_form_that_is_wanted_by_its_own_address_again_is_sent_once() {
    let forum = Forum::start();
    forum.rules("page = '/to/again'");
    forum.login(&[]).ended(1).says(&["redirects the form again and again"]);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn a_session_that_was_set_for_https_alone_is_named_with_the_way_there() {
    let forum = Forum::start();
    forum.rules("page = '/to/in-the-clear'");
    forum.login(&[]).ended(1).says(&[
        "the site's cookie `sid` was not kept: it is for https only, but came over http",
        "hint: set `start` of rules/forum.toml to the https address of the site",
        "login forum --again",
    ]);
    forum.rules("page = '/to/narrow'");
    forum.login(&["--again"]).ended(1).says(&["no cookie of the site applies to http://127.0.0.1:"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_site_that_shows_nothing_but_a_refusal_is_told_as_such() {
    let forum = Forum::start();
    forum.rules("page = '/banned'");
    let told = ["the site shows no page to log in at", "answers 403 and says “Your network is not welcome.”"];
    forum.login(&[]).ended(1).says(&told).says(&["hint: check in a browser what the site answers"]);
    forum.run(CRAWL).ended(1).says(&told);
    assert_eq!(forum.posts(), 0);
}

#[test]
fn what_a_script_posts_without_the_password_is_not_the_login() {
    let forum = Forum::start();
    forum.rules("page = '/counted'\n[render]\nlogin = 'always'");
    forum
        .login(&[])
        .ended(0)
        .says(&["scripts post to http://127.0.0.1:", "without the password: that is not the login"]);
    let asked: Vec<String> = forum.seen.at.lock().unwrap().iter().map(|(asked, _)| asked.clone()).collect();
    let posts: Vec<&str> = asked.iter().filter_map(|of| of.strip_prefix("POST ")).collect();
    assert_eq!(posts, ["/log", "/in"]);
    let forum = Forum::start();
    forum.password("wrong");
    forum.rules("page = '/counted'\n[render]\nlogin = 'always'");
    forum.login(&[]).ended(1).says(&["the password is wrong"]);
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn status_and_login_say_the_same_of_what_is_tried_again_by_itself() {
    let forum = Forum::start();
    forum.login(&[]).ended(0);
    forum.rules("page = '/to/moody'");
    forum.seen.trouble.store(9, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["a crawl retries by itself"]);
    let told = forum.run(&["status"]);
    told.ended(0).says(&["a crawl retries by itself, and `gleaner login forum --data data --rules rules` at once"]);
    forum.login(&[]).ended(1).says(&["a crawl retries at 20"]);
    forum.run(&["status"]).ended(0).says(&["a crawl retries at 20"]);
}
