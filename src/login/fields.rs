//! The role of each field of a form (ALGORITHMS §4.2): what each control asks for, and which ones a login fills in.
//!
//! The evidence is, in this order: `autocomplete`, type, name and id, label and placeholder, and last the text before
//! the control. The first that is conclusive decides. Fields that a person would not see are not filled in, because
//! they may be honeypots. Knows no values and sends nothing.

use super::form::{Control, Form, Kind, Method};
use super::words::{Folded, Tally, Topic};
use crate::limits::FIELD_HINT_BYTES_MAX;

/// What a control asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// A user name, or a user name or address.
    User,
    Email,
    /// A password to log in with.
    Password,
    /// A password to be set, or a second entry of one.
    NewPassword,
    Remember,
    Captcha,
    SecondFactor,
    Question,
    Answer,
    /// Asked for only by registrations, orders or contact forms.
    Person,
    Search,
    /// Nothing that a person fills in: a hidden or concealed field, a honeypot, a button.
    Nothing,
    #[default]
    Unknown,
}

/// The fields of a login form, as indexes into [`Form::controls`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// User name or e-mail address.
    pub user: Option<usize>,
    pub password: Option<usize>,
    /// The checkbox, list or first radio button that makes the session last.
    pub remember: Option<usize>,
    pub captcha: Option<usize>,
    pub second_factor: Option<usize>,
    pub question: Option<usize>,
    pub answer: Option<usize>,
}

/// The fields that a login fills in.
#[must_use]
pub fn roles(form: &Form) -> Roles {
    roles_of(form, &asked(form))
}

/// What each control asks for, in the order of [`Form::controls`].
#[must_use]
pub fn asked(form: &Form) -> Vec<Asked> {
    let mut asked: Vec<Asked> = form.controls.iter().map(asked_by).collect();
    let is_password = |at: &usize| {
        form.controls[*at].kind == Kind::Password && matches!(asked[*at], Asked::Password | Asked::NewPassword)
    };
    let mut passwords: Vec<usize> = (0..asked.len()).filter(is_password).collect();
    if passwords.is_empty() {
        // If a script shows the password field after the name, or in one of several tabs, none is visible at first.
        let is_to_come = |at: &usize| form.controls[*at].kind == Kind::Password && !form.controls[*at].is_disabled;
        passwords = (0..asked.len()).filter(|at| asked[*at] == Asked::Nothing).filter(is_to_come).collect();
    }
    // The first password is the current one, even if its id contains a number; later ones are repeats or new
    // passwords.
    if let [first, rest @ ..] = passwords.as_slice() {
        asked[*first] = Asked::Password;
        for again in rest {
            asked[*again] = Asked::NewPassword;
        }
    }
    asked
}

/// The only text field of a form that asks for the user's name and nothing else, as in the first step of a two-page
/// login. If the form was not judged to be a login form (`is_judged`), its field and its button must say so. None for
/// a form that would not be sent in a request body, and for searches, registrations, newsletters and logins with
/// other accounts.
#[must_use]
pub fn asks_for_user_alone(form: &Form, is_judged: bool) -> Option<usize> {
    const OTHERS: [Topic; 7] = [
        Topic::Search,
        Topic::Register,
        Topic::Reset,
        Topic::Newsletter,
        Topic::Comment,
        Topic::Order,
        Topic::OtherAccount,
    ];
    let asked = asked(form);
    let lines = |at: &usize| form.controls[*at].kind.is_line() && asked[*at] != Asked::Nothing;
    let mut lines = (0..asked.len()).filter(lines);
    let (user, None) = (lines.next()?, lines.next()) else { return None };
    let (control, button) = (&form.controls[user], &form.controls[form.submit()?]);
    let is_sent = form.is_element && button.formmethod.unwrap_or(form.method) == Method::Post;
    let is_user = matches!(asked[user], Asked::User | Asked::Email) && !control.name.is_empty();
    // A password that a script shows later is filled in here.
    let has_password = form.controls.iter().any(|control| control.kind == Kind::Password && !control.is_disabled);
    let said = own_words(button);
    let about = folded([&form.id, &form.name, &form.class, &form.action]).tally();
    if !is_sent
        || !is_user
        || has_password
        || [&said.tally(), &about, &own_words(control).tally()].iter().any(|of| of.any(&OTHERS))
    {
        return None;
    }
    let declares =
        control.kind == Kind::Email || ["username", "email", "webauthn"].iter().any(|token| says(control, token));
    let goes_on = said.tally().has(Topic::Login) || NEXT.are_in(said.as_str());
    (is_judged || (declares && goes_on)).then_some(user)
}

