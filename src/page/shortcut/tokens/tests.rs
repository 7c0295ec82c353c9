//! Unit tests of `shortcut::tokens`.

use super::*;

#[test]
fn what_is_called_like_a_token_is_known_and_no_author_is_one() {
    for name in ["x-auth", "userAuth", "X-CSRF", "sid", "PHPSESSID", "jwt", "api_pass", "_wpnonce", "sig", "passkey"] {
        assert!(is_of_access(name), "{name}");
    }
    for name in ["author", "inside", "design", "passage", "accept", "announce", "page", "residence"] {
        assert!(!is_of_access(name), "{name}");
    }
}

#[test]
fn what_may_be_a_token_is_known_wherever_it_stands_and_names_dates_and_queries_are_none() {
    let token = "SECRETab12cd34ef56ab78cd";
    for (part, text, found) in [
        ("header.x-app", token, token),
        ("header.x-app", "Bearer K89769362", "K89769362"),
        ("query.t", "a1b2c3d4", "a1b2c3d4"),
        ("query.t", "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("form.auth", "123456", "123456"),
        ("json.me.sid", "a-1", "a-1"),
        ("bare.sid~1", "12345", "12345"),
        ("query.variables", "{\"page\":1,\"me\":\"SECRETab12cd34ef56ab78cd\"}", token),
        ("query.variables", "{\"sid\": \"a1\",\"by\":\"", "a1"),
        ("path.2", "0123456789abcdef0", "0123456789abcdef0"),
        ("query.t", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.x"),
    ] {
        assert_eq!(secrets(part, text), [found], "{part} {text}");
    }
    for (part, text) in [
        ("header.accept", "application/vnd.site.v12345+json"),
        ("header.x-client", "web-2"),
        ("header.authorization", "Bearer {@before.access1}"),
        ("query.cat", "tv-shows-2"),
        ("query.from", "2026-11-22"),
        ("query.sort", "20261122"),
        ("query.keyword", "linux"),
        ("query.q", "debian-13-amd64"),
        ("query.tracker", "udp://tracker1.example:1337/a1b2c3d4e5"),
        ("query.action", "wpTorrents2Load"),
        ("json.query", "query List2($page:Int){torrents2024(page:$page){id,magnet2link}}"),
        (
            "query.extensions",
            "{\"persistedQuery\":{\"version\":1,\"sha256Hash\":\"ecf4edb46db40b5132295c0291d62fb6\"}}",
        ),
        ("path.1", "2026-11-21-debian-13-amd64"),
        ("path.0", "api"),
    ] {
        assert!(secrets(part, text).is_empty(), "{part} {text}");
    }
}
