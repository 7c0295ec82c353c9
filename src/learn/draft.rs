//! The rules of a file before it is written: expressions by class, each sound on every URL that was seen (LEARNING §14.10).

use crate::limits::WORDS_LISTED_MAX;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use regex::Regex;

use crate::choose::Choice;
use crate::expression::{Expression, class_of, expression};
use crate::guard::Refused;
use crate::map::{Map, ShapeId, UrlId};
use crate::parts::Parts;
use gleaner_base::url::with_form_values;
use gleaner_rules::Class;

/// The expression of a segment of which nothing is known.
const ANY_SEGMENT: &str = "[^/?]+";

/// One expression and what speaks for it.
#[derive(Clone, Debug)]
pub struct DraftRule {
    pub class: Class,
    pub pattern: String,
    pub shapes: Vec<ShapeId>,
}

/// What the classes and `deny` of a file hold.
#[derive(Debug, Default)]
pub struct Draft {
    /// In the order of the file: rules of one class stand together.
    pub rules: Vec<DraftRule>,
    pub deny: Vec<String>,
    /// Rules that were left out, and why.
    pub left_out: Vec<String>,
    /// Parameters are put in order: links have them in different ones.
    pub sorts: bool,
    /// Links write the same values in different ways.
    pub has_spellings: bool,
}

impl Draft {
    /// Draws the rules.
    #[must_use]
    pub fn of(map: &Map, choice: &Choice) -> Self {
        let mut draft = Self { sorts: has_other_orders(map, choice), ..Self::default() };
        for class in [Class::Page, Class::Index, Class::Detail, Class::Download] {
            let mut items: BTreeMap<Expression, Vec<ShapeId>> = BTreeMap::new();
            for (shape, _) in
                choice.classes.iter().filter(|(shape, of)| **of == class && !choice.barred.contains(shape))
            {
                let is_open = |url: &UrlId| !matches!(map.url(*url).refused, Some(why) if why != Refused::Robots);
                if !map.urls_of(*shape).iter().any(is_open) {
                    continue;
                }
                if let Some(pattern) = alone(map, choice, *shape).filter(|_| class == Class::Page) {
                    draft.rules.push(DraftRule { class, pattern, shapes: vec![*shape] });
                    continue;
                }
                let field = choice.fields.get(shape).filter(|_| class == Class::Index);
                items.entry(expression(map, *shape, field, choice, draft.sorts)).or_default().push(*shape);
            }
            join_words(&mut items);
            let items = join_pages(items);
            draft.rules.extend(items.into_iter().map(|(expression, shapes)| DraftRule {
                class,
                pattern: expression.text(),
                shapes,
            }));
        }
        draft.join_start();
        draft.order(map, choice);
        draft.leave_out_twins();
        draft.keep_out(map, choice);
        draft.has_spellings = has_other_spellings(map, choice) && draft.takes_form_values(map, choice);
        draft
    }

    /// True if all that a rule or a denial takes, it takes in the one spelling of `form_values` as well.
    fn takes_form_values(&self, map: &Map, choice: &Choice) -> bool {
        let patterns = self.rules.iter().map(|rule| &rule.pattern).chain(&self.deny);
        let compiled: Vec<Regex> = patterns.filter_map(|pattern| Regex::new(pattern).ok()).collect();
        map.urls().all(|(_, url)| {
            let path = choice.without_dropped(&url.path);
            let Some((front, query)) = path.split_once('?') else { return true };
            let Cow::Owned(query) = with_form_values(query) else { return true };
            let spelled = format!("{front}?{query}");
            compiled.iter().all(|regex| !regex.is_match(&path) || regex.is_match(&spelled))
        })
    }

    /// A first page that was a hub, and the pages behind it: one list.
    fn join_start(&mut self) {
        let hubs: Vec<DraftRule> = self.rules.iter().filter(|rule| rule.class == Class::Page).cloned().collect();
        for hub in hubs {
            let Some(front) = hub.pattern.strip_suffix('$') else { continue };
            let behind = self.rules.iter().position(|rule| {
                let rest = rule.pattern.strip_prefix(front).and_then(|rest| rest.strip_prefix(r"\?"));
                let rest = rest.and_then(|rest| rest.strip_suffix('$'));
                rule.class == Class::Index
                    && rest.is_some_and(|rest| rest.ends_with(r"=(?<page>\d+)") && !rest.contains('&'))
            });
            let Some(at) = behind else { continue };
            let rule = &mut self.rules[at];
            let rest = rule.pattern[front.len()..].trim_end_matches('$').to_owned();
            rule.pattern = format!("{front}(?:{rest})?$");
            rule.shapes.extend(hub.shapes.iter().copied());
            self.rules.retain(|rule| rule.pattern != hub.pattern);
        }
    }

