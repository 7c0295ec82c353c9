//! What a site's loop waits for and for how long: budgets, hours, pauses, planned looks; and how a crawl ends that has
//! nothing left to wait for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::SiteLoop;
use crate::CrawlError;
use crate::host_work::{HostWork, Why};
use crate::limits;
use crate::progress::Ended;
use gleaner_base::clock::UnixMillis;

impl SiteLoop {
    pub(super) fn budget_used_up(&mut self) -> Option<String> {
        let now = self.site.clock.now();
        if let Some(max) = self.options.time_max
            && now.since(self.started) >= max
        {
            return Some(format!("--max-time of {} s", max.as_secs()));
        }
        if let Some(max) = self.options.pages_max
            && self.shared.pages.load(Ordering::Relaxed) >= max
        {
            return Some(format!("--max-pages of {max}"));
        }
        if self.options.keep_looking {
            if now >= self.round_ends() {
                self.round_began = now;
                self.round_pages = 0;
            }
            return None;
        }
        let unbooked = self.errands_budget.unbooked();
        let max = self.site.rules.pages_max.filter(|max| self.round_pages + unbooked >= *max);
        let per_day = self.site.rules.requests_per_day.filter(|max| self.day_pages + unbooked >= *max);
        max.map(|max| format!("pages_max of {max} in the site's rule file"))
            .or(per_day.map(|max| format!("requests_per_day of {max} in the site's rule file")))
    }

    pub(super) fn round_ends(&self) -> UnixMillis {
        self.round_began.plus(self.site.rules.revisit)
    }

    /// Until when the site's rules, or the run's budget, allow no request, and why; None where they do.
    pub(super) fn held_until(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        let rules = &self.site.rules;
        if let Some(until) = rules.hours.quiet_until(now) {
            return Some((until, Why::QuietHours));
        }
        let unbooked = self.errands_budget.unbooked();
        if rules.requests_per_day.is_some_and(|max| self.day_pages + unbooked >= max) {
            return Some((rules.hours.next_day(now), Why::DayBudget));
        }
        let is_used_up = |max: Option<u64>, pages: u64| max.is_some_and(|max| pages >= max);
        let run = is_used_up(self.options.pages_max, self.shared.pages.load(Ordering::Relaxed));
        (run || is_used_up(rules.pages_max, self.round_pages + unbooked)).then(|| (self.round_ends(), Why::RoundBudget))
    }

    /// Until when the increment has to leave its turn: for the rules' hours and budgets, or for its share of the day.
    pub(super) fn increment_waits(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        self.held_until(now).or_else(|| self.shares_held(now).increment)
    }

    /// Requests that the site's own budgets leave, those of scripts under way not counted.
    pub(super) fn requests_left(&self) -> u64 {
        let left = |max: Option<u64>, used: u64| max.map_or(u64::MAX, |max| max.saturating_sub(used));
        left(self.site.rules.requests_per_day, self.day_pages).min(left(self.site.rules.pages_max, self.round_pages))
    }

    /// A crawl that is to end does not wait for a host that has not answered for long; the service does.
    pub(super) fn leaves_alone(&self, index: usize) -> bool {
        !self.options.keep_looking && self.hosts[index].is_given_up(self.site.clock.now())
    }

    /// When the loop has to look again if nothing happens.
    pub(super) fn wake_at(&self) -> Option<UnixMillis> {
        let hosts = (0..self.hosts.len()).filter(|index| !self.leaves_alone(*index));
        let is_over = (0..self.hosts.len()).all(|index| self.leaves_alone(index));
        let hosts = hosts.filter_map(|index| match self.session.is_good() {
            true => self.hosts[index].wake_at(),
            // Nothing is leased meanwhile.
            false => self.hosts[index].gate.map(|(at, _)| at),
        });
        hosts.chain(self.session.wake_at().filter(|_| !is_over)).chain(self.crews_wake_at()).min()
    }

