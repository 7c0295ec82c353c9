//! Detects responses that reject the user or the password, clearly enough to stop retries of accepted credentials.
//!
//! Sites in trouble use similar words: in titles, links and buttons, in errors of programs and databases, in rate
//! limits and in sentences about sessions and forms. So one clause must name the credentials, say that they are
//! wrong, and be about nothing else. Two cases also accept a short sentence which only says that the login failed or
//! the account does not exist: beside a login form that is back, which sites in trouble seldom show, and in an API's
//! JSON. Reasons may have any words. What is missed here has few retries (`limits::LOGIN_BARE_MAX`).

use super::captcha::names_captcha;
use super::numbers::said_in_numbers;
use super::{After, SHORT_TEXT_BYTES, says_rate_limited};
use crate::phrases;
use gleaner_base::words::{Phrases, Topic};

/// True if a clause of the response for this login rejects it.
#[must_use]
pub fn says_refused(after: &After<'_>) -> bool {
    if after.status >= 500 || is_limited(after) {
        return false;
    }
    match after.login_form {
        Some(form) => {
            let beside: Vec<String> = after.view.messages_at(form, after.before).map(str::to_lowercase).collect();
            beside.iter().any(|text| refuses(text))
                || after.said_beside_form().is_some_and(|message| refuses(&message))
                || beside.iter().any(|text| fails(text))
                    && !beside.iter().any(|text| has_other_reason(text))
                    && !after.view.headings_at(form, after.before).any(|text| has_other_reason(&text.to_lowercase()))
        }
        None => {
            let view = after.view;
            let is_sure = || {
                let said = || view.said.lines();
                said().any(refuses) || view.is_data && said().any(fails) && !said().any(has_other_reason)
            };
            view.text.len() < SHORT_TEXT_BYTES && is_sure()
        }
    }
}

/// True if the response is a rate limit, whatever else it says: the right password gets it too.
#[must_use]
pub fn is_limited(after: &After<'_>) -> bool {
    after.status == 429 || says_rate_limited(after.view).is_some()
}

/// True if a clause of this lower-case text says that the user or the password is wrong.
#[must_use]
pub fn refuses(text: &str) -> bool {
    let plain: Vec<&str> = text.split(' ').filter(|word| !is_of_machine(word)).collect();
    let plain = plain.join(" ").replace('_', " ");
    let is_sure = |clause: &str| {
        has(clause, phrases::CREDENTIALS) && has(clause, phrases::REFUSES) && !has(clause, phrases::OF_OTHERS)
    };
    let counts = |rest: &str| rest.trim_start().starts_with(|of: char| of.is_ascii_digit());
    phrases::TRIES_LEFT.iter().any(|left| text.split(left).skip(1).any(counts))
        || clauses(&plain, CLAUSE_ENDS).any(|clause| is_told(&clause) && is_sure(&clause))
}

/// True if a clause beside the form rejects the user or the password and has none of these words itself: the password
/// was checked, whatever else the response asks for.
pub(super) fn refuses_without(after: &After<'_>, words: Topic) -> bool {
    let Some(form) = after.login_form else { return false };
    let texts: Vec<String> = after.view.messages_at(form, after.before).map(str::to_lowercase).collect();
    let mut said = texts.iter().flat_map(|text| clauses(text, CLAUSE_ENDS));
    said.any(|clause| refuses(&clause) && !has(&clause, words))
}

/// True if the response, beside its form or on a page that is only a message, counts the attempts left: “2 attempts
/// remaining”. The password was checked and is wrong.
#[must_use]
pub fn counts_tries(after: &After<'_>) -> bool {
    let counts = |text: &&str| {
        let text = format!(" {} ", text.to_lowercase());
        let is_count = |clause: String| {
            clause.contains(|of: char| of.is_ascii_digit())
                && has(&clause, phrases::TRIES_OF_LOGIN)
                && has(&clause, phrases::LEFT_OVER)
        };
        names_captcha(&text).is_none() && clauses(&text, CLAUSE_ENDS).any(is_count)
    };
    said_in_numbers(after).iter().any(counts)
}