    /// Classes whose rules take URLs of others stand behind them.
    fn order(&mut self, map: &Map, choice: &Choice) {
        let compiled: Vec<(Class, Regex)> =
            self.rules.iter().filter_map(|rule| Some((rule.class, Regex::new(&rule.pattern).ok()?))).collect();
        let mut takes: BTreeSet<(Class, Class)> = BTreeSet::new();
        for (shape, own) in &choice.classes {
            for url in map.urls_of(*shape).iter().take(3) {
                let path = choice.without_dropped(map.path(*url));
                let others = compiled.iter().filter(|(class, regex)| class != own && regex.is_match(&path));
                takes.extend(others.map(|(class, _)| (*class, *own)));
            }
        }
        let mut open: Vec<Class> = Vec::new();
        for rule in &self.rules {
            if !open.contains(&rule.class) {
                open.push(rule.class);
            }
        }
        let mut ordered: Vec<Class> = Vec::new();
        while !open.is_empty() {
            // One that takes nothing of those behind it; in a circle, the first.
            let is_free = |class: &Class| !open.iter().any(|other| other != class && takes.contains(&(*class, *other)));
            let next = open.iter().position(is_free).unwrap_or_default();
            ordered.push(open.remove(next));
        }
        self.rules.sort_by_key(|rule| ordered.iter().position(|class| *class == rule.class));
    }

    /// URLs of two classes that have one expression are read as the first one: such a file would not pass the check.
    fn leave_out_twins(&mut self) {
        let mut known: BTreeSet<String> = BTreeSet::new();
        for rule in std::mem::take(&mut self.rules) {
            if known.insert(rule.pattern.clone()) {
                self.rules.push(rule);
            } else {
                let (class, pattern) = (rule.class.name(), &rule.pattern);
                self.left_out.push(format!(
                    "{class} '{pattern}' is the expression of another class, too: its URLs are read as that"
                ));
            }
        }
    }

    /// No rule may take what must not be asked for: it is denied, or the rule is left out.
    fn keep_out(&mut self, map: &Map, choice: &Choice) {
        let mut kept = Vec::new();
        let mut files: BTreeSet<String> = BTreeSet::new();
        for rule in std::mem::take(&mut self.rules) {
            let Ok(regex) = Regex::new(&rule.pattern) else { continue };
            let mut is_sound = true;
            for (_, url) in map.urls() {
                let Some(why) = url.refused.filter(|why| !matches!(why, Refused::Robots | Refused::Outside)) else {
                    continue;
                };
                let path = choice.without_dropped(&url.path);
                if !regex.is_match(&path) {
                    continue;
                }
                if why == Refused::Payload {
                    let file = path.split(['?', ';']).next().unwrap_or_default();
                    files.extend(file.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()));
                } else if !self.denies(&url.path) {
                    let denial = if why == Refused::Sorted { Some(SORTED.to_owned()) } else { denial(&url.path) };
                    match denial {
                        Some(denial) => self.deny.push(denial),
                        None => is_sound = false,
                    }
                }
            }
            if is_sound {
                kept.push(rule);
            } else {
                self.left_out.push(format!("{} '{}' takes URLs that act", rule.class.name(), rule.pattern));
            }
        }
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|file| regex::escape(file)).collect();
            self.deny.push(format!(r"(?i)\.(?:{})(?:\?|$)", files.join("|")));
        }
        self.rules = kept;
    }

    fn denies(&self, path: &str) -> bool {
        self.deny.iter().filter_map(|deny| Regex::new(deny).ok()).any(|deny| deny.is_match(path))
    }
}

/// The same parameters of one path stand in different orders, in URLs of one class.
fn has_other_orders(map: &Map, choice: &Choice) -> bool {
    let mut orders: HashMap<(Class, &str, Vec<&str>), Vec<&str>> = HashMap::new();
    for (shape, class) in &choice.classes {
        let form = map.shape(*shape);
        let keys: Vec<&str> = form.keys().filter(|key| !choice.dropped.iter().any(|dropped| dropped == key)).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        if map.urls_of(*shape).len() > 1 && orders.entry((*class, &form.path, sorted)).or_insert(keys.clone()) != &keys
        {
            return true;
        }
    }
    false
}

/// URLs of which two spellings were seen, that prove that the site reads both.
const SPELLINGS: usize = 3;

/// Values of one path are linked as a form writes them, and otherwise, in URLs of one class.
fn has_other_spellings(map: &Map, choice: &Choice) -> bool {
    let urls = choice.classes.keys().flat_map(|shape| map.urls_of(*shape)).map(|url| map.path(*url));
    let (mut as_form, mut otherwise) = (BTreeSet::new(), BTreeSet::new());
    for (path, query) in urls.filter_map(|url| url.split_once('?')) {
        match with_form_values(query) {
            Cow::Borrowed(query) => _ = as_form.insert((path, query)),
            Cow::Owned(query) => _ = otherwise.insert((path, query)),
        }
    }
    otherwise.iter().filter(|(path, query)| as_form.contains(&(*path, query.as_str()))).count() >= SPELLINGS
}

