//! What clicked rows prove about all rows, and what they do not.

use super::*;

/// The subject, and the links of each row.
type Case<'a> = (&'a str, &'a dyn Fn(usize) -> Vec<String>);

/// The subject, and the change to a record.
type Change<'a> = (&'a str, &'a dyn Fn(&mut Json));

fn page() -> Url {
    Url::parse("https://h.example/list").unwrap()
}

fn hash(id: usize) -> String {
    format!("{id:040X}")
}

/// Page number `page` of a list of ten records.
fn answer(page: usize, change: impl Fn(usize, &mut Json)) -> Exchange {
    let row = |id: usize| {
        let mut row = serde_json::json!({
            "id": id, "name": format!("Title {id} & more"), "hash": hash(id), "size": "1.4 GB", "seeds": id % 3, "vip": false,
            "file": format!("https://cdn.example/t/x{}.torrent", id * 7),
        });
        change(id, &mut row);
        row
    };
    let items: Vec<Json> = (page * 10 + 1..=page * 10 + 10).map(row).collect();
    Exchange {
        method: "GET".into(),
        url: format!("https://h.example/api/torrents?page={page}"),
        headers: Vec::new(),
        body: String::new(),
        status: 200,
        answer: serde_json::json!({ "total": 100, "items": items }).to_string(),
    }
}

fn clicked(id: usize, links: &[String]) -> Clicked {
    let says = |text: &str| Mark { attribute: None, text: text.into() };
    let own = Mark { attribute: Some("data-key".into()), text: id.to_string() };
    let marks = vec![says(&format!("Title {id} & more")), says("1.4 GB"), says(&(id % 3).to_string()), own];
    Clicked { marks, look: Vec::new(), links: links.to_vec() }
}

fn learned(of: impl Fn(usize) -> Vec<String>, ids: impl IntoIterator<Item = usize>) -> Option<Mapping> {
    let rows: Vec<Clicked> = ids.into_iter().map(|id| clicked(id, &of(id))).collect();
    let known = |_: &str| false;
    learn(&page(), &[answer(0, |_, _| ()), answer(1, |_, _| ())], &rows, &known).map(|(mapping, _)| mapping)
}

#[test]
fn six_rows_tell_what_all_records_lead_to() {
    let plain = |id: usize| vec![format!("https://h.example/dl/{id}.torrent")];
    let encoded = |id: usize| vec![format!("https://h.example/get?t=Title%20{id}%20%26%20more")];
    let magnet = |id: usize| {
        vec![format!("magnet:?xt=urn:btih:{}&dn=Title%20{id}%20%26%20more&tr=udp%3A%2F%2Ft.example", hash(id))]
    };
    let lower = |id: usize| vec![format!("magnet:?xt=urn:btih:{}&dn=x{}", hash(id).to_lowercase(), id * 31)];
    let whole = |id: usize| vec![format!("https://cdn.example/t/x{}.torrent", id * 7)];
    let two = |id: usize| [plain(id), magnet(id)].concat();
    let first = |id: usize| {
        if id == 1 { [vec!["https://h.example/help".into()], plain(1)].concat() } else { plain(id) }
    };
    let kinds: [Case<'_>; 7] = [
        ("/dl/{id}.torrent", &plain),
        ("/get?t={name %}", &encoded),
        ("magnet:?xt=urn:btih:{hash}&dn={name %}&tr=udp%3A%2F%2Ft.example", &magnet),
        ("magnet:?xt=urn:btih:{hash}", &lower),
        ("{file}", &whole),
        ("/dl/{id}.torrent, magnet:?xt=urn:btih:{hash}&dn={name %}&tr=udp%3A%2F%2Ft.example", &two),
        ("/dl/{id}.torrent", &first),
    ];
    for (template, links) in kinds {
        let mapping = learned(links, 1..=6).unwrap_or_else(|| panic!("{template}"));
        assert_eq!(mapping.to_string(), format!("GET /api/torrents: {template}"));
        let keys = |links: &[String]| links.iter().filter_map(|link| key(&page(), link)).collect::<Vec<_>>();
        let items = mapping.read(&page(), &answer(4, |_, _| ()));
        let wanted: Vec<_> = (41..=50).map(|id| keys(&links(id))).collect();
        assert_eq!(items.iter().map(|item| keys(&item.links)).collect::<Vec<_>>(), wanted, "{template}");
        assert!(mapping.is_of(&Mark { attribute: None, text: String::new() }));
        assert_eq!(items[0].mark, "Title 41 & more");
    }
    assert!(learned(plain, 1..=5).is_none(), "five are too few");
}

