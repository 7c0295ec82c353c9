//! What a payload is, as one of the numbers that Newznab and Torznab clients know. Bytes per extension decide; names refine it, and say what is in
//! archives ([`super::hints`]), and of films whether they are episodes, and how many lines they have.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use gleaner_base::newznab::MISC;
pub use gleaner_base::newznab::{CATEGORIES, Category, OF_SITES, full_name, parent};
use gleaner_torrent::contents::ContainedFile;

use crate::hints;
use crate::title::Title;

/// What files with an extension are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
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
    Picture,
    Console,
    Game,
    Module,
    Data,
    /// Archives, and nothing that says what is in them.
    Packed,
}

/// Extensions of each kind. What stands in none says nothing: texts, pictures beside a film, parts of an archive.
const EXTENSIONS: &[(Kind, &str)] = &[
    (Kind::Film, "mkv mp4 avi wmv mov webm mpg mpeg m4v flv ogv ts rmvb rm asf divx 3gp mpv mk3d"),
    (Kind::Dvd, "vob"),
    (Kind::BluRay, "m2ts"),
    (Kind::Lossy, "mp3 ogg opus aac m4a wma mpc oga spx"),
    (Kind::Lossless, "flac ape wav wv tta dsf dff aif aiff shn alac tak"),
    (Kind::Audiobook, "m4b aa aax"),
    (Kind::System, "iso img vhd vhdx vmdk qcow2 ova ovf vdi nrg mdf wim squashfs usb raw raucb swu efi"),
    (Kind::Mac, "dmg pkg ipsw hqx sit"),
    (Kind::Ios, "ipa"),
    (Kind::Android, "apk xapk obb apks aab"),
    (Kind::Program, "exe msi deb rpm appimage flatpak snap dll jar vst3 msix appx"),
    (Kind::Book, "epub mobi azw azw3 pdf djvu fb2 lit chm"),
    (Kind::Comic, "cbz cbr cb7 cbt"),
    (
        Kind::Console,
        "nes snes sfc smc gb gbc gba nds 3ds cia nsp nsz xci xcz z64 n64 v64 gen smd sms gg pbp rvz wbfs gcm cdi gdi chd vpk",
    ),
    (Kind::Game, "wad pk3 pk4 tap tzx z80"),
    (Kind::Module, "mod xm it s3m sid nki ncw nkx sf2 sfz mid midi"),
    (Kind::Picture, "jpg jpeg png webp gif bmp heic cr2 cr3 nef arw dng raf svg psd"),
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

static KINDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| {
    let all = EXTENSIONS.iter().flat_map(|(kind, all)| all.split_ascii_whitespace().map(move |one| (one, *kind)));
    all.collect()
});

fn kind_of(extension: &str) -> Option<Kind> {
    KINDS.get(extension).copied()
}

/// Families of kinds: bytes decide between these first.
fn family(kind: Kind) -> u8 {
    match kind {
        Kind::Film | Kind::Dvd | Kind::BluRay => 0,
        Kind::Lossy | Kind::Lossless | Kind::Audiobook | Kind::Module => 1,
        Kind::System | Kind::Mac | Kind::Ios | Kind::Android | Kind::Program | Kind::Game => 2,
        Kind::Book | Kind::Comic => 3,
        Kind::Console => 4,
        Kind::Data => 5,
        Kind::Picture => 6,
        Kind::Packed => 7,
    }
}

/// What a file is; of an archive that says so in its name (`x_vbr_mp3.zip`), what is in it. None of what stands beside a payload.
fn kind_of_file(path: &str) -> Option<Kind> {
    let extension = extension(path)?;
    if let Some(kind) = kind_of(&extension) {
        return Some(kind);
    }
    let is_packed = is_packed(&extension);
    let stem = &path[..path.len() - extension.len() - 1];
    let inner = stem.rsplit_once('_').map(|(_, inner)| inner.to_ascii_lowercase()).filter(|_| is_packed);
    match inner.as_deref() {
        Some("jp2" | "abbyy" | "tif") => None,
        Some(inner) if kind_of(inner).is_some() => kind_of(inner),
        _ => is_packed.then_some(Kind::Packed),
    }
}

/// The bytes of a payload by what its files are, and how many stand for something.
fn weighed(files: &[ContainedFile]) -> (BTreeMap<Kind, u64>, u64) {
    let mut bytes: BTreeMap<Kind, u64> = BTreeMap::new();
    let (mut unknown, mut packed, mut telling) = (0, 0_usize, 0_usize);
    for file in files {
        match kind_of_file(&file.path) {
            Some(kind) => {
                *bytes.entry(kind).or_default() += file.bytes.max(1);
                packed += usize::from(kind == Kind::Packed);
                telling += usize::from(!matches!(kind, Kind::Packed | Kind::Picture | Kind::Data));
            }
            None if SIDE_FILES.iter().any(|end| file.path.ends_with(end)) => {}
            None => unknown += file.bytes,
        }
    }
    // Archives beside more files that say what they are hold the same.
    if telling > packed {
        bytes.remove(&Kind::Packed);
    }
    let total = unknown + bytes.values().sum::<u64>();
    (bytes, total)
}

