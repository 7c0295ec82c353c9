//! An endpoint: the addresses that it covers, its requests, the parsing of its responses, and the check against a
//! render.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;
use url::Url;

use super::call::{self, Call, Slots};
use super::pages::{Last, Pager};
use super::pattern::Pattern;
use super::place::{Element, JsonPath, scalar};
use super::template::{Scope, Source, Template};
use super::turns::{self, Turning};
use super::unread::Unread;
use super::{Answer, Normal, Observation, learn, links, pages};
use crate::limits;

/// How links are extracted from a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One link for each record at a place that has the members.
    Link { items: JsonPath, link: Template },
    /// The links of the markup at a place; of the whole response if there is none.
    Html(Option<JsonPath>),
}

impl Rule {
    /// The place of the records from which it takes links.
    #[must_use]
    pub fn records(&self) -> Option<&JsonPath> {
        match self {
            Self::Link { items, .. } => Some(items),
            Self::Html(place) => place.as_ref(),
        }
    }
}

/// A replacement for renders of a class's pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `None`: all pages of the class.
    pub on: Option<Pattern>,
    /// A request before it, for a token in its response.
    pub before: Option<Call>,
    pub call: Call,
    pub rules: Vec<Rule>,
    /// Links to the other pages of the list.
    pub pages: Option<Pager>,
    /// Links that are on every page.
    pub constants: Vec<String>,
    /// Links of the page's own markup are included, so the page is requested, too.
    pub with_page: bool,
    pub turning: Option<Turning>,
    /// Values of switches in the responses so far: another value may mean that there is more.
    pub expect: BTreeMap<String, Vec<String>>,
}

/// The content of one response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub links: Vec<String>,
    pub records: usize,
    /// The request for the next page of data.
    pub next: Option<Slots>,
    /// The request after the end that a count or a switch of the response indicates. It is sent anyway, because they
    /// may have meant something else.
    pub behind: Option<Slots>,
}

impl Reading {
    /// The next request, and whether it is after the indicated end.
    #[must_use]
    pub fn follows(self) -> Option<(Slots, bool)> {
        self.next.map(|slots| (slots, false)).or(self.behind.map(|slots| (slots, true)))
    }
}

/// Why an endpoint is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("a value that it sends is missing: {0}")]
    Missing(String),
    #[error("the answer is neither JSON nor markup")]
    NoData,
    #[error("the answer has no `{0}`")]
    NoList(String),
    #[error("no record of the answer has a link")]
    NoLinks,
    #[error("`{0}` of the answer is {1}, which it never was")]
    Unexpected(String, String),
    #[error("the page's scripts did not ask {0}")]
    NotAsked(String),
    #[error("the render shows {0}, which the answer does not give")]
    Lacks(String),
    #[error("the answer gives {0}, which the render does not show")]
    Invents(String),
    #[error("the render links {0}, which is after the end that the answer gives")]
    EndsEarly(String),
    #[error("the page lies elsewhere")]
    Elsewhere,
    #[error("it is answered {0}")]
    Status(u16),
    #[error("it may not be asked: {0}")]
    Refused(String),
}

impl Endpoint {
    /// Whether it covers this address.
    #[must_use]
    pub fn covers(&self, page: &Url) -> bool {
        self.on.as_ref().is_none_or(|pattern| pattern.fits(page))
    }

    /// Whether one can continue the requests of the other.
    #[must_use]
    pub fn asks_as(&self, other: &Self) -> bool {
        (&self.before, &self.call, &self.turning) == (&other.before, &other.call, &other.turning)
    }

    /// Whether it needs the page's own markup, for its links or for a token.
    #[must_use]
    pub fn needs_page(&self) -> bool {
        self.with_page || self.call.needs_page() || self.before.as_ref().is_some_and(Call::needs_page)
    }

