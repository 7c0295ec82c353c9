//! The web platform tests; the archive has `dom`, `html`, `css`, `domparsing`, `url`, `fetch` and their dependencies.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::sync::OnceLock;

use crate::corpus;

#[path = "../../render/wpt/archive.rs"]
mod archive;
mod engine;
#[path = "../../render/wpt/engine.rs"]
mod engine_of_files;
mod markup;
mod pages;
#[path = "../../render/wpt/pages.rs"]
mod pages_of_files;

/// Folder of the lists of expected failures.
const EXPECTED: &str = "whole";

/// The content of the archive, by paths without `tests/`.
pub fn files() -> &'static HashMap<String, Vec<u8>> {
    static FILES: OnceLock<HashMap<String, Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut archive = tar::Archive::new(zstd::Decoder::new(File::open(corpus("wpt.tar.zst")).unwrap()).unwrap());
        let mut files = HashMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
            let Some(name) = name.strip_prefix("tests/").map(str::to_owned) else { continue };
            if entry.header().entry_type().is_file() {
                let mut body = Vec::new();
                entry.read_to_end(&mut body).unwrap();
                files.insert(name, body);
            }
        }
        files
    })
}
