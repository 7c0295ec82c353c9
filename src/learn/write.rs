//! The rule file, as text that a person can read: each rule with what speaks for it, examples, and what is asked of a person.

use std::fmt::Write as _;

use crate::Options;
use crate::choose::{Choice, List, Promise};
use crate::draft::{Draft, DraftRule};
use crate::estimate::{Estimate, estimate};
use crate::expression::is_secret;
use crate::family::{Agreement, agreeing};
use crate::guard::Refused;
use crate::learner::{Ask, Learner};
use crate::limits::EXAMPLES_MAX;
use crate::map::{Map, UrlId};
use crate::nothing::Nothing;
use crate::parts::Parts;
use gleaner_base::console::escaped;
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_rules::starter::{site_name, toml_string};
use gleaner_rules::{Class, SiteRules, Verdict, from_text, gives_torrent};

/// What was seen of a rule's URLs.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub class: Class,
    pub pattern: String,
    pub urls: usize,
    pub read: usize,
    /// Pages that showed what the class promises.
    pub good: usize,
    pub promise: Promise,
    pub example: Option<String>,
}

/// A family of lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSeen {
    /// Its form: `/viewforum.php?f={n}`.
    pub form: String,
    /// Lists of this form, such as forums.
    pub series: usize,
    /// Pages of all of them, as far as their pagers say.
    pub pages: u64,
    /// Pages that were read, the most rows of one, and different rows of all.
    pub read: usize,
    pub per_page: usize,
    pub rows: usize,
    pub torrents: usize,
}

impl ListSeen {
    fn of(list: &List) -> Self {
        Self {
            form: list.family.0.clone(),
            series: list.series.len(),
            pages: list.series.values().map(|pages| (*pages).max(1)).sum(),
            read: list.pages.len(),
            per_page: list.per_page,
            rows: list.rows.len(),
            torrents: list.torrents.len(),
        }
    }
}

/// A learned rule file.
#[derive(Clone, Debug)]
pub struct Learned {
    /// `example.org`, for the file `example.org.toml`.
    pub name: String,
    pub text: String,
    pub rules: Vec<Evidence>,
    pub family: Option<Agreement>,
    pub estimate: Estimate,
    /// Why details need not be fetched, if so.
    pub lean: Option<String>,
    pub dropped: Vec<String>,
    /// Lists, in the order in which they were taken.
    pub lists: Vec<ListSeen>,
    pub notes: Vec<String>,
    pub questions: Vec<String>,
}

/// Writes the file, and checks it: with its family if one fits, else with all classes.
///
/// # Errors
/// [`Nothing::NoTorrent`] if no rule is left.
pub(crate) fn learned<A: Ask>(
    run: &Learner<'_, A>,
    choice: &Choice,
    draft: &Draft,
    start: &CrawlUrl,
    options: &Options,
) -> Result<Learned, Nothing> {
    let map = &run.map;
    let family = if !options.families || options.lean && choice.lean.is_some() { None } else { agreeing(map, choice) };
    let evidence = evidence(map, choice, draft);
    let mut writer = Writer { run, choice, draft, start, options, evidence: &evidence, family: family.as_ref() };
    let name = site_name(start.authority());
    let text = match writer.checked(&name) {
        Some(text) => text,
        None => {
            writer.family = None;
            writer.checked(&name).ok_or(Nothing::NoTorrent)?
        }
    };
    let family = writer.family.cloned();
    let mut notes = choice.notes.clone();
    notes.extend(draft.left_out.iter().cloned());
    Ok(Learned {
        name,
        text,
        rules: evidence,
        family,
        estimate: estimate(map, choice),
        lean: choice.lean.clone(),
        dropped: choice.dropped.clone(),
        lists: choice.lists.iter().map(ListSeen::of).collect(),
        notes,
        questions: questions(run, choice),
    })
}

