//! Real clients, from Debian and PyPI, on loopback: each takes from a served archive what it should, and what it takes is what the archive has.

mod prometheus;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cli::harness::{Service, Site, archived, folder, run, wait_for};
use crate::cli::web::{get, port_of};

const TORRENTS: usize = 60;

mod openapi;
mod pages;

/// An archive that is served.
struct Served {
    here: tempfile::TempDir,
    service: Service,
    port: u16,
}

impl Served {
    fn start() -> Self {
        Self::with("")
    }

    /// The same with this text in gleaner.toml.
    fn with(config: &str) -> Self {
        let here = folder();
        fs::write(here.path().join("gleaner.toml"), config).unwrap();
        let site = Site::start(here.path(), TORRENTS, 0);
        run(here.path(), &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
        drop(site);
        // Its rule file is of no use any more.
        fs::remove_dir_all(here.path().join("rules")).unwrap();
        fs::create_dir(here.path().join("rules")).unwrap();
        let service = Service::start(here.path());
        let port = port_of(&service);
        wait_for("the index can be asked", || (get(port, "/api/v1/search?q=x").status == 200).then_some(()));
        Self { here, service, port }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// SHA-256 of each archived file.
    fn files(&self) -> BTreeMap<Vec<u8>, String> {
        let data = self.here.path().join("data");
        let path = |hash: &String| data.join(format!("torrents/{}/{hash}.torrent", &hash[..2]));
        archived(&data).into_iter().map(|hash| (digest(&path(&hash)), hash)).collect()
    }

    fn stop(self) {
        assert!(self.service.stop().success());
    }
}

fn digest(path: &Path) -> Vec<u8> {
    Sha256::digest(fs::read(path).unwrap()).to_vec()
}

/// A program of `scripts/test-tools`.
fn tool(name: &str) -> PathBuf {
    tool_of("clients", name)
}

fn tool_of(kind: &str, name: &str) -> PathBuf {
    let path = Path::new(env!("GLEANER_ROOT")).join("target/test-tools").join(kind).join("bin").join(name);
    assert!(path.exists(), "{}: not there (scripts/test gets it)", path.display());
    path
}

/// A program of Debian's.
fn debian(name: &str) -> Command {
    let is_there = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()));
    assert!(is_there, "{name} is not there (scripts/test gets it)");
    Command::new(name)
}

/// A client that is ended with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn feedparser_and_torznab_read_everything() {
    let served = Served::start();
    let script = Path::new(env!("GLEANER_ROOT")).join("tests/program/clients/parsers.py");
    let output = Command::new(tool("python")).arg(script).arg(served.origin()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stored = archived(&served.here.path().join("data"));
    for (path, feed) in told["feeds"].as_object().unwrap() {
        assert_eq!(feed["is_well_formed"], true, "{path}");
        let entries = feed["entries"].as_array().unwrap();
        let hashes: BTreeSet<String> = entries.iter().map(|entry| entry["hash"].as_str().unwrap().to_owned()).collect();
        let is_all = !path.contains("v1:yes");
        assert!(
            if is_all { hashes == stored } else { hashes.is_subset(&stored) && hashes.len() > 30 },
            "{path}: {} entries",
            hashes.len()
        );
        for entry in entries {
            let [kind, url, length] = &entry["enclosures"][0].as_array().unwrap()[..] else { panic!("{entry}") };
            assert_eq!((kind.as_str(), &entry["time"]), (Some("application/x-bittorrent"), &true.into()), "{entry}");
            assert!(
                url.as_str().unwrap().contains(entry["hash"].as_str().unwrap()) && length.as_u64() > Some(0),
                "{entry}"
            );
        }
    }
    let items = told["torznab"].as_array().unwrap();
    let guids: BTreeSet<&str> = items.iter().map(|item| item["guid"].as_str().unwrap()).collect();
    assert_eq!(guids.len(), TORRENTS);
    for item in items {
        assert_eq!((item["factor"].as_f64(), &item["seeders"]), (Some(1.0), &Value::Null), "{item}");
        assert!(item["size"].as_u64() > Some(0) && !item["categories"].as_array().unwrap().is_empty(), "{item}");
    }
    assert_eq!((&told["nothing"], &told["limits"]), (&serde_json::json!([]), &serde_json::json!([100, 200])));
    assert!(told["categories"].as_array().unwrap().contains(&5000.into()), "{told}");
    assert_eq!(told["error"], "TorznabAPIError", "an error is told as one");
    served.stop();
}

