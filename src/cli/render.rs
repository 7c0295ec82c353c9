//! `gleaner render`: renders one page as the crawl does, with its scripts run in a child process.

mod beside;
mod list;
mod report;
mod site;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use url::Url;

use self::beside::Beside;
use self::report::{Report, View};
use self::site::Wanted as Hosts;
use super::hints::{Hints, quoted, told_argument};
use super::{Global, block_on};
use crate::limits;
use gleaner_crawl::look::Inspection;
use gleaner_render::children::{Bounds, ChildError, Children, Host};
use gleaner_render::wire::{Act, Outcome, Page, Seeks, Viewport, Wanted};
use gleaner_render::{Selectors, links_of_markup};
use gleaner_rules::config::Config;
use gleaner_rules::fault;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// URL of a page, or a local file
    #[arg(value_name = "URL|FILE", required_unless_present = "list")]
    page: Option<String>,
    /// Show only the links, sorted: `a[href]` of all states, navigation targets, magnets
    #[arg(long, group = "view")]
    links: bool,
    /// Show the final document as markup
    #[arg(long, group = "view")]
    html: bool,
    /// Show each request: method, status, bytes, initiator
    #[arg(long, group = "view")]
    requests: bool,
    /// Show events in page time: scripts, timers, requests, errors, acts
    #[arg(long, group = "view")]
    trace: bool,
    /// Show the text, roughly in its layout
    #[arg(long, group = "view")]
    screenshot_text: bool,
    /// Act on the page once it is loaded, in this order: "click SELECTOR", "scroll", "goto URL", "back"
    #[arg(long = "act", value_name = "ACT", value_parser = act)]
    acts: Vec<Act>,
    /// Explore the page as the crawl does: scroll, turn pages, press "load more", open tabs
    #[arg(long)]
    explore: bool,
    /// URL to assume for a file
    #[arg(long, value_name = "URL", conflicts_with = "list")]
    base: Option<Url>,
    /// Fetch from the network what a file's scripts request and its folder lacks
    #[arg(long, conflicts_with = "list")]
    online: bool,
    /// Additional host that the page's scripts may request, if no rule file covers the page's own
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    hosts: Vec<String>,
    /// Viewport size in CSS pixels; the crawl's when not given
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = viewport)]
    viewport: Option<Viewport>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Render the pages of a list, one JSON object per line (benches/render)
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["page", "view", "json"])]
    list: Option<PathBuf>,
    /// Do not measure memory in a list, which takes CPU time from the pages
    #[arg(long, hide = true, requires = "list")]
    time_only: bool,
}

/// Parses an act.
fn act(text: &str) -> Result<Act, String> {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let rest = rest.trim();
    match (word, rest) {
        ("click", "") => Err("click needs a selector: \"click SELECTOR\"".to_owned()),
        ("click", selector) if Selectors::parse(selector).is_err() => {
            Err(format!("`{selector}` is not a CSS selector"))
        }
        ("click", selector) => Ok(Act::Click(selector.to_owned())),
        ("scroll", "" | "bottom") => Ok(Act::Scroll("bottom".to_owned())),
        ("goto", "") => Err("goto needs a URL: \"goto URL\", which may be \"#page=2\"".to_owned()),
        ("goto", address) => Ok(Act::Goto(address.to_owned())),
        ("back", "") => Ok(Act::Back),
        ("scroll" | "back", more) => Err(format!("`{word}` takes no argument, but `{more}` was given")),
        _ => Err(match fault::nearest(word, ["click", "scroll", "goto", "back"]) {
            Some(known) => format!("unknown act `{word}`; did you mean `{known}`?"),
            None => format!("unknown act `{word}`: write click, scroll, goto or back"),
        }),
    }
}

fn viewport(text: &str) -> Result<Viewport, String> {
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| {
        let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| (1..=1_000_000).contains(side));
        Some((side(width)?, side(height)?))
    });
    let (width, height) = sides.ok_or("not a size like 1280x800")?;
    Ok(Viewport { width: width.into(), height: height.into() })
}

/// What to render.
enum Target {
    Address(Url),
    File(PathBuf),
}

