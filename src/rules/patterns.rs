//! The regular expressions of rule files: each is compiled and checked alone, then all of a site together.

use std::collections::HashMap;
use std::ops::Range;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::class::Class;
use super::fault::Faults;
use super::file::Classes;
use super::judge::Rule;
use super::schema::Spans;
use crate::limits::{REGEX_BYTES_MAX, REGEX_PATTERN_BYTES_MAX, RULES_PER_SITE_MAX};

/// Rules by precedence: a file's `deny`, its classes, then those of its family. The nearer file wins, so that a site can
/// accept what its family denies.
#[derive(Debug, Default)]
pub struct RuleList(Vec<Rule>);

impl RuleList {
    /// Appends the rules of a family.
    pub(super) fn append(&mut self, mut elder: Self) {
        self.0.append(&mut elder.0);
    }

    fn compile(self) -> Result<(Vec<Rule>, RegexSet), regex::Error> {
        let patterns = self.0.iter().map(|rule| &*rule.pattern);
        let set = RegexSetBuilder::new(patterns).size_limit(REGEX_BYTES_MAX).build()?;
        Ok((self.0, set))
    }
}

pub(super) fn compile(faults: &mut Faults, rules: RuleList) -> Option<(Vec<Rule>, RegexSet)> {
    let count = rules.0.len();
    if count > RULES_PER_SITE_MAX {
        let message = format!("{count} regular expressions are more than {RULES_PER_SITE_MAX}");
        faults.add(0..0, "classes", message, Some("join some with `|`".to_owned()));
        return None;
    }
    match rules.compile() {
        Ok(compiled) => Some(compiled),
        Err(error) => {
            let message = format!("the regular expressions together are too large: {}", first_line(&error.to_string()));
            faults.add(0..0, "classes", message, Some("write fewer or shorter repetitions".to_owned()));
            None
        }
    }
}

pub(super) fn rule_list(faults: &mut Faults, spans: &Spans, classes: &Classes, deny: &[String]) -> RuleList {
    let mut list = RuleList::default();
    let mut seen: HashMap<&str, String> = HashMap::new();
    let denied = deny.iter().enumerate().map(|(index, pattern)| (format!("deny[{index}]"), None, pattern));
    let taken = classes.iter().flat_map(|(class, patterns)| {
        let key = move |index| format!("classes.{}[{index}]", class.name());
        patterns.iter().enumerate().map(move |(index, pattern)| (key(index), Some(*class), pattern))
    });
    for (key, class, pattern) in denied.chain(taken) {
        let span = spans.value(&key);
        if let Some(first) = seen.get(pattern.as_str()) {
            let message = format!("this rule is never reached: `{first}` has the same expression");
            faults.add(span, &key, message, Some("take one of the two out".to_owned()));
            continue;
        }
        if let Some(rule) = rule(faults, span, &key, pattern, class) {
            seen.insert(pattern, key);
            list.0.push(rule);
        }
    }
    list
}

/// The expressions of a list that assigns no class, as one set; without those that have faults.
pub(super) fn expressions(faults: &mut Faults, spans: &Spans, list: &str, patterns: &[String]) -> RegexSet {
    let sound = patterns.iter().enumerate().filter(|(index, pattern)| {
        let key = format!("{list}[{index}]");
        rule(faults, spans.value(&key), &key, pattern, None).is_some()
    });
    let sound: Vec<&String> = sound.map(|(_, pattern)| pattern).collect();
    RegexSetBuilder::new(sound).size_limit(REGEX_BYTES_MAX).build().unwrap_or_else(|error| {
        let message = format!("these regular expressions together are too large: {}", first_line(&error.to_string()));
        faults.add(spans.value(list), list, message, Some("write fewer or shorter repetitions".to_owned()));
        RegexSet::empty()
    })
}

/// The expression of a URL that names a label, in a group of that name; None if it has faults.
pub(super) fn labelling(faults: &mut Faults, span: Range<usize>, key: &str, pattern: &str) -> Option<Regex> {
    let regex = built(faults, span.clone(), key, pattern)?;
    if regex.capture_names().flatten().eq(["label"]) {
        return Some(regex);
    }
    let hint = "write it with one named group, as [?&]cat=(?<label>\\d+)".to_owned();
    faults.add(span, key, "this expression names no label".to_owned(), Some(hint));
    None
}

