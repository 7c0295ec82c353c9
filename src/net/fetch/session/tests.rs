//! Cookies: which are stored, the order in which they are sent, and the limits under a flood of them.

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A jar after a response from `from` set these cookies.
fn jar(from: &str, set: &[&str]) -> Jar {
    let jar = Jar::default();
    let headers: Vec<HeaderValue> = set.iter().map(|text| HeaderValue::from_bytes(text.as_bytes()).unwrap()).collect();
    jar.set(headers.iter(), &url(from), None);
    jar
}

fn header(jar: &Jar, to: &str) -> Option<String> {
    let sent = jar.cookies(&url(to))?;
    assert!(sent.is_sensitive());
    Some(std::str::from_utf8(sent.as_bytes()).unwrap().to_owned())
}

/// What is sent to `to` after `from` set one cookie.
fn sent_from(from: &str, set: &str, to: &str) -> Option<String> {
    header(&jar(from, &[set]), to)
}

/// What is sent to a host after `www.a.co.uk` set this cookie.
fn sent(set: &str, to: &str) -> Option<String> {
    sent_from("http://www.a.co.uk/", set, to)
}

#[test]
fn a_cookie_for_a_public_suffix_is_not_kept() {
    for domain in ["co.uk", ".co.uk", "CO.UK", "uk"] {
        assert_eq!(sent(&format!("s=1; Domain={domain}"), "http://b.co.uk/"), None, "{domain}");
        assert_eq!(sent(&format!("s=1; Domain={domain}"), "http://www.a.co.uk/"), None, "{domain}");
    }
}

#[test]
fn letters_beyond_ascii_do_not_hide_a_public_suffix() {
    assert_eq!(sent("s=é; Domain=co.uk", "http://b.co.uk/"), None);
    assert_eq!(sent("s=1; Domain=b; Domain=۞>; Domain=.uk", "http://b.co.uk/"), None);
}

#[test]
fn a_host_that_is_a_public_suffix_keeps_its_own_cookies_for_itself() {
    let set = "s=1; Domain=github.io";
    assert_eq!(sent_from("http://github.io/", set, "http://github.io/"), Some("s=1".to_owned()));
    assert_eq!(sent_from("http://github.io/", set, "http://a.github.io/"), None);
}

#[test]
fn a_cookie_for_the_site_goes_to_its_hosts_and_to_no_other() {
    assert_eq!(sent("s=1; Domain=a.co.uk", "http://dl.a.co.uk/"), Some("s=1".to_owned()));
    assert_eq!(sent("s=1", "http://www.a.co.uk/x"), Some("s=1".to_owned()));
    assert_eq!(sent("s=1", "http://dl.a.co.uk/"), None);
    assert_eq!(sent("s=1; Domain=a.co.uk", "http://b.co.uk/"), None);
    assert_eq!(sent("s=1; Domain=b.co.uk", "http://b.co.uk/"), None);
    assert_eq!(sent("s=1; Secure", "http://www.a.co.uk/"), None);
}

