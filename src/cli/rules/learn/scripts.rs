//! Pages that scripts build, while a site is learned: run where they look as if scripts made their links, and where a few like them did.

use std::collections::{HashMap, HashSet};

use crate::limits::VAIN_TRIALS_MAX;
use gleaner_base::url::resolve;
use gleaner_crawl::look::Inspection;
use gleaner_learn::Answer;
use gleaner_net::fetch::charset;
use gleaner_page::scripted::{self, Signs};
use gleaner_page::tree;
use gleaner_render::children::{Bounds, Children};
use gleaner_render::limits::RENDER_VIEW_HEIGHT;
use gleaner_render::wire::{Page, Seeks, Viewport};
use gleaner_rules::{Class, RenderWhen, SiteRules};
use url::Url;

/// Pages with the same empty elements that are run to see whether scripts fill them.
const TRIALS: u32 = 2;

/// Links of a page that may have no others without its scripts.
const FEW_LINKS: usize = 5;

/// Runs pages.
pub(super) struct Scripts {
    children: Option<Children>,
    /// Requests of all kinds from which on no page is run.
    requests_max: u64,
    /// Of pages with the same empty elements: how many were run, and whether one had links more for it.
    trials: HashMap<u64, (u32, bool)>,
    in_vain: u32,
}

/// A page as it was sent.
struct Sent {
    signs: Signs,
    markup: String,
    /// Its own links, without fragments.
    links: HashSet<String>,
}

impl Sent {
    /// None for what is no page.
    fn of(answer: &Answer) -> Option<Self> {
        let is_html = answer.content_type.as_deref().is_none_or(|kind| kind.contains("html"));
        let address = Url::parse(&answer.url).ok().filter(|_| answer.status == 200 && is_html)?;
        let encoding = charset::detect(answer.content_type.as_deref(), &answer.body, None);
        let markup = encoding.decode(&answer.body).0.into_owned();
        let found = tree::links(&markup).unwrap_or_default();
        let base = found.base.as_deref().and_then(|base| resolve(&address, base)).unwrap_or(address);
        let links =
            found.links.iter().filter_map(|link| resolve(&base, &link.href)).map(|url| bare(url.as_str()).to_owned());
        let links = links.collect();
        Some(Self { signs: scripted::signs(&answer.body), markup, links })
    }

    /// True for a page that says itself that scripts build it.
    fn is_built(&self) -> bool {
        self.signs.empty_root || self.signs.waits || self.signs.framework
    }

    fn has_more(&self, links: &[(String, String)]) -> bool {
        links.iter().any(|(url, _)| !self.links.contains(bare(url)))
    }
}

fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

impl Scripts {
    pub(super) fn new(bounds: Bounds, rules: &SiteRules, requests_max: u64) -> Self {
        let is_never = [Class::Index, Class::Detail].iter().all(|class| rules.render(*class) == RenderWhen::Never);
        let children = if is_never { None } else { Children::of_this_program(bounds).ok() };
        Self { children, requests_max, trials: HashMap::new(), in_vain: 0 }
    }

    /// URL and text of the links of a page once its scripts have run, without a click or a scroll; none if they make none.
    pub(super) async fn links(&mut self, answer: &Answer, look: &Inspection) -> Vec<(String, String)> {
        let Some(sent) = Sent::of(answer) else { return Vec::new() };
        let may_run = look.requests() < self.requests_max && (sent.is_built() || self.is_on_trial(&sent));
        let Some(children) = self.children.as_ref().filter(|_| may_run) else { return Vec::new() };
        let page = Page {
            cookies: look.script_cookies(),
            seeks: Seeks::NOTHING,
            // As high as a crawl's: what is loaded as it comes into view is loaded.
            viewport: Viewport { height: f64::from(RENDER_VIEW_HEIGHT), ..Viewport::default() },
            ..Page::at(&answer.url, look.now_ms())
        };
        let outcome = children.run(&page.with_markup(&sent.markup), look).await;
        let states = outcome.into_iter().flat_map(|outcome| outcome.states);
        let links: Vec<_> = states.flat_map(|state| state.links).map(|link| (link.url, link.text)).collect();
        self.note(&sent, &links);
        links
    }

    /// Takes note of a page that an earlier run has read: trials go on from there.
    pub(super) fn remember(&mut self, answer: &Answer) {
        let Some(sent) = Sent::of(answer) else { return };
        if sent.is_built() || self.is_on_trial(&sent) {
            self.note(&sent, &answer.rendered);
        }
    }

    fn note(&mut self, sent: &Sent, links: &[(String, String)]) {
        let has_more = sent.has_more(links);
        let (count, gained) = self.trials.entry(sent.signs.hollow).or_default();
        *count += 1;
        *gained |= has_more;
        self.in_vain += u32::from(!has_more && !sent.is_built());
    }

    fn is_on_trial(&self, sent: &Sent) -> bool {
        let (count, gained) = self.trials.get(&sent.signs.hollow).copied().unwrap_or_default();
        let may_be_built = sent.signs.scripts && (sent.signs.hollow != 0 || sent.links.len() <= FEW_LINKS);
        may_be_built && (gained || count < TRIALS && self.in_vain < VAIN_TRIALS_MAX)
    }
}
