//! Frames and names: what a page's scripts see of the documents inside their document, and what is fetched for it.

use std::cell::RefCell;
use std::rc::Rc;

use gleaner_render::wire::{Answer, Reach, Request, RequestId, Response};
use gleaner_render::{Net, Start, Window, text_of};
use url::Url;

/// A network of a few pages that records requests.
struct Pages {
    pages: Vec<(&'static str, &'static str, Vec<u8>)>,
    waiting: Vec<(RequestId, String)>,
    asked: Rc<RefCell<Vec<String>>>,
}

impl Net for Pages {
    fn start(&mut self, id: RequestId, request: Request) {
        self.asked.borrow_mut().push(request.url.clone());
        self.waiting.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, url) = self.waiting.remove(0);
        let page = self.pages.iter().find(|(address, ..)| *address == url);
        let answer = match page {
            Some((_, kind, body)) => Response {
                headers: vec![("content-type".to_owned(), (*kind).to_owned())],
                url,
                status: 200,
                body: body.clone(),
                ..Response::default()
            },
            None => Response { url, status: 404, ..Response::default() },
        };
        (id, Ok(answer))
    }
}

/// Loads a page of `http://a.test/` and returns the value of an expression, and the requests.
fn load(html: &str, pages: &[(&'static str, &'static str, &[u8])], expression: &str) -> (String, Vec<String>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let pages = pages.iter().map(|(address, kind, body)| (*address, *kind, body.to_vec())).collect();
    let net = Pages { pages, waiting: Vec::new(), asked: Rc::clone(&asked) };
    let start = Start::at(Url::parse("http://a.test/").unwrap());
    let mut window = Window::open(&start, Box::new(net)).unwrap();
    window.load(html, Reach::default());
    let told =
        text_of(&mut window, expression).unwrap_or_else(|| format!("{:?}", window.engine.page().borrow().errors));
    let asked = asked.borrow().clone();
    (told, asked)
}

/// Loads a page with one frame with the given markup, and returns the value of an expression.
fn with_frame(markup: &str, script: &str, expression: &str) -> String {
    let page =
        format!("<script>var told = []</script><iframe name=f src=frame.html></iframe><script>{script}</script>");
    load(&page, &[("http://a.test/frame.html", "text/html", markup.as_bytes())], expression).0
}

#[test]
fn a_frame_of_the_pages_origin_is_read_and_runs_its_scripts_in_a_window_of_its_own() {
    let body = b"<title>in</title><base href='/sub/'><a href='x'>x</a><script>parent.ran = [this === window, self === window, \
                 document.title, location.href, parent !== window, top === parent, frameElement.name, Array === parent.Array, \
                 [] instanceof parent.Array, document instanceof Document, document instanceof parent.Document, \
                 typeof told, document.links[0] instanceof HTMLAnchorElement, document.currentScript.localName]; var own = 1</script>";
    let (told, asked) = load(
        "<script>var told</script><iframe name=f src=frame.html></iframe>",
        &[("http://a.test/frame.html", "text/html", body)],
        "let d = frames.f.document; [d.title, d.links[0].href, d.URL, d === document.querySelector('iframe').contentDocument, \
         frames[0] === f, window.length, f.parent === window, f.frameElement.name, f.own, typeof own, f.window === f, \
         f.Array !== Array, d.links[0] instanceof HTMLElement, d.defaultView === f].join() + ' ' + ran",
    );
    assert_eq!(
        told,
        "in,http://a.test/sub/x,http://a.test/frame.html,true,true,1,true,f,1,undefined,true,true,false,true \
         true,true,in,http://a.test/frame.html,true,true,f,false,false,true,false,undefined,true,script"
    );
    assert_eq!(asked, ["http://a.test/frame.html"]);
}

