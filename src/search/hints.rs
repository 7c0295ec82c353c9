//! What the words of a name say of a payload whose files have said what kind of thing it is: that music is read aloud, that a book is a magazine,
//! that an archive holds a game. Data, in the order of their weight; a name never makes a film of a system.

use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};

use gleaner_torrent::contents::ContainedFile;

use crate::category::Kind::{self, *};
use crate::limits::NAMES_READ_MAX;

/// What words of names say of payloads of some kinds.
struct Hint {
    of: &'static [Kind],
    /// Alternatives of whole words, in lower case, with one space for what stands between words.
    words: &'static str,
    /// Alternatives that stand within others: of scripts without spaces.
    within: &'static str,
    number: u32,
}

const fn hint(of: &'static [Kind], words: &'static str, number: u32) -> Hint {
    Hint { of, words, within: "", number }
}

const fn or_within(within: &'static str, hint: Hint) -> Hint {
    Hint { within, ..hint }
}

const FILMS: &[Kind] = &[Film];
const DISCS: &[Kind] = &[System, Packed];
const SOUNDS: &[Kind] = &[Lossy, Lossless];
const PAPERS: &[Kind] = &[Book, Packed, Picture];

/// The first that is said holds.
const HINTS: &[Hint] = &[
    hint(&[Film, Lossy, Lossless], r"annotations?|data ?sets?|train|stems?|labels|bounding boxes|xeno canto", 8010),
    hint(FILMS, r"tutorials?|courses?|lectures?|lec ?\d\d", 8010),
    hint(
        &[System, Packed, Mac, Program, Picture, Data],
        r"nsw|ps[1-5p]|ps[1-5]dvd|psx|psv|xbox\w*|x360|ngc|wii\w*|nds|3ds|gba|gbc|megadrive|snes|nes|mame|roms?|cusa\d{5}",
        1000,
    ),
    hint(DISCS, r"blu ?ray|bdmv|bd(?:25|50|66|100)", 2050),
    hint(DISCS, r"sacd|dsd(?:64|128)", 3040),
    hint(DISCS, r"dvd ?(?:r|5|9)|dvd (?:ntsc|pal)|(?:ntsc|pal) dvd\w?", 2070),
    hint(FILMS, r"3d|(?:half|h) ?(?:sbs|ou)|stereo abl", 2060),
    or_within("第\\d+話|字幕组|字幕社|字幕組", hint(FILMS, r"\w*raws|\w+subs|fansubs?|anime", 5070)),
    or_within(
        "足球|篮球|联赛",
        hint(
            FILMS,
            r"vs|grand prix|fight night|ufc|nba|nfl|nhl|mlb|wwe|f1|formula ?1|motogp|premier league|champions league|world cup|world series|olympics?|wrestling|boxing|хоккей|футбол|баскетбол|чемпионат",
            5060,
        ),
    ),
    or_within(
        "纪录片|紀錄片|ドキュメンタリー",
        hint(
            FILMS,
            r"documentar(?:y|ies)|docu|doku|документальн\w+|\d+of\d+|nasa|national geographic|discovery channel",
            5080,
        ),
    ),
    or_within(
        "有声书|有聲書|オーディオブック",
        hint(
            SOUNDS,
            r"librivox|audio ?books?|hörbuch|hoerbuch|livre audio|audiolivre|audiolibro|аудиокнига|unabridged|abridged|read by|narrated by|full cast|radio ?plays?|chapter \d+|kapitel \d+|часть|глава",
            3030,
        ),
    ),
    hint(&[Lossless, Lossy, Packed], r"sfx|sound effects|samples?|loops|kontakt|soundfonts?", 3050),
    or_within(
        "漫画|漫畫|コミック|만화",
        hint(PAPERS, r"comics?|manga|manhwa|bande dessinée|комикс\w*|krazy kat", 7030),
    ),
    or_within(
        "雑誌|杂志|雜誌|月\\d+日号|月号",
        hint(
            PAPERS,
            r"magazines?|issues?|weekly|monthly|quarterly|zines?|v\d\dn\d\d|vol \d+ \d+ \d+|no \d{1,3}|журнал\w*|revista|zeitschrift|phrack|pocorgtfo\d*",
            7010,
        ),
    ),
    hint(
        PAPERS,
        r"programming|programs|drivers?|kernel|algorithms?|mechanics|engineering|databases?|rfcs?|arxiv|handbook|textbook|solutions manual",
        7040,
    ),
    hint(&[Packed], r"e ?books?|epub", 7020),
    hint(&[Packed], r"mac ?os ?x?|macosx|osx", 4030),
    or_within(
        "免安装|游戏|遊戲",
        hint(
            &[Packed, Program, Mac, Data],
            r"repack|gog|multi\d+|dlcs?|shareware games|dosbox|games?|0ad|xonotic|supertux\w*|openttd|wesnoth|freeciv|minetest|luanti|hedgewars|openarena|warzone2100|mindustry|veloren|teeworlds|nethack|flightgear|setup .* \d{5} exe",
            4050,
        ),
    ),
    hint(DISCS, r"win(?:32|64|dows)|keygen|keymaker", 4010),
    hint(
        &[Packed],
        r"live ?cd|\w*bsd|ubuntu|debian|fedora|kali|arch ?linux|lineage|freedos|reactos|netboot|virtualbox|vmware",
        4020,
    ),
];

