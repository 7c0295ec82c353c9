//! What every room may use: the clock, URLs, the log, the caps that all share, the tables of words.

pub mod clock;
pub mod console;
pub mod limits;
pub mod telemetry;
pub mod url;
pub mod words;
