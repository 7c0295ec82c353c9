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

    // What is found can be exported, and nothing else.
    let query = format!("{hash} cat:1000,2000,3000,4000,5000,7000,8000");
    for (query, torrents) in [(query.as_str(), 1), ("nosuchword", 0), ("site:demo v1:yes", 50), ("", 60)] {
        let export = ["export", "found.zip", "--search", query, "--json", "--data", "data", "--rules", "rules"];
        let summary = run(here, &export).ended(0).json();
        let exported = summary["torrents"].as_u64().unwrap();
        assert!(if torrents == 50 { (30..60).contains(&exported) } else { exported == torrents }, "{query}: {summary}");
        assert_eq!(summary["magnets"], 0, "{query}");
        fs::remove_file(here.join("found.zip")).unwrap();
    }

    let export = |more: &[&str]| run(here, &[&["export", "--data", "data", "--rules", "rules"], more].concat());
    export(&["list.txt"]).ended(1).says(&[".txt files are not supported", "hint: name it .tar.zst"]);
    export(&["list.csv", "--layout", "by-site"]).ended(1).says(&["a list has no folders", "hint: leave --layout out"]);
    export(&["list.csv", "--search", "has:magnet"])
        .ended(1)
        .says(&["has:magnet finds what has no torrent file", "hint: "]);
    assert!(!here.join("list.txt").exists() && !here.join("list.csv").exists());

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

/// SIGKILLs at random moments of a crawl with its index, every third of them while the index is made anew: `GLEANER_KILLS` of them.
#[test]
fn after_each_kill_the_index_has_what_the_database_has_once() {
    const TORRENTS: u64 = 400;
    let kills = std::env::var("GLEANER_KILLS").map_or(9, |kills| kills.parse().unwrap());
    let here = folder();
    let here = here.path();
    let mut site = Site::start(here, TORRENTS as usize, 1);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut counts, mut had) = (Vec::new(), 0);
    for kill in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let is_made_anew = kill % 3 == 2;
        if is_made_anew {
            let _ = fs::remove_dir_all(here.join("data/search"));
        }
        let service = Service::start(here);
        wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
        // By torrents, not by time: a slow machine comes as far. A few milliseconds more are another step of its work.
        let more = if is_made_anew { 0 } else { 1 + random % 100 };
        let wanted = (had + more).min(TORRENTS);
        wait_for("the crawl goes on", || (archived(&here.join("data")).len() as u64 >= wanted).then_some(()));
        std::thread::sleep(std::time::Duration::from_millis(random % 40));
        // Dropped, it is killed.
        drop(service);
        let status = run(here, &["status", "--json", "--data", "data", "--rules", "rules"]).ended(0).json();
        let stored = status["sites"][0]["torrents"].as_u64().unwrap_or_default();
        let found = search(here, &["--limit", "10000", "--json"]).ended(0).json();
        let hashes: std::collections::BTreeSet<&str> = hashes(&found).into_iter().collect();
        assert_eq!((found["total"].as_u64(), hashes.len() as u64), (Some(stored), stored), "kill {kill}: {status}");
        counts.push(stored);
        had = stored;
        if stored == TORRENTS {
            fs::remove_dir_all(here.join("data")).unwrap();
            fs::remove_dir_all(here.join("rules")).unwrap();
            had = 0;
            site = Site::start(here, TORRENTS as usize, 1);
        }
    }
    drop(site);
    assert!(counts.iter().any(|count| *count > 0), "{counts:?}");
    println!("{kills} kills: {counts:?}");
}
