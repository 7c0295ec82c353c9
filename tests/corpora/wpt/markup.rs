//! The web platform tests that need no script: html5lib's documents with their expected trees, and selector matching. An expected
//! failure is listed with its reason, and an unexpected pass fails too.

use std::collections::BTreeMap;

use gleaner_render::Selectors;
use regex::Regex;

#[path = "../../render/wpt/markup.rs"]
mod trees;

use trees::{assert_failures, lines, parse, parse_within};

/// The text of each file whose path starts with `folder`.
fn files(folder: &str) -> BTreeMap<&'static str, String> {
    let within = super::files().iter().filter(|(name, _)| name.starts_with(folder));
    within.map(|(name, body)| (name.as_str(), String::from_utf8_lossy(body).into_owned())).collect()
}

/// Trees that html5ever builds differently than the tests expect.
const PARSED_OTHERWISE: &[(&str, &str)] = &[
    ("2c4284e6b2bb480daa50bca43bcbe29cfcdeeab4", SELECT),
    ("b354df69dbe9b3ef0c42177648e3aace114cf8ea", SELECT),
    ("d75277b65d0118463afeb66b478509d4e27565ab", SELECT),
    ("c2c4647447354abc154f1917a7fbefa4a679d5fb", SELECT),
    ("d4586cd7706bbb3a5b127c52c1f2861d1a3fb781", SELECT),
    ("0b27e026dd03a356bbd78690fff7fb40cd63b606", SELECT),
    ("a2dd4d5a28a61ec99ce9dae35e9d4ffe92812e2f", SELECT),
    ("64e72bd5af825a0b014a78c77d6d0be8c330892b", SELECT),
    ("679fbaa80e9d15416f17eb041a8fe04c373f0e12", SELECT),
    ("badaa2069df3f2bb2d2da79f8ae2598f66ab2d0f", SELECT),
    ("fee2541ab7080ca5b363bb4b7b0c18ee1d3699ba", SELECT),
    ("53ce5b102579af9830bf561b634af681bbdb5dfd", SELECT),
    ("e4eb33f77ae641718853d2cfddbdb2eece6b266b", SELECT),
    ("5b0b3edcc3ce9fdc9f58eb62d326865ca0aab8c8", SELECT),
    ("224e1bcb8030f0972c17d0fc68d912be17905e1c", SELECT),
    ("a45a8948b799dadc321a86ff0bebf13167b5f076", SELECT),
    ("b2a8131e72e53265479c08cd18d4f4663278a021", SELECT),
    ("e84d33cef974e49b69bdbc0c663c018a4dd010c0", SELECT),
];

const SELECT: &str = "the tests are older than the parser of selects, which lets other elements in since 2025 \
    (HTML §13.2.6.4.7), in html5ever as in Chromium";

