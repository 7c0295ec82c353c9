//! libtorrent's verdicts on torrents, through `python3-libtorrent`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gleaner_torrent::metainfo::{self, Metainfo};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Verdict {
    pub ok: bool,
    #[serde(default)]
    pub error: String,
    pub v1: Option<String>,
    pub v2: Option<String>,
}

/// The files of a folder, in a fixed order.
pub fn bodies(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let folder = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// libtorrent's verdicts, in the order of the bodies.
pub fn libtorrent(bodies: &[Vec<u8>]) -> Vec<Verdict> {
    let python = std::env::var("GLEANER_PYTHON").unwrap_or_else(|_| {
        let debian = "/usr/bin/python3";
        if Path::new(debian).exists() { debian } else { "python3" }.to_owned()
    });
    let mut child = Command::new(&python)
        .arg(Path::new(env!("GLEANER_ROOT")).join("scripts/libtorrent_verdicts.py"))
        .arg("--frames")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{python}: {error}; install python3, or set GLEANER_PYTHON"));
    let mut stdin = child.stdin.take().unwrap();
    let frames: Vec<u8> =
        bodies.iter().flat_map(|body| [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()).collect();
    let writer = std::thread::spawn(move || stdin.write_all(&frames));
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{python} scripts/libtorrent_verdicts.py: {}\nhint: apt-get install python3-libtorrent, or set GLEANER_PYTHON \
         to a python that has PyPI's libtorrent",
        String::from_utf8_lossy(&output.stderr)
    );
    writer.join().unwrap().unwrap();
    let verdicts: Vec<Verdict> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), bodies.len());
    verdicts
}

fn hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

pub fn names(metainfo: &Metainfo) -> (Option<String>, Option<String>) {
    (metainfo.infohashes.v1.map(|hash| hex(&hash)), metainfo.infohashes.v2.map(|hash| hex(&hash)))
}

/// The difference, or None. If only we accept a body, it must have junk in front.
pub fn difference(body: &[u8], theirs: &Verdict) -> Option<String> {
    match metainfo::parse(body) {
        Ok(ours) if theirs.ok && names(&ours) == (theirs.v1.clone(), theirs.v2.clone()) => None,
        Ok(ours) if theirs.ok => {
            Some(format!("infohash {:?}, libtorrent {:?} {:?}", names(&ours), theirs.v1, theirs.v2))
        }
        Ok(_) => Some(format!("accepted, libtorrent: {}", theirs.error)),
        Err(ours) if theirs.ok => Some(format!("refused: {ours}; libtorrent accepts")),
        Err(_) => None,
    }
}

/// Checks that we and libtorrent agree on each of them.
pub fn assert_same_verdicts(torrents: &[(String, Vec<u8>)]) {
    let bodies: Vec<Vec<u8>> = torrents.iter().map(|(_, body)| body.clone()).collect();
    let differences: Vec<String> = torrents
        .iter()
        .zip(libtorrent(&bodies))
        .filter_map(|((name, body), theirs)| Some(format!("{name}: {}", difference(body, &theirs)?)))
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}
