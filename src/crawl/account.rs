//! The operator's account at a site, as the crawl sees it: cookies, a password when it is needed, and what must outlive the
//! process. Where these lie is the keeper's business; nothing here prints them.

use std::sync::Arc;

use crate::clock::UnixMillis;
use crate::fetch::session::Jar;
use crate::login::secret::Secret;
use crate::login::tries::{Hold, Tries};

/// Keeps what an account needs beyond one process: files in a data folder, or nothing in a test. Its calls may block for
/// the time of a file; errors are told to the operator as they are.
pub trait Keeper: Send + Sync + 'static {
    /// The password, read anew each time.
    fn password(&self) -> Result<Secret, String>;
    /// Writes a session down that has been proven, in place of the one before.
    fn keep(&self, jar: &Jar) -> Result<(), String>;
    /// Takes up the session that is written down; false where there is none.
    fn take_up(&self, jar: &Jar) -> Result<bool, String>;
    /// The right to log in, held until it is dropped; None while another process has it.
    fn turn(&self) -> Result<Option<Turn>, String>;
    /// What earlier logins forbid.
    fn tries(&self) -> Result<Tries, String>;
    fn keep_tries(&self, tries: &Tries) -> Result<(), String>;
    /// Another number once the operator has changed the password or the session that is written down.
    fn stamp(&self) -> u64;
}

/// What earlier logins forbid now; a refusal is told in the words of the login that met it.
#[must_use]
pub fn hold(tries: &Tries, user: &str, password: &Secret, now: UnixMillis) -> Option<Hold> {
    match tries.hold(user, password, now)? {
        Hold::Operator(why) if tries.has_refused(user, password) => {
            Some(Hold::Operator(tries.trouble().map_or(why, ToOwned::to_owned)))
        }
        hold => Some(hold),
    }
}

/// The right to log in.
pub type Turn = Box<dyn Send>;

/// The account of one site.
#[derive(Clone)]
pub struct Account {
    /// The cookies of the site's client.
    pub jar: Arc<Jar>,
    pub keeper: Arc<dyn Keeper>,
}