#[test]
fn html5lib_documents_make_the_trees_that_they_must() {
    let test = Regex::new(r#"async_test\('([^']*)'\), "([^"]*)", "([^"]*)"(?:, '([^']*)')?\]"#).unwrap();
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (mut all, mut failed) = (0, BTreeMap::new());
    for (file, page) in files("html/syntax/parsing/html5lib_") {
        // Their scripts change the tree during parsing.
        if file.contains("_scripted_") {
            continue;
        }
        for found in test.captures_iter(&page) {
            all += 1;
            let (markup, expected) = (decode(&found[2]), decode(&found[3]));
            let (tree, root) = match found.get(4) {
                Some(context) => parse_within(context.as_str(), &markup, true),
                None => parse(&markup, true),
            };
            let got = lines(&tree, root);
            if got != expected {
                failed.insert(found[1].to_owned(), format!("{markup:?}\n{got}\nnot\n{expected}\n"));
            }
        }
    }
    assert_failures(&failed, PARSED_OTHERWISE, all, 1_500);
}

/// A string of JavaScript without its quotes.
fn unescape(literal: &str) -> String {
    let mut text = String::new();
    let mut characters = literal.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('u') => {
                    let code: String = characters.by_ref().take(4).collect();
                    text.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
                }
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text
}

const STRING: &str = r#"(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')"#;

fn string(found: &regex::Captures<'_>, at: usize) -> String {
    unescape(found.get(at).or_else(|| found.get(at + 1)).map_or("", |text| text.as_str()))
}

/// Selectors of `dom/nodes/selectors.js` that parse differently or match something else.
const FOUND_OTHERWISE: &[(&str, &str)] = &[
    (">>", "a combinator that was dropped from Selectors 4; no browser reads it"),
    ("#any-namespace *|div", MADE_BY_SCRIPT),
    ("#no-namespace |", MADE_BY_SCRIPT),
    ("[*|TiTlE]", MADE_BY_SCRIPT),
];

const MADE_BY_SCRIPT: &str = "the test's script makes the elements that are to be found";

#[test]
fn selectors_find_what_the_tests_of_query_selector_want() {
    let files = files("dom/nodes/");
    let file = |name: &str| &files[&*format!("dom/nodes/{name}")];
    let (mut tree, document) = parse(file("ParentNode-querySelector-All-content.html"), true);
    tree.target = tree.element_by_id(document, "target");
    let table = file("selectors.js");
    let selector = Regex::new(&format!("selector: *{STRING}")).unwrap();
    let expect = Regex::new(&format!(r"expect: *\[((?:{STRING}|[^\]'\x22])*)\]")).unwrap();
    let quoted = Regex::new(STRING).unwrap();
    let exclude = Regex::new(r"exclude: *\[([^\]]*)\]").unwrap();
    let (mut all, mut failed) = (0, BTreeMap::new());
    for entry in table.split("{name:") {
        let Some(text) = selector.captures(entry).map(|found| string(&found, 1)) else {
            continue;
        };
        // Those with their own context are for `find`, which no browser has.
        if entry.contains("ctx:") {
            continue;
        }
        let Some(expected) = expect.captures(entry) else {
            all += 1;
            if Selectors::parse(&text).is_ok() {
                failed.insert(text, "is no selector".into());
            }
            continue;
        };
        let excluded = exclude.captures(entry).map_or("", |found| found.get(1).unwrap().as_str());
        if excluded.contains("\"document\"") || excluded.contains("\"html\"") || !entry.contains("TEST_QSA") {
            continue;
        }
        all += 1;
        let expected: Vec<String> = quoted.captures_iter(&expected[1]).map(|found| string(&found, 1)).collect();
        match Selectors::parse(&text) {
            Err(_) => {
                failed.insert(text, "is a selector".into());
            }
            Ok(selectors) => {
                let found = tree.query_selector_all(document, &selectors);
                let found: Vec<&str> = found.iter().map(|id| tree.id(*id).unwrap_or_default()).collect();
                if found != expected {
                    failed.insert(text, format!("found {found:?}, not {expected:?}"));
                }
            }
        }
    }
    assert_failures(&failed, FOUND_OTHERWISE, all, 230);
}

/// Selectors of `css/selectors` and `css/css-shadow-parts` that are parsed, or rejected, differently.
const READ_OTHERWISE: &[(&str, &str)] =
    &[(":has-slotted(", "with arguments it is a proposal that Chromium does not know; without them it is read")];

#[test]
fn selectors_are_read_and_refused_as_the_tests_of_parsing_want() {
    let test = Regex::new(&format!(r"test_(valid|invalid|valid_forgiving)_selector\( *{STRING}")).unwrap();
    let (mut all, mut failed) = (0, BTreeMap::new());
    for page in files("css/").values() {
        for found in test.captures_iter(page) {
            all += 1;
            let text = string(&found, 2);
            let is_valid = Selectors::parse(&text).is_ok();
            if is_valid != (&found[1] != "invalid") {
                failed.insert(text, format!("is {}", &found[1]));
            }
        }
    }
    assert_failures(&failed, READ_OTHERWISE, all, 200);
}
