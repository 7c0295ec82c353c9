//! Hand-written whole pages in the engine: scripts in order, lists that scripts fetch, the reader's actions, and the links
//! that each state shows.

use std::collections::VecDeque;

use gleaner_render::wire::{Answer, End, How, Reach, Request, RequestId, Response, Viewport};
use gleaner_render::{Net, Setting, Start, Window, text_of};
use url::Url;

/// A site that is a table of paths, each with a type and a body; `{page}` in a body is replaced from the query.
struct Site {
    files: &'static [(&'static str, &'static str)],
    waiting: VecDeque<(RequestId, Request)>,
}

impl Net for Site {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, request) = self.waiting.pop_front().expect("wait is called while something is under way");
        let url = Url::parse(&request.url).unwrap();
        let query = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let path = url.path();
        let body = self.files.iter().find(|(name, _)| *name == path).map(|(_, body)| *body);
        let kind = match path.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("json") => "application/json",
            _ => "text/html",
        };
        let body = body.map(|body| {
            let page = query("page").unwrap_or_else(|| "1".to_owned());
            body.replace("{page}", &page).replace("{callback}", &query("callback").unwrap_or_default())
        });
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        let answer = match body {
            Some(body) => Response {
                url: request.url,
                status: 200,
                status_text: "OK".to_owned(),
                headers,
                body: body.into_bytes(),
                ..Response::default()
            },
            None => Response { url: request.url, status: 404, ..Response::default() },
        };
        (id, Ok(answer))
    }
}