/// Words of a release that is a film or an episode, in whatever archive.
const SCREEN: &str =
    r"[xh] ?26[45]|xvid|divx|hevc|av1|(?:dvd|bd|br|web|hd|sat|tv)rip|web ?dl|[hps]dtv|2160p|1080[pi]|720p|576[pi]|480p";

#[expect(clippy::expect_used, reason = "written here, and tested")]
static WORDS: LazyLock<RegexSet> = LazyLock::new(|| {
    let all = HINTS.iter().map(|hint| match hint.within {
        "" => format!("(?:^| )(?:{})(?: |$)", hint.words),
        within => format!("(?:^| )(?:{})(?: |$)|{within}", hint.words),
    });
    let all = all.chain([format!("(?:^| )(?:{SCREEN})(?: |$)")]);
    RegexSetBuilder::new(all).build().expect("the expressions of this file")
});

/// How fans name what they have translated: `[Group] Title - 07 [1080p]`, `[Group][Title][01-12]`.
#[expect(clippy::expect_used, reason = "written here, and tested")]
static FANSUB: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\[【][^\]】]{2,40}[\]】].{2,} - \d{2,4}(?:v\d)?(?:[ \[(.]|$)|^[\[【][^\]】]{2,40}[\]】].*[\[【]\d{2,3}(?:-\d{2,3})?[\]】]")
        .expect("an expression of this file")
});

/// What names say of a payload.
pub struct Said {
    hints: Vec<usize>,
    is_fansub: bool,
}

/// Reads the words of a name, and of the first files'.
pub fn read(name: &str, files: &[ContainedFile]) -> Said {
    let mut text = String::new();
    for part in std::iter::once(name).chain(files.iter().take(NAMES_READ_MAX).map(|file| &*file.path)) {
        text.push(' ');
        let words = part.chars().flat_map(char::to_lowercase).map(|of| if of.is_alphanumeric() { of } else { ' ' });
        text.extend(words);
    }
    let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    Said { hints: WORDS.matches(&text).into_iter().collect(), is_fansub: FANSUB.is_match(name) }
}

impl Said {
    /// The category that the first hint for this kind gives.
    pub fn of(&self, kind: Kind) -> Option<u32> {
        if self.is_fansub && kind == Kind::Film {
            return Some(5070);
        }
        self.hints.iter().filter_map(|at| HINTS.get(*at)).find(|hint| hint.of.contains(&kind)).map(|hint| hint.number)
    }

    /// True for a release of a film or an episode.
    pub fn is_screen(&self) -> bool {
        self.hints.contains(&HINTS.len())
    }
}
