//! Real servers, real torrents: four programs list the same nested folders, the built binary crawls them with the
//! shipped family rules, and one archive over all four has each torrent once with its four sources.
//!
//! The torrents are made by mktorrent, libtorrent and webtorrent; libtorrent decides what a torrent is, and its name
//! (`make_torrents.py`).

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use server::{Kind, Server};
use sha2::{Digest, Sha256};

/// Torrents requested from the generator; odd names and webtorrent's are extra.
const TORRENTS: usize = 900;

/// Where `scripts/test` unpacks npm's package.
const WEBTORRENT_FIXTURES: &str = "target/test-tools/webtorrent-fixtures-2.0.3/fixtures";

/// One torrent by libtorrent's infohashes: v1 and v2 in hex.
type Name = (Option<String>, Option<String>);

/// The content of the folder: the files of each torrent, by libtorrent's infohashes.
struct Truth {
    tree: PathBuf,
    files: BTreeMap<Name, BTreeSet<String>>,
}

impl Truth {
    fn make(folder: &Path) -> Self {
        let fixtures = Path::new(env!("GLEANER_ROOT")).join(WEBTORRENT_FIXTURES);
        let generator = Path::new(env!("GLEANER_ROOT")).join("tests/program/servers/make_torrents.py");
        let made = Command::new(server::find("python3", "python3"))
            .args([generator.as_os_str(), folder.as_os_str(), OsStr::new(&TORRENTS.to_string()), fixtures.as_os_str()])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

        let rows: Vec<Value> = serde_json::from_slice(&fs::read(folder.join("truth.json")).unwrap()).unwrap();
        let mut files = BTreeMap::<Name, BTreeSet<String>>::new();
        for row in rows {
            let name = (text(&row["v1"]), text(&row["v2"]));
            if name != (None, None) {
                files.entry(name).or_default().insert(text(&row["path"]).unwrap());
            }
        }
        Self { tree: folder.join("tree"), files }
    }

    /// SHA-256 of each file of this torrent.
    fn contents(&self, name: &Name) -> BTreeSet<String> {
        self.files[name]
            .iter()
            .map(|path| data_encoding::HEXLOWER.encode(&Sha256::digest(fs::read(self.tree.join(path)).unwrap())))
            .collect()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A folder that servers can read after dropping root's rights.
fn public_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs the built binary and returns its standard output; panics with its messages on failure.
fn gleaner<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_gleaner")).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{}\n{out}\n{err}", done.status);
    out.into_owned()
}

/// The five lines that a new user writes for such a server, in addition to the shipped families.
fn write_rules(rules: &Path, servers: &[Server]) {
    let shipped = Path::new(env!("GLEANER_ROOT")).join("rules/families");
    fs::create_dir_all(rules.join("families")).unwrap();
    for entry in fs::read_dir(shipped).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), rules.join("families").join(entry.file_name())).unwrap();
    }
    for server in servers {
        let (family, origin) = (server.kind.name(), server.origin());
        let file = format!(
            "extends = \"families/{family}\"\nstart = [\"{origin}/\"]\n\n[rate]\nrequests_per_second = 1000000\nconnections = 4\n"
        );
        fs::write(rules.join(format!("{family}.toml")), file).unwrap();
    }
}

/// The manifest of an exported folder, by libtorrent's infohashes; panics if a torrent is in it twice.
fn manifest(export: &Path) -> BTreeMap<Name, Value> {
    let lines = fs::read_to_string(export.join("manifest.jsonl")).unwrap();
    let mut rows = BTreeMap::new();
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let name = (text(&row["infohash_v1"]), text(&row["infohash_v2"]));
        assert!(rows.insert(name.clone(), row).is_none(), "twice in the manifest: {name:?}");
    }
    rows
}

