//! Alarms as they are shown: what broke, since when, by which figures, and what to do. The service finds them; this room shows them and hands over what a
//! person answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::acts::Refused;
use crate::{Done, Told};

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
    /// When it fired, in milliseconds since 1970.
    pub since_ms: i64,
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

/// What a person answers to an alarm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Calls nobody again for so many minutes, or until it is over.
    Silence { minutes: Option<u32> },
    /// An empty text removes it.
    Note { text: String },
    /// Sends a message that says it is a test.
    Test,
}

/// The alarms of a service.
pub struct Alarms {
    /// Open ones first, each part the newest first.
    pub list: Box<dyn Fn() -> Told<Vec<Alarm>> + Send + Sync>,
    /// Answers the alarm with this id; a test names none.
    pub answer: Box<dyn Fn(String, Answer) -> Done<()> + Send + Sync>,
    /// The saved page with this name, as text.
    pub page: Box<dyn Fn(String) -> Told<Option<String>> + Send + Sync>,
}

/// Of no service: there are none.
impl Default for Alarms {
    fn default() -> Self {
        Self {
            list: Box::new(|| Box::pin(std::future::ready(Ok(Vec::new())))),
            answer: Box::new(|id, _| Box::pin(std::future::ready(Err(Refused::Unknown(id))))),
            page: Box::new(|_| Box::pin(std::future::ready(Ok(None)))),
        }
    }
}