gleaner_base::topics! { pub(crate) form: NEXT; }

/// True for the second step of such a login: one current password, and no text field but the user's.
#[must_use]
pub fn asks_for_password_alone(form: &Form) -> bool {
    let roles = roles(form);
    let (asked, Some(password)) = (asked(form), roles.password) else { return false };
    let mut lines = (0..asked.len()).filter(|at| form.controls[*at].kind.is_line() && asked[*at] != Asked::Nothing);
    !says(&form.controls[password], "new-password") && lines.all(|at| at == password || Some(at) == roles.user)
}

pub(super) fn roles_of(form: &Form, asked: &[Asked]) -> Roles {
    let first = |wanted: Asked| asked.iter().position(|of| *of == wanted);
    let password = password(form, asked);
    Roles {
        user: user(form, asked, password),
        password,
        remember: first(Asked::Remember),
        captcha: first(Asked::Captcha),
        second_factor: first(Asked::SecondFactor),
        question: first(Asked::Question),
        answer: first(Asked::Answer),
    }
}

/// The password field, or a text field with such a name.
fn password(form: &Form, asked: &[Asked]) -> Option<usize> {
    let asks = |at: &usize| asked[*at] == Asked::Password;
    let mut places = (0..form.controls.len()).filter(asks);
    places.clone().find(|at| form.controls[*at].kind == Kind::Password).or_else(|| places.next())
}

/// The field for the user's name. If a whole page is one form there may be several: the last one before the password.
fn user(form: &Form, asked: &[Asked], password: Option<usize>) -> Option<usize> {
    let end = password.unwrap_or(form.controls.len());
    let is_user = |at: &usize| matches!(asked[*at], Asked::User | Asked::Email);
    let is_open = |at: &usize| asked[*at] == Asked::Unknown && form.controls[*at].kind.may_name_a_user();
    let is_personal = |at: &usize| asked[*at] == Asked::Person && form.controls[*at].kind.may_name_a_user();
    let declared = (0..form.controls.len()).find(|at| is_user(at) && says(&form.controls[*at], "username"));
    // A field that a script shows is better than none.
    let concealed = |at: &usize| {
        let control = &form.controls[*at];
        control.is_concealed && !control.is_disabled && control.kind.may_name_a_user() && {
            let tally = own_words(control).tally();
            tally.any(&[Topic::User, Topic::Email]) && !tally.any(&[Topic::Honeypot, Topic::Search])
        }
    };
    let password_is_concealed = password.is_some_and(|at| form.controls[at].is_concealed);
    declared
        .or_else(|| password.filter(|_| password_is_concealed).and_then(|end| (0..end).rev().find(concealed)))
        .or_else(|| (0..end).rev().find(is_user))
        .or_else(|| (0..end).rev().find(is_open).filter(|_| password.is_some()))
        // Some sites use a telephone number to log in.
        .or_else(|| (0..end).rev().find(is_personal).filter(|_| password.is_some()))
        .or_else(|| (end..form.controls.len()).find(is_user))
        .or_else(|| (end..form.controls.len()).find(is_open).filter(|_| password.is_some()))
        .or_else(|| password.and_then(|end| (0..end).rev().find(concealed)))
}

fn says(control: &Control, token: &str) -> bool {
    control.autocomplete.split_ascii_whitespace().any(|of| of.eq_ignore_ascii_case(token))
}

