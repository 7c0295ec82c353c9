//! Faults that need more than a file to be planted: the store, a running service, another owner, mounts, or a kernel without filters.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb as _, Reader as _};
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::{Fault, NONE, Well, answering, configure, doctor, findings, mode, secret};
use crate::cli::harness::{BINARY, Ran, Service, closed_port, folder, run, wait_for, with_own_mounts};
use crate::cli::owners::give;

/// A user without files.
const STRANGER: u32 = 65_534;

const CHANNEL: &str = "[[alarm_channel]]\nname = 'box'\n";

pub const MORE: &[Fault] = &[
    ("a paused site", |here| (in_store(here, Planted::Pause), NONE).1, "site_paused", "gleaner resume demo"),
    ("a host that has asked for a pause", |here| (in_store(here, Planted::Block), NONE).1, "host_paused", "`rate` of"),
    ("a clock that is behind", |here| (in_store(here, Planted::Future), NONE).1, "clock_behind", "timedatectl"),
    ("an operator whom nobody can write to", super::site_named, "contact_missing", "contact = "),
    (
        "tokens that cannot be read",
        |here| {
            configure(here, "[web]\nauth = \"all\"\n");
            fs::write(here.join("data/tokens.json"), "nonsense").unwrap();
            mode(&here.join("data/tokens.json"), 0o600);
            NONE
        },
        "tokens_damaged",
        "token",
    ),
    (
        "a session that cannot be read",
        |here| {
            super::site(here, answering("", "200 OK", super::LINKED), "login.user = 'me'\n");
            secret(&here.join("data/secrets/other"), 0o600);
            secret(&here.join("data/sessions/other.json"), 0o600);
            NONE
        },
        "session_damaged",
        "login other",
    ),
    (
        "a database that another process holds, which answers nobody",
        |here| {
            let db = RedbStore::open(&here.join("data/crawl.redb"), OpenOptions::default()).unwrap();
            // Held until the tests end.
            std::mem::forget(db);
            NONE
        },
        "database_held",
        "gleaner status",
    ),
    (
        "a data folder that others can write",
        |here| (mode(&here.join("data"), 0o772), NONE).1,
        "data_writable",
        "chmod o-rwx",
    ),
    (
        "no index, though there is its folder",
        |here| (fs::create_dir(here.join("data/search")).unwrap(), NONE).1,
        "index_missing",
        "gleaner search",
    ),
    (
        "a server that cannot read its database",
        |_| {
            let port = answering("", "503 Service Unavailable", "the database does not answer");
            vec![("GLEANER_WEB_LISTEN", format!("127.0.0.1:{port}"))]
        },
        "web_not_ready",
        "journalctl",
    ),
    (
        "an address that this machine has not",
        |_| vec![("GLEANER_WEB_LISTEN", "192.0.2.1:8717".to_owned())],
        "listen_impossible",
        "`listen` of [web]",
    ),
    (
        "a watch folder that the service cannot write",
        |here| {
            configure(here, "[[handover]]\nname = \"box\"\nfolder = \"watch\"\n");
            fs::create_dir(here.join("watch")).unwrap();
            mode(&here.join("watch"), 0o500);
            // Root may write everywhere, and works here as the folder's owner.
            if is_root() {
                mode(here.parent().unwrap(), 0o755);
                give(&here.join("data"), STRANGER);
            }
            NONE
        },
        "handover_not_writable",
        "ReadWritePaths=",
    ),
    (
        "an open alarm",
        |here| {
            let alarm = r#"{"id":"refused-1","kind":"refused","site":"demo","title":"it throttles","since_ms":1,"over_ms":null,
                "figures":null,"rule":null,"page":null,"todo":"lower `rate`","silenced_until_ms":null,"note":null}"#;
            let state =
                format!(r#"{{"book":{{"open":[{{"key":["refused","demo",""],"alarm":{alarm},"away":null}}]}}}}"#);
            fs::create_dir(here.join("data/alarms")).unwrap();
            mode(&here.join("data/alarms"), 0o700);
            fs::write(here.join("data/alarms/state.json"), state).unwrap();
            NONE
        },
        "alarm_open",
        "lower `rate`",
    ),
    (
        "a channel whose program is not there",
        |here| (configure(here, &format!("{CHANNEL}command = ['/nonexistent/call']\n")), NONE).1,
        "alarm_program_missing",
        "`command` of",
    ),
    (
        "a channel whose program is no program",
        |here| {
            configure(here, &format!("{CHANNEL}command = ['{}']\n", here.join("rules/demo.toml").display()));
            NONE
        },
        "alarm_program_not_executable",
        "chmod a+x",
    ),
    (
        "a channel whose secret is not there",
        |here| (configure(here, &format!("{CHANNEL}url = 'https://127.0.0.1/{{secret}}'\n")), NONE).1,
        "alarm_secret_missing",
        "secrets/alarm-box (chmod 600)",
    ),
    (
        "a channel whose secret is two lines",
        |here| {
            configure(here, &format!("{CHANNEL}url = 'https://127.0.0.1/x'\n"));
            secret(&here.join("data/secrets/alarm-box"), 0o600);
            fs::write(here.join("data/secrets/alarm-box"), "geheim-4711\ngeheim-4711\n").unwrap();
            NONE
        },
        "alarm_secret_unreadable",
        "on one line",
    ),
    (
        "a channel whose host has no address",
        |here| (configure(here, &format!("{CHANNEL}ping_url = 'https://gleaner.invalid/{{secret}}'\n")), NONE).1,
        "alarm_host_unknown",
        "/etc/resolv.conf",
    ),
];

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

