//! Compares recognition with libtorrent: the fixtures, libtorrent's own test torrents and thousands of mutants of both. Needs
//! `python3-libtorrent` and libtorrent's source; without them these tests fail with instructions.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use gleaner_torrent::metainfo::{self, MetainfoError};
use proptest::prelude::*;
use serde::Deserialize;

#[path = "libtorrent/verdicts.rs"]
mod verdicts;

use verdicts::{Verdict, assert_same_verdicts, bodies, difference, libtorrent, names};

#[derive(Debug, Deserialize)]
struct Expected {
    file: String,
    torrent: bool,
    v1: Option<String>,
    v2: Option<String>,
    unlike_libtorrent: Option<String>,
}

fn root() -> &'static Path {
    Path::new(env!("GLEANER_ROOT"))
}

fn expectations() -> Vec<(Expected, Vec<u8>)> {
    let folder = root().join("fixtures/torrents");
    let lines = fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let expected = lines.lines().map(|line| serde_json::from_str::<Expected>(line).unwrap());
    expected
        .map(|expected| (fs::read(folder.join(&expected.file)).unwrap(), expected))
        .map(|(body, e)| (e, body))
        .collect()
}

/// libtorrent's own test torrents.
fn torrents_of_libtorrent() -> Vec<(String, Vec<u8>)> {
    let path = root().join("target/test-tools/debian/libtorrent-rasterbar/test/test_torrents");
    assert!(path.is_dir(), "{} is not there; scripts/test fetches it", path.display());
    bodies(&path)
}

#[test]
fn every_fixture_has_its_expected_verdict_and_infohashes() {
    let expectations = expectations();
    assert!(expectations.len() > 130, "fixtures are missing");
    for (expected, body) in &expectations {
        let ours = metainfo::parse(body);
        assert_eq!(ours.is_ok(), expected.torrent, "{}: {ours:?}", expected.file);
        if let Ok(ours) = &ours {
            assert_eq!(names(ours), (expected.v1.clone(), expected.v2.clone()), "{}", expected.file);
        }
    }
}

#[test]
fn fixtures_differ_from_libtorrent_only_where_they_say_why() {
    let expectations = expectations();
    let bodies: Vec<Vec<u8>> = expectations.iter().map(|(_, body)| body.clone()).collect();
    for ((expected, body), theirs) in expectations.iter().zip(libtorrent(&bodies)) {
        let difference = difference(body, &theirs);
        assert_eq!(difference.is_some(), expected.unlike_libtorrent.is_some(), "{}: {difference:?}", expected.file);
    }
}

#[test]
fn every_reason_for_a_difference_is_in_the_document() {
    let document = fs::read_to_string(root().join("docs/design/recognition.md")).unwrap();
    for (expected, _) in expectations() {
        if let Some(reason) = expected.unlike_libtorrent {
            assert!(document.contains(&reason), "docs/design/recognition.md does not explain: {reason}");
        }
    }
}

#[test]
fn libtorrents_own_torrents_have_libtorrents_verdict() {
    let torrents = torrents_of_libtorrent();
    assert!(torrents.len() > 80, "{} torrents", torrents.len());
    assert_same_verdicts(&torrents);
}

#[test]
fn mutants_have_libtorrents_verdict() {
    let mut seeds: Vec<Vec<u8>> = torrents_of_libtorrent().into_iter().map(|(_, body)| body).collect();
    seeds.extend(
        expectations().into_iter().filter(|(expected, _)| expected.unlike_libtorrent.is_none()).map(|(_, body)| body),
    );
    // The bombs would overflow this test's own recursive parser.
    seeds.retain(|seed| seed.len() < 20_000 && !seed.windows(200).any(|bytes| bytes == [b'l'; 200]));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mutants: Vec<Vec<u8>> = (0..*MUTANTS).map(|_| mutate(&seeds, &mut random)).collect();
    let verdicts = libtorrent(&mutants);
    let accepted = verdicts.iter().filter(|verdict| verdict.ok).count();
    assert!(accepted * 10 > *MUTANTS, "the mutants test nothing: {accepted} of {} are torrents", *MUTANTS);
    let differences: Vec<String> = mutants
        .iter()
        .zip(&verdicts)
        .filter(|(mutant, theirs)| !explained(mutant, theirs))
        .filter_map(|(mutant, theirs)| Some(format!("{}\n    {}", difference(mutant, theirs)?, mutant.escape_ascii())))
        .collect();
    let shown: String = differences.iter().take(10).map(|text| format!("{:.1500}\n", text)).collect();
    assert!(differences.is_empty(), "{} differences of {}:\n{shown}", differences.len(), *MUTANTS);
}

