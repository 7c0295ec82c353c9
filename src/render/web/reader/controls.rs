//! The controls of a page as a reader sees them: what they are for, which of them are of one kind, and which is which when a script makes
//! them anew.

use std::collections::{HashMap, HashSet};

use boa_engine::Context;
use html5ever::local_name;
use url::Url;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::super::interact::{HOVERS, roots};
use super::super::load::Window;
use super::super::{document, listens_to, own_document, read};
use super::counts;
use super::delegated::{Ears, has_link, is_its_link, is_opener, leaf};
use super::entries;
use super::folders::{self, Crumb};
use super::icons::{self, Icons};
use super::kinds::{self, name_of_list, without_states};
use super::labels::{self, Labels};
use super::options;
use super::overlays;
use super::pickers;
use super::places::Place;
use super::rows::{has_likes, row_element, row_of, stands_in_head};
use super::shown::text_of;
use super::ticks;
use super::title::{self, Doubt};
use super::words::{
    AGE, BACK, CLOSE, CONFIRM, DELETE, ENDS, ENTER, GET, HIDES, LEAVE, MORE, NEVER, NEVER_ALONE, NEVER_NAMES,
    NUMBERING, RETRY, TABS, TURN_SIGNS, TURNING, TURNING_BACK, UPS, says,
};
use crate::dom::{Element, NodeId, Tree};
use crate::engine::realm;
use crate::limits;

/// What a control is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Rank {
    /// "Enter", "I am over 18": what stands before the page.
    Enter,
    /// A box in a row, which is ticked before its list is turned.
    Tick,
    /// "Next", "load more": pressed again and again.
    Turn,
    /// The number of a page.
    Number,
    Tab,
    /// A row, a title, a button of a row, a menu: whatever else reacts.
    Row,
    /// "Back", "previous".
    Back,
    /// "Close": of use only for what a click has opened. On a row, "×" may be anything.
    Close,
}

/// Something that reacts to clicks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub id: NodeId,
    /// What controls of its kind share: element, classes, role, the shape of an address behind `#`.
    pub kind: String,
    /// Which one of its kind it is, as a reader tells them apart: by what it says and where it leads. Another node may be the same one.
    pub identity: u64,
    /// The same, as the page has it now, whatever it was before, and of others that say the same.
    pub now: u64,
    /// As a person names it.
    pub words: String,
    /// Its text, and that of the row that it stands in; empty where there is none.
    pub text: String,
    pub row: String,
    /// Of what stands in a row: a hash of what else the row says.
    pub beside: Option<u64>,
    /// Of what stands in a row: a hash of what that says but for counts and times, which live.
    pub still: Option<u64>,
    /// Where it stands, itself or the row that somebody above listens for.
    pub place: Place,
    pub rank: Rank,
    /// The view of the page that its address names.
    pub view: Option<Url>,
    /// Where it leads, of a link whose click is said to open something here.
    pub leads: Option<Url>,
    /// Its words are about what the page is there for.
    pub gets: bool,
    pub doubt: Doubt,
    /// It offers to ask once more what was not answered.
    pub again: bool,
    /// It leads to the first or the last page of a list.
    pub to_an_end: bool,
    /// Of a row: it is called like a turn, and may be one of what its row shows.
    pub more: bool,
    /// Of a way back: it is one of those to what is around the place that the page shows.
    pub crumb: Option<Crumb>,
    /// Of a box: it is ticked, so that it is there to be unticked and nothing else.
    pub ticked: bool,
    /// It has no words, and nobody knows what its picture stands for, or it is a link: nothing is posted for it.
    pub unsure: bool,
    /// It is of its kind for where it stands alone, whatever its classes.
    pub joined: bool,
    /// The row that looks as if somebody around it listened, where nobody listens to it itself.
    pub by_delegate: Option<NodeId>,
    /// It stands in the head of a table: what that sorts or hides is there without it.
    pub head: bool,
    /// It says nothing and stands in an open branch of a tree, which it would close.
    pub closes: bool,
    /// What it chooses of a list that it opens, and the identity of that list's opener.
    pub option: Option<String>,
    pub opener: Option<u64>,
}

