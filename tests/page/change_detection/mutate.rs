//! Synthetic changes to pages: noise, which differs in every view, and content, where each change is one fact.
//!
//! A specimen is a page split into the text before its rows, the rows, and the text after them. A view of it has noise generated from a
//! seed; a change alters one row, or one value of a page without rows.

use std::fmt::Write as _;

use encoding_rs::Encoding;
use gleaner_page::noise::Holds;
use regex::{Captures, Regex};

pub fn regex(text: &str) -> Regex {
    Regex::new(text).expect("a regex")
}

/// SplitMix64: the same seed gives the same pages.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("below a usize")
    }

    fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            let _ = write!(text, "{:016x}", self.number());
        }
        text.truncate(digits);
        text
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Generates a time.
pub type Written = fn(&mut Random) -> String;

/// How the pages of one class of a site are changed.
#[derive(Clone)]
pub struct Site {
    pub name: &'static str,
    pub encoding: &'static Encoding,
    pub holds: Holds,
    /// Whether the rules of the site would take a link for a record's.
    pub matters: fn(&str) -> bool,
    /// Numbers that differ between views: group 1 before, group 2 the number, group 3 after; in rows and around them.
    pub counters: Vec<Regex>,
    /// Relative times and clocks: the whole match is replaced by the output of `written`.
    pub times: Vec<(Regex, Written)>,
    /// Values whose change is a content change: name, and a regex with the value as its group 1.
    pub values: Vec<(&'static str, Regex)>,
    /// A session id in each link of the site.
    pub has_session: bool,
    pub pages: Vec<Specimen>,
}

/// One page, split at its rows.
#[derive(Clone)]
pub struct Specimen {
    pub url: u64,
    pub before: String,
    pub rows: Vec<String>,
    pub after: String,
    /// The last input of each piece of noise.
    pub noise: [u64; PACES.len()],
}

/// The percentage of views in which each piece of noise differs: clock, tokens, mail, banner, adverts, users online, their counts,
/// news, comments, statistics, poll, generation time; and the site's own counters, in about half of the views.
pub const PACES: [usize; 13] = [100, 100, 20, 100, 50, 50, 50, 10, 25, 50, 10, 100, 60];
const OF_SITE: usize = 12;

impl Specimen {
    /// Splits a page at the rows that `row` matches; without one it is a single piece.
    pub fn cut(url: u64, text: &str, row: Option<&Regex>) -> Self {
        let found: Vec<_> = row.into_iter().flat_map(|row| row.find_iter(text)).map(|row| row.range()).collect();
        let noise = [url; PACES.len()];
        let (Some(first), Some(last)) = (found.first(), found.last()) else {
            assert!(row.is_none(), "page {url} has no rows");
            return Self { url, before: text.to_owned(), rows: Vec::new(), after: String::new(), noise };
        };
        let (before, after) = (text[..first.start].to_owned(), text[last.end..].to_owned());
        let rows = found.iter().enumerate().map(|(at, row)| {
            // Text between two rows belongs to the first.
            let end = found.get(at + 1).map_or(row.end, |next| next.start);
            text[row.start..end].to_owned()
        });
        Self { url, before, rows: rows.collect(), after, noise }
    }

