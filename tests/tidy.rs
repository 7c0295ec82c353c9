//! What the compiler does not hold: the direction of dependencies, what each room never does, the length of files,
//! and that every cap is one. ARCHITECTURE.md gives the reasons; the tables below are the rules.
//!
//! Each fault is told as `path:line: what is wrong; what to do`, all of them at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Lines of a file of `src/`; longer ones hold two ideas.
const LINES_MAX: usize = 700;

/// Which rooms each room may name, from the foundation up: a room uses only rooms that stand above its own line, so
/// no two can come to need each other. Stations do not name each other but where a reason is written.
const MAY_USE: &[(&str, &[&str])] = &[
    // foundation
    ("clock", &[]),
    ("limits", &[]),
    ("telemetry", &["clock"]),
    ("url", &["limits"]),
    // stations
    ("page", &["limits", "url"]),
    // Links of markup in an answer are page's to read.
    ("shortcut", &["limits", "page"]),
    // Quiet hours are read where rule files are, and kept as what the clock computes with; so are endpoints that a file pins.
    ("rules", &["clock", "limits", "shortcut", "url"]),
    ("torrent", &["limits"]),
    // Rows name torrents by their infohashes.
    ("crawldb", &["clock", "limits", "torrent"]),
    // The weight of a URL begins with its class, its lane with the site's key.
    ("frontier", &["clock", "limits", "rules"]),
    ("politeness", &["clock", "limits", "url"]),
    ("fetch", &["clock", "limits", "url"]),
    // Whether first bytes begin like a torrent is bencode's word.
    ("classify", &["limits", "torrent"]),
    // What scripts make of a page; words of charsets are page's, and what an answer says of the links of rows is shortcut's.
    ("render", &["limits", "page", "shortcut", "url"]),
    // Forms are read from a page's tree; which URLs end a session the rules say.
    ("login", &["clock", "limits", "page", "rules", "url"]),
    // What a board's page shows, and how far the board is walked; page numbers are pagination's to read.
    ("boards", &["limits", "page", "url"]),
    // When to look at which board: post times in, times of looks out.
    ("schedule", &["limits"]),
    // What looks showed in, delays and what is gone out; pages are compared by page's sketches.
    ("freshness", &["clock", "limits", "page"]),
    // Formulas over the database's listings; how many pages a series has is pagination's to say. Pages are told without keys.
    ("coverage", &["clock", "crawldb", "limits", "page", "url"]),
    // Reads rows and files, writes neither.
    ("export", &["clock", "crawldb", "limits", "torrent", "url"]),
    // The one that writes after the fact: what it repairs is the database's and the archive's own business.
    ("verify", &["clock", "crawldb", "limits", "torrent"]),
    // The bundled site makes torrents and the rules that crawl it; it knows nothing of the crawler.
    ("demo", &["clock", "limits", "rules", "torrent", "url"]),
    // the loop, and what puts it together
    (
        "crawl",
        &[
            "boards",
            "classify",
            "clock",
            "crawldb",
            "fetch",
            "freshness",
            "frontier",
            "limits",
            "login",
            "page",
            "politeness",
            "render",
            "rules",
            "schedule",
            "shortcut",
            "telemetry",
            "torrent",
            "url",
        ],
    ),
    // Faults of all files that people write are told in one way.
    ("config", &["limits", "rules", "telemetry"]),
    (
        "app",
        &[
            "clock",
            "config",
            "coverage",
            "crawl",
            "crawldb",
            "export",
            "fetch",
            "freshness",
            "frontier",
            "limits",
            "login",
            "render",
            "rules",
            "telemetry",
            "torrent",
            "url",
        ],
    ),
    (
        "cli",
        &[
            "app",
            "clock",
            "config",
            "coverage",
            "crawl",
            "crawldb",
            "demo",
            "export",
            "fetch",
            "freshness",
            "frontier",
            "limits",
            "login",
            "render",
            "rules",
            "schedule",
            "shortcut",
            "telemetry",
            "torrent",
            "url",
            "verify",
        ],
    ),
    // Before a second thread runs, the process guards its secrets.
    ("main", &["app", "cli"]),
];

