//! Disk, memory, processor time and files.

use std::path::Path;

use crate::app::backups;
use gleaner_serve::metrics::Family;
use gleaner_serve::metrics::Kind::{Counter, Gauge};

pub(super) fn families(data_dir: &Path, archive_bytes: u64) -> Vec<Family> {
    let mut families = Vec::new();
    if let Ok(disk) = rustix::fs::statvfs(data_dir) {
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize) as f64;
        let (free, size) = (bytes(disk.f_bavail), bytes(disk.f_blocks));
        families.push(Family::of("gleaner_disk_free_bytes", "Free bytes of the data folder's disk.", Gauge, free));
        families.push(Family::of("gleaner_disk_size_bytes", "All bytes of that disk.", Gauge, size));
    }
    let last = backups::times::last(data_dir, None).unwrap_or_default();
    families.push(Family::of(
        "gleaner_last_backup_timestamp_seconds",
        "When the last backup was finished; 0 for never.",
        Gauge,
        super::seconds(last),
    ));
    let mut store = Family::new(
        "gleaner_store_bytes",
        "Bytes of the files of the databases, of the search index, and of the archived torrents; these are counted now and then.",
        Gauge,
    );
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |of| of.len());
    let index = std::fs::read_dir(data_dir.join("search")).into_iter().flatten().flatten();
    for (part, bytes) in [
        ("archive", archive_bytes),
        ("crawldb", size(&data_dir.join("crawl.redb"))),
        ("search", index.map(|entry| size(&entry.path())).sum()),
        ("update", size(&data_dir.join("update.redb"))),
    ] {
        store.add(vec![("part", part.to_owned())], bytes as f64);
    }
    families.push(store);
    let own = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let pages = own("/proc/self/statm").split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    if let Some(pages) = pages {
        let bytes = pages * rustix::param::page_size() as f64;
        families.push(Family::of("process_resident_memory_bytes", "Resident memory.", Gauge, bytes));
    }
    // Behind the name of the program, which may hold anything: user and system time, in ticks.
    let stat = own("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok());
    if let (Some(user), Some(system)) = (ticks(11), ticks(12)) {
        let seconds = (user + system) / rustix::param::clock_ticks_per_second() as f64;
        families.push(Family::of("process_cpu_seconds_total", "Processor time.", Counter, seconds));
    }
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    families.push(Family::of("process_open_fds", "Open files.", Gauge, files as f64));
    families
}
