//! Torrents as items of an RSS document with Torznab's attributes.

use std::fmt::Write as _;

use gleaner_search::category::parent;
use gleaner_search::filing::labels;
use gleaner_search::title::Title;
use quick_xml::escape::escape;

use crate::links::{self, Links};
use crate::names::{rfc1123, xml_text};
use crate::rows::{Item, Page};

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
    let mut attribute = |name: &str, value: &dyn std::fmt::Display| {
        let value = value.to_string();
        let _ = writeln!(text, "<torznab:attr name=\"{name}\" value=\"{}\"/>", escape(value.as_str()));
    };
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
    if matches!(parent(item.category), 2000 | 5000) {
        let title = Title::of(&facts.name);
        let (year, season, episode) = (title.year, title.season, title.episodes.map(|(first, _)| first));
        for (name, value) in [("year", year), ("season", season), ("episode", episode)] {
            if let Some(value) = value {
                attribute(name, &value);
            }
        }
    }
    text.push_str("</item>\n");
}
