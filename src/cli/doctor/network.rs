//! Names of hosts, and the certificates that sites are checked by.

use std::collections::BTreeSet;

use super::{Finding, Patient};
use crate::limits::{DOCTOR_REQUEST_TIME_MAX, DOCTOR_SITES_MAX};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::dns::Dns;
use gleaner_net::fetch::http::{ClientOptions, HttpTransport};
use gleaner_net::fetch::resolve::AddressPolicy;
use gleaner_net::fetch::tls::Tls;
use gleaner_net::fetch::{Request, Transport as _};
use gleaner_rules::config::Config;

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let transport = match transport(&of.config, None) {
        Ok(transport) => transport,
        Err(error) => {
            let fix = "sudo apt-get install ca-certificates";
            of.sites.iter().for_each(|site| of.note_unreachable(site));
            return vec![Finding::of_error("certificates_missing", "certificates", &error, fix)];
        }
    };
    let mut origins = BTreeSet::new();
    // Behind a proxy, the proxy looks names up.
    for site in of.sites.iter().filter(|site| site.client.proxy.is_none()).take(DOCTOR_SITES_MAX) {
        for url in &site.start {
            if !origins.insert(url.origin().to_owned()) {
                continue;
            }
            let resolved = tokio::time::timeout(DOCTOR_REQUEST_TIME_MAX, transport.resolve(url)).await;
            let why = match resolved {
                Ok(Ok(_)) => None,
                Ok(Err(failure)) => Some(failure.to_string()),
                Err(_) => Some("no answer in time".to_owned()),
            };
            if let Some(why) = why {
                let fix =
                    format!("check the name in `start` of {}, the network, and /etc/resolv.conf", site.file.display());
                of.note_unreachable(site);
                of.tell([Finding::new("dns_failed", url.origin(), why, fix)]);
            }
        }
    }
    Vec::new()
}

/// A client for single requests.
pub(super) fn transport(config: &Config, proxy: Option<&url::Url>) -> Result<HttpTransport, String> {
    HttpTransport::new(&ClientOptions {
        user_agent: &config.user_agent(),
        headers: &[],
        proxy,
        addresses: AddressPolicy::Any,
        dns: Dns::default(),
        tls: Tls::default(),
        cookies: std::sync::Arc::default(),
        connections_max: 1,
        timeout: DOCTOR_REQUEST_TIME_MAX,
    })
    .map_err(|error| error.to_string())
}

/// Status and first bytes of the answer to one GET.
pub(super) async fn ask(config: &Config, url: &str) -> Result<(u16, Vec<u8>), String> {
    let transport = transport(config, None)?;
    let url = CrawlUrl::parse(url, &Canonical::default()).map_err(|fault| fault.to_string())?;
    let asked = async {
        let mut answer = transport.send(Request::from(&url)).await.map_err(|failure| failure.to_string())?;
        let start = answer.body.chunk().await.map_err(|failure| failure.to_string())?;
        Ok((answer.status, start.map(|start| start.to_vec()).unwrap_or_default()))
    };
    let in_time = tokio::time::timeout(DOCTOR_REQUEST_TIME_MAX, asked).await;
    in_time.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}
