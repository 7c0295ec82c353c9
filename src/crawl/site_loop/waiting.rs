//! What a site's loop waits for and for how long: budgets, hours, pauses, planned rechecks.

use std::time::Duration;

use super::SiteLoop;
use super::session::Pause;
use crate::CrawlError;
use crate::host_work::Why;
use crate::watched::QUIET_HOURS;
use gleaner_base::clock::UnixMillis;

impl SiteLoop {
    /// When the loop has to act if no event occurs.
    pub(super) fn wake_at(&self) -> Option<UnixMillis> {
        let hosts = (0..self.hosts.len()).filter(|index| !self.hosts.leaves_alone(*index));
        let is_over = (0..self.hosts.len()).all(|index| self.hosts.leaves_alone(index));
        let hosts = hosts.filter_map(|index| match self.session.is_good() {
            true => self.hosts[index].wake_at(&self.site.rules, self.hosts.len()),
            // Nothing is leased meanwhile.
            false => self.hosts[index].gate.map(|(at, _)| at),
        });
        let walls = self.walls.wake_at(self.options.keep_looking);
        let walls = walls.filter(|_| !is_over && self.commits.are_all_in());
        hosts
            .chain(walls)
            .chain(self.session.wake_at().filter(|_| !is_over))
            .chain(self.crews.wake_at(&self.hosts))
            .min()
    }

    /// True if only rechecks planned for later are left, which a one-shot crawl leaves to the next one.
    pub(super) async fn only_looks_left(&mut self) -> Result<bool, CrawlError> {
        let probes = self.walls.wake_at(self.options.keep_looking);
        Ok(probes.is_none()
            && !self.walls.owes()
            && !self.promises.owes()
            && self.session.wake_at().is_none()
            && self.hosts.only_looks_left().await?)
    }

    /// Reports what an idle loop waits for; `wake` is None while it is working.
    pub(super) fn tell_wait(&self, wake: Option<UnixMillis>) {
        let now = self.site.clock.now();
        // There is no next recheck if the rules allow no request until later.
        let held = wake.and_then(|_| self.budgets.held_until(now).or_else(|| self.share_waits(now)));
        let told = held.or_else(|| wake.map(|at| (at, Why::Patience)));
        let waiting = told.filter(|(at, _)| at.since(now) > Duration::from_secs(1)).and_then(|(at, why)| {
            match self.session.paused() {
                None => Some((at, self.why_until(at, why))),
                Some(Pause { until, why, needs_operator: false }) => {
                    Some((*until, format!("the next try to log in: {why}")))
                }
                // A periodic wake-up once a minute ends nothing: the session's own state is reported.
                Some(_) => None,
            }
        });
        self.shared.progress.update(&self.site.rules.name, |progress| progress.waiting = waiting);
    }

    /// Until when a crew has to wait for its share of the day: history, if it has anything left to request, else the increment. While
    /// rechecks use up the whole reserve, none of it becomes history's before the next day.
    fn share_waits(&self, now: UnixMillis) -> Option<(UnixMillis, Why)> {
        let shares = self.budgets.shares_held(self.crews.demand(), now);
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

    /// Why no request is sent until then.
    fn why_until(&self, at: UnixMillis, why: Why) -> String {
        match why {
            Why::QuietHours => QUIET_HOURS.to_owned(),
            Why::DayBudget => "requests_per_day of the rule file is used up".to_owned(),
            Why::DayShare => {
                let looks = self.budgets.shares_held(self.crews.demand(), self.site.clock.now()).increment;
                let looks =
                    looks.map(|(until, _)| format!("; rechecks wait until {}", until.rfc3339())).unwrap_or_default();
                format!(
                    "history: the rest of requests_per_day is reserved for rechecks; history gets what they leave{looks}"
                )
            }
            Why::DayPace => "rechecks: the rest of requests_per_day is spread over the day".to_owned(),
            Why::RoundBudget => "pages_max of the rule file is used up for this round".to_owned(),
            Why::Patience | Why::Connection => self.hosts.waits_for(at).unwrap_or_else(|held| self.why_until(at, held)),
        }
    }
}