fn evidence(map: &Map, choice: &Choice, draft: &Draft) -> Vec<Evidence> {
    let of_rule = |rule: &DraftRule| {
        let pages = || rule.shapes.iter().flat_map(|shape| map.pages_of(*shape));
        let is_good = |(id, page): &(UrlId, &crate::map::Page)| match rule.class {
            Class::Download => page.is_torrent(),
            Class::Detail => page.is_page() && !choice.things.torrents(map, *id, page).is_empty(),
            _ => {
                page.is_page()
                    && !(choice.things.rows(map, *id, page).is_empty()
                        && choice.things.torrents(map, *id, page).is_empty())
            }
        };
        let promises = rule.shapes.iter().filter_map(|shape| choice.promises.get(shape));
        let promise = promises
            .fold(Promise::default(), |sum, of| Promise { kept: sum.kept + of.kept, trials: sum.trials + of.trials });
        let urls = || rule.shapes.iter().flat_map(|shape| map.urls_of(*shape)).copied();
        let may_show = |id: &UrlId| map.url(*id).refused.is_none() && !has_secret(map.path(*id));
        let example = urls().filter(|id| map.page(*id).is_some()).chain(urls()).find(may_show);
        Evidence {
            class: rule.class,
            pattern: rule.pattern.clone(),
            urls: urls().count(),
            read: pages().count(),
            good: pages().filter(is_good).count(),
            promise,
            example: example.map(|id| map.path(id).to_owned()),
        }
    };
    draft.rules.iter().map(of_rule).collect()
}

/// A key of the account or a token of the session stands in it.
fn has_secret(path: &str) -> bool {
    let url = format!("https://example.org{path}");
    *without_keys(&url) != url || Parts::of(path).pairs.iter().any(|(key, _)| is_secret(key))
}

/// What a person should know or decide.
fn questions<A: Ask>(run: &Learner<'_, A>, choice: &Choice) -> Vec<String> {
    let map = &run.map;
    let mut questions = choice.questions.clone();
    let closed: Vec<&str> = map
        .urls()
        .filter(|(_, url)| url.refused == Some(Refused::Robots) && gives_torrent(&url.path))
        .map(|(_, url)| &*url.path)
        .collect();
    if let [first, ..] = closed[..] {
        questions.push(format!(
            "robots.txt closes {} links that look like downloads, such as {}",
            closed.len(),
            shown(first)
        ));
    }
    if let Some((host, count)) = map.elsewhere.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count >= 3)
    {
        questions.push(format!("{count} links to torrents lead to {host}: add it to `hosts` to follow them"));
    }
    if choice.has_magnets_only {
        questions.push("only magnets were found: gleaner lists them, and archives nothing".to_owned());
    }
    if choice.unreached > 0 {
        questions.push(format!("{} URLs of lists were seen that no rule leads to", choice.unreached));
    }
    questions
}

/// A path for people: on one line, without keys.
fn shown(path: &str) -> String {
    let url = format!("https://example.org{path}");
    let masked = without_keys(&url).into_owned();
    let mut path = masked.strip_prefix("https://example.org").unwrap_or(&masked).to_owned();
    for (key, value) in &Parts::of(&path.clone()).pairs {
        if !value.is_empty() && is_secret(key) {
            path = path.replace(&format!("{key}={value}"), &format!("{key}=…"));
        }
    }
    comment(&path)
}

/// A text for a comment: on one line.
fn comment(text: &str) -> String {
    escaped(text).replace(['\n', '\r', '\t'], " ")
}

struct Writer<'w, 'a, A> {
    run: &'w Learner<'a, A>,
    choice: &'w Choice,
    draft: &'w Draft,
    start: &'w CrawlUrl,
    options: &'w Options,
    evidence: &'w [Evidence],
    family: Option<&'w Agreement>,
}

impl<A: Ask> Writer<'_, '_, A> {
    /// The whole file, if it passes the check with its own examples.
    fn checked(&self, name: &str) -> Option<String> {
        let text = self.front();
        let rules = from_text(name, &text).ok()?;
        let whole = format!("{text}{}{}", self.examples(&rules), self.back());
        from_text(name, &whole).ok().map(|_| whole)
    }

    fn front(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.keys(&mut out);
        self.classes(&mut out);
        self.tables(&mut out);
        out
    }

