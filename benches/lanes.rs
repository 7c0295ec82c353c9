//! How evenly ELFHash and xxh3 distribute a site's URLs over lanes (ALGORITHMS §9): the crawl waits for a lane with more
//! than its share.
//!
//! ```text
//! cargo bench --bench lanes              a table
//! cargo bench --bench lanes -- --json    one JSON object
//! ```
//!
//! `benches/lanes/run` measures pages per second by number of lanes.

use data_encoding::BASE64;
use gleaner_crawl::frontier::lanes::lane_of;
use gleaner_rules::LaneKey;
use serde_json::{Value, json};

/// URLs of each shape: the details of a medium-sized site.
const URLS: u32 = 100_000;

const HOST: &str = "tracker.example";

/// The URL of the n-th page.
type UrlOf = fn(u32) -> String;

/// URL shapes of real sites, from the most hash-friendly to the one with the smallest differences.
const SHAPES: &[(&str, UrlOf)] = &[
    ("words", |n| format!("https://{HOST}/torrent/{n}/{:x}-linux-amd64-netinst", u64::from(n) * 0x9E37_79B9)),
    ("token", |n| {
        format!(
            "https://{HOST}/dl?t={}",
            BASE64.encode(format!("{n}|{:08x}|179", n.wrapping_mul(2_654_435_761)).as_bytes())
        )
    }),
    ("number first", |n| format!("https://{HOST}/{n}/details.html")),
    ("number last", |n| format!("https://{HOST}/details.php?id={n}")),
    ("every fiftieth", |n| format!("https://{HOST}/viewforum.php?f=12&start={}", u64::from(n) * 50)),
];

const LANES: &[u32] = &[4, 16, 50, 64];

struct Spread {
    least: u32,
    most: u32,
    /// Standard deviation of the queue lengths / their mean.
    deviation: f64,
}

fn spread(key: LaneKey, lanes: u32, url: UrlOf) -> Spread {
    let mut queues = vec![0_u32; lanes as usize];
    for number in 0..URLS {
        queues[lane_of(key, HOST, &url(number), lanes) as usize] += 1;
    }
    let mean = f64::from(URLS) / f64::from(lanes);
    let variance = queues.iter().map(|length| (f64::from(*length) - mean).powi(2)).sum::<f64>() / f64::from(lanes);
    Spread {
        least: queues.iter().copied().min().unwrap_or_default(),
        most: queues.iter().copied().max().unwrap_or_default(),
        deviation: variance.sqrt() / mean,
    }
}

fn main() {
    let as_json = std::env::args().any(|argument| argument == "--json");
    let mut rows = Vec::<Value>::new();
    if !as_json {
        println!("{URLS} URLs; queue lengths in shares of the mean (1 is even)");
        println!("{:15} {:>5} {:>5} {:>7} {:>7} {:>10}", "URLs", "lanes", "key", "least", "most", "deviation");
    }
    for (shape, url) in SHAPES {
        for lanes in LANES {
            for (name, key) in [("elf", LaneKey::Elf), ("xxh3", LaneKey::Xxh3)] {
                let Spread { least, most, deviation } = spread(key, *lanes, *url);
                let share = |length: u32| f64::from(length) * f64::from(*lanes) / f64::from(URLS);
                if as_json {
                    rows.push(json!({
                        "urls": shape, "lanes": lanes, "key": name, "least": least, "most": most, "deviation": deviation,
                    }));
                } else {
                    println!(
                        "{shape:15} {lanes:5} {name:>5} {:7.3} {:7.3} {deviation:10.4}",
                        share(least),
                        share(most)
                    );
                }
            }
        }
    }
    if as_json {
        println!("{}", json!({ "urls_each": URLS, "spread": rows }));
    }
}
