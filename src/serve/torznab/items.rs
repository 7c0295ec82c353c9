//! Torrents as items of an RSS document with Torznab's attributes.

use std::fmt::Write as _;

use gleaner_base::url::without_keys;
use gleaner_search::category::parent;
use gleaner_search::filing::labels;
use gleaner_search::title::Title;
use gleaner_torrent::magnet;
use quick_xml::escape::escape;

use crate::links::{self, Links};
use crate::names::{rfc1123, xml_text};
use crate::rows::{Item, Magnet, Page};

/// The document of a page. `offset` is of its first item.
pub fn text(page: &Page, offset: usize, links: &Links) -> String {
    let base = escape(links.base.as_str());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:torznab=\"http://torznab.com/schemas/2015/feed\" \
         xmlns:newznab=\"http://www.newznab.com/DTD/2010/feeds/attributes/\">\n<channel>\n<title>gleaner</title>\n<link>{base}/</link>\n\
         <description>the archive of gleaner</description>\n<newznab:response offset=\"{offset}\" total=\"{}\"/>\n",
        page.total
    );
    for item in &page.items {
        write_item(&mut text, item, links);
    }
    page.magnets.iter().for_each(|magnet| write_magnet(&mut text, magnet));
    text + "</channel>\n</rss>\n"
}

fn write_item(text: &mut String, item: &Item, links: &Links) {
    let (row, facts) = (&item.row, &item.row.facts);
    let infohash = facts.infohashes.key_hex();
    let download = links.download(&infohash);
    let (title, download) = (xml_text(&facts.name), escape(download.as_str()));
    let _ = write!(
        text,
        "<item>\n<title>{}</title>\n<guid isPermaLink=\"false\">{infohash}</guid>\n",
        escape(title.as_str())
    );
    if let Some(page) = links::page(row) {
        let page = xml_text(&page);
        let _ = writeln!(text, "<comments>{}</comments>", escape(page.as_str()));
    }
    let _ = write!(
        text,
        "<pubDate>{}</pubDate>\n<size>{}</size>\n<files>{}</files>\n<link>{download}</link>\n",
        rfc1123(row.stored),
        facts.payload_bytes,
        facts.file_count
    );
    let mut categories = vec![parent(item.category), item.category];
    categories.dedup();
    categories.extend(labels(row));
    for number in &categories {
        let _ = writeln!(text, "<category>{number}</category>");
    }
    let length = facts.metainfo_bytes;
    let _ = writeln!(text, "<enclosure url=\"{download}\" length=\"{length}\" type=\"application/x-bittorrent\"/>");
    let mut attribute = |name: &str, value: &dyn std::fmt::Display| write_attribute(text, name, value);
    categories.iter().for_each(|number| attribute("category", number));
    attribute("size", &facts.payload_bytes);
    attribute("files", &facts.file_count);
    // 40 digits are v1; a torrent of v2 alone has none.
    if let Some(v1) = facts.infohashes.v1 {
        attribute("infohash", &data_encoding::HEXLOWER.encode(&v1));
    }
    // Without it, some clients take a torrent for free.
    attribute("downloadvolumefactor", &1);
    attribute("uploadvolumefactor", &1);
    write_title(text, item.category, &facts.name);
    text.push_str("</item>\n");
}

/// What is known by a magnet link alone: the link is all that there is to download.
fn write_magnet(text: &mut String, magnet: &Magnet) {
    let (row, facts) = (&magnet.row, &magnet.row.facts);
    let infohash = facts.infohashes.key_hex();
    let name = xml_text(facts.name.as_deref().unwrap_or(&infohash));
    let (link, page) = (xml_text(&facts.link), xml_text(&without_keys(&row.page)));
    let (link, bytes) = (escape(link.as_str()), magnet::parse(&facts.link).ok().and_then(|link| link.payload_bytes));
    let mut categories = vec![parent(magnet.category), magnet.category];
    categories.dedup();
    categories.extend(row.label.as_ref().map(|label| label.number));
    let _ = write!(
        text,
        "<item>\n<title>{}</title>\n<guid isPermaLink=\"false\">{infohash}</guid>\n<comments>{}</comments>\n<pubDate>{}</pubDate>\n\
         <link>{link}</link>\n",
        escape(name.as_str()),
        escape(page.as_str()),
        rfc1123(row.first_seen)
    );
    for number in &categories {
        let _ = writeln!(text, "<category>{number}</category>");
    }
    let length = bytes.unwrap_or_default();
    let _ = writeln!(text, "<size>{length}</size>");
    let kind = "application/x-bittorrent;x-scheme-handler/magnet";
    let _ = writeln!(text, "<enclosure url=\"{link}\" length=\"{length}\" type=\"{kind}\"/>");
    categories.iter().for_each(|number| write_attribute(text, "category", number));
    bytes.into_iter().for_each(|bytes| write_attribute(text, "size", &bytes));
    if let Some(v1) = facts.infohashes.v1 {
        write_attribute(text, "infohash", &data_encoding::HEXLOWER.encode(&v1));
    }
    write_attribute(text, "magneturl", &xml_text(&facts.link));
    write_attribute(text, "downloadvolumefactor", &1);
    write_attribute(text, "uploadvolumefactor", &1);
    write_title(text, magnet.category, facts.name.as_deref().unwrap_or_default());
    text.push_str("</item>\n");
}

fn write_attribute(text: &mut String, name: &str, value: &dyn std::fmt::Display) {
    let value = value.to_string();
    let _ = writeln!(text, "<torznab:attr name=\"{name}\" value=\"{}\"/>", escape(value.as_str()));
}

/// What the name says of films and episodes.
fn write_title(text: &mut String, category: u32, name: &str) {
    if matches!(parent(category), 2000 | 5000) {
        let title = Title::of(name);
        let (year, season, episode) = (title.year, title.season, title.episodes.map(|(first, _)| first));
        for (name, value) in [("year", year), ("season", season), ("episode", episode)] {
            if let Some(value) = value {
                write_attribute(text, name, &value);
            }
        }
    }
}
