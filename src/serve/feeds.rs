//! Feeds: RSS 2.0 and Atom of everything, a site, a category, a search; newest first, with the torrent as enclosure.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Extension;
use axum::extract::{Path, Query as QueryOf, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use gleaner_base::clock::UnixMillis;
use gleaner_search::category::{CATEGORIES, OF_SITES, full_name};
use gleaner_search::{Order, Query};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::escape::escape;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::Outlet;
use crate::access::Caller;
use crate::limits::FEEDS_MAX;
use crate::links::{self, Links};
use crate::names::{rfc1123, xml_text};
use crate::problem::Problem;
use crate::rows::{Item, Page, RowsError};
use crate::tag;

/// How a feed is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rss,
    Atom,
}

impl Form {
    fn of(ending: &str) -> Result<Self, Problem> {
        match ending {
            "rss" => Ok(Self::Rss),
            "atom" => Ok(Self::Atom),
            _ => Err(Problem::new(StatusCode::NOT_FOUND, "no such feed", "feeds end in .rss or .atom")),
        }
    }

    /// `NAME.rss`, taken apart.
    fn of_name(name: &str) -> Result<(&str, Self), Problem> {
        let (name, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        Ok((name, Self::of(ending)?))
    }
}

/// Parameters of each feed.
#[derive(Debug, Default, Deserialize)]
pub struct Asked {
    #[serde(default)]
    q: String,
    limit: Option<String>,
}

type Parts = (State<Arc<Outlet>>, Extension<Caller>, QueryOf<Asked>, HeaderMap, Uri);

/// When each feed has changed, to the second: torrents of one second, and those that were found earlier and stored later, change it too.
#[derive(Default)]
pub struct Changed(Mutex<HashMap<[u8; 32], (String, UnixMillis)>>);

impl Changed {
    /// When the feed became what this tag stands for; later than what it was before.
    fn since(&self, feed: [u8; 32], tag: &str, now: UnixMillis) -> UnixMillis {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = feeds.get(&feed).cloned();
        match before {
            Some((known, at)) if known == tag => at,
            before => {
                if feeds.len() >= FEEDS_MAX {
                    feeds.clear();
                }
                let at = before.map_or(now, |(_, at)| UnixMillis(now.0.max(at.0 + 1_000)));
                feeds.insert(feed, (tag.to_owned(), at));
                at
            }
        }
    }
}

/// Everything, or what a query finds.
pub async fn of_query(Path(form): Path<String>, parts: Parts) -> Result<Response, Problem> {
    let asked = parts.2.q.trim();
    let title = if asked.is_empty() { "all torrents".to_owned() } else { format!("search: {asked}") };
    let query = Query::parse(asked);
    feed(parts, &title, query, Form::of(&form)?).await
}

pub async fn of_site(Path(name): Path<String>, parts: Parts) -> Result<Response, Problem> {
    let (site, form) = Form::of_name(&name)?;
    if !parts.0.sites().await?.contains(site) {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            format!("no site is called {site}"),
            "gleaner status lists the sites",
        ));
    }
    let mut query = Query::parse(&parts.2.q);
    query.filters.sites = vec![site.to_owned()];
    let title = format!("site {site}");
    feed(parts, &title, query, form).await
}

pub async fn of_category(Path(name): Path<String>, parts: Parts) -> Result<Response, Problem> {
    let (number, form) = Form::of_name(&name)?;
    let is_known = |number: &u32| *number >= OF_SITES || CATEGORIES.iter().any(|category| category.number == *number);
    let number = number.parse().ok().filter(is_known);
    let Some(number) = number else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "no such category", "/api/v1/categories lists them"));
    };
    let mut query = Query::parse(&parts.2.q);
    query.filters.categories = vec![number];
    feed(parts, &full_name(number).unwrap_or_else(|| format!("label {number}")), query, form).await
}

/// A saved search, narrowed by `q`.
pub async fn of_saved(Path(name): Path<String>, parts: Parts) -> Result<Response, Problem> {
    let (name, form) = Form::of_name(&name)?;
    let Some(saved) = parts.0.saved(name) else {
        let title = format!("no search is called {name}");
        return Err(Problem::not_found(title, "`[[search]]` of gleaner.toml names them, /api/v1/searches lists them"));
    };
    let mut query = Query::parse(&parts.2.q);
    query.within = Some(Box::new(saved));
    feed(parts, &format!("search {name}"), query, form).await
}

