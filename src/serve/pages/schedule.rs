//! When lists are looked at: a day back with what each look found, the next day of each site, and the lists that come next.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use maud::{Markup, html};

use super::overview::DAY_MS;
use super::status::Site;
use super::visit::{Visit, part};
use super::words;
use crate::desk::{Due, LookFound, PastLook, Timetable};
use crate::limits::{LISTS_SHOWN, LOOKS_SHOWN, PAST_LOOKS_SHOWN};
use crate::problem::Problem;

/// A site of the timeline.
struct Lane<'s> {
    site: &'s str,
    table: &'s Timetable,
    next: Option<UnixMillis>,
    waits: Option<(UnixMillis, &'s str)>,
    is_paused: bool,
}

impl<'s> Lane<'s> {
    fn of(site: &'s Site, table: &'s Timetable) -> Self {
        let waits = site.waiting.as_ref().and_then(|of| Some((words::parsed(&of.until)?, &*of.reason)));
        let next = site.next_look(table.looks.first().copied());
        Self { site: &site.name, table, next, waits, is_paused: site.paused.is_some() }
    }
}

/// `/schedule`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let status = visit.outlet.status().await?;
    let tables = (visit.outlet.inside.desk.timetables)().await.map_err(|error| Problem::ours(&error))?;
    let by_site: BTreeMap<&str, &Timetable> = tables.iter().map(|table| (&*table.site, table)).collect();
    let none = Timetable::default();
    let lane = |site| Lane::of(site, by_site.get(&*site.name).copied().unwrap_or(&none));
    let lanes: Vec<Lane<'_>> = status.sites.iter().map(lane).collect();
    let body = html! {
        h1 { "Schedule" }
        p.lead { "When each site is looked at (UTC): a day back with what each look found, and the next 24 hours. Each look is a tick." }
        section aria-labelledby="timeline" {
            header { h2 #timeline { "A day back, a day ahead" } div.key { span { i.k-s0 {} "to come" } span { i.k-ok {} "rows" } span { i.k-idle {} "unchanged" } span { i.k-failed {} "no list" } span { i.k-none {} "left alone" } } }
            div.pad #timeline-shown data-live {
                @if lanes.is_empty() { p.soft { "No site yet." } } @else {
                    @for lane in &lanes { (line(&visit, lane)) }
                    div.hours aria-hidden="true" { @for nth in 0..=4 { span { (words::day_time(UnixMillis((visit.now.0 + nth * DAY_MS / 2).saturating_sub(DAY_MS)))) } } }
                }
            }
        }
        (coming(&visit, &lanes))
        (past(&visit, &lanes))
    };
    Ok(visit.page("schedule", "sites", &body))
}

const WIDTH: f64 = 960.0;

/// Now is in the middle.
#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn x(at: UnixMillis, now: UnixMillis) -> f64 {
    ((at.0 as f64 - now.0 as f64) / DAY_MS as f64).clamp(-1.0, 1.0).mul_add(0.5, 0.5) * WIDTH
}

/// A tick of the timeline: its pixel, the first look of it, how many there are, and its class.
type Tick = (i64, UnixMillis, u64, &'static str);

fn ticks(looks: impl Iterator<Item = (UnixMillis, &'static str)>, now: UnixMillis) -> Vec<Tick> {
    let mut ticks: Vec<Tick> = Vec::new();
    for (at, class) in looks {
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        let pixel = (x(at, now) / 2.0) as i64;
        match ticks.last_mut() {
            Some((own, _, count, of)) if *own == pixel && *of == class => *count += 1,
            _ => ticks.push((pixel, at, 1, class)),
        }
    }
    ticks
}

/// Ticks of a lane that each have a title: of more, the page would be long, and nobody could point at one.
const TITLED: usize = 48;

/// Ticks as one line of each class.
fn paths(ticks: &[Tick]) -> BTreeMap<&'static str, String> {
    let mut paths: BTreeMap<&str, (i64, String)> = BTreeMap::new();
    for (pixel, _, _, class) in ticks {
        let stroke = match *class {
            "b-ok" => "s1",
            "b-idle" => "si",
            "b-failed" => "s3",
            _ => "s0",
        };
        let (before, d) = paths.entry(stroke).or_insert_with(|| (0, "M1 21".to_owned()));
        let _ = write!(d, "m{}-18v18", (pixel - *before) * 2);
        *before = *pixel;
    }
    paths.into_iter().map(|(class, (_, d))| (class, d)).collect()
}

fn class(found: LookFound) -> &'static str {
    match found {
        LookFound::Rows(_) => "b-ok",
        LookFound::Same => "b-idle",
        LookFound::Nothing => "b-failed",
    }
}

