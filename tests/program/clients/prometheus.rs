//! Debian's Prometheus scrapes a service that crawls: what it stores is what the dashboard, the alerts and the reference name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use super::{Running, debian};
use crate::cli::harness::{Service, Site, closed_port, folder, run, wait_for};
use crate::cli::web::{get, port_of};
use crate::reference::assert_page;

const TORRENTS: usize = 60;

fn docs() -> PathBuf {
    Path::new(env!("GLEANER_ROOT")).join("docs")
}

/// A service that crawls the demo site, with a request to each part of its server.
struct Watched {
    here: tempfile::TempDir,
    service: Service,
    _site: Site,
    port: u16,
}

impl Watched {
    fn start() -> Self {
        let here = folder();
        let site = Site::start(here.path(), TORRENTS, 0);
        let mut rules = fs::read_dir(here.path().join("rules")).unwrap().map(|entry| entry.unwrap().path());
        let rules = rules.find(|path| path.extension().is_some_and(|of| of == "toml")).unwrap();
        let put = |before: &str, after: &str| {
            let text = fs::read_to_string(&rules).unwrap();
            assert!(text.contains(before), "{text}");
            fs::write(&rules, text.replace(before, after)).unwrap();
        };
        put("[rate]\n", "[rate]\nrequests_per_day = 100000\n");
        run(here.path(), &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
        // By other rules lists are read again: the service has something to measure, beside the coverage of a whole site.
        put("thread = [\n", "thread = [\n    '^/nowhere/',\n");
        fs::create_dir(here.path().join("watch")).unwrap();
        fs::write(here.path().join("gleaner.toml"), "[[handover]]\nname = 'box'\nfolder = 'watch'\nsince = 'all'\n")
            .unwrap();
        let service = Service::start(here.path());
        let port = port_of(&service);
        wait_for("the index can be asked", || (get(port, "/api/v1/search?q=x").status == 200).then_some(()));
        for path in ["/api?t=caps", "/api?t=tvsearch&q=x", "/feeds/all.rss", "/healthz", "/nowhere"] {
            get(port, path);
        }
        wait_for("lists are read again and the coverage is counted", || {
            // A client that asks too often waits.
            std::thread::sleep(Duration::from_millis(200));
            let metrics = scraped(port);
            let has = |start: &str| metrics.lines().any(|line| line.starts_with(start) && !line.ends_with(" 0"));
            let is_measured = metrics.contains(&format!("\ngleaner_search_documents {TORRENTS}\n"))
                && has("gleaner_fetch_duration_seconds_count{site=\"demo\"}")
                && has("gleaner_listing_rows_sum{site=\"demo\",class=\"index\"}")
                && has("gleaner_coverage_ratio{site=\"demo\"}")
                && has("gleaner_store_commit_duration_seconds_count")
                && has("gleaner_http_requests_total{endpoint=\"metrics\",code=\"200\"}");
            is_measured.then_some(())
        });
        Self { here, service, _site: site, port }
    }
}

fn scraped(port: u16) -> String {
    get(port, "/metrics").text().to_owned()
}

/// Asks Prometheus; its answers come in chunks, which curl puts together.
fn asked(port: u16, path: &str, parameters: &[(&str, &str)]) -> Option<Value> {
    let fields = parameters.iter().flat_map(|(name, value)| ["--data-urlencode".to_owned(), format!("{name}={value}")]);
    let output = Command::new("curl")
        .args(["-s", "-m", "10", "-G"])
        .args(fields)
        .arg(format!("http://127.0.0.1:{port}/api/v1/{path}"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).ok()
}

/// Names of metrics in a text: those of gleaner, and those of its process.
fn named(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"\b(?:gleaner|process)_[a-z0-9_]+\b").unwrap();
    name.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

/// All texts below this key, at any depth.
fn texts<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str));
            fields.values().for_each(|below| texts(below, key, found));
        }
        Value::Array(items) => items.iter().for_each(|below| texts(below, key, found)),
        _ => {}
    }
}

