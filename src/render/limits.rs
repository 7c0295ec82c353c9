//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

use std::time::Duration;

pub use gleaner_base::limits::{COOKIE_BYTES_MAX, COOKIES_PER_SITE_MAX, HEADERS_MAX, URL_BYTES_MAX};
pub use gleaner_page::limits::{CONSOLE_LINE_BYTES_MAX, SHORTCUT_ANSWER_BYTES_MAX};

/// Bytes of a page that is read on the loop's own thread: a millisecond or two.
pub const INLINE_PAGE_BYTES_MAX: usize = 256 << 10;

/// Nodes of one page under scripts: each costs 60 to 250 bytes. Large index pages have 30,000.
pub const DOM_NODES_MAX: usize = 1 << 19;

/// Bytes of character data and attribute values of one page under scripts, all its documents together.
pub const DOM_TEXT_BYTES_MAX: usize = 64 << 20;

/// Elements that the parser nests; what is deeper is put beside, as Chromium does.
pub const DOM_PARSED_DEPTH_MAX: usize = 512;

/// Bytes of one selector. Lists of generated ids are the longest that pages have.
pub const SELECTOR_BYTES_MAX: usize = 64 << 10;

/// Parentheses and brackets of a selector within each other; the parser of selectors recurs with each.
pub const SELECTOR_NESTING_MAX: u8 = 32;

/// Selectors of one page that are kept parsed; libraries ask the same dozens again and again.
pub const SELECTORS_CACHED_MAX: usize = 512;

/// Instructions of the script engine for all scripts of one page: some ten seconds of CPU. The heaviest pages measured used a tenth.
pub const RENDER_INSTRUCTIONS_MAX: usize = 400_000_000;

/// Iterations of the loops of one call of a script: an endless loop costs its own script a second, not the page.
pub const RENDER_LOOP_ITERATIONS_MAX: u64 = 20_000_000;

/// Calls of scripts within each other, as many as browsers hold. One that a native makes takes the process's stack, and counts as five.
pub const RENDER_RECURSION_MAX: usize = 10_000;

/// Calls in the `stack` of an error, as many as browsers tell; and those that a page's errors are placed by.
pub const RENDER_BACKTRACE_MAX: usize = 10;

/// Handlers in markup whose place is looked for, for their errors: each takes a walk through the document.
pub const RENDER_HANDLERS_SOUGHT_MAX: u32 = 100;

/// Values on the script engine's own stack.
pub const RENDER_STACK_VALUES_MAX: usize = 1 << 20;

/// Virtual time of one run of a page's event loop, in milliseconds: more than pages wait for before they show what they have.
pub const RENDER_VIRTUAL_MS: u64 = 10_000;

/// Tasks of one run of a page's event loop: ten seconds of animation frames and intervals are some thousand.
pub const RENDER_TASKS_MAX: u64 = 50_000;

/// Tasks and timers of a page that wait at a time; more are forgotten.
pub const TIMERS_MAX: usize = 10_000;

/// Listeners of one event target; more are forgotten.
pub const LISTENERS_MAX: usize = 10_000;

/// Objects on the way of one event, from the root to its target: the depth of a tree and of what is around it.
pub const EVENT_PATH_MAX: usize = 2_048;

/// Lines of a page's console that are kept, and bytes of each; others are counted.
pub const CONSOLE_LINES_MAX: usize = 200;

/// Events of a page that are told where somebody asks what happened, and bytes of a text in one: some megabytes at most.
pub const TRACE_EVENTS_MAX: usize = 10_000;

pub const TRACE_TEXT_BYTES_MAX: usize = 1_000;

/// Errors of a page's scripts that are kept; others are counted.
pub const SCRIPT_ERRORS_MAX: usize = 100;

/// Bytes that the crawl keeps of each of the two storages of an origin, and origins of a site that it keeps them of.
pub const RENDER_STORED_BYTES_MAX: usize = 64 << 10;

/// Requests of one page's scripts since an act of its reader that brought links, those of a whole page, bytes of the answer to one, and of
/// what one posts: lists are asked for with a few hundred.
pub const RENDER_REQUESTS_MAX: u32 = 500;

pub const RENDER_REQUESTS_ALL_MAX: u32 = 5_000;

pub const RENDER_BODY_BYTES_MAX: usize = 8 << 20;

pub const RENDER_POSTED_BYTES_MAX: usize = 1 << 20;

/// Bytes of one `ArrayBuffer` of a page.
pub const ARRAY_BUFFER_BYTES_MAX: u64 = 64 << 20;

