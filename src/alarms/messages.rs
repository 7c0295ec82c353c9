//! How an alarm is worded for those who are called: our own JSON, and what ntfy, Gotify, Discord, Slack and Apprise take.

use serde_json::{Value, json};

use crate::Alarm;
use crate::book::What;
use crate::limits::CHAT_CHARACTERS_MAX;

/// Who takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Template {
    /// The alarm as the API gives it.
    #[default]
    Json,
    Ntfy,
    Gotify,
    Discord,
    Slack,
    Apprise,
}

impl Template {
    /// The header that its secret is sent in, and what stands before it.
    #[must_use]
    pub fn secret_header(self) -> (&'static str, &'static str) {
        match self {
            Self::Gotify => ("X-Gotify-Key", ""),
            _ => ("Authorization", "Bearer "),
        }
    }
}

/// One line.
#[must_use]
pub fn title(what: What, alarm: &Alarm) -> String {
    let of = alarm.site.as_deref().unwrap_or("gleaner");
    match what {
        What::Fired => format!("{of}: {}", alarm.title),
        What::Over => format!("{of}: {} is over", alarm.kind),
        What::Test => "gleaner: a test, nothing is wrong".to_owned(),
    }
}

/// What is behind the title.
#[must_use]
pub fn text(what: What, alarm: &Alarm) -> String {
    let mut lines = Vec::new();
    match (what, alarm.over_ms) {
        (What::Test, _) => return "This message was asked for: the channel works.".to_owned(),
        (What::Over, Some(over)) => {
            lines.push(format!("It lasted {}: {}", lasted(over - alarm.since_ms), alarm.title));
        }
        _ => {
            if let Some(figures) = &alarm.figures {
                lines.push(format!("{}: {} now, {} before", figures.of, short(figures.now), short(figures.before)));
            }
            lines.extend(alarm.rule.as_ref().map(|rule| format!("rule: {rule}")));
            lines.push(format!("to do: {}", alarm.todo));
            lines.push(format!("kind {}, id {}", alarm.kind, alarm.id));
        }
    }
    lines.join("\n")
}

/// The body of the request, as JSON, and the URL that takes it: ntfy takes JSON at its root alone.
#[must_use]
pub fn request(template: Template, url: &str, what: What, alarm: &Alarm) -> (String, Value) {
    let (title, text) = (title(what, alarm), text(what, alarm));
    let is_over = what != What::Fired;
    let body = match template {
        Template::Json => json!({ "event": what, "title": title, "text": text, "alarm": alarm }),
        Template::Ntfy => {
            let (root, topic) = topic_of(url);
            let (tag, priority) = if is_over { ("white_check_mark", 3) } else { ("warning", 4) };
            let body = json!({ "topic": topic, "title": title, "message": text, "priority": priority, "tags": [tag] });
            return (root, body);
        }
        Template::Gotify => json!({ "title": title, "message": text, "priority": if is_over { 3 } else { 7 } }),
        Template::Discord => {
            let content = cut(&format!("**{}**\n{}", marked_off(&title), marked_off(&text)));
            json!({ "content": content, "allowed_mentions": { "parse": [] } })
        }
        Template::Slack => {
            let escaped = format!("{title}\n{text}").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            json!({ "text": cut(&escaped) })
        }
        Template::Apprise => {
            let kind = if is_over { "success" } else { "failure" };
            json!({ "title": title, "body": text, "type": kind })
        }
    };
    (url.to_owned(), body)
}

/// The address without its last part, and that part.
fn topic_of(url: &str) -> (String, String) {
    let Ok(mut parsed) = url::Url::parse(url) else { return (url.to_owned(), String::new()) };
    let path = parsed.path().trim_end_matches('/').to_owned();
    let (root, topic) = path.rsplit_once('/').unwrap_or(("", ""));
    parsed.set_path(if root.is_empty() { "/" } else { root });
    (parsed.into(), topic.to_owned())
}

/// Without what Discord reads as markup.
fn marked_off(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for of in text.chars() {
        if "*_`~|\\[]<>".contains(of) {
            out.push('\\');
        }
        out.push(of);
    }
    out
}

fn cut(text: &str) -> String {
    text.chars().take(CHAT_CHARACTERS_MAX).collect()
}

/// A number with as many digits as mean something.
#[must_use]
pub fn short(number: f64) -> String {
    if number.fract() == 0.0 || number.abs() >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// A time in its two largest units.
#[must_use]
pub fn lasted(ms: i64) -> String {
    let minutes = (ms / 60_000).max(0);
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Figures;

    fn alarm() -> Alarm {
        Alarm {
            id: "rows-fell-3".to_owned(),
            kind: "rows-fell".to_owned(),
            site: Some("debian".to_owned()),
            title: "1 of 1 lists (index), as /<b>&*x*, show fewer rows".to_owned(),
            since_ms: 1_000,
            away_since_ms: None,
            over_ms: Some(1_000 + 95 * 60_000),
            figures: Some(Figures { of: "rows of a list".to_owned(), before: 50.0, now: 12.5 }),
            rule: Some("debian.toml:4".to_owned()),
            page: None,
            todo: "`gleaner rules repair debian`".to_owned(),
            silenced_until_ms: None,
            note: None,
        }
    }

    #[test]
    fn each_who_takes_it_gets_its_form() {
        let of = |template, url| request(template, url, What::Fired, &alarm());
        let (url, body) = of(Template::Ntfy, "https://ntfy.lan/x/gleaner");
        assert_eq!((&*url, &body["topic"]), ("https://ntfy.lan/x", &json!("gleaner")));
        assert_eq!(request(Template::Ntfy, "http://ntfy.lan/t", What::Over, &alarm()).0, "http://ntfy.lan/");
        let (_, body) = of(Template::Gotify, "https://g/message");
        assert_eq!(body["priority"], 7);
        let text = body["message"].as_str().unwrap();
        assert!(
            text.contains("12.50 now, 50 before") && text.contains("debian.toml:4") && text.contains("repair debian")
        );
        let (_, body) = of(Template::Discord, "https://d");
        assert!(
            body["content"].as_str().unwrap().contains("\\*x\\*") && body["allowed_mentions"]["parse"] == json!([])
        );
        let (_, body) = of(Template::Slack, "https://s");
        assert!(body["text"].as_str().unwrap().contains("&lt;b&gt;&amp;"));
        assert_eq!(of(Template::Apprise, "https://a").1["type"], "failure");
        let (_, body) = request(Template::Json, "https://j", What::Over, &alarm());
        assert_eq!((&body["event"], &body["alarm"]["id"]), (&json!("over"), &json!("rows-fell-3")));
        assert!(body["text"].as_str().unwrap().contains("1 h 35 min"));
    }

    #[test]
    fn a_chat_gets_no_more_than_it_takes() {
        let alarm = Alarm { todo: "ä".repeat(9_000), ..alarm() };
        let (_, body) = request(Template::Discord, "https://d", What::Fired, &alarm);
        assert!(body["content"].as_str().unwrap().chars().count() <= CHAT_CHARACTERS_MAX);
    }
}
