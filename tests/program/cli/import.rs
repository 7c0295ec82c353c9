//! `gleaner import`: an archive that moves to another machine is not fetched twice, and what is refused is told with the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::harness::{Ran, Service, Site, archived, folder, run, wait_for};

fn import(here: &Path, data: &str, more: &[&str]) -> Ran {
    run(here, &[&["import", "--data", data, "--rules", "rules"], more].concat())
}

/// Counts of the demo site's visits.
fn outcomes(here: &Path, data: &str) -> BTreeMap<String, u64> {
    let status = run(here, &["status", "--json", "--data", data, "--rules", "rules"]).ended(0).json();
    let site = status["sites"].as_array().unwrap().iter().find(|site| site["name"] == "demo").unwrap().clone();
    serde_json::from_value(site["outcomes"].clone()).unwrap()
}

/// Downloads of a manifest, and pages about one torrent.
fn known(manifest: &str) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for line in manifest.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for source in line["sources"].as_array().unwrap() {
            let urls = [&source["url"], &source["via"]].into_iter().filter_map(Value::as_str);
            let paths = urls.map(|url| url.splitn(4, '/').last().map(|path| format!("/{path}")).unwrap());
            known.extend(
                paths.filter(|path| ["/dl?", "/gbk/attachment?", "/details/"].iter().any(|of| path.starts_with(of))),
            );
        }
    }
    known
}

#[test]
fn a_site_is_not_fetched_twice_because_a_machine_changed() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 80, 0);
    run(here, &["crawl", "--data", "a", "--rules", "rules", "--json"]).ended(0);
    let all = archived(&here.join("a"));
    run(here, &["export", "listed", "--data", "a", "--rules", "rules"]).ended(0);
    let known = known(&fs::read_to_string(here.join("listed/manifest.jsonl")).unwrap());
    assert!(known.len() > 120, "{known:?}");
    for dest in ["moved", "moved.tar.zst", "moved.zip"] {
        run(here, &["export", dest, "--data", "a", "--rules", "rules"]).ended(0);
        let data = format!("b-{dest}");
        let dry = import(here, &data, &["--dry-run", "--json", dest]).ended(0).json();
        assert!(dry["torrents"] == 80 && !here.join(&data).exists(), "{dry}");
        let summary = import(here, &data, &["--json", dest]).ended(0).json();
        assert_eq!((&summary["torrents"], &summary["refused"]), (&80.into(), &serde_json::json!({})), "{summary}");
        assert!(summary["urls"].as_u64() >= Some(80), "{summary}");
        assert_eq!(archived(&here.join(&data)), all);
        run(here, &["verify", "--data", &data, "--rules", "rules"]).ended(0).says(&["archive and database agree"]);
        let before = outcomes(here, &data);
        let crawl = run(here, &["crawl", "-vv", "--data", &data, "--rules", "rules", "--json"]).ended(0);
        // Lists and threads are read again, and hand out new links for some; nothing that the manifest names is asked for.
        let asked: BTreeSet<&str> =
            crawl.err.lines().filter_map(|line| line.split_once("url=\"")?.1.split('"').next()).collect();
        assert!(asked.contains("/"), "{}", crawl.err);
        for path in &known {
            assert!(!asked.contains(&**path), "{dest}: {path}");
        }
        assert_eq!(crawl.json()["stored"], 0, "{}", crawl.out);
        assert!(outcomes(here, &data).get("page") > before.get("page"));
        assert_eq!(archived(&here.join(&data)), all);
        import(here, &data, &[dest]).ended(0).says(&["0 torrents are new, 80 were there already"]);
    }
    // The rows are the same, whichever way they came.
    let rows = |data: &str| -> Vec<(String, String, String)> {
        let found =
            run(here, &["search", "--limit", "100", "--order", "size", "--json", "--data", data, "--rules", "rules"])
                .ended(0)
                .json();
        let row = |row: &Value| ["infohash", "site", "stored"].map(|key| row[key].as_str().unwrap().to_owned()).into();
        let mut rows: Vec<_> = found["torrents"].as_array().unwrap().iter().map(row).collect();
        rows.sort();
        rows
    };
    assert_eq!(rows("a"), rows("b-moved.zip"));
}

#[test]
fn what_is_refused_is_told_and_a_folder_in_use_is_left_alone() {
    let here = folder();
    let here = here.path();
    let site = Site::start(here, 20, 0);
    run(here, &["crawl", "--data", "a", "--rules", "rules", "--json"]).ended(0);
    drop(site);
    fs::create_dir(here.join("in")).unwrap();
    for (name, bytes) in [("bad\u{1b}[31m.torrent", &b"<html>"[..]), ("read.me", b"x")] {
        fs::write(here.join("in").join(name), bytes).unwrap();
    }
    import(here, "b", &[]).ended(2);
    import(here, "b", &["--source", "a/b", "in"]).ended(2).says(&["a name has 1 to 64 letters"]);
    import(here, "b", &["nowhere"]).ended(1).says(&["nowhere: there is no such file or folder", "hint: "]);
    assert!(!here.join("b").exists(), "a mistyped path makes no data folder");
    import(here, "b", &["nowhere", "in/read.me"]).ended(1).says(&["cannot be read: 1", "nowhere: "]);
    let ran = import(here, "b", &["--source", "mine", "in", "a/torrents"]).ended(1).says(&[
        "20 torrents are new",
        "1 other files were left alone",
        "no torrent, or a malformed one: 1",
        "in/bad",
    ]);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    run(here, &["status", "--data", "b", "--rules", "rules", "--json"]).ended(0).says(&["\"mine\""]);
    let found = run(here, &["search", "site:mine", "--json", "--data", "b", "--rules", "rules"]).ended(0).json();
    assert_eq!(found["total"], 20, "{found}");
    // A service holds the folder.
    fs::rename(here.join("b"), here.join("data")).unwrap();
    let service = Service::start(here);
    wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
    import(here, "data", &["a/torrents"])
        .ended(1)
        .says(&["another gleaner process uses this folder", "hint: stop it (`systemctl stop gleaner`)"]);
    assert!(service.stop().success());
    import(here, "data", &["a/torrents"]).ended(0).says(&["0 torrents are new, 20 were there already"]);
}
