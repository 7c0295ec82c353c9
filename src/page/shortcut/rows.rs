//! Derives the links of all rows from clicked ones: one template over the records of a list's responses gives each
//! clicked row the link that its click led to, each from a separate record, and gives no row a wrong link.
//!
//! A row and a record are matched by a common value: a title, or a number in an attribute. A row without such a
//! record, or whose record differs from those clicked (another state, a member that the others lack), must be
//! clicked.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::links::{Guesser, members};
use super::place::{Element, JsonPath, lists};
use super::template::{Scope, Source, Template};
use super::{Answer, Exchange, kind_of};
use crate::limits;

mod likeness;

use likeness::Likeness;
pub use likeness::{Like, Trait};

/// Minimum rows to learn from.
pub const ROWS_LEAST: usize = 6;

/// Replaces a link if a click sent a POST, which cannot be predicted.
pub const NO_LINK: &str = "post:";

/// Links tried per row, and templates per mapping.
const LINKS_OF_ROW: usize = 12;

/// Records tried per row.
const RECORDS_OF_ROW: usize = 6;

/// A value of a row, and its position: in its text, or in a named attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// None: in its text.
    pub attribute: Option<String>,
    pub text: String,
}

/// A row that was clicked.
#[derive(Clone, Debug, Default)]
pub struct Clicked {
    pub marks: Vec<Mark>,
    pub look: Vec<Trait>,
    /// The results of its click, absolute; any text that is no link for other effects.
    pub links: Vec<String>,
}

/// The data of a record for its row.
#[derive(Clone, Debug)]
pub struct Item {
    /// The value that its row contains, too.
    pub mark: String,
    pub links: Vec<String>,
    traits: Vec<Trait>,
}

/// The mapping from responses of one kind of request to the links of rows.
#[derive(Clone, Debug)]
pub struct Mapping {
    kind: String,
    /// The start of such a request, for display.
    pub request: String,
    items: JsonPath,
    links: Vec<Template>,
    /// The member that rows contain, too, and the attribute that contains it.
    member: JsonPath,
    attribute: Option<String>,
    origins: HashSet<String>,
    likeness: Likeness,
}

/// The key of a link in any notation; for a magnet, its first parameter.
#[must_use]
pub fn key(page: &Url, text: &str) -> Option<String> {
    let text = text.trim();
    if text.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("magnet:")) {
        return Some(text.split('&').next().unwrap_or_default().to_ascii_lowercase());
    }
    let mut url = page.join(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    Some(url.into())
}

/// Learns a mapping that explains all links of clicked rows, except those that are in all of them and came with the
/// first; of several mappings, the one with the most records. `is_known` returns whether a link was shown before, by
/// its key.
#[must_use]
pub fn learn(
    page: &Url,
    heard: &[Exchange],
    rows: &[Clicked],
    is_known: &dyn Fn(&str) -> bool,
) -> Option<(Mapping, usize)> {
    let rows: Vec<&Clicked> = rows.iter().filter(|row| !row.links.is_empty()).collect();
    if rows.len() < ROWS_LEAST || rows.iter().any(|row| row.links.len() > LINKS_OF_ROW) {
        return None;
    }
    let mut families = BTreeMap::<String, (String, Vec<Json>)>::new();
    for exchange in heard {
        let (Some(kind), Answer::Json(json)) = (kind_of(page, exchange), Answer::of(&exchange.answer)) else {
            continue;
        };
        families.entry(kind).or_insert_with(|| (request_of(exchange), Vec::new())).1.push(json);
    }
    let normal = |page: &Url, text: &str| key(page, text);
    let guesser = Guesser::new(&normal, limits::SHORTCUT_ROWS_WORK_MAX);
    let mut best: Option<(Mapping, usize)> = None;
    for (kind, (request, answers)) in families {
        let mut places: Vec<JsonPath> = Vec::new();
        for json in &answers {
            lists(json, &JsonPath::default(), &mut |place| {
                if !places.contains(&place) && places.len() < limits::SHORTCUT_RULES_MAX {
                    places.push(place);
                }
            });
        }
        for place in places {
            let mut records: Vec<Vec<Element<'_>>> = Vec::new();
            for json in &answers {
                let room = limits::SHORTCUT_RECORDS_MAX.saturating_sub(records.len());
                records.extend(place.chains(json, room));
            }
            if records.len() < rows.len() || best.as_ref().is_some_and(|(_, many)| records.len() <= *many) {
                continue;
            }
            let learner = Learner { page, rows: &rows, records: &records, guesser: &guesser, is_known };
            if let Some(mapping) = learner.mapping(&kind, &request, &place) {
                best = Some((mapping, records.len()));
            }
        }
    }
    best
}

