//! Interfaces that ask the network or keep bytes, in small pages, with the results of browsers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use url::Url;

use super::html::load::{Window, text_of};
use crate::engine::Start;
use crate::engine::net::Net;
use crate::wire::{Answer, Asker, Reach, Request, RequestId, Response};

/// Answers by path: the status, the type, the body. A body that ends with `…` is a stream that was cut there.
#[derive(Default)]
struct Table {
    rows: &'static [(&'static str, u16, &'static str, &'static str)],
    waiting: VecDeque<(RequestId, Request)>,
    /// The URLs of all requests.
    asked: Rc<RefCell<Vec<String>>>,
}

impl Net for Table {
    fn start(&mut self, id: RequestId, request: Request) {
        self.asked.borrow_mut().push(request.url.clone());
        self.waiting.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, request) = self.waiting.pop_front().unwrap();
        assert!(!matches!(request.asker, Asker::Fetch | Asker::Xhr));
        let path = request.url.strip_prefix("http://site.test").unwrap_or(&request.url);
        let found = self.rows.iter().find(|(known, ..)| *known == path);
        let answer = found.map(|(_, status, kind, body)| Response {
            url: request.url.clone(),
            status: *status,
            headers: vec![("content-type".to_owned(), (*kind).to_owned())],
            body: body.trim_end_matches('…').as_bytes().to_vec(),
            ongoing: body.ends_with('…'),
            ..Response::default()
        });
        (id, answer.ok_or_else(|| "refused".to_owned()))
    }
}

type Rows = &'static [(&'static str, u16, &'static str, &'static str)];

fn page(rows: Rows, html: &str) -> Window {
    page_and_asked(rows, html).0
}

/// The page, and the URLs that it asks for.
fn page_and_asked(rows: Rows, html: &str) -> (Window, Rc<RefCell<Vec<String>>>) {
    let start = Start::at(Url::parse("http://site.test/dir/page").unwrap());
    let net = Table { rows, ..Table::default() };
    let asked = Rc::clone(&net.asked);
    let mut window = Window::open(&start, Box::new(net)).unwrap();
    window.load(html, Reach::default());
    (window, asked)
}

/// What a page's script has put into `log`.
fn log(rows: Rows, script: &str) -> String {
    let mut window = page(rows, &format!("<body><script>var log = []; {script}</script>"));
    text_of(&mut window, "log.join(' ')").unwrap()
}

const STREAM: &str = "text/event-stream; charset=utf-8";

#[test]
fn a_stream_of_events_is_what_has_arrived_and_may_go_on() {
    const ROWS: &[(&str, u16, &str, &str)] = &[
        ("/dir/e", 200, STREAM, "data: 1\n\nevent: t\nid: 7\ndata: 2\n\ndata: lost…"),
        ("/ends", 200, STREAM, "data: 1\n\ndata: 2\n\n"),
        ("/page", 200, "text/html", "data: 1\n\n"),
    ];
    let listen = |path: &str| {
        format!(
            "const s = new EventSource('{path}'); s.onopen = () => log.push('open', s.readyState); s.onmessage = e => log.push(e.data);
             s.addEventListener('t', e => log.push(e.data, e.lastEventId, e.origin)); s.onerror = () => log.push('error', s.readyState)"
        )
    };
    assert_eq!(log(ROWS, &listen("e")), "open 1 1 2 7 http://site.test");
    assert_eq!(log(ROWS, &listen("/ends")), "open 1 1 2 error 0");
    assert_eq!(log(ROWS, &listen("/page")), "error 2");
    assert_eq!(log(ROWS, &listen("/none")), "error 2");
    assert_eq!(
        log(ROWS, &format!("{}; s.onmessage = () => {{ log.push('one'); s.close() }}", listen("/ends"))),
        "open 1 one"
    );
    let many = "for (let i = 0; i < 6; i++) { const s = new EventSource('/ends'); s.onopen = () => log.push('open') }";
    assert_eq!(log(ROWS, many), "open open open open");
}

