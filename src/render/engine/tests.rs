//! Facts about what scripts see, each as a line of script that must be true.

use boa_engine::parser::SKIPPED_FROM;

use super::net::NoNet;
use super::*;

/// An engine at an ordinary URL.
pub(super) fn engine() -> Engine {
    let start =
        Start { now_ms: 1_700_000_000_000, ..Start::at(Url::parse("https://example.org/dir/page.html?q#f").unwrap()) };
    Engine::new(&start, Box::new(NoNet::new())).unwrap()
}

/// Each line must evaluate to true in an engine of its own: with its functions parsed with it, and when they are called first.
#[track_caller]
pub(super) fn assert_js(facts: &[&str]) {
    let mut faults = Vec::new();
    for (fact, skips) in facts.iter().flat_map(|fact| [(fact, false), (fact, true)]) {
        let value = parsing_late(skips, || {
            let mut engine = engine();
            let value = engine.evaluate(fact, "fact");
            let value = value.map_or_else(|| "nothing".to_owned(), |value| value.display().to_string());
            (value, format!("{:?}", engine.page().borrow().errors))
        });
        if value.0 != "true" {
            faults.push(format!("{fact}\n    gave {} (parsed late: {skips}); {}", value.0, value.1));
        }
    }
    assert!(faults.is_empty(), "{} of {} facts fail\n{}", faults.len(), 2 * facts.len(), faults.join("\n"));
}

/// Runs something in which all functions are parsed when they are called first, or none.
pub(super) fn parsing_late<T>(all: bool, run: impl FnOnce() -> T) -> T {
    let usual = SKIPPED_FROM.replace(if all { (0, 0) } else { (usize::MAX, 0) });
    let ran = run();
    SKIPPED_FROM.set(usual);
    ran
}

/// Runs a script and its event loop, and returns its variable `log`, joined by spaces.
pub(super) fn log_of(script: &str) -> String {
    let mut engine = engine();
    engine.evaluate(&format!("var log = [];\n{script}"), "test");
    engine.run(Reach::default());
    let log = engine.evaluate("log.join(' ')", "log");
    let told = format!("{:?}", engine.page().borrow().errors);
    log.and_then(|log| log.as_string()).map_or(told, |log| log.to_std_string_lossy())
}

/// A network that answers from a table of paths and responses. Anything else is refused.
pub(super) struct Table {
    rows: Vec<(&'static str, wire::Response)>,
    waiting: Vec<(wire::RequestId, wire::Request)>,
    /// Requested paths and bodies.
    asked: Rc<RefCell<Vec<String>>>,
}

impl net::Net for Table {
    fn start(&mut self, id: wire::RequestId, request: wire::Request) {
        let header =
            |name: &str| request.headers.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value).to_owned();
        let told = format!(
            "{} {} {} {}",
            request.method,
            request.url,
            header("content-type"),
            String::from_utf8_lossy(&request.body)
        );
        self.asked.borrow_mut().push(told.trim_end().to_owned());
        self.waiting.push((id, request));
    }

    /// The newest first, so that no test relies on their order.
    fn wait(&mut self) -> (wire::RequestId, wire::Answer) {
        let (id, request) = self.waiting.pop().expect("something was asked for");
        let path = request.url.strip_prefix("https://example.org").unwrap_or(&request.url);
        let found = self.rows.iter().find(|(row, _)| *row == path);
        let answer = found.map(|(_, response)| wire::Response { url: request.url.clone(), ..response.clone() });
        (id, answer.ok_or_else(|| "refused".to_owned()))
    }
}

/// A response with a type and a body.
pub(super) fn answer(kind: &str, body: &str) -> wire::Response {
    wire::Response {
        status: 200,
        status_text: "OK".to_owned(),
        headers: vec![("content-type".to_owned(), kind.to_owned())],
        body: body.as_bytes().to_vec(),
        ..wire::Response::default()
    }
}

/// An engine whose requests are answered by a table, and the requests it made.
pub(super) fn engine_on(rows: Vec<(&'static str, wire::Response)>) -> (Engine, Rc<RefCell<Vec<String>>>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let table = Table { rows, waiting: Vec::new(), asked: Rc::clone(&asked) };
    let start = Start::at(Url::parse("https://example.org/dir/page.html").unwrap());
    (Engine::new(&start, Box::new(table)).unwrap(), asked)
}

/// Runs a script and its event loop on a network, and returns its `log`, joined by spaces.
pub(super) fn net_log_of(rows: Vec<(&'static str, wire::Response)>, script: &str) -> (String, Vec<String>) {
    let (mut engine, asked) = engine_on(rows);
    engine.evaluate(&format!("var log = [];\n{script}"), "test");
    engine.run(Reach::default());
    let log = engine.evaluate("log.join(' ')", "log");
    let told = format!("{:?}", engine.page().borrow().errors);
    let asked = asked.borrow().clone();
    (log.and_then(|log| log.as_string()).map_or(told, |log| log.to_std_string_lossy()), asked)
}

mod ambient;
mod events;
mod jobs;
mod kept;
mod language;
mod modules;
mod net_globals;
mod parsed_late;
mod shortcuts;
mod url_globals;
