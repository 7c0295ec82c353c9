//! URLs that act in an account's name: they rate, watch, bookmark, report or delete, or mark what is unread as read. A site with an
//! account must not request them, whatever class they have.
//!
//! Judged by the text of the URL alone, like log-outs: by the parts that act, which are the end of the path and the parameters by which
//! software routes requests, by parameters that are themselves an action, and by tokens with which a site checks that its own page sent the
//! request. Words are data: `models/words/name.tsv`, and the words that a reader never presses, of `control.tsv`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::class::Class;
use crate::limits;

use super::log_out::{ACTIONS, ROUTES, SCRIPTS, is_key, word};

gleaner_base::topics! {
    control: NEVER, HIDES, ACT_KEYS;
    name: ACT_STEMS, ACT_NAMES, ACT_ALONE, ACT_PARAMETERS, ACT_BEHIND, ACT_ENDS, ACT_FIRSTS, ACT_PAGES, ACT_THINGS, ACT_NOT, ACT_TOKENS, DOWNLOAD_NAMES;
}

/// Parameters whose value names an action, beside [`ACTIONS`].
const MORE_ACTIONS: [&str; 5] = ["ac", "area", "option", "subop", "view"];

/// Of all of them, those whose value is as often a page to be read.
const PAGES: [&str; 7] = ["app", "area", "module", "p", "page", "section", "view"];

/// Fewer bytes are no session's token.
const TOKEN_BYTES_MIN: usize = 6;

/// Bytes of the hash with which phpBB guards a link. Longer hashes name torrents.
const LINK_HASH_BYTES: usize = 8;

/// By what a URL, or the link to it, acts in an account's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActSign {
    /// The end of its path names an action.
    Path,
    /// The value of a parameter names an action.
    Action,
    /// A parameter is an action itself.
    Parameter,
    /// It carries a session's token.
    Token,
    /// Its page says so: the link asks for confirmation, or is followed by another method than GET.
    Page,
}

impl ActSign {
    /// For logs, counts and notes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Action => "action",
            Self::Parameter => "parameter",
            Self::Token => "token",
            Self::Page => "page",
        }
    }

    /// The reason in words.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Path => "its path names an action",
            Self::Action => "the value of a parameter names an action",
            Self::Parameter => "one of its parameters is an action",
            Self::Token => "it carries a token of the session",
            Self::Page => "its page shows that it changes something",
        }
    }
}

/// The sign by which a URL, given as path and query, acts in an account's name. A token is none in the URL of a download, which
/// the class says, or its own words.
#[must_use]
pub fn acts(reference: &str, class: Option<Class>) -> Option<ActSign> {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    // A rule for the pages of torrents and threads knows what stands behind an identifier.
    let is_target = class.is_some_and(Class::is_target);
    if names_action_in_path(path) && !(is_target && names_page_of_thing(path)) || !is_target && acts_on_key(path) {
        return Some(ActSign::Path);
    }
    let mut has_token = false;
    for (key, value) in parameters(query) {
        let Some(value) = value else {
            if names_action_in_path(&key) {
                return Some(ActSign::Parameter);
            }
            continue;
        };
        let is_route = is_among(&ROUTES, &key) && value.contains('/');
        if is_route && names_action_in_path(&value) || is_router(&key) && names_action(&value, !is_among(&PAGES, &key))
        {
            return Some(ActSign::Action);
        }
        if is_action(&key) && !matches!(value.to_ascii_lowercase().trim(), "" | "0" | "no" | "false" | "off") {
            return Some(ActSign::Parameter);
        }
        has_token |= is_token(&key, &value);
    }
    (has_token && class != Some(Class::Download) && !gives_torrent(reference)).then_some(ActSign::Token)
}

/// True for a parameter by whose name it carries a session's token.
#[must_use]
pub fn is_token(key: &str, value: &str) -> bool {
    let is_value = (TOKEN_BYTES_MIN..=limits::TOKEN_BYTES_MAX).contains(&value.len())
        && value.bytes().all(|of| of.is_ascii_alphanumeric() || b"_-,.|:+/=~".contains(&of));
    if key.eq_ignore_ascii_case("hash") {
        return value.len() == LINK_HASH_BYTES && value.bytes().all(|of| of.is_ascii_hexdigit());
    }
    is_value && names_token(key)
}

