//! The words of a text: letters and digits without case and accents, `S01E02` and `x264` whole; runs of Han, Kana and Hangul as overlapping
//! pairs, because nothing separates their words.

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::limits::WORD_BYTES_MAX;

/// The name under which the index knows [`Words`].
pub const WORDS: &str = "words";

/// A word, and its place among the words of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub place: usize,
}

/// NFKC without case and accents. Marks that change the letter (of Kana, of Indic scripts) stay.
fn folded(text: &str) -> String {
    let classes = CanonicalCombiningClassMapBorrowed::new();
    let is_accent = |of: char| {
        let class = classes.get_u8(of);
        class >= 200 || (10..=35).contains(&class)
    };
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let mut bare = String::with_capacity(decomposed.len());
    for of in decomposed.chars().filter(|of| !is_accent(*of)).flat_map(char::to_lowercase) {
        match LETTERS.iter().find(|(letter, _)| *letter == of) {
            Some((_, plain)) => bare.push_str(plain),
            None => bare.push(of),
        }
    }
    without_apostrophes(&ComposingNormalizerBorrowed::new_nfc().normalize(&bare))
}

/// Letters that no decomposition makes plain, and one that changes at the end of a word.
const LETTERS: [(char, &str); 9] =
    [('ß', "ss"), ('ø', "o"), ('ł', "l"), ('æ', "ae"), ('œ', "oe"), ('đ', "d"), ('ı', "i"), ('þ', "th"), ('ς', "σ")];

/// `grey's` and `don't` are one word, as names of releases write them; `l'atalante` is two.
fn without_apostrophes(text: &str) -> String {
    const ENDING: usize = 2;
    let is_apostrophe = |of: char| matches!(of, '\'' | '’' | '‘' | '`' | 'ʼ' | '´');
    let mut kept = String::with_capacity(text.len());
    for (at, of) in text.char_indices() {
        let ending =
            || text[at + of.len_utf8()..].chars().take_while(|of| of.is_alphanumeric()).take(ENDING + 1).count();
        if !is_apostrophe(of) || !(1..=ENDING).contains(&ending()) {
            kept.push(of);
        }
    }
    kept
}

/// True for characters of scripts without spaces, and Hangul, whose words take endings.
#[must_use]
pub fn is_paired(of: char) -> bool {
    matches!(of, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{31f0}'..='\u{31ff}' | '\u{20000}'..='\u{3134f}' | '\u{3005}')
}

fn is_word(of: char) -> bool {
    // Marks that join letters are part of their word.
    of.is_alphanumeric() || matches!(CanonicalCombiningClassMapBorrowed::new().get_u8(of), 7..=9)
}

/// The words of a text in their order. A run of paired script gives each pair, and its last character alone in the last pair's place: a
/// single character is found as the beginning of a pair, or there.
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    split(text, true)
}

/// The words of what is looked for: of a run its pairs alone, which are the run itself.
#[must_use]
pub fn words_of_query(text: &str) -> Vec<Word> {
    split(text, false)
}

fn split(text: &str, with_last: bool) -> Vec<Word> {
    let folded = folded(text);
    let mut found = Vec::new();
    let mut place = 0;
    let mut rest = folded.chars().peekable();
    while let Some(first) = rest.next() {
        if is_paired(first) {
            let mut run = vec![first];
            while let Some(next) = rest.next_if(|next| is_paired(*next)) {
                run.push(next);
            }
            for pair in run.windows(2) {
                found.push(Word { text: pair.iter().collect(), place });
                place += 1;
            }
            let last = || run[run.len() - 1..].iter().collect();
            if run.len() == 1 {
                found.push(Word { text: last(), place });
                place += 1;
            } else if with_last {
                found.push(Word { text: last(), place: place - 1 });
            }
        } else if is_word(first) {
            let mut word = first.to_string();
            while let Some(next) = rest.next_if(|next| is_word(*next) && !is_paired(*next)) {
                word.push(next);
            }
            word.truncate(word.floor_char_boundary(WORD_BYTES_MAX));
            found.push(Word { text: word, place });
            place += 1;
        }
    }
    found
}

/// [`words`] for the index.
#[derive(Clone, Debug, Default)]
pub struct Words;

impl Tokenizer for Words {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        let mut words = words(text);
        words.reverse();
        Stream { words, token: Token::default() }
    }
}

/// The words that are left, the next one last.
pub struct Stream {
    words: Vec<Word>,
    token: Token,
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some(Word { text, place }) = self.words.pop() else { return false };
        self.token = Token { position: place, text, ..Token::default() };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn letters_and_digits_are_words_without_case_and_accents() {
        assert_eq!(
            texts("Ubuntu-24.04_Désktop (AMD64) S01E02 x264"),
            ["ubuntu", "24", "04", "desktop", "amd64", "s01e02", "x264"]
        );
        assert_eq!(texts("ｆｕｌｌ ½ ﬁne İstanbul Ёлка"), ["full", "1", "2", "fine", "istanbul", "елка"]);
        assert_eq!(texts("Grey's Don’t we're L'Atalante '90s"), ["greys", "dont", "were", "l", "atalante", "90s"]);
        assert_eq!(texts("Straße Łódź Ærø Οδυσσεύς"), ["strasse", "lodz", "aero", "οδυσσευσ"]);
        assert_eq!(texts("  --- "), [""; 0]);
    }

    #[test]
    fn runs_of_han_kana_and_hangul_are_pairs_and_their_last_character() {
        assert_eq!(texts("深海纪录x片"), ["深海", "海纪", "纪录", "录", "x", "片"]);
        assert_eq!(texts("ガンダム"), ["ガン", "ンダ", "ダム", "ム"]);
        assert_eq!(texts("한국 영화"), ["한국", "국", "영화", "화"]);
        assert_eq!(texts("हिन्दी"), ["हिन्दी"]);
    }

    #[test]
    fn a_single_character_takes_no_place_of_its_own() {
        let places: Vec<usize> = words("a 深海 b").into_iter().map(|word| word.place).collect();
        assert_eq!(places, [0, 1, 1, 2]);
        assert_eq!(words(&"x".repeat(1_000))[0].text.len(), WORD_BYTES_MAX);
    }
}
