//! What blocks a login by hand unless `--again` is given: the results of earlier logins of the account, and the
//! pauses that the site's hosts asked a crawl for, from the database.

use anyhow::bail;

use super::{Login, next};
use crate::app::database::Database;
use crate::app::sessions;
use crate::cli::block_on;
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_crawl::hosts::{is_asked_for, is_time_named};
use gleaner_login::secret::Secret;
use gleaner_login::tries::{ByHand, Tries};
use gleaner_rules::config::Config;
use gleaner_store::crawldb::HostRow;

impl Login<'_> {
    /// An error with a hint if a form may not be sent now.
    ///
    /// # Errors
    /// As described.
    pub(super) fn may_log_in(&self, tries: &Tries, password: &Secret) -> anyhow::Result<()> {
        if self.options.again {
            return Ok(());
        }
        let (data_dir, name, user) = (&self.config.data_dir, &*self.rules.name, &self.login.user);
        let hold = tries.hold_by_hand(user, password, SystemClock.now());
        let is_for_person = |hold: &ByHand| matches!(hold, ByHand::Captcha | ByHand::SecondFactor);
        if let Some(hold) = hold.filter(|hold| !(self.options.interactive && is_for_person(hold))) {
            let is_unproven = sessions::is_unproven(data_dir, name, user, password);
            let now = SystemClock.now();
            let is_asked = tries.asked_until(now).is_some();
            bail!(
                next::Login {
                    is_asked,
                    lock_ends: tries.lock_ends(user, password),
                    ..self.next(tries.not_before(now))
                }
                .kept_back(hold, is_unproven)
            );
        }
        self.hosts_may_be_asked()
    }

    /// The same if only a page is requested.
    ///
    /// # Errors
    /// Same as [`Self::may_log_in`].
    pub(super) fn may_ask(&self, tries: &Tries) -> anyhow::Result<()> {
        if self.options.again {
            return Ok(());
        }
        let now = SystemClock.now();
        let guessed = || tries.guessed_until(now).map(ByHand::GuessedToWait);
        if let Some(hold) = tries.asked_until(now).map(ByHand::AskedToWait).or_else(guessed) {
            bail!(self.next(None).kept_back(hold, false));
        }
        self.hosts_may_be_asked()
    }

    fn hosts_may_be_asked(&self) -> anyhow::Result<()> {
        let now = SystemClock.now();
        let hosts = block_on(async { Ok(hosts(self.config).await) })?;
        let hosts = hosts.unwrap_or_else(|error| {
            // A crawl reports problems of the database in full; they do not block a login.
            tracing::warn!(%error, "the pauses that hosts asked crawls for cannot be read");
            Vec::new()
        });
        let Some((origin, until, reason)) = hosts.iter().find_map(|host| self.pause(host, now)) else { return Ok(()) };
        let who = match is_time_named(reason) {
            true => format!("{origin} asked a crawl to wait ({reason})"),
            false => format!("{origin} asked a crawl to wait and gave no time ({reason}); the estimate is to wait"),
        };
        bail!(self.next(None).waits(&who, until))
    }

    /// The origin of the login, the end of its pause and the reason, if that host asked for one. Pauses that a crawl itself set for
    /// an unresponsive host do not count.
    fn pause<'h>(&self, host: &'h HostRow, now: UnixMillis) -> Option<(&'h str, UnixMillis, &'h str)> {
        let (rules, login) = (self.rules, self.login);
        let json = login.json.as_ref().map(|json| &json.url);
        let asked = rules.start.first().into_iter().chain(&login.page).chain(&login.probe).chain(json);
        let is_asked = rules.primary() == &*host.origin || asked.into_iter().any(|url| url.origin() == &*host.origin);
        let is_told = *host.site == *rules.name && is_asked && is_asked_for(&host.blocked_reason);
        // No pause is longer: the clock was ahead when it was written.
        let until = host.blocked_until.min(now.plus(limits::RETRY_AFTER_MAX));
        (is_told && until > now).then_some((&*host.origin, until, &*host.blocked_reason))
    }
}

/// The hosts that crawls of the data folder know, from the process that holds it or from the folder itself, read-only.
async fn hosts(config: &Config) -> anyhow::Result<Vec<HostRow>> {
    match Database::of(&config.into()).await? {
        Some(database) => Ok(database.reader().hosts().await?),
        None => Ok(Vec::new()),
    }
}
