//! What stands beside rows and in views for what they name: buttons that are pressed behind a click.

use std::collections::{HashMap, HashSet};

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::Reader;
use crate::limits;

/// Whether "more" in a row is there for several turns.
pub(super) enum More {
    Turns,
    Once,
}

impl Reader<'_> {
    /// Lets what is called like a turn, and stands in a row, be pressed again where that brings links and posts nothing, behind all
    /// other rows: at the first of a kind it is tried.
    pub(super) fn press_more(&mut self, control: &Control, news: News, posted: bool) {
        if !control.more {
            return;
        }
        let this = control.identity;
        let presses = self.more_presses.entry(this).or_default();
        *presses += 1;
        let (is_first, is_last) = (*presses == 1, *presses >= limits::RENDER_MORE_OF_ROW_MAX);
        match self.more.get(&control.kind) {
            Some(More::Once) => return,
            Some(More::Turns) => {}
            _ if is_first => {}
            _ if news == News::Links => {
                self.more.insert(control.kind.clone(), More::Turns);
            }
            _ => {
                self.more.insert(control.kind.clone(), More::Once);
                self.more_later.clear();
            }
        }
        if news == News::Links && !posted {
            self.has_more |= is_last;
            self.more_later.extend((!is_last).then_some(this));
        }
    }

    /// Presses what a click on a row is there for: the button of a view, of a panel beside the list, of a menu. Which kinds of controls
    /// that are is seen when they first bring something, or come with a click.
    pub(super) fn press_companions(&mut self, row: &Control, before: &HashSet<u64>) -> News {
        let mut of_kind = HashMap::<&str, usize>::new();
        for control in self.controls.iter() {
            *of_kind.entry(&control.kind).or_default() += 1;
        }
        let known = self.companions.get(&row.kind);
        let is_offer = |control: &&Control| {
            // The tabs of what has opened are no list.
            let likes_max = if before.contains(&control.identity) { LIST_MIN } else { 2 * LIST_MIN };
            let is_single = of_kind.get(&*control.kind).is_some_and(|count| *count < likes_max);
            let is_candidate = control.gets
                && control.crumb.is_none()
                && control.view.is_none()
                && is_single
                && control.kind != row.kind;
            match known {
                Some(known) => known.contains(&control.kind) || is_candidate && !before.contains(&control.identity),
                // What stood there before may be for the row that is chosen.
                None => is_candidate,
            }
        };
        let mut offers: Vec<Control> = self.controls.iter().filter(is_offer).cloned().collect();
        offers.sort_by_key(|offer| before.contains(&offer.identity));
        let mut best = News::None;
        for offer in offers.into_iter().take(limits::RENDER_VIEW_CLICKS_MAX) {
            if self.is_given_up(&offer.kind, Rank::Row) || self.is_harmful(&offer) || !self.is_shown(offer.id) {
                continue;
            }
            self.clicked.insert(offer.identity);
            self.pressed = Some(offer.clone());
            let news = self.click(&offer);
            self.look_around();
            self.pressed = None;
            self.judge(&offer, Rank::Row, news, false);
            let companions = self.companions.entry(row.kind.clone()).or_default();
            if news != News::None || !before.contains(&offer.identity) {
                companions.insert(offer.kind);
            }
            best = best.max(news);
        }
        if best == News::Links {
            self.failed.remove(&row.kind);
            self.paid.insert(row.kind.clone());
        }
        best
    }

    /// Clicks what a view offers for download and has no address.
    pub(super) fn press_downloads(&mut self) {
        self.look_around();
        let offers = |control: &&Control| control.gets && control.crumb.is_none() && control.view.is_none();
        let offers: Vec<Control> =
            self.controls.iter().filter(offers).take(limits::RENDER_VIEW_CLICKS_MAX).cloned().collect();
        for offer in offers {
            if !self.is_given_up(&offer.kind, Rank::Row) && self.is_shown(offer.id) {
                self.clicked.insert(offer.identity);
                let news = self.click(&offer);
                self.judge(&offer, Rank::Row, news, false);
            }
        }
    }
}
