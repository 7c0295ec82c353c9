//! List pages: the main index, the categories, the archive.

use std::fmt::Write as _;

use super::catalogue::{Item, Listing};
use super::delivery::Link;
use super::escape::{escaped, push_date, push_escaped, size, slug};
use super::titles::{CATEGORIES, QUICK_CATEGORY, USERS};
use super::view::{View, detail_path};

/// Rows on a page of the main index.
pub(super) const MAIN_ROWS: usize = 50;

/// Rows on a page of a category or of a GBK board.
pub(super) const SERIES_ROWS: usize = 25;

/// Number of pages of a series; an empty one has one page.
pub(super) fn last_page(listings: usize, rows: usize) -> usize {
    listings.div_ceil(rows).max(1)
}

/// The listing ids of a page, newest first; `page` counts from 1. None beyond the last page.
pub(super) fn page_of(series: &[u32], page: usize, rows: usize) -> Option<impl Iterator<Item = u32> + '_> {
    (1..=last_page(series.len(), rows))
        .contains(&page)
        .then(|| series.iter().rev().skip((page - 1) * rows).take(rows).copied())
}

/// A page of the main index; None beyond the last one.
pub(super) fn main_index(view: &mut View<'_>, page: usize) -> Option<String> {
    let catalogue = view.catalogue;
    let ids = page_of(&catalogue.main, page, MAIN_ROWS)?;
    let mut out = String::with_capacity(48 << 10);
    view.open(&mut out, "Torrents", META_UTF8);
    let last = last_page(catalogue.main.len(), MAIN_ROWS);
    table(view, &mut out, "/", page, last, ids, false);
    view.close(&mut out);
    Some(out)
}

/// A page of a category; None for an unknown category and beyond the last page.
pub(super) fn category(view: &mut View<'_>, name: &str, page: usize) -> Option<String> {
    let catalogue = view.catalogue;
    let number = CATEGORIES.iter().position(|(known, _)| *known == name)?;
    let series = &catalogue.categories[number];
    let ids = page_of(series, page, SERIES_ROWS)?;
    let mut out = String::with_capacity(32 << 10);
    view.open(&mut out, CATEGORIES[number].1, META_UTF8);
    let last = last_page(series.len(), SERIES_ROWS);
    table(view, &mut out, &format!("/cat/{name}"), page, last, ids, number == usize::from(QUICK_CATEGORY));
    view.close(&mut out);
    Some(out)
}

/// The single page of the archive: its links are relative to `<base href>`, with addresses from before the redesign.
pub(super) fn archive(view: &mut View<'_>) -> String {
    let catalogue = view.catalogue;
    let mut out = String::with_capacity(24 << 10);
    let head = format!("{META_UTF8}<base href=\"{}/old/\">\n", view.origin);
    view.open(&mut out, "Archive", &head);
    out.push_str("<h1>Archive (read only)</h1>\n<ol>\n");
    for (listing, item) in catalogue.archive.iter().filter_map(|&id| catalogue.listing(id)) {
        let href = view.href(&format!("t/{}", listing.id));
        let _ = writeln!(out, "<li><a href=\"{href}\">{}</a>", escaped(&item.title));
    }
    out.push_str("</ol>\n");
    view.close(&mut out);
    out
}

const META_UTF8: &str = "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=UTF-8\" />\n";

