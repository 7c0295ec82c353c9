//! `gleaner doctor --offline` for the page of the machine's health: a process of its own, beside the service, whose last result is kept. It runs where
//! somebody asks for it, one at a time.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_rules::config::Config;
use gleaner_serve::desk::{Check, Examined};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::Deserialize;

use crate::app::niceness::be_nice;
use crate::limits::{EXAMINED_BYTES_MAX, EXAMINED_KILL_TIME_MAX, EXAMINED_TIME_MAX};

/// Between two looks at whether the process has ended.
const LOOK_EACH: Duration = Duration::from_millis(50);

/// What the process prints.
#[derive(Deserialize)]
struct Printed {
    checks: Vec<Check>,
}

/// What is run, and for how long.
struct Order {
    /// None for this program.
    program: Option<PathBuf>,
    arguments: Vec<OsString>,
    time_max: Duration,
}

#[derive(Default)]
struct State {
    last: Examined,
    /// Killed in vain: it waits for a disk.
    left: Option<Child>,
}

/// See the module.
#[derive(Clone)]
pub(super) struct Doctor {
    clock: Arc<dyn Clock>,
    order: Arc<Order>,
    state: Arc<Mutex<State>>,
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
        Self::of(clock, Order { program: None, arguments, time_max: EXAMINED_TIME_MAX })
    }

    fn of(clock: Arc<dyn Clock>, order: Order) -> Self {
        Self { clock, order: Arc::new(order), state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last.is_hanging = state.left.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        if !state.last.is_hanging {
            state.left = None;
        }
        state
    }

    /// The last result.
    pub(super) fn examined(&self) -> Examined {
        self.state().last.clone()
    }

    /// Begins anew; false if the last process has not ended.
    pub(super) fn examine(&self) -> bool {
        let mut state = self.state();
        if state.last.is_running || state.last.is_hanging {
            return false;
        }
        state.last.is_running = true;
        drop(state);
        let found = Err("it stopped at an inconsistency: the log says at which".to_owned());
        let mut running = Running { doctor: self.clone(), began: self.clock.now(), found };
        let run = move || {
            // The process has the priority of the thread that starts it.
            be_nice();
            running.found = running.doctor.run();
        };
        // Without a thread it ends here, with the guard.
        if let Err(error) = std::thread::Builder::new().name("examine".to_owned()).spawn(run) {
            self.state().last.failed = Some(error.to_string());
        }
        true
    }

    fn run(&self) -> Result<Vec<Check>, String> {
        let told = |error: io::Error| error.to_string();
        let program = self.order.program.clone().map_or_else(std::env::current_exe, Ok).map_err(told)?;
        // A file in memory: a pipe would want a reader, which may wait as long as the process.
        let mut report = File::from(memfd_create("doctor", MemfdFlags::CLOEXEC).map_err(|error| told(error.into()))?);
        let mut command = Command::new(program);
        command.args(&self.order.arguments).stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = command.stdout(report.try_clone().map_err(told)?).spawn().map_err(told)?;
        let time_max = self.order.time_max;
        if !has_ended(&mut child, time_max)? {
            let _ = child.kill();
            if !has_ended(&mut child, EXAMINED_KILL_TIME_MAX)? {
                self.state().left = Some(child);
            }
            return Err(format!("it did not end within {} s", time_max.as_secs()));
        }
        let mut text = Vec::new();
        report.rewind().map_err(told)?;
        report.take(EXAMINED_BYTES_MAX).read_to_end(&mut text).map_err(told)?;
        let printed: Printed = serde_json::from_slice(&text).map_err(|error| format!("its report: {error}"))?;
        Ok(printed.checks)
    }
}

/// Waits no longer than this.
fn has_ended(child: &mut Child, time_max: Duration) -> Result<bool, String> {
    let mut waited = Duration::ZERO;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if waited >= time_max {
            return Ok(false);
        }
        std::thread::sleep(LOOK_EACH);
        waited += LOOK_EACH;
    }
    Ok(true)
}

/// A run: its result is kept however it ends.
struct Running {
    doctor: Doctor,
    began: UnixMillis,
    found: Result<Vec<Check>, String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let found = std::mem::replace(&mut self.found, Ok(Vec::new()));
        let mut state = self.doctor.state();
        state.last.is_running = false;
        state.last.at = Some(self.began);
        (state.last.checks, state.last.failed) = match found {
            Ok(checks) => (checks, None),
            Err(why) => (Vec::new(), Some(why)),
        };
    }
}

#[cfg(test)]
mod tests {
    use gleaner_base::clock::SystemClock;

    use super::*;

    fn doctor(script: &str, time_max: Duration) -> Doctor {
        let arguments = ["-c", script].map(OsString::from).into();
        Doctor::of(Arc::new(SystemClock), Order { program: Some("/bin/sh".into()), arguments, time_max })
    }

    fn ended(doctor: &Doctor) -> Examined {
        for _ in 0..2_000 {
            let examined = doctor.examined();
            if !examined.is_running {
                return examined;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it runs for ever");
    }

    #[test]
    fn it_runs_where_it_is_asked_for_with_less_of_the_processor_and_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        let script = format!(
            r#"while ! test -e {}; do sleep 0.01; done; printf '{{"checks":[{{"check":"%s","state":"well","findings":[]}}]}}' "$(nice)""#,
            gate.display()
        );
        let doctor = doctor(&script, Duration::from_secs(20));
        assert_eq!(doctor.examined(), Examined::default(), "a look starts nothing");
        assert!(doctor.examine());
        assert!(doctor.examined().is_running && !doctor.examine(), "one at a time");
        std::fs::write(&gate, "").unwrap();
        let examined = ended(&doctor);
        assert_eq!((&examined.failed, examined.at.is_some(), examined.checks.len()), (&None, true, 1));
        assert!(examined.checks[0].name.parse::<i32>().unwrap() >= 10, "{:?}", examined.checks);
    }

    #[test]
    fn one_that_does_not_end_is_ended_and_the_next_may_begin() {
        let doctor = doctor("exec sleep 600", Duration::ZERO);
        for _ in 0..2 {
            assert!(doctor.examine());
            let examined = ended(&doctor);
            assert_eq!(examined.failed.as_deref(), Some("it did not end within 0 s"));
            assert!(!examined.is_hanging && examined.checks.is_empty());
        }
    }

    #[test]
    fn one_that_was_killed_in_vain_is_not_joined_by_another() {
        let doctor = doctor("true", Duration::from_secs(20));
        let mut waits = Command::new("/bin/sh");
        waits.args(["-c", "read line"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = waits.spawn().unwrap();
        let pipe = child.stdin.take();
        doctor.state().left = Some(child);
        assert!(doctor.examined().is_hanging && !doctor.examine());
        drop(pipe);
        while doctor.examined().is_hanging {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(doctor.examine());
        assert!(ended(&doctor).failed.is_some_and(|why| why.starts_with("its report: ")));
    }

    #[test]
    fn a_run_that_stops_in_the_middle_runs_no_more() {
        let doctor = doctor("true", Duration::ZERO);
        doctor.state().last.is_running = true;
        let (began, found) = (UnixMillis(1), Err("stopped".to_owned()));
        drop(Running { doctor: doctor.clone(), began, found });
        let examined = doctor.examined();
        assert_eq!((examined.is_running, examined.failed.as_deref()), (false, Some("stopped")));
    }
}
