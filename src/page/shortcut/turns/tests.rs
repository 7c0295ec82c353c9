//! Unit tests of `shortcut::turns`.

use super::*;

#[test]
fn what_was_left_goes_on_with_the_tokens_of_now() {
    let asked = |page: &str, token: &str| {
        let variables = format!("{{\"me\":\"{token}\",\"after\":{page}}}");
        let headers = [("x-auth".to_owned(), token.to_owned())];
        let mut url = Url::parse("https://one.example/api").unwrap();
        url.query_pairs_mut().append_pair("page", page).append_pair("t", token).append_pair("v", &variables);
        call::slots("GET", url.as_str(), &headers, "").unwrap()
    };
    let names = ["header.x-auth", "query.t", "query.v", "query.page", "header.none"];
    let renewed = |turn: Option<&Turn>| super::renewed(turn, asked("\"7\"", "old"), &asked("null", "new"), &names);
    let step = |slot: &str| Turn::Step { slot: slot.to_owned(), step: 1, first: 1 };
    let value = |slots: &Slots, name: &str| call::value(slots, name).map(Cow::into_owned).unwrap_or_default();
    let all = |slots: &Slots| {
        ["header.x-auth", "query.t", "query.page", "query.v#me", "query.v#after"].map(|name| value(slots, name))
    };
    assert_eq!(all(&renewed(Some(&step("query.page")))), ["new", "new", "\"7\"", "new", "null"]);
    assert_eq!(all(&renewed(Some(&step("query.v#after")))), ["new", "new", "null", "new", "7"]);
    let next = Turn::Next(JsonPath::default());
    assert_eq!(all(&renewed(Some(&next))), ["new", "old", "\"7\"", "old", "7"], "an answer has named it");
    assert_eq!(renewed(Some(&next)).len(), asked("null", "new").len());
}

#[test]
fn another_origin_gets_nothing_that_was_learned_and_nothing_leaves_tls() {
    let own = Url::parse("https://one.example/api?page=1").unwrap();
    let headers = [("X-Token".to_owned(), "t0".to_owned())];
    let to = |method: &str, next: &str| {
        let asked = call::slots(method, own.as_str(), &headers, "a=b").unwrap();
        let slots = followed(&asked, &own, &Url::parse(next).unwrap())?;
        let asked = call::asked(&slots);
        Some((asked.url, asked.headers.len(), !asked.body.is_empty()))
    };
    let (same, other) = ("https://one.example/api?page=2", "https://two.example/api?page=2");
    assert_eq!(to("POST", same), Some((same.to_owned(), 1, true)));
    assert_eq!(to("GET", other), Some((other.to_owned(), 0, false)));
    assert_eq!((to("POST", other), to("GET", "http://one.example/api?page=2")), (None, None));
}
