//! What torrents are filed under, as the commands tell it; and exports that go on where the last one ended.

use std::fs;

use crate::cli::harness::{Site, folder, run};

const HERE: [&str; 4] = ["--data", "data", "--rules", "rules"];

#[test]
fn a_rule_file_files_the_torrents_that_are_there_and_the_command_tells_why() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 0);
    let told = |more: &[&str]| run(here, &[&["categories"], more, &HERE[..]].concat());
    told(&[]).ended(1).says(&["hint: "]);
    run(here, &[&["crawl", "--json"], &HERE[..]].concat()).ended(0);
    let before = told(&["demo", "--json"]).ended(0).json();
    assert_eq!(
        (&before["site_category"], before["labels"].as_array().map(Vec::len)),
        (&serde_json::Value::Null, Some(0))
    );
    told(&["demo"]).ended(0).says(&["no page has said what its torrents are", "hint: `[categories]`"]);
    told(&["dmo"]).ended(1).says(&["no site is called dmo", "hint: gleaner status"]);

    let file = here.join("rules/demo.toml");
    let rules = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("category = 4050\n{rules}")).unwrap();
    run(here, &[&["crawl", "--json"], &HERE[..]].concat()).ended(0);
    let after = told(&["demo", "--json"]).ended(0).json();
    let games = after["categories"].as_array().unwrap().iter().find(|row| row["number"] == 4050).unwrap();
    assert_eq!((&after["site_category"], &games["torrents"]), (&4050.into(), &60.into()), "{after}");
    told(&["demo"]).ended(0).says(&["category = 4050 (PC/Games)"]);
    let found = run(here, &[&["search", "cat:4050", "--json"], &HERE[..]].concat()).ended(0).json();
    assert_eq!(found["total"], 60);

    let summary =
        run(here, &[&["export", "by", "--layout", "by-category", "--json"], &HERE[..]].concat()).ended(0).json();
    assert_eq!((&summary["torrents"], here.join("by/PC-Games").read_dir().unwrap().count()), (&60.into(), 60));
    let wrong = format!("category = 4051\n{rules}");
    fs::write(&file, wrong).unwrap();
    run(here, &["rules", "check", "--rules", "rules"])
        .says(&["demo.toml:1:12: error: 4051 is no category", "4050 (PC/Games)"]);
}

#[test]
fn an_export_goes_on_where_the_last_of_its_name_has_ended() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 0);
    run(here, &[&["crawl", "--json", "--max-pages", "120"], &HERE[..]].concat());
    let export = |name: &str, dest: &str| {
        let arguments = ["export", dest, "--since-last", name, "--json"];
        run(here, &[&arguments, &HERE[..]].concat()).ended(0).json()["torrents"].as_u64().unwrap()
    };
    let first = export("home", "1.jsonl");
    assert!((1..60).contains(&first), "{first}");
    assert_eq!(export("home", "2.jsonl"), 0, "nothing new");
    run(here, &[&["crawl", "--json"], &HERE[..]].concat()).ended(0);
    // What was not selected is still owed.
    let none = ["export", "0.jsonl", "--since-last", "home", "--search", "nosuchword"];
    run(here, &[&none, &HERE[..]].concat()).ended(0);
    assert_eq!((export("home", "3.jsonl"), export("home", "4.jsonl")), (60 - first, 0));
    assert_eq!(export("other", "5.jsonl"), 60, "each name by itself");
    let refused = ["export", "6.jsonl", "--since-last", "../x"];
    run(here, &[&refused, &HERE[..]].concat()).ended(2).says(&["letters, digits"]);
    fs::write(here.join("data/exports/home"), "{").unwrap();
    let damaged = ["export", "6.jsonl", "--since-last", "home"];
    run(here, &[&damaged, &HERE[..]].concat()).ended(1).says(&["exports/home", "hint: remove it"]);
    assert!(!here.join("6.jsonl").exists());
}