impl Control {
    /// One that is nothing but what it says, for other ranks than rows.
    pub fn plain(id: NodeId, rank: Rank, (kind, identity): (String, u64), words: String) -> Self {
        Self {
            id,
            kind,
            identity,
            now: identity,
            words,
            text: String::new(),
            row: String::new(),
            beside: None,
            still: None,
            place: Place::default(),
            rank,
            view: None,
            leads: None,
            gets: false,
            doubt: Doubt::None,
            again: false,
            to_an_end: false,
            more: false,
            crumb: None,
            ticked: false,
            unsure: false,
            joined: false,
            by_delegate: None,
            head: false,
            closes: false,
            option: None,
            opener: None,
        }
    }

    /// The name of the element that it is.
    pub fn local(&self) -> &str {
        self.kind.split(' ').next().unwrap_or_default()
    }
}

/// So many of one kind are a list.
pub(super) const LIST_MIN: usize = 3;

/// The controls of the page as it is, in the order of the document, without rows of kinds that are given up; and whether there are more
/// rows than are taken. What only looks like rows is one of `lists_of_guesses` from when there was a list of its kind.
pub(super) fn controls(
    window: &mut Window,
    is_given_up: impl Fn(&str) -> bool,
    lists_of_guesses: &mut HashSet<String>,
) -> (Vec<Control>, bool) {
    let mut rows = 0;
    let found = window.engine.with(|context| {
        let document = own_document(context);
        let base = document::base_url(document, context);
        let here = realm::address(context);
        let candidates: Vec<NodeId> = read(context, |tree| {
            let roots = roots(tree, document).into_iter();
            let all = roots.flat_map(|root| tree.descendants(root)).collect::<Vec<_>>();
            all.into_iter().filter(|id| tree.is_element(*id) && !is_shut(tree, *id)).collect()
        });
        let ears = Ears::of(document, &candidates, context);
        let lists = options::lists(&candidates, context);
        let mut controls = Vec::new();
        for id in candidates {
            let listens =
                listens_to(id, "click", context) || ears.are_called_by(id, context) || shows_by_hovering(id, context);
            let control = read(context, |tree| {
                if lists.contains(&id) {
                    return None;
                }
                if let Some(list) = tree.ancestors(id).take(2).find(|above| lists.contains(above)) {
                    return options::option(tree, id, list).filter(|control| !is_given_up(&control.kind));
                }
                let own = ticks::box_of(tree, id).or_else(|| control(tree, id, listens, (&base, &here), &is_given_up));
                own.or_else(|| {
                    let may_hear = !listens && ears.may_hear(tree, id);
                    let control = may_hear.then(|| control(tree, id, true, (&base, &here), &is_given_up))??;
                    Some(Control { id: leaf(tree, id), by_delegate: Some(id), ..control })
                })
            });
            // A list's "next" may stand below all of its rows.
            rows += usize::from(control.as_ref().is_some_and(|control| control.rank == Rank::Row));
            controls.extend(control.filter(|control| control.rank != Rank::Row || rows <= limits::RENDER_CONTROLS_MAX));
        }
        controls
    });
    let mut controls = found.unwrap_or_default();
    title::decide(&mut controls, &is_given_up);
    // "Accept", of a link, is no gate.
    controls.retain(|of| of.leads.is_none() || matches!(of.rank, Rank::Row | Rank::Turn));
    kinds::tell_links_apart(&mut controls);
    entries::keep_innermost(window, &mut controls);
    kinds::join_rows(window, &mut controls);
    // Who turns page by page comes to both ends, and misses what lies between where he jumps there.
    let is_turned = |of: &Control| !of.to_an_end && of.crumb.is_none() && matches!(of.rank, Rank::Turn | Rank::Back);
    if controls.iter().any(is_turned) {
        controls.retain(|of| !of.to_an_end || of.rank == Rank::Row && !of.row.is_empty());
    }
    let (mut of_kind, mut same) = (HashMap::<String, usize>::new(), HashMap::<u64, u64>::new());
    for control in &controls {
        *of_kind.entry(control.kind.clone()).or_default() += 1;
    }
    let of_rows = entries::of_rows(window, &mut controls);
    for control in &mut controls {
        // Rows that say the same are told apart by their order.
        control.now = control.identity;
        let nth = same.entry(control.now).or_default();
        control.identity = control.now.wrapping_add(*nth);
        *nth += 1;
    }
    ticks::drop_other_boxes(window, &mut controls);
    // What only looks like a row has to be one of a list, and of its first kinds; or beside one that leads up, as that itself.
    let is_guess = |of: &Control| of.by_delegate.is_some() && matches!(of.rank, Rank::Row | Rank::Back);
    let leads_up = |of: &&Control| is_guess(of) && of.rank == Rank::Back && of.crumb.is_some();
    let ups: Vec<(String, Place)> =
        controls.iter().filter(leads_up).map(|of| (of.local().to_owned(), of.place.clone())).collect();
    let mut guessed = Vec::<String>::new();
    controls.retain(|control| {
        if !is_guess(control) {
            return true;
        }
        if !guessed.contains(&control.kind) && guessed.len() < limits::RENDER_GUESSED_KINDS_MAX {
            guessed.push(control.kind.clone());
        }
        if of_kind.get(&control.kind).is_some_and(|count| *count >= LIST_MIN) {
            lists_of_guesses.insert(control.kind.clone());
        }
        let is_beside = |(local, place): &(String, Place)| local == control.local() && place.is(&control.place);
        guessed.contains(&control.kind) && (lists_of_guesses.contains(&control.kind) || ups.iter().any(is_beside))
    });
    drop_same_clicks(window, &mut controls);
    for control in controls.iter_mut().filter(|control| of_rows.contains(&control.id)) {
        control.rank = Rank::Row;
    }
    (controls, rows > limits::RENDER_CONTROLS_MAX)
}

