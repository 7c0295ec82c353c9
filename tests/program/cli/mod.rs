//! The built binary from outside: its output, its exit codes, its files. Loopback only, every
//! process bounded in time and ended with its test.

mod accounts;
mod alarms;
pub mod api;
mod changes;
mod damaged;
mod demo;
mod disks;
mod enable;
mod filed;
mod first_contact;
mod handover;
pub mod harness;
mod holes;
mod import;
mod learn;
mod learn_again;
mod login;
mod members_keys;
mod misuse;
mod output;
pub mod owners;
mod pages;
mod paths;
pub mod press;
mod repair;
mod repair_guards;
mod search;
mod service;
mod sources;
mod told;
pub mod web;

use std::fs;

use serde_json::Value;

use harness::{Ran, closed_port, folder, gleaner, run, write_site};

/// Commands below `path`, as its help lists them.
fn commands_below(path: &[String]) -> Vec<Vec<String>> {
    let here = folder();
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(here.path(), &arguments).ended(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut found = vec![path.to_vec()];
    for line in listed {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        if let Some(name) = line.split_whitespace().next().filter(|name| is_name && *name != "help") {
            found.extend(commands_below(&[path, &[name.to_owned()]].concat()));
        }
    }
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    let here = folder();
    let commands = commands_below(&[]);
    let names: Vec<String> = commands.iter().map(|path| path.join(" ")).collect();
    for wanted in [
        "demo",
        "crawl",
        "run",
        "rules",
        "rules check",
        "rules explain",
        "rules new",
        "rules enable",
        "rules disable",
        "rules schema",
        "backup",
        "restore",
        "doctor",
        "alarms",
        "alarms test",
        "alarms silence",
        "alarms unsilence",
        "alarms note",
        "search",
        "categories",
        "status",
        "top",
        "export",
        "handover",
        "import",
        "coverage",
        "token",
        "token new",
        "token list",
        "token revoke",
        "pause",
        "resume",
        "recheck",
        "verify",
        "config",
        "config check",
        "completions",
        "man",
    ] {
        assert!(names.iter().any(|name| name == wanted), "no help lists `{wanted}`: {names:?}");
    }
    for path in commands {
        for flag in ["--help", "-h"] {
            let arguments: Vec<&str> = path.iter().map(String::as_str).chain([flag]).collect();
            let ran = run(here.path(), &arguments).ended(0);
            let example =
                ran.out.lines().find_map(|line| line.strip_prefix("Example: ").or(line.strip_prefix("Start with: ")));
            let example = example.unwrap_or_else(|| panic!("`{path:?} {flag}` has no example:\n{}", ran.out));
            let of = path.first().filter(|_| path.len() > 1 || path.is_empty()).map_or("gleaner ", String::as_str);
            assert!(example.starts_with("gleaner ") && example.contains(of), "{path:?}: {example}");
            assert_eq!(ran.err, "");
        }
    }
}

#[test]
fn a_mistyped_command_or_flag_is_told_with_the_nearest_and_exits_2() {
    let here = folder();
    run(here.path(), &["crwl"]).ended(2).says(&["unrecognized subcommand 'crwl'", "'crawl'"]);
    run(here.path(), &["rules", "chekc"]).ended(2).says(&["'check'"]);
    run(here.path(), &["train", "--json"])
        .ended(2)
        .says(&["'train' is a command of gleaner-lab", "hint: gleaner-lab train"]);
    run(here.path(), &["simulate", "forum.csv"]).ended(2).says(&["hint: gleaner-lab simulate"]);
    run(here.path(), &["crawl", "--dry-rn"]).ended(2).says(&["'--dry-rn'", "'--dry-run'"]);
    for option in ["--max-pages", "--max-time", "--enumerate"] {
        let ran = run(here.path(), &["crawl", "demo", option, "0"]).ended(2);
        let ran = ran.says(&[option, "write a number from 1 on"]);
        assert!(!ran.err.contains("18446744073709551615"), "{}", ran.err);
    }
    run(here.path(), &["--version"]).ended(0).says(&[env!("CARGO_PKG_VERSION")]);
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0, "wrong usage leaves nothing behind");
}

