//! Commands about changes, on the demo site: a page with its blocks marked, the schedule of lists, the delay of torrents.

use crate::cli::harness::{Site, folder, run};

const HERE: [&str; 4] = ["--data", "data", "--rules", "rules"];

#[test]
fn a_page_is_shown_with_its_blocks_the_schedule_with_its_reasons_and_the_delays() {
    let here = folder();
    let site = Site::start(here.path(), 200, 0);
    let ask = |words: &[&str]| run(here.path(), &[words, &HERE].concat());
    for command in ["schedule", "delay"] {
        ask(&[command, "demo"])
            .ended(1)
            .says(&["there is no such folder", "start with `gleaner crawl --data data --rules rules`"]);
    }
    ask(&["crawl"]).ended(0);
    ask(&["noise", "demo"]).ended(0).says(&["fingerprint", "= template  ~ volatile"]);
    let told = ask(&["noise", "demo", "--json"]).ended(0).json();
    assert!(told["page"]["blocks"].as_array().is_some_and(|blocks| !blocks.is_empty()), "{told}");
    ask(&["noise", "dmeo"]).ended(1).says(&["did you mean `demo`?"]);
    ask(&["noise", "demo", "no address"]).ended(1).says(&["cannot be requested"]);

    ask(&["schedule", "demo"]).ended(0).says(&["checks a day by gleaner", "posts/day", "h UTC"]);
    let told = ask(&["schedule", "demo", "--json"]).ended(0).json();
    assert_eq!(told["policy"], "gleaner");
    let lists = told["lists"].as_array().unwrap();
    assert!(
        lists.iter().all(|list| list["why"].as_str().is_some_and(|why| why.contains("posts are waiting"))),
        "{told}"
    );

    ask(&["delay", "demo"]).ended(0).says(&["0 torrents appeared since the crawl began", "no torrent has appeared"]);
    let told = ask(&["delay", "demo", "--json"]).ended(0).json();
    assert!(told["history"].as_u64() > Some(10) && told["torrents"] == 0, "{told}");
    let status = ask(&["status", "--json"]).ended(0).json();
    let shown = &status["sites"][0];
    assert_eq!(shown["delay"]["history"], told["history"], "{shown}");
    assert!(
        shown["gone"]["by"].as_object().is_some_and(|by| by.keys().any(|sign| sign.starts_with("status 4"))),
        "{shown}"
    );
    // Its server is gone: the learned model is stored, and marks a saved page.
    drop(site);
    ask(&["noise", "demo"]).ended(1).says(&["hint: a crawl stores the noise model, not the pages", "--file PAGE"]);
    std::fs::write(here.path().join("page"), "<body><h1>Torrents</h1><a href='/details/1-a'>A</a></body>").unwrap();
    ask(&["noise", "demo", "--file", "page"]).ended(0).says(&["class index, model", "= template  ~ volatile"]);
    ask(&["noise", "demo", "--file", "absent"]).ended(1).says(&["absent: ", "hint: name a saved page"]);
    ask(&["noise", "demo", "--file", "."]).ended(1).says(&["is not a file"]);
    for command in ["schedule", "delay"] {
        ask(&[command, "demon"]).ended(1).says(&["site `demon` is not in the database", "did you mean demo?"]);
    }
}