enum Planted {
    Pause,
    Block,
    Future,
}

/// Changes the store, as the service would.
fn in_store(here: &Path, what: Planted) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let now = SystemClock.now();
    let later = now.plus(Duration::from_secs(7_200));
    runtime.block_on(async {
        let db = RedbStore::open(&here.join("data/crawl.redb"), OpenOptions::default()).unwrap();
        match what {
            Planted::Pause => {
                let pause = serde_json::json!({ "since": now, "until": later, "by": "anna" });
                db.put_note("demo", "pause", serde_json::to_vec(&pause).unwrap()).await.unwrap();
            }
            Planted::Block => {
                let host = db.hosts().await.unwrap()[0].id;
                db.block_host_until(host, later, "429 Too Many Requests", 2).await.unwrap();
            }
            Planted::Future => {
                let row = db.torrents(None, 1).await.unwrap().remove(0);
                db.forget_torrent(row.facts.infohashes, now).await.unwrap();
                db.adopt_torrent(row.facts, later).await.unwrap();
            }
        }
    });
}

#[track_caller]
fn has(ran: Ran, code: &str, fix: &str) {
    let found = findings(&ran.json());
    let is_it = |of: &&Value| of["code"] == code && of["fix"].as_str().unwrap().contains(fix);
    assert!(found.iter().any(|of| is_it(&of)), "{code}: {found:?}");
}

#[test]
fn doctor_says_which_site_it_has_left_alone() {
    let well = Well::new();
    let (_folder, here) = well.copy();
    in_store(&here, Planted::Pause);
    let told = doctor(&here, &[], &[]).ended(1);
    told.says(&["demo: anna has paused it until ", "nothing of it was requested", "1 finding"]);
    // By its own rules it is left alone each night, which is no fault, and not called well.
    let (_folder, here) = well.copy();
    let path = here.join("rules/demo.toml");
    let text = fs::read_to_string(&path).unwrap();
    // Its last minute is not this one.
    let hour: u32 = SystemClock.now().rfc3339()[11..13].parse().unwrap();
    let offset = if (6..18).contains(&hour) { "Z" } else { "+12:00" };
    let hours = format!("\n[rate]\nutc_offset = '{offset}'\nquiet_hours = ['00:00-23:59']\n");
    fs::write(&path, text.replace("\n[rate]\n", &hours)).unwrap();
    let told = doctor(&here, &[], &[]).ended(0);
    let told = told.says(&["skipped   sites", "demo: its start pages were not requested: quiet_hours"]);
    assert!(told.out.ends_with("all that was examined is well\n"), "{}", told.out);
    // That is so without a database, too.
    fs::write(here.join("data/crawl.redb"), "no database").unwrap();
    doctor(&here, &[], &[]).ended(1).says(&["demo: its start pages were not requested: quiet_hours"]);
    fs::remove_dir_all(here.join("data")).unwrap();
    fs::create_dir(here.join("data")).unwrap();
    doctor(&here, &[], &[]).says(&["demo: its start pages were not requested: quiet_hours"]);
    // Where it cannot be read, somebody may have paused the site.
    let (_folder, here) = well.copy();
    fs::write(here.join("data/crawl.redb"), "no database").unwrap();
    doctor(&here, &[], &[])
        .ended(1)
        .says(&["start pages were not requested: whether it is to be left alone is not known"]);
}

#[test]
fn doctor_takes_a_folder_that_others_may_enter_for_a_fault_only_if_they_can_read_in_it() {
    let well = Well::new();
    let here = well.here.path();
    mode(&here.join("data"), 0o755);
    doctor(here, &["--offline"], &[]).ended(0);
    mode(&here.join("data/torrents"), 0o755);
    has(doctor(here, &["--offline", "--json"], &[]).ended(1), "data_readable", "chmod o-rwx");
}

#[test]
fn doctor_finds_an_index_that_a_service_cannot_keep_up() {
    let well = Well::new();
    let here = well.here.path();
    run(here, &["search", "--data", "data", "--json"]).ended(0);
    let torrent = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/torrents/v1-single.bin");
    fs::copy(torrent, here.join("one.torrent")).unwrap();
    run(here, &["import", "one.torrent", "--data", "data"]).ended(0);
    // Who writes the index holds this lock.
    let lock = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(here.join("data/search/.tantivy-writer.lock"));
    let lock = lock.unwrap();
    flock(lock.as_fd(), FlockOperation::NonBlockingLockExclusive).unwrap();
    let service = Service::start(here);
    wait_for("the index cannot be kept up", || {
        let is_told = |of: &Value| of["message"].as_str().unwrap_or_default().contains("index cannot be kept up");
        service.log().iter().any(is_told).then_some(())
    });
    let closed = [("GLEANER_WEB_LISTEN", "off".to_owned())];
    has(doctor(here, &["--offline", "--json"], &closed).ended(1), "index_behind", "journalctl");
}

