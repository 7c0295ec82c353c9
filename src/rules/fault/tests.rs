//! Unit tests of `fault`.

use super::*;

#[test]
fn places_count_characters_and_lines_from_one() {
    let mut faults = Faults::new("a.toml", "é = 1\nü = bad\n");
    let at = faults.source().find("bad").unwrap();
    faults.add(at..at + 3, "ü", "no value", Some("write a number".to_owned()));
    let faults = faults.into_sorted();
    assert_eq!(faults[0].to_string(), "a.toml:2:5: no value\n  hint: write a number");
    let shown = render(&faults, false);
    assert!(shown.starts_with("a.toml:2:5: error: no value\n"), "{shown}");
    assert!(shown.contains("2 | ü = bad\n  |     ^^^\n"), "{shown}");
    assert!(shown.contains("  hint: write a number\n"), "{shown}");
    assert!(render(&faults, true).contains("\u{1b}["));
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn spans_outside_the_text_are_moved_into_it() {
    let mut faults = Faults::new("a", "é\n");
    faults.add(1..900, "", "x", None);
    let (from, to) = (900, 1);
    faults.add(from..to, "", "y", None);
    let faults = faults.into_sorted();
    assert_eq!(faults.iter().map(|fault| fault.span.clone()).collect::<Vec<_>>(), [0..3, 3..3]);
    assert!(!render(&faults, false).is_empty());
}

#[test]
fn a_near_name_is_suggested_and_a_far_one_is_not() {
    let known = ["start", "hosts", "classes", "depth_max"];
    assert_eq!(nearest("strat", known), Some("start"));
    assert_eq!(nearest("max_depth", known), Some("depth_max"));
    assert_eq!(nearest("depthmax", known), Some("depth_max"));
    assert_eq!(nearest("zzzz", known), None);
    assert_eq!(nearest(&"a".repeat(1_000_000), known), None);
}

#[test]
fn what_is_hidden_stands_in_no_excerpt_and_marks_stay_in_place() {
    let text = "é = { pass = \"gehe\u{fc}m\", usr = 1, pwd = \"\"\"a\nb\"\"\" } # end\n";
    let at = |part: &str| text.find(part).unwrap()..text.find(part).unwrap() + part.len();
    let mut faults = Faults::new("a.toml", text);
    for part in ["\"\"\"a\nb\"\"\"", "\"geheüm\"", "heü"] {
        faults.hide(at(part));
    }
    faults.add(at("usr"), "usr", "unknown", None);
    faults.add(at("\"geheüm\""), "pass", "secret", None);
    faults.add(at("end"), "", "late", None);
    let faults = faults.into_sorted();
    let shown = render(&faults, false);
    assert!(!shown.contains("gehe") && faults.iter().all(|fault| !fault.source.contains("gehe")), "{shown}");
    assert_eq!(faults[0].source.len(), text.len());
    assert!(shown.contains("1 | é = { pass = ••••••, usr = 1, pwd = ••••••\n  |              ^^^^^^\n"), "{shown}");
    assert!(shown.contains("\n  |                      ^^^\n"), "{shown}");
    assert!(shown.contains("a.toml:2:10: error: late\n") && shown.contains("2 | •••••• } # end\n"), "{shown}");
}
