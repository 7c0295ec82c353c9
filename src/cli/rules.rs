//! `gleaner rules …`: check, explain, new, enable, schema.
//!
//! Plain functions that write their text to a given output, so that tests can read it; the command-line part
//! (arguments, exit codes, terminal) is elsewhere.

pub mod check;
pub mod enable;
pub mod learn;
pub mod versions;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::hints::told_argument;
use gleaner_base::url::{Canonical, CrawlUrl, UrlFault, explain as explain_url};
use gleaner_base::{place, regular};
use gleaner_crawl::frontier::shape::Shape;
use gleaner_crawl::frontier::traps::trap_form;
use gleaner_crawl::frontier::weight::{Facts, RuleYield, Weight, folder_depth};
use gleaner_rules::fault::nearest;
use gleaner_rules::starter::starter;
use gleaner_rules::{Class, Refusal, SiteRules, Verdict, file, load_dir};

/// The crawl's knowledge about a URL and the rules of its site.
#[derive(Debug, Default)]
pub struct UrlKnowledge {
    /// What the URLs of each rule have returned, by the rule's index.
    pub yields: HashMap<usize, RuleYield>,
    /// Lines about the URL itself: each with a label of at most ten characters.
    pub lines: Vec<(&'static str, String)>,
}

/// Explains the verdict on a URL: how each site of its host normalises it, and which rule of which file, at which
/// line, accepts or refuses it. `known` is what the crawl knows so far. True if a site accepts it.
pub fn explain(
    url: &str,
    rules_dir: &Path,
    known: impl Fn(&SiteRules, &CrawlUrl) -> UrlKnowledge,
    out: &mut impl Write,
) -> io::Result<bool> {
    let plain = match CrawlUrl::parse(url, &Canonical::default()) {
        Ok(plain) => plain,
        Err(fault) => {
            writeln!(out, "{}: {}", told_argument(url), no_address(url, &fault, rules_dir))?;
            return Ok(false);
        }
    };
    let mut is_taken = false;
    let mut owners = 0_usize;
    let mut hosts: Vec<String> = Vec::new();
    for file in load_dir(rules_dir) {
        let site = match file.site {
            Ok(site) => site,
            Err(faults) => {
                let first = faults.first().map(ToString::to_string).unwrap_or_default();
                writeln!(out, "{}: skipped, as it has faults ({}); first {first}", file.path.display(), faults.len())?;
                continue;
            }
        };
        if !site.owns_host(plain.authority()) {
            hosts.extend(site.hosts.iter().map(|host| format!("{host} ({})", file.path.display())));
            continue;
        }
        owners += 1;
        is_taken |= explain_for(url, &site, &known, out)?;
    }
    if owners == 0 {
        writeln!(out, "refused: no site file names the host `{}`", plain.authority())?;
        if hosts.is_empty() {
            writeln!(out, "  hint: run: gleaner rules new {}", plain.origin())?;
        } else {
            writeln!(out, "  hosts with rules: {}", hosts.join(", "))?;
        }
    }
    Ok(is_taken)
}

/// What is wrong with an argument that is neither a URL nor the name of a site, with its hint.
fn no_address(given: &str, fault: &UrlFault, rules_dir: &Path) -> String {
    if given.contains([':', '/']) {
        return format!("{fault}\n  hint: write an absolute http or https URL, in quotes");
    }
    let what = "neither a URL nor the name of a site";
    if !rules_dir.is_dir() {
        let dir = rules_dir.display();
        return format!(
            "{what}; there is no folder of rule files {dir}\n  hint: pass the right --rules, or write a URL"
        );
    }
    let names: Vec<String> =
        load_dir(rules_dir).into_iter().filter_map(|file| Some(file.site.ok()?.name.to_string())).collect();
    match nearest(given, names.iter().map(String::as_str)) {
        Some(name) => format!("{what}\n  hint: did you mean `{name}`?"),
        None if names.is_empty() => format!("{what}\n  hint: write an absolute http or https URL, in quotes"),
        None => format!("{what}\n  hint: write a URL, or name one of {}", names.join(", ")),
    }
}

fn explain_for(
    text: &str,
    site: &SiteRules,
    known: impl Fn(&SiteRules, &CrawlUrl) -> UrlKnowledge,
    out: &mut impl Write,
) -> io::Result<bool> {
    let state = if site.enabled { "" } else { ", not enabled" };
    writeln!(out, "site {} ({}{state})", site.name, site.file.display())?;
    writeln!(out, "  given       {text}")?;
    let (url, steps) = match explain_url(text, &site.canonical) {
        Ok(done) => done,
        Err(fault) => {
            writeln!(out, "  refused     {fault}")?;
            return Ok(false);
        }
    };
    for step in &steps {
        writeln!(out, "  → {}\n              {}", step.what, step.url)?;
    }
    writeln!(out, "  identity    {url}")?;
    writeln!(out, "  matched on  {}", url.path())?;
    let UrlKnowledge { yields, lines } = known(site, &url);
    let is_taken = judged(site, &url, &yields, out)?;
    for (what, line) in lines {
        writeln!(out, "  {what:<10}  {line}")?;
    }
    Ok(is_taken)
}

fn judged(
    site: &SiteRules,
    url: &CrawlUrl,
    yields: &HashMap<usize, RuleYield>,
    out: &mut impl Write,
) -> io::Result<bool> {
    match site.judge(url) {
        Verdict::Take { class, rule, number, page_capture } => {
            writeln!(out, "  taken as    {}", class.name())?;
            writeln!(out, "  by          {}: {} '{}'", rule.place(), rule.key(), rule.pattern)?;
            if let Some(page) = page_capture.and_then(|(start, end)| url.path().get(start..end)) {
                writeln!(out, "  page        {page}")?;
            }
            writeln!(out, "  shape       {}", Shape::of(url.path()).as_str())?;
            if let Some(form) = trap_form(url.path()).filter(|_| site.budget.traps) {
                writeln!(out, "  cut         {}: {}", form.name(), form.sentence())?;
            }
            writeln!(out, "  weight      what was seen, the term, what it adds; each run counts links anew")?;
            let rule = yields.get(&number).copied().unwrap_or_default();
            let facts = Facts { folder_depth: folder_depth(url.path()), rule, ..Facts::default() };
            for line in Weight::of(&facts).to_string().lines() {
                writeln!(out, "              {line}")?;
            }
            if class == Class::Login {
                writeln!(out, "  note        login pages are never fetched as links")?;
            }
            Ok(true)
        }
        Verdict::Refuse { reason } => {
            writeln!(out, "  refused     {}", reason.name())?;
            match reason {
                Refusal::Denied(_, rule) => {
                    writeln!(out, "  by          {}: {} '{}'", rule.place(), rule.key(), rule.pattern)?;
                }
                Refusal::NoClass => {
                    writeln!(out, "  why         none of {} rules matches it", site.rules().len())?;
                    writeln!(out, "  hint        add an expression to a class of {}", site.file.display())?;
                }
                Refusal::NotBelowStart => {
                    let folders: Vec<String> = site.below.iter().map(|(host, path)| format!("{host}{path}")).collect();
                    writeln!(out, "  why         below_start keeps the crawl below {}", folders.join(", "))?;
                }
                Refusal::EndsSession => writeln!(out, "  why         it would log out the account of [login]")?,
                Refusal::ActsForAccount(sign) => {
                    writeln!(
                        out,
                        "  why         {}: it would act in the name of the account of [login]",
                        sign.sentence()
                    )?;
                    writeln!(
                        out,
                        "  hint        if a visit of it changes nothing, add it to `allow_actions`, with the reason"
                    )?;
                }
                Refusal::WrongHost => writeln!(out, "  why         its hosts are {}", site.hosts.join(", "))?,
            }
            Ok(false)
        }
    }
}

/// Writes the starter file of a URL into `rules_dir` and returns its path; never overwrites.
pub fn new_file(url: &str, rules_dir: &Path, out: &mut impl Write) -> io::Result<PathBuf> {
    let starter = starter(url).map_err(|fault| {
        let hint = "write the site's address, as https://example.org/";
        io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {fault}\n  hint: {hint}", told_argument(url)))
    })?;
    if let Some((there, _)) = place::in_the_way(rules_dir) {
        let told = format!("{}: {}, not a folder\nhint: pass another --rules", there.display(), place::told(&there));
        return Err(io::Error::new(io::ErrorKind::NotADirectory, told));
    }
    std::fs::create_dir_all(rules_dir).map_err(|error| at(rules_dir, &error))?;
    let path = rules_dir.join(&starter.file_name);
    regular::create(&path, starter.text.as_bytes()).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let hint = "edit it, or move it away first";
            io::Error::new(error.kind(), format!("{}: exists already\n  hint: {hint}", path.display()))
        }
        _ => at(&path, &error),
    })?;
    writeln!(out, "wrote {}", path.display())?;
    writeln!(out, "next: edit it, then run: gleaner rules check {}", path.display())?;
    Ok(path)
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    let hint = place::used_up(error).map(|(_, hint)| format!("\nhint: {hint}")).unwrap_or_default();
    io::Error::new(error.kind(), format!("{}: {error}{hint}", path.display()))
}

/// Writes the JSON Schema of site files, for editors.
pub fn schema(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:#}", file::site_schema())
}
