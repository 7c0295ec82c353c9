//! Walls in the loop: what a visit does to them, the probes, and how parked URLs come back. The state is [`crate::walls::Walls`].

use super::SiteLoop;
use crate::CrawlError;
use crate::job::Finished;
use crate::masked::masked;
use crate::progress::Ended;
use crate::refusal;
use crate::walls::{Fate, Met, Walls};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{Discovered, Lease, Next, Outcome, UrlKey, WALL_TOKENS};

/// The walls of a site, and what the database does not know of them yet.
#[derive(Debug, Default)]
pub(super) struct SiteWalls {
    walls: Walls,
    /// Changes when a wall has fallen, and with each process.
    generation: u64,
    /// URLs that are to be queued once more; they wait until their visits are committed.
    again: Vec<Discovered>,
    /// True if what is parked is to be queued, once everything is committed.
    unparks: bool,
}

impl SiteWalls {
    pub(super) fn new(now: UnixMillis) -> Self {
        Self { generation: now.0, ..Self::default() }
    }

    /// The token that URLs are parked under.
    pub(super) fn token(&self) -> u64 {
        WALL_TOKENS | self.generation & (WALL_TOKENS - 1)
    }

    /// True for a URL that is not to be asked for now.
    pub(super) fn stops(&self, rule: usize, key: &UrlKey) -> bool {
        self.walls.stops(rule, key)
    }

    pub(super) fn is_probe(&self, rule: usize, key: &UrlKey) -> bool {
        self.walls.is_probe(rule, key)
    }

    /// One that is not asked for because of that.
    pub(super) fn waits(&mut self, rule: usize, lease: &Lease) {
        let Lease { key, depth, rank, via, found, .. } = lease.clone();
        self.walls.waits(rule, Discovered { key, depth, rank, due: UnixMillis(0), via, is_target: false, found });
    }

    pub(super) fn wake_at(&self, for_ever: bool) -> Option<UnixMillis> {
        self.walls.wake_at(for_ever)
    }

    /// Queues a URL once more, as soon as everything is committed.
    pub(super) fn ask_again(&mut self, row: Discovered) {
        self.again.push(row);
    }

    /// True if something waits for its visit to be committed.
    pub(super) fn owes(&self) -> bool {
        self.unparks || !self.again.is_empty()
    }

    pub(super) fn shift(&mut self, by_ms: i64) {
        self.walls.shift(by_ms);
    }

