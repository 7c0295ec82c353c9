//! Endpoints learned from synthetic renders of many shapes, and endpoints that must not be learned.

use std::collections::BTreeSet;

use gleaner_page::shortcut::endpoint::{Difference, Endpoint};
use gleaner_page::shortcut::rests::Rest;
use gleaner_page::shortcut::template::Scope;
use gleaner_page::shortcut::written::Written;
use gleaner_page::shortcut::{Answer, ClassShortcuts, Event, Exchange, Link, Observation, kind_of, learn};
use gleaner_torrent::magnet;
use serde_json::{Value as Json, json};
use url::Url;

const ORIGIN: &str = "https://h.example";

/// Normalises a link; the crawl accepts links of its own host, and magnets.
fn normal(base: &Url, text: &str) -> Option<String> {
    if text.starts_with("magnet:") {
        return magnet::parse(text).ok().map(|magnet| format!("magnet:{:?}", magnet.infohashes));
    }
    let url = base.join(text).ok()?;
    (url.host_str() == Some("h.example")).then(|| url.to_string())
}

/// A render of a page: the requests of its scripts with their responses, and the links that they generated.
fn render(page: &str, exchanges: Vec<Exchange>, links: &[String]) -> Observation {
    let page = Url::parse(&format!("{ORIGIN}{page}")).unwrap();
    let link = |text: &String| {
        let key = normal(&page, text).unwrap();
        Link { text: if text.starts_with("magnet:") { text.clone() } else { key.clone() }, key }
    };
    let links = links.iter().map(link).collect();
    let html = "<div id=app></div><script src=/app.js></script>".to_owned();
    let (cookies, unread, shell) = Default::default();
    Observation { page, html, cookies, now_ms: 1_790_000_000_000, exchanges, unread, shell, links }
}

fn get(url: &str, answer: impl ToString) -> Exchange {
    let url = format!("{ORIGIN}{url}");
    Exchange {
        method: "GET".into(),
        url,
        headers: Vec::new(),
        body: String::new(),
        status: 200,
        answer: answer.to_string(),
    }
}

fn learned(renders: &[Observation]) -> Option<Endpoint> {
    learn(&renders.iter().collect::<Vec<_>>(), &normal)
}

fn table(endpoint: &Endpoint) -> Written {
    Written::of(endpoint)
}

/// Visits a page through an endpoint; the site answers by path and query of the requests.
fn visited(
    endpoint: &Endpoint,
    page: &str,
    html: &str,
    site: impl Fn(&str) -> String,
) -> Result<BTreeSet<String>, Difference> {
    let page = Url::parse(&format!("{ORIGIN}{page}")).unwrap();
    assert!(endpoint.covers(&page), "{page}");
    let ask = |slots: &_| {
        let asked = gleaner_page::shortcut::call::asked(slots);
        let head: String = asked.headers.iter().map(|(name, value)| format!(" {name}:{value}")).collect();
        Answer::of(&site(&format!("{}{head}{}", asked.url.strip_prefix(ORIGIN).unwrap(), asked.body)))
    };
    let mut scope = Scope::of(&page, html, &[], 1_790_000_009_000);
    let before = endpoint.before.as_ref().map(|call| ask(&call.fill(&scope).unwrap()));
    if let Some(Answer::Json(json)) = &before {
        scope.before = Some(json);
    }
    let (mut next, mut links, mut seen) = (Some(endpoint.first(&scope)?), BTreeSet::new(), 0);
    while let Some(slots) = next.take() {
        let answer = ask(&slots);
        let reading = endpoint.read(&slots, &answer, &scope, seen)?;
        if seen == 0 {
            links
                .extend(endpoint.around(&answer, reading.records, &page).iter().filter_map(|link| normal(&page, link)));
        }
        seen += reading.records;
        links.extend(reading.links.iter().filter_map(|link| normal(&page, link)));
        next = reading.next;
    }
    Ok(links)
}

fn urls(paths: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    paths.into_iter().map(|path| format!("{ORIGIN}{path}")).collect()
}

/// Records of a page, newest first; their numbers are far from those of pages and categories.
fn items(page: usize, size: usize) -> Vec<Json> {
    (0..size).map(|at| json!({ "id": 9_000 - (page * size + at), "title": format!("No {page} {at}"), "cat": at % 3, "seeds": at })).collect()
}

fn list_pages(
    pages: &[usize],
    api: impl Fn(usize) -> (String, Json),
    more: impl Fn(usize) -> Vec<String>,
) -> Vec<Observation> {
    let one = |page: &usize| {
        let (url, answer) = api(*page);
        let links: Vec<String> =
            items(*page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).chain(more(*page)).collect();
        render(&format!("/list?page={page}"), vec![get("/api/stats", json!({ "users": 7 })), get(&url, answer)], &links)
    };
    pages.iter().map(one).collect()
}

/// The request for a page of data, and its content.
type Shape<'a> = &'a dyn Fn(usize) -> (String, Json);

#[test]
fn a_page_number_in_the_address_becomes_one_in_the_request_or_an_offset() {
    for (times, parameter) in [(1, "page"), (10, "offset")] {
        let api = |page: usize| {
            (
                format!("/api/list?{parameter}={}&sort=new", page * times),
                json!({ "data": { "items": items(page, 10) } }),
            )
        };
        let endpoint = learned(&list_pages(&[2, 3, 5], api, |_| Vec::new())).unwrap();
        let written = table(&endpoint);
        assert_eq!(written.items.as_deref(), Some("data.items"));
        assert_eq!(serde_json::to_value(&written.link).unwrap(), json!(["/torrent/{id}"]));
        assert_eq!(written.on.as_deref(), Some("https://h.example/list?page=*"));
        let found = visited(&endpoint, "/list?page=7", "", |asked| {
            assert_eq!(asked, api(7).0);
            api(7).1.to_string()
        });
        assert_eq!(found.unwrap(), urls(items(7, 10).iter().map(|item| format!("/torrent/{}", item["id"]))));
    }
}

