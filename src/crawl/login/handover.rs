//! Questions that only a person can answer in the middle of a login: a CAPTCHA, a security question, a one-time code.
//!
//! The question is built here, with the picture fetched in the session of the form; the command decides who asks it and
//! how. Nothing is ever solved here, and without a person the login ends with what the site wants.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Page, Run, Step, ends};
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::fields::roles;
use gleaner_login::fill::fill_others;
use gleaner_login::form::{Control, Form, Kind};
use gleaner_login::verdict::{Verdict, one_time_field};

/// Answers a question; None if nobody will.
pub type Person<'a> = &'a (dyn Fn(&Question<'_>) -> Option<Box<str>> + Sync);

/// A question to a person.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    pub wanted: Wanted,
    /// The site's own words, or the field's name if there are none. Raw text of the site: not to be printed to a terminal unescaped.
    pub text: &'a str,
    /// The picture to be read.
    pub picture: Option<Picture>,
    /// The answer is the number of one of these, counted from 1; empty if the answer is free text.
    pub options: Vec<&'a str>,
}

/// What the site asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The text of a CAPTCHA.
    Captcha,
    /// Which security question is to be answered.
    Choice,
    /// The answer to a security question.
    Answer,
    /// A one-time code.
    Code,
    /// The same; an empty answer means that the account has none.
    CodeIfAny,
}

/// A picture as the site sent it.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub bytes: Vec<u8>,
    /// By its first bytes: `png`, `jpg`, `gif`, `webp`, `bmp` or `svg`.
    pub extension: &'static str,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({}, {} bytes)", self.extension, self.bytes.len())
    }
}

impl Picture {
    /// Recognises a picture by its first bytes; None for anything else.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Option<Self> {
        let starts: [(&[u8], &'static str); 6] = [
            (b"\x89PNG\r\n", "png"),
            (b"\xff\xd8\xff", "jpg"),
            (b"GIF8", "gif"),
            (b"RIFF", "webp"),
            (b"BM", "bmp"),
            (b"<svg", "svg"),
        ];
        let extension = starts.iter().find(|(start, _)| bytes.starts_with(start))?.1;
        Some(Self { bytes, extension })
    }
}

/// Fields by name.
type Typed = Vec<(Box<str>, Box<str>)>;

