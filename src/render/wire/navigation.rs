//! Where a page tried to navigate.

use serde::{Deserialize, Serialize};
use url::Url;

/// What caused the navigation.
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
    /// `window.open`, and links and forms that open a new window.
    Window,
}

impl How {
    /// Its name, as in JSON.
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

/// A URL that the page tried to navigate to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Navigation {
    pub url: String,
    pub method: String,
    /// The body of a form sent by POST, with its type; empty otherwise.
    pub body: Vec<u8>,
    pub content_type: String,
    pub how: How,
}

impl Navigation {
    /// A plain GET navigation.
    pub fn get(url: Url, how: How) -> Self {
        Self { url: url.to_string(), method: "GET".to_owned(), body: Vec::new(), content_type: String::new(), how }
    }
}
