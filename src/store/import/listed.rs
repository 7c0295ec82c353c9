//! The manifest of an export, by path: what it says of each file, which counts as far as the file bears it out.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::export::manifest::path_of_line;
use crate::limits::{IMPORT_LINES_MAX, MANIFEST_LINE_BYTES_MAX};

/// A line of the manifest.
#[derive(Debug, Deserialize)]
pub struct Line {
    pub infohash_v1: Option<String>,
    pub infohash_v2: Option<String>,
    pub sha256: String,
    #[serde(default)]
    pub stored: Option<String>,
    pub site: Option<String>,
    #[serde(default)]
    pub sources: Vec<Source>,
}

/// A source of a line.
#[derive(Debug, Deserialize)]
pub struct Source {
    pub site: String,
    pub url: String,
    pub via: Option<String>,
    #[serde(default)]
    pub label: Option<String>,
    pub first_seen: String,
}

/// A line of the list of magnets.
#[derive(Debug, Deserialize)]
pub struct MagnetLine {
    pub link: String,
    pub name: Option<String>,
    pub site: String,
    pub first_seen: String,
}

/// Where a line is.
struct Place {
    at: u64,
    bytes: u32,
    is_taken: bool,
}

/// A manifest.
pub struct Listed {
    file: File,
    lines: HashMap<u128, Place>,
    /// Lines that are none of a manifest's.
    pub broken: u64,
}

impl Listed {
    /// Reads through a manifest; None if it does not begin as one.
    pub fn of(mut file: File) -> io::Result<Option<Self>> {
        file.seek(SeekFrom::Start(0))?;
        let (mut lines, mut broken, mut at) = (HashMap::new(), 0, 0);
        let mut reader = BufReader::with_capacity(256 << 10, &file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut reader).take(MANIFEST_LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            match path_of_line(&text) {
                Some(_) if lines.len() >= IMPORT_LINES_MAX => broken += 1,
                Some(path) => {
                    let bytes = u32::try_from(read).unwrap_or(u32::MAX);
                    lines.insert(xxh3_128(path.as_bytes()), Place { at, bytes, is_taken: false });
                }
                None if at == 0 => return Ok(None),
                None => broken += 1,
            }
            at += read as u64;
        }
        Ok(Some(Self { file, lines, broken }))
    }

    /// What is said of the file at this path.
    pub fn take(&mut self, path: &str) -> Option<Line> {
        let place = self.lines.get_mut(&xxh3_128(path.as_bytes()))?;
        place.is_taken = true;
        let mut bytes = vec![0; place.bytes as usize];
        self.file.read_exact_at(&mut bytes, place.at).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Lines whose file did not come.
    pub fn left(&self) -> u64 {
        self.lines.values().filter(|place| !place.is_taken).count() as u64
    }
}
