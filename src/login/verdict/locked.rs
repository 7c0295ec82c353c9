//! Detects responses that say in short words that the account is locked. (`phrases::LOCKED` has whole sentences of
//! known software.)
//!
//! Nobody can list the wording of every site, so a rule reads it: a clause with a word for an account and one for
//! locking, and only words that are known to occur around these two. A locked thread, table or address has other
//! words.

use std::time::Duration;

use super::refusal::{CLAUSE_ENDS, QUESTIONS, SENTENCE_PARTS, clauses, has, is_told};
use super::wait::{in_numbers, is_unit, names_hours, names_wait_in, sentences, times_in};
use super::{After, SHORT_TEXT_BYTES, names_wait, says_rate_limited};
use crate::phrases;
use crate::view::View;
use gleaner_base::words::Topic;

/// The clause of a response that says so, only from texts for this login.
pub(super) fn says_locked(after: &After<'_>) -> Option<String> {
    let said = said_to_this_login(after);
    let is_trouble = || said.iter().any(|text| has(text, phrases::TROUBLE));
    // A temporary lock is a rate limit.
    let is_for_time = |clause: &str| has(clause, phrases::FOR_A_TIME) || names_wait(after.view).is_some();
    let is_limit = |clause: &str| says_rate_limited(after.view).is_some() && is_for_time(clause);
    let of_account = |text: &String| if has(text, phrases::PROGRAMS) { None } else { locks(text) };
    let texts = said.iter().filter(|text| !is_of_database(text));
    let locked = texts.into_iter().find_map(|text| of_account(text).or_else(|| bans(text)));
    locked.filter(|clause| !is_trouble() && !is_limit(clause))
}

/// True for a response with rate-limit words and a clause that an account is locked, with any reason, but without a
/// time after which it ends.
pub(super) fn is_locked_for_good(after: &After<'_>) -> bool {
    use phrases::FOR_A_TIME;
    let said = said_to_this_login(after);
    let is_for_time = |text: &String| has(text, FOR_A_TIME) || has(text, phrases::LATER) || names_hours(text).is_some();
    if names_wait_in(&said.join("\n")).is_some()
        || said.iter().any(|text| is_for_time(text) || has(text, phrases::TROUBLE))
    {
        return false;
    }
    // “Per troppi tentativi” is a reason, not a rate.
    let texts: Vec<String> = said.iter().map(|text| text.replace(" per tropp", " tropp")).collect();
    let mut told = texts.iter().flat_map(|text| clauses(text, CLAUSE_ENDS)).filter(|clause| is_told(clause));
    told.any(|clause| is_locked_somehow(&clause))
}

/// When a lock ends by itself, if a response says that an account is locked, and in the same or the next sentence for
/// how long: “locked for 30 minutes”, “Account locked. Try again in 1 hour.” The meaning of other times is unknown.
#[must_use]
pub fn locked_for(after: &After<'_>) -> Option<Duration> {
    let said = said_to_this_login(after);
    let told: Vec<&str> = said.iter().flat_map(|text| sentences(text)).collect();
    let is_lock =
        |sentence: &&str| locks(sentence).is_some() || is_locked_somehow(sentence) || has(sentence, phrases::LOCKED);
    let at = told.iter().position(is_lock)?;
    let is_about_it = |sentence: &&&str| !has(sentence, phrases::OTHER_TIMES);
    let is_of_it = |sentence: &&&str| !has(sentence, phrases::OF_NO_LOCK);
    let first = |sentence: &str| times_in(sentence).first().copied().filter(|seconds| *seconds >= LOCK_MIN_S);
    let behind = || told.get(at + 1).filter(|of| has(of, phrases::OPENS_AGAIN)).filter(is_about_it).filter(is_of_it);
    let seconds = first(told.get(at).filter(is_about_it)?).or_else(|| first(behind()?))?;
    Some(Duration::from_secs(seconds.min(LOCK_MAX_S)))
}

/// No account is locked for less.
const LOCK_MIN_S: u64 = 60;

/// Upper bound for a plausible time.
const LOCK_MAX_S: u64 = 100 * 86_400;

/// True if a sentence has a word for an account and one for locking.
fn is_locked_somehow(text: &str) -> bool {
    use phrases::{ACCOUNTS, ACCOUNTS_UNPARTED, IS_LOCKED, IS_LOCKED_UNPARTED};
    let has_word = |of: Topic| text.split(|of: char| !of.is_alphanumeric()).any(|word| of.has(word));
    has_word(ACCOUNTS) && has_word(IS_LOCKED) || has(text, ACCOUNTS_UNPARTED) && has(text, IS_LOCKED_UNPARTED)
}

