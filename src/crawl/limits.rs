//! Every cap of this crate, with its unit and its reason. A queue, body, depth, loop or retry without a cap here has none,
//! which is a bug.

use std::time::Duration;

pub use gleaner_base::limits::{NOTE_BYTES_MAX, PAGE_BYTES_MAX, RETRY_AFTER_MAX, SITEMAP_BYTES_MAX, URL_BYTES_MAX};
pub use gleaner_frontier::limits::LEARNED_PARAMETERS_MAX;
pub use gleaner_login::limits::{LOGIN_BROKEN_OFF_WAIT, MESSAGE_BYTES_MAX, OPERATOR_POLL};
pub use gleaner_net::limits::{ATTEMPTS_MAX, ROBOTS_BYTES_MAX, SCRIPT_HEADERS_MAX, SNIFF_BYTES, VALIDATOR_BYTES_MAX};
pub use gleaner_page::limits::{
    BOARD_PAGES_MAX, LINKS_PER_PAGE_MAX, OUTLINK_BYTES_PER_PAGE_MAX, SHORTCUT_ANSWER_BYTES_MAX,
    SHORTCUT_OBSERVED_BYTES_MAX, SHORTCUT_TURNS_MAX,
};
pub use gleaner_render::limits::{
    INLINE_PAGE_BYTES_MAX, RENDER_BODY_BYTES_MAX, RENDER_EVENTS_SILENCE_TIME, RENDER_EVENTS_TIME,
    RENDER_NAVIGATIONS_MAX, RENDER_REQUESTS_AT_ONCE_MAX, RENDER_STORED_BYTES_MAX, RENDER_VIEW_HEIGHT, RENDER_WALL_TIME,
    SHORTCUT_EXCHANGES_MAX,
};
pub use gleaner_store::limits::{LIST_REPEATS, NOT_WHOLE_REASON_BYTES_MAX};
pub use gleaner_torrent::limits::{TORRENT_BYTES_MAX, TORRENT_JUNK_BYTES_MAX};

/// Bytes of a metainfo file that is parsed on the loop's own thread: half a millisecond, most of it SHA-1.
pub const INLINE_TORRENT_BYTES_MAX: usize = 256 << 10;

/// Large bodies that are parsed concurrently, over all sites: 8 MiB of links may become 32 MiB of URLs, and a sitemap may be
/// 50 MB when unpacked.
pub const PARSES_MAX: usize = 1;

/// Redirects followed for one robots.txt (RFC 9309 §2.3.1.2: at least five). Redirects of other URLs are frontier
/// rows like any link, and a redirect to the same URL counts as an attempt.
pub const ROBOTS_REDIRECTS_MAX: usize = 5;

/// Lists remembered to recognise repeated pages: for the lists read last, the pages read last (more than are in flight at a time) and their
/// targets, 8 bytes each. A page with more targets ends no list.
pub const REPEATS_LISTS_MAX: usize = 1_024;

/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_PAGES_MAX: usize = 8;

/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_TARGETS_MAX: usize = 400;

/// Attempts at one URL that is answered 429 or 503 each time while its host answers other requests, including the first attempt.
pub const THROTTLED_ATTEMPTS_MAX: u8 = 12;

/// Pauses in a row without a good response after which a one-shot crawl gives a host up for this run; with
/// doubling pauses that is half a minute of silence, or five minutes of refusals.
pub const HOST_COMPLAINTS_MAX: u32 = 5;

/// Promises watched on one site: two for each rule; about 1 KB each.
pub const PROMISES_MAX: usize = 256;

/// URLs kept that have kept a promise, to confirm an alarm by.
pub const PROMISE_URLS_MAX: usize = 8;

/// Pages of a rule's downloads that are none any more, which other rules read again. A note of this many has some 60 kB.
pub const PROMISE_PARENTS_MAX: usize = 1_000;

/// URLs kept that broke a promise when they were read last: a page that stays as it was goes on breaking it.
pub const PROMISE_FAILING_MAX: usize = 64;

/// Lists of which the rows of the last pages are compared, and pages of each; 16 bytes a page.
pub const PROMISE_LISTS_MAX: usize = 4_096;
pub const PROMISE_PAGES_MAX: usize = 4;

/// A rule of which fewer than three URLs broke their promise has to break it for so long.
pub const PROMISE_LONE_TIME: Duration = Duration::from_secs(6 * 3_600);

/// Consecutive alike refusals of URLs of one rule after which they are taken for the site's state.
pub const WALL_RUN: usize = 5;