/// Leaves out guesses whose click is that of another control as well: the second one would close what the first has opened.
fn drop_same_clicks(window: &mut Window, controls: &mut Vec<Control>) {
    let own: HashSet<NodeId> = controls.iter().filter(|of| of.by_delegate.is_none()).map(|of| of.id).collect();
    let guesses: Vec<(NodeId, NodeId)> =
        controls.iter().filter_map(|of| of.by_delegate.map(|row| (of.id, row))).collect();
    if guesses.is_empty() {
        return;
    }
    let heard = window.engine.with(|context| {
        let is_heard = |tree: &Tree, leaf: NodeId, row: NodeId| {
            leaf != row
                && (own.contains(&leaf)
                    || tree.ancestors(leaf).take_while(|above| *above != row).any(|above| own.contains(&above)))
        };
        let heard =
            |tree: &Tree| guesses.iter().filter(|(leaf, row)| is_heard(tree, *leaf, *row)).map(|of| of.0).collect();
        read::<HashSet<NodeId>>(context, heard)
    });
    let mut taken = heard.unwrap_or_default();
    // A click on the cell that opens a row is heard by who listens for the row as well.
    let opened = window.engine.with(|context| {
        let is_cell = |tree: &Tree, id: NodeId| tree.element(id).is_some_and(|element| is_opener(tree, id, element));
        read(context, |tree| {
            let cells = guesses.iter().map(|of| of.1).filter(|cell| is_cell(tree, *cell));
            cells.filter_map(|cell| tree.parent(cell)).collect::<HashSet<NodeId>>()
        })
    });
    let opened = opened.unwrap_or_default();
    controls.retain(|control| control.by_delegate.is_none_or(|row| !opened.contains(&row) && taken.insert(control.id)));
}

