//! What a payload is, as one of the numbers that Newznab and Torznab clients know. Bytes per extension decide; a name only says of films
//! whether they are episodes, and how many lines they have.

use std::collections::BTreeMap;

use gleaner_torrent::contents::ContainedFile;

use crate::title::Title;

/// A category of Newznab: its number is its parent's, or between it and the next parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Category {
    pub number: u32,
    pub name: &'static str,
}

/// Numbers of a site's own categories begin here.
pub const OF_SITES: u32 = 100_000;

/// Parents first, each followed by its children, whose names lack the parent's.
pub const CATEGORIES: &[Category] = &[
    of(1000, "Console"),
    of(2000, "Movies"),
    of(2010, "Foreign"),
    of(2020, "Other"),
    of(2030, "SD"),
    of(2040, "HD"),
    of(2045, "UHD"),
    of(2050, "BluRay"),
    of(2060, "3D"),
    of(2070, "DVD"),
    of(2080, "WEB-DL"),
    of(2090, "x265"),
    of(3000, "Audio"),
    of(3010, "MP3"),
    of(3020, "Video"),
    of(3030, "Audiobook"),
    of(3040, "Lossless"),
    of(3050, "Other"),
    of(3060, "Foreign"),
    of(4000, "PC"),
    of(4010, "0day"),
    of(4020, "ISO"),
    of(4030, "Mac"),
    of(4040, "Mobile-Other"),
    of(4050, "Games"),
    of(4060, "Mobile-iOS"),
    of(4070, "Mobile-Android"),
    of(5000, "TV"),
    of(5010, "WEB-DL"),
    of(5020, "Foreign"),
    of(5030, "SD"),
    of(5040, "HD"),
    of(5045, "UHD"),
    of(5050, "Other"),
    of(5060, "Sport"),
    of(5070, "Anime"),
    of(5080, "Documentary"),
    of(5090, "x265"),
    of(6000, "XXX"),
    of(7000, "Books"),
    of(7010, "Mags"),
    of(7020, "EBook"),
    of(7030, "Comics"),
    of(7040, "Technical"),
    of(7050, "Other"),
    of(7060, "Foreign"),
    of(8000, "Other"),
    of(8010, "Misc"),
    of(8020, "Hashed"),
];

const fn of(number: u32, name: &'static str) -> Category {
    Category { number, name }
}

/// The number of the parent; itself of a parent, and of a site's own category.
#[must_use]
pub fn parent(number: u32) -> u32 {
    if number >= OF_SITES { number } else { number - number % 1_000 }
}

/// The name with its parent's, as `PC/ISO`.
#[must_use]
pub fn full_name(number: u32) -> Option<String> {
    let name = |number: u32| CATEGORIES.iter().find(|category| category.number == number).map(|category| category.name);
    let own = name(number)?;
    if parent(number) == number { Some(own.to_owned()) } else { Some(format!("{}/{own}", name(parent(number))?)) }
}

/// What files with an extension are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Film,
    Dvd,
    BluRay,
    Lossy,
    Lossless,
    Audiobook,
    System,
    Mac,
    Ios,
    Android,
    Program,
    Book,
    Comic,
    Data,
}

/// Extensions of each kind. What stands in none says nothing: texts, pictures beside a film, parts of an archive.
const EXTENSIONS: &[(Kind, &str)] = &[
    (Kind::Film, "mkv mp4 avi wmv mov webm mpg mpeg m4v flv ogv ts rmvb rm asf divx 3gp mpv mk3d"),
    (Kind::Dvd, "vob"),
    (Kind::BluRay, "m2ts"),
    (Kind::Lossy, "mp3 ogg opus aac m4a wma mpc oga"),
    (Kind::Lossless, "flac ape wav wv tta dsf dff aif aiff shn alac tak"),
    (Kind::Audiobook, "m4b aa aax"),
    (Kind::System, "iso img vhd vhdx vmdk qcow2 ova ovf vdi nrg mdf wim squashfs usb raw raucb swu efi"),
    (Kind::Mac, "dmg pkg ipsw"),
    (Kind::Ios, "ipa"),
    (Kind::Android, "apk xapk obb apks aab"),
    (Kind::Program, "exe msi deb rpm appimage flatpak snap dll jar vst3 msix appx"),
    (Kind::Book, "epub mobi azw azw3 pdf djvu fb2 lit chm"),
    (Kind::Comic, "cbz cbr cb7 cbt"),
    (
        Kind::Data,
        "csv tsv json jsonl ndjson parquet arrow feather h5 hdf hdf5 nc nc4 npy npz mat sqlite db sql fits fit fasta fa fastq fq bam sam \
         vcf xml gguf safetensors ckpt pt pth onnx bin dat warc wacz zim osm pbf mbtiles pmtiles geojson shp tif tiff jp2 dump pgn",
    ),
];