/// The category of a payload. Names of files count for the torrent's own where that one says nothing.
#[must_use]
pub fn of_payload(name: &str, files: &[ContainedFile]) -> u32 {
    let (bytes, total) = weighed(files);
    let mut families: BTreeMap<u8, u64> = BTreeMap::new();
    bytes.iter().for_each(|(kind, bytes)| *families.entry(family(*kind)).or_default() += bytes);
    let Some((first, most)) = families.into_iter().max_by_key(|(_, bytes)| *bytes) else { return MISC };
    let within = bytes.iter().filter(|(kind, _)| family(**kind) == first);
    let Some((kind, _)) = within.max_by_key(|(_, bytes)| **bytes) else { return MISC };
    let has = |of: Kind| bytes.contains_key(&of);
    // A sample beside the parts of a packed film says what they are; otherwise a few known files among many unknown say nothing.
    let sample = (*kind == Kind::Packed && has(Kind::Film)).then_some(Kind::Film);
    if sample.is_none() && most * 2 < total {
        return MISC;
    }
    let said = hints::read(name, files);
    let kind = match sample.unwrap_or(*kind) {
        Kind::Packed if said.is_screen() && said.of(Kind::Packed).is_none() => Kind::Film,
        kind => kind,
    };
    if let Some(number) = said.of(kind) {
        return number;
    }
    let has_nfo = files.iter().any(|file| file.path.ends_with(".nfo"));
    match kind {
        // With a recording of its sound, a film with a date is a concert.
        Kind::Film => film(name, files, has(Kind::Lossless)),
        Kind::Dvd => series_or(name, 5030, 2070),
        Kind::BluRay => series_or(name, 5040, 2050),
        Kind::Lossy => 3010,
        Kind::Lossless => 3040,
        Kind::Audiobook => 3030,
        Kind::Module => 3050,
        // What a group releases as one disc.
        Kind::System if has_nfo => 4050,
        Kind::System => 4020,
        Kind::Mac if has(Kind::Program) => 4010,
        Kind::Mac => 4030,
        Kind::Ios => 4060,
        Kind::Android => 4070,
        Kind::Program => 4010,
        Kind::Game => 4050,
        Kind::Console => 1000,
        Kind::Book => 7020,
        Kind::Comic => 7030,
        Kind::Data | Kind::Picture | Kind::Packed => MISC,
    }
}

/// What archives add to an item.
const SIDE_FILES: &[&str] = &[
    "_jp2.zip",
    "_jp2.tar",
    "_abbyy.gz",
    "_djvu.txt",
    "_djvu.xml",
    "_chocr.html.gz",
    "_hocr_searchtext.txt.gz",
    "_tif.zip",
];

fn is_packed(extension: &str) -> bool {
    PACKED.split(' ').any(|packed| packed == extension)
        || matches!(extension, "tar" | "tgz" | "tbz2" | "txz" | "cab" | "ace" | "lzh" | "arj")
        || is_part(extension)
}

/// `r00` … of a RAR archive in parts.
fn is_part(extension: &str) -> bool {
    extension == "rar"
        || extension.len() == 3
            && extension[1..].bytes().all(|of| of.is_ascii_digit())
            && (extension.starts_with('r') || extension.starts_with('0'))
}

fn series_or(name: &str, of_series: u32, otherwise: u32) -> u32 {
    // A day alone is a concert's.
    if Title::of(name).season.is_some() { of_series } else { otherwise }
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

/// What a name says of a film or an episode of which nothing else is known.
#[must_use]
pub fn film_by_name(name: &str) -> u32 {
    film(name, &[], false)
}

fn film(name: &str, files: &[ContainedFile], is_concert: bool) -> u32 {
    let title = title(name, files);
    let is_of_a_series = title.season.is_some()
        || title.date.is_some() && !is_concert
        || title.year.is_none() && are_parts_of_a_series(files);
    let base = if is_of_a_series { 5000 } else { 2000 };
    base + match title.resolution {
        Some(2160..) => 45,
        Some(720..) => 40,
        Some(_) => 30,
        None if is_of_a_series => 50,
        None => 20,
    }
}

/// Films of one format and about one length, five or more: of one film there are fewer cuts.
fn are_parts_of_a_series(files: &[ContainedFile]) -> bool {
    let films = || files.iter().filter(|file| kind_of_file(&file.path) == Some(Kind::Film));
    let Some(longest) = films().max_by_key(|file| file.bytes) else { return false };
    let of = extension(&longest.path);
    let alike = films().filter(|file| file.bytes.saturating_mul(2) >= longest.bytes && extension(&file.path) == of);
    alike.count() >= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(name: &str, files: &[(&str, u64)]) -> u32 {
        let files: Vec<ContainedFile> =
            files.iter().map(|(path, bytes)| ContainedFile { path: (*path).to_owned(), bytes: *bytes }).collect();
        of_payload(name, &files)
    }

    /// 300 torrents as lawful archives and release groups name them, labelled by hand without knowledge of this program.
    #[test]
    fn torrents_are_filed_as_a_librarian_would() {
        let text = include_str!("../../fixtures/categories.tsv");
        let (mut all, mut wrong) = (0, Vec::new());
        for record in
            text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().split(|line| line.is_empty())
        {
            let Some((head, files)) = record.split_first() else { continue };
            let (labels, name) = head.split_once('\t').unwrap();
            let file = |line: &&str| {
                let (bytes, path) = line.trim_start_matches('\t').split_once('\t').unwrap();
                ContainedFile { path: path.to_owned(), bytes: bytes.parse().unwrap() }
            };
            let number = of_payload(name, &files.iter().map(file).collect::<Vec<_>>());
            all += 1;
            if !labels.split('|').any(|label| label.parse() == Ok(number)) {
                wrong.push(format!("{name}: {number}, not {labels}"));
            }
        }
        assert_eq!(all, 300);
        assert!(wrong.len() * 100 <= all * 3, "{wrong:#?}");
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
        assert_eq!(category("x", &[("a.rar", 9), ("a.nfo", 1)]), 8010, "an archive says nothing");
        assert_eq!(
            category("x", &[("a.flac", 9), ("a_vbr_mp3.zip", 8), ("a_jp2.zip", 90)]),
            3040,
            "what an archive adds"
        );
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
}
