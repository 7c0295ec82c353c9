//! The cascade (CSS Cascade 5 §6): indexes the rules of a tree by property, and is queried for one element and one property at a time.
//! Nothing about an element is cached, so nothing can be stale.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use html5ever::local_name;

use super::declaration;
use super::sheet::{Rule, RuleKind, Rules, Sheet};
use super::value::{is_wide, longhands};
use crate::dom::select::{ElementMatcher, Need, Selectors, Standing};
use crate::dom::{NodeId, Tree};
use crate::limits;

/// Rules of one tree: a document's or a shadow root's.
#[derive(Debug, Default)]
pub struct Index {
    by_property: HashMap<String, Entries>,
    /// Names of `@keyframes`.
    keyframes: HashSet<String>,
}

/// One rule's declaration of one property.
#[derive(Clone, Debug)]
struct Entry {
    selectors: Selectors,
    value: Rc<str>,
    important: bool,
    layer: usize,
    order: usize,
}

/// The declarations of one property, indexed by needs: the sheets of a component library have thousands of rules for `display`, nearly
/// all of them for classes that the current element does not have.
#[derive(Debug, Default)]
struct Entries {
    all: Vec<Entry>,
    /// Indexes into `all`, by the need of one selector.
    by_need: HashMap<Need, Vec<usize>>,
    /// Indexes of those with a selector that may match any element.
    for_any: Vec<usize>,
}

impl Entries {
    fn push(&mut self, entry: Entry) {
        let place = self.all.len();
        match entry.selectors.needs() {
            Some(needs) => needs.into_iter().for_each(|need| self.by_need.entry(need).or_default().push(place)),
            None => self.for_any.push(place),
        }
        self.all.push(entry);
    }

    /// Those that may apply to an element with these needs, possibly with duplicates; all if `has` is `None`.
    fn of<'e>(&'e self, has: Option<&'e [Need]>) -> impl Iterator<Item = &'e Entry> {
        let all = if has.is_some() { &[][..] } else { &self.all[..] };
        let for_any = if has.is_some() { &self.for_any[..] } else { &[][..] };
        let needed = has.unwrap_or_default().iter().filter_map(|need| self.by_need.get(need)).flatten();
        all.iter().chain(for_any.iter().chain(needed).map(|place| &self.all[*place]))
    }
}

/// Whether the condition of a group rule holds, given its name and condition.
pub type Holds<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Layers by full name, in order of first occurrence (CSS Cascade 5 §6.4.3).
#[derive(Default)]
struct Layers(Vec<String>);

/// Unlayered rules come after all layers.
const UNLAYERED: usize = usize::MAX;

impl Layers {
    fn place(&mut self, outer: &str, name: &str) -> (String, usize) {
        let name = match (outer, name.trim()) {
            (outer, "") => format!("{outer}.\0{}", self.0.len()),
            ("", name) => name.to_owned(),
            (outer, name) => format!("{outer}.{name}"),
        };
        let place = self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name.clone());
            self.0.len() - 1
        });
        (name, place)
    }
}

/// The state while rules are read.
struct Filling<'a> {
    index: Index,
    layers: Layers,
    order: usize,
    holds: Holds<'a>,
}

/// The context of a rule.
#[derive(Clone)]
struct Around<'r> {
    parent: Option<&'r Selectors>,
    layer_name: &'r str,
    layer: usize,
}

impl Index {
    /// Indexes the rules of sheets in order.
    pub fn of(sheets: &[Rc<Sheet>], holds: Holds<'_>) -> Self {
        let mut filling = Filling { index: Self::default(), layers: Layers::default(), order: 0, holds };
        for sheet in sheets.iter().filter(|sheet| !sheet.disabled.get()) {
            filling.rules(sheet.rules(), &Around { parent: None, layer_name: "", layer: UNLAYERED });
        }
        filling.index
    }

    /// Whether any rule animates.
    pub fn moves(&self) -> bool {
        !self.keyframes.is_empty() || self.speaks_of("transition-duration")
    }

    /// Whether there is an animation of this name.
    pub fn has_keyframes(&self, name: &str) -> bool {
        self.keyframes.contains(name)
    }

    /// Whether any rule declares this property.
    pub fn speaks_of(&self, property: &str) -> bool {
        self.by_property.contains_key(property)
    }
}

