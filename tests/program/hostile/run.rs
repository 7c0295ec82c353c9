//! One crawl by the built binary in its own folder, observed from outside: memory, `status` while it
//! runs, and its files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gleaner::app::control::Remote;
use gleaner_demo::DemoSite;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb, Outcome, Reader, UrlKey};
use gleaner_torrent::Infohashes;
use serde_json::Value;
use sha1::{Digest, Sha1};
use toml::Table;

use crate::hostile::server::{Hostile, Kind, Place, info};
use crate::hostile::tls::Certificates;

const BINARY: &str = env!("CARGO_BIN_EXE_gleaner");

/// A longer crawl counts as endless.
pub const CRAWL_TIME_MAX: Duration = Duration::from_secs(240);

/// Timeout of the sites, so that a hanging server costs the test only seconds.
const TIMEOUT_SECONDS: i64 = 3;

/// Interval of status requests to the running crawl, and the timeout of a response.
const STATUS_EVERY: Duration = Duration::from_millis(100);
const STATUS_TIME_MAX: Duration = Duration::from_secs(5);

/// Pattern of the hostile servers' URLs.
const DOWNLOADS: &str = r"^/hostile/[a-z0-9-]+/[a-z]+\.torrent$";
const PAGES: &str = r"^/hostile/[a-z0-9-]+/(?:x/)*(?:\?hop=\d+)?$";

/// A crawl that has not begun.
pub struct Crawl {
    folder: tempfile::TempDir,
    authority: PathBuf,
    /// Stops as soon as these sites have ended; if empty, the crawl ends by itself.
    pub until: &'static [&'static str],
}

/// The observations and results of a crawl.
pub struct Ran {
    pub ended_by_itself: bool,
    pub seconds: f64,
    /// When the healthy site was exhausted, with everything on disk.
    pub healthy_seconds: Option<f64>,
    /// The longest time to a status response: the crawl's one thread answers between visits.
    pub status_seconds_max: f64,
    /// VmHWM, in KiB.
    pub rss_kb: u64,
    pub stderr: String,
    pub stored: BTreeSet<Infohashes>,
    /// Origins that `status` showed as paused during the crawl, with the last reason.
    pub paused: BTreeMap<String, String>,
    /// URLs queued for another run.
    pub queued: BTreeSet<String>,
    /// `status --json` after the end.
    status: Value,
    /// `crawl --json`.
    summary: Value,
}

impl Crawl {
    /// `GLEANER_HOSTILE_KEEP` keeps the folder, for several measurements in a row.
    pub fn new(certificates: &Arc<Certificates>) -> Self {
        let mut folder = tempfile::tempdir().unwrap();
        folder.disable_cleanup(std::env::var_os("GLEANER_HOSTILE_KEEP").is_some());
        let authority = folder.path().join("authority.pem");
        certificates.write_authority(&authority);
        fs::create_dir(folder.path().join("rules")).unwrap();
        Self { folder, authority, until: &[] }
    }

    fn write(&self, name: &str, rules: &Table) {
        let path = self.folder.path().join("rules").join(format!("{name}.toml"));
        fs::write(path, toml::to_string(rules).unwrap()).unwrap();
    }

    /// The demo site's own rules, with the hostile servers as additional hosts of it, linked from the hub.
    pub fn write_rules_of_one_site(&mut self, site: &DemoSite, hub: &Hostile, servers: &[Hostile]) {
        let mut rules: Table = site.rules_text.parse().unwrap();
        let hosts = servers.iter().chain([hub]).map(|server| server.origin());
        let hosts = hosts.map(|origin| origin.split_once("://").unwrap().1.to_owned());
        let own = site.origin().split_once("://").unwrap().1.to_owned();
        rules.insert("hosts".into(), hosts.chain([own]).collect::<Vec<_>>().into());
        rules["start"].as_array_mut().unwrap().push(hub.page_url().into());
        let classes = rules["classes"].as_table_mut().unwrap();
        classes["download"].as_array_mut().unwrap().push(DOWNLOADS.into());
        classes.insert("page".into(), vec![PAGES].into());
        rules["rate"].as_table_mut().unwrap().insert("timeout_seconds".into(), TIMEOUT_SECONDS.into());
        self.write("demo", &rules);
    }