#[test]
fn the_pages_load_waits_for_the_scripts_of_its_frames() {
    let (told, _) = load(
        "<script>var told = []; onload = () => told.push('page')</script><iframe src=one onload='told.push(`element`)'></iframe>",
        &[
            (
                "http://a.test/one",
                "text/html",
                b"<body onload='parent.told.push(`body`)'><script>document.addEventListener('DOMContentLoaded', () => \
                  parent.told.push(document.readyState)); parent.told.push('inline')</script><script defer src=s.js></script>\
                  <script type=module>parent.told.push('module')</script><iframe src=two></iframe>",
            ),
            ("http://a.test/s.js", "text/javascript", b"parent.told.push('deferred')"),
            ("http://a.test/two", "text/html", b"<script>top.told.push('inner')</script>"),
        ],
        "told.join()",
    );
    assert_eq!(told, "inline,deferred,module,interactive,inner,body,element,page");
}

#[test]
fn windows_post_messages_to_each_other_and_know_who_did() {
    let told = with_frame(
        "<script>onmessage = e => { if (e.source === parent) parent.postMessage({ got: e.data.n + 1 }, '*') }; \
         parent.postMessage('ready', 'http://a.test')</script>",
        "addEventListener('message', e => { told.push(JSON.stringify(e.data), e.origin, e.source === f, e instanceof MessageEvent); \
         if (e.data === 'ready') f.postMessage({ n: 1 }, '/') })",
        "told.join()",
    );
    assert_eq!(told, "\"ready\",http://a.test,true,true,{\"got\":2},http://a.test,true,true");
}

#[test]
fn what_a_window_waits_for_ends_with_it() {
    let told = with_frame(
        "<script>setInterval(() => parent.told.push('tick'), 10); requestAnimationFrame(() => parent.told.push('frame')); \
         fetch('/data').then(() => parent.told.push('data')); parent.told.push('run')</script>",
        "let frame = document.querySelector('iframe'), w = frame.contentWindow; frame.onload = () => { let before = w.closed; \
         frame.remove(); told.push(before, w.closed, w.parent, frame.contentWindow, w.setTimeout(() => told.push('late'), 1) > 0) }",
        "told.join()",
    );
    assert_eq!(told, "run,false,true,,,true");
}

#[test]
fn errors_of_a_frame_are_told_to_its_window_with_its_own_source() {
    let pages: &[(&str, &str, &[u8])] = &[(
        "http://a.test/frame.html",
        "text/html",
        b"<script>\nonerror = (m, source, line) => { parent.told.push(source, line) }; nobody()</script>\n\
          <script>function thrower() {\n throw new TypeError('mine') }</script>",
    )];
    let page = "<script>var told = []; onerror = () => told.push('page')</script><iframe name=f src=frame.html></iframe><button>";
    let (told, _) = load(
        page,
        pages,
        "document.querySelector('button').addEventListener('click', f.thrower); document.querySelector('button').click(); \
         try { f.thrower() } catch (e) { told.push(e instanceof TypeError, e instanceof f.TypeError) } told.join()",
    );
    assert_eq!(told, "http://a.test/frame.html,2,http://a.test/frame.html,4,false,true");
}

#[test]
fn a_frame_keeps_its_window_object_over_what_it_shows() {
    let (told, _) = load(
        "<script>var told = []</script><iframe name=f></iframe><script>var frame = document.querySelector('iframe'), w = \
         frame.contentWindow; w.early = 1; var first = w.Array; frame.onload = () => { told.push(w.document.title, w.early, \
         w.Array === first, frame.contentWindow === w, w.closed); if (told.length < 9) frame.src = 'two' }; frame.src = 'one'</script>",
        &[
            ("http://a.test/one", "text/html", b"<title>one</title><script>parent.told.push('o' + early)</script>"),
            ("http://a.test/two", "text/html", b"<title>two</title><script>parent.told.push(typeof early)</script>"),
        ],
        "told.join()",
    );
    // The window of the initial empty document is also the next one's; later documents get their own.
    assert_eq!(told, "o1,one,1,true,true,false,undefined,two,,false,true,false");
}

#[test]
fn scripts_that_are_written_into_a_frame_run_there() {
    let (told, _) = load(
        "<iframe name=f></iframe><script>var d = f.document; d.open(); d.write('<p>1<scr' + 'ipt>document.write(\"<b>2</b>\"); \
         var inner = typeof told</scr' + 'ipt><script src=s.js></scr' + 'ipt><p>3'); d.close(); var told = []</script>",
        &[(
            "http://a.test/s.js",
            "text/javascript",
            b"var came = document.querySelectorAll('p').length + location.href",
        )],
        "[f.document.body.textContent, f.inner, f.came, f.told].join()",
    );
    assert_eq!(told, "1document.write(\"<b>2</b>\"); var inner = typeof told23,undefined,1about:blank,");
}

