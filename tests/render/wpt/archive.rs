//! A network that serves files only.

use gleaner_render::Net;
use gleaner_render::wire::{Answer, Request, RequestId, Response};

/// A file by its path and query: its body, `None` if it does not exist, and its type.
pub type Serve = fn(path: &str, query: &str) -> (Option<Vec<u8>>, &'static str);

/// A network of one origin, whose files come from a function.
pub struct Archive {
    origin: &'static str,
    serve: Serve,
    waiting: Vec<(RequestId, String)>,
}

impl Archive {
    /// `origin` ends with a slash.
    pub fn new(origin: &'static str, serve: Serve) -> Self {
        Self { origin, serve, waiting: Vec::new() }
    }
}

impl Net for Archive {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, asked) = self.waiting.remove(0);
        let address = match asked.split_once("/common/redirect.py?location=") {
            Some((_, to)) => format!("{}{}", self.origin, to.trim_start_matches('/')),
            None => asked.clone(),
        };
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let path = path.strip_prefix(self.origin).unwrap_or_default();
        let query = address.split_once('?').map_or("", |(_, query)| query);
        let (body, kind) = (self.serve)(path, query);
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        let redirected = address != asked;
        let answer = match body {
            Some(body) => {
                let status_text = "OK".to_owned();
                Response { url: address, status: 200, status_text, headers, body, redirected, ongoing: false }
            }
            None => Response { url: address, status: 404, ..Response::default() },
        };
        (id, Ok(answer))
    }
}
