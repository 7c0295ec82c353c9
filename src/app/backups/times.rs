//! When backups were finished, by their place: the file `backup-last` of the data folder, a line for each, `1795651200000 /srv/gleaner-backup`.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gleaner_base::clock::UnixMillis;
use gleaner_base::regular;

use crate::limits::{BACKUP_LAST_BYTES_MAX, BACKUP_PLACES_MAX};

/// By place; that of a line without one, as earlier versions wrote it, is empty.
pub type Times = BTreeMap<String, UnixMillis>;

fn path_of(data_dir: &Path) -> PathBuf {
    data_dir.join("backup-last")
}

/// The name of a place in the file.
pub(super) fn named(place: &Path) -> String {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    place.to_string_lossy().replace('\n', "\u{fffd}")
}

/// All that are noted; what is no line of ours is left out.
#[must_use]
pub fn all(data_dir: &Path) -> Times {
    let mut text = String::new();
    let read =
        regular::open(&path_of(data_dir)).and_then(|file| file.take(BACKUP_LAST_BYTES_MAX).read_to_string(&mut text));
    if read.is_err() {
        return Times::new();
    }
    let line = |line: &str| {
        let (at, place) = line.split_once(' ').unwrap_or((line, ""));
        Some((place.to_owned(), UnixMillis(at.trim().parse().ok()?)))
    };
    text.lines().filter_map(line).collect()
}

/// When the last one was finished at a place, or anywhere; None for never.
#[must_use]
pub fn last(data_dir: &Path, place: Option<&Path>) -> Option<UnixMillis> {
    let all = all(data_dir);
    match place {
        Some(place) => last_at(&all, place),
        None => all.into_values().max(),
    }
}

/// When the last one was finished at a place, as far as these say.
#[must_use]
pub fn last_at(all: &Times, place: &Path) -> Option<UnixMillis> {
    all.get(&named(place)).or_else(|| all.get("")).copied()
}

/// Notes one; beyond the bound the oldest are forgotten, and so is one without a place: it would speak for all of them for ever.
///
/// # Errors
/// Those of the disk: then all stay as they were.
pub fn note(data_dir: &Path, place: &Path, now: UnixMillis) -> io::Result<()> {
    let mut times: Vec<(String, UnixMillis)> =
        all(data_dir).into_iter().filter(|(at, _)| !at.is_empty() && *at != named(place)).collect();
    times.push((named(place), now));
    times.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    times.truncate(BACKUP_PLACES_MAX);
    let line = |(place, at): (String, UnixMillis)| format!("{} {place}\n", at.0);
    let new = data_dir.join(".backup-last");
    std::fs::write(&new, times.into_iter().map(line).collect::<String>())?;
    std::fs::rename(new, path_of(data_dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_time_and_nonsense_none() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let (srv, other) = (Path::new("/srv/backups"), Path::new("/mnt/with space"));
        assert_eq!((last(here, None), last(here, Some(srv))), (None, None));
        // Of an earlier version, which knew no places.
        std::fs::write(path_of(here), "1000\n").unwrap();
        assert_eq!((last(here, None), last(here, Some(srv))), (Some(UnixMillis(1_000)), Some(UnixMillis(1_000))));
        note(here, srv, UnixMillis(2_000)).unwrap();
        assert_eq!(last(here, Some(other)), None, "the time without a place is gone");
        note(here, other, UnixMillis(3_000)).unwrap();
        assert_eq!(
            (last(here, Some(srv)), last(here, Some(other))),
            (Some(UnixMillis(2_000)), Some(UnixMillis(3_000)))
        );
        assert_eq!(last(here, None), Some(UnixMillis(3_000)));
        note(here, srv, UnixMillis(4_000)).unwrap();
        assert_eq!(all(here).len(), 2);
        for number in 0..2 * BACKUP_PLACES_MAX {
            note(here, &here.join(number.to_string()), UnixMillis(5_000)).unwrap();
        }
        assert_eq!(all(here).len(), BACKUP_PLACES_MAX);
        std::fs::write(path_of(here), "soon\n").unwrap();
        assert_eq!(last(here, None), None);
    }
}