#[test]
fn what_may_be_kept_and_what_not() {
    let pair = |bytes: usize| format!("n={}", "v".repeat(bytes - 1));
    let long = "x".repeat(limits::COOKIE_ATTRIBUTE_BYTES_MAX + 1);
    let cases: &[(&str, &str, bool)] = &[
        ("https", "a=b", true),
        ("https", "", false),
        ("https", "no pair", false),
        ("https", "=nameless", false),
        ("https", "a=", true),
        ("https", "a=\u{4e2d}\u{6587}", true),
        ("https", "a=b\tc", true),
        // Control characters.
        ("https", "a=b\0c", false),
        ("https", "a=b\r\nX: y", false),
        ("https", "a=b\x7f", false),
        ("https", "a\x1b=b", false),
        ("https", "a=b; Path=/\x01", false),
        // Size: name and value together.
        ("https", &pair(limits::COOKIE_BYTES_MAX), true),
        ("https", &pair(limits::COOKIE_BYTES_MAX + 1), false),
        ("https", &pair(100_000), false),
        // An attribute that is too long is ignored.
        ("https", &format!("a=b; Comment={long}"), true),
        ("https", &format!("a=b; Path=/{long}"), true),
        ("https", &format!("a=b; Domain={long}"), true),
        ("https", "a=b; Path=/elsewhere", false),
        // Age.
        ("https", "a=b; Max-Age=60", true),
        ("https", "a=b; Max-Age=0", false),
        ("https", "a=b; Max-Age=-5", false),
        ("https", "a=b; Max-Age=99999999999999999999999999", true),
        ("https", "a=b; Max-Age=soon", true),
        ("https", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
        ("https", "a=b; Expires=Fri, 31 Dec 2100 23:59:59 GMT", true),
        ("https", "a=b; Expires=never", true),
        // Secure requires TLS.
        ("https", "a=b; Secure", true),
        ("http", "a=b; Secure", false),
        // Prefixes, in any case.
        ("https", "__Secure-a=b; Secure", true),
        ("https", "__Secure-a=b", false),
        ("https", "__SECURE-a=b", false),
        ("http", "__Secure-a=b; Secure", false),
        ("https", "__Host-a=b; Secure; Path=/", true),
        ("https", "__host-a=b; Secure; Path=/", true),
        ("https", "__Host-a=b; Path=/", false),
        ("https", "__Host-a=b; Secure", false),
        ("https", "__Host-a=b; Secure; Path=/x", false),
        ("https", "__Host-a=b; Secure; Path=/; Domain=site.example", false),
        ("http", "__Host-a=b; Secure; Path=/", false),
        ("https", "__Ho=b", true),
        ("https", "\u{4e2d}\u{6587}\u{5b57}=b", true),
    ];
    for (scheme, text, kept) in cases {
        let mut cookies = Cookies::default();
        let from = url(&format!("{scheme}://site.example/x"));
        cookies.set(text, &from, None);
        let shown: String = text.chars().take(80).collect();
        assert_eq!(cookies.header(&from).is_some(), *kept, "{scheme} {shown:?}");
    }
}

#[test]
fn bytes_that_are_no_utf8_are_no_cookie() {
    let jar = Jar::default();
    let header = HeaderValue::from_bytes(b"a=\xd6\xd0").unwrap();
    jar.set(std::iter::once(&header), &url("http://a.example/"), None);
    assert!(jar.cookies(&url("http://a.example/")).is_none());
}

#[test]
fn longer_paths_come_first_and_among_equals_the_older() {
    let set = ["a=1; Path=/", "b=2; Path=/x", "c=3; Path=/", "d=4; Path=/x/y", "e=5; Path=/z", "a=6; Path=/"];
    let jar = jar("http://s.example/x/y/z", &set);
    assert_eq!(header(&jar, "http://s.example/x/y/z").unwrap(), "d=4; b=2; a=6; c=3", "a keeps its age");
    assert_eq!(header(&jar, "http://s.example/xy").unwrap(), "a=6; c=3");
    assert_eq!(header(&jar, "http://s.example/z/").unwrap(), "e=5; a=6; c=3");
}

#[test]
fn a_cookie_that_has_expired_removes_the_one_it_names_only() {
    let set = ["a=1", "a=2; Path=/x", "b=3", "a=; Max-Age=0", "c=; Max-Age=0"];
    let jar = jar("http://s.example/", &set);
    assert_eq!(header(&jar, "http://s.example/x").unwrap(), "a=2; b=3");
}

#[test]
fn a_clock_that_is_wrong_neither_kills_a_session_nor_keeps_what_was_removed() {
    use time::macros::format_description;
    let imf = format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
    let seconds = i64::try_from(SystemClock.now().0 / 1_000).unwrap();
    let at = |seconds: i64| OffsetDateTime::from_unix_timestamp(seconds).unwrap().format(&imf).unwrap();
    let (hour, year) = (3_600, 365 * 86_400);
    // The error of the server's clock, the cookie's lifetime, whether there is a `Date`, and what is sent.
    for (off, life, has_date, is_sent) in [
        (0, hour, true, true),
        (0, -hour, true, false),
        (-3 * hour, hour, true, true),
        (-3 * hour, hour, false, false),
        (-26 * year, hour, true, true),
        (3 * hour, hour, true, true),
        // Removed with a time that is in our future: phpBB uses a year, others an hour.
        (3 * hour, -hour, true, false),
        (3 * hour, -hour, false, true),
        (-3 * hour, -hour, true, false),
        (5 * year, -year, true, false),
        // An impossible `Date` is ignored.
        (-seconds - 2_000_000_000, 2 * (seconds + 2_000_000_000), true, true),
        (70 * year, -60 * year, true, true),
    ] {
        let jar = jar("https://s.example/", &["sid=old"]);
        let mut answer = HeaderMap::new();
        let expires = at(seconds + off + life);
        answer.insert(header::SET_COOKIE, HeaderValue::from_str(&format!("sid=new; Expires={expires}")).unwrap());
        if has_date {
            answer.insert(header::DATE, HeaderValue::from_str(&at(seconds + off)).unwrap());
        }
        jar.take(&answer, &url("https://s.example/"));
        let sent = header(&jar, "https://s.example/");
        assert_eq!(sent.as_deref(), is_sent.then_some("sid=new"), "{off} {life} {has_date}");
    }
    for date in ["", "soon", "Thu, 99 Foo 2026", "Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=1", "\u{e4}"] {
        for (expires, is_sent) in [("Thu, 01 Jan 1970 00:00:00 GMT", false), ("Fri, 31 Dec 2100 23:59:59 GMT", true)] {
            let jar = Jar::default();
            let mut answer = HeaderMap::new();
            answer.insert(header::SET_COOKIE, HeaderValue::from_str(&format!("a=b; Expires={expires}")).unwrap());
            answer.insert(header::DATE, HeaderValue::from_bytes(date.as_bytes()).unwrap());
            jar.take(&answer, &url("https://s.example/"));
            assert_eq!(header(&jar, "https://s.example/").is_some(), is_sent, "{date:?} {expires}");
        }
    }
}

#[test]
fn the_oldest_of_a_domain_goes_and_other_domains_keep_theirs() {
    let jar = Jar::default();
    let set = |from: &str, text: String| {
        jar.set(std::iter::once(&HeaderValue::from_str(&text).unwrap()), &url(from), None);
    };
    set("http://other.example/", "o=1".to_owned());
    // Hosts of one registrable domain count together.
    for number in 0..limits::COOKIES_PER_DOMAIN_MAX + 3 {
        set(&format!("http://h{}.s.example/", number % 2), format!("n{number}=1; Domain=s.example"));
    }
    let sent = header(&jar, "http://s.example/").unwrap();
    assert_eq!(sent.split("; ").count(), limits::COOKIES_PER_DOMAIN_MAX);
    assert!(sent.starts_with("n3=1; n4=1;"), "{sent}");
    assert_eq!(header(&jar, "http://other.example/").unwrap(), "o=1");
}

#[test]
fn scripts_throw_out_nothing_that_is_hidden_from_them() {
    let jar = jar("https://s.example/", &["sid=secret; HttpOnly", "theme=dark"]);
    let from = url("https://s.example/");
    for number in 0..2 * limits::COOKIES_PER_DOMAIN_MAX {
        jar.set_by_script(&format!("read_{number}=1"), &from);
        let sent = header(&jar, "https://s.example/").unwrap();
        assert!(sent.starts_with("sid=secret; "), "{number}: {sent}");
    }
    let last = format!("read_{}=1", 2 * limits::COOKIES_PER_DOMAIN_MAX - 1);
    assert!(header(&jar, "https://s.example/").unwrap().ends_with(&last), "the newest is there");
    let hidden: Vec<String> =
        (0..limits::COOKIES_PER_DOMAIN_MAX).map(|number| format!("h{number}=1; HttpOnly")).collect();
    let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
    let full = self::jar("https://s.example/", &hidden);
    let before = full.changes();
    full.set_by_script("mine=1", &from);
    assert!(
        !header(&full, "https://s.example/").unwrap().contains("mine"),
        "there is none that it may have thrown out"
    );
    assert_eq!(full.changes(), before);
}

#[test]
fn the_one_that_was_used_least_recently_goes_before_older_ones() {
    let jar = Jar::default();
    let from = url("http://s.example/");
    let mut cookies = jar.lock();
    cookies.set("sid=1", &from, None);
    for number in 1..limits::COOKIES_PER_DOMAIN_MAX {
        cookies.set(&format!("n{number}=1; Path=/{number}"), &from, None);
    }
    assert_eq!(cookies.header(&url("http://s.example/2")).as_deref(), Some("n2=1; sid=1"));
    cookies.set("new=1; Path=/new", &from, None);
    assert_eq!(cookies.header(&url("http://s.example/1")).as_deref(), Some("sid=1"), "n1 has gone");
    assert_eq!(cookies.header(&url("http://s.example/2")).as_deref(), Some("n2=1; sid=1"));
}

#[test]
fn expired_cookies_go_before_the_oldest() {
    let jar = Jar::default();
    let from = url("http://s.example/");
    let mut cookies = jar.lock();
    for number in 0..limits::COOKIES_PER_DOMAIN_MAX {
        cookies.set(&format!("n{number}=1"), &from, None);
    }
    cookies.list[7].expires = CookieExpiration::from(0);
    cookies.set("new=1", &from, None);
    let names: Vec<&str> = cookies.list.iter().map(|cookie| &*cookie.name).collect();
    assert_eq!(names.len(), limits::COOKIES_PER_DOMAIN_MAX);
    assert!(names.contains(&"n0") && !names.contains(&"n7") && names.contains(&"new"), "{names:?}");
}

#[test]
fn a_site_of_many_domains_has_a_bound_too() {
    let mut cookies = Cookies::default();
    for number in 0..2 * limits::COOKIES_PER_SITE_MAX {
        cookies.set("s=1", &url(&format!("http://d{number}.example/")), None);
    }
    assert_eq!(cookies.list.len(), limits::COOKIES_PER_SITE_MAX);
    assert_eq!(cookies.header(&url("http://d0.example/")), None, "the oldest has gone");
    assert!(cookies.header(&url(&format!("http://d{}.example/", 2 * limits::COOKIES_PER_SITE_MAX - 1))).is_some());
}

#[test]
fn the_header_stays_within_what_servers_take_and_breaks_no_pair() {
    let mut set: Vec<String> = (0..20).map(|number| format!("n{number}={}", "v".repeat(3_000))).collect();
    // Small and late, so that it fits beside the large ones.
    set.push("session=secret".to_owned());
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let sent = header(&jar("http://s.example/", &set), "http://s.example/").unwrap();
    assert!(sent.len() <= limits::COOKIE_HEADER_BYTES_MAX, "{}", sent.len());
    let pairs: Vec<&str> = sent.split("; ").collect();
    assert!(pairs.iter().all(|pair| set.contains(pair)), "a broken pair");
    assert_eq!(pairs.len(), 3);
    assert_eq!(pairs[2], "session=secret");
}

#[test]
fn a_flood_in_one_answer_costs_bounded_memory_and_time() {
    let clock = gleaner_base::clock::SystemClock;
    let now = || gleaner_base::clock::Clock::now(&clock).0;
    let began = now();
    let texts: Vec<String> =
        (0..10_000).map(|number| format!("n{number}={}; Path=/{number}", "v".repeat(4_000))).collect();
    let mut cookies = Cookies::default();
    let from = url("http://s.example/");
    for text in &texts {
        cookies.set(text, &from, None);
    }
    assert_eq!(cookies.list.len(), limits::COOKIES_PER_DOMAIN_MAX);
    // 0.2 s unoptimised on the machine where it was written; quadratic work would take minutes.
    assert!(now() - began < 20_000, "{} ms", now() - began);
}

#[test]
fn a_token_goes_to_the_origin_that_gave_it_and_nowhere_else() {
    let jar = Jar::default();
    assert!(jar.set_bearer(&url("https://api.s.example/v1/login"), "eyJ0eXAi.eyJ1c2Vy.c2ln"));
    let sent = |to: &str| jar.authorization(&url(to)).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(sent("https://api.s.example/v1/torrents").as_deref(), Some("Bearer eyJ0eXAi.eyJ1c2Vy.c2ln"));
    assert!(jar.authorization(&url("https://api.s.example/")).unwrap().is_sensitive());
    for other in [
        "http://api.s.example/",
        "https://s.example/",
        "https://api.s.example:8443/",
        "https://api.s.example.evil.example/",
    ] {
        assert_eq!(sent(other), None, "{other}");
    }
    let again = Jar::default();
    assert_eq!(again.take_up(&jar.to_bytes()).unwrap(), 1);
    assert!(!again.is_empty() && again.authorization(&url("https://api.s.example/")).is_some());
    again.clear();
    assert!(again.is_empty() && again.authorization(&url("https://api.s.example/")).is_none());
}

#[test]
fn what_is_no_token_is_not_taken() {
    let (jar, from) = (Jar::default(), url("https://s.example/"));
    let long = "a".repeat(limits::BEARER_BYTES_MAX + 1);
    for token in ["", "two words", "a\r\nX-Evil: 1", "ä", "a,b", &long] {
        assert!(!jar.set_bearer(&from, token), "{token:?}");
    }
    assert!(jar.is_empty());
    let forged = br#"{ "cookies": [], "bearer": { "origin": "https://s.example", "token": "a\r\nb" } }"#;
    assert_eq!(jar.take_up(forged).unwrap(), 0);
    assert!(jar.authorization(&from).is_none());
}