/// Whether a row reacts to a mouse that comes over it, as every click's does. One that has its link is there for that.
fn shows_by_hovering(id: NodeId, context: &mut Context) -> bool {
    let may = read(context, |tree| has_likes(tree, id) && !has_link(tree, id));
    let says = |element: &Element, kind: &str| element.attribute(&format!("on{kind}").as_str().into()).is_some();
    may && HOVERS.iter().any(|kind| {
        read(context, |tree| tree.element(id).is_some_and(|element| says(element, kind)))
            || listens_to(id, kind, context)
    })
}

/// Whether an element is out of use: disabled, or in something that is closed.
fn is_shut(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return true };
    let says = |name: &str, value: &str| element.attribute(&name.into()).is_some_and(|given| given == value);
    let is_closed = |id: NodeId| {
        tree.element(id).is_some_and(|of| {
            let has = |name: &str| of.attribute(&name.into()).is_some();
            has("hidden") || has("inert") || &*of.name().local == "dialog" && !has("open")
        })
    };
    tree.is_disabled(id) || says("aria-disabled", "true") || is_closed(id) || tree.ancestors(id).any(is_closed)
}

fn control(
    tree: &Tree,
    id: NodeId,
    listens: bool,
    (base, here): (&Url, &Url),
    is_given_up: impl Fn(&str) -> bool,
) -> Option<Control> {
    let element = tree.element(id)?;
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let local = &*element.name().local;
    let href = element.attribute(&local_name!("href"));
    let within = href.filter(|href| href.contains('#')).and_then(|href| {
        let url = base.join(href).ok()?;
        (bare(&url) == bare(here)).then_some(url)
    });
    let goes_nowhere =
        within.is_some() || href.is_some_and(|href| href.starts_with(['#']) || href.starts_with("javascript:"));
    let role = attribute("role");
    // What opens a list of choices may do so when it is pressed down, and listen for no click.
    if pickers::is_opener(element) {
        return pickers::opener(tree, id, element);
    }
    let reacts = listens || element.attribute(&local_name!("onclick")).is_some();
    let leads = if local == "a" && !goes_nowhere { overlays::address(element, base) } else { None };
    let is_control = match local {
        // An address of its own is a link like any other, whatever else a click does.
        "a" if href.is_some() && !goes_nowhere => leads.is_some() && reacts,
        "a" => goes_nowhere || reacts,
        "button" | "input" => is_button(tree, id, element, reacts),
        "summary" => true,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "h2" | "h3" | "h4" | "p" | "img" | "label" => {
            reacts || matches!(role, "button" | "tab" | "link")
        }
        _ => {
            let is_whole = matches!(local, "html" | "body" | "form" | "select" | "option" | "textarea");
            reacts && element.name().ns == html5ever::ns!(html) && !is_whole
        }
    };
    if !is_control {
        return None;
    }
    let whole = Labels::of(tree, id, element);
    let labels = whole.own(tree, id, element);
    let class = attribute("class").to_lowercase();
    let is_row = matches!(local, "tr" | "li" | "article") && labels.text_words() > 3;
    let is_answered_for = labels.say(CONFIRM, true) && !labels.say_both(CONFIRM, AGE);
    let is_away = labels.say(LEAVE, true) || is_answered_for;
    // Whatever reacts answers for all that it says, unless it is one of a list, whose members may say much, or have buttons of their own.
    let gets_only = labels.begin_with(GET) && !whole.tell_of(DELETE);
    let is_long_harm = !is_row && whole.tell_of(NEVER) && !labels.say(NEVER, true) && !gets_only;
    let has_route = within.as_ref().is_some_and(|url| url.fragment().is_some_and(|fragment| !fragment.is_empty()));
    let may_be_title = !is_row && title::may_be(local, role, &class, has_route);
    let stands_in_row = || row_of(tree, id, element, (&labels.text, Rank::Row)).is_some();
    if is_long_harm && (matches!(local, "button" | "input") || stands_in_row()) {
        return None;
    }
    // What is saved here is a file, and nothing on the site.
    let is_button = matches!(local, "button" | "input") || role == "button";
    // A price is paid by what gets something; titles may name one, and rows tell of one.
    let has_price = whole.name_price() && (is_button || labels.begin_with(GET));
    let is_paid = has_price && !is_row && (labels.begin_with(GET) || labels.say(GET, false));
    let is_harm = labels.say(NEVER, true) && !labels.are_of_file() || labels.are(NEVER_ALONE) || is_paid;
    if !is_row && is_harm && !(may_be_title && title::says_more_than_harm(&labels) && !stands_in_row()) {
        return None;
    }
    if !is_row && !labels.are_content() && labels.are_named(NEVER_NAMES, true) {
        return None;
    }
    let icons = if local == "summary" { None } else { Icons::of(tree, id, element, &labels) };
    if icons.as_ref().is_some_and(|icons| icons.is_harm) {
        return None;
    }
    let turns_by_icon = icons.as_ref().and_then(|icons| icons::turns(tree, id, icons));
    let has_bad_words = !is_row && (is_away || is_harm);
    if has_bad_words && !may_be_title {
        return None;
    }
    let view = within.filter(|url| is_route(tree, tree.document_of(id), url));
    let is_number = labels.number().is_some()
        && local != "summary"
        && !is_of_detail(view.as_ref())
        && !is_cell_of_row(tree, id, local);
    let is_up = labels.are(UPS) || local == "tr" && folders::leads_up(tree, id);
    let rank = if is_up {
        Rank::Back
    } else if !is_row && (labels.say(ENTER, true) || labels.say(CONFIRM, true)) {
        Rank::Enter
    } else if let Some(on) = turns_by_sign(tree, id, &labels.text).or(turns_by_icon) {
        if on { Rank::Turn } else { Rank::Back }
    } else if !is_row && (labels.say(MORE, false) || labels.are_named(TURNING, false)) {
        Rank::Turn
    } else if !is_row && labels.say(CLOSE, true) {
        Rank::Close
    } else if !is_row && (labels.say(BACK, true) || labels.are_named(TURNING_BACK, true)) {
        Rank::Back
    } else if is_number || says(NUMBERING, &class, false) {
        Rank::Number
    } else if role == "tab" || says(TABS, &class, true) || local == "summary" {
        Rank::Tab
    } else {
        Rank::Row
    };
    // Titles of a list may have any words: whether it is one is seen when its likes are known.
    let has_title_words = may_be_title && !is_up && matches!(rank, Rank::Enter | Rank::Back | Rank::Close);
    if rank == Rank::Row && local != "a" && !is_button && is_its_link(tree, id, &labels.text) {
        return None;
    }
    let view = view.filter(|_| rank == Rank::Row || has_title_words);
    let shape = view.as_ref().map(|url| shape(url.fragment().unwrap_or_default())).unwrap_or_default();
    let unsure = icons.filter(|icons| icons.is_unsure && rank != Rank::Turn);
    let picture = unsure.as_ref().map(Icons::kind).unwrap_or_default();
    let look = without_states(&class);
    // Tabs, and what has no class of its own, are told apart by where they stand.
    let list = name_of_list(tree, id);
    let kind_of = |rank: Rank| {
        // A whole row is no tab, and of the same kind in each list: "similar" ones stand beside what they are similar to.
        let may_be_tab = look.is_empty() && !matches!(local, "tr" | "td" | "article" | "div");
        let has_list = rank == Rank::Tab && local != "summary" || rank == Rank::Row && may_be_tab;
        let list = if has_list { &*list } else { "" };
        let leads = if leads.is_some() { " leads" } else { "" };
        // "More filters" is no "Next".
        let says = if rank == Rank::Turn { letters(&labels.text) } else { String::new() };
        format!("{local} {look} {role} {rank:?} {shape}{picture}{list}{leads}{says}")
    };
    let kind = kind_of(rank);
    if rank == Rank::Row && view.is_none() && is_given_up(&kind) {
        return None;
    }
    let doubt = match (has_bad_words, has_title_words) {
        (true, _) => Doubt::RowOrNothing(kind_of(Rank::Row)),
        (false, true) => Doubt::RowOrControl(kind_of(Rank::Row)),
        (false, false) if is_long_harm => Doubt::MemberOrNothing(kind.clone()),
        (false, false) => Doubt::None,
    };
    let row_element = row_element(tree, id, element, (&labels.text, rank));
    let still = row_element.and_then(|row| counts::still(tree, row));
    let row = row_element.map(|row| text_of(tree, row, limits::RENDER_ROW_TEXT_CHARS));
    let around = (local == "summary").then(|| folders::branches_above(tree, id));
    let identity = identity(tree, id, element, (&labels.text, row.as_deref().or(around.as_deref())));
    let beside = row.as_ref().map(|row| xxh3_64(row.replacen(&labels.text, "", 1).as_bytes()));
    let begins = labels.text.split(' ').next().unwrap_or_default().to_lowercase();
    let gets = !is_row && (whole.say(GET, false) || says(GET, &class, false) || says(GET, &begins, false));
    let words = labels.words.chars().take(60).collect();
    let again = is_button && row.is_none() && labels.say(RETRY, true);
    let to_an_end = labels.are(ENDS) || labels.jump();
    // What says that it leads back does, whatever stands beside it.
    let crumb = match is_up {
        true => Some(Crumb::Named),
        false => folders::crumb(tree, id).filter(|_| rank != Rank::Back),
    };
    let place = Place::of(tree, id);
    // What has its link already, or a button for it, is asked for no more by a button that says nothing of files.
    let has_own = |row: NodeId| has_link(tree, row) || has_getter(tree, row);
    let is_beside_link = is_button && !gets && rank == Rank::Row && row_element.is_some_and(has_own);
    // A link is there to look something up, and a card is none of the buttons in it.
    let unsure = is_long_harm
        || is_beside_link
        || unsure.is_some() && !gets
        || rank == Rank::Row && labels.are(HIDES)
        || leads.is_some()
        || has_price;
    let closes = labels.words.is_empty() && folders::is_of_open_branch(tree, id);
    let (text, row) = (labels.text, row.unwrap_or_default());
    let plain = Control::plain(id, rank, (kind, identity), words);
    Some(Control {
        text,
        row,
        beside,
        still,
        place,
        view,
        leads,
        gets,
        doubt,
        again,
        to_an_end,
        crumb,
        unsure,
        head: stands_in_head(tree, id),
        closes,
        ..plain
    })
}