impl Filling<'_> {
    /// Recursion is bounded by the nesting of parsed rules: [`limits::SELECTOR_NESTING_MAX`].
    fn rules(&mut self, rules: &Rules, around: &Around<'_>) {
        for rule in rules.borrow().iter() {
            match &rule.kind {
                RuleKind::Style => {
                    let selectors = rule.selectors();
                    let Some(own) = selectors.as_ref() else { continue };
                    let resolved = around.parent.map(|parent| own.within(parent));
                    let own = resolved.as_ref().unwrap_or(own);
                    self.declarations(rule, own, around.layer);
                    self.rules(rule.rules(), &Around { parent: Some(own), ..around.clone() });
                }
                RuleKind::Other { name } if name.ends_with("keyframes") => {
                    let text = rule.text();
                    let name = text.split(['{']).next().and_then(|head| head.split_ascii_whitespace().nth(1));
                    self.index.keyframes.extend(name.map(|name| name.trim_matches(['"', '\'']).to_owned()));
                }
                RuleKind::Group { name, condition } if name == "layer" => self.layer(rule, condition, around),
                RuleKind::Group { name, condition } if (self.holds)(name, condition) => self.group(rule, around),
                _ => {}
            }
        }
    }

    fn group(&mut self, rule: &Rule, around: &Around<'_>) {
        if let Some(parent) = around.parent {
            self.declarations(rule, parent, around.layer);
        }
        self.rules(rule.rules(), around);
    }

    fn layer(&mut self, rule: &Rule, names: &str, around: &Around<'_>) {
        let names: Vec<&str> = names.split(',').collect();
        for name in &names {
            let (layer_name, layer) = self.layers.place(around.layer_name, name);
            if names.len() == 1 {
                self.group(rule, &Around { parent: around.parent, layer_name: &layer_name, layer });
            }
        }
    }

    fn declarations(&mut self, rule: &Rule, selectors: &Selectors, layer: usize) {
        self.order += 1;
        let (order, by_property) = (self.order, &mut self.index.by_property);
        for one in rule.declarations().iter() {
            longhands(one, |property, value| {
                let selectors = selectors.clone();
                let entry = Entry { selectors, value: value.into(), important: one.important, layer, order };
                if !by_property.contains_key(property) {
                    by_property.insert(property.to_owned(), Entries::default());
                }
                if let Some(entries) = by_property.get_mut(property) {
                    entries.push(entry);
                }
            });
        }
    }
}

/// The rules of a page's trees.
pub struct Cascade<'a> {
    pub tree: &'a Tree,
    pub indexes: &'a HashMap<NodeId, Index>,
    /// Rules tried on elements for the page so far; at [`limits::STYLE_TRIES_MAX`] no more are tried.
    pub tries: &'a Cell<u64>,
}

/// The state of a substitution: the properties under way, which may not refer to themselves, and the references that may follow.
struct Substitution {
    open: Vec<(NodeId, String)>,
    left: u32,
}

/// The precedence of a declaration, highest wins: importance, the tree's rank, the style attribute, layer, specificity, order.
type Weight = (bool, i8, bool, usize, u32, usize);