/// The same for a rule none of whose URLs was answered yet.
pub const WALL_RUN_UNANSWERED: usize = 20;

/// The same for a rule that was answered, once nothing else is left to ask for.
pub const WALL_RUN_AT_END: usize = 2;

/// Redirected downloads of one rule that are remembered until it is known whether they lead on; about 150 bytes each.
pub const WALL_RUN_LED_OFF_MAX: usize = 100_000;

/// Refused probes after which a one-shot crawl leaves a wall to the next crawl.
pub const WALL_PROBES: u32 = 3;

/// Bytes of a page in place of a torrent that are read for its first words.
pub const NOTICE_BYTES_READ: usize = 16 << 10;

/// Characters of such a page that are reported.
pub const NOTICE_CHARACTERS: usize = 100;

/// Details that are told apart for one class and outcome.
pub const TALLY_DETAILS_MAX: usize = 8;

/// Redirected URLs of one run that are remembered, in case a gate leads back to them.
pub const GATES_MAX: usize = 100_000;

/// URLs remembered of those that wait unasked in front of one rule's wall.
pub const WALL_WAITING_MAX: usize = 64;

/// Signs of walls remembered for one rule, and of redirects that lead on for one site.
pub const WALL_SIGNS_MAX: usize = 8;

/// Origins of one site: a site that makes a host name for each link is a trap.
pub const ORIGINS_PER_SITE_MAX: usize = 1_000;

/// Visits in one durable commit.
pub const COMMIT_VISITS_MAX: usize = 1_024;

/// Bytes of torrents and links held in memory while they wait for a commit; one visit may pass it alone.
pub const COMMIT_BYTES_MAX: usize = 16 << 20;

/// The commit window: how long a finished visit may wait until its durable commit begins, unless the previous commit is
/// still being written.
pub const COMMIT_WINDOW: Duration = Duration::from_millis(200);

/// URLs leased from one host's queue at a time.
pub const LEASE_URLS_MAX: usize = 512;

/// The same for each lane, and at least. Few, as an idle lane asks for what it has, while better URLs may have been found for others.
pub const LEASE_URLS_A_LANE: usize = 2;
pub const LEASE_URLS_MIN: usize = 16;

/// The same for each visit at once to a host that is asked without pauses: what it serves in some hundredths of a second.
pub const LEASE_URLS_A_CONNECTION: usize = 16;

/// A commit is begun when the lanes of a host may run dry within this time, by its rate: it takes about as long.
pub const COMMIT_AHEAD: Duration = Duration::from_millis(30);

/// Duration of a lease, after which another worker may take the URL.
pub const LEASE_TIME: Duration = Duration::from_secs(600);

/// Time that requests in flight have to finish after SIGTERM, and again their commit; what is not finished by then is repeated
/// at the next start. Twice this and the rest of the shutdown stay below ten seconds.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(4);

/// The same for a login whose form was sent: slow servers take some seconds to answer it, and a correct password must not be
/// held back because nobody waited for the answer. `TimeoutStopSec` of the unit is longer.
pub const LOGIN_DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Domains and addresses whose rate is kept in memory; beyond it the resting ones are dropped. 4,096 sites have fewer.
pub const LOADS_MAX: usize = 65_536;

/// Difference in milliseconds from the monotonic clock above which the wall clock counts as set: more than a slew, less than any
/// pause that matters.
pub const CLOCK_SET_MS_MIN: u64 = 2_000;

/// Sitemaps of one site that are taken from sitemap indexes: at 50,000 URLs each, the maximum of sitemaps.org, five
/// million URLs.
pub const SITEMAPS_PER_SITE_MAX: usize = 100;

/// Minimum time before a host is looked up again for its rate; the resolver's cache obeys the TTL itself.
pub const LOCATED_FOR_MIN: Duration = Duration::from_secs(60);

/// Longest pause of a host that a one-shot crawl waits for; the service waits for any.
pub const PAUSE_WAITED_FOR_MAX: Duration = Duration::from_secs(3_600);

/// Hashes of links, of files and of magnets that one site remembers as seen, each, before the older half is dropped:
/// 3 MB in all.
pub const RECENT_LINKS_MAX: usize = 65_536;

/// URLs of one site whose ranks are remembered, at 16 bytes; then all are forgotten.
pub const RANKS_REMEMBERED_MAX: usize = 8_192;

/// Links of one page that are counted as unclassed.
pub const UNCLASSED_LINKS_PER_PAGE_MAX: usize = 200;

