//! What is left of the budget counts the site: hubs and first pages of lists that were not read (LEARNING §14.12). The first crawl asks for none of them again.

use super::Chooser;
use crate::estimate::{Estimate, estimate};
use crate::learner::Ask;
use crate::map::UrlId;

impl<A: Ask> Chooser<'_, '_, A> {
    /// Asks for what hides how many torrents there are, if the budget is enough for all of it.
    pub(super) async fn count(&mut self) {
        while matches!(estimate(self.map(), &self.choice), Estimate::AtLeast(_)) {
            let hidden = self.hidden();
            if hidden.is_empty() || hidden.len() > self.run.left() as usize {
                return;
            }
            for url in hidden {
                self.run.fetch(url, "count").await;
            }
        }
    }

    fn hidden(&mut self) -> Vec<UrlId> {
        let map = self.map();
        let lists = self.choice.lists.iter().flat_map(|list| &list.shapes).flat_map(|shape| map.urls_of(*shape));
        let fronts =
            lists.filter(|url| self.is_in_order(**url) && self.page_number(**url).is_none_or(|page| page <= 1));
        let hubs = self.choice.hubs.iter().flat_map(|shape| map.urls_of(*shape));
        let unread = hubs.chain(fronts).copied().filter(|url| map.page(*url).is_none());
        let unread: Vec<UrlId> = unread.collect();
        unread.into_iter().filter(|url| self.run.may_ask(*url)).collect()
    }
}
