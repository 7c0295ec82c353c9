//! When each list of a site is rechecked next, and why: what `gleaner schedule` and the JSON API show.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::limits::TIMETABLE_LISTS_MAX;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys;
use gleaner_crawl::fresh::boards::{BOARDS_NOTE, ChangeBasis, StoredBoards};
use gleaner_crawl::fresh::timetable::{ListExplanation, SCHEDULE_NOTE, StoredTimetable};
use gleaner_crawl::progress::Progress;
use gleaner_crawl::watched::{ListLook, ListShown};
use gleaner_serve::desk::{Due, LookFound, PastLook, Timetable};
use gleaner_serve::limits::LOOKS_SHOWN;
use gleaner_serve::lists::ListRow;
use gleaner_store::crawldb::{CrawlDbError, Reader};

const DAY_MS: u64 = 86_400_000;

/// Upcoming rechecks per list; a separate field has their number per day.
const NEXT_TOLD: usize = 24;

/// The schedule of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ScheduleReport {
    pub site: String,
    pub policy: String,
    /// Rechecks that the site's rules and its other work leave room for.
    pub looks_per_day: f64,
    /// No more lists fit: the others are rechecked every `revisit_minutes`.
    pub is_full: bool,
    /// The site numbers all its items in one sequence: each list also informs the schedule of the others.
    pub by_numbers: bool,
    /// All lists of the schedule; an answer over HTTP has the first of them.
    pub lists_total: usize,
    /// The one that is rechecked next first.
    pub lists: Vec<ScheduledList>,
}

/// One list of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScheduledList {
    pub url: String,
    /// How its rows reveal its news.
    pub news_by: &'static str,
    /// Replies count as half.
    pub posts_per_day: f64,
    pub posts_per_day_now: f64,
    /// By hour of the day (UTC).
    pub posts_per_day_by_hour: Vec<f64>,
    /// Expected, and not seen yet.
    pub posts_waiting: f64,
    /// Its last recheck (UTC).
    pub looked: String,
    pub looks: u64,
    pub looks_per_day: f64,
    /// Its next rechecks (UTC).
    pub next: Vec<String>,
    pub why: String,
}

/// A time of a schedule, which counts seconds.
#[must_use]
pub fn time(seconds: u64) -> String {
    UnixMillis(seconds.saturating_mul(1_000)).rfc3339()
}

/// How a list's rows reveal its news.
#[must_use]
pub fn news_by(boards: &StoredBoards, url: &str) -> &'static str {
    match boards.boards.get(url).and_then(|board| board.grounds) {
        Some(ChangeBasis::Times) => "times",
        Some(ChangeBasis::Created) => "times of appearance",
        Some(ChangeBasis::Replies) => "replies",
        Some(ChangeBasis::UnknownUrls) => "unknown URLs alone",
        None => "links",
    }
}

/// The timetable and the lists of a site; without the first before the service has rechecked a list.
///
/// # Errors
/// Errors of the database.
pub async fn stored(
    db: &(impl Reader + ?Sized),
    site: &str,
) -> Result<(Option<StoredTimetable>, StoredBoards), CrawlDbError> {
    let timetable = db.note(site, SCHEDULE_NOTE).await?.and_then(|note| StoredTimetable::from_bytes(&note));
    let boards = db.note(site, BOARDS_NOTE).await?.and_then(|note| StoredBoards::from_bytes(&note));
    Ok((timetable, boards.unwrap_or_default()))
}

/// The report, of what is stored.
#[must_use]
pub fn report(site: &str, state: &StoredTimetable, boards: &StoredBoards, now: UnixMillis) -> ScheduleReport {
    let told = state.explain(now.0 / 1_000);
    ScheduleReport {
        site: site.to_owned(),
        policy: state.policy.name().to_owned(),
        looks_per_day: state.per_day,
        is_full: state.is_full(),
        by_numbers: state.goes_by_numbers(),
        lists_total: told.len(),
        lists: told.into_iter().map(|told| of_list(told, boards)).collect(),
    }
}

