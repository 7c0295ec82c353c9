//! Synthetic pages in the style of common programs: a tracker with session ids in its links, a forum in GBK, a directory listing, and a
//! page of one torrent.
//! one torrent.

use std::fmt::Write as _;

use encoding_rs::{GBK, UTF_8};
use gleaner_page::noise::Holds;

use super::mutate::{Random, Site, Specimen, regex};

/// All of them.
pub fn sites() -> Vec<Site> {
    vec![tracker(), forum(), directory(), detail()]
}

/// Pages of rows; `row` writes the row of a number.
fn list(
    pages: usize,
    rows: usize,
    head: &str,
    row: impl Fn(usize, &mut Random) -> String,
    found: &str,
) -> Vec<Specimen> {
    let mut random = Random(11);
    let found = regex(found);
    let page = |page: usize| {
        let mut text = format!("<html><head><title>List {page}</title></head><body>{head}<table>\n");
        for number in 0..rows {
            text += &row(page * rows + number, &mut random);
        }
        text += "</table><p class=pages><a href=\"?p=1\">1</a> <a href=\"?p=2\">2</a></p></body></html>";
        Specimen::cut(page as u64, &text, Some(&found))
    };
    (0..pages).map(page).collect()
}

const WORDS: [&str; 8] = ["Harbour", "Meadow", "Lantern", "Orchard", "Compass", "Granite", "Thistle", "Willow"];

fn tracker() -> Site {
    let row = |number: usize, random: &mut Random| {
        let hash = format!("{:016x}{:016x}{:08x}", random.number(), random.number(), random.number() >> 32);
        format!(
            "<tr class=t><td><a href=\"index.php?page=details&amp;id={hash}\">{} {number} disc</a></td>\
             <td><a href=\"download.php?id={hash}\">get</a></td><td class=size>{}.{} GB</td>\
             <td class=seed>{}</td><td class=leech>{}</td></tr>\n",
            WORDS[number % WORDS.len()],
            10 + random.below(80),
            10 + random.below(80),
            random.below(300),
            random.below(90),
        )
    };
    let head = "<div id=menu><a href=\"index.php?page=home\">Home</a></div><p>Peers: <b>812</b></p>";
    Site {
        name: "tracker with sessions",
        encoding: UTF_8,
        holds: Holds::List,
        matters: |href| href.contains("page=details") || href.contains("download.php"),
        counters: vec![regex(r"(class=(?:seed|leech)>)(\d+)(<)"), regex(r"(Peers: <b>)(\d+)(<)")],
        times: Vec::new(),
        values: vec![
            ("title", regex(r#"page=details&amp;id=[0-9a-f]{40}">([^<]*)</a>"#)),
            ("size", regex(r"class=size>([^<]*)<")),
        ],
        has_session: true,
        pages: list(2, 15, head, row, r"<tr class=t>.*?</tr>\n"),
    }
}

fn forum() -> Site {
    let row = |number: usize, random: &mut Random| {
        let thread = 40_000 + number;
        format!(
            "<tr class=thread id=\"thread_{thread}\"><td><a href=\"thread-{thread}-1-1.html\">种子 {} {number}</a></td>\
             <td>{}</td><td>{}</td><td><span>{}&nbsp;分钟前</span></td></tr>\n",
            WORDS[number % WORDS.len()],
            random.below(90),
            random.below(5_000),
            1 + random.below(58),
        )
    };
    Site {
        name: "forum in GBK",
        encoding: GBK,
        holds: Holds::List,
        matters: |href| href.starts_with("thread-"),
        counters: vec![regex(r"(</td><td>)(\d+)(</td>)")],
        times: vec![(regex(r">\d+&nbsp;(?:分钟|小时)前<"), |random| {
            let unit = if random.below(2) == 0 { "分钟" } else { "小时" };
            format!(">{}&nbsp;{unit}前<", 1 + random.below(58))
        })],
        values: vec![("title", regex(r#"-1-1\.html">([^<]*)</a>"#))],
        has_session: false,
        pages: list(2, 20, "<h1>论坛</h1>", row, r"<tr class=thread .*?</tr>\n"),
    }
}

fn directory() -> Site {
    let mut text = String::from(
        "<html><head><title>Index of /pub/</title></head><body><h1>Index of /pub/</h1><pre><a href=\"../\">../</a>\n",
    );
    for number in 0..40 {
        let name = format!("{}-{number}.torrent", WORDS[number % WORDS.len()].to_lowercase());
        let _ = writeln!(
            text,
            "<a href=\"{name}\">{name}</a>        21-Nov-2026 10:{:02}      {}",
            number % 60,
            20_000 + number * 37
        );
    }
    text += "</pre></body></html>";
    let row = regex(r#"<a href="[^"]*\.torrent">[^<]*</a>[^<\n]*\n"#);
    Site {
        name: "directory",
        encoding: UTF_8,
        holds: Holds::List,
        matters: |href| href.ends_with(".torrent"),
        counters: Vec::new(),
        times: Vec::new(),
        values: vec![("title", regex(r#"\.torrent">([^<]*)\.torrent</a>"#)), ("size", regex(r" (\d+)\s*$"))],
        has_session: false,
        pages: vec![Specimen::cut(0, &text, Some(&row))],
    }
}

fn detail() -> Site {
    let page = |url: u64| {
        let text = format!(
            "<html><head><title>{word} {url}</title></head><body><h1>{word} number {url}</h1><table>\
             <tr><td>Info hash<td class=hash>{:040x}</td></tr><tr><td>Size<td class=size>{}.{} MB</td></tr>\
             <tr><td>Peers<td><b class=n>{}</b> seeders, <b class=n>{}</b> leechers</td></tr></table>\
             <p><a href=\"/get/{}.torrent\">Download</a></p></body></html>",
            u128::from(url + 3).pow(9) * 7_919,
            100 + url,
            10 + url,
            url * 3,
            url * 2,
            7_000 + url,
            word = WORDS[url as usize],
        );
        Specimen::cut(url, &text, None)
    };
    Site {
        name: "torrent's page",
        encoding: UTF_8,
        holds: Holds::Record,
        matters: |href| href.ends_with(".torrent"),
        counters: vec![regex(r"(class=n>)(\d+)(<)")],
        times: Vec::new(),
        values: vec![
            ("title", regex(r"<h1>([^<]*)</h1>")),
            ("infohash", regex("class=hash>([0-9a-f]{40})<")),
            ("size", regex(r"class=size>([^<]*)<")),
            ("download", regex(r"/get/(\d+)\.torrent")),
        ],
        has_session: false,
        pages: (0..4).map(page).collect(),
    }
}
