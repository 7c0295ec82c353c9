//! When lists are looked at: the next day of each site as a line of time, and the lists that come next.

use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use maud::{Markup, html};
use serde::Deserialize;

use super::overview::DAY_MS;
use super::visit::{Visit, part};
use super::words;
use crate::limits::{LISTS_SHOWN, LOOKS_SHOWN};
use crate::problem::Problem;

/// What the page reads of `gleaner schedule --json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Report {
    looks_per_day: f64,
    is_full: bool,
    lists_total: usize,
    lists: Vec<List>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct List {
    url: String,
    posts_per_day: f64,
    looked: String,
    next: Vec<String>,
    why: String,
}

/// A site of the timeline.
struct Lane {
    site: String,
    report: Report,
    /// Times of looks in the shown day.
    looks: Vec<UnixMillis>,
    next: Option<UnixMillis>,
    waits: Option<(UnixMillis, String)>,
    is_paused: bool,
}

/// `/schedule`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let status = visit.outlet.status().await?;
    let mut lanes = Vec::new();
    for site in &status.sites {
        let made = visit.outlet.inside.schedule.make(&site.name).await?;
        let report: Report = made.and_then(|made| serde_json::from_value(made).ok()).unwrap_or_default();
        let times = report.lists.iter().flat_map(|list| list.next.iter()).filter_map(|at| words::parsed(at));
        let mut looks: Vec<UnixMillis> = times.filter(|at| at.0 < visit.now.0 + DAY_MS).collect();
        looks.sort_unstable();
        let round = site.crews.as_ref().and_then(|crews| words::parsed(&crews.next_round));
        let waits = site.waiting.as_ref().and_then(|of| Some((words::parsed(&of.until)?, of.reason.clone())));
        let next = looks.first().copied().or(round);
        lanes.push(Lane { site: site.name.clone(), report, looks, next, waits, is_paused: site.paused.is_some() });
    }
    let body = html! {
        h1 { "Schedule" }
        p.lead { "When each site is looked at in the next 24 hours (UTC). A look is a tick; a mark tells its time and list." }
        section aria-labelledby="timeline" {
            header { h2 #timeline { "The next 24 hours" } div.key { span { i.k-s0 {} "look" } span { i.k-none {} "left alone" } } }
            div.pad #timeline-shown data-live {
                @if lanes.is_empty() { p.soft { "No site yet." } } @else {
                    @for lane in &lanes { (line(&visit, lane)) }
                    div.hours aria-hidden="true" { @for nth in 0..=4 { span { (words::day_time(UnixMillis(visit.now.0 + nth * DAY_MS / 4))) } } }
                }
            }
        }
        (table(&visit, &lanes))
    };
    Ok(visit.page("schedule", "sites", &body))
}

const WIDTH: f64 = 960.0;

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn x(at: UnixMillis, now: UnixMillis) -> f64 {
    (at.0.saturating_sub(now.0) as f64 / DAY_MS as f64).clamp(0.0, 1.0) * WIDTH
}

fn line(visit: &Visit, lane: &Lane) -> Markup {
    let now = visit.now;
    let label = match (lane.looks.len(), lane.is_paused) {
        (_, true) => "paused".to_owned(),
        (0, _) if lane.next.is_some() => "looked at in rounds".to_owned(),
        (count, _) => words::many(count as u64, "look"),
    };
    let quiet = if lane.is_paused { Some(WIDTH) } else { lane.waits.as_ref().map(|(until, _)| x(*until, now)) };
    let mut ticks: Vec<(i64, UnixMillis, u64)> = Vec::new();
    for at in lane.looks.iter().take(LOOKS_SHOWN) {
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        let pixel = (x(*at, now) / 2.0) as i64;
        match ticks.last_mut() {
            Some((own, _, count)) if *own == pixel => *count += 1,
            _ => ticks.push((pixel, *at, 1)),
        }
    }
    html! {
        div {
            p.small { a.name href=(visit.to(&format!("/sites/{}", part(&lane.site)))) { (words::shown(&lane.site)) } " " span.soft { (label) @if let Some(next) = lane.next { ", the next " (words::when(next, now)) } } }
            svg.plot viewBox={ "0 0 " (WIDTH) " 26" } preserveAspectRatio="none" role="img" aria-label={ (words::shown(&lane.site)) ": " (label) } {
                title { (words::shown(&lane.site)) ": " (label) }
                rect.quiet x="0" y="11" width=(WIDTH) height="2" {}
                @for nth in 0..=4 { line.axis x1=(WIDTH / 4.0 * f64::from(nth)) x2=(WIDTH / 4.0 * f64::from(nth)) y1="2" y2="22" {} }
                @if let Some(width) = quiet { rect.quiet x="0" y="4" width=(width) height="16" { title { @match &lane.waits { Some((until, why)) => { "until " (words::day_time(*until)) ": " (words::shown(why)) } None => { "paused" } } } } }
                @for (pixel, at, count) in &ticks {
                    rect.tick x=(pixel * 2) y="3" width="2" height="18" { title { (words::day_time(*at)) @if *count > 1 { ", " (count) " looks" } } }
                }
            }
        }
    }
}

fn table(visit: &Visit, lanes: &[Lane]) -> Markup {
    let lists = lanes.iter().flat_map(|lane| lane.report.lists.iter().map(move |list| (lane, list)));
    let mut rows: Vec<(Option<UnixMillis>, &Lane, &List)> =
        lists.map(|(lane, list)| (list.next.first().and_then(|at| words::parsed(at)), lane, list)).collect();
    rows.sort_by_key(|(next, ..)| next.map_or(u64::MAX, |at| at.0));
    html! {
        section aria-labelledby="lists" {
            header { h2 #lists { "Lists that come next" } span.soft { "for all of a site: its own page" } }
            div #lists-shown data-live {
                @if rows.is_empty() { p.empty { "No list was looked at yet." } } @else {
                    table.cards {
                        thead { tr { th { "site" } th { "list" } th.n { "posts a day" } th.n { "last" } th.n { "next" } th { "why then" } } }
                        tbody { @for (next, lane, list) in rows.iter().take(LISTS_SHOWN) { tr {
                            td data-l="site" { a href=(visit.to(&format!("/sites/{}", part(&lane.site)))) { (words::shown(&lane.site)) } }
                            td.main.wide { (words::url(&list.url)) }
                            td.n data-l="posts a day" { (format!("{:.1}", list.posts_per_day)) }
                            td.n data-l="last" { (words::when_text(&list.looked, visit.now)) }
                            td.n data-l="next" { @if let Some(next) = next { (words::when(*next, visit.now)) } }
                            td.wide data-l="why then" { (words::shown(&list.why)) }
                        } } }
                    }
                }
            }
            @for lane in lanes.iter().filter(|lane| lane.report.lists_total > 0) {
                p.pad.soft.small { (words::shown(&lane.site)) ": " (words::many(lane.report.lists_total as u64, "list")) ", " (format!("{:.0}", lane.report.looks_per_day)) " looks a day" @if lane.report.is_full { "; no more lists fit into its rate" } }
            }
        }
    }
}
