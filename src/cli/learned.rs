//! The requests that the crawl has learned for a site's pages in place of rendering them, as lines of `gleaner rules explain` and
//! as tables for a rule file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::bail;
use url::Url;

use super::block_on;
use super::masked::masked;
use crate::app::database::Database;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::scripts::books::{Note, SHORTCUTS_NOTE};
use gleaner_login::secret::MASK;
use gleaner_page::shortcut::book::{Counts, KeptBook, KeptEndpoint};
use gleaner_page::shortcut::written::{Written, WrittenCall, WrittenLink};
use gleaner_rules::config::Config;
use gleaner_rules::file::Pinned;
use gleaner_rules::{Class, RenderWhen, SiteRules, load_dir};
use gleaner_store::coverage;

/// The site of this name, if the rules folder has it without faults.
pub(super) fn site_named(name: &str, config: &Config) -> Option<std::sync::Arc<SiteRules>> {
    load_dir(&config.rules_dir)
        .into_iter()
        .filter_map(|file| file.site.ok())
        .find(|site| *site.name == *name || site.file.file_stem().is_some_and(|stem| stem == name))
}

/// The database of this data folder, if it knows the site.
pub(super) async fn database_of(config: &Config, site: &str) -> anyhow::Result<Database> {
    let db = Database::existing(&config.into()).await?;
    let known = coverage::sites(db.reader()).await?;
    if !known.contains(site) {
        bail!("site `{site}` is not in the database\nhint: {}", super::coverage::hint(site, &known));
    }
    Ok(db)
}

/// Prints everything learned for a site; with `pin`, as tables of its rule file. False if there is nothing.
pub(super) fn tell(config: &Config, site: &SiteRules, pin: bool, out: &mut impl Write) -> io::Result<bool> {
    let classes = match note(config, site) {
        Ok(classes) => classes,
        Err(why) => {
            writeln!(out, "{why}")?;
            return Ok(false);
        }
    };
    if pin {
        return tables(&classes, out);
    }
    writeln!(out, "site {} ({})", site.name, site.file.display())?;
    let mut has_any = false;
    for (class, book) in &classes {
        writeln!(out, "{class}")?;
        for (what, line) in lines(book, None, renders(site, class)) {
            writeln!(out, "  {what:<10}  {line}")?;
        }
        has_any = true;
    }
    if !has_any {
        writeln!(
            out,
            "  endpoint    none learned: no class of pages was rendered often enough, or each page needs its scripts"
        )?;
    }
    Ok(has_any)
}

/// The lines for the class of one page.
pub(super) fn of_page(config: &Config, site: &SiteRules, class: &str, page: &str) -> Vec<(&'static str, String)> {
    let Ok(mut classes) = note(config, site) else { return Vec::new() };
    let page = Url::parse(page).ok();
    classes.remove(class).map(|book| lines(&book, page.as_ref(), renders(site, class))).unwrap_or_default()
}

/// The stored requests by class, pinned ones included. Queries the database of this data folder, or the process that holds it.
fn note(config: &Config, site: &SiteRules) -> Result<BTreeMap<String, KeptBook>, String> {
    let asked = block_on(async {
        let Some(db) = Database::of(&config.into()).await? else { return Ok(None) };
        Ok(db.reader().note(&site.name, SHORTCUTS_NOTE).await?)
    });
    let note = asked.map_err(|error| format!("the database cannot be read: {error:#}"))?;
    let mut classes = note.and_then(|note| Note::read(&note, site)).map(|note| note.classes).unwrap_or_default();
    // A pin that no crawl has used yet.
    for class in Class::ALL {
        for (at, endpoint) in site.shortcuts(class).map(Written::of).enumerate() {
            let book = classes.entry(class.name().to_owned()).or_default();
            if !book.endpoints.iter().any(|one| one.is_pinned && one.endpoint == endpoint) {
                book.endpoints.insert(
                    at.min(book.endpoints.len()),
                    KeptEndpoint { endpoint, is_pinned: true, ..KeptEndpoint::default() },
                );
            }
        }
    }
    Ok(classes)
}

/// The tables of each class: those in use, in the order in which they are tried.
fn tables(classes: &BTreeMap<String, KeptBook>, out: &mut impl Write) -> io::Result<bool> {
    let mut shortcut: BTreeMap<&str, Pinned> = BTreeMap::new();
    let mut has_masked = false;
    for (class, book) in classes {
        let in_use = book.endpoints.iter().filter(|one| !one.is_out).take(limits::SHORTCUT_PINS_MAX);
        let mut all: Vec<Written> = Vec::new();
        for one in in_use {
            // Text from the rule file is not masked: its author knows it.
            let (shown, is_masked) = if one.is_pinned { (one.endpoint.clone(), false) } else { masked(&one.endpoint) };
            has_masked |= is_masked;
            all.push(shown);
        }
        let pinned = match all.len() {
            0 => continue,
            1 => all.pop().map(|one| Pinned::One(Box::new(one))),
            _ => Some(Pinned::Many(all)),
        };
        shortcut.extend(pinned.map(|pinned| (class.as_str(), pinned)));
    }
    let has_any = !shortcut.is_empty();
    if has_masked {
        writeln!(
            out,
            "# {MASK} stands for what may be a session token. Replace it with a value that the site gives to everybody,"
        )?;
        writeln!(out, "# or leave the table out: pages whose request carries a session token are rendered.")?;
    }
    if has_any {
        let text = toml::to_string(&BTreeMap::from([("shortcut", shortcut)])).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
    } else {
        writeln!(out, "# no endpoint is known")?;
    }
    Ok(has_any)
}