/// The letters of a label: how many more there are changes from turn to turn.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    letters.take(limits::RENDER_CONTROL_ELEMENTS).collect()
}

/// Whether something in a row says that it gets a file.
fn has_getter(tree: &Tree, row: NodeId) -> bool {
    let inside = tree.descendants(row).take(limits::RENDER_ROW_TEXT_CHARS);
    inside
        .filter_map(|of| Some((of, tree.element(of)?)))
        .any(|(of, element)| labels::is_pressed(element) && Labels::of(tree, of, element).say(GET, false))
}

/// Whether a control that is nothing but a sign turns on, or back: only where the other sign stands beside it.
fn turns_by_sign(tree: &Tree, id: NodeId, text: &str) -> Option<bool> {
    let (on, sign, other) = TURN_SIGNS.iter().find_map(|(next, back)| match text {
        _ if text == *next => Some((true, next, back)),
        _ if text == *back => Some((false, back, next)),
        _ => None,
    })?;
    let says = |of: NodeId, sign: &str| tree.is_element(of) && text_of(tree, of, 4) == sign;
    let are_two = |above: NodeId| {
        let beside: Vec<NodeId> = tree.children(above).take(limits::RENDER_CONTROL_ELEMENTS).collect();
        let count = |sign: &str| beside.iter().filter(|of| says(**of, sign)).count();
        count(sign) == 1 && count(other) == 1
    };
    tree.ancestors(id).take(2).any(are_two).then_some(on)
}

