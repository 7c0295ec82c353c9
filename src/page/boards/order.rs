//! The order of a page's rows: which of their times is the last activity, and which rows are pinned above the order
//! of time.

use std::collections::{HashMap, HashSet};

use super::rows::{Pinned, Row, Rows, Sorted, Times};
use super::when::{Against, Conventions, Time};
use super::words::Role;

/// A share, or a count as a number.
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap_or(u32::MAX)) / f64::from(u32::try_from(whole.max(1)).unwrap_or(u32::MAX))
}

/// Finds which of a row's times is the last activity and which the creation: by their names, else the one that is
/// never earlier. Returns the meaning of the list's times.
pub(super) fn choose_times(rows: &mut Rows, conventions: &Conventions, now: i64) -> Times {
    // Places with their role, the number of rows that have them, and how often they contain a row's latest time.
    let mut places: HashMap<u64, (Option<Role>, usize, usize)> = HashMap::new();
    for cells in &rows.cells {
        let latest = cells
            .moments
            .iter()
            .filter_map(|moment| conventions.time(&moment.reading, now))
            .map(|time| time.latest)
            .max();
        let mut counted = HashSet::new();
        for moment in &cells.moments {
            let entry = places.entry(moment.place).or_default();
            entry.0 = entry.0.or(moment.role);
            if counted.insert(moment.place) {
                entry.1 += 1;
                entry.2 += usize::from(conventions.time(&moment.reading, now).map(|time| time.latest) == latest);
            }
        }
    }
    // A word in a single row does not name a column.
    let some = rows.drafts.len().div_ceil(5);
    let named = |role: Role| {
        places
            .iter()
            .filter(|(_, (found, seen, _))| *found == Some(role) && *seen >= some)
            .max_by_key(|(place, (_, rows, _))| (*rows, **place))
            .map(|(place, _)| *place)
    };
    let enough = rows.drafts.len().div_ceil(3);
    let newest = places
        .iter()
        .filter(|(_, (_, seen, _))| *seen >= enough)
        .max_by_key(|(place, (_, _, latest))| (*latest, **place))
        .map(|(place, _)| *place);
    let last = named(Role::Last).or(newest.filter(|place| places[place].0 != Some(Role::Created) || places.len() > 1));
    let created = named(Role::Created).filter(|place| Some(*place) != last);
    for (draft, cells) in rows.drafts.iter_mut().zip(&rows.cells) {
        let at = |place: Option<u64>, role: Role| {
            let by_place = cells.moments.iter().find(|moment| Some(moment.place) == place);
            let moment = by_place.or_else(|| cells.moments.iter().find(|moment| moment.role == Some(role)))?;
            conventions.time(&moment.reading, now)
        };
        draft.last = at(last, Role::Last);
        draft.created = at(created, Role::Created);
        if draft.last.is_none() {
            draft.last = draft
                .created
                .or_else(|| cells.moments.first().and_then(|moment| conventions.time(&moment.reading, now)));
        }
    }
    match (rows.drafts.iter().any(|draft| draft.last.is_some()), last, created) {
        (false, ..) => Times::None,
        (_, Some(place), _) if places[&place].0 == Some(Role::Last) => Times::Last,
        (_, Some(_), Some(_)) => Times::Last,
        (_, Some(place), None) if places[&place].0 == Some(Role::Created) => Times::Created,
        (_, None, Some(_)) => Times::Created,
        _ => Times::Unsaid,
    }
}

/// Share of neighbours that must be in order in an ordered list.
const IN_ORDER: f64 = 0.9;

/// Marks rows at the head of an ordered list as pinned if they are older than what follows. Removes the mark if all
/// rows have it. Returns the list's order.
pub(super) fn mark_pinned(rows: &mut [Row]) -> Sorted {
    if rows.iter().all(|row| row.pinned.is_some()) {
        rows.iter_mut().for_each(|row| row.pinned = None);
    }
    let sorted = order_of(rows.iter().filter(|row| row.pinned.is_none()));
    let free: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].pinned.is_none() && rows[at].last.is_some()).collect();
    // The newest row. Rows above it that are clearly older are pinned.
    let newest =
        free.iter().copied().max_by_key(|&at| (rows[at].last.map(|time| time.earliest), std::cmp::Reverse(at)));
    if let Some(newest) = newest
        && newest > 0
        && newest * 2 <= rows.len()
        && order_of(rows[newest..].iter().filter(|row| row.pinned.is_none())) == Sorted::NewestFirst
    {
        let time = rows[newest].last;
        for row in rows[..newest].iter_mut().filter(|row| row.pinned.is_none()) {
            if let (Some(own), Some(time)) = (row.last, time)
                && own.against(&time) == Against::Earlier
            {
                row.pinned = Some(Pinned::ByOrder);
            }
        }
        return order_of(rows.iter().filter(|row| row.pinned.is_none()));
    }
    sorted
}

fn order_of<'r>(rows: impl Iterator<Item = &'r Row>) -> Sorted {
    let times: Vec<Time> = rows.filter_map(|row| row.last).collect();
    let (mut down, mut up) = (0_usize, 0_usize);
    for pair in times.windows(2) {
        match pair[1].against(&pair[0]) {
            Against::Later => up += 1,
            Against::Earlier => down += 1,
            Against::Overlaps if pair[1].at() < pair[0].at() => down += 1,
            Against::Overlaps if pair[1].at() > pair[0].at() => up += 1,
            Against::Equal | Against::Overlaps => {}
        }
    }
    match times.len() {
        0..=2 => Sorted::Unknown,
        _ if down + up == 0 => Sorted::Unknown,
        _ if ratio(down, down + up) >= IN_ORDER => Sorted::NewestFirst,
        _ => Sorted::Otherwise,
    }
}