/// A page that has been loaded, on a stack of the usual size.
fn on_a_page<T: Send + 'static>(
    html: &'static str,
    files: &'static [(&'static str, &'static str)],
    what: impl FnOnce(&mut Window) -> T + Send + 'static,
) -> T {
    let run = move || {
        let start = Start { now_ms: 1_700_000_000_000, ..Start::at(Url::parse("http://site.test/list/").unwrap()) };
        let setting = Setting {
            viewport: Viewport { width: 1280.0, height: 400.0 },
            referrer: "http://site.test/".to_owned(),
            cookies: vec!["seen=1".to_owned()],
            ..Setting::default()
        };
        let net = Site { files, waiting: VecDeque::new() };
        let mut window = Window::open_with(&start, &setting, Box::new(net)).unwrap();
        window.engine.evaluate("var log = [];", "test");
        window.load(html, Reach::default());
        let result = what(&mut window);
        let errors = window.engine.page().borrow().errors.clone();
        assert!(errors.is_empty(), "{errors:?}");
        result
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run).unwrap();
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The content of `log` written by a page's scripts when loading has ended.
#[track_caller]
fn assert_log(html: &'static str, files: &'static [(&'static str, &'static str)], wanted: &str) {
    let log = on_a_page(html, files, |window| text_of(window, "log.join(' ')"));
    assert_eq!(log.as_deref(), Some(wanted));
}

/// A page's links after loading, and after each act.
fn urls(window: &mut Window) -> Vec<String> {
    let own = |url: String| url.strip_prefix("http://site.test").map(str::to_owned).unwrap_or(url);
    window.links().into_iter().map(|link| own(link.url)).collect()
}

#[test]
fn scripts_run_in_the_order_of_the_standard() {
    assert_log(
        "<!doctype html><script>document.onreadystatechange = () => log.push(document.readyState);\
         addEventListener('DOMContentLoaded', () => log.push('DCL'), true); onload = () => log.push('load');\
         onpageshow = () => log.push('shown')</script>\
         <script type=module>log.push('inline-module', document.currentScript)</script>\
         <script async src=/async.js></script><script defer src=/defer.js></script>\
         <script type=module src=/module.js></script><script src=/blocking.js></script>\
         <script>log.push('inline');\
         for (const [name, async] of [['b', false], ['c', false], ['d', true]]) { const s = document.createElement('script');\
         s.async = async; s.src = `/dynamic-${name}.js`; document.head.append(s) }\
         const s = document.createElement('script'); s.text = 'log.push(\"at-once\")'; document.head.append(s);\
         log.push('after')</script>",
        &[
            ("/async.js", "log.push('async')"),
            ("/defer.js", "log.push('defer')"),
            ("/module.js", "import './inner.js'; log.push('module')"),
            ("/inner.js", "log.push('inner')"),
            ("/blocking.js", "log.push('blocking', document.currentScript.src.slice(-11))"),
            ("/dynamic-b.js", "log.push('b')"),
            ("/dynamic-c.js", "log.push('c')"),
            ("/dynamic-d.js", "log.push('d')"),
        ],
        "blocking blocking.js inline at-once after interactive inline-module  async defer b c d inner module DCL complete \
         load shown",
    );
}

#[test]
fn a_written_text_stands_where_its_script_stood() {
    let html = "<!doctype html><body><p id=a></p><script>document.write('<p id=b></p><script>document.write(\"<p id=c></p>\")\
                <\\/script><p id=d></p>'); log.push(document.querySelectorAll('p').length)</script><p id=e></p>\
                <script>document.write('<script src=/w.js><\\/script><p id=g></p>'); document.write('<p id=h></p>')</script>\
                <p id=i></p><script>log.push([...document.querySelectorAll('p')].map(p => p.id).join(''))</script>";
    assert_log(html, &[("/w.js", "document.write('<p id=f></p>')")], "4 abcdefghi");
}

#[test]
fn a_late_script_does_not_wipe_the_page_but_a_late_write_does() {
    assert_log(
        "<p id=a></p><script async src=/late.js></script><script>onload = () => { log.push(!!document.getElementById('a'));\
         setTimeout(() => { document.write('<a href=/new>new</a>'); document.close();\
         log.push(!!document.getElementById('a'), document.links.length) }) }</script>",
        &[("/late.js", "document.write('<p>late</p>')")],
        "true false 1",
    );
}

#[test]
fn errors_of_scripts_are_told_to_their_elements() {
    assert_log(
        "<script src=/none.js onerror=\"\"></script><script>const s = document.createElement('script'); s.src = '/none.js';\
         s.onerror = () => log.push('error'); s.addEventListener('load', () => log.push('never')); document.head.append(s);\
         const t = document.createElement('script'); t.src = '/some.js'; t.addEventListener('load', () => log.push('loaded'));\
         document.head.append(t); const m = document.createElement('script'); m.type = 'text/template'; m.text = 'no script';\
         document.head.append(m)</script>",
        &[("/some.js", "Promise.resolve().then(() => log.push('micro'))")],
        "error micro loaded",
    );
}

#[test]
fn what_is_not_fetched_is_said_to_have_loaded() {
    assert_log(
        "<script>const add = (name, set) => { const e = document.createElement(name); e.addEventListener('load', () => \
         log.push(name)); for (const key in set) e.setAttribute(key, set[key]); return e };\
         document.head.append(add('link', { rel: 'stylesheet', href: '/a.css' }), add('iframe', {}));\
         add('img', { src: '/a.png' }); addEventListener('load', () => log.push('window'))</script>",
        &[],
        "iframe link img window",
    );
}

#[test]
fn lists_that_scripts_fetch_become_links() {
    let html = "<ul id=list></ul><script>\
         const add = items => { for (const i of items) { const a = document.createElement('a'); a.href = '/t/' + i;\
         a.textContent = 'T' + i; list.append(a) } };\
         const list = document.getElementById('list');\
         fetch('/api.json?page=1').then(r => r.json()).then(add).then(() => { const x = new XMLHttpRequest();\
         x.open('GET', '/api.json?page=2'); x.onload = () => { add(JSON.parse(x.responseText)); window.took = add;\
         const s = document.createElement('script'); s.src = '/jsonp.js?page=3&callback=took'; document.body.append(s) };\
         x.send() })</script>";
    let files = &[("/api.json", "[\"{page}1\", \"{page}2\"]"), ("/jsonp.js", "{callback}(['{page}1', '{page}2'])")];
    let links = on_a_page(html, files, urls);
    assert_eq!(links, ["/t/11", "/t/12", "/t/21", "/t/22", "/t/31", "/t/32"]);
}

#[test]
fn modules_with_maps_and_dynamic_imports_build_their_links() {
    let html = "<script type=importmap>{ \"imports\": { \"list\": \"/lib/list.js\" } }</script><main></main>\
                <script type=module>import { link } from 'list'; document.querySelector('main').append(link('/a'));\
                const more = await import('/more.js'); more.default(link)</script>";
    let files = &[
        (
            "/lib/list.js",
            "export const link = href => { const a = document.createElement('a'); a.setAttribute('href', href); return a }",
        ),
        ("/more.js", "export default link => document.querySelector('main').append(link('/b'))"),
    ];
    assert_eq!(on_a_page(html, files, urls), ["/a", "/b"]);
}

#[test]
fn routes_in_the_hash_and_in_the_history_are_followed() {
    let html = "<main></main><script>const show = () => { document.querySelector('main').innerHTML =\
                `<a href=\"/at${location.pathname}${location.hash.slice(1)}\">x</a>` };\
                addEventListener('hashchange', e => log.push(e.oldURL.length < e.newURL.length));\
                addEventListener('popstate', e => { log.push(JSON.stringify(e.state)); show() });\
                show(); window.more = () => { history.pushState({ n: 1 }, '', '/list/2'); show() }</script>";
    on_a_page(html, &[], |window| {
        assert_eq!(urls(window), ["/at/list/"]);
        window.go_to("#page=2");
        window.engine.run(Reach::default());
        assert_eq!(urls(window), ["/at/list/page=2"]);
        window.engine.evaluate("more()", "test");
        assert_eq!(urls(window), ["/at/list/2"]);
        assert_eq!(text_of(window, "history.length + ' ' + history.state.n").as_deref(), Some("3 1"));
        window.back();
        window.engine.run(Reach::default());
        assert_eq!(urls(window), ["/at/list/page=2"]);
        assert_eq!(text_of(window, "log.join(' ')").as_deref(), Some("null true null true"));
    });
}

#[test]
fn addresses_that_scripts_go_to_are_links() {
    let html = "<meta http-equiv=refresh content='3; url=/meta'><script>location.href = '/a?b'; location.assign('c');\
                location.search = 'd=e'; window.open('/window'); document.location = '//other.test/f';\
                location.hash = 'here'; location = 'javascript:log.push(1)'</script>";
    on_a_page(html, &[], |window| {
        let taken: Vec<(String, How)> = window.navigations().into_iter().map(|one| (one.url, one.how)).collect();
        let wanted = [
            ("http://site.test/meta", How::Meta),
            ("http://site.test/a?b", How::Location),
            ("http://site.test/list/c", How::Location),
            ("http://site.test/list/?d=e", How::Location),
            ("http://site.test/window", How::Window),
            ("http://other.test/f", How::Location),
        ];
        assert_eq!(taken, wanted.map(|(url, how)| (url.to_owned(), how)));
        let address = text_of(window, "location.href + ' ' + document.URL + ' ' + log");
        assert_eq!(address.as_deref(), Some("http://site.test/list/#here http://site.test/list/#here 1"));
    });
}

/// A list that grows by a page of ten rows whenever its end is in view.
const GROWING: &str = "<table><tbody></tbody></table><div id=end></div><script>let page = 0, busy = false;\
     async function more() { if (busy || page === 5) return; busy = true; page++; const n = await (await \
     fetch('/api.json?page=' + page)).json(); for (let i = 0; i < 30; i++) { const tr = document.createElement('tr');\
     tr.innerHTML = `<td><a href=\"/t/${n}-${i}\">torrent ${n} ${i}</a></td><td>1 GB</td>`;\
     document.querySelector('tbody').append(tr) } busy = false }";

#[test]
fn a_list_grows_with_scrolling() {
    for watch in [
        "new IntersectionObserver(es => { if (es.some(e => e.isIntersecting)) more() }).observe(document.querySelector('#end'))",
        "more(); addEventListener('scroll', () => { if (scrollY + innerHeight >= document.documentElement.scrollHeight - 50) more() })",
        "more(); document.onscroll = () => { const box = document.querySelector('#end').getBoundingClientRect(); \
         if (box.top <= window.innerHeight) more() }",
    ] {
        let html: &'static str = Box::leak(format!("{GROWING}\n{watch}</script>").into_boxed_str());
        on_a_page(html, &[("/api.json", "{page}")], |window| {
            for pages in 1..=5 {
                assert_eq!(urls(window).len(), 30 * pages);
                window.scroll_to_bottom();
                assert_eq!(window.engine.run(Reach::default()), End::Idle);
            }
            assert_eq!(urls(window).len(), 150);
        });
    }
}

#[test]
fn a_click_runs_handlers_as_a_readers_does() {
    let html = "<button id=more><b>more</b></button><div id=out></div><script>\
                for (const kind of ['pointerdown', 'mousedown', 'mouseup', 'click']) document.querySelector('#more')\
                .addEventListener(kind, e => log.push(kind, e.isTrusted, e.target.localName, e.button));\
                document.querySelector('#more').addEventListener('click', () => Promise.resolve().then(() =>\
                document.querySelector('#out').innerHTML = '<a href=/x>x</a>'))</script>";
    on_a_page(html, &[], |window| {
        assert!(window.click("#more b"));
        assert!(!window.click("#less"));
        assert!(!window.click("]"));
        assert_eq!(urls(window), ["/x"]);
        let log = text_of(window, "log.join(' ')");
        let wanted = "pointerdown true b 0 mousedown true b 0 mouseup true b 0 click true b 0";
        assert_eq!(log.as_deref(), Some(wanted));
    });
}

/// Each line must be true in the loaded page.
#[track_caller]
fn assert_facts(facts: &'static [&'static str]) {
    let html = "<!doctype html><title>facts</title><body><p id=p style='color: red; margin: 1px 2px'>text</p><ul><li>a<li>b</ul>";
    on_a_page(html, &[], move |window| {
        let mut faults = Vec::new();
        for fact in facts {
            let told = text_of(window, &format!("String({fact})"));
            if told.as_deref() != Some("true") {
                faults.push(format!("{fact}\n    gave {told:?} {:?}", window.engine.page().borrow().errors));
            }
        }
        assert!(faults.is_empty(), "{} of {} facts fail\n{}", faults.len(), facts.len(), faults.join("\n"));
    });
}

