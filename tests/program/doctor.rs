//! `gleaner doctor` names the cause of each planted fault, with the command or the key that fixes it, and finds nothing where all is well.

mod planted;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::harness::{Ran, Service, Site, closed_port, folder, gleaner, run, wait_for, with_own_mounts};
use crate::cli::web::port_of;

/// Torrents of the folder that is copied for each fault.
const TORRENTS: usize = 20;

/// A fault: its name, how it is planted below a folder (which returns variables of the environment), the code of its finding, and what its
/// fix names.
type Fault = (&'static str, fn(&Path) -> Vec<(&'static str, String)>, &'static str, &'static str);

/// A server that answers every request so, until the process ends.
fn answering(robots: &'static str, status: &'static str, page: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (mut stream, mut request) = (stream, [0; 4_096]);
            let read = stream.read(&mut request).unwrap_or(0);
            let is_robots = request[..read].starts_with(b"GET /robots.txt");
            let (status, body, kind) = match is_robots {
                true => ("200 OK", robots, "text/plain"),
                false => (status, page, "text/html"),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    port
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn secret(path: &Path, bits: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mode(path.parent().unwrap(), 0o700);
    fs::write(path, "geheim-4711\n").unwrap();
    mode(path, bits);
}

/// A rule file of another site, with more in it, in the place of the demo's.
fn site(here: &Path, port: u16, more: &str) {
    fs::remove_file(here.join("rules/demo.toml")).unwrap();
    let text =
        format!("enabled = true\nstart = ['http://127.0.0.1:{port}/']\n{more}[classes]\nindex = ['^/$', '^/list$']\n");
    fs::write(here.join("rules/other.toml"), text).unwrap();
}

fn change_rules(here: &Path, change: impl FnOnce(String) -> String) {
    let path = here.join("rules/demo.toml");
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

fn configure(here: &Path, text: &str) {
    fs::write(here.join("gleaner.toml"), text).unwrap();
}

/// All files of the archive get this content; None removes them.
fn spoil(here: &Path, content: Option<&str>) {
    let mut folders = vec![here.join("data/torrents")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match content {
                _ if path.is_dir() => folders.push(path),
                Some(content) => fs::write(path, content).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
        }
    }
}

const LINKED: &str = "<html><body><a href='/list'>list</a></body></html>";
const NONE: Vec<(&str, String)> = Vec::new();

const FAULTS: &[Fault] = &[
    (
        "a password that others can read",
        |here| (secret(&here.join("data/secrets/demo"), 0o644), NONE).1,
        "secret_readable",
        "chmod 600",
    ),
    (
        "a folder of passwords that others can enter",
        |here| {
            secret(&here.join("data/secrets/demo"), 0o600);
            mode(&here.join("data/secrets"), 0o755);
            NONE
        },
        "secret_readable",
        "chmod 700",
    ),
    (
        "a session that others can read",
        |here| (secret(&here.join("data/sessions/x.json"), 0o640), NONE).1,
        "secret_readable",
        "chmod 600",
    ),
    (
        "tokens that others can read",
        |here| {
            run(here, &["token", "new", "a", "--data", "data"]).ended(0);
            mode(&here.join("data/tokens.json"), 0o644);
            NONE
        },
        "secret_readable",
        "chmod 600",
    ),
    (
        "a credential that others can read",
        |here| {
            configure(here, "");
            secret(&here.join("credentials/demo"), 0o604);
            NONE
        },
        "secret_readable",
        "chmod 600",
    ),
    (
        "a data folder that others can enter and read",
        |here| {
            mode(&here.join("data"), 0o755);
            mode(&here.join("data/crawl.redb"), 0o644);
            NONE
        },
        "data_readable",
        "chmod o-rwx",
    ),
    (
        "rules that others can change",
        |here| (mode(&here.join("rules/demo.toml"), 0o666), NONE).1,
        "rules_writable",
        "chmod o-w",
    ),
    (
        "a broken rule file",
        |here| (change_rules(here, |text| text + "\n[nonsense]\n"), NONE).1,
        "rules_faulty",
        "gleaner rules check",
    ),
    (
        "no rule files",
        |here| (fs::remove_dir_all(here.join("rules")).unwrap(), NONE).1,
        "rules_missing",
        "gleaner rules new",
    ),
    (
        "no enabled site",
        |here| (change_rules(here, |text| format!("enabled = false\n{text}")), NONE).1,
        "no_site_enabled",
        "enabled = true",
    ),
    (
        "a broken configuration",
        |here| (configure(here, "cache_mb = 0\n"), NONE).1,
        "config_faulty",
        "gleaner config check",
    ),
    (
        "no data folder",
        |here| (fs::remove_dir_all(here.join("data")).unwrap(), NONE).1,
        "data_missing",
        "gleaner crawl",
    ),
    (
        "a damaged database",
        |here| (fs::write(here.join("data/crawl.redb"), "no database").unwrap(), NONE).1,
        "database_unreadable",
        "restore",
    ),
    (
        "a lost database",
        |here| (fs::remove_file(here.join("data/crawl.redb")).unwrap(), NONE).1,
        "database_lost",
        "gleaner verify --repair",
    ),
    (
        "a database of a newer version",
        |here| {
            let db = redb::Database::open(here.join("data/crawl.redb")).unwrap();
            let txn = db.begin_write().unwrap();
            let meta: redb::TableDefinition<&str, u64> = redb::TableDefinition::new("meta");
            txn.open_table(meta).unwrap().insert("schema", 99).unwrap();
            txn.commit().unwrap();
            NONE
        },
        "database_newer",
        "gleaner",
    ),
    (
        "a damaged update database",
        |here| (fs::write(here.join("data/update.redb"), "no database").unwrap(), NONE).1,
        "update_damaged",
        "gleaner verify --repair",
    ),
    ("lost torrents", |here| (spoil(here, None), NONE).1, "archive_lost", "gleaner verify --repair"),
    (
        "a lost torrent",
        |here| {
            let folders = fs::read_dir(here.join("data/torrents")).unwrap().map(|entry| entry.unwrap().path());
            let shard = folders.into_iter().find(|path| path.file_name().is_some_and(|name| name.len() == 2)).unwrap();
            let file = fs::read_dir(shard).unwrap().next().unwrap().unwrap().path();
            fs::remove_file(file).unwrap();
            NONE
        },
        "archive_lost",
        "gleaner verify --repair",
    ),
    ("damaged torrents", |here| (spoil(here, Some("x")), NONE).1, "archive_damaged", "gleaner verify --repair"),
    (
        "a damaged index",
        |here| {
            run(here, &["search", "--data", "data", "--json"]).ended(0);
            fs::write(here.join("data/search/meta.json"), "nonsense").unwrap();
            NONE
        },
        "index_damaged",
        "gleaner search",
    ),
    (
        "no token where one is needed",
        |here| (configure(here, "[web]\nauth = \"all\"\n"), NONE).1,
        "token_missing",
        "gleaner token new",
    ),
    (
        "a port that another program has",
        |_| vec![("GLEANER_WEB_LISTEN", format!("127.0.0.1:{}", answering("", "200 OK", "hello")))],
        "port_taken",
        "`listen` of [web]",
    ),
    (
        "no watch folder",
        |here| (configure(here, "[[handover]]\nname = \"box\"\nfolder = \"watch\"\n"), NONE).1,
        "handover_missing",
        "mkdir -p",
    ),
    (
        "backups below a file",
        |here| (configure(here, "[backup]\nto = \"rules/demo.toml/x\"\n"), NONE).1,
        "backup_not_writable",
        "`to` of [backup]",
    ),
    ("no backup", |here| (configure(here, "[backup]\nto = \"backups\"\n"), NONE).1, "backup_missing", "gleaner backup"),
    (
        "an old backup",
        |here| {
            configure(here, "[backup]\nto = \"backups\"\n");
            fs::write(here.join("data/backup-last"), "1700000000000\n").unwrap();
            NONE
        },
        "backup_old",
        "gleaner backup",
    ),
    ("a name that is no host", site_named, "dns_failed", "/etc/resolv.conf"),
    (
        "no certificates",
        |_| ["SSL_CERT_FILE", "SSL_CERT_DIR"].map(|name| (name, "/nonexistent".to_owned())).to_vec(),
        "certificates_missing",
        "ca-certificates",
    ),
    (
        "a proxy that is down",
        |here| {
            site(here, closed_port(), &format!("proxy = 'http://127.0.0.1:{}'\n", closed_port()));
            NONE
        },
        "proxy_unreachable",
        "`proxy` of",
    ),
    ("a site that is down", |here| (site(here, closed_port(), ""), NONE).1, "site_unreachable", "`start` of"),
    (
        "a site that robots.txt closes",
        |here| (site(here, answering("User-agent: *\nDisallow: /\n", "200 OK", LINKED), ""), NONE).1,
        "robots_closed",
        "robots = { obey = false",
    ),
    (
        "a site that refuses",
        |here| (site(here, answering("", "403 Forbidden", LINKED), ""), NONE).1,
        "site_refuses",
        "browser",
    ),
    (
        "a start page that is gone",
        |here| (site(here, answering("", "404 Not Found", LINKED), ""), NONE).1,
        "site_answers_otherwise",
        "`start` of",
    ),
    (
        "rules that fit no link",
        |here| (site(here, answering("", "200 OK", "<a href='/x'>x</a>"), ""), NONE).1,
        "no_links",
        "[classes]",
    ),
    (
        "an account without a password",
        |here| (site(here, answering("", "200 OK", LINKED), "login.user = 'me'\n"), NONE).1,
        "password_missing",
        "chmod 600",
    ),
    (
        "an account without a session",
        |here| {
            site(here, answering("", "200 OK", LINKED), "login.user = 'me'\n");
            secret(&here.join("data/secrets/other"), 0o600);
            NONE
        },
        "session_missing",
        "gleaner login other",
    ),
];

fn site_named(here: &Path) -> Vec<(&'static str, String)> {
    site(here, 80, "");
    let path = here.join("rules/other.toml");
    let text = fs::read_to_string(&path).unwrap().replace("127.0.0.1:80", "gleaner.invalid");
    fs::write(&path, text).unwrap();
    NONE
}

/// A crawled folder, which is well.
struct Well {
    here: tempfile::TempDir,
    _site: Site,
}

impl Well {
    fn new() -> Self {
        let here = folder();
        let site = Site::start(here.path(), TORRENTS, 0);
        run(here.path(), &["crawl", "demo", "--data", "data", "--rules", "rules"]).ended(0);
        // Modes do not depend on the tester's umask.
        mode(&here.path().join("data"), 0o700);
        mode(&here.path().join("rules"), 0o755);
        mode(&here.path().join("rules/demo.toml"), 0o644);
        Self { here, _site: site }
    }

    fn copy(&self) -> (tempfile::TempDir, PathBuf) {
        let folder = folder();
        let there = folder.path().join("case");
        let status = Command::new("cp").arg("-a").arg(self.here.path()).arg(&there).status().unwrap();
        assert!(status.success());
        (folder, there)
    }
}

fn doctor(here: &Path, more: &[&str], variables: &[(&str, String)]) -> Ran {
    let mut command = gleaner(here, &[&["doctor", "--data", "data", "--rules", "rules"], more].concat());
    for (name, value) in variables {
        command.env(name, value);
    }
    Ran::of(&command.output().unwrap())
}

fn findings(report: &Value) -> Vec<Value> {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().flat_map(|check| check["findings"].as_array().unwrap().clone()).collect()
}

/// Paths below a folder with what `ls -l` shows of them, but for the times of reading.
fn listed(folder: &Path) -> BTreeSet<String> {
    let listed = Command::new("find").arg(folder).args(["-printf", "%p %M %s %T@\n"]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn doctor_finds_nothing_where_all_is_well_and_changes_nothing() {
    let well = Well::new();
    let here = well.here.path();
    let before = listed(here);
    let told = doctor(here, &[], &[]).ended(0);
    assert!(told.out.ends_with("all is well\n"), "{}", told.out);
    let json = doctor(here, &["--json", "demo"], &[]).ended(0).json();
    assert_eq!((&json["findings"], findings(&json).len()), (&0.into(), 0), "{json}");
    let offline = doctor(here, &["--offline"], &[]).ended(0);
    assert!(offline.out.contains("skipped   sites"), "{}", offline.out);
    assert_eq!(before, listed(here), "nothing was written");
    doctor(here, &["nosuch"], &[]).ended(1).says(&["no site of this name", "gleaner rules check"]);
}

#[test]
fn doctor_names_the_cause_of_each_planted_fault_and_its_fix() {
    let well = Well::new();
    let mut wrong = Vec::new();
    for (name, plant, code, fix) in FAULTS.iter().chain(planted::MORE) {
        let (_folder, here) = well.copy();
        let variables = plant(&here);
        let ran = doctor(&here, &["--json"], &variables);
        assert!(!ran.out.contains("geheim-4711"), "{name}: a secret is shown: {}", ran.out);
        if ran.code != Some(1) {
            wrong.push(format!("{name}: exit code {:?}: {}{}", ran.code, ran.out, ran.err));
            continue;
        }
        let found = findings(&ran.json());
        let is_it = |finding: &&Value| finding["code"] == *code && finding["fix"].as_str().unwrap().contains(fix);
        if !found.iter().any(|of| is_it(&of)) {
            wrong.push(format!("{name}: no {code} with `{fix}`: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FAULTS.len() >= 25, "{}", FAULTS.len());
}

#[test]
fn doctor_asks_a_running_service_and_tries_its_public_url() {
    let well = Well::new();
    let here = well.here.path();
    let _service = Service::start(here);
    let port = port_of(&_service);
    wait_for("the service answers", || {
        let ran = run(here, &["status", "--json", "--data", "data"]);
        (ran.code == Some(0) && ran.json()["crawling"] == true).then_some(())
    });
    let listen = ("GLEANER_WEB_LISTEN", format!("127.0.0.1:{port}"));
    wait_for("all is well while it runs", || {
        let told = doctor(here, &[], std::slice::from_ref(&listen));
        (told.code == Some(0)).then_some(())
    });
    run(here, &["token", "new", "a", "--data", "data"]).ended(0);
    for (url, wanted) in [(port, 0), (closed_port(), 1), (answering("", "200 OK", "hello"), 1)] {
        let variables = [listen.clone(), ("GLEANER_WEB_PUBLIC_URL", format!("http://127.0.0.1:{url}"))];
        doctor(here, &["--offline"], &variables).ended(0).says(&["skipped   public URL"]);
        let ran = doctor(here, &["--json"], &variables).ended(wanted);
        let found = findings(&ran.json());
        let is_it =
            |of: &Value| of["code"] == "public_url_elsewhere" && of["fix"].as_str().unwrap().contains("`public_url`");
        assert_eq!(found.iter().filter(|of| is_it(of)).count(), wanted as usize, "{found:?}");
    }
    let nothing = [("GLEANER_WEB_LISTEN", format!("127.0.0.1:{}", closed_port()))];
    let found = findings(&doctor(here, &["--json", "--offline"], &nothing).ended(1).json());
    assert!(found.iter().any(|of| of["code"] == "web_not_running"), "{found:?}");
}

#[test]
fn doctor_finds_a_disk_that_is_full_of_bytes_or_files_or_read_only() {
    const INSIDE: &str = "GLEANER_TEST_DOCTOR_DISK";
    if let Some(here) = std::env::var_os(INSIDE) {
        return on_small_disks(Path::new(&here));
    }
    with_own_mounts("doctor::doctor_finds_a_disk_that_is_full_of_bytes_or_files_or_read_only", INSIDE);
}

fn on_small_disks(here: &Path) {
    crate::cli::harness::write_site(here, closed_port());
    let data = here.join("data");
    fs::create_dir(&data).unwrap();
    for (options, code, fix) in [
        ("size=8m,mode=700", "disk_low", "df "),
        ("size=900m,nr_inodes=200,mode=700", "inodes_low", "df -i"),
        ("size=900m,ro,mode=700", "disk_read_only", "findmnt"),
    ] {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", options, "gleaner"]).arg(&data).status();
        assert!(status.expect("apt-get install mount").success(), "mount -o {options}");
        let found = findings(&doctor(here, &["--json", "--offline"], &[]).ended(1).json());
        let is_it = |of: &&Value| of["code"] == code && of["fix"].as_str().unwrap().contains(fix);
        assert!(found.iter().any(|of| is_it(&of)), "{options}: {found:?}");
        assert!(Command::new("umount").arg(&data).status().unwrap().success());
    }
}
