//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a
//! bug.

use std::time::Duration;

pub use gleaner_base::limits::{
    COOKIE_BYTES_MAX, COOKIES_PER_SITE_MAX, HEADERS_MAX, PAGE_BYTES_MAX, RETRY_AFTER_MAX, SITEMAP_BYTES_MAX,
    URL_BYTES_MAX,
};
pub use gleaner_torrent::limits::{TORRENT_BYTES_MAX, TORRENT_JUNK_BYTES_MAX};

/// Bytes of a body that are read without a share of `BODIES_BYTES_MAX`: nearly all pages and torrents. 64 requests
/// hold 4 MiB of them.
pub const SMALL_BODY_BYTES_MAX: usize = 64 << 10;

/// Bytes of all larger bodies of the process: two pages of the largest size. A torrent or sitemap that may become
/// larger than this takes all of it, alone. Even with hostile servers, the process must stay below 150 MB.
pub const BODIES_BYTES_MAX: usize = 16 << 20;

/// Minimum bytes per second of a body with a share while others wait for one, averaged over `BODY_PACE_TIME`: slower
/// ones would block the large bodies of other sites.
pub const BODY_PACE_BYTES_MIN: usize = 8 << 10;

/// Time over which a body's pace is averaged: long enough for a lost packet or two.
pub const BODY_PACE_TIME: Duration = Duration::from_secs(10);

/// Longest time that others wait for a body with a share, at any pace: three intervals of `BODY_PACE_TIME`, in which
/// the largest torrent arrives at 4 Mbit/s. Otherwise a server that drips would hold all the memory as long as a
/// request may take.
pub const BODY_SHARE_TIME: Duration = Duration::from_secs(30);

/// Bytes of the value of a cookie's attribute (RFC 6265bis §5.6); longer ones are ignored.
pub const COOKIE_ATTRIBUTE_BYTES_MAX: usize = 1_024;

/// A `Date` further from our clock than this is ignored: a server that lost its time starts at 1970, and so may ours.
pub const COOKIE_CLOCK_OFF_MAX: Duration = Duration::from_secs(60 * 366 * 86_400);

/// Cookies of one registrable domain, as in Chromium and Firefox (RFC 6265bis §6.1: at least 50). The least recently
/// used one is evicted.
pub const COOKIES_PER_DOMAIN_MAX: usize = 180;

/// Dropped cookies that are reported: a login sets one to five.
pub const COOKIES_DROPPED_MAX: usize = 8;

/// Bytes of a login's token. Those with claims have some hundred to two thousand, and servers reject headers beyond 8
/// KiB.
pub const BEARER_BYTES_MAX: usize = 4_096;

/// Bytes of the credentials of HTTP Basic: a name and a password of a kilobyte each.
pub const BASIC_BYTES_MAX: usize = 4_096;

/// `WWW-Authenticate` headers of one answer that are read: a server names each of its schemes once.
pub const CHALLENGES_MAX: usize = 8;

/// Bytes of one of them.
pub const CHALLENGE_BYTES_MAX: usize = 4_096;

/// Bytes of a `Cookie` header. Servers reject 8 kB (nginx, Apache: for one line) or 16 kB for all headers.
pub const COOKIE_HEADER_BYTES_MAX: usize = 8_000;

/// Bytes of a cookie file. A browser's whole profile exports some 500 kB.
pub const COOKIE_FILE_BYTES_MAX: usize = 16 << 20;

/// Invalid lines of a cookies.txt that are reported one by one. More of them have one cause.
pub const COOKIE_FAULTS_TOLD_MAX: usize = 10;

/// Content codings of one body; real servers double one by mistake.
pub const CONTENT_CODINGS_MAX: usize = 3;

/// Bytes that a content coding may read beyond twice its output: headers, and what a decoder holds back (a block of
/// zstd: 128 kB). Empty blocks and members decode to nothing, and nested ones would do so for hours.
pub const CODING_WASTE_BYTES_MAX: u64 = 256 << 10;

/// Bytes of one decoded piece of a body: the most that a bomb produces beyond the reader's cap.
pub const DECODED_PIECE_BYTES_MAX: usize = 64 << 10;

/// Bytes that decoders read and produce before others get a turn on the loop's thread: about a millisecond.
pub const DECODE_TURN_BYTES_MAX: usize = 256 << 10;

/// Window of a zstd body, as a power of two: 8 MB, the largest that RFC 9659 allows on the web.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Time that the end of a body may take after its content is complete. It comes at once, or the server is broken and
/// the connection is not worth keeping.
pub const BODY_TAIL_TIME_MAX: Duration = Duration::from_secs(1);

/// Header lines of one HTTP/1 answer. Browsers cap only their bytes, as hyper does beside this; Node.js takes 2,000. A
/// line costs 64 bytes while the head is parsed, sent or not: a client reads as many only where it was seen that it has to.
pub const HEADER_LINES_MAX: usize = 2_000;

