//! Tokens: who may ask from where it is not the machine itself. Kept as SHA-256; shown once, when they are made.
//!
//! `tokens.json` of the data folder is written by `gleaner token` alone, whole, and read again when it has changed. When each was used last
//! stands in a file of its own, which the service writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::limits::{REVOKED_MAX, TOKEN_NAME_BYTES_MAX, TOKENS_MAX, USED_NOTE_EACH};

/// What a token admits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Torznab, feeds and downloads.
    Torznab,
    /// These, and the JSON API's reading half.
    Read,
    /// Everything.
    Admin,
}

impl Scope {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Torznab => "torznab",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub name: String,
    pub scope: Scope,
    /// Of the secret, in hex.
    pub sha256: String,
    pub created: UnixMillis,
}

/// Why a token cannot be made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}\nhint: move the file away and make the tokens anew", path.display())]
    Damaged { path: PathBuf, error: serde_json::Error },
    #[error("{0}: a name has 1 to 64 letters, digits, `-`, `_` or `.`")]
    Name(String),
    #[error("{0}: a token of this name exists\nhint: gleaner token revoke {0}")]
    Exists(String),
    #[error("{0}: no token has this name\nhint: gleaner token list")]
    Unknown(String),
    #[error("{TOKENS_MAX} tokens are enough\nhint: gleaner token revoke NAME")]
    TooMany,
}

fn tokens_path(data_dir: &Path) -> PathBuf {
    data_dir.join("tokens.json")
}

fn used_path(data_dir: &Path) -> PathBuf {
    data_dir.join("tokens.used.json")
}

fn revoked_path(data_dir: &Path) -> PathBuf {
    data_dir.join("tokens.revoked.json")
}

/// The hashes of the tokens that were revoked last. A file that cannot be read admits nobody: they are unknown then.
fn revoked(data_dir: &Path) -> Vec<String> {
    serde_json::from_slice(&fs::read(revoked_path(data_dir)).unwrap_or_default()).unwrap_or_default()
}

/// The tokens of a data folder, in the order in which they were made.
///
/// # Errors
/// If the file cannot be read.
pub fn list(data_dir: &Path) -> Result<Vec<Token>, TokenError> {
    let path = tokens_path(data_dir);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| TokenError::Damaged { path, error }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(TokenError::Io { path, error }),
    }
}