fn of_list(told: ListExplanation, boards: &StoredBoards) -> ScheduledList {
    ScheduledList {
        news_by: news_by(boards, &told.url),
        posts_per_day: told.weight,
        posts_per_day_now: told.posts_per_day_now,
        posts_per_day_by_hour: told.posts_by_hour.to_vec(),
        posts_waiting: told.posts_waiting,
        looked: time(told.looked),
        looks: told.looks,
        looks_per_day: told.looks_per_day,
        next: told.next.iter().take(NEXT_TOLD).map(|next| time(*next)).collect(),
        url: told.url,
        why: told.why,
    }
}

/// The schedule of a site as the page of all schedules shows it, without what it has looked at.
#[must_use]
pub fn timetable(site: &str, state: &StoredTimetable, now: UnixMillis) -> Timetable {
    let told = state.explain(now.0 / 1_000);
    let time = |seconds: u64| UnixMillis(seconds.saturating_mul(1_000));
    let end = UnixMillis(now.0 + DAY_MS);
    let mut looks: Vec<UnixMillis> =
        told.iter().flat_map(|list| &list.next).map(|at| time(*at)).filter(|at| *at < end).collect();
    looks.sort_unstable();
    looks.truncate(LOOKS_SHOWN);
    let due = |list: &ListExplanation| Due {
        url: list.url.clone(),
        posts_per_day: list.weight,
        looked: time(list.looked),
        next: list.next.first().map(|at| time(*at)),
        why: list.why.clone(),
    };
    Timetable {
        site: site.to_owned(),
        looks_per_day: state.per_day,
        is_full: state.is_full(),
        lists_total: told.len(),
        lists: told.iter().take(TIMETABLE_LISTS_MAX).map(due).collect(),
        looks,
        past: Vec::new(),
    }
}

/// The looks at lists of the past day.
#[must_use]
pub fn past_looks(progress: &Progress, site: &str, now: UnixMillis) -> Vec<PastLook> {
    let since = now.0.saturating_sub(DAY_MS);
    let looks = progress.past_looks(site).into_iter().filter(|look| look.at.0 >= since);
    let told = |look: ListLook| PastLook {
        at: look.at,
        path: look.path.into(),
        found: match look.shown {
            ListShown::Rows(rows) => LookFound::Rows(rows),
            ListShown::Same => LookFound::Same,
            ListShown::Nothing => LookFound::Nothing,
        },
    };
    looks.map(told).collect()
}

/// The lists of a site: those that were read as lists, and those of the schedule; the one that is rechecked next first.
#[must_use]
pub fn lists(state: Option<&StoredTimetable>, boards: &StoredBoards, now: UnixMillis) -> Vec<ListRow> {
    let told = state.map(|state| state.explain(now.0 / 1_000)).unwrap_or_default();
    let told: BTreeMap<&str, &ListExplanation> = told.iter().map(|told| (told.url.as_str(), told)).collect();
    let urls = boards.boards.keys().map(String::as_str).chain(told.keys().copied());
    let urls: std::collections::BTreeSet<&str> = urls.collect();
    let row = |url: &str| {
        let (board, told) = (boards.boards.get(url), told.get(url));
        let looked = [board.map(|board| board.looked().0), told.map(|told| told.looked.saturating_mul(1_000))];
        let next = told.and_then(|told| told.next.first().copied());
        let row = ListRow {
            url: without_keys(url).into_owned(),
            news_by: news_by(boards, url).to_owned(),
            rows: board.map_or(0, |board| board.rows),
            pages: board.map_or(0, |board| board.pages),
            posts_per_day: told.map(|told| told.weight),
            looked: looked.into_iter().flatten().max().filter(|at| *at > 0).map(|at| UnixMillis(at).rfc3339()),
            next: next.map(time),
            why: told.map(|told| told.why.clone()),
        };
        (next.unwrap_or(u64::MAX), row)
    };
    let mut rows: Vec<(u64, ListRow)> = urls.into_iter().map(row).collect();
    rows.sort_by_key(|(next, _)| *next);
    rows.into_iter().map(|(_, row)| row).collect()
}
