//! What a crawl of a site got less than it should, and why: one finding for each cause, with its count, an example or the rule concerned,
//! and what to do. Pure but for [`of_site`], which reads the database.

use serde::Serialize;

use super::hints::Hints;
use crate::app::status;
use crate::limits;
use gleaner_base::url::without_keys;
use gleaner_crawl::not_whole::CLOSED_PAGER;
use gleaner_crawl::refusal::EMPTY;
use gleaner_crawl::scripts::rendered::Rendered;
use gleaner_crawl::tally::{Cause, Start, TALLY_NOTE, Tally};
use gleaner_rules::{Class, Robots, SiteRules};
use gleaner_store::crawldb::{CrawlDbError, NotWholeRow, Outcome, Reader};

/// One cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub text: String,
    pub hint: Option<String>,
    /// The crawl has failed: its exit code is 1.
    pub is_failure: bool,
}

/// What is known of a site.
pub struct Known {
    pub tally: Tally,
    /// Torrents with a source on the site, by file or by magnet link.
    pub torrents: u64,
    /// Pages that were not read, or not whole.
    pub not_whole: Vec<NotWholeRow>,
    /// True if pages showed nothing after their scripts.
    pub has_blank: bool,
    /// Rules that keep their promise no more.
    pub broken: Vec<status::BrokenPromise>,
    /// Links without a class, most frequent first: shape, count, example.
    pub unclassed: Vec<status::UnclassedShape>,
}

impl Known {
    /// # Errors
    /// Errors of the database.
    pub async fn of_site(db: &dyn Reader, rules: &SiteRules) -> Result<Self, CrawlDbError> {
        let counts = db.site_counts(&rules.name).await?;
        let note = db.note(&rules.name, TALLY_NOTE).await?;
        Ok(Self {
            tally: note.map(|note| Tally::from_bytes(&note)).unwrap_or_default(),
            torrents: counts.torrents_seen + counts.magnets,
            not_whole: if counts.pages_not_whole > 0 { db.not_whole(&rules.name).await? } else { Vec::new() },
            has_blank: Rendered::take_up(db, &rules.name).await?.nothing().is_some(),
            broken: status::broken_promises(db, &rules.name, Some(rules)).await?,
            unclassed: status::unclassed(db, &rules.name).await?,
        })
    }
}

/// The findings on a site. `is_over` is true if the crawl has asked for all that it knows.
#[must_use]
pub fn findings(known: &Known, rules: &SiteRules, is_over: bool, hints: &Hints) -> Vec<Finding> {
    let of = Findings { known, rules, hints };
    let mut found = of.starts();
    found.extend(known.broken.iter().map(|broken| of.broken(broken)));
    if is_over {
        let closed = of.robots();
        let is_closed = closed.as_ref().is_some_and(|closed| closed.is_failure);
        let alike = if is_closed { None } else { of.alike() };
        let is_told = closed.is_some() || alike.is_some();
        found.extend(closed.into_iter().chain(alike));
        found.extend(of.shadowed());
        if known.torrents == 0 && !is_told {
            found.extend(of.nothing());
        }
    }
    found.extend(of.not_read());
    found
}

struct Findings<'a> {
    known: &'a Known,
    rules: &'a SiteRules,
    hints: &'a Hints,
}

/// The finding on a site whose crawl was ended by a limit before any answer, now or earlier.
#[must_use]
pub fn nothing_answered() -> Finding {
    failure(
        "nothing was answered before the crawl ended".to_owned(),
        "try the start page in a browser; a higher --max-time or --max-pages lets the crawl wait".to_owned(),
    )
}

fn failure(text: String, hint: String) -> Finding {
    Finding { text, hint: Some(hint), is_failure: true }
}

