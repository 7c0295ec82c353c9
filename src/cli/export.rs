//! `gleaner export`: hands the archive over and says what is in it.

use std::io::{self, Write};

use super::exit;
use crate::crawldb::CrawlDb;
use crate::export::{self, ExportError, ExportOptions, ExportSummary, Progress};
use crate::torrent::archive::Archive;

/// What was asked for on the command line.
#[derive(Clone, Debug)]
pub struct ExportArgs {
    pub options: ExportOptions,
    /// One object on `out` instead of text.
    pub json: bool,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum ExportCommandError {
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("cannot write the summary: {0}")]
    Output(#[from] io::Error),
}

/// Exports and writes the summary to `out`. Returns the exit code: `exit::INCOMPLETE` when torrents were left out.
///
/// # Errors
/// [`ExportCommandError`]; the export itself may be there when only the summary could not be written.
pub async fn run(
    db: &dyn CrawlDb,
    archive: &Archive,
    args: &ExportArgs,
    out: &mut impl Write,
    progress: &mut dyn FnMut(Progress),
) -> Result<u8, ExportCommandError> {
    let summary = export::export(db, archive, &args.options, progress).await?;
    if args.json {
        serde_json::to_writer(&mut *out, &summary).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        tell(&summary, out)?;
    }
    out.flush()?;
    Ok(if summary.is_complete() { exit::DONE } else { exit::INCOMPLETE })
}

fn tell(summary: &ExportSummary, out: &mut impl Write) -> io::Result<()> {
    let dest = summary.dest.display();
    write!(out, "{dest}: {} torrents ({} bytes), {} magnets", summary.torrents, summary.torrent_bytes, summary.magnets)?;
    if let Some(bytes) = summary.dest_bytes {
        write!(out, "; {bytes} bytes in all")?;
    }
    if summary.unchanged + summary.removed > 0 {
        write!(out, "; {} were there already, {} removed", summary.unchanged, summary.removed)?;
    }
    writeln!(out)?;
    if summary.is_complete() {
        return Ok(());
    }
    writeln!(out, "{} torrents were left out:", summary.left_out.count)?;
    for torrent in &summary.left_out.listed {
        writeln!(out, "  {}  {:?}: {}", torrent.infohash, torrent.name, torrent.reason)?;
    }
    super::more(out, summary.left_out.count, summary.left_out.listed.len())?;
    writeln!(out, "hint: gleaner verify --repair has them fetched again; then export again")
}
