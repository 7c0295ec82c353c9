//! Does an answer refuse the user or the password, for sure enough to end the tries of a pair that was let in before?
//!
//! Sites in trouble have words for all of it: in titles, links and buttons, in errors of programs and databases, in limits and in sentences
//! about sessions and forms. So what counts is one clause that names what a login is by, and says that it is wrong, and speaks of nothing
//! else. What is missed here is no harm: such an answer has few further tries (`limits::LOGIN_BARE_MAX`).

use super::{After, SHORT_TEXT_BYTES, WARNINGS, says_rate_limited};
use crate::login::phrases;

/// True where a clause of what the answer says to this login refuses it.
#[must_use]
pub fn says_refused(after: &After<'_>) -> bool {
    if after.status >= 500 || is_limited(after) {
        return false;
    }
    match after.login_form {
        Some(form) => {
            let mut beside = after.view.messages_at(form, after.before).map(str::to_lowercase);
            beside.any(|text| refuses(&text)) || after.message().is_some_and(|message| refuses(&message))
        }
        None => after.view.text.len() < SHORT_TEXT_BYTES && after.view.said.lines().any(refuses),
    }
}

/// True where it asks for patience, whatever it says beside that: the right password is answered so as well.
#[must_use]
pub fn is_limited(after: &After<'_>) -> bool {
    after.status == 429 || says_rate_limited(after.view).is_some()
}

/// True where a clause of this text, in lower case, says of the user or the password that it is wrong.
#[must_use]
pub fn refuses(text: &str) -> bool {
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let plain: Vec<&str> = text.split(' ').filter(|word| !is_of_machine(word)).collect();
    let plain = plain.join(" ").replace('_', " ");
    let is_sure = |clause: &str| {
        let clause = format!(" {clause} ");
        has(&clause, phrases::CREDENTIALS)
            && has(&clause, phrases::REFUSES)
            && !has(&clause, phrases::OF_OTHERS)
            && !has(&clause, WARNINGS)
    };
    has(text, phrases::TRIES_LEFT) || plain.split(|of: char| ".!?;,\n。！？；，、".contains(of)).any(is_sure)
}

/// A path, a call, or an assignment of a program's.
fn is_of_machine(word: &str) -> bool {
    let is_code = word.contains(['(', '=']) || word.contains("::") || word.contains(".php");
    word.starts_with(['/', '\\', '$']) || word.is_ascii() && is_code
}
