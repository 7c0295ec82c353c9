//! Caps that several rooms share, each with its unit and its reason. The caps of one room are in its own `limits.rs`.

use std::time::Duration;

/// Bytes of one normalised URL. Longer ones are traps or data; servers reject them from 8 kB on.
pub const URL_BYTES_MAX: usize = 4_096;

/// Bytes of the path of a Unix socket (unix(7): `sun_path` without its end).
pub const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Bytes of one page's decoded body. The largest index pages seen are 1 MB.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// Bytes of a cookie's name and value (RFC 6265bis §5.6); larger ones are ignored.
pub const COOKIE_BYTES_MAX: usize = 4_096;

/// Cookies of one site over all its domains. With the largest cookies, 10 MB.
pub const COOKIES_PER_SITE_MAX: usize = 1_000;

/// Longest wait that a `Retry-After` can impose.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Bytes of one sitemap, unpacked. This is the limit of sitemaps.org.
pub const SITEMAP_BYTES_MAX: usize = 50 << 20;

pub const HEADERS_MAX: usize = 200;

/// Members' sites whose keys one process masks.
pub const KEY_SITES_MAX: usize = 10_000;

/// Places in the addresses of one site that are known to name things. Sites have a few dozen kinds of addresses.
pub const KEY_PLACES_MAX: usize = 1_000;

/// Bytes of one note that the crawl keeps about a site. Statistics of 10⁴ URL shapes take 1 MB. Each change of a note
/// writes all of it.
pub const NOTE_BYTES_MAX: usize = 4 << 20;

/// Lines of the log that are kept in memory: a day of a quiet service, minutes of one that logs every visit.
pub const LOG_LINES_MAX: usize = 10_000;

/// Bytes of all of them.
pub const LOG_BYTES_MAX: usize = 4 << 20;

/// Bytes of one text in a line; the rest is cut off.
pub const LOG_TEXT_BYTES_MAX: usize = 4_096;
