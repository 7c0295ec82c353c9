//! The JSON API against its own document: whatever schemathesis sends, what comes back is what the document says.

use std::path::Path;
use std::process::Command;

use super::tool_of;
use crate::cli::harness::{Service, Site, folder, run, wait_for};
use crate::cli::web::port_of;

/// Cases of each endpoint that are made at random, unless `GLEANER_OPENAPI_CASES` has another number; those at the bounds of parameters
/// come on top.
const CASES: usize = 20;

/// Fewer are made otherwise: examples, bounds and one at random of each endpoint are 831.
const AT_BOUNDS: usize = 800;

#[test]
fn schemathesis_finds_nothing_that_the_document_does_not_say() {
    let made = std::env::var("GLEANER_OPENAPI_CASES").map_or(CASES, |number| number.parse().unwrap());
    let here = folder();
    let here = here.path();
    // It is there: what is pressed has something to act upon.
    let _site = Site::start(here, 60, 0);
    run(here, &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
    let ran = run(here, &["token", "new", "test", "--scope", "admin", "--data", "data", "--rules", "rules"]).ended(0);
    let token = ran.out.trim();
    let service = Service::with(here, &[("GLEANER_WEB_AUTH", "all"), ("GLEANER_WEB_REQUESTS_PER_SECOND", "100000")]);
    let port = port_of(&service);
    wait_for("the index is whole", || (!service.logged("the search index is whole").is_empty()).then_some(()));
    let script = Path::new(env!("GLEANER_ROOT")).join("tests/program/clients/openapi.py");
    let output = Command::new(tool_of("openapi", "python"))
        .current_dir(here)
        .arg(script)
        .args([&format!("http://127.0.0.1:{port}"), token, &made.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let cases = said.split(" generated, ").next().and_then(|text| text.rsplit(' ').next()).unwrap_or_default();
    assert!(cases.parse::<usize>().is_ok_and(|cases| cases >= AT_BOUNDS + 10 * made), "{said}");
    assert!(service.stop().success());
}