fn built(faults: &mut Faults, span: Range<usize>, key: &str, pattern: &str) -> Option<Regex> {
    let error = match RegexBuilder::new(pattern).size_limit(REGEX_PATTERN_BYTES_MAX).build() {
        Ok(regex) => return Some(regex),
        Err(error) => error,
    };
    let text = error.to_string();
    let span = offending(&text, pattern, faults.source(), &span);
    let message = format!("bad regular expression: {}", regex_message(&error, &text));
    faults.add(span, key, message, regex_hint(&text));
    None
}

fn rule(faults: &mut Faults, span: Range<usize>, key: &str, pattern: &str, class: Option<Class>) -> Option<Rule> {
    if let Some((message, hint)) = suspicious(pattern) {
        faults.add(span.clone(), key, message, Some(hint.to_owned()));
    }
    let regex = built(faults, span.clone(), key, pattern)?;
    let (line, column) = faults.place(span.start);
    let has_page = regex.capture_names().flatten().any(|name| name == "page");
    if let Some(other) = regex.capture_names().flatten().find(|name| *name != "page") {
        let message = format!("the group `{other}` means nothing here");
        faults.add(span, key, message, Some("name it `page` if it marks the page number, else write (?:…)".to_owned()));
    }
    Some(Rule {
        file: faults.path().into(),
        line,
        column,
        pattern: pattern.into(),
        class,
        page: has_page.then_some(regex),
    })
}

/// Expressions that compile but are surely a mistake.
fn suspicious(pattern: &str) -> Option<(&'static str, &'static str)> {
    let body = pattern.strip_prefix("(?i)").unwrap_or(pattern);
    let anchored = body.strip_prefix('^');
    let text = anchored.unwrap_or(body);
    if pattern.is_empty() {
        return Some(("an empty expression matches every URL", "write `.` if that is intended, or take it out"));
    }
    if text.starts_with("http:") || text.starts_with("https:") || text.starts_with("https?:") {
        let hint = "start after the host, as `^/path`; name hosts under `hosts`";
        return Some(("expressions are matched against path and query, without scheme and host", hint));
    }
    if anchored.is_some_and(|text| text.starts_with(|first: char| first.is_ascii_alphanumeric())) {
        return Some(("this can never match: a path begins with `/`", "write `^/…`"));
    }
    None
}

/// The last line of a `regex` error says what is wrong; the lines before it draw the pattern.
fn regex_message(error: &regex::Error, text: &str) -> String {
    if let regex::Error::CompiledTooBig(limit) = error {
        return format!("compiled it is larger than {limit} bytes");
    }
    let last = text.lines().rev().find_map(|line| line.trim().strip_prefix("error: "));
    last.map_or_else(|| first_line(text).to_owned(), str::to_owned)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn regex_hint(text: &str) -> Option<String> {
    let hint = if text.contains("look-around") {
        "look-around is not supported; put what must not match under `deny`"
    } else if text.contains("backreferences") {
        "back references are not supported"
    } else if text.contains("unclosed group") || text.contains("unopened group") {
        "close the group, or write `\\(` for the character itself"
    } else if text.contains("repetition operator missing expression") {
        "write `\\?`, `\\*` or `\\+` for the character itself"
    } else if text.contains("unclosed character class") {
        "close it with `]`, or write `\\[` for the character itself"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// The position in the file of a fault in an expression: the carets of the drawing, if the expression is written
/// without escapes and on one line; otherwise the whole expression.
fn offending(text: &str, pattern: &str, source: &str, whole: &Range<usize>) -> Range<usize> {
    let quoted = source.get(whole.start + 1..whole.end.saturating_sub(1));
    let carets = text.lines().find(|line| line.contains('^') && line.trim().bytes().all(|byte| byte == b'^'));
    let (Some(carets), true) = (carets, quoted == Some(pattern) && !pattern.contains('\n')) else {
        return whole.clone();
    };
    // The drawn expression is indented by four spaces; the carets count characters.
    let skip = carets.find('^').unwrap_or(0).saturating_sub(4);
    let count = carets.trim().len();
    let at = |characters: usize| pattern.char_indices().nth(characters).map_or(pattern.len(), |(at, _)| at);
    let start = whole.start + 1 + at(skip);
    start..(whole.start + 1 + at(skip + count)).max(start)
}
