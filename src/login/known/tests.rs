//! Unit tests of `known`.

use super::*;

#[test]
fn what_is_not_known_may_be_the_login() {
    let password = Secret::new("s3cret");
    let texts = vec![
        "<meta name=csrf-token content=\"Zk4+Q/9xw81=\"><input type=hidden name=_token value=8f14e45fceea167a5a36dedd4bea2543>",
        "track('page_view'); count('115')",
    ];
    let known = KnownValues { user: "anna", password: &password, texts, now: UnixMillis(1_700_000_000_000) };
    let json = "application/json";
    let form = "application/x-www-form-urlencoded";
    for (content_type, body, expected) in [
        (form, "", true),
        (form, "e=login", true),
        ("text/plain;charset=UTF-8", "e=login", true),
        (form, "u=anna&v=1", true),
        (json, r#"{"event":"login","user":"Anna"}"#, true),
        (json, r#"{"event":"page_view","at":1700000000123,"is":true}"#, true),
        (form, "_token=8f14e45fceea167a5a36dedd4bea2543&username=anna", true),
        (json, r#"{"csrf":"Zk4+Q/9xw81="}"#, true),
        (json, r#"{"id":"9b2cf7b1-4c1d-4a53-8f0e-0f4e6b1a2c3d"}"#, true),
        // In any encoding.
        (form, "p=s3cret", false),
        (form, "p=terc3s", false),
        (form, "p=733363726574", false),
        (form, "p=czNjcmV0", false),
        ("text/plain", "czNjcmV0", false),
        ("text/plain", "czNjcmU=", false),
        ("text/plain", "czNjcg==", false),
        (form, "p=hT6/s1kQ==", false),
        (json, r#"{"p":[115,51,99,114,101,116]}"#, false),
        (json, r#"{"p":["s","3","c","r","e","t"]}"#, false),
        (json, r#"{"p":"115 51 99 114 101 116"}"#, false),
        (json, r#"{"a":"s3c","b":"ret"}"#, false),
        (json, r#"{"id":"9b2cf7b1-4c1d-1a53-8f0e-0f4e6b1a2c3d"}"#, false),
        (form, "u=anna&h=5f4dcc3b5aa765d61d8327deb882cf99", false),
        (form, "p=%73%00", false),
    ] {
        assert_eq!(known.knows(content_type, body.as_bytes(), "http://h/in", &[]), expected, "{body}");
    }
    assert!(!known.knows(form, b"", "http://h/in?k=terc3s", &[]), "a query");
    assert!(known.knows(form, b"", "http://h/in?v=1", &[]));
    let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    assert!(!known.knows(form, b"", "http://h/in", &header("X-Auth", "terc3s")), "a header");
    assert!(known.knows(form, b"", "http://h/in", &header("X-CSRF-Token", "Zk4+Q/9xw81=")));
    assert!(known.knows(form, b"", "http://h/in", &header("Accept", "application/json, text/plain, */*")));
    assert!(!known.knows(form, b"\xff\xfe", "http://h/in", &[]), "bytes");
}
