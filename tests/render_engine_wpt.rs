//! The web platform tests of what needs no document, run by the engine itself: addresses, headers, events, signals. Each subtest that
//! fails is expected by its file, with a reason; an expectation that is not met any more fails as well.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use gleaner::render::engine::jobs::Reach;
use gleaner::render::engine::net::{Answer, Net, Request, RequestId, Response};
use gleaner::render::engine::{Engine, Start};
use url::Url;

/// Folders whose `.any.js` tests are run.
const FOLDERS: &[&str] = &["tests/url/", "tests/dom/abort/", "tests/dom/events/", "tests/fetch/api/headers/"];

/// Files that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("idlharness", "needs the IDL files and their parser, which are not in the archive"),
    ("crashtests", "no subtests"),
];

/// Subtests that fail: part of the file's path, how many, why.
const EXPECTED: &[(&str, usize, &str)] = &[
    ("url/historical.any", 1, "the test's own location is a URL here, which has searchParams"),
    (
        "url/url-constructor.any",
        52,
        "the url crate: drives and hosts of file:, blanks of opaque paths, dots of other schemes",
    ),
    ("url/url-setters.any", 19, "the url crate: paths of file: and of schemes that are not special"),
    ("dom/abort/timeout-shadowrealm", 1, "the engine has no ShadowRealm; the harness takes the window for one"),
    (
        "dom/events/Event-isTrusted",
        1,
        "isTrusted stands on the prototype: an own accessor for each event would cost all of them",
    ),
    ("headers/headers-no-cors", 8, "requests are not narrowed by their mode, which the crawl's gate does not know"),
];

type Files = Rc<HashMap<String, Vec<u8>>>;

/// A network that is the archive.
struct Archive {
    files: Files,
    waiting: Vec<(RequestId, String)>,
}

impl Net for Archive {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, address) = self.waiting.remove(0);
        let path = address.split(['?', '#']).next().unwrap_or_default().replace("https://web-platform.test/", "tests/");
        let answer = self.files.get(&path).map(|body| Response {
            url: address,
            status: 200,
            body: body.clone(),
            ..Response::default()
        });
        (id, answer.ok_or_else(|| "not in the archive".to_owned()))
    }
}

fn files() -> Files {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wpt.tar.zst");
    let file = File::open(&path).unwrap_or_else(|error| panic!("no shared data: {}: {error}", path.display()));
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    let mut files = HashMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
        let wanted = name == "tests/resources/testharness.js"
            || name.starts_with("tests/common/")
            || FOLDERS.iter().any(|folder| name.starts_with(folder));
        if wanted {
            let mut body = Vec::new();
            entry.read_to_end(&mut body).unwrap();
            files.insert(name, body);
        }
    }
    Rc::new(files)
}

/// Runs one file and gives its subtests: name, whether it passed, what it said.
fn run(name: &str, files: &Files) -> Vec<(String, bool, String)> {
    let address = Url::parse(&format!("https://web-platform.test/{}", name.trim_start_matches("tests/"))).unwrap();
    let net = Archive { files: Rc::clone(files), waiting: Vec::new() };
    let start = Start { instructions: usize::MAX, ..Start::at(address.clone()) };
    let mut engine = Engine::new(&start, Box::new(net)).unwrap();
    let text = |path: &str| files.get(path).map(|body| String::from_utf8_lossy(body).into_owned());
    engine.evaluate(&text("tests/resources/testharness.js").unwrap(), "testharness.js");
    // What the server of the tests puts before each of them.
    engine.evaluate(&format!("var location = new URL('{address}')"), "harness");
    engine.evaluate(
        "var GLOBAL = { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false }",
        "harness",
    );
    engine.evaluate("var told = []; add_completion_callback(tests => { told = tests.map(t => [t.name, t.status === 0, String(t.message)]) })", "harness");
    let script = text(name).unwrap();
    for line in script.lines().filter_map(|line| line.strip_prefix("// META: script=")) {
        let included = address.join(line.trim()).unwrap().path().replacen('/', "tests/", 1);
        match text(&included) {
            Some(text) => drop(engine.evaluate(&text, &included)),
            None => {
                return vec![(line.to_owned(), false, "a script that it includes is not in the archive".to_owned())];
            }
        }
    }
    engine.evaluate(&script, name);
    engine.evaluate("done()", "harness");
    engine.run(Reach { virtual_ms: 60_000, tasks: 1_000_000 });
    let told = engine.evaluate("JSON.stringify(told)", "harness").and_then(|told| engine.text_of(&told));
    let told: Vec<(String, bool, String)> = serde_json::from_str(&told.unwrap_or_default()).unwrap_or_default();
    if told.is_empty() {
        return vec![(String::new(), false, format!("{:?}", engine.page().borrow().errors))];
    }
    told
}

#[test]
fn what_needs_no_document_behaves_as_in_browsers() {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(run_all).unwrap().join().unwrap();
}

fn run_all() {
    let files = files();
    let mut names: Vec<_> = files.keys().filter(|name| name.ends_with(".any.js")).cloned().collect();
    names.retain(|name| !NOT_RUN.iter().any(|(part, _)| name.contains(part)));
    names.sort();
    assert!(names.len() >= 40, "{names:?}");
    let (mut passed, mut all) = (HashMap::<&str, usize>::new(), HashMap::<&str, usize>::new());
    let mut faults = Vec::new();
    for name in &names {
        let folder = FOLDERS.iter().find(|folder| name.starts_with(**folder)).unwrap();
        let subtests = run(name, &files);
        let failed: Vec<_> = subtests.iter().filter(|(_, passed, _)| !passed).collect();
        *passed.entry(folder).or_default() += subtests.len() - failed.len();
        *all.entry(folder).or_default() += subtests.len();
        let expected = EXPECTED.iter().find(|(part, ..)| name.contains(part)).map_or(0, |(_, count, _)| *count);
        if failed.len() != expected {
            let told: Vec<_> = failed.iter().take(8).map(|(name, _, why)| format!("        {name}: {why}")).collect();
            faults.push(format!("    {name}: {} fail, {expected} expected\n{}", failed.len(), told.join("\n")));
        }
    }
    for folder in FOLDERS {
        println!("{folder}: {} of {} subtests", passed.get(folder).unwrap_or(&0), all.get(folder).unwrap_or(&0));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
