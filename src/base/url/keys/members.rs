//! Keys in the URLs of a members' site, whatever they are called and wherever they stand.
//!
//! No list has all of their names, so what looks like a key is taken for one, unless it is known to name a thing: on one page, values at the
//! same place of an address differ from link to link where they name things, and are equal where they name the member.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::limits::{KEY_PLACES_MAX, KEY_SITES_MAX};

/// Name of a site's note that holds its [`MembersKeys`].
pub const KEYS_NOTE: &str = "keys";

/// Characters from which on a part may be a key.
const KEY_CHARS_MIN: usize = 16;

/// Links with different values from which on a place names things.
const VARYING_LINKS_MIN: usize = 3;

/// Endings of names of parameters that hold a key however they vary, and whole words that do: `design` is no `sign`.
const SECRET_ENDINGS: [&str; 4] = ["key", "token", "secret", "password"];
const SECRET_WORDS: [&str; 9] = ["jwt", "auth", "sign", "signature", "sig", "pass", "passwd", "session", "sid"];

/// What is known of the addresses of one members' site.
#[derive(Debug, Default)]
pub struct MembersKeys {
    hosts: Vec<Box<str>>,
    /// Places of addresses whose values name things.
    content: RwLock<BTreeSet<String>>,
}

/// The note.
#[derive(Serialize, Deserialize)]
struct Kept {
    hosts: Vec<Box<str>>,
    content: BTreeSet<String>,
}

static SITES: RwLock<Vec<Arc<MembersKeys>>> = RwLock::new(Vec::new());

impl MembersKeys {
    /// The keys of a site with these hosts, with ports where they are not the default.
    #[must_use]
    pub fn new(hosts: impl IntoIterator<Item = impl Into<Box<str>>>) -> Self {
        Self { hosts: hosts.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Reads a note; None if it cannot be read.
    #[must_use]
    pub fn read(note: &[u8]) -> Option<Self> {
        let Kept { hosts, content } = serde_json::from_slice(note).ok()?;
        Some(Self { hosts, content: RwLock::new(content) })
    }

    /// Adds what a note knows. False if it cannot be read, or is of other hosts: then it is to be written again.
    pub fn take_up(&self, note: &[u8]) -> bool {
        let Some(kept) = Self::read(note) else { return false };
        let known = kept.content.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.content.write().unwrap_or_else(PoisonError::into_inner).extend(known);
        kept.hosts == self.hosts
    }

    /// The note.
    #[must_use]
    pub fn note(&self) -> Vec<u8> {
        let content = self.content.read().unwrap_or_else(PoisonError::into_inner).clone();
        serde_json::to_vec(&Kept { hosts: self.hosts.clone(), content }).unwrap_or_default()
    }

    /// Makes this process mask the keys of this site in whatever it prints: see [`super::without_keys`].
    pub fn watch(keys: Arc<Self>) {
        let mut sites = SITES.write().unwrap_or_else(PoisonError::into_inner);
        sites.retain(|other| other.hosts != keys.hosts);
        if sites.len() < KEY_SITES_MAX {
            sites.push(keys);
        }
    }

    /// Learns from the distinct links of one page of a member's which places vary: where each of several links has another value. A key stands in
    /// more than one of them, also beside the links of others. True if that is new.
    pub fn learn<'u>(&self, links: impl Iterator<Item = &'u str>) -> bool {
        let mut seen = BTreeMap::<String, (usize, BTreeSet<&str>)>::new();
        for link in links {
            places(link, &mut |place, value| {
                if looks_like_key(value) {
                    let (links, values) = seen.entry(place).or_default();
                    *links += 1;
                    values.insert(value);
                }
            });
        }
        let varies = |(links, values): &(usize, BTreeSet<&str>)| *links >= VARYING_LINKS_MIN && values.len() == *links;
        let varying: Vec<String> = seen.into_iter().filter(|(_, of)| varies(of)).map(|(place, _)| place).collect();
        if varying.is_empty() {
            return false;
        }
        let mut content = self.content.write().unwrap_or_else(PoisonError::into_inner);
        let before = content.len();
        for place in varying {
            if content.len() < KEY_PLACES_MAX {
                content.insert(place);
            }
        }
        content.len() > before
    }

    /// By the rules of `hosts` in a rule file: `*.example.org` has all hosts below it.
    fn owns(&self, authority: &str) -> bool {
        self.hosts.iter().any(|host| match host.strip_prefix('*') {
            Some(suffix) => authority.len() > suffix.len() && authority.ends_with(suffix),
            None => **host == *authority,
        })
    }

    fn names_things(&self, place: &str) -> bool {
        self.content.read().unwrap_or_else(PoisonError::into_inner).contains(place)
    }
}

/// The host of a URL with its port, as rule files write it; None for a path or a magnet.
fn authority_of(url: &str) -> Option<String> {
    let (scheme, rest) =
        url.split_once("://").filter(|(scheme, _)| scheme.bytes().all(|of| of.is_ascii_alphabetic()))?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
    let default = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    Some(host.strip_suffix(default).map_or(host.clone(), ToOwned::to_owned))
}

/// Where a URL has keys of members of the sites that this process watches: byte ranges, in order. A path without its host has none: whose it is
/// decides.
pub(super) fn keys_in(url: &str) -> Vec<Range<usize>> {
    let sites = SITES.read().unwrap_or_else(PoisonError::into_inner);
    let Some(authority) = authority_of(url) else { return Vec::new() };
    let asked = |keys: &&Arc<MembersKeys>| keys.owns(&authority);
    let sites: Vec<&Arc<MembersKeys>> = sites.iter().filter(asked).collect();
    let mut keys = Vec::new();
    if !sites.is_empty() {
        places(url, &mut |place, value| {
            let is_secret = place.starts_with('!') && !value.is_empty();
            if is_secret || looks_like_key(value) && !sites.iter().any(|site| site.names_things(&place)) {
                // The value is a part of the URL.
                let from = value.as_ptr() as usize - url.as_ptr() as usize;
                keys.push(from..from + value.len());
            }
        });
    }
    keys
}

/// Calls `of` with each part of an address that may be a key, and the place where it stands: the name of a parameter, or the position in
/// paths of this length below this folder. Places of secret parameters begin with `!`.
fn places<'u>(url: &'u str, of: &mut impl FnMut(String, &'u str)) {
    let from = url.find("://").map_or(0, |at| url[at + 3..].find(['/', '?']).map_or(url.len(), |end| at + 3 + end));
    let rest = &url[from..];
    let rest = rest.split('#').next().unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    // What the site's program is called: it does not differ from torrent to torrent.
    let called = |segment: Option<&&'u str>| {
        segment
            .copied()
            .filter(|name| !looks_like_key(name) && !name.contains(|of: char| of.is_ascii_digit()))
            .unwrap_or_default()
    };
    let folder = called(segments.first().filter(|_| segments.len() > 1));
    let script = format!("{folder}/{}", called(segments.last()));
    for (at, segment) in segments.iter().enumerate() {
        for (piece_at, piece) in segment.split(';').enumerate() {
            match piece.split_once('=').filter(|_| piece_at > 0) {
                Some((name, value)) => pair(&script, name, value, of),
                None => {
                    for (part_at, part) in piece.split('.').enumerate() {
                        of(format!("{folder}/{}/{at}.{piece_at}.{part_at}", segments.len()), part);
                    }
                }
            }
        }
    }
    for piece in query.split(['&', ';']) {
        match piece.split_once('=') {
            Some((name, value)) => pair(&script, name, value, of),
            None => of(format!("{script}?"), piece),
        }
    }
}