/// True for the name of a parameter, or of a field, that holds a session's token.
#[must_use]
pub fn names_token(name: &str) -> bool {
    // No such name is longer, even with separators.
    name.len() <= limits::ACTION_NAME_BYTES_MAX && ACT_TOKENS.has(&word(name))
}

/// True for a URL whose words say that it gives a torrent or a feed.
#[must_use]
pub fn gives_torrent(reference: &str) -> bool {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let path = decoded(path);
    let has = |text: &str| words(text).iter().any(|word| DOWNLOAD_NAMES.has(word));
    let is_routed = || parameters(query).any(|(key, value)| value.is_some_and(|value| is_router(&key) && has(&value)));
    path.to_ascii_lowercase().ends_with(".torrent") || has(&path) || is_routed()
}

/// What a URL does, without what it does it to: its path and the values by which it is routed. Two links of different actions differ in it.
#[must_use]
pub fn action_of(reference: &str) -> String {
    let (path, query) = reference.split_once('?').unwrap_or((reference, ""));
    let mut action: String = path.chars().filter(|of| !of.is_ascii_digit()).collect();
    for (key, value) in parameters(query) {
        let value = value.filter(|_| is_router(&key)).unwrap_or_default();
        action.extend(["&", &key, "=", &value]);
    }
    action
}

/// The parameters of a query, decoded; the value is None without `=`. They are separated by `&` or `;`.
pub fn parameters(query: &str) -> impl Iterator<Item = (String, Option<String>)> {
    query.split(['&', ';']).filter(|pair| !pair.is_empty()).map(|pair| match pair.split_once('=') {
        Some((key, value)) => (decoded(key).into_owned(), Some(decoded(value).into_owned())),
        None => match decoded(pair).split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (decoded(pair).into_owned(), None),
        },
    })
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

