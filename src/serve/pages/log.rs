//! The newest lines of the log, filtered.

use axum::response::Response;
use gleaner_base::recent::{Line, Urgency};
use maud::{Markup, html};
use serde_json::Value;

use super::visit::{Visit, part};
use super::words;
use crate::limits::LOG_SHOWN;
use crate::problem::Problem;

const LEVELS: [(&str, Urgency); 4] =
    [("debug", Urgency::Debug), ("info", Urgency::Info), ("warn", Urgency::Warn), ("error", Urgency::Error)];

/// `/log`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let [level, site, text] = ["level", "site", "text"].map(|name| words::typed(visit.asked(name).trim()));
    let least = LEVELS.iter().find(|(name, _)| *name == level).map_or(Urgency::Trace, |(_, urgency)| *urgency);
    let before = match visit.asked("before") {
        "" => None,
        number => {
            let number = number.parse::<u64>().ok();
            Some(number.ok_or_else(|| Problem::wrong("this page was never linked", "begin without `before`"))?)
        }
    };
    let wanted = text.to_lowercase();
    let is_wanted = |line: &Line| {
        line.level >= least && (site.is_empty() || line.is_of(&site)) && (wanted.is_empty() || has(line, &wanted))
    };
    let lines = visit.outlet.inside.log.newest(before, LOG_SHOWN, is_wanted);
    let sites: Vec<String> = visit
        .outlet
        .status()
        .await?
        .sites
        .iter()
        .map(|of| of.name.clone())
        .filter(|name| words::typed(name) == *name)
        .collect();
    let older = lines.last().filter(|_| lines.len() == LOG_SHOWN).map(|line| line.number);
    let kept = format!("level={}&site={}&text={}", part(&level), part(&site), part(&text));
    let body = html! {
        h1 { "Log" }
        form.search method="get" role="search" {
            select name="level" aria-label="at least as urgent as" {
                option value="" { "all levels" }
                @for (name, _) in LEVELS { option value=(name) selected[name == level] { (name) } }
            }
            select name="site" aria-label="site" {
                option value="" { "all sites" }
                @for name in &sites { option value=(name) selected[*name == site] { (words::shown(name)) } }
            }
            input type="search" name="text" value=(text) placeholder="text: an outcome, a host" aria-label="text" data-search;
            button.main { "filter" }
        }
        section aria-label="lines" {
            div #lines data-live[before.is_none()] {
                @if lines.is_empty() { p.empty { "No line fits." } } @else {
                    table.cards.log {
                        thead { tr { th { "time" } th { "level" } th { "what" } } }
                        tbody { @for line in &lines { (shown(&visit, line)) } }
                    }
                }
            }
            @if older.is_some() || before.is_some() {
                nav.pages aria-label="pages of the log" {
                    @if before.is_some() { a href=(visit.to(&format!("/log?{kept}"))) { "← newest" } } @else { span {} }
                    @if let Some(older) = older { a href=(visit.to(&format!("/log?{kept}&before={older}"))) { "older →" } }
                }
            }
        }
        p.soft.small { "The last lines are in memory. Older ones: " code { "journalctl -u gleaner --since yesterday" } }
    };
    Ok(visit.page("log", "log", &body))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn has(line: &Line, wanted: &str) -> bool {
    let is_in = |text: &str| text.to_lowercase().contains(wanted);
    is_in(&line.message) || line.fields.iter().any(|(name, value)| is_in(name) || is_in(&text_of(value)))
}

fn shown(visit: &Visit, line: &Line) -> Markup {
    let site = line.fields.get("site").and_then(Value::as_str);
    let level = format!("{:?}", line.level).to_lowercase();
    let explain = |text: &str| site.map(|site| visit.to(&format!("/rules/{}?url={}#try", part(site), part(text))));
    html! {
        tr {
            td.nowrap.num data-l="time" { time title=(line.at.rfc3339()) { (words::clock(line.at)) } }
            td data-l="level" { span class={ "level " (level) } { (level) } }
            td.main.wide {
                (words::told(&line.message))
                span.fields {
                    @for (name, value) in &line.fields {
                        @let text = text_of(value);
                        " " (words::shown(name)) "="
                        @if name == "site" { a href=(visit.to(&format!("/sites/{}", part(&text)))) { (words::shown(&text)) } }
                        @else if let Some(href) = explain(&text).filter(|_| name == "url") { a href=(href) title="explain" { (words::url(&text)) } }
                        @else { b { (words::told(&text)) } }
                    }
                }
            }
        }
    }
}
