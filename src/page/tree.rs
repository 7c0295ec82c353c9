//! The same links from html5ever's tree: the reference that the scanner is held to, and the way to a tree where one
//! is wanted.
//!
//! html5ever takes quadratic time in the depth of the tree (1 MB of `<div>`: 212 s) and copies every formatting
//! element left open into each block that follows, so [`parse`] watches the tree grow. Still it is slow (18 MB/s): call
//! it off the threads that serve sockets.

use std::cell::Ref;

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{TreeBuilderOpts, TreeSink};
use html5ever::{ParseOpts, local_name, ns};
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink};

use super::links::{
    Link, LinkKind, PageLinks, anchor_kind, link_element_kind, refresh_target, robots_directives, strip_url,
};
use crate::limits::{HTML_DEPTH_MAX, HTML_NODES_MAX, LINKS_PER_PAGE_MAX};

/// Why a page has no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    #[error("the page nests deeper than {HTML_DEPTH_MAX} elements")]
    TooDeep,
    #[error("the page makes more than {HTML_NODES_MAX} nodes")]
    TooManyNodes,
}

/// Bytes parsed between two looks at the tree: short enough that no piece can go quadratic by itself.
const PIECE_BYTES: usize = 2_048;

/// The tree of a page, scripting off (`noscript` holds markup).
///
/// # Errors
/// When the tree has become deeper than [`HTML_DEPTH_MAX`] or larger than [`HTML_NODES_MAX`]: parsing stops there.
/// A count of tags before the parse could be talked out of it (by end tags that the tree ignores, or in raw text that
/// is markup within `svg`); looking at the tree while it grows cannot.
pub fn parse(html: &str) -> Result<Html, TreeError> {
    parse_into(html, HtmlTreeSink::new(Html::new_document()), |sink| sink.0.borrow())
}

/// The same into a sink that keeps more than the tree; `tree` shows the tree in it.
///
/// # Errors
/// As [`parse`].
pub fn parse_into<S: TreeSink>(
    html: &str,
    sink: S,
    tree: impl Fn(&S) -> Ref<'_, Html>,
) -> Result<S::Output, TreeError> {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = html5ever::driver::parse_document(sink, options);
    let mut rest = html;
    let mut seen = 0;
    while !rest.is_empty() {
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        parser.process(StrTendril::from_slice(piece));
        seen = check(&tree(&parser.tokenizer.sink.sink), seen)?;
        rest = after;
    }
    Ok(parser.finish())
}

/// The caps, over the nodes made after the first `seen`; gives their number. The stack of open elements, which is what
/// costs the time, is about as deep as the nodes that it makes lie.
fn check(html: &Html, seen: usize) -> Result<usize, TreeError> {
    let nodes = html.tree.nodes();
    let count = nodes.len();
    if count > HTML_NODES_MAX {
        return Err(TreeError::TooManyNodes);
    }
    let mut new = nodes.rev().take(count - seen);
    if new.any(|node| node.ancestors().nth(HTML_DEPTH_MAX).is_some()) { Err(TreeError::TooDeep) } else { Ok(count) }
}

/// What [`super::links::scan`] says, from the tree: elements in the order in which the parser made them, which is
/// the order of their tags (foster parenting moves nodes, not links). A link that the tree copied appears once more.
///
/// # Errors
/// As [`parse`].
pub fn links(html: &str) -> Result<PageLinks<'static>, TreeError> {
    let tree = parse(html)?;
    let mut found = PageLinks::default();
    for node in tree.tree.nodes() {
        if let Some(element) = node.value().as_element()
            && let Some((href, kind)) = link_of(element, &mut found)
        {
            if found.links.len() == LINKS_PER_PAGE_MAX {
                found.truncated = true;
                break;
            }
            found.links.push(Link { href: strip_url(&href).into_owned().into(), kind });
        }
    }
    Ok(found)
}

/// The link that one element is; what it says about the whole page goes to `page`.
fn link_of(element: &Element, page: &mut PageLinks<'static>) -> Option<(String, LinkKind)> {
    let href = || element.attr("href").map(|value| strip_url(value).into_owned());
    if element.name.local == local_name!("a") {
        let href = href()?;
        let kind = anchor_kind(&href, element.attr("rel"));
        return Some((href, kind));
    }
    if element.name.ns != ns!(html) {
        return None;
    }
    match &*element.name.local {
        "area" => {
            let href = href()?;
            let kind = anchor_kind(&href, element.attr("rel"));
            Some((href, kind))
        }
        "link" => {
            let kind = link_element_kind(element.attr("rel")?, element.attr("type"))?;
            Some((href()?, kind))
        }
        "iframe" | "frame" => Some((element.attr("src")?.to_owned(), LinkKind::Frame)),
        "base" => {
            if page.base.is_none() {
                page.base = href().map(Into::into);
            }
            None
        }
        "meta" => {
            let content = element.attr("content")?;
            if let Some(name) = element.attr("name") {
                let (noindex, nofollow) = robots_directives(name, content);
                page.robots_noindex |= noindex;
                page.robots_nofollow |= nofollow;
            }
            let is_refresh = element.attr("http-equiv")?.eq_ignore_ascii_case("refresh");
            let target = is_refresh.then(|| refresh_target(content)).flatten()?;
            Some((target, LinkKind::Refresh))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_refused_at_once_and_width_is_not() {
        for deep in [
            "<div>".repeat(200_000),
            "<svg>".repeat(200_000),
            "<x><div></x>".repeat(100_000),
            "<table><tr><td>".repeat(100_000),
            "<b><div>".repeat(100_000),
            "<div><math><mi></div>".repeat(100_000),
        ] {
            assert_eq!(parse(&deep).err(), Some(TreeError::TooDeep), "{}", &deep[..12]);
        }
        let copies: String = (0..100).map(|at| format!("<div><b id={at}></div>")).collect();
        assert_eq!(parse(&(copies + &"<p>x".repeat(20_000))).err(), Some(TreeError::TooManyNodes));
        for wide in ["<div></div>".repeat(10_000), "<p>é<br><img>".repeat(10_000), "<ul><li>x<li>y</ul>".repeat(10_000)]
        {
            assert!(parse(&wide).is_ok(), "{}", &wide[..12]);
        }
    }
}
