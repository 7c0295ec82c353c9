//! What a URL of a site is, and whether its scripts are run: the words that all of the rules share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a URL of a site is, which decides what is done with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Lists torrents, mostly in pages, newest first.
    Index,
    /// Lists threads of a forum.
    Board,
    /// Describes one torrent and carries its link.
    Detail,
    /// A thread of a forum.
    Thread,
    /// Answers with a torrent.
    Download,
    /// The login page: known, and never fetched as a link.
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

    /// As rule files, metrics and logs write it.
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

    /// A page of a list, which coverage counts by (ALGORITHMS §7).
    #[must_use]
    pub fn is_listing(self) -> bool {
        matches!(self, Self::Index | Self::Board)
    }

    /// What a list lists.
    #[must_use]
    pub fn is_target(self) -> bool {
        matches!(self, Self::Detail | Self::Thread | Self::Download)
    }

    /// Expected to answer with a page whose links are followed.
    #[must_use]
    pub fn is_page(self) -> bool {
        !matches!(self, Self::Download | Self::Login)
    }
}

/// What a reader does with a page whose scripts were run, beside looking at it (docs/design/render.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderActs {
    /// `all`, and `turns` at sites with an account.
    #[default]
    Auto,
    /// It opens rows, tabs and lists of choices, scrolls and turns pages.
    All,
    /// It scrolls and turns pages, by GETs.
    Turns,
    /// Nothing.
    None,
}

/// Whether the scripts of a class's pages are run (docs/design/render.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderWhen {
    /// Where the pages as they were sent show no links, and their scripts make some.
    #[default]
    Auto,
    /// Each page, after it was read without.
    Always,
    /// No page.
    Never,
}