/// What a control asks for.
fn asked_by(control: &Control) -> Asked {
    if control.is_concealed || control.is_disabled {
        return Asked::Nothing;
    }
    match control.kind {
        Kind::Hidden | Kind::Submit | Kind::Image | Kind::Button | Kind::Reset => Asked::Nothing,
        Kind::Checkbox | Kind::Radio => asked_by_box(control),
        Kind::Select => asked_by_list(control),
        Kind::File | Kind::Textarea | Kind::Picker => Asked::Unknown,
        _ => asked_by_line(control),
    }
}

fn asked_by_box(control: &Control) -> Asked {
    let mut words = own_words(control);
    add_end(&mut words, &control.before);
    words.add_up_to(&control.after, FIELD_HINT_BYTES_MAX);
    let tally = words.tally();
    // A checkbox named `remember` may have terms to agree to beside it.
    match () {
        () if own_words(control).tally().has(Topic::Remember) => Asked::Remember,
        () if tally.has(Topic::Person) || tally.has(Topic::Newsletter) => Asked::Person,
        () if control.kind == Kind::Checkbox && tally.has(Topic::Remember) => Asked::Remember,
        () => Asked::Unknown,
    }
}

fn asked_by_list(control: &Control) -> Asked {
    let tally = own_words(control).tally();
    match () {
        () if tally.has(Topic::Question) => Asked::Question,
        () if tally.has(Topic::Remember) => Asked::Remember,
        () if tally.has(Topic::Person) => Asked::Person,
        () => Asked::Unknown,
    }
}

fn asked_by_line(control: &Control) -> Asked {
    if let Some(asked) = declared(control) {
        return asked;
    }
    if control.kind == Kind::Search {
        return Asked::Search;
    }
    let named = || folded([&control.name, &control.id]);
    let shown = || folded([&control.label, &control.placeholder, &control.title]);
    if control.kind == Kind::Password {
        return asked_by_password(&named().tally(), &shown().tally());
    }
    let around = || {
        let mut around = folded([&control.value]);
        add_end(&mut around, &control.before);
        around
    };
    let words: [&dyn Fn() -> Folded; 3] = [&named, &shown, &around];
    let mut told = Asked::Unknown;
    for words in words {
        match told {
            Asked::Unknown => told = asked_by_words(&words().tally()),
            // `nome` and `lname` are used for all sorts of fields; the visible label is more reliable.
            Asked::Person => {
                if let said @ (Asked::User | Asked::Email) = asked_by_words(&words().tally()) {
                    told = said;
                }
            }
            _ => break,
        }
    }
    match (told, control.kind) {
        (Asked::User | Asked::Password | Asked::Unknown, Kind::Email) => Asked::Email,
        (Asked::Unknown, Kind::Tel | Kind::Url) => Asked::Person,
        (told, _) => told,
    }
}

fn folded<const N: usize>(texts: [&str; N]) -> Folded {
    let mut folded = Folded::default();
    texts.into_iter().for_each(|text| folded.add(text));
    folded
}

/// Password fields are also used for codes, answers and repeated passwords.
fn asked_by_password(named: &Tally, shown: &Tally) -> Asked {
    for tally in [named, shown] {
        if tally.has(Topic::Confirm) {
            return Asked::NewPassword;
        }
        if tally.has(Topic::Password) {
            return Asked::Password;
        }
        if tally.has(Topic::SecondFactor) {
            return Asked::SecondFactor;
        }
        if tally.has(Topic::Captcha) {
            return Asked::Captcha;
        }
        if tally.has(Topic::Answer) {
            return Asked::Answer;
        }
    }
    Asked::Password
}