/// A target with a web scheme is a URL; everything else is a file.
fn target(text: &str) -> anyhow::Result<Target> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if matches!(scheme.as_deref(), Some("http" | "https")) {
        let url = Url::parse(text).with_context(|| format!("`{}` is not a URL", told_argument(text)))?;
        if !url.username().is_empty() || url.password().is_some() {
            bail!(
                "{}: the URL contains a user name or password\nhint: remove it; members' pages are rendered with the session of \
                 `gleaner login SITE`",
                told_argument(text)
            );
        }
        return Ok(Target::Address(url));
    }
    let path = PathBuf::from(text);
    if path.exists() {
        return Ok(Target::File(path));
    }
    if let Some(scheme) = scheme {
        bail!("`{scheme}:` is not supported\nhint: write a URL with http:// or https://, or the path of a file");
    }
    let like_a_host = text.split('/').next().is_some_and(|host| host.contains('.') && !host.starts_with('.'));
    let hint = if like_a_host {
        format!("if it is a URL, write https://{}", told_argument(text))
    } else {
        "name a file or a URL".to_owned()
    };
    bail!("{}: there is no such file\nhint: {hint}", told_argument(text))
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let children = Children::of_this_program(Bounds {
        children: 1,
        must_be_confined: config.require_confinement,
        ..Bounds::default()
    })
    .context("the path of this program's executable is unknown")?;
    if let Some(list) = &options.list {
        return list::command(config, global, &hints, (list, options.time_only), &children);
    }
    let target = target(options.page.as_deref().unwrap_or_default())?;
    if let Target::Address(_) = target
        && (options.base.is_some() || options.online)
    {
        bail!("--base and --online are only for files\nhint: leave them out");
    }
    let report = block_on(async {
        match &target {
            Target::Address(url) => of_address(config, options, global, &hints, url, &children).await,
            Target::File(path) => of_file(config, options, global, &hints, path, &children).await,
        }
    })?;
    let mut report = match report {
        Ended::Whole(report) => report,
        Ended::Lost(lost) => {
            lost.show(options)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    report.show(options.view(), options.json)?;
    // Report acts that failed even if a program reads the rest.
    for act in &report.undone {
        errln!("error: nothing on the page matches `{act}`\nhint: --html shows what is there");
    }
    Ok(if report.undone.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Options {
    fn view(&self) -> View {
        match self {
            Self { links: true, .. } => View::Links,
            Self { html: true, .. } => View::Html,
            Self { requests: true, .. } => View::Requests,
            Self { trace: true, .. } => View::Trace,
            Self { screenshot_text: true, .. } => View::Text,
            _ => View::Summary,
        }
    }

    /// The page as it is sent to the child.
    fn page(&self, url: &str, now_ms: i64, seeks: Seeks) -> Page {
        Page {
            acts: self.acts.clone(),
            seeks: if self.explore { seeks } else { Seeks::NOTHING },
            viewport: self
                .viewport
                .unwrap_or(Viewport { height: f64::from(limits::RENDER_VIEW_HEIGHT), ..Viewport::default() }),
            wanted: Wanted { trace: true, text: self.screenshot_text },
            ..Page::at(url, now_ms)
        }
    }
}

/// The result of a page.
enum Ended {
    Whole(Box<Report>),
    Lost(Lost),
}

/// A page whose scripts crashed their process, with the links of its markup.
struct Lost {
    url: String,
    error: ChildError,
    links: BTreeSet<String>,
}

impl Lost {
    /// Prints the links of the markup, if links were requested, and what happened.
    fn show(&self, options: &Options) -> anyhow::Result<()> {
        errln!("error: {}: the page's scripts did not finish: {}", self.url, self.error);
        if options.json || !matches!(options.view(), View::Summary | View::Links) {
            return Ok(());
        }
        outln!("# static: the links of the markup, without its scripts");
        for link in &self.links {
            outln!("{link}");
        }
        Ok(())
    }
}

async fn run(children: &Children, page: &Page, host: &impl Host) -> Result<Outcome, Lost> {
    children.run(page, host).await.map_err(|error| {
        let links = Url::parse(&page.url).map(|url| links_of_markup(&page.markup(), &url));
        let links = links.unwrap_or_default().into_iter().map(|link| link.url).collect();
        Lost { url: page.url.clone(), error, links }
    })
}

/// What the reader may do, if the options request one; warns if the site's file restricts it.
fn seeks(options: &Options, look: &Inspection, url: &Url) -> anyhow::Result<Seeks> {
    let seeks = look.seeks();
    let name = || site::name(look).unwrap_or_else(|| url.to_string());
    anyhow::ensure!(
        !options.explore || seeks != Seeks::NOTHING,
        "--explore: the rule file of {} has `acts = \"none\"`\nhint: --act \"click SELECTOR\" clicks one element",
        name()
    );
    if options.explore && seeks.turns_only {
        errln!(
            "note: on {} only scrolling and pagination are used, by GET (`acts` in `[render]` of its rule file)",
            name()
        );
    }
    Ok(seeks)
}

async fn of_address(
    config: &Config,
    options: &Options,
    global: &Global,
    hints: &Hints,
    url: &Url,
    children: &Children,
) -> anyhow::Result<Ended> {
    let hosts = Hosts { named: &options.hosts, is_explicit: global.rules.is_some() };
    let (look, answer) = site::open(config, hints, url, hosts).await?;
    let seeks = seeks(options, &look, url)?;
    let (status, bytes) = (answer.status, answer.body.len());
    let markup = site::markup(&look, &answer)?;
    // A fragment stays on the client; the server does not see it.
    let mut address = Url::parse(&answer.url).unwrap_or_else(|_| url.clone());
    address.set_fragment(url.fragment());
    let page = Page { cookies: look.script_cookies(), ..options.page(address.as_str(), look.now_ms(), seeks) };
    let outcome = match run(children, &page.with_markup(&markup), &look).await {
        Ok(outcome) => outcome,
        Err(lost) => return Ok(Ended::Lost(lost)),
    };
    let mut report = Report::new(address.as_str(), outcome, options.view());
    (report.status, report.bytes, report.site) = (Some(status), bytes, site::name(&look));
    Ok(Ended::Whole(Box::new(report)))
}

async fn of_file(
    config: &Config,
    options: &Options,
    global: &Global,
    hints: &Hints,
    path: &Path,
    children: &Children,
) -> anyhow::Result<Ended> {
    let markup = beside::read(path, None).with_context(|| quoted(path))?;
    let bytes = markup.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let base = match &options.base {
        Some(base) if matches!(base.scheme(), "http" | "https") => base.clone(),
        Some(base) => {
            bail!("--base {base}: not an http or https URL\nhint: pass the URL that the file was saved from")
        }
        None => beside::base_of(&name)?,
    };
    let look: Option<Inspection> = if options.online {
        let hosts = Hosts { named: &options.hosts, is_explicit: global.rules.is_some() };
        Some(site::begin_for_file(config, hints, &base, hosts, &markup).await?)
    } else {
        None
    };
    let markup = beside::decode(&markup);
    let seeks = look.as_ref().map_or(Ok(Seeks::ALL), |look| seeks(options, look, &base))?;
    let now = look.as_ref().map_or_else(site::now_ms, Inspection::now_ms);
    let page = options.page(base.as_str(), now, seeks).with_markup(&markup);
    let host = Beside::new(path, &base, look).with_context(|| quoted(path))?;
    let outcome = match run(children, &page, &host).await {
        Ok(outcome) => outcome,
        Err(lost) => return Ok(Ended::Lost(lost)),
    };
    let mut report = Report::new(base.as_str(), outcome, options.view());
    report.bytes = bytes;
    Ok(Ended::Whole(Box::new(report)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_read_and_words_that_are_none_are_told() {
        assert_eq!(act("click  a.next > b"), Ok(Act::Click("a.next > b".to_owned())));
        assert_eq!(act("scroll"), Ok(Act::Scroll("bottom".to_owned())));
        assert_eq!(act(" goto #page=2 "), Ok(Act::Goto("#page=2".to_owned())));
        assert_eq!(act("back"), Ok(Act::Back));
        for (text, wanted) in [
            ("clik a", "did you mean `click`?"),
            ("jump", "write click"),
            ("click", "\"click SELECTOR\""),
            ("click >>", "is not a CSS selector"),
            ("goto", "goto needs a URL"),
            ("back twice", "takes no argument"),
        ] {
            assert!(act(text).is_err_and(|told| told.contains(wanted)), "{text}: {:?}", act(text));
        }
    }

    #[test]
    fn sizes_are_whole_and_bounded() {
        assert_eq!(viewport("1280x12000"), Ok(Viewport { width: 1280.0, height: 12_000.0 }));
        for text in ["", "1280", "0x1", "x", "1e9x2", "-1x5", "9999999x1"] {
            assert!(viewport(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_file_is_told_with_the_address_that_it_may_be() {
        assert!(matches!(target("HTTPS://example.org/a"), Ok(Target::Address(_))));
        for (text, wanted) in
            [("example.org/x", "https://example.org/x"), ("nowhere", "name a file"), ("ftp://example.org/", "`ftp:`")]
        {
            let told = target(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(told.contains(wanted), "{told}");
        }
    }
}