fn pair<'u>(script: &str, name: &str, value: &'u str, of: &mut impl FnMut(String, &'u str)) {
    // `a[passkey]`, encoded or not.
    let name = name.to_ascii_lowercase().replace("%5b", "[").replace("%5d", "]");
    let name = name.trim_end_matches(']').rsplit('[').find(|part| !part.is_empty()).unwrap_or(&name);
    let is_secret = SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.split(['_', '-']).any(|word| SECRET_WORDS.contains(&word));
    let mark = if is_secret { "!" } else { "" };
    of(format!("{mark}{script}?{name}"), value);
}

/// True for text that no person wrote: long, with letters and digits in turns. Names have words and numbers between separators.
fn looks_like_key(part: &str) -> bool {
    let is_of =
        |of: char| of.is_ascii_alphanumeric() || matches!(of, '-' | '_' | '~' | '+' | '=' | '|' | ':' | '%' | '.');
    if part.len() < KEY_CHARS_MIN || !part.chars().all(is_of) {
        return false;
    }
    let mut pieces = part.split(|of: char| !of.is_ascii_alphanumeric());
    pieces.any(|piece| {
        let kinds = |two: &[u8]| two[0].is_ascii_digit() != two[1].is_ascii_digit();
        let turns = piece.as_bytes().windows(2).filter(|two| kinds(two)).count();
        let is_number = piece.len() >= 2 * KEY_CHARS_MIN && piece.bytes().all(|of| of.is_ascii_digit());
        piece.len() >= KEY_CHARS_MIN / 2 && turns >= 2 || is_number
    })
}

#[cfg(test)]
mod tests;
