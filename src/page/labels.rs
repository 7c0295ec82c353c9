//! Which label belongs to which link: that of the smallest element around the link which has a label at all. In a list that is the link's
//! row, so no selector is needed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ego_tree::NodeId;
use scraper::{Html, Node};

use crate::limits::{ROW_DEPTH_MAX, ROW_TARGETS_MAX};

/// What is below an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Links with this label alone.
    One(usize),
    /// Links with different labels.
    Many,
}

/// The labels of links, by their `href` as written. `label` tells the label that an address names, `is_target` what may have one. An element with
/// more than `limits::ROW_TARGETS_MAX` targets is no row: its label belongs to none of them.
pub fn of_links(
    html: &Html,
    label: impl Fn(&str) -> Option<String>,
    is_target: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let mut labels: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut below: HashMap<NodeId, Below> = HashMap::new();
    let mut targets = Vec::new();
    for node in html.tree.nodes() {
        let Node::Element(element) = node.value() else { continue };
        let Some(href) = element.attrs().find(|(name, _)| *name == "href").map(|(_, href)| href) else { continue };
        if let Some(text) = label(href) {
            let number = *numbers.entry(text).or_insert_with_key(|text| {
                labels.push(text.clone());
                labels.len() - 1
            });
            for around in std::iter::once(node).chain(node.ancestors()).take(ROW_DEPTH_MAX) {
                match below.entry(around.id()) {
                    Entry::Vacant(entry) => drop(entry.insert(Below::One(number))),
                    // What is around it has been told already.
                    Entry::Occupied(entry) if *entry.get() == Below::One(number) || *entry.get() == Below::Many => {
                        break;
                    }
                    Entry::Occupied(mut entry) => drop(entry.insert(Below::Many)),
                }
            }
        } else if is_target(href) {
            targets.push((node, href));
        }
    }
    let row = |node: ego_tree::NodeRef<'_, Node>| {
        let mut around = node.ancestors().take(ROW_DEPTH_MAX);
        around.find_map(|around| below.get(&around.id()).map(|below| (around.id(), *below)))
    };
    let rows: Vec<_> = targets.iter().map(|(node, href)| (*href, row(*node))).collect();
    let mut in_row: HashMap<NodeId, Vec<&str>> = HashMap::new();
    for (href, row) in &rows {
        let Some((id, _)) = row else { continue };
        let known = in_row.entry(*id).or_default();
        if known.len() <= ROW_TARGETS_MAX && !known.contains(href) {
            known.push(href);
        }
    }
    let is_row = |id: &NodeId| in_row.get(id).is_some_and(|targets| targets.len() <= ROW_TARGETS_MAX);
    let labelled = rows.iter().filter_map(|(href, row)| match row {
        Some((id, Below::One(number))) if is_row(id) => Some(((*href).to_owned(), labels[*number].clone())),
        _ => None,
    });
    labelled.collect()
}

/// The label that more links of a page name than any other: the page's own, among those that its menu lists.
pub fn of_page<'l>(labels: impl Iterator<Item = &'l str>) -> Option<&'l str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    labels.for_each(|label| *counts.entry(label).or_default() += 1);
    let most = counts.values().copied().max()?;
    let mut with_most = counts.into_iter().filter(|(_, count)| *count == most);
    with_most.next().map(|(label, _)| label).filter(|_| with_most.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> Vec<(String, String)> {
        let label = |href: &str| href.split_once("c=").map(|(_, label)| label.to_owned());
        of_links(&Html::parse_document(body), label, |href| href.starts_with("/t"))
    }

    fn pairs(told: &[(String, String)]) -> Vec<(&str, &str)> {
        told.iter().map(|(href, label)| (&**href, &**label)).collect()
    }

    #[test]
    fn a_link_has_the_label_of_its_row_whatever_the_menu_lists() {
        let menu = "<nav><a href=/?c=1>A</a><a href=/?c=2>B</a><a href=/?c=3>C</a></nav>";
        let before = "<tr><td><a href=/?c=1><img></a><td><a href=/t/1>x</a><td><a href=/t/1.torrent>dl</a></tr>\
            <tr><td><a href=/?c=2><img></a><td><a href=/t/2>y</a></tr><tr><td>none<td><a href=/t/3>z</a></tr>";
        let list = told(&format!("{menu}<table>{before}</table>"));
        assert_eq!(pairs(&list), [("/t/1", "1"), ("/t/1.torrent", "1"), ("/t/2", "2")]);
        let after = "<div><b><a href=/t/1>x</a></b><i><a href=/?c=1>A</a></i></div><div><b><a href=/t/2>x</a></b><i><a href=/?c=2>A</a></i></div>";
        assert_eq!(pairs(&told(&format!("{menu}{after}"))), [("/t/1", "1"), ("/t/2", "2")]);
    }

    #[test]
    fn rows_without_an_element_of_their_own_have_none() {
        let flat = "<a href=/?c=1>A</a> <a href=/t/1>x</a><br><a href=/?c=2>B</a> <a href=/t/2>y</a>";
        assert_eq!(told(flat), []);
        let rows: String = (0..20).map(|row| format!("<p><a href=/t/{row}>x</a></p>")).collect();
        assert_eq!(told(&format!("<div><a href=/?c=1>A</a></div><div>{rows}</div>")), [], "a menu of one is no row");
        let row = "<p><a href=/t/1>x</a></p><p><a href=/t/2>y</a></p>";
        assert_eq!(told(&format!("<a href=/?c=1>A</a><div>{row}</div>")).len(), 2, "a list of few below its name");
    }

    #[test]
    fn a_page_has_the_label_that_it_links_more_often_than_its_menu() {
        assert_eq!(of_page(["1", "2", "3", "2"].into_iter()), Some("2"));
        assert_eq!(of_page(["1"].into_iter()), Some("1"));
        assert_eq!(of_page(["1", "2"].into_iter()), None);
        assert_eq!(of_page(std::iter::empty()), None);
    }

    #[test]
    fn deep_and_crowded_pages_are_read_in_linear_time() {
        let deep = format!("{}<a href=/?c=1>A</a><a href=/t/1>x</a>", "<div>".repeat(5_000));
        assert_eq!(told(&deep), [("/t/1".to_owned(), "1".to_owned())]);
        let rows: String =
            (0..20_000).map(|row| format!("<p><a href=/?c={row}>A</a><a href=/t/{row}>x</a></p>")).collect();
        assert_eq!(told(&rows).len(), 20_000);
    }
}
