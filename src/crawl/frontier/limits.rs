//! Every cap of this crate, with its unit and its reason. A queue, body, depth, loop or retry without a cap here has none,
//! which is a bug.

pub use gleaner_base::limits::NOTE_BYTES_MAX;
pub use gleaner_rules::limits::{INCREMENT_DEPTH_MAX, SHAPE_PAGES};

/// Folders of one path. The deepest honest listings have some twenty; `trap_form` compares each with each.
pub const PATH_SEGMENTS_MAX: usize = 32;

/// Parameters of one query. Search forms with a box for each category send fifty.
pub const QUERY_PARAMETERS_MAX: usize = 64;

/// URL shapes of one site that are counted separately: with their examples 2.5 MB at worst. Sites have some dozens.
pub const SHAPES_MAX: usize = 2_048;

/// Bytes of one URL shape. Shapes of real sites have 20 to 80; a longer one is cut and shares the shape of its beginning.
pub const SHAPE_BYTES_MAX: usize = 192;

/// Parameters of one query that its shape contains; real queries have up to a dozen.
pub const SHAPE_PARAMETERS_MAX: usize = 24;

/// Groups of URL shapes that are counted together, two for each shape.
pub const SHAPE_POOLS_MAX: usize = 4_096;

/// Shapes by which the links of one page are counted; pages of real sites link to a dozen.
pub const LINKED_SHAPES_PER_PAGE_MAX: usize = 64;

/// Shapes without a torrent yet whose links one shape remembers.
pub const UNPROVEN_TARGETS_MAX: usize = 8;

/// Bytes of an example URL in the report of cuts.
pub const CUT_EXAMPLE_BYTES_MAX: usize = 512;

/// Shapes of one site's links that match no class: what a rule file has missed is among the first.
pub const UNCLASSED_SHAPES_MAX: usize = 64;

/// Hosts off a site whose links are counted; the one with the fewest pages makes room. With the longest examples 150 KB a site, usually 40.
pub const OFFSITE_HOSTS_MAX: usize = 256;

/// Pages that are kept as examples of the links to one host.
pub const OFFSITE_EXAMPLES_MAX: usize = 3;

/// Bytes of such a page's URL: longer ones are no example.
pub const OFFSITE_EXAMPLE_BYTES_MAX: usize = 160;

/// Names with values of one site's links that are watched for whether they are a session's token.
pub const TOKEN_PAIRS_MAX: usize = 4_096;

/// Names of parameters, by class, that are watched for whether they change a page's content. Each page without one is
/// compared for it.
pub const LEARNED_PARAMETERS_MAX: usize = 64;

/// Maximum of pages of one level and round, whatever rate was measured: 500 B each in the update crawldb. More is left to history.
pub const INCREMENT_PAGES_MAX: u64 = 10_000;

/// Pages of one level and round that are always allowed: before a rate is measured, a board of a few pages must not be cut.
pub const INCREMENT_PAGES_MIN: u64 = 200;

/// Kinds of URLs (a rule's URLs of one shape) that the shares of one site tell apart; the others of a class share one more.
pub const SHARE_ARMS_MAX: usize = 45;

/// Shapes of which it is remembered to which of these kinds they belong, 9 bytes each.
pub const SHARE_SHAPES_MAX: usize = 2_048;
