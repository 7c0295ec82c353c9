//! Site rule files and family files as written: the single source of the JSON Schema, of the shape checks and of
//! `docs/reference/rules.md`.
//!
//! Everything here is data; `check` interprets it.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class::{Class, RenderActs, RenderWhen};
use crate::limits::{
    ALLOWED_ACTIONS_MAX, CATEGORIES_MAX, EXAMPLES_MAX, HOSTS_PER_SITE_MAX, INCREMENT_DEPTH, INCREMENT_DEPTH_MAX,
    MIRRORS_MAX, NETWORKS_MAX, QUIET_WINDOWS_MAX, RULES_PER_SITE_MAX, SHAPE_PAGES, SHORTCUT_PINS_MAX, START_URLS_MAX,
};
use gleaner_page::shortcut::written::Written;

/// Regular expressions by class, in file order.
pub type Classes = IndexMap<Class, Vec<String>>;

/// Endpoints that replace renders, by class.
pub type ShortcutTables = IndexMap<Class, Pinned>;

/// One endpoint of a class, or one for each kind of URL that its pages have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pinned {
    /// A table `[shortcut.index]`.
    One(Box<Written>),
    /// Tables `[[shortcut.index]]`.
    Many(#[schemars(length(max = SHORTCUT_PINS_MAX))] Vec<Written>),
}

