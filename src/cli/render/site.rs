//! The site of a rendered page: the one whose rule file covers its host, or one made for this page, with default politeness.
//!
//! A page without a rule file is fetched with the default rate, and its scripts may request its own host, the hosts that
//! its markup loads scripts from, and those of `--host`; robots.txt of each is obeyed.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use url::Url;

use crate::app::{App, sessions};
use crate::cli::config::show_faults;
use crate::cli::hints::{Hints, quoted};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_crawl::account::Account;
use gleaner_crawl::look::Inspection;
use gleaner_net::fetch::charset;
use gleaner_render::wire::Response;
use gleaner_render::{Parser, Step, Tree};
use gleaner_rules::config::Config;
use gleaner_rules::{self as rules, SiteRules};

/// Name of a site made for one page.
const MADE_UP: &str = "render";

/// Additional hosts from the options, and whether a rules folder was given.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub named: &'a [String],
    pub is_explicit: bool,
}

/// Opens the page at a URL.
pub(super) async fn open(
    config: &Config,
    hints: &Hints,
    url: &Url,
    wanted: Wanted<'_>,
) -> anyhow::Result<(Inspection, Response)> {
    let page = crawl_url(url)?;
    let (mut look, is_made_up) = begin(config, hints, &page, wanted, &[]).await?;
    let answer = look.open(page.clone()).await.map_err(|why| unanswered(&page, &why, is_made_up))?;
    if is_made_up {
        let scripts = hosts_of_scripts(&String::from_utf8_lossy(&answer.body), url);
        let rules = made_up(&page, wanted.named, &scripts)?;
        look = look.with_rules(rules);
    }
    Ok((look, answer))
}

/// The network for a file that is assumed to have this URL; the URL itself is not fetched.
pub(super) async fn begin_for_file(
    config: &Config,
    hints: &Hints,
    base: &Url,
    wanted: Wanted<'_>,
    markup: &[u8],
) -> anyhow::Result<Inspection> {
    let scripts = hosts_of_scripts(&String::from_utf8_lossy(markup), base);
    let page = crawl_url(base)?;
    let (look, _) = begin(config, hints, &page, wanted, &scripts).await?;
    Ok(look)
}

async fn begin(
    config: &Config,
    hints: &Hints,
    page: &CrawlUrl,
    wanted: Wanted<'_>,
    scripts: &[String],
) -> anyhow::Result<(Inspection, bool)> {
    let named = named_by_rules(config, hints, page, wanted)?;
    let is_made_up = named.is_none();
    let rules = named.map_or_else(|| made_up(page, wanted.named, scripts), Ok)?;
    let (site, jar) = App::site_alone(&config.into(), &rules)?;
    let site = if let Some(login) = &rules.login {
        sessions::load_of(&config.data_dir, &rules.name, &login.user, &jar)?;
        let keeper = Arc::new(sessions::Files::new(&config.data_dir, &rules.name, &login.user));
        site.with_account(Account { jar, keeper })
    } else {
        site
    };
    let look = Inspection::begin(site.scripts, page.clone()).await.map_err(|why| unanswered(page, &why, is_made_up))?;
    Ok((look, is_made_up))
}

/// The site whose rule file covers the page's host; `None` if there is none and no rules folder was given.
fn named_by_rules(
    config: &Config,
    hints: &Hints,
    page: &CrawlUrl,
    wanted: Wanted<'_>,
) -> anyhow::Result<Option<Arc<SiteRules>>> {
    if !wanted.is_explicit && !config.rules_dir.exists() {
        return Ok(None);
    }
    let mut bad = Vec::new();
    for file in rules::load_dir(&config.rules_dir) {
        match file.site {
            Ok(site) if site.owns_host(page.authority()) => return Ok(Some(site)),
            Ok(_) => {}
            Err(faults) => {
                show_faults(&faults);
                bad.push(file.path);
            }
        }
    }
    let (dir, host) = (config.rules_dir.display(), page.authority());
    // The unreadable files may include the one for this host.
    if let Some(path) = bad.first() {
        let check = hints.command(&format!("rules check {}", quoted(path)));
        bail!("no usable rule file in {dir} names the host {host}\nhint: fix those that have faults: {check}");
    }
    if wanted.is_explicit {
        let new = hints.command(&format!("rules new {}", page.origin()));
        bail!(
            "no rule file in {dir} names the host {host}\nhint: `{new}` creates one; without --rules the page is requested with \
             default settings"
        );
    }
    Ok(None)
}

/// Rules for one page: its own host and the given ones, all of their URLs, no accounts, everything else default.
fn made_up(page: &CrawlUrl, named: &[String], scripts: &[String]) -> anyhow::Result<Arc<SiteRules>> {
    let mut hosts: BTreeSet<&str> = named.iter().chain(scripts).map(String::as_str).collect();
    hosts.insert(page.authority());
    let mut classes = toml::Table::new();
    classes.insert("page".to_owned(), toml::Value::from(vec!["."]));
    let mut file = toml::Table::new();
    file.insert("start".to_owned(), toml::Value::from(vec![page.as_str()]));
    file.insert("hosts".to_owned(), toml::Value::from(hosts.into_iter().collect::<Vec<_>>()));
    file.insert("classes".to_owned(), toml::Value::Table(classes));
    rules::from_text(MADE_UP, &toml::to_string(&file)?).map_err(|faults| {
        let told = faults.first().map(|fault| format!("{}: {}", fault.key, fault.message)).unwrap_or_default();
        anyhow!("{} cannot be requested: {told}\nhint: --host takes host names, as `api.example.org`", page.as_str())
    })
}

