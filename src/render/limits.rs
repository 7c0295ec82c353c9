//! Every cap of this crate, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is unbounded, which is a
//! bug.

use std::time::Duration;

pub use gleaner_base::limits::{COOKIE_BYTES_MAX, COOKIES_PER_SITE_MAX, HEADERS_MAX, URL_BYTES_MAX};
pub use gleaner_page::limits::{CONSOLE_LINE_BYTES_MAX, SHORTCUT_ANSWER_BYTES_MAX};

/// Bytes of a page that is parsed on the event loop's own thread: a millisecond or two.
pub const INLINE_PAGE_BYTES_MAX: usize = 256 << 10;

/// Nodes of one page under scripts: each costs 60 to 250 bytes. Large index pages have 30,000.
pub const DOM_NODES_MAX: usize = 1 << 19;

/// Bytes of character data and attribute values of one page under scripts, all its documents together.
pub const DOM_TEXT_BYTES_MAX: usize = 64 << 20;

/// Nesting depth of elements in the parser; deeper elements become siblings, as in Chromium.
pub const DOM_PARSED_DEPTH_MAX: usize = 512;

/// Bytes of one selector. Lists of generated ids are the longest that pages have.
pub const SELECTOR_BYTES_MAX: usize = 64 << 10;

/// Nesting depth of parentheses and brackets of a selector: the selector parser recurses at each.
pub const SELECTOR_NESTING_MAX: u8 = 32;

/// Parsed selectors cached per page; libraries use the same few dozen again and again.
pub const SELECTORS_CACHED_MAX: usize = 512;

/// Instructions of the script engine for all scripts of one page: some ten seconds of CPU. The heaviest pages measured used a tenth.
pub const RENDER_INSTRUCTIONS_MAX: usize = 400_000_000;

/// Loop iterations of one call of a script: an endless loop costs its own script a second, not the page.
pub const RENDER_LOOP_ITERATIONS_MAX: u64 = 20_000_000;

/// Depth of nested script calls, as in browsers. A call that a native makes uses the process's stack, and counts as five.
pub const RENDER_RECURSION_MAX: usize = 10_000;

/// Calls in the `stack` of an error, as many as browsers report; also those used to locate a page's errors.
pub const RENDER_BACKTRACE_MAX: usize = 10;

/// Inline event handlers whose position is searched for their errors: each search walks the document.
pub const RENDER_HANDLERS_SOUGHT_MAX: u32 = 100;

/// Values on the script engine's own stack.
pub const RENDER_STACK_VALUES_MAX: usize = 1 << 20;

/// Virtual time of one run of a page's event loop, in milliseconds: longer than pages wait before they show their content.
pub const RENDER_VIRTUAL_MS: u64 = 10_000;

/// Tasks of one run of a page's event loop: ten seconds of animation frames and intervals take a few thousand.
pub const RENDER_TASKS_MAX: u64 = 50_000;

/// Pending tasks and timers of a page; more are dropped.
pub const TIMERS_MAX: usize = 10_000;

/// Listeners of one event target; more are dropped.
pub const LISTENERS_MAX: usize = 10_000;

/// Objects on the path of one event, from the root to its target: the depth of a tree and of what encloses it.
pub const EVENT_PATH_MAX: usize = 2_048;

/// Lines of a page's console that are kept, and bytes of each; further lines are only counted.
pub const CONSOLE_LINES_MAX: usize = 200;

/// Events in a page's trace, if one is requested, and bytes of a text in one: some megabytes at most.
pub const TRACE_EVENTS_MAX: usize = 10_000;

pub const TRACE_TEXT_BYTES_MAX: usize = 1_000;

/// Errors of a page's scripts that are kept; others are only counted.
pub const SCRIPT_ERRORS_MAX: usize = 100;

/// Bytes that the crawl keeps of each of the two storages of an origin, and origins per site for which it keeps them.
pub const RENDER_STORED_BYTES_MAX: usize = 64 << 10;

/// Requests of one page's scripts since the last reader act that brought links; requests of a whole page; bytes of one response; bytes of
/// one request body. Fetching a list takes a few hundred.
pub const RENDER_REQUESTS_MAX: u32 = 500;