#[test]
fn a_list_without_its_number_is_its_first_page() {
    let mut renders =
        list_pages(&[2, 3], |page| (format!("/api?from={}", (page - 1) * 10), json!(items(page, 10))), |_| Vec::new());
    let first: Vec<String> = items(1, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
    renders.push(render("/list", vec![get("/api?from=0", json!(items(1, 10)))], &first));
    let endpoint = learned(&renders).unwrap();
    assert_eq!(table(&endpoint).url, "/api?from={@query.page|1 * 10 - 10}");
    assert!(
        visited(&endpoint, "/list", "", |asked| {
            assert_eq!(asked, "/api?from=0");
            json!(items(1, 10)).to_string()
        })
        .is_ok()
    );
}

#[test]
fn links_to_other_pages_are_known_from_the_total_and_links_of_each_page_are_constants() {
    let more = |page: usize| {
        let near = [page.wrapping_sub(1), page + 1, 1, 20]
            .into_iter()
            .filter(|other| (1..=20).contains(other) && *other != page);
        near.map(|page| format!("/list?page={page}")).chain(["/about".to_owned(), "/torrent/1".to_owned()]).collect()
    };
    for total in [json!({ "total": 200 }), json!({ "total": 198, "pages": 20 }), json!({ "total": 191 })] {
        let api = |page: usize| {
            let mut answer = total.clone();
            answer["rows"] = json!(items(page, 10));
            (format!("/api?page={page}"), answer)
        };
        let endpoint = learned(&list_pages(&[1, 4, 20], api, more)).unwrap();
        assert_eq!(table(&endpoint).constant, [format!("{ORIGIN}/about"), format!("{ORIGIN}/torrent/1")]);
        let found = visited(&endpoint, "/list?page=19", "", |_| api(19).1.to_string()).unwrap();
        for page in ["/list?page=18", "/list?page=20", "/list?page=1", "/about"] {
            assert!(found.contains(&format!("{ORIGIN}{page}")), "{page}: {found:?}");
        }
        assert!(!found.contains(&format!("{ORIGIN}/list?page=21")));
    }
}

/// One render of a page with a button for the next page: four requests, or as many as the list has.
fn turned(requests: &[(String, Json)]) -> Observation {
    let links: Vec<String> =
        (0..requests.len()).flat_map(|page| items(page, 10)).map(|item| format!("/torrent/{}", item["id"])).collect();
    render("/", requests.iter().map(|(url, answer)| get(url, answer)).collect(), &links)
}

#[test]
fn one_render_that_turns_its_list_teaches_number_offset_cursor_and_next() {
    let number =
        |page: usize| (format!("/api?page={page}&per=10"), json!({ "items": items(page, 10), "more": page < 3 }));
    let offset = |page: usize| {
        let start = if page == 0 { String::new() } else { format!("&start={}", page * 10) };
        (format!("/api?n=10{start}"), json!({ "items": items(page, 10), "total": 40 }))
    };
    let cursor = |page: usize| {
        let after = if page == 0 { String::new() } else { format!("?after=c{}x", page * 7) };
        (
            format!("/api{after}"),
            json!({ "items": items(page, 10), "meta": { "next": format!("c{}x", (page + 1) * 7) } }),
        )
    };
    let before = |page: usize| {
        let before = if page == 0 { String::new() } else { format!("?before={}", 9_001 - page * 10) };
        (format!("/api{before}"), json!({ "items": items(page, 10) }))
    };
    let next = |page: usize| {
        (
            format!("/api/p/{page}"),
            json!({ "items": items(page, 10), "links": { "next": format!("/api/p/{}", page + 1) } }),
        )
    };
    let encoded = |json: Json| url::form_urlencoded::byte_serialize(json.to_string().as_bytes()).collect::<String>();
    let variables = |page: usize| {
        let after = (page > 0).then(|| format!("c{}x", page * 7));
        (
            format!("/graphql?op=List&variables={}", encoded(json!({ "after": after, "first": 10 }))),
            json!({ "data": { "items": items(page, 10), "end": format!("c{}x", (page + 1) * 7) } }),
        )
    };
    let offset_within = |page: usize| {
        (
            format!("/graphql?variables={}", encoded(json!({ "by": ["new"], "offset": page * 10 }))),
            json!({ "items": items(page, 10) }),
        )
    };
    let shapes: [(&str, Shape<'_>); 7] = [
        ("parameter = \"variables#after\"\ncursor = \"data.end\"", &variables),
        ("parameter = \"variables#offset\"\nstep = 10", &offset_within),
        ("step = 1", &number),
        ("step = 10", &offset),
        ("cursor = \"meta.next\"", &cursor),
        ("cursor = \"items[-1].id\"", &before),
        ("next = \"links.next\"", &next),
    ];
    for (turn, api) in shapes {
        let seen: Vec<(String, Json)> = (0..4).map(api).collect();
        let endpoint = learned(&[turned(&seen)]).unwrap_or_else(|| panic!("{turn} is not learned"));
        let text = toml::to_string(&table(&endpoint)).unwrap();
        assert!(text.contains(turn), "{turn}: {text}");
        // The same list with more pages, read to its end.
        let pages = 9;
        let found = visited(&endpoint, "/", "", |asked| {
            let decoded = |url: &str| {
                percent_encoding::percent_decode_str(&url.replace('+', "%20")).decode_utf8_lossy().into_owned()
            };
            let page = (0..pages + 1)
                .find(|page| decoded(&api(*page).0) == decoded(asked))
                .unwrap_or_else(|| panic!("{turn}: asked {asked}"));
            let mut answer = api(page).1;
            answer["more"] = json!(page + 1 < pages);
            answer["total"] = json!(pages * 10);
            if page >= pages {
                answer["items"] = json!([]);
                if let Some(data) = answer.get_mut("data") {
                    data["items"] = json!([]);
                }
            }
            answer.to_string()
        });
        assert_eq!(found.unwrap().len(), pages * 10, "{turn}");
        let again: Written = toml::from_str(&text).unwrap();
        assert_eq!(again.endpoint().unwrap(), endpoint, "{turn}");
    }
    let two: Vec<(String, Json)> = (0..2).map(number).collect();
    assert_eq!(learned(&[turned(&two)]), None, "two pages of one render are too few");
}

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

#[test]
fn tokens_are_taken_anew_from_the_page_or_from_an_answer_before() {
    let token = |page: usize| format!("tok{}f{page}", page * 991_133);
    let links =
        |page: usize| -> Vec<String> { items(page, 5).iter().map(|item| format!("/torrent/{}", item["id"])).collect() };
    let in_page = |page: usize| {
        let request = Exchange {
            headers: vec![("X-CSRF".into(), token(page))],
            ..get(&format!("/api?page={page}"), json!(items(page, 5)))
        };
        let html = format!("<meta name='csrf-token' content='{}'>", token(page));
        Observation { html, ..render(&format!("/l/{page}"), vec![request], &links(page)) }
    };
    let endpoint = learned(&[in_page(1), in_page(2), in_page(3)]).unwrap();
    assert!(endpoint.needs_page());
    let found = visited(&endpoint, "/l/8", "<meta content=NEW7 name=csrf-token>", |asked| {
        assert_eq!(asked, "/api?page=8 x-csrf:NEW7");
        json!(items(8, 5)).to_string()
    });
    assert_eq!(found.unwrap().len(), 5);

    let before = |page: usize| {
        let request = Exchange {
            headers: vec![("Authorization".into(), format!("Bearer {}", token(page)))],
            ..get(&format!("/api?page={page}"), json!(items(page, 5)))
        };
        render(
            &format!("/l/{page}"),
            vec![get("/token", json!({ "auth": { "jwt": token(page) } })), request],
            &links(page),
        )
    };
    let endpoint = learned(&[before(1), before(2), before(3)]).unwrap();
    assert!(!endpoint.needs_page());
    let found = visited(&endpoint, "/l/8", "", |asked| match asked {
        "/token" => json!({ "auth": { "jwt": "J" } }).to_string(),
        asked => {
            assert_eq!(asked, "/api?page=8 authorization:Bearer J");
            json!(items(8, 5)).to_string()
        }
    });
    assert_eq!(found.unwrap().len(), 5);
    let refused = endpoint.explains(&in_page(1), &normal).unwrap_err();
    assert!(matches!(refused, Difference::NotAsked(_)), "{refused}");
}

#[test]
fn what_is_posted_is_learned_as_well() {
    let links =
        |page: usize| -> Vec<String> { items(page, 5).iter().map(|item| format!("/torrent/{}", item["id"])).collect() };
    let one = |page: usize| {
        let body = json!({ "operationName": "List", "variables": { "page": page, "tags": [] } }).to_string();
        let request = Exchange {
            method: "POST".into(),
            body,
            headers: vec![("content-type".into(), "application/json".into())],
            ..get("/graphql", json!({ "data": items(page, 5) }))
        };
        render(&format!("/l/{page}"), vec![request], &links(page))
    };
    let endpoint = learned(&[one(1), one(2), one(3)]).unwrap();
    let again = table(&endpoint).endpoint().unwrap();
    let found = visited(&again, "/l/8", "", |asked| {
        let body = json!({ "operationName": "List", "variables": { "page": 8, "tags": [] } });
        assert_eq!(asked, format!("/graphql content-type:application/json{body}"));
        json!({ "data": items(8, 5) }).to_string()
    });
    assert_eq!(found.unwrap().len(), 5);
}

#[test]
fn a_member_that_matches_by_chance_is_not_learned() {
    // Each page shows three links, whose numbers are also those of the categories of its records; no other member has the rest.
    let one = |page: usize| {
        let answer: Vec<Json> = (0..6).map(|at| json!({ "id": 9_000 + page * 10 + at, "cat": at % 3 })).collect();
        let links: Vec<String> = (0..6)
            .map(|at| format!("/torrent/x{}", (page * 6 + at) * 7_919 % 10_007))
            .chain(["/torrent/0".to_owned()])
            .collect();
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!(answer))], &links)
    };
    assert_eq!(learned(&[one(1), one(2), one(3)]), None);
    // Two records are too few to distinguish a member from chance.
    let few = |page: usize| {
        let links = if page == 1 { vec!["/torrent/501".to_owned()] } else { Vec::new() };
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!([{ "id": 500 + page }]))], &links)
    };
    assert_eq!(learned(&[few(1), few(2), few(3)]), None, "records without a link are not explained");
    // A link that some records lack without any sign of it.
    let some = |page: usize| {
        let links: Vec<String> =
            items(page, 8).iter().step_by(2).map(|item| format!("/torrent/{}", item["id"])).collect();
        render(&format!("/l/{page}"), vec![get(&format!("/api?page={page}"), json!(items(page, 8)))], &links)
    };
    assert_eq!(learned(&[some(1), some(2), some(3)]), None);
}

