//! html5lib's documents and their trees, as contained in domino's tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The documents of each file: `data`, the context of a `fragment`, whether there is a `script` engine, and the tree in `document`.
pub fn documents() -> BTreeMap<String, Vec<Value>> {
    let path = "target/test-tools/debian/node-domino/test/html5lib-tests.json";
    let text = fs::read_to_string(Path::new(env!("GLEANER_ROOT")).join(path));
    let text = text.unwrap_or_else(|error| panic!("{path}: {error}; scripts/test fetches it"));
    serde_json::from_str(&text).unwrap()
}
