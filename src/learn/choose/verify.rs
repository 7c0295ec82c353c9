//! Each rule is tried on fresh URLs: how often does it keep its promise (LEARNING §14.0, §14.12)?

use super::Chooser;
use crate::estimate::PerRow;
use crate::learner::Ask;
use crate::map::{ShapeId, UrlId};
use gleaner_rules::Class;

/// The error of the torrents of a detail at which no more are asked for, as a share.
const ERROR_WANTED: f64 = 0.06;

/// Trials of a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promise {
    pub kept: usize,
    pub trials: usize,
}

impl Promise {
    /// The lower bound of the share that is kept (Wilson's, 95 %).
    #[must_use]
    pub fn confidence(self) -> f64 {
        const Z: f64 = 1.96;
        if self.trials == 0 {
            return 0.0;
        }
        let (n, share) = (self.trials as f64, self.kept as f64 / self.trials as f64);
        let centre = share + Z * Z / (2.0 * n);
        let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        (centre - spread) / (1.0 + Z * Z / n)
    }
}

impl<A: Ask> Chooser<'_, '_, A> {
    pub(super) async fn verify(&mut self) {
        let classes: Vec<(ShapeId, Class)> =
            self.choice.classes.iter().map(|(shape, class)| (*shape, *class)).collect();
        for (shape, class) in classes {
            let trials = match class {
                Class::Download => 2,
                Class::Detail => 3,
                Class::Index => 1,
                _ => 0,
            };
            for url in self.fresh(shape, trials) {
                if self.run.fetch(url, "verify").await.is_none() {
                    continue;
                }
                let is_kept = self.keeps(url, class);
                let promise = self.choice.promises.entry(shape).or_default();
                promise.trials += 1;
                promise.kept += usize::from(is_kept);
            }
        }
        self.sample().await;
    }

    /// Asks for more details where their torrents vary, until it is known how many one has.
    async fn sample(&mut self) {
        const AT_ONCE: usize = 4;
        let is_counted = self.choice.lists.iter().any(|list| !list.rows.is_empty()) && self.choice.lean.is_none();
        while is_counted && self.run.left() > 0 && PerRow::of(self.map(), &self.choice).error > ERROR_WANTED {
            let shape = self.choice.things.details.first().copied();
            let fresh = shape.map(|shape| self.fresh(shape, AT_ONCE)).unwrap_or_default();
            if fresh.is_empty() {
                return;
            }
            for url in fresh {
                self.run.fetch(url, "how many torrents has one?").await;
            }
        }
    }

    /// Unread URLs from all over a shape.
    fn fresh(&self, shape: ShapeId, count: usize) -> Vec<UrlId> {
        let map = self.map();
        let urls = map.urls_of(shape).iter().copied();
        let free: Vec<UrlId> = urls.filter(|url| map.page(*url).is_none() && map.url(*url).refused.is_none()).collect();
        let step = (free.len() / count.max(1)).max(1);
        free.into_iter().skip(step / 2).step_by(step).take(count).collect()
    }

    fn keeps(&self, id: UrlId, class: Class) -> bool {
        let map = self.map();
        let Some(page) = map.page(id) else { return false };
        let things = &self.choice.things;
        match class {
            Class::Download => page.is_torrent(),
            Class::Detail => page.is_page() && !things.torrents(map, id, page).is_empty(),
            _ => {
                page.is_page() && !(things.rows(map, id, page).is_empty() && things.torrents(map, id, page).is_empty())
            }
        }
    }
}
