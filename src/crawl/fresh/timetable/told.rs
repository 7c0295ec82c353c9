//! Explains a schedule to people: every list with its next rechecks and the reason.

use serde::Serialize;

use super::{StoredTimetable, times_of_day};
use crate::schedule::HOURS;
use gleaner_rules::Policy;

/// Rechecks of all lists of a site that are predicted.
const LOOKS_TOLD: f64 = 200_000.0;

/// The explanation for one list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListExplanation {
    pub url: String,
    /// W of ALGORITHMS §10.3: posts a day, replies counted as half.
    pub weight: f64,
    /// Expected posts a day by hour of the day (UTC), at this moment, and waiting unseen.
    pub posts_by_hour: [f64; HOURS],
    pub posts_per_day_now: f64,
    pub posts_waiting: f64,
    /// Seconds since 1970.
    pub looked: u64,
    pub looks: u64,
    /// The rechecks of the next day, if everything goes as expected; of a part of it if lists have very many.
    pub next: Vec<u64>,
    /// That number per day.
    pub looks_per_day: f64,
    pub why: String,
}

impl StoredTimetable {
    /// Every list with its next rechecks and the reason, the next one first.
    #[must_use]
    pub fn explain(&self, now: u64) -> Vec<ListExplanation> {
        let plan = if self.policy == Policy::Gleaner { None } else { Some(self.plan(now)) };
        let days = (LOOKS_TOLD / self.per_day.max(1.0)).min(1.0);
        let mut told: Vec<ListExplanation> = Vec::with_capacity(self.lists.len());
        for (list, number) in self.lists.iter().zip(0..) {
            let Some(reason) = self.schedule.explain(number, now, days) else { continue };
            let (next, why) = match &plan {
                None => {
                    let why = format!(
                        "{:.2} posts are waiting, {:.2} a day are expected at this hour; a check must save {} of delay",
                        reason.posts_waiting,
                        reason.posts_per_day_now,
                        seconds_told(reason.price_s)
                    );
                    (reason.looks.clone(), why)
                }
                Some(_) if let Some(next) = self.round(number, now) => {
                    let days = self.lists.len() as f64 / self.per_day.max(1e-3);
                    (
                        vec![next],
                        format!("one check in {days:.1} days by {}: fewer checks a day than lists", self.policy.name()),
                    )
                }
                Some(plan) => {
                    let times = plan.get(number as usize).map(Vec::as_slice).unwrap_or_default();
                    let why = format!("{} checks a day by {}", times.len(), self.policy.name());
                    (times_of_day(times, now), why)
                }
            };
            // The times of a plan cover a whole day.
            let days = if plan.is_some() { 1.0 } else { days };
            told.push(ListExplanation {
                looks_per_day: next.len() as f64 / days,
                url: list.url.clone(),
                weight: list.weight(now),
                posts_by_hour: reason.posts_by_hour,
                posts_per_day_now: reason.posts_per_day_now,
                posts_waiting: reason.posts_waiting,
                looked: list.looked,
                looks: list.looks,
                next,
                why,
            });
        }
        told.sort_by_key(|told| told.next.first().copied().unwrap_or(u64::MAX));
        told
    }
}

fn seconds_told(seconds: f64) -> String {
    if seconds < 1.0 {
        "less than a second".to_owned()
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 5_400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3_600.0)
    }
}