pub const RENDER_REQUESTS_ALL_MAX: u32 = 5_000;

pub const RENDER_BODY_BYTES_MAX: usize = 8 << 20;

pub const RENDER_POSTED_BYTES_MAX: usize = 1 << 20;

/// Bytes of one `ArrayBuffer` of a page.
pub const ARRAY_BUFFER_BYTES_MAX: u64 = 64 << 20;

/// Bytes that a render child may write to memory, its pages' stack excluded: web pages use 20 to 50 MB, hostile ones all they get.
pub const RENDER_MEMORY_BYTES_MAX: u64 = 384 << 20;

/// Stack of a page's thread, reserved but not written: natives and scripts that call each other nest `RENDER_RECURSION_MAX` deep.
pub const RENDER_STACK_BYTES: usize = 256 << 20;

/// Memory that a render child must be able to write for its next page, including that page's stack; otherwise it is replaced.
pub const RENDER_ROOM_BYTES: usize = RENDER_STACK_BYTES + (RENDER_MEMORY_BYTES_MAX / 2) as usize;

/// Address space of a render child beyond what it may write: the program, its libraries, and what the allocator reserves ahead.
pub const RENDER_ADDRESS_SPACE_BYTES: u64 = 4 << 30;

/// CPU time of one page, in seconds: it bounds what instructions do not count (regular expressions, sorting, parsing).
pub const RENDER_CPU_SECONDS_MAX: u64 = 20;

/// CPU time of a render child over its life, in seconds, after which the kernel kills it: 500 ordinary pages use half. A child that could
/// not give another page its full time ends before.
pub const RENDER_CHILD_CPU_SECONDS_MAX: u64 = 600;

/// Wall-clock time of one page, including the wait for responses, which a site's rate limit may stretch to many seconds each. Shorter
/// than a lease.
pub const RENDER_WALL_TIME: Duration = Duration::from_secs(300);

/// Height of a page's viewport in a crawl, in CSS pixels: lists that load or draw only what is in view show some hundred rows at once.
pub const RENDER_VIEW_HEIGHT: u32 = 12_000;

/// Time that a render child may stay silent while no response is due.
pub const RENDER_SILENCE_TIME: Duration = Duration::from_secs(30);

/// CPU time between two `Alive` frames of a child whose page is still being read but requests nothing, in microseconds; and their number.
pub const RENDER_ALIVE_EVERY_US: u64 = 200_000;

pub const RENDER_ALIVES_MAX: u32 = 1_000;

/// Render children at a time over all sites, idle ones included; and pages of one site that run at a time. A child holds 25 to 160 MB and
/// occupies a processor except while it waits for responses: on a slow site that is most of the time.
///
/// The most that the crawl's own process holds of a running page, in MiB: its markup as received, decoded, and in its frame (8, 24, 24);
/// request bodies of its scripts (1 each, six at a time, twice); larger responses and the texts of six (16, 6); what is kept to learn
/// from (6, and 4 of links); a frame being read (2). The sum is 102. When the page is done, a frame with its whole outcome (48) is read
/// in place of responses and request bodies, twice while it is copied. So four pages hold 600 at the very worst, each with all of it at
/// once; lists on the web take some 10 each.
pub const RENDER_CHILDREN_MAX: usize = 4;

pub const RENDER_CHILDREN_PER_SITE_MAX: usize = 2;

/// Frames of one page that have a document at a time; forums with a player in each post have a few dozen.
pub const RENDER_FRAMES_MAX: usize = 256;

/// Frame windows that one page creates in all, including those of removed frames: a script's reference keeps a window alive. Frames
/// beyond this show their documents and run no scripts.
pub const RENDER_REALMS_MAX: usize = 64;

/// Live collections cached per page, returned again for the same query.
pub const RECENT_LISTS_MAX: usize = 32;

