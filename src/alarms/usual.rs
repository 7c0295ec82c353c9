//! What is usual of a site, and whether something is not. Each part learns from what it is shown, says what is out of the usual, and does not
//! learn from that: after a week it is the new usual. Kept over restarts.

pub mod coverage;
pub mod delays;
pub mod finds;
pub mod lists;
pub mod refusals;

use std::time::Duration;

use gleaner_base::clock::UnixMillis;

/// What is not usual for so long is usual from then on.
const NEW_USUAL_AFTER: Duration = Duration::from_secs(7 * 86_400);

const DAY_MS: u64 = 86_400_000;

/// The day of a time, as a number.
fn day(at: UnixMillis) -> u32 {
    u32::try_from(at.0 / DAY_MS).unwrap_or(u32::MAX)
}
