//! The crawl's schedule against others, in virtual time.
//!
//! ```text
//! trace ─┬─ learn ─→ baselines (ERA, WRA, LRA, BRA), optimum ─┐
//!        └─ test ──→ simulate ←───────────────────────────────┴─ the crawl's own
//! ```
//!
//! `trace` reads post times, `generate` makes them up. Opens no file and never reads the time.

pub mod baselines;
pub mod generate;
pub mod optimum;
pub mod simulate;
pub mod trace;

/// What is wrong with a trace or with what is asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// Lines that are no posts, each as `line N: what is wrong`.
    #[error("{}", lines.join("\n"))]
    Lines {
        /// The first of them, and how many more there are.
        lines: Vec<String>,
    },
    /// More than fits.
    #[error("the trace has more than {max} {what}\nhint: cut it by time or by board")]
    TooMany {
        /// Posts, or boards.
        what: &'static str,
        /// How many may be.
        max: usize,
    },
    /// Nothing to learn from or to test on.
    #[error("{0}")]
    Nothing(String),
    /// A number that makes no sense.
    #[error("{0}")]
    Option(String),
    /// The trace cannot be read or written.
    #[error("the trace: {0}")]
    Io(#[from] std::io::Error),
}
