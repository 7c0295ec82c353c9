//! What a page shows about the session: its words, its forms, its log-out links.

use scraper::Node;
use scraper::node::Element;
use url::Url;

use super::form::{self, Form};
use super::form_tree::FormTree;
use super::message::{self, Message};
use super::phrases;
use super::scripts::words_of;
use crate::limits::{
    ASKING_LINKS_MAX, CONTROL_TEXT_BYTES_MAX, CONTROLS_PER_FORM_MAX, FRAMES_PER_PAGE_MAX, PICTURES_PER_PAGE_MAX,
    VIEW_TEXT_BYTES_MAX,
};
use gleaner_base::words::Topic;
use gleaner_page::tree::TreeError;
use gleaner_rules::ends_session;

/// A page as seen by a person who wants to log in.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The visible text, in lower case with single spaces, at most `limits::VIEW_TEXT_BYTES_MAX` bytes.
    pub text: String,
    pub forms: Vec<Form>,
    /// Links and forms that log out, by their address, as written.
    log_out_links: Vec<Box<str>>,
    /// Links that log out by their text alone, which may also be a topic's title.
    log_out_labels: Vec<Box<str>>,
    /// Links that ask before they are followed, or are not followed by a GET, as written; at most `limits::ASKING_LINKS_MAX`.
    asking_links: Vec<Box<str>>,
    /// Links whose text or address is about logging in, as written, in page order.
    pub log_in_links: Vec<Box<str>>,
    /// Its message text, one line per block, in lower case, at most `limits::VIEW_TEXT_BYTES_MAX` bytes: without its
    /// title, links and buttons, which are on every page of a site.
    pub said: String,
    /// True if there is a CAPTCHA anywhere on the page.
    pub has_captcha: bool,
    /// The page's `base`, as written.
    pub base: Option<Box<str>>,
    /// Addresses of its frames, as written, at most `limits::FRAMES_PER_PAGE_MAX`; those about logging in first.
    pub frames: Vec<Box<str>>,
    /// At most `limits::PICTURES_PER_PAGE_MAX`.
    pictures: Vec<Picture>,
    /// Names of its fields, at most `limits::CONTROLS_PER_FORM_MAX`.
    fields: Vec<Box<str>>,
    messages: Vec<Message>,
    /// An API's response; the texts come from its values.
    pub is_data: bool,
    /// Boxes for third-party CAPTCHA scripts, by the name of their class, with the form around each.
    widgets: Vec<(Option<usize>, &'static str)>,
}

/// A picture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Picture {
    source: Box<str>,
    /// Index of the form around it.
    form: Option<usize>,
    /// Its address, name or class mentions a CAPTCHA.
    is_named: bool,
    /// Number of named fields before it on the page.
    fields_before: usize,
}

