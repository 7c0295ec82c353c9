//! What has happened, looked for once a second for all who listen: a hundred open pages cost what one does.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::alarms::Alarm;
use crate::limits::EVENT_LOOK;
use crate::problem::Problem;
use crate::{Outlet, SiteWork};

/// The state of a moment.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The last change of the database.
    pub change: u64,
    /// The last line of the log.
    pub line: u64,
    /// What each crawl does; the same value as long as nothing of it has changed.
    pub works: Arc<Vec<SiteWork>>,
    /// All alarms, likewise.
    pub alarms: Arc<Vec<Alarm>>,
}

/// The last look.
#[derive(Default)]
pub struct Pulse(Mutex<Option<(Instant, Seen)>>);

fn unless_same<T: PartialEq>(before: Arc<T>, now: T) -> Arc<T> {
    if *before == now { before } else { Arc::new(now) }
}

impl Outlet {
    /// What has happened until now, or until the last look of this second.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn seen(&self) -> Result<Seen, Problem> {
        let mut kept = self.pulse.0.lock().await;
        let now = Instant::now();
        if let Some((at, seen)) = &*kept
            && now < *at + EVENT_LOOK
        {
            return Ok(seen.clone());
        }
        let change = self.db.changes(u64::MAX, 0).await.map_err(|error| Problem::ours(&error))?.last;
        let (works, alarms) = ((self.inside.works)(), (self.inside.alarms.list)().await);
        let alarms = alarms.map_err(|error| Problem::ours(&error))?;
        let before = kept.take().map(|(_, seen)| seen).unwrap_or_default();
        let seen = Seen {
            change,
            line: self.inside.log.last(),
            works: unless_same(before.works, works),
            alarms: unless_same(before.alarms, alarms),
        };
        *kept = Some((now, seen.clone()));
        Ok(seen)
    }
}