/// Bytes that a render child may write to memory, its pages' stack aside: pages of the web use 20 to 50 MB, hostile ones all they get.
pub const RENDER_MEMORY_BYTES_MAX: u64 = 384 << 20;

/// Stack of a page's thread, reserved and not written: natives and scripts that call each other nest `RENDER_RECURSION_MAX` deep.
pub const RENDER_STACK_BYTES: usize = 256 << 20;

/// Memory that a render child must have left to write for its next page, that page's stack among it; another takes its place else.
pub const RENDER_ROOM_BYTES: usize = RENDER_STACK_BYTES + (RENDER_MEMORY_BYTES_MAX / 2) as usize;

/// Address space of a render child beyond what it may write: the program, its libraries, and what the allocator reserves ahead.
pub const RENDER_ADDRESS_SPACE_BYTES: u64 = 4 << 30;

/// CPU time of one page, in seconds: what instructions do not count (regular expressions, sorting, parsing) ends here.
pub const RENDER_CPU_SECONDS_MAX: u64 = 20;

/// CPU time of a render child in its whole life, in seconds, at which the kernel ends it whatever runs in it: 500 ordinary pages use half.
/// One that could not give another page its own time ends before.
pub const RENDER_CHILD_CPU_SECONDS_MAX: u64 = 600;

/// Time of one page, the waits for its requests included, of which a site's rate may make many seconds each. Shorter than a lease.
pub const RENDER_WALL_TIME: Duration = Duration::from_secs(300);

/// Height of the window of a page in a crawl, in CSS pixels: lists that are filled or loaded as far as they are in view show some
/// hundred rows at once.
pub const RENDER_VIEW_HEIGHT: u32 = 12_000;

/// Time that a render child may go on without a word while nobody owes it an answer.
pub const RENDER_SILENCE_TIME: Duration = Duration::from_secs(30);

/// CPU time between two words of a child whose page asks for nothing and is still being read, in microseconds, and how many there may be.
pub const RENDER_ALIVE_EVERY_US: u64 = 200_000;

pub const RENDER_ALIVES_MAX: u32 = 1_000;

/// Render children at a time over all sites, those that wait for a page among them, and pages of one site that run at a time. A child
/// holds 25 to 160 MB and takes a processor, but for the time that it waits for its answers: that of a slow site is most of a page's.
///
/// What the crawl's own process holds of a page while it runs, in MiB at most: its markup as it came, decoded and on its way (8, 24, 24); what
/// its scripts post (1 each, six at a time, twice); larger answers and the texts of six (16, 6); what is remembered to learn from (6, and 4 of
/// links); a frame that is read (2). That are 102. When it is done, a frame with all that it shows (48) is read in place of answers and posts,
/// twice while it is copied. So four pages hold 600 at the very worst, each with all of it at once; lists of the web take some 10 each.
pub const RENDER_CHILDREN_MAX: usize = 4;

pub const RENDER_CHILDREN_PER_SITE_MAX: usize = 2;

/// Frames of one page that have a document at a time, forums with a player in each post have some dozens.
pub const RENDER_FRAMES_MAX: usize = 256;

/// Windows of frames that one page has in all, those of frames that are gone among them: what scripts hold of a window keeps it. Frames beyond
/// show their documents, and run no scripts.
pub const RENDER_REALMS_MAX: usize = 64;

/// Live lists that a page gets again when it asks for the same.
pub const RECENT_LISTS_MAX: usize = 32;

/// Pages that a render child runs before another takes its place: whatever leaks goes with it.
/// Requests of one page that are under way at a time: as many as browsers open to one host.
/// Bytes of one frame between the crawl and a render child: a page's scripts together, or the largest answer.
/// Bytes of the head of one from a child that does not tell a page's outcome, and of one that does.
pub const RENDER_CHILD_PAGES_MAX: u32 = 500;

pub const RENDER_REQUESTS_AT_ONCE_MAX: usize = 6;

pub const RENDER_FRAME_BYTES_MAX: usize = 48 << 20;

pub const RENDER_HEAD_BYTES_MAX: usize = 1 << 20;

pub const RENDER_DONE_HEAD_BYTES_MAX: usize = 24 << 20;

/// Bytes of the method of a script's request, of which the longest that is registered has 17; and of all its headers, names and values.
/// Cookies that the scripts of a page may set between two outcomes; more are forgotten.
pub const METHOD_BYTES_MAX: usize = 64;

pub const RENDER_HEADERS_BYTES_MAX: usize = 64 << 10;