#[test]
fn a_list_that_was_asked_for_twice_is_learned_as_one() {
    let rows: Vec<Clicked> = (1..=6).map(|id| clicked(id, &[format!("https://h.example/dl/{id}.torrent")])).collect();
    let heard = [answer(0, |_, _| ()), answer(0, |_, _| ()), answer(0, |_, _| ())];
    assert!(learn(&page(), &heard, &rows, &|_| false).is_some());
    // Different records with equal values in their rows cannot be distinguished.
    let alike = [answer(0, |_, _| ()), answer(1, |id, row| row["name"] = format!("Title {} & more", id - 10).into())];
    let bare: Vec<Clicked> = rows.iter().map(|row| Clicked { marks: row.marks[..1].to_vec(), ..row.clone() }).collect();
    assert!(learn(&page(), &alike, &bare, &|_| false).is_none());
}

#[test]
fn what_no_record_says_is_not_learned_and_neither_is_what_one_row_contradicts() {
    let plain = |id: usize| format!("https://h.example/dl/{id}.torrent");
    let all: [Case<'_>; 6] = [
        ("one row leads elsewhere", &|id| vec![if id == 5 { plain(77) } else { plain(id) }]),
        ("a row leads to another's link", &|id| vec![plain(if id == 5 { 4 } else { id })]),
        ("signed", &|id| vec![format!("{}?sig={:x}", plain(id), id * 7919 + 13)]),
        ("a second link is signed", &|id| vec![plain(id), format!("https://h.example/m?s={:x}", id * 7919 + 13)]),
        ("something was posted", &|id| vec![plain(id), NO_LINK.to_owned()]),
        ("no member", &|id| vec![format!("https://h.example/dl/{}", id + 500)]),
    ];
    for (what, links) in all {
        assert!(learned(links, 1..=9).is_none(), "{what}");
    }
    // The row shows another value of the record's own link.
    let rows: Vec<Clicked> = (1..=8).map(|id| clicked(id % 8 + 1, &[plain(id)])).collect();
    assert!(learn(&page(), &[answer(0, |_, _| ())], &rows, &|_| false).is_none(), "rows say other titles");
}

#[test]
fn records_that_are_unlike_those_that_were_clicked_are_for_somebody_to_click() {
    let mut mapping = learned(|id| vec![format!("https://h.example/dl/{id}")], 1..=6).unwrap();
    let changed = answer(2, |id, row| match id {
        22 => row["vip"] = true.into(),
        23 => row["kind"] = "external".into(),
        24 => row["size"] = Json::Null,
        25 => row["hash"] = "".into(),
        26 => row["name"] = "Another name".into(),
        _ => {}
    });
    let items = mapping.read(&page(), &changed);
    let is_like = |mapping: &mut Mapping, item: &Item| mapping.compare(item, &[]) == Like::Clicked;
    let like: Vec<bool> = items.iter().map(|item| is_like(&mut mapping, item)).collect();
    assert_eq!(like, [true, false, false, false, false, true, true, true, true, true]);
    assert!(mapping.confirm(&items[1], &[]));
    assert!(is_like(&mut mapping, &items[1]), "one of its kind was clicked by now");
}

