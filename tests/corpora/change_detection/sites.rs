//! The pages to change: lists and details.

use std::fs;

use encoding_rs::{Encoding, GBK, UTF_8};
use gleaner_page::noise::Holds;
use regex::Regex;

use super::mutate::{Random, Site, Specimen, regex};
use crate::corpus;

fn read(folder: &str, name: &str, encoding: &'static Encoding) -> String {
    let bytes = fs::read(corpus("pages").join(folder).join(name)).expect("a page");
    encoding.decode(&bytes).0.into_owned()
}

fn list(folder: &str, names: &[&str], encoding: &'static Encoding, row: &str) -> Vec<Specimen> {
    let row = regex(row);
    let cut = |(url, name): (usize, &&str)| Specimen::cut(url as u64, &read(folder, name, encoding), Some(&row));
    names.iter().enumerate().map(cut).collect()
}

/// A site whose rows need only their own text.
fn bare(name: &'static str, pages: Vec<Specimen>, values: Vec<(&'static str, Regex)>) -> Site {
    Site {
        name,
        encoding: UTF_8,
        holds: Holds::List,
        matters: |href| href.ends_with(".torrent"),
        counters: Vec::new(),
        times: Vec::new(),
        values,
        has_session: false,
        pages,
    }
}

/// All of them.
pub fn all() -> Vec<Site> {
    let mut sites = vec![xbtit(), mybb(), discuz()];
    let name = || regex(r#"<a href="[^"]*\.torrent">(?:<[^>]*>)?\d*_?([^<]+)"#);
    sites.push(bare(
        "nginx list",
        list("autoindex", &["8121.html"], UTF_8, r#"<a href="[^"]*\.torrent">[^<]*</a>[^<\n]*\n"#),
        vec![("title", name()), ("size", regex(r" (\d+)\s*$"))],
    ));
    sites.push(bare(
        "lighttpd list",
        list("autoindex", &["8122.html"], UTF_8, r#"<tr><td class="n"><a href="[^"]*\.torrent".*?</tr>\n?"#),
        vec![("title", name()), ("size", regex(r#"<td class="s">([^<]*)</td>"#))],
    ));
    sites.push(bare(
        "apache list",
        list(
            "autoindex",
            &["8108.html"],
            UTF_8,
            r#"<tr><td valign="top">&nbsp;</td><td><a href="[^"]*\.torrent".*?</tr>\n?"#,
        ),
        vec![("title", name()), ("size", regex(r#"<td align="right">\s*([\d.]+[KMG]?)\s*</td><td>&nbsp;"#))],
    ));
    sites.push(bare(
        "python list",
        list("autoindex", &["8123.html"], UTF_8, r#"<li><a href="[^"]*\.torrent">[^<]*</a></li>\n?"#),
        vec![("title", name())],
    ));
    sites.push(bare(
        "h5ai list",
        list("h5ai", &["linux.rendered.html"], UTF_8, r#"(?s)<li class="item file">.*?</li>"#),
        vec![
            ("title", regex(r#"<span class="label"[^>]*>([^<]*)</span>"#)),
            ("size", regex(r#"<span class="size"[^>]*>([^<]*)</span>"#)),
        ],
    ));
    sites.extend(details());
    sites
}

fn xbtit() -> Site {
    Site {
        name: "XBTIT list",
        encoding: UTF_8,
        holds: Holds::List,
        matters: |href| href.contains("page=torrent-details") || href.contains("download.php"),
        counters: vec![
            regex(r#"(class="lista #[0-9A-F]{6}"[^>]*>)(\d+)(<)"#),
            regex(r#"((?:Users|torrents|seeds|leechers|peers|seeds/leechers):</td><td [^>]*>)(\d+)(%?</td>)"#),
            regex(r#"(class="blocklist" align="right">)(\d+)(</td>)"#),
            regex(r"((?:&uarr;|Traffic:).{0,60}?[ ;>]|&darr;&nbsp;)([\d.]+)( KB)"),
        ],
        times: Vec::new(),
        values: vec![
            ("title", regex(r#"title="View details: [^"]*">([^<]*)</a>"#)),
            ("infohash", regex(r#"torrent-details&amp;id=([0-9a-f]{40})"#)),
        ],
        has_session: true,
        pages: list(
            "xbtit",
            &["torrents.html", "torrents_p2.html"],
            UTF_8,
            r#"(?s)<tr>\s*<td align="center" width="45" class="lista".*?</tr>"#,
        ),
    }
}

fn mybb() -> Site {
    Site {
        name: "MyBB list",
        encoding: UTF_8,
        holds: Holds::List,
        matters: |href| href.contains("showthread.php"),
        counters: vec![
            regex(r#"(return false;">)(\d+)(</a></td>)"#),
            regex(r#"(forumdisplay_regular">)(\d+)(</td>)"#),
            regex(r"()(\d+)( Vote\(s\) - 0 out of 5)"),
        ],
        times: vec![
            (regex(r">(?:Less than )?\d+ (?:minute|hour)s? ago<"), |random| match random.below(3) {
                0 => ">Less than 1 minute ago<".to_owned(),
                1 => format!(">{} minutes ago<", 2 + random.below(58)),
                _ => format!(">{} hours ago<", 2 + random.below(20)),
            }),
            (regex(r"</strong> 11-21-2026, \d\d:\d\d [AP]M"), |random| {
                format!("</strong> 11-21-2026, {:02}:{:02} AM", 1 + random.below(12), random.below(60))
            }),
        ],
        values: vec![("title", regex(r#"id="tid_\d+"><a href="[^"]*">([^<]*)</a>"#))],
        has_session: false,
        pages: list(
            "mybb",
            &["forumdisplay.html", "forumdisplay_p2.html"],
            UTF_8,
            r#"(?s)<tr class="inline_row">.*?</tr>"#,
        ),
    }
}

fn discuz() -> Site {
    Site {
        name: "Discuz! list, GBK",
        encoding: GBK,
        holds: Holds::List,
        matters: |href| href.contains("mod=viewthread"),
        counters: vec![
            regex(r#"(class="xi2">)(\d+)(</a><em>)"#),
            regex(r"(</a><em>)(\d+)(</em>)"),
            regex(r"(rand=)(\d+)()"),
            regex(r"(, )(\d+)( queries)"),
        ],
        times: vec![
            (regex(r">\d+&nbsp;[^<\d]{1,3}前<"), |random| match random.below(3) {
                0 => format!(">{}&nbsp;秒前<", 1 + random.below(59)),
                1 => format!(">{}&nbsp;分钟前<", 1 + random.below(59)),
                _ => format!(">{}&nbsp;小时前<", 1 + random.below(9)),
            }),
            (regex(r"GMT\+8, 2026-11-21 \d\d:\d\d"), |random| {
                format!("GMT+8, 2026-11-21 {:02}:{:02}", random.below(24), random.below(60))
            }),
            (regex(r"Processed in 0\.\d+ second"), |random| {
                format!("Processed in 0.{:06} second", random.below(1_000_000))
            }),
        ],
        values: vec![("title", regex(r#"class="s xst">([^<]*)</a>"#))],
        has_session: false,
        pages: list(
            "discuzgbk",
            &["forumdisplay.html", "forumdisplay_p2.html"],
            GBK,
            r#"(?s)<tbody id="normalthread_\d+">.*?</tbody>\s*"#,
        ),
    }
}

/// Pages of one torrent; one page of each program was stored, and others of its class are derived from it.
fn details() -> Vec<Site> {
    let site = |name, folder, file, encoding, matters, counters, times, values: Vec<(&'static str, Regex)>| {
        let mut site = Site {
            name,
            encoding,
            holds: Holds::Record,
            matters,
            counters,
            times,
            values,
            has_session: false,
            pages: Vec::new(),
        };
        let first = Specimen::cut(0, &read(folder, file, encoding), None);
        let mut random = Random(7);
        for url in 0..4 {
            let mut page = Specimen { url, ..first.clone() };
            for _ in 0..url * 12 {
                site.change(&mut page, &mut random);
            }
            site.pages.push(page);
        }
        site
    };
    vec![
        site(
            "XBTIT detail",
            "xbtit",
            "details.html",
            UTF_8,
            |href| href.contains("download.php"),
            vec![
                regex(r"((?:Seeds|Leechers|Seeders|Peers):? ?</?[^>]*> ?)(\d+)()"),
                regex(r#"((?:Users|torrents|seeds|leechers|peers|seeds/leechers):</td><td [^>]*>)(\d+)(%?</td>)"#),
            ],
            Vec::new(),
            vec![
                ("title", regex(r#"\.torrent">([^<]*)</a>"#)),
                ("infohash", regex(r#"(?s)Info Hash</td>\s*<td[^>]*>\s*([0-9a-f]{40})"#)),
                ("download", regex(r#"download\.php\?id=([0-9a-f]{40})"#)),
                ("size", regex(r#"(?s)Size</td>\s*<td[^>]*>\s*([\d.]+ [KMG]?B)"#)),
            ],
        ),
        site(
            "MyBB thread",
            "mybb",
            "showthread_member.html",
            UTF_8,
            |href| href.contains("attachment.php"),
            vec![regex(r"(Downloads: )(\d+)(\))"), regex(r"(Posts: |Threads: )(\d+)()")],
            vec![(regex(r"</strong> 11-21-2026, \d\d:\d\d [AP]M"), |random| {
                format!("</strong> 11-21-2026, {:02}:{:02} AM", 1 + random.below(12), random.below(60))
            })],
            vec![
                ("title", regex(r#"<title>([^<]*)</title>"#)),
                ("attachment", regex(r#"attachment\.php\?aid=(\d+)"#)),
                ("size", regex(r"\(Size: (\d+) bytes")),
            ],
        ),
        site(
            "Discuz! thread, GBK",
            "discuzgbk",
            "viewthread_member.html",
            GBK,
            |href| href.contains("mod=attachment"),
            vec![
                regex(r"(rand=)(\d+)()"),
                regex(r"(, )(\d+)( queries)"),
                regex(r#"(<span class="xi1">)(\d+)(</span>)"#),
            ],
            vec![
                (regex(r"GMT\+8, 2026-11-21 \d\d:\d\d"), |random| {
                    format!("GMT+8, 2026-11-21 {:02}:{:02}", random.below(24), random.below(60))
                }),
                (regex(r"Processed in 0\.\d+ second"), |random| {
                    format!("Processed in 0.{:06} second", random.below(1_000_000))
                }),
            ],
            vec![
                ("title", regex(r#"<span id="thread_subject">([^<]*)</span>"#)),
                ("size", regex(r"\(([\d.]+ (?:Bytes|KB|B))")),
            ],
        ),
    ]
}
