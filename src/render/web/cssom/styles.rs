//! The style sheets of a page and their effect on its elements: `getComputedStyle`, and visibility.
//!
//! Sheets are parsed on first use, and again when their text changes. Linked sheets are fetched once a script asks for a computed style, or
//! measures an empty element, and count for scripts only: a reader and what moves by itself know the rules of `style` elements and of scripts.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::object::builtins::JsArray;
use boa_engine::{Context, JsObject};
use html5ever::{local_name, ns};
use url::Url;

use super::{sizes, style, style_sheets, style_table};
use crate::dom::style::Sheet;
use crate::dom::style::cascade::{Cascade, Index};
use crate::dom::style::value::{colour, is_colour};
use crate::dom::{NodeId, Tree};
use crate::engine::{self, realm};
use crate::limits;
use crate::web::animations::css_animations;
use crate::web::cssom_view::layout;
use crate::web::cssom_view::media;
use crate::web::html::{scripts, window};
use crate::web::{read, slot_if_made};
use crate::wire::Asker;

/// Default font size, in CSS pixels.
pub(super) const FONT_SIZE: f64 = 16.0;

/// A sheet of an element.
struct ElementSheet {
    text: String,
    sheet: Rc<Sheet>,
    /// Its script object.
    object: Option<JsObject>,
}

/// The inputs of an index: its sheets, the number of changes of each, whether it is disabled, and the window's width.
type Made = (Vec<MadeOf>, u64);

/// A sheet, its changes, and whether it is disabled.
type MadeOf = (Rc<Sheet>, u64, bool);

#[derive(Default)]
struct Styles {
    of_elements: HashMap<NodeId, ElementSheet>,
    /// Documents and shadow roots with adopted sheets.
    adopters: Vec<NodeId>,
    /// Sheets of `link` elements by the URL that was asked for; `None` if there was no answer.
    linked: HashMap<Url, Option<Rc<Sheet>>>,
    /// The owners of sheets, and the sheets of their trees at a generation, by `with_linked`.
    owners: Option<Rc<Owners>>,
    listed: [Option<Listed>; 2],
    /// Without linked sheets, and with them.
    indexed: [Indexed; 2],
    tries: Cell<u64>,
    /// Times that an index was made anew.
    changes: u64,
    sizes: sizes::KeptSizes,
}

/// The elements that have sheets, while neither they nor their order change.
struct Owners {
    /// The version of the tree, and the size of the window, which media queries ask for.
    key: ((u64, u64), u64, u64),
    /// `style` elements: the root of the tree, the element.
    styles: Vec<(NodeId, NodeId)>,
    /// `link` elements that apply.
    links: Vec<Link>,
    /// Both in their order, once a link has a sheet.
    merged: OnceCell<Vec<(NodeId, NodeId, Option<Url>)>>,
    /// Trees whose links are all requested.
    loaded: RefCell<Vec<NodeId>>,
}

struct Link {
    root: NodeId,
    id: NodeId,
    address: Url,
}

/// Sheets by the root of their tree, as of owners and a generation.
struct Listed {
    owners: Rc<Owners>,
    generation: u64,
    by_root: Rc<BySheetRoot>,
}

type BySheetRoot = HashMap<NodeId, Vec<Rc<Sheet>>>;

#[derive(Default)]
struct Indexed {
    made: HashMap<NodeId, Made>,
    indexes: HashMap<NodeId, Index>,
}

type Shared = Rc<RefCell<Styles>>;

pub(crate) fn install(context: &mut Context) {
    realm::share(Shared::default, context);
}

fn shared(context: &Context) -> Shared {
    context.get_data::<Shared>().cloned().unwrap_or_default()
}

/// Records that a document or shadow root may have adopted sheets.
pub(crate) fn adopts(root: NodeId, context: &Context) {
    let shared = shared(context);
    let adopters = &mut shared.borrow_mut().adopters;
    if !adopters.contains(&root) {
        adopters.push(root);
    }
}

/// The sheet of an element with its current text; the same object while the text is unchanged.
pub(crate) fn of_element(id: NodeId, context: &Context) -> Rc<Sheet> {
    let (text, media) = read(context, |tree| {
        let media = tree.attribute(id, &local_name!("media")).unwrap_or_default().to_owned();
        (tree.child_text(id), media)
    });
    let is_shown = media::matches(&media, window::viewport(context));
    let shared = shared(context);
    let mut styles = shared.borrow_mut();
    if let Some(kept) = styles.of_elements.get(&id).filter(|kept| kept.text == text) {
        return Rc::clone(&kept.sheet);
    }
    let sheet = Rc::new(Sheet::parse(&text));
    // A sheet whose own media query does not match has no effect.
    sheet.disabled.set(!is_shown);
    styles.of_elements.insert(id, ElementSheet { text, sheet: Rc::clone(&sheet), object: None });
    sheet
}

