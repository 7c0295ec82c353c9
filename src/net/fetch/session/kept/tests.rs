//! Unit tests of `fetch::session::kept`.

use super::*;

fn sent(jar: &Jar, to: &str) -> String {
    let header = jar.cookies(&Url::parse(to).unwrap());
    header.map(|header| String::from_utf8(header.as_bytes().to_vec()).unwrap()).unwrap_or_default()
}

const FILE: &str = "# Netscape HTTP Cookie File\n\
        .site.example\tTRUE\t/\tFALSE\t0\tsid\tabc\n\
        #HttpOnly_www.site.example\tFALSE\t/forum\tTRUE\t4102444800\tkeep\tx=y z\r\n\
        site.example\tFALSE\t/\tFALSE\t99999999999999\tfar\t1\n\
        .site.example\tTRUE\t/\tFALSE\t1000\told\t1\n\
        .other.example\tTRUE\t/\tFALSE\t0\tsecret\tnot ours\n\
        broken line\n";

#[test]
fn a_browsers_cookies_go_to_their_hosts_and_nothing_of_other_sites_is_taken() {
    let jar = Jar::default();
    let imported = jar.import(FILE, |host| host.ends_with("site.example")).unwrap();
    let faults = vec![
        LineFault { line: 5, problem: Problem::Expired(Date::from_ordinal_date(1970, 1).unwrap()) },
        LineFault { line: 7, problem: Problem::Fields(1) },
    ];
    assert_eq!(imported, Imported { taken: 3, foreign: 1, expired: 1, faults, faulty: 2 });
    assert_eq!(sent(&jar, "https://www.site.example/forum/a"), "keep=x=y z; sid=abc");
    assert_eq!(sent(&jar, "http://www.site.example/forum/a"), "sid=abc", "secure ones over TLS only");
    assert_eq!(sent(&jar, "http://site.example/"), "sid=abc; far=1");
    assert_eq!(sent(&jar, "http://other.example/"), "");
    assert_eq!(jar.import("<html>\nx\n", |_| true).unwrap().taken, 0);
}

#[test]
fn each_fault_of_a_cookies_file_has_its_line_and_its_own_sentence() {
    let told = |text: &str| match Jar::default().import(text, |_| true) {
        Ok(imported) => imported.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Err(error) => error.to_string(),
    };
    let good = "h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n";
    assert_eq!(told(good), "");
    for (text, expected) in [
        (
            format!("# x\n{good}h.example\tFALSE\t/\tFALSE\t1000\tsid\tabc\n"),
            "line 3: this cookie expired on 1970-01-01",
        ),
        (format!("{good}\nh.example FALSE / FALSE 0 sid abc\n"), "line 3: its fields are separated by spaces"),
        (format!("{good}h.example\tFALSE\t/\n"), "line 2: it has 3 of the seven fields"),
        (
            format!("{good}h.example\tFALSE\tno path\tFALSE\t0\tsid\tabc\n"),
            "line 2: its host, path or expiry is invalid",
        ),
        // Would be an attribute of the header that sets it: URLs may have such a host, cookies may not.
        (
            format!("{good};Max-Age=1;.h.example\tTRUE\t/\tFALSE\t0\tsid\tabc\n"),
            "line 2: its host, path or expiry is invalid",
        ),
        (format!("{good}\u{fffd}.example\tFALSE\tx\tFALSE\t0\ta\tb\n"), "line 2: it is not UTF-8"),
        (
            format!("{good}h.example\tFALSE\t/\tFALSE\t0\tlarge\t{}", "v".repeat(limits::COOKIE_BYTES_MAX)),
            "line 2: no browser would store",
        ),
        (String::new(), "line 1: the file has no cookie in it\nhint: "),
        ("# Netscape HTTP Cookie File\n\n".to_owned(), "line 1: the file has no cookie in it\nhint: "),
        ("SQLite format 3\0\u{10}".to_owned(), "line 1: this is a browser's database"),
        (format!("{good}a\0b"), "line 2: the file is not text"),
        (" [{\"name\": \"sid\"}]".to_owned(), "line 1: this is JSON"),
    ] {
        assert!(told(&text).contains(expected), "{text:?}: {}", told(&text));
        assert!(!told(&text).contains("abc"), "{text:?}");
    }
    let many = Jar::default().import(&"x\n".repeat(1_000), |_| true).unwrap();
    assert_eq!((many.faults.len(), many.faulty), (limits::COOKIE_FAULTS_TOLD_MAX, 1_000));
}

#[test]
fn what_a_browser_had_over_tls_does_not_leave_it() {
    let jar = Jar::default();
    jar.import(FILE, |_| true).unwrap();
    assert_ne!(sent(&jar, "http://site.example/"), "");
    jar.keep_to_tls();
    assert_eq!(sent(&jar, "http://site.example/"), "");
    assert_ne!(sent(&jar, "https://site.example/"), "");
    let again = Jar::default();
    again.take_up(&jar.to_bytes()).unwrap();
    assert_eq!(sent(&again, "http://site.example/"), "", "nor after a restart");
}

#[test]
fn a_jar_comes_back_as_it_was() {
    let jar = Jar::default();
    jar.import(FILE, |_| true).unwrap();
    let bytes = jar.to_bytes();
    let again = Jar::default();
    let before = again.changes();
    assert_eq!(again.take_up(&bytes).unwrap(), 4);
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(before, again.changes(), "what is on the disk already is no change");
    for to in ["https://www.site.example/forum/a", "http://site.example/", "http://other.example/"] {
        assert_eq!(sent(&again, to), sent(&jar, to));
    }
    jar.clear();
    assert_eq!(sent(&jar, "http://site.example/"), "");
    assert_eq!(Jar::default().take_up(&Jar::default().to_bytes()).unwrap(), 0, "ours may hold nothing");
    for (bytes, expected) in [
        ("{", "line 1, column 1: this is not JSON"),
        ("[]", "it is empty"),
        (" ", "it is empty"),
        ("{\"a\":1}", "line 1, column 7: this is not a cookie or token written by gleaner"),
        ("[\n\"hunter2\"]", "line 2, column 9: this is not a cookie or token written by gleaner"),
        ("hunter2", "line 1, column 1: this is not JSON"),
    ] {
        let told = again.take_up(bytes.as_bytes()).unwrap_err().to_string();
        assert!(told.contains(expected) && !told.contains("hunter2") && !told.contains("enum"), "{bytes}: {told}");
    }
    let wide = br#"[{"name":"a","value":"b","domain":"co.uk","host_only":false,"path":"/","expires":null,"secure":false,"http_only":false}]"#;
    assert_eq!(Jar::default().take_up(wide).unwrap(), 0, "nobody may set a cookie for a public suffix");
}
