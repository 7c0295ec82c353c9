//! The caps of what is learned of pages that scripts build: observations, endpoints, and what one of them may ask and give.

/// Renders of one class that are remembered until something is learned of them.
pub const SHORTCUT_OBSERVATIONS_MAX: usize = 6;

/// Bytes of all of them of one class: six pages of the largest usual kind. As much is remembered of what one page asks for and gets, its
/// requests among it; of what comes behind that only the kinds of its requests.
pub const SHORTCUT_OBSERVED_BYTES_MAX: usize = 6 << 20;

/// Bytes of one answer that is observed; lists of some hundred records have 50 to 300 kB.
pub const SHORTCUT_ANSWER_BYTES_MAX: usize = 1 << 20;

/// Bytes of a page's own markup in which tokens are looked for.
pub const SHORTCUT_MARKUP_BYTES_MAX: usize = 512 << 10;

/// Requests of one render that are observed, as many as an endpoint turns; and kinds of requests whose answers are not.
pub const SHORTCUT_EXCHANGES_MAX: usize = 1_000;
pub const SHORTCUT_KINDS_UNREAD_MAX: usize = 16;

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
