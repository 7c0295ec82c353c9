//! File names from torrent names: readable, safe on Linux, Windows and macOS, unique, never a path.
//! Pure.
//!
//! `<name> [<8 hex of the infohash>].torrent`. The name is arbitrary text from a torrent; the brackets make the file
//! name unique, because a name cannot forge them: everything after the last ` [` is ours.

use crate::limits::{CLIENT_SUFFIX_BYTES, FILE_NAME_BYTES_MAX};
use gleaner_torrent::Infohashes;

/// Hex digits of the infohash in a file name, unless two torrents of one export share them.
const SHORT_HEX: usize = 8;

/// Assigns file names to the torrents of one export.
///
/// Torrents come in key order, so those that share the short hash are neighbours: the first of them keeps it, the
/// others are named by their whole hash. That needs no memory of earlier names.
#[derive(Debug, Default)]
pub struct Names {
    last_short: String,
}

impl Names {
    /// The file name of the next torrent: UTF-8, with room for the suffix of a client below `limits::FILE_NAME_BYTES_MAX`.
    pub fn next(&mut self, name: &str, infohashes: &Infohashes) -> String {
        let hex = infohashes.key_hex();
        let short = &hex[..hex.len().min(SHORT_HEX)];
        let file_name = tagged(name, if self.last_short == short { &hex } else { short });
        self.last_short = short.to_owned();
        file_name
    }
}

/// The file name of a torrent that depends on nothing but the torrent: with its whole infohash.
#[must_use]
pub fn alone(name: &str, infohashes: &Infohashes) -> String {
    tagged(name, &infohashes.key_hex())
}

fn tagged(name: &str, tag: &str) -> String {
    let suffix = format!(" [{tag}].torrent");
    component(name, FILE_NAME_BYTES_MAX - CLIENT_SUFFIX_BYTES - suffix.len()) + &suffix
}

/// A text as one path component, at most `bytes_max` bytes; `unnamed` if nothing of it is left. Idempotent.
#[must_use]
pub fn component(text: &str, bytes_max: usize) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if is_invisible(c) {
            continue;
        }
        let c = if c.is_whitespace() { ' ' } else { c };
        // Runs of white space become one space, so that names that look the same are the same.
        if c == ' ' && (name.is_empty() || name.ends_with(' ')) {
            continue;
        }
        let c = if is_forbidden(c) { '_' } else { c };
        if name.len() + c.len_utf8() > bytes_max {
            break;
        }
        name.push(c);
    }
    // Windows drops trailing dots and spaces, and with them the difference between two names.
    name.truncate(name.trim_end_matches([' ', '.']).len());
    if name.starts_with(['.', '-', '~']) {
        // Not hidden, not an option, not a home folder; each of these characters is one byte.
        name.replace_range(..1, "_");
    }
    if is_device(&name) {
        if name.len() >= bytes_max {
            name.pop();
            name.truncate(name.trim_end_matches([' ', '.']).len());
        }
        name.insert(0, '_');
    }
    if name.is_empty() {
        name.push_str("unnamed");
        name.truncate(bytes_max);
    }
    name
}

/// A folder name for a site; never that of one of the export's own files.
#[must_use]
pub fn folder(site: &str) -> String {
    let name = component(site, FILE_NAME_BYTES_MAX - 1);
    if name.to_lowercase().ends_with(".jsonl") { name + "_" } else { name }
}

/// True for a relative path that an export can have written: at most a folder with a torrent file.
#[must_use]
pub fn is_ours(path: &str) -> bool {
    let (folder_name, file) = path.rsplit_once('/').map_or((None, path), |(folder, file)| (Some(folder), file));
    folder_name.is_none_or(|name| folder(name) == name) && is_torrent_name(file)
}

fn is_torrent_name(file: &str) -> bool {
    let Some((name, tag)) = file.strip_suffix("].torrent").and_then(|stem| stem.rsplit_once(" [")) else {
        return false;
    };
    matches!(tag.len(), SHORT_HEX | 40 | 64)
        && tag.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && component(name, FILE_NAME_BYTES_MAX) == name
}

/// Characters with a meaning for a file system, a shell on Windows or a terminal.
fn is_forbidden(c: char) -> bool {
    c.is_control() || matches!(c, '<' | '>' | ':' | '"' | '/' | '\\' | '|' | '?' | '*')
}

/// Invisible characters: they make a name look like another (`gpj.exe` read backwards).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Names that Windows reserves for devices, with any extension: `CON`, `nul.txt`, `COM¹`.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$") {
        return true;
    }
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    port.is_some_and(|number| {
        let mut digits = number.chars();
        matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
    })
}

#[cfg(test)]
mod tests;
