//! A click on a control: the page before it, the result, and whether its list is still there.

use std::collections::HashSet;
use std::rc::Rc;

use url::Url;

use super::super::controls::{Control, Rank};
use super::super::shown::News;
use super::back::{self, Level};
use super::bounds::PATIENCE_WITH_PAID;
use super::{Explorer, choices, leads_on};
use crate::dom::NodeId;
use crate::engine::realm;
use crate::web::html::navigation;
use crate::wire::{How, Navigation};

/// The page before a click.
struct Before {
    /// The control's purpose.
    rank: Rank,
    faults: u64,
    posted: u64,
    address: Option<Url>,
    /// The others of its kind.
    siblings: HashSet<u64>,
    controls: Rc<Vec<Control>>,
    /// For a row: controls that were already visible, and hidden download controls.
    standing: HashSet<u64>,
    hidden: Vec<NodeId>,
    /// Visible links and turns, if it is unknown whether the rows are tabs.
    shown: Option<(HashSet<String>, HashSet<NodeId>)>,
    /// For a tab or a number: the visible links.
    links: HashSet<String>,
    /// For a link: the number of navigations so far.
    navigations: Option<usize>,
    overlays: usize,
    said: u64,
}

impl Before {
    fn level(&mut self, control: &Control) -> Level {
        Level::of(self.address.take(), &control.kind, std::mem::take(&mut self.siblings), &self.controls)
    }
}