/// When tokens were used last, by name.
#[must_use]
pub fn last_used(data_dir: &Path) -> BTreeMap<String, UnixMillis> {
    let bytes = fs::read(used_path(data_dir)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Makes a token, and returns its secret: 40 letters and digits, which survive being escaped twice.
///
/// # Errors
/// A name that exists or cannot be one, and errors of the file.
pub fn create(data_dir: &Path, name: &str, scope: Scope, now: UnixMillis) -> Result<String, TokenError> {
    let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
    if name.is_empty() || name.len() > TOKEN_NAME_BYTES_MAX || !name.bytes().all(is_plain) {
        return Err(TokenError::Name(name.to_owned()));
    }
    let _turn = turn(data_dir)?;
    let mut tokens = list(data_dir)?;
    if tokens.iter().any(|token| token.name == name) {
        return Err(TokenError::Exists(name.to_owned()));
    }
    if tokens.len() >= TOKENS_MAX {
        return Err(TokenError::TooMany);
    }
    let secret = secret().map_err(|error| TokenError::Io { path: tokens_path(data_dir), error })?;
    tokens.push(Token { name: name.to_owned(), scope, sha256: hashed(&secret), created: now });
    write(&tokens_path(data_dir), &tokens)?;
    Ok(secret)
}

/// Revokes a token.
///
/// # Errors
/// An unknown name, and errors of the file.
pub fn revoke(data_dir: &Path, name: &str) -> Result<(), TokenError> {
    let _turn = turn(data_dir)?;
    let mut tokens = list(data_dir)?;
    let Some(at) = tokens.iter().position(|token| token.name == name) else {
        return Err(TokenError::Unknown(name.to_owned()));
    };
    // Whoever goes on with it is told so.
    let mut hashes = revoked(data_dir);
    hashes.push(tokens.remove(at).sha256);
    let oldest = hashes.len().saturating_sub(REVOKED_MAX);
    write(&revoked_path(data_dir), &hashes.split_off(oldest))?;
    write(&tokens_path(data_dir), &tokens)
}

/// One command at a time changes the tokens: until the file is closed.
fn turn(data_dir: &Path) -> Result<fs::File, TokenError> {
    let path = data_dir.join("tokens.lock");
    let lock = || {
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(|error| TokenError::Io { path: path.clone(), error })
}

/// Letters and digits, evenly.
fn secret() -> std::io::Result<String> {
    const SIGNS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const LENGTH: usize = 40;
    let mut secret = String::new();
    while secret.len() < LENGTH {
        let mut bytes = [0; 64];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        // 248 is the greatest multiple of 62 that a byte can be below.
        let even = bytes.iter().filter(|byte| **byte < 248);
        secret.extend(even.map(|byte| char::from(SIGNS[usize::from(byte % 62)])).take(LENGTH - secret.len()));
    }
    Ok(secret)
}

fn hashed(secret: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(secret.as_bytes()))
}

/// Writes a file for its owner alone: whole, or not at all.
///
/// # Errors
/// Those of the file.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), TokenError> {
    let fault = |error| TokenError::Io { path: path.to_path_buf(), error };
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let text = serde_json::to_vec_pretty(value).map_err(|error| fault(error.into()))?;
    let write = || {
        let _ = fs::remove_file(&temporary);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(fault)
}

/// The tokens as a running service knows them.
pub struct Tokens {
    data_dir: PathBuf,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    tokens: Vec<Token>,
    /// Of the file that was read: its number and its time. Two replacements may have one time.
    file: Option<(u64, SystemTime)>,
    used: BTreeMap<String, UnixMillis>,
    /// When that was written down.
    noted: BTreeMap<String, UnixMillis>,
    is_told: bool,
}

impl Tokens {
    #[must_use]
    pub fn of(data_dir: &Path) -> Self {
        let known = Known { used: last_used(data_dir), ..Known::default() };
        Self { data_dir: data_dir.to_path_buf(), known: Mutex::new(known) }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let there = fs::metadata(tokens_path(&self.data_dir));
        let file = there.and_then(|of| Ok((of.ino(), of.modified()?))).ok();
        if file != known.file || file.is_none() {
            match list(&self.data_dir) {
                Ok(tokens) => (known.tokens, known.file, known.is_told) = (tokens, file, false),
                // A file that cannot be read admits nobody.
                Err(error) => {
                    known.tokens.clear();
                    known.file = None;
                    if !std::mem::replace(&mut known.is_told, true) {
                        tracing::error!(%error, "the tokens cannot be read: nobody is admitted by one");
                    }
                }
            }
        }
        known
    }

    /// True if none was made.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.known().tokens.is_empty()
    }

    /// All tokens, and when each was used last.
    #[must_use]
    pub fn all(&self) -> Vec<(Token, Option<UnixMillis>)> {
        let known = self.known();
        let with = |token: &Token| (token.clone(), known.used.get(&token.name).copied());
        known.tokens.iter().map(with).collect()
    }

    /// The token of a secret.
    #[must_use]
    pub fn find(&self, secret: &str, now: UnixMillis) -> Option<Token> {
        let hash = hashed(secret);
        self.of_code(now, |token| token.sha256 == hash)
    }

    /// True for the secret of a token that was revoked.
    #[must_use]
    pub fn was_revoked(&self, secret: &str) -> bool {
        revoked(&self.data_dir).contains(&hashed(secret))
    }

    /// The token that this is true for; it is used now.
    #[must_use]
    pub fn of_code(&self, now: UnixMillis, is_it: impl Fn(&Token) -> bool) -> Option<Token> {
        let mut known = self.known();
        let token = known.tokens.iter().find(|token| is_it(token)).cloned()?;
        known.used.insert(token.name.clone(), now);
        if known.noted.get(&token.name).is_none_or(|noted| now.since(*noted) >= USED_NOTE_EACH) {
            known.noted.insert(token.name.clone(), now);
            if let Err(error) = write(&used_path(&self.data_dir), &known.used) {
                tracing::debug!(%error, "when tokens were used last is not noted");
            }
        }
        Some(token)
    }

    /// True while the token is not revoked.
    #[must_use]
    pub fn has(&self, token: &Token) -> bool {
        self.known().tokens.contains(token)
    }

    /// The token that a download link was made with: [`crate::links::mac`].
    #[must_use]
    pub fn of_link(&self, infohash: &str, mac: &str) -> Option<Token> {
        let known = self.known();
        known.tokens.iter().find(|token| crate::links::mac(token, infohash) == mac).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_795_651_200_000);

    #[test]
    fn a_token_is_shown_once_kept_as_a_hash_listed_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        assert!(tokens.are_none());
        let secret = create(folder.path(), "sonarr", Scope::Torznab, NOW).unwrap();
        assert!(secret.len() == 40 && secret.bytes().all(|of| of.is_ascii_alphanumeric()), "{secret}");
        let text = fs::read_to_string(tokens_path(folder.path())).unwrap();
        assert!(!text.contains(&secret) && text.contains("\"scope\": \"torznab\""), "{text}");
        assert_eq!(tokens.find(&secret, NOW).unwrap().name, "sonarr");
        assert_eq!(last_used(folder.path()).get("sonarr"), Some(&NOW));
        assert!(tokens.find("other", NOW).is_none() && tokens.find("", NOW).is_none());
        assert!(matches!(create(folder.path(), "sonarr", Scope::Read, NOW), Err(TokenError::Exists(_))));
        for wrong in ["", "a b", "a/b", "ä", &"x".repeat(65)] {
            assert!(matches!(create(folder.path(), wrong, Scope::Read, NOW), Err(TokenError::Name(_))), "{wrong}");
        }
        assert!(matches!(revoke(folder.path(), "sonar"), Err(TokenError::Unknown(_))));
        revoke(folder.path(), "sonarr").unwrap();
        assert!(tokens.find(&secret, NOW).is_none() && list(folder.path()).unwrap().is_empty());
        assert!(tokens.was_revoked(&secret) && !tokens.was_revoked("other"));
        let again = create(folder.path(), "sonarr", Scope::Torznab, NOW).unwrap();
        assert!(tokens.was_revoked(&secret) && !tokens.was_revoked(&again), "the name is another's now");
    }

    #[test]
    fn a_damaged_file_admits_nobody_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::of(folder.path());
        let secret = create(folder.path(), "a", Scope::Admin, NOW).unwrap();
        fs::write(tokens_path(folder.path()), "[{").unwrap();
        assert!(tokens.find(&secret, NOW).is_none());
        assert!(matches!(create(folder.path(), "b", Scope::Read, NOW), Err(TokenError::Damaged { .. })));
    }

    #[test]
    fn scopes_include_those_below() {
        assert!(Scope::Admin > Scope::Read && Scope::Read > Scope::Torznab);
    }
}
