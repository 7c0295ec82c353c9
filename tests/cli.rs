//! The built binary from outside: what it says, what it returns, what it leaves on the disk. Loopback only, every
//! process bounded in time and ended with its test.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Time for any one command; the slowest waits 15 s for a closed port.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(120);

/// Time in which SIGTERM ends the service (the promise), and how long the test waits before it gives up.
const STOP_TIME_MAX: Duration = Duration::from_secs(10);

const BINARY: &str = env!("CARGO_BIN_EXE_gleaner");

/// A command in a folder of its own, without the variables of whoever runs the tests.
fn gleaner(folder: &Path, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(BINARY);
    command.current_dir(folder).args(arguments).timeout(COMMAND_TIME_MAX);
    for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG", "GLEANER_LOG"] {
        command.env_remove(variable);
    }
    command
}

/// What a command left.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    #[track_caller]
    fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn says(self, wanted: &[&str]) -> Self {
        for wanted in wanted {
            assert!(
                self.out.contains(wanted) || self.err.contains(wanted),
                "`{wanted}` is missing in\n{}\n{}",
                self.out,
                self.err
            );
        }
        self
    }

    /// Standard output as exactly one line of JSON.
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.out.trim_end().lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    Ran::of(&gleaner(folder, arguments).output().unwrap())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Tests measure real time.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

/// Waits until `done` gives something; panics after [`COMMAND_TIME_MAX`].
#[track_caller]
fn wait_for<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let begun = now();
    loop {
        if let Some(value) = done() {
            return value;
        }
        assert!(begun.elapsed() < COMMAND_TIME_MAX, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Commands below `path`, as its help lists them.
fn commands_below(path: &[String]) -> Vec<Vec<String>> {
    let here = folder();
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = run(here.path(), &arguments).ended(0).out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut found = vec![path.to_vec()];
    for line in listed {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        if let Some(name) = line.split_whitespace().next().filter(|name| is_name && *name != "help") {
            found.extend(commands_below(&[path, &[name.to_owned()]].concat()));
        }
    }
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    let here = folder();
    let commands = commands_below(&[]);
    let names: Vec<String> = commands.iter().map(|path| path.join(" ")).collect();
    for wanted in [
        "demo",
        "crawl",
        "run",
        "rules",
        "rules check",
        "rules explain",
        "rules new",
        "rules schema",
        "status",
        "export",
        "coverage",
        "verify",
        "train",
        "config",
        "config check",
        "completions",
        "man",
    ] {
        assert!(names.iter().any(|name| name == wanted), "no help lists `{wanted}`: {names:?}");
    }
    for path in commands {
        for flag in ["--help", "-h"] {
            let arguments: Vec<&str> = path.iter().map(String::as_str).chain([flag]).collect();
            let ran = run(here.path(), &arguments).ended(0);
            let example =
                ran.out.lines().find_map(|line| line.strip_prefix("Example: ").or(line.strip_prefix("Start with: ")));
            let example = example.unwrap_or_else(|| panic!("`{path:?} {flag}` has no example:\n{}", ran.out));
            let of = path.first().filter(|_| path.len() > 1 || path.is_empty()).map_or("gleaner ", String::as_str);
            assert!(example.starts_with("gleaner ") && example.contains(of), "{path:?}: {example}");
            assert_eq!(ran.err, "");
        }
    }
}

#[test]
fn a_mistyped_command_or_flag_is_told_with_the_nearest_and_exits_2() {
    let here = folder();
    run(here.path(), &["crwl"]).ended(2).says(&["unrecognized subcommand 'crwl'", "'crawl'"]);
    run(here.path(), &["rules", "chekc"]).ended(2).says(&["'check'"]);
    run(here.path(), &["crawl", "--dry-rn"]).ended(2).says(&["'--dry-rn'", "'--dry-run'"]);
    run(here.path(), &["crawl", "--max-pages", "0"]).ended(2).says(&["--max-pages"]);
    run(here.path(), &["--version"]).ended(0).says(&[env!("CARGO_PKG_VERSION")]);
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0, "wrong usage leaves nothing behind");
}

#[test]
fn a_broken_rule_file_is_told_with_path_line_and_column() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let text = "start = ['http://127.0.0.1/']\n[classes]\nindex = ['^/$', '(']\nindx = []\n";
    fs::write(here.path().join("rules/bad.toml"), text).unwrap();
    run(here.path(), &["rules", "check", "--rules", "rules"])
        .ended(1)
        .says(&["rules/bad.toml:3:", "rules/bad.toml:4:1"]);
    run(here.path(), &["rules", "check", "rules/bad.toml"]).ended(1).says(&["rules/bad.toml:3:", "rules/bad.toml:4:1"]);
    run(here.path(), &["rules", "check", "rules/absent.toml"]).ended(1).says(&["rules/absent.toml"]);
    run(here.path(), &["crawl", "--rules", "rules"]).ended(1).says(&["rules/bad.toml:3:", "no usable site"]);
}

