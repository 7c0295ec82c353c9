//! Snapshots of the human-readable output of each command: these check its form; other tests check its content, by `--json` and exit
//! codes. `INSTA_UPDATE=always` rewrites them.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

use super::harness::{BINARY, Ran, Site, folder, run};

/// Patterns of text that varies between runs, with their placeholders. Order matters: a longer form precedes a shorter one inside it.
const REDACTED: &[(&str, &str)] = &[
    (r"\x1b\[[0-9;]*m", ""),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( ?UTC|Z)?", "TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"\b\d+(\.\d+)? ?(ms|s|min|h|minutes?|seconds?|hours?)\b( \d+ ?(ms|s|min)\b)?", "DURATION"),
    (r"\b\d+(\.\d+)? ?(k|M|G)i?B\b", "SIZE"),
    (r"\bpid \d+", "pid N"),
];

fn redacted(here: &Path, ran: &Ran) -> String {
    let mut text =
        format!("exit code {}\n--- standard output\n{}--- standard error\n{}", ran.code.unwrap(), ran.out, ran.err)
            .replace(here.to_str().unwrap(), "HERE");
    for (pattern, name) in REDACTED {
        text = Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned();
    }
    text
}

/// Commands in the order of typical use, on a demo site of 30 torrents.
#[test]
fn each_command_prints_what_its_snapshot_shows() {
    let here = folder();
    let here = here.path();
    let site = Site::start(here, 30, 0);
    let first = format!("{}/", site.origin);
    let both = ["--data", "data", "--rules", "rules"];
    let commands: &[(&str, &[&str])] = &[
        ("rules_new", &["rules", "new", "https://tracker.example/", "--rules", "rules"]),
        ("rules_check", &["rules", "check", "--rules", "rules"]),
        ("rules_explain", &["rules", "explain", &first]),
        ("config_check", &["config", "check"]),
        ("status_before", &["status"]),
        ("crawl_dry_run", &["crawl", "demo", "--dry-run"]),
        ("crawl_cut_short", &["crawl", "demo", "--max-pages", "5"]),
        ("crawl", &["crawl", "demo"]),
        ("crawl_again", &["crawl", "demo"]),
        ("status", &["status"]),
        ("coverage", &["coverage", "demo"]),
        ("delay", &["delay", "demo"]),
        ("schedule", &["schedule", "demo"]),
        ("noise", &["noise", "demo"]),
        ("render", &["render", &first]),
        ("verify", &["verify"]),
        ("export", &["export", "harvest"]),
        ("export_again", &["export", "harvest"]),
        ("login_without_a_login", &["login", "demo"]),
        ("mistyped_flag", &["crawl", "--max-page", "5"]),
        ("mistyped_site", &["crawl", "dmo"]),
    ];
    for (name, words) in commands {
        let folders: &[&str] = if matches!(*name, "rules_new" | "rules_check" | "config_check") { &[] } else { &both };
        let ran = run(here, &[*words, folders].concat());
        insta::assert_snapshot!(*name, redacted(here, &ran));
    }
}

#[test]
fn the_help_and_a_service_without_sites_print_what_their_snapshots_show() {
    let output = Command::new(BINARY).arg("--help").env("COLUMNS", "100").output().unwrap();
    insta::assert_snapshot!("help", redacted(Path::new("/nowhere"), &Ran::of(&output)));
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    insta::assert_snapshot!(
        "run_without_sites",
        redacted(here.path(), &run(here.path(), &["run", "--data", "data", "--rules", "rules"]))
    );
}