/// Mutants per run; `GLEANER_MUTANTS` sets another number, and a million were compared once (docs/design/recognition.md).
static MUTANTS: LazyLock<usize> =
    LazyLock::new(|| std::env::var("GLEANER_MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(6_000));

/// The differences listed in docs/design/recognition.md: junk in front, and magnet links in a file.
fn explained(body: &[u8], theirs: &Verdict) -> bool {
    let ours = metainfo::parse(body);
    let junk_in_front = !theirs.ok && ours.is_ok_and(|ours| ours.dict.start > 0);
    let magnet_in_file = theirs.ok && metainfo::parse(body) == Err(MetainfoError::NoInfo);
    junk_in_front || magnet_in_file
}

/// xorshift64*: the mutants are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}

/// A bencoded tree that can be malformed in ways that an encoder would not allow: integers and keys are stored as bytes.
#[derive(Clone, Debug)]
enum Node {
    Integer(Vec<u8>),
    String(Vec<u8>),
    List(Vec<Node>),
    Dict(Vec<(Vec<u8>, Node)>),
}

impl Node {
    fn parse(bytes: &mut &[u8]) -> Option<Self> {
        let (first, rest) = bytes.split_first()?;
        match first {
            b'i' => {
                let end = rest.iter().position(|&byte| byte == b'e')?;
                *bytes = &rest[end + 1..];
                Some(Self::Integer(rest[..end].to_vec()))
            }
            b'l' => {
                *bytes = rest;
                let mut items = Vec::new();
                while *bytes.first()? != b'e' {
                    items.push(Self::parse(bytes)?);
                }
                *bytes = &bytes[1..];
                Some(Self::List(items))
            }
            b'd' => {
                *bytes = rest;
                let mut items = Vec::new();
                while *bytes.first()? != b'e' {
                    let Self::String(key) = Self::parse(bytes)? else {
                        return None;
                    };
                    items.push((key, Self::parse(bytes)?));
                }
                *bytes = &bytes[1..];
                Some(Self::Dict(items))
            }
            _ => {
                let colon = bytes.iter().position(|&byte| byte == b':')?;
                let length: usize = std::str::from_utf8(&bytes[..colon]).ok()?.parse().ok()?;
                let content = bytes.get(colon + 1..(colon + 1).checked_add(length)?)?;
                *bytes = &bytes[colon + 1 + length..];
                Some(Self::String(content.to_vec()))
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let string = |content: &[u8], out: &mut Vec<u8>| {
            out.extend(format!("{}:", content.len()).bytes());
            out.extend(content);
        };
        match self {
            Self::Integer(digits) => out.extend([b"i", &digits[..], b"e"].concat()),
            Self::String(content) => string(content, out),
            Self::List(items) => {
                out.push(b'l');
                items.iter().for_each(|item| item.write(out));
                out.push(b'e');
            }
            Self::Dict(items) => {
                out.push(b'd');
                for (key, value) in items {
                    string(key, out);
                    value.write(out);
                }
                out.push(b'e');
            }
        }
    }

    fn count(&self) -> usize {
        1 + match self {
            Self::List(items) => items.iter().map(Self::count).sum(),
            Self::Dict(items) => items.iter().map(|(_, value)| value.count()).sum(),
            _ => 0,
        }
    }

    fn nth(&mut self, n: &mut usize) -> Option<&mut Self> {
        if *n == 0 {
            return Some(self);
        }
        *n -= 1;
        match self {
            Self::List(items) => items.iter_mut().find_map(|item| item.nth(n)),
            Self::Dict(items) => items.iter_mut().find_map(|(_, value)| value.nth(n)),
            _ => None,
        }
    }
}

const WORDS: [&str; 24] = [
    "info",
    "name",
    "name.utf-8",
    "length",
    "files",
    "file tree",
    "pieces",
    "piece length",
    "meta version",
    "path",
    "path.utf-8",
    "attr",
    "symlink path",
    "pieces root",
    "piece layers",
    "announce",
    "",
    ".",
    "..",
    "/",
    "l",
    "p",
    "a\\b",
    "\u{202e}x",
];
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-0",
    "00",
    "16384",
    "32768",
    "40000",
    "1073741823",
    "1073741824",
    "17592186028032",
    "281474976710656",
    "9223372036854775808",
    "99999999999999999999",
];

fn mutate(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let seed = &seeds[random.below(seeds.len())];
    let Some(mut tree) = Node::parse(&mut &seed[..]) else {
        return mutate_bytes(seed, random);
    };
    if random.below(4) == 0 {
        return mutate_bytes(seed, random);
    }
    for _ in 0..=random.below(2) {
        let mut at = random.below(tree.count());
        if let Some(node) = tree.nth(&mut at) {
            mutate_node(node, random);
        }
    }
    let mut out = Vec::new();
    tree.write(&mut out);
    out
}

fn mutate_bytes(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    if bytes.is_empty() {
        return bytes;
    }
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => bytes[at] = b"deil0123456789:-"[random.below(16)],
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        _ => bytes.insert(at, b"deil0123456789:-"[random.below(16)]),
    }
    bytes
}

fn mutate_node(node: &mut Node, random: &mut Random) {
    let word = |random: &mut Random| WORDS[random.below(WORDS.len())].as_bytes().to_vec();
    let number = |random: &mut Random| Node::Integer(NUMBERS[random.below(NUMBERS.len())].as_bytes().to_vec());
    match (node, random.below(6)) {
        (Node::Dict(items), 0) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        (Node::Dict(items), 1) if !items.is_empty() => {
            let (from, to) = (random.below(items.len()), random.below(items.len()));
            items.insert(to, items[from].clone());
        }
        (Node::Dict(items), 2) if !items.is_empty() => {
            let (one, other) = (random.below(items.len()), random.below(items.len()));
            items.swap(one, other);
        }
        (Node::Dict(items), 3) if !items.is_empty() => {
            let at = random.below(items.len());
            items[at].0 = word(random);
        }
        (Node::Dict(items), _) => {
            let value = if random.below(2) == 0 { number(random) } else { Node::String(word(random)) };
            let key = word(random);
            let at = items.partition_point(|(other, _)| *other < key);
            items.insert(at, (key, value));
        }
        (Node::List(items), 0) if !items.is_empty() => {
            items.remove(random.below(items.len()));
        }
        (Node::List(items), 1..=3) if !items.is_empty() => {
            let at = random.below(items.len());
            items.insert(at, items[at].clone());
        }
        (Node::List(items), 4) if !items.is_empty() => {
            let (one, other) = (random.below(items.len()), random.below(items.len()));
            items.swap(one, other);
        }
        (Node::List(items), _) => items.push(Node::String(word(random))),
        (Node::String(content), 0..=1) => {
            content.pop();
        }
        (Node::String(content), 2) if content.len() % 20 == 0 => content.extend([7; 20]),
        (Node::String(content), 3..=4) => *content = word(random),
        (node @ Node::String(_), _) => *node = number(random),
        (node @ Node::Integer(_), 0) => *node = Node::String(word(random)),
        (node @ Node::Integer(_), _) => *node = number(random),
    }
}

#[test]
fn a_word_before_a_torrent_is_no_empty_dictionary() {
    let clean = fs::read(root().join("fixtures/torrents/v1-single.bin")).unwrap();
    let found = metainfo::parse(&[b"de", &clean[..]].concat()).unwrap();
    assert_eq!(found.infohashes, metainfo::parse(&clean).unwrap().infohashes);
    assert!(metainfo::parse(b"de\n").is_err());
}

proptest! {
    #[test]
    fn junk_around_a_torrent_changes_no_infohash(
        before in "(\u{feff}|[ \r\n\t]|<b>Warning</b>: Undefined index|on line [0-9]{1,3}<br />\n|[A-Za-z ]){0,40}",
        after in prop::collection::vec(any::<u8>(), 0..40),
        pick in any::<prop::sample::Index>(),
    ) {
        let fixtures = ["v1-single.bin", "v1-multi.bin", "v2.bin", "hybrid.bin", "info-first.bin", "comment-first.bin"];
        let clean = fs::read(root().join("fixtures/torrents").join(pick.get(&fixtures))).unwrap();
        let sent = [before.as_bytes(), &clean, &after].concat();
        let alone = metainfo::parse(&clean).unwrap();
        let found = metainfo::parse(&sent).unwrap();
        prop_assert_eq!(found.infohashes, alone.infohashes);
        prop_assert_eq!(found.dict_bytes(&sent), &clean[..]);
        prop_assert_eq!(found.dict_sha256(&sent), alone.dict_sha256(&clean));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), like in prop::collection::vec(prop::sample::select(&b"d4:infoli0123456789e:"[..]), 0..300)) {
        prop_assert!(metainfo::parse(&bytes).is_err());
        let _ = metainfo::parse(&like);
    }
}

/// Bombs too large to be committed.
#[test]
fn large_bombs_are_refused_in_time() {
    let bombs = [
        [b"d4:info".to_vec(), vec![b'l'; 64 << 20]].concat(),
        [b"d4:infol".to_vec(), b"0:".repeat(20_000_000)].concat(),
        // Every fourth byte begins a dictionary; the attempts share one budget.
        [b"xx".to_vec(), b"d1:ai1e1:b".repeat(400), b"l0:e".repeat(4_000_000)].concat(),
        [b"xx".to_vec(), b"d1:al".to_vec(), b"d1:ale".repeat(680), b"0:".repeat(4_000_000)].concat(),
        vec![b'd'; 64 << 20],
    ];
    for bomb in bombs {
        let error = metainfo::parse(&bomb).unwrap_err();
        assert!(matches!(error, MetainfoError::Bencode(_) | MetainfoError::NoDictionary), "{error:?}");
    }
}

/// 100,000 files below a name of 4 MB, or below folders whose names have 4 MB together: a parser that processes the whole
/// path of each file moves 400 GB and does not finish.
#[test]
fn long_names_above_many_files_cost_their_bytes_once() {
    let long = "n".repeat(4_000_000);
    let files = "d6:lengthi1e4:pathl1:aee".repeat(100_000);
    let hashes = "h".repeat(7 * 20);
    let v1 = format!(
        "d4:infod5:filesl{files}e4:name{}:{long}12:piece lengthi16384e6:pieces{}:{hashes}ee",
        long.len(),
        hashes.len()
    );
    assert_eq!(metainfo::parse(v1.as_bytes()).unwrap().file_count, 100_000);

    let fields = format!("d0:d6:lengthi1e11:pieces root32:{}ee", "r".repeat(32));
    let files: String = (0..100_000).map(|file| format!("5:{file:05}{fields}")).collect();
    // An empty `files` makes a hybrid, of which paths are compared.
    let hybrid = |name: &str, folders: usize, folder: &str| {
        let (open, close) = (format!("{}:{folder}d", folder.len()).repeat(folders), "e".repeat(folders));
        let tree = format!("d{open}{files}{close}e");
        format!(
            "d4:infod9:file tree{tree}5:filesle12:meta versioni2e4:name{}:{name}12:piece lengthi16384eee",
            name.len()
        )
    };
    for torrent in [hybrid(&long, 1, "f"), hybrid("n", 80, &long[..50_000])] {
        assert_eq!(metainfo::parse(torrent.as_bytes()).unwrap().file_count, 100_000);
    }
}

#[test]
fn facts_beside_the_infohashes_are_read() {
    let read = |name: &str| metainfo::parse(&fs::read(root().join("fixtures/torrents").join(name)).unwrap()).unwrap();
    let multi = read("announce-list-first.bin");
    assert_eq!((multi.payload_bytes, multi.file_count, multi.piece_bytes), (60_000, 2, 16_384));
    let hybrid = read("hybrid.bin");
    assert_eq!((hybrid.payload_bytes, hybrid.file_count, hybrid.name.as_str()), (60_000, 2, "folder"));
    let dated = read("created-by-first.bin");
    assert_eq!((dated.created_unix, dated.private), (Some(1_700_000_000), false));
    assert!(read("private.bin").private && !read("private-zero.bin").private);
    assert_eq!(read("gbk-name.bin").name, "种子");
    assert_eq!(read("name-utf8.bin").name, "种子");
    assert_eq!(read("bitcomet-pad.bin").payload_bytes, 40_000);
}
