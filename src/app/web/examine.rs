//! `gleaner doctor --offline` for the page of the machine's health: a process of its own, beside the service, whose last result is kept.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gleaner_base::clock::Clock;
use gleaner_rules::config::Config;
use gleaner_serve::desk::{Check, Examined};
use serde::Deserialize;

use crate::limits::{EXAMINED_BYTES_MAX, EXAMINED_KEPT, EXAMINED_TIME_MAX};

/// Between two looks at whether the process has ended.
const LOOK_EACH: Duration = Duration::from_millis(50);

/// What the process prints.
#[derive(Deserialize)]
struct Printed {
    checks: Vec<Check>,
}

/// See the module.
#[derive(Clone)]
pub(super) struct Doctor {
    clock: Arc<dyn Clock>,
    arguments: Arc<Vec<OsString>>,
    last: Arc<Mutex<Examined>>,
}

impl Doctor {
    pub(super) fn new(clock: Arc<dyn Clock>, config: &Config) -> Self {
        let mut arguments: Vec<OsString> = ["doctor", "--offline", "--json"].map(OsString::from).into();
        let folders = [("--data", Some(&config.data_dir)), ("--rules", Some(&config.rules_dir))];
        for (option, path) in folders.into_iter().chain([("--config", config.file.as_ref())]) {
            if let Some(path) = path {
                arguments.extend([OsString::from(option), path.into()]);
            }
        }
        Self { clock, arguments: Arc::new(arguments), last: Arc::default() }
    }

    /// The last result; begins anew if that is wanted, or long ago.
    pub(super) fn examine(&self, is_wanted: bool) -> Examined {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let is_old = last.at.is_none_or(|at| now.since(at) >= EXAMINED_KEPT);
        if !last.is_running && (is_wanted || is_old) {
            let own = self.clone();
            let run = move || {
                let found = own.run();
                let mut last = own.last.lock().unwrap_or_else(PoisonError::into_inner);
                last.is_running = false;
                match found {
                    Ok(checks) => (last.checks, last.failed) = (checks, None),
                    Err(why) => last.failed = Some(why),
                }
            };
            (last.at, last.is_running) = (Some(now), true);
            if let Err(error) = std::thread::Builder::new().name("examine".to_owned()).spawn(run) {
                (last.is_running, last.failed) = (false, Some(error.to_string()));
            }
        }
        last.clone()
    }

    fn run(&self) -> Result<Vec<Check>, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(&*self.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut out = child.stdout.take();
        let read = std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = out.as_mut().map(|out| out.take(EXAMINED_BYTES_MAX).read_to_end(&mut text));
            read.transpose().map(|_| text)
        });
        let mut waited = Duration::ZERO;
        while child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if waited >= EXAMINED_TIME_MAX {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it did not end within {} s", EXAMINED_TIME_MAX.as_secs()));
            }
            std::thread::sleep(LOOK_EACH);
            waited += LOOK_EACH;
        }
        let text = read.join().ok().and_then(Result::ok).unwrap_or_default();
        let printed: Printed = serde_json::from_slice(&text).map_err(|error| format!("its report: {error}"))?;
        Ok(printed.checks)
    }
}
