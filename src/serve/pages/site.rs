//! One site: how it is and why, its plots, lists, finds, refusals and what its rules bring.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use gleaner_search::{Order, Query};
use maud::{Markup, html};
use serde::Deserialize;

use super::status::Site;
use super::svg::{self, Bar, Line, Span};
use super::visit::{Form, Visit, part};
use super::{ACTING, overview, torrents, words};
use crate::Outlet;
use crate::acts::{Act, Wish};
use crate::api::lists::ListRow;
use crate::desk::{Covered, HALF_HOUR_MS, HalfHour, RefusedLink, Verdict};
use crate::limits::{LISTS_SHOWN, ROWS_SHOWN};
use crate::problem::Problem;

/// Time ranges of the plots: name, words, and milliseconds; none for all.
const RANGES: [(&str, &str, Option<u64>); 4] = [
    ("24h", "24 hours", Some(overview::DAY_MS)),
    ("7d", "7 days", Some(7 * overview::DAY_MS)),
    ("30d", "30 days", Some(30 * overview::DAY_MS)),
    ("all", "all", None),
];

/// Newest finds shown.
const FINDS: usize = 10;

/// What the pages read of `gleaner delay --json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delays {
    over_time: Vec<DelayPoint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DelayPoint {
    until: UnixMillis,
    median_s: f64,
    p90_s: f64,
    p99_s: f64,
}

/// `/sites/NAME`.
pub async fn page(Path(name): Path<String>, visit: Visit) -> Result<Response, Problem> {
    let status = visit.outlet.status().await?;
    let site = overview::by_name(&status).get(&*name).copied();
    let missing = || Problem::not_found(format!("no site is called {name}"), "the overview lists the sites");
    let site = site.ok_or_else(missing)?;
    let state = site.state(&status.rule_faults);
    let desk = &visit.outlet.inside.desk;
    let covered = (desk.covered)().remove(&name).unwrap_or_default();
    let half_hours = (desk.half_hours)().remove(&name).unwrap_or_default();
    let lists = (visit.outlet.inside.lists)(name.clone()).await.map_err(|error| Problem::ours(&error))?;
    let next = site.next_look(lists.first().and_then(|list| words::parsed(list.next.as_deref()?)));
    let body = html! {
        (svg::gaps())
        div #state data-live {
            h1.state { span class={ "dot " (state.mood.class()) } {} span { (words::shown(&name)) } }
            p.lead { (state.shown(visit.now)) @if let Some(next) = next { " · next look " (words::when(next, visit.now)) } }
            div.fix.below { (overview::acts(&visit, site)) (pause_for(&visit, &name)) (state.mended(&visit, &name)) a.button href=(visit.to(&format!("/rules/{}", part(&name)))) { "rules" } a.button href=(visit.to(&format!("/log?site={}", part(&name)))) { "log" } }
            (session(&visit, site))
            (tiles(site, &covered, &half_hours, visit.now))
        }
        (plots(&visit, &name, &covered, &half_hours).await?)
        (finds(&visit, &name).await?)
        (lists_shown(&visit, &lists))
        (refusals(&visit, site).await?)
        (refused(&visit, &name))
        div.two { (troubles(site)) (yields(&visit, &name).await?) }
        div.two { (gone(&visit, site)) (not_whole(&visit, &name).await?) }
    };
    Ok(visit.page(&name, "sites,torrent", &body))
}

fn pause_for(visit: &Visit, name: &str) -> Markup {
    visit.form(&format!("/sites/{}/act", part(name)), &html! {
        input type="hidden" name="act" value="pause";
        select name="minutes" aria-label="how long" { option value="60" { "1 hour" } option value="480" { "8 hours" } option value="1440" { "1 day" } option value="10080" { "1 week" } }
        button { "pause for" }
    })
}

fn session(visit: &Visit, site: &Site) -> Markup {
    let Some(session) = &site.session else { return html! {} };
    html! {
        p.soft {
            "account: "
            @match &*session.state {
                "good" => { "logged in" @if let Some(proven) = session.proven { ", proven " (words::when(proven, visit.now)) } }
                "missing" => { "no session" }
                "logging_in" => { "logging in" }
                "proving" => { "proving its session" }
                _ => { "about to prove its session" }
            }
        }
    }
}

