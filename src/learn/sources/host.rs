//! Names of hosts: which can be a new source, and which belong together.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::limits::{HOST_BYTES_MAX, LABEL_BYTES_MAX};

gleaner_base::topics! { source: FRONTS, INNER; }

/// Hosts of known sites.
#[derive(Clone, Debug, Default)]
pub struct Own {
    sites: HashSet<String>,
}

impl Own {
    /// From hosts as rule files and the database have them: `host`, `host:port` or `*.host`.
    #[must_use]
    pub fn of<'h>(hosts: impl Iterator<Item = &'h str>) -> Self {
        let name = |host: &'h str| {
            let host = host.strip_prefix("*.").unwrap_or(host);
            let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
            site_of(&host.to_ascii_lowercase()).to_owned()
        };
        Self { sites: hosts.map(name).collect() }
    }

    /// True for a host of a known site, or below one.
    #[must_use]
    pub fn has(&self, host: &str) -> bool {
        let mut name = Some(host);
        std::iter::from_fn(|| {
            let this = name?;
            name = this.split_once('.').map(|(_, above)| above);
            Some(this)
        })
        .any(|above| self.sites.contains(above))
    }
}

/// The host at which the site of this one is expected: `tracker.h.example` announces for `h.example`, and `www.h.example` is the same.
#[must_use]
pub fn site_of(host: &str) -> &str {
    match host.split_once('.') {
        Some((front, rest)) if FRONTS.has(front) && psl::domain_str(rest).is_some() => rest,
        _ => host,
    }
}

/// The name under which a host may be proposed; None for addresses, names within a network, public suffixes and own hosts.
#[must_use]
pub fn proposable(host: &str, own: &Own) -> Option<String> {
    let host = name(host)?;
    (!own.has(&host)).then_some(host)
}

/// The same, whether known or not.
#[must_use]
pub fn name(host: &str) -> Option<String> {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if host.len() > HOST_BYTES_MAX {
        return None;
    }
    let is_inner = host.split('.').rev().scan(String::new(), |end, label| {
        *end = if end.is_empty() { label.to_owned() } else { format!("{label}.{end}") };
        Some(end.clone())
    });
    let is_inner = is_inner.into_iter().any(|end| INNER.has(&end));
    let is_name = url::Host::parse(&host).is_ok_and(|of| matches!(of, url::Host::Domain(name) if name == host));
    let is_plain = host.split('.').all(|label| {
        let is_sign = |of: u8| of.is_ascii_alphanumeric() || of == b'-' || of == b'_';
        (1..=LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(is_sign)
    });
    let is_public = host.parse::<IpAddr>().is_err() && !is_inner && psl::domain_str(&host).is_some();
    (is_name && is_plain && is_public).then(|| site_of(&host).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_names_are_proposed_and_fronts_stand_for_their_site() {
        let told = |host: &str| proposable(host, &Own::default());
        for (host, as_what) in [
            ("linuxtracker.example", Some("linuxtracker.example")),
            ("WWW.Linuxtracker.example.", Some("linuxtracker.example")),
            ("tracker.h.co.uk", Some("h.co.uk")),
            ("tracker.co.uk", Some("tracker.co.uk")),
            ("t.me", Some("t.me")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("me.github.io", Some("me.github.io")),
            ("github.io", None),
            ("co.uk", None),
            ("com", None),
            ("localhost", None),
            ("a.localhost", None),
            ("nas.local", None),
            ("box.home.arpa", None),
            ("127.0.0.1", None),
            ("0x7f.1", None),
            ("[::1]", None),
            ("", None),
            ("..", None),
            ("a b.example", None),
            ("a\u{1b}[31m.example", None),
        ] {
            assert_eq!(told(host).as_deref(), as_what, "{host}");
        }
        assert_eq!(told(&format!("{}.example", "x".repeat(64))), None);
        assert_eq!(told(&"x.".repeat(200)), None);
    }

    #[test]
    fn hosts_of_known_sites_and_those_below_them_are_own() {
        let own = Own::of(["www.site.example", "*.wide.example:8080", "s1.test", "127.0.0.1:80"].into_iter());
        for host in ["site.example", "img.site.example", "tracker.site.example", "a.b.wide.example", "s1.test"] {
            assert!(own.has(host), "{host}");
        }
        for host in ["mysite.example", "s2.test", "test", "example"] {
            assert!(!own.has(host), "{host}");
        }
    }
}
