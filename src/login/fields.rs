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
pub enum FieldPurpose {
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
pub fn asked(form: &Form) -> Vec<FieldPurpose> {
    let ending = shared_ending(form);
    let mut asked: Vec<FieldPurpose> = form.controls.iter().map(|control| asked_by(control, ending)).collect();
    let is_password = |at: &usize| {
        form.controls[*at].kind == Kind::Password
            && matches!(asked[*at], FieldPurpose::Password | FieldPurpose::NewPassword)
    };
    let mut passwords: Vec<usize> = (0..asked.len()).filter(is_password).collect();
    if passwords.is_empty() {
        // If a script shows the password field after the name, or in one of several tabs, none is visible at first.
        let is_to_come = |at: &usize| form.controls[*at].kind == Kind::Password && !form.controls[*at].is_disabled;
        passwords = (0..asked.len()).filter(|at| asked[*at] == FieldPurpose::Nothing).filter(is_to_come).collect();
    }
    // The first password is the current one, even if its id contains a number; later ones are repeats or new
    // passwords.
    if let [first, rest @ ..] = passwords.as_slice() {
        asked[*first] = FieldPurpose::Password;
        for again in rest {
            asked[*again] = FieldPurpose::NewPassword;
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
    let lines = |at: &usize| form.controls[*at].kind.is_line() && asked[*at] != FieldPurpose::Nothing;
    let mut lines = (0..asked.len()).filter(lines);
    let (user, None) = (lines.next()?, lines.next()) else { return None };
    let (control, button) = (&form.controls[user], &form.controls[form.submit()?]);
    let is_sent = form.is_element && button.formmethod.unwrap_or(form.method) == Method::Post;
    let is_user = matches!(asked[user], FieldPurpose::User | FieldPurpose::Email) && !control.name.is_empty();
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
    let mut lines =
        (0..asked.len()).filter(|at| form.controls[*at].kind.is_line() && asked[*at] != FieldPurpose::Nothing);
    !says(&form.controls[password], "new-password") && lines.all(|at| at == password || Some(at) == roles.user)
}

pub(super) fn roles_of(form: &Form, asked: &[FieldPurpose]) -> Roles {
    let first = |wanted: FieldPurpose| asked.iter().position(|of| *of == wanted);
    let password = password(form, asked);
    Roles {
        user: user(form, asked, password),
        password,
        remember: first(FieldPurpose::Remember),
        captcha: first(FieldPurpose::Captcha),
        second_factor: first(FieldPurpose::SecondFactor),
        question: first(FieldPurpose::Question),
        answer: first(FieldPurpose::Answer),
    }
}

/// The password field, or a text field with such a name.
fn password(form: &Form, asked: &[FieldPurpose]) -> Option<usize> {
    let asks = |at: &usize| asked[*at] == FieldPurpose::Password;
    let mut places = (0..form.controls.len()).filter(asks);
    places.clone().find(|at| form.controls[*at].kind == Kind::Password).or_else(|| places.next())
}

/// The field for the user's name. If a whole page is one form there may be several: the last one before the password.
fn user(form: &Form, asked: &[FieldPurpose], password: Option<usize>) -> Option<usize> {
    let end = password.unwrap_or(form.controls.len());
    let is_user = |at: &usize| matches!(asked[*at], FieldPurpose::User | FieldPurpose::Email);
    let is_open = |at: &usize| asked[*at] == FieldPurpose::Unknown && form.controls[*at].kind.may_name_a_user();
    let is_personal = |at: &usize| asked[*at] == FieldPurpose::Person && form.controls[*at].kind.may_name_a_user();
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
/// The ending that the ids of several controls share, as `_LxPw` of `username_LxPw` and `password3_LxPw` (Discuz!): it was drawn for this
/// view of the page and says nothing.
fn shared_ending(form: &Form) -> &str {
    let is_drawn =
        |ending: &str| ending.len() > 4 && ending.bytes().any(|of| of.is_ascii_uppercase() || of.is_ascii_digit());
    let mut endings = form.controls.iter().filter_map(|control| Some(&control.id[control.id.rfind('_')?..]));
    endings
        .find(|ending| is_drawn(ending) && form.controls.iter().filter(|of| of.id.ends_with(ending)).count() > 1)
        .unwrap_or_default()
}

/// `ending` is the one that says nothing.
fn asked_by(control: &Control, ending: &str) -> FieldPurpose {
    if control.is_concealed || control.is_disabled {
        return FieldPurpose::Nothing;
    }
    match control.kind {
        Kind::Hidden | Kind::Submit | Kind::Image | Kind::Button | Kind::Reset => FieldPurpose::Nothing,
        Kind::Checkbox | Kind::Radio => asked_by_box(control),
        Kind::Select => asked_by_list(control),
        Kind::File | Kind::Textarea | Kind::Picker => FieldPurpose::Unknown,
        _ => asked_by_line(control, ending),
    }
}

fn asked_by_box(control: &Control) -> FieldPurpose {
    let mut words = own_words(control);
    add_end(&mut words, &control.before);
    words.add_up_to(&control.after, FIELD_HINT_BYTES_MAX);
    let tally = words.tally();
    // A checkbox named `remember` may have terms to agree to beside it.
    match () {
        () if own_words(control).tally().has(Topic::Remember) => FieldPurpose::Remember,
        () if tally.has(Topic::Person) || tally.has(Topic::Newsletter) => FieldPurpose::Person,
        () if control.kind == Kind::Checkbox && tally.has(Topic::Remember) => FieldPurpose::Remember,
        () => FieldPurpose::Unknown,
    }
}

fn asked_by_list(control: &Control) -> FieldPurpose {
    let tally = own_words(control).tally();
    match () {
        () if tally.has(Topic::Question) => FieldPurpose::Question,
        () if tally.has(Topic::Remember) => FieldPurpose::Remember,
        () if tally.has(Topic::Person) => FieldPurpose::Person,
        () => FieldPurpose::Unknown,
    }
}

fn asked_by_line(control: &Control, ending: &str) -> FieldPurpose {
    if let Some(asked) = declared(control) {
        return asked;
    }
    if control.kind == Kind::Search {
        return FieldPurpose::Search;
    }
    let named = || folded([&control.name, &control.id].map(|name| name.strip_suffix(ending).unwrap_or(name)));
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
    let mut told = FieldPurpose::Unknown;
    for words in words {
        match told {
            FieldPurpose::Unknown => told = asked_by_words(&words().tally()),
            // `nome` and `lname` are used for all sorts of fields; the visible label is more reliable.
            FieldPurpose::Person => {
                if let said @ (FieldPurpose::User | FieldPurpose::Email) = asked_by_words(&words().tally()) {
                    told = said;
                }
            }
            _ => break,
        }
    }
    match (told, control.kind) {
        (FieldPurpose::User | FieldPurpose::Password | FieldPurpose::Unknown, Kind::Email) => FieldPurpose::Email,
        (FieldPurpose::Unknown, Kind::Tel | Kind::Url) => FieldPurpose::Person,
        (told, _) => told,
    }
}

fn folded<const N: usize>(texts: [&str; N]) -> Folded {
    let mut folded = Folded::default();
    texts.into_iter().for_each(|text| folded.add(text));
    folded
}

/// Password fields are also used for codes, answers and repeated passwords.
fn asked_by_password(named: &Tally, shown: &Tally) -> FieldPurpose {
    for tally in [named, shown] {
        if tally.has(Topic::Confirm) {
            return FieldPurpose::NewPassword;
        }
        if tally.has(Topic::Password) {
            return FieldPurpose::Password;
        }
        if tally.has(Topic::SecondFactor) {
            return FieldPurpose::SecondFactor;
        }
        if tally.has(Topic::Captcha) {
            return FieldPurpose::Captcha;
        }
        if tally.has(Topic::Answer) {
            return FieldPurpose::Answer;
        }
    }
    FieldPurpose::Password
}

/// The declaration in `autocomplete` (HTML §4.10.18.7); None if it is `off`, `on` or absent.
fn declared(control: &Control) -> Option<FieldPurpose> {
    let token = control.autocomplete.split_ascii_whitespace().next_back()?.to_ascii_lowercase();
    Some(match token.as_str() {
        "username" | "webauthn" if control.kind != Kind::Password => FieldPurpose::User,
        "email" => FieldPurpose::Email,
        "current-password" => FieldPurpose::Password,
        // Sites also use this to keep browsers from filling in login forms, so it proves nothing for a single
        // password.
        "new-password" if control.kind != Kind::Password => FieldPurpose::NewPassword,
        "one-time-code" => FieldPurpose::SecondFactor,
        "name" | "given-name" | "family-name" | "additional-name" | "organization" | "tel" | "tel-national"
        | "bday" | "street-address" | "address-line1" | "postal-code" | "country" | "country-name" | "cc-number"
        | "sex" => FieldPurpose::Person,
        _ => return None,
    })
}

/// What the words of a field's name or label mean. Rarer topics come first: `login[captcha]` does not ask for a login
/// name.
fn asked_by_words(tally: &Tally) -> FieldPurpose {
    const ORDER: &[(Topic, FieldPurpose)] = &[
        (Topic::Honeypot, FieldPurpose::Nothing),
        (Topic::Captcha, FieldPurpose::Captcha),
        (Topic::SecondFactor, FieldPurpose::SecondFactor),
        (Topic::Answer, FieldPurpose::Answer),
        (Topic::Search, FieldPurpose::Search),
        // The address for a forgotten password is not a password.
        (Topic::Email, FieldPurpose::Email),
        (Topic::Password, FieldPurpose::Password),
        (Topic::Person, FieldPurpose::Person),
        (Topic::User, FieldPurpose::User),
        (Topic::OtherAccount, FieldPurpose::User),
    ];
    let said = ORDER.iter().find(|(topic, _)| tally.has(*topic)).map_or(FieldPurpose::Unknown, |(_, asked)| *asked);
    // Some sites accept either.
    if said == FieldPurpose::Email && tally.has(Topic::User) { FieldPurpose::User } else { said }
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
mod tests;