/// Endings behind the one that says what a file is.
const PACKED: &str = "gz xz zst bz2 zstd lz4 lzma 7z zip rar";

/// The extension of a path, in lower case; of a packed file the one before. A pair such as `img.xz` counts as `img`.
#[must_use]
pub fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let (stem, last) = name.rsplit_once('.').filter(|(stem, last)| !stem.is_empty() && is_extension(last))?;
    let last = last.to_ascii_lowercase();
    if PACKED.split(' ').any(|packed| packed == last)
        && let Some((_, inner)) = stem.rsplit_once('.').filter(|(stem, inner)| !stem.is_empty() && is_extension(inner))
        && kind_of(&inner.to_ascii_lowercase()).is_some()
    {
        return Some(inner.to_ascii_lowercase());
    }
    Some(last)
}

fn is_extension(text: &str) -> bool {
    const LONGEST: usize = 12;
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|of| of.is_ascii_alphanumeric())
}

fn kind_of(extension: &str) -> Option<Kind> {
    EXTENSIONS.iter().find(|(_, all)| all.split_ascii_whitespace().any(|one| one == extension)).map(|(kind, _)| *kind)
}

/// The category of a payload. Names of files count for the torrent's own where that one says nothing.
#[must_use]
pub fn of_payload(name: &str, files: &[ContainedFile]) -> u32 {
    let mut bytes: BTreeMap<Kind, u64> = BTreeMap::new();
    let mut has_parts = false;
    for file in files {
        let Some(extension) = extension(&file.path) else { continue };
        if let Some(kind) = kind_of(&extension) {
            *bytes.entry(kind).or_default() += file.bytes.max(1);
        }
        has_parts |= is_part(&extension);
    }
    let known: u64 = bytes.values().sum();
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let Some((kind, most)) = bytes.into_iter().max_by_key(|(_, bytes)| *bytes) else { return MISC };
    // A sample beside the parts of a packed film says what they are; otherwise a few known files among many unknown say nothing.
    let says = known * 2 >= total || has_parts && matches!(kind, Kind::Film);
    if !says || most * 2 < known {
        return MISC;
    }
    match kind {
        Kind::Film => film(name, files),
        Kind::Dvd => series_or(name, 5030, 2070),
        Kind::BluRay => series_or(name, 5040, 2050),
        Kind::Lossy => 3010,
        Kind::Lossless => 3040,
        Kind::Audiobook => 3030,
        Kind::System => 4020,
        Kind::Mac => 4030,
        Kind::Ios => 4060,
        Kind::Android => 4070,
        Kind::Program => 4010,
        Kind::Book => 7020,
        Kind::Comic => 7030,
        Kind::Data => MISC,
    }
}

const MISC: u32 = 8010;

/// `r00` … of a RAR archive in parts.
fn is_part(extension: &str) -> bool {
    extension == "rar"
        || extension.len() == 3 && extension.starts_with('r') && extension[1..].bytes().all(|of| of.is_ascii_digit())
}

fn series_or(name: &str, of_series: u32, otherwise: u32) -> u32 {
    if Title::of(name).is_of_a_series() { of_series } else { otherwise }
}

