//! What an answer says in numbers: when a lock ends, how many tries are left.

use super::{After, SHORT_TEXT_BYTES};
use crate::limits::LOGIN_NUMBERS_TOLD_MAX;

/// The texts of an answer to this login that have a number, as the site wrote them: those beside the form and not on the page before, or what
/// stands first on a page that is nothing but a message; at most `limits::LOGIN_NUMBERS_TOLD_MAX`. The operator's secret may be among them.
#[must_use]
pub fn said_in_numbers<'a>(after: &After<'a>) -> Vec<&'a str> {
    let view = after.view;
    let beside = after.login_form.into_iter().flat_map(|form| view.messages_at(form, after.before));
    let is_message = after.login_form.is_none() && view.text.len() < SHORT_TEXT_BYTES;
    let first = view.first_message().filter(|_| is_message);
    beside.chain(first).filter(|text| has_number(text)).take(LOGIN_NUMBERS_TOLD_MAX).collect()
}

/// “30 minutes”, “请15分钟后再试”, and not “0.052 seconds”.
fn has_number(text: &str) -> bool {
    let is_digit = |of: char| of.is_ascii_digit();
    text.split(|of: char| !is_digit(of) && of != '.').any(|part| {
        let number = part.trim_matches('.');
        !number.is_empty() && !number.contains('.') || number.matches('.').count() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::view::View;

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
            ("<p class=error>Wrong password.</p><p>Made in 0.052 seconds.</p>", vec![]),
        ] {
            let view = View::of(&format!("{page}{form}")).unwrap();
            let after = After {
                status: 200,
                view: &view,
                login_form: Some(0),
                cookies_changed: false,
                before: Some(&before),
                has_read_captcha: false,
            };
            assert_eq!(said_in_numbers(&after), expected, "{page}");
        }
        let view = View::of("<h1>Error</h1><p>Account locked for 30 minutes.</p>").unwrap();
        let after = After {
            status: 403,
            view: &view,
            login_form: None,
            cookies_changed: false,
            before: None,
            has_read_captcha: false,
        };
        assert_eq!(said_in_numbers(&after), ["Account locked for 30 minutes."]);
    }
}