#[test]
fn the_window_is_what_pages_take_it_for() {
    assert_facts(&[
        "window === self && top === window && parent === window && opener === null",
        "innerWidth === 1280 && innerHeight === 400 && devicePixelRatio === 1",
        "matchMedia('(min-width: 1000px)').matches && !matchMedia('print').matches",
        "navigator.userAgent.includes('Chrome') && navigator.language === 'en-US' && navigator.languages[1] === 'en'",
        "!navigator.webdriver && navigator.cookieEnabled && navigator.onLine && screen.width > 0",
        "alert('x') === undefined && confirm('x') === false && prompt('x') === null && print() === undefined",
        "typeof Notification === 'undefined'",
        "name === '' && (name = 'w', window.name === 'w')",
        "(() => { innerWidth = 5; return innerWidth === 5 })()",
        "location.origin === 'http://site.test' && String(location) === location.href && location.host === 'site.test'",
        "document.location === location && location.pathname === '/list/' && location.search === ''",
        "(() => { try { location.href = 'http://['; return false } catch (e) { return e.name === 'SyntaxError' } })()",
        "(() => { try { history.pushState(0, '', '//other.test/'); return false } catch (e) { return e.name === 'SecurityError' } })()",
        "(() => { history.replaceState({ a: [1] }, '', '?q'); return history.state.a[0] === 1 && location.search === '?q' })()",
    ]);
}

