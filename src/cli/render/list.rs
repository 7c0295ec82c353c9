//! Renders pages of a list in one warm child and prints a JSON object with its cost for each: this is how `benches/render`
//! measures the engine.
//!
//! A page's CPU time is that of the child and of this process, which answers its requests; its memory is the highest sum of
//! both that was sampled while it ran. The cost of sampling is subtracted, and so are pauses that the server asked for.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use url::Url;

use super::site;
use crate::cli::hints::{Hints, quoted};
use crate::cli::{Global, block_on};
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_crawl::look::Inspection;
use gleaner_render::children::Children;
use gleaner_render::cost::{self, Of};
use gleaner_render::wire::{Act, Answer, Outcome, Page, Request, Viewport};
use gleaner_rules::config::Config;

/// Sampling interval of the child's memory, with one more sample after a page, as the child keeps the page's memory for a while. The
/// child is stopped during a sample, in proportion to its memory. This process is sampled once per page: it holds no page for long.
const SAMPLED: Duration = Duration::from_millis(50);

/// A viewport that shows a whole list.
const TALL: Viewport = Viewport { width: 1280.0, height: 12_000.0 };

#[derive(Deserialize)]
struct Entry {
    name: String,
    url: String,
    manifest: PathBuf,
}

/// A `page.json`, reduced to the actions on the page.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    viewport: Option<String>,
    interactions: Vec<Act>,
}

pub(super) fn command(
    config: &Config,
    global: &Global,
    hints: &Hints,
    (list, time_only): (&Path, bool),
    children: &Children,
) -> anyhow::Result<ExitCode> {
    let entries: Vec<Entry> = read(list)?;
    let seen = MemorySamples { is_off: time_only, ..MemorySamples::default() };
    std::thread::scope(|scope| {
        scope.spawn(|| seen.sample());
        let told = block_on(async {
            // Warms up the child, as the other engines in the comparison are, and tells the sampler its process id.
            children.run(&Page::at("about:blank", 0), &nobody).await?;
            seen.knows(children);
            let mut look: Option<Inspection> = None;
            for entry in &entries {
                let (line, after) = one(config, global, hints, entry, look.take(), children, &seen).await?;
                look = after;
                outln!("{line}");
            }
            Ok(ExitCode::SUCCESS)
        });
        seen.is_over.store(true, Ordering::Relaxed);
        told
    })
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let mut text = String::new();
    let file = std::fs::File::open(path).with_context(|| quoted(path))?;
    file.take(limits::RENDER_BODY_BYTES_MAX as u64).read_to_string(&mut text).with_context(|| quoted(path))?;
    serde_json::from_str(&text).with_context(|| quoted(path))
}

/// Renders one page; returns its line, and the site for the next page if that is on the same site.
async fn one(
    config: &Config,
    global: &Global,
    hints: &Hints,
    entry: &Entry,
    look: Option<Inspection>,
    children: &Children,
    seen: &MemorySamples,
) -> anyhow::Result<(serde_json::Value, Option<Inspection>)> {
    let manifest: Manifest = read(&entry.manifest)?;
    let url = Url::parse(&entry.url).with_context(|| entry.url.clone())?;
    let (began, cpu) = (SystemClock.now(), cost::cpu_us(Of::Process)?);
    let (sampled, _) = seen.take();
    let (look, answer) = match look {
        Some(mut look) => {
            let url = CrawlUrl::parse(url.as_str(), &Canonical::default())?;
            let answer = look.open(url).await.map_err(anyhow::Error::msg)?;
            (look, answer)
        }
        None => {
            let hosts = site::Wanted { named: &[], is_explicit: global.rules.is_some() };
            site::open(config, hints, &url, hosts).await?
        }
    };
    let markup = site::markup(&look, &answer)?;
    let page = Page {
        cookies: look.script_cookies(),
        acts: manifest.interactions,
        viewport: if manifest.viewport.as_deref() == Some("tall") { TALL } else { Viewport::default() },
        ..Page::at(&answer.url, look.now_ms())
    };
    let page = page.with_markup(&markup);
    let ran = children.run(&page, &look).await;
    seen.knows(children);
    let paused_ms = look.take_paused_ms();
    let wall_ms = SystemClock.now().since(began).as_secs_f64() * 1_000.0 - paused_ms as f64;
    let own_us = cost::cpu_us(Of::Process)?.saturating_sub(cpu);
    let sampled_after = seen.cost_us.load(Ordering::Relaxed);
    seen.look();
    let (_, highest) = seen.take();
    let pss_bytes = if seen.is_off { 0 } else { highest + pss_bytes("/proc/self/smaps_rollup") };
    let outcome = match ran {
        Ok(outcome) => outcome,
        Err(error) => {
            let line = serde_json::json!({ "name": entry.name, "failure": error.to_string(), "wall_ms": wall_ms });
            return Ok((line, Some(look)));
        }
    };
    let own_us = own_us.saturating_sub(sampled_after.saturating_sub(sampled));
    let mut line = told(&outcome);
    line["name"] = entry.name.clone().into();
    line["cpu_ms"] = ((outcome.cpu_us + own_us) as f64 / 1_000.0).into();
    line["own_cpu_ms"] = (own_us as f64 / 1_000.0).into();
    line["pss_bytes"] = pss_bytes.into();
    line["wall_ms"] = wall_ms.into();
    line["paused_ms"] = paused_ms.into();
    Ok((line, Some(look)))
}