fn tiles(site: &Site, covered: &Covered, half_hours: &[HalfHour], now: UnixMillis) -> Markup {
    let today = now.0 / overview::DAY_MS * (overview::DAY_MS / HALF_HOUR_MS);
    let requests: u32 = half_hours
        .iter()
        .filter(|of| of.number >= today)
        .map(|of| of.answered + of.throttled + of.refused + of.failed)
        .sum();
    let delay = site.delay.as_ref();
    let seconds = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), words::span);
    html! {
        div.tiles {
            div { b { (words::count(site.torrents_seen)) } span { "torrents" } }
            div { b { (words::count(site.magnets)) } span { "by magnet only" } }
            div { b { @if let Some(ratio) = covered.ratio { @if covered.is_at_most { "≤ " } (words::percent(ratio)) } @else { "–" } } span { "coverage" } }
            div { b { @if delay.is_some() { (seconds(delay.and_then(|of| of.median_s))) " · " (seconds(delay.and_then(|of| of.p90_s))) " · " (seconds(delay.and_then(|of| of.p99_s))) } @else { "–" } } span { "delay p50 · p90 · p99" } }
            div { b { (words::count(site.urls_queued)) } span { "URLs queued of " (words::count(site.urls_known)) } }
            div { b { (words::count(site.pages)) } span { "requests, " (words::bytes(site.body_bytes)) } }
            div { b { (words::count(requests.into())) } span { "requests today, as far as known" } }
        }
        (svg::bar(half_hours, now))
        p {}
    }
}

/// The beginning of what a plot shows.
fn range(visit: &Visit) -> (&'static str, Option<u64>) {
    let asked = visit.asked("range");
    RANGES.iter().find(|(name, ..)| *name == asked).map_or((RANGES[0].0, RANGES[0].2), |(name, _, ms)| (name, *ms))
}

async fn plots(visit: &Visit, name: &str, covered: &Covered, half_hours: &[HalfHour]) -> Result<Markup, Problem> {
    let delays =
        visit.outlet.inside.delay.make(name).await?.and_then(|made| serde_json::from_value::<Delays>(made).ok());
    let delays = delays.unwrap_or_default();
    let (chosen, ms) = range(visit);
    let first = covered
        .over_time
        .first()
        .map(|of| of.until.0)
        .into_iter()
        .chain(half_hours.first().map(|of| of.number * HALF_HOUR_MS))
        .min();
    let from = ms.map_or(first.unwrap_or(visit.now.0 - overview::DAY_MS), |ms| visit.now.0.saturating_sub(ms));
    let span = Span { from: UnixMillis(from.min(visit.now.0 - 3_600_000)), until: visit.now, is_low: false };
    let low = Span { is_low: true, ..span };
    let here = format!("/sites/{}", part(name));
    Ok(html! {
        section aria-labelledby="plots" {
            header {
                h2 #plots { "Over time" }
                nav.chips aria-label="time range" {
                    @for (own, words, _) in RANGES {
                        @if own == chosen { b aria-current="true" { (words) } } @else { a href=(visit.to(&format!("{here}?range={own}#plots"))) { (words) } }
                    }
                }
            }
            div.two.pad #plots-shown data-live {
                div { h3 { "torrents an hour" } (svg::bars("torrents stored an hour", span, &torrents_an_hour(covered, half_hours), number)) }
                div { h3 { "delay" } (svg::lines("acquisition delay", span, None, &delay_lines(&delays, visit.now), words::span)) @if !delays.over_time.is_empty() { (svg::key(&[("p50", "s1"), ("p90", "s2"), ("p99", "s3")])) } }
                div { h3 { "requests each half hour" } (svg::bars("requests by what became of them", span, &requests(half_hours), number)) (svg::key(&[("answered", "ok"), ("asked to wait", "slow"), ("refused", "refused"), ("failed", "failed")])) }
                div { h3 { "coverage" } (svg::lines("share of what the site lists", low, Some(1.0), &[coverage_line(covered, visit.now)], whole_percent)) h3 { "URLs queued" } (svg::lines("URLs that wait", low, None, &[queue_line(half_hours, visit.now)], number)) }
            }
            p.pad.soft.small { "Times are UTC. Requests and the queue are known since the service started, at most 30 days back." }
        }
    })
}

/// Never 100 % of what is not all.
fn whole_percent(ratio: f64) -> String {
    format!("{:.0} %", (ratio * 100.0).floor())
}

fn number(value: f64) -> String {
    if value >= 10.0 || value.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count that is not negative")]
        return words::count(value.max(0.0).round() as u64);
    }
    format!("{value:.1}")
}