#[test]
fn the_document_tells_what_pages_ask_of_it() {
    assert_facts(&[
        "document.readyState === 'complete' && document.currentScript === null",
        "document.referrer === 'http://site.test/' && document.domain === 'site.test'",
        "document.visibilityState === 'visible' && !document.hidden && document.hasFocus()",
        "document.activeElement === document.body && document.defaultView === window",
        "document.scrollingElement === document.documentElement && document.designMode === 'off'",
        "document.execCommand('copy') === false && document.fonts.status === 'loaded'",
        "/^11\\/14\\/2023 22:13:2/.test(document.lastModified)",
        "document.cookie === 'seen=1' && (document.cookie = 'a=b; path=/; max-age=60', document.cookie === 'seen=1; a=b')",
        "(document.cookie = 'seen=; expires=Thu, 01 Jan 1970 00:00:00 GMT', document.cookie === 'a=b')",
        "(document.cookie = 'h=1; HttpOnly', document.cookie === 'a=b')",
    ]);
}

#[test]
fn styles_are_read_and_written() {
    assert_facts(&[
        "p.style.color === 'red' && p.style.marginLeft === '2px' && p.style.length === 2 && p.style[1] === 'margin'",
        "(p.style.backgroundColor = 'blue', p.getAttribute('style') === 'color: red; margin: 1px 2px; background-color: blue;')",
        "p.style.getPropertyValue('background-color') === 'blue' && 'transform' in p.style && !('nonsense' in p.style)",
        "(p.style.setProperty('--x', '1', 'important'), p.style.getPropertyPriority('--x') === 'important')",
        "p.style.removeProperty('--x') === '1' && p.style.getPropertyValue('--x') === ''",
        "(p.style.color = '', p.style.color === '') && (p.style.cssText = 'top:0', p.style.cssText === 'top: 0;')",
        "(p.style = 'left: 1px', p.style.left === '1px') && p.style === p.style && p.style instanceof CSSStyleDeclaration",
        "(p.style.display = 'none', getComputedStyle(p).display === 'none') && (p.style.display = '', getComputedStyle(p).display === 'block')",
        "getComputedStyle(document.querySelector('li')).display === 'list-item' && getComputedStyle(p).visibility === 'visible'",
        "(() => { const f = document.createElement('iframe'); document.body.append(f); /(a)/.test('a'); f.contentWindow.eval(\"/(b)/.test('b')\");\
          const inner = f.contentWindow.RegExp.$1; f.remove(); return RegExp.$1 === 'a' && inner === 'b' })()",
        "CSS.supports('display', 'grid') && CSS.supports('(--a: b)') && CSS.supports('--a', 0) && !CSS.supports('color', ' ') && !CSS.supports('x', 'y') && CSS.escape('a:b') === 'a\\\\:b'",
        "(() => { const s = document.createElement('style'); s.textContent = 'a { color: red } b { top: 0 }'; document.head.append(s);\
          return s.sheet.cssRules.length === 2 && s.sheet.insertRule('c{d:e}', 1) === 1 && s.sheet.cssRules[1].selectorText === 'c' \
          && document.styleSheets.length === 1 && s.sheet.cssRules[0].style.color === 'red' })()",
        "(() => { const s = new CSSStyleSheet(); s.replaceSync('a{}'); document.adoptedStyleSheets = [s]; \
          return document.adoptedStyleSheets[0] === s && s.cssRules.length === 1 })()",
    ]);
}

