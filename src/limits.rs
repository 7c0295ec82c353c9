//! Every cap of the crawler, with its unit and its reason. A queue, body, depth, loop or retry whose cap is
//! not here has none, and that is a fault.

use std::time::Duration;

mod freshness;
mod increment;
mod login;
mod render;
mod shortcut;

pub use freshness::*;
pub use increment::*;
pub use login::*;
pub use render::*;
pub use shortcut::*;

/// Bytes of one normalised URL. Longer ones are traps or data; servers refuse them from 8 kB on.
pub const URL_BYTES_MAX: usize = 4_096;

/// Bytes of one page's decoded body. The largest index pages seen are 1 MB.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// Bytes of one metainfo file. libtorrent refuses more than 10 MB by default (`load_torrent_limits`), so that a larger
/// one serves few clients; pieces of a 4 TB torrent are 5 MB, and 16 MiB name about 150,000 files.
pub const TORRENT_BYTES_MAX: usize = 16 << 20;

/// Bytes of a metainfo file that is read on the loop's own thread: half a millisecond, most of it SHA-1.
pub const INLINE_TORRENT_BYTES_MAX: usize = 256 << 10;

/// Bytes of a body that are read without a share of `BODIES_BYTES_MAX`: nearly all pages and torrents. 64 requests
/// hold 4 MiB of them.
pub const SMALL_BODY_BYTES_MAX: usize = 64 << 10;

/// Bytes of all larger bodies of the process: two pages of the largest size. A torrent or sitemap that may become
/// larger than this takes all of it, alone. Hostile servers are to leave the process below 150 MB.
pub const BODIES_BYTES_MAX: usize = 16 << 20;

/// Bytes a second that a body with a share must bring while others wait for one, on the mean of `BODY_PACE_TIME`: slower
/// ones would keep the large bodies of other sites waiting.
pub const BODY_PACE_BYTES_MIN: usize = 8 << 10;

/// Time over which the pace of a body is taken: long enough for a lost packet or two.
pub const BODY_PACE_TIME: Duration = Duration::from_secs(10);

/// Time that others wait for a body with a share, however well it keeps its pace: three stretches of `BODY_PACE_TIME`, in
/// which the largest torrent comes at 4 Mbit/s. A server that drips would hold all the memory as long as a request may take.
pub const BODY_SHARE_TIME: Duration = Duration::from_secs(30);

/// Large bodies that are parsed at a time, over all sites: 8 MiB of links may become 32 MiB of URLs, and a sitemap may be
/// 50 MB once it is unpacked.
pub const PARSES_MAX: usize = 1;

/// Bytes of a cookie's name and value (RFC 6265bis §5.6); larger ones are ignored.
pub const COOKIE_BYTES_MAX: usize = 4_096;

/// Bytes of the value of a cookie's attribute (RFC 6265bis §5.6); longer ones are ignored.
pub const COOKIE_ATTRIBUTE_BYTES_MAX: usize = 1_024;

/// A `Date` further from our clock than this is none: a server that has lost its time begins with 1970, and ours may have.
pub const COOKIE_CLOCK_OFF_MAX: Duration = Duration::from_secs(60 * 366 * 86_400);

/// Cookies of one registrable domain (RFC 6265bis §6.1: at least 50), as Chromium and Firefox keep; the one used least recently goes.
pub const COOKIES_PER_DOMAIN_MAX: usize = 180;

/// Cookies of one site over all its domains: with the largest 10 MB.
pub const COOKIES_PER_SITE_MAX: usize = 1_000;

/// Open files without which nothing is begun: a runtime, its signals and a database take ten.
pub const OPEN_FILES_MIN: u64 = 16;

/// Cookies that were not kept and are told: a login sets one to five.
pub const COOKIES_DROPPED_MAX: usize = 8;

/// Bytes of a login's token: those that carry claims have some hundred to two thousand, and servers refuse headers beyond
/// 8 KiB.
pub const BEARER_BYTES_MAX: usize = 4_096;

