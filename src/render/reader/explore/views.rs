//! Views that `#` URLs name: each is opened by its URL, and what it shows is clicked before the next.

use std::collections::{HashSet, VecDeque};

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::Explorer;
use super::bounds::PATIENCE;
use crate::limits;

/// The views that `#` URLs name.
#[derive(Default)]
pub(super) struct Views {
    /// Unopened views, each with the kind of its links.
    pub waiting: VecDeque<(Url, String)>,
    pub known: HashSet<String>,
}

impl Views {
    /// Adds a view that a control names.
    pub fn add(&mut self, view: &Url, kind: &str) {
        if self.known.len() < limits::RENDER_VIEWS_MAX && self.known.insert(view.as_str().to_owned()) {
            self.waiting.push_back((view.clone(), kind.to_owned()));
        }
    }
}

impl Explorer<'_> {
    /// Opens a view by its URL, and clicks its downloads.
    pub(super) fn visit(&mut self, url: &Url, kind: &str) -> News {
        let faults = self.faults();
        let news =
            self.act(&format!("goto #{}", url.fragment().unwrap_or_default()), |window| window.go_to(url.as_str()));
        if self.has_met_fault(xxh3_64(url.as_str().as_bytes()), faults, news) {
            self.views.waiting.push_back((url.clone(), kind.to_owned()));
            return news;
        }
        // A view with the same buttons as another shows nothing new by itself.
        let news = news.max(self.press_downloads());
        self.judge_kind(kind, Rank::Row, news);
        if news == News::None {
            // The page may react to a click and not to the URL.
            self.tried.by_click.insert(kind.to_owned());
            return news;
        }
        self.trail.path.clear();
        news
    }

    /// Clicks the downloads of a view that have no URL.
    fn press_downloads(&mut self) -> News {
        self.look_around();
        let count = |kind: &str| self.sight.controls.iter().filter(|of| of.kind == kind).count();
        // Controls that came with the view belong to it, as do kinds that brought links in another view.
        let visited = self.views.known.len().saturating_sub(self.views.waiting.len());
        let is_first = visited <= PATIENCE as usize;
        let comes = |of: &Control| {
            is_first && self.sight.rows.get(&of.identity) == Some(&self.budget.acts) && count(&of.kind) < LIST_MIN
        };
        let is_single = |of: &Control| of.rank == Rank::Row && (self.tried.paid.contains(&of.kind) || comes(of));
        let gives = |of: &Control| of.gets || is_single(of) && !self.is_harmful(of);
        let offers = |control: &&Control| gives(control) && control.crumb.is_none() && control.view.is_none();
        let offers: Vec<Control> =
            self.sight.controls.iter().filter(offers).take(limits::RENDER_VIEW_CLICKS_MAX).cloned().collect();
        let mut all = News::None;
        for offer in offers {
            if !self.is_given_up(&offer.kind, Rank::Row) && self.is_shown(offer.id) {
                self.tried.clicked.insert(offer.identity);
                let news = self.click(&offer);
                self.judge(&offer, Rank::Row, news, false);
                all = all.max(news);
            }
        }
        all
    }
}