#[test]
fn sizes_are_those_of_the_blocks_around() {
    assert_facts(&[
        "(document.body.innerHTML = '<div style=\"height: 300px\"><b id=h style=\"display: block; height: 50%\"><b id=i style=\"display: block; height: 100%\">x</b></b></div>',
          h.offsetHeight === 150 && i.offsetHeight === 150)",
        "(h.style.height = 'calc(100% - 2 * (10px + 1em))', h.offsetHeight === 248 && i.offsetHeight === 248)",
        // A column: what its only growing child gets, and what a box that cuts its content off shrinks to.
        "(document.body.innerHTML = '<style>.s { overflow: auto } .c { display: flex; flex-flow: column }</style><div class=c style=\"height: 350px\">\
          <p style=\"flex: none; height: 50px\"></p><i style=\"display: block; height: 9px; position: absolute\"></i><div class=s id=s><div id=r style=\"height: 3000px\"></div></div></div>',
          s.clientHeight === 300 && s.scrollHeight === 3000 && r.clientHeight === 3000)",
        "(s.className = '', s.clientHeight === 3000)",
        "(s.style.flex = 1, s.clientHeight === 3000)",
        "(s.style.minHeight = 0, s.clientHeight === 300)",
        "(s.style.maxHeight = '80px', s.clientHeight === 80)",
        "(s.style.cssText = 'height: 50vh', s.clientHeight === 200)",
        "(s.style.cssText = 'height: 50%', s.parentNode.removeAttribute('style'), s.clientHeight === 3000)",
        // A row: what shrinks beside what does not.
        "(document.body.innerHTML = '<div style=\"width: 100px\"><div id=l style=\"display: flex\"><i style=\"flex: none; width: 90px\"></i><b id=e style=\"width: 1px\"></b></div></div>',
          l.offsetWidth === 100 && e.offsetWidth === 1)",
        "(l.prepend(l.firstElementChild.cloneNode()), e.offsetWidth === 0)",
        "(e.style.flexShrink = 0, e.offsetWidth === 1)",
        "(e.style.width = 'calc(max(4px, 2px) + 50%)', e.offsetWidth === 54)",
        // What grows is as high as its content at least. What has padding, or something high inside, has so much to scroll.
        "(document.body.innerHTML = '<div style=\"height: 300px; display: flex; flex-direction: column; overflow: auto\" id=x><div style=\"flex-grow: 1\" id=y><p style=\"height: 400px\"></p></div></div>', y.offsetHeight === 400)",
        "(y.style.overflow = 'hidden', y.offsetHeight === 300)",
        "(x.innerHTML = '<div style=\"height: 50%\"><div id=z style=\"padding-top: 100px; padding-bottom: 700px\">text</div></div>', z.offsetHeight === 820 && x.scrollHeight === 820)",
        "(x.innerHTML = '<div style=\"height: 50px\"><div style=\"height: 60px\"><p style=\"height: 900px\"></p></div></div>', x.scrollHeight === 900)",
        // What a block does not hold overflows it, unless it is cut off.
        "(document.body.innerHTML = '<div id=o style=\"height: 90px\"><div id=v style=\"height: 100%\"><p style=\"height: 500px\"></p></div></div>', o.scrollHeight === 500)",
        "(v.style.overflow = 'hidden', o.scrollHeight === 90)",
        "getComputedStyle(v).rowGap === 'normal' && getComputedStyle(v).getPropertyValue('--some-color') === ''",
        // No item of a line: what lies over it, and what begins a line of its own.
        "(document.body.innerHTML = '<div id=k style=\"display: flex; flex-direction: column; height: 400px\"><p style=\"height: 380px\"></p><i id=q style=\"position: absolute; height: 100%\"></i></div>', q.offsetHeight === 400)",
        "(document.body.innerHTML = '<div id=k style=\"display: flex; flex-flow: row wrap; width: 600px\"><i style=\"width: 50%\"></i><i style=\"width: 50%\"></i><b id=q style=\"width: 100%\"></b></div>', q.offsetWidth === 600)",
        // What a rule says of the least height, and what is not displayed.
        "(document.body.innerHTML = '<style>.m { min-height: 400px }</style><div id=m class=m style=\"overflow: auto\"></div>', m.offsetHeight === 400)",
        "(document.body.innerHTML = '<div id=t style=\"height: 100px; overflow: auto\"><div style=\"display: none; height: 5000px\"></div></div><style>#t { color: red; display: block }</style>', t.scrollHeight === 100)",
        "(t.style.height = 'calc(100px - 900px)', t.offsetHeight === 0)",
    ]);
}