/// Bytes of a `Cookie` header. Servers refuse 8 kB (nginx, Apache: of one line) or 16 kB of all headers.
pub const COOKIE_HEADER_BYTES_MAX: usize = 8_000;

/// Bytes of a file of cookies: a browser's whole profile exports some 500 kB.
pub const COOKIE_FILE_BYTES_MAX: usize = 16 << 20;

/// Lines of a cookies.txt whose faults are told one by one: more of them have one cause.
pub const COOKIE_FAULTS_TOLD_MAX: usize = 10;

/// Content codings of one body; real servers double one by mistake.
pub const CONTENT_CODINGS_MAX: usize = 3;

/// Bytes that a content coding may read beyond twice what it makes: headers, and what a decoder holds back (a block of
/// zstd: 128 kB). Empty blocks and members decode to nothing, and nested ones would do so for hours.
pub const CODING_WASTE_BYTES_MAX: u64 = 256 << 10;

/// Bytes of one decoded piece of a body: what a bomb makes at most beyond the cap of its reader.
pub const DECODED_PIECE_BYTES_MAX: usize = 64 << 10;

/// Bytes that decoders read and make before others get a turn on the loop's thread: about a millisecond.
pub const DECODE_TURN_BYTES_MAX: usize = 256 << 10;

/// Window of a zstd body, as a power of two: 8 MB, which RFC 9659 makes the largest on the web.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Time that the end of a body may take when its content is whole already. It comes at once, or the server is broken
/// and the connection is not worth keeping.
pub const BODY_TAIL_TIME_MAX: Duration = Duration::from_secs(1);

/// Bytes of an `ETag` or `Last-Modified` that is kept and sent back. Real ones have less than 100.
pub const VALIDATOR_BYTES_MAX: usize = 1 << 10;

/// Bytes of one `X-Robots-Tag` header that is kept. The longest real ones name a dozen crawlers.
pub const ROBOTS_TAG_BYTES_MAX: usize = 1 << 10;

/// `X-Robots-Tag` headers kept of one answer: one for each crawler that a site knows by name.
pub const ROBOTS_TAGS_MAX: usize = 32;

/// Names that the DNS cache knows, at about 300 bytes each: those of some sites with all that their pages link to.
pub const DNS_NAMES_MAX: usize = 4_096;

/// Addresses taken of one name. The largest networks give a dozen.
pub const DNS_ADDRESSES_MAX: usize = 32;

/// DNS lookups under way at a time: a page that links to a thousand hosts must not flood the name server.
pub const DNS_LOOKUPS_MAX: usize = 6;

/// Time of one DNS lookup, all servers and attempts included; shorter than the time to connect, of which it is part.
pub const DNS_TIME_MAX: Duration = Duration::from_secs(15);

/// Time that a DNS lookup is waited for while an answer that no longer holds is at hand (RFC 8767 §5: 1.8 s).
pub const DNS_STALE_PATIENCE: Duration = Duration::from_millis(1_800);

/// Shortest time that an answer of the DNS is kept: some hosts send zero, and each connection would ask again.
pub const DNS_TTL_LEAST: Duration = Duration::from_secs(10);

/// Longest time that an address is kept: hosts move, and a lookup an hour costs nothing.
pub const DNS_TTL_MAX: Duration = Duration::from_secs(3_600);

/// Longest time that a name counts as missing: somebody may be setting it up.
pub const DNS_NEGATIVE_TTL_MAX: Duration = Duration::from_secs(300);

/// Time until servers that failed are asked again for the same name.
pub const DNS_FAILURE_TIME: Duration = Duration::from_secs(10);

/// How long an address serves beyond its time while the servers fail (RFC 8767 §5: one to three days).
pub const DNS_STALE_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Time until resolv.conf and the hosts file are looked at again, and what is kept of their words.
pub const DNS_FILES_TIME: Duration = Duration::from_secs(10);

