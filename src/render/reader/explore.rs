//! Explores a page in this order: rows of the current state, since turning the page may remove them; then turns; tabs; views that `#`
//! URLs name; and anything else that reacts.
//!
//! After a click that replaces its list, the reader returns: through the page's history, by a control that leads back, or by turning to
//! the same place again.

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
mod press;
mod replaced;
mod said;
mod sight;
mod stated;
mod turns;
mod views;

use url::Url;

use self::again::Agains;
use self::back::Trail;
use self::bounds::{Budget, Tried};
use self::choices::Choices;
use self::companions::Companions;
use self::frontier::Frontier;
use self::in_view::{InView, Scrolls};
use self::infer::Infers;
use self::pick::Pickers;
use self::sight::Sight;
use self::stated::Stated;
pub(super) use self::stated::unseen_rows;
use self::turns::Turns;
use self::views::Views;
use super::controls::{Control, Rank};
use super::lists::Lists;
use super::note;
use super::shown::{LinkTable, News};
use crate::web::html::load::Window;
use crate::wire::{Bound, Cut, Reach, Seeks};

/// Tries what the page offers, the most promising control first. Returns where it stopped if there was more to find.
pub(super) fn explore(window: &mut Window, seeks: Seeks, reach: Reach, book: &mut LinkTable) -> Option<Cut> {
    let mut reader = Explorer {
        window,
        reach,
        book,
        budget: Budget::of(seeks.tries),
        turns: Turns { only: seeks.turns_only, ..Turns::default() },
        agains: Agains::default(),
        trail: Trail::default(),
        sight: Sight::default(),
        tried: Tried::default(),
        choices: Choices::default(),
        in_view: InView::default(),
        companions: Companions::default(),
        views: Views::default(),
        lists: Lists::default(),
        frontier: Frontier::default(),
        infers: Infers::default(),
        pickers: Pickers::default(),
        stated: Stated::default(),
    };
    reader.window.engine.page().borrow_mut().sends_gets_only = seeks.turns_only;
    // A caller that requests no acts gets no cut.
    let bound = if seeks.tries > 0 { reader.read() } else { None };
    reader.tell_inferred();
    let bound = bound.or_else(|| reader.has_faults_left().then_some(Bound::Unanswered))?;
    let left = if bound == Bound::Unopened { reader.unopened() } else { 0 };
    let tabs = reader.has_tabs_left();
    Some(Cut { bound, acts: reader.budget.acts, left, tabs })
}

/// The next thing to try.
enum Choice {
    Control(Control),
    /// The page's own retry button.
    Again(Control),
    View(Url, String),
}

/// Explores a page: holds the window, the budget, and the state of each part of the search. The file of a part documents its state.
struct Explorer<'a> {
    window: &'a mut Window,
    reach: Reach,
    book: &'a mut LinkTable,
    budget: Budget,
    turns: Turns,
    agains: Agains,
    trail: Trail,
    sight: Sight,
    tried: Tried,
    choices: Choices,
    in_view: InView,
    companions: Companions,
    views: Views,
    lists: Lists,
    /// What was shown but not clicked.
    frontier: Frontier,
    /// Rows whose links are inferred from responses.
    infers: Infers,
    pickers: Pickers,
    stated: Stated,
}

/// The kind of a link with its label.
fn called(control: &Control) -> String {
    format!("{} called {}", control.kind, control.text)
}