/// The reference page, as a scrape says it.
fn page(metrics: &str) -> String {
    let mut about = BTreeMap::<&str, [&str; 2]>::new();
    let mut labels = BTreeMap::<&str, Vec<&str>>::new();
    for line in metrics.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(name), Some(help)) => about.entry(name).or_default()[1] = help,
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => about.entry(name).or_default()[0] = kind,
            _ => {
                let name = line.split(['{', ' ']).next().unwrap();
                let part = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
                let family = part.filter(|name| about.contains_key(name)).unwrap_or(name);
                let inside = line.split_once('{').map_or("", |(_, rest)| rest);
                let own = labels.entry(family).or_default();
                for label in inside.split("\",").filter_map(|pair| pair.split_once("=\"")).map(|(label, _)| label) {
                    if label != "le" && !own.contains(&label) {
                        own.push(label);
                    }
                }
            }
        }
    }
    let mut page = "# Metrics\n\nWhat `/metrics` of `gleaner run` tells Prometheus; a test compares this page with a scrape. \
        [How to set it up](../guide/programs.md#prometheus-and-grafana).\n\nEach site has its series from the start, with zero. Counters of \
        visits, requests, bytes and torrents and the histogram of the acquisition delay are kept in the database; all others begin with the \
        process. Labels are bounded: never a URL, never an infohash.\n\n| name | type | labels | meaning |\n| --- | --- | --- | --- |\n"
        .to_owned();
    for (name, [kind, help]) in &about {
        let labels = labels.get(name).unwrap_or_else(|| panic!("{name} has no series in {metrics}"));
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(page, "| `{name}` | {kind} | {} | {help} |", labels.join(", "));
    }
    page
}

fn promtool(arguments: &[&str], stdin: Stdio) -> String {
    let output = debian("promtool").args(arguments).stdin(stdin).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn promtool_has_nothing_to_say_of_metrics_and_alerts_and_each_alert_fires_and_does_not() {
    let watched = Watched::start();
    let metrics = scraped(watched.port);
    let path = watched.here.path().join("metrics");
    fs::write(&path, &metrics).unwrap();
    let said = promtool(&["check", "metrics"], fs::File::open(&path).unwrap().into());
    assert!(said.trim().is_empty(), "{said}");
    for line in [
        format!("gleaner_archive_torrents {TORRENTS}"),
        format!("gleaner_search_documents {TORRENTS}"),
        "gleaner_search_lag_torrents 0".to_owned(),
        format!("gleaner_torrents{{site=\"demo\"}} {TORRENTS}"),
        "gleaner_site_enabled{site=\"demo\"} 1".to_owned(),
        "gleaner_site_session_valid{site=\"demo\"} 1".to_owned(),
        "gleaner_requests_day_limit{site=\"demo\"} 100000".to_owned(),
        "gleaner_acquisition_delay_seconds_bucket{site=\"demo\",le=\"604800\"} 0".to_owned(),
        format!("gleaner_torrents_stored_total{{site=\"demo\"}} {TORRENTS}"),
        format!("gleaner_visits_total{{site=\"demo\",outcome=\"torrent_stored\"}} {TORRENTS}"),
        "gleaner_http_requests_total{endpoint=\"other\",code=\"404\"} 1".to_owned(),
        "gleaner_torznab_queries_total{key=\"\",function=\"tvsearch\"} 1".to_owned(),
        "gleaner_render_pages_total{outcome=\"timed_out\"} 0".to_owned(),
        "gleaner_rules_broken{site=\"demo\"} 0".to_owned(),
        "gleaner_store_fault 0".to_owned(),
    ] {
        assert!(metrics.contains(&format!("\n{line}\n")), "{line} is not in {metrics}");
    }
    // What happened since the last crawl, by the clock.
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name}{{site=\"demo\"}} "))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let started = metrics.lines().find_map(|line| line.strip_prefix("gleaner_start_time_seconds ")).unwrap();
    let started: f64 = started.parse().unwrap();
    let (success, find) =
        (value("gleaner_site_last_success_timestamp_seconds"), value("gleaner_site_last_find_timestamp_seconds"));
    assert!(find > started - 600.0 && success > started - 600.0, "{find} {success} {started}");
    assert!(value("gleaner_requests_day_used") > TORRENTS as f64 && value("gleaner_coverage_listed_torrents") > 0.0);
    let coverage = value("gleaner_coverage_ratio");
    assert!(coverage > 0.0 && coverage <= 1.0, "{coverage}");
    let report: Value = serde_json::from_slice(&get(watched.port, "/api/v1/sites/demo").body).unwrap();
    assert_eq!(report["torrents_seen"], TORRENTS, "{report}");
    assert_eq!(get(watched.port, "/api/v1/sites/other").status, 404);

    let (rules, tests) = (docs().join("alerts.yml"), docs().join("alerts_test.yml"));
    promtool(&["check", "rules", rules.to_str().unwrap()], Stdio::null());
    promtool(&["test", "rules", tests.to_str().unwrap()], Stdio::null());
    let (rules, tests) = (fs::read_to_string(rules).unwrap(), fs::read_to_string(tests).unwrap());
    let alerts: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    for alert in &alerts {
        let has = |kind: &str| tests.contains(&format!("  - name: {alert} {kind}\n"));
        assert!(has("fires") && has("does not"), "{alert} is not tested both ways");
    }
    assert_eq!(rules.matches("          summary: ").count(), alerts.len(), "each says what to do");
    assert!(watched.service.stop().success());
}

