//! `gleaner verify`: says whether archive and database agree, and makes them agree.

use std::io::{self, Write};

use super::exit;
use crate::clock::UnixMillis;
use crate::crawldb::CrawlDb;
use crate::torrent::archive::Archive;
use crate::verify::{self, Findings, Verdict, VerifyError};

/// What was asked for on the command line.
#[derive(Clone, Copy, Debug)]
pub struct VerifyArgs {
    pub repair: bool,
    /// One object on `out` instead of text.
    pub json: bool,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum VerifyCommandError {
    #[error(transparent)]
    Verify(#[from] VerifyError),
    #[error("cannot write the verdict: {0}")]
    Output(#[from] io::Error),
}

/// Verifies and writes the verdict to `out`. Returns the exit code: `exit::INCOMPLETE` when faults were found that
/// have not been repaired.
///
/// # Errors
/// [`VerifyCommandError`].
pub async fn run(
    db: &dyn CrawlDb,
    archive: &Archive,
    args: VerifyArgs,
    now: UnixMillis,
    out: &mut impl Write,
) -> Result<u8, VerifyCommandError> {
    let verdict = verify::verify(db, archive, args.repair, now).await?;
    if args.json {
        serde_json::to_writer(&mut *out, &verdict).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        tell(&verdict, out)?;
    }
    out.flush()?;
    Ok(if verdict.is_sound() { exit::DONE } else { exit::INCOMPLETE })
}

fn tell(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} torrents, {} files, {} whole", verdict.torrents, verdict.files, verdict.whole)?;
    for (kind, findings) in [
        ("missing", &verdict.missing),
        ("damaged", &verdict.damaged),
        ("without a row", &verdict.orphans),
        ("misplaced", &verdict.misplaced),
        ("not ours, left alone", &verdict.foreign),
    ] {
        list(kind, findings, out)?;
    }
    if verdict.temporary > 0 {
        writeln!(out, "temporary: {} (another process has the archive open)", verdict.temporary)?;
    }
    match &verdict.repaired {
        None if verdict.faults() > 0 => {
            writeln!(out, "hint: gleaner verify --repair mends this; nothing is deleted, what is lost is fetched again")
        }
        None => writeln!(out, "archive and database agree"),
        Some(done) => {
            writeln!(
                out,
                "repaired: {} adopted, {} put in place, {} moved to damaged/, {} forgotten; {} URLs are due again",
                done.adopted, done.moved, done.set_aside, done.forgotten, done.sources_due
            )?;
            if done.without_source > 0 {
                writeln!(out, "{} of those forgotten have no known source", done.without_source)?;
            }
            Ok(())
        }
    }
}

fn list(kind: &str, findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    if findings.count == 0 {
        return Ok(());
    }
    writeln!(out, "{kind}: {}", findings.count)?;
    for finding in &findings.listed {
        // Names of torrents are quoted: what they hold is not for a terminal.
        writeln!(out, "  {}: {}", finding.path.display(), finding.detail.escape_debug())?;
    }
    super::more(out, findings.count, findings.listed.len())
}
