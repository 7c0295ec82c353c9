//! Revisits one site's pages repeatedly like a crawl, and compares the verdicts of each way of change detection.

use std::collections::BTreeSet;
use std::fmt;

use gleaner_page::fingerprint::Sketch;
use gleaner_page::noise::{BlockKind, Fingerprint, Model, Page, Verdict};
use sha1::{Digest as _, Sha1};

use super::mutate::{Random, Site, Specimen};

/// Revisits the pages of every site, and checks that the model distinguishes noise and content.
///
/// `GLEANER_LOOKS` is the number of visits of each URL (default 150); `GLEANER_SEED` generates another set.
pub fn assert_told_apart(sites: &[Site]) {
    let (looks, seed) = (number("GLEANER_LOOKS", 150), number("GLEANER_SEED", 1));
    let mut all = Tally::default();
    println!("{}", Tally::HEAD);
    for site in sites {
        let tally = trial(site, looks, seed);
        println!("{:22} {tally}", site.name);
        tally.told.iter().for_each(|told| println!("  {told}"));
        all.add(&tally);
    }
    println!("{:22} {all}", "all");
    assert!(all.contents >= 300 && all.noises >= 1_000, "a set too small proves nothing: {all}");
    assert!(all.false_share() <= 0.01, "false changes: {all}");
    assert!(all.missed_share() <= 0.001, "missed changes: {all}");
    assert!(all.sha1_false == all.noises, "noise that a plain hash does not see is none: {all}");
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// Visits of each URL before verdicts count: the model has to see the noise first.
const WARM_UP: u64 = 30;

/// Counts of verdicts.
#[derive(Default)]
struct Tally {
    /// Visits between which only noise changed, and how many of them each way reported as changed.
    noises: u64,
    false_changes: u64,
    sha1_false: u64,
    sketch_false: u64,
    /// Visits between which content changed, and how many of them were reported as unchanged.
    contents: u64,
    missed: u64,
    sketch_missed: u64,
    /// False changes among the first visits, which are not counted above.
    warm_up: u64,
    /// Visits whose fingerprint fell back to all bytes.
    plain: u64,
    /// The missed changes, and the first false ones.
    told: Vec<String>,
}

impl Tally {
    const HEAD: &str =
        "site                     noise   false    sha1  sketch | content  missed  sketch | warm-up  plain";

    fn add(&mut self, other: &Self) {
        self.noises += other.noises;
        self.false_changes += other.false_changes;
        self.sha1_false += other.sha1_false;
        self.sketch_false += other.sketch_false;
        self.contents += other.contents;
        self.missed += other.missed;
        self.sketch_missed += other.sketch_missed;
        self.warm_up += other.warm_up;
        self.plain += other.plain;
        self.told.extend(other.told.iter().cloned());
    }

    fn false_share(&self) -> f64 {
        share(self.false_changes, self.noises)
    }

    fn missed_share(&self) -> f64 {
        share(self.missed, self.contents)
    }
}

#[allow(clippy::cast_precision_loss)] // shares for reading
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_cent = |part, all| format!("{:.2} %", 100.0 * share(part, all));
        write!(
            out,
            "{:7} {:>7} {:>7} {:>7} | {:7} {:>7} {:>7} | {:7} {:6}",
            self.noises,
            per_cent(self.false_changes, self.noises),
            per_cent(self.sha1_false, self.noises),
            per_cent(self.sketch_false, self.noises),
            self.contents,
            per_cent(self.missed, self.contents),
            per_cent(self.sketch_missed, self.contents),
            self.warm_up,
            self.plain,
        )
    }
}

/// The state of a URL's last visit.
struct Last {
    print: Fingerprint,
    sha1: [u8; 20],
    sketch: u64,
    body: Vec<u8>,
}

fn sha1(body: &[u8]) -> [u8; 20] {
    Sha1::digest(body).into()
}

/// Visits every page of a site in turn. Content changes at one visit in four, one fact at a time.
fn trial(site: &Site, looks: u64, seed: u64) -> Tally {
    let mut random = Random(seed ^ site.name.bytes().fold(0, |hash: u64, byte| hash.rotate_left(7) ^ u64::from(byte)));
    let mut pages: Vec<Specimen> = site.pages.clone();
    let mut last: Vec<Option<Last>> = pages.iter().map(|_| None).collect();
    let (mut model, mut tally) = (Model::new(site.holds), Tally::default());
    for look in 0..looks {
        for (specimen, last) in pages.iter_mut().zip(&mut last) {
            let change = (last.is_some() && random.below(4) == 0).then(|| site.change(specimen, &mut random));
            let body = site.view(specimen, &mut random);
            let page = Page { url: specimen.url, body: &body, encoding: site.encoding };
            let mut now = Last {
                print: model.fingerprint(&page, &site.matters),
                sha1: sha1(&body),
                sketch: Sketch::of(&body).digest(),
                body: body.clone(),
            };
            let verdict = last.as_ref().map_or(Verdict::Changed, |last| now.print.since(&last.print));
            if let Some(last) = last {
                tally.count(site, look, change, verdict, &now, last);
                if change.is_none() && look >= WARM_UP && verdict != Verdict::Unchanged && tally.told.len() < 3 {
                    let why = differing(&model, site, &last.body, &body);
                    tally.told.push(format!("{}: {verdict:?} at look {look}: {why}", site.name));
                }
            }
            if verdict == Verdict::Unchanged {
                model.unchanged(specimen.url);
            } else if model.observe(&page, &site.matters).has_learned {
                now.print = model.fingerprint(&page, &site.matters);
            }
            *last = Some(now);
        }
    }
    tally
}

/// The blocks of content that only one of two views has.
fn differing(model: &Model, site: &Site, one: &[u8], other: &[u8]) -> String {
    let blocks = |body| {
        let explained = model.explain(&Page { url: 0, body, encoding: site.encoding }, &site.matters);
        let content = explained.blocks.into_iter().filter(|block| block.kind == BlockKind::Content);
        content.map(|block| format!("{} — {}", block.path, block.text)).collect::<BTreeSet<_>>()
    };
    let (one, other) = (blocks(one), blocks(other));
    one.symmetric_difference(&other).take(4).cloned().collect::<Vec<_>>().join("\n    ")
}

impl Tally {
    fn count(
        &mut self,
        site: &Site,
        look: u64,
        change: Option<&'static str>,
        verdict: Verdict,
        now: &Last,
        last: &Last,
    ) {
        let is_change = verdict != Verdict::Unchanged;
        self.plain += u64::from(now.print.basis != gleaner_page::noise::Basis::Content);
        match change {
            None if look < WARM_UP => self.warm_up += u64::from(is_change),
            None => {
                self.noises += 1;
                self.false_changes += u64::from(is_change);
                self.sha1_false += u64::from(now.sha1 != last.sha1);
                self.sketch_false += u64::from(now.sketch != last.sketch);
            }
            Some(what) => {
                self.contents += 1;
                self.missed += u64::from(!is_change);
                self.sketch_missed += u64::from(now.sketch == last.sketch);
                if !is_change {
                    self.told.push(format!("{}: {what} at look {look}", site.name));
                }
            }
        }
    }
}
