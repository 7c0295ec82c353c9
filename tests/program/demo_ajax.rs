//! The demo's lists that scripts build, crawled by the binary with the engine in child processes: every torrent is stored, none is
//! without scripts, and nothing is requested that the site's own scripts would not request.

use std::path::Path;
use std::process::Command;

use gleaner_demo::ajax::{self, AjaxLog, AjaxOptions, Section};

/// Crawls the site with these lines appended to its rule file, which ends in `[rate]`; returns the crawl's summary, the site's part of
/// `status`, and the requests to the site.
fn crawled(options: AjaxOptions, lines: &str) -> (serde_json::Value, serde_json::Value, AjaxLog) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let site = runtime.block_on(ajax::start(options)).unwrap();
    let here = tempfile::tempdir().unwrap();
    let rules = here.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(rules.join("ajax.toml"), format!("{}\n{lines}", site.rules_text)).unwrap();
    let summary = gleaner(&["crawl", "ajax", "--json", "--max-time", "300", "--rules"], &rules, here.path());
    let mut status = gleaner(&["status", "--json", "--rules"], &rules, here.path());
    (summary, status["sites"][0].take(), site.log())
}

/// The output of the command, with the rules folder as its last argument.
fn gleaner(arguments: &[&str], folder: &Path, data: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    let output = command.args(arguments).arg(folder).arg("--data").arg(data.join("data")).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn options(sections: &[Section], pages: usize, per_page: usize) -> AjaxOptions {
    AjaxOptions { sections: sections.to_vec(), pages, per_page, ..AjaxOptions::default() }
}

#[track_caller]
fn assert_all_harvested(options: AjaxOptions) -> AjaxLog {
    let torrents = options.pages * options.per_page;
    let (sections, per_page) = (options.sections.clone(), options.per_page);
    let (summary, status, log) = crawled(options, "");
    assert_eq!(summary["stored"], torrents, "{sections:?}: {summary} {log:?}");
    // The first page has two URLs in some sections, the last one replaced by an endpoint is rendered before the crawl ends, and each
    // view generates new download URLs.
    let downloads = torrents as u64..=(torrents + 2 * per_page) as u64;
    assert!(log.refused == 0 && downloads.contains(&log.downloads), "{sections:?}: {log:?}");
    let asked = log.pages + log.data + log.downloads + log.scripts;
    // Data requested in place of a page count as a visit of it.
    let by_scripts = summary["script_requests"].as_u64().unwrap();
    assert!((1..=log.data + log.scripts + log.pages).contains(&by_scripts), "{summary} {log:?}");
    assert!(summary["pages"].as_u64().unwrap() >= asked, "{summary} {log:?}");
    for key in ["script_requests", "pages"] {
        assert_eq!(status[key], summary[key], "{key}: {status} {summary}");
    }
    log
}

#[test]
fn rows_of_raw_requests_are_harvested() {
    assert_all_harvested(options(&[Section::Xhr], 8, 20));
}

#[test]
fn rows_of_jquerys_calls_are_harvested() {
    assert_all_harvested(options(&[Section::Jquery], 8, 20));
}

/// jQuery 3.7.1 itself, replacing the demo's own script with the same calls.
#[test]
fn rows_of_jquery_itself_are_harvested() {
    let path = Path::new(env!("GLEANER_ROOT")).join("target/test-tools/jquery-3.7.1/dist/jquery.min.js");
    let library = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error} (scripts/test gets it)", path.display()));
    assert_all_harvested(AjaxOptions { library: Some(library), ..options(&[Section::Jquery], 8, 20) });
}

#[test]
fn pages_of_a_router_with_lazy_views_are_harvested() {
    let log = assert_all_harvested(options(&[Section::Spa], 3, 8));
    assert!(log.pages + log.data >= 3 + 24, "each torrent has a page of its own: {log:?}");
}

#[test]
fn an_endless_feed_is_harvested_to_its_end_over_one_page() {
    let log = assert_all_harvested(options(&[Section::Scroll], 60, 5));
    assert_eq!(log.pages, 2, "{log:?}");
}

#[test]
fn rows_behind_tokens_that_end_are_harvested() {
    let log = assert_all_harvested(options(&[Section::Token], 8, 20));
    assert!(log.data > 8 + 1, "the bearer was renewed: {log:?}");
}

#[test]
fn without_scripts_there_is_nothing() {
    let (summary, _, log) = crawled(options(&Section::ALL, 10, 4), "[render]\nindex = 'never'\ndetail = 'never'\n");
    assert_eq!((&summary["stored"], &summary["script_requests"]), (&0.into(), &0.into()), "{summary}");
    assert_eq!((log.scripts, log.data, log.downloads, log.pages), (0, 0, 0, 6), "{log:?}");
}

#[test]
fn a_days_budget_holds_for_the_scripts_of_many_pages_at_once() {
    let (summary, _, log) = crawled(options(&[Section::Xhr], 60, 2), "requests_per_day = 60\n");
    // robots.txt does not count towards the budget.
    assert!((50..=61).contains(&log.requests), "{log:?} {summary}");
    assert!(log.data >= 5, "the budget went to scripts, too: {log:?}");
    assert_eq!(summary["sites"][0]["end"], "budget", "{summary}");
}

#[test]
fn the_demo_covers_all_sections_and_resumes_where_it_was() {
    let here = tempfile::tempdir().unwrap();
    let arguments = ["demo", "--ajax", "--ajax-pages", "5", "--per-page", "6", "--json"];
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        let output = command.args(arguments).arg("--data").arg(here.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let first = run();
    assert_eq!((&first["coverage"], &first["stored"], &first["refused_fetches"]), (&1.0.into(), &30.into(), &0.into()));
    let second = run();
    assert_eq!((&second["coverage"], &second["download_requests"]), (&1.0.into(), &0.into()), "{second}");
    assert_eq!(first["site"], second["site"]);
}
