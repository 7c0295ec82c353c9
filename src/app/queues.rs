//! Records of single URLs and the queues of a site, for `rules explain` and `crawl --dry-run`.

use serde::{Deserialize, Serialize};

use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Outcome, UrlKey, faults, refusals};

/// The record of one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownUrl {
    /// Links from a start URL.
    pub depth: u16,
    pub first_seen: UnixMillis,
    /// Outcome and time of its last visit; None before the first.
    pub last: Option<(Outcome, UnixMillis)>,
    /// Failed attempts, and those for which the server asked to wait, since its last success.
    pub attempts: (u8, u8),
    pub queued: Queued,
}

/// Position of a URL in the queue of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queued {
    /// This many URLs are ahead of it. Due at once if the time has passed.
    Behind { ahead: usize, due: UnixMillis },
    /// It is not queued: done, or parked.
    No,
    /// It is not among the first `ahead` URLs; the rest of the queue was not searched.
    Unknown { ahead: usize },
}

/// The queue of one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostQueue {
    pub origin: String,
    /// URLs waiting for their turn or their time; at least this many if `is_longer`.
    pub queued: usize,
    pub is_longer: bool,
    /// When the first of them is due; None if the queue is empty.
    pub due: Option<UnixMillis>,
    /// No request before this time, with the reason; zero means no limit.
    pub blocked_until: UnixMillis,
    pub blocked_reason: String,
    /// The first URLs that a crawl would start with, in queue order: path and query. Scheduled revisits
    /// are left out.
    pub first: Vec<String>,
}

/// The record of a URL of a site; None if there is none. `path` is path and query.
pub(super) async fn known_url(
    db: &dyn CrawlDb,
    site: &str,
    origin: &str,
    path: &str,
) -> Result<Option<KnownUrl>, CrawlDbError> {
    let hosts = db.hosts().await?;
    let Some(host) = hosts.iter().find(|host| *host.site == *site && *host.origin == *origin) else { return Ok(None) };
    let key = UrlKey { host: host.id, path: path.into() };
    let Some(record) = db.url_record(&key).await? else { return Ok(None) };
    let queue = db.queued(host.id, limits::QUEUE_LOOKED_THROUGH_MAX).await?;
    let queued = match queue.iter().position(|row| row.key == key) {
        Some(ahead) => Queued::Behind { ahead, due: queue[ahead].due },
        None if queue.len() < limits::QUEUE_LOOKED_THROUGH_MAX => Queued::No,
        None => Queued::Unknown { ahead: queue.len() },
    };
    Ok(Some(KnownUrl {
        depth: record.depth,
        first_seen: record.first_seen,
        last: record.outcome.map(|outcome| (outcome, record.visited)),
        attempts: (faults(record.attempts), refusals(record.attempts)),
        queued,
    }))
}

/// The queues of a site's hosts, with the first URLs of each.
pub(super) async fn queues(db: &dyn CrawlDb, site: &str, urls_max: usize) -> Result<Vec<HostQueue>, CrawlDbError> {
    let now = SystemClock.now();
    let mut queues = Vec::new();
    for host in db.hosts().await?.into_iter().filter(|host| *host.site == *site) {
        let rows = db.queued(host.id, limits::QUEUE_LOOKED_THROUGH_MAX).await?;
        let mut first = Vec::new();
        for row in rows.iter().take(urls_max) {
            // A crawl does not start with a scheduled revisit: it ends without it.
            let record = db.url_record(&row.key).await?;
            if row.due <= now || !record.is_some_and(|record| record.waits_for_a_look()) {
                first.push(row.key.path.clone().into());
            }
        }
        queues.push(HostQueue {
            origin: host.origin.into(),
            queued: rows.len(),
            is_longer: rows.len() == limits::QUEUE_LOOKED_THROUGH_MAX,
            due: rows.first().map(|row| row.due),
            blocked_until: host.blocked_until,
            blocked_reason: host.blocked_reason.into(),
            first,
        });
    }
    Ok(queues)
}

/// A time in the future, for people: `now` if it has passed.
#[must_use]
pub fn when(at: UnixMillis) -> String {
    if at <= SystemClock.now() { "now".to_owned() } else { format!("at {}", at.rfc3339()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::crawldb::Discovered;
    use gleaner_store::crawldb::memory_store::MemoryStore;

    #[tokio::test]
    async fn a_url_is_known_with_its_place_in_the_queue_of_its_host() {
        let db = MemoryStore::new();
        let host = db.host_id("s", "http://h.example").await.unwrap();
        let row = |path: &str, rank, due| Discovered {
            key: UrlKey { host, path: path.into() },
            depth: 3,
            rank,
            due: UnixMillis(due),
            via: None,
            is_target: false,
            found: None,
        };
        let rows = vec![row("/later", 0, 9_000_000), row("/a", 7, 0), row("/b", 1, 0)];
        db.add_discovered(rows, UnixMillis(5)).await.unwrap();
        let known = async |path: &str| known_url(&db, "s", "http://h.example", path).await.unwrap();
        let a = known("/a").await.unwrap();
        assert_eq!((a.depth, a.first_seen, a.last, a.attempts), (3, UnixMillis(5), None, (0, 0)));
        assert_eq!(a.queued, Queued::Behind { ahead: 1, due: UnixMillis(0) });
        assert_eq!(known("/later").await.unwrap().queued, Queued::Behind { ahead: 2, due: UnixMillis(9_000_000) });
        assert_eq!(known("/none").await, None);
        assert_eq!(known_url(&db, "s", "http://other.example", "/a").await.unwrap(), None);
        let queues = queues(&db, "s", 2).await.unwrap();
        assert_eq!((queues.len(), queues[0].queued, queues[0].is_longer), (1, 3, false));
        assert_eq!((queues[0].first.join(" "), queues[0].due), ("/b /a".to_owned(), Some(UnixMillis(0))));
    }
}