pub const RENDER_COOKIES_SET_MAX: usize = 1_000;

/// Scripts that a render child keeps parsed from one page to the next: bytes of the smallest text that is worth it, and of all of them. A tree
/// is some ten times as large as its text.
/// Pages behind each other that did not use a script before it is dropped.
/// Texts that are remembered as met once, and names of scripts that are kept (some 150 bytes each): beyond, all begins anew.
pub const RENDER_KEPT_TEXT_BYTES_MIN: usize = 2 << 10;

pub const RENDER_KEPT_BYTES_MAX: usize = 3 << 20;

pub const RENDER_KEPT_PAGES_MAX: u64 = 3;

pub const RENDER_KEPT_MET_MAX: usize = 4_096;

pub const RENDER_KEPT_NAMES_MAX: usize = 50_000;

/// Pairs of a form, a query or a blob's parts that a script holds, and headers of one request or answer.
pub const PAIRS_MAX: usize = 100_000;

/// Bytes of an address or a header that a script hands over: `data:` addresses hold whole files.
pub const SCRIPT_URL_BYTES_MAX: usize = 1 << 20;

/// Depth and objects of a value that a script copies with `structuredClone`: finding what was seen takes the square of their number.
/// Depth of a JSON text that a script reads: each level takes some of the process's stack.
pub const CLONE_DEPTH_MAX: usize = 1_000;

pub const CLONE_OBJECTS_MAX: usize = 10_000;

pub const JSON_DEPTH_MAX: usize = 1_000;

/// Microtasks of one page: some natives make another each time, and use no instruction of the engine.
pub const RENDER_MICROTASKS_MAX: u64 = 1_000_000;

/// What scripts hold and ask: observed nodes or names of one observer, its records not yet told, custom elements and names of one page,
/// operators and parentheses of an XPath expression, nodes that it looks at.
pub const OBSERVED_NODES_MAX: usize = 10_000;

pub const MUTATION_RECORDS_MAX: usize = 100_000;

pub const CUSTOM_ELEMENTS_MAX: usize = 10_000;

pub const XPATH_DEPTH_MAX: usize = 200;

pub const XPATH_STEPS_MAX: usize = 5_000_000;

/// Bytes of the texts that a page has copied from one look of a reader's to the next.
pub const RENDER_COPIED_BYTES_MAX: usize = 256 << 10;

/// Navigations of one page that are told, entries of its history, bytes of a storage or of its cookies.
pub const RENDER_NAVIGATIONS_MAX: usize = 5_000;

pub const RENDER_HISTORY_MAX: usize = 50;

pub const RENDER_STORAGE_BYTES_MAX: usize = 5 << 20;

/// Nodes that a page's scripts have laid out by measuring and changing by turns, all layouts together: some seconds of CPU.
pub const RENDER_LAYOUT_NODES_MAX: usize = 50_000_000;

/// Rules that one style sheet of a page ever makes; large frameworks have 5,000.
pub const STYLE_RULES_MAX: usize = 20_000;

/// Selectors of one rule that are looked up by what an element must have for them; of more any element may meet one.
pub const SELECTOR_NEEDS_MAX: usize = 16;

/// Rules that a page's scripts have tried on elements by asking for computed styles: some seconds of CPU.
pub const STYLE_TRIES_MAX: u64 = 50_000_000;

/// Elements that are looked at for animations at a time and kept in mind, and events of animations of one page.
pub const STYLE_MOVED_MAX: usize = 10_000;

/// Bytes of a value in which custom properties were put in place.
pub const STYLE_VALUE_BYTES_MAX: usize = 64 << 10;

/// Prefixes of namespaces of one style sheet.
pub const STYLE_NAMESPACES_MAX: usize = 100;

/// Links of all states of one page, and controls of it that a reader considers at a time.
pub const RENDER_LINKS_MAX: usize = 50_000;

pub const RENDER_CONTROLS_MAX: usize = 10_000;

/// Kinds of rows that a reader tries of which nobody says that they react, but that something around them listens.
pub const RENDER_GUESSED_KINDS_MAX: usize = 4;

/// Acts that a crawl tries on a page in vain for what loading it does not show; and acts in a row that show other rows and no link.
/// Acts that bring links cost neither.
pub const RENDER_TRIES: u32 = 40;

pub const RENDER_ACTS_MAX: u32 = 200;

/// Processor time of a page from which on its reader begins no other act, in microseconds: below `RENDER_CPU_SECONDS_MAX`, so that what
/// has come is told.
pub const RENDER_EXPLORE_CPU_US: u64 = 12_000_000;

