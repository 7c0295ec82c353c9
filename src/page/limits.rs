//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

pub use gleaner_base::limits::{PAGE_BYTES_MAX, SITEMAP_BYTES_MAX, URL_BYTES_MAX};

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

/// Elements on the stack that tells foreign content (SVG, MathML) from HTML. Browsers cap the tree's depth at 512;
/// beyond the cap the rest of the page is read as plain HTML, which differs only in the raw text elements and CDATA
/// sections of hostile pages.
pub const FOREIGN_DEPTH_MAX: usize = 256;

/// How deep encoded links (thunder, flashget, qqdl) may wrap each other: real ones wrap once, seldom twice.
pub const ENCODED_LINK_NESTING_MAX: usize = 3;

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

pub const CONSOLE_LINE_BYTES_MAX: usize = 1_000;

pub const HOLLOW_ELEMENTS_MAX: usize = 32;

/// Renders of one class that are remembered until something is learned of them.
pub const SHORTCUT_OBSERVATIONS_MAX: usize = 6;

/// Bytes of all of them of one class: six pages of the largest usual kind. As much is remembered of what one page asks for and gets, its
/// requests among it; of what comes behind that only the kinds of its requests.
pub const SHORTCUT_OBSERVED_BYTES_MAX: usize = 6 << 20;

/// Bytes of one answer that is observed; lists of some hundred records have 50 to 300 kB.
pub const SHORTCUT_ANSWER_BYTES_MAX: usize = 1 << 20;

/// Endpoints of one class: one for each kind of address that its pages have.
pub const SHORTCUTS_PER_CLASS_MAX: usize = 8;

/// Endpoints of one class that a rule file may pin.
pub const SHORTCUT_PINS_MAX: usize = 16;

/// Pages of data that one page of the site may have; a render turns forty, a list of 10,000 torrents has some hundred.
pub const SHORTCUT_TURNS_MAX: usize = 1_000;

/// Pages of one class whose visit has ended before their data did, and that the next visit goes on with.
pub const SHORTCUT_RESTS_MAX: usize = 16;

/// Bytes of all of them of one class, most of them hashes of links: those of a million.
pub const SHORTCUT_RESTS_BYTES_MAX: usize = 16 << 20;

/// Records of an answer's lists that a link template is tried on while learning.
pub const SHORTCUT_RECORDS_MAX: usize = 4_000;

/// Scalar values of one record that may be part of a link.
pub const SHORTCUT_FIELDS_MAX: usize = 64;

/// Link templates, and links that no record bears, of one endpoint.
pub const SHORTCUT_RULES_MAX: usize = 12;

pub const SHORTCUT_CONSTANTS_MAX: usize = 500;

/// Bytes of these links: they are part of a note.
pub const SHORTCUT_CONSTANTS_BYTES_MAX: usize = 64 << 10;

/// Parts of one request: parameters, fields, members of what is posted. Each is compared with each of another request.
pub const SHORTCUT_SLOTS_MAX: usize = 256;

/// Values and records that are laid over links while one guess at a set of renders is made: about a quarter of a second of CPU.
pub const SHORTCUT_WORK_MAX: u64 = 1_000_000;

/// The same while rows that were clicked are laid over answers, which is tried again and again within one render.
pub const SHORTCUT_ROWS_WORK_MAX: u64 = 100_000;

/// Places of an answer outside of its lists that may say how it goes on.
pub const SHORTCUT_PLACES_MAX: usize = 256;

/// Values on a page that may be a token.
pub const SHORTCUT_FACTS_MAX: usize = 2_000;

/// Bytes of one template as a person writes it.
pub const SHORTCUT_TEMPLATE_BYTES_MAX: usize = 4_096;

/// Visits by an endpoint between two renders that check it, at most; it begins with ten and doubles.
pub const SHORTCUT_CHECKED_OF_MAX: u32 = 100;

/// Pages in a row whose data are answered 404 or 410 before the endpoint is given up: pages are taken away one by one.
pub const SHORTCUT_GONE_MAX: u32 = 3;

/// Renders of a class after which learning is tried again at the latest: each time without success doubles the wait.
pub const SHORTCUT_RELEARN_MAX: u32 = 256;

/// Pages visited by one endpoint that are remembered until a render bears it out, and pages where it has ended a list: checks are a hundred
/// visits apart at most.
pub const SHORTCUT_VISITS_MAX: usize = 256;

/// Bytes of the addresses of each of these: they are part of a note.
pub const SHORTCUT_VISITS_BYTES_MAX: usize = 64 << 10;

/// Pages of one class that wait to be visited again, as an endpoint has proved wrong: those of all its endpoints.
pub const SHORTCUT_AGAIN_MAX: usize = 4_096;

/// Renders that have borne out where a list ends, from which on it is believed where the data themselves cannot be asked.
pub const SHORTCUT_ENDS_PROVEN: u32 = 3;

/// Pages visited since the last proof from which on the end of a crawl has one more rendered; a look at the front of a list visits fewer.
pub const SHORTCUT_CLOSING_MIN: usize = 3;

/// How often one crawl does so for a class: pages that show something else each time must not keep it from ending.
pub const SHORTCUT_CLOSINGS_MAX: u32 = 8;

/// Bytes of a parameter that is JSON and whose values are told apart; the variables of GraphQL have some hundred.
pub const SHORTCUT_JSON_BYTES_MAX: usize = 8 << 10;
