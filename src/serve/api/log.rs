//! The last lines of the log.

use gleaner_base::recent::{Line, Urgency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{Call, Nothing};
use crate::limits::{LOG_PAGE_MAX, PAGE};
use crate::problem::Problem;

/// Which lines are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogAsked {
    /// At least as urgent as this.
    #[serde(default)]
    level: Urgency,
    /// Lines about this site.
    site: Option<String>,
    /// `next` of the page before.
    #[schemars(regex(pattern = "^[0-9]{1,18}$"))]
    cursor: Option<String>,
    /// Lines of a page.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = LOG_PAGE_MAX))]
    limit: usize,
}

fn page() -> usize {
    PAGE
}

/// Lines of the log, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Log {
    lines: Vec<Line>,
    /// `cursor` of the next page, of older lines; null after the oldest that is in memory.
    next: Option<String>,
}

pub async fn log(call: Call<Nothing, LogAsked>) -> Result<Log, Problem> {
    let LogAsked { level, site, cursor, limit } = call.query;
    super::must_be_within(limit, LOG_PAGE_MAX)?;
    let before = match cursor {
        Some(cursor) if cursor.len() <= 18 && cursor.bytes().all(|of| of.is_ascii_digit()) => {
            Some(cursor.parse().map_err(|_| super::wrong_cursor())?)
        }
        Some(_) => return Err(super::wrong_cursor()),
        None => None,
    };
    let is_wanted = |line: &Line| line.level >= level && site.as_deref().is_none_or(|site| line.is_of(site));
    let lines = call.outlet.inside.log.newest(before, limit, is_wanted);
    let next = lines.last().filter(|_| lines.len() == limit).map(|line| line.number.to_string());
    Ok(Log { lines, next })
}