#[test]
fn lists_that_hold_rows_back_are_told() {
    // A share of a block that is as high as its content is automatic: its zero is right.
    let shares = "<div id=a><div id=b style='height: 100%; overflow: auto'></div></div><a href=/1>1</a><script>b.onscroll = () => {}; log.push(b.offsetHeight)</script>";
    assert_eq!(on_a_page(shares, &[], |window| window.unshown(true).words()), [""; 0]);
    let list = "<div id=a role=grid aria-rowcount=60 style='height: 100px; overflow: auto'><div style='height: 2000px'><p aria-rowindex=1><a href=/1>1</a></div></div>\
        <div id=b style='display: grid'><div id=c style='height: 100%'></div></div>\
        <script>a.onscroll = b.onscroll = () => {}; log.push(c.offsetHeight, a.offsetHeight)</script>";
    let words = on_a_page(list, &[], |window| window.unshown(true).words());
    let [flat, below] = words.as_slice() else { panic!("{words:?}") };
    assert!(flat.contains("measured 1 box without a height"), "{flat}");
    assert!(below.contains("goes on below in 1 box"), "{below}");
    // What is scrolled to its end, and what is measured only once it has a height or holds a link, holds nothing back.
    let words = on_a_page(list, &[], |window| {
        text_of(window, "String((a.scrollTop = 1900, c.innerHTML = '<a href=/2></a>'))");
        window.unshown(true).words()
    });
    assert_eq!(words, [""; 0]);
}

