//! A response under construction: session id, tokens, and the frame around every page.
//!
//! Pages are written by hand, like those of the sites they resemble: quotes of every kind, capitals, text in
//! comments and scripts that only looks like links. Everything that comes from data is escaped.

use std::fmt::Write as _;

use super::catalogue::{Catalogue, Item, Listing};
use super::escape::{escaped, percent};
use super::links;
use super::random::Random;
use super::titles::{CATEGORIES, USERS};

/// First number of the missing detail pages that only comments and scripts name.
pub(super) const BAIT_FIRST: u32 = 900_000;

/// The state for writing a page. One for each request.
pub(super) struct View<'a> {
    /// `http://host:port`
    pub origin: &'a str,
    pub catalogue: &'a Catalogue,
    /// Session id to put on every link: set on a visit without cookie (as phpBB does).
    pub sid: Option<String>,
    /// Number of this view; no two are equal.
    pub number: u64,
    /// Random numbers that differ from view to view.
    pub random: Random,
}

impl View<'_> {
    /// `url` of this site with the session id, if there is one.
    pub(super) fn with_session(&self, url: &str) -> String {
        let Some(sid) = &self.sid else { return url.to_owned() };
        let (page, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
        let separator = if page.contains('?') { '&' } else { '?' };
        format!("{page}{separator}sid={sid}{fragment}")
    }

    /// The same, escaped for an attribute.
    pub(super) fn href(&self, url: &str) -> String {
        match &self.sid {
            None => escaped(url),
            Some(_) => escaped(&self.with_session(url)),
        }
    }

    /// Path of a download, with a token of this view.
    pub(super) fn download(&self, listing: &Listing, item: &Item) -> String {
        format!("/dl?t={}", self.token(listing, item))
    }

    /// A token of this view, percent-encoded.
    pub(super) fn token(&self, listing: &Listing, item: &Item) -> String {
        percent(links::token(listing.id, &item.infohashes, self.number).as_bytes())
    }

    /// Everything above the content. `head` is inserted into `<head>` unchanged.
    pub(super) fn open(&mut self, out: &mut String, title: &str, head: &str) {
        let search = self.random.number();
        // Writing into a String cannot fail, here and below.
        let _ = write!(
            out,
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \
             \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n<html lang=\"en\">\n<head>\n{head}\
             <title>{} :: Demo Tracker</title>\n\
             <link rel=\"alternate\" type=\"application/rss+xml\" title=\"RSS\" href=\"/rss\" />\n\
             <link rel=\"shortcut icon\" href=\"/favicon.ico\">\n{STYLE_AND_SCRIPT}</head>\n<body>\n\
             <div id=\"container\">\n<div id=\"header\"><a name=\"top\" id=\"top\"></a>\n<a href=\"{}\"><img src=\"/img/logo.png\" \
             alt=\"Demo Tracker\" /></a>\n",
            escaped(title),
            self.href("/"),
        );
        let _ = write!(
            out,
            "<!-- old menu: <a href=\"/details/{BAIT_FIRST}-old-layout\">layout 1.0</a> <a href='/?page=999999'>all</a> -->\n\
             <ul class=\"menu top_links\">\n<li><a href=\"{}\" class=\"portal\">Torrents</a></li>\n",
            self.href("/"),
        );
        for (name, label) in CATEGORIES {
            let href = self.href(&format!("/cat/{name}"));
            let _ = writeln!(out, "<li><a href='{href}'>{}</a></li>", escaped(label));
        }
        let link = |url: &str, label: &str| format!("<li><a href=\"{}\">{label}</a></li>\n", self.href(url));
        for (url, label) in MENU {
            out.push_str(&link(url, label));
        }
        out.push_str(&link(&format!("/search?search_id={search:016x}"), "New posts since your last visit"));
        out.push_str(&link("/calendar?month=2026-11", "Calendar"));
        let _ = write!(
            out,
            "</ul>\n<noscript><p>Your browser has no scripts: the <a href=\"{}\">plain index</a> works without.</p></noscript>\n\
             <form action=\"/search\" method=\"get\"><input type=\"text\" name=\"q\" size=25><input type=submit value=Search></form>\n\
             </div>\n<div class=\"banner\"><a href=\"{}\" target=_blank rel=\"nofollow sponsored\">\
             <img src=\"/ads/banner.gif\" width=728 height=90 alt=\"Advertisement\"></a></div>\n",
            self.href("/"),
            self.advert(),
        );
    }

    /// Everything below the content.
    pub(super) fn close(&mut self, out: &mut String) {
        out.push_str("<div id=\"footer\">\n<div class=\"online\">Online: ");
        for number in 0..8 {
            let user = self.random.below(USERS.len() as u64);
            // `user` is below the table's length.
            let name = escaped(USERS[user as usize]);
            let href = self.href(&format!("/user/{}", user + 1));
            let comma = if number == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}<a href=\"{href}\" class=\"user\">{name}</a>");
        }
        out.push_str("</div>\n<table class=\"calendar\"><tr>");
        for day in 15..=21 {
            let href = self.href(&format!("/calendar?day=2026-11-{day}"));
            let _ = write!(out, "<td><a href='{href}'>{day}</a></td>");
        }
        let _ = write!(
            out,
            "</tr></table>\n<p><a href=\"{}\">Login</a> | <a href=\"{}\">Register</a> | <A HREF=\"{}\">Log out [ guest ]</A> | \
             <a href=\"mailto:admin@demo.example\">Contact</a> | <a href=\"javascript:window.scrollTo(0,0)\">Top</a> | \
             <a href=\"#top\">Up</a> | <a href=\"{}\">Staff area</a></p>\n<iframe src=\"/ads/frame?{}\"></iframe>\n\
             <p>Friends: <a href=\"https://tracker.example.org/\">example.org</a> <a href=\"//mirror.example.net/pub/\">mirror</a> \
             <a href=\"{}/?page=2\">backup domain</a> <a href=\"{}\">sponsor</a></p>\n\
             <p class=\"copyright\">&copy; 2026 Demo Tracker &middot; view {} &middot; generated in 0.0{} s</p>\n\
             </div>\n</div>\n</body>\n</html>\n",
            self.href("/login"),
            self.href("/register"),
            self.href("/logout"),
            self.href("/private/"),
            self.random.below(1_000_000),
            self.other_origin(),
            self.advert(),
            self.number,
            self.random.below(90) + 10,
        );
    }

    /// The site under another host name, which its rule file does not contain: `http://localhost:port`.
    pub(super) fn other_origin(&self) -> String {
        let port = self.origin.rsplit(':').next().unwrap_or_default();
        format!("http://localhost:{port}")
    }

    /// A link to an advertisement, different each time.
    pub(super) fn advert(&mut self) -> String {
        let campaign = self.random.below(1_000_000);
        self.href(&format!("/ads/click?id={campaign}&to=https%3A%2F%2Fshop.example.com%2F"))
    }
}

