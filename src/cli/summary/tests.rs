//! Unit tests of `summary`.

use super::*;

#[test]
fn what_was_cut_is_told_beside_an_exhausted_history() {
    let text = |outcomes: &[(Outcome, u64)]| {
        let counts = Counts { outcomes: outcomes.iter().copied().collect(), ..Counts::default() };
        let sites = BTreeMap::from([("example".to_owned(), Ended::Exhausted)]);
        Summary::new(&counts, Duration::from_secs(1), sites, Path::new("archive")).text(&Hints::default())
    };
    let cut = text(&[(Outcome::Page, 7), (Outcome::Trapped, 12)]);
    assert!(cut.contains("cut           12 visits to URLs taken for traps (hint: gleaner status)\n"), "{cut}");
    assert!(!text(&[(Outcome::Page, 7)]).contains("cut "));
}

#[test]
fn what_to_do_about_a_login_stands_in_a_line_of_its_own_and_no_line_is_empty() {
    let ended = Ended::NotLoggedIn("no password for the site s\nhint: write it into secrets/s".to_owned());
    let sites = BTreeMap::from([("s".to_owned(), ended)]);
    let summary = Summary::new(&Counts::default(), Duration::ZERO, sites, Path::new("archive"));
    let text = summary.text(&Hints::default());
    let told = "s             not logged in: no password for the site s\n              hint: write it into secrets/s\n";
    assert!(text.contains(told) && !text.contains("outcomes"), "{text}");
    assert!(!summary.ended_well());
}

#[test]
fn pages_that_were_not_read_whole_are_told_by_their_sites_and_counted() {
    let mut summary = Summary::new(&Counts::default(), Duration::ZERO, BTreeMap::new(), Path::new("archive"));
    let text = summary.text(&Hints::default());
    assert!(!text.contains("read whole"), "{text}");
    for (site, pages) in [("s", 3), ("t", 1), ("u", 0)] {
        summary.not_whole(site, pages);
    }
    let text = summary.text(&Hints::default());
    assert!(
        text.contains(
            "s             3 pages were not read whole: torrents may be missing (hint: gleaner coverage s)\n"
        ),
        "{text}"
    );
    assert!(text.contains("t             1 page was not read whole") && !text.contains("\nu "), "{text}");
    summary.sites = ["s", "t"].map(|site| (site.to_owned(), Ended::Exhausted)).into();
    let json: serde_json::Value = serde_json::from_str(&summary.json().unwrap()).unwrap();
    assert_eq!((&json["pages_not_whole"], &json["sites"][1]["pages_not_whole"]), (&4.into(), &1.into()));
    assert_eq!((&json["sites"][0]["name"], &json["sites"][0]["end"]), (&"s".into(), &"exhausted".into()));
}

#[test]
fn what_lies_too_deep_is_told_with_its_url_and_the_key_to_raise() {
    let mut summary = Summary::new(&Counts::default(), Duration::ZERO, BTreeMap::new(), Path::new("archive"));
    let deepest = Some("http://h.example/calendar?month=13".to_owned());
    summary.too_deep.insert("s".to_owned(), TooDeep { urls: 12, depth_max: 3, deepest });
    let text = summary.text(&Hints::default());
    let told =
        "s             12 URLs lie deeper than depth_max = 3 (the deepest: http://h.example/calendar?month=13)\n";
    assert!(text.contains(told) && text.contains("hint: a larger `depth_max`"), "{text}");
}