    /// The demo site's own rules, and a site for each hostile server; a crawl that is stopped has the default
    /// timeouts.
    pub fn write_rules_of_many_sites(&mut self, site: &DemoSite, servers: &[Hostile]) {
        fs::write(self.folder.path().join("rules/demo.toml"), &site.rules_text).unwrap();
        for server in servers {
            let timeout =
                if self.until.is_empty() { format!("timeout_seconds = {TIMEOUT_SECONDS}") } else { String::new() };
            let mut rules: Table = format!(
                "start = ['{}']\n[classes]\ndownload = ['{DOWNLOADS}']\npage = ['{PAGES}']\n\
                 [rate]\nrequests_per_second = 1000000\nconnections = 2\n{timeout}\n",
                server.page_url()
            )
            .parse()
            .unwrap();
            if server.kind.at == Place::Proxy {
                rules.insert("proxy".into(), format!("http://{}", server.address).into());
            }
            self.write(server.kind.name, &rules);
        }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(BINARY);
        command.arg(name).arg("--data").arg(self.folder.path().join("data"));
        command.arg("--rules").arg(self.folder.path().join("rules"));
        for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG"] {
            command.env_remove(variable);
        }
        command.env("SSL_CERT_FILE", &self.authority).stdin(Stdio::null());
        command
    }

    fn json(&self, name: &str) -> Option<Value> {
        let done = self.command(name).arg("--json").output().unwrap();
        serde_json::from_slice(&done.stdout).ok()
    }

    /// Crawls to the end, or to [`CRAWL_TIME_MAX`].
    pub fn run(&self) -> Ran {
        let (out, err) = (self.folder.path().join("out"), self.folder.path().join("err"));
        let mut command = self.command("crawl");
        command.arg("--json");
        command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
        let begun = Instant::now();
        let mut child = Ended(command.spawn().unwrap());
        let mut watched = Watched::default();
        let ended_by_itself = loop {
            if child.0.try_wait().unwrap().is_some() {
                break true;
            }
            if begun.elapsed() > CRAWL_TIME_MAX {
                break false;
            }
            watched.rss_kb = watched.rss_kb.max(highest_rss_kb(child.0.id()));
            watched.asks(&self.folder.path().join("data"), begun);
            if !self.until.is_empty() && self.until.iter().all(|site| watched.ended.contains(*site)) {
                terminate(&child.0);
            }
            std::thread::sleep(STATUS_EVERY);
        };
        let seconds = begun.elapsed().as_secs_f64();
        // A crawl of nothing else ends with its site, before it can be queried.
        if ended_by_itself {
            watched.healthy_seconds.get_or_insert(seconds);
        }
        drop(child);
        Ran {
            ended_by_itself,
            seconds,
            healthy_seconds: watched.healthy_seconds,
            status_seconds_max: watched.status_seconds_max,
            rss_kb: watched.rss_kb,
            stderr: fs::read_to_string(err).unwrap(),
            stored: self.stored(),
            paused: watched.paused,
            queued: self.queued(),
            status: self.json("status").unwrap_or_default(),
            summary: serde_json::from_slice(&fs::read(out).unwrap()).unwrap_or_default(),
        }
    }

    /// The outcome of the last visit of each server's judged URL, from the database; None if it was never visited.
    pub fn ends(&self, servers: &[Hostile]) -> Vec<Option<Outcome>> {
        let path = self.folder.path().join("data/crawl.redb");
        let db = RedbStore::open(&path, OpenOptions { cache_bytes: 4 << 20, sync: false }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let hosts = db.hosts().await.unwrap();
            let mut ends = Vec::new();
            for server in servers {
                let host = hosts.iter().find(|host| *host.origin == *server.origin());
                let key = host.map(|host| UrlKey { host: host.id, path: server.judged_path().into() });
                let record = match key {
                    Some(key) => db.url_record(&key).await.unwrap(),
                    None => None,
                };
                ends.push(record.and_then(|record| record.outcome));
            }
            ends
        })
    }

    /// What the next crawl would start with, by a dry run.
    fn queued(&self) -> BTreeSet<String> {
        let done = self.command("crawl").args(["--json", "--dry-run"]).output().unwrap();
        let plan: Value = serde_json::from_slice(&done.stdout).unwrap();
        let urls = plan["sites"].as_array().unwrap().iter().flat_map(|site| site["next"].as_array().unwrap());
        urls.map(|url| url.as_str().unwrap().to_owned()).collect()
    }

    /// The content of the archive, by an export's manifest.
    fn stored(&self) -> BTreeSet<Infohashes> {
        let export = self.folder.path().join("export");
        let done = self.command("export").arg(&export).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let manifest = fs::read_to_string(export.join("manifest.jsonl")).unwrap();
        manifest
            .lines()
            .map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                Infohashes { v1: hash(&row["infohash_v1"]), v2: hash(&row["infohash_v2"]) }
            })
            .collect()
    }
}