    fn head(&self, out: &mut String) {
        let map = &self.run.map;
        let torrents = map.pages().filter(|(_, page)| page.is_torrent()).count();
        let size = match estimate(map, self.choice) {
            Estimate::About(count) => format!("about {count} torrents"),
            Estimate::AtLeast(count) => format!("at least {count} torrents"),
        };
        let host = self.start.authority();
        let _ = writeln!(out, "# Rules of {host}, learned by `gleaner rules learn` with {} requests.", self.run.used);
        let _ = writeln!(
            out,
            "# Seen: {} pages, {torrents} torrents on trial, {} links of {} shapes. The site has {size}, by its lists.",
            map.pages_read(),
            map.urls().count(),
            map.shapes().count()
        );
        let _ = writeln!(
            out,
            "# Read it, change it, run `gleaner rules check`. docs/reference/rules.md describes every key."
        );
        for note in &self.choice.notes {
            let _ = writeln!(out, "# - {}", comment(note));
        }
        out.push('\n');
    }

    fn keys(&self, out: &mut String) {
        let _ = writeln!(out, "start = [{}]", toml_string(self.start.as_str()));
        if self.run.map.names_twin {
            let host = self.start.authority();
            let plain = host.strip_prefix("www.").unwrap_or(host);
            let _ = writeln!(out, "# Links name the site by both.\nhosts = ['{plain}', 'www.{plain}']");
        }
        if let Some(family) = self.family {
            let shares: Vec<String> =
                family.shares.iter().map(|(class, share)| format!("{} {:.0} %", class.name(), share * 100.0)).collect();
            let _ = writeln!(out, "# Its rules take what was learned: {}.", shares.join(", "));
            for class in &family.lacks {
                let _ = writeln!(
                    out,
                    "# Its {} rules do not fit this site: those below were learned. Please report it.",
                    class.name()
                );
            }
            let _ = writeln!(out, "extends = '{}'", family.name);
        }
        if self.run.below.is_some() {
            out.push_str("below_start = true\n");
        }
        out.push_str("# What acts in an account's name is refused on this site, although nobody has read these rules yet. Remove the line once you have.\nlearned = true\n");
        if !self.draft.deny.is_empty() {
            out.push_str("\n# Never fetched; these come before the classes.\ndeny = [\n");
            for deny in &self.draft.deny {
                let _ = writeln!(out, "    {},", toml_string(deny));
            }
            out.push_str("]\n");
        }
    }

    /// True for a rule that the file must hold itself.
    fn is_needed(&self, rule: &Evidence) -> bool {
        match self.family {
            None => true,
            Some(family) => family.lacks.contains(&rule.class) || rule.class == Class::Page && self.takes_start(rule),
        }
    }

    fn takes_start(&self, rule: &Evidence) -> bool {
        regex::Regex::new(&rule.pattern).is_ok_and(|regex| regex.is_match(self.start.path()))
    }

    fn classes(&self, out: &mut String) {
        let needed: Vec<&Evidence> = self.evidence.iter().filter(|rule| self.is_needed(rule)).collect();
        if needed.is_empty() {
            return;
        }
        out.push_str("\n[classes]\n");
        let mut classes: Vec<Class> = Vec::new();
        for rule in &needed {
            if !classes.contains(&rule.class) {
                classes.push(rule.class);
            }
        }
        for class in classes {
            let is_left_out = class == Class::Detail && self.options.lean && self.choice.lean.is_some();
            if let Some(lean) = self.choice.lean.as_ref().filter(|_| class == Class::Detail) {
                let _ = writeln!(out, "# Not needed: {lean}.");
            }
            let mark = if is_left_out { "# " } else { "" };
            let _ = writeln!(out, "{mark}{} = [", class.name());
            for rule in needed.iter().filter(|rule| rule.class == class) {
                let _ = writeln!(out, "    # {}", told(rule));
                let _ = writeln!(out, "{mark}    {},", toml_string(&rule.pattern));
            }
            let _ = writeln!(out, "{mark}]");
        }
    }

