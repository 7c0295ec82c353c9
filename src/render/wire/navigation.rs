//! Where a page wanted to go.

use serde::{Deserialize, Serialize};
use url::Url;

/// What made the page go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// A click on an `a` or `area`.
    Link,
    /// A form that was submitted.
    Form,
    /// `location` and its methods.
    Location,
    /// `<meta http-equiv=refresh>`.
    Meta,
    /// `window.open`, and links and forms that open a window of their own.
    Window,
}

impl How {
    /// The word for it, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Form => "form",
            Self::Location => "location",
            Self::Meta => "meta",
            Self::Window => "window",
        }
    }
}

/// An address that the page wanted to go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Navigation {
    pub url: String,
    pub method: String,
    /// Of a form that is sent by POST, with its type; empty otherwise.
    pub body: Vec<u8>,
    pub content_type: String,
    pub how: How,
}

impl Navigation {
    /// An address that is only looked up.
    pub fn get(url: Url, how: How) -> Self {
        Self { url: url.to_string(), method: "GET".to_owned(), body: Vec::new(), content_type: String::new(), how }
    }
}
