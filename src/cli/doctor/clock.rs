//! The machine's clock: against the newest time that was stored, and whether it is kept right.

use std::path::Path;

use super::{Finding, Patient};
use crate::limits::DOCTOR_CLOCK_AHEAD_MAX;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};

/// Where systemd-timesyncd notes what it has done.
const TIMESYNC: &str = "/run/systemd/timesync";

const FIX: &str = "sudo timedatectl set-ntp true; `timedatectl` shows whether it is synchronised";

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let now = SystemClock.now();
    let mut found = Vec::new();
    if let Some(database) = of.database().await
        && let Ok(newest) = database.reader().newest(None, 0, 1).await
    {
        found.extend(newest.first().and_then(|row| against(row.stored, now)));
    }
    found.extend(synchronised(Path::new(TIMESYNC)));
    found
}

/// A torrent cannot come from the future.
fn against(newest: UnixMillis, now: UnixMillis) -> Option<Finding> {
    (newest.since(now) > DOCTOR_CLOCK_AHEAD_MAX).then(|| {
        let what = format!("it is {}, and the newest torrent was stored at {}", now.rfc3339(), newest.rfc3339());
        Finding::new("clock_behind", "clock", what, FIX)
    })
}

/// None where timesyncd does not run: another program may keep the clock.
fn synchronised(timesync: &Path) -> Option<Finding> {
    (timesync.is_dir() && !timesync.join("synchronized").exists()).then(|| {
        Finding::new("clock_unsynchronised", "clock", "no time server has been reached since this machine started", FIX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumped_back_and_one_that_nobody_sets_are_found() {
        let now = UnixMillis(1_795_651_200_000);
        assert_eq!(against(UnixMillis(now.0 + 1_000), now), None);
        assert_eq!(against(UnixMillis(now.0 + 3_600_000), now).unwrap().code, "clock_behind");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(synchronised(&folder.path().join("none")), None);
        let found = synchronised(folder.path()).unwrap();
        assert!(found.code == "clock_unsynchronised" && found.fix.contains("timedatectl set-ntp"), "{found:?}");
        std::fs::write(folder.path().join("synchronized"), "").unwrap();
        assert_eq!(synchronised(folder.path()), None);
    }
}