/// As the database knows it; else as the process has counted.
#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn torrents_an_hour(covered: &Covered, half_hours: &[HalfHour]) -> Vec<Bar> {
    const HOUR_MS: u64 = 3_600_000;
    let points = &covered.over_time;
    let steps = points.windows(2).map(|two| two[1].until.0.saturating_sub(two[0].until.0)).filter(|ms| *ms > 0);
    let bin = steps.min().unwrap_or(HOUR_MS).max(HOUR_MS);
    if points.is_empty() {
        let bar = |of: &HalfHour| Bar {
            from: UnixMillis(of.number * HALF_HOUR_MS),
            until: UnixMillis((of.number + 1) * HALF_HOUR_MS),
            parts: vec![("torrents", "f0", f64::from(of.torrents) * 2.0)],
        };
        return half_hours.iter().map(bar).collect();
    }
    let mut before = 0;
    points
        .iter()
        .map(|point| {
            let came = point.ci.saturating_sub(before);
            before = point.ci;
            let an_hour = came as f64 * HOUR_MS as f64 / bin as f64;
            let from = UnixMillis(point.until.0.saturating_sub(bin));
            Bar { from, until: point.until, parts: vec![("torrents", "f0", an_hour)] }
        })
        .collect()
}

fn delay_lines(delays: &Delays, now: UnixMillis) -> [Line; 3] {
    let line = |name, class, of: fn(&DelayPoint) -> f64| Line {
        name,
        class,
        points: delays.over_time.iter().map(|point| (point.until.min(now), of(point))).collect(),
    };
    [line("p50", "s1", |of| of.median_s), line("p90", "s2", |of| of.p90_s), line("p99", "s3", |of| of.p99_s)]
}

fn requests(half_hours: &[HalfHour]) -> Vec<Bar> {
    let bar = |of: &HalfHour| Bar {
        from: UnixMillis(of.number * HALF_HOUR_MS),
        until: UnixMillis((of.number + 1) * HALF_HOUR_MS),
        parts: vec![
            ("answered", "b-ok", of.answered.into()),
            ("asked to wait", "b-slow", of.throttled.into()),
            ("refused", "b-refused", of.refused.into()),
            ("failed", "b-failed", of.failed.into()),
        ],
    };
    half_hours.iter().map(bar).collect()
}

