//! The class of a URL of a site, and whether its scripts run: vocabulary shared by all rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class of a URL: it decides what happens with the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Lists torrents, usually paginated, newest first.
    Index,
    /// Lists threads of a forum.
    Board,
    /// Describes one torrent and links to it.
    Detail,
    /// A thread of a forum.
    Thread,
    /// Returns a torrent.
    Download,
    /// The login page: recognised, but never fetched as a link.
    Login,
    /// Any other page whose links are worth following.
    Page,
    /// A sitemap, plain or gzip.
    Sitemap,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 8] =
        [Self::Index, Self::Board, Self::Detail, Self::Thread, Self::Download, Self::Login, Self::Page, Self::Sitemap];

    /// The name used in rule files, metrics and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Board => "board",
            Self::Detail => "detail",
            Self::Thread => "thread",
            Self::Download => "download",
            Self::Login => "login",
            Self::Page => "page",
            Self::Sitemap => "sitemap",
        }
    }

    /// True for a page of a list, which coverage counts (ALGORITHMS §7).
    #[must_use]
    pub fn is_listing(self) -> bool {
        matches!(self, Self::Index | Self::Board)
    }

    /// The class of the items that a list lists.
    #[must_use]
    pub fn is_target(self) -> bool {
        matches!(self, Self::Detail | Self::Thread | Self::Download)
    }

    /// True if the response should be a page whose links are followed.
    #[must_use]
    pub fn is_page(self) -> bool {
        !matches!(self, Self::Download | Self::Login)
    }
}

/// What the reader does on a page after its scripts have run, besides reading it (docs/design/render.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderActs {
    /// `all`, but `turns` on sites with an account.
    #[default]
    Auto,
    /// Opens rows, tabs and select lists, scrolls and turns pages.
    All,
    /// Scrolls and turns pages, by GETs only.
    Turns,
    /// Nothing.
    None,
}

/// Whether the scripts of a class's pages run (docs/design/render.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderWhen {
    /// If the page as sent shows no links but its scripts may add some.
    #[default]
    Auto,
    /// Every page, after it was read without scripts.
    Always,
    /// No page.
    Never,
}
