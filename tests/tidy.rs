//! Rules that the compiler does not enforce: which modules of one crate may use each other, what each room never does, cycles
//! of modules, the length of files, and that every cap is applied. ARCHITECTURE.md gives the reasons; the tables below are the rules.
//!
//! Faults are reported as `path:line: what is wrong; what to do`, all at once.

#[path = "tidy/circles.rs"]
mod circles;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Maximum lines of a file in `src/`; longer ones hold two ideas.
const LINES_MAX: usize = 700;

/// Fields of a struct.
const FIELDS_MAX: usize = 25;

/// The modules of its own crate that a module and those below it may name. The compiler enforces that no crate uses one above it;
/// within a crate, rooms are separated just as strictly.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("page::boards", &["boards", "limits", "pagination"]),
    ("page::shortcut", &["encoded_links", "limits", "links", "shortcut"]),
    ("net::fetch", &["fetch", "limits"]),
    ("net::politeness", &["limits", "politeness"]),
    ("net::classify", &["classify", "limits"]),
    ("store::crawldb", &["crawldb", "limits"]),
    ("store::coverage", &["coverage", "crawldb", "limits"]),
    ("store::export", &["crawldb", "export", "limits"]),
    ("store::import", &["crawldb", "export", "import", "limits"]),
    ("store::verify", &["crawldb", "limits", "verify"]),
    ("store::backup", &["backup", "crawldb", "export", "import", "limits"]),
    // The types that both sides exchange name nobody's internals.
    ("render::wire", &["limits", "wire"]),
    ("crawl::freshness", &["freshness", "limits"]),
    ("crawl::schedule", &["limits", "schedule"]),
];

/// What a module and the modules below it never name, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "crawl",
        &["redb_store", "RedbStore", "HttpTransport"],
        "the loop knows the database and the wire by their traits only",
    ),
    ("store::crawldb", &["SystemTime", "Instant"], "the database knows no clock"),
    ("net::politeness", IO, PURE),
    ("net::classify", IO, PURE),
    ("rules::judge", IO, PURE),
    ("crawl::frontier", IO, PURE),
    ("alarms", IO, PURE),
    ("page", IO, PURE),
    ("login", IO, PURE),
    ("crawl::schedule", IO, PURE),
    ("lab::schedule", IO, PURE),
    ("crawl::freshness", IO, PURE),
    ("store::coverage::distinct", IO, PURE),
    ("store::coverage::estimate", IO, PURE),
    ("store::coverage::listed", IO, PURE),
    ("store::coverage::growth", IO, PURE),
    ("store::coverage::plot", IO, PURE),
    ("store::coverage::table", IO, PURE),
    ("store::coverage::terms", IO, PURE),
    ("base::url", IO, PURE),
    ("torrent::bencode", IO, PURE),
    ("torrent::metainfo", IO, PURE),
    ("torrent::magnet", IO, PURE),
    (
        "store::export",
        &["record_visits", "add_discovered", "lease_due", "make_due"],
        "export reads the database and never writes to it",
    ),
];

const IO: &[&str] = &["async", "await", "tokio", "fs", "net", "reqwest", "redb", "SystemTime", "Instant", "Clock"];
const PURE: &str = "decisions are pure: what they need, the time included, is an argument";

/// Constants named `…_MAX` outside the `limits.rs` of a room: the file, or a folder, the name (empty: all in it), and
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