    /// What the walls that stand are, a line each; None without a wall.
    pub(super) fn told(&self, rules: &SiteRules) -> Option<String> {
        let lines: Vec<String> = self
            .walls
            .standing()
            .map(|wall| {
                let rule = rules.rules().get(wall.rule);
                let (key, place) = rule.map_or_else(Default::default, |rule| (rule.key(), rule.place()));
                let (told, refused, example) = (wall.told, wall.refused, masked(wall.example));
                format!("{refused} URLs of {key} got the same answer: {told}\n{example} ({place})")
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

impl SiteLoop {
    /// Takes note of a final response. A URL that met a wall is parked.
    pub(super) fn mind_walls(&mut self, finished: &mut Finished) {
        let job = finished.job;
        let is_probe = self.walls.walls.is_probe(job.rule, &finished.visit.key);
        if finished.end.leads_on && self.walls.walls.have_led_off() {
            self.leads_on(finished);
        }
        // What is rechecked anyway needs no wall; what is retried has said nothing yet.
        let is_final = matches!(finished.visit.next, Next::Done | Next::RevisitAt(_));
        let is_looked_at = if is_probe { is_final } else { !job.is_watched && finished.visit.next == Next::Done };
        if !is_looked_at || self.site.rules.rules().get(job.rule).is_none() {
            return;
        }
        let visit = &finished.visit;
        let row = Discovered {
            key: visit.key.clone(),
            depth: visit.depth,
            rank: visit.rank,
            due: UnixMillis(0),
            via: visit.via.clone(),
            is_target: false,
            found: visit.found,
        };
        let met = Met { row, began: finished.timing.began };
        let (said, now, site) = (refusal::said(finished), self.site.clock.now(), &self.site.rules.name);
        match self.walls.walls.mind(job.rule, said, met, now) {
            Fate::Own => {}
            Fate::Again(mut rows) => {
                self.tally.take_back(job.class, rows.len());
                self.walls.again.append(&mut rows);
            }
            Fate::Parked => finished.visit.next = Next::Park(self.walls.token()),
            Fate::Raised(earlier) => {
                finished.visit.next = Next::Park(self.walls.token());
                self.tally.take_back(job.class, earlier.len());
                let others = earlier.into_iter().filter(|row| row.key != finished.visit.key);
                self.walls.again.extend(others);
                let why = self.walls.told(&self.site.rules).unwrap_or_default().replace('\n', "; ");
                self.shared.progress.watch(site, |watched| watched.walls = Some(why.clone()));
                tracing::warn!(%site, why, "URLs are refused alike: those of this rule wait, and one is asked now and then");
            }
            Fate::Fallen => {
                self.walls.generation += 1;
                self.walls.unparks = true;
                self.tally.forget(Outcome::Walled);
                let others = self.walls.told(&self.site.rules).map(|why| why.replace('\n', "; "));
                self.shared.progress.watch(site, |watched| watched.walls = others);
                tracing::info!(%site, "URLs of a rule that was waiting are answered: they go on");
            }
        }
    }

    /// A page leads to torrents: redirects to it are a way to them.
    fn leads_on(&mut self, finished: &Finished) {
        let host = self.hosts.iter().find(|host| host.id == finished.visit.key.host);
        let Some(host) = host else { return };
        let page = CrawlUrl::from_parts(&host.face().origin, &finished.visit.key.path);
        self.walls.walls.lead_on(refusal::sign_of(&refusal::redirect_to(&page)));
    }

    /// Asks for the URLs whose turn it is, and brings back what waited.
    pub(super) async fn tend_walls(&mut self, now: UnixMillis) -> Result<(), CrawlError> {
        // What is queued before its last visit is committed would not stay queued.
        if !self.commits.are_all_in() {
            return Ok(());
        }
        let mut due = self.walls.walls.probes(now, self.options.keep_looking);
        due.append(&mut self.walls.again);
        if std::mem::take(&mut self.walls.unparks) {
            self.unpark_walled().await?;
        }
        if !due.is_empty() {
            self.site.db.make_due(due, now).await?;
            self.hosts.lease_soon();
        }
        Ok(())
    }

    /// Queues what earlier walls have parked.
    async fn unpark_walled(&mut self) -> Result<(), CrawlError> {
        let (token, now) = (self.walls.token(), self.site.clock.now());
        for host in self.hosts.iter_mut() {
            self.site.db.unpark(host.id, token, now).await?;
        }
        self.hosts.lease_soon();
        Ok(())
    }

    /// Nothing else is left to ask for: short runs of refusals are looked at, too. True if that leaves something to do.
    pub(super) async fn close_walls(&mut self) -> Result<bool, CrawlError> {
        let now = self.site.clock.now();
        let (mut parked, more) = self.walls.walls.close(now);
        self.walls.again.append(&mut parked);
        Ok(more)
    }

    /// Before the loop ends: the database has to know what is to be asked for once more. A crawl that has more to ask for leaves the
    /// refusals that it did not look at to the next one.
    pub(super) async fn leave_walls(&mut self, ended: &Ended) -> Result<(), CrawlError> {
        let mut again = std::mem::take(&mut self.walls.again);
        if matches!(ended, Ended::Budget(_) | Ended::Stopped | Ended::NotLoggedIn(_)) {
            again.extend(self.walls.walls.leave(self.site.clock.now()));
        }
        self.site.db.make_due(again, self.site.clock.now()).await?;
        if std::mem::take(&mut self.walls.unparks) {
            self.unpark_walled().await?;
        }
        Ok(())
    }
}
