//! Messages that wait for their channels: tried again at growing intervals for a day, in order, over restarts. What is dropped is lost as a message alone: the alarm is in
//! the book and in the log.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::Alarm;
use crate::book::What;
use crate::limits::{MESSAGES_MAX, TRIED_TIME_MAX, TRY_INTERVAL_MAX};

/// After the first failure; then twice as long each time.
const TRY_INTERVAL: Duration = Duration::from_secs(30);

/// A message for a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its number.
    pub id: u64,
    pub channel: String,
    pub what: What,
    pub alarm: Alarm,
    since: UnixMillis,
    tries: u32,
    next: UnixMillis,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outbox {
    next: u64,
    waiting: VecDeque<Message>,
    failed: BTreeMap<String, u64>,
}

/// What becomes of a message that could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It is tried again then.
    Again(UnixMillis),
    /// It was tried for a day.
    Dropped,
}

impl Outbox {
    /// Adds a message for each channel. Beyond the bound the oldest ones are dropped.
    pub fn add<'c>(&mut self, what: What, alarm: &Alarm, channels: impl IntoIterator<Item = &'c str>, now: UnixMillis) {
        for channel in channels {
            self.next += 1;
            let (channel, alarm) = (channel.to_owned(), alarm.clone());
            self.waiting.push_back(Message { id: self.next, channel, what, alarm, since: now, tries: 0, next: now });
        }
        while self.waiting.len() > MESSAGES_MAX {
            self.waiting.pop_front();
        }
    }

    /// The first message of each channel, where it is due; those of channels that are no more are forgotten.
    pub fn due(&mut self, channels: &[&str], now: UnixMillis) -> Vec<Message> {
        self.waiting.retain(|message| channels.contains(&message.channel.as_str()));
        let mut due: Vec<Message> = Vec::new();
        for channel in channels {
            let first = self.waiting.iter_mut().find(|message| message.channel == *channel);
            let Some(first) = first else { continue };
            // A clock that was set back must not hold it up.
            if first.next.since(now) > TRY_INTERVAL_MAX {
                first.next = now;
            }
            if first.next <= now {
                due.push(first.clone());
            }
        }
        due
    }

    /// It was delivered.
    pub fn delivered(&mut self, id: u64) {
        self.waiting.retain(|message| message.id != id);
    }

    /// It was not.
    pub fn failed(&mut self, id: u64, now: UnixMillis) -> Failed {
        let Some(at) = self.waiting.iter().position(|message| message.id == id) else { return Failed::Dropped };
        let message = &mut self.waiting[at];
        *self.failed.entry(message.channel.clone()).or_default() += 1;
        let wait = TRY_INTERVAL.saturating_mul(1 << message.tries.min(16)).min(TRY_INTERVAL_MAX);
        message.tries += 1;
        message.next = now.plus(wait);
        if now.since(message.since) < TRIED_TIME_MAX {
            return Failed::Again(message.next);
        }
        self.waiting.remove(at);
        Failed::Dropped
    }

    /// A try that no message of the outbox was made for has failed: a test, a ping.
    pub fn count_failure(&mut self, channel: &str) {
        *self.failed.entry(channel.to_owned()).or_default() += 1;
    }

    /// Failed tries by channel.
    #[must_use]
    pub fn failures(&self) -> &BTreeMap<String, u64> {
        &self.failed
    }

    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests;