/// Whether pages of a class, given by name, are rendered at all.
fn renders(site: &SiteRules, class: &str) -> bool {
    Class::ALL.iter().any(|one| one.name() == class && site.render(*one) != RenderWhen::Never)
}

fn lines(book: &KeptBook, page: Option<&Url>, renders: bool) -> Vec<(&'static str, String)> {
    let holds = |one: &&KeptEndpoint| {
        page.is_none_or(|page| one.endpoint.endpoint().is_ok_and(|endpoint| endpoint.covers(page)))
    };
    let mut lines: Vec<(&'static str, String)> =
        book.endpoints.iter().filter(holds).flat_map(|one| of_endpoint(one, renders)).collect();
    if let Some((at, why)) = &book.difference {
        lines.push(("differed", format!("{}: {why}", UnixMillis(*at).rfc3339())));
    }
    if !book.again.is_empty() {
        lines.push(("again", format!("{} pages that such requests replaced will be visited again", book.again.len())));
    }
    lines
}

fn of_endpoint(one: &KeptEndpoint, renders: bool) -> Vec<(&'static str, String)> {
    let KeptEndpoint { endpoint, is_pinned, is_out, count, .. } = one;
    let (written, _) = masked(endpoint);
    let state = match (is_pinned, is_out) {
        (true, false) => "pinned",
        (true, true) => "pinned, but not used for now: it failed, or its pages show something else",
        (false, _) => "learned",
    };
    let mut lines = vec![(
        "endpoint",
        format!(
            "{} ({state})",
            request(&written.url, written.method.as_deref(), written.form.is_empty() && written.json.is_none())
        ),
    )];
    let mut add = |what: &'static str, line: Option<String>| lines.extend(line.map(|line| (what, line)));
    add("for", written.on.clone());
    add(
        "before",
        written.before.as_ref().map(|WrittenCall { url, method, form, json, .. }| {
            request(url, method.as_deref(), form.is_empty() && json.is_none())
        }),
    );
    for (name, value) in &written.headers {
        add("header", Some(format!("{name}: {value}")));
    }
    add("json", written.json.clone());
    add("records", written.items.clone());
    for link in &written.link {
        add(
            "link",
            Some(match link {
                WrittenLink::Of(link) => link.clone(),
                WrittenLink::From(from) => format!("{} of {}", from.link, from.items),
            }),
        );
    }
    for place in &written.html {
        add("markup", Some(place.clone()));
    }
    let inline = |value: Option<serde_json::Value>| {
        let members = value.and_then(|value| value.as_object().cloned())?;
        Some(members.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", "))
    };
    add("turns", inline(written.page.as_ref().and_then(|turn| serde_json::to_value(turn).ok())));
    add("pages", inline(written.pages.as_ref().and_then(|pages| serde_json::to_value(pages).ok())));
    add(
        "constant",
        (!written.constant.is_empty()).then(|| format!("{} links that each page has", written.constant.len())),
    );
    add("page", written.with_page.then(|| "requested as well: its own links count".to_owned()));
    add("proven", Some(proven(count, renders)));
    lines
}

/// How often it was verified, and when it is verified next.
fn proven(count: &Counts, renders: bool) -> String {
    let visited = match count.used {
        0 => "no page visited yet".to_owned(),
        1 => "1 page visited".to_owned(),
        used => format!("{used} pages visited"),
    };
    let checked = match (count.proven, count.checked_ms) {
        (_, 0) => "by no render yet".to_owned(),
        (proven, at) => format!("by {proven} renders, last {}", UnixMillis(at).rfc3339()),
    };
    match (renders, count.used) {
        (false, _) => format!("by no render, as pages of the class are never rendered; {visited}"),
        // The countdown only starts once a crawl uses it.
        (true, 0) if count.every == 0 => format!("{checked}; {visited}"),
        (true, _) => format!("{checked}; {visited}, the next render in {} visits", count.left),
    }
}

fn request(url: &str, method: Option<&str>, is_get: bool) -> String {
    format!("{} {url}", method.unwrap_or(if is_get { "GET" } else { "POST" }))
}
