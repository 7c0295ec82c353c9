//! The operator's account at a site, as the crawl sees it: cookies, a password when it is needed, and what must outlive the
//! process. Where these lie is the keeper's business; nothing here prints them.

use std::sync::Arc;

use crate::clock::UnixMillis;
use crate::fetch::session::Jar;
use crate::login::secret::{MASK, Secret, told};
use crate::login::tries::{Hold, Tries};
use crate::rules::LoginRules;

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

/// A reason with its hints in one line, for the log.
#[must_use]
pub fn in_one_line(why: &str) -> String {
    let (said, hints) = why.split_once("\nhint: ").map_or((why, None), |(said, hints)| (said, Some(hints)));
    let hints = hints.map(|hints| format!(" (hint: {})", hints.trim_end().replace("\nhint: ", "; ")));
    (said.to_owned() + &hints.unwrap_or_default()).replace('\n', " ")
}

/// What is wrong with a table of the rule file that has the password where the name of a field belongs; None where it has
/// not. A password that is a plain word may be a name as well.
#[must_use]
pub fn misplaced(rules: &LoginRules, password: &Secret) -> Option<&'static str> {
    let json = rules.json.iter().flat_map(|json| [&json.user, &json.password]);
    let fields = rules.fields.iter().map(|(name, _)| name);
    let mut names = rules.user_field.iter().chain(&rules.password_field).chain(fields).chain(json);
    let is_one = told(password.reveal()) == MASK && names.any(|name| **name == *password.reveal());
    is_one.then_some(
        "[login] of the rule file has the password where the name of a field belongs: nothing is sent\nhint: write the \
         field's name there, as `password`",
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn a_password_in_the_place_of_a_name_is_seen_before_anything_is_sent() {
        let text = "start = ['http://h.example/']\nclasses.page = ['.']\n[login]\nuser = 'anna'\npassword_field = 'pass'\n\
                    fields = { Hunter3Xyzzy = 'x' }";
        let rules = rules::from_text("s", text).unwrap();
        let login = rules.login.as_ref().unwrap();
        for (password, expected) in [("Hunter3Xyzzy", true), ("pass", false), ("hunter3Xyzzy", false)] {
            assert_eq!(misplaced(login, &Secret::new(password)).is_some(), expected, "{password}");
        }
    }

    #[test]
    fn a_reason_is_one_line_of_the_log() {
        for (why, expected) in [
            ("no password\nhint: write it\nhint: or set it", "no password (hint: write it; or set it)"),
            ("one\ntwo", "one two"),
            ("plain (hint: x)", "plain (hint: x)"),
        ] {
            assert_eq!(in_one_line(why), expected);
        }
    }
}