#[test]
fn one_link_that_no_answer_bears_keeps_a_class_rendered() {
    let api = |page: usize| (format!("/api?page={page}"), json!(items(page, 10)));
    assert!(learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).is_some());
    assert_eq!(learned(&list_pages(&[1, 2, 3], api, |page| vec![format!("/torrent/extra-{}", page * 7_907)])), None);
    assert_eq!(learned(&list_pages(&[1, 2], api, |_| Vec::new())), None, "two renders are too few");
}

#[test]
fn an_endpoint_holds_for_addresses_like_those_it_was_learned_from_only() {
    let api = |page: usize| (format!("/api?page={page}"), json!(items(page, 10)));
    let endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    for (page, covers) in [
        ("/list?page=9", true),
        ("/list", false),
        ("/list?page=9&cat=2", false),
        ("/other?page=9", false),
        ("/list/x?page=1", false),
    ] {
        assert_eq!(endpoint.covers(&Url::parse(&format!("{ORIGIN}{page}")).unwrap()), covers, "{page}");
    }
}

#[test]
fn a_book_learns_checks_ever_more_seldom_and_forgets_at_the_first_difference() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10) }));
    let of = |page: usize| std::sync::Arc::new(list_pages(&[page], api, |_| Vec::new()).remove(0));
    let mut book = ClassShortcuts::default();
    let add = |book: &mut ClassShortcuts, page: usize| {
        let sets = book.add(of(page));
        let learned = sets.iter().find_map(|set| learn(&set.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &normal));
        book.learned(learned, 5)
    };
    assert_eq!((add(&mut book, 1), add(&mut book, 2), add(&mut book, 3)), (None, None, Some(Event::Learned)));
    let page = of(9).page.clone();
    let uses_until_check =
        |book: &mut ClassShortcuts| (0..1_000).take_while(|_| book.plan(&page, false, true, 9).is_some()).count();
    let mut waits = Vec::new();
    for _ in 0..6 {
        waits.push(uses_until_check(&mut book));
        let endpoint = book.to_check(&page).unwrap();
        let result = endpoint.explains(&of(9), &normal);
        assert_eq!(book.checked(of(9), result, 6), Some(Event::Proven));
    }
    assert_eq!(waits, [10, 20, 40, 80, 100, 100]);
    // Stored and restored, it continues where it was.
    let kept: gleaner_page::shortcut::book::KeptBook =
        serde_json::from_slice(&serde_json::to_vec(&book.to_keep()).unwrap()).unwrap();
    let mut again = ClassShortcuts::default();
    again.take_up(kept.clone());
    assert_eq!(again.to_keep(), kept);
    let changed = std::sync::Arc::new(
        list_pages(&[9], |page| (format!("/api?page={page}"), json!({ "torrents": items(page, 10) })), |_| Vec::new())
            .remove(0),
    );
    let result = again.to_check(&page).unwrap().explains(&changed, &normal);
    assert!(
        matches!(again.checked(changed, result, 7), Some(Event::Differs(Difference::NoList(place))) if place == "rows")
    );
    assert_eq!(again.plan(&page, false, true, 9), None);
    assert_eq!(again.to_keep().difference.unwrap().0, 7);
}

