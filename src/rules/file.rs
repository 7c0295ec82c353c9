//! Site rule files and family files as written: the one source of the JSON Schema, of the checks of shape and of
//! `docs/reference/rules.md`.
//!
//! Everything here is data. `check` gives it meaning.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::class::{Class, RenderActs, RenderWhen};
use crate::limits::{
    EXAMPLES_MAX, HOSTS_PER_SITE_MAX, INCREMENT_DEPTH, INCREMENT_DEPTH_MAX, MIRRORS_MAX, NETWORKS_MAX,
    QUIET_WINDOWS_MAX, RULES_PER_SITE_MAX, SHAPE_PAGES, SHORTCUT_PINS_MAX, START_URLS_MAX,
};
use gleaner_page::shortcut::written::Written;

/// Regular expressions by class, in the order of the file.
pub type Classes = IndexMap<Class, Vec<String>>;

/// What stands in place of renders, by class.
pub type ShortcutTables = IndexMap<Class, Pinned>;

/// One endpoint of a class, or one for each kind of address that its pages have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pinned {
    /// A table `[shortcut.index]`.
    One(Box<Written>),
    /// Tables `[[shortcut.index]]`.
    Many(#[schemars(length(max = SHORTCUT_PINS_MAX))] Vec<Written>),
}

impl Pinned {
    /// All of them, in the order of the file.
    #[must_use]
    pub fn all(&self) -> &[Written] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// What is said of the pages of some classes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Renders {
    /// Whether requests are learned that stand in place of renders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortcut: Option<bool>,
    /// What is done with pages whose scripts were run.
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
    /// Name of the site in the database, the logs and the archive. Default: the file's name without `.toml`.
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Whether the service crawls this site, and `gleaner crawl` without a name.
    pub enabled: bool,
    /// A family of sites whose rules come behind the ones of this file, as `families/nginx`.
    #[schemars(length(min = 1))]
    pub extends: Option<String>,
    /// URLs where the crawl begins, each of a class of this file or of its family.
    #[schemars(length(max = START_URLS_MAX))]
    pub start: Vec<String>,
    /// Hosts that belong to the site, as `example.org`, `example.org:8080` or `*.example.org`. Default: the hosts
    /// of the start URLs.
    #[schemars(length(max = HOSTS_PER_SITE_MAX))]
    pub hosts: Option<Vec<String>>,
    /// Whether only URLs below the folders of the start URLs are fetched, on the hosts that have a start URL.
    /// Default: what the family says, else false.
    pub below_start: Option<bool>,
    /// Other places of the same site, as `https://mirror.example.net`, in the order in which they are tried while the
    /// host of the first start URL does not answer or asks for patience. Their URLs count as that host's.
    #[schemars(length(max = MIRRORS_MAX))]
    pub mirrors: Vec<String>,
    /// Regular expressions by class, matched against path and query. The first that matches wins, in the order of
    /// the file; a URL that none matches is not fetched. A group named `page` marks the page number.
    #[schemars(with = "ClassTable")]
    pub classes: Classes,
    /// Regular expressions of URLs that are never fetched; they come before the classes of the same file.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub deny: Vec<String>,
    /// Whether scripts are run, by class: `auto`, `always` or `never`. Default: what the family says, else `auto`.
    #[schemars(with = "RenderTable")]
    pub render: Renders,
    /// Which request brings the data of a class's pages, so that their scripts need not be run: what `gleaner rules explain --pin` prints.
    #[schemars(with = "ShortcutTable")]
    pub shortcut: ShortcutTables,
    /// What the site does with the parameters of its URLs.
    pub parameters: ParametersFile,
    /// How many pages that lead to no torrent are fetched.
    pub budget: BudgetFile,
    /// How the lists of the site are read, and how often they are looked at.
    pub boards: BoardsFile,
    /// The charset of the site's pages (a label of the WHATWG Encoding Standard, as `gbk`) where its own headers
    /// and meta tags are wrong or absent.
    #[schemars(length(min = 1))]
    pub charset: Option<String>,
    /// How fast the site is fetched.
    pub rate: RateFile,
    /// How the operator's account logs in, where the site shows torrents to members only.
    #[schemars(extend("required" = ["user"]))]
    pub login: Option<LoginFile>,
    /// Queues that the URLs of one host are spread over (ALGORITHMS §9).
    #[schemars(range(min = 1, max = 1024))]
    pub lanes: u16,
    /// What the lane of a URL is computed from.
    pub lane_key: LaneKey,
    /// Links from a start URL beyond which nothing is fetched.
    // One less than a depth can be, so that there is one beyond it.
    #[schemars(range(min = 0, max = 65_534))]
    pub depth_max: Option<u16>,
    /// URLs of this site that one crawl fetches.
    #[schemars(range(min = 1))]
    pub pages_max: Option<u64>,
    /// Minutes after which the service looks at start URLs, and at the first page of every list, again (ALGORITHMS §6: every three hours).
    #[schemars(range(min = 1, max = 525_600))]
    pub revisit_minutes: u32,
    /// Links that the service's increment crew follows from a page that it looks at again (ALGORITHMS §6); 0 leaves what is
    /// new to wait its turn behind what is old.
    #[schemars(range(min = 0, max = INCREMENT_DEPTH_MAX))]
    pub increment_depth: u8,
    /// Whether the site's robots.txt is obeyed.
    pub robots: RobotsFile,
    /// Whether the sitemaps that robots.txt names are read; their URLs are judged like links.
    pub sitemaps: bool,
    /// Request headers beyond the crawler's own. Cookies and authorisation do not belong here.
    pub headers: IndexMapOfStrings,
    /// Proxy for this site: `http://`, `https://`, `socks5://` or `socks5h://` with host and port.
    #[schemars(length(min = 1))]
    pub proxy: Option<String>,
    /// Whether the site may resolve to private and loopback addresses, or the networks that it may, as
    /// `["10.1.0.0/16", "fd00::/8"]`. Default: true where a start URL names such an address itself, else false.
    pub private_addresses: Option<PrivateAddresses>,
    /// URLs that `gleaner rules check` tries the rules on.
    pub examples: ExamplesFile,
}

