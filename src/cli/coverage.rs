//! `gleaner coverage`: how much of each site has been harvested, and how that is known.

use std::io::{self, Write};

use super::exit;
use crate::coverage;
use crate::crawldb::{CrawlDb, CrawlDbError};

/// What was asked for on the command line.
#[derive(Clone, Debug)]
pub struct CoverageArgs {
    /// None: all sites in the database.
    pub site: Option<String>,
    /// JSON on `out` instead of tables: one object for a site, a list of them for all.
    pub json: bool,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum CoverageCommandError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error("site {site} is not in the database\nhint: {hint}")]
    UnknownSite { site: String, hint: String },
    #[error("cannot write the coverage: {0}")]
    Output(#[from] io::Error),
}

/// Writes the coverage to `out` and returns the exit code.
///
/// # Errors
/// [`CoverageCommandError`]; a site that was never crawled is one.
pub async fn run(db: &dyn CrawlDb, args: &CoverageArgs, out: &mut impl Write) -> Result<u8, CoverageCommandError> {
    match &args.site {
        Some(site) => {
            check_site(db, site).await?;
            let found = coverage::of_site(db, site).await?;
            if args.json { json(out, &found)? } else { write!(out, "{found}")? }
        }
        None => {
            let found = coverage::of_all_sites(db).await?;
            if args.json {
                json(out, &found)?;
            } else if found.is_empty() {
                writeln!(out, "nothing has been crawled yet; try: gleaner crawl")?;
            } else {
                let tables: Vec<String> = found.iter().map(ToString::to_string).collect();
                write!(out, "{}", tables.join("\n"))?;
            }
        }
    }
    out.flush()?;
    Ok(exit::DONE)
}

async fn check_site(db: &dyn CrawlDb, site: &str) -> Result<(), CoverageCommandError> {
    let known = coverage::sites(db).await?;
    if known.contains(site) {
        return Ok(());
    }
    let nearest = known.iter().max_by(|a, b| strsim::jaro_winkler(a, site).total_cmp(&strsim::jaro_winkler(b, site)));
    let hint = match nearest {
        None => "crawl it first: gleaner crawl".to_owned(),
        Some(nearest) if strsim::jaro_winkler(nearest, site) > 0.8 => format!("did you mean {nearest}?"),
        Some(_) => format!("known are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Err(CoverageCommandError::UnknownSite { site: site.to_owned(), hint })
}

fn json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}