/// The declaration in `autocomplete` (HTML §4.10.18.7); None if it is `off`, `on` or absent.
fn declared(control: &Control) -> Option<Asked> {
    let token = control.autocomplete.split_ascii_whitespace().next_back()?.to_ascii_lowercase();
    Some(match token.as_str() {
        "username" | "webauthn" if control.kind != Kind::Password => Asked::User,
        "email" => Asked::Email,
        "current-password" => Asked::Password,
        // Sites also use this to keep browsers from filling in login forms, so it proves nothing for a single
        // password.
        "new-password" if control.kind != Kind::Password => Asked::NewPassword,
        "one-time-code" => Asked::SecondFactor,
        "name" | "given-name" | "family-name" | "additional-name" | "organization" | "tel" | "tel-national"
        | "bday" | "street-address" | "address-line1" | "postal-code" | "country" | "country-name" | "cc-number"
        | "sex" => Asked::Person,
        _ => return None,
    })
}

/// What the words of a field's name or label mean. Rarer topics come first: `login[captcha]` does not ask for a login
/// name.
fn asked_by_words(tally: &Tally) -> Asked {
    const ORDER: &[(Topic, Asked)] = &[
        (Topic::Honeypot, Asked::Nothing),
        (Topic::Captcha, Asked::Captcha),
        (Topic::SecondFactor, Asked::SecondFactor),
        (Topic::Answer, Asked::Answer),
        (Topic::Search, Asked::Search),
        // The address for a forgotten password is not a password.
        (Topic::Email, Asked::Email),
        (Topic::Password, Asked::Password),
        (Topic::Person, Asked::Person),
        (Topic::User, Asked::User),
        (Topic::OtherAccount, Asked::User),
    ];
    let said = ORDER.iter().find(|(topic, _)| tally.has(*topic)).map_or(Asked::Unknown, |(_, asked)| *asked);
    // Some sites accept either.
    if said == Asked::Email && tally.has(Topic::User) { Asked::User } else { said }
}

pub(super) fn own_words(control: &Control) -> Folded {
    let mut words = Folded::default();
    for text in [&control.name, &control.id, &control.label, &control.placeholder, &control.title, &control.value] {
        words.add_up_to(text, FIELD_HINT_BYTES_MAX);
    }
    words
}

