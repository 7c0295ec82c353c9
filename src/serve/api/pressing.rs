//! The acting half of the API.

use schemars::JsonSchema;
use serde::Deserialize;

use super::table::{Call, Nothing, OfSite};
use crate::acts::{Act, Acted, Wish};
use crate::limits::PAUSE_MINUTES_MAX;
use crate::problem::Problem;

/// How long a site is left alone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseAsked {
    /// Without it, until it is resumed.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(with = "Option<u32>", range(min = 1, max = PAUSE_MINUTES_MAX))]
    minutes: Option<u32>,
}

/// To JSON Schema, 90.0 is a whole number, too.
pub fn whole<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(from)? else { return Ok(None) };
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(serde::de::Error::custom("a whole number is wanted"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and within its bounds")]
    Ok(Some(number as u32))
}

pub async fn pause(call: Call<OfSite, PauseAsked>) -> Result<Acted, Problem> {
    let minutes = call.query.minutes;
    if minutes.is_some_and(|minutes| !(1..=PAUSE_MINUTES_MAX).contains(&minutes)) {
        let detail = format!("write a number from 1 to {PAUSE_MINUTES_MAX}, or none");
        return Err(Problem::wrong("minutes is out of bounds", detail));
    }
    press(call.outlet, call.caller, call.path, Wish::Pause { minutes }).await
}

pub async fn resume(call: Call<OfSite, Nothing>) -> Result<Acted, Problem> {
    press(call.outlet, call.caller, call.path, Wish::Resume).await
}

pub async fn crawl(call: Call<OfSite, Nothing>) -> Result<Acted, Problem> {
    press(call.outlet, call.caller, call.path, Wish::Crawl).await
}

async fn press(
    outlet: std::sync::Arc<crate::Outlet>,
    caller: crate::access::Caller,
    OfSite { name: site }: OfSite,
    wish: Wish,
) -> Result<Acted, Problem> {
    let by = caller.named();
    Ok((outlet.inside.act)(Act { site, wish, by }).await?)
}
