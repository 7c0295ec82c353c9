//! The JSON API of `gleaner run`: reports as the commands print them, the log, and what happens as it happens.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::cli::harness::{Service, Site, folder, run, truth, wait_for};
use crate::cli::press::post;
use crate::cli::web::{crawled, get, indexed, port_of, send};

#[test]
fn reports_are_those_of_the_commands_and_the_log_is_read_page_by_page() {
    let here = folder();
    let here = here.path();
    crawled(here);
    let service = Service::start(here);
    let port = port_of(&service);
    indexed(port);
    let printed = |words: &[&str]| run(here, &[words, &["--data", "data", "--json"]].concat());

    assert_eq!(get(port, "/api/v1/coverage").json(), printed(&["coverage"]).ended(0).json());
    let of_site = get(port, "/api/v1/sites/demo/coverage").json();
    assert_eq!(of_site, get(port, "/api/v1/coverage").json()["sites"][0]);
    assert_eq!(get(port, "/api/v1/sites").json()["sites"][0]["torrents"], 60);
    assert_eq!(get(port, "/api/v1/sites").json()["sites"][0]["is_disabled"], Value::Null, "nobody has looked");
    for (report, command) in [("delay", "delay"), ("schedule", "schedule")] {
        // A plan is that of its second: between the two, the next one may begin.
        wait_for(report, || {
            let answer = get(port, &format!("/api/v1/sites/demo/{report}"));
            let ran = printed(&[command, "demo"]);
            match ran.code {
                Some(0) => (answer.json() == ran.json()).then_some(()),
                _ => ((answer.status, answer.json()["status"].as_u64()) == (404, Some(404))).then_some(()),
            }
        });
    }
    let lists = get(port, "/api/v1/sites/demo/lists").json();
    assert_eq!(lists["total"].as_u64(), lists["lists"].as_array().map(|lists| lists.len() as u64), "{lists}");
    for missing in ["lists", "schedule", "coverage", "delay"] {
        let answer = get(port, &format!("/api/v1/sites/other/{missing}"));
        assert_eq!(
            (answer.status, answer.json()["title"].as_str()),
            (404, Some("no site is called other")),
            "{missing}"
        );
    }

    let counted = |q: &str| {
        let rows = get(port, &format!("/api/v1/categories?q={q}")).json();
        let parents =
            rows.as_array().unwrap().iter().filter(|row| row["number"].as_u64().is_some_and(|of| of < 100_000));
        parents.map(|row| row["torrents"].as_u64().unwrap()).sum::<u64>()
    };
    assert!(counted("") > 0 && counted("site:demo") == counted("") && counted("site:other") == 0);

    let tag = get(port, "/api/v1/categories").header("etag").unwrap().to_owned();
    let again = send(port, "GET", "/api/v1/categories", &[("If-None-Match", &tag)]);
    assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(&*tag)));

    // Page by page it is what it is at once.
    let messages = |log: &Value| -> Vec<String> {
        log["lines"].as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    };
    let whole = messages(&get(port, "/api/v1/log?level=info&limit=1000").json());
    assert!(whole.contains(&"service is up".to_owned()), "{whole:?}");
    let (mut pages, mut next) = (Vec::new(), String::new());
    loop {
        let page = get(port, &format!("/api/v1/log?level=info&limit=2{next}")).json();
        pages.extend(messages(&page));
        match page["next"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(pages, whole);
    assert_eq!(messages(&get(port, "/api/v1/log?site=nobody").json()), [""; 0]);
    for wrong in [
        "log?level=loud",
        "log?limit=0",
        "log?limit=1001",
        "log?cursor=-1",
        "log?lines=5",
        "torrents?limit=201",
        "search?order=best",
        "events?kinds=all",
        "sites/demo/lists?limit=10001",
        "torrents?limit=5&limit=6",
        "sites/%ff/lists",
    ] {
        let answer = get(port, &format!("/api/v1/{wrong}"));
        assert_eq!((answer.status, answer.json()["status"].as_u64()), (400, Some(400)), "{wrong}");
        assert!(!answer.json()["detail"].as_str().unwrap().is_empty(), "{wrong}");
    }
    assert!(service.stop().success());
}

/// The first line of the answer, left unread.
fn status_of(listener: &Listener) -> String {
    let mut bytes = [0; 64];
    let read = loop {
        match listener.0.get_ref().peek(&mut bytes).unwrap() {
            read if read > 20 => break read,
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

/// A client of the events.
pub struct Listener(BufReader<TcpStream>);

impl Listener {
    pub fn start(port: u16, query: &str, last: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET /api/v1/events{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nLast-Event-ID: {last}\r\n\r\n")
            .unwrap();
        Self(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next event: its kind, its id and its data.
    pub fn event(&mut self) -> (String, String, Value) {
        let (mut kind, mut id) = (String::new(), String::new());
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some(("event", of)) => kind = of.to_owned(),
                Some(("id", of)) => id = of.to_owned(),
                Some(("data", of)) => return (kind, id, serde_json::from_str(of).unwrap()),
                _ => {}
            }
        }
    }
}

#[test]
fn events_come_as_they_happen_and_a_stream_goes_on_where_one_ended() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 20);
    let service = Service::start(here);
    let port = port_of(&service);
    let mut all = Listener::start(port, "", "0-0");
    let (mut found, mut ids, mut kinds) = (Vec::new(), Vec::new(), BTreeSet::new());
    let wanted = truth(here);
    let hash =
        |torrent: &Value| torrent["infohash_v1"].as_str().or(torrent["infohash_v2"].as_str()).unwrap().to_owned();
    while found.iter().cloned().collect::<BTreeSet<_>>() != wanted || kinds.len() < 3 {
        let (kind, id, data) = all.event();
        if kind == "torrent" {
            found.push(hash(&data));
            ids.push(id);
        }
        kinds.insert(kind);
    }
    assert_eq!(kinds, ["log", "sites", "torrent"].map(str::to_owned).into());
    // From the middle on, nothing is missing.
    let middle = ids.len() / 2;
    let mut rest = Listener::start(port, "?kinds=torrent", &ids[middle]);
    let mut seen: BTreeSet<String> = found[..=middle].iter().cloned().collect();
    while seen != wanted {
        let (kind, _, data) = rest.event();
        assert_eq!(kind, "torrent");
        seen.insert(hash(&data));
    }
    drop((all, rest));

    // Those that never read hold the places, and cost nobody else anything.
    let silent: Vec<Listener> = std::iter::repeat_with(|| Listener::start(port, "", "0-0"))
        .take_while(|listener| status_of(listener).contains(" 200 "))
        .take(80)
        .collect();
    assert_eq!(silent.len(), 64, "as many places as there are");
    assert_eq!(get(port, "/api/v1/summary").json()["torrents"], 60);
    drop(silent);
    wait_for("a place is free", || {
        let mut listener = Listener::start(port, "?kinds=log", "");
        listener.line().contains(" 200 ").then_some(())
    });
    assert!(fs::metadata(here.join("log")).is_ok() && service.stop().success());
}

#[test]
fn a_stream_ends_with_its_token() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    fs::create_dir(here.join("data")).unwrap();
    let made = run(here, &["token", "new", "page", "--scope", "read", "--data", "data", "--rules", "rules"]).ended(0);
    let service = Service::with(here, &[("GLEANER_WEB_AUTH", "all")]);
    let port = port_of(&service);
    let mut listener = Listener::start(port, &format!("?apikey={}", made.out.trim()), "");
    assert!(listener.line().contains(" 200 "));
    run(here, &["token", "revoke", "page", "--data", "data"]).ended(0);
    // The rest of the answer, until its last chunk.
    wait_for("the stream has ended", || (listener.line() == "0").then_some(()));
    assert!(service.stop().success());
}

#[test]
fn a_stream_ends_with_its_session() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    fs::create_dir(here.join("data")).unwrap();
    let made = run(here, &["token", "new", "page", "--scope", "read", "--data", "data", "--rules", "rules"]).ended(0);
    let service = Service::with(here, &[("GLEANER_WEB_AUTH", "all")]);
    let port = port_of(&service);
    let body = format!("{{\"token\": \"{}\"}}", made.out.trim());
    let begun = post(port, "/session", &[("Content-Type", "application/json")], &body);
    let cookie = begun.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let mut listener = Listener::start(port, "", &format!("0-0\r\nCookie: {cookie}"));
    assert!(listener.line().contains(" 200 "));
    assert_eq!(send(port, "DELETE", "/session", &[("Cookie", &cookie)]).status, 204);
    wait_for("the stream has ended", || (listener.line() == "0").then_some(()));
    assert!(service.stop().success());
}

#[test]
fn a_torrent_has_what_its_file_says_and_a_search_its_doubts_and_its_magnets() {
    let here = folder();
    let here = here.path();
    crawled(here);
    run(here, &["export", "all.jsonl", "--data", "data"]).ended(0);
    let lines = fs::read_to_string(here.join("all.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let service = Service::start(here);
    let port = port_of(&service);
    indexed(port);
    for line in lines.iter().take(5) {
        let hash = line["infohash_v1"].as_str().or(line["infohash_v2"].as_str()).unwrap();
        let told = get(port, &format!("/api/v1/torrents/{hash}")).json();
        assert_eq!(told["name"], line["name"]);
        let fields = [
            "piece_bytes",
            "pieces",
            "created_by",
            "comment",
            "trackers",
            "web_seeds",
            "similar",
            "collections",
            "update_url",
        ];
        for field in fields {
            assert_eq!(told["file"][field], line[field], "{field}: {told}");
        }
        assert!(told["file"]["piece_bytes"].as_u64() > Some(0), "{told}");
    }
    let doubtful = get(port, "/api/v1/search?q=size:big").json();
    assert_eq!(doubtful["doubts"], serde_json::json!(["size:big"]));
    for form in ["rss", "atom"] {
        let feed = get(port, &format!("/feeds/all.{form}?q=size:big"));
        assert!(feed.text().contains("; `size:big` is no filter: it is looked for as words"), "{}", feed.text());
    }

    let found = get(port, "/api/v1/search?q=has:magnet&limit=200").json();
    let magnets = found["magnets"].as_array().unwrap();
    assert!(!magnets.is_empty() && found["total"].as_u64() == Some(magnets.len() as u64), "{found}");
    assert_eq!(found["torrents"], serde_json::json!([]));
    let stored = crate::cli::harness::archived(&here.join("data"));
    for magnet in magnets {
        let hash = magnet["infohash_v1"].as_str().or(magnet["infohash_v2"].as_str()).unwrap();
        assert!(magnet["link"].as_str().unwrap().starts_with("magnet:?") && !stored.contains(hash), "{magnet}");
    }
    let torznab = get(port, "/api?t=search&q=has:magnet");
    let links = torznab.text().matches("name=\"magneturl\"").count();
    assert_eq!(links, magnets.len().min(100), "{}", torznab.text());
    assert!(!get(port, "/api?t=search&q=debian").text().contains("magnet:"));
    assert_eq!(get(port, "/feeds/all.rss?q=has:magnet").status, 400);
    let printed = run(here, &["search", "has:magnet", "--json", "--data", "data"]).ended(0).json();
    assert_eq!(printed["magnets"].as_array().unwrap().len(), magnets.len().min(20), "{printed}");
    assert_eq!(get(port, "/api/v1/search?q=").json()["total"], 60, "others find torrents alone");
    assert!(service.stop().success());
}

#[test]
fn a_saved_search_is_a_feed_and_an_indexer_that_no_query_widens() {
    let here = folder();
    let here = here.path();
    crawled(here);
    fs::write(here.join("gleaner.toml"), "[[search]]\nname = \"new\"\nquery = \"v1:yes -nosuchword\"\n").unwrap();
    let service = Service::start(here);
    let port = port_of(&service);
    indexed(port);
    let count = |target: &str, mark: &str| get(port, target).text().matches(mark).count();
    let wanted = get(port, "/api/v1/search?q=v1:yes").json()["total"].as_u64().unwrap() as usize;
    assert!(wanted > 0 && wanted < 60, "{wanted}");
    assert_eq!(count("/feeds/saved/new.rss?limit=200", "<item>"), wanted);
    assert_eq!(count("/feeds/saved/new.atom?limit=200", "<entry>"), wanted);
    for path in [
        "/torznab/search:new?t=search",
        "/torznab/search:new/api?t=search",
        "/torznab/search:new/api?t=search&q=v1:yes",
    ] {
        assert_eq!(count(path, "<item>"), wanted, "{path}");
    }
    // Neither filters nor categories of a query bring what the search has not.
    let others = get(port, "/api/v1/search?q=v1:no").json()["total"].as_u64().unwrap();
    assert!(others > 0);
    assert_eq!(
        count("/torznab/search:new?t=search&q=v1:no", "<item>") + count("/feeds/saved/new.rss?q=v1:no", "<item>"),
        0
    );
    assert!(get(port, "/torznab/search:new?t=caps").text().contains("<caps>"));
    assert!(get(port, "/torznab/search:old?t=search").text().contains("<error code=\"201\""));
    assert_eq!(get(port, "/feeds/saved/old.rss").status, 404);
    let listed = get(port, "/api/v1/searches").json();
    assert_eq!((&listed[0]["name"], &listed[0]["query"]), (&"new".into(), &"v1:yes -nosuchword".into()));
    assert!(listed[0]["torznab"].as_str().unwrap().ends_with("/torznab/search:new"), "{listed}");
    assert!(service.stop().success());
    fs::write(here.join("gleaner.toml"), "[[search]]\nname = \"new\"\nquery = \"debian cats:5\"\n").unwrap();
    run(here, &["config", "check"]).ended(1).says(&["gleaner.toml:3:9: error: `cats:5` is no filter"]);
}
