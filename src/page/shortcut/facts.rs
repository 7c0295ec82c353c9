//! Values on a page that its scripts may send: contents of `meta`, attributes, members of objects in inline scripts.
//! A place is a kind and a name; the first of a name counts. No tree is built.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::template::{Source, is_name};
use crate::limits;

static META: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)<meta\b[^>]{0,2000}>").expect("the expression is constant and tested"));

static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s"'])([A-Za-z_:][-A-Za-z0-9_:.]{0,80})\s{0,4}=\s{0,4}(?:"([^"<>]{1,1024})"|'([^'<>]{1,1024})'|([^\s"'<>=`]{1,1024}))"#)
        .expect("the expression is constant and tested")
});

static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["']?([A-Za-z_$][-\w$]{0,80})["']?\s{0,4}[:=]\s{0,4}(?:"([^"\\\r\n]{1,1024})"|'([^'\\\r\n]{1,1024})'|(\d{1,18})\b)"#)
        .expect("the expression is constant and tested")
});

static SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is)<script\b[^>]{0,2000}>(.*?)</script").expect("the expression is constant and tested")
});

/// All values in page order, the first of each kind and name.
#[must_use]
pub fn all(html: &str) -> Vec<(Source, String)> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let mut add = |source: Source, name: &str, value: &str| {
        let is_new = is_name(name) && known.insert(source.to_string());
        if is_new && found.len() < limits::SHORTCUT_FACTS_MAX {
            found.push((source, value.to_owned()));
        }
    };
    for tag in META.find_iter(html) {
        let attribute = |wanted: &[&str]| {
            let mut all = ATTRIBUTE.captures_iter(tag.as_str());
            all.find(|one| wanted.iter().any(|name| one[1].eq_ignore_ascii_case(name)))
                .map(|one| group(&one).to_owned())
        };
        if let (Some(name), Some(content)) = (attribute(&["name", "property", "http-equiv"]), attribute(&["content"])) {
            add(Source::Meta(name.clone()), &name, &content);
        }
    }
    for script in SCRIPT.captures_iter(html) {
        for member in MEMBER.captures_iter(&script[1]) {
            add(Source::Script(member[1].to_owned()), &member[1], group(&member));
        }
    }
    for attribute in ATTRIBUTE.captures_iter(html) {
        let name = attribute[1].to_ascii_lowercase();
        if !matches!(name.as_str(), "class" | "style" | "href" | "src" | "type" | "content") {
            add(Source::Attribute(name.clone()), &name, group(&attribute));
        }
    }
    found
}

/// The value of a kind and name.
#[must_use]
pub fn of(html: &str, wanted: &Source) -> Option<String> {
    if html.is_empty() {
        return None;
    }
    all(html).into_iter().find(|(source, _)| source == wanted).map(|(_, value)| value)
}

/// The value of a match, with either kind of quotes.
fn group<'a>(found: &regex::Captures<'a>) -> &'a str {
    found.iter().skip(2).flatten().next().map_or("", |group| group.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_in_meta_in_attributes_and_in_scripts() {
        let page = r#"<meta content="m1" name="csrf-token"><body data-key='k2'><script>window.conf = {"apiKey": "s3", n: 42};
            var token='t4'</script><input type=hidden name=x value=v5>"#;
        for (source, value) in [
            (Source::Meta("csrf-token".into()), "m1"),
            (Source::Attribute("data-key".into()), "k2"),
            (Source::Script("apiKey".into()), "s3"),
            (Source::Script("n".into()), "42"),
            (Source::Script("token".into()), "t4"),
            (Source::Attribute("value".into()), "v5"),
        ] {
            assert_eq!(of(page, &source).as_deref(), Some(value), "{source}");
        }
        assert_eq!(of(page, &Source::Meta("none".into())), None);
    }
}