/// The texts for this login, in lower case.
fn said_to_this_login(after: &After<'_>) -> Vec<String> {
    let view = after.view;
    match after.login_form {
        Some(form) => {
            let beside = view.messages_at(form, after.before).chain(view.headings_at(form, after.before));
            beside.map(str::to_lowercase).collect()
        }
        None if view.text.len() < SHORT_TEXT_BYTES => view.said.lines().map(str::to_owned).collect(),
        None => Vec::new(),
    }
}

/// A known sentence that contains an address: “your IP address 192.0.2.7 has been banned”.
fn bans(text: &str) -> Option<String> {
    let is_v4 = |word: &str| {
        word.split('.').count() == 4
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|of| of.is_ascii_digit()))
    };
    let is_v6 = |word: &str| {
        word.matches(':').count() > 1 && word.bytes().all(|of| of.is_ascii_hexdigit() || b":.".contains(&of))
    };
    let is_address = |word: &str| is_v4(word) || is_v6(word);
    let brackets = ['(', ')', '[', ']', ',', ';'];
    let bare = text.split_whitespace().filter(|word| !is_address(word.trim_matches(brackets)));
    let bare = bare.collect::<Vec<_>>().join(" ");
    let says = |phrase: &&&str| bare.contains(**phrase) && !text.contains(**phrase) && !is_supposed(&bare, phrase);
    phrases::LOCKED.iter().find(says).map(|phrase| (*phrase).to_owned())
}

/// True if the phrase on this page is not about an account, or is only hypothetical.
pub(super) fn is_another(view: &View, phrase: &str) -> bool {
    is_supposed(&view.said, phrase) || is_elsewhere(view, phrase)
}

/// “If your account is locked, write to us.”
fn is_supposed(said: &str, phrase: &str) -> bool {
    let mut saying = clauses(said, CLAUSE_ENDS).filter(|clause| clause.contains(phrase)).peekable();
    saying.peek().is_some() && saying.all(|clause| has(&clause, phrases::SUPPOSES))
}

/// True if this phrase is about an account of the site's database, or about the whole site.
fn is_elsewhere(view: &View, phrase: &str) -> bool {
    let is_of_site = |before: &str| {
        let clause = before.rsplit(CLAUSE_ENDS).next().unwrap_or_default();
        match *clause.split_whitespace().collect::<Vec<_>>() {
            ["the" | "this" | "our", site] | [site] => phrases::WHOLE_SITES.contains(&site),
            _ => false,
        }
    };
    let is_none = |before: &str| is_of_site(before) || has(before, phrases::PROGRAMS);
    let is_one = |line: &str| is_of_database(line) || line.match_indices(phrase).all(|(at, _)| is_none(&line[..at]));
    let mut saying = view.said.lines().filter(|line| line.contains(phrase)).peekable();
    saying.peek().is_some() && saying.all(is_one)
}

/// True if a sentence comes from a database: “ORA-28000: the account is locked”.
fn is_of_database(line: &str) -> bool {
    let is_code = |(at, code): (usize, &str)| {
        !line[..at].ends_with(char::is_alphanumeric)
            && line[at + code.len()..].starts_with(|of: char| of.is_ascii_digit())
    };
    has(line, phrases::LOCKED_IN_DATABASE) || line.match_indices("ora-").any(is_code)
}

/// The clause of a lower-case text that says that an account is locked, with nothing but the reason and the duration.
fn locks(text: &str) -> Option<String> {
    // `account_locked` is an error code of many APIs.
    let text = in_numbers(&text.replace('_', " "));
    let asks = |sentence: &String| sentence.ends_with(QUESTIONS) || has(sentence, phrases::SUPPOSES);
    let told = clauses(&text, SENTENCES).filter(|sentence| !asks(sentence));
    let found = told.flat_map(|sentence| clauses(&sentence, CLAUSE_ENDS).collect::<Vec<_>>()).find_map(|clause| {
        let pieces: Vec<String> = clauses(&clause, SENTENCE_PARTS).collect();
        let at = pieces.iter().position(|piece| front_that_locks(piece).is_some())?;
        // “[22:00] bob: user is banned” is about someone else, and “Member suspended (12)” is a counter.
        let is_label = |piece: &String| has(piece, phrases::FAILS) || is_known(piece);
        let has_word = |piece: &String| piece.contains(char::is_alphabetic);
        (pieces[..at].iter().all(is_label) && pieces[at + 1..].iter().all(has_word)).then(|| pieces[at].clone())
    })?;
    front_that_locks(&found)
}

