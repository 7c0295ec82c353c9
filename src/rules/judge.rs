//! The rules of a site, compiled, and their verdict on a URL (ALGORITHMS §2, BT §2.2).
//!
//! Immutable once built; shared by all workers. Judging does no I/O, keeps no counts and costs one pass of one
//! regular expression set over the URL's path.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;
use regex::{Regex, RegexSet};

use super::acting::{ActSign, acts};
use super::categories::CategoryRules;
pub use super::class::{Class, RenderActs, RenderWhen};
pub use super::file::{LaneKey, Policy, PrivateAddresses, Repair};
use super::log_out::ends_session;
use gleaner_base::clock::hours::Hours;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_page::shortcut::Endpoint;

/// One regular expression of a rule file and its position.
#[derive(Debug)]
pub struct Rule {
    /// The file as it was named on loading; `<built in>/families/….toml` for a built-in family.
    pub file: Arc<Path>,
    /// Starts at 1.
    pub line: usize,
    /// In characters, starts at 1.
    pub column: usize,
    /// The regular expression as written.
    pub pattern: Box<str>,
    /// The class that it assigns to a URL; None denies the URL.
    pub class: Option<Class>,
    /// Compiled separately if it has a group `page`: sets return no captures.
    pub(super) page: Option<Regex>,
}

impl Rule {
    /// `file:line:column`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file.display(), self.line, self.column)
    }

    /// The key that it is listed under: `deny` or `classes.<class>`.
    #[must_use]
    pub fn key(&self) -> String {
        self.class.map_or_else(|| "deny".to_owned(), |class| format!("classes.{}", class.name()))
    }
}

/// The verdict of the rules on a URL.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'a> {
    /// It belongs to a class.
    Take {
        class: Class,
        rule: &'a Rule,
        /// Index in [`SiteRules::rules`].
        number: usize,
        /// Byte range of [`CrawlUrl::path`] with the page number: one to nineteen digits.
        page_capture: Option<(usize, usize)>,
    },
    /// It is not fetched.
    Refuse { reason: Refusal<'a> },
}

/// Why a URL is not fetched.
#[derive(Clone, Copy, Debug)]
pub enum Refusal<'a> {
    /// The host does not belong to the site.
    WrongHost,
    /// It is outside the folders of the start URLs, and the site must stay below them.
    NotBelowStart,
    /// A rule of `deny` matches it; its number is the index in [`SiteRules::rules`].
    Denied(usize, &'a Rule),
    /// No class matches it.
    NoClass,
    /// It would log the site's account out.
    EndsSession,
    /// It would change something in the name of the site's account.
    ActsForAccount(ActSign),
}

impl Refusal<'_> {
    /// For logs and counts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WrongHost => "wrong_host",
            Self::NotBelowStart => "not_below_start",
            Self::Denied(..) => "denied",
            Self::NoClass => "no_class",
            Self::EndsSession => "ends_session",
            Self::ActsForAccount(_) => "acts_for_account",
        }
    }
}

/// Rate limits of a site's hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Between the starts of two requests; zero means no limit.
    pub interval: Duration,
    /// Maximum concurrent connections.
    pub connections: u16,
    /// Pause of a connection after a response, as a multiple of the response time.
    pub rest_factor: f32,
    /// Timeout of one request.
    pub timeout: Duration,
}

/// Queues of one host (ALGORITHMS §9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    pub key: LaneKey,
    pub count: u16,
    /// Of those, the lanes that the increment has at least: one (§6.4), and half of a number that the file does not write, since its
    /// author did not think of the increment.
    pub increment_min: u16,
}

/// Limits that keep a crawl of the site out of traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetRules {
    /// Pages of one URL shape that are fetched before it must have led to a torrent.
    pub shape_pages: u32,
    /// Whether trap URLs are dropped at all.
    pub traps: bool,
    /// Whether details are left out that nothing needs.
    pub lean: bool,
}