impl Cascade<'_> {
    /// The value that rules and the style attribute declare for a property of an element, or of its pseudo-element if one is named, as
    /// written.
    pub fn declared(&self, element: NodeId, property: &str, pseudo: Option<&str>) -> Option<String> {
        let mut asked = ElementMatcher::new(self.tree, element);
        let mut best: Option<(Weight, Rc<str>)> = None;
        let root = self.tree.root(element);
        let host = self.tree.shadow_host(root);
        // Outer trees win over inner ones, except for important declarations (CSS Scoping §3.1).
        self.look(&mut asked, (root, host, Standing::Own, 1), property, pseudo, &mut best);
        if let Some(outer) = host.filter(|_| self.tree.attribute(element, &local_name!("part")).is_some()) {
            let root = self.tree.root(outer);
            let scope = (root, self.tree.shadow_host(root), Standing::Part, 2);
            self.look(&mut asked, scope, property, pseudo, &mut best);
        }
        if let Some(inner) = self.tree.element(element).and_then(|element| element.shadow_root()) {
            self.look(&mut asked, (inner, Some(element), Standing::Host, 0), property, pseudo, &mut best);
        }
        if let Some(slot) = self.tree.find_slot(element, false) {
            let inner = self.tree.root(slot);
            let scope = (inner, self.tree.shadow_host(inner), Standing::Slotted, 0);
            self.look(&mut asked, scope, property, pseudo, &mut best);
        }
        if pseudo.is_none() {
            self.inline(element, property, &mut best);
        }
        best.map(|(_, value)| value.to_string())
    }

    fn look(
        &self,
        asked: &mut ElementMatcher<'_>,
        (root, host, standing, rank): (NodeId, Option<NodeId>, Standing, i8),
        property: &str,
        pseudo: Option<&str>,
        best: &mut Option<(Weight, Rc<str>)>,
    ) {
        let Some(entries) = self.indexes.get(&root).and_then(|index| index.by_property.get(property)) else { return };
        // `:host`, `::slotted()` and `::part()` name their element elsewhere in a selector than the needs cover, so all entries are
        // tried.
        let has = (standing == Standing::Own).then(|| asked.has_for_needs());
        for entry in entries.of(has.as_deref()) {
            if self.tries.get() >= limits::STYLE_TRIES_MAX {
                return;
            }
            self.tries.set(self.tries.get() + 1);
            let Some(specificity) = asked.specificity(&entry.selectors, host, standing, pseudo) else { continue };
            let (rank, layer) = if entry.important { (-rank, UNLAYERED - entry.layer) } else { (rank, entry.layer) };
            let weight = (entry.important, rank, false, layer, specificity, entry.order);
            if best.as_ref().is_none_or(|(known, _)| *known <= weight) {
                *best = Some((weight, Rc::clone(&entry.value)));
            }
        }
    }

    fn inline(&self, element: NodeId, property: &str, best: &mut Option<(Weight, Rc<str>)>) {
        let Some(text) = self.tree.attribute(element, &local_name!("style")) else { return };
        for (order, one) in declaration::parse(text).iter().enumerate() {
            longhands(one, |name, value| {
                if name != property {
                    return;
                }
                let rank = if one.important { -1 } else { 1 };
                let layer = if one.important { 0 } else { UNLAYERED };
                let weight = (one.important, rank, true, layer, 0, order);
                if best.as_ref().is_none_or(|(known, _)| *known <= weight) {
                    *best = Some((weight, value.into()));
                }
            });
        }
    }

    /// The specified value of a property: the element's own or, if inherited, an ancestor's. `None` means the initial value.
    pub fn specified(&self, element: NodeId, property: &str, inherits: bool, pseudo: Option<&str>) -> Option<String> {
        let (mut at, mut pseudo) = (element, pseudo);
        loop {
            let declared = self.declared(at, property, pseudo).map(|value| self.substituted(at, value));
            let goes_up = match declared.as_deref() {
                Some(value) if property == "color" && value.eq_ignore_ascii_case("currentcolor") => true,
                Some(value) if !is_wide(value) => return declared,
                Some(value) if value.eq_ignore_ascii_case("initial") => return None,
                Some(value) => inherits || value.eq_ignore_ascii_case("inherit"),
                None => inherits,
            };
            if !goes_up {
                return None;
            }
            // A pseudo-element inherits from its element.
            if pseudo.take().is_none() {
                at = self.parent(at)?;
            }
        }
    }

    /// Substitutes the values of custom properties (CSS Variables §3), up to a limit. A reference without a value makes the declaration
    /// behave as unset (§3.1).
    fn substituted(&self, element: NodeId, value: String) -> String {
        let mut of = Substitution { open: Vec::new(), left: limits::STYLE_SUBSTITUTIONS_MAX };
        self.substitute(element, value, &mut of).unwrap_or_else(|| "unset".to_owned())
    }

    fn substitute(&self, element: NodeId, mut value: String, of: &mut Substitution) -> Option<String> {
        while let Some(start) = value.find("var(") {
            of.left = of.left.checked_sub(1)?;
            let mut depth = 0_u32;
            let end = value[start..].char_indices().find_map(|(place, c)| {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (c == ')' && depth == 0).then_some(start + place)
            });
            let inside = &value[start + 4..end.unwrap_or(value.len())];
            let (name, fallback) = match inside.split_once(',') {
                Some((name, fallback)) => (name, Some(fallback.trim().to_owned())),
                None => (inside, None),
            };
            let text = match self.custom(element, name.trim(), of) {
                Some(text) => text,
                None => self.substitute(element, fallback?, of)?,
            };
            if value.len() + text.len() > limits::STYLE_VALUE_BYTES_MAX {
                return None;
            }
            value.replace_range(start..end.map_or(value.len(), |end| end + 1), &text);
        }
        Some(value)
    }

    /// The value of a custom property. What is inherited was computed where it is declared.
    fn custom(&self, element: NodeId, name: &str, of: &mut Substitution) -> Option<String> {
        let ancestors = std::iter::successors(Some(element), |here| self.parent(*here));
        for (here, value) in ancestors.filter_map(|here| Some((here, self.declared(here, name, None)?))) {
            let one = (here, name.to_owned());
            if value.eq_ignore_ascii_case("initial") || of.open.contains(&one) {
                return None;
            }
            if is_wide(&value) {
                continue;
            }
            of.open.push(one);
            let value = self.substitute(here, value, of);
            of.open.pop();
            if value.is_some() || of.left == 0 {
                return value;
            }
        }
        None
    }

    /// The parent that an element inherits from, in the flat tree (CSS Scoping §3.2).
    pub fn parent(&self, element: NodeId) -> Option<NodeId> {
        if let Some(slot) = self.tree.find_slot(element, false) {
            return Some(slot);
        }
        let parent = self.tree.parent(element)?;
        Some(self.tree.shadow_host(parent).unwrap_or(parent)).filter(|parent| self.tree.is_element(*parent))
    }
}
