//! How signals end a login by hand: at once before a form is sent, and while a person is asked; after that the response is followed
//! to its proof, so that a right password is not held back because nobody waited for the response.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::app::Ends;
use crate::app::signals::Signals;
use crate::cli::no_thread;
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_crawl::login::{Noted, Notes};
use gleaner_login::verdict::Verdict;

/// The state that a signal handler needs.
#[derive(Clone, Default)]
pub struct Ending(Arc<Mutex<LoginProgress>>);

#[derive(Default)]
struct LoginProgress {
    form_left: bool,
    is_told: bool,
    is_asking: bool,
    /// The picture shown to the person.
    picture: Option<PathBuf>,
}

impl LoginProgress {
    fn remove_picture(&mut self) {
        if let Some(path) = self.picture.take() {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Ending {
    /// Starts to listen for signals.
    ///
    /// # Errors
    /// If the system provides no thread for it, or no signal handlers.
    pub fn listen() -> anyhow::Result<Self> {
        let ending = Self::default();
        let heard = ending.clone();
        // The login thread may block on terminal input: another thread has to receive the signal.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let entered = runtime.enter();
        let signals = Signals::listen()?;
        drop(entered);
        let hears = move || runtime.block_on(heard.hear(signals));
        std::thread::Builder::new().name("signals".to_owned()).spawn(hears).map_err(|error| no_thread(&error))?;
        Ok(ending)
    }

    async fn hear(&self, mut signals: Signals) {
        let mut ends = Ends::default();
        let mut signal = signals.next().await;
        loop {
            // The exit code that a shell reports for a process ended by a signal.
            let code = 128 + signal.as_raw_value();
            {
                // The lock waits for a form that is being sent.
                let mut state = self.lock();
                if !state.form_left || state.is_asking {
                    state.remove_picture();
                    std::process::exit(code);
                }
                if !std::mem::replace(&mut state.is_told, true) {
                    errln!(
                        "stopping: the form was sent, so gleaner waits for its answer for up to {} s; a second signal ends at once",
                        limits::LOGIN_DRAIN_TIME_MAX.as_secs()
                    );
                }
            }
            ends.told(signal, SystemClock.now());
            signal = tokio::select! {
                signal = signals.next() => signal,
                () = tokio::time::sleep(Self::left(&ends)) => {
                    errln!("the login was aborted after its form was sent: the next one proves its session, or says what to do");
                    std::process::exit(code);
                }
            };
        }
    }

    /// Time left to follow a response.
    fn left(ends: &Ends) -> Duration {
        ends.first()
            .map_or(Duration::ZERO, |first| limits::LOGIN_DRAIN_TIME_MAX.saturating_sub(SystemClock.now().since(first)))
    }

    /// Marks that a question is shown, with its picture if any; false if no more questions may be asked.
    pub fn asks(&self) -> bool {
        let mut state = self.lock();
        state.is_asking = !state.is_told;
        state.is_asking
    }

    /// Registers the question's picture before it is written, so that a signal in between removes it.
    pub fn shows(&self, path: PathBuf) {
        self.lock().picture = Some(path);
    }

    /// Marks that the question was answered.
    pub fn is_answered(&self) {
        let mut state = self.lock();
        state.is_asking = false;
        state.remove_picture();
    }

    fn lock(&self) -> MutexGuard<'_, LoginProgress> {
        // Four fields, each consistent at any moment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets a login store its state midway, and sends no more forms after a signal.
pub struct Followed<'a> {
    pub noted: &'a Noted<'a>,
    pub ending: &'a Ending,
}

impl Notes for Followed<'_> {
    fn begins(&self) -> Result<(), String> {
        let mut state = self.ending.lock();
        if state.is_told {
            return Err("stopping: no more forms are sent".to_owned());
        }
        self.noted.begins()?;
        state.form_left = true;
        Ok(())
    }

    fn may_read_again(&self) -> bool {
        self.noted.may_read_again()
    }

    fn asks_to_wait(&self, until: UnixMillis) {
        self.noted.asks_to_wait(until);
    }

    fn awaits_proof(&self, unless: Verdict) {
        self.noted.awaits_proof(unless);
    }
}
