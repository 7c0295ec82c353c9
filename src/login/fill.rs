//! Fills in a form as a browser would send it (HTML §4.10.22): the fields in tree order, the one pressed button, in
//! the page's charset.
//!
//! Only the account's name and password are added; every other field is sent as the page provided it.

use std::fmt::Write as _;

use encoding_rs::Encoding as Charset;
use url::Url;
use zeroize::Zeroizing;

use super::form::{Control, Encoding, Form, Kind, Method};
use super::hashing::{self, Hashing};
use super::secret::{MASK, Secret, told};
use super::verdict::Verdict;
use crate::limits::HANDLER_TOLD_BYTES_MAX;

/// The controls to use, as indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    pub user: Option<usize>,
    /// True if the site already got the user's name: the form need not ask for it.
    pub user_is_told: bool,
    pub password: Option<usize>,
    /// A checkbox that keeps the session, to be checked.
    pub remember: Option<usize>,
    /// The button to press; None for no button.
    pub submit: Option<usize>,
}

/// The values to fill in.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    pub user: &'a str,
    pub password: &'a Secret,
    /// Fields set by the rule file or typed by a person (CAPTCHA text, code); they replace the form's values.
    pub others: &'a [(Box<str>, Box<str>)],
}

/// The request of a form.
#[derive(Clone, PartialEq, Eq)]
pub struct Submission {
    pub url: Url,
    /// Content type of the body; the request is always a POST.
    pub content_type: String,
    /// Zeroed on drop.
    pub body: Zeroizing<Vec<u8>>,
    /// Names and values for display: everything but plain words is masked, and the password always.
    pub shown: Vec<(String, String)>,
}

/// Why a form cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    #[error("the form's address {action:?} cannot be read: {why}")]
    Action { action: Box<str>, why: String },
    #[error("the form sends the password, or the code, in the URL, where servers and caches log it")]
    SecretInUrl,
    #[error("the form has no field for the user's name")]
    NoUser,
    #[error("the form has no field for the password")]
    NoPassword,
    #[error("this form is sent by a script ({0})")]
    Script(Box<str>),
    #[error("this form's script changes the password in an unknown way ({0})")]
    UnknownHash(Box<str>),
    #[error("the form sends nothing: its method is `dialog`")]
    Dialog,
}

impl FillError {
    /// The verdict of a login whose form cannot be sent for this reason.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::SecretInUrl => Verdict::SentByGet,
            error if error.is_scripts() => Verdict::Script,
            _ => Verdict::NoForm,
        }
    }

    /// True if a browser would not send the form itself, so that only scripts could.
    #[must_use]
    pub fn is_scripts(&self) -> bool {
        matches!(self, Self::Script(_) | Self::UnknownHash(_) | Self::Dialog)
    }
}

/// Fills in a form. `base` is the page's base URL, `page_charset` its charset.
///
/// # Errors
/// The form has no place for the credentials, or would write the password into a URL.
pub fn fill(
    form: &Form,
    chosen: &Chosen,
    entries: Entries<'_>,
    base: &Url,
    page_charset: &'static Charset,
) -> Result<Submission, FillError> {
    let at = |index: Option<usize>| index.and_then(|index| form.controls.get(index));
    let user = at(chosen.user);
    if user.is_none() && !chosen.user_is_told {
        return Err(FillError::NoUser);
    }
    let password = at(chosen.password).ok_or(FillError::NoPassword)?;
    if !form.is_element {
        return Err(FillError::Script("its fields belong to no form".into()));
    }
    if user.is_some_and(|user| user.name.is_empty()) || password.name.is_empty() {
        let handler = [&form.onsubmit, &form.action].into_iter().find(|text| !text.is_empty());
        return Err(FillError::Script(handler.map_or_else(|| "its fields have no names".into(), |text| excerpt(text))));
    }
    // A button that only a script listens to sends nothing by itself. Forms without any button are sent by the Enter
    // key.
    let listens = |control: &&Control| control.kind == Kind::Button && !control.is_disabled;
    if form.action.is_empty() && at(chosen.submit).is_none() && form.controls.iter().any(|of| listens(&of)) {
        return Err(FillError::Script("it has no action, and no button that submits".into()));
    }
    if let Some(handler) = hashing::unknown(form) {
        return Err(FillError::UnknownHash(excerpt(handler)));
    }
    submission(form, chosen, entries, base, page_charset)
}