#[test]
fn a_switch_that_was_never_so_is_noticed_and_taken_up_once_it_is_borne_out() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10), "more": page < 4 }));
    let mut endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    let last = list_pages(&[4], api, |_| Vec::new()).remove(0);
    let answer = Answer::of(&last.exchanges[1].answer);
    assert!(endpoint.is_as_expected(&answer, 10).is_err());
    assert_eq!(endpoint.explains(&last, &normal), Ok(()));
    endpoint.absorb(&last);
    assert_eq!(endpoint.is_as_expected(&answer, 10), Ok(()));
}

#[test]
fn a_count_that_exceeds_the_records_says_that_there_is_more_than_was_ever_seen() {
    let one = |page: usize, size: usize, total: usize| {
        let links: Vec<String> = items(page, size).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        let answer = json!({ "total": total, "rows": items(page, size) });
        render(&format!("/user/{page}"), vec![get(&format!("/api/user/{page}"), answer)], &links)
    };
    let endpoint = learned(&[one(1, 4, 4), one(2, 7, 7), one(3, 1, 1)]).unwrap();
    for (total, is_expected) in [(9, true), (10, true), (11, false)] {
        let answer = Answer::of(&one(5, 10, total).exchanges[0].answer);
        assert_eq!(endpoint.is_as_expected(&answer, 10).is_ok(), is_expected, "{total}");
    }
}