/// Pagination, header, pinned rows, rows, pagination.
fn table(
    view: &mut View<'_>,
    out: &mut String,
    base: &str,
    page: usize,
    last: usize,
    ids: impl Iterator<Item = u32>,
    has_downloads: bool,
) {
    let catalogue = view.catalogue;
    pagination(view, out, base, page, last);
    out.push_str("<table class=\"forumline\" id=\"torrents\">\n<thead><tr>");
    for (key, label) in
        [("cat", "Cat."), ("name", "Name"), ("added", "Added"), ("size", "Size"), ("seeders", "S"), ("leechers", "L")]
    {
        let url = match page {
            1 => format!("{base}?sort={key}&order=desc"),
            _ => format!("{base}?page={page}&sort={key}&order=desc"),
        };
        let _ = write!(out, "<th><a href=\"{}\">{label}</a></th>", view.href(&url));
    }
    out.push_str("<th>Uploader</th></tr></thead>\n<tbody>\n");
    for (listing, item) in catalogue.pinned.iter().filter_map(|&id| catalogue.listing(id)) {
        row(view, out, listing, item, RowKind::Pinned);
    }
    let kind = if has_downloads { RowKind::WithDownload } else { RowKind::Plain };
    for (number, (listing, item)) in ids.filter_map(|id| catalogue.listing(id)).enumerate() {
        row(view, out, listing, item, kind);
        if number == 12 {
            let _ = writeln!(
                out,
                "<tr><td colspan=7><a href='{}'>Fast seedboxes, first month free</a></td></tr>",
                view.advert()
            );
        }
    }
    out.push_str("</tbody>\n</table>\n");
    pagination(view, out, base, page, last);
}

#[derive(Clone, Copy, PartialEq)]
enum RowKind {
    Pinned,
    Plain,
    WithDownload,
}

fn row(view: &mut View<'_>, out: &mut String, listing: &Listing, item: &Item, kind: RowKind) {
    let (category, label) = CATEGORIES[usize::from(item.category)];
    let class = match (kind, listing.id % 2) {
        (RowKind::Pinned, _) => "pinned",
        (_, 0) => "row1",
        _ => "row2",
    };
    let category_href = view.href(&format!("/cat/{category}"));
    let _ = write!(
        out,
        "<tr class=\"{class}\" id=\"tor_{}\">\n<td class=\"cat\" align=center><a href=\"{category_href}\">\
         <img src=\"/img/cat/{category}.png\" border=\"0\" alt=\"{}\"/></a></td>\n<td class=\"name\">",
        listing.id,
        escaped(label),
    );
    if kind == RowKind::Pinned {
        out.push_str("<b>Sticky:</b> ");
        let href = view.href(&format!("{}?from=pinned&copy=1", detail_path(listing, item)));
        let _ = write!(out, "<a class=\"tt\" href=\"{href}\">");
        push_escaped(out, &item.title);
        out.push_str("</a>");
    } else {
        detail_anchor(view, out, listing, item);
        comments_anchor(view, out, listing, item);
    }
    if kind == RowKind::WithDownload && item.link == Link::Token {
        let href = view.href(&view.download(listing, item));
        let _ = write!(
            out,
            " <a href=\"{href}\" rel=nofollow title=\"Download\"><img src=\"/img/dl.gif\" alt=\"[dl]\"/></a>"
        );
    }
    out.push_str("</td>\n<td class=\"small\" nowrap=\"nowrap\">");
    push_date(out, listing.at);
    let uploader = usize::from(listing.uploader);
    let _ = write!(
        out,
        "</td>\n<td align=\"right\">{}</td><td class=\"seed\">{}</td><td class=\"leech\">{}</td>\n\
         <td><a href=\"{}\" class=\"user\">{}</a></td>\n</tr>\n",
        size(item.payload_bytes),
        listing.seeders,
        listing.leechers,
        view.href(&format!("/user/{}", uploader + 1)),
        escaped(USERS[uploader]),
    );
}

fn comments_anchor(view: &View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    // An address from before the redesign has no fragment, and the only link to some pages must stay the only one.
    if item.old_address || listing.leechers == 0 {
        return;
    }
    let href = view.href(&format!("{}#comments", detail_path(listing, item)));
    let _ = write!(out, " <span class=\"small\">[<a href='{href}'>{} comments</a>]</span>", listing.leechers);
}

