//! The GBK section: boards, threads and attachments in the style of a Chinese forum.
//!
//! Its pages are sent in GBK and its links contain GBK bytes: percent-encoded, or raw in the `href`, which a
//! browser encodes itself because the page is GBK. The site accepts only those bytes: a crawler that sends
//! UTF-8 requests a page that does not exist.

use std::fmt::Write as _;

use super::catalogue::{Item, Listing};
use super::delivery::Link;
use super::escape::{escaped, percent, push_date, size};
use super::links;
use super::listing_page::{SERIES_ROWS, last_page, page_of, pagination};
use super::random::{Random, mix};
use super::titles::{GBK_BOARDS, USERS};
use super::view::View;

/// The GBK bytes of `text`; characters outside GBK become character references.
pub(super) fn gbk(text: &str) -> Vec<u8> {
    encoding_rs::GBK.encode(text).0.into_owned()
}

/// Number of the board with this name in GBK bytes.
pub(super) fn board_number(name: &[u8]) -> Option<usize> {
    GBK_BOARDS.iter().position(|board| gbk(board) == name)
}

/// The list of boards.
pub(super) fn forum(view: &mut View<'_>) -> Vec<u8> {
    let mut out = String::with_capacity(12 << 10);
    // No meta element: only the header gives the charset.
    view.open(&mut out, "中文区", "");
    out.push_str("<h1>中文资源区</h1>\n");
    for (number, board) in GBK_BOARDS.iter().enumerate() {
        // One board's name as raw bytes, the other's percent-encoded: both are links to first pages.
        let url = if number.is_multiple_of(2) { format!("/gbk/board?name={board}") } else { board_url(board) };
        let _ = writeln!(out, "<h2><a href=\"{}\">{board}</a></h2>", view.href(&url));
    }
    view.close(&mut out);
    gbk(&out)
}

/// A page of a board; None beyond the last one.
pub(super) fn board(view: &mut View<'_>, number: usize, page: usize) -> Option<Vec<u8>> {
    let catalogue = view.catalogue;
    let (name, series) = (GBK_BOARDS.get(number)?, catalogue.boards.get(number)?);
    let ids = page_of(series, page, SERIES_ROWS)?;
    let mut out = String::with_capacity(32 << 10);
    view.open(&mut out, name, "");
    let last = last_page(series.len(), SERIES_ROWS);
    // Odd pages link in lower-case hex, even ones in upper case: the same pages.
    let base = if page.is_multiple_of(2) { board_url(name) } else { lower_hex(&board_url(name)) };
    pagination(view, &mut out, &base, page, last);
    out.push_str("<table summary=\"forum\" class=\"datatable\">\n");
    for (listing, item) in ids.filter_map(|id| catalogue.listing(id)) {
        thread_row(view, &mut out, listing, item);
    }
    out.push_str("</table>\n");
    pagination(view, &mut out, &base, page, last);
    view.close(&mut out);
    Some(gbk(&out))
}

/// A thread with its attachment.
pub(super) fn thread(view: &mut View<'_>, listing: &Listing, item: &Item) -> Vec<u8> {
    let mut out = String::with_capacity(12 << 10);
    // Here only the meta element gives the charset, by its older name.
    view.open(&mut out, &item.title, "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\" />\n");
    let _ = write!(out, "<h1>{}</h1>\n<div class=\"post\">发表于 ", escaped(&item.title));
    push_date(&mut out, listing.at);
    let mut random = Random::new(mix(item.blueprint.seed, 2));
    for _ in 0..random.between(4, 9) {
        let _ = write!(
            out,
            "\n<p>本资源来自公有领域，{}，下载后请保持做种，谢谢支持！</p>",
            random.pick(&["画质清晰", "音质优良", "附有字幕", "校对完整"])
        );
    }
    attachment(view, &mut out, listing, item);
    for number in 1..=random.between(2, 6) {
        let user = random.below(USERS.len() as u64) as usize;
        let _ = writeln!(
            out,
            "<div class=\"reply\"><a href=\"{}\">{number}楼</a> 谢谢楼主分享</div>",
            view.href(&format!("/user/{}", user + 1))
        );
    }
    out.push_str("</div>\n");
    view.close(&mut out);
    gbk(&out)
}

