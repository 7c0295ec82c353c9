//! Decides whether an element is a control: its labels, the reasons not to click it, and its purpose.

use html5ever::local_name;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::controls::{Control, Rank, Traits, identity, is_button};
use super::counts;
use super::delegated::{has_link, is_its_link};
use super::folders::{self, Crumb};
use super::icons::{self, Icons};
use super::kinds::{name_of_list, without_states};
use super::labels::{self, Labels};
use super::overlays;
use super::pickers;
use super::places::AncestorPath;
use super::rows::{has_likes, row_element, row_of, stands_in_head};
use super::shown::text_of;
use super::title::{self, Doubt};
use super::words::{
    AGE, BACK, CLOSE, CONFIRM, DELETE, ENDS, ENTER, GET, HIDES, LEAVE, MORE, NEVER, NEVER_ALONE, NEVER_NAMES,
    NUMBERING, RETRY, TABS, TURN_SIGNS, TURNING, TURNING_BACK, UPS, says,
};
use crate::dom::{Element, NodeId, Tree};
use crate::limits;

/// An element that reacts to clicks, with its labels.
struct Candidate<'t> {
    tree: &'t Tree,
    id: NodeId,
    element: &'t Element,
    local: &'t str,
    role: &'t str,
    class: String,
    /// The target of its URL if that is within this page; and the target of a link whose click opens an overlay here.
    within: Option<Url>,
    leads: Option<Url>,
    /// All of its labels, and those without the controls inside it.
    whole: Labels,
    labels: Labels,
    is_row: bool,
    is_button: bool,
}

/// Reasons to be careful with a control that may still be clicked.
struct Harm {
    /// It has much text, part of which is a label that is never clicked.
    is_long: bool,
    has_price: bool,
    /// Only a title may have these words.
    has_bad_words: bool,
    may_be_title: bool,
}

