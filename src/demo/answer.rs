//! Requests as parsed by the site, and responses before they become HTTP. No I/O.

use percent_encoding::percent_decode_str;

use super::catalogue::{Item, Listing};
use super::escape::{http_date, percent};
use super::links;
use super::log::Kind;
use super::torrents::Wrapping;
use super::truth::Fate;
use crate::limits::DEMO_PARAMETERS_MAX;

/// The relevant parts of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ask<'a> {
    pub path: &'a str,
    pub query: &'a str,
    /// The host that the client addresses.
    pub host: Option<&'a str>,
    /// The session's cookie was sent.
    pub has_cookie: bool,
    pub if_none_match: Option<&'a str>,
    pub if_modified_since: Option<&'a str>,
}

/// A parsed query; values are bytes because those of the GBK section are not UTF-8.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pairs: Vec<(String, Vec<u8>)>,
    /// `sid`, which is not a parameter of the page.
    pub sid: Option<String>,
}

impl Parameters {
    pub(super) fn read(query: &str) -> Self {
        let mut parameters = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()).take(DEMO_PARAMETERS_MAX) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sid" => parameters.sid = Some(value.to_owned()),
                _ => parameters.pairs.push((name.to_owned(), percent_decode_str(value).collect())),
            }
        }
        parameters
    }

    pub(super) fn get(&self, name: &str) -> Option<&[u8]> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.get(name)?).ok()
    }

    /// `page`, 1 if it is missing; None if it is no number.
    pub(super) fn page(&self) -> Option<usize> {
        self.get("page").map_or(Some(1), |_| self.text("page")?.parse().ok())
    }

    /// Names that are not among `known`.
    pub(super) fn others<'a>(&'a self, known: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().map(|(name, _)| name.as_str()).filter(move |name| !known.contains(name))
    }
}

/// The response.
#[derive(Debug)]
pub(super) struct Answer {
    pub kind: Kind,
    pub status: u16,
    /// None sends no `Content-Type` at all.
    pub content_type: Option<&'static str>,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(super) fn page(kind: Kind, body: impl Into<Vec<u8>>) -> Self {
        let content_type = Some("text/html; charset=utf-8");
        Self { kind, status: 200, content_type, headers: Vec::new(), body: body.into() }
    }

    pub(super) fn not_found(kind: Kind) -> Self {
        Self {
            status: 404,
            ..Self::page(kind, "<html><head><title>404</title></head><body><h1>Not found</h1></body></html>\n")
        }
    }

    pub(super) fn redirect(kind: Kind, status: u16, location: String) -> Self {
        let mut answer = Self { status, ..Self::page(kind, "<html><body>Moved.</body></html>\n") };
        answer.headers.push(("location", location));
        answer
    }

    pub(super) fn with_content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = Some(content_type);
        self
    }
}

/// The response of a download link: the torrent, or its replacement.
pub(super) fn download(ask: &Ask<'_>, kind: Kind, origin: &str, listing: &Listing, item: &Item) -> Answer {
    match item.fate {
        Fate::Reachable | Fate::ClosedByRobots => torrent(ask, kind, origin, listing, item),
        Fate::PosesAsHtml => {
            let body = if listing.id.is_multiple_of(2) { LOGIN_PAGE } else { NOTICE_PAGE };
            Answer::page(kind, body).with_content_type("application/x-bittorrent")
        }
        Fate::Malformed => {
            let mut body = metainfo(origin, listing, item);
            body.truncate(body.len() / 2);
            body.extend_from_slice(b"\n<br />\n<b>Fatal error</b>:  Allowed memory size exhausted in <b>download.php</b> on line <b>91</b><br />\n");
            Answer::page(kind, body).with_content_type("application/x-bittorrent")
        }
        Fate::Gone => Answer::not_found(Kind::Gone),
        Fate::MagnetOnly => Answer::not_found(Kind::Unknown),
    }
}

fn torrent(ask: &Ask<'_>, kind: Kind, origin: &str, listing: &Listing, item: &Item) -> Answer {
    let delivery = item.delivery;
    let mut answer = Answer { content_type: delivery.content_type, ..Answer::page(kind, "") };
    if delivery.disposition {
        let name = percent(item.blueprint.name.as_bytes());
        let header = format!("attachment; filename=\"{}.torrent\"; filename*=UTF-8''{name}.torrent", listing.id);
        answer.headers.push(("content-disposition", header));
    }
    // The address is new at each view, the file is not.
    let (tag, date) = (format!("\"{}-{}\"", links::fingerprint(&item.infohashes), listing.id), http_date(listing.at));
    let is_known = match ask.if_none_match {
        Some(tags) => tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag),
        None => ask.if_modified_since == Some(date.as_str()),
    };
    answer.headers.extend([("etag", tag), ("last-modified", date)]);
    if is_known {
        answer.status = 304;
        answer.content_type = None;
        return answer;
    }
    answer.body.extend_from_slice(delivery.before);
    answer.body.extend(metainfo(origin, listing, item));
    if delivery.newline_after {
        answer.body.push(b'\n');
    }
    answer
}

fn metainfo(origin: &str, listing: &Listing, item: &Item) -> Vec<u8> {
    let first_key = item.delivery.first_key;
    item.blueprint.metainfo(&Wrapping { first_key, origin, listing: listing.id, created: listing.at })
}

/// What a tracker sends in place of a torrent when the session has expired.
const LOGIN_PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Login</title></head><body><h1>Please log in</h1>\n\
    <p>You must be logged in to download.</p><form action=\"/takelogin\" method=post><input name=username>\
    <input type=password name=password><input type=submit></form></body></html>\n";

/// The notice sent before the first download.
const NOTICE_PAGE: &str = "\n<HTML><HEAD><TITLE>Notice</TITLE></HEAD><BODY><H1>Read this first</H1>\n\
    <P>You have reached your download limit. <A HREF=\"/help\">Why?</A></P></BODY></HTML>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_bytes_and_the_session_is_no_parameter() {
        let parameters = Parameters::read("page=3&name=%B5%e7&sid=00ff&&flag");
        assert_eq!(parameters.page(), Some(3));
        assert_eq!(parameters.get("name"), Some(&b"\xb5\xe7"[..]));
        assert_eq!(parameters.sid.as_deref(), Some("00ff"));
        assert_eq!(parameters.others(&["page", "name"]).collect::<Vec<_>>(), ["flag"]);
    }

    #[test]
    fn a_page_that_is_no_number_is_no_page() {
        for query in ["page=", "page=x", "page=-1", "page=99999999999999999999", "page=%ff"] {
            assert_eq!(Parameters::read(query).page(), None, "{query}");
        }
        assert_eq!(Parameters::read("").page(), Some(1));
    }
}