fn line(visit: &Visit, lane: &Lane<'_>) -> Markup {
    let (now, table) = (visit.now, lane.table);
    let label = match (table.looks.len(), lane.is_paused) {
        (_, true) => "paused".to_owned(),
        (0, _) if lane.next.is_some() => "looked at in rounds".to_owned(),
        (count, _) => format!("{} to come", words::many(count as u64, "look")),
    };
    let quiet = if lane.is_paused { Some(WIDTH) } else { lane.waits.map(|(until, _)| x(until, now)) };
    let past = table.past.iter().map(|look| (look.at, class(look.found)));
    let to_come = table.looks.iter().take(LOOKS_SHOWN).map(|at| (*at, "tick"));
    let ticks = ticks(past.chain(to_come), now);
    html! {
        div.lane {
            p.small {
                a.name href=(visit.to(&format!("/sites/{}", part(lane.site)))) { (words::shown(lane.site)) } " "
                span.soft { (label) @if let Some(next) = lane.next { ", the next " (words::when(next, now)) } @if !table.past.is_empty() { ", " (words::count(table.past.len() as u64)) " in the last day" } }
            }
            svg.plot viewBox={ "0 0 " (WIDTH) " 26" } preserveAspectRatio="none" role="img" aria-label={ (words::shown(lane.site)) ": " (label) } {
                title { (words::shown(lane.site)) ": " (label) }
                rect.quiet x="0" y="11" width=(WIDTH) height="2" {}
                @if let Some(until) = quiet { rect.quiet x=(WIDTH / 2.0) y="4" width=((until - WIDTH / 2.0).max(2.0)) height="16" { title { @match lane.waits { Some((until, why)) => { "until " (words::day_time(until)) ": " (words::shown(why)) } None => { "paused" } } } } }
                @if ticks.len() <= TITLED { @for (pixel, at, count, class) in &ticks {
                    rect class=(class) x=(pixel * 2) y="3" width="2" height="18" { title { (words::day_time(*at)) @if *count > 1 { ", " (count) " looks" } } }
                } } @else { @for (class, d) in paths(&ticks) { path class=(class) d=(d) {} } }
                rect.now x=(WIDTH / 2.0 - 1.0) y="0" width="2" height="26" { title { "now" } }
            }
        }
    }
}

fn coming(visit: &Visit, lanes: &[Lane<'_>]) -> Markup {
    let mut rows: Vec<(&Lane<'_>, &Due)> =
        lanes.iter().flat_map(|lane| lane.table.lists.iter().map(move |list| (lane, list))).collect();
    rows.sort_by_key(|(_, list)| list.next.map_or(u64::MAX, |at| at.0));
    html! {
        section aria-labelledby="lists" {
            header { h2 #lists { "Lists that come next" } span.soft { "for all of a site: its own page" } }
            div #lists-shown data-live {
                @if rows.is_empty() { p.empty { "No list was looked at yet." } } @else {
                    table.cards {
                        thead { tr { th { "site" } th { "list" } th.n { "posts a day" } th.n { "last" } th.n { "next" } th { "why then" } } }
                        tbody { @for (lane, list) in rows.iter().take(LISTS_SHOWN) { tr {
                            td data-l="site" { a href=(visit.to(&format!("/sites/{}", part(lane.site)))) { (words::shown(lane.site)) } }
                            td.main.wide { (words::url(&list.url)) }
                            td.n data-l="posts a day" { (format!("{:.1}", list.posts_per_day)) }
                            td.n data-l="last" { (words::when(list.looked, visit.now)) }
                            td.n data-l="next" { @if let Some(next) = list.next { (words::when(next, visit.now)) } }
                            td.main.wide data-l="why then" { (words::shown(&list.why)) }
                        } } }
                    }
                }
            }
            @for lane in lanes.iter().filter(|lane| lane.table.is_full) {
                p.pad.soft.small { (words::shown(lane.site)) ": " (words::many(lane.table.lists_total as u64, "list")) ", " (format!("{:.0}", lane.table.looks_per_day)) " looks a day; no more lists fit into its rate" }
            }
        }
    }
}

/// What the last looks found.
fn past(visit: &Visit, lanes: &[Lane<'_>]) -> Markup {
    let mut rows: Vec<(&str, &PastLook)> =
        lanes.iter().flat_map(|lane| lane.table.past.iter().map(|look| (lane.site, look))).collect();
    rows.sort_by_key(|(_, look)| std::cmp::Reverse(look.at));
    html! {
        section aria-labelledby="past" {
            header { h2 #past { "What the last looks found" } span.soft { "since the service started" } }
            div #past-shown data-live {
                @if rows.is_empty() { p.empty { "None yet." } } @else {
                    table.cards {
                        thead { tr { th { "site" } th { "list" } th.n { "when" } th { "found" } } }
                        tbody { @for (site, look) in rows.iter().take(PAST_LOOKS_SHOWN) { tr {
                            td data-l="site" { (words::shown(site)) }
                            td.main.wide { (words::shown(&look.path)) }
                            td.n data-l="when" { (words::when(look.at, visit.now)) }
                            td data-l="found" { @match look.found { LookFound::Rows(rows) => { (words::many(rows.into(), "row")) } LookFound::Same => { "unchanged" } LookFound::Nothing => { "no list" } } }
                        } } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_of_one_pixel_are_one_tick_and_now_is_in_the_middle() {
        let now = UnixMillis(10 * DAY_MS);
        let at = |ms: i64| UnixMillis(now.0.saturating_add_signed(ms));
        assert_eq!([x(at(-(DAY_MS as i64) * 2), now), x(now, now), x(at(DAY_MS as i64), now)], [0.0, 480.0, 960.0]);
        let looks = [(at(-1_000), "b-ok"), (at(-900), "b-ok"), (at(-800), "b-idle"), (at(3_600_000), "tick")];
        let counts: Vec<(u64, &str)> =
            ticks(looks.into_iter(), now).iter().map(|(_, _, count, of)| (*count, *of)).collect();
        assert_eq!(counts, [(2, "b-ok"), (1, "b-idle"), (1, "tick")]);
        let many = (0..400).map(|nth| (at(nth * 200_000), if nth % 2 == 0 { "b-ok" } else { "tick" }));
        let paths = paths(&ticks(many, now));
        assert_eq!(paths.keys().copied().collect::<Vec<_>>(), ["s0", "s1"]);
        let bytes: usize = paths.values().map(String::len).sum();
        assert!(paths["s1"].starts_with("M1 21m480-18v18m") && bytes < 400 * 10, "{bytes}: {}", &paths["s1"][..40]);
    }
}
