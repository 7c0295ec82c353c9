//! Progress for a person: a bar on a terminal, plain lines otherwise.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

use gleaner_base::console::escaped;
use gleaner_base::telemetry::Terminal;
use gleaner_crawl::progress::{Counts, Progress, brief};

/// Redraw interval of a bar.
const BAR_INTERVAL: Duration = Duration::from_millis(200);

/// Interval of plain lines.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows progress until dropped (as the losing branch of a select).
pub async fn show(progress: &Progress, terminal: &Terminal) -> std::convert::Infallible {
    if std::io::stderr().is_terminal() {
        let bar = terminal.bars.add(ProgressBar::new(0));
        let style = ProgressStyle::with_template("{spinner} [{elapsed_precise}] {bar:30} {pos}/{len} URLs · {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let clear = ClearOnDrop(bar);
        loop {
            let counts = progress.total();
            clear.0.set_length(counts.pages + counts.queued);
            clear.0.set_position(counts.pages);
            clear.0.set_message(escaped(&line(&counts, waiting(progress).as_deref())).into_owned());
            tokio::time::sleep(BAR_INTERVAL).await;
        }
    }
    loop {
        tokio::time::sleep(LINE_INTERVAL).await;
        let counts = progress.total();
        errln!(
            "{} of {} URLs · {}",
            counts.pages,
            counts.pages + counts.queued,
            line(&counts, waiting(progress).as_deref())
        );
    }
}

struct ClearOnDrop(ProgressBar);

impl Drop for ClearOnDrop {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn line(counts: &Counts, waiting: Option<&str>) -> String {
    let Counts { torrents, duplicates, body_bytes, .. } = counts;
    let mut line = format!("{torrents} torrents · {duplicates} duplicates · {}", HumanBytes(*body_bytes));
    if let Some(waiting) = waiting {
        line.push_str(" · ");
        line.push_str(waiting);
    }
    line
}

fn waiting(progress: &Progress) -> Option<String> {
    progress.snapshot().into_iter().find_map(|(site, progress)| {
        let (until, reason) = progress.waiting?;
        Some(format!("{site} is waiting until {}: {}", until.rfc3339(), brief(&reason)))
    })
}
