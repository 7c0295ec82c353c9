//! Looking for all that a page has: rows of the state at hand first, since turning the page may take them away, then turns, then tabs, then
//! the views that addresses behind `#` name, then whatever else reacts.
//!
//! A row that takes its list away is left again: by the page's history, by a control that leads back, or by turning to its place anew.

mod again;
mod back;
mod bounds;
mod choices;
mod choose;
mod companions;
mod frontier;
mod in_view;
mod infer;
mod menus;
mod pick;
mod replaced;
mod said;
mod stated;
mod turns;
mod views;

use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use url::Url;

use self::back::Level;
use self::bounds::Called;
use self::companions::{More, Steps};
use self::frontier::{Frontier, Step};
use self::in_view::Scrolls;
use self::infer::Infers;
use self::pick::Pickers;
use self::stated::Stated;
use super::controls::{Control, Rank, controls};
use super::lists::Lists;
use super::shown::{Book, News};
use super::{note, same};
use crate::dom::{NodeId, Tree};
use crate::engine::realm;
use crate::limits;
use crate::web::html::load::Window;
use crate::web::html::navigation;
use crate::web::read;
use crate::wire::{Bound, Cut, How, Navigation, Reach, Seeks};

/// Tries what the page offers, the likeliest first. Gives where it stopped with more to come.
pub(super) fn explore(window: &mut Window, seeks: Seeks, reach: Reach, book: &mut Book) -> Option<Cut> {
    let mut reader = Reader {
        window,
        reach,
        book,
        tries: seeks.tries,
        turns_only: seeks.turns_only,
        has_left_alone: false,
        last_number: 0,
        has_turned: false,
        has_unsent_turns: false,
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
        lost: HashMap::new(),
        given_up: HashSet::new(),
        called: Called::default(),
        has_more: false,
        hidden: HashSet::new(),
        seen: (0, Url::parse("about:blank").ok()),
        controls: Rc::default(),
        lists_of_guesses: HashSet::new(),
        clicked: HashSet::new(),
        rows: HashMap::new(),
        failed: HashMap::new(),
        paid: HashSet::new(),
        lists: Lists::default(),
        chosen: HashSet::new(),
        vain_applies: 0,
        has_scrolled: false,
        draws_in_view: false,
        companions: HashMap::new(),
        steps: Steps::default(),
        opening: HashSet::new(),
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
        frontier: Frontier::default(),
        presses: HashMap::new(),
        since: HashMap::new(),
        infers: Infers::default(),
        pickers: Pickers::default(),
        stated: Stated::default(),
    };
    reader.window.engine.page().borrow_mut().sends_gets_only = seeks.turns_only;
    // Whoever asks for no acts is told of none.
    let bound = if seeks.tries > 0 { reader.read() } else { None };
    reader.tell_inferred();
    let bound = bound.or_else(|| reader.has_faults_left().then_some(Bound::Unanswered))?;
    let left = if bound == Bound::Unopened { reader.unopened() } else { 0 };
    let tabs = reader.has_tabs_left();
    Some(Cut { bound, acts: reader.acts, left, tabs })
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
    /// Nothing is clicked but what turns a list, and nothing sent but GETs.
    turns_only: bool,
    /// What only members are spared stood there.
    has_left_alone: bool,
    /// The page that was turned to by its number.
    last_number: u32,
    /// The last turn has changed what the page says.
    has_turned: bool,
    /// A turn wanted something to be posted then.
    has_unsent_turns: bool,
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
    /// How often rows of a kind have taken their list away for good, and kinds that are clicked no more for that.
    lost: HashMap<String, u32>,
    given_up: HashSet<String>,
    called: Called,
    /// A state had more rows than are taken of one.
    has_more: bool,
    /// Controls that do not show in the state at hand.
    hidden: HashSet<NodeId>,
    /// The tree's generation and the address of which `controls` are.
    seen: (u64, Option<Url>),
    controls: Rc<Vec<Control>>,
    /// Kinds of which nobody is known to listen to them, that were lists.
    lists_of_guesses: HashSet<String>,
    clicked: HashSet<u64>,
    /// Rows that some state has shown, by the act that did first.
    rows: HashMap<u64, u32>,
    /// How often something of a kind was pressed.
    presses: HashMap<String, u32>,
    /// Choices of lists that some state has offered, by the act that did first.
    since: HashMap<u64, u32>,
    /// By kind: how often in a row it was in vain, and what it is for.
    failed: HashMap<String, (Rank, u32)>,
    paid: HashSet<String>,
    lists: Lists,
    /// Links that boxes have brought.
    chosen: HashSet<String>,
    /// Choices in a row that brought nothing, with the button beside them.
    vain_applies: u32,
    /// Scrolling has brought something.
    has_scrolled: bool,
    /// Rows are taken away as they go out of sight: they are pressed before the list is scrolled on.
    draws_in_view: bool,
    /// By kinds of rows, the kinds of controls that are pressed behind a click on one.
    companions: HashMap<String, HashSet<String>>,
    /// The same of those that bring links, whatever they say.
    steps: Steps,
    /// Kinds that open menus of their rows.
    opening: HashSet<String>,
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
    path: Vec<Step>,
    /// The lists around the one that the page shows, and which of them were gone into, by the rows that led there.
    levels: Vec<Level>,
    entered: HashSet<u64>,
    /// Elements whose clicks have shown lists of the same.
    folders: HashSet<String>,
    /// Kinds of controls without words for which scripts wanted something to be posted.
    harmful: HashSet<String>,
    /// What was shown and not pressed.
    frontier: Frontier,
    /// Rows whose links are known from answers.
    infers: Infers,
    pickers: Pickers,
    stated: Stated,
}

