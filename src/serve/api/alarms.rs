//! The alarms: those that are open and those that are over, what a person answers, and pages as they were saved.

use gleaner_alarms::limits::{NOTE_CHARACTERS_MAX, SILENCE_MINUTES_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pressing::whole;
use super::table::{Call, Nothing};
use crate::acts::Refused;
use crate::alarms::{Alarm, Answer, problem};
use crate::problem::Problem;

/// All alarms.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllAlarms {
    /// Open ones first, each part the newest first.
    alarms: Vec<Alarm>,
}

/// The alarm that a path names.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OfAlarm {
    /// Id of an alarm: `/api/v1/alarms` lists them.
    #[schemars(length(min = 1))]
    id: String,
}

/// How long nobody is called.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SilenceAsked {
    /// Without it, until the alarm is over.
    #[serde(default, deserialize_with = "whole")]
    #[schemars(with = "Option<u32>", range(min = 1, max = SILENCE_MINUTES_MAX))]
    minutes: Option<u32>,
}

/// What is written to an alarm.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteAsked {
    /// An empty one removes it.
    #[schemars(length(max = NOTE_CHARACTERS_MAX))]
    text: String,
}

/// Which channel is tried.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestAsked {
    /// Without it, all.
    #[serde(default)]
    channel: Option<String>,
}

/// The page as it was saved when an alarm fired.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedPage {
    /// Its first two lines are its URL and when it was read; keys of members are masked.
    text: String,
}

/// It is done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// The alarm, or null after a test.
    alarm: Option<Alarm>,
    /// After a test, the channels that took it.
    delivered: Vec<String>,
}

async fn listed(call_list: &crate::alarms::Alarms) -> Result<Vec<Alarm>, Problem> {
    (call_list.list)().await.map_err(|error| Problem::ours(&error))
}

fn unknown(id: &str) -> Problem {
    problem(Refused::Unknown(id.to_owned()))
}

pub async fn alarms(call: Call<Nothing, Nothing>) -> Result<AllAlarms, Problem> {
    Ok(AllAlarms { alarms: listed(&call.outlet.inside.alarms).await? })
}

pub async fn page(call: Call<OfAlarm, Nothing>) -> Result<SavedPage, Problem> {
    let alarms = &call.outlet.inside.alarms;
    let none =
        || Problem::not_found(format!("no page was saved for {}", call.path.id), "/api/v1/alarms lists the alarms");
    let found = listed(alarms).await?.into_iter().find(|alarm| alarm.id == call.path.id);
    let name = found.ok_or_else(|| unknown(&call.path.id))?.page.ok_or_else(none)?;
    let text = (alarms.page)(name).await.map_err(|error| Problem::ours(&error))?;
    Ok(SavedPage { text: text.ok_or_else(none)? })
}

pub async fn silence(call: Call<OfAlarm, SilenceAsked>) -> Result<Answered, Problem> {
    let minutes = call.query.minutes;
    if minutes.is_some_and(|minutes| !(1..=SILENCE_MINUTES_MAX).contains(&minutes)) {
        let detail = format!("write a number from 1 to {SILENCE_MINUTES_MAX}, or none");
        return Err(Problem::wrong("minutes is out of bounds", detail));
    }
    answer(&call.outlet.inside.alarms, call.path.id, Answer::Silence { minutes }).await
}

pub async fn unsilence(call: Call<OfAlarm, Nothing>) -> Result<Answered, Problem> {
    answer(&call.outlet.inside.alarms, call.path.id, Answer::Unsilence).await
}

pub async fn note(call: Call<OfAlarm, NoteAsked>) -> Result<Answered, Problem> {
    let text = call.query.text;
    if text.chars().count() > NOTE_CHARACTERS_MAX {
        let detail = format!("write at most {NOTE_CHARACTERS_MAX} characters");
        return Err(Problem::wrong("the note is too long", detail));
    }
    answer(&call.outlet.inside.alarms, call.path.id, Answer::Note { text }).await
}

pub async fn test(call: Call<Nothing, TestAsked>) -> Result<Answered, Problem> {
    let channel = call.query.channel.unwrap_or_default();
    let delivered = (call.outlet.inside.alarms.answer)(channel, Answer::Test).await?;
    Ok(Answered { alarm: None, delivered })
}

async fn answer(alarms: &crate::alarms::Alarms, id: String, answer: Answer) -> Result<Answered, Problem> {
    (alarms.answer)(id.clone(), answer).await.map_err(problem)?;
    let alarm = listed(alarms).await?.into_iter().find(|alarm| alarm.id == id);
    Ok(Answered { alarm, delivered: Vec::new() })
}