/// What a film's name says, and where it does not, that of its longest file.
#[must_use]
pub fn title(name: &str, files: &[ContainedFile]) -> Title {
    let films = files.iter().filter(|file| extension(&file.path).is_some_and(|of| kind_of(&of) == Some(Kind::Film)));
    let longest = films.max_by_key(|file| file.bytes).map(|file| Title::of(&file.path)).unwrap_or_default();
    let own = Title::of(name);
    let resolution = own.resolution.or(longest.resolution);
    let year = own.year.or(longest.year);
    let of_a_series = if own.is_of_a_series() { own } else { longest };
    Title { resolution, year, ..of_a_series }
}

fn film(name: &str, files: &[ContainedFile]) -> u32 {
    let title = title(name, files);
    let is_of_a_series = title.is_of_a_series();
    let base = if is_of_a_series { 5000 } else { 2000 };
    base + match title.resolution {
        Some(2160..) => 45,
        Some(720..) => 40,
        Some(_) => 30,
        None if is_of_a_series => 50,
        None => 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(name: &str, files: &[(&str, u64)]) -> u32 {
        let files: Vec<ContainedFile> =
            files.iter().map(|(path, bytes)| ContainedFile { path: (*path).to_owned(), bytes: *bytes }).collect();
        of_payload(name, &files)
    }

    #[test]
    fn bytes_per_extension_decide() {
        assert_eq!(category("debian-12", &[("debian-12.iso", 600), ("SHA256SUMS", 1)]), 4020);
        assert_eq!(category("raspios", &[("2026-raspios.img.xz", 600)]), 4020);
        assert_eq!(category("Album", &[("01.flac", 30), ("02.flac", 30), ("cover.jpg", 2)]), 3040);
        assert_eq!(category("Album", &[("01.mp3", 30), ("rip.log", 2)]), 3010);
        assert_eq!(category("Books", &[("a.epub", 1), ("b.pdf", 9)]), 7020);
        assert_eq!(category("Comic", &[("a.cbz", 9)]), 7030);
        assert_eq!(category("wikipedia", &[("en.zim", 9)]), 8010);
        assert_eq!(category("corpus", &[("a.csv.gz", 9), ("readme.pdf", 1)]), 8010);
        assert_eq!(category("app", &[("a.apk", 9)]), 4070);
        assert_eq!(category("x", &[("unknown", 9)]), 8010);
        assert_eq!(category("x", &[]), 8010);
        assert_eq!(category("big", &[("data.xyz", 1_000), ("intro.mp4", 5)]), 8010, "a film beside something else");
    }

    #[test]
    fn names_say_of_films_alone_what_they_are() {
        assert_eq!(category("Show.S01E02.1080p", &[("a.mkv", 9)]), 5040);
        assert_eq!(category("A Show", &[("A.Show.S01E01.mkv", 9), ("A.Show.S01E02.mkv", 9)]), 5050);
        assert_eq!(category("Film.1968.2160p", &[("a.mkv", 9)]), 2045);
        assert_eq!(category("Film 1968", &[("a.avi", 9)]), 2020);
        assert_eq!(category("Film", &[("VIDEO_TS/VTS_01_1.VOB", 9)]), 2070);
        assert_eq!(category("Film", &[("BDMV/STREAM/00001.m2ts", 9)]), 2050);
        assert_eq!(category("Show.S01E02.720p", &[("a.rar", 50), ("a.r00", 50), ("Sample/a.mkv", 1)]), 5040);
        assert_eq!(category("debian S01E02 1080p", &[("a.iso", 9)]), 4020);
    }

    #[test]
    fn each_number_has_its_parent_and_a_name() {
        assert!(CATEGORIES.is_sorted_by_key(|category| category.number));
        for category in CATEGORIES {
            assert!(CATEGORIES.iter().any(|of| of.number == parent(category.number)), "{category:?}");
        }
        assert_eq!(full_name(4020).as_deref(), Some("PC/ISO"));
        assert_eq!((full_name(4000).as_deref(), full_name(4021), parent(100_001)), (Some("PC"), None, 100_001));
    }
}
