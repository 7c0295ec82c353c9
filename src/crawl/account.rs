//! The operator's account at a site, as the crawl uses it: cookies, the password when it is needed, and state that must outlive the
//! process. The keeper decides where these are stored; nothing here prints them.

use std::sync::Arc;

use gleaner_base::url::CrawlUrl;
use gleaner_login::mask::Mask;
use gleaner_login::secret::{MASK, Secret, told};
use gleaner_login::tries::Tries;
use gleaner_net::fetch::session::Jar;
use gleaner_rules::{LoginRules, SiteRules};

/// Stores what an account needs beyond one process: files in a data folder, or nothing in a test. Its calls may block for
/// the time of a file access; errors are shown to the operator verbatim.
pub trait Keeper: Send + Sync + 'static {
    /// The password, read again on each call.
    fn password(&self) -> Result<Secret, String>;
    /// Stores a proven session in place of the previous one.
    fn keep(&self, jar: &Jar) -> Result<(), String>;
    /// Restores the stored session; false if there is none.
    fn take_up(&self, jar: &Jar) -> Result<bool, String>;
    /// The right to log in, held until it is dropped; None while another process has it.
    fn turn(&self) -> Result<Option<Turn>, String>;
    /// The restrictions that follow from earlier logins.
    fn tries(&self) -> Result<Tries, String>;
    /// The same for other rule files that may use the same account under other names.
    fn other_tries(&self) -> Vec<Tries> {
        Vec::new()
    }
    fn keep_tries(&self, tries: &Tries) -> Result<(), String>;
    /// Stores the cookies of a login whose form was accepted, but for which no page has shown yet whether it succeeded: a session
    /// separate from the proven one.
    fn keep_unproven(&self, jar: &Jar) -> Result<(), String>;
    /// Restores these cookies if they belong to the current user and password; false if there are none.
    fn take_up_unproven(&self, jar: &Jar) -> Result<bool, String>;
    /// Drops them: they were proven, or not, or the operator has intervened since.
    fn forget_unproven(&self) -> Result<(), String>;
    /// A number that changes when the operator changes the password or the stored session.
    fn stamp(&self) -> u64;
    /// A sentence about the account for the log, with the paths and command options that the keeper knows.
    fn told(&self, sentence: &str) -> String {
        sentence.to_owned()
    }
}

/// A reason with its hints in one line, for the log.
#[must_use]
pub fn in_one_line(why: &str) -> String {
    let (said, hints) = why.split_once("\nhint: ").map_or((why, None), |(said, hints)| (said, Some(hints)));
    let hints = hints.map(|hints| format!(" (hint: {})", hints.trim_end().replace("\nhint: ", "; ")));
    (said.to_owned() + &hints.unwrap_or_default()).replace('\n', " ")
}

/// Where the rule file contains the password, and what to do; None if it does not. Whole values and parts of them count, in
/// the forms in which the password would be recognised (percent-encoded, base64, its hashes, ...). A password that is a
/// plain word may also be part of an address or the name of a field, and one of fewer than four characters is in everything.
#[must_use]
pub fn misplaced(site: &SiteRules, rules: &LoginRules, password: &Secret) -> Option<String> {
    let (plain, mask) = (password.reveal(), Mask::of(&rules.user, password));
    if plain.chars().count() < SECRET_PART_CHARS_MIN {
        return None;
    }
    let is_word = told(plain) != MASK;
    let holds = |text: &str| text.contains(plain) || mask.is_in(text.as_bytes());
    let in_address = |url: &CrawlUrl| !is_word && holds(url.path());
    let is_name = |name: &str| !is_word && holds(name);
    let file = site.file.display();
    if let Some(key) = misnamed(rules, is_name) {
        return Some(format!(
            "{file}: `{key}` in [login] has the password where the name of a field belongs: nothing is sent\nhint: write the \
             field's name there, as `password`, and change the password: others may have read it"
        ));
    }
    let json = rules.json.as_ref();
    let addresses = [
        ("login.page", rules.page.as_ref()),
        ("login.probe", rules.probe.as_ref()),
        ("login.json.url", json.map(|json| &json.url)),
    ];
    let starts = site.start.iter().map(|url| ("start", Some(url)));
    let of_address = addresses.into_iter().chain(starts);
    let of_address = of_address.filter(|(_, url)| url.is_some_and(in_address)).map(|(key, _)| key.to_owned());
    // A name may contain its password, as annabelle contains anna; one that somebody put there is a separate part.
    let parts = rules.user.split(|of: char| of.is_whitespace() || ":;,|/".contains(of));
    let of_user = parts.chain([&*rules.user]).any(|part| part == plain).then(|| "login.user".to_owned());
    let of_field =
        rules.fields.iter().filter(|(_, value)| holds(value)).map(|(name, _)| format!("login.fields.{name}"));
    // `text/html` contains a word that may be a password; one that somebody put there is the whole value.
    let in_header = |value: &str| if is_word { value.trim() == plain } else { holds(value) };
    let of_header =
        site.client.headers.iter().filter(|(_, value)| in_header(value)).map(|(name, _)| format!("headers.{name}"));
    let key = of_user.into_iter().chain(of_field).chain(of_address).chain(of_header).next()?;
    Some(format!(
        "{file}: the value of `{key}` holds the password: nothing is sent\nhint: take it out of the rule file (and of the \
         families that it extends), and change the password at the site: others may have read it"
    ))
}

/// The key of a field's name that is not a name but the secret.
fn misnamed(rules: &LoginRules, is_secret: impl Fn(&str) -> bool) -> Option<&'static str> {
    let json = rules.json.as_ref();
    let named = [
        ("user_field", rules.user_field.as_deref()),
        ("password_field", rules.password_field.as_deref()),
        ("json.user", json.map(|json| &*json.user)),
        ("json.password", json.map(|json| &*json.password)),
        ("json.token", json.map(|json| &*json.token)),
    ];
    let fields = rules.fields.iter().map(|(name, _)| ("fields", Some(&**name)));
    named.into_iter().chain(fields).find(|(_, name)| name.is_some_and(&is_secret)).map(|(key, _)| key)
}

/// Minimum length of a password, in characters, from which part of a value can be distinguished from a common word.
const SECRET_PART_CHARS_MIN: usize = 4;

/// The right to log in.
pub type Turn = Box<dyn Send>;

/// The account of one site.
#[derive(Clone)]
pub struct Account {
    /// Cookie jar of the site's client.
    pub jar: Arc<Jar>,
    pub keeper: Arc<dyn Keeper>,
}

#[cfg(test)]
mod tests;