#[test]
fn whatever_makes_a_record_another_sort_has_one_of_its_sort_clicked() {
    let plain = |id: usize| vec![format!("https://h.example/dl/{id}")];
    let kinds = "anime audio books comics docs ebooks films games".split(' ').collect::<Vec<_>>();
    let usual = |id: usize, row: &mut Json| {
        row["category"] = kinds[id % 8].into();
        row["tags"] = serde_json::json!(["hd"]);
        row["from"] = serde_json::json!({ "by": "somebody", "at": id * 31 });
    };
    let changes: [Change<'_>; 9] = [
        ("a ninth category", &|row| row["category"] = "external".into()),
        ("a tag", &|row| row["tags"] = serde_json::json!(["external"])),
        ("two tags", &|row| row["tags"] = serde_json::json!(["hd", "hd"])),
        ("no inner member", &|row| row["from"] = serde_json::json!({})),
        ("nothing of it", &|row| row["seeds"] = (-1).into()),
        ("an address", &|row| row["size"] = "https://other.example/page".into()),
        ("a sign for nothing", &|row| row["hash"] = "-".into()),
        ("a word for nothing", &|row| row["hash"] = "N/A".into()),
        ("a longer hash", &|row| row["hash"] = "0".repeat(64).into()),
    ];
    for (what, change) in changes {
        let rows: Vec<Clicked> = (1..=10).map(|id| clicked(id, &plain(id))).collect();
        let (mut mapping, _) = learn(&page(), &[answer(0, usual), answer(1, usual)], &rows, &|_| false).unwrap();
        let items = mapping.read(
            &page(),
            &answer(2, |id, row| {
                usual(id, row);
                if id == 25 {
                    change(row);
                }
            }),
        );
        let like: Vec<Like> = items.iter().map(|item| mapping.compare(item, &[])).collect();
        let wanted: Vec<Like> = (21..=30).map(|id| if id == 25 { Like::None } else { Like::Clicked }).collect();
        assert_eq!(like, wanted, "{what}");
    }
}

#[test]
fn what_a_row_had_alone_that_led_elsewhere_is_inferred_for_none_and_what_contradicts_that_is_told() {
    let learned = || learned(|id| vec![format!("https://h.example/dl/{id}")], 1..=6).unwrap();
    let external = |id: usize, row: &mut Json| {
        if id >= 25 {
            row["kind"] = "external".into();
            row["hash"] = if id % 2 == 1 { "".into() } else { hash(id).into() };
        }
    };
    let (mut mapping, exchange) = (learned(), answer(2, external));
    let items = mapping.read(&page(), &exchange);
    assert_eq!(mapping.compare(&items[4], &[]), Like::None);
    assert!(mapping.refuse(&items[4], &[], true));
    let like: Vec<Like> = items.iter().map(|item| mapping.compare(item, &[])).collect();
    assert_eq!(like, [[Like::Clicked; 4].as_slice(), &[Like::Elsewhere; 6]].concat());
    assert!(!mapping.refuse(&items[0], &[], true), "it has nothing that others had not");
    // A hash is also missing in rows with the inferred link, so that is not the reason.
    let without = mapping.read(&page(), &answer(3, |_, row| row["hash"] = "".into()));
    assert!(mapping.confirm(&without[0], &[]));
    assert_eq!(mapping.compare(&items[5], &[]), Like::Elsewhere);
    assert!(!mapping.confirm(&items[5], &[]), "nothing is left that tells them apart");
    // A click without effect may have met a temporary error.
    let mut mapping = learned();
    assert!(mapping.refuse(&items[4], &[], false) && mapping.confirm(&items[4], &[]));
    // A row's look counts as well as its record.
    let look = [Trait::of_look("class of tr", "external")];
    assert_eq!(mapping.compare(&items[0], &[]), Like::Clicked);
    assert_eq!(mapping.compare(&items[0], &look), Like::None);
}

#[test]
fn records_whose_links_lead_to_another_host_are_left_out() {
    let whole = |id: usize| vec![format!("https://cdn.example/t/x{}.torrent", id * 7)];
    let mapping = learned(whole, 1..=6).unwrap();
    let other = answer(3, |id, row| {
        if id % 2 == 0 {
            row["file"] = "https://other.example/x.torrent".into();
        }
    });
    assert_eq!(mapping.read(&page(), &other).len(), 5);
    let elsewhere = Exchange { url: "https://h.example/api/users?page=1".into(), ..answer(3, |_, _| ()) };
    assert!(mapping.read(&page(), &elsewhere).is_empty(), "answers to other requests are other lists");
}
