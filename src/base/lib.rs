//! The base of every room: the clock, URLs, the log, shared caps, and the word tables.

pub mod clock;
pub mod console;
pub mod durations;
pub mod journal;
pub mod limits;
pub mod newznab;
pub mod owner;
pub mod place;
pub mod recent;
pub mod regular;
pub mod telemetry;
pub mod url;
pub mod words;
