//! The page of one torrent: facts, the link to the torrent, description, files, comments, similar ones.

use std::fmt::Write as _;

use super::catalogue::{Item, Listing};
use super::delivery::Link;
use super::escape::{escaped, push_date, push_escaped, size};
use super::links;
use super::random::{Random, mix};
use super::titles::{self, USERS};
use super::view::{View, detail_path};

/// Files listed on the page; the rest is counted.
const FILES_SHOWN: usize = 40;

pub(super) fn detail(view: &mut View<'_>, listing: &Listing, item: &Item) -> String {
    let mut out = String::with_capacity(16 << 10);
    view.open(&mut out, &item.title, "<meta charset=utf-8>\n");
    let _ = write!(
        out,
        "<h1 class=\"maintitle\"><a href=\"{}\">{}</a></h1>\n<p><a href=\"{}\" rel=\"nofollow\">Printer friendly</a></p>\n",
        view.href(&detail_path(listing, item)),
        escaped(&item.title),
        view.href(&format!("{}?view=print", detail_path(listing, item))),
    );
    facts(view, &mut out, listing, item);
    way_to_the_torrent(view, &mut out, listing, item);
    description(view, &mut out, listing, item);
    files(&mut out, item);
    comments(view, &mut out, listing);
    similar(view, &mut out, listing);
    view.close(&mut out);
    out
}

fn facts(view: &View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    let (category, label) = titles::CATEGORIES[usize::from(item.category)];
    let uploader = usize::from(listing.uploader);
    let _ = write!(
        out,
        "<table class=\"forumline\">\n<tr><td class=\"row1\">Info hash</td><td>{}</td></tr>\n\
         <tr><td class=\"row1\">Category</td><td><a href=\"{}\">{}</a></td></tr>\n\
         <tr><td class=\"row1\">Size</td><td>{}</td></tr>\n<tr><td class=\"row1\">Uploaded by</td><td><a href=\"{}\">{}</a></td></tr>\n\
         <tr><td class=\"row1\">Added</td><td>",
        item.infohashes,
        view.href(&format!("/cat/{category}")),
        escaped(label),
        size(item.payload_bytes),
        view.href(&format!("/user/{}", uploader + 1)),
        escaped(USERS[uploader]),
    );
    push_date(out, listing.at);
    let _ = write!(
        out,
        "</td></tr>\n<tr><td class=\"row1\">Peers</td><td>{} seeders, {} leechers</td></tr>\n</table>\n",
        listing.seeders, listing.leechers
    );
}

/// The only link that leads to the torrent, and a magnet if the torrent has one.
fn way_to_the_torrent(view: &mut View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    out.push_str("<div class=\"download\" id=\"dl\">\n");
    let path = view.download(listing, item);
    // Download managers have no session: the encoded address is complete and has none.
    let address = format!("{}{path}", view.origin);
    let _ = match item.link {
        Link::Token if listing.id.is_multiple_of(3) => {
            writeln!(out, "<A HREF='{}'>Download torrent</A>", view.href(&path))
        }
        Link::Token => {
            let href = view.href(&path);
            let popup = "onclick=\"return popup('/ads/pop')\"";
            writeln!(out, "<a class=\"dl-stub\" href=\"{href}\" {popup}><b>Download</b></a>")
        }
        Link::Noscript => {
            let href = view.href(&path);
            out.push_str("<script>countdown('wait', 15);</script>\n");
            writeln!(out, "<noscript><div id=wait>Direct link: <a href=\"{href}\">get it</a></div></noscript>")
        }
        Link::Thunder => writeln!(out, "<a href=\"{}\">迅雷下载</a>", links::thunder(address.as_bytes())),
        Link::Flashget => writeln!(out, "<a href='{}'>快车下载</a>", links::flashget(address.as_bytes(), None)),
        Link::FlashgetTagged => {
            let link = escaped(&links::flashget(address.as_bytes(), Some("2931")));
            writeln!(out, "<a href=\"{link}\">快车下载</a>")
        }
        Link::Qqdl => writeln!(out, "<a href=\"{}\">QQ旋风</a>", links::qqdl(address.as_bytes())),
        Link::Magnet => Ok(()),
    };
    if item.magnet {
        let _ = writeln!(out, "<a href=\"{}\" class=\"magnet\">Magnet</a>", escaped(&links::magnet(item, listing.id)));
    }
    let _ = write!(
        out,
        "<a href=\"{}\" class=\"big button\">DOWNLOAD NOW (sponsored)</a>\n\
         <!-- mirror: <a href=\"/dl?t=OTAwMDAzfDAwMDAwMDAwfDE3OTUxMzI4MDA%3D\">mirror</a> -->\n\
         <textarea rows=2 cols=70 readonly><a href=\"/details/900004-embed-code\">{}</a></textarea>\n</div>\n",
        view.advert(),
        escaped(&item.title),
    );
}

