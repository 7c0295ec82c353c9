//! `gleaner rules learn`: from a URL to a rule file that the crawl uses.

use std::fs;

use crate::cli::harness::{Site, archived, closed_port, folder, run, truth, unfolded};

#[test]
fn a_site_is_learned_and_crawled_by_its_learned_rules() {
    let here = folder();
    let site = Site::start(here.path(), 80, 0);
    fs::remove_dir_all(here.path().join("rules")).unwrap();
    let url = format!("{}/", site.origin);
    let arguments = ["rules", "learn", &url, "--rate", "300", "--rules", "rules", "--data", "data", "--json"];
    let told = run(here.path(), &arguments).ended(0).json();
    let file = told["file"].as_str().unwrap().to_owned();
    assert_eq!((told["learned"].as_bool(), told["start"].as_str()), (Some(true), Some(&*url)));
    assert!(told["requests"].as_u64().unwrap() <= 150, "{told}");
    let text = fs::read_to_string(here.path().join(&file)).unwrap();
    assert!(text.contains("learned = true") && text.contains("[examples]"), "{text}");
    run(here.path(), &["rules", "check", &file]).ended(0);
    fs::write(
        here.path().join(&file),
        text.replace("requests_per_second = 300.0", "requests_per_second = 900.0\nrest_factor = 0.0\nconnections = 8"),
    )
    .unwrap();
    let name = told["site"].as_str().unwrap();
    run(here.path(), &["crawl", name, "--rules", "rules", "--data", "data"]).ended(0);
    // The demo site hides some on purpose: behind robots.txt, and in places that 150 requests do not see.
    let (stored, all) = (archived(&here.path().join("data")), truth(here.path()));
    assert!(stored.is_subset(&all) && stored.len() * 10 >= all.len() * 9, "{} of {}", stored.len(), all.len());
    // What a person has by now is not overwritten, and no request is sent for it.
    let ran = run(here.path(), &arguments).ended(1);
    assert!(unfolded(&ran.err).contains("exists already"), "{}", ran.err);
}

#[test]
fn the_file_can_go_to_standard_output_with_the_reason_of_each_request_beside_it() {
    let here = folder();
    let site = Site::start(here.path(), 40, 0);
    let url = format!("{}/", site.origin);
    let ran = run(
        here.path(),
        &["rules", "learn", &url, "--rate", "300", "--data", "data", "-o", "-", "--log", "--requests", "60"],
    )
    .ended(0);
    assert!(ran.out.starts_with("# Rules of 127.0.0.1:") && ran.out.contains("[classes]"), "{}", ran.out);
    assert!(ran.err.contains("start · 200") && ran.err.contains("explore 0."), "{}", ran.err);
    // The site's own rule file of the demo is in `rules`; nothing was written beside it.
    assert_eq!(fs::read_dir(here.path().join("rules")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_learned_is_a_failure_with_its_cause_and_leaves_no_file() {
    let here = folder();
    fs::write(here.path().join("afile"), "").unwrap();
    let dead = format!("http://127.0.0.1:{}/", closed_port());
    for (arguments, code, says) in [
        (vec!["rules", "learn", &*dead], 1, "hint: "),
        (vec!["rules", "learn", "notaurl"], 1, "without a dot"),
        (vec!["rules", "learn", "ftp://example.org/"], 1, "only http and https"),
        (vec!["rules", "learn", &*dead, "--requests", "5"], 2, "is not in 10..=2000"),
        (vec!["rules", "learn", &*dead, "--rate", "0"], 2, "from 0.001 to 1000"),
        (vec!["rules", "learn", &*dead, "-o", "-", "--json"], 1, "both write to standard output"),
        (vec!["rules", "learn", &*dead, "-o", "/proc/x.toml"], 1, "a folder that you may write to"),
        (vec!["rules", "learn", &*dead, "-o", "afile/x.toml"], 1, "a folder that you may write to"),
        (vec!["rules", "learn", &*dead, "--account", "anna"], 1, "no password for the site"),
    ] {
        let ran = run(here.path(), &arguments).ended(code);
        assert!(unfolded(&ran.err).contains(says), "{arguments:?}: {}", ran.err);
    }
    let left: Vec<_> = fs::read_dir(here.path().join("rules")).into_iter().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
