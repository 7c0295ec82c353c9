//! Does an answer refuse the user or the password, for sure enough to end the tries of a pair that was let in before?
//!
//! What each page of a site has (its title, links, buttons) counts for nothing, and neither do words of the machine, its paths and its calls:
//! trouble has all of these. What counts is a sentence that says of the user, the password or the login that it is wrong.

use super::{After, SHORT_TEXT_BYTES};
use crate::login::phrases;

/// True where a sentence of what the answer says to this login refuses it.
#[must_use]
pub fn says_refused(after: &After<'_>) -> bool {
    match after.login_form {
        Some(form) => {
            let mut beside = after.view.messages_at(form, after.before).map(str::to_lowercase);
            beside.any(|text| refuses(&text)) || after.message().is_some_and(|message| refuses(&message))
        }
        None => after.view.text.len() < SHORT_TEXT_BYTES && after.view.said.lines().any(refuses),
    }
}

/// True where a sentence of this text, in lower case, says of the user, the password or the login that it is wrong.
#[must_use]
pub fn refuses(text: &str) -> bool {
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let plain: Vec<&str> = text.split(' ').filter(|word| !is_of_machine(word)).collect();
    let plain = plain.join(" ");
    let names = |sentence: &str| has(sentence, phrases::CREDENTIALS) || has(sentence, phrases::OF_ACCOUNT);
    has(text, phrases::WRONG)
        || plain
            .split(|of: char| ".!?;。！？；".contains(of))
            .any(|sentence| names(sentence) && has(sentence, phrases::REFUSES))
}

/// A path, a call, or a name of a program's.
fn is_of_machine(word: &str) -> bool {
    word.starts_with(['/', '\\', '$']) || word.contains(['(', '_', '=']) || word.contains("::") || word.contains(".php")
}
