//! The cost of recognition and storage: `cargo bench --bench recognition`. The results are in docs/design/recognition.md.
//!
//! Scanner and parser in bytes per second, by criterion; the archive in CPU microseconds (user + system) per file
//! of 8 kB, in the folder `GLEANER_BENCH_DIR` (default: the temporary folder; it should lie on a real disk).

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use gleaner_torrent::archive::Archive;
use gleaner_torrent::{Infohashes, bencode, metainfo};

/// A v1 torrent of about `bytes` bytes, nearly all of them piece hashes.
fn one_file(bytes: usize) -> Vec<u8> {
    let pieces = bytes / 20;
    let mut torrent = format!(
        "d8:announce31:http://tracker.example/announce4:infod6:lengthi{}e4:name5:a.bin12:piece lengthi262144e6:pieces{}:",
        pieces * 262_144,
        pieces * 20
    )
    .into_bytes();
    torrent.extend((0..pieces * 20).map(|at| (at * 31 % 251) as u8));
    torrent.extend(b"ee");
    torrent
}

/// A v1 torrent of about `bytes` bytes, nearly all of them entries of `files`.
fn many_files(bytes: usize) -> Vec<u8> {
    let mut files = Vec::new();
    let mut count: usize = 0;
    while files.len() < bytes {
        let name = format!("photo-{count:06}-of-the-collection.jpeg");
        let entry = format!("d6:lengthi{}e4:pathl10:collection3:{:03}{}:{name}ee", 262_144, count % 1_000, name.len());
        files.extend(entry.bytes());
        count += 1;
    }
    let pieces = count.div_ceil(64);
    let mut torrent = b"d8:announce31:http://tracker.example/announce4:infod5:filesl".to_vec();
    torrent.extend(files);
    torrent.extend(format!("e4:name6:photos12:piece lengthi{}e6:pieces{}:", 64 * 262_144, pieces * 20).bytes());
    torrent.extend(std::iter::repeat_n(7, pieces * 20));
    torrent.extend(b"ee");
    torrent
}

fn recognition(criterion: &mut Criterion) {
    let cases = [
        ("one file, 1 MB", one_file(1_000_000)),
        ("many files, 1 MB", many_files(1_000_000)),
        ("8 kB", one_file(8_000)),
    ];
    for (name, torrent) in &cases {
        metainfo::parse(torrent).expect("the bench's torrents are valid");
        let mut group = criterion.benchmark_group(*name);
        group.throughput(Throughput::Bytes(torrent.len() as u64));
        group.bench_function("scan", |bencher| bencher.iter(|| bencode::scan_dictionary(black_box(torrent))));
        group.bench_function("parse and hash", |bencher| bencher.iter(|| metainfo::parse(black_box(torrent))));
        group.finish();
    }
}

/// CPU time of this thread so far, in nanoseconds.
fn cpu_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with scheduler statistics");
    schedstat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number of nanoseconds")
}

/// Nothing is deleted before the end: for a minute ext4 skips the inodes of deleted files one by one, which
/// costs 200 µs per new file (and makes a second run within that minute worthless).
fn archive() {
    let base = std::env::var_os("GLEANER_BENCH_DIR").map_or_else(std::env::temp_dir, Into::into);
    println!("\narchive in {}: CPU µs (user+system) and wall µs per file of 8 kB", base.display());
    let folder = tempfile::tempdir_in(&base).expect("a folder to write to");
    let body = one_file(8_000);
    let mut stored = 0_u64;
    for batch_size in [1_usize, 2, 4, 8, 16, 64, 256, 1_024] {
        let archive = Archive::open(folder.path().join(batch_size.to_string()), true).expect("an archive");
        let rounds = (2_048 / batch_size).clamp(4, 32);
        let (mut cpu, mut wall) = (0, std::time::Duration::ZERO);
        // The first round creates the folders.
        for round in 0..=rounds {
            let files = if round == 0 { 2_048 } else { batch_size };
            let batch: Vec<(Infohashes, &[u8])> = (0..files).map(|_| (next_name(&mut stored), &body[..])).collect();
            #[allow(clippy::disallowed_methods)] // a bench measures the machine's time
            let start = std::time::Instant::now();
            let cpu_before = cpu_ns();
            archive.store_batch(&batch).expect("space on the disk");
            if round > 0 {
                cpu += cpu_ns() - cpu_before;
                wall += start.elapsed();
            }
        }
        let files = (rounds * batch_size) as f64;
        println!(
            "batch {batch_size:5}: CPU {:6.1}   wall {:8.1}",
            cpu as f64 / 1e3 / files,
            wall.as_micros() as f64 / files
        );
    }
}

fn next_name(stored: &mut u64) -> Infohashes {
    *stored += 1;
    let mut key = [0; 20];
    key[..8].copy_from_slice(&stored.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Infohashes { v1: Some(key), v2: None }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    recognition(&mut criterion);
    criterion.final_summary();
    archive();
}