fn is_among(names: &[&str], key: &str) -> bool {
    names.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// True for a parameter whose value names an action, or the page that performs it.
#[must_use]
pub fn is_router(key: &str) -> bool {
    is_among(&ACTIONS, key) || is_among(&MORE_ACTIONS, key)
}

/// True for the name of a parameter that is itself an action: `mark`, `vote_id[]`.
fn is_action(key: &str) -> bool {
    if key.len() > limits::ACTION_NAME_BYTES_MAX {
        return false;
    }
    words(key).first().is_some_and(|first| ACT_KEYS.has(first)) || ACT_PARAMETERS.has(&word(key))
}

/// True for a path whose end names an action: behind it are only identifiers and what the action is done to (`/report/post/5`).
fn names_action_in_path(path: &str) -> bool {
    let path = decoded(path);
    let mut is_last = true;
    for segment in path.rsplit('/').filter(|segment| !segment.is_empty()) {
        let segment = segment.split(';').next().unwrap_or_default();
        if names_action_in_segment(segment, is_last) {
            return true;
        }
        if !is_key(segment) && !ACT_THINGS.has(&segment.to_lowercase()) {
            return false;
        }
        is_last = false;
    }
    false
}

/// True for `/thread/5/close`.
fn acts_on_key(path: &str) -> bool {
    let path = decoded(path);
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let (action, thing) = (segments.next(), segments.next());
    let is_thing = |segment: &str| is_key(segment) || ACT_THINGS.has(&segment.to_lowercase());
    action.is_some_and(|action| ACT_BEHIND.has(&action.to_lowercase())) && thing.is_some_and(is_thing)
}

/// True for `/watch/12345`: where a rule takes such URLs for pages of torrents, they are.
fn names_page_of_thing(path: &str) -> bool {
    let path = decoded(path);
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let (thing, folder) = (segments.next(), segments.next());
    thing.is_some_and(is_key) && folder.is_some_and(|folder| ACT_PAGES.has(&folder.to_lowercase()))
}

/// `ratethread.php`, `mark-read`, `delete_cookies`; but no titles (`how-to-delete-files`) and no names of files.
fn names_action_in_segment(segment: &str, is_last: bool) -> bool {
    let ending = segment.rsplit_once('.');
    let script = ending.filter(|(_, of)| SCRIPTS.iter().any(|script| of.eq_ignore_ascii_case(script)));
    let stem = match (script, ending) {
        (Some((stem, of)), _) if !of.to_ascii_lowercase().starts_with("htm") => return names_action(stem, false),
        (Some((stem, _)), _) => stem,
        (None, Some(_)) => return false,
        (None, None) => segment,
    };
    let is_action = |word: &str| {
        is_never_pressed(word, true) || ACT_NAMES.has(word) || ACT_STEMS.has(word) || is_last && HIDES.has(word)
    };
    let is_of_several = |stem: &str, first: &str, end: &str| {
        let is_first = ACT_FIRSTS.has(first);
        is_short(stem) && (is_first || is_action(first)) && (ACT_ENDS.has(end) || is_first && is_action(end))
    };
    match words(stem).as_slice() {
        [only] => is_action(only) || is_of_thing(only),
        [first, thing] => {
            is_action(first) && ACT_THINGS.has(thing)
                || is_action(&format!("{first}{thing}"))
                || is_of_several(stem, first, thing)
        }
        // Titles have no such end, or are longer.
        [first, .., end] => is_of_several(stem, first, end),
        _ => false,
    }
}

fn is_short(text: &str) -> bool {
    text.len() <= limits::ACTION_NAME_BYTES_MAX
}

/// `markread`, `addcomment`: an action and what it is done to.
fn is_of_thing(word: &str) -> bool {
    let actions = ACT_THINGS.iter().filter_map(|thing| word.strip_suffix(thing));
    actions.into_iter().any(|action| is_never_pressed(action, true))
}

/// True for a text that names an action: `markread`, `do_editsig`, `thread_subscribe`, `user.delete`, `fastdelete`. `counts_alone` says
/// that words count that are also what a site is read by.
fn names_action(text: &str, counts_alone: bool) -> bool {
    let text = text.trim_matches('/');
    if text.contains('/') {
        return text.len() <= 4 * limits::ACTION_NAME_BYTES_MAX && names_action_in_path(text);
    }
    let words = words(text);
    if words.len() > limits::ACTION_NAME_WORDS_MAX || text.len() > limits::ACTION_NAME_BYTES_MAX {
        return is_short(text) && names_action_in_segment(text, false);
    }
    let alone = words.first().map(|first| first.trim_end_matches(|of: char| of.is_ascii_digit()));
    let is_alone = counts_alone && words.len() == 1 && alone.is_some_and(|first| ACT_ALONE.has(first));
    let is_done = words.len() > 1 && words.first().is_some_and(|first| first == "do");
    let acts =
        |word: &String| ACT_STEMS.are_in(word) || ACT_NAMES.are_said_in(word, false) || is_never_pressed(word, false);
    is_alone || is_done || words.iter().any(acts)
}

/// True for a word that a reader never presses, or that begins like one, unless addresses mean something else by it.
fn is_never_pressed(word: &str, whole: bool) -> bool {
    let is_one = if whole { NEVER.has(word) } else { NEVER.are_said_in(word, false) };
    is_one && !ACT_NOT.are_said_in(word, false)
}

/// The words of a name in lower case, separated by signs and by capitals: `markAllRead`, `mark_all-read`.
fn words(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut was_lower = false;
    for of in text.chars().take(4 * limits::ACTION_NAME_BYTES_MAX) {
        let starts = was_lower && of.is_uppercase();
        if (starts || !of.is_alphanumeric()) && all.last().is_some_and(|word| !word.is_empty()) {
            all.push(String::new());
        }
        was_lower = of.is_lowercase();
        if let Some(word) = all.last_mut().filter(|_| of.is_alphanumeric()) {
            word.extend(of.to_lowercase());
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

#[cfg(test)]
mod tests;