    /// The origins of its requests other than the page's own.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        let slots = self.before.iter().chain([&self.call]).flat_map(|call| &call.0);
        slots.filter(|(name, _)| name == "origin").filter_map(|(_, origin)| origin.constant()).collect()
    }

    /// The first request for a page.
    ///
    /// # Errors
    /// A required value is missing.
    pub fn first(&self, scope: &Scope<'_>) -> Result<Slots, Difference> {
        self.call.fill(scope).ok_or_else(|| missing(&self.call, scope))
    }

    /// A request left by an earlier visit, with the tokens of this visit, whose first request is `first`.
    #[must_use]
    pub fn renewed(&self, asks: Slots, first: &Slots) -> Slots {
        let of_visit = self.call.0.iter().filter(|(_, template)| template.sources().any(Source::is_of_visit));
        let names: Vec<&str> = of_visit.map(|(name, _)| name.as_str()).collect();
        turns::renewed(self.turning.as_ref().map(|turning| &turning.turn), asks, first, &names)
    }

    /// Parses the response to a request. `seen` counts the records of earlier pages of data.
    ///
    /// # Errors
    /// The response has another shape than before.
    pub fn read(&self, asked: &Slots, answer: &Answer, scope: &Scope<'_>, seen: usize) -> Result<Reading, Difference> {
        if *answer == Answer::Empty && self.is_of_lines() {
            return Ok(Reading::default());
        }
        if matches!(answer, Answer::Empty | Answer::Other) {
            return Err(Difference::NoData);
        }
        let mut reading = Reading::default();
        let (mut lists, mut whole, mut bytes) = (HashMap::new(), 0, 0);
        for rule in &self.rules {
            match rule {
                Rule::Link { items, link } => {
                    let json = answer.json().ok_or(Difference::NoData)?;
                    let chains = chains(json, items)?;
                    lists.insert(items, chains.len());
                    for chain in &chains {
                        let Some(link) = link.fill(&Scope { record: chain, ..*scope }) else { continue };
                        bytes += link.len();
                        if bytes <= limits::OUTLINK_BYTES_PER_PAGE_MAX {
                            reading.links.push(link);
                        }
                    }
                }
                Rule::Html(place) => {
                    let markup = markup(answer, place.as_ref())?;
                    let found: Vec<String> = markup.iter().flat_map(|markup| links::of_markup(markup)).collect();
                    whole = whole.max(found.len());
                    reading.links.extend(found);
                }
            }
        }
        reading.records = lists.values().copied().max().unwrap_or(whole);
        if reading.records > 0 && reading.links.is_empty() {
            return Err(Difference::NoLinks);
        }
        if let (Some(turning), true) = (&self.turning, reading.records > 0) {
            reading.next = turning.next(asked, answer, reading.records, seen + reading.records);
            if reading.next.is_none() {
                reading.behind = turning.behind(asked, answer);
            }
        }
        Ok(reading)
    }

    /// Whether its responses are lists themselves, which may be one record per line, and empty without records.
    fn is_of_lines(&self) -> bool {
        let is_list = |rule: &Rule| {
            rule.records().is_some_and(|records| records.0.first().is_some_and(super::place::Step::is_all))
        };
        self.rules.iter().all(is_list)
    }

    /// Links of the page besides those of its records: to other pages of the list, and those on every page.
    #[must_use]
    pub fn around(&self, first: &Answer, records: usize, page: &Url) -> Vec<String> {
        let pages = self.pages.as_ref().map(|pager| pager.links(first, records, page)).unwrap_or_default();
        pages.into_iter().chain(self.constants.iter().cloned()).collect()
    }

    /// The address after the last page of a list, as far as the response shows.
    #[must_use]
    pub fn behind_end(&self, first: &Answer, records: usize, page: &Url) -> Option<Url> {
        let pager = self.pages.as_ref()?;
        (records > 0 && pager.own(page) >= pager.last(first, records, page)).then(|| pager.behind(page)).flatten()
    }

    /// Whether all switches of the response have known values, and no number that always equalled the record count is
    /// larger.
    ///
    /// # Errors
    /// The first that differs.
    pub fn is_as_expected(&self, answer: &Answer, records: usize) -> Result<(), Difference> {
        for (place, values) in &self.expect {
            let value = value_at(answer, place);
            let is_count = values.iter().any(|value| value == RECORDS);
            let is_known = match value.parse::<usize>() {
                Ok(number) if is_count => number <= records,
                _ => is_count || values.contains(&value),
            };
            if !is_known {
                return Err(Difference::Unexpected(place.clone(), value));
            }
        }
        Ok(())
    }

    /// Learns the values of switches from a render that it explains. True if the page is the last of its list.
    pub fn absorb(&mut self, observation: &Observation) -> bool {
        let Ok(replay) = self.replay(observation) else { return false };
        for (_, answer) in &replay.done {
            self.expect.retain(|place, values| {
                let value = value_at(answer, place);
                let is_switch = SWITCHED.contains(&value.as_str());
                if is_switch && !values.contains(&value) {
                    values.push(value);
                }
                // A value that became a text was not a switch.
                is_switch || values.iter().any(|value| value == RECORDS)
            });
        }
        let is_end = |(_, answer): &(Slots, Answer)| self.behind_end(answer, replay.first, &observation.page).is_some();
        replay.done.first().is_some_and(is_end)
    }

    /// Replays itself on the requests and responses of a render.
    fn replay(&self, observation: &Observation) -> Result<Replay, Difference> {
        let exchanges: Vec<(Slots, &str)> = observation
            .exchanges
            .iter()
            .filter(|one| one.status == 200)
            .filter_map(|one| {
                let slots = call::slots(&one.method, &one.url, &one.headers, &one.body)?;
                Some((slots, one.answer.as_str()))
            })
            .collect();
        // The first of equal requests. A list may have hundreds of pages.
        let index = |fleeting: &[&str]| {
            let mut first: HashMap<Vec<(&str, &str)>, &str> = HashMap::new();
            for (slots, text) in &exchanges {
                first.entry(call::identity(slots, fleeting)).or_insert(text);
            }
            first
        };
        let told = |slots: &Slots| call::asked(slots).url.split('?').next().unwrap_or_default().to_owned();
        let mut scope = Scope::of(&observation.page, &observation.html, &observation.cookies, observation.now_ms);
        let before = match &self.before {
            Some(call) => {
                let wanted = call.fill(&scope).ok_or_else(|| missing(call, &scope))?;
                let fleeting = call.fleeting();
                let found = index(&fleeting).get(&call::identity(&wanted, &fleeting)).map(|text| Answer::of(text));
                Some(found.ok_or_else(|| Difference::NotAsked(told(&wanted)))?)
            }
            None => None,
        };
        scope.before = before.as_ref().and_then(Answer::json);
        let fleeting = self.call.fleeting();
        let mut next = Some(self.first(&scope)?);
        let (mut done, mut seen): (Vec<(Slots, Answer)>, usize) = (Vec::new(), 0);
        let mut first = 0;
        let (asked, mut known) = (index(&fleeting), HashSet::new());
        while let Some(slots) = next.take() {
            let is_known = !known.insert(slots.iter().cloned().collect::<BTreeMap<_, _>>());
            if is_known || done.len() >= limits::SHORTCUT_TURNS_MAX {
                break;
            }
            match asked.get(&call::identity(&slots, &fleeting)).map(|text| Answer::of(text)) {
                Some(answer) => {
                    let reading = self.read(&slots, &answer, &scope, seen)?;
                    seen += reading.records;
                    first = if done.is_empty() { reading.records } else { first };
                    next = reading.follows().map(|(slots, _)| slots);
                    done.push((slots, answer));
                }
                None if done.is_empty() => return Err(Difference::NotAsked(told(&slots))),
                // The render stopped here.
                None => break,
            }
        }
        Ok(Replay { before, done, first })
    }

    /// Whether a render shows exactly what this endpoint gives: the same requests, and the same links from their
    /// responses.
    ///
    /// # Errors
    /// The first difference.
    pub fn explains(&self, observation: &Observation, normal: Normal<'_>) -> Result<(), Difference> {
        if !self.covers(&observation.page) {
            return Err(Difference::Elsewhere);
        }
        let Replay { before, done, first } = self.replay(observation)?;
        let mut scope = Scope::of(&observation.page, &observation.html, &observation.cookies, observation.now_ms);
        scope.before = before.as_ref().and_then(Answer::json);
        let mut given: HashMap<String, String> = HashMap::new();
        let mut give = |text: String| {
            if let Some(key) = normal(&observation.page, &text) {
                given.insert(key, text);
            }
        };
        let mut seen = 0;
        for (slots, answer) in &done {
            let reading = self.read(slots, answer, &scope, seen)?;
            seen += reading.records;
            reading.links.into_iter().for_each(&mut give);
        }
        self.constants.iter().cloned().for_each(&mut give);
        let shown = observation.keys();
        let shell: HashSet<&str> = observation.shell.iter().map(|link| link.key.as_str()).collect();
        let last = self
            .pages
            .as_ref()
            .zip(done.first())
            .map(|(pager, (_, answer))| (pager, pager.last(answer, first, &observation.page)));
        let is_page = |key: &str| last.is_some_and(|(pager, last)| pager.is_one_of(key, &observation.page, last));
        // Responses that were not stored may contain the rest of its links, if they are from this endpoint.
        let kind = |(slots, _): &(Slots, Answer)| learn::kind(slots, &learn::parts(&observation.page));
        let own = done.last().filter(|_| !observation.unread.is_empty()).map(kind);
        let own = own.filter(|own| observation.unread.keys().all(|kind| kind == own));
        let mut unread = own.map(|_| Unread::new(self, &done, &scope, normal));
        for key in shown.keys() {
            let is_given = given.contains_key(*key)
                || (self.with_page && shell.contains(key))
                || is_page(key)
                || (!shell.contains(key)
                    && !pages::is_another(&observation.page, key)
                    && unread.as_mut().is_some_and(|unread| unread.explains(key, observation)));
            if !is_given {
                let number = last.and_then(|(pager, _)| pager.number_of(key, &observation.page));
                let is_behind = number.zip(last).is_some_and(|(number, (_, last))| number > last);
                let key = (*key).to_owned();
                return Err(if is_behind { Difference::EndsEarly(key) } else { Difference::Lacks(key) });
            }
        }
        // Whether another page follows a full one is a guess that costs a request, but no page.
        if let Some((pager, last)) = last.filter(|(pager, _)| !matches!(pager.last, Last::Full(_)))
            && let Some(next) = pager.next_page(&observation.page, last)
            && let Some(key) = normal(&observation.page, &next)
            && !shown.contains_key(key.as_str())
            && !shown.keys().any(|key| {
                pager.number_of(key, &observation.page).is_some_and(|number| number > pager.own(&observation.page))
            })
        {
            return Err(Difference::Invents(next));
        }
        match given.keys().find(|key| !shown.contains_key(key.as_str())) {
            Some(key) => Err(Difference::Invents(key.clone())),
            None => Ok(()),
        }
    }
}