impl Default for SiteFile {
    fn default() -> Self {
        Self {
            name: None,
            enabled: true,
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
            charset: None,
            rate: RateFile::default(),
            login: None,
            lanes: 1,
            lane_key: LaneKey::Host,
            depth_max: None,
            pages_max: None,
            revisit_minutes: 180,
            increment_depth: INCREMENT_DEPTH,
            robots: RobotsFile::default(),
            sitemaps: true,
            headers: IndexMapOfStrings::default(),
            proxy: None,
            private_addresses: None,
            examples: ExamplesFile::default(),
        }
    }
}

/// Rules that many sites share, because they run the same software: a file `rules/families/<name>.toml`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FamilyFile {
    /// What software this is, and which versions were looked at.
    pub description: String,
    /// A family whose rules come after the ones of this file.
    #[schemars(length(min = 1))]
    pub extends: Option<String>,
    /// Whether only URLs below the folders of the start URLs are fetched.
    pub below_start: Option<bool>,
    /// Regular expressions by class; see the site file.
    #[schemars(with = "ClassTable")]
    pub classes: Classes,
    /// Regular expressions of URLs that are never fetched.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub deny: Vec<String>,
    /// Whether scripts are run, by class.
    #[schemars(with = "RenderTable")]
    pub render: Renders,
    /// What the software does with the parameters of its URLs.
    pub parameters: ParametersFile,
    /// The charset of its pages, where its headers and meta tags are wrong or absent.
    #[schemars(length(min = 1))]
    pub charset: Option<String>,
    /// How its sites log in, but for the user: it counts where a site's file has a `[login]` of its own.
    pub login: LoginFile,
    /// Paths (beginning with `/`) or URLs that the rules are tried on.
    pub examples: ExamplesFile,
}

/// Values are strings; the file's order stays.
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

/// The classes that a file may name, for the schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "its fields are read by the derive only")]
struct ClassTable {
    /// Lists of torrents, mostly in pages, newest first.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    index: Option<Vec<String>>,
    /// Lists of a forum's threads.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    board: Option<Vec<String>>,
    /// Pages that describe one torrent and carry its link.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    detail: Option<Vec<String>>,
    /// Threads of a forum.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    thread: Option<Vec<String>>,
    /// What answers with a torrent.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    download: Option<Vec<String>>,
    /// Login pages: known, and never fetched as a link.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    login: Option<Vec<String>>,
    /// Other pages whose links are worth following.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    page: Option<Vec<String>>,
    /// Sitemaps that robots.txt does not name.
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
    /// Lists of a forum's threads.
    board: Option<RenderWhen>,
    /// Pages that describe one torrent.
    detail: Option<RenderWhen>,
    /// Threads of a forum.
    thread: Option<RenderWhen>,
    /// Pages that the login of the operator's account meets: where they show no form without their scripts, or their scripts send it.
    login: Option<RenderWhen>,
    /// Other pages.
    page: Option<RenderWhen>,
    /// Whether the requests that bring the data of pages are learned and asked for in place of renders, where a class's pages are `auto`.
    /// Default: true. What `[shortcut]` pins is used in any case.
    shortcut: Option<bool>,
    /// What is done with pages whose scripts were run, to see all that they have. Default: `auto`, which is `all`, and `turns` at sites with an account.
    acts: Option<RenderActs>,
}

