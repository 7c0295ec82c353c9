//! What broke, told once and with its cause. Pure: [`watch`] compares what is seen with what is usual ([`usual`]) and names causes; [`book`] makes
//! alarms of those that last, one a cause, and knows what was told; [`messages`] words them for who is called; [`outbox`] says when one is
//! tried again. Whoever looks, sends and keeps is `app/alarms` of the program.

pub mod behind;
pub mod book;
pub mod kinds;
pub mod limits;
pub mod messages;
pub mod outbox;
pub mod usual;
pub mod watch;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cause that lasts, or has lasted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alarm {
    /// Names it in commands and URLs, while it is open and afterwards: letters, digits, `-`.
    pub id: String,
    /// Its kind, such as `rows-fell`.
    pub kind: String,
    /// The site that it is about; null where it is about the service.
    pub site: Option<String>,
    /// What is wrong, in one sentence.
    pub title: String,
    /// Since when its cause lasts, in milliseconds since 1970: it fired some minutes later.
    pub since_ms: i64,
    /// Since when its cause is away, in milliseconds since 1970: the alarm is over once it stays so. Null while the cause stands.
    #[serde(default)]
    pub away_since_ms: Option<i64>,
    /// When it was over, in milliseconds since 1970; null while it is open.
    pub over_ms: Option<i64>,
    pub figures: Option<Figures>,
    /// File and line of the rule that it is about.
    pub rule: Option<String>,
    /// Name of the page as it was saved.
    pub page: Option<String>,
    /// What mends it, with the command.
    pub todo: String,
    /// Nobody is called again before this, in milliseconds since 1970.
    pub silenced_until_ms: Option<i64>,
    /// What a person wrote.
    pub note: Option<String>,
}

/// What was usual, and what is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// What is counted, with its unit, such as `rows of a list`.
    pub of: String,
    pub before: f64,
    pub now: f64,
}
