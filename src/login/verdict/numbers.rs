//! Numbers in a response: when a lock ends, how many attempts are left.

use super::wait::times_in;
use super::{After, SHORT_TEXT_BYTES};
use crate::limits::LOGIN_NUMBERS_TOLD_MAX;
use crate::phrases;
use gleaner_base::words::Topic;

/// Texts of a response with a number of attempts or a time, verbatim: those beside the form that were not on the page
/// before (even with another number), or those of a page that is only a message; at most
/// `limits::LOGIN_NUMBERS_TOLD_MAX`. They may contain the operator's secret.
#[must_use]
pub fn said_in_numbers<'a>(after: &After<'a>) -> Vec<&'a str> {
    let view = after.view;
    let beside = after.login_form.into_iter().flat_map(|form| view.messages_at(form, after.before));
    let is_message = after.login_form.is_none() && view.text.len() < SHORT_TEXT_BYTES;
    let of_message = view.all_messages().filter(|_| is_message);
    let wordless = |text: &str| text.replace(|of: char| of.is_ascii_digit(), "");
    let before: Vec<String> = after.before.into_iter().flat_map(|of| of.all_messages().map(wordless)).collect();
    let told = beside.chain(of_message).filter(|text| is_telling(&text.to_lowercase()));
    told.filter(|text| !before.contains(&wordless(text))).take(LOGIN_NUMBERS_TOLD_MAX).collect()
}

/// “30 minutes”, “1 attempts remaining”, “until 25.11.2026”, but neither “0.052 seconds” nor “7 guests online”.
fn is_telling(text: &str) -> bool {
    let has = |words: Topic| words.are_in(text);
    let has_digit = text.contains(|of: char| of.is_ascii_digit());
    has_digit && (has(phrases::TRIES) || has(phrases::UNTIL) || times_in(text).iter().any(|seconds| *seconds >= 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::View;

    #[test]
    fn texts_with_a_number_are_told_and_not_how_long_the_page_took() {
        let form = "<form method=post><input name=u><input type=password name=p></form>";
        let before = View::of(&format!("<p>2 guests are here.</p>{form}")).unwrap();
        for (page, expected) in [
            (
                "<p>2 guests are here.</p><p class=error>Wrong password.</p><p>You have 1 attempts remaining.</p>",
                vec!["You have 1 attempts remaining."],
            ),
            ("<p class=error>Locked until 25.11.2026, 21:00.</p>", vec!["Locked until 25.11.2026, 21:00."]),
            ("<p class=error>请15分钟后再试</p>", vec!["请15分钟后再试"]),
            ("<p class=error>Wrong password.</p><p>Made in 0.052 seconds.</p><p>7 guests are here.</p>", vec![]),
            ("<p>It is now 22:13.</p><p>Wrong password, 2 tries left</p>", vec!["Wrong password, 2 tries left"]),
        ] {
            let view = View::of(&format!("{page}{form}")).unwrap();
            let after = After::answered(&view, Some(0), Some(&before));
            assert_eq!(said_in_numbers(&after), expected, "{page}");
        }
        let view = View::of("<h1>Error</h1><p>Account locked for 30 minutes.</p>").unwrap();
        let after = After::answered(&view, None, None);
        assert_eq!(said_in_numbers(&after), ["Account locked for 30 minutes."]);
    }
}
