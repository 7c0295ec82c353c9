//! Tests the finished rules: start URLs and the examples of the file must get the expected verdicts.

use super::class::Class;
use super::fault::Faults;
use super::file::{ClassedExample, Example, ExamplesFile};
use super::judge::{Refusal, SiteRules, Verdict};
use super::places::url_hint;
use super::schema::Spans;
use gleaner_base::url::CrawlUrl;

pub(super) fn judge_start(faults: &mut Faults, spans: &Spans, site: &SiteRules, start: &[(usize, CrawlUrl)]) {
    let certain = Certain::of(faults, spans);
    for (index, url) in start {
        let key = format!("start[{index}]");
        let (message, hint) = match site.judge(url) {
            Verdict::Take { class: Class::Login, .. } => {
                ("the login page cannot be a start URL".to_owned(), "give it another class, or another start URL")
            }
            Verdict::Take { .. } => continue,
            Verdict::Refuse { reason } if !certain.is_certain(reason) => continue,
            Verdict::Refuse { reason } => (format!("the start URL is refused: {}", told(reason)), start_hint(reason)),
        };
        faults.add(spans.value(&key), &key, message, Some(hint.to_owned()));
    }
}

/// Refusals that no other fault of the file can have caused.
#[derive(Clone, Copy)]
struct Certain {
    places: bool,
    classes: bool,
}

impl Certain {
    fn of(faults: &Faults, spans: &Spans) -> Self {
        // Statements that TOML cannot parse were removed, and may have been anything.
        let is_whole = faults.list().iter().all(|fault| !fault.key.is_empty());
        let is_sound = |key: &str| is_whole && !faults.concern(key) && (spans.has(key) || !spans.may_have(key));
        Self {
            places: is_sound("hosts") && is_sound("start"),
            classes: (spans.has("classes") || spans.has("extends")) && is_sound("classes") && is_sound("extends"),
        }
    }

    fn is_certain(self, reason: Refusal<'_>) -> bool {
        match reason {
            Refusal::WrongHost | Refusal::NotBelowStart => self.places,
            Refusal::NoClass => self.classes,
            Refusal::EndsSession | Refusal::ActsForAccount(_) => true,
            Refusal::Denied(..) => true,
        }
    }
}

fn start_hint(reason: Refusal<'_>) -> &'static str {
    match reason {
        Refusal::WrongHost => "add its host, with the port if it has one, to `hosts`, or take `hosts` out",
        Refusal::Denied(..) => "narrow that expression",
        Refusal::EndsSession => "take it out: it is never fetched where the site has a [login]",
        Refusal::ActsForAccount(_) => "take it out, or add it to `allow_actions` if a visit of it changes nothing",
        Refusal::NoClass | Refusal::NotBelowStart => "add an expression that matches it to a class, as index = ['^/$']",
    }
}

/// The text for a refusal.
fn told(reason: Refusal<'_>) -> String {
    match reason {
        Refusal::WrongHost => "its host is not in `hosts`".to_owned(),
        Refusal::NotBelowStart => "it is outside the folders of the start URLs (below_start)".to_owned(),
        Refusal::Denied(_, rule) => format!("denied by `{}` at {}", rule.pattern, rule.place()),
        Refusal::NoClass => "no class matches it".to_owned(),
        Refusal::EndsSession => "it would log the account out".to_owned(),
        Refusal::ActsForAccount(sign) => format!("it would act in the account's name: {}", sign.sentence()),
    }
}

pub(super) fn examples(
    faults: &mut Faults,
    spans: &Spans,
    examples: &ExamplesFile,
    site: &SiteRules,
    placed: impl Fn(&str) -> String,
) {
    let certain = Certain::of(faults, spans);
    for (index, example) in examples.accept.iter().enumerate() {
        let key = format!("examples.accept[{index}]");
        let fault = match CrawlUrl::parse(&placed(example.url()), &site.canonical) {
            Ok(url) => match site.judge(&url) {
                Verdict::Refuse { reason } if !certain.is_certain(reason) => None,
                _ => accepted(site, &url, example),
            },
            Err(fault) => Some((fault.to_string(), url_hint(&fault))),
        };
        if let Some((message, hint)) = fault {
            faults.add(spans.value(&key), &key, message, hint);
        }
    }
    for (index, text) in examples.refuse.iter().enumerate() {
        let key = format!("examples.refuse[{index}]");
        // A URL that the crawler cannot parse counts as refused, too.
        let Ok(url) = CrawlUrl::parse(&placed(text), &site.canonical) else {
            continue;
        };
        if let Verdict::Take { class, rule, .. } = site.judge(&url) {
            let message = format!(
                "this example must be refused, and is taken as {} by `{}` at {}",
                class.name(),
                rule.pattern,
                rule.place()
            );
            let hint = Some("narrow that expression, or deny the URL".to_owned());
            faults.add(spans.value(&key), &key, message, hint);
        }
    }
}

/// What is wrong with an example that must be accepted.
fn accepted(site: &SiteRules, url: &CrawlUrl, example: &Example) -> Option<(String, Option<String>)> {
    let (class, rule, page_capture) = match site.judge(url) {
        Verdict::Take { class, rule, page_capture, .. } => (class, rule, page_capture),
        Verdict::Refuse { reason } => {
            let seen = if url.as_str() == example.url() { String::new() } else { format!(" (as {url})") };
            return Some((format!("this example must be taken, and is refused{seen}: {}", told(reason)), None));
        }
    };
    let Example::Classed(ClassedExample { class: due_class, page: due_page, .. }) = example else {
        return None;
    };
    if let Some(due) = due_class
        && *due != class
    {
        let by = format!("by `{}` at {}", rule.pattern, rule.place());
        let message = format!("this example must be taken as {}, and is taken as {} {by}", due.name(), class.name());
        return Some((message, Some("narrow that expression, or move it after the right one".to_owned())));
    }
    let page = page_capture.and_then(|(start, end)| url.path().get(start..end)?.parse::<u64>().ok());
    if let Some(due) = due_page
        && page != Some(*due)
    {
        let found = page.map_or_else(|| "none".to_owned(), |page| page.to_string());
        let message = format!("this example must show page number {due}, and `{}` finds {found}", rule.pattern);
        let hint = match page {
            None if rule.page.is_some() => "let the group `page` hold the number's digits, and nothing else",
            None => "mark the number with (?<page>\\d+)",
            Some(_) => "put the group `page` around the right number, or correct the example",
        };
        return Some((message, Some(hint.to_owned())));
    }
    None
}