#[test]
fn flexget_downloads_what_its_feed_and_its_search_find() {
    let served = Served::start();
    let here = served.here.path();
    let origin = served.origin();
    // It reads no torrent that is BitTorrent v2 alone.
    fs::write(
        here.join("config.yml"),
        format!(
            "templates:\n  all:\n    disable: [seen, seen_info_hash, retry_failed, torrent_files]\n    accept_all: yes\ntasks:\n  feed:\n    template: all\n    \
             rss: {origin}/feeds/all.rss?q=v1:yes&limit=25\n    download: {here}/feed/\n  search:\n    template: all\n    discover:\n      \
             release_estimations: ignore\n      interval: 1 seconds\n      what:\n        - mock:\n            - {{title: 'Musopen Collection', url: 'http://127.0.0.1/x'}}\n      \
             from:\n        - torznab: {{url: '{origin}', apikey: anything, searcher: search}}\n    download: {here}/search/\n",
            here = here.display()
        ),
    )
    .unwrap();
    for folder in ["feed", "search"] {
        fs::create_dir(here.join(folder)).unwrap();
    }
    let config = here.join("config.yml");
    let output = Command::new("timeout")
        .arg("120")
        .arg(tool("flexget"))
        .args(["-c", config.to_str().unwrap(), "--loglevel", "verbose", "execute", "--now"])
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let files = served.files();
    let taken = |folder: &str| -> Vec<Option<&String>> {
        let entries = fs::read_dir(here.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| files.get(&digest(&path))).collect()
    };
    let (feed, search) = (taken("feed"), taken("search"));
    assert_eq!(feed.len(), 25, "{log}");
    assert!(!search.is_empty(), "{log}");
    assert!(feed.iter().chain(&search).all(Option::is_some), "a file is not the archive's: {log}");
    served.stop();
}

#[test]
fn newsboat_reads_both_forms_of_a_feed() {
    let served = Served::start();
    let here = served.here.path();
    fs::write(here.join("urls"), format!("{0}/feeds/all.rss\n{0}/feeds/all.atom\n", served.origin())).unwrap();
    let newsboat = |what: &str| {
        let mut command = debian("newsboat");
        command.current_dir(here).env("HOME", here).args([
            "-u",
            "urls",
            "-c",
            "cache.db",
            "-C",
            "/dev/null",
            "-x",
            what,
        ]);
        command.output().unwrap()
    };
    newsboat("reload");
    let told = newsboat("print-unread");
    assert_eq!(String::from_utf8_lossy(&told.stdout).trim(), format!("{} unread articles", 2 * TORRENTS), "{told:?}");
    served.stop();
}