/// The script object of an element's sheet.
pub(crate) fn object_of(id: NodeId, context: &Context) -> Option<JsObject> {
    shared(context).borrow().of_elements.get(&id)?.object.clone()
}

pub(crate) fn keep_object(id: NodeId, object: &JsObject, context: &Context) {
    if let Some(kept) = shared(context).borrow_mut().of_elements.get_mut(&id) {
        kept.object = Some(object.clone());
    }
}

/// The adopted sheets of a document or shadow root.
fn adopted(root: NodeId, context: &mut Context) -> Vec<Rc<Sheet>> {
    let Some(list) = slot_if_made(root, style_sheets::ADOPTED, context) else { return Vec::new() };
    let Ok(list) = JsArray::from_object(list) else { return Vec::new() };
    let count = list.length(context).unwrap_or(0).min(limits::LISTENERS_MAX as u64);
    (0..count).filter_map(|place| style_sheets::sheet_of(&list.get(place, context).ok()?)).collect()
}

/// The elements that have sheets now.
fn owners(context: &Context) -> Rc<Owners> {
    let view = window::viewport(context);
    let version = read(context, Tree::sheets_version);
    let key = (version, view.width.to_bits(), view.height.to_bits());
    let shared = shared(context);
    let known = shared.borrow().owners.as_ref().filter(|known| known.key == key).cloned();
    known.unwrap_or_else(|| {
        let links =
            read(context, |tree| tree.sheet_links().into_iter().map(|id| (tree.root(id), id)).collect::<Vec<_>>());
        let links =
            links.into_iter().filter_map(|(root, id)| Some(Link { root, id, address: address_of(id, context)? }));
        let (links, styles) = (links.collect(), read(context, Tree::style_elements));
        let owners = Rc::new(Owners { key, styles, links, merged: OnceCell::new(), loaded: RefCell::default() });
        shared.borrow_mut().owners = Some(Rc::clone(&owners));
        owners
    })
}

/// Requests the linked sheets of an element's tree that were not requested yet, and waits for them.
pub(crate) fn load_linked(element: NodeId, context: &mut Context) {
    let owners = owners(context);
    if owners.links.is_empty() {
        return;
    }
    let root = read(context, |tree| tree.root(element));
    if owners.loaded.borrow().contains(&root) {
        return;
    }
    owners.loaded.borrow_mut().push(root);
    for Link { address, .. } in owners.links.iter().filter(|link| link.root == root) {
        let shared = shared(context);
        let is_known = {
            let styles = shared.borrow();
            styles.linked.contains_key(address) || styles.linked.len() >= limits::LINKED_SHEETS_MAX
        };
        if is_known {
            continue;
        }
        let answer = engine::request_and_wait(scripts::request(Asker::Style, address), context);
        let is_css = |kind: &str| kind.trim_start().to_ascii_lowercase().starts_with("text/css");
        let sheet = match answer {
            Ok(response)
                if response.status == 200
                    && response.header("content-type").is_none_or(is_css)
                    && response.body.len() <= limits::LINKED_SHEET_BYTES_MAX =>
            {
                Some(Rc::new(Sheet::parse(&encoding_rs::UTF_8.decode(&response.body).0)))
            }
            _ => None,
        };
        let mut styles = shared.borrow_mut();
        styles.linked.insert(address.clone(), sheet);
        styles.listed = [None, None];
    }
}

/// The URL of a linked sheet whose media query matches.
fn address_of(link: NodeId, context: &Context) -> Option<Url> {
    let (href, media) = read(context, |tree| {
        let attribute = |name| tree.attribute(link, &name).map(str::to_owned);
        Some((attribute(local_name!("href"))?, attribute(local_name!("media")).unwrap_or_default()))
    })?;
    let is_shown = media::matches(&media, window::viewport(context));
    scripts::resolve(link, &href, context).filter(|url| is_shown && url.scheme() != "about")
}