/// The kind of a link, and what it is called.
fn called(control: &Control) -> String {
    format!("{} called {}", control.kind, control.text)
}

impl Reader<'_> {
    fn read(&mut self) -> Option<Bound> {
        let mut scrolls = Scrolls::default();
        while self.tries > 0 {
            if let Some(bound) = self.bound() {
                // The act that met the bound may have brought nothing for just that reason.
                return (self.idle <= 1 || self.likeliest().is_some()).then_some(bound);
            }
            let in_view = if scrolls.bring { self.row_in_view() } else { None };
            if scrolls.bring && in_view.is_none() {
                self.scroll(&mut scrolls);
                continue;
            }
            self.remember();
            let is_in_view = in_view.is_some();
            let choice = in_view.or_else(|| self.offer_of_tab()).or_else(|| self.choose_in_level());
            let Some(choice) = choice.or_else(|| self.press_again()).or_else(|| self.once_more()) else {
                if self.leave_level() || self.go_where_rows_wait() {
                    continue;
                }
                let more = self.has_more.then_some(Bound::Rows);
                let left = (self.unopened() > 0).then_some(Bound::Unopened);
                let unchosen = self.has_unchosen().then_some(Bound::Unchosen);
                let unseen = self.has_unseen_rows().then_some(Bound::Unseen);
                let unsent = self.has_unsent_turns.then_some(Bound::Unsent);
                let alone = self.has_left_alone.then_some(Bound::LeftAlone);
                let lost = self.has_lost_rows().then_some(Bound::NoWayBack);
                return lost.or(more).or(left).or(unchosen).or(unsent).or(unseen).or(alone);
            };
            let (news, rank) = match choice {
                Choice::Control(control) if control.rank == Rank::Tick => (self.tick(&control), Rank::Tick),
                Choice::Control(control) if pick::is_opener(&control) => (self.open_picker(&control), Rank::Row),
                Choice::Control(control) => {
                    let news = self.press_and_learn(&control);
                    (news, self.rank(&control))
                }
                Choice::Again(control) => (self.try_again(&control), Rank::Turn),
                Choice::View(url, kind) => (self.visit(&url, &kind), Rank::Row),
            };
            if self.is_lost() {
                return Some(Bound::NoWayBack);
            }
            scrolls.pressed(news, rank, (is_in_view, self.has_scrolled));
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

    /// Does something with the page and lets its scripts run on.
    fn act(&mut self, by: &str, what: impl FnOnce(&mut Window)) -> News {
        // What is there from the beginning may be for anything.
        let faults = if self.acts == 0 { None } else { Some(self.faults()) };
        note(self.window, by);
        what(self.window);
        self.window.engine.run(self.reach);
        self.window.engine.page().borrow_mut().tell_alive();
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
        let is_harmful = || self.harmful.contains(&control.kind) || self.harmful.contains(&called(control));
        control.unsure && is_harmful() || self.steps.has_refused(control)
    }

    /// Clicks a control. Where nobody knows what it does, nothing is posted for it, and its kind is given up that wants it.
    fn click(&mut self, control: &Control) -> News {
        let unsent = self.window.engine.page().borrow().unsent;
        let gone = if self.turns_only { self.window.navigations().len() } else { 0 };
        self.window.engine.page().borrow_mut().sends_gets_only = control.unsure || self.turns_only;
        let news = match &control.option {
            Some(option) => self.pick(control, option),
            None => self.act(&format!("click {}", control.words), |window| window.click_node(control.id)),
        };
        self.window.engine.page().borrow_mut().sends_gets_only = self.turns_only;
        if self.turns_only {
            self.notice_unsent(news, (unsent, gone), self.paid.contains(&control.kind));
        }
        if self.window.engine.page().borrow().unsent > unsent {
            // Of links that are called otherwise it tells nothing: "Reseed" stands beside "Details".
            let is_link = control.leads.is_some() && !control.text.is_empty();
            self.harmful.insert(if is_link { called(control) } else { control.kind.clone() });
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
        let given_up: HashSet<String> = self
            .failed
            .keys()
            .chain(&self.given_up)
            .filter(|kind| self.is_given_up(kind, Rank::Row))
            .cloned()
            .collect();
        let (mut controls, has_more) =
            controls(self.window, |kind| given_up.contains(kind), &mut self.lists_of_guesses);
        let (tab, row) = self.pressed.as_ref().map_or((None, None), |of| match self.rank(of) {
            Rank::Tab => (Some(of), None),
            _ => (None, Some(of)),
        });
        same::keep(&self.controls, (row, tab), &mut controls);
        self.offer_options(&mut controls);
        if self.turns_only {
            self.keep_turns(&mut controls);
        }
        self.controls = Rc::new(controls);
        self.has_more |= has_more;
        self.hidden.clear();
        let mut has_new = false;
        let first = self.seen_states == 0;
        self.seen_states += 1;
        for control in self.controls.iter() {
            self.starts_inside |= first && control.rank == Rank::Back && control.crumb.is_none();
            if choices::is_choice(control) {
                self.since.entry(control.identity).or_insert(self.acts);
            }
            let is_branch = control.rank == Rank::Tab && control.kind.starts_with("summary ");
            if is_branch
                || back::is_year(control)
                || control.rank == Rank::Row && !self.by_click.contains(&control.kind)
            {
                has_new |= !self.rows.contains_key(&control.identity);
                self.rows.entry(control.identity).or_insert(self.acts);
            }
            if let Some(view) = &control.view
                && self.known_views.len() < limits::RENDER_VIEWS_MAX
                && self.known_views.insert(view.as_str().to_owned())
            {
                self.views.push_back((view.clone(), control.kind.clone()));
            }
        }
        self.skip_inferred();
        self.hear_of_rows();
        has_new
    }

    /// Clicks a control; comes back where it led away from a list.
    fn press(&mut self, control: &Control) -> News {
        self.clicked.insert(control.identity);
        self.presses(control);
        self.unanswered.remove(&control.identity);
        self.more_later.retain(|of| *of != control.identity);
        let (mut rank, faults) = (self.rank(control), self.faults());
        let posted = self.window.engine.page().borrow().posted;
        let address = self.address();
        let siblings: HashSet<u64> =
            self.controls.iter().filter(|of| of.kind == control.kind).map(|of| of.identity).collect();
        let before = Rc::clone(&self.controls);
        let is_watched = rank == Rank::Row && siblings.len() > 1 && self.lists.are_watched(&control.kind);
        let standing = if rank == Rank::Row { self.standing(control) } else { HashSet::new() };
        let hidden = if rank == Rank::Row { self.hidden_beside(control) } else { Vec::new() };
        let shown = is_watched.then(|| (self.links(), self.shown_turns()));
        let may_replace = matches!(rank, Rank::Tab | Rank::Number);
        let links = if may_replace { self.links() } else { HashSet::new() };
        self.pressed = Some(control.clone()).filter(|_| matches!(rank, Rank::Row | Rank::Tab));
        let gone = control.leads.as_ref().map(|_| self.window.navigations().len());
        let open = if rank == Rank::Row { self.overlays_shown() } else { 0 };
        let said = if rank == Rank::Turn { self.says() } else { 0 };
        let mut news = self.click(control);
        self.has_turned = rank == Rank::Turn && said != self.says();
        if rank == Rank::Number {
            self.last_number = control.text.trim().parse().unwrap_or(self.last_number);
        }
        // What lay over the page has taken the click, and is closed by it.
        if news == News::None && open > 0 && self.overlays_shown() < open {
            news = self.click(control);
        }
        self.look_around();
        self.pressed = None;
        if gone.is_some_and(|gone| self.has_just_followed(control, gone)) {
            if !self.shows(&siblings) {
                self.come_back(&Level::of(address, &control.kind, siblings, &before));
            }
            // One click tells of all of its kind.
            self.failed.insert(control.kind.clone(), (Rank::Row, bounds::PATIENCE_WITH_PAID));
            return News::None;
        }
        let has_applied = choices::is_choice(control)
            && news != News::Links
            && !self.has_taken(&links, &before)
            && self.apply(control, &mut news);
        let is_turn = matches!(rank, Rank::Turn | Rank::Back);
        if self.has_met_fault(control.identity, faults, news) && !is_turn {
            self.unanswered.insert(control.identity);
            return news;
        }
        if is_turn && self.faults() > faults {
            self.unanswered_turns.insert(control.kind.clone());
        }
        // What brings links, itself or by a button of its pane, is a row: tabs bring what has them.
        let may_be_tab = rank == Rank::Row && news == News::Rows && !self.paid.contains(&control.kind);
        if may_be_tab && siblings.len() > 1 && self.replaces_unread(control, &before) {
            // What was pressed before was for what lies behind it, too.
            let others = siblings.iter().filter(|of| **of != control.identity && self.clicked.contains(of));
            let others: Vec<u64> = others.copied().collect();
            for identity in &others {
                self.clicked.remove(identity);
            }
            self.lists.are_tabs_now(control, others);
            rank = Rank::Tab;
        }
        // What its row has hidden was there before, and can be pressed now.
        if news == News::None && hidden.into_iter().any(|id| self.is_shown(id)) {
            news = News::Rows;
            self.opening.insert(control.kind.clone());
        }
        let tries = self.tries;
        let is_again = self.lists.is_again(control.identity) || has_applied;
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
            self.leave_menu(control, &before);
            if news == News::Links {
                // A click that opens what brings the links was not in vain.
                self.tries = self.tries.max(tries);
            }
        }
        self.vain_turns += u32::from(rank == Rank::Turn && news == News::None);
        // Of two pages one has a number to press at a time.
        let is_page = rank == Rank::Number
            && siblings.len() == 1
            && !back::is_year(control)
            && self.controls.iter().any(|of| of.kind == control.kind && of.identity != control.identity);
        match rank {
            // A number may be a row's name.
            Rank::Row | Rank::Number if (news != News::None || is_folder) && !is_page && !self.shows(&siblings) => {
                let level = Level::of(address, &control.kind, siblings, &before);
                if let Some(list) = self.go_into(control, &before, level, news) {
                    self.come_back(&list);
                }
            }
            Rank::Turn | Rank::Number | Rank::Tab if news != News::None || is_again => {
                self.went(control, rank, &before, &links);
            }
            Rank::Row | Rank::Tab if news == News::None => self.stays(control),
            _ => {}
        }
        news
    }

    /// Whether a click on a link that is said to open something has done what one on any link does.
    fn has_just_followed(&mut self, control: &Control, gone: usize) -> bool {
        let Some(url) = &control.leads else { return false };
        let navigations = self.window.navigations_since(gone);
        !navigations.is_empty() && navigations.iter().all(|one| one.url == url.as_str())
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
