//! Simulates the crawl's schedule and others in virtual time.
//!
//! ```text
//! trace ─┬─ learn ─→ baselines (ERA, WRA, LRA, BRA), optimum ─┐
//!        └─ test ──→ simulate ←───────────────────────────────┴─ the crawl's own
//! ```
//!
//! `trace` reads post times, `generate` generates them. Opens no file and never reads the clock.

pub mod baselines;
pub mod generate;
pub mod optimum;
pub mod simulate;
pub mod trace;

/// Faults of a trace or of the options.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// Invalid lines, each as `line N: what is wrong`.
    #[error("{}", lines.join("\n"))]
    Lines {
        /// The first of them, and the number of the others.
        lines: Vec<String>,
    },
    /// Over a cap.
    #[error("the trace has more than {max} {what}\nhint: cut it by time or by board")]
    TooMany {
        /// Posts, or boards.
        what: &'static str,
        /// The cap.
        max: usize,
    },
    /// Nothing to learn from or to test on.
    #[error("{0}")]
    Nothing(String),
    /// An invalid number.
    #[error("{0}")]
    Option(String),
    /// The trace cannot be read or written.
    #[error("the trace: {0}")]
    Io(#[from] std::io::Error),
}