/// A source file, prepared for the rules.
struct Source {
    /// Relative to the package, with `/`.
    path: String,
    text: String,
    /// `text` with comments and literals blanked, line for line.
    code: String,
    /// The comments of `text` alone, line for line.
    comments: String,
    /// `code` without `#[cfg(test)]` modules, line for line: tests are exempt.
    shipped: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let (code, comments) = code_and_comments(text);
        // A test file is only compiled for tests.
        let shipped = if path.ends_with("/tests.rs") { String::new() } else { blank_test_modules(&code) };
        Self { path: path.into(), text: text.into(), code, comments, shipped }
    }

    /// `src/crawl/visit.rs` → `crawl::visit`, `src/crawl/lib.rs` → `crawl`.
    fn module(&self) -> String {
        let path = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        path.trim_end_matches("/mod").trim_end_matches("/lib").replace('/', "::")
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The text without comments and literals, and the comments alone; line numbers stay the same in both.
fn code_and_comments(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let (mut code, mut comments) = (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let blank = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    let mut at = 0;
    while at < bytes.len() {
        // Most bytes begin neither a comment nor a literal.
        let plain = bytes[at..].iter().position(|byte| b"/\"r'".contains(byte)).unwrap_or(bytes.len() - at);
        if plain > 0 {
            code.extend_from_slice(&bytes[at..at + plain]);
            comments.extend(bytes[at..at + plain].iter().map(blank));
            at += plain;
            continue;
        }
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

/// The end of `r"…"` or `r#"…"#`, or None if this `r` begins no such string.
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

/// The end of a character literal, or None if the quote begins a lifetime.
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

/// Replaces `#[cfg(test)] mod … { … }` by blank lines. Needs code without comments and literals, so that braces match.
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

/// Words of the code with their line numbers.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.lines().enumerate().flat_map(|(line, text)| {
        text.split(|character: char| !(character.is_alphanumeric() || character == '_'))
            .filter(|word| !word.is_empty())
            .map(move |word| (line + 1, word))
    })
}

/// Modules that the code names as `crate::module` or in `crate::{module, …}`, with their lines.
fn modules_named(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let prefix = "crate::";
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

/// Whether a module is `prefix` or is below it.
fn is_within(module: &str, prefix: &str) -> bool {
    module == prefix || module.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("::"))
}

/// Modules of the own crate that the table does not allow.
fn direction_faults(source: &Source, may_name: &[(&str, &[&str])]) -> Vec<String> {
    let module = source.module();
    let Some((room, allowed)) = may_name.iter().find(|(room, _)| is_within(&module, room)) else {
        return Vec::new();
    };
    modules_named(&source.shipped)
        .into_iter()
        .filter(|(_, named)| !allowed.contains(&named.as_str()))
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
        if !is_within(&module, prefix) {
            continue;
        }
        for (line, word) in words(&source.shipped).filter(|(_, word)| forbidden.contains(word)) {
            faults.push(format!("{}:{line}: `{word}` in `{module}`; {why}", source.path));
        }
    }
    faults
}

/// Length, the module comment, unfinished work.
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

/// Caps that are never applied.
fn unused_limit_faults(limits: &Source, used: &BTreeSet<&str>) -> Vec<String> {
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

/// Whether a file is the `limits.rs` of a room or of the program.
/// Structs of a file with more than [`FIELDS_MAX`] fields, as rustfmt writes them.
fn many_fields(source: &Source) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut lines = source.shipped.lines();
    while let Some(line) = lines.next() {
        let head = line.trim_start();
        let indent = line.len() - head.len();
        let Some((_, name)) = head.split_once("struct ").filter(|_| head.ends_with('{')) else { continue };
        let inside =
            lines.by_ref().take_while(|line| line.len() - line.trim_start().len() > indent || line.trim().is_empty());
        let is_field = |line: &&str| {
            line.len() - line.trim_start().len() == indent + 4
                && line.trim_start().starts_with(|of: char| of.is_ascii_lowercase() || of == '_')
        };
        let fields = inside.filter(is_field).count();
        if fields > FIELDS_MAX {
            found.push((name.split(['<', ' ', '{']).next().unwrap_or_default().to_owned(), fields));
        }
    }
    found
}

fn is_of_limits(path: &str) -> bool {
    let is_of_room = path.matches('/').count() == 2 || path.starts_with("src/crawl/frontier/");
    path == "src/limits.rs" || (path.ends_with("/limits.rs") && is_of_room)
}

/// Caps outside the `limits.rs` of a room that the table does not excuse.
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
        .map(|(line, name)| format!("{}:{line}: the cap `{name}` stands outside limits.rs; move it there", source.path))
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