#[test]
fn an_observer_whose_callback_resizes_its_target_ends() {
    let page = "<div id=a style='height: 1px'></div><script>let n = 0; new ResizeObserver(() => { n++; a.style.height = 9 + n + 'px' }).observe(a)</script>";
    let counted = on_a_page(page, &[], |window| text_of(window, "String(n)"));
    assert_eq!(counted.as_deref(), Some("51"), "the first size, and fifty changes");
}

#[test]
fn places_grow_with_what_stands_in_them() {
    assert_facts(&[
        "p.getBoundingClientRect().height === 20 && p.offsetWidth === 1280 && p.offsetParent === document.body",
        "document.querySelectorAll('li')[1].offsetTop === document.querySelectorAll('li')[0].offsetTop + 20",
        "document.documentElement.clientHeight === 400 && document.documentElement.scrollHeight === 400",
        "(p.hidden = true, p.setAttribute('hidden', ''), p.getClientRects().length === 0 && p.offsetHeight === 0)",
        "(p.removeAttribute('hidden'), p.style.height = '3000px', document.documentElement.scrollHeight === 3040)",
        "(scrollTo(0, 1e9), scrollY === 2640 && document.documentElement.scrollTop === 2640)",
        "(scrollBy({ top: -40 }), pageYOffset === 2600) && p.getBoundingClientRect().top === -2600",
        "(document.documentElement.scrollTop = 10, scrollY === 10) && (p.scrollTop = 7, p.scrollTop === 7)",
        "new DOMRect(1, 2, 3, 4).bottom === 6 && document.elementFromPoint(5, 5) === p",
    ]);
}

#[test]
fn storages_are_tables_of_texts() {
    assert_facts(&[
        "(localStorage.setItem('a', 1), localStorage.a === '1' && localStorage.getItem('a') === '1' && localStorage.length === 1)",
        "(localStorage.b = 2, localStorage['c'] = {}, localStorage.key(1) === 'b' && localStorage.c === '[object Object]')",
        "Object.keys(localStorage).join() === 'a,b,c' && localStorage.getItem('x') === null && localStorage.x === undefined",
        "(delete localStorage.b, localStorage.removeItem('c'), JSON.stringify(localStorage) === '{\"a\":\"1\"}')",
        "(localStorage.clear(), localStorage.length === 0) && sessionStorage !== localStorage && sessionStorage instanceof Storage",
        "(() => { try { localStorage.setItem('x', 'y'.repeat(6e6)); return false } catch (e) { return e.name === 'QuotaExceededError' } })()",
    ]);
}

#[test]
fn messages_arrive_as_tasks() {
    assert_log(
        "<script>onmessage = e => log.push('window', e.data.a, e.source === window, e.origin);\
         postMessage({ a: 1 }, '*'); postMessage('no', 'http://other.test'); const c = new MessageChannel();\
         c.port1.onmessage = e => log.push('port', e.data); c.port2.postMessage('p'); log.push('first');\
         const [a, b] = [new BroadcastChannel('x'), new BroadcastChannel('x')]; b.onmessage = e => log.push('cast', e.data);\
         a.postMessage(3)</script>",
        &[],
        "first window 1 true http://site.test port p cast 3",
    );
}

