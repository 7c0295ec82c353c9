//! Reads a page with its scripts and prints the links that it shows and the requests that its scripts make.
//!
//! ```text
//! cargo run -p gleaner-render --example page -- FILE URL
//! ```
//!
//! FILE is the markup as received; URL is where it came from. No request is answered: nothing here touches the network.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gleaner_render::wire::{Answer, Reach, Request, RequestId};
use gleaner_render::{Net, Start, Window};

/// A network that records requests and answers none.
#[derive(Default)]
struct Refusing {
    asked: Rc<RefCell<Vec<Request>>>,
    waiting: VecDeque<RequestId>,
}

impl Net for Refusing {
    fn start(&mut self, id: RequestId, request: Request) {
        self.asked.borrow_mut().push(request);
        self.waiting.push_back(id);
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        (self.waiting.pop_front().unwrap_or_default(), Err("no network".to_owned()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, url] = arguments.as_slice() else { return Err("usage: page FILE URL".into()) };
    let markup = std::fs::read_to_string(file)?;
    let net = Refusing::default();
    let asked = Rc::clone(&net.asked);
    let mut window = Window::open(&Start::at(url.parse()?), Box::new(net))?;
    window.load(&markup, Reach::default());
    for link in window.links() {
        println!("link\t{}\t{}", link.url, link.text);
    }
    for navigation in window.navigations() {
        println!("{}\t{}", navigation.how.name(), navigation.url);
    }
    for request in asked.borrow().iter() {
        println!("request\t{}\t{}", request.method, request.url);
    }
    Ok(())
}