impl<'t> Candidate<'t> {
    /// `None` if it does not react, or is an ordinary link with a URL.
    fn of(tree: &'t Tree, id: NodeId, element: &'t Element, listens: bool, (base, here): (&Url, &Url)) -> Option<Self> {
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
        let reacts = listens || element.attribute(&local_name!("onclick")).is_some();
        let leads = if local == "a" && !goes_nowhere { overlays::address(element, base) } else { None };
        let is_control = match local {
            // A link with a URL is an ordinary link, whatever else its click does.
            "a" if href.is_some() && !goes_nowhere => leads.is_some() && reacts,
            "a" => goes_nowhere || reacts,
            "button" | "input" => is_button(tree, id, element, reacts),
            "summary" => true,
            "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "h2" | "h3" | "h4" | "p" | "img"
            | "label" => reacts || matches!(role, "button" | "tab" | "link"),
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
        let is_button = matches!(local, "button" | "input") || role == "button";
        Some(Self { tree, id, element, local, role, class, within, leads, whole, labels, is_row, is_button })
    }

    fn stands_in_row(&self) -> bool {
        row_of(self.tree, self.id, self.element, (&self.labels.text, Rank::Row)).is_some()
    }

    /// `None` if it must never be clicked.
    fn harm(&self) -> Option<Harm> {
        let Self { local, whole, labels, is_row, .. } = self;
        let is_row = *is_row;
        let is_answered_for = labels.say(CONFIRM, true) && !labels.say_both(CONFIRM, AGE);
        let is_away = labels.say(LEAVE, true) || is_answered_for;
        // A control is judged by all of its text, unless it is one of a list, whose members may have long texts or buttons of their own.
        let gets_only = labels.begin_with(GET) && !whole.tell_of(DELETE);
        let is_long = !is_row && whole.tell_of(NEVER) && !labels.say(NEVER, true) && !gets_only;
        let route = self.within.as_ref().and_then(Url::fragment);
        let has_route = route.is_some_and(|fragment| !fragment.is_empty());
        let may_be_title = !is_row && title::may_be(local, self.role, &self.class, has_route);
        if is_long && (matches!(*local, "button" | "input") || self.stands_in_row()) {
            return None;
        }
        // Only a download control charges a price; titles and rows may mention one.
        let has_price = whole.name_price() && (self.is_button || labels.begin_with(GET));
        let is_paid = has_price && !is_row && (labels.begin_with(GET) || labels.say(GET, false));
        // "Save" here means saving a file, not changing anything on the site.
        let is_harm = labels.say(NEVER, true) && !labels.are_of_file() || labels.are(NEVER_ALONE) || is_paid;
        let says_title = || may_be_title && title::says_more_than_harm(labels) && !self.stands_in_row();
        if !is_row && (is_harm && !says_title() || !labels.are_content() && labels.are_named(NEVER_NAMES, true)) {
            return None;
        }
        let has_bad_words = !is_row && (is_away || is_harm);
        (!has_bad_words || may_be_title).then_some(Harm { is_long, has_price, has_bad_words, may_be_title })
    }

    /// Whether it leads to the parent of the place that the page shows.
    fn is_up(&self) -> bool {
        self.labels.are(UPS) || self.local == "tr" && folders::leads_up(self.tree, self.id)
    }

    fn rank(&self, view: Option<&Url>, is_up: bool, turns_by_icon: Option<bool>) -> Rank {
        let Self { tree, local, labels, is_row, .. } = self;
        let is_number = || {
            labels.number().is_some()
                && *local != "summary"
                && !is_of_detail(view)
                && !is_cell_of_row(tree, self.id, local)
        };
        if is_up {
            Rank::Back
        } else if !is_row && (labels.say(ENTER, true) || labels.say(CONFIRM, true)) {
            Rank::Enter
        } else if let Some(on) = turns_by_sign(tree, self.id, &labels.text).or(turns_by_icon) {
            if on { Rank::Turn } else { Rank::Back }
        } else if !is_row && (labels.say(MORE, false) || labels.are_named(TURNING, false)) {
            Rank::Turn
        } else if !is_row && labels.say(CLOSE, true) {
            Rank::Close
        } else if !is_row && (labels.say(BACK, true) || labels.are_named(TURNING_BACK, true)) {
            Rank::Back
        } else if is_number() || says(NUMBERING, &self.class, false) {
            Rank::Number
        } else if self.role == "tab" || says(TABS, &self.class, true) || *local == "summary" {
            Rank::Tab
        } else {
            Rank::Row
        }
    }

    /// What it has in common with other controls of the same purpose, plus the shape of its view and its icon.
    fn kind(&self, rank: Rank, (shape, picture, list): (&str, &str, &str)) -> String {
        let Self { local, role, .. } = self;
        let look = without_states(&self.class);
        // A whole row is not a tab, and has the same kind in every list: "similar" items may be listed beside the main one.
        let may_be_tab = look.is_empty() && !matches!(*local, "tr" | "td" | "article" | "div");
        let has_list = rank == Rank::Tab && *local != "summary" || rank == Rank::Row && may_be_tab;
        // Tabs, and elements without classes, are told apart by the list they are in.
        let list = if has_list { list } else { "" };
        let leads = if self.leads.is_some() { " leads" } else { "" };
        // "More filters" is not "Next".
        let says = if rank == Rank::Turn { letters(&self.labels.text) } else { String::new() };
        format!("{local} {look} {role} {rank:?} {shape}{picture}{list}{leads}{says}")
    }

    fn gets(&self) -> bool {
        let begins = self.labels.text.split(' ').next().unwrap_or_default().to_lowercase();
        !self.is_row && (self.whole.say(GET, false) || says(GET, &self.class, false) || says(GET, &begins, false))
    }
}

/// The control that an element is, if it reacts and may be clicked.
pub(super) fn control(
    tree: &Tree,
    id: NodeId,
    listens: bool,
    bases: (&Url, &Url),
    is_given_up: impl Fn(&str) -> bool,
) -> Option<Control> {
    let element = tree.element(id)?;
    // A picker may open on mousedown and have no click listener.
    if pickers::is_opener(element) {
        return pickers::opener(tree, id, element);
    }
    let mut of = Candidate::of(tree, id, element, listens, bases)?;
    let harm = of.harm()?;
    let icons = if of.local == "summary" { None } else { Icons::of(tree, id, element, &of.labels) };
    if icons.as_ref().is_some_and(|icons| icons.is_harm) {
        return None;
    }
    let turns_by_icon = icons.as_ref().and_then(|icons| icons::turns(tree, id, icons));
    let view = of.within.clone().filter(|url| is_route(tree, tree.document_of(id), url));
    let is_up = of.is_up();
    let rank = of.rank(view.as_ref(), is_up, turns_by_icon);
    // Titles in a list may contain any words. Whether it is a title is decided once similar elements are known.
    let has_title_words = harm.may_be_title && !is_up && matches!(rank, Rank::Enter | Rank::Back | Rank::Close);
    if rank == Rank::Row && of.local != "a" && !of.is_button && is_its_link(tree, id, &of.labels.text) {
        return None;
    }
    let view = view.filter(|_| rank == Rank::Row || has_title_words);
    let shape = view.as_ref().map(|url| shape(url.fragment().unwrap_or_default())).unwrap_or_default();
    let unsure = icons.filter(|icons| icons.is_unsure && rank != Rank::Turn);
    let picture = unsure.as_ref().map(Icons::kind).unwrap_or_default();
    let list = name_of_list(tree, id);
    let kind_of = |rank: Rank| of.kind(rank, (&shape, &picture, &list));
    let kind = kind_of(rank);
    if rank == Rank::Row && view.is_none() && is_given_up(&kind) {
        return None;
    }
    let doubt = match (harm.has_bad_words, has_title_words) {
        (true, _) => Doubt::RowOrNothing(kind_of(Rank::Row)),
        (false, true) => Doubt::RowOrControl(kind_of(Rank::Row)),
        (false, false) if harm.is_long => Doubt::MemberOrNothing(kind.clone()),
        (false, false) => Doubt::None,
    };
    let row_element = row_element(tree, id, element, (&of.labels.text, rank));
    let row = row_element.map(|row| text_of(tree, row, limits::RENDER_ROW_TEXT_CHARS));
    let around = (of.local == "summary").then(|| folders::branches_above(tree, id));
    let identity = identity(tree, id, element, (&of.labels.text, row.as_deref().or(around.as_deref())));
    // A label that says "up" is enough, whatever is beside it.
    let crumb = match is_up {
        true => Some(Crumb::Named),
        false => folders::crumb(tree, id).filter(|_| rank != Rank::Back),
    };
    let gets = of.gets();
    // If a row has its own link or download button, a button without a download label adds nothing.
    let has_own = |row: NodeId| has_link(tree, row) || has_getter(tree, row);
    let is_beside_link = of.is_button && !gets && rank == Rank::Row && row_element.is_some_and(has_own);
    // A link only fetches, and a card is not the buttons inside it.
    let is_unsure = harm.is_long
        || is_beside_link
        || unsure.is_some() && !gets
        || rank == Rank::Row && of.labels.are(HIDES)
        || of.leads.is_some()
        || harm.has_price;
    let traits = Traits {
        again: of.is_button && row.is_none() && of.labels.say(RETRY, true),
        to_an_end: of.labels.are(ENDS) || of.labels.jump(),
        head: stands_in_head(tree, id),
        closes: of.labels.words.is_empty() && folders::is_of_open_branch(tree, id),
        ..Traits::default()
    };
    let words = of.labels.words.chars().take(60).collect();
    let text = std::mem::take(&mut of.labels.text);
    Some(Control {
        beside: row.as_ref().map(|row| xxh3_64(row.replacen(&text, "", 1).as_bytes())),
        still: row_element.and_then(|row| counts::still(tree, row)),
        place: AncestorPath::of(tree, id),
        leads: of.leads.take(),
        text,
        row: row.unwrap_or_default(),
        view,
        gets,
        doubt,
        crumb,
        unsure: is_unsure,
        traits,
        ..Control::plain(id, rank, (kind, identity), words)
    })
}

/// The letters of a label; the numbers in it change from page to page.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    letters.take(limits::RENDER_CONTROL_ELEMENTS).collect()
}