/// Pages that a render child runs before it is replaced, which bounds any leak.
/// Requests of one page under way at a time: as many as browsers open to one host.
/// Bytes of one frame between the crawl and a render child: a page's scripts together, or the largest response.
/// Bytes of the head of a child's frame: of one without an outcome, and of one with an outcome.
pub const RENDER_CHILD_PAGES_MAX: u32 = 500;

pub const RENDER_REQUESTS_AT_ONCE_MAX: usize = 6;

pub const RENDER_FRAME_BYTES_MAX: usize = 48 << 20;

pub const RENDER_HEAD_BYTES_MAX: usize = 1 << 20;

pub const RENDER_DONE_HEAD_BYTES_MAX: usize = 24 << 20;

/// Bytes of the method of a script's request (the longest registered one has 17), and of all its headers, names and values.
/// Cookies that the scripts of a page may set between two outcomes; more are dropped.
pub const METHOD_BYTES_MAX: usize = 64;

pub const RENDER_HEADERS_BYTES_MAX: usize = 64 << 10;

pub const RENDER_COOKIES_SET_MAX: usize = 1_000;

/// Parsed scripts that a render child caches from page to page: bytes of the smallest text that is worth it, and of all texts. A syntax
/// tree is some ten times as large as its text.
/// Consecutive pages that did not use a script before it is dropped.
/// Texts remembered as seen once, and interned names of scripts (some 150 bytes each): beyond these the cache is cleared.
pub const RENDER_KEPT_TEXT_BYTES_MIN: usize = 2 << 10;

pub const RENDER_KEPT_BYTES_MAX: usize = 3 << 20;

pub const RENDER_KEPT_PAGES_MAX: u64 = 3;

pub const RENDER_KEPT_MET_MAX: usize = 4_096;

pub const RENDER_KEPT_NAMES_MAX: usize = 50_000;

/// Pairs of a form, a query or a blob's parts that a script holds, and headers of one request or response.
pub const PAIRS_MAX: usize = 100_000;

/// Bytes of a URL or a header that a script passes: `data:` URLs hold whole files.
pub const SCRIPT_URL_BYTES_MAX: usize = 1 << 20;

/// Depth and objects of a value that a script copies with `structuredClone`: cycle detection takes quadratic time.
/// Depth of a JSON text that a script parses: each level takes some of the process's stack.
pub const CLONE_DEPTH_MAX: usize = 1_000;

pub const CLONE_OBJECTS_MAX: usize = 10_000;

pub const JSON_DEPTH_MAX: usize = 1_000;

/// Microtasks of one page: some natives queue another each time and use no instruction of the engine.
pub const RENDER_MICROTASKS_MAX: u64 = 1_000_000;

/// Script-created state: observed nodes or names of one observer, its undelivered records, custom elements and names of one page,
/// operators and parentheses of an XPath expression, nodes that it visits.
pub const OBSERVED_NODES_MAX: usize = 10_000;

pub const MUTATION_RECORDS_MAX: usize = 100_000;

pub const CUSTOM_ELEMENTS_MAX: usize = 10_000;

pub const XPATH_DEPTH_MAX: usize = 200;

pub const XPATH_STEPS_MAX: usize = 5_000_000;

/// Bytes of text that a page has copied to the clipboard since the reader last checked.
pub const RENDER_COPIED_BYTES_MAX: usize = 256 << 10;

/// States that one canvas puts aside (`save`), and those that it keeps.
pub const CANVAS_STATES_MAX: usize = 100;

/// Streams of events that one page listens to: each is one request, which waits `RENDER_EVENTS_TIME` at most.
pub const EVENT_SOURCES_MAX: u32 = 4;

/// Time of a stream of events from its request on, and how long it may be silent after its first event.
pub const RENDER_EVENTS_TIME: Duration = Duration::from_secs(4);

pub const RENDER_EVENTS_SILENCE_TIME: Duration = Duration::from_millis(1_500);

/// Workers of one page, those that have ended included: each has a heap of globals of its own, some 400 KB, until the page ends.
pub const WORKERS_MAX: usize = 16;

/// Images that a page requests, because it waits for their absence.
pub const IMAGES_ASKED_MAX: u32 = 2;

