//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

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
    INLINE_PAGE_BYTES_MAX, RENDER_BODY_BYTES_MAX, RENDER_NAVIGATIONS_MAX, RENDER_REQUESTS_AT_ONCE_MAX,
    RENDER_STORED_BYTES_MAX, RENDER_VIEW_HEIGHT, RENDER_WALL_TIME, SHORTCUT_EXCHANGES_MAX,
};
pub use gleaner_store::limits::{LIST_REPEATS, NOT_WHOLE_REASON_BYTES_MAX};
pub use gleaner_torrent::limits::{TORRENT_BYTES_MAX, TORRENT_JUNK_BYTES_MAX};

/// Bytes of a metainfo file that is read on the loop's own thread: half a millisecond, most of it SHA-1.
pub const INLINE_TORRENT_BYTES_MAX: usize = 256 << 10;

/// Large bodies that are parsed at a time, over all sites: 8 MiB of links may become 32 MiB of URLs, and a sitemap may be
/// 50 MB once it is unpacked.
pub const PARSES_MAX: usize = 1;

/// Redirects followed for one robots.txt (RFC 9309 §2.3.1.2: at least five). Redirects of other URLs are frontier
/// rows like any link, and a redirect to the same URL counts as an attempt.
pub const ROBOTS_REDIRECTS_MAX: usize = 5;

/// What is remembered to tell such pages: of the lists read last the pages read last, more than are under way at a time, and their targets, 8
/// bytes each. A page with more targets ends no list.
pub const REPEATS_LISTS_MAX: usize = 1_024;

/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_PAGES_MAX: usize = 8;

/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_TARGETS_MAX: usize = 400;

/// Attempts at one URL that is answered 429 or 503 each time while its host answers others, the first one included.
pub const THROTTLED_ATTEMPTS_MAX: u8 = 12;

/// Pauses in a row without a good answer after which a crawl that is to end gives a host up for this run; with
/// doubling pauses that is half a minute of silence, or five minutes of refusals.
pub const HOST_COMPLAINTS_MAX: u32 = 5;

/// Origins of one site: a site that makes a host name for each link is a trap.
pub const ORIGINS_PER_SITE_MAX: usize = 1_000;

/// Visits in one durable commit.
pub const COMMIT_VISITS_MAX: usize = 1_024;

/// Bytes of torrents and links held in memory while they wait for a commit; one visit may pass it alone.
pub const COMMIT_BYTES_MAX: usize = 16 << 20;

/// The commit window: how long a finished visit may wait until its durable commit begins, unless the one before it is
/// still being written.
pub const COMMIT_WINDOW: Duration = Duration::from_millis(200);

/// URLs leased from one host's queue at a time.
pub const LEASE_URLS_MAX: usize = 512;

/// Time a lease lasts before another worker may take the URL.
pub const LEASE_TIME: Duration = Duration::from_secs(600);

/// Time that requests under way get to end after SIGTERM, and again their commit; what is not done by then is done
/// again at the next start. Twice this and the rest of the shutdown stay below ten seconds.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(4);

/// The same for a login whose form has left: servers that are slow to answer take some seconds for it, and a right password is not to be
/// held because nobody has waited. `TimeoutStopSec` of the unit is longer.
pub const LOGIN_DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Domains and addresses whose rate is kept in memory; beyond it those that rest are forgotten. 4,096 sites have fewer.
pub const LOADS_MAX: usize = 65_536;

/// Milliseconds by which the clock must differ from the steady one to be taken as set: more than a slew, less than any
/// pause that matters.
pub const CLOCK_SET_MS_MIN: u64 = 2_000;

/// Sitemaps of one site that are taken from sitemap indexes: with 50,000 URLs each, what sitemaps.org allows, five
/// million URLs.
pub const SITEMAPS_PER_SITE_MAX: usize = 100;

/// Least time after which a host is looked up again for its rate; the resolver's cache keeps to the TTL itself.
pub const LOCATED_FOR_MIN: Duration = Duration::from_secs(60);

/// Longest pause of a host that a crawl which is to end waits for; the service waits for any.
pub const PAUSE_WAITED_FOR_MAX: Duration = Duration::from_secs(3_600);

/// Hashes of links, of files and of magnets that one site remembers as met, each, before the older half is forgotten:
/// 3 MB in all.
pub const RECENT_LINKS_MAX: usize = 65_536;

/// Links of one page that are counted among them.
pub const UNCLASSED_LINKS_PER_PAGE_MAX: usize = 200;