#[test]
fn a_stream_holds_no_timer_and_one_without_events_is_told() {
    const ROWS: &[(&str, u16, &str, &str)] =
        &[("/one", 200, STREAM, "data: 1\n\n…"), ("/none", 200, STREAM, ": hello\n\n…"), ("/head", 0, STREAM, "…")];
    let listen = |path: &str| {
        format!(
            "const s = new EventSource('{path}'); s.onopen = () => log.push('open'); s.onerror = () => log.push('error');
             s.onmessage = e => log.push(e.data); setTimeout(() => log.push('timer', s.readyState), 3000);"
        )
    };
    assert_eq!(log(ROWS, &listen("/one")), "timer 0 open 1");
    assert_eq!(log(ROWS, &listen("/head")), "timer 0");
    // A closed stream is waited for no more.
    assert_eq!(log(ROWS, &format!("{} s.close()", listen("/one"))), "timer 2");
    for (path, missing) in [("/one", 0), ("/none", 1), ("/head", 1)] {
        let told = page(ROWS, &format!("<script>var log = []; {}</script>", listen(path))).missing();
        assert_eq!(told.iter().filter(|name| name.contains("EventSource")).count(), missing, "{path}: {told:?}");
    }
}

#[test]
fn an_image_that_a_script_probes_is_asked_for_and_others_are_not() {
    const ROWS: &[(&str, u16, &str, &str)] =
        &[("/gone.png", 404, "text/html", ""), ("/there.png", 200, "image/png", "x")];
    let probe = |path: &str| {
        format!(
            "const i = new Image; i.src = '{path}'; i.onload = () => log.push('load'); i.onerror = () => log.push('error')"
        )
    };
    assert_eq!(log(ROWS, &probe("/gone.png")), "error");
    assert_eq!(log(ROWS, &probe("/there.png")), "load");
    // The crawl may not ask there: nothing is known of it.
    assert_eq!(log(ROWS, &probe("http://other.test/x.png")), "load");
    // In the document it is one of many that a library listens to.
    let shown = log(ROWS, &format!("{}; document.body.append(i)", probe("/gone.png")));
    assert!(shown.contains("load") && !shown.contains("error"), "{shown}");
    assert_eq!(log(ROWS, "const i = new Image; i.onload = () => log.push('load'); i.src = '/gone.png'"), "load");
    // Only the last URL is asked for, and two images at most.
    assert_eq!(log(ROWS, &format!("{}; i.src = '/there.png'", probe("/gone.png"))), "load");
    assert_eq!(log(ROWS, &format!("{}; i.src = '/gone.png'", probe("/there.png"))), "error");
    let many = "for (let n = 0; n < 4; n++) { const i = new Image; i.onerror = () => log.push('error'); i.onload = () => log.push('load'); \
                i.src = '/gone.png' }";
    let mut told: Vec<_> = log(ROWS, many).split(' ').map(str::to_owned).collect();
    told.sort();
    assert_eq!(told, ["error", "error", "load", "load"]);
}

#[test]
fn a_file_reader_reads_blobs_and_fires_its_events_in_order() {
    let script = "const r = new FileReader; for (const t of ['loadstart', 'progress', 'load', 'loadend']) r.addEventListener(t, e => log.push(t, e.loaded));
        r.readAsText(new Blob(['é<'])); log.push(r.readyState, r.result); try { r.readAsText(new Blob) } catch (e) { log.push(e.name) }
        r.onloadend = () => log.push(r.readyState, r.result)";
    assert_eq!(log(&[], script), "1  InvalidStateError loadstart 0 progress 3 load 3 loadend 3 2 é<");
    let script = "const r = new FileReader; r.onload = () => { log.push(r.result); if (log.length < 2) r.readAsBinaryString(new Blob([new Uint8Array([255])])) };
        r.readAsDataURL(new Blob(['hi'], { type: 'text/plain' })); const b = new FileReader;
        b.onload = () => log.push(b.result.byteLength); b.readAsArrayBuffer(new File(['abc'], 'f'))";
    assert_eq!(log(&[], script), "data:text/plain;base64,aGk= 3 ÿ");
    let script =
        "const r = new FileReader; r.onload = () => log.push('load'); r.onabort = () => log.push('abort', r.result);
        r.readAsText(new Blob(['x'])); r.abort(); try { r.readAsText('x') } catch (e) { log.push(e.name) }";
    assert_eq!(log(&[], script), "abort  TypeError");
}