/// Compiled patterns of a page's form controls; beyond them all are dropped.
pub const PATTERNS_KEPT_MAX: usize = 100;

/// Reported navigations of one page, entries of its history, bytes of a storage or of its cookies.
pub const RENDER_NAVIGATIONS_MAX: usize = 5_000;

pub const RENDER_HISTORY_MAX: usize = 50;

pub const RENDER_STORAGE_BYTES_MAX: usize = 5 << 20;

/// Nodes laid out, over all layouts of a page, for scripts that alternate between measuring and changing: some seconds of CPU.
pub const RENDER_LAYOUT_NODES_MAX: usize = 50_000_000;

/// Elements without a height that are remembered because a script has measured them.
pub const RENDER_FLAT_MAX: usize = 1_000;

/// Nodes in a box among which the highest element is looked for.
pub const RENDER_CONTENT_ELEMENTS_MAX: usize = 1_000;

/// Blocks that are walked up from an element for the one that its size is a share of.
pub const STYLE_BLOCKS_MAX: usize = 32;

/// Items of a line whose sizes are added up for the one that grows or shrinks.
pub const STYLE_LINE_MAX: usize = 100;

/// Sizes that are determined for scripts that alternate between measuring and changing, a line as `STYLE_LINE_MAX`: about a second of CPU.
pub const STYLE_SIZES_MAX: usize = 100_000;

/// Sizes that a `ResizeObserver` reports after the first one, for each target on average: a callback that resizes its target could go on
/// without end.
pub const RENDER_RESIZES_MAX: usize = 50;

/// Functions and parentheses within each other in one length.
pub const STYLE_CALC_DEPTH_MAX: usize = 16;

/// Rules created over the life of one style sheet; large frameworks have 5,000.
pub const STYLE_RULES_MAX: usize = 20_000;

/// Selectors of one rule that are indexed by what an element must have to match; a rule with more is tried on any element.
pub const SELECTOR_NEEDS_MAX: usize = 16;

/// Rule matches that a page's scripts cause by reading computed styles: some seconds of CPU.
pub const STYLE_TRIES_MAX: u64 = 50_000_000;

/// Elements checked for animations at a time and remembered, and animation events of one page.
pub const STYLE_MOVED_MAX: usize = 10_000;

/// References to custom properties behind one value, those within their values included.
pub const STYLE_SUBSTITUTIONS_MAX: u32 = 256;

/// Bytes of a value after its custom properties are substituted.
pub const STYLE_VALUE_BYTES_MAX: usize = 64 << 10;

/// Linked style sheets that a page's scripts have fetched by asking for computed styles, and bytes of each.
pub const LINKED_SHEETS_MAX: usize = 8;

pub const LINKED_SHEET_BYTES_MAX: usize = 1 << 20;

/// Namespace prefixes of one style sheet.
pub const STYLE_NAMESPACES_MAX: usize = 100;

/// Links of all states of one page, and controls that a reader considers at a time.
pub const RENDER_LINKS_MAX: usize = 50_000;

pub const RENDER_CONTROLS_MAX: usize = 10_000;

/// Kinds of rows that a reader tries only because something around them has a listener.
pub const RENDER_GUESSED_KINDS_MAX: usize = 4;

/// Futile acts that a crawl tries on a page, and acts in a row that show other rows but no link. Acts that bring links count towards
/// neither.
pub const RENDER_TRIES: u32 = 40;

pub const RENDER_ACTS_MAX: u32 = 200;

/// CPU time of a page after which its reader starts no other act, in microseconds: below `RENDER_CPU_SECONDS_MAX`, so that the outcome is
/// still sent.
pub const RENDER_EXPLORE_CPU_US: u64 = 12_000_000;

/// CPU time that each act with new links restores if less is left, and the maximum in all: opening and closing a dialog of a large
/// library takes up to a second, for each row of a list.
pub const RENDER_EXPLORE_GAIN_US: u64 = 4_000_000;

pub const RENDER_EXPLORE_CPU_MAX_US: u64 = 120_000_000;

