//! Frames and names: what a page's scripts see of the documents within their document, and what is fetched for it.

use std::cell::RefCell;
use std::rc::Rc;

use gleaner::render::engine::Start;
use gleaner::render::engine::jobs::Reach;
use gleaner::render::engine::net::{Answer, Net, Request, RequestId, Response};
use gleaner::render::web::load::{Window, text_of};
use url::Url;

/// A network of a few pages that remembers what was asked.
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

/// Loads a page of `http://a.test/` and gives what an expression says, and what was asked of the network.
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

#[test]
fn a_frame_of_the_pages_origin_is_read_and_its_scripts_do_not_run() {
    let body = b"<title>in</title><base href='/sub/'><a href='x'>x</a><script>parent.ran = true</script>";
    let (told, asked) = load(
        "<iframe name=f src=frame.html></iframe>",
        &[("http://a.test/frame.html", "text/html", body)],
        "let d = frames.f.document; [d.title, d.links[0].href, d.URL, typeof ran, d === document.querySelector('iframe').contentDocument, \
         frames[0] === f, window.length, f.parent === window, f.frameElement.name] + ''",
    );
    assert_eq!(told, "in,http://a.test/sub/x,http://a.test/frame.html,undefined,true,true,1,true,f");
    assert_eq!(asked, ["http://a.test/frame.html"]);
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
