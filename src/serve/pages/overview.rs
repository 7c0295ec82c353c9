//! The overview: whether all is well, what is not and what mends it, a row a site, the newest torrents.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::response::Response;
use gleaner_base::clock::UnixMillis;
use gleaner_search::Query;
use maud::{Markup, html};

use super::status::{Mood, Site, State, Status};
use super::visit::{Visit, part};
use super::{alarms, svg, torrents, words};
use crate::desk::{Covered, HalfHour};
use crate::problem::Problem;
use crate::rows::Page;

/// Newest torrents shown.
const NEWEST: usize = 20;

/// Milliseconds of a day.
pub const DAY_MS: u64 = 86_400_000;

/// Torrents of today: of each site, and all; None while the index is made.
pub struct Today {
    pub sites: HashMap<String, u64>,
    pub all: Option<u64>,
}

impl Today {
    /// What was stored since midnight (UTC).
    pub async fn of(visit: &Visit) -> Self {
        let mut query = Query::default();
        query.filters.stored.least = Some(visit.now.0 / DAY_MS * DAY_MS);
        match visit.outlet.count(&query).await {
            Ok((all, mut facets)) => {
                let sites = facets.remove("site").unwrap_or_default();
                Self { sites: sites.into_iter().collect(), all: Some(all) }
            }
            Err(_) => Self { sites: HashMap::new(), all: None },
        }
    }

    /// Of a site.
    fn site(&self, name: &str) -> Option<u64> {
        self.all.map(|_| self.sites.get(name).copied().unwrap_or_default())
    }
}

