//! What a response says about the CAPTCHA of its form, and whether it is about nothing else.

use super::After;
use super::refusal::has;
use crate::phrases;
use gleaner_base::words::Topic;

/// The CAPTCHA word in a message of a form that has, or had, a CAPTCHA. Sites use any of these words.
pub(super) fn names_captcha(message: &str) -> Option<&'static str> {
    let has_word = |word: &str| message.split(|of: char| !of.is_alphanumeric()).any(|of| of == word);
    let anywhere = phrases::CAPTCHA_WORDS.first_in(message);
    anywhere.or_else(|| phrases::CAPTCHA_WHOLE_WORDS.iter().copied().find(|word| has_word(word)))
}

/// The subject of a page's message to a login whose form has, or had, a CAPTCHA.
pub(super) enum AboutCaptcha {
    Nothing,
    /// Only the CAPTCHA; with the word for it.
    Captcha(&'static str),
    /// Possibly the account.
    More,
}

/// A page is about its CAPTCHA alone if no new text beside the form has a word for the account or offers two things
/// of which one is wrong, and each sentence has a word for the CAPTCHA or asks to try again.
pub(super) fn said_of_captcha(after: &After<'_>) -> AboutCaptcha {
    let has_word = |text: &str, words: Topic| text.split(|of: char| !of.is_alphanumeric()).any(|word| words.has(word));
    let of_account = [phrases::CREDENTIALS, phrases::OF_LOGIN, phrases::OF_ACCOUNT, phrases::OF_ACCESS];
    let is_of_account = |text: &str| of_account.iter().any(|words| words.are_in(text));
    let known = || after.view.says(phrases::WRONG_CAPTCHA);
    let (message, all) = match after.login_form {
        Some(form) => {
            let all = after.view.messages_at(form, after.before).map(str::to_lowercase).collect();
            (after.said_beside_form(), all)
        }
        None => (Some(after.view.text.clone()), Vec::new()),
    };
    let Some(message) = message else { return known().map_or(AboutCaptcha::Nothing, AboutCaptcha::Captcha) };
    let parts: Vec<char> = message.chars().collect();
    let is_parted = |three: &[char]| three[1] == '/' && three[0].is_alphabetic() && three[2].is_alphabetic();
    let is_either = has(&message, phrases::EITHER)
        || has_word(&message, phrases::EITHER_WHOLE_WORDS)
        || parts.windows(3).any(is_parted);
    if is_either || all.iter().chain([&message]).any(|text| is_of_account(text)) {
        return AboutCaptcha::More;
    }
    let is_of_captcha = |sentence: &str| names_captcha(sentence).is_some() || has(sentence, phrases::WRONG_CAPTCHA);
    // A single Latin word is an exclamation.
    let says_more = |sentence: &str| sentence.trim().contains(' ') || sentence.chars().any(|of| of > '\u{2e80}');
    let mut sentences = message.split(|of: char| ".!?;。！？；".contains(of)).filter(|sentence| says_more(sentence));
    if !sentences.all(|sentence| is_of_captcha(sentence) || has(sentence, phrases::ONCE_MORE)) {
        return AboutCaptcha::More;
    }
    names_captcha(&message).or_else(known).map_or(AboutCaptcha::More, AboutCaptcha::Captcha)
}