/// Header lines of an answer whose origin never sent more: real ones have less than 100, and their room is a page or two of memory.
pub const USUAL_HEADER_LINES_MAX: usize = 256;

/// Origins of a site that are known to send more: a site has a few, and who has names without end may not fill memory with them.
pub const LONG_HEAD_ORIGINS_MAX: usize = 64;

/// Bytes of an `ETag` or `Last-Modified` that is kept and sent back. Real ones have less than 100.
pub const VALIDATOR_BYTES_MAX: usize = 1 << 10;

/// Bytes of one `X-Robots-Tag` header that is kept. The longest real ones name a dozen crawlers.
pub const ROBOTS_TAG_BYTES_MAX: usize = 1 << 10;

/// `X-Robots-Tag` headers kept per response: one for each crawler that a site knows by name.
pub const ROBOTS_TAGS_MAX: usize = 32;

/// Names in the DNS cache, at about 300 bytes each: those of some sites with all that their pages link to.
pub const DNS_NAMES_MAX: usize = 4_096;

/// Addresses kept per name. The largest networks give a dozen.
pub const DNS_ADDRESSES_MAX: usize = 32;

/// Concurrent DNS lookups: a page that links to a thousand hosts must not flood the name server.
pub const DNS_LOOKUPS_MAX: usize = 6;

/// Time of one DNS lookup, all servers and attempts included. Shorter than the time to connect, of which it is part.
pub const DNS_TIME_MAX: Duration = Duration::from_secs(15);

/// Time to wait for a DNS lookup if a stale answer exists (RFC 8767 §5: 1.8 s).
pub const DNS_STALE_PATIENCE: Duration = Duration::from_millis(1_800);

/// Minimum TTL of DNS answers: some hosts send zero, and each connection would query again.
pub const DNS_TTL_LEAST: Duration = Duration::from_secs(10);

/// Maximum TTL of an address: hosts move, and a lookup per hour costs nothing.
pub const DNS_TTL_MAX: Duration = Duration::from_secs(3_600);

/// Maximum negative TTL of a name: someone may be setting it up.
pub const DNS_NEGATIVE_TTL_MAX: Duration = Duration::from_secs(300);

/// Time until failed servers are queried again for the same name.
pub const DNS_FAILURE_TIME: Duration = Duration::from_secs(10);

/// How long a stale address is served while the servers fail (RFC 8767 §5: one to three days).
pub const DNS_STALE_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Time until resolv.conf and the hosts file are checked again, and TTL of their entries.
pub const DNS_FILES_TIME: Duration = Duration::from_secs(10);

/// Names listed for a certificate of another host: some hold a thousand.
pub const TLS_NAMES_TOLD_MAX: usize = 5;

/// Bytes of a robots.txt that are read (RFC 9309 §2.5 requires at least 500 kB).
pub const ROBOTS_BYTES_MAX: usize = 500 << 10;

/// First bytes of a body that the classifier waits for before it decides.
pub const SNIFF_BYTES: usize = 512;

/// Failed attempts at one URL before it is given up, the first one included; at most 15, because the database
/// counts them in four bits.
pub const ATTEMPTS_MAX: u8 = 4;

/// Consecutive failures (5xx, timeouts, broken bodies) after which the whole host is paused and not only the URL.
pub const HOST_FAULTS_MAX: u32 = 3;

/// Time to connect, TLS included.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(20);

/// Time between two pieces of a response.
pub const READ_TIME_MAX: Duration = Duration::from_secs(30);

/// Time of a whole request.
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(300);

/// Longest pause for throttling without a `Retry-After`.
pub const THROTTLED_PAUSE_MAX: Duration = Duration::from_secs(3_600);

/// Longest pause before an unreachable host is retried.
pub const UNREACHABLE_PAUSE_MAX: Duration = Duration::from_secs(600);

/// Longest `Crawl-delay` of a robots.txt that is honoured. A longer one is taken for a mistake and cut to this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(600);

/// Longest rest of a connection when it follows the server's response time.
pub const REST_MAX: Duration = Duration::from_secs(60);

/// Sitemaps that one robots.txt may name.
pub const SITEMAPS_PER_ROBOTS_MAX: usize = 100;

/// Bytes that one HTTP/2 stream may send ahead of its reader.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;

/// Bytes that all streams of one HTTP/2 connection may send ahead of their readers.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// Time that an idle connection is kept: longer than the pause between two requests of a polite crawl. Each keeps the
/// buffer that its longest response needed.
pub const IDLE_CONNECTION_TIME: Duration = Duration::from_secs(30);

/// Headers of a response that are passed to its script.
pub const SCRIPT_HEADERS_MAX: usize = 100;

/// Longest time of a request to a webhook.
pub const HOOK_TIME_MAX: Duration = Duration::from_secs(10);
