//! The report on a rendered page: one JSON object, or the selected view.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use serde::Serialize;

use super::site;
use gleaner_render::wire::trace::{Event, What};
use gleaner_render::wire::{Asker, ConsoleLine, End, Navigation, Outcome, RequestId, ScriptError, Spent};
use gleaner_torrent::magnet;

/// Refused requests and errors listed in a summary.
const SHOWN: usize = 10;

/// The view of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Summary,
    Links,
    Html,
    Requests,
    Trace,
    Text,
}

/// The result of a page.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Its URL, after redirects.
    pub url: String,
    /// The site whose rule file covers it; None if default rules were made for it.
    pub site: Option<String>,
    /// None for a file.
    pub status: Option<u16>,
    /// Size of the page's own markup.
    pub bytes: usize,
    /// Why its event loop ended.
    end: Option<End>,
    /// Why its scripts were stopped, if they were.
    spent: Option<Spent>,
    instructions: usize,
    /// CPU time of the child.
    cpu_ms: f64,
    states: Vec<StateReport>,
    /// All links of all states, navigation targets and magnets, sorted.
    links: BTreeSet<String>,
    navigations: Vec<Navigation>,
    /// Why exploring stopped before everything was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    /// What its lists hold back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unshown: Vec<String>,
    /// Scrolling may show more of them.
    #[serde(skip)]
    scrolls_on: bool,
    /// Acts that matched nothing on the page.
    pub undone: Vec<String>,
    requests: Vec<ScriptRequest>,
    errors: Vec<ScriptError>,
    /// Interfaces of browsers that its scripts asked for and that gleaner does not have.
    missing: Vec<String>,
    console: Vec<ConsoleLine>,
    /// Console lines, errors and events beyond their caps.
    untold: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<Event>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The page after its load, or after an act.
#[derive(Debug, Serialize)]
struct StateReport {
    by: String,
    /// Links in the document at that time.
    count: usize,
    /// Their URLs, deduplicated and sorted; for a state found by exploring only the new ones.
    links: BTreeSet<String>,
}

/// A request of the page's scripts.
#[derive(Debug, Serialize)]
struct ScriptRequest {
    at_us: u64,
    method: String,
    url: String,
    asker: Asker,
    /// The script and the position that sent it; empty for markup.
    by: String,
    status: Option<u16>,
    bytes: Option<usize>,
    /// Why it was not sent, or got no response.
    refused: Option<String>,
}

impl Report {
    pub(super) fn new(url: &str, outcome: Outcome, view: View) -> Self {
        let earlier =
            outcome.states.iter().flat_map(|state| state.found.clone()).filter(|link| magnet::parse(link).is_ok());
        let magnets: Vec<String> = earlier.chain(magnets_in(&outcome.html)).collect();
        let states: Vec<StateReport> = outcome
            .states
            .into_iter()
            .map(|state| StateReport {
                by: state.by,
                count: state.count,
                links: state.links.into_iter().map(|link| link.url).collect(),
            })
            .collect();
        let gone = outcome.navigations.iter().map(|one| one.url.clone());
        let links = states.iter().flat_map(|state| state.links.iter().cloned()).chain(gone).chain(magnets).collect();
        Self {
            url: url.to_owned(),
            site: None,
            status: None,
            bytes: 0,
            end: outcome.end,
            spent: outcome.spent,
            instructions: outcome.instructions,
            cpu_ms: outcome.cpu_us as f64 / 1_000.0,
            states,
            links,
            navigations: outcome.navigations,
            cut: outcome.cut.map(|cut| format!("{} ({} acts)", cut.words(), cut.acts)),
            unshown: outcome.unshown.words(),
            scrolls_on: outcome.unshown.below > 0 || outcome.unshown.rows.is_some(),
            undone: outcome.undone.iter().map(ToString::to_string).collect(),
            requests: requests(&outcome.trace),
            errors: outcome.errors,
            missing: outcome.missing,
            console: outcome.console,
            untold: outcome.untold + outcome.trace_untold,
            trace: (view == View::Trace).then_some(outcome.trace),
            html: (view == View::Html).then_some(outcome.html),
            text: (view == View::Text).then_some(outcome.text),
        }
    }