#[test]
fn every_metric_of_dashboard_and_alerts_is_in_a_scrape_and_every_one_of_a_scrape_in_the_reference() {
    let watched = Watched::start();
    let here = watched.here.path();
    let (port, alerts) = (closed_port(), docs().join("alerts.yml"));
    let config = format!(
        "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: ['{}']\nscrape_configs:\n  - job_name: gleaner\n    \
         static_configs: [{{targets: ['127.0.0.1:{}']}}]\n",
        alerts.display(),
        watched.port
    );
    fs::write(here.join("prometheus.yml"), config).unwrap();
    let log = fs::File::create(here.join("prometheus.log")).unwrap();
    let mut command = debian("prometheus");
    command
        .arg(format!("--config.file={}", here.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", here.join("tsdb").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    let _prometheus = Running(command.spawn().unwrap());
    let told = || fs::read_to_string(here.join("prometheus.log")).unwrap();
    let names: BTreeSet<String> = wait_for("Prometheus has scraped", || {
        let up = asked(port, "query", &[("query", "up{job=\"gleaner\"} == 1")])?;
        up["data"]["result"].get(0)?;
        let names = asked(port, "label/__name__/values", &[])?;
        Some(names["data"].as_array()?.iter().map(|name| name.as_str().unwrap().to_owned()).collect())
    });
    assert!(names.contains("gleaner_build_info"), "{names:?}: {}", told());

    let dashboard = fs::read_to_string(docs().join("grafana.json")).unwrap();
    let alerts = fs::read_to_string(&alerts).unwrap();
    let (of_dashboard, of_alerts) = (named(&dashboard), named(&alerts));
    assert!(of_dashboard.len() > 40 && of_alerts.len() > 15, "{of_dashboard:?} {of_alerts:?}");
    let missing: Vec<_> = of_dashboard.union(&of_alerts).filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "named and not in a scrape: {missing:?}");

    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let mut expressions = Vec::new();
    texts(&dashboard, "expr", &mut expressions);
    assert!(expressions.len() > 50, "{}", expressions.len());
    for expression in expressions {
        let plain = expression.replace("$site", ".*").replace("$__rate_interval", "1m");
        let answer = wait_for("Prometheus answers", || asked(port, "query", &[("query", &plain)]));
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
    }
    let rules = wait_for("Prometheus has evaluated the rules", || {
        let rules = asked(port, "rules", &[])?;
        let all = rules["data"]["groups"][0]["rules"].as_array()?.clone();
        all.iter().all(|rule| rule["health"] != "unknown").then_some(all)
    });
    assert!(rules.iter().all(|rule| rule["health"] == "ok"), "{rules:?}");

    assert_page("metrics.md", &page(&scraped(watched.port)));
    let reference = fs::read_to_string(docs().join("reference/metrics.md")).unwrap();
    let described = named(&reference);
    let parts =
        |name: &str| ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part).map(str::to_owned));
    let is_described =
        |name: &String| described.contains(name) || parts(name).is_some_and(|of| described.contains(&of));
    let own = names.iter().filter(|name| name.starts_with("gleaner_") || name.starts_with("process_"));
    let unknown: Vec<_> = own.filter(|name| !is_described(name)).collect();
    assert!(unknown.is_empty(), "in a scrape and not in the reference: {unknown:?}");
    assert!(watched.service.stop().success());
}

#[test]
fn the_dashboard_can_be_imported() {
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(docs().join("grafana.json")).unwrap()).unwrap();
    assert_eq!(
        (&dashboard["uid"], &dashboard["__inputs"][0]["name"]),
        (&"gleaner-overview".into(), &"DS_PROMETHEUS".into())
    );
    assert!(dashboard["schemaVersion"].as_u64() >= Some(39) && dashboard["id"].is_null());
    let variable = &dashboard["templating"]["list"][0];
    assert_eq!(
        (&variable["name"], &variable["definition"]),
        (&"site".into(), &"label_values(gleaner_site_enabled, site)".into())
    );
    let panels = dashboard["panels"].as_array().unwrap();
    let rows: Vec<&str> =
        panels.iter().filter(|of| of["type"] == "row").filter_map(|of| of["title"].as_str()).collect();
    assert_eq!(rows, ["Overview", "Site", "Crawl", "Store", "HTTP"]);
    let ids: BTreeSet<u64> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "two panels have one id");
    // No two panels on one place, none beyond the 24 columns.
    let mut taken = BTreeSet::new();
    for panel in panels {
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(x + w <= 24, "{panel}");
        for place in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(taken.insert(place), "two panels at {place:?}: {panel}");
        }
        assert!(panel["type"] == "row" || panel["datasource"]["uid"] == "${DS_PROMETHEUS}", "{panel}");
    }
}