/// The words of a clause that say so, without the reason and duration after them. With a reason, it must be about the
/// reader's account, or be temporary; “Member banned for cheating” is news.
fn front_that_locks(clause: &str) -> Option<String> {
    let (until, reasons) = (phrases::UNTIL.iter(), phrases::BEHIND_LOCKED.iter());
    let has_word = |words: Topic| clause.split(|of: char| !of.is_alphanumeric()).any(|word| words.has(word));
    let words: Vec<&str> = clause.split_whitespace().collect();
    let is_number = |word: &str| word.bytes().all(|of| of.is_ascii_digit());
    let is_for_time = without_times(clause).trim() != words.join(" ")
        || words.windows(2).any(|pair| phrases::FOR_TIMES.contains(&pair[0]) && is_number(pair[1]));
    let is_own = || has(clause, phrases::OWN_ACCOUNTS) && is_for_time || has_word(phrases::YOURS);
    let whole = (!is_for_time || is_own()).then_some(clause.len());
    let cuts = until.chain(reasons.filter(|_| is_own())).filter_map(|of| clause.find(of)).chain(whole);
    let fronts = cuts.map(|end| without_times(&clause[..end]));
    fronts
        .filter(|front| is_told(&format!(" {} ", front.trim())))
        .find(|front| is_locked(front) || is_locked_unparted(front))
        .map(|front| front.trim().to_owned())
}

/// The same without “for 30 minutes”, at any place.
fn without_times(clause: &str) -> String {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let is_number = |at: usize| words.get(at).is_some_and(|word| word.bytes().all(|of| of.is_ascii_digit()));
    let is_time = |at: usize| is_number(at) && words.get(at + 1).is_some_and(|unit| is_unit(unit));
    let is_of_time = |at: usize| {
        is_time(at) || at > 0 && is_time(at - 1) || is_time(at + 1) && phrases::FOR_TIMES.contains(&words[at])
    };
    let rest: Vec<&str> = (0..words.len()).filter(|at| !is_of_time(*at)).map(|at| words[at]).collect();
    // For scripts without word separators.
    let unparted = |text: &str| {
        let mut rest = text.to_owned();
        while let Some(at) = rest.find(|of: char| of.is_ascii_digit()) {
            let behind = rest[at..].trim_start_matches(|of: char| of.is_ascii_digit());
            let Some(unit) = phrases::WAIT_UNPARTED.iter().find(|unit| behind.starts_with(**unit)) else { break };
            rest = format!("{}{}", &rest[..at], &behind[unit.len()..]);
        }
        rest
    };
    unparted(&rest.join(" "))
}

/// True if every word of a piece is known to occur around a lock.
fn is_known(piece: &str) -> bool {
    use phrases::{ACCOUNTS, AROUND_LOCKED, AROUND_LOCKED_UNPARTED, IS_LOCKED, LABELS};
    let is_word = |word: &str| [ACCOUNTS, IS_LOCKED, AROUND_LOCKED, LABELS].iter().any(|of| of.has(word));
    let rest = AROUND_LOCKED_UNPARTED.iter().fold(piece.to_owned(), |rest, of| rest.replace(of, ""));
    rest.split(|of: char| !of.is_alphanumeric()).filter(|word| !word.is_empty()).all(is_word)
}

fn is_locked(clause: &str) -> bool {
    use phrases::{ACCOUNTS, AROUND_LOCKED, IS_LOCKED};
    // `AccountLocked`, in lower case.
    let parted = |word| match ["account", "user"].into_iter().find_map(|of| Some((of, str::strip_prefix(word, of)?))) {
        Some((of, rest)) if IS_LOCKED.contains(&rest) => [of, rest],
        _ => [word, ""],
    };
    let words = clause.split(|of: char| !of.is_alphanumeric()).flat_map(parted).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let any = |of: Topic| words.iter().any(|word| of.contains(word));
    let is_known = |word: &&str| [ACCOUNTS, IS_LOCKED, AROUND_LOCKED].iter().any(|of| of.contains(word));
    any(ACCOUNTS) && any(IS_LOCKED) && words.iter().all(is_known)
}

/// The same for Chinese, Japanese and Korean: the account first, then the lock.
fn is_locked_unparted(clause: &str) -> bool {
    use phrases::{ACCOUNTS_UNPARTED, AROUND_LOCKED_UNPARTED, IS_LOCKED_UNPARTED};
    let text: String = clause.chars().filter(|of| of.is_alphanumeric()).collect();
    let longest = |rest: &str, words: Topic| words.iter().filter(|of| rest.starts_with(**of)).map(|of| of.len()).max();
    let (mut rest, mut has_account, mut is_locked) = (&*text, false, false);
    while !rest.is_empty() {
        let [account, locked, around] =
            [ACCOUNTS_UNPARTED, IS_LOCKED_UNPARTED, AROUND_LOCKED_UNPARTED].map(|words| longest(rest, words));
        let Some(known) = account.max(locked).max(around) else { return false };
        has_account |= account == Some(known);
        is_locked |= locked == Some(known) && has_account;
        rest = &rest[known..];
    }
    has_account && is_locked
}

const SENTENCES: &[char] = &['.', '!', '?', '\n', '。', '！', '？'];
