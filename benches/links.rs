//! Compares the link scanner with html5ever's tokenizer and scraper's tree, on real pages, in one run.
//! `cargo bench --bench links`; the pages are below `$GLEANER_CORPORA` (`../shared/data` if not set).

use std::cell::Cell;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use encoding_rs::{Encoding, UTF_8};
use gleaner_net::fetch::charset;
use gleaner_page::links::scan;
use gleaner_page::{encoded_links, tree};
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// A page as received, its charset, and its text.
struct Page {
    body: Vec<u8>,
    encoding: &'static Encoding,
    text: String,
}

fn page(body: Vec<u8>) -> Page {
    let encoding = charset::detect(None, &body, None);
    let text = encoding.decode_with_bom_removal(&body).0.into_owned();
    Page { body, encoding, text }
}

fn folder(path: &Path, pages: &mut Vec<Page>) {
    let entries = fs::read_dir(path)
        .unwrap_or_else(|error| panic!("{}: {error}; GLEANER_CORPORA says where they are", path.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            folder(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(page(fs::read(path).unwrap()));
        }
    }
}

/// A detail page of 12 kB, as served by the bench site of `benches/peers`: 40 links in prose and tables.
fn detail_page() -> Page {
    let mut html = String::from("<!doctype html><html><head><meta charset=utf-8><title>A torrent</title></head><body>");
    for row in 0..40 {
        html += &format!(
            "<tr class=\"row\"><td class='name'><a href=\"/detail/{row}?from=list&amp;page=2\" title=\"No. {row}\">Name \
             of torrent {row}</a></td><td>2026-11-21</td><td align=right>{row} MB</td></tr>\n<p>{}</p>\n",
            "Some words that describe it. ".repeat(4)
        );
    }
    html.truncate(12_000);
    page(html.into_bytes())
}

/// Counts tokens, so that none is optimised away.
#[derive(Default)]
struct Counter(Cell<usize>);

impl TokenSink for Counter {
    type Handle = ();

    fn process_token(&self, _token: Token, _line: u64) -> TokenSinkResult<()> {
        self.0.set(self.0.get() + 1);
        TokenSinkResult::Continue
    }
}

fn tokenize(text: &str) -> usize {
    let tokenizer = Tokenizer::new(Counter::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(text));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.0.get()
}

fn benches(criterion: &mut Criterion) {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = std::env::var_os("GLEANER_CORPORA").map_or_else(beside, PathBuf::from);
    for (name, paths) in [("programs", &["pages"][..]), ("sites", &["pagination"]), ("detail_12kB", &[])] {
        let mut pages = Vec::new();
        for path in paths {
            folder(&data.join(path), &mut pages);
        }
        if pages.is_empty() {
            pages.push(detail_page());
        }
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(pages.iter().map(|page| page.body.len() as u64).sum()));
        group.sample_size(20);
        group.bench_function(BenchmarkId::from_parameter("scanner"), |bencher| {
            bencher.iter(|| {
                pages.iter().map(|page| scan(black_box(&page.body), page.encoding).links.len()).sum::<usize>()
            });
        });
        group.bench_function(BenchmarkId::from_parameter("encoded_links"), |bencher| {
            bencher.iter(|| {
                pages.iter().map(|page| encoded_links::find(black_box(&page.body), UTF_8).len()).sum::<usize>()
            });
        });
        group.bench_function(BenchmarkId::from_parameter("charset"), |bencher| {
            bencher.iter(|| {
                pages.iter().filter(|page| charset::detect(None, black_box(&page.body), None) == UTF_8).count()
            });
        });
        group.bench_function(BenchmarkId::from_parameter("html5ever_tokenizer"), |bencher| {
            bencher.iter(|| pages.iter().map(|page| tokenize(black_box(&page.text))).sum::<usize>());
        });
        group.sample_size(10);
        group.bench_function(BenchmarkId::from_parameter("scraper_tree"), |bencher| {
            bencher.iter(|| {
                pages.iter().map(|page| tree::links(black_box(&page.text)).unwrap().links.len()).sum::<usize>()
            });
        });
        group.finish();
    }
}

criterion_group!(links, benches);
criterion_main!(links);
