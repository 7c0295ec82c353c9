//! Workers of small pages, with the results of browsers.

use std::collections::VecDeque;

use url::Url;

use crate::engine::Start;
use crate::engine::net::Net;
use crate::web::html::load::{Window, text_of};
use crate::wire::{Answer, Reach, Request, RequestId, Response};

/// Scripts by path.
struct Scripts(&'static [(&'static str, &'static str)], VecDeque<(RequestId, Request)>);

impl Net for Scripts {
    fn start(&mut self, id: RequestId, request: Request) {
        self.1.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, request) = self.1.pop_front().unwrap();
        let path = request.url.strip_prefix("http://site.test").unwrap_or(&request.url);
        let found = self.0.iter().find(|(known, _)| *known == path);
        let answer = found.map(|(_, text)| Response {
            url: request.url.clone(),
            status: 200,
            headers: vec![("content-type".to_owned(), "text/javascript".to_owned())],
            body: text.as_bytes().to_vec(),
            ..Response::default()
        });
        (id, answer.ok_or_else(|| "refused".to_owned()))
    }
}

/// What a page's script has put into `log`.
fn log(scripts: &'static [(&'static str, &'static str)], script: &str) -> String {
    let start = Start::at(Url::parse("http://site.test/dir/page").unwrap());
    let mut window = Window::open(&start, Box::new(Scripts(scripts, VecDeque::new()))).unwrap();
    window.load(&format!("<script>var log = []; {script}</script>"), Reach::default());
    text_of(&mut window, "log.join(' ')").unwrap()
}

#[test]
fn a_worker_of_a_blob_answers_messages_that_were_sent_before_it_ran() {
    let script = "const w = new Worker(URL.createObjectURL(new Blob(['onmessage = e => postMessage(e.data.map(n => n * 2))'])));
        w.onmessage = e => log.push(e.data, e.data instanceof Array, e instanceof MessageEvent, e.target === w); w.postMessage([1, 2])";
    assert_eq!(log(&[], script), "2,4 true true true");
}

#[test]
fn a_worker_sees_its_own_globals_and_not_the_pages() {
    let inner = "postMessage([typeof window, typeof document, self instanceof DedicatedWorkerGlobalScope, this === self, typeof importScripts,
        self.name, location.href, location.pathname, navigator.hardwareConcurrency, typeof fetch, typeof page].join())";
    let scripts: &'static [(&str, &str)] = vec![("/w.js?x", &*inner.to_owned().leak())].leak();
    let script = "window.page = 1; new Worker('/w.js?x', { name: 'n' }).onmessage = e => log.push(e.data)";
    let wanted = "undefined,undefined,true,true,function,n,http://site.test/w.js?x,/w.js,4,function,undefined";
    assert_eq!(log(scripts, script), wanted);
}

#[test]
fn what_a_worker_asks_for_in_vain_is_told() {
    let start = Start::at(Url::parse("http://site.test/dir/page").unwrap());
    let scripts = Scripts(
        &[("/w.js", "typeof WebAssembly; 'indexedDB' in self; typeof nothing; postMessage(1)")],
        VecDeque::new(),
    );
    let mut window = Window::open(&start, Box::new(scripts)).unwrap();
    window.load("<script>new Worker('/w.js')</script>", Reach::default());
    assert_eq!(window.missing(), ["WebAssembly", "indexedDB"]);
}

#[test]
fn scripts_are_imported_and_modules_run() {
    const SCRIPTS: &[(&str, &str)] = &[
        (
            "/dir/c.js",
            "importScripts('lib/a.js', '/b.js'); postMessage(a + b); try { importScripts('/no.js') } catch (e) { postMessage(e.name) }",
        ),
        ("/dir/lib/a.js", "var a = 1"),
        ("/b.js", "var b = 2"),
        ("/m.js", "import { c } from './lib.js'; onmessage = e => postMessage(c + e.data)"),
        ("/lib.js", "export const c = 5"),
    ];
    assert_eq!(log(SCRIPTS, "new Worker('c.js').onmessage = e => log.push(e.data)"), "3 NetworkError");
    let script =
        "const w = new Worker('/m.js', { type: 'module' }); w.onmessage = e => log.push(e.data); w.postMessage(1)";
    assert_eq!(log(SCRIPTS, script), "6");
}

#[test]
fn errors_and_missing_scripts_reach_the_creator() {
    const SCRIPTS: &[(&str, &str)] =
        &[("/t.js", "throw new TypeError('x')"), ("/h.js", "onerror = () => true; throw 1"), ("/s.js", "var = 1")];
    let script = |name: &str| {
        format!("new Worker('{name}').onerror = e => log.push(e.constructor.name, e.message, e.filename, e.lineno)")
    };
    assert_eq!(log(SCRIPTS, &script("/t.js")), "ErrorEvent Uncaught TypeError: x http://site.test/t.js 1");
    assert_eq!(log(SCRIPTS, &script("/h.js")), "");
    assert!(log(SCRIPTS, &script("/s.js")).starts_with("ErrorEvent Uncaught SyntaxError"));
    assert_eq!(log(SCRIPTS, &script("/no.js")).trim_end(), "Event");
    assert_eq!(
        log(&[], "try { new Worker('http://other.test/a.js') } catch (e) { log.push(e.name) }"),
        "SecurityError"
    );
}

#[test]
fn a_worker_ends_by_itself_or_by_its_creator() {
    const SCRIPTS: &[(&str, &str)] = &[
        ("/c.js", "postMessage(1); close(); postMessage(2); setTimeout(() => postMessage(3))"),
        ("/t.js", "postMessage(1); setInterval(() => postMessage(2), 10)"),
    ];
    assert_eq!(log(SCRIPTS, "new Worker('/c.js').onmessage = e => log.push(e.data)"), "1 2");
    let script =
        "const w = new Worker('/t.js'); w.onmessage = e => { log.push(e.data); w.terminate(); w.postMessage(0) }";
    assert_eq!(log(SCRIPTS, script), "1");
}

#[test]
fn values_are_copied_and_ports_handed_over() {
    const SCRIPTS: &[(&str, &str)] = &[(
        "/w.js",
        "onmessage = e => { const d = e.data; e.ports[0].onmessage = e => e.target.postMessage(['got', e.data]);
            postMessage([d instanceof Map, d.get('k') instanceof Uint8Array, d.get('d') instanceof Date, d.get('o').self === d.get('o')]) }",
    )];
    let script = "const w = new Worker('/w.js'), c = new MessageChannel, o = {}; o.self = o;
        w.onmessage = e => { log.push(e.data); c.port1.postMessage('x') }; c.port1.onmessage = e => log.push(e.data, e.data instanceof Array);
        w.postMessage(new Map([['k', new Uint8Array(2)], ['d', new Date], ['o', o]]), [c.port2]);
        try { w.postMessage(() => 1) } catch (e) { log.push(e.name, e instanceof DOMException) }";
    assert_eq!(log(SCRIPTS, script), "DataCloneError true true,true,true,true got,x true");
}

#[test]
fn too_many_workers_fail() {
    let script = "for (let i = 0; i < 20; i++) { const w = new Worker('data:,postMessage(1)'); w.onmessage = () => log.push('ran'); w.onerror = () => log.push('not') }";
    let log = log(&[], script);
    assert_eq!((log.matches("ran").count(), log.matches("not").count()), (16, 4));
}
