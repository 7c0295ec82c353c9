//! The demo site's own pages, as sent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use encoding_rs::UTF_8;
use gleaner_demo::{DemoOptions, start};
use gleaner_page::noise::Holds;

use super::mutate::{Site, Specimen, Written, regex};

/// An upper bound of the demo site's page size.
const PAGE_BYTES: u64 = 1 << 20;

/// A page as a visitor with a cookie gets it: without a session id in its links.
fn body(address: SocketAddr, path: &str) -> String {
    let mut connection = TcpStream::connect(address).expect("the demo site listens");
    connection.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    write!(connection, "GET {path} HTTP/1.0\r\nhost: {address}\r\ncookie: demo_sid=1\r\n\r\n").expect("a request");
    let mut bytes = Vec::new();
    connection.take(PAGE_BYTES).read_to_end(&mut bytes).expect("an answer");
    let answer = String::from_utf8(bytes).expect("UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an end of the headers");
    assert!(head.lines().next().is_some_and(|line| line.contains(" 200")), "{path}: {head}");
    body.to_owned()
}

/// The main index and details of a small demo site.
pub fn sites() -> Vec<Site> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let site = runtime.block_on(start(DemoOptions { torrents: 200, ..DemoOptions::default() })).expect("a site");
    let indexes = ["/", "/?page=2", "/?page=3"].map(|path| body(site.address, path)).to_vec();
    // Numbers of six digits are bait, in comments and scripts.
    let detail = regex(r#"href="(/details/\d{1,5}-[a-z0-9-]+)">"#);
    let listed = indexes.concat();
    let details: Vec<String> = detail
        .captures_iter(&listed)
        // Hidden rows lead nowhere.
        .filter(|found| !found[1].starts_with("/details/900"))
        .take(4)
        .map(|found| body(site.address, &found[1]))
        .collect();
    assert_eq!(details.len(), 4);
    runtime.block_on(site.stop());
    let row = regex(r#"(?s)<tr class="row\d" id="tor_\d+">.*?</tr>\n"#);
    let cut = |pages: Vec<String>, row| -> Vec<Specimen> {
        pages.iter().enumerate().map(|(url, text)| Specimen::cut(url as u64, text, row)).collect()
    };
    let counters = vec![
        regex(r#"(class="(?:seed|leech)">)(\d+)(<)"#),
        regex(r"(>)(\d+)( comments</a>)"),
        regex(r"(<td>)(\d+)( seeders)"),
        regex(r"(seeders, )(\d+)( leechers)"),
        regex(r"(view )(\d+)( )"),
        regex(r"(/ads/(?:click\?id=|frame\?))(\d+)()"),
        regex(r"(generated in 0\.0)(\d+)( s)"),
    ];
    let times: Vec<(regex::Regex, Written)> = vec![
        (regex("search_id=[0-9a-f]+"), |random| format!("search_id={:016x}", random.number())),
        (regex(r"/dl\?t=[A-Za-z0-9%]+"), |random| format!("/dl?t=MTJ8{:016x}fDE3%3D", random.number())),
    ];
    let matters: fn(&str) -> bool =
        |href| ["/details/", "/t/", "/dl?"].iter().any(|part| href.replace("&#x2F;", "/").contains(part));
    let site = |name, holds, pages, values| Site {
        name,
        encoding: UTF_8,
        holds,
        matters,
        counters: counters.clone(),
        times: times.clone(),
        values,
        has_session: false,
        pages,
    };
    vec![
        site(
            "demo list",
            Holds::List,
            cut(indexes, Some(&row)),
            vec![
                ("title", regex(r#"(?is)<td class="name">(?:<!--.*?-->)?<a[^>]*>([^<]*)</a>"#)),
                ("size", regex(r#"<td align="right">([^<]*)</td>"#)),
            ],
        ),
        site(
            "demo detail",
            Holds::Record,
            cut(details, None),
            vec![
                ("title", regex(r#"<h1 class="maintitle"><a [^>]*>([^<]*)</a>"#)),
                ("infohash", regex(r"Info hash</td><td>[^<]*?([0-9a-f]{40})")),
                ("size", regex(r"Size</td><td>([^<]*)</td>")),
            ],
        ),
    ]
}
