//! `gleaner verify`: checks that archive and database agree, and repairs differences.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::block_on;
use super::pipe::Pipe;
use crate::app::database::{self, Database};
use crate::app::{self, App, control};
use gleaner_base::console;
use gleaner_rules::config::Config;
use gleaner_store::verify::{self, Findings, Verdict};
use gleaner_torrent::archive::Archive;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Repair differences: nothing is deleted, lost torrents are fetched again by the next crawl
    #[arg(long)]
    repair: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Verifies, also while the service runs; a repair needs exclusive access to the data folder. Fails (exit code 1) while
/// something is lost or misplaced.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let verdict = block_on(async { if options.repair { repair(config).await } else { look(config).await } })?;
    let mut out = Pipe::new(console::out());
    if options.json {
        writeln!(out, "{}", serde_json::to_string(&verdict)?)?;
    } else {
        tell(&verdict, &mut out)?;
    }
    Ok(if verdict.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn look(config: &Config) -> anyhow::Result<Verdict> {
    let database = Database::existing(&config.into()).await?;
    let archive = Archive::open(app::archive_path(&config.data_dir), true)?;
    Ok(verify::verify(database.reader(), &archive).await?)
}

async fn repair(config: &Config) -> anyhow::Result<Verdict> {
    match Database::of(&config.into()).await? {
        Some(Database::Held(_)) => bail!(
            "{}: another gleaner process uses this folder\nhint: stop it, repair, and start it again",
            config.data_dir.display()
        ),
        // Without a database, but with files, there is something to repair.
        None if database::is_lost(&config.data_dir).is_none() => return Err(app::nothing_there(&config.into())),
        _ => {}
    }
    let app = App::open_to_mend(&config.into())?;
    // Others that read the folder ask this process meanwhile.
    let _control = control::serve(&app, None, None);
    Ok(verify::repair(app.db.as_ref(), &app.archive, app.clock.now()).await?)
}

fn tell(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} torrents, {} files, {} whole", verdict.torrents, verdict.files, verdict.whole)?;
    let orphans = verdict.orphans.count;
    if verdict.repaired.is_none() && orphans > 0 && verdict.is_sound() {
        writeln!(
            out,
            "nothing is lost; {orphans} whole files have no row yet: a crawl was interrupted between file and row (a full"
        )?;
        writeln!(out, "disk, a kill), and adds them when it resumes (gleaner verify --repair: now; --json: which)")?;
        return temporary(verdict, out);
    }
    for (kind, findings) in [
        ("missing", &verdict.missing),
        ("damaged", &verdict.damaged),
        ("without a row", &verdict.orphans),
        ("misplaced", &verdict.misplaced),
        ("foreign, left alone", &verdict.foreign),
    ] {
        list(kind, findings, out)?;
    }
    temporary(verdict, out)?;
    let Some(done) = &verdict.repaired else {
        return match verdict.faults() {
            0 => writeln!(out, "archive and database agree"),
            _ => writeln!(
                out,
                "hint: gleaner verify --repair deletes nothing and has lost files fetched again; a file without a row needs\nno \
                 repair: it is added when its URL is fetched again"
            ),
        };
    };
    writeln!(
        out,
        "repaired: {} rows added, {} files put in place, {} moved to damaged/, {} rows dropped; {} URLs are due again",
        done.adopted, done.moved, done.set_aside, done.forgotten, done.sources_due
    )?;
    if done.without_source > 0 {
        writeln!(out, "{} of the dropped rows have no known source", done.without_source)?;
    }
    Ok(())
}

fn temporary(verdict: &Verdict, out: &mut impl Write) -> io::Result<()> {
    match verdict.temporary {
        0 => Ok(()),
        files => writeln!(out, "temporary: {files} (another process has the archive open)"),
    }
}

fn list(kind: &str, findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    if findings.count == 0 {
        return Ok(());
    }
    writeln!(out, "{kind}: {}", findings.count)?;
    for finding in &findings.listed {
        // Quoted: names of torrents and files may contain terminal control sequences.
        writeln!(out, "  {:?}: {}", finding.path, finding.detail.escape_debug())?;
    }
    more(findings.count, findings.listed.len(), out)
}

/// How many follow those that a list names.
pub(super) fn more(count: u64, listed: usize, out: &mut impl Write) -> io::Result<()> {
    match count.saturating_sub(listed as u64) {
        0 => Ok(()),
        more => writeln!(out, "  … and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::verify::{Finding, Repaired};

    fn text(verdict: &Verdict) -> String {
        let mut out = Vec::new();
        tell(verdict, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_kind_of_fault_is_listed_with_what_to_do() {
        let finding = Finding { path: "ab/x".into(), infohash: None, detail: "lost: \u{1b}[31m".to_owned() };
        let mut verdict = Verdict { torrents: 3, files: 2, whole: 2, ..Verdict::default() };
        assert_eq!(text(&verdict), "3 torrents, 2 files, 2 whole\narchive and database agree\n");
        verdict.orphans = Findings { count: 5, listed: vec![finding.clone()] };
        let told = text(&verdict);
        assert!(verdict.is_sound() && told.lines().count() == 3, "{told}");
        assert!(told.contains("nothing is lost; 5 whole files have no row yet"), "{told}");
        verdict.missing = Findings { count: 7, listed: vec![finding] };
        let told = text(&verdict);
        assert!(told.contains("missing: 7\n  \"ab/x\": lost: ") && told.contains("… and 6 more"), "{told}");
        assert!(told.contains("without a row: 5\n") && !told.contains("nothing is lost"), "{told}");
        assert!(
            !verdict.is_sound() && told.contains("hint: gleaner verify --repair") && !told.contains('\u{1b}'),
            "{told}"
        );
        verdict.repaired = Some(Repaired { forgotten: 7, sources_due: 6, without_source: 1, ..Repaired::default() });
        let told = text(&verdict);
        assert!(
            told.contains("7 rows dropped; 6 URLs are due again\n1 of the dropped rows have no known source"),
            "{told}"
        );
    }
}