impl View {
    /// Reads a page.
    ///
    /// # Errors
    /// The page has no tree: too deep, or too many nodes.
    pub fn of(page: &str) -> Result<Self, TreeError> {
        let tree = FormTree::parse(page)?;
        let root = tree.html.tree.root();
        let mut view = Self {
            text: form::text_of(root, VIEW_TEXT_BYTES_MAX).to_lowercase(),
            forms: form::of_tree(&tree),
            said: message::said(root, VIEW_TEXT_BYTES_MAX).to_lowercase(),
            messages: message::of_tree(root),
            ..Self::default()
        };
        let mut open = Vec::new();
        for node in root.descendants() {
            let Node::Element(element) = node.value() else { continue };
            match element.name() {
                "form" => {
                    open.push(node.id());
                    // Some software uses a form to log out.
                    let action = element.attr("action").unwrap_or_default();
                    view.log_out_links.extend(ends_session(action).then(|| action.into()));
                }
                "a" => {
                    let Some(href) = element.attr("href") else { continue };
                    if asks_first(element) && view.asking_links.len() < ASKING_LINKS_MAX {
                        view.asking_links.push(href.into());
                    }
                    let shown = form::text_of(node, CONTROL_TEXT_BYTES_MAX);
                    let text = if shown.is_empty() { element.attr("title").unwrap_or_default() } else { &shown };
                    let text = text.to_lowercase();
                    if ends_session(href) {
                        view.log_out_links.push(href.into());
                    } else if is_log_out_label(&text) {
                        view.log_out_labels.push(href.into());
                    } else if leads_to_login(href, &text) {
                        view.log_in_links.push(href.into());
                    }
                }
                "base" if view.base.is_none() => view.base = element.attr("href").map(Into::into),
                "iframe" | "frame" if view.frames.len() < FRAMES_PER_PAGE_MAX => {
                    view.frames.extend(element.attr("src").map(str::trim).filter(|of| !of.is_empty()).map(Into::into));
                }
                "input" if view.fields.len() < CONTROLS_PER_FORM_MAX => {
                    view.fields.extend(element.attr("name").map(Into::into));
                }
                _ => {}
            }
            let is_captcha = is_captcha(element);
            view.has_captcha |= is_captcha;
            let around = || {
                let by_id = |id| open.iter().position(|form| *form == id).filter(|at| *at < view.forms.len());
                node.ancestors().find_map(|of| is_form(of.value()).then(|| by_id(of.id())).flatten())
            };
            if element.name() == "img" && view.pictures.len() < PICTURES_PER_PAGE_MAX {
                let source = element.attr("src").map(str::trim).filter(|source| !source.is_empty());
                let picture = source.map(|source| Picture {
                    source: source.into(),
                    form: around(),
                    is_named: is_captcha,
                    fields_before: view.fields.len(),
                });
                view.pictures.extend(picture);
            } else if let Some(widget) = widget(element).filter(|_| view.widgets.len() < PICTURES_PER_PAGE_MAX) {
                let form = around();
                view.widgets.push((form, widget));
            }
        }
        view.frames.sort_by_key(|address| !speaks_of_login(address));
        Ok(view)
    }

    /// Parses a response that is a page, or the texts of JSON.
    ///
    /// # Errors
    /// As for a page.
    pub fn of_answer(body: &[u8]) -> Result<Self, TreeError> {
        let is_data = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
        Ok(Self { is_data, ..Self::of(&words_of(body))? })
    }

    /// The first link or form that logs out, as written.
    #[must_use]
    pub fn log_out(&self) -> Option<&str> {
        self.log_outs().next()
    }

    /// All of them, those by address first.
    pub fn log_outs(&self) -> impl Iterator<Item = &str> {
        self.log_out_links.iter().chain(&self.log_out_labels).map(|address| &**address)
    }

    /// Those by their text alone.
    pub fn log_out_labels(&self) -> impl Iterator<Item = &str> {
        self.log_out_labels.iter().map(|address| &**address)
    }

    /// Links that ask a person to confirm them, or that scripts follow by another method than GET.
    pub fn asking_links(&self) -> impl Iterator<Item = &str> {
        self.asking_links.iter().map(|address| &**address)
    }

    /// Removes links that match by their text alone but are pages of the site: topics may have any title.
    #[must_use]
    pub fn without_topics(mut self, is_topic: impl Fn(&str) -> bool) -> Self {
        self.log_out_labels.retain(|address| !is_topic(address));
        self
    }