#[test]
fn a_frame_goes_elsewhere_on_its_own_and_takes_the_page_along_only_where_it_says_so() {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let pages = vec![
        (
            "http://a.test/one",
            "text/html",
            b"<a id=t target=_top href=/top>t</a><a id=s href=/self>s</a><script>s.click(); t.click(); top.location = '/also'; \
              location.hash = 'x'; parent.hash = location.hash</script>"
                .to_vec(),
        ),
        ("http://a.test/self", "text/html", b"<script>parent.second = document.referrer</script>".to_vec()),
    ];
    let net = Pages { pages, waiting: Vec::new(), asked: Rc::clone(&asked) };
    let mut window = Window::open(&Start::at(Url::parse("http://a.test/").unwrap()), Box::new(net)).unwrap();
    window.load("<iframe src=one></iframe>", Reach::default());
    let taken = window.navigations();
    let taken: Vec<_> = taken.iter().map(|one| one.url.as_str()).collect();
    assert_eq!(taken, ["http://a.test/top", "http://a.test/also"]);
    assert_eq!(text_of(&mut window, "hash + second + location.href").unwrap(), "#xhttp://a.test/http://a.test/");
    assert_eq!(*asked.borrow(), ["http://a.test/one", "http://a.test/self"]);
}

#[test]
fn a_frame_that_takes_itself_away_runs_no_further() {
    let told = with_frame(
        "<script>let to = parent.told; to.push(1); frameElement.remove(); to.push(closed, frameElement, parent)</script>\
         <script>top.told.push('more')</script>",
        "onload = () => told.push('load')",
        "told.join()",
    );
    assert_eq!(told, "1,true,,,load");
}

#[test]
fn a_sandbox_takes_a_frame_its_scripts_and_its_origin() {
    let (told, asked) = load(
        "<script>var ran = 0</script><iframe sandbox=allow-same-origin srcdoc='<p>1<script>parent.ran++</script>'></iframe>\
         <iframe sandbox srcdoc='<script>parent.ran++</script>'></iframe><iframe sandbox=allow-scripts src=/x></iframe>\
         <iframe name=own sandbox='allow-scripts allow-same-origin' srcdoc='<script>parent.ran += name</script>'></iframe>",
        &[],
        "frames[0].document.body.append(document.createElement('script')); frames[0].document.querySelector('p + script, script').text = \
         'parent.ran = 9'; [ran, frames[0].document.body.textContent[0], frames[1].document, frames[2].document].join()",
    );
    assert_eq!((told.as_str(), asked.len()), ("0own,1,,", 0));
}

#[test]
fn custom_elements_are_defined_window_by_window() {
    let told = with_frame(
        "<x-a></x-a><script>customElements.define('x-a', class extends HTMLElement { connectedCallback() { this.title = 'own' } \
         adoptedCallback(from, to) { this.title = to === top.document } })</script>",
        "customElements.define('x-a', class extends HTMLElement { connectedCallback() { this.title = 'page' } }); \
         document.body.append(document.createElement('x-a'))",
        "let inner = f.document.querySelector('x-a'); told.push(inner.title, document.querySelector('x-a').title); \
         document.body.append(inner); told.push(inner.title); told.join()",
    );
    // It stays as created: the page's definition is not used.
    assert_eq!(told, "own,page,own");
}

#[test]
fn frames_beyond_the_cap_of_windows_show_their_documents_without_scripts() {
    let page = format!(
        "<script>var ran = 0</script>{}",
        "<iframe srcdoc='<p>x<script>parent.ran++</script>'></iframe>".repeat(80)
    );
    let (told, _) = load(
        &page,
        &[],
        "let frame = [...document.querySelectorAll('iframe')].pop(); \
         [ran, frame.contentDocument.querySelector('p').textContent, frame.contentWindow.document].join()",
    );
    assert_eq!(told, format!("{},xparent.ran++,", gleaner_render::limits::RENDER_REALMS_MAX));
}