#[test]
fn a_new_rule_file_passes_its_check_and_is_never_overwritten() {
    let here = folder();
    let new = ["rules", "new", "https://example.org/torrents/", "--rules", "rules"];
    run(here.path(), &new).ended(0).says(&["wrote rules/", "gleaner rules check"]);
    let path = fs::read_dir(here.path().join("rules")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap() + "# mine\n";
    fs::write(&path, &text).unwrap();
    run(here.path(), &["rules", "check", "--rules", "rules"]).ended(0).says(&["no faults"]);
    run(here.path(), &new).ended(1).says(&["is there already", "hint:"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    run(here.path(), &["rules", "new", "no address", "--rules", "rules"]).ended(1).says(&["hint:"]);
}

#[test]
fn explain_names_the_file_and_line_of_the_rule() {
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let text = "start = ['http://site.example/']\ndeny = ['/private/']\n[classes]\nindex = ['^/$']\ndownload = ['\\.torrent$']\n";
    fs::write(here.path().join("rules/site.toml"), text).unwrap();
    let explain = |url: &str| run(here.path(), &["rules", "explain", url, "--rules", "rules"]);
    explain("http://site.example/a.torrent?sid=00112233445566778899aabbccddeeff#x").ended(0).says(&[
        "taken as    download",
        "site.toml:5",
        "http://site.example/a.torrent\n",
    ]);
    explain("http://site.example/private/a.torrent").ended(1).says(&["refused", "site.toml:2"]);
    explain("http://site.example/other").ended(1).says(&["refused", "none of"]);
    explain("http://other.example/").ended(1).says(&["no site file names the host", "site.example"]);
}

#[test]
fn the_schema_is_json_that_knows_the_keys() {
    let here = folder();
    let schema: Value = serde_json::from_str(&run(here.path(), &["rules", "schema"]).ended(0).out).unwrap();
    for key in ["start", "classes", "rate", "robots", "private_addresses"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn a_fault_of_the_configuration_is_told_with_path_line_and_column() {
    let here = folder();
    let check = |text: &str| {
        fs::write(here.path().join("gleaner.toml"), text).unwrap();
        run(here.path(), &["config", "check", "--config", "gleaner.toml"])
    };
    check("requests_max = 8\n").ended(0).says(&["ok gleaner.toml", "requests_max  8"]);
    check("requests_max = 8\ncontcat = 'x'\n").ended(1).says(&["gleaner.toml:2:1", "did you mean `contact`?"]);
    check("requests_max = 'many'\n").ended(1).says(&["gleaner.toml:1:16"]);
    run(here.path(), &["config", "check", "--config", "absent.toml"]).ended(1).says(&["absent.toml"]);
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let here = folder();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        run(here.path(), &["completions", shell]).ended(0).says(&["gleaner", "dry-run", "coverage"]);
    }
    run(here.path(), &["completions", "csh"]).ended(2).says(&["bash"]);
    run(here.path(), &["man", "deep/man1"]).ended(0);
    let page = |name: &str| fs::read_to_string(here.path().join("deep/man1").join(name)).unwrap();
    assert!(page("gleaner.1").contains("crawl") && page("gleaner-crawl.1").contains("dry"));
}

#[test]
fn no_color_and_pipes_get_no_escape_codes() {
    let here = folder();
    fs::write(here.path().join("bad.toml"), "contcat = 1\n").unwrap();
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color")] {
        for arguments in [&["rules", "check", "bad.toml"][..], &["config", "check", "--config", "bad.toml"], &["crwl"]]
        {
            let ran = Ran::of(&gleaner(here.path(), arguments).env(variable, value).output().unwrap());
            assert_ne!(ran.code, Some(0));
            assert!(
                !ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'),
                "{variable} {arguments:?}: {:?}",
                ran.err
            );
        }
    }
}

#[test]
fn a_demo_is_complete_and_a_second_one_resumes() {
    let here = folder();
    let first = run(here.path(), &["demo", "--json", "--torrents", "60"]).ended(0).json();
    for key in [
        "site_torrents",
        "stored",
        "false_torrents",
        "duplicates",
        "pages",
        "refused_fetches",
        "coverage",
        "harvest_rate",
        "seconds",
    ] {
        assert!(first[key].is_number(), "{key}: {first}");
    }
    assert!(here.path().join(first["archive"].as_str().unwrap()).is_dir(), "{first}");
    let told =
        |demo: &Value| (demo["coverage"].as_f64(), demo["false_torrents"].as_u64(), demo["refused_fetches"].as_u64());
    assert_eq!(told(&first), (Some(1.0), Some(0), Some(0)), "{first}");
    assert_eq!(first["stored"], first["site_torrents"]);

    let second = run(here.path(), &["demo", "--json"]).ended(0).json();
    assert_eq!(told(&second), (Some(1.0), Some(0), Some(0)), "{second}");
    assert_eq!(second["pages"], first["pages"], "a page was fetched again");

    run(here.path(), &["demo", "--torrents", "61"]).ended(1).says(&["60 torrents, not 61", "hint: "]);
    run(here.path(), &["verify", "--data", "gleaner-demo"]).ended(0).says(&["archive and database agree"]);
}

/// A port that nobody listens on: it was just given back.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn write_site(here: &Path, port: u16) {
    fs::create_dir(here.join("rules")).unwrap();
    let text = format!("enabled = true\nstart = ['http://127.0.0.1:{port}/']\n[classes]\nindex = ['^/$']\n");
    fs::write(here.join("rules/site.toml"), text).unwrap();
}

#[test]
fn a_crawl_of_a_closed_port_ends_by_itself_and_says_unreachable() {
    let here = folder();
    write_site(here.path(), closed_port());
    run(here.path(), &["crawl", "--rules", "rules", "--data", "data"]).ended(1).says(&["unreachable", "127.0.0.1"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let here = folder();
    write_site(here.path(), closed_port());
    let dry_run = ["crawl", "--dry-run", "--rules", "rules", "--data", "data"];
    run(here.path(), &dry_run).ended(0).says(&["start http://127.0.0.1:"]);
    let plan = run(here.path(), &[&dry_run[..], &["--json"]].concat()).ended(0).json();
    assert_eq!(plan["dry_run"], true);
    assert!(!here.path().join("data").exists());
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
    let misspelt = ["crawl", "sote", "--rules", "rules", "--data", "data"];
    run(here.path(), &misspelt).ended(1).says(&["did you mean `site`?"]);
}

/// The demo site in a process of its own.
struct Site {
    child: Child,
    /// Open for as long as the site is to serve.
    _stdin: ChildStdin,
}

impl Site {
    /// Leaves `rules/` and `truth` in the folder.
    fn start(here: &Path, torrents: usize, delay_ms: u64) -> Self {
        let mut child = Command::new(BINARY)
            .current_dir(here)
            .args(["__demo-site", "--torrents", &torrents.to_string(), "--delay-ms", &delay_ms.to_string()])
            .args(["--rules-out", "rules", "--truth", "truth"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("http://127.0.0.1:"), "the demo site said {line:?}");
        Self { _stdin: child.stdin.take().unwrap(), child }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of the demo site's truth: infohashes in hex.
fn truth(here: &Path) -> BTreeSet<String> {
    fs::read_to_string(here.join("truth")).unwrap().lines().map(str::to_owned).collect()
}

/// The archive's files by their names.
fn archived(data: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in fs::read_dir(data.join("torrents")).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() && !folder.file_name().unwrap().to_string_lossy().starts_with('.') {
            for file in fs::read_dir(folder).unwrap() {
                names.insert(file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    names
}

/// `gleaner run`, with its log as JSON in the file `log`.
struct Service {
    child: Child,
    here: PathBuf,
}

impl Service {
    fn start(here: &Path) -> Self {
        let child = Command::new(BINARY)
            .current_dir(here)
            .args(["run", "--data", "data", "--rules", "rules", "--log-format", "json"])
            .env_remove("GLEANER_LOG")
            .env_remove("GLEANER_CONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(here.join("log")).unwrap())
            .spawn()
            .unwrap();
        Self { child, here: here.to_owned() }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Every whole line of the log; each must be a JSON object.
    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.here.join("log")).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert!(value["timestamp"].is_string() && value["level"].is_string(), "{line}");
                value
            })
            .collect()
    }

    fn logged(&self, message: &str) -> Vec<Value> {
        self.log().into_iter().filter(|line| line["message"] == message).collect()
    }

    /// What `status --json` says of the demo site; None until there is such a thing.
    fn site(&mut self) -> Option<Value> {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("the service ended with {status}: {:?}", self.log());
        }
        // Before it is up, `status` would open the database itself.
        if self.logged("service is up").is_empty() {
            return None;
        }
        let ran = run(&self.here, &["status", "--json", "--data", "data"]);
        let report = (ran.code == Some(0)).then(|| ran.json())?;
        assert_eq!(report["crawling"], true, "another process than the service answered: {report}");
        report["sites"].as_array()?.iter().find(|site| site["name"] == "demo").cloned()
    }

    /// SIGTERM; how it ended.
    fn stop(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        let begun = now();
        let status = wait_for("the service ends", || self.child.try_wait().unwrap());
        assert!(begun.elapsed() < STOP_TIME_MAX, "SIGTERM took {:?}", begun.elapsed());
        self.log();
        status
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_service_answers_keeps_its_last_good_rules_and_reloads() {
    const BAD: &str = "rule file is bad; its last good state, if any, stays in force";
    let here = folder();
    let _site = Site::start(here.path(), 300, 50);
    let mut service = Service::start(here.path());
    wait_for("the service crawls", || service.site().filter(|site| site["pages"].as_u64() > Some(0)));
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(1).says(&[
        "another gleaner process holds the database",
        "hint: ",
        "data/crawl.redb",
    ]);

    let rules = here.path().join("rules/demo.toml");
    let good = fs::read_to_string(&rules).unwrap();
    let line = 1 + good.lines().position(|line| line.starts_with("start")).unwrap();
    fs::write(&rules, good.replace("\nstart", "\nstrat")).unwrap();
    let told = wait_for("the bad file is told", || service.logged(BAD).pop());
    let place = format!("rules/demo.toml:{line}:1");
    assert!(told["error"].as_str().unwrap().contains(&place), "{told} does not name {place}");

    let before = (service.logged(BAD).len(), service.logged("SIGHUP: rule files are read again").len());
    assert_eq!(before.1, 0);
    service.signal(Signal::HUP);
    wait_for("SIGHUP reads the rules again", || {
        let reloaded = service.logged("SIGHUP: rule files are read again").len() == 1;
        (reloaded && service.logged(BAD).len() > before.0).then_some(())
    });
    let all = truth(here.path()).len() as u64;
    wait_for("the last good rules harvest everything", || {
        service.site().filter(|site| site["torrents_seen"].as_u64() == Some(all))
    });

    fs::write(&rules, format!("enabled = false\n{good}")).unwrap();
    wait_for("a disabled site is stopped", || service.logged("site is no longer enabled").pop());
    assert_eq!(service.stop().code(), Some(0));
    run(here.path(), &["verify", "--data", "data"]).ended(0).says(&["archive and database agree"]);
}

#[test]
fn sigterm_in_the_middle_of_a_crawl_ends_the_service_in_time_and_loses_nothing() {
    let here = folder();
    let _site = Site::start(here.path(), 100, 200);
    let mut service = Service::start(here.path());
    let seen = wait_for("there are torrents", || {
        service.site().and_then(|site| site["torrents_seen"].as_u64()).filter(|torrents| *torrents > 0)
    });
    assert_eq!(service.stop().code(), Some(0));
    assert!(archived(&here.path().join("data")).len() as u64 >= seen);
    run(here.path(), &["verify", "--data", "data"]).ended(0).says(&["archive and database agree"]);
    let all = truth(here.path());
    let mut service = Service::start(here.path());
    wait_for("the next service harvests the rest", || {
        service.site().filter(|site| site["torrents_seen"].as_u64() == Some(all.len() as u64))
    });
    assert_eq!(service.stop().code(), Some(0));
    assert_eq!(archived(&here.path().join("data")), all);
}

#[test]
fn a_full_or_read_only_disk_ends_the_crawl_with_its_path_and_damages_nothing() {
    const INSIDE: &str = "GLEANER_TEST_SMALL_DISK";
    if let Some(here) = std::env::var_os(INSIDE) {
        return on_small_disks(Path::new(&here));
    }
    // Disks of our own, which nobody else sees, in a mount namespace.
    let here = folder();
    let test = "a_full_or_read_only_disk_ends_the_crawl_with_its_path_and_damages_nothing";
    let output = assert_cmd::Command::new("unshare")
        .args(["--mount", "--user", "--map-root-user"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(INSIDE, here.path())
        .timeout(3 * COMMAND_TIME_MAX)
        .output()
        .expect("apt-get install util-linux (unshare, mount)");
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "{}{}\nhint: this test mounts a tmpfs in a user namespace; allow it with \
         `sysctl kernel.unprivileged_userns_clone=1`, or run as root",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn mount(options: &str, data: &Path) {
    let status = Command::new("mount").args(["-t", "tmpfs", "-o", options, "gleaner"]).arg(data).status();
    assert!(status.expect("apt-get install mount").success(), "mount -o {options} {}", data.display());
}

fn on_small_disks(here: &Path) {
    let _site = Site::start(here, 300, 0);
    let truth = truth(here);
    // Full at the first byte of the database, at its growth, and under the archive; the whole crawl takes 2.5 MB.
    for size in ["16k", "100k", "400k", "600k", "1000k", "1700k"] {
        let data = here.join(format!("data-{size}"));
        fs::create_dir(&data).unwrap();
        mount(&format!("size={size},mode=755"), &data);
        let crawl = ["crawl", "--json", "--rules", "rules", "--data", data.to_str().unwrap()];
        let ran = run(here, &crawl).ended(1).says(&["error: ", data.to_str().unwrap()]);
        assert!(ran.err.contains("disk is full") || ran.err.contains("No space left"), "{size}: {}", ran.err);
        assert_eq!(ran.out, "", "{size}");

        mount("remount,size=64m", &data);
        run(here, &crawl).ended(0);
        assert_eq!(archived(&data), truth, "{size}");
        run(here, &["verify", "--data", data.to_str().unwrap()]).ended(0).says(&["archive and database agree"]);

        mount("remount,ro", &data);
        let ran = run(here, &crawl).ended(1).says(&["error: ", data.to_str().unwrap()]);
        assert!(ran.err.to_lowercase().contains("read-only"), "{size}: {}", ran.err);
        mount("remount,rw", &data);
        run(here, &crawl).ended(0);
        assert_eq!(archived(&data), truth, "{size}");
    }
}