/// The expression of a start page that is one of many and of no use for the others: it takes that page alone.
fn alone(map: &Map, choice: &Choice, shape: ShapeId) -> Option<String> {
    let (start, _) = map.pages().min_by_key(|(_, page)| page.order)?;
    let start = [start, map.end_of(start)].into_iter().find(|url| map.shape_of(*url) == shape)?;
    let is_one_of_many = map.urls_of(shape).len() > 1 && !choice.hubs.contains(&shape);
    let path = choice.without_dropped(map.path(start));
    is_one_of_many.then(|| format!("^{}$", regex::escape(&path)))
}

/// What closes folders' listings in another order.
const SORTED: &str = r"/\?(?:C=[NMSD][;&]O=[AD]|[NMSD]=[AD])$";

/// What closes a URL that acts: the parameter by which it does.
fn denial(path: &str) -> Option<String> {
    let parts = Parts::of(path);
    let of_rest = |key: &str| gleaner_rules::acts(&parts.clone().without(|own| own == key), None).is_none();
    let (key, value) = parts.pairs.iter().find(|(key, _)| of_rest(key))?;
    let value = if value.bytes().any(|of| of.is_ascii_digit()) { "" } else { value };
    let end = if value.is_empty() { String::new() } else { format!("{}(?:[&;]|$)", regex::escape(value)) };
    let name = if key.is_empty() { String::new() } else { format!("{}=", regex::escape(key)) };
    (!name.is_empty() || !end.is_empty()).then(|| format!("[?&;]{name}{end}"))
}

/// Expressions that differ in one word are one: `(?:a|b)`, or a class of characters from four on.
fn join_words(items: &mut BTreeMap<Expression, Vec<ShapeId>>) {
    let is_plain = |segment: &str| segment.bytes().all(|of| of.is_ascii_alphanumeric() || matches!(of, b'_' | b'-'));
    let may_join = |segment: &str| !segment.is_empty() && !segment.contains("(?<page>");
    loop {
        let mut groups: HashMap<(usize, Expression), Vec<(Expression, String)>> = HashMap::new();
        for expression in items.keys() {
            for (index, segment) in expression.segments.iter().enumerate().skip(1) {
                if may_join(segment) {
                    let mut rest = expression.clone();
                    rest.segments[index] = String::new();
                    groups.entry((index, rest)).or_default().push((expression.clone(), segment.clone()));
                }
            }
        }
        let best = groups.into_iter().max_by(|a, b| (a.1.len(), &b.0).cmp(&(b.1.len(), &a.0)));
        let Some(((index, rest), members)) = best.filter(|(_, members)| members.len() > 1) else { return };
        let words: BTreeSet<&str> = members.iter().map(|(_, word)| word.as_str()).collect();
        let words: Vec<&str> = words.into_iter().collect();
        let word = match () {
            () if words.contains(&ANY_SEGMENT) => ANY_SEGMENT.to_owned(),
            () if words.len() <= WORDS_LISTED_MAX => format!("(?:{})", words.join("|")),
            () if words.iter().all(|word| is_plain(word)) => class_of(&words, false),
            () => ANY_SEGMENT.to_owned(),
        };
        let mut joined = rest;
        joined.segments[index] = word;
        let shapes: Vec<ShapeId> = members.iter().filter_map(|(member, _)| items.remove(member)).flatten().collect();
        items.entry(joined).or_default().extend(shapes);
    }
}

/// A list with and without its page number is one line: `/x/` and `/x/page/2/` too.
fn join_pages(mut items: BTreeMap<Expression, Vec<ShapeId>>) -> BTreeMap<Expression, Vec<ShapeId>> {
    let paged: Vec<Expression> = items.keys().filter(|expression| expression.is_page()).cloned().collect();
    for page in paged {
        let Some((front, joined)) = front_of(&page, &items) else { continue };
        let mut shapes = items.remove(&front).unwrap_or_default();
        shapes.extend(items.remove(&page).unwrap_or_default());
        items.entry(joined).or_default().extend(shapes);
    }
    items
}

/// The expression of the first page, and the one of both.
fn front_of(page: &Expression, items: &BTreeMap<Expression, Vec<ShapeId>>) -> Option<(Expression, Expression)> {
    if let Some((last, fixed)) = page.query.split_last().filter(|(last, _)| last.ends_with(r"=(?<page>\d+)")) {
        let is_front = |other: &&Expression| other.segments == page.segments && other.query == fixed;
        let front = items.keys().find(is_front)?.clone();
        let mut query = fixed.to_vec();
        query.push(last.clone());
        let joined = Expression { query, has_optional_page: true, ..page.clone() };
        return Some((front, joined));
    }
    // `/x/page/2/` or `/x/page/2` of `/x/`
    let at = page.segments.iter().position(|segment| segment == r"(?<page>\d+)")?;
    let begins = if at > 0 && matches!(page.segments[at - 1].as_str(), "page" | "p" | "pages") { at - 1 } else { at };
    let mut first = page.segments[..begins].to_vec();
    first.push(String::new());
    let is_front = |other: &&Expression| other.segments == first && other.query == page.query;
    let front = items.keys().find(is_front)?.clone();
    let more = page.segments[begins..].join("/");
    Some((front.clone(), Expression { optional_segments: Some(more), ..front }))
}
