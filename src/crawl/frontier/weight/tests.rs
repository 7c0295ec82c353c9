//! Unit tests of `frontier::weight`.

use super::*;

fn value(change: impl FnOnce(&mut Facts)) -> f64 {
    let mut facts = Facts { mirrors: 1, folder_depth: 2, ..Facts::default() };
    change(&mut facts);
    Weight::of(&facts).value()
}

#[test]
fn each_term_moves_the_weight_its_own_way() {
    let plain = value(|_| ());
    assert!(value(|facts| facts.in_degree = 5) > plain);
    assert!(value(|facts| facts.parent_in_degree = 5) > plain);
    assert!(value(|facts| facts.mirrors = 3) > plain);
    assert!(value(|facts| facts.folder_depth = 9) < plain);
    assert!(value(|facts| facts.rule = RuleYield { fetched: 100, torrents: 50 }) > plain);
    assert!(value(|facts| facts.rule = RuleYield { fetched: 1_000, torrents: 0 }) < plain);
}

#[test]
fn shares_are_a_whole_and_weights_stay_within_0_and_1() {
    assert!((SHARES.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
    let most = Facts {
        in_degree: u32::MAX,
        parent_in_degree: u32::MAX,
        mirrors: u32::MAX,
        folder_depth: 0,
        rule: RuleYield { fetched: 1, torrents: u64::MAX },
    };
    let least =
        Facts { folder_depth: u32::MAX, rule: RuleYield { fetched: u64::MAX, torrents: 0 }, ..Facts::default() };
    assert!((Weight::of(&most).value() - 1.0).abs() < 1e-9);
    assert!(Weight::of(&least).value() < 1e-6);
}

#[test]
fn terms_add_up_and_are_shown() {
    let facts = Facts {
        in_degree: 12,
        parent_in_degree: 3,
        mirrors: 2,
        folder_depth: 1,
        rule: RuleYield { fetched: 80, torrents: 4 },
    };
    let weight = Weight::of(&facts);
    assert!((weight.terms().map(|(_, _, adds)| adds).sum::<f64>() - weight.value()).abs() < 1e-12);
    let shown = weight.to_string();
    assert_eq!(shown.lines().count(), 6);
    let first: Vec<&str> = shown.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(first.join(" "), "yield of the rule 4 of 80 URLs 0.224 0.089", "\n{shown}");
}

#[test]
fn depth_counts_folders_of_the_path_alone() {
    for (path, depth) in [("/", 0), ("/page", 0), ("/a/", 1), ("/a/b/page?q=/x/y/", 2), ("", 0)] {
        assert_eq!(folder_depth(path), depth, "{path}");
    }
}