/// How many URLs of the site are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Maximum a day.
    pub requests_per_day: Option<u64>,
    /// Maximum of one crawl.
    pub pages_max: Option<u64>,
}

/// Whether robots.txt is obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Robots {
    Obey,
    /// The operator takes responsibility, with this reason.
    Ignore {
        reason: Box<str>,
    },
}

/// URLs that are requested although they may act in the account's name.
#[derive(Debug, Default)]
pub struct AllowedActions {
    pub(super) urls: RegexSet,
    /// The operator takes responsibility, with this reason.
    pub reason: Box<str>,
}

/// The validated rules of one site.
#[derive(Debug)]
pub struct SiteRules {
    /// Name of the site: letters, digits, `.`, `-`, `_`; at most 64 bytes.
    pub name: Box<str>,
    /// The file that it comes from.
    pub file: Arc<Path>,
    pub enabled: bool,
    /// At least one; each is accepted by these rules.
    pub start: Vec<CrawlUrl>,
    /// `host[:port]`, or `*.host[:port]` for every host below it.
    pub hosts: Vec<Box<str>>,
    /// Folders (`authority`, path up to its last `/`) that the crawl stays below; empty for no such limit.
    pub below: Vec<(Box<str>, Box<str>)>,
    pub canonical: Canonical,
    pub budget: BudgetRules,
    pub boards: BoardRules,
    /// Overrides the charset that pages declare.
    pub charset: Option<&'static Encoding>,
    pub rate: Rate,
    pub login: Option<LoginRules>,
    /// Quiet hours, and the offset that defines the site's days.
    pub hours: Hours,
    pub quota: Quota,
    /// Links from a start URL beyond which nothing is fetched.
    pub depth_max: u16,
    /// Origins that replace [`Self::primary`] while it is unreachable, in the order in which they are tried.
    pub mirrors: Vec<Box<str>>,
    pub lanes: Lanes,
    pub(super) scripts: ScriptRules,
    pub revisit: Duration,
    /// Number of links that the increment crew follows from a rechecked page; 0 disables that crew.
    pub increment_depth: u8,
    pub robots: Robots,
    pub allow_actions: AllowedActions,
    /// Whether sitemaps listed in robots.txt are read.
    pub sitemaps: bool,
    pub client: ClientRules,
    pub(super) links: LinkRules,
}

/// How the scripts of the site's pages are handled.
#[derive(Debug)]
pub(super) struct ScriptRules {
    /// When scripts run, by class, in the order of [`Class::ALL`].
    pub when: [RenderWhen; Class::ALL.len()],
    /// What the reader does after they have run.
    pub acts: RenderActs,
    /// Whether requests that replace renders are learned.
    pub learns_shortcuts: bool,
    /// Endpoints that replace renders, in file order.
    pub shortcuts: Vec<(Class, Endpoint)>,
}

/// Settings of the site's HTTP client.
#[derive(Debug)]
pub struct ClientRules {
    /// Valid header names and values, none of them secret.
    pub headers: Vec<(Box<str>, Box<str>)>,
    pub proxy: Option<url::Url>,
    /// Non-public addresses that the site may resolve to.
    pub private_addresses: PrivateAddresses,
}

/// Which links are accepted.
#[derive(Debug)]
pub(super) struct LinkRules {
    /// By precedence: the file's `deny`, its classes, then those of its families.
    pub rules: Vec<Rule>,
    /// In the same order as `rules`.
    pub set: RegexSet,
    /// What the site says by them that a torrent is.
    pub categories: CategoryRules,
    /// The rules were learned, and nobody has read them yet.
    pub are_learned: bool,
    /// What the service does where a rule keeps its promise no more.
    pub repair: Repair,
}

/// How the lists of the site are parsed and rechecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardRules {
    /// CSS selectors of a row, and within it of its link and its time.
    pub rows: Option<Box<str>>,
    pub row_link: Option<Box<str>>,
    pub row_time: Option<Box<str>>,
    /// Offset of the site's times, in seconds east of UTC.
    pub offset_s: Option<i32>,
    /// Rechecks per day of all lists together; None for one of each list every [`SiteRules::revisit`].
    pub looks_per_day: Option<u32>,
    /// True if the file names neither that nor an interval: the site's own rate decides.
    pub follows_rate: bool,
    pub policy: Policy,
}