/// Hosts that the markup loads scripts from: `<script src>`, preloads, import maps.
fn hosts_of_scripts(markup: &str, page: &Url) -> Vec<String> {
    let mut tree = Tree::new();
    let Ok(document) = tree.create_document(true) else { return Vec::new() };
    let mut parser = Parser::new(&mut tree, document);
    let mut text = markup;
    while let Ok(Step::Script(_)) = parser.feed(&mut tree, text) {
        text = "";
    }
    // A document at its size limit keeps its content.
    let _ = parser.finish(&mut tree);
    let mut addresses: Vec<String> = Vec::new();
    let mut base = None;
    for id in tree.descendants(document) {
        let Some(element) = tree.element(id) else { continue };
        let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
        match &*element.name().local {
            "base" if base.is_none() => base = page.join(attribute("href")).ok(),
            "script" if attribute("type") == "importmap" => {
                let map: serde_json::Value = serde_json::from_str(&tree.child_text(id)).unwrap_or_default();
                let imports = map["imports"].as_object().into_iter().flat_map(|imports| imports.values());
                addresses.extend(imports.filter_map(|address| address.as_str().map(str::to_owned)));
            }
            "script" => addresses.push(attribute("src").to_owned()),
            "link" if attribute("rel") == "modulepreload" || attribute("as") == "script" => {
                addresses.push(attribute("href").to_owned());
            }
            _ => {}
        }
    }
    let base = base.as_ref().unwrap_or(page);
    let urls = addresses.iter().filter_map(|address| crawl_url(&base.join(address).ok()?).ok());
    let hosts: BTreeSet<String> = urls.map(|url| url.authority().to_owned()).collect();
    hosts.into_iter().collect()
}

fn crawl_url(url: &Url) -> anyhow::Result<CrawlUrl> {
    CrawlUrl::parse(url.as_str(), &Canonical::default()).map_err(|why| anyhow!("{url} cannot be requested: {why}"))
}

/// Why a page is missing, with a hint.
fn unanswered(page: &CrawlUrl, why: &str, is_made_up: bool) -> anyhow::Error {
    let hint = match why {
        _ if why.contains("is not one of the rule file's hosts") && is_made_up => {
            "\nhint: it redirects there; render that address, or name the host with --host"
        }
        _ if why.contains("is not one of the rule file's hosts") => "\nhint: add it to `hosts` of the rule file",
        _ if why.contains("robots.txt disallows it") => {
            "\nhint: a rule file may override that with a reason (docs/reference/rules.md)"
        }
        _ if why.contains("address refused") => {
            "\nhint: a rule file with `private_addresses = true` allows hosts of this network"
        }
        _ => "",
    };
    anyhow!("{}: {}{hint}", page.as_str(), told(why, is_made_up))
}

/// Why a request was not sent, worded for a page without a rule file.
pub(super) fn told(why: &str, is_made_up: bool) -> String {
    if is_made_up {
        why.replace("is not one of the rule file's hosts", "is not among the hosts that the page may request")
    } else {
        why.to_owned()
    }
}

/// The page's text, decoded with its charset.
///
/// # Errors
/// If the response is not a page.
pub(super) fn markup(look: &Inspection, answer: &Response) -> anyhow::Result<String> {
    let kind = answer.header("content-type");
    let essence = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    let is_page = essence.as_deref().is_none_or(|kind| {
        kind.is_empty() || kind.starts_with("text/") || kind.contains("html") || kind.contains("xml")
    });
    if !is_page {
        bail!("{} is not a page: its type is {}", answer.url, essence.unwrap_or_default());
    }
    let named = look.rules().charset.map(encoding_rs::Encoding::name);
    Ok(charset::detect(kind, &answer.body, named).decode(&answer.body).0.into_owned())
}

/// The site whose rules apply to the page; `None` if they were made for it.
pub(super) fn name(look: &Inspection) -> Option<String> {
    let name = &look.rules().name;
    (look.rules().file.as_os_str() != format!("<{MADE_UP}>").as_str()).then(|| name.to_string())
}

pub(super) fn now_ms() -> i64 {
    i64::try_from(SystemClock.now().0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_scripts_are_those_that_the_markup_names() {
        let markup = "<base href='https://cdn.example/x/'><script src=a.js></script><script src='//other.example:81/b.js'></script>
            <link rel=modulepreload href=https://esm.example/c.js><link rel=stylesheet href=https://css.example/d.css>
            <script type=importmap>{\"imports\":{\"vue\":\"https://map.example/vue.js\",\"x\":null}}</script><img src=https://img.example/>
            <script>document.write('<script src=https://written.example/>')</script><script src='data:,'></script>";
        let hosts = hosts_of_scripts(markup, &Url::parse("https://example.org/").unwrap());
        assert_eq!(hosts, ["cdn.example", "esm.example", "map.example", "other.example:81"]);
    }

    #[test]
    fn rules_for_one_page_take_its_hosts_and_no_others() {
        let page = crawl_url(&Url::parse("https://example.org/list?page=1").unwrap()).unwrap();
        let rules = made_up(&page, &["api.example.org".to_owned()], &["cdn.example".to_owned()]).unwrap();
        let owned =
            ["example.org", "api.example.org", "cdn.example", "www.example.org"].map(|host| rules.owns_host(host));
        assert_eq!(owned, [true, true, true, false]);
        assert_eq!(rules.robots, rules::Robots::Obey);
        assert!(made_up(&page, &["https://x/".to_owned()], &[]).is_err());
    }
}
