//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

use std::time::Duration;

pub use gleaner_base::limits::{PAGE_BYTES_MAX, RETRY_AFTER_MAX};
pub use gleaner_crawl::limits::{COMMIT_BYTES_MAX, COMMIT_VISITS_MAX, LOGIN_DRAIN_TIME_MAX, ROBOTS_REDIRECTS_MAX};
pub use gleaner_net::limits::COOKIE_FILE_BYTES_MAX;
pub use gleaner_page::limits::SHORTCUT_PINS_MAX;
pub use gleaner_render::limits::{RENDER_BODY_BYTES_MAX, RENDER_VIEW_HEIGHT};
pub use gleaner_rules::limits::SHAPE_PAGES;
pub use gleaner_store::limits::{EXPORT_ROWS_MAX, NOTE_BYTES_MAX};
pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Open files without which nothing is begun, beside those of the requests of a crawl: a runtime, its signals, databases, the archive and
/// four render processes take thirty.
pub const OPEN_FILES_MIN: u64 = 64;

/// How long the service lets a site be learned again beside the time that its rate takes, and at most. What was read by then is gone on with
/// a day later.
pub const REPAIR_TIME_BESIDE: Duration = Duration::from_secs(3_600);
pub const REPAIR_TIME_MAX: Duration = Duration::from_secs(86_400);

/// Pause until the service learns a site again whose repair has changed nothing.
pub const REPAIR_AGAIN_AFTER: Duration = Duration::from_secs(86_400);

/// How long a repair that was cut off goes on with what was read.
pub const REPAIR_KEPT_TIME: Duration = Duration::from_secs(2 * 86_400);

/// Threads without which nothing is begun: an export reads and writes at once, and a service watches its rule files besides.
pub const THREADS_MIN: usize = 4;

/// Open files that a process asks for where its soft limit is lower and its hard limit allows it.
pub const OPEN_FILES_WANTED: u64 = 4_096;

/// Bytes of a file of an account. The cookies of a site take at most ten megabytes.
pub const ACCOUNT_FILE_BYTES_MAX: u64 = 16 << 20;

/// Bytes of the answers of a site that `rules learn` keeps: 150 pages take ten megabytes. What comes beyond is asked for again.
pub const LEARNED_BYTES_MAX: u64 = 64 << 20;

/// Bytes of what is kept of one answer beside its body: addresses, headers, links of a render.
pub const LEARNED_HEAD_BYTES_MAX: usize = 4 << 20;

/// How long the first crawl takes an answer of `rules learn` for its own: a list shows new torrents after a day.
pub const LEARNED_FRESH_TIME: Duration = Duration::from_secs(24 * 3_600);

/// How long `rules learn --resume` goes on with what was read.
pub const LEARNED_KEPT_TIME: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A pause that a site may want while it is learned; with a longer one it is left alone.
pub const LEARNED_PAUSE_MAX: Duration = Duration::from_secs(600);

/// Pages that a learning run runs to see whether scripts fill them, and that scripts did not.
pub const VAIN_TRIALS_MAX: u32 = 24;

/// Times that a session may end while a site is learned.
pub const LEARNED_LOGINS_MAX: u32 = 2;

/// Torrents asked for at once on the control socket: 64 digits each.
pub const HASHES_ASKED_MAX: usize = 256;

/// Bytes of one question on the control socket; keys of listings are the longest part.
pub const ASK_BYTES_MAX: u64 = 64 << 10;

/// Bytes of one answer on the control socket. The largest page of listings is 180 MB (`COVERAGE_ROWS_MAX` pages of
/// twice `LINKS_PER_PAGE_MAX` numbers and `LISTING_UPDATES_MAX`), the largest page of torrents 70 MB, the largest note 8 MiB.
pub const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// Torrents whose files `sources` reads: seconds for files of usual length.
pub const SOURCES_TORRENTS_MAX: u64 = 20_000;

/// Bytes of the list of refused hosts: some ten thousand names.
pub const REFUSED_BYTES_MAX: u64 = 256 << 10;

/// A signal to end counts as a second one from then on after the first.
pub const SECOND_SIGNAL_AFTER: Duration = Duration::from_millis(500);

/// URLs of one host's queue that are looked through to tell people of it; with the longest paths 40 MB, usual ones 1 MB.
pub const QUEUE_LOOKED_THROUGH_MAX: usize = 10_000;

/// Threads for what blocks (the database, syncs, large parses, the system's resolver). The database writes one
/// transaction at a time; each thread costs 2 MB, and without a cap two hundred sites would begin with as many.
pub const BLOCKING_THREADS_MAX: usize = 10;

/// Bytes that a person types at a question.
pub const ANSWER_TYPED_BYTES_MAX: usize = 1_024;

/// Bytes of a file that holds a password.
pub const SECRET_BYTES_MAX: usize = 4_096;

/// A site of the service is reported after as many new torrents, ...
pub const MILESTONE_TORRENTS: u64 = 1_000;

/// ... or after this time, if anything was requested; ...
pub const MILESTONE_TIME: Duration = Duration::from_secs(3_600);

/// ... and all sites together after this.
pub const SUMMARY_TIME: Duration = Duration::from_secs(24 * 3_600);

