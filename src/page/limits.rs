//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a
//! bug.

pub use gleaner_base::limits::{PAGE_BYTES_MAX, SITEMAP_BYTES_MAX, URL_BYTES_MAX};

/// Links taken from one page. The largest directory listings contain 10⁵ entries.
pub const LINKS_PER_PAGE_MAX: usize = 250_000;

/// Bytes of the URLs taken from one page, with the context stored for each: a long `base` would make 250,000 short
/// links 1 GB. The largest directory listings give 20 MB.
pub const OUTLINK_BYTES_PER_PAGE_MAX: usize = 32 << 20;

/// Maximum depth of a page's tree; browsers stop at 512, and html5ever's time is quadratic in it.
pub const HTML_DEPTH_MAX: usize = 512;

/// Nodes of a page's tree, at about 200 bytes each. The largest index pages seen have 10⁵; without a cap each
/// unclosed `<b>` is copied into every later block.
pub const HTML_NODES_MAX: usize = 1_000_000;

/// Elements on the stack that separates foreign content (SVG, MathML) from HTML. Browsers cap the tree's depth at
/// 512. Beyond the cap the rest of the page is scanned as plain HTML, which differs only in the raw text elements and
/// CDATA sections of hostile pages.
pub const FOREIGN_DEPTH_MAX: usize = 256;

/// Nesting depth of encoded links (thunder, flashget, qqdl): real ones wrap once, seldom twice.
pub const ENCODED_LINK_NESTING_MAX: usize = 3;

/// Places of one URL that name a magnet and are tried: a redirector's holds one.
pub const MAGNETS_PER_URL_TRIED: usize = 4;

/// Infohashes of one item of a feed: real ones tell one, in one or two forms.
pub const INFOHASHES_PER_ITEM_MAX: usize = 16;

/// Bytes of an item's title that become a magnet's name; a longer one is no title.
pub const TITLE_BYTES_MAX: usize = 2_000;

/// Event handlers of one tag that are read; HTML has some hundred, a tag of a real page one or two.
pub const HANDLERS_PER_TAG_MAX: usize = 16;

/// Addresses of one event handler.
pub const TARGETS_PER_HANDLER_MAX: usize = 8;

/// Hidden fields and buttons of a form that is a link: real ones have a handful.
pub const FIELDS_PER_FORM_MAX: usize = 32;

/// Depth of pages that are written within the page, in `srcdoc` attributes.
pub const SRCDOC_DEPTH_MAX: u32 = 2;

/// Bytes of a text that are searched for a time: the longest cells contain the last author, the page, and the time.
pub const TIME_TEXT_BYTES_MAX: usize = 400;

/// Rows of one list: the largest directory listings contain 10⁵ entries.
pub const BOARD_ROWS_MAX: usize = 100_000;

/// Lists of one page that are scored as the board's: menus, sidebars and tables of numbers are lists too.
pub const BOARD_LISTS_MAX: usize = 60;

/// Elements, and links, of one row that are read: the longest rows contain pages and icons by the dozen.
pub const BOARD_CELLS_MAX: usize = 2_000;

/// Bytes of one text of a row.
pub const BOARD_TEXT_BYTES_MAX: usize = 1_000;

/// Pages of one board recheck: the activity of a year on a busy board. The history crew handles more.
pub const BOARD_PAGES_MAX: usize = 1_000;

/// Nesting depth of a page's slots; deeper elements count with their ancestors.
pub const NOISE_DEPTH_MAX: usize = 256;

/// Atoms of one page used for learning: 16 bytes each. Index pages have 300 to 3,000; of longer ones the head is
/// enough.
pub const NOISE_ATOMS_MAX: usize = 4_096;

/// Parts of the links of one page that are compared with another visit: 8 bytes each.
pub const NOISE_PARTS_MAX: usize = 12_288;

/// URLs of one class whose last visit is kept for comparison: 160 kB each at most, 20 kB in the mean.
pub const NOISE_SAMPLES_MAX: usize = 3;

/// Slots, shapes and parts of links of one class with evidence for noise, and those that contain records: 48 bytes
/// each.
pub const NOISE_KEYS_MAX: usize = 4_096;

/// Pages of different URLs that are fused into one template: more have no effect.
pub const NOISE_FUSED_PAGES: usize = 8;

/// Cells of the tables that align two visits of one URL: 5 ms.
pub const NOISE_ALIGNED_MAX: usize = 1 << 20;

/// Bytes of the note of one noise model: the caps above, as JSON and base64.
pub const NOISE_NOTE_BYTES_MAX: usize = 2 << 20;

/// Blocks of one page that are listed.
pub const NOISE_BLOCKS_TOLD_MAX: usize = 5_000;

pub const CONSOLE_LINE_BYTES_MAX: usize = 1_000;

/// Text that may follow "Loading" and the like in their element, in bytes: more of it is a sentence about loading.
pub const WAITS_TAIL_BYTES_MAX: usize = 24;

pub const HOLLOW_ELEMENTS_MAX: usize = 32;

/// Renders of one class that are kept until something is learned from them.
pub const SHORTCUT_OBSERVATIONS_MAX: usize = 6;