impl Pinned {
    /// All endpoints, in file order.
    #[must_use]
    pub fn all(&self) -> &[Written] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Render settings by class of page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Renders {
    /// Whether to learn requests that replace renders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortcut: Option<bool>,
    /// What the reader does on pages after their scripts have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acts: Option<RenderActs>,
    #[serde(flatten)]
    pub classes: IndexMap<Class, RenderWhen>,
}

/// The rules of one site: a file `rules/<name>.toml`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["start"]))]
pub struct SiteFile {
    /// Name of the site in the database, the logs and the archive. Default: the file name without `.toml`.
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Whether the service, and `gleaner crawl` without a name, crawl this site.
    pub enabled: bool,
    /// `gleaner rules learn` wrote this file, and nobody has read it yet: URLs are refused that act in an account's name, as on a site with
    /// `[login]`.
    pub learned: bool,
    /// What is done where a rule keeps its promise no more.
    pub learn: LearnFile,
    /// Family of sites whose rules follow the ones in this file, such as `families/nginx`.
    #[schemars(length(min = 1))]
    pub extends: Option<String>,
    /// Seed URLs where the crawl starts. Each must match a class of this file or of its family.
    #[schemars(length(max = START_URLS_MAX))]
    pub start: Vec<String>,
    /// Hosts that belong to the site, such as `example.org`, `example.org:8080` or `*.example.org`. Default: the hosts
    /// of the start URLs.
    #[schemars(length(max = HOSTS_PER_SITE_MAX))]
    pub hosts: Option<Vec<String>>,
    /// Fetch only URLs below the folders of the start URLs, on hosts that have a start URL. Default: as in the family,
    /// else false.
    pub below_start: Option<bool>,
    /// Mirrors of the site, such as `https://mirror.example.net`, tried in this order while the host of the first start
    /// URL is unreachable or throttles requests. Their URLs count as that host's.
    #[schemars(length(max = MIRRORS_MAX))]
    pub mirrors: Vec<String>,
    /// Regular expressions by class, matched against path and query. The first match wins, in file order; a URL without
    /// a match is not fetched. A group named `page` captures the page number.
    #[schemars(with = "ClassTable")]
    pub classes: Classes,
    /// Regular expressions of URLs that are never fetched. They take precedence over the classes of the same file.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub deny: Vec<String>,
    /// When to run page scripts, by class: `auto`, `always` or `never`. Default: as in the family, else `auto`.
    #[schemars(with = "RenderTable")]
    pub render: Renders,
    /// Requests that load the data of a class's pages, so that their scripts need not run. `gleaner rules explain --pin` prints them.
    #[schemars(with = "ShortcutTable")]
    pub shortcut: ShortcutTables,
    /// How to normalise the query parameters of URLs.
    pub parameters: ParametersFile,
    /// Limits on pages that lead to no torrent.
    pub budget: BudgetFile,
    /// How to parse the site's lists, and how often to recheck them.
    pub boards: BoardsFile,
    /// Category of all its torrents where nothing says more: a number of Newznab, such as 4020. `gleaner categories` lists them.
    pub category: Option<u32>,
    /// Where the site says what a torrent is, and what it means by that.
    pub categories: CategoriesFile,
    /// Charset of the site's pages (a label of the WHATWG Encoding Standard, such as `gbk`), if its headers and meta
    /// tags are wrong or missing.
    #[schemars(length(min = 1))]
    pub charset: Option<String>,
    /// Request rate and connection limits.
    pub rate: RateFile,
    /// How to log in with the operator's account, if torrents are only visible to members.
    #[schemars(extend("required" = ["user"]))]
    pub login: Option<LoginFile>,
    /// Number of queues that the URLs of one host are spread over (ALGORITHMS §9). If unset, `connections` where that is more than 2 (16 at most), else 1.
    #[schemars(range(min = 1, max = 1024))]
    pub lanes: Option<u16>,
    /// Key that assigns a URL to a lane. If unset, `xxh3` with several lanes.
    pub lane_key: Option<LaneKey>,
    /// Maximum depth: links from a start URL beyond which nothing is fetched.
    // One less than the largest depth, so that a deeper one can be represented.
    #[schemars(range(min = 0, max = 65_534))]
    pub depth_max: Option<u16>,
    /// Maximum number of URLs of this site that one crawl fetches.
    #[schemars(range(min = 1))]
    pub pages_max: Option<u64>,
    /// Minutes until the service rechecks start URLs and the first page of every list (ALGORITHMS §6: every three hours). Where this is not
    /// set, lists that change more often are rechecked about once per new entry, every ten minutes at most.
    #[schemars(range(min = 1, max = 525_600))]
    pub revisit_minutes: u32,
    /// Number of links that the service's increment crew follows from a rechecked page (ALGORITHMS §6). With 0, new
    /// URLs wait in the queue behind old ones.
    #[schemars(range(min = 0, max = INCREMENT_DEPTH_MAX))]
    pub increment_depth: u8,
    /// Whether to obey the site's robots.txt.
    pub robots: RobotsFile,
    /// URLs to request although they look as if they acted in the account's name. Only sites with `[login]` refuse such URLs.
    pub allow_actions: AllowActionsFile,
    /// Whether to read the sitemaps listed in robots.txt. Their URLs are judged like links.
    pub sitemaps: bool,
    /// Additional request headers. Cookies and authorisation headers are not allowed here.
    pub headers: IndexMapOfStrings,
    /// Proxy for this site: `http://`, `https://`, `socks5://` or `socks5h://` with host and port.
    #[schemars(length(min = 1))]
    pub proxy: Option<String>,
    /// Whether the site may resolve to private and loopback addresses, or the list of networks that it may resolve to:
    /// `["10.1.0.0/16", "fd00::/8"]`. Default: true if a start URL has such an address itself, else false.
    pub private_addresses: Option<PrivateAddresses>,
    /// URLs that `gleaner rules check` tests the rules on.
    pub examples: ExamplesFile,
}

impl Default for SiteFile {
    fn default() -> Self {
        Self {
            name: None,
            enabled: true,
            learned: false,
            learn: LearnFile::default(),
            extends: None,
            start: Vec::new(),
            hosts: None,
            below_start: None,
            mirrors: Vec::new(),
            classes: Classes::new(),
            deny: Vec::new(),
            render: Renders::default(),
            shortcut: ShortcutTables::new(),
            parameters: ParametersFile::default(),
            budget: BudgetFile::default(),
            boards: BoardsFile::default(),
            category: None,
            categories: CategoriesFile::default(),
            charset: None,
            rate: RateFile::default(),
            login: None,
            lanes: None,
            lane_key: None,
            depth_max: None,
            pages_max: None,
            revisit_minutes: 180,
            increment_depth: INCREMENT_DEPTH,
            robots: RobotsFile::default(),
            allow_actions: AllowActionsFile::default(),
            sitemaps: true,
            headers: IndexMapOfStrings::default(),
            proxy: None,
            private_addresses: None,
            examples: ExamplesFile::default(),
        }
    }
}

/// Rules shared by many sites that run the same software: a file `rules/families/<name>.toml`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FamilyFile {
    /// Name of the software and the versions that were examined.
    pub description: String,
    /// Family whose rules follow the ones in this file.
    #[schemars(length(min = 1))]
    pub extends: Option<String>,
    /// Fetch only URLs below the folders of the start URLs.
    pub below_start: Option<bool>,
    /// Regular expressions by class. See the site file.
    #[schemars(with = "ClassTable")]
    pub classes: Classes,
    /// Regular expressions of URLs that are never fetched.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub deny: Vec<String>,
    /// When to run page scripts, by class.
    #[schemars(with = "RenderTable")]
    pub render: Renders,
    /// Requests that load the data of a class's pages, from `/` at the page's own host. A site's own tables of a class replace the family's.
    #[schemars(with = "ShortcutTable")]
    pub shortcut: ShortcutTables,
    /// How to normalise the query parameters of URLs.
    pub parameters: ParametersFile,
    /// Where the software's sites say what a torrent is, and what they mean by that. A site's own keys win.
    pub categories: CategoriesFile,
    /// Charset of the pages, if headers and meta tags are wrong or missing.
    #[schemars(length(min = 1))]
    pub charset: Option<String>,
    /// How to log in, without the user. Only used by sites whose file has a `[login]` table.
    pub login: LoginFile,
    /// Paths (starting with `/`) or URLs that the rules are tested on.
    pub examples: ExamplesFile,
}