/// A child that is killed with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hash<const N: usize>(value: &Value) -> Option<[u8; N]> {
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(value.as_str()?.as_bytes()).unwrap();
    Some(bytes.try_into().unwrap())
}

/// Peak memory of the process so far; zero once it is gone.
fn highest_rss_kb(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn terminate(child: &Child) {
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
}

/// Observations of a running crawl.
#[derive(Default)]
struct Watched {
    rss_kb: u64,
    paused: BTreeMap<String, String>,
    /// Names of the sites that have ended.
    ended: BTreeSet<String>,
    healthy_seconds: Option<f64>,
    status_seconds_max: f64,
}

impl Watched {
    /// Requests the status of the crawling process.
    fn asks(&mut self, data: &Path, begun: Instant) {
        let asked = Instant::now();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asking = async { Remote::connect(data).await?.status().await.ok() };
        let status = runtime.block_on(async { tokio::time::timeout(STATUS_TIME_MAX, asking).await });
        self.status_seconds_max = self.status_seconds_max.max(asked.elapsed().as_secs_f64());
        for site in status.ok().flatten().into_iter().flat_map(|status| status.sites) {
            self.paused.extend(site.blocked_hosts.into_iter().map(|host| (host.origin, host.reason)));
            if site.ended.is_some() {
                self.ended.insert(site.name);
            }
        }
        if self.ended.contains("demo") {
            self.healthy_seconds.get_or_insert(begun.elapsed().as_secs_f64());
        }
    }
}

impl Ran {
    /// A site's row of `status`.
    pub fn site(&self, name: &str) -> &Value {
        let sites = self.status["sites"].as_array().into_iter().flatten();
        sites.into_iter().find(|site| site["name"] == name).unwrap_or(&Value::Null)
    }

    /// A site's visits by outcome, as `status` counts them.
    pub fn outcomes(&self, name: &str) -> BTreeMap<String, u64> {
        serde_json::from_value(self.site(name)["outcomes"].clone()).unwrap_or_default()
    }

    /// How a site ended, by the crawl's summary.
    pub fn ended(&self, name: &str) -> String {
        let sites = self.summary["sites"].as_array().into_iter().flatten();
        sites.into_iter().find(|site| site["name"] == name).map_or_else(String::new, ToString::to_string)
    }

    /// Peak memory, in MB of 10⁶ bytes.
    pub fn rss_mb(&self) -> u64 {
        self.rss_kb * 1_024 / 1_000_000
    }

    /// True if the kind's good torrent was stored.
    pub fn has(&self, kind: &Kind) -> bool {
        let v1 = Sha1::digest(info(kind.name)).into();
        self.stored.contains(&Infohashes { v1: Some(v1), v2: None })
    }

    /// Details for a failure message.
    pub fn told(&self) -> String {
        format!(
            "{:.1} s, VmHWM {} MB, {} torrents\n{}\n{}",
            self.seconds,
            self.rss_mb(),
            self.stored.len(),
            self.summary,
            self.stderr
        )
    }
}
