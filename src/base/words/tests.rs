//! Unit tests of `words`.

use std::collections::BTreeSet;

use super::*;

topics! { control: MORE, NEVER, AGE; login: WRONG; }

#[test]
fn each_line_of_the_tables_is_a_row_once_for_each_of_its_topics() {
    for table in &TABLES {
        let mut known = HashSet::new();
        for (line, number) in table.text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        {
            let place = format!("models/words/{}.tsv:{number}", table.name);
            let columns: Vec<&str> = line.split('\t').collect();
            assert!(columns.len() == 4 && columns.iter().all(|of| !of.is_empty()), "{place}: four columns");
            let row = Row::read(line).unwrap();
            for topic in row.topics() {
                assert!(
                    topic.bytes().all(|of| of.is_ascii_lowercase() || of.is_ascii_digit() || b"_ -".contains(&of)),
                    "{place}"
                );
                assert!(known.insert((topic, row.phrase)), "{place}: {} is there already", row.phrase);
            }
            for language in row.languages() {
                let is_one = language == "und" || language.len() == 2 || ["zh-Hans", "zh-Hant"].contains(&language);
                assert!(is_one, "{place}: {language}");
            }
            // Phrases of waiting pages are searched for with their case.
            let is_small = row.phrase == row.phrase.to_lowercase() || row.topics().any(|of| of == "waits");
            assert!(is_small, "{place}: texts are searched in lower case");
        }
    }
}

#[test]
fn the_tables_hold_what_the_lists_in_code_held() {
    let held = [397, 960, 976, 143, 2_361, 357, 146, 1_159];
    for (table, held) in TABLES.iter().zip(held) {
        let places: usize = rows(table.name).map(|row| row.topics().count()).sum();
        assert!(places >= held, "models/words/{}.tsv: {places} of {held}", table.name);
    }
}

#[test]
fn each_topic_is_described() {
    for table in &TABLES {
        let described: HashSet<&str> = table
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("#: ")?.split_once('\t'))
            .map(|(name, _)| name)
            .collect();
        for topic in rows(table.name).flat_map(|row| row.topics()) {
            let family = topic.rsplit_once(' ').map_or(topic, |(family, _)| family);
            let is_described = described.contains(topic) || described.contains(family);
            assert!(is_described, "models/words/{}.tsv: a line `#: {topic}` is missing", table.name);
        }
    }
}

/// The languages of topics of the controls, without their script subtags.
fn languages_of(topics: &[&str]) -> BTreeSet<&'static str> {
    let rows = rows("control").filter(|row| row.topics().any(|topic| topics.contains(&topic)));
    let languages = rows.flat_map(|row| row.languages()).map(|of| of.split('-').next().unwrap_or(of));
    languages.filter(|of| *of != "und").collect()
}

#[test]
fn whoever_turns_a_list_in_a_language_knows_what_not_to_press_in_it() {
    let turning = languages_of(&["more", "turn_words", "turn_words_of_more", "turn_phrases", "link_next"]);
    assert!(turning.len() >= 30, "{turning:?}");
    for harm in ["never", "log_out", "delete", "pay", "thank", "vote", "report"] {
        let known = languages_of(&[harm]);
        println!("{harm}: {known:?}");
        let lacking: Vec<_> = turning.difference(&known).collect();
        assert!(lacking.is_empty(), "models/words/control.tsv: {harm} lacks {lacking:?}");
    }
    for harm in ["log_out", "pay", "thank", "vote", "report"] {
        let of_harm = rows("control").filter(|row| row.topics().any(|topic| topic == harm));
        let is_pressed = |row: &Row| row.topics().all(|topic| topic != "never");
        let pressed: Vec<_> = of_harm.filter(is_pressed).map(|row| row.phrase).collect();
        assert!(pressed.is_empty(), "{harm}: {pressed:?} belong to `never` as well");
    }
}

#[test]
fn words_are_found_where_they_begin_and_not_within_others() {
    for (label, expected) in
        [("load more", true), ("download", false), ("下一页 2", true), ("ещё 20", true), ("furthermore", false)]
    {
        assert_eq!(MORE.are_said_in(label, false), expected, "{label}");
    }
    for (label, expected) in
        [("edit", true), ("debian edition", false), ("rate it", true), ("generate", false), ("删除它", true)]
    {
        assert_eq!(NEVER.are_said_in(label, true), expected, "{label}");
    }
    for (label, expected) in [("i am 18", true), ("18+", true), ("2104", false), ("1800 coins", false)] {
        assert_eq!(AGE.are_said_in(label, false), expected, "{label}");
    }
}

#[test]
fn the_first_phrase_in_the_order_of_the_table_is_named() {
    let text = "sorry: login failed, wrong password";
    assert_eq!(WRONG.first_in(text), Some("wrong password"));
    assert_eq!(WRONG.first_in(text), WRONG.iter().copied().find(|phrase| text.contains(phrase)));
    assert!(WRONG.are_in(text) && !WRONG.are_in("welcome") && WRONG.first_in("welcome").is_none());
    assert!(WRONG.has("login failed") && !WRONG.has(text));
    assert!(Phrases::are_in(&WRONG, text) && (&["wrong"][..]).are_in(text));
}
