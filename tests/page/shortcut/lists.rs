//! Numbers, offsets and cursors by which a list goes on.

use super::*;

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
