//! The location of a site: its start URLs, its hosts, and the folders that a crawl stays below.

use std::net::IpAddr;

use url::Url;

use super::fault::Faults;
use super::schema::Spans;
use super::secrets;
use gleaner_base::url::{Canonical, CrawlUrl, UrlFault};

pub(super) fn start(
    faults: &mut Faults,
    spans: &Spans,
    urls: &[String],
    canonical: &Canonical,
) -> Vec<(usize, CrawlUrl)> {
    if urls.is_empty() && spans.has("start") && !faults.concern("start") {
        let hint = "write at least one, as start = [\"https://example.org/\"]".to_owned();
        faults.add(spans.value("start"), "start", "there is no start URL", Some(hint));
    }
    let mut found = Vec::new();
    for (index, text) in urls.iter().enumerate() {
        let key = format!("start[{index}]");
        match CrawlUrl::parse(text, canonical) {
            Ok(url) => {
                secrets::parameter(faults, spans.value(&key), &key, &url);
                found.push((index, url));
            }
            Err(fault) => {
                secrets::hide_userinfo(faults, spans.value(&key), text);
                faults.add(spans.value(&key), &key, fault.to_string(), url_hint(&fault));
            }
        }
    }
    found
}

pub(super) fn url_hint(fault: &UrlFault) -> Option<String> {
    let hint = match fault {
        UrlFault::Syntax(_) => "write it in full, as https://example.org/path",
        UrlFault::Credentials => "take them out: secrets do not belong in rule files",
        _ => return None,
    };
    Some(hint.to_owned())
}

pub(super) fn hosts(
    faults: &mut Faults,
    spans: &Spans,
    hosts: Option<&[String]>,
    start: &[(usize, CrawlUrl)],
) -> Vec<Box<str>> {
    let Some(hosts) = hosts else {
        let mut found: Vec<Box<str>> = start.iter().map(|(_, url)| url.authority().into()).collect();
        found.sort();
        found.dedup();
        return found;
    };
    if hosts.is_empty() && !faults.concern("hosts") {
        let hint = "name at least one host, or take the key out".to_owned();
        faults.add(spans.value("hosts"), "hosts", "there is no host", Some(hint));
    }
    let mut found = Vec::new();
    for (index, text) in hosts.iter().enumerate() {
        let key = format!("hosts[{index}]");
        match host(text) {
            Ok(host) => found.push(host),
            Err(_) if secrets::may_have_userinfo(text) => {
                let message = "this is not a host: it seems to contain a user name or a password";
                let hint =
                    "write the host alone, as example.org or example.org:8080: secrets do not belong in rule files";
                faults.hide(spans.value(&key));
                faults.add(spans.value(&key), &key, message, Some(hint.to_owned()));
            }
            Err((message, hint)) => faults.add(spans.value(&key), &key, message, Some(hint)),
        }
    }
    found
}

/// Parses `host`, `host:port` or `*.host`.
fn host(text: &str) -> Result<Box<str>, (String, String)> {
    let (star, plain) = text.strip_prefix("*.").map_or(("", text), |rest| ("*.", rest));
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err((format!("`{text}` is a URL, not a host"), format!("write \"{host}\"")));
    }
    let bad =
        || (format!("`{text}` is not a host"), "write it as example.org, example.org:8080 or *.example.org".into());
    if plain.is_empty() || plain.contains(['/', '?', '#', '@', '*', '\\', ' ', '\t', '\n', '\r']) {
        return Err(bad());
    }
    // With https, port 80 is not the default and stays, so both default ports are found.
    let url = Url::parse(&format!("https://{plain}/")).map_err(|_| bad())?;
    let has_default_port = url.port() == Some(80) || plain.ends_with(":443");
    if has_default_port {
        let host = url.host_str().unwrap_or_default();
        let message = format!("`{text}` names a default port");
        return Err((message, format!("write \"{star}{host}\": it stands for http and https at their own ports")));
    }
    let normal = CrawlUrl::parse(url.as_str(), &Canonical::default()).map_err(|_| bad())?;
    Ok(format!("{star}{}", normal.authority()).into())
}

/// The folder of a URL: authority, and path up to its last `/`.
pub(super) fn folder(url: &CrawlUrl) -> (Box<str>, Box<str>) {
    let path = url.path().split('?').next().unwrap_or_default();
    let end = path.rfind('/').map_or(0, |at| at + 1);
    (url.authority().into(), path[..end].into())
}

/// True for a host that is a literal private or loopback address, or localhost.
pub(super) fn is_private(url: &CrawlUrl) -> bool {
    let host = url.host();
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match v6.unwrap_or(host).parse().map(|ip: IpAddr| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => false,
    }
}