/// Names told of a certificate that is for another host: some hold a thousand.
pub const TLS_NAMES_TOLD_MAX: usize = 5;

/// Bytes of a robots.txt that are read (RFC 9309 §2.5 asks for 500 kB at least).
pub const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// Links taken from one page. The largest directory listings hold 10⁵ entries.
pub const LINKS_PER_PAGE_MAX: usize = 250_000;

/// Bytes of the URLs taken from one page, with what each remembers of the page that carries it: a long `base` would
/// make 250,000 short links 1 GB. The largest directory listings give 20 MB.
pub const OUTLINK_BYTES_PER_PAGE_MAX: usize = 32 << 20;

/// Depth to which a page's tree is built; browsers stop at 512, and html5ever's time is quadratic in it.
pub const HTML_DEPTH_MAX: usize = 512;

/// Nodes of a page's tree, at about 200 bytes each. The largest index pages seen have 10⁵; without a cap each unclosed
/// `<b>` is copied into every later block.
pub const HTML_NODES_MAX: usize = 1_000_000;

/// Cuts from the root of a decision tree to its deepest leaf. Some hundred rows are parted by ten.
pub const TREE_DEPTH_MAX: usize = 12;

/// Bytes of the text beside a field, or of one of its attributes, that tell what it asks for.
pub const FIELD_HINT_BYTES_MAX: usize = 90;

/// Elements on the stack that tells foreign content (SVG, MathML) from HTML. Browsers cap the tree's depth at 512;
/// beyond the cap the rest of the page is read as plain HTML, which differs only in the raw text elements and CDATA
/// sections of hostile pages.
pub const FOREIGN_DEPTH_MAX: usize = 256;

/// How deep encoded links (thunder, flashget, qqdl) may wrap each other: real ones wrap once, seldom twice.
pub const ENCODED_LINK_NESTING_MAX: usize = 3;

/// Nesting of lists and dictionaries in a metainfo file; libtorrent's limit is 100.
pub const BENCODE_DEPTH_MAX: usize = 100;

/// Values in one metainfo file; libtorrent's default limit is 3 million tokens.
pub const BENCODE_TOKENS_MAX: usize = 3_000_000;

/// Keys of a metainfo file's outermost dictionary, whose places are held while it is read: 12 bytes for each.
pub const DICTIONARY_KEYS_MAX: usize = 65_536;

/// Junk (BOM, blank lines, PHP warnings) allowed before the dictionary of a metainfo file, in bytes.
pub const TORRENT_JUNK_BYTES_MAX: usize = 4_096;

/// Pieces of one torrent; libtorrent's default limit.
pub const TORRENT_PIECES_MAX: u64 = 0x20_0000;

/// Tracker URLs read from one metainfo file or magnet link; the longest public lists have about 100.
pub const TRACKERS_PER_TORRENT_MAX: usize = 128;

/// First bytes of a body that the classifier waits for before it decides.
pub const SNIFF_BYTES: usize = 512;

/// Redirects followed for one robots.txt (RFC 9309 §2.3.1.2: at least five). Redirects of other URLs are frontier
/// rows like any link, and a redirect to the same URL counts as an attempt.
pub const ROBOTS_REDIRECTS_MAX: usize = 5;

/// Source URLs kept for one torrent: sites that make a new URL for each view would fill the disk.
pub const SOURCES_PER_TORRENT_MAX: usize = 64;

/// Pages of a list read one behind the other that show the same rows, by which the list is over: fewer may be an answer of a server in
/// trouble, and more are as many requests for nothing in each list of a site that goes on behind the last page.
pub const LIST_REPEATS: usize = 20;

/// What is remembered to tell such pages: of the lists read last the pages read last, more than are under way at a time, and their targets, 8
/// bytes each. A page with more targets ends no list.
pub const REPEATS_LISTS_MAX: usize = 1_024;
/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_PAGES_MAX: usize = 8;
/// See [`REPEATS_LISTS_MAX`].
pub const REPEATS_TARGETS_MAX: usize = 400;

