//! The summary of a crawl, for people and for programs.

mod json;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::HumanBytes;
use serde::Serialize;

use super::findings::Finding;
use super::hints::Hints;
use crate::app::status::Waiting;
use gleaner_crawl::guesses::GuessCounts;
use gleaner_crawl::progress::{Counts, Ended};
use gleaner_crawl::scripts::rendered::Nothing;
use gleaner_rules::SiteRules;
use gleaner_store::coverage::not_whole_told;
use gleaner_store::crawldb::Outcome;

/// The summary of one run; [`Summary::json`] is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// New torrents in the archive.
    pub stored: u64,
    /// Torrents that were already known.
    pub duplicates: u64,
    /// New torrents known only by a magnet link.
    pub magnets: u64,
    /// Requests, including those of page scripts.
    pub pages: u64,
    /// Requests sent by page scripts.
    pub script_requests: u64,
    /// Pages that `rules learn` had read: they were not requested again.
    pub read_before: u64,
    /// New torrents per request (HR, ALGORITHMS §7), those of `rules learn` included.
    pub harvest_rate: f64,
    /// Decoded bytes of all bodies.
    pub bytes: u64,
    pub seconds: f64,
    /// URLs queued for the next run.
    pub queued: u64,
    /// Visits by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// How each site ended.
    #[serde(skip)]
    pub sites: BTreeMap<String, Ended>,
    /// Sites whose rules allow no requests now, and until when.
    #[serde(skip)]
    pub waiting: BTreeMap<String, Waiting>,
    /// Sites with URLs that were parked for their depth.
    #[serde(skip)]
    pub too_deep: BTreeMap<String, TooDeep>,
    /// Sites with pages that were empty even after their scripts.
    #[serde(skip)]
    pub showed_nothing: BTreeMap<String, Nothing>,
    /// What numbers that `--enumerate` asked for came to.
    #[serde(skip)]
    pub guesses: BTreeMap<String, GuessCounts>,
    /// Pages of these sites that were not read whole, in this run or before, and not since.
    pub pages_not_whole: u64,
    /// The same by site.
    #[serde(skip)]
    pub sites_not_whole: BTreeMap<String, u64>,
    /// Where sites gave less than they should, and why.
    #[serde(skip)]
    pub findings: BTreeMap<String, Vec<Finding>>,
    pub archive: String,
}

/// URLs that were parked because they are deeper than the site's rules allow.
#[derive(Clone, Debug, Serialize)]
pub struct TooDeep {
    pub urls: u64,
    /// Maximum depth that the rules allow.
    pub depth_max: u16,
    /// The deepest of them, if one was seen in this run.
    pub deepest: Option<String>,
}

/// HR of ALGORITHMS §7: new torrents per request; 0 without requests.
#[must_use]
pub fn harvest_rate(torrents: u64, pages: u64) -> f64 {
    if pages == 0 { 0.0 } else { torrents as f64 / pages as f64 }
}

/// Columns of the labels of [`Summary::text`].
pub const LABEL_COLUMNS: usize = 14;