/// The end of the text before a control: text further away is about something else.
fn add_end(words: &mut Folded, before: &str) {
    let mut start = before.len().saturating_sub(FIELD_HINT_BYTES_MAX);
    while !before.is_char_boundary(start) {
        start += 1;
    }
    words.add(&before[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::forms;

    fn names(html: &str) -> Vec<String> {
        let form = forms(html).unwrap().remove(0);
        let of = |at: Option<usize>| at.map_or_else(String::new, |at| form.controls[at].name.to_string());
        let roles = roles(&form);
        vec![of(roles.user), of(roles.password), of(roles.remember), of(roles.captcha)]
    }

    #[test]
    fn a_form_without_one_telling_word_is_read_by_types_and_order() {
        let html = "<form><input name=f1><input type=password name=f2><input type=submit></form>";
        assert_eq!(names(html), ["f1", "f2", "", ""]);
    }

    #[test]
    fn traps_that_nobody_sees_are_not_filled_in() {
        let html = "<form><div style='display:none'><input name=username><input type=password name=password></div>\
                    <label>用户名 <input name=a></label><label>密码 <input type=password name=b></label>\
                    <label>验证码 <input name=c></label><label><input type=checkbox name=d>记住我</label></form>";
        assert_eq!(names(html), ["a", "b", "d", "c"]);
    }

    #[test]
    fn of_a_page_in_one_form_the_user_stands_before_the_password() {
        let html = "<form><input name=ctl$Login$txtSearch><input name=ctl$newsletter$email><input name=ctl$Login$txtUser>\
                    <input type=password name=ctl$Login$txtPass><input name=ctl$contact$email></form>";
        assert_eq!(names(html)[..2], ["ctl$Login$txtUser", "ctl$Login$txtPass"]);
    }

    #[test]
    fn what_autocomplete_declares_comes_first() {
        let html = "<form><input name=email><input name=x autocomplete='section-a username'>\
                    <input type=password name=y autocomplete=one-time-code>\
                    <input type=password name=z autocomplete=current-password></form>";
        assert_eq!(names(html)[..2], ["x", "z"]);
    }

    #[test]
    fn names_are_read_in_many_languages() {
        for (label, asked_for) in [
            ("E-Mail-Adresse", Asked::Email),
            ("Benutzername", Asked::User),
            ("Nom d’utilisateur", Asked::User),
            ("Имя пользователя", Asked::User),
            ("ユーザー名", Asked::User),
            ("아이디", Asked::User),
            ("用戶名", Asked::User),
            ("Kullanıcı Adı", Asked::User),
            ("Vorname", Asked::Person),
            ("驗證碼", Asked::Captcha),
            ("Hasło", Asked::Password),
            ("Код с картинки", Asked::Captcha),
            ("Two-factor code", Asked::SecondFactor),
        ] {
            let form = forms(&format!("<form><p>{label}: <input name=f></form>")).unwrap().remove(0);
            assert_eq!(asked(&form), [asked_for], "{label}");
        }
    }

    #[test]
    fn the_first_of_two_pages_asks_for_the_user_alone_and_says_that_it_logs_in() {
        let user = "<input name=u autocomplete=username>";
        for (html, when_judged, by_itself) in [
            (format!("<form method=post>{user}<button>Next</button></form>"), true, true),
            (
                format!("<form method=post>{user}<input type=hidden name=t><button>Продолжить</button></form>"),
                true,
                true,
            ),
            ("<form method=post><input type=email name=e><button>Log in</button></form>".to_owned(), true, true),
            // The field declares nothing, or the button says nothing.
            ("<form method=post><input name=username><button>Next</button></form>".to_owned(), true, false),
            (format!("<form method=post>{user}<button>Go</button></form>"), true, false),
            // Sent in the URL, by a script, with a password that comes later, or with another text field.
            (format!("<form>{user}<button>Next</button></form>"), false, false),
            (format!("<form method=post>{user}<button type=button>Next</button></form>"), false, false),
            (
                format!("<form method=post>{user}<input type=password name=p hidden><button>Next</button></form>"),
                false,
                false,
            ),
            (format!("<form method=post>{user}<input name=captcha><button>Next</button></form>"), false, false),
            ("<form method=post><input autocomplete=username><button>Next</button></form>".to_owned(), false, false),
            // Forms that are not logins.
            (
                "<form method=post><input type=email name=e><button>Reset password</button></form>".to_owned(),
                false,
                false,
            ),
            (
                "<form method=post action=subscribe><input type=email name=e><button>Continue</button></form>"
                    .to_owned(),
                false,
                false,
            ),
            (
                "<form method=post><input name=openid_identifier autocomplete=username><button>Log in</button></form>"
                    .to_owned(),
                false,
                false,
            ),
            (format!("<form method=post class=register>{user}<button>Next</button></form>"), false, false),
        ] {
            let form = forms(&html).unwrap().remove(0);
            let told = [true, false].map(|is_judged| asks_for_user_alone(&form, is_judged).is_some());
            assert_eq!(told, [when_judged, by_itself], "{html}");
        }
    }

    #[test]
    fn the_second_of_two_pages_asks_for_one_password_that_is_there_already() {
        let password = "<input type=password name=p>";
        for (html, expected) in [
            (format!("<form method=post><b>anna</b>{password}<button>Next</button></form>"), true),
            (format!("<form method=post><input name=username value=anna>{password}</form>"), true),
            (format!("<form method=post>{password}<input type=password name=again></form>"), false),
            (format!("<form method=post><input name=realname>{password}<input name=city></form>"), false),
            ("<form method=post><input type=password name=p autocomplete=new-password></form>".to_owned(), false),
            ("<form method=post><input name=username></form>".to_owned(), false),
        ] {
            let form = forms(&html).unwrap().remove(0);
            assert_eq!(asks_for_password_alone(&form), expected, "{html}");
        }
    }
}
