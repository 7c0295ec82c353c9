//! Numeric features of forms. The 16 features of the paper (BT Table 1) are in `gleaner-lab`.
//!
//! All are numbers computed from the form's record and its page's address alone, so that a table of them can be
//! committed where the pages cannot. Words are weighted by topic (`words`), fields by what they ask for (`fields`).
//! No feature depends on a site.

use super::fields::{self, FieldPurpose};
use super::form::{Control, Form, Kind, Method};
use super::words::{Folded, Tally, Topic};
use crate::limits::{CONTROL_TEXT_BYTES_MAX, FORM_WORDS_BYTES_MAX};

/// One numeric feature of a form.
pub struct Feature {
    pub name: &'static str,
    /// What it counts, as part of a sentence: "password fields".
    pub says: &'static str,
    /// Computes the number.
    pub of: fn(&Evidence) -> f32,
}

impl Feature {
    /// The value for a form.
    #[must_use]
    pub fn number(&self, evidence: &Evidence<'_>) -> f32 {
        (self.of)(evidence)
    }
}

/// Bytes of a form's text that count as its heading.
const HEADING_BYTES: usize = 90;

/// Counts of a form, gathered once for all features.
pub struct Evidence<'a> {
    form: &'a Form,
    asked: Vec<FieldPurpose>,
    /// Words of the control that submits the form.
    submit: Tally,
    /// Words of the form's id, name, class and action.
    own: Tally,
    heading: Tally,
    text: Tally,
    links: Tally,
    /// Words of the page's address.
    page: Tally,
    /// Words of the names of hidden fields.
    hidden: Tally,
}

impl<'a> Evidence<'a> {
    /// Gathers the counts of a form at an address.
    #[must_use]
    pub fn of(form: &'a Form, page_url: &str) -> Self {
        let (mut submit, mut own, mut links, mut hidden) = Default::default();
        let bounded = |words: &mut Folded, text: &str| words.add_up_to(text, CONTROL_TEXT_BYTES_MAX);
        for control in form.controls.iter().take(CONTROLS_READ) {
            match control.kind {
                Kind::Submit | Kind::Image | Kind::Button => {
                    for text in [&control.value, &control.label, &control.title, &control.name, &control.id] {
                        bounded(&mut submit, text);
                    }
                }
                Kind::Hidden => bounded(&mut hidden, &control.name),
                _ => {}
            }
        }
        for text in [&form.id, &form.name, &form.class, &form.action] {
            bounded(&mut own, text);
        }
        for (href, text) in form.links.iter().take(CONTROLS_READ) {
            bounded(&mut links, href);
            bounded(&mut links, text);
        }
        let (mut heading, mut text, mut page) = (Folded::default(), Folded::default(), Folded::default());
        heading.add_up_to(&form.text, HEADING_BYTES);
        text.add_up_to(&form.text, FORM_WORDS_BYTES_MAX);
        bounded(&mut page, page_url.split_once("://").map_or(page_url, |(_, rest)| rest));
        Self {
            form,
            asked: fields::asked(form),
            submit: submit.tally(),
            own: own.tally(),
            heading: heading.tally(),
            text: text.tally(),
            links: links.tally(),
            page: page.tally(),
            hidden: hidden.tally(),
        }
    }

    /// The form that was counted.
    #[must_use]
    pub fn form(&self) -> &Form {
        self.form
    }

    fn controls(&self, wanted: impl Fn(&Control, FieldPurpose) -> bool) -> f32 {
        let found = self.form.controls.iter().zip(&self.asked).filter(|(control, asked)| wanted(control, **asked));
        // Higher counts add nothing, and these are whole numbers in an f32.
        found.take(COUNT_END).count() as f32
    }

    fn asking(&self, wanted: &[FieldPurpose]) -> f32 {
        self.controls(|_, asked| wanted.contains(&asked))
    }

    fn shown(&self, kind: Kind) -> f32 {
        self.controls(|control, _| control.kind == kind && !control.is_concealed)
    }
}

/// Upper bound of counts.
const COUNT_END: usize = 99;

/// Controls and links whose words are read: enough for the largest real login forms, and for whole pages in one form.
const CONTROLS_READ: usize = 60;

