//! Alarms as they are shown: what broke, since when, by which figures, and what to do. The service finds them; this room shows them and hands over what a
//! person answers.

use serde::{Deserialize, Serialize};

use crate::acts::Refused;
use crate::problem::Problem;
use crate::{Done, Told};

pub use gleaner_alarms::{Alarm, Figures};

/// What a person answers to an alarm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Calls nobody again for so many minutes, or until it is over.
    Silence { minutes: Option<u32> },
    /// Calls somebody again.
    Unsilence,
    /// An empty text removes it.
    Note { text: String },
    /// Sends a message that says it is a test.
    Test,
}

/// Why an answer was refused: an id that is unknown is that of an alarm.
#[must_use]
pub fn problem(refused: Refused) -> Problem {
    match refused {
        Refused::Unknown(id) => {
            Problem::not_found(format!("no alarm has the id {id}, or it is over"), "/api/v1/alarms lists the alarms")
        }
        refused => refused.into(),
    }
}

/// The alarms of a service.
pub struct Alarms {
    /// Open ones first, each part the newest first.
    pub list: Box<dyn Fn() -> Told<Vec<Alarm>> + Send + Sync>,
    /// Answers the alarm with this id; a test names a channel or none, and those that took it are returned.
    pub answer: Box<dyn Fn(String, Answer) -> Done<Vec<String>> + Send + Sync>,
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