fn description(view: &mut View<'_>, out: &mut String, listing: &Listing, item: &Item) {
    let mut random = Random::new(mix(item.blueprint.seed, 1));
    out.push_str("<h2>Description</h2>\n<div class=\"post\" id=\"descr\">\n");
    for number in 0..random.between(2, 4) {
        out.push_str("<p>");
        push_escaped(out, &titles::paragraph(&mut random));
        if number == 1 {
            let _ = write!(
                out,
                " <a href=\"https://www.example.com/release/{}\" target=\"_blank\">Homepage</a>",
                listing.id
            );
        }
        out.push_str("</p>\n");
    }
    if listing.id.is_multiple_of(5) {
        staff_picks(view, out);
    }
    out.push_str("</div>\n");
}

/// Links into the area that robots.txt disallows: direct ones, and old addresses that redirect there.
fn staff_picks(view: &View<'_>, out: &mut String) {
    let catalogue = view.catalogue;
    out.push_str("<ul class=\"staff\">\n");
    for (listing, item) in catalogue.private.iter().rev().take(3).filter_map(|&id| catalogue.listing(id)) {
        let _ = writeln!(
            out,
            "<li><a href=\"{}\">{}</a> <a href=\"{}\">[dl]</a></li>",
            view.href(&format!("/private{}", detail_path(listing, item))),
            escaped(&item.title),
            view.href(&format!("/private{}", view.download(listing, item))),
        );
        let _ = writeln!(out, "<li><a href=\"{}\">old link</a></li>", view.href(&format!("/t/{}", listing.id)));
    }
    out.push_str("</ul>\n");
}

fn files(out: &mut String, item: &Item) {
    let payload = item.blueprint.payload();
    let _ = write!(out, "<h2>Files ({})</h2>\n<table class=\"filelist\">\n", payload.files.len());
    for file in payload.files.iter().take(FILES_SHOWN) {
        out.push_str("<tr><td>");
        push_escaped(out, &file.path.join("/"));
        let _ = writeln!(out, "</td><td align=right>{}</td></tr>", size(file.bytes));
    }
    out.push_str("</table>\n");
}

fn comments(view: &mut View<'_>, out: &mut String, listing: &Listing) {
    let mut random = Random::new(mix(view.catalogue.seed ^ 0xc0, u64::from(listing.id)));
    out.push_str("<h2 id=\"comments\">Comments</h2>\n");
    for number in 1..=random.between(3, 8) {
        let user = random.below(USERS.len() as u64) as usize;
        let _ = write!(
            out,
            "<div class=\"post\" id=\"c{number}\"><a href=\"{}\" class='user'>{}</a> <span class=\"small\">#{number}, ",
            view.href(&format!("/user/{}", user + 1)),
            escaped(USERS[user]),
        );
        push_date(out, listing.at + random.below(900_000) as i64);
        out.push_str("</span><br />\n");
        push_escaped(out, titles::reply(&mut random));
        let _ = write!(
            out,
            "\n<div class=\"sign\"><a href=\"{}\">report</a> | <a href=\"#c{number}\">link</a></div></div>\n",
            view.href(&format!("/user/report?post={}&c={number}", listing.id)),
        );
    }
}

/// Detail pages that the main index lists anyway.
fn similar(view: &View<'_>, out: &mut String, listing: &Listing) {
    let catalogue = view.catalogue;
    let mut random = Random::new(mix(catalogue.seed ^ 0x51, u64::from(listing.id)));
    out.push_str("<h2>People who got this also got</h2>\n<ul>\n");
    for _ in 0..6 {
        let at = random.below(catalogue.main.len() as u64) as usize;
        let Some((other, item)) = catalogue.main.get(at).and_then(|&id| catalogue.listing(id)) else {
            continue;
        };
        if item.old_address {
            continue;
        }
        let href = view.href(&detail_path(other, item));
        let _ = writeln!(out, "<li><a href=\"{href}\">{}</a></li>", escaped(&item.title));
    }
    out.push_str("</ul>\n");
}
