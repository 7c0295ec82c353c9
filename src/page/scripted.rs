//! Signs in a page's bytes that its scripts build what a reader sees: scripts, roots that they fill, words of frameworks. Pure, one pass
//! each, and no proof: what a render adds is the proof.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

/// What a page's markup says of its scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// It has scripts that run: blocks of data and of templates are none.
    pub scripts: bool,
    /// It has an element that a framework fills, and that is empty; or it asks readers to turn scripts on.
    pub empty_root: bool,
    /// Attributes that make a framework fetch or build what is shown.
    pub framework: bool,
}

/// Openings of scripts, with what stands in the tag.
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

/// Looks for the signs in a page's bytes, of any charset that holds ASCII.
#[must_use]
pub fn signs(body: &[u8]) -> Signs {
    let scripts = SCRIPT.find_iter(body).any(|tag| !DATA.is_match(tag.as_bytes()));
    if !scripts {
        return Signs::default();
    }
    Signs { scripts, empty_root: EMPTY_ROOTS.is_match(body), framework: FRAMEWORKS.is_match(body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_run_are_told_from_blocks_of_data() {
        for (page, expected) in [
            ("<p>text", false),
            ("<script src=a.js></script>", true),
            ("<SCRIPT>x</SCRIPT>", true),
            ("<script type='application/ld+json'>{}</script>", false),
            ("<script type=text/template><a href=x></script>", false),
            ("<script type=\"module\">x</script>", true),
            ("<scripted>", false),
        ] {
            assert_eq!(signs(page.as_bytes()).scripts, expected, "{page}");
        }
    }

    #[test]
    fn roots_that_wait_for_their_content_are_seen_and_full_ones_are_not() {
        for (page, expected) in [
            ("<div id=\"root\"></div>", true),
            ("<div class=x id=app>\n <!-- here --> </div>", true),
            ("<app-root>Loading…</app-root>", true),
            ("<tbody id=rows></tbody>", true),
            ("<noscript>You need to enable JavaScript to run this app.</noscript>", true),
            ("<div id=root><a href=x>x</a></div>", false),
            ("<div id=rooted></div>", false),
            ("<ul id=list><li>a</ul>", false),
        ] {
            let page = format!("<script src=a.js></script>{page}");
            assert_eq!(signs(page.as_bytes()).empty_root, expected, "{page}");
        }
        assert_eq!(signs(b"<div id=root></div>"), Signs::default(), "without a script nobody fills it");
    }

    #[test]
    fn attributes_of_frameworks_are_seen() {
        for (page, expected) in [
            ("<tr ng-repeat='t in torrents'>", true),
            ("<div hx-get=/more hx-trigger=load>", true),
            ("<div x-data='{}'>", true),
            ("<p title='hx-get'>", false),
        ] {
            assert_eq!(signs(format!("<script>1</script>{page}").as_bytes()).framework, expected, "{page}");
        }
    }
}