/// Bytes of the name of a host (RFC 1035 §2.3.4): longer ones lead nowhere.
pub const OFFSITE_HOST_BYTES_MAX: usize = 253;

/// Links of one page that are counted as leading off the site.
pub const OFFSITE_LINKS_PER_PAGE_MAX: usize = 200;

/// Such links whose place in the page is not found, after which their texts are no longer searched for: each search may read the page.
pub const OFFSITE_TEXTS_MISSED_MAX: usize = 4;

/// Bytes of a page that are read behind such a link for its text and what is beside it.
pub const OFFSITE_TEXT_BYTES_MAX: usize = 300;

/// Links of one page that are counted as acting in the account's name.
pub const ACTING_LINKS_PER_PAGE_MAX: usize = 1_000;

/// Tokens of a session that one page shows: real ones show one or two.
pub const TOKENS_PER_PAGE_MAX: usize = 64;

/// Maximum depth at which an empty list is rechecked; deeper ones may be the days of a calendar.
pub const EMPTY_LIST_DEPTH_MAX: u16 = 2;

/// Rows of a host that are read to check whether only planned rechecks are left; if there are more, this is assumed.
pub const PLANNED_LOOKS_READ: usize = 256;

/// Starved shapes of one site whose last pages are compared: each keeps eight sketches of 0.5 kB.
pub const SUSPECT_SHAPES_MAX: usize = 256;

/// A clock that was set back by less than this changes no plan: waiting work is delayed by as much.
pub const CLOCK_SET_BACK_MIN: Duration = Duration::from_secs(60);

/// Factor by which the next attempt is delayed for a URL that a mirror lacks: ¼, 1 and 4 minutes.
pub const MIRROR_PATIENCE: u32 = 15;

/// Events of one board that are kept to learn the minutes of the day at which it posts: four a day for a fortnight.
pub const HABIT_POSTS_MAX: usize = 64;

/// Numbers of posts that a site's schedule keeps, and boards whose posts are distinguished by them: each recheck reads them for all.
pub const NUMBERS_SEEN_MAX: usize = 4_096;

pub const NUMBERED_BOARDS_MAX: usize = 200;

/// Time bins of one site's delays: a year of them is two days each, and each holds some ten counts.
pub const DELAY_BINS_MAX: usize = 240;

/// Bytes of a page's text that are searched for phrases of deleted content: messages are near the top.
pub const GONE_TEXT_BYTES_MAX: usize = 16 << 10;

/// Time between two rechecks that must agree that something is gone: longer than the maintenance of a forum.
pub const GONE_CONFIRM_TIME: Duration = Duration::from_secs(3 * 3_600);

/// Rows of one list that are followed from recheck to recheck, and missing rows that are kept until they are decided.
pub const GONE_ROWS_MAX: usize = 2_000;

pub const GONE_MISSED_ROWS_MAX: usize = 200;

/// Bytes of a thread's visible text that may be a deletion notice: longer texts are discussions of one.
pub const GONE_THREAD_TEXT_BYTES_MAX: usize = 4 << 10;

/// Torrents' pages without a torrent that are compared with each other, and the latest deletions, as `status` lists them.
pub const GONE_STRANGERS_MAX: usize = 4;

pub const GONE_TOLD_MAX: usize = 100;

/// Rows whose pages are requested since they vanished: 100 bytes each.
pub const GONE_UNLISTED_MAX: usize = 5_000;

/// Lists of one site that are followed for vanishing rows, and the total of their rows: 300 bytes each, in one note.
pub const LISTS_FOLLOWED_MAX: usize = 1_000;

pub const LISTS_ROWS_MAX: usize = 8_000;

/// Bytes that they may take in that note, and bytes that a row takes in it besides its address.
pub const LISTS_BYTES_MAX: usize = 3_500_000;

pub const LISTS_ROW_BYTES: usize = 212;

/// Shortest interval of rechecks of a list that the site's own rate brings about; a rule file may set a shorter one.
pub const LOOK_INTERVAL_MIN: Duration = Duration::from_secs(600);

/// Span of time from which on the entries of a list tell a rate.
pub const RATE_SPAN_MIN: Duration = Duration::from_secs(3_600);

/// Pages of rows that stay on their list are revisited in turn, at most one per recheck, to find content that was removed from the page
/// while its row stayed: the time since the last visit of each, and the rows that are looked up in the database to find one.
pub const ROW_RECHECKED_AFTER: Duration = Duration::from_secs(86_400);

