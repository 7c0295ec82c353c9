//! What sites write around logins, in their languages: the data for verdicts. A phrase matches in the visible text,
//! in lower case.
//!
//! The phrases are in `models/words/login.tsv`, with a description of each topic.

use std::sync::LazyLock;

gleaner_base::topics! {
    pub login: NOT_LOOKED_AT, LOCKED, LOCKED_SOMEHOW, LOCKED_IN_DATABASE, WHOLE_SITES, WRONG, WRONG_SOMEHOW,
        CONFIRM, LOGGED_OUT, WELCOME, BEHIND_LOCKED, OWN_ACCOUNTS, YOURS, OF_NO_LOCK, FOR_TIMES, LABELS, PROGRAMS,
        OTHER_TIMES, OPENS_AGAIN, CAPTCHA, CAPTCHA_WIDGETS, WRONG_CAPTCHA, CAPTCHA_WORDS, CAPTCHA_WHOLE_WORDS,
        CREDENTIALS, OF_LOGIN, OF_ACCOUNT, OF_ACCESS, REFUSES, OF_OTHERS, TRIES_LEFT, TRIES_OF_LOGIN, LEFT_OVER,
        EITHER, EITHER_WHOLE_WORDS, ONCE_MORE, ONE_TIME_CODE, SECOND_FACTOR, ONE_TIME_PASSWORDS, EXPIRED_PASSWORD,
        ANY_PASSWORD, FAILS, FAILS_WHOLE, ABSENT, TRIES, FILLERS, CONDITIONS, FOR_OTHER_REASONS, RATE_LIMITED,
        COMES_BACK, ACCOUNTS, IS_LOCKED, AROUND_LOCKED, FOR_A_TIME, UNTIL, ACCOUNTS_UNPARTED, IS_LOCKED_UNPARTED,
        AROUND_LOCKED_UNPARTED, SUPPOSES, TROUBLE, FIREWALLS, NAMED_BY_SITES, CONSENT, LATER, WARNINGS, DONE, OF_USER;
    pub control: LOG_OUT, LOG_IN;
    pub time: WAIT_UNPARTED;
}

/// Prefixes of words for units of time, with their seconds.
pub static UNITS_OF_TIME: LazyLock<Vec<(&str, u64)>> = LazyLock::new(|| {
    let seconds = |topic: &str| topic.strip_prefix("wait ")?.parse().ok();
    let of_row = |row: gleaner_base::words::Row| Some((row.phrase, row.topics().find_map(seconds)?));
    gleaner_base::words::rows("time").filter_map(of_row).collect()
});