    /// Prints the report.
    pub(super) fn show(&mut self, view: View, json: bool) -> anyhow::Result<()> {
        let is_made_up = self.site.is_none();
        for refused in self.requests.iter_mut().filter_map(|asked| asked.refused.as_mut()) {
            *refused = site::told(refused, is_made_up);
        }
        if json {
            outln!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        match view {
            View::Summary => out!("{}", self.summary()),
            View::Links => out!("{}", self.links()),
            // A file gets the page as it is.
            View::Html if !io::stdout().is_terminal() => {
                io::Write::write_all(&mut io::stdout(), self.html.as_deref().unwrap_or_default().as_bytes())?;
                io::Write::flush(&mut io::stdout())?;
            }
            View::Html => outln!("{}", self.html.as_deref().unwrap_or_default()),
            View::Requests => out!("{}", self.requests.iter().map(line_of).collect::<String>()),
            View::Trace => out!("{}", self.trace.iter().flatten().map(told).collect::<String>()),
            View::Text => out!("{}", self.text.as_deref().unwrap_or_default()),
        }
        if view != View::Summary && view != View::Trace {
            errln!("{}", self.troubles().trim_end());
        }
        Ok(())
    }

    /// Links, one per line; grouped by act if there is more than one state.
    fn links(&self) -> String {
        let mut text = String::new();
        if let [_] = self.states.as_slice() {
            self.links.iter().for_each(|link| text.extend([link, "\n"]));
            return text;
        }
        let mut seen = BTreeSet::new();
        for StateReport { by, links, .. } in &self.states {
            let _ = writeln!(text, "# {by}");
            links.iter().for_each(|link| text.extend([link, "\n"]));
            seen.extend(links);
        }
        let others: Vec<&String> = self.links.iter().filter(|link| !seen.contains(link)).collect();
        if !others.is_empty() {
            text.push_str("# navigations and magnets\n");
            others.iter().for_each(|link| text.extend([link.as_str(), "\n"]));
        }
        text
    }

    fn summary(&self) -> String {
        let status = self.status.map(|status| format!("{status}, ")).unwrap_or_default();
        let site = self.site.as_ref().map(|site| format!(", site {site}")).unwrap_or_default();
        let mut text = format!("{} ({status}{} bytes{site})\n", self.url, self.bytes);
        let end = match (self.spent, self.end) {
            (Some(spent), _) => format!("stopped: {spent}"),
            (None, Some(End::Time)) => "some timers run longer than gleaner waits".to_owned(),
            (None, Some(End::Tasks)) => "it has more tasks than gleaner runs".to_owned(),
            (None, _) => "settled".to_owned(),
        };
        let millions = self.instructions as f64 / 1e6;
        let _ = writeln!(text, "{end}; {millions:.1} million instructions, {:.0} ms of CPU", self.cpu_ms);
        for StateReport { by, count, links } in &self.states {
            let _ = writeln!(text, "{by}: {count} links, {} distinct URLs", links.len());
        }
        for Navigation { url, method, how, .. } in self.navigations.iter().take(SHOWN) {
            let _ = writeln!(text, "would navigate to {url} ({method}, {})", how.name());
        }
        let more = self.navigations.len().saturating_sub(SHOWN);
        if more > 0 {
            let _ = writeln!(text, "… and {more} more navigations: --links lists all");
        }
        let sent = self.requests.iter().filter(|asked| asked.refused.is_none()).count();
        let _ = writeln!(text, "requests of scripts: {}, answered: {sent}", self.requests.len());
        text + &self.troubles()
    }

    /// Errors and refused requests.
    fn troubles(&self) -> String {
        let mut text = String::new();
        let refused: Vec<&ScriptRequest> = self.requests.iter().filter(|asked| asked.refused.is_some()).collect();
        for asked in refused.iter().take(SHOWN) {
            let why = asked.refused.as_deref().unwrap_or_default();
            let _ = writeln!(text, "refused: {} {}: {why}", asked.method, asked.url);
        }
        let failed = |asked: &&ScriptRequest| asked.status.is_some_and(|status| status >= 400);
        for asked in self.requests.iter().filter(failed).take(SHOWN) {
            let _ = writeln!(text, "answered with {}: {} {}", asked.status.unwrap_or(0), asked.method, asked.url);
        }
        for error in self.errors.iter().take(SHOWN) {
            let _ = writeln!(text, "script error: {}{}", error.message, place(error));
        }
        if !self.missing.is_empty() {
            let _ = writeln!(text, "missing, and asked for by its scripts: {}", self.missing.join(", "));
        }
        if let Some(cut) = &self.cut {
            let _ = writeln!(text, "incomplete: {cut}");
        }
        for words in &self.unshown {
            let _ = writeln!(text, "incomplete: {words}");
        }
        if self.scrolls_on {
            text.push_str("hint: --explore scrolls lists to their end\n");
        }
        let more = refused.len().saturating_sub(SHOWN) + self.errors.len().saturating_sub(SHOWN);
        if more > 0 {
            let _ = writeln!(text, "… and {more} more refusals and errors: --json lists all");
        }
        let hosts: BTreeSet<&str> = refused
            .iter()
            .filter_map(|asked| asked.refused.as_deref()?.split_once(" is no").map(|(host, _)| host))
            .filter(|host| !host.contains(' '))
            .collect();
        if !hosts.is_empty() {
            let hosts: Vec<&str> = hosts.into_iter().collect();
            let _ = match &self.site {
                Some(site) => writeln!(
                    text,
                    "hint: add to `hosts` of the rule file of {site} what belongs to it: {}",
                    hosts.join(", ")
                ),
                None => writeln!(text, "hint: allow the page to request them: --host {}", hosts.join(" --host ")),
            };
        }
        text
    }
}

fn place(error: &ScriptError) -> String {
    match (error.source.as_str(), error.line) {
        // The engine names the source of an `eval` after the place of the call.
        (source, line) if source.starts_with("eval at ") => {
            format!("\n    at {source}, <anonymous>:{line}:{}", error.column)
        }
        ("", 0) => String::new(),
        ("", line) => format!("\n    at line {line}:{}", error.column),
        (source, 0) => format!("\n    in {source}"),
        (source, line) => format!("\n    at {source}:{line}:{}", error.column),
    }
}

/// Each request with its result.
fn requests(events: &[Event]) -> Vec<ScriptRequest> {
    let mut asked: Vec<ScriptRequest> = Vec::new();
    let mut places: BTreeMap<RequestId, usize> = BTreeMap::new();
    for Event { at_us, what } in events {
        match what {
            What::Request { id, asker, method, url, by } => {
                places.insert(*id, asked.len());
                asked.push(ScriptRequest {
                    at_us: *at_us,
                    method: method.clone(),
                    url: url.clone(),
                    asker: *asker,
                    by: by.clone(),
                    status: None,
                    bytes: None,
                    refused: None,
                });
            }
            What::Answer { id, status, bytes } => {
                if let Some(asked) = places.get(id).and_then(|place| asked.get_mut(*place)) {
                    (asked.status, asked.bytes) = (Some(*status), Some(*bytes));
                }
            }
            What::Refused { id, why } => {
                if let Some(asked) = places.get(id).and_then(|place| asked.get_mut(*place)) {
                    asked.refused = Some(why.clone());
                }
            }
            _ => {}
        }
    }
    asked
}

fn line_of(asked: &ScriptRequest) -> String {
    let status = asked.status.map_or("-".to_owned(), |status| status.to_string());
    let bytes = asked.bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let asker = word(asked.asker);
    let by = if asked.by.is_empty() { String::new() } else { format!(", by {}", asked.by) };
    let why = asked.refused.as_ref().map(|why| format!(" (refused: {why})")).unwrap_or_default();
    format!("{} {status} {bytes} {} [{asker}{by}]{why}\n", asked.method, asked.url)
}

fn word(asker: Asker) -> &'static str {
    match asker {
        Asker::Fetch => "fetch",
        Asker::Xhr => "XMLHttpRequest",
        Asker::Script => "script",
        Asker::Module => "module",
        Asker::Image => "image",
        Asker::Style => "style sheet",
        Asker::Events => "EventSource",
    }
}