/// Values are strings; file order is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexMapOfStrings(pub IndexMap<String, String>);

impl JsonSchema for IndexMapOfStrings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Headers".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

/// The classes that a file may define, for the schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "its fields are read by the derive only")]
struct ClassTable {
    /// Lists of torrents, usually paginated, newest first.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    index: Option<Vec<String>>,
    /// Lists of forum threads.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    board: Option<Vec<String>>,
    /// Pages that describe one torrent and link to it.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    detail: Option<Vec<String>>,
    /// Forum threads.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    thread: Option<Vec<String>>,
    /// URLs that return a torrent.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    download: Option<Vec<String>>,
    /// Login pages: recognised, but never fetched as a link.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    login: Option<Vec<String>>,
    /// Other pages whose links are worth following.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    page: Option<Vec<String>>,
    /// Sitemaps that robots.txt does not list.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    sitemap: Option<Vec<String>>,
}

/// The classes whose pages may be rendered, for the schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "its fields are read by the derive only")]
struct RenderTable {
    /// Lists of torrents.
    index: Option<RenderWhen>,
    /// Lists of forum threads.
    board: Option<RenderWhen>,
    /// Pages that describe one torrent.
    detail: Option<RenderWhen>,
    /// Forum threads.
    thread: Option<RenderWhen>,
    /// Pages of the login, if they show no form without scripts or if scripts submit it.
    login: Option<RenderWhen>,
    /// Other pages.
    page: Option<RenderWhen>,
    /// Whether to learn the requests that load the data of pages, and to send them instead of rendering, for classes
    /// set to `auto`. Default: true. Requests pinned in `[shortcut]` are always used.
    shortcut: Option<bool>,
    /// What the reader does on pages after their scripts have run. Default: `auto`, which means `all`, but `turns` on sites with
    /// an account.
    acts: Option<RenderActs>,
}

/// The classes whose pages may have an endpoint, for the schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "its fields are read by the derive only")]
struct ShortcutTable {
    /// Lists of torrents.
    index: Option<Pinned>,
    /// Lists of forum threads.
    board: Option<Pinned>,
    /// Pages that describe one torrent.
    detail: Option<Pinned>,
    /// Forum threads.
    thread: Option<Pinned>,
    /// Other pages.
    page: Option<Pinned>,
}

/// Where a site says what a torrent is: a link in its row of a list, a link on its page, or the URL of the list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CategoriesFile {
    /// Regular expression of links that name a category, with the site's label as group `label`: `[?&]c=(?<label>[\d_]+)`. Matched
    /// against path and query; such a link need not be one that is fetched.
    #[schemars(length(min = 1))]
    pub link: Option<String>,
    /// The same for the URL of a list: its torrents have its label if their rows have none.
    #[schemars(length(min = 1))]
    pub list: Option<String>,
    /// The category of each label, as a number of Newznab: `{ "1_2" = 5070 }`. A label that is not here is kept as it is.
    #[schemars(extend("maxProperties" = CATEGORIES_MAX))]
    pub map: BTreeMap<String, u32>,
}

/// How to normalise the query parameters of URLs; compiled to a `url::Canonical`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParametersFile {
    /// Names of parameters that do not change the resource, such as `search_id` or `ref*`.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub drop: Vec<String>,
    /// If given, drop all parameters except these.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub keep: Vec<String>,
    /// Whether to sort parameters by name.
    pub sort: Option<bool>,
    /// Additional names of session ids, in the query and in the path.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub session: Vec<String>,
    /// Index files that the server returns for a folder, such as `index.html`. Without a query they are normalised to their folder.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub default_documents: Vec<String>,
    /// Whether to drop session ids that form a path segment, such as `/(S(…))/` of ASP.NET.
    pub path_sessions: Option<bool>,
    /// Whether to collapse `//` in a path to `/`.
    pub merge_slashes: Option<bool>,
    /// Whether to write values as a form sends them, so that `a%20[b]` and `a+%5Bb%5D` are one.
    pub form_values: Option<bool>,
}

