//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

use std::time::Duration;

/// Alarms that are over and kept for people to look back.
pub const HISTORY_MAX: usize = 500;

/// Alarms that are open at once, and causes that may become some: five of each of two hundred sites.
pub const OPEN_MAX: usize = 1_000;

/// Causes that are silenced at once.
pub const SILENCES_MAX: usize = 1_000;

/// Characters of a note, of a title, and of what others say in it.
pub const NOTE_CHARACTERS_MAX: usize = 2_000;
pub const TITLE_CHARACTERS_MAX: usize = 300;

/// Minutes of a silence: a year.
pub const SILENCE_MINUTES_MAX: u32 = 527_040;

/// Minutes of an `after`: a quarter.
pub const AFTER_MINUTES_MAX: u32 = 131_040;

/// Lists of a site whose rows are known: those that come later are not watched.
pub const LISTS_MAX: usize = 256;

/// Days of a list, of finds and of coverage that are remembered: a month of finds, two weeks of the others.
pub const LIST_DAYS_MAX: usize = 15;
pub const FIND_DAYS_MAX: usize = 28;
pub const COVERAGE_HOURS_MAX: usize = 72;

/// Quarters of days of delays: two weeks.
pub const DELAY_BUCKETS_MAX: usize = 56;

/// Ten minutes of visits each: a day.
pub const REFUSAL_BUCKETS_MAX: usize = 144;

/// Messages that wait for their channels.
pub const MESSAGES_MAX: usize = 200;

/// How long a message is tried, and the longest time between two tries.
pub const TRIED_TIME_MAX: Duration = Duration::from_secs(86_400);
pub const TRY_INTERVAL_MAX: Duration = Duration::from_secs(3_600);

/// Characters of a message to a chat: Discord takes 2,000.
pub const CHAT_CHARACTERS_MAX: usize = 1_900;
