//! Looking for all that a page has: rows of the state at hand first, since turning the page may take them away, then turns, then tabs, then
//! the views that addresses behind `#` name, then whatever else reacts.
//!
//! A row that takes its list away is left again: by the page's history, by a control that leads back, or by turning to its place anew.

use std::collections::{HashMap, HashSet, VecDeque};

use url::Url;

use super::super::load::Window;
use super::super::read;
use super::controls::{Control, LIST_MIN, Rank, controls};
use super::shown::{Book, News};
use super::{Bound, Cut, note};
use crate::limits;
use crate::render::cost::{self, Of};
use crate::render::dom::Tree;
use crate::render::engine::jobs::{self, Reach};
use crate::render::engine::page::Spent;
use crate::render::engine::realm;

/// How often in a row what was of use may fail, and what never was.
const PATIENCE_WITH_PAID: u32 = 8;
const PATIENCE: u32 = 2;

/// Tries what the page offers, the likeliest first. Gives where it stopped with more to come.
pub(super) fn explore(window: &mut Window, tries: u32, reach: Reach, book: &mut Book) -> Option<Cut> {
    let mut reader = Reader {
        window,
        reach,
        book,
        tries,
        acts: 0,
        idle: 0,
        replays: 0,
        lost: 0,
        seen: (0, Url::parse("about:blank").ok()),
        controls: Vec::new(),
        clicked: HashSet::new(),
        rows: HashSet::new(),
        failed: HashMap::new(),
        paid: HashSet::new(),
        by_click: HashSet::new(),
        views: VecDeque::new(),
        known_views: HashSet::new(),
        path: Vec::new(),
    };
    let bound = reader.read()?;
    Some(Cut { bound, acts: reader.acts })
}

/// What is tried next.
enum Choice {
    Control(Control),
    View(Url, String),
}