async fn feed(parts: Parts, title: &str, query: Query, form: Form) -> Result<Response, Problem> {
    let (State(outlet), Extension(caller), QueryOf(asked), headers, uri) = parts;
    if query.wants_magnets() {
        let hint = "ask /api/v1/search or Torznab for what is known by a magnet link alone";
        return Err(Problem::wrong("feeds have torrents, and no magnet links", hint));
    }
    let count = crate::api::count(asked.limit.as_deref())?;
    let page = outlet.find(&query, Order::Newest, 0, count).await.map_err(Problem::from)?;
    let about = about(&query);
    let newest = page.items.first().map_or(UnixMillis(0), |item| item.row.stored);
    let (kind, text) = match form {
        Form::Rss => ("application/rss+xml; charset=utf-8", rss(title, &about, &page, &caller.links)),
        Form::Atom => ("application/atom+xml; charset=utf-8", atom((title, &about), newest, &page, &caller.links)),
    };
    let tag = tag::of(text.as_bytes());
    // Links differ from token to token. A query may be long, and hold a key.
    let token = caller.links.token.as_ref().map_or("", |token| token.name.as_str());
    let name = Sha256::digest(format!("{token} {uri}").as_bytes()).into();
    let modified = http_date(outlet.feeds.since(name, &tag, outlet.clock.now()));
    let known = [(header::ETAG, tag.clone()), (header::LAST_MODIFIED, modified.clone())];
    let sent = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    let is_known = match (sent(header::IF_NONE_MATCH), sent(header::IF_MODIFIED_SINCE)) {
        (Some(tags), _) => tag::is_among(tags, &tag),
        (None, Some(since)) => since == modified,
        (None, None) => false,
    };
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, known).into_response());
    }
    Ok((known, [(header::CONTENT_TYPE, kind.to_owned())], text).into_response())
}

/// RFC 9110 §5.6.7.
fn http_date(at: UnixMillis) -> String {
    rfc1123(at).replace("+0000", "GMT")
}

impl From<RowsError> for Problem {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::NoIndex => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "the search index is being made", error.to_string())
            }
            error => Self::ours(&error),
        }
    }
}

/// What a feed has, and which part of its query is no filter.
fn about(query: &Query) -> String {
    let mut about = "torrents of the archive, the newest first".to_owned();
    for doubt in query.doubts.iter().chain(query.within.iter().flat_map(|within| &within.doubts)) {
        let _ = write!(about, "; `{doubt}` is no filter: it is looked for as words");
    }
    xml_text(&about)
}

fn rss(title: &str, about: &str, page: &Page, links: &Links) -> String {
    let (title, base) = (xml_text(title), escape(links.base.as_str()));
    let (title, about) = (escape(title.as_str()), escape(about));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n<title>gleaner: {title}</title>\n<link>{base}/</link>\n\
         <description>{about}</description>\n"
    );
    for item in &page.items {
        let facts = &item.row.facts;
        let Shown { infohash, name, download, summary } = Shown::of(item, links);
        let _ = write!(
            text,
            "<item>\n<title>{}</title>\n<guid isPermaLink=\"false\">{infohash}</guid>\n<link>{download}</link>\n<pubDate>{}</pubDate>\n\
             <description>{}</description>\n<enclosure url=\"{download}\" length=\"{}\" type=\"application/x-bittorrent\"/>\n</item>\n",
            name,
            rfc1123(item.row.stored),
            summary,
            facts.metainfo_bytes
        );
    }
    text + "</channel>\n</rss>\n"
}

fn atom((title, about): (&str, &str), newest: UnixMillis, page: &Page, links: &Links) -> String {
    let (id, base) = (utf8_percent_encode(title, NON_ALPHANUMERIC), escape(links.base.as_str()));
    let title = xml_text(title);
    let (title, about) = (escape(title.as_str()), escape(about));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>gleaner: {title}</title>\n\
         <subtitle>{about}</subtitle>\n<id>{base}/feeds/#{id}</id>\n<link href=\"{base}/\"/>\n<updated>{}</updated>\n<author><name>gleaner</name></author>\n",
        newest.rfc3339()
    );
    for item in &page.items {
        let facts = &item.row.facts;
        let Shown { infohash, name, download, summary } = Shown::of(item, links);
        let _ = write!(
            text,
            "<entry>\n<title>{}</title>\n<id>urn:{}:{infohash}</id>\n<updated>{}</updated>\n<summary>{}</summary>\n\
             <link rel=\"enclosure\" href=\"{download}\" length=\"{}\" type=\"application/x-bittorrent\"/>\n",
            name,
            if facts.infohashes.v1.is_some() { "btih" } else { "btmh" },
            item.row.stored.rfc3339(),
            summary,
            facts.metainfo_bytes
        );
        if let Some(page) = links::page(&item.row) {
            let page = xml_text(&page);
            let _ = writeln!(text, "<link href=\"{}\"/>", escape(page.as_str()));
        }
        text.push_str("</entry>\n");
    }
    text + "</feed>\n"
}

/// What both forms show of a torrent, escaped.
struct Shown {
    infohash: String,
    name: String,
    download: String,
    summary: String,
}

impl Shown {
    fn of(item: &Item, links: &Links) -> Self {
        let facts = &item.row.facts;
        let infohash = facts.infohashes.key_hex();
        let files = if facts.file_count == 1 { "1 file".to_owned() } else { format!("{} files", facts.file_count) };
        let category = full_name(item.category).unwrap_or_default();
        let summary = format!("{files}, {} bytes · {category} · {}", facts.payload_bytes, xml_text(&item.row.site));
        let escaped = |text: &str| escape(text).into_owned();
        Self {
            name: escaped(&xml_text(&facts.name)),
            download: escaped(&links.download(&infohash)),
            summary: escaped(&summary),
            infohash,
        }
    }
}