#[test]
fn connections_fail_as_at_a_closed_port() {
    assert_log(
        "<script>const s = new WebSocket('/live'); log.push(s.url, s.readyState); s.onerror = () => log.push('error', s.readyState);\
         s.onclose = e => log.push('close', e.code); new EventSource('/e').onerror = e => log.push('source', e.target.readyState);\
         new Worker('/w.js').onerror = () => log.push('worker'); new PerformanceObserver(() => {}).observe({})</script>",
        &[],
        "ws://site.test/live 0 error 3 close 1006 source 2 worker",
    );
}

#[test]
fn sizes_are_reported_again_when_they_change() {
    assert_log(
        "<div id=a>x</div><script>const a = document.getElementById('a');\
         new ResizeObserver(es => log.push(es[0].contentRect.height)).observe(a);\
         setTimeout(() => { a.style.height = '50px' }, 100); setTimeout(() => { a.title = 'same' }, 200)</script>",
        &[],
        "20 50",
    );
}

#[test]
fn observers_tell_once_of_what_they_see() {
    assert_log(
        "<div id=a>x</div><div id=b hidden></div><script>const io = new IntersectionObserver((es, o) => \
         log.push(...es.map(e => e.target.id + e.isIntersecting), o === io));\
         io.observe(document.getElementById('a')); io.observe(document.getElementById('b'));\
         new ResizeObserver(es => log.push(es[0].contentRect.height, es[0].contentBoxSize[0].inlineSize))\
         .observe(document.getElementById('a')); setTimeout(() => { document.getElementById('a').append('y') }, 100)</script>",
        &[],
        "atrue bfalse true 20 1280",
    );
}

#[test]
fn answers_are_streams_and_documents_to_who_wants_them() {
    assert_log(
        "<script type=module>const answer = await fetch('/a.json'); const reader = answer.body.getReader();\
         const { value, done } = await reader.read(); log.push(new TextDecoder().decode(value), done, answer.bodyUsed);\
         log.push((await reader.read()).done);\
         const own = new ReadableStream({ n: 0, pull(c) { this.n < 2 ? c.enqueue(this.n++) : c.close() } });\
         for await (const chunk of own) log.push(chunk);\
         const x = new XMLHttpRequest(); x.open('GET', '/a.html'); x.responseType = 'document';\
         x.onload = () => log.push(x.response.querySelector('a').getAttribute('href'), x.responseXML === x.response,\
         document.links.length); x.send()</script>",
        &[("/a.json", "[1]"), ("/a.html", "<a href=/b>b</a><script>log.push('never')</script>")],
        "[1] false true true 0 1 /b true 0",
    );
}

#[test]
fn animations_end_and_marks_are_kept() {
    assert_log(
        "<p id=p></p><script>const a = document.getElementById('p').animate([], { duration: 300 }); log.push(a.playState);\
         a.onfinish = () => log.push('finished', a.playState); a.finished.then(one => log.push(one === a));\
         const b = document.getElementById('p').animate([], 100); b.onfinish = () => log.push('never'); b.cancel();\
         performance.mark('one'); const m = performance.measure('two', 'one'); log.push(m.entryType, m.duration >= 0,\
         performance.getEntriesByName('one').length, performance.getEntriesByType('navigation')[0].type)</script>",
        &[],
        "running measure true 1 navigate finished finished true",
    );
}

#[test]
fn an_image_that_the_page_doubts_is_asked_for() {
    let html = "<img src=/gone.png onerror=\"this.outerHTML = '<a href=/mirror>mirror</a>'\"><img src=/there.png \
                onerror=\"this.outerHTML = '<a href=/never>no</a>'\">";
    assert_eq!(on_a_page(html, &[("/there.png", "")], urls), ["/mirror"]);
}
