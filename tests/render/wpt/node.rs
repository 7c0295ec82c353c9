//! The web platform tests that Node.js runs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The tests in Debian's source package of Node.js, by path below their folder.
pub fn files() -> HashMap<String, Vec<u8>> {
    let root = Path::new(env!("GLEANER_ROOT")).join("target/test-tools/debian/nodejs/test/fixtures/wpt");
    assert!(root.is_dir(), "{} is not there; scripts/test fetches it", root.display());
    let (mut files, mut folders) = (HashMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}