/// An event as a line: milliseconds of page time, kind, details.
fn told(event: &Event) -> String {
    let (what, rest) = match &event.what {
        What::Script { source, bytes } => ("script", format!("{source}, {bytes} bytes")),
        What::Timer { after_ms, again } => ("timer", format!("{after_ms} ms{}", if *again { ", again" } else { "" })),
        What::Frame { callbacks } => ("frame", format!("{callbacks} callbacks")),
        What::Request { id, asker, method, url, by } => {
            let by = if by.is_empty() { String::new() } else { format!(", by {by}") };
            ("request", format!("#{id} {method} {url} [{}{by}]", word(*asker)))
        }
        What::Answer { id, status, bytes } => ("answer", format!("#{id} {status}, {bytes} bytes")),
        What::Refused { id, why } => ("refused", format!("#{id} {why}")),
        What::Error(error) => ("error", format!("{}{}", error.message, place(error))),
        What::Stage { stage } => ("page", stage.clone()),
        What::Navigation { how, method, url } => ("navigation", format!("{method} {url} ({how})")),
        What::Act { act } => ("act", act.clone()),
    };
    format!("{:>12.3} ms  {what:<10} {rest}\n", event.at_us as f64 / 1_000.0)
}

/// Magnets anywhere in the markup, as written but with entities decoded.
fn magnets_in(html: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\');
    html.match_indices("magnet:?").filter_map(move |(at, _)| {
        let rest = html.get(at..)?;
        let text = rest.split(ends).next()?.replace("&amp;", "&");
        magnet::parse(&text).is_ok().then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_with_what_became_of_them() {
        let event = |what| Event { at_us: 1_500, what };
        let request = |id| What::Request {
            id,
            asker: Asker::Fetch,
            method: "GET".to_owned(),
            url: format!("https://example.org/{id}"),
            by: "a.js:1:2".to_owned(),
        };
        let events = [
            event(request(1)),
            event(request(2)),
            event(What::Refused { id: 2, why: "no".to_owned() }),
            event(What::Answer { id: 1, status: 200, bytes: 7 }),
            event(What::Answer { id: 9, status: 200, bytes: 7 }),
        ];
        let lines: Vec<String> = requests(&events).iter().map(line_of).collect();
        let wanted = [
            "GET 200 7 https://example.org/1 [fetch, by a.js:1:2]\n",
            "GET - - https://example.org/2 [fetch, by a.js:1:2] (refused: no)\n",
        ];
        assert_eq!(lines, wanted);
        assert_eq!(told(&events[3]), "       1.500 ms  answer     #1 200, 7 bytes\n");
    }

    #[test]
    fn magnets_are_found_wherever_they_stand() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let html = format!("<b data-x='magnet:?xt=urn:btih:{hash}&amp;dn=a'>magnet:?nothing</b>");
        assert_eq!(magnets_in(&html).collect::<Vec<_>>(), [format!("magnet:?xt=urn:btih:{hash}&dn=a")]);
    }
}