/// Targets kept beyond the first look at one index page: a front page looked at for years would grow its row
/// without end. 64 Ki hashes are 512 kB; `ListingRow::updated` and `earlier` stop growing there.
pub const LISTING_UPDATES_MAX: usize = 65_536;

/// Depth in links from a start URL, unless the site's rule file says otherwise.
pub const DEPTH_MAX: u16 = 1_000;

/// Faulty attempts at one URL before it is given up, the first one included; at most 15, as of those below.
pub const ATTEMPTS_MAX: u8 = 4;

/// Attempts at one URL that is answered 429 or 503 each time while its host answers others, the first one included.
pub const THROTTLED_ATTEMPTS_MAX: u8 = 12;

/// Faulty answers in a row (5xx, time-outs, broken bodies) after which the host gets a pause and not only the URL.
pub const HOST_FAULTS_MAX: u32 = 3;

/// Pauses in a row without a good answer after which a crawl that is to end gives a host up for this run; with
/// doubling pauses that is half a minute of silence, or five minutes of refusals.
pub const HOST_COMPLAINTS_MAX: u32 = 5;

/// Origins of one site: a site that makes a host name for each link is a trap.
pub const ORIGINS_PER_SITE_MAX: usize = 1_000;

/// Bytes of one question on the control socket; keys of listings are the longest part.
pub const ASK_BYTES_MAX: u64 = 64 << 10;

/// Bytes of one answer on the control socket. The largest page of listings is 180 MB (`COVERAGE_ROWS_MAX` pages of
/// twice `LINKS_PER_PAGE_MAX` numbers and `LISTING_UPDATES_MAX`), the largest page of torrents 70 MB, the largest note 8 MiB.
pub const ANSWER_BYTES_MAX: u64 = 256 << 20;

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

/// Time to connect, TLS included.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(20);

/// Time between two pieces of a response.
pub const READ_TIME_MAX: Duration = Duration::from_secs(30);

/// Time of a whole request.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(300);

/// A signal to end counts as a second one from then on after the first.
pub const SECOND_SIGNAL_AFTER: Duration = Duration::from_millis(500);

/// Time that requests under way get to end after SIGTERM, and again their commit; what is not done by then is done
/// again at the next start. Twice this and the rest of the shutdown stay below ten seconds.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(4);

/// The same for a login whose form has left: servers that are slow to answer take some seconds for it, and a right password is not to be
/// held because nobody has waited. `TimeoutStopSec` of the unit is longer.
pub const LOGIN_DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Longest wait that a `Retry-After` can impose.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Longest pause that a host's complaints without a `Retry-After` lead to.
pub const THROTTLED_PAUSE_MAX: Duration = Duration::from_secs(3_600);

/// Longest pause before a host that cannot be reached is tried again.
pub const UNREACHABLE_PAUSE_MAX: Duration = Duration::from_secs(600);

/// `Crawl-delay` of a robots.txt that is honoured; a longer one is taken for a mistake and cut to this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(600);

/// Bytes of a rule or configuration file.
pub const RULE_FILE_BYTES_MAX: u64 = 1 << 20;

/// Bytes of one compiled regular expression set of a rule file.
pub const REGEX_BYTES_MAX: usize = 10 << 20;

/// Rows that an export or a verification reads from the database at a time. 128 rows of 64 sources with the
/// longest URLs are 67 MB; usual rows are 1 kB.
pub const EXPORT_ROWS_MAX: usize = 128;

/// Bytes of one exported file name: what Linux allows; Windows counts 255 UTF-16 units, which are never more.
pub const FILE_NAME_BYTES_MAX: usize = 255;

/// Faulty torrents that a report lists by name; the count beside the list is exact.
pub const FINDINGS_LISTED_MAX: usize = 100;