    fn text(&self) -> String {
        [&self.before, &self.rows.concat(), &self.after].map(String::as_str).concat()
    }
}

const USERS: [&str; 14] = [
    "anna", "berta", "carl", "dora", "emil", "frida", "gustav", "hanna", "ida", "jan", "karla", "ludwig", "mona",
    "nils",
];
const ADS: [&str; 7] =
    ["Fast seedboxes", "Cheap hosting", "VPN now", "Win a phone", "Shoes", "Play poker", "Meet people nearby"];
const NEWS: [&str; 9] = [
    "Server move on Sunday",
    "New rules",
    "Freeleech week",
    "Happy birthday",
    "Contest",
    "Poll results",
    "Staff wanted",
    "Downtime",
    "Thank you all",
];

impl Site {
    /// A view of a page: bytes in the site's encoding, with noise from `random`, some of it as in the last view.
    pub fn view(&self, specimen: &mut Specimen, random: &mut Random) -> Vec<u8> {
        for (noise, pace) in specimen.noise.iter_mut().zip(PACES) {
            if random.below(100) < pace {
                *noise = random.number();
            }
        }
        let noise = specimen.noise;
        let mut text = specimen.text();
        let mut counts = Random(noise[OF_SITE]);
        for counter in &self.counters {
            let replaced = counter.replace_all(&text, |found: &Captures<'_>| {
                // One number in three differs from the last time, like counts do.
                let number = if counts.below(3) == 0 { counts.below(5_000).to_string() } else { found[2].to_owned() };
                format!("{}{number}{}", &found[1], &found[3])
            });
            text = replaced.into_owned();
        }
        for (time, written) in &self.times {
            text = time.replace_all(&text, |_: &Captures<'_>| written(random)).into_owned();
        }
        if self.has_session {
            let session = random.hex(32);
            let link = Regex::new(r##"(href="(?:index|download)\.php\?[^"#]*)"##).expect("a regex");
            text =
                link.replace_all(&text, |found: &Captures<'_>| format!("{}&amp;sid={session}", &found[1])).into_owned();
        }
        let open = Regex::new("(?i)<body[^>]*>").expect("a regex");
        let at = open.find(&text).map_or(0, |body| body.end());
        text.insert_str(at, &top(&noise));
        let at = text.to_ascii_lowercase().rfind("</body>").unwrap_or(text.len());
        text.insert_str(at, &bottom(&noise));
        self.encoding.encode(&text).0.into_owned()
    }

    /// Changes one fact of the page and returns its kind.
    pub fn change(&self, specimen: &mut Specimen, random: &mut Random) -> &'static str {
        let kinds = if specimen.rows.is_empty() { 0 } else { 3 };
        let kind = random.below(kinds + self.values.len());
        if kind >= kinds {
            let (name, regex) = &self.values[kind - kinds];
            edit(specimen, name, regex, random);
            return name;
        }
        let at = random.below(specimen.rows.len());
        // A list neither grows nor shrinks without limit.
        let kind = match specimen.rows.len() {
            ..=4 => 0,
            80.. => 1,
            _ => kind,
        };
        match kind {
            0 => {
                let row = self.fresh(&specimen.rows[at], random);
                specimen.rows.insert(at, row);
                "row added"
            }
            1 => {
                specimen.rows.remove(at);
                "row removed"
            }
            _ => {
                specimen.rows[at] = self.fresh(&specimen.rows[at], random);
                "row replaced"
            }
        }
    }

    /// A row of another torrent.
    fn fresh(&self, row: &str, random: &mut Random) -> String {
        let title = format!("Release {} [{}]", random.hex(6), random.below(100_000));
        let number = (100_000 + random.below(900_000)).to_string();
        let hash = random.hex(40);
        let attribute = Regex::new(r#"(?:href|id)=["'][^"']*["']"#).expect("a regex");
        let (digits, hex) = (Regex::new(r"\d{2,}").expect("a regex"), Regex::new("[0-9a-f]{40}").expect("a regex"));
        let renumbered = attribute.replace_all(row, |found: &Captures<'_>| {
            if hex.is_match(&found[0]) {
                hex.replace_all(&found[0], hash.as_str()).into_owned()
            } else {
                digits.replace_all(&found[0], number.as_str()).into_owned()
            }
        });
        let mut row = renumbered.into_owned();
        for (_, value) in self.values.iter().filter(|(name, _)| *name == "title") {
            if let Some(found) = value.captures(&row).and_then(|found| found.get(1)) {
                row.replace_range(found.range(), &title);
            }
        }
        row
    }
}

/// Edits one value: a letter of a title, a digit of a size or of a hash.
fn edit(specimen: &mut Specimen, name: &str, regex: &Regex, random: &mut Random) {
    let at = random.below(specimen.rows.len().max(1));
    let text = if specimen.rows.is_empty() { &mut specimen.before } else { &mut specimen.rows[at] };
    let found = regex.captures(text).and_then(|found| found.get(1)).unwrap_or_else(|| panic!("no {name} in {text}"));
    let (value, range) = (found.as_str().to_owned(), found.range());
    let is_wanted = |c: &char| match name {
        "title" => c.is_ascii_alphabetic(),
        "infohash" | "download" => c.is_ascii_hexdigit(),
        _ => c.is_ascii_digit(),
    };
    let places: Vec<usize> = value.char_indices().filter(|(_, c)| is_wanted(c)).map(|(at, _)| at).collect();
    if places.is_empty() {
        // A title in another script.
        assert_eq!(name, "title", "nothing to edit in {value:?}");
        text.insert(range.end, 'x');
        return;
    }
    let place = places[random.below(places.len())];
    let old = value.as_bytes()[place];
    let choices: &[u8] = if name == "title" { b"aeiounrst" } else { b"0123456789" };
    let new = loop {
        let new = choices[random.below(choices.len())];
        if new != old {
            break new;
        }
    };
    let mut edited = value;
    edited.replace_range(place..=place, &char::from(new).to_string());
    text.replace_range(range, &edited);
}

/// The text above the content: a clock, mail, an advert, tokens.
fn top(noise: &[u64]) -> String {
    let [mut clock, mut token, mut mail, mut banner] = [0, 1, 2, 3].map(|piece: usize| Random(noise[piece]));
    format!(
        "<script nonce=\"{}\">var csrf = '{}';</script><div class=\"topbar\"><span class=clock>Server time: Sun Nov 22, {:02}:{:02}:{:02}</span>\
         <form action=\"/search\"><input type=hidden name=csrf value=\"{}\"><input name=q></form>\
         <a href=\"/logout?key={}\">Log out</a> <a href=\"/inbox\">{} new messages</a></div>\
         <div class=\"banner\"><a href=\"/adclick?id={}\">{}</a><iframe src=\"/ads/frame?{}\"></iframe></div>",
        token.hex(16),
        token.hex(32),
        clock.below(24),
        clock.below(60),
        clock.below(60),
        token.hex(32),
        token.hex(40),
        mail.below(20),
        banner.below(100_000),
        banner.one_of(&ADS),
        banner.below(1_000_000),
    )
}

/// The text below it: adverts in any order, users online, news, comments, statistics, generation time.
fn bottom(noise: &[u64]) -> String {
    let [mut adverts, mut online, mut counts, mut news, mut comments, mut statistics, mut poll, mut foot] =
        [4, 5, 6, 7, 8, 9, 10, 11].map(|piece: usize| Random(noise[piece]));
    let mut text = "<div class=\"sidebar\"><ul class=\"ads\">".to_owned();
    let turn = adverts.below(ADS.len());
    for place in 0..3 + adverts.below(2) {
        let advert = (turn + place * 3) % ADS.len();
        let _ = write!(text, "<li><a href=\"/adclick?id={}\">{}</a>", adverts.below(100_000), ADS[advert]);
    }
    text += "</ul><div class=\"online\">Online: ";
    for place in 0..4 + online.below(6) {
        let user = online.below(USERS.len());
        let comma = if place == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}<a href=\"/member/{user}\">{}</a>", USERS[user]);
    }
    let _ = write!(
        text,
        "</div><p class=online>{} members, {} guests</p><ol class=\"news\">",
        counts.below(50),
        counts.below(900)
    );
    let turn = news.below(NEWS.len());
    for place in 0..4 {
        let item = (turn + place) % NEWS.len();
        let _ = write!(text, "<li><a href=\"/news/{item}\">{}</a> <i>{} days ago</i>", NEWS[item], 1 + news.below(59));
    }
    text += "</ol><ul class=\"comments\">";
    for _ in 0..3 {
        let user = comments.below(USERS.len());
        let said = comments.one_of(&["thanks!", "great", "seed please", "works for me", "nice one", "+1", "any more?"]);
        let _ = write!(text, "<li><b>{}</b> {said} <i>{} hours ago</i>", USERS[user], 2 + comments.below(20));
    }
    let _ = write!(
        text,
        "</ul><table class=stats><tr><td>Torrents<td>{}<tr><td>Seeders<td>{},{:03}<tr><td>Ratio<td>{}%</table>\
         <p>Poll: yes {}%, no {}%</p><p class=foot>Page views: {} &middot; generated in 0.{:04} s with {} queries</p></div>",
        10_000 + statistics.below(500),
        40 + statistics.below(9),
        statistics.below(1_000),
        statistics.below(400),
        poll.below(100),
        poll.below(100),
        foot.below(1_000_000),
        foot.below(10_000),
        5 + foot.below(30),
    );
    text
}