/// Whether a button does something by itself: none that sends a form, and none at all of a form that is posted but those that react.
pub(super) fn is_button(tree: &Tree, id: NodeId, element: &Element, reacts: bool) -> bool {
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let is_button = attribute("type").eq_ignore_ascii_case("button");
    if !is_button && !element.is_html(&local_name!("button")) {
        return false;
    }
    let is_reset = attribute("type").eq_ignore_ascii_case("reset");
    match tree.form_owner(id).and_then(|form| tree.element(form)) {
        None => reacts || is_button || !is_reset && !attribute("type").eq_ignore_ascii_case("submit"),
        Some(form) => {
            let posts = is_posted(form);
            // A button that does not say otherwise sends its form.
            reacts && (is_button || !posts && !is_reset) || is_button && !posts
        }
    }
}

/// Whether it stands in a row of a table among other rows: a number there is a name.
fn is_cell_of_row(tree: &Tree, id: NodeId, local: &str) -> bool {
    let row = match local {
        "tr" => Some(id),
        _ => tree
            .ancestors(id)
            .take(3)
            .find(|above| tree.element(*above).is_some_and(|of| of.is_html(&local_name!("tr")))),
    };
    row.is_some_and(|row| has_likes(tree, row))
}

pub(super) fn is_posted(form: &Element) -> bool {
    form.attribute(&local_name!("method")).is_some_and(|method| method.eq_ignore_ascii_case("post"))
}