struct Reader<'a> {
    window: &'a mut Window,
    reach: Reach,
    book: &'a mut Book,
    /// Acts that may still be in vain.
    tries: u32,
    acts: u32,
    /// Acts since the last one that brought links.
    idle: u32,
    replays: u32,
    lost: u32,
    /// The tree's generation and the address of which `controls` are.
    seen: (u64, Option<Url>),
    controls: Vec<Control>,
    clicked: HashSet<u64>,
    /// Rows that some state has shown.
    rows: HashSet<u64>,
    /// By kind: how often in a row it was in vain, and what it is for.
    failed: HashMap<String, (Rank, u32)>,
    paid: HashSet<String>,
    /// Kinds whose addresses lead nowhere, so that only a click may.
    by_click: HashSet<String>,
    views: VecDeque<(Url, String)>,
    known_views: HashSet<String>,
    /// The turns that led from the page's beginning, or a view's, to where it is now.
    path: Vec<(u64, String)>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<Bound> {
        let (mut scroll_brings, mut vain_scrolls) = (true, 0);
        while self.tries > 0 {
            if let Some(bound) = self.bound() {
                return (self.idle == 0 || bound == Bound::Acts || bound == Bound::Requests).then_some(bound);
            }
            if scroll_brings {
                let news = self.act("scroll", |window| {
                    window.look_away();
                    window.scroll_to_bottom();
                });
                scroll_brings = news != News::None;
                vain_scrolls = if scroll_brings { 0 } else { vain_scrolls + 1 };
                self.tries -= u32::from(!scroll_brings);
                continue;
            }
            let Some(choice) = self.choose() else { return (self.lost > 0).then_some(Bound::NoWayBack) };
            let (news, rank) = match choice {
                Choice::Control(control) => (self.press(&control), control.rank),
                Choice::View(url, kind) => (self.visit(&url, &kind), Rank::Tab),
            };
            if self.lost >= limits::RENDER_LOST_MAX {
                return Some(Bound::NoWayBack);
            }
            // A longer page may be scrolled again; one that has not grown by it twice does not.
            scroll_brings = news != News::None && rank == Rank::Turn && vain_scrolls < 2;
        }
        None
    }

    /// The bound that is met, if any.
    fn bound(&mut self) -> Option<Bound> {
        match self.window.engine.spent() {
            None => {}
            Some(Spent::Panicked) => return Some(Bound::Broken),
            Some(_) => return Some(Bound::Engine),
        }
        if self.book.is_full() {
            return Some(Bound::Links);
        }
        if self.idle >= limits::RENDER_ACTS_MAX {
            return Some(Bound::Acts);
        }
        if self.window.engine.with(|context| jobs::has_asked_too_often(context)) == Some(true) {
            return Some(Bound::Requests);
        }
        cost::cpu_us(Of::Thread).is_ok_and(|used| used >= limits::RENDER_EXPLORE_CPU_US).then_some(Bound::Cpu)
    }

    /// Does something with the page and lets its scripts run on.
    fn act(&mut self, by: &str, what: impl FnOnce(&mut Window)) -> News {
        note(self.window, by);
        what(self.window);
        self.window.engine.run(self.reach);
        self.acts += 1;
        let mut news = self.book.enter(by, self.window);
        // Where links have come, nobody asks whether rows have.
        if news != News::Links && self.look_around() {
            news = News::Rows;
        }
        if news == News::Links {
            self.idle = 0;
            self.window.engine.with(|context| jobs::allow_requests(context));
        } else {
            self.idle += 1;
        }
        news
    }

    /// Finds the controls of the page as it is; true where there are rows among them, or views, that no state before had.
    fn look_around(&mut self) -> bool {
        let now = self.window.engine.with(|context| (read(context, Tree::generation), Some(realm::address(context))));
        let Some(now) = now else { return false };
        if now == self.seen {
            return false;
        }
        self.seen = now;
        self.controls = controls(self.window);
        let mut has_new = false;
        for control in &self.controls {
            if control.rank == Rank::Row && !self.by_click.contains(&control.kind) {
                has_new |= self.rows.insert(control.identity);
            }
            if let Some(view) = &control.view
                && self.known_views.len() < limits::RENDER_VIEWS_MAX
                && self.known_views.insert(view.as_str().to_owned())
            {
                self.views.push_back((view.clone(), control.kind.clone()));
            }
        }
        has_new
    }

    fn is_given_up(&self, kind: &str, rank: Rank) -> bool {
        let patience = match rank {
            Rank::Turn | Rank::Back => 1,
            _ if self.paid.contains(kind) => PATIENCE_WITH_PAID,
            _ => PATIENCE,
        };
        self.failed.get(kind).is_some_and(|(_, failed)| *failed >= patience)
    }

    fn choose(&mut self) -> Option<Choice> {
        self.look_around();
        let offered = |control: &&Control| {
            // A "next" that stays where it is is pressed again and again; anything else once.
            let is_new = matches!(control.rank, Rank::Turn | Rank::Back) || !self.clicked.contains(&control.identity);
            let is_view = control.view.is_some() && !self.by_click.contains(&control.kind);
            is_new && !is_view && !self.is_given_up(&control.kind, control.rank)
        };
        let offered: Vec<&Control> = self.controls.iter().filter(offered).collect();
        let mut of_kind = HashMap::<&str, usize>::new();
        for control in &self.controls {
            *of_kind.entry(&control.kind).or_default() += 1;
        }
        let is_row = |control: &&&Control| {
            let is_list = of_kind.get(&*control.kind).is_some_and(|count| *count >= LIST_MIN);
            control.rank == Rank::Row && (is_list || self.paid.contains(&control.kind))
        };
        let row = offered.iter().find(is_row);
        let turn = || offered.iter().filter(|control| control.rank < Rank::Row).min_by_key(|control| control.rank);
        if let Some(control) = row.or_else(turn) {
            return Some(Choice::Control((*control).clone()));
        }
        let rest = offered.iter().min_by_key(|control| control.rank).map(|control| (*control).clone());
        while let Some((url, kind)) = self.views.pop_front() {
            if !self.is_given_up(&kind, Rank::Row) {
                return Some(Choice::View(url, kind));
            }
        }
        rest.map(Choice::Control)
    }

    /// Clicks a control; comes back where it led away from a list.
    fn press(&mut self, control: &Control) -> News {
        self.clicked.insert(control.identity);
        let address = self.address();
        let siblings: HashSet<u64> =
            self.controls.iter().filter(|of| of.kind == control.kind).map(|of| of.identity).collect();
        let news = self.act(&format!("click {}", control.words), |window| window.click_node(control.id));
        self.judge(&control.kind, control.rank, news);
        match control.rank {
            // A number may be a row's name.
            Rank::Row | Rank::Number if news != News::None && !self.shows(&siblings) => {
                self.come_back(address.as_ref(), &siblings)
            }
            Rank::Turn | Rank::Number | Rank::Tab if news != News::None => {
                self.path.push((control.identity, control.kind.clone()));
            }
            _ => {}
        }
        if control.rank == Rank::Tab && news != News::None {
            // Another list has its own pages of the same numbers.
            let numbers = self.controls.iter().filter(|of| of.rank == Rank::Number);
            for number in numbers {
                self.clicked.remove(&number.identity);
            }
        }
        news
    }

    /// Opens a view by its address, and what it has to download.
    fn visit(&mut self, url: &Url, kind: &str) -> News {
        let news =
            self.act(&format!("goto #{}", url.fragment().unwrap_or_default()), |window| window.go_to(url.as_str()));
        self.judge(kind, Rank::Row, news);
        if news == News::None {
            // Its handler may ask for a click, and not for an address.
            self.by_click.insert(kind.to_owned());
            return news;
        }
        self.path.clear();
        self.press_downloads();
        news
    }

    /// Remembers whether a kind of control is of use.
    fn judge(&mut self, kind: &str, rank: Rank, news: News) {
        match news {
            News::None => {
                self.tries = self.tries.saturating_sub(1);
                self.failed.entry(kind.to_owned()).or_insert((rank, 0)).1 += 1;
            }
            News::Rows => {}
            News::Links => {
                self.failed.remove(kind);
                self.paid.insert(kind.to_owned());
            }
        }
        // What a tab, a page's number or a view has brought may have a "next" of its own.
        if news != News::None && rank != Rank::Turn {
            self.failed.retain(|_, (of, _)| *of != Rank::Turn);
        }
    }

    fn address(&mut self) -> Option<Url> {
        self.window.engine.with(|context| realm::address(context))
    }

    fn shows(&mut self, identities: &HashSet<u64>) -> bool {
        self.look_around();
        self.controls.iter().any(|control| identities.contains(&control.identity))
    }

    /// Back to the list, after a click on one of its rows.
    fn come_back(&mut self, list: Option<&Url>, siblings: &HashSet<u64>) {
        self.press_downloads();
        if self.address().as_ref() != list {
            self.act("back", Window::back);
            if self.shows(siblings) {
                return;
            }
        }
        if let Some(back) = self.controls.iter().find(|control| control.rank == Rank::Back).cloned() {
            self.act(&format!("click {}", back.words), |window| window.click_node(back.id));
            if self.shows(siblings) {
                return;
            }
        }
        if let Some(list) = list.filter(|list| list.fragment().is_some()) {
            self.act("goto the list", |window| window.go_to(list.as_str()));
            if self.shows(siblings) {
                return;
            }
        }
        // The list may be at its first page again.
        for (identity, kind) in self.path.clone() {
            self.replays += 1;
            let same = |control: &&Control| control.identity == identity;
            let like = |control: &&Control| control.kind == kind;
            let turn = self.controls.iter().find(same).or_else(|| self.controls.iter().find(like)).cloned();
            let (Some(turn), true) = (turn, self.replays <= limits::RENDER_REPLAYS_MAX) else { break };
            self.act(&format!("click {}", turn.words), |window| window.click_node(turn.id));
            if self.shows(siblings) {
                return;
            }
        }
        // The last row of a list leaves nothing behind.
        self.lost += u32::from(siblings.iter().any(|row| !self.clicked.contains(row)));
    }

    /// Clicks what a view offers for download and has no address.
    fn press_downloads(&mut self) {
        let offers =
            |control: &&Control| control.gets && control.view.is_none() && !self.clicked.contains(&control.identity);
        let offers: Vec<Control> =
            self.controls.iter().filter(offers).take(limits::RENDER_VIEW_CLICKS_MAX).cloned().collect();
        for offer in offers {
            if !self.is_given_up(&offer.kind, Rank::Row) {
                self.clicked.insert(offer.identity);
                let news = self.act(&format!("click {}", offer.words), |window| window.click_node(offer.id));
                self.judge(&offer.kind, Rank::Row, news);
            }
        }
    }
}
