//! What all programs of gleaner print, and how: text on standard output, errors with their hints.

use std::error::Error;
use std::io::Write as _;

/// Writes to standard output, at once.
///
/// # Errors
/// What the system reports; a broken pipe where nobody reads any more.
pub fn write_out(text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_fmt(text)?;
    out.flush()
}

/// An error with its causes in one line, and all their hints behind it.
#[must_use]
pub fn told(error: &(dyn Error + 'static)) -> String {
    let (mut what, mut hints) = (Vec::new(), String::new());
    for cause in std::iter::successors(Some(error), |error| (**error).source()).map(ToString::to_string) {
        let (head, hint) = cause.split_once("\nhint: ").map_or((&*cause, None), |(head, hint)| (head, Some(hint)));
        what.push(head.to_owned());
        if let Some(hint) = hint {
            hints.push_str(&format!("\nhint: {hint}"));
        }
    }
    what.join(": ") + &hints
}
