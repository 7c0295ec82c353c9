//! Tests of the `gleaner-lab` binary, and of its models and schedules.

mod login_model;
mod replay;
mod schedule;

use std::path::Path;
use std::process::{Command, Output};

/// Runs `gleaner-lab` in a folder.
fn lab(here: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gleaner-lab")).args(arguments).current_dir(here).output().unwrap()
}

#[test]
fn every_command_has_help_with_an_example() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, example) in [
        (&["--help"][..], "Start with: gleaner-lab "),
        (&["train", "--help"], "Example: gleaner-lab train "),
        (&["train", "-h"], "Example: gleaner-lab train "),
        (&["simulate", "--help"], "Example: gleaner-lab simulate "),
        (&["simulate", "-h"], "Example: gleaner-lab simulate "),
    ] {
        let ran = lab(here.path(), arguments);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && text.lines().any(|line| line.starts_with(example)), "{text}");
    }
    assert_eq!(lab(here.path(), &["crawl"]).status.code(), Some(2));
}

#[test]
fn what_is_wrong_stands_before_what_to_do_about_it() {
    let here = tempfile::tempdir().unwrap();
    let ran = lab(here.path(), &["train"]);
    let error = String::from_utf8(ran.stderr).unwrap();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(ran.status.code(), Some(1));
    assert!(lines[0].starts_with("error: models/login_form.tsv: ") && lines[0].contains("No such file"), "{error}");
    assert!(lines[1].starts_with("hint: run it where gleaner's source is"), "{error}");
}
