//! The same links from html5ever's tree: the reference for testing the scanner, and the parser for callers that need
//! a tree.
//!
//! html5ever takes quadratic time in the depth of the tree (1 MB of `<div>`: 212 s) and copies every formatting
//! element left open into each block that follows, so [`parse`] checks the tree while it grows. It is still slow (18
//! MB/s): call it off the threads that serve sockets.

use std::borrow::Cow;
use std::cell::Ref;

use ego_tree::NodeRef;
use encoding_rs::UTF_8;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{TreeBuilderOpts, TreeSink};
use html5ever::{ParseOpts, QualName, local_name, ns};
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink, Node};

use super::clicks::{self, Attributes, Control, Form};
use super::links::{
    Link, LinkKind, PageLinks, anchor_kind, click_kind, inner_kind, kind_of, link_element_kind, refresh_target,
    robots_directives, strip_url,
};
use crate::limits::{HTML_DEPTH_MAX, HTML_NODES_MAX, LINKS_PER_PAGE_MAX, SRCDOC_DEPTH_MAX};

/// Why a page has no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    #[error("the page nests deeper than {HTML_DEPTH_MAX} elements")]
    TooDeep,
    #[error("the page makes more than {HTML_NODES_MAX} nodes")]
    TooManyNodes,
}

/// Bytes parsed between two checks of the tree: short enough that no piece can become quadratic by itself.
const PIECE_BYTES: usize = 2_048;

/// The tree of a page with scripting off (`noscript` contains markup).
///
/// # Errors
/// If the tree becomes deeper than [`HTML_DEPTH_MAX`] or larger than [`HTML_NODES_MAX`], parsing stops. Counting tags
/// before the parse could be fooled (by end tags that the tree ignores, or by raw text that is markup within `svg`);
/// checking the tree while it grows cannot.
pub fn parse(html: &str) -> Result<Html, TreeError> {
    parse_into(html, HtmlTreeSink::new(Html::new_document()), |sink| sink.0.borrow())
}

/// The same with a sink that stores more than the tree; `tree` returns its tree.
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

/// Checks the caps on the nodes created after the first `seen`; returns their total number. The stack of open
/// elements, which costs the time, is about as deep as the nodes that it creates.
fn check(html: &Html, seen: usize) -> Result<usize, TreeError> {
    let nodes = html.tree.nodes();
    let count = nodes.len();
    if count > HTML_NODES_MAX {
        return Err(TreeError::TooManyNodes);
    }
    let mut new = nodes.rev().take(count - seen);
    if new.any(|node| node.ancestors().nth(HTML_DEPTH_MAX).is_some()) { Err(TreeError::TooDeep) } else { Ok(count) }
}

/// The result of [`super::links::scan`] from the tree: elements in the order in which the parser created them, which
/// is the order of their tags (foster parenting moves nodes, not links). A link that the tree copied appears once
/// more.
///
/// # Errors
/// As [`parse`].
pub fn links(html: &str) -> Result<PageLinks<'static>, TreeError> {
    links_at(html, 0)
}

fn links_at(html: &str, depth: u32) -> Result<PageLinks<'static>, TreeError> {
    let tree = parse(html)?;
    let mut found = PageLinks::default();
    for (node, element) in tree.tree.nodes().filter_map(|node| Some((node, node.value().as_element()?))) {
        let is_html = element.name.ns == ns!(html);
        let own = link_of(element, &mut found);
        let clicked = clicks_of(element, own.as_ref());
        let mut links = Vec::new();
        if is_html && element.name() == "form" {
            links.extend(form_of(node).links().into_iter().map(click));
        }
        links.extend(own);
        let inner = element.attr("srcdoc").filter(|_| is_html && element.name() == "iframe");
        if let Some(inner) = inner.filter(|_| depth < SRCDOC_DEPTH_MAX) {
            let inner = links_at(inner, depth + 1)?.links;
            links.extend(inner.into_iter().map(|link| (link.href.into_owned(), inner_kind(link.kind))));
        }
        links.extend(clicked);
        for (href, kind) in links {
            if found.links.len() == LINKS_PER_PAGE_MAX {
                found.truncated = true;
                return Ok(found);
            }
            found.links.push(Link { href: strip_url(&href).into_owned().into(), kind });
        }
    }
    Ok(found)
}

/// The links of an element's script, data and handlers; `own` is its own.
fn clicks_of(element: &Element, own: Option<&(String, LinkKind)>) -> Vec<(String, LinkKind)> {
    if HEAD_ONLY.contains(&element.name()) {
        return Vec::new();
    }
    let leads = own.is_some_and(|(href, kind)| *kind != LinkKind::Anchor || !clicks::leads_nowhere(href));
    let script = own.filter(|(href, _)| !leads && clicks::is_script(href));
    let of_script = script.into_iter().flat_map(|(code, _)| clicks::targets(code));
    let data = element.attrs().filter(|(name, _)| !leads && clicks::is_data(name.as_bytes()));
    let data = data.map(|(_, value)| strip_url(value).into_owned()).find(|href| !href.is_empty());
    let handlers = element.attrs().filter(|(name, _)| clicks::is_handler(name.as_bytes()));
    of_script.chain(data).chain(handlers.flat_map(|(_, code)| clicks::targets(code))).map(click).collect()
}

fn click(href: String) -> (String, LinkKind) {
    let kind = click_kind(&strip_url(&href));
    (href, kind)
}

/// Elements whose handlers do not count.
const HEAD_ONLY: [&str; 3] = ["link", "meta", "base"];

fn form_of(node: NodeRef<'_, Node>) -> Form {
    let attributes = |element: &Element, [action, method]: [&str; 2]| {
        let text = |name: &str| element.attr(name).map(|value| Cow::Owned(value.to_owned()));
        Attributes {
            name: text("name"),
            value: text("value"),
            action: element.attr(action).map(|action| Cow::Owned(strip_url(action).into_owned())),
            method: text(method),
            disabled: element.attr("disabled").is_some(),
        }
    };
    let own = node.value().as_element().map(|form| attributes(form, ["action", "method"]));
    let mut form = Form::new(&own.unwrap_or_default());
    let controls = node.descendants().filter_map(|node| node.value().as_element());
    for element in controls.filter(|element| element.name.ns == ns!(html) && element.attr("form").is_none()) {
        match element.name() {
            "select" | "textarea" => form.ask(),
            name @ ("input" | "button") => {
                let control = Control::of(name == "button", element.attr("type"));
                form.add(control, &attributes(element, ["formaction", "formmethod"]), UTF_8);
            }
            _ => {}
        }
    }
    form
}

/// The link of one element; page-wide directives go to `page`.
fn link_of(element: &Element, page: &mut PageLinks<'static>) -> Option<(String, LinkKind)> {
    let href = || element.attr("href").map(|value| strip_url(value).into_owned());
    if element.name.local == local_name!("a") {
        let of_svg = || {
            let of = |name: &QualName| name.ns == ns!(xlink) && name.local == local_name!("href");
            element.attrs.iter().find(|(name, _)| of(name)).map(|(_, value)| strip_url(value).into_owned())
        };
        let href = href().or_else(of_svg)?;
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
            let kind = kind_of(&strip_url(&target), LinkKind::Refresh);
            Some((target, kind))
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
