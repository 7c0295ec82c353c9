//! `gleaner sources`: hosts that pages and torrents of known sites name are proposed, and none of them is asked for anything.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::cli::harness::{Ran, Service, folder, run, wait_for};

/// A torrent that announces to this URL.
fn torrent(name: &str, announce: &str, comment: &str) -> Vec<u8> {
    let text = |text: &str| format!("{}:{text}", text.len());
    let (name, announce, comment) = (text(name), text(announce), text(comment));
    let head = format!(
        "d8:announce{announce}7:comment{comment}4:infod6:lengthi5e4:name{name}12:piece lengthi16384e6:pieces20:"
    );
    [head.as_bytes(), &[b'p'; 20], b"ee"].concat()
}

/// Serves a start page with links to four torrents until the process ends; returns its port.
fn serve(name: &'static str, links: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = vec![0; 4_096];
            let length = stream.read(&mut asked).unwrap_or(0);
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let path = asked.split(' ').nth(1).unwrap_or_default();
            let (status, kind, body) = match path.strip_suffix(".torrent") {
                Some(number) => {
                    let bytes = torrent(
                        &format!("{name}{number}"),
                        "https://tracker.announced.example/KEY0123/a",
                        "see https://third.example/7",
                    );
                    ("200 OK", "application/x-bittorrent", bytes)
                }
                None if path == "/" => {
                    let torrents: String = (0..4).map(|n| format!("<a href='/{n}.torrent'>{n}</a>\n")).collect();
                    ("200 OK", "text/html", format!("<html><body>{torrents}{links}</body></html>").into_bytes())
                }
                None => ("404 Not Found", "text/plain", Vec::new()),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    port
}

fn write_rules(here: &Path, name: &str, port: u16) {
    let text = format!(
        "enabled = true\nstart = ['http://127.0.0.1:{port}/']\nhosts = ['127.0.0.1:{port}', '{name}.own.example']\n[classes]\n\
         index = ['^/$']\ndownload = ['\\.torrent$']\n[rate]\nrequests_per_second = 500.0\n"
    );
    fs::create_dir_all(here.join("rules")).unwrap();
    fs::write(here.join(format!("rules/{name}.toml")), text).unwrap();
}

fn sources(here: &Path, more: &[&str]) -> Ran {
    run(here, &[&["sources", "--data", "data", "--rules", "rules"], more].concat())
}

fn hosts(report: &Value) -> Vec<&str> {
    report["proposals"].as_array().unwrap().iter().map(|of| of["host"].as_str().unwrap()).collect()
}

#[test]
fn hosts_that_sites_name_are_proposed_refused_and_never_asked() {
    let here = folder();
    let here = here.path();
    // Whoever connects stays in the backlog.
    let third = TcpListener::bind("127.0.0.1:0").unwrap();
    third.set_nonblocking(true).unwrap();
    let port = third.local_addr().unwrap().port();
    let links = format!(
        "<a href='http://127.0.0.1:{port}/'>Best torrent tracker</a><p><a href='http://www.third.example:{port}/'>Linux torrents</a>\
         <p><a href='https://a.own.example/x'>torrents</a> <a href='https://img.b.own.example/x'>torrents</a>\
         <p><a href='https://shop.example/?passkey=0123456789abcdef0123456789abcdef'>Shop</a>"
    );
    for name in ["a", "b"] {
        write_rules(here, name, serve(name, links.clone()));
    }
    let crawl = run(here, &["crawl", "--data", "data", "--rules", "rules", "-v"]).ended(0);
    assert!(!crawl.err.contains("third.example") && !crawl.err.contains(&format!(":{port}")), "{}", crawl.err);

    let report = sources(here, &["--json"]).ended(0).json();
    assert_eq!(hosts(&report), ["third.example", "announced.example", "shop.example"], "{report}");
    let best = &report["proposals"][0];
    let told = |key: &str| best[key].as_u64().unwrap();
    assert_eq!((told("linking_sites"), told("sites_with_words"), told("pages")), (2, 2, 2), "{best}");
    assert_eq!((told("named_torrents"), told("announced_torrents")), (8, 0), "{best}");
    assert_eq!(
        (&best["learn"], &best["rule_file"]),
        (&"gleaner rules learn https://third.example/".into(), &Value::Null)
    );
    assert_eq!(best["links"][0]["site"], "a");
    assert!(best["links"][0]["page"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{best}");
    assert_eq!((&report["torrents_read"], &report["sites"]), (&8.into(), &2.into()));
    sources(here, &["--limit", "1"]).ended(0).says(&[
        "third.example",
        "2 pages of 2 sites link to it",
        "8 torrents name it",
        "next: gleaner rules learn https://third.example/",
        "2 more: --limit",
        "nothing was asked of these hosts",
    ]);

    sources(here, &["--refuse", "thrid.example"])
        .ended(0)
        .says(&["nothing has named it", "did you mean third.example?"]);
    sources(here, &["--forget", "thrid.example"]).ended(0);
    for wrong in ["127.0.0.1", "no host", "com", "https://", "a\u{1b}[31m"] {
        sources(here, &["--refuse", wrong]).ended(1).says(&["not the name of a public host", "hint: "]);
    }
    sources(here, &["--refuse", "https://www.third.example/x"]).ended(0).says(&["third.example is refused"]);
    sources(here, &["--refuse", "third.example"]).ended(0).says(&["was refused before"]);

    // The same from and beside a service that holds the folder.
    let service = Service::start(here);
    wait_for("the service is up", || (!service.logged("service is up").is_empty()).then_some(()));
    let report = sources(here, &["--json"]).ended(0).json();
    assert_eq!(hosts(&report), ["announced.example", "shop.example"], "{report}");
    assert_eq!(report["refused"], serde_json::json!(["third.example"]));
    let refused = sources(here, &["--refuse", "shop.example", "--json"]).ended(0).json();
    assert_eq!(refused, serde_json::json!({ "host": "shop.example", "is_refused": true, "is_new": true }));
    sources(here, &["--forget", "shpo.example"]).ended(1).says(&["not refused", "did you mean shop.example?"]);
    sources(here, &["--forget", "third.example"]).ended(0).says(&["no longer refused"]);
    let report = sources(here, &["--json"]).ended(0).json();
    assert_eq!(hosts(&report), ["third.example", "announced.example"], "{report}");
    let log = fs::read_to_string(here.join("log")).unwrap();
    assert!(!log.contains("third.example") && !log.contains(&format!(":{port}")), "{log}");
    assert!(service.stop().success());

    assert_eq!(third.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a proposed host was connected to");
    // A known host is no proposal, crawled or not.
    fs::write(here.join("rules/c.toml"), "start = ['https://third.example/']\nclasses.index = ['^/$']\n").unwrap();
    assert_eq!(hosts(&sources(here, &["--json"]).ended(0).json()), ["announced.example"]);
}

#[test]
fn without_a_crawl_there_is_nothing_to_propose_from() {
    let here = folder();
    for more in [&["--json"][..], &[], &["--refuse", "a.example"], &["--forget", "a.example"]] {
        sources(here.path(), more).ended(1).says(&["there is no such folder", "hint: "]);
    }
    sources(here.path(), &["--limit", "0"]).ended(2).says(&["--limit"]);
    sources(here.path(), &["--refuse", "a.example", "--forget", "a.example"]).ended(2);
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}
