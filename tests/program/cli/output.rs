//! Snapshots of the human-readable output of each command: these check its form; other tests check its content, by `--json` and exit
//! codes. `INSTA_UPDATE=always` rewrites them.

use std::path::Path;
use std::process::Command;

use regex::Regex;

use super::harness::{BINARY, Ran, Site, folder, run};

/// Patterns of text that varies between runs, with their placeholders, in this order.
const REDACTED: &[(&str, &str)] = &[
    (r"http://127\.0\.0\.1:\d+/[^\s:,;]*", "URL"),
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"\b[0-9a-f]{16,}\b", "HASH"),
    (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME"),
    (r"\b\d+(\.\d+)? (ms|s|min|h)\b", "DURATION"),
    (r"\b\d+(\.\d+)? [KMG]?i?B\b", "SIZE"),
    (r"\b\d+(\.\d+)?", "N"),
    // The width of a column depends on its numbers, and so does where its lines are wrapped.
    (r"\n {3,}", " "),
    (r" {3,}", "   "),
];

/// Number of lines of one output that are compared.
const LINES: usize = 30;

fn redacted(here: &Path, ran: &Ran) -> String {
    let mut text =
        format!("exit code {}\n--- standard output\n{}--- standard error\n{}", ran.code.unwrap(), ran.out, ran.err)
            .replace(here.to_str().unwrap(), "HERE");
    for (pattern, name) in REDACTED {
        text = Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned();
    }
    // Where a line is folded depends on the digits of ports and counts.
    for name in ["URL", "TIME", "N,"] {
        text = text.replace(&format!("\n  {name}"), &format!(" {name}"));
    }
    text.lines().take(LINES).collect::<Vec<_>>().join("\n")
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
        ("rules_new", &["rules", "new", "--offline", "https://tracker.example/", "--rules", "rules"]),
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
        ("schedule", &["schedule", "demo", "--lists", "0", "--plots", "0"]),
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
fn the_help_is_what_its_snapshot_shows() {
    let output = Command::new(BINARY).arg("--help").env("COLUMNS", "100").output().unwrap();
    insta::assert_snapshot!("help", String::from_utf8(output.stdout).unwrap());
}