/// The Rust files below a folder of the package, in the order of their paths.
fn sources(folder: &str) -> Vec<Source> {
    let package = Path::new(env!("GLEANER_ROOT"));
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

/// The files of `src/`, read once.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| sources("src"));

/// Whether some source file is the module or is below it.
fn exists(module: &str, sources: &[Source]) -> bool {
    sources.iter().any(|source| is_within(&source.module(), module))
}

#[test]
fn rooms_of_one_crate_know_each_other_as_the_table_says() {
    let sources = &*SOURCES;
    assert_none(&sources.iter().flat_map(|source| direction_faults(source, MAY_NAME)).collect::<Vec<_>>());
    for (module, _) in MAY_NAME {
        assert!(exists(module, sources), "MAY_NAME speaks of `{module}`, which does not exist");
    }
}

#[test]
fn rooms_never_name_what_is_not_theirs() {
    let sources = &*SOURCES;
    assert_none(&sources.iter().flat_map(|source| absence_faults(source, NEVER)).collect::<Vec<_>>());
    for (module, ..) in NEVER {
        assert!(exists(module, sources), "NEVER speaks of `{module}`, which does not exist");
    }
}

#[test]
fn files_are_finished_short_and_say_what_they_are_for() {
    let others: Vec<_> = ["tests", "benches"].into_iter().flat_map(sources).collect();
    assert_none(&SOURCES.iter().chain(&others).flat_map(text_faults).collect::<Vec<_>>());
}

#[test]
fn every_limit_caps_something() {
    let (limits, others): (Vec<_>, Vec<_>) = SOURCES.iter().partition(|source| is_of_limits(&source.path));
    let used: BTreeSet<&str> = others.iter().flat_map(|source| words(&source.shipped)).map(|(_, word)| word).collect();
    assert_none(&limits.iter().flat_map(|part| unused_limit_faults(part, &used)).collect::<Vec<_>>());
}

#[test]
fn caps_stand_in_one_file_a_room() {
    let sources = &*SOURCES;
    assert_none(&sources.iter().flat_map(|source| stray_limit_faults(source, MAX_ELSEWHERE)).collect::<Vec<_>>());
    for (path, name, why) in MAX_ELSEWHERE.iter().filter(|(_, name, _)| !name.is_empty()) {
        let there = sources.iter().filter(|source| source.path == *path).flat_map(caps_of).any(|(_, cap)| cap == *name);
        assert!(there, "MAX_ELSEWHERE excuses `{name}` of {path} ({why}), which is not there any more");
    }
}

/// Structs with more fields than `FIELDS_MAX`, with their number, which may only shrink, and the reason.
const MANY_FIELDS: &[(&str, usize, &str)] = &[("SiteFile", 34, "the keys of a rule file stand at its top level")];

#[test]
fn structs_have_few_fields() {
    let mut many: Vec<(String, usize)> = SOURCES.iter().flat_map(many_fields).collect();
    many.sort();
    let excused: Vec<_> = MANY_FIELDS.iter().map(|(name, fields, _)| ((*name).to_owned(), *fields)).collect();
    assert_eq!(
        many, excused,
        "a struct of more than {FIELDS_MAX} fields is cut into parts; one that shrank leaves MANY_FIELDS"
    );
}

/// The alarm itself: each rule fails on a snippet made to break it, and accepts one that only looks similar.
mod alarm {
    use super::*;

    const TABLE: &[(&str, &[&str])] = &[("net::fetch", &["fetch", "limits"]), ("net::classify", &["limits"])];

    fn direction(path: &str, text: &str) -> Vec<String> {
        direction_faults(&Source::new(path, text), TABLE)
    }

    #[test]
    fn a_room_that_names_its_neighbour_is_reported_with_its_line() {
        let faults =
            direction("src/net/fetch/http.rs", "//! Wire.\n\nuse crate::limits;\nuse crate::politeness::Gate;\n");
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("src/net/fetch/http.rs:4: `net::fetch` names `politeness`"), "{faults:?}");
        assert_eq!(direction("src/net/lib.rs", "//! N.\nuse crate::politeness::Gate;\n"), Vec::<String>::new());
    }

    #[test]
    fn a_dependency_without_a_use_line_is_seen_too() {
        assert_eq!(direction("src/net/fetch.rs", "//! Wire.\nfn f(at: crate::classify::Verdict) {}\n").len(), 1);
        assert_eq!(
            direction("src/net/classify.rs", "//! C.\nuse crate::{limits::{A, B}, fetch, politeness::C};\n").len(),
            2
        );
    }

    #[test]
    fn comments_strings_and_tests_are_not_dependencies() {
        let text = "//! See [`crate::fetch`].\n/* crate::fetch /* nested */ crate::fetch */\nconst A: &str = \"crate::fetch\";\n\
                    const B: &str = r#\"\"crate::fetch\"#;\nfn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\n\
                    #[cfg(test)]\nmod tests {\n    use crate::fetch::X;\n}\n";
        assert_eq!(direction("src/net/classify.rs", text), Vec::<String>::new());
        let after = format!("{text}use crate::fetch::Y;\n");
        assert_eq!(direction("src/net/classify.rs", &after).len(), 1, "what follows a test module is shipped");
    }

    #[test]
    fn a_pure_room_that_waits_or_reads_the_clock_is_told() {
        let source =
            Source::new("src/net/politeness/mod.rs", "//! P.\nasync fn f() { g().await; }\n// await in a comment\n");
        assert_eq!(absence_faults(&source, NEVER).len(), 2);
        let source = Source::new("src/net/politenessless.rs", "//! P.\nasync fn f() {}\n");
        assert_eq!(absence_faults(&source, NEVER), Vec::<String>::new(), "another room whose name begins the same");
    }

    #[test]
    fn a_struct_of_many_fields_is_told() {
        let of = |fields: usize| {
            let fields = "    pub a: u8,\n\n    #[serde(skip)]\n".repeat(fields);
            many_fields(&Source::new(
                "src/a.rs",
                &format!("//! A.\nmod a {{\n}}\npub(super) struct B<T> {{\n{fields}}}\n"),
            ))
        };
        assert_eq!((of(FIELDS_MAX), of(FIELDS_MAX + 1)), (vec![], vec![("B".to_owned(), FIELDS_MAX + 1)]));
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
        let used = words(&user.shipped).map(|(_, word)| word).collect();
        let faults = unused_limit_faults(&limits, &used);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("src/limits.rs:3: `B_MAX`"), "{faults:?}");
    }
}
