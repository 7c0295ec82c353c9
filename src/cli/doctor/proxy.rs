//! The proxies of sites: something listens there.

use tokio::net::TcpStream;

use super::{Finding, Patient};
use crate::limits::{DOCTOR_REQUEST_TIME_MAX, DOCTOR_SITES_MAX};

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    for site in of.sites.iter().take(DOCTOR_SITES_MAX) {
        let Some(proxy) = &site.client.proxy else { continue };
        let Some(host) = proxy.host_str() else { continue };
        let port = proxy.port_or_known_default().unwrap_or(1_080);
        let host = host.trim_matches(['[', ']']);
        let connected = tokio::time::timeout(DOCTOR_REQUEST_TIME_MAX, TcpStream::connect((host, port))).await;
        let why = match connected {
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        // Without a user and password that the URL may have.
        let shown = format!("{}://{host}:{port}", proxy.scheme());
        of.note_unreachable(site);
        let fix = format!("start the proxy, or correct `proxy` of {}", site.file.display());
        of.tell([Finding::new("proxy_unreachable", shown, why, fix)]);
    }
    Vec::new()
}