/// `(server, file)` of each source of a manifest's row.
fn sources(row: &Value, servers: &[Server]) -> BTreeSet<(&'static str, String)> {
    row["sources"]
        .as_array()
        .unwrap_or_else(|| panic!("no sources: {row}"))
        .iter()
        .map(|source| {
            let url = source["url"].as_str().unwrap_or_else(|| panic!("a source without URL: {row}"));
            let server = servers
                .iter()
                .find(|server| url.starts_with(&format!("{}/", server.origin())))
                .unwrap_or_else(|| panic!("a source on no server of ours: {url}"));
            let path = percent_decode_str(&url[server.origin().len() + 1..]).decode_utf8().unwrap().into_owned();
            (server.kind.name(), path)
        })
        .collect()
}

#[test]
fn servers_list_what_they_are_given_and_end_with_their_owner() {
    let folder = public_folder();
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("one file.torrent"), "d4:infodee").unwrap();
    for kind in Kind::ALL {
        let server = Server::start(kind, &tree, folder.path());
        let listing = server.get("/").unwrap();
        assert!(listing.contains("one%20file.torrent"), "{}:\n{listing}", kind.name());
        assert!(server.get("/one%20file.torrent").unwrap().ends_with("\r\n\r\nd4:infodee"), "{}", kind.name());

        let port = server.port;
        drop(server);
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "{} lives on", kind.name());
    }
}

#[test]
fn one_archive_over_four_servers_holds_each_torrent_once_with_its_four_sources() {
    let folder = public_folder();
    let truth = Truth::make(folder.path());
    let servers: Vec<Server> = Kind::ALL.map(|kind| Server::start(kind, &truth.tree, folder.path())).into();
    let (rules, data, export) = (folder.path().join("rules"), folder.path().join("data"), folder.path().join("export"));
    write_rules(&rules, &servers);
    let common = [OsStr::new("--data"), data.as_os_str(), OsStr::new("--rules"), rules.as_os_str()];

    let mut crawl = vec![OsStr::new("crawl"), OsStr::new("--json")];
    crawl.extend(Kind::ALL.iter().map(|kind| OsStr::new(kind.name())));
    crawl.extend(common);
    let report: Value = serde_json::from_str(&gleaner(crawl)).unwrap();
    assert_eq!(report["stored"].as_u64(), Some(truth.files.len() as u64), "{report}");

    let status: Value =
        serde_json::from_str(&gleaner([&[OsStr::new("status"), OsStr::new("--json")], &common[..]].concat())).unwrap();
    for kind in Kind::ALL {
        let site = status["sites"].as_array().and_then(|sites| sites.iter().find(|site| site["name"] == kind.name()));
        let seen = site.and_then(|site| site["torrents_seen"].as_u64());
        assert_eq!(seen, Some(truth.files.len() as u64), "{}: {status}", kind.name());
    }

    gleaner([&[OsStr::new("export"), export.as_os_str()], &common[..]].concat());
    let harvested = manifest(&export);

    let missed: Vec<_> = truth.files.iter().filter(|(name, _)| !harvested.contains_key(*name)).collect();
    assert!(missed.is_empty(), "{} torrents missed: {missed:#?}", missed.len());
    let invented: Vec<_> = harvested.keys().filter(|name| !truth.files.contains_key(*name)).collect();
    assert!(invented.is_empty(), "stored, and libtorrent knows no such torrent: {invented:#?}");

    for (name, row) in &harvested {
        let expected: BTreeSet<_> = servers
            .iter()
            .flat_map(|server| truth.files[name].iter().map(|path| (server.kind.name(), path.clone())))
            .collect();
        assert_eq!(sources(row, &servers), expected, "sources of {name:?}");
        let sha256 = text(&row["sha256"]).unwrap_or_else(|| panic!("no sha256: {row}"));
        assert!(truth.contents(name).contains(&sha256), "{name:?} is not as it was served: {row}");
    }

    let verified = gleaner([&[OsStr::new("verify")], &common[..]].concat());
    assert!(!verified.is_empty(), "verify says what it looked at");
}
