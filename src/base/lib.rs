//! What every room may use: the clock, URLs, the log, the caps that all share.

pub mod clock;
pub mod console;
pub mod limits;
pub mod telemetry;
pub mod url;
