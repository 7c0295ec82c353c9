//! The forms in which an answer holds its records.

use super::*;

#[test]
fn records_in_lists_within_lists_know_those_around_them() {
    let group = |page: usize, at: usize| json!({ "key": format!("g{page}{at}"), "files": [{ "n": page * 100 + at * 10 + 501 }, { "n": page * 100 + at * 10 + 502 }] });
    let one = |page: usize| {
        let groups: Vec<Json> = (0..4).map(|at| group(page, at)).collect();
        let links: Vec<String> = groups
            .iter()
            .flat_map(|group| {
                group["files"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|file| format!("/{}/{}.torrent", group["key"].as_str().unwrap(), file["n"]))
            })
            .collect();
        render(&format!("/g/{page}"), vec![get(&format!("/api/g/{page}"), json!({ "groups": groups }))], &links)
    };
    let endpoint = learned(&[one(1), one(2), one(3)]).unwrap();
    assert_eq!(table(&endpoint).items.as_deref(), Some("groups[*].files"));
    assert_eq!(serde_json::to_value(table(&endpoint).link).unwrap(), json!(["/{^.key}/{n}.torrent"]));
    assert_eq!(table(&endpoint).url, "/api/g/{@path.1}");
}

#[test]
fn magnets_are_made_from_hashes_with_their_names_where_these_are_told() {
    let hash = |number: usize| format!("{number:040x}").to_uppercase();
    for (upper, named) in [(true, true), (false, false)] {
        let one = |number: usize| {
            let (hash, title) = (hash(number + 0xabc0), format!("A & b {number}"));
            let name = if named { utf8(&title) } else { format!("other-{}", number * 31) };
            let written = if upper { hash.clone() } else { hash.to_lowercase() };
            let link = format!("magnet:?xt=urn:btih:{written}&dn={name}&tr=http%3A%2F%2Ft.example");
            let answer = json!({ "torrent": { "info_hash": hash, "title": title } });
            (
                render(
                    &format!("/torrent/{number}"),
                    vec![get(&format!("/api/torrent/{number}"), &answer)],
                    std::slice::from_ref(&link),
                ),
                answer,
                link,
            )
        };
        let renders: Vec<Observation> = (41..44).map(|number| one(number).0).collect();
        let endpoint = learned(&renders).unwrap();
        let found = visited(&endpoint, "/torrent/77", "", |_| one(77).1.to_string()).unwrap();
        assert_eq!(found, BTreeSet::from([normal(&Url::parse(ORIGIN).unwrap(), &one(77).2).unwrap()]));
        let keeps_name = toml::to_string(&table(&endpoint)).unwrap().contains("dn={torrent.title %}");
        assert_eq!(keeps_name, named);
    }
}

