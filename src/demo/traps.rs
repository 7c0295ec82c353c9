//! Pages that a correct crawl never requests. They all exist, with endless links, to trap an incorrect one.

use std::fmt::Write as _;

use super::catalogue::{Item, Listing};
use super::escape::escaped;
use super::view::{View, detail_path};

/// Search results: a few torrents, and links to more results under new random numbers.
pub(super) fn search(view: &mut View<'_>) -> String {
    let catalogue = view.catalogue;
    let mut out = String::with_capacity(12 << 10);
    view.open(&mut out, "Search results", "");
    out.push_str("<ul>\n");
    for _ in 0..10 {
        let at = view.random.below(catalogue.main.len() as u64) as usize;
        let Some((listing, item)) = catalogue.main.get(at).and_then(|&id| catalogue.listing(id)) else {
            continue;
        };
        let href = view.href(&detail_path(listing, item));
        let _ = writeln!(out, "<li><a href=\"{href}\">{}</a></li>", escaped(&item.title));
    }
    out.push_str("</ul>\n<p>");
    for page in 2..9 {
        let search = view.random.number();
        let href = view.href(&format!("/search?search_id={search:016x}&start={}", page * 10));
        let _ = write!(out, "<a href=\"{href}\">{page}</a> ");
    }
    out.push_str("</p>\n");
    view.close(&mut out);
    out
}

/// A month of a calendar without end in either direction.
pub(super) fn calendar(view: &mut View<'_>, month: Option<&str>) -> String {
    let (year, month) = month.and_then(read_month).unwrap_or((2026, 11));
    let months = year * 12 + month - 1;
    let mut out = String::with_capacity(12 << 10);
    view.open(&mut out, "Calendar", "");
    let _ = write!(out, "<h1>{year:04}-{month:02}</h1>\n<p>No torrents on these days.</p>\n");
    for (other, label) in [(months.saturating_sub(1), "&laquo; previous"), (months + 1, "next &raquo;")] {
        let href = view.href(&format!("/calendar?month={:04}-{:02}", other / 12, other % 12 + 1));
        let _ = writeln!(out, "<a href=\"{href}\">{label}</a>");
    }
    view.close(&mut out);
    out
}

/// Year and month of `2026-11`; years have up to nine digits.
fn read_month(text: &str) -> Option<(u64, u64)> {
    let (year, month) = text.split_once('-')?;
    let (year, month) = (year.parse().ok()?, month.parse().ok()?);
    (year < 1_000_000_000 && (1..=12).contains(&month)).then_some((year, month))
}

/// A form for login or registration.
pub(super) fn form(view: &mut View<'_>, title: &str) -> String {
    let mut out = String::with_capacity(8 << 10);
    view.open(&mut out, title, "");
    let _ = write!(
        out,
        "<h1>{title}</h1>\n<form action=\"/takelogin\" method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{:016x}\">\n\
         User name: <input type=\"text\" name=\"username\" /> Password: <input type=\"password\" name=\"password\" />\n\
         <input type=\"submit\" value=\"{title}\"></form>\n",
        view.random.number(),
    );
    view.close(&mut out);
    out
}

/// A page of text without torrents: news, help, a user, a refusal.
pub(super) fn text_page(view: &mut View<'_>, title: &str, text: &str) -> String {
    let mut out = String::with_capacity(8 << 10);
    view.open(&mut out, title, "");
    let _ = write!(out, "<h1>{}</h1>\n<p>{}</p>\n", escaped(title), escaped(text));
    view.close(&mut out);
    out
}

/// The list that robots.txt disallows.
pub(super) fn private_index(view: &mut View<'_>) -> String {
    let catalogue = view.catalogue;
    let mut out = String::with_capacity(12 << 10);
    view.open(&mut out, "Staff area", "");
    out.push_str("<ul>\n");
    for (listing, item) in catalogue.private.iter().filter_map(|&id| catalogue.listing(id)) {
        let href = view.href(&format!("/private{}", detail_path(listing, item)));
        let _ = writeln!(out, "<li><a href=\"{href}\">{}</a></li>", escaped(&item.title));
    }
    out.push_str("</ul>\n");
    view.close(&mut out);
    out
}

/// A detail page that robots.txt disallows.
pub(super) fn private_detail(view: &mut View<'_>, listing: &Listing, item: &Item) -> String {
    let mut out = String::with_capacity(8 << 10);
    view.open(&mut out, &item.title, "");
    let href = view.href(&format!("/private{}", view.download(listing, item)));
    let _ = write!(out, "<h1>{}</h1>\n<a href=\"{href}\">Download</a>\n", escaped(&item.title));
    view.close(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_without_sense_are_refused() {
        assert_eq!(read_month("2026-11"), Some((2026, 11)));
        for text in ["2026-13", "2026", "99999999999999999999-01", "1000000000-01", "-", "2026-0"] {
            assert_eq!(read_month(text), None, "{text}");
        }
    }
}