/// An empty list is looked at again up to this depth; deeper ones may be the days of a calendar.
pub const EMPTY_LIST_DEPTH_MAX: u16 = 2;

/// Rows of a host that are read to see whether only planned looks are left; more of them are taken for such.
pub const PLANNED_LOOKS_READ: usize = 256;

/// Starved shapes of one site whose last pages are compared: each keeps eight sketches of 0.5 kB.
pub const SUSPECT_SHAPES_MAX: usize = 256;

/// A clock that was set back by less changes no plan: what waits comes later by as much.
pub const CLOCK_SET_BACK_MIN: Duration = Duration::from_secs(60);

/// How much longer than elsewhere a URL waits for its next attempt that a mirror does not have: ¼, 1 and 4 minutes.
pub const MIRROR_PATIENCE: u32 = 15;

/// Events of one board that are kept to learn by which minutes of the day it posts: four a day for a fortnight.
pub const HABIT_POSTS_MAX: usize = 64;

/// Numbers of posts that a site's schedule keeps, and boards whose posts are told from each other by them: each look reads them for all.
pub const NUMBERS_SEEN_MAX: usize = 4_096;

pub const NUMBERED_BOARDS_MAX: usize = 200;

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

/// How often a site asks again for a connection or a request's place that another site holds.
pub const CONNECTION_POLL: Duration = Duration::from_millis(50);

/// How long a list that is due is waited for before the next one has its turn: a host may pause, and a list may be gone.
pub const SCHEDULE_PATIENCE: Duration = Duration::from_secs(600);

/// How often the plans of a day are made anew where the times are planned.
pub const SCHEDULE_PLANNED_EVERY: Duration = Duration::from_secs(6 * 3_600);

/// URLs that the increment takes from the update crawldb at once for one host: few, so that what is found next goes before them.
pub const INCREMENT_LEASE_URLS_MAX: usize = 32;

/// Looks that are leased at once.
pub const LOOKS_LEASED_MAX: usize = 64;

/// Start pages, and others that are looked at and are no lists, whose last looks are kept to compare with: up to 40 kB each.
pub const FRONTS_COMPARED_MAX: usize = 1_000;

/// Times of planned looks that are kept for a host, 8 bytes each; later ones are found by the round after them.
pub const LOOK_TIMES_MAX: usize = 4_096;

/// Watched pages that are counted: 8 bytes each. Of a site with more, some looks count as history that is left.
pub const WATCHED_COUNTED_MAX: usize = 1 << 20;

/// How often the crews' shares are reckoned anew: a count in memory, asked for on another thread.
pub const CREWS_RECKONED_EVERY: Duration = Duration::from_secs(5);

/// Pages of one site's lists that wait to be read again: some 150 bytes each, written anew with each of them. Pages are read in their
/// order as far as a site's own links allow; those that are not are few.
pub const LIST_PAGES_AGAIN_MAX: usize = 2_000;

/// Pages of lists of which one run knows that they were read before their visits are on the disk: 8 bytes each. The database knows of
/// the others.
pub const LIST_PAGES_MARKED_MAX: usize = 1 << 20;

/// Hops of redirects behind the pages and the form of a login: guards of cookies, language and session add one each.
pub const LOGIN_HOPS_MAX: usize = 8;

/// Links to login pages that are tried until one has a form.
pub const LOGIN_LINKS_MAX: usize = 3;

/// Answers that seem to be a guest's and wait for a proof of the session; as many ask for one at once.
pub const DENIALS_HELD_MAX: usize = 16;

/// A session that was proven is not doubted for this long, unless by `DENIALS_HELD_MAX` answers.
pub const SESSION_TRUST_TIME: Duration = Duration::from_secs(30);

/// A session that ends within this time, and does not last for as many answers, was a short one; so many short ones in a row, and the site is left
/// alone for `SHORT_SESSION_WAIT`.
pub const SESSION_ANSWERS_MIN: u64 = 10;

pub const SHORT_SESSIONS_MAX: u32 = 3;

pub const SHORT_SESSION_TIME: Duration = Duration::from_secs(600);

pub const SHORT_SESSION_WAIT: Duration = Duration::from_secs(3_600);

/// Answers to a member since a login up to which URLs that may have ended the session before are asked one at a time.
pub const SUSPECTS_ANSWERS_MAX: u64 = 64;

/// Ends of sessions, asked alone and never answered in between, by which a URL ends sessions though some have ended elsewhere since: a site
/// has another such URL then.
pub const ENDINGS_OF_ONE_MAX: u8 = 5;