/// How the operator's account logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginRules {
    pub user: Box<str>,
    /// The page with the form; None if it has to be found.
    pub page: Option<CrawlUrl>,
    /// A page that only members see; None to use the first start page.
    pub probe: Option<CrawlUrl>,
    /// Index of the form on its page, from 0.
    pub form: Option<usize>,
    pub user_field: Option<Box<str>>,
    pub password_field: Option<Box<str>>,
    pub fields: Vec<(Box<str>, Box<str>)>,
    /// Set if a JSON object is sent instead of a form.
    pub json: Option<JsonLogin>,
    /// A hash of what the site's own file defines about the request, its URL and its proof, over the file's own strings: neither
    /// a family nor another gleaner version changes it.
    pub way: u32,
}

impl LoginRules {
    /// A hash that identifies a table, independent of its position.
    #[must_use]
    pub fn mark(&self) -> u32 {
        mark(&format!("{self:?}"))
    }
}

/// A hash of a text, stable across versions.
pub(super) fn mark(text: &str) -> u32 {
    let [high, low] = [32, 0].map(|shift| (xxhash_rust::xxh3::xxh3_64(text.as_bytes()) >> shift) as u32);
    high ^ low
}

/// A login through a JSON API: `{user: …, password: …}` is sent to `url`, and the response contains a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLogin {
    pub url: CrawlUrl,
    /// Members of the object.
    pub user: Box<str>,
    pub password: Box<str>,
    /// JSON pointer to the token in the answer.
    pub token: Box<str>,
}