impl Run<'_> {
    /// The answers of a person to what the form asks.
    pub(super) async fn answers(&mut self, page: &Page, form: &Form) -> Step<Typed> {
        let mut typed = Typed::new();
        let roles = roles(form);
        let fixed = &self.means.rules.fields;
        let is_open = |typed: &Typed, at: &usize| {
            let name = &form.controls[*at].name;
            fixed.iter().chain(typed).all(|(known, _)| known != name)
        };
        if let Some(name) = page.view.widget_in(form.index) {
            let why = format!("the form has a CAPTCHA of another site's script ({name}), which only a browser shows");
            return Err(ends(Verdict::Captcha, why));
        }
        if let Some(at) = roles.captcha.filter(|at| is_open(&typed, at)) {
            let picture = self.picture(page, form, &form.controls[at]).await?;
            let question = Question { picture, ..question(Wanted::Captcha, &form.controls[at]) };
            let wants = format!("the form asks for `{}`", form.controls[at].name);
            typed.push((form.controls[at].name.clone(), self.ask(&question, Verdict::Captcha, &wants)?));
            self.attempt.has_read_captcha = true;
        }
        let chosen = roles.question.filter(|at| is_open(&typed, at) && !may_be_none(&form.controls[*at]));
        if let Some(at) = chosen {
            typed.push((form.controls[at].name.clone(), self.choice(&form.controls[at])?));
        }
        let is_needed = |at: &usize| form.controls[*at].is_required || chosen.is_some() || roles.question.is_none();
        if let Some(at) = roles.answer.filter(|at| is_open(&typed, at) && is_needed(at)) {
            let wants = format!("the form asks a security question in `{}`", form.controls[at].name);
            let question = question(Wanted::Answer, &form.controls[at]);
            typed.push((form.controls[at].name.clone(), self.ask(&question, Verdict::SecondFactor, &wants)?));
        }
        if let Some(at) = roles.second_factor.filter(|at| is_open(&typed, at)) {
            let control = &form.controls[at];
            if control.is_required {
                let wants = format!("the form asks for a one-time code in `{}`", control.name);
                let code = self.ask(&question(Wanted::Code, control), Verdict::SecondFactor, &wants)?;
                typed.push((control.name.clone(), code));
            } else if let Some(code) = self.person.and_then(|person| person(&question(Wanted::CodeIfAny, control))) {
                typed.push((control.name.clone(), code));
            }
        }
        Ok(typed)
    }

    /// The page after the one that asks for a one-time code; the same page if there is nobody to ask.
    pub(super) async fn second_factor(&mut self, page: Page) -> Step<Page> {
        let (Some(_), Some((form, field))) = (self.person, one_time_field(&page.view)) else { return Ok(page) };
        let form = &page.view.forms[form];
        let control = &form.controls[field];
        let wants = format!("the page asks for a one-time code in `{}`", control.name);
        self.say(wants.clone());
        let code = self.ask(&question(Wanted::Code, control), Verdict::SecondFactor, &wants)?;
        let own = page.url.to_url().map_err(|error| ends(Verdict::Unknown, error.to_string()))?;
        let submission = fill_others(form, &[(control.name.clone(), code)], &page.view.base(&own), page.charset)
            .map_err(|error| ends(Verdict::SecondFactor, error.to_string()))?;
        self.tell_fields(&submission);
        self.attempt.is_code_sent = true;
        self.send(&page, &submission).await
    }

    fn ask(&mut self, question: &Question<'_>, verdict: Verdict, wants: &str) -> Step<Box<str>> {
        let Some(person) = self.person else { return Err(ends(verdict, wants)) };
        let answer = person(question).ok_or_else(|| ends(verdict, format!("{wants}, and no answer was typed")))?;
        self.say(format!("{wants}: a person has answered"));
        Ok(answer)
    }

    /// The value of the option whose number a person has chosen.
    fn choice(&mut self, list: &Control) -> Step<Box<str>> {
        let open: Vec<_> = list.options.iter().filter(|option| !option.is_disabled).collect();
        let options = open.iter().map(|option| &*option.text).collect();
        let wants = format!("the form asks which security question is yours, in `{}`", list.name);
        let question = Question { options, ..question(Wanted::Choice, list) };
        let answer = self.ask(&question, Verdict::SecondFactor, &wants)?;
        let place = answer.trim().parse::<usize>().ok().and_then(|place| place.checked_sub(1));
        let option = place.and_then(|place| open.get(place));
        let why = || ends(Verdict::SecondFactor, format!("{wants}, and the answer names none of them"));
        option.map(|option| option.value.clone()).ok_or_else(why)
    }

    /// The picture of a CAPTCHA's field, fetched in the session of its form; None if there is nobody to
    /// show it to, or the page has none.
    async fn picture(&mut self, page: &Page, form: &Form, field: &Control) -> Step<Option<Picture>> {
        let Some(source) = page.view.picture_at(form.index, &field.name).filter(|_| self.person.is_some()) else {
            return Ok(None);
        };
        let unfit = |why: &str| ends(Verdict::Captcha, format!("the CAPTCHA's picture cannot be shown: {why}"));
        let bytes = if let Some(data) = strip_data(source) {
            data_bytes(data).ok_or_else(|| unfit("its data: URL is broken"))?
        } else {
            let own = page.url.to_url().map_err(|error| unfit(&error.to_string()))?;
            let url = page.view.base(&own).join(source).map_err(|error| unfit(&error.to_string()))?;
            let url = CrawlUrl::exact(&url).ok_or_else(|| unfit("its URL is invalid"))?;
            self.may_ask(&url, page.is_over_tls()).map_err(|judged| unfit(&judged.evidence.join("; ")))?;
            let answer = self.read(url, None, limits::CAPTCHA_BYTES_MAX).await?;
            answer.is_whole.then(|| answer.bytes.to_vec()).ok_or_else(|| unfit("it is too large"))?
        };
        Picture::of(bytes).map(Some).ok_or_else(|| unfit("the answer is not a picture"))
    }
}

/// A question about a field, in the words next to it.
fn question(wanted: Wanted, control: &Control) -> Question<'_> {
    let words = [&control.label, &control.before, &control.placeholder, &control.title, &control.name];
    let text = words.into_iter().find(|text| !text.trim().is_empty());
    Question { wanted, text: text.map_or("", |text| text.trim()), picture: None, options: Vec::new() }
}

/// True for a list of security questions in which "none" is an answer.
fn may_be_none(list: &Control) -> bool {
    list.kind != Kind::Select || list.options.iter().any(|option| matches!(&*option.value, "" | "0"))
}

fn strip_data(source: &str) -> Option<&str> {
    source.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).map(|_| &source[5..])
}

/// The bytes of a data: URL (RFC 2397) after its scheme.
fn data_bytes(data: &str) -> Option<Vec<u8>> {
    let (kind, data) = data.split_once(',')?;
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(data).collect();
    if !kind.trim_end().to_ascii_lowercase().ends_with(";base64") {
        return Some(bytes);
    }
    let bytes: Vec<u8> = bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_read_and_broken_ones_are_not() {
        assert_eq!(data_bytes("image/gif;base64,R0lG ODlh").unwrap(), b"GIF89a");
        assert_eq!(data_bytes("image/svg+xml,%3Csvg%3E").unwrap(), b"<svg>");
        assert_eq!(data_bytes("image/gif;base64,R0lGO!"), None);
        assert_eq!(data_bytes("image/gif;base64"), None);
        assert_eq!((strip_data("DATA:,x"), strip_data("/a"), strip_data("daté:")), (Some(",x"), None, None));
    }

    #[test]
    fn pictures_are_known_by_their_first_bytes_alone() {
        assert_eq!(Picture::of(b"GIF89a".to_vec()).unwrap().extension, "gif");
        assert_eq!(Picture::of(b"<html>".to_vec()), None);
        assert_eq!(Picture::of(Vec::new()), None);
    }
}
