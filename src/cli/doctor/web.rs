//! The HTTP server: its port, its tokens, and whether `public_url` leads back to it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use super::network::ask;
use super::{Finding, Patient};
use crate::app::control::Remote;
use gleaner_base::owner;
use gleaner_rules::config::web::{Auth, Listen};
use gleaner_serve::tokens;

/// What `/readyz` answers.
const READY: &[u8] = b"ready";

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    let web = &of.config.web;
    let Some(listen) = &web.listen else { return Vec::new() };
    let mut found: Vec<Finding> = token(of, listen).into_iter().collect();
    let is_running = Remote::connect(&of.config.data_dir).await.is_some();
    if let Listen::Tcp(address) = listen {
        found.extend(port(of, *address, is_running).await);
    }
    found
}

/// Asked only where the rest is well: one cause is one finding. The name may lead to another machine.
pub(super) async fn public_url(of: &Patient) -> Vec<Finding> {
    let web = &of.config.web;
    let Some(public_url) = web.public_url.as_ref().filter(|_| web.listen.is_some()) else { return Vec::new() };
    if Remote::connect(&of.config.data_dir).await.is_none() || !check(of).await.is_empty() {
        return Vec::new();
    }
    let url = format!("{public_url}{}/readyz", web.base_path);
    let why = match ask(&of.config, &url).await {
        Ok((200, start)) if start.starts_with(READY) => return Vec::new(),
        Ok((200, _)) => "something else answers there".to_owned(),
        Ok((status, _)) => format!("it answers with status {status}"),
        Err(error) => error,
    };
    let fix = "correct the proxy, or `public_url` and `base_path` of [web] in gleaner.toml";
    vec![Finding::new("public_url_elsewhere", url, format!("this URL does not reach this server: {why}"), fix)]
}

/// A server that others reach needs a token; the service does not start without one.
fn token(of: &Patient, listen: &Listen) -> Option<Finding> {
    let web = &of.config.web;
    if listen.is_local() && web.auth != Auth::All && web.public_url.is_none() {
        return None;
    }
    let _owner = owner::act(&of.config.data_dir);
    let new = of.command("token new NAME");
    match tokens::list(&of.config.data_dir) {
        Ok(tokens) if tokens.is_empty() => {
            Some(Finding::new("token_missing", listen, "nobody is admitted: there is no token", new))
        }
        Ok(_) => None,
        Err(error) => Some(Finding::of_error("tokens_damaged", of.config.data_dir.display(), &error.to_string(), &new)),
    }
}

async fn port(of: &Patient, address: SocketAddr, is_running: bool) -> Option<Finding> {
    let shown = Listen::Tcp(address);
    if address.port() == 0 {
        return None;
    }
    let other = "set another `listen` of [web] in gleaner.toml";
    match TcpListener::bind(address) {
        Ok(_) if is_running => {
            let fix = format!("restart the service, or look at its log: it says why there is no server; or {other}");
            return Some(Finding::new("web_not_running", shown, "the service runs, and nothing listens there", fix));
        }
        Ok(_) => return None,
        Err(error) if error.kind() == ErrorKind::AddrInUse => {}
        Err(error) => return Some(Finding::new("listen_impossible", shown, error.to_string(), other)),
    }
    let unspecified = address.ip().is_unspecified();
    let reached =
        if unspecified { SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), address.port()) } else { address };
    let url = format!("http://{reached}{}/readyz", of.config.web.base_path);
    match ask(&of.config, &url).await {
        Ok((200, start)) if start.starts_with(READY) => None,
        Ok((503, _)) => {
            let fix = "look at the log of the service (`journalctl -u gleaner -p warning`)";
            Some(Finding::new("web_not_ready", url, "the server runs, and cannot read the database", fix))
        }
        _ => {
            let fix = format!("`ss -ltnp` names the program that has it; end that, or {other}");
            Some(Finding::new("port_taken", shown, "another program has this port", fix))
        }
    }
}