/// Listings that the coverage reads from the database at a time: with the largest pages (10⁵ entries, and what they listed before) 70 MB.
pub const COVERAGE_ROWS_MAX: usize = 32;

/// Series of index pages that the coverage tells one by one; the others are summed up.
pub const COVERAGE_SERIES_LISTED_MAX: usize = 20;

/// Bytes of a former manifest's line that are read: 64 sources with the longest URLs are 0.5 MB, a longer line has
/// been made by somebody else or has an absurd name; its file is then not removed as stale.
pub const MANIFEST_LINE_BYTES_MAX: u64 = 4 << 20;

/// Regular expressions of one site, its families' included. Each URL is tried against all of them at once; the
/// largest families need some dozens.
pub const RULES_PER_SITE_MAX: usize = 512;

/// Torrents of the demo site: each costs it about 400 bytes, and more would only slow the demonstration.
pub const DEMO_TORRENTS_MAX: usize = 200_000;

/// Request paths that the demo site keeps for its tests: a crawl of 5,000 torrents makes about 15,000.
pub const DEMO_LOG_PATHS_MAX: usize = 50_000;

/// Parameters of a query that the demo site reads; its own links have three at most.
pub const DEMO_PARAMETERS_MAX: usize = 16;

/// Bytes of a token that the demo site looks at; its own have about 40.
pub const DEMO_TOKEN_BYTES_MAX: usize = 128;

/// Sessions of guests that a members-only demo site keeps: a test's crawl makes a handful.
pub const DEMO_SESSIONS_MAX: usize = 10_000;

/// Wrong passwords after which a members-only demo site locks its account, as real ones do after three to five.
pub const DEMO_WRONG_TRIES_MAX: u32 = 3;

/// Bytes of a form that a demo site reads; a login has some hundred.
pub const DEMO_FORM_BYTES_MAX: usize = 64 << 10;

/// Time that the demo site waits for open connections when it is stopped.
pub const DEMO_STOP_TIME_MAX: Duration = Duration::from_secs(2);

/// Bytes of one compiled regular expression. `\w{20}` in Unicode is 1 MB: a pattern that needs more is a mistake.
pub const REGEX_PATTERN_BYTES_MAX: usize = 1 << 20;

/// Families of rules in one line of descent.
pub const FAMILY_GENERATIONS_MAX: usize = 8;

/// Faults of syntax that are looked for in one rule file: each costs a parse of the file.
pub const SYNTAX_FAULTS_MAX: usize = 30;

/// Faults of rule files that are shown in full; a file of the longest may hold a hundred thousand.
pub const FAULTS_SHOWN_MAX: usize = 200;

/// Hosts of one site. Each URL's host is compared with them.
pub const HOSTS_PER_SITE_MAX: usize = 256;

/// Start URLs of one site. Each URL is compared with their folders where a site stays below them.
pub const START_URLS_MAX: usize = 1_024;

/// Example URLs in one list of a rule file.
pub const EXAMPLES_MAX: usize = 4_096;

/// Bytes of the memo that a visit leaves for the next visit of its URL: an entity tag and a date are 100 bytes, the
/// longest tags seen 500; 10⁶ URLs with the longest would be 2 GB.
pub const MEMO_BYTES_MAX: usize = 2 << 10;

/// Pages of a site that were not read whole and are kept with the reason; those beyond are counted. Each is 4 KiB at most, and all of them
/// are told in one answer.
pub const NOT_WHOLE_PAGES_MAX: usize = 1_000;

/// Bytes of the reason that is kept of one: a sentence.
pub const NOT_WHOLE_REASON_BYTES_MAX: usize = 300;

/// Pages that were not read whole which the coverage tells people one by one.
pub const NOT_WHOLE_SHOWN_MAX: usize = 5;

/// Bytes of one note that the crawl keeps of a site. Statistics of 10⁴ URL shapes are 1 MB; each change of a note
/// writes the whole of it.
pub const NOTE_BYTES_MAX: usize = 4 << 20;