/// The sheets of each tree in their order, with linked ones or without.
fn sheets(with_linked: bool, context: &Context) -> Rc<BySheetRoot> {
    let (owners, shared) = (owners(context), shared(context));
    let generation = read(context, Tree::generation);
    if let Some(listed) = &shared.borrow().listed[usize::from(with_linked)]
        && listed.generation == generation
        && Rc::ptr_eq(&listed.owners, &owners)
    {
        return Rc::clone(&listed.by_root);
    }
    let mut by_root = BySheetRoot::new();
    let mut add = |root, sheet: Option<Rc<Sheet>>| by_root.entry(root).or_default().extend(sheet);
    let of_style = |id| is_css(id, context).then(|| of_element(id, context));
    if with_linked {
        for (root, id, address) in merged(&owners, context) {
            let linked = |address| shared.borrow().linked.get(address).cloned().flatten();
            add(*root, address.as_ref().map_or_else(|| of_style(*id), linked));
        }
    } else {
        for (root, id) in &owners.styles {
            add(*root, of_style(*id));
        }
    }
    let by_root = Rc::new(by_root);
    let listed = Listed { owners, generation, by_root: Rc::clone(&by_root) };
    shared.borrow_mut().listed[usize::from(with_linked)] = Some(listed);
    by_root
}

/// All that have sheets in their order, links with their URLs.
fn merged<'a>(owners: &'a Owners, context: &Context) -> &'a [(NodeId, NodeId, Option<Url>)] {
    owners.merged.get_or_init(|| {
        let styles = owners.styles.iter().map(|(root, id)| (*root, *id, None));
        let links = owners.links.iter().map(|link| (link.root, link.id, Some(link.address.clone())));
        let mut all: Vec<_> = styles.chain(links).collect();
        read(context, |tree| all.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| tree.compare_order(a.1, b.1))));
        all
    })
}

/// Collects the current sheets and parses new ones.
fn refresh(with_linked: bool, context: &mut Context) -> Shared {
    let shared = shared(context);
    let mut by_root = sheets(with_linked, context);
    let adopters = shared.borrow().adopters.clone();
    for root in adopters {
        let adopted = adopted(root, context);
        Rc::make_mut(&mut by_root).entry(root).or_default().extend(adopted);
    }
    let view = window::viewport(context);
    let holds = |name: &str, condition: &str| match name {
        "media" => media::matches(condition, view),
        "supports" => style::supports(condition),
        // Container queries cannot be measured without a layout, and scopes are not supported.
        _ => false,
    };
    let mut borrowed = shared.borrow_mut();
    let mut changes = borrowed.changes;
    let styles = &mut borrowed.indexed[usize::from(with_linked)];
    styles.indexes.retain(|root, _| by_root.contains_key(root));
    styles.made.retain(|root, _| by_root.contains_key(root));
    for (&root, sheets) in &*by_root {
        let now: Made = (
            sheets.iter().map(|sheet| (Rc::clone(sheet), sheet.changes(), sheet.disabled.get())).collect(),
            view.width.to_bits(),
        );
        let is_known = styles.made.get(&root).is_some_and(|made| {
            let same = |(a, b): (&MadeOf, &MadeOf)| Rc::ptr_eq(&a.0, &b.0) && (a.1, a.2) == (b.1, b.2);
            made.1 == now.1 && made.0.len() == now.0.len() && made.0.iter().zip(&now.0).all(same)
        });
        if !is_known {
            styles.indexes.insert(root, Index::of(sheets, &holds));
            styles.made.insert(root, now);
            changes += 1;
        }
    }
    borrowed.changes = changes;
    drop(borrowed);
    shared
}

fn is_css(id: NodeId, context: &Context) -> bool {
    read(context, |tree| {
        let kind = tree.attribute(id, &local_name!("type")).unwrap_or_default();
        kind.is_empty() || kind.eq_ignore_ascii_case("text/css")
    })
}