fn utf8(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[test]
fn markup_is_read_by_the_static_reader_wherever_it_stands() {
    let rows = |page: usize| {
        items(page, 5)
            .iter()
            .map(|item| format!("<li><a href='/torrent/{}'>x</a></li>", item["id"]))
            .collect::<String>()
    };
    let in_json = |page: usize| json!({ "ok": true, "html": rows(page) }).to_string();
    let in_records = |page: usize| json!({ "rows": [{ "cell": rows(page) }, { "cell": "" }] }).to_string();
    let shapes: [(&str, &dyn Fn(usize) -> String); 3] =
        [(".", &rows), ("html", &in_json), ("rows[*].cell", &in_records)];
    for (place, answer) in shapes {
        let one = |page: usize| {
            let links: Vec<String> = items(page, 5).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
            render(&format!("/l/{page}"), vec![get(&format!("/more?p={page}"), answer(page))], &links)
        };
        let endpoint = learned(&[one(1), one(2), one(3)]).unwrap_or_else(|| panic!("{place}"));
        assert_eq!(table(&endpoint).html, [place]);
        assert_eq!(visited(&endpoint, "/l/9", "", |_| answer(9)).unwrap().len(), 5);
    }
}

#[test]
fn jsonp_and_cache_busters_are_no_obstacle() {
    let one = |page: usize| {
        let links: Vec<String> = items(page, 5).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        let url = format!("/api?callback=jQuery{}_1&page={page}&_={}", page * 77, 1_790_000_000_000_u64 + page as u64);
        render(
            &format!("/l/{page}"),
            vec![get(&url, format!("jQuery{}_1({});", page * 77, json!(items(page, 5))))],
            &links,
        )
    };
    let endpoint = learned(&[one(1), one(2), one(3)]).unwrap();
    assert_eq!(table(&endpoint).url, "/api?callback={@callback}&page={@path.1}&_={@now_ms}");
}

/// A page's records by their numbers.
fn by_number(page: usize) -> Json {
    let rows = items(page, 10).into_iter().map(|item| (item["id"].to_string(), json!({ "title": item["title"] })));
    Json::Object(rows.collect())
}

#[test]
fn an_object_with_a_member_for_each_record_is_a_list_and_its_names_stand_in_links() {
    let numbers = |page: usize| items(page, 10).into_iter().map(|item| item["id"].to_string());
    let paths = |page: usize| numbers(page).map(|number| format!("/torrent/{number}"));
    let hash = |page: usize, at: usize| format!("{:040x}", (page * 10 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let hashes = |page: usize| (0..10).map(move |at| format!("magnet:?xt=urn:btih:{}", hash(page, at)));
    let shapes: [ByName<'_>; 5] = [
        ("torrents{*}", "/torrent/{@name}", &|page| json!({ "total": 60, "torrents": by_number(page) }), &|page| {
            paths(page).collect()
        }),
        ("{*}", "/torrent/{@name}", &by_number, &|page| paths(page).collect()),
        // Only names.
        (
            "data.names{*}",
            "/torrent/{@name}",
            &|page| json!({ "data": { "names": numbers(page).map(|id| (id, json!("x"))).collect::<serde_json::Map<_, _>>() } }),
            &|page| paths(page).collect(),
        ),
        (
            "{*}",
            "magnet:?xt=urn:btih:{@name}",
            &|page| Json::Object((0..10).map(|at| (hash(page, at), json!({ "seeds": at }))).collect()),
            &|page| hashes(page).collect(),
        ),
        // A group's name, and the numbers of those in it.
        (
            "groups{*}.files",
            "/torrent/{^.@name}/{n}",
            &|page| {
                let group = |at: usize| json!({ "title": at, "files": [{ "n": 700 + at }, { "n": 800 + at }] });
                json!({ "groups": (0..4).map(|at| (format!("g{page}-{at}"), group(at))).collect::<serde_json::Map<_, _>>() })
            },
            &|page| {
                let of = |at: usize| [700, 800].map(|n| format!("/torrent/g{page}-{at}/{}", n + at));
                (0..4).flat_map(of).collect()
            },
        ),
    ];
    for (list, link, answer, links) in shapes {
        let one = |page: &usize| {
            let asked = get(&format!("/api?page={page}"), answer(*page));
            render(&format!("/list?page={page}"), vec![asked], &links(*page))
        };
        let renders: Vec<Observation> = [1, 2, 4].iter().map(one).collect();
        let written = table(&learned(&renders).unwrap_or_else(|| panic!("{list}: nothing is learned")));
        assert_eq!(written.items.as_deref(), Some(list), "{written:?}");
        assert_eq!(serde_json::to_value(&written.link).unwrap(), json!([link]), "{list}");
        // As written in a rule file.
        let read: Written = toml::from_str(&toml::to_string(&written).unwrap()).unwrap();
        let endpoint = read.endpoint().unwrap();
        let found = visited(&endpoint, "/list?page=3", "", |_| answer(3).to_string()).unwrap();
        let page = Url::parse(ORIGIN).unwrap();
        assert_eq!(found, links(3).iter().map(|link| normal(&page, link).unwrap()).collect(), "{list}");
        // PHP encodes an object without members as a list.
        let text = answer(3).to_string();
        if list == "torrents{*}" {
            let found = visited(&endpoint, "/list?page=3", "", |_| json!({ "total": 60, "torrents": [] }).to_string());
            assert_eq!(found, Ok(BTreeSet::new()));
            let none = visited(&endpoint, "/list?page=3", "", |_| json!({ "total": 60, "torrents": "x" }).to_string());
            assert_eq!(none, Err(Difference::NoList("torrents".into())), "{text}");
        }
    }
}

#[test]
fn a_list_that_is_an_object_where_it_has_gaps_is_one_list() {
    // PHP's `json_encode` of a list from which a filter removed some elements.
    let answer = |page: usize, has_gaps: bool| {
        let rows = items(page, 10);
        let gaps = rows.iter().enumerate().map(|(at, row)| ((2 * at).to_string(), row.clone()));
        let gaps = Json::Object(gaps.collect());
        json!({ "total": 90, "rows": if has_gaps { gaps } else { json!(rows) } })
    };
    let links = |page: usize| items(page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect::<Vec<_>>();
    for (gaps, list) in [([false, true, false], "rows"), ([false; 3], "rows"), ([true; 3], "rows{*}")] {
        let one = |(at, has_gaps): (usize, &bool)| {
            let page = at + 1;
            render(
                &format!("/list?page={page}"),
                vec![get(&format!("/api?page={page}"), answer(page, *has_gaps))],
                &links(page),
            )
        };
        let renders: Vec<Observation> = gaps.iter().enumerate().map(one).collect();
        let endpoint = learned(&renders).unwrap_or_else(|| panic!("{gaps:?}: nothing is learned"));
        assert_eq!(table(&endpoint).items.as_deref(), Some(list), "{gaps:?}");
        for has_gaps in [true, false] {
            let found = visited(&endpoint, "/list?page=7", "", |_| answer(7, has_gaps).to_string());
            assert_eq!(found, Ok(urls(links(7))), "{gaps:?} {has_gaps}");
        }
    }
}

#[test]
fn answers_of_a_record_a_line_are_learned() {
    let lines = |page: usize| items(page, 10).iter().map(|item| format!("{item}\n")).collect::<String>();
    let one = |page: &usize| {
        let links: Vec<String> = items(*page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        render(&format!("/list?page={page}"), vec![get(&format!("/api?page={page}"), lines(*page))], &links)
    };
    let endpoint = learned(&[2, 3, 5].iter().map(one).collect::<Vec<_>>()).unwrap();
    assert_eq!(visited(&endpoint, "/list?page=7", "", |_| lines(7)).unwrap().len(), 10);
    assert_eq!(visited(&endpoint, "/list?page=8", "", |_| String::new()), Ok(BTreeSet::new()), "a list of no lines");
    let of_member = learned(&list_pages(
        &[2, 3, 5],
        |page| (format!("/api?page={page}"), json!({ "items": items(page, 10) })),
        |_| Vec::new(),
    ));
    assert_eq!(visited(&of_member.unwrap(), "/list?page=8", "", |_| String::new()), Err(Difference::NoData));
}
