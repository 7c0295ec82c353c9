//! Links of which their own page shows that they change something in an account's name: by a token of the session, which the page's forms
//! or its log-out link carry, or by a question that is asked before they are followed.
//!
//! The targets of POST forms are no sign: forums sort threads and filter lists by POST forms whose address is the list's own.

use std::collections::HashSet;

use encoding_rs::Encoding;
use xxhash_rust::xxh3::xxh3_64;

use crate::job::Job;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_login::form::Kind;
use gleaner_login::view::View;
use gleaner_page::links::PageLinks;
use gleaner_rules::{ActSign, Class, SiteRules, gives_torrent, names_token, parameters};

/// Fewer bytes name things: actions, categories, languages.
const TOKEN_BYTES_MIN: usize = 8;

/// From this length on, a hidden value is a token whatever its name is.
const LONG_TOKEN_BYTES_MIN: usize = 16;

/// What one page shows of its links; nothing for guests.
#[derive(Debug, Default)]
pub(super) struct PageActs {
    /// Links that ask before they are followed, by the hashes of their URLs.
    asking: HashSet<u64>,
    /// Tokens of the session, by their values.
    tokens: Vec<String>,
}

impl PageActs {
    /// Reads a page of a site with an account.
    pub(super) fn of(
        rules: &SiteRules,
        job: &Job,
        view: &View,
        page: &PageLinks<'_>,
        (base, charset): (&url::Url, &'static Encoding),
    ) -> Self {
        let join = |link: &str| CrawlUrl::join(base, link, Some(charset), &rules.canonical).ok();
        let mut tokens = hidden_tokens(view);
        for link in view.log_outs().filter_map(join) {
            let values = parameters(query(link.path())).filter_map(|(_, value)| value);
            tokens.extend(values.filter(|value| looks_random(value)));
        }
        let own: HashSet<String> = parameters(query(job.url.path())).filter_map(|(_, value)| value).collect();
        let user = rules.login.as_ref().map(|login| &*login.user);
        tokens.retain(|token| !own.contains(token) && user != Some(token.as_str()));
        tokens.sort_unstable();
        tokens.dedup();
        tokens.truncate(limits::TOKENS_PER_PAGE_MAX);
        tokens.retain(|token| !is_on_most(page, token));
        // `#` is a place for a script, and would name the page itself, or its base.
        let asking = view.asking_links().filter(|link| !matches!(link.trim_start().chars().next(), None | Some('#')));
        Self { asking: asking.filter_map(join).map(|url| hash(&url)).collect(), tokens }
    }

    /// The sign by which the page's link to this URL acts. A download may ask, and has tokens of its own.
    pub(super) fn sign(&self, url: &CrawlUrl, class: Class) -> Option<ActSign> {
        if class == Class::Download {
            return None;
        }
        if self.asking.contains(&hash(url)) {
            return Some(ActSign::Page);
        }
        let is_token = |(_, value): (String, Option<String>)| value.is_some_and(|value| self.tokens.contains(&value));
        let has_token = !self.tokens.is_empty() && parameters(query(url.path())).any(is_token);
        (has_token && !gives_torrent(url.path())).then_some(ActSign::Token)
    }
}

fn hash(url: &CrawlUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

fn query(path: &str) -> &str {
    path.split_once('?').map_or("", |(_, query)| query)
}

/// Values of hidden fields that are a token by their name, or by their form where the page has no other value of that name. Infohashes,
/// which name torrents, have the form, too.
fn hidden_tokens(view: &View) -> Vec<String> {
    let fields = || view.forms.iter().flat_map(|form| &form.controls).filter(|control| control.kind == Kind::Hidden);
    let is_token = |name: &str, value: &str| {
        let is_infohash = matches!(value.len(), 40 | 64) && value.bytes().all(|of| of.is_ascii_hexdigit());
        let is_only = || fields().all(|other| *other.name != *name || *other.value == *value);
        names_token(name) || value.len() >= LONG_TOKEN_BYTES_MIN && !is_infohash && is_only()
    };
    let random = fields().filter(|field| looks_random(&field.value)).take(limits::TOKENS_PER_PAGE_MAX);
    random.filter(|field| is_token(&field.name, &field.value)).map(|field| field.value.as_ref().to_owned()).collect()
}

/// True for a value that is no word and no number.
fn looks_random(value: &str) -> bool {
    (TOKEN_BYTES_MIN..=gleaner_rules::limits::TOKEN_BYTES_MAX).contains(&value.len())
        && value.bytes().all(|of| of.is_ascii_alphanumeric() || b"_-,|:+=".contains(&of))
        && value.bytes().any(|of| of.is_ascii_digit())
        && value.bytes().any(|of| of.is_ascii_alphabetic())
}

/// True for what stands in most links of a page: the id of a session, without which nothing is served.
fn is_on_most(page: &PageLinks<'_>, token: &str) -> bool {
    let carrying = page.links.iter().filter(|link| link.href.contains(token)).count();
    carrying * 2 > page.links.len()
}
