//! `[web]`: where the HTTP server listens, and for whom.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::searches::SavedSearch;
use crate::fault::Faults;
use crate::schema::Spans;

/// `[web]` as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebFile {
    /// Address and port of the HTTP server, `unix:/PATH` for a socket, or `off`. Other addresses than loopback's need a token
    /// (`gleaner token new`).
    #[schemars(length(min = 1))]
    pub listen: String,
    /// Scheme, host and port under which others reach the server, for links: `https://gleaner.example`. Default: the host that a request
    /// is for.
    #[schemars(length(min = 1))]
    pub public_url: Option<String>,
    /// The path below which everything is served, as behind a proxy: `/gleaner`.
    pub base_path: String,
    /// Host names that requests may be for, beside those of this machine and of `public_url`.
    pub hosts: Vec<String>,
    /// Who needs a token: `remote`, everybody but this machine itself; `all`, everybody, as behind a proxy on this machine. With a `public_url`,
    /// everybody does.
    pub auth: Auth,
    /// Addresses and networks of proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are believed: `["127.0.0.1", "10.0.0.0/8"]`; `unix` for whoever
    /// connects to the socket.
    pub trusted_proxies: Vec<String>,
    /// Requests of one address a second; twelve times as many may come at once. Whoever sends more is told to wait (429).
    #[schemars(range(min = 1, max = 100_000))]
    pub requests_per_second: u32,
    /// Rule files are edited on their page, by whoever shows a token of the scope `admin`, also on this machine; the service needs the right to write to their folder.
    pub edit_rules: bool,
}

impl Default for WebFile {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8717".to_owned(),
            public_url: None,
            base_path: String::new(),
            hosts: Vec::new(),
            auth: Auth::Remote,
            trusted_proxies: Vec::new(),
            requests_per_second: 25,
            edit_rules: false,
        }
    }
}

/// Who needs a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    #[default]
    Remote,
    All,
}

/// Who passes requests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proxy {
    Net(IpNet),
    /// Whoever connects to the Unix socket.
    Unix,
}

impl FromStr for Proxy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let net = |text: &str| text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok();
        match text {
            "unix" => Ok(Self::Unix),
            text => net(text)
                .map(Self::Net)
                .ok_or("write addresses and networks, as \"127.0.0.1\" and \"10.0.0.0/8\", or \"unix\""),
        }
    }
}

impl Proxy {
    /// True for an address of it; None is that of whoever connects to a Unix socket.
    #[must_use]
    pub fn has(&self, address: Option<IpAddr>) -> bool {
        match (self, address) {
            (Self::Net(net), Some(address)) => net.contains(&address.to_canonical()),
            (Self::Unix, None) => true,
            _ => false,
        }
    }
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Tcp(SocketAddr),
    /// A socket's path; who may open it, its folder says.
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.starts_with('/') {
                Ok(Self::Unix(path.into()))
            } else {
                Err("write unix: and an absolute path")
            };
        }
        text.parse()
            .map(Self::Tcp)
            .map_err(|_| "write ADDRESS:PORT, as 127.0.0.1:8717 or [::1]:8717, unix:/PATH, or off")
    }
}

impl Listen {
    /// True if only this machine can connect.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// `[web]`, validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// None serves nothing.
    pub listen: Option<Listen>,
    /// Without a final slash.
    pub public_url: Option<String>,
    /// Empty, or with a slash in front and none at the end.
    pub base_path: String,
    pub hosts: Vec<String>,
    pub auth: Auth,
    /// Proxies that are believed.
    pub proxies: Vec<Proxy>,
    /// Of one address.
    pub requests_per_second: u32,
    pub edit_rules: bool,
    /// `[[search]]`.
    pub searches: Vec<SavedSearch>,
}

/// What no file changes.
impl Default for Web {
    fn default() -> Self {
        Self { listen: None, ..validated(&WebFile::default()) }
    }
}

/// Reports what cannot be.
pub(super) fn check(file: &WebFile, spans: &Spans, faults: &mut Faults) {
    let mut fault = |key: &str, message: &str, hint: &str| {
        faults.add(spans.value(key), key, message, Some(hint.to_owned()));
    };
    if file.listen != "off"
        && let Err(hint) = file.listen.parse::<Listen>()
    {
        fault("web.listen", "nothing can listen there", hint);
    }
    if let Some(url) = &file.public_url {
        let is_origin = url::Url::parse(url).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https")
                && matches!(url.path(), "" | "/")
                && url.username().is_empty()
                && url.password().is_none()
                && url.query().is_none()
                && url.fragment().is_none()
        });
        if !is_origin {
            fault(
                "web.public_url",
                "this is not the beginning of a URL",
                "write https://gleaner.example; a path belongs in base_path",
            );
        }
    }
    let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"/-_.".contains(&of);
    let path = &file.base_path;
    if !path.is_empty() && (!path.starts_with('/') || path.contains("//") || !path.bytes().all(is_plain)) {
        fault("web.base_path", "this is not a path", "write /gleaner: letters, digits, - _ . between slashes");
    }
    for (nth, proxy) in file.trusted_proxies.iter().enumerate() {
        if let Err(hint) = proxy.parse::<Proxy>() {
            fault(&format!("web.trusted_proxies[{nth}]"), "this is no address", hint);
        }
    }
    if file.hosts.iter().any(|host| host.is_empty() || host.contains(['/', ':', ' '])) {
        fault("web.hosts", "these are not host names", "write names alone, without scheme and port: [\"gleaner.lan\"]");
    }
}

/// What [`check`] has found nothing wrong with.
pub(super) fn validated(file: &WebFile) -> Web {
    Web {
        listen: file.listen.parse().ok(),
        public_url: file.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned()),
        base_path: file.base_path.trim_end_matches('/').to_owned(),
        hosts: file.hosts.clone(),
        auth: file.auth,
        proxies: file.trusted_proxies.iter().filter_map(|proxy| proxy.parse().ok()).collect(),
        requests_per_second: file.requests_per_second,
        edit_rules: file.edit_rules,
        searches: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_addresses_networks_or_the_socket() {
        let has = |text: &str, address: Option<[u8; 4]>| text.parse::<Proxy>().unwrap().has(address.map(IpAddr::from));
        assert!(has("127.0.0.1", Some([127, 0, 0, 1])) && !has("127.0.0.1", Some([127, 0, 0, 2])));
        assert!(has("10.0.0.0/8", Some([10, 9, 8, 7])) && !has("10.0.0.0/8", Some([11, 0, 0, 1])));
        assert!(has("unix", None) && !has("unix", Some([127, 0, 0, 1])) && !has("0.0.0.0/0", None));
        assert!("10.0.0.0/8".parse::<Proxy>().unwrap().has(Some("::ffff:10.1.1.1".parse().unwrap())));
        for wrong in ["", "proxy", "10.0.0.0/33", "10.0.0.1:80"] {
            assert!(wrong.parse::<Proxy>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn places_to_listen_are_addresses_or_sockets() {
        assert_eq!("127.0.0.1:80".parse(), Ok(Listen::Tcp(([127, 0, 0, 1], 80).into())));
        assert!(
            "[::1]:80".parse::<Listen>().unwrap().is_local() && !"0.0.0.0:80".parse::<Listen>().unwrap().is_local()
        );
        assert_eq!("unix:/run/x".parse(), Ok(Listen::Unix("/run/x".into())));
        for wrong in ["8717", "localhost:80", "unix:x", "", "unix:"] {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }
}