/// Columns of a line for people.
pub const LINE_COLUMNS_MAX: u16 = 80;

/// Downloads from which on most of them ending alike is a fault of the site or the rules.
pub const ALIKE_DOWNLOADS_MIN: u64 = 10;

/// Reasons of pages that were not read whole that a summary shows.
pub const NOT_WHOLE_REASONS_SHOWN: usize = 3;

/// Bytes of a file of the alarms' state: half a thousand alarms that are over are half a megabyte, what is usual of two hundred sites twenty.
pub const ALARM_FILE_BYTES_MAX: u64 = 256 << 20;

/// Bytes of a saved page with its head.
pub const ALARM_PAGE_BYTES_MAX: u64 = (256 << 10) + 4_096;

/// Longest time for which the service waits at its start for commands that read its data folder.
pub const READERS_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(6 * 3_600);

/// Longest wait for an answer over the control socket. Each is a few thousand rows.
pub const ANSWER_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(15);

/// Lists of a schedule in one answer over HTTP: each has the expectation of every hour and its next rechecks, a kilobyte.
pub const SCHEDULE_LISTS_MAX: usize = 1_000;

/// Lists of a site on the page of all schedules, and how long what that page shows is kept: to reckon a day of 3,000 lists takes a while.
pub const TIMETABLE_LISTS_MAX: usize = 50;
pub const TIMETABLES_KEPT: Duration = Duration::from_secs(10);

/// How long `gleaner doctor` may take for the page of health (some of its checks may time out, and the others are shown), how long it may take to end
/// when it is killed, and bytes of its report.
pub const EXAMINED_TIME_MAX: Duration = Duration::from_secs(4 * DOCTOR_CHECK_TIME_MAX.as_secs());
pub const EXAMINED_KILL_TIME_MAX: Duration = Duration::from_secs(5);
pub const EXAMINED_BYTES_MAX: u64 = 1 << 20;

/// How long the end of the service waits for a watch folder that does not answer, such as one on a network.
pub const HANDOVER_STOP_TIME_MAX: Duration = Duration::from_secs(4);

/// Torrents that `gleaner handover` names.
pub const HANDOVER_LISTED_MAX: usize = 100;

/// Looks of `gleaner handover` at whether the index has what was stored meanwhile: four of them are a second.
pub const HANDOVER_LOOKS_MAX: u32 = 120;

/// Page cache of the database while `gleaner import` writes it, in bytes: an import reads nothing twice.
pub const IMPORT_CACHE_BYTES_MAX: usize = 12 << 20;

/// Between the first two times that a lasting fault of a site is told, and the longest time between any two.
pub const COMPLAINT_AFTER: Duration = Duration::from_secs(60);
pub const COMPLAINT_AFTER_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// Bytes of the file with the times of the last backups: a number and a path each, ...
pub const BACKUP_LAST_BYTES_MAX: u64 = 256 << 10;

/// ... and how many of them: who backs up to a new place each day has a month of them.
pub const BACKUP_PLACES_MAX: usize = 32;

/// How long a backup may stand still before its disk counts as one that does not answer: longer than the copy of a database waits.
pub const BACKUP_HANG_TIME_MAX: Duration = Duration::from_secs(20 * 60);

/// How long the end of the service waits for a backup that writes to a disk which does not answer.
pub const BACKUP_STOP_TIME_MAX: Duration = Duration::from_secs(4);

/// How long one check of `gleaner doctor` may take: forty start pages, one after the other.
pub const DOCTOR_CHECK_TIME_MAX: Duration = Duration::from_secs(180);

/// How long one site of several may take: one that does not answer hides nothing of the others.
pub const DOCTOR_SITE_TIME_MAX: Duration = Duration::from_secs(30);

/// Longest wait of `gleaner doctor` for one answer.
pub const DOCTOR_REQUEST_TIME_MAX: Duration = Duration::from_secs(15);

/// Sites that it looks at, and files of a folder.
pub const DOCTOR_SITES_MAX: usize = 200;
pub const DOCTOR_FILES_MAX: usize = 10_000;

/// Torrents whose files it reads, at random; with fewer torrents than this many, all.
pub const DOCTOR_SAMPLE_ROWS: usize = 64;
pub const DOCTOR_ROWS_MAX: usize = 256;

/// Free bytes and files of the data folder's disk below which it says so: a day of a fast crawl.
pub const DOCTOR_DISK_BYTES_MIN: u64 = 256 << 20;
pub const DOCTOR_INODES_MIN: u64 = 10_000;

/// By which the newest stored time may be ahead of the clock.
pub const DOCTOR_CLOCK_AHEAD_MAX: Duration = Duration::from_secs(120);

/// Half hours of each site that the service remembers for its pages: thirty days.
pub const HALF_HOURS_MAX: usize = 1_440;

/// Sites whose half hours it remembers.
pub const HALF_HOURS_SITES_MAX: usize = 1_000;

/// Exports with a name that a page shows.
pub const EXPORTS_SHOWN_MAX: usize = 100;

/// Seconds between two refreshes of `gleaner top`, at most.
pub const TOP_SECONDS_MAX: u64 = 3_600;