/// URLs of one host's queue that are looked through to tell people of it; with the longest paths 40 MB, usual ones 1 MB.
pub const QUEUE_LOOKED_THROUGH_MAX: usize = 10_000;

/// Rows that one transaction moves from `later` to `queue`.
pub const PROMOTED_ROWS_MAX: usize = 8_192;

/// Rows that one transaction moves from `parked` to `queue`.
pub const UNPARKED_ROWS_MAX: usize = 50_000;

/// Bytes of the rows, paths included, that one transaction moves from `later` or `parked` to `queue`; one row may pass it
/// alone. Each path is held and written some times over: 50,000 of the longest made 600 MB.
pub const MOVED_BYTES_MAX: usize = 4 << 20;

/// A new file is longer than this at no time.
pub const NEW_FILE_BYTES_MAX: u64 = 16 << 20;

/// Longest rest of a connection that follows the server's response time.
pub const REST_MAX: Duration = Duration::from_secs(60);

/// Domains and addresses whose rate is kept in memory; beyond it those that rest are forgotten. 4,096 sites have fewer.
pub const LOADS_MAX: usize = 65_536;

/// Milliseconds by which the clock must differ from the steady one to be taken as set: more than a slew, less than any
/// pause that matters.
pub const CLOCK_SET_MS_MIN: u64 = 2_000;

/// Windows of quiet hours of one site: one an hour is more than anybody means.
pub const QUIET_WINDOWS_MAX: usize = 24;

/// Mirrors of one site. Each is asked for its robots.txt when it is needed.
pub const MIRRORS_MAX: usize = 32;

/// Networks that a site's rule file may allow beyond the public internet. Each address is compared with them.
pub const NETWORKS_MAX: usize = 64;

/// Bytes of one sitemap, unpacked: what sitemaps.org allows.
pub const SITEMAP_BYTES_MAX: usize = 50 << 20;

/// Sitemaps that one robots.txt may name.
pub const SITEMAPS_PER_ROBOTS_MAX: usize = 100;

/// Sitemaps of one site that are taken from sitemap indexes: with 50,000 URLs each, what sitemaps.org allows, five
/// million URLs.
pub const SITEMAPS_PER_SITE_MAX: usize = 100;

/// Bytes of a page that is read on the loop's own thread: a millisecond or two.
pub const INLINE_PAGE_BYTES_MAX: usize = 256 << 10;

/// Least time after which a host is looked up again for its rate; the resolver's cache keeps to the TTL itself.
pub const LOCATED_FOR_MIN: Duration = Duration::from_secs(60);

/// Bytes of one URL shape. Shapes of real sites have 20 to 80; what is longer shares the shape of its beginning.
pub const SHAPE_BYTES_MAX: usize = 192;

/// Parameters of one query that its shape names; real queries have up to a dozen.
pub const SHAPE_PARAMETERS_MAX: usize = 24;

/// Folders of one path. The deepest honest listings have some twenty; `trap_form` compares each with each.
pub const PATH_SEGMENTS_MAX: usize = 32;

/// Parameters of one query. Search forms with a box for each category send fifty.
pub const QUERY_PARAMETERS_MAX: usize = 64;

/// URL shapes of one site that are counted each for itself: with their examples 2.5 MB at worst. Sites have some dozens.
pub const SHAPES_MAX: usize = 2_048;

/// Groups of URL shapes that are counted together, two for each shape.
pub const SHAPE_POOLS_MAX: usize = 4_096;

/// Shapes that the links of one page are counted by; pages of real sites link to a dozen.
pub const LINKED_SHAPES_PER_PAGE_MAX: usize = 64;

/// Shapes without a torrent yet whose links one shape remembers.
pub const UNPROVEN_TARGETS_MAX: usize = 8;

/// Bytes of an example URL in the report of what was cut.
pub const CUT_EXAMPLE_BYTES_MAX: usize = 512;

