//! A request of a page's scripts.

use serde::{Deserialize, Serialize};

use crate::limits;

/// Number that matches a response to its request, unique within a page.
pub type RequestId = u32;

/// What initiated a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    Fetch,
    Xhr,
    /// A classic script of the page.
    Script,
    Module,
    /// An image that a script replaces if it is missing; only the status of the response is used.
    Image,
    /// A linked style sheet, for a script that asks for computed styles.
    Style,
    /// A stream of server-sent events (HTML §9.2): what arrives within `limits::RENDER_EVENTS_TIME` is its response. Its status is 0 if not
    /// even a head has arrived by then.
    Events,
}

impl Asker {
    /// Whether a page can do without the response: it shows its content anyway.
    #[must_use]
    pub fn is_decoration(self) -> bool {
        matches!(self, Self::Image | Self::Style | Self::Events)
    }
}

/// A script's request: absolute, and complete except for what the crawl adds (cookies, user agent).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub asker: Asker,
    pub method: String,
    /// Absolute, without a fragment.
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// False if the page wants no cookies sent.
    pub credentials: bool,
    #[serde(skip)]
    pub body: Vec<u8>,
}

/// Checks a script's request against the limits, which apply whatever the site's rules allow. The child itself never sends one that
/// fails.
///
/// # Errors
/// The limit that it exceeds.
pub fn check_request(request: &Request, body_bytes: usize) -> Result<(), &'static str> {
    let header_bytes: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if request.url.len() > limits::URL_BYTES_MAX {
        Err("its address is too long")
    } else if request.headers.len() > limits::HEADERS_MAX || header_bytes > limits::RENDER_HEADERS_BYTES_MAX {
        Err("it has too many headers")
    } else if body_bytes > limits::RENDER_POSTED_BYTES_MAX {
        Err("its body is too long")
    } else if request.method.len() > limits::METHOD_BYTES_MAX {
        Err("its method is none")
    } else {
        Ok(())
    }
}