impl Summary {
    /// One JSON object.
    ///
    /// # Errors
    /// None that is known.
    pub fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            summary: &'a Summary,
            sites: Vec<json::OfSite<'a>>,
        }
        serde_json::to_string(&All { summary: self, sites: json::sites(self) })
    }

    #[must_use]
    pub fn new(counts: &Counts, took: Duration, sites: BTreeMap<String, Ended>, archive: &Path) -> Self {
        Self {
            stored: counts.torrents,
            duplicates: counts.duplicates,
            magnets: counts.magnets,
            pages: (counts.pages + counts.script_requests).saturating_sub(counts.read_before),
            script_requests: counts.script_requests,
            read_before: counts.read_before,
            harvest_rate: harvest_rate(counts.torrents, counts.pages + counts.script_requests),
            bytes: counts.body_bytes,
            seconds: took.as_secs_f64(),
            queued: counts.queued,
            outcomes: counts.outcomes.iter().map(|(outcome, count)| (outcome.name(), *count)).collect(),
            sites,
            waiting: BTreeMap::new(),
            too_deep: BTreeMap::new(),
            showed_nothing: BTreeMap::new(),
            guesses: BTreeMap::new(),
            pages_not_whole: 0,
            sites_not_whole: BTreeMap::new(),
            findings: BTreeMap::new(),
            archive: archive.display().to_string(),
        }
    }

    /// True if every site was crawled to its end, or to the end that the operator set.
    #[must_use]
    pub fn ended_well(&self) -> bool {
        let failed = |ended: &Ended| matches!(ended, Ended::Unreachable(_) | Ended::NotLoggedIn(_) | Ended::Refused(_));
        let is_failure = self.findings.values().flatten().any(|finding| finding.is_failure);
        !is_failure && !self.sites.values().any(failed)
    }

    /// Adds the commands to the reasons: site names and repeated options.
    pub fn name_commands(&mut self, hints: &Hints, data_dir: &Path, rules: &[Arc<SiteRules>]) {
        for (site, ended) in &mut self.sites {
            if let Ended::NotLoggedIn(why) = ended {
                let file = rules.iter().find(|rules| *rules.name == **site).map(|rules| &*rules.file);
                *why = hints.of_account(why, site, data_dir, file);
            }
        }
    }

    /// Adds pages of a site that were not read whole.
    pub fn not_whole(&mut self, site: &str, pages: u64) {
        if pages > 0 {
            self.pages_not_whole += pages;
            self.sites_not_whole.insert(site.to_owned(), pages);
        }
    }

    /// Text lines for people.
    #[must_use]
    pub fn text(&self, hints: &Hints) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "torrents      {} stored, {} duplicates, {} by magnet only",
            self.stored, self.duplicates, self.magnets
        );
        let of_scripts = match self.script_requests {
            0 => String::new(),
            count => format!(" ({count} of them by scripts)"),
        };
        let of_learning = match self.read_before {
            0 => String::new(),
            count => format!(", {count} read by `rules learn`"),
        };
        let bytes = HumanBytes(self.bytes);
        let _ = writeln!(text, "pages         {} requests{of_scripts}{of_learning}, {bytes}", self.pages);
        let _ = writeln!(text, "harvest rate  {:.3} new torrents a request", self.harvest_rate);
        let _ = writeln!(text, "time          {:.1} s", self.seconds);
        let outcomes: Vec<_> = self.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !outcomes.is_empty() {
            let _ = writeln!(text, "outcomes      {}", outcomes.join(", "));
        }
        let trapped = self.outcomes.get(Outcome::Trapped.name()).copied().unwrap_or(0);
        if trapped > 0 {
            let _ = writeln!(
                text,
                "cut           {trapped} visits to URLs taken for traps (hint: {})",
                hints.command("status")
            );
        }
        let left_out = self.outcomes.get(Outcome::LeftOut.name()).copied().unwrap_or(0);
        if left_out > 0 {
            let _ =
                writeln!(text, "left out      {left_out} pages of stored torrents that show no more than the lists");
        }
        for (site, ended) in &self.sites {
            let _ = writeln!(text, "{site:<13} {ended}");
            if let Ended::Unreachable(why) = ended {
                why.lines().skip(1).for_each(|line| text.push_str(&format!("              {line}\n")));
                let again = hints.command(&format!("crawl {site}"));
                let _ = writeln!(text, "              queued URLs stay queued (hint: later: {again})");
            }
            if let Ended::Refused(why) = ended {
                why.lines().skip(1).for_each(|line| text.push_str(&format!("              {line}\n")));
                let again = hints.command(&format!("crawl {site}"));
                let _ = writeln!(
                    text,
                    "              hint: open one of them in a browser and do what the site asks; if that is to log in, add a [login] to the rule file; then {again}"
                );
            }
            if let Ended::NotLoggedIn(why) = ended {
                why.lines().skip(1).for_each(|line| text.push_str(&format!("              {line}\n")));
            }
        }
        for (site, Waiting { until, reason }) in &self.waiting {
            let _ = writeln!(text, "{site:<13} may ask again at {until}: {reason}");
        }
        for (site, TooDeep { urls, depth_max, deepest }) in &self.too_deep {
            let deepest = deepest.as_ref().map(|url| format!(" (the deepest: {url})")).unwrap_or_default();
            let (are, verb) = if *urls == 1 { ("URL", "lies") } else { ("URLs", "lie") };
            let _ = writeln!(text, "{site:<13} {urls} {are} {verb} deeper than depth_max = {depth_max}{deepest}");
            let _ = writeln!(
                text,
                "              hint: a larger `depth_max` in the site's rule file fetches them at the next crawl"
            );
        }
        for (site, nothing) in &self.showed_nothing {
            let _ = writeln!(text, "{site:<13} {nothing}");
            let page = hints.command(&format!("render '{}'", nothing.page));
            let _ = writeln!(text, "              hint: inspect it with {page}");
        }
        for (site, guesses) in &self.guesses {
            let _ = writeln!(text, "{site:<13} {}", guesses.told());
            let which = hints.command(&format!("coverage {site}"));
            let _ = writeln!(text, "              hint: {which} has the estimate of what no list shows");
        }
        // A finding says more.
        for (site, pages) in self.sites_not_whole.iter().filter(|(site, _)| !self.findings.contains_key(*site)) {
            let (told, which) = (not_whole_told(*pages), hints.command(&format!("coverage {site}")));
            let _ = writeln!(text, "{site:<13} {told} (hint: {which})");
        }
        for (site, findings) in &self.findings {
            for Finding { text: what, hint, .. } in findings {
                let _ = writeln!(text, "{site:<13} {what}");
                if let Some(hint) = hint {
                    let _ = writeln!(text, "              hint: {hint}");
                }
            }
        }
        let _ = writeln!(text, "archive       {}", self.archive);
        text
    }
}

#[cfg(test)]
mod tests;