/// True if this lower-case sentence beside a login form says only that the login failed, or that the account does not
/// exist. An exclamation may come before it, and “try again” or words about the password after it.
fn fails(text: &str) -> bool {
    use phrases::{ABSENT, CREDENTIALS, FAILS, OF_ACCOUNT, OF_LOGIN, OF_USER, ONCE_MORE, REFUSES, TRIES};
    /// The subject, what is said of it, and how many other words are allowed beside that: the user's name.
    type RefusalPattern = (&'static [Topic], &'static [Topic], usize);
    const SAID: [RefusalPattern; 3] = [
        (&[OF_LOGIN], &[FAILS, REFUSES], 0),
        (&[OF_ACCOUNT], &[ABSENT, REFUSES], 0),
        (&[OF_USER, CREDENTIALS], &[ABSENT, REFUSES], 1),
    ];
    let has_number = |clause: &str| clause.contains(|of: char| of.is_ascii_digit());
    let is_said = |clause: &String| {
        let says = |topics: &[Topic]| topics.iter().any(|words| words.are_in(clause));
        let more = || words_beside(clause, &[OF_LOGIN, OF_ACCOUNT, OF_USER, CREDENTIALS, FAILS, ABSENT, REFUSES]);
        fails_whole(clause)
            || is_told(clause)
                && !has_number(clause)
                && SAID.iter().any(|(of, words, most)| says(of) && says(words) && more() <= *most)
    };
    // `login_failed` is an error code of many APIs.
    let parts: Vec<String> = clauses(&text.replace('_', " "), SENTENCE_PARTS).collect();
    let Some(first) = parts.iter().position(is_said) else { return false };
    // “Please check them, and try again.” “You have 4 attempts left.”
    let is_idle = |clause: &String| {
        let topics = [ONCE_MORE, CREDENTIALS];
        let is_known = || topics.iter().any(|words| words.are_in(clause)) && words_beside(clause, &topics) <= 1;
        if has_number(clause) { has(clause, TRIES) } else { is_known() }
    };
    let is_more = |(at, clause): (usize, &String)| {
        let is_exclamation = at < first && clause.trim().split(' ').nth(1).is_none();
        !is_exclamation && !is_said(clause) && !is_idle(clause) && !clause.ends_with(QUESTIONS)
    };
    text.chars().count() <= SHORT_SENTENCE_CHARS && !parts.iter().enumerate().any(is_more)
}

fn fails_whole(clause: &str) -> bool {
    phrases::FAILS_WHOLE.contains(&clause.trim())
}

/// How many words of a clause are in none of these topics, and may give another reason.
fn words_beside(clause: &str, topics: &[Topic]) -> usize {
    let known = || topics.iter().flat_map(|words| words.iter().copied());
    let phrases = known().filter(|words| words.trim().contains(' '));
    let rest = phrases.fold(clause.to_owned(), |rest, phrase| rest.replace(phrase, " "));
    let is_more = |word: &&str| {
        let is_known = known().any(|of| word.contains(of.trim()));
        // Scripts without word separators have endings attached.
        let rest = || known().fold((*word).to_owned(), |rest, of| rest.replace(of, ""));
        let is_ending = || rest().chars().count() <= 5;
        let is_short = word.chars().count() <= 3;
        let is_parted = word.chars().all(|of| of < '\u{2e80}');
        let is_listed = is_known && (is_parted || is_ending()) || phrases::FILLERS.contains(word);
        !is_short && !is_listed
    };
    rest.split(|of: char| !of.is_alphanumeric() && of != '-').filter(is_more).count()
}

/// True if a lower-case text beside a login form may give another reason than the user and the password.
fn has_other_reason(text: &str) -> bool {
    use phrases::{FIREWALLS, FOR_OTHER_REASONS, NOT_LOOKED_AT, OF_OTHERS, TROUBLE};
    // XenForo's term for an unknown user is not about a request.
    let text = format!(" {text} ").replace("requested user", "user");
    let failing = clauses(&text, SENTENCE_PARTS).filter(|clause| fails_whole(clause));
    let text = failing.fold(text.clone(), |text, clause| text.replace(clause.trim(), ""));
    // A status, or an error number.
    let is_number = |word: &str| word.len() >= 3 && word.bytes().all(|of| of.is_ascii_digit());
    text.split(' ').any(is_of_machine)
        || text.split(|of: char| !of.is_alphanumeric()).any(is_number)
        || [OF_OTHERS, FOR_OTHER_REASONS, TROUBLE, FIREWALLS, NOT_LOOKED_AT].into_iter().any(|words| has(&text, words))
}

pub(super) fn has(text: &str, words: impl Phrases) -> bool {
    words.are_in(text)
}

/// The clauses of a text, with a space on either side and their question marks.
pub(super) fn clauses(text: &str, ends: &'static [char]) -> impl Iterator<Item = String> {
    let parts = text.split_inclusive(ends).filter(|part| part.chars().any(char::is_alphanumeric));
    parts.map(move |part| {
        let mark = part.chars().last().filter(|mark| QUESTIONS.contains(mark));
        let mark = mark.map(String::from).unwrap_or_default();
        format!(" {} {mark}", part.trim_end_matches(ends).trim())
    })
}

/// True if a clause states a fact, and is neither hypothetical nor a question.
pub(super) fn is_told(clause: &str) -> bool {
    !clause.ends_with(QUESTIONS) && !has(clause, phrases::WARNINGS) && !has(clause, phrases::CONDITIONS)
}

/// Messages of programs and logs are longer.
const SHORT_SENTENCE_CHARS: usize = 160;

pub(super) const CLAUSE_ENDS: &[char] = &['.', '!', '?', ';', ',', '\n', '。', '！', '？', '；', '，', '、'];

/// Those, and the separators of a reason.
pub(super) const SENTENCE_PARTS: &[char] = &[
    '.', '!', '?', ';', ',', '\n', '。', '！', '？', '；', '，', '、', ':', '：', '(', ')', '（', '）', '[', ']', '–',
    '—', '|',
];

pub(super) const QUESTIONS: &[char] = &['?', '？'];

/// A path, a call, or an assignment in code.
fn is_of_machine(word: &str) -> bool {
    let is_code = word.contains(['(', '=']) || word.contains("::") || word.contains(".php");
    word.starts_with(['/', '\\', '$']) || word.is_ascii() && is_code
}