#[test]
fn a_table_of_the_rule_file_is_checked_where_it_stands() {
    let head = "start = ['https://h.example/list']\nclasses.index = ['^/list']\n[shortcut.index]\n";
    let faults = |table: &str| {
        let faults = gleaner_rules::from_text("site", &format!("{head}{table}")).err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(faults("url = '/api?p={@query.p|1}'\nitems = 'rows'\nlink = ['/t/{id}']\n"), "");
    for (table, line, wanted) in [
        ("url = 'https://other.example/api'\nlink = ['/t/{id}']\n", 4, "`other.example` is not a host of this site"),
        ("url = '/api'\nlink = ['/t/{id']\n", 5, "brace"),
        ("url = '/api'\nlink = ['/t/{@nothing.x}']\n", 5, "`@nothing` is none of"),
        ("url = '/api'\n", 4, "no links are made of the answer"),
        (
            "url = '/api'\nlink = ['/t/{id}']\npage = { parameter = 'p', cursor = 'a', next = 'b' }\n",
            6,
            "how the list is turned",
        ),
        ("url = '/api'\nlink = ['/t/{id}']\nitem = 'rows'\n", 6, "unknown key `item`"),
        ("url = '/api'\nlink = ['/t/{id}']\nheaders = { Cookie = 'sid=1' }\n", 6, "holds a secret"),
        ("link = ['/t/{id}']\n", 3, "the key `url` is missing"),
    ] {
        let told = faults(table);
        assert!(told.contains(wanted) && told.contains(&format!(":{line}:")), "{table}: {told}");
    }
}

#[test]
fn answers_that_are_made_to_cost_teach_nothing_and_end() {
    let record = |at: usize| -> Json {
        (0..60)
            .map(|member| (format!("m{member}"), json!((at + member) % 10)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let answer = json!({ "rows": (0..1_500).map(record).collect::<Vec<_>>(), "deep": nested(100) });
    let one = |page: usize| {
        let links: Vec<String> = (0..200)
            .map(|at| format!("/{}/{}/{}/{}-{}", page % 10, at % 7, at % 10, (at * page) % 9, at % 3))
            .collect();
        let url =
            format!("/api?{}", (0..100).map(|at| format!("p{at}={}", (at + page) % 10)).collect::<Vec<_>>().join("&"));
        render(&format!("/l/{page}?a={page}"), vec![get(&url, &answer)], &links)
    };
    assert_eq!(learned(&[one(1), one(2), one(3)]), None);
}

fn nested(depth: usize) -> Json {
    (0..depth).fold(json!([1]), |inner, _| json!([inner, 2]))
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_a_person_writes_is_read_or_told_to_be_wrong(text in "[ -~é]{0,60}", other in "[{}@a-z.|#0-9*+% -]{0,30}") {
        let written = Written {
            on: Some(text.clone()),
            url: format!("/{other}{text}"),
            json: Some(text.clone()),
            items: Some(other.clone()),
            html: vec![text.clone()],
            headers: [(other.clone(), text.clone())].into(),
            ..Written::default()
        };
        if let Ok(endpoint) = written.endpoint() {
            let again = Written::of(&endpoint).endpoint();
            proptest::prop_assert!(again.is_ok(), "{:?}", again);
        }
        let _ = Answer::of(&text);
        if let Ok(template) = gleaner_page::shortcut::template::Template::parse(&other) {
            let again = gleaner_page::shortcut::template::Template::parse(&template.to_string());
            proptest::prop_assert_eq!(again, Ok(template));
        }
    }
}

#[test]
fn answers_of_another_shape_are_differences() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "rows": items(page, 10) }));
    let endpoint = learned(&list_pages(&[1, 2, 3], api, |_| Vec::new())).unwrap();
    for (answer, wanted) in [
        (json!({ "items": [] }).to_string(), Difference::NoList("rows".into())),
        (json!({ "rows": [{ "number": 5 }] }).to_string(), Difference::NoLinks),
        ("<html>maintenance".to_owned(), Difference::NoData),
        ("oops".to_owned(), Difference::NoData),
    ] {
        assert_eq!(visited(&endpoint, "/list?page=9", "", |_| answer.clone()), Err(wanted), "{answer}");
    }
    assert!(visited(&endpoint, "/list?page=9", "", |_| json!({ "rows": [] }).to_string()).unwrap().is_empty());
}

#[test]
fn hosts_side_by_side_have_endpoints_of_their_own_and_proofs_of_their_own() {
    let page_of = |host: &str, page: usize| Url::parse(&format!("https://{host}.h.example/list?page={page}")).unwrap();
    let of = |host: &str, page: usize| {
        let answer = json!({ "rows": items(page, 10) });
        let links: Vec<String> = items(page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        let mut one = render(&format!("/list?page={page}"), vec![get(&format!("/{host}?page={page}"), answer)], &links);
        one.page = page_of(host, page);
        std::sync::Arc::new(one)
    };
    let mut book = ClassShortcuts::default();
    for page in 1..=3 {
        for host in ["films", "games"] {
            let sets = book.add(of(host, page));
            let found = sets.iter().find_map(|set| learn(&set.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &normal));
            assert_eq!(book.learned(found.clone(), 5).is_some(), page == 3, "{host} {page}: {found:?}");
        }
    }
    let asked = |book: &ClassShortcuts, host: &str| table(&book.to_check(&page_of(host, 9)).unwrap()).url;
    assert_eq!(asked(&book, "films"), format!("{ORIGIN}/films?page={{@query.page}}"));
    assert_eq!(asked(&book, "games"), format!("{ORIGIN}/games?page={{@query.page}}"));
    assert!(book.to_check(&page_of("books", 9)).is_none(), "nothing is known of a third");

    // One for all hosts, as a person may write it: a render at one of them proves nothing for the other.
    let mut pin = table(&book.to_check(&page_of("films", 9)).unwrap());
    pin.on = Some("/list?page=*".into());
    let mut book = ClassShortcuts::default();
    book.pin(&pin.endpoint().unwrap());
    for page in 4..=7 {
        for host in ["films", "games"] {
            book.worked(&page_of(host, page), false, 1);
        }
    }
    assert_eq!(book.checked(of("films", 8), Ok(()), 9), Some(Event::Proven));
    assert!(book.close(true), "games are checked before the crawl ends");
    assert_eq!(book.again(), [page_of("games", 7).to_string()]);
    assert!(book.plan(&page_of("games", 7), false, true, 9).is_none(), "that page is rendered");
    assert!(book.plan(&page_of("games", 6), false, true, 9).is_some());
}

/// A page's records by their numbers.
fn by_number(page: usize) -> Json {
    let rows = items(page, 10).into_iter().map(|item| (item["id"].to_string(), json!({ "title": item["title"] })));
    Json::Object(rows.collect())
}

/// Path of the list, template of its links, the responses, and the links of a page.
type ByName<'a> = (&'a str, &'a str, &'a dyn Fn(usize) -> Json, &'a dyn Fn(usize) -> Vec<String>);

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
fn what_each_pages_own_markup_links_is_taken_from_it_and_what_one_pages_scripts_link_is_not_learned() {
    let of = |page: usize, is_own: bool| {
        let answer = json!({ "rows": items(page, 10) });
        let mut links: Vec<String> = items(page, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        links.push(format!("/section/{}", ["a", "b", "c", "d"][page % 4]));
        let mut one = render(&format!("/list?page={page}"), vec![get(&format!("/api?page={page}"), answer)], &links);
        one.shell = if is_own { one.links[10..].to_vec() } else { Vec::new() };
        one
    };
    let renders = |is_own: bool| (1..=3).map(|page| of(page, is_own)).collect::<Vec<_>>();
    assert!(learned(&renders(true)).unwrap().with_page);
    assert_eq!(learned(&renders(false)), None);
}

#[test]
fn a_list_that_was_turned_hundreds_of_times_and_left_in_its_middle_is_learned() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10), "pages": 700 }));
    let seen: Vec<(String, Json)> = (0..300).map(api).collect();
    let render = turned(&seen);
    let endpoint = learned(std::slice::from_ref(&render)).unwrap();
    assert_eq!(table(&endpoint).page.unwrap().step, Some(1));
    assert_eq!(endpoint.explains(&render, &normal), Ok(()));
    // The next render covers more.
    let more: Vec<(String, Json)> = (0..400).map(api).collect();
    assert_eq!(endpoint.explains(&turned(&more), &normal), Ok(()));
}

