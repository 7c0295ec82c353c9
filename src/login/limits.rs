//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a
//! bug.

use std::time::Duration;

pub use gleaner_base::limits::RETRY_AFTER_MAX;
pub use gleaner_page::limits::CONSOLE_LINE_BYTES_MAX;

/// Bytes of the text beside a field, or of one of its attributes, that are used to find what it asks for.
pub const FIELD_HINT_BYTES_MAX: usize = 90;

/// Consecutive logins that may end without a clear verdict before the operator must act: sites lock accounts after
/// three to five.
pub const LOGINS_UNCLEAR_MAX: u32 = 2;

/// Successful logins of one account within an hour: more mean a loop, whatever ends the sessions.
pub const LOGINS_PER_HOUR_MAX: usize = 20;

/// Rejected credentials of one account that are remembered, at four bytes each. At this number, no other credentials
/// are sent without `--again`.
pub const LOGINS_REFUSED_MAX: usize = 1_000;

/// Login variants of the rule file (forms, and proof pages) by which one password may be sent by hand if none of them
/// gave a clear result.
pub const LOGIN_WAYS_MAX: usize = 16;

/// Waits after retries of accepted credentials, if their responses are inconclusive; the last one repeats. The first
/// retry waits only minutes, for passing trouble. An evening's block or maintenance is over after hours, and no site
/// counts one login a day as an attack.
pub const LOGIN_FURTHER_WAITS: [Duration; 2] = [Duration::from_secs(6 * 3_600), LOGIN_WAIT_MAX];

/// Retries of accepted credentials with inconclusive responses (neither success, nor a clear rejection, nor clear
/// site trouble). The next response of that kind blocks them.
pub const LOGIN_BARE_MAX: u32 = 3;

/// Consecutive failed responses of any kind to accepted credentials, each at least `LOGIN_FURTHER_WAITS[0]` after the
/// last one that counted: more than a week of them. Site trouble that comes only after a form was sent may be how the
/// site reports a locked account. Trouble on pages before that sends no form and does not count.
pub const LOGIN_FURTHER_MAX: u32 = 10;

/// Consecutive rate-limited attempts of the same credentials, by hand and by crawls together. Password guessers are
/// rate-limited too.
pub const LOGIN_LIMITED_MAX: usize = 3;

/// Texts with a number that are reported from a login response.
pub const LOGIN_NUMBERS_TOLD_MAX: usize = 2;

/// Wait after a login whose process was killed in the middle, and minimum wait after a rate limit.
pub const LOGIN_BROKEN_OFF_WAIT: Duration = Duration::from_secs(60);

/// From this age on, the cookies of an unproven login may have expired: forums end an idle session after 15 minutes
/// to an hour. Then a failed proof says nothing about the password.
pub const UNPROVEN_SESSION_TIME: Duration = Duration::from_secs(3_600);

/// Longest wait after logins, or proofs, that site trouble interrupted. The first waits for `OPERATOR_POLL`, each
/// further one twice as long.
pub const SITE_TROUBLE_WAIT_MAX: Duration = Duration::from_secs(3_600);

/// Longest wait between two logins without a clear verdict.
pub const LOGIN_WAIT_MAX: Duration = Duration::from_secs(24 * 3_600);

/// How far a clock that was ahead may be set back without losing the waits that it stored.
pub const CLOCK_MENDED_MAX: Duration = Duration::from_secs(3_600);

/// How often a site that waits for its operator checks for a change.
pub const OPERATOR_POLL: Duration = Duration::from_secs(60);

/// Frames of one page that are recorded.
pub const FRAMES_PER_PAGE_MAX: usize = 32;

/// Pictures of one page that are searched for its CAPTCHA, and third-party CAPTCHA boxes.
pub const PICTURES_PER_PAGE_MAX: usize = 1_000;

/// Groups of fields without a form that are gathered per page: each walks up the tree and down again.
pub const LOOSE_FORMS_MAX: usize = 8;

/// Bytes of a form's script that are reported.
pub const HANDLER_TOLD_BYTES_MAX: usize = 120;

/// Forms of one page that are read. Pages with a form for each row of a list have a hundred.
pub const FORMS_PER_PAGE_MAX: usize = 500;

/// Controls of one form. The largest search forms have two hundred.
pub const CONTROLS_PER_FORM_MAX: usize = 1_000;

/// Options of one select: the longest lists of places have some thousand.
pub const OPTIONS_PER_SELECT_MAX: usize = 5_000;

/// Links within one form that are read.
pub const LINKS_PER_FORM_MAX: usize = 100;

/// Links of one page that ask before they are followed.
pub const ASKING_LINKS_MAX: usize = 1_000;

/// Bytes of a label, and of the text before and after a control.
pub const CONTROL_TEXT_BYTES_MAX: usize = 200;

/// Bytes of the text of one form: its purpose is in its first sentences.
pub const FORM_TEXT_BYTES_MAX: usize = 4_096;

/// Bytes of a page's text that are searched for login phrases: messages are near the top.
pub const VIEW_TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of one message. The longest secret (`SECRET_BYTES_MAX`) must fit, so that it can be masked.
pub const MESSAGE_BYTES_MAX: usize = 8_192;

/// Texts of one page that are searched for the message of a rejected login. It is near the form, and the form is near
/// the top.
pub const MESSAGES_PER_PAGE_MAX: usize = 400;

/// Bytes of a form's text whose words are weighted: more than any login form has, and all of it must take only 50 µs.
pub const FORM_WORDS_BYTES_MAX: usize = 2_000;

/// Bytes of the name of an authentication scheme: `Negotiate` has nine.
pub const SCHEME_BYTES_MAX: usize = 32;