/// What a module and the modules below it never name, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "crawl",
        &["redb", "redb_store", "RedbStore", "reqwest", "HttpTransport", "boa_engine", "axum"],
        "the loop knows the database and the wire by their traits only",
    ),
    ("crawldb", &["reqwest", "axum", "scraper", "SystemTime", "Instant"], "the database knows no HTTP and no clock"),
    ("fetch", &["redb", "scraper", "html5ever"], "fetch carries bytes and interprets none"),
    ("politeness", IO, PURE),
    ("classify", IO, PURE),
    ("rules::judge", IO, PURE),
    ("frontier", IO, PURE),
    ("page", IO, PURE),
    ("login", IO, PURE),
    ("boards", IO, PURE),
    ("schedule", IO, PURE),
    ("freshness", IO, PURE),
    ("shortcut", IO, PURE),
    (
        "render::wire",
        &["boa_engine", "html5ever", "dom", "engine", "web"],
        "what both sides exchange names nobody's internals",
    ),
    ("coverage::estimate", IO, PURE),
    ("coverage::table", IO, PURE),
    ("url", IO, PURE),
    ("torrent::bencode", IO, PURE),
    ("torrent::metainfo", IO, PURE),
    ("torrent::magnet", IO, PURE),
    (
        "export",
        &["reqwest", "record_visits", "add_discovered", "lease_due", "make_due"],
        "export reads the database and never writes to it",
    ),
];

const IO: &[&str] = &["async", "await", "tokio", "fs", "net", "reqwest", "redb", "SystemTime", "Instant", "Clock"];
const PURE: &str = "decisions are pure: what they need, the time included, is an argument";

/// Constants named `…_MAX` that stand outside `src/limits.rs`: the file, or a folder, the name (none: all there), and
/// why.
const MAX_ELSEWHERE: &[(&str, &str, &str)] = &[
    ("src/page/pagination.rs", "DIGITS_MAX", RECOGNITION),
    ("src/page/pagination.rs", "BARE_DIGITS_MAX", RECOGNITION),
    ("src/page/pagination.rs", "POST_DIGITS_MAX", RECOGNITION),
    ("src/torrent/bencode.rs", "INTEGER_DIGITS_MAX", VERDICT),
    ("src/torrent/bencode.rs", "LENGTH_DIGITS_MAX", VERDICT),
    ("src/torrent/layout.rs", "PAYLOAD_BYTES_MAX", VERDICT),
    ("src/torrent/layout.rs", "FILE_BYTES_MAX", VERDICT),
    ("src/demo/delivery.rs", "ARCHIVE_MAX", "the size of a made-up page, not a cap"),
];

const RECOGNITION: &str = "tells page numbers from identifiers; it caps nothing";
const VERDICT: &str = "a rule of libtorrent's for what is valid, not a cap of the crawler";

/// Macros and attributes that must not be merged, in `src/` and `tests/` alike.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "dbg!", "#[ignore"];

