//! Links of a page to hosts that are not the site's. Links within the site cost a look at their first bytes, others a parse of their
//! URL and a search for the text beside them. Pure.

use std::borrow::Cow;

use encoding_rs::Encoding;
use memchr::{memchr, memmem};

use crate::frontier::offsite::OffsiteLink;
use crate::limits::{
    OFFSITE_HOST_BYTES_MAX, OFFSITE_LINKS_PER_PAGE_MAX, OFFSITE_TEXT_BYTES_MAX, OFFSITE_TEXTS_MISSED_MAX,
};
use gleaner_page::links::{LinkKind, PageLinks};
use gleaner_rules::SiteRules;

gleaner_base::topics! { source: SPEAKING; }

/// Tags that end what is beside a link.
const ENDS: [&[u8]; 9] = [b"a", b"/li", b"li", b"/tr", b"tr", b"/p", b"p", b"br", b"/div"];

/// The links in document order, at most `limits::OFFSITE_LINKS_PER_PAGE_MAX`.
pub(super) fn of(
    rules: &SiteRules,
    page: &PageLinks<'_>,
    body: &[u8],
    encoding: &'static Encoding,
) -> Vec<OffsiteLink> {
    let mut texts = Texts { body, encoding, from: 0, missed: 0 };
    let anchors = page.links.iter().enumerate().filter(|(_, link)| link.kind == LinkKind::Anchor);
    let off_site = anchors.filter_map(|(place, link)| Some((place, authority(&link.href)?)));
    let off_site = off_site.filter(|(_, written)| !rules.owns_host(&lower(written)));
    let links = off_site.filter_map(|(place, written)| {
        let host = host(rules, written)?;
        Some(OffsiteLink { host, place, has_words: texts.speaks(written) })
    });
    links.take(OFFSITE_LINKS_PER_PAGE_MAX).collect()
}

/// The `host[:port]` of an absolute http(s) reference as written; None for others, most of which are the site's own.
fn authority(href: &str) -> Option<&str> {
    let schemes: &[&str] = match href.as_bytes() {
        [b'/', ..] => &["//"],
        [b'h' | b'H', ..] => &["http://", "https://"],
        _ => return None,
    };
    let rest = schemes.iter().find_map(|scheme| {
        let (begin, rest) = href.split_at_checked(scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some(rest)
    })?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|written| !written.is_empty())
}

fn lower(written: &str) -> Cow<'_, str> {
    match written.bytes().any(|of| of.is_ascii_uppercase()) {
        true => Cow::Owned(written.to_ascii_lowercase()),
        false => Cow::Borrowed(written),
    }
}

/// The name of the host, as the URL standard writes it; None for addresses, for user names, and for hosts of the site on another port.
fn host(rules: &SiteRules, written: &str) -> Option<Box<str>> {
    let url = url::Url::parse(&format!("http://{written}/")).ok().filter(|url| url.username().is_empty())?;
    let name = url.domain().filter(|name| name.len() <= OFFSITE_HOST_BYTES_MAX)?;
    (!rules.owns_host(name)).then(|| name.into())
}

/// Finds the texts of links, which come in the order of the page.
struct Texts<'p> {
    body: &'p [u8],
    encoding: &'static Encoding,
    from: usize,
    missed: usize,
}

impl Texts<'_> {
    /// True if our words are in a link's text or directly behind it. False if its host is not written in the page as in the link.
    fn speaks(&mut self, written: &str) -> bool {
        if self.missed > OFFSITE_TEXTS_MISSED_MAX {
            return false;
        }
        let rest = self.body.get(self.from..).unwrap_or_default();
        let Some(at) = memmem::find(rest, written.as_bytes()) else {
            self.missed += 1;
            return false;
        };
        let behind = &rest[at + written.len()..];
        self.from += at + written.len();
        let Some(end) = memchr(b'>', behind) else { return false };
        self.from += end + 1;
        let text = text(&behind[end + 1..]);
        SPEAKING.are_said_in(&self.encoding.decode_without_bom_handling(&text).0.to_lowercase(), false)
    }
}

/// The text at the start of this markup, up to the next link or the end of its block.
fn text(mut markup: &[u8]) -> Vec<u8> {
    markup = &markup[..markup.len().min(OFFSITE_TEXT_BYTES_MAX)];
    let mut text = Vec::new();
    while let Some(tag) = memchr(b'<', markup) {
        text.extend_from_slice(&markup[..tag]);
        text.push(b' ');
        markup = &markup[tag + 1..];
        let name = markup.split(|of| of.is_ascii_whitespace() || *of == b'>').next().unwrap_or_default();
        let ends = ENDS.iter().any(|end| name.eq_ignore_ascii_case(end));
        match memchr(b'>', markup) {
            Some(end) if !ends => markup = &markup[end + 1..],
            _ => return text,
        }
    }
    text.extend_from_slice(markup);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_page::links::scan;
    use gleaner_rules::from_text;

    fn told(body: &str) -> Vec<(String, usize, bool)> {
        let text =
            "start = ['https://site.example/']\nhosts = ['site.example', '*.cdn.example']\nclasses.index = ['^/']\n";
        let rules = from_text("site", text).unwrap();
        let links = of(&rules, &scan(body.as_bytes(), encoding_rs::UTF_8), body.as_bytes(), encoding_rs::UTF_8);
        links.into_iter().map(|link| (link.host.into(), link.place, link.has_words)).collect()
    }

    #[test]
    fn links_off_the_site_are_found_with_our_words_beside_them() {
        let body = r##"<a href="/a">torrents</a> <a href="https://site.example/b">torrents</a> <a href="//img.cdn.example/c">c</a>
            <a href="HTTPS://Other.Example/x?y">The <b>best tracker</b></a> <a href='http://shop.example/'>Shop</a>, no
            <a href="http://third.example:8080/">Third</a> - Linux torrents<li><a href=http://fourth.example>Fourth</a><li>torrents
            <a href="ftp://f.example/">t</a> <a href="http://10.1.2.3/">torrent</a> <a href="http://u:p@in.example/">torrent</a>
            <a href="https://site.example:8443/">torrent</a> <iframe src="https://ads.example/">torrent</iframe>
            <a href="https://b%C3%BCcher.example/">t</a> <a href="http://entity&#46;example/">torrent</a>"##;
        let expected = [
            ("other.example", 3, true),
            ("shop.example", 4, false),
            ("third.example", 5, true),
            ("fourth.example", 6, false),
            ("xn--bcher-kva.example", 12, false),
            ("entity.example", 13, false),
        ];
        assert_eq!(told(body), expected.map(|(host, place, words)| (host.to_owned(), place, words)));
    }

    #[test]
    fn a_page_full_of_such_links_is_bounded() {
        let page: String = (0..10_000).map(|n| format!("<a href='http://h{n}&#46;example/'>torrent</a>")).collect();
        let links = told(&page);
        assert_eq!(links.len(), OFFSITE_LINKS_PER_PAGE_MAX);
        assert!(links.iter().all(|(_, _, has_words)| !has_words));
    }
}
