//! What a person asks of the running service: pause a site, go on with it, recheck its lists now.

use super::Service;
use crate::app::pauses::{self, Pause};
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::progress::NEXT_LOOK;
use gleaner_serve::acts::{Act, Acted, Refused, Wish};

impl Service<'_> {
    /// Does it, once that is in the database.
    pub(super) async fn act(&mut self, act: Act) -> Result<Acted, Refused> {
        self.must_be_crawled(&act.site).await?;
        match act.wish {
            Wish::Pause { minutes } => self.pause(&act.site, minutes, act.by).await,
            Wish::Resume => self.resume(&act.site, &act.by).await,
            Wish::Crawl => self.crawl_now(&act.site, &act.by),
        }
    }

    async fn must_be_crawled(&mut self, site: &str) -> Result<(), Refused> {
        let is_here = self.running.contains_key(site)
            || self.ending.contains_key(site)
            || self.pauses.get(site).is_some()
            || self.repairs.next(site).is_some();
        if is_here {
            return Ok(());
        }
        let hosts = self.app.db.hosts().await.map_err(|error| Refused::Failed(error.to_string()))?;
        match hosts.iter().any(|host| &*host.site == site) {
            true => Err(refused(
                format!("{site} is not crawled"),
                "no enabled rule file has this name: gleaner rules check",
            )),
            false => Err(Refused::Unknown(site.to_owned())),
        }
    }

    async fn pause(&mut self, site: &str, minutes: Option<u32>, by: String) -> Result<Acted, Refused> {
        let pause = Pause::new(minutes, by, self.app.clock.now());
        self.keep(site, Some(&pause)).await?;
        tracing::warn!(site, until = pauses::until_told(&pause), by = pause.by, "site is paused");
        let of_repair = self.repairs.stop(site);
        let of_ending = self.ending.get_mut(site).and_then(Option::take);
        let of_running = self.running.get(site).map(|running| running.rules.clone());
        self.end(site, None);
        let until = pause.until.map(UnixMillis::rfc3339);
        self.pauses.add(site, pause, of_running.or(of_ending).or(of_repair));
        Ok(Acted { site: site.to_owned(), is_paused: true, until, note: None })
    }

    async fn resume(&mut self, site: &str, by: &str) -> Result<Acted, Refused> {
        let was_paused = self.pauses.get(site).is_some();
        self.keep(site, None).await?;
        let rules = self.pauses.end(site);
        let note = match (was_paused, &rules) {
            (false, _) => Some("it was not paused".to_owned()),
            (true, None) => Some("no rule file enables it: nothing is crawled".to_owned()),
            (true, Some(_)) => None,
        };
        if let Some(rules) = rules {
            tracing::info!(site, by, "site is resumed");
            self.want(rules);
        }
        Ok(Acted { site: site.to_owned(), is_paused: false, until: None, note })
    }

    fn crawl_now(&mut self, site: &str, by: &str) -> Result<Acted, Refused> {
        if self.pauses.get(site).is_some() {
            return Err(refused(format!("{site} is paused"), "resume it first"));
        }
        let Some(running) = self.running.get(site) else {
            return Err(refused(
                format!("the crawl of {site} begins anew, or is learned again"),
                "ask again in a moment",
            ));
        };
        tracing::info!(site, by, "a recheck of all lists is asked for");
        running.reins.look.send_modify(|looks| *looks += 1);
        let waiting =
            self.progress.snapshot().remove(site).and_then(|doing| doing.waiting).filter(|(_, why)| why != NEXT_LOOK);
        let note = waiting.map(|(until, why)| format!("nothing is requested before {}: {why}", until.rfc3339()));
        Ok(Acted { site: site.to_owned(), is_paused: false, until: None, note })
    }

    /// Goes on with the sites whose pause is over.
    pub(super) async fn end_pauses(&mut self) {
        for site in self.pauses.over(self.app.clock.now()) {
            match self.resume(&site, "the time of its pause").await {
                Ok(_) => self.complaints.end(&site),
                Err(error) if self.complaints.is_due(&site, self.app.clock.now()) => {
                    tracing::error!(site, %error, "the end of the pause is not noted: it is tried again every few seconds");
                }
                Err(_) => {}
            }
        }
    }

    async fn keep(&self, site: &str, pause: Option<&Pause>) -> Result<(), Refused> {
        let kept = pauses::keep(self.app.db.as_ref(), site, pause).await;
        kept.map_err(|error| Refused::Failed(error.to_string()))
    }
}

fn refused(what: String, hint: &str) -> Refused {
    Refused::NotNow { what, hint: hint.to_owned() }
}
