//! The caps of freshness: noise models, acquisition delays, and what is gone.

use std::time::Duration;

/// Elements that the slots of a page nest; deeper ones count with what is around them.
pub const NOISE_DEPTH_MAX: usize = 256;

/// Atoms of one page that learning looks at: 16 bytes each. Index pages have 300 to 3,000; of longer ones the head tells as much.
pub const NOISE_ATOMS_MAX: usize = 4_096;

/// Parts of the links of one page that are compared with another look: 8 bytes each.
pub const NOISE_PARTS_MAX: usize = 12_288;

/// URLs of one class whose last look is kept for comparison: 160 kB each at most, 20 kB in the mean.
pub const NOISE_SAMPLES_MAX: usize = 3;

/// Slots, shapes and parts of links of one class with evidence for noise, and those that hold records: 48 bytes each.
pub const NOISE_KEYS_MAX: usize = 4_096;

/// Pages of different URLs that are fused into one template: more change nothing any more.
pub const NOISE_FUSED_PAGES: usize = 8;

/// Cells of the tables with which two looks at one URL are aligned: 5 ms.
pub const NOISE_ALIGNED_MAX: usize = 1 << 20;

/// Bytes of the note of one noise model: the caps above, as JSON and base64.
pub const NOISE_NOTE_BYTES_MAX: usize = 2 << 20;

/// Blocks of one page that are told.
pub const NOISE_BLOCKS_TOLD_MAX: usize = 5_000;

/// Stretches of time of one site's delays: a year of them is two days each, and each holds some ten counts.
pub const DELAY_BINS_MAX: usize = 240;

/// Bytes of a page's text in which it is looked for words of what is gone: messages stand near the top.
pub const GONE_TEXT_BYTES_MAX: usize = 16 << 10;

/// Time between two looks that agree that something is gone: longer than the maintenance of a forum.
pub const GONE_CONFIRM_TIME: Duration = Duration::from_secs(3 * 3_600);

/// Rows of one list that are followed from look to look, and those that are missed and kept until they are decided.
pub const GONE_ROWS_MAX: usize = 2_000;
pub const GONE_MISSED_ROWS_MAX: usize = 200;