impl Findings<'_> {
    fn starts(&self) -> Vec<Finding> {
        self.known.tally.unread_starts(self.rules).map(|(url, start)| self.start(url, start)).collect()
    }

    fn start(&self, url: &str, start: &Start) -> Finding {
        let is_closed = start.is(Outcome::RobotsDenied);
        let why = start.detail.as_deref().unwrap_or(if is_closed { "robots.txt closes it" } else { &start.outcome });
        let file = self.rules.file.display();
        let hint = if is_closed {
            self.override_robots()
        } else if start.is(Outcome::RedirectRefused) {
            format!("if that is the site, set `start` of {file} to it, or add its host to `hosts`")
        } else {
            format!("open it in a browser; then correct `start` of {file}, or add a `[login]` if the site wants one")
        };
        failure(format!("the start URL {url} was not read: {why}"), hint)
    }

    /// A rule keeps its promise no more.
    fn broken(&self, of: &status::BrokenPromise) -> Finding {
        let repair = self.hints.command(&format!("rules repair {}", self.rules.name));
        let advice = of.alarm.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
        failure(of.alarm.told(&of.rule, of.is_behind), format!("{repair}{advice}"))
    }

    fn override_robots(&self) -> String {
        let file = self.rules.file.display();
        format!(
            "if you may fetch them, `robots = {{ obey = false, reason = \"…\" }}` in {file}; the next crawl takes them up"
        )
    }

    /// robots.txt closes what the crawl is for.
    fn robots(&self) -> Option<Finding> {
        if self.rules.robots != Robots::Obey {
            return None;
        }
        let is_closed = |cause: &Cause| cause.class.is_target() && *cause.outcome == *Outcome::RobotsDenied.name();
        let closed = self.known.tally.troubles().into_iter().find(|cause| is_closed(cause))?;
        let asked = self.known.tally.visits(|cause| cause.class == closed.class && !is_closed(cause));
        if asked > 0 {
            // Parts of a site are often closed; the rest was had.
            return None;
        }
        let (visits, class, example) = (closed.visits, closed.class.name(), &closed.example);
        let text = format!("robots.txt closes {visits} {class} URLs, as {example}");
        // A crawl that was killed has lost what it counted, and not its torrents.
        Some(Finding { is_failure: self.known.torrents <= visits, ..failure(text, self.override_robots()) })
    }

    /// Most downloads ended alike, and not with a torrent.
    fn alike(&self) -> Option<Finding> {
        let tally = &self.known.tally;
        let downloads = tally.visits(|cause| cause.class == Class::Download);
        // Attachments are of all kinds: what is no torrent and no page is no trouble where torrents came.
        let is_other_file = |cause: &Cause| {
            *cause.outcome == *Outcome::NotForUs.name()
                && cause.detail.as_deref() != Some(EMPTY)
                && self.known.torrents > 0
        };
        let of_downloads = |cause: &&Cause| cause.class == Class::Download && !is_other_file(cause);
        let worst = tally.troubles().into_iter().find(of_downloads)?;
        let is_told_elsewhere = [Outcome::RobotsDenied, Outcome::Walled].iter().any(|of| of.name() == &*worst.outcome);
        if is_told_elsewhere || downloads < limits::ALIKE_DOWNLOADS_MIN || worst.visits * 2 <= downloads {
            return None;
        }
        let what = worst.detail.as_deref().unwrap_or(&worst.outcome);
        let (visits, example) = (worst.visits, &worst.example);
        let text = format!("{visits} of {downloads} downloads ended alike: {what}, as {example}");
        Some(failure(text, "open it in a browser: the site may want something first".to_owned()))
    }

    /// An earlier rule takes what a later one is for.
    fn shadowed(&self) -> Option<Finding> {
        let shadowed = self.known.tally.shadowed.as_ref()?;
        let (by, rule) = (self.rules.rules().get(shadowed.by)?, self.rules.rules().get(shadowed.rule)?);
        let text = format!(
            "{} URLs of {} were taken by {} `{}` ({}), which comes first",
            shadowed.urls,
            rule.key(),
            by.key(),
            by.pattern,
            by.place()
        );
        let hint = format!("narrow that expression, so that {} is left to `{}`", shadowed.example, rule.pattern);
        Some(Finding { is_failure: self.known.torrents == 0, ..failure(text, hint) })
    }

    /// No torrent came, although there was something to ask for.
    fn nothing(&self) -> Option<Finding> {
        let tally = &self.known.tally;
        let file = self.rules.file.display();
        let downloads = tally.visits(|cause| cause.class == Class::Download);
        let pages = tally.visits(|cause| matches!(cause.class, Class::Detail | Class::Thread) && !cause.is_trouble());
        if downloads > 0 {
            let worst = tally.troubles().into_iter().find(|cause| cause.class == Class::Download)?;
            let (told, example) = (worst.told(), &worst.example);
            let text = format!("none of {downloads} download URLs gave a torrent; most: {told}, as {example}");
            return Some(failure(text, "open it in a browser: the site may want something first".to_owned()));
        }
        let is_of_torrents = |cause: &Cause| matches!(cause.class, Class::Detail | Class::Thread);
        let unread = tally.troubles().into_iter().find(|cause| is_of_torrents(cause));
        let is_most = |worst: &&Cause| worst.visits > pages && *worst.outcome != *Outcome::Gone.name();
        if let Some(worst) = unread.filter(|worst| pages == 0 || is_most(worst)) {
            let (told, example, visits) = (worst.told(), &worst.example, worst.visits);
            let met = tally.visits(is_of_torrents);
            let text = match pages {
                0 => format!("none of {met} pages of torrents and threads was read; most: {told}, as {example}"),
                _ => format!("{visits} of {met} pages of torrents and threads were not read: {told}, as {example}"),
            };
            let hint = match self.rules.login {
                None => "open it in a browser; if the site wants a login, add a [login] to the rule file",
                Some(_) => "open it in a browser: the site may want something first",
            };
            return Some(failure(text, hint.to_owned()));
        }
        let links = self.known.unclassed.first();
        let of_links = links.map(|links| {
            let why = if links.why.is_empty() { String::new() } else { format!(" ({})", links.why) };
            format!("; most links without a class: {} of {}, as {}{why}", links.links, links.shape, links.example)
        });
        let of_links = of_links.unwrap_or_default();
        let example = links.and_then(|links| match links.example.starts_with('/') {
            true => Some(format!("{}{}", self.rules.start.first()?.origin(), links.example)),
            false => Some(links.example.to_string()),
        });
        let explain = example
            .map(|url| format!(": {}", self.hints.command(&format!("rules explain '{}'", url.replace('\'', "%27")))));
        let explain = explain.unwrap_or_default();
        // The links lead to torrents, on another host.
        let elsewhere = links.and_then(|links| {
            let url = url::Url::parse(&links.example).ok()?;
            let host = url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
            let hosts: Vec<String> = self.rules.hosts.iter().map(|host| host.to_string()).chain([host]).collect();
            Some(format!("if you may fetch from there, `hosts = {hosts:?}` in {file}"))
        });
        if pages > 0 {
            let text = format!(
                "{pages} pages of torrents and threads were read, and none has a link of classes.download or a magnet link{of_links}"
            );
            let hint = format!("add the address of its torrents to classes.download in {file}{explain}");
            return Some(failure(text, elsewhere.unwrap_or(hint)));
        }
        let read = tally.visits(|cause| !cause.is_trouble());
        let pages = if read == 1 { "page" } else { "pages" };
        let text = format!("no link of the {read} {pages} read leads to a torrent, its page or a thread{of_links}");
        let hint = match links {
            Some(_) if let Some(hosts) = elsewhere => hosts,
            Some(_) => format!("the classes of {file} do not fit this site{explain}"),
            None if self.wants_login() => format!("if the site wants a login, add a [login] to {file}"),
            None if !self.known.not_whole.is_empty() => {
                let command = self.hints.command(&format!("coverage {}", self.rules.name));
                format!("first see why pages were not read whole: {command}")
            }
            None => format!("open the start page in a browser, and compare what it links with {file}"),
        };
        // A page that is whole and has no link at all may be all that the site has today.
        let is_failure = links.is_some() || self.known.has_blank || !self.known.not_whole.is_empty();
        (read > 0).then(|| Finding { is_failure, ..failure(text, hint) })
    }

    /// A guest was refused something.
    fn wants_login(&self) -> bool {
        let is_refusal = |reason: &str| ["401", "403", "login"].iter().any(|sign| reason.contains(sign));
        self.rules.login.is_none() && self.known.not_whole.iter().any(|row| is_refusal(&row.reason))
    }

    /// Pages that were not read, by reason.
    fn not_read(&self) -> Vec<Finding> {
        let mut reasons: Vec<(&str, u64, &str)> = Vec::new();
        for row in &self.known.not_whole {
            match reasons.iter_mut().find(|(reason, ..)| *reason == &*row.reason) {
                Some((_, pages, _)) => *pages += 1,
                None => reasons.push((&row.reason, 1, &row.url)),
            }
        }
        reasons.retain(|(_, _, url)| {
            !self.known.tally.unread_starts(self.rules).any(|(start, _)| without_keys(start) == *url)
        });
        reasons.sort_by_key(|(_, pages, _)| std::cmp::Reverse(*pages));
        let told = |(reason, pages, url): &(&str, u64, &str)| {
            let pages = if *pages == 1 { "1 page was".to_owned() } else { format!("{pages} pages were") };
            let text = format!("{pages} not read whole: {reason}; first {url}");
            match reason.starts_with(CLOSED_PAGER) {
                true => failure(text, "narrow that expression of `deny`: most of the list is missing".to_owned()),
                false => {
                    let hint = self.hints.command(&format!("coverage {}", self.rules.name));
                    Finding { hint: Some(hint), is_failure: false, ..failure(text, String::new()) }
                }
            }
        };
        let mut found: Vec<Finding> = reasons.iter().take(limits::NOT_WHOLE_REASONS_SHOWN).map(told).collect();
        if reasons.len() > found.len() {
            let pages: u64 = reasons.iter().map(|(_, pages, _)| pages).sum();
            let hint = self.hints.command(&format!("coverage {}", self.rules.name));
            let text = format!("{pages} pages in all were not read whole");
            found.push(Finding { is_failure: false, ..failure(text, hint) });
        }
        found
    }
}

#[cfg(test)]
mod tests;