#[test]
fn a_canvas_takes_all_calls_and_stays_transparent() {
    let script = "const c = document.createElement('canvas'), x = c.getContext('2d');
        log.push(x === c.getContext('2d'), x.canvas === c, c.getContext('webgl'), x.fillStyle, x.lineWidth);
        x.font = '20px serif'; x.save(); x.fillStyle = 'red'; x.globalAlpha = NaN; x.restore(); x.lineWidth = '3';
        log.push(x.fillStyle, x.globalAlpha, x.lineWidth, x.measureText('abcd').width);
        x.beginPath(); x.arc(0, 0, 1, 0, 7); x.fill(new Path2D('M0 0')); x.createLinearGradient(0, 0, 1, 1).addColorStop(0, 'red');
        const d = x.getImageData(0, 0, 2, 3); log.push(d.data.length, d.data[5], d.width, c.toDataURL().slice(0, 22));
        x.setLineDash([1, 2]); log.push(x.getLineDash().length, x.isPointInPath(1, 1)); try { x.getImageData(0, 0, 0, 1) } catch (e) { log.push(e.name) };
        try { x.createImageData(60000, 60000) } catch (e) { log.push(e.name) }; c.width = 0; log.push(c.toDataURL()); c.width = 1;
        c.toBlob(b => log.push(b.type, b.size > 0))";
    let wanted = "true true  #000000 1 #000000 1 3 40 24 0 2 data:image/png;base64, 2 false IndexSizeError RangeError data:, image/png true";
    assert_eq!(log(&[], script), wanted);
}

#[test]
fn a_linked_sheet_is_fetched_once_a_script_asks_for_a_style() {
    const ROWS: &[(&str, u16, &str, &str)] = &[
        ("/dir/s.css", 200, "text/css", ".a { display: none; color: rgb(1, 2, 3) } p { padding: 4px }"),
        ("/wrong.css", 200, "text/html", "p { margin-left: 7px }"),
    ];
    let html = "<link rel=stylesheet href=s.css><link rel=stylesheet href=/wrong.css><link rel=stylesheet media=print href=/print.css>
        <p class=a id=a>x<p id=b style='color: blue'>y";
    let (mut window, asked) = page_and_asked(ROWS, html);
    let told = text_of(
        &mut window,
        "[a.offsetHeight > 0, getComputedStyle(a).display, a.offsetHeight, getComputedStyle(a).color,
        getComputedStyle(b).color, getComputedStyle(b).paddingLeft, getComputedStyle(b).marginLeft].join(' ')",
    );
    assert_eq!(told.as_deref(), Some("true none 0 rgb(1, 2, 3) rgb(0, 0, 255) 4px 0px"));
    assert_eq!(*asked.borrow(), ["http://site.test/dir/s.css", "http://site.test/wrong.css"]);
    // Sheets that come later count, in their order, and those that go do not.
    let told = text_of(
        &mut window,
        "const s = document.createElement('style'); s.textContent = 'p { padding: 9px }'; const t = () => getComputedStyle(b).paddingLeft,
         l = document.querySelector('link'); const told = []; document.head.append(s); told.push(t()); s.textContent = 'p { padding: 8px }';
         told.push(t()); document.head.prepend(s); told.push(t()); l.disabled = true; l.setAttribute('disabled', ''); told.push(t());
         s.remove(); told.push(t()); told.join(' ')",
    );
    assert_eq!(told.as_deref(), Some("9px 8px 4px 8px 0px"));
}

#[test]
fn what_is_missing_and_asked_for_is_told_once() {
    let html = "<p id=navigation></p><script>'serviceWorker' in navigator; typeof WebAssembly; window.WebAssembly; 'cookieStore' in window; navigation.id; typeof Nothing;
        try { new XSLTProcessor } catch {} crypto.subtle.digest; crypto.subtle.importKey; new WebSocket('ws://site.test/')</script>";
    let mut window = page(&[], html);
    assert_eq!(
        window.missing(),
        ["serviceWorker", "WebAssembly", "cookieStore", "XSLTProcessor", "crypto.subtle.importKey", "WebSocket"]
    );
    assert!(
        page(&[], "<script>typeof Promise; typeof jQuery; window.foo; navigator.language; 'foo' in navigator</script>")
            .missing()
            .is_empty()
    );
}