/// The row's link to the detail page, in one of the forms that templates use. The form depends only on the
/// number.
fn detail_anchor(view: &View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    let title = escaped(&item.title);
    let path = detail_path(listing, item);
    if listing.id.is_multiple_of(9) {
        let _ = write!(out, "<!-- <a href=\"/details/90{:04}-hidden\">{title}</a> -->", listing.id % 10_000);
    }
    if item.old_address {
        let _ = write!(out, "<a class=tt href=\"{}\">{title}</a>", view.href(&format!("/t/{}", listing.id)));
        return;
    }
    let _ = match listing.id % 11 {
        0 => write!(out, "<a class='tt' href='{}' title='{title}'>{title}</a>", view.href(&path)),
        1 => write!(out, "<a class=tt href={} title=\"{title}\">{title}</a>", view.href(&path)),
        2 => write!(out, "<A HREF=\"{}\" CLASS=\"tt\" TITLE=\"{title}\">{title}</A>", view.href(&path)),
        3 => write!(out, "<a class=\"tt\" href=\"\n\t{}  \">{title}</a>", view.href(&path)),
        4 => {
            let raw = format!("/details/{}-{}", listing.id, slug(&item.title));
            write!(out, "<a class=\"tt\" href=\"{}\">{title}</a>", view.href(&raw))
        }
        5 => write!(out, "<a class=\"tt\" href=\"{}{}\">{title}</a>", view.origin, view.href(&path)),
        6 => {
            let spelt = view.href(&path).replacen('/', "&#47;", 1).replacen("details/", "details&#x2F;", 1);
            write!(out, "<a class=\"tt\" href=\"{spelt}\">{title}</a>")
        }
        7 => {
            let authority = view.origin.trim_start_matches("http:");
            write!(out, "<a class=\"tt\" href=\"{authority}{}\">{title}</a>", view.href(&path))
        }
        8 => write!(out, "<a class=\"tt\" href=\"/cat/..{}\">{title}</a>", view.href(&path)),
        9 => {
            // An ampersand that is not written as an entity; `&copy=` must stay unchanged.
            let raw = view.with_session(&format!("{path}?from=index&copy=1"));
            write!(out, "<a class=\"tt\" href=\"{raw}\">{title}</a>")
        }
        _ => {
            let data = format!(
                "data-href=\"/details/90{:04}-preview\" onclick=\"return popup(this.href)\"",
                listing.id % 10_000
            );
            write!(out, "<a {data} class=\"tt\" href=\"{}\">{title}</a>", view.href(&path))
        }
    };
}

/// `« 1 … 4 5 [6] 7 8 … 20 » Last`, the first page without a number in its URL.
pub(super) fn pagination(view: &View<'_>, out: &mut String, base: &str, page: usize, last: usize) {
    let separator = if base.contains('?') { '&' } else { '?' };
    let url = |number: usize| match number {
        1 => base.to_owned(),
        _ => format!("{base}{separator}page={number}"),
    };
    let mut link = |number: usize, label: &str| {
        let _ = write!(out, "<a href=\"{}\">{label}</a> ", view.href(&url(number)));
    };
    link(1, "First page");
    if page > 1 {
        link(page - 1, "&laquo;");
    }
    for number in page.saturating_sub(2).max(1)..=(page + 2).min(last) {
        link(number, &number.to_string());
    }
    if page < last {
        link(page + 1, "&raquo;");
    }
    link(last, "Last page");
    let _ = writeln!(out, "<span class=\"small\">Page {page} of {last}</span><br />");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_each_listing_once_newest_first_and_end() {
        let series: Vec<u32> = (1..=52).collect();
        let page = |number| page_of(&series, number, 25).map(Iterator::collect::<Vec<_>>);
        assert_eq!(page(1).as_deref().map(|ids| (ids[0], ids.len())), Some((52, 25)));
        assert_eq!(page(3), Some(vec![2, 1]));
        assert_eq!(page(0), None);
        assert_eq!(page(4), None);
        assert_eq!(page_of(&[], 1, 25).map(Iterator::count), Some(0));
    }
}