pub const ROWS_IN_TURN_MAX: usize = 8;

/// A list without a recheck for this time is no longer rechecked: the longest time between two rechecks is half of it. At the maximum
/// number of lists, it is dropped for a new one; other lists are not, since lists in rotation would then never find their own state.
pub const LIST_FORGOTTEN_TIME: Duration = Duration::from_secs(60 * 86_400);

/// How often such a list is searched for: each search reads all lists that are kept, and a large site has lists without a place all day.
pub const LIST_ROOM_SOUGHT_EVERY: Duration = Duration::from_secs(3_600);

/// Rows of one page of a list that a recheck asks the database for: a directory of 10⁵ files would take seconds.
pub const LOOK_ROWS_MAX: usize = 2_000;

/// Torrents of one site that were seen on a list and are not stored yet: 120 bytes each.
pub const ARRIVALS_AWAITED_MAX: usize = 10_000;

/// How long a listed torrent is waited for: what has not arrived by then has no delay.
pub const ARRIVAL_AWAITED_TIME: Duration = Duration::from_secs(60 * 86_400);

/// Lists of one site whose state is kept: 500 bytes each.
pub const BOARDS_KEPT_MAX: usize = 3_000;

/// Threads of one site for which the state of their board at their last reading is kept: 250 bytes each. For others the database
/// knows when they were read.
pub const BOARD_THREADS_MAX: usize = 6_000;

/// How long a page of a thread with new posts may take to arrive before it is requested again, doubled each time: the crawl's own retries
/// end within minutes, a server's trouble lasts longer; and the number of such requests, over three days in all.
pub const REREAD_PATIENCE: Duration = Duration::from_secs(600);

pub const REREAD_TRIES_MAX: u32 = 8;

/// Pages of threads of one site that are known to be queued, 150 bytes each, and those that one recheck asks the database for.
pub const REREADS_KEPT_MAX: usize = 2_000;

pub const REREADS_AT_ONCE_MAX: usize = 50;

/// Rechecks of one site's lists that are in progress from page to page.
pub const BOARD_WALKS_MAX: usize = 1_000;

/// Bytes of a list's page that is parsed into a tree: it takes about twenty times that in memory. The largest lists seen have
/// 1 MB; longer ones are read by their links.
pub const BOARD_PAGE_BYTES_MAX: usize = 1 << 20;

/// Lists of one site in its schedule: 1 kB each in its note. Others are rechecked at their interval.
pub const SCHEDULE_LISTS_MAX: usize = 3_000;

/// Up to this number of awaited rows, 100 bytes each, they are written every half minute; above it, as rarely as the rest of the recheck
/// state.
pub const ARRIVALS_NOTED_OFTEN_MAX: usize = 1_000;

/// Waiting URLs of one host that are searched for lists outside the schedule: 100 bytes each during the search.
pub const PLANNED_LISTS_READ: usize = 20_000;

/// How often a site retries to get a connection or a request slot that another site holds.
pub const CONNECTION_POLL: Duration = Duration::from_millis(50);

/// How long a due list is waited for before the next one has its turn: a host may pause, and a list may be gone.
pub const SCHEDULE_PATIENCE: Duration = Duration::from_secs(600);

/// How often the plans of a day are recomputed if times are planned.
pub const SCHEDULE_PLANNED_EVERY: Duration = Duration::from_secs(6 * 3_600);

/// URLs that the increment leases from the update crawldb at once for one host: few, so that newer ones can overtake the rest.
pub const INCREMENT_LEASE_URLS_MAX: usize = 32;

/// Rechecks that are leased at once.
pub const LOOKS_LEASED_MAX: usize = 64;

/// Start pages, and other rechecked pages that are no lists, whose last content is kept for comparison: up to 40 kB each.
pub const FRONTS_COMPARED_MAX: usize = 1_000;

/// Times of planned rechecks that are kept for a host, 8 bytes each; the next round finds later ones.
pub const LOOK_TIMES_MAX: usize = 4_096;

/// Watched pages that are counted: 8 bytes each. On a site with more, some rechecks count as remaining history.
pub const WATCHED_COUNTED_MAX: usize = 1 << 20;

/// How often the crews' shares are recomputed: a count in memory, requested on another thread.
pub const CREWS_RECKONED_EVERY: Duration = Duration::from_secs(5);

/// Pages of one site's lists that wait to be read again: some 150 bytes each, rewritten with each change. Pages are read in
/// order as far as a site's own links allow, so that few need it.
pub const LIST_PAGES_AGAIN_MAX: usize = 2_000;

