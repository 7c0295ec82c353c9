//! Console output of all gleaner programs: text on standard output, and errors with their hints.

use std::error::Error;
use std::io::Write as _;

/// Writes to standard output and flushes.
///
/// # Errors
/// I/O errors of standard output; a broken pipe if the reader has closed it.
pub fn write_out(text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_fmt(text)?;
    out.flush()
}

/// An error with its causes on one line, followed by all its hints.
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
