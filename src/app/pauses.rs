//! Sites that a person has paused: no request is sent to one until its time is over or it is resumed, over restarts too.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::limits::{COMPLAINT_AFTER, COMPLAINT_AFTER_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_rules::SiteRules;
use gleaner_serve::acts::{Act, Acted, Refused};
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Reader};

/// Name of the note of a site that stores its pause.
const PAUSE_NOTE: &str = "pause";

/// Wishes that wait for the service, which answers each within a few syncs of its database.
const WISHES_WAITING: usize = 16;

/// A pause of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    pub since: UnixMillis,
    /// None if it has no end.
    pub until: Option<UnixMillis>,
    /// Who wanted it.
    pub by: String,
}

impl Pause {
    /// One that begins now.
    #[must_use]
    pub fn new(minutes: Option<u32>, by: String, now: UnixMillis) -> Self {
        let until = minutes.map(|minutes| now.plus(Duration::from_secs(60 * u64::from(minutes))));
        Self { since: now, until, by }
    }

    fn is_over(&self, now: UnixMillis) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// The pause of a site, unless it is over.
///
/// # Errors
/// Errors of the database.
pub async fn of(db: &(impl Reader + ?Sized), site: &str, now: UnixMillis) -> Result<Option<Pause>, CrawlDbError> {
    let note = db.note(site, PAUSE_NOTE).await?;
    let pause: Option<Pause> = note.and_then(|note| serde_json::from_slice(&note).ok());
    Ok(pause.filter(|pause| !pause.is_over(now)))
}

/// Stores the pause of a site, or that there is none.
///
/// # Errors
/// Errors of the database.
pub async fn keep(db: &dyn CrawlDb, site: &str, pause: Option<&Pause>) -> Result<(), CrawlDbError> {
    let note = pause.and_then(|pause| serde_json::to_vec(pause).ok()).unwrap_or_default();
    db.put_note(site, PAUSE_NOTE, note).await
}

/// The paused sites of a service.
#[derive(Default)]
pub struct Pauses(BTreeMap<String, Held>);

struct Held {
    pause: Pause,
    /// What its crawl goes on with; None while no rule file wants it.
    rules: Option<Arc<SiteRules>>,
}

impl Pauses {
    /// Those of earlier runs.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn take_up(db: &dyn CrawlDb, now: UnixMillis) -> Result<Self, CrawlDbError> {
        let mut found = BTreeMap::new();
        for host in db.hosts().await? {
            if !found.contains_key(&*host.site)
                && let Some(pause) = of(db, &host.site, now).await?
            {
                tracing::warn!(site = %host.site, until = until_told(&pause), by = pause.by, "site is paused");
                found.insert(host.site.to_string(), Held { pause, rules: None });
            }
        }
        Ok(Self(found))
    }

    /// True if the site is paused; then these rules wait for its end.
    pub fn holds(&mut self, site: &Arc<SiteRules>) -> bool {
        let Some(held) = self.0.get_mut(&*site.name) else { return false };
        held.rules = Some(Arc::clone(site));
        true
    }

    /// True if no site waits for the end of its pause.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.0.values().all(|held| held.rules.is_none())
    }

    #[must_use]
    pub fn get(&self, site: &str) -> Option<&Pause> {
        self.0.get(site).map(|held| &held.pause)
    }

    pub fn add(&mut self, site: &str, pause: Pause, rules: Option<Arc<SiteRules>>) {
        self.0.entry(site.to_owned()).and_modify(|held| held.pause = pause.clone()).or_insert(Held { pause, rules });
    }

    /// Ends the pause of a site; returns the rules that its crawl goes on with.
    pub fn end(&mut self, site: &str) -> Option<Arc<SiteRules>> {
        self.0.remove(site)?.rules
    }

    /// Forgets the rules of sites that are not wanted any more; those of a file that is bad now stay.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool, is_bad: impl Fn(&SiteRules) -> bool) {
        for (name, held) in &mut self.0 {
            held.rules.take_if(|rules| !is_wanted(name) && !is_bad(rules));
        }
    }

    /// Sites whose pause is over now.
    #[must_use]
    pub fn over(&self, now: UnixMillis) -> Vec<String> {
        self.0.iter().filter(|(_, held)| held.pause.is_over(now)).map(|(name, _)| name.clone()).collect()
    }
}

