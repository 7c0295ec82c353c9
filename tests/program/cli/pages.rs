//! The dashboard of `gleaner run`, and `gleaner top`: what a person sees and presses, without scripts.

use std::fs;
use std::path::Path;

use crate::cli::harness::{Service, Site, folder, run, wait_for};
use crate::cli::press::post;
use crate::cli::web::{Answer, get, port_of, send};

const HTML: (&str, &str) = ("Accept", "text/html");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

fn page(port: u16, path: &str) -> Answer {
    send(port, "GET", path, &[HTML])
}

fn code(port: u16) -> String {
    let text = page(port, "/").text().to_owned();
    text.split("name=\"form\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a form").to_owned()
}

/// A torrent of one file with this name.
pub fn write_torrent(path: &Path, name: &[u8]) {
    let tracker = "http://t.example/0123456789abcdef0123456789abcdef/announce";
    let head = format!("d8:announce{}:{tracker}7:comment11:<b>evil</b>4:infod6:lengthi5e4:name", tracker.len());
    let mut bytes = head.into_bytes();
    bytes.extend(format!("{}:", name.len()).bytes());
    bytes.extend(name);
    bytes.extend(b"12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee");
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_site_is_paused_and_resumed_by_forms_and_each_page_is_there() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 20);
    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("it stores", || page(port, "/").text().contains("download").then_some(()));
    // The report is kept for two seconds.
    wait_for("the site is reported", || (page(port, "/sites/demo").status == 200).then_some(()));
    let text = page(port, "/torrents").text().to_owned();
    let hash = text.split(".torrent\"").next().and_then(|before| before.rsplit('/').next()).unwrap().to_owned();
    for path in [
        "/torrents?q=a",
        &format!("/torrents/{hash}"),
        "/sites/demo?range=all",
        "/rules",
        "/rules/demo?url=/",
        "/schedule",
        "/alarms",
        "/log",
        "/connect",
        "/exports",
        "/health",
    ] {
        let answer = page(port, path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.text().contains("</main>"), "{path}");
    }
    assert!(page(port, "/rules/demo?url=/").text().contains("taken as"));
    let refused = wait_for("a link is refused by a rule", || {
        let told = get(port, "/api/v1/sites/demo/refusals").json();
        let links = told["refusals"].as_array().cloned().unwrap_or_default();
        links.into_iter().find(|link| link["why"] == "denied" && link["line"].is_u64())
    });
    let file = fs::read_to_string(here.join("rules/demo.toml")).unwrap();
    let line = file.lines().nth(refused["line"].as_u64().unwrap() as usize - 1).unwrap();
    let pattern = refused["rule"].as_str().unwrap().trim_start_matches("deny ").trim_matches('\'');
    assert!(line.contains(pattern), "{line}: {refused}");
    assert!(page(port, "/sites/demo").text().contains(&format!("/rules/demo#l{}", refused["line"])));
    assert!(page(port, "/health").text().contains("was not checked yet"), "a page that is read starts nothing");
    let begun = post(port, "/health/examine", &[FORM, HTML], &format!("form={}&back=/health", code(port)));
    assert_eq!(begun.status, 303, "{}", begun.text());
    wait_for("the machine was examined", || {
        page(port, "/health").text().contains("confinement of scripts").then_some(())
    });
    let body = format!("form={}&back=/&act=pause", code(port));
    let answer = post(port, "/sites/demo/act", &[FORM, HTML], &body);
    assert_eq!(answer.status, 303, "{}", answer.text());
    let next = page(port, answer.header("location").unwrap());
    assert!(
        next.text().contains("demo is paused until it is resumed")
            && next.text().contains("paused until it is resumed, by this machine"),
        "{}",
        next.text()
    );
    let again = post(port, "/sites/demo/act", &[FORM, HTML], &format!("form={}&back=/&act=crawl", code(port)));
    assert!(again.status == 409 && again.text().contains("resume it first"), "{}", again.text());
    assert_eq!(
        post(port, "/sites/demo/act", &[FORM, HTML], &format!("form={}&back=/&act=resume", code(port))).status,
        303
    );
    wait_for("it is crawled", || (get(port, "/api/v1/sites/demo").json()["paused"].is_null()).then_some(()));
    run(here, &["top", "--once", "--data", "data", "--rules", "rules"])
        .ended(0)
        .says(&["All is well; sites: 1.", "demo"]);
    assert!(service.stop().success());
    run(here, &["top", "--data", "data", "--rules", "rules"]).ended(0).says(&["Nothing is crawled"]);
    run(here, &["top", "--data", "none", "--rules", "rules"]).ended(1);
}

