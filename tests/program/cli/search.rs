//! `gleaner search`: what a crawl stored is found at once, without and beside a service.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::harness::{Ran, Service, Site, archived, folder, run, wait_for};

fn search(here: &Path, more: &[&str]) -> Ran {
    run(here, &[&["search", "--data", "data", "--rules", "rules"], more].concat())
}

fn hashes(report: &Value) -> Vec<&str> {
    report["torrents"].as_array().unwrap().iter().map(|of| of["infohash"].as_str().unwrap()).collect()
}

#[test]
fn what_was_stored_is_found_by_the_command_and_by_the_service() {
    let here = folder();
    let here = here.path();
    search(here, &["x"]).ended(1).says(&["hint: "]);
    let _site = Site::start(here, 60, 0);
    run(here, &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
    let stored = archived(&here.join("data"));

    let all = search(here, &["--limit", "1000", "--json", "--facets"]).ended(0).json();
    assert_eq!((all["total"].as_u64(), all["archived"].as_u64()), (Some(60), Some(60)), "{all}");
    assert_eq!(hashes(&all).into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>(), stored);
    assert_eq!(all["facets"]["site"], serde_json::json!([["demo", 60]]));
    let times: Vec<&str> =
        all["torrents"].as_array().unwrap().iter().map(|of| of["stored"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");

    let v1 = |torrent: &&Value| torrent["infohash"].as_str().unwrap().len() == 40;
    let first = all["torrents"].as_array().unwrap().iter().find(v1).unwrap();
    let (hash, name) = (first["infohash"].as_str().unwrap(), first["name"].as_str().unwrap());
    for query in
        [hash.to_owned(), hash.to_uppercase(), format!("magnet:?xt=urn:btih:{hash}"), format!("\"{name}\" -nosuchword")]
    {
        let found = search(here, &["--json", &query]).ended(0).json();
        assert!(hashes(&found).contains(&hash), "{query}: {found}");
    }
    search(here, &[name, "--limit", "1"]).ended(0).says(&["infohash", name]);
    search(here, &["--limit", "7", "--skip", "50"]).ended(0).says(&["7 of 60 torrents; the next ones: --skip 57"]);
    search(here, &["nosuchword"]).ended(0).says(&["no torrent fits", "hint: "]);
    search(here, &["--order", "name"]).ended(2).says(&["possible values: newest, relevance, size"]);

    // What is damaged is made again.
    fs::write(here.join("data/search/meta.json"), "{").unwrap();
    let again = search(here, &["--json"]).ended(0);
    assert_eq!(again.json()["total"], 60, "{}", again.err);

    // The service finds what it stores, and answers beside it.
    let _other = Site::start(here, 70, 0);
    let service = Service::start(here);
    wait_for("the torrents of the other site are found", || {
        let up = !service.logged("service is up").is_empty();
        let found = up.then(|| search(here, &["--json"]))?;
        (found.code == Some(0)
            && found.json()["total"] == archived(&here.join("data")).len()
            && found.json()["total"] != 60)
            .then_some(())
    });
    assert!(service.stop().success());
}