/// Fills in a form without credentials, such as the page of a one-time code: the fields in `others`, the rest as
/// provided.
///
/// # Errors
/// The form would not be sent, or not in a request body.
pub fn fill_others(
    form: &Form,
    others: &[(Box<str>, Box<str>)],
    base: &Url,
    page_charset: &'static Charset,
) -> Result<Submission, FillError> {
    if !form.is_element {
        return Err(FillError::Script("its fields belong to no form".into()));
    }
    let nothing = Secret::new("");
    let chosen = Chosen { submit: form.submit(), ..Chosen::default() };
    submission(form, &chosen, Entries { user: "", password: &nothing, others }, base, page_charset)
}

fn submission(
    form: &Form,
    chosen: &Chosen,
    entries: Entries<'_>,
    base: &Url,
    page_charset: &'static Charset,
) -> Result<Submission, FillError> {
    let submit = chosen.submit.and_then(|at| form.controls.get(at));
    let method = submit.and_then(|submit| submit.formmethod).unwrap_or(form.method);
    let action = submit.and_then(|submit| submit.formaction.as_deref()).unwrap_or(&form.action);
    match method {
        Method::Post => {}
        Method::Dialog => return Err(FillError::Dialog),
        // A form with neither relies on a script.
        Method::Get if action.is_empty() => return Err(FillError::Script("it has no action and no method".into())),
        Method::Get => return Err(FillError::SecretInUrl),
    }
    let url = base.join(action).map_err(|error| {
        // Its query may contain a token, or the password.
        let action = action.split(['?', '#']).next().unwrap_or_default();
        FillError::Action { action: action.into(), why: error.to_string() }
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FillError::Script(excerpt(action)));
    }
    let charset = charset(form, page_charset);
    let fields = fields(form, chosen, entries, charset);
    let encoding = submit.and_then(|submit| submit.formenctype).unwrap_or(form.encoding);
    let (content_type, body) = match encoding {
        Encoding::UrlEncoded => ("application/x-www-form-urlencoded".to_owned(), url_encoded(&fields, charset)),
        Encoding::Multipart => multipart(&fields, charset),
        Encoding::Plain => ("text/plain".to_owned(), plain(&fields, charset)),
    };
    let shown = |field: &Field| {
        let value = match field.shown {
            ValueDisplay::Whole => &field.value,
            ValueDisplay::Words => told(&field.value),
            ValueDisplay::Masked => MASK,
        };
        (field.name.clone(), value.to_owned())
    };
    Ok(Submission { url, content_type, body: Zeroizing::new(body), shown: fields.iter().map(shown).collect() })
}

/// Recodes a UTF-8 form body into another charset; None if it is not such a form.
#[must_use]
pub fn recoded(content_type: &str, body: &[u8], charset: &'static Charset) -> Option<Zeroizing<Vec<u8>>> {
    if !content_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return None;
    }
    let field = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| Field {
        name: name.into_owned(),
        value: Zeroizing::new(value.into_owned()),
        shown: ValueDisplay::Masked,
        is_file: false,
    };
    let fields: Vec<Field> = url::form_urlencoded::parse(body).map(field).collect();
    Some(Zeroizing::new(url_encoded(&fields, charset.output_encoding())))
}

/// The start of a script.
fn excerpt(script: &str) -> Box<str> {
    script[..script.floor_char_boundary(HANDLER_TOLD_BYTES_MAX)].into()
}