fn request_of(exchange: &Exchange) -> String {
    let path = Url::parse(&exchange.url).map(|url| url.path().to_owned()).unwrap_or_default();
    format!("{} {path}", exchange.method)
}

struct Learner<'a> {
    page: &'a Url,
    rows: &'a [&'a Clicked],
    records: &'a [Vec<Element<'a>>],
    guesser: &'a Guesser<'a>,
    is_known: &'a dyn Fn(&str) -> bool,
}

impl<'a> Learner<'a> {
    fn mapping(&self, kind: &str, request: &str, items: &JsonPath) -> Option<Mapping> {
        let (link, of_rows) = self.first_link()?;
        let (member, attribute) = self.mark(&of_rows)?;
        let links = self.other_links(link, &of_rows)?;
        let mut origins = HashSet::new();
        for link in self.rows.iter().flat_map(|row| &row.links) {
            origins.extend(Url::parse(link).ok().map(|url| url.origin().ascii_serialization()));
        }
        let mut mapping = Mapping {
            kind: kind.to_owned(),
            request: request.to_owned(),
            items: items.clone(),
            links,
            member,
            attribute,
            origins,
            likeness: Likeness::of(self.records.iter().filter_map(|chain| chain.last()).map(|of| of.value)),
        };
        for (row, record) in self.rows.iter().zip(of_rows) {
            let item = mapping.item(self.page, record)?;
            mapping.confirm(&item, &row.look);
        }
        Some(mapping)
    }

