//! The archive of web platform tests that people share, and a network that is nothing else.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use gleaner_render::Net;
use gleaner_render::wire::{Answer, Request, RequestId, Response};

type Files = HashMap<String, Vec<u8>>;

/// What the archive holds, by paths without `tests/`.
pub fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/wpt.tar.zst");
        let file = File::open(&path).unwrap_or_else(|error| panic!("no shared data: {}: {error}", path.display()));
        let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
        let mut files = HashMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
            let Some(name) = name.strip_prefix("tests/").map(str::to_owned) else { continue };
            if entry.header().entry_type().is_file() {
                let mut body = Vec::new();
                entry.read_to_end(&mut body).unwrap();
                files.insert(name, body);
            }
        }
        files
    })
}

/// A file by its path and query: its body, `None` where there is none, and its type.
pub type Serve = fn(path: &str, query: &str) -> (Option<Vec<u8>>, &'static str);

/// A network of one origin, whose files a function gives.
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
                Response { url: address, status: 200, status_text: "OK".to_owned(), headers, body, redirected }
            }
            None => Response { url: address, status: 404, ..Response::default() },
        };
        (id, Ok(answer))
    }
}