/// Pages of one URL shape that are fetched before it must have led to a torrent, unless the site's rule file says
/// otherwise. Honest sites have lists of some hundred pages without one.
pub const SHAPE_PAGES: u32 = 1_000;

/// Names of parameters, by class, that are watched for whether they change what a page says. Each page without one is
/// compared for it.
pub const LEARNED_PARAMETERS_MAX: usize = 64;

/// Longest pause of a host that a crawl which is to end waits for; the service waits for any.
pub const PAUSE_WAITED_FOR_MAX: Duration = Duration::from_secs(3_600);

/// Hashes of links, of files and of magnets that one site remembers as met, each, before the older half is forgotten:
/// 3 MB in all.
pub const RECENT_LINKS_MAX: usize = 65_536;

/// Shapes of links that no class takes, of one site: what a rule file forgot is among the first.
pub const UNCLASSED_SHAPES_MAX: usize = 64;

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

/// Bytes that one HTTP/2 stream may send ahead of its reader.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;

/// Bytes that all streams of one HTTP/2 connection may send ahead of their readers.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// Threads for what blocks (the database, syncs, large parses, the system's resolver). The database writes one
/// transaction at a time; each thread costs 2 MB, and without a cap two hundred sites would begin with as many.
pub const BLOCKING_THREADS_MAX: usize = 10;

/// Time that an idle connection is kept: longer than the pause between two requests of a polite crawl. Each keeps the
/// buffer that its longest answer needed.
pub const IDLE_CONNECTION_TIME: Duration = Duration::from_secs(30);

/// How much longer than elsewhere a URL waits for its next attempt that a mirror does not have: ¼, 1 and 4 minutes.
pub const MIRROR_PATIENCE: u32 = 15;

/// Events of one board that are kept to learn by which minutes of the day it posts: four a day for a fortnight.
pub const HABIT_POSTS_MAX: usize = 64;

/// Traces of posts: bytes of a line, bad lines that are told, posts (16 bytes each), and days of a replay or of a made-up forum.
pub const TRACE_LINE_BYTES_MAX: usize = 64 << 10;
pub const TRACE_FAULTS_TOLD_MAX: usize = 20;
pub const TRACE_POSTS_MAX: usize = 20_000_000;
pub const TRACE_DAYS_MAX: u64 = 36_525;

/// Boards of a schedule: each costs half a kilobyte; looks a day of one in a replay, and of all policies over all its days.
pub const BOARDS_MAX: usize = 1_000_000;

/// Numbers of posts that a site's schedule keeps, and boards whose posts are told from each other by them: each look reads them for all.
pub const NUMBERS_SEEN_MAX: usize = 4_096;
pub const NUMBERED_BOARDS_MAX: usize = 200;
pub const LOOKS_PER_DAY_MAX: usize = 1_440;
pub const SIMULATED_LOOKS_MAX: u64 = 50_000_000;

/// Bytes of a text in which a time is looked for: the longest cells say who wrote last, on which page, and when.
pub const TIME_TEXT_BYTES_MAX: usize = 400;

/// Rows of one list: the largest directory listings hold 10⁵ entries.
pub const BOARD_ROWS_MAX: usize = 100_000;

/// Lists of one page among which that of the board is looked for: menus, sidebars and tables of numbers are lists too.
pub const BOARD_LISTS_MAX: usize = 60;

/// Elements, and links, of one row that are read: the longest rows carry pages and icons by the dozen.
pub const BOARD_CELLS_MAX: usize = 2_000;

/// Bytes of one text of a row.
pub const BOARD_TEXT_BYTES_MAX: usize = 1_000;

/// Pages of one look at a board: what a year brings to a busy one; more is the history crew's work.
pub const BOARD_PAGES_MAX: usize = 1_000;

/// Changes to a database that may not be written which are held in memory, in bytes: opening one changes a few pages, a repair behind a
/// crash some more.
pub const UNWRITTEN_BYTES_MAX: u64 = 64 << 20;