/// The classes whose pages may have an endpoint, for the schema.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "its fields are read by the derive only")]
struct ShortcutTable {
    /// Lists of torrents.
    index: Option<Pinned>,
    /// Lists of a forum's threads.
    board: Option<Pinned>,
    /// Pages that describe one torrent.
    detail: Option<Pinned>,
    /// Threads of a forum.
    thread: Option<Pinned>,
    /// Other pages.
    page: Option<Pinned>,
}

/// What a site does with the parameters of its URLs; compiled, it is a `url::Canonical`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParametersFile {
    /// Names of parameters that do not change what a URL names, as `search_id` or `ref*`.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub drop: Vec<String>,
    /// Where given, only these parameters stay.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub keep: Vec<String>,
    /// Whether parameters are sorted by name.
    pub sort: Option<bool>,
    /// Names of session ids beyond the well-known ones, in the query and in the path.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub session: Vec<String>,
    /// Files that the server answers with for their folder, as `index.html`; without a query they are their folder.
    #[schemars(length(max = RULES_PER_SITE_MAX))]
    pub default_documents: Vec<String>,
    /// Whether session ids that stand as a folder, as `/(S(…))/` of ASP.NET, are dropped.
    pub path_sessions: Option<bool>,
    /// Whether `//` in a path is `/`.
    pub merge_slashes: Option<bool>,
}

/// What keeps a crawl out of traps; compiled, it is a `BudgetRules`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetFile {
    /// Pages of one URL shape that are fetched before it must have led to a torrent.
    #[schemars(range(min = 10, max = 10_000_000))]
    pub shape_pages: u32,
    /// Whether URLs that look like a trap, and shapes that have used up their budget, are cut.
    pub traps: bool,
}

impl Default for BudgetFile {
    fn default() -> Self {
        Self { shape_pages: SHAPE_PAGES, traps: true }
    }
}

/// How lists are read and looked at (docs/design/boards.md, docs/design/schedule.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoardsFile {
    /// CSS selector of the rows of a list, in place of what is found by itself.
    #[schemars(length(min = 1))]
    pub rows: Option<String>,
    /// CSS selector, within a row, of the link to its thread or torrent. Default: found by itself.
    #[schemars(length(min = 1))]
    pub row_link: Option<String>,
    /// CSS selector, within a row, of the time of its last activity. Default: found by itself.
    #[schemars(length(min = 1))]
    pub row_time: Option<String>,
    /// The zone that the site's times are told in, as `+08:00`. Default: found from what the site shows.
    #[schemars(length(min = 1))]
    pub utc_offset: Option<String>,
    /// Looks a day that the service spends on all lists of the site together. Default: as many as one look at each list every
    /// `revisit_minutes` makes.
    #[schemars(range(min = 1, max = 100_000))]
    pub looks_per_day: Option<u32>,
    /// What the service spends them by.
    pub schedule: Policy,
}

/// By what it is decided which list is looked at when (ALGORITHMS §10.3, §10.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// By what was just seen: a list is due when what waits on it is worth a look.
    #[default]
    Gleaner,
    /// The paper's: counts by weight, times by the profile of the day.
    Bra,
    /// Even counts, even times.
    Era,
    /// Counts by weight, even times.
    Wra,
    /// Even counts, times by the profile of the day.
    Lra,
}