/// Marks in comments that must not be merged.
const MARKS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// A source file: what the rules look at.
struct Source {
    /// Relative to the package, with `/`.
    path: String,
    text: String,
    /// `text` with comments and literals blanked, line for line.
    code: String,
    /// The comments of `text` alone, line for line.
    comments: String,
    /// `code` without `#[cfg(test)]` modules, line for line: tests may use what they like.
    shipped: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let (code, comments) = code_and_comments(text);
        // A file of tests is compiled for tests only.
        let shipped = if path.ends_with("/tests.rs") { String::new() } else { blank_test_modules(&code) };
        Self { path: path.into(), text: text.into(), code, comments, shipped }
    }

    /// `src/crawl/visit.rs` → `crawl::visit`, `src/crawl/mod.rs` → `crawl`.
    fn module(&self) -> String {
        let path = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        path.trim_end_matches("/mod").replace('/', "::")
    }

    fn room(&self) -> String {
        self.module().split("::").next().unwrap_or_default().to_owned()
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The text without comments and literals, and the comments alone; in both, lines stay where they are.
fn code_and_comments(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let (mut code, mut comments) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let blank = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    let mut at = 0;
    while at < bytes.len() {
        let is_comment = bytes[at..].starts_with(b"//") || bytes[at..].starts_with(b"/*");
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if is_comment => block_comment_end(bytes, at),
            b'"' => string_end(bytes, at + 1),
            b'r' if !at.checked_sub(1).is_some_and(|before| is_word(bytes[before]) && bytes[before] != b'b') => {
                raw_string_end(bytes, at).unwrap_or(at)
            }
            b'\'' => character_end(bytes, at).unwrap_or(at),
            _ => at,
        };
        let piece = &bytes[at..end.max(at + 1)];
        let (is_code, is_comment) = (end == at, is_comment && end > at);
        code.extend(piece.iter().map(|byte| if is_code { *byte } else { blank(byte) }));
        comments.extend(piece.iter().map(|byte| if is_comment { *byte } else { blank(byte) }));
        at += piece.len();
    }
    (String::from_utf8_lossy(&code).into_owned(), String::from_utf8_lossy(&comments).into_owned())
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn block_comment_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"` or `r#"…"#`, or None when this `r` begins no such string.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let length = bytes[open + 1..].windows(close.len()).position(|window| window == close)?;
    Some(open + 1 + length + close.len())
}

/// The end of a character literal, or None when the quote begins a lifetime.
fn character_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at + 1) == Some(&b'\\') {
        let close = bytes[at + 3..].iter().position(|byte| *byte == b'\'')?;
        return Some(at + 3 + close + 1);
    }
    let text = std::str::from_utf8(&bytes[at + 1..bytes.len().min(at + 5)]);
    let valid = match &text {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[at + 1..at + 1 + error.valid_up_to()]).ok()?,
    };
    let width = valid.chars().next()?.len_utf8();
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + 1 + width + 1)
}

/// `#[cfg(test)] mod … { … }` becomes blank lines. Needs code without comments and literals, so that braces pair.
fn blank_test_modules(code: &str) -> String {
    let mut bytes = code.as_bytes().to_vec();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let at = from + found;
        from = at + 1;
        let after = code[at + "#[cfg(test)]".len()..].trim_start();
        if !after.starts_with("mod ") {
            continue;
        }
        let mut depth = 0_usize;
        for (place, byte) in code.bytes().enumerate().skip(at) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if bytes[place] != b'\n' {
                bytes[place] = b' ';
            }
            if depth == 0 && (byte == b'}' || byte == b';') {
                break;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words of the code with the number of their line.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().flat_map(|(line, text)| {
        text.split(|character: char| !(character.is_alphanumeric() || character == '_'))
            .filter(|word| !word.is_empty())
            .map(move |word| (line + 1, word))
    })
}

/// Rooms that the code names as `crate::room`, `gleaner::room` or in `crate::{room, …}`, with their lines.
fn rooms_named(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for prefix in ["crate::", "gleaner::"] {
        for (at, _) in code.match_indices(prefix) {
            if at > 0 && is_word(code.as_bytes()[at - 1]) {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let rest = &code[at + prefix.len()..];
            if let Some(group) = rest.strip_prefix('{') {
                found.extend(first_names_of_group(group).into_iter().map(|name| (line, name)));
            } else {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.push((line, name));
            }
        }
    }
    found.sort();
    found
}

/// The first segments of `a::b, c::{d, e}, f}` at the group's own depth: a, c, f.
fn first_names_of_group(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut name, mut taking) = (0_usize, Vec::new(), String::new(), true);
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                taking = true;
            }
            ':' if depth == 0 => taking = false,
            c if depth == 0 && taking && (c.is_alphanumeric() || c == '_') => name.push(c),
            _ => {}
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// Dependencies that the table does not allow.
fn direction_faults(source: &Source, may_use: &[(&str, &[&str])]) -> Vec<String> {
    let room = source.room();
    if room == "lib" {
        return Vec::new();
    }
    let Some((_, allowed)) = may_use.iter().find(|(name, _)| *name == room) else {
        return vec![format!("{}:1: the room `{room}` has no line in MAY_USE of tests/tidy.rs; add it", source.path)];
    };
    let rooms: BTreeSet<&str> = may_use.iter().map(|(name, _)| *name).collect();
    rooms_named(&source.shipped)
        .into_iter()
        .filter(|(_, named)| rooms.contains(named.as_str()) && *named != room && !allowed.contains(&named.as_str()))
        .map(|(line, named)| {
            format!(
                "{}:{line}: `{room}` names `{named}`; it may use {allowed:?} only: pass what it needs as an argument",
                source.path
            )
        })
        .collect()
}

/// Words that a room never names.
fn absence_faults(source: &Source, never: &[(&str, &[&str], &str)]) -> Vec<String> {
    let module = source.module();
    let mut faults = Vec::new();
    for (prefix, forbidden, why) in never {
        let inside = module == *prefix || module.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("::"));
        if !inside {
            continue;
        }
        for (line, word) in words(&source.shipped).filter(|(_, word)| forbidden.contains(word)) {
            faults.push(format!("{}:{line}: `{word}` in `{module}`; {why}", source.path));
        }
    }
    faults
}