#[test]
fn numbers_within_a_parameter_of_json_are_taken_from_the_pages_address() {
    let api = |page: usize| {
        let variables = json!({ "limit": 10, "offset": (page - 1) * 10 }).to_string();
        let variables: String = url::form_urlencoded::byte_serialize(variables.as_bytes()).collect();
        (format!("/graphql?operationName=L&variables={variables}"), json!({ "data": { "items": items(page, 10) } }))
    };
    let endpoint = learned(&list_pages(&[2, 3, 5], api, |_| Vec::new())).unwrap();
    let text = toml::to_string(&table(&endpoint)).unwrap();
    assert!(text.contains("{@query.page * 10 - 10}"), "{text}");
    let again: Written = toml::from_str(&text).unwrap();
    assert_eq!(again.endpoint().unwrap(), endpoint);
    let found = visited(&endpoint, "/list?page=7", "", |asked| {
        assert!(asked.contains("offset%22%3A60%7D"), "{asked}");
        api(7).1.to_string()
    });
    assert_eq!(found.unwrap().len(), 10);
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

#[test]
fn a_page_that_was_left_with_more_is_asked_for_again_once_where_its_list_can_be_turned() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10) }));
    let render = turned(&(0..5).map(api).collect::<Vec<_>>());
    let page = render.page.clone();
    let mut book = ClassShortcuts::default();
    assert!(!book.goes_on(&page), "nothing is known of its data");
    let endpoint = learned(&[render]).unwrap();
    assert_eq!(book.learned(Some(endpoint.clone()), 1), Some(Event::Learned));
    assert!(book.goes_on(&page) && book.again() == [page.to_string()]);
    book.queued(&[page.to_string()]);
    assert!(!book.goes_on(&page), "once");
    let rest = |links: u64| Rest {
        by: endpoint.clone().into(),
        asks: Vec::new(),
        requests: 9,
        records: 90,
        known: (0..links).collect(),
    };
    assert!(book.leave(&page, rest(7)) && book.again() == [page.to_string()]);
    assert_eq!(book.take_rest(&page, &endpoint).map(|rest| rest.records), Some(90));
    assert!(book.take_rest(&page, &endpoint).is_none());
    assert!(!book.leave(&page, rest(2_000_000)), "more than is kept");
    // Another endpoint cannot continue with its request, and if none is known that could, nothing is stored.
    assert!(book.leave(&page, rest(7)));
    let other = Endpoint { turning: None, ..endpoint.clone() };
    assert!(book.take_rest(&page, &other).is_none() && book.take_rest(&page, &endpoint).is_none());
    assert!(book.leave(&page, rest(7)));
    book.differs(&page, Difference::NoData, true, 2);
    assert!(book.leave(&page, rest(7)) && book.again() == [page.to_string()], "it begins anew");
    assert_eq!(book.learned(Some(endpoint.clone()), 3), Some(Event::Learned));
    assert!(book.take_rest(&page, &endpoint).is_none());
}

#[test]
fn a_page_that_cannot_be_queued_does_not_go_on() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10) }));
    let endpoint = learned(&[turned(&(0..5).map(api).collect::<Vec<_>>())]).unwrap();
    let page = |number: usize| Url::parse(&format!("{ORIGIN}/list?n={number}")).unwrap();
    let endpoint = Endpoint { on: None, ..endpoint };
    let mut book = ClassShortcuts::default();
    book.pin(&endpoint);
    let rest = || Rest { by: endpoint.clone().into(), asks: Vec::new(), requests: 1, records: 1, known: [7].into() };
    (0..gleaner_page::limits::SHORTCUT_AGAIN_MAX).for_each(|number| assert!(book.goes_on(&page(number))));
    book.queued(&[page(0).to_string()]);
    assert!(book.leave(&page(9_998), rest()));
    assert!(!book.leave(&page(9_999), rest()) && book.take_rest(&page(9_999), &endpoint).is_none());
    assert!(book.leave(&page(9_998), rest()), "it waits");
}