/// URLs whose part in the ends of sessions is counted, and those that are closed for it: a site has one or two.
pub const ENDINGS_COUNTED_MAX: usize = 256;

pub const ENDINGS_CLOSED_MAX: usize = 64;

/// Longest pause for want of a session that a crawl which is to end waits for.
pub const SESSION_PATIENCE: Duration = Duration::from_secs(120);

/// Wait for a file of an account that cannot be read or written.
pub const KEEPER_RETRY: Duration = Duration::from_secs(600);

/// Bytes of text of a page on which a site tells nothing but its trouble: a sentence or two.
pub const TROUBLE_BYTES_MAX: usize = 500;

/// Time between two requests of a login, where the site's rate asks for no longer one: phpBB refuses a form that comes back
/// in the second in which it was served.
pub const LOGIN_PAUSE: Duration = Duration::from_secs(2);

/// Frames of one page that are tried for a login form: one holds it, the others are advertisements.
pub const LOGIN_FRAMES_MAX: usize = 3;

/// Addresses of one page that are held against each other while its login is looked for.
pub const LOGIN_ADDRESSES_MAX: usize = 64;

/// Pages of one login whose scripts are run: the one with the form, those that were looked through for it, and the one that proves the
/// session. Each costs seconds, and the requests of its scripts.
pub const LOGIN_RENDERED_MAX: u32 = 5;

/// Times that one login form is sent: again only where the site wants a CAPTCHA and a person reads it.
pub const LOGIN_SENDS_MAX: usize = 2;

/// POSTs of a page's scripts that carry no password and leave in front of the one that logs in: counters, questions about the user.
pub const LOGIN_POSTS_BESIDE_MAX: usize = 3;

/// Bytes of pages, scripts and answers of a login page that are kept to know again what its scripts post: bundles have one or two million.
pub const LOGIN_SENT_BYTES_MAX: usize = 8 << 20;

/// Bytes of the picture of a CAPTCHA: real ones have 2 to 30 kB.
pub const CAPTCHA_BYTES_MAX: usize = 1 << 20;

/// Pages of a site that the next crawl begins with, as this one has not seen them whole.
pub const RENDER_AGAIN_MAX: usize = 64;

/// Times that a page is tried again whose data were refused where no page like it has ever shown any.
pub const RENDER_REFUSED_TRIALS: u8 = 2;

pub const RENDER_STORED_ORIGINS_MAX: usize = 16;

/// Bytes of a script's error that summary and status tell.
pub const SCRIPT_ERROR_TOLD_BYTES_MAX: usize = 300;

/// Time from a page's first request in which it may ask for more: behind it there is time to read what it shows.
pub const RENDER_ASKING_TIME: Duration = Duration::from_secs(240);

/// How long a page waits for which no render process could be started: the table of processes or files is full, or memory is short.
pub const RENDER_NO_PROCESS_PAUSE: Duration = Duration::from_secs(60);

/// Bytes of larger answers to the scripts of one page that are read, or wait for its child to take them: two of the largest.
pub const RENDER_ANSWERS_BYTES_MAX: usize = 16 << 20;

pub const SCRIPT_REDIRECTS_MAX: usize = 10;

pub const SCRIPTS_KEPT_BYTES_MAX: usize = 16 << 20;

/// How long a script is taken for unchanged that does not say otherwise.
pub const SCRIPTS_KEPT_FOR: Duration = Duration::from_secs(600);

/// Pages of a shape that are rendered to learn whether that brings anything; one in so many afterwards, where it did not. Pages without a
/// link of their class are tried more often at first.
pub const RENDER_TRIALS: u32 = 3;

pub const RENDER_SAMPLED_OF: u32 = 100;

pub const RENDER_BARE_SAMPLED_OF: u32 = 10;

/// Shapes of a site's pages that are told apart, and links of their class up to which a page has few.
pub const RENDER_SHAPES_MAX: usize = 64;

/// Empty elements of a page whose names are among the signs by which shapes are told apart.
pub const RENDER_FEW_LINKS: usize = 2;

/// Pages of a shape that have ended two render processes each, before such pages count as what ends them.
pub const RENDER_DEATHS_MAX: u32 = 3;

/// Bytes of a page's own markup in which tokens are looked for.
pub const SHORTCUT_MARKUP_BYTES_MAX: usize = 512 << 10;

pub const SHORTCUT_KINDS_UNREAD_MAX: usize = 16;
