//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

use std::time::Duration;

pub use gleaner_base::limits::RETRY_AFTER_MAX;
pub use gleaner_page::limits::CONSOLE_LINE_BYTES_MAX;

/// Bytes of the text beside a field, or of one of its attributes, that tell what it asks for.
pub const FIELD_HINT_BYTES_MAX: usize = 90;

/// Logins in a row that may end without a clear verdict before the operator is to look: sites lock accounts after three
/// to five.
pub const LOGINS_UNCLEAR_MAX: u32 = 2;

/// Logins of one account that a site lets in within an hour: more are a storm, whatever ends the sessions.
pub const LOGINS_PER_HOUR_MAX: usize = 20;

/// Users and passwords of one account that were sent and let nobody in, and are remembered, at four bytes each; where there are so many,
/// no other is sent unless its operator says `--again`.
pub const LOGINS_REFUSED_MAX: usize = 1_000;

/// Ways of the rule file (forms, and pages that prove) by which one password is sent by hand where none of them has told how it went.
pub const LOGIN_WAYS_MAX: usize = 16;

/// Waits behind further tries of a user and a password that the site has let in before, where their answers say nothing of them: the last
/// one behind each that follows. The first such try waits for minutes, and is behind what may pass; an evening's block or upkeep is over after
/// hours; and no site counts one login a day as an attack.
pub const LOGIN_FURTHER_WAITS: [Duration; 2] = [Duration::from_secs(6 * 3_600), LOGIN_WAIT_MAX];

/// Further tries of such whose answers let nobody in, and are neither a sure refusal nor sure trouble: the next answer of that kind holds
/// them.
pub const LOGIN_BARE_MAX: u32 = 3;

/// Answers in a row, of whatever kind, to a user and a password that the site has let in before, none of which let them in, each
/// `LOGIN_FURTHER_WAITS[0]` or more behind the last that counted: more than a week of them. Trouble of a site's own that comes only once a form was sent may be how it says that an account is locked; what its pages
/// show before that sends no form, and counts nothing.
pub const LOGIN_FURTHER_MAX: u32 = 10;

/// Tries of one user and password in a row that may be answered by asking for patience, by hand and by crawls together: whoever guesses
/// passwords is answered so as well.
pub const LOGIN_LIMITED_MAX: usize = 3;

/// Texts with a number in them that are told of an answer to a login.
pub const LOGIN_NUMBERS_TOLD_MAX: usize = 2;

/// Wait after a login whose process was killed in the middle, and the least behind one at which the site has asked for patience.
pub const LOGIN_BROKEN_OFF_WAIT: Duration = Duration::from_secs(60);

/// From this age on, cookies of a login that was never proven may have ended of themselves: forums let a session without a
/// request live for 15 minutes to an hour, and a proof that fails tells nothing of the password then.
pub const UNPROVEN_SESSION_TIME: Duration = Duration::from_secs(3_600);

/// Longest wait behind logins, or proofs, that a site in trouble has kept from their end: the first waits for `OPERATOR_POLL`,
/// each further one twice as long.
pub const SITE_TROUBLE_WAIT_MAX: Duration = Duration::from_secs(3_600);

/// Longest wait between two logins that ended without a clear verdict.
pub const LOGIN_WAIT_MAX: Duration = Duration::from_secs(24 * 3_600);

/// How far a clock may be set back that was ahead, without the waits that it wrote down being lost.
pub const CLOCK_MENDED_MAX: Duration = Duration::from_secs(3_600);

/// How often a site that waits for its operator looks whether something was done.
pub const OPERATOR_POLL: Duration = Duration::from_secs(60);

/// Frames of one page that are known.
pub const FRAMES_PER_PAGE_MAX: usize = 32;

/// Pictures of one page among which that of a CAPTCHA is looked for, and boxes for other sites' CAPTCHAs.
pub const PICTURES_PER_PAGE_MAX: usize = 1_000;

/// Groups of fields without a form that are gathered on one page: each walks up the tree and down again.
pub const LOOSE_FORMS_MAX: usize = 8;

/// Bytes of a form's script that are told.
pub const HANDLER_TOLD_BYTES_MAX: usize = 120;

/// Forms of one page that are looked at. Pages with a form for each row of a list have a hundred.
pub const FORMS_PER_PAGE_MAX: usize = 500;

/// Controls of one form. The largest search forms have two hundred.
pub const CONTROLS_PER_FORM_MAX: usize = 1_000;

/// Options of one select: the longest lists of places have some thousand.
pub const OPTIONS_PER_SELECT_MAX: usize = 5_000;

/// Links within one form that are looked at.
pub const LINKS_PER_FORM_MAX: usize = 100;

/// Bytes of a label, and of the text before and behind a control.
pub const CONTROL_TEXT_BYTES_MAX: usize = 200;

/// Bytes of the text of one form: what it is for stands in its first sentences.
pub const FORM_TEXT_BYTES_MAX: usize = 4_096;

/// Bytes of a page's text in which words of logins are looked for: messages stand near the top.
pub const VIEW_TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a text that may be such a message: the longest secret (`SECRET_BYTES_MAX`) fits in whole and is known again.
pub const MESSAGE_BYTES_MAX: usize = 8_192;

/// Texts of one page among which the message of a login that was refused is looked for; it stands near the form, and that near the
/// top.
pub const MESSAGES_PER_PAGE_MAX: usize = 400;

/// Bytes of a form's text whose words are weighed: more than any login form says, and 50 µs are for all of it.
pub const FORM_WORDS_BYTES_MAX: usize = 2_000;