/// What is said of a fault that lasts: at once, and then at growing intervals.
#[derive(Default)]
pub struct Complaints(BTreeMap<String, (UnixMillis, Duration)>);

impl Complaints {
    /// True if the fault of a site is to be told now.
    pub fn is_due(&mut self, site: &str, now: UnixMillis) -> bool {
        let next = match self.0.get(site) {
            Some((at, _)) if now < *at => return false,
            Some((_, waited)) => (*waited * 4).min(COMPLAINT_AFTER_MAX),
            None => COMPLAINT_AFTER,
        };
        self.0.insert(site.to_owned(), (now.plus(next), next));
        true
    }

    /// It is over.
    pub fn end(&mut self, site: &str) {
        self.0.remove(site);
    }
}

/// The end of a pause in words.
#[must_use]
pub fn until_told(pause: &Pause) -> String {
    pause.until.map_or_else(|| "it is resumed".to_owned(), UnixMillis::rfc3339)
}

/// A wish, and where its answer goes.
pub struct Asked {
    pub act: Act,
    pub answer: oneshot::Sender<Result<Acted, Refused>>,
}

/// Where wishes are handed to the service.
#[derive(Clone)]
pub struct Wishes(mpsc::Sender<Asked>);

impl Wishes {
    /// Both ends.
    #[must_use]
    pub fn channel() -> (Self, mpsc::Receiver<Asked>) {
        let (sender, receiver) = mpsc::channel(WISHES_WAITING);
        (Self(sender), receiver)
    }

    /// Hands a wish over, and waits until it is done.
    ///
    /// # Errors
    /// Why it is not.
    pub async fn ask(&self, act: Act) -> Result<Acted, Refused> {
        let ends = |_| Refused::Failed("it is about to end".to_owned());
        let (answer, answered) = oneshot::channel();
        self.0.send(Asked { act, answer }).await.map_err(|_| ends(()))?;
        answered.await.map_err(|_| ends(()))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::crawldb::memory_store::MemoryStore;

    #[test]
    fn a_fault_that_lasts_is_told_at_growing_intervals_and_anew_once_it_was_over() {
        let mut complaints = Complaints::default();
        let told = |complaints: &mut Complaints, hours: u64| {
            (0..hours * 1_200).filter(|look| complaints.is_due("a", UnixMillis(look * 3_000))).count()
        };
        assert_eq!(told(&mut complaints, 1), 4, "after 0, 1, 5 and 21 minutes");
        complaints.end("a");
        assert_eq!(told(&mut complaints, 24), 9, "then every six hours");
        assert!(complaints.is_due("b", UnixMillis(0)));
    }

    #[tokio::test]
    async fn a_pause_is_there_until_its_end_over_restarts() {
        let (db, now) = (MemoryStore::new(), UnixMillis(1_000_000));
        db.host_id("a", "https://a.example").await.unwrap();
        let pause = Pause::new(Some(2), "token page".to_owned(), now);
        keep(&db, "a", Some(&pause)).await.unwrap();
        assert_eq!(of(&db, "a", now).await.unwrap().as_ref(), Some(&pause));
        let end = now.plus(Duration::from_secs(120));
        assert_eq!(of(&db, "a", end).await.unwrap(), None);
        let mut pauses = Pauses::take_up(&db, now).await.unwrap();
        assert_eq!((pauses.get("a"), pauses.over(now), pauses.over(end)), (Some(&pause), vec![], vec!["a".to_owned()]));
        assert!(pauses.end("a").is_none() && pauses.get("a").is_none(), "no rule file wants it");
        keep(&db, "a", None).await.unwrap();
        assert_eq!(of(&db, "a", now).await.unwrap(), None);
        keep(&db, "a", Some(&Pause::new(None, "x".to_owned(), now))).await.unwrap();
        assert!(Pauses::take_up(&db, UnixMillis(u64::MAX / 2)).await.unwrap().get("a").is_some(), "without an end");
    }
}