/// Length, the opening words, unfinished work.
fn text_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = source.text.lines().count();
    let in_src = source.path.starts_with("src/");
    if in_src && lines > LINES_MAX {
        faults.push(format!(
            "{}:{LINES_MAX}: {lines} lines, {LINES_MAX} at most; it holds two ideas: split it",
            source.path
        ));
    }
    if !source.text.starts_with("//!") {
        faults.push(format!(
            "{}:1: does not open with `//!`; say its purpose, its place in the flow, what it never does",
            source.path
        ));
    }
    for (number, code) in source.code.lines().enumerate() {
        let code = code.replace(' ', "");
        for word in UNFINISHED.iter().filter(|word| code.contains(**word)) {
            faults.push(format!("{}:{}: `{word}`; finish it or leave it out", source.path, number + 1));
        }
    }
    for (line, mark) in words(&source.comments).filter(|(_, word)| MARKS.contains(word)) {
        faults.push(format!("{}:{line}: `{mark}`; do it, or open an issue", source.path));
    }
    faults
}

/// Caps that nothing applies.
fn unused_limit_faults(limits: &Source, others: &[Source]) -> Vec<String> {
    let used: BTreeSet<&str> = others.iter().flat_map(|source| words(&source.shipped)).map(|(_, word)| word).collect();
    let mut faults = Vec::new();
    for (number, line) in limits.code.lines().enumerate() {
        let Some(name) = line.strip_prefix("pub const ").and_then(|rest| rest.split(':').next()) else {
            continue;
        };
        let within =
            limits.code.lines().enumerate().any(|(other, text)| other != number && words(text).any(|(_, w)| w == name));
        if !used.contains(name) && !within {
            faults.push(format!("{}:{}: `{name}` caps nothing; apply it or remove it", limits.path, number + 1));
        }
    }
    faults
}

/// Whether a file is `src/limits.rs` or one of its parts.
fn is_of_limits(path: &str) -> bool {
    path == "src/limits.rs" || path.starts_with("src/limits/")
}

/// Caps outside `src/limits.rs` that the table does not excuse.
fn stray_limit_faults(source: &Source, elsewhere: &[(&str, &str, &str)]) -> Vec<String> {
    if is_of_limits(&source.path) {
        return Vec::new();
    }
    let excused = |found: &str| {
        elsewhere.iter().any(|(path, name, _)| {
            if name.is_empty() { source.path.starts_with(path) } else { source.path == *path && found == *name }
        })
    };
    caps_of(source)
        .filter(|(_, name)| !excused(name))
        .map(|(line, name)| {
            format!("{}:{line}: the cap `{name}` stands outside src/limits.rs; move it there", source.path)
        })
        .collect()
}

/// Constants named `…_MAX`, with their lines.
fn caps_of(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut before = "";
    words(&source.shipped).filter(move |(_, word)| {
        let is_cap = before == "const" && word.ends_with("_MAX");
        before = word;
        is_cap
    })
}

