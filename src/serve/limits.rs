//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

use std::time::Duration;

pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Connections at once: for the next one, that is let go which has waited longest for a request.
pub const CONNECTIONS_MAX: usize = 1_024;

/// Connections that wait to be accepted; the system has a cap of its own (net.core.somaxconn, 4,096). Of those beyond, the client's system sends anew after seconds that
/// double, until it gives up: with the usual 128 a flood of connections kept others out for minutes.
pub const BACKLOG: u32 = 4_096;

/// Time for the head of a request: slow ones hold a connection.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(10);

/// Time for one answer to be made.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// Time without progress after which a client that does not take its answer is let go.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(30);

/// Searches at once; the next ones wait.
pub const SEARCHES_AT_ONCE: usize = 4;

/// Feeds whose last change is remembered; beyond, all begin anew.
pub const FEEDS_MAX: usize = 1_024;

/// Bytes of the head of a request, and of a query.
pub const HEAD_BYTES_MAX: usize = 32 << 10;

/// Items of one page of Torznab, of a feed and of the JSON lists: autobrr asks for as many as it may on every poll.
pub const PAGE_MAX: usize = 200;

/// Items of one page unless asked otherwise.
pub const PAGE: usize = 100;

/// Items behind which no page begins.
pub const OFFSET_MAX: usize = 100_000;

/// How many seconds' requests of one client may come at once: a client that polls ten indexers every minute stays far below.
pub const BURST_SECONDS: f64 = 12.0;

/// Clients whose requests are counted; the one that was silent longest is forgotten.
pub const CLIENTS_MAX: usize = 1_024;

/// Tokens of one installation.
pub const TOKENS_MAX: usize = 1_000;

/// Revoked tokens that are remembered as such.
pub const REVOKED_MAX: usize = 1_000;

/// How long a session of a browser lasts.
pub const SESSION_TIME: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Sessions that were ended by hand and are remembered, until the process ends; beyond, all are forgotten.
pub const SESSIONS_ENDED_MAX: usize = 10_000;

/// Tokens that one address may show to `/session` in a minute.
pub const TRIES_PER_MINUTE: u32 = 5;

/// Bytes of the name of a token.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;

/// Time between two notes of when tokens were used last.
pub const USED_NOTE_EACH: Duration = Duration::from_secs(60);

/// Files of a torrent that are listed in one answer.
pub const FILES_LISTED_MAX: usize = 10_000;

/// Labels of a site that its capabilities list as categories: clients show them in a menu.
pub const LABELS_TOLD_MAX: usize = 500;

/// Bytes of an answer as JSON: ten thousand files with long paths stay below.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Lists of a site in one answer, unless asked otherwise and at most: sites have some thousand.
pub const LISTS: usize = 1_000;
pub const LISTS_MAX: usize = 10_000;

/// Lines of the log in one answer.
pub const LOG_PAGE_MAX: usize = 1_000;

/// How old a coverage may be: to reckon one of a million URLs takes seconds.
pub const COVERAGE_KEPT: Duration = Duration::from_secs(60);

/// Sites whose coverage is kept; beyond, all are reckoned anew.
pub const COVERAGES_KEPT_MAX: usize = 256;

/// Clients that listen to events at once: each holds a connection.
pub const EVENT_STREAMS_MAX: usize = 64;

/// Events of a kind that are made ready at once; the next ones wait until these are taken.
pub const EVENTS_AT_ONCE: usize = 100;

/// Whoever resumes a stream of events is told of alarms that were over within this time: it may have missed that.
pub const ALARMS_OVER_TOLD: Duration = Duration::from_secs(3_600);

/// Minutes of a pause that ends by itself: a year.
pub const PAUSE_MINUTES_MAX: u32 = 525_600;

/// Bytes of the body of a request.
pub const BODY_BYTES_MAX: usize = 16 << 10;

/// Between two looks for events.
pub const EVENT_LOOK: Duration = Duration::from_secs(1);

/// Bytes of a form: a rule file is one, with each of its bytes encoded in three.
pub const FORM_BYTES_MAX: usize = 4 << 20;

/// What was done is kept for the page that is shown next: so many messages, for so long.
pub const TOLD_MAX: usize = 64;
pub const TOLD_TIME: Duration = Duration::from_secs(60);

/// How old the report on the sites is that a page shows: fifty open pages cost no more than one.
pub const STATUS_KEPT: Duration = Duration::from_secs(2);

/// Torrents of a page for people.
pub const TORRENTS_SHOWN: usize = 50;

/// Bytes of metainfo files that one page of a search reads to show which of their files fit.
pub const SNIPPET_BYTES_MAX: u64 = 8 << 20;

/// Values of a facet that a page shows.
pub const FACET_SHOWN: usize = 12;

/// Files of a torrent that a page shows at once.
pub const FILES_SHOWN: usize = 500;

/// Folders within folders that the tree of a torrent's files shows; deeper ones are one line.
pub const TREE_DEPTH_MAX: usize = 12;

/// Lines of the log on a page.
pub const LOG_SHOWN: usize = 200;

/// Lists of a site, and URLs of each other table of it, on its page.
pub const LISTS_SHOWN: usize = 50;
pub const ROWS_SHOWN: usize = 20;

/// Looks of the next day that the timeline of a site counts: those of one pixel are one tick.
pub const LOOKS_SHOWN: usize = 4_000;

/// Findings of a check that the page of the machine's health lists; the command lists all.
pub const FINDINGS_SHOWN: usize = 10;

/// How old the counts beside everything may be: a million torrents are counted.
pub const COUNTS_KEPT: Duration = Duration::from_secs(30);

/// Past looks whose finds it tells.
pub const PAST_LOOKS_SHOWN: usize = 20;

/// Bytes of a URL that is tried.
pub const TRIED_URL_BYTES_MAX: usize = 4_096;

/// Bytes of a saved page that are shown.
pub const SAVED_PAGE_SHOWN: usize = 256 << 10;

/// How long a page is sent as it was made, to whoever it was made for: open pages refresh together.
pub const PAGE_KEPT: Duration = Duration::from_secs(1);

/// Pages that are kept so long, packed; beyond, all are made anew.
pub const PAGES_KEPT_MAX: usize = 64;
