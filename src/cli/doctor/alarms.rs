//! The alarms: those that are open, and whether those who are to be called can be: programs, secrets and names of hosts. Nothing is sent.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use url::{Host, Url};

use super::{Finding, Patient};
use crate::app::alarms;
use crate::app::control::Remote;
use crate::app::secrets::{self, SecretError};
use crate::limits::DOCTOR_REQUEST_TIME_MAX;
use gleaner_alarms::Alarm;
use gleaner_alarms::book::UNTIL_OVER_MS;
use gleaner_base::clock::UnixMillis;
use gleaner_rules::config::alarms::{Channel, SECRET, Way};

/// Folders of programs where the environment names none, as systemd has them.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The folder of the unit's credentials, for root.
const CREDENTIALS: &str = "/run/credentials/gleaner.service";

/// Of the service that runs; else those that the last one has left.
pub(super) async fn open(of: &Patient) -> Vec<Finding> {
    let told = match Remote::connect(&of.config.data_dir).await {
        Some(service) => service.alarms().await.ok().flatten(),
        None => None,
    };
    let is_live = told.is_some();
    let all = told.unwrap_or_else(|| alarms::stored(&of.config.data_dir));
    all.iter().filter(|alarm| alarm.over_ms.is_none()).map(|alarm| finding(alarm, is_live)).collect()
}

fn finding(alarm: &Alarm, is_live: bool) -> Finding {
    let Alarm { id, site, title, since_ms, silenced_until_ms, todo, .. } = alarm;
    let time = |ms: i64| UnixMillis(u64::try_from(ms).unwrap_or_default()).rfc3339();
    let silenced = match silenced_until_ms {
        Some(until) if *until >= UNTIL_OVER_MS => ", silenced until it is over".to_owned(),
        Some(until) => format!(", silenced until {}", time(*until)),
        None => String::new(),
    };
    let known = if is_live { "" } else { ", when the service ran last" };
    let what = format!("{title} (alarm {id}, since {}{silenced}{known})", time(*since_ms));
    Finding::new("alarm_open", site.as_deref().unwrap_or("gleaner"), what, todo.as_str())
}

/// Programs are there and may be started, and secrets can be read.
pub(super) fn channels(of: &Patient) -> Vec<Finding> {
    let mut found = Vec::new();
    for channel in &of.config.alarms.channels {
        let shown = format!("alarm channel {}", channel.name);
        match &channel.way {
            Way::Command(words) => {
                let program = words.first().map_or("", |word| word);
                found.extend(program_fault(program).map(|(code, what)| {
                    let fix =
                        format!("chmod a+x {program}, or correct `command` of this [[alarm_channel]] in gleaner.toml");
                    Finding::new(code, shown, what, fix)
                }));
            }
            Way::Url { url, .. } | Way::Ping(url) => found.extend(secret(of, channel, url.contains(SECRET))),
        }
    }
    found
}

/// What keeps a program from being started, as far as its mode says.
fn program_fault(program: &str) -> Option<(&'static str, String)> {
    let is_file = |path: &PathBuf| fs::metadata(path).is_ok_and(|there| there.is_file());
    let may_start = |path: &PathBuf| fs::metadata(path).is_ok_and(|there| there.mode() & 0o111 != 0);
    let places: Vec<PathBuf> = match program.contains('/') {
        true => vec![PathBuf::from(program)],
        false => {
            let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
            std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
        }
    };
    let there: Vec<PathBuf> = places.into_iter().filter(is_file).collect();
    match there.first() {
        None => Some(("alarm_program_missing", format!("its program {program} is not there"))),
        Some(_) if there.iter().any(may_start) => None,
        Some(path) => Some(("alarm_program_not_executable", format!("{} may not be executed", path.display()))),
    }
}