    /// The template that gives each row one of its links, and the record of each row for it.
    fn first_link(&self) -> Option<(Template, Vec<&'a [Element<'a>]>)> {
        // Links in all rows came with the first one.
        for sample in self.rows.iter().skip(1).take(2) {
            let said: HashSet<&str> = sample.marks.iter().map(|mark| mark.text.as_str()).collect();
            let is_its = |chain: &&Vec<Element<'a>>| {
                let mut is_its = false;
                if let Some(record) = chain.last() {
                    let mut look = |_: &JsonPath, text: &str| is_its |= said.contains(blanks(text).as_str());
                    members(record.value, &JsonPath::default(), &mut look);
                }
                is_its
            };
            let likely: Vec<&Vec<Element<'a>>> = self.records.iter().filter(is_its).take(RECORDS_OF_ROW).collect();
            for link in &sample.links {
                let mut tried = HashSet::new();
                for chain in &likely {
                    for template in self.candidates(link, chain) {
                        if tried.insert(template.to_string())
                            && let Some(records) = self.records_by(&template)
                        {
                            return Some((template, records));
                        }
                    }
                }
            }
        }
        None
    }

    /// Templates over members of a record that give a link: those with the fewest members first; for a magnet with
    /// all its parameters, if possible.
    fn candidates(&self, link: &str, chain: &[Element<'_>]) -> Vec<Template> {
        let Some(key) = key(self.page, link) else { return Vec::new() };
        let own = self.page.origin().ascii_serialization();
        let path = link.strip_prefix(own.as_str()).filter(|path| path.starts_with('/'));
        let bare = link.starts_with("magnet:").then(|| link.split('&').next()).flatten();
        let mut templates = Vec::new();
        for goal in [path.or(Some(link)), bare].into_iter().flatten() {
            let mut found = self.guesser.candidates(goal, &key, self.page, chain);
            found.retain(|template| {
                let is_of_records = |source: &Source| matches!(source, Source::Field(..) | Source::Name(_));
                let is_own = |source: &Source| matches!(source, Source::Field(0, _) | Source::Name(0));
                template.sources().all(is_of_records) && template.sources().any(is_own)
            });
            found.sort_by_key(|template| template.sources().count());
            templates.append(&mut found);
        }
        templates
    }

    /// The result of a template; for a magnet in full, if the template contains more than its hash.
    fn filled(&self, template: &Template, chain: &[Element<'_>]) -> Option<String> {
        let scope = Scope { record: chain, ..Scope::of(self.page, "", &[], 0) };
        let text = template.fill(&scope)?;
        if is_exact(template) { Some(text) } else { key(self.page, &text) }
    }

    /// The same for a link of a row.
    fn of_link(&self, template: &Template, link: &str) -> Option<String> {
        if is_exact(template) { Some(link.to_owned()) } else { key(self.page, link) }
    }

    /// The record of each row, all different, if a template gives all rows one of their links.
    fn records_by(&self, template: &Template) -> Option<Vec<&'a [Element<'a>]>> {
        self.guesser.works(self.records.len())?;
        let mut by_key = HashMap::<String, &'a [Element<'a>]>::new();
        for chain in self.records {
            if let Some(key) = self.filled(template, chain) {
                by_key.entry(key).or_insert(chain);
            }
        }
        let mut taken = HashSet::new();
        let of_row = |row: &&Clicked| {
            let mut keys = row.links.iter().filter_map(|link| self.of_link(template, link));
            let key = keys.find(|key| by_key.contains_key(key) && !taken.contains(key))?;
            let record = by_key.get(&key).copied();
            taken.insert(key);
            record
        };
        self.rows.iter().map(of_row).collect()
    }

    /// The member that each of these rows contains, and its position.
    fn mark(&self, of_rows: &[&[Element<'_>]]) -> Option<(JsonPath, Option<String>)> {
        let (first, row) = (of_rows.first()?.last()?.value, self.rows.first()?);
        let mut likely: Vec<(JsonPath, Option<String>)> = Vec::new();
        members(first, &JsonPath::default(), &mut |place, text| {
            let text = blanks(text);
            for mark in row.marks.iter().filter(|mark| mark.text == text) {
                // Counts and sizes occur in many rows.
                let has_name = mark.attribute.is_some() || text.chars().any(char::is_alphabetic);
                if has_name && likely.len() < limits::SHORTCUT_FIELDS_MAX {
                    likely.push((place.clone(), mark.attribute.clone()));
                }
            }
        });
        let is_of_all = |(place, attribute): &&(JsonPath, Option<String>)| {
            let mut rows = self.rows.iter().zip(of_rows);
            rows.all(|(row, record)| {
                let said = record.last().and_then(|record| place.text(record.value)).map(|text| blanks(&text));
                said.is_some_and(|said| row.marks.iter().any(|of| of.attribute == *attribute && of.text == said))
            })
        };
        // Nearly all records must have different values.
        let different = |(place, _): &(JsonPath, Option<String>)| {
            let said = self.records.iter().filter_map(|record| place.text(record.last()?.value));
            said.map(|text| blanks(&text)).collect::<HashSet<_>>().len()
        };
        let all = likely.iter().filter(is_of_all).max_by_key(|of| (different(of), of.1.is_none()))?;
        // A list that was requested twice has no more records.
        let texts = self.records.iter().filter_map(|record| record.last()).map(|of| of.value.to_string());
        let records = texts.map(|text| xxh3_64(text.as_bytes())).collect::<HashSet<_>>().len();
        (different(all) * 10 >= records * 9).then(|| all.clone())
    }

    /// The first template, and one for each other link from the records, until every link of a row is explained;
    /// `None` if one is not.
    fn other_links(&self, first: Template, of_rows: &[&[Element<'a>]]) -> Option<Vec<Template>> {
        let mut links = vec![first];
        loop {
            // Links that only the first row's click led to are on all of them.
            let mut rows = self.rows.iter().zip(of_rows).skip(1);
            let left = rows.find_map(|(row, record)| {
                let is_given = |template: &Template, link: &str| {
                    let given = self.filled(template, record);
                    given.is_some() && given == self.of_link(template, link)
                };
                let is_left = |link: &&String| !links.iter().any(|template| is_given(template, link));
                row.links.iter().find(is_left).map(|link| (link, *record))
            });
            let Some((link, record)) = left else { return Some(links) };
            if links.len() >= limits::SHORTCUT_RULES_MAX {
                return None;
            }
            let holds = |template: &Template| {
                self.rows.iter().zip(of_rows).all(|(row, record)| match self.filled(template, record) {
                    Some(given) => {
                        row.links.iter().any(|link| self.of_link(template, link).as_ref() == Some(&given))
                            || key(self.page, &given).is_some_and(|key| (self.is_known)(&key))
                    }
                    None => true,
                })
            };
            links.push(self.candidates(link, record).into_iter().find(holds)?);
        }
    }
}

impl Mapping {
    /// The records of a response if it is of the mapped kind.
    #[must_use]
    pub fn read(&self, page: &Url, exchange: &Exchange) -> Vec<Item> {
        if kind_of(page, exchange).as_ref() != Some(&self.kind) {
            return Vec::new();
        }
        let Answer::Json(json) = Answer::of(&exchange.answer) else { return Vec::new() };
        let chains = self.items.chains(&json, limits::SHORTCUT_RECORDS_MAX);
        chains.iter().filter_map(|chain| self.item(page, chain)).collect()
    }

    /// Whether a mark is at the position that this mapping compares: the same attribute, or the text.
    #[must_use]
    pub fn is_of(&self, mark: &Mark) -> bool {
        mark.attribute == self.attribute
    }

    fn item(&self, page: &Url, chain: &[Element<'_>]) -> Option<Item> {
        let record = chain.last()?.value;
        let mark = blanks(&self.member.text(record)?);
        let scope = Scope { record: chain, ..Scope::of(page, "", &[], 0) };
        let (first, others) = self.links.split_first()?;
        let mut links = vec![absolute(page, &first.fill(&scope)?)?];
        links.extend(others.iter().filter_map(|link| absolute(page, &link.fill(&scope)?)));
        let is_near = |link: &String| {
            let origin = Url::parse(link).map(|url| url.origin().ascii_serialization());
            origin.is_ok_and(|origin| self.origins.contains(&origin))
        };
        if !links.iter().all(is_near) {
            return None;
        }
        let mut traits = likeness::of_record(record);
        traits.retain(|of| self.likeness.tells(of));
        Some(Item { mark, links, traits })
    }

    /// Whether a row and its record are like the clicked ones.
    pub fn compare(&mut self, item: &Item, look: &[Trait]) -> Like {
        self.likeness.compare(item.traits.iter().chain(look))
    }

    /// A click on its row led to its links. False if that contradicts the assumed reason why another's did not.
    pub fn confirm(&mut self, item: &Item, look: &[Trait]) -> bool {
        self.likeness.confirm(item.traits.iter().chain(look))
    }

    /// A click on its row led elsewhere, or to nothing: rows that share a trait with it that no confirmed row had are
    /// skipped from now on. False if there is no such trait.
    pub fn refuse(&mut self, item: &Item, look: &[Trait], leads_elsewhere: bool) -> bool {
        self.likeness.refuse(item.traits.iter().chain(look), leads_elsewhere)
    }
}

impl std::fmt::Display for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let links: Vec<String> = self.links.iter().map(Template::to_string).collect();
        write!(f, "{}: {}", self.request, links.join(", "))
    }
}

/// Whether a template gives magnets with all their parameters.
fn is_exact(template: &Template) -> bool {
    let text = template.to_string();
    text.starts_with("magnet:") && text.contains('&')
}

fn absolute(page: &Url, text: &str) -> Option<String> {
    if text.starts_with("magnet:") {
        return Some(text.to_owned());
    }
    page.join(text).ok().map(String::from)
}

/// A text with runs of white space collapsed.
fn blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
