//! Unit tests of `shortcut::place`.

use super::*;

#[test]
fn a_place_is_read_as_it_is_written() {
    for text in ["data.items[*].id", ".", "[*]", "a[0].b[-1]", "rows[*][1]", "{*}", "a{*}.b[*]", "{*}{*}.id"] {
        assert_eq!(JsonPath::parse(text).unwrap().to_string(), text);
    }
    for bad in ["", "a..b", "a[", "a[x]", "a b", "@meta", "a{", "a{x}", "a{*", "{}"] {
        assert!(JsonPath::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_lies_in_a_list_of_records_is_known() {
    for (place, records, is_within) in [
        ("rows[-1].id", "rows[*]", true),
        ("rows[-1]", "rows[*].cell", true),
        ("groups[-1].key", "groups[*].files[*]", true),
        ("groups[-1].files[-1].n", "groups[*].files[*]", true),
        ("[-1].id", "[*]", true),
        ("total", "rows[*]", false),
        ("rows", "rows[*]", false),
        ("top[-1].id", "rows[*]", false),
        ("rows.total", "rows[*]", false),
        ("total", ".", false),
        ("rows.17.id", "rows{*}", true),
        ("rows", "rows{*}", false),
        ("total", "rows{*}", false),
        ("groups.a.files[-1].n", "groups{*}.files[*]", true),
    ] {
        let (place, records) = (JsonPath::parse(place).unwrap(), JsonPath::parse(records).unwrap());
        assert_eq!(place.is_within(&records), is_within, "{place} {records}");
    }
}

#[test]
fn elements_come_with_the_lists_they_stand_in() {
    let value =
        serde_json::json!({ "g": [{ "n": 1, "t": [{ "id": 5 }, { "id": 6 }] }, { "n": 2, "t": [{ "id": 7 }] }] });
    let chains = JsonPath::parse("g[*].t[*]").unwrap().chains(&value, 100);
    let told: Vec<(i64, i64)> = chains
        .iter()
        .map(|chain| (chain[0].value["n"].as_i64().unwrap(), chain[1].value["id"].as_i64().unwrap()))
        .collect();
    assert_eq!(told, [(1, 5), (1, 6), (2, 7)]);
    assert_eq!(JsonPath::parse("g[*].t[*]").unwrap().chains(&value, 2).len(), 2);
    assert_eq!(JsonPath::default().chains(&value, 9).len(), 1);
    assert_eq!(JsonPath::parse("g[-1].n").unwrap().text(&value).as_deref(), Some("2"));
}

#[test]
fn members_come_with_their_names_and_lists_with_gaps_are_lists() {
    let value = serde_json::json!({ "rows": { "17": { "n": 1 }, "18": { "n": 2 } }, "none": [], "flat": [{ "n": 3 }] });
    let told = |place: &str| -> Vec<(Option<&str>, i64)> {
        let chains = JsonPath::parse(place).unwrap().chains(&value, 100);
        chains.iter().map(|chain| (chain[0].name, chain[0].value["n"].as_i64().unwrap())).collect()
    };
    assert_eq!(told("rows{*}"), [(Some("17"), 1), (Some("18"), 2)]);
    assert_eq!(told("rows[*]"), told("rows{*}"), "a list of PHP's with gaps");
    assert_eq!(told("flat{*}"), [(None, 3)], "and one without");
    assert!(told("none{*}").is_empty() && told("flat[*][*]").is_empty());
    assert!(JsonPath::parse("[*]").unwrap().chains(&value, 100).is_empty(), "it has names");
}

#[test]
fn an_object_is_a_list_by_its_names_or_where_its_members_are_alike() {
    let row = || serde_json::json!({ "title": "t", "size": 7 });
    for (object, is) in [
        (serde_json::json!({ "17": row() }), true),
        (serde_json::json!({ "0": row(), "2": "x" }), true),
        (serde_json::json!({ "0123456789abcdef0123456789abcdef01234567": row() }), true),
        (serde_json::json!({ "a-film": row(), "another": row(), "a-third": row() }), true),
        (serde_json::json!({ "meta": { "total": 7, "page": 1 }, "links": { "next": "/2" }, "data": row() }), false),
        (serde_json::json!({ "a": row(), "b": row() }), false),
        (serde_json::json!({}), false),
    ] {
        assert_eq!(is_list(object.as_object().unwrap()), is, "{object}");
    }
    let mut places = Vec::new();
    let answer = serde_json::json!({ "total": 2, "rows": { "17": row(), "18": row() } });
    outside_lists(&answer, &JsonPath::default(), &mut |place, _| places.push(place.to_string()));
    assert_eq!(places, ["total"]);
    let mut found = Vec::new();
    lists(&answer, &JsonPath::default(), &mut |place| found.push(place.to_string()));
    assert_eq!(found, ["rows{*}"]);
}
