//! What waits to be handed over, of the whole archive or of what has changed.

use std::collections::{BinaryHeap, VecDeque};

use gleaner_search::Query;
use gleaner_store::crawldb::{Stored, TorrentRow};

use crate::limits::EXPORT_ROWS_MAX;
use crate::memory::Memory;
use crate::{HandoverError, Sources};

/// What waits in the archive.
pub struct InArchive {
    pub count: u64,
    /// The first ones in the order of storing.
    pub oldest: Vec<Stored>,
}

/// Goes through the archive, from its newest torrent back to where the handover began.
pub async fn in_archive(
    sources: Sources<'_>,
    query: &Query,
    memory: &Memory,
    begun: Option<&Stored>,
    oldest_max: usize,
) -> Result<InArchive, HandoverError> {
    let (mut count, mut oldest) = (0, BinaryHeap::new());
    let mut before = None;
    loop {
        let mut rows = sources.db.newest(before, 0, EXPORT_ROWS_MAX).await?;
        before = rows.last().map(TorrentRow::place);
        let is_last = before.is_none();
        rows.retain(|row| begun.is_none_or(|begun| row.place() > *begun));
        let is_over = is_last || before.as_ref().zip(begun).is_some_and(|(before, begun)| before <= begun);
        for place in fitting(sources, query, memory, &rows)? {
            count += 1;
            oldest.push(place);
            if oldest.len() > oldest_max {
                oldest.pop();
            }
        }
        if is_over {
            return Ok(InArchive { count, oldest: oldest.into_sorted_vec() });
        }
    }
}

/// What waits of these archive keys, in the order of storing.
pub async fn of_changes(
    sources: Sources<'_>,
    query: &Query,
    memory: &Memory,
    begun: Option<&Stored>,
    mut keys: Vec<Vec<u8>>,
) -> Result<VecDeque<Vec<u8>>, HandoverError> {
    keys.sort_unstable();
    keys.dedup();
    let mut rows: Vec<TorrentRow> = sources.db.torrents_at(keys).await?.into_iter().flatten().collect();
    rows.retain(|row| begun.is_none_or(|begun| row.place() > *begun));
    let mut places = fitting(sources, query, memory, &rows)?;
    places.sort_unstable();
    Ok(places.into_iter().map(|place| place.key).collect())
}

fn fitting(
    sources: Sources<'_>,
    query: &Query,
    memory: &Memory,
    rows: &[TorrentRow],
) -> Result<Vec<Stored>, HandoverError> {
    let places = rows.iter().map(TorrentRow::place).filter(|place| !memory.has(&place.key));
    let places: Vec<Stored> = places.collect();
    if places.is_empty() {
        return Ok(places);
    }
    let keys: Vec<Vec<u8>> = places.iter().map(|place| place.key.clone()).collect();
    let found = sources.search.fitting(query, &keys)?;
    Ok(places.into_iter().filter(|place| found.contains(&place.key)).collect())
}
