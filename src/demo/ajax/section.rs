//! Names and contents of the sections.

/// One way of building a list by scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// One `XMLHttpRequest`, rows by the DOM; pages by `?page=`.
    Xhr,
    /// `$.ajax` and `$.getJSON`; pages by `?start=`.
    Jquery,
    /// Modules, a router over `history`, lazily loaded views; the download is on a page of each torrent.
    Spa,
    /// An `IntersectionObserver` and opaque cursors; a single page shows everything.
    Scroll,
    /// A token of the page is exchanged for a bearer token that expires soon; "load more".
    Token,
}

impl Section {
    pub const ALL: [Self; 5] = [Self::Xhr, Self::Jquery, Self::Spa, Self::Scroll, Self::Token];

    /// Its name, which is also its folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Xhr => "xhr",
            Self::Jquery => "jquery",
            Self::Spa => "spa",
            Self::Scroll => "scroll",
            Self::Token => "token",
        }
    }

    /// The section with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }
}

/// Content type of scripts.
pub(super) const SCRIPT: &str = "text/javascript; charset=utf-8";
/// Content type of pages.
pub(super) const PAGE: &str = "text/html; charset=utf-8";

/// The scripts of the sections, by path.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
    ("/xhr/list.js", include_str!("web/xhr.js")),
    ("/jquery/lib.js", include_str!("web/dollar.js")),
    ("/jquery/site.js", include_str!("web/jquery.js")),
    ("/spa/assets/index-8f3ab1.js", include_str!("web/spa-index.js")),
    ("/spa/assets/dom-51d0c2.js", include_str!("web/spa-dom.js")),
    ("/spa/assets/list-c07e9d.js", include_str!("web/spa-list.js")),
    ("/spa/assets/torrent-2ba644.js", include_str!("web/spa-torrent.js")),
    ("/scroll/feed.js", include_str!("web/scroll.js")),
    ("/token/client.js", include_str!("web/token.js")),
];

/// The jQuery section's library, which tests replace.
pub(super) const LIBRARY: &str = "/jquery/lib.js";

impl Section {
    /// The response without scripts at every page address of the section.
    pub(super) fn shell(self) -> &'static str {
        match self {
            Self::Xhr => include_str!("web/xhr.html"),
            Self::Jquery => include_str!("web/jquery.html"),
            Self::Spa => include_str!("web/spa.html"),
            Self::Scroll => include_str!("web/scroll.html"),
            Self::Token => include_str!("web/token.html"),
        }
    }
}