/// The secret of a channel, which is compared with nothing.
fn secret(of: &Patient, channel: &Channel, is_wanted: bool) -> Option<Finding> {
    let name = format!("alarm-{}", channel.name);
    let shown = format!("alarm channel {}", channel.name);
    // To read a file that others can read would make it private: that is found with the other secrets, and nothing is changed here.
    if !secrets::exposed(&of.config.data_dir, &name).is_empty() {
        return None;
    }
    match secrets::password(&of.config.data_dir, &name) {
        Ok(_) => None,
        Err(SecretError::Absent { .. }) if !is_wanted || is_credential(&name) => None,
        Err(SecretError::Absent { file, .. }) => {
            let what = format!("its address wants a secret ({SECRET}), and there is none");
            let fix = format!("write it into {file} (chmod 600), or pass it as the credential gleaner-{name}");
            Some(Finding::new("alarm_secret_missing", shown, what, fix))
        }
        Err(error) => {
            let fix = format!("write the secret alone into {}", secrets::file_of(&of.config.data_dir, &name).display());
            Some(Finding::of_error("alarm_secret_unreadable", shown, &error.to_string(), &fix))
        }
    }
}

/// True if the unit has it, as far as this user may see that.
fn is_credential(name: &str) -> bool {
    Path::new(CREDENTIALS).join(format!("gleaner-{name}")).exists()
}

/// The hosts of webhooks and pings have addresses, and not those of this machine where their names are of others. Names are looked up.
pub(super) async fn addresses(of: &Patient) -> Vec<Finding> {
    for channel in &of.config.alarms.channels {
        let (Way::Url { url, .. } | Way::Ping(url)) = &channel.way else { continue };
        // The secret is never part of what is looked up.
        let Ok(url) = Url::parse(&url.replace(SECRET, "secret")) else { continue };
        let (Some(Host::Domain(host)), Some(port)) = (url.host(), url.port_or_known_default()) else { continue };
        let looked_up = tokio::time::timeout(DOCTOR_REQUEST_TIME_MAX, tokio::net::lookup_host((host, port))).await;
        let shown = format!("alarm channel {}", channel.name);
        let fix = "correct its address in gleaner.toml, or check the network and /etc/resolv.conf";
        let addresses: Vec<IpAddr> = match looked_up {
            Ok(Ok(found)) => found.map(|of| of.ip()).collect(),
            Ok(Err(error)) => {
                of.tell([Finding::new("alarm_host_unknown", shown, format!("{host} has no address: {error}"), fix)]);
                continue;
            }
            Err(_) => {
                of.tell([Finding::new("alarm_host_unknown", shown, format!("{host}: no answer in time"), fix)]);
                continue;
            }
        };
        if let Some(address) = is_diverted(host, &addresses) {
            let what = format!("{host} leads to {address}, which is this machine: nobody would be called");
            let fix = "a filter of names (/etc/hosts, Pi-hole) may block it: allow it there; if it is meant, write the address itself";
            of.tell([Finding::new("alarm_host_inside", shown, what, fix)]);
        }
    }
    Vec::new()
}

/// An address of this machine that a name of others leads to, and nowhere else. A network of one's own may well have names for its servers.
fn is_diverted(host: &str, addresses: &[IpAddr]) -> Option<IpAddr> {
    let is_ours = |of: &IpAddr| {
        let of = of.to_canonical();
        let is_link_local = match of {
            IpAddr::V4(of) => of.is_link_local(),
            IpAddr::V6(of) => of.is_unicast_link_local(),
        };
        of.is_loopback() || of.is_unspecified() || is_link_local
    };
    let is_of_others = host.contains('.') && host != "localhost" && !host.ends_with(".localhost");
    addresses.first().copied().filter(|_| is_of_others && addresses.iter().all(is_ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_others_that_leads_to_this_machine_is_found() {
        let of = |host: &str, addresses: &[&str]| {
            is_diverted(host, &addresses.iter().map(|of| of.parse().unwrap()).collect::<Vec<_>>()).is_some()
        };
        for diverted in [&["0.0.0.0"][..], &["127.0.0.1", "::1"], &["::ffff:127.0.0.1"], &["169.254.169.254"]] {
            assert!(of("ntfy.sh", diverted), "{diverted:?}");
            assert!(!of("localhost", diverted) && !of("here", diverted), "{diverted:?}");
        }
        for well in [&["192.168.1.5"][..], &["93.184.216.34"], &["127.0.0.1", "93.184.216.34"], &[]] {
            assert!(!of("ntfy.sh", well), "{well:?}");
        }
    }
}
