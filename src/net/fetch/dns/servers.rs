//! The sources of answers: the hosts file, then the name servers of resolv.conf, then the C library. Files are read
//! again after a change, so that it also works for a service that started before the network did, or on a machine
//! that moved.
//!
//! - A name in the hosts file has the addresses of the file, and no others.
//! - A name with a dot is complete: the search list is for names without one. (A wildcard in a search domain would
//!   give every dead host an address.)
//! - The C library is used if resolv.conf names no server, and for `.local` and names without a dot that the DNS does
//!   not know: nsswitch may know more (mdns, myhostname, a container's own).

use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hickory_resolver::config::{LookupIpStrategy, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::{Query, ResponseCode};
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, TokioResolver, net, system_conf};
use tokio::time::Instant;

use super::DnsError;
use crate::limits;

/// The servers' answer for a name.
pub struct Found {
    pub addresses: Result<Arc<[IpAddr]>, DnsError>,
    pub ttl: Duration,
}

/// The system's sources of host addresses.
pub struct Servers {
    resolv_conf: Box<Path>,
    hosts: Box<Path>,
    read: Mutex<Option<ParsedFiles>>,
}

/// The parsed files.
#[derive(Clone)]
struct ParsedFiles {
    /// None if no server is configured.
    resolver: Option<TokioResolver>,
    hosts: Arc<Hosts>,
    changed: [Option<SystemTime>; 2],
    checked: Instant,
}

impl Servers {
    pub fn system() -> Self {
        Self::of(Path::new("/etc/resolv.conf"), Path::new("/etc/hosts"))
    }

    pub fn of(resolv_conf: &Path, hosts: &Path) -> Self {
        Self { resolv_conf: resolv_conf.into(), hosts: hosts.into(), read: Mutex::new(None) }
    }

    /// Servers given by the caller instead of the files.
    #[cfg(test)]
    pub fn fixed(config: ResolverConfig, options: ResolverOpts, hosts: &str) -> Self {
        let mut read = Hosts::default();
        read.read_hosts_conf(hosts.as_bytes()).unwrap();
        let read = ParsedFiles {
            resolver: build(config, options),
            hosts: Arc::new(read),
            changed: [None, None],
            checked: Instant::now(),
        };
        let nowhere = Path::new("/nowhere/at/all");
        Self { read: Mutex::new(Some(read)), ..Self::of(nowhere, nowhere) }
    }

    /// Queries both address families.
    pub async fn ask(&self, host: &str) -> Found {
        let Ok(name) = Name::from_ascii(host) else { return Found::none(DnsError::NoSuchName(host.into())) };
        let ParsedFiles { resolver, hosts, .. } = self.read();
        if let Some(found) = in_hosts_file(&hosts, &name) {
            return found;
        }
        let is_local = name.num_labels() < 2 || host.trim_end_matches('.').to_ascii_lowercase().ends_with(".local");
        let Some(resolver) = resolver else { return ask_libc(host).await };
        match ask_servers(&resolver, name, host).await {
            Found { addresses: Err(_), .. } if is_local => ask_libc(host).await,
            found => found,
        }
    }

    /// The files, read again if they have changed.
    fn read(&self) -> ParsedFiles {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(read) = &*read
            && now < read.checked + limits::DNS_FILES_TIME
        {
            return read.clone();
        }
        let changed = [&self.resolv_conf, &self.hosts].map(|path| path.metadata().ok()?.modified().ok());
        let fresh = match read.take() {
            Some(read) if read.changed == changed => ParsedFiles { checked: now, ..read },
            _ => ParsedFiles { resolver: self.resolver(), hosts: Arc::new(self.hosts()), changed, checked: now },
        };
        read.insert(fresh).clone()
    }

    fn resolver(&self) -> Option<TokioResolver> {
        let text = std::fs::read(&self.resolv_conf).ok()?;
        let (config, options) = system_conf::parse_resolv_conf(text).ok()?;
        build(config, options)
    }

    fn hosts(&self) -> Hosts {
        let mut hosts = Hosts::default();
        if let Ok(file) = std::fs::File::open(&self.hosts)
            && let Err(error) = hosts.read_hosts_conf(file)
        {
            tracing::warn!(%error, path = %self.hosts.display(), "hosts file not read to its end");
        }
        hosts
    }
}

