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

/// Bytes of the visible text of a thread that may be a word of what is gone: longer ones are talk about it.
pub const GONE_THREAD_TEXT_BYTES_MAX: usize = 4 << 10;

/// Pages of torrents without a torrent that are held against each other, and what was gone last, as `status` names it.
pub const GONE_STRANGERS_MAX: usize = 4;
pub const GONE_TOLD_MAX: usize = 100;

/// Rows whose pages are asked for since they vanished: 100 bytes each.
pub const GONE_UNLISTED_MAX: usize = 5_000;

/// Lists of one site that are followed for rows that vanish, and rows of them all: 300 bytes each, in one note.
pub const LISTS_FOLLOWED_MAX: usize = 1_000;
pub const LISTS_ROWS_MAX: usize = 8_000;

/// What they may take in that note, in bytes, and what a row takes of it beside its address.
pub const LISTS_BYTES_MAX: usize = 3_500_000;
pub const LISTS_ROW_BYTES: usize = 212;

/// Pages of rows that stay on their list are asked for in turn, one at a look at most, for what was taken away behind its row: each so long
/// after its last visit, and rows that are asked the database for to find one.
pub const ROW_RECHECKED_AFTER: Duration = Duration::from_secs(86_400);
pub const ROWS_IN_TURN_MAX: usize = 8;

/// A list that had no look for so long is none of those that are looked at: the longest time between two looks is half of it. Where as many
/// lists are kept as may be, it makes room; others do not, since lists in turn would find nothing kept of themselves.
pub const LIST_FORGOTTEN_TIME: Duration = Duration::from_secs(60 * 86_400);

/// How often such a list is looked for: each time goes over all that are kept, and a large site has lists without a place all day.
pub const LIST_ROOM_SOUGHT_EVERY: Duration = Duration::from_secs(3_600);

/// Rows of one page of a list that a look asks the database for: a directory of 10⁵ files would take seconds.
pub const LOOK_ROWS_MAX: usize = 2_000;

/// Torrents of one site that were seen on a list and are not here yet: 120 bytes each.
pub const ARRIVALS_AWAITED_MAX: usize = 10_000;

/// How long a torrent that was seen is waited for: what never came by then has no delay.
pub const ARRIVAL_AWAITED_TIME: Duration = Duration::from_secs(60 * 86_400);

/// Lists of one site of which a memory is kept: 500 bytes each.
pub const BOARDS_KEPT_MAX: usize = 3_000;

/// Threads of one site of which is kept what their boards told when they were last read: 250 bytes each. Of others the database
/// knows when they were read.
pub const BOARD_THREADS_MAX: usize = 6_000;

/// How long a page of a thread with news may take to come before it is asked for again, doubled each time: the crawl's own tries end
/// within minutes, a server's trouble lasts longer; and how often that is done, over three days in all.
pub const REREAD_PATIENCE: Duration = Duration::from_secs(600);
pub const REREAD_TRIES_MAX: u32 = 8;

/// Pages of threads of one site that are known to be on their way, 150 bytes each, and those that one look asks the database for.
pub const REREADS_KEPT_MAX: usize = 2_000;
pub const REREADS_AT_ONCE_MAX: usize = 50;

/// Looks at lists of one site that are on their way from page to page.
pub const BOARD_WALKS_MAX: usize = 1_000;

/// Bytes of a list's page of which a tree is made: it takes some twenty times that in memory. The largest lists that were seen have
/// 1 MB; longer ones are read by their links.
pub const BOARD_PAGE_BYTES_MAX: usize = 1 << 20;

/// Lists of one site in its schedule: 1 kB each in its note. Others are looked at by their interval.
pub const SCHEDULE_LISTS_MAX: usize = 3_000;

/// As long as no more rows than this are awaited, 100 bytes each, they are written down each half a minute, else as seldom as all that looks
/// know.
pub const ARRIVALS_NOTED_OFTEN_MAX: usize = 1_000;

/// URLs of one host that wait for a later time, among which lists are looked for that stand in no schedule: 100 bytes each while they are.
pub const PLANNED_LISTS_READ: usize = 20_000;

/// How long a list that is due is waited for before the next one has its turn: a host may pause, and a list may be gone.
pub const SCHEDULE_PATIENCE: Duration = Duration::from_secs(600);

/// How often the plans of a day are made anew where the times are planned.
pub const SCHEDULE_PLANNED_EVERY: Duration = Duration::from_secs(6 * 3_600);