/// `/`.
pub async fn page(visit: Visit) -> Result<Response, Problem> {
    let outlet = &visit.outlet;
    let (status, today) = (outlet.status().await?, Today::of(&visit).await);
    let newest = outlet.newest(None, 0, NEWEST).await?;
    let states: Vec<(&Site, State)> = status.sites.iter().map(|site| (site, site.state(&status.rule_faults))).collect();
    let body = html! {
        (svg::gaps())
        div #state data-live { (headline(&visit, &status, &states, &newest, &today)) (strips(&visit, &status)) }
        (sites(&visit, &states, &today))
        section aria-labelledby="newest-title" {
            header { h2 #newest-title { "Newest torrents" } a href=(visit.to("/torrents")) { "all" } }
            div #newest data-live { (torrents::table(&visit, &newest.items, &[])) }
        }
    };
    Ok(visit.page("overview", "torrent,sites,alarm", &body))
}

/// Whether all is well, in a sentence: what needs a person first, then what goes on by itself.
fn sentence(visit: &Visit, status: &Status, states: &[(&Site, State)]) -> (Mood, String) {
    let of = |mood: Mood| states.iter().filter(|(_, state)| state.mood == mood).count() as u64;
    let (bad, waits, all) = (of(Mood::Bad), of(Mood::Waits), states.len() as u64);
    let orphans = orphan_faults(status).count() as u64;
    let alarms = visit.open_alarms().count() as u64;
    if status.store_fault.is_some() {
        let words = "Nothing can be stored: make room on the disk, and the crawl goes on by itself.";
        return (Mood::Bad, words.to_owned());
    }
    let verb = |number: u64, one: &'static str, more: &'static str| if number == 1 { one } else { more };
    let mut needs = Vec::new();
    if bad > 0 {
        needs.push(format!("{bad} of {} {} you", words::many(all, "site"), verb(bad, "needs", "need")));
    }
    if orphans > 0 {
        needs.push(format!("{} {} faults", words::many(orphans, "rule file"), verb(orphans, "has", "have")));
    }
    if alarms > 0 {
        needs.push(format!("{} {} open", words::many(alarms, "alarm"), verb(alarms, "is", "are")));
    }
    match (needs.is_empty(), waits) {
        (false, _) => (Mood::Bad, format!("{}: below stands what to do.", needs.join(", "))),
        (true, 0) if all == 0 => {
            (Mood::Paused, format!("No site yet. Begin one: {}", visit.command("rules learn URL")))
        }
        (true, 0) => (Mood::Ok, format!("All is well: {}.", words::many(all, "site"))),
        (true, waits) => {
            let verb = verb(waits, "waits and goes on by itself", "wait and go on by themselves");
            (Mood::Waits, format!("All is well but for {waits} of {} that {verb}.", words::many(all, "site")))
        }
    }
}

fn headline(visit: &Visit, status: &Arc<Status>, states: &[(&Site, State)], newest: &Page, today: &Today) -> Markup {
    let (mood, sentence) = sentence(visit, status, states);
    let newest_at = newest.items.first().map(|item| item.row.stored);
    let disk = (visit.outlet.inside.desk.disk)().filter(|(_, all)| *all > 0);
    html! {
        h1.state { span class={ "dot " (mood.class()) } {} span { (sentence) } }
        p.lead.num {
            (words::many(newest.total, "torrent"))
            @if let Some(today) = today.all { " · +" (words::count(today)) " today" }
            @if let Some((free, all)) = disk { " · disk " (percent_used(free, all)) " used, " (words::bytes(free)) " free" }
            @if let Some(at) = newest_at { " · newest " (words::when(at, visit.now)) }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a per cent is shown")]
fn percent_used(free: u64, all: u64) -> String {
    format!("{:.0} %", 100.0 * (1.0 - free as f64 / all as f64))
}

/// Rule files with faults whose sites are in no row.
fn orphan_faults(status: &Status) -> impl Iterator<Item = &super::status::RuleFault> {
    let has_row = |name: &str| status.sites.iter().any(|site| site.name == name);
    status.rule_faults.iter().filter(move |fault| !has_row(fault.name()))
}

fn strips(visit: &Visit, status: &Status) -> Markup {
    html! {
        @if let Some(fault) = &status.store_fault {
            div.strip role="alert" { p { b { "Nothing can be stored: " } (words::told(fault)) } }
        }
        @for fault in orphan_faults(status) {
            div.strip {
                p { b { (words::shown(fault.name())) } ": its rule file has " (words::many(fault.count as u64, "fault")) ": " (words::told(fault.first.lines().next().unwrap_or_default())) }
                p.fix { a.button href=(visit.to(&format!("/rules/{}", part(fault.name())))) { "its rules" } (super::status::command(&visit.command("rules check"))) }
            }
        }
        @for alarm in visit.open_alarms().take(5) { (alarms::strip(visit, alarm)) }
        @if visit.open_alarms().count() > 5 { p { a href=(visit.to("/alarms")) { "all open alarms" } } }
    }
}

fn sites(visit: &Visit, states: &[(&Site, State)], today: &Today) -> Markup {
    let (covered, half_hours) = ((visit.outlet.inside.desk.covered)(), (visit.outlet.inside.desk.half_hours)());
    let mut rows: Vec<&(&Site, State)> = states.iter().collect();
    rows.sort_by(|(one, of_one), (other, of_other)| {
        of_other.mood.cmp(&of_one.mood).then_with(|| one.name.cmp(&other.name))
    });
    let row = |site: &Site, state: &State| {
        let known = half_hours.get(&site.name).map(Vec::as_slice).unwrap_or_default();
        row(visit, site, state, known, covered.get(&site.name), today.site(&site.name))
    };
    let since = visit.outlet.inside.desk.started;
    html! {
        section aria-labelledby="sites-title" {
            header { h2 #sites-title { "Sites" } (svg::beats_key()) }
            div #sites data-live {
                @if states.is_empty() { p.empty { "No site is known yet." } } @else {
                    table.cards.wide {
                        thead { tr { th { "site" } th { "last 24 h" } th.n { "torrents" } th.n { "today" } th.n { "coverage" } th.n { "delay p50 · p90" } th.n { "queue" } th { "" } } }
                        tbody { @for (site, state) in rows { (row(site, state)) } }
                    }
                }
            }
            @if visit.now.since(since).as_millis() < u128::from(DAY_MS) && since != UnixMillis(0) {
                p.pad.soft.small { "The half hours are known since the service started, " (words::when(since, visit.now)) "." }
            }
        }
    }
}

fn row(
    visit: &Visit,
    site: &Site,
    state: &State,
    known: &[HalfHour],
    covered: Option<&Covered>,
    today: Option<u64>,
) -> Markup {
    let delay = site.delay.as_ref().and_then(|delay| Some((delay.median_s?, delay.p90_s?)));
    let ratio = covered.and_then(|covered| Some((covered.ratio?, covered.is_at_most)));
    let href = visit.to(&format!("/sites/{}", part(&site.name)));
    html! {
        tr {
            td.main.wide {
                span class={ "dot " (state.mood.class()) } {}
                a.name href=(href) { (words::shown(&site.name)) } " "
                span.soft { (state.shown(visit.now)) }
                @if !state.fixes.is_empty() && state.mood != Mood::Ok { div.fix { (state.mended(visit, &site.name)) } }
            }
            td.main { (svg::bar(known, visit.now)) }
            td.n data-l="torrents" { (words::count(site.torrents_seen)) }
            td.n data-l="today" { @if let Some(today) = today { "+" (words::count(today)) } @else { "–" } }
            td.n data-l="coverage" {
                @if let Some((ratio, is_at_most)) = ratio { @if is_at_most { "≤ " } (words::percent(ratio)) (svg::share(ratio)) } @else { "–" }
            }
            td.n data-l="delay p50 · p90" { @if let Some((median, p90)) = delay { (words::span(median)) " · " (words::span(p90)) } @else { "–" } }
            td.n data-l="queue" { (words::count(site.urls_queued)) @if let Some(left) = time_left(site, known, visit.now) { br; span.soft.small { "about " (left) } } }
            td data-l="" { div.acts { (acts(visit, site)) } }
        }
    }
}

/// How long the queue takes at the rate of the last half hours.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn time_left(site: &Site, known: &[HalfHour], now: UnixMillis) -> Option<String> {
    let last = now.0 / crate::desk::HALF_HOUR_MS;
    let recent: Vec<&HalfHour> = known.iter().filter(|of| of.number + 2 > last).collect();
    let answered: u32 = recent.iter().map(|of| of.answered).sum();
    let began = recent.first()?.number * crate::desk::HALF_HOUR_MS;
    let seconds = now.0.saturating_sub(began.max(now.0.min(began))) as f64 / 1_000.0;
    (site.urls_queued > 0 && answered > 10 && seconds > 60.0)
        .then(|| words::span(site.urls_queued as f64 * seconds / f64::from(answered)))
}

/// What can be pressed for a site.
pub fn acts(visit: &Visit, site: &Site) -> Markup {
    let to = format!("/sites/{}/act", part(&site.name));
    html! {
        @if site.paused.is_some() { (visit.button(&to, "resume", &[("act", "resume")])) } @else {
            (visit.button(&to, "pause", &[("act", "pause")]))
            @if site.is_crawled { (visit.button(&to, "crawl now", &[("act", "crawl")])) }
        }
    }
}

/// Sites by name, for pages that show some.
pub fn by_name(status: &Status) -> BTreeMap<&str, &Site> {
    status.sites.iter().map(|site| (&*site.name, site)).collect()
}
