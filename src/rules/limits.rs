//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

pub use gleaner_page::limits::SHORTCUT_PINS_MAX;

/// Lanes of a host, unless the site's rule file writes their number: a quarter of the requests that a process has in flight by default,
/// so that one fast site leaves the others theirs.
pub const UNWRITTEN_LANES_MAX: u16 = 16;

/// Depth in links from a start URL, unless the site's rule file says otherwise.
pub const DEPTH_MAX: u16 = 1_000;

/// Bytes of a rule or configuration file.
pub const RULE_FILE_BYTES_MAX: u64 = 1 << 20;

/// Texts that are made of each expression, to find rules that get no URL.
pub const SHADOW_TRIES: usize = 8;

/// Bytes of such a text.
pub const SHADOW_TEXT_BYTES_MAX: usize = 512;

/// Bytes of one compiled regular expression set of a rule file.
pub const REGEX_BYTES_MAX: usize = 10 << 20;

/// Labels of a site with a category of their own: forums have hundreds of boards.
pub const CATEGORIES_MAX: usize = 2_000;

/// Regular expressions of one site, its families' included. Each URL is matched against all of them at once; the
/// largest families need some dozens.
pub const RULES_PER_SITE_MAX: usize = 512;

/// Bytes of one compiled regular expression. `\w{20}` in Unicode is 1 MB: a pattern that needs more is a mistake.
pub const REGEX_PATTERN_BYTES_MAX: usize = 1 << 20;

/// Regular expressions of `allow_actions`.
pub const ALLOWED_ACTIONS_MAX: usize = 64;

/// Ancestors in one chain of families.
pub const FAMILY_GENERATIONS_MAX: usize = 8;

/// Syntax faults that are searched in one rule file: each costs a parse of the file.
pub const SYNTAX_FAULTS_MAX: usize = 30;

/// Faults of rule files that are printed in full; a file of the largest size may have a hundred thousand.
pub const FAULTS_SHOWN_MAX: usize = 200;

/// Hosts of one site. The host of each URL is compared with all of them.
pub const HOSTS_PER_SITE_MAX: usize = 256;

/// Start URLs of one site. If a site stays below their folders, each URL is compared with all of them.
pub const START_URLS_MAX: usize = 1_024;

/// Example URLs in one list of a rule file.
pub const EXAMPLES_MAX: usize = 4_096;

/// Quiet windows of one site: more than one per hour serve no purpose.
pub const QUIET_WINDOWS_MAX: usize = 24;

/// Mirrors of one site. The robots.txt of each is fetched when it is needed.
pub const MIRRORS_MAX: usize = 32;

/// Networks that a site's rule file may allow beyond the public internet. Each address is compared with all of them.
pub const NETWORKS_MAX: usize = 64;

/// Maximum number of pages of one URL shape to fetch before it must have led to a torrent, unless the site's rule file sets
/// another. Honest sites have lists of some hundred pages without one.
pub const SHAPE_PAGES: u32 = 1_000;

/// Links that the increment follows from a rechecked page, unless a rule file sets another number (ALGORITHMS §6.1: 3 to 5).
pub const INCREMENT_DEPTH: u8 = 4;

/// The maximum that a rule file may set: deeper pages are no news of the rechecked page.
pub const INCREMENT_DEPTH_MAX: u8 = 8;

/// Bytes of a form field's name in a rule file; longer ones are tokens.
pub const FIELD_NAME_BYTES_MAX: usize = 128;

/// Words of the name of an action in a URL: what has more is a title.
pub const ACTION_NAME_WORDS_MAX: usize = 3;

/// Bytes of such a name.
pub const ACTION_NAME_BYTES_MAX: usize = 40;

/// Searches with a name in gleaner.toml.
pub const SEARCHES_MAX: usize = 200;

/// Bytes of such a name, which stands in URLs.
pub const SEARCH_NAME_BYTES_MAX: usize = 64;

/// Bytes of a session's token in a URL or a form: what is longer is no token.
pub const TOKEN_BYTES_MAX: usize = 256;

/// Entries of `[[handover]]`: each asks the index when something was stored.
pub const HANDOVERS_MAX: usize = 64;

/// Bytes of the name of a handover, which names a file.
pub const HANDOVER_NAME_BYTES_MAX: usize = 64;

/// Time between two backups of the service: each copies the whole database.
pub const BACKUP_EVERY_MIN: std::time::Duration = std::time::Duration::from_secs(600);
pub const BACKUP_EVERY_MAX: std::time::Duration = std::time::Duration::from_secs(90 * 86_400);

/// Backups that stay in a folder.
pub const BACKUPS_KEPT_MAX: u16 = 1_000;

/// Channels of alarms, and words of the command of one.
pub const ALARM_CHANNELS_MAX: usize = 16;
pub const ALARM_COMMAND_WORDS_MAX: usize = 64;
