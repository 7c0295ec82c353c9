//! Every cap of this crate, with its unit and its reason. A queue, body, depth, loop or retry without a cap here has none,
//! which is a bug.

use std::time::Duration;

/// Torrents of the demo site: each costs it about 400 bytes, and more would only slow the demonstration.
pub const DEMO_TORRENTS_MAX: usize = 200_000;

/// Request paths that the demo site records for its tests: a crawl of 5,000 torrents makes about 15,000.
pub const DEMO_LOG_PATHS_MAX: usize = 50_000;

/// Parameters of a query that the demo site parses; its own links have three at most.
pub const DEMO_PARAMETERS_MAX: usize = 16;

/// Bytes of a token that the demo site parses; its own have about 40.
pub const DEMO_TOKEN_BYTES_MAX: usize = 128;

/// Guest sessions that a members-only demo site keeps: a test's crawl creates a handful.
pub const DEMO_SESSIONS_MAX: usize = 10_000;

/// Wrong passwords after which a members-only demo site locks its account, as real ones do after three to five.
pub const DEMO_WRONG_TRIES_MAX: u32 = 3;

/// Bytes of a form that a demo site reads; a login has some hundred.
pub const DEMO_FORM_BYTES_MAX: usize = 64 << 10;

/// Time that the demo site waits for open connections when it is stopped.
pub const DEMO_STOP_TIME_MAX: Duration = Duration::from_secs(2);
