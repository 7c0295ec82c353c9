//! Signs in a page's bytes that scripts build its visible content: scripts, empty root elements, framework
//! attributes. Pure, one pass each, and no proof: only what a render adds is a proof.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};
use xxhash_rust::xxh3::Xxh3;

use crate::limits;

/// Signs in a page's markup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// It has scripts that run: data and template blocks do not count.
    pub scripts: bool,
    /// It has an empty element that a framework fills, or asks readers to enable scripts.
    pub empty_root: bool,
    /// Attributes that make a framework fetch or build content.
    pub framework: bool,
    /// Some text says that something is loading.
    pub waits: bool,
    /// Hash of the names of named empty elements: pages of one kind have the same. 0: there are none.
    pub hollow: u64,
}

/// "Loading…" and similar as the whole text of an element.
static WAITS_IN_ASCII: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)>\s*(?:(?:now\s+)?loading|please wait|one moment|wird geladen|chargement|cargando|carregando|caricamento|laden)\b[^<]{0,24}<")
        .expect("the expression is constant and tested")
});

// The same for non-ASCII phrases. They are few, and pages are long: each is searched for separately.
gleaner_base::topics! { control: WAITS; }

/// Elements with an id or classes and no content.
static HOLLOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)<(?:div|span|ul|ol|dl|table|tbody|section|main|article|p|td)\s(?:[^>]*\s)?(?:id|class)\s*=\s*["']?([^"'>]+)[^>]*>\s*(?:<!--[^>]*-->\s*)*</"#,
    )
    .expect("the expression is constant and tested")
});

/// Start tags of scripts, with their attributes.
static SCRIPT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i-u)<script(?:[\s/][^>]*)?>"#).expect("the expression is constant and tested"));

/// Types of blocks that do not run.
static DATA: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)\stype\s*=\s*["']?\s*(?:application/(?:ld\+)?json|text/(?:template|x-[a-z-]*template|html|plain|x-handlebars|ng-template)|speculationrules)"#)
        .expect("the expression is constant and tested")
});

/// Elements that wait for their content.
static EMPTY_ROOTS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r#"(?i-u)<(?:div|main|section)\b[^>]*\bid\s*=\s*["']?(?:app|root|__next|__nuxt|___gatsby|svelte|application|react-root|vue-app|main-app|mount|ember-app)(?:["'\s][^>]*)?>\s*(?:<!--[^>]*-->\s*)*</"#,
        r#"(?i-u)<app-root\b[^>]*>[^<]{0,200}</app-root"#,
        r#"(?i-u)<(?:tbody|ul|ol)\b[^>]*\bid\s*=[^>]*>\s*</(?:tbody|ul|ol)"#,
        r#"(?is-u)<noscript>.{0,400}?(?:enable|turn on|requires?|need)\s+(?:\w+\s+){0,4}javascript"#,
    ])
    .expect("the expressions are constant and tested")
});

/// Attributes of frameworks that work on markup.
static FRAMEWORKS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r#"(?i-u)\s(?:data-|x-)?ng-(?:app|controller|repeat)\s*="#,
        r#"(?i-u)\s(?:data-)?hx-(?:get|post)\s*="#,
        r#"(?i-u)\sx-(?:data|for|init)\s*="#,
        r#"(?i-u)\sv-(?:for|cloak|bind)\b"#,
        r#"(?i-u)\sdata-(?:controller|bind|reactroot|turbo-frame)\b"#,
        r#"(?i-u)<turbo-frame\b[^>]*\bsrc\s*="#,
    ])
    .expect("the expressions are constant and tested")
});

/// Finds the signs in a page's bytes, in any ASCII-compatible charset.
#[must_use]
pub fn signs(body: &[u8]) -> Signs {
    let scripts = SCRIPT.find_iter(body).any(|tag| !DATA.is_match(tag.as_bytes()));
    if !scripts {
        return Signs::default();
    }
    let waits =
        WAITS_IN_ASCII.is_match(body) || WAITS.iter().any(|word| memchr::memmem::find(body, word.as_bytes()).is_some());
    Signs {
        scripts,
        empty_root: EMPTY_ROOTS.is_match(body),
        framework: FRAMEWORKS.is_match(body),
        waits,
        hollow: hollow(body),
    }
}

/// [`Signs::hollow`]. Digits in names are left out: they number the subject of a page.
fn hollow(body: &[u8]) -> u64 {
    let names: BTreeSet<Vec<u8>> = HOLLOW
        .captures_iter(body)
        .take(limits::HOLLOW_ELEMENTS_MAX)
        .filter_map(|found| {
            Some(found.get(1)?.as_bytes().iter().copied().filter(|byte| !byte.is_ascii_digit()).collect())
        })
        .collect();
    if names.is_empty() {
        return 0;
    }
    let mut hash = Xxh3::new();
    for name in &names {
        hash.update(name);
        hash.update(b" ");
    }
    hash.digest()
}

#[cfg(test)]
mod tests;
