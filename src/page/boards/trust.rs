//! Which data of a list's page can be trusted: its times of last activity, its counts of replies, or neither; and
//! what they show about a known row.

use super::rows::{BoardPage, Row, Times};
use super::walk::{Change, Grounds, KnownThread, Memory};
use super::when::{Against, How, Precision, Time};

/// Rows that must agree before times or counts are distrusted, and their share of the comparable ones.
const WITNESSES: usize = 6;
const AGREE: f64 = 0.8;

/// Daylight saving moves clocks by this many seconds, or by half of it. A larger move may be a program that posts at
/// fixed hours.
const SUMMER_S: i64 = 3_600;

/// Rows that must have moved by it, to the second: three never do so by chance.
const SUMMER_WITNESSES: usize = 3;

/// Maximum seconds of difference at which a list's times still move with our own clock.
pub(super) const WITH_CLOCK_S: i64 = 300;

const MINUTE_S: i64 = 60;

/// What can be trusted on a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    times: bool,
    replies: bool,
    shift_s: i64,
}

impl Trust {
    /// Determines what to trust on this page.
    pub fn of(memory: &mut Memory, page: &BoardPage, known: &[Option<KnownThread>], now: i64) -> Self {
        learn_shift(memory, page, known);
        let mut trust =
            Trust { times: page.times != Times::None, replies: page.replies_named, shift_s: memory.shift_s };
        let (mut compared, mut with_clock) = (0_usize, 0_usize);
        let (mut counted, mut still) = (0_usize, 0_usize);
        for (row, known) in page.rows.iter().zip(known) {
            let Some(known) = known else { continue };
            let times = row.last.zip(known.last);
            if let Some((time, before)) = times {
                compared += 1;
                // A time without minute precision moves with what is learnt about its zone.
                let is_exact = time.error_s() <= WITH_CLOCK_S && before.error_s() <= WITH_CLOCK_S;
                let moved = told_move(&time, &before).or(is_exact.then(|| time.at() - before.at()));
                let looked = now - known.read_at;
                let goes_along = |moved: i64| looked > 2 * WITH_CLOCK_S && (moved - looked).abs() <= WITH_CLOCK_S;
                with_clock += usize::from(time.precision <= Precision::Minute && moved.is_some_and(goes_along));
                // A reply in the minute in which the thread was read leaves its time unchanged.
                let is_of_that_minute =
                    before.error_s() <= MINUTE_S && (-MINUTE_S..MINUTE_S).contains(&(known.read_at - before.latest));
                if let Some((replies, replies_before)) = row.replies.zip(known.replies)
                    && replies > replies_before
                    && !is_of_that_minute
                {
                    counted += 1;
                    still +=
                        usize::from(time.against(&before) == Against::Equal && time.precision <= Precision::Minute);
                }
            }
        }
        let agree = |part: usize, of: usize| of >= WITNESSES && part as f64 >= AGREE * of as f64;
        if agree(with_clock, compared) {
            memory.lies = memory.lies.saturating_add(1);
            trust.times = false;
        } else if memory.lies > 0 && compared >= WITNESSES {
            memory.lies = 0;
        } else if memory.lies > 0 {
            trust.times = false;
        }
        // Replies increased but the times did not: either these are not replies, or those are not times of replies.
        if agree(still, counted) {
            match page.times {
                Times::Last => trust.replies = false,
                _ => trust.times = false,
            }
        }
        if page.times == Times::Created {
            trust.times = false;
        }
        trust
    }

    pub fn grounds(self, page: &BoardPage) -> Grounds {
        match self {
            Self { times: true, .. } => Grounds::Times,
            Self { replies: true, .. } if page.rows.iter().any(|row| row.replies.is_some()) => Grounds::Replies,
            _ => Grounds::UnknownUrls,
        }
    }

    pub fn judge(self, row: &Row, known: Option<&KnownThread>) -> Change {
        let Some(known) = known else {
            return Change::New;
        };
        let moved = row.last.and_then(|time| told_move(&time, &known.last?));
        let by_time = match moved {
            Some(moved) if self.times && moved != 0 && moved == self.shift_s => Some(Change::Same),
            _ => self.times.then(|| row.last.map(|time| by_time(&time, known))).flatten(),
        };
        let by_count = self.replies.then(|| row.replies.zip(known.replies)).flatten();
        match (by_time, by_count) {
            (Some(Change::Later), _) => Change::Later,
            (_, Some((now, before))) if now > before => Change::MoreReplies,
            (Some(Change::Unsure), Some(_)) | (None, _) => Change::Same,
            (Some(change), _) => change,
        }
    }
}

/// Seconds between the old and the new time shown for a thread, if both are from the site's clock.
pub(super) fn told_move(time: &Time, before: &Time) -> Option<i64> {
    let is_local = |time: &Time| matches!(time.how, How::Local(_)) && time.precision <= Precision::Minute;
    (is_local(time) && is_local(before)).then(|| Some(time.told? - before.told?)).flatten()
}

/// The change by the time of last activity. Later means after the known time, beyond all error. The same minute is
/// the same; a coarser time is the same only if it is before the last fetch.
fn by_time(time: &Time, known: &KnownThread) -> Change {
    let against = known.last.map(|last| time.against(&last));
    match against {
        Some(Against::Later) => Change::Later,
        Some(Against::Earlier) => Change::Receded,
        Some(Against::Equal) if time.precision <= Precision::Minute => Change::Same,
        _ if time.latest <= known.read_at => Change::Same,
        None if time.earliest > known.read_at => Change::Later,
        _ => Change::Unsure,
    }
}

/// Finds one distance, to the second, by which many of the page's known times moved.
fn learn_shift(memory: &mut Memory, page: &BoardPage, known: &[Option<KnownThread>]) {
    let moves: Vec<i64> =
        page.rows.iter().zip(known).filter_map(|(row, known)| told_move(&row.last?, &known.as_ref()?.last?)).collect();
    let Some((shift, count)) = moves
        .iter()
        .map(|shift| (*shift, moves.iter().filter(|other| *other == shift).count()))
        .max_by_key(|(_, count)| *count)
    else {
        return;
    };
    let is_zones = shift.abs() == SUMMER_S || shift.abs() * 2 == SUMMER_S;
    if is_zones && count >= SUMMER_WITNESSES && count * 3 >= moves.len() {
        memory.shift_s = shift;
    }
}