    /// True where all that is left are looks planned for later, which a crawl that is to end leaves to the next one.
    pub(super) async fn only_looks_left(&mut self) -> Result<bool, CrawlError> {
        let now = self.site.clock.now();
        let awaited: Vec<usize> = (0..self.hosts.len()).filter(|index| !self.leaves_alone(*index)).collect();
        if self.session.wake_at().is_some()
            || awaited.iter().any(|index| self.hosts[*index].gate.is_some() || !self.hosts[*index].lanes.is_empty())
        {
            return Ok(false);
        }
        for index in awaited {
            let host = self.hosts[index].id;
            for row in self.site.db.queued(host, limits::PLANNED_LOOKS_READ).await? {
                // Whatever waits for a later time and was not refused, failed or kept waiting by its host is a look.
                let record = self.site.db.url_record(&row.key).await?;
                if row.due <= now || !record.is_some_and(|record| record.waits_for_a_look()) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// How a crawl ends that has nothing under way and nothing to wait for.
    pub(super) fn nothing_left(&self) -> Ended {
        let now = self.site.clock.now();
        let left = |host: &&HostWork| host.is_given_up(now) && (host.lease_at.is_some() || !host.lanes.is_empty());
        match self.hosts.iter().find(left) {
            Some(host) => {
                let face = host.face();
                let reason = face.block.as_ref().map_or("it asked for this pause earlier", |(_, reason)| reason);
                let times = face.block.as_ref().map_or(0, |(block, _)| block.complaints);
                Ended::Unreachable(if times >= limits::HOST_COMPLAINTS_MAX {
                    format!("{}, {times} times in a row: {reason}", face.origin)
                } else {
                    format!("{} waits until {}: {reason}", face.origin, face.blocked_until.rfc3339())
                })
            }
            None => Ended::Exhausted,
        }
    }

    /// Tells what an idle loop waits for; `wake` is None while it is at work.
    pub(super) fn tell_wait(&self, wake: Option<UnixMillis>) {
        let now = self.site.clock.now();
        // The next look is none where the rules allow no request until later.
        let held = wake.and_then(|_| self.held_until(now).or_else(|| self.share_waits(now)));
        let told = held.or_else(|| wake.map(|at| (at, Why::Patience)));
        let waiting = told.filter(|(at, _)| at.since(now) > Duration::from_secs(1)).and_then(|(at, why)| {
            match self.session.pause() {
                None => Some((at, self.why_until(at, why))),
                Some((until, why, false)) => Some((until, format!("the next try to log in: {why}"))),
                // It looks around once a minute, which is the end of nothing: the session's own state tells.
                Some((_, _, true)) => None,
            }
        });
        self.shared.progress.update(&self.site.rules.name, |progress| progress.waiting = waiting);
    }

    /// Until when a crew has to wait for its share of the day: history, where it has anything left to ask for, else the increment. While
    /// looks take all that is kept for them, nothing of it comes to history before the next day.
    fn share_waits(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        let shares = self.shares_held(now);
        let hours = &self.site.rules.hours;
        let history = shares.history.filter(|_| self.crews.history_is_done() == Some(false));
        let history = history.map(|(until, why)| match shares.increment {
            Some(_) => {
                let day = hours.next_day(now);
                (hours.quiet_until(day).unwrap_or(day), why)
            }
            None => (until, why),
        });
        history.or(shares.increment)
    }

    /// Why nothing is asked for until then, where it is no more than a host's turn.
    fn why_until(&self, at: UnixMillis, why: Why) -> String {
        match why {
            Why::QuietHours => return "quiet_hours of the rule file".to_owned(),
            Why::DayBudget => return "requests_per_day of the rule file is used up".to_owned(),
            Why::DayShare => {
                let looks = self.shares_held(self.site.clock.now()).increment;
                let looks =
                    looks.map(|(until, _)| format!("; looks wait until {}", until.rfc3339())).unwrap_or_default();
                return format!(
                    "history: what is left of requests_per_day is kept for looks, and is history's as far as they leave it{looks}"
                );
            }
            Why::DayPace => {
                return "looks: what is left of requests_per_day is spread over the rest of the day".to_owned();
            }
            Why::RoundBudget => return "pages_max of the rule file is used up for this round".to_owned(),
            Why::Patience | Why::Connection => {}
        }
        let gate = |host: &HostWork| host.gate.filter(|(until, _)| *until == at);
        let Some((host, why)) = self.hosts.iter().find_map(|host| gate(host).map(|(_, why)| (host, why))) else {
            return "the next look, or the next retry".to_owned();
        };
        let face = host.face();
        let name = face.name();
        match why {
            Why::Connection => format!("{name}: its connections are in use"),
            Why::Patience => match &face.block {
                Some((block, reason)) if block.until == at => format!("{name}: {reason}"),
                _ if face.blocked_until == at => format!("{name}: it asked for this pause earlier"),
                // Its rate never asks for as long as its patience, which all sites of the process share.
                _ if self.shared.hosts.blocked_until(name, self.site.clock.now()) >= at => {
                    format!("{name}: it asked for this pause when it was asked for another site")
                }
                _ => format!("{name}: its rate allows no more"),
            },
            // Told above, by the rules themselves.
            held => self.why_until(at, held),
        }
    }
}