fn board_url(name: &str) -> String {
    format!("/gbk/board?name={}", percent(&gbk(name)))
}

/// Path and query of an attachment, its name as characters: raw GBK bytes once the page is encoded.
fn attachment_url(view: &View<'_>, listing: &Listing, item: &Item) -> String {
    format!("/gbk/attachment?aid={}&name={}", view.token(listing, item), item.title)
}

fn thread_row(view: &View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    let title = if listing.id.is_multiple_of(2) { item.title.clone() } else { percent(&gbk(&item.title)) };
    let href = view.href(&format!("/gbk/thread?tid={}&title={title}", listing.id));
    let _ = write!(
        out,
        "<tbody id=\"normalthread_{}\">\n<tr>\n<td class=\"icn\"><i class=\"fico-thread fic6 fc-l\"></i></td>\n<th class=\"new\">\
         <a href=\"javascript:;\" title=\"更多操作\" onclick=\"showMenu({{'ctrlid':this.id}})\"></a>\n\
         <a href=\"{href}\" onclick=\"atarget(this)\" class=\"s xst\">{}</a> <i title=\"附件\"></i></th>\n\
         <td class=\"by\"><cite>{}</cite><em>",
        listing.id,
        escaped(&item.title),
        escaped(USERS[usize::from(listing.uploader)]),
    );
    push_date(out, listing.at);
    let _ = write!(out, "</em></td>\n<td class=\"num\">{}</td></tr>\n</tbody>\n", size(item.payload_bytes));
}

fn attachment(view: &View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    let url = attachment_url(view, listing, item);
    let _ = match item.link {
        // The address inside is GBK, as download managers of that time expect.
        Link::Thunder => {
            let address = gbk(&format!("{}{url}", view.origin));
            writeln!(out, "<p><a href=\"{}\">迅雷专用链</a></p>", links::thunder(&address))
        }
        Link::Qqdl => {
            let address = gbk(&format!("{}{url}", view.origin));
            writeln!(out, "<p><a href='{}'>QQ旋风下载</a></p>", links::qqdl(&address))
        }
        _ if listing.id.is_multiple_of(2) => {
            writeln!(out, "<p>附件: <a href=\"{}\">{}</a></p>", view.href(&url), escaped(&item.title))
        }
        _ => {
            let token = view.token(listing, item);
            let url = format!("/gbk/attachment?aid={token}&name={}", lower_hex(&percent(&gbk(&item.title))));
            writeln!(out, "<p>附件: <A HREF='{}' TARGET=_blank>种子下载</A></p>", view.href(&url))
        }
    };
    if item.magnet {
        let _ = writeln!(out, "<p><a href=\"{}\">磁力链接</a></p>", escaped(&links::magnet(item, listing.id)));
    }
}

/// Percent-encoding in lower-case hex.
fn lower_hex(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut hex_left = 0;
    for character in url.chars() {
        out.push(if hex_left > 0 { character.to_ascii_lowercase() } else { character });
        hex_left = if character == '%' { 2_u8 } else { hex_left.saturating_sub(1) };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::titles;
    use super::*;

    #[test]
    fn every_title_of_the_section_is_wholly_in_gbk() {
        let mut random = Random::new(1);
        for number in 0..500 {
            let title = titles::gbk_title(&mut random, number);
            let (bytes, _, has_unmappable) = encoding_rs::GBK.encode(&title);
            assert!(!has_unmappable, "{title}");
            assert_ne!(bytes.as_ref(), title.as_bytes());
        }
    }

    #[test]
    fn boards_are_known_by_their_gbk_bytes_only() {
        assert_eq!(board_number(&gbk("音乐")), Some(1));
        assert_eq!(board_number("音乐".as_bytes()), None);
    }

    #[test]
    fn only_the_hex_digits_become_lower_case() {
        assert_eq!(lower_hex("/A?N=%D6%D0X"), "/A?N=%d6%d0X");
    }
}