/// Lists of one site whose last pages are kept to be compared with the next. With more of them, what is kept is compared at once.
pub const LISTS_COMPARED_MAX: usize = 500;

/// Pages of each: so many may be read out of order, by several connections.
pub const LIST_PAGES_COMPARED_MAX: usize = 8;

/// Rows of a page that is compared, 8 bytes each; a page with more is no page of a list.
pub const COMPARED_ROWS_MAX: usize = 500;

/// Passes over the pages of a list that share rows.
pub const LIST_PASSES_MAX: u8 = 8;

/// URLs of one site that a run requests because their ids are missing among the rows of lists.
pub const ID_GAPS_MAX: usize = 32;

/// Pages of lists that one run knows as read before their visits are on disk: 8 bytes each. The database knows
/// the others.
pub const LIST_PAGES_MARKED_MAX: usize = 1 << 20;

/// Redirects followed after the pages and the form of a login: guards for cookies, language and session add one each.
pub const LOGIN_HOPS_MAX: usize = 8;

/// Links to login pages that are tried until one has a form.
pub const LOGIN_LINKS_MAX: usize = 3;

/// Answers that seem to be a guest's and wait for a proof of the session; this number of them triggers a proof at once.
pub const DENIALS_HELD_MAX: usize = 16;

/// A proven session is not doubted for this long, unless by `DENIALS_HELD_MAX` answers.
pub const SESSION_TRUST_TIME: Duration = Duration::from_secs(30);

/// A session that ends within `SHORT_SESSION_TIME` and before this number of answers was a short one; after `SHORT_SESSIONS_MAX` short ones
/// in a row the site is left alone for `SHORT_SESSION_WAIT`.
pub const SESSION_ANSWERS_MIN: u64 = 10;

pub const SHORT_SESSIONS_MAX: u32 = 3;

pub const SHORT_SESSION_TIME: Duration = Duration::from_secs(600);

pub const SHORT_SESSION_WAIT: Duration = Duration::from_secs(3_600);

/// Answers to a member since a login up to which URLs that may have ended the previous session are requested one at a time.
pub const SUSPECTS_ANSWERS_MAX: u64 = 64;

/// Ends of sessions, each while this URL was requested alone and without an answer in between, after which it counts as the cause
/// although other sessions have ended elsewhere since: the site then has another such URL.
pub const ENDINGS_OF_ONE_MAX: u8 = 5;

/// URLs whose part in the ends of sessions is counted, and those that are closed as causes: a site has one or two.
pub const ENDINGS_COUNTED_MAX: usize = 256;

pub const ENDINGS_CLOSED_MAX: usize = 64;

/// Longest pause for lack of a session that a one-shot crawl waits for.
pub const SESSION_PATIENCE: Duration = Duration::from_secs(120);

/// Pause after an account's file could not be read or written.
pub const KEEPER_RETRY: Duration = Duration::from_secs(600);

/// Bytes of text of a page that contains only an error message of the site: a sentence or two.
pub const TROUBLE_BYTES_MAX: usize = 500;

/// Minimum time between two requests of a login, if the site's rate demands no longer one: phpBB refuses a form that is sent back
/// in the second in which it was served.
pub const LOGIN_PAUSE: Duration = Duration::from_secs(2);

/// Frames of one page that are searched for a login form: one contains it, the others are advertisements.
pub const LOGIN_FRAMES_MAX: usize = 3;

/// Addresses of one page that are compared with each other during the search for its login.
pub const LOGIN_ADDRESSES_MAX: usize = 64;

/// Pages of one login whose scripts are run: the one with the form, those that were searched for it, and the one that proves the
/// session. Each costs seconds, and the requests of its scripts.
pub const LOGIN_RENDERED_MAX: u32 = 5;

/// How often one login form is sent: a second time only if the site demands a CAPTCHA and a person reads it.
pub const LOGIN_SENDS_MAX: usize = 2;

/// POSTs of a page's scripts without a password that are sent before the one that logs in: counters, queries about the user.
pub const LOGIN_POSTS_BESIDE_MAX: usize = 3;

/// Bytes of pages, scripts and responses of a login page that are kept to recognise what its scripts post: bundles have one or two million.
pub const LOGIN_SENT_BYTES_MAX: usize = 8 << 20;

/// Bytes of the picture of a CAPTCHA: real ones have 2 to 30 kB.
pub const CAPTCHA_BYTES_MAX: usize = 1 << 20;

