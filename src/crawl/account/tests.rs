//! Unit tests of `account`.

use super::*;
use gleaner_rules as rules;

#[test]
fn a_password_in_the_place_of_a_name_is_seen_before_anything_is_sent() {
    let text = "start = ['http://h.example/']\nclasses.page = ['.']\n[login]\nuser = 'anna'\npassword_field = 'pass'\n\
                    fields = { Hunter3Xyzzy = 'x' }";
    let rules = rules::from_text("s", text).unwrap();
    let login = rules.login.as_ref().unwrap();
    for (password, expected) in [("Hunter3Xyzzy", true), ("pass", false), ("h3x", false), ("Hunter3", true)] {
        let told = misplaced(&rules, login, &Secret::new(password));
        assert_eq!(told.is_some(), expected, "{password}");
        assert!(!told.unwrap_or_default().contains(password));
    }
}

#[test]
fn a_value_that_holds_the_password_is_named_by_its_key_and_not_shown() {
    for (login, password, key) in [
        ("user = 'anna:hunter2-x'", "hunter2-x", Some("`login.user`")),
        ("user = 'anna'\nfields = { style = '1', extra = 'hunter2-x' }", "hunter2-x", Some("`login.fields.extra`")),
        ("user = 'anna'\nfields = { extra = 'x hunter y' }", "hunter", Some("`login.fields.extra`")),
        ("user = 'anna'\nfields = { auth = 'YW5uYTpodW50ZXIyLXg=' }", "hunter2-x", Some("`login.fields.auth`")),
        ("user = 'anna'\nfields = { h = '0D107D09F5BBE40CADE3DE5C71E9E9B7' }", "letmein", Some("`login.fields.h`")),
        ("user = 'anna'\nprobe = '/in?k=h%C3%BCnt%262'", "hünt&2", Some("`login.probe`")),
        ("user = 'anna'\nprobe = '/members'", "members", None),
        ("user = 'anna'\nfields = { style = '12' }", "12", None),
        ("user = 'anna'", "hunter2-x", None),
        ("user = 'annabelle'", "anna", None),
    ] {
        let text = format!("start = ['http://h.example/']\nclasses.page = ['.']\n[login]\n{login}");
        let rules = rules::from_text("s", &text).unwrap();
        let told = misplaced(&rules, rules.login.as_ref().unwrap(), &Secret::new(password));
        match key {
            Some(key) => {
                let told = told.unwrap_or_else(|| panic!("{login}"));
                assert!(told.contains(key) && told.contains("change the password"), "{told}");
                assert!(!told.contains(password), "{told}");
            }
            None => assert_eq!(told, None, "{login}"),
        }
    }
}

#[test]
fn a_header_that_holds_the_password_is_named_and_one_that_has_a_word_of_it_is_not() {
    for (value, password, expected) in [
        ("hunter2-x", "hunter2-x", true),
        ("Basic YW5uYTpodW50ZXIyLXg=", "hunter2-x", true),
        ("hunter", "hunter", true),
        ("text/html", "text", false),
        ("de, en", "hunter2-x", false),
    ] {
        let text = format!(
            "start = ['http://h.example/']\nheaders = {{ X-Foo = '{value}' }}\nclasses.page = ['.']\n[login]\nuser = 'anna'"
        );
        let rules = rules::from_text("s", &text).unwrap();
        let told = misplaced(&rules, rules.login.as_ref().unwrap(), &Secret::new(password));
        assert_eq!(told.is_some(), expected, "{value}");
        let told = told.unwrap_or_default();
        assert!(told.is_empty() || (told.contains("`headers.X-Foo`") && !told.contains(password)), "{told}");
    }
}

#[test]
fn a_reason_is_one_line_of_the_log() {
    for (why, expected) in [
        ("no password\nhint: write it\nhint: or set it", "no password (hint: write it; or set it)"),
        ("one\ntwo", "one two"),
        ("plain (hint: x)", "plain (hint: x)"),
    ] {
        assert_eq!(in_one_line(why), expected);
    }
}