fn yes(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// How much the words are about logging in rather than something else.
fn sense(tally: &Tally) -> f32 {
    let others =
        [&[Topic::Register][..], &[Topic::Reset], &[Topic::Search, Topic::Newsletter, Topic::Comment, Topic::Order]];
    yes(tally.has(Topic::Login)) - others.iter().map(|topics| yes(tally.any(topics))).sum::<f32>()
}

/// Autocomplete values: positive for a login, negative for a registration.
fn autocomplete(evidence: &Evidence) -> f32 {
    let has = |wanted: &str| {
        let says =
            |control: &Control| control.autocomplete.split_ascii_whitespace().any(|of| of.eq_ignore_ascii_case(wanted));
        yes(evidence.form.controls.iter().any(says))
    };
    has("current-password") + has("username") - 2.0 * has("new-password") - has("given-name") - has("family-name")
}

/// All signs of a login, minus those of other forms. Signs that usually accompany a password count only with one. One
/// text field beside one password is a login in any language. A form without fields logs in with another site's
/// account; a form with other fields but no password is not a login.
fn evidence(of: &Evidence) -> f32 {
    let has_password = of.asking(&[FieldPurpose::Password]) > 0.0;
    let with_password = |is: bool| yes(has_password && is);
    yes(has_password)
        + sense(&of.submit).max(-1.0)
        + sense(&of.own).max(-1.0)
        + with_password(of.asking(&[FieldPurpose::Remember]) > 0.0)
        + with_password(of.text.has(Topic::Reset) || of.links.has(Topic::Reset))
        + with_password(of.asking(&[FieldPurpose::Password, FieldPurpose::NewPassword]) == 1.0 && lines(of) == 1.0)
        + yes(other_account(of) > 1.0 && lines(of) == 0.0 && !has_password)
        - yes(!has_password && foreign(of) > 0.0)
        - yes(!has_password && of.heading.has(Topic::Reset))
        - of.asking(&[FieldPurpose::Person]).min(3.0)
        - yes(of.asking(&[FieldPurpose::NewPassword]) > 0.0)
        - yes(of.asking(&[FieldPurpose::User, FieldPurpose::Email]) > 1.0)
}

/// Text fields besides passwords and codes.
fn lines(of: &Evidence) -> f32 {
    of.controls(|control, asked| {
        control.kind.is_line()
            && !matches!(
                asked,
                FieldPurpose::Nothing
                    | FieldPurpose::Password
                    | FieldPurpose::NewPassword
                    | FieldPurpose::Captcha
                    | FieldPurpose::SecondFactor
            )
    })
}

/// Fields that no login asks for.
fn foreign(of: &Evidence) -> f32 {
    of.asking(&[FieldPurpose::Unknown, FieldPurpose::Person, FieldPurpose::Search])
}

/// True for a login with another site's account.
fn other_account(of: &Evidence) -> f32 {
    let speaks = |tally: &&Tally| tally.has(Topic::OtherAccount);
    let logs_in = |tally: &&Tally| tally.has(Topic::Login);
    let words = [&of.own, &of.hidden, &of.submit, &of.text];
    let is_spoken_of = words.iter().any(speaks);
    yes(is_spoken_of) + yes(is_spoken_of && words.iter().any(logs_in))
}

/// Our features, in the order in which ties of gain are broken.
pub const OURS: &[Feature] = &[
    Feature {
        name: "password_fields",
        says: "password fields",
        of: |e| e.asking(&[FieldPurpose::Password, FieldPurpose::NewPassword]),
    },
    Feature { name: "evidence", says: "signs of a login less signs of other forms", of: evidence },
    Feature { name: "line_fields", says: "lines to fill in besides the password", of: lines },
    Feature {
        name: "user_fields",
        says: "lines for a user name or an e-mail address",
        of: |e| e.asking(&[FieldPurpose::User, FieldPurpose::Email]),
    },
    Feature {
        name: "new_passwords",
        says: "second entries of a password",
        of: |e| e.asking(&[FieldPurpose::NewPassword]),
    },
    Feature {
        name: "person_fields",
        says: "fields for a person's data or consent",
        of: |e| e.asking(&[FieldPurpose::Person]),
    },
    Feature { name: "search_fields", says: "search lines", of: |e| e.asking(&[FieldPurpose::Search]) },
    Feature { name: "captchas", says: "CAPTCHA fields", of: |e| e.asking(&[FieldPurpose::Captcha]) },
    Feature { name: "remember", says: "boxes that keep the session", of: |e| e.asking(&[FieldPurpose::Remember]) },
    Feature {
        name: "choices",
        says: "lists, radio buttons and files to choose",
        of: |e| e.shown(Kind::Select) + e.shown(Kind::Radio) + e.shown(Kind::File) + e.shown(Kind::Picker),
    },
    Feature { name: "checkboxes", says: "boxes to tick", of: |e| e.shown(Kind::Checkbox) },
    Feature { name: "text_areas", says: "text areas", of: |e| e.shown(Kind::Textarea) },
    Feature {
        name: "hidden_fields",
        says: "hidden fields",
        of: |e| e.controls(|control, _| control.kind == Kind::Hidden),
    },
    Feature { name: "submits", says: "buttons that submit", of: |e| e.controls(|control, _| control.kind.submits()) },
    Feature { name: "post", says: "method is POST", of: |e| yes(e.form.method == Method::Post) },
    Feature {
        name: "autocomplete",
        says: "autocomplete values of a login less those of a registration",
        of: autocomplete,
    },
    Feature {
        name: "submit_sense",
        says: "the button speaks of a login rather than of something else",
        of: |e| sense(&e.submit),
    },
    Feature {
        name: "own_sense",
        says: "id, name, class and action speak of a login rather than of something else",
        of: |e| sense(&e.own),
    },
    Feature {
        name: "heading_sense",
        says: "the heading speaks of a login rather than of something else",
        of: |e| sense(&e.heading),
    },
    Feature {
        name: "page_sense",
        says: "the page's address speaks of a login rather than of something else",
        of: |e| sense(&e.page),
    },
    Feature {
        name: "register_words",
        says: "words of a registration in id, name, class, action and button",
        of: |e| f32::from(e.own.of(Topic::Register) + e.submit.of(Topic::Register)),
    },
    Feature { name: "text_login", says: "words of a login in the text", of: |e| f32::from(e.text.of(Topic::Login)) },
    Feature {
        name: "text_register",
        says: "words of a registration in the text",
        of: |e| f32::from(e.text.of(Topic::Register)),
    },
    Feature {
        name: "text_reset",
        says: "words of a forgotten password in the text",
        of: |e| f32::from(e.text.of(Topic::Reset)),
    },
    Feature { name: "link_reset", says: "links for a forgotten password", of: |e| yes(e.links.has(Topic::Reset)) },
    Feature { name: "link_register", says: "links to a registration", of: |e| yes(e.links.has(Topic::Register)) },
    Feature { name: "link_login", says: "links to a login", of: |e| yes(e.links.has(Topic::Login)) },
    Feature { name: "other_account", says: "signs of a login by another site's account", of: other_account },
    Feature { name: "foreign_fields", says: "fields that no login asks for", of: foreign },
];

/// A feature by its name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Feature> {
    OURS.iter().find(|feature| feature.name == name)
}