/// `RENDER_LOST_MAX` is the number of rows that nothing led back from, before a page counts as one that loses its lists.
/// `RENDER_VIEW_CLICKS_MAX` is the number of clicks on the downloads that a view offers.
pub const RENDER_LOST_MAX: u32 = 2;

pub const RENDER_VIEW_CLICKS_MAX: usize = 3;

/// Clicks after one on a row that open one thing after the other until the link appears: a menu's "details", a dialog's "mirror".
pub const RENDER_STEPS_MAX: usize = 2;

/// Controls of one kind, and in all, that may appear after a click and belong to what was clicked: more of them are a list. Then rows of
/// a kind in which follow-up steps are searched in vain, and turns of a list that are replayed to get back to a row.
pub const RENDER_OFFERS_OF_KIND_MAX: usize = 5;

pub const RENDER_OFFERS_MAX: usize = 8;

pub const RENDER_SEARCHES_MAX: u32 = 3;

pub const RENDER_REPLAYS_MAX: u32 = 1_000;

/// What a reader remembers to return to: unopened rows, and states that showed them; how often it returns to a state, and how many tabs
/// it tries to find the right one; groups of adjacent tabs whose combinations are all visited.
pub const RENDER_WAITING_MAX: usize = 50_000;

pub const RENDER_PLACES_MAX: usize = 2_000;

pub const RENDER_PLACE_VISITS_MAX: u32 = 2;

pub const RENDER_PLACE_TABS_MAX: usize = 8;

pub const RENDER_TAB_GROUPS_MAX: usize = 3;

/// Bytes of responses to a page's scripts that its reader has not examined yet, and of those that it keeps to learn from.
pub const RENDER_HEARD_BYTES_MAX: usize = 4 << 20;

/// Mappings from responses to the links of rows that one reader holds; rows of one kind that it keeps to learn from.
pub const RENDER_MAPPINGS_MAX: usize = 16;

pub const RENDER_CLICKED_ROWS_MAX: usize = 64;

/// Rows clicked in vain to verify inferred links, before inference is given up.
pub const RENDER_INFERRED_VAIN_MAX: u32 = 2;

/// Clicks in a row on "more" of a list that never ends.
pub const RENDER_MORE_OF_ROW_MAX: u32 = 50;

/// Depth of nested folders that a reader enters without having seen a link.
pub const RENDER_FOLDERS_DEEP_MAX: usize = 8;

/// Consecutive server errors up to which the failed act is retried; consecutive rounds in which a reader retries such acts, and a page's
/// own "try again", after everything else; and requests of a page remembered for that.
pub const RENDER_RETRIES_MAX: u32 = 5;

pub const RENDER_RETRY_ROUNDS_MAX: u32 = 2;

pub const RENDER_FAULTS_MAX: usize = 5_000;

/// Controls with the same label among which a reader looks for the predecessor of a new element; clicks on a kind of rows that it watches
/// for what they remove; rounds of ticking boxes before a button is clicked: a list that is redrawn at each tick takes one round a box.
pub const RENDER_ALIKE_MAX: usize = 8;

pub const RENDER_WATCHED_MAX: u32 = 12;

pub const RENDER_TICKS_MAX: usize = 100;

/// Scrollable boxes of a page that a reader scrolls, and options of a list that are chosen one by one.
pub const RENDER_BOXES_MAX: usize = 20;

pub const RENDER_OPTIONS_MAX: usize = 100;

/// How often a list of options is scrolled further if it draws only those in view.
pub const RENDER_OPTIONS_SCROLLS_MAX: usize = 20;

/// What a reader remembers of a page: texts and URLs shown, views to visit, characters of a row, elements within a control.
pub const RENDER_SHOWN_MAX: usize = 500_000;

pub const RENDER_VIEWS_MAX: usize = 5_000;

pub const RENDER_ROW_TEXT_CHARS: usize = 300;

pub const RENDER_CONTROL_ELEMENTS: usize = 40;

/// Requests of one page that are recorded, as many as an endpoint has pages; and kinds of requests whose responses are not.
pub const SHORTCUT_EXCHANGES_MAX: usize = 1_000;