#[test]
fn qbittorrent_takes_what_a_rule_on_its_feed_names() {
    let served = Served::start();
    let here = served.here.path();
    let profile = here.join("qb");
    fs::create_dir_all(profile.join("qBittorrent/config")).unwrap();
    let port = crate::cli::harness::closed_port();
    fs::write(
        profile.join("qBittorrent/config/qBittorrent.conf"),
        format!(
            "[LegalNotice]\nAccepted=true\n[Preferences]\nWebUI\\LocalHostAuth=false\nWebUI\\Port={port}\nWebUI\\Address=127.0.0.1\n[BitTorrent]\n\
             Session\\DHTEnabled=false\nSession\\LSDEnabled=false\nSession\\PeXEnabled=false\nSession\\Interface=lo\nSession\\DefaultSavePath={}\n\
             Session\\AddTorrentPaused=true\n[RSS]\nSession\\EnableProcessing=true\nAutoDownloader\\EnableProcessing=true\n",
            here.join("save").display()
        ),
    )
    .unwrap();
    let log = fs::File::create(here.join("qb.log")).unwrap();
    let mut command = debian("qbittorrent-nox");
    command
        .arg(format!("--profile={}", profile.display()))
        .env("HOME", here)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(Stdio::null());
    let _client = Running(command.spawn().unwrap());
    let api = |path: &str, form: &[(&str, &str)]| -> Option<String> {
        let fields = form.iter().flat_map(|(name, value)| ["--data-urlencode".to_owned(), format!("{name}={value}")]);
        let output = Command::new("curl")
            .args(["-sf", "-m", "10"])
            .args(fields)
            .arg(format!("http://127.0.0.1:{port}/api/v2/{path}"))
            .output()
            .unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    wait_for("qBittorrent answers", || api("app/version", &[]));
    // All of them are in its list.
    let feed = format!("{}/feeds/all.rss?q=v1:yes", served.origin());
    let wanted: Value = serde_json::from_slice(&get(served.port, "/api/v1/search?q=v1:yes&limit=100").body).unwrap();
    let rows = wanted["torrents"].as_array().unwrap();
    let is_chinese = |row: &&Value| {
        row["name"].as_str().unwrap().chars().next().is_some_and(|of| ('\u{4e00}'..='\u{9fff}').contains(&of))
    };
    // Two torrents have one name.
    let is_one = |row: &&Value| rows.iter().filter(|other| other["name"] == row["name"]).count() == 1;
    let row = rows.iter().filter(is_chinese).find(is_one).expect("a name in Chinese");
    let rule = serde_json::json!({ "enabled": true, "useRegex": false, "mustContain": row["name"], "affectedFeeds": [feed], "addPaused": true });
    api("rss/setRule", &[("ruleName", "one"), ("ruleDef", &rule.to_string())]).unwrap();
    api("rss/addFeed", &[("url", &feed), ("path", "gleaner")]).unwrap();
    let taken = wait_for("the rule takes its torrent", || {
        let torrents: Value = serde_json::from_str(&api("torrents/info", &[])?).ok()?;
        torrents.as_array().filter(|torrents| !torrents.is_empty()).map(|torrents| torrents[0].clone())
    });
    assert_eq!((&taken["hash"], &taken["name"]), (&row["infohash_v1"], &row["name"]));
    served.stop();
}

#[test]
fn transmission_takes_what_is_handed_over_to_its_watch_folder() {
    // It refuses torrents with BitTorrent v2 in them.
    let served = Served::with("[[handover]]\nname = 'box'\nfolder = 'watch'\nsearch = 'v2:no'\nsince = 'all'\n");
    let here = served.here.path();
    let (watch, port, peers) =
        (here.join("watch"), crate::cli::harness::closed_port(), crate::cli::harness::closed_port());
    fs::create_dir(&watch).unwrap();
    let mut command = debian("transmission-daemon");
    command.args(["--foreground", "--paused", "--no-auth", "--no-dht", "--no-lpd", "--no-utp", "--no-portmap"]);
    command.args(["--rpc-bind-address", "127.0.0.1", "--bind-address-ipv4", "127.0.0.1", "--allowed", "127.0.0.1"]);
    command.args(["--port", &port.to_string(), "--peerport", &peers.to_string()]);
    for (option, path) in
        [("--config-dir", here.join("tr")), ("--download-dir", here.join("save")), ("--watch-dir", watch.clone())]
    {
        command.arg(option).arg(path);
    }
    command.env("HOME", here).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _client = Running(command.spawn().unwrap());
    let url = format!("http://127.0.0.1:{port}/transmission/rpc");
    let curl = |arguments: &[&str]| {
        let output = Command::new("curl").args(["-s", "-m", "10"]).args(arguments).arg(&url).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let session = wait_for("Transmission answers", || {
        let head = curl(&["-D", "-", "-o", "/dev/null"])?;
        head.lines().find(|line| line.starts_with("X-Transmission-Session-Id: ")).map(str::to_owned)
    });
    let asked = r#"{"method":"torrent-get","arguments":{"fields":["hashString","status","percentDone"]}}"#;
    let taken = || -> Option<BTreeSet<String>> {
        let told: Value = serde_json::from_str(&curl(&["-H", &session, "-d", asked])?).ok()?;
        let torrents = told["arguments"]["torrents"].as_array()?;
        Some(torrents.iter().map(|torrent| torrent["hashString"].as_str().unwrap().to_owned()).collect())
    };
    let search = run(here, &["search", "v2:no", "--limit", "100", "--json", "--data", "data", "--rules", "rules"])
        .ended(0)
        .json();
    let rows = search["torrents"].as_array().unwrap().iter();
    let v1: BTreeSet<String> = rows.map(|row| row["infohash"].as_str().unwrap().to_owned()).collect();
    assert!(v1.len() > 30 && v1.is_subset(&archived(&here.join("data"))));
    wait_for("Transmission has all of them", || (taken()? == v1).then_some(()));
    // It has renamed each file: nothing comes again for that.
    let names = || -> Vec<String> {
        fs::read_dir(&watch).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    wait_for("all files are renamed", || names().iter().all(|name| name.ends_with(".torrent.added")).then_some(()));
    let list = run(here, &["handover", "--json", "--data", "data", "--rules", "rules"]).ended(0).json();
    assert_eq!(
        (list["handovers"][0]["handed"].as_u64(), list["handovers"][0]["waiting"].as_u64()),
        (Some(v1.len() as u64), Some(0))
    );
    run(here, &["handover", "box", "--data", "data", "--rules", "rules"])
        .ended(0)
        .says(&[" 0 torrents were handed over"]);
    assert_eq!((names().len(), taken().unwrap()), (v1.len(), v1));
    served.stop();
}

#[test]
fn pyarrow_reads_of_a_parquet_list_what_stands_in_the_one_of_json() {
    let served = Served::start();
    let here = served.here.path();
    for name in ["all.jsonl", "all.parquet"] {
        run(here, &["export", name, "--data", "data", "--rules", "rules"]).ended(0);
    }
    let compare = "import json, pyarrow.parquet as parquet\n\
        lines = [json.loads(line) for line in open('all.jsonl')]\n\
        rows = parquet.read_table('all.parquet').to_pylist()\n\
        for line in lines:\n    for source in line['sources']:\n        source.setdefault('label', None)\n\
        assert lines == rows, next((a, b) for a, b in zip(lines, rows) if a != b)\n\
        print(len(rows))";
    let output = Command::new(tool("python")).args(["-c", compare]).current_dir(here).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), TORRENTS.to_string());
    served.stop();
}

#[test]
fn the_provider_of_sickchill_takes_everything_with_sizes_and_hashes() {
    let served = Served::start();
    let script = Path::new(env!("GLEANER_ROOT")).join("tests/program/clients/newznab_provider.py");
    let mut command = Command::new(tool_of("sickchill", "python"));
    let output = command.arg(script).arg(served.origin()).env("HOME", served.here.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["caps"][0], &told["is_torznab"]), (&true.into(), &true.into()), "{told}");
    assert!(told["caps"][2].as_array().unwrap().contains(&5040.into()), "{told}");
    let results = told["results"].as_array().unwrap();
    assert_eq!(results.len(), TORRENTS);
    let stored = archived(&served.here.path().join("data"));
    for result in results {
        let link = result["link"].as_str().unwrap();
        assert!(result["size"].as_u64() > Some(0) && stored.iter().any(|hash| link.contains(hash)), "{result}");
        let hash = result["hash"].as_str().unwrap_or_default();
        assert!(hash.is_empty() || stored.contains(hash), "{result}");
    }
    served.stop();
}
