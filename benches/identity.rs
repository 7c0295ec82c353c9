//! The cost of a link before it is known: normalisation and verdict. `cargo bench --bench identity`.
//!
//! A page of the speed comparison has 20 links, and 15,000 pages are processed in a few seconds: each microsecond per
//! link is 0.3 s of the total.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_rules::from_text;
use url::Url;

const LINKS: [&str; 8] = [
    "/torrent/123456",
    "/browse?cat=4&page=17",
    "debian-13.1.0-amd64-netinst.iso.torrent",
    "?page=3",
    "/download.php?id=4711&name=some-file.torrent",
    "http://127.0.0.1:8080/user/someone",
    "/static/style.css",
    "/t/a-title-of-some-words-1234.html#comments",
];

/// Links that only the URL standard's parser handles.
const ODD_LINKS: [&str; 4] = ["../up/x.torrent", "/a b/c", "//other.example/x", "/search?q=中文"];

fn identity(c: &mut Criterion) {
    let base = Url::parse("http://127.0.0.1:8080/pub/linux/index.html").unwrap();
    let canonical = Canonical::default();
    let mut group = c.benchmark_group("url");
    group.throughput(Throughput::Elements(LINKS.len() as u64));
    group.bench_function("join_plain_links", |b| {
        b.iter(|| LINKS.map(|href| CrawlUrl::join(&base, black_box(href), None, &canonical)));
    });
    group.bench_function("whatwg_parser_alone", |b| b.iter(|| LINKS.map(|href| base.join(black_box(href)))));
    group.throughput(Throughput::Elements(ODD_LINKS.len() as u64));
    group.bench_function("join_odd_links", |b| {
        let gbk = Some(encoding_rs::GBK);
        b.iter(|| ODD_LINKS.map(|href| CrawlUrl::join(&base, black_box(href), gbk, &canonical)));
    });
    group.finish();

    let site = from_text(
        "bench",
        r"
        start = ['http://127.0.0.1:8080/']
        deny = ['/logout', '^/user/', '\.css$']
        [classes]
        index = ['^/$', '^/browse\?(?:cat=\d+&)?page=(?<page>\d+)$']
        detail = ['^/torrent/\d+$', '^/t/[^/]+\.html$']
        download = ['(?i)\.torrent(?:\?|$)', '^/download\.php\?id=\d+']
        ",
    )
    .expect("the rules of this bench are valid");
    let listing = "extends = 'families/apache'\nstart = ['http://127.0.0.1:8080/']";
    let listing = from_text("listing", listing).expect("the family is valid");
    let urls = LINKS.map(|href| CrawlUrl::join(&base, href, None, &canonical).expect("the links are valid"));
    let mut group = c.benchmark_group("rules");
    group.throughput(Throughput::Elements(urls.len() as u64));
    group.bench_function("judge_site", |b| b.iter(|| urls.each_ref().map(|url| black_box(site.judge(url)))));
    group.bench_function("judge_family", |b| b.iter(|| urls.each_ref().map(|url| black_box(listing.judge(url)))));
    group.finish();
}

criterion_group!(benches, identity);
criterion_main!(benches);
