//! Why nothing was learned: what a person can do about it.

use std::fmt;

use crate::guard::Refused;
use crate::learner::{Ask, Learner};
use crate::reading::Kind;
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_rules::gives_torrent;

/// Why a run ended without rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// The start page was not answered as a page.
    NoStart(String),
    /// robots.txt closes the start page, or nearly all links.
    ClosedByRobots,
    /// It closes what look like downloads: how many, and one of them.
    DownloadsClosed(usize, String),
    DownloadsWantLogin,
    WantsLogin,
    /// Scripts build the pages.
    Scripts,
    MagnetsOnly,
    /// Links to torrents lead to another host.
    Elsewhere(String, usize),
    /// The links to torrents give something else.
    NoTorrent,
}

impl Nothing {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoStart(_) => "open the URL in a browser, and check it",
            Self::ClosedByRobots | Self::DownloadsClosed(..) => "ask the site's owner; with their leave, learn again",
            Self::DownloadsWantLogin | Self::WantsLogin => "learn again with an account",
            Self::Scripts => {
                "if a guest sees no torrents there, learn again with an account; else begin with `rules new --offline`, and a family of this software"
            }
            Self::MagnetsOnly => {
                "gleaner archives torrent files; where there are none it can only list the magnets that it sees"
            }
            Self::Elsewhere(..) => "learn that host's own rules, or add it to `hosts`",
            Self::NoTorrent => "give a URL nearer to the torrents, such as a list, or learn again with more requests",
        }
    }

    /// What `rules learn` needs besides to go further; None where it would end in the same way.
    #[must_use]
    pub fn options(&self) -> Option<&'static str> {
        match self {
            Self::ClosedByRobots | Self::DownloadsClosed(..) => Some("--robots-reason 'with leave of the owner'"),
            Self::DownloadsWantLogin | Self::WantsLogin | Self::Scripts => Some("--account USER"),
            Self::NoTorrent => Some("--requests 500"),
            Self::NoStart(_) | Self::MagnetsOnly | Self::Elsewhere(..) => None,
        }
    }
}

impl fmt::Display for Nothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart(why) => write!(f, "the start page was not answered: {why}"),
            Self::ClosedByRobots => f.write_str("robots.txt closes the site"),
            Self::DownloadsClosed(count, example) => {
                write!(f, "robots.txt closes what look like downloads: {count} links such as {example}")
            }
            Self::DownloadsWantLogin => f.write_str("downloads ask for a login"),
            Self::WantsLogin => f.write_str("the site asks for a login"),
            Self::Scripts => f.write_str("scripts build the pages, and show no torrent"),
            Self::MagnetsOnly => f.write_str("the site has magnets, and no torrent files were found"),
            Self::Elsewhere(host, count) => write!(f, "{count} links to torrents lead to {host}"),
            Self::NoTorrent => f.write_str("no torrent was found"),
        }
    }
}

/// Links that robots.txt closes from which on it closes the site, and closed downloads that are worth a word.
const CLOSED_SHARE: f64 = 0.9;
const CLOSED_DOWNLOADS_MIN: usize = 3;

/// Pages of a site that shows nothing without a login.
const FEW_PAGES: usize = 8;

/// Why there is nothing to begin with: a page that is not there, whatever it links to.
pub(crate) fn no_start<A: Ask>(run: &Learner<'_, A>, start: &CrawlUrl) -> Option<Nothing> {
    let map = &run.map;
    let (_, page) = map.pages().find(|(id, _)| map.path(*id) == start.path())?;
    match page.kind {
        Kind::Failed(status @ (404 | 410)) => Some(Nothing::NoStart(format!("status {status}"))),
        _ => None,
    }
}

/// Why a run found neither torrents nor enough magnets.
pub(crate) fn why<A: Ask>(run: &Learner<'_, A>) -> Nothing {
    let map = &run.map;
    let Some((_, start)) = map.pages().min_by_key(|(_, page)| page.order) else { return Nothing::ClosedByRobots };
    match start.kind {
        Kind::Failed(0) => return Nothing::NoStart(run.failure.clone().unwrap_or_default()),
        Kind::Failed(status) if map.pages_read() < FEW_PAGES => return Nothing::NoStart(format!("status {status}")),
        _ => {}
    }
    let links = map.urls().count().saturating_sub(1);
    let closed: Vec<&str> =
        map.urls().filter(|(_, url)| url.refused == Some(Refused::Robots)).map(|(_, url)| &*url.path).collect();
    if links > 0 && closed.len() as f64 >= CLOSED_SHARE * links as f64 {
        return Nothing::ClosedByRobots;
    }
    let downloads: Vec<&&str> = closed.iter().filter(|path| gives_torrent(path)).collect();
    if let [first, ..] = downloads[..]
        && downloads.len() >= CLOSED_DOWNLOADS_MIN
    {
        return Nothing::DownloadsClosed(downloads.len(), without_keys(first).into_owned());
    }
    if map.pages().any(|(id, page)| page.is_page() && page.has_login && gives_torrent(map.path(id))) {
        return Nothing::DownloadsWantLogin;
    }
    let has_login = map.pages().any(|(_, page)| page.has_login);
    if map.pages().any(|(_, page)| page.is_page() && page.is_built && page.out.len() < FEW_PAGES)
        && map.pages_read() <= FEW_PAGES
    {
        return Nothing::Scripts;
    }
    if has_login && map.pages_read() < FEW_PAGES {
        return Nothing::WantsLogin;
    }
    if let Some((host, count)) = map.elsewhere.iter().max_by_key(|(_, count)| **count)
        && *count >= CLOSED_DOWNLOADS_MIN
    {
        return Nothing::Elsewhere(host.clone(), *count);
    }
    if map.pages().any(|(_, page)| !page.magnets.is_empty()) {
        return Nothing::MagnetsOnly;
    }
    if has_login { Nothing::WantsLogin } else { Nothing::NoTorrent }
}
