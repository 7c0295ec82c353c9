//! Unit tests of `hints`.

use anyhow::Context as _;

use super::*;

#[test]
fn commands_in_hints_name_the_site_and_repeat_the_folders() {
    let hints = Hints { options: " --data 'my data'".to_owned(), ..Hints::default() };
    for (text, expected) in [
        ("then run `gleaner login`)", "then run `gleaner login forum --data 'my data'`)"),
        ("`gleaner login --interactive`", "`gleaner login forum --data 'my data' --interactive`"),
        ("gleaner login forum", "gleaner login forum --data 'my data'"),
        ("gleaner login forum2, gleaner login forum --data 'my data'", ""),
        ("no command", ""),
    ] {
        let expected = if expected.is_empty() { text } else { expected };
        assert_eq!(hints.of_site(text, "forum"), expected);
    }
    assert_eq!(Hints::default().of_site("`gleaner login`.", "forum"), "`gleaner login forum`.");
    assert_eq!(hints.command("status"), "gleaner status --data 'my data'");
    let with_rules = hints.with_rules(Path::new("/my rules"));
    assert_eq!(with_rules.command("crawl"), "gleaner crawl --data 'my data' --rules '/my rules'");
    let elsewhere = with_rules.with_rules(Path::new("b"));
    assert_eq!(elsewhere.command("crawl"), "gleaner crawl --data 'my data' --rules b");
    assert_eq!(quoted(Path::new("a b'c")), "'a b'\\''c'");
}

#[test]
fn an_argument_with_a_password_is_told_without_it() {
    for (text, expected) in [
        ("http://anna:hunter2@h/a", "http://••••••@h/a"),
        ("http://anna:hunt/er2@h/a", "http://••••••@h/a"),
        ("anna:hunter2@h", "••••••@h"),
        ("anna:hunter2", "anna:••••••"),
        ("ftp://anna:hunter2", "ftp://anna:••••••"),
        ("http://h:8080/a:b", "http://h:8080/a:b"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("plain", "plain"),
    ] {
        assert_eq!(told_argument(text), expected);
    }
}

#[test]
fn what_is_said_is_told_from_what_to_do() {
    for (text, expected) in [
        ("no form (hint: name it)", "no form"),
        ("no form (in a frame)", "no form (in a frame)"),
        ("no form (hint: name it) at all", "no form (hint: name it) at all"),
    ] {
        assert_eq!(without_hint(text), expected);
    }
}

#[test]
fn hints_stand_behind_all_causes() {
    let error = anyhow::anyhow!("no such file\nhint: make it").context("models/x\nhint: name the folder");
    let error = Err::<(), _>(error).context("train").unwrap_err();
    assert_eq!(told(&error), "train: models/x: no such file\nhint: name the folder\nhint: make it");
}