impl Policy {
    /// As rule files write it.
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

/// How the operator's account logs in (docs/guide/members.md). The password never stands here: it comes from a systemd credential,
/// a file or an environment variable. What is not given is the family's to say, and then found on the site.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoginFile {
    /// The account's name, or its e-mail address where the site asks for that. A site's own to say, never a family's.
    #[schemars(length(min = 1, max = 256))]
    pub user: Option<String>,
    /// URL of the page with the login form, or its path: from `/` on, or relative to the first start URL. In a family a path.
    /// Default: found from the first start page.
    #[schemars(length(min = 1))]
    pub page: Option<String>,
    /// URL or path, likewise, of a page that only members see, to prove a session by. Default: the first start page.
    #[schemars(length(min = 1))]
    pub probe: Option<String>,
    /// Which form of the page it is, from 1. Default: the one that looks like a login form.
    #[schemars(range(min = 1, max = 500))]
    pub form: Option<u16>,
    /// Name of the field that takes the user's name.
    #[schemars(length(min = 1))]
    pub user_field: Option<String>,
    /// Name of the field that takes the password.
    #[schemars(length(min = 1))]
    pub password_field: Option<String>,
    /// Other fields that are sent, by name: a style, a list of security questions and the answer to yours. No password.
    pub fields: IndexMapOfStrings,
    /// Where the site logs in by a JSON API and not by a form.
    pub json: Option<JsonLoginFile>,
}

/// A login that is one POST of a JSON object, whose answer carries a token for `Authorization: Bearer`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url", "token"]))]
pub struct JsonLoginFile {
    /// URL or path, likewise, that the object is sent to.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Member of the object that takes the user's name. Default: `username`.
    #[schemars(length(min = 1))]
    pub user: Option<String>,
    /// Member that takes the password. Default: `password`.
    #[schemars(length(min = 1))]
    pub password: Option<String>,
    /// Where the token stands in the answer, as a JSON pointer (RFC 6901): `/data/token`.
    #[schemars(length(min = 1))]
    pub token: String,
}

/// How fast a site is fetched. Rate and connections are capped for each registrable domain (`www.example.org` and
/// `dl.example.org` are one) and for each address that hosts of the site have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateFile {
    /// Requests per second; 1000000 is no limit.
    #[schemars(range(min = 0.0001, max = 1_000_000.0))]
    pub requests_per_second: f64,
    /// Connections at a time.
    #[schemars(range(min = 1, max = 256))]
    pub connections: u16,
    /// Milliseconds between the beginnings of two requests, where that is longer than the rate asks for.
    #[schemars(range(min = 0, max = 86_400_000))]
    pub delay_ms: u64,
    /// How often the time of an answer its connection rests, counted from the end of the answer (a minute at most): a
    /// server that becomes slow is asked less. Default: 1, or 0 where `requests_per_second` is no limit.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub rest_factor: Option<f32>,
    /// Hours of each day without any request, as `08:00-20:00` or `22:30-06:00`.
    #[schemars(length(max = QUIET_WINDOWS_MAX))]
    pub quiet_hours: Vec<String>,
    /// Offset of the site's clock from UTC, as `+08:00`: what `quiet_hours` and the days of `requests_per_day` count by.
    #[schemars(length(min = 1))]
    pub utc_offset: Option<String>,
    /// URLs of this site that are fetched on one day.
    #[schemars(range(min = 1))]
    pub requests_per_day: Option<u64>,
    /// Seconds that one request may last, from connecting to the last byte.
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

/// Which addresses off the public internet may be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PrivateAddresses {
    /// All, or none.
    All(bool),
    /// Those of these networks.
    Of(#[schemars(length(max = NETWORKS_MAX))] Vec<String>),
}

/// What the lane of a URL is computed from (ALGORITHMS §9).
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

/// Whether robots.txt (RFC 9309) is obeyed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RobotsFile {
    /// False fetches what robots.txt closes; a reason is then due.
    pub obey: bool,
    /// Why robots.txt is not obeyed, as `own server` or `written permission of 2026-03-01`.
    pub reason: Option<String>,
}

impl Default for RobotsFile {
    fn default() -> Self {
        Self { obey: true, reason: None }
    }
}

/// URLs that the rules are tried on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExamplesFile {
    /// URLs that the rules must take, each a URL or `{ url = "…", class = "…" }`.
    #[schemars(length(max = EXAMPLES_MAX))]
    pub accept: Vec<Example>,
    /// URLs that the rules must refuse.
    #[schemars(length(max = EXAMPLES_MAX))]
    pub refuse: Vec<String>,
}

/// A URL that the rules must take.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// As any class.
    Url(String),
    /// As this class.
    Classed(ClassedExample),
}

/// A URL and the class that it must be taken as.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["url"]))]
pub struct ClassedExample {
    /// The URL.
    pub url: String,
    /// The class.
    pub class: Option<Class>,
    /// The page number that the group `page` must find.
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
