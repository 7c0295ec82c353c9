//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

use std::time::Duration;

/// Bytes of a file of labelled forms: a hundred thousand forms.
pub const LABELLED_FORMS_BYTES_MAX: u64 = 512 << 20;

/// Cuts from the root of a decision tree to its deepest leaf. Ten separate some hundred rows.
pub const TREE_DEPTH_MAX: usize = 12;

/// Bytes of a line of a trace of posts, and the number of bad lines that are reported.
pub const TRACE_LINE_BYTES_MAX: usize = 64 << 10;

pub const TRACE_FAULTS_TOLD_MAX: usize = 20;

/// Posts of a trace: 16 bytes each.
pub const TRACE_POSTS_MAX: usize = 20_000_000;

/// Days of a replay or of a generated forum: a hundred years.
pub const TRACE_DAYS_MAX: u64 = 36_525;

/// Boards of a trace: each costs half a kilobyte.
pub const BOARDS_MAX: usize = 1_000_000;

/// Rechecks per day of one board in a replay, and of all policies over all its days.
pub const LOOKS_PER_DAY_MAX: usize = 1_440;

pub const SIMULATED_LOOKS_MAX: u64 = 50_000_000;

/// Bytes of a response of a page that `render` shows: the largest bundles of scripts have ten million.
pub const RESPONSE_BYTES_MAX: u64 = 64 << 20;

/// For how long its server may say nothing.
pub const SILENCE_MAX: Duration = Duration::from_secs(30);