    /// The first of these phrases that the page shows.
    #[must_use]
    pub fn says(&self, phrases: Topic) -> Option<&'static str> {
        phrases.first_in(&self.text)
    }

    /// The page's message beside a form, by index, that was not on the page `before`. Verbatim, so it may contain the
    /// operator's secret; at most `limits::MESSAGE_BYTES_MAX` bytes.
    #[must_use]
    pub fn message_at(&self, form: usize, before: Option<&Self>) -> Option<&str> {
        let before = before.map(|before| &before.messages[..]).unwrap_or_default();
        message::nearest(&self.messages, form, before)
    }

    /// All such messages.
    pub fn messages_at<'a>(&'a self, form: usize, before: Option<&'a Self>) -> impl Iterator<Item = &'a str> {
        let before = before.map(|before| &before.messages[..]).unwrap_or_default();
        message::all(&self.messages, form, before)
    }

    /// All texts of the page, verbatim.
    pub fn all_messages(&self) -> impl Iterator<Item = &str> {
        message::texts(&self.messages)
    }

    /// Its headings up to the form that were not on the page `before`.
    pub fn headings_at<'a>(&'a self, form: usize, before: Option<&'a Self>) -> impl Iterator<Item = &'a str> {
        let before = before.map(|before| &before.messages[..]).unwrap_or_default();
        message::headings(&self.messages, form, before)
    }

    /// The first text of the page, verbatim; marked messages come first.
    #[must_use]
    pub fn first_message(&self) -> Option<&str> {
        message::first(&self.messages)
    }

    /// The URL that links and forms are relative to. An invalid base is ignored, as in browsers.
    #[must_use]
    pub fn base(&self, own: &Url) -> Url {
        let base = self.base.as_deref().and_then(|base| own.join(base).ok());
        base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| own.clone())
    }

    /// The address of the picture that a form's field asks to read. Among the form's own pictures, or all if it has
    /// none: one named like a CAPTCHA, else the one nearest to the field.
    #[must_use]
    pub fn picture_at(&self, form: usize, field: &str) -> Option<&str> {
        let places = || self.fields.iter().enumerate().filter(|(_, name)| ***name == *field).map(|(at, _)| at);
        let rank = |picture: &&Picture| {
            // Directly after its field is as near as directly before it.
            let distance = |at: usize| picture.fields_before.abs_diff(at).min(picture.fields_before.abs_diff(at + 1));
            (!picture.is_named, picture.form != Some(form), places().map(distance).min())
        };
        self.pictures.iter().min_by_key(rank).map(|picture| &*picture.source)
    }

    /// The third-party CAPTCHA in a form, which cannot be solved with a picture and a line of text.
    #[must_use]
    pub fn widget_in(&self, form: usize) -> Option<&'static str> {
        self.widgets.iter().find(|(of, _)| *of == Some(form)).map(|(_, name)| *name)
    }
}

/// True for a link that asks for confirmation or names another method than GET.
fn asks_first(link: &Element) -> bool {
    const METHODS: [&str; 2] = ["data-method", "data-turbo-method"];
    const QUESTIONS: [&str; 2] = ["data-confirm", "data-turbo-confirm"];
    let method = METHODS.iter().find_map(|name| link.attr(name));
    let asks = link.attr("onclick").is_some_and(|script| script.replace(' ', "").contains("confirm("));
    asks || method.is_some_and(|method| !method.eq_ignore_ascii_case("get"))
        || QUESTIONS.iter().any(|name| link.attr(name).is_some())
}

/// True for the lower-case text of a log-out link: nothing but that, or with the user's name after it as in phpBB,
/// "logout [ anna ]".
#[must_use]
pub fn is_log_out_label(text: &str) -> bool {
    let text = text.trim();
    let named = [('[', ']'), ('(', ')'), ('«', '»'), ('“', '”')].into_iter().find_map(|(opens, closes)| {
        let (words, name) = text.strip_suffix(closes)?.split_once(opens)?;
        // A topic title has a sentence there.
        (name.split_whitespace().count() <= 2).then_some(words.trim_end())
    });
    phrases::LOG_OUT.has(named.unwrap_or(text))
}

fn leads_to_login(href: &str, text: &str) -> bool {
    phrases::LOG_IN.has(text.trim()) || speaks_of_login(href)
}

/// True for an address that is about logging in.
#[must_use]
pub fn speaks_of_login(address: &str) -> bool {
    let words = ["login", "log_in", "log-in", "signin", "sign_in", "sign-in", "logging", "anmelden", "connexion"];
    let address = address.to_ascii_lowercase();
    words.iter().any(|word| address.contains(word))
}

fn is_form(node: &Node) -> bool {
    node.as_element().is_some_and(|element| element.name() == "form")
}

fn is_captcha(element: &Element) -> bool {
    let named = ["class", "name", "id", "src", "alt"].iter().filter_map(|name| element.attr(name));
    let is_widget = matches!(element.name(), "input" | "img" | "div" | "iframe" | "script");
    is_widget && named.into_iter().any(is_captcha_name)
}

fn widget(element: &Element) -> Option<&'static str> {
    let class = element.attr("class")?;
    let is_of = |name: &&&str| class.split_ascii_whitespace().any(|of| of == **name);
    phrases::CAPTCHA_WIDGETS.iter().find(is_of).copied()
}

fn is_captcha_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    phrases::CAPTCHA.are_in(&name)
}

#[cfg(test)]
mod tests;
