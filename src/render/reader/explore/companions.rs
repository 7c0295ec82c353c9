//! Controls beside rows and in views that belong to them: buttons that are clicked after the row.

use std::collections::{HashMap, HashSet, VecDeque};

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::super::words::{CANCEL, HIDES, says};
use super::Explorer;
use crate::dom::NodeId;
use crate::limits;

/// Maximum length of a button's label.
const LABEL_CHARACTERS: usize = 40;

/// What was clicked after rows until their links appeared, by kind of row.
#[derive(Default)]
pub(super) struct Steps {
    paid: HashMap<String, HashSet<(String, String)>>,
    vain: HashMap<String, u32>,
    /// Labels of steps that tried to POST. A kind is too wide for them: it may cover all plain buttons.
    refused: HashSet<(String, String)>,
}

impl Steps {
    /// Useful steps are known by their labels, since plain buttons are all of one kind.
    fn are(&self, row: &str, of: &Control) -> bool {
        self.paid.get(row).is_some_and(|paid| paid.contains(&(of.kind.clone(), of.words.clone())))
    }

    fn paid(&mut self, row: &str, of: &Control) {
        self.paid.entry(row.to_owned()).or_default().insert((of.kind.clone(), of.words.clone()));
        self.vain.remove(row);
    }

    pub fn has_refused(&self, of: &Control) -> bool {
        !self.refused.is_empty() && self.refused.contains(&(of.kind.clone(), of.words.clone()))
    }

    fn was_vain(&mut self, row: &str) {
        *self.vain.entry(row.to_owned()).or_default() += 1;
    }

    /// Whether the search for steps is given up.
    fn is_vain(&self, row: &str) -> bool {
        self.vain.get(row).is_some_and(|vain| *vain >= limits::RENDER_SEARCHES_MAX)
    }
}

/// What is clicked after a row.
#[derive(Default)]
pub(super) struct Companions {
    /// By kind of row, the kinds of controls that are clicked after it.
    kinds: HashMap<String, HashSet<String>>,
    /// The same for steps that bring links, whatever their labels.
    pub steps: Steps,
    /// Kinds that open menus for their rows.
    pub opening: HashSet<String>,
    /// By kind of row controls labelled like turns, whether they load more in their row.
    more: HashMap<String, More>,
    /// Clicks on each of them, and those that are clicked again later.
    more_presses: HashMap<u64, u32>,
    pub more_later: VecDeque<u64>,
}

/// Whether "more" in a row can be clicked repeatedly.
enum More {
    Turns,
    Once,
}

