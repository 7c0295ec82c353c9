//! Looking for all that a page has: rows of the state at hand first, since turning the page may take them away, then turns, then tabs, then
//! the views that addresses behind `#` name, then whatever else reacts.
//!
//! A row that takes its list away is left again: by the page's history, by a control that leads back, or by turning to its place anew.

mod again;
mod back;
mod companions;
mod infer;

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use self::back::Level;
use self::companions::{More, Steps};
use self::infer::Infers;
use super::super::load::Window;
use super::super::navigation::{self, How, Navigation};
use super::super::{read, styles};
use super::controls::{Control, LIST_MIN, Rank, controls};
use super::lists::Lists;
use super::shown::{Book, News};
use super::{Bound, Cut, note, same};
use crate::limits;
use crate::render::confine;
use crate::render::cost::{self, Of};
use crate::render::dom::{NodeId, Tree};
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
        until_us: limits::RENDER_EXPLORE_CPU_US,
        idle: 0,
        agains: 0,
        agains_all: 0,
        rounds: 0,
        revisits: None,
        done_again: HashSet::new(),
        unanswered: HashSet::new(),
        unanswered_turns: HashSet::new(),
        agains_there: HashSet::new(),
        agains_come: HashSet::new(),
        agains_nodes: HashMap::new(),
        replays: 0,
        lost: 0,
        has_more: false,
        hidden: HashSet::new(),
        seen: (0, Url::parse("about:blank").ok()),
        controls: Rc::default(),
        clicked: HashSet::new(),
        rows: HashSet::new(),
        failed: HashMap::new(),
        paid: HashSet::new(),
        lists: Lists::default(),
        chosen: HashSet::new(),
        has_scrolled: false,
        companions: HashMap::new(),
        steps: Steps::default(),
        more: HashMap::new(),
        more_presses: HashMap::new(),
        more_later: VecDeque::new(),
        heads_back: false,
        starts_inside: false,
        vain_turns: 0,
        seen_states: 0,
        pressed: None,
        by_click: HashSet::new(),
        views: VecDeque::new(),
        known_views: HashSet::new(),
        path: Vec::new(),
        levels: Vec::new(),
        entered: HashSet::new(),
        folders: HashSet::new(),
        harmful: HashSet::new(),
        infers: Infers::default(),
    };
    // Whoever asks for no acts is told of none.
    let bound = if tries > 0 { reader.read() } else { None };
    reader.tell_inferred();
    let bound = bound.or_else(|| reader.has_faults_left().then_some(Bound::Unanswered))?;
    Some(Cut { bound, acts: reader.acts })
}

/// What is tried next.
enum Choice {
    Control(Control),
    /// The page's own way to try again.
    Again(Control),
    View(Url, String),
}

