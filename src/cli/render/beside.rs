//! A page in a local file: requests of its scripts are served only from the file's folder, unless network access is
//! enabled.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use url::Url;

use crate::limits;
use gleaner_crawl::look::Inspection;
use gleaner_net::fetch::charset;
use gleaner_render::children::Host;
use gleaner_render::wire::{Answer, Request, Response};

/// The assumed origin of a file without a URL: a name that no host can have (RFC 6761 §6.4).
const NOWHERE: &str = "https://file.invalid/";

/// The URL of a file of this name.
pub(super) fn base_of(name: &str) -> Result<Url, url::ParseError> {
    let mut url = Url::parse(NOWHERE)?;
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.clear().push(name);
    }
    Ok(url)
}

/// The folder of a page, as its scripts see it.
pub(super) struct Beside {
    folder: PathBuf,
    /// The URL prefix of the folder.
    base: Url,
    online: Option<Inspection>,
}

impl Beside {
    /// # Errors
    /// If the file's folder does not exist.
    pub fn new(file: &Path, base: &Url, online: Option<Inspection>) -> io::Result<Self> {
        // The links of a symlinked file are relative to its real location.
        let folder = file.canonicalize()?.parent().unwrap_or(Path::new("/")).to_path_buf();
        let mut base = base.clone();
        base.set_query(None);
        base.set_fragment(None);
        // `join` of a dot cuts the path after its last slash.
        let base = base.join(".").unwrap_or(base);
        Ok(Self { folder, base, online })
    }

    /// The file that a URL refers to; `None` if it is outside the folder, or not a file.
    fn file_of(&self, address: &str) -> Option<PathBuf> {
        let url = Url::parse(address).ok().filter(|url| url.origin() == self.base.origin())?;
        let below = url.path().strip_prefix(self.base.path())?;
        let mut path = self.folder.clone();
        for segment in below.split('/') {
            let name = percent_decode_str(segment).decode_utf8().ok()?;
            let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']);
            path.push(is_name.then_some(&*name)?);
        }
        // Symlinks may lead outside: check the real path.
        let path = path.canonicalize().ok()?;
        (path.starts_with(&self.folder) && path.is_file()).then_some(path)
    }

    fn local(&self, request: &Request) -> Option<Answer> {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return None;
        }
        let path = self.file_of(&request.url)?;
        Some(match read(&path, Some(&self.folder)) {
            Ok(body) => Ok(Response {
                url: request.url.clone(),
                status: 200,
                status_text: "OK".to_owned(),
                headers: vec![("content-type".to_owned(), kind_of(&path).to_owned())],
                body,
                ..Response::default()
            }),
            Err(error) => Err(format!("{}: {error}", path.display())),
        })
    }
}

impl Host for Beside {
    async fn answer(&self, request: Request) -> Answer {
        match (self.local(&request), &self.online) {
            (Some(answer), _) => answer,
            (None, Some(look)) => look.answer(request).await,
            (None, None) => Err("not found beside the file; only --online uses the network".to_owned()),
        }
    }

    fn cookie(&self, text: &str) {
        if let Some(look) = &self.online {
            look.cookie(text);
        }
    }
}

/// Reads a whole regular file, limited like a response of the network.
///
/// # Errors
/// If it is not a regular file, cannot be read, is too long, or is no longer inside `within`.
pub(super) fn read(path: &Path, within: Option<&Path>) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if within.is_some_and(|folder| !path.canonicalize().is_ok_and(|path| path.starts_with(folder))) {
        return Err(io::Error::other("not in the page's folder"));
    }
    let most = limits::RENDER_BODY_BYTES_MAX;
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("longer than {most} bytes")));
    }
    Ok(bytes)
}

/// Decodes a file as a page, in its declared or detected charset.
pub(super) fn decode(bytes: &[u8]) -> String {
    charset::detect(None, bytes, None).decode(bytes).0.into_owned()
}

/// The content type that a server would send for a file of this name.
fn kind_of(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match extension.as_str() {
        "js" | "mjs" | "cjs" => "text/javascript",
        "json" | "map" => "application/json",
        "html" | "htm" | "xhtml" => "text/html",
        "css" => "text/css",
        "xml" | "rss" | "atom" => "application/xml",
        "svg" => "image/svg+xml",
        "txt" | "csv" | "md" => "text/plain",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_files_of_the_folder_and_none_outside() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("page");
        std::fs::create_dir_all(folder.join("lib")).unwrap();
        for name in ["page/index.html", "page/lib/a b.js", "secret.js"] {
            std::fs::write(outer.path().join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(outer.path().join("secret.js"), folder.join("link.js")).unwrap();
        let base = Url::parse("https://example.org/list/index.html?q=1#f").unwrap();
        let beside = Beside::new(&folder.join("index.html"), &base, None).unwrap();
        let found =
            |address: &str| beside.file_of(address).map(|path| path.strip_prefix(&beside.folder).unwrap().to_owned());
        assert_eq!(found("https://example.org/list/lib/a%20b.js?v=2"), Some(PathBuf::from("lib/a b.js")));
        for outside in [
            "https://example.org/list/link.js",
            "https://example.org/list/../secret.js",
            "https://example.org/list/%2e%2e/secret.js",
            "https://example.org/list/..%2fsecret.js",
            "https://example.org/list/lib//a%20b.js",
            "https://example.org/list/lib",
            "https://example.org/index.html",
            "https://other.example/list/index.html",
            "file:///etc/hostname",
        ] {
            assert_eq!(found(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_file_without_an_address_is_at_no_host() {
        assert_eq!(base_of("a page.html").unwrap().as_str(), "https://file.invalid/a%20page.html");
    }
}
