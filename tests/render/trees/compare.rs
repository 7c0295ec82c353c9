//! Compares the arena's tree with the one that scraper builds.

use std::fs;
use std::path::Path;

use gleaner_render::{NodeData, NodeId, Parser, Step, Tree};
use scraper::{Html, Node as Scraped};

/// A tree as lines, so that a difference shows its position.
fn lines(tree: &Tree, document: NodeId) -> Vec<String> {
    let mut lines = Vec::new();
    let mut work: Vec<(NodeId, usize)> = vec![(document, 0)];
    while let Some((id, depth)) = work.pop() {
        let line = match tree.data(id) {
            NodeData::Element(element) => {
                let mut attributes: Vec<String> = element
                    .attributes()
                    .iter()
                    .map(|attribute| {
                        format!("{}|{}={:?}", &*attribute.name.ns, &*attribute.name.local, attribute.value)
                    })
                    .collect();
                attributes.sort();
                let name = element.name();
                format!("<{}|{} {}", &*name.ns, &*name.local, attributes.join(" "))
            }
            NodeData::Text(text) | NodeData::CData(text) => format!("{text:?}"),
            NodeData::Comment(text) => format!("<!--{text:?}"),
            NodeData::DocumentType(doctype) => {
                format!("<!{} {} {}", doctype.name, doctype.public_id, doctype.system_id)
            }
            NodeData::Fragment(_) => "fragment".into(),
            NodeData::Document(_) => "document".into(),
            NodeData::Instruction(_) | NodeData::Attr(_) | NodeData::Vacant => "other".into(),
        };
        lines.push(format!("{depth} {line}"));
        work.extend(tree.children(id).rev().map(|child| (child, depth + 1)));
        if let Some(contents) = tree.element(id).and_then(|element| element.template_contents()) {
            work.push((contents, depth + 1));
        }
    }
    lines
}

fn scraped_lines(html: &Html) -> Vec<String> {
    let mut lines = Vec::new();
    let mut work = vec![(html.tree.root(), 0_usize)];
    while let Some((node, depth)) = work.pop() {
        let line = match node.value() {
            Scraped::Element(element) => {
                let mut attributes: Vec<String> = element
                    .attrs
                    .iter()
                    .map(|(name, value)| format!("{}|{}={:?}", &*name.ns, &*name.local, &**value))
                    .collect();
                attributes.sort();
                format!("<{}|{} {}", &*element.name.ns, &*element.name.local, attributes.join(" "))
            }
            Scraped::Text(text) => format!("{:?}", &*text.text),
            Scraped::Comment(text) => format!("<!--{:?}", &*text.comment),
            Scraped::Doctype(doctype) => {
                format!("<!{} {} {}", doctype.name(), doctype.public_id(), doctype.system_id())
            }
            Scraped::Fragment => "fragment".into(),
            Scraped::Document => "document".into(),
            Scraped::ProcessingInstruction(_) => "other".into(),
        };
        lines.push(format!("{depth} {line}"));
        let children: Vec<_> = node.children().collect();
        work.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    lines
}

pub fn compare(markup: &str, of: &str) {
    let mut tree = Tree::new();
    let document = tree.create_document(true).unwrap();
    tree.document_data_mut(document).unwrap().scripting = true;
    let mut parser = Parser::new(&mut tree, document);
    let mut step = parser.feed(&mut tree, markup);
    while let Ok(Step::Script(_)) = step {
        step = parser.feed(&mut tree, "");
    }
    parser.finish(&mut tree).unwrap();
    let (ours, theirs) = (lines(&tree, document), scraped_lines(&Html::parse_document(markup)));
    if let Some(place) = (0..ours.len().max(theirs.len())).find(|place| ours.get(*place) != theirs.get(*place)) {
        panic!("{of}: node {place} is {:?}, scraper's {:?}", ours.get(place), theirs.get(place));
    }
}

/// Compares the pages of a folder; returns how many.
pub fn compare_folder(folder: &Path) -> usize {
    let mut pages = 0;
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages += compare_folder(&path);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            compare(&String::from_utf8_lossy(&fs::read(&path).unwrap()), &path.display().to_string());
            pages += 1;
        }
    }
    pages
}