#[test]
fn a_broken_rule_file_is_told_with_path_line_and_column() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let text = "start = ['http://127.0.0.1/']\n[classes]\nindex = ['^/$', '(']\nindx = []\n";
    fs::write(here.path().join("rules/bad.toml"), text).unwrap();
    run(here.path(), &["rules", "check", "--rules", "rules"])
        .ended(1)
        .says(&["rules/bad.toml:3:", "rules/bad.toml:4:1"]);
    run(here.path(), &["rules", "check", "rules/bad.toml"]).ended(1).says(&["rules/bad.toml:3:", "rules/bad.toml:4:1"]);
    run(here.path(), &["rules", "check", "rules/absent.toml"]).ended(1).says(&["rules/absent.toml"]);
    run(here.path(), &["crawl", "--rules", "rules"]).ended(1).says(&["rules/bad.toml:3:", "no usable site"]);
}

#[test]
fn faults_are_told_by_the_exit_code_though_nobody_reads_on() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    fs::write(here.path().join("rules/bad.toml"), "indx = []\n").unwrap();
    fs::write(here.path().join("rules/good.toml"), "start = ['http://127.0.0.1/']\nclasses.index = ['.']\n").unwrap();
    for (file, code) in [("rules/bad.toml", 1), ("rules/good.toml", 0)] {
        // A pipe whose reader is gone before the first byte.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(harness::BINARY);
        let ran = command.current_dir(here.path()).args(["rules", "check", file]).stdout(writer).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{file}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_new_rule_file_passes_its_check_and_is_never_overwritten() {
    let here = folder();
    let new = ["rules", "new", "--offline", "https://example.org/torrents/", "--rules", "rules"];
    run(here.path(), &new).ended(0).says(&["wrote rules/", "gleaner rules check"]);
    let path = fs::read_dir(here.path().join("rules")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap() + "# mine\n";
    for told in ["# [login]", "secrets/example.org", "families/phpbb", "docs/guide/members.md"] {
        assert!(text.contains(told), "{told}");
    }
    fs::write(&path, &text).unwrap();
    run(here.path(), &["rules", "check", "--rules", "rules"]).ended(0).says(&["no faults"]);
    run(here.path(), &new).ended(1).says(&["exists already", "hint:"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    run(here.path(), &["rules", "new", "no address", "--rules", "rules"]).ended(1).says(&["hint:"]);
}

#[test]
fn explain_names_the_file_and_line_of_the_rule() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let text = "start = ['http://site.example/']\ndeny = ['/private/']\n[classes]\nindex = ['^/$']\ndownload = ['\\.torrent$']\n";
    fs::write(here.path().join("rules/site.toml"), text).unwrap();
    let explain = |url: &str| run(here.path(), &["rules", "explain", url, "--rules", "rules"]);
    explain("http://site.example/a.torrent?sid=00112233445566778899aabbccddeeff#x").ended(0).says(&[
        "taken as    download",
        "site.toml:5",
        "http://site.example/a.torrent\n",
    ]);
    explain("http://site.example/private/a.torrent").ended(1).says(&["refused", "site.toml:2"]);
    explain("http://site.example/other").ended(1).says(&["refused", "none of"]);
    explain("http://other.example/").ended(1).says(&["no site file names the host", "site.example"]);
}

#[test]
fn the_schema_is_json_that_knows_the_keys() {
    let here = folder();
    let schema: Value = serde_json::from_str(&run(here.path(), &["rules", "schema"]).ended(0).out).unwrap();
    for key in ["start", "classes", "rate", "robots", "private_addresses"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn a_fault_of_the_configuration_is_told_with_path_line_and_column() {
    let here = folder();
    let check = |text: &str| {
        fs::write(here.path().join("gleaner.toml"), text).unwrap();
        run(here.path(), &["config", "check", "--config", "gleaner.toml"])
    };
    check("requests_max = 8\n").ended(0).says(&["ok gleaner.toml", "requests_max  8"]);
    check("requests_max = 8\ncontcat = 'x'\n").ended(1).says(&["gleaner.toml:2:1", "did you mean `contact`?"]);
    check("requests_max = 'many'\n").ended(1).says(&["gleaner.toml:1:16"]);
    run(here.path(), &["config", "check", "--config", "absent.toml"]).ended(1).says(&["absent.toml"]);
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let here = folder();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        run(here.path(), &["completions", shell]).ended(0).says(&["gleaner", "dry-run", "coverage"]);
    }
    run(here.path(), &["completions", "csh"]).ended(2).says(&["bash"]);
    run(here.path(), &["man", "deep/man1"]).ended(0);
    let page = |name: &str| fs::read_to_string(here.path().join("deep/man1").join(name)).unwrap();
    assert!(page("gleaner.1").contains("crawl") && page("gleaner-crawl.1").contains("dry"));
}

#[test]
fn no_color_and_pipes_get_no_escape_codes() {
    let here = folder();
    fs::write(here.path().join("bad.toml"), "contcat = 1\n").unwrap();
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color")] {
        for arguments in [&["rules", "check", "bad.toml"][..], &["config", "check", "--config", "bad.toml"], &["crwl"]]
        {
            let ran = Ran::of(&gleaner(here.path(), arguments).env(variable, value).output().unwrap());
            assert_ne!(ran.code, Some(0));
            assert!(
                !ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'),
                "{variable} {arguments:?}: {:?}",
                ran.err
            );
        }
    }
}

#[test]
fn a_demo_is_complete_and_a_second_one_resumes() {
    let here = folder();
    let first = run(here.path(), &["demo", "--json", "--torrents", "60"]).ended(0).json();
    for key in [
        "site_torrents",
        "stored",
        "false_torrents",
        "duplicates",
        "pages",
        "refused_fetches",
        "coverage",
        "harvest_rate",
        "seconds",
    ] {
        assert!(first[key].is_number(), "{key}: {first}");
    }
    assert!(here.path().join(first["archive"].as_str().unwrap()).is_dir(), "{first}");
    let told =
        |demo: &Value| (demo["coverage"].as_f64(), demo["false_torrents"].as_u64(), demo["refused_fetches"].as_u64());
    assert_eq!(told(&first), (Some(1.0), Some(0), Some(0)), "{first}");
    assert_eq!(first["stored"], first["site_torrents"]);

    let second = run(here.path(), &["demo", "--json"]).ended(0).json();
    assert_eq!(told(&second), (Some(1.0), Some(0), Some(0)), "{second}");
    assert_eq!(second["pages"], first["pages"], "a page was fetched again");

    // A demo that was just killed may keep its port for a moment.
    let port = fs::read(here.path().join("gleaner-demo/demo.json")).unwrap();
    let port = serde_json::from_slice::<Value>(&port).unwrap()["port"].as_u64().unwrap();
    let held = std::net::TcpListener::bind(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    let letting_go = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(700));
        drop(held);
    });
    let third = run(here.path(), &["demo"]).ended(0);
    letting_go.join().unwrap();
    let listed = third.out.lines().filter(|line| line.starts_with("  gleaner ") && !line.contains("rules new"));
    for line in listed {
        assert!(line.contains(" --data gleaner-demo"), "{line}");
    }
    let coverage =
        run(here.path(), &["coverage", "demo", "--json", "--data", "gleaner-demo"]).ended(0).json()["sites"][0].take();
    assert_eq!(second["coverage_reckoned"], coverage["cr"]);
    let cr = coverage["cr"].as_f64().unwrap();
    // One of its 71 listed links is closed by robots.txt.
    assert!((0.98..=1.0).contains(&cr), "{coverage}");
    assert_eq!(coverage["listed_stored"], coverage["ci"], "{coverage}");
    assert!(coverage["ci_per_nt"].as_f64().unwrap() < 0.95, "a torrent listed twice is two in NT: {coverage}");
    third.says(&[&format!("; {:.2} % by the site's lists", cr * 100.0)]);

    let held = std::net::TcpListener::bind(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
    let refused = run(here.path(), &["demo"])
        .ended(1)
        .says(&[&format!("port {port} is in use; the demo in gleaner-demo needs it\nhint: ")]);
    assert_eq!(refused.err.matches("in use").count(), 1, "{}", refused.err);
    drop(held);

    run(here.path(), &["demo", "--torrents", "61"]).ended(1).says(&["60 torrents, not 61", "hint: "]);
    run(here.path(), &["verify", "--data", "gleaner-demo"]).ended(0).says(&["archive and database agree"]);
}

#[test]
fn a_crawl_of_a_closed_port_ends_by_itself_and_says_unreachable() {
    let here = folder();
    write_site(here.path(), closed_port());
    run(here.path(), &["crawl", "--rules", "rules", "--data", "data"]).ended(1).says(&["unreachable", "127.0.0.1"]);
}

#[test]
fn a_crawl_whose_time_is_over_before_any_answer_has_failed() {
    let here = folder();
    // Connections are taken, and never answered.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    write_site(here.path(), silent.local_addr().unwrap().port());
    let began = harness::now();
    let ran = run(here.path(), &["crawl", "--max-time", "2", "--rules", "rules", "--data", "data"]).ended(1);
    ran.says(&["stopped at --max-time of 2 s", "nothing was answered before the crawl ended"]);
    // As at Ctrl-C, a request under way is not waited for to its own limit.
    assert!(began.elapsed() < std::time::Duration::from_secs(25), "{:?}", began.elapsed());
}

#[test]
fn a_dry_run_before_the_first_crawl_shows_what_it_would_follow() {
    let here = folder();
    let _site = harness::Site::start(here.path(), 30, 0);
    let words = ["crawl", "--dry-run", "--rules", "rules", "--data", "data"];
    run(here.path(), &words).ended(0).says(&[
        "requested now: status 200; its links: ",
        " detail",
        "refused: ",
        "then  http",
    ]);
    let plan = run(here.path(), &[&words[..], &["--json"]].concat()).ended(0).json();
    let ahead = &plan["sites"][0]["start_pages"][0]["ahead"];
    assert!(
        ahead["links"]["detail"].as_u64().unwrap() > 3 && ahead["follows"].as_array().unwrap().len() > 3,
        "{ahead}"
    );
    assert!(!here.path().join("data").exists());
    // Known sites are not asked.
    run(here.path(), &["crawl", "--rules", "rules", "--data", "data"]).ended(0);
    let plan = run(here.path(), &[&words[..], &["--json"]].concat()).ended(0).json();
    assert_eq!(plan["sites"][0]["start_pages"][0]["ahead"], serde_json::Value::Null);
}

#[test]
fn a_dry_run_writes_nothing() {
    let here = folder();
    write_site(here.path(), closed_port());
    let dry_run = ["crawl", "--dry-run", "--rules", "rules", "--data", "data"];
    // The start page is asked for, and nobody answers.
    run(here.path(), &dry_run)
        .ended(1)
        .says(&["start http://127.0.0.1:", "requested now: not answered: its robots.txt"]);
    let plan = run(here.path(), &[&dry_run[..], &["--json"]].concat()).ended(1).json();
    assert_eq!(plan["dry_run"], true);
    assert!(!here.path().join("data").exists());
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
    let misspelt = ["crawl", "sote", "--rules", "rules", "--data", "data"];
    run(here.path(), &misspelt).ended(1).says(&["did you mean `site`?"]);
}