    fn tables(&self, out: &mut String) {
        if !self.choice.dropped.is_empty() || self.sorts() || self.has_spellings() {
            out.push_str("\n[parameters]\n");
        }
        if !self.choice.dropped.is_empty() {
            let mut dropped = self.choice.dropped.clone();
            dropped.sort();
            let names: Vec<String> = dropped.iter().map(|name| toml_string(name)).collect();
            let _ = writeln!(out, "# Pages were the same without them.\ndrop = [{}]", names.join(", "));
        }
        if self.sorts() {
            out.push_str("# Links have them in different orders.\nsort = true\n");
        }
        if self.has_spellings() {
            out.push_str("# Links write `%20` and `+`, or `[` and `%5B`, for the same.\nform_values = true\n");
        }
        if let Some(reason) = &self.options.robots_reason {
            let _ = writeln!(out, "\n[robots]\nobey = false\nreason = {}", toml_string(&comment(reason)));
        }
        if self.options.rate != 1.0 {
            let _ = writeln!(out, "\n[rate]\nrequests_per_second = {:?}", self.options.rate);
        }
        if let Some(user) = &self.options.user {
            let _ = writeln!(out, "\n[login]\nuser = {}", toml_string(&comment(user)));
            if let Some(places) = self.options.login.as_ref().filter(|_| self.family.is_none()) {
                let _ = writeln!(out, "page = {}", toml_string(&places.page));
                if let Some(probe) = &places.probe {
                    let _ = writeln!(out, "probe = {}", toml_string(probe));
                }
            }
        }
    }

    /// A family's own rules know their order.
    fn sorts(&self) -> bool {
        self.draft.sorts && self.family.is_none()
    }

    fn has_spellings(&self) -> bool {
        self.draft.has_spellings && self.family.is_none()
    }

    /// URLs of each class, and URLs that were never asked for.
    fn examples(&self, rules: &SiteRules) -> String {
        let map = &self.run.map;
        let url = |path: &str| CrawlUrl::parse(map.home.url(path).as_str(), &rules.canonical).ok();
        let mut out = "\n# URLs of the site: `gleaner rules check` says whether the rules above still judge them so.\n[examples]\naccept = [\n".to_owned();
        let mut shown_urls: Vec<String> = Vec::new();
        for path in self.evidence.iter().filter_map(|rule| rule.example.as_deref()) {
            let Some(url) = url(path) else { continue };
            if let Verdict::Take { class, .. } = rules.judge(&url)
                && !shown_urls.iter().any(|known| known == url.as_str())
                && shown_urls.len() < EXAMPLES_MAX
            {
                let _ = writeln!(out, "    {{ url = {}, class = \"{}\" }},", toml_string(url.as_str()), class.name());
                shown_urls.push(url.as_str().to_owned());
            }
        }
        out.push_str("]\n");
        let mut refused = String::new();
        let mut shapes: Vec<usize> = Vec::new();
        for (id, seen) in map.urls() {
            let Some(why) = seen.refused.filter(|why| !matches!(why, Refused::Payload | Refused::Robots)) else {
                continue;
            };
            let shape = map.shape_of(id);
            if shapes.len() >= EXAMPLES_MAX / 2
                || shapes.contains(&shape)
                || has_secret(&seen.path)
                || map.has_token(&seen.path)
            {
                continue;
            }
            if let Some(url) = url(&seen.path)
                && matches!(rules.judge(&url), Verdict::Refuse { .. })
            {
                shapes.push(shape);
                let _ = writeln!(refused, "    {}, # never asked for: {}", toml_string(url.as_str()), why.sentence());
            }
        }
        if !refused.is_empty() {
            let _ = write!(out, "refuse = [\n{refused}]\n");
        }
        out
    }

    fn back(&self) -> String {
        let questions = questions(self.run, self.choice);
        if questions.is_empty() {
            return String::new();
        }
        let mut out = "\n# For you to decide:\n".to_owned();
        for question in questions {
            let _ = writeln!(out, "# - {}", comment(&question));
        }
        out
    }
}

/// What speaks for a rule, in a line.
fn told(rule: &Evidence) -> String {
    let what = match rule.class {
        Class::Download => "gave torrents",
        Class::Detail => "had torrents of their own",
        Class::Index => "listed torrents",
        _ => "lead to lists",
    };
    let mut out = match rule.class {
        Class::Page => format!("{} URLs seen, {} read; {what}", rule.urls, rule.read),
        _ => format!("{} URLs seen, {} read; {} {what}", rule.urls, rule.read, rule.good),
    };
    if rule.promise.trials > 0 {
        let _ = write!(out, "; {} of {} fresh ones did", rule.promise.kept, rule.promise.trials);
    }
    if let Some(example) = &rule.example {
        let _ = write!(out, "; such as {}", shown(example));
    }
    out
}
