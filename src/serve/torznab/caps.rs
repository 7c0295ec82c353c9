//! What the server can do, as `t=caps` says it.

use std::collections::BTreeSet;

use gleaner_search::category::{CATEGORIES, parent};
use gleaner_store::crawldb::LabelRow;
use quick_xml::escape::escape;

use crate::limits::{LABELS_TOLD_MAX, PAGE, PAGE_MAX};
use crate::names::xml_text;

/// The searches and what each takes. No numbers of other databases: a client that may send these sends nothing else.
const SEARCHES: [(&str, &str); 6] = [
    ("search", "q"),
    ("tv-search", "q,season,ep"),
    ("movie-search", "q,year"),
    // Lidarr reads the one, others read the other.
    ("audio-search", "q,artist,album,year"),
    ("music-search", "q,artist,album,year"),
    ("book-search", "q,author,title,year"),
];

/// The document of `t=caps`, with labels as categories of their own; where they are not of one site alone, they are named `site: label`.
pub fn text(labels: &[LabelRow], is_one_site: bool) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<caps>\n<server version=\"{version}\" title=\"gleaner\"/>\n<limits default=\"{PAGE}\" \
         max=\"{PAGE_MAX}\"/>\n<searching>\n"
    );
    for (name, parameters) in SEARCHES {
        text += &format!("<{name} available=\"yes\" supportedParams=\"{parameters}\" searchEngine=\"raw\"/>\n");
    }
    text += "</searching>\n<categories>\n";
    for of in CATEGORIES.iter().filter(|of| parent(of.number) == of.number) {
        text += &format!("<category id=\"{}\" name=\"{}\">\n", of.number, of.name);
        for child in CATEGORIES.iter().filter(|child| parent(child.number) == of.number && child.number != of.number) {
            text += &format!("<subcat id=\"{}\" name=\"{}\"/>\n", child.number, child.name);
        }
        text += "</category>\n";
    }
    for LabelRow { number, text: label, site } in labels.iter().take(LABELS_TOLD_MAX) {
        let label = if is_one_site { xml_text(label) } else { xml_text(&format!("{site}: {label}")) };
        text += &format!("<category id=\"{number}\" name=\"{}\"/>\n", escape(label.as_str()));
    }
    text + "</categories>\n</caps>\n"
}

/// The document of `t=indexers`: each site is one.
pub fn indexers(sites: &BTreeSet<String>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<indexers>\n".to_owned();
    let caps = text_of_caps();
    for site in sites {
        let site = escape(site.as_str());
        text += &format!(
            "<indexer id=\"{site}\" configured=\"true\">\n<title>{site}</title>\n<description>{site} in the archive of gleaner</description>\n\
             <link/>\n<language>en-US</language>\n<type>private</type>\n{caps}</indexer>\n"
        );
    }
    text + "</indexers>\n"
}

fn text_of_caps() -> String {
    let whole = text(&[], true);
    whole.split_once('\n').map_or_else(String::new, |(_, caps)| caps.to_owned())
}
