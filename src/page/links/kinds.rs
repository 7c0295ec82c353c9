//! What kind of link an element is, and the texts of those that are written in another way.

use std::borrow::Cow;

use super::LinkKind;
use crate::encoded_links::is_encoded;

/// The URL standard's preparation (§4.4, steps 1–3): outer C0 controls and spaces off, tabs and newlines out.
pub(crate) fn strip_url(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|character| character <= ' ');
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// The kind of an `a` or `area` by its stripped `href` and its `rel`.
pub(crate) fn anchor_kind(href: &str, rel: Option<&str>) -> LinkKind {
    if is_encoded(href) {
        return LinkKind::Encoded;
    }
    for token in rel.unwrap_or_default().split_ascii_whitespace() {
        if let Some(kind) = next_or_prev(token) {
            return kind;
        }
    }
    LinkKind::Anchor
}

/// The kind, unless the link is an encoded one.
pub(crate) fn kind_of(href: &str, kind: LinkKind) -> LinkKind {
    if is_encoded(href) { LinkKind::Encoded } else { kind }
}

/// The kind of what a click brings.
pub(crate) fn click_kind(href: &str) -> LinkKind {
    kind_of(href, LinkKind::Click)
}

/// The kind of a link of a page within the page: its order and its feeds are its own.
pub(crate) fn inner_kind(kind: LinkKind) -> LinkKind {
    if kind == LinkKind::Encoded { kind } else { LinkKind::Anchor }
}

/// The kind of a `link` element; `None` for style sheets, icons and everything else that is not a page.
pub(crate) fn link_element_kind(rel: &str, type_: Option<&str>) -> Option<LinkKind> {
    rel.split_ascii_whitespace().find_map(|token| {
        if let Some(kind) = next_or_prev(token) {
            Some(kind)
        } else if token.eq_ignore_ascii_case("canonical") {
            Some(LinkKind::Canonical)
        } else {
            let type_ = type_.unwrap_or_default().trim_ascii();
            let is = |known: &str| type_.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known));
            let kind = ALTERNATES.iter().find(|(known, _)| is(known)).map(|&(_, kind)| kind);
            kind.filter(|_| token.eq_ignore_ascii_case("alternate"))
        }
    })
}

/// Types of a page's alternates that are links.
const ALTERNATES: [(&str, LinkKind); 6] = [
    ("application/rss+xml", LinkKind::Feed),
    ("application/atom+xml", LinkKind::Feed),
    ("application/feed+json", LinkKind::Feed),
    ("application/metalink4+xml", LinkKind::Feed),
    ("application/metalink+xml", LinkKind::Feed),
    ("application/x-bittorrent", LinkKind::Anchor),
];

fn next_or_prev(token: &str) -> Option<LinkKind> {
    if token.eq_ignore_ascii_case("next") {
        Some(LinkKind::Next)
    } else if token.eq_ignore_ascii_case("prev") || token.eq_ignore_ascii_case("previous") {
        Some(LinkKind::Prev)
    } else {
        None
    }
}

/// (noindex, nofollow) of a `meta` element.
pub(crate) fn robots_directives(name: &str, content: &str) -> (bool, bool) {
    let name = name.trim_ascii();
    if !name.eq_ignore_ascii_case("robots") && !name.eq_ignore_ascii_case("gleaner") {
        return (false, false);
    }
    let has = |wanted: &str| {
        content
            .split(|character: char| character == ',' || character.is_ascii_whitespace())
            .any(|directive| directive.eq_ignore_ascii_case(wanted) || directive.eq_ignore_ascii_case("none"))
    };
    (has("noindex"), has("nofollow"))
}

/// The URL in a refresh's `content` (HTML §4.2.5.3, shared declarative refresh steps); `None` if it is malformed or
/// names the page itself.
pub fn refresh_target(content: &str) -> Option<String> {
    let spaces = |text: &str| text.trim_ascii_start().len();
    let rest = content.trim_ascii_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let rest = &after_time[after_time.len() - spaces(after_time)..];
    let had_space = rest.len() < after_time.len();
    let rest = match rest.strip_prefix([';', ',']) {
        Some(rest) => rest.trim_ascii_start(),
        None if had_space => rest,
        None => return None,
    };
    if rest.is_empty() {
        return None;
    }
    let url = after_url_and_equals(rest).unwrap_or(rest);
    let url = match url.as_bytes().first() {
        Some(&quote @ (b'"' | b'\'')) => {
            let inner = &url[1..];
            inner.split(char::from(quote)).next().unwrap_or(inner)
        }
        _ => url,
    };
    Some(url.to_owned())
}

/// `text` after `url =`; `None` if it does not start so.
fn after_url_and_equals(text: &str) -> Option<&str> {
    let rest = text.get(3..).filter(|_| text.as_bytes()[..3].eq_ignore_ascii_case(b"url"))?;
    Some(rest.trim_ascii_start().strip_prefix('=')?.trim_ascii_start())
}