impl SiteRules {
    /// Equal for equal rules at equal positions of equal files; a change of a family changes it, too.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(format!("{self:?}").as_bytes())
    }

    /// Equal for rules that accept the same URLs on the same pages, independent of their position in the files.
    #[must_use]
    pub fn links_fingerprint(&self) -> u64 {
        let Self {
            start,
            hosts,
            below,
            canonical,
            budget,
            charset,
            mirrors,
            depth_max,
            robots,
            allow_actions,
            sitemaps,
            scripts: ScriptRules { when, acts, learns_shortcuts, .. },
            ..
        } = self;
        let patterns: Vec<_> = self.rules().iter().map(|rule| (&rule.pattern, rule.class)).collect();
        let site = (start, hosts, below, canonical, budget, charset.map(Encoding::name), mirrors);
        let taken = (site, depth_max, robots, sitemaps, patterns, self.is_guarded(), when, learns_shortcuts);
        // The default must not change the hash.
        let acts = if *acts == RenderActs::Auto { String::new() } else { format!("{acts:?}") };
        let allowed = allow_actions.urls.patterns();
        let allowed = if allowed.is_empty() { String::new() } else { format!("{allowed:?}") };
        let labels = match self.links.categories.places() {
            (None, None) => String::new(),
            places => format!("{places:?}"),
        };
        xxhash_rust::xxh3::xxh3_64(format!("{taken:?}{acts}{allowed}{labels}").as_bytes())
    }

    /// What the site says that a torrent is.
    #[must_use]
    pub fn categories(&self) -> &CategoryRules {
        &self.links.categories
    }

    /// Whether the scripts of a class's pages run.
    #[must_use]
    pub fn render(&self, class: Class) -> RenderWhen {
        match class {
            // Files have no scripts, and a visit never fetches a login page.
            Class::Download | Class::Login | Class::Sitemap => RenderWhen::Never,
            class => self.scripts.when[class as usize],
        }
    }

    /// What the reader does on pages after their scripts have run; never [`RenderActs::Auto`].
    #[must_use]
    pub fn acts(&self) -> RenderActs {
        match self.scripts.acts {
            RenderActs::Auto if self.login.is_some() => RenderActs::Turns,
            RenderActs::Auto => RenderActs::All,
            said => said,
        }
    }

    /// Whether scripts run on the pages of a login.
    #[must_use]
    pub fn render_login(&self) -> RenderWhen {
        self.scripts.when[Class::Login as usize]
    }

    /// The requests that load the data of a class's pages, as pinned by the file.
    pub fn shortcuts(&self, class: Class) -> impl Iterator<Item = &Endpoint> {
        self.scripts.shortcuts.iter().filter(move |(of, _)| *of == class).map(|(_, endpoint)| endpoint)
    }

    /// Whether such requests are learned: only in `auto`, and unless the file disables it.
    #[must_use]
    pub fn learns_shortcuts(&self, class: Class) -> bool {
        self.scripts.learns_shortcuts && self.render(class) == RenderWhen::Auto
    }

    /// Why a URL on the site's hosts must not be requested at all, not even by scripts of its pages.
    #[must_use]
    pub fn forbids(&self, url: &CrawlUrl) -> Option<Refusal<'_>> {
        self.forbids_in_login(url).or_else(|| {
            let class = self.first_rule(url.path()).and_then(|(_, rule)| rule.class);
            self.acts_for_account(url, class).map(Refusal::ActsForAccount)
        })
    }

    /// The same for the requests of a login, which nobody is logged in for yet.
    #[must_use]
    pub fn forbids_in_login(&self, url: &CrawlUrl) -> Option<Refusal<'_>> {
        if !self.owns_host(url.authority()) {
            return Some(Refusal::WrongHost);
        }
        if ends_session(url.path()) {
            return Some(Refusal::EndsSession);
        }
        let first = self.first_rule(url.path()).filter(|(_, rule)| rule.class.is_none());
        first.map(|(number, rule)| Refusal::Denied(number, rule))
    }

    /// The first class that matches a path and query, whatever `deny` says of it.
    #[must_use]
    pub fn class_of(&self, path: &str) -> Option<Class> {
        self.links.set.matches(path).into_iter().find_map(|number| self.links.rules.get(number)?.class)
    }

    fn first_rule(&self, path: &str) -> Option<(usize, &Rule)> {
        let number = self.links.set.matches(path).into_iter().next()?;
        Some((number, self.links.rules.get(number)?))
    }

    /// What the service does where a rule keeps its promise no more.
    #[must_use]
    pub fn repair(&self) -> Repair {
        self.links.repair
    }

    /// True for a site on which no URL is requested that acts: one with an account, or with learned rules that nobody has read yet.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.login.is_some() || self.links.are_learned
    }

    /// The sign by which a URL acts in the name of the site's account, if it has one and may not. `class` is the one that a rule gives it.
    #[must_use]
    pub fn acts_for_account(&self, url: &CrawlUrl, class: Option<Class>) -> Option<ActSign> {
        let sign = self.is_guarded().then(|| acts(url.path(), class)).flatten()?;
        (!self.may_act(url)).then_some(sign)
    }

    /// True for a URL that is requested whatever it does: a guest's, one of `allow_actions`, and the pages that `[login]` names.
    #[must_use]
    pub fn may_act(&self, url: &CrawlUrl) -> bool {
        let named = self.login.iter().flat_map(|login| [&login.page, &login.probe]).flatten();
        !self.is_guarded()
            || named.into_iter().any(|named| named == url)
            || self.allow_actions.urls.is_match(url.path())
    }

    /// The verdict on a URL that was normalised with [`Self::canonical`].
    #[must_use]
    pub fn judge(&self, url: &CrawlUrl) -> Verdict<'_> {
        if !self.owns_host(url.authority()) {
            return Verdict::Refuse { reason: Refusal::WrongHost };
        }
        let path = url.path();
        if !self.is_below_start(url.authority(), path) {
            return Verdict::Refuse { reason: Refusal::NotBelowStart };
        }
        if self.is_guarded() && ends_session(path) {
            return Verdict::Refuse { reason: Refusal::EndsSession };
        }
        let Some((number, rule)) = self.first_rule(path) else {
            return Verdict::Refuse { reason: Refusal::NoClass };
        };
        let Some(class) = rule.class else {
            return Verdict::Refuse { reason: Refusal::Denied(number, rule) };
        };
        match self.acts_for_account(url, Some(class)).filter(|_| class != Class::Login) {
            Some(sign) => Verdict::Refuse { reason: Refusal::ActsForAccount(sign) },
            None => Verdict::Take { class, rule, number, page_capture: rule.page_capture(path) },
        }
    }

    /// The number of a rule for torrents or their pages that would have accepted a URL if the rule `by`, for other pages, had not come
    /// before it.
    #[must_use]
    pub fn shadowed(&self, url: &CrawlUrl, by: usize) -> Option<usize> {
        let class = |number: usize| self.links.rules.get(number).and_then(|rule| rule.class);
        if class(by).is_none_or(Class::is_target) {
            return None;
        }
        let behind = self.links.set.matches(url.path()).into_iter().filter(|number| *number > by);
        behind.take_while(|number| class(*number).is_some()).find(|number| class(*number).is_some_and(Class::is_target))
    }

    /// The origin that the mirrors replace: that of the first start URL.
    #[must_use]
    pub fn primary(&self) -> &str {
        self.start.first().map_or("", CrawlUrl::origin)
    }

    /// Host and port of the first start URL.
    #[must_use]
    pub fn first_authority(&self) -> &str {
        self.start.first().map_or("", CrawlUrl::authority)
    }

    /// The URL on the site's first host, if it is on a mirror.
    #[must_use]
    pub fn without_mirror(&self, url: CrawlUrl) -> CrawlUrl {
        let is_mirror = self.mirrors.iter().any(|mirror| **mirror == *url.origin());
        if is_mirror { CrawlUrl::from_parts(self.primary(), url.path()) } else { url }
    }

    /// True for a `host[:port]` of this site.
    #[must_use]
    pub fn owns_host(&self, authority: &str) -> bool {
        owns(&self.hosts, authority)
    }

    /// True if a cookie of this domain applies to one of the site's hosts.
    #[must_use]
    pub fn owns_domain(&self, domain: &str) -> bool {
        let is_within = |inner: &str, outer: &str| {
            inner.strip_suffix(outer).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        };
        self.hosts.iter().any(|host| {
            let (host, has_below) = host.strip_prefix("*.").map_or((&**host, false), |host| (host, true));
            // Cookies ignore ports; an IPv6 address keeps its brackets.
            let name = host.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
            let name = name.map_or(host, |(name, _)| name);
            is_within(name, domain) || (has_below && is_within(domain, name))
        })
    }

    fn is_below_start(&self, authority: &str, path: &str) -> bool {
        let mut has_start = false;
        for (host, folder) in &self.below {
            if &**host == authority {
                if path.starts_with(&**folder) {
                    return true;
                }
                has_start = true;
            }
        }
        !has_start
    }

    /// All rules by precedence: the file's `deny`, its classes, then those of its families.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.links.rules
    }
}

/// True if one of these hosts equals, or covers, this `host[:port]`.
pub(super) fn owns(hosts: &[Box<str>], authority: &str) -> bool {
    hosts.iter().any(|host| match host.strip_prefix('*') {
        // `*.example.org`: keep the dot, so that `notexample.org` does not match.
        Some(suffix) => authority.len() > suffix.len() && authority.ends_with(suffix),
        None => authority == &**host,
    })
}

impl Rule {
    /// True if its pattern captures a page number: URLs without one are not later pages of a list.
    #[must_use]
    pub fn names_page(&self) -> bool {
        self.page.is_some()
    }

    fn page_capture(&self, path: &str) -> Option<(usize, usize)> {
        let found = self.page.as_ref()?.captures(path)?.name("page")?;
        // Nineteen digits fit into a u64.
        let is_number = (1..=19).contains(&found.len()) && found.as_str().bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (found.start(), found.end()))
    }
}