struct Field {
    name: String,
    value: Zeroizing<String>,
    shown: ValueDisplay,
    is_file: bool,
}

/// How a field's value is displayed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueDisplay {
    /// In full: the user's name.
    Whole,
    /// As provided by the page, unless it may be a token.
    Words,
    /// A password, or text typed by a person.
    Masked,
}

/// The fields in tree order ("constructing the entry list"), then those that the form lacks.
fn fields(form: &Form, chosen: &Chosen, entries: Entries<'_>, charset: &'static Charset) -> Vec<Field> {
    let password_name = chosen.password.and_then(|at| form.controls.get(at)).map_or("", |control| &*control.name);
    let hashed = Hashing::of(form).filter(|_| chosen.password.is_some());
    let hashed =
        hashed.map(|hashing| hashing.apply(entries.user, password_name, entries.password.reveal())).unwrap_or_default();
    let field = |name: &str, value: &str, shown: ValueDisplay| Field {
        name: name.to_owned(),
        value: Zeroizing::new(value.to_owned()),
        shown,
        is_file: false,
    };
    let mut fields = Vec::new();
    let mut used = vec![false; entries.others.len()];
    for (index, control) in form.controls.iter().enumerate() {
        let is = |of: Option<usize>| of == Some(index);
        let mut add = |value: &str, shown: ValueDisplay| {
            fields.push(Field { is_file: control.kind == Kind::File, ..field(&control.name, value, shown) });
        };
        let pinned = entries.others.iter().position(|(name, _)| !name.is_empty() && *name == control.name);
        if control.is_disabled || (control.kind.submits() && !is(chosen.submit)) {
            continue;
        }
        if let Some((_, value)) = hashed.iter().find(|(name, _)| *name == control.name) {
            add(value, if value.is_empty() { ValueDisplay::Words } else { ValueDisplay::Masked });
        } else if is(chosen.password) {
            add(entries.password.reveal(), ValueDisplay::Masked);
        } else if is(chosen.user) {
            add(entries.user, ValueDisplay::Whole);
        } else if let Some(at) = pinned {
            // Radio buttons and repeated fields share a name, which is sent once.
            if !std::mem::replace(&mut used[at], true) {
                add(&entries.others[at].1, ValueDisplay::Masked);
            }
        } else {
            for value in own_values(control, is(chosen.remember), charset) {
                add(&value, ValueDisplay::Words);
            }
        }
        if control.kind == Kind::Image && is(chosen.submit) {
            let prefix = if control.name.is_empty() { String::new() } else { format!("{}.", control.name) };
            fields.extend(["x", "y"].map(|axis| field(&format!("{prefix}{axis}"), "1", ValueDisplay::Words)));
        }
    }
    let absent = entries.others.iter().zip(used).filter(|(_, used)| !used);
    fields.extend(absent.map(|((name, value), _)| field(name, value, ValueDisplay::Masked)));
    fields
}

/// The values that a control sends by itself.
fn own_values(control: &Control, is_remember: bool, charset: &'static Charset) -> Vec<String> {
    if control.name.is_empty() {
        return Vec::new();
    }
    match control.kind {
        Kind::Button | Kind::Reset | Kind::Image => Vec::new(),
        Kind::Checkbox | Kind::Radio if !(control.is_checked || is_remember) => Vec::new(),
        Kind::Select => {
            let enabled = || control.options.iter().filter(|option| !option.is_disabled);
            if control.is_multiple {
                return enabled().filter(|option| option.is_selected).map(|option| option.value.to_string()).collect();
            }
            let chosen = enabled().rfind(|option| option.is_selected).or_else(|| enabled().next());
            chosen.map(|option| option.value.to_string()).into_iter().collect()
        }
        // No file is selected.
        Kind::File => vec![String::new()],
        // HTML §4.10.22.5.
        Kind::Hidden if control.name.eq_ignore_ascii_case("_charset_") => vec![charset.name().to_owned()],
        _ => vec![control.value.to_string()],
    }
}

