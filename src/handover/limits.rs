//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

use std::time::Duration;

pub use gleaner_store::limits::EXPORT_ROWS_MAX;
pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Torrents that wait in memory, in the order of their storing: 60 bytes each. Beyond it, the archive is gone through once more.
pub const WAITING_MAX: usize = 100_000;

/// Changes of the database that are looked at together.
pub const CHANGES_AT_ONCE_MAX: usize = 256;

/// Torrents that are handed over before another process, or the end of this one, gets its turn: two syncs each.
pub const HANDED_AT_ONCE_MAX: usize = 64;

/// Tries to get the turn while another process hands over, and the time between them in milliseconds: some rounds of a slow disk.
pub const TURN_TRIES: u32 = 400;
pub const TURN_TRY_AFTER_MS: u64 = 50;

/// Torrents whose files cannot be written in a folder that takes others: with more of them, it is the folder.
pub const ASIDE_MAX: usize = 16;

/// After which they are tried again.
pub const ASIDE_FOR: Duration = Duration::from_secs(30);

/// Torrents that could not be read which a report names.
pub const LEFT_OUT_LISTED_MAX: usize = 10;

/// Torrents with times in the future that a clock which was ahead may have left; with more, the clock is behind, and none of them is handed over for
/// that.
pub const OF_FUTURE_MAX: usize = 50;
