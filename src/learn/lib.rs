//! Learns the rule file of a site: a person gives a URL and gets expressions that they can read (LEARNING §14; the method and its constants
//! are from `learning/REPORT.md`).
//!
//! ```text
//! start page → explore (62 % of the requests) → shapes are frozen → volatile → details → lists, walks → parameters → hubs → likes → verify → count
//!     map: URLs, pages, links      evidence: what shapes led to        choose: classes       draft: expressions      write: the file
//! ```
//!
//! Pure but for [`Ask`], which sends the requests: the crawl's gate, or a site in memory. Nothing is asked for that acts (`guard`).

pub mod limits;
pub mod sources;

mod choose;
mod draft;
mod estimate;
mod evidence;
mod expression;
mod family;
mod guard;
mod label;
mod learner;
mod map;
mod nothing;
mod paging;
mod reading;
mod repair;
mod shape;
mod things;
mod write;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_frontier::{parts, prior};

pub use estimate::Estimate;
pub use family::{Agreement, LoginPlaces};
pub use learner::{Ask, Asked, Progress};
pub use nothing::Nothing;
pub use reading::{Answer, Kind, ServedTo};
pub use repair::{for_learning, has_family, has_rule, repaired};
pub use write::{Evidence as RuleEvidence, Learned, ListSeen};

use choose::{Choice, Chooser};
use draft::Draft;
use evidence::{Asker, Evidence};
use learner::Learner;
use reading::Home;

/// What to learn.
#[derive(Clone, Debug)]
pub struct Options {
    pub start: CrawlUrl,
    /// Requests of the whole run, robots.txt not counted.
    pub requests: u32,
    /// Name of the account that is logged in, if one is.
    pub user: Option<String>,
    /// Shapes that brought a guest nothing, of the pass before.
    pub barren: Vec<String>,
    /// Leave details out where lists link to the torrents.
    pub lean: bool,
    /// The reason for overriding robots.txt, if it is.
    pub robots_reason: Option<String>,
    /// Requests per second of the rule file; 1 is left out.
    pub rate: f64,
    /// Whether the file may extend a shipped family.
    pub families: bool,
    /// Where the login form is, and what shows that the session holds, if a family knows.
    pub login: Option<LoginPlaces>,
    /// Parameters that are known not to count.
    pub canonical: Canonical,
}

/// The end of a run.
#[derive(Debug)]
pub struct Outcome {
    pub learned: Result<Learned, Nothing>,
    pub requests: u32,
    pub log: Vec<Asked>,
    /// Shapes that brought nothing and that no word speaks for.
    pub barren: Vec<String>,
    /// Some page asks for a password.
    pub wants_login: bool,
    /// The archive keys of the torrents that were read, in hexadecimal digits.
    pub torrents: Vec<String>,
    /// Where the login of this software is, by the links that were seen.
    pub login: Option<LoginPlaces>,
}

/// The share of the requests that explore.
const EXPLORING: f64 = 0.62;

/// The share of a start page's links below its folder from which on the site is that folder.
const BELOW: f64 = 0.6;

/// Learns a site.
pub async fn learn<A: Ask>(asker: &mut A, options: &Options) -> Outcome {
    let mut run = Learner::new(asker, Home::of(&options.start), options.requests);
    run.canonical = options.canonical.clone();
    run.who = Asker { is_member: options.user.is_some(), barren: options.barren.iter().cloned().collect() };
    let start = open_start(&mut run, &options.start).await;
    if let Some(why) = nothing::no_start(&run, &start) {
        return ended(run, Err(why));
    }
    let exploring = (f64::from(options.requests) * EXPLORING) as u32;
    run.explore(exploring.max(run.used)).await;
    run.map.freeze();
    let choice = Chooser { run: &mut run, choice: Choice::default() }.decide().await;
    let learned = match choice {
        Some(choice) => {
            let draft = Draft::of(&run.map, &choice);
            write::learned(&run, &choice, &draft, &start, options)
        }
        None => Err(nothing::why(&run)),
    };
    ended(run, learned)
}

fn ended<A: Ask>(run: Learner<'_, A>, learned: Result<Learned, Nothing>) -> Outcome {
    let evidence = Evidence::of(&run.map);
    let is_barren = |(id, _): &(map::ShapeId, &shape::Shape)| {
        evidence.value(*id) == 0.0
            && run.map.pages_of(*id).next().is_some()
            && run.map.urls_of(*id).iter().all(|url| prior::prior(run.map.path(*url), "") <= prior::NOTHING_KNOWN)
    };
    Outcome {
        learned,
        requests: run.used,
        barren: run.map.shapes().filter(is_barren).map(|(_, shape)| shape.to_string()).collect(),
        wants_login: run.map.pages().any(|(_, page)| page.has_login),
        login: family::login_places(&run.map),
        torrents: run.map.pages().filter_map(|(_, page)| page.torrent()).collect(),
        log: run.log,
    }
}

/// Asks for the start page, and takes the host and the folder that it is really at. Returns the start URL in force.
async fn open_start<A: Ask>(run: &mut Learner<'_, A>, start: &CrawlUrl) -> CrawlUrl {
    let mut start = start.clone();
    let Some(id) = run.map.url_id(start.path()) else { return start };
    run.fetch(id, "start").await;
    let end = run.map.end_of(id);
    if end != id && run.map.page(end).is_none() {
        // The page is known by now; under its own name it is one of the site's.
        start = run.map.home.url(run.map.path(end));
        run.fetch(end, "start has moved").await;
    }
    let folder = start.path().split('?').next().unwrap_or("/");
    let folder = folder.rfind('/').map_or("/", |end| &folder[..=end]).to_owned();
    if folder != "/"
        && let Some(page) = run.map.page(run.map.end_of(id)).or_else(|| run.map.page(id))
    {
        let below = page.out.iter().filter(|url| run.map.path(**url).starts_with(&folder)).count();
        if below as f64 >= BELOW * page.out.len() as f64 {
            run.below = Some(folder);
        }
    }
    start
}

#[cfg(test)]
mod tests;
