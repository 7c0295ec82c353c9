//! The dashboard in Debian's Chromium: nothing on its console, nothing serious for axe-core, no sideways scroll on a telephone, light, and whole without scripts.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Served, TORRENTS};
use crate::cli::harness::archived;

/// Bytes of a page with its style and script.
const BYTES_MAX: u64 = 60_000;

#[test]
fn pages_are_light_readable_by_everybody_and_whole_without_scripts() {
    let served = Served::with("[[search]]\nname = \"linux\"\nquery = \"linux\"\n");
    let hash = archived(&served.here.path().join("data")).into_iter().next().unwrap();
    let tools = Path::new(env!("GLEANER_ROOT")).join("target/test-tools");
    let script = Path::new(env!("GLEANER_ROOT")).join("tests/program/clients/pages.mjs");
    let torrent = format!("/torrents/{hash}");
    let paths = [
        "/",
        "/torrents",
        "/torrents?q=linux",
        &torrent,
        "/sites/demo",
        "/sites/demo?range=all",
        "/rules",
        "/schedule",
        "/alarms",
        "/log",
        "/connect",
        "/exports",
        "/health",
        "/login",
    ];
    let output = Command::new("node").arg(script).arg(tools).arg(served.origin()).args(paths).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let pages: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pages.len(), paths.len(), "{said}");
    for page in &pages {
        let path = &page["path"];
        assert_eq!(page["status"], 200, "{path}");
        for none in ["errors", "strangers", "findings"] {
            assert_eq!(page[none].as_array().map(Vec::len), Some(0), "{path} {none}: {}", page[none]);
        }
        assert!(
            page["wide"].as_i64().is_some_and(|wide| wide <= 0),
            "{path} is too wide at 360 px: {}",
            page["widest"]
        );
        assert!(page["bytes"].as_u64().is_some_and(|bytes| bytes <= BYTES_MAX), "{path}: {} bytes", page["bytes"]);
        assert!(page["paint"].as_f64().is_some_and(|paint| paint > 0.0), "{path} is never painted");
        assert!(
            page["reached"].as_u64() >= page["wanted"].as_u64(),
            "{path}: the keyboard reaches {} of {}",
            page["reached"],
            page["wanted"]
        );
        assert!(
            page["without_scripts"].as_u64().is_some_and(|letters| letters > 80),
            "{path} shows nothing without scripts"
        );
    }
    let overview = pages[0]["without_scripts"].as_u64().unwrap_or_default();
    assert!(overview as usize > TORRENTS, "{overview}");
    served.stop();
}
