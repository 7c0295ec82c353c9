//! `[backup]`: backups that the service makes by itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unexpanded;
use crate::fault::Faults;
use crate::limits::{BACKUP_EVERY_MAX, BACKUP_EVERY_MIN, BACKUPS_KEPT_MAX};
use crate::schema::Spans;

/// `[backup]` as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupFile {
    /// Folder of the backups, outside of the data folder. Without it, none is made. Relative to the folder of this file.
    #[schemars(length(min = 1))]
    pub to: Option<String>,
    /// Time between two backups: a number with `m`, `h` or `d`; 10 minutes to 90 days.
    pub every: String,
    /// Backups that stay; older ones are removed.
    #[schemars(range(min = 1, max = 1_000))]
    pub keep: u16,
    /// Include passwords, sessions and tokens.
    pub with_secrets: bool,
}

impl Default for BackupFile {
    fn default() -> Self {
        Self { to: None, every: "1d".to_owned(), keep: 7, with_secrets: false }
    }
}

/// `[backup]`, validated, where it names a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub to: PathBuf,
    pub every: Duration,
    pub keep: usize,
    pub with_secrets: bool,
}

/// `90m`, `12h` or `1d`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    let every = Duration::from_secs(number.checked_mul(seconds)?);
    (BACKUP_EVERY_MIN..=BACKUP_EVERY_MAX).contains(&every).then_some(every)
}

/// Reports what cannot be.
pub(super) fn check(file: &BackupFile, spans: &Spans, home: Option<&OsStr>, faults: &mut Faults) {
    let mut fault = |key: &str, message: String, hint: &str| {
        faults.add(spans.value(key), key, message, Some(hint.to_owned()));
    };
    if duration(&file.every).is_none() {
        let message = format!("`{}` is no time between 10 minutes and 90 days", file.every);
        fault("backup.every", message, "write every = \"1d\", \"12h\" or \"30m\"");
    }
    if !(1..=BACKUPS_KEPT_MAX).contains(&file.keep) {
        fault("backup.keep", format!("{} is not between 1 and {BACKUPS_KEPT_MAX}", file.keep), "write keep = 7");
    }
    if let Some(to) = &file.to {
        if let Some((message, hint)) = unexpanded(to, home) {
            fault("backup.to", message, &hint);
        } else if to.trim().is_empty() || to.ends_with(".tar.zst") {
            fault("backup.to", "this is no folder".to_owned(), "write to = \"/srv/gleaner-backup\", on another disk");
        }
    }
}

/// What [`check`] has found nothing wrong with; None without a folder. `base` is the folder of the file.
pub(super) fn validated(file: &BackupFile, base: &Path) -> Option<Backup> {
    Some(Backup {
        to: base.join(file.to.as_ref()?),
        every: duration(&file.every)?,
        keep: file.keep.into(),
        with_secrets: file.with_secrets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_a_range() {
        let minutes = |text| duration(text).map(|every| every.as_secs() / 60);
        assert_eq!(["10m", "12h", "1d", "90d"].map(minutes), [Some(10), Some(720), Some(1_440), Some(129_600)]);
        for wrong in
            ["", "d", "1", "1w", "9m", "91d", "-1d", "1.5h", "99999999999999999999d", "1ä", "18446744073709551615d"]
        {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