/// What each act that brings links adds to that where less is left, and where it ends: to open and to close a dialog of one of the large
/// libraries takes up to a second, for each row of a list.
pub const RENDER_EXPLORE_GAIN_US: u64 = 4_000_000;

pub const RENDER_EXPLORE_CPU_MAX_US: u64 = 120_000_000;

/// Clicks of a reader on what a view offers for download; turns of a list that are done again to come back to a row's place; rows that
/// nothing led back from, before a page counts as one that loses its lists.
pub const RENDER_LOST_MAX: u32 = 2;

pub const RENDER_VIEW_CLICKS_MAX: usize = 3;

/// Clicks behind one on a row that open one thing after the other until its link is there: a menu's "details", a dialog's "mirror".
pub const RENDER_STEPS_MAX: usize = 2;

/// So many controls of one kind, and in all, may come with a click that are for what was clicked: more are a list. And rows of a kind behind
/// which steps are looked for in vain.
pub const RENDER_OFFERS_OF_KIND_MAX: usize = 5;

pub const RENDER_OFFERS_MAX: usize = 8;

pub const RENDER_SEARCHES_MAX: u32 = 3;

pub const RENDER_REPLAYS_MAX: u32 = 1_000;

/// What a reader keeps in mind to come back to: rows that were not opened, and states that showed them; how often it comes back to one, and
/// how many tabs it tries for the one that shows it; groups of tabs beside each other that are gone through as their product.
pub const RENDER_WAITING_MAX: usize = 50_000;

pub const RENDER_PLACES_MAX: usize = 2_000;

pub const RENDER_PLACE_VISITS_MAX: u32 = 2;

pub const RENDER_PLACE_TABS_MAX: usize = 8;

pub const RENDER_TAB_GROUPS_MAX: usize = 3;

/// Bytes of answers to a page's scripts that its reader has not looked at yet, and of those that it keeps to learn from.
pub const RENDER_HEARD_BYTES_MAX: usize = 4 << 20;

/// Mappings from answers to the links of rows that one reader holds; rows of one kind that it keeps to learn from.
pub const RENDER_MAPPINGS_MAX: usize = 16;

pub const RENDER_CLICKED_ROWS_MAX: usize = 64;

/// Rows that are clicked to see whether their inferred links are theirs, and bring nothing, until nothing is inferred any more.
pub const RENDER_INFERRED_VAIN_MAX: u32 = 2;

/// Presses of "more" in one row, of a list that ends never.
pub const RENDER_MORE_OF_ROW_MAX: u32 = 50;

/// Folders within each other that a reader goes into without having seen a link.
pub const RENDER_FOLDERS_DEEP_MAX: usize = 8;

/// Faults of the server in a row until which what they have met is done once more; how often in a row a reader comes back to such things, and to
/// a page's own "try again", when all else is done; and how many requests of a page are kept in mind for that.
pub const RENDER_RETRIES_MAX: u32 = 5;

pub const RENDER_RETRY_ROUNDS_MAX: u32 = 2;

pub const RENDER_FAULTS_MAX: usize = 5_000;

/// Controls that say the same of which a reader looks for the one that a new element was before; clicks on a kind of rows that it watches for
/// what they take away; rounds of ticking that go before a button, of which a list that is drawn anew at each takes one a box.
pub const RENDER_ALIKE_MAX: usize = 8;

pub const RENDER_WATCHED_MAX: u32 = 12;

pub const RENDER_TICKS_MAX: usize = 100;

/// Boxes of a page that a reader scrolls within, and options of a list that are chosen one by one.
pub const RENDER_BOXES_MAX: usize = 20;

pub const RENDER_OPTIONS_MAX: usize = 100;

/// How often a list of options is scrolled on, where it draws those alone that are in view.
pub const RENDER_OPTIONS_SCROLLS_MAX: usize = 20;

/// What a reader keeps in mind of a page: texts and addresses shown, views to be visited, characters of a row, elements within a control.
pub const RENDER_SHOWN_MAX: usize = 500_000;

pub const RENDER_VIEWS_MAX: usize = 5_000;

pub const RENDER_ROW_TEXT_CHARS: usize = 300;

pub const RENDER_CONTROL_ELEMENTS: usize = 40;

/// Requests of one render that are observed, as many as an endpoint turns; and kinds of requests whose answers are not.
pub const SHORTCUT_EXCHANGES_MAX: usize = 1_000;
