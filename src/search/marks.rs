//! Which parts of a text a query has found, for those who show it.

use std::ops::Range;

use crate::query::Query;
use crate::words::{is_paired, words_of_query};

/// The byte ranges of the words of a text that a query asks for, in order and apart. Of runs without spaces the whole run.
#[must_use]
pub fn marks(query: &Query, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_part).map(|from| at + from) {
        let is_run = text[start..].starts_with(is_paired);
        let ends = |of: char| !is_part(of) && !is_apostrophe(of) || is_paired(of) != is_run;
        let end = text[start..].find(ends).map_or(text.len(), |to| start + to);
        if words_of_query(&text[start..end]).iter().any(|word| is_asked(query, &word.text)) {
            found.push(start..end);
        }
        at = end;
    }
    found
}

/// True if the text has the words of each clause, wherever they stand.
#[must_use]
pub fn fits(query: &Query, text: &str) -> bool {
    let words = words_of_query(text);
    let mut clauses = query.clauses.iter().filter(|clause| !clause.is_excluded);
    clauses.all(|clause| {
        clause.words.iter().enumerate().all(|(nth, asked)| {
            let is_begun = clause.is_prefix && nth + 1 == clause.words.len();
            words.iter().any(|word| word.text == *asked || is_begun && word.text.starts_with(&**asked))
        })
    })
}

fn is_asked(query: &Query, word: &str) -> bool {
    let clauses = query.clauses.iter().filter(|clause| !clause.is_excluded);
    clauses.into_iter().any(|clause| {
        let is_begun = || clause.is_prefix && clause.words.last().is_some_and(|last| word.starts_with(&**last));
        clause.words.iter().any(|asked| asked == word) || is_begun()
    })
}

fn is_part(of: char) -> bool {
    of.is_alphanumeric()
}

fn is_apostrophe(of: char) -> bool {
    matches!(of, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_whatever_their_case_and_accents() {
        let of = |query: &str, text: &str| -> Vec<String> {
            marks(&Query::parse(query), text).into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(of("desktop ubuntu", "Ubuntu-24.04_Désktop"), ["Ubuntu", "Désktop"]);
        assert_eq!(of("ubu* -desktop", "Ubuntu Desktop"), ["Ubuntu"]);
        assert_eq!(of("greys", "Grey's Anatomy"), ["Grey's"]);
        assert_eq!(of("深海", "x深海纪录y"), ["深海纪录"]);
        assert_eq!(of("", "a b"), [""; 0]);
        assert_eq!(of("site:a", "site a"), [""; 0]);
        assert!(fits(&Query::parse("b a"), "A-b") && !fits(&Query::parse("a c"), "a b"));
    }
}