async fn nobody(_: Request) -> Answer {
    Err("a page without requests sends none".to_owned())
}

fn told(outcome: &Outcome) -> serde_json::Value {
    let sets: Vec<BTreeSet<&str>> =
        outcome.states.iter().map(|state| state.links.iter().map(|link| link.url.as_str()).collect()).collect();
    let (load, states) = sets.split_first().map_or((BTreeSet::new(), &[][..]), |(load, states)| (load.clone(), states));
    let navigations: BTreeSet<&str> = outcome.navigations.iter().map(|one| one.url.as_str()).collect();
    let errors: Vec<String> = outcome
        .errors
        .iter()
        .map(|error| format!("{} ({}:{}:{})", error.message, error.source, error.line, error.column))
        .collect();
    serde_json::json!({
        "load": load, "states": states, "navigations": navigations, "errors": errors,
        "spent": outcome.spent, "instructions": outcome.instructions,
    })
}

/// Memory samples of this process and its child.
#[derive(Default)]
struct MemorySamples {
    /// Process id of the child; zero until it is known.
    child: AtomicU32,
    /// Of the child, in bytes.
    highest: AtomicU64,
    /// CPU time spent on sampling, in microseconds.
    cost_us: AtomicU64,
    is_over: AtomicBool,
    /// Sampling is off: the kernel stops a process while it counts its pages.
    is_off: bool,
}

impl MemorySamples {
    fn knows(&self, children: &Children) {
        if let Some(id) = children.idle_ids().first() {
            self.child.store(*id, Ordering::Relaxed);
        }
    }

    /// The cost of sampling so far, and the child's highest memory since the last call.
    fn take(&self) -> (u64, u64) {
        (self.cost_us.load(Ordering::Relaxed), self.highest.swap(0, Ordering::Relaxed))
    }

    /// Takes one sample.
    fn look(&self) {
        if self.is_off {
            return;
        }
        let child = match self.child.load(Ordering::Relaxed) {
            0 => 0,
            id => pss_bytes(&format!("/proc/{id}/smaps_rollup")),
        };
        self.highest.fetch_max(child, Ordering::Relaxed);
    }

    /// Samples until the list is done.
    fn sample(&self) {
        while !self.is_off && !self.is_over.load(Ordering::Relaxed) {
            self.look();
            self.cost_us.store(cost::cpu_us(Of::Thread).unwrap_or(0), Ordering::Relaxed);
            std::thread::sleep(SAMPLED);
        }
    }
}

/// The proportional set size of a process; zero if it is gone.
fn pss_bytes(path: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or(0) * 1_024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_as_the_pages_have_them() {
        let text = r##"{"about": "x", "viewport": "tall", "links": [1],
            "interactions": [{"click": "[data-act=next]"}, {"scroll": "bottom"}, {"goto": "#page=2"}]}"##;
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        let wanted = [Act::Click("[data-act=next]".into()), Act::Scroll("bottom".into()), Act::Goto("#page=2".into())];
        assert_eq!((manifest.viewport.as_deref(), manifest.interactions.as_slice()), (Some("tall"), &wanted[..]));
    }

    #[test]
    fn the_memory_of_this_process_is_seen() {
        assert!(pss_bytes("/proc/self/smaps_rollup") > 1 << 20);
        assert_eq!(pss_bytes("/proc/0/smaps_rollup"), 0);
    }
}
