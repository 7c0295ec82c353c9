//! Rules that seem to get no URL, because an earlier rule takes whatever they match: told from a few texts that their expressions match.

use regex::Regex;
use regex_syntax::hir::{Class as HirClass, Hir, HirKind};

use super::{Refusal, SiteRules, Verdict};
use crate::limits::{SHADOW_TEXT_BYTES_MAX, SHADOW_TRIES};
use gleaner_base::url::CrawlUrl;

/// A rule that another one hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// Index in [`SiteRules::rules`].
    pub rule: usize,
    /// Index of the rule that takes its URLs.
    pub by: usize,
}

/// The hidden rules of a site's own file. Rules of its families are written for many sites, and hide each other by design.
#[must_use]
pub fn shadows(site: &SiteRules) -> Vec<Shadow> {
    let own = |(_, rule): &(usize, &super::Rule)| *rule.file == *site.file;
    site.rules().iter().enumerate().filter(own).filter_map(|(number, _)| shadow(site, number)).collect()
}

fn shadow(site: &SiteRules, number: usize) -> Option<Shadow> {
    let rule = site.rules().get(number)?;
    let mut by = None;
    for text in texts(&rule.pattern) {
        let url = CrawlUrl::parse(&format!("{}{text}", site.primary()), &site.canonical).ok()?;
        let other = match site.judge(&url) {
            Verdict::Take { number, .. } | Verdict::Refuse { reason: Refusal::Denied(number, _) } => number,
            Verdict::Refuse { .. } => return None,
        };
        // Its own URL, or one that normalising has changed.
        if other >= number || by.is_some_and(|by| by != other) {
            return None;
        }
        by = Some(other);
    }
    let by = by?;
    (site.rules()[by].class != rule.class).then_some(Shadow { rule: number, by })
}

/// Paths with a query that an expression matches.
fn texts(pattern: &str) -> Vec<String> {
    let (Ok(hir), Ok(regex)) = (regex_syntax::parse(pattern), Regex::new(pattern)) else { return Vec::new() };
    let mut texts: Vec<String> = (0..SHADOW_TRIES)
        .filter_map(|variant| {
            let mut text = String::new();
            write(&hir, variant, &mut text)?;
            // An expression without an anchor matches within a path.
            let text = if text.starts_with('/') { text } else { format!("/zq{variant}{text}") };
            regex.is_match(&text).then_some(text)
        })
        .collect();
    texts.dedup();
    texts
}

/// Appends a text that the expression matches; variants take other alternatives, repetitions and letters. None if it is too long.
fn write(hir: &Hir, variant: usize, text: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(HirClass::Unicode(class)) => {
            // Letters and digits that no other rule names, where the class has them.
            let wanted = ['7', 'q', 'Q', 'z', '4', '_'];
            let has = |of: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(of));
            let ends = class.ranges().iter().take(SHADOW_TRIES).flat_map(|range| [range.start(), range.end()]);
            let among: Vec<char> = wanted.into_iter().filter(has).chain(ends).take(SHADOW_TRIES).collect();
            text.push(*among.get(variant % among.len().max(1))?);
        }
        HirKind::Class(HirClass::Bytes(class)) => text.push(char::from(class.ranges().first()?.start())),
        HirKind::Repetition(of) => {
            let most = of.max.unwrap_or(u32::MAX);
            let times = of.min.saturating_add(u32::try_from(variant).unwrap_or(0)).min(most);
            for _ in 0..times {
                write(&of.sub, variant, text)?;
            }
        }
        HirKind::Capture(of) => write(&of.sub, variant, text)?,
        HirKind::Concat(all) => all.iter().try_for_each(|of| write(of, variant, text))?,
        HirKind::Alternation(all) => write(&all[variant % all.len()], variant, text)?,
    }
    (text.len() <= SHADOW_TEXT_BYTES_MAX).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_text;

    fn hidden(classes: &str) -> Vec<(String, String)> {
        let site = from_text("s", &format!("start = ['http://h.example/']\n{classes}")).unwrap();
        let told = |number: usize| site.rules()[number].pattern.to_string();
        shadows(&site).into_iter().map(|of| (told(of.rule), told(of.by))).collect()
    }

    #[test]
    fn a_rule_whose_urls_an_earlier_one_takes_is_hidden_and_an_exception_is_not() {
        for (rules, expected) in [
            ("[classes]\nindex = ['^/']\ndetail = ['^/torrent/\\d+$']\n", Some(("^/torrent/\\d+$", "^/"))),
            ("[classes]\nindex = ['.']\ndownload = ['\\.torrent$']\n", Some(("\\.torrent$", "."))),
            ("deny = ['/t/']\n[classes]\nindex = ['^/$']\ndetail = ['^/t/\\d+$']\n", Some(("^/t/\\d+$", "/t/"))),
            ("[classes]\nindex = ['^/$', '^/[a-d]/']\ndetail = ['^/(?:a|b|c|d|e|f)/\\d+$']\n", None),
            ("[classes]\nindex = ['^/$', '^/t/\\d{1,4}$']\ndetail = ['^/t/\\d+$']\n", None),
            ("[classes]\nindex = ['^/$', '^/t/\\d{4}$']\ndetail = ['^/t/\\d+$']\n", None),
            ("[classes]\nindex = ['^/$', '^/(?:a|b)/']\ndetail = ['^/[abc]/\\d+$']\n", None),
            ("[classes]\nindex = ['^/$', '^/browse\\?page=(?<page>\\d+)$']\ndetail = ['^/browse']\n", None),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(rule, by)| (rule.to_owned(), by.to_owned())).collect();
            assert_eq!(hidden(rules), expected, "{rules}");
        }
    }

    #[test]
    fn no_expression_costs_more_than_its_text() {
        for pattern in
            ["(?:(?:a{1000}){1000}){1000}", "^/\\p{L}+$", "(?i)/download\\.php\\?id=\\d+", "[^/]*", "\\b", ""]
        {
            assert!(texts(pattern).iter().all(|text| text.len() <= SHADOW_TEXT_BYTES_MAX + 16), "{pattern}");
        }
    }
}
