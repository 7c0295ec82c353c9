//! The HTTP server of `gleaner run`: what other programs get, and who gets nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::cli::harness::{Service, Site, archived, folder, run, wait_for};

/// An answer.
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// As it came.
    #[track_caller]
    pub fn of(bytes: &[u8]) -> Self {
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no head: {bytes:?}"));
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[at + 4..].to_vec() }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            line.split_once(": ").filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        })
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The texts between two marks.
    fn all(&self, from: &str, to: &str) -> Vec<String> {
        self.text().split(from).skip(1).filter_map(|part| part.split(to).next().map(str::to_owned)).collect()
    }
}

/// Sends a request as it is written, with `Connection: close`.
pub fn send(port: u16, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let has_host = headers.iter().any(|(name, _)| *name == "Host");
    let host = if has_host { String::new() } else { format!("Host: 127.0.0.1:{port}\r\n") };
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    stream
        .write_all(format!("{method} {target} HTTP/1.1\r\n{host}{lines}Connection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    Answer::of(&bytes)
}

pub fn get(port: u16, target: &str) -> Answer {
    send(port, "GET", target, &[])
}

/// The port in the service's log, once its index is whole.
pub fn port_of(service: &Service) -> u16 {
    let up = "HTTP server is up: below this URL are api (Torznab), feeds/all.rss, api/v1/summary (JSON)";
    let line = wait_for("the server is up", || service.logged(up).into_iter().next());
    let url = line["url"].as_str().unwrap().to_owned();
    url.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap()
}

/// A crawled demo site of sixty torrents.
pub fn crawled(here: &Path) {
    let _site = Site::start(here, 60, 0);
    run(here, &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
    // Its rule file is of no use any more.
    fs::remove_dir_all(here.join("rules")).unwrap();
    fs::create_dir(here.join("rules")).unwrap();
    run(here, &["search", "--data", "data", "--rules", "rules"]).ended(0);
}

pub fn indexed(port: u16) {
    wait_for("the index can be asked", || (get(port, "/api/v1/search?q=x").status == 200).then_some(()));
}

#[test]
fn torznab_feeds_and_json_hand_out_the_archive_byte_for_byte() {
    let here = folder();
    let here = here.path();
    crawled(here);
    let stored = archived(&here.join("data"));
    let service = Service::start(here);
    let port = port_of(&service);
    indexed(port);

    assert_eq!((get(port, "/healthz").text(), get(port, "/readyz").text()), ("ok\n", "ready\n"));
    for path in [
        "/api?t=caps",
        "/api/?t=caps",
        "/torznab?t=caps",
        "/torznab/demo/api?t=caps",
        "/api/v2.0/indexers/demo/results/torznab/?t=caps",
    ] {
        let caps = get(port, path);
        assert_eq!(caps.header("content-type"), Some("application/xml; charset=utf-8"), "{path}");
        assert!(caps.text().contains("<limits default=\"100\" max=\"200\"/>"), "{path}: {}", caps.text());
    }

    // Every torrent once, newest first, page by page.
    let (mut guids, mut times) = (Vec::new(), Vec::new());
    for offset in [0, 25, 50, 75] {
        let page = get(port, &format!("/api?t=search&limit=25&offset={offset}&q=&cat="));
        assert_eq!(page.header("content-type"), Some("application/rss+xml; charset=utf-8"));
        assert!(
            page.text().contains(&format!("<newznab:response offset=\"{offset}\" total=\"60\"/>")),
            "{}",
            page.text()
        );
        guids.extend(page.all("<guid isPermaLink=\"false\">", "<"));
        times.extend(page.all("<pubDate>", "<"));
        for url in page.all("<enclosure url=\"", "\"").iter().take(3) {
            let file = get(port, url.split_once(&format!(":{port}")).unwrap().1);
            assert_eq!(
                (file.status, file.header("content-type")),
                (200, Some("application/x-bittorrent")),
                "{}",
                file.head
            );
            let hash = url.rsplit('/').next().unwrap().strip_suffix(".torrent").unwrap();
            let path = here.join(format!("data/torrents/{}/{hash}.torrent", &hash[..2]));
            assert!(file.body == fs::read(&path).unwrap(), "{url}");
            let head = send(port, "HEAD", &format!("/torrents/{hash}.torrent"), &[]);
            assert_eq!((head.status, head.body.len()), (200, 0));
            assert_eq!(head.header("content-length"), Some(&*file.body.len().to_string()), "{}", head.head);
        }
    }
    assert_eq!(guids.len(), 60);
    assert_eq!(guids.iter().cloned().collect::<BTreeSet<_>>(), stored);
    assert!(times.iter().all(|time| time.ends_with(" +0000")), "{times:?}");

    let answer = get(port, "/api?t=search&q=v1:yes&limit=1");
    let name = answer.all("<title>", "<").pop().unwrap();
    for attribute in ["size", "infohash", "downloadvolumefactor", "category"] {
        assert!(
            answer.text().contains(&format!("<torznab:attr name=\"{attribute}\" value=\"")),
            "{attribute}: {}",
            answer.text()
        );
    }
    for absent in ["seeders", "magneturl", "magnet:"] {
        assert!(!answer.text().contains(absent), "{absent}: {}", answer.text());
    }

    for (form, wanted) in
        [("rss", "application/rss+xml; charset=utf-8"), ("atom", "application/atom+xml; charset=utf-8")]
    {
        let feed = get(port, &format!("/feeds/all.{form}"));
        assert_eq!(feed.header("content-type"), Some(wanted));
        assert_eq!(feed.text().matches("type=\"application/x-bittorrent\"").count(), 60);
        let tag = feed.header("etag").unwrap();
        let again = send(port, "GET", &format!("/feeds/all.{form}"), &[("If-None-Match", tag)]);
        assert_eq!((again.status, again.body.len()), (304, 0));
        let since = feed.header("last-modified").unwrap();
        assert_eq!(send(port, "GET", &format!("/feeds/all.{form}"), &[("If-Modified-Since", since)]).status, 304);
        assert_eq!(send(port, "GET", &format!("/feeds/all.{form}"), &[("If-None-Match", "\"x\"")]).status, 200);
    }
    assert_eq!(get(port, "/feeds/site/demo.rss?limit=7").text().matches("<item>").count(), 7);
    for missing in [
        "/feeds/site/other.rss",
        "/feeds/category/1.rss",
        "/feeds/all.txt",
        "/nowhere",
        "/torrents/x.torrent",
        "/../../etc/passwd",
    ] {
        let answer = get(port, missing);
        assert_eq!((answer.status, answer.json()["status"].as_u64()), (404, Some(404)), "{missing}");
    }

    let summary = get(port, "/api/v1/summary").json();
    assert_eq!((&summary["torrents"], &summary["is_searchable"]), (&60.into(), &true.into()), "{summary}");
    let mut listed = Vec::new();
    let mut next = String::new();
    loop {
        let page = get(port, &format!("/api/v1/torrents?limit=13{next}")).json();
        listed.extend(
            page["torrents"]
                .as_array()
                .unwrap()
                .iter()
                .map(|of| of["infohash_v1"].as_str().or(of["infohash_v2"].as_str()).unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(listed, guids, "the same order");
    let found = get(port, &format!("/api/v1/search?q={}", guids[7])).json();
    assert_eq!((found["total"].as_u64(), found["next"].as_str()), (Some(1), None), "{found}");
    let files = get(port, &format!("/api/v1/torrents/{}/files", guids[7])).json();
    assert_eq!(
        files["files"].as_array().unwrap().len() as u64,
        found["torrents"][0]["file_count"].as_u64().unwrap(),
        "{files}"
    );
    for wrong in [
        "/api/v1/torrents?limit=x",
        "/feeds/all.rss?limit=0",
        "/api/v1/torrents?cursor=x",
        "/api/v1/search?cursor=-1",
        "/api/v1/torrents/abc",
    ] {
        assert_eq!((get(port, wrong).status, get(port, wrong).json()["status"].as_u64()), (400, Some(400)), "{wrong}");
    }
    assert!(!name.is_empty());
    assert!(service.stop().success());
}

#[test]
fn torznab_tells_its_errors_in_its_own_words() {
    let here = folder();
    let here = here.path();
    crawled(here);
    let service = Service::start(here);
    let port = port_of(&service);
    indexed(port);
    for (query, code) in [("", "200"), ("?t=nonsense", "202"), ("?t=movie&imdbid=abc", "201"), ("?t=get&id=1", "202")] {
        let answer = get(port, &format!("/api{query}"));
        assert!(
            answer.status == 200 && answer.text().contains(&format!("<error code=\"{code}\" description=\"")),
            "{query}: {}",
            answer.text()
        );
    }
    // A site of Jackett's lists no indexers; without a function it searches.
    assert!(get(port, "/api/v2.0/indexers/demo/results/torznab?t=indexers").text().contains("code=\"203\""));
    assert!(get(port, "/api/v2.0/indexers/all/results/torznab?t=indexers").text().contains("<indexer id=\"demo\""));
    assert_eq!(get(port, "/api/v2.0/indexers/demo/results/torznab?limit=3").text().matches("<item>").count(), 3);
    // What is not known brings nothing.
    for nothing in ["cat=99999", "tvdbid=5&t=tvsearch", "offset=1000000000000", "q=nosuchword", "cat=5000&q=nosuchword"]
    {
        let answer = get(port, &format!("/api?t=search&{nothing}"));
        assert!(
            answer.status == 200 && answer.text().contains("<channel>") && !answer.text().contains("<item>"),
            "{nothing}: {}",
            answer.text()
        );
    }
    assert!(get(port, "/torznab/nosite?t=search").text().contains("<error code=\"201\""));
    assert_eq!(
        get(port, "/torznab/demo?t=search&q=site:other").text().matches("<item>").count(),
        60,
        "no query widens a site"
    );
    assert!(service.stop().success());
}

#[test]
fn who_has_no_token_gets_nothing_where_one_is_needed() {
    let here = folder();
    let here = here.path();
    crawled(here);
    let token = |name: &str, scope: &str| {
        let ran = run(here, &["token", "new", name, "--scope", scope, "--data", "data", "--rules", "rules"]).ended(0);
        ran.out.trim().to_owned()
    };
    let torznab = token("prowlarr", "torznab");
    let service = Service::with(here, &[("GLEANER_WEB_AUTH", "all"), ("GLEANER_WEB_BASE_PATH", "/g")]);
    let port = port_of(&service);

    // Nothing but health without a token; below the base path alone.
    assert_eq!((get(port, "/g/healthz").status, get(port, "/healthz").status), (200, 404));
    for path in ["/g/api/v1/summary", "/g/feeds/all.rss"] {
        let answer = get(port, path);
        assert_eq!((answer.status, answer.json()["title"].as_str()), (401, Some("a token is needed")), "{path}");
    }
    assert!(get(port, "/g/api?t=caps").text().contains("<error code=\"100\""));
    let wrong = get(port, "/g/api?t=caps&apikey=wrong");
    assert!(wrong.status == 200 && wrong.text().contains("Incorrect user credentials"), "{}", wrong.text());
    let wrong = send(port, "GET", "/g/api/v1/summary", &[("Authorization", "Bearer wrong")]);
    assert_eq!((wrong.status, wrong.json()["title"].as_str()), (401, Some("this token is unknown")));

    // Wherever clients put it; a scope is enough for what it names.
    assert!(get(port, &format!("/g/api?t=caps&apikey={torznab}")).text().contains("<caps>"));
    for (name, value) in [("X-Api-Key", torznab.clone()), ("Authorization", format!("Bearer {torznab}"))] {
        assert_eq!(send(port, "GET", "/g/feeds/all.rss", &[(name, &value)]).status, 200, "{name}");
        let api = send(port, "GET", "/g/api/v1/summary", &[(name, &value)]);
        assert_eq!(
            (api.status, api.json()["detail"].as_str()),
            (403, Some("make another: gleaner token new NAME --scope read"))
        );
    }
    let read = token("homepage", "read");
    assert_eq!(
        send(port, "GET", "/g/api/v1/summary", &[("X-Api-Key", &read)]).status,
        200,
        "made while the service runs"
    );

    // A link opens its torrent alone, without the key, and dies with it.
    let page = get(port, &format!("/g/api?t=search&limit=2&apikey={torznab}"));
    assert!(!page.text().contains(&torznab), "a key in {}", page.text());
    let links: Vec<String> = page
        .all("<link>", "<")
        .into_iter()
        .skip(1)
        .map(|url| url.split_once(&format!(":{port}")).unwrap().1.to_owned())
        .collect();
    let [(one, code), (two, _)] = [&links[0], &links[1]].map(|link| link.split_once('?').unwrap());
    assert_eq!(get(port, &links[0]).status, 200, "{}", links[0]);
    assert_eq!(get(port, &format!("{two}?{code}")).status, 401);
    assert_eq!(get(port, one).status, 401);
    run(here, &["token", "list", "--data", "data"]).ended(0).says(&["prowlarr", "torznab", "homepage"]);
    run(here, &["token", "revoke", "prowlarr", "--data", "data"]).ended(0);
    assert_eq!(get(port, &links[0]).status, 401);
    assert!(get(port, &format!("/g/api?t=caps&apikey={torznab}")).text().contains("<error code=\"101\""));
    let revoked = send(port, "GET", "/g/api/v1/summary", &[("X-Api-Key", &torznab)]);
    assert_eq!((revoked.status, revoked.json()["title"].as_str()), (401, Some("this token is revoked")));
    run(here, &["token", "new", "homepage", "--data", "data"])
        .ended(1)
        .says(&["a token of this name exists", "hint: "]);
    run(here, &["token", "revoke", "nobody", "--data", "data"]).ended(1).says(&["no token has this name"]);

    let log = fs::read_to_string(here.join("log")).unwrap();
    let kept = fs::read_to_string(here.join("data/tokens.json")).unwrap();
    assert!(![&torznab, &read].iter().any(|key| log.contains(*key) || kept.contains(*key)), "a key is written down");
    assert!(service.stop().success());
}

#[test]
fn strangers_rebound_names_and_floods_are_refused() {
    let here = folder();
    let here = here.path();
    crawled(here);
    let service = Service::with(here, &[("GLEANER_WEB_HOSTS", "gleaner.lan")]);
    let port = port_of(&service);
    for (host, status) in [
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("gleaner.lan", 401),
        ("localhost:1", 200),
        ("[::1]", 200),
        ("", 421),
    ] {
        assert_eq!(send(port, "GET", "/api/v1/summary", &[("Host", host)]).status, status, "{host}");
    }
    // Passed on by a proxy, nobody is this machine.
    for header in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Proto"] {
        assert_eq!(send(port, "GET", "/api/v1/summary", &[(header, "127.0.0.1")]).status, 401, "{header}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(send(port, method, "/api/v1/summary", &[]).status, 405, "{method}");
    }
    let long = format!("/api?t=search&q={}", "a*+".repeat(5_000));
    assert_eq!(get(port, &long).status, 200);
    let longer = "x".repeat(1 << 20);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let _ = stream.write_all(format!("GET /api?t=search&q={longer} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");

    // More connections that never say anything than there are places: they are let go, and others come in.
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    assert_eq!(get(port, "/healthz").status, 200);
    drop(silent);
    let mut refused = None;
    for _ in 0..2_000 {
        let answer = get(port, "/api?t=caps");
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("two thousand requests at once are too many");
    assert!(
        refused.text().contains("<error code=\"500\" description=\"Request limit reached\"/>"),
        "{}",
        refused.text()
    );
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    assert!(service.stop().success());
}

#[test]
fn an_address_that_others_reach_needs_a_token_and_a_taken_port_is_told() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    let service = Service::with(here, &[("GLEANER_WEB_LISTEN", "0.0.0.0:0")]);
    let log = wait_for("the service ends", || {
        let text = fs::read_to_string(here.join("log")).unwrap();
        text.contains("no token admits them").then_some(text)
    });
    assert!(log.contains("hint: gleaner token new NAME"), "{log}");
    drop(service);

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let service = Service::with(here, &[("GLEANER_WEB_LISTEN", &taken.local_addr().unwrap().to_string())]);
    wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
    let told = service.logged("no HTTP server: the crawl goes on without");
    assert!(told.len() == 1 && told[0]["hint"].as_str().unwrap().contains("another program has this port"), "{told:?}");
    assert!(service.stop().success());

    let service = Service::with(here, &[("GLEANER_WEB_LISTEN", "off")]);
    wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
    assert!(!fs::read_to_string(here.join("log")).unwrap().contains("HTTP server"));
    assert!(service.stop().success());
}