/// Expected value that means the number of records.
pub const RECORDS: &str = "records";

/// Expected value for a missing place in a response.
pub const ABSENT: &str = "absent";

/// The values of a switch.
pub const SWITCHED: [&str; 4] = ["true", "false", "null", ABSENT];

/// The value at a place of a response, as JSON.
fn value_at(answer: &Answer, place: &str) -> String {
    let value = answer.json().and_then(|json| JsonPath::parse(place).ok()?.get(json).map(Json::to_string));
    value.unwrap_or_else(|| ABSENT.to_owned())
}

/// The requests an endpoint would have made in a render, with the responses that the render got.
struct Replay {
    before: Option<Answer>,
    done: Vec<(Slots, Answer)>,
    /// Number of records in the first response.
    first: usize,
}

/// The records at a place; empty if its list is empty.
fn chains<'a>(json: &'a Json, items: &JsonPath) -> Result<Vec<Vec<Element<'a>>>, Difference> {
    let (outer, all) = match items.0.iter().position(super::place::Step::is_all) {
        Some(at) => (items.0.get(..at).unwrap_or_default(), items.0.get(at)),
        None => (items.0.as_slice(), None),
    };
    let list = JsonPath(outer.to_vec());
    let is_there = list.get(json).is_some_and(|value| match all {
        Some(step) => step.elements(value).is_some(),
        None => !value.is_null(),
    });
    if !is_there {
        return Err(Difference::NoList(list.to_string()));
    }
    Ok(items.chains(json, limits::LINKS_PER_PAGE_MAX))
}

/// The markup at a place of a response.
fn markup(answer: &Answer, place: Option<&JsonPath>) -> Result<Vec<String>, Difference> {
    match (answer, place) {
        (Answer::Html(text), None) => Ok(vec![text.clone()]),
        (Answer::Json(json), Some(place)) => {
            let all = chains(json, place)?;
            Ok(all.iter().filter_map(|chain| scalar(chain.last()?.value)).map(std::borrow::Cow::into_owned).collect())
        }
        _ => Err(Difference::NoData),
    }
}

/// The value that a request lacks.
fn missing(call: &Call, scope: &Scope<'_>) -> Difference {
    let mut sources = call.0.iter().flat_map(|(_, template)| template.sources());
    let lacking = sources.find(|source| source.read(scope).is_none());
    Difference::Missing(lacking.map_or_else(|| "a number".to_owned(), ToString::to_string))
}