/// Lines of the table that use a room below themselves, or none that exists.
fn table_faults(may_use: &[(&str, &[&str])]) -> Vec<String> {
    let order: BTreeMap<&str, usize> = may_use.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    let mut faults = Vec::new();
    for (place, (room, allowed)) in may_use.iter().enumerate() {
        for used in *allowed {
            match order.get(used) {
                Some(other) if *other < place => {}
                Some(_) => faults.push(format!("MAY_USE: `{room}` uses `{used}`, which does not stand above it")),
                None => faults.push(format!("MAY_USE: `{room}` uses `{used}`, which has no line")),
            }
        }
    }
    faults
}

/// The Rust files below a folder of the package, in the order of their paths.
fn sources(folder: &str) -> Vec<Source> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut folders, mut files) = (vec![package.join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.strip_prefix(package).unwrap().to_string_lossy().replace('\\', "/");
            Source::new(&name, &fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn assert_none(faults: &[String]) {
    let mut told = String::new();
    for fault in faults {
        let _ = writeln!(told, "{fault}");
    }
    assert!(faults.is_empty(), "{} faults\n{told}", faults.len());
}

#[test]
fn dependencies_run_one_way() {
    assert_none(&table_faults(MAY_USE));
    assert_none(&sources("src").iter().flat_map(|source| direction_faults(source, MAY_USE)).collect::<Vec<_>>());
}

#[test]
fn rooms_never_name_what_is_not_theirs() {
    let sources = sources("src");
    assert_none(&sources.iter().flat_map(|source| absence_faults(source, NEVER)).collect::<Vec<_>>());
    for (module, ..) in NEVER {
        assert!(
            sources.iter().any(|source| source.module() == *module),
            "NEVER speaks of `{module}`, which does not exist"
        );
    }
}

#[test]
fn files_are_finished_short_and_say_what_they_are_for() {
    let all = ["src", "tests", "benches"].into_iter().flat_map(sources);
    assert_none(&all.flat_map(|source| text_faults(&source)).collect::<Vec<_>>());
}

#[test]
fn every_limit_caps_something() {
    let (limits, others): (Vec<_>, Vec<_>) = sources("src").into_iter().partition(|source| is_of_limits(&source.path));
    assert_none(&limits.iter().flat_map(|part| unused_limit_faults(part, &others)).collect::<Vec<_>>());
}

#[test]
fn caps_stand_in_one_file() {
    let sources = sources("src");
    assert_none(&sources.iter().flat_map(|source| stray_limit_faults(source, MAX_ELSEWHERE)).collect::<Vec<_>>());
    for (path, name, why) in MAX_ELSEWHERE.iter().filter(|(_, name, _)| !name.is_empty()) {
        let there = sources.iter().filter(|source| source.path == *path).flat_map(caps_of).any(|(_, cap)| cap == *name);
        assert!(there, "MAX_ELSEWHERE excuses `{name}` of {path} ({why}), which is not there any more");
    }
}

/// The alarm itself: each rule fails on a snippet made to break it, and stays silent on one that only looks so.
mod alarm {
    use super::*;

    const TABLE: &[(&str, &[&str])] =
        &[("clock", &[]), ("url", &[]), ("fetch", &["url"]), ("crawl", &["clock", "fetch", "url"])];

    fn direction(path: &str, text: &str) -> Vec<String> {
        direction_faults(&Source::new(path, text), TABLE)
    }

    #[test]
    fn a_station_that_names_the_loop_is_told_with_its_line() {
        let faults =
            direction("src/fetch/http.rs", "//! Wire.\n\nuse crate::url::CrawlUrl;\nuse crate::crawl::Visit;\n");
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("src/fetch/http.rs:4: `fetch` names `crawl`"), "{faults:?}");
    }

    #[test]
    fn a_dependency_without_a_use_line_is_seen_too() {
        assert_eq!(direction("src/fetch.rs", "//! Wire.\nfn f(at: crate::clock::UnixMillis) {}\n").len(), 1);
        assert_eq!(direction("src/url.rs", "//! U.\nuse crate::{clock::{A, B}, fetch, url::C};\n").len(), 2);
    }

    #[test]
    fn comments_strings_and_tests_are_not_dependencies() {
        let text = "//! See [`crate::crawl`].\n/* crate::crawl /* nested */ crate::crawl */\nconst A: &str = \"crate::crawl\";\n\
                    const B: &str = r#\"\"crate::crawl\"#;\nfn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\n\
                    #[cfg(test)]\nmod tests {\n    use crate::crawl::X;\n}\n";
        assert_eq!(direction("src/url.rs", text), Vec::<String>::new());
        let after = format!("{text}use crate::crawl::Y;\n");
        assert_eq!(direction("src/url.rs", &after).len(), 1, "what follows a test module is shipped");
    }

    #[test]
    fn a_room_that_the_table_does_not_know_is_told() {
        assert!(direction("src/attic/mod.rs", "//! Things.\n")[0].contains("no line in MAY_USE"));
    }

    #[test]
    fn a_table_that_runs_both_ways_is_told() {
        assert_eq!(table_faults(&[("a", &["b"]), ("b", &["a"])]).len(), 1);
        assert_eq!(table_faults(&[("a", &["missing"])]).len(), 1);
        assert_eq!(table_faults(TABLE), Vec::<String>::new());
    }

    #[test]
    fn a_pure_room_that_waits_or_reads_the_clock_is_told() {
        let source =
            Source::new("src/politeness/mod.rs", "//! P.\nasync fn f() { g().await; }\n// await in a comment\n");
        assert_eq!(absence_faults(&source, NEVER).len(), 2);
        let source = Source::new("src/politenessless.rs", "//! P.\nasync fn f() {}\n");
        assert_eq!(absence_faults(&source, NEVER), Vec::<String>::new(), "another room whose name begins the same");
    }

    #[test]
    fn unfinished_work_is_told() {
        let faults = |text: &str| text_faults(&Source::new("src/a.rs", text)).len();
        assert_eq!(faults("//! A.\nfn f() { todo!() }\n"), 1);
        assert_eq!(faults("//! A.\nfn f() { unimplemented!(\"later\") }\n"), 1);
        assert_eq!(faults("//! A.\n#[ignore]\nfn f() {}\n"), 1);
        assert_eq!(faults("//! A.\nfn f() { dbg!(1); } // TODO later\n"), 2);
        assert_eq!(faults("//! A.\nconst A: &str = \"TODO dbg! todo! // TODO\";\n"), 0);
        assert_eq!(faults("use std::fs;\n"), 1, "no opening words");
        assert_eq!(faults(&format!("//! A.\n{}", "\n".repeat(LINES_MAX))), 1, "too long");
    }

    #[test]
    fn a_cap_outside_the_file_of_caps_is_told() {
        let text = "//! A.\npub(super) const A_MAX: usize = 1; // const B_MAX\nconst C_MIN: u8 = 1;\n\
                    fn f() -> usize { const D_MAX: usize = 2; D_MAX + A_MAX }\n\
                    #[cfg(test)]\nmod tests { const E_MAX: usize = 3; }\n";
        let faults = |path: &str, table| stray_limit_faults(&Source::new(path, text), table);
        let told = faults("src/a.rs", &[]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("src/a.rs:2: the cap `A_MAX`") && told[1].starts_with("src/a.rs:4:"), "{told:?}");
        assert_eq!(faults("src/a.rs", &[("src/a.rs", "A_MAX", "x"), ("src/b.rs", "D_MAX", "x")]).len(), 1);
        assert_eq!(faults("src/a/b.rs", &[("src/a/", "", "x")]).len(), 0);
        assert_eq!(faults("src/limits.rs", &[]).len(), 0);
    }

    #[test]
    fn a_limit_that_nothing_applies_is_told() {
        let limits = Source::new("src/limits.rs", "//! L.\npub const A_MAX: usize = 1;\npub const B_MAX: usize = 2;\n");
        let user = Source::new(
            "src/a.rs",
            "//! A. B_MAX\nuse crate::limits;\nfn f() -> usize { limits::A_MAX }\n#[cfg(test)]\nmod tests { const X: usize = B_MAX; }\n",
        );
        let faults = unused_limit_faults(&limits, &[user]);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("src/limits.rs:3: `B_MAX`"), "{faults:?}");
    }
}