impl Explorer<'_> {
    /// Lets a row's control that is labelled like a turn be clicked again if that brings links or rows and posts nothing. It waits until
    /// all other rows are done; the first of a kind decides.
    pub(super) fn press_more(&mut self, control: &Control, news: News, posted: bool) {
        if !control.traits.more {
            return;
        }
        let this = control.identity;
        let presses = self.companions.more_presses.entry(this).or_default();
        *presses += 1;
        let (is_first, is_last) = (*presses == 1, *presses >= limits::RENDER_MORE_OF_ROW_MAX);
        match self.companions.more.get(&control.kind) {
            Some(More::Once) => return,
            Some(More::Turns) => {}
            _ if is_first => {}
            _ if news != News::None => {
                self.companions.more.insert(control.kind.clone(), More::Turns);
            }
            _ => {
                self.companions.more.insert(control.kind.clone(), More::Once);
                self.companions.more_later.clear();
            }
        }
        if news != News::None && !posted {
            self.sight.has_more |= is_last;
            self.companions.more_later.extend((!is_last).then_some(this));
        }
    }

    /// Visible controls of kinds that are no list: what else appears after a click belongs to what was clicked.
    pub(super) fn standing(&mut self, row: &Control) -> HashSet<u64> {
        let counts = self.sight.counts_of_kinds();
        let mut standing: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        if self.companions.steps.is_vain(&row.kind) || self.tried.paid.contains(&row.kind) {
            return standing;
        }
        let may_be = |of: &&Control| {
            of.kind != row.kind && counts.get(&of.kind).is_some_and(|count| *count <= limits::RENDER_OFFERS_OF_KIND_MAX)
        };
        let few: Vec<(NodeId, u64)> =
            self.sight.controls.iter().filter(may_be).map(|of| (of.id, of.identity)).collect();
        for (id, identity) in few.into_iter().take(limits::RENDER_CONTROL_ELEMENTS) {
            if !self.is_shown(id) {
                standing.remove(&identity);
            }
        }
        standing
    }

    /// Hidden download controls after a row's control and before the next of its kind: menus and panels that are in the page from the
    /// beginning.
    pub(super) fn hidden_beside(&mut self, control: &Control) -> Vec<NodeId> {
        let is_open =
            |of: &&Control| !self.tried.clicked.contains(&of.identity) && !self.is_given_up(&of.kind, of.rank);
        let ids: Vec<NodeId> = self.getting_beside(control).filter(is_open).map(|of| of.id).collect();
        ids.into_iter().filter(|id| !self.is_shown(*id)).collect()
    }

    /// Whether a control opens a menu of its row whose downloads are all done.
    pub(super) fn has_nothing_beside(&self, control: &Control) -> bool {
        let mut beside = self.getting_beside(control).peekable();
        self.companions.opening.contains(&control.kind)
            && beside.peek().is_some()
            && beside.all(|of| self.tried.clicked.contains(&of.identity))
    }

    fn getting_beside(&self, control: &Control) -> impl Iterator<Item = &Control> {
        let (identity, kind) = (control.identity, control.kind.clone());
        let behind = self.sight.controls.iter().skip_while(move |of| of.identity != identity).skip(1);
        let beside = behind.take_while(move |of| of.kind != kind).take(limits::RENDER_OFFERS_MAX);
        beside.filter(|of| of.rank == Rank::Row && (of.gets || self.tried.paid.contains(&of.kind)))
    }

    /// Clicks what a click on a row leads to: the button of a view, of a panel beside the list, of a menu; and then what that opens. The
    /// kinds of such controls are learned when they first bring something or appear after a click.
    pub(super) fn press_companions(&mut self, row: &Control, before: &HashSet<u64>, brought: News) -> News {
        let best = self.press_offers(row, before, brought, &mut Vec::new());
        if best == News::Links {
            self.tried.failed.remove(&row.kind);
            self.tried.paid.insert(row.kind.clone());
        }
        best
    }

    fn press_offers(&mut self, row: &Control, before: &HashSet<u64>, brought: News, path: &mut Vec<u64>) -> News {
        let mut best = News::None;
        let step = path.len() + 1;
        let mut offers = self.offers(row, before, brought, step);
        offers.retain(|offer| !path.contains(&offer.identity));
        let has_searched = offers.iter().any(|offer| !offer.gets && !self.companions.steps.are(&row.kind, offer));
        for offer in offers.into_iter().take(limits::RENDER_VIEW_CLICKS_MAX) {
            let is_step = self.companions.steps.are(&row.kind, &offer);
            // Of several without download labels one is enough.
            if best == News::Links && !offer.gets
                || !is_step && self.is_given_up(&offer.kind, Rank::Row)
                || self.is_harmful(&offer)
                || !self.is_shown(offer.id)
            {
                continue;
            }
            let standing = self.standing(row);
            let is_new = !before.contains(&offer.identity);
            let unsent = self.window.engine.page().borrow().unsent;
            let is_harmful = self.tried.harmful.contains(&offer.kind);
            self.tried.pressed = Some(offer.clone());
            let mut news = self.click(&offer);
            self.look_around();
            self.tried.pressed = None;
            self.tried.clicked.insert(offer.identity);
            if self.window.engine.page().borrow().unsent > unsent {
                self.companions.steps.refused.insert((offer.kind.clone(), offer.words.clone()));
                if !is_harmful {
                    self.tried.harmful.remove(&offer.kind);
                }
            }
            if news != News::Links && step < limits::RENDER_STEPS_MAX {
                path.push(offer.identity);
                news = news.max(self.press_offers(row, &standing, news, path));
                path.pop();
            }
            if offer.gets || news != News::None {
                self.judge(&offer, Rank::Row, news, false);
            }
            if offer.gets && (news != News::None || is_new) {
                self.companions.kinds.entry(row.kind.clone()).or_default().insert(offer.kind.clone());
            }
            if news == News::Links {
                self.companions.steps.paid(&row.kind, &offer);
            }
            best = best.max(news);
        }
        if step == 1 && has_searched && best != News::Links {
            self.companions.steps.was_vain(&row.kind);
        }
        best
    }

    /// Candidates that may belong to a clicked row, the most promising first.
    fn offers(&mut self, row: &Control, before: &HashSet<u64>, brought: News, step: usize) -> Vec<Control> {
        let counts = self.sight.counts_of_kinds();
        let mut getting = HashMap::<&str, usize>::new();
        for control in self.sight.controls.iter().filter(|of| of.gets) {
            *getting.entry(&control.kind).or_default() += 1;
        }
        let known = self.companions.kinds.get(&row.kind);
        let is_shown_anew = |of: &Control| !before.contains(&of.identity);
        // If the list is gone, what appeared is another list.
        let is_list_there = self.sight.controls.iter().any(|of| of.kind == row.kind) || step > 1;
        let is_label = |of: &Control| {
            of.rank == Rank::Row
                && of.words.chars().count() <= LABEL_CHARACTERS
                && of.words.contains(char::is_alphabetic)
                && !says(CANCEL, &of.words.to_lowercase(), true)
                && !says(HIDES, &of.words.to_lowercase(), true)
                && of.by_delegate.is_none()
        };
        let came = self.sight.controls.iter().filter(|of| is_shown_anew(of) && is_label(of)).count();
        let may_search = brought != News::Links
            && is_list_there
            && !self.companions.steps.is_vain(&row.kind)
            && came <= limits::RENDER_OFFERS_MAX;
        let is_offer = |of: &&Control| {
            let count = counts.get(&of.kind).copied().unwrap_or_default();
            if of.crumb.is_some() || of.view.is_some() || of.kind == row.kind {
                return false;
            }
            if self.companions.steps.are(&row.kind, of) && (is_shown_anew(of) || !of.gets) {
                return true;
            }
            let is_known = known.is_none_or(|known| known.contains(&of.kind) || is_shown_anew(of));
            of.gets
                && getting.get(&*of.kind).is_some_and(|count| *count < LIST_MIN)
                && is_known
                && (step == 1 || is_shown_anew(of))
                || may_search && is_shown_anew(of) && is_label(of) && count <= limits::RENDER_OFFERS_OF_KIND_MAX
        };
        let mut offers: Vec<Control> = self.sight.controls.iter().filter(is_offer).cloned().collect();
        let steps = &self.companions.steps;
        offers.sort_by_key(|of| (!steps.are(&row.kind, of), !is_shown_anew(of), !of.gets));
        // POSTs are blocked for controls without a clear label.
        offers.iter_mut().for_each(|of| of.unsure |= !of.gets);
        offers
    }
}
