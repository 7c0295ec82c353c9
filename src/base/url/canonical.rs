//! Parameter rules of a site: which parameters do not change what a URL names.

/// A parameter name in a rule file: exact as in the URL, or a prefix that ends with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: Box<str>,
    is_prefix: bool,
}

impl NamePattern {
    /// Parses `name` or `prefix*`.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        match pattern.strip_suffix('*') {
            Some(prefix) => Self { text: prefix.into(), is_prefix: true },
            None => Self { text: pattern.into(), is_prefix: false },
        }
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        if self.is_prefix { name.starts_with(&*self.text) } else { name == &*self.text }
    }
}

/// Parameter rules of a site. The default drops well-known session IDs and tracking parameters, and keeps everything
/// else in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Canonical {
    /// Query parameters that do not change what the URL names.
    pub drop: Vec<NamePattern>,
    /// If not empty, only these parameters are kept. This overrides the well-known lists below: `keep = ["*"]` keeps
    /// even `utm_source`.
    pub keep: Vec<NamePattern>,
    /// Names of session IDs, in the query and in the path (`/page;name=…`).
    pub session: Vec<NamePattern>,
    /// Sorts the parameters by name; equal names keep their order.
    pub sort: bool,
    /// Default documents such as `index.html`, served for their folder. Without a query, they are replaced by their
    /// folder. Off by default, because servers differ.
    pub default_documents: Vec<Box<str>>,
    /// Drops session IDs that are a folder of their own: `/(S(…))/` of ASP.NET, `/sid-<32 hex digits>/`. Off by
    /// default, because servers that need one redirect to it, and the redirect would lead to itself.
    pub path_sessions: bool,
    /// Treats `//` in a path as `/`.
    pub merge_slashes: bool,
    /// Writes values as a form sends them: `%20` and `+` are one, and so are `[` and `%5B`. Off by default, because servers differ.
    pub form_values: bool,
}

/// Why a parameter was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    Empty,
    ByRule,
    NotKept,
    Session,
    Tracking,
}

impl Dropped {
    /// A description of the reason, for `rules explain`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty parameter",
            Self::ByRule => "named in parameters.drop",
            Self::NotKept => "not named in parameters.keep",
            Self::Session => "session id",
            Self::Tracking => "tracking parameter",
        }
    }
}

/// Session IDs that forums and application servers put into the URLs of visitors without cookies. These names have no
/// other use.
const SESSION_NAMES: [&str; 7] = ["jsessionid", "phpsessid", "asp.net_sessionid", "cfid", "cftoken", "zenid", "oscsid"];

/// Session IDs only if the value looks like one: 32 hex digits (phpBB's `sid`, vBulletin's `s`).
const SESSION_NAMES_IF_HASH: [&str; 4] = ["sid", "s", "session_id", "sessionid"];

/// Tracking parameters: they report to advertisers or statistics where a visitor came from and have no other use.
/// This is the common part of the lists of ClearURLs, Neat URL and Firefox's query stripping. Names that sites also
/// use for their own purposes (`ref`, `from`, `spm`, `source`) are left to the rule file.
fn is_tracking_name(name: &str) -> bool {
    matches!(
        name,
        // Google
        "gclid" | "gclsrc" | "dclid" | "gbraid" | "wbraid" | "srsltid" | "_ga" | "_gl" | "_gac"
        // Facebook, Instagram, Twitter, TikTok, LinkedIn, Pinterest, Reddit
        | "fbclid" | "igshid" | "igsh" | "twclid" | "ttclid" | "li_fat_id" | "epik" | "rdt_cid"
        // Microsoft, Yandex
        | "msclkid" | "yclid" | "ysclid" | "ymclid" | "_openstat"
        // Mailchimp, HubSpot, Vero, Marketo, Drip, Omeda, Olytics, Wicked Reports
        | "mc_cid" | "mc_eid" | "_hsenc" | "_hsmi" | "__hstc" | "__hssc" | "__hsfp" | "hsCtaTracking" | "vero_id"
        | "vero_conv" | "mkt_tok" | "__s" | "oly_anon_id" | "oly_enc_id" | "wickedid" | "rb_clickid"
        // Matomo
        | "mtm_source" | "mtm_medium" | "mtm_campaign" | "mtm_keyword" | "mtm_content" | "mtm_cid" | "mtm_group"
        | "pk_source" | "pk_medium" | "pk_campaign" | "pk_keyword" | "pk_content" | "pk_cid" | "pk_kwd"
        | "piwik_campaign" | "piwik_kwd" | "matomo_campaign" | "matomo_kwd"
    )
}

impl Canonical {
    /// Why this raw `name=value` text is dropped; None if it is kept.
    #[must_use]
    pub fn dropped(&self, parameter: &str) -> Option<Dropped> {
        if parameter.is_empty() {
            return Some(Dropped::Empty);
        }
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if named(&self.drop, name) {
            return Some(Dropped::ByRule);
        }
        if named(&self.session, name) {
            return Some(Dropped::Session);
        }
        if !self.keep.is_empty() {
            return if named(&self.keep, name) { None } else { Some(Dropped::NotKept) };
        }
        if is_session(name, value) {
            return Some(Dropped::Session);
        }
        is_tracking(name).then_some(Dropped::Tracking)
    }

    /// True if a path parameter (`;name=value`) is a session ID.
    pub(super) fn is_path_session(&self, parameter: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        // A listing may hold a file with such a name, and no session ID ends so.
        if value.len() >= 8 && value.as_bytes()[value.len() - 8..].eq_ignore_ascii_case(b".torrent") {
            return false;
        }
        named(&self.session, name) || (!named(&self.keep, name) && is_session(name, value))
    }
}

pub(super) fn named(patterns: &[NamePattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(name))
}

pub(super) fn is_session(name: &str, value: &str) -> bool {
    // The longest name has 17 letters; classic ASP cookies have 12 plus 8 random ones.
    if name.len() > 20 {
        return false;
    }
    let same = |known: &&str| name.eq_ignore_ascii_case(known);
    if SESSION_NAMES.iter().any(same) {
        return true;
    }
    if name.len() == 20 && name.as_bytes()[..12].eq_ignore_ascii_case(b"aspsessionid") {
        return true;
    }
    value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) && SESSION_NAMES_IF_HASH.iter().any(same)
}

pub(super) fn is_tracking(name: &str) -> bool {
    name.starts_with("utm_") || is_tracking_name(name)
}