/// Pages of a site that the next crawl begins with, as this one has not read them completely.
pub const RENDER_AGAIN_MAX: usize = 64;

/// Trials of a page whose data requests were refused, if no page like it has ever shown any data.
pub const RENDER_REFUSED_TRIALS: u8 = 2;

pub const RENDER_STORED_ORIGINS_MAX: usize = 16;

/// Bytes of a script's error that summary and status print.
pub const SCRIPT_ERROR_TOLD_BYTES_MAX: usize = 300;

/// Time from a page's first request in which it may send more: after it there is time to read what it shows.
pub const RENDER_ASKING_TIME: Duration = Duration::from_secs(240);

/// What a page can do without, such as style sheets: the wait until such a request may be sent, and the time of the request.
pub const RENDER_DECORATION_GATE_TIME: Duration = Duration::from_secs(5);

pub const RENDER_DECORATION_TIME: Duration = Duration::from_secs(10);

/// Pause of a page for which no render process could be started: the table of processes or files is full, or memory is short.
pub const RENDER_NO_PROCESS_PAUSE: Duration = Duration::from_secs(60);

/// Bytes of larger answers to the scripts of one page that are read, or wait for its child to take them: two of the largest.
pub const RENDER_ANSWERS_BYTES_MAX: usize = 16 << 20;

pub const SCRIPT_REDIRECTS_MAX: usize = 10;

pub const SCRIPTS_KEPT_BYTES_MAX: usize = 16 << 20;

/// How long a script without freshness headers counts as unchanged.
pub const SCRIPTS_KEPT_FOR: Duration = Duration::from_secs(600);

/// Pages of a shape that are rendered to learn whether that yields links; after that one in this many, if it did not. Pages without a
/// link of their class are tried more often at first.
pub const RENDER_TRIALS: u32 = 3;

pub const RENDER_SAMPLED_OF: u32 = 100;

/// The same for pages that have links of their class, once that has yielded nothing for long. With 800, a crawl of 15,200 static pages
/// rendered 36; without any it took 6 and 19 % less processor time.
pub const RENDER_FULL_SAMPLED_OF: u32 = 3_200;

pub const RENDER_BARE_SAMPLED_OF: u32 = 10;

/// Distinct shapes of a site's pages that are remembered.
pub const RENDER_SHAPES_MAX: usize = 64;

/// Links of its class up to which a page has few.
pub const RENDER_FEW_LINKS: usize = 2;

/// Pages of a shape that have each ended two render processes before such pages count as the cause.
pub const RENDER_DEATHS_MAX: u32 = 3;

/// Bytes of a page's own markup that are searched for tokens.
pub const SHORTCUT_MARKUP_BYTES_MAX: usize = 512 << 10;

pub const SHORTCUT_KINDS_UNREAD_MAX: usize = 16;

/// Bytes of a parameter's value up to which a report shows it even if it has digits: longer ones may be tokens.
pub const SHOWN_VALUE_BYTES_MAX: usize = 7;

/// URLs of which a site's crawl remembers whose list's label they have: 40 bytes each. Beyond, it begins anew.
pub const LABELLED_URLS_MAX: usize = 200_000;

/// Numbers that one run asks a site for in vain or not, whatever the operator says: the sample of a million needs a thousand.
pub const GUESSES_MAX: u64 = 10_000;

/// Guesses in a row without an answer after which the others are not asked for: the site does not want them.
pub const GUESSES_UNANSWERED_MAX: u32 = 5;

/// Of one site, for those who look after it: looks at lists that were not taken yet (80 bytes each), hosts that pause, lists whose most rows are
/// known, and bytes of a list page that showed too little.
pub const WATCHED_LOOKS_MAX: usize = 256;
pub const WATCHED_HOSTS_MAX: usize = 16;
pub const WATCHED_LISTS_MAX: usize = 1_024;
pub const WATCHED_PAGE_BYTES_MAX: usize = 256 << 10;

/// Looks at lists that are remembered of one site, 80 bytes each: a day's of the busiest.
pub const LOOKS_REMEMBERED_MAX: usize = 1_024;

/// Refused links that are kept of one site, and those of a page: each of another rule.
pub const REFUSED_KEPT_MAX: usize = 200;
pub const REFUSED_PER_PAGE_MAX: usize = 8;

/// How long a list's label counts before another's that it does not show again: boards with news are read more often.
pub const LABELLED_TIME: Duration = Duration::from_secs(2 * 24 * 60 * 60);