fn bare(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}

/// Whether the fragment is the page's own kind of address, and no place in its text.
fn is_route(tree: &Tree, document: NodeId, url: &Url) -> bool {
    let fragment = url.fragment().unwrap_or_default();
    let says_so = fragment.starts_with(['/', '!']) || fragment.contains(['/', '=']);
    says_so && fragment.len() > 1 && tree.element_by_id(document, fragment).is_none()
}

/// Whether a number names an address of its own, as ids do, and no page.
fn is_of_detail(view: Option<&Url>) -> bool {
    view.and_then(Url::fragment).is_some_and(|fragment| fragment.starts_with(['/', '!']) && !fragment.contains("page"))
}

/// What addresses behind `#` share that lead to views of one sort: their first part, and how many follow.
fn shape(fragment: &str) -> String {
    let mut shape = String::new();
    for (nth, part) in fragment.trim_start_matches(['!', '/']).split(['/', '&', '?']).enumerate() {
        let name = part.split('=').next().unwrap_or_default();
        let is_named = nth == 0 && !name.contains(|c: char| c.is_ascii_digit()) || part.contains('=');
        shape.push('/');
        shape.push_str(if is_named { name } else { "*" });
    }
    shape
}

/// What tells a control from others of its kind, whoever made it when: its attributes and those of what is in it, its text, and what its
/// row says.
fn identity(tree: &Tree, id: NodeId, element: &Element, (text, row): (&str, Option<&str>)) -> u64 {
    let mut hash = Xxh3::new();
    let mut add = |element: &Element| {
        for attribute in element.attributes() {
            let name = &*attribute.name.local;
            // How a control looks, and whether it is the current one, changes under a reader's hand.
            let is_look = matches!(name, "class" | "tabindex" | "disabled" | "checked") || name.starts_with("aria-");
            if !is_look && (name != "style" || attribute.value.contains("url(")) {
                hash.update(name.as_bytes());
                hash.update(attribute.value.as_bytes());
                hash.update(&[0]);
            }
        }
    };
    add(element);
    tree.descendants(id).filter_map(|id| tree.element(id)).take(limits::RENDER_CONTROL_ELEMENTS).for_each(&mut add);
    // A row and the box in it may have the same attributes, and say the same.
    for part in [&*element.name().local, text, row.unwrap_or_default()] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}

/// The same of what says this itself, and stands in a row that says that.
pub(super) fn identity_of(tree: &Tree, id: NodeId, element: &Element, text: &str, row: &str) -> u64 {
    identity(tree, id, element, (text, Some(row)))
}