#[test]
fn hostile_torrents_and_keys_are_harmless_in_pages_and_headers() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    let mut long = "\"'><script>alert(1)</script>\u{202e}\u{1b}[31m".to_owned().into_bytes();
    long.resize(255, b'x');
    write_torrent(&here.join("a.torrent"), &long);
    write_torrent(&here.join("b.torrent"), b"\xff\xfe</title><svg onload=x>\xc3");
    run(here, &["import", "--data", "data", "--rules", "rules", "a.torrent", "b.torrent"]).ended(0);
    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("they are found", || page(port, "/torrents?q=alert").text().contains("1 torrent").then_some(()));
    let listed = page(port, "/torrents").text().to_owned();
    let hashes: Vec<String> = listed
        .split("href=\"/torrents/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|of| of.len() == 40)
        .map(str::to_owned)
        .collect();
    assert_eq!(hashes.len(), 2, "{listed}");
    let mut paths = vec![
        "/".to_owned(),
        "/torrents".to_owned(),
        "/torrents?q=alert".to_owned(),
        "/torrents?q=%3Cscript%3Ealert".to_owned(),
    ];
    paths.extend(hashes.iter().map(|hash| format!("/torrents/{hash}")));
    for path in paths {
        let answer = page(port, &path);
        let text = answer.text();
        assert_eq!(answer.status, 200, "{path}");
        for raw in [
            "<script>alert",
            "<svg onload",
            "</title><svg",
            "<b>evil",
            "\u{202e}",
            "\u{1b}",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert!(!text.contains(raw), "{path} has {raw:?}");
        }
    }
    let file = send(port, "GET", &format!("/torrents/{}.torrent", hashes[0]), &[HTML]);
    assert_eq!((file.status, file.header("content-type")), (200, Some("application/x-bittorrent")));
    assert_eq!(get(port, &format!("/torrents/{}", hashes[0])).body, file.body, "programs get the file");
    assert!(service.stop().success());
}

#[test]
fn rules_are_edited_where_the_configuration_says_so_and_never_to_what_does_not_pass() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 20);
    let file = fs::read_dir(here.join("rules"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|of| of == "toml"))
        .unwrap();
    let before = fs::read_to_string(&file).unwrap();
    let service = Service::with(here, &[("GLEANER_WEB_EDIT_RULES", "true")]);
    let port = port_of(&service);
    wait_for("it is crawled", || page(port, "/").text().contains("crawl now").then_some(()));
    let name = file.file_stem().unwrap().to_str().unwrap();
    let made =
        run(here, &["token", "new", "editor", "--scope", "admin", "--data", "data", "--rules", "rules"]).ended(0);
    let bearer = format!("Bearer {}", made.out.trim());
    let editor = format!("/rules/{name}?edit=1");
    assert!(!page(port, &editor).text().contains("<textarea"), "whoever shows no token edits nothing");
    let value = |text: &str, field: &str| {
        let rest = text.split(&format!("name=\"{field}\" value=\"")).nth(1).expect("a field");
        rest.split('"').next().unwrap().to_owned()
    };
    let save = |text: &str| {
        let shown = send(port, "GET", &editor, &[HTML, ("Authorization", &bearer)]);
        assert!(shown.text().contains("<textarea"), "{}", shown.text());
        let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let (form, of) = (value(shown.text(), "form"), value(shown.text(), "of"));
        let body = format!("form={form}&of={of}&back=/rules/{name}&text={text}");
        post(port, &format!("/rules/{name}/save"), &[FORM, HTML, ("Authorization", &bearer)], &body)
    };
    let bad = save("start = 7");
    assert!(bad.status == 422 && bad.text().contains("Not saved"), "{}", bad.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let good = save(&format!("# from the page\r\n{}", before.replace('\n', "\r\n")));
    assert_eq!(good.status, 303, "{}", good.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("# from the page\n{before}"));
    let kept: Vec<_> = fs::read_dir(here.join("rules/history").join(name)).unwrap().collect();
    assert_eq!(kept.len(), 1);
    wait_for("it is read again", || (!service.logged("rule files changed: reloading them").is_empty()).then_some(()));
    assert!(service.stop().success());
}