/// Limits that keep a crawl out of traps; compiled to `BudgetRules`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetFile {
    /// Maximum number of pages of one URL shape to fetch before it must have led to a torrent.
    #[schemars(range(min = 10, max = 10_000_000))]
    pub shape_pages: u32,
    /// Whether to drop URLs that look like a trap, and shapes that have used up their budget.
    pub traps: bool,
    /// Whether to leave out details that show no more than their row in a list, whose torrent is stored.
    pub lean: bool,
}

impl Default for BudgetFile {
    fn default() -> Self {
        Self { shape_pages: SHAPE_PAGES, traps: true, lean: true }
    }
}

/// How to parse and recheck lists (docs/design/boards.md, docs/design/schedule.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoardsFile {
    /// CSS selector of the rows of a list. Default: detected.
    #[schemars(length(min = 1))]
    pub rows: Option<String>,
    /// CSS selector, within a row, of the link to its thread or torrent. Default: detected.
    #[schemars(length(min = 1))]
    pub row_link: Option<String>,
    /// CSS selector, within a row, of the time of its last activity. Default: detected.
    #[schemars(length(min = 1))]
    pub row_time: Option<String>,
    /// Time zone of the times that the site shows, such as `+08:00`. Default: detected.
    #[schemars(length(min = 1))]
    pub utc_offset: Option<String>,
    /// Rechecks per day that the service spends on all lists of the site together. Default: one recheck of each list
    /// every `revisit_minutes`.
    #[schemars(range(min = 1, max = 100_000))]
    pub looks_per_day: Option<u32>,
    /// Policy that distributes the rechecks.
    pub schedule: Policy,
}

/// Policy that decides when each list is rechecked (ALGORITHMS §10.3, §10.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// By the latest observations: a list is due once its expected news justify a recheck.
    #[default]
    Gleaner,
    /// From the paper: counts by weight, times by the daily profile.
    Bra,
    /// Equal counts, evenly spaced.
    Era,
    /// Counts by weight, evenly spaced.
    Wra,
    /// Equal counts, times by the daily profile.
    Lra,
}

impl Policy {
    /// The name used in rule files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gleaner => "gleaner",
            Self::Bra => "bra",
            Self::Era => "era",
            Self::Wra => "wra",
            Self::Lra => "lra",
        }
    }
}

/// How the operator's account logs in (docs/guide/members.md). The password is never part of this file: it comes from
/// a systemd credential, a file or an environment variable. Missing keys are taken from the family, then detected.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoginFile {
    /// Name of the account, or its e-mail address if the site asks for that. Set it in the site's file, never in a family.
    #[schemars(length(min = 1, max = 256))]
    pub user: Option<String>,
    /// URL of the page with the login form, or its path: starting with `/`, or relative to the first start URL. Only a
    /// path in a family. Default: found from the first start page.
    #[schemars(length(min = 1))]
    pub page: Option<String>,
    /// URL or path of a page that only members see, used to verify a session. Default: the first start page.
    #[schemars(length(min = 1))]
    pub probe: Option<String>,
    /// Position of the form on its page, starting at 1. Default: the one that looks like a login form.
    #[schemars(range(min = 1, max = 500))]
    pub form: Option<u16>,
    /// Name of the form field for the user name.
    #[schemars(length(min = 1))]
    pub user_field: Option<String>,
    /// Name of the form field for the password.
    #[schemars(length(min = 1))]
    pub password_field: Option<String>,
    /// Other fields to send, by name: a style, a security question and its answer. No password.
    pub fields: IndexMapOfStrings,
    /// Login through a JSON API instead of a form.
    pub json: Option<JsonLoginFile>,
}

/// A login by one POST of a JSON object whose response contains a token for `Authorization: Bearer`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url", "token"]))]
pub struct JsonLoginFile {
    /// URL or path that the object is sent to.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Member of the object for the user name. Default: `username`.
    #[schemars(length(min = 1))]
    pub user: Option<String>,
    /// Member of the object for the password. Default: `password`.
    #[schemars(length(min = 1))]
    pub password: Option<String>,
    /// Location of the token in the response, as a JSON pointer (RFC 6901): `/data/token`.
    #[schemars(length(min = 1))]
    pub token: String,
}