/// Path of a detail page; letters of other scripts percent-encoded.
pub(super) fn detail_path(listing: &Listing, item: &Item) -> String {
    format!("/details/{}-{}", listing.id, item.slug)
}

const MENU: [(&str, &str); 6] = [
    ("/archive/", "Archive"),
    ("/gbk/forum", "中文区"),
    ("/news", "News"),
    ("/news/17-server-move", "Server move on Sunday"),
    ("/help", "Help &amp; FAQ"),
    ("/user/list", "Members"),
];

/// Styles and scripts of realistic length, with strings that mislead a link finder.
const STYLE_AND_SCRIPT: &str = r#"<style type="text/css">
<!--
body { background: #eee url(/img/bg.png) repeat-x; font: 12px Verdana, Arial, sans-serif; color: #222; margin: 0 }
#container { width: 980px; margin: 0 auto } #header { padding: 12px 0 } .menu li { display: inline; padding: 0 6px }
.forumline { border: 1px solid #98aab1; background: #fff; border-collapse: collapse; width: 100% }
.row1 { background: #efefef } .row2 { background: #dee3e7 } .row3 { background: #d1d7dc } td { padding: 3px 4px }
.seed { color: #060 } .leech { color: #900 } .pinned { background: #ffe } .small { font-size: 10px }
a.tt:link, a.tt:visited { color: #006699; text-decoration: none } a.tt:hover { color: #dd6900; text-decoration: underline }
.post { border: 1px solid #ccc; margin: 8px 0; padding: 8px } .sign { color: #777; border-top: 1px dashed #ccc }
.pagination a, .pagination b { padding: 2px 5px; border: 1px solid #bbb; margin: 0 1px } .banner { text-align: center }
-->
</style>
<script type="text/javascript">
<!--
	var lang = { unknown_error: "An unknown error has occurred.", confirm: "Please confirm", loading: "Loading. <br />Please wait&hellip;" };
	var cookieDomain = "", cookiePath = "/", cookiePrefix = "", cookieSecureFlag = "0";
	var rowTemplate = '<tr><td><a href="/details/900001-template-row">__title__</a></td><td><a href=\'/dl?t=__token__\'>get</a></td></tr>';
	function popup(url) { window.open(url, "_blank", "width=520,height=340,scrollbars=yes"); return false; }
	function toggle(id) { var e = document.getElementById(id); e.style.display = e.style.display == "none" ? "" : "none"; }
	function countdown(id, seconds) {
		if (seconds < 1) { toggle(id); return; }
		setTimeout(function () { countdown(id, seconds - 1); }, 1000);
	}
	function rate(id, stars) { /* document.write("<a href=/details/900002-rated>rated</a>"); */ new Image().src = "/user/rate?id=" + id + "&s=" + stars; }
// -->
</script>
"#;
