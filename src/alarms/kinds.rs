//! The kinds of alarms as a table: its name, how long its cause has to last, what explains it, and what mends it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A kind of cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    RowsFell,
    ListsEmpty,
    CoverageFell,
    DelayGrew,
    FindsStopped,
    LoggedOut,
    Refused,
    RuleFile,
    PromiseBroken,
    Certificate,
    Unreachable,
    DiskFull,
    ClockJumped,
    CommitsFail,
    IndexBehind,
    BackupOld,
}

/// What is known of a kind.
pub struct Row {
    pub kind: Kind,
    /// In messages, commands, labels and the configuration.
    pub name: &'static str,
    /// What it means, for the documentation.
    pub means: &'static str,
    /// Minutes that its cause has to last before it fires.
    pub after: u32,
    /// Kinds that are its cause, of the same site or of the service: while one of them lasts, it is no alarm of its own.
    pub explained_by: &'static [Kind],
    /// What mends it; `{site}` is the site.
    pub todo: &'static str,
}

use Kind::*;

const AWAY: &[Kind] = &[Unreachable, Certificate, LoggedOut, Refused];
const READ_BADLY: &[Kind] = &[
    Unreachable,
    Certificate,
    LoggedOut,
    Refused,
    ListsEmpty,
    PromiseBroken,
    RowsFell,
    CommitsFail,
    DiskFull,
    ClockJumped,
];

/// All kinds.
pub const KINDS: [Row; 16] = [
    Row {
        kind: RowsFell,
        name: "rows-fell",
        means: "lists of a class show less than 60 % of the rows that they showed at their poorest",
        after: 20,
        explained_by: &[Unreachable, Certificate, LoggedOut, Refused, ListsEmpty, PromiseBroken],
        todo: "open one of its lists in a browser; if it shows more there, `gleaner rules repair {site}`",
    },
    Row {
        kind: ListsEmpty,
        name: "lists-empty",
        means: "lists of a class show nothing, or are not there",
        after: 10,
        explained_by: &[Unreachable, Certificate, LoggedOut, Refused, PromiseBroken],
        todo: "open one of its lists in a browser; if the site has changed, `gleaner rules repair {site}`",
    },
    Row {
        kind: CoverageFell,
        name: "coverage-fell",
        means: "the share of the listed torrents that is in the archive is 5 points below its median of three days",
        after: 120,
        explained_by: READ_BADLY,
        todo: "`gleaner coverage {site}` shows what was not read, and why",
    },
    Row {
        kind: DelayGrew,
        name: "delay-grew",
        means: "new torrents come three times as late as in any but one quarter of a day before, and more than 15 minutes",
        after: 60,
        explained_by: READ_BADLY,
        todo: "`gleaner schedule {site}` shows when its lists are read, and what holds them up",
    },
    Row {
        kind: FindsStopped,
        name: "finds-stopped",
        means: "no new torrent for much longer than ever in four weeks",
        after: 30,
        explained_by: READ_BADLY,
        todo: "compare its newest list in a browser with `gleaner schedule {site}`",
    },
    Row {
        kind: LoggedOut,
        name: "logged-out",
        means: "the account is not logged in, or its login is refused",
        after: 15,
        explained_by: &[Unreachable, Certificate],
        todo: "`gleaner login {site}` tries again and shows each step",
    },
    Row {
        kind: Refused,
        name: "refused",
        means: "the site bans, throttles (429) or refuses most of what is asked",
        after: 20,
        explained_by: &[Unreachable, Certificate, LoggedOut],
        todo: "open it in a browser; lower `rate` of its rule file if it throttles: `gleaner status {site}` lists what is refused",
    },
    Row {
        kind: RuleFile,
        name: "rule-file",
        means: "a rule file has faults, and its last valid version stays in force",
        after: 5,
        explained_by: &[],
        todo: "`gleaner rules check` names each fault and its place",
    },
    Row {
        kind: PromiseBroken,
        name: "promise-broken",
        means: "a rule gives no more what its class promises",
        after: 10,
        explained_by: &[Unreachable, Certificate, LoggedOut, Refused, ListsEmpty],
        todo: "`gleaner rules repair {site}` learns the site again, and proposes a file",
    },
    Row {
        kind: Certificate,
        name: "certificate",
        means: "the site's TLS certificate is not valid",
        after: 10,
        explained_by: &[],
        todo: "open it in a browser: the site has to renew it, or this machine's clock or certificates are old",
    },
    Row {
        kind: Unreachable,
        name: "unreachable",
        means: "nothing of the site is answered",
        after: 30,
        explained_by: &[Certificate],
        todo: "open it in a browser; if it has moved, correct `start` and `hosts` of its rule file",
    },
    Row {
        kind: DiskFull,
        name: "disk-full",
        means: "the data folder's disk has less than 1 GB or 3 % left",
        after: 10,
        explained_by: &[],
        todo: "free some of the disk, or move the data folder to a larger one",
    },
    Row {
        kind: ClockJumped,
        name: "clock-jumped",
        means: "the machine's clock was changed by more than a minute",
        after: 0,
        explained_by: &[],
        todo: "`timedatectl` shows whether the clock is kept right",
    },
    Row {
        kind: CommitsFail,
        name: "commits-fail",
        means: "nothing can be stored, and the crawl waits",
        after: 2,
        explained_by: &[DiskFull],
        todo: "`gleaner status` shows the error; make the data folder writable",
    },
    Row {
        kind: IndexBehind,
        name: "index-behind",
        means: "torrents are stored, and search and feeds take in nothing more, or not what is two hours old",
        after: 20,
        explained_by: &[DiskFull, CommitsFail],
        todo: "`journalctl -u gleaner | grep index` says why",
    },
    Row {
        kind: BackupOld,
        name: "backup-old",
        means: "the last backup is older than this; with `[backup]`, late by its own `every` (an hour to a day), or there is none yet",
        after: 8 * 24 * 60,
        explained_by: &[],
        todo: "`gleaner backup` makes one",
    },
];

/// How long a cause has to be away before its alarm is over, at least: it does not flap.
const CALM: Duration = Duration::from_secs(600);

impl Kind {
    #[must_use]
    pub fn row(self) -> &'static Row {
        // A test compares both.
        &KINDS[self as usize]
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// How long its cause has to last, unless the configuration says otherwise.
    #[must_use]
    pub fn after(self) -> Duration {
        Duration::from_secs(60 * u64::from(self.row().after))
    }

    /// How long its cause has to be away before it is over: half as long, at most half an hour.
    #[must_use]
    pub fn calm(self) -> Duration {
        (self.after() / 2).clamp(CALM, 3 * CALM)
    }

    /// True if the other kind is its cause.
    #[must_use]
    pub fn is_explained_by(self, other: Self) -> bool {
        self.row().explained_by.contains(&other)
    }

    /// True if nothing of the site can be read while it lasts: what is usual is not learned from that time.
    #[must_use]
    pub fn keeps_from_reading(self) -> bool {
        AWAY.contains(&self) || matches!(self, CommitsFail | DiskFull | ClockJumped)
    }

    /// What mends it.
    #[must_use]
    pub fn todo(self, site: Option<&str>) -> String {
        self.row().todo.replace("{site}", site.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_has_its_row_and_a_name_of_its_own() {
        for row in &KINDS {
            assert_eq!(row.kind.name(), row.name);
            assert_eq!(Kind::named(row.name), Some(row.kind));
            assert_eq!(serde_json::to_value(row.kind).unwrap(), row.name);
        }
        assert_eq!(KINDS.iter().map(|row| row.name).collect::<BTreeSet<_>>().len(), KINDS.len());
    }
}