#[test]
fn the_first_of_a_list_teaches_it_where_the_rest_was_too_much_to_be_remembered() {
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10) }));
    let whole = turned(&(0..40).map(api).collect::<Vec<_>>());
    let cut = |unread: &[&str]| {
        let mut cut = whole.clone();
        let kinds = unread.iter().map(|url| kind_of(&whole.page, &get(url, "")).unwrap());
        cut.unread = kinds.map(|kind| (kind, 34)).collect();
        cut.exchanges.truncate(6);
        cut
    };
    let endpoint = learned(std::slice::from_ref(&whole)).unwrap();
    assert_eq!(learned(&[cut(&["/api?page=9"])]).map(|learned| learned.call), Some(endpoint.call.clone()));
    assert_eq!(endpoint.explains(&cut(&["/api?page=9"]), &normal), Ok(()));
    // No response has the other links that scripts generate: they have another form, or there are too many.
    let made = |paths: &dyn Fn(usize) -> String| {
        let mut made = cut(&["/api?page=9"]);
        made.links.extend(
            (0..400).map(|number| format!("{ORIGIN}{}", paths(number))).map(|key| Link { text: key.clone(), key }),
        );
        made
    };
    for other in [made(&|number| format!("/dl/a{number}")), made(&|number| format!("/torrent/a{number}"))] {
        assert!(matches!(endpoint.explains(&other, &normal), Err(Difference::Lacks(_))));
        assert_eq!(learned(&[other]), None);
    }
    // The response to another request may belong to another list.
    for other in [cut(&[]), cut(&["/other?page=9"]), cut(&["/api?page=9", "/other"])] {
        assert!(endpoint.explains(&other, &normal).is_err());
        assert_eq!(learned(&[other]), None);
    }
    // Links of the page's own markup came with no response.
    let mut with_own = cut(&["/api?page=9"]);
    with_own.shell.push(with_own.links[0].clone());
    assert_eq!(endpoint.explains(&with_own, &normal), Ok(()));
    with_own.shell.extend(with_own.links.last().cloned());
    assert!(matches!(endpoint.explains(&with_own, &normal), Err(Difference::Lacks(_))));
    // Nor are other pages of the list found in the responses: an endpoint that does not know them would end the list.
    let mut paged = cut(&["/api?page=9"]);
    let next = format!("{ORIGIN}/?page=2");
    paged.links.push(Link { key: next.clone(), text: next });
    assert!(matches!(endpoint.explains(&paged, &normal), Err(Difference::Lacks(_))));
    assert!(learned(&[paged]).unwrap().pages.is_some());
    // Nor are links accepted that its responses contain and the page does not show.
    let mut lacking = cut(&["/api?page=9"]);
    lacking.links.remove(0);
    assert!(matches!(endpoint.explains(&lacking, &normal), Err(Difference::Invents(_))));
}

#[test]
fn a_render_that_is_larger_than_all_may_be_is_learned_from_and_not_kept() {
    let pad = "x".repeat(gleaner_page::limits::SHORTCUT_OBSERVED_BYTES_MAX / 5);
    let api = |page: usize| (format!("/api?page={page}"), json!({ "items": items(page, 10), "pad": pad }));
    let render = turned(&(0..6).map(api).collect::<Vec<_>>());
    assert!(render.bytes() > gleaner_page::limits::SHORTCUT_OBSERVED_BYTES_MAX);
    let mut book = ClassShortcuts::default();
    let sets = book.add(render.clone().into());
    assert!(sets.first().is_some_and(|set| set.len() == 1), "{}", sets.len());
    assert!(book.learned(None, 1).is_none());
    let tries = (0..14).filter(|_| !book.add(render.clone().into()).is_empty() && book.learned(None, 1).is_none());
    assert_eq!(tries.count(), 3, "a vain try makes the next one wait, ever longer");
    assert_eq!(learned(&[render]).map(|endpoint| endpoint.turning.is_some()), Some(true));
}

#[test]
fn a_token_that_another_request_has_brought_is_no_constant_though_it_was_always_the_same() {
    let token = "K89769362";
    let api = |list: usize, page: usize| {
        let headers = vec![("X-Api-Key".to_owned(), token.to_owned())];
        let items = items(10 * list + page, 10);
        Exchange { headers, ..get(&format!("/api?list={list}&page={page}&sort=20261122"), json!({ "items": items })) }
    };
    let of = |list: usize, first: Exchange| {
        let items = (1..6).flat_map(|page| items(10 * list + page, 10));
        let links: Vec<String> = items.map(|item| format!("/torrent/{}", item["id"])).collect();
        let turns = (1..6).map(|page| api(list, page));
        render(&format!("/l?list={list}"), std::iter::once(first).chain(turns).collect(), &links)
    };
    let with = |first: Exchange| of(7, first);
    let auth = || get("/auth", json!({ "access": token, "build": "20261122" }));
    for renders in [vec![with(auth())], vec![of(7, auth()), of(8, auth()), of(9, auth())]] {
        let written = table(&learned(&renders).unwrap());
        assert_eq!(written.headers["x-api-key"], "{@before.access}");
        assert_eq!(written.before.map(|before| before.url).as_deref(), Some("/auth"));
        assert!(written.url.ends_with("&page=1&sort=20261122"), "a date is no token: {}", written.url);
    }
    // A token on the page or from nowhere belongs to the site.
    let on_page = |html: String| Observation { html, ..with(auth()) };
    for render in [on_page(format!("<script src=/{token}.js></script>")), with(get("/auth", json!({ "ok": true })))] {
        let written = table(&learned(&[render]).unwrap());
        assert_eq!((written.headers["x-api-key"].as_str(), written.before), (token, None));
    }
    // Of a list of possible values, one is requested.
    let of_list = |page: usize| {
        let asked = format!("/api?cat=tv-shows-2&page={page}");
        get(&asked, json!({ "items": items(70 + page, 10) }))
    };
    let first = get("/cats", json!({ "all": [{ "slug": "movies-1" }, { "slug": "tv-shows-2" }] }));
    let exchanges = std::iter::once(first).chain((1..6).map(of_list)).collect();
    let written = table(&learned(&[Observation { exchanges, ..with(auth()) }]).unwrap());
    assert_eq!((written.url.as_str(), written.before), ("/api?cat=tv-shows-2&page=1", None));
    // A token in a text, in a cookie, or under another name is no constant either.
    let long = "SECRETab12cd34ef56ab78cd";
    let called = |name: &str, token: &str, first: Exchange| {
        let mut render = with(first);
        render.exchanges.iter_mut().skip(1).for_each(|one| one.headers = vec![(name.to_owned(), token.to_owned())]);
        render
    };
    for name in ["x-auth", "x-app"] {
        for (token, text) in [(long, format!("{long}\n")), (token, format!("ok;{token};1"))] {
            assert_eq!(learned(&[called(name, token, get("/auth", text))]), None, "{name}");
        }
        let cookies = vec![("a b".to_owned(), format!("{{\"t\":\"{long}\"}}"))];
        assert_eq!(
            learned(&[Observation { cookies, ..called(name, long, get("/auth", json!({ "ok": true }))) }]),
            None
        );
    }
    assert!(learned(&[called("x-app", "web-client", get("/auth", "web-client"))]).is_some(), "a word is none");
    // If that request alone cannot get it again, the page is rendered.
    let listed = with(get("/auth", json!([{ "access": token }])));
    assert_eq!(learned(&[listed]), None);
}