/// A resolver without cache and hosts file, which this module provides.
fn build(config: ResolverConfig, mut options: ResolverOpts) -> Option<TokioResolver> {
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build().ok()
}

fn in_hosts_file(hosts: &Hosts, name: &Name) -> Option<Found> {
    let ask = |kind| hosts.lookup_static_host(&Query::query(name.clone(), kind));
    let found: Vec<Lookup> = [RecordType::A, RecordType::AAAA].into_iter().filter_map(ask).collect();
    // The file may change without notice.
    (!found.is_empty()).then(|| Found { ttl: limits::DNS_FILES_TIME, ..Found::of(&found) })
}

async fn ask_servers(resolver: &TokioResolver, mut name: Name, host: &str) -> Found {
    if name.num_labels() > 1 {
        name.set_fqdn(true);
    }
    let (v4, v6) = tokio::join!(resolver.lookup(name.clone(), RecordType::A), resolver.lookup(name, RecordType::AAAA));
    let half_failed = [&v4, &v6].into_iter().any(|half| half.as_ref().is_err_and(|error| !is_negative(error)));
    match (v4, v6) {
        (Err(v4), Err(v6)) => {
            // If a server fails for one family, nothing is certain.
            let error = if is_negative(&v4) && !is_negative(&v6) { v6 } else { v4 };
            Found::error(host, &error)
        }
        (v4, v6) => {
            let found: Vec<Lookup> = [v4, v6].into_iter().flatten().collect();
            let found = Found::of(&found);
            let none = || Found::none(DnsError::NoAddress(host.into()));
            let found = if found.addresses.as_ref().is_ok_and(|all| all.is_empty()) { none() } else { found };
            // Half an answer is queried again soon.
            if half_failed { Found { ttl: Duration::ZERO, ..found } } else { found }
        }
    }
}

/// True if a server answered that there is no such record.
fn is_negative(error: &NetError) -> bool {
    matches!(error, NetError::Dns(net::DnsError::NoRecordsFound(_)))
}

async fn ask_libc(host: &str) -> Found {
    match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => {
            let mut addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            addresses.sort_by_key(IpAddr::is_ipv6);
            addresses.dedup();
            match addresses.is_empty() {
                true => Found::none(DnsError::NoAddress(host.into())),
                // The C library gives no TTL.
                false => Found { addresses: Ok(addresses.into()), ttl: limits::DNS_FILES_TIME },
            }
        }
        // The error code is lost on the way; this text is that of EAI_AGAIN in the C libraries of Linux.
        Err(error) if error.to_string().contains("emporary failure") || error.to_string().contains("ry again") => {
            let why = "neither resolv.conf nor the C library knows a server that answers";
            Found::none(DnsError::NoAnswer { name: host.into(), why: why.into() })
        }
        Err(_) => Found::none(DnsError::NoSuchName(host.into())),
    }
}

impl Found {
    fn none(error: DnsError) -> Self {
        Self { addresses: Err(error), ttl: Duration::ZERO }
    }

    /// The addresses of all answers, with the lowest TTL of all records, aliases included.
    fn of(answers: &[Lookup]) -> Self {
        let records = || answers.iter().flat_map(Lookup::answers);
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in records().filter_map(|record| record.data.ip_addr()) {
            if addresses.len() < limits::DNS_ADDRESSES_MAX && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let ttl = records().map(|record| record.ttl).min().unwrap_or(0);
        Self { addresses: Ok(addresses.into()), ttl: Duration::from_secs(ttl.into()) }
    }

    fn error(host: &str, error: &NetError) -> Self {
        let NetError::Dns(net::DnsError::NoRecordsFound(none)) = error else {
            let why = error.to_string().into();
            return Self::none(DnsError::NoAnswer { name: host.into(), why });
        };
        let ttl = Duration::from_secs(none.negative_ttl.unwrap_or(0).into());
        let error = match none.response_code {
            ResponseCode::NXDomain => DnsError::NoSuchName(host.into()),
            _ => DnsError::NoAddress(host.into()),
        };
        Self { ttl, ..Self::none(error) }
    }
}
