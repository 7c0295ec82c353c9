//! Information for the operator: a broken rule file, quiet hours, the record of a URL, the start of a crawl, URLs that are too
//! deep, and suggestions for a misspelt name or folder.

use std::fs;
use std::path::Path;

use crate::cli::harness::{Ran, Service, Site, closed_port, folder, run, wait_for, write_site};

fn status(here: &Path) -> Ran {
    run(here, &["status", "--data", "data", "--rules", "rules"]).ended(0)
}

/// Inserts lines at the top of the demo site's rule file.
fn put_ahead(here: &Path, lines: &str) -> String {
    let path = here.join("rules/demo.toml");
    let before = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{lines}\n{before}")).unwrap();
    before
}

/// The current hour, UTC.
#[allow(clippy::disallowed_methods)]
fn hour() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs() / 3_600 % 24
}

const CRAWL: [&str; 5] = ["crawl", "--data", "data", "--rules", "rules"];

#[test]
fn a_rule_file_that_breaks_under_the_service_is_in_its_status_until_it_is_mended() {
    let here = folder();
    let _site = Site::start(here.path(), 30, 0);
    let mut service = Service::start(here.path());
    wait_for("the service crawls", || service.site().filter(|site| site["pages"].as_u64() > Some(0)));
    assert!(!status(here.path()).out.contains("rules/demo.toml"));
    let good = put_ahead(here.path(), "strat = []");
    wait_for("the fault is in the status", || {
        let told = status(here.path()).out;
        told.contains("rules/demo.toml: its last valid version, if any, stays in force").then(|| {
            assert!(told.contains("rules/demo.toml:1:1: ") && told.contains("did you mean `start`?"), "{told}");
        })
    });
    let told = run(here.path(), &["status", "--json", "--data", "data"]).ended(0).json();
    assert_eq!(told["rule_faults"][0]["count"], 1, "{told}");
    fs::write(here.path().join("rules/demo.toml"), good).unwrap();
    wait_for("the log tells that it is mended", || service.logged("rule file is valid again").pop());
    assert!(!status(here.path()).out.contains("rules/demo.toml"));
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn hours_and_a_day_s_budget_that_hold_a_site_back_are_told_while_nobody_crawls_it() {
    let here = folder();
    let _site = Site::start(here.path(), 30, 0);
    let rules = here.path().join("rules/demo.toml");
    let text = fs::read_to_string(&rules).unwrap();
    // A site on whose clock midnight is some hours away.
    let (offset, midnight, a_minute_before) = if (6..18).contains(&hour()) {
        ("Z", "T00:00:00Z", "T23:59:00Z")
    } else {
        ("+12:00", "T12:00:00Z", "T11:59:00Z")
    };
    let with = |key: &str| {
        fs::write(&rules, text.replace("\n[rate]\n", &format!("\n[rate]\nutc_offset = '{offset}'\n{key}\n"))).unwrap();
    };
    with("requests_per_day = 7");
    let again = "may ask again at 20";
    let told = format!("{midnight}: requests_per_day of the rule file is used up");
    run(here.path(), &CRAWL).ended(0).says(&[again, &told]);
    status(here.path()).says(&[again, &told]);
    run(here.path(), &[&CRAWL[..], &["--dry-run"]].concat()).ended(0).says(&[again, &told]);

    with("quiet_hours = ['00:00-23:59']");
    status(here.path()).says(&[again, &format!("{a_minute_before}: quiet_hours of the rule file")]);
    let told = run(here.path(), &["status", "--json", "--data", "data", "--rules", "rules"]).ended(0).json();
    assert_eq!(told["sites"][0]["waiting"]["reason"], "quiet_hours of the rule file", "{told}");
    fs::write(&rules, text).unwrap();
    status(here.path()).says(&["not being crawled"]);
}

#[test]
fn explain_and_a_dry_run_tell_what_the_database_knows_also_of_one_that_is_held() {
    let here = folder();
    let site = Site::start(here.path(), 60, 0);
    let origin = site.origin.clone();
    let dry_run = [&CRAWL[..], &["--dry-run"]].concat();
    run(here.path(), &dry_run).ended(0).says(&["due now; not visited yet", "robots.txt is fetched before"]);
    run(here.path(), &[&CRAWL[..], &["--max-pages", "40"]].concat()).ended(0);
    let explain = |url: &str| run(here.path(), &["rules", "explain", url, "--data", "data", "--rules", "rules"]);
    let front = format!("{origin}/");
    let known = |told: &Ran, queued: &str| {
        assert!(told.out.contains("known       since 20") && told.out.contains("visited     20"), "{}", told.out);
        assert!(
            told.out.contains("Z: page\n") && told.out.contains(&format!("  queued      {queued}")),
            "{}",
            told.out
        );
    };
    known(&explain(&front).ended(0), "");
    explain(&format!("{origin}/details/99999")).ended(0).says(&["known       not to the crawl"]);

    let plan = run(here.path(), &[&dry_run[..], &["--json"]].concat()).ended(0).json();
    let host = &plan["sites"][0]["hosts"][0];
    let first = host["next"][0]["url"].as_str().unwrap();
    assert_eq!(host["queued"], plan["sites"][0]["urls_queued"], "{plan}");
    assert_eq!(
        (&plan["sites"][0]["next"][0], &plan["sites"][0]["start"][0]),
        (&first.into(), &format!("{origin}/").into())
    );
    assert!(host["queued"].as_u64() > Some(0) && host["due"] == "now" && host["origin"] == *origin, "{plan}");
    assert_eq!(plan["sites"][0]["start_pages"][0]["outcome"], "page", "{plan}");
    explain(first).ended(0).says(&["visited     not yet", "queued      due now, 0 others of its host ahead of it"]);
    let class = host["next"][0]["class"].as_str().unwrap();
    run(here.path(), &dry_run).ended(0).says(&[
        &format!("  next  {first}\n        {class}, by rules/demo.toml:"),
        "last visit 20",
        &format!("  {origin}: {} queued, the first due now", host["queued"]),
    ]);

    run(here.path(), &CRAWL).ended(0);
    explain(&format!("{origin}/private/"))
        .ended(0)
        .says(&["robots_denied, not fetched", "/robots.txt, until that changes"]);
    drop(site);
    // The service holds the database now; its site is gone, and its knowledge stays.
    let mut service = Service::start(here.path());
    wait_for("the service is up", || service.site());
    known(&explain(&front).ended(0), "due at 20");
    run(here.path(), &dry_run).ended(0).says(&["last visit 20"]);
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn a_crawl_that_runs_into_depth_max_tells_how_much_lies_deeper_and_which_key_to_raise() {
    let here = folder();
    let _site = Site::start(here.path(), 60, 0);
    put_ahead(here.path(), "depth_max = 1");
    run(here.path(), &CRAWL).ended(0).says(&[" lie deeper than depth_max = 1", "hint: a larger `depth_max`"]);
}

#[test]
fn an_unreachable_site_is_told_in_one_short_line_and_whole_in_json() {
    let here = folder();
    write_site(here.path(), closed_port());
    let crawled = run(here.path(), &CRAWL).ended(1).says(&["unreachable: http://127.0.0.1:", "Connection refused"]);
    let told = status(here.path()).says(&["paused until "]).out;
    assert_eq!(told.matches("Connection refused").count(), 1, "{told}");
    for line in told.lines().chain(crawled.out.lines().filter(|line| line.contains("unreachable"))) {
        assert!(line.chars().count() <= 114, "{line}");
    }
    let json = run(here.path(), &["status", "--json", "--data", "data"]).ended(0).json();
    let reason = json["sites"][0]["blocked_hosts"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("(os error 111)") && reason.contains("robots.txt"), "{json}");
}

#[test]
fn a_site_that_is_not_there_and_a_file_in_the_place_of_a_folder_are_told() {
    let here = folder();
    write_site(here.path(), closed_port());
    let crawl = |site: &str| run(here.path(), &["crawl", site, "--data", "data", "--rules", "rules"]).ended(1);
    crawl("nosuch").says(&["no usable rule file for site `nosuch`", "there are site", "hint: name one of these"]);
    crawl("sote").says(&["there are site", "hint: did you mean `site`?"]);
    fs::write(here.path().join("data"), "").unwrap();
    for command in [&["crawl"][..], &["status"], &["verify"], &["coverage"], &["run"], &["crawl", "--dry-run"]] {
        let arguments = [command, &["--data", "data", "--rules", "rules"]].concat();
        run(here.path(), &arguments).ended(1).says(&["data: this is a file\nhint: pass the folder"]);
    }
    run(here.path(), &["demo", "--data", "data"]).ended(1).says(&["data: this is a file\nhint: pass the folder"]);
}
