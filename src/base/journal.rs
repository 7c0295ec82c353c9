//! Lines for systemd's journal: a priority before each, no time stamp (the journal has its own), and one line an event.

use std::os::unix::fs::MetadataExt as _;

use tracing::Level;

/// True if standard error goes to the journal: systemd names the device and inode that it connected (systemd.exec(5)).
#[must_use]
pub fn reads_stderr() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    let is_it = |of: std::fs::Metadata| stream == format!("{}:{}", of.dev(), of.ino());
    std::fs::metadata("/proc/self/fd/2").is_ok_and(is_it)
}

/// A text as one line with its priority (sd-daemon(3)).
#[must_use]
pub fn line(level: Level, text: &str) -> String {
    let priority = match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!("<{priority}>{}", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_with_its_priority() {
        assert_eq!(line(Level::ERROR, "error: no room\nhint: make some\n"), "<3>error: no room; hint: make some");
        assert_eq!(line(Level::WARN, "x"), "<4>x");
        assert_eq!(line(Level::INFO, " x\n\n y"), "<6>x; y");
        assert_eq!([line(Level::DEBUG, ""), line(Level::TRACE, "")], ["<7>", "<7>"]);
    }
}
