//! Unit tests of `masked`.

use super::*;

#[test]
fn constants_that_may_be_a_token_are_masked_and_what_is_filled_in_stays() {
    let token = "K89769362";
    let written = Written {
        url: format!("/api?api_key={token}&keyword=linux&page={{@query.page|1}}&build=20261122"),
        headers: [
            ("x-api-key".to_owned(), token.to_owned()),
            ("x-app".to_owned(), token.to_owned()),
            ("authorization".to_owned(), "Bearer {@before.access}".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
        ]
        .into(),
        json: Some(format!("{{\"auth\":[{{\"token\":[\"{token}\"]}}],\"page\":1}}")),
        link: vec![WrittenLink::Of(format!("/download/{{id}}?passkey={token}"))],
        constant: vec![format!("https://h.example/rss?u={token}"), "https://h.example/top?by=seeds".to_owned()],
        before: Some(WrittenCall {
            url: "/auth".to_owned(),
            form: [("secret".to_owned(), token.to_owned())].into(),
            ..WrittenCall::default()
        }),
        ..Written::default()
    };
    let (shown, is_masked) = masked(&written);
    assert!(is_masked && !format!("{shown:?}").contains(token), "{shown:?}");
    assert_eq!(shown.url, format!("/api?api_key={MASK}&keyword=linux&page={{@query.page|1}}&build=20261122"));
    assert_eq!(shown.headers["authorization"], "Bearer {@before.access}");
    assert_eq!(shown.headers["accept"], "application/json");
    assert_eq!(shown.constant[1], written.constant[1]);
    assert_eq!(masked(&shown), (shown.clone(), false));
    // Inside paths and parameters of JSON, and with escapes.
    let long = "SECRETab12cd34ef56ab78cd";
    for (url, wanted) in [
        (
            format!("https://h.example/api/{long}/list?page={{@query.page}}"),
            format!("https://h.example/api/{MASK}/list?page={{@query.page}}"),
        ),
        (
            format!("/api?v=%7B%22by%22%3A%22{long}%22%2C%22page%22%3A{{@query.page}}%7D"),
            format!("/api?v=%7B%22by%22%3A%22{MASK}%22%2C%22page%22%3A{{@query.page}}%7D"),
        ),
        ("/api?t=ab%2B12cd34ef%3D".to_owned(), format!("/api?t={MASK}")),
        ("/api/v1?from={@now}".to_owned(), "/api/v1?from={@now}".to_owned()),
    ] {
        let (shown, is_masked) = masked(&Written { url: url.clone(), ..Written::default() });
        assert_eq!((shown.url, is_masked), (wanted.clone(), wanted != url));
    }
}