/// Runs a query on the cascade of the current page, without linked sheets.
pub(crate) fn ask<T>(context: &mut Context, what: impl FnOnce(&Cascade<'_>) -> T) -> T {
    ask_of(false, context, what)
}

/// Runs a script's query on the cascade of the current page, with the linked sheets that are there.
pub(super) fn ask_for_script<T>(context: &mut Context, what: impl FnOnce(&Cascade<'_>) -> T) -> T {
    let with_linked = shared(context).borrow().linked.values().any(Option::is_some);
    ask_of(with_linked, context, what)
}

/// The same for sizes, with those that are known.
pub(super) fn ask_for_sizes<T>(context: &mut Context, what: impl FnOnce(&Cascade<'_>, &sizes::KeptSizes) -> T) -> T {
    let with_linked = shared(context).borrow().linked.values().any(Option::is_some);
    let shared = refresh(with_linked, context);
    let (styles, view) = (shared.borrow(), window::viewport(context));
    let generation = read(context, Tree::generation);
    styles.sizes.begin((generation, styles.changes, with_linked, view.width.to_bits(), view.height.to_bits()));
    let indexes = &styles.indexed[usize::from(with_linked)].indexes;
    read(context, |tree| what(&Cascade { tree, indexes, tries: &styles.tries }, &styles.sizes))
}

fn ask_of<T>(with_linked: bool, context: &mut Context, what: impl FnOnce(&Cascade<'_>) -> T) -> T {
    let shared = refresh(with_linked, context);
    let styles = shared.borrow();
    let indexes = &styles.indexed[usize::from(with_linked)].indexes;
    read(context, |tree| what(&Cascade { tree, indexes, tries: &styles.tries }))
}

/// The computed value of a property, of an element or of its pseudo-element: declared, inherited, from the layout, or the browser's
/// default.
pub(crate) fn computed(id: NodeId, name: &str, pseudo: Option<&str>, context: &mut Context) -> String {
    css_animations::flush(context);
    load_linked(id, context);
    // An element outside of all documents has no style (CSSOM §7.2).
    if !read(context, |tree| tree.is_connected(id)) && !name.starts_with("--") {
        return computed_alone(id, name, context);
    }
    let value = ask_for_script(context, |cascade| {
        let sides = four_sides(name).map(|names| names.map(|side| value_of(cascade, id, &side, pseudo)));
        sides.map_or_else(|| value_of(cascade, id, name, pseudo), |sides| collapsed(&sides))
    });
    match (value, name) {
        (Some(value), _) => of_block(id, name, &value, context).unwrap_or(value),
        (None, "width" | "height") => match layout::place(id, context) {
            Some(place) => format!("{}px", if name == "width" { place.width } else { place.height }),
            None => "auto".to_owned(),
        },
        (None, _) => style_table::usual(name).to_owned(),
    }
}

/// A share of the box around the element, in pixels: of its width, or for heights of its height if that is declared (CSS Box 4 §3).
fn of_block(id: NodeId, name: &str, value: &str, context: &mut Context) -> Option<String> {
    let share: f64 = value.strip_suffix('%')?.parse().ok()?;
    let is_of_width = matches!(name, "left" | "right" | "width" | "text-indent" | "min-width" | "max-width")
        || name.starts_with("margin-")
        || name.starts_with("padding-");
    if !is_of_width && !matches!(name, "top" | "bottom" | "height") {
        return None;
    }
    let around = read(context, |tree| tree.parent(id).filter(|parent| tree.is_element(*parent)))?;
    let place = sizes::place(around, context)?;
    Some(format!("{}px", share * if is_of_width { place.width } else { place.height } / 100.0))
}

/// The computed value for an element outside of all documents.
fn computed_alone(id: NodeId, name: &str, context: &mut Context) -> String {
    ask_for_script(context, |cascade| value_of(cascade, id, name, None))
        .unwrap_or_else(|| style_table::usual(name).to_owned())
}

/// The properties of four sides behind a shorthand.
fn four_sides(name: &str) -> Option<[String; 4]> {
    let (start, end) = match name {
        "margin" | "padding" => (name, ""),
        "border-color" => ("border", "-color"),
        "border-style" => ("border", "-style"),
        "border-width" => ("border", "-width"),
        _ => return None,
    };
    Some(["top", "right", "bottom", "left"].map(|side| format!("{start}-{side}{end}")))
}

/// Four sides in the shortest notation (CSSOM §6.6.2).
fn collapsed(sides: &[Option<String>; 4]) -> Option<String> {
    let [top, right, bottom, left] = sides.each_ref().map(Option::as_deref);
    let (top, right, bottom, left) = (top?, right?, bottom?, left?);
    let words: &[&str] = if left != right {
        &[top, right, bottom, left]
    } else if top != bottom {
        &[top, right, bottom]
    } else if top != right {
        &[top, right]
    } else {
        &[top]
    };
    Some(words.join(" "))
}

/// A property's value from the cascade and the tree.
pub(crate) fn value_of(cascade: &Cascade<'_>, id: NodeId, name: &str, pseudo: Option<&str>) -> Option<String> {
    let inherits = name.starts_with("--") || style_table::inherits(name);
    let specified = cascade.specified(id, name, inherits, pseudo);
    let Some(value) = specified else { return unspecified(cascade, id, name, pseudo) };
    if is_colour(name) {
        return match colour(&value)?.as_str() {
            // `currentcolor` refers to another property; this is the only level of indirection.
            "currentcolor" => value_of(cascade, id, "color", pseudo),
            known => Some(known.to_owned()),
        };
    }
    if name.ends_with("-duration") || name.ends_with("-delay") {
        return Some(times(&value));
    }
    if name == "font-size" {
        return Some(format!("{}px", font_size(cascade, id)));
    }
    Some(pixels(cascade, id, name, &value).unwrap_or(value))
}

/// A list of times, in seconds.
fn times(list: &str) -> String {
    let one = |time: &str| {
        let milliseconds = time.strip_suffix("ms").and_then(|number| number.parse::<f64>().ok());
        milliseconds.map_or_else(|| time.to_owned(), |number| format!("{}s", number / 1000.0))
    };
    list.split(',').map(|time| one(time.trim())).collect::<Vec<_>>().join(", ")
}

/// Values that nobody declares but the tree determines.
fn unspecified(cascade: &Cascade<'_>, id: NodeId, name: &str, pseudo: Option<&str>) -> Option<String> {
    let tree = cascade.tree;
    match name {
        "display" if pseudo.is_some() => Some("inline".to_owned()),
        "display" => Some(usual_display(tree, id).to_owned()),
        "direction" => Some(if tree.is_rtl(id) { "rtl" } else { "ltr" }.to_owned()),
        // The focused element has an outline (HTML §15.3.12).
        "outline-style" if pseudo.is_none() && tree.focus == Some(id) => Some("auto".to_owned()),
        "width" | "height" if pseudo.is_some() => Some("auto".to_owned()),
        "width" | "height" => None,
        name if is_colour(name) && !matches!(name, "color" | "background-color") => {
            value_of(cascade, id, "color", pseudo)
        }
        name => Some(style_table::usual(name).to_owned()),
    }
}

fn usual_display(tree: &Tree, id: NodeId) -> &'static str {
    match tree.element(id) {
        Some(element) if element.attribute(&local_name!("hidden")).is_some() => "none",
        Some(element) if element.name().ns == ns!(html) => style_table::display_of(&element.name().local),
        _ => "inline",
    }
}

/// A length in pixels, if it is absolute or relative to a font size.
fn pixels(cascade: &Cascade<'_>, id: NodeId, name: &str, value: &str) -> Option<String> {
    const NUMBERS: &[&str] = &[
        "z-index",
        "opacity",
        "order",
        "flex",
        "flex-grow",
        "flex-shrink",
        "font-weight",
        "line-height",
        "orphans",
        "widows",
    ];
    if value == "0" && !NUMBERS.contains(&name) && !name.starts_with("--") {
        return Some("0px".to_owned());
    }
    let letter = value.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = value[..letter].parse().ok()?;
    let unit = match &value[letter..] {
        "em" => font_size(cascade, id),
        "rem" => FONT_SIZE,
        "pt" => 4.0 / 3.0,
        _ => return None,
    };
    Some(format!("{}px", number * unit))
}

/// The font size of an element in CSS pixels: a product of its own and its ancestors' declarations.
pub(super) fn font_size(cascade: &Cascade<'_>, id: NodeId) -> f64 {
    let (mut at, mut factor) = (Some(id), 1.0);
    while let Some(here) = at {
        let value = cascade.declared(here, "font-size", None).unwrap_or_default();
        let end = value.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(value.len());
        if let Ok(number) = value[..end].parse::<f64>() {
            match &value[end..] {
                "px" => return factor * number,
                "pt" => return factor * number * 4.0 / 3.0,
                "rem" => return factor * number * FONT_SIZE,
                "em" => factor *= number,
                "%" => factor *= number / 100.0,
                _ => {}
            }
        }
        at = cascade.parent(here);
    }
    factor * FONT_SIZE
}

/// Whether an element is displayed, by its own style, its ancestors' and the page's rules.
pub(crate) fn is_displayed(id: NodeId, context: &mut Context) -> bool {
    ask(context, |cascade| {
        let is_none = |id: NodeId| cascade.specified(id, "display", false, None).as_deref() == Some("none");
        !std::iter::successors(Some(id), |id| cascade.parent(*id)).any(is_none)
    })
}
