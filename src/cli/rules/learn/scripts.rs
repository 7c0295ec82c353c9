//! Pages that scripts build, while a site is learned: run where they look as if scripts made their links, and where a few like them did.

use std::collections::HashMap;

use gleaner_crawl::look::Inspection;
use gleaner_net::fetch::charset;
use gleaner_page::scripted::{self, Signs};
use gleaner_render::children::{Bounds, Children};
use gleaner_render::wire::{Page, Response, Seeks};

/// Pages with the same empty elements that are run to see whether scripts fill them.
const TRIALS: u32 = 2;

/// Links of a page that may have no others without its scripts.
const FEW_LINKS: usize = 5;

/// Futile acts on a page that shows no link by itself, but may after a scroll.
const FIRST_TURNS: u32 = 3;

/// Runs pages.
pub(super) struct Scripts {
    children: Option<Children>,
    /// Of pages with the same empty elements: how many were run, and whether one had links more for it.
    trials: HashMap<u64, (u32, bool)>,
}

impl Scripts {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { children: Children::of_this_program(bounds).ok(), trials: HashMap::new() }
    }

    /// URL and text of the links of a page once its scripts have run; none if they make none.
    pub(super) async fn links(&mut self, response: &Response, look: &Inspection) -> Vec<(String, String)> {
        let is_html = response.header("content-type").is_none_or(|kind| kind.contains("html"));
        if response.status != 200 || !is_html {
            return Vec::new();
        }
        let signs = scripted::signs(&response.body);
        let encoding = charset::detect(response.header("content-type"), &response.body, None);
        let markup = encoding.decode(&response.body).0;
        let own = markup.matches("<a ").count();
        let is_sure = signs.empty_root || signs.waits || signs.framework;
        let Some(children) = self.children.as_ref().filter(|_| is_sure || self.is_on_trial(signs, own)) else {
            return Vec::new();
        };
        let mut page = Page { cookies: look.script_cookies(), ..Page::at(&response.url, look.now_ms()) };
        let mut links = Vec::new();
        // Most pages show their rows by themselves; a feed may begin at the first scroll.
        for tries in [0, FIRST_TURNS] {
            page.seeks = Seeks { tries, ..Seeks::TURNS };
            let outcome = children.run(&page.clone().with_markup(&markup), look).await;
            let states = outcome.into_iter().flat_map(|outcome| outcome.states);
            links = states.flat_map(|state| state.links).map(|link| (link.url, link.text)).collect();
            if links.len() > own {
                break;
            }
        }
        let (count, gained) = self.trials.entry(signs.hollow).or_default();
        *count += 1;
        *gained |= links.len() > own;
        links
    }

    fn is_on_trial(&self, signs: Signs, links: usize) -> bool {
        let (count, gained) = self.trials.get(&signs.hollow).copied().unwrap_or_default();
        signs.scripts && (signs.hollow != 0 || links <= FEW_LINKS) && (gained || count < TRIALS)
    }
}