#[test]
fn doctor_finds_what_belongs_to_another_user() {
    const INSIDE: &str = "GLEANER_TEST_DOCTOR_OWNER";
    let plant = |here: &Path| {
        crate::cli::harness::write_site(here, closed_port());
        fs::create_dir_all(here.join("data/exports")).unwrap();
        mode(&here.join("data"), 0o700);
    };
    if let Some(here) = std::env::var_os(INSIDE) {
        let here = Path::new(&here);
        plant(here);
        let status = Command::new("mount").args(["--bind", "/usr"]).arg(here.join("data/exports")).status();
        assert!(status.expect("apt-get install mount").success());
        return has(doctor(here, &["--json", "--offline"], &[]).ended(1), "owner_differs", "chown -R");
    }
    if !is_root() {
        let test = "doctor::planted::doctor_finds_what_belongs_to_another_user";
        return with_own_mounts(test, INSIDE);
    }
    let here = folder();
    plant(here.path());
    chown(here.path().join("data/exports"), Some(STRANGER), None).unwrap();
    has(doctor(here.path(), &["--json", "--offline"], &[]).ended(1), "owner_differs", "chown -R");
}

#[test]
fn doctor_finds_a_clock_that_no_time_server_has_set() {
    const INSIDE: &str = "GLEANER_TEST_DOCTOR_CLOCK";
    let Some(here) = std::env::var_os(INSIDE) else {
        return with_own_mounts("doctor::planted::doctor_finds_a_clock_that_no_time_server_has_set", INSIDE);
    };
    let here = Path::new(&here);
    crate::cli::harness::write_site(here, closed_port());
    let status = Command::new("mount").args(["-t", "tmpfs", "gleaner", "/run"]).status();
    assert!(status.expect("apt-get install mount").success());
    fs::create_dir_all("/run/systemd/timesync").unwrap();
    has(doctor(here, &["--json", "--offline"], &[]).ended(1), "clock_unsynchronised", "set-ntp");
    fs::write("/run/systemd/timesync/synchronized", "").unwrap();
    let found = findings(&doctor(here, &["--json", "--offline"], &[]).json());
    assert!(found.iter().all(|of| of["code"] != "clock_unsynchronised"), "{found:?}");
}

#[test]
fn doctor_finds_a_name_that_is_led_to_this_machine() {
    const INSIDE: &str = "GLEANER_TEST_DOCTOR_HOSTS";
    let Some(here) = std::env::var_os(INSIDE) else {
        return with_own_mounts("doctor::planted::doctor_finds_a_name_that_is_led_to_this_machine", INSIDE);
    };
    let here = Path::new(&here);
    crate::cli::harness::write_site(here, closed_port());
    configure(here, &format!("{CHANNEL}url = 'https://ntfy.gleaner.example/x'\n"));
    fs::write(here.join("hosts"), "0.0.0.0 ntfy.gleaner.example\n").unwrap();
    let status = Command::new("mount").arg("--bind").arg(here.join("hosts")).arg("/etc/hosts").status();
    assert!(status.expect("apt-get install mount").success());
    has(doctor(here, &["--json"], &[]).ended(1), "alarm_host_inside", "Pi-hole");
}

#[test]
fn doctor_finds_a_kernel_that_cannot_confine_scripts() {
    let here = folder();
    crate::cli::harness::write_site(here.path(), closed_port());
    let mut command = Command::new(BINARY);
    command.current_dir(here.path()).args(["doctor", "--data", "data", "--rules", "rules", "--offline", "--json"]);
    // SAFETY: system calls alone, between fork and exec.
    unsafe { command.pre_exec(without_filters) };
    has(Ran::of(&command.output().unwrap()), "unconfined", "require_confinement = false");
    has_not(doctor(here.path(), &["--offline", "--json"], &[]), "unconfined");
}

#[track_caller]
fn has_not(ran: Ran, code: &str) {
    let found = findings(&ran.json());
    assert!(found.iter().all(|of| of["code"] != code), "{code}: {found:?}");
}

/// Has `prctl(PR_SET_SECCOMP)` of this process answer as a kernel without filters does, with EINVAL.
fn without_filters() -> std::io::Result<()> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, is, returns) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    // The number of the call is at 0, the low half of its first argument at 16.
    let mut steps = [
        step(load, 0, 0, 0),
        step(is, 0, 3, libc::SYS_prctl as u32),
        step(load, 0, 0, 16),
        step(is, 0, 1, libc::PR_SET_SECCOMP as u32),
        step(returns, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        step(returns, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program lives until both calls have returned.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
