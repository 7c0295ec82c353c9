//! Where the values of a request come from: tokens, the address, constants.

use super::*;

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