impl Explorer<'_> {
    fn read(&mut self) -> Option<Bound> {
        let mut scrolls = Scrolls::default();
        while self.budget.tries > 0 {
            if let Some(bound) = self.bound() {
                // The act that met the limit may have brought nothing for that very reason.
                return (self.budget.idle <= 1 || self.likeliest().is_some()).then_some(bound);
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
                let more = self.sight.has_more.then_some(Bound::Rows);
                let left = (self.unopened() > 0).then_some(Bound::Unopened);
                let unchosen = self.has_unchosen().then_some(Bound::Unchosen);
                let unseen = self.has_unseen_rows().then_some(Bound::Unseen);
                let unsent = self.turns.has_unsent.then_some(Bound::Unsent);
                let alone = self.turns.has_left_alone.then_some(Bound::LeftAlone);
                let lost = self.frontier.has_lost_rows().then_some(Bound::NoWayBack);
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
            scrolls.pressed(news, rank, (is_in_view, self.in_view.has_scrolled));
        }
        self.choose().map(|_| Bound::Tries)
    }

    /// When nothing is left: presumed rows that had a list with further pages below them.
    fn press_again(&mut self) -> Option<Choice> {
        let again = self.lists.left(&self.sight.controls);
        for identity in &again {
            self.tried.clicked.remove(identity);
        }
        if again.is_empty() { None } else { self.choose() }
    }

    /// A list was turned; these are the controls before.
    fn turned(&mut self, before: &[Control]) {
        self.look_around();
        for identity in self.lists.turned(before, &self.sight.controls) {
            self.tried.clicked.remove(&identity);
        }
    }

    /// The purpose of a control, as far as is known by now.
    fn rank(&self, control: &Control) -> Rank {
        if self.lists.are_tabs(&control.kind) { Rank::Tab } else { control.rank }
    }

    /// Acts on the page and lets its scripts run.
    fn act(&mut self, by: &str, what: impl FnOnce(&mut Window)) -> News {
        // Retry buttons in the first state may be for anything.
        let faults = if self.budget.acts == 0 { None } else { Some(self.faults()) };
        note(self.window, by);
        what(self.window);
        self.window.engine.run(self.reach);
        self.window.engine.page().borrow_mut().tell_alive();
        self.budget.acts += 1;
        let mut news = self.book.enter(by, self.window);
        self.hear();
        // If links have come, new rows need no check.
        if news != News::Links && self.look_around() {
            news = News::Rows;
        }
        self.look_around();
        let has_met_fault = faults.is_some_and(|faults| self.faults() > faults);
        self.agains.look(&self.sight.controls, has_met_fault);
        if news == News::Links {
            (self.budget.idle, self.agains.rounds) = (0, 0);
            self.earn();
        } else {
            self.budget.idle += 1;
        }
        news
    }

    /// Whether a control of unknown effect is of a kind that tried to POST.
    fn is_harmful(&self, control: &Control) -> bool {
        let is_harmful = || self.tried.harmful.contains(&control.kind) || self.tried.harmful.contains(&called(control));
        control.unsure && is_harmful() || self.companions.steps.has_refused(control)
    }

    /// Clicks a control. If its effect is unknown, POSTs are blocked, and its kind is given up if it tries one.
    fn click(&mut self, control: &Control) -> News {
        let unsent = self.window.engine.page().borrow().unsent;
        let gone = if self.turns.only { self.window.navigations().len() } else { 0 };
        self.window.engine.page().borrow_mut().sends_gets_only = control.unsure || self.turns.only;
        let news = match &control.option {
            Some(option) => self.pick(control, option),
            None => self.act(&format!("click {}", control.words), |window| window.click_node(control.id)),
        };
        self.window.engine.page().borrow_mut().sends_gets_only = self.turns.only;
        if self.turns.only {
            self.notice_unsent(news, (unsent, gone), self.tried.paid.contains(&control.kind));
        }
        if self.window.engine.page().borrow().unsent > unsent {
            // This proves nothing about links with other labels: "Reseed" may be beside "Details".
            let is_link = control.leads.is_some() && !control.text.is_empty();
            self.tried.harmful.insert(if is_link { called(control) } else { control.kind.clone() });
        }
        news
    }
}

/// Whether a tab has a list with more pages below it.
fn leads_on(control: &Control) -> bool {
    matches!(control.rank, Rank::Turn | Rank::Number)
}