/// Whether something in a row has a download label.
fn has_getter(tree: &Tree, row: NodeId) -> bool {
    let inside = tree.descendants(row).take(limits::RENDER_ROW_TEXT_CHARS);
    inside
        .filter_map(|of| Some((of, tree.element(of)?)))
        .any(|(of, element)| labels::is_pressed(element) && Labels::of(tree, of, element).say(GET, false))
}

/// Whether a control with only a sign as label turns forward, or back. Only if the opposite sign is beside it.
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

/// Whether it is in a row of a table with other rows: a number there is a name.
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

fn bare(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}

/// Whether the fragment is a client-side route and not an anchor in the text.
fn is_route(tree: &Tree, document: NodeId, url: &Url) -> bool {
    let fragment = url.fragment().unwrap_or_default();
    let says_so = fragment.starts_with(['/', '!']) || fragment.contains(['/', '=']);
    says_so && fragment.len() > 1 && tree.element_by_id(document, fragment).is_none()
}

/// Whether a number in the URL is an id of a detail view, not a page number.
fn is_of_detail(view: Option<&Url>) -> bool {
    view.and_then(Url::fragment).is_some_and(|fragment| fragment.starts_with(['/', '!']) && !fragment.contains("page"))
}

/// What `#` URLs of one sort of view share: the first segment, and the number of further ones.
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