impl Explorer<'_> {
    /// Clicks a control, and returns if it led away from a list.
    pub(super) fn press(&mut self, control: &Control) -> News {
        self.tried.clicked.insert(control.identity);
        self.presses(control);
        self.agains.unanswered.remove(&control.identity);
        self.companions.more_later.retain(|of| *of != control.identity);
        let mut before = self.before(control);
        let mut news = self.click_through(control, &before);
        if before.navigations.is_some_and(|gone| self.has_just_followed(control, gone)) {
            if !self.shows(&before.siblings) {
                self.come_back(&before.level(control));
            }
            // One click shows the effect of all of its kind.
            self.tried.failed.insert(control.kind.clone(), (Rank::Row, PATIENCE_WITH_PAID));
            return News::None;
        }
        let has_applied = choices::is_choice(control)
            && news != News::Links
            && !self.has_taken(&before.links, &before.controls)
            && self.apply(control, &mut news);
        let is_turn = matches!(before.rank, Rank::Turn | Rank::Back);
        if self.has_met_fault(control.identity, before.faults, news) && !is_turn {
            self.agains.unanswered.insert(control.identity);
            return news;
        }
        if is_turn && self.faults() > before.faults {
            self.agains.unanswered_turns.insert(control.kind.clone());
        }
        let rank = self.rank_by_now(control, news, &before);
        // Hidden controls of its row were there before, and can be clicked now.
        if news == News::None && before.hidden.iter().any(|id| self.is_shown(*id)) {
            news = News::Rows;
            self.companions.opening.insert(control.kind.clone());
        }
        let is_again = self.lists.is_again(control.identity) || has_applied;
        before.siblings = self.without_crumbs(std::mem::take(&mut before.siblings), &before.controls);
        // Subfolders of other folders may have the same names.
        let is_folder = self.is_folder(control, &before.siblings);
        // A row is judged after what it opened was tried.
        let is_judged_later = rank == Rank::Row && news == News::None;
        let tries = self.budget.tries;
        if !is_judged_later {
            self.judge(control, rank, news, is_again || is_folder);
        }
        self.turns.heads_back = control.rank == Rank::Back && control.crumb.is_none() && news != News::None;
        if rank == Rank::Row {
            news = self.press_behind(control, news, &mut before, (is_again, is_folder));
            if news == News::Links {
                // A click that leads to the links was useful.
                self.budget.tries = self.budget.tries.max(tries);
            }
        }
        self.turns.vain += u32::from(rank == Rank::Turn && news == News::None);
        self.settle(control, (rank, news), before, (is_again, is_folder));
        news
    }

    fn before(&mut self, control: &Control) -> Before {
        let (rank, faults) = (self.rank(control), self.faults());
        let posted = self.window.engine.page().borrow().posted;
        let address = self.address();
        let controls = Rc::clone(&self.sight.controls);
        let siblings: HashSet<u64> =
            controls.iter().filter(|of| of.kind == control.kind).map(|of| of.identity).collect();
        let is_row = rank == Rank::Row;
        let is_watched = is_row && siblings.len() > 1 && self.lists.are_watched(&control.kind);
        let standing = if is_row { self.standing(control) } else { HashSet::new() };
        let hidden = if is_row { self.hidden_beside(control) } else { Vec::new() };
        let shown = is_watched.then(|| (self.links(), self.shown_turns()));
        let may_replace = matches!(rank, Rank::Tab | Rank::Number);
        let links = if may_replace { self.links() } else { HashSet::new() };
        let navigations = control.leads.as_ref().map(|_| self.window.navigations().len());
        let overlays = if is_row { self.overlays_shown() } else { 0 };
        let said = if rank == Rank::Turn { self.says() } else { 0 };
        Before {
            rank,
            faults,
            posted,
            address,
            siblings,
            controls,
            standing,
            hidden,
            shown,
            links,
            navigations,
            overlays,
            said,
        }
    }

    /// Clicks, and clicks again if an overlay took the first click.
    fn click_through(&mut self, control: &Control, before: &Before) -> News {
        let rank = before.rank;
        self.tried.pressed = Some(control.clone()).filter(|_| matches!(rank, Rank::Row | Rank::Tab));
        let mut news = self.click(control);
        self.turns.has_turned = rank == Rank::Turn && before.said != self.says();
        if rank == Rank::Number {
            self.turns.last_number = control.text.trim().parse().unwrap_or(self.turns.last_number);
        }
        if news == News::None && before.overlays > 0 && self.overlays_shown() < before.overlays {
            news = self.click(control);
        }
        self.look_around();
        self.tried.pressed = None;
        news
    }

    /// The control's purpose as the click has shown it: a row that replaced unread rows is a tab.
    fn rank_by_now(&mut self, control: &Control, news: News, before: &Before) -> Rank {
        // What brings links, itself or by a button of its pane, is a row: a tab only shows rows that have them.
        let may_be_tab = before.rank == Rank::Row && news == News::Rows && !self.tried.paid.contains(&control.kind);
        if !may_be_tab || before.siblings.len() <= 1 || !self.replaces_unread(control, &before.controls) {
            return before.rank;
        }
        // Tabs clicked before lead to other rows as well: click them again.
        let clicked = &self.tried.clicked;
        let others = before.siblings.iter().filter(|of| **of != control.identity && clicked.contains(of));
        let others: Vec<u64> = others.copied().collect();
        self.tried.forget(&others);
        self.lists.are_tabs_now(control, others);
        Rank::Tab
    }

    /// Clicks what a row's click led to, and judges the row by the result.
    fn press_behind(
        &mut self,
        control: &Control,
        mut news: News,
        before: &mut Before,
        (is_again, is_folder): (bool, bool),
    ) -> News {
        let is_judged_later = news == News::None;
        if before.siblings.len() > 1 && self.shows(&before.siblings) {
            let shown = before.shown.take().filter(|_| news != News::None);
            let has_replaced = shown.is_some_and(|shown| self.has_replaced(control, &shown, &before.controls));
            let leads_on = self.in_view.has_scrolled || self.sight.controls.iter().any(leads_on);
            self.lists.clicked(control, has_replaced, leads_on);
        }
        news = news.max(self.press_companions(control, &before.standing, news));
        if is_judged_later {
            self.judge(control, Rank::Row, news, is_again || is_folder);
        }
        if news != News::Links && self.has_gone_from(before.address.as_ref()) {
            news = News::Links;
            self.judge(control, Rank::Row, news, is_again);
        }
        let has_posted = self.window.engine.page().borrow().posted > before.posted;
        self.press_more(control, news, has_posted);
        self.leave_menu(control, &before.controls);
        news
    }

    /// Records where the click led: into a folder, to another page or tab, or nowhere. Returns to a list that it replaced.
    fn settle(
        &mut self,
        control: &Control,
        (rank, news): (Rank, News),
        mut before: Before,
        (is_again, is_folder): (bool, bool),
    ) {
        // With two pages, only one number at a time can be clicked.
        let is_page = rank == Rank::Number
            && before.siblings.len() == 1
            && !back::is_year(control)
            && self.sight.controls.iter().any(|of| of.kind == control.kind && of.identity != control.identity);
        match rank {
            // A number may be the name of a row.
            Rank::Row | Rank::Number
                if (news != News::None || is_folder) && !is_page && !self.shows(&before.siblings) =>
            {
                let level = before.level(control);
                if let Some(list) = self.go_into(control, &before.controls, level, news) {
                    self.come_back(&list);
                }
            }
            Rank::Turn | Rank::Number | Rank::Tab if news != News::None || is_again => {
                self.went(control, rank, &before.controls, &before.links);
            }
            Rank::Row | Rank::Tab if news == News::None => self.frontier.stays(control),
            _ => {}
        }
    }

    /// Whether a click on a link with an overlay only followed the link.
    pub(super) fn has_just_followed(&mut self, control: &Control, gone: usize) -> bool {
        let Some(url) = &control.leads else { return false };
        let navigations = self.window.navigations_since(gone);
        !navigations.is_empty() && navigations.iter().all(|one| one.url == url.as_str())
    }

    /// Whether a click changed the page's URL, which makes it an ordinary link.
    pub(super) fn has_gone_from(&mut self, before: Option<&Url>) -> bool {
        let Some((now, before)) = self.address().zip(before) else { return false };
        let bare = |url: &Url| url.as_str().split('#').next().map(str::to_owned);
        if bare(&now) == bare(before) || !self.views.known.insert(now.as_str().to_owned()) {
            return false;
        }
        self.window.engine.with(|context| navigation::record(Navigation::get(now, How::Location), context));
        self.book.enter("click", self.window) == News::Links
    }

    /// The URLs that the page links to now.
    pub(super) fn links(&mut self) -> HashSet<String> {
        self.window.links().into_iter().map(|link| link.url).collect()
    }

    pub(super) fn address(&mut self) -> Option<Url> {
        self.window.engine.with(|context| realm::address(context))
    }
}