/// Request rate of a site. Rate and connections are limited per registrable domain (`www.example.org` and
/// `dl.example.org` count as one) and per IP address of the site's hosts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateFile {
    /// Requests per second; 1000000 means no limit.
    #[schemars(range(min = 0.0001, max = 1_000_000.0))]
    pub requests_per_second: f64,
    /// Maximum concurrent connections.
    #[schemars(range(min = 1, max = 256))]
    pub connections: u16,
    /// Minimum milliseconds between the starts of two requests, if longer than the rate requires.
    #[schemars(range(min = 0, max = 86_400_000))]
    pub delay_ms: u64,
    /// Pause of a connection after a response, as a multiple of the response time (at most a minute): a server that
    /// slows down gets fewer requests. Default: 1, or 0 if `requests_per_second` is no limit.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub rest_factor: Option<f32>,
    /// Hours of each day without requests, such as `08:00-20:00` or `22:30-06:00`.
    #[schemars(length(max = QUIET_WINDOWS_MAX))]
    pub quiet_hours: Vec<String>,
    /// Offset of the site's clock from UTC, such as `+08:00`; used for `quiet_hours` and `requests_per_day`.
    #[schemars(length(min = 1))]
    pub utc_offset: Option<String>,
    /// Maximum number of URLs of this site to fetch per day.
    #[schemars(range(min = 1))]
    pub requests_per_day: Option<u64>,
    /// Timeout of one request in seconds, from connecting to the last byte.
    #[schemars(range(min = 1, max = 300))]
    pub timeout_seconds: u32,
}

impl Default for RateFile {
    /// Slower than a person who opens links in tabs.
    fn default() -> Self {
        Self {
            requests_per_second: 1.0,
            connections: 2,
            delay_ms: 0,
            rest_factor: None,
            quiet_hours: Vec::new(),
            utc_offset: None,
            requests_per_day: None,
            timeout_seconds: 300,
        }
    }
}

/// Non-public addresses that may be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PrivateAddresses {
    /// All, or none.
    All(bool),
    /// Addresses in these networks.
    Of(#[schemars(length(max = NETWORKS_MAX))] Vec<String>),
}

/// Key that assigns a URL to a lane (ALGORITHMS §9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaneKey {
    /// The host: one lane.
    #[default]
    Host,
    /// ELFHash of the URL.
    Elf,
    /// xxh3 of the URL.
    Xxh3,
}

/// What is done where a rule keeps its promise no more.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LearnFile {
    /// Whether the service learns the site again then, and what it does with the repaired file.
    pub repair: Repair,
}

/// What the service does by itself where a rule keeps its promise no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Repair {
    /// Nothing.
    Off,
    /// It learns the site again and proposes a repaired file.
    #[default]
    Propose,
    /// It also puts that file in force, if all that speaks for it holds; the old one is kept.
    Apply,
}

/// Whether to obey robots.txt (RFC 9309).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RobotsFile {
    /// False fetches URLs that robots.txt disallows and requires a reason.
    pub obey: bool,
    /// Why robots.txt is not obeyed, such as `own server` or `written permission of 2026-03-01`.
    pub reason: Option<String>,
}

impl Default for RobotsFile {
    fn default() -> Self {
        Self { obey: true, reason: None }
    }
}

/// URLs that are requested although they look as if they acted in the account's name.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AllowActionsFile {
    /// Regular expressions, matched against path and query.
    #[schemars(length(max = ALLOWED_ACTIONS_MAX))]
    pub urls: Vec<String>,
    /// Why they may be requested, such as `a list of reports, seen to change nothing`.
    pub reason: Option<String>,
}

/// URLs that the rules are tested on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExamplesFile {
    /// URLs that the rules must accept, each a URL or `{ url = "…", class = "…" }`.
    #[schemars(length(max = EXAMPLES_MAX))]
    pub accept: Vec<Example>,
    /// URLs that the rules must refuse.
    #[schemars(length(max = EXAMPLES_MAX))]
    pub refuse: Vec<String>,
}

/// A URL that the rules must accept.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// In any class.
    Url(String),
    /// In this class.
    Classed(ClassedExample),
}

/// A URL and the class that it must get.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct ClassedExample {
    /// The URL.
    pub url: String,
    /// The class.
    pub class: Option<Class>,
    /// The page number that the group `page` must capture.
    pub page: Option<u64>,
}

impl Example {
    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        match self {
            Self::Url(url) => url,
            Self::Classed(example) => &example.url,
        }
    }
}

/// The JSON Schema of site files, for editors.
#[must_use]
pub fn site_schema() -> serde_json::Value {
    schemars::schema_for!(SiteFile).to_value()
}