#[test]
fn a_frame_of_another_origin_is_not_fetched_and_shows_nothing_to_scripts() {
    let (told, asked) = load(
        "<script>var loads = 0</script><iframe id=f src='http://b.test/'></iframe><script>\
         document.getElementById('f').addEventListener('load', () => loads++)</script>",
        &[],
        "[document.getElementById('f').contentDocument, loads] + ''",
    );
    assert_eq!((told.as_str(), asked.len()), (",1", 0));
}

#[test]
fn frames_that_show_each_other_come_to_an_end() {
    let (told, asked) = load(
        "<iframe src=one></iframe><iframe src='?'></iframe>",
        &[
            ("http://a.test/one", "text/html", b"<iframe src=two></iframe>"),
            ("http://a.test/two", "text/html", b"<iframe src=one></iframe><iframe src=/></iframe>"),
            ("http://a.test/?", "text/html", b"<iframe src='?'></iframe><iframe src='?x'></iframe>"),
        ],
        "frames[0].document.querySelector('iframe').contentDocument.querySelectorAll('iframe').length + ''",
    );
    assert_eq!(told, "2");
    assert_eq!(asked, ["http://a.test/one", "http://a.test/?", "http://a.test/two", "http://a.test/?x"]);
}

#[test]
fn a_frame_that_leaves_the_document_has_no_document() {
    let (told, _) = load(
        "<iframe srcdoc='<p>one'></iframe>",
        &[],
        "let frame = document.querySelector('iframe'), told = [frame.contentDocument.body.textContent]; frame.remove(); \
         told.push(frame.contentDocument, frame.contentWindow, window.length); told + ''",
    );
    assert_eq!(told, "one,,,0");
}

#[test]
fn the_encoding_of_a_frame_is_that_of_its_header_or_of_its_markup() {
    let markup = b"<meta charset=iso-8859-2><p>\xB1</p>";
    let (told, _) = load(
        "<iframe src=a></iframe><iframe src=b></iframe><iframe src=c></iframe>",
        &[
            ("http://a.test/a", "text/html", markup),
            ("http://a.test/b", "text/html; charset=windows-1251", markup),
            ("http://a.test/c", "application/xml", b"<a>\xC4\x85</a>"),
        ],
        "[0, 1, 2].map(n => frames[n].document.characterSet + frames[n].document.documentElement.textContent).join()",
    );
    assert_eq!(told, "ISO-8859-2ą,windows-1251±,UTF-8ą");
}

#[test]
fn elements_answer_to_their_names_on_window_and_document_while_they_are_there() {
    let (told, _) = load(
        "<form name=order></form><img name=logo id=picture><div id=box></div><p id=twice><p id=twice>",
        &[],
        "let told = [order === document.order, document.logo === document.picture, box.id, document.box, twice.length, \
         typeof nobody, 'box' in window, Object.hasOwn(document, 'order')]; order.name = 'cart'; told.push(typeof order, \
         cart === document.cart, document.order); document.querySelector('form').remove(); told.push(typeof cart, 'cart' in document); \
         window.box = 1; told.push(box); told + ''",
    );
    assert_eq!(told, "true,true,box,,2,undefined,true,true,undefined,true,,undefined,false,1");
}

#[test]
fn the_initial_document_of_a_frame_is_no_answer_to_a_form_that_is_posted_into_it() {
    // As forums do: a frame is made, its `load` event is awaited, the form is posted into it.
    let (told, asked) = load(
        "<form action=/in method=post><input name=a value=1></form><div id=here></div><script>var told = []; \
         var here = document.getElementById('here'), form = document.forms[0]; \
         here.innerHTML = '<iframe name=f id=f></iframe>'; \
         document.getElementById('f').addEventListener('load', () => told.push('answered')); form.target = 'f'; form.submit(); \
         onload = () => told.push('page')</script>",
        &[],
        "told.join()",
    );
    assert_eq!((&*told, &asked[..]), ("page", &[][..]));
}
