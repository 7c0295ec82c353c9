//! What a page says about the session: its words, its forms, its links out of the session.

use scraper::Node;
use url::Url;

use super::form::{self, Form, Kind};
use super::form_tree::FormTree;
use super::phrases;
use crate::limits::{CONTROL_TEXT_BYTES_MAX, VIEW_TEXT_BYTES_MAX};
use crate::page::tree::TreeError;
use crate::rules::ends_session;

/// A page as a person who wants to log in reads it.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What is seen, in lower case with single spaces, at most `limits::VIEW_TEXT_BYTES_MAX` bytes.
    pub text: String,
    pub forms: Vec<Form>,
    /// Links that end the session, as written.
    pub log_out_links: Vec<Box<str>>,
    /// Links whose text or address speaks of logging in, as written, in the order of the page.
    pub log_in_links: Vec<Box<str>>,
    /// True where a CAPTCHA is somewhere on the page.
    pub has_captcha: bool,
    /// The page's `base`, as written.
    pub base: Option<Box<str>>,
}

impl View {
    /// Reads a page.
    ///
    /// # Errors
    /// Where the page has no tree: too deep, or too many nodes.
    pub fn of(page: &str) -> Result<Self, TreeError> {
        let tree = FormTree::parse(page)?;
        let root = tree.html.tree.root();
        let mut view = Self {
            text: form::text_of(root, VIEW_TEXT_BYTES_MAX).to_lowercase(),
            forms: form::of_tree(&tree),
            ..Self::default()
        };
        for node in root.descendants() {
            let Node::Element(element) = node.value() else { continue };
            match element.name() {
                "a" => {
                    let Some(href) = element.attr("href") else { continue };
                    let shown = form::text_of(node, CONTROL_TEXT_BYTES_MAX);
                    let text = if shown.is_empty() { element.attr("title").unwrap_or_default() } else { &shown };
                    let text = text.to_lowercase();
                    if ends_session(href) || is_log_out_text(&text) {
                        view.log_out_links.push(href.into());
                    } else if leads_to_login(href, &text) {
                        view.log_in_links.push(href.into());
                    }
                }
                "base" if view.base.is_none() => view.base = element.attr("href").map(Into::into),
                _ => {}
            }
            let named = ["class", "name", "id", "src", "alt"].iter().filter_map(|name| element.attr(name));
            let is_widget = matches!(element.name(), "input" | "img" | "div" | "iframe" | "script");
            view.has_captcha |= is_widget && named.into_iter().any(is_captcha_name);
        }
        Ok(view)
    }

    /// The first of these phrases that the page shows.
    #[must_use]
    pub fn says(&self, phrases: &[&'static str]) -> Option<&'static str> {
        phrases.iter().copied().find(|phrase| self.text.contains(phrase))
    }

    /// The URL that links and forms are relative to. A base that is no address is ignored, as browsers do.
    #[must_use]
    pub fn base(&self, own: &Url) -> Url {
        let base = self.base.as_deref().and_then(|base| own.join(base).ok());
        base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| own.clone())
    }

    /// True where some form has a password field.
    #[must_use]
    pub fn has_password_field(&self) -> bool {
        self.forms.iter().flat_map(|form| &form.controls).any(|control| control.kind == Kind::Password)
    }
}

fn is_log_out_text(text: &str) -> bool {
    // phpBB and the like add the name: "Logout [ anna ]".
    let words = text.split(['[', '(', '«', '“', ':']).next().unwrap_or_default();
    phrases::LOG_OUT.contains(&words.trim())
}

/// True for a link that by its address, or by its text (in lower case), leads to a login.
#[must_use]
pub fn leads_to_login(href: &str, text: &str) -> bool {
    let of_url = ["login", "log_in", "log-in", "signin", "sign_in", "sign-in", "logging", "anmelden", "connexion"];
    let address = href.to_ascii_lowercase();
    phrases::LOG_IN.contains(&text.trim()) || of_url.iter().any(|word| address.contains(word))
}

fn is_captcha_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    phrases::CAPTCHA.iter().any(|captcha| name.contains(captcha))
}
