//! What a fingerprint costs beside the parse of the same page: `noise_cost ../shared/data/pages` (release build).
//!
//! Each page is learned from first, with noise in its numbers, so that the model has something to look up. Best of some runs each,
//! in turns, so that both see the same machine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gleaner::page::noise::{Holds, Model, Page};
use gleaner::page::{links, tree};

/// Runs of each; the best counts.
const RUNS: usize = 40;

#[allow(clippy::disallowed_methods)] // what it measures is the machine
fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
}

/// The page with other digits in its texts.
fn another(body: &[u8], look: u8) -> Vec<u8> {
    let mut in_tag = false;
    let digit = |byte: u8| b'0' + (byte - b'0' + look) % 10;
    let each = body.iter().map(|&byte| {
        in_tag = byte == b'<' || (in_tag && byte != b'>');
        if byte.is_ascii_digit() && !in_tag { digit(byte) } else { byte }
    });
    each.collect()
}

fn main() {
    let mut found = Vec::new();
    for folder in std::env::args().skip(1) {
        pages(Path::new(&folder), &mut found);
    }
    found.sort();
    let matters = |href: &str| href.contains("thread") || href.contains("torrent");
    let (mut all_parse, mut all_print, mut all_links) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    println!("    bytes    parse µs  print µs  observe µs  links µs   print/parse");
    for path in found {
        let Ok(body) = std::fs::read(&path) else { continue };
        let encoding = gleaner::fetch::charset::detect(None, &body, None);
        let mut model = Model::new(Holds::List);
        for look in 0..6 {
            model.observe(&Page { url: 1, body: &another(&body, look), encoding }, &matters);
        }
        let page = Page { url: 1, body: &body, encoding };
        let (mut parse, mut print, mut observe, mut scan) =
            (Duration::MAX, Duration::MAX, Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            parse = parse.min(timed(|| tree::parse(&encoding.decode(&body).0).is_ok()));
            print = print.min(timed(|| model.fingerprint(&page, &matters)));
            scan = scan.min(timed(|| links::scan(&body, encoding).links.len()));
            let mut shown = model.clone();
            observe = observe.min(timed(|| shown.observe(&page, &matters)));
        }
        (all_parse, all_print, all_links) = (all_parse + parse, all_print + print, all_links + scan);
        println!(
            "{:9} {:11.1} {:9.1} {:11.1} {:9.1} {:12.1} %  {}",
            body.len(),
            parse.as_secs_f64() * 1e6,
            print.as_secs_f64() * 1e6,
            observe.as_secs_f64() * 1e6,
            scan.as_secs_f64() * 1e6,
            100.0 * print.as_secs_f64() / parse.as_secs_f64(),
            path.display()
        );
    }
    println!(
        "all: {:.1} % of the parse, {:.1} times the scan for links",
        100.0 * all_print.as_secs_f64() / all_parse.as_secs_f64(),
        all_print.as_secs_f64() / all_links.as_secs_f64()
    );
}
