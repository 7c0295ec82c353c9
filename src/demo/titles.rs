//! Titles, descriptions and comments: lawful works, in the scripts and with the odd characters of real sites.

use super::random::Random;

/// Categories of the main index: the name in the URL and the label on the page.
pub(super) const CATEGORIES: [(&str, &str); 5] = [
    ("linux", "Linux & BSD"),
    ("software", "Free software"),
    ("books", "Books"),
    ("music", "Music"),
    ("video", "Video"),
];

/// The category whose rows contain a download link.
pub(super) const QUICK_CATEGORY: u8 = 1;

/// Boards of the GBK section, named in its URLs by the GBK bytes of these words.
pub(super) const GBK_BOARDS: [&str; 2] = ["电影", "音乐"];

const WORKS: [&[&str]; 5] = [
    &["Debian", "Fedora Spin", "Arch Linux", "openSUSE Leap", "FreeBSD", "Alpine", "NixOS", "Void Linux", "红旗 Linux"],
    &["LibreOffice", "GIMP", "Blender", "Inkscape & friends", "Krita", "VLC", "Программы для учёбы", "自由软件合集"],
    &["Project Gutenberg DVD", "Standard Ebooks", "Война и мир", "源氏物語", "红楼梦", "Les Misérables", "Don Quixote"],
    &["Musopen Collection", "Kimiko Ishizaka: The Open Goldberg Variations", "雅楽 コレクション", "Rock & Roll <Live>"],
    &[
        "Big Buck Bunny",
        "Sintel",
        "Tears of Steel",
        "Elephants Dream",
        "Cosmos Laundromat",
        "Prelinger's \"Home\" Movies",
    ],
];

const EDITIONS: [&[&str]; 5] = [
    &["amd64 netinst", "arm64 DVD", "i386 (legacy)", "riscv64", "live KDE", "live GNOME"],
    &["portable", "source", "offline docs", "all languages", "v2 <beta>", "LTS"],
    &["EPUB", "PDF + OCR", "HTML & images", "иллюстрированное издание", "文庫版"],
    &["FLAC 24/96", "Ogg Vorbis", "MP3 V0", "Opus & cue", "無損"],
    &["1080p", "4K HDR", "720p", "2160p x265", "字幕付き", "с субтитрами"],
];

/// Parts of very long names.
const LONG: &str = "complete and unabridged with all appendices, errata, corrections, translators' notes, maps & tables, \
                    as printed by the society for its members in the edition of ";

const GBK_SUBJECTS: &[&str] = &[
    "深海纪录片",
    "城市交响曲",
    "古琴名曲",
    "敦煌壁画讲座",
    "公有领域老电影",
    "民间音乐采风",
    "天文观测录像",
    "運動會實況",
];

const GBK_EDITIONS: &[&str] = &["高清版", "完整版", "珍藏本", "修复版", "第一季", "全集"];

pub(super) const USERS: &[&str] =
    &["admin", "horrible", "spinmaster", "Ольга", "桜", "老王", "o'brien", "x<y", "archivist", "night_owl", "R&D"];

const SENTENCES: &[&str] = &[
    "This release was made from the official images and checked against the published signatures.",
    "Please keep seeding after the download is complete; the swarm is small & the mirrors are slow.",
    "Исходные файлы проверены, контрольные суммы совпадают с опубликованными.",
    "本リリースは公式イメージから作成され、署名を確認済みです。",
    "本资源来自公开发布的官方镜像，下载后请保持做种。",
    "The previous torrent had a broken second disc: remove it and use this one (sizes > 4 GB need a real filesystem).",
    "Scans are 600 dpi, cropped and deskewed; the text layer was proof-read by three volunteers.",
    "Report problems in the comments below, not by mail.",
    "Licence: CC BY-SA 4.0 unless a file says otherwise.",
    "Recorded in one evening, mixed in two; \"as good as it gets\" says the engineer.",
];

const REPLIES: &[&str] = &[
    "Thanks!",
    "спасибо, качается быстро",
    "谢谢分享",
    "ありがとうございます",
    "Hash check fails on piece 117 for me, anyone else?",
    "Works here. A&B tested <3",
    "Seed please, stuck at 99.2 %",
    "Is there a version without the extras?",
    "Confirmed against the official SHA256SUMS.",
    "Great quality, I'll seed until ratio 5.",
];

/// A title of this category; `number` makes it unique.
pub(super) fn title(random: &mut Random, category: u8, number: u64) -> String {
    // Categories come from `CATEGORIES`, which has as many entries as these tables.
    let row = usize::from(category) % CATEGORIES.len();
    let (work, edition) = (*random.pick(WORKS[row]), *random.pick(EDITIONS[row]));
    match random.below(24) {
        0 => format!("{work} - {LONG}{} - {LONG}{number:04} [{edition}]", 1_850 + number % 170),
        1..=6 => format!("[{}] {work} - {number:04} [{edition}]", random.pick(&["Horrible", "FedoraSpin", "桜字幕組"])),
        7..=11 => format!("{}_{number:04}_{}", work.replace(' ', "_"), edition.replace(' ', ".")),
        _ => format!("{work} {number:04} ({edition})"),
    }
}

/// A title that consists of GBK characters only.
pub(super) fn gbk_title(random: &mut Random, number: u64) -> String {
    format!("{}{}{number:04}", random.pick(GBK_SUBJECTS), random.pick(GBK_EDITIONS))
}

/// The name in the metainfo file: the title without characters that file systems refuse.
pub(super) fn file_name(title: &str) -> String {
    title.replace(['/', '\\', '<', '>', ':', '"', '|', '?', '*'], "_")
}

/// A paragraph of three to six sentences.
pub(super) fn paragraph(random: &mut Random) -> String {
    let count = random.between(3, 6);
    (0..count).map(|_| *random.pick(SENTENCES)).collect::<Vec<_>>().join(" ")
}

/// One comment's text.
pub(super) fn reply(random: &mut Random) -> &'static str {
    let reply: &&'static str = random.pick(REPLIES);
    reply
}
