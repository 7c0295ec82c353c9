//! Every cap of learning. LEARNING names what is measured.

/// Words at one place of a path or a parameter beyond which they are one (LEARNING §14.3).
pub const WORDS_MAX: usize = 12;

/// The same for the first segment of a path.
pub const TOP_WORDS_MAX: usize = 30;

/// Links of one page that are read.
pub const LINKS_PER_PAGE_MAX: usize = 2_000;

/// Different URLs that are kept, of a site.
pub const URLS_MAX: usize = 60_000;

/// Bytes of a URL's path and query; longer ones are not URLs to be learned from.
pub const URL_BYTES_MAX: usize = 2_048;

/// Bytes of a link's text that are kept.
pub const TEXT_BYTES_MAX: usize = 120;

/// Requests of a learning run if the operator says nothing.
pub const REQUESTS: u32 = 150;

/// Requests of `gleaner rules new`: enough to see what software a site runs.
pub const FIRST_REQUESTS: u32 = 20;

/// The fewest and the most that may be asked for.
pub const REQUESTS_MIN: u32 = 10;
pub const REQUESTS_MAX: u32 = 2_000;

/// Requests of one walk along the front of a list.
pub const WALK_REQUESTS_MAX: u32 = 25;

/// Requests that test parameters.
pub const PARAMETER_REQUESTS_MAX: u32 = 14;

/// Comment lines, examples and questions of a written file.
pub const EXAMPLES_MAX: usize = 24;
pub const QUESTIONS_MAX: usize = 12;

/// Requests that find out whether a shape shows what chosen ones show.
pub const PROBES_MAX: usize = 3;

/// Pages of a shape that are compared.
pub const COMPARED_MAX: usize = 4;

/// Paths of hubs that are taken.
pub const PATHS_MAX: usize = 8;

/// Links to torrents of a page on which the test is made: a detail's.
pub const LINKS_MAX: usize = 5;

/// Words of one place from which on they are a class of characters.
pub const WORDS_LISTED_MAX: usize = 3;

/// A mean that is less certain than this says nothing.
pub const ERROR_MAX: f64 = 0.1;

/// URLs of a class that are tried.
pub const TRIED_MAX: usize = 400;

/// More digits are no page number.
pub const PAGE_DIGITS_MAX: usize = 6;

/// Words of a label that still only says "next".
pub const LABEL_WORDS_MAX: usize = 3;

/// Requests without an answer, one after the other, after which no more are sent.
pub const FAILURES_MAX: usize = 5;

/// The largest value that may stand behind a lone "next".
pub const LONE_NEXT_MAX: u64 = 200;

/// Hosts that torrents name and that are counted, over all sites; more are not looked at.
pub const NAMED_HOSTS_MAX: usize = 20_000;

/// The same of one site.
pub const NAMED_HOSTS_A_SITE_MAX: usize = 5_000;

/// URLs of a torrent's comment that are read.
pub const COMMENT_URLS_MAX: usize = 3;

/// Pages that a proposal names.
pub const PROPOSAL_LINKS_MAX: usize = 3;

/// Bytes of the name of a host, and of one of its labels (RFC 1035 §2.3.4).
pub const HOST_BYTES_MAX: usize = 253;
pub const LABEL_BYTES_MAX: usize = 63;
