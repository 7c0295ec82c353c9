//! The lists of a site.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{Call, OfSite};
use crate::limits::{LISTS, LISTS_MAX};
use crate::problem::Problem;

/// A list of a site, such as a board or an index of torrents.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "List")]
pub struct ListRow {
    /// Of its first page, without keys.
    pub url: String,
    /// How its rows reveal its news.
    pub news_by: String,
    /// Rows of its first page at the last recheck.
    pub rows: u64,
    /// Pages of its last completed recheck.
    pub pages: u64,
    /// Replies count as half; null where no schedule knows it.
    pub posts_per_day: Option<f64>,
    /// Its last recheck (UTC).
    pub looked: Option<String>,
    /// Its next one (UTC); null if that is not within a day, or is `revisit_minutes` after the last.
    pub next: Option<String>,
    /// Why then.
    pub why: Option<String>,
}

/// How many of them are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListsAsked {
    /// Lists, those that are rechecked next first.
    #[serde(default = "lists_of_an_answer")]
    #[schemars(range(min = 1, max = LISTS_MAX))]
    limit: usize,
}

fn lists_of_an_answer() -> usize {
    LISTS
}

/// The lists of a site.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Lists {
    lists: Vec<ListRow>,
    /// All lists of the site.
    total: usize,
}

pub async fn lists(call: Call<OfSite, ListsAsked>) -> Result<Lists, Problem> {
    let (site, limit) = (call.path.name, call.query.limit);
    super::must_be_within(limit, LISTS_MAX)?;
    call.outlet.must_know(&site).await?;
    let mut lists = (call.outlet.inside.lists)(site).await.map_err(|error| Problem::ours(&error))?;
    let total = lists.len();
    lists.truncate(limit);
    Ok(Lists { lists, total })
}