struct Reader<'a> {
    window: &'a mut Window,
    reach: Reach,
    book: &'a mut Book,
    /// Acts that may still be in vain.
    tries: u32,
    acts: u32,
    /// CPU time from which on no other act begins.
    until_us: u64,
    /// Acts since the last one that brought links.
    idle: u32,
    /// What a fault has met and is done again: in a row, altogether, and how often nothing else was left.
    agains: u32,
    agains_all: u32,
    rounds: u32,
    /// How many states there were when all tabs were opened once more, for what was not answered behind them.
    revisits: Option<usize>,
    /// What is done again no more; rows and kinds of turns that still are to be.
    done_again: HashSet<u64>,
    unanswered: HashSet<u64>,
    unanswered_turns: HashSet<String>,
    /// The page's ways to try again, by their names: those that are there by themselves, and those that came with a fault.
    agains_there: HashSet<u64>,
    agains_come: HashSet<u64>,
    agains_nodes: HashMap<NodeId, String>,
    replays: u32,
    lost: u32,
    /// A state had more rows than are taken of one.
    has_more: bool,
    /// Controls that do not show in the state at hand.
    hidden: HashSet<NodeId>,
    /// The tree's generation and the address of which `controls` are.
    seen: (u64, Option<Url>),
    controls: Rc<Vec<Control>>,
    clicked: HashSet<u64>,
    /// Rows that some state has shown.
    rows: HashSet<u64>,
    /// By kind: how often in a row it was in vain, and what it is for.
    failed: HashMap<String, (Rank, u32)>,
    paid: HashSet<String>,
    lists: Lists,
    /// Links that boxes have brought.
    chosen: HashSet<String>,
    /// Scrolling has brought something.
    has_scrolled: bool,
    /// By kinds of rows, the kinds of controls that are pressed behind a click on one.
    companions: HashMap<String, HashSet<String>>,
    /// The same of those that bring links, whatever they say.
    steps: Steps,
    /// By kinds of rows that are called like turns, whether they turn what their row shows.
    more: HashMap<String, More>,
    /// How often one of them was pressed, and those that are to be once more.
    more_presses: HashMap<u64, u32>,
    more_later: VecDeque<u64>,
    /// The last act led back, to something new.
    heads_back: bool,
    /// There was a way back in the first state: the page is none of its list's ends.
    starts_inside: bool,
    /// Turns that showed nothing, behind which a way back shows what is known.
    vain_turns: u32,
    seen_states: u32,
    /// What is being clicked, if it is a row or a tab.
    pressed: Option<Control>,
    /// Kinds whose addresses lead nowhere, so that only a click may.
    by_click: HashSet<String>,
    views: VecDeque<(Url, String)>,
    known_views: HashSet<String>,
    /// The turns that led from the page's beginning, or a view's, to where it is now.
    path: Vec<(u64, String)>,
    /// The lists around the one that the page shows, and which of them were gone into, by the rows that led there.
    levels: Vec<Level>,
    entered: HashSet<u64>,
    /// Elements whose clicks have shown lists of the same.
    folders: HashSet<String>,
    /// Kinds of controls without words for which scripts wanted something to be posted.
    harmful: HashSet<String>,
    /// Rows whose links are known from answers.
    infers: Infers,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<Bound> {
        let (mut scroll_brings, mut vain_scrolls) = (true, 0);
        while self.tries > 0 {
            if let Some(bound) = self.bound() {
                // The act that met the bound may have brought nothing for just that reason.
                return (self.idle <= 1 || self.likeliest().is_some()).then_some(bound);
            }
            if scroll_brings {
                let mut is_end = true;
                let before = Rc::clone(&self.controls);
                let news = self.act("scroll", |window| {
                    window.look_away();
                    is_end = window.scroll_on();
                });
                if !is_end {
                    continue;
                }
                // The first one shows what was there before.
                if news != News::None && !before.is_empty() {
                    self.has_scrolled = true;
                    self.turned(&before);
                }
                scroll_brings = news != News::None;
                vain_scrolls = if scroll_brings { 0 } else { vain_scrolls + 1 };
                self.tries -= u32::from(!scroll_brings);
                continue;
            }
            let choice = self.offer_of_tab().or_else(|| self.choose_in_level());
            let Some(choice) = choice.or_else(|| self.press_again()).or_else(|| self.once_more()) else {
                if self.leave_level() {
                    continue;
                }
                let more = self.has_more.then_some(Bound::Rows);
                return (self.lost > 0).then_some(Bound::NoWayBack).or(more);
            };
            let (news, rank) = match choice {
                Choice::Control(control) if control.rank == Rank::Tick => (self.tick(&control), Rank::Tick),
                Choice::Control(control) => {
                    let news = self.press_and_learn(&control);
                    (news, self.rank(&control))
                }
                Choice::Again(control) => (self.try_again(&control), Rank::Turn),
                Choice::View(url, kind) => (self.visit(&url, &kind), Rank::Row),
            };
            if self.lost >= limits::RENDER_LOST_MAX {
                return Some(Bound::NoWayBack);
            }
            // A longer page may be scrolled again; one that has not grown by it twice does not.
            let is_other_list = news != News::None && matches!(rank, Rank::Enter | Rank::Turn | Rank::Tab);
            scroll_brings = vain_scrolls < 2 && (is_other_list || rank == Rank::Tab && self.has_scrolled);
        }
        self.choose().map(|_| Bound::Tries)
    }

    /// Where nothing is left: what was taken for a row and had a list with further pages below it.
    fn press_again(&mut self) -> Option<Choice> {
        let again = self.lists.left(&self.controls);
        for identity in &again {
            self.clicked.remove(identity);
        }
        if again.is_empty() { None } else { self.choose() }
    }

    /// A list was turned from where these were.
    fn turned(&mut self, before: &[Control]) {
        self.look_around();
        for identity in self.lists.turned(before, &self.controls) {
            self.clicked.remove(&identity);
        }
    }

    /// What a control is for, as far as that has come out.
    fn rank(&self, control: &Control) -> Rank {
        if self.lists.are_tabs(&control.kind) { Rank::Tab } else { control.rank }
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
        cost::cpu_us(Of::Thread).is_ok_and(|used| used >= self.until_us).then_some(Bound::Cpu)
    }

    /// What brings links may go on: the page gets instructions and CPU time anew, up to what any page may have.
    fn earn(&mut self) {
        self.window.engine.with(|context| jobs::allow_requests(context));
        let Ok(used) = cost::cpu_us(Of::Thread) else { return };
        let until = (used + limits::RENDER_EXPLORE_GAIN_US).min(limits::RENDER_EXPLORE_CPU_MAX_US);
        // Behind its last act a page still has the time to tell what has come.
        let room = limits::RENDER_CPU_SECONDS_MAX.saturating_sub(limits::RENDER_EXPLORE_CPU_US / 1_000_000);
        let seconds = until.saturating_sub(used).div_ceil(1_000_000) + room;
        if until > used && (until <= self.until_us || confine::extend_cpu_time(seconds)) {
            self.until_us = self.until_us.max(until);
            self.window.engine.refill();
        }
    }

    /// Does something with the page and lets its scripts run on.
    fn act(&mut self, by: &str, what: impl FnOnce(&mut Window)) -> News {
        // What is there from the beginning may be for anything.
        let faults = if self.acts == 0 { None } else { Some(self.faults()) };
        note(self.window, by);
        what(self.window);
        self.window.engine.run(self.reach);
        self.acts += 1;
        let mut news = self.book.enter(by, self.window);
        self.hear();
        // Where links have come, nobody asks whether rows have.
        if news != News::Links && self.look_around() {
            news = News::Rows;
        }
        self.look_around();
        self.tell_agains(faults.is_some_and(|faults| self.faults() > faults));
        if news == News::Links {
            (self.idle, self.rounds) = (0, 0);
            self.earn();
        } else {
            self.idle += 1;
        }
        news
    }

    /// Whether something was to be posted for one of its kind, of which nobody knows what it does.
    fn is_harmful(&self, control: &Control) -> bool {
        control.unsure && self.harmful.contains(&control.kind) || self.steps.has_refused(control)
    }

    /// Clicks a control. Where nobody knows what it does, nothing is posted for it, and its kind is given up that wants it.
    fn click(&mut self, control: &Control) -> News {
        let unsent = self.window.engine.page().borrow().unsent;
        self.window.engine.page().borrow_mut().sends_gets_only = control.unsure;
        let news = self.act(&format!("click {}", control.words), |window| window.click_node(control.id));
        self.window.engine.page().borrow_mut().sends_gets_only = false;
        if self.window.engine.page().borrow().unsent > unsent {
            self.harmful.insert(control.kind.clone());
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
        let given_up: HashSet<String> =
            self.failed.keys().filter(|kind| self.is_given_up(kind, Rank::Row)).cloned().collect();
        let (mut controls, has_more) = controls(self.window, |kind| given_up.contains(kind));
        let (tab, row) = self.pressed.as_ref().map_or((None, None), |of| match self.rank(of) {
            Rank::Tab => (Some(of), None),
            _ => (None, Some(of)),
        });
        same::keep(&self.controls, (row, tab), &mut controls);
        self.controls = Rc::new(controls);
        self.has_more |= has_more;
        self.hidden.clear();
        let mut has_new = false;
        let first = self.seen_states == 0;
        self.seen_states += 1;
        for control in self.controls.iter() {
            self.starts_inside |= first && control.rank == Rank::Back && control.crumb.is_none();
            let is_branch = control.rank == Rank::Tab && control.kind.starts_with("summary ");
            if is_branch
                || back::is_year(control)
                || control.rank == Rank::Row && !self.by_click.contains(&control.kind)
            {
                has_new |= self.rows.insert(control.identity);
            }
            if let Some(view) = &control.view
                && self.known_views.len() < limits::RENDER_VIEWS_MAX
                && self.known_views.insert(view.as_str().to_owned())
            {
                self.views.push_back((view.clone(), control.kind.clone()));
            }
        }
        self.skip_inferred();
        has_new
    }

    fn is_given_up(&self, kind: &str, rank: Rank) -> bool {
        let patience = match rank {
            // What lies behind a page in the middle is behind all that was turned from there.
            Rank::Back if self.starts_inside => {
                let turned = u32::try_from(self.path.len()).unwrap_or(u32::MAX);
                turned.saturating_add(self.vain_turns).saturating_add(1)
            }
            Rank::Turn | Rank::Back | Rank::Close => 1,
            _ if self.paid.contains(kind) => PATIENCE_WITH_PAID,
            _ => PATIENCE,
        };
        self.failed.get(kind).is_some_and(|(_, failed)| *failed >= patience)
    }

    fn is_shown(&mut self, id: NodeId) -> bool {
        self.window.engine.with(|context| styles::is_displayed(id, context)) == Some(true)
    }

    /// What is tried next, if anything: of what shows.
    fn choose(&mut self) -> Option<Choice> {
        loop {
            self.look_around();
            let choice = self.likeliest()?;
            let Choice::Control(control) = &choice else { return Some(choice) };
            let id = control.id;
            if self.is_shown(id) {
                return Some(choice);
            }
            self.hidden.insert(id);
        }
    }

    fn likeliest(&mut self) -> Option<Choice> {
        let offered = |control: &&Control| {
            // A "next" that stays where it is is pressed again and again; anything else once.
            let is_new = matches!(control.rank, Rank::Turn | Rank::Back) || !self.clicked.contains(&control.identity);
            let is_view = control.view.is_some() && !self.by_click.contains(&control.kind);
            let is_for_later = is_view || control.rank == Rank::Close;
            is_new
                && !is_for_later
                && (control.crumb.is_none() || self.levels.is_empty())
                && !control.ticked
                && !self.is_harmful(control)
                && !self.has_come_with_fault(control)
                && !self.hidden.contains(&control.id)
                && !self.is_given_up(&control.kind, control.rank)
        };
        let offered: Vec<&Control> = self.controls.iter().filter(offered).collect();
        let mut of_kind = HashMap::<&str, usize>::new();
        for control in self.controls.iter() {
            *of_kind.entry(&control.kind).or_default() += 1;
        }
        let is_of_list = |control: &Control| {
            let is_list = of_kind.get(&*control.kind).is_some_and(|count| *count >= LIST_MIN);
            is_list || self.paid.contains(&control.kind)
        };
        // A row may be called like a gate: "Enter the Dragon".
        let is_row = |control: &&&Control| {
            matches!(control.rank, Rank::Row | Rank::Enter)
                && is_of_list(control)
                && !self.lists.are_tabs(&control.kind)
        };
        let gate = offered.iter().find(|of| of.rank == Rank::Enter && !is_of_list(of));
        let row = offered.iter().find(is_row);
        let turn = || offered.iter().filter(|of| self.rank(of) < Rank::Row).min_by_key(|of| self.rank(of));
        // Who went back goes on so to the beginning: what lies ahead is known.
        let back = || offered.iter().find(|of| self.heads_back && of.rank == Rank::Back);
        // What a fault has met is done again before its list is turned.
        let again =
            || self.controls.iter().find(|of| self.unanswered.contains(&of.identity) && !self.hidden.contains(&of.id));
        // What goes on below a row goes on when all rows of its kind have begun.
        let more = || {
            let of = |identity: &u64| self.controls.iter().find(|of| of.identity == *identity);
            let waits = |of: &&Control| {
                self.hidden.contains(&of.id)
                    || self.is_given_up(&of.kind, of.rank)
                    || offered.iter().any(|other| other.kind == of.kind)
            };
            self.more_later.iter().filter_map(of).find(|of| !waits(of))
        };
        if let Some(control) = gate
            .copied()
            .or_else(more)
            .or(row.copied())
            .or_else(again)
            .or_else(|| back().copied())
            .or_else(|| turn().copied())
        {
            return Some(Choice::Control(control.clone()));
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
        self.unanswered.remove(&control.identity);
        self.more_later.retain(|of| *of != control.identity);
        let (rank, faults) = (self.rank(control), self.faults());
        let posted = self.window.engine.page().borrow().posted;
        let address = self.address();
        let siblings: HashSet<u64> =
            self.controls.iter().filter(|of| of.kind == control.kind).map(|of| of.identity).collect();
        let before = Rc::clone(&self.controls);
        let is_watched = rank == Rank::Row && siblings.len() > 1 && self.lists.are_watched(&control.kind);
        let standing = if rank == Rank::Row { self.standing(control) } else { HashSet::new() };
        let shown = is_watched.then(|| (self.links(), self.shown_turns()));
        self.pressed = Some(control.clone()).filter(|_| matches!(rank, Rank::Row | Rank::Tab));
        let mut news = self.click(control);
        self.look_around();
        self.pressed = None;
        let is_turn = matches!(rank, Rank::Turn | Rank::Back);
        if self.has_met_fault(control.identity, faults, news) && !is_turn {
            self.unanswered.insert(control.identity);
            return news;
        }
        if is_turn && self.faults() > faults {
            self.unanswered_turns.insert(control.kind.clone());
        }
        let tries = self.tries;
        let is_again = self.lists.is_again(control.identity);
        let siblings = self.without_crumbs(siblings, &before);
        // Folders of other folders may have the same names.
        let is_folder = self.is_folder(control, &siblings);
        // A row is not in vain before what it has opened was tried.
        let is_judged_later = rank == Rank::Row && news == News::None;
        if !is_judged_later {
            self.judge(control, rank, news, is_again || is_folder);
        }
        self.heads_back = control.rank == Rank::Back && control.crumb.is_none() && news != News::None;
        if rank == Rank::Row {
            if siblings.len() > 1 && self.shows(&siblings) {
                let shown = shown.filter(|_| news != News::None);
                let has_replaced = shown.is_some_and(|shown| self.has_replaced(control, &shown, &before));
                let leads_on = self.has_scrolled || self.controls.iter().any(leads_on);
                self.lists.clicked(control, has_replaced, leads_on);
            }
            news = news.max(self.press_companions(control, &standing, news));
            if is_judged_later {
                self.judge(control, rank, news, is_again || is_folder);
            }
            if news != News::Links && self.has_gone_from(address.as_ref()) {
                news = News::Links;
                self.judge(control, rank, news, is_again);
            }
            let has_posted = self.window.engine.page().borrow().posted > posted;
            self.press_more(control, news, has_posted);
            if news == News::Links {
                // A click that opens what brings the links was not in vain.
                self.tries = self.tries.max(tries);
            }
        }
        self.vain_turns += u32::from(rank == Rank::Turn && news == News::None);
        match rank {
            // A number may be a row's name.
            Rank::Row | Rank::Number if (news != News::None || is_folder) && !self.shows(&siblings) => {
                let level = Level::of(address, siblings, &before);
                let left = if news == News::Links { Some(level) } else { self.go_into(control, &before, level) };
                if let Some(list) = left {
                    self.come_back(&list);
                }
            }
            Rank::Turn | Rank::Number | Rank::Tab if news != News::None || is_again => {
                self.path.push((control.identity, control.kind.clone()));
                if rank != Rank::Tab {
                    self.turned(&before);
                }
            }
            _ => {}
        }
        if rank == Rank::Tab && (news != News::None || is_again) {
            // Another list has its own pages of the same numbers.
            self.failed.retain(|_, (of, _)| *of != Rank::Number);
            let numbers = self.controls.iter().filter(|of| of.rank == Rank::Number);
            for number in numbers {
                self.clicked.remove(&number.identity);
            }
        }
        news
    }

    /// Whether links are gone that were shown, or rows of another kind, or turns of what another section has.
    fn has_replaced(
        &mut self,
        pressed: &Control,
        (links, turns): &(HashSet<String>, HashSet<NodeId>),
        before: &[Control],
    ) -> bool {
        let now: HashSet<u64> = self.controls.iter().map(|of| of.identity).collect();
        let is_other = |of: &&Control| of.rank == Rank::Row && of.kind != pressed.kind;
        before.iter().filter(is_other).any(|of| !now.contains(&of.identity))
            || !links.is_subset(&self.links())
            || self.has_hidden(turns)
    }

    /// The turns and numbers that show.
    fn shown_turns(&mut self) -> HashSet<NodeId> {
        let turns: Vec<NodeId> = self.controls.iter().filter(|of| leads_on(of)).map(|of| of.id).collect();
        turns.into_iter().filter(|id| self.is_shown(*id)).collect()
    }

    /// Whether all of these turns stand in the page as they did, and none of them shows.
    fn has_hidden(&mut self, turns: &HashSet<NodeId>) -> bool {
        let ids: Vec<NodeId> = turns.iter().copied().collect();
        let are_there =
            self.window.engine.look(|context| read(context, |tree| ids.iter().all(|id| tree.is_connected(*id))));
        !turns.is_empty() && are_there == Some(true) && turns.is_disjoint(&self.shown_turns())
    }

    /// Opens a view by its address, and what it has to download.
    fn visit(&mut self, url: &Url, kind: &str) -> News {
        let faults = self.faults();
        let news =
            self.act(&format!("goto #{}", url.fragment().unwrap_or_default()), |window| window.go_to(url.as_str()));
        if self.has_met_fault(xxh3_64(url.as_str().as_bytes()), faults, news) {
            self.views.push_back((url.clone(), kind.to_owned()));
            return news;
        }
        self.judge_kind(kind, Rank::Row, news);
        if news == News::None {
            // Its handler may ask for a click, and not for an address.
            self.by_click.insert(kind.to_owned());
            return news;
        }
        self.path.clear();
        self.press_downloads();
        news
    }

    /// Remembers whether a control's kind is of use. What is pressed `again` is so for what lies behind it.
    fn judge(&mut self, control: &Control, rank: Rank, news: News, again: bool) {
        let news = if again { news.max(News::Rows) } else { news };
        self.judge_kind(&control.kind, rank, news);
    }

    fn judge_kind(&mut self, kind: &str, rank: Rank, news: News) {
        match news {
            News::None => {
                self.tries = self.tries.saturating_sub(1);
                self.failed.entry(kind.to_owned()).or_insert((rank, 0)).1 += 1;
            }
            // The current page's number brings nothing, and those of others do.
            News::Rows if rank == Rank::Number => {
                self.failed.remove(kind);
            }
            News::Rows => {}
            News::Links => {
                self.failed.remove(kind);
                self.paid.insert(kind.to_owned());
            }
        }
        // What a tab, a page's number or a view has brought may have a "next" of its own.
        if (news != News::None || self.lists.are_tabs(kind)) && rank != Rank::Turn {
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

    /// The addresses that the page links to now.
    fn links(&mut self) -> HashSet<String> {
        self.window.links().into_iter().map(|link| link.url).collect()
    }

    /// Whether a click has led to another address of the page's own, which is a link then as any other.
    fn has_gone_from(&mut self, before: Option<&Url>) -> bool {
        let Some((now, before)) = self.address().zip(before) else { return false };
        let bare = |url: &Url| url.as_str().split('#').next().map(str::to_owned);
        if bare(&now) == bare(before) || !self.known_views.insert(now.as_str().to_owned()) {
            return false;
        }
        self.window.engine.with(|context| navigation::record(Navigation::get(now, How::Location), context));
        self.book.enter("click", self.window) == News::Links
    }
}

/// Whether there is more of the list below a tab.
fn leads_on(control: &Control) -> bool {
    matches!(control.rank, Rank::Turn | Rank::Number)
}
