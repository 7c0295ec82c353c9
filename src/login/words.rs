//! The words that show the purpose of forms and fields, in the languages of the crawled sites.
//!
//! One table of data (`models/words/form.tsv`) and one search over it. Texts are folded first: lower case, no accents, single spaces, one
//! at the start and one at the end. So a space in a word of the table is a word boundary. Words in scripts without spaces have none.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use gleaner_base::words::{Row, rows};

/// The topic of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The act of logging in.
    Login,
    Register,
    /// A forgotten password.
    Reset,
    Search,
    Newsletter,
    /// Comments and letters to the owner.
    Comment,
    /// Carts, orders, payment.
    Order,
    User,
    Email,
    Password,
    /// A repeated entry of the same.
    Confirm,
    Remember,
    Captcha,
    /// One-time codes.
    SecondFactor,
    Question,
    Answer,
    /// Surnames, addresses, birthdays, terms: fields of registrations, but not of logins. `Nome` and `имя` alone also
    /// label user names.
    Person,
    /// Another site's account.
    OtherAccount,
    Logout,
    /// Honeypots for programs that fill in everything.
    Honeypot,
}

/// Number of topics.
pub const TOPICS: usize = Topic::Honeypot as usize + 1;

/// How often each topic occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u16; TOPICS]);

impl Tally {
    #[must_use]
    pub fn of(&self, topic: Topic) -> u16 {
        self.0[topic as usize]
    }

    #[must_use]
    pub fn has(&self, topic: Topic) -> bool {
        self.of(topic) > 0
    }

    /// How many topics of a list occur.
    #[must_use]
    pub fn any(&self, topics: &[Topic]) -> bool {
        topics.iter().any(|topic| self.has(*topic))
    }

    fn add(&mut self, topic: Topic) {
        let count = &mut self.0[topic as usize];
        *count = count.saturating_add(1);
    }
}

/// A text being built in its folded form.
#[derive(Clone, Debug)]
pub struct Folded(String);

impl Default for Folded {
    fn default() -> Self {
        // Names and labels are shorter than this.
        let mut text = String::with_capacity(64);
        text.push(' ');
        Self(text)
    }
}

impl Folded {
    /// Folds one text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut folded = Self::default();
        folded.add(text);
        folded
    }

    /// Adds a text as separate words. `userName` and `user_name` both give two.
    pub fn add(&mut self, text: &str) {
        self.add_up_to(text, usize::MAX);
    }

    /// Adds the start of a text, up to `bytes_max` of the folded form.
    pub fn add_up_to(&mut self, text: &str, bytes_max: usize) {
        let end = self.0.len().saturating_add(bytes_max);
        // Folding seldom makes a text longer.
        self.0.reserve(text.len().min(bytes_max) + 1);
        let mut after_small = false;
        for character in text.chars() {
            if self.0.len() >= end {
                break;
            }
            if character.is_ascii() {
                if character.is_ascii_uppercase() && after_small {
                    self.part();
                }
                after_small = character.is_ascii_lowercase();
                if character.is_ascii_alphanumeric() {
                    self.0.push(character.to_ascii_lowercase());
                } else {
                    self.part();
                }
                continue;
            }
            after_small = false;
            for small in character.to_lowercase() {
                match fold(small) {
                    Some(plain) => self.0.push_str(plain),
                    None if small.is_alphanumeric() || small == 'ー' => self.0.push(small),
                    // The dot left over from Turkish İ.
                    None if small == '\u{307}' => {}
                    None => self.part(),
                }
            }
        }
        self.part();
    }

    fn part(&mut self) {
        if !self.0.ends_with(' ') {
            self.0.push(' ');
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Counts the topics. Overlapping words all count.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let (search, topics) = &*SEARCH;
        for found in search.find_overlapping_iter(&self.0) {
            tally.add(topics[found.pattern().as_usize()]);
        }
        tally
    }
}

/// Latin letters without their diacritics; None for all others.
fn fold(letter: char) -> Option<&'static str> {
    Some(match letter {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ă' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => "o",
        'ř' => "r",
        'ś' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ť' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'æ' => "ae",
        'œ' => "oe",
        'ё' => "е",
        _ => return None,
    })
}

/// The names of the topics in `models/words/form.tsv`.
const NAMES: [(&str, Topic); TOPICS] = [
    ("login", Topic::Login),
    ("register", Topic::Register),
    ("reset", Topic::Reset),
    ("search", Topic::Search),
    ("newsletter", Topic::Newsletter),
    ("comment", Topic::Comment),
    ("order", Topic::Order),
    ("user", Topic::User),
    ("email", Topic::Email),
    ("password", Topic::Password),
    ("confirm", Topic::Confirm),
    ("remember", Topic::Remember),
    ("captcha", Topic::Captcha),
    ("second_factor", Topic::SecondFactor),
    ("question", Topic::Question),
    ("answer", Topic::Answer),
    ("person", Topic::Person),
    ("other_account", Topic::OtherAccount),
    ("logout", Topic::Logout),
    ("honeypot", Topic::Honeypot),
];

static SEARCH: LazyLock<(AhoCorasick, Vec<Topic>)> = LazyLock::new(|| {
    let topic = |name: &str| NAMES.iter().find(|(of, _)| *of == name).map(|(_, topic)| *topic);
    let of_row = |row: Row| Some((row.phrase, row.topics().find_map(topic)?));
    let (words, topics): (Vec<&str>, Vec<Topic>) = rows("form").filter_map(of_row).unzip();
    // Three times as fast as the automaton that would be chosen for so many words, for 3.4 MB and 11 ms once.
    let search = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words);
    // The table has some thousand letters; a search is refused from 2³¹ states on.
    (search.expect("the table of words is small"), topics)
});

#[cfg(test)]
mod tests;
