//! Helpers for tests of the binary: a command and its result, the demo site, and the service, each in its own folder
//! and ended with its test.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Time limit of a command; the slowest waits 15 s for a closed port.
pub const COMMAND_TIME_MAX: Duration = Duration::from_secs(120);

/// Time in which SIGTERM has to end the service: after it systemd kills it (`TimeoutStopSec`). A disk that stands still takes most of it.
pub const STOP_TIME_MAX: Duration = Duration::from_secs(45);

pub const BINARY: &str = env!("CARGO_BIN_EXE_gleaner");

/// A command with the default disposition of each signal: children of `nohup` and of a shell's `&` inherit ignored ones.
pub fn with_default_signals(program: &str) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", program]);
    command
}

/// A command in its own folder, without the environment variables of the test runner.
pub fn gleaner(folder: &Path, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(BINARY);
    command.current_dir(folder).args(arguments).env("GLEANER_WEB_LISTEN", "127.0.0.1:0").timeout(COMMAND_TIME_MAX);
    for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG", "GLEANER_LOG"] {
        command.env_remove(variable);
    }
    command
}

/// The result of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn says(self, wanted: &[&str]) -> Self {
        for wanted in wanted {
            assert!(
                unfolded(&self.out).contains(&unfolded(wanted)) || self.err.contains(wanted),
                "`{wanted}` is missing in\n{}\n{}",
                self.out,
                self.err
            );
        }
        self
    }

    /// Standard output as exactly one line of JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.out.trim_end().lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// A text without its layout: lines are folded.
pub fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn run(folder: &Path, arguments: &[&str]) -> Ran {
    Ran::of(&gleaner(folder, arguments).output().unwrap())
}

pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Tests measure real time.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// Runs a test of this binary once more, where its mounts are its own and end with it, in a folder that the variable `inside` names.
pub fn with_own_mounts(test: &str, inside: &str) {
    let here = folder();
    let output = assert_cmd::Command::new("unshare")
        .args(["--mount", "--user", "--map-root-user"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(inside, here.path())
        .timeout(3 * COMMAND_TIME_MAX)
        .output()
        .expect("apt-get install util-linux (unshare, mount)");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}{}\nhint: this test mounts a tmpfs in a user namespace; allow it with `sysctl kernel.unprivileged_userns_clone=1`, or run as root",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Waits until `done` returns something; panics after [`COMMAND_TIME_MAX`].
#[track_caller]
pub fn wait_for<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let begun = now();
    loop {
        if let Some(value) = done() {
            return value;
        }
        assert!(begun.elapsed() < COMMAND_TIME_MAX, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A port without a listener: it was just released.
pub fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub fn write_site(here: &Path, port: u16) {
    fs::create_dir(here.join("rules")).unwrap();
    let text = format!("enabled = true\nstart = ['http://127.0.0.1:{port}/']\n[classes]\nindex = ['^/$']\n");
    fs::write(here.join("rules/site.toml"), text).unwrap();
}

/// The demo site in its own process.
pub struct Site {
    child: Child,
    /// `http://127.0.0.1:port`.
    pub origin: String,
    /// Open while the site has to serve.
    _stdin: ChildStdin,
}

impl Site {
    /// Writes `rules/` and `truth` into the folder.
    pub fn start(here: &Path, torrents: usize, delay_ms: u64) -> Self {
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
        let said: Value = serde_json::from_str(&line).unwrap();
        Self { _stdin: child.stdin.take().unwrap(), child, origin: said["site"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of the demo site's truth: infohashes in hex.
pub fn truth(here: &Path) -> BTreeSet<String> {
    fs::read_to_string(here.join("truth")).unwrap().lines().map(str::to_owned).collect()
}

/// The archive's files by name.
pub fn archived(data: &Path) -> BTreeSet<String> {
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
pub struct Service {
    child: Child,
    here: PathBuf,
}

impl Service {
    pub fn start(here: &Path) -> Self {
        Self::with(here, &[])
    }

    /// The same with these variables of the environment.
    pub fn with(here: &Path, variables: &[(&str, &str)]) -> Self {
        let child = with_default_signals(BINARY)
            .current_dir(here)
            // A port that the system chooses: many services run side by side.
            .env("GLEANER_WEB_LISTEN", "127.0.0.1:0")
            .envs(variables.iter().copied())
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

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Every complete line of the log; each must be a JSON object.
    pub fn log(&self) -> Vec<Value> {
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

    pub fn logged(&self, message: &str) -> Vec<Value> {
        self.log().into_iter().filter(|line| line["message"] == message).collect()
    }

    /// The demo site in `status --json`; None until it exists.
    pub fn site(&mut self) -> Option<Value> {
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

    /// Sends SIGTERM; returns the exit status.
    pub fn stop(mut self) -> ExitStatus {
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