/// Bytes of all these renders of one class: six pages of the largest usual kind. The same limit applies to what one
/// page requests and receives; beyond it only the kinds of its requests are kept.
pub const SHORTCUT_OBSERVED_BYTES_MAX: usize = 6 << 20;

/// Bytes of one observed response; lists of some hundred records have 50 to 300 kB.
pub const SHORTCUT_ANSWER_BYTES_MAX: usize = 1 << 20;

/// Endpoints of one class: one for each kind of address of its pages.
pub const SHORTCUTS_PER_CLASS_MAX: usize = 8;

/// Endpoints of one class that a rule file may pin.
pub const SHORTCUT_PINS_MAX: usize = 16;

/// Pages of data per page of the site. A render turns forty; a list of 10,000 torrents has some hundred.
pub const SHORTCUT_TURNS_MAX: usize = 1_000;

/// Pages of one class whose visit ended before their data did, and which the next visit continues.
pub const SHORTCUT_RESTS_MAX: usize = 16;

/// Bytes of all these of one class, most of them hashes of links: those of a million.
pub const SHORTCUT_RESTS_BYTES_MAX: usize = 16 << 20;

/// Records of a response's lists that a link template is tried on while learning.
pub const SHORTCUT_RECORDS_MAX: usize = 4_000;

/// Scalar values of one record that may be part of a link.
pub const SHORTCUT_FIELDS_MAX: usize = 64;

/// Link templates of one endpoint, and links that are in no record.
pub const SHORTCUT_RULES_MAX: usize = 12;

pub const SHORTCUT_CONSTANTS_MAX: usize = 500;

/// Bytes of these links: they are part of a note.
pub const SHORTCUT_CONSTANTS_BYTES_MAX: usize = 64 << 10;

/// Parts of one request: parameters, fields, members of the posted body. Each is compared with each part of another
/// request.
pub const SHORTCUT_SLOTS_MAX: usize = 256;

/// Values and records matched with links while one guess for a set of renders is made: about a quarter of a second of
/// CPU.
pub const SHORTCUT_WORK_MAX: u64 = 1_000_000;

/// The same while clicked rows are matched with responses, which is repeated often within one render.
pub const SHORTCUT_ROWS_WORK_MAX: u64 = 100_000;

/// Places of a response outside of its lists that may contain the next page.
pub const SHORTCUT_PLACES_MAX: usize = 256;

/// Values on a page that may be a token.
pub const SHORTCUT_FACTS_MAX: usize = 2_000;

/// Bytes of one template as written by a person.
pub const SHORTCUT_TEMPLATE_BYTES_MAX: usize = 4_096;

/// Maximum visits with an endpoint between two renders that check it; starts at ten and doubles.
pub const SHORTCUT_CHECKED_OF_MAX: u32 = 100;

/// Consecutive pages whose data are answered with 404 or 410 before the endpoint is dropped: single pages do get
/// removed.
pub const SHORTCUT_GONE_MAX: u32 = 3;

/// Maximum renders of a class before learning is tried again; each failure doubles the wait.
pub const SHORTCUT_RELEARN_MAX: u32 = 256;

/// Pages visited by one endpoint that are kept until a render confirms it, and pages where it ended a list: checks
/// are at most a hundred visits apart.
pub const SHORTCUT_VISITS_MAX: usize = 256;

/// Bytes of the addresses of all these: they are part of a note.
pub const SHORTCUT_VISITS_BYTES_MAX: usize = 64 << 10;

/// Pages of one class that must be visited again because an endpoint was wrong: for all its endpoints.
pub const SHORTCUT_AGAIN_MAX: usize = 4_096;

/// Renders that must confirm the end of a list before it is trusted without a request for the data.
pub const SHORTCUT_ENDS_PROVEN: u32 = 3;

/// Pages visited since the last proof from which on the end of a crawl renders one more; a recheck of a list's front
/// visits fewer.
pub const SHORTCUT_CLOSING_MIN: usize = 3;

/// Maximum number of such renders per crawl and class: pages that always change must not keep a crawl from ending.
pub const SHORTCUT_CLOSINGS_MAX: u32 = 8;

/// Bytes of a JSON parameter whose values are compared one by one; the variables of GraphQL have some hundred.
pub const SHORTCUT_JSON_BYTES_MAX: usize = 8 << 10;

/// Elements around a link in which its row is searched: rows of the deepest pages seen have 20.
pub const ROW_DEPTH_MAX: usize = 64;

/// Links to torrents and their pages in one row of a list: a detail, its files and comments, a magnet.
pub const ROW_TARGETS_MAX: usize = 8;

/// Bytes of a list's page that are searched for its size: a list of a thousand rows has half a megabyte.
pub const STATED_BYTES_MAX: usize = 1 << 20;

/// Places of one form on a page that are read: a hostile page consists of them.
pub const STATED_FOUND_MAX: usize = 4_096;

/// The largest size that a list may have: the largest site known has some 10⁷ torrents.
pub const STATED_TOTAL_MAX: u64 = 1_000_000_000;

/// The largest number of pages that a list may have.
pub const STATED_PAGES_MAX: u64 = 10_000_000;