#[test]
fn values_of_json_keep_their_types() {
    // A cursor of digits after an empty one: it stays the string of the response, and the number of another.
    let encode = |json: Json| url::form_urlencoded::byte_serialize(json.to_string().as_bytes()).collect::<String>();
    for (cursor, wanted) in [(json!("0070"), json!("0010")), (json!(70), json!(10)), (json!("7\"0"), json!("1\"0"))] {
        let cursor_of = |page: usize| {
            let text = |text: &str| json!(text.replacen('7', &page.to_string(), 1));
            cursor.as_str().map_or_else(|| json!(page * 10), text)
        };
        let answer = |page: usize| json!({ "items": items(page, 10), "end": cursor_of(page + 1) });
        let variables = |after: Json| json!({ "q": "new", "after": after });
        let after = |page: usize| if page == 0 { Json::Null } else { cursor_of(page) };
        let asked = |page: usize| (format!("/graphql?variables={}", encode(variables(after(page)))), answer(page));
        let posted = |page: usize| Exchange {
            method: "POST".into(),
            body: json!({ "variables": variables(after(page)) }).to_string(),
            ..get("/graphql", answer(page))
        };
        let by_get = turned(&(0..4).map(asked).collect::<Vec<_>>());
        let by_post = Observation { exchanges: (0..4).map(posted).collect(), ..by_get.clone() };
        for render in [by_get, by_post] {
            let endpoint = table(&learned(&[render]).unwrap()).endpoint().unwrap();
            assert!(endpoint.turning.is_some());
            let mut turns = Vec::new();
            let told = std::cell::RefCell::new(&mut turns);
            let answer_to = |asked: &str| {
                told.borrow_mut().push(asked.to_owned());
                if told.borrow().len() < 3 {
                    answer(told.borrow().len() - 1).to_string()
                } else {
                    json!({ "items": [] }).to_string()
                }
            };
            assert_eq!(visited(&endpoint, "/", "", answer_to).unwrap().len(), 20);
            for (turn, after) in turns.iter().zip([Json::Null, wanted.clone()]) {
                let is_so = |json: Json| turn.contains(&encode(json.clone())) || turn.contains(&json.to_string());
                assert!(is_so(variables(after.clone())), "{turn} {after}");
            }
        }
    }
}

#[test]
fn what_comes_from_the_pages_address_is_escaped_within_json() {
    let words = ["a\"b", "c d", "e\\f"];
    let page_of = |word: &str| {
        format!("/l?{}", url::form_urlencoded::Serializer::new(String::new()).append_pair("q", word).finish())
    };
    let api_of = |word: &str| {
        let variables = json!({ "of": { "same": "x\"y", "q": word } }).to_string();
        format!(
            "/graphql?{}",
            url::form_urlencoded::Serializer::new(String::new()).append_pair("v", &variables).finish()
        )
    };
    let one = |(at, word): (usize, &&str)| {
        let links: Vec<String> = items(at, 10).iter().map(|item| format!("/torrent/{}", item["id"])).collect();
        render(&page_of(word), vec![get(&api_of(word), json!({ "items": items(at, 10) }))], &links)
    };
    let endpoint = learned(&words.iter().enumerate().map(one).collect::<Vec<_>>()).unwrap();
    let written = table(&endpoint);
    assert!(written.url.contains("{@query.q \\}"), "{}", written.url);
    let text = toml::to_string(&written).unwrap();
    let endpoint = toml::from_str::<Written>(&text).unwrap().endpoint().unwrap();
    let found = visited(&endpoint, &page_of("n\"e\nw"), "", |asked| {
        let url = Url::parse(&format!("{ORIGIN}{asked}")).unwrap();
        let variables: Json = serde_json::from_str(&url.query_pairs().next().unwrap().1).unwrap();
        assert_eq!(variables, json!({ "of": { "same": "x\"y", "q": "n\"e\nw" } }));
        json!({ "items": items(7, 10) }).to_string()
    });
    assert_eq!(found.unwrap().len(), 10);
}
