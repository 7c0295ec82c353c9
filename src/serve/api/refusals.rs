//! The links that the rules of a site refuse.

use schemars::JsonSchema;
use serde::Serialize;

use super::table::{Call, Nothing, OfSite};
use crate::problem::Problem;

/// A link that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedLink {
    /// Keys masked.
    pub url: String,
    pub why: String,
    /// The rule as it is written; null where no rule but a key refuses it.
    pub rule: Option<String>,
    /// File, line and column of the rule, else the rule file.
    pub place: String,
    /// Its line, for a rule of the site's own file.
    pub line: Option<usize>,
    /// Where it was linked last.
    pub page: String,
    /// When (UTC).
    pub at: String,
    /// Pages of the sample that link it.
    pub pages: u32,
}

/// The last ones.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusals {
    /// The newest first, 200 at most, since the service started: of each page the first link that each rule refuses.
    refusals: Vec<RefusedLink>,
}

pub async fn refusals(call: Call<OfSite, Nothing>) -> Result<Refusals, Problem> {
    call.outlet.must_know(&call.path.name).await?;
    Ok(Refusals { refusals: (call.outlet.inside.desk.refusals)(&call.path.name) })
}
