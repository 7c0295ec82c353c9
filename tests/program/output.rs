//! What each command prints for a person, one snapshot a command: what its output looks like stands here, what is true in it is
//! asserted elsewhere, on `--json` and exit codes. `INSTA_UPDATE=always` writes them.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;

use crate::cli::harness::{Ran, Site, folder, run};

/// What differs from run to run, and what stands in its place. The order counts: a longer form goes before the shorter one in it.
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

/// Commands in the order in which a person meets them, on a demo site of 30 torrents.
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
    let output = Command::new(crate::cli::harness::BINARY).arg("--help").env("COLUMNS", "100").output().unwrap();
    insta::assert_snapshot!("help", redacted(Path::new("/nowhere"), &Ran::of(&output)));
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    insta::assert_snapshot!(
        "run_without_sites",
        redacted(here.path(), &run(here.path(), &["run", "--data", "data", "--rules", "rules"]))
    );
}