/// The first known charset of `accept-charset`, else the page's; UTF-16 pages send UTF-8.
fn charset(form: &Form, page: &'static Charset) -> &'static Charset {
    let accepted = form.accept_charset.split([' ', ',', ';']).find_map(|label| Charset::for_label(label.as_bytes()));
    accepted.unwrap_or(page).output_encoding()
}

/// Line ends as CR LF, in the form's charset. Unmappable characters become decimal character references, as in
/// browsers.
fn encoded(text: &str, charset: &'static Charset) -> Zeroizing<Vec<u8>> {
    let lines = Zeroizing::new(text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n"));
    Zeroizing::new(charset.encode(&lines).0.into_owned())
}

/// A buffer that never reallocates, so that no copies of a password remain in memory.
fn buffer(fields: &[Field]) -> Vec<u8> {
    let bytes = |field: &Field| 3 * (field.name.len() + field.value.len()) + 256;
    Vec::with_capacity(fields.iter().map(bytes).sum())
}

fn url_encoded(fields: &[Field], charset: &'static Charset) -> Vec<u8> {
    let mut body = buffer(fields);
    for field in fields {
        if !body.is_empty() {
            body.push(b'&');
        }
        for (text, end) in [(&*field.name, &b"="[..]), (&**field.value, b"")] {
            let encoded = encoded(text, charset);
            url::form_urlencoded::byte_serialize(&encoded).for_each(|piece| body.extend(piece.as_bytes()));
            body.extend(end);
        }
    }
    body
}

fn plain(fields: &[Field], charset: &'static Charset) -> Vec<u8> {
    let mut body = buffer(fields);
    for field in fields {
        body.extend(&*encoded(&field.name, charset));
        body.push(b'=');
        body.extend(&*encoded(&field.value, charset));
        body.extend(b"\r\n");
    }
    body
}

/// `multipart/form-data` (RFC 7578) as HTML §4.10.22.8 writes it: names with their quotes and line ends escaped.
fn multipart(fields: &[Field], charset: &'static Charset) -> (String, Vec<u8>) {
    let parts: Vec<Part> = fields
        .iter()
        .map(|field| {
            let name = encoded(&field.name, charset);
            let mut escaped = Vec::with_capacity(name.len());
            for byte in &*name {
                match *byte {
                    b'"' => escaped.extend(b"%22"),
                    b'\r' => escaped.extend(b"%0D"),
                    b'\n' => escaped.extend(b"%0A"),
                    byte => escaped.push(byte),
                }
            }
            (escaped, encoded(&field.value, charset), field.is_file)
        })
        .collect();
    let boundary = boundary(&parts);
    let mut body = buffer(fields);
    for (name, value, is_file) in &parts {
        body.extend(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"").as_bytes());
        body.extend(name);
        body.extend(if *is_file {
            &b"\"; filename=\"\"\r\nContent-Type: application/octet-stream\r\n\r\n"[..]
        } else {
            b"\"\r\n\r\n"
        });
        body.extend(&**value);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Name, value, and whether it is a file.
type Part = (Vec<u8>, Zeroizing<Vec<u8>>, bool);

/// A boundary that no value contains: the first of a fixed sequence.
fn boundary(parts: &[Part]) -> String {
    let mut boundary = String::new();
    for number in 0_u32.. {
        boundary.clear();
        // Writing to a string cannot fail.
        let _ = write!(boundary, "----gleanerFormBoundary{number:08}");
        let is_held = |bytes: &[u8]| memchr::memmem::find(bytes, boundary.as_bytes()).is_some();
        // Each value excludes finitely many numbers, so this ends.
        if !parts.iter().any(|(name, value, _)| is_held(name) || is_held(value)) {
            break;
        }
    }
    boundary
}

#[cfg(test)]
mod tests;
