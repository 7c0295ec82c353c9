//! The address guard: names resolve to public addresses only, unless the site's rule file allows others
//! (`private_addresses`). A page can link to any name, and any name can resolve to the crawler's own network. The
//! guard works where the connection is made, so that the checked address is the one connected to (no rebinding).
//!
//! With a proxy, the proxy resolves a site's names (`http`, `https`, `socks5h`) and must refuse addresses itself;
//! with `socks5` they are resolved and guarded here. The proxy's own name comes from the operator and is not guarded.
//! Never connects; [`super::dns`] caches the names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::dns::Dns;
use super::{FailureKind, FetchFailure};

/// Addresses to which a site's connections may lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    /// To the public internet.
    #[default]
    Public,
    /// To the public internet and these networks.
    And(Arc<[IpNet]>),
    /// Anywhere.
    Any,
}

/// An invalid network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a network\nhint: write an address with the length of its prefix, as in `10.1.0.0/16` or `fd00::/8`"
)]
pub struct NetworkError(pub String);

impl AddressPolicy {
    /// The public internet and these networks: `10.1.0.0/16`, `fd00::/8`, or a single address.
    ///
    /// # Errors
    /// Names the first invalid network.
    pub fn with_networks<S: AsRef<str>>(networks: &[S]) -> Result<Self, NetworkError> {
        let network = |text: &S| {
            let text = text.as_ref().trim();
            let parsed = text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            parsed.ok_or_else(|| NetworkError(text.to_owned()))
        };
        Ok(Self::And(networks.iter().map(network).collect::<Result<_, _>>()?))
    }

    /// True if connections to the address are allowed. An IPv6 address that embeds an IPv4 address counts as that
    /// one.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Public => is_public(address),
            Self::And(networks) => {
                let canonical = address.to_canonical();
                is_public(address) || networks.iter().any(|network| network.contains(&canonical))
            }
        }
    }

    /// Refuses a URL whose host is an address that is not allowed. The URL standard unifies all spellings:
    /// `2130706433`, `0x7f.1` and `127.1` arrive here as 127.0.0.1.
    ///
    /// # Errors
    /// Names the address and the fix.
    pub fn check_literal(&self, url: &url::Url) -> Result<(), AddressRefused> {
        match literal(url) {
            Some(address) if !self.allows(address) => {
                Err(AddressRefused { host: url.host_str().unwrap_or_default().to_owned(), address })
            }
            _ => Ok(()),
        }
    }

    /// The allowed addresses of a name; an error if it has only others. An empty list stays empty.
    ///
    /// # Errors
    /// Names the first address and the fix.
    pub fn allowed(&self, host: &str, found: &[IpAddr]) -> Result<Vec<IpAddr>, AddressRefused> {
        let allowed: Vec<IpAddr> = found.iter().copied().filter(|address| self.allows(*address)).collect();
        match found.first() {
            Some(first) if allowed.is_empty() => Err(AddressRefused { host: host.to_owned(), address: *first }),
            _ => Ok(allowed),
        }
    }
}

/// The IP address of a URL's host, if it is one.
#[must_use]
pub fn literal(url: &url::Url) -> Option<IpAddr> {
    match url.host()? {
        url::Host::Ipv4(address) => Some(address.into()),
        url::Host::Ipv6(address) => Some(address.into()),
        url::Host::Domain(_) => None,
    }
}

/// A refusal by the guard; the text names the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{host}` is at {address}, which is not a public address\nhint: if it may be crawled, write `private_addresses = true` in the \
     site's rule file, or name its network: `private_addresses = [\"10.1.0.0/16\"]`"
)]
pub struct AddressRefused {
    pub host: String,
    pub address: IpAddr,
}

impl From<AddressRefused> for FetchFailure {
    fn from(refused: AddressRefused) -> Self {
        Self { kind: FailureKind::AddressRefused, detail: refused.to_string() }
    }
}

/// The process's resolver as seen by one site's client: without the addresses to which the site may not connect.
#[derive(Clone)]
pub struct GuardedResolver {
    dns: Dns,
    policy: AddressPolicy,
    /// The proxy's name, which may resolve to anything.
    exempt: Option<Box<str>>,
}

impl GuardedResolver {
    /// A guard that exempts the proxy's own host.
    #[must_use]
    pub fn new(dns: Dns, policy: AddressPolicy, proxy: Option<&url::Url>) -> Self {
        Self { dns, policy, exempt: proxy.and_then(url::Url::host_str).map(Into::into) }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { dns, policy, exempt } = self.clone();
        Box::pin(async move {
            let host = name.as_str();
            // A SOCKS client asks for the address of an address, too.
            let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            let found = match literal {
                Ok(address) => Arc::from([address]),
                Err(_) => dns.lookup(host).await?.addresses,
            };
            let is_exempt = exempt.is_some_and(|exempt| exempt.eq_ignore_ascii_case(host));
            let addresses = if is_exempt { found.to_vec() } else { policy.allowed(host, &found)? };
            // The client sets the port.
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// True for addresses of the public internet: global unicast, by the special-purpose registries of RFC 6890 and its
/// updates. IPv6 addresses that embed an IPv4 address count as that one.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    !match a {
        // This network, private (RFC 1918), loopback; multicast, reserved and broadcast from 224 on.
        0 | 10 | 127 | 224.. => true,
        // Carrier-grade NAT (RFC 6598); contains a cloud metadata address (100.100.100.200).
        100 => (64..128).contains(&b),
        // Link-local; 169.254.169.254 serves the secrets of cloud machines.
        169 => b == 254,
        // On Azure's machines this address is Azure itself.
        168 => (b, c, d) == (63, 129, 16),
        172 => (16..32).contains(&b),
        // Private; protocol assignments, documentation, the former 6to4 relays.
        192 => b == 168 || (b == 0 && matches!(c, 0 | 2)) || (b == 88 && c == 99),
        // Benchmarks (RFC 2544), documentation.
        198 => matches!(b, 18 | 19) || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    }
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Mapped (RFC 4291 §2.5.5.2) and translated (RFC 2765), NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // Compatible (RFC 4291 §2.5.5.1); `::` and `::1` are 0.0.0.0 and 0.0.0.1.
        [0, 0, 0, 0, 0, 0, high, low] => embedded(high, low),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => embedded(high, low),
        // Protocol assignments, Teredo among them (RFC 2928); documentation (RFC 3849, RFC 9637).
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // ISATAP (RFC 5214 §6.1): a tunnel endpoint embeds the address behind it.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] if !embedded(high, low) => false,
        // Global unicast is 2000::/3. Unique-local, link-local, site-local and multicast lie outside.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests;
