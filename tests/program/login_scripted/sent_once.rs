//! What is posted once, however often the login is killed, cut off or tried again.

use super::*;

#[test]
fn a_wrong_password_is_told_and_sent_once() {
    for site in ["built", "hashed"] {
        let stage = Stage::new(site, "");
        stage.set_password("n0t the password");
        for _ in 0..2 {
            let (login, told) = stage.run(&["login", "site", "-vv"]);
            assert_eq!(login.status.code(), Some(1), "{site}: {told}");
            assert!(!told.contains("n0t the password"), "{site}: {told}");
        }
        assert_eq!(stage.posts(), 1, "{site}");
        let (_, told) = stage.run(&["status"]);
        assert!(told.contains("the user name or the password is wrong"), "{site}: {told}");
        assert_eq!(stage.posts(), 1, "{site}");
    }
}

#[test]
fn of_all_writes_of_a_page_one_leaves_and_none_before_its_form() {
    let stage = Stage::new("twice", "page = '/twice/login'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert_eq!((login.status.code(), stage.posts()), (Some(1), 1), "{told}");
    assert_eq!(stage.asked("early"), 0, "{told}");
    assert!(told.contains("a login sends one POST only"), "{told}");
}

#[test]
fn what_is_posted_while_a_name_is_typed_is_no_login_and_no_cookie_takes_the_password() {
    let stage = Stage::new("typed", "page = '/typed/login'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert_eq!((stage.posts(), stage.of(|place| place.logins)), (1, 1), "{told}");
    let early = stage.of(|place| place.log.iter().filter(|(_, path)| path.starts_with("check-")).count());
    assert_eq!(early, 0, "{told}");
    assert!(told.contains("nothing is posted before the form is sent"), "{told}");
    let kept = fs::read_to_string(stage.data().join("sessions/site.json")).unwrap();
    assert!(kept.contains("\"seen\"") && kept.contains("\"sid\""), "{kept}");
    assert!(!kept.contains("\"p\"") && !kept.contains("\"q\""), "{kept}");
    for secret in forms(PASSWORD) {
        assert!(!kept.contains(&secret), "{secret} is kept");
    }
}

/// Child processes of this process.
fn children_of(parent: u32) -> Vec<i32> {
    let of = |entry: fs::DirEntry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which may contain anything: state, then the parent.
        let above: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (above == parent).then_some(id)
    };
    fs::read_dir("/proc").unwrap().filter_map(|entry| of(entry.unwrap())).collect()
}

#[test]
fn a_child_that_is_lost_behind_the_post_is_no_reason_for_a_second_one() {
    let stage = Stage::new("lost", "page = '/lost/login'\n[render]\nlogin = 'always'");
    let out = fs::File::create(stage.folder.path().join("out")).unwrap();
    let mut login =
        stage.command(&["login", "site", "-vv"]).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
    while stage.posts() == 0 {
        assert!(
            login.try_wait().unwrap().is_none(),
            "{}",
            fs::read_to_string(stage.folder.path().join("out")).unwrap()
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let children = children_of(login.id());
    assert!(!children.is_empty(), "its page is open in a child");
    for child in children {
        let child = rustix::process::Pid::from_raw(child).unwrap();
        rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    }
    let code = login.wait().unwrap().code();
    let told = fs::read_to_string(stage.folder.path().join("out")).unwrap();
    assert_eq!((code, stage.posts()), (Some(1), 1), "{told}");
    assert!(told.contains("ended while their POST was under way"), "{told}");
}

/// The input is sent in an unrecognisable form.
#[test]
fn a_coded_login_that_is_killed_cut_off_or_asked_to_wait_is_sent_again_by_its_operators_word_alone() {
    for site in ["coded-killed", "coded-dropped", "coded-limited"] {
        let stage = Stage::new(site, &format!("page = '/{site}/login'"));
        if site == "coded-killed" {
            let out = fs::File::create(stage.folder.path().join("out")).unwrap();
            let mut login =
                stage.command(&["login", "site", "-vv"]).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
            while stage.posts() == 0 {
                let told = || fs::read_to_string(stage.folder.path().join("out")).unwrap();
                assert!(login.try_wait().unwrap().is_none(), "{}", told());
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            login.kill().unwrap();
            login.wait().unwrap();
        } else {
            let (login, told) = stage.run(&["login", "site", "-vv"]);
            assert_eq!((login.status.code(), stage.posts()), (Some(1), 1), "{site}: {told}");
        }
        for again in ["login", "crawl", "login"] {
            let (output, told) = stage.run(&[again, "site"]);
            assert_eq!((output.status.code(), stage.posts()), (Some(1), 1), "{site}, {again}: {told}");
            let hint = if site == "coded-limited" { "to wait" } else { "--again" };
            assert!(told.contains(hint), "{site}, {again}: {told}");
        }
        let (login, told) = stage.run(&["login", "site", "--again", "-vv"]);
        assert!(login.status.success(), "{site}: {told}");
        assert_eq!((stage.posts(), stage.of(|place| (place.logins, place.wrong))), (2, (1, 0)), "{site}: {told}");
    }
}
