//! The last lines of the log in memory, for who asks over HTTP: bounded in count and bytes, masked and escaped as those on standard error are.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::clock::{Clock as _, SystemClock, UnixMillis};
use crate::console::escaped;
use crate::limits::{LOG_BYTES_MAX, LOG_LINES_MAX, LOG_TEXT_BYTES_MAX};
use crate::url::without_keys_in;

/// How urgent a line is, the least first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    #[default]
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

impl From<Level> for Urgency {
    fn from(level: Level) -> Self {
        match level {
            Level::ERROR => Self::Error,
            Level::WARN => Self::Warn,
            Level::INFO => Self::Info,
            Level::DEBUG => Self::Debug,
            _ => Self::Trace,
        }
    }
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "LogLine")]
pub struct Line {
    /// Counts the lines of this process from 1.
    pub number: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub at: UnixMillis,
    pub level: Urgency,
    /// One constant sentence.
    pub message: String,
    /// What it is about: site, URL, error.
    pub fields: BTreeMap<String, Value>,
}

impl Line {
    fn bytes(&self) -> usize {
        let of = |(name, value): (&String, &Value)| name.len() + value.as_str().map_or(8, str::len);
        64 + self.message.len() + self.fields.iter().map(of).sum::<usize>()
    }

    /// True for a line about this site.
    #[must_use]
    pub fn is_of(&self, site: &str) -> bool {
        self.fields.get("site").and_then(Value::as_str) == Some(site)
    }
}

#[derive(Default)]
struct Lines {
    lines: VecDeque<Line>,
    bytes: usize,
    last: u64,
}

/// See the module.
#[derive(Clone, Default)]
pub struct Recent(Arc<Mutex<Lines>>);

impl Recent {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Lines stay readable after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; the oldest ones make room.
    pub fn add(&self, level: Urgency, message: &str, fields: BTreeMap<String, Value>) {
        let (message, at) = (fit(message), SystemClock.now());
        let mut lines = self.lines();
        lines.last += 1;
        let line = Line { number: lines.last, at, level, message, fields };
        lines.bytes += line.bytes();
        lines.lines.push_back(line);
        while lines.lines.len() > LOG_LINES_MAX || lines.bytes > LOG_BYTES_MAX {
            let Some(oldest) = lines.lines.pop_front() else { break };
            lines.bytes -= oldest.bytes();
        }
    }

    /// The newest lines that fit, the newest first, at most `count`; only those before this number, if one is given.
    #[must_use]
    pub fn newest(&self, before: Option<u64>, count: usize, is_wanted: impl Fn(&Line) -> bool) -> Vec<Line> {
        let lines = self.lines();
        let older = lines.lines.iter().rev().skip_while(|line| before.is_some_and(|before| line.number >= before));
        older.filter(|line| is_wanted(line)).take(count).cloned().collect()
    }

    /// The oldest lines after this number that fit, in order, at most `count`.
    #[must_use]
    pub fn after(&self, number: u64, count: usize) -> Vec<Line> {
        let lines = self.lines();
        let newer = lines.lines.partition_point(|line| line.number <= number);
        lines.lines.range(newer..).take(count).cloned().collect()
    }

    /// The number of the last line.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.lines().last
    }
}

/// A text of others, fit to be shown.
fn fit(text: &str) -> String {
    let cut = &text[..text.floor_char_boundary(LOG_TEXT_BYTES_MAX)];
    let shown = escaped(&without_keys_in(cut)).into_owned();
    if cut.len() < text.len() { shown + "…" } else { shown }
}

/// Takes an event apart.
#[derive(Default)]
pub(crate) struct Taken {
    pub message: String,
    /// Masked and escaped.
    pub fields: BTreeMap<String, Value>,
}

impl Taken {
    pub fn of(event: &Event<'_>) -> Self {
        let mut taken = Self::default();
        event.record(&mut taken);
        taken
    }

    fn take(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, Value::String(text)) => {
                self.fields.insert(name.to_owned(), fit(&text).into());
            }
            (name, value) => {
                self.fields.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Taken {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.take(field, format!("{value:?}").into());
    }
}

impl<S: Subscriber> Layer<S> for Recent {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let taken = Taken::of(event);
        self.add((*event.metadata().level()).into(), &taken.message, taken.fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt as _;

    #[test]
    fn lines_are_kept_with_their_fields_masked_and_escaped() {
        let recent = Recent::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(recent.clone()), || {
            let url = "https://a.example/download.php?id=7&passkey=0123456789abcdef0123456789abcdef";
            tracing::warn!(site = "demo", url, attempt = 2, is_last = false, error = %"a\u{202e}b\u{1b}[2J", "a visit failed");
            tracing::info!("service is up");
        });
        let lines = recent.newest(None, 10, |_| true);
        assert_eq!(
            lines.iter().map(|line| (line.number, line.level)).collect::<Vec<_>>(),
            [(2, Urgency::Info), (1, Urgency::Warn)]
        );
        let fields = &lines[1].fields;
        assert_eq!(
            (lines[1].message.as_str(), &fields["attempt"], &fields["is_last"]),
            ("a visit failed", &2.into(), &false.into())
        );
        assert_eq!(fields["error"], "a\\u202eb\\u001b[2J");
        assert!(!fields["url"].as_str().unwrap().contains("0123456789abcdef"), "{fields:?}");
        assert!(lines[1].is_of("demo") && !lines[1].is_of("other") && !lines[0].is_of("demo"));
    }

    #[test]
    fn the_oldest_lines_make_room_and_pages_are_stable_meanwhile() {
        let recent = Recent::default();
        for number in 0..LOG_LINES_MAX + 50 {
            recent.add(Urgency::Info, &number.to_string(), BTreeMap::new());
        }
        let kept = recent.lines().lines.len();
        assert_eq!((kept, recent.last()), (LOG_LINES_MAX, LOG_LINES_MAX as u64 + 50));
        let page = recent.newest(None, 3, |line| line.number % 2 == 0);
        let before = page[2].number;
        recent.add(Urgency::Info, "more", BTreeMap::new());
        assert_eq!(recent.newest(Some(before), 1, |line| line.number % 2 == 0)[0].number, before - 2);
        assert_eq!(recent.newest(Some(1), 5, |_| true), []);
        assert_eq!(recent.after(recent.last() - 2, 9).len(), 2);
        assert_eq!(recent.after(u64::MAX, 9), []);
        assert_eq!(recent.after(0, 1)[0].number, 52, "the oldest that is left");
        for _ in 0..2 * LOG_BYTES_MAX / LOG_TEXT_BYTES_MAX {
            recent.add(Urgency::Info, &"ü".repeat(LOG_TEXT_BYTES_MAX), BTreeMap::new());
        }
        let lines = recent.lines();
        assert!(lines.bytes <= LOG_BYTES_MAX && lines.bytes == lines.lines.iter().map(Line::bytes).sum::<usize>());
    }
}
