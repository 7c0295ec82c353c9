//! Forms whose scripts send a hash of the password: vBulletin 3 and 4, Discuz! X, SMF 1.1 and 2.0. What these scripts
//! do is known and small. This replaces them if the page's own are missing, broken or not run.
//!
//! Sources: vBulletin `clientscript/vbulletin_md5.js` (`md5hash`), Discuz! X `static/js/md5.js` (`pwmd5`), both on Paul
//! Johnston's MD5 of 8-bit characters; SMF `Themes/default/scripts/script.js` (`hashLoginPassword`).

use std::fmt::Write as _;

use md5::{Digest, Md5};
use sha1::Sha1;
use zeroize::Zeroizing;

use super::form::{Form, Kind};

/// What a form's script does to the password before sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hashing {
    /// The password field is emptied, and two other fields get its hashes.
    VBulletin {
        /// Gets the MD5 of the text, with character references for characters beyond Latin-1.
        md5: Box<str>,
        /// Gets the MD5 of the plain text.
        md5_utf: Option<Box<str>>,
    },
    /// The password field gets its MD5.
    Discuz,
    /// The password field is emptied, and `hash_passwrd` gets the SHA-1 of the SHA-1 of name and password plus the
    /// session's code. If the name is an e-mail address, the password is sent in clear.
    Smf { session: Box<str> },
}

impl Hashing {
    /// Recognises the script by the form's handlers; None if the password is sent in clear, or by an unknown script.
    #[must_use]
    pub fn of(form: &Form) -> Option<Self> {
        let mut handlers = form.controls.iter().map(|control| &*control.onclick).chain([&*form.onsubmit]);
        if let Some(arguments) = handlers.clone().find_map(|handler| arguments(handler, "md5hash(")) {
            let named = |at: usize| {
                let name = arguments.get(at)?.trim().rsplit('.').next()?;
                form.controls.iter().find(|control| *control.name == *name).map(|control| control.name.clone())
            };
            return Some(Self::VBulletin { md5: named(1)?, md5_utf: named(2) });
        }
        if let Some(arguments) = handlers.clone().find_map(|handler| arguments(handler, "hashLoginPassword("))
            && form.controls.iter().any(|control| *control.name == *SMF_HASH)
        {
            let session = arguments.get(1)?.trim().trim_matches(['\'', '"']);
            return Some(Self::Smf { session: session.into() });
        }
        let is_discuz = handlers.any(|handler| handler.contains("pwmd5("));
        (is_discuz && form.controls.iter().any(|control| control.kind == Kind::Password)).then_some(Self::Discuz)
    }

    /// The name of the software, for display.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::VBulletin { .. } => "vBulletin's MD5",
            Self::Discuz => "Discuz!'s MD5",
            Self::Smf { .. } => "SMF's SHA-1",
        }
    }

    /// The values that the script sets: of the password field and of others, by name. Other fields are unchanged.
    #[must_use]
    pub fn apply(&self, user: &str, password_field: &str, password: &str) -> Vec<(Box<str>, Zeroizing<String>)> {
        match self {
            Self::VBulletin { md5, md5_utf } => {
                let password = password.trim();
                let mut values =
                    vec![(password_field.into(), Zeroizing::default()), (md5.clone(), hex_md5(&to_entities(password)))];
                values.extend(md5_utf.clone().map(|name| (name, hex_md5(password))));
                values
            }
            Self::Discuz => vec![(password_field.into(), hex_md5(password))],
            Self::Smf { .. } if user.contains('@') => Vec::new(),
            Self::Smf { session } => {
                // `php_strtolower` lowers only ASCII letters of the UTF-8 made by `php_to8bit`.
                let name = user.to_ascii_lowercase();
                let inner = hex(&Sha1::new().chain_update(&name).chain_update(password).finalize());
                let outer = hex(&Sha1::new().chain_update(inner.as_bytes()).chain_update(&**session).finalize());
                vec![(password_field.into(), Zeroizing::default()), (SMF_HASH.into(), outer)]
            }
        }
    }
}

/// The field of SMF's form for the hash.
const SMF_HASH: &str = "hash_passwrd";

/// Words in scripts that transform a password.
const CHANGES: [&str; 9] = ["md5", "sha1", "sha256", "sha512", "hash", "crypt", "rsa", "hmac", "base64"];

/// The handler of a form, or of one of its buttons, that seems to transform the password in an unknown way before it
/// is sent. Other handlers only validate the input and can be skipped.
#[must_use]
pub fn unknown(form: &Form) -> Option<&str> {
    let buttons = form.controls.iter().filter(|control| control.kind.submits() || control.kind == Kind::Button);
    let mut handlers = std::iter::once(&*form.onsubmit).chain(buttons.map(|control| &*control.onclick));
    let changes = |handler: &&str| {
        let handler = handler.to_ascii_lowercase();
        CHANGES.iter().any(|word| handler.contains(word))
    };
    handlers.find(changes).filter(|_| Hashing::of(form).is_none())
}

/// The arguments of the first call of a function in a handler.
fn arguments<'a>(handler: &'a str, call: &str) -> Option<Vec<&'a str>> {
    let (_, rest) = handler.split_once(call)?;
    Some(rest.split_once(')')?.0.split(',').collect())
}

/// MD5 over the low byte of each UTF-16 unit, as the scripts compute it.
fn hex_md5(text: &str) -> Zeroizing<String> {
    let bytes: Zeroizing<Vec<u8>> = Zeroizing::new(text.encode_utf16().map(|unit| unit.to_le_bytes()[0]).collect());
    hex(&Md5::digest(&bytes))
}

fn hex(digest: &[u8]) -> Zeroizing<String> {
    digest.iter().fold(Zeroizing::new(String::with_capacity(2 * digest.len())), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Units beyond Latin-1 as decimal character references (`str_to_ent`).
fn to_entities(text: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(8 * text.len()));
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) => out.push(char::from(byte)),
            Err(_) => out.push_str(&format!("&#{unit};")),
        }
    }
    out
}

#[cfg(test)]
mod tests;