fn coverage_line(covered: &Covered, now: UnixMillis) -> Line {
    let points = covered.over_time.iter().filter_map(|point| Some((point.until.min(now), point.cr?)));
    Line { name: "coverage", class: "s0", points: points.collect() }
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn queue_line(half_hours: &[HalfHour], now: UnixMillis) -> Line {
    let end = |of: &HalfHour| UnixMillis((of.number + 1) * HALF_HOUR_MS).min(now);
    let points = half_hours.iter().map(|of| (end(of), of.queued as f64));
    Line { name: "queued", class: "s0", points: points.collect() }
}

async fn finds(visit: &Visit, name: &str) -> Result<Markup, Problem> {
    let mut query = Query::default();
    query.filters.sites = vec![name.to_owned()];
    let found = visit.outlet.find(&query, Order::Newest, 0, FINDS).await;
    let all = visit.to(&format!("/torrents?q={}", part(&format!("site:{name}"))));
    Ok(html! {
        section aria-labelledby="finds" {
            header { h2 #finds { "Newest finds" } a href=(all) { "all" } }
            div #finds-shown data-live {
                @match &found { Ok(page) => { (torrents::table(visit, &page.items, &[])) } Err(error) => { p.empty { (error) } } }
            }
        }
    })
}

fn lists_shown(visit: &Visit, lists: &[ListRow]) -> Markup {
    html! {
        section aria-labelledby="lists" {
            header { h2 #lists { "Lists" } span.soft { (words::count(lists.len() as u64)) ", the next one first" } }
            @if lists.is_empty() { p.empty { "No list was read yet." } } @else {
                table.cards {
                    thead { tr { th { "list" } th.n { "rows" } th.n { "last" } th.n { "next" } } }
                    tbody { @for list in lists.iter().take(LISTS_SHOWN) { tr {
                        td.main.wide { (words::url(&list.url)) div.soft.small { "told by " (list.news_by) @if let Some(why) = &list.why { " · " (words::shown(why)) } } }
                        td.n data-l="rows" { (words::count(list.rows)) }
                        td.n data-l="last" { @if let Some(at) = &list.looked { (words::when_text(at, visit.now)) } }
                        td.n data-l="next" { @if let Some(at) = &list.next { (words::when_text(at, visit.now)) } }
                    } } }
                }
            }
        }
    }
}

/// Links that are not followed, and the line that decides it.
async fn refusals(visit: &Visit, site: &Site) -> Result<Markup, Problem> {
    let shapes: Vec<_> = site.acting.iter().chain(&site.unclassed).take(ROWS_SHOWN).collect();
    let examples = shapes.iter().map(|shape| shape.example.clone()).collect();
    let verdicts = (visit.outlet.inside.desk.verdicts)(site.name.clone(), examples).await;
    let verdicts = verdicts.map_err(|error| Problem::ours(&error))?;
    let explain = |example: &str| visit.to(&format!("/rules/{}?url={}#try", part(&site.name), part(example)));
    let why = |verdict: Option<&Verdict>, why: &str| match verdict {
        Some(Verdict { what, by: Some(by), .. }) => format!("{what}, by {by}"),
        Some(Verdict { what, .. }) if why.is_empty() => what.clone(),
        _ => why.to_owned(),
    };
    Ok(html! {
        section aria-labelledby="refusals" {
            header { h2 #refusals { "Links that its rules refuse" } span.soft { "the most frequent shapes" } }
            @if shapes.is_empty() { p.empty { "None: each link has a class, or is denied on purpose." } } @else {
                table.cards {
                    thead { tr { th { "an example" } th { "why" } th.n { "links" } th { "" } } }
                    tbody { @for (nth, shape) in shapes.iter().enumerate() { tr {
                        td.main.wide { (words::url(&shape.example)) div.soft.small { (words::shown(&shape.shape)) } }
                        td.wide data-l="why" { (words::shown(&why(verdicts.get(nth), &shape.why))) }
                        td.n data-l="links" { (words::count(shape.links)) }
                        td data-l="" { a href=(explain(&shape.example)) { "explain" } }
                    } } }
                }
            }
        }
    })
}

/// The last links that were refused, each with the line that did.
fn refused(visit: &Visit, name: &str) -> Markup {
    let links = (visit.outlet.inside.desk.refusals)(name);
    let rules = visit.to(&format!("/rules/{}", part(name)));
    html! {
        section aria-labelledby="refused" {
            header { h2 #refused { "Last refused" } span.soft { "of each page the first link that each rule refuses, since the service started" } }
            div #refused-shown data-live {
                @if links.is_empty() { p.empty { "None yet." } } @else {
                    table.cards {
                        thead { tr { th { "link" } th { "refused by" } th.n { "pages" } th.n { "last" } } }
                        tbody { @for link in links.iter().take(ROWS_SHOWN) { (refused_row(link, &rules, visit.now)) } }
                    }
                    @if links.len() > ROWS_SHOWN {
                        details #refused-more {
                            summary.pad { (links.len() - ROWS_SHOWN) " older ones" }
                            table.cards { tbody { @for link in links.iter().skip(ROWS_SHOWN) { (refused_row(link, &rules, visit.now)) } } }
                        }
                    }
                }
            }
        }
    }
}

fn refused_row(link: &RefusedLink, rules: &str, now: UnixMillis) -> Markup {
    let explain = format!("{rules}?url={}#try", part(&link.url));
    html! {
        tr {
            td.main.wide { a href=(explain) title="explain" { (words::url(&link.url)) } div.soft.small { "on " (words::url(&link.page)) } }
            td.wide data-l="refused by" {
                (words::shown(&link.why))
                div.small {
                    @match link.line { Some(line) => { a href={ (rules) "#l" (line) } { (words::shown(&link.place)) } } None => { span.soft { (words::shown(&link.place)) } } }
                    @if let Some(rule) = &link.rule { " " code { (words::shown(rule)) } }
                }
            }
            td.n data-l="pages" { (words::count(link.pages.into())) }
            td.n data-l="last" { (words::when_text(&link.at, now)) }
        }
    }
}

fn troubles(site: &Site) -> Markup {
    html! {
        section aria-labelledby="troubles" {
            header { h2 #troubles { "Visits that gave nothing" } }
            @if site.troubles.is_empty() { p.empty { "None." } } @else {
                table.cards {
                    thead { tr { th { "outcome" } th { "the last one" } th.n { "visits" } } }
                    tbody { @for trouble in site.troubles.iter().take(ROWS_SHOWN) { tr {
                        td data-l="outcome" { (trouble.outcome.replace('_', " ")) div.soft.small { (words::shown(&trouble.class)) } }
                        td.main.wide { (words::url(&trouble.example)) @if let Some(detail) = &trouble.detail { div.soft.small { (words::told(detail)) } } }
                        td.n data-l="visits" { (words::count(trouble.visits)) }
                    } } }
                }
            }
        }
    }
}

async fn yields(visit: &Visit, name: &str) -> Result<Markup, Problem> {
    let yields = (visit.outlet.inside.desk.yields)(name.to_owned()).await.map_err(|error| Problem::ours(&error))?;
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let per_hundred = |torrents: u64, fetched: u64| format!("{:.1}", 100.0 * torrents as f64 / fetched.max(1) as f64);
    Ok(html! {
        section aria-labelledby="yields" {
            header { h2 #yields { "What its rules bring" } span.soft { "torrents of 100 requests" } }
            @if yields.is_empty() { p.empty { "Nothing was fetched by a rule yet." } } @else {
                table.cards {
                    thead { tr { th { "rule" } th.n { "requests" } th.n { "torrents" } th.n { "of 100" } } }
                    tbody { @for of in yields.iter().take(ROWS_SHOWN) { tr {
                        td.main.wide { (words::shown(&of.key)) " " code { (words::shown(&of.pattern)) } div.soft.small { (words::shown(&of.place)) } }
                        td.n data-l="requests" { (words::count(of.fetched)) }
                        td.n data-l="torrents" { (words::count(of.torrents)) }
                        td.n data-l="of 100" { (per_hundred(of.torrents, of.fetched)) }
                    } } }
                }
            }
        }
    })
}

fn gone(visit: &Visit, site: &Site) -> Markup {
    let Some(gone) = &site.gone else { return html! {} };
    let by: Vec<String> =
        gone.by.iter().map(|(how, count)| format!("{} {}", words::count(*count), how.replace('_', " "))).collect();
    html! {
        section aria-labelledby="gone" {
            header { h2 #gone { "Gone from the site" } span.soft { (by.join(", ")) } }
            table.cards { tbody { @for one in gone.last.iter().rev().take(ROWS_SHOWN) { tr {
                td.main.wide { (words::url(&one.url)) }
                td.n { (words::when_text(&one.found, visit.now)) }
            } } } }
        }
    }
}

async fn not_whole(visit: &Visit, name: &str) -> Result<Markup, Problem> {
    let rows = visit.outlet.db.not_whole(name).await.map_err(|error| Problem::ours(&error))?;
    if rows.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        section aria-labelledby="not-whole" {
            header { h2 #not-whole { "Pages not read whole" } span.soft { (words::count(rows.len() as u64)) ": what they list beyond is in no figure" } }
            table.cards { tbody { @for row in rows.iter().take(ROWS_SHOWN) { tr {
                td.main.wide { (words::url(&row.url)) div.soft.small { (words::told(&row.reason)) } }
                td.n { (words::when(row.at, visit.now)) }
            } } } }
        }
    })
}

/// `POST /sites/NAME/act`: pauses, resumes, crawls now.
pub async fn act(
    State(outlet): State<Arc<Outlet>>,
    Path(site): Path<String>,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let (visit, form) = Form::read(&outlet, request, ACTING).await?;
    let wish = match form.get("act") {
        "pause" => Wish::Pause { minutes: form.minutes("minutes")? },
        "resume" => Wish::Resume,
        "crawl" => Wish::Crawl,
        _ => return Err(Problem::wrong("nothing is wanted", "press one of the buttons of the page")),
    };
    let acted = (outlet.inside.act)(Act { site, wish, by: visit.caller.named() }).await?;
    outlet.forget_status().await;
    let site = words::shown(&acted.site);
    let done = match (acted.is_paused, &acted.until, wish) {
        (true, Some(until), _) => format!("{site} is paused until {until}."),
        (true, None, _) => format!("{site} is paused until it is resumed."),
        (false, _, Wish::Crawl) => format!("{site} is crawled now: its start pages and all lists."),
        (false, ..) => format!("{site} goes on."),
    };
    let note = acted.note.map(|note| format!(" {note}")).unwrap_or_default();
    Ok(visit.back(&form, done + &note))
}
